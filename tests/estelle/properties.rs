//! Properties that every run of a specification has.
//!
//! In: a trace. A property that does not hold stops the test, with the title of the trace.

use super::acceptor::{Event, illegal};
use super::runs::{Trace, numbers, outputs, values};
use stackloom::simulate::estelle::{Effect, Step};
use std::collections::BTreeMap;

/// The ball crosses the net as often as the specification says.
pub fn pingpong(trace: &Trace) {
    trace.is_done();
    let names: Vec<&str> = trace.steps().map(|step| step.transition.as_str()).collect();
    assert_eq!(
        names,
        ["serve", "hit", "hit", "hit", "hit", "miss"],
        "{}",
        trace.title
    );
}

/// All items arrive, in order and once.
pub fn alternating(trace: &Trace) {
    trace.is_done();
    let delivered = numbers(&trace.taken("sink", "DELIVER"));
    assert_eq!(delivered, [1, 2, 3], "{}", trace.title);
}

/// The items that arrive are the first ones that the caller submitted.
pub fn inres(trace: &Trace) {
    trace.is_done();
    let submitted = numbers(&sent_values(trace, "caller", "IDATreq"));
    let delivered = numbers(&trace.taken("called", "IDATind"));
    assert!(
        submitted.starts_with(&delivered),
        "{}: {delivered:?}",
        trace.title
    );
}

/// Over a perfect medium, the connection transfers three items and ends.
pub fn inres_perfect(trace: &Trace) {
    inres(trace);
    let delivered = numbers(&trace.taken("called", "IDATind"));
    assert_eq!(delivered, [1, 2, 3], "{}", trace.title);
    assert_eq!(
        trace.taken("caller", "ICONconf").len(),
        1,
        "{}",
        trace.title
    );
    assert_eq!(trace.taken("caller", "IDISind").len(), 1, "{}", trace.title);
}

/// Over a dead medium, the initiator asks four times and gives up.
pub fn inres_dead(trace: &Trace) {
    trace.is_done();
    let times = |interaction| {
        let sent = trace.sent("initiator.initiating", interaction);
        sent.iter().map(|(time, _)| *time).collect::<Vec<u64>>()
    };
    assert_eq!(times("CRpdu"), [0, 5, 10, 15], "{}", trace.title);
    assert_eq!(times("IDISind"), [20], "{}", trace.title);
}

/// At the end both stations are connected, or both are closed; data arrive in order.
pub fn abracadabra(trace: &Trace) {
    trace.is_done();
    let ends = ["left", "right"].map(|side| trace.last_state(&format!("station[{side}]")));
    assert!(
        ends[0] == ends[1] && ["open", "closed"].contains(&ends[0]),
        "{}: {ends:?}\n{}",
        trace.title,
        trace.text()
    );
    for side in ["left", "right"] {
        let taken = numbers(&trace.taken(&format!("user[{side}]"), "DatInd"));
        assert!([1, 2].starts_with(&taken), "{}: {taken:?}", trace.title);
    }
}

/// All items arrive in order, and the medium takes frames in the order in which they are sent.
pub fn sliding(trace: &Trace) {
    trace.is_done();
    let delivered = numbers(&trace.taken("sink", "DELIVER"));
    assert_eq!(delivered, (1..=10).collect::<Vec<i64>>(), "{}", trace.title);
    let frames = |step: &Step| match step.instance.as_str() {
        "sender" | "receiver" => outputs(step)
            .filter(|message| message.interaction == "FRAME")
            .map(values)
            .collect(),
        _ => Vec::new(),
    };
    let sent: Vec<Vec<String>> = trace.steps().flat_map(frames).collect();
    assert_eq!(trace.taken("medium", "FRAME"), sent, "{}", trace.title);
}

/// Each unit arrives whole, and segments have as many octets as both sides accept.
pub fn transport0(trace: &Trace) {
    trace.is_done();
    let sent = sent_values(trace, "caller", "TDATreq");
    let arrived = trace.taken("called", "TDATind");
    assert_eq!(arrived, sent, "{}", trace.title);
    assert_eq!(trace.taken("caller", "TDATind"), sent, "{}", trace.title);
    let refused = trace.taken("caller", "TDISind").len();
    assert_eq!(sent.len(), 3 * (1 - refused), "{}", trace.title);
    let tpdus = sent_values(trace, "station[left].entity", "NDATreq");
    let segments = tpdus
        .iter()
        .filter(|values| values[0].starts_with("(code:DT"));
    assert_eq!(
        segments.count(),
        (1 + 3 + 6) * (1 - refused),
        "{}",
        trace.title
    );
}

/// Both machines send and receive legal sequences of units, and end idle.
pub fn session(trace: &Trace) {
    trace.is_done();
    const SIDES: [&str; 2] = ["machine[left]", "machine[right]"];
    let mut kinds: Vec<(usize, bool, String)> = Vec::new();
    for step in trace.steps() {
        let Some(side) = SIDES.iter().position(|side| *side == step.instance) else {
            continue;
        };
        let taken = step.input.iter().filter(|it| it.interaction == "TDATind");
        let sent = outputs(step).filter(|it| it.interaction == "TDATreq");
        kinds.extend(taken.map(|it| (side, false, kind(&values(it)[0]))));
        kinds.extend(sent.map(|it| (side, true, kind(&values(it)[0]))));
    }
    let events = kinds.iter().map(|(side, sends, kind)| Event {
        side: *side,
        sends: *sends,
        kind,
    });
    let events: Vec<Event<'_>> = events.collect();
    if let Some(at) = illegal(&events) {
        panic!(
            "{}: {:?} is illegal\n{}",
            trace.title,
            kinds[at],
            trace.text()
        );
    }
    for side in SIDES {
        assert_eq!(trace.last_state(side), "idle", "{}: {side}", trace.title);
    }
}

