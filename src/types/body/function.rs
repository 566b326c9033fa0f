//! Functions and filters.
//!
//! Functions are checked callees first, so that a call knows whether what it calls looks at the
//! message or at the header; that a function calls itself is found on the way.

use super::super::constant::fold;
use super::super::context::Context;
use super::super::expression::{Expression, ExpressionKind};
use super::super::items::constant_number;
use super::super::moved::moved;
use super::super::program::{Filter, Function, FunctionId, Local, LocalId, Same};
use super::super::scope::{Named, Scope};
use super::super::statement::{Block, StatementKind};
use super::super::value::{Type, Value};
use super::super::yields::yields;
use super::external::Use;
use super::mentions::{self, mentioned};
use super::statement::last_brace;
use super::words::{Body, Part, Place, make, number};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::loom::ast;
use std::collections::BTreeSet;

/// The signature of a function.
pub(super) fn signature(context: &mut Context, scope: &Scope, source: &ast::Function) -> Function {
    let mut body = Body::new(context, scope, Place::Value);
    let external = source.is_in_c();
    let (mut locals, defaults) = body.parameters(&source.parameters, external);
    let result = match &source.returns {
        Some(returns) if !external => body.value_type(returns),
        _ => {
            let given: Vec<Type> = locals.iter().map(|local| local.kind.clone()).collect();
            body.external_result(source, &given)
        }
    };
    let rewrites = body.rewrites_data(source, &locals, &result);
    let parameters = locals.len() as u32;
    let words = mentioned(source);
    let message = words.contains("message").then_some(LocalId(parameters));
    if message.is_some() {
        locals.push(message_local());
    }
    let in_runtime = matches!(source.body, ast::FunctionBody::Runtime);
    let function = Function {
        name: source.name.text.clone(),
        entity: None,
        kind: None,
        locals,
        parameters,
        defaults,
        message,
        reads_header: words.contains("header"),
        result,
        external,
        in_runtime,
        rewrites,
        calls_c: external,
        body: None,
        span: source.span,
    };
    if in_runtime {
        body.check_runtime(&function, source);
    }
    function
}

/// The bodies of functions that may call each other.
pub(super) fn bodies(context: &mut Context, functions: &[(FunctionId, &Scope, &ast::Function)]) {
    let mut order = Order {
        functions,
        context,
        done: BTreeSet::new(),
        path: Vec::new(),
    };
    for at in 0..functions.len() {
        order.visit(at);
    }
}

/// Callees before callers.
struct Order<'a, 'c> {
    functions: &'a [(FunctionId, &'a Scope, &'a ast::Function)],
    context: &'a mut Context<'c>,
    done: BTreeSet<usize>,
    path: Vec<usize>,
}

impl Order<'_, '_> {
    fn visit(&mut self, at: usize) {
        if self.done.contains(&at) {
            return;
        }
        let (id, scope, source) = self.functions[at];
        if let Some(start) = self.path.iter().position(|other| *other == at) {
            self.refuse_recursion(start);
            return;
        }
        self.path.push(at);
        for callee in self.callees(scope, source) {
            if let Some(inner) = self.functions.iter().position(|(id, ..)| *id == callee) {
                self.visit(inner);
            }
            // Whoever calls what looks at the message, looks at it too.
            if self.context.program.functions[callee.at()]
                .message
                .is_some()
            {
                self.give_message(id);
            }
        }
        self.path.pop();
        if self.done.insert(at) {
            function_body(self.context, id, scope, source);
        }
    }

    fn callees(&self, scope: &Scope, source: &ast::Function) -> Vec<FunctionId> {
        let words = mentioned(source);
        let named = words.iter().filter_map(|word| scope.names.get(word));
        named
            .filter_map(|named| {
                let Named::Function(function) = named else {
                    return None;
                };
                Some(*function)
            })
            .collect()
    }

    fn give_message(&mut self, id: FunctionId) {
        let function = &mut self.context.program.functions[id.at()];
        if function.message.is_none() {
            function.message = Some(LocalId(function.parameters));
            function.locals.push(message_local());
        }
    }

