//! Statements of Estelle: modules that begin and end, links, outputs.
//!
//! Each calls the kernel (`kernel.stl`), which knows modules by their module numbers and points by
//! their point numbers.

use super::super::Fault;
use super::super::memory::{bounds, is_boolean};
use super::super::sizes::{points_of, variables_of};
use super::Code;
use super::argument::Passed;
use super::evaluate::{Computed, DONE};
use crate::ir::op::{Arithmetic, Compare};
use crate::ir::{Op, Probability, Region, Value};
use crate::types::estelle::program::{
    BodyId, Expression, ExpressionKind, FrameId, HeaderId, ModuleReference, PointReference,
    ReferenceVariable, Root, StatementKind as Kind, Type, TypeId,
};

impl Code<'_, '_> {
    /// Does a statement of Estelle.
    pub fn structure(&mut self, kind: &Kind) {
        match kind {
            Kind::Init(module, body, arguments) => self.init(module, *body, arguments),
            Kind::Release(module) => {
                let number = self.module(module);
                let fault = self.kernel("release_module", &[number]);
                self.fails_with(fault[0]);
            }
            Kind::Terminate(module) => {
                let number = self.module(module);
                self.kernel("remove_all", &[number]);
            }
            Kind::Connect(one, other) => self.linked("connect_points", one, other),
            Kind::Attach(one, other) => self.linked("attach_points", one, other),
            Kind::DisconnectPoint(point) => {
                let number = self.point(point);
                self.kernel("disconnect_point", &[number]);
            }
            Kind::DetachPoint(point) => {
                let number = self.point(point);
                let function = match point.module {
                    Some(_) => "detach_inner",
                    None => "detach_point",
                };
                let fault = self.kernel(function, &[number]);
                self.fails_with(fault[0]);
            }
            Kind::DisconnectModule(module) => {
                let number = self.module(module);
                self.kernel("disconnect_module", &[number]);
            }
            Kind::DetachModule(module) => {
                let number = self.module(module);
                let fault = self.kernel("detach_module", &[number]);
                self.fails_with(fault[0]);
            }
            Kind::Output(point, interaction, arguments) => {
                self.output(point, *interaction, arguments);
            }
            Kind::Assign(..)
            | Kind::Call(..)
            | Kind::If(..)
            | Kind::Case(..)
            | Kind::While(..)
            | Kind::Repeat(..)
            | Kind::For { .. }
            | Kind::With(..)
            | Kind::All(..)
            | Kind::ForOne { .. } => unreachable!("Pascal has these statements"),
        }
    }

    fn linked(&mut self, function: &str, one: &PointReference, other: &PointReference) {
        let numbers = [self.point(one), self.point(other)];
        let fault = self.kernel(function, &numbers);
        self.fails_with(fault[0]);
    }

    /// The module number of a child; a fault if the variable refers to none.
    pub fn module(&mut self, module: &ModuleReference) -> Value {
        match &module.variable {
            ReferenceVariable::Bound(frame, local) => {
                let field = self.lower.bound_module(self.which, *frame, *local);
                self.load_local(field)
            }
            ReferenceVariable::Variable(variable, indices) => {
                let (at, element) = self.module_variable(*variable, indices);
                let number = self.op(Op::Load(at.0), &at.1);
                let one = self.word(1);
                let number = self.arithmetic(Arithmetic::Sub, number, one);
                let zero = self.word(0);
                let is_none = self.compare(Compare::Slt, number, zero);
                self.fails_if(is_none, Fault::UndefinedModule);
                let named = self.kernel_load("named", &[number]);
                let is_other = self.compare(Compare::Ne, named, element);
                self.fails_if(is_other, Fault::UndefinedModule);
                number
            }
        }
    }

    /// The field of a module variable, with its operands; and the number of the variable among all.
    fn module_variable(
        &mut self,
        variable: usize,
        indices: &[Expression],
    ) -> ((Region, Vec<Value>), Value) {
        let declared = &self.program().bodies[self.body.index()].module_variables[variable];
        let types = declared.indices.clone();
        let flat = self.flat(indices, &types);
        let [field, _] = self.lower.module_fields(self.body, variable);
        let kind = self.lower.body_kind(self.which, self.body);
        let own = self.own();
        let each = self.lower.sizes.variables[self.body.index()];
        let all = &self.program().bodies[self.body.index()].module_variables;
        let before = variables_of(&all[..variable]);
        let first = self.lower.sizes.first_variable[self.body.index()];
        let index = self.op(Op::Index, &[own]);
        let each = self.word(each.into());
        let number = self.arithmetic(Arithmetic::Mul, index, each);
        let base = self.word(i64::from(first) + i64::from(before));
        let number = self.arithmetic(Arithmetic::Add, number, base);
        let number = self.arithmetic(Arithmetic::Add, number, flat);
        ((Region::Field(kind, field), vec![own, flat]), number)
    }

