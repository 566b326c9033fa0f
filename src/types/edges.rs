//! The first lower edge of a window that does not say where it begins.
//!
//! In: the fields that `release_to` of a window was given, as bodies are checked. Out: what the
//! window begins as, if each of them names the same field and that begins as a constant. A receiver
//! that calls `got.release_to(expected)` so refuses from the start what lies below `expected`.

use super::constant::fold;
use super::expression::{Expression, ExpressionKind, Instance, Variable};
use super::fields::field_of;
use super::program::Program;
use super::value::Type;

/// Notes that a window is released up to a number.
pub fn note(program: &mut Program, window: &Variable, to: &Expression) {
    let Some(window) = field_of(window) else {
        return;
    };
    let follows = match &*to.kind {
        ExpressionKind::Read(Variable::Field(Instance::Own, kind, field)) => {
            Some((*kind, *field)).filter(|(kind, _)| *kind == window.0)
        }
        _other_number => None,
    };
    let known = program.followed.entry(window).or_insert(follows);
    if *known != follows {
        *known = None;
    }
}

/// Lets windows begin where the fields do that they follow.
pub fn begin(program: &mut Program) {
    for ((kind, window), follows) in program.followed.clone() {
        let fields = &program.kinds[kind.at()].fields;
        let Type::Window(_, width, _) = fields[window.at()].kind else {
            continue;
        };
        let first = follows.and_then(|(_, field)| fields[field.at()].initial.as_ref());
        let first = first.and_then(|first| fold(program, first));
        if let (Some(first), None) = (first, &fields[window.at()].initial) {
            let first = Expression::constant(first, Type::Sequence(width));
            program.kinds[kind.at()].fields[window.at()].initial = Some(first);
        }
    }
}
