//! Variables in memory: in, a place of the source; out, its fields, with the instance and the
//! indices by which they are loaded and stored.

use super::super::Fault;
use super::super::memory::{Leaf, Scalar, Storage, bounds, leaves};
use super::evaluate::{Computed, Members, known};
use super::{Bound, Code, Holder};
use crate::ir::op::{Arithmetic, Compare};
use crate::ir::{FieldId, KindId, Op, Region, Stored, Type as Plain, Value};
use crate::types::estelle::program::{BodyId, HeaderId, Place, Root, Step, Type, TypeId};

/// More elements than these are copied by a loop.
const UNROLLED: u64 = 8;

/// The relation of an instance to the one whose code runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Whose {
    /// It is that instance.
    Own,
    /// It is the only one of its kind.
    Only,
    /// It is another, or holds what others see.
    Other,
}

/// A variable or a part of one.
#[derive(Clone, Debug)]
pub struct Located {
    /// The relation of the instance to the one whose code runs.
    whose: Whose,
    /// The instance.
    instance: Value,
    kind: KindId,
    /// By leaf of the part: its field.
    fields: Vec<FieldId>,
    /// The leaves of the variable that belong to the part.
    leaves: Vec<Leaf>,
    /// Indices for the first dimensions of all leaves, from 0.
    indices: Vec<Value>,
    /// The type of the part.
    pub of: TypeId,
}

/// An element of a leaf of one or several variables of the same form.
struct Element<'e> {
    /// The variables.
    places: &'e [Located],
    /// The indices that the places do not give.
    rest: &'e [Value],
    /// The number of the element within the place, from 0.
    flat: Value,
    /// A value that loops hand on.
    captured: Value,
}

/// Code for each element of a leaf.
type Does<'d> = dyn FnMut(&mut Code<'_, '_>, &Element<'_>) + 'd;

impl Located {
    /// The lengths of the arrays that a leaf has within the part.
    fn rest(&self, leaf: usize) -> &[u32] {
        &self.leaves[leaf].dimensions[self.indices.len()..]
    }
}

impl Code<'_, '_> {
    /// Finds a place: evaluates its indices, and checks them and the tags of variants.
    pub fn locate(&mut self, place: &Place) -> Located {
        let mut at = self.root(&place.root);
        for step in &place.steps {
            at = match step {
                Step::Field(field) => self.field(at, *field),
                Step::Index(index) => {
                    let Type::Array {
                        index: of, element, ..
                    } = *self.type_of(at.of)
                    else {
                        unreachable!("the checker demands an array");
                    };
                    let value = self.value(index);
                    let index = self.index_of(value, of);
                    at.indices.push(index);
                    Located { of: element, ..at }
                }
            };
        }
        at
    }

    /// Converts the value of an index to a number from 0, or ends with a fault.
    pub fn index_of(&mut self, value: Computed, of: TypeId) -> Value {
        let (low, high) = bounds(self.program(), of);
        let (known_low, known_high) = known(&value);
        let number = self.number(value);
        let base = self.word(low);
        let from_zero = match low {
            0 => number,
            _other => self.arithmetic(Arithmetic::Sub, number, base),
        };
        let fits = low <= known_low && known_high <= high;
        if !fits && !self.is_trusted((known_low, known_high)) {
            let last = self.word(high - low);
            let beyond = self.compare(Compare::Ult, last, from_zero);
            self.fails_if(beyond, Fault::Range);
        }
        from_zero
    }

    fn type_of(&self, of: TypeId) -> &Type {
        &self.program().types[of.index()]
    }

