//! What words, dots and indices stand for.

use super::super::expression::{Expression, ExpressionKind, Instance, Query, Variable};
use super::super::program::{
    AttributeId, Event, FieldId, FilterId, FunctionId, HeaderFieldId, HeaderId, KeyId, KindId,
    LocalId, TimerId,
};
use super::super::scope::Named;
use super::super::value::{Type, Value};
use super::words::{Body, Part, Place, make, nothing, number};
use crate::diagnostic::{Diagnostic, Id, closest};
use crate::source::Span;
use crate::syntax::loom::ast;

/// What a word, or words with dots, stand for.
pub(super) enum Meaning {
    /// A value; an optional one is not yet its value.
    Value(Expression),
    /// A message.
    Message(LocalId),
    /// The bytes of a message.
    Data(LocalId),
    /// The header that came in.
    Header(HeaderId),
    /// A header that was peeked at.
    Peeked(LocalId, HeaderId),
    /// An option of the header that came in, or of one that was peeked at.
    Option(Option<LocalId>, HeaderId, HeaderFieldId),
    /// An instance that was found or created.
    Instance(LocalId, KindId),
    /// A timer.
    Timer(Instance, KindId, TimerId),
    /// Instances that can be found.
    Kind(KindId),
    /// A function.
    Function(FunctionId),
    /// A filter.
    Filter(FilterId),
    /// A header that can be peeked at.
    Format(HeaderId),
    /// A signal, which is asked by `present`.
    Signal,
    /// A process, which is asked for what it declares.
    Process(u32),
    /// Diagnosed.
    Unknown,
}

impl Body<'_, '_> {
    /// What a name, a field or an element stands for; none of other expressions.
    pub fn meaning(&mut self, source: &ast::Expression, hint: Option<&Type>) -> Option<Meaning> {
        match &source.kind {
            ast::ExpressionKind::Group(inner) => self.meaning(inner, hint),
            ast::ExpressionKind::Name(name) => Some(self.word(name, hint)),
            ast::ExpressionKind::Field { of, name } => Some(self.field(of, name)),
            ast::ExpressionKind::Index { of, index } => Some(self.element(of, index)),
            _ => None,
        }
    }

    fn word(&mut self, name: &ast::Name, hint: Option<&Type>) -> Meaning {
        if let Some(value) = self.expected_enum_value(name, hint) {
            return Meaning::Value(value);
        }
        if let Some(local) = self.local(&name.text) {
            self.check_alive(Instance::Local(local), &format!("`{name}`"), name.span);
            return self.local_meaning(local);
        }
        if let Some(named) = self.scope.names.get(&name.text) {
            return self.named(named.clone(), name.span);
        }
        match name.text.as_str() {
            "header" => return self.own_header(name.span),
            "message" => return self.given_message(name.span),
            "length" | "missing" | "place" => {
                if let Place::Filter(part) = self.place {
                    return self.measure(part, name);
                }
            }
            _ => {}
        }
        let mut known = self.known_words();
        let near = closest(&name.text, known.iter().map(String::as_str));
        if hint == Some(&Type::Nothing) && near.is_none() {
            // Perhaps a value of the enum that the refused type was meant to be.
            return Meaning::Unknown;
        }
        if let Some(Type::Enum(id)) = hint {
            let names = &self.context.program.enums[id.at()].names;
            known.extend(names.iter().map(|(name, _)| name.clone()));
        }
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        self.unknown("value", name, &known);
        Meaning::Unknown
    }

    /// `length`, `missing` or `place`: how much there is, in a part of a filter.
    fn measure(&mut self, part: Part, name: &ast::Name) -> Meaning {
        match (name.text.as_str(), part) {
            ("missing", Part::Begin | Part::End) | ("place", Part::Begin) => {
                return self.no_word_here(name);
            }
            ("missing", Part::WholeWord) => self.warn_of_whole_word(name.span),
            _ => {}
        }
        let measures = &mut self.measures;
        let held = match name.text.as_str() {
            "length" => &mut measures.length,
            "missing" => &mut measures.missing,
            _ => &mut measures.place,
        };
        let new = LocalId(self.locals.len() as u32);
        let local = *held.get_or_insert(new);
        if local == new {
            self.add_local(&name.text, Type::Unsigned(32));
        }
        Meaning::Value(self.read_local(local))
    }

