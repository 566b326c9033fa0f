//! Statements.

use super::{Code, Parsed, Parser, Reported, Separator};
use crate::diagnostic::{Diagnostic, Id};
use crate::syntax::loom::ast::{
    BinaryOperator, Block, Expression, ExpressionKind, ForRange, IfBranch, Joint, MatchCase,
    Output, Setting, SettingValue, Statement, StatementKind, TellTarget,
};
use crate::syntax::loom::token::{STATEMENTS, TokenKind};

/// What other languages write where Loom has a statement.
const FOREIGN_STATEMENTS: &[(&str, &str)] = &[
    ("var", "let"),
    ("auto", "let"),
    ("const", "let"),
    ("switch", "match"),
    ("wait", "await"),
    ("raise", "emit"),
    ("assert", "require"),
    ("forward", "send"),
];

impl Parser<'_> {
    /// Statements in braces.
    pub(super) fn block(&mut self) -> Parsed<Block> {
        self.nested(|parser| {
            let start = parser.at;
            let statements = parser.list("{", Separator::Newline, Self::statement)?;
            Ok(Block {
                statements,
                span: parser.span_from(start),
            })
        })
    }

    /// A block of other code than the code around it.
    pub(super) fn block_of(&mut self, code: Code) -> Parsed<Block> {
        let around = std::mem::replace(&mut self.code, code);
        let before = std::mem::take(&mut self.statements);
        let block = self.block();
        self.code = around;
        self.statements = before;
        block
    }

    /// What stands behind an `else`: a block, or a statement without braces.
    pub(super) fn otherwise(&mut self) -> Parsed<Block> {
        self.expect("else")?;
        if self.is_at("{") {
            return self.block();
        }
        let start = self.at;
        let statement = self.nested(Self::statement)?;
        Ok(Block {
            statements: vec![statement],
            span: self.span_from(start),
        })
    }

    fn optional_otherwise(&mut self) -> Parsed<Option<Block>> {
        if self.is_at("else") {
            self.otherwise().map(Some)
        } else {
            Ok(None)
        }
    }

    /// One statement.
    pub(super) fn statement(&mut self) -> Parsed<Statement> {
        self.count_statement()?;
        self.correct_statement()?;
        let beginning = self.begin();
        let word = self.token();
        let worded = word.kind == TokenKind::Word && STATEMENTS.contains(&word.text);
        let next = self.ahead(1);
        // Many a layer has a field or a parameter of this name.
        let is_place = word.is("pause") && (next.kind == TokenKind::Sign && !next.is("}"));
        let kind = if worded && !is_place {
            self.worded_statement(word.text)
        } else {
            self.assignment_or_call()
        }?;
        let (notes, span) = self.finish(beginning);
        Ok(Statement { notes, kind, span })
    }

    /// Corrects a first word that can only be a mistake: two words in a row begin nothing.
    fn correct_statement(&mut self) -> Parsed<()> {
        const ITEMS: &[&str] = &[
            "on", "fn", "process", "filter", "header", "session", "entity", "child", "signal",
        ];
        let (token, next) = (self.token(), self.ahead(1));
        if ITEMS.contains(&token.text) && !next.is(".") {
            let title = format!("`{}` cannot stand among statements", token.text);
            let label = "expected a statement";
            return Err(self.report(
                Diagnostic::error(Id::UnexpectedWord, title, token.span, label)
                    .help("close the block above, if a `}` is missing"),
            ));
        }
        let alone = matches!(
            next.kind,
            TokenKind::Word | TokenKind::Number | TokenKind::Newline | TokenKind::End
        ) || next.is("{")
            || next.is("}");
        let operator = ["and", "or", "as", "else", "through"]
            .iter()
            .any(|word| next.is(word));
        if token.is("while") && (alone || next.is("(")) {
            let title = "Loom has no `while`, because each loop in a handler is bounded";
            return Err(self
                .report(Diagnostic::error(Id::NotLoom, title, token.span, "").help(
                    "use a `for` over a range, or continue in another instant with `again`",
                )));
        }
        if token.is("exit") && (next.is("}") || next.kind == TokenKind::Newline) {
            let title = "this `exit` does not name a `trap`";
            let label = "expected the name of a `trap`";
            let help = "`exit` leaves a `trap` of a process; in a handler, put the rest of the \
                code into an `if`";
            let exit = Diagnostic::error(Id::MissingPart, title, token.span, label);
            return Err(self.report(exit.help(help)));
        }
        if (token.is("break") || token.is("continue")) && alone {
            let title = format!(
                "Loom has no `{}`: a `for` runs over its whole range",
                token.text
            );
            let foreign = Diagnostic::error(Id::NotLoom, title, token.span, "");
            if token.is("continue") {
                let help = "put the rest of the body into an `if`";
                return Err(self.report(foreign.help(help)));
            }
            return Err(self.report(foreign.help(
                "put the rest of the body into an `if`; in a process, write `trap done { loop { … \
                exit done } }`",
            )));
        }
        if token.kind == TokenKind::Word && alone && !operator {
            let is_corrected =
                self.correct_language(FOREIGN_STATEMENTS) || self.correct_spelling(STATEMENTS);
            if !is_corrected && !token.is_keyword() && self.ahead(2).is("=") {
                let title = "Loom declares a value with `let`";
                let declaration = Diagnostic::error(Id::NotLoom, title, token.span, "");
                let help = format!(
                    "write `let {} = …`; the type is inferred from the value",
                    next.text
                );
                return Err(self.report(declaration.help(help)));
            }
        }
        Ok(())
    }

    fn worded_statement(&mut self, word: &str) -> Parsed<StatementKind> {
        match word {
            "if" => return self.if_statement(),
            "return" | "yield" => return self.value_statement(),
            _ => self.take(),
        };
        match word {
            "let" => self.let_statement(),
            "require" => self.require_statement(),
            "match" => self.match_statement(),
            "for" => self.for_statement(),
            "send" => self.output().map(StatementKind::Send),
            "deliver" => self.output().map(StatementKind::Deliver),
            "tell" => self.tell_statement(),
            "drop" => self.drop_statement(),
            "consume" => Ok(StatementKind::Consume(self.name("a message")?)),
            "count" => Ok(StatementKind::Count(self.name("the name of a counter")?)),
            "again" => Ok(StatementKind::Again),
            "end" => self.end_statement(),
            "start" => self.start_statement(),
            "stop" => Ok(StatementKind::Stop(self.path("a timer")?)),
            "emit" => self.emit_statement(),
            "await" => Ok(StatementKind::Await(self.cases_or_delay()?)),
            "run" => self.run_statement(),
            "every" => Ok(StatementKind::Every {
                delay: self.delay()?,
                body: self.block()?,
            }),
            "loop" => Ok(StatementKind::Loop(self.block()?)),
            "repeat" => Ok(StatementKind::Repeat {
                times: self.simple()?,
                body: self.block()?,
            }),
            "trap" => Ok(StatementKind::Trap {
                name: self.name("a name")?,
                body: self.block()?,
            }),
            "exit" => Ok(StatementKind::Exit(self.name("the name of a `trap`")?)),
            "pause" => Ok(StatementKind::Pause),
            other => unreachable!("`{other}` begins no statement"),
        }
    }

    fn let_statement(&mut self) -> Parsed<StatementKind> {
        if self.is_at("mut") && self.ahead(1).kind == TokenKind::Word {
            let title = "a value of a `let` never changes";
            let mutable = Diagnostic::error(Id::NotLoom, title, self.token().span, "");
            let help =
                "remove `mut`, or declare a variable as a field, such as a field of a session";
            return Err(self.report(mutable.help(help)));
        }
        let name = self.name("a name for the value")?;
        if self.is_at(":") {
            let title = "a `let` takes no type";
            let span = self.token().span;
            return Err(self.report(
                Diagnostic::error(Id::UnexpectedWord, title, span, "expected `=`").help(
                    "remove the type, which is inferred from the value; convert the value \
                        with `as`",
                ),
            ));
        }
        self.expect("=")?;
        let value = self.expression()?;
        Ok(StatementKind::Let {
            name,
            value,
            otherwise: self.optional_otherwise()?,
        })
    }

    fn require_statement(&mut self) -> Parsed<StatementKind> {
        let condition = self.condition()?;
        let likely = self.likely()?;
        if !self.is_at("else") {
            let title = "this `require` has no `else`";
            let span = self.here();
            return Err(self.report(
                Diagnostic::error(Id::MissingElse, title, span, "expected `else`")
                    .label(condition.span, "if this is false")
                    .help("add `else drop message as reason`, or `else {}` to do nothing more"),
            ));
        }
        Ok(StatementKind::Require {
            condition,
            likely,
            otherwise: self.otherwise()?,
        })
    }

    fn if_statement(&mut self) -> Parsed<StatementKind> {
        let mut branches = Vec::new();
        loop {
            let start = self.at;
            self.expect("if")?;
            let condition = self.condition()?;
            let likely = self.likely()?;
            let body = self.block()?;
            branches.push(IfBranch {
                condition,
                likely,
                body,
                span: self.span_from(start),
            });
            if !self.is_at("else") {
                return Ok(StatementKind::If {
                    branches,
                    otherwise: None,
                });
            }
            self.take();
            self.count_statement()?;
            if !self.is_at("if") {
                let otherwise = Some(self.block()?);
                return Ok(StatementKind::If {
                    branches,
                    otherwise,
                });
            }
        }
    }

    fn match_statement(&mut self) -> Parsed<StatementKind> {
        let subject = self.simple()?;
        let mut cases = Vec::new();
        let mut otherwise = None;
        self.list("{", Separator::Newline, |parser| {
            parser.cases_then_else(&mut cases, &mut otherwise, Self::match_case, Self::block)
        })?;
        Ok(StatementKind::Match {
            subject,
            cases,
            otherwise,
        })
    }

    /// Cases, and behind the last perhaps an `else`. A newline before `else` separates nothing,
    /// so what follows a case is read with it.
    pub(super) fn cases_then_else<C, E>(
        &mut self,
        cases: &mut Vec<C>,
        otherwise: &mut Option<E>,
        case: impl FnOnce(&mut Self) -> Parsed<C>,
        rest: impl FnOnce(&mut Self) -> Parsed<E>,
    ) -> Parsed<()> {
        if !self.is_at("else") {
            cases.push(case(self)?);
        }
        let Some(word) = self.accept("else") else {
            return Ok(());
        };
        let rest = rest(self)?;
        if otherwise.replace(rest).is_some() {
            let title = "there is a second `else`";
            return Err(self.report(Diagnostic::error(Id::WrittenTwice, title, word, "")));
        }
        Ok(())
    }

    fn match_case(&mut self) -> Parsed<MatchCase> {
        let start = self.at;
        if !self.is_at("case") {
            return Err(self.no_case());
        }
        self.take();
        let value = self.simple()?;
        let likely = self.likely()?;
        if self.is_at(":") {
            let title = "the body of a case needs braces";
            let colon = Diagnostic::error(Id::NotLoom, title, self.token().span, "");
            return Err(self.report(colon.help("write `case VALUE { … }`")));
        }
        let body = self.block()?;
        Ok(MatchCase {
            value,
            likely,
            body,
            span: self.span_from(start),
        })
    }

    /// Something else where a case of a `match` is expected.
    fn no_case(&mut self) -> Reported {
        let token = self.token();
        if token.is("default") || token.is("_") {
            let title = format!("Loom writes `else` for `{}`", token.text);
            let foreign = Diagnostic::error(Id::NotLoom, title, token.span, "");
            return self.report(foreign.help("write `else { … }` after the last case"));
        }
        let title = format!("`{}` does not begin a case", token.text);
        let label = "expected `case` or `else`";
        let refused = Diagnostic::error(Id::UnexpectedWord, title, token.span, label);
        self.report(refused.help("write `case VALUE { … }`, and `else { … }` for the rest"))
    }

    fn for_statement(&mut self) -> Parsed<StatementKind> {
        if self.is_at("(") {
            let title = "a `for` runs over a range or over the elements of a container";
            let foreign = Diagnostic::error(Id::NotLoom, title, self.token().span, "");
            return Err(self.report(foreign.help("write `for i in 0..4 { … }`")));
        }
        let name = self.name("a name for each element")?;
        self.expect("in")?;
        let from = self.simple()?;
        let over = if self.accept("..").is_some() {
            if self.is_at("=") {
                let title = "Loom has no `..=`: a range excludes its end";
                let foreign = Diagnostic::error(Id::NotLoom, title, self.token().span, "");
                return Err(self.report(foreign.help("write `0..5` for 0 to 4")));
            }
            let to = self.simple()?;
            let at_most = if self.accept("at").is_some() {
                self.expect("most")?;
                Some(self.simple()?)
            } else {
                None
            };
            ForRange::Numbers { from, to, at_most }
        } else {
            ForRange::Elements(from)
        };
        Ok(StatementKind::For {
            name,
            over,
            body: self.block()?,
        })
    }

    fn output(&mut self) -> Parsed<Output> {
        let message = self.simple()?;
        let to = if self.accept("to").is_some() {
            Some(self.joint("a lower joint")?)
        } else {
            None
        };
        Ok(Output {
            message,
            to,
            with: self.with()?,
        })
    }

    /// `short`, `ways[variant]`
    fn joint(&mut self, what: &str) -> Parsed<Joint> {
        let name = self.name(what)?;
        let number = match self.accept("[") {
            Some(_) => {
                let number = self.expression()?;
                self.expect("]")?;
                Some(number)
            }
            None => None,
        };
        Ok(Joint { name, number })
    }

    fn tell_statement(&mut self) -> Parsed<StatementKind> {
        let names_it = self.ahead(1).kind == TokenKind::Word;
        let target = if names_it && self.is_at("above") {
            TellTarget::Above(self.take().span)
        } else if names_it && self.is_at("below") {
            TellTarget::Below(self.take().span)
        } else {
            TellTarget::Named(self.joint("`above`, `below`, a joint or an instance")?)
        };
        let event = self.word("an event")?;
        let arguments = if self.is_at("(") {
            self.arguments()?
        } else {
            Vec::new()
        };
        Ok(StatementKind::Tell {
            target,
            event,
            arguments,
            with: self.with()?,
        })
    }

    fn with(&mut self) -> Parsed<Vec<Setting>> {
        if self.accept("with").is_none() {
            return Ok(Vec::new());
        }
        self.settings()
    }

    fn settings(&mut self) -> Parsed<Vec<Setting>> {
        self.nested(|parser| parser.list("{", Separator::CommaOrNewline, Self::setting))
    }

    fn setting(&mut self) -> Parsed<Setting> {
        let beginning = self.begin();
        let name = self.name("a header field or an attribute")?;
        self.expect("=")?;
        let value = if self.is_at("{") {
            SettingValue::Fields(self.settings()?)
        } else {
            SettingValue::Value(self.expression()?)
        };
        let condition = self.guard()?;
        let (notes, span) = self.finish(beginning);
        Ok(Setting {
            notes,
            name,
            value,
            condition,
            span,
        })
    }

    fn drop_statement(&mut self) -> Parsed<StatementKind> {
        let what = self.place()?;
        if self.accept("as").is_none() {
            let title = "this drop has no reason";
            let span = self.here();
            return Err(self.report(
                Diagnostic::error(Id::MissingReason, title, span, "expected `as` and a name")
                    .why(
                        "Each drop is counted under a reason, so that no message is lost \
                        unnoticed.",
                    )
                    .help("write `drop message as too_long`, with your own reason"),
            ));
        }
        Ok(StatementKind::Drop {
            what,
            reason: self.name("a reason")?,
        })
    }

    fn end_statement(&mut self) -> Parsed<StatementKind> {
        let token = self.token();
        let names_one = token.kind == TokenKind::Word && !token.is_keyword();
        Ok(StatementKind::End(if names_one {
            Some(self.name("an instance")?)
        } else {
            None
        }))
    }

    fn start_statement(&mut self) -> Parsed<StatementKind> {
        let timer = self.path("a timer")?;
        self.expect("after")?;
        Ok(StatementKind::Start {
            timer,
            after: self.expression()?,
        })
    }

    /// Fails unless a word stands here that is none of the language's.
    pub(super) fn name_follows(&mut self, what: &str) -> Parsed<()> {
        let at = self.at;
        let name = self.name(what);
        self.at = at;
        name.map(|_| ())
    }

    fn value_statement(&mut self) -> Parsed<StatementKind> {
        let word = self.take();
        let (code, title, help) = if word.is("return") && self.code == Code::Filter {
            (
                Code::Function,
                "a filter has no `return`",
                "write `yield` to replace the word; a filter that `reads` returns its `result`",
            )
        } else if word.is("return") {
            (
                Code::Function,
                "a handler has no `return`",
                "write `require CONDITION else drop message as REASON`, or `else {}` to skip the \
                rest of the block; or put the rest into the `else` of an `if`",
            )
        } else {
            (
                Code::Filter,
                "`yield` is allowed only in filters",
                "write `send` to pass a message on",
            )
        };
        if self.code != code {
            return Err(
                self.report(Diagnostic::error(Id::NotLoom, title, word.span, "").help(help))
            );
        }
        let value = self.expression()?;
        Ok(match code {
            Code::Function => StatementKind::Return(value),
            Code::Filter | Code::Handler => StatementKind::Yield(value),
        })
    }

    fn assignment_or_call(&mut self) -> Parsed<StatementKind> {
        let value = self.expression()?;
        if let Some(operator) = self.assignment_operator() {
            let sign = self.take();
            let place = value;
            let value = self.expression()?;
            let filtered = matches!(value.kind, ExpressionKind::Through { .. });
            if self.is_at("else") && !(filtered && operator.is_none()) {
                let title = "an assignment cannot have an `else` with a statement";
                let span = self.token().span;
                return Err(self.report(
                    Diagnostic::error(Id::UnexpectedWord, title, span, "")
                        .label(sign.span, "assigned here")
                        .help("bind the value with `let … else …` first, then assign it"),
                ));
            }
            return Ok(StatementKind::Assign {
                place,
                operator,
                value,
                otherwise: self.optional_otherwise()?,
            });
        }
        if !is_call(&value) {
            let title = "a value alone has no effect";
            let help = if self.is_at(":") && self.ahead(1).is("=") {
                "write `=` to assign a value"
            } else if self.is_at(":") {
                "declare a field in `entity`, `session` or `child`, and a local of a handler with \
                `let`"
            } else if is_comparison(&value) {
                "`==` compares; write `=` to assign"
            } else if self.code == Code::Function {
                "write `return` to return a value from a function"
            } else {
                "assign it, or remove it"
            };
            return Err(
                self.report(Diagnostic::error(Id::NotAStatement, title, value.span, "").help(help))
            );
        }
        Ok(StatementKind::Call {
            call: value,
            otherwise: self.optional_otherwise()?,
        })
    }

    /// The operator of the assignment here, if there is one: none for `=`, `+` for `+=`.
    fn assignment_operator(&self) -> Option<Option<BinaryOperator>> {
        let token = self.token();
        if token.kind != TokenKind::Sign {
            return None;
        }
        Some(match token.text {
            "=" => None,
            "|=" => Some(BinaryOperator::BitOr),
            "^=" => Some(BinaryOperator::BitXor),
            "&=" => Some(BinaryOperator::BitAnd),
            "<<=" => Some(BinaryOperator::ShiftLeft),
            ">>=" => Some(BinaryOperator::ShiftRight),
            "+=" => Some(BinaryOperator::Add),
            "-=" => Some(BinaryOperator::Subtract),
            "*=" => Some(BinaryOperator::Multiply),
            "/=" => Some(BinaryOperator::Divide),
            "%=" => Some(BinaryOperator::Remainder),
            _ => return None,
        })
    }
}

