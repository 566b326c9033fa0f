//! The host: drives a started stack on its devices until it is told to stop.
//!
//! In: a `Stack`, a device for each of its links, an application for each of its ports, a clock.
//! Out: a `Report`, made of the stack's counters.
//!
//! ```text
//! loop {  expire timers  ->  drain  ->  receive frames, feed them  ->  drain  ->  wait  }
//! ```
//!
//! On the real clock `wait` polls the devices. On the virtual clock it jumps to the next frame of
//! a capture or the next deadline of the stack, whichever is first, and a run ends when nothing is
//! left to happen: the same capture gives the same answers, byte for byte.

use super::device::Device;
use super::failure::{Failure, plain};
use super::lines::Lines;
use super::stack::{Event, Filled, Stack};
use super::terminal::note;
use crate::simulate::stack::Outcome;
use indicatif::ProgressBar;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// What sits at a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Application {
    /// Reads and forgets.
    #[default]
    Sink,
    /// Sends what it reads back to where it came from.
    Echo,
    /// Sends the lines of stdin, and prints what it reads.
    Lines,
}

/// Where the time comes from, in nanoseconds since 1970.
#[derive(Clone, Copy, Debug)]
pub enum Clock {
    /// The machine's.
    Real {
        /// When the clock was made.
        start: Instant,
        /// What time it was then.
        start_ns: u64,
    },
    /// It stands still until the host moves it.
    Virtual {
        /// What time it is.
        now_ns: u64,
    },
}

impl Clock {
    /// The machine's clock.
    pub fn real() -> Clock {
        let since = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        let start_ns = u64::try_from(since.as_nanos()).unwrap_or(0);
        Clock::Real {
            start: Instant::now(),
            start_ns,
        }
    }

    /// A clock that stands at the first frame of the captures.
    pub fn starting_with(devices: &[Box<dyn Device>]) -> Clock {
        let first_ns = devices.iter().filter_map(|device| device.due_ns()).min();
        Clock::Virtual {
            now_ns: first_ns.unwrap_or(0),
        }
    }

    /// What time it is.
    pub fn now_ns(&self) -> u64 {
        match self {
            Clock::Real { start, start_ns } => {
                let elapsed = u64::try_from(start.elapsed().as_nanos());
                start_ns + elapsed.expect("no run takes centuries")
            }
            Clock::Virtual { now_ns } => *now_ns,
        }
    }
}

/// When a run ends.
pub struct Until<'run> {
    /// Set from elsewhere: by a signal, by whoever has seen enough.
    pub stop: &'run AtomicBool,
    /// After so much time, if anything is said.
    pub after: Option<Duration>,
}

/// How long the timers of a stack are followed after the last frame of a capture.
const QUIET_NS: u64 = 120_000_000_000;

/// How often timers may expire in a run from one frame of a capture to the next.
const MOST_EXPIRIES: u64 = 1_000_000;

/// How long the counters that are shown stay the same.
const GLANCE: Duration = Duration::from_millis(200);

/// How long the host sleeps at most before it looks whether it is to stop.
const PATIENCE: Duration = Duration::from_millis(20);

/// After the end of stdin, a run of `lines` ends when nothing has passed for so long.
const SILENCE: Duration = Duration::from_secs(2);

/// A run of `lines` ends so long after the end of stdin, whatever passes.
const LINGERING: Duration = Duration::from_secs(30);

/// Frames that are fed together on the real clock.
const BATCH: usize = 32;

/// A stack with all that is around it.
pub struct Host<'program> {
    stack: Stack<'program>,
    devices: Vec<Box<dyn Device>>,
    applications: Vec<Application>,
    /// The one application that somebody types to.
    lines: Option<Lines>,
    /// The drops that were told while it runs.
    told: BTreeMap<String, u64>,
    /// When stdin ended.
    input_ended: Option<Instant>,
    /// When a frame last went out, or a message was last printed.
    last_passed: Instant,
    clock: Clock,
    /// The link whose frames the stack did not take yet.
    stalled: Option<usize>,
    /// Whether frames may be waiting that the stack had no buffer for.
    starved: bool,
    last_frame_ns: u64,
    /// How often timers expired since then.
    expiries: u64,
    expired_ns: Option<u64>,
    seen: Seen,
}

