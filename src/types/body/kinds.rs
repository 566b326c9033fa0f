//! Types: as they are written, as they are called in diagnostics, and how a value of one becomes
//! a value of another.
//!
//! The rule, which every body keeps:
//! * A number becomes a wider one by itself wherever a wider one is expected, since its value
//!   stays. What could lose something is written: `x as u8` keeps the low bits.
//! * A constant has the type that is expected, if it fits.
//! * An enum becomes the number that stands for it on the wire.
//! * A value becomes an optional of its type. An optional becomes its value where a test says
//!   that it is there.

use super::super::constant::{cut, fold, width};
use super::super::expression::{Expression, ExpressionKind};
use super::super::items::declare_inline;
use super::super::scope::IPV4_ADDRESS;
use super::super::value::{Type, Value};
use super::range::mask;
use super::words::{Body, constant_number, make, nothing};
use crate::diagnostic::{Diagnostic, Id, closest};
use crate::source::Span;
use crate::syntax::loom::ast;

/// Elements at most in one container.
const MOST: u64 = 1 << 20;

/// Bytes at most of a value: its length has one byte.
const MOST_BYTES: u32 = 255;

/// What stands for a capacity that a stack will say.
const UNKNOWN: u32 = 1 << 16;

/// The capacity of a container whose written capacity was refused. It is larger than any that can
/// be written, so nothing that the container holds is refused for it.
const REFUSED: u32 = MOST as u32 + 1;

impl Body<'_, '_> {
    /// A type as it is written.
    pub fn written_type(&mut self, source: &ast::Type) -> Type {
        match &source.kind {
            ast::TypeKind::Named(name) => self.named_type(name),
            ast::TypeKind::Optional(inner) => match self.value_type(inner) {
                Type::Nothing => Type::Nothing,
                inner => Type::Optional(Box::new(inner)),
            },
            ast::TypeKind::Container {
                name,
                element,
                capacity,
                at_most,
                by,
                start,
            } => {
                let capacity = capacity.as_deref();
                let of = self.container_type(name, element.as_deref(), capacity, source.span);
                let of = match at_most {
                    true => self.bounded(of, source.span),
                    false => of,
                };
                let of = match by {
                    Some(by) => self.numbered(of, by),
                    None => of,
                };
                self.check_start(&of, start);
                self.check_numbers(&of, source.span);
                of
            }
            ast::TypeKind::Enum(names) => {
                let (context, entity) = (&mut *self.context, self.scope.entity);
                declare_inline(context, entity, names, source.span)
            }
        }
    }

    fn named_type(&mut self, name: &ast::Name) -> Type {
        if let Some(known) = self.scope.types.get(&name.text) {
            return self.external_type(known.clone(), name);
        }
        if let Some(built_in) = built_in_type(&name.text) {
            return built_in;
        }
        let mut known: Vec<&str> = self.scope.types.keys().map(String::as_str).collect();
        known.extend(["u8", "u16", "u32", "u64", "bool", "seq16", "seq32", "time"]);
        let title = format!("there is no type `{name}`");
        let mut diagnostic = Diagnostic::error(Id::UnknownType, title, name.span, "unknown");
        let near = type_elsewhere(&name.text).or_else(|| closest(&name.text, known));
        diagnostic = match (name.text.as_str(), near) {
            ("bytes" | "set", _) => diagnostic
                .why("What holds several things says how many at most: there is no heap.")
                .help(format!("write `{name}[N]`")),
            ("queue" | "window" | "stream" | "array", _) => diagnostic
                .why("What holds several things says how many at most: there is no heap.")
                .help(format!("write `{name}<…>[N]`")),
            (_, Some(near)) => diagnostic.help(format!("did you mean `{near}`?")),
            (_, None) => diagnostic.help("numbers are `u1` to `u64` and `i8` to `i64`"),
        };
        let diagnostic = self.context.offer(diagnostic, &name.text);
        self.report(diagnostic);
        Type::Nothing
    }

