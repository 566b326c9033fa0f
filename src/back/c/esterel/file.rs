//! `NAME.c`: in, a module with its names; out, the struct of all that lasts, the functions of the
//! module, and those that the header declares.

use super::header::Header;
use crate::back::c::names::Names;
use crate::back::c::{Stack, function, records, shapes};
use crate::c::tree::{Expression as C, Function, Item, Statement as S, atom, call};
use crate::c::{literal, printer};
use crate::ir::interface::{Export, Home};
use crate::ir::{FunctionId, Module, Region};
use crate::lower::esterel::Lowered;

/// The pointer to all that lasts, in functions of stacks.
const POINTER: &str = "stack";

/// Another name for that pointer, if others have its name.
pub fn pointer(module: &Module, others: &[&str], names: &mut Names) -> Option<String> {
    others.contains(&POINTER).then(|| {
        let foreigns = module.foreigns.iter().zip(&mut names.foreigns);
        for (foreign, name) in foreigns {
            // In parentheses it is not taken for the pointer.
            if foreign.home == Home::Constant && name == POINTER {
                *name = format!("({POINTER})");
            }
        }
        names.taken.take(POINTER)
    })
}

/// A file that is being printed.
pub struct File<'f> {
    /// The interface of the module: inputs, outputs, sensors and functions of C.
    pub header: Header<'f>,
    /// Its stack IR.
    pub lowered: &'f Lowered,
    /// The same with its names.
    pub stack: Stack<'f>,
    /// The struct of all that lasts.
    pub memory: String,
    /// The name of the pointer to it in functions, if others use that of stacks.
    pub pointer: Option<String>,
}

