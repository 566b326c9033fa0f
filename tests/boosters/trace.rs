//! A way to a state, as text: what happens, and the states and messages behind it.
//!
//! In: events with the states that follow, without epochs. Out: a line for each.

use crate::machine::{Booster, Debooster, Input, Word};
use crate::network::{At, Channel, End, Event, State};

/// Returns a table with a line for each event.
pub fn text(way: &[(Event, State)]) -> String {
    let head = [
        "",
        "event",
        "booster",
        "debooster",
        "to debooster",
        "to booster",
    ];
    let mut lines = vec![head.map(str::to_string)];
    for (number, (event, state)) in (1..).zip(way) {
        lines.push([
            format!("{number}"),
            happens(*event),
            of_booster(state.booster).to_string(),
            of_debooster(state.debooster).to_string(),
            under_way(&state.forward),
            under_way(&state.back),
        ]);
    }
    let width = |column: usize| lines.iter().map(|line| line[column].len()).max();
    let widths = [0, 1, 2, 3, 4, 5].map(|column| width(column).unwrap_or_default());
    let mut text = String::new();
    for line in &lines {
        let [number, words @ ..] = line;
        let cells = words
            .iter()
            .zip(&widths[1..])
            .map(|(word, width)| format!("{word:<width$}"));
        let number = format!("{number:>width$}", width = widths[0]);
        let cells: Vec<String> = [number].into_iter().chain(cells).collect();
        text += &format!("{}\n", cells.join("  ").trim_end());
    }
    text
}

fn happens(event: Event) -> String {
    let at = |end: End| match end {
        End::Booster => "booster",
        End::Debooster => "debooster",
    };
    match event {
        Event::Lost(end, message) => format!("{} to the {} is lost", word(message.word), at(end)),
        Event::At(At { end, input, again }, sent) => {
            let cause = match input {
                Input::Insert => format!("{}'s policy inserts", at(end)),
                Input::Remove => format!("{}'s policy removes", at(end)),
                Input::Retry => format!("{}'s timer expires", at(end)),
                Input::Got(got, _) => format!("{} gets {}", at(end), word(got)),
                Input::Refused => format!("{} refuses BOOST", at(end)),
            };
            let again = if again { ", which comes again" } else { "" };
            let sent = sent.map_or_else(String::new, |sent| format!(", sends {}", word(sent)));
            format!("{cause}{again}{sent}")
        }
    }
}

fn under_way(channel: &Channel) -> String {
    let words: Vec<&str> = channel
        .messages()
        .map(|message| word(message.word))
        .collect();
    words.join(" ")
}

fn word(word: Word) -> &'static str {
    match word {
        Word::Boost => "BOOST",
        Word::Start => "START",
        Word::Started => "STARTED",
        Word::Abort => "ABORT",
        Word::Idle => "IDLE",
    }
}

fn of_booster(state: Booster) -> &'static str {
    match state {
        Booster::Idle => "IDLE",
        Booster::RunBoost => "RUN_BOOST",
        Booster::RunBoostSilent => "RUN_BOOST_SILENT",
        Booster::Terminating => "TERMINATING",
    }
}

fn of_debooster(state: Debooster) -> &'static str {
    match state {
        Debooster::Idle => "IDLE",
        Debooster::Asking => "ASKING",
        Debooster::RunDeboost => "RUN_DEBOOST",
        Debooster::Terminating => "TERMINATING",
    }
}
