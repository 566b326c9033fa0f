//! Text -> module.
//!
//! Names may be used before they are defined, so a text is read in passes: the names of all
//! entries; kinds and ports, which have names within; the rest of the tables and the heads of
//! functions; the bodies of functions.

mod cursor;
mod function;
mod operation;
mod resolve;
mod tables;

use super::lexer::{Class, Mistake, Read, Token, tokens};
use super::names::Names;
use crate::ir::function::Definition;
use crate::ir::interface::{Conversation, Link, Numbered, Port};
use crate::ir::{
    Attribute, Block, Cache, Function, FunctionId, Kernel, Kind, KindId, Lives, Module, Op, Role,
    Setting, Terminator, Type, Value,
};
use cursor::Cursor;
use function::Defined;

/// The module that a text says, in canonical form.
pub fn read(text: &str) -> Result<Module, Mistake> {
    let tokens = tokens(text)?;
    let items = items(&tokens)?;
    let mut module = declared(&items)?;
    let names = Names::new(&module);
    let (mut kinds, mut ports) = (Vec::new(), Vec::new());
    for item in &items {
        match item.word {
            "kind" => kinds.push(item.read(|cursor| tables::kind(cursor, &names))?),
            "port" => ports.push(item.read(|cursor| tables::port(cursor, &names))?),
            _other => {}
        }
    }
    (module.kinds, module.ports) = (kinds, ports);
    let names = Names::new(&module);
    short_tables(&mut module, &names, &items)?;
    long_tables(&mut module, &names, &items)?;
    functions(&mut module, &names, &items)?;
    Ok(module)
}

/// An entry of a table, or a function.
struct Item<'t> {
    /// The word with which it begins; `fn` if it is a function.
    word: &'t str,
    /// Behind the word, or at the head of a function.
    cursor: Cursor<'t>,
}