    fn no_word_here(&mut self, name: &ast::Name) -> Meaning {
        let title = format!("`{name}` can be read only while there is a word");
        let (label, help) = match name.text.as_str() {
            "missing" => (
                "there is no word here",
                "read it in `each word` or in `tail`, and store it in a field of the filter",
            ),
            _ => (
                "no word has been read yet",
                "remove it: its initial value is 0",
            ),
        };
        let refused = Diagnostic::error(Id::NotHere, title, name.span, label);
        self.report(refused.help(help));
        Meaning::Unknown
    }

    fn warn_of_whole_word(&mut self, span: Span) {
        let title = "`missing` is always 0 here";
        let warning = Diagnostic::warning(Id::AlwaysZero, title, span, "always 0");
        let why = "A word of one byte is never incomplete, nor is a word of a filter marked \
            `whole`. In a filter with a `tail`, the `tail` handles an incomplete word.";
        self.report(warning.why(why).help("remove it"));
    }

    fn local_meaning(&mut self, local: LocalId) -> Meaning {
        if let Some(field) = self.kept_field(local) {
            let kind = self.local_kind(local).clone();
            let kept = ExpressionKind::Read(self.own_field(field));
            return Meaning::Value(make(kept, kind));
        }
        match self.local_kind(local) {
            Type::Message => Meaning::Message(local),
            Type::Header(header) => Meaning::Peeked(local, *header),
            Type::Instance(kind) => Meaning::Instance(local, *kind),
            Type::UnboundedBytes | Type::Nothing => Meaning::Unknown,
            Type::Unsigned(_)
            | Type::Signed(_)
            | Type::Bool
            | Type::Sequence(_)
            | Type::Time
            | Type::Bytes(_)
            | Type::BoundedBytes(_)
            | Type::Enum(_)
            | Type::Record(_)
            | Type::Optional(_)
            | Type::Queue(..)
            | Type::Window(..)
            | Type::Stream(..)
            | Type::Array(..)
            | Type::Set(_)
            | Type::Abstract(_) => Meaning::Value(self.read_local(local)),
        }
    }

    fn named(&mut self, named: Named, span: Span) -> Meaning {
        match named {
            Named::Value(value) => Meaning::Value(self.scope_value(value, span)),
            Named::Field(instance, kind, field) => {
                self.note_read(instance);
                let place = Variable::Field(instance, kind, field);
                let of = self.context.program.kinds[kind.at()].fields[field.at()]
                    .kind
                    .clone();
                Meaning::Value(make(ExpressionKind::Read(place), of))
            }
            Named::Key(instance, kind, key) => {
                self.note_read(instance);
                let of = self.context.program.kinds[kind.at()].keys[key.at()]
                    .kind
                    .clone();
                Meaning::Value(make(ExpressionKind::Key(instance, kind, key), of))
            }
            Named::Timer(instance, kind, timer) => {
                self.note_read(instance);
                Meaning::Timer(instance, kind, timer)
            }
            Named::Kind(kind) => Meaning::Kind(kind),
            Named::Function(function) => Meaning::Function(function),
            Named::Filter(filter) => Meaning::Filter(filter),
            Named::Header(header) => Meaning::Format(header),
            Named::Signal(_) => Meaning::Signal,
            Named::Process(process) => Meaning::Process(process),
        }
    }

    fn note_read(&mut self, instance: Instance) {
        match instance {
            Instance::Own => self.reads.own = true,
            Instance::Entity => self.reads.entity = true,
            Instance::Local(_) | Instance::Only(_) => {}
        }
    }

    /// Where an enum is expected, its values are plain words.
    fn expected_enum_value(&mut self, name: &ast::Name, hint: Option<&Type>) -> Option<Expression> {
        let of = match hint? {
            Type::Optional(inner) => inner.as_ref(),
            plain => plain,
        };
        let Type::Enum(id) = of else { return None };
        let names = &self.context.program.enums[id.at()].names;
        let (_, value) = names.iter().find(|(known, _)| *known == name.text)?;
        Some(number(*value, of.clone()))
    }

