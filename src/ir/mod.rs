//! The stack IR: a whole stack as typed functions, between woven trees and C.
//!
//! Trees say *what* a stack does in each instant; this says *how it is computed*. A [`Module`] has
//! tables (links, ports, kinds of instances, attributes, caches, kernels) and functions. A function
//! is an acyclic graph of blocks in SSA form: each value is the result of one instruction, or the
//! parameter of a block, and never changes. A block ends in one terminator, whose edges give the
//! parameters of the blocks behind it their values.
//!
//! # Memory
//!
//! Everything that changes is in a *region*: a field of a kind, a container, the timers, the
//! agenda, the bytes of messages, counters, caches. An operation names the regions that it touches,
//! so no analysis has to guess: `effects.rs` is the only table of them. Two regions are disjoint.
//! Within one, two instances or indices may be the same.
//!
//! # Messages
//!
//! A `msg` is a handle: a start and a length in a buffer, and attributes. It is *linear*: each
//! operation that moves its start, its length or an attribute uses the handle up and gives the next
//! one, so `length %m2` never changes, and only its bytes are memory. Each path uses a handle up
//! exactly once: it leaves, waits, is kept, dropped or consumed. A `view` is a borrow of bytes: it
//! is read as long as nothing is written there, and nobody owns it.
//!
//! # Failure
//!
//! An operation that may fail is a terminator, `try`, with an edge for each outcome. So a handle
//! exists on just those edges on which it was made, and a message that nobody took comes back on
//! the other. No value has to be looked at to know whether another exists.
//!
//! # Time and order
//!
//! A reaction is a function that an event starts. It ends in `return`, or in `tail`, which hands
//! one event on within the same step. Other events wait on the agenda: `queue front` and `queue
//! back` for a list that is known, `queue made` and then `turn` where branches or loops make
//! them. Where `goes_on n` is 1, a function may let `n` events leave itself, by `output`, and
//! count their steps, by `step`. The work loop that takes events off the agenda, counts steps and
//! keeps the budget is the host's side of the stack, and the same for all stacks.
//!
//! A loop is an operation that calls a function for each turn, at most so many times. So graphs
//! stay acyclic, and everything that is said of functions holds for the bodies of loops.
//!
//! # Fast functions
//!
//! A fast function does what another does for the frames that are common, or nothing. It is a tree
//! of guards with one commit on each path. Before `commit` stand only operations that change
//! nothing but caches; there `exit` leaves the function, and the other one runs.
//! Behind it stands no exit. Another fast function may be tried before it, which does a part of
//! this: if all leave, the first that is no fast function runs.
//!
//! Before the pass `form-fast-path`, the fast function of a reaction only commits, and then does
//! all that the reaction does: it is a copy of the reaction into which others are woven. The pass
//! forms the fast function that has a guard of this copy.
//!
//! # Caches
//!
//! A cache remembers `x = f(arguments)`, where `f` is a pure function of the module, as long as its
//! bit `valid` is set. It depends on the regions that `f` reads. Behind each store to one of them
//! stands `disarm`, or `recompute`, before anybody else looks. Each instance of a kind may have a
//! cache; `try recall` looks for the one that holds given arguments.
//!
//! # Rules
//!
//! `verify/` lists the rules of the form, and checks them; `facts/` proves ranges for it. `text/`
//! prints a module and reads it; `simulate/machine` runs one.
//!
//! ```text
//! fn udp.deliver(%0: i32, %m: msg, %h: view) {           ; udp.loom:31
//! b0:
//!   try live udp.session %0 -> b1, b2 @ 99%
//! b1(%u: inst udp.session):
//!   %port = read.be16 %h, 0
//!   store udp.session.peer_port %u, %port
//!   tail port datagrams message(%0, %m)
//! b2:
//!   consume %m
//!   return
//! }
//! ```

pub mod build;
pub mod definitions;
pub mod edit;
pub mod effects;
pub mod evaluate;
pub mod facts;
pub mod function;
pub mod graph;
pub mod ids;
pub mod interface;
pub mod mergeable;
pub mod op;
pub mod rename;
pub mod signature;
pub mod text;
pub mod types;
pub mod verify;

pub use function::{Block, Edge, Function, Instruction, Probability, Role, Terminator};
pub use ids::{
    AttributeId, BlockId, CacheId, CounterId, FieldId, ForeignId, FunctionId, KernelId, KindId,
    LinkId, OpaqueId, PortId, ReasonId, SettingId, TimerId, Value,
};
pub use op::{Attempt, Op, Region};
pub use types::Type;

use interface::{Enum, Export, Foreign, Link, Listening, Memory, Opaque, Port, SettingOfHost};
use op::Place;
use std::collections::BTreeSet;

