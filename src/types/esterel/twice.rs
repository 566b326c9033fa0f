//! Names that are declared twice.
//!
//! In: a file of modules. Out: a diagnostic for each second declaration of a module, of a name of
//! one kind in the interface of a module, and for each formal name that a `run` renames twice.
//! Names of different kinds may be equal, and inner scopes may hide outer ones.

use super::Checker;
use super::interface::basic;
use crate::diagnostic::{Diagnostic, Id};
use crate::syntax::esterel::ast::{Declaration, Name, Renaming, RenamingKind};

impl Checker<'_> {
    /// Reports modules of one name, and what a module declares twice.
    pub(super) fn declared_twice(&mut self) {
        let file = self.file;
        self.each_once("module", file.modules.iter().map(|one| &one.name));
        for module in &file.modules {
            let all = module.declarations.iter();
            for kind in [
                "type",
                "constant",
                "function",
                "procedure",
                "task",
                "signal",
            ] {
                let named = all.clone().filter_map(|one| named(one, kind));
                self.each_once(kind, named);
            }
            let types = all.filter_map(|one| named(one, "type"));
            for name in types.filter(|name| basic(&name.text).is_some()) {
                let title = format!("`{}` is a built-in type", name.text);
                let label = "remove this declaration";
                self.report(Diagnostic::error(Id::NameTaken, title, name.span, label));
            }
        }
    }

    /// Reports formal names that a `run` renames twice.
    pub(super) fn renamed_twice(&mut self, renamings: &[Renaming]) {
        for (kind, word) in [
            (RenamingKind::Signal, "signal"),
            (RenamingKind::Type, "type"),
            (RenamingKind::Constant, "constant"),
            (RenamingKind::Function, "function"),
            (RenamingKind::Procedure, "procedure"),
            (RenamingKind::Task, "task"),
        ] {
            let all = renamings.iter().filter(|one| one.kind == kind);
            self.each_once(word, all.map(|one| &one.formal));
        }
    }

    /// Reports names that stand twice in one list.
    pub(super) fn each_once<'n>(&mut self, what: &str, all: impl Iterator<Item = &'n Name>) {
        let mut seen: Vec<&Name> = Vec::new();
        for name in all {
            match seen.iter().find(|other| other.text == name.text) {
                Some(first) => {
                    let title = format!("the {what} `{}` is declared twice", name.text);
                    let second =
                        Diagnostic::error(Id::NameTaken, title, name.span, "declared again");
                    self.report(second.label(first.span, "first declared here"));
                }
                None => seen.push(name),
            }
        }
    }
}

/// The name that a declaration declares, if it is of a kind; sensors are signals.
fn named<'d>(declaration: &'d Declaration, kind: &str) -> Option<&'d Name> {
    let (own, name) = match declaration {
        Declaration::Type(name) => ("type", name),
        Declaration::Constant { name, .. } => ("constant", name),
        Declaration::Function { name, .. } => ("function", name),
        Declaration::Procedure { name, .. } => ("procedure", name),
        Declaration::Task(name) => ("task", name),
        Declaration::Signal(_, signal) => ("signal", &signal.name),
        Declaration::Sensor { name, .. } => ("signal", name),
        Declaration::Exclusive(_) | Declaration::Implies(..) => return None,
    };
    (own == kind).then_some(name)
}