    fn refuse_recursion(&mut self, start: usize) {
        let cycle: Vec<_> = self.path[start..]
            .iter()
            .map(|at| self.functions[*at].2)
            .collect();
        let first = cycle[0];
        let title = format!("`{}` calls itself", first.name);
        let mut refused = Diagnostic::error(
            Id::RecursiveFunction,
            title,
            first.name.span,
            "this function",
        );
        for other in &cycle[1..] {
            refused = refused.label(other.name.span, "through this function");
        }
        self.context.report(
            refused
                .why("The time of a handler is bounded, so functions cannot be recursive.")
                .help("write a loop instead: `for i in 0..n { … }`"),
        );
    }
}

fn message_local() -> Local {
    Local {
        name: "message".to_string(),
        kind: Type::Message,
    }
}

fn function_body(context: &mut Context, id: FunctionId, scope: &Scope, source: &ast::Function) {
    let declared = context.program.functions[id.at()].clone();
    let mut body = Body::new(context, scope, Place::Function);
    body.result = declared.result.clone();
    body.locals = declared.locals.clone();
    for (at, parameter) in source.parameters.iter().enumerate() {
        body.bind(&parameter.name, LocalId(at as u32));
        let own = BTreeSet::from([source.name.text.clone()]);
        body.origins.insert(LocalId(at as u32), own);
    }
    let told = body.context.diagnostics.len();
    body.assume_given();
    if let Some(message) = declared.message {
        body.bind_unwritten("message", message);
    }
    let block = match &source.body {
        ast::FunctionBody::Promised | ast::FunctionBody::External | ast::FunctionBody::Runtime => {
            None
        }
        ast::FunctionBody::Expression(value) => Some(body.returning(value, |body| {
            body.calls_c_alone(value.span, Use::Read);
            body.expect(value, &declared.result)
        })),
        ast::FunctionBody::Block(block) => Some(body.function_block(block)),
    };
    if body.context.diagnostics.len() > told {
        let mut named = match &source.body {
            ast::FunctionBody::Expression(value) => mentions::in_value(value),
            _ => BTreeSet::new(),
        };
        named.insert(source.name.text.clone());
        body.blame(told, named);
    }
    let (reads, locals) = (body.reads, std::mem::take(&mut body.locals));
    let calls_c = body.calls_c || declared.external;
    let function = &mut context.program.functions[id.at()];
    function.calls_c = calls_c;
    function.entity = (reads.own || reads.entity).then_some(scope.entity);
    function.kind = reads.own.then_some(scope.kind);
    function.reads_header = reads.header;
    function.locals = locals;
    function.body = block;
}

/// What gives a key that is left out: of the key's type, or optional, where there may be none.
pub(super) fn key_default(
    context: &mut Context,
    scope: &Scope,
    source: &ast::Parameter,
    kind: &Type,
    given: &[(&ast::Name, Type)],
) -> Option<Function> {
    let written = source.default.as_ref()?;
    let mut body = Body::new(context, scope, Place::Function);
    for (name, kind) in given {
        let local = body.add_local(&name.text, kind.clone());
        body.bind(name, local);
    }
    body.assume_given();
    let optional = Type::Optional(Box::new(kind.clone()));
    let mut result = Type::Nothing;
    let block = body.returning(written, |body| {
        let value = body.check(written, Some(kind));
        let value = match value.result == optional {
            true => value,
            false => body.coerce(value, kind, written.span),
        };
        result = value.result.clone();
        value
    });
    let (reads, calls_c) = (body.reads, body.calls_c);
    let locals = std::mem::take(&mut body.locals);
    (result != Type::Nothing).then(|| Function {
        name: source.name.text.clone(),
        entity: Some(scope.entity),
        kind: reads.own.then_some(scope.kind),
        locals,
        parameters: given.len() as u32,
        defaults: vec![None; given.len()],
        message: None,
        reads_header: reads.header,
        result,
        external: false,
        in_runtime: false,
        rewrites: false,
        calls_c,
        body: Some(block),
        span: written.span,
    })
}

