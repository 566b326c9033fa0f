//! Faults: mistakes of a specification that show only when it runs.
//!
//! A fault stops the system of the instance in which it happens, after the statements before it.
//! It is counted under its name and stands in the trace. No input makes the interpreter panic.

use crate::source::Span;

/// A fault.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Its kind.
    pub kind: FaultKind,
    /// The mistake, with the values: a few words, no full stop.
    pub says: String,
    /// The place in the source.
    pub span: Span,
}

impl Fault {
    /// Returns a fault as the error of a result.
    pub fn err<T>(kind: FaultKind, says: impl Into<String>, span: Span) -> Result<T, Box<Fault>> {
        let says = says.into();
        Err(Box::new(Fault { kind, says, span }))
    }
}

/// The result of what may end in a fault.
pub type Faulty<T> = Result<T, Box<Fault>>;

/// Declares the kinds of faults with the names under which they are counted.
macro_rules! kinds {
    ($($(#[$text:meta])* $kind:ident $name:literal;)*) => {
        /// The kinds of faults.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum FaultKind {
            $($(#[$text])* $kind,)*
        }

        impl FaultKind {
            /// All kinds.
            pub const ALL: &[FaultKind] = &[$(FaultKind::$kind,)*];

            /// Returns the name under which the fault is counted.
            pub fn name(self) -> &'static str {
                match self {
                    $(FaultKind::$kind => $name,)*
                }
            }
        }
    };
}

kinds! {
    /// A delay is negative, or its lower bound is above the upper one.
    DelayOrder "delay_order";
    /// An output through a point that the module has attached to a child.
    AttachedOutput "attached_output";
    /// A module variable that refers to no module, or to one that was released.
    UndefinedModule "undefined_module";
    /// A value beyond its type, an index beyond its array.
    Range "range";
    /// A number beyond `maxint` or beyond the reals.
    Overflow "overflow";
    /// A division by zero, or `mod` by a number below one.
    Division "division";
    /// A variable is read before it is assigned.
    Uninitialised "uninitialised";
    /// A `case` without the value.
    NoCase "no_case";
    /// A field of a variant that the tag does not select.
    Tag "tag";
    /// No alternative of `initialize` may be taken.
    NoInitialise "no_initialise";
    /// `connect` or `attach` of a point that is connected already.
    Connected "connected";
    /// `connect` or `attach` of a point that is attached already.
    Attached "attached";
    /// `connect` of a point with itself.
    SamePoint "same_point";
    /// A loop or a transition that takes too many steps.
    LoopLimit "loop_limit";
    /// Statements, calls or modules that nest too deeply.
    Nesting "nesting";
    /// More instances than the interpreter holds.
    InstanceLimit "instance_limit";
    /// More queued interactions than the interpreter holds.
    QueueLimit "queue_limit";
    /// A time beyond 2^63 units.
    TimeLimit "time_limit";
}
