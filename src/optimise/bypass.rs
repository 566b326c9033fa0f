//! The fast path of what frames start, which tests first and then does: a bypass (Ensemble 4.1).
//!
//! In: woven trees. Out: beside each tree that a link leads to a second one, of those of its ways
//! that come to an end on the fast path. Fields are written there, counters count and timers
//! start behind all tests; a test of what was written asks for the value that was. All other ways
//! leave it: nothing has been done, and the whole tree begins anew. So the fast path is short,
//! and what it tests can be compared at once.
//!
//! ```text
//! pre.next = next                         let pre = next
//! if pre.next != number { refuse }        if pre != number { otherwise }
//! next += length                      =>  let next_2 = next + length
//! if next_2 == last { end }               if next_2 == last { otherwise }
//! leaf [deliver]                          next = next_2, leaf [deliver]
//! ```
//!
//! What no reaction reads before it has written it is not written at all.
//!
//! Assumes: fields, counters and timers are seen by nobody but the trees while one runs. Ensures:
//! the same outputs in the same order, and the same state but for what nobody will read. Cost:
//! [`Limits::nodes`] nodes for each link.

use super::asks::shorter;
use super::fleeting::{Place, fleeting};
use super::made::Made;
use super::owed::Owed;
use super::simpler::simpler;
use super::value::{Looks, is_plain};
use crate::tree::rename::Renaming;
use crate::tree::starts::above;
use crate::tree::walk::{children, reachable, ways, with_children};
use crate::tree::{Action, Forest, Goal, Node, NodeId, Output, Reaction, Tree};
use crate::types::expression::{Expression, ExpressionKind, Instance, Query, Variable};
use crate::types::program::{Event, FieldId, KindId, Local, LocalId, Program};
use crate::types::statement::{Attempt, Operation, Search, Source};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

/// Limits on the length of fast paths.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// So many nodes a path may have, with all its ways.
    pub nodes: usize,
    /// With fewer tests than this a tree is left as it is.
    pub tests: usize,
    /// A way that is taken no more often than this leaves it.
    pub rare: f64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            nodes: 400,
            tests: 6,
            rare: 0.05,
        }
    }
}

/// Trees with bypasses.
pub fn bypass(program: &Program, mut forest: Forest, limits: Limits) -> Forest {
    forest.bypasses.clear();
    forest.long_paths.clear();
    let started = started(program, &forest);
    let starts: Vec<Tree> = forest
        .trees
        .iter()
        .filter(|tree| started.contains(&tree.reaction))
        .cloned()
        .collect();
    let fleeting = fleeting(program, &forest);
    let mut sinking = Sinking {
        program,
        first_fresh: forest.locals.len(),
        forest,
        limits,
        fleeting,
        asked: HashMap::new(),
        left: 0,
        tests: 0,
        is_delivering: false,
    };
    for tree in starts {
        let Some(message) = tree.parameters.message else {
            continue;
        };
        (sinking.left, sinking.tests) = (limits.nodes, 0);
        let nodes = reachable(&sinking.forest, tree.root).into_iter();
        let mut leaves = nodes.map(|node| sinking.forest.arena.node(node));
        sinking.is_delivering = leaves.any(|node| match node {
            Node::Leaf { outputs } => outputs.iter().any(is_delivery),
            Node::Act { .. } | Node::Test { .. } | Node::Case { .. } | Node::Try { .. } => false,
        });
        let locals = sinking.forest.locals.len();
        let root = sinking.path(tree.root, Owed::of(message));
        let is_own = |root: &NodeId| sinking.tests >= limits.tests && *root != tree.root;
        match root.filter(is_own) {
            Some(root) => {
                let (root, is_whole) = shorter(program, &mut sinking.forest, root, limits.rare);
                if !is_whole {
                    sinking.forest.long_paths.insert(tree.reaction);
                }
                sinking.forest.bypasses.push(Tree { root, ..tree });
            }
            None => sinking.forest.locals.truncate(locals),
        }
    }
    sinking.forest
}

