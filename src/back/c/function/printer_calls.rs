//! Calls: functions of the module, loops, and functions in C.

use super::super::header::values::c_type;
use super::super::shapes::{given, told};
use super::super::{prototype, types};
use super::Printer;
use super::number::Number;
use super::value::{Given, Variable, constant};
use crate::c::tree::{Expression as C, Statement as S, assign, atom, binary, call, only_if};
use crate::ir::interface::{Given as Parameter, Home, Shape};
use crate::ir::op::{Arithmetic, Op, Place};
use crate::ir::{ForeignId, FunctionId, Stored, Type, Value};

impl Printer<'_> {
    /// A call of a function of the module.
    pub fn called(&mut self, id: FunctionId, operands: &[Value], out: &mut Vec<S>) -> C {
        let given = self.arguments(operands, out);
        self.call_with(id, given)
    }

    fn call_with(&self, id: FunctionId, mut given: Vec<C>) -> C {
        if prototype::yields(self.stack, id) {
            given.push(atom("words"));
        }
        prototype::called(self.stack, self.reach, id, given)
    }

    /// The only result of a call.
    pub fn result_of(&mut self, result: Value, called: C) -> Given {
        match self.function.type_of(result) {
            Type::Int(bits) => Given::Number(Number::local(bits, called)),
            Type::Instance(_) => Given::Number(Number::word(called)),
            Type::Bytes(_) | Type::Float(_) | Type::Opaque(_) => Given::Plain(called),
            other => panic!("a call does not simply give a {other}"),
        }
    }

    /// A call at its place.
    pub fn call_for_effect(
        &mut self,
        id: FunctionId,
        (operands, results): (&[Value], &[Value]),
        out: &mut Vec<S>,
    ) {
        let is_used = results.iter().any(|result| self.plan.is_used(*result));
        let does_nothing = self.stack.effects[id.at()].are_none();
        if !is_used && does_nothing {
            return;
        }
        let called = self.called(id, operands, out);
        self.keep_results(id, called, results, out);
    }

    /// The results of a call get names.
    pub fn keep_results(&mut self, id: FunctionId, called: C, results: &[Value], out: &mut Vec<S>) {
        let types = &self.stack.module.function(id).results;
        if !results.iter().any(|result| self.plan.is_used(*result)) {
            out.push(S::Do(called));
            return;
        }
        match results {
            [only] if !prototype::returns_struct(types) => match types[0] {
                Type::Message => {
                    let name = self.name(*only, "message");
                    out.push(S::Declare {
                        kind: types::local(self.stack, Type::Message),
                        name: name.clone(),
                        value: Some(called),
                    });
                    self.hold(*only, Given::Message(Variable::own(&name)));
                }
                _plain => {
                    let given = self.result_of(*only, called);
                    self.bind(*only, given, "found", out);
                }
            },
            several => {
                let kind = prototype::result(self.stack, id);
                let found = self.keep("found", &kind, called, out);
                for (at, result) in several.iter().enumerate() {
                    let part = found.clone().member(format!("r{at}"));
                    let given = match self.function.type_of(*result) {
                        Type::Int(bits) => Given::Number(Number::local(bits, part)),
                        Type::Instance(_) => Given::Number(Number::word(part)),
                        Type::Bytes(_) | Type::Float(_) | Type::Opaque(_) => Given::Plain(part),
                        Type::View => Given::View {
                            length: found.clone().member(format!("r{at}_length")),
                            data: part,
                        },
                        Type::Message => {
                            let name = self.name(*result, "message");
                            out.push(S::Declare {
                                kind: types::local(self.stack, Type::Message),
                                name: name.clone(),
                                value: Some(part),
                            });
                            Given::Message(Variable::own(&name))
                        }
                    };
                    self.hold(*result, given);
                }
            }
        }
    }

    /// A loop: a function is called for each turn, which says whether to go on.
    pub fn turns(
        &mut self,
        body: FunctionId,
        most: u32,
        (operands, results): (&[Value], &[Value]),
        out: &mut Vec<S>,
    ) {
        let count = self.settled(operands[0], "count", out);
        let captured = operands.len() - results.len();
        let mut given = Vec::new();
        for operand in &operands[1..captured] {
            given.extend(self.settled_value(*operand, out).arguments());
        }
        let mut carried = Vec::new();
        for (operand, result) in operands[captured..].iter().zip(results) {
            carried.push(self.carried(*operand, *result, out));
        }
        let turn = self.local("turn");
        let mut all = vec![atom(&turn)];
        all.extend(given);
        all.extend(carried.iter().flat_map(|one| one.clone().arguments()));
        let called = self.call_with(body, all);
        let mut inside = Vec::new();
        let types = self.stack.module.function(body).results.clone();
        let goes_on = match prototype::returns_struct(&types) {
            false => called,
            true => {
                let kind = prototype::result(self.stack, body);
                let went = self.local("went");
                inside.push(constant(&kind, &went, called));
                for (at, held) in carried.iter().enumerate() {
                    let part = atom(&went).member(format!("r{}", at + 1));
                    inside.extend(next_turn(held, part));
                }
                atom(went).member("r0")
            }
        };
        inside.push(only_if(goes_on.negated(), vec![S::Break]));
        let below = |limit: C| binary("<", atom(&turn), limit);
        let condition = match count.constant() {
            Some(0) => return,
            Some(count) => below(atom(count.min(u64::from(most)).to_string())),
            None if self.is_at_most(operands[0], most) => below(count.code),
            None => binary("&&", below(count.code), below(atom(most.to_string()))),
        };
        out.push(S::For {
            start: format!("uint32_t {turn} = 0"),
            condition,
            step: format!("{turn}++"),
            body: inside,
        });
    }

    /// Returns true for the least of a value and a constant that is at most so much.
    fn is_at_most(&self, value: Value, most: u32) -> bool {
        let is_small = |number: u64| number <= u64::from(most);
        self.definitions
            .get(value)
            .is_some_and(|one| match &one.op {
                Op::ZeroExtend(_) => self.is_at_most(one.operands[0], most),
                Op::Arithmetic(Arithmetic::Umin) => {
                    let mut operands = one.operands.iter();
                    operands.any(|one| self.definitions.constant(*one).is_some_and(is_small))
                }
                _other => false,
            })
    }

    /// A value that each turn is given, computed once.
    fn settled_value(&mut self, value: Value, out: &mut Vec<S>) -> Given {
        match self.function.type_of(value) {
            Type::Int(_) => Given::Number(self.settled(value, "given", out)),
            Type::View => {
                let (data, length) = self.view(value, out);
                let data = self.keep_pointer("bytes", data, out);
                let length = match length {
                    C::Atom(_) => length,
                    length => self.keep("length", "uint32_t", length, out),
                };
                Given::View { data, length }
            }
            of @ Type::Bytes(_) => {
                let code = self.bytes(value, out);
                let kind = types::local(self.stack, of);
                Given::Plain(match code {
                    C::Atom(_) => code,
                    code => self.keep("bytes", &kind, code, out),
                })
            }
            _other => self.value(value, out),
        }
    }

    fn keep_pointer(&mut self, wanted: &str, data: C, out: &mut Vec<S>) -> C {
        if let C::Atom(_) = data {
            return data;
        }
        let name = self.local(wanted);
        out.push(S::Declare {
            kind: "const uint8_t *const".to_string(),
            name: name.clone(),
            value: Some(data),
        });
        atom(name)
    }

    /// A variable for what is carried from turn to turn. A message goes on in its own.
    fn carried(&mut self, operand: Value, result: Value, out: &mut Vec<S>) -> Given {
        let held = self.value(operand, out);
        if let Given::Message(_) = held {
            self.hold(result, held.clone());
            return held;
        }
        let of = self.function.type_of(result);
        let name = self.name(result, "carried");
        let declare = |kind: &str, name: &str, value: C| S::Declare {
            kind: kind.to_string(),
            name: name.to_string(),
            value: Some(value),
        };
        let kind = types::local(self.stack, of);
        let given = match held {
            Given::Number(number) => {
                out.push(declare(&kind, &name, number.code));
                match of {
                    Type::Int(bits) => Given::Number(Number::local(bits, atom(name))),
                    _instance => Given::Number(Number::word(atom(name))),
                }
            }
            Given::Plain(code) => {
                out.push(declare(&kind, &name, code));
                Given::Plain(atom(name))
            }
            Given::View { data, length } => {
                let own = self.local(&format!("{name}_length"));
                out.push(declare(&kind, &name, data));
                out.push(declare("uint32_t", &own, length));
                Given::View {
                    data: atom(name),
                    length: atom(own),
                }
            }
            Given::Message(_) => unreachable!("it goes on in its own variable"),
        };
        self.hold(result, given.clone());
        given
    }
}

