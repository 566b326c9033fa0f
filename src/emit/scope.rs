//! What the names in an expression stand for, in one C function.

use super::Stack;
use super::expression::Typed;
use super::names::{Taken, c_name};
use crate::c::tree::{Expression as C, atom};
use crate::types::expression::{Expression, ExpressionKind, Instance, Variable};
use crate::types::program::{HeaderFieldId, HeaderId, KindId, Local, LocalId, Population};
use crate::types::value::Type;
use std::collections::BTreeMap;

/// The names of one C function.
#[derive(Clone, Debug)]
pub struct Scope<'a> {
    /// The stack.
    pub stack: &'a Stack<'a>,
    /// The locals that its code speaks of.
    pub locals: &'a [Local],
    /// What they are called.
    pub names: BTreeMap<LocalId, String>,
    /// What stands for those that have no name.
    pub values: BTreeMap<LocalId, Typed>,
    /// All that they must not be called.
    pub taken: Taken,
    /// Whether messages stand behind pointers.
    pub pointers: bool,
    /// The index of the instance that a function reads as its own.
    pub own: Option<C>,
    /// The index of the session below that the sums of a header ask.
    pub below: Option<C>,
    /// Where a header stands that has been stripped, by header.
    pub headers: BTreeMap<HeaderId, C>,
    /// The message of header expressions.
    pub message: Option<LocalId>,
    /// Where the option begins of which code reads or writes a field.
    pub option: Option<C>,
    /// The header that is being written: of its bytes that nobody sets there are none.
    pub writes: Option<HeaderId>,
    /// How long its parts with a bound will be.
    pub parts: BTreeMap<HeaderFieldId, C>,
    /// Its length, once that is known.
    pub header_size: Option<C>,
    /// Bytes of header and data, and of the data alone, in the sums of a header.
    pub lengths: Option<(C, C)>,
}

impl<'a> Scope<'a> {
    /// A function with these locals, none of which has a name yet.
    pub fn new(stack: &'a Stack<'a>, locals: &'a [Local]) -> Scope<'a> {
        Scope {
            stack,
            locals,
            names: BTreeMap::new(),
            values: BTreeMap::new(),
            taken: stack.names.inside.clone(),
            pointers: false,
            own: None,
            below: None,
            headers: BTreeMap::new(),
            message: None,
            option: None,
            writes: None,
            parts: BTreeMap::new(),
            header_size: None,
            lengths: None,
        }
    }

    /// The type of a local.
    pub fn kind(&self, local: LocalId) -> &'a Type {
        &self.locals[local.at()].kind
    }

    /// The name of a local; it gets one the first time.
    pub fn name(&mut self, local: LocalId) -> String {
        if let Some(name) = self.names.get(&local) {
            return name.clone();
        }
        let wanted = &self.locals[local.at()].name;
        let wanted = if wanted.is_empty() { "value" } else { wanted };
        let name = match self.locals[local.at()].kind {
            Type::Optional(_) => self.taken.take_optional(wanted),
            _ => self.taken.take(wanted),
        };
        self.names.insert(local, name.clone());
        name
    }

    /// The name of a local that has one.
    pub fn known(&self, local: LocalId) -> String {
        let local = if local == LocalId::MESSAGE {
            self.message
                .expect("a header expression stands beside a message")
        } else {
            local
        };
        self.names
            .get(&local)
            .expect("a local is bound before it is read")
            .clone()
    }

    /// A message.
    pub fn message(&self, local: LocalId) -> C {
        let name = atom(self.known(local));
        if self.pointers {
            C::Unary("*", Box::new(name))
        } else {
            name
        }
    }

    /// A part of a message.
    pub fn of_message(&self, local: LocalId, part: &str) -> C {
        let name = atom(self.known(local));
        if self.pointers {
            name.behind(part)
        } else {
            name.member(part)
        }
    }

    /// A pointer to a message.
    pub fn message_address(&self, local: LocalId) -> C {
        let name = atom(self.known(local));
        if self.pointers { name } else { name.address() }
    }

    /// What tells where the counters have a message that is gone: its buffer, whether it came in.
    pub fn fate_of(&self, local: LocalId) -> Vec<C> {
        ["buffer", "came_in"]
            .map(|part| self.of_message(local, part))
            .to_vec()
    }

    /// The index of an instance.
    pub fn index(&self, instance: Instance) -> C {
        match instance {
            Instance::Own => self.own.clone().unwrap_or_else(|| atom("0")),
            Instance::Entity => atom("0"),
            Instance::Local(local) => atom(self.known(local)),
            Instance::Only(index) => atom(index.to_string()),
        }
    }

    /// The struct of an instance.
    pub fn instance(&self, instance: Instance, kind: KindId) -> C {
        let member = atom("stack").behind(&self.stack.names.kinds[kind.at()]);
        if self.stack.program.kinds[kind.at()].capacity > 1 {
            member.element(self.index(instance))
        } else {
            member
        }
    }

    /// Where a variable is kept.
    pub fn place(&self, variable: &Variable) -> C {
        self.beside(variable, "", "")
    }

    /// What stands beside a variable: `has_x`, `x_items`.
    pub fn beside(&self, variable: &Variable, before: &str, behind: &str) -> C {
        let called = |name: &str| format!("{before}{}{behind}", c_name(name));
        match variable {
            Variable::Field(instance, kind, field) => {
                let name = &self.stack.program.kinds[kind.at()].fields[field.at()].name;
                self.instance(*instance, *kind).member(called(name))
            }
            Variable::Local(local) => atom(format!("{before}{}{behind}", self.known(*local))),
            Variable::Part(record, of, field) => {
                let name = &self.stack.program.records[of.at()].fields[field.at()].name;
                self.place(record).member(called(name))
            }
            Variable::Element(array, index) => {
                let place = self.place(array);
                let place = match self.variable_type(array) {
                    Type::Bytes(_) => place.member("at"),
                    _ => place,
                };
                let element = place.element(self.stored(index));
                match (&self.variable_type(variable), before) {
                    (Type::Optional(_), "has_") => element.member("present"),
                    (Type::Optional(_), _) => element.member("value"),
                    _ => element,
                }
            }
        }
    }

    /// The type of a variable.
    pub fn variable_type(&self, variable: &Variable) -> Type {
        match variable {
            Variable::Field(_, kind, field) => self.stack.program.kinds[kind.at()].fields
                [field.at()]
            .kind
            .clone(),
            Variable::Local(local) => self.kind(*local).clone(),
            Variable::Part(_, record, field) => self.stack.program.records[record.at()].fields
                [field.at()]
            .kind
            .clone(),
            Variable::Element(array, _) => match self.variable_type(array) {
                Type::Array(item, _) => *item,
                _ => Type::Unsigned(8),
            },
        }
    }

    /// The constant that the key of an instance is, where it is one.
    pub fn constant_key(
        &self,
        instance: Instance,
        kind: KindId,
        key: usize,
        result: &Type,
    ) -> Option<Expression> {
        let own = &self.stack.program.kinds[kind.at()];
        let index = match (instance, own.capacity) {
            (Instance::Only(index), _) => index as usize,
            (_, 1) => 0,
            (Instance::Own | Instance::Entity | Instance::Local(_), _) => return None,
        };
        match &own.population {
            Population::Static(instances) => Some(Expression {
                kind: Box::new(ExpressionKind::Constant(instances[index].keys[key].clone())),
                result: result.clone(),
            }),
            Population::Labelled(_) | Population::Dynamic { .. } => None,
        }
    }
}
