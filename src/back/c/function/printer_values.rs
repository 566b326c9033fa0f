//! Values: in, one of the function; out, what holds it, computed in place or under a name.

use super::super::{containers, types};
use super::Printer;
use super::number::{Kind, Number};
use super::plan::Standing;
use super::value::{Given, Variable, constant};
use crate::c::tree::{Expression as C, Statement as S, atom, call};
use crate::ir::{Edge, KindId, Op, Type, Value};

impl Printer<'_> {
    /// The value; one that stands in place is computed here.
    pub fn value(&mut self, value: Value, out: &mut Vec<S>) -> Given {
        let value = self.plan.of_same(value);
        if let Some(given) = &self.given[value.at()] {
            return given.clone();
        }
        let instruction = self.definition(value);
        let given = self.computed(instruction, out);
        given.expect("an operation with one result gives it")
    }

    /// A number.
    pub fn number(&mut self, value: Value, out: &mut Vec<S>) -> Number {
        match self.value(value, out) {
            Given::Number(number) => number,
            other => panic!("{value:?} is no number: {other:?}"),
        }
    }

    /// A number, as C.
    pub fn code(&mut self, value: Value, out: &mut Vec<S>) -> C {
        self.number(value, out).code
    }

    /// A number that may stand in an expression several times.
    pub fn settled(&mut self, value: Value, name: &str, out: &mut Vec<S>) -> Number {
        let number = self.number(value, out);
        match &number.code {
            C::Atom(_) => number,
            _ => {
                let Type::Int(bits) = self.function.type_of(value) else {
                    return number;
                };
                let own = self.local(name);
                let kind = types::local(self.stack, Type::Int(bits));
                out.push(constant(&kind, &own, number.code));
                Number::local(bits, atom(own))
            }
        }
    }

    /// Bytes.
    pub fn bytes(&mut self, value: Value, out: &mut Vec<S>) -> C {
        self.plain(value, out)
    }

    /// Bytes, a number with a fraction, or a value of an opaque type.
    pub fn plain(&mut self, value: Value, out: &mut Vec<S>) -> C {
        match self.value(value, out) {
            Given::Plain(code) => code,
            other => panic!("{value:?} is no plain value of C: {other:?}"),
        }
    }

    /// A view: its first byte, and how many there are.
    pub fn view(&mut self, value: Value, out: &mut Vec<S>) -> (C, C) {
        match self.value(value, out) {
            Given::View { data, length } => (data, length),
            other => panic!("{value:?} is no view: {other:?}"),
        }
    }

    /// The variable of a message.
    pub fn message(&mut self, value: Value) -> Variable {
        match &self.given[self.plan.of_same(value).at()] {
            Some(Given::Message(variable)) => variable.clone(),
            other => panic!("{value:?} is no message: {other:?}"),
        }
    }

    /// The index of an instance.
    pub fn instance(&mut self, value: Value, out: &mut Vec<S>) -> C {
        self.code(value, out)
    }

    /// The struct of an instance. One that is looked at several times has a pointer, which is
    /// computed where a scope of C first looks at it.
    pub fn instance_of(&mut self, kind: KindId, instance: Value, out: &mut Vec<S>) -> C {
        let index = self.number(instance, out);
        let is_fixed = index.constant().is_some() || self.stack.names.kinds[kind.at()].is_only;
        let own = (self.plan.of_same(instance), kind);
        if is_fixed || self.plan.looks[own.0.at()] < 2 {
            let index = match index.code {
                code @ C::Atom(_) => code,
                code => self.keep("index", "uint32_t", code, out),
            };
            return containers::instance(self.stack, kind, index);
        }
        let known = self.pointers.iter().rev().find_map(|all| all.get(&own));
        if let Some(pointer) = known {
            return atom(pointer).dereferenced();
        }
        let name = self.local("self");
        let struct_name = self.stack.names.kind(kind);
        out.push(S::Declare {
            kind: format!("struct {struct_name} *const"),
            name: name.clone(),
            value: Some(call(
                format!("at_{struct_name}"),
                vec![atom("stack"), index.code],
            )),
        });
        let scope = self.pointers.last_mut();
        let scope = scope.expect("a block is printed");
        scope.insert(own, name.clone());
        atom(name).dereferenced()
    }

    /// From here on this holds a value.
    pub fn hold(&mut self, value: Value, given: Given) {
        let value = self.plan.of_same(value);
        self.given[value.at()] = Some(given);
    }

    /// Gives a value a name where it is computed, unless nobody uses it.
    pub fn bind(&mut self, value: Value, given: Given, word: &str, out: &mut Vec<S>) {
        if !self.plan.is_used(value) {
            return;
        }
        let of = self.function.type_of(value);
        let held = match given {
            Given::Number(Number {
                kind: Kind::Literal(_),
                ..
            })
            | Given::Message(_) => given,
            Given::Number(number) if matches!(number.code, C::Atom(_)) => Given::Number(number),
            Given::Number(number) => {
                let name = self.name(value, word);
                out.push(constant(&types::local(self.stack, of), &name, number.code));
                match of {
                    Type::Int(bits) => Given::Number(Number::local(bits, atom(name))),
                    _ => Given::Number(Number::word(atom(name))),
                }
            }
            Given::Plain(C::Atom(name)) => Given::Plain(C::Atom(name)),
            Given::Plain(code) => {
                let name = self.name(value, word);
                out.push(constant(&types::local(self.stack, of), &name, code));
                Given::Plain(atom(name))
            }
            Given::View { data, length } => {
                let name = self.name(value, word);
                let length_name = self.local(&format!("{name}_length"));
                out.push(S::Declare {
                    kind: "const uint8_t *const".to_string(),
                    name: name.clone(),
                    value: Some(data),
                });
                let length = match length {
                    C::Atom(_) => length,
                    length if self.asks_length(value) => {
                        out.push(constant("uint32_t", &length_name, length));
                        atom(length_name)
                    }
                    length => length,
                };
                let data = atom(name);
                Given::View { data, length }
            }
        };
        self.hold(value, held);
    }

    /// A value in a variable that is only declared: each edge to a join sets it.
    pub fn declare(&mut self, value: Value, word: &str, out: &mut Vec<S>) {
        if !self.plan.is_used(value) && self.function.type_of(value) != Type::Message {
            return;
        }
        let of = self.function.type_of(value);
        let name = self.name(value, word);
        let declared = |kind: String, name: &str| S::Declare {
            kind,
            name: name.to_string(),
            value: None,
        };
        out.push(declared(types::local(self.stack, of), &name));
        let held = match of {
            Type::Int(bits) => Given::Number(Number::local(bits, atom(name))),
            Type::Instance(_) => Given::Number(Number::word(atom(name))),
            Type::Bytes(_) | Type::Float(_) | Type::Opaque(_) => Given::Plain(atom(name)),
            Type::Message => Given::Message(Variable::own(&name)),
            Type::View if !self.asks_length(value) => Given::View {
                data: atom(name),
                length: unasked(),
            },
            Type::View => {
                let length = self.local(&format!("{name}_length"));
                out.push(declared("uint32_t".to_string(), &length));
                Given::View {
                    data: atom(name),
                    length: atom(length),
                }
            }
        };
        self.hold(value, held);
    }

    /// A view's length is looked at, or the view is handed on.
    fn asks_length(&self, view: Value) -> bool {
        let view = self.plan.of_same(view);
        let same = |value: &Value| self.plan.of_same(*value) == view;
        let is_data_alone = |op: &Op| {
            matches!(
                op,
                Op::Read(_) | Op::ReadBytes(_) | Op::ReadPart(_) | Op::SubView | Op::Run(..)
            )
        };
        let mut instructions = self.function.instructions();
        let asks = instructions.any(|one| !is_data_alone(&one.op) && one.operands.iter().any(same));
        let mut ends = self.function.blocks.iter();
        asks || ends.any(|block| {
            let nested = |edge: &&Edge| self.plan.standing[edge.block.at()] == Standing::Nested;
            let edges = block.terminator.edges().into_iter();
            let mut given = edges
                .filter(|edge| !nested(edge))
                .flat_map(|edge| &edge.arguments);
            block.terminator.operands().iter().any(same) || given.any(same)
        })
    }
}

/// The length of a view that nobody asks for.
pub fn unasked() -> C {
    atom("SL_NONE")
}
