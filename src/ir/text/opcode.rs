//! Words for operations, in both directions.
//!
//! In: an operation. Out: its word. The lists give the way back: they hold each operation that is
//! its word alone, and the makers of those that add one name to it.

use crate::ir::op::{Arithmetic, Bits, Change, Compare, Floating, Number, Order, Place, Question};
use crate::ir::{Attempt, CacheId, KernelId, KindId, Op, Probability, TimerId};

/// Constant bytes of at most so many are written without the zeros at their end.
pub const MOST_ZEROS: usize = 4096;

/// The word of an operation; that of a number within bytes stands before its format.
pub fn word(op: &Op) -> &'static str {
    match op {
        Op::Number(..) => "number",
        Op::Bytes(_) => "bytes",
        Op::Real(..) => "real",
        Op::Text(..) => "text",
        Op::Float(how) => floating(*how),
        Op::Instance(..) => "instance",
        Op::Arithmetic(how) => arithmetic(*how),
        Op::Compare(how) => compare(*how),
        Op::Not => "not",
        Op::Select => "select",
        Op::ZeroExtend(_) => "zext",
        Op::SignExtend(_) => "sext",
        Op::Truncate(_) => "trunc",
        Op::Concat => "concat",
        Op::Get(_) => "get",
        Op::Put(_) => "put",
        Op::PutBytes => "put.bytes",
        Op::Resize(_) => "resize",
        Op::Inverse => "inverse",
        Op::AddScaled => "add_scaled",
        Op::Scale => "scale",
        Op::Index => "index",
        Op::Load(_) => "load",
        Op::Store(_) => "store",
        Op::Read(_) => "read",
        Op::ReadBytes(_) => "read.bytes",
        Op::ReadPart(_) => "read.part",
        Op::Write(_) => "write",
        Op::WriteBytes => "write.bytes",
        Op::WritePart => "write.part",
        Op::Length => "length",
        Op::Start => "start",
        Op::InBuffer => "in_buffer",
        Op::Attribute(_) => "attribute",
        Op::With(_) => "with",
        Op::Look => "look",
        Op::Before => "before",
        Op::Around => "around",
        Op::SubView => "subview",
        Op::Push => "push",
        Op::Pull => "pull",
        Op::Cut => "cut",
        Op::Run(..) => "run",
        Op::Rewrite(_) => "rewrite",
        Op::Yield => "yield",
        Op::HasBuffer => "has_buffer",
        Op::Drop(_) => "drop",
        Op::Consume => "consume",
        Op::At(_) => "at",
        Op::Ended(_) => "ended",
        Op::Begin(_) => "begin",
        Op::End(_) => "end",
        Op::Free(_) => "free",
        Op::StartTimer(..) => "start_timer",
        Op::StopTimer(..) => "stop_timer",
        Op::TimerRuns(..) => "timer_runs",
        Op::Ask(question, _) => ask(*question),
        Op::Change(how, _) => change(*how),
        Op::Queue(order, _) => queue(*order),
        Op::Output(_) => "output",
        Op::Waiting => "waiting",
        Op::Precede => "precede",
        Op::Turn => "turn",
        Op::Step => "step",
        Op::GoesOn(_) => "goes_on",
        Op::Call(_) => "call",
        Op::Loop(..) => "loop",
        Op::Foreign(..) => "foreign",
        Op::Count(_) => "count",
        Op::CountBy(_) => "count_by",
        Op::Pass(_) => "pass",
        Op::Exit(_) => "exit",
        Op::Commit => "commit",
        Op::Recompute(_) => "recompute",
        Op::Disarm(_) => "disarm",
    }
}

