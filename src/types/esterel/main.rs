//! The module that runs, where nobody names it: the only one that no other module runs.
//!
//! In: a file of modules. Out: that module; none of an empty file; or a diagnostic that names the
//! candidates if there are several. Where modules run each other in a circle, the last one is
//! checked, which reports the circle.

use crate::diagnostic::{Diagnostic, Id};
use crate::syntax::esterel::ast::{File, Module, Statement, StatementKind as Kind};
use std::collections::BTreeSet;

/// Finds the module that no other module runs.
pub(super) fn chosen(file: &File) -> Result<Option<&Module>, Box<Diagnostic>> {
    let mut run = BTreeSet::new();
    for module in &file.modules {
        let mut inner = BTreeSet::new();
        runs(&module.body, &mut inner);
        inner.remove(module.name.text.as_str());
        run.append(&mut inner);
    }
    let mut names = BTreeSet::new();
    let all = file.modules.iter();
    let free = all.filter(|one| !run.contains(one.name.text.as_str()));
    // Two modules of one name are reported as such.
    let free: Vec<&Module> = free
        .filter(|one| names.insert(one.name.text.as_str()))
        .collect();
    match free[..] {
        [] => Ok(file.modules.last()),
        [only] => Ok(Some(only)),
        [first, ..] => {
            let names: Vec<String> = free
                .iter()
                .map(|one| format!("`{}`", one.name.text))
                .collect();
            let title = format!(
                "the main module is ambiguous: no other module runs {}",
                names.join(", ")
            );
            let label = "one of the candidates";
            let several = Diagnostic::error(Id::UnknownName, title, first.name.span, label);
            let several = several.help("choose one with `--main NAME`");
            Err(Box::new(several))
        }
    }
}

/// Collects the names of the modules that a statement runs.
fn runs<'s>(statement: &'s Statement, names: &mut BTreeSet<&'s str>) {
    let mut open = vec![statement];
    while let Some(one) = open.pop() {
        match &*one.kind {
            Kind::Run { module, .. } => {
                names.insert(&module.text);
            }
            Kind::Nothing
            | Kind::Pause
            | Kind::Halt
            | Kind::Emit(..)
            | Kind::Sustain(..)
            | Kind::Exit(..)
            | Kind::Assign(..)
            | Kind::Call { .. }
            | Kind::Exec(_) => {}
            Kind::Present { cases, otherwise } => {
                open.extend(cases.iter().filter_map(|(_, _, then)| then.as_ref()));
                open.extend(otherwise);
            }
            Kind::If { cases, otherwise } => {
                open.extend(cases.iter().filter_map(|(_, then)| then.as_ref()));
                open.extend(otherwise);
            }
            Kind::Sequence(all) | Kind::Parallel(all) => open.extend(all),
            Kind::Loop(body)
            | Kind::LoopEach(body, _)
            | Kind::Every(_, body)
            | Kind::Repeat { body, .. }
            | Kind::Upto(body, _)
            | Kind::Suspend(body, _)
            | Kind::Signal(_, body)
            | Kind::Variable(_, body) => open.push(body),
            Kind::Await(cases) => open.extend(cases.iter().filter_map(|one| one.then.as_ref())),
            Kind::Abort { body, cases, .. } => {
                open.push(body);
                open.extend(cases.iter().filter_map(|one| one.then.as_ref()));
            }
            Kind::Watching(body, case) => {
                open.push(body);
                open.extend(&case.then);
            }
            Kind::Trap { body, handlers, .. } => {
                open.push(body);
                open.extend(handlers.iter().map(|(_, handler)| handler));
            }
        }
    }
}
