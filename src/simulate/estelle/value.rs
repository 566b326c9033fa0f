//! Values of variables and of interactions, and how Pascal writes them.
//!
//! In: the table of types. Out: values without content, range checks, and texts. A variable that
//! has no value yet holds [`Value::Undefined`] in each of its scalar parts.

use crate::types::estelle::program::{Program, Type, TypeId};
use serde_json::json;

/// A value.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// None: the variable was never assigned.
    Undefined,
    /// The ordinal number of an integer, a boolean, a character or an enumeration value.
    Ordinal(i64),
    /// A real number.
    Real(f64),
    /// The elements of an array, in the order of the index.
    Array(Vec<Value>),
    /// The fields of a record, also those of variants.
    Record(Vec<Value>),
    /// A set: one bit for each ordinal number from 0 to 255.
    Set(Box<[u64; 4]>),
}

impl Value {
    /// Returns a boolean.
    pub fn boolean(is_true: bool) -> Value {
        Value::Ordinal(i64::from(is_true))
    }

    /// Returns a string: an array of characters.
    pub fn text(bytes: &[u8]) -> Value {
        let letters = bytes.iter().map(|byte| Value::Ordinal(i64::from(*byte)));
        Value::Array(letters.collect())
    }

    /// Returns the number of scalar parts.
    pub fn size(&self) -> u64 {
        match self {
            Value::Undefined | Value::Ordinal(_) | Value::Real(_) | Value::Set(_) => 1,
            Value::Array(items) | Value::Record(items) => items.iter().map(Value::size).sum(),
        }
    }

    /// Returns the content of a variable that was never assigned.
    pub fn undefined(program: &Program, type_id: TypeId) -> Value {
        match &program.types[type_id.index()] {
            Type::Array { index, element, .. } => {
                let (low, high) = program.bounds(*index).unwrap_or((1, 0));
                let count = usize::try_from(high - low + 1).unwrap_or(0);
                Value::Array(vec![Value::undefined(program, *element); count])
            }
            Type::Record { fields } => {
                let fields = fields.iter();
                Value::Record(
                    fields
                        .map(|field| Value::undefined(program, field.kind))
                        .collect(),
                )
            }
            Type::Integer
            | Type::Real
            | Type::Boolean
            | Type::Char
            | Type::Enumeration { .. }
            | Type::Subrange { .. }
            | Type::Set(_)
            | Type::External(_) => Value::Undefined,
        }
    }

    /// Returns the text of the value as Pascal writes it, such as `(seq:1,body:'ab')`.
    pub fn show(&self, program: &Program, type_id: TypeId) -> String {
        let type_of = &program.types[type_id.index()];
        match (self, type_of) {
            (Value::Undefined, _) => "?".to_string(),
            (Value::Ordinal(number), _) => ordinal_text(program, type_id, *number),
            (Value::Real(number), _) => format!("{number:?}"),
            (Value::Array(items), Type::Array { element, .. }) => {
                if let Some(text) = self.as_text(program, type_id) {
                    return format!("'{}'", text.replace('\'', "''"));
                }
                let items = items.iter().map(|item| item.show(program, *element));
                format!("({})", items.collect::<Vec<_>>().join(","))
            }
            (Value::Record(items), Type::Record { fields }) => {
                let shown = |(at, item): (usize, &Value)| {
                    let text = item.show(program, fields[at].kind);
                    format!("{}:{text}", fields[at].name)
                };
                let held = items.iter().enumerate();
                let held = held.filter(|(at, _)| holds_field(type_of, items, *at));
                format!("({})", held.map(shown).collect::<Vec<_>>().join(","))
            }
            (Value::Set(set), Type::Set(base)) => set_text(program, *base, set),
            (Value::Array(_) | Value::Record(_) | Value::Set(_), _) => "?".to_string(),
        }
    }

    /// Returns the value as JSON: numbers, booleans, names, arrays, objects; null if undefined.
    pub fn json(&self, program: &Program, type_id: TypeId) -> serde_json::Value {
        let type_of = &program.types[type_id.index()];
        match (self, type_of) {
            (Value::Undefined, _) => serde_json::Value::Null,
            (Value::Ordinal(number), _) => match host(program, type_id) {
                Type::Integer => json!(number),
                Type::Boolean => json!(*number != 0),
                Type::Char => json!(letter(*number).to_string()),
                _ => json!(ordinal_text(program, type_id, *number)),
            },
            (Value::Real(number), _) => json!(number),
            (Value::Array(items), Type::Array { element, .. }) => {
                match self.as_text(program, type_id) {
                    Some(text) => json!(text),
                    None => items.iter().map(|it| it.json(program, *element)).collect(),
                }
            }
            (Value::Record(items), Type::Record { fields }) => {
                let held = items.iter().enumerate();
                let held = held.filter(|(at, _)| holds_field(type_of, items, *at));
                let member = |(at, item): (usize, &Value)| {
                    let value = item.json(program, fields[at].kind);
                    (fields[at].name.clone(), value)
                };
                serde_json::Value::Object(held.map(member).collect())
            }
            (Value::Set(set), Type::Set(base)) => {
                let members = members(set).map(|at| Value::Ordinal(at).json(program, *base));
                members.collect()
            }
            (Value::Array(_) | Value::Record(_) | Value::Set(_), _) => serde_json::Value::Null,
        }
    }

