//! Variables of Pascal as fields of kinds.
//!
//! In: the types of a specification. Out: for each variable its *leaves*, one field for each part
//! that is no array or record. An array gives all its leaves a dimension, so an array of records is
//! a record of arrays.
//!
//! ```text
//! pair: record n: integer; ok: boolean end          pair.n: i32, pair.ok: i1
//! cell: array [1..4] of array [colour] of 0..9      cell: i8 [4][3]
//! known: set of 0..63                               known.0: i32, known.1: i32
//! ```

use crate::ir::{self, Field, FieldId, Kind, KindId, Lives, Stored};
use crate::types::estelle::program::{MAXINT, Program, Type, TypeId};
use std::collections::BTreeSet;

/// The least and the greatest `integer`.
pub const INTEGERS: (i64, i64) = (-MAXINT, MAXINT);

/// The bits of one word of a set.
pub const SET_WORD: i64 = 32;

/// A part of a variable that is no array or record.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// The names of the fields that lead to it, joined by dots; empty for a variable without parts.
    pub name: String,
    /// The lengths of the arrays in which it stands, outer first.
    pub dimensions: Vec<u32>,
    /// The kind of its values.
    pub scalar: Scalar,
}

/// A value of one field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scalar {
    /// A boolean.
    Bit,
    /// An ordinal number between two bounds.
    Ordinal(i64, i64),
    /// A real number.
    Real,
    /// A word of a set.
    Word,
}

impl Scalar {
    /// The type of its field.
    pub fn stored(self) -> ir::Type {
        match self {
            Scalar::Bit => ir::Type::BIT,
            Scalar::Ordinal(low, high) => ir::Type::Int(bits(low, high)),
            Scalar::Real => ir::Type::Float(64),
            Scalar::Word => ir::Type::WORD,
        }
    }
}

/// The bits of a field for numbers between two bounds: 8, 16 or 32.
fn bits(low: i64, high: i64) -> u8 {
    let fits = |bits: u32| match low < 0 {
        true => -(1 << (bits - 1)) <= low && high < 1 << (bits - 1),
        false => high < 1 << bits,
    };
    [8, 16].into_iter().find(|bits| fits(*bits)).unwrap_or(32) as u8
}

/// Returns the ordinal numbers of the first and the last value of an ordinal type.
pub fn bounds(program: &Program, of: TypeId) -> (i64, i64) {
    let bounds = program.bounds(of);
    bounds.expect("the checker demands an ordinal type")
}

/// The number of values of an ordinal type.
pub fn count(program: &Program, of: TypeId) -> u32 {
    let (low, high) = bounds(program, of);
    u32::try_from(high - low + 1).expect("the checker bounds index types")
}

/// The number of words of a set of these values.
pub fn words(program: &Program, of: TypeId) -> usize {
    (bounds(program, of).1 / SET_WORD + 1) as usize
}

/// Returns true for a boolean or a subrange of it.
pub fn is_boolean(program: &Program, of: TypeId) -> bool {
    match &program.types[of.index()] {
        Type::Boolean => true,
        Type::Subrange { of, .. } => is_boolean(program, *of),
        _other => false,
    }
}

/// Returns the leaves of a variable of a type.
pub fn leaves(program: &Program, of: TypeId) -> Vec<Leaf> {
    let scalar = |scalar| {
        vec![Leaf {
            name: String::new(),
            dimensions: Vec::new(),
            scalar,
        }]
    };
    match &program.types[of.index()] {
        _boolean if is_boolean(program, of) => scalar(Scalar::Bit),
        Type::Integer | Type::Char | Type::Boolean | Type::Enumeration { .. } => {
            let (low, high) = bounds(program, of);
            scalar(Scalar::Ordinal(low, high))
        }
        Type::Subrange { low, high, .. } => scalar(Scalar::Ordinal(*low, *high)),
        Type::Real => scalar(Scalar::Real),
        Type::External(_) => Vec::new(),
        Type::Set(element) => {
            let all = 0..words(program, *element);
            let named = all.map(|word| Leaf {
                name: word.to_string(),
                dimensions: Vec::new(),
                scalar: Scalar::Word,
            });
            named.collect()
        }
        Type::Array { index, element, .. } => {
            let mut all = leaves(program, *element);
            let length = count(program, *index);
            all.iter_mut()
                .for_each(|leaf| leaf.dimensions.insert(0, length));
            all
        }
        Type::Record { fields } => {
            let all = fields.iter().flat_map(|field| {
                let own = leaves(program, field.kind).into_iter();
                own.map(|leaf| Leaf {
                    name: joined(&field.name, &leaf.name),
                    ..leaf
                })
            });
            all.collect()
        }
    }
}

