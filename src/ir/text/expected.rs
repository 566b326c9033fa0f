//! The types that operands have to have, as far as an operation and its other operands say them.
//!
//! In: an operation and the types of its operands that are known. Out: by operand the type that it
//! has to have; none where nothing says it. So a number in the text needs its type only there.

use crate::ir::interface::{Given, Shape};
use crate::ir::op::{Change, Event, Number, Piece, Place, Question};
use crate::ir::signature::{arguments, items, keys, parameters, place_type, region_type};
use crate::ir::{
    Attempt, CacheId, FunctionId, KernelId, Module, Op, Region, Stored, Terminator, Type,
};

/// A type that is known, or none.
pub type Known = Option<Type>;

const ANY: Known = None;
const WORD: Known = Some(Type::WORD);

/// The types that the operands of an operation have to have.
pub fn operands(module: &Module, op: &Op, known: &[Known]) -> Vec<Known> {
    match op {
        Op::Arithmetic(_) | Op::Compare(_) => alike(known),
        Op::Select => {
            let mut all = vec![Some(Type::BIT)];
            all.extend(alike(known.get(1..).unwrap_or_default()));
            all
        }
        Op::Get(_) | Op::PutBytes | Op::Before | Op::Around | Op::Push | Op::Pull | Op::Cut => {
            vec![ANY, WORD]
        }
        Op::Put(format) | Op::Write(format) => vec![ANY, WORD, filled(*format)],
        Op::AddScaled | Op::Scale => vec![ANY, Some(Type::BYTE)],
        Op::Inverse => vec![Some(Type::BYTE)],
        Op::Load(region) => region_type(module, *region).map_or(vec![], |one| all(one.0)),
        Op::Store(region) => region_type(module, *region).map_or(vec![], |(mut place, of)| {
            place.push(of);
            all(place)
        }),
        Op::Read(_) | Op::ReadBytes(_) | Op::ReadPart(_) | Op::SubView => vec![ANY, WORD, WORD],
        Op::WriteBytes | Op::WritePart => vec![ANY, WORD, ANY, WORD],
        Op::With(id) => {
            let attribute = module.attributes.get(id.at());
            vec![ANY, attribute.map(|one| one.of)]
        }
        Op::Run(id, pieces) => {
            let mut all = of_kernel(module, *id);
            for piece in pieces {
                match piece {
                    Piece::Bytes => all.extend([ANY, WORD, WORD]),
                    Piece::Zeros(_) => {}
                    Piece::Byte => all.push(Some(Type::BYTE)),
                }
            }
            all
        }
        Op::Rewrite(id) => behind(ANY, of_kernel(module, *id)),
        Op::At(_) => vec![WORD],
        Op::Begin(kind) => behind(WORD, all(keys(module, *kind))),
        Op::StartTimer(..) => vec![ANY, Some(Type::TIME)],
        Op::Ask(question, place) => in_place(module, *place, asked(module, *question, *place)),
        Op::Change(how, place) => in_place(module, *place, changed(module, *how, *place)),
        Op::Queue(_, events) | Op::Output(events) => of_events(module, events),
        Op::Precede => vec![WORD, WORD],
        Op::Turn | Op::Step => vec![WORD],
        Op::Call(id) => of_function(module, *id),
        Op::Loop(id, _) => {
            let own = of_function(module, *id);
            let rest = own.get(1..).unwrap_or_default();
            behind(Some(Type::TIME), rest.to_vec())
        }
        Op::Foreign(id, places) => of_foreign(module, id.0, places),
        Op::CountBy(_) => vec![Some(Type::TIME)],
        Op::Exit(_) => vec![Some(Type::BIT)],
        Op::Recompute(id) => {
            let mut all = holder(module, *id);
            all.extend(module.cached(*id).into_iter().map(Some));
            all
        }
        Op::Number(..)
        | Op::Bytes(_)
        | Op::Real(..)
        | Op::Text(..)
        | Op::Float(_)
        | Op::Instance(..)
        | Op::Not
        | Op::ZeroExtend(_)
        | Op::SignExtend(_)
        | Op::Truncate(_)
        | Op::Concat
        | Op::Resize(_)
        | Op::Index
        | Op::Length
        | Op::Start
        | Op::InBuffer
        | Op::Attribute(_)
        | Op::Look
        | Op::Yield
        | Op::HasBuffer
        | Op::Drop(_)
        | Op::Consume
        | Op::Ended(_)
        | Op::End(_)
        | Op::Free(_)
        | Op::StopTimer(..)
        | Op::TimerRuns(..)
        | Op::Waiting
        | Op::GoesOn(_)
        | Op::Count(_)
        | Op::Pass(_)
        | Op::Commit
        | Op::Disarm(_) => Vec::new(),
    }
}

