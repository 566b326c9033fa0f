//! The computation step of a system in two halves: `select`, and the execution of one selected
//! transition. A run and an exploration put them together.

use super::choice::Choices;
use super::fault::{Fault, Faulty};
use super::machine::{Fixed, Limits, Machine};
use super::situation::{InstanceId, Layout, Pending, PointId, Situation, index_text, state_name};
use super::trace::{Dump, Effect, Message, Node, Selected};
use super::value::{Shown, Value, cells};
use crate::source::Span;
use crate::types::estelle::program::{Attribute, Body, Program, Type, Variable, When};

/// The most scalar parts of the variables of one instance.
const CELLS: u64 = 1 << 22;

/// A reason why the interpreter does not run a specification.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The reason, as a sentence without its full stop.
    pub says: String,
    /// The place, if the text has one.
    pub span: Option<Span>,
}

/// A fault, and the path of the instance in which it happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stopped {
    /// The path.
    pub instance: String,
    /// The fault.
    pub fault: Fault,
}

/// The outcome of an execution.
#[derive(Clone, PartialEq, Debug)]
pub struct Fired {
    /// The path of the instance.
    pub instance: String,
    /// The state before.
    pub from: String,
    /// The state behind.
    pub to: String,
    /// The name of the transition.
    pub transition: String,
    /// The number of the transition in its body.
    pub number: usize,
    /// The interaction that it took.
    pub input: Option<Message>,
    /// Its effects.
    pub effects: Vec<Effect>,
    /// The fault that stopped it.
    pub stopped: Option<Stopped>,
}

/// A specification that is ready to run.
#[derive(Debug)]
pub struct Stepper<'p> {
    /// The specification.
    pub program: &'p Program,
    /// The bounds of a run.
    pub limits: Limits,
    layouts: Vec<Layout>,
}

