//! A scenario that was found to fit its stacks.
//!
//! In: a [`Scenario`] and what the compiler says of each stack. Out: what the network is made of,
//! and started stacks for its nodes; or the first word that does not fit, before any C is compiled.

use super::compiled::Compiled;
use super::interpreted::Interpreted;
use super::promise::{Names, Promise};
use super::record::{Form, Interface};
use super::scenario::{Node, Scenario};
use super::text::{Mistake, Text};
use super::words::{Speaker, Words, filled, grants};
use crate::simulate::externs::Externs;
use crate::simulate::network::application::Application;
use crate::simulate::network::driven::Driven;
use crate::simulate::network::{End, Link, Named, Plan};
use crate::tool::c_compiler;
use crate::tool::compiler::{self, Options};
use crate::tool::failure::Failure;
use crate::tool::layout::{Description, Layout, Values, instead};
use crate::tool::stack::Program;
use crate::types::program;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A stack that runs on one node or more.
pub struct Kind {
    path: PathBuf,
    functions: Vec<PathBuf>,
    compiled: compiler::Compiled,
}

impl Kind {
    /// Compiles it to C.
    pub fn read(path: &Path, functions: &[PathBuf], options: &Options) -> Result<Kind, Failure> {
        Ok(Kind {
            path: path.to_path_buf(),
            functions: functions.to_vec(),
            compiled: compiler::compile(path, options)?,
        })
    }

    /// What the compiler says of it.
    pub fn description(&self) -> &Description {
        &self.compiled.description
    }

    /// Compiles the C, and loads it.
    pub fn load(&self) -> Result<Program, Failure> {
        let compiler::Compiled {
            description,
            source,
            header,
            ..
        } = &self.compiled;
        c_compiler::load_with(source, header, description, &self.functions)
    }

    /// The checked program, to be interpreted.
    pub fn program(&self, options: &Options) -> Result<program::Program, Failure> {
        match self.description().functions_in_c.first() {
            None => compiler::program(&self.path, options),
            Some(name) => Err(Failure::environment(format!(
                "`{name}` is written in C, which cannot be interpreted"
            ))),
        }
    }
}

/// The stacks of a network, each once.
pub fn kinds(
    scenario: &Scenario,
    options: &Options,
    shown: &dyn Fn(Mistake) -> Failure,
) -> Result<Vec<Kind>, Failure> {
    let mut kinds: Vec<Kind> = Vec::new();
    for node in &scenario.nodes {
        if kinds.iter().all(|kind| !kind.runs_on(node)) {
            let read = Kind::read(&node.stack, &node.functions, options);
            let read = read.map_err(|failure| match failure.message.is_empty() {
                true => failure,
                false => shown(node.stack_at.mistake(failure.message)),
            });
            kinds.push(read?);
        }
    }
    Ok(kinds)
}

impl Kind {
    fn runs_on(&self, node: &Node) -> bool {
        (&self.path, &self.functions) == (&node.stack, &node.functions)
    }
}

/// A network that fits its stacks.
pub struct Prepared<'k> {
    nodes: Vec<PreparedNode<'k>>,
    links: Vec<Link>,
    applications: Vec<Application>,
    promises: Vec<Text>,
    until_ns: Option<u64>,
    /// The seed that it is always run with.
    pub seed: Option<u64>,
}

struct PreparedNode<'k> {
    name: Text,
    kind: usize,
    stack: &'k Description,
    settings: Vec<(Text, Text)>,
    words: Words,
}

