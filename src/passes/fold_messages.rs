//! Lengths, starts and attributes of messages become plain values.
//!
//! An operation that moves a message gives another handle, though most of what can be asked of that
//! is known: a message from which a header was pulled is as much shorter, and has the attributes
//! that it had. This is the algebra of an abstract data type (Guttag, "Abstract data types and the
//! development of data structures", 1977): a question is answered by the operation that made the
//! handle, and else passed on to the handle that the operation was given.
//!
//! In: a function. Out: a question to a handle that the function made is a sum of plain values.
//! If the question goes to a handle that an operation uses up, it stands right before that
//! operation. Within a block each `with` stands behind all that only borrows its message, and
//! behind `push`, `pull` and `cut`, so it is not between a view and the message that this shows.
//!
//! ```text
//! %m2 = with mark %m, %x           %n = length %m
//! %m3 = pull %m2, 20               %m2 = pull %m, 20
//! %k = length %m3                  %m3 = with mark %m2, %x
//! %y = attribute mark %m3          uses of %k are uses of (sub %n, 20), those of %y of %x
//! ```
//!
//! A frame that a link gives to a reaction has the defaults of all attributes, if nothing else
//! gives messages to that reaction.
//!
//! Assumes: rules 2 to 5 of the verifier. Cost: linear, and a step for each handle between a
//! question and its answer.

use super::dead_parameters::given;
use crate::ir::edit::{compact, substitute_in_turn};
use crate::ir::effects::moves;
use crate::ir::function::Definition;
use crate::ir::graph::Graph;
use crate::ir::op::{Arithmetic, Attempt, Op};
use crate::ir::{
    Attribute, AttributeId, BlockId, Edge, Function, FunctionId, Instruction, Module, Terminator,
    Type, Value,
};
use std::collections::{BTreeMap, BTreeSet};

/// Folds the messages of all functions of a module.
pub fn run(module: &mut Module) {
    let arrives = only_arrive(module);
    let attributes = &module.attributes;
    for (at, function) in module.functions.iter_mut().enumerate() {
        delay(function);
        answer(attributes, function);
        if arrives.contains(&FunctionId(at as u32)) {
            as_they_arrive(attributes, function);
        }
        compact(function);
    }
}

/// The reactions to which only links give messages, and their fast functions, which are given the
/// same.
fn only_arrive(module: &Module) -> BTreeSet<FunctionId> {
    let arrives = module.links.iter().map(|link| link.arrives);
    let mut arrives: BTreeSet<FunctionId> = arrives.collect();
    for function in &module.functions {
        given(function, &mut |id, _, _| {
            arrives.remove(&id);
        });
    }
    let fast = arrives.iter().filter_map(|id| module.function(*id).fast);
    let fast: Vec<FunctionId> = fast.collect();
    arrives.extend(fast);
    arrives
}

/// A frame that arrives by a link has the defaults of all attributes.
fn as_they_arrive(attributes: &[Attribute], function: &mut Function) {
    let parameters = function.parameters().to_vec();
    let blocks = function.blocks.iter_mut();
    for instruction in blocks.flat_map(|block| &mut block.instructions) {
        if let Op::Attribute(id) = instruction.op
            && parameters.contains(&instruction.operands[0])
        {
            instruction.op = attributes[id.at()].default.clone();
            instruction.operands.clear();
        }
    }
}

/// Moves each `with` of a block behind what borrows, pushes, pulls or cuts its message.
fn delay(function: &mut Function) {
    let mut by: Vec<Value> = (0..function.values.len() as u32).map(Value).collect();
    for block in &mut function.blocks {
        let mut delayed = Delayed::default();
        for instruction in std::mem::take(&mut block.instructions) {
            delayed.step(instruction, &mut by);
        }
        delayed.done.append(&mut delayed.waiting);
        block.instructions = delayed.done;
    }
    substitute_in_turn(function, by);
}

/// A block of which some instructions are done, and a `with` waits.
#[derive(Default)]
struct Delayed {
    done: Vec<Instruction>,
    /// Each `with` that waits, in order.
    waiting: Vec<Instruction>,
}

impl Delayed {
    fn step(&mut self, mut instruction: Instruction, by: &mut [Value]) {
        let first = instruction.operands.first().copied();
        let chain = first.map(|one| self.chain(one)).unwrap_or_default();
        match &instruction.op {
            Op::With(_) => return self.waiting.push(instruction),
            Op::Attribute(attribute) => {
                let mut last = chain.iter().rev().map(|at| &self.waiting[*at]);
                if let Some(with) = last.find(|with| with.op == Op::With(*attribute)) {
                    by[instruction.results[0].at()] = with.operands[1];
                    return;
                }
            }
            Op::Push | Op::Pull | Op::Cut => self.move_first(&chain, &mut instruction),
            op if moves(op) => self.release(&instruction.operands),
            _borrows => {}
        }
        for operand in &mut instruction.operands {
            if let Some(first) = self.chain(*operand).first() {
                *operand = self.waiting[*first].operands[0];
            }
        }
        self.done.push(instruction);
    }

