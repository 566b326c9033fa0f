//! Values and states of symbolic execution (King, "Symbolic execution and program testing", 1976).
//!
//! In: types of the IR. Out: terms for a value, and a term for each part of the state. A message is
//! a record of terms, so an attribute that nobody changed is the same term behind a `pull`.

use super::terms::{Sort, Term, Terms};
use crate::ir::effects::Resource;
use crate::ir::op::{Event, Place};
use crate::ir::signature::region_type;
use crate::ir::{KindId, Module, Op, Region, Type};
use std::collections::BTreeMap;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Symbolic {
    /// A number, bytes, an instance by its index, a slot, or what only C knows.
    Plain(Term),
    /// A message.
    Message(Message),
    /// Bytes that may be read: their buffer, the first of them, and their number.
    View(Term, Term, Term),
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its buffer, which nothing else shares.
    pub buffer: Term,
    /// Bytes of the buffer before it.
    pub start: Term,
    /// Its length.
    pub length: Term,
    /// Its attributes.
    pub attributes: Vec<Term>,
}

/// A part of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cell {
    /// A resource of the table of effects.
    Resource(Resource),
    /// A counter of a layer: what was added to it.
    Counter(u32),
    /// By index, a bit that an instance of a kind has a state.
    Live(KindId),
    /// The number of steps that were taken, each for an event from the agenda or an output.
    Steps,
}

/// An event that waits on the agenda, with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// The event.
    pub event: Event,
    /// Its arguments.
    pub values: Vec<Symbolic>,
}

/// The state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Its parts, without those that are as they were at the start.
    pub cells: BTreeMap<Cell, Term>,
    /// Events that wait before all that waited at the start; the last is the next.
    pub waiting: Vec<Pending>,
    /// Outputs, for people: their names, and what is given.
    pub left: Vec<(String, Vec<Term>)>,
}

impl Symbolic {
    /// Returns all terms of a value.
    pub fn terms(&self) -> Vec<Term> {
        match self {
            Symbolic::Plain(term) => vec![*term],
            Symbolic::View(buffer, base, length) => vec![*buffer, *base, *length],
            Symbolic::Message(message) => {
                let mut all = vec![message.buffer, message.start, message.length];
                all.extend(&message.attributes);
                all
            }
        }
    }

    /// Returns the value with other terms in the same order.
    pub fn with(&self, terms: &[Term]) -> Symbolic {
        match self {
            Symbolic::Plain(_) => Symbolic::Plain(terms[0]),
            Symbolic::View(..) => Symbolic::View(terms[0], terms[1], terms[2]),
            Symbolic::Message(_) => Symbolic::Message(Message {
                buffer: terms[0],
                start: terms[1],
                length: terms[2],
                attributes: terms[3..].to_vec(),
            }),
        }
    }

    /// Returns one of two values, by a bit.
    pub fn choose(&self, terms: &mut Terms, condition: Term, other: &Symbolic) -> Symbolic {
        let pairs = self.terms().into_iter().zip(other.terms());
        let chosen: Vec<Term> = pairs
            .map(|(one, other)| terms.choose(condition, one, other))
            .collect();
        self.with(&chosen)
    }
}

impl State {
    /// Returns a part of the state.
    pub fn get(&self, terms: &mut Terms, module: &Module, cell: Cell) -> Term {
        match self.cells.get(&cell) {
            Some(term) => *term,
            None => initial(terms, module, cell),
        }
    }

    /// Returns one of two states, by a bit. The same events wait in both.
    pub fn choose(
        &self,
        (terms, module): (&mut Terms, &Module),
        condition: Term,
        other: &State,
    ) -> State {
        let cells = self.cells.keys().chain(other.cells.keys()).copied();
        let cells: Vec<Cell> = cells.collect();
        let mut chosen = State::default();
        for (own, than) in self.waiting.iter().zip(&other.waiting) {
            let pairs = own.values.iter().zip(&than.values);
            let values = pairs.map(|(own, than)| own.choose(terms, condition, than));
            chosen.waiting.push(Pending {
                event: own.event,
                values: values.collect(),
            });
        }
        if self.left == other.left {
            chosen.left.clone_from(&self.left);
        }
        for cell in cells {
            let one = self.get(terms, module, cell);
            let other = other.get(terms, module, cell);
            let term = terms.choose(condition, one, other);
            chosen.cells.insert(cell, term);
        }
        chosen
    }
}

/// Returns a part of the state as it is at the start.
pub fn initial(terms: &mut Terms, module: &Module, cell: Cell) -> Term {
    match cell {
        Cell::Counter(_) | Cell::Steps => terms.number(64, 0),
        Cell::Live(kind) => {
            let name = format!("live {}", module.kinds[kind.at()].name);
            terms.input(&name, Sort::Array(32, Some(1)))
        }
        Cell::Resource(resource) => {
            let name = named(module, resource);
            terms.input(&name, sort(module, resource))
        }
    }
}

