//! Dead attributes: an attribute that nobody reads before its message is gone is not set.
//!
//! In: a module. Out: a `with` is gone if nobody to whom the message comes reads the attribute.
//! If only some paths read the attribute, the `with` moves to those paths (partial dead code
//! elimination, Knoop, Rüthing and Steffen, 1994, for one kind of assignment).
//!
//! Messages flow from value to value: through operations, edges, calls, events, queues and windows.
//! An attribute is live at a value if it is read there, or is live where the message goes; a `with`
//! of the same attribute, and a copy for a mark, stop it. Links read no attribute, ports those that
//! they list. This is liveness of object fields, without regard to calling context.
//!
//! ```text
//! %m2 = with mark %m, %x                 branch %c, b1, b2
//! branch %c, b1, b2                      b1: %m2 = with mark %m, %x
//! b1: tail reads_it(%m2)                     tail reads_it(%m2)
//! b2: drop late %m2                      b2: drop late %m
//! ```
//!
//! Assumes: rules 1 to 5 of the verifier. Cost: linear for each link of the longest chain of
//! reactions that pass a message on.

use crate::ir::edit::{compact, operands_mut, substitute_in_turn};
use crate::ir::function::Definition;
use crate::ir::graph::Graph;
use crate::ir::op::{Attempt, Change, Event, Op, Place, Target};
use crate::ir::{
    AttributeId, BlockId, Edge, Function, FunctionId, Instruction, Module, PortId, Terminator,
    Type, Value,
};
use std::collections::BTreeMap;

/// Removes dead attributes in all functions of a module.
pub fn run(module: &mut Module) {
    let flows = Flows::of(module);
    let live = flows.live(module);
    for (at, function) in module.functions.iter_mut().enumerate() {
        let id = FunctionId(at as u32);
        remove(function, |value, attribute| {
            live.has(flows.nodes.get(&Node::Value(id, value)), attribute)
        });
    }
    let flows = Flows::of(module);
    let live = flows.live(module);
    let mut by_function = flows.by_function(module);
    for (function, flows) in module.functions.iter_mut().zip(&mut by_function) {
        let mut dividing = Dividing::new(function, std::mem::take(flows), &live);
        dividing.all(function);
        dividing.rename(function);
        compact(function);
    }
}

/// Removes each `with` of a dead attribute.
fn remove(function: &mut Function, is_live: impl Fn(Value, AttributeId) -> bool) {
    let mut by: Vec<Value> = (0..function.values.len() as u32).map(Value).collect();
    for block in &mut function.blocks {
        block.instructions.retain(|instruction| {
            let Op::With(attribute) = instruction.op else {
                return true;
            };
            let result = instruction.results[0];
            let stays = is_live(result, attribute);
            if !stays {
                by[result.at()] = instruction.operands[0];
            }
            stays
        });
    }
    substitute_in_turn(function, by);
    compact(function);
}

/// A place where messages are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Node {
    /// A value of a function.
    Value(FunctionId, Value),
    /// A result of a function.
    Result(FunctionId, usize),
    /// A queue or window.
    Container(Place),
}

/// The attributes that a flow stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stops {
    Nothing,
    One(AttributeId),
    Marks,
}

/// The next thing that happens to a message.
#[derive(Clone, Copy, Debug)]
enum Fate {
    /// It is at the place with this number, too.
    Goes(usize, Stops),
    /// The attribute is read.
    Reads(AttributeId),
}

/// A message at a place, the block in which it is used there, and what happens then.
#[derive(Clone, Copy, Debug)]
struct Flow {
    from: usize,
    block: BlockId,
    fate: Fate,
}

/// All flows of messages of a module.
#[derive(Default)]
struct Flows {
    nodes: BTreeMap<Node, usize>,
    flows: Vec<Flow>,
}

/// By the number of a place: a bit for each attribute that is live there.
struct Live {
    words: usize,
    bits: Vec<u64>,
    /// A bit for each mark.
    marks: Vec<u64>,
}

impl Live {
    fn has(&self, node: Option<&usize>, AttributeId(id): AttributeId) -> bool {
        let word = |node: &usize| self.bits[node * self.words + id as usize / 64];
        node.is_some_and(|node| word(node) >> (id % 64) & 1 == 1)
    }

