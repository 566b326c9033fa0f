//! Functions and filters, and the statements that they share with handlers.
//!
//! In: a function or filter and its arguments, or a block and the [`Body`] that it is part of.
//! Out: the result, and what a filter yields. Functions in C are supplied from outside: see
//! [`super::externs`].

use super::expression::{Evaluation, Moment};
use super::value::{Datum, fit};
use crate::types::expression::Expression;
use crate::types::program::{CountId, Filter, FilterId, FunctionId, LocalId};
use crate::types::statement::{Attempt, Block, Operation, Statement, StatementKind as Kind};
use crate::types::value::Type;
use std::cmp::Ordering;
use std::ops::ControlFlow;

/// Code that is made of statements: a handler, a function, a filter.
pub trait Body<'p> {
    /// For what its expressions read.
    fn evaluation(&mut self) -> Evaluation<'_, 'p>;

    /// Tries something; false if it failed.
    fn attempt(&mut self, attempt: &'p Attempt, bind: Option<LocalId>) -> bool;

    /// Comes to a loop over these statements.
    fn comes_to_loop(&mut self, _turn: &'p Block) {}

    /// Does a statement that is neither a binding nor a way through the code. Breaks where the
    /// code ends with it.
    fn perform(&mut self, statement: &'p Kind) -> ControlFlow<()>;
}

/// Runs a block. It breaks where the code it is part of ends.
pub fn run_block<'p>(body: &mut impl Body<'p>, block: &'p Block) -> ControlFlow<()> {
    for statement in block {
        match run_statement(body, statement) {
            Way::On => {}
            Way::Instead(otherwise) => return run_block(body, otherwise),
            Way::Out => return ControlFlow::Break(()),
        }
    }
    ControlFlow::Continue(())
}

/// How many turns a loop takes, and how many it leaves out.
pub fn turns(
    evaluation: &mut Evaluation<'_, '_>,
    (from, to): (&Expression, &Expression),
    at_most: u32,
) -> (u64, u64, u64) {
    let (first, last) = (evaluation.number(from), evaluation.number(to));
    let order = super::value::compare(evaluation.state.program, &from.result, first, last);
    let distance = match order {
        Ordering::Less => fit(&unsigned(&from.result), last.wrapping_sub(first)),
        Ordering::Equal | Ordering::Greater => 0,
    };
    let taken = distance.min(u64::from(at_most));
    (first, taken, distance - taken)
}

/// What a statement leads to.
enum Way<'p> {
    /// The next one.
    On,
    /// What takes the place of the rest of the block.
    Instead(&'p Block),
    /// The end of the code.
    Out,
}

fn run_statement<'p>(body: &mut impl Body<'p>, statement: &'p Statement) -> Way<'p> {
    let flow = match &statement.kind {
        Kind::Let(local, value) => {
            body.evaluation().bind(*local, value);
            ControlFlow::Continue(())
        }
        Kind::Attempt {
            attempt,
            bind,
            otherwise,
            ..
        } => return way_through(try_value(body, attempt, *bind), otherwise),
        Kind::Require {
            condition,
            otherwise,
            ..
        } => return way_through(body.evaluation().is_true(condition), otherwise),
        Kind::Assign(variable, value) => {
            let value = body.evaluation().value(value);
            body.evaluation().write(variable, value);
            ControlFlow::Continue(())
        }
        Kind::If { .. } | Kind::Match { .. } => run_branch(body, &statement.kind),
        Kind::For {
            local,
            from,
            to,
            at_most,
            clamped,
            body: turn,
        } => run_loop(body, *local, (from, to), (*at_most, *clamped), turn),
        Kind::Drain { .. }
        | Kind::Do(_)
        | Kind::Output(_)
        | Kind::Drop(..)
        | Kind::Consume(_)
        | Kind::Count(_)
        | Kind::StartTimer(..)
        | Kind::StopTimer(..)
        | Kind::End(..)
        | Kind::Return(_)
        | Kind::Yield(_)
        | Kind::React(_)
        | Kind::Ordered(_) => body.perform(&statement.kind),
    };
    match flow {
        ControlFlow::Continue(()) => Way::On,
        ControlFlow::Break(()) => Way::Out,
    }
}

fn way_through(holds: bool, otherwise: &Block) -> Way<'_> {
    match holds {
        true => Way::On,
        false => Way::Instead(otherwise),
    }
}

