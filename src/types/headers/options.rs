//! Options of a header: in, `options by u8 { … }`; out, where the fields of each stand behind its
//! number (before any body is checked), and what is required of them (when functions are known).
//!
//! ```text
//! case 3 scale { length: u8 is 3   shift: u8 where shift <= 14 }
//!      bits 0 to 7     bit 8         bit 16                          least 3
//! ```

use super::super::body::{check_expression, check_type};
use super::super::constant::cut;
use super::super::context::Context;
use super::super::expression::{Expression, ExpressionKind};
use super::super::header::{
    HeaderField, OptionCase, OptionCount, OptionKind, Options, Ranges, Rule, Run,
};
use super::super::items::constant_number;
use super::super::names::refuse_repeated;
use super::super::program::{HeaderFieldId, HeaderId};
use super::super::scope::{Named, Scope};
use super::super::value::Type;
use super::{Layout, RulesOf, field_value, uneven};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::loom::ast;

/// Where the fields of options stand; `region` is the field of the header that the options are.
pub fn layout(
    context: &mut Context,
    scope: &Scope,
    source: &ast::HeaderOptions,
    region: HeaderFieldId,
) -> Options {
    let by = match check_type(context, scope, &source.by) {
        Type::Unsigned(width @ (8 | 16 | 24 | 32)) => width,
        Type::Nothing => 8,
        _ => {
            let title = "the type of an option must be a number of whole bytes";
            context.report(
                Diagnostic::error(Id::BadHeader, title, source.by.span, "")
                    .help("write `options by u8`"),
            );
            8
        }
    };
    let mut options = Options {
        region,
        width: u32::from(by) / 8,
        until_malformed: source.until_malformed,
        cases: Vec::new(),
        others: None,
        fields: Vec::new(),
    };
    for case in &source.cases {
        let value = value_of(context, scope, case, by, &options);
        let (kind, name, fields) = match &case.kind {
            ast::OptionKind::End => (OptionKind::End, "end", &[][..]),
            ast::OptionKind::Padding => (OptionKind::Padding, "padding", &[][..]),
            ast::OptionKind::Fields { name, fields } => {
                (OptionKind::Fields, &*name.text, &fields[..])
            }
        };
        let case = (value, kind, case.span);
        let case = option(context, scope, &mut options, case, name, fields);
        options.cases.push(case);
    }
    if let Some(fields) = &source.otherwise {
        let case = (0, OptionKind::Fields, source.span);
        let others = option(context, scope, &mut options, case, "else", fields);
        options.others = Some(others);
    }
    options
}

/// The number that tells an option from the others.
fn value_of(
    context: &mut Context,
    scope: &Scope,
    source: &ast::OptionCase,
    bits: u8,
    options: &Options,
) -> u64 {
    let of = Type::Unsigned(bits);
    let value = check_expression(context, scope, &source.value, Some(&of));
    let what = "the number of an option";
    let Some(number) = constant_number(context, &value, &source.value, what) else {
        return 0;
    };
    let repeated = options.cases.iter().any(|case| case.value == number);
    if repeated || cut(context.program, &of, number) != number {
        let title = match repeated {
            true => format!("another option has the number {number}"),
            false => format!("{number} does not fit into {bits} bits"),
        };
        let refused = Diagnostic::error(Id::BadHeader, title, source.value.span, "");
        context.report(refused.why("Each option has its own number, which fits into the type."));
    }
    number
}

fn option(
    context: &mut Context,
    scope: &Scope,
    options: &mut Options,
    (value, kind, span): (u64, OptionKind, Span),
    name: &str,
    sources: &[ast::HeaderField],
) -> OptionCase {
    let mut layout = Layout {
        bit: 8 * options.width,
        ..Layout::default()
    };
    refuse_repeated(sources.iter().map(|field| &field.name), context.diagnostics);
    for field in sources {
        if let Some(condition) = &field.condition {
            let title = "a field of an option cannot have an `if`";
            context.report(
                Diagnostic::error(Id::BadHeader, title, condition.span, "")
                    .why("All fields of an option are present if the option is present."),
            );
            continue;
        }
        if let [open, ..] = layout.behind[..] {
            let title = "the bytes of an option must be its last field";
            let before = layout.fields[open.at()].span;
            context.report(
                Diagnostic::error(Id::BadHeader, title, field.span, "")
                    .label(before, "these extend to the end of the option"),
            );
            continue;
        }
        layout.field(context, scope, field);
    }
    if !layout.bit.is_multiple_of(8) && !layout.uneven {
        context.report(uneven(span, layout.bit));
    }
    let base = options.region.0 + 1;
    let first = base + options.fields.len() as u32;
    let itself = HeaderField {
        name: name.to_string(),
        kind: Type::Bool,
        is_address: false,
        bit: 0,
        width: 8 * options.width,
        behind: Vec::new(),
        rule: Rule::Given,
        constraint: None,
        present: None,
        bad: None,
        span,
    };
    options.fields.push(itself);
    options
        .fields
        .extend(layout.fields.into_iter().map(|field| HeaderField {
            name: format!("{name}.{}", field.name),
            behind: Vec::new(),
            ..field
        }));
    OptionCase {
        value,
        kind,
        fields: first..base + options.fields.len() as u32,
        least: layout.bit / 8,
        counted: None,
    }
}

