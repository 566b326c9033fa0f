//! What a shared object exports: its functions, and where the fields of its structs are.
//!
//! In: a loaded object and the description of its stack. Out: pointers, with the types that the
//! generated header gives to them.

use super::{
    CompanionLayout, Layout, Listen, LoadedNotice, LoadedPort, OutputLayout, SayFn, Symbol, broken,
};
use crate::tool::failure::Failure;
use crate::tool::layout::{Description, Kind, Member, Port, Told, c_fields};
use libloading::Library;
use std::ffi::{CStr, c_char, c_int};

/// Finds what a shared object exports.
pub struct Loader<'library> {
    /// The object.
    pub library: &'library Library,
    /// The stack's name.
    pub name: &'library str,
}

impl Loader<'_> {
    fn symbol<T>(&self, symbol: &str) -> Result<Symbol<'_, T>, Failure> {
        // SAFETY: each caller names the type that the interface gives to that symbol.
        unsafe { self.library.get(symbol.as_bytes()) }.map_err(broken)
    }

    pub(super) fn function<T: Copy>(&self, name: &str) -> Result<T, Failure> {
        Ok(*self.symbol::<T>(&format!("{}_{name}", self.name))?)
    }

    pub(super) fn port(&self, port: &Port) -> Result<LoadedPort, Failure> {
        let name = &port.name;
        let listener_keys = port.listener_keys.as_deref().unwrap_or_default();
        let listen = format!("{name}_listen");
        Ok(LoadedPort {
            keys: self.layout(&format!("{name}_keys"), &port.keys)?,
            attributes: self.layout(&format!("{name}_attributes"), &port.attributes)?,
            open: self.function(&format!("{name}_open")).ok(),
            listener_keys: self.layout(&format!("{name}_listener_keys"), listener_keys)?,
            listen: match listener_keys {
                [] => self.function(&listen).ok().map(Listen::ToAll),
                _ => self.function(&listen).ok().map(Listen::With),
            },
            send: self.function(&format!("{name}_send")).ok(),
            unlisten: self.function(&format!("{name}_unlisten")).ok(),
            down: port
                .down
                .iter()
                .map(|told| self.down(name, told))
                .collect::<Result<_, _>>()?,
            up: port
                .up
                .iter()
                .map(|told| self.up(&format!("{name}_told_{}", told.name), &told.members))
                .collect::<Result<_, _>>()?,
            accepted: match &port.accepted {
                None => None,
                Some(keys) => {
                    let listener = Member {
                        name: "listener".to_string(),
                        kind: Kind::Unsigned(32),
                        optional: false,
                        needed: false,
                        names: Vec::new(),
                    };
                    let members = [&[listener], &keys[..]].concat();
                    Some(self.up(&format!("{name}_accepted"), &members)?)
                }
            },
        })
    }

    /// What an application may say: a function of the companion.
    fn down(&self, port: &str, told: &Told) -> Result<LoadedNotice, Failure> {
        let what = format!("{port}_say_{}", told.name);
        Ok(LoadedNotice {
            arguments: self.layout(&what, &told.members)?,
            say: *self.symbol::<SayFn>(&format!("loom_{what}_function"))?,
        })
    }

    /// What an application is told: the answer of `NAME_next`, and what stands in the output.
    fn up(&self, what: &str, members: &[Member]) -> Result<(c_int, Layout), Failure> {
        let next = self.symbol::<*const c_int>(&format!("loom_{what}_next"))?;
        // SAFETY: the companion defines this symbol as an `int`.
        let next = unsafe { **next };
        Ok((next, self.layout(what, members)?))
    }

    /// The places of `count` fields as the companion lists them.
    fn places(&self, what: &str, count: usize) -> Result<(usize, Vec<(usize, usize)>), Failure> {
        let found = self.symbol::<*const CompanionLayout>(&format!("loom_{what}"))?;
        // SAFETY: the companion defines this symbol as a `struct loom_layout` whose array has a
        // row for each of `c_fields`, and both live as long as the library.
        let (layout, rows) = unsafe {
            let layout: &CompanionLayout = &**found;
            (layout, std::slice::from_raw_parts(layout.fields, count))
        };
        Ok((
            layout.size,
            rows.iter().map(|row| (row.offset, row.size)).collect(),
        ))
    }

    pub(super) fn layout(&self, what: &str, members: &[Member]) -> Result<Layout, Failure> {
        if members.is_empty() {
            return Ok(Layout::default());
        }
        let (size, places) = self.places(what, c_fields(members).len())?;
        Ok(Layout::new(size, members, &places))
    }

    pub(super) fn output(&self, description: &Description) -> Result<OutputLayout, Failure> {
        let has_attributes = description.has_attributes();
        let fixed = if description.gathers { 7 } else { 5 };
        let (size, places) = self.places("output", fixed + usize::from(has_attributes))?;
        let at = |index: usize| places[index].0;
        let body = description.gathers.then(|| [at(5), at(6)]);
        let with = has_attributes.then(|| at(fixed));
        let [place, session, data, length] = [at(0), at(1), at(2), at(3)];
        Ok(OutputLayout {
            size,
            place,
            session,
            data,
            length,
            body,
            with,
        })
    }

    pub(super) fn counter_names(&self) -> Result<Vec<String>, Failure> {
        let name = format!("{}_counter_name", self.name);
        let mut entry = *self.symbol::<*const *const c_char>(&name)?;
        let mut names = Vec::new();
        // SAFETY: the interface promises an array of strings that ends with NULL.
        unsafe {
            while !(*entry).is_null() {
                names.push(CStr::from_ptr(*entry).to_string_lossy().into_owned());
                entry = entry.add(1);
            }
        }
        Ok(names)
    }
}
