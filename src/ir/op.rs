//! Operations: each with its operands, its results, and one line of meaning.
//!
//! An [`Op`] always succeeds. An [`Attempt`] may fail, and so stands in the terminator `try`, which
//! has an edge for each outcome. Operands are values; what is known when the stack is compiled (a
//! region, a width, a reason) is part of the operation. `signature.rs` says of which types operands
//! and results are, `effects.rs` which regions an operation reads and writes.

use super::ids::{
    AttributeId, CacheId, CounterId, FieldId, ForeignId, FunctionId, KernelId, KindId, LinkId,
    OpaqueId, PortId, ReasonId, SettingId, TimerId,
};
use super::types::Type;

/// An operation that cannot fail.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// `number iN n`: a constant.
    Number(u8, u64),
    /// `bytes N [..]`: constant bytes.
    Bytes(Vec<u8>),
    /// `real fN n`: a constant number with a fraction, by its bits.
    Real(u8, u64),
    /// `text T ".."`: a constant text, of a type of texts.
    Text(OpaqueId, String),
    /// `instance K n`: an instance that has a state from the start to the end.
    Instance(KindId, u32),
    /// `a, b -> number` of one width, modulo 2 to that width.
    Arithmetic(Arithmetic),
    /// `a, b -> i1`. Equality compares values of any type that is not linear, and of opaque types
    /// those of texts; the others compare numbers.
    Compare(Compare),
    /// `a, b -> number` or `a, b -> i1`: as IEEE 754 has it.
    Float(Floating),
    /// `not a`: all bits turned.
    Not,
    /// `c, a, b -> value`: `a` if the bit `c` is 1, else `b`; both are evaluated.
    Select,
    /// `zext iN a`: wider, with zeros.
    ZeroExtend(u8),
    /// `sext iN a`: wider, with copies of the highest bit.
    SignExtend(u8),
    /// `trunc iN a`: the lowest bits.
    Truncate(u8),
    /// `a, b, .. -> number`: side by side, the first the most significant.
    Concat,
    /// `bytes, at -> number`: a number out of bytes; `at` is in range.
    Get(Number),
    /// `bytes, at, number -> bytes`: the same bytes with a number in them; `at` is in range.
    Put(Number),
    /// `bytes, at, part -> bytes`: the same bytes with others in them; they are in range.
    PutBytes,
    /// `bytes -> bytes N`: cut, or filled with zeros.
    Resize(u32),
    /// `a -> i8`: the inverse in GF(256); 0 of 0.
    Inverse,
    /// `bytes, factor, other -> bytes`: a multiple of bytes or of a view is added in GF(256), as
    /// far as both reach.
    AddScaled,
    /// `bytes, factor -> bytes`: each byte multiplied in GF(256).
    Scale,
    /// `instance -> i32`: its index.
    Index,

    /// `place -> value`: what a region holds. The operands of a field are the instance and an index
    /// for each dimension, in range.
    Load(Region),
    /// `place, value`: from here on the region holds this.
    Store(Region),
    /// `view, at -> number`: a number at a byte offset of a view; it lies within the view.
    Read(Bits),
    /// `view, at -> bytes N`: bytes at an offset of a view; they lie within the view.
    ReadBytes(u32),
    /// `view, at, count -> bytes N`: so many bytes of a view, filled with zeros; `count` is at most
    /// N, and they lie within the view.
    ReadPart(u32),
    /// `msg, at, number`: writes into a message; within its length.
    Write(Number),
    /// `msg, at, bytes`: writes bytes into a message; within its length.
    WriteBytes,
    /// `msg, at, bytes, count`: writes the first so many bytes; within the length of the message.
    WritePart,

    /// `msg or view -> i32`: how many bytes it has.
    Length,
    /// `msg -> i32`: how many bytes of its buffer stand before it.
    Start,
    /// `msg -> i1`: it stands in a buffer of the stack. A fast function may be given a frame in
    /// memory of the host, which is read there alone.
    InBuffer,
    /// `msg -> value`: an attribute.
    Attribute(AttributeId),
    /// `msg, value -> msg`: the same message with another attribute.
    With(AttributeId),
    /// `msg -> view`: its bytes, which may be read as long as nothing else is written there.
    Look,
    /// `msg, n -> view`: the stripped bytes right before it, so many of them. They may be read as
    /// long as the message is not pushed or restored.
    Before,
    /// `msg, n -> view`: its bytes, and so many stripped bytes before them.
    Around,
    /// `view, at, length -> view`: a part of a view; it lies within the view.
    SubView,
    /// `msg, n -> msg`: so many more bytes before the message, not yet written. The headroom of a
    /// buffer has room for all headers of the stack.
    Push,
    /// `msg, n -> msg`: the first bytes taken off; it has that many.
    Pull,
    /// `msg, n -> msg`: the first bytes kept, the rest cut off; it has that many.
    Cut,

    /// `params.., pieces.. -> results`: runs a kernel over bytes, piece by piece as if they stood
    /// behind one another.
    Run(KernelId, Vec<Piece>),
    /// `msg, params.. -> msg`: runs a kernel over a message, each word replaced by what it yields;
    /// never longer than before.
    Rewrite(KernelId),
    /// `word`: in a kernel, the next word that comes out.
    Yield,

    /// `-> i1`: a buffer is free for a message that the stack makes.
    HasBuffer,
    /// `msg`: gone for a reason, which is counted.
    Drop(ReasonId),
    /// `msg`: it has done its duty.
    Consume,

    /// `index -> instance`: the instance with this index; it has a state.
    At(KindId),
    /// `instance -> i1`: it is found no more, though it still has a state.
    Ended(KindId),
    /// `index, keys.. -> instance`: an instance that lives with another, or from the start, gets
    /// its keys and is found by them from here on.
    Begin(KindId),
    /// `instance`: it is found no more, and its timers stop; its fields stay.
    End(KindId),
    /// `instance`: its state is gone, and its slot may be taken again; messages left in it are
    /// dropped.
    Free(KindId),
    /// `instance, deadline i64`: starts a timer, anew if it runs.
    StartTimer(KindId, TimerId),
    /// `instance`: stops a timer, if it runs.
    StopTimer(KindId, TimerId),
    /// `instance -> i1`: whether a timer runs.
    TimerRuns(KindId, TimerId),

    /// `place, operands.. -> results`: asks a container.
    Ask(Question, Place),
    /// `place, operands.. -> results`: changes a container.
    Change(Change, Place),

    /// `arguments..`: events that wait on the agenda.
    Queue(Order, Vec<Event>),
    /// `arguments..`: what leaves the stack. Only where [`Op::GoesOn`].
    Output(Vec<Event>),
    /// `n i32`: so many steps end, and others begin. An output takes none by itself.
    Step,
    /// `-> i32`: how much waits on the agenda.
    Waiting,
    /// `from, since -> i32`: what was put on the agenda since the second mark comes before what was
    /// put there since the first, which then begins at the result.
    Precede,
    /// `mark`: what was put since then stands in order, and before all that waited.
    Turn,
    /// `-> i1`: nothing waits, no application is being called, so many more steps may be taken, and
    /// their answers and one more have room.
    GoesOn(u32),

    /// `arguments.. -> results`: calls a function of the module.
    Call(FunctionId),
    /// `count i64, captured.., carried.. -> carried..`: calls a function for the turns 0, 1, .. of
    /// which there are `count`, but never more than so many. It is given the turn as an i32, the
    /// captured and the carried values, and returns whether to go on, and the carried values.
    Loop(FunctionId, u32),
    /// `arguments.. -> results`: calls a function in C; each call counts. The operands of what only
    /// C knows are those of its place.
    Foreign(ForeignId, Vec<Place>),
    /// Counts one.
    Count(CounterId),
    /// `n i64`: counts so many.
    CountBy(CounterId),
    /// The way with this number is taken, of a build that counts ways.
    Pass(u32),

    /// `c i1`: in a guard, leaves the fast function if the bit is 1. Nothing has been done.
    Exit(String),
    /// Ends the guard of a fast function: behind it stands no exit.
    Commit,
    /// `instance?, arguments.., results..`: a cache holds this from here on.
    Recompute(CacheId),
    /// `instance?`: a cache holds nothing from here on.
    Disarm(CacheId),
}