    fn container_type(
        &mut self,
        name: &ast::Name,
        element: Option<&ast::Type>,
        capacity: Option<&ast::Expression>,
        span: Span,
    ) -> Type {
        let element = element.map(|element| match &element.kind {
            ast::TypeKind::Named(name) if name.is("message") => Type::Message,
            ast::TypeKind::Named(_)
            | ast::TypeKind::Container { .. }
            | ast::TypeKind::Enum(_)
            | ast::TypeKind::Optional(_) => self.value_type(element),
        });
        if !CONTAINERS.contains(&name.text.as_str()) {
            return self.no_container(name, element.is_none(), span);
        }
        let capacity = match capacity {
            Some(capacity) => self.capacity(capacity),
            None => {
                let title = format!("how much does this {name} hold?");
                let missing = Diagnostic::error(Id::NotConstant, title, span, "no capacity");
                self.report(
                    missing
                        .why("Every container has a capacity: there is no heap.")
                        .help(format!("write it behind: `{}[16]`", self.text(span))),
                );
                1
            }
        };
        match (name.text.as_str(), element) {
            (_, Some(Type::Nothing)) => Type::Nothing,
            ("bytes", None) => Type::Bytes(capacity),
            ("set", None) => Type::Set(capacity),
            ("queue", Some(element)) => Type::Queue(Box::new(element), capacity),
            ("window", Some(element)) => Type::Window(Box::new(element), 32, capacity),
            ("stream", Some(position @ (Type::Unsigned(_) | Type::Sequence(_)))) => {
                Type::Stream(Box::new(position), capacity)
            }
            ("array", Some(element)) if element != Type::Message => {
                Type::Array(Box::new(element), capacity)
            }
            _ => self.no_container(name, false, span),
        }
    }

    /// `Vec<u8>[4]`, or `u8[4]`, which has no element behind its name.
    fn no_container(&mut self, name: &ast::Name, is_plain: bool, span: Span) -> Type {
        let text = self.text(span);
        let title = format!("`{text}` is not a type");
        let unknown = Diagnostic::error(Id::UnknownType, title, span, "unknown");
        let help = match text.strip_prefix(&name.text) {
            Some(rest) if is_plain && built_in_type(&name.text).is_some() => {
                format!("write `array<{name}>{rest}`")
            }
            Some(_) | None => "containers are `bytes[N]`, `set[N]`, `array<T>[N]`, \
                               `queue<T>[N]`, `window<T>[N]` and `stream<u32>[N]`"
                .to_owned(),
        };
        self.report(unknown.help(help));
        Type::Nothing
    }

    /// A type of values: of what is passed around, as no container is.
    pub fn value_type(&mut self, source: &ast::Type) -> Type {
        self.external_types = false;
        match self.written_type(source) {
            of if holds_things(&of) => self.no_value(&of, source.span),
            of => of,
        }
    }

    fn no_value(&mut self, of: &Type, span: Span) -> Type {
        let title = format!("{} is a field of an instance", self.describe(of));
        let refused = Diagnostic::error(Id::TypeMismatch, title, span, "a value is expected");
        self.report(
            refused
                .why("What holds several things stays where it is, and is no part of anything.")
                .help(match of {
                    Type::Array(..) => {
                        "arrays in an array are one: `a[i * 8 + j]`; a constant one is a `fn` with \
                        a `match`"
                    }
                    _ => "give each a `child`: `child one(key: u8)[N] { … }`",
                }),
        );
        Type::Nothing
    }

    /// `window<message>[64] by seq16`: a window with numbers of another width.
    fn numbered(&mut self, of: Type, by: &ast::Type) -> Type {
        match (of, self.written_type(by)) {
            (Type::Nothing, _) | (_, Type::Nothing) => Type::Nothing,
            (Type::Window(of, _, size), Type::Sequence(width)) => Type::Window(of, width, size),
            (Type::Window(..), _) => {
                let title = "the numbers of a window have an order that comes round";
                let refused = Diagnostic::error(Id::TypeMismatch, title, by.span, "no sequence");
                self.report(refused.help("write `by seq8`, `by seq16` or `by seq32`"));
                Type::Nothing
            }
            (of, _) => {
                let title = format!("{} has no numbers", self.describe(&of));
                let refused = Diagnostic::error(Id::TypeMismatch, title, by.span, "not a window");
                self.report(refused.help("only a `window` holds what it holds by number"));
                Type::Nothing
            }
        }
    }

