//! Questions, steps and states of a process of a layer, as its source writes them.
//!
//! In: the syntax tree of a layer, and the automaton of one of its processes. Out: words. A span of
//! the automaton leads to the statement, wait or handler of the source.
//!
//! ```text
//! await deliver if tries < 3    // ASKING      a wait: a question, and the name of a state
//! count answers                                a step
//! ```

mod source;

use super::Words;
use crate::source::{Sources, Span};
use crate::syntax::loom::ast::{Statement as Source, StatementKind as Kind};
use crate::tree::automaton::{Act, Automaton, Question, StateId};
use crate::types::expression::{Binary, Expression, ExpressionKind};
use crate::types::process::{DataId, Processes, Role, SignalId, Statement as Kernel, StatementId};
use crate::types::program::Program;
use crate::types::reactive::{Computation, Reactive};
use crate::types::statement::{Statement, StatementKind};
use crate::types::value::{Type, Value};
use source::{Part, index};
use std::collections::BTreeMap;

pub use source::{Selected, processes};

/// The words for one process of a layer.
pub struct ProcessWords<'a> {
    sources: &'a Sources,
    program: &'a Program,
    reactive: &'a Reactive,
    /// The statements of the process alone.
    processes: &'a Processes,
    /// The path before the names of its own signals.
    path: String,
    index: BTreeMap<Span, Part<'a>>,
    /// In each state, the events for which it waits, with the names of the values that they carry.
    heard: Vec<BTreeMap<SignalId, String>>,
    /// The same for the whole process, where it writes an event in one way only.
    anywhere: BTreeMap<SignalId, Option<String>>,
    /// The name of each state, and where it rests.
    states: Vec<(String, Option<String>)>,
}

