//! The number of instances of each body, and where modules and interaction points are numbered.
//!
//! Estelle bounds neither instances nor queues; C without a heap needs bounds. A body has at most
//! as many instances as module variables that an `init` gives them to. Where a specification keeps
//! more, the command line says how many (`--instances BODY=N`).
//!
//! All instances have a *module number*, and all interaction points a *point number*. Bodies of one
//! header stand side by side, so exported variables are one array for each header.

use super::outside::choice::Choices;
use crate::types::estelle::program::{
    Body, BodyId, HeaderId, ModuleVariable, Points, Program, ReferenceVariable, Statement,
    StatementKind,
};
use std::collections::{BTreeMap, BTreeSet};

/// Bounds that Estelle does not have, and the one who chooses where it leaves a choice.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// Interactions that one queue holds.
    pub queue: u32,
    /// Instances of bodies, by their names in lower case, in place of the computed numbers.
    pub instances: BTreeMap<String, u32>,
    /// The one who chooses.
    pub choices: Choices,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds {
            queue: 64,
            instances: BTreeMap::new(),
            choices: Choices::First,
        }
    }
}

/// More modules or points than these are refused.
const MOST: u64 = 1 << 16;

/// Up to so many modules and transitions of all modules together, each has functions of its own.
const FEW: u64 = 64;

/// The numbers of modules, points and transitions.
#[derive(Clone, Debug)]
pub struct Sizes {
    /// By body: the number of instances.
    pub instances: Vec<u32>,
    /// By body: the module number of its first instance.
    pub first_module: Vec<u32>,
    /// By header: the module number of the first instance of its bodies.
    pub first_of_header: Vec<u32>,
    /// By header: the number of instances of its bodies.
    pub count_of_header: Vec<u32>,
    /// By body: the points of an instance.
    pub points: Vec<u32>,
    /// By body: the point number of the first point of its first instance.
    pub first_point: Vec<u32>,
    /// By body: the module variables of an instance.
    pub variables: Vec<u32>,
    /// By body: the number of the first module variable of its first instance.
    pub first_variable: Vec<u32>,
    /// Each module has transitions with numbers and functions of its own: they are few.
    pub are_few: bool,
    /// By body: the number of the first transition of its first instance.
    pub first_transition: Vec<u32>,
    /// All transitions that have a number.
    pub all_transitions: u32,
    /// All modules.
    pub all_modules: u32,
    /// All points.
    pub all_points: u32,
}

impl Sizes {
    /// Computes all numbers.
    ///
    /// # Errors
    ///
    /// A sentence if a body initialises itself, or if there are too many modules or points.
    pub fn of(program: &Program, bounds: &Bounds) -> Result<Sizes, String> {
        let instances = instances(program, bounds)?;
        let product = |body: usize, each: u32| u64::from(instances[body]) * u64::from(each);
        let points: Vec<u32> = program
            .bodies
            .iter()
            .map(|body| points_of(&body.points))
            .collect();
        let variables: Vec<u32> = program
            .bodies
            .iter()
            .map(|body| variables_of(&body.module_variables))
            .collect();
        let transitions = program
            .bodies
            .iter()
            .map(|one| u64::from(transitions_of(one)));
        let transitions: Vec<u64> = transitions.collect();
        let each = transitions.iter().zip(&instances);
        let all = each
            .map(|(one, count)| one * u64::from(*count))
            .sum::<u64>();
        let modules = instances.iter().map(|count| u64::from(*count)).sum::<u64>();
        let are_few = all <= FEW && modules <= FEW;
        let mut all_transitions = 0;
        let mut first_transition = Vec::new();
        for (own, count) in transitions.iter().zip(&instances) {
            first_transition.push(all_transitions as u32);
            all_transitions += if are_few {
                own * u64::from(*count)
            } else {
                *own
            };
        }
        let bodies = 0..program.bodies.len();
        let all_modules: u64 = bodies.clone().map(|body| product(body, 1)).sum();
        let all_points: u64 = bodies.map(|body| product(body, points[body])).sum();
        if all_modules > MOST || all_points > MOST {
            return Err(format!(
                "{all_modules} modules and {all_points} interaction points, more than {MOST}"
            ));
        }
        let mut sizes = Sizes {
            first_module: vec![0; instances.len()],
            first_of_header: vec![0; program.headers.len()],
            count_of_header: vec![0; program.headers.len()],
            first_point: vec![0; instances.len()],
            first_variable: vec![0; instances.len()],
            are_few,
            first_transition,
            all_transitions: all_transitions as u32,
            all_modules: all_modules as u32,
            all_points: all_points as u32,
            instances,
            points,
            variables,
        };
        sizes.number(program);
        Ok(sizes)
    }

    /// The module that a point belongs to; the first if there is no such point.
    pub fn owner(&self, point: u32) -> u32 {
        let mut bodies = 0..self.points.len();
        let owner = bodies.find_map(|at| {
            let from = point.checked_sub(self.first_point[at])?;
            let instance = from.checked_div(self.points[at])?;
            (instance < self.instances[at]).then(|| self.first_module[at] + instance)
        });
        owner.unwrap_or(0)
    }

    /// Numbers the specification first, then the bodies of one header after those of another.
    fn number(&mut self, program: &Program) {
        let (mut module, mut point, mut variable) = (0, 0, 0);
        let headers = (0..program.headers.len() as u32).map(|at| Some(HeaderId(at)));
        for header in std::iter::once(None).chain(headers) {
            let first = module;
            for (at, body) in program.bodies.iter().enumerate() {
                if body.header == header {
                    self.first_module[at] = module;
                    self.first_point[at] = point;
                    self.first_variable[at] = variable;
                    module += self.instances[at];
                    point += self.instances[at] * self.points[at];
                    variable += self.instances[at] * self.variables[at];
                }
            }
            if let Some(header) = header {
                self.first_of_header[header.index()] = first;
                self.count_of_header[header.index()] = module - first;
            }
        }
    }
}

