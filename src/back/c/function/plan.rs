//! The plan of a function: values that stand in place, joins that are copied, and messages that
//! share a variable.
//!
//! In: a function. Out: tables that the printer looks up. A value stands in place where it is used
//! once, and nothing between its instruction and its use changes what it reads; the use is that of
//! the statement in which it finally stands. Other values get a name where they are computed.
//!
//! A block with one edge to it is *nested* where the edge is, so its parameters are other names for
//! what the edge gives. A small one that ends the function is *copied* to each edge. Any other with
//! several edges is a *join*: its parameters are variables that each edge sets.

use super::super::Stack;
use crate::ir::effects::{Effects, Resource, attempt_moves, called, called_by_attempt, moves};
use crate::ir::graph::Graph;
use crate::ir::op::{Attempt, Op};
use crate::ir::types::Type;
use crate::ir::{BlockId, Edge, Function, Terminator, Value};
use std::collections::BTreeSet;

/// The form of a block in C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It has one edge, and stands there.
    Nested,
    /// It is short and ends the function: it stands at each edge.
    Copied,
    /// It stands once, behind the block that dominates it.
    Join,
}

/// Statements of a block that is copied, at most.
const COPIED: usize = 3;

/// Operations that one expression has, at most.
const MOST_IN_PLACE: u32 = 24;

/// A moment of a function: a block, and an instruction of it. Behind all instructions come the end
/// of the block, and then what its edges give.
type Moment = (BlockId, usize);

/// The plan of a function.
pub struct Plan {
    /// The order and the dominators of its blocks.
    pub graph: Graph,
    /// By block: those that it dominates directly.
    pub below: Vec<Vec<BlockId>>,
    /// By block.
    pub standing: Vec<Standing>,
    /// By value: it stands in place.
    pub in_place: Vec<bool>,
    /// By value: how often it is used.
    pub uses: Vec<u32>,
    /// By value: how many operations have the instance, or the one with this index, as an operand.
    pub looks: Vec<u32>,
    /// By value: the value that it is another name of, itself in most cases.
    pub same: Vec<Value>,
    /// By value: of a message, the first value that shares its variable.
    pub variable: Vec<Value>,
}

impl Plan {
    /// Plans a function.
    pub fn of(stack: &Stack<'_>, function: &Function) -> Plan {
        let graph = Graph::of(function).expect("the verifier passes acyclic graphs alone");
        let standing = standing(function, &graph);
        let same = same(function, &graph, &standing);
        let mut plan = Plan {
            below: graph.below(),
            in_place: vec![false; function.values.len()],
            uses: vec![0; function.values.len()],
            looks: looks(function, &same),
            variable: variables(function, &graph, &standing, &same),
            graph,
            standing,
            same,
        };
        plan.count(stack, function);
        Placing::new(stack, function, &plan).place(&mut plan);
        plan
    }

    /// The value that a value is another name of.
    pub fn of_same(&self, value: Value) -> Value {
        self.same[value.at()]
    }

    /// The value is used.
    pub fn is_used(&self, value: Value) -> bool {
        self.uses[self.of_same(value).at()] > 0
    }

    /// Counts uses; a use of an alias counts for its original. Works backwards, since an
    /// instruction whose result is unused uses nothing.
    fn count(&mut self, stack: &Stack<'_>, function: &Function) {
        for id in self.graph.order.clone().into_iter().rev() {
            let block = function.block(id);
            for edge in block.terminator.edges() {
                if self.standing[edge.block.at()] == Standing::Nested {
                    continue;
                }
                let parameters = &function.block(edge.block).parameters;
                for (parameter, argument) in parameters.iter().zip(&edge.arguments) {
                    if self.uses[parameter.at()] > 0 {
                        self.use_all(&[*argument]);
                    }
                }
            }
            self.use_all(&block.terminator.operands());
            for instruction in block.instructions.iter().rev() {
                let is_used = instruction
                    .results
                    .iter()
                    .any(|one| self.uses[one.at()] > 0);
                let is_counted = is_used || does_something(stack, &instruction.op);
                if is_counted && !is_alias(function, &instruction.op, &instruction.operands) {
                    self.use_all(&instruction.operands);
                }
            }
        }
    }

