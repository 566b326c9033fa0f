//! Modules of Esterel as stack IR.
//!
//! In: a module that was lowered, and what is given to it. Out: what the interpreter of the IR says
//! of each instant.

use stackloom::ir;
use stackloom::ir::interface::Foreign;
use stackloom::lower::esterel::Lowered;
use stackloom::simulate::machine::values::Held;
use stackloom::simulate::machine::{Host, Machine, Output};
use stackloom::simulate::process::esterel::Value;
use stackloom::simulate::process::instants::Given;
use stackloom::simulate::process::machine::Runs;
use stackloom::simulate::state::Limits;
use stackloom::simulate::value::Datum;
use stackloom::types::esterel::{Module, Type};
use stackloom::types::process::{Fault, SignalId};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A signal with its value, if it has one.
type Told = (SignalId, Option<Value>);

/// The world around a module: sensors, and what is told.
struct World<'m> {
    module: &'m Module,
    lowered: &'m Lowered,
    sensors: RefCell<BTreeMap<SignalId, Datum>>,
    told: RefCell<Vec<Told>>,
    unset: RefCell<Option<SignalId>>,
}

impl World<'_> {
    fn kind(&self, signal: SignalId) -> Option<Type> {
        let channel = self.module.channels[signal.at()].as_ref();
        channel.map(|channel| channel.kind)
    }
}

impl Host for World<'_> {
    fn function(&self, machine: &Machine<'_>, foreign: &Foreign, given: &mut [Datum]) -> Datum {
        let name = foreign.name.strip_prefix(&self.module.name);
        let name = name.expect("a module without C calls only what its header declares");
        let (what, name) = (&name[..3], &name[3..]);
        let mut signals = self.module.processes.signals();
        let signal = signals.find(|one| self.module.processes.signal(*one).name == name);
        let signal = signal.expect("what is called is a signal of the interface");
        match what {
            "_O_" => {
                let value = given.first().map(|datum| {
                    let kind = self.kind(signal).expect("what has a value carries one");
                    value_of(kind, datum)
                });
                self.told.borrow_mut().push((signal, value));
                Datum::Absent
            }
            "_S_" => match self.sensors.borrow().get(&signal) {
                Some(value) => value.clone(),
                None => {
                    // Its value may only be kept for the next instant.
                    let flag = self.lowered.kept.get(&signal);
                    if flag.is_none_or(|flag| machine.load(*flag) == Held::bit(false)) {
                        self.unset.borrow_mut().get_or_insert(signal);
                    }
                    let kind = self.kind(signal).expect("a sensor carries a value");
                    match kind {
                        Type::Text => Datum::Bytes(Vec::new()),
                        _number => Datum::Number(0),
                    }
                }
            },
            other => panic!("{other} is no output and no sensor"),
        }
    }

    fn application(&self, _: &mut Machine<'_>, _: &str, _: &Output) -> u64 {
        unreachable!("a module of Esterel has no ports")
    }

    fn leaving(&self, _: &mut Machine<'_>, _: &str, _: &Output) {
        unreachable!("a module of Esterel has no links")
    }
}

/// A module that runs as IR.
pub struct InIr<'m> {
    lowered: &'m Lowered,
    world: Rc<World<'m>>,
    machine: Machine<'m>,
}

impl<'m> InIr<'m> {
    /// A module at its beginning.
    pub fn new(module: &'m Module, lowered: &'m Lowered) -> InIr<'m> {
        let world = Rc::new(World {
            module,
            lowered,
            sensors: RefCell::default(),
            told: RefCell::default(),
            unset: RefCell::default(),
        });
        let limits = Limits::default();
        let machine = Machine::start(&lowered.module, world.clone(), Vec::new(), limits, 0);
        InIr {
            lowered,
            world,
            machine: machine.expect("a module of Esterel always starts"),
        }
    }

    fn says(&self) -> String {
        let reason = self.lowered.reason.expect("only what may fail fails");
        match self.machine.load(reason) {
            Held::Number(number) => self.lowered.reasons[number as usize - 1].clone(),
            other => panic!("{other:?} is no number of a reason"),
        }
    }
}

impl Runs for InIr<'_> {
    fn instant(&mut self, given: &Given) -> Result<Vec<Told>, String> {
        let module = self.world.module;
        for (signal, value) in &given.sensors {
            let mut sensors = self.world.sensors.borrow_mut();
            sensors.insert(*signal, datum_of(value));
        }
        for (signal, value) in &given.present {
            let name = &module.processes.signal(*signal).name;
            let value = value.iter().map(held_of).collect();
            let name = format!("{}_I_{name}", module.name);
            self.machine.export(&name, value);
        }
        let answer = self.machine.export(&module.name, Vec::new());
        for (sensor, flag) in &self.lowered.kept {
            if !self.world.sensors.borrow().contains_key(sensor) {
                self.machine.store(*flag, Held::bit(false));
            }
        }
        if let Some(sensor) = self.world.unset.take() {
            return Err(Fault::Unset(sensor).says(&module.processes));
        }
        match &answer[..] {
            [Held::Number(0 | 1)] => Ok(self.world.told.take()),
            [Held::Number(failed)] if *failed == u64::from(u32::MAX) => Err(self.says()),
            other => panic!("an instant answers {other:?}"),
        }
    }
}

/// Checks that the text of a lowered module reads back as the same module.
pub fn is_read_as_it_is_written(module: &ir::Module) {
    let text = ir::text::write(module);
    let read = ir::text::read(&text).unwrap_or_else(|wrong| panic!("{wrong}\n{text}"));
    assert_eq!(ir::text::write(&read), text);
}

fn held_of(value: &Value) -> Held {
    match datum_of(value) {
        Datum::Number(number) => Held::Number(number),
        Datum::Bytes(bytes) => Held::bytes(&bytes),
        other => panic!("{other:?} is no value of a signal"),
    }
}

fn datum_of(value: &Value) -> Datum {
    match value {
        Value::Boolean(truth) => Datum::Number(u64::from(*truth)),
        Value::Integer(number) => Datum::Number(u64::from(number.cast_unsigned())),
        Value::Float(number) => Datum::Number(u64::from(number.to_bits())),
        Value::Double(number) => Datum::Number(number.to_bits()),
        Value::Text(text) => Datum::Bytes(text.as_bytes().to_vec()),
        Value::User(bytes) => Datum::Bytes(bytes.clone()),
    }
}

fn value_of(kind: Type, datum: &Datum) -> Value {
    match (kind, datum) {
        (Type::Boolean, Datum::Number(number)) => Value::Boolean(*number != 0),
        (Type::Integer, Datum::Number(number)) => Value::Integer((*number as u32).cast_signed()),
        (Type::Float, Datum::Number(number)) => Value::Float(f32::from_bits(*number as u32)),
        (Type::Double, Datum::Number(number)) => Value::Double(f64::from_bits(*number)),
        (Type::Text, Datum::Bytes(bytes)) => {
            Value::Text(String::from_utf8_lossy(bytes).into_owned())
        }
        (Type::User(_), Datum::Bytes(bytes)) => Value::User(bytes.clone()),
        (kind, datum) => panic!("{datum:?} is no {kind:?}"),
    }
}
