//! Variables: in, a field, element, part or local; out, operations that read and write it.

use crate::ir::op::{Number, Op, Place};
use crate::ir::{FieldId as Part, Region, Value};
use crate::lower::code::{Code, Name};
use crate::lower::shapes::parts;
use crate::types::expression::Variable;
use crate::types::program::{KindId, LocalId};
use crate::types::value::Type;

/// The storage of a variable.
enum Kept {
    /// In memory: the kind, the first of its parts, and where.
    Field(KindId, Part, Vec<Value>),
    /// In a local, from this part on.
    Local(LocalId, usize),
    /// In one byte of bytes that are kept somewhere.
    Byte(Box<Kept>, u32, Value),
}

/// The byte of an element of bytes.
const BYTE: Number = Number {
    bytes: 1,
    big: true,
};

impl Code<'_, '_> {
    /// The parts of the value of a variable.
    pub fn read(&mut self, variable: &Variable) -> Vec<Value> {
        let (kept, of) = self.kept(variable);
        let count = parts(self.lower.program, &of).len();
        self.read_kept(&kept, count)
    }

    /// Writes the parts of a value.
    pub fn write(&mut self, variable: &Variable, value: &[Value]) {
        let (kept, _) = self.kept(variable);
        self.write_kept(&kept, value);
    }

    /// The place of a field whose content only C knows, and its operands.
    pub fn foreign_place(&mut self, variable: &Variable) -> (Place, Vec<Value>) {
        match self.kept(variable).0 {
            Kept::Field(kind, field, operands) => {
                let kind = self.lower.kind(kind);
                (Place { kind, field }, operands)
            }
            Kept::Local(..) | Kept::Byte(..) => panic!("{variable:?} is a field"),
        }
    }

    /// Bytes that are changed in place: their value goes in, the new value comes back.
    pub fn change_bytes(
        &mut self,
        variable: &Variable,
        change: impl FnOnce(&mut Self, Value) -> Value,
    ) {
        let (kept, of) = self.kept(variable);
        let count = parts(self.lower.program, &of).len();
        let mut value = self.read_kept(&kept, count);
        if let Some(last) = value.last_mut() {
            *last = change(self, *last);
        }
        self.write_kept(&kept, &value);
    }

    fn read_kept(&mut self, kept: &Kept, count: usize) -> Vec<Value> {
        match kept {
            Kept::Field(kind, first, operands) => self.load_parts(*kind, *first, count, operands),
            Kept::Local(local, first) => self.local(*local)[*first..first + count].to_vec(),
            Kept::Byte(bytes, at, index) => {
                let value = self.read_kept(bytes, *at as usize + 1)[*at as usize];
                vec![self.value_of(Op::Get(BYTE), &[value, *index])]
            }
        }
    }

    fn write_kept(&mut self, kept: &Kept, value: &[Value]) {
        match kept {
            Kept::Field(kind, first, operands) => {
                for (at, part) in value.iter().enumerate() {
                    let place = Place {
                        kind: self.lower.kind(*kind),
                        field: Part(first.0 + at as u32),
                    };
                    self.store(place, operands, *part);
                }
            }
            Kept::Local(local, first) => {
                let mut all = self.local(*local);
                all[*first..first + value.len()].copy_from_slice(value);
                self.bind(Name::Local(*local), all);
            }
            Kept::Byte(bytes, at, index) => {
                let mut whole = self.read_kept(bytes, *at as usize + 1);
                let place = *at as usize;
                whole[place] = self.value_of(Op::Put(BYTE), &[whole[place], *index, value[0]]);
                self.write_kept(bytes, &whole);
            }
        }
    }

    /// The parts of a local; zeros before anything is bound to it.
    fn local(&mut self, local: LocalId) -> Vec<Value> {
        if let Some(known) = self.known(Name::Local(local)) {
            return known.to_vec();
        }
        let of = parts(self.lower.program, &self.locals[local.at()].kind);
        self.zeros(&of)
    }

    fn kept(&mut self, variable: &Variable) -> (Kept, Type) {
        let program = self.lower.program;
        match variable {
            Variable::Field(instance, kind, field) => {
                let owner = self.instance(*instance, *kind);
                let first = self.lower.field(*kind, *field);
                let of = program.kinds[kind.at()].fields[field.at()].kind.clone();
                (Kept::Field(*kind, first, vec![owner]), of)
            }
            Variable::Local(local) => {
                let of = self.locals[local.at()].kind.clone();
                (Kept::Local(*local, 0), of)
            }
            Variable::Element(array, index) => {
                let (kept, of) = self.kept(array);
                let index = self.word_value(index);
                match (of, kept) {
                    (Type::Array(element, _), Kept::Field(kind, first, mut operands)) => {
                        operands.push(index);
                        (Kept::Field(kind, first, operands), *element)
                    }
                    (of, kept) => {
                        let at = parts(program, &of).len() as u32 - 1;
                        (Kept::Byte(Box::new(kept), at, index), Type::Unsigned(8))
                    }
                }
            }
            Variable::Part(record, id, field) => {
                let (kept, of) = self.kept(record);
                let before = program.records[id.at()].fields[..field.at()].iter();
                let before = before.map(|one| parts(program, &one.kind).len());
                let optional = usize::from(matches!(of, Type::Optional(_)));
                let skipped = before.sum::<usize>() + optional;
                let kept = match kept {
                    Kept::Field(kind, first, operands) => {
                        Kept::Field(kind, Part(first.0 + skipped as u32), operands)
                    }
                    Kept::Local(local, first) => Kept::Local(local, first + skipped),
                    Kept::Byte(..) => unreachable!("a byte has no parts"),
                };
                let of = program.records[id.at()].fields[field.at()].kind.clone();
                (kept, of)
            }
        }
    }

    /// Loads a region of the compiler's own.
    pub fn load_field(&mut self, place: Place, operands: &[Value]) -> Value {
        self.load(Region::Field(place.kind, place.field), operands)
    }
}
