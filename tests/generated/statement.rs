//! Statements of random programs: what changes something, and what becomes of a message.

use crate::random::Random;
use crate::scope::{Kind, Place, Scope, Way};
use crate::value::Values;

/// Deeper than this, no block has another one.
const DEEP: usize = 2;

/// The text of a layer, line by line.
pub struct Writer<'r> {
    pub random: &'r mut Random,
    pub text: String,
    indent: usize,
    /// How many locals there are.
    locals: usize,
}

impl<'r> Writer<'r> {
    pub fn new(random: &'r mut Random) -> Writer<'r> {
        let text = String::new();
        let (indent, locals) = (0, 0);
        Writer {
            random,
            text,
            indent,
            locals,
        }
    }

    pub fn values(&mut self) -> Values<'_> {
        Values(self.random)
    }

    pub fn line(&mut self, line: &str) {
        self.text += &"    ".repeat(self.indent);
        self.text += line;
        self.text.push('\n');
    }

    /// What follows stands in a block behind such a line.
    pub fn open(&mut self, line: &str) {
        self.line(&format!("{line} {{"));
        self.indent += 1;
    }

    /// A block ends.
    pub fn close(&mut self) {
        self.indent -= 1;
        self.line("}");
    }

    /// A block behind such a line.
    pub fn block(&mut self, line: &str, within: impl FnOnce(&mut Self)) {
        self.open(line);
        within(self);
        self.close();
    }

    /// Two blocks, one of which is run.
    fn either(&mut self, line: &str, within: impl Fn(&mut Self)) {
        self.open(line);
        within(self);
        self.indent -= 1;
        self.open("} else");
        within(self);
        self.close();
    }

    fn reason(&mut self) -> String {
        format!("reason_{}", self.random.below(6))
    }

    /// A few statements that leave the message alone.
    pub fn some(&mut self, most: usize, depth: usize, scope: &Scope) {
        for _ in 0..1 + self.random.below(most) {
            self.statement(depth, scope);
        }
    }

    fn statement(&mut self, depth: usize, scope: &Scope) {
        match self.random.below(20) {
            0..8 => self.assignment(scope),
            8..11 if depth < DEEP => {
                let asked = self.condition(scope);
                match self.random.percent(40) {
                    true => self.either(&format!("if {asked}"), |it| it.some(2, depth + 1, scope)),
                    false => self.block(&format!("if {asked}"), |it| it.some(2, depth + 1, scope)),
                }
            }
            11 if depth < DEEP => self.cases(4, scope, |it| it.some(2, depth + 1, scope)),
            12 if scope.calls_c && self.random.percent(50) => {
                let number = self.values().number(32, 1, scope);
                self.line(&format!("note({number})"));
            }
            12 => {
                let number = self.random.below(4);
                self.line(&format!("count seen_{number}"));
            }
            13..20 if scope.is_own => self.deed(depth, scope),
            _ => self.assignment(scope),
        }
    }

    /// What an instance does beside writing its fields.
    fn deed(&mut self, depth: usize, scope: &Scope) {
        match self.random.below(10) {
            9 if !scope.windows.is_empty() => self.late(depth, scope),
            0 if scope.goes_down => {
                let with = self.with(Way::Down, &scope.without_message());
                self.line(&format!("send new message{with}"));
            }
            1 | 2 if !scope.timers.is_empty() => {
                let timer = self.random.one(&scope.timers).clone();
                match self.random.percent(80) {
                    true => {
                        let pause = self.random.one(&[1, 3, 20, 90]);
                        self.line(&format!("start {timer} after {pause} us"));
                    }
                    false => self.line(&format!("stop {timer}")),
                }
            }
            3 => {
                let by = self.values().number(8, 1, scope);
                let told = self.random.one(&[
                    "above happened",
                    "above became",
                    "below skip",
                    "below tune",
                ]);
                let may = match told.starts_with("below") {
                    true => scope.goes_down && !scope.is_lowest,
                    false => scope.goes_up,
                };
                if !may {
                    return self.line("count told");
                }
                match told.ends_with('e') {
                    true => self.line(&format!("tell {told}({by})")),
                    false => self.line(&format!("tell {told}")),
                }
            }
            4 if scope.again => self.line("again"),
            5 if !scope.sets.is_empty() => {
                let set = self.random.one(&scope.sets).clone();
                self.line(&format!("{set}.clear()"));
            }
            6 if !scope.queues.is_empty() => {
                let queue = self.random.one(&scope.queues).clone();
                let reason = self.reason();
                let end = match self.random.below(3) {
                    0 if scope.goes_down => {
                        format!("send old{}", self.with(Way::Down, &scope.without_message()))
                    }
                    1 if scope.goes_up => "deliver old".to_string(),
                    _ => format!("drop old as {reason}"),
                };
                if depth < DEEP && self.random.percent(50) {
                    let asked = self.condition(scope);
                    return self.block(&format!("if {asked}"), |it| {
                        it.line(&format!("let old = {queue}.pop() else count nothing_kept"));
                        it.line(&end);
                    });
                }
                self.block(&format!("for old in {queue}.drain()"), |it| it.line(&end));
            }
            7 | 8 if !scope.keys.is_empty() && depth < DEEP => self.other(scope),
            _ => self.assignment(scope),
        }
    }

