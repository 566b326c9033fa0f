//! What two ends of a layer agree on: fields of its header, and what is asked of a frame before it
//! goes up. Frames of a stack of the same program mostly keep to it, so this makes fast paths.
//!
//! In: random choices. Out: lines of a header and of a session, tests, and what is written where
//! they hold.

use crate::scope::{Kind, Place, Scope};
use crate::statement::Writer;

/// A test of a frame that comes up.
pub struct Ask {
    pub asked: String,
    /// What is done where it does not hold.
    pub otherwise: Vec<String>,
}

/// A layer as far as both ends agree on it.
#[derive(Default)]
pub struct Agreement {
    /// Whether it is mostly such that frames can be compared at once.
    pub is_busy: bool,
    /// Fields that follow each other, in one byte or several.
    pub header: Vec<String>,
    /// Fields of a session, or of all sessions together.
    pub session: Vec<String>,
    pub entity: Vec<String>,
    /// What can be read of a header.
    pub read: Vec<Place>,
    /// What can be read and written of an instance, and of what all share.
    pub own: Vec<Place>,
    pub shared: Vec<Place>,
    /// What a `send` may set, and, behind a `!`, must.
    pub settings: Vec<(String, Kind)>,
    pub asks: Vec<Ask>,
    /// What is written when a frame goes up.
    pub effects: Vec<String>,
    /// What is written when one goes down, and what it is given.
    pub before: Vec<String>,
    pub given: Vec<String>,
}

impl Agreement {
    /// Something both ends agree on.
    pub fn add(&mut self, it: &mut Writer, at: usize, scope: &Scope) {
        let usual = if self.is_busy { 20 } else { 0 };
        match it.random.below(16 + usual) {
            0..5 | 16..24 => self.turn(it, at),
            5..8 | 24..30 => self.mode(it, at, &scope.named),
            8 | 30.. => self.constant(it, at),
            9 | 10 => self.bound(it, at),
            11 => self.flag(at),
            12 => self.worn(at),
            13 => self.missing(it, at),
            14 => self.of_message(it, scope),
            _ => self.part(it, at),
        }
    }

    /// A field of a header: in bytes of its own, or beside bits that nobody needs.
    pub fn field(&mut self, it: &mut Writer, name: &str, kind: Kind, (word, rule): (&str, &str)) {
        let line = format!("{name}: {word}{rule}");
        let bits = match kind {
            Kind::Number(width) | Kind::Sequence(width) => width,
            Kind::Truth => 1,
            Kind::Named => 2,
            Kind::Optional(_) => 16,
        };
        let rest = 8 - bits % 8;
        let line = match rest {
            8 => line,
            _ => {
                let value = 1 + it.random.below((1 << rest) - 1);
                let rule = match it.random.below(3) {
                    0 => "= 0".to_string(),
                    1 => format!("= {value}"),
                    _ => format!("is {value}"),
                };
                match it.random.percent(50) {
                    true => format!("free_{name}: u{rest} {rule}\n{line}"),
                    false => format!("{line}\nfree_{name}: u{rest} {rule}"),
                }
            }
        };
        self.header.push(line);
        let text = format!("header.{name}");
        self.read.push(Place {
            text,
            kind,
            is_written: false,
        });
    }

    /// A field of an instance, of what all share, or a part of a record or an array.
    fn place(&mut self, it: &mut Writer, name: &str, kind: Kind, word: &str) -> String {
        let ways = if self.is_busy { 40 } else { 10 };
        let (text, is_shared) = match (it.random.below(ways), kind) {
            (0, _) => {
                let text = format!("shared_{name}");
                self.entity
                    .push(format!("{text}: {word} = {}", zero(kind, word)));
                (text, true)
            }
            (2, Kind::Number(8)) => {
                self.session.push(format!("{name}: pair"));
                (format!("{name}.first"), false)
            }
            (3, Kind::Number(16)) => {
                self.session.push(format!("{name}: pair"));
                (format!("{name}.second"), false)
            }
            (2 | 3, Kind::Number(_)) => {
                self.session.push(format!("{name}: array<{word}>[4]"));
                (format!("{name}[{}]", it.random.below(4)), false)
            }
            _ => {
                self.session
                    .push(format!("{name}: {word} = {}", zero(kind, word)));
                (name.to_string(), false)
            }
        };
        let places = if is_shared {
            &mut self.shared
        } else {
            &mut self.own
        };
        places.push(Place {
            text: text.clone(),
            kind,
            is_written: true,
        });
        text
    }

    /// Numbers that follow each other.
    fn turn(&mut self, it: &mut Writer, at: usize) {
        let width = *it.random.one(&[8, 8, 16, 32]);
        let kind = match it.random.percent(30) {
            true => Kind::Sequence(width),
            false => Kind::Number(width),
        };
        let word = kind.word("");
        let must = it.random.percent(50);
        let name = format!("number_{at}");
        self.field(it, &name, kind, (&word, if must { "" } else { " = 0" }));
        self.settings
            .push((format!("{}{name}", if must { "!" } else { "" }), kind));
        let next = self.place(it, &format!("next_{at}"), kind, &word);
        let sent = self.place(it, &format!("sent_{at}"), kind, &word);
        let compares = match (it.random.below(8), kind) {
            (0, _) => ">=",
            (1, Kind::Sequence(_)) => "<=",
            _ => "==",
        };
        let follows = *it.random.one(&["", " + 1"]);
        let follows = format!("{next} = header.{name}{follows}");
        self.asks.push(Ask {
            asked: format!("header.{name} {compares} {next}"),
            otherwise: Vec::from_iter(Some(follows.clone()).filter(|_| it.random.percent(60))),
        });
        let steps = [
            format!("{next} += 1"),
            format!("{next} = header.{name} + 1"),
            format!("{next} += 255"),
            follows,
        ];
        self.effects
            .push(steps[it.random.below(8).saturating_sub(4)].clone());
        self.given.push(format!("{name} = {sent}"));
        self.before.push(format!("{sent} += 1"));
    }

