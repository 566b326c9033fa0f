//! What a kernel said to a host, heard again by its trees under sets of rewrites.
//!
//! In: the frames that were kept of it. Out: the first difference from what the host said then, or
//! from what the reference says now.

use crate::fault::faults;
use crate::recorded::{STACK, recorded, replayed};
use crate::run::interpreted;
use crate::{profiles, stacks};
use stackloom::ir::op::{self, Target, Told};
use stackloom::ir::{Op, Role};
use stackloom::passes::verified;
use stackloom::pipeline::{Passes, lowered, unwoven, woven};
use stackloom::profile::{self, Profile};
use stackloom::reactive::lower;
use stackloom::simulate::reference::Reference;
use stackloom::simulate::trees::Trees;
use stackloom::tool::case::run::difference;
use stackloom::tree::check::check;
use stackloom::tree::rewrites::{ORDER, Rewrites};
use stackloom::tree::text::compact;
use stackloom::tree::{Forest, Reaction, Tree};
use stackloom::types::program::Event;

#[test]
fn what_a_kernel_said_is_answered_as_it_was() {
    let program = stacks::example(STACK);
    let [came, said] = recorded();
    let (_, says) = replayed(&program, &came);
    let pairs = said.iter().zip(&says);
    let same = pairs.take_while(|(then, now)| then == now).count();
    let hint = "if that is meant, it is recorded anew: see tests/streams/recorded.rs";
    let (then, now) = (said.get(same), says.get(same));
    assert!(
        says == said,
        "frame {same} differs: {hint}\n- {then:02x?}\n+ {now:02x?}"
    );
}

#[test]
fn text_of_any_connection_has_a_common_path() {
    let mut program = stacks::example(STACK);
    let forest = lower(&program).expect("the program has trees");
    let forest = unwoven(&mut program, forest, Rewrites::ALL);
    let module = lowered(&program, &forest, Rewrites::ALL);
    let module = verified(module, &Passes::ALL.chosen());
    let is_delivery = |event: &op::Event| matches!(event.target, Target::Port(_, Told::Message));
    let delivers = |op: &Op| match op {
        Op::Output(events) | Op::Queue(_, events) => events.iter().any(is_delivery),
        _other => false,
    };
    let mut fast = module.functions.iter().filter(|one| one.role == Role::Fast);
    let is_found = fast.any(|function| {
        let mut all = function.instructions();
        all.any(|one| delivers(&one.op))
    });
    assert!(is_found, "no fast function delivers text");
}

#[test]
fn any_rewrites_agree_on_what_a_kernel_said() {
    let program = stacks::example(STACK);
    let (trace, _) = replayed(&program, &recorded()[0]);
    let expected = interpreted(Reference::new(&program), &program, &trace);
    let plain = lower(&program).expect("the program has trees");
    let profile = profiles::of_traces(&program, &plain, std::slice::from_ref(&trace));
    let known = profile::known(plain.clone(), &Profile::Recorded(profile));
    let each = ORDER.into_iter().map(|one| Rewrites::only(one.rewrite));
    let each = each.map(|set| (&plain, set));
    let all = [&plain, &known].map(|forest| (forest, Rewrites::ALL));
    let mut forests = Vec::new();
    for (forest, set) in all.into_iter().chain(each) {
        let mut program = program.clone();
        let forest = compact(&woven(&mut program, forest.clone(), set));
        if forests.contains(&forest) {
            continue;
        }
        assert_eq!(check(&program, &forest), []);
        let run = interpreted(Trees::new(&program, &forest), &program, &trace);
        assert_eq!(difference(&expected, &run), None, "with {set}");
        forests.push(forest);
    }
    assert!(forests.len() > 5, "most do something: {}", forests.len());
}

#[test]
fn faults_are_found_by_what_a_kernel_said() {
    let program = stacks::example(STACK);
    let (trace, _) = replayed(&program, &recorded()[0]);
    let expected = interpreted(Reference::new(&program), &program, &trace);
    let plain = lower(&program).expect("the program has trees");
    let is_of_ipv4 = |tree: &&Tree| match tree.reaction {
        Reaction::Arrive { entity, event, .. } => {
            program.entities[entity.at()].name == "ipv4" && event == Event::Deliver
        }
        Reaction::Handle { .. } => false,
    };
    let tree = plain.trees.iter().find(is_of_ipv4);
    let tree = tree.expect("what arrives goes through IPv4").clone();
    let faults = faults(&plain, &[tree]).into_iter();
    let turned = faults.filter(|(what, _)| what.starts_with("a test turned"));
    let turned: Vec<(String, Forest)> = turned.take(6).collect();
    let is_missed = |(_, faulty): &&(String, Forest)| {
        let run = || interpreted(Trees::new(&program, faulty), &program, &trace);
        let shown = std::panic::catch_unwind(|| difference(&expected, &run()));
        matches!(shown, Ok(None))
    };
    // Some tests are of what this traffic never is.
    let missed: Vec<&String> = turned
        .iter()
        .filter(is_missed)
        .map(|(what, _)| what)
        .collect();
    println!("missed {} of {}", missed.len(), turned.len());
    assert!(2 * missed.len() <= turned.len(), "not found: {missed:#?}");
}
