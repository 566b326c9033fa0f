//! Statements -> nodes, each path with the outputs that are due at its end.
//!
//! A statement's tree holds all that comes after it: the rest of its block, then what follows that
//! block, then the leaf. Paths that meet again with the same outputs due share their nodes, since
//! equal nodes are one; those that differ in outputs stay apart, because a leaf says its outputs in
//! order. What was built before for the same rest and the same outputs is not built again.

use super::due::Due;
use super::frame::Frame;
use super::step::step;
use super::{Lowering, reads};
use crate::source::Span;
use crate::tree::{Action, Goal, Index, Node, NodeId, Output, Probability};
use crate::types::expression::{Expression, ExpressionKind, Instance, Query};
use crate::types::program::{Event, KindId, LocalId, Population, PortId, Target};
use crate::types::statement::{Attempt, Block, Likely, Ordered, Search, Statement, StatementKind};
use crate::types::value::Type;
use rustc_hash::FxHashMap;

/// How likely it is that a buffer is free.
const BUFFER_IS_FREE: Probability = Probability(999_000);

/// How likely it is, in percent, that what is required holds and what is tried succeeds, where
/// nobody says: who writes `else` means the exception.
pub const AS_A_RULE: Likely = Some(90.0);

/// Of several kinds of instances that may handle an event, it is for the first mostly.
pub const FIRST: Likely = Some(99.0);

/// What follows a block: the rests of the blocks around it, innermost last.
pub type Rests<'a> = Vec<&'a [Statement]>;

/// One body that is being built.
pub struct Body<'a, 'f> {
    pub frame: &'f Frame<'a>,
    /// Steps at the very end, before the leaf.
    pub last: Vec<Action>,
    /// Where the code is written.
    pub span: Span,
    /// Whether it is a turn of a loop.
    pub turns: bool,
    /// Where its ways meet again: says whether it is to go on in an instant of its own.
    pub again: Option<LocalId>,
    /// What was built, by what was left to do and the outputs that were due.
    pub built: FxHashMap<(Vec<(usize, usize)>, Due), NodeId>,
}

impl<'a> Body<'a, '_> {
    /// The same body, in which more is known from here on.
    pub fn with<'f>(&self, frame: &'f Frame<'a>) -> Body<'a, 'f> {
        Body {
            frame,
            last: self.last.clone(),
            span: self.span,
            turns: self.turns,
            again: self.again,
            built: FxHashMap::default(),
        }
    }

    /// What is due is put on the agenda here, but for the first, which is handled at once. The
    /// outputs of a turn wait in any case.
    pub fn put(&self, due: &mut Due) -> Vec<Action> {
        let mut steps = Vec::new();
        if due.at_once.is_none() && !self.turns {
            let first = matches!(due.outputs.first(), Some(Output::One { .. }));
            due.at_once = Some(due.outputs.drain(..usize::from(first)).collect());
            steps.push(Action::Begin);
        }
        if !due.outputs.is_empty() {
            steps.push(Action::Put(std::mem::take(&mut due.outputs)));
        }
        steps
    }
}

impl<'a> Lowering<'a> {
    /// The tree of a whole body.
    pub fn body(
        &mut self,
        frame: &Frame<'a>,
        block: &'a [Statement],
        last: Vec<Action>,
        span: Span,
    ) -> NodeId {
        let mut body = Body {
            frame,
            last,
            span,
            turns: false,
            again: None,
            built: FxHashMap::default(),
        };
        self.rest(&mut body, vec![block], Due::default())
    }

    /// The tree of a turn of a loop.
    pub fn turn(&mut self, frame: &Frame<'a>, block: &'a [Statement], span: Span) -> NodeId {
        let mut body = Body {
            frame,
            last: Vec::new(),
            span,
            turns: true,
            again: None,
            built: FxHashMap::default(),
        };
        self.rest(&mut body, vec![block], Due::default())
    }

