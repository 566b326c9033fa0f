//! Attempts: in, an attempt of a tree; out, the ways on which it succeeds and fails.

use super::live::Live;
use crate::ir::op::{Arithmetic, Attempt as Tried, Op, Question};
use crate::ir::{Probability, Region, Terminator, Value};
use crate::lower::code::{Code, Name, Turn, Way};
use crate::tree::Loop;
use crate::types::expression::{Expression, Instance, Variable};
use crate::types::program::{AttributeId, FilterId, HeaderId, KindId, LocalId};
use crate::types::statement::{Attempt, Search, Source};

/// The ways on which something succeeds, and those on which it fails.
pub type Ways = (Vec<Way>, Vec<Way>);

impl Code<'_, '_> {
    /// Tries something; where it succeeds, its result is bound.
    pub fn attempt(
        &mut self,
        attempt: &Attempt,
        bind: Option<LocalId>,
        likely: Probability,
    ) -> Ways {
        match attempt {
            Attempt::Instance(searches) => {
                let [search] = &searches[..] else {
                    panic!("a tree looks for one instance at a time");
                };
                self.search(search, bind, likely)
            }
            Attempt::Value(_) => unreachable!("an optional's value is a test and a binding"),
            Attempt::Pop(queue) | Attempt::PopValue(queue) => {
                let (place, operands) = self.container(queue);
                self.bound_attempt(Tried::Pop(place), &operands, bind, likely)
            }
            Attempt::TakeValue(window, number) | Attempt::TakeWindow(window, number) => {
                let (place, mut operands) = self.container(window);
                operands.push(self.word_value(number));
                self.bound_attempt(Tried::Take(place), &operands, bind, likely)
            }
            Attempt::ShareWindow(window, number) => {
                let (place, mut operands) = self.container(window);
                operands.push(self.word_value(number));
                self.bound_attempt(Tried::ShareItem(place), &operands, bind, likely)
            }
            Attempt::Push(queue, source) => self.keep(queue, None, source, likely),
            Attempt::InsertWindow(window, number, source) => {
                let number = self.word_value(number);
                self.keep(window, Some(number), source, likely)
            }
            Attempt::PushValue(queue, value) => {
                let (place, mut operands) = self.container(queue);
                operands.extend(self.value(value));
                self.bound_attempt(Tried::PushItem(place), &operands, None, likely)
            }
            Attempt::InsertValue(window, number, value) => {
                let (place, mut operands) = self.container(window);
                operands.push(self.word_value(number));
                operands.extend(self.value(value));
                self.bound_attempt(Tried::Insert(place), &operands, None, likely)
            }
            Attempt::InsertStream(stream, at, message) => {
                let (place, mut operands) = self.container(stream);
                operands.push(self.word_value(at));
                self.moved_attempt(Tried::InsertBytes(place), operands, *message, likely)
            }
            Attempt::AppendStream(stream, message) => {
                let (place, operands) = self.container(stream);
                self.moved_attempt(Tried::AppendBytes(place), operands, *message, likely)
            }
            Attempt::Peek(message, header) => self.peeked(*message, *header, bind, likely),
            Attempt::Restore(message, mark) => self.restore(*message, *mark, likely),
            Attempt::Pad(message, count) => {
                let most = self.word(u32::MAX);
                let count = self.clamped(count, most);
                self.changed_attempt(Tried::Pad, *message, &[count], likely)
            }
            Attempt::Rewrite(message, filter, arguments) => {
                self.rewrite(*message, *filter, arguments, likely)
            }
            Attempt::Message(source) => {
                let (made, failed) = self.source_with(source, likely);
                let made = made.map(|(way, message)| self.with_bound(way, bind, vec![message]));
                (made.into_iter().collect(), failed)
            }
        }
    }