impl<'t> Item<'t> {
    /// Reads the whole item.
    fn read<T>(&self, read: impl FnOnce(&mut Cursor<'t>) -> Read<T>) -> Read<T> {
        let mut cursor = self.cursor.clone();
        let entry = read(&mut cursor)?;
        cursor.end_line()?;
        Ok(entry)
    }
}

/// The words with which functions begin.
const ROLES: [&str; 6] = ["fn", "pure", "event", "entry", "fast", "kept"];

/// Splits a text: an item ends with its line, behind its braces.
fn items<'t>(tokens: &'t [Token<'t>]) -> Read<Vec<Item<'t>>> {
    let mut items = Vec::new();
    let mut cursor = Cursor::new(tokens);
    while !cursor.is_class(Class::End) {
        let head = cursor.clone();
        let word = cursor.word("a word with which an entry of a table begins")?;
        items.push(match ROLES.contains(&word) {
            true => Item {
                word: "fn",
                cursor: head,
            },
            false => Item {
                word,
                cursor: cursor.clone(),
            },
        });
        let mut open = 0_u32;
        while !(open == 0 && cursor.is_class(Class::Line)) {
            if cursor.is_class(Class::End) {
                break;
            }
            if cursor.is("{") {
                open += 1;
            }
            if cursor.is("}") {
                open = open.saturating_sub(1);
            }
            cursor.next();
        }
        cursor.end_line()?;
    }
    Ok(items)
}

/// A module whose entries have their names, and nothing else yet.
fn declared(items: &[Item<'_>]) -> Read<Module> {
    let mut module = Module::default();
    for (at, item) in items.iter().enumerate() {
        let mut cursor = item.cursor.clone();
        match item.word {
            "stack" if at == 0 => module.name = item.read(Cursor::name)?,
            "reason" => module.reasons.push(item.read(Cursor::name)?),
            "counter" => module.counters.push(item.read(Cursor::name)?),
            "setting" => module.settings.push(Setting {
                name: cursor.name()?,
                of: Type::BIT,
            }),
            "attribute" => {
                let is_mark = cursor.is("mark") && cursor.peek_second().text != ":";
                if is_mark {
                    cursor.next();
                }
                module.attributes.push(no_attribute(cursor.name()?));
            }
            "kind" => module.kinds.push(no_kind(cursor.name()?)),
            "kernel" => module.kernels.push(no_kernel(cursor.name()?)),
            "cache" => module.caches.push(Cache {
                name: cursor.name()?,
                kind: None,
                remembers: FunctionId(0),
            }),
            "opaque" => module.opaques.push(item.read(tables::opaque)?),
            "foreign" => module.foreigns.push(item.read(tables::foreign)?),
            "link" => module.links.push(Link {
                name: cursor.name()?,
                calls: None,
                gathers: false,
                arrives: FunctionId(0),
                in_place: false,
                carrier: None,
            }),
            "port" => module.ports.push(no_port(cursor.name()?)),
            "fn" => {
                while ROLES.contains(&cursor.peek().text) && !cursor.takes("fn") {
                    cursor.next();
                }
                module.functions.push(no_function(cursor.name()?));
            }
            "doc" | "headroom" | "fast_paths" | "left_out" | "memory" | "settings_hold"
            | "starts" | "given" | "enum" | "listening" | "export" | "watched" => {}
            other => {
                let message = match other {
                    "stack" => "`stack` stands first".to_string(),
                    other => format!("no entry of a table begins with `{other}`"),
                };
                return cursor.mistake(message);
            }
        }
    }
    Ok(module)
}

/// Tables whose entries have a line each.
fn short_tables(module: &mut Module, names: &Names, items: &[Item<'_>]) -> Read<()> {
    let (mut headroom, mut fast_paths, mut memory) = (None, None, None);
    let (mut settings, mut attributes) = (Vec::new(), Vec::new());
    for item in items {
        let function = |cursor: &mut Cursor<'_>| operation::function(cursor, names);
        match item.word {
            "headroom" => {
                let bytes = item.read(Cursor::number32)?;
                tables::set(item.cursor.position(), &mut headroom, bytes)?;
            }
            "fast_paths" => {
                let most = item.read(Cursor::number32)?;
                tables::set(item.cursor.position(), &mut fast_paths, most)?;
            }
            "left_out" => {
                let path = item.read(|cursor| Ok((cursor.name()?, cursor.number32()?)))?;
                module.left_out.push(path);
            }
            "doc" => module.docs.push(item.read(Cursor::name)?),
            "memory" => {
                let sizes = item.read(tables::memory)?;
                tables::set(item.cursor.position(), &mut memory, sizes)?;
            }
            "enum" => module.enums.push(item.read(tables::enumeration)?),
            "settings_hold" => {
                let id = item.read(function)?;
                tables::set(item.cursor.position(), &mut module.settings_hold, id)?;
            }
            "starts" => {
                let id = item.read(function)?;
                tables::set(item.cursor.position(), &mut module.starts, id)?;
            }
            "given" => {
                let given = item.read(|cursor| tables::given(cursor, names))?;
                module.given.push(given);
            }
            "setting" => settings.push(item.read(|cursor| tables::setting(cursor, names))?),
            "attribute" => {
                let read = |cursor: &mut Cursor<'_>| tables::attribute_of_messages(cursor, names);
                attributes.push(item.read(read)?);
            }
            _other => {}
        }
    }
    module.headroom = headroom.unwrap_or_default();
    module.fast_paths = fast_paths;
    module.memory = memory.unwrap_or_default();
    (module.settings, module.attributes) = (settings, attributes);
    Ok(())
}

/// Tables that refer to others, and whose entries may have several lines.
fn long_tables(module: &mut Module, names: &Names, items: &[Item<'_>]) -> Read<()> {
    let (mut kernels, mut caches, mut links) = (Vec::new(), Vec::new(), Vec::new());
    for item in items {
        match item.word {
            "kernel" => kernels.push(item.read(|cursor| tables::kernel(cursor, names))?),
            "cache" => caches.push(item.read(|cursor| tables::cache(cursor, names))?),
            "link" => links.push(item.read(|cursor| tables::link(cursor, names))?),
            "listening" => {
                let listening = item.read(|cursor| tables::listening(cursor, names))?;
                module.listening.push(listening);
            }
            "watched" => {
                let place = item.read(|cursor| operation::place(cursor, names))?;
                module.watched.push(place);
            }
            "export" => {
                let export = item.read(|cursor| tables::export(cursor, names))?;
                module.exports.push(export);
            }
            _other => {}
        }
    }
    (module.kernels, module.caches, module.links) = (kernels, caches, links);
    Ok(())
}

/// The functions: all heads first, so that each body knows what it calls.
fn functions(module: &mut Module, names: &Names, items: &[Item<'_>]) -> Read<()> {
    let mut bodies = Vec::new();
    let heads = items.iter().filter(|item| item.word == "fn");
    for (at, item) in heads.enumerate() {
        let mut cursor = item.cursor.clone();
        let (mut function, parameters) = function::head(&mut cursor, names)?;
        give_parameters(&mut function, &parameters);
        module.functions[at] = function;
        bodies.push((cursor, parameters));
    }
    for (at, (mut cursor, parameters)) in bodies.into_iter().enumerate() {
        let blocks = function::blocks(&mut cursor, names, parameters)?;
        let head = module.functions[at].clone();
        module.functions[at] = resolve::resolve(module, head, &blocks)?;
    }
    Ok(())
}

/// Gives a function a first block, from which its callers know its parameters.
fn give_parameters(function: &mut Function, parameters: &[Defined<'_>]) {
    let types = parameters.iter().map(|one| one.of.unwrap_or(Type::BIT));
    let hint = String::new();
    let definitions = types.map(|of| Definition {
        of,
        hint: hint.clone(),
    });
    function.values = definitions.collect();
    function.blocks = vec![Block {
        parameters: (0..parameters.len() as u32).map(Value).collect(),
        instructions: Vec::new(),
        terminator: Terminator::Never,
        span: None,
    }];
}

fn no_attribute(name: String) -> Attribute {
    Attribute {
        name,
        of: Type::BIT,
        default: Op::Number(1, 0),
        is_mark: false,
    }
}

fn no_kind(name: String) -> Kind {
    Kind {
        name,
        owner: String::new(),
        capacity: 0,
        lives: Lives::Always,
        keys: Vec::new(),
        fields: Vec::new(),
        timers: Vec::new(),
        stands_on: None,
        ended: None,
    }
}

fn no_kernel(name: String) -> Kernel {
    Kernel {
        name,
        unit: 1,
        big: true,
        parameters: Vec::new(),
        begins: FunctionId(0),
        steps: FunctionId(0),
        tail: None,
        finishes: FunctionId(0),
    }
}

fn no_port(name: String) -> Port {
    Port {
        name,
        calls: None,
        session: Conversation {
            kind: KindId(0),
            index: Numbered::Only(0),
        },
        sends: None,
        longest: 0,
        is_copied: false,
        opens: None,
        listens: None,
        attributes: Vec::new(),
        up: Vec::new(),
        down: Vec::new(),
        grants: None,
    }
}

fn no_function(name: String) -> Function {
    Function {
        name,
        owner: String::new(),
        role: Role::Plain,
        kept: false,
        fast: None,
        results: Vec::new(),
        values: Vec::new(),
        blocks: Vec::new(),
        span: None,
    }
}
