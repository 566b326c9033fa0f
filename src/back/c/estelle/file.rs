//! `NAME.c`: in, a module with its names; out, the struct of all that lasts, the functions of the
//! module, and those that a program calls.

use super::called;
use super::header::Header;
use crate::back::c::{instances, records, shapes, text};
use crate::c::parts::words;
use crate::c::tree::{Expression as C, Function, Item, Line, Statement as S, assign, atom, call};
use crate::c::{printer, runtime};
use crate::lower::estelle::ENTRIES;

/// A file that is being printed.
pub struct File<'f> {
    /// Its header.
    pub header: &'f Header<'f>,
}

impl File<'_> {
    /// `NAME.c`
    pub fn text(&self) -> String {
        let stack = self.header.stack;
        let name = &stack.module.name;
        let top = format!(
            "/* {name}: the Estelle specification of {}, compiled by Stackloom; {name}.h says how \
             it is used. */\n\n#include \"{name}.h\"\n\n#include <stdbool.h>",
            self.header.file
        );
        let entries = self.entries();
        let functions = called::functions(stack, &entries);
        let printed = printer::file(&[functions.clone(), entries.clone()].concat());
        let questions = instances::questions(stack);
        let questions = questions
            .into_iter()
            .filter(|(name, _)| words(&printed).contains(name.as_str()));
        let questions: Vec<Item> = questions.map(|(_, item)| item).collect();
        let expanded = called::expanded(stack, &functions);
        let inside = text::Text::of(stack).inside(&printed);
        let items = [
            self.structs(&printed),
            inside,
            questions,
            expanded,
            functions,
            entries,
        ]
        .concat();
        let body = printer::file(&items);
        let copied = runtime::select(&runtime::mentioned(&body));
        let parts = [top.as_str(), copied.trim(), body.as_str()];
        let parts: Vec<&str> = parts.into_iter().filter(|one| !one.is_empty()).collect();
        parts.join("\n\n")
    }

    fn structs(&self, printed: &str) -> Vec<Item> {
        let structs = records::structs(self.header.stack).into_iter();
        let mut items: Vec<Item> = structs.map(said).collect();
        let results = records::results(self.header.stack);
        let results = results
            .into_iter()
            .filter(|(name, _)| words(printed).contains(name.as_str()));
        items.extend(results.map(|(_, item)| item));
        let mut members = records::members(self.header.stack);
        members.push(Line {
            text: "uint64_t now_ns".to_string(),
            comment: "the time of the step".to_string(),
        });
        if self.header.has_user() {
            members.push(Line {
                text: "void *user".to_string(),
                comment: "the pointer of the host".to_string(),
            });
        }
        items.push(Item::Struct {
            comment: "All modules, links and queues.".to_string(),
            name: self.header.stack.names.stack.clone(),
            members,
        });
        items
    }

    /// The functions that a program calls.
    fn entries(&self) -> Vec<Item> {
        let mut items = vec![Item::Function(Function {
            body: vec![S::Return(Some(atom(format!(
                "sizeof(struct {})",
                self.header.stack.names.stack
            ))))],
            ..self.header.size_head()
        })];
        if self.header.has_user() {
            items.push(Item::Function(Function {
                body: vec![assign(atom("stack").behind("user"), atom("user"))],
                ..self.header.user_head()
            }));
        }
        for (at, entry) in ENTRIES.iter().enumerate() {
            items.push(Item::Function(Function {
                body: self.called(at, entry.takes_time),
                ..self.header.head(at, entry)
            }));
        }
        for (at, export) in self.header.of_bodies().iter().enumerate() {
            items.push(Item::Function(Function {
                body: self.called(ENTRIES.len() + at, false),
                ..self.header.head_of_body(export)
            }));
        }
        items
    }

    /// Calls the function of an export.
    fn called(&self, at: usize, takes_time: bool) -> Vec<S> {
        let export = &self.header.stack.module.exports[at];
        let mut body = Vec::new();
        if takes_time {
            let now = atom("stack").behind("now_ns");
            body.push(assign(now, atom("now_ns")));
        }
        let arguments = export.parameters.iter().flat_map(|named| {
            let name = named.name.clone();
            shapes::given(self.header.stack, &named.shape, "", &move |_| atom(&name))
        });
        let arguments: Vec<C> = std::iter::once(atom("stack")).chain(arguments).collect();
        let function = self.header.stack.names.functions[export.calls.at()].clone();
        let called = call(function, arguments);
        match &export.result {
            None => body.push(S::Do(called)),
            Some(shape) => {
                let mut parts = [called].into_iter();
                let told = shapes::told(self.header.stack, shape, "", &mut parts);
                body.push(S::Return(told.into_iter().map(|(_, code)| code).next()));
            }
        }
        body
    }
}

/// The struct of a kind, with a comment for Estelle.
fn said(item: Item) -> Item {
    match item {
        Item::Struct { name, members, .. } => Item::Struct {
            comment: "Fields of one kind: an instance of a body, tables, or local variables."
                .to_string(),
            name,
            members,
        },
        other => other,
    }
}