    fn use_all(&mut self, values: &[Value]) {
        for value in values {
            self.uses[self.same[value.at()].at()] += 1;
        }
    }
}

/// An operation does more than give a value.
fn does_something(stack: &Stack<'_>, op: &Op) -> bool {
    let mut effects = Effects::of(stack.module, op);
    for function in called(stack.module, op) {
        effects.add(&stack.effects[function.at()]);
    }
    !effects.are_none() || matches!(op, Op::With(_) | Op::Push | Op::Pull | Op::Cut)
}

fn standing(function: &Function, graph: &Graph) -> Vec<Standing> {
    let all = function.all_blocks().map(|(id, block)| {
        let edges = graph.before[id.at()].len();
        let ends = matches!(
            block.terminator,
            Terminator::Return(_) | Terminator::Tail(..) | Terminator::Take(_)
        );
        match edges {
            0 | 1 => Standing::Nested,
            _ if ends && block.instructions.len() < COPIED => Standing::Copied,
            _ => Standing::Join,
        }
    });
    all.collect()
}

/// An operation gives what it is given, under another name.
fn is_alias(function: &Function, op: &Op, operands: &[Value]) -> bool {
    match op {
        Op::At(_) | Op::Index => true,
        Op::ZeroExtend(to) => {
            let from = function.type_of(operands[0]).bits();
            from.is_some_and(|from| from > 1 && (from > 32) == (*to > 32))
        }
        _ => false,
    }
}

/// By value: the first that it is another name of.
fn same(function: &Function, graph: &Graph, standing: &[Standing]) -> Vec<Value> {
    let mut same: Vec<Value> = (0..function.values.len() as u32).map(Value).collect();
    for id in &graph.order {
        let block = function.block(*id);
        for instruction in &block.instructions {
            if is_alias(function, &instruction.op, &instruction.operands) {
                let first = same[instruction.operands[0].at()];
                same[instruction.results[0].at()] = first;
            }
        }
        for edge in block.terminator.edges() {
            if standing[edge.block.at()] == Standing::Nested {
                let parameters = &function.block(edge.block).parameters;
                for (parameter, argument) in parameters.iter().zip(&edge.arguments) {
                    same[parameter.at()] = same[argument.at()];
                }
            }
        }
    }
    same
}

/// By value: how many operations and ends of blocks have an instance as an operand.
fn looks(function: &Function, same: &[Value]) -> Vec<u32> {
    let mut looks = vec![0; function.values.len()];
    let ends = function.blocks.iter();
    let ends = ends.flat_map(|block| block.terminator.operands());
    let own = function.instructions().flat_map(|one| &one.operands);
    let all = own.copied().chain(ends);
    for value in all.filter(|value| matches!(function.type_of(*value), Type::Instance(_))) {
        looks[same[value.at()].at()] += 1;
    }
    looks
}

