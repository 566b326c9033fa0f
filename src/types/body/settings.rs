//! What stands behind `with`: in, settings as they are written; out, what is written into each
//! field of a header and each attribute, with the defaults of those that nobody sets.
//!
//! A setting with a condition gives its value where the condition holds; where not, a field has its
//! default, an attribute stays as it is, and an option is not there.

use super::super::constant::fold;
use super::super::expression::{Expression, ExpressionKind, Instance, Unary, Variable};
use super::super::fields::read_by;
use super::super::header::{Header, HeaderField, OptionCase, Rule};
use super::super::program::{AttributeId, FunctionId, HeaderFieldId, HeaderId, KindId};
use super::super::statement::Source;
use super::super::value::{Type, Value};
use super::words::{Body, make, number};
use crate::diagnostic::{Diagnostic, Id, closest};
use crate::source::Span;
use crate::syntax::loom::ast;
use std::collections::BTreeMap;

/// What a `with` sets.
#[derive(Default)]
pub(super) struct Settings {
    /// A name among them stands for nothing: it may be that of a field which then seems not set.
    pub unknown: bool,
    /// Fields and options of the header.
    pub header: BTreeMap<HeaderFieldId, Setting>,
    /// Attributes.
    pub attributes: Vec<(AttributeId, Setting)>,
}

/// A value, and when it is given.
#[derive(Clone)]
pub(super) struct Setting {
    value: Expression,
    condition: Option<Expression>,
    span: Span,
}

impl Body<'_, '_> {
    /// What is set, by name.
    pub fn settings(
        &mut self,
        sources: &[ast::Setting],
        header: Option<HeaderId>,
        span: Span,
    ) -> Settings {
        let mut settings = Settings::default();
        self.refuse_set_twice(sources);
        for source in sources {
            let before = self.flow.facts.clone();
            let condition = self.setting_condition(source);
            match &source.value {
                ast::SettingValue::Value(value) => {
                    self.setting(source, value, condition, header, span, &mut settings);
                }
                ast::SettingValue::Fields(fields) => {
                    self.option_setting(source, fields, condition, header, span, &mut settings);
                }
            }
            self.flow.facts = before;
        }
        settings
    }

    fn refuse_set_twice(&mut self, sources: &[ast::Setting]) {
        for (at, source) in sources.iter().enumerate() {
            let mut before = sources[..at].iter();
            if let Some(first) = before.find(|it| it.name.text == source.name.text) {
                let title = format!("`{}` is set twice", source.name);
                let refused = Diagnostic::error(Id::WrittenTwice, title, source.span, "set again");
                self.report(refused.label(first.span, "set here"));
            }
        }
    }

    /// When a setting holds; what it sets may count on that.
    fn setting_condition(&mut self, source: &ast::Setting) -> Option<Expression> {
        let source = source.condition.as_ref()?;
        let condition = self.condition(source);
        self.assume(&condition, true);
        Some(condition)
    }

    fn setting(
        &mut self,
        source: &ast::Setting,
        value: &ast::Expression,
        condition: Option<Expression>,
        header: Option<HeaderId>,
        span: Span,
        settings: &mut Settings,
    ) {
        let name = &source.name;
        let field = header.and_then(|header| {
            let fields = &self.context.program.headers[header.at()].fields;
            let at = fields.iter().position(|field| field.name == name.text)?;
            Some((HeaderFieldId(at as u32), fields[at].clone()))
        });
        let attribute = self.scope.attributes.get(&name.text).copied();
        let set = |value| Setting {
            value,
            condition: condition.clone(),
            span: source.span,
        };
        match (field, attribute) {
            (Some(_), Some(_)) => {
                let title = format!("`{name}` is a field of the header and an attribute");
                let label = "ambiguous";
                let refused = Diagnostic::error(Id::AmbiguousSetting, title, name.span, label);
                self.report(refused.help("rename the header field"));
                settings.unknown = true;
            }
            (Some((id, field)), None) => {
                self.check_written(name, &field, header);
                let of = self.kind_with_value(&field, name.span);
                let value = self.set_if(condition.as_ref(), value, &of);
                settings.header.insert(id, set(value));
            }
            (None, Some(attribute)) => {
                let kind = self.context.program.attributes[attribute.at()].kind.clone();
                let value = self.set_if(condition.as_ref(), value, &kind);
                settings.attributes.push((attribute, set(value)));
            }
            (None, None) => {
                if self.option_named(header, name).is_some() {
                    let title = format!("`{name}` is an option, so its fields need braces");
                    let refused = Diagnostic::error(Id::UnknownSetting, title, name.span, "");
                    self.report(refused.help(format!("write `{name} = {{ … }}`")));
                    return;
                }
                self.unknown_setting(name, header, span);
                settings.unknown = true;
                // A plain word may be a value of the enum that the field would have.
                if !matches!(value.kind, ast::ExpressionKind::Name(_)) {
                    self.check(value, None);
                }
            }
        }
    }

