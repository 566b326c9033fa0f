//! Values and conditions of random programs.

use crate::random::Random;
use crate::scope::{Kind, NAMES, Place, Scope};

/// Deeper than this, a value is a place or a literal.
const DEEP: usize = 2;

/// How often a condition holds, as a source may say.
const LIKELY: [&str; 8] = [
    "",
    " likely 99%",
    " likely 99%",
    " likely 98%",
    " likely 95%",
    " likely 60%",
    " likely 2%",
    " likely 1%",
];

/// Random values of a program.
pub struct Values<'r>(pub &'r mut Random);

impl Values<'_> {
    pub fn likely(&mut self) -> &'static str {
        LIKELY[self.0.below(LIKELY.len())]
    }

    /// Any value of a kind that may be written into such a place.
    pub fn of(&mut self, kind: Kind, scope: &Scope) -> String {
        match kind {
            Kind::Number(width) => self.number(width, 0, scope),
            Kind::Sequence(_) => self
                .place(scope, |one| one == kind)
                .unwrap_or("7".to_string()),
            Kind::Truth => match self.0.below(3) {
                0 => self.0.one(&["true", "false"]).to_string(),
                _ => format!("({})", self.asked(DEEP, true, scope)),
            },
            Kind::Optional(width) => match self.0.percent(30) {
                true => "none".to_string(),
                false => self.number(width, 1, scope),
            },
            Kind::Named => {
                let known = self.place(scope, |one| one == kind);
                let known = known.filter(|_| self.0.percent(50));
                known.unwrap_or_else(|| format!("{}.{}", scope.named, self.0.one(&NAMES)))
            }
        }
    }

    fn place(&mut self, scope: &Scope, kind: impl Fn(Kind) -> bool) -> Option<String> {
        let all = scope.of_kind(kind);
        (!all.is_empty()).then(|| self.0.one(&all).text.clone())
    }

    /// A literal of so many bits, and mostly small.
    pub fn literal(&mut self, width: u8) -> String {
        let most = 1_usize << width.min(8);
        match self.0.below(12) {
            0 => (most - 1).to_string(),
            1 => self.0.below(most).to_string(),
            _ => self.0.below(most.min(6)).to_string(),
        }
    }

    /// A number of just so many bits.
    fn read(&mut self, width: u8, scope: &Scope) -> String {
        if let Some(place) = self.place(scope, |kind| kind == Kind::Number(width)) {
            return place;
        }
        match self.place(scope, |kind| matches!(kind, Kind::Number(_))) {
            Some(place) => format!("({place} as u{width})"),
            None => format!("((now / 1 us) as u{width})"),
        }
    }

    /// A number of so many bits.
    pub fn number(&mut self, width: u8, depth: usize, scope: &Scope) -> String {
        let choice = self.0.below(if depth > DEEP { 10 } else { 20 });
        match choice {
            0..3 => self.literal(width),
            8 if scope.message.is_some() => format!("(message.length as u{width})"),
            9 => {
                let optional = |kind| matches!(kind, Kind::Optional(own) if own <= width);
                match self.place(scope, optional) {
                    Some(place) => format!("({place} else {})", self.literal(width)),
                    None => self.read(width, scope),
                }
            }
            3..7 => {
                let narrow = |kind| matches!(kind, Kind::Number(own) if own <= width);
                let place = self.place(scope, narrow);
                place.unwrap_or_else(|| self.read(width, scope))
            }
            7..10 => self.read(width, scope),
            10 if width == 8 && !scope.functions.is_empty() => {
                let function = self.0.one(&scope.functions).clone();
                format!("{function}({})", self.number(8, depth + 1, scope))
            }
            11 => {
                let asked = self.asked(depth + 1, true, scope);
                let (one, other) = (
                    self.read(width, scope),
                    self.number(width, depth + 1, scope),
                );
                format!("((if {asked} {{ {one} }} else {{ {other} }}) as u{width})")
            }
            12 | 13 if width >= 8 => {
                format!("({} % {})", self.read(width, scope), 2 + self.0.below(6))
            }
            14 => match self.two_that_come_round(scope) {
                Some((one, other)) => format!("(({one} - {other}) as u{width})"),
                None => self.read(width, scope),
            },
            16 if scope.calls_c => self.called(width, scope),
            15 => format!("min({}, {})", self.read(width, scope), 2 + self.0.below(9)),
            _ => {
                let sign = *self.0.one(&["+", "+", "-", "*", "^", "&", "|"]);
                let (one, other) = (
                    self.read(width, scope),
                    self.number(width, depth + 1, scope),
                );
                format!("({one} {sign} {other})")
            }
        }
    }

    /// What a function in C says.
    fn called(&mut self, width: u8, scope: &Scope) -> String {
        match self.0.below(3) {
            0 => format!("(weight({}) as u{width})", self.read(32, scope)),
            1 => format!("(kind_of({}) as u{width})", self.read(8, scope)),
            _ => {
                let other = *self.0.one(&["none", "3", "limit"]);
                let number = self.read(8, scope);
                let otherwise = self.0.below(9);
                format!("((lookup({number}, {other}) else {otherwise}) as u{width})")
            }
        }
    }

    /// A condition. In what is written only, nothing may be inserted.
    pub fn condition(&mut self, scope: &Scope) -> String {
        self.asked(0, false, scope)
    }

    /// A condition that changes nothing.
    pub fn question(&mut self, scope: &Scope) -> String {
        let scope = Scope {
            calls_c: false,
            ..scope.clone()
        };
        self.asked(1, true, &scope)
    }

    fn asked(&mut self, depth: usize, is_pure: bool, scope: &Scope) -> String {
        let some =
            |all: &[String], this: &mut Self| (!all.is_empty()).then(|| this.0.one(all).clone());
        let found = match self.0.below(16) {
            0 | 1 => self.place(scope, |kind| kind == Kind::Truth).map(|one| {
                let not = if self.0.percent(50) { "not " } else { "" };
                format!("{not}{one}")
            }),
            2 => some(&scope.timers, self).map(|one| format!("{one}.running")),
            3 => some(&scope.sets, self).map(|one| {
                let does = if is_pure || depth > 0 {
                    "has"
                } else {
                    "insert"
                };
                format!("{one}.{does}({} % 8)", self.read(8, scope))
            }),
            4 => some(&scope.queues, self).map(|one| format!("{one}.is_empty")),
            5 => self
                .place(scope, |kind| matches!(kind, Kind::Optional(_)))
                .map(|one| format!("present {one}")),
            6 if !scope.keys.is_empty() && scope.is_own => {
                Some(format!("present session({})", self.keys(scope)))
            }
            7 | 8 if depth < DEEP => {
                let joins = *self.0.one(&["and", "or"]);
                let (one, other) = (
                    self.asked(depth + 1, is_pure, scope),
                    self.asked(depth + 1, is_pure, scope),
                );
                Some(format!("({one} {joins} {other})"))
            }
            9 => self.order(scope),
            10 if scope.message.is_some() => {
                let compares = *self.0.one(&["<", ">", "==", "!=", ">="]);
                Some(format!("message.length {compares} {}", 1 + self.0.below(9)))
            }
            11 => self.place(scope, |kind| kind == Kind::Named).map(|one| {
                let compares = *self.0.one(&["==", "!=", "<", ">="]);
                let name = &NAMES[1 + self.0.below(NAMES.len() - 1)];
                format!("{one} {compares} {}.{name}", scope.named)
            }),
            13 if !scope.windows.is_empty() => {
                let window = self.0.one(&scope.windows);
                let (name, next) = (&window.name, &window.next);
                Some(match self.0.percent(50) {
                    true => format!("{name}.has({next})"),
                    false => format!("present {name}.first"),
                })
            }
            12 => some(&scope.signals, self).map(|one| format!("present {one}")),
            _ => None,
        };
        found.unwrap_or_else(|| self.compared(scope))
    }

    /// Two numbers that come round, in their order.
    fn order(&mut self, scope: &Scope) -> Option<String> {
        let (one, other) = self.two_that_come_round(scope)?;
        let compares = *self.0.one(&[">", "==", "!=", "<=", "<"]);
        Some(format!("{one} {compares} {other}"))
    }

    /// Two different places of the same kind.
    fn two_that_come_round(&mut self, scope: &Scope) -> Option<(String, String)> {
        let all = scope.of_kind(|kind| matches!(kind, Kind::Sequence(_)));
        let one = (!all.is_empty()).then(|| *self.0.one(&all))?;
        let fits = |other: &&&Place| other.kind == one.kind && other.text != one.text;
        let others: Vec<&&Place> = all.iter().filter(fits).collect();
        let other = (!others.is_empty()).then(|| *self.0.one(&others))?;
        Some((one.text.clone(), other.text.clone()))
    }

    /// Two numbers, one of which stands somewhere.
    fn compared(&mut self, scope: &Scope) -> String {
        let narrow = |kind| matches!(kind, Kind::Number(own) if own <= 8);
        let all = scope.of_kind(narrow);
        let (one, width) = match all.is_empty() {
            true => ("((now / 1 us) as u8)".to_string(), 8),
            false => match self.0.one(&all) {
                Place {
                    text,
                    kind: Kind::Number(width),
                    ..
                } => (text.clone(), *width),
                other => panic!("{other:?} is no number"),
            },
        };
        let compares = *self.0.one(&["==", "!=", "<", ">", ">=", "<="]);
        let other = self.number(8, 1, scope);
        // What is always so is no question.
        match other.contains(&one) || other.bytes().all(|byte| byte.is_ascii_digit()) {
            true => format!(
                "{one} {compares} {}",
                1 + self.0.below(5.min((1 << width) - 1))
            ),
            false => format!("{one} {compares} {other}"),
        }
    }

    /// The keys of some instance.
    pub fn keys(&mut self, scope: &Scope) -> String {
        let keys = scope.keys.iter();
        let keys = keys.map(|key| match key.kind {
            Kind::Number(width) => {
                let most = 1_usize << width.min(2);
                match width < 4 || self.0.percent(60) {
                    true => self.0.below(most).to_string(),
                    false => format!("({} % 3)", self.read(8, scope)),
                }
            }
            _ => "0".to_string(),
        });
        Vec::from_iter(keys).join(", ")
    }
}
