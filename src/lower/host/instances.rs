//! Instances that begin: in, the first values of fields; out, a function for each kind that sets
//! them, and the operations that make an instance and all that lives with it.

use crate::ir::build::Builder;
use crate::ir::op::{Change, Op, Place};
use crate::ir::{self, FieldId as Part, Role, Stored, Terminator, Type as Plain, Value};
use crate::lower::Lower;
use crate::lower::code::{Code, Name, Turn};
use crate::lower::shapes::{constant, parts, zeros};
use crate::types::expression::Expression;
use crate::types::lifetimes::Standing;
use crate::types::opening::Listening;
use crate::types::program::{FieldId, KindId, Population};
use crate::types::value::{Type, Value as Constant};

impl Code<'_, '_> {
    /// An instance was made: its fields get their first values, and so do those of all that lives
    /// with it.
    pub fn first_state(&mut self, kind: KindId, index: Value, keys: &[Value]) {
        let program = self.lower.program;
        for standing in program.living_with(kind) {
            let own = self.standing_index(standing, index);
            if standing.kind != kind || standing.label.is_some() {
                let mut operands = vec![own];
                operands.extend(self.standing_keys(standing, index, keys));
                let begin = Op::Begin(self.lower.kind(standing.kind));
                let instance = self.value_of(begin, &operands);
                let known = &mut self.environment.instances;
                known.insert((own, standing.kind.0), instance);
            }
            if let Some(function) = self.lower.initial(standing.kind) {
                self.op(Op::Call(function), &[own]);
            }
        }
    }

    /// The index of what lives with the instance of this index.
    pub fn standing_index(&mut self, standing: Standing, index: Value) -> Value {
        match standing.first {
            0 => index,
            first => {
                let first = self.word(first);
                self.sum_of(index, first)
            }
        }
    }

    /// The keys of what lives with another: its own constants, and the session below; or those of
    /// the other.
    fn standing_keys(&mut self, standing: Standing, index: Value, keys: &[Value]) -> Vec<Value> {
        let program = self.lower.program;
        let table = &program.kinds[standing.kind.at()];
        let (Population::Labelled(all), Some(label)) = (&table.population, standing.label) else {
            let own = self.lower.module.kinds[standing.kind.at()].keys.len();
            return keys[..own.min(keys.len())].to_vec();
        };
        let own = all[label as usize].keys.clone();
        let mut operands = self.constant_keys(standing.kind, &own);
        operands.push(index);
        operands
    }

    /// Keys that the stack writes.
    pub fn constant_keys(&mut self, kind: KindId, keys: &[Constant]) -> Vec<Value> {
        let program = self.lower.program;
        let declared = &program.kinds[kind.at()].keys;
        let pairs = keys.iter().zip(declared);
        let all = pairs.flat_map(|(value, key)| constant(program, value, &key.kind));
        let all: Vec<Op> = all.collect();
        self.constants(all)
    }

    /// A session that a listener made waits at it.
    pub fn waits_at(&mut self, how: Listening, session: Value, listener: Value) {
        let of_session = self.instance_at(session, how.session);
        let one = self.bit(true);
        for (field, value) in [
            (how.waits, one),
            (how.unknown, one),
            (how.made_by, listener),
        ] {
            let place = self.lower.place(how.session, field);
            self.store(place, &[of_session], value);
        }
        let of_listener = self.instance_at(listener, how.listener);
        let place = self.lower.place(how.listener, how.waiting);
        let waiting = self.load_field(place, &[of_listener]);
        let one = self.word(1);
        let more = self.sum_of(waiting, one);
        self.store(place, &[of_listener], more);
    }

    /// A field holds nothing: zeros, or an empty container.
    pub fn reset(&mut self, kind: KindId, field: FieldId, owner: Value) {
        let first = self.lower.field(kind, field);
        let kind = self.lower.kind(kind);
        let of = self.lower.module.field(kind, first).clone();
        match of.stored {
            Stored::Value(_) => {}
            Stored::Queue(..)
            | Stored::Window(..)
            | Stored::Stream(..)
            | Stored::Set(_)
            | Stored::Foreign(_) => {
                let place = Place { kind, field: first };
                if let Some(length) = of.dimensions.first() {
                    return self.for_each(*length, owner, move |code, owner, at| {
                        code.op(Op::Change(Change::Empty, place), &[owner, at]);
                    });
                }
                self.op(Op::Change(Change::Empty, place), &[owner]);
                return;
            }
        }
        let program = self.lower.program;
        let declared = &program.kinds[kind.at()].fields[field.at()].kind;
        let element = match declared {
            Type::Array(element, _) => element,
            value => value,
        };
        let types = parts(program, element);
        self.fill(
            (kind, first),
            of.dimensions.first().copied(),
            owner,
            zeros(&types),
        );
    }