    /// The tree of all that is left to do.
    pub fn rest(&mut self, body: &mut Body<'a, '_>, mut rests: Rests<'a>, mut due: Due) -> NodeId {
        if due.at_once.is_some() && body.again.is_none() && !due.outputs.is_empty() {
            due.place = None;
            let steps = body.put(&mut due);
            let next = self.rest(body, rests, due);
            return self.steps(steps, next);
        }
        while rests.last().is_some_and(|rest| rest.is_empty()) {
            rests.pop();
        }
        let Some(rest) = rests.pop() else {
            return self.end(body, due);
        };
        let place = |rest: &[Statement]| (rest.as_ptr() as usize, rest.len());
        let left = rests.iter().map(|r| place(r)).chain([place(rest)]);
        let key = (left.collect::<Vec<_>>(), due);
        if let Some(&node) = body.built.get(&key) {
            return node;
        }
        let due = key.1.clone();
        if self.budget == 0 {
            return self.leaf(Vec::new());
        }
        self.budget -= 1;
        if self.budget == 0 {
            self.too_large(body.span);
        }
        let (statement, after) = rest.split_first().expect("an empty rest was taken away");
        // What stands in place of the rest of the block on failure goes on behind the block.
        let outside = rests.clone();
        rests.push(after);
        let node = self.at(Some(statement.span), |lowering| {
            lowering.statement(body, statement, rests, outside, due)
        });
        body.built.insert(key, node);
        node
    }

    /// The leaf of a path.
    fn end(&mut self, body: &Body<'a, '_>, mut due: Due) -> NodeId {
        due.settle(body.frame.places);
        let mut outputs = due.outputs;
        if due.again {
            let (itself, known) = (body.frame.standing(), body.frame.known());
            outputs.push(self.event_of(itself, known, Event::Again));
        }
        let mut last = body.last.clone();
        if let Some(again) = body.again {
            assert!(outputs.is_empty(), "each turn has put what it made due");
            return self.met(body, again);
        }
        if let Some(at_once) = due.at_once {
            let rest = (!outputs.is_empty()).then_some(Action::Put(outputs));
            let before = rest.into_iter().chain([Action::Turn]);
            let leaf = self.leaf(at_once);
            return self.steps(before.chain(last).collect(), leaf);
        }
        let is_family = |output: &Output| !matches!(output, Output::One { .. });
        if !last.is_empty() && outputs.iter().any(is_family) {
            // What a family drains is taken before the instance drops what is left, and is gone.
            let at_once = usize::from(!is_family(&outputs[0]));
            last.insert(0, Action::Wait(outputs.split_off(at_once)));
        }
        let leaf = self.leaf(outputs);
        self.steps(last, leaf)
    }

    fn statement(
        &mut self,
        body: &mut Body<'a, '_>,
        statement: &'a Statement,
        inside: Rests<'a>,
        outside: Rests<'a>,
        mut due: Due,
    ) -> NodeId {
        let frame = body.frame;
        match &statement.kind {
            StatementKind::Attempt { .. } | StatementKind::Require { .. } => {
                self.may_fail(body, statement, inside, outside, due)
            }
            StatementKind::If { .. } | StatementKind::Match { .. } => {
                self.branches(body, statement, inside, due)
            }
            StatementKind::For { .. } | StatementKind::Drain { .. } => {
                self.loops(body, statement, inside, due)
            }
            StatementKind::Output(output) => self.output(body, output, inside, due),
            StatementKind::End(instance, kind) => {
                let instance = frame.renamed(|renaming| (renaming.instance)(*instance));
                let again = match self.program.living_with(*kind).len() {
                    1 => None,
                    _ => Some(self.rest(body, inside.clone(), due.clone())),
                };
                let steps = self.ends(*kind, instance, &mut due);
                let next = self.rest(body, inside, due);
                let ends = self.steps(steps, next);
                // Those that live with it may have asked for its end already.
                let ended = ExpressionKind::Query(Query::Ended(instance, *kind));
                match again {
                    Some(again) => {
                        let ended = Expression::new(ended, Type::Bool);
                        self.test(ended, Some(0.1), again, ends)
                    }
                    None => ends,
                }
            }
            StatementKind::Ordered(Ordered::Go(block)) => {
                let rest: &'a [Statement] = &frame.blocks[block.0 as usize];
                self.rest(body, vec![rest], due)
            }
            StatementKind::Ordered(Ordered::Branch(place)) => {
                due.settle(frame.places);
                due.place = Some(*place);
                self.rest(body, inside, due)
            }
            StatementKind::Ordered(Ordered::Mark(_) | Ordered::Put(_)) => {
                self.put_in_order(body, statement, inside, due)
            }
            StatementKind::Return(_) | StatementKind::Yield(_) | StatementKind::React(_) => {
                unreachable!("handlers do not return, yield or react")
            }
            StatementKind::Let(..)
            | StatementKind::Assign(..)
            | StatementKind::Do(_)
            | StatementKind::Drop(..)
            | StatementKind::Consume(_)
            | StatementKind::Count(_)
            | StatementKind::StartTimer(..)
            | StatementKind::StopTimer(..) => {
                let action = step(frame, statement);
                let next = self.rest(body, inside, due);
                self.act(action, next)
            }
        }
    }

