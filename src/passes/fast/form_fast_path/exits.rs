//! Names of exits: the reason for which a message is dropped behind them, or else the field,
//! attribute or kind that is asked, or else the layer.

use crate::ir::definitions::Definitions;
use crate::ir::op::{Attempt, Event, Op, Region, Target, Told};
use crate::ir::{BlockId, FieldId, Function, FunctionId, KindId, Module, Terminator, Type, Value};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

/// Names for the exits of a module, and blocks that only drop.
pub struct Naming<'m> {
    module: &'m Module,
    /// By function and block: whether all ways behind it drop a message.
    dropping: RefCell<HashMap<FunctionId, Vec<bool>>>,
    /// By function and block: whether some way behind it hands a message to an application.
    upward: RefCell<HashMap<FunctionId, Vec<bool>>>,
}

impl<'m> Naming<'m> {
    /// Prepares the names of exits in a module.
    pub fn new(module: &'m Module) -> Naming<'m> {
        Naming {
            module,
            dropping: RefCell::default(),
            upward: RefCell::default(),
        }
    }

    /// Returns true if all paths from a block drop a message.
    pub fn only_drops(&self, id: FunctionId, block: BlockId) -> bool {
        let mut known = self.dropping.borrow_mut();
        let function = self.module.function(id);
        let dropping = known.entry(id).or_insert_with(|| dropping(function));
        dropping[block.at()]
    }

    /// Returns true if a path from a block delivers a message to an application.
    pub fn goes_up(&self, id: FunctionId, block: BlockId) -> bool {
        if let Some(known) = self.upward.borrow().get(&id) {
            return known[block.at()];
        }
        let function = self.module.function(id);
        // A round of events goes up if one of its other events does.
        self.upward
            .borrow_mut()
            .insert(id, vec![false; function.blocks.len()]);
        let found = self.upward_of(function);
        let goes_up = found[block.at()];
        self.upward.borrow_mut().insert(id, found);
        goes_up
    }

    fn upward_of(&self, function: &Function) -> Vec<bool> {
        let graph = crate::ir::graph::Graph::of(function);
        let graph = graph.expect("the verifier passes acyclic graphs alone");
        let given = given(function, &graph.order);
        let is_up = |event: &Event, own: &[Value]| {
            own.iter().any(|one| given.contains(one))
                && match event.target {
                    Target::Port(_, told) => told == Told::Message,
                    Target::Function(id) => self.goes_up(id, BlockId(0)),
                    Target::Link(_) => false,
                }
        };
        let any_is_up = |events: &[Event], operands: &[Value]| {
            let mut rest = operands;
            events.iter().any(|event| {
                let (own, others) = rest.split_at(event.arguments as usize);
                rest = others;
                is_up(event, own)
            })
        };
        let mut found = vec![false; function.blocks.len()];
        for id in graph.order.iter().rev() {
            let block = function.block(*id);
            let mut own = block.instructions.iter();
            let edges = block.terminator.edges();
            found[id.at()] = own.any(|instruction| match &instruction.op {
                Op::Queue(_, events) | Op::Output(events) => {
                    any_is_up(events, &instruction.operands)
                }
                _ => false,
            }) || matches!(&block.terminator, Terminator::Tail(event, own) if is_up(event, own))
                || edges.iter().any(|edge| found[edge.block.at()]);
        }
        found
    }

    /// The name of an exit in the place of a block, by the value that decides it.
    pub fn of(&self, function: &Function, left: BlockId, asked: Value) -> String {
        let dropped = function.block(left).instructions.iter();
        let mut dropped = dropped.filter_map(|instruction| match instruction.op {
            Op::Drop(reason) => Some(self.module.reasons[reason.at()].clone()),
            _ => None,
        });
        if let Some(reason) = dropped.next() {
            return reason;
        }
        let definitions = Definitions::of(function);
        let mut open = vec![asked];
        let mut seen = 0;
        while let Some(value) = open.get(seen).copied() {
            seen += 1;
            let Some(instruction) = definitions.get(value) else {
                continue;
            };
            match &instruction.op {
                Op::Load(Region::Field(kind, field)) => return self.field(*kind, *field),
                Op::Ask(_, place) => return self.field(place.kind, place.field),
                Op::Attribute(id) => return self.module.attributes[id.at()].name.clone(),
                Op::Load(Region::Setting(id)) => {
                    return format!("stack.{}", self.module.settings[id.at()].name);
                }
                Op::Call(id) => return self.module.function(*id).name.clone(),
                _ => open.extend(instruction.operands.iter().filter(|_| seen < 32)),
            }
        }
        self.assumption(function)
    }

    /// The name of an exit where an attempt fails.
    pub fn of_attempt(&self, function: &Function, attempt: &Attempt) -> String {
        match attempt {
            Attempt::Live(kind)
            | Attempt::Find(kind)
            | Attempt::Standing(kind)
            | Attempt::Soonest(kind, _) => self.module.kinds[kind.at()].name.clone(),
            _ => self.assumption(function),
        }
    }

    /// The name of an exit where a header has options.
    pub fn assumption(&self, function: &Function) -> String {
        format!("{}.header", function.owner)
    }

    /// The name of a field with its kind.
    pub fn field(&self, kind: KindId, field: FieldId) -> String {
        let kind = &self.module.kinds[kind.at()];
        format!("{}.{}", kind.name, kind.fields[field.at()].name)
    }
}

/// The message that a function is given, as it is handed from operation to operation.
fn given(function: &Function, order: &[BlockId]) -> BTreeSet<Value> {
    let is_message = |value: &&Value| function.type_of(**value) == Type::Message;
    let parameters = function.parameters().iter();
    let mut given: BTreeSet<Value> = parameters.filter(is_message).copied().collect();
    for id in order {
        let block = function.block(*id);
        for instruction in &block.instructions {
            if instruction.operands.iter().any(|one| given.contains(one)) {
                given.extend(instruction.results.iter().filter(is_message));
            }
        }
        let operands = block.terminator.operands();
        let is_tried = operands.iter().any(|one| given.contains(one));
        for edge in block.terminator.edges() {
            let parameters = &function.block(edge.block).parameters;
            for (at, parameter) in parameters.iter().enumerate() {
                let argument = edge.arguments.get(at);
                if argument.map_or(is_tried, |argument| given.contains(argument)) {
                    given.extend(Some(parameter).filter(is_message));
                }
            }
        }
    }
    given
}

/// By block: whether all ways behind it drop a message.
fn dropping(function: &Function) -> Vec<bool> {
    let graph = crate::ir::graph::Graph::of(function);
    let graph = graph.expect("the verifier passes acyclic graphs alone");
    let mut found = vec![false; function.blocks.len()];
    for id in graph.order.iter().rev() {
        let block = function.block(*id);
        let mut own = block.instructions.iter();
        let edges = block.terminator.edges();
        let drops = own.any(|instruction| matches!(instruction.op, Op::Drop(_)));
        let is_end = matches!(block.terminator, Terminator::Never);
        found[id.at()] =
            drops || is_end || !edges.is_empty() && edges.iter().all(|edge| found[edge.block.at()]);
    }
    found
}
