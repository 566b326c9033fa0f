//! Expressions: what the checked program computes comes in, C goes out.
//!
//! A number has the C type of its width. C computes what is narrower than `int` as `int`, so each
//! result is either known to be right as it stands ([`Typed::promoted`]) or cut to its width at
//! once; the cast back to the narrow type is written where the value is kept, not where it is
//! compared. An optional is never one value in C but two: whether it is there, and what it is.

use super::layout::{bits, c_bits, c_type, mask};
use super::scope::Scope;
use super::wire;
use crate::c::tree::{Expression as C, atom, binary, call, conditional};
use crate::types::constant::fold;
use crate::types::expression::{Binary, Expression, ExpressionKind as Kind, Query, Variable};
use crate::types::program::{HeaderFieldId, HeaderId};
use crate::types::value::{Type, Value};

/// A value in C.
#[derive(Clone, Debug)]
pub struct Typed {
    /// The expression; its value is right.
    pub c: C,
    /// Its C type is `int`, though the value's own is narrower.
    pub promoted: bool,
    /// The same without a cast that only widens it.
    pub narrow: Option<C>,
}

/// Right as it stands, and of its own type.
pub fn exact(c: C) -> Typed {
    Typed {
        c,
        promoted: false,
        narrow: None,
    }
}

/// Right as it stands, but an `int`.
pub fn promoted(c: C) -> Typed {
    Typed {
        promoted: true,
        ..exact(c)
    }
}