/// Messages that share a variable: each operation that moves one goes on with its variable, and so
/// does a join to which all edges bring the same.
fn variables(
    function: &Function,
    graph: &Graph,
    standing: &[Standing],
    same: &[Value],
) -> Vec<Value> {
    let mut variable: Vec<Value> = (0..function.values.len() as u32).map(Value).collect();
    let is_message = |value: Value| function.type_of(value) == Type::Message;
    let mut given: Vec<Option<Value>> = vec![None; function.values.len()];
    for id in &graph.order {
        let block = function.block(*id);
        for parameter in &block.parameters {
            // A parameter of a join to which different variables come has one of its own.
            let first = match (standing[id.at()], given[parameter.at()]) {
                (Standing::Join, Some(first)) => first,
                _ => variable[same[parameter.at()].at()],
            };
            variable[parameter.at()] = first;
        }
        for instruction in &block.instructions {
            let operands = instruction.operands.iter().copied();
            let mut moved = operands.filter(|one| is_message(*one));
            let keeps = moves(&instruction.op) && !matches!(instruction.op, Op::Call(_));
            for result in instruction.results.iter().filter(|one| is_message(**one)) {
                if let Some(moved) = moved.next().filter(|_| keeps) {
                    variable[result.at()] = variable[moved.at()];
                }
            }
        }
        let end = &block.terminator;
        if let Terminator::Try {
            attempt,
            operands,
            done,
            failed,
            ..
        } = end
        {
            for (edge, comes_back) in [(done, keeps_message(attempt)), (failed, true)] {
                let operands = operands.iter().copied();
                let mut moved = operands.filter(|one| comes_back && is_message(*one));
                let results = results_of(function, edge).into_iter();
                for result in results.filter(|one| is_message(*one)) {
                    let own = moved.next().map_or(result, |moved| variable[moved.at()]);
                    match standing[edge.block.at()] {
                        Standing::Join => join(&mut given, result, own),
                        Standing::Nested | Standing::Copied => variable[result.at()] = own,
                    }
                }
            }
        }
        for edge in end.edges() {
            if standing[edge.block.at()] != Standing::Join {
                continue;
            }
            let parameters = &function.block(edge.block).parameters;
            for (parameter, argument) in parameters.iter().zip(&edge.arguments) {
                if is_message(*parameter) {
                    let own = variable[argument.at()];
                    join(&mut given, *parameter, own);
                }
            }
        }
    }
    variable
}

/// A variable comes to the parameter of a join: all others must be the same, or it has its own.
fn join(given: &mut [Option<Value>], parameter: Value, own: Value) {
    let known = &mut given[parameter.at()];
    *known = match known {
        None => Some(own),
        Some(known) if *known == own => Some(own),
        Some(_) => Some(parameter),
    };
}

/// The parameters of the block behind an edge that an attempt gives.
fn results_of(function: &Function, edge: &Edge) -> Vec<Value> {
    let parameters = &function.block(edge.block).parameters;
    parameters[edge.arguments.len()..].to_vec()
}

/// A message stays in its buffer: what was read of it may be read again.
fn goes_on(op: &Op) -> bool {
    matches!(op, Op::With(_) | Op::Push | Op::Pull | Op::Cut)
}

/// A message that an attempt gives is the one that it was given.
fn keeps_message(attempt: &Attempt) -> bool {
    matches!(
        attempt,
        Attempt::Restore | Attempt::Pad | Attempt::Rewrite(_)
    )
}

/// Decides which values stand in place.
struct Placing<'p> {
    stack: &'p Stack<'p>,
    function: &'p Function,
    order: Vec<BlockId>,
    /// By block: what each instruction changes, and behind them the end.
    changes: Vec<Vec<Change>>,
}

/// The regions that an instruction changes, and the messages whose variables it changes.
#[derive(Default)]
struct Change {
    regions: BTreeSet<Resource>,
    variables: BTreeSet<Value>,
}