/// The types that the operands of an operation that may fail have to have.
pub fn attempted(module: &Module, attempt: &Attempt) -> Vec<Known> {
    let item = |place: Place| all(items(module, place).unwrap_or_default());
    match attempt {
        Attempt::New | Attempt::Share => Vec::new(),
        Attempt::NewOf | Attempt::Restore | Attempt::Pad => vec![ANY, WORD],
        Attempt::Copy => vec![ANY, WORD, WORD],
        Attempt::Rewrite(id) => behind(ANY, of_kernel(module, *id)),
        Attempt::Live(_) | Attempt::Standing(_) => vec![WORD],
        Attempt::Recall(id) => all(module.cached_arguments(*id)),
        Attempt::Find(kind) | Attempt::Create(kind) | Attempt::Soonest(kind, _) => {
            all(keys(module, *kind))
        }
        Attempt::Pop(place) | Attempt::AppendBytes(place) => in_place(module, *place, vec![]),
        Attempt::PushItem(place) => in_place(module, *place, item(*place)),
        Attempt::Insert(place) => in_place(module, *place, behind(WORD, item(*place))),
        Attempt::Take(place)
        | Attempt::ShareItem(place)
        | Attempt::TakeBytes(place)
        | Attempt::InsertBytes(place) => in_place(module, *place, vec![WORD]),
        Attempt::CopyBytes(place) | Attempt::BorrowBytes(place) => {
            in_place(module, *place, vec![WORD, WORD])
        }
    }
}

/// The types that the values have to have which a terminator uses itself.
pub fn ended(module: &Module, results: &[Type], terminator: &Terminator) -> Vec<Known> {
    match terminator {
        Terminator::Branch { .. } => vec![Some(Type::BIT)],
        Terminator::Try { attempt, .. } => attempted(module, attempt),
        Terminator::Return(_) => all(results.to_vec()),
        Terminator::Tail(event, _) => of_events(module, &[*event]),
        Terminator::Take(_) => vec![WORD],
        Terminator::Jump(_) | Terminator::Switch { .. } | Terminator::Never => Vec::new(),
    }
}

fn all(types: Vec<Type>) -> Vec<Known> {
    types.into_iter().map(Some).collect()
}

fn behind(first: Known, mut rest: Vec<Known>) -> Vec<Known> {
    rest.insert(0, first);
    rest
}

fn alike(known: &[Known]) -> Vec<Known> {
    let one = known.iter().flatten().next().copied();
    vec![one; known.len()]
}

fn filled(format: Number) -> Known {
    let width = u32::from(format.bytes) * 8;
    u8::try_from(width).ok().map(Type::Int)
}

fn in_place(module: &Module, place: Place, rest: Vec<Known>) -> Vec<Known> {
    let own = place_type(module, place).map_or(Vec::new(), |(own, _)| all(own));
    own.into_iter().chain(rest).collect()
}

fn asked(module: &Module, question: Question, place: Place) -> Vec<Known> {
    let stored = place_type(module, place).map(|(_, stored)| stored);
    match question {
        Question::IsEmpty | Question::First | Question::Begin | Question::End => Vec::new(),
        Question::Takes if matches!(stored, Ok(Stored::Queue(..))) => Vec::new(),
        Question::Has | Question::Ready | Question::Takes => vec![WORD],
        Question::Covers => vec![WORD, WORD],
    }
}

fn changed(module: &Module, how: Change, place: Place) -> Vec<Known> {
    match how {
        Change::Empty | Change::Clear | Change::DropAll(_) => Vec::new(),
        Change::Restart | Change::Add | Change::Release | Change::ReleaseBytes => vec![WORD],
        Change::Replace => behind(WORD, all(items(module, place).unwrap_or_default())),
    }
}

fn of_events(module: &Module, events: &[Event]) -> Vec<Known> {
    let mut expected = Vec::new();
    for event in events {
        let mut own = all(arguments(module, event.target).unwrap_or_default());
        own.resize(event.arguments as usize, ANY);
        expected.extend(own);
    }
    expected
}

fn of_function(module: &Module, id: FunctionId) -> Vec<Known> {
    let function = module.functions.get(id.at());
    function.map_or(Vec::new(), |function| all(parameters(function)))
}

fn of_kernel(module: &Module, id: KernelId) -> Vec<Known> {
    let kernel = module.kernels.get(id.at());
    kernel.map_or(Vec::new(), |kernel| all(kernel.parameters.clone()))
}

fn of_foreign(module: &Module, id: u32, places: &[Place]) -> Vec<Known> {
    let mut places = places.iter();
    let mut expected = Vec::new();
    let foreign = module.foreigns.get(id as usize);
    for (_, parameter) in foreign.iter().flat_map(|one| &one.parameters) {
        match parameter {
            Given::Value(shape) | Given::Changed(shape) => {
                expected.extend(all(Shape::parts(shape)));
            }
            Given::Data | Given::Rewritten => expected.push(ANY),
            Given::State(_) => {
                let place = places.next().map(|place| in_place(module, *place, vec![]));
                expected.extend(place.unwrap_or_default());
            }
        }
    }
    expected
}

fn holder(module: &Module, id: CacheId) -> Vec<Known> {
    let place = region_type(module, Region::Valid(id));
    place.map_or(Vec::new(), |(place, _)| all(place))
}
