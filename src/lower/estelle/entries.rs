//! Functions that a program calls: the start, and a step of a system.

use super::code::{Called, Code};
use super::kernel::{Selects, each, has_delays};
use super::outside::choice::Choices;
use super::sizes::{points_of, transitions_of};
use super::{KERNEL, Lower, Which};
use crate::ir::interface::{Export, Named, Shape};
use crate::ir::op::{Arithmetic, Compare};
use crate::ir::{KindId, Op, Probability, Role, Terminator, Type as Plain, Value};
use crate::types::estelle::program::{Attribute, BodyId, Program, Queue};

/// A function that a program calls.
pub struct Entry {
    /// Its name behind that of the specification.
    pub name: &'static str,
    /// Its parameters, which are numbers.
    pub parameters: &'static [&'static str],
    /// True if the program says what time it is.
    pub takes_time: bool,
    /// True if its result is a time.
    pub gives_time: bool,
    /// Its comment.
    pub says: &'static str,
}

/// All functions that a program calls: the exports of a module, in their order.
pub const ENTRIES: [Entry; 18] = [
    Entry {
        name: "start",
        parameters: &[],
        takes_time: true,
        gives_time: false,
        says: "Initialises all modules: 0, or minus the number of a fault.",
    },
    Entry {
        name: "step",
        parameters: &["system"],
        takes_time: true,
        gives_time: false,
        says: "One step of a system, by its number: plans it, and lets its transitions fire: the \
               number of them, or minus the number of a fault.",
    },
    Entry {
        name: "plan",
        parameters: &["system"],
        takes_time: true,
        gives_time: false,
        says: "Selects the transitions of the next step of a system, and fires none: the number of \
               them, or minus the number of a fault.",
    },
    Entry {
        name: "ready",
        parameters: &["system"],
        takes_time: true,
        gives_time: false,
        says: "1 if a step of a system would let a transition fire, 0 if not, minus the number of \
               a fault. Nothing is chosen.",
    },
    Entry {
        name: "select",
        parameters: &["module"],
        takes_time: true,
        gives_time: false,
        says: "The transition that a module offers; -1 if none, -1 minus the number of a fault.",
    },
    Entry {
        name: "fire",
        parameters: &["module", "transition"],
        takes_time: true,
        gives_time: false,
        says: "Lets a module fire a transition that it offers: 0, or minus the number of a fault.",
    },
    Entry {
        name: "deadline",
        parameters: &[],
        takes_time: false,
        gives_time: true,
        says: "The next time at which a delay ends; the greatest number if there is none.",
    },
    Entry {
        name: "systems",
        parameters: &[],
        takes_time: false,
        gives_time: false,
        says: "The number of systems, behind the start.",
    },
    Entry {
        name: "system",
        parameters: &["number"],
        takes_time: false,
        gives_time: false,
        says: "The module that is a system, by its number from 0.",
    },
    Entry {
        name: "planned_module",
        parameters: &["number"],
        takes_time: false,
        gives_time: false,
        says: "The module that fires in the last plan or step, by its place in it from 0.",
    },
    Entry {
        name: "planned_transition",
        parameters: &["number"],
        takes_time: false,
        gives_time: false,
        says: "The transition that it fires, from 0 in the order of the source.",
    },
    Entry {
        name: "state",
        parameters: &["module"],
        takes_time: false,
        gives_time: false,
        says: "The state of a module, from 0 in the order of the source.",
    },
    Entry {
        name: "body",
        parameters: &["module"],
        takes_time: false,
        gives_time: false,
        says: "The body of a module, from 0 in the order of the source; 0 is the specification.",
    },
    Entry {
        name: "parent",
        parameters: &["module"],
        takes_time: false,
        gives_time: false,
        says: "The module that has initialised a module; -1 of the specification.",
    },
    Entry {
        name: "variable",
        parameters: &["module"],
        takes_time: false,
        gives_time: false,
        says: "The module variable of its parent by which a module was initialised, from 0 in the \
               order of the source; each element of an array counts.",
    },
    Entry {
        name: "generation",
        parameters: &["module"],
        takes_time: false,
        gives_time: false,
        says: "1 of the first module that was initialised by its variable, 2 of the next.",
    },
    Entry {
        name: "unconnected",
        parameters: &[],
        takes_time: false,
        gives_time: false,
        says: "A counter: interactions that were lost because nothing was connected.",
    },
    Entry {
        name: "terminated_with",
        parameters: &[],
        takes_time: false,
        gives_time: false,
        says: "A counter: interactions that were lost with a module that was terminated.",
    },
];

