//! The global situation of a run: the tree of instances, their queues, links and clocks, the time,
//! and the transitions that systems have selected but not executed.
//!
//! Links and queue moves are in `situation_link.rs`, the canonical bytes of a situation in
//! `situation_encode.rs`. A copy of a situation shares its instances until one changes.

use super::value::{Value, cells, ordinal_text};
use crate::types::estelle::program::{
    Attribute, Body, BodyId, HeaderId, Points, Program, Queue, StateId, TypeId, Variable,
};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

/// An instance of a module, numbered in order of creation. A number is never used again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct InstanceId(pub u64);

/// An interaction point of an instance: its number among all points of the body.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PointId {
    /// The instance.
    pub instance: InstanceId,
    /// The number of the point.
    pub point: usize,
}

/// A global situation.
#[derive(Clone, Debug)]
pub struct Situation {
    /// The time, in units of the timescale.
    pub time: u64,
    /// The systems, in order of creation.
    pub systems: Vec<System>,
    /// The number of interactions in all queues.
    pub queued: u64,
    /// The number of scalar parts of all instances and queued interactions.
    pub size: u64,
    pub(super) instances: BTreeMap<InstanceId, Rc<Instance>>,
    next: u64,
}

/// A system module, and the step in which it is.
#[derive(Clone, Debug)]
pub struct System {
    /// Its instance.
    pub instance: InstanceId,
    /// Transitions that are selected but not executed, in order of selection.
    pub pending: Vec<Pending>,
    /// True after a fault: the system stops.
    pub is_stopped: bool,
}

/// A selected transition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pending {
    /// The instance that fires.
    pub instance: InstanceId,
    /// The transition, an index of [`Body::transitions`].
    pub transition: usize,
}

/// An instance of a module.
#[derive(Clone, Debug)]
pub struct Instance {
    /// Its body.
    pub body: BodyId,
    /// The instance that initialised it.
    pub parent: Option<InstanceId>,
    /// Its name in its parent: `c[2]`.
    pub name: Rc<str>,
    /// Its name in the whole tree: `server.c[2]`.
    pub path: Rc<str>,
    /// Its control state.
    pub state: Option<StateId>,
    /// Its variables, as in [`Body::variables`].
    pub variables: Vec<Value>,
    /// The instances to which its module variables refer.
    pub modules: Vec<Option<InstanceId>>,
    /// For each module variable: how often it was initialised.
    pub initialised: Vec<u32>,
    /// Its children, in order of creation.
    pub children: Vec<InstanceId>,
    /// Its interaction points.
    pub points: Vec<Point>,
    /// Its queues; see [`Layout`].
    pub queues: Vec<VecDeque<Item>>,
    /// For each transition with a delay that is enabled: its clock.
    pub clocks: Vec<Option<Clock>>,
}

/// The links of an interaction point.
#[derive(Clone, Copy, Default, Debug)]
pub struct Point {
    /// The other end of its connection.
    pub connected: Option<PointId>,
    /// The point of the parent that is attached to it.
    pub above: Option<PointId>,
    /// The point of a child to which it is attached.
    pub below: Option<PointId>,
}

/// A queued interaction.
#[derive(Clone, PartialEq, Debug)]
pub struct Item {
    /// The point of the instance through which it came.
    pub point: usize,
    /// The interaction, an index of the interactions of the point's channel.
    pub interaction: usize,
    /// The values of its parameters.
    pub values: Vec<Value>,
}

/// The clock of an enabled transition with a delay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clock {
    /// The time from which the transition may fire.
    pub from: u64,
    /// The time from which it is like one without a delay; none for `delay(E1,*)`.
    pub until: Option<u64>,
}

/// The numbers of the points, queues and module variables of a body.
#[derive(Clone, Debug)]
pub struct Layout {
    /// For each declaration of [`Body::points`]: the number of its first point.
    pub first_point: Vec<usize>,
    /// For each point: its declaration, its place in the array, and its queue.
    pub points: Vec<PointLayout>,
    /// The number of queues: one for each point with an individual queue, and a common one.
    pub queues: usize,
    /// For each declaration of [`Body::module_variables`]: the number of its first variable.
    pub first_module: Vec<usize>,
    /// The number of module variables.
    pub modules: usize,
    /// The number of points that the header declares: those come first.
    pub external_points: usize,
    /// The size of an instance: scalar parts of variables, points, module variables and clocks.
    pub size: u64,
}

