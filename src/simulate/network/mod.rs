//! The network in virtual time: nodes, links between them, applications on top.
//!
//! In: something [`Driven`] for each node, and a [`Plan`]. Out: an outcome, and each frame that
//! passes, for a [`Watch`]. Nothing here knows files, clocks or processes; the same plan and seed
//! give the same frames, byte for byte.
//!
//! ```text
//!   application.rs   scripts      ──► send ──►┐        ┌──► deliver ──► echo, expect, count
//!   driven.rs        a node                   stack A  stack B
//!   link.rs          a way, with faults          └─ frame ─┘ arrives later, twice, or never
//!   ledger.rs        whose message it is, whether it is whole
//!   stream.rs        the same of bytes whose messages have no bounds
//!   outcome.rs       what happened, and whether all of it adds up
//!   sample.rs        what happened in each interval of time
//! ```
//!
//! What happens next is what is earliest; of what happens at once, what was asked for first.

pub mod application;
pub mod driven;
pub mod ledger;
pub mod link;
pub mod outcome;
pub mod sample;
mod script;
mod stream;

use application::{Application, Running, Telling};
use driven::{Driven, Intake, Output};
use fastrand::Rng;
use ledger::Ledger;
use link::{Faults, Flight, Way};
use sample::{Sample, Sampler};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use stream::Streams;

/// What a network is made of.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// All chances follow from it.
    pub seed: u64,
    /// What connects the nodes.
    pub links: Vec<Link>,
    /// What sits at their ports. What comes up at a port without any is not looked at.
    pub applications: Vec<Application>,
    /// When it ends at the latest.
    pub until_ns: Option<u64>,
    /// The length of the intervals that are sampled; none if nothing is sampled.
    pub sample_ns: Option<u64>,
}

/// A link: what one end sends comes to all others.
#[derive(Clone, Debug)]
pub struct Link {
    /// Its name.
    pub name: String,
    /// Two ends or more.
    pub ends: Vec<End>,
}

/// One end of a link.
#[derive(Clone, Debug)]
pub struct End {
    /// The node.
    pub node: usize,
    /// Which of its links.
    pub link: usize,
    /// What happens to the frames that are sent from here, to each of the other ends by itself.
    pub faults: Faults,
}

/// Sees what passes.
pub trait Watch {
    /// A frame leaves a node (`is_out`), or comes to it.
    fn frame(&mut self, now_ns: u64, node: usize, link: usize, is_out: bool, bytes: &[u8]);

    /// An interval of the plan has ended.
    fn sample(&mut self, _sample: &Sample) {}

    /// Whether to go on; asked now and then.
    fn goes_on(&mut self, now_ns: u64, frames: u64) -> bool;
}

/// Why a run could not come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stuck {
    /// Whoever watches did not want it to go on.
    Stopped,
    /// Things happen for ever at this time.
    Instant {
        /// The time.
        now_ns: u64,
    },
}

/// What drives a node, with its name and the number of its links.
pub type Named<'n> = (String, Box<dyn Driven + 'n>, usize);

/// A network that runs.
pub struct Network<'n> {
    nodes: Vec<Node<'n>>,
    links: Vec<Link>,
    lanes: Vec<Lane>,
    applications: Vec<Running>,
    ledger: Ledger,
    streams: Streams,
    sizes: Rng,
    events: BinaryHeap<Reverse<Scheduled>>,
    /// How many events were ever scheduled, which orders those of one time.
    scheduled: u64,
    now_ns: u64,
    until_ns: Option<u64>,
    /// How long nothing but timers may happen behind what applications do.
    quiet_ns: u64,
    /// When an application sent or read last.
    busy_ns: u64,
    sampler: Sampler,
    frames: u64,
}

/// A node, and what the network gave it and took from it.
struct Node<'n> {
    name: String,
    stack: Box<dyn Driven + 'n>,
    /// The lanes that begin at each of its links.
    lanes: Vec<Vec<usize>>,
    /// When it is to be woken.
    wake_ns: Option<u64>,
    given: u64,
    refused: u64,
    cut: u64,
    taken: u64,
}