/// The reactions to frames that have no fast path apart, and whose trees are longer than one may
/// be; and how long that is.
pub fn given_up(program: &Program, forest: &Forest, limits: Limits) -> Vec<(Reaction, usize)> {
    let started = started(program, forest);
    let has_path = |one: &Tree| {
        let mut paths = forest.bypasses.iter();
        paths.any(|path| path.reaction == one.reaction)
    };
    let trees = forest.trees.iter();
    let open = trees.filter(|tree| started.contains(&tree.reaction) && !has_path(tree));
    let long = open.filter(|tree| reachable(forest, tree.root).len() > limits.nodes);
    long.map(|tree| (tree.reaction, limits.nodes)).collect()
}

/// What frames start that come in by some link.
fn started(program: &Program, forest: &Forest) -> BTreeSet<Reaction> {
    let has_tree = |one| forest.trees.iter().any(|tree| tree.reaction == one);
    let links = program.links.iter();
    links
        .flat_map(|link| above(program, link.above, Event::Deliver, has_tree))
        .collect()
}

/// What the values in a node look at.
pub fn looks(program: &Program, node: &Node) -> Looks {
    let looks = RefCell::new(Looks::default());
    let replaced = |expression: &Expression| {
        looks.borrow_mut().add(program, expression);
        None
    };
    let renaming = Renaming {
        local: &|local| local,
        instance: &|instance| instance,
        replaced: &replaced,
    };
    renaming.node(node);
    looks.into_inner()
}

/// A tree that becomes a path.
pub struct Sinking<'a> {
    /// What it is a tree of.
    pub program: &'a Program,
    forest: Forest,
    limits: Limits,
    /// What is not worth writing at the end of a tree.
    fleeting: BTreeSet<Place>,
    /// Locals from here on are bound once.
    first_fresh: usize,
    /// The locals that each node of a path, or what is behind it, asks for.
    asked: HashMap<NodeId, BTreeSet<LocalId>>,
    /// Nodes that the tree at hand may still get.
    left: usize,
    /// How many tests it has.
    tests: usize,
    /// Whether some way of it delivers what came to an application.
    is_delivering: bool,
}

