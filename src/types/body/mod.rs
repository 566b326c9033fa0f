//! Bodies: what stands in handlers, finders, functions, filters and headers, checked.
//!
//! In: syntax trees, and a [`Scope`] that says what plain words stand for. Out: expressions and
//! statements in which every name is resolved and every type is known. `compose` calls what is
//! public here; everything below is about one body at a time:
//!
//! ```text
//! handler, function     one body as a whole
//! statement             blocks and what `else` takes the place of; branch, loops, assign
//!   attempt, operation  what may fail, and who owns what then; source: where messages come from
//!   output              send, deliver, tell, and what stands behind their `with`
//! expression, call      values; access: what words, dots and indices stand for
//!   operator            arithmetic, and the type in which it is computed
//!   kinds               types, and how a value of one becomes a value of another
//! flow, range           what is known at a point: where messages are, which conditions hold
//! external              functions and types in C
//! asked                 what is asked of instances and nobody does
//! ```

mod access;
mod asked;
mod assign;
mod attempt;
mod branch;
mod bytes;
mod call;
mod expression;
mod external;
mod flow;
mod function;
mod handler;
mod kinds;
mod loops;
mod mentions;
mod operation;
mod operator;
mod output;
mod range;
mod react;
mod settings;
mod source;
mod statement;
mod words;

#[cfg(test)]
mod tests;

use super::context::Context;
use super::expression::Expression;
use super::program::{
    Event, Filter, FilterId, Finder, Function, FunctionId, Handler, KindId, Local,
};
use super::scope::Scope;
use super::value::Type;
use crate::syntax::loom::ast;
pub use react::Doings;
use words::{Body, Place};

/// A type as it is written; capacities are constant expressions.
pub fn check_type(context: &mut Context, scope: &Scope, source: &ast::Type) -> Type {
    Body::new(context, scope, Place::Value).written_type(source)
}

/// A type of what is passed around: a parameter, an attribute, a key.
pub fn check_value_type(context: &mut Context, scope: &Scope, source: &ast::Type) -> Type {
    Body::new(context, scope, Place::Value).value_type(source)
}

/// The type of an instance's field, which may be one of C.
pub fn check_field_type(context: &mut Context, scope: &Scope, source: &ast::Type) -> Type {
    let mut body = Body::new(context, scope, Place::Value);
    body.with_external_types(|body| body.written_type(source))
}

/// A value outside of any handler: the start of a field, an argument of a layer, a constant, and
/// what stands in a header (whose fields are words of the scope, as values).
/// What it cannot make sense of is diagnosed, and has the type [`Type::Nothing`].
pub fn check_expression(
    context: &mut Context,
    scope: &Scope,
    source: &ast::Expression,
    expected: Option<&Type>,
) -> Expression {
    let mut body = Body::new(context, scope, Place::Value);
    let told = body.context.diagnostics.len();
    let value = match expected {
        Some(expected) => body.expect(source, expected),
        None => body.check(source, None),
    };
    if body.context.diagnostics.len() > told {
        body.blame(told, mentions::in_value(source));
    }
    value
}

/// The same where it is computed just once: the first value of a field, or what a field of a header
/// is given. So it may call what is written in C; what is more than one such call is a function
/// called `name`.
pub fn check_computed(
    context: &mut Context,
    scope: &Scope,
    name: &str,
    source: &ast::Expression,
    expected: &Type,
) -> Expression {
    function::computed(context, scope, name, source, expected)
}

/// `internet_checksum(pseudo_sum(length))`: what stands behind a `through`.
pub fn check_filter_call(
    context: &mut Context,
    scope: &Scope,
    source: &ast::Expression,
) -> Option<(FilterId, Vec<Expression>)> {
    Body::new(context, scope, Place::Value).filter_call(source)
}

/// All handlers that the instances of `scope.kind` have for one event, in the order of writing;
/// at least one. `parameters` are the event's, with the names under which they were declared: the
/// message first where there is one.
pub fn check_handler(
    context: &mut Context,
    scope: &Scope,
    sources: &[&ast::Handler],
    event: Event,
    parameters: &[Local],
) -> Handler {
    handler::handler(context, scope, sources, event, parameters)
}

/// All that the processes and handlers of a kind do, which goes into the program; what it gives are
/// the handlers of all its events, each of which does everything.
pub fn check_reactive(context: &mut Context, doings: &Doings) -> Vec<Handler> {
    react::reactive(context, doings)
}

/// That instances handle what they are told, and what they ask of themselves; `kinds` are those of
/// a layer, all of whose handlers are in the program.
pub fn check_asked(context: &mut Context, kinds: &[KindId]) {
    asked::check(context, kinds);
}

/// Where an event from below belongs; `scope` is the record's. The event's parameters have the
/// names under which they were declared.
pub fn check_finder(
    context: &mut Context,
    scope: &Scope,
    source: &ast::Finder,
    event: Event,
    parameters: &[Local],
) -> Finder {
    handler::finder(context, scope, source, event, parameters)
}

/// The signature of a function, as it stands in [`super::program::Program::functions`] until
/// [`check_functions`] fills it in.
pub fn declare_function(context: &mut Context, scope: &Scope, source: &ast::Function) -> Function {
    function::signature(context, scope, source)
}

/// The bodies of all functions that may call each other, each with the scope that it sees; they
/// are checked callees first, and must not be recursive. Functions of entities below come first.
pub fn check_functions(context: &mut Context, functions: &[(FunctionId, &Scope, &ast::Function)]) {
    function::bodies(context, functions);
}

/// What gives the key of a kind that a port may leave out. It sees the entity, and the keys that
/// it is given; `None` where it cannot be computed.
pub fn check_key_default(
    context: &mut Context,
    scope: &Scope,
    source: &ast::Parameter,
    kind: &Type,
    given: &[(&ast::Name, Type)],
) -> Option<Function> {
    function::key_default(context, scope, source, kind, given)
}

/// A filter; it sees its parameters, constants and functions.
pub fn check_filter(context: &mut Context, scope: &Scope, source: &ast::Filter) -> Option<Filter> {
    function::filter(context, scope, source)
}