/// A stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Module {
    /// Its name, which prefixes all names of its C interface.
    pub name: String,
    /// Lines that say what it is for.
    pub docs: Vec<String>,
    /// Links, in the order of writing.
    pub links: Vec<Link>,
    /// Ports, in the order of writing.
    pub ports: Vec<Port>,
    /// Values set at the start, in the order of writing; each has one part or more.
    pub settings: Vec<Setting>,
    /// The settings as a host gives them: their parts are [`Module::settings`], in order.
    pub given: Vec<SettingOfHost>,
    /// Enums of values that a host gives or is told.
    pub enums: Vec<Enum>,
    /// Attributes of messages, by their parts.
    pub attributes: Vec<Attribute>,
    /// Kinds of instances.
    pub kinds: Vec<Kind>,
    /// Reasons to drop a message, by the names of their counters.
    pub reasons: Vec<String>,
    /// Counters of layers, by their names.
    pub counters: Vec<String>,
    /// Kernels that run over bytes.
    pub kernels: Vec<Kernel>,
    /// Caches.
    pub caches: Vec<Cache>,
    /// Types that only C knows.
    pub opaques: Vec<Opaque>,
    /// Functions in C.
    pub foreigns: Vec<Foreign>,
    /// Functions that a host calls by their names.
    pub exports: Vec<Export>,
    /// Fields that a host reads, and may change, between its calls.
    pub watched: Vec<op::Place>,
    /// Sessions that wait to be accepted.
    pub listening: Vec<Listening>,
    /// All functions. A function calls only those before it; events may go to any.
    pub functions: Vec<Function>,
    /// `-> i1`: whether the settings go together.
    pub settings_hold: Option<FunctionId>,
    /// Makes what exists from the start, and puts the first events on the agenda.
    pub starts: Option<FunctionId>,
    /// Bytes of headers before a message at most.
    pub headroom: u32,
    /// At most so many paths of each fast function are formed; none: all that are frequent.
    pub fast_paths: Option<u32>,
    /// Paths that are not formed: a reaction, and the number of its path, from 0.
    pub left_out: Vec<(String, u32)>,
    /// The rest of its memory.
    pub memory: Memory,
}

/// A part of a value set at the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name: that of the setting, and of the part where it has several.
    pub name: String,
    /// Its type.
    pub of: Type,
}

/// A part of an attribute of messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Its name, unique in the module.
    pub name: String,
    /// Its type.
    pub of: Type,
    /// A message's that nobody gave one: a number, or bytes.
    pub default: Op,
    /// True for a mark of where stripped headers begin. A copy of a message has none: there it is
    /// the default again.
    pub is_mark: bool,
}

/// A kind of instances: the record of a layer, its sessions, its children.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Its name, unique in the module: `udp`, `udp.session`.
    pub name: String,
    /// The layer.
    pub owner: String,
    /// The number of instances at most.
    pub capacity: u32,
    /// When they have a state.
    pub lives: Lives,
    /// The keys, among the fields; by them it is found.
    pub keys: Vec<FieldId>,
    /// Fields by their parts, keys first.
    pub fields: Vec<Field>,
    /// Timers.
    pub timers: Vec<Timer>,
    /// The key that holds the index of the session below, if it stands on one that comes and goes.
    pub stands_on: Option<FieldId>,
    /// The reason for which messages are dropped that are left in one that is freed.
    pub ended: Option<ReasonId>,
}

/// A timer of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timer {
    /// Its name.
    pub name: String,
    /// The reaction to its end: `index`; none if nobody handles it.
    pub expires: Option<FunctionId>,
}

/// When instances have a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lives {
    /// From the start to the end.
    Always,
    /// From its creation to its end, each in a slot of its own.
    Created,
    /// As long as the instance of another kind with the same index, modulo the capacity of that.
    With(KindId),
}

/// A field of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name, unique in the kind: `window`, `peer.has`, `peer.value`.
    pub name: String,
    /// Its type or container.
    pub stored: Stored,
    /// The lengths of the arrays in which it stands, outermost first.
    pub dimensions: Vec<u32>,
}

/// The content of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stored {
    /// A value.
    Value(Type),
    /// A queue of items, each of these parts.
    Queue(Vec<Type>, u32),
    /// A window of items by numbers of so many bits.
    Window(Vec<Type>, u8, u32),
    /// A stream of so many bytes by positions of so many bits.
    Stream(u8, u32),
    /// A set of the numbers below this one.
    Set(u32),
    /// A record whose content only C knows, by the name of its type.
    Foreign(String),
}

/// A kernel: code that runs over bytes, word by word (Morpheus 3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// Bytes of a word: 1, 2, 4 or 8. Missing bytes of the last word are zero.
    pub unit: u8,
    /// True if the first byte of a word is the most significant.
    pub big: bool,
    /// Its parameters.
    pub parameters: Vec<Type>,
    /// `params.., length -> state..`. Bytes in all, of the words before, and missing bytes of the
    /// word are i32.
    pub begins: FunctionId,
    /// `params.., state.., length, place, missing, word -> state..`.
    pub steps: FunctionId,
    /// The function in place of `steps` for a last word of which bytes are missing.
    pub tail: Option<FunctionId>,
    /// `params.., state.., length, place -> results..`.
    pub finishes: FunctionId,
}