    /// The places of those that wait and make this handle of another, in order.
    fn chain(&self, handle: Value) -> Vec<usize> {
        let mut chain = Vec::new();
        let mut handle = handle;
        let makes = |handle: Value| {
            let mut waiting = self.waiting.iter();
            waiting.position(|with| with.results[0] == handle)
        };
        while let Some(at) = makes(handle) {
            chain.push(at);
            handle = self.waiting[at].operands[0];
        }
        chain.reverse();
        chain
    }

    /// An operation moves the handle that the first of a chain is given, and the chain begins with
    /// its result: names move on by one.
    fn move_first(&mut self, chain: &[usize], instruction: &mut Instruction) {
        let Some(first) = chain.first() else {
            return;
        };
        instruction.operands[0] = self.waiting[*first].operands[0];
        let mut handle = self.waiting[*first].results[0];
        let last = std::mem::replace(&mut instruction.results[0], handle);
        for (at, place) in chain.iter().enumerate() {
            let next = chain.get(at + 1).map(|next| self.waiting[*next].results[0]);
            let with = &mut self.waiting[*place];
            with.operands[0] = handle;
            handle = next.unwrap_or(last);
            with.results[0] = handle;
        }
    }

    /// Emits the pending operations that make these handles.
    fn release(&mut self, handles: &[Value]) {
        let mut chain: Vec<usize> = handles.iter().flat_map(|one| self.chain(*one)).collect();
        chain.sort_unstable();
        for at in chain.iter().rev() {
            let with = self.waiting.remove(*at);
            self.done.push(with);
        }
        let count = self.done.len();
        self.done[count - chain.len()..].reverse();
    }
}

/// A question to a handle or view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Question {
    Length,
    Start,
    Attribute(AttributeId),
}

/// The operation that made a handle or a view, with the values that decide what is known of it.
#[derive(Clone, Copy, Debug)]
enum Made {
    /// It is this one, under another name.
    Same(Value),
    /// It has another attribute.
    With(AttributeId, Value, Value),
    /// So many more bytes stand before it.
    Push(Value, Value),
    /// So many bytes were taken off.
    Pull(Value, Value),
    /// Its first so many bytes.
    Cut(Value, Value),
    /// So many bytes stand behind it.
    Pad(Value, Value),
    /// It begins at this byte of its buffer again.
    Restore(Value, Value),
    /// It has the attributes of another.
    Rewritten(Value),
    /// It has the attributes of another, without marks.
    Copied(Value),
    /// It has the default of each attribute.
    New,
    /// It has them, and no byte.
    Empty,
    /// It shows the bytes of a message.
    Look(Value),
    /// It shows them, and so many bytes before them.
    Around(Value, Value),
    /// It shows so many bytes.
    Part(Value),
}

/// A place before an instruction of a block.
type Spot = (BlockId, usize);

/// The operation that made a handle: the place before it, where the handle is that it is given,
/// and the one behind it.
#[derive(Clone, Copy, Debug)]
struct Origin {
    made: Made,
    before: Spot,
    behind: Spot,
}

/// Answers all questions of a function.
fn answer(attributes: &[Attribute], function: &mut Function) {
    let origins = origins(function);
    let mut by: Vec<Value> = (0..function.values.len() as u32).map(Value).collect();
    let mut asking = Asking {
        attributes,
        origins,
        known: BTreeMap::new(),
        added: BTreeMap::new(),
        values: std::mem::take(&mut function.values),
    };
    let mut answered = BTreeSet::new();
    for (id, block) in function.all_blocks() {
        for (at, instruction) in block.instructions.iter().enumerate() {
            let question = match &instruction.op {
                Op::Length => Question::Length,
                Op::Start => Question::Start,
                Op::Attribute(attribute) => Question::Attribute(*attribute),
                _other => continue,
            };
            if let Some(known) = asking.ask(question, instruction.operands[0]) {
                by[instruction.results[0].at()] = known;
                answered.insert((id, at));
            }
        }
    }
    function.values = asking.values;
    by.extend((by.len() as u32..function.values.len() as u32).map(Value));
    exchange(function, asking.added, &answered);
    substitute_in_turn(function, by);
}

