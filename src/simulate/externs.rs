//! What is written in C, as interpreters have it: functions, and what ports and links call.
//!
//! In: for each name a function that does what the C does, from whoever runs a stack. Out: its
//! results. An interpreter has none of its own: [`Externs::missing`] says what a program needs and
//! is not there, and a stack that needs something is not to be run without.
//!
//! ```text
//! extern fn mix(key: bytes[4], data: bytes) -> u32
//!     externs.function("mix", |given| Datum::Number(…))     given: [Bytes of the key, Bytes]
//! port messages calls arrived
//!     externs.port("arrived", |what, call| { call(&Call::Send { … }); 0 })
//! link radio calls leaves
//!     externs.link("leaves", |frame, call| …)
//! ```

use super::coders;
use super::expression::Evaluation;
use super::state::Emitted;
use super::trace::Call;
use super::value::{Datum, fit};
use crate::types::expression::{Expression, ExpressionKind, Variable};
#[cfg(doc)]
use crate::types::program::Port;
use crate::types::program::{FunctionId, Program};
use crate::types::value::Type;
use std::collections::BTreeMap;
use std::fmt;

/// A function in C. Data that it is given is [`Datum::Bytes`], and so is what only C knows: no
/// bytes at first, and then whatever the function leaves there. Data that it rewrites keeps its
/// length.
pub type Function<'e> = dyn Fn(&mut [Datum]) -> Datum + 'e;

/// What an application is called with, and how it calls the ports of the stack: each call gives
/// what the function in C would return. It gives back how much more may come up, which counts where
/// a message came up to a port whose sessions count that ([`Port::granted`]).
pub type Application<'e> = dyn Fn(&Emitted, &mut dyn FnMut(&Call) -> Option<u64>) -> u64 + 'e;

/// What a link calls with each frame that leaves, and how that calls the stack.
pub type Leaving<'e> = dyn Fn(&Emitted, &mut dyn FnMut(&Call) -> Option<u64>) + 'e;

/// All that a stack calls.
#[derive(Default)]
pub struct Externs<'e> {
    functions: BTreeMap<String, Box<Function<'e>>>,
    ports: BTreeMap<String, Box<Application<'e>>>,
    links: BTreeMap<String, Box<Leaving<'e>>>,
}

impl<'e> Externs<'e> {
    /// Supplies what an `extern fn` does.
    pub fn function(&mut self, name: &str, does: impl Fn(&mut [Datum]) -> Datum + 'e) {
        self.functions.insert(name.to_string(), Box::new(does));
    }

    /// Supplies what a port `calls`.
    pub fn port(
        &mut self,
        name: &str,
        does: impl Fn(&Emitted, &mut dyn FnMut(&Call) -> Option<u64>) -> u64 + 'e,
    ) {
        self.ports.insert(name.to_string(), Box::new(does));
    }

    /// Supplies what a link `calls`.
    pub fn link(
        &mut self,
        name: &str,
        does: impl Fn(&Emitted, &mut dyn FnMut(&Call) -> Option<u64>) + 'e,
    ) {
        self.links.insert(name.to_string(), Box::new(does));
    }

    /// The names of what a program calls and nobody supplies.
    pub fn missing<'n>(&self, program: &'n Program) -> Vec<&'n str> {
        let mut names = program.functions_in_c();
        names.retain(|name| {
            !self.functions.contains_key(*name)
                && !self.ports.contains_key(*name)
                && !self.links.contains_key(*name)
        });
        names
    }

    /// Returns the function that does what an `extern fn` does.
    pub fn in_c(&self, name: &str) -> Option<&Function<'e>> {
        self.functions.get(name).map(|does| &**does)
    }

    /// What a link calls.
    pub fn leaving(&self, name: &str) -> Option<&Leaving<'e>> {
        self.links.get(name).map(|does| &**does)
    }

    /// What a port calls.
    pub fn application(&self, name: &str) -> Option<&Application<'e>> {
        self.ports.get(name).map(|does| &**does)
    }
}

impl Evaluation<'_, '_> {
    /// Calls a function in C.
    pub fn call_external(&mut self, id: FunctionId, arguments: &[Expression]) -> Datum {
        let function = &self.state.program.functions[id.at()];
        let mut given: Vec<Datum> = arguments.iter().map(|one| self.given(one)).collect();
        let result = match function.in_runtime {
            true => coders::called(&function.name, &mut given),
            false => {
                let does = self.state.externs.functions.get(&function.name);
                does.expect("a stack is started with its functions in C")(&mut given)
            }
        };
        for (argument, left) in arguments.iter().zip(given) {
            self.take_back(argument, left, function.rewrites);
        }
        fitting(&function.result, result)
    }

    fn given(&mut self, argument: &Expression) -> Datum {
        match &*argument.kind {
            ExpressionKind::Read(Variable::Local(message)) if argument.result == Type::Message => {
                Datum::Bytes(self.message(*message).data().to_vec())
            }
            _ => self.value(argument),
        }
    }

    /// What a function may have changed: what only it knows, and data that it rewrites.
    fn take_back(&mut self, argument: &Expression, left: Datum, rewrites: bool) {
        let ExpressionKind::Read(variable) = &*argument.kind else {
            return;
        };
        match (&argument.result, variable, left) {
            (Type::Message, Variable::Local(message), Datum::Bytes(bytes)) if rewrites => {
                let data = self.message_mut(*message).data_mut();
                assert_eq!(
                    data.len(),
                    bytes.len(),
                    "data that C rewrites keeps its length"
                );
                data.copy_from_slice(&bytes);
            }
            (Type::Record(record), variable, left)
                if self.state.program.records[record.at()].external =>
            {
                self.write(variable, left);
            }
            _ => {}
        }
    }
}

impl fmt::Debug for Externs<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ends = self.ports.keys().chain(self.links.keys());
        let names = self.functions.keys().chain(ends);
        out.debug_set().entries(names).finish()
    }
}

/// What C gives, as a value of a type: of a number its lowest bits, of bytes no more than can be.
fn fitting(kind: &Type, given: Datum) -> Datum {
    match (kind, given) {
        (Type::Optional(inner), Datum::Optional(Some(given))) => {
            Datum::some(fitting(inner, *given))
        }
        (Type::BoundedBytes(most), Datum::Bytes(mut bytes)) => {
            bytes.truncate(*most as usize);
            Datum::Bytes(bytes)
        }
        (_, Datum::Number(number)) => Datum::Number(fit(kind, number)),
        (_, given) => given,
    }
}
