//! Functions of values: in, a call; out, the function in the module, lowered once, and its call.
//!
//! A function is given the parts of its parameters; the index of its own instance, if it reads one;
//! the length, the data and the attributes that it reads of its message; a view for each header
//! that it reads.

use super::needs::Needs;
use crate::ir::build::Builder;
use crate::ir::effects::{Effects, Resource};
use crate::ir::interface::{Foreign, Given, Home, Shape};
use crate::ir::op::{Op, Place};
use crate::ir::{self, ForeignId, Role, Type as Plain, Value};
use crate::lower::Lower;
use crate::lower::code::{Code, Name};
use crate::lower::shapes::{parts, shape};
use crate::types::expression::{Expression, ExpressionKind as Kind, Variable};
use crate::types::program::{FunctionId, LocalId, Program};
use crate::types::value::Type;

/// A function that was lowered.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// Its place in the module.
    pub function: ir::FunctionId,
    /// The values that it is given beside its parameters.
    pub needs: Needs,
}

impl Code<'_, '_> {
    /// Calls a function: the parts of its result.
    pub fn call(&mut self, id: FunctionId, arguments: &[Expression]) -> Vec<Value> {
        let function = &self.lower.program.functions[id.at()];
        if function.external {
            return self.call_foreign(id, arguments);
        }
        let (given, rest) = arguments.split_at(function.parameters as usize);
        let values = self.values(given);
        let (messages, own) = rest.split_at(function.arguments() - given.len());
        let message = messages.first().map(message_of);
        let own = match (function.kind, own) {
            (None, _) => None,
            (Some(_), [own]) => Some(self.plain(own)),
            (Some(kind), _) => Some(match self.own {
                Some((known, index)) if known == kind => index,
                Some(_) | None => self.word(0),
            }),
        };
        self.call_with(id, values, own, message)
    }

    /// Calls a function that is not in C with the parts of its parameters.
    pub fn call_with(
        &mut self,
        id: FunctionId,
        mut operands: Vec<Value>,
        own: Option<Value>,
        message: Option<LocalId>,
    ) -> Vec<Value> {
        let lowered = self.lowered(id);
        operands.extend(own);
        if let Some(message) = message {
            if lowered.needs.length {
                operands.push(self.length(message));
            }
            if lowered.needs.data {
                operands.push(self.data(message));
            }
            for attribute in &lowered.needs.attributes {
                operands.extend(self.attribute(message, *attribute));
            }
        }
        for header in &lowered.needs.headers {
            operands.push(self.named(Name::Header(*header))[0]);
        }
        self.op(Op::Call(lowered.function), &operands)
    }

    /// A function in the module.
    fn lowered(&mut self, id: FunctionId) -> Lowered {
        if let Some(known) = self.lower.functions.get(&id) {
            return known.clone();
        }
        let program = self.lower.program;
        let function = &program.functions[id.at()];
        let needs = self.lower.needs[id.at()].clone();
        let names = names(program, id, &needs);
        let parameters = names.iter().flat_map(|(_, all)| all.iter());
        let parameters = parameters.map(|(of, hint)| (*of, hint.as_str()));
        let parameters: Vec<(Plain, &str)> = parameters.collect();
        let owner = function
            .entity
            .map(|id| program.entities[id.at()].name.clone());
        let owner = owner.unwrap_or_default();
        let wanted = match owner.is_empty() {
            true => function.name.clone(),
            false => format!("{owner}.{}", function.name),
        };
        let name = self.lower.unique(&wanted);
        let mut build = Builder::new(&name, &owner, Role::Plain, &parameters);
        build.set_function_span(Some(function.span));
        let mut code = Code::new(&mut *self.lower, build, &function.locals);
        code.message = function.message;
        code.results = Some(parts(program, &function.result));
        let mut at = 0;
        for (name, all) in &names {
            let values = (at..at + all.len()).map(|at| code.build.parameter(at));
            let values: Vec<Value> = values.collect();
            at += all.len();
            match (name, function.kind) {
                (Some(name), _) => code.bind(*name, values),
                (None, Some(kind)) => code.own = Some((kind, values[0])),
                (None, None) => unreachable!("an instance is of a kind"),
            }
        }
        let body = function.body.as_ref();
        let goes_on = code.block(body.expect("a function in C is called otherwise"));
        assert!(!goes_on, "every way through {name} returns");
        let result = parts(program, &function.result);
        let function = code.build.finish(result);
        let lowered = Lowered {
            function: self.lower.add_called(function),
            needs,
        };
        self.lower.functions.insert(id, lowered.clone());
        lowered
    }

