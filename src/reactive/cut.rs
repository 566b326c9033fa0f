//! Ways that are taken to be never taken are cut.
//!
//! In: trees that no rewrite has seen, and which ways were never taken. Out: trees that end there.
//! Where one meets such an end, that is counted under the name of the way, its message is dropped,
//! and the session that it belongs to ends: who is above it is told that it is closed, if there is
//! such a notice, by a reset, if that is among the reasons.
//!
//! ```text
//! test (header(number) > last)            test (header(number) > last)
//!   leaf .. deliver ..                      leaf .. deliver ..
//! else                           =>       else
//!   drop message late_or_repeated           count sequencer.cut_sequencer_24_no
//!   leaf                                    drop message sequencer.cut
//!                                           leaf
//! ```
//!
//! Before: a way was never taken. After: what lay behind it is gone, and nothing else. What happens
//! at the end of an instance is never cut, since a cut needs it; nor is a tree that does nothing
//! but say which of several instances it is, each of which has a tree of its own. The session is
//! that whose event it is, or that a frame was found to be for; where sessions never end, there is
//! nothing to reset.

use super::due::Due;
use super::{Lowering, entity_of};
use crate::diagnostic::Diagnostic;
use crate::tree::check::{Inside, Known, known};
use crate::tree::walk::{children, lets_happen, reachable, with_children};
use crate::tree::ways::Way;
use crate::tree::{Action, Forest, Goal, Index, Node, NodeId, Output, Probability, Reaction, Tree};
use crate::types::expression::{Binary, Expression, ExpressionKind, Instance, Query};
use crate::types::program::{
    Count, CountId, EntityId, Event, KindId, LocalId, NoticeId, Place, Population, Program, Reason,
    ReasonId, Role, Shape,
};
use crate::types::value::Type;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// What sessions above are told by, and why, where the service has such words.
const CLOSED: &str = "closed";
const RESET: &str = "reset";

/// Cuts ways that were never taken; the program gets their counters. The trees that are left, and
/// what was cut of them.
pub fn cut(
    program: &mut Program,
    forest: &Forest,
    never: &BTreeSet<Way>,
    named: &dyn Fn(Way) -> String,
) -> Result<(Forest, Vec<Way>), Vec<Diagnostic>> {
    let mut counters = Counters::new(program, named);
    let mut lowering = Lowering {
        program,
        arena: forest.arena.clone(),
        locals: forest.locals.clone(),
        wanted: Vec::new(),
        known: BTreeSet::new(),
        place: None,
        places: forest.places.clone(),
        told: super::told(program),
        budget: super::MOST_NODES,
        diagnostics: Vec::new(),
    };
    let whole = forest.trees.iter().enumerate();
    let whole: BTreeMap<Reaction, usize> = whole.map(|(at, tree)| (tree.reaction, at)).collect();
    let mut trees = Vec::new();
    lowering.want_beginnings();
    while let Some(reaction) = lowering.next_wanted() {
        trees.push(match whole.get(&reaction) {
            Some(at) => lowering.left_of(forest, *at, never, &mut counters),
            None => lowering.tree(reaction),
        });
    }
    if !lowering.diagnostics.is_empty() {
        return Err(lowering.diagnostics);
    }
    trees.sort_by_key(|tree| (entity_of(lowering.program, tree.reaction), tree.reaction));
    let forest = Forest {
        arena: lowering.arena,
        locals: lowering.locals,
        trees,
        places: lowering.places,
        ..Forest::default()
    };
    program.counts.extend(counters.counts);
    program.reasons.extend(counters.reasons);
    Ok((forest, counters.cut))
}

/// What is cut of a tree: ways that were never taken, of nodes that were reached. And these nodes.
fn cuts_of(
    program: &Program,
    forest: &Forest,
    at: usize,
    never: &BTreeSet<Way>,
) -> (Vec<Way>, BTreeSet<NodeId>) {
    let tree = &forest.trees[at];
    let way = |from| Way { tree: at, from };
    let is_whole = is_whole(program, tree.reaction);
    if never.contains(&way(None)) && !is_whole {
        return (vec![way(None)], BTreeSet::new());
    }
    let never: BTreeSet<(NodeId, usize)> = never.iter().filter_map(|way| way.from).collect();
    let mut cuts = Vec::new();
    let mut reached = BTreeSet::from([tree.root]);
    for node in reachable(forest, tree.root).into_iter().rev() {
        if !reached.contains(&node) {
            continue;
        }
        let own = forest.arena.node(node);
        for (out, child) in children(own).into_iter().enumerate() {
            if own.asks() && never.contains(&(node, out)) && !is_whole {
                cuts.push(way(Some((node, out))));
            } else {
                reached.insert(child);
            }
        }
    }
    (cuts, reached)
}

