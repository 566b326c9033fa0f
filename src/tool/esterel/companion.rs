//! The C around that of modules, so that they and what is written in C can be spoken to.
//!
//! In: modules, the C of others, and whether the modules run in C themselves. Out: two files: one
//! that includes all of it, and one that reads requests and writes answers. A request is a letter,
//! a number and values as C holds them:
//!
//! ```text
//! z        the sizes of the types that C knows       c f p    a constant, a function, a procedure
//! a = t r  assigns, compares, writes and reads       i s m    an input, a sensor, an instant
//! ```
//!
//! The C of others is included, not linked: so its types and macros are known, and it need not be
//! told which of them are which.

use crate::types::esterel::{ExpressionKind, Module, Procedure, Type};
use crate::types::process::{Role, SignalId};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::PathBuf;

/// What reads and writes; nothing of it is seen by the C of others.
pub const PIPE: &str = include_str!("pipe.c");

/// What `M_data.h` is: the C of others. An array is refused there: C neither assigns nor returns
/// one, and what stands where it is a value is a pointer.
pub fn data(module: &Module, files: &[PathBuf]) -> String {
    let lines = files.iter().map(|path| {
        let path = path.display().to_string();
        format!("#include \"{}\"\n", path.replace('\\', "\\\\"))
    });
    let needed = module.of_c().types;
    let types = (0..).zip(&module.types);
    let types = types.filter(|(at, _)| needed.contains(at));
    let values = types.map(|(_, name)| {
        format!(
            "_Static_assert(__builtin_types_compatible_p(__typeof__((void)0, *({name} *)0), \
             {name}), \"`{name}` is an array: put it into a struct\");\n"
        )
    });
    lines.chain(values).collect()
}

/// By sensor whose value a module keeps: what is true in its C if it was.
pub type Kept = BTreeMap<SignalId, String>;

/// The file that includes all. With `data` their own C is left out, and that header stands there.
pub fn companion(modules: &[(&Module, Kept)], data: Option<&str>) -> String {
    let mut text = String::from(
        "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n\n\
         void loom_take(void *to, size_t size);\n\
         void loom_give(const void *from, size_t size);\n\
         void loom_give_text(const char *text);\n\
         char *loom_take_text(unsigned slot);\n\
         void loom_copy(char *to, const char *from, size_t room);\n\
         void loom_serve(unsigned program, int request, unsigned which);\n",
    );
    for (module, kept) in modules {
        match data {
            Some(header) => {
                text += "#define STRLEN 256\ntypedef int boolean;\ntypedef int integer;\n\
                         typedef char *string;\n";
                let _ = writeln!(text, "#include \"{header}\"");
            }
            None => {
                let _ = writeln!(text, "#include \"{}.c\"", module.name);
            }
        }
        Companion {
            module,
            kept,
            text: &mut text,
        }
        .module(data.is_none());
    }
    text += "\nvoid loom_serve(unsigned program, int request, unsigned which) {\n";
    text += "    switch (program) {\n";
    for (at, module) in modules.iter().enumerate() {
        let own = &module.0.name;
        let _ = writeln!(text, "    case {at}: {own}_loom(request, which); break;");
    }
    text + "    }\n}\n"
}

struct Companion<'a> {
    module: &'a Module,
    kept: &'a Kept,
    text: &'a mut String,
}