    /// What becomes of messages in a window.
    fn late(&mut self, depth: usize, scope: &Scope) {
        let window = self.random.one(&scope.windows).clone();
        let (name, next) = (window.name, window.next);
        if depth >= DEEP || self.random.percent(30) {
            return self.line(&format!("{name}.release_to({next})"));
        }
        let end = match (scope.goes_up, self.random.percent(70)) {
            (true, true) => "deliver old".to_string(),
            _ => format!("drop old as {}", self.reason()),
        };
        let asked = self.condition(scope);
        self.block(&format!("if {asked}"), |it| {
            it.line(&format!(
                "let old = {name}.take({next}) else count nothing_late"
            ));
            it.line(&end);
        });
    }

    /// What is done to another instance that is found.
    fn other(&mut self, scope: &Scope) {
        self.locals += 1;
        let name = format!("other_{}", self.locals);
        let asked = self.condition(scope);
        self.block(&format!("if {asked}"), |it| {
            let keys = it.values().keys(scope);
            let timers = scope.timers.iter().filter(|_| scope.ends);
            let timers = Vec::from_iter(timers.cloned());
            let found = match it.random.below(8) {
                0 => format!("create session({keys}) else count no_room_here"),
                1 if !timers.is_empty() => {
                    let timer = it.random.one(&timers);
                    let alike = if it.random.below(2) == 0 {
                        format!("({keys})")
                    } else {
                        String::new()
                    };
                    format!("find session{alike} by {timer} else count nobody_by_time")
                }
                _ => format!("find session({keys}) else count nobody"),
            };
            it.line(&format!("let {name} = {found}"));
            let own = |place: &&Place| place.is_written && place.text.chars().all(|one| one != '[');
            let mine: Vec<Place> = scope.places.iter().filter(own).cloned().collect();
            for _ in 0..1 + it.random.below(2) {
                let Some(place) = (!mine.is_empty()).then(|| it.random.one(&mine).clone()) else {
                    break;
                };
                if !place.text.starts_with("shared_") {
                    let place = Place {
                        text: format!("{name}.{}", place.text),
                        ..place
                    };
                    it.write(&place, scope);
                }
            }
            if it.random.percent(40) {
                let by = it.values().number(8, 1, scope);
                it.line(&format!("tell {name} cross({by})"));
            }
            if scope.ends && it.random.percent(20) {
                it.line(&format!("end {name}"));
            }
        });
    }

    fn assignment(&mut self, scope: &Scope) {
        let written: Vec<Place> = scope
            .places
            .iter()
            .filter(|one| one.is_written)
            .cloned()
            .collect();
        match written.is_empty() {
            true => self.line("count nothing_to_do"),
            false => {
                let place = self.random.one(&written).clone();
                self.write(&place, scope);
            }
        }
    }

    /// Something else becomes the value of a place.
    pub fn write(&mut self, place: &Place, scope: &Scope) {
        let text = &place.text;
        let value = match (place.kind, self.random.below(4)) {
            (Kind::Number(_) | Kind::Sequence(_), 0) => format!("{text} += 1"),
            (Kind::Number(width), 1) => {
                let by = self.values().number(width, 1, scope);
                format!("{text} += {by}")
            }
            (Kind::Truth, 0 | 1) => format!("{text} = not {text}"),
            _ => {
                let value = self.values().of(place.kind, scope);
                format!("{text} = {value}")
            }
        };
        self.line(&value);
    }

    /// A condition, and how often it holds.
    pub fn condition(&mut self, scope: &Scope) -> String {
        let asked = self.values().condition(scope);
        format!("{asked}{}", self.values().likely())
    }

    /// A block for each of some values of a place, and one for all others.
    fn cases(&mut self, of: usize, scope: &Scope, within: impl Fn(&mut Self)) {
        let narrow = |kind| matches!(kind, Kind::Number(8..));
        let places: Vec<Place> = scope.of_kind(narrow).into_iter().cloned().collect();
        let place = match places.is_empty() {
            true => "((now / 1 us) as u8)".to_string(),
            false => self.random.one(&places).text.clone(),
        };
        let mut values: Vec<usize> = (0..of).filter(|_| self.random.percent(50)).collect();
        values.truncate(of - 1);
        values.extend(values.is_empty().then_some(0));
        let often = self.random.below(3 * values.len());
        self.block(&format!("match {place} % {of}"), |it| {
            for (at, value) in values.iter().enumerate() {
                let likely = if at == often { " likely 90%" } else { "" };
                it.block(&format!("case {value}{likely}"), &within);
            }
            it.block("else", &within);
        });
    }

