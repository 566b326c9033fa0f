//! Sinking: a value that is used on one way alone is computed on that way.
//!
//! In: a function and the effects of all that it calls. Out: a value all of whose uses stand
//! behind one edge of its block, or behind a join of its edges, is computed there, if nothing in
//! between writes what it reads and no handle that it borrows is used up in between (the simple
//! case of Knoop, Rüthing and Steffen, "Partial dead code elimination", 1994). Values for which
//! several edges have a use stay, but in fast functions: there each of these ways computes what
//! is as short as a load, so that it stands where it is compared or stored. An exit of a fast
//! function is a way, too, so a value that only what is behind an exit uses is computed behind
//! it.
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

use crate::ir::edit::{compact, operands_mut};
use crate::ir::effects::{Effects, Resource, attempt_moves, called_by_attempt, moves};
use crate::ir::graph::Graph;
use crate::ir::op::Op;
use crate::ir::{BlockId, Function, Instruction, Module, Role, Terminator, Type, Value};
use std::borrow::Cow;
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

/// A block to which values may go.
struct Way {
    block: BlockId,
    /// All that happens between the end of the block that has the values and this one, once asked.
    before: Option<Between>,
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
    /// Values that stand for others behind a block.
    copies: Vec<(BlockId, Value, Value)>,
    /// By block: those that it dominates directly.
    below: Vec<Vec<BlockId>>,
}

