//! Trees of the entities -> trees of the stack.
//!
//! In: a [`Forest`] in which each leaf names the reactions that follow. Out: one in which the
//! first of them stands in the leaf itself, along the fast path; the others wait on the agenda
//! behind it. Where the first only tells the host something, the second stands there, too, if a
//! step may be taken for it: nobody could tell it from one that waited. So it does where the first
//! calls an application, which lets all go before it. What is unlikely, what is large, and what
//! would come round to itself stays a call; a test that the values decide which a call gives is
//! gone where its tree stands.
//!
//! ```text
//! link frame                        link frame
//!   test kind == 0x0800               test kind == 0x0800
//!     then  leaf [arrive ipv4]   =>     then  test length >= 20 …      (ipv4's tree)
//!     else  drop unknown_type           else  drop unknown_type
//!
//! leaf [deliver, send ipv4]         test goes_on()
//!                              =>     then  answer [deliver], …               (ipv4's tree)
//!                                     else  leaf [deliver, send ipv4]
//! ```
//!
//! Before: a checked forest. After: the same reactions at the entries (links, ports, timers), and
//! those that are still called or waited for. Assumes: a leaf's outputs are handled in order and
//! the first at once, so that a tree may stand where its call stood. Ensures: same outputs in the
//! same order, same state, same counters; a woven chain is one step of the agenda. Cost: the nodes
//! woven in, at most [`Limits::nodes`] for each entry.

mod stayed;

pub use stayed::{Joined, Stayed, Why, joined, stayed};

use crate::tree::rename::Renaming;
use crate::tree::walk::{begins, decided, lets_happen, masses, reachable, swept, with_children};
use crate::tree::{
    Action, Forest, Goal, Index, Node, NodeId, Output, Parameters, Probability, Reaction, Tree,
    TreeId,
};
use crate::types::expression::{Expression, ExpressionKind, Instance, Query, Variable};
use crate::types::program::{Event, LocalId, Place, Port, PortId, Program};
use crate::types::value::Type;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// How far weaving goes.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The entries into which trees are woven.
    pub entries: Entries,
    /// Nodes that may be woven into one entry.
    pub nodes: usize,
    /// A leaf that is reached less often than this stays a call.
    pub least: f64,
}

/// Entries into which trees are woven: reactions that start from outside a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entries {
    /// All of them.
    All,
    /// Reactions of which fast functions are formed: to frames, to messages that applications send,
    /// and to `again`.
    OfFastFunctions,
}

impl Limits {
    /// Returns the limits for trees of which the stack IR is made. There, weaving is for fast
    /// functions alone, and `form-fast-path` forms them of reactions to frames and to messages of
    /// applications. The rest is cold code, in which a copy of a layer for each way that leads to
    /// it only adds to the text.
    pub fn for_fast_functions() -> Limits {
        Limits {
            entries: Entries::OfFastFunctions,
            ..Limits::default()
        }
    }

    /// Returns true if trees are woven into that of a reaction.
    pub fn weave_into(&self, program: &Program, reaction: Reaction) -> bool {
        let is_chosen = match self.entries {
            Entries::All => true,
            Entries::OfFastFunctions => match reaction {
                Reaction::Arrive { event, .. } => event == Event::Deliver,
                Reaction::Handle { event, .. } => matches!(event, Event::Send | Event::Again),
            },
        };
        is_chosen && is_entry(program, reaction)
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            entries: Entries::All,
            nodes: 2500,
            least: 0.005,
        }
    }
}

/// How often another step may be taken: budgets are exhausted, and answers full, where a stack is
/// given more than it can take.
const GOES_ON: Probability = Probability(999_000);

/// A joint that stayed a call: from the tree of one reaction to another's.
pub type Call = (Reaction, Reaction);

/// Weaves a forest.
pub fn weave(program: &Program, forest: Forest, limits: Limits) -> Forest {
    let known = forest.trees.iter().enumerate();
    let known = known.map(|(at, tree)| (tree.reaction, TreeId(at as u32)));
    let mut weaving = Weaving {
        program,
        known: known.collect(),
        original: forest.trees.clone(),
        forest,
        limits,
        left: 0,
    };
    for at in 0..weaving.original.len() {
        let tree = &weaving.original[at];
        if limits.weave_into(program, tree.reaction) {
            weaving.left = limits.nodes;
            let (reaction, root) = (tree.reaction, tree.root);
            weaving.forest.trees[at].root = weaving.woven(root, 1.0, &mut vec![reaction]);
        }
    }
    weaving.keep_what_is_reached()
}

/// The joints that stayed calls, in order.
pub fn calls(forest: &Forest) -> Vec<Call> {
    let trees = forest.trees.iter();
    let calls = trees.flat_map(|tree| {
        let goals = goals(forest, tree.root).into_iter();
        goals.map(|goal| (tree.reaction, goal))
    });
    let calls: BTreeSet<Call> = calls.collect();
    calls.into_iter().collect()
}

/// Whether a reaction follows an instant that goes on in another.
fn comes_again(reaction: Reaction) -> bool {
    let again = Event::Again;
    matches!(reaction, Reaction::Handle { event, .. } if event == again)
}