/// A value that is computed just once.
pub(super) fn computed(
    context: &mut Context,
    scope: &Scope,
    name: &str,
    source: &ast::Expression,
    expected: &Type,
) -> Expression {
    let mut body = Body::new(context, scope, Place::Value);
    let told = body.context.diagnostics.len();
    let (value, before) = body.ahead(|body| {
        body.calls_c_alone(source.span, Use::Bound);
        body.expect(source, expected)
    });
    if body.context.diagnostics.len() > told {
        let mut named = mentions::in_value(source);
        named.insert(name.to_string());
        body.blame(told, named);
    }
    if before.is_empty() {
        return value;
    }
    // What is done before its value stands in a function, which is given the message.
    let mut of_function = scope.clone();
    of_function.message = scope.message.map(|_| LocalId(0));
    let mut body = Body::new(context, &of_function, Place::Function);
    body.locals.extend(scope.message.map(|_| message_local()));
    let block = body.returning(source, |body| body.expect(source, expected));
    let (reads, locals) = (body.reads, std::mem::take(&mut body.locals));
    let id = FunctionId(context.program.functions.len() as u32);
    context.program.functions.push(Function {
        name: name.to_string(),
        entity: Some(scope.entity),
        kind: reads.own.then_some(scope.kind),
        locals,
        parameters: 0,
        defaults: Vec::new(),
        message: of_function.message,
        reads_header: reads.header,
        result: value.result.clone(),
        external: false,
        in_runtime: false,
        rewrites: false,
        calls_c: true,
        body: Some(block),
        span: source.span,
    });
    let message = |message| Expression::local(message, Type::Message);
    let given = scope.message.map(message).into_iter().collect();
    make(ExpressionKind::Call(id, given), value.result)
}

/// A filter with all that it does.
pub(super) fn filter(context: &mut Context, scope: &Scope, source: &ast::Filter) -> Option<Filter> {
    let mut body = Body::new(context, scope, Place::Filter(Part::Begin));
    let unit = body.unit(&source.unit)?;
    let (locals, defaults) = body.parameters(&source.parameters, false);
    let parameters = locals.len() as u32;
    body.locals = locals;
    for (at, parameter) in source.parameters.iter().enumerate() {
        body.bind(&parameter.name, LocalId(at as u32));
    }
    let state = body.filter_state(&source.fields);
    let unit_type = Type::Unsigned(unit as u8 * 8);
    let word = body.add_local("word", unit_type.clone());
    let rewrites = source.effect == ast::FilterEffect::Rewrites;
    if rewrites {
        body.result = unit_type;
    }
    body.bind_unwritten("word", word);
    let is_whole = unit == 1 || source.whole.is_some() || source.tail.is_some();
    body.place = Place::Filter(if is_whole {
        Part::WholeWord
    } else {
        Part::Word
    });
    let each = body.block(&source.each);
    body.flow.facts.clear();
    body.place = Place::Filter(Part::Word);
    let tail = source.tail.as_ref().map(|tail| body.block(tail));
    body.words.pop();
    body.flow.facts.clear();
    body.place = Place::Filter(Part::End);
    let finish = match &source.finish {
        Some(finish) => body.block(finish),
        None => Block::new(),
    };
    body.flow.facts.clear();
    let result = source.result.as_ref();
    let (result, same) = result.map(|result| body.filter_result(result)).unzip();
    body.leave_words(0);
    body.has_result(source, result.is_some());
    let (of_each, (_, behind)) = (yields(&each), yields(&finish));
    let of_tail = tail.as_ref().map_or(of_each, |tail| yields(tail));
    let most = of_each.1.max(of_tail.1);
    body.whole_words(source, unit);
    let (locals, measures) = (std::mem::take(&mut body.locals), body.measures);
    let filter = Filter {
        name: source.name.text.clone(),
        locals,
        parameters,
        defaults,
        state,
        word,
        measures,
        unit,
        big: source.order != Some(ast::ByteOrder::Little),
        rewrites,
        keeps_length: (of_each, of_tail, behind) == ((1, 1), (1, 1), 0),
        grows: most > 1 || behind > 0,
        whole: source.whole.is_some(),
        each,
        tail,
        finish,
        result,
        same: same.unwrap_or_default(),
        span: source.span,
    };
    if let Some(moved) = moved(context.program, &filter) {
        context.report(tail_is_moved(&filter, moved));
    }
    Some(filter)
}

