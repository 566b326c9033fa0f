//! Grants: in, a port that calls a function of the application; out, the event that tells the layer
//! below of the number that this function returns.
//!
//! The event takes a step of its own. The hot path has room for that step, so the fast function of
//! the reaction is tried there at once.

use super::listening::index;
use crate::back::c::Stack;
use crate::back::c::header::values;
use crate::back::c::prototype::{Reach, called};
use crate::c::tree::{
    Expression as C, Function, Item, Statement as S, atom, binary, call_statement, only_if,
};
use crate::ir::PortId;
use crate::ir::interface::{Port, Shape};

/// The notice whose value a called function returns, and the shape of that value.
pub fn grant(port: &Port) -> Option<(&str, &Shape)> {
    let notice = &port.down[port.grants? as usize];
    notice.handled?;
    let value = notice.parameters.first().expect("a grant is a number");
    Some((&notice.name, &value.shape))
}

/// The prototype of the function that tells the layer below what the called function returns.
pub fn head(stack: &Stack<'_>, id: PortId) -> Option<(String, Item)> {
    let (_, shape) = grant(&stack.module.ports[id.at()])?;
    let name = stack.names.ports[id.at()].granted.clone();
    let before = vec![
        format!("struct {} *stack", stack.names.stack),
        "uint32_t session".to_string(),
    ];
    let head = Function {
        comment: String::new(),
        result: "static void".to_string(),
        name: name.clone(),
        parameters: [before, values::parameters(stack, shape, "granted")].concat(),
        body: Vec::new(),
    };
    Some((name, Item::Prototype(head)))
}

/// A call of an application; the statement `grants` runs if the call returns more than 0.
pub fn given_back(stack: &Stack<'_>, port: &Port, called: C, grants: S) -> Vec<S> {
    let (_, shape) = grant(port).expect("the call gives back a grant");
    vec![
        S::Declare {
            kind: format!("const {}", values::c_type(stack, shape)),
            name: "granted".to_string(),
            value: Some(called),
        },
        only_if(binary("!=", atom("granted"), atom("0")), vec![grants]),
    ]
}

/// Tells the layer below what is granted, in a step for which there may be no room.
pub fn at_last(stack: &Stack<'_>, id: PortId) -> S {
    let given = ["stack", "session", "granted"].map(atom).to_vec();
    call_statement(stack.names.ports[id.at()].granted.clone(), given)
}

/// The same where there is room for one more step; none without a fast function.
pub fn ahead(stack: &Stack<'_>, id: PortId) -> Option<S> {
    let fast = stack.fast_grant(id)?;
    let given = vec![index(&stack.module.ports[id.at()]), atom("granted")];
    let fast = called(stack, Reach::Stack, fast, given);
    let waits = binary("!=", atom("stack").behind("waiting"), atom("0"));
    let steps = atom("stack").behind("shared").member("steps");
    Some(S::If {
        condition: binary("||", waits, fast.negated()),
        then: vec![at_last(stack, id)],
        otherwise: vec![S::Assign(steps, "+=", atom("1"))],
    })
}
