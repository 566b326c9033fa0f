//! Headers: in, a `header` as it is written; out, where each field stands on the wire (before any
//! body is checked), and what is written into it or required of it (when functions are known).
//!
//! ```text
//! header big { version: u4 is 4   words: u4 counts header in 4   options: bytes   port: u16 }
//!              bit 0, width 4     bit 4, width 4                 bit 8            bit 8, behind
//!                                                                                 `options`
//! ```

mod lengths;
mod options;
mod ranges;

use super::body::{check_computed, check_expression, check_filter_call, check_type};
use super::constant::{fold, width};
use super::context::Context;
use super::expression::{Expression, ExpressionKind};
use super::header::{Header, HeaderField, Rule};
use super::items::constant_number;
use super::layers::{Layer, kind_scope};
use super::names::{not_constant, refuse_repeated};
use super::program::{HeaderFieldId, HeaderId, LocalId, Program, ReasonId};
use super::scope::{Named, Scope};
use super::value::{Type, Value};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::loom::ast;

/// Lays out the headers of a layer, and gives its bodies words for them.
pub fn layout(context: &mut Context, layer: &mut Layer) {
    for source in headers(&layer.items) {
        let id = HeaderId(context.program.headers.len() as u32);
        let entity = &mut context.program.entities[layer.entity.at()];
        match &source.name {
            Some(name) => {
                let name = name.text.clone();
                layer.scope.names.insert(name, Named::Header(id));
            }
            None if entity.header.is_some() => {
                context.report(two_headers(source.span));
                continue;
            }
            None => {
                entity.header = Some(id);
                layer.scope.header = Some(id);
            }
        }
        let header = header(context, &layer.scope, source);
        context.program.headers.push(header);
        RulesOf::new(context, layer, id, false).presence(context, source);
    }
}

fn headers<'a>(items: &[&'a ast::Item]) -> Vec<&'a ast::Header> {
    let headers = items.iter().filter_map(|item| match item {
        ast::Item::Header(header) => Some(header),
        ast::Item::Constant(_)
        | ast::Item::Type(_)
        | ast::Item::Enum(_)
        | ast::Item::Record(_)
        | ast::Item::Attribute(_)
        | ast::Item::Instance(_)
        | ast::Item::Filter(_)
        | ast::Item::Function(_)
        | ast::Item::Process(_)
        | ast::Item::Finder(_)
        | ast::Item::Handler(_) => None,
    });
    headers.collect()
}

fn header(context: &mut Context, scope: &Scope, source: &ast::Header) -> Header {
    let mut layout = Layout::default();
    let (mut names, mut options) = (Vec::new(), None);
    for part in &source.parts {
        match part {
            _ if options.is_some() => {
                let title = "options must be at the end of a header";
                context.report(Diagnostic::error(Id::BadHeader, title, part.span(), ""));
            }
            ast::HeaderPart::Field(field) => {
                let (bit, is_second) = (
                    layout.bit,
                    names
                        .iter()
                        .any(|it: &&ast::Name| it.text == field.name.text),
                );
                names.push(&field.name);
                layout.field(context, scope, field);
                if is_second {
                    // It was refused, and moves nothing.
                    layout.bit = bit;
                }
            }
            ast::HeaderPart::Options(source) => {
                names.extend(source.names());
                let region = layout.open("options", source.span, context);
                options = Some(options::layout(context, scope, source, region));
            }
        }
    }
    refuse_repeated(names, context.diagnostics);
    if !layout.bit.is_multiple_of(8) && !layout.uneven {
        // The field that has too many bits may be any of them.
        let entity = context.program.entities.get(scope.entity.at());
        let layer = entity.map_or("", |entity| &entity.layer);
        let mut refused = uneven(source.span, layout.bit).misfit();
        for field in layout.fields.iter() {
            refused = refused.cause(format!("{layer}.header.{}", field.name));
        }
        context.report(refused);
    }
    if layout.uneven || !layout.bit.is_multiple_of(8) {
        context.uneven.push(source.span);
    }
    let name = match &source.name {
        Some(name) => name.text.clone(),
        None => context.program.entities[scope.entity.at()].name.clone(),
    };
    Header {
        name,
        big: source.order == ast::ByteOrder::Big,
        fields: layout.fields,
        least: layout.bit / 8,
        most: layout.bit / 8 + layout.most,
        too_short: None,
        options,
    }
}

/// A header as far as it is laid out.
#[derive(Default)]
struct Layout {
    /// Bits that are always there, so far.
    bit: u32,
    /// Bytes of optional fields.
    most: u32,
    /// Parts whose length varies, so far.
    behind: Vec<HeaderFieldId>,
    fields: Vec<HeaderField>,
    /// It was said already that something has no whole bytes.
    uneven: bool,
}