/// Refuses a filter that would destroy an incomplete last word.
fn tail_is_moved(filter: &Filter, moved: Span) -> Diagnostic {
    let (title, label, help) = match filter.tail {
        None => (
            format!("`{}` destroys an incomplete last word", filter.name),
            "a byte of this value may depend on a byte at another position",
            "write `whole` after the type of its word to accept only whole words, or define the \
            output for the last bytes: `tail { yield word }` keeps them",
        ),
        Some(_) => (
            format!("the `tail` of `{}` moves bytes, too", filter.name),
            "a byte of this value may depend on a byte at another position",
            "compute each byte from the byte at the same position, as in `yield word ^ key`",
        ),
    };
    Diagnostic::error(Id::TailIsMoved, title, moved, label)
        .why(
            "The output for an incomplete word keeps only as many bytes as the input had. Bytes \
            that move beyond them are lost, and zeros take their place.",
        )
        .help(help)
}

impl Body<'_, '_> {
    /// Refuses a filter that rewrites and has a result, or does neither.
    fn has_result(&mut self, source: &ast::Filter, has_result: bool) {
        let title = match (source.effect, has_result) {
            (ast::FilterEffect::Rewrites, true) => {
                "a filter that `rewrites` yields words, and has no `result`"
            }
            (ast::FilterEffect::Reads, false) => "a filter that `reads` needs a `result`",
            (ast::FilterEffect::Rewrites, false) | (ast::FilterEffect::Reads, true) => return,
        };
        let label = "`result` does not match `reads` or `rewrites`";
        let refused = Diagnostic::error(Id::MissingPart, title, source.name.span, label);
        self.report(refused);
    }

    /// Refuses `whole` and `tail` where no word can be incomplete, or nothing is rewritten.
    fn whole_words(&mut self, source: &ast::Filter, unit: u32) {
        let whole = source.whole.map(|span| ("whole", span));
        let tail = source.tail.as_ref().map(|tail| ("tail", tail.span));
        let Some((word, span)) = whole.or(tail) else {
            return;
        };
        let (title, help) = if let (Some(_), Some((_, tail))) = (whole, tail) {
            let title = "a filter is either `whole` or has a `tail`";
            let refused = Diagnostic::error(Id::NotHere, title, tail, "never runs");
            let refused = refused.label(span, "accepts only whole words");
            self.report(refused.help("remove one of them"));
            return;
        } else if source.effect == ast::FilterEffect::Reads {
            (
                format!("`{word}` applies only to filters that rewrite"),
                "remove it: missing bytes of the last word read as zero",
            )
        } else if unit == 1 {
            (
                format!("`{word}` applies only to words of several bytes"),
                "remove it: a word of one byte is never incomplete",
            )
        } else {
            return;
        };
        self.report(Diagnostic::error(Id::NotHere, title, span, "").help(help));
    }

    /// What a filter gives, and when a field is right that does not hold it.
    fn filter_result(&mut self, source: &ast::FilterResult) -> (Expression, Vec<Same>) {
        let kind = self.written_type(&source.of);
        let value = self.expect(&source.value, &kind);
        let mut constant = |source| {
            let value = self.expect(source, &kind);
            constant_number(self.context, &value, source, "the value of a field")
        };
        let is_itself = |held: &ast::Expression| match &held.kind {
            ast::ExpressionKind::Name(name) => name.text == "itself",
            _ => false,
        };
        let same = source.same.iter();
        let same = same.filter_map(|(held, is)| match is_itself(held) {
            true => constant(is).map(Same::Itself),
            false => constant(held)
                .zip(constant(is))
                .map(|(held, is)| Same::Held(held, is)),
        });
        let same = same.collect();
        let mut said = source.same.iter().filter(|(held, _)| is_itself(held));
        if let (Some((first, _)), Some((again, _))) = (said.next(), said.next()) {
            let title = "the result over a correct field is given twice";
            let refused = Diagnostic::error(Id::WrittenTwice, title, again.span, "given again");
            self.report(refused.label(first.span, "first given here"));
        }
        (value, same)
    }

