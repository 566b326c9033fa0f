//! The whole of `NAME.c`: in, all pieces; out, those that something mentions, in order.
//!
//! ```text
//! runtime      copied parts
//! state        constants and structs
//! helpers      what every stack has: buffers, messages, containers, the agenda
//! instances    how they are found, begin and end
//! events       how events wait, and come to applications
//! functions    those of the module, layer by layer
//! paths        counters of fast paths
//! calls        the work loop, and all that a host calls
//! ```

use super::header;
use super::host;
use super::{Path, Stack, function, instances, message, state, text};
use crate::c::parts::words;
use crate::c::tree::{Function, Item};
use crate::c::{printer, runtime};
use std::collections::{BTreeMap, BTreeSet};

/// The two files of a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed {
    /// `NAME.c`
    pub c: String,
    /// `NAME.h`
    pub h: String,
    /// By kind: the bytes of the record of an instance, where pointers have 64 bits; 0 if its size
    /// is unknown.
    pub kind_bytes: Vec<u64>,
    /// Its fast paths.
    pub paths: Vec<Path>,
}

/// Functions by their names, and in their order.
struct Named {
    name: String,
    item: Item,
    text: String,
}

impl Named {
    fn all(items: Vec<(String, Item)>) -> Vec<Named> {
        let all = items.into_iter().map(|(name, item)| Named {
            name,
            text: printer::file(std::slice::from_ref(&item)),
            item,
        });
        all.collect()
    }
}

/// Prints a stack.
pub fn print(stack: &Stack<'_>) -> Printed {
    let header = header::text(stack);
    let items = host::items(stack);
    let functions = function::all(stack).into_iter();
    let functions = functions.map(|one| (one.name.clone(), Item::Function(one)));
    let functions = Named::all(functions.collect());
    let entries = printer::file(&items.entries);
    let groups = [
        [message::functions(stack), items.hooks.clone()].concat(),
        instances::questions(stack),
        instances::deeds(stack),
        items.events.clone(),
    ];
    let groups = groups.map(Named::all);
    let constants = Named::all(stack.constants.items(stack));
    let parts = text::Text::of(stack);
    let mut chosen = Chosen::new(&entries);
    loop {
        let before = chosen.names.len();
        chosen.add(&functions);
        chosen.add(&constants);
        groups.iter().for_each(|group| chosen.add(group));
        let inside = parts.inside(&chosen.code);
        chosen.mention(&printer::file(&inside));
        if chosen.names.len() == before {
            break;
        }
    }
    let inside = parts.inside(&chosen.code);
    let [hooks, questions, deeds, events] = groups.map(|group| chosen.of(group));
    let functions = chosen.of(functions);
    let declared = functions.iter().filter_map(|item| match item {
        Item::Function(one) => Some(declaration(one)),
        _other => None,
    });
    let declared: Vec<Function> = declared.collect();
    let declared = prototypes(stack, declared);
    let constants = chosen.of(constants);
    let state = state::items(stack, &items, (&chosen.mentioned, &chosen.code), &header);
    let sections = [
        ("state", state),
        ("what stands everywhere", constants),
        ("hooks", hooks),
        ("buffers, messages, containers and the agenda", inside),
        ("functions of layers, declared", declared),
        ("instances", [questions, deeds].concat()),
        ("events", events),
        ("functions of layers", functions),
        ("counters of fast paths", items.paths),
        ("the work loop, and calls of the host", items.entries),
    ];
    assembled(stack, header, sections)
}

/// Declares each function once: some with an attribute, the others without.
fn prototypes(stack: &Stack<'_>, declared: Vec<Function>) -> Vec<Item> {
    let is_slow = |name: &str| stack.names.slow.iter().flatten().any(|slow| slow == name);
    let hot = function::hot(stack);
    let (slow, rest): (Vec<Function>, Vec<Function>) = declared
        .into_iter()
        .partition(|function| is_slow(&function.name));
    let (hot, plain): (Vec<Function>, Vec<Function>) = rest
        .into_iter()
        .partition(|function| hot.contains(&*function.name));
    let attributed = [("noinline", slow), ("always_inline", hot)].into_iter();
    let attributed = attributed
        .filter(|(_, functions)| !functions.is_empty())
        .map(|(attribute, functions)| Item::AttributedPrototypes(attribute, functions));
    let plain = plain.into_iter().map(Item::Prototype);
    plain.chain(attributed).collect()
}

fn assembled(stack: &Stack<'_>, header: String, sections: [(&str, Vec<Item>); 10]) -> Printed {
    let mut body = String::new();
    for (title, items) in sections {
        if !items.is_empty() {
            let banner = printer::file(&[Item::Banner(title.to_string())]);
            body += &format!("\n{banner}\n{}", printer::file(&items));
        }
    }
    let copied = runtime::select(&runtime::mentioned(&body));
    let links = stack.module.links.iter().map(|link| link.name.as_str());
    let record = stack
        .record()
        .map(|record| record.text(&stack.names.stack, links));
    let mut file = top(stack) + &record.unwrap_or_default();
    if !copied.trim().is_empty() {
        let banner = Item::Banner("runtime: copied from stackloom.h".to_string());
        file += &format!("\n{}\n{copied}", printer::file(&[banner]));
    }
    file += &body;
    let structs = format!("{header}{file}");
    let (end, asserted) = header::end(stack, &structs);
    Printed {
        c: file + &asserted,
        h: header + &end,
        kind_bytes: state::kind_bytes(stack, &structs),
        paths: stack.paths.described(),
    }
}

/// The first lines.
fn top(stack: &Stack<'_>) -> String {
    let name = &stack.names.stack;
    let own = match stack.names.foreign_records.is_empty() {
        true => String::new(),
        false => format!("#include \"{name}_extern.h\"\n"),
    };
    let comment = header::comment_of_file(stack);
    format!("{comment}\n#include \"{name}.h\"\n{own}")
}

fn declaration(function: &Function) -> Function {
    Function {
        comment: String::new(),
        result: function.result.clone(),
        name: function.name.clone(),
        parameters: function.parameters.clone(),
        body: Vec::new(),
    }
}

/// The names that a piece of C mentions, and the names that their definitions mention.
struct Chosen {
    names: BTreeSet<String>,
    mentioned: BTreeSet<String>,
    code: String,
}

impl Chosen {
    fn new(code: &str) -> Chosen {
        let mut chosen = Chosen {
            names: BTreeSet::new(),
            mentioned: BTreeSet::new(),
            code: code.to_string(),
        };
        chosen.mention(code);
        chosen
    }

    fn mention(&mut self, code: &str) {
        self.mentioned
            .extend(words(code).into_iter().map(String::from));
    }

    /// Adds those that are mentioned, and those that these mention.
    fn add(&mut self, all: &[Named]) {
        let places: BTreeMap<&str, &Named> = all.iter().map(|one| (&*one.name, one)).collect();
        let mut open: Vec<&Named> = all
            .iter()
            .filter(|one| self.mentioned.contains(&one.name))
            .collect();
        while let Some(one) = open.pop() {
            if !self.names.insert(one.name.clone()) {
                continue;
            }
            self.code += &one.text;
            let own: Vec<String> = words(&one.text).into_iter().map(String::from).collect();
            open.extend(own.iter().filter_map(|word| places.get(&**word).copied()));
            self.mentioned.extend(own);
        }
    }

    /// Returns the chosen items, in order.
    fn of(&self, all: Vec<Named>) -> Vec<Item> {
        let kept = all.into_iter().filter(|one| self.names.contains(&one.name));
        kept.map(|one| one.item).collect()
    }
}