    fn call_foreign(&mut self, id: FunctionId, arguments: &[Expression]) -> Vec<Value> {
        let foreign = self.lower.foreign(id);
        let given = self.lower.module.foreigns[foreign.0 as usize]
            .parameters
            .clone();
        let mut operands = Vec::new();
        let mut places = Vec::new();
        for (argument, (_, given)) in arguments.iter().zip(given) {
            match given {
                Given::Value(_) | Given::Changed(_) => operands.extend(self.value(argument)),
                Given::Data => operands.push(self.data(message_of(argument))),
                Given::Rewritten => operands.push(self.message(message_of(argument))),
                Given::State(_) => {
                    let (place, of_place) = self.foreign_argument(argument);
                    places.push(place);
                    operands.extend(of_place);
                }
            }
        }
        self.op(Op::Foreign(foreign, places), &operands)
    }

    fn foreign_argument(&mut self, argument: &Expression) -> (Place, Vec<Value>) {
        match &*argument.kind {
            Kind::Read(variable) => self.foreign_place(variable),
            other => panic!("what only C knows is a field, not {other:?}"),
        }
    }
}

impl Lower<'_> {
    /// Adds a function that is called; it is pure if it changes nothing, but for words that a
    /// kernel yields.
    pub fn add_called(&mut self, function: ir::Function) -> ir::FunctionId {
        let id = self.add(function);
        let mut is_pure = true;
        let known = &self.pure;
        let effects = Effects::of_function_up_to(&self.module, id, &mut |called| {
            let known = known.get(&called).copied();
            is_pure &= known != Some(false);
            known.is_some()
        });
        let mut writes = effects.writes.iter();
        is_pure &= writes.all(|one| *one == Resource::Yielded);
        self.pure.insert(id, is_pure);
        if is_pure {
            self.module.functions[id.at()].role = Role::Pure;
        }
        id
    }

    /// Adds all functions in C that whoever uses the stack writes, called or not.
    pub fn declare_foreigns(&mut self) {
        for (at, function) in self.program.functions.iter().enumerate() {
            if function.external && !function.in_runtime {
                self.foreign(FunctionId(at as u32));
            }
        }
    }

    /// A function in C.
    fn foreign(&mut self, id: FunctionId) -> ForeignId {
        if let Some(known) = self.foreigns.get(&id) {
            return *known;
        }
        let program = self.program;
        let function = &program.functions[id.at()];
        let given = function.locals[..function.parameters as usize].iter();
        let given = given.map(|local| {
            let given = match &local.kind {
                Type::Message if function.rewrites => Given::Rewritten,
                Type::Message => Given::Data,
                value => match shape(program, value) {
                    Shape::Foreign(record) => Given::State(record),
                    shape => Given::Value(shape),
                },
            };
            (local.name.clone(), given)
        });
        let result = match &function.result {
            Type::Nothing | Type::Message => None,
            value => Some(shape(program, value)),
        };
        let foreign = Foreign {
            name: function.name.clone(),
            home: match function.in_runtime {
                true => Home::Runtime,
                false => Home::Host,
            },
            parameters: given.collect(),
            result,
        };
        let mut known = self.module.foreigns.iter();
        let is_same = |one: &Foreign| one.name == foreign.name && one.home == foreign.home;
        let at = known.position(is_same).unwrap_or_else(|| {
            self.module.foreigns.push(foreign);
            self.module.foreigns.len() - 1
        });
        let foreign = ForeignId(at as u32);
        self.foreigns.insert(id, foreign);
        foreign
    }
}

/// The parts of a name with their types and hints; no name stands for the own instance.
type Parameters = Vec<(Option<Name>, Vec<(Plain, String)>)>;

fn names(program: &Program, id: FunctionId, needs: &Needs) -> Parameters {
    let function = &program.functions[id.at()];
    let mut all = Parameters::new();
    for at in 0..function.parameters {
        let local = &function.locals[at as usize];
        let values = parts(program, &local.kind).into_iter();
        let values = values.map(|of| (of, local.name.clone()));
        all.push((Some(Name::Local(LocalId(at))), values.collect()));
    }
    if function.kind.is_some() {
        all.push((None, vec![(Plain::WORD, "own".to_string())]));
    }
    if let Some(message) = function.message {
        let one = |name, of, hint: &str| (Some(name), vec![(of, hint.to_string())]);
        if needs.length {
            all.push(one(Name::Length(message), Plain::WORD, "length"));
        }
        if needs.data {
            all.push(one(Name::Data(message), Plain::View, "data"));
        }
        for attribute in &needs.attributes {
            let table = &program.attributes[attribute.at()];
            let values = parts(program, &table.kind).into_iter();
            let values = values.map(|of| (of, table.name.clone()));
            let name = Name::Attribute(message, *attribute);
            all.push((Some(name), values.collect()));
        }
    }
    for header in &needs.headers {
        let view = (Plain::View, "header".to_string());
        all.push((Some(Name::Header(*header)), vec![view]));
    }
    all
}

fn message_of(argument: &Expression) -> LocalId {
    match &*argument.kind {
        Kind::Read(Variable::Local(local)) => *local,
        other => panic!("a message is a local, not {other:?}"),
    }
}