/// What the host itself saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Frames that came in longer than the stack's buffers, and were cut.
    pub cut: u64,
    /// Frames that a device did not take.
    pub unsent: u64,
    /// Messages that an application could not send.
    pub refused: u64,
}

impl<'program> Host<'program> {
    /// Puts a started stack onto its devices, one for each link, and under its applications, one
    /// for each port.
    pub fn new(
        stack: Stack<'program>,
        devices: Vec<Box<dyn Device>>,
        applications: Vec<Application>,
        clock: Clock,
    ) -> Host<'program> {
        let last_frame_ns = clock.now_ns();
        let seen = Seen::default();
        let (stalled, starved) = (None, false);
        let mut applications_of = applications.iter();
        let typed = applications_of.position(|one| *one == Application::Lines);
        let lines = typed.map(Lines::new);
        Host {
            stack,
            devices,
            applications,
            lines,
            told: BTreeMap::new(),
            input_ended: None,
            last_passed: Instant::now(),
            clock,
            stalled,
            starved,
            last_frame_ns,
            expiries: 0,
            expired_ns: None,
            seen,
        }
    }

    /// Runs until nothing is left to happen, or until it is told to stop.
    pub fn run(&mut self, until: &Until<'_>) -> Result<(), Failure> {
        self.run_shown(until, &ProgressBar::hidden())
    }

    /// Runs, and shows the counters meanwhile.
    pub fn run_shown(&mut self, until: &Until<'_>, shown: &ProgressBar) -> Result<(), Failure> {
        let mut next = Instant::now();
        let end_ns = until.after.map_or(u64::MAX, |after| {
            let after_ns = u64::try_from(after.as_nanos()).unwrap_or(u64::MAX);
            self.clock.now_ns().saturating_add(after_ns)
        });
        self.drain()?;
        while !until.stop.load(Ordering::Relaxed) && self.clock.now_ns() < end_ns {
            let now_ns = self.clock.now_ns();
            if self
                .stack
                .deadline()
                .is_some_and(|deadline_ns| deadline_ns <= now_ns)
            {
                self.expire(now_ns)?;
            }
            self.receive()?;
            self.speak()?;
            if until.after.is_none() && self.input_is_over() {
                break;
            }
            if next <= Instant::now() {
                let report = self.report();
                shown.set_message(report.short());
                self.tell_drops(&report);
                next = Instant::now() + GLANCE;
            }
            if !self.wait(end_ns)? {
                break;
            }
        }
        self.seen.refused += self.lines.as_ref().map_or(0, Lines::unsent) as u64;
        for link in 0..self.devices.len() {
            let finished = self.devices[link].finish();
            finished.map_err(|error| self.broken(link, &error))?;
        }
        Ok(())
    }

    /// Tells somebody who types which messages are dropped; of each reason when it is new, and when
    /// it has become ten times as frequent.
    fn tell_drops(&mut self, report: &Report) {
        if self.lines.is_none() || matches!(self.clock, Clock::Virtual { .. }) {
            return;
        }
        for (reason, count) in &report.dropped {
            let told = self.told.entry(reason.clone()).or_default();
            if *count >= 10 * *told && count > told {
                *told = *count;
                let (layer, name) = reason.split_once('.').unwrap_or(("", reason));
                note(format_args!(
                    "dropped: {count} {reason}; look for `{name}` in the layer `{layer}`"
                ));
            }
        }
    }

    /// Returns true if stdin has ended, and what it caused has passed, on the real clock.
    fn input_is_over(&mut self) -> bool {
        let typed = self.lines.as_ref();
        let has_ended = typed.is_some_and(Lines::has_ended);
        if !has_ended || matches!(self.clock, Clock::Virtual { .. }) {
            return false;
        }
        let ended = *self.input_ended.get_or_insert_with(|| {
            note(format_args!(
                "end of stdin: the run stops after {} s without traffic; --for TIME runs longer",
                SILENCE.as_secs()
            ));
            Instant::now()
        });
        let silence = self.last_passed.max(ended).elapsed();
        silence >= SILENCE || ended.elapsed() >= LINGERING
    }

    /// The device of a link does not work any more, or what records it.
    fn broken(&self, link: usize, error: &io::Error) -> Failure {
        let name = &self.stack.program().description().links[link];
        let is_gone = error.raw_os_error() == Some(Errno::EBADFD as i32);
        let reason = match is_gone {
            true => "the interface was removed".to_string(),
            false => plain(error),
        };
        Failure::environment(format!("link {name}: {reason}"))
    }

    /// Says that a session was opened; what is typed goes to the last one of its port.
    pub fn opened(&mut self, port: usize, session: u32) {
        if let Some(lines) = self.lines.as_mut().filter(|lines| lines.port == port) {
            lines.session = session;
        }
    }

    /// What happened, as the stack counted it.
    pub fn report(&self) -> Report {
        Report::new(&self.stack.counters())
    }

    /// What the host itself saw.
    pub fn seen(&self) -> Seen {
        self.seen
    }

    /// Lets timers expire. On the virtual clock that may go on for ever at once, so it is bounded.
    fn expire(&mut self, now_ns: u64) -> Result<(), Failure> {
        self.stack.expire(now_ns);
        self.drain()?;
        // Where time stands still, one call may have let thousands expire.
        self.expiries += match self.expired_ns == Some(now_ns) {
            true => 1_000,
            false => 1,
        };
        self.expired_ns = Some(now_ns);
        match self.clock {
            Clock::Virtual { .. } if self.expiries > MOST_EXPIRIES => Err(Failure::refused(
                "timers expired more than a million times without a frame; the replay would not \
                end",
            )),
            Clock::Virtual { .. } | Clock::Real { .. } => Ok(()),
        }
    }

    /// Feeds the frames that are there, at most one batch of each link.
    fn receive(&mut self) -> Result<(), Failure> {
        self.starved = false;
        if let Some(link) = self.stalled
            && !self.feed(link)?
        {
            return Ok(());
        }
        let batch = match self.clock {
            Clock::Real { .. } => BATCH,
            // One frame at a time, as the reference interpreter takes them.
            Clock::Virtual { .. } => 1,
        };
        for link in 0..self.devices.len() {
            while self.stack.waiting() < batch && self.fill(link)? {}
            if !self.feed(link)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Receives one frame of a link; false if there is none, or no buffer.
    fn fill(&mut self, link: usize) -> Result<bool, Failure> {
        let now_ns = self.clock.now_ns();
        let (device, seen) = (&mut self.devices[link], &mut self.seen);
        let filled = self.stack.fill(|room| {
            let received = device.receive(room, now_ns)?;
            seen.cut += u64::from(received.is_some_and(|length| length > room.len()));
            Ok::<_, io::Error>(received)
        });
        let filled = filled.map_err(|error| self.broken(link, &error))?;
        match filled {
            Filled::Frame => {
                self.last_frame_ns = now_ns;
                self.expiries = 0;
            }
            Filled::NoBuffer => self.starved = true,
            Filled::Nothing => {}
        }
        Ok(filled == Filled::Frame)
    }

    /// Gives the waiting frames to the stack; false if it takes no more for now.
    fn feed(&mut self, link: usize) -> Result<bool, Failure> {
        while self.stack.waiting() > 0 {
            let taken = self.stack.input(link, self.clock.now_ns());
            self.drain()?;
            if taken == 0 {
                self.stalled = Some(link);
                return Ok(false);
            }
        }
        self.stalled = None;
        Ok(true)
    }

    /// Sends what was typed.
    fn speak(&mut self) -> Result<(), Failure> {
        while let Some(lines) = &mut self.lines
            && let Some(line) = lines.typed()?
        {
            let (port, session) = (lines.port, lines.session);
            let now_ns = self.clock.now_ns();
            match self.stack.send(port, session, None, &line, now_ns) {
                Outcome::Later => {
                    lines.put_back(line);
                    break;
                }
                outcome => self.seen.refused += u64::from(outcome != Outcome::Sent),
            }
            self.drain()?;
        }
        Ok(())
    }

    /// Does what the stack wants done, until it wants no more.
    fn drain(&mut self) -> Result<(), Failure> {
        while self.act()? {}
        Ok(())
    }

    /// Does the next thing that the stack wants done; false if there is none.
    fn act(&mut self) -> Result<bool, Failure> {
        let now_ns = self.clock.now_ns();
        let Some(output) = self.stack.next() else {
            return Ok(false);
        };
        match output.event {
            Event::Frame => {
                let link = output.place();
                let sent = self.devices[link].send(&output.bytes(), now_ns);
                self.last_passed = Instant::now();
                drop(output);
                let sent = sent.map_err(|error| self.broken(link, &error))?;
                self.seen.unsent += u64::from(!sent);
            }
            Event::Deliver => {
                let (port, session) = (output.place(), output.session());
                let length = output.bytes().len();
                match self.applications[port] {
                    Application::Sink => drop(output),
                    Application::Lines => {
                        self.last_passed = Instant::now();
                        if let Some(lines) = &mut self.lines {
                            lines.heard(session, &output.bytes())?;
                        }
                        drop(output);
                    }
                    Application::Echo => {
                        let (bytes, with) = (output.bytes().to_vec(), output.attributes());
                        drop(output);
                        let outcome = self
                            .stack
                            .send(port, session, with.as_ref(), &bytes, now_ns);
                        self.seen.refused += u64::from(outcome != Outcome::Sent);
                    }
                }
                // The bytes that were read make room for as many.
                self.stack.grant_read(port, session, length, now_ns);
            }
            Event::Notice => {}
        }
        Ok(true)
    }

    /// Waits for the next thing that happens; false if nothing will.
    fn wait(&mut self, end_ns: u64) -> Result<bool, Failure> {
        let blocked = self.stalled.is_some() || self.starved;
        let live = self
            .devices
            .iter()
            .any(|device| device.descriptor().is_some());
        let due_ns = self
            .devices
            .iter()
            .filter_map(|device| device.due_ns())
            .min();
        // A stack that takes no frames can only be helped by its timers.
        let frame_ns = due_ns.filter(|_| !blocked);
        let limit_ns = match live || frame_ns.is_some() {
            true => u64::MAX,
            false => self.last_frame_ns.saturating_add(QUIET_NS),
        };
        let next_ns = frame_ns.into_iter().chain(self.stack.deadline()).min();
        let next_ns = next_ns.filter(|next_ns| *next_ns <= limit_ns);
        if next_ns.is_none() && !live {
            return match blocked && due_ns.is_some() {
                true => Err(Failure::refused(
                    "the stack is stuck: it accepts no more frames",
                )),
                false => Ok(false),
            };
        }
        let next_ns = next_ns.unwrap_or(end_ns).min(end_ns);
        match &mut self.clock {
            Clock::Virtual { now_ns } => *now_ns = next_ns.max(*now_ns),
            Clock::Real { .. } => self.poll(next_ns, blocked)?,
        }
        Ok(true)
    }

    /// Sleeps until a device has a frame, but not beyond a time.
    fn poll(&self, until_ns: u64, blocked: bool) -> io::Result<()> {
        let mut sleep = Duration::from_nanos(until_ns.saturating_sub(self.clock.now_ns()));
        sleep = sleep.min(PATIENCE);
        let descriptors = self
            .devices
            .iter()
            .filter(|_| !blocked)
            .filter_map(|device| device.descriptor());
        let stdin = io::stdin();
        let typed = self.lines.as_ref();
        let typed = typed.and_then(|lines| lines.descriptor(&stdin));
        let mut polled: Vec<PollFd<'_>> = descriptors
            .chain(typed)
            .map(|descriptor| PollFd::new(descriptor, PollFlags::POLLIN))
            .collect();
        match ppoll(&mut polled, Some(TimeSpec::from_duration(sleep)), None) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }
}

/// What happened to every frame and message of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Report {
    /// Frames that came in.
    pub frames_in: u64,
    /// Messages that came in and went to an application.
    pub delivered: u64,
    /// Messages that came in for the stack itself, answered or not.
    pub consumed: u64,
    /// Messages that came in and became part of another.
    pub merged: u64,
    /// Messages that came in and are held now.
    pub held: u64,
    /// Messages that came in and were dropped, by reason.
    pub dropped: BTreeMap<String, u64>,
    /// Frames that went out.
    pub frames_out: u64,
    /// Messages of our own that were dropped, by reason.
    pub unsent: BTreeMap<String, u64>,
    /// What the layers counted besides.
    pub counts: BTreeMap<String, u64>,
}