    /// `bytes[at most N]`; no other container says so how much it holds.
    fn bounded(&mut self, of: Type, span: Span) -> Type {
        match of {
            Type::Bytes(most) if most <= MOST_BYTES => Type::BoundedBytes(most),
            Type::Bytes(UNKNOWN) if self.scope.alone => Type::BoundedBytes(MOST_BYTES),
            Type::Bytes(REFUSED) => Type::BoundedBytes(MOST_BYTES),
            Type::Bytes(most) => {
                let title = format!("{most} bytes are too many for a value");
                let label = format!("at most {MOST_BYTES}");
                let refused = Diagnostic::error(Id::NotConstant, title, span, label);
                self.report(
                    refused.why("Bounded bytes are copied, and have a length of one byte."),
                );
                Type::Nothing
            }
            Type::Nothing => Type::Nothing,
            other => {
                let title = format!("{} has no `at most`", self.describe(&other));
                let refused = Diagnostic::error(Id::TypeMismatch, title, span, "no bytes");
                self.report(refused.help("only `bytes[at most N]` may be shorter than it is long"));
                Type::Nothing
            }
        }
    }

    /// Only a stream and a window begin somewhere: at one position, or at one number.
    fn check_start(&mut self, of: &Type, start: &[ast::Expression]) {
        let [first, ..] = start else { return };
        let title = match of {
            Type::Nothing => return,
            Type::Stream(..) | Type::Window(..) if start.len() == 1 => return,
            Type::Stream(..) => "a stream begins at one position".to_string(),
            Type::Window(..) => "a window begins at one number".to_string(),
            other => format!("{} begins empty", self.describe(other)),
        };
        let label = "only a stream or a window begins at a number, and at one";
        self.report(Diagnostic::error(
            Id::WrongArguments,
            title,
            first.span,
            label,
        ));
    }

    /// Numbers and positions tell apart what a container may hold at a time.
    fn check_numbers(&mut self, of: &Type, span: Span) {
        let (width, size, most) = match of {
            Type::Window(_, width, size) => (*width, *size, mask(*width) / 2 + 1),
            Type::Stream(position, size) => {
                let width = self.width(position).unwrap_or(64);
                (width, *size, mask(width))
            }
            _ => return,
        };
        if width > 32 {
            let title = "the positions of a stream have at most 32 bits";
            let refused = Diagnostic::error(Id::TypeMismatch, title, span, "wider than that");
            self.report(
                refused
                    .why("Positions come round, and need only tell apart what is held at a time.")
                    .help("write `stream<u32>[…]`, and count in a field of your own"),
            );
        } else if u64::from(size) > most
            && size != REFUSED
            && !(self.scope.alone && size == UNKNOWN)
        {
            let title = format!("{width} bits do not tell {size} apart");
            let label = format!("at most {most} can be held");
            let refused = Diagnostic::error(Id::NotConstant, title, span, label);
            self.report(
                refused
                    .why("What is held is told apart, and in order, by numbers that come round.")
                    .help("use wider numbers, or hold fewer"),
            );
        }
    }

    fn capacity(&mut self, source: &ast::Expression) -> u32 {
        let size = self.check(source, Some(&Type::Unsigned(32)));
        match fold(self.context.program, &size) {
            _ if size.result == Type::Nothing => REFUSED,
            Some(Value::Number(size)) if (1..=MOST).contains(&size) => size as u32,
            Some(_) => {
                let title = "this is no sensible capacity";
                let label = format!("not between 1 and {MOST}");
                self.report(Diagnostic::error(
                    Id::NotConstant,
                    title,
                    source.span,
                    label,
                ));
                REFUSED
            }
            // A layer by itself does not know its parameters; a stack will.
            None if self.scope.alone => UNKNOWN,
            None => {
                let title = "a capacity is fixed before the stack starts";
                let refused = Diagnostic::error(Id::NotConstant, title, source.span, "not fixed");
                self.report(
                    refused
                        .why("Pools and containers have their place in memory from the start.")
                        .help("use constants, and parameters that the stack gives as constants"),
                );
                REFUSED
            }
        }
    }

