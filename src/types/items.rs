//! Items that hold no state: constants, enums, types, records, functions, filters. In, the items
//! of a layer or of a file without one; out, entries in the tables of the program, and words in a
//! scope.
//!
//! Types and constants come first, since fields and joints need them; functions and filters read
//! fields, and come when those are known.

use super::body::{
    check_expression, check_filter, check_functions, check_value_type, declare_function,
};
use super::constant::{cut, fold, width};
use super::context::Context;
use super::expression::{Expression, ExpressionKind};
use super::load::{Files, UnitId};
use super::names::{not_constant, refuse_beside, refuse_repeated};
use super::program::{
    EntityId, Enum, EnumId, Field, FilterId, Function, FunctionId, Program, Record, RecordId,
};
use super::scope::{Named, Names, Scope};
use super::services::bare_scope;
use super::value::{Type, Value};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::loom::ast;
use std::collections::{BTreeMap, BTreeSet};

/// The words that files without a layer give to those that use them.
#[derive(Default)]
pub struct Words {
    visible: BTreeMap<UnitId, WordsOfUnit>,
}

struct WordsOfUnit {
    names: Names,
    types: BTreeMap<String, Type>,
    addresses: BTreeSet<String>,
}

impl Words {
    /// Declares and checks what stands in no layer, in the order in which files use each other.
    pub fn collect(context: &mut Context, files: &Files) -> Words {
        let mut words = Words::default();
        for unit in files.in_order_of_use() {
            let mut scope = bare_scope();
            for seen in files.visible(unit).into_iter().rev() {
                if let Some(known) = words.visible.get(&seen) {
                    let names = known.names.iter();
                    let names = names.map(|(word, named)| (word.clone(), named.clone()));
                    scope.names.extend(names);
                    scope.types.extend(known.types.clone());
                    scope.addresses.extend(known.addresses.clone());
                }
            }
            let items: Vec<_> = files.unit(unit).items.iter().collect();
            if !items.is_empty() {
                let file = context.sources.name(files.unit(unit).files[0]);
                let owner = file.trim_end_matches(".loom").rsplit('/').next();
                let owner = owner.unwrap_or_default().to_string();
                refuse_stateful(context, &items);
                declare_types(context, &mut scope, &items, &owner);
                let declared = declare_functions(context, &mut scope, &items);
                check_declared(context, &scope, &declared);
                declare_filters(context, &mut scope, &items);
            }
            let known = WordsOfUnit {
                names: scope.names,
                types: scope.types,
                addresses: scope.addresses,
            };
            words.visible.insert(unit, known);
        }
        words
    }

    /// What can be named in a unit before any layer is looked at.
    pub fn of_unit(&self, unit: UnitId) -> Scope {
        let mut scope = bare_scope();
        if let Some(known) = self.visible.get(&unit) {
            scope.names = known.names.clone();
            scope.types = known.types.clone();
            scope.addresses = known.addresses.clone();
        }
        scope
    }
}

/// Items that belong to a layer, in a file that has none.
fn refuse_stateful(context: &mut Context, items: &[&ast::Item]) {
    for item in items {
        let (span, what) = match item {
            ast::Item::Constant(_)
            | ast::Item::Type(_)
            | ast::Item::Enum(_)
            | ast::Item::Record(_)
            | ast::Item::Filter(_)
            | ast::Item::Function(_) => continue,
            ast::Item::Attribute(item) => (item.span, "an attribute"),
            ast::Item::Header(item) => (item.span, "a header"),
            ast::Item::Instance(item) => (item.span, "state"),
            ast::Item::Process(item) => (item.span, "a process"),
            ast::Item::Finder(item) => (item.span, "a finder"),
            ast::Item::Handler(item) => (item.span, "a handler"),
        };
        let title = format!("{what} must belong to a layer");
        context.report(
            Diagnostic::error(Id::NoLayer, title, span, "")
                .why(
                    "A file without a layer may declare only constants, types, functions and \
                    filters.",
                )
                .help("add `worker NAME` before it, or move it into the file of a layer"),
        );
        // All others lack the same line.
        return;
    }
}