    /// Returns the text of a packed array of characters that all have a value.
    fn as_text(&self, program: &Program, type_id: TypeId) -> Option<String> {
        let Type::Array {
            element, is_packed, ..
        } = &program.types[type_id.index()]
        else {
            return None;
        };
        let is_text = *is_packed && matches!(host(program, *element), Type::Char);
        match self {
            Value::Array(items) if is_text => {
                let letters = items.iter().map(|item| match item {
                    Value::Ordinal(number) => Some(letter(*number)),
                    _ => None,
                });
                letters.collect()
            }
            _ => None,
        }
    }
}

/// A value with its two forms: text for people, JSON for programs.
#[derive(Clone, PartialEq, Debug)]
pub struct Shown {
    /// As Pascal writes it.
    pub text: String,
    /// As JSON has it.
    pub json: serde_json::Value,
}

impl Shown {
    /// Returns both forms of a value.
    pub fn of(program: &Program, value: &Value, type_id: TypeId) -> Shown {
        Shown {
            text: value.show(program, type_id),
            json: value.json(program, type_id),
        }
    }
}

impl serde::Serialize for Shown {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json.serialize(serializer)
    }
}

/// Returns the number of scalar parts of a variable, up to a bound.
pub fn cells(program: &Program, type_id: TypeId, bound: u64) -> u64 {
    match &program.types[type_id.index()] {
        Type::Array { index, element, .. } => {
            let (low, high) = program.bounds(*index).unwrap_or((1, 0));
            let count = u64::try_from(high - low + 1).unwrap_or(0);
            let each = match count {
                0 => 0,
                _ => cells(program, *element, bound),
            };
            count.saturating_mul(each).min(bound)
        }
        Type::Record { fields } => {
            let mut total: u64 = 0;
            for field in fields {
                total = total.saturating_add(cells(program, field.kind, bound));
            }
            total.min(bound)
        }
        Type::Integer
        | Type::Real
        | Type::Boolean
        | Type::Char
        | Type::Enumeration { .. }
        | Type::Subrange { .. }
        | Type::Set(_)
        | Type::External(_) => 1,
    }
}

/// Returns the text of an ordinal value, such as `true`, `red`, `'a'` or `12`.
pub fn ordinal_text(program: &Program, type_id: TypeId, number: i64) -> String {
    match host(program, type_id) {
        Type::Boolean => (if number == 0 { "false" } else { "true" }).to_string(),
        Type::Char if (32..=255).contains(&number) && number != 127 => match letter(number) {
            '\'' => "''''".to_string(),
            letter => format!("'{letter}'"),
        },
        Type::Char => format!("chr({number})"),
        Type::Enumeration { values, .. } => {
            let value = usize::try_from(number).ok().and_then(|at| values.get(at));
            value.cloned().unwrap_or_else(|| number.to_string())
        }
        _ => number.to_string(),
    }
}

/// Returns the members of a set, in ascending order.
pub fn members(set: &[u64; 4]) -> impl Iterator<Item = i64> + '_ {
    (0..256).filter(|at| set[(*at / 64) as usize] >> (*at % 64) & 1 == 1)
}

/// Returns true if a field stands in no variant, or in the variant that the tags select. A tag
/// may itself be a field of a variant.
pub fn holds_field(record: &Type, items: &[Value], mut at: usize) -> bool {
    let Type::Record { fields } = record else {
        return false;
    };
    while let Some((tag, values)) = fields.get(at).and_then(|field| field.variant.as_ref()) {
        match items.get(*tag) {
            Some(Value::Ordinal(number)) if values.contains(number) && *tag < at => at = *tag,
            _ => return false,
        }
    }
    true
}

/// The ordinal type itself, or the one of which it is a subrange.
fn host(program: &Program, type_id: TypeId) -> &Type {
    match &program.types[type_id.index()] {
        Type::Subrange { of, .. } => &program.types[of.index()],
        other => other,
    }
}

/// The Latin-1 character of a number.
fn letter(number: i64) -> char {
    char::from(number.clamp(0, 255) as u8)
}

/// `[red,green..blue]`
fn set_text(program: &Program, base: TypeId, set: &[u64; 4]) -> String {
    let mut runs: Vec<(i64, i64)> = Vec::new();
    for at in members(set) {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == at => *last = at,
            _ => runs.push((at, at)),
        }
    }
    let text = |at: i64| ordinal_text(program, base, at);
    let runs = runs.into_iter().map(|(first, last)| match last - first {
        0 => text(first),
        1 => format!("{},{}", text(first), text(last)),
        _ => format!("{}..{}", text(first), text(last)),
    });
    format!("[{}]", runs.collect::<Vec<_>>().join(","))
}
