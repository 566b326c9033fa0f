//! Functions of the host that a specification calls.
//!
//! In C they are declared by `NAME.h`, and defined by the program: `NAME_choose` and the like. They
//! are the [`Foreign`](crate::ir::interface::Foreign) functions of a module whose home is the host.

pub mod choice;

/// Says in the header what a function of the host must do, by its name behind that of the
/// specification; none of a function that says it by its name alone.
pub fn duty(name: &str) -> Option<&'static str> {
    let mut known = DUTIES.iter();
    known.find(|(own, _)| *own == name).map(|(_, duty)| *duty)
}

/// By name: what the function must do.
const DUTIES: [(&str, &str); 1] = [(
    "choose",
    "Chooses one of `count` possibilities, counted from 0, for a module. By `source`: 0 the \
     transition that it offers, 1 the child of an activity that runs, 2 the order of the \
     transitions of a step, 3 the time between the bounds of a delay, 4 the element of `forone` \
     or the alternative of `initialize`. A greater number counts as the last.",
)];