impl Layout {
    fn field(&mut self, context: &mut Context, scope: &Scope, source: &ast::HeaderField) {
        let place = HeaderFieldId(self.fields.len() as u32);
        let (kind, width) = match &source.of.kind {
            ast::TypeKind::Named(name) if name.is("bytes") => (Type::UnboundedBytes, 0),
            ast::TypeKind::Enum(_) => {
                let title = "this enum has no type on the wire";
                context.report(
                    Diagnostic::error(Id::BadHeader, title, source.of.span, "")
                        .help("declare it with a type: `enum kind: u8 { … }`"),
                );
                (Type::Nothing, 8)
            }
            ast::TypeKind::Named(_)
            | ast::TypeKind::Container { .. }
            | ast::TypeKind::Optional(_) => wire_type(context, scope, &source.of),
        };
        // How many bits a refused type was meant to have, nobody knows.
        self.uneven |= kind == Type::Nothing
            && !matches!(
                &source.of.kind,
                ast::TypeKind::Named(name) if name.is("bytes")
            );
        let varies = width == 0 || source.condition.is_some();
        let apart = varies || matches!(kind, Type::Bytes(_));
        let is_uneven = apart && !self.bit.is_multiple_of(8);
        if (is_uneven || varies && !width.is_multiple_of(8)) && !self.uneven {
            self.uneven = true;
            context.report(uneven(source.span, self.bit));
        }
        self.fields.push(HeaderField {
            name: source.name.text.clone(),
            kind,
            is_address: scope.means_address(&source.of),
            bit: self.bit,
            width,
            behind: self.behind.clone(),
            rule: Rule::Given,
            constraint: None,
            present: None,
            bad: None,
            span: source.span,
        });
        if varies {
            self.behind.push(place);
            self.most += match &self.fields[place.at()].kind {
                Type::BoundedBytes(most) => *most,
                _ => width / 8,
            };
        } else {
            self.bit += width;
        }
    }

    /// A part that goes up to the end that is counted.
    fn open(&mut self, name: &str, span: Span, context: &mut Context) -> HeaderFieldId {
        if !self.bit.is_multiple_of(8) && !self.uneven {
            self.uneven = true;
            context.report(uneven(span, self.bit));
        }
        if let Some(first) = self.fields.iter().find(|field| field.name == name) {
            context.report(super::names::taken(name, span, Some(first.span)));
        }
        let place = HeaderFieldId(self.fields.len() as u32);
        self.fields.push(HeaderField {
            name: name.to_string(),
            kind: Type::UnboundedBytes,
            is_address: false,
            bit: self.bit,
            width: 0,
            behind: self.behind.clone(),
            rule: Rule::Given,
            constraint: None,
            present: None,
            bad: None,
            span,
        });
        self.behind.push(place);
        place
    }
}

/// A type that has a form on the wire, and its bits.
fn wire_type(context: &mut Context, scope: &Scope, source: &ast::Type) -> (Type, u32) {
    let kind = check_type(context, scope, source);
    let bits = match &kind {
        Type::Bytes(bytes) => Some(bytes * 8),
        Type::BoundedBytes(_) => Some(0),
        Type::Time => None,
        number => width(context.program, number).map(u32::from),
    };
    match bits {
        Some(bits) => (kind, bits),
        None => {
            if kind != Type::Nothing {
                let title = "this type has no wire format";
                context.report(
                    Diagnostic::error(Id::BadHeader, title, source.span, "").why(
                        "A header field is a number, a `bool`, an enum, `bytes[N]`, or `bytes[at \
                        most N]` or `bytes` with a counted length.",
                    ),
                );
            }
            (Type::Nothing, 8)
        }
    }
}

/// What is written into each field of a layer's headers, and required of it.
pub fn rules(context: &mut Context, layer: &Layer) {
    let mut own = false;
    for source in headers(&layer.items) {
        let id = match &source.name {
            Some(name) => match layer.scope.names.get(&name.text) {
                Some(Named::Header(id)) => *id,
                Some(_) | None => continue,
            },
            None => match layer.scope.header.filter(|_| !own) {
                Some(id) => {
                    own = true;
                    id
                }
                None => continue,
            },
        };
        let counted = source.name.is_none();
        RulesOf::new(context, layer, id, counted).check(context, source);
    }
}

struct RulesOf<'a, 'b> {
    layer: &'b Layer<'a>,
    id: HeaderId,
    /// Whether what is bad is dropped and counted: not where a header is only peeked at.
    counted: bool,
    /// For what is written: the words of a session.
    written: Scope,
    /// For what is read: the header's fields are words too.
    read: Scope,
}