/// Whether nothing is ever cut of the tree of a reaction.
pub fn is_whole(program: &Program, reaction: Reaction) -> bool {
    match reaction {
        Reaction::Arrive { .. } => false,
        Reaction::Handle { kind, index, event } => {
            let population = &program.kinds[kind.at()].population;
            let dynamic = matches!(population, Population::Dynamic { .. });
            event == Event::End || index == Index::Any && !dynamic
        }
    }
}

/// What cuts are counted by: the counters that a program gets.
struct Counters<'n> {
    named: &'n dyn Fn(Way) -> String,
    /// How many there are already.
    before: (u32, u32),
    counts: Vec<Count>,
    reasons: Vec<Reason>,
    /// Ways of a layer that have one name share a counter.
    known: BTreeMap<(EntityId, String), CountId>,
    cut: Vec<Way>,
}

impl Counters<'_> {
    fn new<'n>(program: &Program, named: &'n dyn Fn(Way) -> String) -> Counters<'n> {
        Counters {
            named,
            before: (program.counts.len() as u32, program.reasons.len() as u32),
            counts: Vec::new(),
            reasons: Vec::new(),
            known: BTreeMap::new(),
            cut: Vec::new(),
        }
    }

    /// A way is cut: what counts it, and why its messages are dropped.
    fn cut(&mut self, way: Way, entity: EntityId) -> (CountId, ReasonId) {
        self.cut.push(way);
        let (counts, reasons) = self.before;
        let name = (self.named)(way);
        let count = self.known.entry((entity, name.clone())).or_insert_with(|| {
            self.counts.push(Count { entity, name });
            CountId(counts + self.counts.len() as u32 - 1)
        });
        let known = self.reasons.iter().position(|one| one.entity == entity);
        let reason = known.unwrap_or_else(|| {
            let name = "cut".to_string();
            self.reasons.push(Reason { entity, name });
            self.reasons.len() - 1
        });
        (*count, ReasonId(reasons + reason as u32))
    }
}

/// Where a way is cut.
struct Cut<'k> {
    tree: &'k Tree,
    known: &'k Known,
    count: CountId,
    reason: ReasonId,
}

