//! Actions: in, one step of a tree; out, operations.

use super::live::Live;
use crate::ir::op::{Change, Op, Order};
use crate::ir::{Region, Value};
use crate::lower::code::{Code, Name};
use crate::tree::{Action, Loop, Range};
use crate::types::expression::{Expression, ExpressionKind, Instance, Variable};
use crate::types::program::{HeaderId, KindId, LocalId, TimerId};
use crate::types::statement::{Operation, Source, Term};
use crate::types::value::Type;

impl Code<'_, '_> {
    /// Lowers an action.
    pub fn act(&mut self, action: &Action, live: &Live) {
        match action {
            Action::Let(local, value) => self.let_local(*local, value),
            Action::Assign(variable, value) => {
                let value = self.value(value);
                self.write(variable, &value);
            }
            Action::SetAttribute(local, attribute, value) => {
                let value = self.value(value);
                let mut message = self.message(*local);
                for (part, value) in self.lower.attribute(*attribute).into_iter().zip(value) {
                    message = self.value_of(Op::With(part), &[message, value]);
                }
                self.set_message(*local, message);
            }
            Action::Strip(message, header) => self.strip(*message, *header),
            Action::StripRest(local, count) => self.strip_rest(*local, count),
            Action::Push {
                message,
                header,
                values,
                below,
            } => self.push_header(*message, *header, values, below.as_ref()),
            Action::Sum {
                bind,
                message,
                header,
                field,
                arguments,
            } => {
                let sum = self.header_sum(*message, *header, *field, arguments);
                self.bind(Name::Local(*bind), vec![sum]);
            }
            Action::Scan {
                bind,
                message,
                filter,
                arguments,
            } => {
                let data = self.data(*message);
                let result = self.run_filter(*filter, arguments, data);
                self.bind(Name::Local(*bind), result);
            }
            Action::Do(operation) => self.operate(operation),
            Action::Drop(local, reason) => {
                let message = self.take_message(*local);
                self.op(Op::Drop(crate::ir::ReasonId(reason.0)), &[message]);
            }
            Action::DropAll(variable, reason) => {
                let reason = crate::ir::ReasonId(reason.0);
                self.change(Change::DropAll(reason), variable, &[]);
            }
            Action::Consume(local) => {
                let message = self.take_message(*local);
                self.op(Op::Consume, &[message]);
            }
            Action::Count(counter) => {
                self.op(Op::Count(crate::ir::CounterId(counter.0)), &[]);
            }
            Action::Pass(way) => {
                self.op(Op::Pass(*way), &[]);
            }
            Action::StartTimer(instance, kind, timer, after) => {
                self.start_timer((*instance, *kind, *timer), after);
            }
            Action::StopTimer(instance, kind, timer) => {
                let owner = self.instance(*instance, *kind);
                let timer = crate::ir::TimerId(timer.0);
                self.op(Op::StopTimer(self.lower.kind(*kind), timer), &[owner]);
            }
            Action::End(instance, kind) => {
                let owner = self.instance(*instance, *kind);
                self.op(Op::End(self.lower.kind(*kind)), &[owner]);
            }
            Action::Free(instance, kind) => {
                let owner = self.instance(*instance, *kind);
                self.environment.freed = Some((*kind, owner));
                self.free();
            }
            Action::Loop(turns) => self.family(turns, live),
            Action::Wait(outputs) => self.wait(outputs, live),
            Action::Answer(outputs) => self.answer(outputs),
            Action::Begin => {
                let mark = self.value_of(Op::Waiting, &[]);
                self.bind(Name::Begun, vec![mark]);
            }
            Action::Put(outputs) => self.put(outputs, live),
            Action::Mark(local) => self.mark(*local),
            Action::Precede(first, mark) => self.precede(*first, *mark),
            Action::Turn => {
                let mark = self.named(Name::Begun)[0];
                self.op(Op::Turn, &[mark]);
            }
            // The leaf behind it takes the first of what was put on the agenda.
            Action::AtOnce => {
                let mark = self.named(Name::Begun).to_vec();
                self.bind(Name::Takes, mark);
            }
        }
    }

    /// Frees the instance that is to be freed, if there is one.
    pub fn free(&mut self) {
        if let Some((kind, owner)) = self.environment.freed.take() {
            self.op(Op::Free(self.lower.kind(kind)), &[owner]);
            self.environment.instances.clear();
        }
    }

