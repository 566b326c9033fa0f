//! The types of operands and results of each operation.
//!
//! In: an operation, and the types of its operands. Out: the types of its results, or what is wrong
//! with the operands.

use super::function::Function;
use super::ids::{CacheId, ForeignId, FunctionId, KernelId, KindId, LinkId, OpaqueId, PortId};
use super::interface::Given;
use super::op::{
    Attempt, Change, Event, Floating, Op, Piece, Place, Question, Region, Target, Told,
};
use super::types::Type;
use super::{Module, Stored};

/// The types of results, or a sentence that says what is wrong.
pub type Typed<T> = Result<T, String>;

/// The results of an operation on operands of these types.
pub fn results(module: &Module, op: &Op, operands: &[Type]) -> Typed<Vec<Type>> {
    results_of(module, op, operands, &Operands(operands))
}

fn results_of(
    module: &Module,
    op: &Op,
    operands: &[Type],
    given: &Operands<'_>,
) -> Typed<Vec<Type>> {
    Ok(match op {
        Op::Number(bits, number) => {
            given.are(&[])?;
            width(*bits)?;
            if *number > super::types::ones(*bits) {
                return Err(format!("{number} has no room in i{bits}"));
            }
            vec![Type::Int(*bits)]
        }
        Op::Bytes(bytes) => {
            given.are(&[])?;
            vec![Type::Bytes(bytes.len() as u32)]
        }
        Op::Real(bits, number) => {
            given.are(&[])?;
            precision(*bits)?;
            expect(
                *number <= super::types::ones(*bits),
                "the number has more bits",
            )?;
            vec![Type::Float(*bits)]
        }
        Op::Text(of, _) => {
            given.are(&[])?;
            expect(is_text(module, *of), "the type is none of texts")?;
            vec![Type::Opaque(*of)]
        }
        Op::Float(how) => vec![floating(*how, operands)?],
        Op::Instance(kind, _) => {
            given.are(&[])?;
            vec![Type::Instance(*kind)]
        }
        Op::Arithmetic(_) => vec![given.two_alike()?],
        Op::Compare(compare) => {
            use super::op::Compare::{Eq, Ne};
            match compare {
                Eq | Ne => given.two_values(module)?,
                _ordered => {
                    given.two_alike()?;
                }
            }
            vec![Type::BIT]
        }
        Op::Not => vec![Type::Int(given.only_number()?)],
        Op::Select => vec![given.choice()?],
        Op::ZeroExtend(to) | Op::SignExtend(to) => {
            let from = given.only_number()?;
            width(*to)?;
            expect(from <= *to, "an extension is not narrower")?;
            vec![Type::Int(*to)]
        }
        Op::Truncate(to) => {
            let from = given.only_number()?;
            width(*to)?;
            expect(*to <= from, "what is cut is not wider")?;
            vec![Type::Int(*to)]
        }
        Op::Concat => {
            let bits = operands.iter().map(|one| one.bits().map(u32::from));
            let bits: Option<u32> = bits.sum();
            let bits = bits.filter(|bits| (1..=64).contains(bits));
            vec![Type::Int(
                bits.ok_or("numbers of 64 bits at most in all")? as u8
            )]
        }
        Op::Get(_)
        | Op::Put(_)
        | Op::PutBytes
        | Op::Resize(_)
        | Op::Inverse
        | Op::AddScaled
        | Op::Scale => bytes(op, given)?,
        Op::Load(region) => {
            let (place, of) = region_type(module, *region)?;
            given.are(&place)?;
            vec![of]
        }
        Op::Store(region) => {
            let (mut place, of) = region_type(module, *region)?;
            place.push(of);
            given.are(&place)?;
            Vec::new()
        }
        Op::Read(_)
        | Op::ReadBytes(_)
        | Op::ReadPart(_)
        | Op::Write(_)
        | Op::WriteBytes
        | Op::WritePart
        | Op::Length
        | Op::Start
        | Op::InBuffer
        | Op::Attribute(_)
        | Op::With(_)
        | Op::Look
        | Op::Before
        | Op::Around
        | Op::SubView
        | Op::Push
        | Op::Pull
        | Op::Cut => message(module, op, given)?,
        Op::Run(..) | Op::Rewrite(_) | Op::Yield => kernel(module, op, given)?,

        Op::Drop(_) | Op::Consume => given.nothing(&[Type::Message])?,
        Op::At(kind) => {
            given.are(&[Type::WORD])?;
            vec![Type::Instance(*kind)]
        }
        Op::Index => match operands {
            [Type::Instance(_)] => vec![Type::WORD],
            _ => return Err("an instance is expected".to_string()),
        },
        Op::Ended(kind) | Op::TimerRuns(kind, _) => {
            given.are(&[Type::Instance(*kind)])?;
            vec![Type::BIT]
        }
        Op::Begin(kind) => {
            let mut expected = vec![Type::WORD];
            expected.extend(keys(module, *kind));
            given.are(&expected)?;
            vec![Type::Instance(*kind)]
        }
        Op::End(kind) | Op::Free(kind) | Op::StopTimer(kind, _) => {
            given.nothing(&[Type::Instance(*kind)])?
        }
        Op::StartTimer(kind, _) => given.nothing(&[Type::Instance(*kind), Type::TIME])?,
        Op::Ask(question, place) => ask(module, *question, *place, given)?,
        Op::Change(how, place) => change(module, *how, *place, given)?,
        Op::Queue(_, all) | Op::Output(all) => {
            events(module, all, operands)?;
            Vec::new()
        }
        Op::Waiting => {
            given.are(&[])?;
            vec![Type::WORD]
        }
        Op::Precede => {
            given.are(&[Type::WORD, Type::WORD])?;
            vec![Type::WORD]
        }
        Op::Turn | Op::Step => given.nothing(&[Type::WORD])?,
        Op::GoesOn(_) | Op::HasBuffer => {
            given.are(&[])?;
            vec![Type::BIT]
        }
        Op::Call(function) => {
            let function = function_of(module, *function)?;
            given.are(&parameters(function))?;
            function.results.clone()
        }
        Op::Loop(body, _) => turns(module, *body, given)?,
        Op::Foreign(id, places) => foreign(module, *id, places, given)?,
        Op::Count(_) | Op::Pass(_) | Op::Commit => given.nothing(&[])?,
        Op::CountBy(_) => given.nothing(&[Type::TIME])?,
        Op::Exit(_) => given.nothing(&[Type::BIT])?,
        Op::Recompute(id) => {
            let mut expected = holder(module, *id)?;
            expected.extend(module.cached(*id));
            given.nothing(&expected)?
        }
        Op::Disarm(id) => given.nothing(&holder(module, *id)?)?,
    })
}

