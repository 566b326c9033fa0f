//! `NAME.h`: the functions that a program calls.

use crate::back::c::Stack;
use crate::back::c::header::head::{Head, comment_text};
use crate::back::c::header::{callbacks, enums, values};
use crate::c::printer;
use crate::c::tree::{Function, Item};
use crate::ir::Module;
use crate::ir::interface::{Export, Given, Shape};
use crate::lower::estelle::outside::Contract;
use crate::lower::estelle::{ENTRIES, Entry};

/// Returns true if a specification calls functions of its host.
pub fn calls_host(module: &Module) -> bool {
    let mut foreigns = module.foreigns.iter();
    foreigns.any(|one| one.home.is_host())
}

/// The comment on functions for bodies that C defines.
const OF_BODIES: &str = "Functions for a module whose body C defines, by its number. `head` is the \
     interaction at the head of the queue of a point, or -1; `get` is a parameter of it, or a \
     variable of the module; `take` removes it; `output` outputs an interaction, and `set` sets an \
     exported variable. These three return 0, or minus the number of a fault.";

/// The interface of a specification.
pub struct Header<'h> {
    /// The file in which it is written.
    pub file: &'h str,
    /// The duties of the functions of the host, which the header states.
    pub contract: &'h Contract,
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

    /// Returns true if functions of the host are given a pointer.
    pub fn has_user(&self) -> bool {
        calls_host(self.stack.module)
    }

    /// The head of `NAME_set_user`.
    pub fn user_head(&self) -> Function {
        Function {
            comment: format!(
                "Sets the pointer `user` for the functions of the host, before {}_start.",
                self.stack.module.name
            ),
            result: "void".to_string(),
            name: format!("{}_set_user", self.stack.module.name),
            parameters: vec![
                format!("struct {} *stack", self.stack.names.stack),
                "void *user".to_string(),
            ],
            body: Vec::new(),
        }
    }

    /// The functions that the host defines.
    fn of_host(&self) -> Vec<Item> {
        let module = self.stack.module;
        let all = module.foreigns.iter().zip(&self.stack.names.foreigns);
        let all = all.filter(|(foreign, _)| foreign.home.is_host());
        let declared = all.map(|(foreign, name)| {
            let head = Head {
                comment: self
                    .contract
                    .says(&foreign.name)
                    .unwrap_or_default()
                    .to_string(),
                ..callbacks::of_layers(self.stack, foreign, name)
            };
            Item::Text(match head.comment.is_empty() {
                true => printer::file(&[head.prototype()]),
                false => head.declared(),
            })
        });
        let declared: Vec<Item> = declared.collect();
        let said = "Functions that the host defines. `user` is its pointer.";
        let said = (!declared.is_empty()).then(|| Item::Text(comment_text(said)));
        said.into_iter().chain(declared).collect()
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

    /// The exports for bodies that C defines.
    pub fn of_bodies(&self) -> &[Export] {
        &self.stack.module.exports[ENTRIES.len()..]
    }

    /// The head of one of these.
    pub fn head_of_body(&self, export: &Export) -> Function {
        let mut parameters = vec![format!("struct {} *stack", self.stack.names.stack)];
        let given = export.parameters.iter();
        let given = given.flat_map(|one| values::parameters(self.stack, &one.shape, &one.name));
        parameters.extend(given);
        let result = export.result.as_ref();
        Function {
            comment: String::new(),
            result: result.map_or("void".to_string(), |of| values::c_type(self.stack, of)),
            name: export.name.clone(),
            parameters,
            body: Vec::new(),
        }
    }

    /// The declarations of these, and the numbers of interactions.
    fn declared_of_bodies(&self) -> Vec<Item> {
        if self.of_bodies().is_empty() {
            return Vec::new();
        }
        let heads = self.of_bodies().iter();
        let heads = heads.map(|one| Item::Prototype(self.head_of_body(one)));
        let mut items = enums(self.stack);
        items.push(Item::Text(comment_text(OF_BODIES)));
        items.extend(heads);
        items
    }

    /// Returns true if a function that the header declares takes or returns a boolean.
    fn shows_bits(&self) -> bool {
        let module = self.stack.module;
        let of_host = module.foreigns.iter().filter(|one| one.home.is_host());
        let given = of_host.clone().flat_map(|one| &one.parameters);
        let given = given.filter_map(|(_, given)| match given {
            Given::Value(shape) | Given::Changed(shape) => Some(shape),
            Given::Data | Given::Rewritten | Given::State(_) => None,
        });
        let results = of_host.filter_map(|one| one.result.as_ref());
        let exports = module.exports.iter().flat_map(|one| {
            let parameters = one.parameters.iter().map(|named| &named.shape);
            parameters.chain(&one.result)
        });
        let mut shapes = given.chain(results).chain(exports);
        shapes.any(|shape| *shape == Shape::Bool)
    }

    /// `NAME.h`
    pub fn text(&self) -> String {
        let name = &self.stack.module.name;
        let heads = ENTRIES.iter().enumerate();
        let heads = heads.map(|(at, entry)| self.head(at, entry));
        let user = self.has_user().then(|| self.user_head());
        let own = std::iter::once(self.size_head()).chain(user);
        let heads = own.chain(heads).map(|head| {
            let says = head.comment.clone();
            let prototype = printer::file(&[Item::Prototype(head)]);
            Item::Text(format!("/* {says} */\n{prototype}"))
        });
        let heads: Vec<Item> = heads
            .chain(self.declared_of_bodies())
            .chain(self.of_host())
            .collect();
        let heads = printer::file(&heads);
        let bits = match self.shows_bits() {
            true => "#include <stdbool.h>\n",
            false => "",
        };
        let upper = name.to_uppercase();
        format!(
            "/* {name}: the Estelle specification of {}, compiled by Stackloom.\n *\n * Give \
             {name}_size() bytes of zeros, call {name}_start, and then {name}_step for each \
             system,\n * until none of them fires anything. Nothing is allocated. */\n\
             #ifndef {upper}_H\n#define {upper}_H\n\n\
             {bits}#include <stddef.h>\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" \
             {{\n#endif\n\nstruct {};\n\n{heads}\n#ifdef __cplusplus\n}}\n#endif\n\n#endif\n",
            self.file, self.stack.names.stack,
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