    /// One number for several indices: row-major, from 0.
    fn flat(&mut self, indices: &[Expression], types: &[TypeId]) -> Value {
        let mut flat = self.word(0);
        for (index, of) in indices.iter().zip(types) {
            let value = self.value(index);
            let from_zero = self.index_of(value, *of);
            let (low, high) = bounds(self.program(), *of);
            let length = self.word(high - low + 1);
            flat = self.arithmetic(Arithmetic::Mul, flat, length);
            flat = self.arithmetic(Arithmetic::Add, flat, from_zero);
        }
        flat
    }

    /// The point number of an interaction point, of this module or of a child.
    pub fn point(&mut self, point: &PointReference) -> Value {
        let program = self.program();
        let declared = match &point.module {
            None => &program.bodies[self.body.index()].points,
            Some(module) => &program.headers[module.header.index()].points,
        };
        let types = declared[point.points].indices.clone();
        let before = points_of(&declared[..point.points]);
        let first = match &point.module {
            None => self.first_point(),
            Some(module) => {
                let number = self.module(module);
                self.kernel_load("first_point", &[number])
            }
        };
        let flat = self.flat(&point.indices, &types);
        let before = self.word(before.into());
        let sum = self.arithmetic(Arithmetic::Add, first, before);
        self.arithmetic(Arithmetic::Add, sum, flat)
    }

    /// The point number of a point of this module, if it is always the same.
    fn known_point(&self, point: &PointReference) -> Option<u32> {
        let only = self.only.filter(|_| point.module.is_none())?;
        let declared = &self.program().bodies[self.body.index()].points;
        let mut flat = 0;
        for (index, of) in point.indices.iter().zip(&declared[point.points].indices) {
            let number = match &index.kind {
                ExpressionKind::Ordinal(number) => *number,
                ExpressionKind::Read(place) => match (&place.root, place.steps.is_empty()) {
                    (Root::Local(frame, at), true) => *self.fixed.get(&(*frame, *at))?,
                    _other => return None,
                },
                _computed => return None,
            };
            let (low, high) = bounds(self.program(), *of);
            flat = flat * (high - low + 1) + (number - low);
            if !(low..=high).contains(&number) {
                return None;
            }
        }
        let sizes = &self.lower.sizes;
        let own = sizes.first_point[self.body.index()] + only * sizes.points[self.body.index()];
        Some(own + points_of(&declared[..point.points]) + u32::try_from(flat).ok()?)
    }

    /// The number of the first point of this instance.
    pub fn first_point(&mut self) -> Value {
        let own = self.own();
        let index = self.op(Op::Index, &[own]);
        let each = self.lower.sizes.points[self.body.index()];
        let first = self.lower.sizes.first_point[self.body.index()];
        let each = self.word(each.into());
        let first = self.word(first.into());
        let number = self.arithmetic(Arithmetic::Mul, index, each);
        self.arithmetic(Arithmetic::Add, number, first)
    }

    fn init(&mut self, module: &ModuleReference, body: BodyId, arguments: &[Expression]) {
        let ReferenceVariable::Variable(variable, indices) = &module.variable else {
            unreachable!("the checker demands a module variable");
        };
        let (at, element) = self.module_variable(*variable, indices);
        let parameters = self.program().bodies[body.index()].variables.iter();
        let types: Vec<TypeId> = parameters.map(|one| one.kind).collect();
        let passed = self.passed(arguments, &types);
        let sizes = &self.lower.sizes;
        let (first, count) = (
            sizes.first_module[body.index()],
            sizes.instances[body.index()],
        );
        let [first, count] = [first, count].map(|one| self.word(one.into()));
        let mother = self.own_number();
        let number = self.kernel("create", &[first, count, mother])[0];
        let is_full = self.is_kernel_number(number, "no_module");
        self.fails_if(is_full, Fault::PoolFull);
        let index = self.arithmetic(Arithmetic::Sub, number, first);
        let kind = self.lower.body_kind(self.which, body);
        let instance = self.op(Op::At(kind), &[index]);
        self.fresh(body, (instance, number));
        for (at, value) in passed.into_iter().enumerate() {
            let to = self.variable_of(body, instance, at);
            self.keep(&to, value);
        }
        // A module to which the variable referred lives on without a name.
        let before = self.op(Op::Load(at.0), &at.1);
        let one = self.word(1);
        let before = self.arithmetic(Arithmetic::Sub, before, one);
        let no_module = self.kernel_number("no_module");
        let before = self.arithmetic(Arithmetic::Umin, before, no_module);
        self.kernel("forget", &[before, element]);
        let kept = self.arithmetic(Arithmetic::Add, number, one);
        let mut operands = at.1.clone();
        operands.push(kept);
        self.all(Op::Store(at.0), &operands);
        self.kernel_store("named", &[number], element);
        self.origin(number, *variable, &at.1);
        let begin = self.lower.begin(body);
        let results = self.all(Op::Call(begin.function), &[instance]);
        if begin.fails {
            self.fails_with(results[0]);
        }
    }

