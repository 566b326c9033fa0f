//! What scripts say to a stack: the keys of what they open, attributes, and notices.
//!
//! In: a script, and what the compiler says of its stack. Out: its steps, and the [`Words`] that
//! they name by their places: structs that are filled before anything runs; or the first word
//! that does not fit.

use super::phrases::{Phrase, Place, Said, step};
use super::scenario::Script;
use super::text::{Mistake, Text};
use crate::simulate::network::application::{Application, Grants, Heard, Step, Telling};
use crate::simulate::network::driven;
use crate::simulate::value::Datum;
use crate::tool::layout::{Description, Layout, Member, Port, Told, Values, instead};
use crate::tool::stack::Program;
use crate::types::program::PortId;

/// All that the scripts of a node say.
#[derive(Clone, Debug, Default)]
pub struct Words {
    /// The keys of sessions to open, and to listen for: the port, whether to listen, the keys.
    pub conversations: Vec<(usize, bool, Values)>,
    /// What stands beside messages, and of which port.
    pub attributes: Vec<(usize, Values)>,
    /// The port, the place of a notice among those that its application may say, its arguments.
    pub notices: Vec<(usize, usize, Values)>,
}

impl Words {
    /// The same, as the C of a stack reads them.
    pub fn laid_out(&self, program: &Program) -> Words {
        let conversations = self.conversations.iter().map(|(port, listens, keys)| {
            let layout = match listens {
                true => program.listener_keys(*port),
                false => program.keys(*port),
            };
            (*port, *listens, keys.laid_out(layout.layout()))
        });
        let attributes = self.attributes.iter().map(|(port, values)| {
            let own = program.attributes(*port);
            (*port, values.laid_out(own.layout()))
        });
        let notices = self.notices.iter().map(|(port, told, values)| {
            let own = program.arguments(*port, *told);
            (*port, *told, values.laid_out(own.layout()))
        });
        Words {
            conversations: conversations.collect(),
            attributes: attributes.collect(),
            notices: notices.collect(),
        }
    }
}

/// Whose scripts are read.
pub struct Speaker<'node> {
    /// What the node is called.
    pub node: &'node Text,
    /// What runs on it.
    pub stack: &'node Description,
    /// What its scripts say so far.
    pub words: &'node mut Words,
    /// The text in which they stand.
    pub source: &'node str,
}