/// Operations on two numbers of one width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arithmetic {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Quotient without sign; the divisor is not 0.
    Udiv,
    /// Remainder without sign; the divisor is not 0.
    Urem,
    /// Quotient with sign, towards 0; the divisor is not 0, and the least number by -1 wraps.
    Sdiv,
    /// Remainder with sign; the divisor is not 0.
    Srem,
    /// Bits that both have.
    And,
    /// Bits that one has.
    Or,
    /// Bits that one alone has.
    Xor,
    /// Shifted to the left; 0 by the width or more.
    Shl,
    /// Shifted to the right with zeros; 0 by the width or more.
    Lshr,
    /// Shifted to the right with the sign; 0 by the width or more.
    Ashr,
    /// The lesser without sign.
    Umin,
    /// The greater without sign.
    Umax,
    /// The lesser with sign.
    Smin,
    /// The greater with sign.
    Smax,
}

/// Operations on one or two numbers with a fraction, of one type; and conversions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Floating {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Quotient.
    Div,
    /// The other sign.
    Neg,
    /// Equal; nothing is equal to what is no number.
    Eq,
    /// Less; nothing is less than what is no number, nor the other way round.
    Lt,
    /// Less or equal.
    Le,
    /// A number of 32 bits, with sign, as one with a fraction of 64 bits.
    FromInt,
    /// A number with a fraction as one of 32 bits, with sign: towards zero; 0 if it does not fit.
    ToInt,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compare {
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Less, without sign.
    Ult,
    /// At most, without sign.
    Ule,
    /// Less, with sign. Of two positions of a sequence this is asked of their difference.
    Slt,
    /// At most, with sign.
    Sle,
}

