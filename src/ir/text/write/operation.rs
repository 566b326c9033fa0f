//! An operation with its operands -> one line of text.

use crate::ir::op::{Event, Piece, Place, Target, Told};
use crate::ir::text::lexer::quote;
use crate::ir::text::names::{Names, name};
use crate::ir::text::opcode::{MOST_ZEROS, attempt as attempt_word, bits, number, word};
use crate::ir::{Attempt, Op, Region, Type};

/// From here on numbers are written in hexadecimal digits, but for round ones.
const HEXADECIMAL: u64 = 0x1_0000;

/// A type.
pub fn type_of(names: &Names, of: Type) -> String {
    match of {
        Type::Instance(kind) => format!("inst {}", names.kinds.reference(kind.0)),
        Type::Opaque(of) => format!("opaque {}", names.opaques.reference(of.0)),
        Type::Int(_) | Type::Bytes(_) | Type::Message | Type::View | Type::Float(_) => {
            of.to_string()
        }
    }
}

/// A number.
pub fn digits(number: u64) -> String {
    match number < HEXADECIMAL || number.is_multiple_of(1000) {
        true => number.to_string(),
        false => format!("{number:#x}"),
    }
}

/// An operation with its operands, which are written already.
pub fn operation(names: &Names, op: &Op, operands: &[String]) -> String {
    worded(names, op, word(op), operands)
}

fn worded(names: &Names, op: &Op, word: &str, operands: &[String]) -> String {
    match op {
        Op::Number(bits, number) => listed(format!("{word} i{bits} {}", digits(*number)), operands),
        Op::Bytes(all) => listed(format!("{word} {} [{}]", all.len(), bytes(all)), operands),
        Op::Real(bits, number) => listed(format!("{word} f{bits} {}", digits(*number)), operands),
        Op::Text(of, text) => {
            let of = names.opaques.reference(of.0);
            listed(format!("{word} {of} {}", quote(text)), operands)
        }
        Op::Instance(kind, index) => {
            let kind = names.kinds.reference(kind.0);
            listed(format!("{word} {kind} {index}"), operands)
        }
        Op::ZeroExtend(to) | Op::SignExtend(to) | Op::Truncate(to) => {
            listed(format!("{word} i{to}"), operands)
        }
        Op::Get(format) | Op::Put(format) | Op::Write(format) => {
            listed(format!("{word}.{}", number(*format)), operands)
        }
        Op::Read(format) => listed(format!("{word}.{}", bits(*format)), operands),
        Op::Resize(length) | Op::ReadBytes(length) | Op::ReadPart(length) | Op::GoesOn(length) => {
            listed(format!("{word} {length}"), operands)
        }
        Op::Load(region) | Op::Store(region) => {
            listed(format!("{word} {}", region_of(names, *region)), operands)
        }
        Op::Attribute(id) | Op::With(id) => {
            let attribute = names.attributes.reference(id.0);
            listed(format!("{word} {attribute}"), operands)
        }
        Op::Run(id, all) => {
            let kernel = names.kernels.reference(id.0);
            listed(format!("{word} {kernel} [{}]", pieces(all)), operands)
        }
        Op::Rewrite(id) => {
            let kernel = names.kernels.reference(id.0);
            listed(format!("{word} {kernel}"), operands)
        }
        Op::Drop(id) => listed(
            format!("{word} {}", names.reasons.reference(id.0)),
            operands,
        ),
        Op::At(kind) | Op::Ended(kind) | Op::Begin(kind) | Op::End(kind) | Op::Free(kind) => {
            listed(
                format!("{word} {}", names.kinds.reference(kind.0)),
                operands,
            )
        }
        Op::StartTimer(kind, id) | Op::StopTimer(kind, id) | Op::TimerRuns(kind, id) => {
            listed(format!("{word} {}", names.timer(*kind, *id)), operands)
        }
        Op::Ask(_, place) => listed(format!("{word} {}", place_of(names, *place)), operands),
        Op::Change(how, place) => {
            let reason = match how {
                crate::ir::op::Change::DropAll(id) => {
                    format!(" {}", names.reasons.reference(id.0))
                }
                _other => String::new(),
            };
            let place = place_of(names, *place);
            listed(format!("{word} {place}{reason}"), operands)
        }
        Op::Queue(_, all) | Op::Output(all) => {
            let all = events(names, all, operands);
            format!("{word} {all}").trim_end().to_string()
        }
        Op::Call(id) => called(word, &names.functions.reference(id.0), operands),
        Op::Loop(id, most) => {
            let body = names.functions.reference(id.0);
            called(word, &format!("{body} at most {most} "), operands)
        }
        Op::Foreign(id, all) => {
            let mut function = names.foreigns.reference(id.0);
            if !all.is_empty() {
                let places: Vec<String> = all.iter().map(|one| place_of(names, *one)).collect();
                function += &format!(" [{}] ", places.join(", "));
            }
            called(word, &function, operands)
        }
        Op::Count(id) | Op::CountBy(id) => {
            let counter = names.counters.reference(id.0);
            listed(format!("{word} {counter}"), operands)
        }
        Op::Pass(way) => listed(format!("{word} {way}"), operands),
        Op::Exit(reason) => listed(format!("{word} {}", name(reason)), operands),
        Op::Recompute(id) | Op::Disarm(id) => {
            listed(format!("{word} {}", names.caches.reference(id.0)), operands)
        }
        Op::Arithmetic(_)
        | Op::Compare(_)
        | Op::Float(_)
        | Op::Not
        | Op::Select
        | Op::Concat
        | Op::PutBytes
        | Op::Inverse
        | Op::AddScaled
        | Op::Scale
        | Op::Index
        | Op::WriteBytes
        | Op::WritePart
        | Op::Length
        | Op::Start
        | Op::InBuffer
        | Op::Look
        | Op::Before
        | Op::Around
        | Op::SubView
        | Op::Push
        | Op::Pull
        | Op::Cut
        | Op::Yield
        | Op::HasBuffer
        | Op::Consume
        | Op::Waiting
        | Op::Precede
        | Op::Turn
        | Op::Step
        | Op::Commit => listed(word.to_string(), operands),
    }
}

