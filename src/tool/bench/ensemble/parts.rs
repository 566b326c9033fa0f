//! Instructions of a message by parts, as table 1 of the Ensemble paper has them: in, what
//! callgrind wrote, and the C of the stack; out, instructions of the layers (stack), and of
//! buffers, bytes, outputs and the host (transport).
//!
//! Inlined code has the lines of its own function, so a line of the C says to which part an
//! instruction belongs, also where gcc or the compiler has merged layers. Transport are
//!
//! * all lines of functions that take and give buffers and outputs, and that read and write words;
//! * lines of other functions of the stack that name bytes, data, a header or a length;
//! * all lines of other files: the header of the stack, the driver, and `memcpy`.
//!
//! All other lines are of the stack: reactions, containers, instances, timers and the agenda.

use std::collections::BTreeMap;
use std::path::Path;

/// Functions of the C of a stack that are transport: with `_` behind it, all that begin so.
const TRANSPORT: [&str; 37] = [
    "sl_load_",
    "sl_store_",
    "sl_swap_",
    "transport_",
    "ensemble_stack_",
    "answer",
    "arrives",
    "arrives_fast",
    "arrives_hot",
    "begin_call",
    "blank",
    "call_",
    "consume",
    "copies",
    "drop",
    "fill_buffer",
    "give_buffer",
    "group_deliver",
    "hand_buffer",
    "hand_is_idle",
    "has_buffer",
    "has_room",
    "is_",
    "leave",
    "let_all_leave",
    "let_leave",
    "may_go_on",
    "new_message",
    "open_output",
    "outcome",
    "run",
    "send_frame",
    "share",
    "take_",
    "tell_air",
    "waiting_outputs",
    "hot_",
];

/// Words of lines that handle the bytes of a message.
const OF_BYTES: [&str; 4] = ["header", "bytes", "data", "length"];

/// Before a file, and before the calls whose costs stand on the next line.
const FILES: [&str; 3] = ["fl=", "fi=", "fe="];
const CALLS: &str = "calls=";

/// Instructions of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parts {
    /// Of the layers, the containers and the agenda.
    pub stack: f64,
    /// Of buffers, bytes, outputs and the host.
    pub transport: f64,
}

/// The part of each line of the C of a stack.
pub struct Lines {
    name: String,
    is_transport: Vec<bool>,
}

impl Lines {
    /// The lines of a file with this name and text.
    pub fn new(path: &Path, text: &str) -> Lines {
        let mut within = false;
        let is_transport = text.lines().map(|line| {
            if let Some(function) = begins(line) {
                within = is_transport(function);
            }
            within || OF_BYTES.iter().any(|word| line.contains(word))
        });
        Lines {
            name: name(&path.to_string_lossy()).to_string(),
            is_transport: is_transport.collect(),
        }
    }

    /// Returns true if a line of a file is transport.
    fn is_transport(&self, file: &str, line: usize) -> bool {
        let is_own = name(file) == self.name;
        let at = line.checked_sub(1).filter(|_| is_own);
        at.and_then(|at| self.is_transport.get(at).copied())
            .unwrap_or(true)
    }
}

/// The function that begins on a line.
fn begins(line: &str) -> Option<&str> {
    let is_code = line.starts_with(|letter: char| letter.is_ascii_lowercase());
    let before = line.split('(').next().filter(|before| *before != line)?;
    let word = before.rsplit([' ', '*']).next()?;
    is_code.then_some(word)
}

fn is_transport(function: &str) -> bool {
    TRANSPORT.iter().any(|one| match one.ends_with('_') {
        true => function.starts_with(one),
        false => function == *one,
    })
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The parts of all that callgrind counted, with absolute positions and whole names, for so many
/// messages.
pub fn parts(text: &str, files: &[Lines], messages: f64) -> Parts {
    let mut counts: BTreeMap<bool, f64> = BTreeMap::new();
    let mut file = "";
    let mut is_of_callee = false;
    for line in text.lines() {
        if let Some(name) = FILES.iter().find_map(|key| line.strip_prefix(key)) {
            file = name;
        }
        if line.strip_prefix(CALLS).is_some() {
            is_of_callee = true;
            continue;
        }
        let mut words = line.split(' ').map(str::parse::<usize>);
        if let (Some(Ok(at)), Some(Ok(count))) = (words.next(), words.next()) {
            let own = files.iter().all(|one| one.is_transport(file, at));
            if !std::mem::take(&mut is_of_callee) {
                *counts.entry(own).or_default() += count as f64;
            }
        }
    }
    let of = |is_transport: bool| counts.get(&is_transport).copied().unwrap_or_default();
    Parts {
        stack: of(false) / messages,
        transport: of(true) / messages,
    }
}

#[cfg(test)]
mod tests {
    use super::{Lines, Parts, parts};
    use std::path::Path;

    #[test]
    fn a_line_says_which_part_it_is() {
        let code = "static void give_buffer(struct stack *stack) {\n    stack->free = 0;\n}\n\
                    static void mnak_send(struct stack *stack,\n    int n) {\n    n += 1;\n    \
                    header[0] = 1;\n}\n";
        let lines = [Lines::new(Path::new("a/ensemble_stack.c"), code)];
        let counted = "fl=/x/ensemble_stack.c\nfn=mnak_send\n6 100\n7 20\n2 3\n\
                       cfn=memcpy\ncalls=10 5\n6 1000\nfl=???\nfn=memcpy\n6 4\ntotals: 127\n";
        let found = parts(counted, &lines, 10.0);
        let expected = Parts {
            stack: 10.0,
            transport: 2.7,
        };
        assert_eq!(found, expected);
    }
}
