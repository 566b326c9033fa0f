//! What a network promises, and whether it was kept.
//!
//! In: a line, `plane: delivered >= 99%`, and the outcome of a run. Out: whether it holds, and what
//! was seen instead.

use super::phrases::{rate, share};
use crate::simulate::network::outcome::{ApplicationOutcome, Outcome, Span};
use crate::tool::layout::instead;
use crate::tool::page::{grouped, rate_text, time_text};
use crate::tool::written::{duration_ns, integer};
use std::collections::BTreeSet;

/// A promise.
#[derive(Clone, Debug, PartialEq)]
pub struct Promise {
    /// As it is written.
    pub words: String,
    scope: Scope,
    fact: Fact,
}

/// Whom it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    All,
    Node(usize),
    Application(usize),
}

#[derive(Clone, Debug, PartialEq)]
enum Fact {
    /// All buffers are free at the end.
    BuffersBack,
    Compare(Quantity, Order, Limit),
}

/// What can be measured.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Quantity {
    Messages(Messages),
    Latency(Measure),
    RoundTrip(Measure),
    Throughput,
    /// A counter of the layers.
    Counter(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Messages {
    Sent,
    Refused,
    Delivered,
    Answered,
    Missing,
    Repeated,
    Disordered,
    Damaged,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Measure {
    Median,
    Most,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Less,
    AtMost,
    Equal,
    AtLeast,
    More,
}

#[derive(Clone, Debug, PartialEq)]
enum Limit {
    Number(u64),
    /// Of what was sent.
    Share(f64),
    Quantity(Messages),
}

const FACTS: [(&str, Messages); 4] = [
    ("in order", Messages::Disordered),
    ("no duplicates", Messages::Repeated),
    ("no losses", Messages::Missing),
    ("no damage", Messages::Damaged),
];

const MESSAGES: [(&str, Messages); 8] = [
    ("sent", Messages::Sent),
    ("refused", Messages::Refused),
    ("delivered", Messages::Delivered),
    ("answered", Messages::Answered),
    ("missing", Messages::Missing),
    ("repeated", Messages::Repeated),
    ("out of order", Messages::Disordered),
    ("damaged", Messages::Damaged),
];

const ORDERS: [(&str, Order); 5] = [
    (">=", Order::AtLeast),
    ("<=", Order::AtMost),
    ("<", Order::Less),
    (">", Order::More),
    ("=", Order::Equal),
];

/// Those whom a promise can be about.
pub struct Names<'run> {
    /// The nodes.
    pub nodes: Vec<&'run str>,
    /// The applications.
    pub applications: Vec<&'run str>,
    /// The counters of each node, by name.
    pub counters: Vec<Vec<String>>,
}

impl Promise {
    /// Reads a line.
    pub fn read(words: &str, names: &Names<'_>) -> Result<Promise, String> {
        let (scope, fact) = match words.split_once(':') {
            None => (Scope::All, words.trim()),
            Some((name, fact)) => (scope(name.trim(), names)?, fact.trim()),
        };
        let fact = read_fact(fact, scope, names)?;
        Ok(Promise {
            words: words.to_string(),
            scope,
            fact,
        })
    }

    /// What was seen instead; nothing if it was kept.
    pub fn broken(&self, outcome: &Outcome) -> Option<String> {
        let about: Vec<&ApplicationOutcome> = self.about(outcome);
        match &self.fact {
            Fact::BuffersBack => {
                let nodes = outcome.nodes.iter().enumerate();
                let mut nodes = nodes.filter(|(at, _)| self.scope.includes(*at));
                let (_, lost) = nodes.find(|(_, node)| node.free_buffers < node.buffers)?;
                let (free, all) = (lost.free_buffers, lost.buffers);
                Some(format!("{} has {free} of {all} buffers free", lost.name))
            }
            Fact::Compare(quantity, order, limit) => {
                let seen = self.measure(quantity, &about, outcome);
                let limit = match limit {
                    Limit::Number(number) => *number as f64,
                    Limit::Share(share) => share * self.whole(quantity, &about, outcome),
                    Limit::Quantity(other) => sum(*other, &about) as f64,
                };
                let seen = match seen {
                    None => return Some("no message arrived".to_string()),
                    Some(seen) => seen,
                };
                (!order.holds(seen as f64, limit)).then(|| match quantity {
                    Quantity::Latency(_) | Quantity::RoundTrip(_) => time_text(seen),
                    Quantity::Throughput => rate_text(seen),
                    Quantity::Messages(messages) => match self.fact.share() {
                        None => format!("{} {}", grouped(seen), messages.name()),
                        Some(_) => {
                            let whole = self.whole(quantity, &about, outcome) as u64;
                            format!("{} of {}", grouped(seen), grouped(whole))
                        }
                    },
                    Quantity::Counter(_) => grouped(seen),
                })
            }
        }
    }

    fn about<'run>(&self, outcome: &'run Outcome) -> Vec<&'run ApplicationOutcome> {
        let all = outcome.applications.iter().enumerate();
        let about = all.filter(|(at, one)| match self.scope {
            Scope::All => true,
            Scope::Node(node) => one.node == node,
            Scope::Application(application) => *at == application,
        });
        about.map(|(_, one)| one).collect()
    }

    /// What was measured; none if there was nothing to measure.
    fn measure(
        &self,
        quantity: &Quantity,
        about: &[&ApplicationOutcome],
        outcome: &Outcome,
    ) -> Option<u64> {
        let spans = |of: fn(&ApplicationOutcome) -> Option<Span>, measure: Measure| {
            let spans = about.iter().filter_map(|one| of(one));
            let measured = spans.map(|span| match measure {
                Measure::Median => span.median_ns,
                Measure::Most => span.most_ns,
            });
            measured.max()
        };
        match quantity {
            Quantity::Messages(messages) => Some(sum(*messages, about)),
            Quantity::Latency(measure) => spans(|one| one.latency, *measure),
            Quantity::RoundTrip(measure) => spans(|one| one.round_trip, *measure),
            Quantity::Throughput => Some(about.iter().map(|one| one.throughput).sum()),
            Quantity::Counter(name) => {
                let nodes = (0..outcome.nodes.len()).filter(|node| self.scope.includes(*node));
                Some(nodes.filter_map(|node| outcome.counter(node, name)).sum())
            }
        }
    }

    /// What a share is a share of: what comes to somebody was sent by the others.
    fn whole(&self, quantity: &Quantity, about: &[&ApplicationOutcome], outcome: &Outcome) -> f64 {
        let all: u64 = outcome.applications.iter().map(|one| one.sent).sum();
        let own = sum(Messages::Sent, about);
        let comes = [
            Messages::Delivered,
            Messages::Repeated,
            Messages::Disordered,
        ];
        let comes = comes.map(Quantity::Messages).contains(quantity);
        let whole = match comes && self.scope != Scope::All {
            true => all - own,
            false => own,
        };
        whole as f64
    }
}

