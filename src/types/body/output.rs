//! Outputs: `send`, `deliver` and `tell`, and what stands behind their `with`.

use super::super::constant::fold;
use super::super::expression::{Expression, ExpressionKind, Instance, Unary, Variable};
use super::super::header::{HeaderField, Rule};
use super::super::program::{
    AttributeId, Event, FunctionId, HeaderFieldId, HeaderId, KindId, NoticeId, Role,
};
use super::super::statement::{self, Source, StatementKind};
use super::super::value::{Type, Value};
use super::words::{Body, listed, make};
use crate::diagnostic::{Diagnostic, Id, closest};
use crate::source::Span;
use crate::syntax::loom::ast;
use std::collections::BTreeMap;

/// What a `with` sets.
#[derive(Default)]
struct Settings {
    header: BTreeMap<HeaderFieldId, Expression>,
    attributes: Vec<(AttributeId, Expression)>,
}

impl Body<'_, '_> {
    /// `send message to short with { … }`
    pub fn send(&mut self, output: &ast::Output, span: Span) -> Option<StatementKind> {
        let joint = self.joint(output.to.as_ref(), span);
        let settings = self.settings(&output.with, self.scope.header, span);
        let message = self.source(&output.message);
        let header = match self.scope.header {
            Some(header) => self.written_fields(header, settings.header, span),
            None => Vec::new(),
        };
        let message = message?;
        self.note_source(&message);
        Some(StatementKind::Output(statement::Output::Send {
            message,
            joint: joint?,
            header,
            attributes: settings.attributes,
        }))
    }

    /// `deliver message with { … }`
    pub fn deliver(&mut self, output: &ast::Output, span: Span) -> Option<StatementKind> {
        if let Some(to) = &output.to {
            let title = "what is delivered goes up, and there is one way up";
            self.report(Diagnostic::error(Id::NotHere, title, to.span, "not needed"));
        }
        if !self.scope.has_above {
            let title = "nothing stands above this layer here";
            let label = "nobody would have this";
            self.report(Diagnostic::error(Id::NotHere, title, span, label));
        }
        if self.context.program.kinds[self.scope.kind.at()].role == Role::Record {
            let title = "an entity has nothing above it: its sessions have";
            let refused = Diagnostic::error(Id::NotHere, title, span, "to which session?");
            self.report(refused.help("deliver in a handler of the session"));
        }
        let settings = self.settings(&output.with, None, span);
        let message = self.source(&output.message)?;
        self.note_source(&message);
        Some(StatementKind::Output(statement::Output::Deliver {
            message,
            attributes: settings.attributes,
        }))
    }

    /// `tell above resolved(message, neighbour) with { … }`
    pub fn tell(
        &mut self,
        target: &ast::TellTarget,
        name: &ast::Name,
        arguments: &[ast::Expression],
        with: &[ast::Setting],
        span: Span,
    ) -> Option<StatementKind> {
        let (target, event) = self.told(target, name)?;
        let (mut carries, mut wanted) = (true, Vec::new());
        if let Event::Notice(notice) = event {
            let notice = &self.context.program.notices[notice.at()];
            let kinds = notice.parameters.iter().map(|field| field.kind.clone());
            (carries, wanted) = (notice.message, kinds.collect());
        }
        let settings = self.settings(with, None, span);
        if let (false, Some(first)) = (carries, with.first()) {
            let title = format!("`{name}` carries no message");
            let label = "whose attribute would this be?";
            self.report(Diagnostic::error(
                Id::UnknownSetting,
                title,
                first.span,
                label,
            ));
        }
        let (message, rest) = match (carries, arguments.split_first()) {
            (true, Some((message, rest))) => (Some(message), rest),
            (true, None) => {
                let title = format!("`{name}` carries a message");
                let refused = Diagnostic::error(Id::WrongArguments, title, span, "which one?");
                self.report(refused.help(format!("write `{name}(message, …)`")));
                return None;
            }
            (false, _) => (None, arguments),
        };
        let arguments = self.arguments(&name.text, &wanted, &[], rest, span);
        let message = match message {
            Some(message) => Some(self.source(message)?),
            None => None,
        };
        if let Some(message) = &message {
            self.note_source(message);
        }
        Some(StatementKind::Output(statement::Output::Tell {
            target,
            event,
            message,
            arguments,
            attributes: settings.attributes,
        }))
    }

