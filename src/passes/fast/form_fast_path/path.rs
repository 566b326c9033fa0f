//! A path: what the guard knows so far, and what it owes.

use super::message::{Message, View};
use crate::ir::effects::Resource;
use crate::ir::op::{Attempt, Place, Question};
use crate::ir::{BlockId, FunctionId, Op, Probability, Region, Value};
use crate::passes::cost::way::Decision;
use crate::source::Span;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// A value of the traced code: of the reaction at which a path begins (frame 0), of those that it
/// hands an event on to, or of the path itself ([`Path::own`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// The frame.
    pub frame: u32,
    /// The value in the function of the frame.
    pub value: Value,
}

/// Knowledge of a value.
#[derive(Clone, Debug)]
pub enum Known {
    /// A value of the guard.
    Now(Value),
    /// Nothing: it exists behind the commit.
    Later,
    /// A message, as it would be.
    Message(Message),
    /// A view.
    View(View),
}

/// A deferred effect.
#[derive(Clone, Debug)]
pub enum Owed {
    /// An operation.
    Operation(Operation),
    /// An attempt that does not fail.
    Infallible(Infallible),
    /// Two sides of a branch that meet again.
    Diamond(Diamond),
}

/// Two sides of a branch that meet again.
#[derive(Clone, Debug)]
pub struct Diamond {
    /// The bit that says which side is taken.
    pub bit: Value,
    /// How likely it is one.
    pub likely: Probability,
    /// The side where the bit is one, and the other.
    pub sides: [Side; 2],
    /// The parameters of the join.
    pub results: Vec<Key>,
}

/// One side of a diamond.
#[derive(Clone, Debug)]
pub struct Side {
    /// Its deferred effects, in order.
    pub owed: Vec<Owed>,
    /// Its arguments to the join.
    pub given: Vec<Key>,
}

impl Owed {
    /// Returns the effect, with all effects of its sides.
    pub fn each(&self) -> Vec<&Owed> {
        let sides = match self {
            Owed::Operation(_) | Owed::Infallible(_) => &[][..],
            Owed::Diamond(diamond) => &diamond.sides[..],
        };
        let below = sides.iter().flat_map(|side| &side.owed);
        std::iter::once(self)
            .chain(below.flat_map(Owed::each))
            .collect()
    }
}

/// An attempt behind the commit: the guard has found that it does not fail.
#[derive(Clone, Debug)]
pub struct Infallible {
    /// The attempt.
    pub attempt: Attempt,
    /// Its operands.
    pub operands: Vec<Key>,
    /// Its results.
    pub results: Vec<Key>,
    /// Its place in the sources.
    pub span: Option<Span>,
}

/// An operation that stands behind the commit.
#[derive(Clone, Debug)]
pub struct Operation {
    /// The operation.
    pub op: Op,
    /// Its operands.
    pub operands: Vec<Key>,
    /// Its results.
    pub results: Vec<Key>,
    /// Its place in the sources.
    pub span: Option<Span>,
}

/// A store that is owed, for loads behind it.
#[derive(Clone, Debug)]
pub struct StoreOwed {
    /// The region.
    pub region: Region,
    /// The instance and the indices.
    pub place: Vec<Value>,
    /// The value.
    pub value: Key,
}

/// An answer of a stream behind what is owed.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The question.
    pub question: Question,
    /// The stream.
    pub place: Place,
    /// The instance and the indices.
    pub of: Vec<Value>,
    /// The answer.
    pub value: Value,
}

/// The symbolic state on a path to a block: known values and deferred effects.
#[derive(Clone, Debug)]
pub struct Path {
    /// The function that is traced.
    pub function: FunctionId,
    /// Its frame.
    pub frame: u32,
    known: HashMap<Key, Known>,
    /// Values that are the same as others.
    same: HashMap<Key, Key>,
    /// Operations of the guard by their operands: nothing that they read changes in a guard.
    pub found: HashMap<(Op, Vec<Value>), Value>,
    /// Bits of the guard that are decided.
    pub bits: BTreeMap<Value, bool>,
    /// Values of the guard that are known to equal others.
    pub equals: HashMap<Value, Value>,
    /// Stores that are owed, in order.
    pub stored: Vec<StoreOwed>,
    /// Answers of streams behind what is owed.
    pub answers: Vec<Answer>,
    /// All that what is owed writes.
    pub written: BTreeSet<Resource>,
    /// Messages, by their handle in the guard, whose bytes are written by what is owed.
    pub rewritten: BTreeSet<Option<Value>>,
    /// Deferred effects, in order.
    pub owed: Vec<Owed>,
    /// On the side of a diamond, the bit that says whether control comes there.
    pub under: Option<Value>,
    /// On the side of a diamond, the bits that were decided before it.
    pub before: Option<Rc<BTreeMap<Value, bool>>>,
    /// The reaction to an event was traced where the path makes that event.
    pub hands_on: bool,
    /// The share of all events that come here, in units of a millionth.
    pub weight: u64,
    /// The decisions that were made so far, by their places in the sources.
    pub decisions: Vec<Decision>,
    /// The calls from which control returns, the innermost last.
    pub calls: Vec<Call>,
    last: u32,
    last_frame: u32,
}

