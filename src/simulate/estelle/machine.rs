//! The machine that evaluates clauses and executes blocks of transitions in a situation.
//!
//! machine/ holds its parts: places of variables, expressions, the statements of Pascal, those of
//! Estelle, and the rules by which transitions are enabled.
//!
//! One machine serves one selection or one execution. It stops at the first fault; the instance in
//! which that happened is then [`Machine::current`].

mod enable;
mod evaluate;
mod execute;
mod link;
mod operate;
mod place;

use super::choice::Choices;
use super::fault::{Fault, FaultKind, Faulty};
use super::situation::{InstanceId, Layout, Situation};
use super::trace::Effect;
use super::value::Value;
use crate::source::Span;
use crate::types::estelle::program::{Body, FrameId, Program, Transition};

/// The bounds of a run, so that each run ends and memory stays bounded.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most turns of one execution of `while` or `repeat`.
    pub loop_turns: u64,
    /// The most statements, turns of loops and calls in one firing.
    pub work: u64,
    /// The deepest nesting of statements, expressions and calls: a level takes up to 4 KB of stack.
    pub depth: u32,
    /// The deepest nesting of instances.
    pub levels: usize,
    /// The most instances.
    pub instances: usize,
    /// The most queued interactions.
    pub queued: u64,
    /// The most scalar parts of all instances and queued interactions.
    pub size: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            loop_turns: 1_000_000,
            work: 100_000_000,
            depth: 400,
            levels: 64,
            instances: 100_000,
            queued: 1_000_000,
            size: 1 << 24,
        }
    }
}

/// The parts of a machine that never change.
#[derive(Clone, Copy, Debug)]
pub struct Fixed<'p> {
    /// The specification.
    pub program: &'p Program,
    /// The layouts of its bodies.
    pub layouts: &'p [Layout],
    /// The bounds.
    pub limits: Limits,
    /// True if the machine writes down effects.
    pub records: bool,
}

/// A machine; see the top of the file.
pub struct Machine<'p, 's> {
    fixed: Fixed<'p>,
    /// The situation that it changes.
    pub situation: &'s mut Situation,
    choices: &'s mut Choices,
    /// Effects of the firing, if they are written down.
    pub effects: Vec<Effect>,
    /// Instances that came into being, in order of creation.
    pub created: Vec<InstanceId>,
    activations: Vec<Activation>,
    windows: Vec<((InstanceId, usize), bool)>,
    work: u64,
    depth: u32,
}

/// The locals of an instance that evaluates or executes. `init` nests them.
struct Activation {
    instance: InstanceId,
    /// A frame is active at most once, since there is no recursion. The last one is the innermost.
    frames: Vec<(FrameId, Vec<Slot>)>,
}

/// The content of a local.
#[derive(Clone, Debug)]
enum Slot {
    /// A variable.
    Value(Value),
    /// Another name of a variable: a `var` parameter, or the record of `with`.
    Reference(Location),
    /// A module that a statement has bound.
    Module(InstanceId),
    /// A reference that is not bound yet.
    Empty,
}

/// A variable or a part of one, with all indices evaluated.
#[derive(Clone, Debug)]
struct Location {
    base: Base,
    /// Numbers of elements and fields, outer first.
    path: Vec<usize>,
}

/// The variable of a location.
#[derive(Clone, Copy, Debug)]
enum Base {
    Variable(InstanceId, usize),
    Local(FrameId, usize),
}

impl<'p, 's> Machine<'p, 's> {
    /// Returns a machine for one selection or execution that `instance` begins.
    pub fn new(
        fixed: Fixed<'p>,
        situation: &'s mut Situation,
        choices: &'s mut Choices,
        instance: InstanceId,
    ) -> Machine<'p, 's> {
        let activation = Activation {
            instance,
            frames: Vec::new(),
        };
        Machine {
            fixed,
            situation,
            choices,
            effects: Vec::new(),
            created: Vec::new(),
            activations: vec![activation],
            windows: Vec::new(),
            work: 0,
            depth: 0,
        }
    }

    /// Returns the instance that evaluates or executes.
    pub fn current(&self) -> InstanceId {
        self.active().instance
    }

    /// Takes the interaction of `when` from its queue. Returns its values.
    pub fn take_input(&mut self, transition: &Transition) -> Vec<Value> {
        let Some(when) = transition.when else {
            return Vec::new();
        };
        let point = self.own_point(when.points, when.element);
        let item = self.situation.dequeue(self.fixed.layouts, point);
        item.map_or_else(Vec::new, |item| item.values)
    }

