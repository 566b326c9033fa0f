//! Fields and attributes that somebody reads.
//!
//! In: a module. Out: fields on whose content nothing depends that others see, and by reaction the
//! attributes of its messages on which something depends. Something depends on a field if the field
//! at the start occurs in a term of the outcome, other than the field itself; so a pass may leave
//! out a store to it. This is the cone of influence of model checking.

use super::fields;
use super::functions::started;
use crate::ir::effects::Resource;
use crate::ir::{AttributeId, FunctionId, Module, Region, Role, Type};
use crate::prove::naming::Naming;
use crate::prove::outcome::{Outcome, Part, outcome};
use crate::prove::symbolic::{Cell, Symbolic, initial, unknown};
use crate::prove::terms::{Term, Terms};
use std::collections::{BTreeMap, BTreeSet};

/// The walk over all functions is repeated at most so often.
const TURNS: usize = 12;

/// Fields that nobody reads, and attributes that somebody reads.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// Fields that nobody reads.
    pub hidden: BTreeSet<Part>,
    /// By function, the attributes of its messages that are read there or behind it.
    pub attributes: BTreeMap<String, BTreeSet<AttributeId>>,
}

impl Observed {
    /// Returns those of a module.
    pub fn of(module: &Module, naming: &Naming) -> Observed {
        let mut naming = naming.clone();
        naming.attributes = BTreeMap::new();
        for function in module
            .functions
            .iter()
            .filter(|one| one.role == Role::Reaction)
        {
            naming
                .attributes
                .insert(function.name.clone(), BTreeSet::new());
        }
        let started = started(module);
        for _ in 0..TURNS {
            let mut read = BTreeSet::new();
            let mut attributes = naming.attributes.clone();
            for id in (0..module.functions.len() as u32).map(FunctionId) {
                let name = &module.function(id).name;
                if !started.contains(name) {
                    continue;
                }
                let found = walk(module, &naming, id, &mut read);
                match (found, attributes.get_mut(name)) {
                    (Err(_), _) => return Observed::default(),
                    (Ok(more), Some(known)) => known.extend(more),
                    (Ok(_), None) => {}
                }
            }
            if attributes == naming.attributes {
                read.extend(of_tables(module));
                return Observed {
                    hidden: fields(module).difference(&read).copied().collect(),
                    attributes,
                };
            }
            naming.attributes = attributes;
        }
        Observed::default()
    }
}

/// Executes a function: the attributes of its messages that it reads; adds fields that it reads.
fn walk(
    module: &Module,
    naming: &Naming,
    id: FunctionId,
    read: &mut BTreeSet<Part>,
) -> Result<BTreeSet<AttributeId>, String> {
    let mut terms = Terms::default();
    let function = module.function(id);
    let given = function.parameters().iter().enumerate().map(|(at, value)| {
        let name = format!("argument {at}");
        let of: Type = function.type_of(*value);
        unknown(&mut terms, module, (&name, of), at as u64)
    });
    let given: Vec<Symbolic> = given.collect();
    let known = (id, given.clone());
    let found = outcome(&mut terms, (module, naming), known, &BTreeSet::new())?;
    let seen = terms.below(&roots(&found, None));
    for field in fields(module) {
        let Part::Cell(cell) = field else {
            continue;
        };
        let start = initial(&mut terms, module, cell);
        let is_read = match found.parts.contains_key(&field) {
            true => terms.below(&roots(&found, Some(field))).contains(&start),
            false => seen.contains(&start),
        };
        if is_read {
            read.insert(field);
        }
    }
    let mut attributes = BTreeSet::new();
    for value in &given {
        if let Symbolic::Message(message) = value {
            let all = message.attributes.iter().enumerate();
            let read = all.filter(|(_, term)| seen.contains(term));
            attributes.extend(read.map(|(at, _)| AttributeId(at as u32)));
        }
    }
    Ok(attributes)
}

/// Returns the terms of an outcome, without one part.
fn roots(found: &Outcome, without: Option<Part>) -> Vec<Term> {
    let parts = found.parts.iter();
    let parts = parts.filter(|(part, _)| Some(**part) != without);
    let mut all: Vec<Term> = parts.map(|(_, term)| *term).collect();
    all.extend([found.left, found.left_changed]);
    all.extend(&found.assumed);
    all
}

/// Returns fields that tables name: keys, and those that the host reads.
fn of_tables(module: &Module) -> BTreeSet<Part> {
    let mut all = Vec::new();
    for (kind, table) in (0..).map(crate::ir::KindId).zip(&module.kinds) {
        all.extend(table.keys.iter().map(|key| (kind, *key)));
    }
    for how in &module.listening {
        let listener = [how.backlog, how.waiting].map(|field| (how.listener, field));
        let session = [how.waits, how.unknown, how.made_by].map(|field| (how.session, field));
        all.extend(listener.into_iter().chain(session));
    }
    all.extend(module.watched.iter().map(|one| (one.kind, one.field)));
    let parts = all.into_iter().map(|(kind, field)| {
        let region = Region::Field(kind, field);
        Part::Cell(Cell::Resource(Resource::Region(region)))
    });
    parts.collect()
}
