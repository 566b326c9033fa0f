//! Specifications whose modules and links never change: in, the order in which a step asks the
//! modules of each system; out, a function that asks them one after the other, without a loop.

use super::super::code::{Called, Code};
use super::super::{KERNEL, Lower, Which};
use crate::ir::op::{Arithmetic, Compare};
use crate::ir::{BlockId, Edge, Probability, Terminator, Type as Plain, Value};
use crate::types::estelle::program::BodyId;
use std::collections::BTreeMap;

/// The parts of a specification that never change behind its start; empty if any may.
#[derive(Clone, Default, Debug)]
pub struct Fixed {
    /// By point: the point at which its outputs arrive, or the number behind the last.
    pub targets: Vec<u32>,
    /// By system: its modules in the order in which a step asks them.
    pub systems: Vec<Vec<Asked>>,
}

/// A module that a step asks.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// Its number.
    pub module: u32,
    /// Its place in the order of all modules.
    pub place: u32,
    /// The place with which a step goes on if it fires.
    pub resumes: u32,
}

/// By module, if each has one of its own: its body, and the function that selects a transition.
pub type Selects = BTreeMap<u32, (BodyId, Called)>;

/// The transitions that were found so far, and the place with which the step goes on.
#[derive(Clone, Copy)]
struct Found {
    fires: Value,
    next: Value,
}

impl Lower<'_> {
    /// The function of the kernel that asks all modules of a system, by its number: `system ->
    /// count`. Without functions for each module it asks none, and is not called.
    pub(in super::super) fn ask_system(&mut self, selects: &Selects) -> Called {
        let place = (Which::Kernel, KERNEL);
        let parameters = [(Plain::WORD, "system")];
        let mut code = Code::new(self, place, "ask_system", &parameters, vec![Plain::WORD]);
        let fixed = code.lower.fixed;
        let system = code.parameter(0);
        let systems = match selects.is_empty() {
            true => 0,
            false => fixed.systems.len(),
        };
        let cases: Vec<(u64, usize)> = (0..systems).map(|at| (at as u64, at)).collect();
        code.switch(system, &cases, |code, at| {
            let zero = code.word(0);
            let mut found = Found {
                fires: zero,
                next: zero,
            };
            for asked in &fixed.systems[at] {
                let (body, called) = &selects[&asked.module];
                found = ask(code, *asked, (*body, called), found);
            }
            code.answer(&[found.fires]);
        });
        let none = code.word(0);
        code.answer(&[none]);
        code.finish()
    }
}

/// Asks a module, if it is awake and the step does not go on behind it.
fn ask(
    code: &mut Code<'_, '_>,
    asked: Asked,
    (body, select): (BodyId, &Called),
    found: Found,
) -> Found {
    let behind = code
        .build
        .block(&[(Plain::WORD, "fires"), (Plain::WORD, "next")]);
    let module = code.word(asked.module.into());
    if code.lower.kernel_number("nested") > 0 {
        let place = code.word(asked.place.into());
        let is_left_out = code.compare(Compare::Ult, place, found.next);
        leaves_where(code, is_left_out, behind, found);
    }
    let awake = code.kernel_load("awake", &[module]);
    let zero = code.word(0);
    let sleeps = code.compare(Compare::Eq, awake, zero);
    leaves_where(code, sleeps, behind, found);
    let transition = code.call_of(body, select, module)[0];
    let is_none = code.is_kernel_number(transition, "no_transition");
    let (none, some) = code.build.branch(is_none, Probability::EVEN);
    code.build.go_to(none);
    let restless = code.kernel_load("restless", &[module]);
    code.kernel_store("awake", &[module], restless);
    hand(code, behind, found);
    code.build.go_to(some);
    code.kernel_store("chosen", &[found.fires], transition);
    let one = code.word(1);
    let fires = code.arithmetic(Arithmetic::Add, found.fires, one);
    let next = code.word(asked.resumes.into());
    hand(code, behind, Found { fires, next });
    code.build.go_to(behind);
    let [fires, next] = [0, 1].map(|at| code.build.parameter_of(behind, at));
    Found { fires, next }
}

/// Goes to a block where a bit is 1.
fn leaves_where(code: &mut Code<'_, '_>, condition: Value, to: BlockId, found: Found) {
    let goes_on = code.build.block(&[]);
    code.build.end(Terminator::Branch {
        condition,
        likely: Probability::EVEN,
        then: Edge {
            block: to,
            arguments: vec![found.fires, found.next],
        },
        otherwise: Edge::to(goes_on),
    });
    code.build.go_to(goes_on);
}

fn hand(code: &mut Code<'_, '_>, to: BlockId, found: Found) {
    code.build.end(Terminator::Jump(Edge {
        block: to,
        arguments: vec![found.fires, found.next],
    }));
}
