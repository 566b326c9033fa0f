//! Functions and types that are written in C: what they may be given, what they may give, and
//! where they are called.
//!
//! What such a function does outside is not known, so each call counts: it is called just once,
//! before the rest of the statement in which it stands, in the order of writing; and behind `and`,
//! `or`, `else` and `if` only where the value is needed. So is a function that calls one, and so a
//! set inserts.
//!
//! ```text
//! require known and weight(n) > 9 else …      if known { let weight = weight(n)
//!                                                        let holds = weight > 9 }
//!                                             else { let holds = false }
//!                                             require holds else …
//! ```

use super::super::expression::{Binary, Expression, ExpressionKind, Variable};
use super::super::external::check_runtime;
use super::super::items::zero;
use super::super::program::{Function, FunctionId, Local, LocalId, Program};
use super::super::statement::{Block, Operation, Statement, StatementKind};
use super::super::value::Type;
use super::access::Meaning;
use super::kinds::holds_things;
use super::words::{Body, Place, make, nothing, number};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::loom::ast;

/// What is done with what a call gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Use {
    /// It stands by itself.
    Statement,
    /// It is what a `let` binds.
    Bound,
    /// It is assigned or tested.
    Read,
    /// `message.data = …`
    Data,
}

/// Whether only C knows what a value of this type is.
pub(super) fn is_external(program: &Program, of: &Type) -> bool {
    matches!(of, Type::Record(id) if program.records[id.at()].external)
}

impl Body<'_, '_> {
    /// Here a call of a function in C may be all there is.
    pub fn calls_c_alone(&mut self, span: Span, used: Use) {
        self.called_alone = Some((span, used));
    }

    /// A type of what a function in C is given: `bytes` is the data of a message.
    pub fn external_parameter(&mut self, source: &ast::Type) -> Type {
        if self.is_data(source) {
            return Type::Message;
        }
        let of = self.with_external_types(|body| body.written_type(source));
        self.plain_in_c(of, source.span)
    }

    /// What a function in C gives: nothing, a value, or other data in the place of what it is
    /// given.
    pub fn external_result(&mut self, source: &ast::Function, parameters: &[Type]) -> Type {
        let Some(returns) = &source.returns else {
            return Type::Nothing;
        };
        if !self.is_data(returns) {
            let of = self.written_type(returns);
            return self.plain_in_c(of, returns.span);
        }
        let data = parameters.iter().filter(|of| **of == Type::Message).count();
        if data != 1 {
            let title = format!("the data that `{}` rewrites is unclear", source.name);
            let label = format!("{data} parameters have the type `bytes`");
            self.report(
                Diagnostic::error(Id::WrongArguments, title, returns.span, label)
                    .why(
                        "A function in C that returns `bytes` overwrites the data of its only \
                        `bytes` parameter.",
                    )
                    .help(
                        "declare one parameter of type `bytes`: `extern fn seal(data: bytes) -> \
                        bytes`",
                    ),
            );
        }
        Type::Message
    }

    /// Returns true if a function in C overwrites the data that it is given: it returns `bytes`, or
    /// its only parameter for data says `rewritten`.
    pub fn rewrites_data(
        &mut self,
        source: &ast::Function,
        parameters: &[Local],
        result: &Type,
    ) -> bool {
        let said = source.parameters.iter().find_map(|one| one.rewritten);
        let Some(span) = said else {
            return *result == Type::Message;
        };
        let data = parameters.iter().filter(|one| one.kind == Type::Message);
        let (data, name) = (data.count(), &source.name);
        let (title, label) = match (source.is_in_c(), data, result) {
            (false, ..) => (
                format!("`{name}` is not in C, and cannot overwrite data"),
                "only for the data of an `extern fn`",
            ),
            (true, 2.., _) => (
                format!("`{name}` overwrites data, and takes other data too"),
                "must be the only `bytes` parameter",
            ),
            (true, _, Type::Message) => (
                format!("`{name}` says twice that it overwrites data"),
                "the result `bytes` says the same",
            ),
            (true, ..) => return true,
        };
        let refused = Diagnostic::error(Id::WrongArguments, title, span, label);
        self.report(refused.help(
            "`data: bytes` is read; `data: rewritten bytes` is overwritten, beside a result of \
            another type",
        ));
        false
    }

