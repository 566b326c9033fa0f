//! Choices for a compiled specification, by the paths of its modules.

use crate::simulate::estelle::choice::{Choices, Source};

use crate::simulate::estelle::situation::index_text;
use crate::simulate::estelle::turns::Choice;
use crate::types::estelle::program::Program;
use std::cell::RefCell;
use std::rc::Rc;

/// A question about the origin of a module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// Its body, from 0.
    Body,
    /// The module that has initialised it.
    Parent,
    /// The module variable by which that was, from 0.
    Variable,
    /// The number of modules of this variable, with it.
    Generation,
}

impl Origin {
    /// The name of the function that answers, behind that of the specification.
    pub fn name(self) -> &'static str {
        match self {
            Origin::Body => "body",
            Origin::Parent => "parent",
            Origin::Variable => "variable",
            Origin::Generation => "generation",
        }
    }
}

/// Chooses for a compiled specification, by the paths of its modules.
#[derive(Debug)]
pub struct Chooser<'p> {
    program: &'p Program,
    choices: RefCell<Choices>,
}

impl<'p> Chooser<'p> {
    /// Returns a chooser for a run.
    pub fn new(program: &'p Program, choice: Choice) -> Chooser<'p> {
        Chooser {
            program,
            choices: RefCell::new(choice.choices()),
        }
    }

    /// Chooses one of `count` possibilities for a module. `source` counts from 0 in the order of
    /// [`Source`]; `ask` answers questions about modules.
    pub fn choose(
        &self,
        (source, module, count): (u64, i64, u64),
        ask: &mut dyn FnMut(Origin, i64) -> i64,
    ) -> u64 {
        let all = [
            Source::Offer,
            Source::Child,
            Source::Order,
            Source::Time,
            Source::Element,
        ];
        let path: Rc<str> = self.path(module, ask).into();
        let source = all[source as usize % all.len()];
        self.draw(source, &path, count)
    }

    /// Draws a number below `count` from a source, for a path.
    pub fn draw(&self, source: Source, path: &Rc<str>, count: u64) -> u64 {
        self.choices.borrow_mut().choose(source, path, count)
    }

    /// The specification.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// The path of a module, as the reference interpreter writes it.
    pub fn path(&self, module: i64, ask: &mut dyn FnMut(Origin, i64) -> i64) -> String {
        let parent = ask(Origin::Parent, module);
        if parent < 0 {
            return self.program.name.clone();
        }
        let body = &self.program.bodies[ask(Origin::Body, parent) as usize];
        let mut element = ask(Origin::Variable, module) as u32;
        for declared in &body.module_variables {
            if element < declared.count {
                let suffix = index_text(self.program, &declared.indices, element);
                let again = match ask(Origin::Generation, module) {
                    1 => String::new(),
                    number => format!("#{number}"),
                };
                let own = format!("{}{suffix}{again}", declared.name);
                let is_system = self.program.bodies[Program::ROOT.index()]
                    .attribute
                    .is_some();
                return match parent == 0 && !is_system {
                    true => own,
                    false => format!("{}.{own}", self.path(parent, ask)),
                };
            }
            element -= declared.count;
        }
        unreachable!("a module is initialised by a variable of its parent")
    }
}