    /// A variable as a whole.
    fn root(&mut self, root: &Root) -> Located {
        match root {
            Root::Module(variable) => {
                let (storage, header) = self.lower.variable(self.which, self.body, *variable);
                let (whose, instance) = match header {
                    None => (Whose::Own, self.own()),
                    Some(header) => {
                        let number = self.own_number();
                        (Whose::Other, self.exported(header, number))
                    }
                };
                whole(whose, instance, storage)
            }
            Root::Local(frame, at) => {
                let key = (self.which, *frame, *at);
                match self.environment.get(&key).cloned() {
                    Some(bound) => {
                        let of = self.program().frames[frame.index()][*at].kind;
                        self.bound(&bound, of)
                    }
                    None => {
                        let storage = self.local(*frame, *at);
                        let only = self.only(storage.kind);
                        whole(Whose::Only, only, storage)
                    }
                }
            }
            Root::Exported(module, variable) => {
                let number = self.module(module);
                let storage = self.lower.exported(module.header, *variable);
                let instance = self.exported(module.header, number);
                whole(Whose::Other, instance, storage)
            }
        }
    }

    /// The instance that holds the exported variables of a module.
    fn exported(&mut self, header: HeaderId, number: Value) -> Value {
        let first = self.lower.sizes.first_of_header[header.index()];
        let first = self.word(first.into());
        let index = self.arithmetic(Arithmetic::Sub, number, first);
        let kind = self.lower.exports(header);
        self.op(Op::At(kind), &[index])
    }

    /// The variable for which a reference stands.
    fn bound(&mut self, bound: &Bound, of: TypeId) -> Located {
        let (whose, instance) = match bound.holder {
            Holder::Own => (Whose::Own, self.own()),
            Holder::Only => (Whose::Only, self.only(bound.kind)),
            Holder::Held(field) => {
                let index = self.load_local(field);
                (Whose::Other, self.op(Op::At(bound.kind), &[index]))
            }
        };
        let indices = bound.indices.iter().map(|field| self.load_local(*field));
        let indices: Vec<Value> = indices.collect();
        // The dimensions before those of the type belong to arrays in which the variable stands.
        let mut leaves = leaves(self.program(), of);
        for leaf in &mut leaves {
            let before = vec![0; indices.len()];
            leaf.dimensions.splice(0..0, before);
        }
        Located {
            whose,
            instance,
            kind: bound.kind,
            fields: bound.fields.clone(),
            leaves,
            indices,
            of,
        }
    }

    /// Makes a reference to a place; its indices are kept until the reference is used.
    pub fn reference(&mut self, place: &Place) -> Bound {
        let at = self.locate(place);
        let indices = at.indices.iter().map(|index| {
            let field = self.lower.scratch(self.which, "index");
            self.store_local(field, *index);
            field
        });
        let indices = indices.collect();
        let holder = match at.whose {
            Whose::Own => Holder::Own,
            Whose::Only => Holder::Only,
            Whose::Other => {
                let field = self.lower.scratch(self.which, "module");
                let index = self.op(Op::Index, &[at.instance]);
                self.store_local(field, index);
                Holder::Held(field)
            }
        };
        Bound {
            indices,
            holder,
            kind: at.kind,
            fields: at.fields,
        }
    }

    /// A field of a record.
    fn field(&mut self, at: Located, field: usize) -> Located {
        let Type::Record { fields } = self.type_of(at.of).clone() else {
            unreachable!("the checker demands a record");
        };
        let program = self.program();
        let size = |field: usize| leaves(program, fields[field].kind).len();
        let first: usize = (0..field).map(size).sum();
        let range = first..first + size(field);
        if let Some((tag, values)) = &fields[field].variant {
            let tag = self.field(at.clone(), *tag);
            let tag = self.load(&tag);
            let tag = self.number(tag);
            let mut fits = self.bit(false);
            for value in values {
                let value = self.word(*value);
                let same = self.compare(Compare::Eq, tag, value);
                fits = self.arithmetic(Arithmetic::Or, fits, same);
            }
            let wrong = self.op(Op::Not, &[fits]);
            self.fails_if(wrong, Fault::Variant);
        }
        Located {
            fields: at.fields[range.clone()].to_vec(),
            leaves: at.leaves[range].to_vec(),
            of: fields[field].kind,
            ..at
        }
    }