/// A number of a program.
const NUMBER: Shape = Shape::Number {
    bits: 32,
    signed: true,
};

impl Lower<'_> {
    /// Lowers the functions that the kernel calls.
    fn called_by_kernel(&mut self, bodies: &[BodyId]) {
        let choose = self.choose();
        self.hooks.insert("choose".to_string(), choose);
        let watch: Vec<Option<Called>> = bodies.iter().map(|id| self.watch(*id)).collect();
        let watch = self.dispatch("watch", &[], (&watch, None));
        self.hooks.insert("watch".to_string(), watch);
        let (offer, selects) = self.offers("offer", self.choices);
        let ask_system = self.ask_system(&selects);
        self.hooks.insert("ask_system".to_string(), ask_system);
        let fireable = match self.host_chooses() {
            true => self.offers("fireable", Choices::First).0,
            false => offer.clone(),
        };
        self.hooks.insert("fireable".to_string(), fireable);
        self.hooks.insert("offer".to_string(), offer);
        let fire = self.fire();
        self.hooks.insert("fire".to_string(), fire);
    }

    /// Lowers all that a program calls, and so the whole specification.
    pub(super) fn entries(&mut self) {
        let bodies: Vec<BodyId> = (0..self.program.bodies.len() as u32).map(BodyId).collect();
        let each = |all: Vec<Called>| all.into_iter().map(Some).collect::<Vec<_>>();
        self.called_by_kernel(&bodies);
        let due = each(bodies.iter().map(|id| self.due(*id)).collect());
        let due = self.dispatch("due", &[], (&due, Some(Op::Number(64, u64::MAX))));
        let begin = self.start();
        let system = [(Plain::WORD, "system")];
        let [plan, step, ready] =
            ["plan", "step", "ready"].map(|name| self.by_number(name, &system));
        let module = (Plain::WORD, "module");
        let fires = self.fires_given();
        let fires = self.plain("fired", &fires, &[module, (Plain::WORD, "transition")]);
        let offers = self.kernel_routine("offer_given");
        let select = self.below(-1, "selected", &offers, &[module]);
        let deadline = self.deadline(&due);
        let state = bodies.iter().map(|id| self.state(*id)).collect();
        let none = Op::Number(32, u64::from(u32::MAX));
        let state = self.dispatch("state", &[], (&each(state), Some(none)));
        let state = self.plain("state_of", &state, &[module]);
        let [systems, unconnected, terminated_with] = [
            "count_systems",
            "count_unconnected",
            "count_terminated_with",
        ]
        .map(|name| self.by_number(name, &[]));
        let number = [(Plain::WORD, "number")];
        let [system, planned_module, planned_transition] =
            ["system_of", "planned_module", "planned_transition"]
                .map(|name| self.by_number(name, &number));
        let [body, parent, variable, generation] =
            ["body_of", "parent_of", "variable_of", "generation_of"]
                .map(|name| self.by_number(name, &[module]));
        let calls = [
            begin,
            step,
            plan,
            ready,
            select,
            fires,
            deadline,
            systems,
            system,
            planned_module,
            planned_transition,
            state,
            body,
            parent,
            variable,
            generation,
            unconnected,
            terminated_with,
        ];
        let of_bodies = self.external_exports();
        self.places();
        self.export(&calls);
        self.module.exports.extend(of_bodies);
    }

    /// The function that lets a module fire a transition, by the numbers of a host.
    fn fires_given(&mut self) -> Called {
        let place = (Which::Kernel, KERNEL);
        let parameters = [(Plain::WORD, "module"), (Plain::WORD, "transition")];
        let mut code = Code::new(self, place, "fires_given", &parameters, Vec::new());
        let numbers = [0, 1].map(|at| code.parameter(at));
        let fault = code.kernel("fire_given", &numbers)[0];
        code.fails_with(fault);
        code.answer(&[]);
        code.finish()
    }

    /// Exports the functions that a program calls, in the order of [`ENTRIES`].
    fn export(&mut self, calls: &[Called]) {
        for (entry, called) in ENTRIES.iter().zip(calls) {
            let named = |name: &&str| Named {
                name: name.to_string(),
                shape: NUMBER,
            };
            self.module.exports.push(Export {
                name: format!("{}_{}", self.module.name, entry.name),
                parameters: entry.parameters.iter().map(named).collect(),
                result: Some(match entry.gives_time {
                    true => Shape::Time,
                    false => NUMBER,
                }),
                calls: called.function,
            });
        }
    }

    /// A function of the kernel that a program calls with these numbers.
    fn by_number(&mut self, name: &str, parameters: &[(Plain, &str)]) -> Called {
        let called = self.kernel_routine(name);
        self.plain(&format!("{name}.entry"), &called, parameters)
    }

    /// All instances get their places: in C they are there from the start.
    fn places(&mut self) {
        let place = (Which::Kernel, KERNEL);
        let mut code = Code::new(self, place, "places", &[], Vec::new());
        for kind in 0..code.lower.module.kinds.len() as u32 {
            let kind = KindId(kind);
            let capacity = code.lower.module.kinds[kind.at()].capacity;
            let count = code.word(capacity.into());
            code.turns((count, capacity), 0, &[], |code, turn, _| {
                code.all(Op::Begin(kind), &[turn]);
            });
        }
        code.answer(&[]);
        let called = code.finish();
        self.module.functions[called.function.at()].role = Role::Entry;
        self.module.starts = Some(called.function);
    }

    /// The time at which the first delay ends.
    fn deadline(&mut self, due: &Called) -> Called {
        let place = (Which::Kernel, KERNEL);
        let mut code = Code::new(self, place, "first_due", &[], vec![Plain::TIME]);
        let first = code.first_due(due);
        code.answer(&[first]);
        let called = code.finish();
        self.module.functions[called.function.at()].role = Role::Entry;
        called
    }

    /// The bodies; where there are few modules, each with one of its instances alone.
    fn firing(&self) -> Vec<(BodyId, Option<u32>)> {
        let bodies = self.program.bodies.iter().enumerate();
        let all = bodies.flat_map(|(at, _)| {
            let instances = match self.sizes.are_few {
                true => (0..self.sizes.instances[at]).map(Some).collect(),
                false => vec![None],
            };
            let body = BodyId(at as u32);
            instances.into_iter().map(move |only| (body, only))
        });
        all.collect()
    }

    /// The function of the kernel that says which transition a module offers, or may fire: it asks
    /// that of its body. Also those, by module if each has one of its own.
    fn offers(&mut self, name: &str, choices: Choices) -> (Called, Selects) {
        let firing = self.firing();
        let all = firing.iter();
        let all: Vec<Called> = all
            .map(|(id, only)| self.select(*id, *only, choices))
            .collect();
        let place = (Which::Kernel, KERNEL);
        let parameters = [(Plain::WORD, "module")];
        let mut code = Code::new(self, place, name, &parameters, vec![Plain::WORD]);
        let module = code.parameter(0);
        let asked = match code.lower.sizes.are_few {
            true => module,
            false => code.kernel_load("of_body", &[module]),
        };
        let first = code.lower.sizes.first_module.clone();
        let cases = firing
            .iter()
            .enumerate()
            .map(|(at, (body, only))| match only {
                Some(only) => (u64::from(first[body.index()] + only), at),
                None => (u64::from(body.0), at),
            });
        code.switch(asked, &cases.collect::<Vec<_>>(), |code, at| {
            let results = code.call_of(firing[at].0, &all[at], module);
            code.answer(&results);
        });
        code.build.end(Terminator::Never);
        let called = code.finish();
        let own = firing.iter().zip(all).filter_map(|((body, only), select)| {
            let module = first[body.index()] + (*only)?;
            Some((module, (*body, select)))
        });
        (called, own.collect())
    }

    /// The function of the kernel that fires a transition, by its number among all.
    fn fire(&mut self) -> Called {
        let firing = self.firing().into_iter();
        let all = firing.flat_map(|(id, only)| {
            let own = self.fires(id, only).into_iter();
            own.map(move |called| (id, called)).collect::<Vec<_>>()
        });
        let all: Vec<(BodyId, Called)> = all.collect();
        let place = (Which::Kernel, KERNEL);
        let parameters = [(Plain::WORD, "transition"), (Plain::WORD, "module")];
        let mut code = Code::new(self, place, "fire", &parameters, Vec::new());
        let (transition, module) = (code.parameter(0), code.parameter(1));
        let cases: Vec<(u64, usize)> = (0..all.len()).map(|at| (at as u64, at)).collect();
        code.switch(transition, &cases, |code, at| {
            code.call_of(all[at].0, &all[at].1, module);
            code.answer(&[]);
        });
        code.build.end(Terminator::Never);
        code.finish()
    }

    /// A function of the kernel that calls one of each body, by the module number.
    ///
    /// Of a module that no function is for, the result is `otherwise`.
    fn dispatch(
        &mut self,
        name: &str,
        more: &[(Plain, &str)],
        (all, otherwise): (&[Option<Called>], Option<Op>),
    ) -> Called {
        let mut parameters = vec![(Plain::WORD, "module")];
        parameters.extend(more);
        let results: Vec<Plain> = match &otherwise {
            Some(Op::Number(bits, _)) => vec![Plain::Int(*bits)],
            _none => Vec::new(),
        };
        let place = (Which::Kernel, KERNEL);
        let mut code = Code::new(self, place, name, &parameters, results);
        let module = code.parameter(0);
        let rest: Vec<Value> = (0..more.len()).map(|at| code.parameter(1 + at)).collect();
        for (at, called) in all.iter().enumerate() {
            let Some(called) = called else { continue };
            let first = code.lower.sizes.first_module[at];
            let count = code.lower.sizes.instances[at];
            let first = code.word(first.into());
            let count = code.word(count.into());
            let index = code.arithmetic(Arithmetic::Sub, module, first);
            let is_one = code.compare(Compare::Ult, index, count);
            let (yes, no) = code.build.branch(is_one, Probability::EVEN);
            code.build.go_to(yes);
            let kind = code
                .lower
                .body_kind(Which::Specification, BodyId(at as u32));
            let instance = code.op(Op::At(kind), &[index]);
            let operands = [vec![instance], rest.clone()].concat();
            let mut results = code.all(Op::Call(called.function), &operands);
            if called.fails {
                let number = results.remove(0);
                code.fails_with(number);
            }
            code.answer(&results);
            code.build.go_to(no);
        }
        let none = otherwise.map(|op| code.op(op, &[]));
        code.answer(none.as_slice());
        code.finish()
    }

    /// Lays out all modules, and begins the specification: 0, or the number of a fault.
    fn start(&mut self) -> Called {
        let begin = self.begin(Program::ROOT);
        let place = (Which::Kernel, KERNEL);
        let results = vec![Plain::WORD];
        let mut code = Code::new(self, place, "start", &[], results);
        code.kernel("reset", &[]);
        let mut queue = 0;
        for at in 0..code.lower.program.bodies.len() {
            queue = lay(&mut code, at, queue);
        }
        let numbers = [code.word(0), code.word(1), code.kernel_number("no_module")];
        code.kernel("create", &numbers);
        let kind = code.lower.body_kind(Which::Specification, Program::ROOT);
        let instance = code.op(Op::Instance(kind, 0), &[]);
        let results = code.all(Op::Call(begin.function), &[instance]);
        if begin.fails {
            code.fails_with(results[0]);
        }
        code.kernel("watch_new", &[]);
        let zero = code.word(0);
        code.answer(&[zero]);
        let called = code.finish();
        self.plain("started", &called, &[])
    }

    /// A function with one number: the result of another, or minus the number of its fault.
    fn plain(&mut self, name: &str, called: &Called, parameters: &[(Plain, &str)]) -> Called {
        self.below(0, name, called, parameters)
    }

    /// The same with `base` minus the number of a fault.
    fn below(
        &mut self,
        base: i64,
        name: &str,
        called: &Called,
        parameters: &[(Plain, &str)],
    ) -> Called {
        let place = (Which::Kernel, KERNEL);
        let results = vec![Plain::WORD];
        let mut code = Code::new(self, place, name, parameters, results);
        let operands: Vec<Value> = (0..parameters.len()).map(|at| code.parameter(at)).collect();
        let mut results = code.all(Op::Call(called.function), &operands);
        if called.fails {
            let number = results.remove(0);
            let zero = code.word(0);
            let is_fault = code.compare(Compare::Ne, number, zero);
            let (yes, no) = code.build.branch(is_fault, Probability(0));
            code.build.go_to(yes);
            let base = code.word(base);
            let below = code.arithmetic(Arithmetic::Sub, base, number);
            code.answer(&[below]);
            code.build.go_to(no);
        }
        if results.is_empty() {
            results.push(code.word(0));
        }
        code.answer(&results);
        let called = code.finish();
        self.module.functions[called.function.at()].role = Role::Entry;
        called
    }
}