    /// Notes by which module variable a module was initialised, and how many were before it.
    fn origin(&mut self, number: Value, variable: usize, place: &[Value]) {
        let declared = &self.program().bodies[self.body.index()].module_variables;
        let first = self.word(variables_of(&declared[..variable]).into());
        let made_by = self.arithmetic(Arithmetic::Add, first, place[1]);
        self.kernel_store("made_by", &[number], made_by);
        let [_, counted] = self.lower.module_fields(self.body, variable);
        let region = Region::Field(self.lower.body_kind(self.which, self.body), counted);
        let before = self.op(Op::Load(region), place);
        let one = self.word(1);
        let generation = self.arithmetic(Arithmetic::Add, before, one);
        self.all(Op::Store(region), &[place, &[generation]].concat());
        self.kernel_store("generation", &[number], generation);
    }

    fn output(&mut self, point: &PointReference, interaction: usize, arguments: &[Expression]) {
        let number = self.point(point);
        let types = self.parameters(point, interaction);
        let passed = self.passed(arguments, &types);
        let known = self.known_point(point);
        let known = known.and_then(|point| self.lower.fixed.targets.get(point as usize));
        let known = known.copied();
        self.send(number, known, (interaction, passed));
    }

    /// Appends an interaction where an output of a point arrives, which may be known.
    pub fn send(
        &mut self,
        number: Value,
        known: Option<u32>,
        (interaction, passed): (usize, Vec<Passed>),
    ) {
        let known = known.map(|far| (far, self.lower.sizes.owner(far)));
        let far = match known {
            Some((far, _)) => self.word(i64::from(far)),
            None => self.kernel_load("target", &[number]),
        };
        let is_lost = self.is_kernel_number(far, "no_point");
        let (lost, kept) = self.build.branch(is_lost, Probability(10_000));
        let behind = self.build.block(&[]);
        self.build.go_to(lost);
        let fault = self.kernel("lose", &[number])[0];
        self.fails_with(fault);
        self.jump(behind);
        self.build.go_to(kept);
        let what = self.word(interaction as i64);
        let owner = match known {
            Some((_, owner)) => self.word(i64::from(owner)),
            None => self.kernel_load("owner", &[far]),
        };
        let item = self.kernel("append", &[far, owner, what])[0];
        let is_full = self.is_kernel_number(item, "no_item");
        self.fails_if(is_full, Fault::QueueFull);
        let mut first = 0;
        for one in passed {
            first = self.fill(item, first, one);
        }
        self.jump(behind);
        self.build.go_to(behind);
    }

    /// The types of the parameters of an interaction at a point.
    fn parameters(&self, point: &PointReference, interaction: usize) -> Vec<TypeId> {
        let program = self.program();
        let declared = match &point.module {
            None => &program.bodies[self.body.index()].points,
            Some(module) => &program.headers[module.header.index()].points,
        };
        let channel = &program.channels[declared[point.points].channel.index()];
        let parameters = channel.interactions[interaction].parameters.iter();
        parameters.map(|one| one.kind).collect()
    }

