//! Modules and links of an Estelle specification that never change.
//!
//! In: the specification and its stack IR. Out: the points at which outputs arrive, and the order
//! in which steps ask modules.
//!
//! Runs `initialize` of all modules on the machine of the stack IR, as the C would run it.

use crate::ir::Module;
use crate::lower::estelle::{Asked, Fixed, is_static};
use crate::simulate::estelle::{Choice, Chooser, IrTarget, Target};
use crate::types::estelle::program::Program;
use std::rc::Rc;

/// Returns the parts that never change. None if a transition changes modules or links, or if
/// `initialize` calls functions of the host or fails.
pub fn fixed(program: &Program, module: &Module) -> Option<Fixed> {
    if !is_static(program) || !module.foreigns.is_empty() {
        return None;
    }
    let chooser = Rc::new(Chooser::new(program, Choice::First));
    let mut started = IrTarget::new(module, chooser);
    if started.call("start", &[], 0) != 0 {
        return None;
    }
    // The first plan puts modules in order.
    started.call("plan", &[0], 0);
    let systems = (0..started.call("systems", &[], 0)).map(|number| {
        let root = started.call("system", &[number], 0);
        system(&started, root as usize)
    });
    let systems = systems.collect::<Option<Vec<Vec<Asked>>>>()?;
    Some(Fixed {
        targets: started.table("target")?,
        systems,
    })
}

/// The modules of a system, in the order in which a step asks them.
fn system(started: &IrTarget<'_>, root: usize) -> Option<Vec<Asked>> {
    let tables = ["in_order", "place", "behind", "resumes"].map(|name| started.table(name));
    let [Some(in_order), Some(place), Some(behind), Some(resumes)] = tables else {
        return None;
    };
    let all = (place[root]..behind[root]).map(|place| {
        let module = in_order[place as usize];
        Asked {
            module,
            place,
            resumes: resumes[module as usize],
        }
    });
    Some(all.collect())
}