    /// The option of this name.
    fn option_named(&self, header: Option<HeaderId>, name: &ast::Name) -> Option<HeaderFieldId> {
        let header = &self.context.program.headers[header?.at()];
        let mut options = header.options_named();
        options.find(|id| header.field(*id).name == name.text)
    }

    /// `scale = { shift = shift } if scales`
    fn option_setting(
        &mut self,
        source: &ast::Setting,
        fields: &[ast::Setting],
        condition: Option<Expression>,
        header: Option<HeaderId>,
        span: Span,
        settings: &mut Settings,
    ) {
        let name = &source.name;
        let (Some(header), Some(option)) = (header, self.option_named(header, name)) else {
            let title = format!("`{name}` is not an option of the header");
            let refused = Diagnostic::error(Id::UnknownSetting, title, name.span, "not an option");
            self.report(
                refused.help("declare options with `options by` in the header of the layer"),
            );
            return;
        };
        let there = condition.unwrap_or_else(|| number(1, Type::Bool));
        let itself = Setting {
            value: there,
            condition: None,
            span: source.span,
        };
        settings.header.insert(option, itself);
        self.refuse_set_twice(fields);
        for field in fields {
            let before = self.flow.facts.clone();
            let condition = self.setting_condition(field);
            self.option_field(header, option, field, condition, span, settings);
            self.flow.facts = before;
        }
    }

    fn option_field(
        &mut self,
        header: HeaderId,
        option: HeaderFieldId,
        source: &ast::Setting,
        condition: Option<Expression>,
        span: Span,
        settings: &mut Settings,
    ) {
        let declared = &self.context.program.headers[header.at()];
        let name = &source.name;
        let called = format!("{}.{name}", declared.field(option).name);
        let case = declared.option_of(option).map(|case| case.parts());
        let mut parts = case.into_iter().flatten();
        let Some(id) = parts.find(|id| declared.field(*id).name == called) else {
            let title = format!("`{}` has no field `{name}`", declared.field(option).name);
            let refused = Diagnostic::error(Id::UnknownSetting, title, name.span, "unknown");
            self.report(refused.label(span.before(), "set on this message"));
            return;
        };
        let field = declared.field(id).clone();
        let ast::SettingValue::Value(value) = &source.value else {
            let title = format!("`{name}` is a field, not an option");
            self.report(Diagnostic::error(Id::UnknownSetting, title, name.span, ""));
            return;
        };
        self.check_written(name, &field, None);
        let of = self.kind_with_value(&field, name.span);
        let there = match settings.header[&option].value.clone() {
            there if there.truth() == Some(true) => None,
            there => Some(there),
        };
        let decides = condition.clone().or(there);
        let value = self.set_if(decides.as_ref(), value, &of);
        let span = source.span;
        settings.header.insert(
            id,
            Setting {
                value,
                condition,
                span,
            },
        );
    }

