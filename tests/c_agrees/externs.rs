//! What stacks of tests call in C, for interpreters and for C: it does the same for both.
//!
//! In: a program. Out: for interpreters [`Externs`]; the same in C stands in `externs.c`. What a
//! port calls answers: the first byte of what it is given says with what, so that all that may be
//! called from inside is called. A message that comes with a notice is answered with one byte.

use stackloom::simulate::externs::Externs;
use stackloom::simulate::stack::Outcome;
use stackloom::simulate::state::Emitted;
use stackloom::simulate::trace::Call;
use stackloom::simulate::value::{Datum, fit};
use stackloom::types::program::{LinkId, NoticeId, Port, PortId, Program};
use stackloom::types::value::Type;
use std::cell::Cell;
use std::rc::Rc;

/// Sends back what is behind the first byte.
pub const SENDS: u8 = 1;
/// Sends half of all, too.
pub const SENDS_MORE: u8 = 2;
/// Opens a conversation, and sends one byte there.
pub const OPENS: u8 = 4;
/// Gives every notice that takes no values.
pub const TELLS: u8 = 8;
/// Gives back as many as it was given bytes.
pub const TAKES: u8 = 16;
/// If it is this, it sends one byte until that is not taken.
pub const FLOODS: u8 = 0xf0;

/// What a link calls comes back with the frame, as one that came in; so the last byte of it says.
pub const COMES_BACK: u8 = 1;
/// Sends that byte.
pub const GOES_ON: u8 = 2;
/// Says that time has passed.
pub const EXPIRES: u8 = 4;

/// All that a program calls, as an interpreter has it, at the start of a run; whether there are
/// more buffers than frames will need.
pub fn all(program: &Program, has_many: bool) -> Externs<'_> {
    let mut externs = Externs::default();
    let notes = Rc::new(Cell::new(0_u32));
    plain(&mut externs);
    let known = notes.clone();
    externs.function("lookup", move |given| {
        let number = given[0].number();
        let other = match &given[1] {
            Datum::Optional(Some(other)) => other.number(),
            _ => 1,
        };
        let found = fit(
            &Type::Unsigned(16),
            number * 3 + other + u64::from(known.get()),
        );
        Datum::Optional((number % 5 != 0).then(|| Box::new(Datum::Number(found))))
    });
    let noted = notes.clone();
    externs.function("note", move |given| {
        noted.set(noted.get().wrapping_add(given[0].number() as u32));
        Datum::Absent
    });
    externs.function("kind_of", move |given| {
        notes.set(notes.get().wrapping_add(1));
        Datum::Number((given[0].number() + u64::from(notes.get())) & 3)
    });
    for port in &program.ports {
        if let Some(function) = &port.calls {
            externs.port(function, |what, call| answer(program, what, call));
        }
    }
    let is_called = Rc::new(Cell::new(false));
    for link in &program.links {
        if let Some(function) = &link.calls {
            let is_called = is_called.clone();
            externs.link(function, move |frame, call| {
                if !is_called.replace(true) {
                    leave(program, has_many, frame, call);
                    is_called.set(false);
                }
            });
        }
    }
    externs
}

/// Functions that only what they are given decides.
fn plain(externs: &mut Externs<'_>) {
    externs.function("weight", |given| {
        Datum::Number(given[0].number().wrapping_mul(2))
    });
    externs.function("stir", |given| {
        let number = given[1].number() as u32;
        let state = mixed(&given[0])
            .wrapping_mul(1_664_525)
            .wrapping_add(number + 1);
        given[0] = Datum::Bytes(state.to_le_bytes().to_vec());
        Datum::Number(u64::from(state))
    });
    externs.function("mix", |given| {
        let mut state = mixed(&given[0]);
        if let Datum::Bytes(data) = &mut given[1] {
            for byte in data {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                *byte ^= (state >> 24) as u8;
            }
        }
        given[0] = Datum::Bytes(state.to_le_bytes().to_vec());
        Datum::Absent
    });
    externs.function("tag", |given| {
        let start = 2_166_136_261 ^ given[2].number() as u32;
        let bytes = bytes(&given[0]).iter().chain(bytes(&given[1]));
        let hash = bytes.fold(start, |hash: u32, byte| {
            (hash ^ u32::from(*byte)).wrapping_mul(16_777_619)
        });
        Datum::Number(u64::from(hash % 5))
    });
    externs.function("sum", |given| {
        let Datum::Record(pair) = &given[0] else {
            panic!("a pair is a record, not {:?}", given[0]);
        };
        let sum = pair[0].number().wrapping_add(pair[1].number());
        Datum::Number(sum.wrapping_add(given[1].number()))
    });
    // More than there can be is cut by who calls.
    let token = |number: u64| Datum::Bytes(vec![number as u8; number as usize % 16]);
    externs.function("token_of", move |given| token(given[0].number()));
    externs.function("perhaps_token", move |given| {
        let number = given[0].number();
        Datum::Optional((number % 4 != 0).then(|| Box::new(token((number + 1) & 0xff))))
    });
    externs.function("twelve_bits", |given| {
        Datum::Number(given[0].number() << 8 | given[0].number())
    });
    externs.function("is_fine", |given| {
        Datum::of_bool(bytes(&given[0]).first().is_none_or(|first| first % 8 != 0))
    });
    externs.function("turned", |given| {
        let mut key = bytes(&given[0]).to_vec();
        key.rotate_left(1);
        key[3] = key[3].wrapping_add(1);
        Datum::Bytes(key)
    });
}

