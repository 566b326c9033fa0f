//! Functions of the host for a body that C defines: in, its interaction points and the variables of
//! its header; out, exports that look at the head of a queue, take it, output an interaction, and
//! read and set variables.
//!
//! ```text
//! body Terminal for Screen; external;        ip line: Link(user)
//!
//! NAME_terminal_line_head(stack, module)                the interaction at the head, or -1
//! NAME_terminal_line_get_show_text(stack, module)       its parameter
//! NAME_terminal_line_take(stack, module)                takes it
//! NAME_terminal_line_output_key(stack, module, code)    an output
//! ```

use super::super::code::argument::Passed;
use super::super::code::evaluate::Computed;
use super::super::code::place::Located;
use super::super::code::{Called, Code};
use super::super::sizes::points_of;
use super::super::{Fault, KERNEL, Lower, Which};
use super::values::{NUMBER, shape};
use crate::ir::interface::{Enum, EnumValue, Export, Named, Shape};
use crate::ir::op::{Arithmetic, Compare};
use crate::ir::{Op, Probability, Role, Type as Plain, Value};
use crate::types::estelle::program::{BodyId, ChannelId, Interaction, Points, Variable};

/// A function of the host for a body.
struct Offered {
    /// Its name behind that of the specification.
    name: String,
    /// Its parameters behind the module.
    parameters: Vec<Named>,
    /// Its result.
    gives: Gives,
    /// The function of an instance.
    does: Called,
}

/// The result of a function of the host for a body.
enum Gives {
    /// The number of an interaction; -1 if there is none.
    Interaction,
    /// 0, or minus the number of a fault.
    Done,
    /// A value; zero if there is none.
    Value(Shape),
}

/// The points of one declaration of an external body.
#[derive(Clone, Copy)]
struct At<'p> {
    body: BodyId,
    declared: &'p Points,
    /// The number of points of an instance before these.
    before: u32,
}

impl<'a> Lower<'a> {
    /// The exports for all external bodies.
    pub(in super::super) fn external_exports(&mut self) -> Vec<Export> {
        let program = self.program;
        let mut all = Vec::new();
        let mut channels: Vec<ChannelId> = Vec::new();
        for (at, body) in program.bodies.iter().enumerate() {
            let id = BodyId(at as u32);
            if !body.is_external {
                continue;
            }
            let own = self.contract.body(id).to_string();
            for (at, declared) in body.points.iter().enumerate() {
                if !channels.contains(&declared.channel) {
                    channels.push(declared.channel);
                }
                let before = points_of(&body.points[..at]);
                let point = At {
                    body: id,
                    declared,
                    before,
                };
                let name = format!("{own}_{}", declared.name.to_lowercase());
                all.extend(
                    self.of_points(&name, point)
                        .into_iter()
                        .map(|one| (id, one)),
                );
            }
            let of_variables = self.of_variables(&own, id).into_iter();
            all.extend(of_variables.map(|one| (id, one)));
        }
        channels.into_iter().for_each(|id| self.interactions(id));
        all.into_iter()
            .map(|(id, one)| self.export_of_body(id, one))
            .collect()
    }

    /// Names the interactions of a channel for C.
    fn interactions(&mut self, id: ChannelId) {
        let channel = &self.program.channels[id.index()];
        let values = channel.interactions.iter().enumerate();
        let values = values.map(|(number, one)| EnumValue {
            name: one.name.to_lowercase(),
            number: number as u64,
            digits: 0,
        });
        self.module.enums.push(Enum {
            name: channel.name.to_lowercase(),
            bits: 32,
            values: values.collect(),
        });
    }

    /// The functions for points.
    fn of_points(&mut self, name: &str, at: At<'a>) -> Vec<Offered> {
        let mut all = vec![
            self.offered_head(format!("{name}_head"), at),
            self.offered_take(format!("{name}_take"), at),
        ];
        let channel = &self.program.channels[at.declared.channel.index()];
        for (number, interaction) in channel.interactions.iter().enumerate() {
            let own = interaction.name.to_lowercase();
            if interaction.sent_by[1 - at.declared.role] {
                let name = format!("{name}_get_{own}");
                all.extend(self.offered_parameters(&name, at, (number, interaction)));
            }
            if interaction.sent_by[at.declared.role] {
                let name = format!("{name}_output_{own}");
                all.extend(self.offered_output(name, at, (number, interaction)));
            }
        }
        all
    }

    fn offered_head(&mut self, name: String, at: At<'_>) -> Offered {
        let (mut code, parameters) = self.for_point(&name, at, &[], vec![Plain::WORD]);
        let point = code.point_at(at);
        let none = code.build.block(&[]);
        let item = code.head(point, none);
        let what = code.kernel_load("interaction", &[item]);
        code.answer(&[what]);
        code.build.go_to(none);
        let none = code.word(-1);
        code.answer(&[none]);
        Offered {
            does: code.finish(),
            name,
            parameters,
            gives: Gives::Interaction,
        }
    }

