//! Names and expressions of a module, as they are written in Esterel.
//!
//! In: the module. Out: words. What has the same name as another thing has a number behind it.

use super::Words;
use crate::syntax::esterel::ast::Unary;
use crate::tree::automaton::{Act, Question, StateId};
use crate::types::esterel::{Data, Expression, ExpressionKind as Kind, Module, VariableId, sign};
use crate::types::process::{DataId, Role, SignalId};
use std::collections::BTreeMap;

/// The words for what is in a module.
#[derive(Debug)]
pub struct ModuleWords<'m> {
    module: &'m Module,
    signals: Vec<String>,
    variables: Vec<String>,
}

impl Words for ModuleWords<'_> {
    fn signal(&self, signal: SignalId) -> &str {
        &self.signals[signal.at()]
    }

    fn question(&self, _state: StateId, question: Question) -> String {
        match question {
            Question::Given(signal) => self.signal(signal).to_string(),
            Question::Data(data) => self.value(data),
        }
    }

    fn step(&self, _before: Option<Act>, act: Act) -> Vec<String> {
        match act {
            Act::Do(data) => self.done(data),
            Act::Emit { signal, value, .. } => {
                let role = self.module.processes.signal(signal).role;
                let verb = if role == Role::Exit { "exit" } else { "emit" };
                let value = value.map(|value| format!("({})", self.value(value)));
                let value = value.unwrap_or_default();
                vec![format!("{verb} {}{value}", self.signal(signal))]
            }
            Act::Keep(signal) => {
                let name = self.signal(signal);
                vec![format!("pre(?{name}) := ?{name}")]
            }
        }
    }
}

impl<'m> ModuleWords<'m> {
    /// Of this module.
    pub fn new(module: &'m Module) -> ModuleWords<'m> {
        let signals = module.processes.signals.iter();
        let variables = module.variables.iter();
        ModuleWords {
            module,
            signals: told_apart(signals.map(|one| one.name.as_str())),
            variables: told_apart(variables.map(|one| one.name.as_str())),
        }
    }

    fn done(&self, data: DataId) -> Vec<String> {
        match &self.module.data[data.at()] {
            Data::Value(value) => vec![self.expression(value)],
            Data::Assign(variable, value) => {
                let name = self.variable(*variable);
                vec![format!("{name} := {}", self.expression(value))]
            }
            Data::Down(variable) => {
                let name = self.variable(*variable);
                vec![format!("{name} := {name} - 1")]
            }
            Data::Begin(all) => {
                let all = all.iter().filter_map(|(signal, value)| {
                    let value = self.expression(value.as_ref()?);
                    Some(format!("?{} := {value}", self.signal(*signal)))
                });
                all.collect()
            }
            Data::Call {
                procedure,
                references,
                values,
            } => {
                let name = &self.module.procedures[*procedure as usize].name;
                let references = references.iter().map(|one| self.variable(*one));
                let references = references.collect::<Vec<_>>().join(", ");
                vec![format!("{name}({references})({})", self.listed(values))]
            }
        }
    }

    fn value(&self, data: DataId) -> String {
        match &self.module.data[data.at()] {
            Data::Value(value) => self.expression(value),
            other => unreachable!("{other:?} has no value"),
        }
    }

    fn variable(&self, variable: VariableId) -> &str {
        &self.variables[variable.at()]
    }

    fn listed(&self, all: &[Expression]) -> String {
        let all: Vec<String> = all.iter().map(|one| self.expression(one)).collect();
        all.join(", ")
    }

    fn expression(&self, expression: &Expression) -> String {
        match &*expression.kind {
            Kind::Boolean(truth) => truth.to_string(),
            Kind::Integer(number) => number.to_string(),
            Kind::Real(text) => text.clone(),
            Kind::Text(text) => format!("\"{}\"", text.replace('"', "\"\"")),
            Kind::Constant(constant) => self.module.constants[*constant as usize].name.clone(),
            Kind::Variable(variable) => self.variable(*variable).to_string(),
            Kind::Value(signal) => match self.module.processes.signal(*signal).role {
                Role::Exit => format!("??{}", self.signal(*signal)),
                Role::Input
                | Role::InputEmitted
                | Role::Sensor
                | Role::Output
                | Role::InputOutput
                | Role::Local
                | Role::Field
                | Role::Look => format!("?{}", self.signal(*signal)),
            },
            Kind::Before(signal) => format!("pre(?{})", self.signal(*signal)),
            Kind::Call(function, operands) => {
                let name = &self.module.functions[*function as usize].name;
                format!("{name}({})", self.listed(operands))
            }
            Kind::Unary(Unary::Not, operand) => format!("not {}", self.operand(operand)),
            Kind::Unary(Unary::Negate, operand) => format!("-{}", self.operand(operand)),
            Kind::Binary(operator, one, other) => {
                let (one, other) = (self.operand(one), self.operand(other));
                format!("{one} {} {other}", sign(*operator))
            }
        }
    }

    /// An expression in another one.
    fn operand(&self, expression: &Expression) -> String {
        let text = self.expression(expression);
        match &*expression.kind {
            Kind::Binary(..) | Kind::Unary(Unary::Not, _) => format!("({text})"),
            Kind::Boolean(_)
            | Kind::Integer(_)
            | Kind::Real(_)
            | Kind::Text(_)
            | Kind::Constant(_)
            | Kind::Variable(_)
            | Kind::Value(_)
            | Kind::Before(_)
            | Kind::Call(..)
            | Kind::Unary(Unary::Negate, _) => text,
        }
    }
}

/// The same names; from the second of a kind on, each with its number.
fn told_apart<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut times: BTreeMap<&str, u32> = BTreeMap::new();
    let named = names.map(|name| {
        let times = times.entry(name).or_default();
        *times += 1;
        match *times {
            1 => name.to_string(),
            number => format!("{name}#{number}"),
        }
    });
    named.collect()
}