/// The results of an operation that may fail: if it succeeds, and if it fails.
pub fn outcomes(
    module: &Module,
    attempt: &Attempt,
    operands: &[Type],
) -> Typed<(Vec<Type>, Vec<Type>)> {
    match attempt.place() {
        Some(place) => outcomes_in_place(module, attempt, place, &Operands(operands)),
        None => outcomes_elsewhere(module, attempt, &Operands(operands)),
    }
}

fn outcomes_elsewhere(
    module: &Module,
    attempt: &Attempt,
    given: &Operands<'_>,
) -> Typed<(Vec<Type>, Vec<Type>)> {
    let operands = given.0;
    let back = vec![Type::Message];
    let made = |expected: &[Type]| {
        given.are(expected)?;
        Ok((vec![Type::Message], Vec::new()))
    };
    let found = |expected: &[Type], kind: KindId| {
        given.are(expected)?;
        Ok((vec![Type::Instance(kind)], Vec::new()))
    };
    match attempt {
        Attempt::New => made(&[]),
        Attempt::NewOf => match operands {
            [Type::Bytes(_), Type::WORD] => Ok((vec![Type::Message], Vec::new())),
            _ => Err("bytes and an i32 are expected".to_string()),
        },
        Attempt::Share => made(&[Type::Message]),
        Attempt::Copy => made(&[Type::Message, Type::WORD, Type::WORD]),
        Attempt::Restore | Attempt::Pad => {
            given.are(&[Type::Message, Type::WORD])?;
            Ok((vec![Type::Message], back))
        }
        Attempt::Rewrite(id) => {
            let mut expected = vec![Type::Message];
            expected.extend(&kernel_of(module, *id)?.parameters);
            given.are(&expected)?;
            Ok((vec![Type::Message], back))
        }
        Attempt::Live(kind) => found(&[Type::WORD], *kind),
        Attempt::Find(kind) | Attempt::Create(kind) => found(&keys(module, *kind), *kind),
        Attempt::Soonest(kind, _) => {
            let all = keys(module, *kind);
            expect(operands.len() <= all.len(), "there are not so many keys")?;
            found(&all[..operands.len()], *kind)
        }
        Attempt::Standing(kind) => found(&[Type::WORD], *kind),
        Attempt::Recall(id) => {
            let holder = holder(module, *id)?;
            let [Type::Instance(kind)] = holder[..] else {
                return Err("a cache of instances is expected".to_string());
            };
            found(&module.cached_arguments(*id), kind)
        }
        of_container => Err(format!("{of_container:?} is about a container")),
    }
}

