//! Calls of a host, made of the arguments of a counterexample.
//!
//! In: a reaction to a frame, to a message or notice of an application, or to a link that goes up
//! or down, and its arguments. Out: the call that starts it.

use crate::ir::interface::Numbered;
use crate::ir::{FunctionId, Module, Type};
use crate::prove::Argument;
use crate::simulate::machine::{shapes, values::Held};
use crate::simulate::trace::Call;
use crate::simulate::value::Datum;
use crate::types::program::{LinkId, PortId, Program};

/// Returns the call of a host that starts a reaction with these arguments; none if no call is its
/// event alone.
pub fn call(
    (program, module): (&Program, &Module),
    reaction: &str,
    arguments: &[Argument],
) -> Option<Call> {
    let id = module.named(reaction)?;
    for (link, one) in (0..).map(LinkId).zip(&module.links) {
        if one.arrives == id {
            let Argument::Message(bytes, _) = arguments.first()? else {
                return None;
            };
            return Some(Call::Input(link, vec![bytes.clone()]));
        }
        if one.carrier == Some(id) {
            return Some(Call::Carrier(link, arguments == [Argument::Number(1)]));
        }
    }
    let mut ports = (0..).map(PortId).zip(&module.ports);
    ports.find_map(|(port, _)| of_port((program, module), (port, id), arguments))
}

/// Returns the call of an application that starts a reaction: a message, or a notice.
fn of_port(
    (program, module): (&Program, &Module),
    (id, reaction): (PortId, FunctionId),
    arguments: &[Argument],
) -> Option<Call> {
    let port = &module.ports[id.at()];
    let Some((Argument::Number(index), rest)) = arguments.split_first() else {
        return None;
    };
    let session = match port.session.index {
        Numbered::Only(_) => 0,
        Numbered::From(_, more) => u32::try_from(*index).ok()?.checked_sub(more)?,
    };
    if port.sends == Some(reaction) {
        let Argument::Message(bytes, given) = rest.first()? else {
            return None;
        };
        let listed = program.ports[id.at()].attributes.iter();
        let attributes = listed.zip(&port.attributes).map(|(own, attribute)| {
            let parts = attribute.parts.iter().map(|part| {
                let of = module.attributes[part.at()].of;
                given
                    .get(part)
                    .map_or(Held::zero(of), |one| number(of, *one))
            });
            let parts: Vec<Held> = parts.collect();
            (*own, shapes::datum(&attribute.named.shape, &parts))
        });
        return Some(Call::Send {
            port: id,
            session,
            attributes: attributes.collect(),
            bytes: bytes.clone(),
        });
    }
    let mut told = program.ports[id.at()].down.iter().zip(&port.down);
    let (notice, one) = told.find(|(_, one)| one.handled == Some(reaction) && !one.message)?;
    let types = one.parameters.iter().flat_map(|one| one.shape.parts());
    let parts = types.zip(rest).map(|(of, given)| match given {
        Argument::Number(one) => number(of, *one),
        Argument::Message(..) | Argument::Other => Held::zero(of),
    });
    let parts: Vec<Held> = parts.collect();
    let shapes = one.parameters.iter().map(|named| &named.shape);
    let arguments: Vec<Datum> = shapes::data(shapes, &parts);
    Some(Call::Notice {
        port: id,
        session,
        notice: *notice,
        arguments,
    })
}

fn number(of: Type, number: u64) -> Held {
    match of {
        Type::Int(_) | Type::Instance(_) | Type::Float(_) => Held::Number(number),
        Type::Bytes(_) | Type::Opaque(_) | Type::Message | Type::View => Held::zero(of),
    }
}