/// Returns true if the transitions that a body offers may hang on more than what the kernel sees:
/// C offers them, or conditions may call functions in C.
fn hangs_on_c(program: &Program, body: usize) -> bool {
    let mut routines = program.routines.iter();
    let asks_c = routines.any(|one| one.statements.is_none() && one.result.is_some());
    asks_c || program.bodies[body].is_external
}

/// Says for each transition of a body which point it takes an interaction from.
fn lay_inputs(code: &mut Code<'_, '_>, body: usize) {
    let program = code.lower.program;
    let declared = &program.bodies[body];
    let instances: Vec<Option<u32>> = match code.lower.sizes.are_few {
        true => (0..code.lower.sizes.instances[body]).map(Some).collect(),
        false => vec![None],
    };
    for at in 0..transitions_of(declared) as usize {
        let transition = declared.transitions.get(at);
        let input = match transition.and_then(|one| one.when) {
            None => code.kernel_number("no_point"),
            Some(when) => {
                let before = points_of(&declared.points[..when.points]);
                code.word(i64::from(before) + i64::from(when.element))
            }
        };
        for only in &instances {
            let number = code.lower.transition_number(BodyId(body as u32), *only, at);
            let number = code.word(number);
            code.kernel_store("input", &[number], input);
        }
    }
}

