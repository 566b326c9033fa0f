//! Sinking: a value that is used on one way alone is computed on that way.
//!
//! In: a function and the effects of all that it calls. Out: a value all of whose uses stand behind
//! one edge of its block is computed behind that edge, if nothing in between writes what it reads
//! and no handle that it borrows is used up in between (the simple case of Knoop, Rüthing and
//! Steffen, "Partial dead code elimination", 1994). Values for which several edges have a use stay.
//!
//! ```text
//! b0:                                 b0:
//!   %f = load side.far %s
//!   branch %c, b1, b2                   branch %c, b1, b2
//! b1: return %f                       b1:
//! b2: return 0                          %f = load side.far %s
//!                                       return %f
//!                                     b2: return 0
//! ```
//!
//! Assumes: rules 1 to 5 and 11 of the verifier. Ensures: no path computes more than before.

use crate::ir::edit::compact;
use crate::ir::effects::{Effects, Resource, attempt_moves, called, called_by_attempt, moves};
use crate::ir::graph::Graph;
use crate::ir::op::Op;
use crate::ir::{BlockId, Function, Instruction, Module, Terminator, Type, Value};
use std::collections::{BTreeSet, VecDeque};

/// Sinks values in all functions of a module.
pub fn run(module: &mut Module) {
    let effects = Effects::of_functions(module);
    for at in 0..module.functions.len() {
        let mut function = module.functions[at].clone();
        sink(module, &effects, &mut function);
        compact(&mut function);
        module.functions[at] = function;
    }
}

/// Something that uses a value.
#[derive(Clone, Copy)]
enum User {
    /// An instruction, by its first result or, without one, by the block in which it stays.
    Makes(Value),
    /// An instruction that stays in its block, or the end of the block.
    Block(BlockId),
}

struct Sinking<'s> {
    module: &'s Module,
    effects: &'s [Effects],
    graph: Graph,
    /// By value.
    users: Vec<Vec<User>>,
    /// By value: the block that defines it now.
    home: Vec<BlockId>,
}

fn sink(module: &Module, effects: &[Effects], function: &mut Function) {
    let graph = Graph::of(function).expect("the verifier passes acyclic graphs alone");
    let mut sinking = Sinking {
        module,
        effects,
        users: vec![Vec::new(); function.values.len()],
        home: vec![BlockId(0); function.values.len()],
        graph,
    };
    sinking.find(function);
    for id in sinking.graph.order.clone() {
        let all = std::mem::take(&mut function.blocks[id.at()].instructions);
        let (stay, go) = sinking.block(function, id, all);
        function.blocks[id.at()].instructions = stay;
        for (to, instructions) in go {
            function.blocks[to.at()]
                .instructions
                .splice(0..0, instructions);
        }
    }
}

