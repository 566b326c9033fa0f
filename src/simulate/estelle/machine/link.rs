//! The statements of Estelle that create and destroy modules, link points and send interactions.

use super::{Machine, Slot};
use crate::simulate::estelle::choice::Source;
use crate::simulate::estelle::fault::{Fault, FaultKind, Faulty};
use crate::simulate::estelle::situation::{InstanceId, PointId, index_text};
use crate::simulate::estelle::trace::{Effect, Message};
use crate::simulate::estelle::value::{Shown, Value};
use crate::source::Span;
use crate::types::estelle::program::{
    BodyId, Expression, ModuleReference, PointReference, Program, ReferenceVariable, Statement,
    StatementKind,
};
use std::rc::Rc;

impl<'p> Machine<'p, '_> {
    /// Executes a statement of Estelle. Those of Pascal have no effect here.
    pub(super) fn change_links(&mut self, statement: &'p Statement) -> Faulty<()> {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Init(module, body, arguments) => {
                self.init(module, *body, arguments, span)
            }
            StatementKind::Release(module) => self.remove(module, true),
            StatementKind::Terminate(module) => self.remove(module, false),
            StatementKind::Connect(a, b) => self.connect(a, b, span),
            StatementKind::DisconnectPoint(point) => {
                let point = self.point(point)?;
                self.situation.disconnect(point);
                Ok(())
            }
            StatementKind::DisconnectModule(module) => {
                for point in self.external_points(module)? {
                    self.situation.disconnect(point);
                }
                Ok(())
            }
            StatementKind::Attach(p, q) => self.attach(p, q, span),
            StatementKind::DetachPoint(point) => {
                let at = self.point(point)?;
                // A point of a child stands for the own point that is attached to it.
                let above = match &point.module {
                    Some(_) => self.situation.instance(at.instance).points[at.point].above,
                    None => Some(at),
                };
                self.detach(above);
                Ok(())
            }
            StatementKind::DetachModule(module) => {
                for point in self.external_points(module)? {
                    let above = self.situation.instance(point.instance).points[point.point].above;
                    self.detach(above);
                }
                Ok(())
            }
            StatementKind::Output(point, interaction, arguments) => {
                self.output(point, *interaction, arguments, span)
            }
            StatementKind::Assign(..)
            | StatementKind::Call(..)
            | StatementKind::If(..)
            | StatementKind::Case(..)
            | StatementKind::While(..)
            | StatementKind::Repeat(..)
            | StatementKind::For { .. }
            | StatementKind::With(..)
            | StatementKind::All(..)
            | StatementKind::ForOne { .. } => Ok(()),
        }
    }

    /// Returns the module to which a reference refers.
    pub(super) fn module(&mut self, reference: &'p ModuleReference) -> Faulty<InstanceId> {
        let (found, name) = match &reference.variable {
            ReferenceVariable::Variable(declaration, indices) => {
                let (variable, name) = self.module_variable(*declaration, indices)?;
                let current = self.situation.instance(self.current());
                (current.modules[variable], name)
            }
            ReferenceVariable::Bound(frame, local) => {
                let variable = &self.fixed.program.frames[frame.index()][*local];
                let module = match self.slot(*frame, *local) {
                    Slot::Module(module) => self.situation.get(*module).map(|_| *module),
                    Slot::Value(_) | Slot::Reference(_) | Slot::Empty => None,
                };
                (module, variable.name.clone())
            }
        };
        match found {
            Some(module) => Ok(module),
            None => {
                let says = format!("`{name}` refers to no module");
                Fault::err(FaultKind::UndefinedModule, says, reference.span)
            }
        }
    }

    /// Returns a point of the current instance.
    pub(super) fn own_point(&self, declaration: usize, element: u32) -> PointId {
        let instance = self.current();
        let body = self.situation.instance(instance).body;
        let first = self.fixed.layouts[body.index()].first_point[declaration];
        PointId {
            instance,
            point: first + element as usize,
        }
    }

    /// Takes an alternative of `initialize` whose `provided` holds, by choice. A body without
    /// `initialize` is initialised at once.
    pub(super) fn take_alternative(&mut self) -> Faulty<()> {
        let body = self.body();
        let mut fitting = Vec::new();
        for alternative in &body.initialize {
            let holds = match &alternative.provided {
                Some(condition) => {
                    self.enter(alternative, &[]);
                    let holds = self.holds(condition)?;
                    self.leave();
                    holds
                }
                None => true,
            };
            if holds {
                fitting.push(alternative);
            }
        }
        if fitting.is_empty() {
            return match body.initialize.is_empty() {
                true => Ok(()),
                false => {
                    let says = format!("no alternative of `initialize` of `{}`", body.name);
                    Fault::err(FaultKind::NoInitialise, says, body.span)
                }
            };
        }
        let path = Rc::clone(&self.situation.instance(self.current()).path);
        let count = fitting.len() as u64;
        let chosen = self.choices.choose(Source::Element, &path, count);
        self.fire(fitting[chosen as usize], &[])
    }

    /// The number of a module variable among all of the body, and its name with indices.
    fn module_variable(
        &mut self,
        declaration: usize,
        indices: &'p [Expression],
    ) -> Faulty<(usize, String)> {
        let body = self.body();
        let declared = &body.module_variables[declaration];
        let element = self.element(&declared.indices, indices)?;
        let current = self.situation.instance(self.current());
        let first = self.fixed.layouts[current.body.index()].first_module[declaration];
        let suffix = index_text(self.fixed.program, &declared.indices, element as u32);
        Ok((first + element, format!("{}{suffix}", declared.name)))
    }

    fn point(&mut self, reference: &'p PointReference) -> Faulty<PointId> {
        let instance = match &reference.module {
            Some(module) => self.module(module)?,
            None => self.current(),
        };
        let body = self.situation.instance(instance).body;
        let declared = &self.fixed.program.bodies[body.index()].points[reference.points];
        let element = self.element(&declared.indices, &reference.indices)?;
        let first = self.fixed.layouts[body.index()].first_point[reference.points];
        Ok(PointId {
            instance,
            point: first + element,
        })
    }

    fn external_points(&mut self, module: &'p ModuleReference) -> Faulty<Vec<PointId>> {
        let instance = self.module(module)?;
        let body = self.situation.instance(instance).body;
        let count = self.fixed.layouts[body.index()].external_points;
        let points = (0..count).map(|point| PointId { instance, point });
        Ok(points.collect())
    }

    fn init(
        &mut self,
        reference: &'p ModuleReference,
        body: BodyId,
        arguments: &'p [Expression],
        span: Span,
    ) -> Faulty<()> {
        let program = self.fixed.program;
        let ReferenceVariable::Variable(declaration, indices) = &reference.variable else {
            let says = "`init` needs a module variable";
            return Fault::err(FaultKind::UndefinedModule, says, span);
        };
        let (variable, name) = self.module_variable(*declaration, indices)?;
        let mut values = Vec::new();
        for (argument, parameter) in arguments
            .iter()
            .zip(&program.bodies[body.index()].variables)
        {
            let value = self.evaluate(argument)?;
            values.push(self.fit(value, parameter.kind, argument.span)?);
        }
        self.check_instances(self.fixed.layouts[body.index()].size, span)?;
        let current = self.current();
        let parent = self.situation.change(current);
        parent.initialised[variable] += 1;
        let name = match parent.initialised[variable] {
            1 => name,
            count => format!("{name}#{count}"),
        };
        let path = path_below(program, &parent.path, current, &name);
        let layout = &self.fixed.layouts[body.index()];
        let names = (name, path);
        let new = self
            .situation
            .add(program, layout, (body, Some(current)), names);
        self.situation.change(current).modules[variable] = Some(new);
        let variables = &mut self.situation.change(new).variables;
        for (variable, value) in variables.iter_mut().zip(values) {
            *variable = value;
        }
        self.record(|machine| Effect::Init(machine.name_of(new)));
        self.sink(span)?;
        self.initialise(new)?;
        self.rise();
        Ok(())
    }

    fn check_instances(&self, size: u64, span: Span) -> Faulty<()> {
        let limits = self.fixed.limits;
        if self.situation.count() >= limits.instances {
            let says = format!("more than {} instances", limits.instances);
            return Fault::err(FaultKind::InstanceLimit, says, span);
        }
        if self.situation.size.saturating_add(size) > limits.size {
            let says = format!("instances and queues with more than {} values", limits.size);
            return Fault::err(FaultKind::InstanceLimit, says, span);
        }
        let mut levels = 0;
        let mut at = Some(self.current());
        while let Some(instance) = at {
            levels += 1;
            at = self.situation.instance(instance).parent;
        }
        match levels > limits.levels {
            true => {
                let says = format!("more than {} levels of modules", limits.levels);
                Fault::err(FaultKind::Nesting, says, span)
            }
            false => Ok(()),
        }
    }

    fn remove(&mut self, reference: &'p ModuleReference, moves_back: bool) -> Faulty<()> {
        let module = self.module(reference)?;
        let name = self.name_of(module);
        let external = self.external_names(module);
        let layouts = self.fixed.layouts;
        let removed = self.situation.remove(layouts, module, moves_back);
        for (moved, from) in removed.moved.iter().zip(&external) {
            if moved.count > 0 {
                self.record(|machine| Effect::Moved {
                    from: from.clone(),
                    to: machine.point_name(moved.to),
                    count: moved.count,
                });
            }
        }
        let lost = removed.lost;
        self.record(|_| match moves_back {
            true => Effect::Release { module: name, lost },
            false => Effect::Terminate { module: name, lost },
        });
        Ok(())
    }

    /// The names of the end points of those points of a module that are attached from above.
    fn external_names(&self, module: InstanceId) -> Vec<String> {
        let body = self.situation.instance(module).body;
        let external = 0..self.fixed.layouts[body.index()].external_points;
        let points = &self.situation.instance(module).points;
        let attached = external.filter(|point| points[*point].above.is_some());
        let names = attached.map(|point| {
            let point = PointId {
                instance: module,
                point,
            };
            self.point_name(self.situation.end_point(point))
        });
        names.collect()
    }

    fn connect(&mut self, a: &'p PointReference, b: &'p PointReference, span: Span) -> Faulty<()> {
        let (a, b) = (self.point(a)?, self.point(b)?);
        match self.situation.connect(a, b) {
            Ok(()) => Ok(()),
            Err(kind) => self.link_fault(kind, a, b, span),
        }
    }

    fn attach(&mut self, p: &'p PointReference, q: &'p PointReference, span: Span) -> Faulty<()> {
        let (p, q) = (self.point(p)?, self.point(q)?);
        match self.situation.attach(self.fixed.layouts, p, q) {
            Ok(moved) => {
                if moved.count > 0 {
                    self.record(|machine| Effect::Moved {
                        from: machine.point_name(moved.from),
                        to: machine.point_name(moved.to),
                        count: moved.count,
                    });
                }
                Ok(())
            }
            Err(kind) => self.link_fault(kind, p, q, span),
        }
    }

    fn detach(&mut self, above: Option<PointId>) {
        let layouts = self.fixed.layouts;
        let moved = above.and_then(|above| self.situation.detach(layouts, above));
        if let Some(moved) = moved
            && moved.count > 0
        {
            self.record(|machine| Effect::Moved {
                from: machine.point_name(moved.from),
                to: machine.point_name(moved.to),
                count: moved.count,
            });
        }
    }

    fn link_fault(&self, kind: FaultKind, a: PointId, b: PointId, span: Span) -> Faulty<()> {
        let (a, b) = (self.point_name(a), self.point_name(b));
        let says = match kind {
            FaultKind::SamePoint => format!("`{a}` cannot be connected to itself"),
            FaultKind::Attached => format!("`{a}` or `{b}` is attached already"),
            _ => format!("`{a}` or `{b}` is connected already"),
        };
        Fault::err(kind, says, span)
    }

    /// An output through a point that is attached to a child is a fault. (our decision)
    fn output(
        &mut self,
        reference: &'p PointReference,
        interaction: usize,
        arguments: &'p [Expression],
        span: Span,
    ) -> Faulty<()> {
        let program = self.fixed.program;
        let at = self.point(reference)?;
        let instance = self.situation.instance(at.instance);
        let points = &program.bodies[instance.body.index()].points[reference.points];
        let declared = &program.channels[points.channel.index()].interactions[interaction];
        let mut values: Vec<Value> = Vec::new();
        for (argument, parameter) in arguments.iter().zip(&declared.parameters) {
            let value = self.evaluate(argument)?;
            values.push(self.fit(value, parameter.kind, argument.span)?);
        }
        if self.situation.instance(at.instance).points[at.point]
            .below
            .is_some()
        {
            let says = format!("`{}` is attached to a child", self.point_name(at));
            return Fault::err(FaultKind::AttachedOutput, says, span);
        }
        if self.situation.queued >= self.fixed.limits.queued {
            let says = format!("more than {} queued interactions", self.fixed.limits.queued);
            return Fault::err(FaultKind::QueueLimit, says, span);
        }
        if self.situation.size > self.fixed.limits.size {
            let most = self.fixed.limits.size;
            let says = format!("instances and queues with more than {most} values");
            return Fault::err(FaultKind::QueueLimit, says, span);
        }
        let parameters = values.iter().zip(&declared.parameters);
        let shown = match self.fixed.records {
            true => parameters
                .map(|(value, parameter)| Shown::of(program, value, parameter.kind))
                .collect(),
            false => Vec::new(),
        };
        let layouts = self.fixed.layouts;
        let end = self.situation.output(layouts, at, interaction, values);
        self.record(|machine| {
            let message = Message {
                point: machine.point_name(at),
                interaction: declared.name.clone(),
                values: shown,
            };
            match end {
                Some(_) => Effect::Output(message),
                None => Effect::Unconnected(message),
            }
        });
        Ok(())
    }

    fn record(&mut self, effect: impl FnOnce(&Self) -> Effect) {
        if self.fixed.records {
            let effect = effect(self);
            self.effects.push(effect);
        }
    }

    /// The name of a module as the instance that fires sees it.
    fn name_of(&self, module: InstanceId) -> String {
        self.situation.name_below(self.outermost(), module)
    }

    /// The name of a point as the instance that fires sees it.
    fn point_name(&self, point: PointId) -> String {
        let tables = (self.fixed.program, self.fixed.layouts);
        self.situation.point_name(tables, self.outermost(), point)
    }

    fn outermost(&self) -> InstanceId {
        let first = self.activations.first();
        first.map_or(InstanceId(0), |activation| activation.instance)
    }
}

/// The path of a child. The name of the specification is part of it only if that is a system.
fn path_below(program: &Program, parent: &str, id: InstanceId, name: &str) -> String {
    let is_root = id == super::Situation::ROOT;
    let is_system = program.bodies[Program::ROOT.index()].attribute.is_some();
    match is_root && !is_system {
        true => name.to_string(),
        false => format!("{parent}.{name}"),
    }
}
