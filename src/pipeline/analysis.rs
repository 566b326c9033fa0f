//! Analysis of a stack: in, its trees, and a profile; out, how often it does what, the cost of its
//! trees after each rewrite, and its fast paths.

use super::{Passes, Variant, printed, unwoven};
use crate::back::c::Path;
use crate::ir::Module;
use crate::optimise;
use crate::optimise::states::{Never, never};
use crate::profile::transitions::{Transition, transitions};
use crate::profile::{self, Analysis, Asked, Cost, Profile, Register};
use crate::source::{Sources, Span};
use crate::tree::Forest;
use crate::tree::rewrites::Rewrites;
use crate::types::program::Program;
use crate::weave;
use std::collections::BTreeMap;

/// The share of the work that the fast path carries.
pub const SHARE: f64 = 0.9;

/// Frequencies of the states and transitions of a stack.
pub struct Analysed {
    /// In which states instances of its layers are.
    pub states: Vec<Register>,
    /// The C of the stack is the same without its `traffic` declaration.
    pub ignores_traffic: bool,
    /// Its trees, woven, and how often each is run.
    pub woven: Analysis,
    /// The fewest transitions that carry [`SHARE`] of the work.
    pub path: Vec<Transition>,
    /// The cost of the trees before any rewrite, and after each.
    pub costs: Vec<Cost>,
    /// The stack IR behind all passes.
    pub module: Module,
    /// Its fast paths.
    pub paths: Vec<Path>,
    /// Joints that stayed calls.
    pub stayed: Vec<weave::Stayed>,
    /// Joints that are none any more.
    pub joined: Vec<weave::Joined>,
    /// By place in the sources: who asks what is written there, before any rewrite and after each,
    /// as in `costs`.
    pub asked: Vec<BTreeMap<Span, Asked>>,
    /// Control states in which nothing is ever found.
    pub never: Vec<Never>,
}

/// Finds how often a stack does what, by what is known of its traffic, and stands in its trees.
pub fn analyse(
    sources: &Sources,
    program: &Program,
    forest: Forest,
    profile: &Profile,
    (rewrites, passes): (Rewrites, Passes),
) -> Analysed {
    let ir = |program: &Program, forest: Forest| {
        let mut program = program.clone();
        let forest = unwoven(&mut program, forest, rewrites);
        let stack = (sources, &program, &forest);
        printed(stack, Variant::Plain, (rewrites, passes))
    };
    let (module, code) = ir(program, forest.clone());
    let ignores_traffic = !program.traffic.is_empty() && {
        let mut unsaid = program.clone();
        unsaid.traffic.clear();
        ir(&unsaid, forest.clone()).1.c == code.c
    };
    let mut shorter = optimise::unasked::forget(program, &forest);
    let mut woven = profile::analyse(program, forest, profile);
    let states = std::mem::take(&mut woven.registers);
    let mut costs = vec![Cost::of(None, &woven)];
    let mut asked = vec![profile::asked(&woven)];
    let never = never(program, &woven.forest);
    let mut program = program.clone();
    for rewrite in rewrites.each() {
        shorter = optimise::rewrite(&mut program, shorter, rewrite);
        woven = profile::analyse(&program, shorter.clone(), profile);
        costs.push(Cost::of(Some(rewrite), &woven));
        asked.push(profile::asked(&woven));
    }
    Analysed {
        ignores_traffic,
        states,
        path: transitions(&woven.forest, &woven.runs, SHARE),
        stayed: weave::stayed(&program, &woven.forest, weave::Limits::default()),
        joined: weave::joined(&woven.forest),
        asked,
        never,
        woven,
        costs,
        module,
        paths: code.paths,
    }
}
