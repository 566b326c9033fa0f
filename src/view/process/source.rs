//! The statements, waits and handlers of a layer, by where they are written.
//!
//! In: the syntax tree of a layer. Out: its processes, and an index by spans.

use crate::source::Span;
use crate::syntax::loom::ast::{
    Block, Case, Delay, Expression, Handler, Item, Layer, Member, Process, Statement, StatementKind,
};
use std::collections::BTreeMap;

/// A process of a layer.
#[derive(Clone, Copy, Debug)]
pub struct Selected<'a> {
    /// The layer.
    pub layer: &'a Layer,
    /// The process.
    pub process: &'a Process,
}

impl Selected<'_> {
    /// The places of its handlers, and of those of the processes in it.
    pub fn handlers(&self) -> Vec<Span> {
        let mut handlers = Vec::new();
        let mut open = vec![self.process];
        while let Some(process) = open.pop() {
            for member in &process.members {
                match member {
                    Member::Handler(handler) => handlers.push(handler.span),
                    Member::Process(inner) => open.push(inner),
                    _of_no_code => {}
                }
            }
        }
        handlers
    }
}

/// A part of the source to which a span of an automaton leads.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// A statement.
    Statement(&'a Statement),
    /// The condition of an `else if`.
    Branch(&'a Expression),
    /// A wait.
    Delay(&'a Delay),
    /// A handler.
    Handler(&'a Handler),
}

/// Returns the processes of a layer, without those within another one.
pub fn processes(layer: &Layer) -> Vec<&Process> {
    let mut found = Vec::new();
    for item in &layer.items {
        match item {
            Item::Process(process) => found.push(process),
            Item::Instance(instance) => found.extend(of_members(&instance.members)),
            _of_no_process => {}
        }
    }
    found
}

fn of_members(members: &[Member]) -> impl Iterator<Item = &Process> {
    members.iter().filter_map(|member| match member {
        Member::Process(process) => Some(process),
        _of_another_kind => None,
    })
}

/// Returns the parts of a layer by their spans.
pub fn index(layer: &Layer) -> BTreeMap<Span, Part<'_>> {
    let mut index = BTreeMap::new();
    for item in &layer.items {
        match item {
            Item::Process(process) => add_process(process, &mut index),
            Item::Handler(handler) => add_handler(handler, &mut index),
            Item::Instance(instance) => add_members(&instance.members, &mut index),
            _of_no_code => {}
        }
    }
    index
}

fn add_process<'a>(process: &'a Process, index: &mut BTreeMap<Span, Part<'a>>) {
    add_members(&process.members, index);
    add_block(&process.body, index);
}

fn add_members<'a>(members: &'a [Member], index: &mut BTreeMap<Span, Part<'a>>) {
    for member in members {
        match member {
            Member::Process(process) => add_process(process, index),
            Member::Handler(handler) => add_handler(handler, index),
            _of_no_code => {}
        }
    }
}

fn add_handler<'a>(handler: &'a Handler, index: &mut BTreeMap<Span, Part<'a>>) {
    index.insert(handler.span, Part::Handler(handler));
    add_block(&handler.body, index);
}

fn add_block<'a>(block: &'a Block, index: &mut BTreeMap<Span, Part<'a>>) {
    for statement in &block.statements {
        index.insert(statement.span, Part::Statement(statement));
        match &statement.kind {
            StatementKind::If { branches, .. } => {
                for branch in branches.iter().skip(1) {
                    index.insert(branch.span, Part::Branch(&branch.condition));
                }
            }
            StatementKind::Await(cases) | StatementKind::Run { until: cases, .. } => {
                add_cases(cases, index);
            }
            StatementKind::Every { delay, .. } => {
                index.insert(delay.span, Part::Delay(delay));
            }
            _that_waits_for_nothing => {}
        }
        for inner in statement.kind.blocks() {
            add_block(inner, index);
        }
    }
}

fn add_cases<'a>(cases: &'a [Case], index: &mut BTreeMap<Span, Part<'a>>) {
    for case in cases {
        index.insert(case.delay.span, Part::Delay(&case.delay));
    }
}
