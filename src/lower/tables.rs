//! The tables of a module: in, those of the checked program; out, the same by parts.
//!
//! Kinds, links, ports, reasons and counters have the places that they have in the program. Fields
//! are split into parts, keys first.

use super::memory;
use super::shapes::{bits, constant, part_names, parts, shape, zeros};
use crate::ir::interface::{Enum, EnumValue, Listening, Named, SettingOfHost};
use crate::ir::{self, Field, Kind, Lives, Module, Op, Setting, Stored, Timer};
use crate::tree::Forest;
use crate::types::program::{AttributeId, EntityId, FieldId, KindId, Population, Program, Role};
use crate::types::value::Type;
use crate::types::writing::Writing;

/// The tables of a program, without functions, links and ports.
pub fn module(program: &Program, forest: &Forest) -> Module {
    let entity = |id: EntityId| &program.entities[id.at()].name;
    let reasons = program.reasons.iter();
    let counters = program.counts.iter();
    let mut module = Module {
        name: program.name.clone(),
        reasons: reasons
            .map(|one| format!("{}.{}", entity(one.entity), one.name))
            .collect(),
        counters: counters
            .map(|one| format!("{}.{}", entity(one.entity), one.name))
            .collect(),
        docs: program.docs.clone(),
        enums: enums(program),
        headroom: memory::headroom(program),
        left_out: program.left_out.clone(),
        memory: memory::memory(program, forest),
        ..Module::default()
    };
    for config in &program.config {
        let default = config.default.as_ref();
        let default = default.map(|value| constant(program, value, &config.kind));
        let shape = shape(program, &config.kind);
        let names = part_names(&shape).into_iter().zip(shape.parts());
        module.settings.extend(names.map(|(part, of)| Setting {
            name: format!("{}{part}", config.name),
            of,
        }));
        let name = config.name.clone();
        let zeros = zeros(&shape.parts());
        module.given.push(SettingOfHost {
            named: Named { name, shape },
            default: default.filter(|one| *one != zeros).unwrap_or_default(),
        });
    }
    for at in 0..program.attributes.len() as u32 {
        attribute(program, AttributeId(at), &mut module);
    }
    let kinds = (0..program.kinds.len() as u32).map(KindId);
    module.kinds = kinds.map(|id| kind(program, id)).collect();
    module.listening = listening(program);
    module
}

/// The enums of what a host gives and is told, in the order of the program.
fn enums(program: &Program) -> Vec<Enum> {
    let mut seen: Vec<&Type> = program.config.iter().map(|one| &one.kind).collect();
    for port in &program.ports {
        let listener = port.listens.map(|how| how.listener);
        let kinds = port.opens.into_iter().chain(listener);
        let keys = kinds.flat_map(|kind| &program.kinds[kind.at()].keys);
        seen.extend(keys.map(|key| &key.kind));
        let attributes = port.attributes.iter();
        seen.extend(attributes.map(|id| &program.attributes[id.at()].kind));
        let notices = port.up.iter().chain(&port.down);
        let parameters = notices.flat_map(|id| &program.notices[id.at()].parameters);
        seen.extend(parameters.map(|one| &one.kind));
    }
    let functions = program.functions.iter();
    for function in functions.filter(|one| one.external && !one.in_runtime) {
        let given = &function.locals[..function.parameters as usize];
        seen.extend(given.iter().map(|local| &local.kind));
        seen.push(&function.result);
    }
    let is_enum = |of: &Type, at: usize| matches!(of, Type::Enum(id) if id.at() == at);
    let is_seen = |at: usize| {
        seen.iter().any(|of| match of {
            Type::Optional(inner) => is_enum(inner, at),
            other => is_enum(other, at),
        })
    };
    let all = program.enums.iter().enumerate();
    all.filter(|(at, _)| is_seen(*at))
        .map(|(_, one)| Enum {
            name: one.name.clone(),
            bits: one.width,
            values: one
                .names
                .iter()
                .map(|value| enum_value(program, one.width, value))
                .collect(),
        })
        .collect()
}

