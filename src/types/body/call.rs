//! Calls that give a value: functions, `min` and `max`, and what containers tell.

use super::super::expression::{Expression, ExpressionKind, Instance, Query, Unary, Variable};
use super::super::program::{FunctionId, KeyId, KindId};
use super::super::scope::Named;
use super::super::statement::{Statement, StatementKind};
use super::super::value::{Type, Value};
use super::access::Meaning;
use super::words::{Body, Place, make, nothing};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::loom::ast;

impl Body<'_, '_> {
    pub fn call(
        &mut self,
        function: &ast::Expression,
        arguments: &[ast::Expression],
        hint: Option<&Type>,
        span: Span,
    ) -> Expression {
        if let ast::ExpressionKind::Field { of, name } = &function.kind {
            if let Some(id) = self.function_of_process(of, name) {
                return self.function_call(id, arguments, span);
            }
            return self.query(of, name, arguments, span);
        }
        if let ast::ExpressionKind::Name(name) = &function.kind
            && !self.scope.names.contains_key(&name.text)
            && let Some(value) = self.built_in(name, arguments, hint, span)
        {
            return value;
        }
        match self.meaning(function, None) {
            Some(Meaning::Function(id)) => self.function_call(id, arguments, span),
            Some(Meaning::Unknown) => nothing(),
            Some(Meaning::Filter(_)) => {
                let title = "`through` applies a filter to data; a filter is not a function";
                let refused = Diagnostic::error(Id::NotAValue, title, span, "a filter");
                let text = self.text(span);
                self.refuse(refused.help(format!("write `message.data through {text}`")))
            }
            Some(_) | None => {
                let title = format!("`{}` is not a function", self.text(function.span));
                let label = "called like a function";
                self.refuse(Diagnostic::error(
                    Id::UnknownName,
                    title,
                    function.span,
                    label,
                ))
            }
        }
    }

    /// `window.usable()`: a function that a process declares.
    fn function_of_process(&self, of: &ast::Expression, name: &ast::Name) -> Option<FunctionId> {
        let ast::ExpressionKind::Name(process) = &of.kind else {
            return None;
        };
        let Some(Named::Process(at)) = self.scope.names.get(&process.text) else {
            return None;
        };
        match self.scope.processes[*at as usize].get(&name.text)? {
            Named::Function(id) => Some(*id),
            _of_another_kind => None,
        }
    }

    /// A call of a function of values; behind its arguments goes the message that it looks at.
    fn function_call(
        &mut self,
        id: FunctionId,
        sources: &[ast::Expression],
        span: Span,
    ) -> Expression {
        let function = &self.context.program.functions[id.at()];
        let asked = function.asks();
        let count = function.parameters as usize - usize::from(asked.is_some());
        let wanted: Vec<Type> = function.locals[..count]
            .iter()
            .map(|local| local.kind.clone())
            .collect();
        let (name, defaults) = (function.name.clone(), function.defaults.clone());
        let (looks, reads_header) = (function.message.is_some(), function.reads_header);
        let result = function.result.clone();
        let mut arguments = self.arguments(&name, &wanted, &defaults, sources, span);
        if arguments.iter().any(|value| value.result == Type::Nothing) {
            return nothing();
        }
        if self.context.program.functions[id.at()].external {
            return self.counted_call(id, arguments, span);
        }
        if let Some(asked) = asked {
            match self.session_asked(asked, &name, span) {
                Some(session) => arguments.push(session),
                None => return nothing(),
            }
        }
        if looks {
            let message = self.local("message").or_else(|| self.message_of_instant());
            let Some(message) = message else {
                let title = format!("`{name}` reads a message, but there is none here");
                return self.refuse(Diagnostic::error(Id::NotHere, title, span, "no message"));
            };
            self.check_owned(message, span, "read");
            arguments.push(self.read_local(message));
        }
        self.check_reads(id, reads_header, span);
        if self.context.program.functions[id.at()].calls_c {
            return self.counted_call(id, arguments, span);
        }
        self.folded(make(ExpressionKind::Call(id, arguments), result))
    }

    /// The session below whose function is called: whoever calls it stands on one.
    fn session_asked(&mut self, asked: KindId, name: &str, span: Span) -> Option<Expression> {
        let result = Type::Instance(asked);
        if let Some(below) = self.below {
            return Some(Expression::local(below, result));
        }
        let program = &self.context.program;
        let session = program.entities[self.scope.entity.at()].session;
        let of_session = match self.place {
            Place::Value => self.scope.message.is_some(),
            Place::Handler(_) => self.scope.kind == session,
            Place::Finder(_) | Place::Function | Place::Filter(_) => false,
        };
        if !of_session {
            let title = format!("the session that computes `{name}` is unknown");
            let refused = Diagnostic::error(Id::NoSession, title, span, "of which session?")
                .why("There are several sessions below, and this code belongs to none of them.")
                .help("call it in a handler or header of the session, and pass the result on");
            self.report(refused);
            return None;
        }
        let multiplexed = program.stands_on(session).is_some();
        let kind = match (self.place, multiplexed) {
            (Place::Handler(_), true) => {
                let last = program.kinds[session.at()].keys.len() as u32 - 1;
                ExpressionKind::Key(Instance::Own, session, KeyId(last))
            }
            _ => ExpressionKind::Below,
        };
        Some(make(kind, result))
    }