    /// What takes the place of the rest of its block when it fails.
    fn may_fail(
        &mut self,
        body: &mut Body<'a, '_>,
        statement: &'a Statement,
        inside: Rests<'a>,
        outside: Rests<'a>,
        due: Due,
    ) -> NodeId {
        let frame = body.frame;
        let mut failed = outside;
        match &statement.kind {
            StatementKind::Attempt {
                attempt,
                bind,
                likely,
                otherwise,
            } => {
                let bind = bind.map(|local| frame.locals[local.at()]);
                failed.push(otherwise);
                self.attempt(
                    body,
                    attempt,
                    bind,
                    likely.or(AS_A_RULE),
                    inside,
                    failed,
                    due,
                )
            }
            StatementKind::Require {
                condition,
                likely,
                otherwise,
            } => {
                failed.push(otherwise);
                let then = self.rest(body, inside, due.clone());
                let otherwise = self.rest(body, failed, due);
                let likely = likely.or(AS_A_RULE);
                self.test(frame.expression(condition), likely, then, otherwise)
            }
            other => unreachable!("what may fail, not {other:?}"),
        }
    }

    /// Ways that all go on with what is left.
    fn branches(
        &mut self,
        body: &mut Body<'a, '_>,
        statement: &'a Statement,
        inside: Rests<'a>,
        due: Due,
    ) -> NodeId {
        let frame = body.frame;
        let with = |block: &'a Block| [&inside[..], &[&block[..]]].concat();
        match &statement.kind {
            StatementKind::If {
                condition,
                likely,
                then,
                otherwise,
            } => {
                let then = self.rest(body, with(then), due.clone());
                let otherwise = self.rest(body, with(otherwise), due);
                self.test(frame.expression(condition), *likely, then, otherwise)
            }
            StatementKind::Match {
                value,
                cases,
                otherwise,
            } => {
                let cases = cases.iter().map(|(value, likely, block)| {
                    let node = self.rest(body, with(block), due.clone());
                    (*value, Probability::of(*likely), node)
                });
                let cases = cases.collect();
                let otherwise = self.rest(body, with(otherwise), due);
                let value = frame.expression(value);
                self.branch(Node::Case {
                    value,
                    cases,
                    otherwise,
                })
            }
            other => unreachable!("a branch, not {other:?}"),
        }
    }

    pub fn test(
        &mut self,
        condition: Expression,
        likely: Likely,
        then: NodeId,
        otherwise: NodeId,
    ) -> NodeId {
        match condition.truth() {
            Some(true) => then,
            Some(false) => otherwise,
            None => self.branch(Node::Test {
                condition,
                likely: Probability::of(likely),
                then,
                otherwise,
            }),
        }
    }