    /// Tries something whose results are bound.
    fn bound_attempt(
        &mut self,
        attempt: Tried,
        operands: &[Value],
        bind: Option<LocalId>,
        likely: Probability,
    ) -> Ways {
        let before = self.environment.clone();
        let (done, failed) = self.attempt_op(attempt, operands, likely);
        let results = self.build.parameters_of(done);
        let succeeded = Way::new(done, before.clone());
        let succeeded = self.with_bound(succeeded, bind, results);
        (vec![succeeded], vec![Way::new(failed, before)])
    }

    /// Tries something that takes a message, which comes back if it fails.
    fn moved_attempt(
        &mut self,
        attempt: Tried,
        mut operands: Vec<Value>,
        local: LocalId,
        likely: Probability,
    ) -> Ways {
        operands.push(self.take_message(local));
        let before = self.environment.clone();
        let (done, failed) = self.attempt_op(attempt, &operands, likely);
        let back = self.build.parameters_of(failed);
        let fails = Way::new(failed, before.clone());
        let fails = self.with_bound(fails, Some(local), back);
        (vec![Way::new(done, before)], vec![fails])
    }

    /// Tries something that gives the next handle of a message, or the old one back.
    fn changed_attempt(
        &mut self,
        attempt: Tried,
        local: LocalId,
        rest: &[Value],
        likely: Probability,
    ) -> Ways {
        let mut operands = vec![self.take_message(local)];
        operands.extend(rest);
        let before = self.environment.clone();
        let (done, failed) = self.attempt_op(attempt, &operands, likely);
        let ways = [done, failed].map(|block| {
            let handle = self.build.parameters_of(block);
            self.with_bound(Way::new(block, before.clone()), Some(local), handle)
        });
        let [done, failed] = ways;
        (vec![done], vec![failed])
    }

    /// Binds a local on a way.
    fn with_bound(&mut self, way: Way, bind: Option<LocalId>, parts: Vec<Value>) -> Way {
        self.environment = way.environment;
        if let Some(local) = bind {
            self.bind(Name::Local(local), parts);
        }
        Way::new(way.end, self.environment.clone())
    }

    /// An instance is looked for, or made.
    fn search(&mut self, search: &Search, bind: Option<LocalId>, likely: Probability) -> Ways {
        let (attempt, kind, operands) = match search {
            Search::Find(target) => {
                let keys = self.values(&target.keys);
                (Tried::Find(self.lower.kind(target.kind)), target.kind, keys)
            }
            Search::Soonest(kind, timer, keys) => {
                let keys = self.values(keys);
                let timer = crate::ir::TimerId(timer.0);
                (Tried::Soonest(self.lower.kind(*kind), timer), *kind, keys)
            }
            Search::Standing(kind, on) => {
                let below = self.lower.program.stands_on(*kind);
                let below = below.expect("what stands on a session has it as its key");
                let below = self.index(*on, below);
                (Tried::Standing(self.lower.kind(*kind)), *kind, vec![below])
            }
            Search::Create(kind, keys, listener) => {
                return self.creation(*kind, keys, *listener, bind, likely);
            }
        };
        let before = self.environment.clone();
        let (done, failed) = self.attempt_op(attempt, &operands, likely);
        let found = self.found(done, before.clone(), kind, bind);
        (vec![found], vec![Way::new(failed, before)])
    }

    /// The way on which an instance was found, whose index is bound.
    fn found(
        &mut self,
        done: crate::ir::BlockId,
        before: crate::lower::code::Environment,
        kind: KindId,
        bind: Option<LocalId>,
    ) -> Way {
        self.build.go_to(done);
        self.environment = before;
        let instance = self.build.parameter_of(done, 0);
        let index = self.index_of(instance, kind);
        if let Some(local) = bind {
            self.bind(Name::Local(local), vec![index]);
        }
        self.way()
    }