    /// Returns whether a word stands for a timer.
    pub fn is_timer(&self, word: &str) -> bool {
        matches!(self.scope.names.get(word), Some(Named::Timer(..)))
    }

    fn own_header(&mut self, span: Span) -> Meaning {
        if self.lacks_header {
            return Meaning::Unknown;
        }
        let carries = match self.place {
            Place::Handler(event) | Place::Finder(event) => event == Event::Deliver,
            Place::Function => true,
            Place::Value | Place::Filter(_) => false,
        };
        let Some(header) = self.scope.header.filter(|_| carries) else {
            let title = "there is no `header` here";
            self.lacks_header = true;
            let label = match self.scope.header {
                None => "this layer has no header",
                Some(_) => "`header` exists only in `on deliver`",
            };
            let refused = Diagnostic::error(Id::NoHeader, title, span, label).why(
                "`header` is the header that `deliver` stripped from the message; only that \
                    handler can read it.",
            );
            let names = self.scope.names.iter();
            let mut named = names.filter(|(_, named)| matches!(named, Named::Header(_)));
            let unnamed = self.scope.header.is_none();
            self.report(match named.next().filter(|_| unnamed) {
                Some((name, _)) => refused.help(format!(
                    "`header {name}` declares a format for `peek`; a header without a name is the \
                    layer's own"
                )),
                None if self.place == Place::Handler(Event::Send) => refused.help(
                    "set header fields where the message is sent: `send message with { FIELD = … \
                    }`",
                ),
                None => refused,
            });
            return Meaning::Unknown;
        };
        self.reads.header = true;
        Meaning::Header(header)
    }

    fn field(&mut self, of: &ast::Expression, name: &ast::Name) -> Meaning {
        if let Some(value) = self.enum_value(of, name) {
            return Meaning::Value(value);
        }
        let Some(meaning) = self.meaning(of, None) else {
            let value = self.check(of, None);
            return Meaning::Value(self.part(value, of.span, name));
        };
        match meaning {
            Meaning::Value(value) => {
                let value = self.settle(value);
                Meaning::Value(self.part(value, of.span, name))
            }
            Meaning::Message(message) => self.message_field(message, of.span, name),
            Meaning::Header(header) => self.header_part(None, header, name),
            Meaning::Peeked(local, header) => self.header_part(Some(local), header, name),
            Meaning::Option(local, header, option) => {
                let called = format!("{}.{name}", self.header_field_name(header, option));
                let field = self.context.program.headers[header.at()].option_of(option);
                let fields = field.map(|case| case.fields.clone()).unwrap_or_default();
                match self.find_header_field(header, fields, &called, name) {
                    Some(field) => {
                        Meaning::Value(self.header_field(local, header, field, name.span))
                    }
                    None => Meaning::Unknown,
                }
            }
            Meaning::Instance(local, kind) => self.instance_field(local, kind, name),
            Meaning::Timer(instance, kind, timer) if name.is("running") => {
                let query = Query::Running(instance, kind, timer);
                Meaning::Value(make(ExpressionKind::Query(query), Type::Bool))
            }
            Meaning::Timer(..) => {
                self.unknown("part of a timer", name, &["running"]);
                Meaning::Unknown
            }
            Meaning::Process(process) => {
                let names = &self.scope.processes[process as usize];
                match names.get(&name.text).cloned() {
                    Some(named) => self.named(named, name.span),
                    None => {
                        let known: Vec<String> = names.keys().cloned().collect();
                        let known: Vec<&str> = known.iter().map(String::as_str).collect();
                        let what = format!("part of `{}` called", self.text(of.span));
                        self.unknown(&what, name, &known);
                        Meaning::Unknown
                    }
                }
            }
            Meaning::Data(_)
            | Meaning::Signal
            | Meaning::Kind(_)
            | Meaning::Function(_)
            | Meaning::Filter(_)
            | Meaning::Format(_) => {
                let what = format!("part of `{}` called", self.text(of.span));
                self.unknown(&what, name, &[]);
                Meaning::Unknown
            }
            Meaning::Unknown => Meaning::Unknown,
        }
    }

