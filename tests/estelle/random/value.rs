//! Random types, and expressions of a type.
//!
//! In: a generator of random numbers, and the places that a block sees. Out: Pascal. Each integer
//! expression has an interval that its value never leaves, so that no sum overflows and no value
//! leaves its subrange, except where a specification asks for faults.

use fastrand::Rng;
use std::rc::Rc;

/// Integers stay within these bounds.
pub const BOUND: i64 = 1_000_000;

/// The greatest integer.
const MAXINT: i64 = 2_147_483_647;

/// A type with a name.
#[derive(Debug)]
pub struct Kind {
    /// Its name.
    pub name: String,
    /// Its definition.
    pub form: Form,
}

/// The definition of a type.
#[derive(Debug)]
pub enum Form {
    Integer(i64, i64),
    Boolean,
    Char,
    Real,
    Enumeration(Vec<String>),
    Text(usize),
    Set(Rc<Kind>),
    Array(Rc<Kind>, Rc<Kind>),
    Record(Record),
}

/// The fields of a record; of those of the variant part, one for each value of the tag.
#[derive(Debug)]
pub struct Record {
    pub fields: Vec<(String, Rc<Kind>)>,
    pub variant: Option<Variant>,
}

/// A variant part.
#[derive(Debug)]
pub struct Variant {
    pub tag: String,
    pub kind: Rc<Kind>,
    pub cases: Vec<(String, String, Rc<Kind>)>,
}

/// A variable, or a part of one.
#[derive(Clone, Debug)]
pub struct Place {
    pub text: String,
    pub kind: Rc<Kind>,
    pub is_writable: bool,
}

/// A function that expressions call, or a procedure.
#[derive(Clone, Debug)]
pub struct Routine {
    pub name: String,
    /// Each parameter; true of one with `var`.
    pub parameters: Vec<(Rc<Kind>, bool)>,
    /// None of a procedure.
    pub result: Option<Rc<Kind>>,
    pub is_pure: bool,
}

/// The names that a block or a clause sees.
#[derive(Clone, Default, Debug)]
pub struct Scope {
    pub places: Vec<Place>,
    pub routines: Vec<Routine>,
    /// True in a clause, which calls only pure functions.
    pub is_pure: bool,
}

impl Kind {
    /// Returns true if a value is one number.
    pub fn is_ordinal(&self) -> bool {
        match self.form {
            Form::Integer(..) | Form::Boolean | Form::Char | Form::Enumeration(_) => true,
            Form::Real | Form::Text(_) | Form::Set(_) | Form::Array(..) | Form::Record(_) => false,
        }
    }

    /// Returns true for `integer` itself.
    pub fn is_whole_integer(&self) -> bool {
        self.name == "integer"
    }

    /// Returns true if the kind has at most five values, each of which is a constant.
    pub fn is_index(&self) -> bool {
        self.is_ordinal() && !self.is_whole_integer() && !matches!(self.form, Form::Char)
    }

    /// Returns the constants of a type that may be an index.
    pub fn values(&self) -> Vec<String> {
        match &self.form {
            Form::Integer(low, high) => (*low..=*high).map(|value| value.to_string()).collect(),
            Form::Boolean => vec!["false".to_string(), "true".to_string()],
            Form::Enumeration(values) => values.clone(),
            _ => Vec::new(),
        }
    }

    /// Returns the definition of a type.
    pub fn definition(&self) -> Option<String> {
        Some(match &self.form {
            Form::Integer(..) if self.is_whole_integer() => return None,
            Form::Integer(low, high) => format!("{low}..{high}"),
            Form::Boolean | Form::Char | Form::Real => return None,
            Form::Enumeration(values) => format!("({})", values.join(", ")),
            Form::Text(length) => format!("packed array [1..{length}] of char"),
            Form::Set(base) => format!("set of {}", base.name),
            Form::Array(index, element) => format!("array [{}] of {}", index.name, element.name),
            Form::Record(record) => {
                let fields = record.fields.iter();
                let fields = fields.map(|(name, kind)| format!("{name}: {};", kind.name));
                let mut text = format!("record {}", fields.collect::<Vec<_>>().join(" "));
                if let Some(variant) = &record.variant {
                    text += &format!(" case {}: {} of", variant.tag, variant.kind.name);
                    for (label, field, kind) in &variant.cases {
                        text += &format!(" {label}: ({field}: {});", kind.name);
                    }
                }
                text + " end"
            }
        })
    }
}

