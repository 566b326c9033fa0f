//! Headers that are put before messages.
//!
//! In: the values that a `send` gives. Out: statements that write the header as it would be written
//! by hand: room first, then its fields in the order of the wire, its options, counts and sums.

use super::layout::c_type;
use super::options::{self, Written};
use super::scope::Scope;
use super::straight::is_straight;
use super::sums::sum_call;
use super::wire::{add_bits, covered, fills_bytes, less, literal, optional, start, store};
use crate::c::tree::{Expression as C, Statement, atom, binary, call_statement, conditional};
use crate::types::expression::{Expression, ExpressionKind};
use crate::types::header::{Header, HeaderField, Rule};
use crate::types::program::{HeaderFieldId, HeaderId, LocalId};
use crate::types::value::Type;

/// A header that is being written.
struct Push<'p> {
    id: HeaderId,
    header: &'p Header,
    message: LocalId,
    /// What each field is given.
    values: &'p [(HeaderFieldId, Expression)],
    /// Those that were computed before anything was written.
    early: Vec<(HeaderFieldId, C)>,
    /// The options that are written.
    options: Vec<Written<'p>>,
    /// Whether fields of it may be missing, which is known when those before them are written.
    loose: bool,
}

/// The statements that put a header before a message whose attributes are set.
pub fn push(
    scope: &mut Scope,
    message: LocalId,
    id: HeaderId,
    values: &[(HeaderFieldId, Expression)],
) -> Vec<Statement> {
    let stack = scope.stack;
    let header = &stack.program.headers[id.at()];
    let mut push = Push {
        id,
        header,
        message,
        values,
        early: Vec::new(),
        options: Vec::new(),
        loose: header.fields.iter().any(HeaderField::is_loose),
    };
    scope.message = Some(message);
    let mut statements = Vec::new();
    push.options(scope, &mut statements);
    push.values_before(scope, &mut statements);
    let data = scope.of_message(message, "data");
    let length = scope.of_message(message, "length");
    if push.loose {
        let most = atom(header.most.to_string());
        statements.push(Statement::Assign(data.clone(), "-=", most));
    } else {
        push.size(scope, &mut statements);
        let size = scope.header_size.clone().expect("its size is known");
        statements.push(Statement::Assign(data.clone(), "-=", size.clone()));
        statements.push(Statement::Assign(length.clone(), "+=", size));
    }
    let before = scope.headers.insert(id, data.clone());
    scope.writes = Some(id);
    push.fields(scope, &mut statements);
    if push.loose {
        push.size(scope, &mut statements);
    }
    push.write_options(scope, &mut statements);
    if push.loose {
        push.close_up(scope, &mut statements);
    }
    push.write_sums(scope, &mut statements);
    scope.header_size = None;
    scope.writes = None;
    scope.parts.clear();
    scope.headers.remove(&id);
    if let Some(old) = before {
        scope.headers.insert(id, old);
    }
    statements
}