impl Report {
    /// Sorts the counters of a stack.
    pub fn new(counters: &[(&str, u64)]) -> Report {
        let mut report = Report::default();
        for (name, value) in counters {
            let map = match name.split_once(' ') {
                Some(("unsent", reason)) => Some((&mut report.unsent, reason)),
                Some(("count", what)) => Some((&mut report.counts, what)),
                None if name.contains('.') => Some((&mut report.dropped, *name)),
                Some(_) | None => None,
            };
            let single = match *name {
                "frames_in" => Some(&mut report.frames_in),
                "frames_out" => Some(&mut report.frames_out),
                "delivered" => Some(&mut report.delivered),
                "consumed" => Some(&mut report.consumed),
                "merged" => Some(&mut report.merged),
                "held" => Some(&mut report.held),
                _ => None,
            };
            match (map, single) {
                (Some((map, reason)), _) if *value > 0 => {
                    map.insert(reason.to_string(), *value);
                }
                (_, Some(single)) => *single = *value,
                (Some(_) | None, None) => {}
            }
        }
        report
    }

    /// Whether every frame that came in had exactly one fate.
    pub fn adds_up(&self) -> bool {
        let dropped: u64 = self.dropped.values().sum();
        self.frames_in == self.delivered + self.consumed + self.merged + self.held + dropped
    }

