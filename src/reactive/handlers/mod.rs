//! Processes -> handlers: what is done at each event, in each state of their control.
//!
//! In: a program. Out: the same, in which each event of a kind with processes has a handler that
//! tells the states apart, does what its automaton does, and notes the next state. What several
//! paths of an automaton lead to is one block of the handler.
//!
//! ```text
//! state 1   given retry?   then  Do (count gave_up)  leaf 2        on retry {
//!                          else  leaf 1                                match control {
//! state 2   leaf 2                                                         case 1 { count gave_up
//!                                                                                   control = 2 }
//!                                                                          else {} } }
//! ```
//!
//! Before: processes constructive or not. After: they are, or nothing comes out; each message that
//! an event brings is taken exactly once on every path; a header is read only where one came.

mod apart;
mod check;
mod event;
mod refused;

use crate::diagnostic::Diagnostic;
use crate::reactive::explore::BUDGET;
use crate::reactive::explore::apart::{apart, leaves};
use crate::reactive::reads;
use crate::source::Span;
use crate::tree::automaton::{Act, Automaton, Node, NodeId, Question, StateId};
use crate::types::expression::{Expression, ExpressionKind, Instance, Variable};
use crate::types::process::Statement as Kernel;
use crate::types::process::{DataId, Processes, SignalId, StatementId};
use crate::types::program::{Event, Field, FieldId, Handler, KindId, Local, LocalId, Program};
use crate::types::reactive::{Computation, Reactive};
use crate::types::statement::{Block, BlockId, Ordered, PlaceId, React, Statement, StatementKind};
use crate::types::value::Type;
pub use refused::wrong_anywhere;
use refused::{explored, is_too_large, told};
use std::collections::{BTreeMap, BTreeSet};

/// How large what processes become may be, in nodes.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// One automaton, of all that happens or of a branch: with more, a program is refused.
    pub nodes: usize,
    /// The handlers of one automaton: with more, branches stay apart, if they can.
    pub together: usize,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget {
            nodes: BUDGET,
            together: 1_000,
        }
    }
}

/// How many nodes are explored for one that may stay: many ways turn out to be the same.
const EXPLORED_FOR_ONE: usize = 3;

impl Budget {
    /// How many nodes are explored before branches may stay apart.
    fn before_apart(self) -> usize {
        let explored = self.together.saturating_mul(EXPLORED_FOR_ONE);
        explored.min(self.nodes)
    }
}

/// A kind with processes.
struct Given<'a> {
    kind: KindId,
    reactive: &'a Reactive,
    places: Places,
}

/// Where each computation stands: which branch of each parallel statement around.
type Places = BTreeMap<DataId, Vec<(StatementId, u32)>>;

/// The state in which the instant began.
const STAYS: StateId = StateId(u32::MAX);

/// Gives all kinds with processes their handlers.
pub fn settle(program: &mut Program, budget: Budget) -> Result<(), Vec<Diagnostic>> {
    let mut diagnostics = Vec::new();
    for at in 0..program.kinds.len() as u32 {
        let kind = KindId(at);
        let Some(reactive) = program.kinds[kind.at()].reactive.clone() else {
            continue;
        };
        if reactive.states.is_some() {
            continue;
        }
        let given = Given {
            kind,
            reactive: &reactive,
            places: places(&reactive.processes),
        };
        match settled(program, &given, budget) {
            Ok(settled) => write(program, &given, settled),
            Err(wrong) => diagnostics.extend(wrong),
        }
    }
    match diagnostics.is_empty() {
        true => Ok(()),
        false => Err(diagnostics),
    }
}

/// The handlers of one kind: of one automaton if that is small, of branches apart if they can be,
/// and else of one automaton all the same.
fn settled(
    program: &mut Program,
    given: &Given,
    budget: Budget,
) -> Result<Settled, Vec<Diagnostic>> {
    let (kind, reactive) = (given.kind, given.reactive);
    let first = match explored(reactive, budget.before_apart()) {
        Err(refusals) if !is_too_large(&refusals) => {
            return Err(told(program, kind, reactive, &refusals));
        }
        first => first.ok(),
    };
    if let Some(automaton) = &first
        && let Some(settled) = together(program, given, automaton, budget.together)?
    {
        return Ok(settled);
    }
    let branches = apart(&reactive.processes, budget.nodes);
    let separate = branches.and_then(|branches| apart::handlers(program, given, &branches));
    if let Some(settled) = separate {
        return Ok(settled);
    }
    let whole = first.map_or_else(|| explored(reactive, budget.nodes), Ok);
    let whole = whole.map_err(|refusals| told(program, kind, reactive, &refusals))?;
    let settled = together(program, given, &whole, usize::MAX)?;
    Ok(settled.expect("no number of nodes is too large"))
}

