//! Programs of Esterel at random, from a seed.

use fastrand::Rng;
use std::fmt::Write;

/// A program, and how it is run.
pub struct Program {
    /// The text of a module with this interface.
    pub text: String,
    /// What is given in each instant.
    pub instants: Vec<String>,
}

/// What is declared in all programs, beside relations.
const INTERFACE: &str = "\
input A, B, C, V : integer, R : float, T := \"t\" : string;
sensor L : integer;
output O, P, Q, W : combine integer with +;
output X : double, Y : string, Z : boolean, N := 7 : integer;
inputoutput K := 1.5 : combine float with *;
";

/// A program of this seed.
pub fn program(seed: u64) -> Program {
    let mut writer = Writer {
        rng: Rng::with_seed(seed),
        signals: ["O", "P", "Q"].map(String::from).to_vec(),
        inputs: ["A", "B", "C"].map(String::from).to_vec(),
        variables: Vec::new(),
        traps: Vec::new(),
        valued_traps: Vec::new(),
        locals: Vec::new(),
        names: 0,
        left: 4 + seed as usize % 40,
    };
    let body = writer.statement(0);
    let mut text = format!("module RANDOM:\n{INTERFACE}");
    if writer.rng.u8(..4) == 0 {
        text += "relation A # B;\n";
    }
    if writer.rng.u8(..4) == 0 {
        text += "relation C => B;\n";
    }
    let related = (text.contains("A # B"), text.contains("C => B"));
    let _ = writeln!(text, "{body}\nend module");
    let mut instants: Vec<String> = (0..24).map(|_| writer.instant(related)).collect();
    instants[writer.rng.usize(..3) / 2] += " L(1)";
    Program { text, instants }
}

struct Writer {
    rng: Rng,
    signals: Vec<String>,
    inputs: Vec<String>,
    variables: Vec<String>,
    traps: Vec<String>,
    /// Traps with a value, and local signals with one.
    valued_traps: Vec<String>,
    locals: Vec<String>,
    names: u32,
    /// How many statements there may still be.
    left: usize,
}

impl Writer {
    fn instant(&mut self, (exclusive, implies): (bool, bool)) -> String {
        let mut given = [self.rng.bool(), self.rng.bool(), self.rng.bool()];
        if implies && given[2] {
            given[1] = true;
        }
        if exclusive && given[1] {
            given[0] = false;
        }
        let mut words: Vec<String> = Vec::new();
        for (name, given) in ["A", "B", "C"].into_iter().zip(given) {
            if given {
                words.push(name.to_string());
            }
        }
        if self.rng.u8(..3) == 0 {
            words.push(format!("V({})", self.rng.i8(-3..9)));
        }
        if self.rng.u8(..3) == 0 {
            words.push(format!("R({})", f32::from(self.rng.i8(..)) / 8.0));
        }
        if self.rng.u8(..4) == 0 {
            let all = ["", "t", "a \\\"b\\\" \\\\", "longer than the others, ??="];
            words.push(format!("T(\"{}\")", all[self.rng.usize(..all.len())]));
        }
        if self.rng.u8(..3) == 0 {
            words.push(format!("L({})", self.rng.i32(..)));
        }
        if self.rng.u8(..6) == 0 {
            words.push("K(0.75)".to_string());
            // A combined signal may be given again.
            if self.rng.bool() {
                words.push("K(-2.5)".to_string());
            }
        }
        words.join(" ")
    }

    fn fresh(&mut self, start: &str) -> String {
        self.names += 1;
        format!("{start}{}", self.names)
    }

    fn one_of(&mut self, all: &[String]) -> String {
        all[self.rng.usize(..all.len())].clone()
    }

    fn signal(&mut self) -> String {
        let all = [&self.signals[..], &self.inputs[..]].concat();
        self.one_of(&all)
    }

    fn presence(&mut self) -> String {
        match self.rng.u8(..10) {
            0 => format!("not {}", self.signal()),
            1 => format!("({} and {})", self.signal(), self.signal()),
            2 => format!("({} or not {})", self.signal(), self.signal()),
            3 if self.rng.u8(..4) == 0 => "pre(tick)".to_string(),
            3 => format!("pre({})", self.signal()),
            4..7 => {
                let inputs = self.inputs.clone();
                self.one_of(&inputs)
            }
            _ => self.signal(),
        }
    }