    /// Refuses a function that the runtime does not have, or has with other types.
    pub fn check_runtime(&mut self, function: &Function, source: &ast::Function) {
        check_runtime(self.context, function, source);
    }

    /// Refuses a call that overwrites data which the caller does not own alone.
    pub fn check_overwritten(&mut self, id: FunctionId, arguments: &[Expression], span: Span) {
        let function = &self.context.program.functions[id.at()];
        if !function.rewrites || function.result == Type::Message {
            return;
        }
        let name = function.name.clone();
        if !matches!(self.place, Place::Handler(_)) {
            let title = format!("`{name}` overwrites data, and cannot be called here");
            let refused = Diagnostic::error(Id::ExternCall, title, span, "called here");
            self.report(refused.help("call it in a handler, which owns the message"));
            return;
        }
        for argument in arguments {
            if let (Type::Message, ExpressionKind::Read(Variable::Local(message))) =
                (&argument.result, &*argument.kind)
            {
                self.check_rewritten(*message, span);
            }
        }
    }

    /// Types of C stand where this says what of.
    pub fn with_external_types<T>(&mut self, does: impl FnOnce(&mut Self) -> T) -> T {
        self.external_types = true;
        let done = does(self);
        self.external_types = false;
        done
    }

    /// Refuses the name of a type of C where only values stand.
    pub fn external_type(&mut self, of: Type, name: &ast::Name) -> Type {
        if self.external_types || !is_external(self.context.program, &of) {
            return of;
        }
        let title = format!("the `extern type` `{name}` cannot be used here");
        let label = "not a field of an instance, nor a parameter of an `extern fn`";
        self.report(Diagnostic::error(Id::NotHere, title, name.span, label).why(
            "A value of an `extern type` stays in a field of an instance, and only functions \
                in C access it.",
        ));
        Type::Nothing
    }

    /// An argument; functions in C may be given data, and fields that only they know.
    pub fn argument(&mut self, source: &ast::Expression, wanted: &Type, of: &str) -> Expression {
        if *wanted == Type::Message {
            return match self.meaning(source, None) {
                Some(Meaning::Data(message)) => {
                    self.check_owned(message, source.span, "read");
                    self.read_local(message)
                }
                Some(Meaning::Unknown) => nothing(),
                _ => {
                    let title = format!("`{of}` takes the data of a message");
                    let label = "not the data of a message";
                    let refused = Diagnostic::error(Id::WrongArguments, title, source.span, label);
                    self.refuse(refused.help("write `message.data`"))
                }
            };
        }
        if is_external(self.context.program, wanted) {
            let meaning = self.meaning(source, None);
            return match meaning {
                Some(Meaning::Value(value)) if value.result == *wanted => value,
                Some(Meaning::Unknown) => nothing(),
                _ => {
                    let wanted = self.describe(wanted);
                    let title = format!("`{of}` takes a field of type `{wanted}`");
                    let label = "not a field of this type";
                    self.refuse(Diagnostic::error(
                        Id::WrongArguments,
                        title,
                        source.span,
                        label,
                    ))
                }
            };
        }
        self.expect(source, wanted)
    }