/// A way of a link, from a node to another.
struct Lane {
    way: Way,
    link: usize,
    from: usize,
    to: (usize, usize),
}

/// Something that is going to happen.
struct Scheduled {
    at_ns: u64,
    order: u64,
    event: Event,
}

enum Event {
    /// A frame comes to the end of a lane.
    Arrive(usize, Flight),
    /// A frame has waited long enough to be overtaken.
    Release(usize),
    /// A node's deadline may have come.
    Wake(usize),
    /// A script goes on, if it was not set anew meanwhile.
    Script(usize, u64),
    /// A script says something once more, if the conversation of this number still goes on.
    Tell(usize, Telling, u64),
    /// A link of a node goes down, or up again.
    Carrier(usize, usize, bool),
}

/// How long timers are followed behind the last that an application did, on links without delay.
pub const QUIET_NS: u64 = 10_000_000_000;

/// What may happen at one time without a script.
const MOST_AT_ONCE: u64 = 1_000_000;

/// How often whoever watches is asked.
const GLANCE: u64 = 1_024;

impl<'n> Network<'n> {
    /// Puts started stacks into a network.
    pub fn new(stacks: Vec<Named<'n>>, plan: Plan) -> Network<'n> {
        let mut seeds = Rng::with_seed(plan.seed);
        let mut nodes = Vec::new();
        // Seeds of their own, so that choices of notices leave all else as it is.
        let mut choices = Rng::with_seed(!plan.seed);
        let scripts = plan.applications.into_iter();
        let running = scripts.map(|script| Running::new(script, choices.u64(..)));
        let applications: Vec<Running> = running.collect();
        for (name, stack, links) in stacks {
            nodes.push(Node {
                name,
                stack,
                lanes: vec![Vec::new(); links],
                wake_ns: None,
                given: 0,
                refused: 0,
                cut: 0,
                taken: 0,
            });
        }
        let lanes = lanes(&plan.links, &mut seeds);
        for (at, (from, lane)) in lanes.iter().enumerate() {
            nodes[lane.from].lanes[*from].push(at);
        }
        let lanes: Vec<Lane> = lanes.into_iter().map(|(_, lane)| lane).collect();
        let ends = plan.links.iter().flat_map(|link| &link.ends);
        let delays = ends.map(|end| end.faults.delay_ns + end.faults.jitter_ns);
        let longest_ns = delays.max().unwrap_or(0);
        Network {
            nodes,
            links: plan.links,
            lanes,
            applications,
            ledger: Ledger::new(plan.seed),
            streams: Streams::new(plan.seed),
            sizes: Rng::with_seed(seeds.u64(..)),
            events: BinaryHeap::new(),
            scheduled: 0,
            now_ns: 0,
            until_ns: plan.until_ns,
            quiet_ns: QUIET_NS.saturating_add(longest_ns.saturating_mul(4)),
            busy_ns: 0,
            sampler: Sampler::new(plan.sample_ns),
            frames: 0,
        }
    }

    /// Runs until nothing is left to happen, or the time is up.
    pub fn run(&mut self, watch: &mut dyn Watch) -> Result<(), Stuck> {
        for node in 0..self.nodes.len() {
            self.settle(node, watch)?;
        }
        for end in self.carriers() {
            let (at_ns, node, link, up) = end;
            self.schedule(at_ns, Event::Carrier(node, link, up));
        }
        for application in 0..self.applications.len() {
            self.schedule(0, Event::Script(application, 0));
        }
        let (mut handled, mut at_once) = (0_u64, 0);
        while let Some(Reverse(next)) = self.events.peek() {
            if self.is_at_end(next) {
                break;
            }
            // A script acts a bounded number of times at once, unless it streams for a time; all
            // other events could go on for ever.
            let is_bounded = match &next.event {
                Event::Script(application, _) => !self.applications[*application].is_endless(),
                Event::Arrive(..)
                | Event::Release(_)
                | Event::Wake(_)
                | Event::Tell(..)
                | Event::Carrier(..) => false,
            };
            let is_new = next.at_ns > self.now_ns || is_bounded;
            at_once = if is_new { 0 } else { at_once + 1 };
            if at_once > MOST_AT_ONCE {
                return Err(Stuck::Instant {
                    now_ns: self.now_ns,
                });
            }
            let at_ns = next.at_ns;
            while let Some(due_ns) = self.sampler.due_ns(at_ns) {
                self.sample(due_ns, watch);
            }
            self.now_ns = at_ns;
            let Reverse(next) = self.events.pop().expect("it was just seen");
            self.handle(next.event, watch)?;
            handled += 1;
            if handled.is_multiple_of(GLANCE) && !watch.goes_on(self.now_ns, self.frames) {
                return Err(Stuck::Stopped);
            }
        }
        if let Some(end_ns) = self.sampler.rest_ns(self.now_ns) {
            self.sample(end_ns, watch);
        }
        Ok(())
    }

    /// An interval ends.
    fn sample(&mut self, to_ns: u64, watch: &mut dyn Watch) {
        let nodes = self.nodes.iter();
        let nodes = nodes.map(|node| (node.name.as_str(), &*node.stack as &dyn Driven));
        let sample = self.sampler.take(to_ns, nodes, &self.applications);
        watch.sample(&sample);
    }

    /// Whether the run is over before this happens.
    fn is_at_end(&self, next: &Scheduled) -> bool {
        let is_late = self.until_ns.is_some_and(|until_ns| next.at_ns > until_ns);
        let is_timer = matches!(
            next.event,
            Event::Wake(_) | Event::Tell(..) | Event::Carrier(..)
        );
        let is_quiet = next.at_ns > self.busy_ns.saturating_add(self.quiet_ns);
        let is_over = || {
            let mut nodes = self.nodes.iter();
            self.applications.iter().all(Running::is_over) && !nodes.any(|one| one.stack.is_busy())
        };
        is_late || self.until_ns.is_none() && is_timer && is_quiet && is_over()
    }

    fn handle(&mut self, event: Event, watch: &mut dyn Watch) -> Result<(), Stuck> {
        match event {
            Event::Arrive(lane, flight) => self.arrive(lane, &flight, watch),
            Event::Release(lane) => {
                let mut flights = Vec::new();
                self.lanes[lane].way.release(self.now_ns, &mut flights);
                self.depart(lane, flights);
                Ok(())
            }
            Event::Wake(node) => {
                let due_ns = self.nodes[node].wake_ns;
                if due_ns == Some(self.now_ns) {
                    self.nodes[node].wake_ns = None;
                    self.settle(node, watch)?;
                }
                Ok(())
            }
            Event::Script(application, set) => match self.applications[application].set == set {
                true => self.advance(application, watch),
                false => Ok(()),
            },
            Event::Tell(application, telling, conversation) => {
                let running = &self.applications[application];
                let node = running.script.node;
                if running.conversations == conversation {
                    self.say(application, telling);
                }
                self.settle(node, watch)
            }
            Event::Carrier(node, link, up) => {
                self.nodes[node].stack.carrier(link, up, self.now_ns);
                self.settle(node, watch)
            }
        }
    }

    /// When a link goes down for a node, or up again: it is down while all that could come from
    /// the other ends is in an outage.
    fn carriers(&self) -> Vec<(u64, usize, usize, bool)> {
        let mut changes = Vec::new();
        for Link { ends, .. } in &self.links {
            let hears = |end: &&End| self.nodes[end.node].stack.hears_carrier();
            for end in ends.iter().filter(hears) {
                let here = (end.node, end.link);
                let others = ends.iter().filter(|one| (one.node, one.link) != here);
                let outages = others.map(|one| &one.faults.outages_ns);
                let times = outages.clone().flatten();
                let mut times: Vec<u64> = times.flat_map(|one| [one.start, one.end]).collect();
                times.sort_unstable();
                let mut was_up = true;
                for at_ns in times {
                    let is_out = |of: &Vec<Range<u64>>| of.iter().any(|one| one.contains(&at_ns));
                    let up = !outages.clone().all(is_out);
                    if up != was_up {
                        changes.push((at_ns, end.node, end.link, up));
                        was_up = up;
                    }
                }
            }
        }
        changes
    }

    fn schedule(&mut self, at_ns: u64, event: Event) {
        self.scheduled += 1;
        self.events.push(Reverse(Scheduled {
            at_ns,
            order: self.scheduled,
            event,
        }));
    }

    /// A frame comes to a node.
    fn arrive(&mut self, lane: usize, flight: &Flight, watch: &mut dyn Watch) -> Result<(), Stuck> {
        let Lane { way, to, .. } = &mut self.lanes[lane];
        let (node, link) = *to;
        if !way.arrived(flight) {
            return Ok(());
        }
        watch.frame(self.now_ns, node, link, false, &flight.bytes);
        let given = &mut self.nodes[node];
        given.given += 1;
        match given.stack.input(link, &flight.bytes, self.now_ns) {
            Intake::Taken => {}
            Intake::Cut => given.cut += 1,
            Intake::Refused => given.refused += 1,
        }
        self.settle(node, watch)
    }

    /// Does what a node wants done, until it waits for something.
    fn settle(&mut self, node: usize, watch: &mut dyn Watch) -> Result<(), Stuck> {
        let mut turns = 0;
        loop {
            while let Some(output) = self.nodes[node].stack.next() {
                self.act(node, output, watch);
            }
            let deadline_ns = self.nodes[node].stack.deadline_ns();
            let Some(deadline_ns) = deadline_ns else {
                return Ok(());
            };
            if deadline_ns > self.now_ns {
                let wake_ns = self.nodes[node].wake_ns;
                if wake_ns.is_none_or(|wake_ns| deadline_ns < wake_ns) {
                    self.nodes[node].wake_ns = Some(deadline_ns);
                    self.schedule(deadline_ns, Event::Wake(node));
                }
                return Ok(());
            }
            turns += 1;
            if turns > MOST_AT_ONCE {
                return Err(Stuck::Instant {
                    now_ns: self.now_ns,
                });
            }
            self.nodes[node].stack.expire(self.now_ns);
        }
    }

    fn act(&mut self, node: usize, output: Output, watch: &mut dyn Watch) {
        match output {
            Output::Frame { link, bytes } => {
                watch.frame(self.now_ns, node, link, true, &bytes);
                self.nodes[node].taken += 1;
                self.frames += 1;
                for at in 0..self.nodes[node].lanes[link].len() {
                    let lane = self.nodes[node].lanes[link][at];
                    let mut flights = Vec::new();
                    let way = &mut self.lanes[lane].way;
                    let release_ns = way.send(&bytes, self.now_ns, &mut flights);
                    self.depart(lane, flights);
                    if let Some(release_ns) = release_ns {
                        self.schedule(release_ns, Event::Release(lane));
                    }
                }
            }
            Output::Deliver {
                port,
                session,
                bytes,
            } => self.deliver((node, port, session), &bytes),
            Output::Notice {
                port,
                session,
                told,
                arguments,
            } => self.tell((node, port, session), told, arguments),
        }
    }

    fn depart(&mut self, lane: usize, flights: Vec<Flight>) {
        for flight in flights {
            self.schedule(flight.at_ns, Event::Arrive(lane, flight));
        }
    }
}

/// The ways of all links, each with the link of its node where it begins.
fn lanes(links: &[Link], seeds: &mut Rng) -> Vec<(usize, Lane)> {
    let mut lanes = Vec::new();
    for (link, Link { ends, .. }) in links.iter().enumerate() {
        for (at, from) in ends.iter().enumerate() {
            for (other, to) in ends.iter().enumerate() {
                if at != other {
                    let lane = Lane {
                        way: Way::new(from.faults.clone(), seeds.u64(..)),
                        link,
                        from: from.node,
                        to: (to.node, to.link),
                    };
                    lanes.push((from.link, lane));
                }
            }
        }
    }
    lanes
}

impl Ord for Scheduled {
    fn cmp(&self, other: &Scheduled) -> std::cmp::Ordering {
        (self.at_ns, self.order).cmp(&(other.at_ns, other.order))
    }
}

impl PartialOrd for Scheduled {
    fn partial_cmp(&self, other: &Scheduled) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Scheduled {
    fn eq(&self, other: &Scheduled) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Scheduled {}

#[cfg(test)]
mod tests;