/// Joins two names by a dot; an empty one adds nothing.
fn joined(first: &str, second: &str) -> String {
    match (first, second) {
        (first, "") => first.to_lowercase(),
        ("", second) => second.to_string(),
        (first, second) => format!("{}.{second}", first.to_lowercase()),
    }
}

/// The fields of a variable.
#[derive(Clone, Debug)]
pub struct Storage {
    /// The kind in which they stand.
    pub kind: KindId,
    /// By leaf: its field.
    pub fields: Vec<FieldId>,
    /// The leaves.
    pub leaves: Vec<Leaf>,
    /// The type of the variable.
    pub of: TypeId,
}

/// A kind of instances that grows by one field after the other.
#[derive(Debug)]
pub struct Store {
    /// The kind.
    pub kind: KindId,
    names: BTreeSet<String>,
}

impl Store {
    /// Adds a kind of so many instances to a module. Bodies in different scopes may have one name.
    pub fn new(module: &mut ir::Module, name: &str, capacity: u32) -> Store {
        let is_taken = |name: &str| module.kinds.iter().any(|kind| kind.name == name);
        let name = ir::free_name(&name.to_lowercase(), is_taken);
        module.kinds.push(Kind {
            name,
            owner: String::new(),
            capacity,
            lives: Lives::Always,
            keys: Vec::new(),
            fields: Vec::new(),
            timers: Vec::new(),
            stands_on: None,
            ended: None,
        });
        Store {
            kind: KindId(module.kinds.len() as u32 - 1),
            names: BTreeSet::new(),
        }
    }

    /// Adds a field.
    pub fn field(
        &mut self,
        module: &mut ir::Module,
        name: &str,
        (of, dimensions): (ir::Type, Vec<u32>),
    ) -> FieldId {
        let own = ir::free_name(&name.to_lowercase(), |name| self.names.contains(name));
        self.names.insert(own.clone());
        let fields = &mut module.kinds[self.kind.at()].fields;
        fields.push(Field {
            name: own,
            stored: Stored::Value(of),
            dimensions,
        });
        FieldId(fields.len() as u32 - 1)
    }

    /// Adds the fields of a variable that lasts.
    pub fn variable(
        &mut self,
        module: &mut ir::Module,
        program: &Program,
        variable: (&str, TypeId),
    ) -> Storage {
        self.stored(module, program, variable, |leaf| leaf.scalar.stored())
    }

    /// Adds the fields of a local variable: a number on its own has 32 bits, as in expressions.
    pub fn local(
        &mut self,
        module: &mut ir::Module,
        program: &Program,
        variable: (&str, TypeId),
    ) -> Storage {
        self.stored(module, program, variable, |leaf| match leaf.scalar {
            Scalar::Ordinal(..) if leaf.dimensions.is_empty() => ir::Type::WORD,
            other => other.stored(),
        })
    }

    fn stored(
        &mut self,
        module: &mut ir::Module,
        program: &Program,
        (name, of): (&str, TypeId),
        stored: impl Fn(&Leaf) -> ir::Type,
    ) -> Storage {
        let leaves = leaves(program, of);
        let fields = leaves.iter().map(|leaf| {
            let name = joined(name, &leaf.name);
            let stored = stored(leaf);
            self.field(module, &name, (stored, leaf.dimensions.clone()))
        });
        let fields = fields.collect();
        Storage {
            kind: self.kind,
            fields,
            leaves,
            of,
        }
    }
}