/// An operation that may fail, with its operands.
pub fn attempt(names: &Names, attempt: &Attempt, operands: &[String]) -> String {
    let word = attempt_word(attempt);
    let head = match attempt {
        Attempt::New
        | Attempt::NewOf
        | Attempt::Share
        | Attempt::Copy
        | Attempt::Restore
        | Attempt::Pad => word.to_string(),
        Attempt::Rewrite(id) => format!("{word} {}", names.kernels.reference(id.0)),
        Attempt::Live(kind)
        | Attempt::Find(kind)
        | Attempt::Standing(kind)
        | Attempt::Create(kind) => format!("{word} {}", names.kinds.reference(kind.0)),
        Attempt::Soonest(kind, id) => format!("{word} {}", names.timer(*kind, *id)),
        Attempt::Recall(id) => format!("{word} {}", names.caches.reference(id.0)),
        Attempt::Pop(place)
        | Attempt::PushItem(place)
        | Attempt::Insert(place)
        | Attempt::Take(place)
        | Attempt::ShareItem(place)
        | Attempt::InsertBytes(place)
        | Attempt::AppendBytes(place)
        | Attempt::TakeBytes(place)
        | Attempt::CopyBytes(place)
        | Attempt::BorrowBytes(place) => format!("{word} {}", place_of(names, *place)),
    };
    listed(head, operands)
}

/// Events with their arguments; operands that are no arguments stand behind `+`.
pub fn events(names: &Names, all: &[Event], operands: &[String]) -> String {
    let mut rest = operands;
    let mut written = Vec::new();
    for event in all {
        let count = (event.arguments as usize).min(rest.len());
        let (own, others) = rest.split_at(count);
        written.push(format!(
            "{}({})",
            target(names, event.target),
            own.join(", ")
        ));
        rest = others;
    }
    let more = match rest {
        [] => String::new(),
        rest => format!(" + {}", rest.join(", ")),
    };
    (written.join(", ") + &more).trim_start().to_string()
}

/// Operands behind what they are operands of.
pub fn listed(head: String, operands: &[String]) -> String {
    match operands {
        [] => head,
        operands => format!("{head} {}", operands.join(", ")),
    }
}

fn called(word: &str, function: &str, operands: &[String]) -> String {
    format!("{word} {function}({})", operands.join(", "))
}

fn target(names: &Names, target: Target) -> String {
    match target {
        Target::Function(id) => names.functions.reference(id.0),
        Target::Link(id) => format!("link {}", names.links.reference(id.0)),
        Target::Port(id, told) => {
            let port = names.ports.reference(id.0);
            match told {
                Told::Message => format!("port {port} message"),
                Told::Started => format!("port {port} started"),
                Told::Notice(at) => {
                    let notices = names.up.get(id.at());
                    let notice = notices.map(|table| table.reference(at));
                    let notice = notice.unwrap_or_else(|| format!("#{at}"));
                    format!("port {port} notice {notice}")
                }
            }
        }
    }
}

fn region_of(names: &Names, region: Region) -> String {
    match region {
        Region::Field(kind, field) => names.field(kind, field),
        Region::Setting(id) => format!("setting {}", names.settings.reference(id.0)),
        Region::Now => "now".to_string(),
        Region::Valid(id) => format!("valid {}", names.caches.reference(id.0)),
        Region::Cached(id, at) => format!("cached {}[{at}]", names.caches.reference(id.0)),
    }
}

/// A field of a kind.
pub fn place_of(names: &Names, place: Place) -> String {
    names.field(place.kind, place.field)
}

fn pieces(all: &[Piece]) -> String {
    let pieces = all.iter().map(|piece| match piece {
        Piece::Bytes => "bytes".to_string(),
        Piece::Zeros(count) => format!("zeros {count}"),
        Piece::Byte => "byte".to_string(),
    });
    pieces.collect::<Vec<String>>().join(", ")
}

/// Bytes as digits, four together; zeros at the end are left out.
fn bytes(all: &[u8]) -> String {
    let end = all
        .iter()
        .rposition(|byte| *byte != 0)
        .map_or(0, |at| at + 1);
    let end = match all.len() <= MOST_ZEROS {
        true => end,
        false => all.len(),
    };
    let words = all[..end].chunks(4).map(|word| {
        let digits = word.iter().map(|byte| format!("{byte:02x}"));
        digits.collect::<String>()
    });
    words.collect::<Vec<String>>().join(" ")
}