impl<'p> Stepper<'p> {
    /// Prepares a specification. One with parts in C is refused.
    pub fn new(program: &'p Program, limits: Limits) -> Result<Stepper<'p>, Refusal> {
        refuse_parts_in_c(program)?;
        refuse_large_variables(program)?;
        Ok(Stepper {
            program,
            limits,
            layouts: Layout::of_all(program),
        })
    }

    /// Returns the layouts of all bodies.
    pub fn layouts(&self) -> &[Layout] {
        &self.layouts
    }

    /// Initialises the specification, and finds its systems.
    pub fn start(&self, choices: &mut Choices, records: bool) -> (Situation, Fired) {
        let mut situation = Situation::empty();
        let (program, root) = (self.program, Program::ROOT);
        let names = (program.name.clone(), program.name.clone());
        let layout = &self.layouts[root.index()];
        let id = situation.add(program, layout, (root, None), names);
        let mut machine = Machine::new(self.fixed(records), &mut situation, choices, id);
        let result = machine.initialise(id);
        let created = std::mem::take(&mut machine.created);
        let result = result.and_then(|()| {
            let mut created = created.into_iter();
            created.try_for_each(|new| match machine.situation.get(new) {
                Some(_) => machine.update_clocks(new, None),
                None => Ok(()),
            })
        });
        let effects = std::mem::take(&mut machine.effects);
        let stopped = stopped(&machine, result);
        situation.find_systems(program);
        let body = &program.bodies[root.index()];
        let to = state_name(body, situation.instance(id).state);
        let fired = Fired {
            instance: program.name.clone(),
            from: "-".to_string(),
            to: to.to_string(),
            transition: String::new(),
            number: 0,
            input: None,
            effects,
            stopped,
        };
        (situation, fired)
    }

    /// `select(R)` of a system: the transitions of its next step. A fault stops the system.
    pub fn select(
        &self,
        situation: &mut Situation,
        choices: &mut Choices,
        system: usize,
    ) -> Result<Vec<Pending>, Box<Stopped>> {
        let id = situation.systems[system].instance;
        let mut machine = Machine::new(self.fixed(false), situation, choices, id);
        let result = machine.select(id);
        self.or_stop(machine_end(machine, result), situation, system)
    }

    /// Tells whether a system would select anything, without a choice.
    pub fn yields(
        &self,
        situation: &mut Situation,
        choices: &mut Choices,
        system: usize,
    ) -> Result<bool, Box<Stopped>> {
        let id = situation.systems[system].instance;
        let mut machine = Machine::new(self.fixed(false), situation, choices, id);
        let result = machine.yields(id);
        self.or_stop(machine_end(machine, result), situation, system)
    }

    /// Executes a selected transition of a system.
    pub fn execute(
        &self,
        situation: &mut Situation,
        choices: &mut Choices,
        (system, pending): (usize, Pending),
        records: bool,
    ) -> Fired {
        let id = pending.instance;
        situation.systems[system]
            .pending
            .retain(|it| *it != pending);
        let instance = situation.instance(id);
        let (path, before) = (instance.path.to_string(), instance.state);
        let parent = instance.parent;
        let body = &self.program.bodies[instance.body.index()];
        let transition = &body.transitions[pending.transition];
        let mut machine = Machine::new(self.fixed(records), situation, choices, id);
        let values = machine.take_input(transition);
        let result = machine.fire(transition, &values);
        let result = result.and_then(|()| update_around(&mut machine, parent, pending));
        let effects = std::mem::take(&mut machine.effects);
        let stopped = stopped(&machine, result);
        if stopped.is_some() {
            stop(situation, system);
        }
        let after = situation.get(id).and_then(|instance| instance.state);
        let when = transition.when.filter(|_| records);
        let input = when.map(|when| self.message(body, when, &values));
        Fired {
            instance: path,
            from: state_name(body, before).to_string(),
            to: state_name(body, after).to_string(),
            transition: transition.name.clone(),
            number: pending.transition,
            input,
            effects,
            stopped,
        }
    }

    /// Returns the situation of a system, with the transitions that each instance may offer.
    pub fn dump(&self, situation: &mut Situation, system: usize, selected: &[Pending]) -> Dump {
        let id = situation.systems[system].instance;
        let selected = selected.iter().map(|pending| Selected {
            instance: situation.instance(pending.instance).path.to_string(),
            number: pending.transition,
        });
        Dump {
            time: situation.time,
            system: situation.instance(id).path.to_string(),
            selected: selected.collect(),
            tree: self.node(situation, id),
        }
    }

    /// Returns the points whose queues hold interactions, and how many, in order of the tree.
    pub fn queued(&self, situation: &Situation) -> Vec<(String, u64)> {
        let mut queued = Vec::new();
        let tables = (self.program, &self.layouts[..]);
        for id in situation.subtree(Situation::ROOT) {
            let instance = situation.instance(id);
            for point in 0..instance.points.len() {
                let queue = self.layouts[instance.body.index()].points[point].queue;
                let items = instance.queues[queue].iter();
                let count = items.filter(|item| item.point == point).count() as u64;
                if count > 0 {
                    let at = PointId {
                        instance: id,
                        point,
                    };
                    let name = situation.point_name(tables, id, at);
                    queued.push((format!("{}.{name}", instance.path), count));
                }
            }
        }
        queued
    }

    /// Returns the next time at which a clock may let a transition fire, if a system still runs.
    pub fn next_time(&self, situation: &Situation) -> Option<u64> {
        let running = situation.systems.iter().filter(|system| !system.is_stopped);
        let instances = running.flat_map(|system| situation.subtree(system.instance));
        let clocks = instances.flat_map(|id| situation.instance(id).clocks.iter().flatten());
        let times = clocks.flat_map(|clock| [Some(clock.from), clock.until]);
        times.flatten().filter(|time| *time > situation.time).min()
    }

    fn fixed(&self, records: bool) -> Fixed<'_> {
        Fixed {
            program: self.program,
            layouts: &self.layouts,
            limits: self.limits,
            records,
        }
    }

    fn or_stop<T>(
        &self,
        result: Result<T, Box<Stopped>>,
        situation: &mut Situation,
        system: usize,
    ) -> Result<T, Box<Stopped>> {
        if result.is_err() {
            stop(situation, system);
        }
        result
    }

    fn message(&self, body: &Body, when: When, values: &[Value]) -> Message {
        let points = &body.points[when.points];
        let channel = &self.program.channels[points.channel.index()];
        let interaction = &channel.interactions[when.interaction];
        let parameters = values.iter().zip(&interaction.parameters);
        let suffix = index_text(self.program, &points.indices, when.element);
        Message {
            point: format!("{}{suffix}", points.name),
            interaction: interaction.name.clone(),
            values: parameters
                .map(|(value, parameter)| Shown::of(self.program, value, parameter.kind))
                .collect(),
        }
    }

