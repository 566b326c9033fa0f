//! Traces a reaction: blocks in the order in which control goes through them.
//!
//! `trace_guard.rs` evaluates operations or owes them, `trace_message.rs` those on messages, and
//! `trace_stream.rs` those on streams; `trace_predicated.rs` evaluates pure functions,
//! `trace_diamond.rs` branches whose sides meet, and `trace_switch.rs` switches; `trace_bounds.rs`
//! knows which bytes of a frame are there, `trace_forward.rs` follows events that hand a message
//! on, and `trace_commit.rs` ends a path.
//!
//! An edge that is taken seldom ([`SELDOM`]) is an exit. Where both edges of a branch are taken,
//! the path forks, as long as few events come there or more ([`FEWEST`]).

use super::exits::Naming;
use super::path::{Call, Key, Known, Path};
use super::reaction;
use crate::ir::build::Builder;
use crate::ir::effects::{Effects, called_by_attempt};
use crate::ir::op::{Arithmetic, Attempt, Compare, Event, Op, Place};
use crate::ir::{
    BlockId, Edge, Function, FunctionId, Instruction, Module, Probability, Region, Role,
    Terminator, Type, Value,
};
use crate::passes::cost::way::Decision;
use crate::passes::fold::Facts;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// An edge with a share of its branch of less than this many millionths is an exit.
pub const SELDOM: u64 = 50_000;
/// A path forks only if this many millionths of all events go either way.
const FEWEST: u64 = 20_000;
/// A path hands an event on to so many reactions at most.
const FRAMES: u32 = 8;
/// Calls in calls are traced so deep at most.
const CALLS: usize = 6;
/// A fast function has so many operations and blocks in its guard at most.
const LONGEST: usize = 3_000;

/// A conjunction leaves in about so many parts at most.
const PARTS: usize = 16;

/// A fast function with fewer exits than this is of no use, unless no event follows.
const SHORTEST: usize = 4;

/// By value of a function, the number that a guard assumes it to be.
pub type Assumed = BTreeMap<(FunctionId, Value), u64>;

/// A fast function that is being formed.
pub struct Trace<'m> {
    /// The module.
    pub module: &'m Module,
    /// By function: what it reads and changes.
    pub effects: &'m [Effects],
    /// Streams that may have gaps.
    pub gaps: BTreeSet<Place>,
    /// The fast function.
    pub build: Builder,
    /// The operations that give its values.
    pub folded: Facts,
    pub naming: Naming<'m>,
    assumed: Assumed,
    /// Fields of the frame that say how many bytes of options are pulled: each with its origin, and
    /// what it says if there are none.
    pub pulled: BTreeMap<Value, ((FunctionId, Value), u64)>,
    /// By value of the guard that reads a frame: the value of the traced code.
    pub origins: HashMap<Value, (FunctionId, Value)>,
    /// Some path of the reaction hands a message to an application: only such paths are formed.
    goes_up: bool,
    /// By function and block: the join of the frequent ways behind it.
    pub joins: HashMap<FunctionId, Vec<Option<BlockId>>>,
    /// Branches that cannot be diamonds.
    pub apart: BTreeSet<(FunctionId, BlockId)>,
    /// By block with a commit: the decisions on the way there.
    decided: BTreeMap<BlockId, Vec<Decision>>,
    /// The number of exits.
    pub exits: usize,
}

impl<'m> Trace<'m> {
    /// The fast function of a reaction, and by block with a commit the decisions on the way there;
    /// none if no path of it commits, or none has an exit.
    pub fn of(
        module: &'m Module,
        effects: &'m [Effects],
        slow: FunctionId,
    ) -> Option<(Function, BTreeMap<BlockId, Vec<Decision>>)> {
        let mut assumed = Assumed::new();
        loop {
            let before = assumed.len();
            let mut trace = Trace::new(module, effects, slow, assumed);
            trace.begin(slow);
            assumed = std::mem::take(&mut trace.assumed);
            if assumed.len() == before {
                let is_of_use = trace.is_of_use();
                return is_of_use.then(|| (trace.build.finish(Vec::new()), trace.decided));
            }
        }
    }

