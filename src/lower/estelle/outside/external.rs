//! Bodies that C defines: in, an external body; out, the functions that initialise an instance of
//! it, select its transition and fire it. They call functions of the host, which may call the
//! functions of `points.rs`.

use super::super::code::{Called, Code};
use super::super::{Fault, Lower, Which};
use super::values::NUMBER;
use crate::ir::interface::{Foreign, Given, Home, Shape};
use crate::ir::op::Compare;
use crate::ir::{FieldId, ForeignId, Op, Region, Type as Plain, Value};
use crate::types::estelle::program::BodyId;

impl<'a> Lower<'a> {
    /// The function that initialises an instance of an external body.
    pub(in super::super) fn external_begin(&mut self, id: BodyId) -> Called {
        let mut code = self.external((id, None), "begin", &[], Vec::new());
        let result = code.asks("initialise", &[]);
        code.fails_below(result);
        code.answer(&[]);
        code.finish()
    }

    /// The function that says if an instance offers a transition. The number that C has given this
    /// is kept until it fires.
    pub(in super::super) fn external_select(&mut self, id: BodyId, only: Option<u32>) -> Called {
        let mut code = self.external((id, only), "select", &[], vec![Plain::WORD]);
        let result = code.asks("select", &[]);
        let kept = code.lower.offered_field(id);
        code.store_own(kept, result);
        let zero = code.word(0);
        let is_none = code.compare(Compare::Slt, result, zero);
        let none = code.kernel_number("no_transition");
        let own = code.lower.transition_number(id, only, 0);
        let own = code.word(own);
        let number = code.op(Op::Select, &[is_none, none, own]);
        code.answer(&[number]);
        code.finish()
    }

    /// The function that fires the transition that C has offered.
    pub(in super::super) fn external_fire(&mut self, id: BodyId, only: Option<u32>) -> Called {
        let mut code = self.external((id, only), "fire", &[], Vec::new());
        let kept = code.lower.offered_field(id);
        let transition = code.load_own(kept);
        let result = code.asks("fire", &[("transition", transition)]);
        code.fails_below(result);
        code.answer(&[]);
        code.finish()
    }

    fn external(
        &mut self,
        (id, only): (BodyId, Option<u32>),
        does: &str,
        parameters: &[(Plain, &str)],
        results: Vec<Plain>,
    ) -> Code<'_, 'a> {
        let name = format!("{}_{does}", self.named(id, only));
        let place = (Which::Specification, id, only);
        Code::of_instance(self, place, &name, parameters, results)
    }

    /// The field that keeps the number of the transition that C has offered.
    fn offered_field(&mut self, id: BodyId) -> FieldId {
        if let Some(known) = self.offered.get(&id) {
            return *known;
        }
        let (module, memory) = self.memory(Which::Specification);
        let store = &mut memory.bodies[id.index()];
        let field = store.field(module, "offered", (Plain::WORD, Vec::new()));
        self.offered.insert(id, field);
        field
    }

    /// The function of the host that does something for a body.
    fn of_host(&mut self, id: BodyId, does: &str, more: &[(&str, Value)]) -> ForeignId {
        let name = format!("{}_{does}", self.contract.body(id));
        let foreigns = &mut self.module.foreigns;
        let known = foreigns.iter().position(|one| one.name == name);
        let at = known.unwrap_or_else(|| {
            let names = ["module"]
                .into_iter()
                .chain(more.iter().map(|(name, _)| *name));
            let numbers = names.map(|name| (name.to_string(), Given::Value(NUMBER)));
            let now = ("now_ns".to_string(), Given::Value(Shape::Time));
            foreigns.push(Foreign {
                name,
                home: Home::Reentrant,
                parameters: numbers.chain([now]).collect(),
                result: Some(NUMBER),
            });
            foreigns.len() - 1
        });
        ForeignId(at as u32)
    }
}

impl Code<'_, '_> {
    /// Calls the function of the host that does something for this module.
    fn asks(&mut self, does: &str, more: &[(&str, Value)]) -> Value {
        let foreign = self.lower.of_host(self.body, does, more);
        let mut operands = vec![self.own_number()];
        operands.extend(more.iter().map(|(_, value)| *value));
        operands.push(self.op(Op::Load(Region::Now), &[]));
        self.op(Op::Foreign(foreign, Vec::new()), &operands)
    }

    /// Ends the function with the fault of a negative result, minus its number; a number that is
    /// none of a fault is a range fault.
    fn fails_below(&mut self, result: Value) {
        let zero = self.word(0);
        let is_fault = self.compare(Compare::Slt, result, zero);
        let number = self.arithmetic(crate::ir::op::Arithmetic::Sub, zero, result);
        let last = self.word(Fault::LAST.number());
        let is_known = self.compare(Compare::Ule, number, last);
        let range = self.word(Fault::Range.number());
        let number = self.op(Op::Select, &[is_known, number, range]);
        let number = self.op(Op::Select, &[is_fault, number, zero]);
        self.fails_with(number);
    }
}