/// Adds instructions, and removes those of questions that were answered.
fn exchange(
    function: &mut Function,
    mut added: BTreeMap<Spot, Vec<Instruction>>,
    answered: &BTreeSet<Spot>,
) {
    for (at, block) in function.blocks.iter_mut().enumerate() {
        let id = BlockId(at as u32);
        let instructions = std::mem::take(&mut block.instructions);
        let count = instructions.len();
        let mut all = Vec::new();
        for (at, instruction) in instructions.into_iter().enumerate() {
            all.extend(added.remove(&(id, at)).unwrap_or_default());
            all.extend((!answered.contains(&(id, at))).then_some(instruction));
        }
        let last = added.remove(&(id, count));
        all.extend(last.unwrap_or_default());
        block.instructions = all;
    }
}

/// The questions of a function.
struct Asking<'a> {
    attributes: &'a [Attribute],
    /// By handle or view; none of what only the one who asks could answer.
    origins: BTreeMap<Value, Origin>,
    known: BTreeMap<(Question, Value), Value>,
    added: BTreeMap<Spot, Vec<Instruction>>,
    values: Vec<Definition>,
}

impl Asking<'_> {
    /// The answer of the operation that made a handle; none if it has to be asked itself.
    fn ask(&mut self, question: Question, handle: Value) -> Option<Value> {
        if let Some(known) = self.known.get(&(question, handle)) {
            return Some(*known);
        }
        let origin = *self.origins.get(&handle)?;
        let known = match question {
            Question::Length => self.length(&origin),
            Question::Start => self.start(&origin),
            Question::Attribute(attribute) => self.attribute(attribute, &origin),
        }?;
        self.known.insert((question, handle), known);
        Some(known)
    }

    fn length(&mut self, origin: &Origin) -> Option<Value> {
        let question = Question::Length;
        Some(match origin.made {
            Made::Same(of) | Made::With(_, of, _) | Made::Look(of) => {
                self.pass_on(question, of, origin)
            }
            Made::Push(of, more) | Made::Pad(of, more) | Made::Around(of, more) => {
                let length = self.pass_on(question, of, origin);
                self.compute(Arithmetic::Add, length, more, origin)
            }
            Made::Pull(of, less) => {
                let length = self.pass_on(question, of, origin);
                self.compute(Arithmetic::Sub, length, less, origin)
            }
            Made::Cut(_, length) | Made::Part(length) => length,
            Made::Restore(of, to) => {
                let length = self.pass_on(question, of, origin);
                let start = self.pass_on(Question::Start, of, origin);
                let more = self.compute(Arithmetic::Sub, start, to, origin);
                self.compute(Arithmetic::Add, length, more, origin)
            }
            Made::Empty => self.add(Op::Number(32, 0), Vec::new(), Type::WORD, origin.behind),
            Made::New | Made::Rewritten(_) | Made::Copied(_) => return None,
        })
    }

    fn start(&mut self, origin: &Origin) -> Option<Value> {
        let question = Question::Start;
        Some(match origin.made {
            Made::Same(of) | Made::With(_, of, _) | Made::Cut(of, _) | Made::Pad(of, _) => {
                self.pass_on(question, of, origin)
            }
            Made::Push(of, less) => {
                let start = self.pass_on(question, of, origin);
                self.compute(Arithmetic::Sub, start, less, origin)
            }
            Made::Pull(of, more) => {
                let start = self.pass_on(question, of, origin);
                self.compute(Arithmetic::Add, start, more, origin)
            }
            Made::Restore(_, to) => to,
            Made::New
            | Made::Empty
            | Made::Rewritten(_)
            | Made::Copied(_)
            | Made::Look(_)
            | Made::Around(..)
            | Made::Part(_) => return None,
        })
    }

    fn attribute(&mut self, attribute: AttributeId, origin: &Origin) -> Option<Value> {
        let question = Question::Attribute(attribute);
        let row = &self.attributes[attribute.at()];
        Some(match origin.made {
            Made::With(other, _, value) if other == attribute => value,
            Made::Same(of)
            | Made::With(_, of, _)
            | Made::Push(of, _)
            | Made::Pull(of, _)
            | Made::Cut(of, _)
            | Made::Pad(of, _)
            | Made::Restore(of, _)
            | Made::Rewritten(of) => self.pass_on(question, of, origin),
            Made::Copied(of) if !row.is_mark => self.pass_on(question, of, origin),
            Made::Copied(_) | Made::New | Made::Empty => {
                self.add(row.default.clone(), Vec::new(), row.of, origin.behind)
            }
            Made::Look(_) | Made::Around(..) | Made::Part(_) => return None,
        })
    }

    /// The answer of the handle that an operation is given: right before the operation, if nothing
    /// else gives it.
    fn pass_on(&mut self, question: Question, handle: Value, origin: &Origin) -> Value {
        if let Some(known) = self.ask(question, handle) {
            return known;
        }
        let (op, of) = match question {
            Question::Length => (Op::Length, Type::WORD),
            Question::Start => (Op::Start, Type::WORD),
            Question::Attribute(id) => (Op::Attribute(id), self.attributes[id.at()].of),
        };
        self.add(op, vec![handle], of, origin.before)
    }

    fn compute(&mut self, how: Arithmetic, one: Value, other: Value, origin: &Origin) -> Value {
        let operands = vec![one, other];
        self.add(Op::Arithmetic(how), operands, Type::WORD, origin.behind)
    }

    fn add(&mut self, op: Op, operands: Vec<Value>, of: Type, spot: Spot) -> Value {
        let hint = String::new();
        self.values.push(Definition { of, hint });
        let result = Value(self.values.len() as u32 - 1);
        self.added.entry(spot).or_default().push(Instruction {
            op,
            operands,
            results: vec![result],
            span: None,
        });
        result
    }
}

