//! Calls of `primitive` routines: in, a call; out, the call of a function of the host.
//!
//! A `var` parameter is handed as a pointer to a copy, so that the value that C leaves there is
//! checked as that of an assignment is.

use super::super::code::Code;
use super::super::code::place::Located;
use super::values::shape;
use crate::ir::interface::{Foreign, Given, Home};
use crate::ir::{ForeignId, Op, Value};
use crate::types::estelle::program::{Argument, RoutineId};

/// An argument that was evaluated.
enum Handed {
    /// A value.
    Value(Value),
    /// A variable, which is read when all arguments were evaluated.
    Variable(Located),
}

impl Code<'_, '_> {
    /// Calls a primitive routine; the parts of its result.
    pub fn primitive(&mut self, id: RoutineId, arguments: &[Argument]) -> Vec<Value> {
        let program = self.program();
        let routine = &program.routines[id.index()];
        let Some(foreign) = self.declared(id) else {
            let results = routine.result.map(|of| self.lower.parts(self.which, of));
            let results = results.unwrap_or_default().into_iter();
            return results
                .map(|of| self.op(Op::zero(of).expect("results are numbers"), &[]))
                .collect();
        };
        let frame = &program.frames[routine.frame.index()];
        let mut handed = Vec::new();
        for (argument, parameter) in arguments.iter().zip(frame) {
            handed.push(match argument {
                Argument::Reference(place) => Handed::Variable(self.locate(place)),
                Argument::Value(value) => {
                    let value = self.value(value);
                    let value = self.fitting(value, parameter.kind);
                    Handed::Value(self.plain(value))
                }
            });
        }
        let mut operands = Vec::new();
        for one in &handed {
            operands.push(match one {
                Handed::Value(value) => *value,
                Handed::Variable(at) => {
                    let value = self.load(at);
                    self.plain(value)
                }
            });
        }
        let mut results = self
            .all(Op::Foreign(foreign, Vec::new()), &operands)
            .into_iter();
        let mut next = || results.next().expect("C gives all results");
        let result = routine.result.map(|_| next());
        let changed = handed.into_iter().filter_map(|one| match one {
            Handed::Variable(at) => Some((at, next())),
            Handed::Value(_) => None,
        });
        for (at, given) in changed.collect::<Vec<_>>() {
            let value = self.checked(given, at.of);
            self.store(&at, value);
        }
        let of = routine.result;
        let result = result.zip(of).map(|(given, of)| {
            let value = self.checked(given, of);
            self.plain(value)
        });
        result.into_iter().collect()
    }

    /// The function of the host that is a primitive routine; none of one whose values do not cross
    /// the border to C.
    fn declared(&mut self, id: RoutineId) -> Option<ForeignId> {
        let program = self.program();
        let routine = &program.routines[id.index()];
        let name = self.lower.contract.primitive(id).to_string();
        let foreigns = &self.lower.module.foreigns;
        if let Some(known) = foreigns.iter().position(|one| one.name == name) {
            return Some(ForeignId(known as u32));
        }
        let mut parameters = Vec::new();
        for one in &program.frames[routine.frame.index()][..routine.parameters] {
            let Some(shape) = shape(program, one.kind) else {
                self.lower.refuse(format!(
                    "the parameter `{}` of the primitive routine `{}`, which is no number, \
                     boolean or character",
                    one.name, routine.name
                ));
                return None;
            };
            let given = match one.is_reference {
                true => Given::Changed(shape),
                false => Given::Value(shape),
            };
            parameters.push((one.name.to_lowercase(), given));
        }
        let result = match routine.result.map(|of| shape(program, of)) {
            Some(None) => {
                self.lower.refuse(format!(
                    "the result of the primitive function `{}`, whose type C defines",
                    routine.name
                ));
                return None;
            }
            result => result.flatten(),
        };
        self.lower.module.foreigns.push(Foreign {
            name,
            home: Home::Host,
            parameters,
            result,
        });
        Some(ForeignId(self.lower.module.foreigns.len() as u32 - 1))
    }
}
