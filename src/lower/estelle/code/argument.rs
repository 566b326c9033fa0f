//! Arguments of calls, outputs and initialisations: in, expressions; out, their values, which are
//! computed in the order of the source.
//!
//! An array or a record is read where it stands when all arguments are known, so it is copied only
//! once. If a later argument calls a routine that may change it, it is copied at once.

use super::Code;
use super::evaluate::Computed;
use super::place::Located;
use crate::types::estelle::program::{
    Argument, Expression, ExpressionKind as Kind, Place, Program, ReferenceVariable, Root, Step,
    Type, TypeId,
};

/// The value of an argument.
pub enum Passed {
    /// A scalar or a set.
    Computed(Computed),
    /// An array or a record.
    Placed(Located),
    /// A text.
    Text(Vec<u8>),
}

impl Code<'_, '_> {
    /// Computes arguments for parameters of these types. A value beyond its type is a fault.
    pub fn passed(&mut self, arguments: &[Expression], types: &[TypeId]) -> Vec<Passed> {
        let mut passed = Vec::new();
        for (at, (argument, of)) in arguments.iter().zip(types).enumerate() {
            let later = &arguments[at + 1..];
            let may_change = later.iter().any(|one| has_effects(self.program(), one));
            passed.push(self.pass(argument, *of, may_change));
        }
        passed
    }

    /// Computes one argument; something that is evaluated before its use may change variables.
    pub fn pass(&mut self, argument: &Expression, of: TypeId, may_change: bool) -> Passed {
        let is_whole = matches!(
            self.program().types[of.index()],
            Type::Array { .. } | Type::Record { .. }
        );
        match &argument.kind {
            Kind::Text(text) if is_whole => Passed::Text(text.clone()),
            Kind::Read(place) if is_whole => {
                let at = self.locate(place);
                Passed::Placed(match may_change {
                    true => self.duplicate(&at),
                    false => at,
                })
            }
            _computed => {
                let value = self.value(argument);
                Passed::Computed(self.fitting(value, of))
            }
        }
    }

    /// Copies a variable to a new one.
    fn duplicate(&mut self, at: &Located) -> Located {
        let storage = self.lower.kept(self.which, at.of);
        let to = self.local_place(storage);
        self.copy(&to, at);
        to
    }

    /// Stores the value of an argument.
    pub fn keep(&mut self, to: &Located, passed: Passed) {
        match passed {
            Passed::Computed(value) => self.store(to, value),
            Passed::Placed(from) => self.copy(to, &from),
            Passed::Text(text) => self.store_text(to, &text),
        }
    }
}

/// Returns true if the evaluation of an argument may change variables.
pub fn argument_has_effects(program: &Program, argument: &Argument) -> bool {
    match argument {
        Argument::Value(value) => has_effects(program, value),
        Argument::Reference(place) => place_has_effects(program, place),
    }
}

/// Returns true if the evaluation of an expression may change variables.
fn has_effects(program: &Program, expression: &Expression) -> bool {
    let of = |expression: &Expression| has_effects(program, expression);
    match &expression.kind {
        Kind::Ordinal(_) | Kind::Real(_) | Kind::Text(_) => false,
        Kind::Read(place) => place_has_effects(program, place),
        Kind::Unary(_, one) | Kind::ToReal(one) | Kind::Predefined(_, one) => of(one),
        Kind::Exist(_, one) => of(one),
        Kind::Binary(_, one, other) => of(one) || of(other),
        Kind::Call(routine, arguments) => {
            // A `pure` routine may write a variable that it is given.
            let may_write = |argument: &Argument| matches!(argument, Argument::Reference(_));
            let mut all = arguments.iter();
            !program.routines[routine.index()].is_pure
                || all.any(|one| may_write(one) || argument_has_effects(program, one))
        }
        Kind::Set(members) => {
            let mut members = members.iter();
            members.any(|(one, last)| of(one) || last.as_ref().is_some_and(of))
        }
    }
}

/// Returns true if the evaluation of the indices of a place may change variables.
fn place_has_effects(program: &Program, place: &Place) -> bool {
    let module = match &place.root {
        Root::Exported(module, _) => match &module.variable {
            ReferenceVariable::Variable(_, indices) => indices.as_slice(),
            ReferenceVariable::Bound(..) => &[],
        },
        Root::Module(_) | Root::Local(..) => &[],
    };
    let steps = place.steps.iter().filter_map(|step| match step {
        Step::Index(index) => Some(index),
        Step::Field(_) => None,
    });
    let mut indices = module.iter().chain(steps);
    indices.any(|index| has_effects(program, index))
}