    /// An instance is made, for a listener if there is room at it.
    fn creation(
        &mut self,
        kind: KindId,
        keys: &[Expression],
        listener: Option<Instance>,
        bind: Option<LocalId>,
        likely: Probability,
    ) -> Ways {
        let keys = self.values(keys);
        let mut failed = Vec::new();
        let listening = self.lower.program.listening(kind).map(|(_, how)| how);
        let by = listener.zip(listening);
        let by = by.map(|(listener, how)| (self.index(listener, how.listener), how));
        if let Some((index, how)) = by {
            let owner = self.instance_at(index, how.listener);
            let [waiting, backlog] = [how.waiting, how.backlog].map(|field| {
                let field = self.lower.field(how.listener, field);
                let region = Region::Field(self.lower.kind(how.listener), field);
                self.load(region, &[owner])
            });
            let has_place = self.compare(crate::ir::op::Compare::Ult, waiting, backlog);
            let (one, other) = self.build.branch(has_place, likely);
            failed.push(Way::new(other, self.environment.clone()));
            self.build.go_to(one);
        }
        let before = self.environment.clone();
        let created = Tried::Create(self.lower.kind(kind));
        let (done, no_slot) = self.attempt_op(created, &keys, likely);
        failed.push(Way::new(no_slot, before.clone()));
        self.build.go_to(done);
        self.environment = before;
        let instance = self.build.parameter_of(done, 0);
        let index = self.index_of(instance, kind);
        self.first_state(kind, index, &keys);
        if let Some((listener, how)) = by {
            self.waits_at(how, index, listener);
        }
        if let Some(local) = bind {
            self.bind(Name::Local(local), vec![index]);
        }
        (vec![self.way()], failed)
    }

    /// A queue or window takes a message, if it has a place for it.
    fn keep(
        &mut self,
        container: &Variable,
        number: Option<Value>,
        source: &Source,
        likely: Probability,
    ) -> Ways {
        let (place, mut operands) = self.container(container);
        operands.extend(number);
        let attempt = match number {
            None => Tried::PushItem(place),
            Some(_) => Tried::Insert(place),
        };
        if let Source::Local(local) = source {
            return self.moved_attempt(attempt, operands, *local, likely);
        }
        // A message is made only if there is a place for it.
        let takes = self.value_of(Op::Ask(Question::Takes, place), &operands);
        let (one, other) = self.build.branch(takes, likely);
        let mut failed = vec![Way::new(other, self.environment.clone())];
        self.build.go_to(one);
        let (made, not_made) = self.source_with(source, likely);
        failed.extend(not_made);
        let Some((way, message)) = made else {
            return (Vec::new(), failed);
        };
        self.build.go_to(way.end);
        self.environment = way.environment.clone();
        operands.push(message);
        let (done, refused) = self.attempt_op(attempt, &operands, Probability::ONE);
        self.build.go_to(refused);
        let back = self.build.parameter_of(refused, 0);
        self.op(Op::Consume, &[back]);
        self.build.end(Terminator::Never);
        (vec![Way::new(done, way.environment)], failed)
    }

    fn peeked(
        &mut self,
        message: LocalId,
        header: HeaderId,
        bind: Option<LocalId>,
        likely: Probability,
    ) -> Ways {
        let view = self.data(message);
        let bit = self.peek(message, header);
        let (one, other) = self.build.branch(bit, likely);
        let failed = self.environment.clone();
        let done = Way::new(one, failed.clone());
        let done = self.with_bound(done, bind, vec![view]);
        (vec![done], vec![Way::new(other, failed)])
    }

    fn restore(&mut self, message: LocalId, mark: AttributeId, likely: Probability) -> Ways {
        let parts = self.attribute(message, mark);
        let (has, start) = (parts[0], parts[1]);
        let (one, other) = self.build.branch(has, likely);
        let mut failed = vec![Way::new(other, self.environment.clone())];
        self.build.go_to(one);
        let start = self.resized(start, 32);
        let (done, fails) = self.changed_attempt(Tried::Restore, message, &[start], likely);
        failed.extend(fails);
        (done, failed)
    }