impl Sinking<'_> {
    /// The path from a node of the tree as it was; none if it comes to no end.
    fn path(&mut self, from: NodeId, mut owed: Owed) -> Option<NodeId> {
        let mut steps = Vec::new();
        let mut at = from;
        let end = loop {
            if at != from && self.forest.origins.contains_key(&at) {
                break self.path(at, owed)?;
            }
            self.left = self.left.checked_sub(1)?;
            let node = self.forest.arena.node(at).clone();
            let looks = looks(self.program, &node);
            if !owed.is_done && looks.calls_c {
                return None;
            }
            match node {
                // What finding a value changes is changed behind all tests.
                Node::Act { .. } if looks.changes && owed.made.is_some() => return None,
                Node::Act { action, next } if looks.changes => {
                    steps.extend(owed.take());
                    steps.push(action);
                    owed.is_done = true;
                    at = next;
                }
                Node::Test { .. } | Node::Case { .. } | Node::Try { .. } if looks.changes => {
                    return None;
                }
                Node::Act { action, next } => {
                    self.step(action, &mut owed, &mut steps)?;
                    at = next;
                }
                Node::Leaf { outputs } if self.is_end(&outputs, &owed) => {
                    break self.leaf(outputs, owed);
                }
                Node::Leaf { .. } => return None,
                several => break self.ways(several, owed)?,
            }
        };
        let path = self.behind(steps, end);
        if let Some(origin) = self.forest.origins.get(&from).copied() {
            self.forest.origins.entry(path).or_insert(origin);
        }
        Some(path)
    }

    /// Whether a path ends so: where some way delivers to an application, no other way is common.
    fn is_end(&self, outputs: &[Output], owed: &Owed) -> bool {
        let mut owed = owed.others.iter();
        let has_delivered = |action: &Action| match action {
            Action::Answer(outputs) => outputs.iter().any(is_delivery),
            _tells_nobody => false,
        };
        !self.is_delivering || outputs.iter().any(is_delivery) || owed.any(has_delivered)
    }

    /// Steps before a node; what nobody asks for is not bound.
    fn behind(&mut self, steps: Vec<Action>, end: NodeId) -> NodeId {
        let program = self.program;
        steps
            .into_iter()
            .rev()
            .fold(end, |next, action| match &action {
                Action::Let(local, value)
                    if is_plain(&value.result)
                        && !Looks::of(program, value).changes
                        && !self.asks(next).contains(local) =>
                {
                    next
                }
                _ => self.add(Node::Act { action, next }),
            })
    }

    /// The end of the path: what nobody will read is not written.
    fn leaf(&mut self, outputs: Vec<Output>, mut owed: Owed) -> NodeId {
        let outputs = owed.call_last(self.program, outputs);
        let is_one = |output: &Output| matches!(output, Output::One { .. });
        let all_one = outputs.iter().all(is_one);
        let leaf = Node::Leaf { outputs };
        let end = match owed.before(self.program, |all| all.node(&leaf)) {
            Some(given) if all_one => {
                let fleeting = &self.fleeting;
                owed.fields.retain(|(variable, _)| match variable {
                    Variable::Field(_, kind, field) => !fleeting.contains(&(*kind, *field)),
                    Variable::Local(_) | Variable::Element(..) | Variable::Part(..) => true,
                });
                self.add(given)
            }
            Some(_) | None => self.add(leaf),
        };
        let (message, made) = (owed.message, owed.made.take());
        let end = self.done(owed, end);
        let Some(mut made) = made else {
            return end;
        };
        let done = self.behind(std::mem::take(&mut made.steps), end);
        self.made(&made, done, message)
    }

    /// A node behind which there are several ways, some of which come to an end.
    fn ways(&mut self, node: Node, owed: Owed) -> Option<NodeId> {
        if owed.is_bound || owed.is_done {
            return None;
        }
        let mut given = owed.before(self.program, |all| all.node(&node))?;
        let made = owed.made.as_ref().map(|made| made.local);
        if made.is_some_and(|made| locals(&given).contains(&made)) {
            return None;
        }
        match &mut given {
            Node::Test {
                condition,
                then,
                otherwise,
                ..
            } => {
                *condition = simpler(self.program, condition.clone());
                match condition.truth() {
                    Some(true) => return self.path(*then, owed),
                    Some(false) => return self.path(*otherwise, owed),
                    None => {}
                }
            }
            // A message that is gone would have given a buffer.
            Node::Try {
                attempt: Attempt::Message(Source::New),
                bind: Some(bind),
                likely,
                done,
                ..
            } if owed.made.is_none() && !owed.others.iter().any(gives_back) => {
                return self.making(Made::new(*bind, *likely), *done, owed);
            }
            Node::Try { attempt, .. } if !only_looks(attempt) => return None,
            Node::Try { .. } | Node::Case { .. } => {}
            Node::Act { .. } | Node::Leaf { .. } => unreachable!("it has several ways"),
        }
        self.tests += 1;
        let rare = self.limits.rare;
        let mut shares = ways(&given).into_iter();
        let mut ends = false;
        let parted = given.clone();
        let made = with_children(given, |to| {
            let (_, share) = shares.next().expect("each child is a way");
            let path = match share <= rare {
                true => None,
                false => self.path(to, owed.clone()),
            };
            ends |= path.is_some();
            path.unwrap_or_else(|| self.otherwise(owed.message))
        });
        match ends {
            true => Some(self.add(made)),
            false => self.last(parted, owed),
        }
    }

    /// A way on which a message is made: behind all tests, or, if one of them must have seen it,
    /// where it stands.
    fn making(&mut self, made: Made, done: NodeId, owed: Owed) -> Option<NodeId> {
        let (left, tests) = (self.left, self.tests);
        let later = Owed {
            made: Some(made.clone()),
            ..owed.clone()
        };
        if let Some(path) = self.path(done, later) {
            return Some(path);
        }
        (self.left, self.tests) = (left, tests);
        let message = owed.message;
        let now = Owed {
            is_bound: true,
            ..owed
        };
        let done = self.path(done, now)?;
        Some(self.made(&made, done, message))
    }

    /// A message is made, or the path is left.
    fn made(&mut self, made: &Made, done: NodeId, message: LocalId) -> NodeId {
        let failed = self.otherwise(message);
        self.add(Node::Try {
            attempt: Attempt::Message(Source::New),
            bind: Some(made.local),
            likely: made.likely,
            done,
            failed,
        })
    }

    /// Where what comes behind an answer is no path, it is put on the agenda.
    fn last(&mut self, node: Node, owed: Owed) -> Option<NodeId> {
        match node {
            Node::Test {
                condition,
                otherwise,
                ..
            } if *condition.kind == ExpressionKind::Query(Query::GoesOn) => {
                self.path(otherwise, owed)
            }
            _ => None,
        }
    }

    /// Where the path is left.
    fn otherwise(&mut self, message: LocalId) -> NodeId {
        self.add(Node::Leaf {
            outputs: vec![Output::One {
                goal: Goal::Otherwise,
                message: Some(message),
                arguments: Vec::new(),
            }],
        })
    }

    /// A step on the path; none if it cannot be taken there.
    fn step(&mut self, action: Action, owed: &mut Owed, steps: &mut Vec<Action>) -> Option<()> {
        if owed.is_done {
            steps.push(action);
            return Some(());
        }
        let given = owed.before(self.program, |all| all.action(&action));
        if owed.made.is_some() {
            return self.while_made(given?, owed, steps);
        }
        self.given(given, action, owed, steps)
    }

    /// A step in which stands what will be written.
    pub fn given(
        &mut self,
        given: Option<Action>,
        action: Action,
        owed: &mut Owed,
        steps: &mut Vec<Action>,
    ) -> Option<()> {
        match given {
            Some(Action::Assign(place @ Variable::Field(_, kind, field), value))
                if self.is_plain(kind, field) =>
            {
                let value = self.held(value, &self.field_name(kind, field), steps);
                owed.fields.retain(|(known, _)| *known != place);
                owed.fields.push((place, value));
            }
            Some(Action::StartTimer(instance, kind, timer, at)) => {
                let name = self.program.kinds[kind.at()].timers[timer.at()].clone();
                let at = self.held(at, &name, steps);
                let start = Action::StartTimer(instance, kind, timer, at);
                owed.others.push(start);
            }
            Some(stop @ Action::StopTimer(instance, kind, timer)) => {
                let is_of_it = |other: &Action| match other {
                    Action::StartTimer(i, k, t, _) | Action::StopTimer(i, k, t) => {
                        (*i, *k, *t) == (instance, kind, timer)
                    }
                    _counts => false,
                };
                owed.others.retain(|other| !is_of_it(other));
                owed.others.push(stop);
            }
            Some(
                later @ (Action::Count(_)
                | Action::Pass(_)
                | Action::Consume(_)
                | Action::Answer(_)),
            ) => {
                owed.others.push(later);
            }
            // It is pushed into the bytes of the frame, where the whole tree would find it.
            Some(now @ Action::Push { .. }) => {
                owed.is_bound = true;
                steps.push(now);
            }
            Some(now) if stays(&now) => {
                if let Action::Let(new, value) = &now
                    && *value.kind == ExpressionKind::Read(Variable::Local(owed.message))
                {
                    owed.message = *new;
                }
                steps.push(now);
            }
            // A path that drops its frame is no fast path.
            Some(
                Action::Drop(..) | Action::Loop(_) | Action::Begin | Action::Turn | Action::AtOnce,
            ) => return None,
            Some(_) | None => {
                steps.extend(owed.take());
                steps.push(action);
                owed.is_done = true;
            }
        }
        Some(())
    }

    fn is_plain(&self, kind: KindId, field: FieldId) -> bool {
        is_plain(&self.program.kinds[kind.at()].fields[field.at()].kind)
    }

    fn field_name(&self, kind: KindId, field: FieldId) -> String {
        self.program.kinds[kind.at()].fields[field.at()]
            .name
            .clone()
    }

    /// A value that stays what it is now.
    pub fn held(&mut self, value: Expression, name: &str, steps: &mut Vec<Action>) -> Expression {
        let is_held = match &*value.kind {
            ExpressionKind::Constant(_) => true,
            ExpressionKind::Read(Variable::Local(local)) => local.at() >= self.first_fresh,
            _ => false,
        };
        if is_held {
            return value;
        }
        let local = LocalId(self.forest.locals.len() as u32);
        self.forest.locals.push(Local {
            name: name.replace('.', "_"),
            kind: value.result.clone(),
        });
        let read = Expression::local(local, value.result.clone());
        steps.push(Action::Let(local, value));
        read
    }

    /// What is owed, and then a node.
    fn done(&mut self, mut owed: Owed, then: NodeId) -> NodeId {
        self.behind(owed.take(), then)
    }

    /// A node of a path, and which locals it asks for.
    fn add(&mut self, node: Node) -> NodeId {
        let mut asked = locals(&node);
        for child in children(&node) {
            asked.extend(self.asks(child).iter().copied());
        }
        let id = self.forest.arena.add(node);
        self.asked.insert(id, asked);
        id
    }

    /// The locals for which a node asks, or what is behind it: what turns do is as it was.
    fn asks(&mut self, node: NodeId) -> &BTreeSet<LocalId> {
        let forest = &self.forest;
        self.asked.entry(node).or_insert_with(|| {
            let nodes = reachable(forest, node).into_iter();
            nodes
                .flat_map(|one| locals(forest.arena.node(one)))
                .collect()
        })
    }
}