    /// What a type is called.
    pub fn describe(&self, of: &Type) -> String {
        match of {
            Type::Unsigned(width) => format!("u{width}"),
            Type::Signed(width) => format!("i{width}"),
            Type::Bool => "bool".to_string(),
            Type::Sequence(width) => format!("seq{width}"),
            Type::Time => "time".to_string(),
            Type::Bytes(size) => format!("bytes[{size}]"),
            Type::BoundedBytes(most) => format!("bytes[at most {most}]"),
            Type::UnboundedBytes => "bytes".to_string(),
            Type::Enum(id) => self.context.program.enums[id.at()].name.clone(),
            Type::Record(id) => self.context.program.records[id.at()].name.clone(),
            Type::Optional(inner) => format!("{}?", self.describe(inner)),
            Type::Message => "message".to_string(),
            Type::Queue(element, size) => format!("queue<{}>[{size}]", self.describe(element)),
            Type::Window(of, 32, size) => format!("window<{}>[{size}]", self.describe(of)),
            Type::Window(of, width, size) => {
                format!("window<{}>[{size}] by seq{width}", self.describe(of))
            }
            Type::Stream(position, size) => {
                format!("stream<{}>[{size}]", self.describe(position))
            }
            Type::Array(element, size) => format!("array<{}>[{size}]", self.describe(element)),
            Type::Set(size) => format!("set[{size}]"),
            Type::Instance(kind) => self.context.program.kinds[kind.at()].name.clone(),
            Type::Header(id) => format!("header {}", self.context.program.headers[id.at()].name),
            Type::Abstract(name) => name.clone(),
            Type::Nothing => "nothing".to_string(),
        }
    }

    /// Bits of a number of this type; none of what is no number.
    pub fn width(&self, of: &Type) -> Option<u8> {
        width(self.context.program, of)
    }

    /// A value where one of this type is expected.
    pub fn coerce(&mut self, value: Expression, expected: &Type, span: Span) -> Expression {
        if value.result == *expected {
            return value;
        }
        if value.result == Type::Nothing || *expected == Type::Nothing {
            return nothing();
        }
        if let Some(value) = self.adapt_constant(&value, expected, span) {
            return value;
        }
        match (&value.result, expected) {
            (Type::Optional(_), Type::Optional(_)) => {}
            (_, Type::Optional(inner)) => {
                let value = self.coerce(value, inner, span);
                return match value.result == Type::Nothing {
                    true => value,
                    false => make(ExpressionKind::Some(value), expected.clone()),
                };
            }
            (Type::Bytes(size) | Type::BoundedBytes(size), Type::BoundedBytes(most))
                if size <= most =>
            {
                return make(ExpressionKind::Bounded(value), expected.clone());
            }
            (from, to) if self.widens(from, to) || self.counts_from(&value, to) => {
                return make(ExpressionKind::Cast(value), expected.clone());
            }
            _ => {}
        }
        self.refuse_type(&value, expected, span)
    }

    /// A constant takes the type that is expected, if it fits.
    fn adapt_constant(
        &mut self,
        value: &Expression,
        expected: &Type,
        span: Span,
    ) -> Option<Expression> {
        let constant = constant_number(value)?;
        match (&value.result, expected) {
            (Type::Unsigned(_), Type::Bytes(size)) if constant == 0 => {
                let zeros = Value::Bytes(vec![0; *size as usize]);
                return Some(make(ExpressionKind::Constant(zeros), expected.clone()));
            }
            (Type::Unsigned(_), Type::BoundedBytes(_)) if constant == 0 => {
                let empty = ExpressionKind::Constant(Value::Bytes(Vec::new()));
                return Some(make(empty, expected.clone()));
            }
            (Type::Unsigned(_), Type::Time) if constant == 0 => {}
            (Type::Unsigned(_) | Type::Signed(_), Type::Unsigned(_) | Type::Sequence(_)) => {}
            (Type::Unsigned(_) | Type::Signed(_), Type::Signed(_)) => {}
            _ => return None,
        }
        let negative = matches!(value.result, Type::Signed(_)) && (constant as i64) < 0;
        let turns = match matches!(expected, Type::Signed(_)) {
            true => !negative && constant > i64::MAX as u64,
            false => negative,
        };
        if turns || cut(self.context.program, expected, constant) != constant {
            return Some(self.refuse_number(constant, negative, expected, span));
        }
        let writings = &mut self.context.program.writings;
        writings.adapt(&value.result, expected, constant);
        Some(number_of(constant, expected))
    }