    fn is_mark(&self, AttributeId(id): AttributeId) -> bool {
        self.marks[id as usize / 64] >> (id % 64) & 1 == 1
    }
}

impl Flows {
    fn of(module: &Module) -> Flows {
        let mut flows = Flows::default();
        for (at, function) in module.functions.iter().enumerate() {
            let id = FunctionId(at as u32);
            for (block, content) in function.all_blocks() {
                let mut finding = Finding {
                    module,
                    function,
                    id,
                    block,
                    flows: &mut flows,
                };
                for instruction in &content.instructions {
                    finding.instruction(instruction);
                }
                finding.end(&content.terminator);
            }
        }
        flows
    }

    fn node(&mut self, node: Node) -> usize {
        let next = self.nodes.len();
        *self.nodes.entry(node).or_insert(next)
    }

    /// Follows all flows backwards, until nothing more is live anywhere.
    fn live(&self, module: &Module) -> Live {
        let words = module.attributes.len().div_ceil(64).max(1);
        let mut live = Live {
            words,
            bits: vec![0; words * self.nodes.len()],
            marks: vec![0; words],
        };
        for (at, attribute) in module.attributes.iter().enumerate() {
            live.marks[at / 64] |= u64::from(attribute.is_mark) << (at % 64);
        }
        let mut changed = true;
        while changed {
            changed = false;
            for flow in self.flows.iter().rev() {
                for word in 0..words {
                    let one = |AttributeId(id): AttributeId| {
                        u64::from(id as usize / 64 == word) << (id % 64)
                    };
                    let new = match flow.fate {
                        Fate::Reads(attribute) => one(attribute),
                        Fate::Goes(to, stops) => {
                            live.bits[to * words + word]
                                & !match stops {
                                    Stops::Nothing => 0,
                                    Stops::One(attribute) => one(attribute),
                                    Stops::Marks => live.marks[word],
                                }
                        }
                    };
                    let bits = &mut live.bits[flow.from * words + word];
                    changed |= new & !*bits != 0;
                    *bits |= new;
                }
            }
        }
        live
    }

    /// By function: by value, what happens to the message, and in which block.
    fn by_function(&self, module: &Module) -> Vec<BTreeMap<Value, Vec<(BlockId, Fate)>>> {
        let mut by_function = vec![BTreeMap::new(); module.functions.len()];
        let mut owners: Vec<Option<(FunctionId, Value)>> = vec![None; self.nodes.len()];
        for (node, at) in &self.nodes {
            if let Node::Value(id, value) = node {
                owners[*at] = Some((*id, *value));
            }
        }
        for flow in &self.flows {
            if let Some((id, value)) = owners[flow.from] {
                let of_value: &mut Vec<(BlockId, Fate)> =
                    by_function[id.at()].entry(value).or_default();
                of_value.push((flow.block, flow.fate));
            }
        }
        by_function
    }
}

/// A block whose flows are being found.
struct Finding<'f> {
    module: &'f Module,
    function: &'f Function,
    id: FunctionId,
    block: BlockId,
    flows: &'f mut Flows,
}

