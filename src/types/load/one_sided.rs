//! Slots with one side: the far end knows nothing of them, so no layer there may add a header.

use crate::diagnostic::{Diagnostic, Id};
use crate::syntax::loom::ast::{Argument, ExpressionKind, Item, Layer, Slot};

/// Reports the layers of a slot that add a header, if the slot has one side. `find` gives the layer
/// of a name.
pub fn refuse_headers<'a>(
    slot: &Slot,
    find: impl Fn(&str) -> Option<&'a Layer>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let is_yes = |argument: &Argument| argument.value.kind == ExpressionKind::Boolean(true);
    let mut given = slot.arguments.iter();
    if !given.any(|argument| argument.name.is("one_sided") && is_yes(argument)) {
        return;
    }
    for variant in &slot.variants {
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