/// Constants, enums, types and records of one layer or file, and words for them.
pub fn declare_types(context: &mut Context, scope: &mut Scope, items: &[&ast::Item], owner: &str) {
    for item in items {
        if let ast::Item::Enum(source) = item {
            let id = declare_enum(context, scope, owner, source);
            scope.types.insert(source.name.text.clone(), Type::Enum(id));
        }
    }
    for item in items {
        if let ast::Item::Constant(source) = item {
            let value = constant(context, scope, source);
            scope
                .names
                .insert(source.name.text.clone(), Named::Value(value));
        }
    }
    for item in items {
        let ast::Item::Type(source) = item else {
            continue;
        };
        let name = source.name.text.clone();
        if source.external {
            let id = RecordId(context.program.records.len() as u32);
            context.program.records.push(Record {
                name: name.clone(),
                owner: owner.to_string(),
                fields: Vec::new(),
                external: true,
            });
            scope.types.insert(name, Type::Record(id));
        } else if let Some(of) = &source.of {
            if scope.means_address(of) {
                scope.addresses.insert(name.clone());
            }
            let of = check_value_type(context, scope, of);
            scope.types.insert(name, of);
        }
    }
    for item in items {
        if let ast::Item::Record(source) = item {
            let id = declare_record(context, scope, owner, source);
            scope
                .types
                .insert(source.name.text.clone(), Type::Record(id));
        }
    }
}

/// Adds an enum to the program.
pub fn declare_enum(
    context: &mut Context,
    scope: &Scope,
    owner: &str,
    source: &ast::Enum,
) -> EnumId {
    refuse_repeated(
        source
            .values
            .iter()
            .map(|value| &value.name)
            .chain(&source.otherwise),
        context.diagnostics,
    );
    let of = check_value_type(context, scope, &source.of);
    let bits = if let Type::Unsigned(bits) = of {
        bits
    } else {
        let title = format!("the type of `{}` is not an unsigned number", source.name);
        context.report(
            Diagnostic::error(Id::BadEnum, title, source.of.span, "")
                .why("The type of an enum is one of `u1` to `u64`."),
        );
        8
    };
    let mut names: Vec<(String, u64)> = Vec::new();
    for value in &source.values {
        let next = names.last().map_or(0, |(_, last)| last.wrapping_add(1));
        let number = match &value.number {
            None => next,
            Some(number) => {
                let checked = check_expression(context, scope, number, Some(&of));
                constant_number(context, &checked, number, "the number of a name").unwrap_or(next)
            }
        };
        let repeated = names.iter().any(|(_, other)| *other == number);
        if repeated || cut(context.program, &Type::Unsigned(bits), number) != number {
            let title = match repeated {
                true => format!("another name of `{}` has the number {number}", source.name),
                false => format!("{number} does not fit into {bits} bits"),
            };
            context.report(Diagnostic::error(Id::BadEnum, title, value.span, "").why(
                "Each name of an enum has its own number, which fits into the type of the enum.",
            ));
        }
        names.push((value.name.text.clone(), number));
    }
    let id = EnumId(context.program.enums.len() as u32);
    context.program.enums.push(Enum {
        name: source.name.text.clone(),
        owner: owner.to_string(),
        names,
        other: source.otherwise.as_ref().map(|name| name.text.clone()),
        width: bits,
    });
    id
}

/// How many values a record may hold, with all that is in it: each of them is written by itself
/// where a record is copied, compared and told of.
const MOST_VALUES: usize = 2_000;

/// How many values something of a type holds.
fn values(program: &Program, kind: &Type) -> usize {
    match kind {
        Type::Record(id) => {
            let fields = program.records[id.at()].fields.iter();
            let each = fields.map(|field| values(program, &field.kind));
            each.fold(1, usize::saturating_add)
        }
        Type::Optional(inner) => values(program, inner).saturating_add(1),
        _ => 1,
    }
}