    /// Stores constants to the parts of a field, or of each element of an array.
    fn fill(
        &mut self,
        (kind, first): (ir::KindId, Part),
        length: Option<u32>,
        owner: Value,
        values: Vec<Op>,
    ) {
        let store = move |code: &mut Code<'_, '_>, operands: &[Value]| {
            for (at, value) in values.into_iter().enumerate() {
                let field = Part(first.0 + at as u32);
                let value = code.value_of(value, &[]);
                code.store(Place { kind, field }, operands, value);
            }
        };
        match length {
            None => store(self, &[owner]),
            Some(length) => self.for_each(length, owner, move |code, owner, at| {
                store(code, &[owner, at]);
            }),
        }
    }

    /// Does something for each index of an array of an instance.
    fn for_each(
        &mut self,
        length: u32,
        owner: Value,
        body: impl FnOnce(&mut Code<'_, '_>, Value, Value),
    ) {
        let count = self.number(64, u64::from(length));
        let before = self.environment.names.insert(Name::First, vec![owner]);
        let turn = Turn {
            carried: Vec::new(),
            returned: None,
        };
        self.repeated((count, length), turn, |code, at| {
            let owner = code.named(Name::First)[0];
            body(code, owner, at);
            code.end_turn();
        });
        match before {
            Some(before) => self.environment.names.insert(Name::First, before),
            None => self.environment.names.remove(&Name::First),
        };
    }

    /// A field begins as a value: each element of an array, a stream at its position, a window at
    /// its lower edge.
    pub fn set_initial(
        &mut self,
        kind: KindId,
        field: FieldId,
        owner: Value,
        initial: &Expression,
    ) {
        let program = self.lower.program;
        let value = self.value(initial);
        let place = self.lower.place(kind, field);
        match &program.kinds[kind.at()].fields[field.at()].kind {
            Type::Stream(..) | Type::Window(..) => {
                let at = self.resized(value[0], 32);
                self.op(Op::Change(Change::Restart, place), &[owner, at]);
            }
            Type::Array(_, length) => {
                let count = self.number(64, u64::from(*length));
                let mut captured = vec![owner];
                captured.extend(value);
                let before = self.environment.names.insert(Name::First, captured);
                let turn = Turn {
                    carried: Vec::new(),
                    returned: None,
                };
                self.repeated((count, *length), turn, |code, at| {
                    let captured = code.named(Name::First).to_vec();
                    code.store_parts(place, &[captured[0], at], &captured[1..]);
                    code.end_turn();
                });
                match before {
                    Some(before) => self.environment.names.insert(Name::First, before),
                    None => self.environment.names.remove(&Name::First),
                };
            }
            _value => self.store_parts(place, &[owner], &value),
        }
    }

    fn store_parts(&mut self, first: Place, operands: &[Value], parts: &[Value]) {
        for (at, part) in parts.iter().enumerate() {
            let field = Part(first.field.0 + at as u32);
            let kind = first.kind;
            self.store(Place { kind, field }, operands, *part);
        }
    }
}

impl<'a> Lower<'a> {
    /// The first part of a field, as a place.
    pub fn place(&self, kind: KindId, field: FieldId) -> Place {
        Place {
            kind: self.kind(kind),
            field: self.field(kind, field),
        }
    }

    /// The function that gives the fields of an instance their first values: `index`. None if it
    /// has no fields.
    pub fn initial(&mut self, kind: KindId) -> Option<ir::FunctionId> {
        if let Some(known) = self.initial.get(&kind) {
            return Some(*known);
        }
        let program = self.program;
        let table = &program.kinds[kind.at()];
        if table.fields.is_empty() {
            return None;
        }
        let of = &self.module.kinds[kind.at()];
        let (name, owner) = (self.unique(&format!("{}.init", of.name)), of.owner.clone());
        let build = Builder::new(&name, &owner, Role::Plain, &[(Plain::WORD, "index")]);
        let mut code = Code::new(&mut *self, build, &[]);
        let index = code.build.parameter(0);
        code.own = Some((kind, index));
        let instance = code.instance_at(index, kind);
        let fields = (0..table.fields.len() as u32).map(FieldId);
        for field in fields.clone() {
            code.reset(kind, field, instance);
        }
        for field in fields {
            if let Some(initial) = &table.fields[field.at()].initial {
                code.set_initial(kind, field, instance, initial);
            }
        }
        code.build.end(Terminator::Return(Vec::new()));
        let function = code.build.finish(Vec::new());
        let function = self.add_called(function);
        self.initial.insert(kind, function);
        Some(function)
    }
}
