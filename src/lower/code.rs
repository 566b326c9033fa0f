//! The code of one function that is being lowered: where the values of its locals are.
//!
//! In: operations and values. Out: instructions of a [`Builder`]. An [`Environment`] says what each
//! name stands for at this place; where two ways meet, names with different values become
//! parameters of a block.
//!
//! The methods that lower trees, values, headers and the host's side stand in folders of their own:
//!
//! ```text
//! value/   expressions, places, statements, kernels
//! header/  headers that are read, judged, pushed and summed
//! tree/    actions, attempts, outputs
//! host/    instances that begin, entries
//! ```

use super::Lower;
use super::shapes;
use crate::ir::build::Builder;
use crate::ir::op::{Arithmetic, Bits, Compare, Place};
use crate::ir::{Attempt, BlockId, Edge, Op, Probability, Region, Terminator, Type, Value};
use crate::types::expression::Instance;
use crate::types::program::{AttributeId, HeaderFieldId, HeaderId, KindId, Local, LocalId};
use std::collections::BTreeMap;

/// A name that has a value at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Name {
    /// A local: the parts of its value, its message, or the view of a header that was peeked at.
    Local(LocalId),
    /// The view that begins with a header that was stripped.
    Header(HeaderId),
    /// A field of a header that is being pushed, while it is found where each field stands.
    Written(HeaderId, HeaderFieldId),
    /// An attribute of a message that a function looks at.
    Attribute(LocalId, AttributeId),
    /// The length of a message that a function looks at.
    Length(LocalId),
    /// The data of a message that a function looks at.
    Data(LocalId),
    /// The number of events that waited when outputs began to be put on the agenda.
    Begun,
    /// The bytes of a header and of all behind it, in its sums.
    WholeLength,
    /// The index of the session below, in the sums of a header.
    Below,
    /// The offset in its header of an option that is being read or written.
    Option,
    /// The number of events that waited before those of which the leaf behind takes the first.
    Takes,
    /// The first number of the innermost loop.
    First,
}

/// The values of all names at a place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Environment {
    /// By name, by part.
    pub names: BTreeMap<Name, Vec<Value>>,
    /// Instances whose index is a value.
    pub instances: BTreeMap<(Value, u32), Value>,
    /// The header that was stripped last, and how many bytes of it.
    pub stripped: Option<(HeaderId, Value)>,
    /// An instance that is freed when the arguments of what follows at once have been read.
    pub freed: Option<(KindId, Value)>,
}

/// A function that is being lowered.
pub struct Code<'l, 'a> {
    /// The stack.
    pub lower: &'l mut Lower<'a>,
    /// The function.
    pub build: Builder,
    /// The locals that its code speaks of.
    pub locals: &'a [Local],
    /// The values of names.
    pub environment: Environment,
    /// The kind and the index of the instance that it reads as its own.
    pub own: Option<(KindId, Value)>,
    /// The message in the expressions of a header.
    pub message: Option<LocalId>,
    /// Bits of the words that a kernel yields.
    pub yields: u8,
    /// The types of the result of the function of values that this is, or is a loop of.
    pub results: Option<Vec<Type>>,
    /// The turn of a loop that this is.
    pub turn: Option<Turn>,
}

impl<'l, 'a> Code<'l, 'a> {
    /// A function in whose environment nothing has a value.
    pub fn new(lower: &'l mut Lower<'a>, build: Builder, locals: &'a [Local]) -> Code<'l, 'a> {
        Code {
            lower,
            build,
            locals,
            environment: Environment::default(),
            own: None,
            message: None,
            yields: 64,
            results: None,
            turn: None,
        }
    }

    /// Adds an operation; its results.
    pub fn op(&mut self, op: Op, operands: &[Value]) -> Vec<Value> {
        self.build.op(&self.lower.module, op, operands)
    }

    /// Adds an operation with one result.
    pub fn value_of(&mut self, op: Op, operands: &[Value]) -> Value {
        self.build.value(&self.lower.module, op, operands)
    }

