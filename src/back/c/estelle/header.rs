//! `NAME.h`: the functions that a program calls.

use crate::back::c::Stack;
use crate::c::printer;
use crate::c::tree::{Function, Item};
use crate::ir::interface::Shape;
use crate::lower::estelle::{ENTRIES, Entry};

/// The interface of a specification.
pub struct Header<'h> {
    /// The file in which it is written.
    pub file: &'h str,
    /// Its module with its names.
    pub stack: &'h Stack<'h>,
}

impl Header<'_> {
    /// The head of `NAME_size`.
    pub fn size_head(&self) -> Function {
        Function {
            comment: format!(
                "The bytes of struct {}, to be aligned as for any type.",
                self.stack.names.stack
            ),
            result: "size_t".to_string(),
            name: format!("{}_size", self.stack.module.name),
            parameters: Vec::new(),
            body: Vec::new(),
        }
    }

    /// The head of a function that a program calls.
    pub fn head(&self, at: usize, entry: &Entry) -> Function {
        let export = &self.stack.module.exports[at];
        let mut parameters = vec![format!("struct {} *stack", self.stack.names.stack)];
        parameters.extend(
            export
                .parameters
                .iter()
                .map(|one| format!("{} {}", number(&one.shape), one.name)),
        );
        if entry.takes_time {
            parameters.push("uint64_t now_ns".to_string());
        }
        Function {
            comment: entry.says.to_string(),
            result: export.result.as_ref().map_or("void", number).to_string(),
            name: export.name.clone(),
            parameters,
            body: Vec::new(),
        }
    }

    /// `NAME.h`
    pub fn text(&self) -> String {
        let name = &self.stack.module.name;
        let heads = ENTRIES.iter().enumerate();
        let heads = heads.map(|(at, entry)| self.head(at, entry));
        let heads = std::iter::once(self.size_head()).chain(heads).map(|head| {
            let says = head.comment.clone();
            let prototype = printer::file(&[Item::Prototype(head)]);
            Item::Text(format!("/* {says} */\n{prototype}"))
        });
        let heads: Vec<Item> = heads.collect();
        let upper = name.to_uppercase();
        format!(
            "/* {name}: the Estelle specification of {}, compiled by Stackloom.\n *\n * Give \
             {name}_size() bytes of zeros, call {name}_start, and then {name}_step for each \
             system,\n * until none of them fires anything. Nothing is allocated. */\n\
             #ifndef {upper}_H\n#define {upper}_H\n\n\
             #include <stddef.h>\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" \
             {{\n#endif\n\nstruct {};\n\n{}\n#ifdef __cplusplus\n}}\n#endif\n\n#endif\n",
            self.file,
            self.stack.names.stack,
            printer::file(&heads)
        )
    }
}

/// The type of a number in C.
fn number(shape: &Shape) -> &'static str {
    match shape {
        Shape::Number { signed: true, .. } => "int32_t",
        Shape::Time => "uint64_t",
        other => unreachable!("{other:?} is no number of the interface"),
    }
}