    fn new(
        module: &'m Module,
        effects: &'m [Effects],
        slow: FunctionId,
        assumed: Assumed,
    ) -> Trace<'m> {
        let function = module.function(slow);
        let parameters: Vec<(Type, &str)> = function
            .parameters()
            .iter()
            .map(|one| (function.type_of(*one), &function.values[one.at()].hint[..]))
            .collect();
        let name = module.free_name(&format!("{}.fast", function.name));
        Trace {
            module,
            effects,
            gaps: module.streams_with_gaps(),
            build: Builder::new(&name, &function.owner, Role::Fast, &parameters),
            folded: Facts::default(),
            naming: Naming::new(module),
            assumed,
            pulled: BTreeMap::new(),
            origins: HashMap::new(),
            goes_up: false,
            joins: HashMap::new(),
            apart: BTreeSet::new(),
            decided: BTreeMap::new(),
            exits: 0,
        }
    }

    /// Returns true if some path commits, and either saves what many tests cost, or does all that
    /// there is to do. A reaction that only consumes its message gets no fast function.
    fn is_of_use(&self) -> bool {
        let function = self.build.function();
        let mut instructions = function.instructions();
        let tells =
            function.is_followed() || instructions.any(|one| matches!(one.op, Op::Output(_)));
        let mut parameters = function.parameters().iter();
        let takes_message = parameters.any(|one| function.type_of(*one) == Type::Message);
        let least = match function.is_followed() {
            true => SHORTEST,
            false => 1,
        };
        !self.decided.is_empty() && self.exits >= least && (tells || !takes_message)
    }

    fn begin(&mut self, slow: FunctionId) {
        let mut path = Path::new(slow);
        let function = self.module.function(slow);
        self.build.set_span(function.span);
        for (at, value) in function.parameters().iter().enumerate() {
            let (key, own) = (path.key(*value), self.build.parameter(at));
            self.parameter(&mut path, key, own);
        }
        self.goes_up = self.naming.goes_up(slow, BlockId(0));
        self.block(path, BlockId(0), 0);
    }

    /// Goes on in a block, behind so many of its instructions.
    fn block(&mut self, mut path: Path, mut at: BlockId, mut from: usize) {
        while let Some((next, block, index)) = self.step(path, at, from) {
            (path, at, from) = (next, block, index);
        }
    }

    /// A block, or the part of it up to a call that is traced: the place where control goes on, or
    /// none where the path has ended.
    pub fn step(
        &mut self,
        mut path: Path,
        at: BlockId,
        from: usize,
    ) -> Option<(Path, BlockId, usize)> {
        let function = self.module.function(path.function);
        let block = function.block(at);
        for (index, instruction) in block.instructions.iter().enumerate().skip(from) {
            let sure = path.under.is_none();
            if self.expands(&mut path, instruction, sure) {
                continue;
            }
            match self.traced(&path, instruction) {
                None => self.instruction(&mut path, instruction),
                Some(call) => {
                    if let Some((block, index)) = self.call(&mut path, (at, index + 1), call) {
                        return Some((path, block, index));
                    }
                }
            }
        }
        self.build.set_span(block.span);
        if self.build.function().values.len() > LONGEST {
            return self.commit(path, at);
        }
        let next = match &block.terminator {
            Terminator::Jump(edge) => self.follow(&mut path, edge, &[]),
            Terminator::Branch { .. } => return self.branch(path, at),
            Terminator::Switch { .. } => match self.switch(&path, at) {
                Some((path, next)) => return Some((path, next, 0)),
                None => return self.commit(path, at),
            },
            Terminator::Try { .. } => {
                let (path, next) = self.attempt(path, at)?;
                return Some((path, next, 0));
            }
            Terminator::Tail(Event { target, .. }, values)
                if path.frame < FRAMES && reaction(*target).is_some() =>
            {
                let id = reaction(*target)?;
                let arguments: Vec<Key> = values.iter().map(|one| path.key(*one)).collect();
                path.enter(id, self.module.function(id).parameters(), &arguments);
                BlockId(0)
            }
            Terminator::Return(values) if !path.calls.is_empty() => {
                let values: Vec<Key> = values.iter().map(|one| path.key(*one)).collect();
                let (next, index) = path.leave(&values)?;
                return Some((path, next, index));
            }
            Terminator::Return(_)
            | Terminator::Tail(..)
            | Terminator::Take(_)
            | Terminator::Never => return self.commit(path, at),
        };
        Some((path, next, 0))
    }

    /// A branch: the place where control goes on, or none where the path has ended.
    fn branch(&mut self, mut path: Path, at: BlockId) -> Option<(Path, BlockId, usize)> {
        let function = self.module.function(path.function);
        let Terminator::Branch {
            condition,
            likely,
            then,
            otherwise,
        } = &function.block(at).terminator
        else {
            panic!("a branch is traced");
        };
        let Some(bit) = path.now(path.key(*condition)) else {
            return self.commit(path, at);
        };
        if let Some((path, next)) = self.short_circuit(&path, at, bit) {
            return Some((path, next, 0));
        }
        let next = match self.decision(&path, at, bit, *likely) {
            Way::Known(holds) => {
                path.decided(function.block(at).span, usize::from(!holds));
                self.follow(&mut path, if holds { then } else { otherwise }, &[])
            }
            Way::Likely(holds) => self.one_way(&mut path, at, bit, holds),
            Way::Both => {
                if let Some((path, next)) =
                    self.diamond(&path, at, (bit, *likely), [then, otherwise])
                {
                    return Some((path, next, 0));
                }
                match self.wanted_way(&path, [then, otherwise]) {
                    Some(holds) => self.one_way(&mut path, at, bit, holds),
                    None if path.under.is_some() => return None,
                    None => {
                        self.fork(path, at, (bit, *likely), [then, otherwise]);
                        return None;
                    }
                }
            }
        };
        Some((path, next, 0))
    }

    /// A call that is traced, and the place behind it. Where control goes on in the function that
    /// is called; none if that is evaluated without a branch.
    fn call(
        &mut self,
        path: &mut Path,
        (block, next): (BlockId, usize),
        (id, arguments, results): (FunctionId, Vec<Key>, Vec<Key>),
    ) -> Option<(BlockId, usize)> {
        let sure = path.under.is_none();
        if let Some(values) = self.predicated(path, (id, &arguments), sure) {
            for (result, value) in results.iter().zip(values) {
                path.alias(*result, value);
            }
            return None;
        }
        path.calls.push(Call {
            function: path.function,
            frame: path.frame,
            block,
            next,
            results,
        });
        path.enter(id, self.module.function(id).parameters(), &arguments);
        Some((BlockId(0), 0))
    }

    /// One way of a branch; the guard leaves where the other would be taken.
    fn one_way(&mut self, path: &mut Path, at: BlockId, bit: Value, holds: bool) -> BlockId {
        let function = self.module.function(path.function);
        let Terminator::Branch {
            condition,
            then,
            otherwise,
            ..
        } = &function.block(at).terminator
        else {
            panic!("a branch goes one way");
        };
        let (edge, left) = match holds {
            true => (then, otherwise),
            false => (otherwise, then),
        };
        let name = self.naming.of(function, left.block, *condition);
        self.exit(path, name, bit, holds);
        path.decided(function.block(at).span, usize::from(!holds));
        self.follow(path, edge, &[])
    }

    /// The likelier way of a branch; none if the guard does not know its condition.
    pub fn likelier(&mut self, path: &mut Path, at: BlockId) -> Option<BlockId> {
        let function = self.module.function(path.function);
        let Terminator::Branch {
            condition,
            likely,
            then,
            otherwise,
        } = &function.block(at).terminator
        else {
            panic!("a branch is decided");
        };
        let bit = path.now(path.key(*condition))?;
        let holds = match self.decision(path, at, bit, *likely) {
            Way::Known(holds) | Way::Likely(holds) => holds,
            Way::Both => {
                let wanted = self.wanted_way(path, [then, otherwise]);
                wanted.unwrap_or(likely.0 >= 500_000)
            }
        };
        Some(self.one_way(path, at, bit, holds))
    }

    /// Expands a call of a pure function without its branches where the guard shows more of it: one
    /// that reads a view, so that the bytes that decide are known, or fields. False, and nothing is
    /// known more than before, if that cannot be.
    pub fn expands(&mut self, path: &mut Path, instruction: &Instruction, sure: bool) -> bool {
        let Op::Call(id) = instruction.op else {
            return false;
        };
        let effects = &self.effects[id.at()];
        let is_settled = effects.are_none() && !effects.reads.iter().any(|one| path.owes(*one));
        let keys: Vec<Key> = instruction
            .operands
            .iter()
            .map(|one| path.key(*one))
            .collect();
        let is_view =
            |key: &Key| matches!(path.known(*key), Known::View(view) if view.base.is_some());
        let shows_more = !effects.only_read_settings() || keys.iter().any(is_view);
        if !is_settled || !shows_more {
            return false;
        }
        let Some(values) = self.predicated(path, (id, &keys), sure) else {
            return false;
        };
        let results: Vec<Key> = instruction
            .results
            .iter()
            .map(|one| path.key(*one))
            .collect();
        for (result, value) in results.into_iter().zip(values) {
            path.alias(result, value);
        }
        true
    }

    /// The function that is traced in the place of a call, with the arguments and the results: one
    /// that changes nothing, and reads what is owed.
    pub fn traced(
        &self,
        path: &Path,
        instruction: &Instruction,
    ) -> Option<(FunctionId, Vec<Key>, Vec<Key>)> {
        let Op::Call(id) = instruction.op else {
            return None;
        };
        let effects = &self.effects[id.at()];
        let mut reads = effects.reads.iter();
        let is_traced =
            effects.are_none() && path.calls.len() < CALLS && reads.any(|one| path.owes(*one));
        let keys = |all: &[Value]| all.iter().map(|one| path.key(*one)).collect();
        is_traced.then(|| (id, keys(&instruction.operands), keys(&instruction.results)))
    }

    /// The way of a branch.
    fn decision(&self, path: &Path, at: BlockId, bit: Value, likely: Probability) -> Way {
        if let Some(number) = self.folded.number(bit) {
            return Way::Known(number != 0);
        }
        if let Some(holds) = path.bits.get(&bit) {
            return Way::Known(*holds);
        }
        let function = self.module.function(path.function);
        let (then, otherwise) = match &function.block(at).terminator {
            Terminator::Branch {
                then, otherwise, ..
            } => (then.block, otherwise.block),
            _ => panic!("a branch is decided"),
        };
        match [then, otherwise].map(|block| self.naming.only_drops(path.function, block)) {
            [false, true] => return Way::Likely(true),
            [true, false] => return Way::Likely(false),
            _ => {}
        }
        // Of a branch of which nothing is known, what it compares says more (Ball and Larus, 1993).
        if likely == Probability::EVEN {
            if self.asks_setting(bit) {
                return Way::Likely(true);
            }
            // If the equal side hands a message to an application, both sides are followed.
            if self.asks_number(bit) && !self.naming.goes_up(path.function, then) {
                return Way::Likely(false);
            }
        }
        let share = u64::from(likely.0);
        let less = share.min(1_000_000 - share);
        let is_taken = less >= SELDOM && path.weight * less / 1_000_000 >= FEWEST;
        match is_taken {
            true => Way::Both,
            false => Way::Likely(share >= 500_000),
        }
    }

    /// Returns the only wanted way of a branch; none if both or neither are wanted.
    fn wanted_way(&self, path: &Path, edges: [&Edge; 2]) -> Option<bool> {
        match edges.map(|edge| self.is_wanted(path, edge.block)) {
            [true, false] => Some(true),
            [false, true] => Some(false),
            _both => None,
        }
    }

    /// A path may go on in a block: not all ways behind it drop a message, and one hands it up if
    /// any of the reaction does.
    fn is_wanted(&self, path: &Path, block: BlockId) -> bool {
        let calls = path.calls.iter().map(|call| (call.function, call.block));
        let mut all = [(path.function, block)].into_iter().chain(calls);
        !self.naming.only_drops(path.function, block)
            && (!self.goes_up || all.any(|(id, block)| self.naming.goes_up(id, block)))
    }

    /// A bit says whether something equals a value set at the start: mostly it does, since frames
    /// are for this host.
    fn asks_setting(&self, bit: Value) -> bool {
        let Some((Op::Compare(Compare::Eq), operands)) = self.folded.op(bit) else {
            return false;
        };
        let mut loads = operands.iter().filter_map(|one| self.folded.op(*one));
        loads.any(|(op, _)| matches!(op, Op::Load(Region::Setting(_))))
    }

    /// A bit says whether something equals a constant: of many, it is another mostly.
    fn asks_number(&self, bit: Value) -> bool {
        let asked = self.folded.op(bit);
        matches!(asked, Some((Op::Compare(Compare::Eq), operands))
            if self.folded.number(operands[1]).is_some())
    }

    /// Both ways of a branch.
    fn fork(
        &mut self,
        path: Path,
        at: BlockId,
        (bit, likely): (Value, Probability),
        edges: [&Edge; 2],
    ) {
        let place = self.module.function(path.function).block(at).span;
        let (then, otherwise) = self.build.branch(bit, likely);
        let ways = [(then, true, likely), (otherwise, false, likely.other())];
        for ((block, holds, share), edge) in ways.into_iter().zip(edges) {
            let mut path = path.clone();
            path.weight = path.weight * u64::from(share.0) / 1_000_000;
            self.build.go_to(block);
            self.decide(&mut path, bit, holds);
            path.decided(place, usize::from(!holds));
            let at = self.follow(&mut path, edge, &[]);
            self.block(path, at, 0);
        }
    }

    /// Goes along an edge; behind a `try` the results are the last parameters.
    pub fn follow(&mut self, path: &mut Path, edge: &Edge, results: &[Key]) -> BlockId {
        let function = self.module.function(path.function);
        let given = edge.arguments.iter().map(|one| path.key(*one));
        let given: Vec<Key> = given.chain(results.iter().copied()).collect();
        path.receive(&function.block(edge.block).parameters, &given);
        edge.block
    }

    /// An attempt: the guard tries what changes nothing. None if the path has ended.
    fn attempt(&mut self, mut path: Path, at: BlockId) -> Option<(Path, BlockId)> {
        let function = self.module.function(path.function);
        let block = function.block(at);
        let Terminator::Try {
            attempt,
            operands,
            likely,
            done,
            failed,
        } = &block.terminator
        else {
            panic!("an attempt is traced");
        };
        if likely.0 >= Probability::EVEN.0
            && let Some(results) = self.infallible(&mut path, (attempt, operands), block.span)
        {
            let at = self.follow(&mut path, done, &results);
            return Some((path, at));
        }
        if path.under.is_some() {
            return None;
        }
        let mut effects = Effects::of_attempt(self.module, attempt);
        for function in called_by_attempt(self.module, attempt) {
            effects.add(&self.effects[function.at()]);
        }
        let mut reads = effects.reads.iter();
        let is_settled = effects.are_none() && !reads.any(|one| path.owes(*one));
        let given = match is_settled {
            true => self.operands(&mut path, operands),
            false => None,
        };
        let Some(given) = given else {
            return self.commit(path, at);
        };
        let share = u64::from(likely.0);
        let often = path.weight * (1_000_000 - share) / 1_000_000 >= FEWEST;
        let is_found = matches!(attempt, Attempt::Live(_)) || !self.is_wanted(&path, failed.block);
        if share < 1_000_000 - SELDOM && often && !is_found {
            self.fork_attempt(path, at, &given);
            return None;
        }
        let name = self.naming.of_attempt(function, attempt);
        let results = self.tried(attempt.clone(), &given, *likely, name);
        if let (Attempt::Live(kind), [instance]) = (attempt, &results[..]) {
            path.found.insert((Op::At(*kind), given), *instance);
        }
        let results: Vec<Key> = results
            .into_iter()
            .map(|value| path.own(Known::Now(value)))
            .collect();
        path.decided(block.span, 0);
        let at = self.follow(&mut path, done, &results);
        Some((path, at))
    }

    /// Both outcomes of an attempt.
    fn fork_attempt(&mut self, path: Path, at: BlockId, operands: &[Value]) {
        let traced = self.module.function(path.function).block(at);
        let Terminator::Try {
            attempt,
            likely,
            done,
            failed,
            ..
        } = &traced.terminator
        else {
            panic!("an attempt is traced");
        };
        let ways = self
            .build
            .attempt(self.module, attempt.clone(), operands, *likely);
        let ways = [(ways.0, *likely, done), (ways.1, likely.other(), failed)];
        for (taken, (block, share, edge)) in ways.into_iter().enumerate() {
            let mut path = path.clone();
            path.weight = path.weight * u64::from(share.0) / 1_000_000;
            path.decided(traced.span, taken);
            self.build.go_to(block);
            let results = self.build.parameters_of(block).into_iter();
            let results: Vec<Key> = results.map(|one| path.own(Known::Now(one))).collect();
            let at = self.follow(&mut path, edge, &results);
            self.block(path, at, 0);
        }
    }

    /// Tries something; the guard leaves if it fails. Returns its results.
    fn tried(
        &mut self,
        attempt: Attempt,
        operands: &[Value],
        likely: Probability,
        name: String,
    ) -> Vec<Value> {
        let (done, failed) = self.build.attempt(self.module, attempt, operands, likely);
        self.build.go_to(failed);
        self.leave(name);
        self.build.go_to(done);
        self.build.parameters_of(done)
    }

    /// The guard leaves here.
    pub fn leave(&mut self, name: String) {
        let always = self.build.number(self.module, 1, 1);
        self.build.op(self.module, Op::Exit(name), &[always]);
        self.build.end(Terminator::Never);
        self.exits += 1;
    }

    /// The guard leaves unless a bit is this. Parts of a conjunction leave one by one, since some
    /// of them may hang on less than others.
    pub fn exit(&mut self, path: &mut Path, name: String, bit: Value, unless: bool) {
        for (part, holds) in self.parts(bit, unless) {
            let known = self.folded.number(part).map(|number| number != 0);
            if known.or(path.bits.get(&part).copied()) == Some(holds) {
                continue;
            }
            let leaves = match holds {
                true => self.evaluate(path, Op::Not, &[part]),
                false => part,
            };
            let leaves = self.under(path.under, leaves);
            self.build
                .op(self.module, Op::Exit(name.clone()), &[leaves]);
            self.decide(path, part, holds);
        }
        self.exits += 1;
        self.decide(path, bit, unless);
    }

    /// Returns the conjunction of the predicate of a side and a bit. The side knows its predicate,
    /// so `evaluate` would fold it.
    pub fn under(&mut self, under: Option<Value>, bit: Value) -> Value {
        let Some(under) = under else {
            return bit;
        };
        if self.folded.number(bit) == Some(1) {
            return under;
        }
        let key = (Op::Arithmetic(Arithmetic::And), vec![under, bit]);
        let value = self.build.value(self.module, key.0.clone(), &key.1);
        self.folded.learn(value, key);
        value
    }

    /// Bits that are what they have to be if and only if a bit is.
    fn parts(&self, bit: Value, holds: bool) -> Vec<(Value, bool)> {
        let mut parts = Vec::new();
        let mut open = vec![(bit, holds)];
        while let Some((bit, holds)) = open.pop() {
            match self.folded.op(bit) {
                Some((Op::Not, of)) => open.push((of[0], !holds)),
                Some((Op::Arithmetic(Arithmetic::And), of)) if holds && parts.len() < PARTS => {
                    open.extend([(of[1], true), (of[0], true)]);
                }
                Some((Op::Arithmetic(Arithmetic::Or), of)) if !holds && parts.len() < PARTS => {
                    open.extend([(of[1], false), (of[0], false)]);
                }
                _ => parts.push((bit, holds)),
            }
        }
        parts
    }

    /// The guard leaves unless a value is this number.
    pub fn expect(&mut self, path: &mut Path, name: String, value: Value, number: u64) {
        let constant = self.constant(path, value, number);
        let equal = self.evaluate(path, Op::Compare(Compare::Eq), &[value, constant]);
        self.exit(path, name, equal, true);
    }

    pub fn constant(&mut self, path: &mut Path, like: Value, number: u64) -> Value {
        let bits = self.build.type_of(like).bits();
        let bits = bits.expect("a number is compared with a number");
        self.evaluate(path, Op::Number(bits, number), &[])
    }

    /// A bit is known from here on, and all that follows from it.
    pub fn decide(&mut self, path: &mut Path, bit: Value, holds: bool) {
        if self.folded.number(bit).is_some() {
            return;
        }
        if path.bits.insert(bit, holds).is_some() {
            return;
        }
        let number = self.constant(path, bit, u64::from(holds));
        path.equals.insert(bit, number);
        let Some((op, operands)) = self.folded.op(bit).cloned() else {
            return;
        };
        match op {
            Op::Not => self.decide(path, operands[0], !holds),
            Op::Arithmetic(Arithmetic::And) if holds => {
                operands
                    .iter()
                    .for_each(|one| self.decide(path, *one, true));
            }
            Op::Arithmetic(Arithmetic::Or) if !holds => {
                operands
                    .iter()
                    .for_each(|one| self.decide(path, *one, false));
            }
            Op::Compare(how @ (Compare::Eq | Compare::Ne))
                if holds == (how == Compare::Eq) && self.folded.number(operands[1]).is_some() =>
            {
                path.equals.insert(operands[0], operands[1]);
            }
            Op::Compare(how @ (Compare::Eq | Compare::Ne)) if holds == (how == Compare::Eq) => {
                // A part of a frame that is a value set at the start: that is there already.
                let is_setting = |value: Value| {
                    let op = self.folded.op(value).map(|(op, _)| op);
                    matches!(op, Some(Op::Load(Region::Setting(_))))
                };
                match [operands[0], operands[1]].map(is_setting) {
                    [false, true] => {
                        path.equals.insert(operands[0], operands[1]);
                    }
                    [true, false] => {
                        path.equals.insert(operands[1], operands[0]);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// Notes that a message is pulled by a number that the frame says: the bytes of its options, of
    /// which most headers have none.
    pub fn note_pull(&mut self, path: &Path, count: Value) {
        let Some(count) = path.now(path.key(count)) else {
            return;
        };
        if let Some((read, number)) = self.solved(count, 0)
            && let Some(origin) = self.origins.get(&read)
        {
            self.pulled.insert(read, (*origin, number));
        }
    }

    /// Assumes that a header has no options, if the guard reads at an offset that hangs on them: of
    /// several headers the first, which may make the offset constant.
    pub fn assume_no_options(&mut self, offset: Value) {
        let mut open = vec![offset];
        let mut seen = BTreeSet::new();
        while let Some(value) = open.pop() {
            if !seen.insert(value) {
                continue;
            }
            if let Some((Op::Arithmetic(_) | Op::ZeroExtend(_), of)) = self.folded.op(value) {
                open.extend(of);
            }
        }
        let first = seen.iter().find_map(|value| self.pulled.get(value));
        if let Some((origin, number)) = first {
            self.assumed.entry(*origin).or_insert(*number);
        }
    }

    /// The number that a frame says, for which a value of the guard is this number.
    fn solved(&self, value: Value, number: u64) -> Option<(Value, u64)> {
        let (op, operands) = self.folded.op(value)?;
        let by = operands.get(1).and_then(|one| self.folded.number(*one));
        match (op, by) {
            (Op::Read(_), _) => Some((value, number)),
            (Op::Arithmetic(Arithmetic::Sub), Some(by)) => self.solved(operands[0], number + by),
            (Op::Arithmetic(Arithmetic::Add), Some(by)) => {
                self.solved(operands[0], number.checked_sub(by)?)
            }
            (Op::Arithmetic(Arithmetic::Mul), Some(by)) if by > 0 && number.is_multiple_of(by) => {
                self.solved(operands[0], number / by)
            }
            (Op::ZeroExtend(_), _) => {
                let bits = self.build.type_of(operands[0]).bits()?;
                let fits = number <= crate::ir::types::ones(bits);
                fits.then(|| self.solved(operands[0], number))?
            }
            _ => None,
        }
    }

    /// The value of an instruction, which the guard may assume to be a number.
    pub fn settle(&mut self, path: &mut Path, result: Value, value: Value) -> Value {
        let origin = (path.function, result);
        if let Some((Op::Read(_), _)) = self.folded.op(value) {
            self.origins.entry(value).or_insert(origin);
        }
        let Some(number) = self.assumed.get(&origin).copied() else {
            return value;
        };
        let name = self.naming.assumption(self.module.function(path.function));
        self.expect(path, name, value, number);
        path.equal(value)
    }

    /// A path commits, and what follows in a block is copied behind it. None: the path has ended.
    fn commit<T>(&mut self, mut path: Path, at: BlockId) -> Option<T> {
        if path.under.is_some() {
            return None;
        }
        if path.calls.is_empty() {
            self.forward(&mut path, at);
        }
        let (here, decisions) = (self.build.here(), std::mem::take(&mut path.decisions));
        match path.calls.is_empty() && self.rest(path, at) {
            true => {
                self.decided.insert(here, decisions);
            }
            false => self.leave("stack.long".to_string()),
        }
        None
    }

    /// The name of an exit that asks a field.
    pub fn field_name(&self, kind: crate::ir::KindId, field: crate::ir::FieldId) -> String {
        self.naming.field(kind, field)
    }
}

/// The way of a branch.
enum Way {
    /// It always goes this way.
    Known(bool),
    /// It goes this way mostly.
    Likely(bool),
    /// It goes either way.
    Both,
}