/// Whether a reaction starts from outside a tree.
fn is_entry(program: &Program, reaction: Reaction) -> bool {
    match reaction {
        Reaction::Arrive { entity, .. } => program.links.iter().any(
            |link| matches!(link.above, Place::Entity { entity: above, .. } if above == entity),
        ),
        Reaction::Handle { kind, index, event } => match event {
            Event::Send | Event::Notice(_) => {
                let session = |port: &Port| match port.below {
                    Place::Entity { entity, .. } => {
                        let table = &program.entities[entity.at()];
                        kind == table.session || kind == table.record
                    }
                    Place::Link(_) | Place::Port(_) => false,
                };
                let sends = event == Event::Send;
                let mut ports = program.ports.iter().filter(|port| port.passes || !sends);
                ports.any(session) || is_carrier(program, event)
            }
            // Which label a timer belongs to is found out in the tree for any of them.
            Event::Timer(_) => !matches!(index, Index::Label(_)),
            Event::Start | Event::End | Event::Again => true,
            Event::Deliver => false,
        },
    }
}

fn is_carrier(program: &Program, event: Event) -> bool {
    let mut carriers = program.links.iter().filter_map(|link| link.carrier);
    carriers.any(|carrier| event == Event::Notice(carrier))
}

struct Weaving<'a> {
    program: &'a Program,
    forest: Forest,
    original: Vec<Tree>,
    known: BTreeMap<Reaction, TreeId>,
    limits: Limits,
    /// Nodes that may still be woven into the entry at hand.
    left: usize,
}

