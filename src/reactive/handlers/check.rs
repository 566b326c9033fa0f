//! What must hold at each event: its message is taken once on every path, and a header is read only
//! where one came.

use crate::diagnostic::{Diagnostic, Id};
use crate::reactive::explore::apart::{Apart, Turn};
use crate::reactive::reads;
use crate::source::Span;
use crate::tree::automaton::{Act, Automaton, Node, NodeId, StateId};
use crate::types::expression::{Expression, ExpressionKind};
use crate::types::process::{DataId, StatementId};
use crate::types::program::{Event, LocalId};
use crate::types::reactive::{Computation, Reactive};
use crate::types::statement::{Statement, StatementKind};
use crate::types::value::Type;
use std::collections::{BTreeMap, BTreeSet};

use super::{Making, is_take};

impl Making<'_> {
    /// That the event's message is taken exactly once on every path, and that a header is read only
    /// where one came.
    pub(super) fn check(
        &self,
        (event, parameters): (Event, &[LocalId]),
        whole: &Automaton,
        roots: &[(StateId, NodeId)],
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let carries = self.carries_message(parameters);
        let mut takes: BTreeMap<NodeId, BTreeSet<u8>> = BTreeMap::new();
        for (state, root) in roots {
            let counts = self::takes(self.given.reactive, &self.automaton, *root, &mut takes);
            let name = &self.given.reactive.processes.signal(self.input).name;
            let span = self.given.reactive.processes.signal(self.input).span;
            if carries && counts.contains(&0) {
                let title = format!("a message of `{name}` may be forgotten");
                let rests = self.rests(whole, *state);
                let label = match rests.is_empty() && whole.states.len() > 2 {
                    true => "no handler takes it after a process has ended",
                    false => "no handler or process takes it",
                };
                let mistake = Diagnostic::error(Id::MessageLeaked, title, span, label);
                diagnostics.push(
                    at_rest(mistake, rests)
                        .why(
                            "In each state, on every path, exactly one handler or process must use \
                            up the message. An event that a process awaits is not passed on \
                            automatically.",
                        )
                        .help(format!(
                            "add `on {name}(message) {{ … }}` beside the processes"
                        )),
                );
                break;
            }
            if counts.contains(&2) {
                let title = format!("a message of `{name}` may be used twice");
                let mistake = Diagnostic::error(
                    Id::MessageGone,
                    title,
                    span,
                    "two handlers or processes use it",
                );
                diagnostics.push(at_rest(mistake, self.rests(whole, *state)).why(
                    "In each state, on every path, exactly one handler or process must \
                            use up the message.",
                ));
                break;
            }
        }
        if event == Event::Deliver {
            return;
        }
        let computed = self.automaton.computed(roots.iter().map(|(_, root)| *root));
        for data in computed {
            if let Some(span) = self.header_read(data) {
                let name = &self.given.reactive.processes.signal(self.input).name;
                let title = format!("`{name}` has no `header`");
                diagnostics.push(
                    Diagnostic::error(Id::NoHeader, title, span, "read here").why(
                        "`header` is the header that `deliver` stripped, and exists only in \
                            that instant.",
                    ),
                );
                break;
            }
        }
    }

    /// The same, of branches that stay apart: whether it holds however they are combined.
    pub(super) fn holds_apart(
        &self,
        (event, parameters): (Event, &[LocalId]),
        apart: &Apart,
        turns: &[Turn],
    ) -> bool {
        let carries = self.carries_message(parameters);
        let taken = |turn: &Turn| -> BTreeSet<u8> {
            let automaton = &apart.branches[turn.branch].automaton;
            let mut known = BTreeMap::new();
            let ways = turn.ways.iter();
            ways.flat_map(|(_, node)| takes(self.given.reactive, automaton, *node, &mut known))
                .collect()
        };
        let never = BTreeSet::from([0]);
        let mut takers = turns.iter().filter(|turn| !taken(turn).is_subset(&never));
        let taken_once = match (takers.next(), takers.next()) {
            (None, _) => !carries,
            (Some(turn), None) => {
                turn.ways.len() == turn.from.len() && taken(turn) == BTreeSet::from([1])
            }
            (Some(_), Some(_)) => false,
        };
        let reads_header = |turn: &Turn| {
            let automaton = &apart.branches[turn.branch].automaton;
            let computed = automaton.computed(turn.ways.iter().map(|(_, node)| *node));
            computed
                .into_iter()
                .any(|data| self.header_read(data).is_some())
        };
        taken_once && (event == Event::Deliver || !turns.iter().any(reads_header))
    }

    /// Whether an event brings a message.
    fn carries_message(&self, parameters: &[LocalId]) -> bool {
        let locals = &self.given.reactive.locals;
        let mut kinds = parameters.iter().map(|local| &locals[local.at()].kind);
        kinds.any(|kind| *kind == Type::Message)
    }

    /// Where the processes rest in a state, but not in all.
    fn rests(&self, whole: &Automaton, state: StateId) -> BTreeSet<Span> {
        let processes = &self.given.reactive.processes;
        let spans = |rests: &Vec<StatementId>| -> BTreeSet<Span> {
            rests.iter().map(|rest| processes.span(*rest)).collect()
        };
        // Before the first instant, nothing rests.
        let mut others = whole.rests.iter().skip(1).map(spans);
        let first = others.next().unwrap_or_default();
        let always = others.fold(first, |all, other| &all & &other);
        &spans(&whole.rests[state.at()]) - &always
    }

    /// Where a computation reads the header of the instant.
    pub(super) fn header_read(&self, data: DataId) -> Option<Span> {
        let span = self.given.reactive.processes.data[data.at()].span;
        let reads = match self.given.reactive.computation(data) {
            Computation::Steps(block) => self.block_reads_header(block),
            Computation::Choice(statement) => {
                self.block_reads_header(std::slice::from_ref(statement))
            }
            Computation::Value(value) => self.reads_header(value),
        };
        reads.then_some(span)
    }

    pub(super) fn block_reads_header(&self, block: &[Statement]) -> bool {
        block.iter().any(|statement| {
            let mut values = statement.values();
            if let StatementKind::Output(output) = &statement.kind {
                values.extend(output.values());
            }
            let blocks = statement.blocks();
            values.into_iter().any(|value| self.reads_header(value))
                || blocks
                    .into_iter()
                    .any(|block| self.block_reads_header(block))
        })
    }

    pub(super) fn reads_header(&self, value: &Expression) -> bool {
        reads::any(value, &|part| match &*part.kind {
            ExpressionKind::Header(..)
            | ExpressionKind::HeaderPresent(..)
            | ExpressionKind::OptionsHold(_) => true,
            ExpressionKind::Call(function, _) => self.program.functions[function.at()].reads_header,
            _of_no_header => false,
        })
    }
}

