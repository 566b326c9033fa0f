//! Two ways of a path that do the same for one instance or another are one.
//!
//! In: a path as it goes on behind its compare, which parts where one instance was found. Out: the
//! same, which takes that instance or the other one, and then does it once.
//!
//! ```text
//! if one != SL_NONE { deliver(one); return }
//! other = own->expected.of_other;                other = one != SL_NONE ? one : ….of_other;
//! deliver(other);                            =>  deliver(other);
//! ```
//!
//! Ensures: the same outputs. Cost: none.

use super::algebra::replaced;
use crate::c::tree::{Expression as C, Statement as S, atom, conditional};

/// Lets ways of a block be one.
pub fn meet(block: &mut Vec<S>) {
    for inner in block.iter_mut().flat_map(S::blocks_mut) {
        meet(inner);
    }
    for at in (0..block.len()).rev() {
        let Some(taken) = met(&block[at], &block[at + 1..]) else {
            continue;
        };
        let Some(S::Declare { value, .. }) = block.get_mut(at + 1) else {
            continue;
        };
        *value = Some(taken);
        block.remove(at);
    }
}

/// Which instance is taken, if a statement goes a way of its own for one, and what comes behind it
/// does the same for another.
fn met(statement: &S, behind: &[S]) -> Option<C> {
    let S::If {
        condition: condition @ C::Binary("!=", one, none),
        then,
        otherwise,
    } = statement
    else {
        return None;
    };
    let (
        C::Atom(_),
        [
            S::Declare {
                kind,
                name,
                value: Some(other),
            },
            rest @ ..,
        ],
    ) = (&**one, behind)
    else {
        return None;
    };
    let is_parting = **none == atom("SL_NONE") && otherwise.is_empty();
    let ends = matches!(then.last(), Some(S::Return(_)));
    let named = |value: &C| (value == &**one).then(|| atom(name));
    let mut own = then.clone();
    for statement in &mut own {
        statement.each_value_mut(&mut |value| *value = replaced(value, &named));
    }
    let is_same = is_parting && ends && kind == "const uint32_t" && own == rest;
    is_same.then(|| conditional(condition.clone(), (**one).clone(), other.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::tree::{binary, call};

    fn ways(first: C, second: C) -> Vec<S> {
        vec![
            S::If {
                condition: binary("!=", atom("one"), atom("SL_NONE")),
                then: vec![S::Do(first), S::Return(None)],
                otherwise: Vec::new(),
            },
            S::Declare {
                kind: "const uint32_t".to_string(),
                name: "other".to_string(),
                value: Some(atom("found")),
            },
            S::Do(second),
            S::Return(None),
        ]
    }

    #[test]
    fn ways_that_do_the_same_are_one() {
        let deliver = |whose: &str| call("deliver", vec![atom("stack"), atom(whose)]);
        let mut block = ways(deliver("one"), deliver("other"));
        meet(&mut block);
        let [S::Declare { value, .. }, rest @ ..] = &block[..] else {
            panic!("it takes one of them first");
        };
        let is_one = binary("!=", atom("one"), atom("SL_NONE"));
        assert_eq!(
            *value,
            Some(conditional(is_one, atom("one"), atom("found")))
        );
        assert_eq!(rest, [S::Do(deliver("other")), S::Return(None)]);
    }

    #[test]
    fn ways_that_differ_stay_two() {
        let mut block = ways(
            call("deliver", vec![atom("one")]),
            call("drop", vec![atom("other")]),
        );
        let before = block.clone();
        meet(&mut block);
        assert_eq!(block, before);
        let mut block = ways(
            call("deliver", vec![atom("one")]),
            call("deliver", vec![atom("one")]),
        );
        let before = block.clone();
        meet(&mut block);
        assert_eq!(block, before, "the second way still reads the first name");
    }
}