impl Finding<'_> {
    fn instruction(&mut self, instruction: &Instruction) {
        let operands = &instruction.operands[..];
        let results = &instruction.results[..];
        match &instruction.op {
            Op::Attribute(attribute) => self.reads(operands[0], *attribute),
            Op::With(attribute) => {
                let to = self.own(results[0]);
                self.goes(operands[0], to, Stops::One(*attribute));
            }
            Op::Push | Op::Pull | Op::Cut | Op::Rewrite(_) => {
                let to = self.own(results[0]);
                self.goes(operands[0], to, Stops::Nothing);
            }
            Op::Call(id) => {
                self.given(*id, operands);
                self.returned(*id, 0, results);
            }
            Op::Loop(id, _) => {
                // The first result of a turn says whether another comes.
                self.given(*id, operands);
                self.returned(*id, 1, results);
                let carried = operands.len() - results.len();
                for (operand, result) in operands[carried..].iter().zip(results) {
                    let to = self.own(*result);
                    self.goes(*operand, to, Stops::Nothing);
                }
                let parameters = self.module.function(*id).parameters().to_vec();
                for (at, parameter) in parameters[carried..].iter().enumerate() {
                    let from = self.flows.node(Node::Result(*id, at + 1));
                    let to = self.flows.node(Node::Value(*id, *parameter));
                    self.flow(from, Fate::Goes(to, Stops::Nothing));
                }
            }
            Op::Queue(_, events) | Op::Output(events) => self.sent(events, operands),
            Op::Change(Change::Replace, place) => {
                let to = self.flows.node(Node::Container(*place));
                self.all_go(operands, to);
            }
            _other => {}
        }
    }

    fn end(&mut self, end: &Terminator) {
        match end {
            Terminator::Return(values) => {
                for (at, value) in values.iter().enumerate() {
                    let to = self.flows.node(Node::Result(self.id, at));
                    self.all_go(&[*value], to);
                }
            }
            Terminator::Tail(event, values) => self.sent(std::slice::from_ref(event), values),
            Terminator::Try {
                attempt,
                operands,
                done,
                failed,
                ..
            } => self.attempt(attempt, operands, (done, failed)),
            Terminator::Jump(_)
            | Terminator::Branch { .. }
            | Terminator::Switch { .. }
            | Terminator::Take(_)
            | Terminator::Never => {}
        }
        for edge in end.edges() {
            let parameters = self.function.block(edge.block).parameters.iter();
            for (parameter, argument) in parameters.zip(&edge.arguments) {
                let to = self.own(*parameter);
                self.all_go(&[*argument], to);
            }
        }
    }

    fn attempt(&mut self, attempt: &Attempt, operands: &[Value], (done, failed): (&Edge, &Edge)) {
        let made = self.messages(done);
        let back = self.messages(failed);
        let given = operands.iter().copied().filter(|one| self.is_message(*one));
        let given: Vec<Value> = given.collect();
        // Messages come back in the order in which they were given.
        for (from, to) in given.iter().zip(back) {
            let to = self.own(to);
            self.goes(*from, to, Stops::Nothing);
        }
        match attempt {
            Attempt::Restore | Attempt::Pad | Attempt::Rewrite(_) => {
                let to = self.own(made[0]);
                self.goes(given[0], to, Stops::Nothing);
            }
            Attempt::Share | Attempt::Copy => {
                let to = self.own(made[0]);
                self.goes(given[0], to, Stops::Marks);
            }
            Attempt::PushItem(place) | Attempt::Insert(place) => {
                let to = self.flows.node(Node::Container(*place));
                self.all_go(&given, to);
            }
            Attempt::Pop(place) | Attempt::Take(place) | Attempt::ShareItem(place) => {
                let stops = match attempt {
                    Attempt::ShareItem(_) => Stops::Marks,
                    _moved => Stops::Nothing,
                };
                let from = self.flows.node(Node::Container(*place));
                for message in made {
                    let to = self.own(message);
                    self.flow(from, Fate::Goes(to, stops));
                }
            }
            Attempt::New
            | Attempt::NewOf
            | Attempt::Live(_)
            | Attempt::Find(_)
            | Attempt::Soonest(..)
            | Attempt::Standing(_)
            | Attempt::Recall(_)
            | Attempt::Create(_)
            | Attempt::InsertBytes(_)
            | Attempt::AppendBytes(_)
            | Attempt::TakeBytes(_)
            | Attempt::CopyBytes(_)
            | Attempt::BorrowBytes(_) => {}
        }
    }

    /// The results of an attempt on an edge that are messages.
    fn messages(&self, edge: &Edge) -> Vec<Value> {
        let parameters = &self.function.block(edge.block).parameters;
        let results = parameters[edge.arguments.len()..].iter().copied();
        results.filter(|one| self.is_message(*one)).collect()
    }

    fn sent(&mut self, events: &[Event], operands: &[Value]) {
        let mut rest = operands;
        for event in events {
            let (own, others) = rest.split_at(event.arguments as usize);
            rest = others;
            match event.target {
                Target::Function(id) => self.given(id, own),
                Target::Port(port, _) => self.told(port, own),
                Target::Link(_) => {}
            }
        }
    }

    /// An application reads the attributes that its port lists.
    fn told(&mut self, port: PortId, operands: &[Value]) {
        let module = self.module;
        let listed = module.ports[port.at()].attributes.iter();
        for attribute in listed.flat_map(|one| &one.parts) {
            for operand in operands {
                if self.is_message(*operand) {
                    self.reads(*operand, *attribute);
                }
            }
        }
    }

    fn given(&mut self, id: FunctionId, operands: &[Value]) {
        let parameters = self.module.function(id).parameters().to_vec();
        for (operand, parameter) in operands.iter().zip(parameters) {
            let to = Node::Value(id, parameter);
            if self.is_message(*operand) {
                let to = self.flows.node(to);
                self.goes(*operand, to, Stops::Nothing);
            }
        }
    }

    fn returned(&mut self, id: FunctionId, first: usize, results: &[Value]) {
        for (at, result) in results.iter().enumerate() {
            if self.is_message(*result) {
                let from = self.flows.node(Node::Result(id, first + at));
                let to = self.own(*result);
                self.flow(from, Fate::Goes(to, Stops::Nothing));
            }
        }
    }

    fn all_go(&mut self, values: &[Value], to: usize) {
        for value in values {
            if self.is_message(*value) {
                self.goes(*value, to, Stops::Nothing);
            }
        }
    }

    fn goes(&mut self, from: Value, to: usize, stops: Stops) {
        let from = self.own(from);
        self.flow(from, Fate::Goes(to, stops));
    }

    fn reads(&mut self, from: Value, attribute: AttributeId) {
        let from = self.own(from);
        self.flow(from, Fate::Reads(attribute));
    }

    fn flow(&mut self, from: usize, fate: Fate) {
        let block = self.block;
        self.flows.flows.push(Flow { from, block, fate });
    }

    fn own(&mut self, value: Value) -> usize {
        self.flows.node(Node::Value(self.id, value))
    }

    fn is_message(&self, value: Value) -> bool {
        self.function.type_of(value) == Type::Message
    }
}

