//! State trees: what a stack does in each instant, as tests, actions and leaves (HIPPCO 3.1).
//!
//! A [`Forest`] holds one tree for each [`Reaction`]: an instance that handles an event, or an
//! entity at which something arrives whose session is still to be found. Nodes live in one arena
//! and are shared: equal subtrees are one node. The weaver substitutes a tree for the first output
//! of a leaf; nothing else about a program changes on the way from here to C.
//!
//! ```text
//! input    handlers of the checked program (`reactive`), then the forest itself (`weave`)
//! output   what `emit` prints as C and `simulate` interprets
//! ```
//!
//! Locals: each reaction's tree declares its own in [`Forest::locals`], so that two trees woven
//! into one never clash. `Instance::Own` does not occur: every instance is a local that holds its
//! index, an `Only` index, or the record of its entity.

pub mod arena;
pub mod automaton;
pub mod check;
pub mod rename;
pub mod rewrites;
pub mod starts;
pub mod text;
pub mod uses;
pub mod walk;
pub mod ways;

pub use arena::{Arena, NodeId};

use crate::source::Span;
#[cfg(doc)]
use crate::types::expression::Query;
use crate::types::expression::{Expression, Instance, Variable};
use crate::types::program::{
    AttributeId, CountId, EntityId, Event, FilterId, HeaderFieldId, HeaderId, KindId, LinkId,
    Local, LocalId, PortId, ReasonId, TimerId,
};
use crate::types::statement::{Attempt, Likely, Operation};
use std::collections::BTreeMap;

/// All trees of a stack.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Forest {
    /// The nodes.
    pub arena: Arena,
    /// Locals of all trees; a [`LocalId`] in a tree is an index of this table.
    pub locals: Vec<Local>,
    /// One for each reaction, in order of entity, kind, index and event.
    pub trees: Vec<Tree>,
    /// Where, in trees that are woven, the code of another reaction begins. Nothing depends on it
    /// but what a reader of the C is told, and the text form leaves it out.
    pub origins: BTreeMap<NodeId, Reaction>,
    /// Where what a node asks is written. Only people are told.
    pub places: BTreeMap<NodeId, Span>,
}

impl Forest {
    /// Notes that a node asks what another asked: it was written there, too.
    pub fn asks_as(&mut self, node: NodeId, other: NodeId) {
        if let Some(place) = self.places.get(&other).copied() {
            self.places.entry(node).or_insert(place);
        }
    }
}

/// What happens in one reaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// Which reaction.
    pub reaction: Reaction,
    /// What the caller gives: the instance where its index is not fixed, the message if the event
    /// carries one, the event's other parameters.
    pub parameters: Parameters,
    /// Where it begins.
    pub root: NodeId,
}

/// What a reaction is given. A [`Goal::Reaction`] gives arguments in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    /// Holds the index of the instance, unless it is fixed or the record.
    pub instance: Option<LocalId>,
    /// Holds the message.
    pub message: Option<LocalId>,
    /// Hold the other parameters.
    pub arguments: Vec<LocalId>,
}

/// The index of a tree, among [`Forest::trees`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TreeId(pub u32);

impl TreeId {
    /// The place in its table.
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

/// What starts a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reaction {
    /// A message or notice comes to an entity from below: its header is parsed, its session found.
    Arrive {
        /// The entity.
        entity: EntityId,
        /// Through which of its joints below.
        joint: u32,
        /// Which session it is for, where the joint says so (a worker or router); else `Any`. At a
        /// multiplexor on sessions that come and go, the parameter holds the session below.
        index: Index,
        /// Deliver, or an upward notice that a finder is written for.
        event: Event,
    },
    /// An instance handles an event.
    Handle {
        /// Its kind.
        kind: KindId,
        /// Which one.
        index: Index,
        /// The event.
        event: Event,
    },
}

