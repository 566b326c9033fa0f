//! What a shared object exports: its functions, and where the fields of its structs are.
//!
//! In: a loaded object and the description of its stack. Out: pointers, with the types that the
//! generated header gives to them.

use super::{
    CloseFn, CompanionLayout, GrantFn, Layout, Listen, LoadedPort, OutputLayout, Symbol, broken,
};
use crate::tool::failure::Failure;
use crate::tool::layout::{Description, Member, Port, c_fields};
use libloading::Library;
use std::ffi::{CStr, c_char};

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

    /// A function that the description says is there, or is not.
    fn optional<T: Copy>(&self, exists: bool, name: &str) -> Result<Option<T>, Failure> {
        exists.then(|| self.function(name)).transpose()
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
            close: self.optional::<CloseFn>(port.closes, &format!("{name}_close"))?,
            grant: self.optional::<GrantFn>(port.grants, &format!("{name}_grant_delivers"))?,
        })
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
        let has_attributes = description
            .ports
            .iter()
            .any(|port| !port.attributes.is_empty());
        let (size, places) = self.places("output", 5 + usize::from(has_attributes))?;
        let at = |index: usize| places[index].0;
        let with = has_attributes.then(|| at(5));
        let [place, session, data, length] = [at(0), at(1), at(2), at(3)];
        Ok(OutputLayout {
            size,
            place,
            session,
            data,
            length,
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