fn enum_value(program: &Program, width: u8, (name, number): &(String, u64)) -> EnumValue {
    let number = *number;
    let own = number.checked_ilog(16).map_or(1, |digits| digits as u8 + 1);
    // A number that no source writes is decimal if it is small or round, and else hexadecimal.
    let is_mask = number >= 255 && number.wrapping_add(1).is_power_of_two();
    let is_round = number <= i32::MAX as u64 && number.is_multiple_of(1000);
    let digits = match program.writings.of(&Type::Unsigned(width), number) {
        Some(Writing::Hexadecimal(digits)) => (digits as u8).max(own),
        Some(Writing::Decimal) => 0,
        None if !is_mask && (number <= 0xffff || is_round) => 0,
        None => own,
    };
    EnumValue {
        name: name.clone(),
        number,
        digits,
    }
}

/// Adds the parts of an attribute.
fn attribute(program: &Program, id: AttributeId, module: &mut Module) {
    let table = &program.attributes[id.at()];
    let is_mark = program.entities.iter().any(|one| one.mark == Some(id));
    let shape = shape(program, &table.kind);
    let defaults = match &table.default {
        Some(value) => constant(program, value, &table.kind),
        None => zeros(&shape.parts()),
    };
    let parts = part_names(&shape).into_iter().zip(shape.parts());
    for ((part, of), default) in parts.zip(defaults) {
        let wanted = format!("{}.{}{part}", table.owner, table.name);
        let is_free = |name: &String| !module.attributes.iter().any(|one| one.name == *name);
        let numbered = (2..).map(|number| format!("{wanted}.{number}"));
        let mut names = std::iter::once(wanted.clone()).chain(numbered);
        let name = names.find(is_free);
        module.attributes.push(ir::Attribute {
            name: name.expect("there are more numbers than names"),
            of,
            default,
            is_mark,
        });
    }
}

/// The parts of an attribute.
pub fn parts_of_attribute(program: &Program, id: AttributeId) -> Vec<ir::AttributeId> {
    let count = |of: &Type| parts(program, of).len() as u32;
    let before = program.attributes[..id.at()].iter();
    let first: u32 = before.map(|one| count(&one.kind)).sum();
    let own = count(&program.attributes[id.at()].kind);
    (first..first + own).map(ir::AttributeId).collect()
}

/// The first setting of a value that is set at the start.
pub fn first_setting(program: &Program, at: usize) -> u32 {
    let before = program.config[..at].iter();
    before
        .map(|one| parts(program, &one.kind).len() as u32)
        .sum()
}

/// The first part of a key of a kind.
pub fn first_key(program: &Program, kind: KindId, at: usize) -> ir::FieldId {
    let before = program.kinds[kind.at()].keys[..at].iter();
    let count = before.map(|key| parts(program, &key.kind).len() as u32);
    ir::FieldId(count.sum())
}

/// The first part of a field of a kind.
pub fn first_part(program: &Program, kind: KindId, field: FieldId) -> ir::FieldId {
    let table = &program.kinds[kind.at()];
    let keys = first_key(program, kind, table.keys.len()).0;
    let before = table.fields[..field.at()].iter();
    let count = before.map(|field| stored_parts(program, &field.kind) as u32);
    ir::FieldId(keys + count.sum::<u32>())
}

/// The number of fields of the module that hold a field.
fn stored_parts(program: &Program, of: &Type) -> usize {
    match of {
        Type::Queue(..) | Type::Window(..) | Type::Stream(..) | Type::Set(_) => 1,
        Type::Array(element, _) => stored_parts(program, element),
        Type::Record(id) if program.records[id.at()].external => 1,
        value => parts(program, value).len(),
    }
}

fn kind(program: &Program, id: KindId) -> Kind {
    let table = &program.kinds[id.at()];
    let entity = &program.entities[table.entity.at()];
    let name = match table.role {
        Role::Record => entity.name.clone(),
        Role::Session | Role::Child => format!("{}.{}", entity.name, table.name),
    };
    let mut fields = Vec::new();
    for key in &table.keys {
        let shape = shape(program, &key.kind);
        let all = part_names(&shape).into_iter().zip(shape.parts());
        fields.extend(all.map(|(part, of)| Field {
            name: format!("{}{part}", key.name),
            stored: Stored::Value(of),
            dimensions: Vec::new(),
        }));
    }
    let keys = (0..fields.len() as u32).map(ir::FieldId).collect();
    let stands_on = program.stands_on(id);
    let stands_on = stands_on.map(|_| ir::FieldId(fields.len() as u32 - 1));
    for field in &table.fields {
        let stored = stored(program, &field.kind, &field.name, Vec::new());
        fields.extend(stored);
    }
    distinct(&mut fields);
    let timers = table.timers.iter().map(|name| Timer {
        name: name.clone(),
        expires: None,
    });
    Kind {
        name,
        owner: entity.name.clone(),
        capacity: table.capacity,
        lives: lives(program, id),
        keys,
        fields,
        timers: timers.collect(),
        stands_on,
        ended: program.ended(table.entity).map(|id| ir::ReasonId(id.0)),
    }
}