impl Scope<'_> {
    /// As it is compared or tested.
    pub fn value(&self, expression: &Expression) -> C {
        let typed = self.typed(expression);
        typed.narrow.unwrap_or(typed.c)
    }

    /// As it is kept or handed over: of its own C type, or of one that converts without loss.
    pub fn stored(&self, expression: &Expression) -> C {
        let typed = self.typed(expression);
        match (typed.promoted, typed.narrow) {
            (true, _) => typed.c.cast(c_type(self.stack, &expression.result)),
            (false, Some(narrow)) => narrow,
            (false, None) => typed.c,
        }
    }

    /// As an operand of arithmetic: of its own C type, promoted at most.
    pub(super) fn operand(&self, expression: &Expression) -> C {
        let c = self.typed(expression).c;
        let unsigned = matches!(expression.result, Type::Unsigned(17..));
        match c {
            // One of two constants would be an `int`.
            C::Conditional(condition, then, otherwise)
                if unsigned && are_numbers(&then, &otherwise) =>
            {
                let C::Atom(then) = *then else {
                    unreachable!("a number is an atom");
                };
                C::Conditional(condition, Box::new(atom(then + "U")), otherwise)
            }
            c => c,
        }
    }

    /// An argument list: what is optional takes two places, and a message goes by its address.
    pub fn arguments(&self, expression: &Expression) -> Vec<C> {
        match &expression.result {
            Type::Optional(_) => vec![self.present(expression), self.unwrapped(expression)],
            Type::Message => match &*expression.kind {
                Kind::Read(Variable::Local(local)) => vec![self.message_address(*local)],
                _ => unreachable!("only a message that has a name is handed to a function"),
            },
            _ => vec![self.stored(expression)],
        }
    }

    pub(super) fn width(&self, kind: &Type) -> u32 {
        bits(self.stack, kind).unwrap_or(64)
    }

    /// As it stands in C.
    pub fn typed(&self, expression: &Expression) -> Typed {
        let result = &expression.result;
        if let Some(value) = self.folded(expression) {
            return exact(self.constant(&value, result));
        }
        match &*expression.kind {
            Kind::Constant(value) => exact(self.constant(value, result)),
            Kind::Config(_)
            | Kind::Read(_)
            | Kind::Key(..)
            | Kind::Header(..)
            | Kind::Peeked(..)
            | Kind::HeaderPresent(..)
            | Kind::PeekedPresent(..)
            | Kind::OptionsHold(_)
            | Kind::Attribute(..)
            | Kind::Length(_)
            | Kind::WholeLength
            | Kind::Below
            | Kind::Now
            | Kind::Signal(_) => self.read(expression),
            Kind::Unary(operator, a) => self.unary(*operator, a, result),
            Kind::Binary(operator, a, b) => self.binary(*operator, a, b, result),
            Kind::If(a, b, c) => self.choice(self.value(a), b, c),
            Kind::Some(a) => self.typed(a),
            Kind::Unwrap(a) => exact(self.unwrapped(a)),
            Kind::Present(a) => exact(self.present(a)),
            Kind::Else(a, b) => {
                if let Kind::If(there, some, none) = &*a.kind
                    && let (Kind::Some(value), Kind::Constant(Value::None)) =
                        (&*some.kind, &*none.kind)
                {
                    return self.choice(self.value(there), value, b);
                }
                let found = self.unwrapped(a);
                let other = self.typed(b);
                Typed {
                    c: conditional(self.present(a), found, other.c),
                    ..other
                }
            }
            Kind::Cast(a) => self.cast(a, result),
            Kind::BytesLength(a) => exact(self.value(a).member("length")),
            Kind::ByteAt(a, index) => exact(self.value(a).member("at").element(self.stored(index))),
            Kind::Bounded(a) => exact(self.bounded(a, result)),
            Kind::Call(function, arguments) => {
                exact(super::function::call_of(self, *function, arguments))
            }
            Kind::Least(a, b) => self.one_of("smaller", Binary::AtMost, a, b),
            Kind::Greatest(a, b) => self.one_of("larger", Binary::AtLeast, a, b),
            Kind::Query(query) => exact(self.query(query)),
            Kind::Through(filter, arguments, message) => {
                let data = self.of_message(*message, "data");
                let length = self.of_message(*message, "length");
                exact(super::function::filter_call(
                    self,
                    *filter,
                    vec![data, length],
                    arguments,
                ))
            }
        }
    }

    /// Fixed bytes, or bytes with a smaller bound, as bytes with this one.
    fn bounded(&self, bytes: &Expression, result: &Type) -> C {
        call(
            super::types::bounded_from(self.stack, &bytes.result, result),
            vec![self.value(bytes)],
        )
    }

    /// What is computed of nothing but constants.
    fn folded(&self, expression: &Expression) -> Option<Value> {
        match &*expression.kind {
            Kind::Unary(..)
            | Kind::Binary(..)
            | Kind::Cast(_)
            | Kind::Least(..)
            | Kind::Greatest(..) => fold(self.stack.program, expression),
            _ => None,
        }
    }

    /// What stands somewhere, and is only read.
    fn read(&self, expression: &Expression) -> Typed {
        let result = &expression.result;
        match &*expression.kind {
            Kind::Config(id) => exact(config(self, id.at(), "")),
            Kind::Read(Variable::Local(local)) if *result == Type::Message => {
                exact(self.message(*local))
            }
            Kind::Read(Variable::Local(local)) if self.values.contains_key(local) => {
                self.values[local].clone()
            }
            Kind::Read(variable) => exact(self.place(variable)),
            Kind::Key(instance, kind, key) => {
                match self.constant_key(*instance, *kind, key.at(), result) {
                    Some(constant) => self.typed(&constant),
                    None => exact(self.key(expression, "")),
                }
            }
            Kind::Header(header, field) => {
                let base = self
                    .headers
                    .get(header)
                    .expect("a header is read where one was");
                self.load(*header, *field, base, result)
            }
            Kind::Peeked(local, header, field) => {
                self.load(*header, *field, &atom(self.known(*local)), result)
            }
            Kind::HeaderPresent(header, field) => {
                let base = self.headers.get(header);
                let base = base.expect("a header is asked where one was read");
                exact(wire::present(self, *header, *field, base))
            }
            Kind::PeekedPresent(local, header, field) => {
                let base = atom(self.known(*local));
                exact(wire::present(self, *header, *field, &base))
            }
            Kind::OptionsHold(header) => {
                let base = self.headers.get(header);
                let base = base.expect("a header is judged where one was read");
                exact(super::options::hold(self, *header, base))
            }
            Kind::Attribute(message, id) => {
                exact(self.of_message(*message, &self.stack.names.attributes[id.at()]))
            }
            Kind::Length(message) => {
                // A header that is summed has been put before it.
                let data = self.lengths.as_ref().map(|(_, data)| data.clone());
                let length = data.unwrap_or_else(|| self.of_message(*message, "length"));
                self.resized(exact(length), 32, false, result)
            }
            Kind::WholeLength => {
                let length = self.lengths.as_ref().map(|(whole, _)| whole.clone());
                let length = length.expect("a whole length is asked for in a header's sums");
                self.resized(exact(length), 32, false, result)
            }
            Kind::Below => exact(self.below.clone().expect("a header that asks is told whom")),
            Kind::Now => exact(atom("stack").behind("now_ns")),
            other => unreachable!("{other:?} is computed"),
        }
    }

    fn choice(&self, condition: C, then: &Expression, otherwise: &Expression) -> Typed {
        let kind = &then.result;
        let (then, otherwise) = (self.typed(then), self.typed(otherwise));
        let sides = [&then, &otherwise];
        let is_narrow = bits(self.stack, kind).is_some_and(|bits| bits < 32);
        let promoted = sides
            .iter()
            .any(|side| side.promoted || is_narrow && is_same(&side.c));
        Typed {
            c: conditional(condition, then.c, otherwise.c),
            promoted,
            narrow: None,
        }
    }

    /// The smaller or larger of two; what is more than a name is written once.
    fn one_of(&self, name: &str, operator: Binary, a: &Expression, b: &Expression) -> Typed {
        if let Some(first) = self.decided(operator, a, b) {
            return self.typed(if first { a } else { b });
        }
        let bits = match &a.result {
            Type::Unsigned(width) => c_bits(u32::from(*width)),
            Type::Time => 64,
            // Of two that are equal either is right, and whether one is less is seen at a sign.
            Type::Sequence(_) if operator == Binary::AtMost => {
                return self.choice(self.compared(Binary::Less, a, b), a, b);
            }
            _ => return self.choice(self.compared(operator, a, b), a, b),
        };
        if self.is_plain(a) && self.is_plain(b) {
            return self.choice(self.compared(operator, a, b), a, b);
        }
        let both = vec![self.stored(a), self.stored(b)];
        exact(call(format!("{name}{bits}"), both))
    }

    /// Whether a value is a name or a constant, however wide.
    fn is_plain(&self, value: &Expression) -> bool {
        match &*value.kind {
            Kind::Cast(inner) => self.is_plain(inner),
            Kind::Read(Variable::Local(local)) => !self.values.contains_key(local),
            Kind::Constant(_) | Kind::Config(_) | Kind::Read(_) | Kind::Length(_) => true,
            _ => false,
        }
    }

    fn key(&self, expression: &Expression, before: &str) -> C {
        let Kind::Key(instance, kind, key) = &*expression.kind else {
            unreachable!("only keys are looked up as keys");
        };
        let name = &self.stack.program.kinds[kind.at()].keys[key.at()].name;
        let name = format!("{before}{}", super::names::c_name(name));
        self.instance(*instance, *kind).member(name)
    }

    fn load(&self, header: HeaderId, field: HeaderFieldId, base: &C, result: &Type) -> Typed {
        let loaded = wire::load(self, header, field, base);
        if *result == Type::Bool || matches!(result, Type::Bytes(_) | Type::BoundedBytes(_)) {
            return exact(loaded.c);
        }
        if loaded.bits < 32 && loaded.cut {
            promoted(loaded.c)
        } else {
            exact(loaded.c)
        }
    }

    /// Whether an optional is there.
    pub fn present(&self, expression: &Expression) -> C {
        match &*expression.kind {
            Kind::Constant(Value::None) => atom("false"),
            Kind::Constant(_) | Kind::Some(_) => atom("true"),
            Kind::Config(id) => config(self, id.at(), "has_"),
            Kind::Read(variable) => self.beside(variable, "has_", ""),
            Kind::Key(instance, kind, key) => {
                match self.constant_key(*instance, *kind, key.at(), &expression.result) {
                    Some(constant) => self.present(&constant),
                    None => self.key(expression, "has_"),
                }
            }
            Kind::Attribute(message, id) => {
                let name = &self.stack.names.attributes[id.at()];
                self.of_message(*message, &format!("has_{name}"))
            }
            Kind::If(a, b, c) => match (&*b.kind, &*c.kind) {
                (Kind::Some(_), Kind::Constant(Value::None)) => self.value(a),
                _ => conditional(self.value(a), self.present(b), self.present(c)),
            },
            Kind::Else(a, b) => binary("||", self.present(a), self.present(b)),
            Kind::Call(..) => self.typed(expression).c.member("present"),
            Kind::Query(Query::First(window)) => {
                binary("!=", self.place(window).member("span"), atom("0"))
            }
            Kind::Cast(a) => self.present(a),
            _ => unreachable!("nothing else is optional: {:?}", expression.kind),
        }
    }

    /// What an optional is, if it is there; else anything.
    pub fn unwrapped(&self, expression: &Expression) -> C {
        match &*expression.kind {
            Kind::Some(a) => self.stored(a),
            Kind::Constant(value) => match (&expression.result, value) {
                (Type::Optional(inner), Value::None) => self.zero(inner),
                (Type::Optional(inner), value) => self.constant(value, inner),
                (other, value) => self.constant(value, other),
            },
            Kind::Key(instance, kind, key) => {
                match self.constant_key(*instance, *kind, key.at(), &expression.result) {
                    Some(constant) => self.unwrapped(&constant),
                    None => self.key(expression, ""),
                }
            }
            Kind::If(a, b, c) => {
                let (then, otherwise) = (self.unwrapped(b), self.unwrapped(c));
                let is_int = is_same(&then) || is_same(&otherwise);
                let found = conditional(self.value(a), then, otherwise);
                match &expression.result {
                    Type::Optional(inner)
                        if is_int && bits(self.stack, inner).is_some_and(|bits| bits < 32) =>
                    {
                        found.cast(c_type(self.stack, inner))
                    }
                    _ => found,
                }
            }
            Kind::Else(a, b) => conditional(self.present(a), self.unwrapped(a), self.unwrapped(b)),
            Kind::Call(..) => self.typed(expression).c.member("value"),
            Kind::Query(Query::First(window)) => {
                let first = self.place(window).member("first");
                match &expression.result {
                    Type::Optional(inner) if self.width(inner) < 32 => {
                        first.cast(c_type(self.stack, inner))
                    }
                    _ => first,
                }
            }
            _ => self.stored(expression),
        }
    }

    /// A value of a type that means nothing.
    pub fn zero(&self, kind: &Type) -> C {
        match kind {
            Type::Bool => atom("false"),
            Type::Bytes(_) | Type::BoundedBytes(_) | Type::Record(_) => {
                let zeros = self.zeros(kind);
                atom(format!("({}){zeros}", c_type(self.stack, kind)))
            }
            _ => atom("0"),
        }
    }

    /// Returns an initializer of zeros. gcc wants braces around a first member that is a structure.
    fn zeros(&self, kind: &Type) -> String {
        let first = match kind {
            Type::Bytes(_) => Some("{0}".to_string()),
            Type::Record(id) => {
                let fields = &self.stack.program.records[id.at()].fields;
                fields.first().map(|field| self.zeros(&field.kind))
            }
            Type::Optional(_) | Type::BoundedBytes(_) => None,
            _ => return "0".to_string(),
        };
        format!("{{{}}}", first.unwrap_or("0".to_string()))
    }

    fn cast(&self, a: &Expression, result: &Type) -> Typed {
        if *result == Type::Bool {
            return exact(binary("!=", self.value(a), atom("0")));
        }
        if let (Type::Optional(_), _) | (_, Type::Optional(_)) = (&a.result, result) {
            return self.typed(a);
        }
        let Some(from) = bits(self.stack, &a.result).or((a.result == Type::Bool).then_some(1))
        else {
            return self.typed(a);
        };
        self.resized(
            self.typed(a),
            from,
            matches!(a.result, Type::Signed(_)),
            result,
        )
    }

    /// A number of one width as one of another.
    fn resized(&self, from: Typed, width: u32, signed: bool, result: &Type) -> Typed {
        let (to, own) = (self.width(result), c_type(self.stack, result));
        let to_signed = matches!(result, Type::Signed(_));
        if matches!(from.c, C::Atom(ref text) if text.starts_with(|c: char| c.is_ascii_digit()))
            && to >= width
        {
            return from;
        }
        if to >= width && !signed && !to_signed {
            if c_bits(to) == c_bits(width) {
                return from;
            }
            return Typed {
                c: from.c.clone().cast(own),
                promoted: false,
                narrow: Some(from.c),
            };
        }
        if to >= width && signed == to_signed {
            return exact(from.c.cast(own));
        }
        if to == c_bits(to) {
            return exact(from.c.cast(own));
        }
        if to_signed {
            return self.wrapped(from.c.cast(format!("uint{}_t", c_bits(to))), result);
        }
        let low = binary("&", from.c, atom(mask(to)));
        exact(low.cast(own))
    }

    fn query(&self, query: &Query) -> C {
        super::containers::query(self, query)
    }
}

fn config(scope: &Scope, at: usize, before: &str) -> C {
    let name = super::names::c_name(&scope.stack.program.config[at].name);
    atom("stack")
        .behind("config")
        .member(format!("{before}{name}"))
}

fn are_numbers(left: &C, right: &C) -> bool {
    let is_number = |c: &C| match c {
        C::Atom(text) => text.bytes().all(|byte| byte.is_ascii_digit()),
        _ => false,
    };
    is_number(left) && is_number(right)
}

/// Whether some choice within says the same both ways: as one of two values, GCC takes it for an
/// `int`, even if it is cast.
fn is_same(c: &C) -> bool {
    match c {
        C::Conditional(_, one, other) => one == other || is_same(one) || is_same(other),
        C::Cast(_, inner) => is_same(inner),
        _ => false,
    }
}

/// Whether a value is written as it is.
pub fn is_constant(expression: &Expression) -> bool {
    matches!(&*expression.kind, Kind::Constant(_))
}
