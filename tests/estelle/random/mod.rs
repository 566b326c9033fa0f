//! Random specifications of Estelle, as text.
//!
//! In: a seed. Out: a specification without mistakes, whose runs end, or go on past the limit of
//! steps. Values decide which transitions fire: each body has a checksum of what it takes and
//! computes, which its conditions read. Variables are set before they are read. Flags say which
//! modules and links there are, so that faults are rare.
//!
//! ```text
//! value    types and expressions          clause   transitions and their clauses
//! block    statements                     module   the tree of modules, links, routines
//! ```

mod block;
mod clause;
mod module;
mod value;

use fastrand::Rng;
use std::rc::Rc;
use value::{Form, Kind, Record, Routine, Values, Variant};

/// A specification, and whether it leaves instances without a name.
pub struct Specification {
    /// The text, in no canonical form.
    pub text: String,
    /// True if instances without a name live on, so that a body has more of them than names.
    pub abandons: bool,
}

/// An interaction of a channel: its name, the roles that send it, its parameters.
#[derive(Clone, Debug)]
struct Interaction {
    name: String,
    senders: [bool; 2],
    formals: Vec<(String, Rc<Kind>)>,
}

/// A channel.
#[derive(Clone, Debug)]
struct Channel {
    name: String,
    roles: [String; 2],
    interactions: Vec<Interaction>,
}

/// An interaction point, or an array of them.
#[derive(Clone, Debug)]
struct Point {
    name: String,
    index: Option<Rc<Kind>>,
    channel: usize,
    role: usize,
    queue: &'static str,
    /// The flag that is true while it is attached to a child; `$` stands for the index.
    attached: Option<String>,
}

/// A module variable of a body.
#[derive(Clone, Debug)]
struct Child {
    name: String,
    index: Option<Rc<Kind>>,
    header: String,
    bodies: Vec<String>,
    parameters: Vec<Rc<Kind>>,
    exports: Vec<(String, Rc<Kind>)>,
}

/// A link that a body makes; `$` stands for the index.
#[derive(Clone, Debug)]
struct Link {
    name: String,
    one: String,
    other: String,
    index: Option<Rc<Kind>>,
    is_attach: bool,
    /// True if only one of its indices is linked at a time.
    is_shared: bool,
    children: Vec<String>,
}

/// A body while it is written.
#[derive(Default, Debug)]
struct Own {
    points: Vec<Point>,
    children: Vec<Child>,
    links: Vec<Link>,
    states: Vec<String>,
    state_set: Option<String>,
    /// True if modules and links change at run time.
    is_dynamic: bool,
    abandons: bool,
}

impl Point {
    fn text(&self) -> String {
        indexed(&self.name, self.index.as_ref())
    }
}

impl Child {
    fn text(&self) -> String {
        indexed(&self.name, self.index.as_ref())
    }

    fn flag(&self) -> String {
        indexed(&format!("has_{}", self.name), self.index.as_ref())
    }
}

impl Link {
    fn flag(&self) -> String {
        indexed(&self.name, self.index.as_ref())
    }

    fn touches(&self, child: &str) -> bool {
        self.children.iter().any(|name| name == child)
    }
}

fn indexed(name: &str, index: Option<&Rc<Kind>>) -> String {
    match index {
        Some(_) => format!("{name}[$]"),
        None => name.to_string(),
    }
}

/// Writes a specification.
struct Writer {
    values: Values,
    channels: Vec<Channel>,
    integer: Rc<Kind>,
    checksum: Rc<Kind>,
    pure_functions: Vec<Routine>,
    /// Instances that may still be added.
    modules: usize,
    /// True if a header names the queue of each point.
    names_queues: bool,
    abandons: bool,
}

/// Writes the specification of a seed.
pub fn specification(seed: u64, name: &str) -> Specification {
    let kind = |name: &str, form: Form| {
        let name = name.to_string();
        Rc::new(Kind { name, form })
    };
    let integer = kind("integer", Form::Integer(-value::BOUND, value::BOUND));
    let mut values = Values {
        random: Rng::with_seed(seed),
        is_faulty: false,
        names: 0,
        kinds: vec![
            Rc::clone(&integer),
            kind("boolean", Form::Boolean),
            kind("char", Form::Char),
            kind("real", Form::Real),
        ],
    };
    values.is_faulty = values.chance(20);
    let abandons = values.chance(20);
    // Instances without a name need memory for more of them.
    let modules = values.random.usize(6..=if abandons { 7 } else { 12 });
    let mut writer = Writer {
        channels: Vec::new(),
        integer,
        checksum: kind("checksum", Form::Integer(0, 996)),
        pure_functions: Vec::new(),
        modules,
        names_queues: false,
        abandons,
        values,
    };
    Specification {
        text: writer.specification(name),
        abandons,
    }
}