    /// A number that does not fit.
    fn refuse_number(
        &mut self,
        constant: u64,
        negative: bool,
        expected: &Type,
        span: Span,
    ) -> Expression {
        let written = match negative {
            true => format!("{}", constant as i64),
            false => format!("{constant}"),
        };
        let name = self.describe(expected);
        let title = format!("{written} does not fit into {name}");
        let range = match (expected, self.width(expected)) {
            (Type::Signed(_), Some(width)) => {
                let half = mask(width) / 2;
                format!("{name} holds -{} to {half}", u128::from(half) + 1)
            }
            (_, Some(width)) => format!("{name} holds 0 to {}", mask(width)),
            (_, None) => format!("{name} is expected"),
        };
        let refused = Diagnostic::error(Id::NumberTooLarge, title, span, range).misfit();
        if negative && !matches!(expected, Type::Signed(_)) {
            let signed = "only `i8` to `i64` hold what is less than zero; all bits set are `~0`";
            return self.refuse(refused.help(signed));
        }
        self.refuse(refused.help(format!(
            "use a wider type; a value that is computed with it is widened by `as`: \
             `x as u{}`",
            (64 - constant.leading_zeros()).next_power_of_two().max(8)
        )))
    }

    /// Whether every value of one type is one of the other.
    pub fn widens(&self, from: &Type, to: &Type) -> bool {
        match (from, to) {
            (Type::Unsigned(from), Type::Unsigned(to)) => from <= to,
            (Type::Signed(from), Type::Signed(to)) => from <= to,
            (Type::Unsigned(from), Type::Signed(to)) => from < to,
            (Type::Enum(id), Type::Unsigned(to)) => {
                self.context.program.enums[id.at()].width <= *to
            }
            _ => false,
        }
    }

    /// Whether this is a parameter that becomes a number of a sequence, as a constant would.
    fn counts_from(&self, value: &Expression, to: &Type) -> bool {
        let (Type::Unsigned(from), Type::Sequence(to)) = (&value.result, to) else {
            return false;
        };
        from <= to && matches!(*value.kind, ExpressionKind::Config(_))
    }

    fn refuse_type(&mut self, value: &Expression, expected: &Type, span: Span) -> Expression {
        let (is, wanted) = (self.describe(&value.result), self.describe(expected));
        let text = self.text(span);
        let title = format!("{wanted} is expected here, and this is {is}");
        let mismatch = |id| Diagnostic::error(id, title.clone(), span, format!("this is {is}"));
        let numbers = self.width(&value.result).is_some() && self.width(expected).is_some();
        let diagnostic = match (&value.result, expected) {
            (Type::Optional(inner), _) if **inner == *expected || self.widens(inner, expected) => {
                mismatch(Id::PerhapsNone)
                    .why("What is optional may be none.")
                    .help(format!(
                        "say what it is then: `{text} else …`, or test it before: \
                         `if present {text} {{ … }}`"
                    ))
            }
            (Type::Unsigned(_), Type::Time) => mismatch(Id::TypeMismatch)
                .help("a length of time has a unit: `200 ms`, `1 s`, `2 min`"),
            (Type::Unsigned(_) | Type::Enum(_), Type::Bool) => {
                mismatch(Id::TypeMismatch).help(format!("compare it: `{text} != 0`"))
            }
            (_, Type::Unsigned(_) | Type::Signed(_) | Type::Sequence(_)) if numbers => {
                let written = match self.is_single(span) {
                    true => format!("{text} as {wanted}"),
                    false => format!("({text}) as {wanted}"),
                };
                if value.result == Type::Bool {
                    let diagnostic = mismatch(Id::NarrowingNeedsAs)
                        .why("A condition is no number by itself.")
                        .help(format!("`{written}` is 1 where it holds, and 0 elsewhere"));
                    return self.refuse(diagnostic.misfit());
                }
                mismatch(Id::NarrowingNeedsAs)
                    .why("What could change a number is written, so that it can be seen.")
                    .help(format!("`{written}` keeps the low bits"))
            }
            _ => mismatch(Id::TypeMismatch),
        };
        // What may be none lacks a test, at each place one of its own.
        self.refuse(match diagnostic.id {
            Id::PerhapsNone => diagnostic,
            _ => diagnostic.misfit(),
        })
    }