/// Operations that their word says alone.
pub const PLAIN: &[Op] = &[
    Op::Arithmetic(Arithmetic::Add),
    Op::Arithmetic(Arithmetic::Sub),
    Op::Arithmetic(Arithmetic::Mul),
    Op::Arithmetic(Arithmetic::Udiv),
    Op::Arithmetic(Arithmetic::Urem),
    Op::Arithmetic(Arithmetic::Sdiv),
    Op::Arithmetic(Arithmetic::Srem),
    Op::Arithmetic(Arithmetic::And),
    Op::Arithmetic(Arithmetic::Or),
    Op::Arithmetic(Arithmetic::Xor),
    Op::Arithmetic(Arithmetic::Shl),
    Op::Arithmetic(Arithmetic::Lshr),
    Op::Arithmetic(Arithmetic::Ashr),
    Op::Arithmetic(Arithmetic::Umin),
    Op::Arithmetic(Arithmetic::Umax),
    Op::Arithmetic(Arithmetic::Smin),
    Op::Arithmetic(Arithmetic::Smax),
    Op::Compare(Compare::Eq),
    Op::Compare(Compare::Ne),
    Op::Compare(Compare::Ult),
    Op::Compare(Compare::Ule),
    Op::Compare(Compare::Slt),
    Op::Compare(Compare::Sle),
    Op::Float(Floating::Add),
    Op::Float(Floating::Sub),
    Op::Float(Floating::Mul),
    Op::Float(Floating::Div),
    Op::Float(Floating::Neg),
    Op::Float(Floating::Eq),
    Op::Float(Floating::Lt),
    Op::Float(Floating::Le),
    Op::Float(Floating::FromInt),
    Op::Float(Floating::ToInt),
    Op::Not,
    Op::Select,
    Op::Concat,
    Op::PutBytes,
    Op::Inverse,
    Op::AddScaled,
    Op::Scale,
    Op::Index,
    Op::WriteBytes,
    Op::WritePart,
    Op::Length,
    Op::Start,
    Op::InBuffer,
    Op::Look,
    Op::Before,
    Op::Around,
    Op::SubView,
    Op::Push,
    Op::Pull,
    Op::Cut,
    Op::Yield,
    Op::HasBuffer,
    Op::Consume,
    Op::Waiting,
    Op::Precede,
    Op::Turn,
    Op::Step,
    Op::Commit,
];

/// Operations with a number of bits.
pub const WIDTHS: &[fn(u8) -> Op] = &[Op::ZeroExtend, Op::SignExtend, Op::Truncate];

/// Operations with a length or a count.
pub const LENGTHS: &[fn(u32) -> Op] = &[Op::Resize, Op::ReadBytes, Op::ReadPart, Op::GoesOn];

/// Operations with a number that fills bytes.
pub const FORMATS: &[fn(Number) -> Op] = &[Op::Get, Op::Put, Op::Write];

/// Operations with a kind.
pub const KINDS: &[fn(KindId) -> Op] = &[Op::At, Op::Ended, Op::Begin, Op::End, Op::Free];

/// Operations with a timer.
pub const TIMERS: &[fn(KindId, TimerId) -> Op] = &[Op::StartTimer, Op::StopTimer, Op::TimerRuns];

/// Operations with a cache.
pub const CACHES: &[fn(CacheId) -> Op] = &[Op::Recompute, Op::Disarm];

/// All questions.
pub const QUESTIONS: &[Question] = &[
    Question::IsEmpty,
    Question::Takes,
    Question::Has,
    Question::First,
    Question::Covers,
    Question::Ready,
    Question::Begin,
    Question::End,
];

/// All changes but the one that has a reason.
pub const CHANGES: &[Change] = &[
    Change::Empty,
    Change::Restart,
    Change::Add,
    Change::Clear,
    Change::Release,
    Change::ReleaseBytes,
    Change::Replace,
];

/// All orders.
pub const ORDERS: &[Order] = &[Order::Front, Order::Back, Order::Made];