impl<'a> ProcessWords<'a> {
    /// Finds the words of a process; `alone` holds its statements.
    pub fn new(
        (sources, program, reactive): (&'a Sources, &'a Program, &'a Reactive),
        selected: Selected<'a>,
        (alone, automaton): (&'a Processes, &Automaton),
    ) -> ProcessWords<'a> {
        let mut words = ProcessWords {
            sources,
            program,
            reactive,
            processes: alone,
            path: format!("{}.", selected.process.name),
            index: index(selected.layer),
            heard: Vec::new(),
            anywhere: BTreeMap::new(),
            states: Vec::new(),
        };
        let around = words.around();
        words.find_events(&around);
        words.heard = automaton
            .rests
            .iter()
            .map(|rests| words.heard_at(rests, &around))
            .collect();
        words.find_states(automaton, &around);
        words
    }

    /// The statement around each statement of the process.
    fn around(&self) -> BTreeMap<StatementId, StatementId> {
        let mut around = BTreeMap::new();
        let mut open: Vec<StatementId> = self.processes.root.into_iter().collect();
        while let Some(id) = open.pop() {
            for part in self.processes.statement(id).parts() {
                around.insert(part, id);
                open.push(part);
            }
        }
        around
    }

    /// Notes how the process writes each event.
    fn find_events(&mut self, around: &BTreeMap<StatementId, StatementId>) {
        let all = around.keys().copied().chain(self.processes.root);
        let mut found: Vec<(SignalId, String)> = Vec::new();
        for id in all {
            found.extend(self.events(id));
        }
        for (signal, text) in found {
            let known = self.anywhere.entry(signal);
            let known = known.or_insert_with(|| Some(text.clone()));
            if known.as_ref() != Some(&text) {
                *known = None;
            }
        }
    }

    /// The events that a statement waits for or handles, as they are written.
    fn events(&self, id: StatementId) -> Vec<(SignalId, String)> {
        let written = |span: &Span| {
            let event = match self.index.get(span)? {
                Part::Delay(delay) => &delay.event,
                Part::Handler(handler) => &handler.event,
                Part::Statement(_) | Part::Branch(_) => return None,
            };
            (event.names.len() == 1).then(|| self.line(event.span))
        };
        match self.processes.statement(id) {
            Kernel::Abort { cases, .. } => {
                let cases = cases.iter().filter_map(|case| {
                    let signal = *case.delay.test.signals().first()?;
                    Some((signal, written(&case.delay.span)?))
                });
                cases.collect()
            }
            Kernel::Present { test, .. } => {
                let signal = test.signals().first().copied();
                let event = signal.and_then(|one| Some((one, written(&self.processes.span(id))?)));
                event.into_iter().collect()
            }
            _that_hears_nothing => Vec::new(),
        }
    }

    /// The events for which a state waits.
    fn heard_at(
        &self,
        rests: &[StatementId],
        around: &BTreeMap<StatementId, StatementId>,
    ) -> BTreeMap<SignalId, String> {
        let mut heard = BTreeMap::new();
        for rest in rests {
            let outward = std::iter::successors(Some(*rest), |id| around.get(id).copied());
            // The outermost wait is asked first.
            heard.extend(outward.flat_map(|id| self.events(id)));
        }
        heard
    }

    /// Finds the names of the states, and where they rest.
    fn find_states(&mut self, automaton: &Automaton, around: &BTreeMap<StatementId, StatementId>) {
        let places = automaton.rests.iter().enumerate();
        let places: Vec<_> = places
            .map(|(at, rests)| match (at, &rests[..]) {
                (0, _) => (None, Some("the start".to_string())),
                (_, []) => (None, Some("the end".to_string())),
                _ => self.place(rests, around),
            })
            .collect();
        let names = |name: &Option<String>| places.iter().filter(|(one, _)| one == name).count();
        let states = places.iter().enumerate();
        let states = states.map(|(at, (name, place))| match name {
            Some(text) if names(name) == 1 => (text.clone(), None),
            Some(text) => (format!("{text}.{at}"), place.clone()),
            None => (at.to_string(), place.clone()),
        });
        self.states = states.collect();
    }

    /// The name of the place where a process rests, and the place. Its handlers rest always.
    fn place(
        &self,
        rests: &[StatementId],
        around: &BTreeMap<StatementId, StatementId>,
    ) -> (Option<String>, Option<String>) {
        let (mut names, mut places) = (Vec::new(), Vec::new());
        for rest in rests {
            let outward = std::iter::successors(Some(*rest), |id| around.get(id).copied());
            let mut sources =
                outward.filter_map(|id| match self.index.get(&self.processes.span(id)) {
                    Some(Part::Statement(source)) => Some(*source),
                    Some(Part::Handler(_) | Part::Delay(_) | Part::Branch(_)) | None => None,
                });
            let Some(first) = sources.next() else {
                continue;
            };
            places.push(self.rest(first));
            let all = std::iter::once(first).chain(sources);
            names.extend(all.filter_map(|source| self.comment(source.span)).next());
        }
        let named = !places.is_empty() && names.len() == places.len();
        let name = named.then(|| names.join("+"));
        let place = (!places.is_empty()).then(|| places.join(" and "));
        (name, place)
    }

    /// `line 71: await retry`
    fn rest(&self, source: &Source) -> String {
        let line = self.sources.position(source.span).line;
        let text = match &source.kind {
            Kind::Await(cases) if cases.len() > 1 => {
                let events = cases.iter().map(|case| self.line(case.delay.event.span));
                format!("await {}", events.collect::<Vec<_>>().join(" or "))
            }
            Kind::Every { delay, .. } => format!("every {}", self.line(delay.span)),
            _of_one_line => {
                let text = self.line(source.span);
                match source.kind.blocks()[..] {
                    [] => text,
                    _ => text.chars().take(40).collect(),
                }
            }
        };
        format!("line {line}: {text}")
    }

    /// The comment behind the first line of a statement, if it is one word.
    fn comment(&self, span: Span) -> Option<String> {
        let text = &self.sources.text(span.file)[span.start as usize..];
        let comment = text.lines().next()?.split("//").nth(1)?.trim();
        let mut letters = comment.chars();
        let is_word = letters.all(|letter| letter.is_alphanumeric() || letter == '_');
        (is_word && !comment.is_empty()).then(|| comment.to_string())
    }

    /// A part of the source in one line, without comments.
    fn line(&self, span: Span) -> String {
        let mut line = String::new();
        let mut depth = 0;
        for piece in self.sources.slice(span).lines() {
            let piece = piece.split("//").next().unwrap_or_default().trim();
            if piece.is_empty() {
                continue;
            }
            let opens = line.ends_with(['{', '(', '[']);
            let closes = piece.starts_with(['}', ')', ']']);
            line += match (line.is_empty(), opens || closes, depth) {
                (true, ..) => "",
                (false, true, _) | (false, false, 0) => " ",
                (false, false, _) => ", ",
            };
            line += piece;
            let count = |letter: char| line.matches(letter).count();
            depth = count('{').saturating_sub(count('}'));
        }
        line
    }

    /// A statement of the source: in one line, or in as many as it has.
    fn text(&self, source: &Source) -> String {
        let line = self.line(source.span);
        if source.kind.blocks().is_empty() && line.len() <= super::text::WIDEST {
            return line;
        }
        self.lines(source.span, source.span)
    }

    /// A part of the source without comments, its lines moved to the left as far as `outer` stands.
    fn lines(&self, span: Span, outer: Span) -> String {
        let text = self.sources.text(outer.file);
        let line = text[..outer.start as usize]
            .rsplit('\n')
            .next()
            .unwrap_or_default();
        let margin = line.len() - line.trim_start().len();
        let lines = self.sources.slice(span).lines().enumerate();
        let lines = lines.filter_map(|(at, line)| {
            let line = line.split("//").next().unwrap_or_default().trim_end();
            let indent = line.len() - line.trim_start().len();
            let line = if at == 0 {
                line
            } else {
                &line[indent.min(margin)..]
            };
            (!line.is_empty()).then_some(line)
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// The steps of an act: for each, the statement of the source and its text.
    fn steps(&self, act: Act) -> Vec<(Span, String)> {
        match act {
            Act::Keep(_) => Vec::new(),
            Act::Emit { signal, .. } if self.processes.signal(signal).role == Role::Exit => {
                Vec::new()
            }
            Act::Emit { signal, value, .. } => {
                let written = value.map(|value| self.processes.data[value.at()].span);
                match written.and_then(|span| self.index.get(&span)) {
                    Some(Part::Statement(source)) => vec![(source.span, self.text(source))],
                    _of_no_value => {
                        let span = self.processes.signal(signal).span;
                        vec![(span.before(), format!("emit {}", self.signal(signal)))]
                    }
                }
            }
            Act::Do(data) => match self.reactive.computation(data) {
                Computation::Steps(steps) => {
                    let steps = flat(steps);
                    steps.filter_map(|step| self.step_of(step)).collect()
                }
                Computation::Choice(_) | Computation::Value(_) => Vec::new(),
            },
        }
    }

    /// One step; none if it only prepares a statement that stands behind it.
    fn step_of(&self, step: &Statement) -> Option<(Span, String)> {
        let source = match self.index.get(&step.span) {
            Some(Part::Statement(source)) => *source,
            Some(Part::Delay(delay)) if delay.times.is_some() && !counts_down(step) => {
                return Some((delay.span, format!("count {}", self.line(delay.span))));
            }
            Some(Part::Handler(handler)) if !step.blocks().is_empty() => {
                let condition = self.line(handler.condition.as_ref()?.span);
                let body = self.lines(handler.body.span, handler.span);
                return Some((handler.span, format!("if {condition} {body}")));
            }
            Some(Part::Branch(condition)) if !step.blocks().is_empty() => {
                let source = self.smallest(step.span)?;
                let rest = condition.span.to(source.span.after());
                let text = format!("if {}", self.lines(rest, source.span));
                return Some((step.span, text));
            }
            Some(Part::Delay(_) | Part::Handler(_) | Part::Branch(_)) => return None,
            None => self.smallest(step.span)?,
        };
        let whole = source.span == step.span;
        let text = match &source.kind {
            _ if matches!(step.kind, StatementKind::React(_)) => return None,
            Kind::Run { parallel, .. } if whole => format!("run {}", self.line(parallel.span)),
            Kind::Repeat { times, .. } if whole && !counts_down(step) => {
                format!("repeat {}", self.line(times.span))
            }
            Kind::Await(_)
            | Kind::Every { .. }
            | Kind::Loop(_)
            | Kind::Trap { .. }
            | Kind::Repeat { .. }
            | Kind::Run { .. } => return None,
            Kind::If { .. } | Kind::Match { .. } if step.blocks().is_empty() => return None,
            _of_one_instant => self.text(source),
        };
        Some((source.span, text))
    }

    /// The smallest statement of the source around a place.
    fn smallest(&self, span: Span) -> Option<&'a Source> {
        let around = self.index.iter().filter(|(one, _)| one.covers(span));
        let statements = around.filter_map(|(_, written)| match written {
            Part::Statement(source) => Some(*source),
            Part::Delay(_) | Part::Handler(_) | Part::Branch(_) => None,
        });
        statements.min_by_key(|source| source.span.end - source.span.start)
    }

    /// The question of a choice.
    fn choice(&self, data: DataId) -> String {
        let Computation::Choice(choice) = self.reactive.computation(data) else {
            unreachable!("only a choice has two ways");
        };
        let source = match self.index.get(&choice.span) {
            Some(Part::Branch(condition)) => return self.line(condition.span),
            Some(Part::Delay(delay)) => {
                return match &delay.condition {
                    Some(condition) => self.line(condition.span),
                    None => format!("the last of {}", self.line(delay.span)),
                };
            }
            Some(Part::Handler(handler)) => {
                let condition = handler.condition.as_ref();
                return condition.map_or(String::new(), |one| self.line(one.span));
            }
            Some(Part::Statement(source)) => *source,
            None => return self.line(choice.span),
        };
        match &source.kind {
            Kind::If { branches, .. } => self.line(branches[0].condition.span),
            Kind::Require { condition, .. } => self.line(condition.span),
            Kind::Match { subject, .. } => {
                format!("{} == {}", self.line(subject.span), self.constant(choice))
            }
            Kind::Let { value, .. } | Kind::Assign { value, .. } => {
                self.line(source.span.before().to(value.span))
            }
            Kind::Call { call, .. } => self.line(call.span),
            Kind::Repeat { times, .. } => format!("the last of {}", self.line(times.span)),
            _of_one_way => self.line(source.span),
        }
    }

    /// The constant with which a `match` compares.
    fn constant(&self, choice: &Statement) -> String {
        if let StatementKind::If { condition, .. } = &choice.kind
            && let ExpressionKind::Binary(Binary::Equal, _, constant) = &*condition.kind
            && let ExpressionKind::Constant(Value::Number(number)) = &*constant.kind
        {
            return match &constant.result {
                Type::Enum(id) => self.program.enums[id.at()].word(*number),
                Type::Bool => (*number != 0).to_string(),
                _of_numbers => number.to_string(),
            };
        }
        "it".to_string()
    }
}

impl Words for ProcessWords<'_> {
    fn signal(&self, signal: SignalId) -> &str {
        let name = &self.processes.signal(signal).name;
        name.strip_prefix(&self.path).unwrap_or(name)
    }

    fn question(&self, state: StateId, question: Question) -> String {
        match question {
            Question::Data(data) => self.choice(data),
            Question::Given(signal) => {
                let here = self.heard[state.at()].get(&signal);
                let event = here.or_else(|| self.anywhere.get(&signal)?.as_ref());
                event.map_or_else(|| self.signal(signal).to_string(), String::clone)
            }
        }
    }

    fn joined(&self, state: StateId, event: Question, guard: Question) -> Option<String> {
        let (Question::Given(_), Question::Data(data)) = (event, guard) else {
            return None;
        };
        let condition = match self.index.get(&self.processes.data[data.at()].span)? {
            Part::Delay(delay) => delay.condition.as_ref()?,
            Part::Handler(handler) => handler.condition.as_ref()?,
            Part::Statement(_) | Part::Branch(_) => return None,
        };
        let event = self.question(state, event);
        Some(format!("{event} if {}", self.line(condition.span)))
    }

    fn excludes(&self, one: Question, other: Question) -> bool {
        let is_event = |question: Question| match question {
            Question::Given(signal) => {
                let mut events = self.reactive.events.iter();
                events.any(|(_, event, _)| *event == signal)
            }
            Question::Data(_) => false,
        };
        one != other && is_event(one) && is_event(other)
    }

    fn step(&self, before: Option<Act>, act: Act) -> Vec<String> {
        let before = before.and_then(|before| self.steps(before).pop());
        let mut last = before.map(|(span, _)| span);
        let mut texts = Vec::new();
        for (span, text) in self.steps(act) {
            // A statement that needs several steps is one.
            if last != Some(span) {
                texts.push(text);
            }
            last = Some(span);
        }
        texts
    }

    fn state(&self, state: StateId) -> (String, Option<String>) {
        self.states[state.at()].clone()
    }
}

/// Steps, without the block that holds those of which one may fail.
fn flat(steps: &[Statement]) -> impl Iterator<Item = &Statement> {
    let inner = match steps {
        [
            Statement {
                kind: StatementKind::If {
                    condition, then, ..
                },
                ..
            },
        ] if condition.truth() == Some(true) => then,
        _of_plain_steps => steps,
    };
    inner.iter()
}

/// Returns true if a step takes one away from a count.
fn counts_down(step: &Statement) -> bool {
    let is_less =
        |value: &Expression| matches!(&*value.kind, ExpressionKind::Binary(Binary::Subtract, ..));
    matches!(&step.kind, StatementKind::Assign(_, value) if is_less(value))
}