/// Lays out the modules of a body; the first free queue behind theirs.
fn lay(code: &mut Code<'_, '_>, body: usize, queue: u32) -> u32 {
    let program = code.lower.program;
    let sizes = &code.lower.sizes;
    let (first, count) = (sizes.first_module[body], sizes.instances[body]);
    let (first_point, points) = (sizes.first_point[body], sizes.points[body]);
    let queues = each(program, body);
    let transitions = i64::from(transitions_of(&program.bodies[body]));
    let transition = code.lower.transition_number(BodyId(body as u32), None, 0);
    let apart = if sizes.are_few { transitions } else { 0 };
    let is_restless = has_delays(&program.bodies[body]) || hangs_on_c(program, body);
    let header = program.bodies[body].header;
    let external = header.map_or(0, |one| points_of(&program.headers[one.index()].points));
    let numbers = [body as u32, first, count, first_point, points, external].map(i64::from);
    let numbers = numbers.into_iter().chain([transition, transitions, apart]);
    let mut operands: Vec<Value> = numbers.map(|one| code.word(one)).collect();
    operands.push(code.bit(is_restless));
    code.kernel("lay_modules", &operands);
    lay_inputs(code, body);
    let is_activity = matches!(
        program.bodies[body].attribute,
        Some(Attribute::Activity | Attribute::SystemActivity)
    );
    let is_system = matches!(
        program.bodies[body].attribute,
        Some(Attribute::SystemProcess | Attribute::SystemActivity)
    );
    for (holds, table) in [(is_activity, "one_fires"), (is_system, "is_system")] {
        for module in (first..first + count).filter(|_| holds) {
            let module = code.word(module.into());
            let yes = code.word(1);
            code.kernel_store(table, &[module], yes);
        }
    }
    let (mut point, mut own) = (first_point, queue);
    let shared = (queue + queues).saturating_sub(1);
    for declared in &program.bodies[body].points {
        for _ in 0..declared.count {
            let to = match declared.queue {
                Queue::Common => shared,
                Queue::Individual => {
                    own += 1;
                    own - 1
                }
            };
            let numbers = [point, count, points, to, queues, first];
            let numbers = numbers.map(|one| code.word(one.into()));
            code.kernel("lay_points", &numbers);
            point += 1;
        }
    }
    queue + count * queues
}