impl<'k> Prepared<'k> {
    /// Checks all that can be known without running it.
    pub fn new(
        scenario: Scenario,
        kinds: &'k [Kind],
        source: &str,
    ) -> Result<Prepared<'k>, Mistake> {
        let mut nodes = Vec::new();
        for node in &scenario.nodes {
            let kind = kinds.iter().position(|kind| kind.runs_on(node));
            let kind = kind.expect("each stack was compiled");
            let stack = kinds[kind].description();
            let config = Values::new("setting", &Layout::assumed(&stack.config));
            filled(
                config,
                ("setting", &stack.config),
                &node.settings,
                &node.name,
            )?;
            nodes.push(PreparedNode {
                name: node.name.clone(),
                kind,
                stack,
                settings: node.settings.clone(),
                words: Words::default(),
            });
        }
        let links = links(&scenario, &nodes)?;
        let mut applications = Vec::new();
        for script in &scenario.scripts {
            let on = match &script.node {
                None => 0..nodes.len(),
                Some(name) => {
                    let node = scenario.node(name)?;
                    node..node + 1
                }
            };
            for node in on {
                let on: &mut PreparedNode<'_> = &mut nodes[node];
                let mut speaker = Speaker {
                    node: &on.name,
                    stack: on.stack,
                    words: &mut on.words,
                    source,
                };
                applications.push(speaker.application(node, script)?);
            }
        }
        for (at, node) in nodes.iter().enumerate() {
            node.read_elsewhere(at, &mut applications);
        }
        name_apart(&mut applications);
        Ok(Prepared {
            nodes,
            links,
            applications,
            promises: scenario.promises,
            until_ns: scenario.until_ns,
            seed: scenario.seed,
        })
    }

    /// Starts the stacks, compiled.
    pub fn compiled<'p>(&self, programs: &'p [Program]) -> Result<Vec<Named<'p>>, Mistake> {
        let mut stacks = Vec::new();
        for node in &self.nodes {
            let program = &programs[node.kind];
            let config = node.config(program.config())?;
            let started = Compiled::start(program, &config, &node.words);
            stacks.push(node.named(started.map_err(|failure| failure.message))?);
        }
        Ok(stacks)
    }

    /// Starts the stacks, interpreted.
    pub fn interpreted<'p>(
        &self,
        programs: &'p [program::Program],
        externs: &'p Externs<'p>,
    ) -> Result<Vec<Named<'p>>, Mistake> {
        let mut stacks = Vec::new();
        for node in &self.nodes {
            let assumed = Layout::assumed(&node.stack.config);
            let config = node.config(Values::new("setting", &assumed))?;
            let program = &programs[node.kind];
            let started =
                Interpreted::start(program, externs, &config, &node.stack.limits, &node.words);
            let started = started.ok_or_else(|| {
                let name = &program.name;
                format!("`{name}` does not start with this configuration")
            });
            stacks.push(node.named(started)?);
        }
        Ok(stacks)
    }

    /// What connects them, and what they do.
    pub fn plan(&self, seed: u64) -> Plan {
        Plan {
            seed,
            links: self.links.clone(),
            applications: self.applications.clone(),
            until_ns: self.until_ns,
            sample_ns: None,
        }
    }

    /// Whether each node can hold messages, so that not all buffers need be back at the end.
    pub fn holders(&self) -> Vec<bool> {
        let nodes = self.nodes.iter();
        nodes.map(|node| node.stack.holds_messages).collect()
    }

    /// The links of all nodes, in order, as a capture shows them.
    pub fn interfaces(&self) -> Vec<Vec<Interface>> {
        let of_node = |(at, node): (usize, &PreparedNode<'_>)| {
            let links = node.stack.links.iter().zip(&node.stack.lowest);
            let named = links.enumerate().map(|(link, (name, lowest))| Interface {
                name: format!("{}.{name}", node.name.words),
                form: Form::of(lowest, &self.links, (at, link)),
            });
            named.collect()
        };
        self.nodes.iter().enumerate().map(of_node).collect()
    }

    /// What the network promises.
    pub fn promises(&self, stacks: &[Named<'_>]) -> Result<Vec<Promise>, Mistake> {
        let counters = stacks.iter().map(|(_, stack, _)| {
            let names = stack.counters().into_iter().map(|(name, _)| name);
            let plain = |name: String| {
                name.strip_prefix("count ")
                    .map(String::from)
                    .unwrap_or(name)
            };
            names.map(plain).collect()
        });
        let names = Names {
            nodes: self
                .nodes
                .iter()
                .map(|node| node.name.words.as_str())
                .collect(),
            applications: self
                .applications
                .iter()
                .map(|one| one.name.as_str())
                .collect(),
            counters: counters.collect(),
        };
        let read =
            |text: &Text| Promise::read(&text.words, &names).map_err(|reason| text.mistake(reason));
        self.promises.iter().map(read).collect()
    }
}