    /// What people look at while it runs.
    pub fn short(&self) -> String {
        let dropped: u64 = self.dropped.values().sum();
        format!(
            "{} frames in, {} out, {} delivered, {dropped} dropped",
            self.frames_in, self.frames_out, self.delivered
        )
    }

    /// One line of JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("numbers and names can be written as JSON")
    }
}

impl std::fmt::Display for Report {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Report {
            frames_in,
            frames_out,
            delivered,
            consumed,
            merged,
            held,
            ..
        } = self;
        writeln!(out, "frames     {frames_in} in, {frames_out} out")?;
        write!(out, "messages   {delivered} delivered, {consumed} consumed")?;
        writeln!(out, ", {merged} merged, {held} held")?;
        let maps = [
            ("dropped", &self.dropped),
            ("unsent", &self.unsent),
            ("counted", &self.counts),
        ];
        for (title, map) in maps {
            let longest = map
                .values()
                .max()
                .map_or(0, |value| value.to_string().len());
            for (at, (name, value)) in map.iter().enumerate() {
                let title = if at == 0 { title } else { "" };
                writeln!(out, "{title:<10} {value:>longest$} {name}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_sorts_the_counters_and_leaves_out_what_did_not_happen() {
        let counters = [
            ("frames_in", 9),
            ("frames_out", 2),
            ("delivered", 3),
            ("consumed", 2),
            ("merged", 1),
            ("held", 1),
            ("ipv4.bad_checksum", 2),
            ("ipv4.too_short", 0),
            ("unsent arp.table_full", 4),
            ("count udp.report_for_nobody", 5),
        ];
        let mut report = Report::new(&counters);
        assert!(report.adds_up());
        let json = "{\"frames_in\":9,\"delivered\":3,\"consumed\":2,\"merged\":1,\"held\":1,\
                    \"dropped\":{\"ipv4.bad_checksum\":2},\"frames_out\":2,\
                    \"unsent\":{\"arp.table_full\":4},\"counts\":{\"udp.report_for_nobody\":5}}";
        assert_eq!(report.to_json(), json);
        report.held = 0;
        assert!(!report.adds_up());
    }
}
