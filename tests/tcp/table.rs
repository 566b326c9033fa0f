//! What RFC 9293 3.10.7 says of a segment that arrives, written down from its text alone: rows in
//! the order in which it checks, of which the first that holds says what happens.
//!
//! In: a state, what is known in it, and a segment. Out: the reply, and what the user is told.

use crate::segment::{ACK, FIN, RST, SYN, Segment, URG};

/// An enum, and all of its values.
macro_rules! states {
    ($($(#[$about:meta])* $state:ident,)*) => {
        /// The states of 3.3.2; SYN-RECEIVED and FIN-WAIT-1 twice, since it matters how they began.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum State {
            $($(#[$about])* $state,)*
        }

        use State::*;

        /// All of them.
        pub const STATES: &[State] = &[$($state,)*];
    };
}

states! {
    /// No connection.
    Closed,
    /// A passive OPEN.
    Listen,
    /// An active OPEN, unanswered.
    SynSent,
    /// After a passive OPEN.
    Called,
    /// After an active OPEN, where both opened at once.
    Crossed,
    /// That, and our FIN is out at once: the peer has not yet acknowledged our SYN.
    CrossedShut,
    /// Data may flow both ways.
    Established,
    /// Our FIN is out.
    FinWait1,
    /// It is acknowledged.
    FinWait2,
    /// The peer's FIN came.
    CloseWait,
    /// Both FINs are out, ours first.
    Closing,
    /// Both FINs are out, the peer's first.
    LastAck,
    /// All is acknowledged; there is a listener for what comes next.
    TimeWait,
}

/// What a connection knows.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// SND.UNA
    pub unacknowledged: u32,
    /// SND.NXT
    pub next: u32,
    /// RCV.NXT
    pub expected: u32,
    /// RCV.WND
    pub window: u32,
}

/// The segment that answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Nothing goes out at once.
    Silence,
    /// `<SEQ=SND.NXT><ACK=RCV.NXT><CTL=ACK>`, RCV.NXT as it is then
    Acknowledgement,
    /// That, or nothing: the text does not say.
    Perhaps,
    /// `<SEQ=SEG.ACK><CTL=RST>`
    Reset,
    /// `<SEQ=0><ACK=SEG.SEQ+SEG.LEN><CTL=RST,ACK>`
    ResetOfNothing,
    /// `<SEQ=ISS><ACK=RCV.NXT><CTL=SYN,ACK>`
    Synchronises,
}

/// What happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reaction {
    /// What goes out.
    pub reply: Reply,
    /// What the user is told, in any order.
    pub told: Vec<&'static str>,
    /// How much text comes up.
    pub text: u32,
    /// Whether there still is a connection, or one has begun.
    pub lives: bool,
}

/// What the table says.
pub fn reaction(state: State, known: &Known, segment: &Segment) -> Reaction {
    match state {
        Closed => closed(segment),
        Listen => listen(segment),
        SynSent => syn_sent(known, segment),
        _synchronised => others(state, known, segment),
    }
}

fn says(reply: Reply, lives: bool) -> Reaction {
    Reaction {
        reply,
        told: Vec::new(),
        text: 0,
        lives,
    }
}

/// 3.10.7.1
fn closed(segment: &Segment) -> Reaction {
    let rows = [
        (segment.has(RST), Reply::Silence),
        (segment.has(ACK), Reply::Reset),
        (true, Reply::ResetOfNothing),
    ];
    says(first(&rows), false)
}

/// 3.10.7.2
fn listen(segment: &Segment) -> Reaction {
    let rows = [
        (segment.has(RST), Reply::Silence),
        (segment.has(ACK), Reply::Reset),
        (segment.has(SYN), Reply::Synchronises),
        (true, Reply::Silence),
    ];
    let reply = first(&rows);
    says(reply, reply == Reply::Synchronises)
}

/// 3.10.7.3
fn syn_sent(known: &Known, segment: &Segment) -> Reaction {
    // ISS < SEG.ACK =< SND.NXT, and SND.NXT is ISS + 1
    let is_answer = segment.acknowledgement == known.next;
    let rows = [
        (segment.has(ACK | RST) && !is_answer, Reply::Silence),
        (segment.has(ACK) && !is_answer, Reply::Reset),
        (segment.has(RST), Reply::Silence),
        (segment.has(SYN | ACK), Reply::Acknowledgement),
        (segment.has(SYN), Reply::Synchronises),
        (true, Reply::Silence),
    ];
    let mut reaction = says(first(&rows), true);
    if segment.has(ACK | RST) && is_answer {
        reaction.told.push("closed refused");
        reaction.lives = false;
    }
    if reaction.reply == Reply::Acknowledgement {
        reaction.told.push("opened");
        // It goes on at the sixth step.
        reaction.text = segment.text.len() as u32;
    }
    reaction
}