/// Returns the name of a resource, as a reader knows it.
pub fn named(module: &Module, resource: Resource) -> String {
    let field = |place: Place| {
        let kind = &module.kinds[place.kind.at()];
        format!("{}.{}", kind.name, kind.fields[place.field.at()].name)
    };
    match resource {
        Resource::Region(Region::Field(kind, id)) => field(Place { kind, field: id }),
        Resource::Region(Region::Setting(id)) => {
            format!("setting {}", module.settings[id.at()].name)
        }
        Resource::Region(Region::Now) => "now".to_string(),
        Resource::Region(Region::Valid(id)) => format!("valid {}", module.caches[id.at()].name),
        Resource::Region(Region::Cached(id, at)) => {
            format!("cached {}[{at}]", module.caches[id.at()].name)
        }
        Resource::Container(place) => format!("container {}", field(place)),
        Resource::Instances(kind) => format!("instances {}", module.kinds[kind.at()].name),
        Resource::Bytes => "bytes".to_string(),
        Resource::Buffers => "buffers".to_string(),
        Resource::Timers => "timers".to_string(),
        Resource::Agenda => "agenda".to_string(),
        Resource::Outputs => "outputs".to_string(),
        Resource::Counters => "counters".to_string(),
        Resource::Foreign => "memory of C".to_string(),
        Resource::Yielded => "yielded words".to_string(),
        Resource::Control => "control".to_string(),
    }
}

/// Returns the sort of a resource.
pub fn sort(module: &Module, resource: Resource) -> Sort {
    match resource {
        Resource::Region(region) => {
            let typed = region_type(module, region);
            let Ok((place, of)) = typed else {
                return Sort::Token;
            };
            let bits = match sort_of(of) {
                Sort::Bits(bits) => Some(bits),
                _token => None,
            };
            match (place.len() as u32, bits) {
                (0, Some(bits)) => Sort::Bits(bits),
                (0, None) => Sort::Token,
                (count, bits) => Sort::Array(32 * count, bits),
            }
        }
        Resource::Bytes => Sort::Memory,
        Resource::Container(_)
        | Resource::Instances(_)
        | Resource::Buffers
        | Resource::Timers
        | Resource::Agenda
        | Resource::Outputs
        | Resource::Counters
        | Resource::Foreign
        | Resource::Yielded
        | Resource::Control => Sort::Token,
    }
}

/// Returns the sort of a plain value.
pub fn sort_of(of: Type) -> Sort {
    match of {
        Type::Int(bits) | Type::Float(bits) => Sort::Bits(bits.into()),
        Type::Bytes(0) => Sort::Token,
        Type::Bytes(length) => Sort::Bits(8 * length),
        Type::Instance(_) => Sort::Bits(32),
        Type::Message | Type::View | Type::Opaque(_) => Sort::Token,
    }
}

/// Returns the attributes of a message that nobody gave any.
pub fn defaults(terms: &mut Terms, module: &Module) -> Vec<Term> {
    let all = module.attributes.iter().map(|one| match &one.default {
        Op::Bytes(bytes) => terms.bytes(bytes),
        Op::Number(bits, number) => terms.number((*bits).into(), *number),
        other => panic!("the attribute {} begins as {other:?}", one.name),
    });
    all.collect()
}

/// Returns a value that may be anything, by its name and the number of its buffer.
pub fn unknown(
    terms: &mut Terms,
    module: &Module,
    (name, of): (&str, Type),
    buffer: u64,
) -> Symbolic {
    let part = |terms: &mut Terms, part: &str| {
        let name = format!("{part} of {name}");
        terms.input(&name, Sort::Bits(32))
    };
    match of {
        Type::Message => {
            let attributes = module.attributes.iter().map(|one| {
                let name = format!("{} of {name}", one.name);
                terms.input(&name, sort_of(one.of))
            });
            let attributes = attributes.collect();
            Symbolic::Message(Message {
                buffer: terms.number(32, buffer),
                start: part(terms, "start"),
                length: part(terms, "length"),
                attributes,
            })
        }
        Type::View => {
            let parts = ["buffer", "start", "length"];
            let [buffer, base, length] = parts.map(|one| part(terms, one));
            Symbolic::View(buffer, base, length)
        }
        Type::Int(_) | Type::Bytes(_) | Type::Instance(_) | Type::Float(_) | Type::Opaque(_) => {
            Symbolic::Plain(terms.input(name, sort_of(of)))
        }
    }
}
