//! Parameters: in, what a layer asks for and what the stack gives it; out, a constant or a
//! `config` value for each, as words of the layer's scope.
//!
//! A `where` is checked now if it can be; where it depends on `config`, it becomes a condition
//! under which the stack starts. The `mtu` of a link is a parameter, too, and always a constant.

use super::body::{check_expression, check_value_type};
use super::compose::Composition;
use super::constant::fold;
use super::context::Context;
use super::expression::{Expression, ExpressionKind};
use super::items::{Words, constant_expression};
use super::load::Files;
use super::names::{not_constant, refuse_repeated};
use super::program::{Config, ConfigId, EntityId};
use super::scope::{Named, Scope};
use super::value::{Type, Value};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::loom::ast;

/// The longest packet of a link that declares no `mtu`, in bytes: that of Ethernet, RFC 894.
const MTU: u32 = 1500;

/// The greatest `mtu` of a link, in bytes: no packet of IPv4 or IPv6 is longer.
const MOST: u64 = 65_535;

/// Words for all parameters of a layer.
pub fn parameters(
    context: &mut Context,
    files: &Files,
    words: &Words,
    composition: &Composition,
    entity: EntityId,
    scope: &mut Scope,
) {
    let node = composition.node(entity);
    let parameters = &node.layer.parameters;
    let names = parameters.iter().map(|parameter| &parameter.name);
    refuse_repeated(names, context.diagnostics);
    let around = words.of_unit(files.root());
    for parameter in parameters {
        let kind = check_value_type(context, scope, &parameter.of);
        let mut given = node.arguments.iter();
        let given = given.find(|argument| argument.name.text == parameter.name.text);
        let told = context.diagnostics.len();
        let value = match given {
            Some(argument) => argument_value(context, &around, argument, parameter, &kind),
            None => left_out(context, scope, parameter, &kind, node.span),
        };
        let name = parameter.name.text.clone();
        scope
            .names
            .insert(name.clone(), Named::Value(value.clone()));
        if let Some(condition) = &parameter.condition
            && context.diagnostics.len() == told
        {
            let place = given.map_or(parameter.span, |argument| argument.span);
            check_condition(context, scope, condition, &value, place);
        }
        // A refused value has no type from here on, so the layer's body is not reported for it.
        if context.diagnostics.len() > told {
            let value = constant_expression(Value::Number(0), Type::Nothing);
            scope.names.insert(name, Named::Value(value));
        }
    }
}

/// What the stack gives.
fn argument_value(
    context: &mut Context,
    around: &Scope,
    argument: &ast::Argument,
    parameter: &ast::Parameter,
    kind: &Type,
) -> Expression {
    if let ast::ExpressionKind::Field { of, name } = &argument.value.kind
        && matches!(&of.kind, ast::ExpressionKind::Name(of) if of.is("config"))
    {
        return config(context, around, name, parameter, kind);
    }
    let value = check_expression(context, around, &argument.value, Some(kind));
    match fold(context.program, &value) {
        Some(folded) => constant_expression(folded, kind.clone()),
        None => {
            if value.result != Type::Nothing {
                let what = format!("the parameter `{}`", parameter.name);
                let diagnostic = not_constant(argument.value.span, &what)
                    .help("write a constant, or `config.NAME`, which the host sets at the start");
                context.report(diagnostic);
            }
            value
        }
    }
}

/// What can be set of any stack: how much memory it has, the steps of a call, what shuffles hashes,
/// and what functions in C are given.
const OWN_SETTINGS: [&str; 7] = [
    "buffers",
    "reserve",
    "outputs",
    "events",
    "budget",
    "hash_seed",
    "user",
];

/// What is set when the stack is started: one value for all parameters that name it.
fn config(
    context: &mut Context,
    around: &Scope,
    name: &ast::Name,
    parameter: &ast::Parameter,
    kind: &Type,
) -> Expression {
    let known = context.program.config.iter();
    let known = known.clone().position(|config| config.name == name.text);
    if OWN_SETTINGS.contains(&name.text.as_str()) {
        let title = format!("each stack has a built-in setting `{name}`");
        let refused = Diagnostic::error(Id::NameTaken, title, name.span, "choose another name");
        context.report(refused);
    }
    let place = known.unwrap_or_else(|| {
        let default = parameter.default.as_ref();
        let default = default.and_then(|default| {
            let value = check_expression(context, around, default, Some(kind));
            fold(context.program, &value)
        });
        add_config(context, &name.text, kind, default)
    });
    let config = &context.program.config[place];
    if config.kind != *kind && *kind != Type::Nothing {
        let title = format!("`config.{name}` is the value of parameters of different types");
        let diagnostic = Diagnostic::error(Id::ConfigTwoTypes, title, name.span, "")
            .label(
                parameter.of.span,
                "the type here differs from the type elsewhere",
            )
            .help("use one `config` name per type");
        context.report(diagnostic);
    }
    config_expression(place, kind)
}

fn add_config(context: &mut Context, name: &str, kind: &Type, default: Option<Value>) -> usize {
    context.program.config.push(Config {
        name: name.to_string(),
        kind: kind.clone(),
        default,
        constraints: Vec::new(),
    });
    context.program.config.len() - 1
}

