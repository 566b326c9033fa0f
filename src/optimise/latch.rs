//! What a bypass asks of an instance alone is asked once, and then known: a latch.
//!
//! In: a bypass that asks several things of fields which it does not write. Out: the same, which
//! asks whether the instance is latched; if not, it asks all that, and latches it. Whatever writes
//! one of those fields, in any tree, unlatches it, unless what is asked holds for what it writes.
//! So the flags of header prediction (RFC 1144's idea, which stacks write by hand for TCP) fall
//! out, for every protocol, and nobody writes them.
//!
//! ```text
//! if state < open { otherwise }              if not on_path {
//! if resends { otherwise }             =>        if state < open { otherwise }
//! if early.end != early.begin {                  if resends { otherwise }
//!     otherwise                                  if early.end != early.begin { otherwise }
//! }                                              on_path = true
//! …                                          }
//! resends = true                             resends = true, on_path = false
//! ```
//!
//! A name that was given to what the instance says is asked as that.
//!
//! Assumes: fields are written by steps of trees alone. Ensures: the same outputs, and the same
//! state but for the latch; a way that asked less may leave the path where another asked more, if
//! that is rare. Cost: a truth for each instance, and a write beside each of those writes.

use super::bypass::{looks, named};
use super::depends::{is_of_message, is_total};
use super::known::Known;
use super::path::{Step, What, is_free, put, steps};
use super::value::Looks;
use crate::tree::rename::Renaming;
use crate::tree::uses;
use crate::tree::walk::{reachable, with_children};
use crate::tree::{Action, Forest, Node, NodeId, Probability};
use crate::types::expression::{Expression, ExpressionKind, Instance, Query, Variable};
use crate::types::program::{Field, FieldId, KindId, LocalId, Population, Program};
use crate::types::statement::Attempt;
use crate::types::value::Type;
use std::collections::{BTreeSet, HashMap};

/// A field of a kind.
pub type Place = (KindId, FieldId);

/// Fewer conditions are asked as they are.
const FEW: usize = 2;

/// How often an instance is taken to be latched.
const LATCHED: Probability = Probability(990_000);

/// What a latch stands for.
struct Latch {
    /// What holds while an instance is latched.
    asked: Vec<Expression>,
    /// The fields that this looks at.
    fields: BTreeSet<Place>,
}

impl Latch {
    /// One for these conditions.
    fn of(program: &Program, asked: Vec<Expression>) -> Latch {
        let fields = asked
            .iter()
            .flat_map(|condition| Looks::of(program, condition).fields);
        let fields = fields.map(|(_, kind, field)| (kind, field)).collect();
        Latch { asked, fields }
    }

    /// Whether all of it still holds of an instance of which a field is written.
    fn outlives(&self, program: &Program, action: &Action) -> bool {
        let Action::Assign(Variable::Field(of, kind, field), value) = action else {
            return false;
        };
        let written = |part: &Expression| match &*part.kind {
            ExpressionKind::Read(Variable::Field(_, k, f)) if (k, f) == (kind, field) => {
                Some(value.clone())
            }
            _ => None,
        };
        // Each condition is about one instance: here, about that which is written.
        let renaming = Renaming {
            local: &|local| local,
            instance: &|_| *of,
            replaced: &written,
        };
        let mut known = Known::nothing(program);
        let mut concerned = self.asked.iter();
        concerned.all(|condition| {
            let looks = Looks::of(program, condition);
            !looks.at(*kind, *field) || known.truth(&renaming.expression(condition)) == Some(true)
        })
    }
}

/// Trees whose bypasses have latches, where they ask enough of an instance; what is asked on some
/// ways alone is asked on all if it rarely fails.
pub fn latch(program: &mut Program, mut forest: Forest, rare: f64) -> Forest {
    for at in 0..forest.bypasses.len() {
        let root = forest.bypasses[at].root;
        let mut latches = Vec::new();
        forest.bypasses[at].root = way(program, &mut forest, root, rare, &mut latches);
        for (place, latch) in latches {
            unlatch(program, &mut forest, place, &latch);
        }
    }
    forest
}