/// 3.10.7.4, up to the fifth check
fn others(state: State, known: &Known, segment: &Segment) -> Reaction {
    let flags = (segment.flags & (SYN | FIN)).count_ones();
    let length = segment.text.len() as u32 + flags;
    // A FIN that has come has taken one number of the window.
    let window =
        known.window - u32::from(matches!(state, CloseWait | Closing | LastAck | TimeWait));
    let within = |number: u32| number.wrapping_sub(known.expected) < window;
    let last = segment.number.wrapping_add(length).wrapping_sub(1);
    let is_acceptable = match length {
        // By the text what stands at the very end of the window is outside; but there stands the
        // acknowledgement of whoever has filled it. A reset is never such an acknowledgement.
        0 => {
            let ahead = segment.number.wrapping_sub(known.expected);
            ahead < window || ahead == window && !segment.has(RST)
        }
        _ => within(segment.number) || within(last),
    };
    let is_opening = matches!(state, Called | Crossed | CrossedShut);
    let acknowledges = segment.acknowledgement.wrapping_sub(known.unacknowledged) as i32;
    let flight = known.next.wrapping_sub(known.unacknowledged) as i32;
    let is_answer = match is_opening {
        true => 0 < acknowledges && acknowledges <= flight,
        // RFC 5961 5 lets through what is not older than the widest window.
        false => -65535 <= acknowledges && acknowledges <= flight,
    };
    let is_here = segment.number == known.expected;
    // 3.6.1: here our next initial number is behind all that we sent.
    let is_behind = segment.number.wrapping_sub(known.expected) as i32 > 0;
    if state == TimeWait && segment.flags & (SYN | ACK | RST) == SYN && is_behind {
        return says(Reply::Synchronises, true);
    }
    let rows = [
        (!is_acceptable && segment.has(RST), Reply::Silence),
        (!is_acceptable, Reply::Acknowledgement),
        (segment.has(RST) && is_here, Reply::Silence),
        (segment.has(RST), Reply::Acknowledgement),
        // RFC 5961 4.2: also in SYN-RECEIVED.
        (segment.has(SYN), Reply::Acknowledgement),
        (!segment.has(ACK), Reply::Silence),
        (!is_answer && is_opening, Reply::Reset),
        (!is_answer, Reply::Acknowledgement),
        // Fifth: what is not where the peer ended shows that it does not know that we know.
        (
            state == TimeWait && !is_here && !segment.has(FIN),
            Reply::Acknowledgement,
        ),
    ];
    let Some(at) = rows.iter().position(|(holds, _)| *holds) else {
        return accepted(state, known, segment);
    };
    let mut reaction = says(rows[at].1, true);
    if at == 2 {
        reaction.lives = false;
    }
    if at == 2 {
        match state {
            // Back to LISTEN: nobody knew of it. In TIME-WAIT the user knows of the end.
            Called | TimeWait => {}
            Crossed | CrossedShut => reaction.told.push("closed refused"),
            _known_to_its_user => reaction.told.push("closed reset"),
        }
    }
    reaction
}

/// 3.10.7.4, what follows the fifth check
fn accepted(state: State, known: &Known, segment: &Segment) -> Reaction {
    let mut reaction = says(Reply::Silence, true);
    let before = known.expected.wrapping_sub(segment.number);
    let is_all_acknowledged = segment.acknowledgement == known.next;
    match state {
        Called => reaction.told.push("accepted"),
        Crossed | CrossedShut => reaction.told.push("opened"),
        _open => {}
    }
    let takes_text = !matches!(state, CloseWait | Closing | LastAck | TimeWait);
    // Sixth: RCV.UP <- max(RCV.UP, SEG.UP), and whether it is in advance of what was consumed.
    let up = segment.number.wrapping_add(u32::from(segment.urgent));
    if takes_text && segment.has(URG) && up.wrapping_sub(known.expected) as i32 > 0 {
        reaction.told.push("urgent");
    }
    let is_in_order = before as i32 >= 0;
    let length = segment.text.len() as u32;
    if length > 0 && takes_text {
        if is_in_order {
            reaction.text = length.saturating_sub(before);
        } else {
            reaction.reply = Reply::Acknowledgement;
        }
    } else if length > 0 {
        reaction.reply = Reply::Perhaps;
    }
    // Eighth.
    let is_end = segment.has(FIN)
        && segment.number.wrapping_add(length)
            == segment
                .number
                .wrapping_add(before)
                .wrapping_add(reaction.text);
    if segment.has(FIN) {
        reaction.reply = match takes_text {
            true => Reply::Acknowledgement,
            false => Reply::Perhaps,
        };
    }
    let is_finished = is_end && takes_text && is_in_order;
    if is_finished {
        reaction.told.push("finished");
    }
    let is_over = match state {
        CrossedShut | FinWait1 => is_finished && is_all_acknowledged,
        FinWait2 => is_finished,
        Closing | LastAck => is_all_acknowledged,
        _goes_on => false,
    };
    if is_over {
        reaction.told.push("closed finished");
        reaction.lives = state != LastAck;
    }
    if state == LastAck && is_over {
        reaction.reply = match reaction.reply {
            Reply::Silence => Reply::Silence,
            _of_an_end => Reply::Perhaps,
        };
    }
    reaction
}

/// What the first row says that holds.
fn first(rows: &[(bool, Reply)]) -> Reply {
    let found = rows.iter().find(|(holds, _)| *holds);
    found.expect("the last row always holds").1
}