/// The results of an operation on a container.
fn outcomes_in_place(
    module: &Module,
    attempt: &Attempt,
    place: Place,
    given: &Operands<'_>,
) -> Typed<(Vec<Type>, Vec<Type>)> {
    let back = vec![Type::Message];
    let in_place = |rest: &[Type]| {
        let mut expected = place_type(module, place)?.0;
        expected.extend(rest);
        given.are(&expected)
    };
    match attempt {
        Attempt::Pop(_) => {
            in_place(&[])?;
            Ok((items(module, place)?, Vec::new()))
        }
        Attempt::PushItem(_) => {
            let item = items(module, place)?;
            in_place(&item)?;
            Ok((Vec::new(), messages(&item)))
        }
        Attempt::Insert(_) => {
            let item = items(module, place)?;
            let mut rest = vec![Type::WORD];
            rest.extend(&item);
            in_place(&rest)?;
            Ok((Vec::new(), messages(&item)))
        }
        Attempt::Take(_) => {
            in_place(&[Type::WORD])?;
            Ok((items(module, place)?, Vec::new()))
        }
        Attempt::ShareItem(_) | Attempt::TakeBytes(_) => {
            in_place(&[Type::WORD])?;
            Ok((vec![Type::Message], Vec::new()))
        }
        Attempt::InsertBytes(_) => {
            in_place(&[Type::WORD, Type::Message])?;
            Ok((Vec::new(), back))
        }
        Attempt::AppendBytes(_) => {
            in_place(&[Type::Message])?;
            Ok((Vec::new(), back))
        }
        Attempt::CopyBytes(_) | Attempt::BorrowBytes(_) => {
            in_place(&[Type::WORD, Type::WORD])?;
            Ok((vec![Type::Message], Vec::new()))
        }
        elsewhere => Err(format!("{elsewhere:?} is about no container")),
    }
}

/// The types of the arguments of an event.
pub fn arguments(module: &Module, target: Target) -> Typed<Vec<Type>> {
    Ok(match target {
        Target::Function(function) => parameters(function_of(module, function)?),
        Target::Link(LinkId(link)) => {
            let known = (link as usize) < module.links.len();
            expect(known, "there is no such link")?;
            vec![Type::Message]
        }
        Target::Port(PortId(port), told) => {
            let port = module.ports.get(port as usize);
            let port = port.ok_or("there is no such port")?;
            let mut all = vec![Type::WORD];
            match told {
                Told::Message => all.push(Type::Message),
                Told::Started => {}
                Told::Notice(at) => {
                    let notice = port.up.get(at as usize);
                    let notice = notice.ok_or("the port has no such notice")?;
                    all.extend(notice.message.then_some(Type::Message));
                    let parameters = notice.parameters.iter();
                    all.extend(parameters.flat_map(|one| one.shape.parts()));
                }
            }
            all
        }
    })
}

