//! Calls of functions in C: those of the runtime, and those that whoever uses the stack writes.

use super::super::header::values::c_type;
use super::super::shapes::{given, told};
use super::Printer;
use super::number::Number;
use super::value::{Given, constant};
use crate::c::tree::{Expression as C, Statement as S, atom, call};
use crate::ir::interface::{Given as Parameter, Shape};
use crate::ir::op::Place;
use crate::ir::{ForeignId, Type, Value};

impl Printer<'_> {
    /// Calls a function in C.
    pub fn foreign(
        &mut self,
        id: ForeignId,
        places: &[Place],
        (operands, results): (&[Value], &[Value]),
        out: &mut Vec<S>,
    ) {
        let stack = self.stack;
        let foreign = &stack.module.foreigns[id.0 as usize];
        let mut all = Vec::new();
        if !foreign.in_runtime {
            all.push(atom("stack").behind("config").member("user"));
        }
        let mut rest = operands;
        let mut places = places.iter();
        for (_, parameter) in &foreign.parameters {
            let place = match parameter {
                Parameter::State(_) => places.next().copied(),
                Parameter::Value(_) | Parameter::Data | Parameter::Rewritten => None,
            };
            let count = match (parameter, place) {
                (Parameter::Value(shape), _) => shape.parts().len(),
                (_, Some(place)) => {
                    1 + stack.module.field(place.kind, place.field).dimensions.len()
                }
                _data => 1,
            };
            let (own, others) = rest.split_at(count);
            rest = others;
            all.extend(self.handed(parameter, place, own, out));
        }
        let name = stack.names.foreigns[id.0 as usize].clone();
        self.received(foreign.result.as_ref(), (name, all), results, out);
    }

    fn handed(
        &mut self,
        parameter: &Parameter,
        place: Option<Place>,
        operands: &[Value],
        out: &mut Vec<S>,
    ) -> Vec<C> {
        match (parameter, place) {
            (Parameter::Value(shape), _) => {
                let parts: Vec<C> = operands
                    .iter()
                    .map(|part| match self.value(*part, out) {
                        Given::Number(number) => number.code,
                        held => held.stored(self.function.type_of(*part)),
                    })
                    .collect();
                let members = told(self.stack, shape, "given", &mut parts.into_iter());
                members.into_iter().map(|(_, code)| code).collect()
            }
            (Parameter::Rewritten, _) => {
                let message = self.message(operands[0]);
                vec![message.member("data"), message.member("length")]
            }
            (_, Some(place)) => vec![self.field(place, operands, out).address()],
            _data => {
                let (data, length) = self.view(operands[0], out);
                vec![data, length]
            }
        }
    }

    /// What the function gives, by its parts.
    fn received(
        &mut self,
        result: Option<&Shape>,
        (name, mut given_to): (String, Vec<C>),
        results: &[Value],
        out: &mut Vec<S>,
    ) {
        let is_used = results.iter().any(|one| self.plan.is_used(*one));
        let parts = match result {
            Some(shape @ Shape::Optional(inner)) => {
                let found = self.local("found");
                let has = self.local("has_found");
                let kind = c_type(self.stack, inner);
                out.push(S::Declare {
                    kind,
                    name: found.clone(),
                    value: Some(atom("{0}")),
                });
                given_to.push(atom(&found).address());
                out.push(constant("bool", &has, call(name, given_to)));
                let place = |member: &str| match member {
                    "found" => atom(&found),
                    _has => atom(&has),
                };
                if !is_used {
                    out.push(S::Do(atom(&has).cast("void")));
                }
                given(self.stack, shape, "found", &place)
            }
            Some(shape) if is_used => {
                let kind = c_type(self.stack, shape);
                let found = self.keep("found", &kind, call(name, given_to), out);
                given(self.stack, shape, "found", &|_| found.clone())
            }
            _nothing => {
                out.push(S::Do(call(name, given_to)));
                return;
            }
        };
        for (result, part) in results.iter().zip(parts) {
            let held = match self.function.type_of(*result) {
                Type::Int(bits) => Given::Number(Number::local(bits, part)),
                _bytes => Given::Bytes(part),
            };
            self.bind(*result, held, "found", out);
        }
    }
}