impl Weaving<'_> {
    /// The tree below a node that is reached so often, with trees in its leaves.
    fn woven(&mut self, root: NodeId, mass: f64, path: &mut Vec<Reaction>) -> NodeId {
        let nodes = reachable(&self.forest, root);
        let masses = masses(&self.forest, &nodes, root, mass);
        let mut new = FxHashMap::default();
        for &node in &nodes {
            let here = masses[&node];
            let made = match self.forest.arena.node(node).clone() {
                Node::Leaf { outputs } => self.leaf(node, outputs, here, path),
                other => {
                    let other = with_children(other, |child| new[&child]);
                    let made = self.forest.arena.add(other);
                    self.forest.asks_as(made, node);
                    made
                }
            };
            new.insert(node, made);
        }
        new[&root]
    }

    /// A leaf, or the tree of its first output behind what waits; or that of the second, where the
    /// first only tells the host something, or lets others go before it.
    fn leaf(
        &mut self,
        leaf: NodeId,
        outputs: Vec<Output>,
        mass: f64,
        path: &mut Vec<Reaction>,
    ) -> NodeId {
        // The turns of a family are reached by no way.
        if let [first, others @ ..] = &outputs[..]
            && mass > 0.0
            && others.first().is_some_and(is_reaction)
            && (self.lets_others_go(first, path) || others.len() == 1 && self.only_answers(first))
        {
            let then = self.forest.arena.add(Node::Leaf {
                outputs: others.to_vec(),
            });
            let woven = self.leaf(then, others.to_vec(), mass, path);
            return self.goes_on(first.clone(), woven, leaf);
        }
        let Some(Output::One {
            goal: Goal::Reaction(reaction, instance),
            message,
            arguments,
        }) = outputs.first().cloned()
        else {
            return leaf;
        };
        let tree = &self.original[self.known[&reaction].at()];
        let parameters = tree.parameters.clone();
        let root = tree.root;
        let nodes = reachable(&self.forest, root);
        let size = nodes.len();
        let begins = |node: &NodeId| begins(self.forest.arena.node(*node));
        // A reaction that recurs and has its own fast path is woven there only.
        let is_apart = comes_again(reaction) && nodes.iter().any(begins);
        let is_far = mass < self.limits.least || size > self.left || path.contains(&reaction);
        if is_far || is_apart {
            return leaf;
        }
        self.left -= size;
        let root = self.given(root, &parameters, instance, message, &arguments);
        path.push(reaction);
        let root = self.woven(root, mass, path);
        path.pop();
        // Ends are shared by all.
        if !matches!(self.forest.arena.node(root), Node::Leaf { .. }) {
            self.forest.origins.entry(root).or_insert(reaction);
        }
        match outputs.len() {
            1 => root,
            _ => self.forest.arena.add(Node::Act {
                action: Action::Wait(outputs[1..].to_vec()),
                next: root,
            }),
        }
    }

    /// Whether an output calls an application with a message that came by a link: which is when
    /// nothing else is under way, and an application that is being called hands over no frames.
    fn lets_others_go(&self, output: &Output, path: &[Reaction]) -> bool {
        let calls = |port: PortId| self.program.ports[port.at()].calls.is_some();
        let came_in = matches!(path.first(), Some(Reaction::Arrive { .. }));
        let delivers = match output {
            Output::One { goal, .. } => match goal {
                Goal::Port(port, _, Event::Deliver) => calls(*port),
                Goal::Port(..) | Goal::Frame(_) | Goal::Reaction(..) => false,
            },
            Output::Many(_) | Output::Every { .. } => false,
        };
        came_in && delivers
    }

    /// Whether nothing comes of an output but an answer to the host.
    fn only_answers(&self, output: &Output) -> bool {
        let calls = self.program.ports.iter().any(|port| port.calls.is_some());
        match output {
            Output::One { goal, .. } => match goal {
                Goal::Frame(_) | Goal::Port(_, _, Event::Deliver) => !calls,
                Goal::Port(..) | Goal::Reaction(..) => false,
            },
            Output::Many(_) | Output::Every { .. } => false,
        }
    }

    /// An answer and what comes then, where another step may be taken; else a leaf that says both.
    fn goes_on(&mut self, answer: Output, next: NodeId, otherwise: NodeId) -> NodeId {
        let goes_on = ExpressionKind::Query(Query::GoesOn);
        let then = self.forest.arena.add(Node::Act {
            action: Action::Answer(vec![answer]),
            next,
        });
        self.forest.arena.add(Node::Test {
            condition: Expression::new(goes_on, Type::Bool),
            likely: GOES_ON,
            then,
            otherwise,
        })
    }

    /// A tree whose parameters have their values.
    fn given(
        &mut self,
        root: NodeId,
        parameters: &Parameters,
        instance: Option<Instance>,
        message: Option<LocalId>,
        arguments: &[Expression],
    ) -> NodeId {
        let mut values: Vec<(LocalId, Expression)> = Vec::new();
        let mut bound = Vec::new();
        // What has a name already keeps it.
        let mut named: Vec<(LocalId, LocalId)> =
            parameters.message.zip(message).into_iter().collect();
        for (parameter, argument) in parameters.arguments.iter().zip(arguments) {
            match &*argument.kind {
                ExpressionKind::Constant(_) => values.push((*parameter, argument.clone())),
                ExpressionKind::Read(Variable::Local(known)) => named.push((*parameter, *known)),
                _ => bound.push(Action::Let(*parameter, argument.clone())),
            }
        }
        let local = |id: LocalId| {
            let mut named = named.iter();
            named
                .find(|(old, _)| *old == id)
                .map_or(id, |(_, new)| *new)
        };
        let other = |old: Instance| match (old, instance) {
            (Instance::Local(id), Some(instance)) if parameters.instance == Some(id) => instance,
            _ => old,
        };
        let replaced = |expression: &Expression| match &*expression.kind {
            // A session below is also a key of those that stand on it.
            ExpressionKind::Read(Variable::Local(id)) if parameters.instance == Some(*id) => {
                let result = expression.result.clone();
                match instance.expect("an instance is given unless it is fixed") {
                    Instance::Local(local) => Some(Expression::local(local, result)),
                    Instance::Only(only) => Some(Expression::number(u64::from(only), result)),
                    Instance::Entity => Some(Expression::number(0, result)),
                    Instance::Own => unreachable!("own instances are known"),
                }
            }
            ExpressionKind::Read(Variable::Local(id)) => values
                .iter()
                .find(|(parameter, _)| parameter == id)
                .map(|(_, value)| value.clone()),
            _ => None,
        };
        let renaming = Renaming {
            local: &local,
            instance: &other,
            replaced: &replaced,
        };
        let mut new = FxHashMap::default();
        for node in reachable(&self.forest, root) {
            let renamed = renaming.node(self.forest.arena.node(node));
            let made = match decided(self.program, &renamed) {
                Some(way) => new[&way],
                None => {
                    let renamed = with_children(renamed, |child| new[&child]);
                    let made = self.forest.arena.add(renamed);
                    self.forest.asks_as(made, node);
                    made
                }
            };
            new.insert(node, made);
        }
        bound.into_iter().rev().fold(new[&root], |next, action| {
            self.forest.arena.add(Node::Act { action, next })
        })
    }

    /// Entries, what they call or let wait, and what those do.
    fn keep_what_is_reached(self) -> Forest {
        let mut forest = self.forest;
        let mut kept = BTreeSet::new();
        let mut open: Vec<Reaction> = forest.trees.iter().map(|tree| tree.reaction).collect();
        open.retain(|reaction| is_entry(self.program, *reaction));
        while let Some(reaction) = open.pop() {
            if kept.insert(reaction) {
                let root = forest.trees[self.known[&reaction].at()].root;
                open.extend(goals(&forest, root));
            }
        }
        forest.trees.retain(|tree| kept.contains(&tree.reaction));
        swept(&forest)
    }
}

/// Whether an output is one event that a tree handles.
fn is_reaction(output: &Output) -> bool {
    match output {
        Output::One { goal, .. } => matches!(goal, Goal::Reaction(..)),
        Output::Many(_) | Output::Every { .. } => false,
    }
}

/// The reactions that a tree calls or lets wait.
fn goals(forest: &Forest, root: NodeId) -> Vec<Reaction> {
    let nodes = reachable(forest, root).into_iter();
    let goals = nodes.flat_map(|node| lets_happen(forest.arena.node(node)));
    goals.collect()
}