    /// Runs code for each child of this module with a header, in the order of their beginnings.
    pub fn each_child(
        &mut self,
        (frame, local): (FrameId, usize),
        header: HeaderId,
        does: &mut dyn FnMut(&mut Code<'_, '_>),
    ) -> Option<Value> {
        let own = self.own_number();
        let next = self.lower.scratch(self.which, "next");
        let child = self.kernel_load("first_child", &[own]);
        self.store_local(next, child);
        let most = self.lower.sizes.all_modules;
        let count = self.word(most.into());
        let bound = self.lower.bound_module(self.which, frame, local);
        let (first, length) = (
            self.lower.sizes.first_of_header[header.index()],
            self.lower.sizes.count_of_header[header.index()],
        );
        let stopped = self.turns((count, most), 0, &[], |code, _, _| {
            let child = code.load_local(next);
            let is_end = code.is_kernel_number(child, "no_module");
            let (end, goes_on) = code.build.branch(is_end, Probability::EVEN);
            code.build.go_to(end);
            let done = code.word(DONE);
            code.stops(done);
            code.build.go_to(goes_on);
            let behind = code.kernel_load("next_child", &[child]);
            code.store_local(next, behind);
            let first = code.word(first.into());
            let from = code.arithmetic(Arithmetic::Sub, child, first);
            let length = code.word(length.into());
            let fits = code.compare(Compare::Ult, from, length);
            let (yes, no) = code.build.branch(fits, Probability::EVEN);
            code.build.go_to(yes);
            code.store_local(bound, child);
            does(code);
            code.jump(no);
            code.build.go_to(no);
        });
        stopped.map(|number| {
            let done = self.word(DONE);
            let is_done = self.compare(Compare::Eq, number, done);
            let zero = self.word(0);
            self.op(Op::Select, &[is_done, zero, number])
        })
    }

    /// A value of a type, or else a fault.
    pub fn fitting(&mut self, value: Computed, of: TypeId) -> Computed {
        match (value, &self.program().types[of.index()]) {
            (Computed::Set(members), Type::Set(element)) => {
                Computed::Set(self.members_of(members, *element))
            }
            (value @ Computed::Ordinal(..), _) => {
                let (low, high) = bounds(self.program(), of);
                Computed::Ordinal(self.within(value, (low, high)), low, high)
            }
            (value, _) => value,
        }
    }

    /// Fills slots of an item from `first` on; the first free slot behind.
    fn fill(&mut self, item: Value, first: i64, passed: Passed) -> i64 {
        match passed {
            Passed::Computed(Computed::Set(members)) => {
                let count = members.words.len() as i64;
                for (at, word) in members.words.into_iter().enumerate() {
                    let slot = self.word(first + at as i64);
                    self.kernel_store("slot", &[item, slot], word);
                }
                first + count
            }
            Passed::Computed(value) => {
                let slot = self.word(first);
                self.keep_slot((item, slot), value);
                first + 1
            }
            Passed::Text(text) => {
                for (at, byte) in text.iter().enumerate() {
                    let slot = self.word(first + at as i64);
                    let byte = self.word(i64::from(*byte));
                    self.kernel_store("slot", &[item, slot], byte);
                }
                first + text.len() as i64
            }
            Passed::Placed(at) => {
                let count = self.slots_of(&at);
                self.parts(&at, item, &mut |code, part, flat, item| {
                    let value = code.load_part(part);
                    let base = code.word(first);
                    let slot = code.arithmetic(Arithmetic::Add, base, flat);
                    code.keep_slot((item, slot), value);
                });
                first + count
            }
        }
    }

    /// Stores a number or a bit to a slot of an item.
    fn keep_slot(&mut self, (item, slot): (Value, Value), value: Computed) {
        match value {
            Computed::Real(number) => self.kernel_store("real_slot", &[item, slot], number),
            value => {
                let number = self.number(value);
                self.kernel_store("slot", &[item, slot], number);
            }
        }
    }

    /// A parameter of an item that is a scalar, as all before it are.
    pub fn received(&mut self, item: Value, of: TypeId, at: usize) -> Value {
        let slot = self.word(at as i64);
        let table = match &self.program().types[of.index()] {
            Type::Real => "real_slot",
            _ordinal => "slot",
        };
        let number = self.kernel_load(table, &[item, slot]);
        match is_boolean(self.program(), of) {
            true => self.op(Op::Truncate(1), &[number]),
            false => number,
        }
    }

    /// Stores the values of an item to the locals of a block, from a first local on.
    pub fn receive(&mut self, item: Value, frame: FrameId, (first, count): (usize, usize)) {
        let mut slot = 0;
        for local in first..first + count {
            let storage = self.local(frame, local);
            let at = self.local_place(storage);
            let held = self.slots_of(&at);
            self.parts(&at, item, &mut |code, part, flat, item| {
                let base = code.word(slot);
                let place = code.arithmetic(Arithmetic::Add, base, flat);
                let table = if part.is_real() { "real_slot" } else { "slot" };
                let number = code.kernel_load(table, &[item, place]);
                code.store_part(part, number);
            });
            slot += held;
        }
    }
}