impl Writer {
    /// Writes a scope: behind it, its names may be given anew.
    fn scope<T>(&mut self, write: impl FnOnce(&mut Writer) -> T) -> T {
        let names = self.values.names;
        let written = write(self);
        self.values.names = names;
        written
    }

    /// Adds the types of a specification.
    fn kinds(&mut self) {
        let all = [2, 1, 2, 1, 3, 2, 1];
        for (form, count) in all.into_iter().enumerate() {
            for _ in 0..count {
                let form = match form {
                    0 => {
                        let low = self.values.one(&[0, 1, -2, 0, 3]);
                        Form::Integer(low, low + self.values.number(1, 4))
                    }
                    1 => self.enumeration(),
                    2 => {
                        let is_least = |kind: &Kind| !matches!(kind.form, Form::Integer(..=-1, _));
                        let fits = |kind: &Kind| kind.is_index() && is_least(kind);
                        Form::Set(self.values.kind(fits))
                    }
                    3 => Form::Text(self.values.random.usize(2..5)),
                    4 | 6 => {
                        let index = self.values.kind(Kind::is_index);
                        let is_last = form == 6;
                        let element = self.values.kind(|kind| match kind.form {
                            Form::Record(_) => is_last,
                            _ => true,
                        });
                        Form::Array(index, element)
                    }
                    _ => self.record(),
                };
                let name = self.values.name("kind");
                self.values.kinds.push(Rc::new(Kind { name, form }));
            }
        }
    }

    fn enumeration(&mut self) -> Form {
        let count = self.values.random.usize(2..5);
        Form::Enumeration((0..count).map(|_| self.values.name("e")).collect())
    }

    fn record(&mut self) -> Form {
        let mut fields = Vec::new();
        for _ in 0..self.values.random.usize(1..4) {
            let kind = self.values.kind(|_| true);
            fields.push((self.values.name("r"), kind));
        }
        let variant = self.values.chance(60).then(|| {
            let is_small = |kind: &Kind| kind.is_index() && kind.values().len() < 4;
            let kind = self.values.kind(is_small);
            let cases = kind.values().into_iter().map(|label| {
                let simple = |kind: &Kind| kind.is_ordinal() || matches!(kind.form, Form::Set(_));
                let field = self.values.kind(simple);
                (label, self.values.name("v"), field)
            });
            let cases = cases.collect();
            Variant {
                tag: self.values.name("tag"),
                kind,
                cases,
            }
        });
        Form::Record(Record { fields, variant })
    }

    /// Adds a channel.
    fn channel(&mut self, name: String) {
        let roles = [self.values.name("one"), self.values.name("other")];
        let count = self.values.random.usize(2..5);
        let mut interactions = Vec::new();
        for at in 0..count {
            let mut formals = Vec::new();
            for _ in 0..self.values.random.usize(0..4) {
                let is_simple = self.values.chance(60);
                let kind = self
                    .values
                    .kind(|kind| !has_real(kind) && (kind.is_ordinal() || !is_simple));
                formals.push((self.values.name("a"), kind));
            }
            let senders = match at {
                0 => [true, false],
                1 => [false, true],
                _ => self
                    .values
                    .one(&[[true, true], [true, false], [false, true]]),
            };
            let name = self.values.name("I");
            interactions.push(Interaction {
                name,
                senders,
                formals,
            });
        }
        self.channels.push(Channel {
            name,
            roles,
            interactions,
        });
    }
}

impl Channel {
    /// Writes the declaration.
    fn declaration(&self) -> String {
        let [one, other] = &self.roles;
        let mut text = format!("channel {}({one}, {other}); ", self.name);
        for interaction in &self.interactions {
            let by = match interaction.senders {
                [true, true] => format!("{one}, {other}"),
                [true, false] => one.clone(),
                _ => other.clone(),
            };
            let formals = interaction.formals.iter();
            let formals = formals.map(|(name, kind)| format!("{name}: {}", kind.name));
            let formals = formals.collect::<Vec<_>>().join("; ");
            let formals = match formals.is_empty() {
                true => formals,
                false => format!("({formals})"),
            };
            text += &format!("by {by}: {}{formals}; ", interaction.name);
        }
        text
    }
}

/// Returns true if a part of a type is a real.
fn has_real(kind: &Kind) -> bool {
    match &kind.form {
        Form::Real => true,
        Form::Array(_, element) => has_real(element),
        Form::Record(record) => record.fields.iter().any(|(_, kind)| has_real(kind)),
        _ => false,
    }
}