/// The state of a mixer, which is zero at first.
fn mixed(state: &Datum) -> u32 {
    let bytes = bytes(state).try_into().unwrap_or([0; 4]);
    u32::from_le_bytes(bytes)
}

fn bytes(of: &Datum) -> &[u8] {
    match of {
        Datum::Bytes(bytes) => bytes,
        other => panic!("these are bytes, not {other:?}"),
    }
}

/// What an application does that is called.
fn answer(program: &Program, what: &Emitted, call: &mut dyn FnMut(&Call) -> Option<u64>) -> u64 {
    let (port, session, bytes) = match what {
        Emitted::Deliver {
            port,
            session,
            bytes,
            ..
        } => (port, session, bytes),
        Emitted::Notice {
            port,
            session,
            notice,
            ..
        } if program.notices[notice.at()].message && program.ports[port.at()].passes => {
            call(&Call::Send {
                port: *port,
                session: *session,
                attributes: Vec::new(),
                bytes: vec![0],
            });
            return 0;
        }
        _ => return 0,
    };
    assert_eq!(call(&Call::Input(LinkId(0), vec![bytes.clone()])), Some(0));
    call(&Call::Expire);
    let Some(first) = bytes.first().copied() else {
        return 0;
    };
    let send = |session: u32, bytes: &[u8]| Call::Send {
        port: *port,
        session,
        attributes: Vec::new(),
        bytes: bytes.to_vec(),
    };
    let described = &program.ports[port.at()];
    if first & SENDS != 0 {
        call(&send(*session, &bytes[1..]));
    }
    if first & OPENS != 0
        && let Some(keys) = keys(program, described, first)
        && let Some(opened) = call(&Call::Open(*port, keys))
    {
        call(&send(opened as u32, &bytes[..1]));
    }
    for notice in told(program, described).filter(|_| first & TELLS != 0) {
        call(&told_to(*port, *session, notice));
    }
    if first & SENDS_MORE != 0 {
        call(&send(*session, &bytes[..bytes.len() / 2]));
    }
    while first == FLOODS && call(&send(*session, &bytes[..1])) == Some(Outcome::Sent as u64) {}
    match first & TAKES {
        0 => 0,
        _ => bytes.len() as u64,
    }
}

/// What is done with a frame that leaves, unless that is done already.
fn leave(
    program: &Program,
    has_many: bool,
    frame: &Emitted,
    call: &mut dyn FnMut(&Call) -> Option<u64>,
) {
    let Emitted::Frame { link, bytes } = frame else {
        panic!("a link calls with frames, not {frame:?}");
    };
    let Some(last) = bytes.last().copied() else {
        return;
    };
    if last & COMES_BACK != 0 && has_many {
        call(&Call::Input(*link, vec![bytes.clone()]));
    }
    if last & GOES_ON != 0
        && let Some(port) = sends_on(program)
    {
        call(&Call::Send {
            port: PortId(port as u32),
            session: 0,
            attributes: Vec::new(),
            bytes: vec![last],
        });
    }
    if last & EXPIRES != 0 {
        call(&Call::Expire);
    }
}

/// The port at which what a link calls sends.
pub fn sends_on(program: &Program) -> Option<usize> {
    program.ports.iter().position(|port| port.passes)
}

fn told_to(port: PortId, session: u32, notice: NoticeId) -> Call {
    Call::Notice {
        port,
        session,
        notice,
        arguments: Vec::new(),
    }
}

/// The keys of the conversation that an application opens.
fn keys(program: &Program, port: &Port, first: u8) -> Option<Vec<Datum>> {
    let keys = program.kinds[port.opens?.at()].keys.iter();
    let key = |kind: &Type| match kind {
        Type::Optional(_) => Datum::Optional(None),
        kind => Datum::Number(fit(kind, u64::from(first >> 4))),
    };
    Some(keys.map(|key_of| key(&key_of.kind)).collect())
}

/// The notices that an application gives without values.
pub fn told<'p>(program: &'p Program, port: &'p Port) -> impl Iterator<Item = NoticeId> + 'p {
    let notices = port.down.iter().copied();
    notices.filter(|id| {
        let notice = &program.notices[id.at()];
        let by_opening = port.opens.is_some() && notice.name == "open";
        notice.parameters.is_empty() && !notice.message && !by_opening
    })
}