impl<'a, 'b> RulesOf<'a, 'b> {
    fn new(context: &Context, layer: &'b Layer<'a>, id: HeaderId, counted: bool) -> Self {
        let session = layer.kinds[1].id;
        let mut written = kind_scope(context.program, layer, session);
        written.message = Some(LocalId::MESSAGE);
        let mut read = written.clone();
        let fields = &context.program.headers[id.at()].fields;
        for (place, field) in fields.iter().enumerate() {
            if field.kind != Type::Nothing {
                let value = field_value(id, place, &field.kind);
                read.names.insert(field.name.clone(), Named::Value(value));
            }
        }
        RulesOf {
            layer,
            id,
            counted,
            written,
            read,
        }
    }

    fn check(&self, context: &mut Context, source: &ast::Header) {
        let (entity, told) = (self.layer.entity, context.diagnostics.len());
        if self.counted {
            let header = &context.program.headers[self.id.at()];
            let varies = header.fields.iter().any(|field| field.width == 0);
            if header.most > 0 || varies {
                let reason = context.reason(entity, "too_short");
                context.program.headers[self.id.at()].too_short = Some(reason);
            }
        }
        for (place, part) in source.parts.iter().enumerate() {
            match part {
                ast::HeaderPart::Field(field) => {
                    let told = context.diagnostics.len();
                    self.field(context, place, field);
                    if context.diagnostics.len() > told {
                        let layer = &context.program.entities[entity.at()].layer;
                        let cause = format!("{layer}.header.{}", field.name);
                        context.blame_too(told, &cause);
                    }
                }
                ast::HeaderPart::Options(options) => {
                    self.options(context, options);
                    break;
                }
            }
        }
        lengths::check(context, self.id, source.span);
        if context.uneven.contains(&source.span) {
            // Where its parts begin and end was told of as a whole.
            let later = context.diagnostics.split_off(told);
            let later = later.into_iter().filter(|it| it.id != Id::BadHeader);
            context.diagnostics.extend(later);
        }
    }

    /// When optional fields are there, as far as that can be said before functions are known: these
    /// read them. What is wrong with it is said with the other rules.
    fn presence(&self, context: &mut Context, source: &ast::Header) {
        let said = context.diagnostics.len();
        for (place, part) in source.parts.iter().enumerate() {
            if let ast::HeaderPart::Field(field) = part
                && let Some(condition) = &field.condition
            {
                let present = check_expression(context, &self.read, condition, Some(&Type::Bool));
                context.program.headers[self.id.at()].fields[place].present = Some(present);
            }
        }
        context.diagnostics.truncate(said);
    }

    fn field(&self, context: &mut Context, place: usize, source: &ast::HeaderField) {
        let kind = self.fields(context.program)[place].kind.clone();
        let rule = match &source.rule {
            None => Rule::Given,
            Some(ast::HeaderRule::Written(value)) if source.condition.is_none() => {
                let name = &source.name.text;
                Rule::Default(check_computed(context, &self.written, name, value, &kind))
            }
            Some(rule) => self.rule(context, &kind, rule, source.span),
        };
        let constraint = source.constraint.as_ref();
        let constraint = constraint
            .map(|source| check_expression(context, &self.read, source, Some(&Type::Bool)));
        let present = source.condition.as_ref();
        let present =
            present.map(|source| check_expression(context, &self.read, source, Some(&Type::Bool)));
        let closed = if let Type::Enum(id) = &kind {
            let of = &context.program.enums[id.at()];
            of.other.is_none() && of.names.len() as u128 != 1 << of.width
        } else {
            false
        };
        let judged = match &rule {
            Rule::Given | Rule::Default(_) => false,
            Rule::Is(_) | Rule::Counts { .. } | Rule::Checks { .. } => true,
        };
        let bounded = matches!(kind, Type::BoundedBytes(_));
        let bad = self.counted && (closed || judged || bounded || constraint.is_some());
        let bad: Option<ReasonId> = bad.then(|| {
            let name = format!("bad_{}", source.name);
            context.reason(self.layer.entity, &name)
        });
        let field = &mut context.program.headers[self.id.at()].fields[place];
        field.rule = rule;
        field.constraint = constraint;
        field.present = present;
        field.bad = bad;
    }

