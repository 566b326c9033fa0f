//! The stack IR as C.
//!
//! In: a module that the verifier has passed. Out: `NAME.c` and `NAME.h`. Nothing is decided here
//! that changes what is done, or how much: each function of the module becomes a function of C,
//! each kind a struct, each instruction an expression or a statement.
//!
//! ```text
//! constants.rs  bytes at the top of the file
//! containers.rs the members that hold containers
//! estelle/      the files of a specification of Estelle
//! esterel/      the files of a module of Esterel
//! file.rs       the whole of NAME.c
//! function/     functions of the module
//! instances/    functions that find, make and end instances
//! layout.rs     what stands beside instances, and the numbers of timers
//! message.rs    the struct of a message, and its defaults
//! names.rs      what all things are called in C
//! types.rs      types of values, as locals and in memory
//! prototype.rs  how functions of the module are declared and called
//! records.rs    structs of kinds, settings, results, caches
//! reserved.rs   names that C of every stack has
//! rounds.rs     events that would go round in calls
//! state.rs      constants and structs
//! shapes.rs     public values of a host, and their parts
//! text/         C that every stack has in common
//! host/         the host's side: constants, events, outputs, entries
//! header/       NAME.h
//! ```

pub mod constants;
pub mod containers;
pub mod estelle;
pub mod esterel;
pub mod file;
pub mod function;
pub mod header;
pub mod host;
pub mod instances;
pub mod layout;
pub mod message;
pub mod names;
pub mod prototype;
pub mod records;
pub mod reserved;
pub mod rounds;
pub mod shapes;
pub mod state;
pub mod text;
pub mod types;

use crate::c::assumed::Assumed;
use crate::c::record::Record;
use crate::c::tree::{Expression, Function, Statement, atom};
use crate::c::walk::is_named;
use crate::ir::effects::Effects;
use crate::ir::op::Place;
use crate::ir::{CacheId, FunctionId, Module, Op, PortId};
use crate::source::Sources;
use constants::Constants;
pub use file::Printed;
use host::paths::Paths;
pub use host::paths::{Exit, Path};
use names::{Names, Reserved};
use prototype::Reach;
use std::collections::BTreeSet;

/// The variants of the C of a module.
#[derive(Clone, Copy, Debug, Default)]
pub enum Variant<'m> {
    /// The C for users.
    #[default]
    Plain,
    /// It counts the ways that it takes, and writes a profile.
    Recording(&'m Record),
    /// The module was cut by a profile, and the C says so.
    Specialised(&'m Assumed),
    /// A central scheduler: no reaction calls another, each event goes by the agenda.
    Scheduled,
}

/// A module, and what all files of this folder look up of it.
pub struct Stack<'m> {
    /// The module.
    pub module: &'m Module,
    /// The variant of its C.
    pub variant: Variant<'m>,
    /// The texts of its layers.
    pub sources: &'m Sources,
    /// The names of all things.
    pub names: Names,
    /// By function: how much of the stack it touches.
    pub reach: Vec<Reach>,
    /// By function: what it reads and changes.
    pub effects: Vec<Effects>,
    /// Bytes that stand at the top of the file.
    pub constants: Constants,
    /// Counters of fast paths.
    pub paths: Paths,
    /// Streams into which bytes are put behind a gap.
    pub gaps: BTreeSet<Place>,
    /// Functions that are tried first when a frame arrives.
    first_for_frames: BTreeSet<FunctionId>,
    /// The pointer that the host has set, which its functions are given.
    pub user: Expression,
    /// Events that a reaction hands on by the agenda: those that could lead back to it, or all.
    pub rounds: BTreeSet<(FunctionId, FunctionId)>,
}

