//! What processes do: signals, waiting, what runs in parallel.
//!
//! All that the processes and handlers of a kind do becomes one block, in which a process that is
//! run stands where it is run. What a word means across a wait cannot be a local: it becomes a
//! field of the instance.

mod doing;
mod hearing;
mod keeping;
mod running;
mod unused;
mod waiting;

use crate::diagnostic::{Diagnostic, Id, Severity};
use crate::source::Span;
use crate::syntax::loom::ast;
use crate::types::body::flow::{Flow, Holding};
use crate::types::body::statement::last_brace;
use crate::types::body::words::{Body, Place, make};
use crate::types::context::Context;
use crate::types::expression::{Expression, ExpressionKind, Instance};
use crate::types::kernel;
use crate::types::process::{Presence, Role as Emitter, SignalId};
use crate::types::processes::Process;
use crate::types::program::{Event, FieldId, Handler, Local, LocalId, Population};
use crate::types::scope::{Named, Scope};
use crate::types::statement::{Block, React, Statement, StatementKind};
use crate::types::value::Type;
use std::collections::{BTreeMap, BTreeSet};

/// All that the instances of a kind do.
pub struct Doings<'a> {
    /// What can be named in the instance.
    pub scope: &'a Scope,
    /// What can be named in each process of the layer.
    pub scopes: &'a [Scope],
    /// All processes of the layer.
    pub processes: &'a [Process<'a>],
    /// Those of this kind.
    pub own: Vec<usize>,
    /// The instance's handlers.
    pub handlers: &'a [&'a ast::Handler],
    /// What runs from the start.
    pub run: Option<&'a ast::Parallel>,
    /// What words mean as events, and what these bring.
    pub events: BTreeMap<String, (Event, Vec<Local>)>,
}

/// What is known of processes while they are checked.
pub(super) struct Reacts<'a> {
    doings: &'a Doings<'a>,
    /// Inputs so far, and the locals that hold what they bring.
    events: Vec<(Event, SignalId, Vec<LocalId>)>,
    /// The traps around, innermost last; those around the `run` of a process have no name in it.
    traps: Vec<Option<String>>,
    /// The processes that are being run, one within the other.
    running: Vec<usize>,
    /// All that were run.
    ran: BTreeSet<usize>,
    /// What is kept across waits, and in which field.
    kept: BTreeMap<LocalId, FieldId>,
    /// Whether something waits behind the statement that is checked, in its block.
    waits_behind: bool,
}

/// What a delay hears.
struct Heard {
    signals: Vec<SignalId>,
    /// What is done first of all.
    first: Block,
    message: Option<LocalId>,
}

/// Checks all that a kind does, and adds it to the program: the processes, and a handler for each
/// event.
pub(super) fn reactive(context: &mut Context, doings: &Doings) -> Vec<Handler> {
    let kind = doings.scope.kind;
    let mut body = Body::new(context, doings.scope, Place::Handler(Event::Deliver));
    body.reacts = Some(Reacts {
        doings,
        events: Vec::new(),
        traps: Vec::new(),
        running: Vec::new(),
        ran: BTreeSet::new(),
        kept: BTreeMap::new(),
        waits_behind: false,
    });
    let span = body.context.program.entities[doings.scope.entity.at()].span;
    body.input(Event::Start, &[], "start", span);
    let root = body.everything();
    let reacts = body.reacts.take().expect("nobody takes it before");
    let (events, ran) = (reacts.events, reacts.ran);
    let locals = std::mem::take(&mut body.locals);
    let reactive = context.program.kinds[kind.at()].reactive.as_ref();
    let signals = reactive.map(|reactive| &reactive.processes.signals);
    let written = |signal: &SignalId| signals.map_or(span, |all| all[signal.at()].span);
    let handler = |(event, signal, parameters): &(Event, SignalId, Vec<LocalId>)| Handler {
        kind,
        event: *event,
        locals: locals.clone(),
        parameters: parameters.clone(),
        body: root.clone(),
        blocks: Vec::new(),
        places: Vec::new(),
        meets: false,
        span: written(signal),
    };
    let handlers = events.iter().map(handler).collect();
    let table = &mut context.program.kinds[kind.at()];
    let reactive = table.reactive.as_mut().expect("who has processes reacts");
    reactive.events = events;
    reactive.locals = locals;
    kernel::lower(context, kind, &root, span);
    let mut found = context.diagnostics.iter();
    if !found.any(|one| one.severity == Severity::Error) {
        let reactive = context.program.kinds[kind.at()].reactive.as_ref();
        let warnings = reactive.map(|reactive| unused::unused(doings, reactive, &ran));
        context.diagnostics.extend(warnings.unwrap_or_default());
    }
    handlers
}