/// The operands that say where a region is, and the type of what it holds.
pub fn region_type(module: &Module, region: Region) -> Typed<(Vec<Type>, Type)> {
    Ok(match region {
        Region::Field(kind, field) => {
            let (place, stored) = place_type(module, Place { kind, field })?;
            match stored {
                Stored::Value(of) => (place, *of),
                _container => return Err("a container is not loaded or stored".to_string()),
            }
        }
        Region::Setting(id) => {
            let setting = module.settings.get(id.at());
            (Vec::new(), setting.ok_or("there is no such setting")?.of)
        }
        Region::Now => (Vec::new(), Type::TIME),
        Region::Valid(id) => (holder(module, id)?, Type::BIT),
        Region::Cached(id, at) => {
            let place = holder(module, id)?;
            let held = module.cached(id).get(at as usize).copied();
            (place, held.ok_or("the cache does not hold so much")?)
        }
    })
}

/// The operands that say where a field is, and what it holds.
pub fn place_type(module: &Module, place: Place) -> Typed<(Vec<Type>, &Stored)> {
    let kind = module.kinds.get(place.kind.at());
    let kind = kind.ok_or("there is no such kind")?;
    let field = kind.fields.get(place.field.at());
    let field = field.ok_or("there is no such field")?;
    let mut operands = vec![Type::Instance(place.kind)];
    operands.extend(field.dimensions.iter().map(|_| Type::WORD));
    Ok((operands, &field.stored))
}

/// The parts of an item of a queue or window.
pub fn items(module: &Module, place: Place) -> Typed<Vec<Type>> {
    match place_type(module, place)?.1 {
        Stored::Queue(item, _) | Stored::Window(item, ..) => Ok(item.clone()),
        _other => Err("a queue or window is expected".to_string()),
    }
}

/// The types of a function's parameters.
pub fn parameters(function: &Function) -> Vec<Type> {
    let parameters = function.parameters().iter();
    parameters.map(|value| function.type_of(*value)).collect()
}

/// The types of the parts of the keys of a kind.
pub fn keys(module: &Module, kind: KindId) -> Vec<Type> {
    let Some(kind) = module.kinds.get(kind.at()) else {
        return Vec::new();
    };
    let keys = kind.keys.iter().map(|key| &kind.fields[key.at()].stored);
    let values = keys.filter_map(|stored| match stored {
        Stored::Value(of) => Some(*of),
        _container => None,
    });
    values.collect()
}

/// The types of operands.
struct Operands<'o>(&'o [Type]);

impl Operands<'_> {
    fn are(&self, expected: &[Type]) -> Typed<()> {
        let list = |types: &[Type]| {
            let all: Vec<String> = types.iter().map(Type::to_string).collect();
            all.join(", ")
        };
        let (own, expected) = (list(self.0), list(expected));
        expect(
            own == expected,
            &format!("({expected}) is expected, not ({own})"),
        )
    }

    fn nothing(&self, expected: &[Type]) -> Typed<Vec<Type>> {
        self.are(expected)?;
        Ok(Vec::new())
    }

    fn only_number(&self) -> Typed<u8> {
        match self.0 {
            [Type::Int(bits)] => Ok(*bits),
            _ => Err("one number is expected".to_string()),
        }
    }

    fn two_alike(&self) -> Typed<Type> {
        match self.0 {
            [one @ Type::Int(_), other] if one == other => Ok(*one),
            _ => Err("two numbers of one width are expected".to_string()),
        }
    }

    fn two_values(&self, module: &Module) -> Typed<()> {
        match self.0 {
            [one, other] if one == other && is_compared(module, *one) => Ok(()),
            _ => Err("two values of one type are expected".to_string()),
        }
    }

    fn choice(&self) -> Typed<Type> {
        match self.0 {
            [Type::BIT, one, other] if one == other && !one.is_linear() => Ok(*one),
            _ => Err("a bit and two values of one type are expected".to_string()),
        }
    }
}