impl RulesOf<'_, '_> {
    /// What is required of options.
    pub fn options(&self, context: &mut Context, source: &ast::HeaderOptions) {
        let header = &context.program.headers[self.id.at()];
        let Some(options) = header.options.clone() else {
            return;
        };
        let region = options.region;
        if self.counted && !options.until_malformed {
            let bad = context.reason(self.layer.entity, "bad_options");
            let header = &mut context.program.headers[self.id.at()];
            header.fields[region.at()].bad = Some(bad);
        }
        for (place, case) in source.cases.iter().enumerate() {
            if let ast::OptionKind::Fields { fields, .. } = &case.kind {
                let counted = self.option(context, &options.cases[place], fields, case.span, false);
                self.options_mut(context).cases[place].counted = counted;
            }
        }
        if let (Some(others), Some(fields)) = (&options.others, &source.otherwise) {
            let counted = self.option(context, others, fields, source.span, true);
            if let Some(others) = &mut self.options_mut(context).others {
                others.counted = counted;
            }
        }
    }

    fn options_mut<'p>(&self, context: &'p mut Context) -> &'p mut Options {
        let options = context.program.headers[self.id.at()].options.as_mut();
        options.expect("the header has options")
    }

    /// The rules of the fields of an option, and what tells its length.
    fn option(
        &self,
        context: &mut Context,
        case: &OptionCase,
        sources: &[ast::HeaderField],
        span: Span,
        others: bool,
    ) -> Option<OptionCount> {
        let read = self.words_of(context, case);
        let mut counted: Option<OptionCount> = None;
        for source in sources {
            let Some(id) = self.part_named(context, case, &source.name.text) else {
                continue;
            };
            let rule = self.option_field(context, id, source, &read);
            if let (Some(ast::HeaderRule::Counts { ranges, .. }), Rule::Counts { unit, .. }) =
                (&source.rule, rule)
            {
                if counted.is_some() {
                    let title = "an option has one length";
                    context.report(Diagnostic::error(Id::BadHeader, title, source.span, ""));
                }
                let inside = self.option_part(context, case, ranges, source.span);
                counted = inside.map(|inside| OptionCount {
                    field: id,
                    unit,
                    outside: case.least - inside,
                    open: others,
                });
            }
        }
        let open = case.parts().any(|id| self.is_open(context, id));
        match &mut counted {
            Some(counted) => counted.open |= open,
            None if open || others => {
                let title = match others {
                    true => "the length of unknown options is not declared",
                    false => "the length of this option is not declared",
                };
                context.report(
                    Diagnostic::error(Id::BadHeader, title, span, "")
                        .help("add a length: `length: u8 counts option`"),
                );
            }
            None => {}
        }
        counted
    }

    /// The rule of one field of an option.
    fn option_field(
        &self,
        context: &mut Context,
        id: HeaderFieldId,
        source: &ast::HeaderField,
        read: &Scope,
    ) -> Rule {
        let header = &context.program.headers[self.id.at()];
        let kind = header.field(id).kind.clone();
        let place = id.at() - header.fields.len();
        let rule = match &source.rule {
            Some(ast::HeaderRule::Checks { .. }) => {
                let title = "an option cannot have a checksum";
                context.report(Diagnostic::error(Id::BadHeader, title, source.span, ""));
                Rule::Given
            }
            Some(ast::HeaderRule::Counts { unit, .. }) => Rule::Counts {
                ranges: Ranges(vec![Run::Header]),
                unit: self.unit(context, unit.as_ref()),
            },
            Some(rule @ (ast::HeaderRule::Written(_) | ast::HeaderRule::Required(_))) => {
                self.rule(context, &kind, rule, source.span)
            }
            None => Rule::Given,
        };
        let constraint = source.constraint.as_ref().map(|source| {
            let checked = check_expression(context, read, source, Some(&Type::Bool));
            self.check_option_rule(context, &checked, source.span);
            checked
        });
        let field = &mut self.options_mut(context).fields[place];
        field.rule = rule.clone();
        field.constraint = constraint;
        rule
    }

    /// The words of the rules of an option: its own fields among them.
    fn words_of(&self, context: &Context, case: &OptionCase) -> Scope {
        let mut read = self.written.clone();
        let header = &context.program.headers[self.id.at()];
        for id in case.parts() {
            let field = header.field(id);
            if let Some((_, name)) = field.name.split_once('.')
                && field.kind != Type::Nothing
            {
                let value = field_value(self.id, id.at(), &field.kind);
                read.names.insert(name.to_string(), Named::Value(value));
            }
        }
        read
    }

    fn part_named(
        &self,
        context: &Context,
        case: &OptionCase,
        name: &str,
    ) -> Option<HeaderFieldId> {
        let header = &context.program.headers[self.id.at()];
        let mut parts = case.parts();
        parts.find(|id| {
            let parts = header.field(*id).name.split_once('.');
            parts.is_some_and(|(_, own)| own == name)
        })
    }

    fn is_open(&self, context: &Context, id: HeaderFieldId) -> bool {
        context.program.headers[self.id.at()].field(id).kind == Type::UnboundedBytes
    }

    /// Bytes of the fixed fields of an option that a length counts.
    fn option_part(
        &self,
        context: &mut Context,
        case: &OptionCase,
        ranges: &[ast::HeaderRange],
        span: Span,
    ) -> Option<u32> {
        let between = match ranges {
            [ast::HeaderRange::Option(_)] => return Some(case.least),
            [ast::HeaderRange::Fields { first, last }] => (
                self.part_named(context, case, &first.text),
                self.part_named(context, case, &last.text),
            ),
            _ => (None, None),
        };
        let open = |id| self.is_open(context, id);
        let any_open = case.parts().any(open);
        match between {
            (Some(first), Some(last)) if first <= last && (open(last) || !any_open) => {
                let header = &context.program.headers[self.id.at()];
                let bits = (first.0..=last.0).map(|id| header.field(HeaderFieldId(id)).width);
                Some(bits.sum::<u32>() / 8)
            }
            _ => {
                let title = "a length in an option must count the option, or a part up to its end";
                context.report(
                    Diagnostic::error(Id::BadHeader, title, span, "")
                        .help("write `counts option`, or `counts FIRST..LAST`"),
                );
                None
            }
        }
    }

    /// Options are judged before there is an instance: by their own fields.
    fn check_option_rule(&self, context: &mut Context, rule: &Expression, span: Span) {
        if !reads_fields_alone(rule, self.id) {
            let title = "a rule of an option may read only its own fields";
            context.report(
                Diagnostic::error(Id::BadHeader, title, span, "")
                    .why("The rules of an option may read only its fields and constants."),
            );
        }
    }
}