/// A point in a [`Layout`].
#[derive(Clone, Copy, Debug)]
pub struct PointLayout {
    /// Its declaration.
    pub declaration: usize,
    /// Its place in the array of points.
    pub element: u32,
    /// Its queue.
    pub queue: usize,
}

impl Layout {
    /// Returns the layouts of all bodies.
    pub fn of_all(program: &Program) -> Vec<Layout> {
        let bodies = program.bodies.iter();
        bodies.map(|body| Layout::of(program, body)).collect()
    }

    fn of(program: &Program, body: &Body) -> Layout {
        let (mut first_point, mut points) = (Vec::new(), Vec::new());
        let (mut queues, mut shared) = (0, None);
        for (declaration, declared) in body.points.iter().enumerate() {
            first_point.push(points.len());
            for element in 0..declared.count {
                let mut new_queue = || {
                    queues += 1;
                    queues - 1
                };
                let queue = match declared.queue {
                    Queue::Individual => new_queue(),
                    Queue::Common => *shared.get_or_insert_with(new_queue),
                };
                points.push(PointLayout {
                    declaration,
                    element,
                    queue,
                });
            }
        }
        let (mut first_module, mut modules) = (Vec::new(), 0);
        for declared in &body.module_variables {
            first_module.push(modules);
            modules += declared.count as usize;
        }
        let header = body.header.map(|header| &program.headers[header.index()]);
        let external = header.map_or(0, |header| header.points.len());
        Layout {
            external_points: first_point.get(external).copied().unwrap_or(points.len()),
            size: size_of(program, &body.variables)
                .saturating_add((points.len() + modules + body.transitions.len() + 1) as u64),
            first_point,
            points,
            queues,
            first_module,
            modules,
        }
    }
}

impl Item {
    /// Returns the number of scalar parts.
    pub fn size(&self) -> u64 {
        1 + self.values.iter().map(Value::size).sum::<u64>()
    }
}

impl Situation {
    /// Returns the situation before anything exists.
    pub fn empty() -> Situation {
        Situation {
            time: 0,
            systems: Vec::new(),
            queued: 0,
            size: 0,
            instances: BTreeMap::new(),
            next: 0,
        }
    }

    /// The instance of the specification itself.
    pub const ROOT: InstanceId = InstanceId(0);

    /// Adds an instance without a state, and without values of its variables.
    pub fn add(
        &mut self,
        program: &Program,
        layout: &Layout,
        (id, parent): (BodyId, Option<InstanceId>),
        (name, path): (String, String),
    ) -> InstanceId {
        let body = &program.bodies[id.index()];
        let variables = body.variables.iter();
        let instance = Instance {
            body: id,
            parent,
            name: Rc::from(name),
            path: Rc::from(path),
            state: None,
            variables: variables
                .map(|variable| Value::undefined(program, variable.kind))
                .collect(),
            modules: vec![None; layout.modules],
            initialised: vec![0; layout.modules],
            children: Vec::new(),
            points: vec![Point::default(); layout.points.len()],
            queues: vec![VecDeque::new(); layout.queues],
            clocks: vec![None; body.transitions.len()],
        };
        let new = InstanceId(self.next);
        self.next += 1;
        self.instances.insert(new, Rc::new(instance));
        self.size = self.size.saturating_add(layout.size);
        if let Some(parent) = parent {
            self.change(parent).children.push(new);
        }
        new
    }

    /// Returns an instance, if it still exists.
    pub fn get(&self, id: InstanceId) -> Option<&Instance> {
        self.instances.get(&id).map(|instance| &**instance)
    }

    /// Returns an instance that exists.
    pub fn instance(&self, id: InstanceId) -> &Instance {
        self.get(id)
            .expect("links, children and running transitions refer to instances that exist")
    }

    /// Returns an instance that exists, to change it.
    pub fn change(&mut self, id: InstanceId) -> &mut Instance {
        let instance = self.instances.get_mut(&id);
        Rc::make_mut(
            instance.expect("links, children and running transitions refer to existing instances"),
        )
    }

    /// Returns the size of the instances that no other situation shares.
    pub fn own_size(&self, layouts: &[Layout]) -> u64 {
        let own = self
            .instances
            .values()
            .filter(|instance| Rc::strong_count(instance) == 1);
        own.map(|instance| layouts[instance.body.index()].size)
            .sum()
    }