    /// What attributes become; where the condition of one does not hold, it stays as it is.
    pub fn set_attributes(
        &mut self,
        settings: Vec<(AttributeId, Setting)>,
        source: Option<&Source>,
    ) -> Vec<(AttributeId, Expression)> {
        let mut all = Vec::new();
        for (id, setting) in settings {
            let Some(condition) = setting.condition else {
                all.push((id, setting.value));
                continue;
            };
            let attribute = &self.context.program.attributes[id.at()];
            let kind = attribute.kind.clone();
            let stays = match (source, &attribute.default) {
                (Some(Source::Local(of) | Source::Share(of) | Source::Piece(of, ..)), _) => {
                    make(ExpressionKind::Attribute(*of, id), kind.clone())
                }
                (_, Some(default)) => make(ExpressionKind::Constant(default.clone()), kind.clone()),
                (_, None) => {
                    let name = attribute.name.clone();
                    self.needs_otherwise(&name, setting.span);
                    continue;
                }
            };
            let value = ExpressionKind::If(condition, setting.value, stays);
            all.push((id, make(value, kind)));
        }
        all
    }

    fn needs_otherwise(&mut self, name: &str, span: Span) {
        let title = format!("`{name}` is set only on some paths, and has no default");
        let refused = Diagnostic::error(
            Id::MissingSetting,
            title,
            span,
            "missing value for the other case",
        );
        self.report(refused.help(format!("write `{name} = if … {{ … }} else {{ … }}`")));
    }

    fn check_written(&mut self, name: &ast::Name, field: &HeaderField, header: Option<HeaderId>) {
        let what = match field.rule {
            Rule::Given | Rule::Default(_) => return,
            Rule::Is(_) => "has a constant value",
            Rule::Counts { .. } => "the length is counted when the message is sent",
            Rule::Checks { .. } => "the checksum is computed when the message is sent",
        };
        let header = header.map(|id| &self.context.program.headers[id.at()]);
        let counted = header.and_then(|header| {
            let own = header
                .fields
                .iter()
                .position(|one| one.name == field.name)?;
            Some(&header.fields[header.part_of(own)?].name)
        });
        let title = match counted {
            Some(part) => format!("`{name}` is computed from `{part}`"),
            None => format!("`{name}` is computed, and cannot be set"),
        };
        let refused = Diagnostic::error(Id::UnknownSetting, title, name.span, what);
        self.report(refused.label(field.span, "this rule computes it"));
    }

    fn unknown_setting(&mut self, name: &ast::Name, header: Option<HeaderId>, span: Span) {
        let fields = header.map(|header| &self.context.program.headers[header.at()].fields);
        let fields = fields.into_iter().flatten().map(|field| field.name.clone());
        let options = header.map(|header| &self.context.program.headers[header.at()]);
        let options = options.into_iter().flat_map(|header| {
            let options = header.options_named();
            options.map(|id| header.field(id).name.clone())
        });
        let known: Vec<String> = fields
            .chain(options)
            .chain(self.scope.attributes.keys().cloned())
            .collect();
        let title = match header {
            Some(_) => format!("`{name}` is neither a field of the header nor an attribute"),
            None => format!("there is no attribute `{name}` here"),
        };
        let refused = Diagnostic::error(Id::UnknownSetting, title, name.span, "unknown");
        let mut refused = refused.cause(format!("header.{name}"));
        if let Some(near) = closest(&name.text, known.iter().map(String::as_str)) {
            refused = refused.help(format!("did you mean `{near}`?"));
        }
        let refused = self.context.offer(refused, &name.text);
        self.report(refused.label(span.before(), "set on this message"));
    }