    fn node(&self, situation: &mut Situation, id: InstanceId) -> Node {
        let mut choices = Choices::First;
        let mut machine = Machine::new(self.fixed(false), situation, &mut choices, id);
        let offered = machine.fireable(id).unwrap_or_default();
        let instance = situation.instance(id);
        let body = &self.program.bodies[instance.body.index()];
        let attribute = body.attribute.map(|attribute| match attribute {
            Attribute::SystemProcess => "systemprocess",
            Attribute::SystemActivity => "systemactivity",
            Attribute::Process => "process",
            Attribute::Activity => "activity",
        });
        let points = &self.layouts[instance.body.index()].points;
        let heads = instance.queues.iter().filter_map(|queue| queue.front());
        let heads = heads.map(|item| {
            let point = points[item.point];
            [point.declaration, point.element as usize, item.interaction]
        });
        let (number, heads) = (instance.body.0, heads.collect());
        let (path, state) = (instance.path.to_string(), instance.state);
        let children = instance.children.clone().into_iter();
        let children = children.map(|child| self.node(situation, child));
        Node {
            instance: path,
            attribute,
            body: number,
            state: state_name(body, state).to_string(),
            heads,
            offered,
            children: children.collect(),
        }
    }
}

/// Stops a system: it selects and executes nothing any more.
fn stop(situation: &mut Situation, system: usize) {
    let system = &mut situation.systems[system];
    system.is_stopped = true;
    system.pending.clear();
}

/// Updates the clocks of an instance that fired, its parent, its children and the instances that
/// came into being. Those are the ones whose variables or states it can have changed. (our
/// decision)
fn update_around(
    machine: &mut Machine<'_, '_>,
    parent: Option<InstanceId>,
    pending: Pending,
) -> Faulty<()> {
    let id = pending.instance;
    if let Some(parent) = parent {
        machine.update_clocks(parent, None)?;
    }
    machine.update_clocks(id, Some(pending.transition))?;
    let children = machine.situation.instance(id).children.clone();
    for child in &children {
        machine.update_clocks(*child, None)?;
    }
    for new in std::mem::take(&mut machine.created) {
        if machine.situation.get(new).is_some() && !children.contains(&new) {
            machine.update_clocks(new, None)?;
        }
    }
    Ok(())
}

fn stopped(machine: &Machine<'_, '_>, result: Faulty<()>) -> Option<Stopped> {
    let fault = *result.err()?;
    let instance = machine.situation.instance(machine.current());
    Some(Stopped {
        instance: instance.path.to_string(),
        fault,
    })
}

fn machine_end<T>(machine: Machine<'_, '_>, result: Faulty<T>) -> Result<T, Box<Stopped>> {
    result.map_err(|fault| {
        let instance = machine.situation.instance(machine.current());
        Box::new(Stopped {
            instance: instance.path.to_string(),
            fault: *fault,
        })
    })
}

/// Refuses what only C can run.
fn refuse_parts_in_c(program: &Program) -> Result<(), Refusal> {
    let refused = |says: String, span: Option<Span>| Err(Refusal { says, span });
    for body in &program.bodies {
        if body.is_external {
            let name = &body.name;
            let says = format!("body `{name}` is `external`: the interpreter runs no C code");
            return refused(says, Some(body.span));
        }
    }
    for routine in &program.routines {
        if routine.statements.is_none() {
            let name = &routine.name;
            let says = format!("`{name}` is `primitive`: the interpreter runs no C code");
            return refused(says, Some(routine.span));
        }
    }
    for declared in &program.types {
        if let Type::External(name) = declared {
            let says = format!("type `{name}` is defined in C: the interpreter has no C types");
            return refused(says, None);
        }
    }
    Ok(())
}

/// Refuses variables that would fill the memory.
fn refuse_large_variables(program: &Program) -> Result<(), Refusal> {
    let check = |name: &str, variables: &[Variable]| {
        let mut total: u64 = 0;
        for variable in variables {
            total = total.saturating_add(cells(program, variable.kind, CELLS + 1));
            if total > CELLS {
                let says = format!("the variables of {name} have more than {CELLS} parts");
                let span = Some(variable.span);
                return Err(Refusal { says, span });
            }
        }
        Ok(())
    };
    for body in &program.bodies {
        check(&format!("`{}`", body.name), &body.variables)?;
        let points = body.points.iter().map(|points| u64::from(points.count));
        let modules = body.module_variables.iter();
        let modules = modules.map(|modules| u64::from(modules.count));
        if points.chain(modules).sum::<u64>() > CELLS {
            let says = format!(
                "`{}` has more than {CELLS} points and module variables",
                body.name
            );
            let span = Some(body.span);
            return Err(Refusal { says, span });
        }
    }
    for frame in &program.frames {
        check("a block or routine", frame)?;
    }
    Ok(())
}