impl Companion<'_> {
    fn module(&mut self, runs: bool) {
        let module = self.module;
        let name = &module.name;
        if runs {
            self.outside();
        }
        let _ = writeln!(
            self.text,
            "\nstatic void {name}_loom(int request, unsigned which) {{\n    (void)which;\n    \
             switch (request) {{"
        );
        let of_c = module.of_c();
        let sizes = module.types.iter().enumerate().map(|(at, kind)| {
            let size = match of_c.types.contains(&(at as u32)) {
                true => format!("sizeof({kind})"),
                false => "0".to_string(),
            };
            format!("{{ uint32_t size = {size}; loom_give(&size, sizeof size); }} ")
        });
        self.cases('z', vec![sizes.collect()]);
        let constants = module.constants.iter();
        let constants = constants.map(|one| self.answer(one.kind, &one.name));
        self.cases('c', used(constants, &of_c.constants));
        let functions = module.functions.iter().map(|one| {
            let taken = self.taken(&one.parameters);
            let call = format!("{}({})", one.name, arguments(one.parameters.len()));
            taken + &self.answer(one.result, &call)
        });
        self.cases('f', used(functions, &of_c.functions));
        let procedures = module.procedures.iter().map(|one| self.procedure(one));
        self.cases('p', used(procedures, &of_c.procedures));
        self.user_types();
        if runs {
            self.inputs();
        }
        *self.text += "    }\n}\n";
    }

    /// One request: by its number, what is done.
    fn cases(&mut self, request: char, bodies: Vec<String>) {
        if bodies.is_empty() {
            return;
        }
        let _ = writeln!(
            self.text,
            "    case '{request}':\n        switch (which) {{"
        );
        for (at, body) in bodies.iter().enumerate() {
            let _ = writeln!(self.text, "        case {at}: {{ {body} }} break;");
        }
        *self.text += "        }\n        break;\n";
    }

    /// Takes values of these types, as `given_0` and so on.
    fn taken(&self, kinds: &[Type]) -> String {
        let each = kinds.iter().enumerate().map(|(at, kind)| match kind {
            Type::Text => format!("char *given_{at} = loom_take_text({at}); "),
            kind => {
                let kind = kind.name(&self.module.types);
                format!("{kind} given_{at}; loom_take(&given_{at}, sizeof given_{at}); ")
            }
        });
        each.collect()
    }

    /// Gives what an expression of a type is.
    fn answer(&self, kind: Type, expression: &str) -> String {
        match kind {
            Type::Text => format!("loom_give_text({expression});"),
            kind => {
                let kind = kind.name(&self.module.types);
                format!("{kind} answer = {expression}; loom_give(&answer, sizeof answer);")
            }
        }
    }

    fn procedure(&self, procedure: &Procedure) -> String {
        let all = [&procedure.references[..], &procedure.values].concat();
        let references = procedure.references.iter().enumerate();
        let mut given: Vec<String> = references
            .clone()
            .map(|(at, kind)| match kind {
                Type::Text => format!("room_{at}"),
                _ => format!("&given_{at}"),
            })
            .collect();
        given.extend((references.len()..all.len()).map(|at| format!("given_{at}")));
        let back = references.map(|(at, kind)| match kind {
            Type::Text => format!(" loom_give_text(room_{at});"),
            _ => format!(" loom_give(&given_{at}, sizeof given_{at});"),
        });
        // A text that may change has the room that it has everywhere.
        let rooms = procedure.references.iter().enumerate();
        let rooms = rooms.map(|(at, kind)| match kind {
            Type::Text => {
                format!("char room_{at}[STRLEN]; loom_copy(room_{at}, given_{at}, STRLEN); ")
            }
            _ => String::new(),
        });
        let taken = self.taken(&all) + &rooms.collect::<String>();
        let back: String = back.collect();
        format!("{taken}{}({});{back}", procedure.name, given.join(", "))
    }

    /// What is done with values of types that C knows, as far as anything needs it.
    fn user_types(&mut self) {
        let module = self.module;
        let carried = |chosen: &dyn Fn(Role) -> bool| -> BTreeSet<u32> {
            let signals = module.processes.signals();
            let signals = signals.filter(|one| chosen(module.processes.signal(*one).role));
            let channels = signals.filter_map(|one| module.channels[one.at()].as_ref());
            channels.filter_map(|one| one.kind.of_c()).collect()
        };
        let variables = module.variables.iter().filter_map(|one| one.kind.of_c());
        let mut assigned = carried(&|_| true);
        assigned.extend(variables);
        let needs = [
            (
                'a',
                assigned,
                "@ to = {0}; _@(&to, given_0); loom_give(&to, sizeof to);",
                1,
            ),
            (
                '=',
                compared(module),
                "int is = _eq_@(given_0, given_1) != 0; loom_give(&is, sizeof is);",
                2,
            ),
            (
                't',
                carried(&|role| role.is_told()),
                "loom_give_text(_@_to_text(given_0));",
                1,
            ),
            (
                'r',
                carried(&|role| role.is_given() || role == Role::Sensor),
                "@ to = {0}; _text_to_@(&to, loom_take_text(0)); loom_give(&to, sizeof to);",
                0,
            ),
        ];
        for (request, kinds, does, count) in needs {
            let bodies = (0..).zip(&module.types).map(|(kind, name)| {
                let does = does.replace('@', name);
                self.taken(&vec![Type::User(kind); count]) + &does
            });
            let bodies = used(bodies, &kinds);
            self.cases(request, bodies);
        }
    }

    /// What outputs and sensors of a module are here.
    fn outside(&mut self) {
        let module = self.module;
        for signal in module.processes.signals() {
            let declared = module.processes.signal(signal);
            let (own, name) = (&module.name, &declared.name);
            let kind = module.channels[signal.at()].as_ref().map(|one| one.kind);
            let written = kind.map(|kind| kind.name(&module.types).to_string());
            let written = written.unwrap_or_default();
            let at = signal.0;
            if declared.role.is_told() {
                let (argument, told) = match kind {
                    None => ("void".to_string(), String::new()),
                    Some(Type::Text) => (
                        "string value".to_string(),
                        " loom_give_text(value);".to_string(),
                    ),
                    Some(_) => (
                        format!("{written} value"),
                        " loom_give(&value, sizeof value);".to_string(),
                    ),
                };
                let _ = writeln!(
                    self.text,
                    "void {own}_O_{name}({argument}) {{ int32_t told = {at}; \
                     loom_give(&told, sizeof told);{told} }}"
                );
            }
            if declared.role == Role::Sensor {
                let room = match kind {
                    Some(Type::Text) => "char sensor[STRLEN]".to_string(),
                    _ => format!("{written} sensor"),
                };
                let room = room.replace("sensor", &format!("{own}_sensor_{at}"));
                let keeps = match self.kept.get(&signal) {
                    Some(flag) => format!(" && !{flag}"),
                    None => String::new(),
                };
                let _ = writeln!(
                    self.text,
                    "static {room};\nstatic bool {own}_sensor_{at}_set;\n\
                     {written} {own}_S_{name}(void) {{ if (!{own}_sensor_{at}_set{keeps}) {{ \
                     int32_t unset = -2 - {at}; loom_give(&unset, sizeof unset); }} return \
                     {own}_sensor_{at}; }}"
                );
            }
        }
    }

    /// Inputs, sensors, and an instant: the outputs follow each other, up to -1, and what is wrong.
    fn inputs(&mut self) {
        let module = self.module;
        let own = &module.name;
        let of = |signal: SignalId| module.processes.signal(signal);
        let kind = |signal: SignalId| module.channels[signal.at()].iter().map(|one| one.kind);
        let input = |signal: SignalId| match of(signal).role.is_given() {
            true => {
                let kinds: Vec<Type> = kind(signal).collect();
                let given = arguments(kinds.len());
                format!(
                    "{}{own}_I_{}({given});",
                    self.taken(&kinds),
                    of(signal).name
                )
            }
            false => String::new(),
        };
        let inputs = module.processes.signals().map(input).collect();
        let sensor = |signal: SignalId| {
            let at = signal.0;
            match (of(signal).role, kind(signal).next()) {
                (Role::Sensor, Some(Type::Text)) => {
                    format!(
                        "loom_copy({own}_sensor_{at}, loom_take_text(0), STRLEN); \
                         {own}_sensor_{at}_set = true;"
                    )
                }
                (Role::Sensor, _) => format!(
                    "loom_take(&{own}_sensor_{at}, sizeof {own}_sensor_{at}); \
                     {own}_sensor_{at}_set = true;"
                ),
                _ => String::new(),
            }
        };
        let sensors = module.processes.signals().map(sensor).collect();
        self.cases('i', inputs);
        self.cases('s', sensors);
        let unkept = module.processes.signals().filter_map(|signal| {
            let flag = self.kept.get(&signal)?;
            Some(format!(
                "if (!{own}_sensor_{}_set) {flag} = false; ",
                signal.0
            ))
        });
        let unkept: String = unkept.collect();
        let instant = format!(
            "{own}(); {unkept}int32_t end = -1; loom_give(&end, sizeof end); \
             loom_give_text({own}_error() == NULL ? \"\" : {own}_error());"
        );
        self.cases('m', vec![instant]);
    }
}

/// Nothing is done with what is not used.
fn used(bodies: impl Iterator<Item = String>, chosen: &BTreeSet<u32>) -> Vec<String> {
    let numbered = (0..).zip(bodies);
    let kept = numbered.map(|(at, body)| match chosen.contains(&at) {
        true => body,
        false => String::new(),
    });
    kept.collect()
}

fn arguments(count: usize) -> String {
    let all: Vec<String> = (0..count).map(|at| format!("given_{at}")).collect();
    all.join(", ")
}

/// The types of which values are compared.
fn compared(module: &Module) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    let mut open: Vec<_> = module
        .data
        .iter()
        .flat_map(|one| one.expressions())
        .collect();
    while let Some(one) = open.pop() {
        if let ExpressionKind::Binary(_, one, _) = &*one.kind {
            found.extend(one.result.of_c());
        }
        open.extend(one.kind.operands());
    }
    found
}