    /// Ends the block with something that may fail: the blocks in which it succeeds and fails.
    pub fn attempt_op(
        &mut self,
        attempt: Attempt,
        operands: &[Value],
        likely: Probability,
    ) -> (BlockId, BlockId) {
        let module = &self.lower.module;
        self.build.attempt(module, attempt, operands, likely)
    }

    /// A constant number.
    pub fn number(&mut self, bits: u8, number: u64) -> Value {
        self.value_of(Op::Number(bits, number & crate::ir::types::ones(bits)), &[])
    }

    /// A constant length or index.
    pub fn word(&mut self, number: u32) -> Value {
        self.number(32, u64::from(number))
    }

    /// A constant bit.
    pub fn bit(&mut self, holds: bool) -> Value {
        self.number(1, u64::from(holds))
    }

    /// An operation on two numbers of one width.
    pub fn arithmetic(&mut self, operation: Arithmetic, one: Value, other: Value) -> Value {
        self.value_of(Op::Arithmetic(operation), &[one, other])
    }

    /// A comparison of two values of one type.
    pub fn compare(&mut self, compare: Compare, one: Value, other: Value) -> Value {
        self.value_of(Op::Compare(compare), &[one, other])
    }

    /// Both bits.
    pub fn both(&mut self, one: Value, other: Value) -> Value {
        self.arithmetic(Arithmetic::And, one, other)
    }

    /// Either bit.
    pub fn either(&mut self, one: Value, other: Value) -> Value {
        self.arithmetic(Arithmetic::Or, one, other)
    }

    /// The sum of two numbers of one width.
    pub fn sum_of(&mut self, one: Value, other: Value) -> Value {
        self.arithmetic(Arithmetic::Add, one, other)
    }

    /// The difference of two numbers of one width.
    pub fn difference(&mut self, one: Value, other: Value) -> Value {
        self.arithmetic(Arithmetic::Sub, one, other)
    }

    /// A number in so many bits: cut, or wider with zeros.
    pub fn resized(&mut self, value: Value, bits: u8) -> Value {
        let own = self.build.type_of(value).bits();
        match own.expect("a number is made wider or cut").cmp(&bits) {
            std::cmp::Ordering::Less => self.value_of(Op::ZeroExtend(bits), &[value]),
            std::cmp::Ordering::Equal => value,
            std::cmp::Ordering::Greater => self.value_of(Op::Truncate(bits), &[value]),
        }
    }

    /// The constants of these operations.
    pub fn constants(&mut self, all: Vec<Op>) -> Vec<Value> {
        all.into_iter().map(|op| self.value_of(op, &[])).collect()
    }

    /// A value of each of these types that is zero.
    pub fn zeros(&mut self, types: &[Type]) -> Vec<Value> {
        self.constants(shapes::zeros(types))
    }

    /// Part by part the first values if a bit is 1, else the others.
    pub fn select(&mut self, bit: Value, ones: &[Value], others: &[Value]) -> Vec<Value> {
        let pairs = ones.iter().zip(others);
        let selected = pairs.map(|(one, other)| match one == other {
            true => *one,
            false => self.value_of(Op::Select, &[bit, *one, *other]),
        });
        selected.collect()
    }

    /// A part of a header: bits at a byte offset of a view.
    pub fn read_bits(&mut self, view: Value, at: Value, bits: Bits) -> Value {
        self.value_of(Op::Read(bits), &[view, at])
    }

    /// The parts of a name that has a value here.
    ///
    /// # Panics
    ///
    /// If it has none: a mistake of the compiler.
    pub fn named(&self, name: Name) -> &[Value] {
        let found = self.environment.names.get(&name);
        found.unwrap_or_else(|| panic!("{name:?} has a value where it is read"))
    }

    /// The parts of a name, if it has a value here.
    pub fn known(&self, name: Name) -> Option<&[Value]> {
        self.environment.names.get(&name).map(Vec::as_slice)
    }

    /// From here on a name has this value.
    pub fn bind(&mut self, name: Name, parts: Vec<Value>) {
        if let Name::Local(local) = name {
            let hint = self.locals.get(local.at()).map(|local| local.name.clone());
            for part in &parts {
                self.build.name(*part, hint.as_deref().unwrap_or(""));
            }
        }
        self.environment.names.insert(name, parts);
    }