    /// Whom a `tell` tells, and what.
    fn told(
        &mut self,
        target: &ast::TellTarget,
        name: &ast::Name,
    ) -> Option<(statement::TellTarget, Event)> {
        let scope = self.scope;
        match target {
            ast::TellTarget::Above(_) => {
                let notice = self.notice(&scope.above, name, "above")?;
                Some((statement::TellTarget::Above, Event::Notice(notice)))
            }
            ast::TellTarget::Below(_) => {
                let notice = self.notice(&scope.below, name, "below")?;
                Some((statement::TellTarget::Below(0), Event::Notice(notice)))
            }
            ast::TellTarget::Named(joint) => {
                if let Some((entity, notices)) = scope.sides.get(&joint.text) {
                    let notice = self.notice(notices, name, &joint.text)?;
                    return Some((statement::TellTarget::Side(*entity), Event::Notice(notice)));
                }
                self.told_instance(joint, name)
            }
        }
    }

    fn told_instance(
        &mut self,
        joint: &ast::Name,
        name: &ast::Name,
    ) -> Option<(statement::TellTarget, Event)> {
        let local = self.local(&joint.text);
        let (local, kind) = match local.map(|local| (local, self.local_kind(local).clone())) {
            Some((local, Type::Instance(kind))) => (local, kind),
            Some((_, Type::Nothing)) => return None,
            _ => {
                let mut known: Vec<&str> = self.scope.sides.keys().map(String::as_str).collect();
                known.extend(["above", "below"]);
                self.unknown("joint or instance", joint, &known);
                return None;
            }
        };
        self.check_alive(Instance::Local(local), &format!("`{joint}`"), joint.span);
        let target = statement::TellTarget::Instance(local, kind);
        match name.text.as_str() {
            "deliver" => return Some((target, Event::Deliver)),
            "send" => return Some((target, Event::Send)),
            _ => {}
        }
        let definition = &self.context.program.kinds[kind.at()];
        let entity = &self.context.program.entities[definition.entity.at()].name;
        let owner = format!("{entity}.{}", definition.name);
        let notices = self.context.program.notices.iter().enumerate();
        let notices: BTreeMap<String, NoticeId> = notices
            .filter(|(_, notice)| notice.owner == owner)
            .map(|(at, notice)| (notice.name.clone(), NoticeId(at as u32)))
            .collect();
        let notice = self.notice(&notices, name, &joint.text)?;
        Some((target, Event::Notice(notice)))
    }

    fn notice(
        &mut self,
        known: &BTreeMap<String, NoticeId>,
        name: &ast::Name,
        place: &str,
    ) -> Option<NoticeId> {
        if let Some(notice) = known.get(&name.text) {
            return Some(*notice);
        }
        let names: Vec<&str> = known.keys().map(String::as_str).collect();
        let what = format!("notice for `{place}` called");
        self.unknown(&what, name, &names);
        None
    }

    fn joint(&mut self, to: Option<&ast::Name>, span: Span) -> Option<u32> {
        let joints = &self.scope.joints;
        let names: Vec<&str> = joints.iter().flatten().map(String::as_str).collect();
        match to {
            Some(to) => {
                let named = joints
                    .iter()
                    .position(|joint| joint.as_ref() == Some(&to.text));
                if named.is_none() {
                    self.unknown("joint below called", to, &names);
                }
                named.map(|at| at as u32)
            }
            None if joints.len() == 1 => Some(0),
            None => {
                let (title, label) = match joints.len() {
                    0 => (
                        "nothing stands below this layer here",
                        "nobody would send this",
                    ),
                    _ => ("there are several ways down", "which one?"),
                };
                let refused = Diagnostic::error(Id::NotHere, title, span, label);
                self.report(match names.as_slice() {
                    [] => refused,
                    names => refused.help(format!("say `to` and one of {}", listed(names))),
                });
                None
            }
        }
    }

