//! State that outlives an instant: in, signals and variables; out, fields of kinds with one
//! instance each.
//!
//! A field is declared when it is first mentioned, so no kind has a field without use.

use super::outside::type_of;
use crate::ir::{self, Field, FieldId, Kind, KindId, Lives, Region, Stored, Type};
use crate::types::esterel::{Module, Type as Source};
use std::collections::{BTreeMap, BTreeSet};

/// A kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Record {
    /// The state, and what went wrong.
    Control,
    /// Inputs of this instant.
    Given,
    /// Outputs of this instant.
    Emitted,
    /// Sensors that were read in this instant.
    Sensed,
    /// Values of signals.
    Value,
    /// Bits: a signal has a value.
    Known,
    /// Values of the instant before.
    Before,
    /// Bits: a signal had a value in the instant before.
    KnownBefore,
    /// Variables, and the counts of delays.
    Variable,
}

impl Record {
    fn name(self) -> &'static str {
        match self {
            Record::Control => "control",
            Record::Given => "given",
            Record::Emitted => "emitted",
            Record::Sensed => "sensed",
            Record::Value => "value",
            Record::Known => "known",
            Record::Before => "before",
            Record::KnownBefore => "known_before",
            Record::Variable => "variable",
        }
    }
}

/// Fields of [`Record::Control`].
const CONTROL: [(&str, Type); 3] = [
    ("state", Type::WORD),
    ("begun", Type::BIT),
    ("reason", Type::WORD),
];

/// The fields that are declared.
#[derive(Debug)]
pub struct Memory {
    /// The types of what signals carry.
    carried: Vec<Option<Type>>,
    signals: Vec<String>,
    variables: Vec<(String, Type)>,
    kinds: BTreeMap<Record, KindId>,
    fields: BTreeMap<(Record, u32), Region>,
}

impl Memory {
    /// No field is declared yet.
    pub fn new(source: &Module) -> Memory {
        let signals = source.processes.signals.iter();
        let variables = source.variables.iter();
        let names = each_once(variables.clone().map(|one| one.name.as_str()));
        let kinds = variables.map(|one| type_of(one.kind));
        let channels = source.channels.iter();
        let carried = channels.map(|one| one.as_ref().map(|channel| type_of(channel.kind)));
        Memory {
            carried: carried.collect(),
            signals: each_once(signals.map(|one| one.name.as_str())),
            variables: names.into_iter().zip(kinds).collect(),
            kinds: BTreeMap::new(),
            fields: BTreeMap::new(),
        }
    }

    /// A field of a signal or variable, if it is declared.
    pub fn known(&self, record: Record, at: u32) -> Option<Region> {
        self.fields.get(&(record, at)).copied()
    }

    /// A field of a signal or variable.
    pub fn field(&mut self, module: &mut ir::Module, record: Record, at: u32) -> Region {
        if let Some(known) = self.known(record, at) {
            return known;
        }
        let place = at as usize;
        let (name, of) = match record {
            Record::Control => {
                let (name, of) = CONTROL[place];
                (name.to_string(), of)
            }
            Record::Given
            | Record::Emitted
            | Record::Sensed
            | Record::Known
            | Record::KnownBefore => (self.signals[place].clone(), Type::BIT),
            Record::Value | Record::Before => {
                let of = self.carried[place].expect("what has a value carries one");
                (self.signals[place].clone(), of)
            }
            Record::Variable => self.variables[place].clone(),
        };
        let kind = self.kind(module, record);
        let fields = &mut module.kinds[kind.at()].fields;
        fields.push(Field {
            name,
            stored: Stored::Value(of),
            dimensions: Vec::new(),
        });
        let region = Region::Field(kind, FieldId(fields.len() as u32 - 1));
        self.fields.insert((record, at), region);
        region
    }

    /// The state.
    pub fn state(&mut self, module: &mut ir::Module) -> Region {
        self.field(module, Record::Control, 0)
    }

    /// The bit that is set as soon as signals have their first values.
    pub fn begun(&mut self, module: &mut ir::Module) -> Region {
        self.field(module, Record::Control, 1)
    }

    /// The number of what went wrong; 0 if nothing did.
    pub fn reason(&mut self, module: &mut ir::Module) -> Region {
        self.field(module, Record::Control, 2)
    }

    fn kind(&mut self, module: &mut ir::Module, record: Record) -> KindId {
        if let Some(known) = self.kinds.get(&record) {
            return *known;
        }
        module.kinds.push(Kind {
            name: format!("{}_{}", module.name, record.name()),
            owner: String::new(),
            capacity: 1,
            lives: Lives::Always,
            keys: Vec::new(),
            fields: Vec::new(),
            timers: Vec::new(),
            stands_on: None,
            ended: None,
        });
        let id = KindId(module.kinds.len() as u32 - 1);
        self.kinds.insert(record, id);
        id
    }
}

/// The type of a variable, and the value that it has at the beginning; none of what only C knows.
pub fn first_value(of: Source) -> Option<ir::Op> {
    match of {
        Source::Boolean | Source::Integer | Source::Float | Source::Double => {
            ir::Op::zero(type_of(of))
        }
        Source::Text => match type_of(of) {
            Type::Opaque(text) => Some(ir::Op::Text(text, String::new())),
            _number => None,
        },
        Source::User(_) => None,
    }
}

/// Names as they are, with a number behind those that stand there twice.
fn each_once<'n>(all: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut taken = BTreeSet::new();
    // The numbers below are taken.
    let mut free: BTreeMap<&str, u32> = BTreeMap::new();
    let names = all.map(|name| {
        let mut own = name.to_string();
        while !taken.insert(own.clone()) {
            let number = free.entry(name).or_insert(2);
            own = format!("{name}.{number}");
            *number += 1;
        }
        own
    });
    names.collect()
}
