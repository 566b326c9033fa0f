//! Symbolic execution of an operation that cannot fail: values, memory, the agenda, calls.
//!
//! In: an instruction whose operands a frame has as terms. Out: terms for its results, and another
//! state. Numbers, fields and bytes of messages have their meaning; of other operations is known
//! that equal operands and equal states of what the table of effects says give equal results.

use super::{Executor, Frame, Modelled};
use crate::ir::effects::Resource;
use crate::ir::op::{Change, Op, Question, Region};
use crate::ir::{CacheId, Instruction, Value};
use crate::prove::naming::constant;
use crate::prove::symbolic::{Cell, State, Symbolic};
use crate::prove::terms::Term;

use Symbolic::Plain;

impl Executor<'_> {
    /// Executes an operation.
    pub(super) fn operate(
        &mut self,
        frame: &mut Frame<'_>,
        instruction: &Instruction,
    ) -> Modelled<()> {
        let results = self.results(frame, instruction)?;
        for (result, value) in instruction.results.iter().zip(results) {
            frame.values[result.at()] = Some(value);
        }
        Ok(())
    }

    /// Returns the results of an operation.
    fn results(
        &mut self,
        frame: &mut Frame<'_>,
        instruction: &Instruction,
    ) -> Modelled<Vec<Symbolic>> {
        Ok(match &instruction.op {
            Op::Number(..) | Op::Bytes(_) | Op::Instance(..) => {
                vec![Plain(constant(self.terms, &instruction.op))]
            }
            Op::Real(bits, number) => vec![Plain(self.terms.number((*bits).into(), *number))],
            Op::Arithmetic(_)
            | Op::Compare(_)
            | Op::Not
            | Op::Select
            | Op::ZeroExtend(_)
            | Op::SignExtend(_)
            | Op::Truncate(_)
            | Op::Concat
            | Op::Index
            | Op::At(_) => vec![self.compute(frame, instruction)],
            Op::Get(_) | Op::Put(_) | Op::PutBytes | Op::Resize(_) => {
                vec![self.compute_bytes(frame, instruction)]
            }
            Op::Text(..) | Op::Float(_) | Op::Inverse | Op::AddScaled | Op::Scale => {
                self.abstracted(frame, instruction)
            }
            Op::Read(_)
            | Op::ReadBytes(_)
            | Op::ReadPart(_)
            | Op::Write(_)
            | Op::WriteBytes
            | Op::WritePart
            | Op::Length
            | Op::Start
            | Op::InBuffer
            | Op::Attribute(_)
            | Op::With(_)
            | Op::Look
            | Op::Before
            | Op::Around
            | Op::SubView
            | Op::Push
            | Op::Pull
            | Op::Cut
            | Op::Drop(_)
            | Op::Consume
            | Op::Rewrite(_) => self.on_message(frame, instruction)?,
            Op::Load(region) => vec![Plain(self.load(frame, *region, &instruction.operands)?)],
            Op::Store(region) => {
                let (value, place) = instruction
                    .operands
                    .split_last()
                    .expect("a store has a value");
                let value = frame.plain(*value);
                self.store(frame, *region, place, value);
                Vec::new()
            }
            Op::Recompute(id) => {
                self.recompute(frame, *id, &instruction.operands);
                Vec::new()
            }
            Op::Disarm(id) => {
                let not = self.terms.bit(false);
                self.store(frame, Region::Valid(*id), &instruction.operands, not);
                Vec::new()
            }
            Op::Count(id) => {
                let one = self.terms.number(64, 1);
                self.count(frame, id.0, one)
            }
            Op::CountBy(id) => {
                let by = frame.plain(instruction.operands[0]);
                self.count(frame, id.0, by)
            }
            Op::Begin(_) | Op::Free(_) => self.lives(frame, instruction),
            Op::Call(id) => {
                let arguments = instruction
                    .operands
                    .iter()
                    .map(|one| frame.value(*one))
                    .collect();
                self.call(frame, *id, arguments)?
            }
            Op::Queue(..)
            | Op::Output(_)
            | Op::Step
            | Op::GoesOn(_)
            | Op::Precede
            | Op::Turn
            | Op::Waiting => self.on_agenda(frame, instruction),
            Op::Change(Change::ReleaseBytes, place) => self.releases(frame, instruction, *place),
            Op::Ask(Question::Ready, place) => self.is_ready(frame, instruction, *place),
            Op::Change(..) => self.abstracted(frame, instruction),
            Op::HasBuffer => vec![Plain(self.has_buffer(frame))],
            Op::Run(..)
            | Op::Yield
            | Op::Ended(_)
            | Op::End(_)
            | Op::StartTimer(..)
            | Op::StopTimer(..)
            | Op::TimerRuns(..)
            | Op::Ask(..)
            | Op::Loop(..)
            | Op::Foreign(..)
            | Op::Pass(_) => self.abstracted(frame, instruction),
            Op::Exit(_) | Op::Commit => Vec::new(),
        })
    }

    /// Returns a part of the state.
    pub(super) fn cell(&mut self, state: &State, resource: Resource) -> Term {
        state.get(self.terms, self.module, Cell::Resource(resource))
    }

    fn place(&mut self, frame: &Frame<'_>, place: &[Value]) -> Option<Term> {
        let all: Vec<Term> = place.iter().map(|one| frame.plain(*one)).collect();
        (!all.is_empty()).then(|| self.terms.concat(&all))
    }

    fn load(&mut self, frame: &mut Frame<'_>, region: Region, place: &[Value]) -> Modelled<Term> {
        let place = self.place(frame, place);
        let loaded = self.content(frame, region, place);
        if let Region::Valid(id) = region {
            self.remembers(frame, id, place, loaded)?;
        }
        Ok(loaded)
    }

    /// Returns what a region holds at a place.
    fn content(&mut self, frame: &Frame<'_>, region: Region, place: Option<Term>) -> Term {
        let held = self.cell(&frame.state, Resource::Region(region));
        place.map_or(held, |place| self.terms.select(held, place))
    }

    fn store(&mut self, frame: &mut Frame<'_>, region: Region, place: &[Value], value: Term) {
        let held = self.cell(&frame.state, Resource::Region(region));
        let place = self.place(frame, place);
        let stored = place.map_or(value, |place| self.terms.store(held, place, value));
        let cell = Cell::Resource(Resource::Region(region));
        frame.state.cells.insert(cell, stored);
    }

    fn recompute(&mut self, frame: &mut Frame<'_>, id: CacheId, operands: &[Value]) {
        let count = usize::from(self.module.caches[id.at()].kind.is_some());
        let (holder, values) = operands.split_at(count);
        for (at, value) in values.iter().enumerate() {
            let value = frame.plain(*value);
            self.recomputed
                .push((id, at as u32, frame.condition, value));
            self.store(frame, Region::Cached(id, at as u32), holder, value);
        }
        let yes = self.terms.bit(true);
        self.store(frame, Region::Valid(id), holder, yes);
    }

    /// Assumes that a cache that is valid holds what its function gives (rule 12 of the verifier).
    pub(super) fn remembers(
        &mut self,
        frame: &mut Frame<'_>,
        id: CacheId,
        holder: Option<Term>,
        valid: Term,
    ) -> Modelled<()> {
        if self.terms.constant(valid).is_some() {
            return Ok(());
        }
        let cached = 0..self.module.cached(id).len() as u32;
        let held = cached.map(|at| self.content(frame, Region::Cached(id, at), holder));
        let mut held: Vec<Term> = held.collect();
        let function = self.module.caches[id.at()].remembers;
        let results = self.module.function(function).results.len();
        let remembered = held.split_off(held.len() - results);
        let arguments = holder.into_iter().chain(held).map(Plain).collect();
        let now = self.call(frame, function, arguments)?;
        let mut same = self.terms.bit(true);
        let first = self.module.cached(id).len() - results;
        for (at, held) in remembered.iter().enumerate() {
            if self.naming.always.contains(&(id, (first + at) as u32)) {
                same = self.terms.and(same, *held);
            }
        }
        for (one, other) in remembered.into_iter().zip(now) {
            let equal = self.terms.equal(one, other.terms()[0]);
            same = self.terms.and(same, equal);
        }
        let here = self.terms.and(self.path, frame.condition);
        let here = self.terms.and(here, valid);
        let holds = self.terms.implies(here, same);
        self.assumed.push(holds);
        Ok(())
    }

    fn count(&mut self, frame: &mut Frame<'_>, counter: u32, by: Term) -> Vec<Symbolic> {
        let cell = Cell::Counter(counter);
        let counted = frame.state.get(self.terms, self.module, cell);
        let counted = self.terms.add(counted, by);
        frame.state.cells.insert(cell, counted);
        Vec::new()
    }
}