/// Whether the instance itself ends somewhere in a block.
fn says_end(block: &Block) -> bool {
    block.iter().any(|statement| {
        let itself = matches!(statement.kind, StatementKind::End(Instance::Own, _));
        itself || statement.blocks().into_iter().any(says_end)
    })
}

/// A block as a statement: what takes the place of the rest of the block ends with it.
fn whole(block: Block, span: Span) -> Statement {
    statement(React::Parallel(vec![block]), span)
}

fn statement(kind: React, span: Span) -> Statement {
    let kind = StatementKind::React(Box::new(kind));
    Statement { kind, span }
}

impl<'a> Body<'a, '_> {
    fn reacts(&mut self) -> &mut Reacts<'a> {
        self.reacts.as_mut().expect("only processes react")
    }

    fn entity_span(&self) -> Span {
        self.context.program.entities[self.scope.entity.at()].span
    }

    /// All branches: handlers always run, and each process from the start that `run` names.
    fn everything(&mut self) -> Block {
        let doings = self.reacts().doings;
        let mut branches = vec![self.handlers_of(None)];
        let mut placed = Vec::new();
        let mut bodies = Vec::new();
        let run = doings.run.map_or(&[][..], |run| &run.branches);
        for branch in run {
            if let ast::ParallelBranch::Process { name, .. } = branch
                && let Some(Named::Process(at)) = name
                    .single()
                    .and_then(|name| self.scope.names.get(&name.text))
            {
                placed.push(*at as usize);
                branches.push(self.handlers_of(Some(*at as usize)));
            }
            bodies.push(branches.len());
            let span = doings.run.map_or(self.entity_span(), |run| run.span);
            self.flow = Flow::default();
            branches.push(self.run_branch(branch, span));
        }
        for at in doings.own.clone() {
            let top = doings.processes[at].parent.is_none();
            if top && !placed.contains(&at) {
                branches.push(self.handlers_of(Some(at)));
            }
        }
        if let Some(run) = doings.run {
            self.end_behind(&bodies, &mut branches, run.span);
        }
        branches.retain(|branch| !branch.is_empty());
        let span = doings.run.map_or(self.entity_span(), |run| run.span);
        vec![statement(React::Parallel(branches), span)]
    }

    /// An instance whose processes have all terminated ends, if such instances can, and if nothing
    /// in it says itself when it ends.
    fn end_behind(&mut self, bodies: &[usize], branches: &mut Vec<Block>, span: Span) {
        let kind = self.scope.kind;
        let population = &self.context.program.kinds[kind.at()].population;
        if !matches!(population, Population::Dynamic { .. }) || branches.iter().any(says_end) {
            return;
        }
        let end = Statement {
            kind: StatementKind::End(Instance::Own, kind),
            span,
        };
        if let [only] = bodies {
            let body = std::mem::take(&mut branches[*only]);
            branches[*only] = vec![whole(body, span), end];
            return;
        }
        let mut all = Presence::Always;
        for body in bodies {
            let done = self.new_signal("terminated", Emitter::Local, span);
            let sustained = vec![
                statement(React::Emit(done, None), span),
                statement(React::Pause, span),
            ];
            let ended = std::mem::take(&mut branches[*body]);
            let sustained = statement(React::Loop(sustained), span);
            branches[*body] = vec![whole(ended, span), sustained];
            all = all.and(Presence::Now(done));
        }
        let halt = statement(React::Loop(vec![statement(React::Pause, span)]), span);
        let ended = Statement {
            kind: StatementKind::If {
                condition: asked(all),
                likely: Some(0.1),
                then: vec![end, halt],
                otherwise: Vec::new(),
            },
            span,
        };
        branches.push(vec![statement(
            React::Loop(vec![ended, statement(React::Pause, span)]),
            span,
        )]);
    }

    /// The handlers of the instance, or of a process and of those in it: in every instant, in the
    /// order of writing.
    fn handlers_of(&mut self, process: Option<usize>) -> Block {
        let doings = self.reacts().doings;
        let mut turn = Block::new();
        match process {
            None => {
                for handler in doings.handlers {
                    turn.extend(self.reacting_handler(handler));
                }
            }
            Some(at) => {
                let around = std::mem::replace(&mut self.scope, &doings.scopes[at]);
                for member in &doings.processes[at].source.members {
                    if let ast::Member::Handler(handler) = member {
                        turn.extend(self.reacting_handler(handler));
                    }
                }
                self.scope = around;
            }
        }
        let mut block = Block::new();
        if let Some(first) = turn.first() {
            let span = first.span;
            turn.push(statement(React::Pause, span));
            block.push(statement(React::Loop(turn), span));
        }
        if let Some(at) = process {
            let inner = doings.own.iter().copied();
            let inner = inner.filter(|one| doings.processes[*one].parent == Some(at));
            let mut branches: Vec<Block> = inner.map(|one| self.handlers_of(Some(one))).collect();
            branches.retain(|branch| !branch.is_empty());
            if !branches.is_empty() {
                branches.insert(0, block);
                branches.retain(|branch| !branch.is_empty());
                block = vec![statement(React::Parallel(branches), self.entity_span())];
            }
        }
        block
    }

    /// What a handler does, in the instants in which its event comes.
    fn reacting_handler(&mut self, source: &ast::Handler) -> Block {
        if let Some(wait) = source.body.statements.iter().find(|one| self.waits(one)) {
            let title = "a handler cannot wait";
            let mistake = Diagnostic::error(Id::NotHere, title, wait.span, "waits");
            self.report(mistake.help("move it into a process"));
            return Block::new();
        }
        let words = self.words.len();
        self.flow = Flow::default();
        let Some(heard) = self.heard(&source.event, false) else {
            self.leave_words(words);
            return Block::new();
        };
        let (mut then, before) = match &source.condition {
            None => (self.with_message(&heard, &source.body), Block::new()),
            Some(condition) => {
                let (condition, before) = self.ahead(|body| body.question(condition));
                self.assume(&condition, true);
                let then = self.with_message(&heard, &source.body);
                let inner = Statement {
                    kind: StatementKind::If {
                        condition,
                        likely: None,
                        then,
                        otherwise: Block::new(),
                    },
                    span: source.span,
                };
                (vec![inner], before)
            }
        };
        then.splice(0..0, heard.first.into_iter().chain(before));
        self.words.truncate(words);
        vec![Statement {
            kind: StatementKind::If {
                condition: asked(Presence::any(&heard.signals)),
                likely: None,
                then,
                otherwise: Block::new(),
            },
            span: source.span,
        }]
    }

    /// A block in the instant of an event that may bring a message: the block's own, if it uses
    /// the message up.
    fn with_message(&mut self, heard: &Heard, source: &ast::Block) -> Block {
        if let Some(message) = heard.message {
            self.own(message);
        }
        let mut block = self.block(source);
        let Some(message) = heard.message else {
            return block;
        };
        match self.flow.messages.get(&message) {
            Some(Holding::Owned | Holding::Unknown) | None => {
                self.flow.messages.remove(&message);
            }
            Some(Holding::Gone(_) | Holding::Perhaps { .. }) => {
                self.check_gone([message].into_iter(), last_brace(source.span));
                block.insert(0, statement(React::Take(message), source.span));
            }
        }
        block
    }
}

/// Whether signals are present, as a condition.
fn asked(presence: Presence) -> Expression {
    make(ExpressionKind::Signal(presence), Type::Bool)
}