impl<'p> Placing<'p> {
    fn new(stack: &'p Stack<'p>, function: &'p Function, plan: &Plan) -> Placing<'p> {
        let module = stack.module;
        let is_message = |value: &&Value| function.type_of(**value) == Type::Message;
        let changes = function.blocks.iter().map(|block| {
            let mut all: Vec<Change> = Vec::new();
            for instruction in &block.instructions {
                let mut effects = Effects::of(module, &instruction.op);
                for function in called(module, &instruction.op) {
                    effects.add(&stack.effects[function.at()]);
                }
                let moved = instruction.operands.iter().filter(is_message);
                let moved = moved.map(|value| plan.variable[value.at()]);
                let variables: BTreeSet<Value> = match moves(&instruction.op) {
                    true => moved.collect(),
                    false => BTreeSet::new(),
                };
                if !variables.is_empty() && !goes_on(&instruction.op) {
                    effects.writes.insert(Resource::Bytes);
                }
                all.push(Change {
                    regions: effects.writes,
                    variables,
                });
            }
            let mut end = Change::default();
            if let Terminator::Try {
                attempt, operands, ..
            } = &block.terminator
            {
                end.regions = Effects::of_attempt(module, attempt).writes;
                for function in called_by_attempt(module, attempt) {
                    end.regions.extend(&stack.effects[function.at()].writes);
                }
                let moved = operands.iter().filter(is_message);
                end.variables = moved.map(|value| plan.variable[value.at()]).collect();
                if !end.variables.is_empty() && attempt_moves(attempt) {
                    end.regions.insert(Resource::Bytes);
                }
            }
            all.push(end);
            all
        });
        Placing {
            stack,
            function,
            order: plan.graph.order.clone(),
            changes: changes.collect(),
        }
    }

    /// Goes through the function from its end, so that each value comes behind its use.
    fn place(&self, plan: &mut Plan) {
        let mut moments: Vec<Option<Moment>> = vec![None; self.function.values.len()];
        let mut weights = vec![0_u32; self.function.values.len()];
        for id in self.order.iter().rev() {
            let block = self.function.block(*id);
            let end = block.instructions.len();
            for operand in block.terminator.operands() {
                moments[plan.same[operand.at()].at()] = Some((*id, end));
            }
            for edge in block.terminator.edges() {
                if plan.standing[edge.block.at()] == Standing::Nested {
                    continue;
                }
                for argument in &edge.arguments {
                    moments[plan.same[argument.at()].at()] = Some((*id, end + 1));
                }
            }
            for (at, instruction) in block.instructions.iter().enumerate().rev() {
                let op = &instruction.op;
                if is_alias(self.function, op, &instruction.operands) {
                    continue;
                }
                let mut moment = (*id, at);
                let mut weight = 1;
                if let [result] = instruction.results[..]
                    && let Some(used) = moments[result.at()]
                    && self.stands_in_place(plan, op, result, (moment, used))
                    && weights[result.at()] < MOST_IN_PLACE
                {
                    plan.in_place[result.at()] = true;
                    moment = used;
                    weight += weights[result.at()];
                }
                for operand in &instruction.operands {
                    let operand = plan.same[operand.at()].at();
                    moments[operand] = Some(moment);
                    weights[operand] = weight;
                }
            }
        }
    }

    fn stands_in_place(
        &self,
        plan: &Plan,
        op: &Op,
        result: Value,
        (moment, used): (Moment, Moment),
    ) -> bool {
        if let Op::Number(..) | Op::Instance(..) | Op::Bytes(_) | Op::Real(..) | Op::Text(..) = op {
            return true;
        }
        let of = self.function.type_of(result);
        let is_lvalue = matches!(op, Op::Load(_) | Op::Attribute(_));
        let fits = match of {
            Type::Int(_) | Type::Instance(_) => true,
            Type::Bytes(_) => is_lvalue,
            Type::Float(_) | Type::Opaque(_) => true,
            Type::View => !matches!(op, Op::Call(_)),
            Type::Message => false,
        };
        if plan.uses[result.at()] != 1 || !fits {
            return false;
        }
        let mut effects = Effects::of(self.stack.module, op);
        for function in called(self.stack.module, op) {
            effects.add(&self.stack.effects[function.at()]);
        }
        if !effects.are_none() || matches!(op, Op::Loop(..) | Op::Run(..)) {
            return false;
        }
        let looks_at = self.looks_at(plan, moment, op);
        if effects.reads.is_empty() && looks_at.is_empty() {
            return true;
        }
        let (block, from) = moment;
        used.0 == block
            && self.changes[block.at()][from + 1..used.1]
                .iter()
                .all(|change| {
                    change.regions.is_disjoint(&effects.reads)
                        && change.variables.is_disjoint(&looks_at)
                })
    }

    /// The variables of messages that an operation looks at.
    fn looks_at(&self, plan: &Plan, moment: Moment, op: &Op) -> BTreeSet<Value> {
        if moves(op) {
            return BTreeSet::new();
        }
        let instruction = &self.function.block(moment.0).instructions[moment.1];
        let operands = instruction.operands.iter();
        let messages = operands.filter(|one| self.function.type_of(**one) == Type::Message);
        messages.map(|one| plan.variable[one.at()]).collect()
    }
}
