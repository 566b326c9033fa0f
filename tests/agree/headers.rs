//! Headers of random frames, written by their own rules.
//!
//! In: the values of a header's fields. Out: the header before a message; what it asks of a session
//! below, it asks of the first.

use stackloom::simulate::expression::{Evaluation, Moment};
use stackloom::simulate::header;
use stackloom::simulate::message::Message;
use stackloom::simulate::state::State;
use stackloom::simulate::value::Datum;
use stackloom::tool::case::parts::Part;
use stackloom::types::header::Rule;
use stackloom::types::program::{HeaderFieldId, HeaderId, Program};
use stackloom::types::value::Type;

/// Puts a header before a message, if what it asks is there.
pub fn push(
    program: &Program,
    state: &mut State<'_>,
    id: HeaderId,
    given: &[(HeaderFieldId, Datum)],
    message: &mut Message,
) -> Option<()> {
    let instant = &mut moment(program, state, id)?;
    header::push(&mut Evaluation { state, instant }, id, given, message);
    Some(())
}

/// What a header may ask: the first session below, if it asks one.
pub fn moment(program: &Program, state: &State<'_>, id: HeaderId) -> Option<Moment> {
    let mut moment = Moment::default();
    let asked = program.headers[id.at()].asks().map(|asked| &asked.result);
    if let Some(Type::Instance(kind)) = asked {
        moment.below = Some(state.live(*kind).next()?);
    }
    Some(moment)
}

/// A frame with other values in one of its headers, and other data behind it.
pub fn changed(
    program: &Program,
    state: &mut State<'_>,
    frame: &[u8],
    part: Part,
    given: &[(HeaderFieldId, Datum)],
    data: &[u8],
) -> Vec<u8> {
    let moment = moment(program, state, part.header);
    let (Some(mut moment), Some(mut message)) = (moment, state.message(data)) else {
        return frame.to_vec();
    };
    let mut evaluation = Evaluation {
        state,
        instant: &mut moment,
    };
    let bytes = &frame[part.at..part.at + part.length];
    let mut all = given.to_vec();
    for (place, field) in program.headers[part.header.at()].fields.iter().enumerate() {
        let id = HeaderFieldId(place as u32);
        let is_plain = matches!(field.rule, Rule::Given | Rule::Default(_));
        if is_plain
            && field.kind != Type::UnboundedBytes
            && !given.iter().any(|(given, _)| *given == id)
            && header::is_present(&mut evaluation, part.header, id, bytes)
        {
            all.push((id, header::read(&mut evaluation, part.header, id, bytes)));
        }
    }
    header::push(&mut evaluation, part.header, &all, &mut message);
    let mut whole = frame[..part.at].to_vec();
    whole.extend_from_slice(message.data());
    whole
}
