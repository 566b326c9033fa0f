//! One tree -> one C function, and the functions of the parts that stand for themselves.
//!
//! A test becomes an `if` whose unlikely branch stands first and leaves, so that the fast path
//! runs straight down the page; where both ways meet again, what follows is written once, behind
//! the `if`. Long parts that are rare, or that several ways lead to, become functions below.

use super::Stack;
use super::ahead;
use super::apart::Part;
use super::attempt;
use super::bypass;
use super::code::declare;
use super::layout::{c_type, parameters};
use super::output::Queued;
use super::returns::{strip_before_exit, strip_last};
use super::scope::Scope;
use super::uses::{Facts, Need};
use super::walk::{default_of, has_effects};
use crate::c::tree::{Expression as C, Function, Statement as S, assign, atom, binary, leaves};
use crate::tree::rewrites::Rewrite;
use crate::tree::walk::two_ways;
use crate::tree::{Action, Node, NodeId, Probability, Reaction, Tree};
use crate::types::expression::{Expression, Instance, Variable};
use crate::types::program::{HeaderId, LocalId};
use crate::types::value::{Type, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The code of one tree.
pub struct Body<'a> {
    /// The stack.
    pub stack: &'a Stack<'a>,
    /// The names of the function at hand.
    pub scope: Scope<'a>,
    /// The tree.
    pub tree: &'a Tree,
    /// What is known about its nodes.
    pub facts: &'a Facts,
    /// Locals that are declared where the code stands.
    pub visible: BTreeSet<LocalId>,
    /// Headers that have a name before they are stripped, on each of some ways that meet.
    pub parted: BTreeSet<HeaderId>,
    /// Nodes that stand in functions of their own.
    pub apart: &'a BTreeMap<NodeId, Part>,
    /// How many loops stand around the code.
    pub turns: u32,
    /// Whether it is a bypass, which says whether it went that path.
    pub is_bypass: bool,
    /// What has been put on the agenda.
    pub queued: BTreeSet<Queued>,
}

/// What is declared around a block, and what it is called.
pub type Block<'a> = (BTreeSet<LocalId>, Scope<'a>);

/// The function of a tree, or of a part of it, and what it puts on the agenda.
pub fn function(
    stack: &Stack,
    tree: &Tree,
    facts: &Facts,
    apart: &BTreeMap<NodeId, Part>,
    part: Option<NodeId>,
) -> (Function, BTreeSet<Queued>) {
    let mut body = Body {
        stack,
        scope: Scope::new(stack, &stack.forest.locals),
        tree,
        facts,
        visible: BTreeSet::new(),
        parted: BTreeSet::new(),
        apart,
        turns: 0,
        is_bypass: stack.forest.bypasses.contains(tree),
        queued: BTreeSet::new(),
    };
    let root = part.unwrap_or(tree.root);
    let part = part.map(|node| &apart[&node]);
    let whole = part.is_none();
    let mut all = vec![format!("struct {} *stack", stack.names.stack)];
    let given: Vec<Need> = if whole {
        let own = &tree.parameters;
        let locals = own
            .instance
            .iter()
            .chain(&own.message)
            .chain(&own.arguments);
        locals.map(|local| Need::Local(*local)).collect()
    } else {
        facts.needs[&root].iter().copied().collect()
    };
    for need in given {
        all.extend(body.parameter(need));
    }
    let mut statements = Vec::new();
    if whole {
        statements.extend(body.header_of_message());
    }
    body.scope.own = body.own_index();
    body.code(root, None, true, &mut statements);
    strip_last(&mut statements);
    let function = Function {
        comment: match part {
            None => stack.reaction_comment(tree.reaction),
            Some(part) => part.comment(stack, tree.reaction),
        },
        result: "static void".to_string(),
        name: match part {
            None => stack.names.reactions[&tree.reaction].clone(),
            Some(part) => part.name.clone(),
        },
        parameters: all,
        body: statements,
    };
    (function, body.queued)
}

impl<'a> Body<'a> {
    fn parameter(&mut self, need: Need) -> Vec<String> {
        match need {
            Need::Local(local) => {
                self.visible.insert(local);
                let name = self.scope.name(local);
                parameters(self.stack, self.scope.kind(local), &name)
            }
            Need::Header(header) => {
                let name = self.header_name(header);
                let parameter = format!("uint8_t *{name}");
                self.scope.headers.insert(header, atom(name));
                vec![parameter]
            }
        }
    }

    fn header_name(&mut self, header: HeaderId) -> String {
        let own = &self.stack.program.headers[header.at()].name;
        self.scope.taken.take(&format!("{own}_header"))
    }