    /// What a message is given on its way.
    pub fn with(&mut self, way: Way, scope: &Scope) -> String {
        let mut all = Vec::new();
        if scope.has_attributes || way == Way::Up {
            if self.random.percent(25) {
                all.push(format!("mark = {}", self.values().number(8, 1, scope)));
            }
            if self.random.percent(15) {
                let condition = match self.random.percent(40) {
                    true => format!(" if {}", self.values().question(scope)),
                    false => String::new(),
                };
                all.push(format!(
                    "note = {}{condition}",
                    self.values().number(16, 1, scope)
                ));
            }
        }
        if way == Way::Down {
            for (field, kind) in scope.settings.clone() {
                if field.starts_with('!') || self.random.percent(40) {
                    let value = self.values().of(kind, scope);
                    all.push(format!("{} = {value}", field.trim_start_matches('!')));
                }
            }
            if scope.has_options && self.random.percent(30) {
                let value = self.values().number(8, 1, scope);
                all.push(format!("scale = {{ shift = {value} }}"));
            }
            if scope.has_options && self.random.percent(30) {
                let (value, asked) = (1 + self.random.below(9), self.values().question(scope));
                all.push(format!("largest = {{ size = {value} }} if {asked}"));
            }
        }
        match all.is_empty() {
            true => String::new(),
            false => format!(" with {{ {} }}", all.join(", ")),
        }
    }

    /// What rarely becomes of a message, as one line.
    pub fn fate(&mut self, scope: &Scope) -> String {
        let reason = self.reason();
        match self.random.below(10) {
            0 => "consume message".to_string(),
            at @ (1 | 2) if !scope.queues.is_empty() && (at == 1 || !scope.is_busy) => {
                let queue = self.random.one(&scope.queues);
                format!("{queue}.push(message) else drop message as {reason}")
            }
            4 if !scope.windows.is_empty() && scope.has_header => {
                let window = self.random.one(&scope.windows);
                let (name, number) = (&window.name, &window.number);
                format!("{name}.insert({number}, message) else drop message as {reason}")
            }
            3 if scope.message == Some(Way::Up) && !scope.is_busy => "deliver message".to_string(),
            3 if scope.message == Some(Way::Down) => {
                format!("send message{}", self.with(Way::Down, scope))
            }
            _ => format!("drop message as {reason}"),
        }
    }

    /// What must hold, or the message goes no further.
    pub fn require(&mut self, asked: &str, is_rare: bool, otherwise: &[String], scope: &Scope) {
        let likely = match is_rare || self.random.percent(60) {
            true => self
                .random
                .one(&[" likely 99%", " likely 99%", " likely 98%"]),
            false => self.values().likely(),
        };
        let line = format!("require {asked}{likely} else");
        let fate = self.fate(scope);
        let ends = scope.ends && self.random.percent(15);
        if otherwise.is_empty() && !ends && !fate.contains(" else ") && self.random.percent(60) {
            return self.line(&format!("{line} {fate}"));
        }
        self.block(&line, |it| {
            otherwise.iter().for_each(|line| it.line(line));
            if it.random.percent(30) {
                it.some(2, DEEP, scope);
            }
            it.line(&fate);
            if ends {
                it.line("end");
            }
        });
    }

    /// What becomes of the message at last.
    pub fn end(&mut self, depth: usize, scope: &Scope) {
        let up = scope.message == Some(Way::Up);
        let usual = |it: &mut Self| match up {
            true => format!("deliver message{}", it.with(Way::Up, scope)),
            false => format!("send message{}", it.with(Way::Down, scope)),
        };
        match self.random.below(24) {
            0..4 if depth < DEEP => {
                let asked = self.condition(scope);
                self.either(&format!("if {asked}"), |it| {
                    if it.random.percent(40) {
                        it.some(1, depth + 1, scope);
                    }
                    it.end(depth + 1, scope);
                });
            }
            4 if depth < DEEP => self.cases(3, scope, |it| it.end(depth + 1, scope)),
            5 if !up => {
                let with = self.with(Way::Down, &scope.without_message());
                self.block("for part in 0..(message.length + 3) / 4 at most 3", |it| {
                    it.line(&format!("send message.piece(part * 4, 4){with}"));
                });
                self.line("consume message");
            }
            6 => {
                let with = self.with(Way::Down, scope);
                self.line(&format!("send share message{with}"));
                let line = usual(self);
                self.line(&line);
            }
            7 if up && scope.goes_down => {
                let with = self.with(Way::Down, scope);
                self.line(&format!("send message{with}"));
            }
            7 if !up && scope.goes_up => self.line("deliver message"),
            8 => {
                let fate = self.fate(scope);
                self.line(&fate);
            }
            _ => {
                let line = usual(self);
                self.line(&line);
            }
        }
    }
}