/// Returns the kind of a unit: `CN` of `(kind:CN,data:0)`.
fn kind(record: &str) -> String {
    let parts = record.split([':', ',']);
    parts.skip(1).take(1).collect()
}

/// One module takes each request of a client, in order; only a client that leaves loses some. The
/// listener takes the rest of a client first, and takes nothing while a handler serves it.
pub fn server(trace: &Trace) {
    trace.is_done();
    let mut taken: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    let mut lost: BTreeMap<String, u64> = BTreeMap::new();
    for step in trace.steps() {
        if let Some(message) = step.input.as_ref().filter(|it| it.interaction == "DATreq") {
            taken
                .entry(line(step))
                .or_default()
                .extend(numbers(&[values(message)]));
        }
        let ends = step.effects.iter().find_map(|effect| match effect {
            Effect::Terminate { module, lost } => Some((index(module), *lost)),
            Effect::Output(_)
            | Effect::Unconnected(_)
            | Effect::Init(_)
            | Effect::Release { .. }
            | Effect::Moved { .. } => None,
        });
        if let Some((client, count)) = ends {
            *lost.entry(client).or_default() += count;
            let mut effects = step.effects.iter();
            let moves = effects.any(|effect| matches!(effect, Effect::Moved { .. }));
            assert!(!moves, "{}: `terminate` moves nothing back", trace.title);
        }
    }
    for client in ["1", "2"] {
        let sent = numbers(&sent_values(trace, &format!("client[{client}]"), "DATreq"));
        let taken = taken.remove(client).unwrap_or_default();
        let is_in_order = taken.windows(2).all(|two| two[0] < two[1]);
        let missing = sent.iter().filter(|number| !taken.contains(number)).count() as u64;
        let at_most = lost.get(client).copied().unwrap_or(0);
        assert!(
            is_in_order && missing <= at_most,
            "{}: client {client}: {taken:?} of {sent:?}, lost {at_most}\n{}",
            trace.title,
            trace.text()
        );
    }
}

/// Returns the number of the client whose request a firing takes.
fn line(step: &Step) -> String {
    match step.instance.as_str() {
        "server" => index(&step.input.as_ref().expect("it takes a request").point),
        handler => index(handler),
    }
}

/// Returns the index in a name: `2` of `server.c[2]#3`.
fn index(name: &str) -> String {
    let text = name.split(['[', ']']).nth(1);
    text.unwrap_or_default().to_string()
}

/// Each initiator receives all answers in order.
pub fn gpi(trace: &Trace, connections: u64, requests: i64) {
    trace.is_done();
    for connection in 1..=connections {
        let initiator = format!("gpi.initiator[{connection}]");
        let answers = numbers(&trace.taken(&initiator, "UP"));
        assert_eq!(
            answers,
            (1..=requests).collect::<Vec<i64>>(),
            "{}",
            trace.title
        );
    }
}

/// Delays end at times within their bounds.
pub fn clock(trace: &Trace) {
    trace.is_done();
    let times = |instance: &str, transition| trace.times(&format!("clock.{instance}"), transition);
    let range = times("range", "due");
    assert!(
        range.len() == 1 && (2..=5).contains(&range[0]),
        "{}: {range:?}",
        trace.title
    );
    let open = times("open", "due");
    assert!(open.len() == 1 && open[0] >= 1, "{}: {open:?}", trace.title);
    assert_eq!(times("periodic", "due"), [3, 6, 9], "{}", trace.title);
    assert_eq!(times("broken", "disarm"), [3], "{}", trace.title);
    assert_eq!(times("broken", "arm"), [4], "{}", trace.title);
    assert_eq!(times("broken", "due"), [8], "{}", trace.title);
    assert_eq!(times("beside", "other"), [2, 4], "{}", trace.title);
    assert_eq!(times("beside", "due"), [5], "{}", trace.title);
    assert_eq!(times("exported", "due"), [7], "{}", trace.title);
    let urgent = trace.steps().filter(|step| step.instance == "clock.urgent");
    let urgent: Vec<(u64, &str)> = urgent.map(|it| (it.time, it.transition.as_str())).collect();
    assert_eq!(urgent, [(2, "sooner"), (2, "later")], "{}", trace.title);
}

/// The processes fire together, the activities one by one, a parent alone.
pub fn attributes(trace: &Trace) {
    trace.is_done();
    let firings = |system: &str| {
        let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
        for step in trace.steps().filter(|step| step.system == system) {
            *counts.entry(step.step).or_default() += 1;
        }
        counts.into_values().collect::<Vec<u64>>()
    };
    let round = [1, 2, 1, 3, 1, 2, 2];
    assert_eq!(
        firings("processes"),
        [round, round].concat(),
        "{}",
        trace.title
    );
    assert_eq!(firings("activities"), [1; 26], "{}", trace.title);
}

fn sent_values(trace: &Trace, instance: &str, interaction: &str) -> Vec<Vec<String>> {
    let sent = trace.sent(instance, interaction).into_iter();
    sent.map(|(_, values)| values).collect()
}
