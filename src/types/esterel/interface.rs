//! What a module declares -> the tables of the whole, and the names in its scope.

use super::operator::{Operator, is_sign, operator, stands_for};
use super::scope::Scope;
use super::{Channel, Checker, Combine, Constant, Data, Expression, Function, Procedure, Type};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::esterel::ast::{self, Binary, Declaration, Direction, Name, SignalDeclaration};
use crate::types::process::{Carries, DataId, Relation, Role, Signal, SignalId};

impl Checker<'_> {
    /// The interface of the module that is compiled.
    pub(super) fn interface(&mut self, module: &ast::Module, scope: &mut Scope) {
        self.names_of_c(module, scope);
        let mut begin = Vec::new();
        for declaration in &module.declarations {
            match declaration {
                Declaration::Signal(direction, signal) => {
                    let role = match direction {
                        Direction::Input | Direction::Return => Role::Input,
                        Direction::Output => Role::Output,
                        Direction::InputOutput => Role::InputOutput,
                    };
                    self.declare(signal, role, scope, &mut begin);
                }
                Declaration::Sensor { name, kind } => {
                    let signal = SignalDeclaration {
                        name: name.clone(),
                        initial: None,
                        kind: Some(kind.clone()),
                        combine: None,
                    };
                    self.declare(&signal, Role::Sensor, scope, &mut begin);
                }
                Declaration::Exclusive(names) => {
                    self.each_once("input", names.iter());
                    let all: Vec<_> = names
                        .iter()
                        .filter_map(|name| self.input(name, scope))
                        .collect();
                    if all.len() == names.len() {
                        self.module
                            .processes
                            .relations
                            .push(Relation::Exclusive(all));
                    }
                }
                Declaration::Implies(one, other) => {
                    if let (Some(one), Some(other)) =
                        (self.input(one, scope), self.input(other, scope))
                    {
                        let relation = Relation::Implies(one, other);
                        self.module.processes.relations.push(relation);
                    }
                }
                Declaration::Type(_)
                | Declaration::Constant { .. }
                | Declaration::Function { .. }
                | Declaration::Procedure { .. }
                | Declaration::Task(_) => {}
            }
        }
        self.module.begin = self.begin(begin, module.name.span);
    }

    /// Types, constants, functions and procedures of a module; what a copy says of them stands.
    pub(super) fn names_of_c(&mut self, module: &ast::Module, scope: &mut Scope) {
        for declaration in &module.declarations {
            match declaration {
                Declaration::Type(name) => {
                    let text = scope.types.entry(name.text.clone());
                    let text = text.or_insert_with(|| name.text.clone()).clone();
                    if basic(&text).is_none() && !self.module.types.contains(&text) {
                        self.module.types.push(text);
                    }
                }
                Declaration::Task(name) => {
                    let title = format!(
                        "`{}` is a task, and this compiler does not support tasks",
                        name.text
                    );
                    let refused = Diagnostic::error(Id::NotYet, title, name.span, "a task");
                    let help = "start it with an output signal, and end it with an input signal";
                    self.report(refused.help(help));
                }
                Declaration::Constant { name, value, kind } => {
                    self.constant(name, value.as_ref(), kind, scope);
                }
                Declaration::Function {
                    name,
                    parameters,
                    result,
                } => self.function(name, parameters, result, scope),
                Declaration::Procedure {
                    name,
                    references,
                    values,
                } => self.procedure(name, references, values, scope),
                Declaration::Signal(..)
                | Declaration::Sensor { .. }
                | Declaration::Exclusive(_)
                | Declaration::Implies(..) => {}
            }
        }
    }

    fn constant(
        &mut self,
        name: &Name,
        value: Option<&ast::Expression>,
        kind: &Name,
        scope: &mut Scope,
    ) {
        let Some(kind) = self.kind(kind, scope) else {
            return;
        };
        if scope.constants.contains_key(&name.text) {
            return;
        }
        let value = match value {
            Some(value) => {
                let Some(value) = self.expression_of(value, kind, scope) else {
                    return;
                };
                value
            }
            None => {
                let constant = Constant {
                    name: name.text.clone(),
                    kind,
                };
                let same = |one: &Constant| one.name == constant.name && *one != constant;
                if self.module.constants.iter().any(same) {
                    self.differs(name);
                }
                let at = table(&mut self.module.constants, constant);
                Expression::new(super::ExpressionKind::Constant(at), kind)
            }
        };
        scope.constants.insert(name.text.clone(), value);
    }

    fn function(&mut self, name: &Name, parameters: &[Name], result: &Name, scope: &mut Scope) {
        let parameters: Vec<Type> = parameters
            .iter()
            .filter_map(|one| self.kind(one, scope))
            .collect();
        let Some(result) = self.kind(result, scope) else {
            return;
        };
        let own = scope.functions.entry(name.text.clone());
        let own = own.or_insert_with(|| name.text.clone()).clone();
        if is_sign(&own) && stands_for(self, &own, name, &parameters, result) {
            return;
        }
        // What cannot stand for it has been reported, and calls of it have nothing more to say.
        let own = if is_sign(&own) {
            name.text.clone()
        } else {
            own
        };
        scope.functions.insert(name.text.clone(), own.clone());
        let function = Function {
            name: own,
            parameters,
            result,
        };
        let same = |one: &Function| one.name == function.name && *one != function;
        if self.module.functions.iter().any(same) {
            self.differs(name);
        }
        table(&mut self.module.functions, function);
    }

    fn procedure(&mut self, name: &Name, references: &[Name], values: &[Name], scope: &mut Scope) {
        let mut kinds = |all: &[Name]| -> Vec<Type> {
            all.iter().filter_map(|one| self.kind(one, scope)).collect()
        };
        let (references, values) = (kinds(references), kinds(values));
        let own = scope.procedures.entry(name.text.clone());
        let procedure = Procedure {
            name: own.or_insert_with(|| name.text.clone()).clone(),
            references,
            values,
        };
        let same = |one: &Procedure| one.name == procedure.name && *one != procedure;
        if self.module.procedures.iter().any(same) {
            self.differs(name);
        }
        table(&mut self.module.procedures, procedure);
    }

    /// Two modules say different things of what C has one of.
    fn differs(&mut self, name: &Name) {
        let title = format!("`{}` has different types in another module", name.text);
        let refused = Diagnostic::error(Id::TypeMismatch, title, name.span, "here");
        self.report(refused.why("All modules share one C function of this name."));
    }

    /// A type by its name.
    pub(super) fn kind(&mut self, name: &Name, scope: &Scope) -> Option<Type> {
        let text = scope.types.get(&name.text).unwrap_or(&name.text).clone();
        if let Some(basic) = basic(&text) {
            return Some(basic);
        }
        let known = self.module.types.iter().position(|one| *one == text);
        if known.is_none() || !scope.types.contains_key(&name.text) {
            let basic = ["boolean", "integer", "float", "double", "string"];
            let all: Vec<String> = scope.types.keys().cloned().collect();
            let all = all.iter().map(String::as_str).chain(basic);
            self.unknown("type", name, all.collect::<Vec<_>>());
            return None;
        }
        known.map(|at| Type::User(at as u32))
    }

    /// A signal comes into a scope; its first value goes to `begin`.
    pub(super) fn declare(
        &mut self,
        declared: &SignalDeclaration,
        role: Role,
        scope: &mut Scope,
        begin: &mut Vec<(SignalId, Option<Expression>)>,
    ) -> SignalId {
        let name = &declared.name;
        let channel = declared.kind.as_ref().and_then(|kind| {
            let kind = self.kind(kind, scope)?;
            let combine = declared.combine.as_ref();
            let combine = combine.and_then(|by| self.combine(by, kind, scope));
            Some(Channel {
                kind,
                combine,
                initial: declared.initial.is_some(),
            })
        });
        let carries = match &channel {
            None => Carries::Nothing,
            Some(channel) if channel.combine.is_some() => Carries::Combined,
            Some(_) => Carries::One,
        };
        let signal = SignalId(self.module.processes.signals.len() as u32);
        if let Some(channel) = &channel {
            let initial = declared.initial.as_ref();
            let initial = initial.and_then(|one| self.expression_of(one, channel.kind, scope));
            begin.push((signal, initial));
        }
        self.module.processes.signals.push(Signal {
            name: name.text.clone(),
            role,
            value: carries,
            previous: false,
            previous_value: false,
            span: name.span,
        });
        self.module.channels.push(channel);
        if role != Role::Exit {
            scope.signals.insert(name.text.clone(), signal);
        }
        signal
    }

    fn combine(&mut self, by: &Name, kind: Type, scope: &Scope) -> Option<Combine> {
        let sign = match is_sign(&by.text) {
            true => Some(&by.text),
            false => scope.functions.get(&by.text).filter(|own| is_sign(own)),
        };
        if let Some(Operator::Binary(by)) = sign.and_then(|sign| operator(sign, 2))
            && matches!(
                by,
                Binary::Add | Binary::Multiply | Binary::And | Binary::Or
            )
            && Operator::Binary(by).takes(kind)
        {
            return Some(Combine::Operator(by));
        }
        if sign.is_none() {
            let function = self.function_of(by, scope)?;
            let table = &self.module.functions[function as usize];
            if table.parameters == [kind, kind] && table.result == kind {
                return Some(Combine::Function(function));
            }
        }
        let written = kind.name(&self.module.types);
        let title = format!(
            "`{}` does not combine two values of type `{written}`",
            by.text
        );
        let label = "expected a function of two values that returns one";
        self.report(Diagnostic::error(Id::TypeMismatch, title, by.span, label));
        None
    }

    /// Values at the beginning of a scope, if there are any.
    pub(super) fn begin(
        &mut self,
        begin: Vec<(SignalId, Option<Expression>)>,
        span: Span,
    ) -> Option<DataId> {
        (!begin.is_empty()).then(|| self.data(Data::Begin(begin), span))
    }

    /// An input by its name.
    fn input(&mut self, name: &Name, scope: &Scope) -> Option<SignalId> {
        let signal = self.signal(name, scope)?;
        let role = self.module.processes.signal(signal).role;
        if !role.is_given() {
            let title = format!("`{}` is not an input", name.text);
            let why = "A relation restricts which inputs the environment gives together.";
            let refused = Diagnostic::error(Id::TypeMismatch, title, name.span, "not an input");
            self.report(refused.why(why));
            return None;
        }
        Some(signal)
    }
}

/// A type of the language by its name.
pub(super) fn basic(text: &str) -> Option<Type> {
    match text {
        "boolean" => Some(Type::Boolean),
        "integer" => Some(Type::Integer),
        "float" => Some(Type::Float),
        "double" => Some(Type::Double),
        "string" => Some(Type::Text),
        _ => None,
    }
}

/// The place of something in a table, in which all differ.
fn table<T: PartialEq>(all: &mut Vec<T>, one: T) -> u32 {
    let known = all.iter().position(|other| *other == one);
    known.unwrap_or_else(|| {
        all.push(one);
        all.len() - 1
    }) as u32
}