/// A number that fills whole bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Number {
    /// Bytes: 1 to 8.
    pub bytes: u8,
    /// True if the most significant byte comes first.
    pub big: bool,
}

/// Bits within bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bits {
    /// Bits before the number, 0 to 7: in a big number from the most significant of the first
    /// byte, in a little one from the least.
    pub skip: u8,
    /// Bits of the number, 1 to 64.
    pub width: u8,
    /// True if the most significant bit comes first.
    pub big: bool,
}

impl Bits {
    /// Bytes in which it stands, 1 to 9.
    pub fn bytes(self) -> u32 {
        (u32::from(self.skip) + u32::from(self.width)).div_ceil(8)
    }
}

/// A region that is loaded and stored. Two regions never share a byte; two instances or indices of
/// one region may be the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Region {
    /// A field of an instance.
    Field(KindId, FieldId),
    /// A value set at the start, constant from then on.
    Setting(SettingId),
    /// The time of the instant in nanoseconds, constant in it.
    Now,
    /// The bit of a cache that says that its content holds.
    Valid(CacheId),
    /// An argument or result that a cache holds: the first arguments, then results.
    Cached(CacheId, u32),
}

/// A container, or what only C knows: a field of an instance. Its operands are the instance and an
/// index for each dimension of the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The kind.
    pub kind: KindId,
    /// The field.
    pub field: FieldId,
}

/// A piece of what a kernel runs over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Piece {
    /// `view, from, to`: bytes of a view, which lie in it.
    Bytes,
    /// A number of zeros.
    Zeros(u32),
    /// `i8`: a byte.
    Byte,
}

/// Questions to a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Question {
    /// `-> i1`: whether a queue holds nothing.
    IsEmpty,
    /// `-> i1` of a queue, `n -> i1` of a window: whether it has a place for another item, with
    /// this number.
    Takes,
    /// `n -> i1`: whether a window or set has this number.
    Has,
    /// `-> i1, i32`: whether a window holds something, and the first number.
    First,
    /// `at, length -> i1`: whether so many bytes of a stream are there.
    Covers,
    /// `at -> i32`: how many bytes of a stream are there.
    Ready,
    /// `-> i32`: the first position of a stream.
    Begin,
    /// `-> i32`: the position behind the last byte of a stream.
    End,
}

/// Changes of containers that cannot fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// A queue, window, set or stream holds nothing, and begins at 0.
    Empty,
    /// `at`: an empty window or stream begins at this number; what was in a stream has done its
    /// duty.
    Restart,
    /// `n -> i1`: puts a number in a set; whether it is new.
    Add,
    /// Removes all numbers of a set.
    Clear,
    /// `to`: all before this number leaves a window, and has done its duty.
    Release,
    /// `to -> i32`: all before this position leaves a stream; how many bytes that is.
    ReleaseBytes,
    /// `n, item..`: puts an item in a window; the oldest make room, and have done their duty.
    Replace,
    /// All that it holds is dropped for a reason.
    DropAll(ReasonId),
}

/// Places on the agenda for events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// In order before all that waits.
    Front,
    /// In order behind all that waits.
    Back,
    /// As they are made: the next one first, until [`Op::Turn`].
    Made,
}

/// An event: where it goes, and how many of the operands are its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// The target.
    pub target: Target,
    /// The number of its arguments.
    pub arguments: u32,
}

/// Targets of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// A function of the module: a reaction.
    Function(FunctionId),
    /// `msg`: a frame leaves by a link.
    Link(LinkId),
    /// `session i32, msg?, arguments..`: an application is told something.
    Port(PortId, Told),
}

/// Events for an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Told {
    /// A message.
    Message,
    /// That a session is there, which a listener made.
    Started,
    /// A notice, among those that the port lists.
    Notice(u32),
}