/// The variables of what is carried get what a turn has given.
fn next_turn(held: &Given, part: C) -> Vec<S> {
    match held {
        Given::Number(number) => vec![assign(number.code.clone(), part)],
        Given::Plain(place) => vec![assign(place.clone(), part)],
        Given::Message(variable) => vec![assign(variable.whole(), part)],
        Given::View { data, length } => {
            let C::Member(from, name) = &part else {
                unreachable!("a turn gives a struct");
            };
            let own = C::Member(from.clone(), format!("{name}_length"));
            vec![
                assign(data.clone(), part.clone()),
                assign(length.clone(), own),
            ]
        }
    }
}

impl Printer<'_> {
    /// Calls a function in C.
    pub fn foreign(
        &mut self,
        id: ForeignId,
        places: &[Place],
        (operands, results): (&[Value], &[Value]),
        out: &mut Vec<S>,
    ) {
        let stack = self.stack;
        let foreign = &stack.module.foreigns[id.0 as usize];
        let mut all = Vec::new();
        if foreign.home.is_host() {
            all.push(stack.user.clone());
        }
        if foreign.home == Home::Reentrant {
            all.push(atom("stack"));
        }
        let mut rest = operands;
        let mut places = places.iter();
        let mut changed = Vec::new();
        for (_, parameter) in &foreign.parameters {
            let place = match parameter {
                Parameter::State(_) => places.next().copied(),
                Parameter::Value(_)
                | Parameter::Data
                | Parameter::Rewritten
                | Parameter::Changed(_) => None,
            };
            let count = match (parameter, place) {
                (Parameter::Value(shape) | Parameter::Changed(shape), _) => shape.parts().len(),
                (_, Some(place)) => {
                    1 + stack.module.field(place.kind, place.field).dimensions.len()
                }
                _data => 1,
            };
            let (own, others) = rest.split_at(count);
            rest = others;
            all.extend(match parameter {
                Parameter::Changed(shape) => vec![self.changed(shape, own, &mut changed, out)],
                _unchanged => self.handed(parameter, place, own, out),
            });
        }
        let name = stack.names.foreigns[id.0 as usize].clone();
        let (own, others) = results.split_at(results.len() - changed.len());
        match (foreign.home, &foreign.result) {
            (Home::Constant, Some(shape)) => {
                let parts = given(stack, shape, "", &|_| atom(name.clone()));
                self.bind_all(own, parts, out);
            }
            (_, result) => self.received(result.as_ref(), (name, all), own, out),
        }
        self.bind_all(others, changed, out);
    }

    /// A value that a function in C may change: a variable, whose address it is given.
    fn changed(
        &mut self,
        shape: &Shape,
        operands: &[Value],
        changed: &mut Vec<C>,
        out: &mut Vec<S>,
    ) -> C {
        let name = self.local("changed");
        let value = self.handed(&Parameter::Value(shape.clone()), None, operands, out);
        out.push(S::Declare {
            kind: c_type(self.stack, shape),
            name: name.clone(),
            value: value.into_iter().next(),
        });
        changed.extend(given(self.stack, shape, "", &|_| atom(name.clone())));
        atom(name).address()
    }

    fn handed(
        &mut self,
        parameter: &Parameter,
        place: Option<Place>,
        operands: &[Value],
        out: &mut Vec<S>,
    ) -> Vec<C> {
        match (parameter, place) {
            (Parameter::Value(shape), _) => {
                let parts: Vec<C> = operands
                    .iter()
                    .map(|part| match self.value(*part, out) {
                        Given::Number(number) => number.code,
                        held => held.stored(self.function.type_of(*part)),
                    })
                    .collect();
                let members = told(self.stack, shape, "given", &mut parts.into_iter());
                members.into_iter().map(|(_, code)| code).collect()
            }
            (Parameter::Rewritten, _) => {
                let message = self.message(operands[0]);
                vec![message.member("data"), message.member("length")]
            }
            (_, Some(place)) => {
                let code = self.field(place, operands, out);
                let stored = &self.stack.module.field(place.kind, place.field).stored;
                let is_text = matches!(stored, Stored::Value(Type::Opaque(of))
                    if self.stack.module.opaques[of.at()].room.is_some());
                // A text is where it begins.
                vec![if is_text { code } else { code.address() }]
            }
            _data => {
                let (data, length) = self.view(operands[0], out);
                vec![data, length]
            }
        }
    }

    /// Calls a function in C, and returns the parts of its result.
    fn received(
        &mut self,
        result: Option<&Shape>,
        (name, mut given_to): (String, Vec<C>),
        results: &[Value],
        out: &mut Vec<S>,
    ) {
        let is_used = results.iter().any(|one| self.plan.is_used(*one));
        let parts = match result {
            Some(shape @ Shape::Optional(inner)) => {
                let found = self.local("found");
                let has = self.local("has_found");
                let kind = c_type(self.stack, inner);
                out.push(S::Declare {
                    kind,
                    name: found.clone(),
                    value: Some(atom("{0}")),
                });
                given_to.push(atom(&found).address());
                out.push(constant("bool", &has, call(name, given_to)));
                let place = |member: &str| match member {
                    "found" => atom(&found),
                    _has => atom(&has),
                };
                if !is_used {
                    out.push(S::Do(atom(&has).cast("void")));
                }
                given(self.stack, shape, "found", &place)
            }
            Some(shape) if is_used => {
                let kind = c_type(self.stack, shape);
                let found = self.keep("found", &kind, call(name, given_to), out);
                given(self.stack, shape, "found", &|_| found.clone())
            }
            _nothing => {
                out.push(S::Do(call(name, given_to)));
                return;
            }
        };
        self.bind_all(results, parts, out);
    }

    /// Gives names to values by their parts.
    fn bind_all(&mut self, results: &[Value], parts: Vec<C>, out: &mut Vec<S>) {
        for (result, part) in results.iter().zip(parts) {
            let held = match self.function.type_of(*result) {
                Type::Int(bits) => Given::Number(Number::local(bits, part)),
                _bytes => Given::Plain(part),
            };
            self.bind(*result, held, "found", out);
        }
    }
}