    /// What is as was agreed.
    fn mode(&mut self, it: &mut Writer, at: usize, named: &str) {
        let kind = *it.random.one(&[
            Kind::Number(4),
            Kind::Number(8),
            Kind::Number(8),
            Kind::Truth,
            Kind::Named,
            Kind::Number(16),
        ]);
        let word = kind.word(named);
        let name = format!("mode_{at}");
        let rule = if kind == Kind::Named { " = calm" } else { "" };
        let rule = match it.random.percent(50) {
            true => rule.to_string(),
            false => format!(" = {}", zero(kind, &word).rsplit('.').next().unwrap_or("0")),
        };
        self.field(it, &name, kind, (&word, &rule));
        let mark = if rule.is_empty() { "!" } else { "" };
        self.settings.push((format!("{mark}{name}"), kind));
        let place = self.place(it, &format!("own_{at}"), kind, &word);
        self.asks.push(Ask {
            asked: format!("header.{name} == {place}"),
            otherwise: vec![format!("{place} = header.{name}")],
        });
        self.given.push(format!("{name} = {place}"));
    }

    pub fn constant(&mut self, it: &mut Writer, at: usize) {
        let width = *it.random.one(&[4, 7, 8, 16]);
        let value = 1 + it.random.below(15);
        let (kind, name) = (Kind::Number(width), format!("kind_{at}"));
        self.field(
            it,
            &name,
            kind,
            (&format!("u{width}"), &format!(" is {value}")),
        );
    }

    fn bound(&mut self, it: &mut Writer, at: usize) {
        let name = format!("rest_{at}");
        let most = 3 + it.random.below(200);
        match it.random.below(3) {
            0 => self.field(
                it,
                &name,
                Kind::Number(8),
                ("u8", &format!(" = 1 where {name} < {most}")),
            ),
            1 => {
                self.field(it, &name, Kind::Number(8), ("u8", " = 0"));
                self.ask(format!("header.{name} < {most}"));
            }
            _ => {
                self.field(it, &name, Kind::Number(4), ("u4", " = 0"));
                self.ask(format!("header.{name} != {}", 1 + most % 15));
            }
        }
        if !self.header.last().is_some_and(|line| line.contains(" is ")) {
            self.settings.push((name, Kind::Number(4)));
        }
    }

    pub fn ask(&mut self, asked: String) {
        let otherwise = Vec::new();
        self.asks.push(Ask { asked, otherwise });
    }

    fn flag(&mut self, at: usize) {
        let name = format!("closed_{at}");
        self.session.push(format!("{name}: bool = false"));
        self.ask(format!("not {name}"));
        self.own.push(Place {
            text: name,
            kind: Kind::Truth,
            is_written: true,
        });
    }

    fn worn(&mut self, at: usize) {
        for (name, first) in [("worn", 0), ("most", 5)] {
            let text = format!("{name}_{at}");
            self.session.push(format!("{text}: u8 = {first}"));
            self.own.push(Place {
                text,
                kind: Kind::Number(8),
                is_written: true,
            });
        }
        self.asks.push(Ask {
            asked: format!("worn_{at} < most_{at}"),
            otherwise: vec![format!("worn_{at} = 0")],
        });
    }

    /// A number that may be none.
    fn missing(&mut self, it: &mut Writer, at: usize) {
        let name = format!("perhaps_{at}");
        self.session.push(format!("{name}: u16? = none"));
        let kind = Kind::Optional(16);
        self.own.push(Place {
            text: name.clone(),
            kind,
            is_written: true,
        });
        let asked = match it.random.below(3) {
            0 => format!("not present {name}"),
            1 => {
                let field = format!("like_{at}");
                self.field(it, &field, Kind::Number(16), ("u16", " = 0"));
                self.settings.push((field.clone(), Kind::Number(16)));
                self.effects.push(format!("{name} = header.{field}"));
                format!("header.{field} == ({name} else 0)")
            }
            _ => format!("({name} else 3) < 9"),
        };
        let otherwise = vec![format!("{name} = none")];
        self.asks.push(Ask { asked, otherwise });
    }

    fn of_message(&mut self, it: &mut Writer, scope: &Scope) {
        let asked = match it.random.below(3) {
            0 if !scope.is_lowest => "message.mark != 77",
            1 => "message.length != 3",
            _ => "message.length < 900",
        };
        self.ask(asked.to_string());
    }

    /// A field that is there if another one says so.
    fn part(&mut self, it: &mut Writer, at: usize) {
        let (flag, part) = (format!("has_{at}"), format!("part_{at}"));
        self.field(it, &flag, Kind::Truth, ("bool", " = message.length > 20"));
        self.header.push(format!("{part}: u16 = 9 if {flag}"));
        let (text, kind) = (format!("header.{part}"), Kind::Optional(16));
        self.read.push(Place {
            text,
            kind,
            is_written: false,
        });
        if it.random.percent(50) {
            self.ask(format!("not present header.{part}"));
        }
    }
}

/// What a field begins with.
fn zero(kind: Kind, word: &str) -> String {
    match kind {
        Kind::Number(_) | Kind::Sequence(_) => "0".to_string(),
        Kind::Truth => "false".to_string(),
        Kind::Optional(_) => "none".to_string(),
        Kind::Named => format!("{word}.calm"),
    }
}