fn declare_record(
    context: &mut Context,
    scope: &Scope,
    owner: &str,
    source: &ast::Record,
) -> RecordId {
    let names = source.fields.iter().map(|field| &field.name);
    refuse_repeated(names, context.diagnostics);
    let mut fields = fields(context, scope, &source.fields, check_value_type);
    let values = fields.iter().map(|it| values(context.program, &it.kind));
    let values = values.fold(0, usize::saturating_add);
    if values > MOST_VALUES {
        let title = format!("a `{}` holds more than {MOST_VALUES} values", source.name);
        let (id, span) = (Id::BadCapacity, source.name.span);
        context.report(
            Diagnostic::error(id, title, span, "including the values of its records")
                .help("use an `array` or a child for repeated values"),
        );
        fields.clear();
    }
    let id = RecordId(context.program.records.len() as u32);
    context.program.records.push(Record {
        name: source.name.text.clone(),
        owner: owner.to_string(),
        fields,
        external: false,
    });
    let record = id;
    for (place, field) in source.fields.iter().enumerate() {
        let Some(start) = field.start.as_ref().filter(|_| values <= MOST_VALUES) else {
            continue;
        };
        let kind = context.program.records[record.at()].fields[place]
            .kind
            .clone();
        let initial = check_expression(context, scope, start, Some(&kind));
        let is_known = initial.result == Type::Nothing || fold(context.program, &initial).is_some();
        if !is_known && !scope.alone {
            let what = format!("what `{}` begins as", source.fields[place].name);
            context.report(not_constant(start.span, &what));
        }
        context.program.records[record.at()].fields[place].initial = Some(initial);
    }
    id
}

/// What a record begins as, where a field of it says more than zero or none.
pub fn beginning(program: &Program, record: RecordId) -> Option<Value> {
    let fields = &program.records[record.at()].fields;
    let given = |field: &Field| match (&field.initial, &field.kind) {
        (Some(initial), _) => fold(program, initial),
        (None, Type::Record(inner)) => beginning(program, *inner),
        (None, _) => None,
    };
    let given: Vec<Option<Value>> = fields.iter().map(given).collect();
    let all = fields.iter().zip(given);
    let all = all.map(|(field, value)| value.unwrap_or_else(|| zero(program, &field.kind)));
    let begins: Vec<Value> = all.collect();
    let nothing = fields.iter().map(|field| zero(program, &field.kind));
    let says_more = !nothing.eq(begins.iter().cloned());
    says_more.then_some(Value::Record(begins))
}

/// What nothing was written to.
/// What is all zero in memory.
pub fn zero(program: &Program, of: &Type) -> Value {
    match of {
        Type::Bytes(size) => Value::Bytes(vec![0; *size as usize]),
        Type::BoundedBytes(_) => Value::Bytes(Vec::new()),
        Type::Optional(_) => Value::None,
        Type::Record(record) => {
            let fields = program.records[record.at()].fields.iter();
            Value::Record(fields.map(|field| zero(program, &field.kind)).collect())
        }
        _ => Value::Number(0),
    }
}

/// Adds an enum that has no name to the program: its values count from 0, in order of writing.
pub fn declare_inline(
    context: &mut Context,
    entity: EntityId,
    names: &[ast::Name],
    span: Span,
) -> Type {
    refuse_repeated(names, context.diagnostics);
    let Some(first) = names.first() else {
        let title = "an enum needs at least one value";
        context.report(Diagnostic::error(Id::BadEnum, title, span, "no values"));
        return Type::Nothing;
    };
    let id = EnumId(context.program.enums.len() as u32);
    let owner = context.program.entities.get(entity.at());
    let numbered = names
        .iter()
        .zip(0..)
        .map(|(name, at)| (name.text.clone(), at));
    let declared = Enum {
        name: first.text.clone(),
        owner: owner.map(|entity| entity.name.clone()).unwrap_or_default(),
        names: numbered.collect(),
        other: None,
        width: if names.len() <= 256 { 8 } else { 16 },
    };
    context.program.enums.push(declared);
    Type::Enum(id)
}

