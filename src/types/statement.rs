//! Statements of checked handlers, functions and filters.
//!
//! Where a statement may fail, its `otherwise` takes the place of the rest of the block that it
//! stands in; what follows that block goes on.

use super::expression::{Expression, Instance, Variable};
use super::process::SignalId;
use super::program::{
    AttributeId, CountId, EntityId, Event, FilterId, FunctionId, HeaderFieldId, HeaderId, KindId,
    LocalId, ReasonId, Target, TimerId,
};
use crate::source::Span;

/// Statements, one after the other.
pub type Block = Vec<Statement>;

/// A statement, and where it is written.
#[derive(Clone, Debug)]
pub struct Statement {
    /// What it does.
    pub kind: StatementKind,
    /// Where it is written.
    pub span: Span,
}

/// How often a test is true, in percent; `None` where nobody said.
pub type Likely = Option<f64>;

/// What a statement does.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// `let`, and assignments to locals of functions.
    Let(LocalId, Expression),
    /// Something that may fail; then `otherwise` takes the place of the rest of the block.
    Attempt {
        /// What is tried.
        attempt: Attempt,
        /// What holds the result.
        bind: Option<LocalId>,
        /// How often it succeeds.
        likely: Likely,
        /// Takes the place of the rest of the block.
        otherwise: Block,
    },
    /// `require`: as an attempt.
    Require {
        /// What must hold.
        condition: Expression,
        /// How often it does.
        likely: Likely,
        /// Takes the place of the rest of the block.
        otherwise: Block,
    },
    /// Writes a field.
    Assign(Variable, Expression),
    /// Branches.
    If {
        /// The test.
        condition: Expression,
        /// How often it is true.
        likely: Likely,
        /// Where it is true.
        then: Block,
        /// Where it is not.
        otherwise: Block,
    },
    /// Branches on a value.
    Match {
        /// The value: a number or an enum.
        value: Expression,
        /// Its cases, distinct.
        cases: Vec<(u64, Likely, Block)>,
        /// All other values.
        otherwise: Block,
    },
    /// A loop of a known bound: in a function over anything, in a handler over what is stateless
    /// (a family of outputs) or over fields.
    For {
        /// Counts from the first to before the last.
        local: LocalId,
        /// The first value.
        from: Expression,
        /// One past the last value.
        to: Expression,
        /// Never more turns than this; what is beyond is counted.
        at_most: u32,
        /// What counts what is beyond; none where it cannot happen.
        clamped: Option<CountId>,
        /// What is done.
        body: Block,
    },
    /// `for message in held.drain()`: until the queue is empty, at most its capacity.
    Drain {
        /// What is taken, each turn.
        local: LocalId,
        /// The queue.
        queue: Variable,
        /// What is done.
        body: Block,
    },
    /// An operation on a field or message that cannot fail.
    Do(Operation),
    /// An output: queued in order, handled when the handler has finished.
    Output(Output),
    /// The message, or all that a container holds, is gone for a reason.
    Drop(Dropped, ReasonId),
    /// The message has done its duty.
    Consume(LocalId),
    /// Counts.
    Count(CountId),
    /// Starts a timer, anew if it runs.
    StartTimer(Instance, KindId, TimerId, Expression),
    /// Stops a timer, if it runs.
    StopTimer(Instance, KindId, TimerId),
    /// The instance is found no more; its end handler is an output at this place.
    End(Instance, KindId),
    /// Functions only.
    Return(Expression),
    /// Filters only: the next unit that comes out.
    Yield(Expression),
    /// Processes only.
    React(Box<React>),
    /// Only in handlers that processes became: what orders their ways.
    Ordered(Ordered),
}

/// What orders the ways of a handler that processes became.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ordered {
    /// All that is left to do in this handler is this block of it.
    Go(BlockId),
    /// What follows is done by the branch at this place.
    Branch(PlaceId),
    /// Where ways meet again: notes how much waits on the agenda.
    Mark(LocalId),
    /// Where ways meet again: what is due is put on the agenda, behind all that this instant has
    /// put there, or before what it has put there since a mark.
    Put(Option<LocalId>),
}