    /// Returns the number of instances.
    pub fn count(&self) -> usize {
        self.instances.len()
    }

    /// Returns an instance and all below it, each one before its children.
    pub fn subtree(&self, top: InstanceId) -> Vec<InstanceId> {
        let mut found = Vec::new();
        let mut open = vec![top];
        while let Some(next) = open.pop() {
            found.push(next);
            open.extend(self.instance(next).children.iter().rev());
        }
        found
    }

    /// Finds the systems, once the specification is initialised. They stay the same from then on.
    pub fn find_systems(&mut self, program: &Program) {
        let all = self.subtree(Situation::ROOT).into_iter();
        let found = all.filter(|id| is_system(program, self.instance(*id).body));
        let system = |instance| System {
            instance,
            pending: Vec::new(),
            is_stopped: false,
        };
        self.systems = found.map(system).collect();
    }

    /// Returns true if a transition may fire within a window of time, and not at one time.
    pub fn has_window(&self) -> bool {
        let instances = self.instances.values();
        let mut clocks = instances.flat_map(|instance| instance.clocks.iter().flatten());
        clocks.any(|clock| clock.until != Some(clock.from))
    }

    /// Returns the children of an instance that have a header, in order of creation.
    pub fn children(&self, program: &Program, of: InstanceId, header: HeaderId) -> Vec<InstanceId> {
        let children = self.instance(of).children.iter().copied();
        let has_header = |id: &InstanceId| {
            let body = &program.bodies[self.instance(*id).body.index()];
            body.header == Some(header)
        };
        children.filter(has_header).collect()
    }

    /// Returns the name of an instance as one above it sees it: empty for itself, else `c[2].d`.
    pub fn name_below(&self, above: InstanceId, id: InstanceId) -> String {
        let mut names: Vec<Rc<str>> = Vec::new();
        let mut at = id;
        while at != above {
            let instance = self.instance(at);
            names.push(Rc::clone(&instance.name));
            match instance.parent {
                Some(parent) => at = parent,
                None => break,
            }
        }
        names.reverse();
        names.join(".")
    }

    /// Returns the name of a point as an instance above it sees it: `p`, or `c[2].p[1]`.
    pub fn point_name(
        &self,
        (program, layouts): (&Program, &[Layout]),
        above: InstanceId,
        id: PointId,
    ) -> String {
        let body = self.instance(id.instance).body;
        let point = layouts[body.index()].points[id.point];
        let declared = &program.bodies[body.index()].points[point.declaration];
        let own = format!(
            "{}{}",
            declared.name,
            points_suffix(program, declared, point.element)
        );
        match self.name_below(above, id.instance) {
            module if module.is_empty() => own,
            module => format!("{module}.{own}"),
        }
    }
}

/// Returns the number of scalar parts of variables.
pub fn size_of(program: &Program, variables: &[Variable]) -> u64 {
    let each = variables
        .iter()
        .map(|variable| cells(program, variable.kind, u64::MAX));
    each.fold(0, u64::saturating_add)
}

/// Returns true if the attribute of a body makes it a system.
pub fn is_system(program: &Program, body: BodyId) -> bool {
    match program.bodies[body.index()].attribute {
        Some(Attribute::SystemProcess | Attribute::SystemActivity) => true,
        Some(Attribute::Process | Attribute::Activity) | None => false,
    }
}

/// Returns the name of a control state, or `-` of none.
pub fn state_name(body: &Body, state: Option<StateId>) -> &str {
    let name = state.and_then(|state| body.states.get(state.index()));
    name.map_or("-", String::as_str)
}

fn points_suffix(program: &Program, points: &Points, element: u32) -> String {
    index_text(program, &points.indices, element)
}

/// Returns the indices of an element of an array in row-major order, as `[1,red]`; empty for a
/// single variable.
pub fn index_text(program: &Program, indices: &[TypeId], element: u32) -> String {
    if indices.is_empty() {
        return String::new();
    }
    let mut rest = i64::from(element);
    let mut texts = Vec::new();
    for index in indices.iter().rev() {
        let (low, high) = program.bounds(*index).unwrap_or((0, 0));
        let count = (high - low + 1).max(1);
        texts.push(ordinal_text(program, *index, low + rest % count));
        rest /= count;
    }
    texts.reverse();
    format!("[{}]", texts.join(","))
}