    /// All fields that are written: those that are given, and the defaults of the others; then
    /// the options that are set, each before its fields.
    pub fn written_fields(
        &mut self,
        header: HeaderId,
        settings: &mut Settings,
        span: Span,
    ) -> Vec<(HeaderFieldId, Expression)> {
        let declared = self.context.program.headers[header.at()].clone();
        let (mut given, told) = (BTreeMap::new(), self.context.diagnostics.len());
        for (id, setting) in std::mem::take(&mut settings.header) {
            let value = self.set_or_default(declared.field(id), setting);
            given.insert(id, value);
        }
        let mut written = Vec::new();
        for (at, field) in declared.fields.iter().enumerate() {
            if declared.fields[..at].iter().any(|it| it.name == field.name) {
                // A second field of one name, which was refused.
                continue;
            }
            let id = HeaderFieldId(at as u32);
            let is_there = match &field.present {
                Some(condition) => self.decided(condition, &given, &declared.fields),
                None => Some(true),
            };
            if is_there != Some(false) {
                self.written_field(id, field, &mut given, &mut written, span);
            }
        }
        let cases = declared.options.iter().flat_map(|options| &options.cases);
        let set = |case: &&OptionCase| given.contains_key(&case.itself());
        let cases: Vec<&OptionCase> = cases.filter(set).collect();
        for case in &cases {
            written.extend(
                given
                    .get_key_value(&case.itself())
                    .map(|(id, v)| (*id, v.clone())),
            );
            for id in case.parts() {
                self.written_field(id, declared.field(id), &mut given, &mut written, span);
            }
        }
        self.check_fits(&declared, &cases, span);
        if settings.unknown {
            // What seems not to be set is perhaps what the unknown name was meant to be.
            self.context.diagnostics.truncate(told);
        }
        written
    }

    /// What a setting gives, whether its condition holds or not.
    fn set_or_default(&mut self, field: &HeaderField, setting: Setting) -> Expression {
        let Some(condition) = setting.condition else {
            return setting.value;
        };
        let otherwise = match &field.rule {
            Rule::Default(default) => {
                self.check_default(default, &field.name, setting.span);
                default.clone()
            }
            // Whether it is there is not this condition's business, but that of its own `if`.
            Rule::Given if field.present.is_some() => zero(&field.kind),
            Rule::Given => {
                self.needs_otherwise(&field.name, setting.span);
                return setting.value;
            }
            Rule::Is(_) | Rule::Counts { .. } | Rule::Checks { .. } => return setting.value,
        };
        let kind = ExpressionKind::If(condition, setting.value, otherwise);
        make(kind, field.kind.clone())
    }

    fn written_field(
        &mut self,
        id: HeaderFieldId,
        field: &HeaderField,
        given: &mut BTreeMap<HeaderFieldId, Expression>,
        written: &mut Vec<(HeaderFieldId, Expression)>,
        span: Span,
    ) {
        match (given.get(&id), &field.rule) {
            (Some(value), Rule::Given | Rule::Default(_)) => {
                written.push((id, value.clone()));
            }
            (None, Rule::Default(default)) => {
                self.check_default(default, &field.name, span);
                given.insert(id, default.clone());
                written.push((id, default.clone()));
            }
            // A write to `header` was reported already, and its field is the one that is missing.
            (None, Rule::Given)
                if !self.lacks_header
                    && !matches!(field.kind, Type::UnboundedBytes | Type::Nothing) =>
            {
                let title = format!("`{}` is not set", field.name);
                let label = format!("no value for `{}`", field.name);
                let missing = Diagnostic::error(Id::MissingSetting, title, span, label);
                let how = match field.name.split_once('.') {
                    Some((option, name)) => format!("{option} = {{ {name} = … }}"),
                    None => format!("{} = …", field.name),
                };
                self.report(
                    missing
                        .label(field.span, "this field has no default")
                        .help(format!("write `with {{ {how} }}`")),
                );
            }
            (_, Rule::Given | Rule::Is(_) | Rule::Counts { .. } | Rule::Checks { .. }) => {}
        }
    }

    /// A header counts itself in so many bits, and with all its options it is no longer than that.
    fn check_fits(&mut self, header: &Header, cases: &[&OptionCase], span: Span) {
        let Some(counter) = header.counter() else {
            return;
        };
        let field = &header.fields[counter.field.at()];
        let outside = header.fixed_outside(&counter);
        let optional = header.fields.iter().filter(|field| field.is_loose());
        let optional = optional.map(|field| field.bound().unwrap_or(field.width / 8));
        let optional: u32 = optional.sum();
        let options: u32 = cases.iter().map(|case| case.least).sum();
        let bytes = u64::from(header.least - outside + optional + options);
        let most = super::range::mask(field.width as u8).saturating_mul(u64::from(counter.unit));
        if bytes > most && !cases.is_empty() {
            let title = format!(
                "these options are too long: the header has {bytes} bytes, but its length field \
                counts at most {most}"
            );
            let refused = Diagnostic::error(Id::BadHeader, title, span, "too many options");
            self.report(refused.label(field.span, "this counts the header"));
        }
    }