    /// The header that a message was told with.
    fn header_of_message(&mut self) -> Vec<S> {
        let needs = self.facts.needs[&self.tree.root].clone();
        let mut all = Vec::new();
        for need in needs {
            let Need::Header(header) = need else { continue };
            let message = self
                .tree
                .parameters
                .message
                .expect("a header comes with a message");
            let name = self.header_name(header);
            let value = self.scope.of_message(message, "header");
            self.scope.headers.insert(header, atom(&name));
            all.push(S::Declare {
                kind: "uint8_t *const".to_string(),
                name,
                value: Some(value),
            });
        }
        all
    }

    fn own_index(&mut self) -> Option<C> {
        use crate::tree::Index;
        match (self.tree.reaction, self.tree.parameters.instance) {
            (_, Some(local)) => self.scope.names.get(&local).map(atom),
            (
                Reaction::Handle {
                    index: Index::Only(n),
                    ..
                }
                | Reaction::Arrive {
                    index: Index::Only(n),
                    ..
                },
                None,
            ) => Some(atom(n.to_string())),
            (Reaction::Handle { .. } | Reaction::Arrive { .. }, None) => None,
        }
    }

    /// The statement that leaves from here.
    fn exit(&self) -> S {
        match (self.turns, self.is_bypass) {
            (0, true) => bypass::returned(true),
            (0, false) => S::Return(None),
            _ => S::Continue,
        }
    }

    /// The code from a node to where it stops; `first` where the function begins with it. What it
    /// holds is said in [`super::held`], too.
    pub fn code(&mut self, from: NodeId, stop: Option<NodeId>, first: bool, out: &mut Vec<S>) {
        let mut node = from;
        let mut first = first;
        let stack = self.stack;
        while Some(node) != stop {
            if let (false, Some(part)) = (first, self.apart.get(&node)) {
                let call = self.call_apart(node, &part.name);
                out.push(call);
                out.push(self.exit());
                return;
            }
            self.comment_origin(node, first, out);
            first = false;
            let next = match stack.forest.arena.node(node) {
                Node::Act { action, next } => {
                    self.action(action, *next, out);
                    Some(*next)
                }
                // The caller that takes a frame has made this test for the whole fast path.
                Node::Test {
                    condition, then, ..
                } if self.is_bypass && ahead::is_asked(condition) => Some(*then),
                Node::Test {
                    condition,
                    then,
                    otherwise,
                    ..
                } => {
                    let ways = (self.scope.value(condition), *then, *otherwise);
                    self.branch(node, ways, Vec::new(), stop, out)
                }
                Node::Try {
                    attempt,
                    bind,
                    done,
                    failed,
                    ..
                } => {
                    self.declare_for(node, out);
                    let (succeeds, then) = self.attempt(attempt, *bind, out);
                    self.branch(node, (succeeds, *done, *failed), then, stop, out)
                }
                Node::Case {
                    value,
                    cases,
                    otherwise,
                } => self.switch(node, value, cases, *otherwise, stop, out),
                Node::Leaf { outputs } => {
                    self.leaf(outputs, out);
                    if !leaves(out) {
                        out.push(self.exit());
                    }
                    None
                }
            };
            match next {
                Some(next) => node = next,
                None => return,
            }
        }
    }

    /// Where the code of another reaction begins, its line in the source.
    fn comment_origin(&self, node: NodeId, first: bool, out: &mut Vec<S>) {
        let origin = self.stack.forest.origins.get(&node);
        if let Some(origin) = origin.filter(|origin| !first && **origin != self.tree.reaction) {
            let line = self.stack.reaction_comment(*origin);
            out.extend((!line.is_empty()).then_some(S::Comment(line)));
        }
    }

    fn call_apart(&self, node: NodeId, name: &str) -> S {
        let mut all = vec![atom("stack")];
        for need in &self.facts.needs[&node] {
            match need {
                Need::Header(header) => all.push(self.scope.headers[header].clone()),
                Need::Local(local) => {
                    let known = self.scope.known(*local);
                    if matches!(self.scope.kind(*local), Type::Optional(_)) {
                        all.push(atom(format!("has_{known}")));
                    }
                    all.push(atom(known));
                }
            }
        }
        S::Do(C::Call(name.to_string(), all))
    }

