//! Operations that cannot fail: in, one of them with its operands; out, its results in the frame.

use super::Machine;
use super::agenda::Pending;
use super::compute::{evaluate, exactly, part, written};
use super::machine_run::give_all;
use super::shapes;
use super::values::{Frame, Held, Trapped};
use crate::ir::interface::Given;
use crate::ir::op::{Change, Event, Op, Order, Place, Region};
use crate::ir::{CacheId, ForeignId, Instruction, Value};
use crate::simulate::value::Datum;

impl Machine<'_> {
    /// Does an operation.
    pub(super) fn operate(
        &mut self,
        frame: &mut Frame<'_>,
        instruction: &Instruction,
    ) -> Trapped<()> {
        match &instruction.op {
            Op::Number(..)
            | Op::Bytes(_)
            | Op::Real(..)
            | Op::Text(..)
            | Op::Float(_)
            | Op::Instance(..)
            | Op::Arithmetic(_)
            | Op::Compare(_)
            | Op::Not
            | Op::Select
            | Op::ZeroExtend(_)
            | Op::SignExtend(_)
            | Op::Truncate(_)
            | Op::Concat
            | Op::Get(_)
            | Op::Put(_)
            | Op::PutBytes
            | Op::Resize(_)
            | Op::Inverse
            | Op::AddScaled
            | Op::Scale
            | Op::Index
            | Op::Read(_)
            | Op::ReadBytes(_)
            | Op::ReadPart(_)
            | Op::SubView => evaluate(frame, &self.messages, instruction),
            Op::Write(_)
            | Op::WriteBytes
            | Op::WritePart
            | Op::Length
            | Op::InBuffer
            | Op::Start
            | Op::Attribute(_)
            | Op::With(_)
            | Op::Look
            | Op::Before
            | Op::Around
            | Op::Push
            | Op::Pull
            | Op::Cut
            | Op::Drop(_)
            | Op::Consume => self.on_message(frame, instruction),
            Op::At(_)
            | Op::Ended(_)
            | Op::Begin(_)
            | Op::End(_)
            | Op::Free(_)
            | Op::StartTimer(..)
            | Op::StopTimer(..)
            | Op::TimerRuns(..) => self.on_instance(frame, instruction),
            Op::Load(_)
            | Op::Store(_)
            | Op::Ask(..)
            | Op::Change(..)
            | Op::Recompute(_)
            | Op::Disarm(_) => self.on_memory(frame, instruction),
            Op::Queue(..)
            | Op::Output(_)
            | Op::Waiting
            | Op::Precede
            | Op::Turn
            | Op::GoesOn(_)
            | Op::Step => self.on_agenda(frame, instruction),
            Op::Run(..) | Op::Rewrite(_) | Op::Yield | Op::Call(_) | Op::Loop(..) => {
                self.call_out(frame, instruction)
            }
            Op::HasBuffer => {
                let free = Held::bit(self.messages.has_buffer());
                give_all(frame, instruction, vec![free])
            }
            Op::Foreign(id, places) => self.call_in_c(frame, instruction, *id, places),
            Op::Count(counter) => {
                self.messages.fates.counts[counter.at()] += 1;
                Ok(())
            }
            Op::CountBy(counter) => {
                let [times] = exactly(&instruction.operands)?;
                self.messages.fates.counts[counter.at()] += frame.number(times)?;
                Ok(())
            }
            Op::Pass(way) => {
                *self.passed.entry(*way).or_default() += 1;
                Ok(())
            }
            Op::Exit(_) | Op::Commit => Ok(()),
        }
    }

    fn on_message(&mut self, frame: &mut Frame<'_>, instruction: &Instruction) -> Trapped<()> {
        let operands = &instruction.operands[..];
        let result = match &instruction.op {
            Op::Write(_) | Op::WriteBytes | Op::WritePart => {
                return self.write(frame, &instruction.op, operands);
            }
            Op::Length => Held::word(match frame.get(operands[0])? {
                Held::Message(handle) => handle.length,
                _view => frame.view(operands[0])?.length,
            }),
            Op::InBuffer => {
                frame.message(operands[0])?;
                Held::bit(true)
            }
            Op::Start => Held::word(frame.message(operands[0])?.start),
            Op::Attribute(id) => frame.message(operands[0])?.attributes[id.at()].clone(),
            Op::Look => Held::View(frame.message(operands[0])?.look()),
            Op::Before | Op::Around => {
                let count = frame.word(operands[1])? as usize;
                let message = frame.message(operands[0])?;
                Held::View(match &instruction.op {
                    Op::Around => message.around(count)?,
                    _before => message.before(count)?,
                })
            }
            Op::With(id) => {
                let [message, value] = exactly(operands)?;
                let value = frame.take(value)?;
                let mut message = frame.take_message(message)?;
                message.attributes[id.at()] = value;
                Held::message(message)
            }
            Op::Push | Op::Pull | Op::Cut => {
                let [message, count] = exactly(operands)?;
                let count = frame.word(count)? as usize;
                let mut message = frame.take_message(message)?;
                match instruction.op {
                    Op::Push => message.push(count)?,
                    Op::Pull => message.pull(count)?,
                    _ => message.cut(count)?,
                }
                Held::message(message)
            }
            Op::Drop(reason) => {
                let message = frame.take_message(operands[0])?;
                self.messages.discard(message, *reason);
                return Ok(());
            }
            Op::Consume => {
                let message = frame.take_message(operands[0])?;
                self.messages.consume(message);
                return Ok(());
            }
            other => unreachable!("{other:?} is not about a message"),
        };
        give_all(frame, instruction, vec![result])
    }

    fn write(&mut self, frame: &Frame<'_>, op: &Op, operands: &[Value]) -> Trapped<()> {
        let (message, rest) = operands.split_first().ok_or("a message is missing")?;
        let message = frame.message(*message)?;
        let (at, bytes) = match op {
            Op::Write(number) => {
                let [at, value] = exactly(rest)?;
                (at, written(*number, frame.number(value)?))
            }
            Op::WriteBytes => {
                let [at, bytes] = exactly(rest)?;
                (at, frame.bytes(bytes)?.to_vec())
            }
            Op::WritePart => {
                let [at, bytes, count] = exactly(rest)?;
                let bytes = frame.bytes(bytes)?;
                (at, part(&bytes, 0, frame.word(count)?)?.to_vec())
            }
            other => unreachable!("{other:?} does not write"),
        };
        let at = frame.word(at)? as usize;
        self.messages.write(message, at, &bytes)
    }

    fn on_instance(&mut self, frame: &mut Frame<'_>, instruction: &Instruction) -> Trapped<()> {
        let operands = &instruction.operands[..];
        let index = frame.word(operands[0])?;
        let results = match &instruction.op {
            Op::At(kind) => {
                if !self.memory.is_live(*kind, index) {
                    return Err(format!("the instance {index} has no state"));
                }
                vec![Held::Number(index.into())]
            }
            Op::Ended(kind) => vec![Held::bit(self.memory.has_ended(*kind, index))],
            Op::Begin(kind) => {
                let keys = frame.take_all(&operands[1..])?;
                self.memory.begin(*kind, index, keys)?;
                vec![Held::Number(index.into())]
            }
            Op::End(kind) => {
                self.waits_no_more(*kind, index);
                self.memory.unlink(*kind, index);
                Vec::new()
            }
            Op::Free(kind) => {
                self.memory.free(*kind, index, &mut self.messages)?;
                Vec::new()
            }
            Op::StartTimer(kind, timer) => {
                let deadline_ns = frame.number(operands[1])?;
                let timers = &mut self.memory.timers;
                timers.start((*kind, index, *timer), deadline_ns);
                Vec::new()
            }
            Op::StopTimer(kind, timer) => {
                self.memory.timers.stop(&(*kind, index, *timer));
                Vec::new()
            }
            Op::TimerRuns(kind, timer) => {
                let timers = &self.memory.timers;
                vec![Held::bit(timers.is_running(&(*kind, index, *timer)))]
            }
            other => unreachable!("{other:?} is not about an instance"),
        };
        give_all(frame, instruction, results)
    }

    fn on_memory(&mut self, frame: &mut Frame<'_>, instruction: &Instruction) -> Trapped<()> {
        let operands = &instruction.operands[..];
        let results = match &instruction.op {
            Op::Load(region) => {
                let place = words(frame, operands)?;
                if let Region::Valid(cache) = region {
                    self.check(*cache, &place)?;
                }
                vec![self.memory.load(*region, &place, self.now_ns)?]
            }
            Op::Store(region) => {
                let (value, place) = operands.split_last().ok_or("a value is missing")?;
                let place = words(frame, place)?;
                let value = frame.take(*value)?;
                self.memory.store(*region, &place, value)?;
                Vec::new()
            }
            Op::Ask(question, place) => {
                let (place_of, rest) = self.split(*place, operands);
                let at = words(frame, place_of)?;
                let numbers = words(frame, rest)?;
                self.memory.cell(*place, &at)?.ask(*question, &numbers)?
            }
            Op::Change(how, place) => self.change(frame, *how, *place, operands)?,
            Op::Recompute(cache) => {
                let count = usize::from(self.module.caches[cache.at()].kind.is_some());
                let (holder, values) = operands.split_at(count);
                let holder = words(frame, holder)?;
                let values = frame.take_all(values)?;
                self.memory.recompute(*cache, &holder, values)?;
                Vec::new()
            }
            Op::Disarm(cache) => {
                let holder = words(frame, operands)?;
                let region = Region::Valid(*cache);
                self.memory.store(region, &holder, Held::bit(false))?;
                Vec::new()
            }
            other => unreachable!("{other:?} is not about memory"),
        };
        give_all(frame, instruction, results)
    }

    fn change(
        &mut self,
        frame: &mut Frame<'_>,
        how: Change,
        place: Place,
        operands: &[Value],
    ) -> Trapped<Vec<Held>> {
        let (place_of, rest) = self.split(place, operands);
        let at = words(frame, place_of)?;
        let (numbers, item) = match how {
            Change::Replace => rest.split_at(1),
            _plain => (rest, &[][..]),
        };
        let numbers = words(frame, numbers)?;
        let item = frame.take_all(item)?;
        let stored = &self.module.field(place.kind, place.field).stored;
        let cell = self.memory.cell(place, &at)?;
        cell.change(how, stored, (&numbers, item), &mut self.messages)
    }

    /// The operands that say where a container is, and the others.
    pub(super) fn split<'v>(
        &self,
        place: Place,
        operands: &'v [Value],
    ) -> (&'v [Value], &'v [Value]) {
        let field = self.module.field(place.kind, place.field);
        operands.split_at(1 + field.dimensions.len())
    }

    /// A cache that is valid holds what its function gives now.
    pub(super) fn check(&mut self, id: CacheId, holder: &[u32]) -> Trapped<()> {
        let valid = self.memory.load(Region::Valid(id), holder, self.now_ns)?;
        if valid == Held::bit(false) {
            return Ok(());
        }
        let all = self.module.cached(id).len() as u32;
        let held = (0..all).map(|at| {
            let region = Region::Cached(id, at);
            self.memory.load(region, holder, self.now_ns)
        });
        let mut held = held.collect::<Trapped<Vec<Held>>>()?;
        let cache = &self.module.caches[id.at()];
        let results = self.module.function(cache.remembers).results.len();
        let remembered = held.split_off(held.len() - results);
        let instance = holder.iter().map(|index| Held::Number((*index).into()));
        let arguments = instance.chain(held).collect();
        let now = self.call(cache.remembers, arguments);
        match now == remembered {
            true => Ok(()),
            false => Err(format!("the cache holds {remembered:?}, not {now:?}")),
        }
    }

    fn on_agenda(&mut self, frame: &mut Frame<'_>, instruction: &Instruction) -> Trapped<()> {
        let operands = &instruction.operands[..];
        let results = match &instruction.op {
            Op::Queue(order, all) => {
                let events = events(frame, all, operands)?;
                self.agenda.queue(*order, events, &mut self.messages);
                Vec::new()
            }
            Op::Output(all) => {
                let events = events(frame, all, operands)?;
                self.answer_all(events);
                Vec::new()
            }
            Op::Waiting => vec![Held::word(self.agenda.waiting.len())],
            Op::Precede => {
                let [from, since] = exactly(operands)?;
                let (from, since) = (frame.word(from)?, frame.word(since)?);
                if from > since || since as usize > self.agenda.waiting.len() {
                    return Err(format!("{from} and {since} are no marks"));
                }
                vec![Held::word(
                    self.agenda.precede(from as usize, since as usize),
                )]
            }
            Op::Turn => {
                let mark = frame.word(operands[0])? as usize;
                let since = self.agenda.waiting.get_mut(mark..);
                since.ok_or("this is no mark")?.reverse();
                Vec::new()
            }
            Op::GoesOn(steps) => vec![Held::bit(self.goes_on(*steps))],
            Op::Step => {
                self.steps += frame.word(operands[0])?;
                Vec::new()
            }
            other => unreachable!("{other:?} is not about the agenda"),
        };
        give_all(frame, instruction, results)
    }

    /// Calls a function in C: data that it rewrites keeps its length.
    fn call_in_c(
        &mut self,
        frame: &mut Frame<'_>,
        instruction: &Instruction,
        id: ForeignId,
        places: &[Place],
    ) -> Trapped<()> {
        let foreign = &self.module.foreigns[id.0 as usize];
        let mut rest = &instruction.operands[..];
        let mut places = places.iter();
        let mut given = Vec::new();
        let mut left = Vec::new();
        for (_, parameter) in &foreign.parameters {
            let place = match parameter {
                Given::State(_) => places.next(),
                _value => None,
            };
            let count = match (parameter, place) {
                (Given::Value(shape) | Given::Changed(shape), _) => shape.parts().len(),
                (_, Some(place)) => self.split(*place, rest).0.len(),
                _data => 1,
            };
            let (own, others) = rest.split_at(count);
            rest = others;
            given.push(match parameter {
                Given::Value(shape) | Given::Changed(shape) => {
                    shapes::datum(shape, &frame.take_all(own)?)
                }
                Given::Data => {
                    let view = frame.view(own[0])?;
                    Datum::Bytes(self.messages.viewed(view)?.to_vec())
                }
                Given::Rewritten => {
                    let message = frame.message(own[0])?;
                    Datum::Bytes(self.messages.data(message).to_vec())
                }
                Given::State(_) => {
                    let place = place.ok_or("a place is missing")?;
                    let at = words(frame, own)?;
                    Datum::Bytes(self.memory.cell(*place, &at)?.foreign()?)
                }
            });
            left.push((parameter, own, place));
        }
        let result = self.host.clone().function(self, foreign, &mut given);
        let mut changed = Vec::new();
        for ((parameter, own, place), datum) in left.into_iter().zip(given) {
            match (parameter, place, datum) {
                (Given::Rewritten, _, Datum::Bytes(bytes)) => {
                    let message = frame.message(own[0])?;
                    if message.length != bytes.len() {
                        return Err("data that C rewrites keeps its length".to_string());
                    }
                    self.messages.write(message, 0, &bytes)?;
                }
                (Given::State(_), Some(place), Datum::Bytes(bytes)) => {
                    let at = words(frame, own)?;
                    self.memory.cell(*place, &at)?.set_foreign(&bytes)?;
                }
                (Given::Changed(shape), _, datum) => changed.extend(shapes::parts(shape, &datum)),
                _unchanged => {}
            }
        }
        let shape = foreign.result.as_ref();
        let mut results = shape.map_or(Vec::new(), |shape| shapes::parts(shape, &result));
        results.extend(changed);
        give_all(frame, instruction, results)
    }

    /// Events leave the stack.
    fn answer_all(&mut self, events: Vec<Pending>) {
        let mut admitted = Vec::new();
        self.agenda.admit(events, &mut admitted, &mut self.messages);
        for event in admitted {
            match self.module.calls_application(event.target) {
                true => {
                    let waited = true;
                    let event = Pending { waited, ..event };
                    self.agenda
                        .queue(Order::Back, vec![event], &mut self.messages);
                }
                false => self.answer(event),
            }
        }
    }
}

/// Numbers that say where something is.
pub(super) fn words(frame: &Frame<'_>, operands: &[Value]) -> Trapped<Vec<u32>> {
    operands.iter().map(|value| frame.word(*value)).collect()
}

/// Events with their arguments.
fn events(frame: &mut Frame<'_>, all: &[Event], operands: &[Value]) -> Trapped<Vec<Pending>> {
    let mut rest = operands;
    let mut events = Vec::new();
    for event in all {
        let (own, others) = rest.split_at(event.arguments as usize);
        rest = others;
        events.push(Pending::new(event.target, frame.take_all(own)?));
    }
    Ok(events)
}