fn is_comparison(value: &Expression) -> bool {
    matches!(
        value.kind,
        ExpressionKind::Binary {
            operator: BinaryOperator::Equal,
            ..
        }
    )
}

/// Whether evaluating it does something: a call, a creation, or a choice of such.
fn is_call(value: &Expression) -> bool {
    match &value.kind {
        ExpressionKind::Call { .. } | ExpressionKind::Create(_) => true,
        ExpressionKind::Else { value, otherwise } => is_call(value) && is_call(otherwise),
        ExpressionKind::Number(_)
        | ExpressionKind::Duration(_)
        | ExpressionKind::Boolean(_)
        | ExpressionKind::None
        | ExpressionKind::Now
        | ExpressionKind::Name(_)
        | ExpressionKind::Field { .. }
        | ExpressionKind::Index { .. }
        | ExpressionKind::Group(_)
        | ExpressionKind::Unary { .. }
        | ExpressionKind::Binary { .. }
        | ExpressionKind::Cast { .. }
        | ExpressionKind::Through { .. }
        | ExpressionKind::If { .. }
        | ExpressionKind::Find(_)
        | ExpressionKind::FindByTimer { .. }
        | ExpressionKind::New { .. }
        | ExpressionKind::Share(_)
        | ExpressionKind::List(_) => false,
    }
}
