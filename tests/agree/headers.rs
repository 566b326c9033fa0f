//! Headers of random frames, written by their own rules.
//!
//! In: the values of a header's fields. Out: the header before a message; what it asks of a session
//! below, it asks of the first.

use stackloom::simulate::expression::{Evaluation, Moment};
use stackloom::simulate::header;
use stackloom::simulate::message::Message;
use stackloom::simulate::state::State;
use stackloom::simulate::value::Datum;
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
