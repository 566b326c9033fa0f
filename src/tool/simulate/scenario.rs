//! A network as somebody described it: in a file, or by a stack and the command line.
//!
//! In: arguments, or a TOML document (`document`). Out: a [`Scenario`]: all words that were
//! written, of which only the form is known to be right.

use super::text::{Mistake, Text};
use super::{Arguments, phrases};
use crate::simulate::network::link::Faults;
use crate::tool::layout::{Description, Port, instead};
use std::path::PathBuf;

/// A network, in words.
#[derive(Clone, Debug, Default)]
pub struct Scenario {
    /// What runs.
    pub nodes: Vec<Node>,
    /// What connects it.
    pub links: Vec<Wire>,
    /// What sits at its ports.
    pub scripts: Vec<Script>,
    /// What has to hold at the end.
    pub promises: Vec<Text>,
    /// When it ends at the latest.
    pub until_ns: Option<u64>,
    /// The seed that it is always run with.
    pub seed: Option<u64>,
}

/// A node.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its name.
    pub name: Text,
    /// The file with its stack.
    pub stack: PathBuf,
    /// Where the file is named.
    pub stack_at: Text,
    /// What the stack reads as `config.NAME`.
    pub settings: Vec<(Text, Text)>,
    /// C that holds functions which the stack declares as `extern`.
    pub functions: Vec<PathBuf>,
}

/// A link.
#[derive(Clone, Debug)]
pub struct Wire {
    /// Its name.
    pub name: Text,
    /// `NODE`, or `NODE.LINK` where a node has several.
    pub ends: Vec<Text>,
    /// What happens to frames, whoever sends them.
    pub faults: Vec<(Text, Text)>,
    /// What happens to those that one end sends.
    pub from: Vec<(Text, Vec<(Text, Text)>)>,
}

/// What sits at a port.
#[derive(Clone, Debug)]
pub struct Script {
    /// The node; none means each.
    pub node: Option<Text>,
    /// The port.
    pub port: Text,
    /// Its steps.
    pub steps: Text,
}

/// The two ends of a network that is but one stack.
pub const COPIES: [&str; 2] = ["left", "right"];

impl Scenario {
    /// Two copies of a stack back to back: each link of one with the same link of the other. At a
    /// port of which the command line says nothing, `left` sends, and `right` reads or echoes.
    pub fn of_copies(arguments: &Arguments, stack: &Description) -> Result<Scenario, Mistake> {
        let file = Text::given(arguments.network.display().to_string());
        let nodes = COPIES.map(|name| Node {
            name: Text::given(name),
            stack: arguments.network.clone(),
            stack_at: file.clone(),
            settings: Vec::new(),
            functions: arguments.functions.clone(),
        });
        let links = stack.links.iter().map(|link| Wire {
            name: Text::given(link),
            ends: COPIES
                .map(|name| Text::given(format!("{name}.{link}")))
                .to_vec(),
            faults: Vec::new(),
            from: Vec::new(),
        });
        let mut scenario = Scenario {
            nodes: nodes.to_vec(),
            links: links.collect(),
            ..Scenario::default()
        };
        scenario.add(arguments)?;
        for port in stack.ports.iter().filter(|port| port.passes) {
            scenario.add_usual(arguments, port)?;
        }
        Ok(scenario)
    }

