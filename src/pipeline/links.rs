//! Modules and links of an Estelle specification that never change.
//!
//! In: the specification and its stack IR. Out: the points at which outputs arrive, and the order
//! in which steps ask modules.
//!
//! Runs `initialize` of all modules on the machine of the stack IR, as the C would run it.

use crate::ir::interface::Foreign;
use crate::ir::{Module, Region};
use crate::lower::estelle::{Asked, Fixed, is_static};
use crate::simulate::machine::values::Held;
use crate::simulate::machine::{Host, Machine, Output};
use crate::simulate::state::Limits;
use crate::simulate::value::Datum;
use crate::types::estelle::program::Program;
use std::rc::Rc;

/// The kind whose fields are the tables of modules.
const MODULES: &str = "modules";

/// Returns the parts that never change. None if a transition changes modules or links, or if
/// `initialize` calls functions of the host or fails.
pub fn fixed(program: &Program, module: &Module) -> Option<Fixed> {
    if !is_static(program) || !module.foreigns.is_empty() {
        return None;
    }
    let host = Rc::new(Alone);
    let machine = Machine::start(module, host, Vec::new(), Limits::default(), 0)?;
    let mut started = Started { module, machine };
    if started.call("start", &[])? != 0 {
        return None;
    }
    let count = started.call("systems", &[])?;
    // The first plan puts modules in order.
    started.call("plan", &[0])?;
    let systems = (0..count).map(|system| started.system(system));
    let systems = systems.collect::<Option<Vec<Vec<Asked>>>>()?;
    Some(Fixed {
        targets: started.table("target")?,
        systems,
    })
}

/// A specification behind its start.
struct Started<'m> {
    module: &'m Module,
    machine: Machine<'m>,
}

impl Started<'_> {
    /// Calls a function that a program calls: its result.
    fn call(&mut self, name: &str, arguments: &[u64]) -> Option<u64> {
        let name = format!("{}_{name}", self.module.name);
        let arguments = arguments.iter().map(|one| Held::Number(*one)).collect();
        match self.machine.export(&name, arguments).first()? {
            Held::Number(number) => Some(*number),
            _other => None,
        }
    }

    /// The numbers of a table.
    fn table(&self, name: &str) -> Option<Vec<u32>> {
        let (kind, field) = self.module.field_named(MODULES, name)?;
        let length = *self.module.field(kind, field).dimensions.first()?;
        let region = Region::Field(kind, field);
        let all = (0..length).map(|at| match self.machine.element(region, &[0, at])? {
            Held::Number(number) => u32::try_from(number).ok(),
            _other => None,
        });
        all.collect()
    }

    /// The modules of a system, in the order in which a step asks them.
    fn system(&mut self, number: u64) -> Option<Vec<Asked>> {
        let root = self.call("system", &[number])? as usize;
        let tables = ["in_order", "place", "behind", "resumes"].map(|name| self.table(name));
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
