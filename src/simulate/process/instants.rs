//! Instants as text: what is given comes in, what is emitted goes out.
//!
//! ```text
//! A B(3) S(2.5) ;        given: A, B with a value, and the sensor S; an instant ends with `;`
//! O P(4)                 emitted, in order of declaration: a line for each instant
//! ```

use super::esterel::{Externs, Value};
use crate::types::esterel::{Module, TEXT, Type};
use crate::types::process::{Carries, Relation, Role, SignalId};

/// What is given in an instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Given {
    /// Signals that are present, with their values, in the order in which they come: one that
    /// combines its values may come several times.
    pub present: Vec<(SignalId, Option<Value>)>,
    /// Sensors that have new values.
    pub sensors: Vec<(SignalId, Value)>,
}

/// Reads what is given in one instant, without its `;`; or says what is wrong with it.
pub fn read(module: &Module, text: &str, externs: &dyn Externs) -> Result<Given, String> {
    let mut given = Given::default();
    for word in words(text)? {
        let (name, value) = match word.split_once('(') {
            Some((name, rest)) => {
                let value = rest.strip_suffix(')');
                let value = value.ok_or_else(|| format!("`{word}`: a `)` is missing"))?;
                (name.trim(), Some(value.trim()))
            }
            None => (word.as_str(), None),
        };
        let signal = by_name(module, name)?;
        let declared = module.processes.signal(signal);
        let kind = module.channels[signal.at()].as_ref().map(|one| one.kind);
        let value = match (kind, value) {
            (None, None) => None,
            (Some(kind), Some(text)) => {
                let written = kind.name(&module.types);
                let value = value_of(kind, text, externs);
                Some(value.ok_or_else(|| format!("`{text}` is no {written}, as `{name}` needs"))?)
            }
            (None, Some(_)) => return Err(format!("`{name}` carries no value")),
            (Some(_), None) => return Err(format!("`{name}` needs a value: `{name}(…)`")),
        };
        let mut others = given.present.iter().map(|(other, _)| *other);
        let mut sensors = given.sensors.iter().map(|(other, _)| *other);
        let is_again = others.any(|other| other == signal) || sensors.any(|other| other == signal);
        if is_again && declared.value != Carries::Combined {
            return Err(format!("`{name}` is given twice"));
        }
        match (declared.role, value) {
            (Role::Sensor, Some(value)) => given.sensors.push((signal, value)),
            (_, value) => given.present.push((signal, value)),
        }
    }
    related(module, &given)?;
    Ok(given)
}

/// The words of an instant: a value in parentheses belongs to its name, and may hold a text.
fn words(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut depth = 0;
    let mut quoted = false;
    let mut escaped = false;
    for one in text.chars() {
        if quoted {
            quoted = escaped || one != '"';
            escaped = !escaped && one == '\\';
            word.push(one);
            continue;
        }
        match one {
            '"' => quoted = true,
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        match one.is_whitespace() && depth <= 0 {
            true if !word.is_empty() => words.push(std::mem::take(&mut word)),
            true => {}
            false => word.push(one),
        }
    }
    if quoted || depth > 0 {
        return Err(format!("`{word}` does not end"));
    }
    if !word.is_empty() {
        words.push(word);
    }
    Ok(words)
}

fn by_name(module: &Module, name: &str) -> Result<SignalId, String> {
    let processes = &module.processes;
    let given = |signal: &SignalId| {
        let role = processes.signal(*signal).role;
        role.is_given() || role == Role::Sensor
    };
    let mut inputs = processes.signals().filter(given);
    inputs
        .find(|signal| processes.signal(*signal).name == name)
        .ok_or_else(|| format!("`{name}` is no input of `{}`", module.name))
}

/// Whether the relations hold.
fn related(module: &Module, given: &Given) -> Result<(), String> {
    let processes = &module.processes;
    let has = |signal: &SignalId| given.present.iter().any(|(one, _)| one == signal);
    let name = |signal: &SignalId| &processes.signal(*signal).name;
    for relation in &processes.relations {
        match relation {
            Relation::Exclusive(all) => {
                let together: Vec<&SignalId> = all.iter().filter(|one| has(one)).collect();
                if let [one, other, ..] = together[..] {
                    return Err(format!(
                        "`{}` and `{}` exclude each other",
                        name(one),
                        name(other)
                    ));
                }
            }
            Relation::Implies(one, other) if has(one) && !has(other) => {
                return Err(format!(
                    "`{}` never comes without `{}`",
                    name(one),
                    name(other)
                ));
            }
            Relation::Implies(..) => {}
        }
    }
    Ok(())
}

/// A value as it is written.
fn value_of(kind: Type, text: &str, externs: &dyn Externs) -> Option<Value> {
    match kind {
        Type::Boolean => text.parse().ok().map(Value::Boolean),
        Type::Integer => text.parse().ok().map(Value::Integer),
        Type::Float => text.parse().ok().map(Value::Float),
        Type::Double => text.parse().ok().map(Value::Double),
        Type::Text => {
            let has_room = |text: &String| text.len() < TEXT && !text.contains('\0');
            unquoted(text).filter(has_room).map(Value::Text)
        }
        Type::User(kind) => Some(externs.read(kind, text)),
    }
}

/// What stands between the quotes of a text of C.
fn unquoted(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    let mut plain = String::new();
    let mut all = inner.chars();
    while let Some(one) = all.next() {
        plain.push(match one {
            '\\' => match all.next()? {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                other => other,
            },
            one => one,
        });
    }
    Some(plain)
}
