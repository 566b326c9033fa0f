//! Forest -> text.

mod attempt;
mod expression;

use super::names::Names;
use super::natural::Tables;
use crate::tree::walk::{children, reachable};
use crate::tree::{Action, Forest, Goal, Loop, Node, NodeId, Output, Probability, Range, Tree};
use crate::types::expression::{Expression, Instance};
use crate::types::program::{HeaderFieldId, HeaderId, KindId, LocalId, Program, TimerId};
use std::collections::{BTreeMap, BTreeSet};

/// The text of a forest.
pub fn write(program: &Program, forest: &Forest) -> String {
    let locals = &forest.locals[..];
    let mut writer = Writer {
        tables: Tables { program, locals },
        names: Names::new(program),
        forest,
        labels: labels(forest),
        written: BTreeSet::new(),
        out: String::new(),
    };
    for tree in &forest.trees {
        writer.tree(tree);
        writer.out.push('\n');
    }
    for (id, local) in locals.iter().enumerate() {
        let kind = writer.kind(&local.kind);
        writer.line(
            0,
            &format!("local {}: {kind}", writer.local(LocalId(id as u32))),
        );
    }
    writer.out
}

struct Writer<'a> {
    tables: Tables<'a>,
    names: Names,
    forest: &'a Forest,
    /// The labels of nodes that are reached in several ways.
    labels: BTreeMap<NodeId, String>,
    /// Which of them are written already.
    written: BTreeSet<NodeId>,
    out: String,
}

/// Labels for nodes that are reached in several ways; an empty leaf says itself what it is.
fn labels(forest: &Forest) -> BTreeMap<NodeId, String> {
    let mut ways: BTreeMap<NodeId, u32> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for tree in &forest.trees {
        *ways.entry(tree.root).or_default() += 1;
        for node in reachable(forest, tree.root) {
            if seen.insert(node) {
                for child in children(forest.arena.node(node)) {
                    *ways.entry(child).or_default() += 1;
                }
            }
        }
    }
    let is_empty = |node: NodeId| match forest.arena.node(node) {
        Node::Leaf { outputs } => outputs.is_empty(),
        Node::Test { .. } | Node::Case { .. } | Node::Try { .. } | Node::Act { .. } => false,
    };
    let shared = ways
        .into_iter()
        .filter(|(node, ways)| *ways > 1 && !is_empty(*node));
    shared
        .map(|(node, _)| (node, format!("n{}", node.0)))
        .collect()
}