impl Fact {
    /// The share that something is compared with.
    fn share(&self) -> Option<f64> {
        match self {
            Fact::Compare(_, _, Limit::Share(share)) => Some(*share),
            Fact::Compare(_, _, Limit::Number(_) | Limit::Quantity(_)) | Fact::BuffersBack => None,
        }
    }
}

impl Messages {
    fn name(self) -> &'static str {
        let mut names = MESSAGES.iter();
        let found = names.find(|(_, messages)| *messages == self);
        found.map_or("", |(name, _)| name)
    }
}

impl Scope {
    fn includes(self, node: usize) -> bool {
        match self {
            Scope::All => true,
            Scope::Node(own) => own == node,
            Scope::Application(_) => false,
        }
    }
}

impl Order {
    fn holds(self, seen: f64, limit: f64) -> bool {
        match self {
            Order::Less => seen < limit,
            Order::AtMost => seen <= limit,
            Order::Equal => seen == limit,
            Order::AtLeast => seen >= limit,
            Order::More => seen > limit,
        }
    }
}

fn sum(messages: Messages, about: &[&ApplicationOutcome]) -> u64 {
    let one = |one: &&ApplicationOutcome| match messages {
        Messages::Sent => one.sent,
        Messages::Refused => one.refused,
        Messages::Delivered => one.delivered,
        Messages::Answered => one.answered,
        Messages::Missing => one.missing,
        Messages::Repeated => one.repeated,
        Messages::Disordered => one.disordered,
        Messages::Damaged => one.damaged,
    };
    about.iter().map(one).sum()
}