fn run_branch<'p>(body: &mut impl Body<'p>, branch: &'p Kind) -> ControlFlow<()> {
    if let Kind::If {
        condition,
        then,
        otherwise,
        ..
    } = branch
    {
        let holds = body.evaluation().is_true(condition);
        return run_block(body, if holds { then } else { otherwise });
    }
    let Kind::Match {
        value,
        cases,
        otherwise,
    } = branch
    else {
        unreachable!("a branch is an `if` or a `match`");
    };
    let value = body.evaluation().number(value);
    let case = cases.iter().find(|(case, _, _)| *case == value);
    run_block(body, case.map_or(otherwise, |(_, _, block)| block))
}

fn try_value<'p>(body: &mut impl Body<'p>, attempt: &'p Attempt, bind: Option<LocalId>) -> bool {
    let Attempt::Value(value) = attempt else {
        return body.attempt(attempt, bind);
    };
    let evaluation = body.evaluation();
    let Evaluation { state, instant } = evaluation;
    let value = Evaluation { state, instant }.optional(value);
    let there = value.is_some();
    if let (Some(value), Some(local)) = (value, bind) {
        instant.locals[local.at()] = value;
    }
    there
}

fn run_loop<'p>(
    body: &mut impl Body<'p>,
    local: LocalId,
    range: (&'p Expression, &'p Expression),
    (at_most, clamped): (u32, Option<CountId>),
    turn: &'p Block,
) -> ControlFlow<()> {
    body.comes_to_loop(turn);
    let (first, taken, beyond) = turns(&mut body.evaluation(), range, at_most);
    if let Some(counter) = clamped {
        body.evaluation().state.count(counter, beyond);
    }
    for n in 0..taken {
        let number = fit(&range.0.result, first.wrapping_add(n));
        body.evaluation().instant.locals[local.at()] = Datum::Number(number);
        run_block(body, turn)?;
    }
    ControlFlow::Continue(())
}

/// The unsigned type of the same width, in which distances are counted.
fn unsigned(kind: &Type) -> Type {
    match kind {
        Type::Unsigned(width) | Type::Signed(width) | Type::Sequence(width) => {
            Type::Unsigned(*width)
        }
        Type::Bool
        | Type::Time
        | Type::Bytes(_)
        | Type::BoundedBytes(_)
        | Type::UnboundedBytes
        | Type::Enum(_)
        | Type::Record(_)
        | Type::Optional(_)
        | Type::Message
        | Type::Queue(..)
        | Type::Window(..)
        | Type::Stream(..)
        | Type::Array(..)
        | Type::Set(_)
        | Type::Instance(_)
        | Type::Header(_)
        | Type::Abstract(_)
        | Type::Nothing => Type::Unsigned(64),
    }
}

impl<'p> Evaluation<'_, 'p> {
    /// The result of a function; its message, if it has one, is the last argument.
    pub fn call(&mut self, id: FunctionId, arguments: &[Expression]) -> Datum {
        if self.state.program.functions[id.at()].external {
            return self.call_external(id, arguments);
        }
        let function = &self.state.program.functions[id.at()];
        let (given, own) = arguments.split_at(function.arguments().min(arguments.len()));
        let arguments = self.values(given);
        let (Some(kind), [own]) = (function.kind, own) else {
            return self.call_with(id, arguments);
        };
        let own = self.number(own) as u32;
        let before = self.instant.own.insert(kind, own);
        let result = self.call_with(id, arguments);
        match before {
            Some(before) => self.instant.own.insert(kind, before),
            None => self.instant.own.remove(&kind),
        };
        result
    }

    /// What a function gives for these values.
    pub fn call_with(&mut self, id: FunctionId, mut locals: Vec<Datum>) -> Datum {
        let function = &self.state.program.functions[id.at()];
        let body = function.body.as_ref();
        let body = body.expect("a function in C is called otherwise");
        locals.resize(function.locals.len(), Datum::Absent);
        for (local, declared) in locals.iter_mut().zip(&function.locals) {
            if *local == Datum::Absent {
                *local = Datum::empty(self.state.program, &declared.kind);
            }
        }
        let mut instant = self.instant.inside(locals.into_iter().collect());
        let mut running = Running {
            state: self.state,
            instant: &mut instant,
            result: None,
            yielded: Vec::new(),
            unit: 0,
            given: 0,
            big: false,
        };
        let _ = run_block(&mut running, body);
        running
            .result
            .expect("every way through a function returns")
    }

    /// What a filter makes of bytes: its result, and what it yields.
    pub fn run_filter(
        &mut self,
        id: FilterId,
        arguments: Vec<Datum>,
        data: &[u8],
    ) -> (Option<Datum>, Vec<u8>) {
        let filter = &self.state.program.filters[id.at()];
        let locals = filter.locals.iter();
        let empty = |local| Datum::empty(self.state.program, local);
        let mut instant = self
            .instant
            .inside(locals.map(|local| empty(&local.kind)).collect());
        for (local, argument) in arguments.into_iter().enumerate() {
            instant.locals[local] = argument;
        }
        measure(&mut instant, filter.measures.length, data.len());
        for (local, begin) in &filter.state {
            let state = &mut *self.state;
            let instant = &mut instant;
            Evaluation { state, instant }.bind(*local, begin);
        }
        let mut running = Running {
            state: self.state,
            instant: &mut instant,
            result: None,
            yielded: Vec::new(),
            unit: filter.unit as usize,
            given: 0,
            big: filter.big,
        };
        running.run_over(filter, data);
        let yielded = running.yielded;
        let state = &mut *self.state;
        let instant = &mut instant;
        let result = filter.result.as_ref();
        (
            result.map(|result| Evaluation { state, instant }.value(result)),
            yielded,
        )
    }
}