    /// What a call of a function gives that is written in C, or calls what is. Where it is not all
    /// of a value it comes before the statement, which reads what it gave.
    pub fn counted_call(
        &mut self,
        id: FunctionId,
        arguments: Vec<Expression>,
        span: Span,
    ) -> Expression {
        let function = &self.context.program.functions[id.at()];
        let (name, result) = (function.name.clone(), function.result.clone());
        let rewrites = function.rewrites;
        if self.before.is_none() || matches!(self.place, Place::Filter(_)) {
            return self.refuse_counted_call(id, span);
        }
        self.check_overwritten(id, &arguments, span);
        self.calls_c = true;
        let alone = self.called_alone.filter(|(at, _)| *at == span);
        let used = alone.map(|(_, used)| used);
        let wrong = match (used, &result) {
            (Some(Use::Statement), Type::Nothing) | (Some(Use::Data), Type::Message) => None,
            (_, Type::Nothing) => Some((
                "returns nothing",
                "call it as a statement of its own".to_string(),
            )),
            (_, Type::Message) => {
                Some(("rewrites data", format!("write `message.data = {name}(…)`")))
            }
            (Some(Use::Data), _) => Some((
                match rewrites {
                    true => "returns no data",
                    false => "rewrites nothing",
                },
                match rewrites {
                    true => format!("it also returns a value: write `let found = {name}(…)`"),
                    false => "a function that rewrites data takes `bytes` and returns `bytes`"
                        .to_string(),
                },
            )),
            _ => None,
        };
        if let Some((what, help)) = wrong {
            let title = format!("`{name}` {what}");
            let refused =
                Diagnostic::error(Id::TypeMismatch, title, span, "not used this way here");
            return self.refuse(refused.help(help));
        }
        let call = make(ExpressionKind::Call(id, arguments), result);
        self.once(call, &name, span)
    }

    /// A value whose finding counts: where it is not all that a statement does, it comes before
    /// the statement, which reads it.
    pub fn once(&mut self, value: Expression, name: &str, span: Span) -> Expression {
        let alone = self.called_alone.filter(|(at, _)| *at == span);
        let optional = matches!(value.result, Type::Optional(_));
        let stays = match alone.map(|(_, used)| used) {
            Some(Use::Statement | Use::Data | Use::Bound) => true,
            Some(Use::Read) => !optional,
            None => false,
        };
        if stays || self.before.is_none() {
            return value;
        }
        let local = self.add_local(name, value.result.clone());
        let kind = StatementKind::Let(local, value);
        let before = self.before.get_or_insert_default();
        before.push(Statement { kind, span });
        self.read_local(local)
    }

    /// Where nobody says how often a value is computed.
    fn refuse_counted_call(&mut self, id: FunctionId, span: Span) -> Expression {
        let function = &self.context.program.functions[id.at()];
        let name = &function.name;
        let title = match function.external {
            true => format!("`{name}` is written in C, and cannot be called here"),
            false => format!("`{name}` calls a function in C, and cannot be called here"),
        };
        let (why, help) = match self.place {
            Place::Filter(_) => (
                "A function in C may have side effects, and a filter would repeat them for each \
                word of a message.",
                "call it before, and pass its result to a parameter of the filter",
            ),
            Place::Value | Place::Handler(_) | Place::Finder(_) | Place::Function => (
                "A function in C may have side effects, so the number of calls matters. This \
                expression is evaluated before the stack starts, or an unspecified number of \
                times.",
                "call it in a handler or a function, for the initial value of a field, or for a \
                header field (`=`)",
            ),
        };
        let refused = Diagnostic::error(Id::ExternCall, title, span, "called here");
        self.refuse(refused.why(why).help(help))
    }

    /// A value that is perhaps not computed, and what is done if it is.
    pub fn perhaps<T>(&mut self, check: impl FnOnce(&mut Self) -> T) -> (T, Block) {
        if self.before.is_none() {
            return (check(self), Block::new());
        }
        self.ahead(|body| {
            body.perhaps = true;
            check(body)
        })
    }

    /// A value that is set where a condition holds; functions in C are called there alone.
    pub fn set_if(
        &mut self,
        condition: Option<&Expression>,
        source: &ast::Expression,
        wanted: &Type,
    ) -> Expression {
        let Some(condition) = condition else {
            return self.expect(source, wanted);
        };
        let (value, done) = self.perhaps(|body| body.expect(source, wanted));
        if done.is_empty() {
            return value;
        }
        let unset = Expression::constant(zero(self.context.program, wanted), wanted.clone());
        let unset = (Block::new(), unset);
        self.one_of(condition.clone(), (done, value), unset, source.span)
    }