    /// Whether a field is there, as far as the fields that are given tell.
    fn decided(
        &self,
        condition: &Expression,
        given: &BTreeMap<HeaderFieldId, Expression>,
        fields: &[HeaderField],
    ) -> Option<bool> {
        let filled = filled(condition, given, fields);
        match fold(self.context.program, &filled)? {
            Value::Number(value) => Some(value != 0),
            Value::Bytes(_) | Value::None | Value::Record(_) => None,
        }
    }

    /// A default may read the instance that sends; another kind of instance does not have it.
    fn check_default(&mut self, default: &Expression, name: &str, span: Span) {
        let own = own_kind(default, &|function: FunctionId| {
            let kind = self.context.program.functions[function.at()].kind?;
            let entity = self.context.program.kinds[kind.at()].entity;
            (entity == self.scope.entity).then_some(kind)
        });
        let Some(kind) = own.filter(|kind| *kind != self.scope.kind) else {
            return;
        };
        let kind = self.describe(&Type::Instance(kind));
        let title = format!("the default of `{name}` reads {kind}, but there is none here");
        let label = format!("no value for `{name}`");
        let refused = Diagnostic::error(Id::MissingSetting, title, span, label);
        self.report(refused.help(format!("write `with {{ {name} = … }}`")));
    }
}

/// What stands in a field that has no value.
fn zero(of: &Type) -> Expression {
    match of {
        Type::Bytes(size) => {
            let zeros = Value::Bytes(vec![0; *size as usize]);
            make(ExpressionKind::Constant(zeros), of.clone())
        }
        Type::BoundedBytes(_) => {
            let empty = ExpressionKind::Constant(Value::Bytes(Vec::new()));
            make(empty, of.clone())
        }
        _ => number(0, of.clone()),
    }
}

/// A condition with the given fields in the place of the header's.
fn filled(
    value: &Expression,
    given: &BTreeMap<HeaderFieldId, Expression>,
    fields: &[HeaderField],
) -> Expression {
    let inner = |value: &Expression| filled(value, given, fields);
    let kind = match &*value.kind {
        ExpressionKind::Header(_, field) => match (&fields[field.at()].rule, given.get(field)) {
            (_, Some(given)) => return given.clone(),
            (Rule::Is(value), None) => ExpressionKind::Constant(value.clone()),
            (_, None) => return value.clone(),
        },
        ExpressionKind::Binary(operator, left, right) => {
            ExpressionKind::Binary(*operator, inner(left), inner(right))
        }
        ExpressionKind::Unary(Unary::Not, operand) => {
            ExpressionKind::Unary(Unary::Not, inner(operand))
        }
        ExpressionKind::Cast(operand) => ExpressionKind::Cast(inner(operand)),
        _ => return value.clone(),
    };
    make(kind, value.result.clone())
}

/// The kind of instances whose own fields or keys an expression reads.
fn own_kind(
    value: &Expression,
    of_function: &dyn Fn(FunctionId) -> Option<KindId>,
) -> Option<KindId> {
    let own = match &*value.kind {
        ExpressionKind::Key(Instance::Own, kind, _) => Some(*kind),
        ExpressionKind::Call(function, _) => of_function(*function),
        _that_may_read_a_field => read_by(value).and_then(own_root),
    };
    let mut parts = value.parts().into_iter();
    own.or_else(|| parts.find_map(|part| own_kind(part, of_function)))
}

fn own_root(place: &Variable) -> Option<KindId> {
    match place {
        Variable::Field(Instance::Own, kind, _) => Some(*kind),
        Variable::Field(..) | Variable::Local(_) => None,
        Variable::Element(inner, _) | Variable::Part(inner, ..) => own_root(inner),
    }
}
