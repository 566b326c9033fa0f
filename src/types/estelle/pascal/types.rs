//! Types of declarations.
//!
//! In: `array [1..4] of colour`. Out: an entry of [`Program::types`], of bounded size and depth.
//!
//! [`Program::types`]: super::super::program::Program::types

use super::super::checker::{Checker, ELEMENTS};
use super::super::program::{Expression, Field, Type, TypeId};
use super::super::scope::Meaning;
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::estelle::ast::{self, Name, TypeKind};
use std::collections::{BTreeMap, BTreeSet};

/// Types nest at most so deep, by their names or not.
const DEPTH: u32 = 100;

/// The most values of a set.
const SET: i64 = 256;

/// The fields of a record while they are collected.
#[derive(Default)]
struct Record {
    fields: Vec<Field>,
    places: BTreeMap<String, Span>,
}

/// The tag field around a field, and the tag values with it.
type Condition = Option<(usize, Vec<i64>)>;

impl Checker<'_> {
    /// Declares a type.
    pub fn type_declaration(&mut self, tree: &ast::TypeDeclaration) {
        let name = &tree.name;
        let id = match &tree.definition {
            Some(definition) => self.type_of(definition),
            None => self.open_type(name),
        };
        if let Some(id) = id {
            let facts = &mut self.types[id.index()];
            facts.name.get_or_insert_with(|| name.text.clone());
            if let Type::Enumeration { name: own, .. } = &mut self.program.types[id.index()]
                && own.is_empty()
            {
                *own = name.text.clone();
            }
        }
        self.declare(name, id.map_or(Meaning::Refused, Meaning::Type));
    }

    /// A type that C code defines.
    fn open_type(&mut self, name: &Name) -> Option<TypeId> {
        if !self.settings.externs {
            let title = format!("the type `{}` is left open", name.text);
            let open = Diagnostic::error(Id::EstelleOpenType, title, name.span, "defined by `..`");
            let open = open.why("C code defines such a type, so the tool cannot run it alone.");
            self.report(open.help("write its definition, or add `--externs`"));
            return None;
        }
        Some(self.add_type(Type::External(name.text.clone())))
    }

    /// Checks a type.
    pub fn type_of(&mut self, tree: &ast::Type) -> Option<TypeId> {
        let id = match &tree.kind {
            TypeKind::Named(name) => return self.named_type(name),
            TypeKind::Enumeration(names) => self.enumeration(names),
            TypeKind::Subrange(low, high) => self.subrange(low, high, tree.span)?,
            TypeKind::Array {
                indices,
                element,
                is_packed,
            } => self.array(indices, element, *is_packed)?,
            TypeKind::Record(fields) => {
                let mut record = Record::default();
                self.fields(fields, &None, &mut record)?;
                let fields = record.fields;
                self.add_type(Type::Record { fields })
            }
            TypeKind::Set(base) => {
                let base_type = self.ordinal_type(base)?;
                self.set_base(base_type, base.span)?;
                self.add_type(Type::Set(base_type))
            }
        };
        self.bounded(id, tree.span)
    }

    /// Finds a type by its name.
    pub fn named_type(&mut self, name: &Name) -> Option<TypeId> {
        const FILES: &str = "text";
        if name.key() == FILES && self.scopes.find(FILES).is_none() {
            self.omitted(
                name,
                Id::EstelleFiles,
                "send interactions to the environment instead",
            );
            return None;
        }
        match self.resolve(name, "a type")? {
            Meaning::Type(id) => Some(id),
            other => {
                self.wrong_meaning(name, &other, "a type");
                None
            }
        }
    }

    /// Reports a part of Pascal that is left out.
    pub fn omitted(&mut self, name: &Name, id: Id, advice: &str) {
        let title = format!("`{}` is not available", name.text);
        let omitted = Diagnostic::error(id, title, name.span, "not available");
        let omitted = omitted.why("An instance has bounded memory and meets only its channels.");
        self.report(omitted.help(advice.to_string()));
    }

    /// Checks a type that must be ordinal.
    pub fn ordinal_type(&mut self, tree: &ast::Type) -> Option<TypeId> {
        let id = self.type_of(tree)?;
        if self.range(id).is_some() {
            return Some(id);
        }
        let title = format!("{} is no ordinal type", self.name_of(id));
        let mut wrong = Diagnostic::error(Id::EstelleTypeMismatch, title, tree.span, "not ordinal");
        wrong = wrong.why(
            "Ordinal types have a first value and a next one: `integer`, `boolean`, `char`, \
             enumerations and subranges.",
        );
        self.report(wrong.help("write a subrange such as `1..4`, or an enumeration"));
        None
    }

    fn enumeration(&mut self, names: &[Name]) -> TypeId {
        let values = names.iter().map(|name| name.text.clone()).collect();
        let name = String::new();
        let id = self.add_type(Type::Enumeration { name, values });
        for (at, name) in names.iter().enumerate() {
            let value = Expression::ordinal(at as i64, id, name.span);
            self.declare(name, Meaning::Constant(value));
        }
        id
    }

    fn subrange(
        &mut self,
        low: &ast::Expression,
        high: &ast::Expression,
        span: Span,
    ) -> Option<TypeId> {
        let first = self.ordinal_constant(low);
        let last = self.ordinal_constant(high);
        let ((first, of), (last, of_last)) = (first?, last?);
        if of != of_last {
            let names = (self.name_of(of), self.name_of(of_last));
            let title = format!("the bounds are of two types: {} and {}", names.0, names.1);
            let wrong = Diagnostic::error(Id::EstelleTypeMismatch, title, high.span, names.1);
            let wrong = wrong.label(low.span, names.0);
            let wrong = wrong.why("Both bounds of a subrange have one ordinal type.");
            self.report(wrong.help("use two constants of one type"));
            return None;
        }
        if first > last {
            let title = "this subrange has no values";
            let wrong = Diagnostic::error(Id::EstelleOutOfRange, title, span, "first above last");
            let wrong = wrong.why("The first value of a subrange is not above its last value.");
            self.report(wrong.help("exchange the bounds"));
            return None;
        }
        Some(self.add_type(Type::Subrange {
            of,
            low: first,
            high: last,
        }))
    }

    fn array(
        &mut self,
        indices: &[ast::Type],
        element: &ast::Type,
        is_packed: bool,
    ) -> Option<TypeId> {
        let indices: Vec<_> = indices.iter().map(|it| self.ordinal_type(it)).collect();
        let mut element = self.type_of(element)?;
        for index in indices.into_iter().rev() {
            element = self.add_type(Type::Array {
                index: index?,
                element,
                is_packed,
            });
        }
        Some(element)
    }

    fn fields(
        &mut self,
        tree: &ast::Fields,
        condition: &Condition,
        record: &mut Record,
    ) -> Option<()> {
        let mut is_right = true;
        for variables in &tree.fixed {
            let Some(kind) = self.type_of(&variables.kind) else {
                is_right = false;
                continue;
            };
            for name in &variables.names {
                self.field(name, kind, condition, record);
            }
        }
        if let Some(variants) = &tree.variants {
            self.variants(variants, condition, record)?;
        }
        is_right.then_some(())
    }

    fn field(&mut self, name: &Name, kind: TypeId, condition: &Condition, record: &mut Record) {
        if let Some(earlier) = record.places.insert(name.key(), name.span) {
            self.name_taken(name, Some(earlier));
        }
        record.fields.push(Field {
            name: name.text.clone(),
            kind,
            variant: condition.clone(),
        });
    }

    fn variants(
        &mut self,
        tree: &ast::Variants,
        condition: &Condition,
        record: &mut Record,
    ) -> Option<()> {
        let kind = self.named_type(&tree.kind)?;
        if self.range(kind).is_none() {
            let title = format!(
                "the tag has the type {}, which is not ordinal",
                self.name_of(kind)
            );
            let id = Id::EstelleTypeMismatch;
            let wrong = Diagnostic::error(id, title, tree.kind.span, "not ordinal");
            let wrong = wrong.why("The value of the tag selects one of the listed variants.");
            self.report(wrong.help("use an enumeration or a subrange"));
            return None;
        }
        let tag = tree.tag.as_ref().map(|tag| {
            self.field(tag, kind, condition, record);
            record.fields.len() - 1
        });
        let mut is_right = true;
        let mut seen = BTreeSet::new();
        for (labels, fields) in &tree.cases {
            let values = self.labels(labels, kind, &mut seen);
            is_right &= values.is_some();
            let inner = match tag {
                Some(tag) => Some((tag, values.unwrap_or_default())),
                None => condition.clone(),
            };
            is_right &= self.fields(fields, &inner, record).is_some();
        }
        is_right.then_some(())
    }

    /// Checks the labels of a case: constants of a type, each once.
    pub fn labels(
        &mut self,
        labels: &[ast::Expression],
        kind: TypeId,
        seen: &mut BTreeSet<i64>,
    ) -> Option<Vec<i64>> {
        let mut values = Vec::new();
        let mut is_right = true;
        for label in labels {
            let value = self.constant(label);
            let value = value.and_then(|value| self.assigned(value, kind));
            let value = value.and_then(|value| self.known(&value, &[]));
            let Some(super::Literal::Ordinal(value)) =
                value.and_then(|value| super::fold(&value, &[]).ok())
            else {
                is_right = false;
                continue;
            };
            if !seen.insert(value) {
                let title = "this label stands in the `case` already";
                let id = Id::EstelleCaseLabel;
                let twice = Diagnostic::error(id, title, label.span, "again");
                let twice = twice.why("Each value selects at most one case.");
                self.report(twice.help("remove one of the two labels"));
                is_right = false;
            }
            values.push(value);
        }
        is_right.then_some(values)
    }

    /// Checks that the values of a type fit into a set.
    pub fn set_base(&mut self, base: TypeId, span: Span) -> Option<()> {
        let (low, high) = self.range(base)?;
        if low >= 0 && high < SET {
            return Some(());
        }
        let title = format!("a set of {} is too large", self.name_of(base));
        let label = format!("ordinal numbers {low} to {high}");
        let large = Diagnostic::error(Id::EstelleSetTooLarge, title, span, label);
        let large = large.why("The values of a set have ordinal numbers from 0 to 255.");
        self.report(large.help("use a subrange such as `0..255`, or an array of `boolean`"));
        None
    }

    /// Checks the size and the depth of a type.
    fn bounded(&mut self, id: TypeId, span: Span) -> Option<TypeId> {
        let facts = &self.types[id.index()];
        if facts.elements > ELEMENTS {
            let label = match facts.elements {
                u64::MAX => "too many elements to count".to_string(),
                elements => format!("{elements} elements"),
            };
            let title = "this type is too large";
            let large = Diagnostic::error(Id::EstelleTooLarge, title, span, label);
            let large = large.why(format!(
                "A variable has at most {ELEMENTS} elements in all."
            ));
            self.report(large.help("use smaller subranges as index types"));
            return None;
        }
        if facts.depth > DEPTH {
            let title = "this type nests too deeply";
            let label = format!("{} types in each other", facts.depth);
            let deep = Diagnostic::error(Id::NestedTooDeeply, title, span, label);
            let deep = deep.why(format!("Types nest at most {DEPTH} deep."));
            self.report(deep.help("use fewer records and arrays in each other"));
            return None;
        }
        Some(id)
    }

    /// Returns the name of a type for a report, with backticks.
    pub fn name_of(&self, id: TypeId) -> String {
        match &self.types[id.index()].name {
            Some(name) => format!("`{name}`"),
            None => format!("`{}`", self.written(id, 3)),
        }
    }

    /// Writes a type as Pascal does, down to a depth.
    fn written(&self, id: TypeId, depth: u32) -> String {
        if let Some(name) = &self.types[id.index()].name {
            return name.clone();
        }
        let Some(depth) = depth.checked_sub(1) else {
            return "…".to_string();
        };
        match self.kind(id) {
            Type::Integer | Type::Real | Type::Boolean | Type::Char => "…".to_string(),
            Type::Enumeration { values, .. } => match &values[..] {
                [first, second, _, ..] => format!("({first}, {second}, …)"),
                few => format!("({})", few.join(", ")),
            },
            Type::Subrange { of, low, high } => {
                format!("{}..{}", self.value(*low, *of), self.value(*high, *of))
            }
            Type::Array {
                index,
                element,
                is_packed,
            } => {
                let packed = if *is_packed { "packed " } else { "" };
                let (index, element) = (self.written(*index, depth), self.written(*element, depth));
                format!("{packed}array [{index}] of {element}")
            }
            Type::Record { .. } => "record … end".to_string(),
            Type::Set(_) if id == self.empty_set => "[]".to_string(),
            Type::Set(base) => format!("set of {}", self.written(*base, depth)),
            Type::External(name) => name.clone(),
        }
    }

    /// Writes a value of an ordinal type as Pascal does.
    pub fn value(&self, value: i64, kind: TypeId) -> String {
        match self.kind(self.host(kind)) {
            Type::Boolean => (value != 0).to_string(),
            Type::Char => match u8::try_from(value).map(char::from) {
                Ok('\'') => "''''".to_string(),
                Ok(letter) if !letter.is_control() => format!("'{letter}'"),
                _ => format!("chr({value})"),
            },
            Type::Enumeration { values, .. } => {
                let name = usize::try_from(value).ok().and_then(|at| values.get(at));
                name.cloned().unwrap_or_else(|| value.to_string())
            }
            Type::Integer
            | Type::Real
            | Type::Subrange { .. }
            | Type::Array { .. }
            | Type::Record { .. }
            | Type::Set(_)
            | Type::External(_) => value.to_string(),
        }
    }
}
