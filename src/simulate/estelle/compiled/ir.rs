//! A specification as stack IR, run by the machine of the IR.

use super::Target;
use super::chooser::{Chooser, Origin};
use crate::ir::interface::Foreign;
use crate::ir::{Module, Region};
use crate::lower::estelle::MODULES;
use crate::simulate::machine::values::Held;
use crate::simulate::machine::{Host, Machine, Output};
use crate::simulate::state::Limits;
use crate::simulate::value::Datum;
use std::rc::Rc;

/// The table of parents of modules.
const PARENT: &str = "parent";

/// A specification as stack IR.
#[derive(Debug)]
pub struct IrTarget<'m> {
    module: &'m Module,
    machine: Machine<'m>,
}

impl<'m> IrTarget<'m> {
    /// Prepares a specification.
    pub fn new(module: &'m Module, chooser: Rc<Chooser<'m>>) -> IrTarget<'m> {
        let host = Rc::new(Outside { module, chooser });
        let machine = Machine::start(module, host, Vec::new(), Limits::default(), 0);
        IrTarget {
            module,
            machine: machine.expect("a specification has no settings that could be wrong"),
        }
    }

    /// The numbers of a table of modules or points; none if there is no such table.
    pub fn table(&self, name: &str) -> Option<Vec<u32>> {
        let (kind, field) = self.module.field_named(MODULES, name)?;
        let length = *self.module.field(kind, field).dimensions.first()?;
        let region = Region::Field(kind, field);
        let all = (0..length).map(|at| match self.machine.element(region, &[0, at])? {
            Held::Number(number) => u32::try_from(number).ok(),
            _other => None,
        });
        all.collect()
    }

    fn number(&mut self, name: &str, arguments: &[i64], now_ns: u64) -> u64 {
        self.machine.set_now(now_ns);
        let arguments = arguments.iter();
        let arguments = arguments.map(|one| Held::Number(u64::from(*one as u32)));
        let name = format!("{}_{name}", self.module.name);
        match self.machine.export(&name, arguments.collect())[..] {
            [Held::Number(number)] => number,
            ref other => unreachable!("{other:?} is no number"),
        }
    }
}

impl Target for IrTarget<'_> {
    fn call(&mut self, name: &str, arguments: &[i64], now_ns: u64) -> i64 {
        i64::from(self.number(name, arguments, now_ns) as u32 as i32)
    }

    fn deadline_ns(&mut self, now_ns: u64) -> Option<u64> {
        match self.number("deadline", &[], now_ns) {
            u64::MAX => None,
            due_ns => Some(due_ns),
        }
    }
}

/// The outside of a specification, which chooses.
struct Outside<'m> {
    module: &'m Module,
    chooser: Rc<Chooser<'m>>,
}

impl Outside<'_> {
    /// The content of a table of modules.
    fn table(&self, machine: &Machine<'_>, name: &str, module: i64) -> i64 {
        let found = self.module.field_named(MODULES, name);
        let (kind, at) = found.expect("the kernel has this table");
        let field = self.module.field(kind, at);
        let region = Region::Field(kind, at);
        let held = machine.element(region, &[0, module as u32]);
        let modules = u64::from(field.dimensions[0]);
        match held {
            // The number behind the last is no module.
            Some(Held::Number(number)) if name == PARENT && number >= modules => -1,
            Some(Held::Number(number)) => number as i64,
            other => unreachable!("{other:?} is no number"),
        }
    }
}

impl Host for Outside<'_> {
    fn function(&self, machine: &Machine<'_>, foreign: &Foreign, given: &mut [Datum]) -> Datum {
        match given {
            [
                Datum::Number(source),
                Datum::Number(module),
                Datum::Number(count),
            ] => {
                let mut ask = |asked: Origin, module: i64| {
                    let table = match asked {
                        Origin::Body => "of_body",
                        Origin::Parent => PARENT,
                        Origin::Variable => "made_by",
                        Origin::Generation => "generation",
                    };
                    self.table(machine, table, module)
                };
                let asked = (*source, *module as i64, *count);
                Datum::Number(self.chooser.choose(asked, &mut ask))
            }
            _other => unreachable!("the specification calls `{}`", foreign.name),
        }
    }

    fn application(&self, _: &mut Machine<'_>, _: &str, _: &Output) -> u64 {
        unreachable!("a specification has no ports")
    }

    fn leaving(&self, _: &mut Machine<'_>, _: &str, _: &Output) {
        unreachable!("a specification has no links")
    }
}