/// A memo of a pure function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    /// Its name.
    pub name: String,
    /// The kind each instance of which has one; none if there is but one.
    pub kind: Option<KindId>,
    /// The function; its first parameter is the instance if there is one for each.
    pub remembers: FunctionId,
}

impl Kernel {
    /// Its functions, in order.
    pub fn functions(&self) -> Vec<FunctionId> {
        let always = [self.begins, self.steps, self.finishes];
        always.into_iter().chain(self.tail).collect()
    }
}

/// Returns a name that is not taken: this one, or this one with a number from 2.
pub fn free_name(wanted: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let numbered = (2..).map(|number| format!("{wanted}.{number}"));
    let mut names = std::iter::once(wanted.to_string()).chain(numbered);
    let free = names.find(|name| !is_taken(name));
    free.expect("there are more numbers than names")
}

impl Module {
    /// Returns the field with a name of the kind with a name.
    pub fn field_named(&self, kind: &str, field: &str) -> Option<(KindId, FieldId)> {
        let at = self.kinds.iter().position(|one| one.name == kind)?;
        let mut fields = self.kinds[at].fields.iter();
        let field = fields.position(|one| one.name == field)?;
        Some((KindId(at as u32), FieldId(field as u32)))
    }

    /// A function.
    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.at()]
    }

    /// The functions that are tried before another: the fast function of a reaction, the one that
    /// is tried before that, and so on to the first.
    pub fn tried(&self, before: FunctionId) -> Vec<FunctionId> {
        let fast = |id: &FunctionId| self.functions.get(id.at())?.fast;
        let all = std::iter::successors(fast(&before), fast);
        // A chain is as long as the module at most, even if it breaks the rules.
        all.take(self.functions.len()).collect()
    }

    /// Returns true if an event calls a function of an application.
    pub fn calls_application(&self, target: op::Target) -> bool {
        match target {
            op::Target::Port(port, told) => {
                told != op::Told::Started && self.ports[port.at()].calls.is_some()
            }
            op::Target::Link(_) | op::Target::Function(_) => false,
        }
    }

    /// A function by its name.
    pub fn named(&self, name: &str) -> Option<FunctionId> {
        let found = self.functions.iter().position(|one| one.name == name);
        found.map(|at| FunctionId(at as u32))
    }

    /// Returns a name that no function and no cache has: this one, or this one with a number.
    pub fn free_name(&self, wanted: &str) -> String {
        let is_taken = |name: &str| {
            self.caches.iter().any(|cache| cache.name == name) || self.named(name).is_some()
        };
        free_name(wanted, is_taken)
    }

    /// A field.
    pub fn field(&self, kind: KindId, field: FieldId) -> &Field {
        &self.kinds[kind.at()].fields[field.at()]
    }

    /// The kind with whose instances those of a kind live: itself, unless it lives with another.
    pub fn root(&self, kind: KindId) -> KindId {
        match self.kinds[kind.at()].lives {
            Lives::With(root) => root,
            Lives::Always | Lives::Created => kind,
        }
    }

    /// The types of what a cache holds: of its arguments, without the instance, then its results.
    pub fn cached(&self, id: CacheId) -> Vec<Type> {
        let function = self.function(self.caches[id.at()].remembers);
        [self.cached_arguments(id), function.results.clone()].concat()
    }

    /// The types of the arguments that a cache holds.
    pub fn cached_arguments(&self, id: CacheId) -> Vec<Type> {
        let cache = &self.caches[id.at()];
        let function = self.function(cache.remembers);
        let parameters = function.parameters().iter();
        let arguments = parameters.skip(usize::from(cache.kind.is_some()));
        arguments.map(|value| function.type_of(*value)).collect()
    }

    /// Returns true if the function of a cache searches an instance of a kind by its keys.
    pub fn searches(&self, id: CacheId, kind: KindId) -> bool {
        let function = self.function(self.caches[id.at()].remembers);
        let mut blocks = function.blocks.iter();
        blocks.any(|block| match &block.terminator {
            Terminator::Try { attempt, .. } => *attempt == Attempt::Find(kind),
            _other => false,
        })
    }

    /// By cache: some function recalls an instance by what the cache holds.
    pub fn recalled(&self) -> Vec<bool> {
        let mut recalled = vec![false; self.caches.len()];
        for block in self.functions.iter().flat_map(|one| &one.blocks) {
            if let Terminator::Try { attempt, .. } = &block.terminator
                && let Attempt::Recall(id) = attempt
            {
                recalled[id.at()] = true;
            }
        }
        recalled
    }

    /// The streams into which bytes are put behind a gap.
    pub fn streams_with_gaps(&self) -> BTreeSet<Place> {
        let blocks = self.functions.iter().flat_map(|one| &one.blocks);
        let all = blocks.filter_map(|block| match &block.terminator {
            Terminator::Try {
                attempt: Attempt::InsertBytes(place),
                ..
            } => Some(*place),
            _other => None,
        });
        all.collect()
    }
}