    /// What is bound before ways meet and read behind is declared before they part.
    fn declare_for(&mut self, node: NodeId, out: &mut Vec<S>) {
        let Some(join) = self.facts.join[&node] else {
            return;
        };
        for need in self.facts.needs[&join].clone() {
            if let Need::Local(local) = need
                && !self.visible.contains(&local)
                && self.facts.bound.get(&local).is_some_and(|times| *times > 1)
            {
                out.extend(self.declare_empty(local));
            }
            if let Need::Header(header) = need
                && !self.scope.headers.contains_key(&header)
            {
                let name = self.header_name(header);
                self.scope.headers.insert(header, atom(&name));
                self.parted.insert(header);
                out.push(S::Declare {
                    kind: "uint8_t *".to_string(),
                    name,
                    value: None,
                });
            }
        }
    }

    /// A local that gets its value later.
    pub fn declare_empty(&mut self, local: LocalId) -> Vec<S> {
        if !self.visible.insert(local) {
            return Vec::new();
        }
        declare(&mut self.scope, local, None, false)
    }

    /// A local gets its value: declared here, unless it has been.
    pub fn bind(&mut self, local: LocalId, value: &Expression) -> Vec<S> {
        if self.visible.contains(&local) {
            return super::code::assign_to(&mut self.scope, &Variable::Local(local), value);
        }
        self.visible.insert(local);
        let once = self.facts.bound.get(&local).is_none_or(|times| *times == 1);
        declare(&mut self.scope, local, Some(value), once)
    }

    /// Whether a local is declared already; it is from now on.
    pub fn shows(&mut self, local: LocalId) -> bool {
        !self.visible.insert(local)
    }

    /// The same for what is no expression of the source.
    pub fn bind_c(&mut self, local: LocalId, value: C) -> S {
        let name = self.scope.name(local);
        if !self.visible.insert(local) {
            return assign(atom(name), value);
        }
        let once = self.facts.bound.get(&local).is_none_or(|times| *times == 1);
        let own = c_type(self.stack, self.scope.kind(local));
        let kind = match (once, own.ends_with('*')) {
            (true, false) => format!("const {own}"),
            (true, true) => format!("{own}const"),
            (false, _) => own,
        };
        S::Declare {
            kind,
            name,
            value: Some(value),
        }
    }

    /// A local gets an item of a container; an optional is two values.
    pub fn bind_item(&mut self, local: LocalId, item: C) -> Vec<S> {
        let Type::Optional(inner) = self.scope.kind(local).clone() else {
            return vec![self.bind_c(local, item)];
        };
        let name = self.scope.name(local);
        let parts = [
            ("bool".to_string(), format!("has_{name}"), "present"),
            (c_type(self.stack, &inner), name, "value"),
        ];
        let is_new = self.visible.insert(local);
        let once = self.facts.bound.get(&local).is_none_or(|times| *times == 1);
        let before = if once { "const " } else { "" };
        let bound = parts.into_iter().map(|(kind, name, part)| {
            let value = item.clone().member(part);
            if !is_new {
                return assign(atom(name), value);
            }
            let (kind, value) = (format!("{before}{kind}"), Some(value));
            S::Declare { kind, name, value }
        });
        bound.collect()
    }

    /// The code of one way, whose declarations end with it.
    fn way(&mut self, before: Vec<S>, node: NodeId, stop: Option<NodeId>) -> Vec<S> {
        let around = self.block();
        let mut statements = before;
        self.code(node, stop, false, &mut statements);
        strip_before_exit(&mut statements);
        self.leave(around);
        statements
    }

    /// Two ways: `then` where the condition holds. Gives the node that goes on behind them.
    fn branch(
        &mut self,
        node: NodeId,
        (holds, then, otherwise): (C, NodeId, NodeId),
        before_then: Vec<S>,
        stop: Option<NodeId>,
        out: &mut Vec<S>,
    ) -> Option<NodeId> {
        if let Some(join) = self.facts.join[&node] {
            self.declare_for(node, out);
            let one = self.way(before_then, then, Some(join));
            let other = self.way(Vec::new(), otherwise, Some(join));
            let is_all = one.is_empty() && other.is_empty();
            match self.stack.forest.arena.node(node) {
                Node::Try { .. } if is_all => out.extend(attempt::tried_alone(holds)),
                Node::Test { condition, .. } if is_all && has_effects(self.stack, condition) => {
                    out.push(S::Do(holds.cast("void")));
                }
                _ => push_if(holds, one, other, out),
            }
            return Some(join);
        }
        if let (Some(_), Some(next)) = (stop, self.facts.stays.get(&node).copied()) {
            let (leaves, way) = match next == then {
                true => (holds.negated(), otherwise),
                false => (holds, then),
            };
            push_if(leaves, self.way(before_then, way, None), Vec::new(), out);
            return Some(next);
        }
        assert!(stop.is_none(), "ways that meet nowhere lead to the end");
        if guarded_is_then(self.stack, self.facts, node, self.is_bypass) {
            let guarded = self.way(before_then, then, None);
            push_if(holds, guarded, Vec::new(), out);
            return Some(otherwise);
        }
        let guarded = self.way(Vec::new(), otherwise, None);
        push_if(holds.negated(), guarded, Vec::new(), out);
        out.extend(before_then);
        Some(then)
    }