fn scope(name: &str, names: &Names<'_>) -> Result<Scope, String> {
    let position = |known: &[&str]| known.iter().position(|known| *known == name);
    if let Some(node) = position(&names.nodes) {
        return Ok(Scope::Node(node));
    }
    if let Some(application) = position(&names.applications) {
        return Ok(Scope::Application(application));
    }
    let known = [&names.nodes[..], &names.applications].concat();
    let known = instead(name, &known);
    Err(format!(
        "there is no node and no port with an application of the name `{name}`: {known}"
    ))
}

fn read_fact(words: &str, scope: Scope, names: &Names<'_>) -> Result<Fact, String> {
    if words == "buffers back" {
        return Ok(Fact::BuffersBack);
    }
    if let Some((_, messages)) = FACTS.iter().find(|(fact, _)| *fact == words) {
        let quantity = Quantity::Messages(*messages);
        return Ok(Fact::Compare(quantity, Order::Equal, Limit::Number(0)));
    }
    let found = ORDERS.iter().find_map(|(sign, order)| {
        let (quantity, limit) = words.split_once(sign)?;
        Some((quantity.trim(), *order, limit.trim()))
    });
    let Some((quantity, order, limit)) = found else {
        return Err(format!(
            "`{words}` is not an expectation: write `in order`, `no duplicates`, `no losses`, `no \
            damage`, `buffers back`, or a comparison such as `delivered >= 99%`"
        ));
    };
    let quantity = read_quantity(quantity, scope, names)?;
    let limit = match &quantity {
        Quantity::Latency(_) | Quantity::RoundTrip(_) => Limit::Number(duration_ns(limit)?),
        Quantity::Throughput => Limit::Number(rate(limit)?),
        Quantity::Messages(_) if limit.ends_with('%') => Limit::Share(share(limit)?),
        Quantity::Messages(_) | Quantity::Counter(_) => {
            match MESSAGES.iter().find(|(name, _)| *name == limit) {
                Some((_, messages)) => Limit::Quantity(*messages),
                None => Limit::Number(integer(limit)?),
            }
        }
    };
    Ok(Fact::Compare(quantity, order, limit))
}

fn read_quantity(words: &str, scope: Scope, names: &Names<'_>) -> Result<Quantity, String> {
    if let Some((_, messages)) = MESSAGES.iter().find(|(name, _)| *name == words) {
        return Ok(Quantity::Messages(*messages));
    }
    const MEASURED: [&str; 5] = [
        "latency",
        "median latency",
        "round trip",
        "median round trip",
        "throughput",
    ];
    match words {
        "latency" => return Ok(Quantity::Latency(Measure::Most)),
        "median latency" => return Ok(Quantity::Latency(Measure::Median)),
        "round trip" => return Ok(Quantity::RoundTrip(Measure::Most)),
        "median round trip" => return Ok(Quantity::RoundTrip(Measure::Median)),
        "throughput" => return Ok(Quantity::Throughput),
        _ => {}
    }
    let of = |node: usize| names.counters[node].iter().map(String::as_str);
    let mut counters: Vec<&str> = match scope {
        Scope::Node(node) => of(node).collect(),
        Scope::All => (0..names.counters.len()).flat_map(of).collect(),
        Scope::Application(_) => Vec::new(),
    };
    let mut once = BTreeSet::new();
    counters.retain(|name| once.insert(*name));
    if counters.contains(&words) {
        return Ok(Quantity::Counter(words.to_string()));
    }
    let known: Vec<&str> = MESSAGES.iter().map(|(name, _)| *name).collect();
    let nearest = match words.contains('.') {
        true => instead(words, &counters),
        false => instead(words, &[&known[..], &MEASURED].concat()),
    };
    Err(format!(
        "there is no measurement and no counter `{words}`: {nearest}"
    ))
}
