//! Operations of a guard, and operations that are owed.
//!
//! An operation that writes nothing, and reads nothing that is owed, is evaluated in the guard,
//! once on each path; constants and decided bits are folded at once. All others are owed.

use super::path::{Key, Known, Operation, Owed, Path, StoreOwed};
use super::trace::Trace;
use crate::ir::effects::{Effects, Resource, called};
use crate::ir::op::{Arithmetic, Change, Compare, Op, Order};
use crate::ir::types::ones;
use crate::ir::{Instruction, Region, Type, Value};
use crate::passes::fold::Simpler;

impl Trace<'_> {
    /// An instruction of the traced function.
    pub fn instruction(&mut self, path: &mut Path, instruction: &Instruction) {
        self.build.set_span(instruction.span);
        if path.under.is_some() && !self.is_safe(path, instruction) {
            return self.owe(path, instruction);
        }
        match &instruction.op {
            Op::Length
            | Op::Start
            | Op::Attribute(_)
            | Op::With(_)
            | Op::Look
            | Op::Before
            | Op::Around
            | Op::SubView
            | Op::Push
            | Op::Pull
            | Op::Cut => {
                if instruction.op == Op::Pull {
                    self.note_pull(path, instruction.operands[1]);
                }
                self.moves(path, instruction);
            }
            Op::Write(_) | Op::WriteBytes | Op::WritePart => self.owe(path, instruction),
            Op::Read(bits) => match self.read(path, *bits, &instruction.operands) {
                Some(value) => self.give(path, instruction, value),
                None => self.owe(path, instruction),
            },
            Op::Load(region) => self.load(path, instruction, Resource::Region(*region)),
            Op::Store(region) => self.store(path, instruction, *region),
            Op::Change(Change::ReleaseBytes, place) => {
                let released = self.released(path, *place, &instruction.operands);
                self.owe(path, instruction);
                if let Some((released, answers)) = released {
                    self.give(path, instruction, released);
                    path.answers.extend(answers);
                }
            }
            Op::Ask(question, place) => {
                match self.answer(path, *question, *place, &instruction.operands) {
                    Some(value) => self.give(path, instruction, value),
                    None => self.other(path, instruction),
                }
            }
            Op::Queue(Order::Made, events) => self.queue_made(path, instruction, events),
            _other => self.other(path, instruction),
        }
    }

    /// A store is owed, unless the field holds the value already; loads behind it give the value.
    fn store(&mut self, path: &mut Path, instruction: &Instruction, region: Region) {
        let operands = &instruction.operands;
        let (value, place) = operands.split_last().expect("a store has a value");
        let place = place.iter().map(|one| path.now(path.key(*one)));
        let place: Option<Vec<Value>> = place.collect();
        let value = path.key(*value);
        match place {
            Some(place) if self.holds(path, region, &place, value) => return,
            Some(place) => path.stored.push(StoreOwed {
                region,
                place,
                value,
            }),
            None => path.stored.retain(|stored| stored.region != region),
        }
        self.owe(path, instruction);
    }

    /// An operation that is evaluated if it writes nothing.
    pub fn other(&mut self, path: &mut Path, instruction: &Instruction) {
        let effects = self.effects_of(&instruction.op);
        let is_settled = effects.are_none()
            && !instruction.results.is_empty()
            && !effects.reads.iter().any(|one| path.owes(*one));
        let operands = match is_settled {
            true => self.operands(path, &instruction.operands),
            false => None,
        };
        match (operands, &instruction.results[..]) {
            (Some(operands), [_]) => {
                let found = self.found(path, &instruction.op, &operands);
                let value =
                    found.unwrap_or_else(|| self.evaluate(path, instruction.op.clone(), &operands));
                self.give(path, instruction, value);
            }
            (Some(operands), several) => {
                let op = instruction.op.clone();
                let results = self.build.op(self.module, op, &operands);
                for (result, value) in several.iter().zip(results) {
                    let key = path.key(*result);
                    path.learn(key, Known::Now(value));
                }
            }
            (None, _) => self.owe(path, instruction),
        }
    }

    /// The instance with an index that is the index of an instance.
    fn found(&self, path: &Path, op: &Op, operands: &[Value]) -> Option<Value> {
        let Op::At(kind) = op else { return None };
        let root = self.module.root(*kind);
        let mut kinds = [*kind, root].into_iter();
        if kinds.any(|kind| path.owes(Resource::Instances(kind))) {
            return None;
        }
        let (Op::Index, of) = self.folded.op(operands[0])? else {
            return None;
        };
        (self.build.type_of(of[0]) == Type::Instance(*kind)).then_some(of[0])
    }

    /// The values of the guard that an operation is given; none if it knows one of them not.
    pub fn operands(&mut self, path: &mut Path, operands: &[Value]) -> Option<Vec<Value>> {
        let keys: Vec<Key> = operands.iter().map(|one| path.key(*one)).collect();
        keys.into_iter()
            .map(|key| match path.known(key) {
                Known::Now(value) => Some(*value),
                Known::View(_) => self.view(path, key),
                Known::Later | Known::Message(_) => None,
            })
            .collect()
    }

    /// The effects of an operation with all that it calls.
    pub fn effects_of(&self, op: &Op) -> Effects {
        let mut effects = Effects::of(self.module, op);
        for function in called(self.module, op) {
            effects.add(&self.effects[function.at()]);
        }
        effects
    }

    /// The result of an instruction is a value of the guard.
    fn give(&mut self, path: &mut Path, instruction: &Instruction, value: Value) {
        let [result] = instruction.results[..] else {
            panic!("an operation of a guard gives one value");
        };
        let hint = &self.module.function(path.function).values[result.at()].hint;
        self.build.name(value, hint);
        let value = self.settle(path, result, value);
        let key = path.key(result);
        path.learn(key, Known::Now(value));
    }

    fn read(&mut self, path: &mut Path, bits: crate::ir::op::Bits, of: &[Value]) -> Option<Value> {
        let view = path.key(of[0]);
        let offset = path.now(path.key(of[1]))?;
        let (whole, at, _) = self.shown(path, view)?;
        let at = self.evaluate(path, Op::Arithmetic(Arithmetic::Add), &[at, offset]);
        self.assume_no_options(at);
        Some(self.evaluate(path, Op::Read(bits), &[whole, at]))
    }

    /// A load gives what an owed store to the same place will store.
    fn load(&mut self, path: &mut Path, instruction: &Instruction, resource: Resource) {
        let Some(place) = self.operands(path, &instruction.operands) else {
            return self.owe(path, instruction);
        };
        if !path.written.contains(&resource) {
            let value = self.evaluate(path, instruction.op.clone(), &place);
            return self.give(path, instruction, value);
        }
        let Op::Load(region) = instruction.op else {
            panic!("a region is loaded");
        };
        let stored = path.stored.iter().rev();
        let mut stored = stored.filter(|stored| stored.region == region);
        match stored.next() {
            Some(stored) if stored.place == place => {
                let value = stored.value;
                path.alias(path.key(instruction.results[0]), value);
            }
            _ => self.owe(path, instruction),
        }
    }

    /// A field holds a value already: what is owed does not write it, and the guard has found so.
    fn holds(&self, path: &Path, region: Region, place: &[Value], value: Key) -> bool {
        let loaded = path.found.get(&(Op::Load(region), place.to_vec()));
        let value = path.now(value);
        !path.owes(Resource::Region(region))
            && loaded.is_some_and(|loaded| value == Some(path.equal(*loaded)))
    }

    /// An operation stands behind the commit.
    pub fn owe(&mut self, path: &mut Path, instruction: &Instruction) {
        let effects = self.effects_of(&instruction.op);
        let is_store = matches!(instruction.op, Op::Store(_));
        if !is_store {
            path.stored
                .retain(|stored| !effects.writes.contains(&Resource::Region(stored.region)));
        }
        path.answers
            .retain(|one| !effects.writes.contains(&Resource::Container(one.place)));
        let writes_bytes = effects.writes.contains(&Resource::Bytes);
        let is_write = matches!(
            instruction.op,
            Op::Write(_) | Op::WriteBytes | Op::WritePart
        );
        if is_write {
            note_written(path, instruction.operands[0]);
        } else if writes_bytes {
            path.rewritten.insert(None);
        }
        path.written.extend(&effects.writes);
        let keys = |all: &[Value]| all.iter().map(|one| path.key(*one)).collect();
        let owed = Operation {
            op: instruction.op.clone(),
            operands: keys(&instruction.operands),
            results: keys(&instruction.results),
            span: instruction.span,
        };
        path.owed.push(Owed::Operation(owed));
    }

    /// An operation of the guard, folded, or the value that it gave before.
    pub fn evaluate(&mut self, path: &mut Path, op: Op, operands: &[Value]) -> Value {
        let (mut op, mut operands) = (op, operands.to_vec());
        loop {
            for operand in &mut operands {
                *operand = path.equal(*operand);
            }
            if op.is_commutative() {
                self.order(&mut operands);
            }
            match self.folded.simpler(self.build.function(), &op, &operands) {
                None => break,
                Some(Simpler::Constant(number)) => {
                    let bits = self.bits(&op, &operands);
                    op = Op::Number(bits, number & ones(bits));
                    operands.clear();
                }
                Some(Simpler::Same(value)) => return path.equal(value),
                Some(Simpler::Instead(other, given)) => (op, operands) = (other, given),
            }
        }
        if let Some(value) = self.decided(path, &op, &operands) {
            return value;
        }
        let key = (op, operands);
        if let Some(value) = path.found.get(&key) {
            return path.equal(*value);
        }
        let value = self.build.value(self.module, key.0.clone(), &key.1);
        self.folded.learn(value, key.clone());
        path.found.insert(key, value);
        value
    }

    /// A number of 32 bits in the guard.
    pub fn word(&mut self, path: &mut Path, number: u32) -> Value {
        self.evaluate(path, Op::Number(32, number.into()), &[])
    }

    /// Constants stand behind other operands.
    fn order(&self, operands: &mut [Value]) {
        operands.sort_by_key(|value| (self.folded.number(*value).is_some(), *value));
    }

    /// The width of the number that an operation gives.
    fn bits(&self, op: &Op, operands: &[Value]) -> u8 {
        let types: Vec<Type> = operands
            .iter()
            .map(|one| self.build.type_of(*one))
            .collect();
        let results = crate::ir::signature::results(self.module, op, &types);
        let results = results.expect("operands have the types of the operation");
        results[0].bits().expect("only numbers are folded")
    }

    /// The value of an operation that follows from a bit that is decided.
    fn decided(&mut self, path: &mut Path, op: &Op, operands: &[Value]) -> Option<Value> {
        let bit = |op: Op, operands: Vec<Value>| {
            let value = path.found.get(&(op, operands))?;
            path.bits.get(value).copied()
        };
        match op {
            Op::Arithmetic(how @ (Arithmetic::Umin | Arithmetic::Umax)) => {
                let (one, other) = (operands[0], operands[1]);
                let is_less = |one, other| {
                    let at_most = bit(Op::Compare(Compare::Ule), vec![one, other]);
                    at_most.or(bit(Op::Compare(Compare::Ult), vec![one, other]))
                };
                let (less, more) = match (is_less(one, other), is_less(other, one)) {
                    (Some(true), _) => (one, other),
                    (_, Some(true)) => (other, one),
                    _ => return None,
                };
                Some(if *how == Arithmetic::Umin { less } else { more })
            }
            Op::Compare(how) => {
                let turned = match how {
                    Compare::Eq => (Compare::Ne, operands.to_vec()),
                    Compare::Ne => (Compare::Eq, operands.to_vec()),
                    Compare::Ult => (Compare::Ule, vec![operands[1], operands[0]]),
                    Compare::Ule => (Compare::Ult, vec![operands[1], operands[0]]),
                    Compare::Slt => (Compare::Sle, vec![operands[1], operands[0]]),
                    Compare::Sle => (Compare::Slt, vec![operands[1], operands[0]]),
                };
                let own = bit(op.clone(), operands.to_vec());
                let holds = own.or(bit(Op::Compare(turned.0), turned.1).map(|bit| !bit))?;
                Some(self.evaluate(path, Op::Number(1, u64::from(holds)), &[]))
            }
            _ => {
                let holds = bit(op.clone(), operands.to_vec())?;
                Some(self.evaluate(path, Op::Number(1, u64::from(holds)), &[]))
            }
        }
    }
}

/// Notes that a deferred effect writes a message: the guard reads views of it no more. It reads no
/// view of a message that the path makes.
fn note_written(path: &mut Path, message: Value) {
    let base = match path.known(path.key(message)) {
        Known::Message(message) => message.base.map(Some),
        Known::Now(_) | Known::Later | Known::View(_) => Some(None),
    };
    path.rewritten.extend(base);
}
