//! Slots with one side: the far end knows nothing of them, so no layer there may add a header.

use crate::diagnostic::{Diagnostic, Id};
use crate::syntax::loom::ast::{Argument, Item, Layer, Slot};

/// Reports the layers of a slot that add a header, if the slot has one side. `find` gives the layer
/// of a name.
pub fn refuse_headers<'a>(
    slot: &Slot,
    find: impl Fn(&str) -> Option<&'a Layer>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut given = slot.arguments.iter().filter_map(Argument::one_sided);
    if !given.any(|is_one_sided| is_one_sided) {
        return;
    }
    for variant in slot.variants.iter().flatten() {
        let items = find(&variant.layer.text).map(|layer| &*layer.items);
        let mut items = items.unwrap_or_default().iter();
        let header = items.find_map(|item| match item {
            Item::Header(header) if header.name.is_none() => Some(header),
            _another_item => None,
        });
        if let Some(header) = header {
            let title = format!("`{}` adds a header in a slot with one side", variant.layer);
            diagnostics.push(
                Diagnostic::error(Id::Misplaced, title, variant.layer.span, "")
                    .label(header.span, "the header")
                    .why("The far end of a slot with one side receives frames without a slot.")
                    .help("remove `one_sided`, and put the same slot at the far end"),
            );
        }
    }
}
