//! Stacks whose links call their hosts, and whose ports may, too: of others, with `calls` put in.

use super::compared::differing;
use super::compiled::Compiled as Built;
use super::externs::FLOODS;
use super::{ELSEWHERE, FAULT, WAYS, agrees, compared, run, stacks, trace};
use stackloom::pipeline::Compiled;
use stackloom::simulate::trace::{Call, Step, Trace};
use stackloom::simulate::value::Datum;
use stackloom::tool::layout::limits;
use stackloom::types::program::LinkId;
use std::path::Path;

/// Stacks that are tried with a link that calls.
const LEAVING: [&str; 12] = [
    "alternating",
    "answered",
    "answers_kept",
    "begun",
    "called",
    "callers",
    "granted_later",
    "letters",
    "links",
    "predicted",
    "replied",
    "streams",
];

#[test]
fn the_c_of_links_that_call_does_what_it_says() {
    for name in LEAVING {
        agrees(&leaving(name));
    }
}

#[test]
fn the_c_of_links_and_ports_that_call_does_what_it_says() {
    for name in ["segments", "several", "words"] {
        agrees(&calling(name));
    }
    agrees("tests/c_agrees/stacks/leaving_granted.loom");
}

#[test]
fn the_c_of_two_links_that_call_does_what_it_says() {
    let path = &beside_another();
    agrees(path);
    compared((path, ELSEWHERE), &stacks::elsewhere(path), &WAYS[..1]);
}

#[test]
fn an_answer_has_room_behind_an_application_that_sends_all_that_is_taken() {
    let spare = ("    give_buffer(stack, one->buffer);\n", "");
    has_room("tests/c_agrees/stacks/leaving_granted.loom", spare, to_talk);
}

/// A frame to the layers of `leaving_granted`, where `id` and `small` are zero.
fn to_talk(data: &[u8], number: u8) -> Vec<u8> {
    let length = 8 + data.len() as u8;
    let mut frame = vec![0xbe, 0xef, 0, 0, 0, 0, 0xa0, 64, 0, 12 + length, 0, 0];
    let words = frame
        .chunks(2)
        .map(|two| u32::from(two[0]) << 8 | u32::from(two[1]));
    let sum: u32 = words.sum();
    let sum = !(((sum & 0xffff) + (sum >> 16)) as u16);
    frame[10..].copy_from_slice(&sum.to_be_bytes());
    frame.extend([0x90, 9, 0, number, 0, 0, length, 0]);
    frame.extend(data);
    frame
}

/// Every second message that comes up is answered, and the application sends as much as is taken:
/// no room is left for more than the answer, and this is the C that sees to that.
fn has_room(path: &str, fault: (&str, &str), frame: impl Fn(&[u8], u8) -> Vec<u8>) {
    let [mut woven, _] = stacks::built(path);
    let mut all = quiet(&woven);
    let frames = (0..8).map(|number| frame(&[FLOODS][..usize::from(number % 2)], number));
    let calls = frames.map(|frame| Call::Input(LinkId(0), vec![frame]));
    all.steps = steps(&all, calls);
    found(path, &mut woven, &[(0, all)], fault);
}

/// A trace without calls, whose settings are zero and whose buffers are many.
fn quiet(woven: &Compiled) -> Trace {
    let mut all = trace(&woven.program, 0, limits(&woven.module));
    all.limits.buffers = run::MANY;
    let settings = all.config.iter_mut();
    settings.for_each(|value| *value = Datum::Number(0));
    all
}

/// Calls at the time at which a trace starts.
fn steps(all: &Trace, calls: impl Iterator<Item = Call>) -> Vec<Step> {
    let steps = calls.map(|call| Step {
        now_ns: all.start_ns,
        call,
        takes: true,
    });
    steps.collect()
}

/// The C of a stack does what it says on these traces, and with a fault in it does not.
fn found(path: &str, woven: &mut Compiled, traces: &[(u64, Trace)], (right, wrong): (&str, &str)) {
    let c = woven.code.c.clone();
    assert!(c.contains(right), "there is something to get wrong");
    for (how, c) in [("all sent", c.clone()), (FAULT, c.replace(right, wrong))] {
        woven.code.c = c;
        let place = format!("{path}/{how}");
        let code = (&woven.module, &woven.code);
        let compiled = Built::new(&place, &woven.program, code, &WAYS[..1]);
        let found = differing(woven, &compiled, traces, true);
        let told = found.map(|found| found.told(path));
        assert_eq!(told.is_some(), how == FAULT, "{right}: {told:?}");
    }
}

/// The layers of `leaving_granted` on two links that call, of which one has a port that does not: a
/// frame may go on up another stack of layers.
fn beside_another() -> String {
    let text = std::fs::read_to_string("tests/c_agrees/stacks/leaving_granted.loom");
    let text = text.expect("it is there");
    let (before, link) = text.rsplit_once("    link wire").expect("it has a link");
    let (link, _) = link.rsplit_once('}').expect("the stack ends");
    let other = link.replace("leaves", "leaves_too");
    let other = other.replace("port talks calls arrived", "port more");
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("leaving_two.loom");
    let text = format!("{before}    link wire{link}    link side{other}}}\n");
    std::fs::write(&path, text).expect("there is room");
    path.to_str().expect("it has a name").to_string()
}

/// A stack whose first link and whose ports call functions.
pub fn calling(name: &str) -> String {
    let file = leaving(name);
    let text = std::fs::read_to_string(&file).expect("it is there");
    let mut pieces = text.split("{ port ");
    let mut all = pieces.next().unwrap_or_default().to_string();
    for (at, piece) in pieces.enumerate() {
        let (port, rest) = piece.split_once(' ').expect("a port has a name");
        all += &format!("{{ port {port} calls arrived_{at} {rest}");
    }
    let file = file.replace("_leaving.loom", "_calling.loom");
    std::fs::write(&file, all).expect("there is room");
    file
}

/// A stack whose first link calls a function.
pub fn leaving(name: &str) -> String {
    let file = format!("tests/c_agrees/stacks/{name}.loom");
    let text = std::fs::read_to_string(file).expect("it is there");
    let (layers, stack) = text.rsplit_once("\nstack ").expect("it has a stack");
    let (before, stack) = stack.split_once(" link ").expect("it has a link");
    let (link, above) = stack.split_once(" {").expect("something stands on it");
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}_leaving.loom"));
    let bare = link.strip_suffix(" gathers");
    let gathers = if bare.is_some() { " gathers" } else { "" };
    let link = bare.unwrap_or(link);
    let text = format!("{layers}\nstack {before} link {link} calls leaves{gathers} {{{above}");
    std::fs::write(&path, text).expect("there is room");
    path.to_str().expect("it has a name").to_string()
}