    fn delay(&mut self) -> String {
        match self.rng.u8(..10) {
            8 => format!("pre({})", self.signal()),
            9 => format!("{} {}", self.number().replace("-", "0 - "), self.signal()),
            0 => format!("immediate {}", self.signal()),
            1 => format!("{} {}", self.rng.u8(..4), self.signal()),
            2 => format!("[{}]", self.presence()),
            3 => "tick".to_string(),
            _ => {
                let inputs = self.inputs.clone();
                self.one_of(&inputs)
            }
        }
    }

    /// A delay that is not immediate.
    fn later(&mut self) -> String {
        self.delay().replace("immediate ", "")
    }

    /// A small integer, so that counts come to an end.
    fn number(&mut self) -> String {
        let variables = self.variables.clone();
        match self.rng.u8(..6) {
            0 if !variables.is_empty() => self.one_of(&variables),
            1 if !variables.is_empty() => format!("{} + 1", self.one_of(&variables)),
            2 => "?N".to_string(),
            _ => format!("{}", self.rng.i8(-2..6)),
        }
    }

    /// An integer that may need much to be computed, and may not be there.
    fn integer(&mut self, depth: u32) -> String {
        if depth > 2 {
            return self.number();
        }
        let operators = ["+", "-", "*", "/", "mod"];
        match self.rng.u8(..12) {
            0 => "?V".to_string(),
            1 => "pre(?N)".to_string(),
            2 => "pre(?V)".to_string(),
            3 => ["?L", "pre(?L)"][self.rng.usize(..2)].to_string(),
            4 => format!("-({})", self.integer(depth + 1)),
            5 => ["2147483647", "-2147483648"][self.rng.usize(..2)].to_string(),
            6 | 7 if !self.locals.is_empty() => {
                let local = self.one_of(&self.locals.clone());
                match self.rng.u8(..3) {
                    0 => format!("pre(?{local})"),
                    _ => format!("?{local}"),
                }
            }
            6..10 => {
                let operator = operators[self.rng.usize(..5)];
                let (one, other) = (self.integer(depth + 1), self.integer(depth + 1));
                format!("({one}) {operator} ({other})")
            }
            _ => self.number(),
        }
    }

    fn double(&mut self, depth: u32) -> String {
        match self.rng.u8(..5) {
            _ if depth > 2 => "0.1".to_string(),
            0 => format!("-({})", self.double(depth + 1)),
            1 => format!("{:?}", f64::from(self.rng.i32(..)) / 1e3).replace('-', ""),
            2 => "1.0e300".to_string(),
            _ => {
                let operator = ["+", "-", "*", "/"][self.rng.usize(..4)];
                let (one, other) = (self.double(depth + 1), self.double(depth + 1));
                format!("({one}) {operator} ({other})")
            }
        }
    }

    fn truth(&mut self, depth: u32) -> String {
        let compare = ["=", "<>", "<", "<=", ">", ">="][self.rng.usize(..6)];
        let equal = ["=", "<>"][self.rng.usize(..2)];
        match self.rng.u8(..9) {
            _ if depth > 2 => "true".to_string(),
            0 => format!("?R {compare} 2.5f"),
            1 => format!("?K {compare} pre(?K)"),
            2 => format!("?T {equal} \"t\""),
            3 => format!("({}) {compare} ({})", self.double(1), self.double(1)),
            4 => format!("not ({})", self.truth(depth + 1)),
            5 | 6 => {
                let operator = ["and", "or", "=", "<>"][self.rng.usize(..4)];
                let (one, other) = (self.truth(depth + 1), self.truth(depth + 1));
                format!("({one}) {operator} ({other})")
            }
            _ => format!("({}) {compare} ({})", self.integer(1), self.integer(1)),
        }
    }

