//! The rules by their numbers, and what is reported where one is broken.
//!
//! In: a function under check, and a place in it. Out: a [`Breach`], which prints as
//! ``rule 4, in `udp.deliver`, block b2: the message %m is used up twice``.

use crate::ir::effects::Effects;
use crate::ir::graph::Graph;
use crate::ir::{
    BlockId, Edge, Function, FunctionId, Instruction, Module, Terminator, Type, Value,
};
use std::fmt;

/// A rule of the form; `mod.rs` says what each asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Rule {
    /// The graphs of blocks and of calls.
    Graphs = 1,
    /// Static single assignment.
    Values = 2,
    /// Types.
    Types = 3,
    /// Linear handles.
    Handles = 4,
    /// Borrowed bytes.
    Borrows = 5,
    /// Ranges of bytes.
    Ranges = 6,
    /// Divisors and indices.
    Traps = 9,
    /// Guards and commits.
    Commits = 10,
    /// Lifetimes of instances.
    Lifetimes = 11,
    /// Caches.
    Caches = 12,
    /// Room for outputs.
    Room = 13,
    /// Roles of functions.
    Roles = 14,
    /// Loops.
    Loops = 15,
    /// Probabilities.
    Probabilities = 18,
    /// Names.
    Names = 20,
    /// Kernels.
    Kernels = 22,
    /// Tables of the module.
    Tables = 23,
}

impl Rule {
    /// All rules that are checked.
    pub const ALL: &[Rule] = &[
        Rule::Graphs,
        Rule::Values,
        Rule::Types,
        Rule::Handles,
        Rule::Borrows,
        Rule::Ranges,
        Rule::Traps,
        Rule::Commits,
        Rule::Lifetimes,
        Rule::Caches,
        Rule::Room,
        Rule::Roles,
        Rule::Loops,
        Rule::Probabilities,
        Rule::Names,
        Rule::Kernels,
        Rule::Tables,
    ];

    /// The number of the rule.
    pub fn number(self) -> u8 {
        self as u8
    }
}

/// A place that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// The rule.
    pub rule: Rule,
    /// The name of the function; empty for a table of the module.
    pub function: String,
    /// The block, unless the function as a whole breaks the rule.
    pub block: Option<BlockId>,
    /// The instruction of the block; as many as there are for the terminator.
    pub instruction: Option<usize>,
    /// A sentence that says what is wrong.
    pub message: String,
}

impl Breach {
    /// A breach in a table of the module.
    pub fn of_module(rule: Rule, message: String) -> Breach {
        Breach {
            rule,
            function: String::new(),
            block: None,
            instruction: None,
            message,
        }
    }

    /// A breach of a function as a whole.
    pub fn of_function(rule: Rule, function: &Function, message: &str) -> Breach {
        let mut breach = Breach::of_module(rule, message.to_string());
        breach.function.clone_from(&function.name);
        breach
    }

    /// A breach of an instruction or terminator.
    pub fn at(rule: Rule, function: &Function, (block, at): Spot, message: String) -> Breach {
        Breach {
            rule,
            function: function.name.clone(),
            block: Some(block),
            instruction: Some(at),
            message,
        }
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "rule {}", self.rule.number())?;
        if !self.function.is_empty() {
            write!(out, ", in `{}`", self.function)?;
        }
        if let Some(BlockId(block)) = self.block {
            write!(out, ", block b{block}")?;
        }
        write!(out, ": {}", self.message)
    }
}

/// A block, and one of its instructions; as many as there are for the terminator.
pub type Spot = (BlockId, usize);

/// A function under check, and what was found of it before.
pub struct Scope<'m> {
    /// The module.
    pub module: &'m Module,
    /// Its index.
    pub id: FunctionId,
    /// The function.
    pub function: &'m Function,
    /// Its graph.
    pub graph: &'m Graph,
    /// The effects of all functions.
    pub effects: &'m [Effects],
}

impl<'m> Scope<'m> {
    /// Breaks a rule at an instruction or terminator.
    pub fn breach(&self, rule: Rule, spot: Spot, message: String) -> Breach {
        Breach::at(rule, self.function, spot, message)
    }

    /// The types of values.
    pub fn types(&self, values: &[Value]) -> Vec<Type> {
        let types = values.iter();
        types.map(|value| self.function.type_of(*value)).collect()
    }

    /// The parameters of the block behind an edge that are no arguments of the edge: results of
    /// the `try` in front of it.
    pub fn results(&self, edge: &Edge) -> &'m [Value] {
        let parameters = &self.function.block(edge.block).parameters;
        &parameters[edge.arguments.len().min(parameters.len())..]
    }

    /// All instructions with their places, each behind those that come before it on any path.
    pub fn instructions(&self) -> impl Iterator<Item = (Spot, &'m Instruction)> {
        let blocks = self.graph.order.iter();
        blocks.flat_map(|id| {
            let all = self.function.block(*id).instructions.iter().enumerate();
            all.map(|(at, instruction)| ((*id, at), instruction))
        })
    }

    /// All terminators with their places, in the order of the graph.
    pub fn terminators(&self) -> impl Iterator<Item = (Spot, &'m Terminator)> {
        let blocks = self.graph.order.iter();
        blocks.map(|id| {
            let block = self.function.block(*id);
            ((*id, block.instructions.len()), &block.terminator)
        })
    }
}

/// The name of a value as it is printed.
pub fn name(function: &Function, value: Value) -> String {
    let hint = &function.values[value.at()].hint;
    if hint.is_empty() {
        format!("%{}", value.0)
    } else {
        format!("%{hint}")
    }
}