/// Points at where the processes rest.
fn at_rest(mistake: Diagnostic, rests: BTreeSet<Span>) -> Diagnostic {
    let label = "while this waits";
    let rests = rests.into_iter();
    rests.fold(mistake, |mistake, span| mistake.label(span, label))
}

/// How often a message may be taken from a node on; twice is as bad as more.
fn takes(
    reactive: &Reactive,
    automaton: &Automaton,
    node: NodeId,
    known: &mut BTreeMap<NodeId, BTreeSet<u8>>,
) -> BTreeSet<u8> {
    if let Some(counts) = known.get(&node) {
        return counts.clone();
    }
    let own = match automaton.node(node) {
        Node::Act {
            act: Act::Do(data), ..
        } => match reactive.computation(*data) {
            Computation::Steps(steps) => steps.iter().any(is_take),
            Computation::Choice(_) | Computation::Value(_) => false,
        },
        _ => false,
    };
    let mut counts = BTreeSet::new();
    for child in automaton.node(node).children() {
        counts.extend(takes(reactive, automaton, child, known));
    }
    if counts.is_empty() {
        counts.insert(0);
    }
    let counts: BTreeSet<u8> = counts
        .into_iter()
        .map(|count| (count + u8::from(own)).min(2))
        .collect();
    known.insert(node, counts.clone());
    counts
}