    /// Something with a value is emitted.
    fn valued(&mut self) -> String {
        match self.rng.u8(..8) {
            0 => format!("emit X({})", self.double(0)),
            1 => format!(
                "emit Y({})",
                ["?T", "\"y\"", "\"??/\"", "pre(?T)"][self.rng.usize(..4)]
            ),
            2 => format!("emit Z({})", self.truth(0)),
            3 if self.locals.is_empty() => format!("emit N({})", self.integer(0)),
            4 if !self.valued_traps.is_empty() => {
                let trap = self.one_of(&self.valued_traps.clone());
                format!("exit {trap}({})", self.integer(0))
            }
            3 | 6 if !self.locals.is_empty() => {
                let local = self.one_of(&self.locals.clone());
                format!("emit {local}({})", self.integer(1))
            }
            4 => "emit K(?R)".to_string(),
            // Exact, since the order of emissions is open.
            5 => "emit K(3.0f / 4.0f)".to_string(),
            _ => format!("emit W({})", self.integer(0)),
        }
    }

    fn statement(&mut self, depth: u32) -> String {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 || depth > 7 {
            return self.simple();
        }
        match self.rng.u8(..24) {
            0..4 => self.simple(),
            4..7 => self.several(depth, "; "),
            7..10 => {
                let variables = std::mem::take(&mut self.variables);
                let all = self.several(depth, " || ");
                self.variables = variables;
                all
            }
            10 | 11 => {
                let (test, then) = (self.presence(), self.statement(depth + 1));
                format!(
                    "present {test} then {then} else {} end",
                    self.statement(depth + 1)
                )
            }
            12 => {
                let body = self.statement(depth + 1);
                match self.rng.bool() {
                    true => format!("loop {body}; pause end"),
                    false => format!("loop pause; {body} end"),
                }
            }
            13 => {
                let body = self.statement(depth + 1);
                format!("loop {body} each {}", self.later())
            }
            14 => {
                let delay = self.delay();
                format!("every {delay} do {} end", self.statement(depth + 1))
            }
            15 | 16 => self.abort(depth),
            17 => {
                let body = self.statement(depth + 1);
                let immediate = if self.rng.bool() { "immediate " } else { "" };
                format!("suspend [{body}] when {immediate}[{}]", self.presence())
            }
            18 | 19 => self.trap(depth),
            20 => self.local(depth),
            21 => {
                let name = self.fresh("X");
                let first = self.number();
                self.variables.push(name.clone());
                let body = self.statement(depth + 1);
                self.variables.pop();
                format!("var {name} := {first} : integer in {body} end")
            }
            22 => {
                let times = self.rng.u8(..4);
                let positive = if self.rng.bool() { "positive " } else { "" };
                let body = self.statement(depth + 1);
                format!("{positive}repeat {times} times {body}; pause end")
            }
            _ => {
                let cases = [self.delay(), self.delay()];
                let then = [self.statement(depth + 1), self.statement(depth + 1)];
                format!(
                    "await case {} do {} case {} do {} end",
                    cases[0], then[0], cases[1], then[1]
                )
            }
        }
    }

    fn several(&mut self, depth: u32, between: &str) -> String {
        let count = self.rng.usize(2..4);
        let all: Vec<String> = (0..count).map(|_| self.statement(depth + 1)).collect();
        format!("[{}]", all.join(between))
    }

    fn simple(&mut self) -> String {
        let signals = self.signals.clone();
        match self.rng.u8(..14) {
            0 | 7 | 13 if !self.traps.is_empty() => {
                let traps = self.traps.clone();
                format!("exit {}", self.one_of(&traps))
            }
            0 => "nothing".to_string(),
            1..4 => "pause".to_string(),
            4 => "halt".to_string(),
            5 => format!("sustain {}", self.one_of(&signals)),
            6 => self.valued(),
            8 if !self.variables.is_empty() => {
                let variables = self.variables.clone();
                format!("{} := {}", self.one_of(&variables), self.number())
            }
            9 => format!("await {}", self.delay()),
            11 if self.rng.u8(..3) == 0 => {
                // An input that is emitted.
                let inputs = self.inputs.clone();
                format!("emit {}", self.one_of(&inputs))
            }
            12 if self.rng.bool() => {
                let signal = self.one_of(&signals);
                format!("if {} then emit {signal} else pause end", self.truth(0))
            }
            10 if !self.variables.is_empty() => {
                let variables = self.variables.clone();
                let variable = self.one_of(&variables);
                let signal = self.one_of(&signals);
                format!("if {variable} > 1 then emit {signal} else pause end")
            }
            _ => format!("emit {}", self.one_of(&signals)),
        }
    }