/// A function or filter that runs.
struct Running<'a, 'p> {
    state: &'a mut super::state::State<'p>,
    instant: &'a mut Moment,
    result: Option<Datum>,
    yielded: Vec<u8>,
    unit: usize,
    /// How many bytes of the word at hand were there: as many come out.
    given: usize,
    big: bool,
}

/// Lets a filter know how much there is, if it reads that.
fn measure(instant: &mut Moment, measure: Option<LocalId>, number: usize) {
    if let Some(local) = measure {
        instant.locals[local.at()] = Datum::Number(number as u64);
    }
}

impl<'p> Running<'_, 'p> {
    fn run_over(&mut self, filter: &'p Filter, data: &[u8]) {
        for (place, word) in data.chunks(self.unit).enumerate() {
            measure(self.instant, filter.measures.place, place);
            measure(
                self.instant,
                filter.measures.missing,
                self.unit - word.len(),
            );
            let mut bytes = [0; 8];
            bytes[..word.len()].copy_from_slice(word);
            let number = match self.big {
                true => u64::from_be_bytes(bytes) >> (64 - 8 * self.unit),
                false => u64::from_le_bytes(bytes),
            };
            self.instant.locals[filter.word.at()] = Datum::Number(number);
            self.given = word.len();
            let tail = filter.tail.as_ref().filter(|_| word.len() < self.unit);
            let _ = run_block(self, tail.unwrap_or(&filter.each));
        }
        self.given = self.unit;
        let words = data.len().div_ceil(self.unit);
        measure(self.instant, filter.measures.place, words);
        let _ = run_block(self, &filter.finish);
    }
}

impl<'p> Body<'p> for Running<'_, 'p> {
    fn evaluation(&mut self) -> Evaluation<'_, 'p> {
        Evaluation {
            state: self.state,
            instant: self.instant,
        }
    }

    fn attempt(&mut self, attempt: &'p Attempt, _bind: Option<LocalId>) -> bool {
        unreachable!("functions try nothing but optionals, not {attempt:?}")
    }

    fn perform(&mut self, statement: &'p Kind) -> ControlFlow<()> {
        match statement {
            Kind::Return(value) => {
                self.result = Some(self.evaluation().value(value));
                ControlFlow::Break(())
            }
            Kind::Yield(value) => {
                let number = self.evaluation().number(value);
                let word = match self.big {
                    true => number << (64 - 8 * self.unit),
                    false => number.swap_bytes(),
                };
                self.yielded.extend(&word.to_be_bytes()[..self.given]);
                ControlFlow::Continue(())
            }
            Kind::Do(Operation::Call(function, arguments)) => {
                self.evaluation().call(*function, arguments);
                ControlFlow::Continue(())
            }
            Kind::Let(..)
            | Kind::Attempt { .. }
            | Kind::Require { .. }
            | Kind::Assign(..)
            | Kind::If { .. }
            | Kind::Match { .. }
            | Kind::For { .. }
            | Kind::Drain { .. }
            | Kind::Do(_)
            | Kind::Output(_)
            | Kind::Drop(..)
            | Kind::Consume(_)
            | Kind::Count(_)
            | Kind::StartTimer(..)
            | Kind::StopTimer(..)
            | Kind::End(..)
            | Kind::React(_)
            | Kind::Ordered(_) => unreachable!("functions do nothing but compute"),
        }
    }
}