    /// `operation.request`, unless a local or a field of that name comes first.
    fn enum_value(&mut self, of: &ast::Expression, name: &ast::Name) -> Option<Expression> {
        let ast::ExpressionKind::Name(first) = &of.kind else {
            return None;
        };
        let Type::Enum(id) = self.scope.types.get(&first.text)?.clone() else {
            return None;
        };
        let names = &self.context.program.enums[id.at()].names;
        let names: Vec<(String, u64)> = names.clone();
        if let Some((_, value)) = names.iter().find(|(known, _)| *known == name.text) {
            return Some(number(*value, Type::Enum(id)));
        }
        let shadowed = self.words.iter().any(|word| word.name == first.text);
        if shadowed || self.scope.names.contains_key(&first.text) {
            return None;
        }
        let known: Vec<&str> = names.iter().map(|(known, _)| known.as_str()).collect();
        let what = format!("value of `{first}` called");
        Some(self.unknown(&what, name, &known))
    }

    fn message_field(&mut self, message: LocalId, span: Span, name: &ast::Name) -> Meaning {
        if !name.is("data") {
            self.check_owned(message, span, "read");
        }
        match name.text.as_str() {
            "length" => {
                let kind = ExpressionKind::Length(message);
                return Meaning::Value(make(kind, Type::Unsigned(32)));
            }
            "data" => return Meaning::Data(message),
            _ => {}
        }
        match self.find_attribute(name) {
            Some(attribute) => {
                let of = self.context.program.attributes[attribute.at()].kind.clone();
                let kind = ExpressionKind::Attribute(message, attribute);
                Meaning::Value(make(kind, of))
            }
            None => Meaning::Unknown,
        }
    }

    /// The attribute of this name.
    fn find_attribute(&mut self, name: &ast::Name) -> Option<AttributeId> {
        if let Some(attribute) = self.scope.attributes.get(&name.text) {
            return Some(*attribute);
        }
        let attributes = self.scope.attributes.keys().map(String::as_str);
        let known: Vec<&str> = attributes.chain(["length", "data"]).collect();
        let title = format!("a message has no `{name}`");
        let mut diagnostic = Diagnostic::error(Id::UnknownName, title, name.span, "unknown")
            .why("Attributes come from the services that this layer requires and provides.");
        if let Some(near) = closest(&name.text, known) {
            diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
        } else if ["len", "size"].contains(&name.text.as_str()) {
            diagnostic = diagnostic.help("write `message.length`");
        } else if let Some(id) = self.scope.header
            && let header = &self.context.program.headers[id.at()]
            && header.fields.iter().any(|field| field.name == name.text)
        {
            diagnostic = diagnostic.help(format!("write `header.{name}`"));
        }
        let diagnostic = self.context.offer(diagnostic, &name.text);
        self.report(diagnostic);
        None
    }

    /// A field of a header, or an option of it.
    fn header_part(
        &mut self,
        local: Option<LocalId>,
        header: HeaderId,
        name: &ast::Name,
    ) -> Meaning {
        let declared = &self.context.program.headers[header.at()];
        let named = |id: &HeaderFieldId| {
            let field = declared.field(*id);
            field.name == name.text && declared.is_option(*id)
        };
        if let Some(option) = declared.options_named().find(named) {
            return Meaning::Option(local, header, option);
        }
        let fields = 0..declared.fields.len() as u32;
        match self.find_header_field(header, fields, &name.text, name) {
            Some(field) => Meaning::Value(self.header_field(local, header, field, name.span)),
            None => Meaning::Unknown,
        }
    }

    fn header_field_name(&self, header: HeaderId, field: HeaderFieldId) -> &str {
        &self.context.program.headers[header.at()].field(field).name
    }

    fn find_header_field(
        &mut self,
        header: HeaderId,
        among: std::ops::Range<u32>,
        called: &str,
        name: &ast::Name,
    ) -> Option<HeaderFieldId> {
        let declared = &self.context.program.headers[header.at()];
        let all = among.map(HeaderFieldId);
        let found = all
            .clone()
            .find(|id| declared.field(*id).name == called && !declared.is_option(*id));
        if found.is_some() {
            return found;
        }
        let known = all.map(|id| match declared.field(id).name.split_once('.') {
            Some((_, name)) => name.to_string(),
            None => declared.field(id).name.clone(),
        });
        let options = declared.options_named();
        let options = options.filter(|_| called == name.text);
        let options = options.map(|id| declared.field(id).name.clone());
        let known: Vec<String> = known.chain(options).collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        self.unknown("field of the header called", name, &known);
        if let Some(told) = self.context.diagnostics.last_mut() {
            told.causes.push(format!("header.{name}"));
        }
        None
    }

