//! The parentheses of slots: in, a slot as it is written; out, a mistake for each parameter that no
//! slot has, for a key beside no other, and for a header in a slot with one side, whose far end
//! knows nothing of it.

use crate::diagnostic::{Diagnostic, Id};
use crate::syntax::loom::ast::{Argument, Item, Layer, Slot};
use crate::types::names::{refuse_repeated, suggest};

/// The parameters of a slot.
const PARAMETERS: [&str; 3] = [KEY, "one_sided", "protected"];
const KEY: &str = "key";

/// Reports parameters that no slot has, or that are set twice.
pub fn check_parameters(slot: &Slot, diagnostics: &mut Vec<Diagnostic>) {
    let names = slot.arguments.iter().map(|argument| &argument.name);
    refuse_repeated(names.clone(), diagnostics);
    for name in names.filter(|name| !PARAMETERS.contains(&name.text.as_str())) {
        let title = format!("a slot has no parameter `{name}`");
        let unknown = Diagnostic::error(Id::UnknownParameter, title, name.span, "");
        diagnostics.push(suggest(unknown, &name.text, &PARAMETERS));
    }
}

/// Reports a key of the slot's own, if the slot does not stand at a key of the layer below.
pub fn check_key(slot: &Slot, has_label: bool, diagnostics: &mut Vec<Diagnostic>) {
    let mut keys = slot.arguments.iter();
    let own = keys.find(|argument| argument.name.is(KEY));
    if let Some(own) = own.filter(|_| !has_label) {
        let title = format!("the slot `{}` has a key beside no other", slot.name);
        diagnostics.push(
            Diagnostic::error(Id::KeyMissing, title, own.span, "")
                .label(slot.name.span, "no key is before `slot`")
                .why(
                    "Frames of the first layer have the key before `slot`, as those of a far end \
                    without a slot; all others have the key in parentheses.",
                )
                .help("remove it, or put the slot at a `key` of a multiplexor"),
        );
    }
}

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