    /// A body that is one value, behind what is done for it.
    fn returning(
        &mut self,
        source: &ast::Expression,
        value: impl FnOnce(&mut Self) -> Expression,
    ) -> Block {
        self.with_before(source.span, |body| Some(StatementKind::Return(value(body))))
    }

    /// Parameters as locals, with what a call that leaves them out gives them.
    fn parameters(
        &mut self,
        sources: &[ast::Parameter],
        external: bool,
    ) -> (Vec<Local>, Vec<Option<Value>>) {
        let mut locals = Vec::new();
        let mut defaults = Vec::new();
        for source in sources {
            let kind = match external {
                true => self.external_parameter(&source.of),
                false => self.value_type(&source.of),
            };
            let default = source.default.as_ref().map(|default| {
                let value = self.expect(default, &kind);
                self.default(&value, default)
            });
            defaults.push(default.flatten());
            locals.push(Local {
                name: source.name.text.clone(),
                kind,
            });
            if let Some(condition) = &source.condition {
                self.refuse_condition(source, condition.span);
            }
        }
        (locals, defaults)
    }

    fn refuse_condition(&mut self, parameter: &ast::Parameter, condition: Span) {
        let name = &parameter.name;
        let title = format!(
            "`{name}` may be any {}: only a parameter of a layer has a condition",
            self.text(parameter.of.span)
        );
        let refused = Diagnostic::error(Id::NotHere, title, condition, "a parameter of a function");
        self.report(
            refused
                .why(
                    "The arguments of a layer are tested before the stack starts, but the \
                    arguments of a function differ between calls.",
                )
                .help(format!(
                    "use a narrower type, such as `u4`, or test `{name}` where it is used"
                )),
        );
    }

    fn default(&mut self, value: &Expression, source: &ast::Expression) -> Option<Value> {
        let constant = fold(self.context.program, value);
        if constant.is_none() && value.result != Type::Nothing {
            let title = "a default must be a constant";
            let label = "not a constant";
            self.report(Diagnostic::error(
                Id::NotConstant,
                title,
                source.span,
                label,
            ));
        }
        constant
    }

    fn function_block(&mut self, source: &ast::Block) -> Block {
        let block = self.block(source);
        if !self.flow.dead {
            let title = "a path of this function returns nothing";
            let end = last_brace(source.span);
            let refused =
                Diagnostic::error(Id::MissingReturn, title, end, "no `return` before this");
            self.report(refused.help("add `return …` here"));
        }
        block
    }

    /// Bytes of the words of a filter.
    fn unit(&mut self, source: &ast::Type) -> Option<u32> {
        match self.written_type(source) {
            Type::Unsigned(width @ (8 | 16 | 32 | 64)) => Some(u32::from(width) / 8),
            Type::Nothing => None,
            _ => {
                let title = "the word of a filter has 8, 16, 32 or 64 bits";
                let label = "not one of `u8`, `u16`, `u32`, `u64`";
                self.report(Diagnostic::error(
                    Id::TypeMismatch,
                    title,
                    source.span,
                    label,
                ));
                None
            }
        }
    }

    fn filter_state(&mut self, sources: &[ast::Field]) -> Vec<(LocalId, Expression)> {
        let mut state = Vec::new();
        for source in sources {
            let kind = self.written_type(&source.of);
            let start = match &source.start {
                Some(start) => self.expect(start, &kind),
                None if self.width(&kind).is_some() => number(0, kind.clone()),
                None => {
                    let title = format!("`{}` needs an initial value", source.name);
                    let label = "no initial value";
                    self.report(Diagnostic::error(
                        Id::MissingPart,
                        title,
                        source.span,
                        label,
                    ));
                    make(super::super::expression::ExpressionKind::Now, Type::Nothing)
                }
            };
            let local = self.declare(&source.name, kind);
            self.assignable.push(local);
            state.push((local, start));
        }
        state
    }
}
