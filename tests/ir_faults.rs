//! Planted faults of the stack IR: each breaks one rule, and the verifier finds just that one.
//!
//! In: a small module, and a function or change that is added to it. Out: the numbers of the rules
//! that are broken. Good modules break none.

#[path = "ir_faults/flow.rs"]
mod flow;
#[path = "ir_faults/good.rs"]
mod good;
#[path = "ir_faults/mutants.rs"]
mod mutants;
#[path = "ir_faults/speed.rs"]
mod speed;
#[path = "ir_faults/structure.rs"]
mod structure;
#[path = "ir_faults/world.rs"]
mod world;

use stackloom::ir::verify::{Rule, Strictness, verify, verify_with};
use std::collections::BTreeSet;
use world::Plant;

const STRICT: Strictness = Strictness { ranges: true };

fn broken(plant: Plant, strictness: Strictness) -> BTreeSet<u8> {
    let mut module = world::module();
    plant(&mut module);
    let breaches = verify_with(&module, strictness).err().unwrap_or_default();
    let rules = breaches.iter().map(|breach| breach.rule.number());
    rules.collect()
}

#[test]
fn each_planted_fault_breaks_just_its_rule() {
    let faults = structure::FAULTS.iter().chain(flow::FAULTS);
    let mut wrong = Vec::new();
    for (rule, name, plant) in faults {
        let is_strict = [Rule::Ranges.number(), Rule::Traps.number()].contains(rule);
        let strictness = Strictness { ranges: is_strict };
        let found = broken(*plant, strictness);
        if found != BTreeSet::from([*rule]) {
            wrong.push(format!("{name}: rule {rule}, but found {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn good_modules_break_no_rule() {
    for (name, plant) in good::MODULES {
        let mut module = world::module();
        plant(&mut module);
        let breaches = verify_with(&module, STRICT).err().unwrap_or_default();
        let breaches: Vec<String> = breaches.iter().map(ToString::to_string).collect();
        assert!(breaches.is_empty(), "{name}:\n{}", breaches.join("\n"));
    }
}

#[test]
fn a_breach_says_where_it_is() {
    let mut module = world::module();
    let (_, _, plant) = structure::FAULTS
        .iter()
        .find(|(_, name, _)| *name == "a message is dropped twice")
        .expect("the fault is planted");
    plant(&mut module);
    let breaches = verify(&module).expect_err("the fault is found");
    let said = "rule 4, in `planted`, block b0: the handle %m is used up twice";
    assert_eq!(breaches[0].to_string(), said);
}

#[test]
fn each_rule_that_is_checked_has_a_fault() {
    let faults = structure::FAULTS.iter().chain(flow::FAULTS);
    let planted: BTreeSet<u8> = faults.map(|(rule, ..)| *rule).collect();
    let rules = Rule::ALL.iter().map(|rule| rule.number());
    assert_eq!(planted, rules.collect());
}