    fn let_local(&mut self, local: LocalId, value: &Expression) {
        let parts = match (&*value.kind, &value.result) {
            (ExpressionKind::Read(Variable::Local(from)), Type::Message) => {
                vec![self.take_message(*from)]
            }
            _other => self.value(value),
        };
        self.bind(Name::Local(local), parts);
    }

    fn strip(&mut self, local: LocalId, header: HeaderId) {
        let program = self.lower.program;
        let mut message = self.message(local);
        let mut entities = program.entities.iter();
        let mark = entities.find(|entity| entity.header == Some(header));
        if let Some(mark) = mark.and_then(|entity| entity.mark) {
            let start = self.value_of(Op::Start, &[message]);
            let [has, at] = self.lower.attribute(mark)[..] else {
                panic!("a mark is an optional number");
            };
            let there = self.bit(true);
            message = self.value_of(Op::With(has), &[message, there]);
            let bits = crate::lower::shapes::parts(program, &program.attributes[mark.at()].kind);
            let start = self.resized(start, bits[1].bits().expect("a mark is a number"));
            message = self.value_of(Op::With(at), &[message, start]);
        }
        let least = self.word(program.headers[header.at()].least);
        let message = self.value_of(Op::Pull, &[message, least]);
        self.set_message(local, message);
        let view = self.value_of(Op::Before, &[message, least]);
        self.bind(Name::Header(header), vec![view]);
        self.environment.stripped = Some((header, least));
    }

    /// The variable part of the header that was stripped last is taken off, too.
    fn strip_rest(&mut self, local: LocalId, count: &Expression) {
        let (header, before) = self
            .environment
            .stripped
            .expect("a header is stripped in order");
        let length = self.length(local);
        let count = self.clamped(count, length);
        let message = self.message(local);
        let message = self.value_of(Op::Pull, &[message, count]);
        self.set_message(local, message);
        let all = self.sum_of(before, count);
        let view = self.value_of(Op::Before, &[message, all]);
        self.bind(Name::Header(header), vec![view]);
        self.environment.stripped = Some((header, all));
    }

    /// Takes bytes off the front of a message, as far as there are any.
    fn skip(&mut self, local: LocalId, count: &Expression) {
        let length = self.length(local);
        let count = self.clamped(count, length);
        let message = self.message(local);
        let message = self.value_of(Op::Pull, &[message, count]);
        self.set_message(local, message);
    }

    fn start_timer(
        &mut self,
        (instance, kind, timer): (Instance, KindId, TimerId),
        after: &Expression,
    ) {
        let owner = self.instance(instance, kind);
        let after = self.plain(after);
        let after = self.resized(after, 64);
        let now = self.load(Region::Now, &[]);
        let deadline = self.sum_of(now, after);
        let timer = crate::ir::TimerId(timer.0);
        self.op(
            Op::StartTimer(self.lower.kind(kind), timer),
            &[owner, deadline],
        );
    }

    fn operate(&mut self, operation: &Operation) {
        match operation {
            Operation::Skip(local, count) => self.skip(*local, count),
            Operation::Cut(local, count) => {
                let length = self.length(*local);
                let count = self.clamped(count, length);
                let message = self.message(*local);
                let message = self.value_of(Op::Cut, &[message, count]);
                self.set_message(*local, message);
            }
            Operation::ReplaceWindow(window, number, source) => {
                self.replace_message(window, number, source);
            }
            Operation::ReplaceValue(window, number, value) => {
                let mut rest = vec![self.word_value(number)];
                rest.extend(self.value(value));
                self.change(Change::Replace, window, &rest);
            }
            Operation::Release(container, to) => {
                let to = self.word_value(to);
                let how = match self.is_stream(container) {
                    true => Change::ReleaseBytes,
                    false => Change::Release,
                };
                self.change(how, container, &[to]);
            }
            Operation::Begin(stream, at) => {
                let at = self.word_value(at);
                self.change(Change::Restart, stream, &[at]);
            }
            Operation::Clear(container) => self.clear(container),
            Operation::Add(bytes, factor, term) => {
                let factor = self.plain(factor);
                let other = match term {
                    Term::Data(message) => self.data(*message),
                    Term::Bytes(other) => {
                        let parts = self.read(other);
                        *parts.last().expect("bytes have parts")
                    }
                };
                self.change_bytes(bytes, |code, value| {
                    code.value_of(Op::AddScaled, &[value, factor, other])
                });
            }
            Operation::Scale(bytes, factor) => {
                let factor = self.plain(factor);
                self.change_bytes(bytes, |code, value| {
                    code.value_of(Op::Scale, &[value, factor])
                });
            }
            Operation::Rewrite(local, filter, arguments) => {
                let arguments = self.values(arguments);
                let kernel = self.kernel(*filter);
                let mut operands = vec![self.message(*local)];
                operands.extend(arguments);
                let message = self.value_of(Op::Rewrite(kernel), &operands);
                self.set_message(*local, message);
            }
            Operation::Call(function, arguments) => {
                self.call(*function, arguments);
            }
        }
    }