    /// What sits at a port of two copies where the command line says nothing.
    fn add_usual(&mut self, arguments: &Arguments, port: &Port) -> Result<(), Mistake> {
        let said = |node: &str| {
            let here = |script: &&Script| script.port.words == port.name;
            let of_node = |script: &Script| {
                let name = script.node.as_ref();
                name.is_none_or(|name| name.words == node)
            };
            self.scripts.iter().filter(here).any(of_node)
        };
        let silent = COPIES.map(|node| !said(node));
        if !port.keys.is_empty() {
            let name = &port.name;
            let keys: Vec<String> = port
                .keys
                .iter()
                .map(|key| format!("{} = ...", key.name))
                .collect();
            let keys = keys.join(", ");
            return match silent {
                [true, true] => Err(Text::given("").mistake(format!(
                    "port `{name}` opens a session per set of keys: give the keys, as in --app \
                    'left.{name}=open ({keys}); send 1000', and an application for `right`"
                ))),
                // Who says what one does need not say what the other does.
                [_, _] => Ok(()),
            };
        }
        let answer = if arguments.echo { "echo" } else { "" };
        let before = if port.opens { "open; " } else { "" };
        let steps = [arguments.sends(), answer.to_string()];
        for ((node, silent), steps) in COPIES.iter().zip(silent).zip(steps) {
            if silent {
                self.scripts.push(Script {
                    node: Some(Text::given(*node)),
                    port: Text::given(&port.name),
                    steps: Text::given(format!("{before}{steps}")),
                });
            }
        }
        Ok(())
    }

    /// Adds what the command line says.
    pub fn add(&mut self, arguments: &Arguments) -> Result<(), Mistake> {
        for setting in &arguments.settings {
            let (node, name) = match setting.name.split_once('.') {
                Some((node, name)) => (Some(node), name),
                None => (None, setting.name.as_str()),
            };
            if let Some(node) = node {
                self.node(&Text::given(node))?;
            }
            let chosen = |one: &&mut Node| node.is_none_or(|node| node == one.name.words);
            for one in self.nodes.iter_mut().filter(chosen) {
                let setting = (Text::given(name), Text::given(&setting.value));
                one.settings.push(setting);
            }
        }
        for script in &arguments.scripts {
            let (node, port) = match script.place.split_once('.') {
                Some((node, port)) => (Some(Text::given(node)), port),
                None => (None, script.place.as_str()),
            };
            self.scripts.push(Script {
                node,
                port: Text::given(port),
                steps: Text::given(&script.steps),
            });
        }
        for link in &mut self.links {
            let faults = arguments.faults().into_iter();
            let faults = faults.map(|(name, words)| (Text::given(name), Text::given(words)));
            let faults: Vec<(Text, Text)> = faults.collect();
            // What the command line says holds for each end, whatever the file says of it.
            let from = link.from.iter_mut();
            from.for_each(|(_, of_end)| of_end.extend(faults.clone()));
            link.faults.extend(faults);
        }
        self.promises
            .extend(arguments.promises.iter().map(Text::given));
        self.until_ns = arguments.until_ns().or(self.until_ns);
        self.seed = arguments.seed.or(self.seed);
        Ok(())
    }

    /// The place of a node among the nodes.
    pub fn node(&self, name: &Text) -> Result<usize, Mistake> {
        let found = self
            .nodes
            .iter()
            .position(|one| one.name.words == name.words);
        found.ok_or_else(|| {
            let known: Vec<&str> = self
                .nodes
                .iter()
                .map(|one| one.name.words.as_str())
                .collect();
            let known = instead(&name.words, &known);
            name.mistake(format!("there is no node `{}`: {known}", name.words))
        })
    }
}

impl Wire {
    /// What happens to the frames that an end sends.
    pub fn faults_from(&self, end: &Text) -> Result<Faults, Mistake> {
        let mut faults = Faults::default();
        let name = |end: &Text| end.words.split('.').next().unwrap_or_default().to_string();
        let own = self
            .from
            .iter()
            .filter(|(from, _)| from.words == end.words || from.words == name(end));
        let own = own.flat_map(|(_, faults)| faults);
        for (key, words) in self.faults.iter().chain(own) {
            phrases::set_fault(&mut faults, &key.words, &words.words).map_err(|reason| {
                let known = phrases::FAULTS.contains(&key.words.as_str());
                if known { words } else { key }.mistake(reason)
            })?;
        }
        phrases::fit(&faults).map_err(|reason| self.name.mistake(reason))?;
        Ok(faults)
    }
}