impl Push<'_> {
    /// The options that are written, and when.
    fn options(&mut self, scope: &mut Scope, statements: &mut Vec<Statement>) {
        let cases = self
            .header
            .options
            .iter()
            .flat_map(|options| &options.cases);
        for case in cases {
            let given = self.values.iter().find(|(id, _)| *id == case.itself());
            let Some((_, there)) = given else { continue };
            let condition = if options::always(there) {
                None
            } else {
                let called = format!("with_{}", self.header.field(case.itself()).name);
                let name = scope.taken.take(&called);
                statements.push(Statement::Declare {
                    kind: "const bool".to_string(),
                    name: name.clone(),
                    value: Some(scope.value(there)),
                });
                Some(atom(name))
            };
            self.options.push(Written { case, condition });
        }
    }

    /// Values that read the message are taken before its new header is written.
    fn values_before(&mut self, scope: &mut Scope, statements: &mut Vec<Statement>) {
        for (id, value) in self.values {
            let field = self.header.field(*id);
            let is_part = field.bound().is_some();
            if self.header.is_option(*id) || !is_part && !reads_message(value) {
                continue;
            }
            let name = scope.taken.take(&field.name.replace('.', "_"));
            let option = self.header.option_of(*id);
            let mut options = self.options.iter();
            let written = options.find(|one| Some(one.case.value) == option.map(|of| of.value));
            let condition = written.and_then(|written| written.condition.clone());
            let stored = scope.stored(value);
            let stored = match condition.filter(|_| !matches!(field.kind, Type::Bytes(_))) {
                Some(condition) => conditional(condition, stored, atom("0")),
                None => stored,
            };
            statements.push(Statement::Declare {
                kind: format!("const {}", c_type(scope.stack, &field.kind)),
                name: name.clone(),
                value: Some(stored),
            });
            if is_part {
                scope.parts.insert(*id, self.room(*id, &name));
            }
            self.early.push((*id, atom(name)));
        }
    }

    /// Bytes of a part with a bound, in whole units of its count.
    fn room(&self, part: HeaderFieldId, name: &str) -> C {
        let length = atom(name).member("length");
        let counter = self.header.part_counter(part.at());
        match counter.map_or(1, |counter| counter.unit) {
            1 => length,
            unit => {
                let number = |number: u32| atom(number.to_string());
                let units = binary("+", length, number(unit - 1));
                binary("*", binary("/", units, number(unit)), number(unit)).cast("size_t")
            }
        }
    }

    /// How long the header will be, in whole units of its count.
    fn size(&self, scope: &mut Scope, statements: &mut Vec<Statement>) {
        let always = self.options.iter().filter(|one| one.condition.is_none());
        let fixed = self.header.least + always.map(|one| one.case.least).sum::<u32>();
        let counter = self.header.counter();
        let unit = counter.as_ref().map_or(1, |counter| counter.unit);
        let filled = self.header.options.is_some() && unit > 1;
        let outside = counter.as_ref();
        let outside = outside.map_or(0, |counter| self.header.fixed_outside(counter));
        let at_times = self.options.iter().filter(|one| one.condition.is_some());
        let at_times: Vec<C> = at_times.map(options::bytes).collect();
        if !self.loose && at_times.is_empty() {
            let size = match filled {
                true => outside + (fixed - outside).next_multiple_of(unit),
                false => fixed,
            };
            scope.header_size = Some(atom(size.to_string()));
            return;
        }
        let sum = |first: C| {
            at_times
                .iter()
                .cloned()
                .fold(first, |all, one| binary("+", all, one))
        };
        let all = sum(optional(scope, self.id, fixed, &|_| self.loose));
        let size = match counter.filter(|_| filled) {
            None => all,
            Some(counter) => {
                let rest = optional(scope, self.id, outside, &|at| {
                    self.loose && !counter.covers(at)
                });
                let number = |number: u32| atom(number.to_string());
                let inside = match literal(&rest) {
                    Some(rest) => sum(optional(
                        scope,
                        self.id,
                        fixed + unit - 1 - rest as u32,
                        &|_| self.loose,
                    )),
                    None => {
                        let all = binary("-", all, rest.clone());
                        binary("+", all, number(unit - 1))
                    }
                };
                let whole = binary("*", binary("/", inside, number(unit)), number(unit));
                match literal(&rest) {
                    Some(0) => whole,
                    _ => binary("+", rest, whole),
                }
            }
        };
        let name = scope.taken.take("size");
        statements.push(Statement::Declare {
            kind: "const uint32_t".to_string(),
            name: name.clone(),
            value: Some(size.cast("uint32_t")),
        });
        scope.header_size = Some(atom(name));
    }

    fn fields(&self, scope: &mut Scope, statements: &mut Vec<Statement>) {
        let data = scope.of_message(self.message, "data");
        let mut pieces: Vec<(&HeaderField, C)> = Vec::new();
        for (at, field) in self.header.fields.iter().enumerate() {
            let id = HeaderFieldId(at as u32);
            if let (Some(_), Some(C::Atom(name))) = (field.bound(), self.given(scope, id)) {
                let place = start(scope, self.id, field, &data);
                let bytes = vec![place, atom(name).member("at"), scope.parts[&id].clone()];
                statements.push(call_statement("memcpy", bytes));
                continue;
            }
            if field.width == 0 || self.is_summed_later(scope, at) {
                continue;
            }
            let value = match self.given(scope, id) {
                Some(value) => value,
                None => self.computed(scope, at, field),
            };
            pieces.push((field, value));
            if (field.bit + field.width).is_multiple_of(8) {
                let at = start(scope, self.id, pieces[0].0, &data);
                let stored = store(scope, self.header, at, &pieces);
                pieces.clear();
                statements.extend(where_present(scope, field, stored));
            }
        }
        assert!(pieces.is_empty(), "a header ends with a whole byte");
    }

    /// Whether a field is a sum that nothing reads before it is written.
    fn is_summed_later(&self, scope: &Scope, at: usize) -> bool {
        let fields = self.header.fields.iter();
        let sums = fields.filter(|field| matches!(field.rule, Rule::Checks { .. }));
        is_straight(scope.stack, self.id, at) && sums.count() == 1
    }

    /// What a field is given, if it is.
    fn given(&self, scope: &Scope, id: HeaderFieldId) -> Option<C> {
        if let Some((_, known)) = self.early.iter().find(|(one, _)| *one == id) {
            return Some(known.clone());
        }
        let given = self.values.iter().find(|(one, _)| *one == id);
        given.map(|(_, value)| scope.stored(value))
    }

    /// What a field is written as that nobody sets, before the sums are known.
    fn computed(&self, scope: &Scope, at: usize, field: &HeaderField) -> C {
        match &field.rule {
            Rule::Default(value) => scope.stored(value),
            Rule::Is(value) => scope.constant(value, &field.kind),
            Rule::Given | Rule::Checks { .. } => atom("0"),
            Rule::Counts { ranges, unit } if self.counts_part_alone(at) => {
                // What stands behind the part has its place by this.
                let fixed = self.header.fixed_inside(ranges);
                let bytes = optional(scope, self.id, fixed, &|place| ranges.covers(place));
                self.units(scope, field, bytes, *unit)
            }
            // All is counted when it is known what is missing.
            Rule::Counts { .. } if self.loose => atom("0"),
            Rule::Counts { .. } => self.count(scope, field),
        }
    }

    /// What a field counts of the header, or of the message with it.
    fn count(&self, scope: &Scope, field: &HeaderField) -> C {
        let Rule::Counts { ranges, unit } = &field.rule else {
            unreachable!("only what counts is counted");
        };
        let size = scope.header_size.clone().expect("its size is known");
        let length = scope.of_message(self.message, "length");
        let covered = covered(scope, self.id, ranges, size.clone());
        let counted = match ranges.has_data() {
            true => less(length, less(size, covered)),
            false => covered,
        };
        if let Some(bytes) = literal(&counted) {
            return atom((bytes / u64::from(*unit)).to_string());
        }
        self.units(scope, field, counted, *unit)
    }

    /// Whether a field counts a part with a bound, and nothing that may be missing.
    fn counts_part_alone(&self, at: usize) -> bool {
        let counter = self.header.part_of(at);
        let counter = counter.and_then(|part| self.header.part_counter(part));
        counter.is_some_and(|counter| !self.header.counts_optional(&counter))
    }

    /// Some bytes in the units of a count.
    fn units(&self, scope: &Scope, field: &HeaderField, counted: C, unit: u32) -> C {
        let units = match unit {
            1 => counted,
            unit => binary("/", counted, atom(unit.to_string())),
        };
        if field.width <= 16 || self.loose {
            units.cast(c_type(scope.stack, &field.kind))
        } else {
            units
        }
    }

    fn write_options(&self, scope: &mut Scope, statements: &mut Vec<Statement>) {
        let Some(options) = &self.header.options else {
            return;
        };
        let size = scope.header_size.clone().expect("its size is known");
        if self.options.is_empty() && literal(&size) == Some(u64::from(self.header.least)) {
            return;
        }
        let data = scope.of_message(self.message, "data");
        let region = &self.header.fields[options.region.at()];
        let bounds = (
            start(scope, self.id, region, &data),
            binary("+", data, size),
        );
        let value = |scope: &Scope, id: HeaderFieldId| self.given(scope, id);
        statements.extend(options::write(
            scope,
            self.id,
            &self.options,
            &value,
            bounds,
        ));
    }

    /// A header was written where it would be at its longest: it moves up to its message, and what
    /// counts it is written.
    fn close_up(&self, scope: &mut Scope, statements: &mut Vec<Statement>) {
        let data = scope.of_message(self.message, "data");
        let length = scope.of_message(self.message, "length");
        let size = scope.header_size.clone().expect("its size is known");
        let less = || binary("-", atom(self.header.most.to_string()), size.clone());
        let moved = vec![
            binary("+", data.clone(), less()),
            data.clone(),
            size.clone(),
        ];
        statements.push(call_statement("memmove", moved));
        statements.push(Statement::Assign(data.clone(), "+=", less()));
        statements.push(Statement::Assign(length, "+=", size.clone()));
        for (at, field) in self.header.fields.iter().enumerate() {
            let is_written = self.counts_part_alone(at);
            if let (Rule::Counts { .. }, false) = (&field.rule, is_written) {
                let units = self.count(scope, field);
                let at = start(scope, self.id, field, &data);
                let stored = match fills_bytes(field) {
                    true => store(scope, self.header, at, &[(field, units)]),
                    false => add_bits(self.header.big, field, &at, &units),
                };
                statements.extend(where_present(scope, field, stored));
            }
        }
    }

    /// Sums come last: what is summed is written by then.
    fn write_sums(&self, scope: &mut Scope, statements: &mut Vec<Statement>) {
        let data = scope.of_message(self.message, "data");
        for (at, field) in self.header.fields.iter().enumerate() {
            let Rule::Checks { arguments, .. } = &field.rule else {
                continue;
            };
            let id = HeaderFieldId(at as u32);
            let sum = sum_call(scope, self.id, id, self.message, arguments);
            let at = start(scope, self.id, field, &data);
            let stored = match fills_bytes(field) {
                true => store(scope, self.header, at, &[(field, sum)]),
                false => add_bits(self.header.big, field, &at, &sum),
            };
            statements.extend(where_present(scope, field, stored));
        }
    }
}

/// What is done with a field, where it is there.
fn where_present(scope: &Scope, field: &HeaderField, then: Vec<Statement>) -> Vec<Statement> {
    match &field.present {
        None => then,
        Some(present) => vec![Statement::If {
            condition: scope.value(present),
            then,
            otherwise: Vec::new(),
        }],
    }
}

/// Whether a value reads what the new header may be written over.
fn reads_message(value: &Expression) -> bool {
    let mut reads = false;
    super::walk::each(value, &mut |part| {
        reads |= matches!(
            &*part.kind,
            ExpressionKind::Header(..)
                | ExpressionKind::HeaderPresent(..)
                | ExpressionKind::Peeked(..)
                | ExpressionKind::PeekedPresent(..)
                | ExpressionKind::Length(_)
                | ExpressionKind::Call(..)
                | ExpressionKind::Through(..)
        );
    });
    reads
}
