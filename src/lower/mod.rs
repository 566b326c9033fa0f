//! Lowering: state trees and functions of values become functions of the stack IR.
//!
//! In: a checked program and the forest of its trees. Out: a [`Module`]. Nothing is optimised here:
//! each test, action and leaf becomes the operations that say the same, in the same order. This is
//! the only folder that knows trees and the IR.
//!
//! ```text
//! tables.rs     kinds, attributes, settings, links and ports of the module
//! code.rs       a function that is being lowered, and the values of its names
//! shapes.rs     the parts of which values consist
//! tree/         the trees of reactions: nodes, actions, attempts, outputs
//! value/        expressions, places in memory, functions of values, kernels
//! header/       headers that are read, judged, pushed and summed
//! memory/       sizes of buffers, of the agenda, of messages of applications
//! host/         ports, listeners, links that go up and down, instances that begin
//! estelle/      specifications of Estelle
//! esterel/      modules of Esterel with their automata
//! ```

pub mod code;
pub mod estelle;
pub mod esterel;
pub mod header;
pub mod host;
pub mod memory;
pub mod shapes;
pub mod tables;
pub mod tree;
pub mod value;

use crate::ir;
use crate::ir::rename::renumber_functions;
use crate::ir::{Function, Module};
use crate::tree::{Forest, Index, Reaction};
use crate::types::program::{
    AttributeId, FieldId, FilterId, FunctionId, HeaderId, KindId, Population, Program,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// A stack that is being lowered.
pub struct Lower<'a> {
    /// The checked program.
    pub program: &'a Program,
    /// Its trees.
    pub forest: &'a Forest,
    /// The module so far.
    pub module: Module,
    /// The function of each reaction.
    pub reactions: BTreeMap<Reaction, tree::Entry>,
    /// By function of values: what it reads beside its parameters.
    needs: Vec<value::needs::Needs>,
    /// Names of functions.
    names: FxHashSet<String>,
    /// By function that is called: true if it changes nothing.
    pure: FxHashMap<ir::FunctionId, bool>,
    /// Functions of values that were lowered.
    functions: BTreeMap<FunctionId, value::functions::Lowered>,
    /// Kernels of filters that were lowered.
    kernels: BTreeMap<FilterId, ir::KernelId>,
    /// Functions that look for the options of a header.
    pub options: BTreeMap<HeaderId, ir::FunctionId>,
    /// Functions in C.
    foreigns: BTreeMap<FunctionId, ir::ForeignId>,
    /// Functions that give instances of a kind their first fields.
    pub initial: BTreeMap<KindId, ir::FunctionId>,
}

/// Lowers a program whose trees these are; the module passes the verifier.
pub fn lower(program: &Program, forest: &Forest) -> Module {
    lowered(program, forest, None)
}

/// Lowers a program whose trees these are, and woven trees of some of its reactions. Each woven
/// tree becomes a fast function without a guard, of which `form-fast-path` forms one that has a
/// guard. The module passes the verifier.
pub fn lower_woven(program: &Program, forest: &Forest, woven: &Forest) -> Module {
    lowered(program, forest, Some(woven))
}

fn lowered<'a>(program: &'a Program, forest: &'a Forest, woven: Option<&'a Forest>) -> Module {
    let mut lower = Lower {
        program,
        forest,
        module: tables::module(program, forest),
        reactions: BTreeMap::new(),
        needs: value::needs::Needs::of_all(program),
        names: FxHashSet::default(),
        pure: FxHashMap::default(),
        functions: BTreeMap::new(),
        kernels: BTreeMap::new(),
        options: BTreeMap::new(),
        foreigns: BTreeMap::new(),
        initial: BTreeMap::new(),
    };
    lower.declare_foreigns();
    lower.declare_ports();
    lower.declare_reactions();
    for tree in &forest.trees {
        lower.reaction(tree);
    }
    if let Some(woven) = woven {
        lower.forest = woven;
        for tree in &woven.trees {
            lower.woven_reaction(tree);
        }
        lower.forest = forest;
    }
    lower.host();
    in_order(lower.module)
}

impl<'a> Lower<'a> {
    /// A kind in the module.
    pub fn kind(&self, kind: KindId) -> ir::KindId {
        ir::KindId(kind.0)
    }

    /// The first part of a field, among the fields of its kind in the module.
    pub fn field(&self, kind: KindId, field: FieldId) -> ir::FieldId {
        tables::first_part(self.program, kind, field)
    }

    /// The parts of an attribute in the module.
    pub fn attribute(&self, attribute: AttributeId) -> Vec<ir::AttributeId> {
        tables::parts_of_attribute(self.program, attribute)
    }

    /// Returns true if all instances of a kind exist from the start to the end.
    pub fn is_always(&self, kind: KindId) -> bool {
        let population = &self.program.kinds[kind.at()].population;
        matches!(population, Population::Static(_))
    }

    /// Adds a function to the module.
    pub fn add(&mut self, function: Function) -> ir::FunctionId {
        self.names.insert(function.name.clone());
        self.module.functions.push(function);
        ir::FunctionId(self.module.functions.len() as u32 - 1)
    }

    /// A name for a function that no other has yet.
    pub fn unique(&self, wanted: &str) -> String {
        ir::free_name(wanted, |name| self.names.contains(name))
    }

    /// The tree that handles an event, and the index for which it is made.
    pub fn handling(&self, reaction: impl Fn(Index) -> Reaction, only: u32) -> Option<Reaction> {
        let all = [reaction(Index::Only(only)), reaction(Index::Any)];
        all.into_iter().find(|one| self.reactions.contains_key(one))
    }
}

/// Orders the functions of a module behind all that they call: reactions and entries last.
fn in_order(mut module: Module) -> Module {
    let is_called = |function: &Function| match function.role {
        ir::Role::Plain | ir::Role::Pure => true,
        ir::Role::Reaction | ir::Role::Entry | ir::Role::Fast => false,
    };
    let all = 0..module.functions.len();
    let (called, others): (Vec<usize>, Vec<usize>) =
        all.partition(|at| is_called(&module.functions[*at]));
    let order: Vec<usize> = called.into_iter().chain(others).collect();
    let mut places = vec![0; order.len()];
    for (new, old) in order.iter().enumerate() {
        places[*old] = new as u32;
    }
    let old = std::mem::take(&mut module.functions);
    let mut old: Vec<Option<Function>> = old.into_iter().map(Some).collect();
    let functions = order
        .iter()
        .map(|at| old[*at].take().expect("each stands once"));
    module.functions = functions.collect();
    renumber_functions(&mut module, |id| ir::FunctionId(places[id.at()]));
    module
}
