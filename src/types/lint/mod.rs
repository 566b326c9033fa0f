//! Warnings about what is allowed and never right: in, the syntax trees of all files, in which no
//! mistake was found; out, warnings.
//!
//! A file is judged by itself, so that a layer says the same in every stack. What a file without a
//! stack gives to those that use it is not judged, since nobody knows who they are.
//!
//! ```text
//! timer retry          and no `on retry`      warning[idle-timer]
//! held: queue<…>[3]    and no `held.pop()`    warning[never-emptied]
//! ```

mod mentions;
mod names;
mod state;

use crate::diagnostic::Diagnostic;
use crate::source::Sources;
use crate::types::load::Files;
use mentions::Mentions;

/// All warnings, file by file.
pub fn warnings(sources: &Sources, files: &Files) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for id in files.in_order_of_use() {
        let unit = files.unit(id);
        if id == files.built_in() {
            continue;
        }
        names::unused_uses(sources, files, id, &mut found);
        names::of_stacks(unit, &mut found);
        let promised = names::promised(files, id);
        for layer in &unit.layers {
            let mut mentions = Mentions::default();
            mentions.layer(layer);
            names::of_layer(layer, &mentions, &promised, &mut found);
            state::of_layer(layer, &mentions, &mut found);
        }
    }
    found
}