fn sink(module: &Module, effects: &[Effects], function: &mut Function) {
    let graph = Graph::of(function).expect("the verifier passes acyclic graphs alone");
    let mut sinking = Sinking {
        module,
        effects,
        users: vec![Vec::new(); function.values.len()],
        home: vec![BlockId(0); function.values.len()],
        copies: Vec::new(),
        below: graph.below(),
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
        for (way, old, new) in std::mem::take(&mut sinking.copies) {
            sinking.rename(function, way, (old, new));
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
        function: &mut Function,
        id: BlockId,
        all: Vec<Instruction>,
    ) -> (Vec<Instruction>, Vec<(BlockId, VecDeque<Instruction>)>) {
        let end = &function.block(id).terminator.clone();
        let is_fast = function.role == Role::Fast;
        let mut ways = match end.edges().len() {
            0 | 1 => Vec::new(),
            _several => self.ways(id),
        };
        let mut go: Vec<(BlockId, VecDeque<Instruction>)> = Vec::new();
        if ways.is_empty() && !is_fast {
            return (all, go);
        }
        let mut between = Between::default();
        between.end(self, function, end);
        let mut stay: Vec<Instruction> = Vec::new();
        for instruction in all.into_iter().rev() {
            let mut used = self.used_behind(&instruction.results, &ways);
            if used.len() > 1 && !(is_fast && is_short(&instruction) && self.are_edges(&used)) {
                used.clear();
            }
            let may_go = !used.is_empty()
                && self.may_go(function, &instruction, &between)
                && self.may_reach(function, &instruction, (id, &used), &mut ways);
            if !may_go {
                between.instruction(self, function, &instruction);
                let at = match is_fast {
                    true => self.behind_exits(function, &instruction, &stay),
                    false => stay.len(),
                };
                stay.insert(at, instruction);
                continue;
            }
            for (at, way) in used.into_iter().enumerate().rev() {
                let copy = match at {
                    0 => instruction.clone(),
                    _ => self.copy(function, &instruction, way),
                };
                for result in &copy.results {
                    self.home[result.at()] = way;
                }
                match go.iter_mut().find(|(to, _)| *to == way) {
                    Some((_, there)) => there.push_front(copy),
                    None => go.push((way, VecDeque::from([copy]))),
                }
            }
        }
        stay.reverse();
        (stay, go)
    }

    /// The blocks that a block dominates directly, each behind one edge of it or a join of several.
    fn ways(&self, id: BlockId) -> Vec<Way> {
        let below = self.below[id.at()].iter();
        let way = |block: &BlockId| Way {
            block: *block,
            before: match self.graph.before[block.at()].len() {
                1 => Some(Between::default()),
                _join => None,
            },
        };
        below.map(way).collect()
    }

    /// Returns true if each of these blocks stands behind one edge, so no path goes through two of
    /// them.
    fn are_edges(&self, ways: &[BlockId]) -> bool {
        let mut before = ways.iter().map(|way| &self.graph.before[way.at()]);
        before.all(|before| before.len() == 1)
    }

    /// Returns true if an instruction gives the same behind all blocks that stand between its own
    /// and these.
    fn may_reach(
        &self,
        function: &Function,
        instruction: &Instruction,
        (from, used): (BlockId, &[BlockId]),
        ways: &mut [Way],
    ) -> bool {
        let mut ways = ways.iter_mut().filter(|way| used.contains(&way.block));
        ways.all(|way| {
            let before = way
                .before
                .get_or_insert_with(|| self.up_to(function, from, way.block));
            self.may_go(function, instruction, before)
        })
    }

    /// All that happens between a block and a join that it dominates directly.
    fn up_to(&self, function: &Function, from: BlockId, join: BlockId) -> Between {
        let mut between = Between::default();
        let mut seen = BTreeSet::from([from]);
        let mut open = self.graph.before[join.at()].clone();
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            let block = function.block(id);
            for instruction in &block.instructions {
                between.instruction(self, function, instruction);
            }
            between.end(self, function, &block.terminator);
            open.extend(&self.graph.before[id.at()]);
        }
        between
    }

    /// The place of an instruction among those behind it, the last of which stand first: behind all
    /// exits that leave without its value, and before its first use.
    fn behind_exits(
        &self,
        function: &Function,
        instruction: &Instruction,
        behind: &[Instruction],
    ) -> usize {
        let mut between = Between::default();
        let mut place = behind.len();
        let mut leaves = false;
        while let Some(next) = place.checked_sub(1).map(|at| &behind[at]) {
            let is_used = next
                .operands
                .iter()
                .any(|one| instruction.results.contains(one));
            between.instruction(self, function, next);
            if is_used || !self.may_go(function, instruction, &between) {
                break;
            }
            leaves |= matches!(next.op, Op::Exit(_));
            place -= 1;
        }
        if leaves { place } else { behind.len() }
    }

    /// The ways behind which values are used; none if one is used elsewhere, too.
    fn used_behind(&self, results: &[Value], ways: &[Way]) -> Vec<BlockId> {
        let mut used = Vec::new();
        for user in results.iter().flat_map(|one| &self.users[one.at()]) {
            let place = self.place(*user);
            let mut ways = ways.iter().map(|way| way.block);
            match ways.find(|way| self.graph.dominates(*way, place)) {
                Some(way) if used.contains(&way) => {}
                Some(way) => used.push(way),
                None => return Vec::new(),
            }
        }
        used
    }

    /// The block of a user.
    fn place(&self, user: User) -> BlockId {
        match user {
            User::Makes(value) => self.home[value.at()],
            User::Block(block) => block,
        }
    }

    /// A copy of an instruction for those that use its value behind a way.
    fn copy(
        &mut self,
        function: &mut Function,
        instruction: &Instruction,
        way: BlockId,
    ) -> Instruction {
        let old = instruction.results[0];
        let new = Value(function.values.len() as u32);
        function.values.push(function.values[old.at()].clone());
        self.home.push(way);
        let users = std::mem::take(&mut self.users[old.at()]);
        let (behind, others) = users
            .into_iter()
            .partition(|user| self.graph.dominates(way, self.place(*user)));
        self.users[old.at()] = others;
        self.users.push(behind);
        for operand in &instruction.operands {
            self.users[operand.at()].push(User::Makes(new));
        }
        self.copies.push((way, old, new));
        Instruction {
            results: vec![new],
            ..instruction.clone()
        }
    }

    /// A copy stands for a value in all blocks behind a way.
    fn rename(&self, function: &mut Function, way: BlockId, (old, new): (Value, Value)) {
        for at in 0..function.blocks.len() {
            if !self.graph.dominates(way, BlockId(at as u32)) {
                continue;
            }
            let block = &mut function.blocks[at];
            let own = block.instructions.iter_mut();
            let own = own.flat_map(|one| &mut one.operands);
            for value in own.chain(operands_mut(&mut block.terminator)) {
                if *value == old {
                    *value = new;
                }
            }
        }
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
        if shows.clone().next().is_some() {
            reads.insert(Resource::Bytes);
        }
        let mut types = instruction
            .operands
            .iter()
            .map(|one| function.type_of(*one));
        // A value that only C knows may be the field that was loaded.
        let is_opaque = types.any(|of| matches!(of, Type::Opaque(_)));
        own.are_none()
            && (!is_opaque || between.writes.is_empty())
            && !(between.ends_views && shows.next().is_some())
            && !instruction.results.iter().any(is_linear)
            && reads.is_disjoint(&between.writes)
            && !operands.any(|one| between.moved.contains(one))
    }

    fn of(&self, op: &Op) -> Cow<'_, Effects> {
        Effects::with_called(self.module, self.effects, op)
    }
}

/// Returns true if an instruction is as short as a load, or belongs to what loads it.
fn is_short(instruction: &Instruction) -> bool {
    let is_load = matches!(instruction.op, Op::Load(_) | Op::Read(_));
    instruction.results.len() == 1 && (is_load || instruction.op.is_total())
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
        self.writes.extend(&sinking.of(&one.op).writes);
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
