//! Links of an Estelle specification that never change.
//!
//! In: the specification and its stack IR. Out: where the outputs of each interaction point arrive.
//!
//! Runs `initialize` of all modules on the machine of the stack IR, as the C would run it.

use crate::ir::interface::Foreign;
use crate::ir::{Module, Region};
use crate::lower::estelle::is_static;
use crate::simulate::machine::values::Held;
use crate::simulate::machine::{Host, Machine, Output};
use crate::simulate::state::Limits;
use crate::simulate::value::Datum;
use crate::types::estelle::program::Program;
use std::rc::Rc;

/// The kind and the field of the kernel that say where outputs arrive.
const TARGETS: (&str, &str) = ("modules", "target");

/// By point: the point at which its outputs arrive, or the number behind the last. None if a
/// transition changes modules or links, or if `initialize` calls functions of the host or fails.
pub fn targets(program: &Program, module: &Module) -> Option<Vec<u32>> {
    if !is_static(program) || !module.foreigns.is_empty() {
        return None;
    }
    let (kind, field) = module.field_named(TARGETS.0, TARGETS.1)?;
    let points = *module.field(kind, field).dimensions.first()?;
    let region = Region::Field(kind, field);
    let host = Rc::new(Alone);
    let mut machine = Machine::start(module, host, Vec::new(), Limits::default(), 0)?;
    if machine.export(&format!("{}_start", module.name), Vec::new()) != [Held::Number(0)] {
        return None;
    }
    let all = (0..points).map(|point| match machine.element(region, &[0, point])? {
        Held::Number(number) => u32::try_from(number).ok(),
        _other => None,
    });
    all.collect()
}

/// A host that is never called.
struct Alone;

impl Host for Alone {
    fn function(&self, _: &Machine<'_>, _: &Foreign, _: &mut [Datum]) -> Datum {
        unreachable!("the module has no functions of the host")
    }

    fn application(&self, _: &mut Machine<'_>, _: &str, _: &Output) -> u64 {
        unreachable!("a specification has no ports")
    }

    fn leaving(&self, _: &mut Machine<'_>, _: &str, _: &Output) {
        unreachable!("a specification has no links to the outside")
    }
}