impl<'m> Stack<'m> {
    /// Names for all of a module.
    pub fn new(module: &'m Module, sources: &'m Sources) -> Stack<'m> {
        Stack::of_variant(module, sources, Variant::Plain)
    }

    /// The same for a variant of the C.
    pub fn of_variant(module: &'m Module, sources: &'m Sources, variant: Variant<'m>) -> Stack<'m> {
        let own: Vec<&str> = host::reserved().collect();
        let reserved = Reserved {
            file: &own,
            members: &[],
        };
        let mut names = Names::new(module, reserved);
        if let Variant::Specialised(Assumed {
            elsewhere: true, ..
        }) = variant
        {
            names.count_own("stack.cut_buffer");
        }
        Stack::named(module, sources, variant, names)
    }

    /// The table of a cache by which instances are recalled; none of another cache, or if there is
    /// but one instance.
    pub fn guesses(&self, id: CacheId) -> Option<layout::Guesses> {
        layout::guesses(self.module, id)
    }

    /// The same under names that were chosen.
    pub fn named(
        module: &'m Module,
        sources: &'m Sources,
        variant: Variant<'m>,
        mut names: Names,
    ) -> Stack<'m> {
        let constants = Constants::of(module, &mut names);
        let paths = Paths::of(module, sources, &mut names);
        names.inside = names.taken.inside();
        Stack {
            module,
            variant,
            sources,
            names,
            reach: prototype::reaches(module),
            effects: Effects::of_functions(module),
            constants,
            paths,
            gaps: module.streams_with_gaps(),
            first_for_frames: module
                .links
                .iter()
                .filter_map(|link| first_tried(module, link.arrives))
                .collect(),
            user: atom("stack").behind("config").member("user"),
            rounds: match variant {
                Variant::Scheduled => rounds::all(module),
                Variant::Plain | Variant::Recording(_) | Variant::Specialised(_) => {
                    rounds::of(module)
                }
            },
        }
    }

    /// Returns true if a link takes frames in two parts.
    pub fn gathers(&self) -> bool {
        self.module.links.iter().any(|link| link.gathers)
    }

    /// Returns true if its host is given no buffers for frames.
    pub fn gives_no_buffers(&self) -> bool {
        match self.variant {
            Variant::Plain | Variant::Recording(_) | Variant::Scheduled => false,
            Variant::Specialised(assumed) => assumed.elsewhere,
        }
    }

    /// Returns what it records.
    pub fn record(&self) -> Option<&'m Record> {
        match self.variant {
            Variant::Plain | Variant::Specialised(_) | Variant::Scheduled => None,
            Variant::Recording(record) => Some(record),
        }
    }

    /// An event that a reaction hands on goes by the agenda.
    pub fn goes_round(&self, from: FunctionId, to: FunctionId) -> bool {
        self.rounds.contains(&(from, to))
    }

    /// Returns true if a fast function does not call the one that is tried before it: the host's
    /// side of the stack tries both, one after the other.
    pub fn tries_apart(&self, whole: FunctionId) -> bool {
        let fast = self.module.function(whole).fast;
        fast.is_some_and(|fast| self.is_hot(fast))
    }

    /// Returns true if a function is tried first when a frame arrives, while nothing else is under
    /// way.
    pub fn is_hot(&self, id: FunctionId) -> bool {
        self.record().is_none() && self.first_for_frames.contains(&id)
    }

    /// Returns true if a compiler expands a function where it is called: one that is tried where
    /// frames arrive, or for what an application grants that is called there.
    pub fn is_expanded(&self, id: FunctionId) -> bool {
        let mut ports = (0..self.module.ports.len() as u32).map(PortId);
        self.is_hot(id) || ports.any(|port| self.fast_grant(port) == Some(id))
    }

    /// The function that is tried before the fast function of a reaction, first of all.
    pub fn first_tried(&self, reaction: FunctionId) -> Option<FunctionId> {
        first_tried(self.module, reaction)
    }

    /// Returns true if nothing else is under way where a function hands its event on.
    pub fn runs_alone(&self, id: FunctionId) -> bool {
        let mut all = self.module.function(id).instructions();
        self.is_hot(id) && !all.any(|one| matches!(one.op, Op::Queue(..)))
    }

    /// Returns the most steps and outputs that a hot function takes besides those of its own step.
    pub fn ahead(&self) -> usize {
        let all = (0..self.module.functions.len() as u32).map(FunctionId);
        let hot = all.filter(|id| self.is_hot(*id));
        let own = hot.map(|id| {
            let outputs = self
                .module
                .function(id)
                .instructions()
                .map(|one| match &one.op {
                    Op::Output(events) => events.len(),
                    _other => 0,
                });
            1 + outputs.sum::<usize>()
        });
        own.max().unwrap_or(0)
    }

    /// The function that is tried first for what a called function of an application grants, if
    /// nothing is left to be done behind it.
    pub fn fast_grant(&self, port: PortId) -> Option<FunctionId> {
        let handled = self.module.ports[port.at()].granted()?;
        let fast = *self.module.tried(handled).last()?;
        (!self.module.function(fast).is_followed()).then_some(fast)
    }
}

/// The function that is tried before the fast function of a reaction, first of all.
fn first_tried(module: &Module, reaction: FunctionId) -> Option<FunctionId> {
    let tried = module.tried(reaction);
    tried.iter().skip(1).last().copied()
}

/// The two files of a module, in a variant of its C.
pub fn print(module: &Module, sources: &Sources, variant: Variant<'_>) -> Printed {
    file::print(&Stack::of_variant(module, sources, variant))
}

/// The same function, in which each parameter that it does not look at is said to be there.
pub fn with_all_used(mut function: Function) -> Function {
    let names = function.parameters.iter().map(|parameter| {
        let name = parameter.rsplit([' ', '*']).next();
        name.expect("a text has a last word").to_string()
    });
    let unused = names.filter(|name| !is_named(name, &function.body));
    let unused = unused.map(|name| {
        let named = Box::new(atom(name));
        Statement::Do(Expression::Cast("void".to_string(), named))
    });
    let unused: Vec<Statement> = unused.collect();
    function.body.splice(0..0, unused);
    function
}
