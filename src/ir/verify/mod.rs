//! The verifier: a module that keeps these rules means what it says, and passes rely on them.
//!
//! In: a [`Module`]. Out: all [`Breach`]es, each with the number of its rule. The numbers are those
//! of the design of the IR.
//!
//! - **1** Graphs (`acyclic.rs`): a function begins with one block, all others are reached, and no
//!   block leads to itself. A function calls only functions before it; events are no calls.
//! - **2** Values (`dominance.rs`): each value is defined once, and used where its definition
//!   dominates. Edges and results of `try` give the blocks behind them all parameters.
//! - **3** Types (`typing.rs`): operands and results have the types of `signature.rs`, a switch has
//!   distinct numbers of its width, a return gives the results of the function, and indices name
//!   rows of tables. Settings, the time and keys are not stored.
//! - **4** Handles (`handles.rs`): each path uses up each `msg` exactly once, and uses
//!   none behind that. Loops capture none. An exit gives all back, and where control never comes
//!   anything may be left.
//! - **5** Borrows (`borrows.rs`): a view is used until its message is pushed, written, padded or
//!   used up; a view of stripped bytes alone outlives a write. A view waits only with its message.
//!   Bytes that are read in a stream leave before it changes (`borrowed.rs`).
//!   A value of an opaque type is used until the place is written from which it was loaded.
//! - **6** Ranges (`ranges.rs`, when asked for): bytes that are read, written, pulled or cut off
//!   are there, by `facts/`.
//! - **7** Owned bytes: not yet. Bytes that two handles share would not be written.
//! - **8** Fates: held by 4, as all that uses up a message is a fate of it.
//! - **9** Traps (`ranges.rs`, when asked for): no divisor is 0, and indices are in range.
//! - **10** Commits (`commits.rs`): a path of a fast function has one commit, or ends where control
//!   never comes. Before it stand only operations that write nothing, `recompute` and exits; behind
//!   it no exit. Ways that meet are all before their commit, or all behind it.
//! - **11** Lifetimes (`lifetimes.rs`): no instance is used behind a `free` of its kind, or of the
//!   kind with which it lives. An event that waits carries no instance that comes and goes.
//! - **12** Caches (`invalidation.rs`): behind a write to what its function reads, and in a new
//!   instance, a cache is disarmed or computed again before a load of it, a call that loads it, an
//!   output or an end. Its function is pure, and reads nothing that changes without an instance.
//!   Not checked: `recompute` is given what the function would give.
//! - **13** Room (`room.rs`): `output` stands where `goes_on` is 1 for as many outputs, and nothing
//!   was put on the agenda since.
//! - **14** Roles (`roles.rs`): a pure function writes nothing. Only reactions and fast functions
//!   hand an event on, and they give no results. Events go to reactions, and calls to plain and
//!   pure functions; only kernels yield. What is tried before a reaction, or before a fast function
//!   but itself, is a fast function with its parameters. Those of a link whose frames are read in
//!   place write or keep its message only where `in_buffer` is 1 (`in_place.rs`).
//! - **15** Loops (`typing.rs`): a loop has one turn or more, and its body takes the turn and gives
//!   a bit and the carried values.
//! - **16** Optional fields: not yet, a field and its bit have nothing in common.
//! - **17** Hidden regions: not yet.
//! - **18** Probabilities (`typing.rs`): they are 1 at most, those of all cases together, too. Not
//!   yet: frequencies of blocks.
//! - **19** Regions as parameters: not in this IR.
//! - **20** Names (`tables.rs`): those of a table are distinct, and none is empty, nor that of an
//!   exit. Not yet: spans.
//! - **21** Shards: not in this IR.
//! - **22** Kernels (`tables.rs`): the functions of a kernel are pure and fit together.
//! - **23** Tables (`tables.rs`): rows name rows and functions that exist, values that are kept are
//!   numbers or bytes, or in fields of opaque types, and functions that a host starts have the
//!   parameters of the interface.

mod acyclic;
mod borrows;
mod breach;
mod commits;
mod dominance;
mod handles;
mod invalidation;
mod lifetimes;
mod ranges;
mod roles;
mod room;
mod tables;
mod typing;

pub use breach::{Breach, Rule};

use super::effects::Effects;
use super::graph::Graph;
use super::{Function, FunctionId, KindId, Module};
use breach::Scope;
use std::collections::BTreeSet;

/// Checks all rules that lowering keeps.
///
/// # Errors
///
/// All breaches. Those of tables and names come alone, then those of the structure of functions
/// (rules 1, 2, 3): nothing else can be said of a function that has no meaning.
pub fn verify(module: &Module) -> Result<(), Vec<Breach>> {
    verify_with(module, Strictness::default())
}