    fn offered_take(&mut self, name: String, at: At<'_>) -> Offered {
        let (mut code, parameters) = self.for_point(&name, at, &[], Vec::new());
        let point = code.point_at(at);
        let none = code.build.block(&[]);
        code.head(point, none);
        code.kernel("take", &[point]);
        code.answer(&[]);
        code.build.go_to(none);
        let fault = code.word(Fault::Range.number());
        code.stops(fault);
        Offered {
            does: code.finish(),
            name,
            parameters,
            gives: Gives::Done,
        }
    }

    fn offered_output(
        &mut self,
        name: String,
        at: At<'_>,
        (number, interaction): (usize, &Interaction),
    ) -> Option<Offered> {
        let declared = self.crossing(&interaction.parameters, at, &interaction.name)?;
        let (mut code, parameters) = self.for_point(&name, at, &declared, Vec::new());
        let point = code.point_at(at);
        let first = at.declared.indices.len();
        let mut passed = Vec::new();
        for (place, parameter) in interaction.parameters.iter().enumerate() {
            let given = code.parameter(first + place);
            passed.push(Passed::Computed(code.checked(given, parameter.kind)));
        }
        code.send(point, None, (number, passed));
        code.answer(&[]);
        Some(Offered {
            does: code.finish(),
            name,
            parameters,
            gives: Gives::Done,
        })
    }

    /// The functions that read the parameters of an interaction at the head of a queue.
    fn offered_parameters(
        &mut self,
        name: &str,
        at: At<'_>,
        (number, interaction): (usize, &Interaction),
    ) -> Vec<Offered> {
        let Some(declared) = self.crossing(&interaction.parameters, at, &interaction.name) else {
            return Vec::new();
        };
        let mut all = Vec::new();
        for (place, one) in declared.iter().enumerate() {
            let name = format!("{name}_{}", one.name);
            let (mut code, parameters) = self.for_point(&name, at, &[], one.shape.parts());
            let point = code.point_at(at);
            let other = code.build.block(&[]);
            let item = code.head(point, other);
            let what = code.kernel_load("interaction", &[item]);
            let wanted = code.word(number as i64);
            let is_other = code.compare(Compare::Ne, what, wanted);
            code.goes_on_unless(is_other, other);
            let of = interaction.parameters[place].kind;
            let value = code.received(item, of, place);
            code.answer(&[value]);
            code.build.go_to(other);
            let zero = Op::zero(one.shape.parts()[0]).expect("it is a number");
            let zero = code.op(zero, &[]);
            code.answer(&[zero]);
            all.push(Offered {
                does: code.finish(),
                name,
                parameters,
                gives: Gives::Value(one.shape.clone()),
            });
        }
        all
    }

    /// The functions that read and set the variables of the header: its parameters, and what it
    /// exports. Those that are no numbers, booleans or characters have none.
    fn of_variables(&mut self, name: &str, id: BodyId) -> Vec<Offered> {
        let body = &self.program.bodies[id.index()];
        let mut all = Vec::new();
        for (at, variable) in body.variables.iter().enumerate() {
            let Some(shape) = shape(self.program, variable.kind) else {
                continue;
            };
            let own = variable.name.to_lowercase();
            let place = (Which::Specification, id);
            let get = format!("{name}_get_{own}");
            let mut code = Code::new(self, place, &get, &[], shape.parts());
            let from = code.of_header(id, at);
            let value = code.load(&from);
            let value = code.plain(value);
            code.answer(&[value]);
            all.push(Offered {
                does: code.finish(),
                name: get,
                parameters: Vec::new(),
                gives: Gives::Value(shape.clone()),
            });
            if self.export_of(Which::Specification, id, at).is_none() {
                continue;
            }
            let set = format!("{name}_set_{own}");
            let given = [(shape.parts()[0], "value")];
            let mut code = Code::new(self, place, &set, &given, Vec::new());
            let to = code.of_header(id, at);
            let value = code.parameter(0);
            let value = code.checked(value, variable.kind);
            code.store(&to, value);
            let own = code.own_number();
            code.kernel("wake_around", &[own]);
            code.answer(&[]);
            all.push(Offered {
                does: code.finish(),
                name: set,
                parameters: vec![Named {
                    name: "value".to_string(),
                    shape,
                }],
                gives: Gives::Done,
            });
        }
        all
    }

    /// Parameters that cross the border to C; none if one does not.
    fn crossing(&mut self, all: &[Variable], at: At<'_>, what: &str) -> Option<Vec<Named>> {
        let mut crossing = Vec::new();
        for one in all {
            let Some(shape) = shape(self.program, one.kind) else {
                let body = &self.program.bodies[at.body.index()].name;
                self.refuse(format!(
                    "the parameter `{}` of `{what}`, which is no number, boolean or character, at \
                     the point `{}` of the external body `{body}`",
                    one.name, at.declared.name
                ));
                return None;
            };
            crossing.push(Named {
                name: one.name.to_lowercase(),
                shape,
            });
        }
        Some(crossing)
    }