/// A function in which a `with` moves to the ways on which its attribute is read.
struct Dividing<'d> {
    live: &'d Live,
    graph: Graph,
    /// By value: what happens to the message, and in which block.
    flows: BTreeMap<Value, Vec<(BlockId, Fate)>>,
    /// By value: the blocks in which it is used.
    users: BTreeMap<Value, Vec<BlockId>>,
    /// By value: the values that take its place behind blocks, the innermost last.
    names: BTreeMap<Value, Vec<(BlockId, Value)>>,
}

impl Dividing<'_> {
    fn new<'d>(
        function: &Function,
        flows: BTreeMap<Value, Vec<(BlockId, Fate)>>,
        live: &'d Live,
    ) -> Dividing<'d> {
        let mut users: BTreeMap<Value, Vec<BlockId>> = BTreeMap::new();
        for (id, block) in function.all_blocks() {
            let operands = block.instructions.iter().flat_map(|one| &one.operands);
            for value in operands.copied().chain(block.terminator.uses()) {
                if function.type_of(value) == Type::Message {
                    users.entry(value).or_default().push(id);
                }
            }
        }
        Dividing {
            live,
            graph: Graph::of(function).expect("the verifier passes acyclic graphs alone"),
            flows,
            users,
            names: BTreeMap::new(),
        }
    }

    /// Divides all, the last first: so an earlier one may pass a later one.
    fn all(&mut self, function: &mut Function) {
        for id in self.graph.order.clone().into_iter().rev() {
            for at in (0..function.block(id).instructions.len()).rev() {
                let instruction = &function.block(id).instructions[at];
                let Op::With(attribute) = instruction.op else {
                    continue;
                };
                let with = instruction.clone();
                let made = with.results[0];
                if self.is_divided(function, id, made, attribute) {
                    function.blocks[id.at()].instructions.remove(at);
                    self.below(function, id, &with, attribute);
                    self.joined(&with, id);
                }
            }
        }
    }

    /// Returns true if all uses of a message from a block on stand behind single edges of it, and
    /// behind one of them nobody reads the attribute.
    fn is_divided(
        &self,
        function: &Function,
        id: BlockId,
        message: Value,
        attribute: AttributeId,
    ) -> bool {
        let ways = self.ways(function, id);
        let users = self.users.get(&message).into_iter().flatten();
        let users = users.filter(|user| self.is_behind(id, **user));
        let mut is_below = users.map(|user| ways.iter().any(|way| self.is_behind(*way, *user)));
        ways.len() > 1
            && is_below.all(|is_below| is_below)
            && !ways
                .iter()
                .all(|way| self.is_read(*way, message, attribute))
    }

    /// The blocks behind a block to which nothing else leads.
    fn ways(&self, function: &Function, id: BlockId) -> Vec<BlockId> {
        let edges = function.block(id).terminator.edges().into_iter();
        let blocks = edges.map(|edge| edge.block);
        blocks
            .filter(|block| self.graph.before[block.at()].len() == 1)
            .collect()
    }

    fn is_behind(&self, way: BlockId, block: BlockId) -> bool {
        self.graph.dominates(way, block)
    }

    fn is_read(&self, way: BlockId, message: Value, attribute: AttributeId) -> bool {
        let flows = self.flows.get(&message).into_iter().flatten();
        let mut behind = flows.filter(|(block, _)| self.is_behind(way, *block));
        behind.any(|(_, fate)| match fate {
            Fate::Reads(read) => *read == attribute,
            Fate::Goes(_, Stops::One(other)) if *other == attribute => false,
            Fate::Goes(_, Stops::Marks) if self.live.is_mark(attribute) => false,
            Fate::Goes(to, _) => self.live.has(Some(to), attribute),
        })
    }

    /// Puts a `with` behind a block on the ways on which the attribute is read.
    fn below(
        &mut self,
        function: &mut Function,
        id: BlockId,
        with: &Instruction,
        attribute: AttributeId,
    ) {
        let (message, made) = (with.operands[0], with.results[0]);
        for way in self.ways(function, id) {
            if !self.is_read(way, made, attribute) {
                self.names.entry(made).or_default().push((way, message));
            } else if self.is_divided(function, way, made, attribute) {
                self.below(function, way, with, attribute);
            } else {
                function.values.push(Definition {
                    of: Type::Message,
                    hint: function.values[made.at()].hint.clone(),
                });
                let own = Value(function.values.len() as u32 - 1);
                let results = vec![own];
                let instruction = Instruction {
                    results,
                    ..with.clone()
                };
                function.blocks[way.at()]
                    .instructions
                    .insert(0, instruction);
                self.names.entry(made).or_default().push((way, own));
            }
        }
    }

    /// The message that a `with` was given is used where that which it made was.
    fn joined(&mut self, with: &Instruction, id: BlockId) {
        let (message, made) = (with.operands[0], with.results[0]);
        let users = self.users.remove(&made).unwrap_or_default();
        let own = self.users.entry(message).or_default();
        if let Some(at) = own.iter().position(|user| *user == id) {
            own.remove(at);
        }
        own.extend(users);
        let flows = self.flows.remove(&made).unwrap_or_default();
        let own = self.flows.entry(message).or_default();
        let is_with = |fate: &Fate| matches!(fate, Fate::Goes(_, Stops::One(_)));
        own.retain(|(block, fate)| *block != id || !is_with(fate));
        own.extend(flows);
    }

    /// Gives all uses the values that take the places of others there.
    fn rename(&self, function: &mut Function) {
        for (at, block) in function.blocks.iter_mut().enumerate() {
            let id = BlockId(at as u32);
            let change = |value: &mut Value| {
                while let Some(names) = self.names.get(value)
                    && let Some((_, name)) =
                        names.iter().rev().find(|(way, _)| self.is_behind(*way, id))
                {
                    *value = *name;
                }
            };
            for instruction in &mut block.instructions {
                instruction.operands.iter_mut().for_each(change);
            }
            operands_mut(&mut block.terminator)
                .into_iter()
                .for_each(change);
        }
    }
}