/// A way of a bypass, with the latches of the instances that are found on it.
fn way(
    program: &mut Program,
    forest: &mut Forest,
    root: NodeId,
    rare: f64,
    latches: &mut Vec<(Place, Latch)>,
) -> NodeId {
    let (before, end) = steps(program, forest, root);
    if let Some(instance) = found(forest, &before) {
        let Some((root, latch)) = latched(program, forest, root, instance, rare) else {
            return root;
        };
        latches.push(latch);
        return root;
    }
    let node = forest.arena.node(end).clone();
    if !matches!(node, Node::Test { .. } | Node::Case { .. }) {
        return root;
    }
    let origin = forest.origins.get(&end).copied();
    let made = with_children(node, |child| way(program, forest, child, rare, latches));
    let made = forest.arena.add(made);
    if let Some(origin) = origin {
        forest.origins.entry(made).or_insert(origin);
    }
    put(forest, before, made)
}

/// A way with the latch of an instance, and that.
fn latched(
    program: &mut Program,
    forest: &mut Forest,
    root: NodeId,
    (instance, kind): (LocalId, KindId),
    rare: f64,
) -> Option<(NodeId, (Place, Latch))> {
    let written = written(program, forest, root);
    let mut latching = Latching {
        program,
        forest,
        written,
        instance,
        rare: Probability((rare * 1e6) as u32),
        asked: Vec::new(),
    };
    let bare = latching.bare(root, true, HashMap::new());
    let asked = latching.asked;
    let conditions = asked.iter().map(|(condition, _)| condition.clone());
    let conditions = conditions.collect();
    let latch = Latch::of(program, conditions);
    if asked.len() < FEW || is_written_by_others(program, forest, &latch) {
        return None;
    }
    let field = added(program, kind);
    let place = Variable::Field(Instance::Local(instance), kind, field);
    let (before, end) = steps(program, forest, bare);
    let latches = forest.arena.add(Node::Act {
        action: Action::Assign(place.clone(), Expression::number(1, Type::Bool)),
        next: end,
    });
    let asks = asked.into_iter().map(|(condition, otherwise)| Step {
        what: What::Ask(condition, LATCHED, otherwise),
        origin: None,
    });
    let asks = put(forest, asks.collect(), latches);
    let test = forest.arena.add(Node::Test {
        condition: Expression::new(ExpressionKind::Read(place), Type::Bool),
        likely: LATCHED,
        then: end,
        otherwise: asks,
    });
    Some((put(forest, before, test), ((kind, field), latch)))
}

/// The instance that was found last, and its kind.
fn found(forest: &Forest, steps: &[Step]) -> Option<(LocalId, KindId)> {
    let found = steps.iter().rev().find_map(|step| match &step.what {
        What::Try(Attempt::Instance(_), bind, ..) => *bind,
        What::Try(..) | What::Ask(..) | What::Do(_) => None,
    })?;
    match forest.locals[found.at()].kind {
        Type::Instance(kind) => Some((found, kind)),
        _ => None,
    }
}

/// A kind's new field, which begins as false.
fn added(program: &mut Program, kind: KindId) -> FieldId {
    let kind = &mut program.kinds[kind.at()];
    let fields = &mut kind.fields;
    let mut name = "on_path".to_string();
    while fields.iter().any(|field| field.name == name) {
        name.push('_');
    }
    fields.push(Field {
        name,
        kind: Type::Bool,
        initial: None,
        once: false,
        has_gaps: false,
    });
    let latch = FieldId(fields.len() as u32 - 1);
    kind.latches.push(latch);
    latch
}

/// Whatever writes one of the fields that a latch is about unlatches.
fn unlatch(program: &Program, forest: &mut Forest, place: Place, latch: &Latch) {
    let trees = forest.trees.iter().chain(&forest.bypasses);
    let nodes: BTreeSet<NodeId> = trees
        .flat_map(|tree| reachable(forest, tree.root))
        .collect();
    let mut new: HashMap<NodeId, NodeId> = HashMap::new();
    for id in nodes {
        let old = forest.arena.node(id).clone();
        let instances = changed(program, &old, latch);
        let mut node = with_children(old, |child| new[&child]);
        for instance in instances.into_iter().flatten() {
            node = unlatched(forest, node, instance, place);
        }
        let made = forest.arena.add(node);
        if let Some(origin) = forest.origins.get(&id).copied() {
            forest.origins.entry(made).or_insert(origin);
        }
        new.insert(id, made);
    }
    for tree in forest.trees.iter_mut().chain(&mut forest.bypasses) {
        tree.root = new[&tree.root];
    }
}