    /// Something that may fail.
    #[allow(clippy::too_many_arguments)]
    fn attempt(
        &mut self,
        body: &mut Body<'a, '_>,
        attempt: &'a Attempt,
        bind: Option<LocalId>,
        likely: Likely,
        done: Rests<'a>,
        failed: Rests<'a>,
        due: Due,
    ) -> NodeId {
        match attempt {
            Attempt::Instance(steps) => {
                let bind = bind.expect("an instance that is looked for has a name");
                let found = |lowering: &mut Self, body: &mut Body<'a, '_>, due: Due| {
                    lowering.rest(body, done.clone(), due)
                };
                let otherwise = self.rest(body, failed, due.clone());
                self.searched(body, steps, bind, likely, due, &found, otherwise)
            }
            Attempt::Value(value) => {
                let value = body.frame.expression(value);
                let done = self.rest(body, done, due.clone());
                let failed = self.rest(body, failed, due);
                let present = ExpressionKind::Present(value.clone());
                let inner = match &value.result {
                    Type::Optional(inner) => (**inner).clone(),
                    other => other.clone(),
                };
                let unwrapped = Expression::new(ExpressionKind::Unwrap(value), inner);
                let done = match bind {
                    Some(local) => self.act(Action::Let(local, unwrapped), done),
                    None => done,
                };
                self.test(Expression::new(present, Type::Bool), likely, done, failed)
            }
            _ => {
                let attempt = body.frame.renamed(|renaming| renaming.attempt(attempt));
                let likely = match (&attempt, likely) {
                    (Attempt::Message(_), None) => BUFFER_IS_FREE,
                    (_, likely) => Probability::of(likely),
                };
                let done = match bind {
                    Some(bind) if matches!(attempt, Attempt::Peek(..)) => {
                        self.peeked(body, bind, done, due.clone())
                    }
                    _ => self.rest(body, done, due.clone()),
                };
                let failed = self.rest(body, failed, due);
                self.tried(attempt, bind, likely, done, failed)
            }
        }
    }

    /// What follows where a header was peeked at: what is read of it when its bytes may be gone is
    /// read before.
    fn peeked(
        &mut self,
        body: &mut Body<'a, '_>,
        header: LocalId,
        done: Rests<'a>,
        due: Due,
    ) -> NodeId {
        let mut locals = body.frame.locals.iter();
        let written = locals.position(|local| *local == header);
        let written = LocalId(written.expect("what is bound was declared") as u32);
        let late = reads::late_peeked_reads(self.program, &done, written);
        if late.is_empty() {
            return self.rest(body, done, due);
        }
        let mut frame = body.frame.clone();
        let first = self.taken_early(&mut frame, late);
        let next = self.rest(&mut body.with(&frame), done, due);
        self.steps(first, next)
    }

    fn tried(
        &mut self,
        attempt: Attempt,
        bind: Option<LocalId>,
        likely: Probability,
        done: NodeId,
        failed: NodeId,
    ) -> NodeId {
        self.branch(Node::Try {
            attempt,
            bind,
            likely,
            done,
            failed,
        })
    }

    /// A message that needs a buffer; without one, `failed`.
    pub fn message_from(
        &mut self,
        source: crate::types::statement::Source,
        bind: LocalId,
        done: NodeId,
        failed: NodeId,
    ) -> NodeId {
        self.tried(
            Attempt::Message(source),
            Some(bind),
            BUFFER_IS_FREE,
            done,
            failed,
        )
    }