/// A place behind a call.
#[derive(Clone, Debug)]
pub struct Call {
    /// The function that calls.
    pub function: FunctionId,
    /// Its frame.
    pub frame: u32,
    /// The block.
    pub block: BlockId,
    /// The index of the instruction behind the call.
    pub next: usize,
    /// The results of the call.
    pub results: Vec<Key>,
}

/// The frame of values that no function has.
const OWN: u32 = u32::MAX;

impl Path {
    /// The path at the begin of a reaction.
    pub fn new(function: FunctionId) -> Path {
        Path {
            function,
            frame: 0,
            known: HashMap::new(),
            same: HashMap::new(),
            found: HashMap::new(),
            bits: BTreeMap::new(),
            equals: HashMap::new(),
            stored: Vec::new(),
            answers: Vec::new(),
            written: BTreeSet::new(),
            rewritten: BTreeSet::new(),
            owed: Vec::new(),
            under: None,
            before: None,
            hands_on: false,
            weight: 1_000_000,
            decisions: Vec::new(),
            calls: Vec::new(),
            last: 0,
            last_frame: 0,
        }
    }

    /// The parameters of a block are other names of what it is given.
    pub fn receive(&mut self, parameters: &[Value], given: &[Key]) {
        for (value, given) in parameters.iter().zip(given) {
            let key = Key {
                frame: self.frame,
                value: *value,
            };
            self.alias(key, *given);
        }
    }

    /// A value of the function that is traced.
    pub fn key(&self, value: Value) -> Key {
        let key = Key {
            frame: self.frame,
            value,
        };
        self.first(key)
    }

    /// The value that a value is the same as.
    pub fn first(&self, key: Key) -> Key {
        self.same.get(&key).copied().unwrap_or(key)
    }

    /// The value of the guard that a value is known to equal.
    pub fn equal(&self, value: Value) -> Value {
        self.equals.get(&value).copied().unwrap_or(value)
    }

    /// A value of the path itself.
    pub fn own(&mut self, known: Known) -> Key {
        let key = Key {
            frame: OWN,
            value: Value(self.last),
        };
        self.last += 1;
        self.known.insert(key, known);
        key
    }

    /// Knowledge of a value.
    pub fn known(&self, key: Key) -> &Known {
        self.known.get(&self.first(key)).unwrap_or(&Known::Later)
    }

    /// A value of the guard; none if it exists behind the commit alone, or is a message or view.
    pub fn now(&self, key: Key) -> Option<Value> {
        match self.known(key) {
            Known::Now(value) => Some(self.equal(*value)),
            Known::Later | Known::Message(_) | Known::View(_) => None,
        }
    }

    /// Returns true if something is known of a value.
    pub fn has(&self, key: Key) -> bool {
        self.known.contains_key(&key)
    }

    /// Numbers new values and frames behind those of another path, and takes over its own values
    /// and the operations that it has evaluated.
    pub fn numbered_behind(&mut self, other: &Path) {
        self.last = self.last.max(other.last);
        self.last_frame = self.last_frame.max(other.last_frame);
        for (key, known) in &other.known {
            if key.frame == OWN && !self.known.contains_key(key) {
                self.known.insert(*key, known.clone());
            }
        }
        for (key, value) in &other.found {
            if !self.found.contains_key(key) {
                self.found.insert(key.clone(), *value);
            }
        }
    }

    /// Something that is owed writes this. Views say for themselves whether bytes are written.
    pub fn owes(&self, resource: Resource) -> bool {
        resource != Resource::Bytes && self.written.contains(&resource)
    }

    /// From here on this is known of a value.
    pub fn learn(&mut self, key: Key, known: Known) {
        self.known.insert(key, known);
    }

    /// A value is the same as another.
    pub fn alias(&mut self, key: Key, other: Key) {
        let other = self.first(other);
        self.same.insert(key, other);
    }

    /// Control returns from a call with these results: the place behind it.
    pub fn leave(&mut self, values: &[Key]) -> Option<(BlockId, usize)> {
        let call = self.calls.pop()?;
        (self.function, self.frame) = (call.function, call.frame);
        for (result, value) in call.results.iter().zip(values) {
            self.alias(*result, *value);
        }
        Some((call.block, call.next))
    }

    /// An edge behind a block is taken.
    pub fn decided(&mut self, place: Option<Span>, edge: usize) {
        self.decisions.extend(place.map(|place| (place, edge)));
    }

    /// Goes on in a function with these arguments.
    pub fn enter(&mut self, function: FunctionId, parameters: &[Value], arguments: &[Key]) {
        self.function = function;
        self.last_frame += 1;
        self.frame = self.last_frame;
        self.receive(parameters, arguments);
    }
}