/// An operation that may fail. If it fails nothing has changed, and a message that it would have
/// taken comes back as the last result.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Attempt {
    /// `-> msg`: an empty message; fails without a free buffer.
    New,
    /// `bytes, count -> msg`: a message of the first so many bytes.
    NewOf,
    /// `msg -> msg`: a second handle of a message that stays.
    Share,
    /// `msg, at, length -> msg`: a copy of a part of a message that stays, as far as it reaches.
    Copy,
    /// `msg, start -> msg`: stripped bytes are part of the message again, from this byte of its
    /// buffer on; fails if the message begins before.
    Restore,
    /// `msg, n -> msg`: so many zeros behind a message; fails where its buffer ends before.
    Pad,
    /// `msg, params.. -> msg`: as [`Op::Rewrite`], by a kernel that may yield more than it reads;
    /// fails without a free buffer, and where the result has no room. Stripped bytes stay before
    /// it.
    Rewrite(KernelId),
    /// `index -> instance`: fails if none with this index has a state.
    Live(KindId),
    /// `keys.. -> instance`: the one that is found by these keys.
    Find(KindId),
    /// `keys.. -> instance`: the one of those with these first keys whose timer expires first.
    Soonest(KindId, TimerId),
    /// `below -> instance`: the first that stands on a session below.
    Standing(KindId),
    /// `arguments.. -> instance`: one whose cache holds these arguments. It may fail though there
    /// is one.
    Recall(CacheId),
    /// `keys.. -> instance`: takes a slot; it has a state from here on, and is found by its keys.
    Create(KindId),
    /// `place -> item..`: the oldest of a queue.
    Pop(Place),
    /// `place, item..`: behind the others of a queue.
    PushItem(Place),
    /// `place, n, item..`: puts an item in a window.
    Insert(Place),
    /// `place, n -> item..`: takes the item with this number out of a window.
    Take(Place),
    /// `place, n -> msg`: a second handle of the message with this number of a window.
    ShareItem(Place),
    /// `place, at, msg`: the bytes of a message become part of a stream at a position.
    InsertBytes(Place),
    /// `place, msg`: the bytes of a message become part of a stream at its end.
    AppendBytes(Place),
    /// `place, count -> msg`: a message of so many bytes from the start of a stream, which leave
    /// it.
    TakeBytes(Place),
    /// `place, at, count -> msg`: a message of so many bytes of a stream, which stay.
    CopyBytes(Place),
    /// The same for a frame that leaves by a link which gathers: its bytes are read in the stream.
    /// Only what is pushed before them is written.
    BorrowBytes(Place),
}

impl Attempt {
    /// The container that it is about.
    pub fn place(&self) -> Option<Place> {
        match self {
            Attempt::Pop(place)
            | Attempt::PushItem(place)
            | Attempt::Insert(place)
            | Attempt::Take(place)
            | Attempt::ShareItem(place)
            | Attempt::InsertBytes(place)
            | Attempt::AppendBytes(place)
            | Attempt::TakeBytes(place)
            | Attempt::CopyBytes(place)
            | Attempt::BorrowBytes(place) => Some(*place),
            Attempt::New
            | Attempt::NewOf
            | Attempt::Share
            | Attempt::Copy
            | Attempt::Restore
            | Attempt::Pad
            | Attempt::Rewrite(_)
            | Attempt::Live(_)
            | Attempt::Find(_)
            | Attempt::Soonest(..)
            | Attempt::Standing(_)
            | Attempt::Recall(_)
            | Attempt::Create(_) => None,
        }
    }
}

impl Op {
    /// Returns true if an operation computes numbers of its operands alone, and never traps.
    pub fn is_total(&self) -> bool {
        match self {
            Op::Number(..)
            | Op::Compare(_)
            | Op::Not
            | Op::Select
            | Op::ZeroExtend(_)
            | Op::SignExtend(_)
            | Op::Truncate(_)
            | Op::Concat => true,
            Op::Arithmetic(how) => !matches!(
                how,
                Arithmetic::Udiv | Arithmetic::Urem | Arithmetic::Sdiv | Arithmetic::Srem
            ),
            _ => false,
        }
    }

    /// Returns true for a constant: a number, bytes, or an instance that always exists.
    pub fn is_constant(&self) -> bool {
        matches!(self, Op::Number(..) | Op::Bytes(_) | Op::Instance(..))
    }

    /// The number that it is, if it is a constant.
    pub fn number(&self) -> Option<u64> {
        match self {
            Op::Number(_, number) => Some(*number),
            _ => None,
        }
    }

    /// Its two operands may change places.
    pub fn is_commutative(&self) -> bool {
        use Arithmetic::{Add, And, Mul, Or, Smax, Smin, Umax, Umin, Xor};
        match self {
            Op::Arithmetic(how) => {
                matches!(how, Add | Mul | And | Or | Xor | Umin | Umax | Smin | Smax)
            }
            Op::Compare(how) => matches!(how, Compare::Eq | Compare::Ne),
            _ => false,
        }
    }

    /// A constant of a type: a number, or bytes that are all zero.
    pub fn zero(of: Type) -> Option<Op> {
        match of {
            Type::Int(bits) => Some(Op::Number(bits, 0)),
            Type::Bytes(length) => Some(Op::Bytes(vec![0; length as usize])),
            Type::Float(bits) => Some(Op::Real(bits, 0)),
            Type::Instance(_) | Type::Message | Type::View | Type::Opaque(_) => None,
        }
    }
}