/// Rules that are checked when asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strictness {
    /// Rules 6 and 9: all that may trap is proved not to.
    pub ranges: bool,
}

/// Checks all rules that lowering keeps, and more.
///
/// # Errors
///
/// As [`verify`]; rules 6 and 9 are checked of modules that keep all others.
pub fn verify_with(module: &Module, strictness: Strictness) -> Result<(), Vec<Breach>> {
    let mut breaches = tables::rows_exist(module);
    breaches.extend(module.functions.iter().flat_map(acyclic::names_exist));
    none(breaches)?;
    let graphs = structure(module)?;
    let (known, mut breaches) = Known::of(module);
    for scope in scopes(module, &graphs, &known.effects) {
        breaches.extend(known.breaches(&scope));
    }
    none(breaches)?;
    if strictness.ranges {
        let all = scopes(module, &graphs, &known.effects);
        none(all.flat_map(|scope| ranges::check(&scope)).collect())?;
    }
    Ok(())
}

/// The facts about a whole module by which its functions are checked.
#[derive(Debug)]
pub struct Known {
    effects: Vec<Effects>,
    in_kernels: Vec<bool>,
    freed: Vec<BTreeSet<KindId>>,
    dependences: invalidation::Dependences,
}

impl Known {
    /// Finds the facts, and breaches of rules for caches.
    pub fn of(module: &Module) -> (Known, Vec<Breach>) {
        let effects = Effects::of_functions(module);
        let (dependences, breaches) = invalidation::dependences(module, &effects);
        let known = Known {
            in_kernels: roles::in_kernels(module),
            freed: lifetimes::freed(module),
            effects,
            dependences,
        };
        (known, breaches)
    }

    /// Returns true if a function may stand in the place of one of the module, which has the same
    /// effects: it keeps all rules, and may trap only if that one may.
    pub fn allows(&self, module: &Module, id: FunctionId, function: &Function) -> bool {
        let traps = |function: &Function| {
            let graph = acyclic::graph(function).ok()?;
            let scope = Scope {
                module,
                id,
                function,
                graph: &graph,
                effects: &self.effects,
            };
            let keeps_form =
                dominance::check(&scope).is_empty() && typing::check(&scope).is_empty();
            let keeps_all = keeps_form && self.breaches(&scope).is_empty();
            keeps_all.then(|| ranges::check(&scope).len())
        };
        let before = traps(module.function(id));
        traps(function).is_some_and(|after| before.is_none_or(|before| after <= before))
    }

    fn breaches(&self, scope: &Scope<'_>) -> Vec<Breach> {
        let mut breaches = handles::check(scope);
        breaches.extend(borrows::check(scope));
        breaches.extend(lifetimes::check(scope, &self.freed));
        breaches.extend(invalidation::check(scope, &self.dependences));
        breaches.extend(room::check(scope));
        breaches.extend(commits::check(scope));
        breaches.extend(roles::check(scope, &self.in_kernels));
        breaches
    }
}

fn none(breaches: Vec<Breach>) -> Result<(), Vec<Breach>> {
    if breaches.is_empty() {
        Ok(())
    } else {
        Err(breaches)
    }
}

/// The graphs of all functions, if functions and tables are well formed.
fn structure(module: &Module) -> Result<Vec<Graph>, Vec<Breach>> {
    let mut breaches = Vec::new();
    let mut graphs = Vec::new();
    for (at, function) in module.functions.iter().enumerate() {
        match acyclic::graph(function) {
            Ok(graph) => graphs.push(graph),
            Err(breach) => breaches.push(breach),
        }
        breaches.extend(acyclic::calls_go_back(module, FunctionId(at as u32)));
    }
    none(breaches)?;
    let mut breaches = tables::names(module);
    breaches.extend(tables::kernels(module));
    breaches.extend(tables::interface(module));
    for scope in scopes(module, &graphs, &[]) {
        breaches.extend(dominance::check(&scope));
        breaches.extend(typing::check(&scope));
    }
    none(breaches)?;
    Ok(graphs)
}

fn scopes<'m>(
    module: &'m Module,
    graphs: &'m [Graph],
    effects: &'m [Effects],
) -> impl Iterator<Item = Scope<'m>> {
    let functions = module.functions.iter().zip(graphs).enumerate();
    functions.map(move |(at, (function, graph))| Scope {
        module,
        id: FunctionId(at as u32),
        function,
        graph,
        effects,
    })
}