    /// Looks for an instance, step by step.
    #[allow(clippy::too_many_arguments)]
    fn searched(
        &mut self,
        body: &mut Body<'a, '_>,
        steps: &'a [Search],
        bind: LocalId,
        likely: Likely,
        due: Due,
        found: &dyn Fn(&mut Self, &mut Body<'a, '_>, Due) -> NodeId,
        otherwise: NodeId,
    ) -> NodeId {
        let Some((step, others)) = steps.split_first() else {
            return otherwise;
        };
        let missing = self.searched(body, others, bind, AS_A_RULE, due.clone(), found, otherwise);
        let frame = body.frame;
        match step {
            Search::Find(target) => {
                let keys = target
                    .keys
                    .iter()
                    .map(|key| frame.expression(key))
                    .collect();
                let condition = target.condition.as_ref().map(|c| frame.expression(c));
                let mut matched = |lowering: &mut Self, index: Index| match index {
                    Index::Only(at) => {
                        let mut known = body.frame.clone();
                        known.found.push((bind, at));
                        found(lowering, &mut body.with(&known), due.clone())
                    }
                    Index::Label(_) | Index::Any => found(lowering, body, due.clone()),
                };
                let kind = target.kind;
                self.find(kind, keys, condition, bind, likely, &mut matched, missing)
            }
            Search::Soonest(kind, timer, keys) => {
                let keys = keys.iter().map(|key| frame.expression(key)).collect();
                let soonest = Attempt::Instance(vec![Search::Soonest(*kind, *timer, keys)]);
                let here = found(self, body, due);
                self.tried(soonest, Some(bind), Probability::of(likely), here, missing)
            }
            Search::Standing(..) => unreachable!("only trees look for what stands on a session"),
            Search::Create(kind, keys, listener) => {
                let keys = keys.iter().map(|key| frame.expression(key)).collect();
                let how = self.program.listening(*kind);
                let listener = listener.filter(|_| how.is_some());
                let listener = listener.map(|one| frame.renamed(|to| (to.instance)(one)));
                let mut due = due;
                self.starts(*kind, Instance::Local(bind), &mut due);
                if let (Some(_), Some((port, how))) = (listener, how)
                    && how.opened.is_none()
                {
                    due.outputs.push(accepted(port, bind));
                }
                let made = found(self, body, due);
                let create = Attempt::Instance(vec![Search::Create(*kind, keys, listener)]);
                self.tried(create, Some(bind), Probability::of(likely), made, missing)
            }
        }
    }

    /// Looks for one instance: of a static kind by comparing keys, of a dynamic one in its table.
    #[allow(clippy::too_many_arguments)]
    pub fn find(
        &mut self,
        kind: KindId,
        keys: Vec<Expression>,
        condition: Option<Expression>,
        bind: LocalId,
        likely: Likely,
        matched: &mut dyn FnMut(&mut Self, Index) -> NodeId,
        missing: NodeId,
    ) -> NodeId {
        let node = match &self.program.kinds[kind.at()].population {
            Population::Static(instances) | Population::Labelled(instances) => {
                let mut node = missing;
                for (behind, instance) in instances.iter().rev().enumerate() {
                    let at = instances.len() - 1 - behind;
                    let here = self.matched_one(kind, at as u32, &keys, bind, matched);
                    // One of those that are left, as a rule, and each as likely as the others.
                    let share = likely.or(AS_A_RULE).map(|all| all / (behind + 1) as f64);
                    node = self.test(
                        Expression::all_equal(&keys, &instance.keys),
                        share,
                        here,
                        node,
                    );
                }
                node
            }
            Population::Dynamic { .. } => {
                let target = Target {
                    kind,
                    keys,
                    condition: None,
                };
                let find = Attempt::Instance(vec![Search::Find(target)]);
                let here = matched(self, Index::Any);
                self.tried(find, Some(bind), Probability::of(likely), here, missing)
            }
        };
        match condition {
            Some(condition) => self.test(condition, None, node, missing),
            None => node,
        }
    }
}

impl Lowering<'_> {
    /// One of those that are there anyway is found; that of a label by the session below.
    fn matched_one(
        &mut self,
        kind: KindId,
        at: u32,
        keys: &[Expression],
        bind: LocalId,
        matched: &mut dyn FnMut(&mut Self, Index) -> NodeId,
    ) -> NodeId {
        if self.program.sessions_below(kind).is_none() {
            return matched(self, Index::Only(at));
        }
        let here = matched(self, Index::Label(at));
        let below = keys.last().expect("its last key is the session below");
        let slot = self.slot(kind, at, below.clone());
        self.act(Action::Let(bind, slot), here)
    }
}

/// The application is told of a session that it has not opened, before all that this delivers.
fn accepted(port: PortId, session: LocalId) -> Output {
    Output::One {
        goal: Goal::Port(port, Instance::Local(session), Event::Start),
        message: None,
        arguments: Vec::new(),
    }
}
