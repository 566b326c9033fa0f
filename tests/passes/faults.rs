//! Planted faults behind each pass: a wrong variant of each, which the verifier or the interpreter
//! of the stack IR finds.
//!
//! In: random modules and `faults.ir`, and wrong variants of passes. Out: who finds each.

use crate::planted::Finder::{Interpreter, Verifier};
use crate::planted::{FAULTS, Finder, small};
use crate::random;
use stackloom::ir::Module;
use stackloom::ir::verify::verify;
use stackloom::passes::PASSES;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// So many random modules are tried.
const MODULES: u64 = 24;

/// The modules, each with what a host sees of it.
fn modules() -> Vec<(String, Module, Vec<String>)> {
    let random = (0..MODULES).map(|seed| (format!("SEED={seed}"), random::module(seed)));
    let all = random.chain([("faults.ir".to_string(), small())]);
    let all = all.map(|(name, module)| {
        if let Err(breaches) = verify(&module) {
            panic!("{name}: {}", breaches[0]);
        }
        let shown = random::shown(&module);
        (name, module, shown)
    });
    all.collect()
}

/// Returns who finds that a module is wrong, which shows this if it is right.
fn finder(module: &Module, expected: &[String]) -> Option<Finder> {
    if verify(module).is_err() {
        return Some(Verifier);
    }
    let shown = catch_unwind(AssertUnwindSafe(|| random::shown(module)));
    let is_same = shown.is_ok_and(|shown| shown == expected);
    (!is_same).then_some(Interpreter)
}

#[test]
fn a_planted_fault_behind_each_pass_is_found() {
    let modules = modules();
    let mut wrong = Vec::new();
    for (name, mistake, by, variant) in FAULTS {
        let pass = PASSES.iter().find(|pass| pass.name == *name);
        let pass = pass.unwrap_or_else(|| panic!("there is no pass {name}"));
        let mut found = modules.iter().filter_map(|(place, module, expected)| {
            let mut module = module.clone();
            variant(&mut module, pass.run);
            Some((place, finder(&module, expected)?))
        });
        let first = found.next();
        println!("{name}: {mistake}: {first:?}");
        if first.is_none_or(|(_, finder)| finder != *by) {
            wrong.push(format!("{name}: {mistake}: not {by:?}, but {first:?}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn each_pass_has_a_planted_fault() {
    let planted: BTreeSet<&str> = FAULTS.iter().map(|(pass, ..)| *pass).collect();
    let passes = PASSES.iter().map(|pass| pass.name);
    assert_eq!(planted, passes.collect());
}