    /// Fires a transition, or an alternative of `initialize`: executes its block and changes the
    /// state.
    pub fn fire(&mut self, transition: &'p Transition, values: &[Value]) -> Faulty<()> {
        let block = &self.fixed.program.blocks[transition.block.index()];
        self.enter(transition, values);
        self.run(&block.statements)?;
        self.leave();
        if transition.to.is_some() {
            let current = self.current();
            self.situation.change(current).state = transition.to;
        }
        Ok(())
    }

    /// Initialises an instance that was just added, at once and to the end.
    pub fn initialise(&mut self, new: InstanceId) -> Faulty<()> {
        self.created.push(new);
        self.within(new, |machine| machine.take_alternative())
    }

    /// Evaluates or executes something in another instance.
    fn within<T>(
        &mut self,
        instance: InstanceId,
        work: impl FnOnce(&mut Self) -> Faulty<T>,
    ) -> Faulty<T> {
        self.activations.push(Activation {
            instance,
            frames: Vec::new(),
        });
        let result = work(self)?;
        // After a fault the activation stays: it tells where that was.
        self.activations.pop();
        Ok(result)
    }

    /// Makes the frame of a transition: the names of `any`, then the parameters of the interaction.
    fn enter(&mut self, transition: &Transition, values: &[Value]) {
        let block = &self.fixed.program.blocks[transition.block.index()];
        let mut slots = self.new_frame(block.frame);
        let any = transition.any.iter().map(|number| Value::Ordinal(*number));
        let bound = any.chain(values.iter().cloned());
        for (slot, value) in slots.iter_mut().zip(bound) {
            *slot = Slot::Value(value);
        }
        self.active_mut().frames.push((block.frame, slots));
    }

    /// Removes the innermost frame and returns it.
    fn leave(&mut self) -> Vec<Slot> {
        let frame = self.active_mut().frames.pop();
        frame.map_or_else(Vec::new, |(_, slots)| slots)
    }

    /// Returns a frame without values.
    fn new_frame(&self, frame: FrameId) -> Vec<Slot> {
        let program = self.fixed.program;
        let variables = program.frames[frame.index()].iter();
        let slot = variables.map(|variable| match variable.is_reference {
            true => Slot::Empty,
            false => Slot::Value(Value::undefined(program, variable.kind)),
        });
        slot.collect()
    }

    fn slot(&self, frame: FrameId, local: usize) -> &Slot {
        let frames = &self.active().frames;
        let found = frames.iter().rev().find(|(id, _)| *id == frame);
        found.map_or(&Slot::Empty, |(_, slots)| &slots[local])
    }

    fn slot_mut(&mut self, frame: FrameId, local: usize) -> Option<&mut Slot> {
        let frames = &mut self.active_mut().frames;
        let found = frames.iter_mut().rev().find(|(id, _)| *id == frame);
        found.map(|(_, slots)| &mut slots[local])
    }

    fn bind(&mut self, frame: FrameId, local: usize, content: Slot) {
        if let Some(slot) = self.slot_mut(frame, local) {
            *slot = content;
        }
    }

    fn active(&self) -> &Activation {
        let last = self.activations.last();
        last.expect("a machine begins with an activation, and each one is removed by its maker")
    }

    fn active_mut(&mut self) -> &mut Activation {
        let last = self.activations.last_mut();
        last.expect("a machine begins with an activation, and each one is removed by its maker")
    }

    fn body(&self) -> &'p Body {
        let instance = self.situation.instance(self.current());
        &self.fixed.program.bodies[instance.body.index()]
    }

    /// Counts a statement, a turn of a loop or a call.
    fn spend(&mut self, span: Span) -> Faulty<()> {
        self.work += 1;
        match self.work > self.fixed.limits.work {
            true => {
                let says = format!("a firing takes more than {} steps", self.fixed.limits.work);
                Fault::err(FaultKind::LoopLimit, says, span)
            }
            false => Ok(()),
        }
    }

    /// Counts a level of nesting; [`Machine::rise`] ends it.
    fn sink(&mut self, span: Span) -> Faulty<()> {
        self.depth += 1;
        match self.depth > self.fixed.limits.depth {
            true => {
                let says = format!("more than {} levels", self.fixed.limits.depth);
                Fault::err(FaultKind::Nesting, says, span)
            }
            false => Ok(()),
        }
    }

    fn rise(&mut self) {
        self.depth -= 1;
    }
}