impl PreparedNode<'_> {
    fn config(&self, values: Values) -> Result<Values, Mistake> {
        filled(
            values,
            ("setting", &self.stack.config),
            &self.settings,
            &self.name,
        )
    }

    /// At a port of which nobody says anything sits what reads and counts.
    fn read_elsewhere(&self, node: usize, applications: &mut Vec<Application>) {
        for (port, known) in self.stack.ports.iter().enumerate() {
            let sits = |one: &Application| (one.node, one.port) == (node, port);
            if known.passes && !applications.iter().any(sits) {
                applications.push(Application {
                    name: format!("{}.{}", self.name.words, known.name),
                    node,
                    port,
                    grants: grants(known),
                    steps: Vec::new(),
                });
            }
        }
    }

    /// A stack that was started, if it was.
    fn named<'p>(&self, started: Result<impl Driven + 'p, String>) -> Result<Named<'p>, Mistake> {
        let (name, links) = (&self.name.words, self.stack.links.len());
        match started {
            Ok(stack) => Ok((name.clone(), Box::new(stack), links)),
            Err(reason) => Err(self.name.mistake(format!("node `{name}`: {reason}"))),
        }
    }
}

/// The links of the network; each link of a node is an end of one.
fn links(scenario: &Scenario, nodes: &[PreparedNode<'_>]) -> Result<Vec<Link>, Mistake> {
    let mut taken: BTreeMap<(usize, usize), &Text> = BTreeMap::new();
    let mut links = Vec::new();
    for wire in &scenario.links {
        let mut ends = Vec::new();
        for text in &wire.ends {
            let (name, of_node) = match text.words.split_once('.') {
                Some((name, link)) => (name, Some(link)),
                None => (text.words.as_str(), None),
            };
            let name = Text {
                words: name.to_string(),
                at: text.at.clone(),
            };
            let node = scenario.node(&name)?;
            let link = nodes[node].link(of_node, text)?;
            if taken.insert((node, link), text).is_some() {
                return Err(text.mistake(format!("`{}` is an end of two links", text.words)));
            }
            let faults = wire.faults_from(text)?;
            ends.push(End { node, link, faults });
        }
        for (from, _) in &wire.from {
            let is_end = |end: &Text| end.words.split('.').next() == from.words.split('.').next();
            if !wire.ends.iter().any(is_end) {
                let message = format!("`{}` is not an end of this link", from.words);
                return Err(from.mistake(message));
            }
        }
        links.push(Link {
            name: wire.name.words.clone(),
            ends,
        });
    }
    for (at, node) in nodes.iter().enumerate() {
        for (link, name) in node.stack.links.iter().enumerate() {
            if !taken.contains_key(&(at, link)) {
                let end = format!("{}.{name}", node.name.words);
                let message = format!("`{end}` is not connected: no [link.NAME] has it as an end");
                return Err(node.name.mistake(message));
            }
        }
    }
    Ok(links)
}

impl PreparedNode<'_> {
    fn link(&self, name: Option<&str>, text: &Text) -> Result<usize, Mistake> {
        let known: Vec<&str> = self.stack.links.iter().map(String::as_str).collect();
        match name {
            None if known.len() == 1 => Ok(0),
            None => Err(text.mistake(format!(
                "`{}` has several links: name one, as in {}.{}",
                text.words, text.words, known[0]
            ))),
            Some(name) => {
                let found = known.iter().position(|known| *known == name);
                found.ok_or_else(|| {
                    let (node, known) = (&self.name.words, instead(name, &known));
                    text.mistake(format!("`{node}` has no link `{name}`: {known}"))
                })
            }
        }
    }
}

/// Scripts at one port are numbered from 2 on.
fn name_apart(applications: &mut [Application]) {
    let mut known: BTreeMap<String, u32> = BTreeMap::new();
    for application in applications {
        let count = known.entry(application.name.clone()).or_default();
        *count += 1;
        if *count > 1 {
            application.name += &format!("#{count}");
        }
    }
}