    /// The message of a local; [`LocalId::MESSAGE`] is that of header expressions.
    pub fn message(&self, local: LocalId) -> Value {
        self.named(Name::Local(self.meant(local)))[0]
    }

    /// The local that is meant.
    pub fn meant(&self, local: LocalId) -> LocalId {
        match local {
            LocalId::MESSAGE => self.message.expect("a header expression has its message"),
            local => local,
        }
    }

    /// A message moves away from its local.
    pub fn take_message(&mut self, local: LocalId) -> Value {
        let taken = self.environment.names.remove(&Name::Local(local));
        taken.expect("a message moves once")[0]
    }

    /// A message has changed: its local holds the next handle.
    pub fn set_message(&mut self, local: LocalId, message: Value) {
        self.bind(Name::Local(self.meant(local)), vec![message]);
    }

    /// The index of an instance, as a value.
    pub fn index(&mut self, instance: Instance, kind: KindId) -> Value {
        match instance {
            Instance::Own => match self.own {
                Some((own, index)) if own == kind => index,
                Some(_) | None => self.word(0),
            },
            Instance::Entity => self.word(0),
            Instance::Local(local) => self.named(Name::Local(local))[0],
            Instance::Only(index) => self.word(index),
        }
    }

    /// An instance.
    pub fn instance(&mut self, instance: Instance, kind: KindId) -> Value {
        let always = self.lower.is_always(kind);
        let fixed = match instance {
            Instance::Entity => Some(0),
            Instance::Own if self.own.is_none_or(|(own, _)| own != kind) => Some(0),
            Instance::Only(index) => Some(index),
            Instance::Own | Instance::Local(_) => None,
        };
        if let Some(index) = fixed.filter(|_| always) {
            return self.value_of(Op::Instance(self.lower.kind(kind), index), &[]);
        }
        let index = self.index(instance, kind);
        self.instance_at(index, kind)
    }

    /// The instance with an index, which has a state.
    pub fn instance_at(&mut self, index: Value, kind: KindId) -> Value {
        if let Some(known) = self.environment.instances.get(&(index, kind.0)) {
            return *known;
        }
        let found = self.value_of(Op::At(self.lower.kind(kind)), &[index]);
        self.environment.instances.insert((index, kind.0), found);
        found
    }

    /// An instance was found: its index, from which it is known from here on.
    pub fn index_of(&mut self, instance: Value, kind: KindId) -> Value {
        let index = self.value_of(Op::Index, &[instance]);
        self.environment.instances.insert((index, kind.0), instance);
        index
    }

    /// Loads a region.
    pub fn load(&mut self, region: Region, operands: &[Value]) -> Value {
        self.value_of(Op::Load(region), operands)
    }

    /// Stores to a field.
    pub fn store(&mut self, place: Place, operands: &[Value], value: Value) {
        let mut operands = operands.to_vec();
        operands.push(value);
        self.op(Op::Store(Region::Field(place.kind, place.field)), &operands);
    }

    /// Does one thing if a bit is 1, another if it is 0, and goes on with what both result in.
    pub fn choose(
        &mut self,
        bit: Value,
        then: impl FnOnce(&mut Self) -> Vec<Value>,
        otherwise: impl FnOnce(&mut Self) -> Vec<Value>,
    ) -> Vec<Value> {
        let (one, other) = self.build.branch(bit, Probability::EVEN);
        let before = self.environment.clone();
        self.build.go_to(one);
        let of_one = then(self);
        let (end_of_one, behind_one) = (self.build.here(), self.environment.clone());
        self.environment = before;
        self.build.go_to(other);
        let of_other = otherwise(self);
        let end_of_other = self.build.here();
        let mut ways = vec![
            Way::new(end_of_one, behind_one),
            Way::new(end_of_other, self.environment.clone()),
        ];
        ways[0].results = of_one;
        ways[1].results = of_other;
        self.meet(ways, |_| true)
    }

    /// Does something only if a bit is 1.
    pub fn only_if(&mut self, bit: Value, then: impl FnOnce(&mut Self)) {
        self.choose(
            bit,
            |code| {
                then(code);
                Vec::new()
            },
            |_| Vec::new(),
        );
    }