/// The word of an operation that may fail.
pub fn attempt(attempt: &Attempt) -> &'static str {
    match attempt {
        Attempt::New => "new",
        Attempt::NewOf => "new_of",
        Attempt::Share => "share",
        Attempt::Copy => "copy",
        Attempt::Restore => "restore",
        Attempt::Pad => "pad",
        Attempt::Rewrite(_) => "rewrite",
        Attempt::Live(_) => "live",
        Attempt::Find(_) => "find",
        Attempt::Soonest(..) => "soonest",
        Attempt::Standing(_) => "standing",
        Attempt::Recall(_) => "recall",
        Attempt::Create(_) => "create",
        Attempt::Pop(_) => "pop",
        Attempt::PushItem(_) => "push_item",
        Attempt::Insert(_) => "insert",
        Attempt::Take(_) => "take",
        Attempt::ShareItem(_) => "share_item",
        Attempt::InsertBytes(_) => "insert_bytes",
        Attempt::AppendBytes(_) => "append_bytes",
        Attempt::TakeBytes(_) => "take_bytes",
        Attempt::CopyBytes(_) => "copy_bytes",
        Attempt::BorrowBytes(_) => "borrow_bytes",
    }
}

/// Attempts that are one word alone.
pub const PLAIN_ATTEMPTS: &[Attempt] = &[
    Attempt::New,
    Attempt::NewOf,
    Attempt::Share,
    Attempt::Copy,
    Attempt::Restore,
    Attempt::Pad,
];

/// Attempts with a kind.
pub const KIND_ATTEMPTS: &[fn(KindId) -> Attempt] = &[
    Attempt::Live,
    Attempt::Find,
    Attempt::Standing,
    Attempt::Create,
];

/// Attempts with a cache.
pub const CACHE_ATTEMPTS: &[fn(CacheId) -> Attempt] = &[Attempt::Recall];

/// Attempts with a place.
pub const PLACE_ATTEMPTS: &[fn(Place) -> Attempt] = &[
    Attempt::Pop,
    Attempt::PushItem,
    Attempt::Insert,
    Attempt::Take,
    Attempt::ShareItem,
    Attempt::InsertBytes,
    Attempt::AppendBytes,
    Attempt::TakeBytes,
    Attempt::CopyBytes,
    Attempt::BorrowBytes,
];

/// Attempts with a timer.
pub const TIMER_ATTEMPTS: &[fn(KindId, TimerId) -> Attempt] = &[Attempt::Soonest];

/// Attempts with a kernel.
pub const KERNEL_ATTEMPTS: &[fn(KernelId) -> Attempt] = &[Attempt::Rewrite];

fn arithmetic(how: Arithmetic) -> &'static str {
    match how {
        Arithmetic::Add => "add",
        Arithmetic::Sub => "sub",
        Arithmetic::Mul => "mul",
        Arithmetic::Udiv => "udiv",
        Arithmetic::Urem => "urem",
        Arithmetic::Sdiv => "sdiv",
        Arithmetic::Srem => "srem",
        Arithmetic::And => "and",
        Arithmetic::Or => "or",
        Arithmetic::Xor => "xor",
        Arithmetic::Shl => "shl",
        Arithmetic::Lshr => "lshr",
        Arithmetic::Ashr => "ashr",
        Arithmetic::Umin => "umin",
        Arithmetic::Umax => "umax",
        Arithmetic::Smin => "smin",
        Arithmetic::Smax => "smax",
    }
}

fn floating(how: Floating) -> &'static str {
    match how {
        Floating::Add => "fadd",
        Floating::Sub => "fsub",
        Floating::Mul => "fmul",
        Floating::Div => "fdiv",
        Floating::Neg => "fneg",
        Floating::Eq => "feq",
        Floating::Lt => "flt",
        Floating::Le => "fle",
        Floating::FromInt => "ffrom",
        Floating::ToInt => "fto",
    }
}

fn compare(how: Compare) -> &'static str {
    match how {
        Compare::Eq => "eq",
        Compare::Ne => "ne",
        Compare::Ult => "ult",
        Compare::Ule => "ule",
        Compare::Slt => "slt",
        Compare::Sle => "sle",
    }
}

