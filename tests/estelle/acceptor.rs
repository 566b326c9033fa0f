//! An automaton that accepts the legal sequences of session protocol data units.
//!
//! In: the units in the order in which both machines send and receive them. Out: the first one
//! that is illegal. `CN` opens the connection, `AC` accepts it and `RF` refuses it. Only the owner
//! of the token sends `DT`, `GT` and `FN`. `DN` answers `FN`. `AB` ends all at any time.

/// A unit that a side sends or receives.
pub struct Event<'a> {
    /// The side: 0 connects, 1 is called.
    pub side: usize,
    /// True if it sends.
    pub sends: bool,
    /// The kind of the unit: `CN`.
    pub kind: &'a str,
}

/// The phase of a side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Idle,
    Asked,
    Open,
    Finishing,
    Ended,
}

/// Returns the first illegal event, by its number.
pub fn illegal(events: &[Event<'_>]) -> Option<usize> {
    let mut phases = [Phase::Idle; 2];
    let mut tokens = [false; 2];
    events
        .iter()
        .position(|event| !step(&mut phases[event.side], &mut tokens[event.side], event))
}

/// Makes a step of one side. Returns false if the event is illegal.
fn step(phase: &mut Phase, token: &mut bool, event: &Event<'_>) -> bool {
    let next = match (*phase, event.sends, event.kind) {
        (Phase::Idle, true, "CN") if event.side == 0 => Phase::Asked,
        (Phase::Idle, false, "CN") if event.side == 1 => Phase::Asked,
        (Phase::Asked, _, "AC") if event.sends == (event.side == 1) => {
            *token = event.side == 0;
            Phase::Open
        }
        (Phase::Asked, _, "RF") if event.sends == (event.side == 1) => Phase::Ended,
        (Phase::Open, sends, "DT") if sends == *token => Phase::Open,
        (Phase::Open, sends, "GT") if sends == *token => {
            *token = !sends;
            Phase::Open
        }
        (Phase::Open, true, "PT") if !*token => Phase::Open,
        // A request for the token may cross the token.
        (Phase::Open | Phase::Finishing, false, "PT") => *phase,
        (Phase::Open, sends, "FN") if sends == *token => Phase::Finishing,
        (Phase::Finishing, sends, "DN") if sends != *token => Phase::Ended,
        (Phase::Idle, _, _) => return false,
        (Phase::Asked | Phase::Open | Phase::Finishing, _, "AB") => Phase::Ended,
        // Units that were under way when the side ended.
        (Phase::Ended, false, _) => Phase::Ended,
        _ => return false,
    };
    *phase = next;
    true
}

#[test]
fn the_automaton_refuses_illegal_units() {
    let first_illegal = |text: &str| {
        let words: Vec<&str> = text.split(' ').collect();
        let events = words.iter().map(|word| Event {
            side: usize::from(&word[..1] == "b"),
            sends: &word[1..2] == "!",
            kind: &word[2..],
        });
        illegal(&events.collect::<Vec<_>>())
    };
    let open = "a!CN b?CN b!AC a?AC";
    let with = |rest: &str| first_illegal(&format!("{open} {rest}"));
    assert_eq!(with("a!DT b?DT a!FN b?FN b!DN a?DN"), None);
    assert_eq!(with("a!GT b!PT b?GT a?PT b!DT a?DT"), None);
    assert_eq!(with("b!DT"), Some(4));
    assert_eq!(with("a!GT a!DT"), Some(5));
    assert_eq!(with("b!FN"), Some(4));
    assert_eq!(with("a!PT"), Some(4));
    assert_eq!(with("a!FN a!DT"), Some(5));
    assert_eq!(with("a!AB a!DT"), Some(5));
    assert_eq!(first_illegal("b!CN"), Some(0));
    assert_eq!(first_illegal("a!CN a?AC b!AC"), Some(2));
}