impl Speaker<'_> {
    /// A script as steps.
    pub fn application(&mut self, node: usize, script: &Script) -> Result<Application, Mistake> {
        let ports = self.stack.ports.iter().filter(|port| port.passes);
        let known: Vec<&str> = ports.map(|port| port.name.as_str()).collect();
        let name = &script.port.words;
        let mut ports = self.stack.ports.iter();
        let found = ports.position(|port| port.name == *name && port.passes);
        let port = found.ok_or_else(|| {
            let (node, known) = (&self.node.words, instead(name, &known));
            let message = format!("node `{node}` has no port `{name}` for an application: {known}");
            script.port.mistake(message)
        })?;
        let own = &self.stack.ports[port];
        let grants = grants(own);
        let place = Place {
            longest: self.stack.limits.longest(PortId(port as u32)),
            in_bytes: grants.in_bytes,
        };
        let mut steps = Vec::new();
        let mut has_session = !own.opens;
        let mut has_own = !own.opens;
        for words in script.steps.parts(&[';', '\n'], self.source) {
            if words.words.starts_with('#') {
                continue;
            }
            let phrase = step(&words.words, place).map_err(|reason| words.mistake(reason))?;
            let step = self.step(port, phrase, &words)?;
            has_session |= matches!(step, Step::Open(_) | Step::Listen(_));
            has_own |= matches!(step, Step::Open(_));
            if matches!(step, Step::Stream { .. }) {
                let needs = match grants.sends {
                    None => Some("a port that tells `grant_sends`; `send N every TIME` needs none"),
                    Some(_) if !has_own => Some("a session of its own: open (KEY = VALUE)"),
                    Some(_) => None,
                };
                if let Some(needs) = needs {
                    return Err(words.mistake(format!("`stream` needs {needs}")));
                }
            }
            let needs_one = matches!(step, Step::Send { .. } | Step::Tell(_) | Step::Close);
            if needs_one && !has_session {
                let message = format!("open a session of `{name}` first: open (KEY = VALUE)");
                return Err(words.mistake(message));
            }
            steps.push(step);
        }
        Ok(Application {
            name: format!("{}.{name}", self.node.words),
            node,
            port,
            grants,
            steps,
        })
    }

    fn step(&mut self, port: usize, phrase: Phrase, words: &Text) -> Result<Step, Mistake> {
        let own = &self.stack.ports[port];
        Ok(match phrase {
            Phrase::Step(step) => step,
            Phrase::Open(keys) => Step::Open(self.conversation((port, false), &keys, words)?),
            Phrase::Listen(keys) => Step::Listen(self.conversation((port, true), &keys, words)?),
            Phrase::SendWith(step, given) => self.send_with(step, port, &given, words)?,
            Phrase::Tell(said, every_ns) => {
                let found = own.down.iter().position(|told| told.name == said.name);
                let told = found.ok_or_else(|| {
                    let known = own.down.iter().map(|told| told.name.as_str());
                    let known = instead(&said.name, &known.collect::<Vec<_>>());
                    let (name, own) = (&said.name, &own.name);
                    words.mistake(format!(
                        "`{own}` does not take the notice `{name}`: {known}"
                    ))
                })?;
                let members = &own.down[told].members;
                let first = self.words.notices.len();
                for pairs in self.alternatives(&said.arguments, words)? {
                    let values = Values::new("argument", &Layout::assumed(members));
                    let values = filled(values, ("argument", members), &pairs, words)?;
                    self.words.notices.push((port, told, values));
                }
                Step::Tell(Telling {
                    first,
                    choices: self.words.notices.len() - first,
                    every_ns,
                })
            }
            Phrase::Expect {
                count,
                said,
                within_ns,
            } => Step::Expect {
                count,
                heard: Some(self.heard(own, said, words)?),
                within_ns,
            },
        })
    }

    /// Prepares a session to open, or to listen for.
    fn conversation(
        &mut self,
        (port, listens): (usize, bool),
        keys: &str,
        words: &Text,
    ) -> Result<usize, Mistake> {
        let known = &self.stack.ports[port];
        let (can, members, what) = match listens {
            true => (
                known.listener_keys.is_some(),
                known.listener_keys.as_deref().unwrap_or_default(),
                "listened for",
            ),
            false => (known.opens, &known.keys[..], "opened"),
        };
        if !can {
            let name = &known.name;
            return Err(words.mistake(format!("port `{name}` has no sessions that are {what}")));
        }
        let values = self.given(("key", members), keys, words)?;
        complete(&values, ("key", words))?;
        self.words.conversations.push((port, listens, values));
        Ok(self.words.conversations.len() - 1)
    }

    /// Prepares what stands beside messages; what is left out is as layers have it.
    fn send_with(
        &mut self,
        mut step: Step,
        port: usize,
        given: &str,
        words: &Text,
    ) -> Result<Step, Mistake> {
        let own = &self.stack.ports[port];
        let mut values = self.given(("attribute", &own.attributes), given, words)?;
        for (name, value) in &own.attribute_defaults {
            let set = values.set_unless_named(name, value);
            set.map_err(|reason| words.mistake(reason))?;
        }
        self.words.attributes.push((port, values));
        if let Step::Send { attributes, .. } = &mut step {
            *attributes = Some(self.words.attributes.len() - 1);
        }
        Ok(step)
    }

    /// A notice that is waited for.
    fn heard(&self, own: &Port, said: Said, words: &Text) -> Result<Heard, Mistake> {
        let (told, members) = match own.up.iter().position(|told| told.name == said.name) {
            Some(at) => (driven::Told::Notice(at), own.up[at].members.clone()),
            None if said.name == "accepted" && own.accepted.is_some() => {
                (driven::Told::Accepted, Vec::new())
            }
            None => {
                let known = own.up.iter().map(|told| told.name.as_str());
                let accepted = own.accepted.iter().map(|_| "accepted");
                let unit = grants(own).unit();
                let known: Vec<&str> = known.chain(accepted).chain([unit]).collect();
                let (name, port, known) = (&said.name, &own.name, instead(&said.name, &known));
                let message = format!("`{port}` does not receive the notice `{name}`: {known}");
                return Err(words.mistake(message));
            }
        };
        let values = self.given(("argument", &members), &said.arguments, words)?;
        let places = (0..members.len()).filter(|at| values.is_set(*at));
        let arguments: Vec<(usize, Datum)> = places.map(|at| (at, values.datum(at))).collect();
        Ok(Heard {
            name: said.name,
            told,
            arguments,
        })
    }

    /// A struct with what is written for its fields: `a = 1, b = 2`.
    fn given(
        &self,
        (what, members): (&'static str, &[Member]),
        given: &str,
        words: &Text,
    ) -> Result<Values, Mistake> {
        let pairs = self.pairs(given, words)?;
        let values = Values::new(what, &Layout::assumed(members));
        set(values, members, &pairs)
    }

    /// Names and what is written for each.
    fn pairs(&self, given: &str, words: &Text) -> Result<Vec<(Text, Text)>, Mistake> {
        let text = Text {
            words: given.to_string(),
            at: words.at.clone(),
        };
        let mut pairs = Vec::new();
        for part in text.parts(&[',', '\n'], self.source) {
            let halves = part.parts(&['='], self.source);
            let [key, value] = halves.as_slice() else {
                return Err(part.mistake(format!(
                    "cannot read `{}`: write it as in port = 7",
                    part.words
                )));
            };
            pairs.push((key.clone(), value.clone()));
        }
        Ok(pairs)
    }

    /// All that `a = 1 | 2, b = 3 | 4` may mean, of which one is chosen each time.
    fn alternatives(&self, given: &str, words: &Text) -> Result<Vec<Vec<(Text, Text)>>, Mistake> {
        let mut all = vec![Vec::new()];
        for (key, value) in self.pairs(given, words)? {
            let values = value.parts(&['|'], self.source);
            let more = |known: &Vec<(Text, Text)>| {
                let one = |value: &Text| {
                    let pair = (key.clone(), value.clone());
                    known.iter().cloned().chain([pair]).collect()
                };
                values.iter().map(one).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(more).collect();
            if all.len() > MOST_CHOICES {
                let message = format!("a notice has at most {MOST_CHOICES} sets of arguments");
                return Err(words.mistake(message));
            }
        }
        Ok(all)
    }
}

/// The most sets of arguments among which a notice is chosen.
const MOST_CHOICES: usize = 1_000;

/// Returns the notices by which a port grants credit.
pub fn grants(port: &Port) -> Grants {
    let sends = port.up.iter().position(|told| told.grants("grant_sends"));
    let mut delivers = port
        .down
        .iter()
        .filter(|told| told.grants("grant_delivers"));
    let in_bytes =
        sends.is_some_and(|at| port.up[at].counts_bytes()) || delivers.any(Told::counts_bytes);
    Grants { sends, in_bytes }
}

/// Fills a struct, and sees that nothing is missing.
pub fn filled(
    values: Values,
    (what, members): (&str, &[Member]),
    given: &[(Text, Text)],
    at: &Text,
) -> Result<Values, Mistake> {
    let values = set(values, members, given)?;
    complete(&values, (what, at))?;
    Ok(values)
}

fn set(mut values: Values, members: &[Member], given: &[(Text, Text)]) -> Result<Values, Mistake> {
    for (name, value) in given {
        values.set(&name.words, &value.words).map_err(|reason| {
            let is_known = members.iter().any(|member| member.name == name.words);
            if is_known { value } else { name }.mistake(reason)
        })?;
    }
    Ok(values)
}

/// Sees that nothing is missing.
fn complete(values: &Values, (what, at): (&str, &Text)) -> Result<(), Mistake> {
    let missing = values.missing();
    let (Some(first), name) = (missing.first(), &at.words) else {
        return Ok(());
    };
    let all = missing.join(", ");
    let advice = match (what, &at.at) {
        ("key" | "argument", _) => format!("({first} = ...)"),
        (_, None) => format!("--set {name}.{first}=..."),
        (_, Some(_)) => format!("set.{first} = ..."),
    };
    Err(at.mistake(format!("no value for {all} of `{name}`: add {advice}")))
}