    /// One of two values, and what is done for it alone.
    pub fn one_of(
        &mut self,
        condition: Expression,
        (for_then, then): (Block, Expression),
        (for_otherwise, otherwise): (Block, Expression),
        span: Span,
    ) -> Expression {
        let result = then.result.clone();
        if for_then.is_empty() && for_otherwise.is_empty() {
            return self.folded(make(ExpressionKind::If(condition, then, otherwise), result));
        }
        let (done, value) = match condition.truth() {
            Some(true) => (for_then, then),
            Some(false) => (for_otherwise, otherwise),
            None => {
                let name = if result == Type::Bool {
                    "holds"
                } else {
                    "chosen"
                };
                let local = self.add_local(name, result);
                let bound = |mut done: Block, value| {
                    let kind = StatementKind::Let(local, value);
                    done.push(Statement { kind, span });
                    done
                };
                let kind = StatementKind::If {
                    condition,
                    likely: None,
                    then: bound(for_then, then),
                    otherwise: bound(for_otherwise, otherwise),
                };
                (vec![Statement { kind, span }], self.read_local(local))
            }
        };
        let before = self.before.as_mut();
        before.expect("what is done is done before").extend(done);
        value
    }

    /// `and` and `or`, where something is done for the right operand.
    pub fn one_after_the_other(
        &mut self,
        operator: Binary,
        left: Expression,
        right: (Block, Expression),
        span: Span,
    ) -> Expression {
        let known = |truth| (Block::new(), number(truth, Type::Bool));
        let both = make(
            ExpressionKind::Binary(operator, left.clone(), right.1.clone()),
            Type::Bool,
        );
        let value = match operator {
            Binary::And => self.one_of(left, right, known(0), span),
            _ => self.one_of(left, known(1), right, span),
        };
        self.assume_value(value.clone(), &both);
        value
    }

    /// `message.data = seal(key, message.data)`; none if this is no such call.
    pub fn rewrite_in_c(
        &mut self,
        message: LocalId,
        value: &ast::Expression,
        span: Span,
    ) -> Option<Option<StatementKind>> {
        let ast::ExpressionKind::Call { function, .. } = &value.kind else {
            return None;
        };
        let Some(Meaning::Function(id)) = self.meaning(function, None) else {
            return None;
        };
        if !self.context.program.functions[id.at()].external {
            return None;
        }
        self.calls_c_alone(value.span, Use::Data);
        let called = self.check_raw(value, None);
        let ExpressionKind::Call(id, arguments) = *called.kind else {
            return Some(None);
        };
        let mut data = arguments.iter().filter(|one| one.result == Type::Message);
        let own = self.read_local(message);
        if data.any(|one| *one != own) {
            self.not_yet("data of another message", value.span);
            return Some(None);
        }
        self.check_rewritten(message, span);
        let call = Operation::Call(id, arguments);
        Some(Some(StatementKind::Do(call)))
    }

    /// Whether a type is written `bytes`, of any number.
    fn is_data(&self, source: &ast::Type) -> bool {
        let known = self.scope.types.contains_key("bytes");
        !known && matches!(&source.kind, ast::TypeKind::Named(name) if name.is("bytes"))
    }

    /// Containers are no values, in C either.
    fn plain_in_c(&mut self, of: Type, span: Span) -> Type {
        let inner = match &of {
            Type::Optional(inner) => inner,
            of => of,
        };
        if !holds_things(inner) {
            return of;
        }
        let title = format!(
            "`{}` cannot be an argument of a function in C",
            self.describe(&of)
        );
        let label = "a container";
        self.report(
            Diagnostic::error(Id::TypeMismatch, title, span, label)
                .why("A function in C takes values, data and extern types, but no containers."),
        );
        Type::Nothing
    }
}
