//! What only some layers of random programs have: functions in C, a field that is written once, a
//! window, options of a header, and listeners.
//!
//! In: what is agreed on. Out: lines of a layer, and what its handlers know of it.

use crate::agreement::Agreement;
use crate::scope::{Kind, Place, Scope, Window};
use crate::statement::Writer;

/// The functions, as `c_agrees/externs.rs` has them.
const FUNCTIONS: [&str; 4] = [
    "extern fn weight(number: u32) -> u32",
    "extern fn kind_of(number: u8) -> u8",
    "extern fn lookup(number: u8, other: u16?) -> u16?",
    "extern fn note(number: u32)",
];

/// Options, behind a count of their header.
const OPTIONS: &str = "\
options by u8 {
    case 0 end
    case 1 padding
    case 2 largest { length: u8 is 4, size: u16 where size >= 4 }
    case 3 scale { length: u8 is 3, shift: u8 }
    else { length: u8 counts option }
}";

/// What a layer may have beside what it asks of frames.
pub fn agree(it: &mut Writer, agreed: &mut Agreement, own: &mut Scope) {
    own.calls_c = it.random.percent(12);
    if it.random.percent(20) {
        let read = agreed.read.iter();
        let numbers = read.filter(|place| place.kind == Kind::Number(8));
        let numbers = Vec::from_iter(numbers.map(|place| place.text.clone()));
        let value = match numbers.is_empty() {
            true => "limit".to_string(),
            false => it.random.one(&numbers).clone(),
        };
        agreed.session.push("once settled: u8".to_string());
        agreed.effects.push(format!("settled = {value}"));
        own.places.push(Place {
            text: "settled".to_string(),
            kind: Kind::Number(8),
            is_written: false,
        });
    }
    if it.random.percent(50) {
        window(agreed, own);
    }
    if it.random.percent(10) {
        own.has_options = true;
        for (text, width) in [("largest.size", 16), ("scale.shift", 8)] {
            agreed.read.push(Place {
                text: format!("header.{text}"),
                kind: Kind::Optional(width),
                is_written: false,
            });
        }
    }
}

/// A window, if some number comes round by which messages are kept there.
fn window(agreed: &mut Agreement, own: &mut Scope) {
    let mut numbers = agreed.settings.iter().filter_map(|(name, kind)| {
        let Kind::Sequence(width) = kind else {
            return None;
        };
        let name = name.trim_start_matches('!');
        let next = format!("next_{}", name.strip_prefix("number_")?);
        let is_own = agreed.own.iter().any(|place| place.text == next);
        is_own.then(|| (*width, format!("header.{name}"), next))
    });
    let found = numbers.next_back();
    if let Some((width, number, next)) = found {
        let line = format!("late: window<message>[4] by seq{width}");
        agreed.session.push(line);
        own.windows.push(Window {
            name: "late".to_string(),
            number,
            next,
        });
    }
}

/// Declares what is written in C.
pub fn functions(it: &mut Writer, own: &Scope) {
    if own.calls_c {
        FUNCTIONS.iter().for_each(|line| it.line(line));
        it.line("");
    }
}

/// What stands at the end of a header; its count stands before.
pub fn options(own: &Scope) -> Option<(&'static str, &'static str)> {
    own.has_options
        .then_some(("words: u8 counts header in 4", OPTIONS))
}

/// A child that is called; says how a finder finds it.
pub fn listener(it: &mut Writer, (key, keys): (&Place, &str), scope: &Scope) -> String {
    it.open("child listener(number: u8)[2]");
    it.open("on deliver(message)");
    if it.random.percent(30) {
        let asked = it.condition(scope);
        it.line(&format!("require {asked} else drop message as not_now"));
    }
    it.line(&format!(
        "let one = create session({keys}) else drop message as nobody_waits"
    ));
    it.line("tell one deliver(message)");
    it.close();
    it.line("on end { count listened }");
    it.close();
    it.line("");
    let number = match key.kind {
        Kind::Number(8) => format!("{} % 2", key.text),
        Kind::Number(16) => format!("({} % 2) as u8", key.text),
        _ => key.text.clone(),
    };
    let condition = match it.random.percent(40) {
        true => format!(" if {}", it.values().question(scope)),
        false => String::new(),
    };
    format!(" or listener({number}){condition}")
}