fn is_compared(module: &Module, of: Type) -> bool {
    match of {
        Type::View | Type::Float(_) => false,
        Type::Opaque(of) => is_text(module, of),
        of => !of.is_linear(),
    }
}

/// Returns true if values of an opaque type are texts.
fn is_text(module: &Module, of: OpaqueId) -> bool {
    let known = module.opaques.get(of.at());
    known.is_some_and(|known| known.room.is_some())
}

fn precision(bits: u8) -> Typed<()> {
    expect([32, 64].contains(&bits), "a fraction has 32 or 64 bits")
}

fn floating(how: Floating, operands: &[Type]) -> Typed<Type> {
    let of = match (how, operands) {
        (Floating::FromInt, [Type::WORD]) => Type::Float(64),
        (Floating::FromInt, _) => return Err("a number of 32 bits is expected".to_string()),
        (Floating::ToInt, [of @ Type::Float(_)]) => *of,
        (Floating::ToInt, _) => return Err("one number with a fraction is expected".to_string()),
        (Floating::Neg, [of @ Type::Float(_)]) => *of,
        (Floating::Neg, _) => return Err("one number with a fraction is expected".to_string()),
        (_, [of @ Type::Float(_), other]) if of == other => *of,
        _ => return Err("two numbers with a fraction of one type are expected".to_string()),
    };
    Ok(match how {
        Floating::Eq | Floating::Lt | Floating::Le => Type::BIT,
        Floating::ToInt => Type::WORD,
        Floating::FromInt => of,
        Floating::Add | Floating::Sub | Floating::Mul | Floating::Div | Floating::Neg => of,
    })
}

fn expect(holds: bool, else_says: &str) -> Typed<()> {
    if holds {
        Ok(())
    } else {
        Err(else_says.to_string())
    }
}

fn width(bits: u8) -> Typed<()> {
    expect((1..=64).contains(&bits), "a number has 1 to 64 bits")
}

fn bytes(op: &Op, given: &Operands<'_>) -> Typed<Vec<Type>> {
    Ok(match (op, given.0) {
        (Op::Get(number), [Type::Bytes(_), Type::WORD]) => vec![Type::Int(8 * number.bytes)],
        (Op::Put(number), [of @ Type::Bytes(_), Type::WORD, Type::Int(bits)])
            if *bits == 8 * number.bytes =>
        {
            vec![*of]
        }
        (Op::PutBytes, [of @ Type::Bytes(_), Type::WORD, Type::Bytes(_)]) => vec![*of],
        (Op::Resize(to), [Type::Bytes(_)]) => vec![Type::Bytes(*to)],
        (Op::Inverse, [Type::BYTE]) => vec![Type::BYTE],
        (Op::AddScaled, [of @ Type::Bytes(_), Type::BYTE, Type::Bytes(_) | Type::View]) => {
            vec![*of]
        }
        (Op::Scale, [of @ Type::Bytes(_), Type::BYTE]) => vec![*of],
        _ => return Err("bytes, and what belongs to them, are expected".to_string()),
    })
}

