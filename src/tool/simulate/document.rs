//! A network file: TOML to a [`Scenario`].
//!
//! In: the text of the file. Out: its words with their places, or the first mistake.
//!
//! ```text
//! expect = ["in order"]
//! [node.ground]
//! stack = "radio.loom"
//! app.messages = "send 1000"
//! [node.plane]
//! stack = "radio.loom"
//! [link.air]
//! ends = ["ground", "plane"]
//! loss = "5%"
//! ```

use super::scenario::{Node, Scenario, Script, Wire};
use super::text::{Mistake, Text};
use crate::tool::layout::instead;
use crate::tool::written::{duration_ns, integer};
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Reads a network file; the files that it names are beside it.
pub fn read(source: &str, path: &Path) -> Result<Scenario, Mistake> {
    let document = DeTable::parse(source).map_err(|error| Mistake {
        message: format!("the file is not valid TOML: {}", error.message()),
        at: Some(error.span().unwrap_or(0..source.len().min(1))),
    })?;
    let mut scenario = Scenario::default();
    let folder = path.parent().unwrap_or(Path::new(""));
    for (key, value) in entries(document.get_ref()) {
        match key.words.as_str() {
            "for" => scenario.until_ns = Some(judged(&scalar(value)?, duration_ns)?),
            "seed" => scenario.seed = Some(judged(&scalar(value)?, integer)?),
            "expect" => scenario.promises = list(value)?,
            "node" => {
                for (name, node) in entries(table(&key, value)?) {
                    read_node(name, node, folder, &mut scenario)?;
                }
            }
            "link" => {
                for (name, link) in entries(table(&key, value)?) {
                    scenario.links.push(read_link(name, link)?);
                }
            }
            other => {
                let known = ["for", "seed", "expect", "node", "link"];
                return Err(unknown(&key, "a network", other, &known));
            }
        }
    }
    match scenario.nodes.is_empty() {
        true => Err(Mistake {
            message: "a network needs nodes: [node.NAME] with stack = \"FILE.loom\"".to_string(),
            at: Some(0..0),
        }),
        false => Ok(scenario),
    }
}

fn read_node(
    name: Text,
    value: &Spanned<DeValue<'_>>,
    folder: &Path,
    scenario: &mut Scenario,
) -> Result<(), Mistake> {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '-';
    if !name.words.chars().all(is_word) {
        return Err(name.mistake("the name of a node consists of letters, digits, `_` and `-`"));
    }
    let mut node = Node {
        name: name.clone(),
        stack: Path::new("").to_path_buf(),
        stack_at: Text::default(),
        settings: Vec::new(),
        functions: Vec::new(),
    };
    for (key, value) in entries(table(&name, value)?) {
        match key.words.as_str() {
            "stack" => {
                node.stack_at = scalar(value)?;
                node.stack = folder.join(&node.stack_at.words);
            }
            "set" => {
                for (key, value) in entries(table(&key, value)?) {
                    node.settings.push((key, scalar(value)?));
                }
            }
            "c" => {
                let files = list(value)?.into_iter();
                node.functions = files.map(|file| folder.join(file.words)).collect();
            }
            "app" => {
                for (port, value) in entries(table(&key, value)?) {
                    let scripts = list(value)?.into_iter().map(|steps| Script {
                        node: Some(name.clone()),
                        port: port.clone(),
                        steps,
                    });
                    scenario.scripts.extend(scripts);
                }
            }
            other => {
                let known = ["stack", "set", "app", "c"];
                return Err(unknown(&key, "a node", other, &known));
            }
        }
    }
    if node.stack_at.words.is_empty() {
        return Err(name.mistake("a node needs a stack: stack = \"FILE.loom\""));
    }
    scenario.nodes.push(node);
    Ok(())
}

fn read_link(name: Text, value: &Spanned<DeValue<'_>>) -> Result<Wire, Mistake> {
    let mut link = Wire {
        name: name.clone(),
        ends: Vec::new(),
        faults: Vec::new(),
        from: Vec::new(),
    };
    for (key, value) in entries(table(&name, value)?) {
        match key.words.as_str() {
            "ends" => link.ends = list(value)?,
            "from" => {
                for (end, faults) in entries(table(&key, value)?) {
                    let faults = entries(table(&end, faults)?).map(|(key, value)| {
                        let words = scalar(value)?;
                        Ok((key, words))
                    });
                    let faults = faults.collect::<Result<_, Mistake>>()?;
                    link.from.push((end, faults));
                }
            }
            _ => link.faults.push((key, scalar(value)?)),
        }
    }
    match link.ends.len() {
        0 | 1 => {
            Err(name.mistake("a link needs at least two ends: ends = [\"ground\", \"plane\"]"))
        }
        _ => Ok(link),
    }
}

/// What stands in a table, in the order of writing.
fn entries<'t, 'i>(
    table: &'t DeTable<'i>,
) -> impl Iterator<Item = (Text, &'t Spanned<DeValue<'i>>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries.into_iter().map(|(key, value)| {
        let words = key.get_ref().to_string();
        let at = Some(key.span());
        (Text { words, at }, value)
    })
}

fn table<'t, 'i>(key: &Text, value: &'t Spanned<DeValue<'i>>) -> Result<&'t DeTable<'i>, Mistake> {
    value.get_ref().as_table().ok_or_else(|| {
        let words = &key.words;
        wrong(
            value,
            format!("`{words}` is a table: write {words}.NAME = ..."),
        )
    })
}

/// A text or a number, as it is written.
fn scalar(value: &Spanned<DeValue<'_>>) -> Result<Text, Mistake> {
    let words = match value.get_ref() {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => {
            return Err(wrong(value, "expected one string or number"));
        }
    };
    let at = Some(value.span());
    Ok(Text { words, at })
}

/// One text, or several.
fn list(value: &Spanned<DeValue<'_>>) -> Result<Vec<Text>, Mistake> {
    match value.get_ref().as_array() {
        Some(several) => several.iter().map(scalar).collect(),
        None => Ok(vec![scalar(value)?]),
    }
}

fn judged<T>(text: &Text, read: impl Fn(&str) -> Result<T, String>) -> Result<T, Mistake> {
    read(&text.words).map_err(|reason| text.mistake(reason))
}

fn wrong(value: &Spanned<DeValue<'_>>, message: impl Into<String>) -> Mistake {
    Mistake {
        message: message.into(),
        at: Some(value.span()),
    }
}

fn unknown(key: &Text, what: &str, name: &str, known: &[&str]) -> Mistake {
    let known = instead(name, known);
    key.mistake(format!("{what} has no `{name}`: {known}"))
}
