//! Sessions of a multiplexor on sessions that come and go: in, their kind; out, the C that finds
//! those which stand on one below.

use super::Stack;
use super::names::c_name;
use super::scope::Scope;
use super::state::{member, pointer};
use crate::c::tree::{Expression as C, Function, Statement as S, assign, atom, binary, call};
use crate::types::expression::Instance;
use crate::types::program::KindId;

/// The session below on which a session of a multiplexor stands.
pub fn below(stack: &Stack, id: KindId, index: C) -> C {
    let mut scope = Scope::new(stack, &[]);
    scope.own = Some(index);
    let key = stack.program.kinds[id.at()].keys.last();
    let key = key.expect("what stands on a session has it as its key");
    scope.instance(Instance::Own, id).member(c_name(&key.name))
}

/// The function that looks for the first of them.
pub fn first(stack: &Stack, id: KindId) -> Function {
    let [pool, next] = ["pool", "next"].map(|suffix| member(stack, id, suffix));
    let n = || atom("n");
    let each = |from: C| {
        call(
            "sl_pool_each",
            vec![pool.clone().address(), next.clone(), from],
        )
    };
    let another = binary("!=", below(stack, id, n()), atom("on"));
    Function {
        comment: "The first that stands on a session below; SL_NONE if there is none.".to_string(),
        result: "static uint32_t".to_string(),
        name: format!("first_{}", stack.names.kinds[id.at()]),
        parameters: vec![pointer(stack, true), "uint32_t on".to_string()],
        body: vec![
            S::Declare {
                kind: "uint32_t".to_string(),
                name: "n".to_string(),
                value: Some(each(atom("0"))),
            },
            S::While {
                condition: binary("&&", binary("!=", n(), atom("SL_NONE")), another),
                body: vec![assign(n(), each(binary("+", n(), atom("1"))))],
            },
            S::Return(Some(n())),
        ],
    }
}