    /// Whoever makes messages counts those for which there was no buffer.
    pub fn note_source(&mut self, message: &Source) {
        match message {
            Source::Local(_) => {}
            Source::New
            | Source::NewFrom(..)
            | Source::Share(_)
            | Source::Piece(..)
            | Source::TakeStream(..)
            | Source::SliceStream(..) => self.note_buffer(),
        }
    }

    /// Here a buffer is needed.
    pub fn note_buffer(&mut self) {
        let entity = self.scope.entity;
        let entities = &self.context.program.entities;
        if entities
            .get(entity.at())
            .is_some_and(|entity| entity.no_buffer.is_none())
        {
            let count = self.context.count(entity, "no_buffer");
            self.context.program.entities[entity.at()].no_buffer = Some(count);
        }
    }

    fn settings(
        &mut self,
        sources: &[ast::Setting],
        header: Option<HeaderId>,
        span: Span,
    ) -> Settings {
        let mut settings = Settings::default();
        for (at, source) in sources.iter().enumerate() {
            if let Some(first) = sources[..at]
                .iter()
                .find(|it| it.name.text == source.name.text)
            {
                let title = format!("`{}` is set twice", source.name);
                let refused = Diagnostic::error(Id::WrittenTwice, title, source.span, "set again");
                self.report(refused.label(first.span, "set here"));
            }
            if let Some(condition) = &source.condition {
                self.not_yet("a setting with a condition", condition.span);
            }
            let ast::SettingValue::Value(value) = &source.value else {
                self.not_yet("an option of a header", source.span);
                continue;
            };
            self.setting(&source.name, value, header, span, &mut settings);
        }
        settings
    }

    fn setting(
        &mut self,
        name: &ast::Name,
        value: &ast::Expression,
        header: Option<HeaderId>,
        span: Span,
        settings: &mut Settings,
    ) {
        let field = header.and_then(|header| {
            let fields = &self.context.program.headers[header.at()].fields;
            let at = fields.iter().position(|field| field.name == name.text)?;
            Some((HeaderFieldId(at as u32), fields[at].clone()))
        });
        let attribute = self.scope.attributes.get(&name.text).copied();
        match (field, attribute) {
            (Some(_), Some(_)) => {
                let title = format!("`{name}` is a field of the header and an attribute");
                let label = "which of the two?";
                let refused = Diagnostic::error(Id::AmbiguousSetting, title, name.span, label);
                self.report(refused.help("give the field of the header another name"));
            }
            (Some((id, field)), None) => {
                self.check_written(name, &field);
                let value = self.expect(value, &field.kind);
                settings.header.insert(id, value);
            }
            (None, Some(attribute)) => {
                let kind = self.context.program.attributes[attribute.at()].kind.clone();
                let value = self.expect(value, &kind);
                settings.attributes.push((attribute, value));
            }
            (None, None) => {
                self.check(value, None);
                self.unknown_setting(name, header, span);
            }
        }
    }

    fn check_written(&mut self, name: &ast::Name, field: &HeaderField) {
        let what = match field.rule {
            Rule::Given | Rule::Default(_) => return,
            Rule::Is(_) => "always the same",
            Rule::Counts { .. } => "counted when it is sent",
            Rule::Checks { .. } => "summed when it is sent",
        };
        let title = format!("`{name}` is not set by hand");
        let refused = Diagnostic::error(Id::UnknownSetting, title, name.span, what);
        self.report(refused.label(field.span, "this says what it is"));
    }

    fn unknown_setting(&mut self, name: &ast::Name, header: Option<HeaderId>, span: Span) {
        let fields = header.map(|header| &self.context.program.headers[header.at()].fields);
        let fields = fields.into_iter().flatten().map(|field| field.name.clone());
        let known: Vec<String> = fields
            .chain(self.scope.attributes.keys().cloned())
            .collect();
        let title = match header {
            Some(_) => format!("`{name}` is neither a field of the header nor an attribute"),
            None => format!("there is no attribute `{name}` here"),
        };
        let mut refused = Diagnostic::error(Id::UnknownSetting, title, name.span, "unknown");
        if let Some(near) = closest(&name.text, known.iter().map(String::as_str)) {
            refused = refused.help(format!("did you mean `{near}`?"));
        }
        self.report(refused.label(span.before(), "set on this message"));
    }