    /// A field of the header that came in, that is written, or that was peeked at; an optional
    /// where it may not be there.
    pub fn header_field(
        &mut self,
        local: Option<LocalId>,
        header: HeaderId,
        id: HeaderFieldId,
        span: Span,
    ) -> Expression {
        let field = self.context.program.headers[header.at()].field(id).clone();
        let of = self.kind_with_value(&field, span);
        if of == Type::Nothing {
            return nothing();
        }
        let declared = &self.context.program.headers[header.at()];
        let option = declared.option_of(id).map(|case| case.itself());
        let read = match local {
            Some(local) => make(ExpressionKind::Peeked(local, header, id), of.clone()),
            None => make(ExpressionKind::Header(header, id), of.clone()),
        };
        let condition = field.present.clone();
        if condition.is_none() && option.is_none() {
            return read;
        }
        let there = self.header_presence(local, header, option.unwrap_or(id));
        let known = condition.filter(|_| local.is_none());
        if known.is_some_and(|known| self.holds(&known)) || self.holds(&there) {
            return read;
        }
        let optional = Type::Optional(Box::new(of));
        let none = make(ExpressionKind::Constant(Value::None), optional.clone());
        let some = make(ExpressionKind::Some(read), optional.clone());
        make(ExpressionKind::If(there, some, none), optional)
    }

    /// Whether an optional field or an option is there.
    pub fn header_presence(
        &self,
        local: Option<LocalId>,
        header: HeaderId,
        id: HeaderFieldId,
    ) -> Expression {
        let kind = match local {
            Some(local) => ExpressionKind::PeekedPresent(local, header, id),
            None => ExpressionKind::HeaderPresent(header, id),
        };
        make(kind, Type::Bool)
    }

    fn instance_field(&mut self, local: LocalId, kind: KindId, name: &ast::Name) -> Meaning {
        let instance = Instance::Local(local);
        let definition = &self.context.program.kinds[kind.at()];
        let mut fields = definition.fields.iter();
        if let Some(at) = fields.position(|field| field.name == name.text) {
            return self.named(Named::Field(instance, kind, FieldId(at as u32)), name.span);
        }
        if let Some(at) = definition.keys.iter().position(|key| key.name == name.text) {
            return self.named(Named::Key(instance, kind, KeyId(at as u32)), name.span);
        }
        if let Some(at) = definition
            .timers
            .iter()
            .position(|timer| *timer == name.text)
        {
            return Meaning::Timer(instance, kind, TimerId(at as u32));
        }
        let fields = definition.fields.iter().map(|field| field.name.clone());
        let keys = definition.keys.iter().map(|key| key.name.clone());
        let timers = definition.timers.iter().cloned();
        let known: Vec<String> = fields.chain(keys).chain(timers).collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let what = format!("part of {} called", self.describe(&Type::Instance(kind)));
        self.unknown(&what, name, &known);
        Meaning::Unknown
    }

