//! The statements of functions and kernels: in, blocks of the checked program; out, graphs of
//! blocks. The body of a loop is a function of its own.

use super::needs::{bound, returns};
use crate::ir::build::Builder;
use crate::ir::op::{Arithmetic, Op};
use crate::ir::{
    self, BlockId, Edge, Function, Probability, Role, Terminator, Type as Plain, Value,
};
use crate::lower::code::{Code, Environment, Name, Turn, Way};
use crate::types::expression::{Expression, Variable};
use crate::types::program::{CountId, LocalId};
use crate::types::statement::{
    Attempt, Block, Likely, Operation, Statement, StatementKind as Kind,
};

/// A name that the body of a loop reads, and its parts.
type Captured = (Name, Vec<Value>);

impl Code<'_, '_> {
    /// Lowers a block. Returns true if control comes to its end.
    pub fn block(&mut self, block: &[Statement]) -> bool {
        for (at, statement) in block.iter().enumerate() {
            self.build.set_span(Some(statement.span));
            let rest = &block[at + 1..];
            match &statement.kind {
                Kind::Require {
                    condition,
                    likely,
                    otherwise,
                } => {
                    let bit = self.plain(condition);
                    return self.two_ways(
                        (bit, share(*likely)),
                        |code| code.block(rest),
                        |code| code.block(otherwise),
                    );
                }
                Kind::Attempt {
                    attempt: Attempt::Value(value),
                    bind,
                    likely,
                    otherwise,
                } => {
                    let mut parts = self.value(value);
                    let has = parts.remove(0);
                    return self.two_ways(
                        (has, share(*likely)),
                        |code| {
                            if let Some(local) = bind {
                                code.bind(Name::Local(*local), parts);
                            }
                            code.block(rest)
                        },
                        |code| code.block(otherwise),
                    );
                }
                _other => {
                    if !self.statement(statement) {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// Lowers a statement. Returns true if control comes to its end.
    fn statement(&mut self, statement: &Statement) -> bool {
        match &statement.kind {
            Kind::Let(local, value) => {
                let value = self.value(value);
                self.bind(Name::Local(*local), value);
            }
            Kind::Assign(variable, value) => {
                let value = self.value(value);
                self.write(variable, &value);
            }
            Kind::If {
                condition,
                likely,
                then,
                otherwise,
            } => {
                let bit = self.plain(condition);
                return self.two_ways(
                    (bit, share(*likely)),
                    |code| code.block(then),
                    |code| code.block(otherwise),
                );
            }
            Kind::Match {
                value,
                cases,
                otherwise,
            } => return self.switch(value, cases, otherwise),
            Kind::For {
                local,
                from,
                to,
                at_most,
                clamped,
                body,
            } => return self.repeat(*local, (from, to), (*at_most, *clamped), body),
            Kind::Return(value) => {
                let parts = self.value(value);
                self.leave(parts);
                return false;
            }
            Kind::Yield(value) => {
                let word = self.plain(value);
                let word = self.resized(word, self.yields);
                self.op(Op::Yield, &[word]);
            }
            Kind::Do(Operation::Call(function, arguments)) => {
                self.call(*function, arguments);
            }
            Kind::Attempt { .. }
            | Kind::Require { .. }
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
        true
    }

    /// Ends the function with its result; within a turn of a loop, the loop first.
    fn leave(&mut self, result: Vec<Value>) {
        let Some(turn) = self.turn.clone() else {
            return self.build.end(Terminator::Return(result));
        };
        let mut values = vec![self.bit(false)];
        values.extend(self.carried_values(&turn));
        values.push(self.bit(true));
        values.extend(result);
        self.build.end(Terminator::Return(values));
    }

    /// Ends a turn of a loop, behind which the next one comes.
    pub fn end_turn(&mut self) {
        let turn = self.turn.clone().expect("a turn is of a loop");
        let mut values = vec![self.bit(true)];
        values.extend(self.carried_values(&turn));
        if let Some(returned) = &turn.returned {
            values.push(self.bit(false));
            values.extend(self.zeros(returned));
        }
        self.build.end(Terminator::Return(values));
    }

    /// Ends the last turn of a loop, which goes no further.
    pub fn leave_loop(&mut self) {
        let turn = self.turn.clone().expect("a turn is of a loop");
        let mut values = vec![self.bit(false)];
        values.extend(self.carried_values(&turn));
        self.build.end(Terminator::Return(values));
    }

    fn carried_values(&self, turn: &Turn) -> Vec<Value> {
        let parts = turn.carried.iter().flat_map(|name| self.named(*name));
        parts.copied().collect()
    }

    /// Two ways, each of which says whether control comes to its end.
    pub fn two_ways(
        &mut self,
        (bit, likely): (Value, Probability),
        then: impl FnOnce(&mut Self) -> bool,
        otherwise: impl FnOnce(&mut Self) -> bool,
    ) -> bool {
        let (one, other) = self.build.branch(bit, likely);
        let before = self.environment.clone();
        let mut ways = Vec::new();
        self.build.go_to(one);
        if then(self) {
            ways.push(Way::new(self.build.here(), self.environment.clone()));
        }
        self.environment = before;
        self.build.go_to(other);
        if otherwise(self) {
            ways.push(Way::new(self.build.here(), self.environment.clone()));
        }
        self.meet_if_any(ways)
    }

    fn meet_if_any(&mut self, ways: Vec<Way>) -> bool {
        if ways.is_empty() {
            return false;
        }
        self.meet(ways, |_| true);
        true
    }

    fn switch(
        &mut self,
        value: &Expression,
        cases: &[(u64, Likely, Block)],
        otherwise: &Block,
    ) -> bool {
        let value = self.plain(value);
        let bits = self.bits_of(value);
        let blocks: Vec<BlockId> = cases.iter().map(|_| self.build.block(&[])).collect();
        let rest = self.build.block(&[]);
        let even = 1_000_000 / (cases.len() as u32 + 1);
        let edges = cases
            .iter()
            .zip(&blocks)
            .map(|((number, likely, _), block)| {
                let share = likely.map_or(Probability(even), |_| share(*likely));
                (number & ir::types::ones(bits), share, Edge::to(*block))
            });
        self.build.end(Terminator::Switch {
            value,
            cases: within_one(edges.collect()),
            otherwise: Edge::to(rest),
        });
        let before = self.environment.clone();
        let bodies = cases.iter().map(|(_, _, body)| body).chain([otherwise]);
        let mut ways = Vec::new();
        for (block, body) in blocks.into_iter().chain([rest]).zip(bodies) {
            self.build.go_to(block);
            self.environment = before.clone();
            if self.block(body) {
                ways.push(Way::new(self.build.here(), self.environment.clone()));
            }
        }
        self.meet_if_any(ways)
    }

    /// The number of turns of a loop over numbers, as an i64, and the first number. The turns
    /// beyond are counted.
    pub fn turns(
        &mut self,
        (from, to): (&Expression, &Expression),
        (at_most, clamped): (u32, Option<CountId>),
    ) -> (Value, Value) {
        let of = from.result.clone();
        let (first, last) = (self.plain(from), self.plain(to));
        let bits = self.bits_of(first);
        let less = self.in_order(&of, first, last, false);
        let distance = self.difference(last, first);
        let zero = self.number(bits, 0);
        let distance = self.value_of(Op::Select, &[less, distance, zero]);
        let distance = self.resized(distance, 64);
        if let Some(counter) = clamped {
            let most = self.number(64, u64::from(at_most));
            let taken = self.arithmetic(Arithmetic::Umin, distance, most);
            let beyond = self.difference(distance, taken);
            self.op(Op::CountBy(ir::CounterId(counter.0)), &[beyond]);
        }
        (distance, first)
    }

    fn repeat(
        &mut self,
        local: LocalId,
        range: (&Expression, &Expression),
        bound_of: (u32, Option<CountId>),
        body: &Block,
    ) -> bool {
        let (count, first) = self.turns(range, bound_of);
        if bound_of.0 == 0 {
            return true;
        }
        let assigned = bound(body);
        let carried = assigned.into_iter().map(Name::Local);
        let carried: Vec<Name> = carried.filter(|name| self.known(*name).is_some()).collect();
        let results = self.results.clone().filter(|_| returns(body));
        let turn = Turn {
            carried,
            returned: results.clone(),
        };
        let bits = self.bits_of(first);
        let captured_first = self.environment.names.insert(Name::First, vec![first]);
        let mut values = self.repeated((count, bound_of.0), turn, |code, turn| {
            let first = code.named(Name::First)[0];
            let at = code.resized(turn, bits);
            let number = code.sum_of(first, at);
            code.bind(Name::Local(local), vec![number]);
            if code.block(body) {
                code.end_turn();
            }
        });
        self.environment.names.remove(&Name::First);
        if let Some(before) = captured_first {
            self.environment.names.insert(Name::First, before);
        }
        if results.is_none() {
            return true;
        }
        let result = values.split_off(1);
        self.two_ways(
            (values[0], Probability(10_000)),
            |code| {
                code.leave(result);
                false
            },
            |_| true,
        )
    }

    /// Makes a function of the body of a loop and calls it for each turn; names that are carried
    /// have their last values behind it. Returns whether the function has returned, and its result,
    /// if it may.
    pub fn repeated(
        &mut self,
        (count, at_most): (Value, u32),
        turn: Turn,
        body: impl FnOnce(&mut Code<'_, '_>, Value),
    ) -> Vec<Value> {
        let captured = self.environment.names.iter();
        let captured = captured.filter(|(name, parts)| {
            let linear = parts
                .iter()
                .any(|part| self.build.type_of(*part).is_linear());
            !turn.carried.contains(name) && !linear
        });
        let captured: Vec<Captured> = captured
            .map(|(name, parts)| (*name, parts.clone()))
            .collect();
        let own = self.own;
        let captured_values = captured.iter().flat_map(|(_, parts)| parts.iter().copied());
        let captured_values: Vec<Value> =
            captured_values.chain(own.map(|(_, index)| index)).collect();
        let initial: Vec<Value> = self.carried_values(&turn);
        let returned = turn
            .returned
            .iter()
            .flat_map(|all| [Plain::BIT].into_iter().chain(all.iter().copied()));
        let returned: Vec<Plain> = returned.collect();
        let function = self.turn_function((&captured, &captured_values, &initial), &turn, body);
        let first = 1;
        let (function, kept) = without_unused(function, first, captured_values.len());
        let function = self.lower.add_called(function);
        let mut operands = vec![count];
        operands.extend(kept.iter().map(|at| captured_values[*at]));
        operands.extend(&initial);
        operands.extend(self.zeros(&returned));
        let mut results = self.op(Op::Loop(function, at_most), &operands);
        let rest = results.split_off(initial.len());
        let mut results = results.into_iter();
        for name in turn.carried {
            let count = self.named(name).len();
            let parts = results.by_ref().take(count).collect();
            self.bind(name, parts);
        }
        rest
    }

    fn turn_function(
        &mut self,
        (captured, captured_values, initial): (&[Captured], &[Value], &[Value]),
        turn: &Turn,
        body: impl FnOnce(&mut Code<'_, '_>, Value),
    ) -> Function {
        let returned: Vec<Plain> = match &turn.returned {
            Some(all) => [Plain::BIT]
                .into_iter()
                .chain(all.iter().copied())
                .collect(),
            None => Vec::new(),
        };
        let of = |code: &Self, value: &Value| (code.build.type_of(*value), code.build.hint(*value));
        let mut parameters = vec![(Plain::WORD, "turn".to_string())];
        parameters.extend(
            captured_values
                .iter()
                .chain(initial)
                .map(|one| of(self, one)),
        );
        parameters.extend(returned.iter().map(|of| (*of, String::new())));
        let parameters = parameters.iter().map(|(of, hint)| (*of, hint.as_str()));
        let parameters: Vec<(Plain, &str)> = parameters.collect();
        let (name, owner) = (self.build.function_name(), self.build.owner());
        let name = self.lower.unique(&format!("{name}.turn"));
        let build = Builder::new(&name, &owner, Role::Plain, &parameters);
        let mut code = Code::new(&mut *self.lower, build, self.locals);
        (code.yields, code.message) = (self.yields, self.message);
        code.results = self.results.clone();
        code.turn = Some(turn.clone());
        code.environment = Environment::default();
        let mut at = 1;
        let carried = turn
            .carried
            .iter()
            .map(|name| (*name, self.environment.names[name].len()));
        let captured = captured.iter().map(|(name, parts)| (*name, parts.len()));
        for (name, count) in captured {
            let parts = (at..at + count)
                .map(|at| code.build.parameter(at))
                .collect();
            code.environment.names.insert(name, parts);
            at += count;
        }
        if let Some((kind, _)) = self.own {
            code.own = Some((kind, code.build.parameter(at)));
            at += 1;
        }
        for (name, count) in carried {
            let parts = (at..at + count)
                .map(|at| code.build.parameter(at))
                .collect();
            code.environment.names.insert(name, parts);
            at += count;
        }
        let number = code.build.parameter(0);
        body(&mut code, number);
        let mut results = vec![Plain::BIT];
        results.extend(initial.iter().map(|value| self.build.type_of(*value)));
        results.extend(returned);
        code.build.finish(results)
    }

    /// The local that a variable is, as a name.
    pub fn name_of(variable: &Variable) -> Option<Name> {
        match variable {
            Variable::Local(local) => Some(Name::Local(*local)),
            Variable::Field(..) | Variable::Element(..) | Variable::Part(..) => None,
        }
    }
}

/// The share of runs in which a test holds.
pub fn share(likely: Likely) -> Probability {
    likely.map_or(Probability::EVEN, |percent| {
        Probability((percent * 10_000.0).round() as u32)
    })
}

/// Cases whose shares together are not more than one.
pub fn within_one(mut cases: Vec<(u64, Probability, Edge)>) -> Vec<(u64, Probability, Edge)> {
    let all: u64 = cases.iter().map(|(_, share, _)| u64::from(share.0)).sum();
    if all > 1_000_000 {
        for (_, share, _) in &mut cases {
            share.0 = (u64::from(share.0) * 1_000_000 / all) as u32;
        }
    }
    cases
}

/// Removes captured parameters that a function does not use. Returns it, and the places
/// of the others among them.
fn without_unused(mut function: Function, first: usize, count: usize) -> (Function, Vec<usize>) {
    let mut used = vec![false; function.values.len()];
    for block in &function.blocks {
        let operands = block
            .instructions
            .iter()
            .flat_map(|one| one.operands.iter().copied());
        for value in operands.chain(block.terminator.uses()) {
            used[value.at()] = true;
        }
    }
    let parameters = &mut function.blocks[0].parameters;
    let is_used = |at: &usize| used[parameters[first + at].at()];
    let kept: Vec<usize> = (0..count).filter(is_used).collect();
    let captured: Vec<Value> = kept.iter().map(|at| parameters[first + at]).collect();
    parameters.splice(first..first + count, captured);
    (function, kept)
}
