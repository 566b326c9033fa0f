//! Operations that may fail.
//!
//! In: one with its operands. Out: a condition that holds if it succeeds, and what holds its
//! results then.

use super::super::instances::soonest_name;
use super::super::types;
use super::Printer;
use super::number::Number;
use super::value::{Given, Variable, constant};
use crate::c::tree::{Expression as C, Statement as S, assign, atom, binary, call, call_statement};
use crate::ir::op::Attempt;
use crate::ir::{KindId, Role, Type, Value};

/// An operation that is tried.
pub struct Attempted {
    /// It succeeds.
    pub condition: C,
    /// Statements that stand first if it does.
    pub first: Vec<S>,
    /// Its results if it succeeds.
    pub results: Vec<Given>,
    /// Its results if it fails.
    pub back: Vec<Given>,
}

impl Attempted {
    /// One that gives nothing yet.
    pub fn new(condition: C) -> Attempted {
        Attempted {
            condition,
            first: Vec::new(),
            results: Vec::new(),
            back: Vec::new(),
        }
    }
}

impl Printer<'_> {
    /// Tries something; `results` and `back` are the parameters that hold what it gives.
    pub fn attempt(
        &mut self,
        attempt: &Attempt,
        operands: &[Value],
        (results, back): (&[Value], &[Value]),
        out: &mut Vec<S>,
    ) -> Attempted {
        if let Some(place) = attempt.place() {
            return self.attempt_in_place(attempt, place, operands, (results, back), out);
        }
        match attempt {
            Attempt::New => self.made("new_message", Vec::new(), results[0], out),
            Attempt::NewOf => {
                let bytes = self.bytes(operands[0], out).member("at");
                let count = self.code(operands[1], out);
                self.made("message_from", vec![bytes, count], results[0], out)
            }
            Attempt::Share => {
                let of = self.message(operands[0]).address();
                self.made("share", vec![of], results[0], out)
            }
            Attempt::Copy => {
                let of = self.message(operands[0]).address();
                let at = self.code(operands[1], out);
                let length = self.code(operands[2], out);
                self.made("piece", vec![of, at, length], results[0], out)
            }
            Attempt::Restore => self.restored(operands, out),
            Attempt::Pad => {
                let message = self.message(operands[0]);
                let count = self.code(operands[1], out);
                let mut tried = Attempted::new(call("pad", vec![message.address(), count]));
                tried.results = vec![Given::Message(message.clone())];
                tried.back = vec![Given::Message(message)];
                tried
            }
            Attempt::Rewrite(kernel) => self.try_rewrite(*kernel, operands, out),
            Attempt::Live(kind) => {
                let index = self.settled(operands[0], "index", out).code;
                let name = format!("live_{}", self.stack.names.kind(*kind));
                let mut tried = Attempted::new(call(name, vec![atom("stack"), index.clone()]));
                tried.results = vec![Given::Number(Number::word(index))];
                tried
            }
            Attempt::Find(kind) => self.found("find", *kind, (operands, results), out),
            Attempt::Create(kind) => self.found("create", *kind, (operands, results), out),
            Attempt::Standing(kind) => self.found("standing", *kind, (operands, results), out),
            Attempt::Recall(cache) => {
                let name = format!("recall_{}", self.stack.names.caches[cache.at()]);
                self.found_by(&name, (operands, results), out)
            }
            Attempt::Soonest(kind, timer) => {
                let name = soonest_name(self.stack, *kind, *timer, operands.len());
                self.found_by(&name, (operands, results), out)
            }
            in_place => unreachable!("{in_place:?} is about a container"),
        }
    }

    /// A message that a function makes, or not.
    pub fn made(
        &mut self,
        function: &str,
        given: Vec<C>,
        result: Value,
        out: &mut Vec<S>,
    ) -> Attempted {
        let message = self.new_message(result, out);
        let mut all = vec![atom("stack")];
        all.extend(given);
        all.push(message.address());
        let mut tried = Attempted::new(call(function, all));
        tried.results = vec![Given::Message(message)];
        tried
    }

    /// A variable for a message that is about to be made.
    pub fn new_message(&mut self, result: Value, out: &mut Vec<S>) -> Variable {
        let name = self.name(result, "made");
        out.push(S::Declare {
            kind: types::local(self.stack, Type::Message),
            name: name.clone(),
            value: None,
        });
        Variable::own(&name)
    }

    /// Takes a free buffer for an empty message; the guard has asked for it.
    pub fn taken_buffer(&mut self, result: Value) -> Attempted {
        let name = self.name(result, "made");
        let mut tried = Attempted::new(atom("true"));
        tried.first.push(S::Declare {
            kind: types::local(self.stack, Type::Message),
            name: name.clone(),
            value: Some(call(
                "blank",
                vec![call("take_buffer", vec![atom("stack")])],
            )),
        });
        tried.results = vec![Given::Message(Variable::own(&name))];
        tried
    }

    /// Stripped bytes are part of the message again, if it does not begin before them.
    fn restored(&mut self, operands: &[Value], out: &mut Vec<S>) -> Attempted {
        let message = self.message(operands[0]);
        let start = self.settled(operands[1], "start", out).code;
        let first = message.member("buffer").behind("bytes");
        let data = message.member("data");
        let own = binary("-", data.clone(), first.clone()).cast("uint32_t");
        let own = self.keep("begins", "uint32_t", own, out);
        let mut tried = Attempted::new(binary("<=", start.clone(), own.clone()));
        tried.first = vec![
            S::Assign(
                message.member("length"),
                "+=",
                binary("-", own, start.clone()),
            ),
            assign(data, binary("+", first, start)),
        ];
        tried.results = vec![Given::Message(message.clone())];
        tried.back = vec![Given::Message(message)];
        tried
    }

    fn found(
        &mut self,
        verb: &str,
        kind: KindId,
        given: (&[Value], &[Value]),
        out: &mut Vec<S>,
    ) -> Attempted {
        let name = format!("{verb}_{}", self.stack.names.kind(kind));
        let mut tried = self.found_by(&name, given, out);
        if self.function.role == Role::Fast
            && let Some(Given::Number(number)) = tried.results.first()
            && number.code != atom("SL_NONE")
        {
            // A guard computes with the index before it asks whether that makes sense.
            let capacity = atom(self.stack.module.kinds[kind.at()].capacity.to_string());
            let is_one = binary("<", number.code.clone(), capacity);
            tried.first.push(call_statement("sl_known", vec![is_one]));
        }
        tried
    }

    /// An instance that a function finds or makes, or not.
    fn found_by(
        &mut self,
        function: &str,
        (operands, results): (&[Value], &[Value]),
        out: &mut Vec<S>,
    ) -> Attempted {
        let mut given = vec![atom("stack")];
        given.extend(self.arguments(operands, out));
        let called = call(function, given);
        if !self.plan.is_used(results[0]) {
            let mut tried = Attempted::new(binary("!=", called, atom("SL_NONE")));
            tried.results = vec![Given::Number(Number::word(atom("SL_NONE")))];
            return tried;
        }
        let name = self.name(results[0], "instance");
        out.push(constant("uint32_t", &name, called));
        let mut tried = Attempted::new(binary("!=", atom(&name), atom("SL_NONE")));
        tried.results = vec![Given::Number(Number::word(atom(name)))];
        tried
    }
}