    /// All fields that are written: those that are given, and the defaults of the others.
    fn written_fields(
        &mut self,
        header: HeaderId,
        mut given: BTreeMap<HeaderFieldId, Expression>,
        span: Span,
    ) -> Vec<(HeaderFieldId, Expression)> {
        let fields = self.context.program.headers[header.at()].fields.clone();
        let mut written = Vec::new();
        for (at, field) in fields.iter().enumerate() {
            let id = HeaderFieldId(at as u32);
            let is_there = match &field.present {
                Some(condition) => self.decided(condition, &given, &fields),
                None => Some(true),
            };
            if is_there == Some(false) {
                continue;
            }
            match (given.get(&id), &field.rule) {
                (Some(value), Rule::Given | Rule::Default(_)) => {
                    written.push((id, value.clone()));
                }
                (None, Rule::Default(default)) => {
                    self.check_default(default, &field.name, span);
                    given.insert(id, default.clone());
                    written.push((id, default.clone()));
                }
                (None, Rule::Given) if field.kind != Type::Nothing => {
                    let title = format!("`{}` is not set", field.name);
                    let label = format!("what is `{}`?", field.name);
                    let missing = Diagnostic::error(Id::MissingSetting, title, span, label);
                    self.report(
                        missing
                            .label(field.span, "this field has no default")
                            .help(format!("write `with {{ {} = … }}`", field.name)),
                    );
                }
                (_, Rule::Given | Rule::Is(_) | Rule::Counts { .. } | Rule::Checks { .. }) => {}
            }
        }
        written
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
        let title = format!("`{name}` is what {kind} says, and this is none");
        let label = format!("what is `{name}`?");
        let refused = Diagnostic::error(Id::MissingSetting, title, span, label);
        self.report(refused.help(format!("write `with {{ {name} = … }}`")));
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
    let inner = |value: &Expression| own_kind(value, of_function);
    match &*value.kind {
        ExpressionKind::Key(Instance::Own, kind, _) => Some(*kind),
        ExpressionKind::Read(place) => own_root(place),
        ExpressionKind::Unary(_, operand)
        | ExpressionKind::Some(operand)
        | ExpressionKind::Unwrap(operand)
        | ExpressionKind::Present(operand)
        | ExpressionKind::Cast(operand) => inner(operand),
        ExpressionKind::Binary(_, left, right)
        | ExpressionKind::Else(left, right)
        | ExpressionKind::Least(left, right)
        | ExpressionKind::Greatest(left, right) => inner(left).or_else(|| inner(right)),
        ExpressionKind::If(condition, then, otherwise) => inner(condition)
            .or_else(|| inner(then))
            .or_else(|| inner(otherwise)),
        ExpressionKind::Call(function, arguments) => {
            of_function(*function).or_else(|| arguments.iter().find_map(inner))
        }
        ExpressionKind::Through(_, arguments, _) => arguments.iter().find_map(inner),
        ExpressionKind::Constant(_)
        | ExpressionKind::Config(_)
        | ExpressionKind::Key(..)
        | ExpressionKind::Header(..)
        | ExpressionKind::Peeked(..)
        | ExpressionKind::HeaderPresent(..)
        | ExpressionKind::Attribute(..)
        | ExpressionKind::Length(_)
        | ExpressionKind::WholeLength
        | ExpressionKind::Now
        | ExpressionKind::Query(_) => None,
    }
}

fn own_root(place: &Variable) -> Option<KindId> {
    match place {
        Variable::Field(Instance::Own, kind, _) => Some(*kind),
        Variable::Field(..) | Variable::Local(_) => None,
        Variable::Element(inner, _) | Variable::Part(inner, ..) => own_root(inner),
    }
}