fn message(module: &Module, op: &Op, given: &Operands<'_>) -> Typed<Vec<Type>> {
    use Type::{Message, View};
    const WORD: Type = Type::WORD;
    let attribute = |id: &super::AttributeId| {
        let attribute = module.attributes.get(id.at());
        attribute
            .map(|one| one.of)
            .ok_or("there is no such attribute")
    };
    Ok(match (op, given.0) {
        (Op::Read(bits), [View, WORD]) => {
            width(bits.width)?;
            expect(bits.skip < 8, "a number begins in its first byte")?;
            vec![Type::Int(bits.width)]
        }
        (Op::ReadBytes(length), [View, WORD]) => vec![Type::Bytes(*length)],
        (Op::ReadPart(most), [View, WORD, WORD]) => vec![Type::Bytes(*most)],
        (Op::Write(number), [Message, WORD, Type::Int(bits)]) if *bits == 8 * number.bytes => {
            Vec::new()
        }
        (Op::WriteBytes, [Message, WORD, Type::Bytes(_)])
        | (Op::WritePart, [Message, WORD, Type::Bytes(_), WORD]) => Vec::new(),
        (Op::Length, [Message | View]) | (Op::Start, [Message]) => vec![WORD],
        (Op::InBuffer, [Message]) => vec![Type::BIT],
        (Op::Attribute(id), [Message]) => vec![attribute(id)?],
        (Op::With(id), [Message, of]) => {
            expect(attribute(id)? == *of, "the attribute has another type")?;
            vec![Message]
        }
        (Op::Look, [Message])
        | (Op::Before | Op::Around, [Message, WORD])
        | (Op::SubView, [View, WORD, WORD]) => vec![View],
        (Op::Push | Op::Pull | Op::Cut, [Message, WORD]) => vec![Message],
        _ => return Err("a message or view, and what belongs to it, are expected".to_string()),
    })
}

fn kernel(module: &Module, op: &Op, given: &Operands<'_>) -> Typed<Vec<Type>> {
    match op {
        Op::Run(id, pieces) => {
            let kernel = kernel_of(module, *id)?;
            let mut expected = kernel.parameters.clone();
            for piece in pieces {
                match piece {
                    Piece::Bytes => expected.extend([Type::View, Type::WORD, Type::WORD]),
                    Piece::Zeros(_) => {}
                    Piece::Byte => expected.push(Type::BYTE),
                }
            }
            given.are(&expected)?;
            Ok(function_of(module, kernel.finishes)?.results.clone())
        }
        Op::Rewrite(id) => {
            let mut expected = vec![Type::Message];
            expected.extend(&kernel_of(module, *id)?.parameters);
            given.are(&expected)?;
            Ok(vec![Type::Message])
        }
        _yield => {
            given.only_number()?;
            Ok(Vec::new())
        }
    }
}

fn ask(
    module: &Module,
    question: Question,
    place: Place,
    given: &Operands<'_>,
) -> Typed<Vec<Type>> {
    let (mut expected, stored) = place_type(module, place)?;
    let fits = match question {
        Question::IsEmpty => matches!(stored, Stored::Queue(..)),
        Question::Takes => matches!(stored, Stored::Queue(..) | Stored::Window(..)),
        Question::Has => matches!(stored, Stored::Window(..) | Stored::Set(_)),
        Question::First => matches!(stored, Stored::Window(..)),
        Question::Covers | Question::Ready | Question::Begin | Question::End => {
            matches!(stored, Stored::Stream(..))
        }
    };
    expect(fits, "the container cannot be asked this")?;
    let word = Type::WORD;
    let (rest, results) = match question {
        Question::IsEmpty => (vec![], vec![Type::BIT]),
        Question::Takes => match stored {
            Stored::Queue(..) => (vec![], vec![Type::BIT]),
            _window => (vec![word], vec![Type::BIT]),
        },
        Question::Has => (vec![word], vec![Type::BIT]),
        Question::First => (vec![], vec![Type::BIT, word]),
        Question::Covers => (vec![word, word], vec![Type::BIT]),
        Question::Ready => (vec![word], vec![word]),
        Question::Begin | Question::End => (vec![], vec![word]),
    };
    expected.extend(rest);
    given.are(&expected)?;
    Ok(results)
}

