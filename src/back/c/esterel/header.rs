//! `NAME.h`: what a program offers, and what it takes.

use super::Outside;
use super::names::local;
use crate::c::printer;
use crate::c::tree::{Function, Item};
use crate::types::esterel::{Module, TEXT, Type};
use crate::types::process::{Role, SignalId};

/// The interface of a module: inputs, outputs, sensors and functions of C.
pub struct Header<'h> {
    /// The file in which it is written.
    pub file: &'h str,
    /// The module.
    pub module: &'h Module,
    /// The place of the declarations of user C.
    pub outside: Outside<'h>,
}

impl Header<'_> {
    /// The whole header.
    pub fn text(&self) -> String {
        let name = &self.module.name;
        let signals = |chosen: &dyn Fn(Role) -> bool, head: &dyn Fn(SignalId) -> Function| {
            let all = self.module.processes.signals();
            let chosen = all.filter(|one| chosen(self.module.processes.signal(*one).role));
            chosen.map(head).collect::<Vec<_>>()
        };
        let instant = format!(
            "An instant: 1, or 0 once nothing can happen any more; -1 if it failed, and then no\n \
             * output is told, until {name}_reset."
        );
        let parts = [
            (
                "Inputs: what is called before an instant belongs to it.",
                signals(&|role| role.is_given(), &|one| self.input_head(one)),
            ),
            (&instant, vec![self.instant_head()]),
            (
                "All is as it was at the beginning.",
                vec![self.reset_head()],
            ),
            (
                "Why an instant failed; NULL if none has.",
                vec![self.error_head()],
            ),
            (
                "Outputs, yours to write: called at the end of an instant, in this order.",
                signals(&|role| role.is_told(), &|one| self.output_head(one)),
            ),
            (
                "Sensors, yours to write: called at most once in an instant.",
                signals(&|role| role == Role::Sensor, &|one| self.sensor_head(one)),
            ),
        ];
        let mut items = vec![Item::Text(self.types())];
        items.extend(self.outside());
        for (says, functions) in parts {
            let prototypes: Vec<Item> = functions.into_iter().map(Item::Prototype).collect();
            if !prototypes.is_empty() {
                let prototypes = printer::file(&prototypes);
                items.push(Item::Text(format!("/* {says} */\n{prototypes}")));
            }
        }
        let guard = format!("{name}_H");
        format!(
            "/* The module {name} of {}, compiled by Stackloom. One instant: call the\n \
             * inputs that are given, then {name}. */\n#ifndef {guard}\n#define {guard}\n\n\
             #include <stdbool.h>\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n{}\n\
             #ifdef __cplusplus\n}}\n#endif\n\n\
             #endif\n",
            self.file,
            printer::file(&items)
        )
    }

    /// The types of Esterel.
    fn types(&self) -> String {
        format!(
            "/* The types of Esterel; a string has at most STRLEN - 1 bytes. */\n#ifndef STRLEN\n\
             #define STRLEN {TEXT}\n#endif\ntypedef int boolean;\ntypedef int integer;\n\
             typedef char *string;"
        )
    }

    /// The names that the user's own C declares.
    fn outside(&self) -> Vec<Item> {
        let module = self.module;
        let of_c = module.of_c();
        match self.outside {
            Outside::Header(header) => {
                let names = of_c.names(module).join(", ");
                vec![Item::Text(format!(
                    "/* Yours to write: {names}. */\n#include \"{header}\""
                ))]
            }
            Outside::Declared => {
                let constants = of_c
                    .constants
                    .iter()
                    .map(|at| &module.constants[*at as usize]);
                let constants =
                    constants.map(|one| format!("extern {} {};", self.kind(one.kind), one.name));
                let functions = of_c
                    .functions
                    .iter()
                    .map(|at| &module.functions[*at as usize])
                    .map(|one| {
                        let parameters = self.parameters(one.parameters.iter(), "");
                        let parameters = listed(&parameters);
                        format!("{} {}({parameters});", self.kind(one.result), one.name)
                    });
                let procedures = of_c
                    .procedures
                    .iter()
                    .map(|at| &module.procedures[*at as usize])
                    .map(|one| {
                        let references = self.parameters(one.references.iter(), " *");
                        let values = self.parameters(one.values.iter(), "");
                        let both = listed(&[references, values].concat());
                        format!("void {}({both});", one.name)
                    });
                let all: Vec<String> = constants.chain(functions).chain(procedures).collect();
                match all.is_empty() {
                    true => Vec::new(),
                    false => {
                        let says = "/* Yours to write. */";
                        vec![Item::Text(format!("{says}\n{}", all.join("\n")))]
                    }
                }
            }
        }
    }

    fn parameters<'t>(&self, kinds: impl Iterator<Item = &'t Type>, behind: &str) -> Vec<String> {
        let all = kinds.map(|kind| match kind {
            Type::Text => "string".to_string(),
            kind => format!("{}{behind}", self.kind(*kind)),
        });
        all.collect()
    }

    /// An input.
    pub fn input_head(&self, signal: SignalId) -> Function {
        head(
            "void",
            self.outside_name("I", signal),
            self.argument(signal),
        )
    }

    /// An instant.
    pub fn instant_head(&self) -> Function {
        head("int", self.module.name.clone(), Vec::new())
    }

    /// The beginning.
    pub fn reset_head(&self) -> Function {
        head("int", format!("{}_reset", self.module.name), Vec::new())
    }

    /// Prints the declaration of `M_error`.
    pub fn error_head(&self) -> Function {
        head(
            "const char *",
            format!("{}_error", self.module.name),
            Vec::new(),
        )
    }

    fn output_head(&self, signal: SignalId) -> Function {
        head(
            "void",
            self.outside_name("O", signal),
            self.argument(signal),
        )
    }

    fn sensor_head(&self, signal: SignalId) -> Function {
        let channel = self.module.channels[signal.at()].as_ref();
        let channel = channel.expect("a sensor carries a value");
        let kind = self.kind(channel.kind);
        head(kind, self.outside_name("S", signal), Vec::new())
    }

    fn outside_name(&self, kind: &str, signal: SignalId) -> String {
        let name = &self.module.processes.signal(signal).name;
        format!("{}_{kind}_{name}", self.module.name)
    }

    /// A type as C calls it.
    fn kind(&self, kind: Type) -> &str {
        kind.name(&self.module.types)
    }

    fn argument(&self, signal: SignalId) -> Vec<String> {
        let channel = self.module.channels[signal.at()].iter();
        channel
            .map(|one| format!("{} {}", self.kind(one.kind), local(self.module, "value")))
            .collect()
    }
}

/// Parameters as C lists them.
fn listed(parameters: &[String]) -> String {
    match parameters {
        [] => "void".to_string(),
        all => all.join(", "),
    }
}

fn head(result: &str, name: String, parameters: Vec<String>) -> Function {
    Function {
        comment: String::new(),
        result: result.to_string(),
        name,
        parameters,
        body: Vec::new(),
    }
}