    /// Begins a function for points, whose first parameters are the indices of one.
    fn for_point(
        &mut self,
        name: &str,
        at: At<'_>,
        more: &[Named],
        results: Vec<Plain>,
    ) -> (Code<'_, 'a>, Vec<Named>) {
        let count = at.declared.indices.len();
        let mut all: Vec<Named> = (1..=count)
            .map(|number| Named {
                name: match count {
                    1 => "index".to_string(),
                    _several => format!("index_{number}"),
                },
                shape: NUMBER,
            })
            .collect();
        all.extend(more.iter().cloned());
        let own: Vec<(Plain, &str)> = all
            .iter()
            .map(|one| (one.shape.parts()[0], one.name.as_str()))
            .collect();
        let place = (Which::Specification, at.body);
        let code = Code::new(self, place, name, &own, results);
        (code, all)
    }

    /// The function that a program calls: it finds the instance, by its module number.
    fn export_of_body(&mut self, id: BodyId, offered: Offered) -> Export {
        let mut parameters = vec![Named {
            name: "module".to_string(),
            shape: NUMBER,
        }];
        parameters.extend(offered.parameters);
        let own: Vec<(Plain, &str)> = parameters
            .iter()
            .map(|one| (one.shape.parts()[0], one.name.as_str()))
            .collect();
        let (result, least) = match &offered.gives {
            Gives::Interaction => (NUMBER, Some(-1)),
            Gives::Done => (NUMBER, Some(-Fault::Range.number())),
            Gives::Value(shape) => (shape.clone(), None),
        };
        let of = result.parts()[0];
        let place = (Which::Kernel, KERNEL);
        let name = format!("{}.entry", offered.name);
        let mut code = Code::new(self, place, &name, &own, vec![of]);
        let wrong = match least {
            Some(number) => code.word(number),
            None => code.op(Op::zero(of).expect("it is a number"), &[]),
        };
        let instance = code.instance_of(id, wrong);
        let more = (1..parameters.len()).map(|at| code.parameter(at));
        let operands: Vec<Value> = std::iter::once(instance).chain(more).collect();
        let mut results = code.all(Op::Call(offered.does.function), &operands);
        if offered.does.fails {
            let number = results.remove(0);
            let zero = code.word(0);
            let is_fault = code.compare(Compare::Ne, number, zero);
            let (yes, no) = code.build.branch(is_fault, Probability(0));
            code.build.go_to(yes);
            let answer = match offered.gives {
                Gives::Done => code.arithmetic(Arithmetic::Sub, zero, number),
                Gives::Interaction | Gives::Value(_) => wrong,
            };
            code.answer(&[answer]);
            code.build.go_to(no);
        }
        let answer = results.pop().unwrap_or_else(|| code.word(0));
        code.answer(&[answer]);
        let called = code.finish();
        self.module.functions[called.function.at()].role = Role::Entry;
        Export {
            name: format!("{}_{}", self.module.name, offered.name),
            parameters,
            result: Some(result),
            calls: called.function,
        }
    }
}

impl Code<'_, '_> {
    /// The number of the point that the first parameters are the indices of.
    fn point_at(&mut self, at: At<'_>) -> Value {
        let mut flat = self.word(0);
        for (place, of) in at.declared.indices.iter().enumerate() {
            let given = self.parameter(place);
            let given = Computed::Ordinal(given, i32::MIN.into(), i32::MAX.into());
            let from_zero = self.index_of(given, *of);
            let (low, high) = self.program().bounds(*of).unwrap_or((0, 0));
            let length = self.word(high - low + 1);
            flat = self.arithmetic(Arithmetic::Mul, flat, length);
            flat = self.arithmetic(Arithmetic::Add, flat, from_zero);
        }
        let first = self.first_point();
        let before = self.word(at.before.into());
        let first = self.arithmetic(Arithmetic::Add, first, before);
        self.arithmetic(Arithmetic::Add, first, flat)
    }

    /// A variable of the header of this module.
    fn of_header(&mut self, id: BodyId, at: usize) -> Located {
        match self.lower.export_of(Which::Specification, id, at) {
            Some((header, export)) => {
                let number = self.own_number();
                self.exported_of(header, number, export)
            }
            None => {
                let own = self.own();
                self.variable_of(id, own, at)
            }
        }
    }

    /// The instance of a body that the first parameter is the number of; the function returns
    /// `wrong` if there is none.
    fn instance_of(&mut self, id: BodyId, wrong: Value) -> Value {
        let module = self.parameter(0);
        let first = self.lower.sizes.first_module[id.index()];
        let count = self.lower.sizes.instances[id.index()];
        let first = self.word(first.into());
        let index = self.arithmetic(Arithmetic::Sub, module, first);
        let count = self.word(count.into());
        let is_one = self.compare(Compare::Ult, index, count);
        let (some, none) = self.build.branch(is_one, Probability::ONE);
        self.build.go_to(some);
        let alive = self.kernel_load("alive", &[module]);
        let zero = self.word(0);
        let is_alive = self.compare(Compare::Ne, alive, zero);
        let (alive, dead) = self.build.branch(is_alive, Probability::ONE);
        for block in [none, dead] {
            self.build.go_to(block);
            self.answer(&[wrong]);
        }
        self.build.go_to(alive);
        let kind = self.lower.body_kind(Which::Specification, id);
        self.op(Op::At(kind), &[index])
    }
}