    /// Ways meet: goes on in a block to which all of them lead. Names for which `is_needed` holds
    /// keep their values, and become parameters where those differ. Returns the results, which
    /// each way has.
    pub fn meet(&mut self, ways: Vec<Way>, is_needed: impl Fn(&Name) -> bool) -> Vec<Value> {
        let [only] = &ways[..] else {
            return self.meet_several(&ways, is_needed);
        };
        self.build.go_to(only.end);
        self.environment = only.environment.clone();
        only.results.clone()
    }

    fn meet_several(&mut self, ways: &[Way], is_needed: impl Fn(&Name) -> bool) -> Vec<Value> {
        let (first, others) = ways.split_first().expect("at least one way leads here");
        let block = self.build.block(&[]);
        let mut given: Vec<Vec<Value>> = ways.iter().map(|_| Vec::new()).collect();
        let mut names = BTreeMap::new();
        for (name, parts) in &first.environment.names {
            let known = |way: &Way| way.environment.names.contains_key(name);
            if !is_needed(name) || !others.iter().all(known) {
                continue;
            }
            let parts = (0..parts.len()).map(|at| {
                let of = |way: &Way| way.environment.names[name][at];
                self.joined(block, ways, &of, &mut given)
            });
            names.insert(*name, parts.collect::<Vec<Value>>());
        }
        let results = (0..first.results.len()).map(|at| {
            let of = |way: &Way| way.results[at];
            self.joined(block, ways, &of, &mut given)
        });
        let results: Vec<Value> = results.collect();
        let stripped = self.stripped_on_all(block, ways, &mut given);
        let mut instances = first.environment.instances.clone();
        instances.retain(|key, instance| {
            let same = |way: &Way| way.environment.instances.get(key) == Some(instance);
            others.iter().all(same)
        });
        for (way, arguments) in ways.iter().zip(given) {
            self.build.go_to(way.end);
            self.build.end(Terminator::Jump(Edge { block, arguments }));
        }
        self.build.go_to(block);
        self.environment = Environment {
            names,
            instances,
            stripped,
            freed: None,
        };
        results
    }

    /// The header that was stripped last on all ways, if it is the same.
    fn stripped_on_all(
        &mut self,
        block: BlockId,
        ways: &[Way],
        given: &mut [Vec<Value>],
    ) -> Option<(HeaderId, Value)> {
        let (header, _) = ways[0].environment.stripped?;
        let same = |way: &Way| {
            way.environment
                .stripped
                .is_some_and(|(own, _)| own == header)
        };
        if !ways.iter().all(same) {
            return None;
        }
        let of = |way: &Way| {
            way.environment
                .stripped
                .map_or(Value(0), |(_, length)| length)
        };
        Some((header, self.joined(block, ways, &of, given)))
    }

    /// A value that each way has: the same, or a parameter of the block in which they meet.
    fn joined(
        &mut self,
        block: BlockId,
        ways: &[Way],
        of: &dyn Fn(&Way) -> Value,
        given: &mut [Vec<Value>],
    ) -> Value {
        let first = of(&ways[0]);
        if ways.iter().all(|way| of(way) == first) {
            return first;
        }
        for (way, given) in ways.iter().zip(given) {
            given.push(of(way));
        }
        let hint = self.build.hint(first);
        self.build
            .add_parameter(block, self.build.type_of(first), &hint)
    }
}

/// A way that has come to the end of a block, which has no terminator yet.
#[derive(Clone, Debug)]
pub struct Way {
    /// The block.
    pub end: BlockId,
    /// The values of names there.
    pub environment: Environment,
    /// Values that it results in.
    pub results: Vec<Value>,
}

impl Way {
    /// A way that results in nothing.
    pub fn new(end: BlockId, environment: Environment) -> Way {
        Way {
            end,
            environment,
            results: Vec::new(),
        }
    }
}

/// The function that is the body of a loop.
#[derive(Clone, Debug)]
pub struct Turn {
    /// Names whose values go from turn to turn.
    pub carried: Vec<Name>,
    /// The types of the function's result, if it may return within a turn.
    pub returned: Option<Vec<Type>>,
}