    fn rule(&self, context: &mut Context, kind: &Type, rule: &ast::HeaderRule, span: Span) -> Rule {
        match rule {
            ast::HeaderRule::Written(value) => {
                Rule::Default(check_expression(context, &self.written, value, Some(kind)))
            }
            ast::HeaderRule::Required(source) => {
                let value = check_expression(context, &self.written, source, Some(kind));
                match fold(context.program, &value) {
                    Some(folded) => Rule::Is(folded),
                    None => {
                        if value.result != Type::Nothing && !self.layer.scope.alone {
                            let advice = "write `=` for the value that is sent, and `where` for \
                                the condition that is checked on receipt";
                            let what = "what a field is required to be";
                            context.report(not_constant(source.span, what).help(advice));
                        }
                        Rule::Default(value)
                    }
                }
            }
            ast::HeaderRule::Counts { ranges, unit } => Rule::Counts {
                ranges: self.ranges(context, ranges, span),
                unit: self.unit(context, unit.as_ref()),
            },
            ast::HeaderRule::Checks {
                ranges,
                filter,
                absent,
                left,
            } => {
                let sum = self.sum(context, kind, ranges, filter, absent.as_ref(), span);
                match left {
                    Some(source) if self.is_left(context, source) => {
                        Rule::Default(Expression::constant(Value::Number(0), kind.clone()))
                    }
                    Some(_) | None => sum,
                }
            }
        }
    }

    fn unit(&self, context: &mut Context, source: Option<&ast::Expression>) -> u32 {
        let Some(source) = source else { return 1 };
        let of = Type::Unsigned(32);
        let value = check_expression(context, &self.written, source, Some(&of));
        let unit = constant_number(context, &value, source, "the unit of a count").unwrap_or(1);
        if unit == 0 || unit > 0xffff {
            let title = "the unit of a count must be at least one byte";
            context.report(Diagnostic::error(Id::BadHeader, title, source.span, ""));
            return 1;
        }
        unit as u32
    }

    /// Whether a sum is left to others, by a constant of the composition.
    fn is_left(&self, context: &mut Context, source: &ast::Expression) -> bool {
        let value = check_expression(context, &self.written, source, Some(&Type::Bool));
        match fold(context.program, &value) {
            Some(Value::Number(left)) => left != 0,
            Some(_) => false,
            None => {
                if value.result != Type::Nothing && !self.layer.scope.alone {
                    let what = "whether a sum is left to others";
                    context.report(not_constant(source.span, what));
                }
                false
            }
        }
    }

    fn sum(
        &self,
        context: &mut Context,
        kind: &Type,
        ranges: &[ast::HeaderRange],
        filter: &ast::Expression,
        absent: Option<&ast::Expression>,
        span: Span,
    ) -> Rule {
        let ranges = self.ranges(context, ranges, span);
        let unless = absent.and_then(|source| {
            let value = check_expression(context, &self.written, source, Some(kind));
            constant_number(context, &value, source, "what says that nothing was summed")
        });
        match check_filter_call(context, &self.summed(), filter) {
            Some((id, arguments)) => {
                let result = context.program.filters[id.at()].result.as_ref();
                let result = result.map(|result| result.result.clone());
                if result.as_ref() != Some(kind) {
                    let title = "the result of the filter does not fit into this field";
                    context.report(Diagnostic::error(Id::BadHeader, title, span, ""));
                }
                Rule::Checks {
                    ranges,
                    filter: id,
                    arguments,
                    unless,
                }
            }
            // What is wrong with the filter was said; nobody is to give the sum by hand.
            None => Rule::Default(Expression::constant(Value::Number(0), kind.clone())),
        }
    }

    /// For what a filter is given: `length` is how many bytes header and data have, unless the
    /// layer calls something else so.
    fn summed(&self) -> Scope {
        let mut scope = self.read.clone();
        let length = Expression::new(ExpressionKind::WholeLength, Type::Unsigned(32));
        if !scope.names.contains_key("length") {
            let length = Named::Value(length);
            scope.names.insert("length".to_string(), length);
        }
        scope
    }

    fn fields<'p>(&self, program: &'p Program) -> &'p [HeaderField] {
        &program.headers[self.id.at()].fields
    }
}

fn field_value(id: HeaderId, place: usize, kind: &Type) -> Expression {
    Expression {
        kind: Box::new(ExpressionKind::Header(id, HeaderFieldId(place as u32))),
        result: kind.clone(),
    }
}

fn uneven(span: Span, bits: u32) -> Diagnostic {
    let title = match bits % 8 {
        0 => "this is not a whole number of bytes".to_string(),
        1 => "one bit is left over after whole bytes".to_string(),
        bits => format!("{bits} bits are left over after whole bytes"),
    };
    Diagnostic::error(Id::BadHeader, title, span, "").why(
        "A header has whole bytes, and each optional, counted or `bytes` part begins at a whole \
        byte.",
    )
}

fn two_headers(span: Span) -> Diagnostic {
    let title = "a layer has only one header of its own";
    Diagnostic::error(Id::BadHeader, title, span, "the second")
        .help("a format for `peek` needs a name: `header quotation big { … }`")
}