    /// Loads a value that is no array and no record.
    pub fn load(&mut self, at: &Located) -> Computed {
        let all: Vec<Computed> = (0..at.fields.len())
            .map(|leaf| self.load_leaf(at, leaf, &[]))
            .collect();
        match self.type_of(at.of) {
            Type::Set(element) => {
                let bounds = bounds(self.program(), *element);
                let words = all.into_iter().map(|one| match one {
                    Computed::Ordinal(word, ..) => word,
                    other => unreachable!("{other:?} is no word"),
                });
                let words = words.collect();
                Computed::Set(Members { words, bounds })
            }
            _scalar => all.into_iter().next().expect("a scalar has one leaf"),
        }
    }

    /// Loads one leaf; `rest` are the indices that the place does not give.
    fn load_leaf(&mut self, at: &Located, leaf: usize, rest: &[Value]) -> Computed {
        let region = Region::Field(at.kind, at.fields[leaf]);
        let mut operands = vec![at.instance];
        operands.extend(at.indices.iter().chain(rest));
        let value = self.op(Op::Load(region), &operands);
        match at.leaves[leaf].scalar {
            Scalar::Bit => Computed::Bit(value),
            Scalar::Real => Computed::Real(value),
            Scalar::Word => Computed::Ordinal(value, i64::from(i32::MIN), i64::from(i32::MAX)),
            Scalar::Ordinal(low, high) => {
                let wide = match (self.build.type_of(value), low < 0) {
                    (Plain::WORD, _) => value,
                    (_, true) => self.op(Op::SignExtend(32), &[value]),
                    (_, false) => self.op(Op::ZeroExtend(32), &[value]),
                };
                // A variable that was never set is zero.
                Computed::Ordinal(wide, low.min(0), high.max(0))
            }
        }
    }

    /// Stores a value that is no array and no record; one beyond the range of its type is a fault.
    pub fn store(&mut self, at: &Located, value: Computed) {
        let parts: Vec<Computed> = match value {
            Computed::Set(members) => {
                let Type::Set(element) = *self.type_of(at.of) else {
                    unreachable!("the checker demands a set");
                };
                let words = self.members_of(members, element).words.into_iter();
                words.map(|word| Computed::Ordinal(word, 0, 0)).collect()
            }
            other => vec![other],
        };
        for (leaf, part) in parts.into_iter().enumerate() {
            self.store_leaf(at, (leaf, &[]), part);
        }
    }

    /// Stores one leaf.
    fn store_leaf(&mut self, at: &Located, (leaf, rest): (usize, &[Value]), value: Computed) {
        let stored = match at.leaves[leaf].scalar {
            Scalar::Bit | Scalar::Real => self.plain(value),
            Scalar::Word => self.number(value),
            Scalar::Ordinal(low, high) => {
                let number = self.within(value, (low, high));
                match &self.lower.module.field(at.kind, at.fields[leaf]).stored {
                    Stored::Value(Plain::Int(32)) => number,
                    Stored::Value(Plain::Int(bits)) => self.op(Op::Truncate(*bits), &[number]),
                    _other => unreachable!("this is no ordinal"),
                }
            }
        };
        let region = Region::Field(at.kind, at.fields[leaf]);
        let mut operands = vec![at.instance];
        operands.extend(at.indices.iter().chain(rest));
        operands.push(stored);
        self.all(Op::Store(region), &operands);
    }

    /// Copies one variable to another of the same form. Parts that were never set, as those of
    /// another variant, may be beyond the range of their types.
    pub fn copy(&mut self, to: &Located, from: &Located) {
        for leaf in 0..to.fields.len() {
            self.elements(&[to, from], leaf, &mut |code, one| {
                let [to, from] = [0, 1].map(|at| Part {
                    at: &one.places[at],
                    leaf,
                    rest: one.rest,
                });
                let number = match code.load_part(from) {
                    Computed::Real(number) => number,
                    ordinal => code.number(ordinal),
                };
                code.store_part(to, number);
            });
        }
    }

    /// Stores a text to a packed array of `char`.
    pub fn store_text(&mut self, to: &Located, text: &[u8]) {
        for (at, byte) in text.iter().enumerate() {
            let index = self.word(at as i64);
            let byte = self.word(i64::from(*byte));
            self.store_leaf(to, (0, &[index]), Computed::Ordinal(byte, 0, 255));
        }
    }