fn reads_fields_alone(rule: &Expression, header: HeaderId) -> bool {
    let itself = match &*rule.kind {
        ExpressionKind::Header(of, _) => *of == header,
        ExpressionKind::Constant(_)
        | ExpressionKind::Unary(..)
        | ExpressionKind::Binary(..)
        | ExpressionKind::If(..)
        | ExpressionKind::Cast(_)
        | ExpressionKind::BytesLength(_)
        | ExpressionKind::ByteAt(..)
        | ExpressionKind::Bounded(_)
        | ExpressionKind::Least(..)
        | ExpressionKind::Greatest(..) => true,
        ExpressionKind::Config(_)
        | ExpressionKind::Read(_)
        | ExpressionKind::Key(..)
        | ExpressionKind::Peeked(..)
        | ExpressionKind::HeaderPresent(..)
        | ExpressionKind::PeekedPresent(..)
        | ExpressionKind::OptionsHold(_)
        | ExpressionKind::Attribute(..)
        | ExpressionKind::Length(_)
        | ExpressionKind::WholeLength
        | ExpressionKind::Below
        | ExpressionKind::Now
        | ExpressionKind::Signal(_)
        | ExpressionKind::Some(_)
        | ExpressionKind::Unwrap(_)
        | ExpressionKind::Present(_)
        | ExpressionKind::Else(..)
        | ExpressionKind::Call(..)
        | ExpressionKind::Query(_)
        | ExpressionKind::Through(..) => false,
    };
    let parts = rule.parts();
    itself
        && parts
            .into_iter()
            .all(|part| reads_fields_alone(part, header))
}
