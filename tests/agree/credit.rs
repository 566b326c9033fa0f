//! Credit that a layer forgets to give back: the sender stalls, and the trees show it.

use super::{interpreted, is_found, lower, stacks};
use stackloom::simulate::reference::Reference;
use stackloom::simulate::state::Limits;
use stackloom::simulate::trace::{Call, Step, Trace};
use stackloom::types::program::{LinkId, Program};
use stackloom::types::statement::{Block, Output, StatementKind, TellTarget};

/// A sequencer over credit: what is repeated is dropped.
pub const STACK: &str = "tests/cases/credit/what_is_dropped_above_gives_its_credit_back.case";

#[test]
fn credit_below_a_sequencer_agrees() {
    super::example_agrees(STACK);
}

#[test]
fn credit_that_does_not_come_back_stalls_and_is_found() {
    let program = stacks::example(STACK);
    let mut forgetful = program.clone();
    let dropper = &mut forgetful.entities[1];
    assert!(
        !dropper.refused.is_empty(),
        "a bad header gives credit back"
    );
    dropper.refused.clear();
    let session = dropper.session;
    let handlers = forgetful.handlers.iter_mut();
    for handler in handlers.filter(|handler| handler.kind == session) {
        forget(&mut handler.body);
    }
    assert!(most_that_is_dropped(&program) > 50, "credit comes back");
    assert_eq!(
        most_that_is_dropped(&forgetful),
        4,
        "all of it is forgotten"
    );
    let forest = lower(&forgetful).expect("the program has trees");
    assert!(is_found(&program, &forest));
}

/// Leaves out all that is told below.
fn forget(block: &mut Block) {
    block.retain_mut(|statement| {
        statement.blocks_mut().into_iter().for_each(forget);
        !matches!(
            &statement.kind,
            StatementKind::Output(Output::Tell {
                target: TellTarget::Below(_),
                ..
            })
        )
    });
}

/// How many messages the sequencer drops, when none that comes is new and there is a window of
/// four.
fn most_that_is_dropped(program: &Program) -> u64 {
    let repeated = vec![0, 4, 0, 0, 0, 0, 0, 0, 0, b'a'];
    let steps = (0..60).map(|at| Step {
        now_ns: at,
        call: Call::Input(LinkId(0), vec![repeated.clone()]),
        takes: true,
    });
    let trace = Trace {
        config: Default::default(),
        limits: Limits::default(),
        start_ns: 0,
        steps: steps.collect(),
    };
    let run = interpreted(Reference::new(program), program, &trace);
    let counters = &run.seen.last().expect("there are steps").counters;
    let dropped = counters
        .iter()
        .find(|(name, _)| **name == *"sequencer.late_or_repeated");
    dropped.expect("a sequencer drops what is late").1
}