    fn rewrite(
        &mut self,
        message: LocalId,
        filter: FilterId,
        arguments: &[Expression],
        likely: Probability,
    ) -> Ways {
        let arguments = self.values(arguments);
        let kernel = self.kernel(filter);
        self.changed_attempt(Tried::Rewrite(kernel), message, &arguments, likely)
    }

    /// The message of a source, and the way on which it is there; and those on which no buffer was
    /// free.
    pub fn source(&mut self, source: &Source) -> (Option<(Way, Value)>, Vec<Way>) {
        self.source_with(source, Probability(999_000))
    }

    fn source_with(
        &mut self,
        source: &Source,
        likely: Probability,
    ) -> (Option<(Way, Value)>, Vec<Way>) {
        let (attempt, operands) = match source {
            Source::Local(local) => {
                let message = self.take_message(*local);
                return (Some((self.way(), message)), Vec::new());
            }
            Source::New => (Tried::New, Vec::new()),
            Source::NewFrom(bytes, count) => {
                let parts = self.read(bytes);
                let data = *parts.last().expect("bytes have parts");
                let length = match (&parts[..], self.build.type_of(data)) {
                    ([length, _], _) => *length,
                    (_, crate::ir::Type::Bytes(length)) => self.word(length),
                    _ => unreachable!("bytes are of a type of bytes"),
                };
                let count = self.clamped(count, length);
                (Tried::NewOf, vec![data, count])
            }
            Source::Share(local) => (Tried::Share, vec![self.message(*local)]),
            Source::Piece(local, at, length) => {
                let whole = self.length(*local);
                let at = self.clamped(at, whole);
                let rest = self.difference(whole, at);
                let length = self.clamped(length, rest);
                (Tried::Copy, vec![self.message(*local), at, length])
            }
            Source::TakeStream(stream, count) => {
                let (place, mut operands) = self.container(stream);
                operands.push(self.word_value(count));
                (Tried::TakeBytes(place), operands)
            }
            Source::SliceStream(stream, at, count) => {
                let (place, mut operands) = self.container(stream);
                operands.extend([self.word_value(at), self.word_value(count)]);
                (Tried::CopyBytes(place), operands)
            }
        };
        let before = self.environment.clone();
        let (done, failed) = self.attempt_op(attempt, &operands, likely);
        let message = self.build.parameter_of(done, 0);
        let done = Way::new(done, before.clone());
        (Some((done, message)), vec![Way::new(failed, before)])
    }

    /// In a turn of a loop: the next item of a queue, or the loop ends.
    pub fn pop_or_leave(&mut self, queue: &Variable, bind: LocalId) {
        let (place, operands) = self.container(queue);
        let before = self.environment.clone();
        let (done, empty) = self.attempt_op(Tried::Pop(place), &operands, Probability::EVEN);
        self.build.go_to(empty);
        self.leave_loop();
        self.build.go_to(done);
        self.environment = before;
        let item = self.build.parameters_of(done);
        self.bind(Name::Local(bind), item);
    }

    /// The turns of a loop of a tree: messages that its body looks at go from turn to turn.
    pub fn turns_of(
        &mut self,
        turns: &Loop,
        (count, at_most): (Value, u32),
        live: &Live,
        begin: impl FnOnce(&mut Code<'_, '_>, Value),
    ) {
        let needed = live.at(turns.body);
        let names = self.environment.names.iter();
        let carried = names.filter(|(name, parts)| {
            let linear = parts
                .iter()
                .any(|part| self.build.type_of(*part).is_linear());
            linear && needed.contains(name)
        });
        let turn = Turn {
            carried: carried.map(|(name, _)| *name).collect(),
            returned: None,
        };
        let body = turns.body;
        self.repeated((count, at_most), turn, |code, number| {
            begin(code, number);
            code.graph(body, live);
        });
    }

    /// The lesser of two numbers without sign.
    pub fn at_most(&mut self, one: Value, other: Value) -> Value {
        self.arithmetic(Arithmetic::Umin, one, other)
    }
}