    fn replace_message(&mut self, window: &Variable, number: &Expression, source: &Source) {
        let number = self.word_value(number);
        let Variable::Field(_, kind, _) = window else {
            panic!("a window is a field");
        };
        let entity = self.lower.program.kinds[kind.at()].entity;
        let counter = self.lower.program.entities[entity.at()].no_buffer;
        let (made, mut ways) = self.source(source);
        if let Some((way, message)) = made {
            self.build.go_to(way.end);
            self.environment = way.environment;
            self.change(Change::Replace, window, &[number, message]);
            let done = self.way();
            for failed in &ways {
                self.build.go_to(failed.end);
                if let Some(counter) = counter {
                    self.op(Op::Count(crate::ir::CounterId(counter.0)), &[]);
                }
            }
            ways.insert(0, done);
        }
        self.meet(ways, |_| true);
    }

    fn is_stream(&self, variable: &Variable) -> bool {
        let Variable::Field(_, kind, field) = variable else {
            return false;
        };
        let of = &self.lower.program.kinds[kind.at()].fields[field.at()].kind;
        matches!(of, Type::Stream(..))
    }

    /// Empties a set, or gives an array its first values.
    fn clear(&mut self, container: &Variable) {
        let Variable::Field(instance, kind, field) = container else {
            panic!("what is cleared is a field: {container:?}");
        };
        let declared = &self.lower.program.kinds[kind.at()].fields[field.at()];
        if let Type::Set(_) = declared.kind {
            self.change(Change::Clear, container, &[]);
            return;
        }
        let owner = self.instance(*instance, *kind);
        let index = self.index(*instance, *kind);
        let before = self.own.replace((*kind, index));
        self.reset(*kind, *field, owner);
        if let Some(initial) = &declared.initial {
            self.set_initial(*kind, *field, owner, initial);
        }
        self.own = before;
    }

    fn mark(&mut self, local: LocalId) {
        let waiting = self.value_of(Op::Waiting, &[]);
        let of = self.locals[local.at()].kind.clone();
        let waiting = self.as_type(waiting, &of);
        self.bind(Name::Local(local), vec![waiting]);
    }

    fn precede(&mut self, first: LocalId, mark: LocalId) {
        let of = self.locals[first.at()].kind.clone();
        let marks = [first, mark].map(|local| self.named(Name::Local(local))[0]);
        let marks: Vec<Value> = marks.map(|mark| self.resized(mark, 32)).to_vec();
        let behind = self.value_of(Op::Precede, &marks);
        let behind = self.as_type(behind, &of);
        self.bind(Name::Local(first), vec![behind]);
    }

    /// Runs a loop of a tree, or a family of outputs.
    pub fn family(&mut self, turns: &Loop, live: &Live) {
        match &turns.range {
            Range::Numbers {
                from,
                to,
                at_most,
                clamped,
            } => {
                let (count, first) = self.turns((from, to), (*at_most, *clamped));
                if *at_most == 0 {
                    return;
                }
                let bits = self.bits_of(first);
                let before = self.environment.names.insert(Name::First, vec![first]);
                self.turns_of(turns, (count, *at_most), live, |code, turn| {
                    let first = code.named(Name::First)[0];
                    let at = code.resized(turn, bits);
                    let number = code.sum_of(first, at);
                    code.bind(Name::Local(turns.local), vec![number]);
                });
                match before {
                    Some(before) => self.environment.names.insert(Name::First, before),
                    None => self.environment.names.remove(&Name::First),
                };
            }
            Range::Queue(queue, at_most) => {
                let count = self.number(64, u64::from(*at_most));
                let queue = queue.clone();
                self.turns_of(turns, (count, *at_most), live, |code, _| {
                    code.pop_or_leave(&queue, turns.local);
                });
            }
        }
    }

    /// Puts events on the agenda in an order.
    pub fn queue(&mut self, order: Order, events: Vec<(crate::ir::op::Target, Vec<Value>)>) {
        if events.is_empty() {
            return;
        }
        let (events, operands) = super::output::listed(events);
        self.op(Op::Queue(order, events), &operands);
    }
}
