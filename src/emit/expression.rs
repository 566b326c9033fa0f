//! Expressions: what the checked program computes comes in, C goes out.
//!
//! A number has the C type of its width. C computes what is narrower than `int` as `int`, so each
//! result is either known to be right as it stands ([`Typed::promoted`]) or cut to its width at
//! once; the cast back to the narrow type is written where the value is kept, not where it is
//! compared. An optional is never one value in C but two: whether it is there, and what it is.

use super::constant::mask;
use super::layout::{bits, c_bits, c_type};
use super::scope::Scope;
use super::wire;
use crate::c::tree::{Expression as C, atom, binary, call, conditional};
use crate::types::expression::{
    Binary, Expression, ExpressionKind as Kind, Query, Unary, Variable,
};
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

fn exact(c: C) -> Typed {
    Typed {
        c,
        promoted: false,
        narrow: None,
    }
}

fn promoted(c: C) -> Typed {
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
    fn operand(&self, expression: &Expression) -> C {
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

    fn width(&self, kind: &Type) -> u32 {
        bits(self.stack, kind).unwrap_or(64)
    }

    fn typed(&self, expression: &Expression) -> Typed {
        let result = &expression.result;
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
            | Kind::Now => self.read(expression),
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

    /// What stands somewhere, and is only read.
    fn read(&self, expression: &Expression) -> Typed {
        let result = &expression.result;
        match &*expression.kind {
            Kind::Config(id) => exact(config(self, id.at(), "")),
            Kind::Read(Variable::Local(local)) if *result == Type::Message => {
                exact(self.message(*local))
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
                let length = self.of_message(*message, "length");
                self.resized(exact(length), 32, false, result)
            }
            Kind::WholeLength => {
                let length = self.whole_length.clone();
                let length = length.expect("a whole length is asked for in a header's sums");
                self.resized(exact(length), 32, false, result)
            }
            Kind::Below => exact(self.below.clone().expect("a header that asks is told whom")),
            Kind::Now => exact(atom("stack").behind("now_ns")),
            other => unreachable!("{other:?} is computed"),
        }
    }

    fn choice(&self, condition: C, then: &Expression, otherwise: &Expression) -> Typed {
        let (then, otherwise) = (self.typed(then), self.typed(otherwise));
        Typed {
            c: conditional(condition, then.c, otherwise.c),
            promoted: then.promoted || otherwise.promoted,
            narrow: None,
        }
    }

    /// The smaller or larger of two; what is more than a name is written once.
    fn one_of(&self, name: &str, operator: Binary, a: &Expression, b: &Expression) -> Typed {
        let bits = match &a.result {
            Type::Unsigned(width) => c_bits(u32::from(*width)),
            Type::Time => 64,
            _ => return self.choice(self.compared(operator, a, b), a, b),
        };
        if is_plain(a) && is_plain(b) {
            return self.choice(self.compared(operator, a, b), a, b);
        }
        let both = vec![self.stored(a), self.stored(b)];
        exact(call(format!("{name}{bits}"), both))
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
        if *result == Type::Bool || matches!(result, Type::Bytes(_)) {
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
            Kind::If(a, b, c) => conditional(self.value(a), self.unwrapped(b), self.unwrapped(c)),
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
            Type::Bytes(_) | Type::Record(_) => {
                atom(format!("({}){{0}}", c_type(self.stack, kind)))
            }
            _ => atom("0"),
        }
    }

    fn unary(&self, operator: Unary, a: &Expression, result: &Type) -> Typed {
        let sign = match operator {
            Unary::Not => return exact(self.value(a).negated()),
            Unary::Negate => "-",
            Unary::Complement => "~",
        };
        let turned = |inner| C::Unary(sign, Box::new(inner));
        if matches!(result, Type::Signed(_)) && operator == Unary::Negate {
            let unsigned = format!("uint{}_t", c_bits(self.width(result)));
            return self.wrapped(turned(self.operand(a).cast(unsigned)), result);
        }
        self.wrapped(turned(self.operand(a)), result)
    }

    /// Cuts what C has computed in a wider or promoted type to the width of its own.
    fn wrapped(&self, c: C, result: &Type) -> Typed {
        let (width, own) = (self.width(result), c_type(self.stack, result));
        let native = c_bits(width);
        if matches!(result, Type::Signed(_)) {
            if width == native {
                return exact(c.cast(own));
            }
            let sign = atom(format!("{:#x}", 1_u64 << (width - 1)));
            let low = binary("&", c, atom(mask(width)));
            return exact(binary("-", binary("^", low, sign.clone()), sign).cast(own));
        }
        match (width == native, native < 32) {
            (true, true) => exact(c.cast(own)),
            (true, false) => exact(c),
            (false, true) => promoted(binary("&", c, atom(mask(width)))),
            (false, false) => exact(binary("&", c, atom(mask(width)))),
        }
    }

    fn binary(&self, operator: Binary, a: &Expression, b: &Expression, result: &Type) -> Typed {
        let plain = |sign: &'static str| {
            let c = binary(sign, self.operand(a), self.operand(b));
            if self.width(result) <= 16 {
                promoted(c)
            } else {
                exact(c)
            }
        };
        match operator {
            Binary::Or => exact(binary("||", self.value(a), self.value(b))),
            Binary::And => exact(binary("&&", self.value(a), self.value(b))),
            Binary::Equal
            | Binary::Unequal
            | Binary::Less
            | Binary::AtMost
            | Binary::Greater
            | Binary::AtLeast => exact(self.compared(operator, a, b)),
            Binary::BitOr => plain("|"),
            Binary::BitXor => plain("^"),
            Binary::BitAnd => plain("&"),
            Binary::Divide => plain("/"),
            Binary::Remainder => plain("%"),
            Binary::Add => self.ring("+", a, b, result),
            Binary::Subtract => self.ring("-", a, b, result),
            Binary::Multiply => self.ring("*", a, b, result),
            Binary::ShiftLeft | Binary::ShiftRight => self.shifted(operator, a, b, result),
        }
    }

    /// Arithmetic that wraps: what is signed, or would overflow an `int`, is computed unsigned.
    fn ring(&self, sign: &'static str, a: &Expression, b: &Expression, result: &Type) -> Typed {
        let width = self.width(result);
        let signed = matches!(result, Type::Signed(_));
        let (left, right) = (self.summand(sign, a), self.summand(sign, b));
        if signed && width > 16 {
            let unsigned = format!("uint{}_t", c_bits(width));
            let c = binary(sign, left.cast(&unsigned), right.cast(&unsigned));
            return self.wrapped(c, result);
        }
        let left = if sign == "*" && c_bits(width) == 16 {
            left.cast("uint32_t")
        } else {
            left
        };
        self.wrapped(binary(sign, left, right), result)
    }

    /// An operand of a sum that is cut afterwards, which need not be cut before.
    fn summand(&self, sign: &'static str, expression: &Expression) -> C {
        let narrow = self.width(&expression.result) <= 16;
        match &*expression.kind {
            Kind::Binary(inner, a, b) if narrow && sign != "*" => match inner {
                Binary::Add => binary("+", self.summand("+", a), self.summand("+", b)),
                Binary::Subtract => binary("-", self.summand("-", a), self.summand("-", b)),
                _ => self.operand(expression),
            },
            _ => self.operand(expression),
        }
    }

    /// Shifts; by the width or more they give nothing.
    fn shifted(&self, operator: Binary, a: &Expression, b: &Expression, result: &Type) -> Typed {
        let width = self.width(result);
        let left = operator == Binary::ShiftLeft;
        let by = self.value(b);
        let mut operand = self.operand(a);
        if left && (c_bits(width) <= 16 || is_constant(a)) {
            operand = operand.cast(if width > 32 { "uint64_t" } else { "uint32_t" });
        }
        let c = binary(if left { "<<" } else { ">>" }, operand, by.clone());
        let shifted = if left {
            self.wrapped(c, result)
        } else if width <= 16 {
            promoted(c)
        } else {
            exact(c)
        };
        if is_constant(b) {
            return shifted;
        }
        let within = binary("<", by, atom(width.to_string()));
        Typed {
            c: conditional(within, shifted.c, atom("0")),
            ..shifted
        }
    }

    fn compared(&self, operator: Binary, a: &Expression, b: &Expression) -> C {
        let sign = match operator {
            Binary::Equal => "==",
            Binary::Unequal => "!=",
            Binary::Less => "<",
            Binary::AtMost => "<=",
            Binary::Greater => ">",
            Binary::AtLeast => ">=",
            _ => unreachable!("only comparisons are compared"),
        };
        let equality = matches!(operator, Binary::Equal | Binary::Unequal);
        match &a.result {
            Type::Sequence(width) if !equality => {
                let ahead = binary("-", self.operand(a), self.operand(b));
                binary(sign, ahead.cast(format!("int{width}_t")), atom("0"))
            }
            Type::Optional(inner) => {
                let both = binary("==", self.present(a), self.present(b));
                let absent = self.present(a).negated();
                let same = binary("==", self.unwrapped(a), self.unwrapped(b));
                assert!(
                    !matches!(**inner, Type::Bytes(_)),
                    "optional bytes are not compared"
                );
                let equal = binary("&&", both, binary("||", absent, same));
                if operator == Binary::Equal {
                    equal
                } else {
                    equal.negated()
                }
            }
            Type::Bytes(length) => {
                let pointers = [a, b].map(|side| self.value(side).address());
                let mut arguments = pointers.to_vec();
                arguments.push(atom(length.to_string()));
                binary(sign, call("memcmp", arguments), atom("0"))
            }
            Type::Enum(id) if !equality && !super::types::in_order(self.stack, *id) => {
                let rank = |side| super::types::rank(self.stack, *id, self.value(side));
                binary(sign, rank(a), rank(b))
            }
            Type::Bool if is_constant(b) && equality => {
                let holds = self.value(b) == atom("true");
                let c = self.value(a);
                if holds == (operator == Binary::Equal) {
                    c
                } else {
                    c.negated()
                }
            }
            _ => binary(sign, self.value(a), self.value(b)),
        }
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

fn is_constant(expression: &Expression) -> bool {
    matches!(&*expression.kind, Kind::Constant(_))
}

/// Whether a value is a name or a constant, however wide.
fn is_plain(value: &Expression) -> bool {
    match &*value.kind {
        Kind::Cast(inner) => is_plain(inner),
        Kind::Constant(_) | Kind::Config(_) | Kind::Read(_) | Kind::Length(_) => true,
        _ => false,
    }
}