    /// A part of a record, or what a container tells of itself.
    fn part(&mut self, value: Expression, span: Span, name: &ast::Name) -> Expression {
        if let Type::BoundedBytes(_) = value.result {
            return self.part_of_bytes(value, span, name);
        }
        let place = match &*value.kind {
            ExpressionKind::Read(place) => place.clone(),
            // A record that is known to be there has its parts where it has itself.
            ExpressionKind::Unwrap(inner) if matches!(value.result, Type::Record(_)) => {
                match &*inner.kind {
                    ExpressionKind::Read(place) => place.clone(),
                    _ => return self.no_part(&value, span, name, &[]),
                }
            }
            _ => return self.no_part(&value, span, name, &[]),
        };
        let query = |query, result| make(ExpressionKind::Query(query), result);
        match (&value.result, name.text.as_str()) {
            (Type::Record(id), _) => {
                let fields = &self.context.program.records[id.at()].fields;
                if let Some(at) = fields.iter().position(|field| field.name == name.text) {
                    let of = fields[at].kind.clone();
                    let field = FieldId(at as u32);
                    let part = Variable::Part(Box::new(place), *id, field);
                    return make(ExpressionKind::Read(part), of);
                }
                let known: Vec<String> = fields.iter().map(|field| field.name.clone()).collect();
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                self.no_part(&value, span, name, &known)
            }
            (Type::Queue(..), "is_empty") => query(Query::IsEmpty(place), Type::Bool),
            (Type::Queue(..), _) => self.no_part(&value, span, name, &["is_empty"]),
            (Type::Window(_, width, _), "first") => {
                let first = Type::Optional(Box::new(Type::Sequence(*width)));
                query(Query::First(place), first)
            }
            (Type::Window(..), _) => self.no_part(&value, span, name, &["first"]),
            (Type::Stream(position, _), "end") => query(Query::End(place), (**position).clone()),
            (Type::Stream(position, _), "begin") => {
                query(Query::Begin(place), (**position).clone())
            }
            (Type::Stream(..), _) => self.no_part(&value, span, name, &["begin", "end"]),
            _ => self.no_part(&value, span, name, &[]),
        }
    }

    pub(super) fn no_part(
        &mut self,
        value: &Expression,
        span: Span,
        name: &ast::Name,
        known: &[&str],
    ) -> Expression {
        if value.result == Type::Nothing {
            return nothing();
        }
        let what = format!("part of `{}` called", self.text(span));
        self.unknown(&what, name, known)
    }

    fn element(&mut self, of: &ast::Expression, index: &ast::Expression) -> Meaning {
        let value = self.check(of, None);
        let (element, size) = match &value.result {
            Type::Array(element, size) => ((**element).clone(), *size),
            Type::Bytes(size) => (Type::Unsigned(8), *size),
            Type::BoundedBytes(_) => return self.byte_of(value, index),
            Type::Nothing => return Meaning::Unknown,
            other => {
                let title = format!("`{}` has no elements", self.describe(other));
                let label = "expected an array or bytes";
                self.report(Diagnostic::error(Id::TypeMismatch, title, of.span, label));
                return Meaning::Unknown;
            }
        };
        let ExpressionKind::Read(place) = *value.kind else {
            let text = self.text(of.span);
            let title = format!("`{text}` cannot be indexed directly");
            let refused = Diagnostic::error(Id::NotAValue, title, of.span, "not a variable");
            self.report(refused.help(format!(
                "give it a name first: `let whole = {text}`, then `whole[…]`"
            )));
            return Meaning::Unknown;
        };
        let span = index.span;
        let index = self.check(index, Some(&Type::Unsigned(32)));
        if index.result == Type::Nothing {
            return Meaning::Unknown;
        }
        self.check_index(&index, size, span);
        let place = Variable::Element(Box::new(place), Box::new(index));
        Meaning::Value(make(ExpressionKind::Read(place), element))
    }

    fn check_index(&mut self, index: &Expression, size: u32, span: Span) {
        let is_number = matches!(index.result, Type::Unsigned(_));
        let range = is_number.then(|| self.range(index)).flatten();
        let text = self.text(span);
        let diagnostic = match range {
            Some(range) if range.high < u64::from(size) => return,
            Some(_) if self.is_open(index) => return,
            Some(range) if range.low == range.high => Diagnostic::error(
                Id::IndexOutOfRange,
                format!("there is no element {}", range.low),
                span,
                format!("there are {size}, counted from 0"),
            ),
            Some(range) => Diagnostic::error(
                Id::IndexOutOfRange,
                format!("`{text}` may be too large"),
                span,
                format!(
                    "it may be up to {}, and there are {size} elements",
                    range.high
                ),
            )
            .why("An index must be within the array, and the compiler adds no hidden tests.")
            .help(format!(
                "test the index before: `require {text} < {size} else …`, or write `{text} % \
                {size}`"
            )),
            None => Diagnostic::error(
                Id::TypeMismatch,
                "an index must be a number",
                span,
                format!("`{}` is not `u32`", self.describe(&index.result)),
            ),
        };
        self.report(diagnostic);
    }
}