/// The handlers of one automaton; none where they have more nodes than that.
fn together(
    program: &mut Program,
    given: &Given,
    automaton: &Automaton,
    most: usize,
) -> Result<Option<Settled>, Vec<Diagnostic>> {
    let mut diagnostics = Vec::new();
    let mut each = Vec::new();
    let mut nodes = 0;
    for (event, input, parameters) in &given.reactive.events {
        let mut making = Making::new(program, given, *input);
        let roots = making.roots(automaton, *event);
        making.check((*event, parameters), automaton, &roots, &mut diagnostics);
        nodes += making.automaton.nodes.len();
        each.push((*event, making.automaton, roots));
    }
    if !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    if nodes > most {
        return Ok(None);
    }
    let states = automaton.states.len();
    let control = control(program, given.kind, "processes.state", states - 1);
    let made = each.into_iter().zip(&given.reactive.events);
    let made = made.map(|((event, automaton, roots), (_, input, _))| {
        let mut making = Making::new(program, given, *input);
        making.automaton = automaton;
        let body = making.body(&roots, control);
        making.made(event, body)
    });
    let made = made.collect();
    Ok(Some(Settled { made, states }))
}

/// Writes the handlers of a kind into the program.
fn write(program: &mut Program, given: &Given, settled: Settled) {
    let kind = given.kind;
    for one in settled.made {
        let mut handlers = program.handlers.iter_mut();
        let handler = handlers.find(|handler| handler.kind == kind && handler.event == one.event);
        let handler: &mut Handler = handler.expect("each event of processes has its handler");
        handler.body = one.body;
        handler.blocks = one.blocks;
        handler.locals = one.locals;
        handler.meets = one.meets;
        handler.places = given.places.values().cloned().collect();
    }
    if let Some(reactive) = &mut program.kinds[kind.at()].reactive {
        reactive.states = Some(settled.states as u32);
    }
}

/// A field that holds one of so many states between two instants; none where there is but one.
fn control(program: &mut Program, kind: KindId, name: &str, states: usize) -> Option<FieldId> {
    if states <= 1 {
        return None;
    }
    let fields = &mut program.kinds[kind.at()].fields;
    fields.push(Field {
        name: name.to_string(),
        kind: width(states),
        initial: None,
        once: false,
        has_gaps: false,
    });
    Some(FieldId(fields.len() as u32 - 1))
}

/// A number that holds any up to this one.
fn width(last: usize) -> Type {
    match last {
        0..=0xff => Type::Unsigned(8),
        0x100..=0xffff => Type::Unsigned(16),
        _ => Type::Unsigned(32),
    }
}

/// Where each computation stands among the branches that run in parallel.
fn places(processes: &Processes) -> Places {
    let mut places = BTreeMap::new();
    let mut open: Vec<(StatementId, Vec<(StatementId, u32)>)> = Vec::new();
    open.extend(processes.root.map(|root| (root, Vec::new())));
    while let Some((id, place)) = open.pop() {
        let statement = processes.statement(id);
        match statement {
            Kernel::Do(data)
            | Kernel::If {
                condition: data, ..
            } => {
                places.insert(*data, place.clone());
            }
            _of_no_output => {}
        }
        let parallel = matches!(statement, Kernel::Parallel(_));
        for (at, part) in statement.parts().into_iter().enumerate() {
            let mut place = place.clone();
            if parallel {
                place.push((id, at as u32));
            }
            open.push((part, place));
        }
    }
    places
}

/// Makes the handler of one event.
struct Making<'a> {
    program: &'a Program,
    given: &'a Given<'a>,
    /// What is done at this event alone; [`STAYS`] where it ends in the state in which it began.
    automaton: Automaton,
    /// The input that says that the event has come.
    input: SignalId,
    /// Whether its ways meet again.
    meets: bool,
    /// What is done where it ends in a state.
    ends: BTreeMap<StateId, Block>,
    /// Which local says whether a signal was emitted, where it is asked.
    flags: BTreeMap<SignalId, LocalId>,
    /// Nodes that several paths lead to, and their blocks.
    shared: BTreeMap<NodeId, BlockId>,
    blocks: Vec<Block>,
    /// All locals.
    locals: Vec<Local>,
}

/// What the handlers of a kind become.
struct Settled {
    made: Vec<Made>,
    /// In how many states it can rest.
    states: usize,
}

/// What the handler of one event becomes.
struct Made {
    event: Event,
    body: Block,
    blocks: Vec<Block>,
    locals: Vec<Local>,
    meets: bool,
}