    fn abort(&mut self, depth: u32) -> String {
        let weak = if self.rng.bool() { "weak " } else { "" };
        if self.rng.u8(..8) == 0 {
            // A count that the body may still set.
            let name = self.fresh("L");
            let (value, body) = (self.rng.u8(..3), self.statement(depth + 1));
            return format!(
                "signal {name} := 1 : integer in {weak}abort emit {name}({value}); {body} \
                 when ?{name} {} do emit P end end",
                self.signal()
            );
        }
        let body = self.statement(depth + 1);
        match self.rng.u8(..3) {
            0 => format!("{weak}abort {body} when {}", self.delay()),
            1 => {
                let delay = self.delay();
                format!(
                    "{weak}abort {body} when {delay} do {} end",
                    self.statement(depth + 1)
                )
            }
            _ => {
                let cases = [self.delay(), self.delay()];
                let then = self.statement(depth + 1);
                format!(
                    "{weak}abort {body} when case {} do {then} case {} end",
                    cases[0], cases[1]
                )
            }
        }
    }

    fn trap(&mut self, depth: u32) -> String {
        if self.rng.u8(..3) == 0 {
            return self.trap_in_trap(depth);
        }
        let names = [self.fresh("T"), self.fresh("T")];
        let count = self.rng.usize(1..3);
        self.traps.extend(names[..count].iter().cloned());
        // Branches that exit at once are what is hard about traps.
        let body = match self.rng.bool() {
            true => self.several(depth, " || "),
            false => self.statement(depth + 1),
        };
        self.traps.truncate(self.traps.len() - count);
        let mut text = format!("trap {} in {body}", names[..count].join(", "));
        for name in &names[..count] {
            // A trap may have several handlers.
            for _ in 0..self.rng.usize(..3) {
                let _ = write!(text, " handle {name} do {}", self.statement(depth + 1));
            }
        }
        if self.rng.u8(..3) == 0 {
            let (one, other) = (&names[0], &names[count - 1]);
            let test = match self.rng.u8(..3) {
                0 => format!("{one} and {other}"),
                1 => format!("not {one} or {other}"),
                _ => format!("not ({one} and not {other})"),
            };
            let _ = write!(text, " handle {test} do {}", self.statement(depth + 1));
        }
        text + " end"
    }

    /// Two traps, both exited at once: which of them was it?
    fn trap_in_trap(&mut self, depth: u32) -> String {
        let (outer, inner) = (self.fresh("T"), self.fresh("T"));
        let (one, other) = (self.statement(depth + 1), self.statement(depth + 1));
        let wait = ["pause", "await A", "await [B or C]"][self.rng.usize(..3)];
        let mut exits = [&outer, &inner].map(|name| format!("{wait}; exit {name}"));
        if self.rng.bool() {
            exits.swap(0, 1);
        }
        let [left, right] = exits;
        let innermost = format!("trap {inner} in {left} || {one} || {right} end; emit O; {other}");
        format!("trap {outer} in {innermost} handle {outer} do emit P end")
    }

    /// A local signal with a value, or a trap with one.
    fn local_value(&mut self, depth: u32) -> String {
        let first = ["", " := 5"][self.rng.usize(..2)];
        let combine = ["", "combine "][self.rng.usize(..2)];
        let with = if combine.is_empty() { "" } else { " with *" };
        if self.rng.bool() {
            let name = self.fresh("U");
            self.valued_traps.push(name.clone());
            let body = self.several(depth, " || ");
            self.valued_traps.pop();
            let value = format!("emit W(??{name} + {})", self.number());
            return format!(
                "trap {name} : {combine}integer{with} in {body} handle {name} do {value} end"
            );
        }
        let name = self.fresh("L");
        self.locals.push(name.clone());
        let body = self.several(depth, " || ");
        let end = self.several(depth, "; ");
        self.locals.pop();
        format!("signal {name}{first} : {combine}integer{with} in {body}; pause; {end} end")
    }

    fn local(&mut self, depth: u32) -> String {
        if self.rng.bool() {
            return self.local_value(depth);
        }
        let name = self.fresh("S");
        self.signals.push(name.clone());
        let body = self.statement(depth + 1);
        let other = self.statement(depth + 1);
        self.signals.pop();
        format!("signal {name} in [{body} || {other}] end")
    }
}