/// Gives fields of one name numbers: a layer may call a field as another's part.
fn distinct(fields: &mut [Field]) {
    for at in 1..fields.len() {
        let (before, rest) = fields.split_at_mut(at);
        let is_free = |name: &String| !before.iter().any(|one| one.name == *name);
        let wanted = rest[0].name.clone();
        let numbered = (2..).map(|number| format!("{wanted}.{number}"));
        let mut names = std::iter::once(wanted.clone()).chain(numbered);
        rest[0].name = names
            .find(is_free)
            .expect("there are more numbers than names");
    }
}

fn stored(program: &Program, of: &Type, name: &str, dimensions: Vec<u32>) -> Vec<Field> {
    let one = |stored| {
        vec![Field {
            name: name.to_string(),
            stored,
            dimensions: dimensions.clone(),
        }]
    };
    let item = |of: &Type| match of {
        Type::Message => vec![ir::Type::Message],
        value => parts(program, value),
    };
    match of {
        Type::Queue(of, capacity) => one(Stored::Queue(item(of), *capacity)),
        Type::Window(of, width, capacity) => one(Stored::Window(item(of), *width, *capacity)),
        Type::Stream(position, capacity) => {
            let bits = bits(program, position).expect("a position is a number");
            one(Stored::Stream(bits, *capacity))
        }
        Type::Set(capacity) => one(Stored::Set(*capacity)),
        Type::Record(id) if program.records[id.at()].external => {
            one(Stored::Foreign(program.records[id.at()].name.clone()))
        }
        Type::Array(element, length) => {
            let mut dimensions = dimensions.clone();
            dimensions.push(*length);
            stored(program, element, name, dimensions)
        }
        value => {
            let shape = shape(program, value);
            let all = part_names(&shape).into_iter().zip(shape.parts());
            let field = |(part, of): (String, ir::Type)| Field {
                name: format!("{name}{part}"),
                stored: Stored::Value(of),
                dimensions: dimensions.clone(),
            };
            all.map(field).collect()
        }
    }
}

fn lives(program: &Program, id: KindId) -> Lives {
    if let Population::Static(_) = program.kinds[id.at()].population {
        return Lives::Always;
    }
    let root = program.lives_with(id);
    match root == id {
        true => Lives::Created,
        false => Lives::With(ir::KindId(root.0)),
    }
}

fn listening(program: &Program) -> Vec<Listening> {
    let ports = program.ports.iter().enumerate();
    let all = ports.filter_map(|(at, port)| {
        let how = port.listens?;
        let of_listener = |field| first_part(program, how.listener, field);
        let of_session = |field| first_part(program, how.session, field);
        let mut up = port.up.iter();
        Some(Listening {
            port: ir::PortId(at as u32),
            listener: ir::KindId(how.listener.0),
            backlog: of_listener(how.backlog),
            waiting: of_listener(how.waiting),
            session: ir::KindId(how.session.0),
            waits: of_session(how.waits),
            unknown: of_session(how.unknown),
            made_by: of_session(how.made_by),
            opened: how.opened.and_then(|notice| {
                let place = up.position(|one| *one == notice);
                place.map(|at| at as u32)
            }),
        })
    });
    all.collect()
}

/// A value that is set at the start: the operations that load its parts.
pub fn settings(program: &Program, at: usize) -> impl Iterator<Item = Op> {
    let first = first_setting(program, at);
    let count = parts(program, &program.config[at].kind).len() as u32;
    let all = (first..first + count).map(ir::SettingId);
    all.map(|id| Op::Load(ir::Region::Setting(id)))
}