fn ask(question: Question) -> &'static str {
    match question {
        Question::IsEmpty => "ask.is_empty",
        Question::Takes => "ask.takes",
        Question::Has => "ask.has",
        Question::First => "ask.first",
        Question::Covers => "ask.covers",
        Question::Ready => "ask.ready",
        Question::Begin => "ask.begin",
        Question::End => "ask.end",
    }
}

fn change(how: Change) -> &'static str {
    match how {
        Change::Empty => "change.empty",
        Change::Restart => "change.restart",
        Change::Add => "change.add",
        Change::Clear => "change.clear",
        Change::Release => "change.release",
        Change::ReleaseBytes => "change.release_bytes",
        Change::Replace => "change.replace",
        Change::DropAll(_) => "change.drop_all",
    }
}

fn queue(order: Order) -> &'static str {
    match order {
        Order::Front => "queue.front",
        Order::Back => "queue.back",
        Order::Made => "queue.made",
    }
}

/// The format of a number that fills bytes: `be16`.
pub fn number(number: Number) -> String {
    format!("{}{}", end(number.big), 8 * u32::from(number.bytes))
}

/// The format of bits within bytes: `be16`, `be13 skip 3`.
pub fn bits(bits: Bits) -> String {
    let skip = match bits.skip {
        0 => String::new(),
        skip => format!(" skip {skip}"),
    };
    format!("{}{}{skip}", end(bits.big), bits.width)
}

fn end(big: bool) -> &'static str {
    match big {
        true => "be",
        false => "le",
    }
}

/// The order of bytes and the number of bits that a format says.
pub fn format(text: &str) -> Option<(bool, u8)> {
    let big = text.strip_prefix("be").map(|width| (true, width));
    let (big, width) = big.or_else(|| text.strip_prefix("le").map(|width| (false, width)))?;
    let width: u8 = width.parse().ok()?;
    (1..=64).contains(&width).then_some((big, width))
}

/// A probability: `99.9%`.
pub fn percent(Probability(millionths): Probability) -> String {
    let (whole, part) = (millionths / 10_000, millionths % 10_000);
    let part = format!(".{part:04}");
    format!(
        "{whole}{}%",
        part.trim_end_matches('0').trim_end_matches('.')
    )
}

/// The probability that a number before `%` says.
pub fn probability(text: &str) -> Option<Probability> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if part.len() > 4 || part.is_empty() || !is_number(part) || !is_number(whole) {
        return None;
    }
    let whole: u32 = whole.parse().ok()?;
    let part: u32 = format!("{part:0<4}").parse().ok()?;
    let millionths = whole.checked_mul(10_000)?.checked_add(part)?;
    Some(Probability(millionths))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn probabilities_are_exact() {
        for millionths in [0, 1, 10, 999_999, 1_000_000, 500_000, 123_456, u32::MAX] {
            let text = percent(Probability(millionths));
            let number = text.strip_suffix('%').expect("a share is a percentage");
            assert_eq!(probability(number), Some(Probability(millionths)), "{text}");
        }
        assert_eq!(percent(Probability(999_000)), "99.9%");
        for wrong in ["", "1.", "1.00001", "99999999", "1.+1", "0x1"] {
            assert_eq!(probability(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn no_two_operations_have_one_word() {
        let mut words = BTreeSet::new();
        let all = PLAIN.iter().map(word);
        let all = all.chain(WIDTHS.iter().map(|make| word(&make(1))));
        let all = all.chain(LENGTHS.iter().map(|make| word(&make(1))));
        let all = all.chain(KINDS.iter().map(|make| word(&make(KindId(0)))));
        let all = all.chain(QUESTIONS.iter().map(|one| ask(*one)));
        let all = all.chain(CHANGES.iter().map(|one| change(*one)));
        for word in all {
            assert!(words.insert(word), "{word}");
        }
    }
}