    /// Whether a text is one word, or words with dots.
    fn is_single(&self, span: Span) -> bool {
        let text = self.text(span);
        text.chars()
            .all(|letter| letter.is_alphanumeric() || letter == '_' || letter == '.')
    }

    /// Something that Loom means to have and that this compiler does not do.
    pub fn not_yet(&mut self, what: &str, span: Span) {
        let title = format!("{what} cannot be compiled yet");
        self.report(Diagnostic::error(Id::NotYet, title, span, "not yet"));
    }
}

fn number_of(constant: u64, expected: &Type) -> Expression {
    make(
        ExpressionKind::Constant(Value::Number(constant)),
        expected.clone(),
    )
}

/// Whether this stays where it is, and is changed by its operations alone.
pub(super) fn holds_things(of: &Type) -> bool {
    match of {
        Type::Queue(..) | Type::Window(..) | Type::Stream(..) | Type::Array(..) | Type::Set(_) => {
            true
        }
        Type::Unsigned(_)
        | Type::Signed(_)
        | Type::Bool
        | Type::Sequence(_)
        | Type::Time
        | Type::Bytes(_)
        | Type::BoundedBytes(_)
        | Type::UnboundedBytes
        | Type::Enum(_)
        | Type::Record(_)
        | Type::Optional(_)
        | Type::Message
        | Type::Instance(_)
        | Type::Header(_)
        | Type::Abstract(_)
        | Type::Nothing => false,
    }
}

/// What a type of C, or of Rust, is called in Loom.
fn type_elsewhere(name: &str) -> Option<&'static str> {
    Some(match name {
        "uint8_t" | "uint8" | "byte" | "char" => "u8",
        "uint16_t" | "uint16" => "u16",
        "uint32_t" | "uint32" | "usize" | "size_t" | "unsigned" => "u32",
        "uint64_t" | "uint64" => "u64",
        "int8_t" | "int8" => "i8",
        "int16_t" | "int16" => "i16",
        "int32_t" | "int32" | "int" => "i32",
        "int64_t" | "int64" => "i64",
        _ => return None,
    })
}

/// The types that have a capacity.
const CONTAINERS: [&str; 6] = ["bytes", "set", "queue", "window", "stream", "array"];

/// The types that every layer knows.
fn built_in_type(name: &str) -> Option<Type> {
    match name {
        "bool" => return Some(Type::Bool),
        "time" => return Some(Type::Time),
        IPV4_ADDRESS => return Some(Type::Unsigned(32)),
        "seq8" => return Some(Type::Sequence(8)),
        "seq16" => return Some(Type::Sequence(16)),
        "seq32" => return Some(Type::Sequence(32)),
        _ => {}
    }
    let (letter, digits) = name.split_at_checked(1)?;
    let width: u8 = digits.parse().ok()?;
    let plain = !digits.starts_with('0') && !digits.starts_with('+');
    match letter {
        "u" if plain && (1..=64).contains(&width) => Some(Type::Unsigned(width)),
        "i" if plain && (8..=64).contains(&width) => Some(Type::Signed(width)),
        _ => None,
    }
}