impl<'a> Making<'a> {
    fn new(program: &'a Program, given: &'a Given, input: SignalId) -> Making<'a> {
        Making {
            program,
            given,
            automaton: Automaton::new(given.reactive.processes.risky.clone()),
            input,
            meets: false,
            ends: BTreeMap::new(),
            flags: BTreeMap::new(),
            shared: BTreeMap::new(),
            blocks: Vec::new(),
            locals: given.reactive.locals.clone(),
        }
    }

    fn made(self, event: Event, body: Block) -> Made {
        Made {
            event,
            body,
            meets: self.meets,
            blocks: self.blocks,
            locals: self.locals,
        }
    }
}

impl Making<'_> {
    fn body(&mut self, roots: &[(StateId, NodeId)], control: Option<FieldId>) -> Block {
        for state in leaves(&self.automaton, roots) {
            if let Some(control) = control.filter(|_| state != STAYS) {
                let number = self.number(control, state.0);
                let note = StatementKind::Assign(self.own(control), number);
                self.ends.insert(state, vec![self.statement(note)]);
            }
        }
        self.share(roots);
        let computed = self.automaton.computed(roots.iter().map(|(_, root)| *root));
        let mut body = self.what_was_before(computed);
        let Some((last, cases)) = roots.split_last() else {
            return body;
        };
        // States in which most is alike take what is left.
        let cases = cases.iter().filter(|(_, root)| *root != last.1);
        let cases: Vec<_> = cases.map(|(state, root)| (state.0, *root)).collect();
        let otherwise = self.code(last.1);
        body.extend(match control {
            None => otherwise,
            Some(control) => self.by_state(control, &cases, otherwise),
        });
        body
    }

    /// What is done in each state.
    fn by_state(&mut self, control: FieldId, cases: &[(u32, NodeId)], otherwise: Block) -> Block {
        if cases.is_empty() {
            return otherwise;
        }
        let value = Expression::new(
            ExpressionKind::Read(self.own(control)),
            self.field(control).kind.clone(),
        );
        self.by_number(value, cases, otherwise)
    }

    /// What is done, by a number.
    fn by_number(&mut self, value: Expression, cases: &[(u32, NodeId)], otherwise: Block) -> Block {
        let cases = cases
            .iter()
            .map(|(number, root)| (u64::from(*number), None, self.code(*root)));
        let kind = StatementKind::Match {
            value,
            cases: cases.collect(),
            otherwise,
        };
        vec![self.statement(kind)]
    }

    fn field(&self, field: FieldId) -> &Field {
        &self.program.kinds[self.given.kind.at()].fields[field.at()]
    }

    /// A state, as the field holds it.
    fn number(&self, control: FieldId, number: u32) -> Expression {
        Expression::number(u64::from(number), self.field(control).kind.clone())
    }

    /// Nodes that several paths lead to become blocks, each behind those that it leads to.
    fn share(&mut self, roots: &[(StateId, NodeId)]) {
        let mut paths: BTreeMap<NodeId, u32> = BTreeMap::new();
        let mut open: Vec<NodeId> = roots.iter().map(|(_, root)| *root).collect();
        while let Some(node) = open.pop() {
            let count = paths.entry(node).or_default();
            *count += 1;
            if *count == 1 {
                open.extend(self.automaton.node(node).children());
            }
        }
        for (node, _) in paths.into_iter().filter(|(_, count)| *count > 1) {
            let code = self.fresh_code(node);
            let block = BlockId(self.blocks.len() as u32);
            self.blocks.push(code);
            self.shared.insert(node, block);
        }
    }

    /// What is left to do from a node on.
    fn code(&mut self, node: NodeId) -> Block {
        match self.shared.get(&node) {
            Some(block) => vec![self.statement(StatementKind::Ordered(Ordered::Go(*block)))],
            None => self.fresh_code(node),
        }
    }

    fn fresh_code(&mut self, mut node: NodeId) -> Block {
        let mut block = Block::new();
        loop {
            match self.automaton.node(node).clone() {
                Node::Leaf(state) => {
                    block.extend(self.ends.get(&state).cloned().unwrap_or_default());
                    return block;
                }
                Node::Twice(_) => unreachable!("what is emitted twice was refused"),
                Node::Act { act, next } => {
                    self.act(act, &mut block);
                    node = next;
                    if self.shared.contains_key(&node) {
                        block.extend(self.code(node));
                        return block;
                    }
                }
                Node::Test {
                    question,
                    then,
                    otherwise,
                } => {
                    let (then, otherwise) = (self.code(then), self.code(otherwise));
                    match question {
                        Question::Data(data) => self.test(data, then, otherwise, &mut block),
                        Question::Given(signal) => {
                            let flag = Expression::local(self.flags[&signal], Type::Bool);
                            block.push(self.statement(StatementKind::If {
                                condition: flag,
                                likely: None,
                                then,
                                otherwise,
                            }));
                        }
                    }
                    return block;
                }
            }
        }
    }

    fn act(&self, act: Act, block: &mut Block) {
        match act {
            Act::Do(data) => match self.given.reactive.computation(data) {
                Computation::Steps(steps) => {
                    let mut steps: Vec<Statement> = steps.clone();
                    steps.retain(|step| !is_take(step));
                    if reads::has_outputs(&steps) {
                        block.push(self.branch(data));
                    }
                    block.extend(steps);
                }
                Computation::Choice(_) | Computation::Value(_) => {
                    unreachable!("only steps are done")
                }
            },
            Act::Emit {
                signal,
                value,
                again,
            } => {
                if let Some(value) = value {
                    block.push(self.valued(signal, value, again));
                }
                if let Some(flag) = self.flags.get(&signal) {
                    let present = Expression::number(1, Type::Bool);
                    block.push(self.statement(StatementKind::Let(*flag, present)));
                }
            }
            Act::Keep(_) => {}
        }
    }

    /// A signal gets its value.
    fn valued(&self, signal: SignalId, value: DataId, again: bool) -> Statement {
        let mut values = self.given.reactive.values.iter();
        let found = values.find(|(other, ..)| *other == signal);
        let (_, field, combine) = found.expect("a signal with a value has its field");
        let Computation::Value(value) = self.given.reactive.computation(value) else {
            unreachable!("a signal carries a value");
        };
        let place = self.own(*field);
        let value = match combine {
            Some(combine) if again => {
                let of = value.result.clone();
                let known = Expression::new(ExpressionKind::Read(place.clone()), of.clone());
                Expression::binary(*combine, known, value.clone(), of)
            }
            Some(_) | None => value.clone(),
        };
        self.statement(StatementKind::Assign(place, value))
    }

    /// A choice: both ways hold all that is left to do.
    fn test(&self, data: DataId, then: Block, otherwise: Block, block: &mut Block) {
        let Computation::Choice(choice) = self.given.reactive.computation(data) else {
            unreachable!("only a choice has two ways");
        };
        if reads::has_outputs(std::slice::from_ref(choice)) {
            block.push(self.branch(data));
        }
        let mut choice = choice.clone();
        match &mut choice.kind {
            StatementKind::If {
                then: holds,
                otherwise: fails,
                ..
            } => {
                *holds = then;
                *fails = otherwise;
                block.push(choice);
            }
            StatementKind::Attempt {
                otherwise: fails, ..
            }
            | StatementKind::Require {
                otherwise: fails, ..
            } => {
                *fails = otherwise;
                block.push(choice);
                block.extend(then);
            }
            other => unreachable!("{other:?} is no choice"),
        }
    }

    /// What follows is due to the branch of a computation.
    fn branch(&self, data: DataId) -> Statement {
        let mut known = self.given.places.keys();
        let at = known.position(|known| *known == data);
        let place = PlaceId(at.expect("each computation has its place") as u32);
        self.statement(StatementKind::Ordered(Ordered::Branch(place)))
    }

    /// Notes what was before the instant, where anything that is computed reads it.
    fn what_was_before(&self, computed: BTreeSet<DataId>) -> Block {
        let data = &self.given.reactive.processes.data;
        let reads = computed.into_iter();
        let read: BTreeSet<SignalId> = reads.flat_map(|one| data[one.at()].reads.clone()).collect();
        let is_read = |(field, _): &&(FieldId, Expression)| {
            let mut fields = self.given.reactive.fields.iter();
            fields.any(|(other, signal)| other == field && read.contains(signal))
        };
        let before = self.given.reactive.before.iter().filter(is_read);
        let noted = before.map(|(field, value)| {
            let note = StatementKind::Assign(self.own(*field), value.clone());
            self.statement(note)
        });
        noted.collect()
    }

    fn own(&self, field: FieldId) -> Variable {
        Variable::Field(Instance::Own, self.given.kind, field)
    }

    fn span(&self) -> Span {
        let root = self.given.reactive.processes.root;
        self.given
            .reactive
            .processes
            .span(root.expect("processes have a root"))
    }

    fn statement(&self, kind: StatementKind) -> Statement {
        let span = self.span();
        Statement { kind, span }
    }
}

fn is_take(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::React(react) => matches!(**react, React::Take(_)),
        _of_another_kind => false,
    }
}