/// A block that several paths through a handler lead to, among [`super::program::Handler::blocks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub u32);

/// Where a branch stands among those that run in parallel, among
/// [`super::program::Handler::places`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PlaceId(pub u32);

/// What processes do, and handlers of instances without any do not.
#[derive(Clone, Debug)]
pub enum React {
    /// A signal is present, with a value if it carries one.
    Emit(SignalId, Option<Expression>),
    /// Ends in the next instant.
    Pause,
    /// Again and again.
    Loop(Block),
    /// In lock-step, until all have ended.
    Parallel(Vec<Block>),
    /// Ends when its body does, or exits it.
    Trap {
        /// How many traps stand around it.
        level: u32,
        /// What can be left.
        body: Block,
    },
    /// Leaves the trap around which so many stand.
    Exit(u32),
    /// Ends the body when something comes.
    Abort {
        /// Whether the body runs in that instant for a last time.
        weak: bool,
        /// What ends it. Of several at once the first counts.
        cases: Vec<Wait>,
        /// What is ended; without, it only waits.
        body: Option<Block>,
    },
    /// The body stands still in the instants in which one of these signals is present.
    Suspend {
        /// The signals.
        signals: Vec<SignalId>,
        /// What stands still.
        body: Block,
    },
    /// From here on the message is this branch's own.
    Take(LocalId),
}

/// Something that is waited for, and what is done then.
#[derive(Clone, Debug)]
pub struct Wait {
    /// One of these signals comes.
    pub signals: Vec<SignalId>,
    /// Whether the instant in which the wait begins counts.
    pub now: bool,
    /// How often it must come, and the field that counts.
    pub times: Option<(Expression, Variable)>,
    /// What must hold besides.
    pub guard: Option<Expression>,
    /// How often that holds.
    pub likely: Likely,
    /// What is done then.
    pub then: Block,
    /// Where it is written.
    pub span: Span,
}

/// What is dropped.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Dropped {
    /// A message.
    Message(LocalId),
    /// All that a queue, window or stream holds.
    Container(Variable),
}

/// An output of a handler.
#[derive(Clone, Debug)]
pub enum Output {
    /// `send`: down through a joint, the header pushed.
    Send {
        /// What is sent.
        message: Source,
        /// Which of `Entity::below`.
        joint: u32,
        /// Every header field that is written, in order on the wire, but for those that are
        /// required, counted and summed. Defaults stand here as in the header: what they say of
        /// `LocalId::MESSAGE` is about the message that goes out.
        header: Vec<(HeaderFieldId, Expression)>,
        /// Attributes that are set; all others are relayed.
        attributes: Vec<(AttributeId, Expression)>,
    },
    /// `deliver`: up.
    Deliver {
        /// What is delivered.
        message: Source,
        /// Attributes that are set.
        attributes: Vec<(AttributeId, Expression)>,
    },
    /// `tell`.
    Tell {
        /// Who is told.
        target: TellTarget,
        /// Deliver or a notice.
        event: Event,
        /// The message that it carries.
        message: Option<Source>,
        /// Its other arguments.
        arguments: Vec<Expression>,
        /// Attributes that are set.
        attributes: Vec<(AttributeId, Expression)>,
    },
    /// `again`: another instant of this instance, after all its outputs.
    Again,
}

/// Who is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TellTarget {
    /// Through the joint above. From an entity record, or at a multiplexor: every session's.
    /// From what is used by side joints: the users that handle it.
    Above,
    /// Through the joint below.
    Below(u32),
    /// An entity beside the path.
    Side(EntityId),
    /// An instance.
    Instance(LocalId, KindId),
}