/// By handle or view: the operation that made it, if that says something of it.
fn origins(function: &Function) -> BTreeMap<Value, Origin> {
    let graph = Graph::of(function).expect("the verifier passes acyclic graphs alone");
    let mut origins = BTreeMap::new();
    for (id, block) in function.all_blocks() {
        for (at, instruction) in block.instructions.iter().enumerate() {
            if let Some(made) = made(instruction) {
                let (before, behind) = ((id, at), (id, at + 1));
                let origin = Origin {
                    made,
                    before,
                    behind,
                };
                origins.insert(instruction.results[0], origin);
            }
        }
        let before = (id, block.instructions.len());
        for edge in block.terminator.edges() {
            // A block to which several edges lead has handles of its own.
            if graph.before[edge.block.at()].len() != 1 {
                continue;
            }
            let parameters = &function.block(edge.block).parameters;
            let results = results_of(function, &block.terminator, edge);
            let same = edge.arguments.iter().map(|one| Some(Made::Same(*one)));
            let behind = (edge.block, 0);
            for (parameter, made) in parameters.iter().zip(same.chain(results)) {
                if let Some(made) = made.filter(|_| is_asked(function, *parameter)) {
                    let origin = Origin {
                        made,
                        before,
                        behind,
                    };
                    origins.insert(*parameter, origin);
                }
            }
        }
    }
    origins
}

fn is_asked(function: &Function, value: Value) -> bool {
    matches!(function.type_of(value), Type::Message | Type::View)
}

/// The operation as that which made its first result.
fn made(instruction: &Instruction) -> Option<Made> {
    let operands = &instruction.operands;
    Some(match instruction.op {
        Op::With(attribute) => Made::With(attribute, operands[0], operands[1]),
        Op::Push => Made::Push(operands[0], operands[1]),
        Op::Pull => Made::Pull(operands[0], operands[1]),
        Op::Cut => Made::Cut(operands[0], operands[1]),
        Op::Rewrite(_) => Made::Rewritten(operands[0]),
        Op::Look => Made::Look(operands[0]),
        Op::Before => Made::Part(operands[1]),
        Op::Around => Made::Around(operands[0], operands[1]),
        Op::SubView => Made::Part(operands[2]),
        _ => return None,
    })
}

/// The results of an attempt on one of its edges, each as that which made it.
fn results_of(function: &Function, end: &Terminator, edge: &Edge) -> Vec<Option<Made>> {
    let Terminator::Try {
        attempt,
        operands,
        done,
        ..
    } = end
    else {
        return Vec::new();
    };
    let is_message = |value: &Value| function.type_of(*value) == Type::Message;
    if !std::ptr::eq(edge, done) {
        // A message that comes back is unchanged.
        let back = operands.iter().copied().filter(is_message);
        return back.map(|one| Some(Made::Same(one))).collect();
    }
    vec![match attempt {
        Attempt::New => Some(Made::Empty),
        Attempt::NewOf
        | Attempt::TakeBytes(_)
        | Attempt::CopyBytes(_)
        | Attempt::BorrowBytes(_) => Some(Made::New),
        Attempt::Share | Attempt::Copy => Some(Made::Copied(operands[0])),
        Attempt::Restore => Some(Made::Restore(operands[0], operands[1])),
        Attempt::Pad => Some(Made::Pad(operands[0], operands[1])),
        Attempt::Rewrite(_) => Some(Made::Rewritten(operands[0])),
        Attempt::Live(_)
        | Attempt::Find(_)
        | Attempt::Soonest(..)
        | Attempt::Standing(_)
        | Attempt::Recall(_)
        | Attempt::Create(_)
        | Attempt::Pop(_)
        | Attempt::PushItem(_)
        | Attempt::Insert(_)
        | Attempt::Take(_)
        | Attempt::ShareItem(_)
        | Attempt::InsertBytes(_)
        | Attempt::AppendBytes(_) => None,
    }]
}