/// Fields with their types; what they begin as is checked later.
pub fn fields(
    context: &mut Context,
    scope: &Scope,
    sources: &[ast::Field],
    of: fn(&mut Context, &Scope, &ast::Type) -> Type,
) -> Vec<Field> {
    let names = sources.iter().map(|source| &source.name);
    let field = |source: &ast::Field| {
        let known = context.program.enums.len();
        let kind = of(context, scope, &source.of);
        // An enum that has no name of its own is called as its field is.
        for new in &mut context.program.enums[known..] {
            new.name = source.name.text.clone();
        }
        Field {
            name: source.name.text.clone(),
            kind,
            initial: None,
            once: source.once,
            has_gaps: false,
        }
    };
    let fields: Vec<Field> = sources.iter().map(field).collect();
    let kinds = fields.iter().map(|field| &field.kind);
    refuse_beside(names.zip(kinds), context.diagnostics);
    fields
}

fn constant(context: &mut Context, scope: &Scope, source: &ast::Constant) -> Expression {
    let of = source
        .of
        .as_ref()
        .map(|of| check_value_type(context, scope, of));
    let value = check_expression(context, scope, &source.value, of.as_ref());
    match fold(context.program, &value) {
        Some(folded) => constant_expression(folded, value.result),
        None => {
            if value.result != Type::Nothing && !scope.alone {
                let what = format!("`{}`", source.name);
                context.report(not_constant(source.value.span, &what));
            }
            value
        }
    }
}

/// A value in place of an expression.
pub fn constant_expression(value: Value, result: Type) -> Expression {
    Expression {
        kind: Box::new(ExpressionKind::Constant(value)),
        result,
    }
}

/// The number of an expression that must be constant; reports it if it is not.
pub fn constant_number(
    context: &mut Context,
    value: &Expression,
    source: &ast::Expression,
    what: &str,
) -> Option<u64> {
    let folded = super::constant::fold_number(context.program, value);
    let is_number = width(context.program, &value.result).is_some();
    if folded.is_none() && (is_number || value.result != Type::Nothing) {
        context.report(not_constant(source.span, what));
    }
    folded
}

/// A function whose body waits until all it may call are declared.
pub struct DeclaredFunction<'a> {
    /// Its place in the program.
    pub id: FunctionId,
    /// As it is written.
    pub source: &'a ast::Function,
}

/// Signatures of all functions among some items, and words for them.
pub fn declare_functions<'a>(
    context: &mut Context,
    scope: &mut Scope,
    items: &[&'a ast::Item],
) -> Vec<DeclaredFunction<'a>> {
    let mut declared = Vec::new();
    for item in items {
        if let ast::Item::Function(source) = item {
            let id = declare(context, scope, source);
            declared.push(DeclaredFunction { id, source });
        }
    }
    declared
}

/// Adds one function to the program, and a word for it.
pub fn declare(context: &mut Context, scope: &mut Scope, source: &ast::Function) -> FunctionId {
    let function: Function = declare_function(context, scope, source);
    let id = FunctionId(context.program.functions.len() as u32);
    context.program.functions.push(function);
    let name = source.name.text.clone();
    scope.names.insert(name, Named::Function(id));
    id
}

/// Bodies of functions that were declared.
fn check_declared(context: &mut Context, scope: &Scope, declared: &[DeclaredFunction]) {
    let seen: Vec<_> = declared
        .iter()
        .map(|function| (function.id, scope, function.source))
        .collect();
    check_functions(context, &seen);
}

/// All filters among some items, and words for them.
pub fn declare_filters(context: &mut Context, scope: &mut Scope, items: &[&ast::Item]) {
    for item in items {
        if let ast::Item::Filter(source) = item
            && let Some(filter) = check_filter(context, scope, source)
        {
            let id = FilterId(context.program.filters.len() as u32);
            context.program.filters.push(filter);
            let name = source.name.text.clone();
            scope.names.insert(name, Named::Filter(id));
        }
    }
}
