//! Statements.

use super::{Parsed, Parser, Reported};
use crate::diagnostic::Id;
use crate::source::Span;
use crate::syntax::esterel::ast::{
    Actual, DelayCase, Expression, Name, Renaming, RenamingKind, SignalDeclaration, Statement,
    StatementKind as Kind,
};
use crate::syntax::esterel::token::TokenKind;

/// Words behind which nothing more belongs to a body.
const ENDS: [&str; 14] = [
    "end", "else", "elsif", "case", "when", "each", "handle", "timeout", "watching", "upto", ".",
    "]", ")", "module",
];

impl Parser<'_> {
    /// `p || q`
    pub(super) fn parallel(&mut self) -> Parsed<Statement> {
        self.nested(|parser| {
            let start = parser.token().span;
            let mut branches = vec![parser.sequence()?];
            while parser.accept("||") {
                branches.push(parser.sequence()?);
            }
            Ok(match branches.len() {
                1 => branches.remove(0),
                _ => parser.statement_of(Kind::Parallel(branches), start),
            })
        })
    }

    /// `p; q`
    fn sequence(&mut self) -> Parsed<Statement> {
        let start = self.token().span;
        let mut all = Vec::new();
        loop {
            match self.statement() {
                Ok(statement) => all.push(statement),
                Err(Reported) => self.skip_statement(),
            }
            if !self.accept(";") || self.is_at("||") || self.is_at_end() {
                break;
            }
        }
        Ok(match all.len() {
            1 => all.remove(0),
            _ => self.statement_of(Kind::Sequence(all), start),
        })
    }

    fn is_at_end(&self) -> bool {
        self.token().kind == TokenKind::End || ENDS.iter().any(|word| self.is_at(word))
    }

    /// Behind a mistake: what follows the next `;` or `||`, or what ends the body around.
    fn skip_statement(&mut self) {
        while !self.is_at(";") && !self.is_at("||") && !self.is_at_end() {
            self.take();
        }
    }

    fn statement_of(&self, kind: Kind, start: Span) -> Statement {
        Statement {
            kind: Box::new(kind),
            span: self.since(start),
        }
    }

    fn statement(&mut self) -> Parsed<Statement> {
        self.nested(|parser| {
            parser.operators = 0;
            let start = parser.token().span;
            let kind = match parser.token().kind {
                TokenKind::Name => parser.assignment()?,
                TokenKind::Sign if parser.is_at("[") => {
                    parser.take();
                    let inner = parser.parallel()?;
                    parser.expect("]")?;
                    return Ok(inner);
                }
                TokenKind::Keyword => parser.with_keyword()?,
                _ => return Err(parser.unexpected("a statement")),
            };
            Ok(parser.statement_of(kind, start))
        })
    }

    fn assignment(&mut self) -> Parsed<Kind> {
        let name = self.name("a variable")?;
        self.expect(":=")?;
        Ok(Kind::Assign(name, self.expression()?))
    }

    fn with_keyword(&mut self) -> Parsed<Kind> {
        let token = self.token();
        match token.text {
            "nothing" => self.alone(Kind::Nothing),
            "pause" => self.alone(Kind::Pause),
            "halt" => self.alone(Kind::Halt),
            "emit" => self.with_value(Kind::Emit),
            "sustain" => self.with_value(Kind::Sustain),
            "exit" => self.with_value(Kind::Exit),
            "present" => self.present(),
            "if" => self.condition(),
            "loop" => self.turns(),
            "every" => self.every(),
            "repeat" | "positive" => self.repeat(),
            "await" => self.wait(),
            "abort" | "weak" => self.abort(),
            "do" => self.old_abort(),
            "suspend" => self.suspend(),
            "trap" => self.trap(),
            "signal" => self.local_signals(),
            "var" => self.local_variables(),
            "call" => self.call(),
            "run" | "copymodule" => self.run(),
            "exec" => self.exec(),
            _ => Err(self.unexpected("a statement")),
        }
    }

    fn alone(&mut self, kind: Kind) -> Parsed<Kind> {
        self.take();
        Ok(kind)
    }

    /// A word, a name, and perhaps a value in parentheses.
    fn with_value(&mut self, kind: fn(Name, Option<Expression>) -> Kind) -> Parsed<Kind> {
        self.take();
        let name = self.name("a name")?;
        let value = match self.accept("(") {
            true => {
                let value = self.expression()?;
                self.expect(")")?;
                Some(value)
            }
            false => None,
        };
        Ok(kind(name, value))
    }

    /// `end`, and perhaps the word that it ends.
    fn end(&mut self, word: &str) -> Parsed<()> {
        self.expect("end")?;
        self.accept(word);
        Ok(())
    }

    /// A body that may be left out. Behind `do` in place of `then`, or the other way round, it is
    /// read all the same, so that the mistake is told once.
    fn optional(&mut self, word: &str) -> Parsed<Option<Statement>> {
        let other = match word {
            "then" => "do",
            "do" => "then",
            _ => word,
        };
        let is_other = other != word && self.is_at(other);
        if is_other {
            self.unexpected(&format!("`{word}`"));
            self.take();
        }
        match is_other || self.accept(word) {
            true => Ok(Some(self.parallel()?)),
            false => Ok(None),
        }
    }

    fn present(&mut self) -> Parsed<Kind> {
        self.take();
        let mut cases = Vec::new();
        if self.is_at("case") {
            while self.accept("case") {
                let start = self.token().span;
                let test = self.presence()?;
                let place = self.since(start);
                cases.push((test, place, self.optional("do")?));
            }
        } else {
            let start = self.token().span;
            let test = self.presence()?;
            let place = self.since(start);
            cases.push((test, place, self.optional("then")?));
        }
        let otherwise = self.optional("else")?;
        self.end("present")?;
        Ok(Kind::Present { cases, otherwise })
    }

    fn condition(&mut self) -> Parsed<Kind> {
        self.take();
        let mut cases = Vec::new();
        loop {
            let condition = self.expression()?;
            // Only a case behind an `elsif` may begin with `do`, too.
            let then = match self.is_at("do") && !cases.is_empty() {
                true => self.optional("do")?,
                false => self.optional("then")?,
            };
            cases.push((condition, then));
            if !self.accept("elsif") {
                break;
            }
        }
        let otherwise = self.optional("else")?;
        self.end("if")?;
        Ok(Kind::If { cases, otherwise })
    }

    fn turns(&mut self) -> Parsed<Kind> {
        self.take();
        let body = self.parallel()?;
        if self.accept("each") {
            let delay = self.delay()?;
            return Ok(Kind::LoopEach(body, delay));
        }
        self.end("loop")?;
        Ok(Kind::Loop(body))
    }

    fn every(&mut self) -> Parsed<Kind> {
        self.take();
        let delay = self.delay()?;
        self.expect("do")?;
        let body = self.parallel()?;
        self.end("every")?;
        Ok(Kind::Every(delay, body))
    }

    fn repeat(&mut self) -> Parsed<Kind> {
        let positive = self.accept("positive");
        self.expect("repeat")?;
        let count = self.expression()?;
        self.expect("times")?;
        let body = self.parallel()?;
        self.end("repeat")?;
        Ok(Kind::Repeat {
            positive,
            count,
            body,
        })
    }

    fn wait(&mut self) -> Parsed<Kind> {
        self.take();
        if self.is_at("case") {
            let cases = self.cases()?;
            self.end("await")?;
            return Ok(Kind::Await(cases));
        }
        let case = self.one_case("await")?;
        Ok(Kind::Await(vec![case]))
    }

    /// `case D do p case D do q`
    fn cases(&mut self) -> Parsed<Vec<DelayCase>> {
        let mut cases = Vec::new();
        while self.accept("case") {
            let delay = self.delay()?;
            let then = self.optional("do")?;
            cases.push(DelayCase { delay, then });
        }
        Ok(cases)
    }

    /// `D do p end`, or just `D`.
    fn one_case(&mut self, word: &str) -> Parsed<DelayCase> {
        let delay = self.delay()?;
        let then = self.optional("do")?;
        if then.is_some() {
            self.end(word)?;
        }
        Ok(DelayCase { delay, then })
    }

    fn abort(&mut self) -> Parsed<Kind> {
        let weak = self.accept("weak");
        self.expect("abort")?;
        let body = self.parallel()?;
        self.expect("when")?;
        let cases = match self.is_at("case") {
            true => {
                let cases = self.cases()?;
                self.expect("end")?;
                self.accept("weak");
                self.accept("abort");
                cases
            }
            false => {
                let delay = self.delay()?;
                let then = self.optional("do")?;
                if then.is_some() {
                    self.expect("end")?;
                    self.accept("weak");
                    self.accept("abort");
                }
                vec![DelayCase { delay, then }]
            }
        };
        Ok(Kind::Abort { weak, body, cases })
    }

    /// `do p upto D`, `do p watching D timeout q end`
    fn old_abort(&mut self) -> Parsed<Kind> {
        self.take();
        let body = self.parallel()?;
        if self.accept("upto") {
            return Ok(Kind::Upto(body, self.delay()?));
        }
        if !self.accept("watching") {
            return Err(self.unexpected("`upto` or `watching`"));
        }
        let delay = self.delay()?;
        let then = self.optional("timeout")?;
        if then.is_some() {
            self.end("timeout")?;
        }
        Ok(Kind::Watching(body, DelayCase { delay, then }))
    }

    fn suspend(&mut self) -> Parsed<Kind> {
        self.take();
        let body = self.parallel()?;
        self.expect("when")?;
        let delay = self.delay()?;
        if delay.count.is_some() {
            let title = "`suspend` does not take a count".to_string();
            let label = "expected `S`, `[S and T]`, or `immediate` before one of them";
            return Err(self.report(Id::UnexpectedWord, title, delay.span, label));
        }
        Ok(Kind::Suspend(body, delay))
    }

    fn trap(&mut self) -> Parsed<Kind> {
        self.take();
        let ways = self.signals()?;
        self.expect("in")?;
        let body = self.parallel()?;
        let mut handlers = Vec::new();
        while self.accept("handle") {
            let test = self.presence()?;
            self.expect("do")?;
            handlers.push((test, self.parallel()?));
        }
        self.end("trap")?;
        Ok(Kind::Trap {
            ways,
            body,
            handlers,
        })
    }

    fn local_signals(&mut self) -> Parsed<Kind> {
        self.take();
        let signals: Vec<SignalDeclaration> = self.signals()?;
        self.expect("in")?;
        let body = self.parallel()?;
        self.end("signal")?;
        Ok(Kind::Signal(signals, body))
    }

    fn local_variables(&mut self) -> Parsed<Kind> {
        self.take();
        let variables = self.variables(":=")?;
        self.expect("in")?;
        let body = self.parallel()?;
        self.end("var")?;
        Ok(Kind::Variable(variables, body))
    }

    fn call(&mut self) -> Parsed<Kind> {
        self.take();
        let procedure = self.name("a procedure")?;
        let references = self.in_parentheses(|parser| parser.name("a variable"))?;
        let values = self.in_parentheses(Parser::expression)?;
        Ok(Kind::Call {
            procedure,
            references,
            values,
        })
    }

    /// `run M`, `run N / M [ signal A/B; constant 5/N ]`
    fn run(&mut self) -> Parsed<Kind> {
        self.take();
        let mut module = self.name("a module")?;
        if self.accept("/") {
            // What stands before it is only a name for this copy.
            module = self.name("a module")?;
        }
        let mut renamings = Vec::new();
        if self.accept("[") {
            loop {
                self.renamings(&mut renamings)?;
                if !self.accept(";") || self.is_at("]") {
                    break;
                }
            }
            self.expect("]")?;
        }
        Ok(Kind::Run { module, renamings })
    }

    fn renamings(&mut self, all: &mut Vec<Renaming>) -> Parsed<()> {
        let kind = match self.token().text {
            "signal" => RenamingKind::Signal,
            "type" => RenamingKind::Type,
            "constant" => RenamingKind::Constant,
            "function" => RenamingKind::Function,
            "procedure" => RenamingKind::Procedure,
            "task" => RenamingKind::Task,
            _ => return Err(self.unexpected("`signal`, `constant` or another kind of name")),
        };
        self.take();
        all.extend(self.listed(|parser| {
            let actual = parser.actual(kind)?;
            parser.expect("/")?;
            let formal = parser.name("a name of the module")?;
            Ok(Renaming {
                kind,
                actual,
                formal,
            })
        })?);
        Ok(())
    }

    /// What a name stands for: another name, a sign, a value.
    fn actual(&mut self, kind: RenamingKind) -> Parsed<Actual> {
        if kind == RenamingKind::Constant {
            return Ok(Actual::Value(self.before_slash()?));
        }
        let token = self.token();
        let operator = kind == RenamingKind::Function
            && matches!(token.kind, TokenKind::Sign | TokenKind::Keyword)
            && is_operator(token.text);
        if operator {
            self.take();
            return Ok(Actual::Name(Name {
                text: token.text.to_string(),
                span: token.span,
            }));
        }
        Ok(Actual::Name(self.name("a name")?))
    }

    /// `exec K(X)(e) return R`, `exec case K(X)(e) return R do p … end`: read to be refused.
    fn exec(&mut self) -> Parsed<Kind> {
        self.take();
        let mut cases = self.accept("case");
        loop {
            let task = self.name("a task")?;
            self.in_parentheses(|parser| parser.name("a variable"))?;
            self.in_parentheses(Parser::expression)?;
            self.expect("return")?;
            self.name("a signal")?;
            let handled = self.optional("do")?.is_some();
            if cases && self.accept("case") {
                continue;
            }
            cases |= handled;
            if cases {
                self.end("exec")?;
            }
            return Ok(Kind::Exec(task));
        }
    }
}

/// Whether a word or sign is an operator, which may stand for a function.
fn is_operator(text: &str) -> bool {
    let operators = [
        "+", "-", "*", "/", "mod", "=", "<>", "<", "<=", ">", ">=", "and", "or", "not",
    ];
    operators.contains(&text)
}