/// Nodes: each on its line, what it leads to below it.
impl Writer<'_> {
    fn line(&mut self, depth: usize, text: &str) {
        self.out += &"  ".repeat(depth);
        self.out += text;
        self.out.push('\n');
    }

    fn tree(&mut self, tree: &Tree) {
        let reaction = self.names.reaction(tree.reaction);
        self.line(0, &format!("tree {reaction}"));
        let given = &tree.parameters;
        let mut text = String::new();
        if let Some(instance) = given.instance {
            text += &format!(" instance {}", self.local(instance));
        }
        if let Some(message) = given.message {
            text += &format!(" message {}", self.local(message));
        }
        for argument in &given.arguments {
            text += &format!(" argument {}", self.local(*argument));
        }
        if !text.is_empty() {
            self.line(1, &format!("given{text}"));
        }
        self.node(tree.root, 1);
    }

    fn node(&mut self, id: NodeId, depth: usize) {
        if let Some(label) = self.labels.get(&id).cloned() {
            if !self.written.insert(id) {
                return self.line(depth, &format!("go {label}"));
            }
            self.line(depth, &format!("label {label}"));
        }
        match self.forest.arena.node(id) {
            Node::Test {
                condition,
                likely,
                then,
                otherwise,
            } => {
                let condition = self.expression(condition);
                self.line(
                    depth,
                    &format!("test {condition} likely {}", percent(*likely)),
                );
                self.node(*then, depth + 1);
                self.line(depth, "else");
                self.node(*otherwise, depth + 1);
            }
            Node::Case {
                value,
                cases,
                otherwise,
            } => {
                let value = self.expression(value);
                self.line(depth, &format!("case {value}"));
                for (value, likely, node) in cases {
                    self.line(depth, &format!("is {value} likely {}", percent(*likely)));
                    self.node(*node, depth + 1);
                }
                self.line(depth, "else");
                self.node(*otherwise, depth + 1);
            }
            Node::Try {
                attempt,
                bind,
                likely,
                done,
                failed,
            } => {
                let attempt = self.attempt(attempt);
                let bind = bind.map(|local| format!(" as {}", self.local(local)));
                let bind = bind.unwrap_or_default();
                self.line(
                    depth,
                    &format!("try {attempt}{bind} likely {}", percent(*likely)),
                );
                self.node(*done, depth + 1);
                self.line(depth, "else");
                self.node(*failed, depth + 1);
            }
            Node::Act { action, next } => {
                self.action(action, depth);
                self.node(*next, depth);
            }
            Node::Leaf { outputs } => {
                self.line(depth, "leaf");
                self.outputs(outputs, depth + 1);
            }
        }
    }

    fn action(&mut self, action: &Action, depth: usize) {
        match action {
            Action::Loop(turns) => self.turns("loop", turns, depth),
            Action::Wait(outputs) => {
                self.line(depth, "wait");
                self.outputs(outputs, depth + 1);
            }
            Action::Put(outputs) => {
                self.line(depth, "put");
                self.outputs(outputs, depth + 1);
            }
            Action::Answer(outputs) => {
                self.line(depth, "answer");
                self.outputs(outputs, depth + 1);
            }
            Action::Let(..)
            | Action::Assign(..)
            | Action::SetAttribute(..)
            | Action::Strip(..)
            | Action::StripRest(..)
            | Action::Push { .. }
            | Action::Sum { .. }
            | Action::Scan { .. }
            | Action::Do(_)
            | Action::Drop(..)
            | Action::DropAll(..)
            | Action::Consume(_)
            | Action::Count(_)
            | Action::Pass(_)
            | Action::StartTimer(..)
            | Action::StopTimer(..)
            | Action::End(..)
            | Action::Begin
            | Action::Turn
            | Action::AtOnce
            | Action::Mark(_)
            | Action::Precede(..)
            | Action::Free(..) => {
                let step = self.step(action);
                self.line(depth, &step);
            }
        }
    }

    fn turns(&mut self, word: &str, turns: &Loop, depth: usize) {
        let local = self.local(turns.local);
        let over = match &turns.range {
            Range::Numbers {
                from,
                to,
                at_most,
                clamped,
            } => {
                let clamped = clamped.map(|id| format!(" clamped {}", self.names.counts[id.at()]));
                let clamped = clamped.unwrap_or_default();
                let (from, to) = (self.expression(from), self.expression(to));
                format!("from {from} to {to} most {at_most}{clamped}")
            }
            Range::Queue(queue, most) => format!("of {} most {most}", self.variable(queue)),
        };
        self.line(depth, &format!("{word} {local} {over}"));
        self.node(turns.body, depth + 1);
    }

    fn outputs(&mut self, outputs: &[Output], depth: usize) {
        for output in outputs {
            match output {
                Output::One {
                    goal,
                    message,
                    arguments,
                } => {
                    let message = message.map(|local| format!(" message {}", self.local(local)));
                    let message = message.unwrap_or_default();
                    let (goal, arguments) = (self.goal(*goal), self.list(arguments));
                    self.line(depth, &format!("one {goal}{message} {arguments}"));
                }
                Output::Many(turns) => self.turns("many", turns, depth),
                Output::Every {
                    kind,
                    on,
                    local,
                    goal,
                    arguments,
                } => {
                    let kind = self.names.kind(*kind);
                    let on = on.map(|on| format!(" on [{}]", self.which(on)));
                    let on = on.unwrap_or_default();
                    let (local, goal) = (self.local(*local), self.goal(*goal));
                    let arguments = self.list(arguments);
                    self.line(
                        depth,
                        &format!("every {kind}{on} {local} {goal} {arguments}"),
                    );
                }
            }
        }
    }
}