    /// A function may read what whoever calls it may read.
    fn check_reads(&mut self, id: FunctionId, reads_header: bool, span: Span) {
        if reads_header && self.place == Place::Function {
            self.reads.header = true;
        }
        let function = &self.context.program.functions[id.at()];
        if function.entity == Some(self.scope.entity) {
            self.reads.entity = true;
            self.reads.own |= function.kind == Some(self.scope.kind);
        }
        let (kind, name) = (function.kind, function.name.clone());
        let foreign = kind.is_some_and(|kind| {
            kind != self.scope.kind
                && self.context.program.kinds[kind.at()].entity == self.scope.entity
        });
        if foreign {
            let title = format!("`{name}` reads fields of other instances");
            let label = "no instance is known here";
            self.report(Diagnostic::error(Id::NotHere, title, span, label));
        }
    }

    /// `max`, `min` and `clamp` of numbers, and `inverse` of a byte in GF(256).
    fn built_in(
        &mut self,
        name: &ast::Name,
        arguments: &[ast::Expression],
        hint: Option<&Type>,
        span: Span,
    ) -> Option<Expression> {
        let wanted = match name.text.as_str() {
            "inverse" => 1,
            "min" | "max" => 2,
            "clamp" => 3,
            _ => return None,
        };
        if arguments.len() != wanted {
            let numbers = if wanted == 1 { "number" } else { "numbers" };
            let title = format!(
                "`{name}` takes {wanted} {numbers}, but got {}",
                arguments.len()
            );
            let label = "wrong number of arguments";
            let refused = Diagnostic::error(Id::WrongArguments, title, span, label);
            return Some(self.refuse(refused));
        }
        if let [of] = arguments {
            let inverse =
                ExpressionKind::Unary(Unary::Inverse, self.expect(of, &Type::Unsigned(8)));
            return Some(self.folded(make(inverse, Type::Unsigned(8))));
        }
        let mut values = Vec::new();
        for argument in arguments {
            values.push((self.check(argument, hint), argument));
        }
        let Some(values) = self.of_one_type(values, hint) else {
            return Some(nothing());
        };
        let kind = values[0].result.clone();
        let mut values = values.into_iter();
        let mut next = || values.next().expect("as many as were counted");
        let (first, second) = (next(), next());
        let value = match name.text.as_str() {
            "min" => ExpressionKind::Least(first, second),
            "max" => ExpressionKind::Greatest(first, second),
            _ => {
                let raised = make(ExpressionKind::Greatest(first, second), kind.clone());
                ExpressionKind::Least(raised, next())
            }
        };
        Some(self.folded(make(value, kind)))
    }

    /// What a function, filter, notice or kind is given; what is left out has its default.
    pub fn arguments(
        &mut self,
        name: &str,
        wanted: &[Type],
        defaults: &[Option<Value>],
        sources: &[ast::Expression],
        span: Span,
    ) -> Vec<Expression> {
        let least = wanted.len() - defaults.iter().rev().take_while(|it| it.is_some()).count();
        if sources.len() < least || sources.len() > wanted.len() {
            let count = match wanted.len() {
                _ if least < wanted.len() => format!("{least} to {}", wanted.len()),
                0 => "nothing".to_string(),
                1 => "one value".to_string(),
                count => format!("{count} values"),
            };
            let title = format!("`{name}` takes {count}, but got {}", sources.len());
            let label = "wrong number of arguments";
            self.report(Diagnostic::error(Id::WrongArguments, title, span, label));
        }
        let mut values = Vec::new();
        for (place, kind) in wanted.iter().enumerate() {
            values.push(match (sources.get(place), defaults.get(place)) {
                (Some(source), _) => self.argument(source, kind, name),
                (None, Some(Some(default))) => {
                    make(ExpressionKind::Constant(default.clone()), kind.clone())
                }
                (None, _) => nothing(),
            });
        }
        values
    }