/// Which instance of a kind a tree is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Index {
    /// This one, always: the tree is made for it alone, its keys are constants.
    Only(u32),
    /// Any: a parameter holds its index.
    Any,
    /// The one with this label on a session below, whose index a parameter holds: its other keys
    /// are constants. Trees for `Any` of such sessions only say which label it is.
    Label(u32),
}

/// A node of a tree.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// Two ways.
    Test {
        /// What is tested.
        condition: Expression,
        /// How often it is true.
        likely: Probability,
        /// Where it is true.
        then: NodeId,
        /// Where it is not.
        otherwise: NodeId,
    },
    /// Many ways, by the value of a number or enum.
    Case {
        /// What is tested.
        value: Expression,
        /// The ways, their values distinct.
        cases: Vec<(u64, Probability, NodeId)>,
        /// All other values.
        otherwise: NodeId,
    },
    /// Something that may fail: an instance that is looked for, a message that a queue takes.
    Try {
        /// What is tried: an [`Attempt::Instance`] here has exactly one step, and
        /// [`Attempt::Value`] does not occur (it is a test and a binding).
        attempt: Attempt,
        /// What holds the result.
        bind: Option<LocalId>,
        /// How often it succeeds.
        likely: Probability,
        /// Where it does.
        done: NodeId,
        /// Where it does not.
        failed: NodeId,
    },
    /// One step.
    Act {
        /// What is done.
        action: Action,
        /// What comes then.
        next: NodeId,
    },
    /// The end: what is to be handled now, in order. The first is handled at once, the others wait
    /// on the agenda before all that waited already.
    Leaf {
        /// The outputs.
        outputs: Vec<Output>,
    },
}

/// A share between 0 and 1 in units of a millionth, so that it can be compared and hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Probability(pub u32);

impl Probability {
    /// Nothing is known: one way is as likely as the other.
    pub const EVEN: Probability = Probability(500_000);

    /// Of a `likely` in percent.
    pub fn of(likely: Likely) -> Probability {
        match likely {
            Some(percent) => Probability((percent * 10_000.0).round() as u32),
            None => Probability::EVEN,
        }
    }

    /// That of two things, the second of which has this one where the first holds.
    pub fn behind(self, first: Probability) -> Probability {
        let both = u64::from(self.0) * u64::from(first.0) / 1_000_000;
        Probability(both as u32)
    }

    /// That of what is known to be among so many.
    pub fn within(self, all: Probability) -> Probability {
        let share = (u64::from(self.0) * 1_000_000).checked_div(u64::from(all.0));
        Probability(share.map_or(0, |share| share.min(1_000_000) as u32))
    }

    /// That of the other way.
    pub fn other(self) -> Probability {
        Probability(1_000_000_u32.saturating_sub(self.0))
    }
}