/// The same node, behind which an instance is not latched.
fn unlatched(forest: &mut Forest, node: Node, instance: Instance, latch: Place) -> Node {
    let place = Variable::Field(instance, latch.0, latch.1);
    let action = Action::Assign(place, Expression::number(0, Type::Bool));
    let mut behind = |next: NodeId| {
        let mut at = next;
        // Once is enough for what is written in a row.
        while let Node::Act {
            action: one,
            next: then,
        } = forest.arena.node(at)
            && matches!(one, Action::Assign(Variable::Field(..), _))
        {
            if *one == action {
                return next;
            }
            at = *then;
        }
        forest.arena.add(Node::Act {
            action: action.clone(),
            next,
        })
    };
    match node {
        Node::Act { action, next } => Node::Act {
            action,
            next: behind(next),
        },
        several => with_children(several, behind),
    }
}

/// The instances that a node may unlatch; none where that is not said.
fn changed(program: &Program, node: &Node, latch: &Latch) -> BTreeSet<Option<Instance>> {
    let found = looks(program, node);
    let found = found.fields.into_iter().filter(|_| found.changes);
    let written = match node {
        Node::Act { action, .. } if latch.outlives(program, action) => Vec::new(),
        _ => uses::written(node),
    };
    let written = written.into_iter().filter_map(whole);
    let written = written.map(|(instance, kind, field)| (Some(instance), kind, field));
    let changed = found.chain(written);
    changed
        .filter(|(_, kind, field)| latch.fields.contains(&(*kind, *field)))
        .map(|(instance, ..)| instance)
        .collect()
}

/// Whether a field that a latch is about is written by a function that does not say of which
/// instance.
fn is_written_by_others(program: &Program, forest: &Forest, latch: &Latch) -> bool {
    let mut trees = forest.trees.iter().chain(&forest.bypasses);
    trees.any(|tree| {
        let mut nodes = reachable(forest, tree.root).into_iter();
        nodes.any(|node| changed(program, forest.arena.node(node), latch).contains(&None))
    })
}

struct Latching<'a> {
    program: &'a Program,
    forest: &'a mut Forest,
    written: BTreeSet<Place>,
    instance: LocalId,
    rare: Probability,
    /// What the latch stands for, and where the path is left.
    asked: Vec<(Expression, NodeId)>,
}

impl Latching<'_> {
    /// A way that does not ask what the latch stands for, where some names are known to stand for
    /// values.
    fn bare(
        &mut self,
        from: NodeId,
        is_first: bool,
        mut named: HashMap<LocalId, Expression>,
    ) -> NodeId {
        let (all, end) = steps(self.program, self.forest, from);
        // What is asked behind the last step is asked later than it was, and what is asked behind
        // a parting earlier: neither may be what keeps something else from going wrong.
        let last = all.iter().rposition(|step| !is_free(step));
        let free = last.map_or(0, |last| last + 1);
        let mut kept = Vec::new();
        for (at, step) in all.into_iter().enumerate() {
            match &step.what {
                What::Ask(condition, likely, otherwise) => {
                    let asked = spelled_out(condition, &named);
                    let is_latched = self.stands(&asked)
                        && match is_first {
                            true => at >= free,
                            false => likely.other() <= self.rare && is_total(&asked),
                        };
                    if !is_latched {
                        kept.push(step);
                    } else if !self.asked.iter().any(|(known, _)| *known == asked) {
                        self.asked.push((asked, *otherwise));
                    }
                }
                What::Do(Action::Let(name, value)) => {
                    named.insert(*name, spelled_out(value, &named));
                    kept.push(step);
                }
                What::Try(_, bound, ..) => {
                    bound.iter().for_each(|name| drop(named.remove(name)));
                    kept.push(step);
                }
                What::Do(_) => kept.push(step),
            }
        }
        let node = self.forest.arena.node(end).clone();
        let end = match node {
            Node::Test { .. } | Node::Case { .. } => {
                let made = with_children(node, |child| self.bare(child, false, named.clone()));
                let made = self.forest.arena.add(made);
                if let Some(origin) = self.forest.origins.get(&end).copied() {
                    self.forest.origins.entry(made).or_insert(origin);
                }
                made
            }
            _ => end,
        };
        put(self.forest, kept, end)
    }

    fn stands(&self, condition: &Expression) -> bool {
        let instance = stands(self.program, &self.written, condition);
        instance == Some(self.instance)
    }
}