/// Where a message comes from. All but `Local` need a free buffer; without one the statement does
/// nothing, and `no_buffer` is counted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// A message that the handler owns.
    Local(LocalId),
    /// An empty one.
    New,
    /// One with so many of these bytes.
    NewFrom(Variable, Expression),
    /// A second handle.
    Share(LocalId),
    /// A copy of so many bytes at a place; what is beyond the end is left out.
    Piece(LocalId, Expression, Expression),
    /// So many bytes from the start of a stream, which are then released.
    TakeStream(Variable, Expression),
    /// So many bytes at a position of a stream, which stay.
    SliceStream(Variable, Expression, Expression),
}

/// Something that may fail.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Attempt {
    /// `find … or … else create …`: binds an instance.
    Instance(Vec<Search>),
    /// `let x = optional`: binds its value.
    Value(Expression),
    /// Binds a message.
    Pop(Variable),
    /// Binds a value of a queue that does not hold messages.
    PopValue(Variable),
    /// Owns the message if it succeeds.
    Push(Variable, Source),
    /// Pushes what is no message.
    PushValue(Variable, Expression),
    /// Owns the message if it succeeds. The number comes first.
    InsertWindow(Variable, Expression, Source),
    /// Puts what is no message in a window. The number comes first.
    InsertValue(Variable, Expression, Expression),
    /// Binds the value with this number, which leaves the window.
    TakeValue(Variable, Expression),
    /// Binds the message with this number, which leaves the window.
    TakeWindow(Variable, Expression),
    /// Binds a second handle to the message with this number.
    ShareWindow(Variable, Expression),
    /// Merges the message into the stream if it succeeds.
    InsertStream(Variable, Expression, LocalId),
    /// The same, at its end.
    AppendStream(Variable, LocalId),
    /// Binds a header at the start of the message's data.
    Peek(LocalId, HeaderId),
    /// Gives stripped headers back, up to the mark that this attribute holds.
    Restore(LocalId, AttributeId),
    /// Appends so many zero bytes to a message's data; fails where its buffer ends before.
    Pad(LocalId, Expression),
    /// Runs a filter that grows over a message's data, into another buffer; fails without a free
    /// one, and where the result does not fit.
    Rewrite(LocalId, FilterId, Vec<Expression>),
    /// Binds a new message; fails without a free buffer.
    Message(Source),
}

/// One step of looking for an instance.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Search {
    /// One that exists.
    Find(Target),
    /// The one whose timer expires first, of those for which it is running and whose first keys
    /// are these.
    Soonest(KindId, TimerId, Vec<Expression>),
    /// The first session, in order of index, that stands on this one below. Trees only.
    Standing(KindId, Instance),
    /// A new one; its start instant is an output at this place. A session that a listener makes
    /// waits at it until the application accepts it; no more of them may wait than its backlog.
    Create(KindId, Vec<Expression>, Option<Instance>),
}

/// The arguments of `add` and `xor`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    /// The data of a message.
    Data(LocalId),
    /// Other bytes, or the same.
    Bytes(Variable),
}

/// An operation that cannot fail.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Strips so many bytes, or all there are, from the front.
    Skip(LocalId, Expression),
    /// Keeps so many bytes, or all there are.
    Cut(LocalId, Expression),
    /// Puts a message in the window; the oldest make room, and are released.
    ReplaceWindow(Variable, Expression, Source),
    /// The same with what is no message.
    ReplaceValue(Variable, Expression, Expression),
    /// Releases all before this number or position.
    Release(Variable, Expression),
    /// Gives a stream its first position.
    Begin(Variable, Expression),
    /// Empties a set, or gives an array its initial values.
    Clear(Variable),
    /// Adds a multiple of a term to bytes, in GF(256); as many bytes as both have.
    Add(Variable, Expression, Term),
    /// Multiplies bytes by a number, in GF(256).
    Scale(Variable, Expression),
    /// Runs a rewriting filter that does not grow over a message's data, where it stands.
    Rewrite(LocalId, FilterId, Vec<Expression>),
    /// Calls a function for what it does outside (extern).
    Call(FunctionId, Vec<Expression>),
}