fn change(module: &Module, how: Change, place: Place, given: &Operands<'_>) -> Typed<Vec<Type>> {
    let (mut expected, stored) = place_type(module, place)?;
    let fits = match how {
        Change::Empty => !matches!(stored, Stored::Value(_)),
        Change::Restart => matches!(stored, Stored::Window(..) | Stored::Stream(..)),
        Change::Add | Change::Clear => matches!(stored, Stored::Set(_)),
        Change::Release | Change::Replace => matches!(stored, Stored::Window(..)),
        Change::ReleaseBytes => matches!(stored, Stored::Stream(..)),
        Change::DropAll(_) => {
            matches!(
                stored,
                Stored::Queue(..) | Stored::Window(..) | Stored::Stream(..)
            )
        }
    };
    expect(fits, "the container cannot be changed like this")?;
    let word = Type::WORD;
    let (rest, results) = match how {
        Change::Empty | Change::Clear | Change::DropAll(_) => (vec![], vec![]),
        Change::Restart | Change::Release => (vec![word], vec![]),
        Change::Add => (vec![word], vec![Type::BIT]),
        Change::ReleaseBytes => (vec![word], vec![word]),
        Change::Replace => {
            let mut rest = vec![word];
            rest.extend(items(module, place)?);
            (rest, vec![])
        }
    };
    expected.extend(rest);
    given.are(&expected)?;
    Ok(results)
}

fn events(module: &Module, all: &[Event], operands: &[Type]) -> Typed<()> {
    let mut rest = operands;
    for event in all {
        let count = (event.arguments as usize).min(rest.len());
        let (own, others) = rest.split_at(count);
        Operands(own).are(&arguments(module, event.target)?)?;
        rest = others;
    }
    expect(
        rest.is_empty(),
        "there are more operands than arguments of events",
    )
}

fn turns(module: &Module, body: FunctionId, given: &Operands<'_>) -> Typed<Vec<Type>> {
    let body = function_of(module, body)?;
    let mut expected = vec![Type::TIME];
    let own = parameters(body);
    expect(own.first() == Some(&Type::WORD), "a turn is an i32")?;
    expected.extend(&own[1..]);
    given.are(&expected)?;
    let [Type::BIT, carried @ ..] = &body.results[..] else {
        return Err("a turn returns whether to go on".to_string());
    };
    expect(own[1..].ends_with(carried), "carried values come last")?;
    Ok(carried.to_vec())
}

fn foreign(
    module: &Module,
    ForeignId(id): ForeignId,
    places: &[Place],
    given: &Operands<'_>,
) -> Typed<Vec<Type>> {
    let function = module.foreigns.get(id as usize);
    let function = function.ok_or("there is no such function in C")?;
    let mut places = places.iter();
    let (mut expected, mut changed) = (Vec::new(), Vec::new());
    for (_, parameter) in &function.parameters {
        match parameter {
            Given::Value(shape) => expected.extend(shape.parts()),
            Given::Data => expected.push(Type::View),
            Given::Rewritten => expected.push(Type::Message),
            Given::Changed(shape) => {
                expected.extend(shape.parts());
                changed.extend(shape.parts());
            }
            Given::State(_) => {
                let place = places.next().ok_or("a place is missing")?;
                expected.extend(place_type(module, *place)?.0);
            }
        }
    }
    expect(places.next().is_none(), "there are too many places")?;
    given.are(&expected)?;
    let result = function.result.iter().flat_map(|shape| shape.parts());
    Ok(result.chain(changed).collect())
}

fn holder(module: &Module, CacheId(id): CacheId) -> Typed<Vec<Type>> {
    let cache = module.caches.get(id as usize);
    let cache = cache.ok_or("there is no such cache")?;
    Ok(cache.kind.map(Type::Instance).into_iter().collect())
}

fn function_of(module: &Module, FunctionId(id): FunctionId) -> Typed<&Function> {
    let function = module.functions.get(id as usize);
    function.ok_or_else(|| "there is no such function".to_string())
}

fn kernel_of(module: &Module, KernelId(id): KernelId) -> Typed<&super::Kernel> {
    let kernel = module.kernels.get(id as usize);
    kernel.ok_or_else(|| "there is no such kernel".to_string())
}

fn messages(item: &[Type]) -> Vec<Type> {
    item.iter().copied().filter(|of| of.is_linear()).collect()
}