    /// What a container tells: `early.has(next)`, `data.covers(0, length)`.
    fn query(
        &mut self,
        of: &ast::Expression,
        name: &ast::Name,
        arguments: &[ast::Expression],
        span: Span,
    ) -> Expression {
        let container = match self.meaning(of, None) {
            Some(Meaning::Value(value)) => self.settle(value),
            Some(Meaning::Unknown) => return nothing(),
            Some(Meaning::Message(_)) => return self.asked_of_message(name, span),
            _ => nothing(),
        };
        let ExpressionKind::Read(place) = &*container.kind else {
            let what = format!("operation of `{}` called", self.text(of.span));
            return self.unknown(&what, name, &[]);
        };
        let place: Variable = place.clone();
        let number = |width| Type::Unsigned(width);
        let (wanted, result) = match (&container.result, name.text.as_str()) {
            (Type::Window(_, width, _), "has") => (vec![Type::Sequence(*width)], Type::Bool),
            (Type::Set(_), "has" | "insert") => (vec![number(32)], Type::Bool),
            (Type::Stream(position, _), "covers") => {
                (vec![(**position).clone(), number(32)], Type::Bool)
            }
            (Type::Stream(position, _), "ready") => (vec![(**position).clone()], number(32)),
            (Type::Stream(position, _), "release") => {
                return self.released(place, position, name, arguments, span);
            }
            (Type::Nothing, _) => return nothing(),
            _ => return self.fails_or_changes(name, span),
        };
        let mut values = self
            .arguments(&name.text, &wanted, &[], arguments, span)
            .into_iter();
        let mut next = || values.next().expect("as many values as parameters");
        let query = match (&container.result, name.text.as_str()) {
            (Type::Set(size), called) => {
                let index = next();
                self.check_member(&index, *size, span);
                match called {
                    "insert" if matches!(self.place, Place::Handler(_)) => {
                        self.forget(&place);
                        let insert = ExpressionKind::Query(Query::InsertSet(place, index));
                        return self.once(make(insert, result), called, span);
                    }
                    "insert" => return self.refuse_insert(of.span, span),
                    _ => Query::Has(place, index),
                }
            }
            (_, "has") => Query::Has(place, next()),
            (_, "covers") => Query::Covers(place, next(), next()),
            _ => Query::Ready(place, next()),
        };
        make(ExpressionKind::Query(query), result)
    }

    /// How many bytes leave a stream that begins further on from now on: this is done before the
    /// statement whose value it is.
    fn released(
        &mut self,
        stream: Variable,
        position: &Type,
        name: &ast::Name,
        arguments: &[ast::Expression],
        span: Span,
    ) -> Expression {
        let mut to = self.arguments(
            &name.text,
            std::slice::from_ref(position),
            &[],
            arguments,
            span,
        );
        let to = to.pop().expect("as many values as parameters");
        if to.result == Type::Nothing {
            return nothing();
        }
        if self.perhaps || self.before.is_none() || !matches!(self.place, Place::Handler(_)) {
            let text = self.text(span);
            let title = format!("`{text}` changes the stream, but may not be evaluated");
            let refused =
                Diagnostic::error(Id::NotAValue, title, span, "evaluated only on some paths");
            let refused = refused
                .why("An expression that is evaluated only on some paths may not change a field.");
            return self.refuse(refused.help(format!("evaluate it before: `let freed = {text}`")));
        }
        self.forget(&stream);
        let freed = self.add_local("freed", Type::Unsigned(32));
        let query = ExpressionKind::Query(Query::Release(stream, to));
        let kind = StatementKind::Let(freed, make(query, Type::Unsigned(32)));
        self.before
            .get_or_insert_default()
            .push(Statement { kind, span });
        self.read_local(freed)
    }

    /// What a function gives, or a finder looks for, changes nothing.
    fn refuse_insert(&mut self, set: Span, span: Span) -> Expression {
        let set = self.text(set);
        let title = format!("`{set}` cannot be changed here");
        let label = format!("only handlers change `{set}`");
        self.refuse(Diagnostic::error(Id::NotAssignable, title, span, label))
    }

    /// A set has room for the numbers below its capacity.
    fn check_member(&mut self, index: &Expression, size: u32, span: Span) {
        let Some(range) = self.range(index) else {
            return;
        };
        if range.high < u64::from(size) || self.is_open(index) {
            return;
        }
        let title = "this number may be too large for the set";
        let label = format!(
            "the number may be up to {}, but the set holds 0 to {}",
            range.high,
            size - 1
        );
        let refused = Diagnostic::error(Id::IndexOutOfRange, title, span, label);
        self.report(refused.help(format!(
            "test the number before: `require … < {size} else …`"
        )));
    }

    /// An operation of a message, where a value is expected.
    fn asked_of_message(&mut self, name: &ast::Name, span: Span) -> Expression {
        let title = match name.text.as_str() {
            "length" | "data" => format!("`{name}` is not an operation: it takes no arguments"),
            "clone" | "copy" | "dup" => format!("a message has no operation `{name}`"),
            _ => return self.fails_or_changes(name, span),
        };
        let help = match name.text.as_str() {
            "length" | "data" => format!("write `message.{name}`"),
            _ => "to pass the same bytes on twice, write `let copy = share message else count \
                no_buffer`"
                .to_string(),
        };
        self.refuse(Diagnostic::error(Id::NotAValue, title, span, "not a value").help(help))
    }

    /// An operation that is a statement, where a value is expected.
    fn fails_or_changes(&mut self, name: &ast::Name, span: Span) -> Expression {
        let title = format!("`{name}` does not return a value");
        let refused = Diagnostic::error(Id::NotAValue, title, span, "not a value");
        self.refuse(refused.help("write it as a statement, or bind its result with `let`"))
    }
}