impl Sinking<'_> {
    fn find(&mut self, function: &Function) {
        for (id, block) in function.all_blocks() {
            for instruction in &block.instructions {
                let user = instruction.results.first().map(|one| User::Makes(*one));
                let user = user.unwrap_or(User::Block(id));
                for operand in &instruction.operands {
                    self.users[operand.at()].push(user);
                }
                for result in &instruction.results {
                    self.home[result.at()] = id;
                }
            }
            for value in block.terminator.uses() {
                self.users[value.at()].push(User::Block(id));
            }
        }
    }

    /// The instructions of a block that stay, and those that go to blocks behind it.
    fn block(
        &mut self,
        function: &Function,
        id: BlockId,
        all: Vec<Instruction>,
    ) -> (Vec<Instruction>, Vec<(BlockId, VecDeque<Instruction>)>) {
        let end = &function.block(id).terminator;
        let edges = end.edges().into_iter().map(|edge| edge.block);
        let ways: Vec<BlockId> = edges
            .filter(|block| self.graph.before[block.at()].len() == 1)
            .collect();
        let mut go: Vec<(BlockId, VecDeque<Instruction>)> = Vec::new();
        if ways.is_empty() || end.edges().len() < 2 {
            return (all, go);
        }
        let mut between = Between::default();
        between.end(self, function, end);
        let mut stay = Vec::new();
        for instruction in all.into_iter().rev() {
            let mut ways = ways.iter().copied();
            let way = ways.find(|way| self.is_used_only_behind(&instruction.results, *way));
            let way = way.filter(|_| self.may_go(function, &instruction, &between));
            let Some(way) = way else {
                between.instruction(self, function, &instruction);
                stay.push(instruction);
                continue;
            };
            for result in &instruction.results {
                self.home[result.at()] = way;
            }
            match go.iter_mut().find(|(to, _)| *to == way) {
                Some((_, there)) => there.push_front(instruction),
                None => go.push((way, VecDeque::from([instruction]))),
            }
        }
        stay.reverse();
        (stay, go)
    }

    fn is_used_only_behind(&self, results: &[Value], way: BlockId) -> bool {
        let users = results.iter().flat_map(|one| &self.users[one.at()]);
        let mut places = users.map(|user| match user {
            User::Makes(value) => self.home[value.at()],
            User::Block(block) => *block,
        });
        let mut is_used = false;
        let all = places.all(|place| {
            is_used = true;
            self.graph.dominates(way, place)
        });
        all && is_used
    }

    /// Returns true if an instruction changes nothing, and gives the same behind what is between.
    fn may_go(&self, function: &Function, instruction: &Instruction, between: &Between) -> bool {
        let own = self.of(&instruction.op);
        let is_linear = |value: &Value| function.type_of(*value).is_linear();
        let mut reads = own.reads.iter().copied().collect::<BTreeSet<Resource>>();
        for operand in &instruction.operands {
            // An instance is used while it has a state.
            if let Type::Instance(kind) = function.type_of(*operand) {
                reads.extend([kind, self.module.root(kind)].map(Resource::Instances));
            }
        }
        if let Op::At(kind) = instruction.op {
            reads.extend([kind, self.module.root(kind)].map(Resource::Instances));
        }
        let mut operands = instruction.operands.iter();
        let mut shows = operands
            .clone()
            .filter(|one| function.type_of(**one) == Type::View);
        own.are_none()
            && !(between.ends_views && shows.next().is_some())
            && !instruction.results.iter().any(is_linear)
            && reads.is_disjoint(&between.writes)
            && !operands.any(|one| between.moved.contains(one))
    }

    fn of(&self, op: &Op) -> Effects {
        let mut effects = Effects::of(self.module, op);
        for function in called(self.module, op) {
            effects.add(&self.effects[function.at()]);
        }
        effects
    }
}

/// All that happens between an instruction and the edges of its block.
#[derive(Default)]
struct Between {
    writes: BTreeSet<Resource>,
    /// Handles that are used up.
    moved: BTreeSet<Value>,
    /// A message is gone, or begins earlier: views of it are not read any more.
    ends_views: bool,
}

impl Between {
    fn instruction(&mut self, sinking: &Sinking<'_>, function: &Function, one: &Instruction) {
        self.writes.extend(sinking.of(&one.op).writes);
        if moves(&one.op) {
            let keeps_views = matches!(one.op, Op::With(_) | Op::Pull | Op::Cut);
            self.moves(function, &one.operands, !keeps_views);
        }
    }

    fn end(&mut self, sinking: &Sinking<'_>, function: &Function, end: &Terminator) {
        if let Terminator::Try {
            attempt, operands, ..
        } = end
        {
            let effects = Effects::of_attempt(sinking.module, attempt);
            self.writes.extend(effects.writes);
            for called in called_by_attempt(sinking.module, attempt) {
                self.writes.extend(&sinking.effects[called.at()].writes);
            }
            if attempt_moves(attempt) {
                self.moves(function, operands, true);
            }
        }
        for edge in end.edges() {
            self.moves(function, &edge.arguments, false);
        }
    }

    fn moves(&mut self, function: &Function, values: &[Value], ends_views: bool) {
        for value in values {
            if function.type_of(*value).is_linear() {
                self.moved.insert(*value);
                self.ends_views |= ends_views;
            }
        }
    }
}