/// An integer expression and its bounds.
pub type Number = (String, i64, i64);

/// Writes random expressions.
pub struct Values {
    pub random: Rng,
    /// True if a value may leave its type, at times.
    pub is_faulty: bool,
    /// Makes names distinct.
    pub names: usize,
    /// The kinds with names.
    pub kinds: Vec<Rc<Kind>>,
}

impl Values {
    /// Returns true in so many of a hundred cases.
    pub fn chance(&mut self, percent: u32) -> bool {
        self.random.u32(..100) < percent
    }

    /// Returns a number of a range.
    pub fn number(&mut self, low: i64, high: i64) -> i64 {
        self.random.i64(low..=high)
    }

    /// Returns one of several.
    pub fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.random.usize(..of.len())].clone()
    }

    /// Returns a name that no other thing of an open scope has.
    pub fn name(&mut self, stem: &str) -> String {
        self.names += 1;
        format!("{stem}{}", self.names)
    }

    /// Returns a kind for which a condition holds.
    pub fn kind(&mut self, fits: impl Fn(&Kind) -> bool) -> Rc<Kind> {
        let kinds = self.kinds.iter().filter(|kind| fits(kind));
        let kinds: Vec<_> = kinds.cloned().collect();
        self.one(&kinds)
    }

    /// Returns a random part of a place that is no array and no record.
    fn part(&mut self, place: &Place, scope: &Scope, depth: u32) -> Place {
        let of = |text: String, kind: &Rc<Kind>| Place {
            text,
            kind: Rc::clone(kind),
            is_writable: place.is_writable,
        };
        match &place.kind.form {
            Form::Array(index, element) => {
                let at = match depth.min(2).checked_sub(1) {
                    Some(less) => self.ordinal(index, scope, less),
                    None => self.one(&index.values()),
                };
                let inner = of(format!("{}[{at}]", place.text), element);
                self.part(&inner, scope, depth)
            }
            Form::Record(record) => {
                let (name, kind) = self.one(&record.fields);
                let inner = of(format!("{}.{name}", place.text), &kind);
                self.part(&inner, scope, depth)
            }
            _ => place.clone(),
        }
    }

    /// Finds a place, or a part of one, for which a condition holds.
    pub fn place(
        &mut self,
        scope: &Scope,
        depth: u32,
        fits: impl Fn(&Place) -> bool,
    ) -> Option<Place> {
        for _ in 0..8 {
            if scope.places.is_empty() {
                return None;
            }
            let whole = self.one(&scope.places);
            if fits(&whole) {
                return Some(whole);
            }
            let part = self.part(&whole, scope, depth);
            if fits(&part) {
                return Some(part);
            }
        }
        None
    }

    /// Finds a function with a result for which a condition holds, and writes a call.
    fn call(
        &mut self,
        scope: &Scope,
        depth: u32,
        fits: impl Fn(&Kind) -> bool,
    ) -> Option<(String, Rc<Kind>)> {
        let routines = scope.routines.iter();
        let fitting = routines.filter(|one| {
            one.result.as_ref().is_some_and(|kind| fits(kind)) && (one.is_pure || !scope.is_pure)
        });
        let fitting: Vec<Routine> = fitting.cloned().collect();
        if fitting.is_empty() || depth == 0 {
            return None;
        }
        let routine = self.one(&fitting);
        let text = self.invocation(&routine, scope, depth - 1)?;
        Some((text, routine.result?))
    }

    /// Writes a call of a routine, if there are arguments for it.
    pub fn invocation(&mut self, routine: &Routine, scope: &Scope, depth: u32) -> Option<String> {
        let mut arguments = Vec::new();
        for (kind, is_reference) in &routine.parameters {
            let same = |place: &Place| Rc::ptr_eq(&place.kind, kind);
            arguments.push(match is_reference {
                true => {
                    let place = self.place(scope, depth, |it| same(it) && it.is_writable)?;
                    place.text
                }
                false => self.value(kind, scope, depth)?,
            });
        }
        Some(match arguments.is_empty() {
            true => routine.name.clone(),
            false => format!("{}({})", routine.name, arguments.join(", ")),
        })
    }

    /// Writes a value of a kind; none if nothing in sight is an array or a record of it.
    pub fn value(&mut self, kind: &Rc<Kind>, scope: &Scope, depth: u32) -> Option<String> {
        Some(match &kind.form {
            Form::Real => self.real(scope, depth),
            Form::Text(length) => {
                let same = |place: &Place| Rc::ptr_eq(&place.kind, kind);
                match self.place(scope, depth, same).filter(|_| depth > 0) {
                    Some(place) => place.text,
                    None => {
                        let letters = (0..*length).map(|_| self.random.char('a'..='d'));
                        format!("'{}'", letters.collect::<String>())
                    }
                }
            }
            Form::Set(base) => self.set(&Rc::clone(base), kind, scope, depth),
            Form::Array(..) | Form::Record(_) => {
                let same = |place: &Place| Rc::ptr_eq(&place.kind, kind);
                self.place(scope, depth, same)?.text
            }
            _ => self.ordinal(kind, scope, depth),
        })
    }

    /// Writes a value of an ordinal kind.
    pub fn ordinal(&mut self, kind: &Rc<Kind>, scope: &Scope, depth: u32) -> String {
        match &kind.form {
            Form::Boolean => self.condition(scope, depth),
            Form::Char => self.letter(scope, depth),
            Form::Enumeration(values) => {
                let same = |place: &Place| Rc::ptr_eq(&place.kind, kind);
                if depth > 0
                    && let Some(place) = self.place(scope, depth, same)
                {
                    return match self.random.u8(..8) {
                        0 if self.is_faulty => format!("succ({})", place.text),
                        1 if self.is_faulty => format!("pred({})", place.text),
                        _ => place.text,
                    };
                }
                let called = self.call(scope, depth, |it| it.name == kind.name);
                called.map_or_else(|| self.one(values), |(text, _)| text)
            }
            Form::Integer(low, high) => self.within(*low, *high, scope, depth),
            _ => unreachable!("{} is not ordinal", kind.name),
        }
    }

    /// Writes an integer expression with a value in a range.
    pub fn within(&mut self, low: i64, high: i64, scope: &Scope, depth: u32) -> String {
        let (text, least, most) = self.integer(scope, depth);
        if least >= low && most <= high {
            return text;
        }
        if self.is_faulty
            && self.chance(4)
            && let Some(place) = self.place(scope, 1, |it| it.kind.is_ordinal())
        {
            // The value may be out of the range: a fault. A constant would be a mistake.
            return counted(&place.text, &place.kind).0;
        }
        let span = high - low + 1;
        match low {
            _ if least == most => self.number(low, high).to_string(),
            0 => format!("({text}) mod {span}"),
            _ if low < 0 => format!("({text}) mod {span} - {}", -low),
            _ => format!("{low} + ({text}) mod {span}"),
        }
    }

    fn letter(&mut self, scope: &Scope, depth: u32) -> String {
        let is_char = |place: &Place| matches!(place.kind.form, Form::Char);
        if depth > 0
            && self.chance(70)
            && let Some(place) = self.place(scope, depth, is_char)
        {
            return place.text;
        }
        if depth > 0 && self.chance(40) {
            return format!("chr({})", self.within(97, 122, scope, depth - 1));
        }
        format!("'{}'", self.random.char('a'..='z'))
    }

    /// Writes an integer expression.
    pub fn integer(&mut self, scope: &Scope, depth: u32) -> Number {
        if depth == 0 || self.chance(30) {
            return self.simple(scope, depth);
        }
        if self.chance(25)
            && let Some((text, kind)) = self.call(scope, depth, Kind::is_ordinal)
        {
            return counted(&text, &kind);
        }
        let (one, low, high) = self.integer(scope, depth - 1);
        let result = match self.random.u8(..10) {
            0..=2 => {
                let (other, least, most) = self.integer(scope, depth - 1);
                match self.random.u8(..3) {
                    0 => (format!("({one} + {other})"), low + least, high + most),
                    1 => (format!("({one} - ({other}))"), low - most, high - least),
                    _ => {
                        let ends = [low * least, low * most, high * least, high * most];
                        let least = ends.iter().min().copied().unwrap_or(0);
                        let most = ends.iter().max().copied().unwrap_or(0);
                        (format!("(({one}) * ({other}))"), least, most)
                    }
                }
            }
            3 | 4 => {
                let by = self.number(2, 9);
                (format!("(({one}) mod {by})"), 0, by - 1)
            }
            5 => {
                let by = self.one(&[-5, -2, 2, 3, 7]);
                let ends = [low / by, high / by];
                let (least, most) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
                // A quotient rounds towards zero, which may lie between the ends.
                let by = if by < 0 {
                    format!("({by})")
                } else {
                    by.to_string()
                };
                (format!("(({one}) div {by})"), least.min(0), most.max(0))
            }
            6 => (format!("abs({one})"), 0, low.abs().max(high.abs())),
            7 => (format!("(-({one}))"), -high, -low),
            8 if low.abs().max(high.abs()) < 30_000 => {
                let most = low.abs().max(high.abs());
                (format!("sqr({one})"), 0, most * most)
            }
            8 => (format!("(({one}) div 4)"), low.min(0), high.max(0)),
            _ if self.chance(50) => (format!("succ({one})"), low + 1, high + 1),
            _ => (format!("pred({one})"), low - 1, high - 1),
        };
        match result {
            (_, low, high) if low < -MAXINT || high > MAXINT => (format!("(({one}) mod 5)"), 0, 4),
            result => result,
        }
    }

    /// Writes a constant, or the value of a place as a number.
    fn simple(&mut self, scope: &Scope, depth: u32) -> Number {
        if self.chance(75)
            && let Some(place) = self.place(scope, depth.min(1), |it| it.kind.is_ordinal())
        {
            return counted(&place.text, &place.kind);
        }
        match self.number(-3, 12) {
            value if value < 0 => (format!("({value})"), value, value),
            value => (value.to_string(), value, value),
        }
    }

    /// Writes a condition.
    pub fn condition(&mut self, scope: &Scope, depth: u32) -> String {
        if depth == 0 {
            let is_boolean = |place: &Place| matches!(place.kind.form, Form::Boolean);
            return match self.place(scope, 0, is_boolean) {
                Some(place) => place.text,
                None => {
                    let (one, low, high) = self.simple(scope, 0);
                    format!("({one} > {})", (low + high) / 2)
                }
            };
        }
        match self.random.u8(..10) {
            0 => format!("(not {})", self.condition(scope, depth - 1)),
            1 | 2 => {
                let word = self.one(&["and", "or"]);
                let one = self.condition(scope, depth - 1);
                format!("({one} {word} {})", self.condition(scope, depth - 1))
            }
            3 => format!("odd({})", self.integer(scope, depth - 1).0),
            4 => self.exists(scope, depth),
            5 => self.compared(scope, depth),
            6 => match self.call(scope, depth, |it| it.name == "boolean") {
                Some((text, _)) => text,
                None => self.compared(scope, depth),
            },
            _ => {
                let (one, low, high) = self.integer(scope, depth - 1);
                match self.chance(50) && low < high {
                    true => {
                        let by = self.number(2, 4);
                        let word = self.one(&["=", "<>", ">=", "<"]);
                        format!("(({one}) mod {by} {word} {})", self.number(1, by - 1))
                    }
                    false => {
                        let word = self.one(&["=", "<>", ">=", "<", ">", "<="]);
                        format!("({one} {word} {})", self.integer(scope, depth - 1).0)
                    }
                }
            }
        }
    }

    /// Writes `exist` over the values of a type.
    fn exists(&mut self, scope: &Scope, depth: u32) -> String {
        let kind = self.kind(Kind::is_index);
        let name = self.name("z");
        let mut inner = scope.clone();
        let bound = Place {
            text: name.clone(),
            kind: Rc::clone(&kind),
            is_writable: false,
        };
        inner.places.extend([bound.clone(), bound]);
        inner.is_pure = true;
        let condition = self.condition(&inner, depth - 1);
        format!("(exist {name}: {} suchthat {condition})", kind.name)
    }

    /// Writes a comparison of two values that are no integers, or a membership.
    fn compared(&mut self, scope: &Scope, depth: u32) -> String {
        let place = self.place(scope, depth, |it| {
            !matches!(it.kind.form, Form::Array(..) | Form::Record(_))
        });
        let Some(place) = place else {
            return format!("({} < 5)", self.integer(scope, depth - 1).0);
        };
        let kind = Rc::clone(&place.kind);
        match &kind.form {
            Form::Set(base) => match self.random.u8(..4) {
                0 | 1 if matches!(base.form, Form::Integer(..)) && self.chance(30) => {
                    format!("({} in {})", self.integer(scope, depth - 1).0, place.text)
                }
                0 | 1 => {
                    let member = self.ordinal(base, scope, depth - 1);
                    format!("({member} in {})", place.text)
                }
                _ => {
                    let word = self.one(&["=", "<>", "<=", ">="]);
                    let other = self.set(base, &kind, scope, depth - 1);
                    format!("({} {word} {other})", place.text)
                }
            },
            Form::Real => {
                let word = self.one(&["<", ">="]);
                format!("({} {word} {})", place.text, self.real(scope, depth - 1))
            }
            Form::Boolean => match self.chance(50) {
                true => place.text,
                false => format!("(ord({}) = 0)", place.text),
            },
            _ => {
                let word = self.one(&["=", "<>", "<", "<=", ">", ">="]);
                let other = self.value(&kind, scope, depth - 1);
                let other = other.unwrap_or_else(|| place.text.clone());
                format!("({} {word} {other})", place.text)
            }
        }
    }

    fn set(&mut self, base: &Rc<Kind>, kind: &Rc<Kind>, scope: &Scope, depth: u32) -> String {
        if depth > 0 && self.chance(40) {
            let word = self.one(&["+", "-", "*"]);
            let one = self.set(base, kind, scope, depth - 1);
            return format!("({one} {word} {})", self.set(base, kind, scope, depth - 1));
        }
        let same = |place: &Place| Rc::ptr_eq(&place.kind, kind);
        if self.chance(50)
            && let Some(place) = self.place(scope, depth, same)
        {
            return place.text;
        }
        let mut elements = Vec::new();
        for _ in 0..self.random.u8(..3) {
            let one = self.ordinal(base, scope, depth.min(1));
            elements.push(match self.chance(30) {
                true => format!("{one}..{}", self.ordinal(base, scope, depth.min(1))),
                false => one,
            });
        }
        format!("[{}]", elements.join(", "))
    }

    fn real(&mut self, scope: &Scope, depth: u32) -> String {
        let is_real = |place: &Place| matches!(place.kind.form, Form::Real);
        let place = self.place(scope, depth, is_real).filter(|_| depth > 0);
        let number = format!("{}.{}", self.number(0, 9), self.one(&[0, 25, 5, 75]));
        match place {
            Some(place) => {
                let word = self.one(&["+", "-"]);
                format!("({} * 0.5 {word} {number})", place.text)
            }
            None => number,
        }
    }
}

/// Returns an ordinal value as an integer, and its bounds.
pub fn counted(text: &str, kind: &Kind) -> Number {
    match &kind.form {
        Form::Integer(low, high) => (text.to_string(), *low, *high),
        Form::Boolean => (format!("ord({text})"), 0, 1),
        Form::Char => (format!("ord({text})"), 0, 255),
        Form::Enumeration(values) => (format!("ord({text})"), 0, values.len() as i64 - 1),
        _ => unreachable!("{text} is not ordinal"),
    }
}