fn config_expression(place: usize, kind: &Type) -> Expression {
    Expression {
        kind: Box::new(ExpressionKind::Config(ConfigId(place as u32))),
        result: kind.clone(),
    }
}

/// What holds where the stack gives nothing.
fn left_out(
    context: &mut Context,
    scope: &Scope,
    parameter: &ast::Parameter,
    kind: &Type,
    node: Span,
) -> Expression {
    if let Some(default) = &parameter.default {
        let value = check_expression(context, scope, default, Some(kind));
        return match fold(context.program, &value) {
            Some(folded) => constant_expression(folded, kind.clone()),
            None => {
                if value.result != Type::Nothing && !scope.alone {
                    let what = format!("the default of `{}`", parameter.name);
                    context.report(not_constant(default.span, &what));
                }
                value
            }
        };
    }
    if !scope.alone {
        let title = format!("the parameter `{}` is missing", parameter.name);
        let help = format!("set `{} = …` in its parentheses", parameter.name);
        context.report(
            Diagnostic::error(Id::MissingParameter, title, node, "missing here")
                .label(parameter.span, "no default")
                .why("A stack must set each parameter without a default.")
                .help(help),
        );
    }
    let place = add_config(context, &parameter.name.text, kind, None);
    config_expression(place, kind)
}

fn check_condition(
    context: &mut Context,
    scope: &Scope,
    source: &ast::Expression,
    value: &Expression,
    place: Span,
) {
    if !scope.alone && is_refused(context, scope, source) {
        refuse(context, source.span, place);
        return;
    }
    let condition = check_expression(context, scope, source, Some(&Type::Bool));
    if condition.result != Type::Bool || scope.alone {
        return;
    }
    match fold(context.program, &condition) {
        Some(Value::Number(0)) => refuse(context, source.span, place),
        Some(_) => {}
        None => {
            if let ExpressionKind::Config(id) = value.kind.as_ref() {
                context.program.config[id.at()].constraints.push(condition);
            } else {
                context.report(not_constant(source.span, "this `where`"));
            }
        }
    }
}

fn refuse(context: &mut Context, condition: Span, place: Span) {
    let title = "this value is not allowed";
    context.report(
        Diagnostic::error(Id::ParameterRefused, title, place, "")
            .label(condition, "this condition is false")
            .why("Each value of a parameter must satisfy its `where`."),
    );
}

/// Returns whether the first part of a condition that does not hold is known. The parts behind it
/// may not make sense then: `r > 0 and k % r == 0`.
fn is_refused(context: &mut Context, scope: &Scope, source: &ast::Expression) -> bool {
    if let ast::ExpressionKind::Binary {
        operator: ast::BinaryOperator::And,
        left,
        right,
    } = &source.kind
    {
        return is_refused(context, scope, left)
            || holds(context, scope, left) == Some(true) && is_refused(context, scope, right);
    }
    holds(context, scope, source) == Some(false)
}

/// Returns whether a condition holds, if that is known; nothing is said of it.
fn holds(context: &mut Context, scope: &Scope, source: &ast::Expression) -> Option<bool> {
    let told = context.diagnostics.len();
    let condition = check_expression(context, scope, source, Some(&Type::Bool));
    let is_told = context.diagnostics.len() > told;
    context.diagnostics.truncate(told);
    match fold(context.program, &condition) {
        Some(Value::Number(number)) if !is_told => Some(number != 0),
        _ => None,
    }
}

/// Returns the longest packet of a link in bytes: what its parentheses say, or [`MTU`].
pub fn mtu(
    context: &mut Context,
    around: &Scope,
    link: &ast::Name,
    arguments: &[ast::Argument],
) -> u32 {
    let mut mtu = MTU;
    refuse_repeated(arguments.iter().map(|one| &one.name), context.diagnostics);
    for argument in arguments {
        let name = &argument.name;
        if !name.is("mtu") {
            let title = format!("the link `{link}` has no parameter `{name}`");
            let unknown = Diagnostic::error(Id::UnknownParameter, title, name.span, "");
            let known = "write `mtu = BYTES`, the length of the longest packet of the link";
            context.report(unknown.help(known));
            continue;
        }
        let value = check_expression(context, around, &argument.value, Some(&Type::Unsigned(32)));
        match fold(context.program, &value) {
            Some(Value::Number(bytes)) if (1..=MOST).contains(&bytes) => mtu = bytes as u32,
            Some(_) => context.report(mtu_refused(argument.value.span)),
            None if value.result != Type::Nothing => {
                context.report(not_constant(argument.value.span, "the `mtu` of a link"));
            }
            None => {}
        }
    }
    mtu
}

fn mtu_refused(place: Span) -> Diagnostic {
    let title = format!("the `mtu` of a link is a number of bytes from 1 to {MOST}");
    Diagnostic::error(Id::ParameterRefused, title, place, "").why(
        "The `mtu` of a link is the length of its longest packet, and sets the size of buffers.",
    )
}