/// One step of a tree.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Binds a local: a value, an instance's index; a message moves to its new name.
    Let(LocalId, Expression),
    /// Writes a field.
    Assign(Variable, Expression),
    /// Sets an attribute of a message.
    SetAttribute(LocalId, AttributeId, Expression),
    /// The fixed part of a header is taken off a message that is long enough: from here on the
    /// header can be read. Leaves a mark where the entity has one.
    Strip(LocalId, HeaderId),
    /// So many more bytes of the header are taken off: its variable part.
    StripRest(LocalId, Expression),
    /// Puts a header before a message; counted and summed fields are computed.
    Push {
        /// The message.
        message: LocalId,
        /// The header.
        header: HeaderId,
        /// All fields written, but for counted and summed ones, in order on the wire.
        values: Vec<(HeaderFieldId, Expression)>,
        /// The session below that its sums ask, where it comes and goes.
        below: Option<Expression>,
    },
    /// Runs the filter of a `checks` field over its ranges of a message whose header is stripped,
    /// the field itself read as zero unless the filter says what the sum over it is; one that would
    /// say that nothing was summed is complemented.
    Sum {
        /// Holds the result.
        bind: LocalId,
        /// The message.
        message: LocalId,
        /// The header and its field.
        header: HeaderId,
        /// The field.
        field: HeaderFieldId,
        /// The filter's arguments.
        arguments: Vec<Expression>,
    },
    /// Runs a filter over a message's data.
    Scan {
        /// Holds the result.
        bind: LocalId,
        /// The message.
        message: LocalId,
        /// The filter.
        filter: FilterId,
        /// Its arguments.
        arguments: Vec<Expression>,
    },
    /// An operation that cannot fail.
    Do(Operation),
    /// A message is gone, for a reason.
    Drop(LocalId, ReasonId),
    /// All that a container holds is gone, for a reason.
    DropAll(Variable, ReasonId),
    /// A message has done its duty.
    Consume(LocalId),
    /// Counts one.
    Count(CountId),
    /// The way with this number is taken, among those of [`ways`]: a build that records counts it.
    Pass(u32),
    /// Starts a timer, anew if it runs.
    StartTimer(Instance, KindId, TimerId, Expression),
    /// Stops a timer.
    StopTimer(Instance, KindId, TimerId),
    /// The instance is found no more, and its timers stop. Its end is among the outputs.
    End(Instance, KindId),
    /// The slot of an instance that has ended is free again; messages left in it are released.
    Free(Instance, KindId),
    /// A loop without outputs; its body ends in an empty leaf.
    Loop(Loop),
    /// These wait on the agenda, before all that waits already, in order. The weaver makes it of
    /// the outputs behind the first.
    Wait(Vec<Output>),
    /// The host is told, which changes nothing that a tree reads: the step ends with each of
    /// these, and what comes then is another. What calls an application lets all go before it, and
    /// the step goes on. Only behind [`Query::GoesOn`].
    Answer(Vec<Output>),
    /// From here to [`Action::Turn`] outputs are put on the agenda where they are made.
    Begin,
    /// These are put on the agenda behind what this instant has put there. So a family is made
    /// before anything that it is made of changes.
    Put(Vec<Output>),
    /// A number: how much waits on the agenda.
    Mark(LocalId),
    /// What was put on the agenda since the second mark comes before what was put there since the
    /// first, which then is behind it.
    Precede(LocalId, LocalId),
    /// What this instant has put on the agenda waits there, in order, before all that waited.
    Turn,
    /// The first of that is handled at once, if there is any, as the first output of a leaf is.
    AtOnce,
}

/// A loop of a known bound.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Loop {
    /// Over what.
    pub range: Range,
    /// Holds the number, or the message that was taken.
    pub local: LocalId,
    /// What is done each turn. In a family its leaves hold the outputs of that turn.
    pub body: NodeId,
}

/// What a loop runs over.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Range {
    /// Numbers from the first to before the last.
    Numbers {
        /// The first.
        from: Expression,
        /// One past the last.
        to: Expression,
        /// Never more turns than this.
        at_most: u32,
        /// Counts what is beyond.
        clamped: Option<CountId>,
    },
    /// The messages of a queue, which leave it.
    Queue(Variable, u32),
}

/// What a leaf lets happen.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Output {
    /// One event.
    One {
        /// Where it goes.
        goal: Goal,
        /// The message that goes with it.
        message: Option<LocalId>,
        /// The event's other arguments.
        arguments: Vec<Expression>,
    },
    /// A family: the outputs of each turn, in order.
    Many(Loop),
    /// A notice on account of every live instance of a dynamic kind, in order of index.
    Every {
        /// The kind.
        kind: KindId,
        /// Only those that stand on this session below.
        on: Option<Instance>,
        /// Holds the index of the instance, each turn.
        local: LocalId,
        /// Where the notice goes; its instance is the local.
        goal: Goal,
        /// The notice's arguments; no message.
        arguments: Vec<Expression>,
    },
}

/// Where an output goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Goal {
    /// A frame leaves by a link.
    Frame(LinkId),
    /// A message or notice to an application, in the conversation with this index.
    Port(PortId, Instance, Event),
    /// Another tree; the instance is given unless it is fixed.
    Reaction(Reaction, Option<Instance>),
}
