//! Names of entries of the tables of a module, in both directions.
//!
//! A name is a word or stands in quotes. Where two entries of a table have one name, the index of
//! the entry stands behind it: `lost#3`. A field or timer is named by its kind and its own name,
//! `udp.session.peer`; where that would say two things, `udp.session/peer`.

use super::lexer::{is_word, quote};
use crate::ir::interface::Notice;
use crate::ir::{FieldId, Kind, KindId, Module, TimerId};
use rustc_hash::FxHashMap;

/// The names of one table.
#[derive(Clone, Debug, Default)]
pub struct Table {
    names: Vec<String>,
    places: FxHashMap<String, Vec<u32>>,
}

/// The names of all tables of a module.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Kinds.
    pub kinds: Table,
    /// Fields, by kind.
    pub fields: Vec<Table>,
    /// Timers, by kind.
    pub timers: Vec<Table>,
    /// Settings.
    pub settings: Table,
    /// Attributes.
    pub attributes: Table,
    /// Reasons.
    pub reasons: Table,
    /// Counters.
    pub counters: Table,
    /// Kernels.
    pub kernels: Table,
    /// Caches.
    pub caches: Table,
    /// Types that only C knows.
    pub opaques: Table,
    /// Functions in C.
    pub foreigns: Table,
    /// Links.
    pub links: Table,
    /// Ports.
    pub ports: Table,
    /// Notices that come up, by port.
    pub up: Vec<Table>,
    /// Notices that an application tells, by port.
    pub down: Vec<Table>,
    /// Functions.
    pub functions: Table,
    field_paths: Paths,
    timer_paths: Paths,
}

/// Entries of kinds by `KIND.NAME`: the kind, and the entry of it.
type Paths = FxHashMap<String, Vec<(u32, u32)>>;

/// A name as it stands in a text.
pub fn name(text: &str) -> String {
    match is_word(text) {
        true => text.to_string(),
        false => quote(text),
    }
}

impl Table {
    fn new<'n>(names: impl IntoIterator<Item = &'n String>) -> Table {
        let names: Vec<String> = names.into_iter().cloned().collect();
        let mut places: FxHashMap<String, Vec<u32>> = FxHashMap::default();
        for (at, name) in names.iter().enumerate() {
            places.entry(name.clone()).or_default().push(at as u32);
        }
        Table { names, places }
    }

    /// The entries with a name.
    pub fn find(&self, name: &str) -> &[u32] {
        self.places.get(name).map_or(&[], Vec::as_slice)
    }

    /// The name of an entry.
    pub fn name(&self, at: u32) -> Option<&str> {
        self.names.get(at as usize).map(String::as_str)
    }

    /// An entry, as the text refers to it.
    pub fn reference(&self, at: u32) -> String {
        match self.name(at) {
            Some(own) if self.find(own).len() == 1 => name(own),
            Some(own) => format!("{}#{at}", name(own)),
            None => format!("#{at}"),
        }
    }
}

impl Names {
    /// The names of a module.
    pub fn new(module: &Module) -> Names {
        let kinds = Table::new(module.kinds.iter().map(|one| &one.name));
        let of_kinds = module.kinds.iter();
        let fields: Vec<Table> = of_kinds.clone().map(Names::of_fields).collect();
        let timers: Vec<Table> = of_kinds
            .map(|kind| Table::new(kind.timers.iter().map(|timer| &timer.name)))
            .collect();
        let ports = module.ports.iter();
        Names {
            field_paths: paths(&kinds, &fields),
            timer_paths: paths(&kinds, &timers),
            kinds,
            fields,
            timers,
            settings: Table::new(module.settings.iter().map(|one| &one.name)),
            attributes: Table::new(module.attributes.iter().map(|one| &one.name)),
            reasons: Table::new(&module.reasons),
            counters: Table::new(&module.counters),
            kernels: Table::new(module.kernels.iter().map(|one| &one.name)),
            caches: Table::new(module.caches.iter().map(|one| &one.name)),
            opaques: Table::new(module.opaques.iter().map(|one| &one.name)),
            foreigns: Table::new(module.foreigns.iter().map(|one| &one.name)),
            links: Table::new(module.links.iter().map(|one| &one.name)),
            ports: Table::new(module.ports.iter().map(|one| &one.name)),
            up: ports
                .clone()
                .map(|port| Names::of_notices(&port.up))
                .collect(),
            down: ports.map(|port| Names::of_notices(&port.down)).collect(),
            functions: Table::new(module.functions.iter().map(|one| &one.name)),
        }
    }

    /// The fields of a kind.
    pub fn of_fields(kind: &Kind) -> Table {
        Table::new(kind.fields.iter().map(|one| &one.name))
    }

    /// The notices of a port that come up, or those that an application tells.
    pub fn of_notices(notices: &[Notice]) -> Table {
        Table::new(notices.iter().map(|one| &one.name))
    }

    /// The fields that a path names.
    pub fn fields_at(&self, path: &str) -> &[(u32, u32)] {
        self.field_paths.get(path).map_or(&[], Vec::as_slice)
    }

    /// The timers that a path names.
    pub fn timers_at(&self, path: &str) -> &[(u32, u32)] {
        self.timer_paths.get(path).map_or(&[], Vec::as_slice)
    }

    /// A field, as the text refers to it.
    pub fn field(&self, kind: KindId, field: FieldId) -> String {
        self.path(&self.fields, &self.field_paths, kind, field.0)
    }

    /// A timer, as the text refers to it.
    pub fn timer(&self, kind: KindId, timer: TimerId) -> String {
        self.path(&self.timers, &self.timer_paths, kind, timer.0)
    }

    fn path(&self, tables: &[Table], paths: &Paths, kind: KindId, entry: u32) -> String {
        let table = tables.get(kind.at());
        let own = table.and_then(|table| table.name(entry));
        if let (Some(of), Some(own)) = (self.kinds.name(kind.0), own) {
            let path = format!("{of}.{own}");
            if paths.get(&path).is_some_and(|found| found.len() == 1) {
                return path;
            }
        }
        let entry = table.map_or_else(|| format!("#{entry}"), |table| table.reference(entry));
        format!("{}/{entry}", self.kinds.reference(kind.0))
    }
}

/// The entries of kinds whose paths are words.
fn paths(kinds: &Table, tables: &[Table]) -> Paths {
    let mut paths = Paths::default();
    for (at, (kind, table)) in kinds.names.iter().zip(tables).enumerate() {
        for (entry, name) in table.names.iter().enumerate() {
            let path = format!("{kind}.{name}");
            if is_word(&path) && !name.is_empty() {
                let place = (at as u32, entry as u32);
                paths.entry(path).or_default().push(place);
            }
        }
    }
    paths
}
