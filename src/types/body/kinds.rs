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
        let mut diagnostic = Diagnostic::error(Id::UnknownType, title, name.span, "unknown type");
        let near = type_elsewhere(&name.text).or_else(|| closest(&name.text, known));
        diagnostic = match (name.text.as_str(), near) {
            ("bytes" | "set", _) => diagnostic
                .why("There is no heap, so each container has a capacity.")
                .help(format!("write `{name}[N]`")),
            ("queue" | "window" | "stream" | "array", _) => diagnostic
                .why("There is no heap, so each container has a capacity.")
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
                let title = format!("this {name} has no capacity");
                let missing = Diagnostic::error(Id::NotConstant, title, span, "expected `[N]`");
                self.report(
                    missing
                        .why("There is no heap, so each container has a capacity.")
                        .help(format!("add a capacity, such as `{}[16]`", self.text(span))),
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
        let unknown = Diagnostic::error(Id::UnknownType, title, span, "unknown type");
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
        let title = format!("`{}` can only be a field of an instance", self.describe(of));
        let refused = Diagnostic::error(Id::TypeMismatch, title, span, "expected a type of values");
        self.report(
            refused
                .why("A container cannot be part of a value or of another container.")
                .help(match of {
                    Type::Array(..) => {
                        "use one array for two dimensions: `a[i * 8 + j]`; a constant table is a \
                        `fn` with a `match`"
                    }
                    _ => "declare a `child` for each: `child one(key: u8)[N] { … }`",
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
                let title = "the numbers of a window must be a sequence type";
                let refused = Diagnostic::error(
                    Id::TypeMismatch,
                    title,
                    by.span,
                    "not `seq8`, `seq16` or `seq32`",
                );
                self.report(refused.help("write `by seq8`, `by seq16` or `by seq32`"));
                Type::Nothing
            }
            (of, _) => {
                let title = format!("`{}` does not take `by`", self.describe(&of));
                let refused = Diagnostic::error(Id::TypeMismatch, title, by.span, "not a window");
                self.report(refused.help("only a `window` numbers its elements"));
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
                let title = format!("a value cannot have {most} bytes");
                let label = format!("at most {MOST_BYTES}");
                let refused = Diagnostic::error(Id::NotConstant, title, span, label);
                self.report(refused.why(
                    "A value of type `bytes[at most N]` is copied, and its length is \
                        stored in one byte.",
                ));
                Type::Nothing
            }
            Type::Nothing => Type::Nothing,
            other => {
                let title = format!("`{}` does not take `at most`", self.describe(&other));
                let refused = Diagnostic::error(Id::TypeMismatch, title, span, "not bytes");
                self.report(refused.help("only `bytes[at most N]` has a variable length"));
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
            Type::Stream(..) => "a stream needs one initial position".to_string(),
            Type::Window(..) => "a window needs one initial number".to_string(),
            other => format!(
                "`{}` has no initial value: it begins empty",
                self.describe(other)
            ),
        };
        let label = "only a stream or a window takes an initial number, and only one";
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
            let title = "the positions of a stream are numbers of at most 32 bits";
            let refused = Diagnostic::error(Id::TypeMismatch, title, span, "more than 32 bits");
            self.report(
                refused
                    .why(
                        "Positions wrap around, and must only be unique among the bytes that the \
                        stream holds at a time.",
                    )
                    .help("write `stream<u32>[…]`, and count all bytes in a field"),
            );
        } else if u64::from(size) > most
            && size != REFUSED
            && !(self.scope.alone && size == UNKNOWN)
        {
            let title = format!("{width} bits are too few to number {size} elements");
            let label = format!("at most {most} elements");
            let refused = Diagnostic::error(Id::NotConstant, title, span, label);
            self.report(
                refused
                    .why(
                        "The numbers of the elements wrap around, so the capacity is at most half \
                        of their range.",
                    )
                    .help("use wider numbers or a smaller capacity"),
            );
        }
    }

    fn capacity(&mut self, source: &ast::Expression) -> u32 {
        let size = self.check(source, Some(&Type::Unsigned(32)));
        match fold(self.context.program, &size) {
            _ if size.result == Type::Nothing => REFUSED,
            Some(Value::Number(size)) if (1..=MOST).contains(&size) => size as u32,
            Some(_) => {
                let title = "the capacity is out of range";
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
                let title = "a capacity must be constant";
                let refused =
                    Diagnostic::error(Id::NotConstant, title, source.span, "not a constant");
                self.report(
                    refused
                        .why("The compiler reserves the memory of containers and instances.")
                        .help(
                            "use constants, and parameters whose value in the stack is a constant",
                        ),
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
        let title = format!("`{written}` does not fit into `{name}`");
        let range = match (expected, self.width(expected)) {
            (Type::Signed(_), Some(width)) => {
                let half = mask(width) / 2;
                format!("`{name}` holds -{} to {half}", u128::from(half) + 1)
            }
            (_, Some(width)) => format!("`{name}` holds 0 to {}", mask(width)),
            (_, None) => format!("expected `{name}`"),
        };
        let refused = Diagnostic::error(Id::NumberTooLarge, title, span, range).misfit();
        if negative && !matches!(expected, Type::Signed(_)) {
            let signed = "only `i8` to `i64` hold negative numbers; write `~0` for all bits set";
            return self.refuse(refused.help(signed));
        }
        self.refuse(refused.help(format!(
            "use a wider type; convert the other operands with `as`, such as `x as u{}`",
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
        let title = format!("expected `{wanted}`, but this is `{is}`");
        let mismatch =
            |id| Diagnostic::error(id, title.clone(), span, format!("the type is `{is}`"));
        let numbers = self.width(&value.result).is_some() && self.width(expected).is_some();
        let diagnostic = match (&value.result, expected) {
            (Type::Optional(inner), _) if **inner == *expected || self.widens(inner, expected) => {
                mismatch(Id::PerhapsNone)
                    .why("An optional value may be `none`.")
                    .help(format!(
                        "add a replacement: `{text} else …`, or test it before: \
                         `if present {text} {{ … }}`"
                    ))
            }
            (Type::Unsigned(_), Type::Time) => {
                mismatch(Id::TypeMismatch).help("a duration has a unit: `200 ms`, `1 s`, `2 min`")
            }
            (Type::Unsigned(_) | Type::Enum(_), Type::Bool) => {
                mismatch(Id::TypeMismatch).help(format!("write a comparison: `{text} != 0`"))
            }
            (_, Type::Unsigned(_) | Type::Signed(_) | Type::Sequence(_)) if numbers => {
                let written = match self.is_single(span) {
                    true => format!("{text} as {wanted}"),
                    false => format!("({text}) as {wanted}"),
                };
                if value.result == Type::Bool {
                    let diagnostic = mismatch(Id::NarrowingNeedsAs)
                        .why("A condition does not convert to a number implicitly.")
                        .help(format!(
                            "`{written}` is 1 if the condition is true, and 0 if it is \
                            false"
                        ));
                    return self.refuse(diagnostic.misfit());
                }
                mismatch(Id::NarrowingNeedsAs)
                    .why("A conversion that can change a number needs `as`.")
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
        self.report(Diagnostic::error(
            Id::NotYet,
            title,
            span,
            "not supported yet",
        ));
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