/// What stands in one line.
impl Writer<'_> {
    fn step(&self, action: &Action) -> String {
        let local = |id: &LocalId| self.local(*id);
        match action {
            Action::Let(bind, value) => format!("let {} = {}", local(bind), self.expression(value)),
            Action::Assign(place, value) => {
                format!("set {} = {}", self.variable(place), self.expression(value))
            }
            Action::SetAttribute(message, id, value) => {
                let name = &self.names.attributes[id.at()];
                format!(
                    "attribute {} {name} = {}",
                    local(message),
                    self.expression(value)
                )
            }
            Action::Strip(message, header) => {
                format!(
                    "strip {} {}",
                    local(message),
                    self.names.headers[header.at()]
                )
            }
            Action::StripRest(message, count) => {
                format!("strip_rest {} {}", local(message), self.expression(count))
            }
            Action::Push { .. } | Action::Sum { .. } | Action::Scan { .. } => self.on_bytes(action),
            Action::Do(operation) => format!("do {}", self.operation(operation)),
            Action::Drop(message, reason) => {
                format!(
                    "drop {} {}",
                    local(message),
                    self.names.reasons[reason.at()]
                )
            }
            Action::DropAll(container, reason) => {
                let reason = &self.names.reasons[reason.at()];
                format!("drop_all {} {reason}", self.variable(container))
            }
            Action::Consume(message) => format!("consume {}", local(message)),
            Action::Count(id) => format!("count {}", self.names.counts[id.at()]),
            Action::Pass(way) => format!("pass {way}"),
            Action::StartTimer(instance, kind, timer, after) => {
                let timer = self.timer(*instance, *kind, *timer);
                format!("start {timer} after {}", self.expression(after))
            }
            Action::StopTimer(instance, kind, timer) => {
                format!("stop {}", self.timer(*instance, *kind, *timer))
            }
            Action::End(instance, kind) => format!("end {}", self.instance(*instance, *kind)),
            Action::Free(instance, kind) => format!("free {}", self.instance(*instance, *kind)),
            Action::Begin => "begin".to_string(),
            Action::Turn => "turn".to_string(),
            Action::AtOnce => "at_once".to_string(),
            Action::Mark(mark) => format!("mark {}", local(mark)),
            Action::Precede(first, mark) => format!("precede {} {}", local(first), local(mark)),
            Action::Loop(_) | Action::Wait(_) | Action::Put(_) | Action::Answer(_) => {
                unreachable!("these take several lines")
            }
        }
    }

    fn on_bytes(&self, action: &Action) -> String {
        let local = |id: &LocalId| self.local(*id);
        match action {
            Action::Push {
                message,
                header,
                values,
                below,
            } => {
                let name = &self.names.headers[header.at()];
                let field = |(id, value): &(HeaderFieldId, Expression)| {
                    let field = &self.names.header_fields[header.at()][id.at()];
                    format!("{field} = {}", self.expression(value))
                };
                let values: Vec<String> = values.iter().map(field).collect();
                let below = below.as_ref();
                let below = below.map_or(String::new(), |e| format!(" on {}", self.expression(e)));
                let values = values.join(", ");
                format!("push {} {name} ({values}){below}", local(message))
            }
            Action::Sum {
                bind,
                message,
                header,
                field,
                arguments,
            } => {
                let (field, arguments) = (self.field(*header, *field), self.list(arguments));
                format!(
                    "sum {} = {field} {} {arguments}",
                    local(bind),
                    local(message)
                )
            }
            Action::Scan {
                bind,
                message,
                filter,
                arguments,
            } => {
                let filter = &self.names.filters[filter.at()];
                let arguments = self.list(arguments);
                format!(
                    "scan {} = {filter} {} {arguments}",
                    local(bind),
                    local(message)
                )
            }
            other => unreachable!("{other:?} is about no bytes"),
        }
    }

    fn goal(&self, goal: Goal) -> String {
        match goal {
            Goal::Frame(link) => format!("frame {}", self.names.links[link.at()]),
            Goal::Port(port, instance, event) => {
                let port = &self.names.ports[port.at()];
                format!(
                    "port {port}[{}] {}",
                    self.which(instance),
                    self.names.event(event)
                )
            }
            Goal::Reaction(reaction, instance) => {
                let given = instance.map(|instance| format!(" given {}", self.which(instance)));
                format!(
                    "{}{}",
                    self.names.reaction(reaction),
                    given.unwrap_or_default()
                )
            }
        }
    }

    fn instance(&self, instance: Instance, kind: KindId) -> String {
        format!("{}[{}]", self.names.kind(kind), self.which(instance))
    }

    fn which(&self, instance: Instance) -> String {
        match instance {
            Instance::Own => "own".to_string(),
            Instance::Entity => "record".to_string(),
            Instance::Local(local) => self.local(local),
            Instance::Only(index) => index.to_string(),
        }
    }

    fn timer(&self, instance: Instance, kind: KindId, timer: TimerId) -> String {
        let name = &self.names.timers[kind.at()][timer.at()];
        format!("{}.{name}", self.instance(instance, kind))
    }

    fn field(&self, header: HeaderId, field: HeaderFieldId) -> String {
        let name = &self.names.header_fields[header.at()][field.at()];
        format!("{}.{name}", self.names.headers[header.at()])
    }

    fn local(&self, local: LocalId) -> String {
        match self.tables.locals.get(local.at()) {
            Some(declared) => format!("{}@{}", declared.name, local.0),
            None => format!("@{}", local.0),
        }
    }

    fn list(&self, expressions: &[Expression]) -> String {
        let all: Vec<String> = expressions.iter().map(|one| self.expression(one)).collect();
        format!("({})", all.join(", "))
    }
}

/// A share in percent, without zeros at its end.
fn percent(likely: Probability) -> String {
    let text = format!("{}.{:04}", likely.0 / 10_000, likely.0 % 10_000);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text}%")
}