impl Lowering<'_> {
    /// The next of the trees that are wanted, in their order.
    fn next_wanted(&mut self) -> Option<Reaction> {
        let order = |at: &usize| (entity_of(self.program, self.wanted[*at]), self.wanted[*at]);
        let next = (0..self.wanted.len()).min_by_key(order)?;
        Some(self.wanted.swap_remove(next))
    }

    /// A tree without what was never seen. What it may still let happen is wanted.
    fn left_of(
        &mut self,
        forest: &Forest,
        at: usize,
        never: &BTreeSet<Way>,
        counters: &mut Counters,
    ) -> Tree {
        let tree = &forest.trees[at];
        let (cuts, reached) = cuts_of(self.program, forest, at, never);
        for node in reached {
            for reaction in lets_happen(forest.arena.node(node)) {
                self.want(reaction);
            }
        }
        let root = match cuts.is_empty() {
            true => tree.root,
            false => self.tree_without(forest, tree, &cuts, counters),
        };
        Tree {
            root,
            ..tree.clone()
        }
    }

    /// A tree that ends where it is cut.
    fn tree_without(
        &mut self,
        forest: &Forest,
        tree: &Tree,
        cuts: &[Way],
        counters: &mut Counters,
    ) -> NodeId {
        let (start, ways) = known(self.program, forest, tree);
        let entity = entity_of(self.program, tree.reaction);
        let mut ends: FxHashMap<(NodeId, usize), NodeId> = FxHashMap::default();
        for way in cuts {
            let known = match way.from {
                None => &start,
                Some((node, out)) => &ways[&node][out],
            };
            let (count, reason) = counters.cut(*way, entity);
            let end = self.end_of_way(&Cut {
                tree,
                known,
                count,
                reason,
            });
            match way.from {
                None => return end,
                Some(from) => drop(ends.insert(from, end)),
            }
        }
        let mut new: FxHashMap<NodeId, NodeId> = FxHashMap::default();
        for id in reachable(forest, tree.root) {
            let mut out = 0..;
            let node = with_children(forest.arena.node(id).clone(), |child| {
                let way = out.next().and_then(|out| ends.get(&(id, out)));
                way.copied().unwrap_or_else(|| new[&child])
            });
            let is_cut: Vec<bool> = (0..children(&node).len())
                .map(|out| ends.contains_key(&(id, out)))
                .collect();
            let node = self.cut_last(node, &is_cut);
            let made = self.arena.add(node);
            if let Some(place) = self.places.get(&id).copied() {
                self.places.entry(made).or_insert(place);
            }
            new.insert(id, made);
        }
        new[&tree.root]
    }

    /// A `match` some of whose ways are cut, as a test for these: of two ways rewrites know which
    /// is common.
    fn cut_last(&mut self, node: Node, is_cut: &[bool]) -> Node {
        let Node::Case {
            value,
            cases,
            otherwise,
        } = node
        else {
            return node;
        };
        if !is_cut.contains(&true) || !is_cut.contains(&false) {
            return Node::Case {
                value,
                cases,
                otherwise,
            };
        }
        let split = |wanted: bool| {
            let own = cases.iter().zip(is_cut);
            let own = own.filter(|(_, is_cut)| **is_cut == wanted);
            own.map(|(case, _)| *case).collect::<Vec<_>>()
        };
        let (value, bound) = match &*value.kind {
            ExpressionKind::Read(_) | ExpressionKind::Header(..) => (value, None),
            // It is asked for once.
            _another => {
                let of = value.result.clone();
                let bind = self.fresh("asked".to_string(), of.clone());
                let known = Expression::local(bind, of);
                (known, Some(Action::Let(bind, value)))
            }
        };
        let rest_is_cut = is_cut[cases.len()];
        // The values that are named are those on the other side of all others.
        let (named, others) = (split(!rest_is_cut), split(rest_is_cut));
        let is = named.iter().map(|(number, ..)| {
            let number = Expression::number(*number, value.result.clone());
            Expression::binary(Binary::Equal, value.clone(), number, Type::Bool)
        });
        let either = |one, other| Expression::binary(Binary::Or, one, other, Type::Bool);
        let condition = is.reduce(either).expect("a side has a way");
        let likely = named.iter().map(|(_, likely, _)| likely.0).sum::<u32>();
        let (then, last) = named
            .split_last()
            .map(|(last, all)| (all.to_vec(), last.2))
            .expect("a side has a way");
        let then = self.ways_of(&value, then, last);
        let otherwise = self.ways_of(&value, others, otherwise);
        let test = Node::Test {
            condition,
            likely: Probability(likely.min(1_000_000)),
            then,
            otherwise,
        };
        match bound {
            Some(action) => Node::Act {
                action,
                next: self.arena.add(test),
            },
            None => test,
        }
    }

    /// A `match`, or where it leads if nothing is asked.
    fn ways_of(
        &mut self,
        value: &Expression,
        cases: Vec<(u64, Probability, NodeId)>,
        otherwise: NodeId,
    ) -> NodeId {
        if cases.is_empty() {
            return otherwise;
        }
        self.arena.add(Node::Case {
            value: value.clone(),
            cases,
            otherwise,
        })
    }

    /// What is done where a way is cut.
    fn end_of_way(&mut self, cut: &Cut) -> NodeId {
        let mut steps = vec![Action::Count(cut.count)];
        let owned = cut.known.owned.iter();
        steps.extend(owned.map(|message| Action::Drop(*message, cut.reason)));
        let sessions = self.sessions(cut);
        let reset = self.reset(cut, &sessions, Vec::new());
        self.steps(steps, reset)
    }

    /// What ends there, each by the kind that others live with.
    fn sessions(&self, cut: &Cut) -> Vec<(KindId, Instance)> {
        let mut all = Vec::new();
        let own = match cut.tree.reaction {
            Reaction::Handle { kind, index, .. } => Some((kind, index)),
            Reaction::Arrive { entity, index, .. } => {
                let table = &self.program.entities[entity.at()];
                (table.shape != Shape::Multiplexor).then_some((table.session, index))
            }
        };
        if let (Some((kind, index)), Some(local)) = (own, cut.tree.parameters.instance) {
            all.extend(self.lowest(kind, index, local));
        }
        let arrives = matches!(cut.tree.reaction, Reaction::Arrive { .. });
        for (local, (kind, made)) in &cut.known.found {
            let is_session = self.program.kinds[kind.at()].role == Role::Session;
            if *made || arrives && is_session {
                all.extend(self.lowest(*kind, Index::Any, *local));
            }
        }
        let mut known = BTreeSet::new();
        all.retain(|(kind, instance)| {
            self.comes_and_goes(*kind) && known.insert((*kind, *instance))
        });
        all
    }

    /// The instance with which another lives, from below; that of a label is known by that.
    fn lowest(&self, kind: KindId, index: Index, local: LocalId) -> Option<(KindId, Instance)> {
        let known = match index {
            Index::Label(_) => self.program.stands_on(kind)?,
            Index::Only(_) | Index::Any => kind,
        };
        Some((self.program.lives_with(known), Instance::Local(local)))
    }

    /// Whether instances of a kind come and go, and no application listens by them.
    fn comes_and_goes(&self, kind: KindId) -> bool {
        let table = &self.program.kinds[kind.at()];
        let listens = self.program.listening(kind);
        matches!(table.population, Population::Dynamic { .. })
            && listens.is_none_or(|(_, how)| how.listener != kind)
    }

    /// Sessions end that have not ended before; then what is due is.
    fn reset(
        &mut self,
        cut: &Cut,
        sessions: &[(KindId, Instance)],
        outputs: Vec<Output>,
    ) -> NodeId {
        let Some(((kind, instance), others)) = sessions.split_first() else {
            return self.end_with(cut, outputs);
        };
        let ended = self.reset(cut, others, outputs.clone());
        let mut due = Due {
            outputs,
            ..Due::default()
        };
        self.tell_closed(*kind, *instance, &mut due);
        let steps = self.ends(*kind, *instance, &mut due);
        let ends = self.reset(cut, others, due.outputs);
        let ends = self.steps(steps, ends);
        let query = ExpressionKind::Query(Query::Ended(*instance, *kind));
        self.test(Expression::new(query, Type::Bool), Some(0.1), ended, ends)
    }

    /// Applications above a session are told that it is closed.
    fn tell_closed(&self, kind: KindId, instance: Instance, due: &mut Due) {
        for standing in self.program.living_with(kind) {
            let place = self.program.place_above(standing.kind, standing.label);
            let Some(Place::Port(port)) = place.filter(|_| standing.label.is_none()) else {
                continue;
            };
            let up = &self.program.ports[port.at()].up;
            let told = up.iter().find_map(|notice| {
                let arguments = self.closed_by_reset(*notice)?;
                Some(Output::One {
                    goal: Goal::Port(port, instance, Event::Notice(*notice)),
                    message: None,
                    arguments,
                })
            });
            due.outputs.extend(told);
        }
    }

    /// The arguments with which a notice says so, if it is one that does.
    fn closed_by_reset(&self, notice: NoticeId) -> Option<Vec<Expression>> {
        let notice = &self.program.notices[notice.at()];
        if notice.name != CLOSED || notice.message {
            return None;
        }
        let arguments = notice.parameters.iter().map(|parameter| {
            let number = match &parameter.kind {
                Type::Enum(id) => {
                    let names = &self.program.enums[id.at()].names;
                    let reset = names.iter().find(|(name, _)| name == RESET);
                    reset.or(names.first())?.1
                }
                Type::Bool | Type::Unsigned(_) => 0,
                _ => return None,
            };
            Some(Expression::number(number, parameter.kind.clone()))
        });
        arguments.collect()
    }

    /// The end of the way, with what is due.
    fn end_with(&mut self, cut: &Cut, outputs: Vec<Output>) -> NodeId {
        let wait = |outputs: Vec<Output>, how: fn(Vec<Output>) -> Action| {
            (!outputs.is_empty()).then(|| how(outputs))
        };
        let (steps, outputs) = match (cut.known.inside, cut.known.begun) {
            (Inside::Tree, false) | (Inside::Family, _) => (Vec::new(), outputs),
            (Inside::Tree, true) => {
                let put = wait(outputs, Action::Put).into_iter();
                (put.chain([Action::Turn]).collect(), Vec::new())
            }
            (Inside::Loop, true) => (Vec::from_iter(wait(outputs, Action::Put)), Vec::new()),
            (Inside::Loop, false) => (Vec::from_iter(wait(outputs, Action::Wait)), Vec::new()),
        };
        let leaf = self.leaf(outputs);
        self.steps(steps, leaf)
    }
}