    /// Sets all parts of a variable to zero, or to the least value of their types.
    pub fn clear(&mut self, at: &Located) {
        for leaf in 0..at.fields.len() {
            self.elements(&[at], leaf, &mut |code, one| {
                let value = match one.places[0].leaves[leaf].scalar {
                    Scalar::Bit => Computed::Bit(code.bit(false)),
                    Scalar::Real => Computed::Real(code.op(Op::Real(64, 0), &[])),
                    Scalar::Word => Computed::Ordinal(code.word(0), 0, 0),
                    Scalar::Ordinal(low, high) => {
                        let first = 0.clamp(low, high);
                        Computed::Ordinal(code.word(first), first, first)
                    }
                };
                code.store_leaf(&one.places[0], (leaf, one.rest), value);
            });
        }
    }

    /// Loads or stores all parts of a variable one by one, in a fixed order: `does` is given the
    /// number of a part among all, and moves it to or from a slot of an item.
    pub fn parts(
        &mut self,
        at: &Located,
        captured: Value,
        does: &mut dyn FnMut(&mut Code<'_, '_>, Part<'_>, Value, Value),
    ) {
        let mut first = 0;
        for leaf in 0..at.fields.len() {
            let holds = self.slots(at, leaf);
            let before = first;
            self.elements_with(&[at], captured, leaf, &mut |code, one| {
                let base = code.word(before);
                let number = code.arithmetic(Arithmetic::Add, base, one.flat);
                let part = Part {
                    at: &one.places[0],
                    leaf,
                    rest: one.rest,
                };
                does(code, part, number, one.captured);
            });
            first += holds;
        }
    }

    /// The number of elements of a leaf within a place.
    fn slots(&self, at: &Located, leaf: usize) -> i64 {
        at.rest(leaf).iter().map(|one| i64::from(*one)).product()
    }

    /// Runs code for each element of a leaf; all places have the same form.
    fn elements(&mut self, places: &[&Located], leaf: usize, does: &mut Does<'_>) {
        let none = self.word(0);
        self.elements_with(places, none, leaf, does);
    }

    fn elements_with(
        &mut self,
        places: &[&Located],
        captured: Value,
        leaf: usize,
        does: &mut Does<'_>,
    ) {
        let places: Vec<Located> = places.iter().map(|one| (*one).clone()).collect();
        let dimensions = places[0].rest(leaf).to_vec();
        let all: u64 = dimensions.iter().map(|one| u64::from(*one)).product();
        let flat = self.word(0);
        match all <= UNROLLED {
            true => self.unrolled(&places, captured, &dimensions, does),
            false => self.looped((&places, captured), &dimensions, (&[], flat), does),
        }
    }

    fn unrolled(
        &mut self,
        places: &[Located],
        captured: Value,
        dimensions: &[u32],
        does: &mut Does<'_>,
    ) {
        let all: u32 = dimensions.iter().product();
        for flat in 0..all {
            let mut left = flat;
            let mut rest: Vec<u32> = Vec::new();
            for length in dimensions.iter().rev() {
                rest.insert(0, left % length);
                left /= length;
            }
            let rest: Vec<Value> = rest.iter().map(|one| self.word(i64::from(*one))).collect();
            let flat = self.word(i64::from(flat));
            let one = Element {
                places,
                rest: &rest,
                flat,
                captured,
            };
            does(self, &one);
        }
    }

    fn looped(
        &mut self,
        (places, captured): (&[Located], Value),
        dimensions: &[u32],
        (rest, flat): (&[Value], Value),
        does: &mut Does<'_>,
    ) {
        let Some((length, inner_dimensions)) = dimensions.split_first() else {
            let one = Element {
                places,
                rest,
                flat,
                captured,
            };
            does(self, &one);
            return;
        };
        let mut hands_on = vec![captured, flat];
        hands_on.extend(rest);
        for place in places {
            if place.whose == Whose::Other {
                hands_on.push(place.instance);
            }
            hands_on.extend(&place.indices);
        }
        let count = self.word(i64::from(*length));
        let stopped = self.turns((count, *length), 0, &hands_on, |code, turn, own| {
            let mut own = own.iter().copied();
            let mut next = || own.next().expect("all of these are captured");
            let (captured, flat) = (next(), next());
            let mut inner_rest: Vec<Value> = rest.iter().map(|_| next()).collect();
            inner_rest.push(turn);
            let moved: Vec<Located> = places
                .iter()
                .map(|place| Located {
                    instance: match place.whose {
                        Whose::Own => code.own(),
                        Whose::Only => code.only(place.kind),
                        Whose::Other => next(),
                    },
                    indices: place.indices.iter().map(|_| next()).collect(),
                    ..place.clone()
                })
                .collect();
            let length = code.word(i64::from(*length));
            let flat = code.arithmetic(Arithmetic::Mul, flat, length);
            let flat = code.arithmetic(Arithmetic::Add, flat, turn);
            code.looped(
                (&moved, captured),
                inner_dimensions,
                (&inner_rest, flat),
                does,
            );
        });
        self.hand_on(stopped);
    }

    /// A local variable as a place.
    pub fn local_place(&mut self, storage: Storage) -> Located {
        let only = self.only(storage.kind);
        whole(Whose::Only, only, storage)
    }

    /// A variable of an instance of a body of the specification, by its own fields.
    pub fn variable_of(&mut self, body: BodyId, instance: Value, at: usize) -> Located {
        let (storage, _) = self.lower.variable(self.which, body, at);
        whole(Whose::Other, instance, storage)
    }

    /// An exported variable of a module.
    pub fn exported_of(&mut self, header: HeaderId, number: Value, at: usize) -> Located {
        let storage = self.lower.exported(header, at);
        let instance = self.exported(header, number);
        whole(Whose::Other, instance, storage)
    }

    /// The characters of a packed array, as numbers of 32 bits.
    pub fn characters(&mut self, at: &Located) -> Vec<Value> {
        let length = at.rest(0).iter().product::<u32>();
        let all = 0..i64::from(length);
        all.map(|index| {
            let index = self.word(index);
            let value = self.load_leaf(at, 0, &[index]);
            self.number(value)
        })
        .collect()
    }

    /// The number of slots of an item that a variable takes.
    pub fn slots_of(&self, at: &Located) -> i64 {
        let leaves = 0..at.fields.len();
        leaves.map(|leaf| self.slots(at, leaf)).sum()
    }

    /// Loads a part.
    pub fn load_part(&mut self, part: Part<'_>) -> Computed {
        self.load_leaf(part.at, part.leaf, part.rest)
    }

    /// Stores a number of 32 bits, or a real number, to a part.
    pub fn store_part(&mut self, part: Part<'_>, number: Value) {
        let value = match part.at.leaves[part.leaf].scalar {
            Scalar::Bit => Computed::Bit(self.op(Op::Truncate(1), &[number])),
            Scalar::Ordinal(low, high) => Computed::Ordinal(number, low, high),
            Scalar::Word => Computed::Ordinal(number, 0, 0),
            Scalar::Real => Computed::Real(number),
        };
        self.store_leaf(part.at, (part.leaf, part.rest), value);
    }
}

/// One scalar part of a variable.
#[derive(Clone, Copy)]
pub struct Part<'p> {
    at: &'p Located,
    leaf: usize,
    rest: &'p [Value],
}

impl Part<'_> {
    /// Returns true for a real number.
    pub fn is_real(self) -> bool {
        matches!(self.at.leaves[self.leaf].scalar, Scalar::Real)
    }
}

fn whole(whose: Whose, instance: Value, storage: Storage) -> Located {
    Located {
        whose,
        instance,
        kind: storage.kind,
        fields: storage.fields,
        leaves: storage.leaves,
        indices: Vec::new(),
        of: storage.of,
    }
}