/// The locals that stand in a node.
fn locals(node: &Node) -> BTreeSet<LocalId> {
    named(|renaming| drop(renaming.node(node)))
}

/// The locals that something names.
pub fn named(of: impl Fn(&Renaming)) -> BTreeSet<LocalId> {
    let asked = RefCell::new(BTreeSet::new());
    let local = |local: LocalId| {
        asked.borrow_mut().insert(local);
        local
    };
    let instance = |instance| {
        if let Instance::Local(local) = instance {
            asked.borrow_mut().insert(local);
        }
        instance
    };
    let renaming = Renaming {
        local: &local,
        instance: &instance,
        replaced: &|_| None,
    };
    of(&renaming);
    asked.into_inner()
}

/// Whether a step only concerns locals and messages, whatever fields hold.
pub fn stays(action: &Action) -> bool {
    matches!(
        action,
        Action::Let(..)
            | Action::SetAttribute(..)
            | Action::Strip(..)
            | Action::StripRest(..)
            | Action::Sum { .. }
            | Action::Scan { .. }
            | Action::Do(Operation::Skip(..) | Operation::Cut(..))
    )
}

fn is_delivery(output: &Output) -> bool {
    match output {
        Output::One { goal, .. } => matches!(goal, Goal::Port(.., Event::Deliver)),
        Output::Many(_) | Output::Every { .. } => false,
    }
}

fn gives_back(action: &Action) -> bool {
    matches!(action, Action::Consume(_))
}

/// Whether an attempt changes nothing.
pub fn only_looks(attempt: &Attempt) -> bool {
    match attempt {
        Attempt::Instance(steps) => steps
            .iter()
            .all(|step| matches!(step, Search::Find(_) | Search::Standing(..))),
        Attempt::Peek(..) => true,
        _ => false,
    }
}