/// The transitions of a body. C that defines one offers a single transition, with a number of its
/// own.
pub fn transitions_of(body: &Body) -> u32 {
    match body.is_external {
        true => 1,
        false => body.transitions.len() as u32,
    }
}

/// The number of points of declarations.
pub fn points_of(declared: &[Points]) -> u32 {
    let counts = declared.iter().map(|one| one.count);
    counts.fold(0, u32::saturating_add)
}

/// The number of module variables of declarations.
pub fn variables_of(declared: &[ModuleVariable]) -> u32 {
    let counts = declared.iter().map(|one| one.count);
    counts.fold(0, u32::saturating_add)
}

/// The number of instances of each body.
fn instances(program: &Program, bounds: &Bounds) -> Result<Vec<u32>, String> {
    let made = made(program);
    let mut known: Vec<Option<u32>> = vec![None; program.bodies.len()];
    known[Program::ROOT.index()] = Some(1);
    // A body is known as soon as all that initialise it are.
    for _ in 0..program.bodies.len() {
        for at in 0..program.bodies.len() {
            if known[at].is_some() {
                continue;
            }
            let own = made.iter().filter(|(_, _, body)| body.index() == at);
            let counts = own.map(|(parent, variable, _)| {
                let each = program.bodies[parent.index()].module_variables[*variable].count;
                known[parent.index()].map(|parents| u64::from(parents) * u64::from(each))
            });
            let sum: Option<u64> = counts.sum();
            let given = bounds
                .instances
                .get(&program.bodies[at].name.to_lowercase());
            known[at] = match (given, sum) {
                (Some(given), _) => Some(*given),
                (None, Some(sum)) => Some(sum.min(MOST) as u32),
                (None, None) => None,
            };
        }
    }
    let unknown = known.iter().position(Option::is_none);
    match unknown {
        None => Ok(known.into_iter().flatten().collect()),
        Some(at) => Err(format!(
            "instances of `{}` initialise others of it; set `--instances {0}=N`",
            program.bodies[at].name
        )),
    }
}

/// Returns true if modules and links stay as `initialize` makes them.
pub fn is_static(program: &Program) -> bool {
    let transitions = program.bodies.iter().flat_map(|body| &body.transitions);
    let mut blocks = transitions.map(|one| &program.blocks[one.block.index()].statements);
    blocks.all(|statements| keep_structure(statements))
}

fn keep_structure(statements: &[Statement]) -> bool {
    statements.iter().all(|statement| match &statement.kind {
        StatementKind::Init(..)
        | StatementKind::Release(_)
        | StatementKind::Terminate(_)
        | StatementKind::Connect(..)
        | StatementKind::DisconnectPoint(_)
        | StatementKind::DisconnectModule(_)
        | StatementKind::Attach(..)
        | StatementKind::DetachPoint(_)
        | StatementKind::DetachModule(_) => false,
        kind => parts(kind).into_iter().all(keep_structure),
    })
}

/// Each `init`: the body that does it, its module variable, and the new instance's body.
fn made(program: &Program) -> BTreeSet<(BodyId, usize, BodyId)> {
    let mut made = BTreeSet::new();
    for (at, body) in program.bodies.iter().enumerate() {
        let parent = BodyId(at as u32);
        let transitions = body.initialize.iter().chain(&body.transitions);
        let blocks: BTreeSet<_> = transitions.map(|one| one.block.0).collect();
        for block in blocks {
            let statements = &program.blocks[block as usize].statements;
            find(statements, &mut |variable, body| {
                made.insert((parent, variable, body));
            });
        }
    }
    for routine in &program.routines {
        let statements = routine.statements.as_deref().unwrap_or_default();
        find(statements, &mut |variable, body| {
            made.insert((routine.body, variable, body));
        });
    }
    made
}

/// Finds each `init` among statements.
fn find(statements: &[Statement], found: &mut impl FnMut(usize, BodyId)) {
    for statement in statements {
        if let StatementKind::Init(module, body, _) = &statement.kind
            && let ReferenceVariable::Variable(variable, _) = &module.variable
        {
            found(*variable, *body);
        }
        for part in parts(&statement.kind) {
            find(part, found);
        }
    }
}

/// The lists of statements within a statement.
fn parts(kind: &StatementKind) -> Vec<&[Statement]> {
    match kind {
        StatementKind::If(_, then, otherwise) => vec![then, otherwise],
        StatementKind::Case(_, cases) => cases.iter().map(|(_, body)| &body[..]).collect(),
        StatementKind::While(_, body)
        | StatementKind::Repeat(body, _)
        | StatementKind::For { body, .. }
        | StatementKind::With(_, _, _, body)
        | StatementKind::All(_, body) => vec![body],
        StatementKind::ForOne {
            body, otherwise, ..
        } => vec![body, otherwise],
        StatementKind::Assign(..)
        | StatementKind::Call(..)
        | StatementKind::Init(..)
        | StatementKind::Release(_)
        | StatementKind::Terminate(_)
        | StatementKind::Connect(..)
        | StatementKind::DisconnectPoint(_)
        | StatementKind::DisconnectModule(_)
        | StatementKind::Attach(..)
        | StatementKind::DetachPoint(_)
        | StatementKind::DetachModule(_)
        | StatementKind::Output(..) => Vec::new(),
    }
}