/// A value in which names are what they stand for.
fn spelled_out(value: &Expression, named: &HashMap<LocalId, Expression>) -> Expression {
    let of_name = |part: &Expression| match &*part.kind {
        ExpressionKind::Read(Variable::Local(name)) => named.get(name).cloned(),
        _ => None,
    };
    let renaming = Renaming {
        local: &|local| local,
        instance: &|instance| instance,
        replaced: &of_name,
    };
    renaming.expression(value)
}

/// The instance that a condition is about, if it asks of nothing but its fields, and none of those
/// is written.
pub fn stands(
    program: &Program,
    written: &BTreeSet<Place>,
    condition: &Expression,
) -> Option<LocalId> {
    let looks = Looks::of(program, condition);
    if looks.changes || looks.calls_c || !looks.timers.is_empty() || is_of_message(condition) {
        return None;
    }
    let names = named(|naming| drop(naming.expression(condition)));
    let mut names = names.into_iter();
    let instance = names.next().filter(|_| names.next().is_none())?;
    let comes_and_goes = |kind: KindId| {
        let population = &program.kinds[kind.at()].population;
        matches!(population, Population::Dynamic { .. })
    };
    let is_own = looks.fields.iter().all(|(of, kind, field)| {
        comes_and_goes(*kind)
            && *of == Some(Instance::Local(instance))
            && !written.contains(&(*kind, *field))
    });
    let keys = keys(condition);
    let is_of_instance = !looks.fields.is_empty() || !keys.is_empty();
    let is_own = is_own && keys.into_iter().all(comes_and_goes);
    (is_of_instance && is_own && !hangs_on_more(condition)).then_some(instance)
}

/// The kinds of instances at whose keys a value looks.
fn keys(value: &Expression) -> Vec<KindId> {
    let own = match &*value.kind {
        ExpressionKind::Key(_, kind, _) => Some(*kind),
        _ => None,
    };
    let parts = value.parts().into_iter().flat_map(keys);
    own.into_iter().chain(parts).collect()
}

/// Whether a value hangs on what changes by itself, or on other instances.
fn hangs_on_more(value: &Expression) -> bool {
    let itself = match &*value.kind {
        ExpressionKind::Now | ExpressionKind::Call(..) | ExpressionKind::Through(..) => true,
        ExpressionKind::Query(query) => matches!(
            query,
            Query::Exists(..) | Query::Ended(..) | Query::Running(..) | Query::GoesOn
        ),
        _ => false,
    };
    itself || value.parts().into_iter().any(hangs_on_more)
}

/// The fields that a tree may write.
pub fn written(program: &Program, forest: &Forest, root: NodeId) -> BTreeSet<Place> {
    let mut places = BTreeSet::new();
    for node in reachable(forest, root) {
        let node = forest.arena.node(node);
        let found = looks(program, node);
        if found.changes {
            places.extend(found.fields.iter().map(|(_, kind, field)| (*kind, *field)));
        }
        let written = uses::written(node).into_iter().filter_map(whole);
        places.extend(written.map(|(_, kind, field)| (kind, field)));
    }
    places
}

/// The field that a place is, or is a part of.
fn whole(place: &Variable) -> Option<(Instance, KindId, FieldId)> {
    match place {
        Variable::Field(instance, kind, field) => Some((*instance, *kind, *field)),
        Variable::Local(_) => None,
        Variable::Element(of, _) | Variable::Part(of, ..) => whole(of),
    }
}