impl File<'_> {
    /// `NAME.c`
    pub fn text(&self) -> String {
        let name = &self.header.module.name;
        let comment = format!(
            "/* The module {name} of {}, compiled by Stackloom; {name}.h says how it is used. */",
            self.header.file
        );
        let include = format!("#include \"{name}.h\"\n\n#include <stddef.h>\n#include <stdint.h>");
        let functions = [self.functions(), self.entries()].concat();
        let code = printer::file(&functions);
        let mut items = vec![Item::Text(comment), Item::Text(include)];
        items.extend(self.structs());
        items.extend(self.texts(&code));
        items.extend(functions);
        printer::file(&items)
    }

    /// All that lasts.
    fn structs(&self) -> Vec<Item> {
        let name = &self.stack.names.stack;
        let structs = records::structs(&self.stack).into_iter();
        let structs = structs.zip(&self.lowered.module.kinds);
        let mut items: Vec<Item> = structs.map(|(item, kind)| said(item, &kind.name)).collect();
        items.push(Item::Struct {
            comment: "All that lasts from one call to the next.".to_string(),
            name: name.clone(),
            members: records::members(&self.stack),
        });
        items.push(Item::Text(format!("static struct {name} {};", self.memory)));
        items
    }

    /// Functions that copy and compare texts, as far as code calls them.
    fn texts(&self, code: &str) -> Vec<Item> {
        let module = self.stack.module;
        let both = module.opaques.iter().zip(&self.stack.names.opaques);
        let functions = both.filter_map(|(opaque, names)| {
            let room = &opaque.room.as_ref()?.name;
            let copy = format!(
                "static void {}(char *to, const char *from) {{\n    size_t length = 0;\n    \
                 while (length + 1 < {room} && from[length] != '\\0') {{\n        \
                 to[length] = from[length];\n        length++;\n    }}\n    \
                 to[length] = '\\0';\n}}",
                names.copy
            );
            let same = format!(
                "static bool {}(const char *one, const char *other) {{\n    \
                 while (*one != '\\0' && *one == *other) {{\n        one++;\n        \
                 other++;\n    }}\n    return *one == *other;\n}}",
                names.same
            );
            Some([(&names.copy, copy), (&names.same, same)])
        });
        let used = functions
            .flatten()
            .filter(|(name, _)| code.contains(&format!("{name}(")));
        used.map(|(_, text)| Item::Text(text)).collect()
    }

    /// The functions of the module, those that are called above those that call.
    fn functions(&self) -> Vec<Item> {
        let module = self.stack.module;
        let all = (0..module.functions.len() as u32).map(FunctionId);
        // Static memory needs no function that starts the stack.
        let all = all.filter(|id| module.starts != Some(*id));
        let printed = all.map(|id| {
            let comment = self.lowered.comments.get(&module.function(id).name);
            Item::Function(Function {
                comment: comment.cloned().unwrap_or_default(),
                ..self.pointed(function::print(&self.stack, id))
            })
        });
        printed.collect()
    }

    /// A function in which the pointer to all that lasts has its own name.
    fn pointed(&self, mut function: Function) -> Function {
        let Some(own) = &self.pointer else {
            return function;
        };
        for statement in &mut function.body {
            statement.each_value_mut(&mut |value| rename(value, own));
        }
        let declared = function.parameters.first_mut();
        if let Some(declared) = declared
            && let Some(before) = declared.strip_suffix(&format!("*{POINTER}"))
        {
            *declared = format!("{before}*{own}");
        }
        function
    }

    /// Returns the definitions of the functions that the header declares.
    fn entries(&self) -> Vec<Item> {
        let module = self.header.module;
        let inputs = module.processes.signals();
        let inputs = inputs.filter(|one| module.processes.signal(*one).role.is_given());
        let mut heads: Vec<Function> = inputs.map(|one| self.header.input_head(one)).collect();
        heads.extend([self.header.instant_head(), self.header.reset_head()]);
        let entries = heads.into_iter().map(|head| {
            let exports = &self.stack.module.exports;
            let export = exports.iter().find(|one| one.name == head.name);
            let export = export.expect("the header declares what the module exports");
            Item::Function(Function {
                body: self.called(export, &head),
                ..head
            })
        });
        let error = Function {
            body: self.error(),
            ..self.header.error_head()
        };
        entries.chain([Item::Function(error)]).collect()
    }

    /// The call of a function by which what the header declares is done.
    fn called(&self, export: &Export, head: &Function) -> Vec<S> {
        let mut arguments = vec![atom(&self.memory).address()];
        for (named, declared) in export.parameters.iter().zip(&head.parameters) {
            let name = declared.rsplit(' ').next().unwrap_or(declared);
            let parts = shapes::given(&self.stack, &named.shape, "", &|_| atom(name));
            arguments.extend(parts);
        }
        let name = self.stack.names.functions[export.calls.at()].clone();
        let called = call(name, arguments);
        match &export.result {
            None => vec![S::Do(called)],
            Some(shape) => {
                let mut parts = [called].into_iter();
                let told = shapes::told(&self.stack, shape, "", &mut parts).into_iter();
                vec![S::Return(told.map(|(_, code)| code).next())]
            }
        }
    }

    /// Prints `M_error`, which returns the reason of the first failure.
    fn error(&self) -> Vec<S> {
        let null = || vec![S::Return(Some(atom("NULL")))];
        let Some(reason) = self.lowered.reason else {
            return null();
        };
        let reasons = self.lowered.reasons.iter().zip(1..);
        let cases = reasons.map(|(says, number): (_, u32)| {
            let says = literal::text(says);
            (vec![atom(number.to_string())], vec![S::Return(Some(says))])
        });
        vec![S::Switch {
            value: self.place(reason),
            cases: cases.collect(),
            otherwise: Some(null()),
        }]
    }

    /// A field, outside of the functions of the module.
    pub fn place(&self, region: Region) -> C {
        let Region::Field(kind, field) = region else {
            unreachable!("all that lasts is in fields");
        };
        let kind = &self.stack.names.kinds[kind.at()];
        let field = kind.fields[field.at()].clone();
        atom(&self.memory).member(&kind.member).member(field)
    }
}

/// The pointer of stacks gets another name.
fn rename(value: &mut C, own: &str) {
    if *value == atom(POINTER) {
        *value = atom(own);
    }
    value
        .parts_mut()
        .into_iter()
        .for_each(|part| rename(part, own));
}

/// A struct of what lasts, with what is said of it.
fn said(item: Item, kind: &str) -> Item {
    const SAID: [(&str, &str); 9] = [
        ("_control", "The state."),
        ("_given", "Inputs of this instant."),
        ("_emitted", "Outputs of this instant."),
        ("_sensed", "Sensors that were read in this instant."),
        ("_value", "Values of signals."),
        ("_known_before", "Whether there was one."),
        ("_known", "Whether they have one."),
        ("_before", "Values of the instant before."),
        ("_variable", "Variables, and the counts of delays."),
    ];
    let said = SAID.iter().find(|(end, _)| kind.ends_with(end));
    match (item, said) {
        (Item::Struct { name, members, .. }, Some((_, said))) => Item::Struct {
            comment: said.to_string(),
            name,
            members,
        },
        (item, _) => item,
    }
}