    fn switch(
        &mut self,
        node: NodeId,
        value: &Expression,
        cases: &[(u64, Probability, NodeId)],
        otherwise: NodeId,
        stop: Option<NodeId>,
        out: &mut Vec<S>,
    ) -> Option<NodeId> {
        let join = self.facts.join[&node];
        assert!(
            join.is_some() || stop.is_none(),
            "ways that meet nowhere lead to the end"
        );
        self.declare_for(node, out);
        let mut ways: Vec<(Vec<C>, NodeId)> = Vec::new();
        for (number, _, to) in cases {
            let label = self.scope.constant(&Value::Number(*number), &value.result);
            match ways.iter_mut().find(|(_, known)| known == to) {
                Some((labels, _)) => labels.push(label),
                None => ways.push((vec![label], *to)),
            }
        }
        let asked = self.scope.value(value);
        let cases = ways
            .into_iter()
            .map(|(labels, to)| (labels, self.way(Vec::new(), to, join)));
        let cases = cases.collect();
        let (body, next) = match join {
            Some(join) => (self.way(Vec::new(), otherwise, Some(join)), join),
            None => (Vec::new(), otherwise),
        };
        out.push(S::Switch {
            value: asked,
            cases,
            otherwise: default_of(value, body),
        });
        Some(next)
    }

    /// What has a name where a block begins.
    pub fn block(&self) -> Block<'a> {
        (self.visible.clone(), self.scope.clone())
    }

    /// A block ends, and all names that were given in it.
    pub fn leave(&mut self, (visible, scope): Block<'a>) {
        self.visible = visible;
        self.scope = scope;
    }

    /// The place of a counter.
    pub fn counter(&self, count: crate::types::program::CountId) -> C {
        let name = atom(&self.stack.names.counts[count.at()]);
        atom("stack")
            .behind("counters")
            .element(binary("+", atom("COUNTED"), name))
    }

    /// Whether a local is read anywhere.
    pub fn is_read(&self, local: LocalId) -> bool {
        self.facts.read.contains(&Need::Local(local))
    }

    /// The index of an instance.
    pub fn index(&self, instance: Instance) -> C {
        self.scope.index(instance)
    }

    /// A step.
    fn action(&mut self, action: &Action, next: NodeId, out: &mut Vec<S>) {
        super::action::emit(self, action, next, out);
    }
}

/// Of two ways that meet nowhere, whether the first stands inside of the `if`: the rare one.
pub fn guarded_is_then(stack: &Stack, facts: &Facts, node: NodeId, is_bypass: bool) -> bool {
    let ways = two_ways(stack.forest.arena.node(node));
    let (likely, then, otherwise) = ways.expect("it has two ways");
    match likely {
        // As it is written; but what leaves a bypass stands first.
        _ if !is_bypass && !stack.rewrites.has(Rewrite::Turn) => true,
        Probability::EVEN => match (ends_here(stack, then), ends_here(stack, otherwise)) {
            (true, false) => true,
            (false, true) => false,
            _ => facts.size[&then] <= facts.size[&otherwise],
        },
        likely => likely < Probability::EVEN,
    }
}

/// Whether a few steps lead from a node to the end, and nothing follows.
fn ends_here(stack: &Stack, node: NodeId) -> bool {
    let mut node = node;
    for _ in 0..3 {
        match stack.forest.arena.node(node) {
            Node::Act { next, .. } => node = *next,
            Node::Leaf { outputs } => return outputs.is_empty(),
            Node::Test { .. } | Node::Case { .. } | Node::Try { .. } => return false,
        }
    }
    false
}

/// An `if`, as far as there is something to do.
fn push_if(holds: C, then: Vec<S>, otherwise: Vec<S>, out: &mut Vec<S>) {
    match (then.is_empty(), otherwise.is_empty()) {
        (true, true) => {}
        (true, false) => out.push(S::If {
            condition: holds.negated(),
            then: otherwise,
            otherwise: then,
        }),
        (false, _) if leaves(&then) && !otherwise.is_empty() => {
            out.push(S::If {
                condition: holds,
                then,
                otherwise: Vec::new(),
            });
            out.extend(otherwise);
        }
        (false, _) => out.push(S::If {
            condition: holds,
            then,
            otherwise,
        }),
    }
}
