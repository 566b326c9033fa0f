//! Dead parameters and results: a function is given no value that it does not use, and gives none
//! that nobody takes (dead argument elimination of LLVM; liveness between functions, Horwitz, Reps
//! and Binkley, "Interprocedural slicing", 1990).
//!
//! In: a module. Out: functions, calls and events without such parameters and results, and without
//! the values that they alone used. A parameter that is only passed on to where nobody uses it is
//! dead as well, so is one that goes round in a circle of events. Handles are never dead. Functions
//! that a host, a kernel or a cache starts keep all, and a loop what it carries.
//!
//! ```text
//! %r = call f(%a, %b)                    call f(%a)
//! fn f(%a, %b) -> i32 { .. return 7 }    fn f(%a) { .. return }
//! ```
//!
//! Assumes: rules 1 to 5 of the verifier. Cost: linear in the functions, each as often as more of
//! its results, or of what it passes on, turns out to be used.

use super::dead_code::{does_something, remove_unused};
use crate::ir::effects::Effects;
use crate::ir::graph::Graph;
use crate::ir::op::{Event, Op, Target};
use crate::ir::rename::named_in_tables;
use crate::ir::{Function, FunctionId, Instruction, Module, Role, Terminator, Value};

/// Removes dead parameters and results of all functions of a module.
pub fn run(module: &mut Module) {
    let effects = Effects::of_functions(module);
    let fixed = fixed(module);
    let mut used = Used::new(module, &fixed);
    used.find(module, &effects);
    let not = |all: &[Vec<bool>]| -> Vec<Vec<bool>> {
        let all = all.iter();
        all.map(|one| one.iter().map(|used| !used).collect())
            .collect()
    };
    let removed = Removed {
        parameters: not(&used.parameters),
        results: not(&used.results),
    };
    removed.take_out(module);
    for at in 0..module.functions.len() {
        let mut function = module.functions[at].clone();
        remove_unused(module, &effects, &mut function);
        module.functions[at] = function;
    }
}

/// By function and parameter: others than the functions of the module give it, or need it.
pub fn fixed(module: &mut Module) -> Vec<Vec<bool>> {
    let tables = named_in_tables(module);
    let functions = module.functions.iter().enumerate();
    let all = functions.map(|(at, function)| {
        let is_started = matches!(function.role, Role::Entry | Role::Fast);
        let is_fixed = is_started || tables.contains(&FunctionId(at as u32));
        vec![is_fixed; function.parameters().len()]
    });
    let mut all: Vec<Vec<bool>> = all.collect();
    for instruction in module.functions.iter().flat_map(Function::instructions) {
        if let Op::Loop(body, _) = instruction.op {
            // The turn comes first, and what it carries last.
            let captured = instruction.operands.len() - instruction.results.len();
            let fixed = &mut all[body.at()];
            fixed[0] = true;
            fixed[captured..].fill(true);
        }
    }
    all
}

/// Shows what a function gives to others: each with the place of a parameter, and the value.
pub fn given(function: &Function, show: &mut dyn FnMut(FunctionId, usize, Value)) {
    for block in &function.blocks {
        for instruction in &block.instructions {
            let operands = &instruction.operands[..];
            match &instruction.op {
                Op::Call(id) => show_all(*id, operands, 0, show),
                Op::Loop(id, _) => {
                    let captured = operands.len() - instruction.results.len();
                    show_all(*id, &operands[1..captured], 1, show);
                }
                Op::Queue(_, events) | Op::Output(events) => sent(events, operands, show),
                _other => {}
            }
        }
        if let Terminator::Tail(event, operands) = &block.terminator {
            sent(std::slice::from_ref(event), operands, show);
        }
    }
}

fn sent(events: &[Event], operands: &[Value], show: &mut dyn FnMut(FunctionId, usize, Value)) {
    let mut rest = operands;
    for event in events {
        let (own, others) = rest.split_at(event.arguments as usize);
        rest = others;
        if let Target::Function(id) = event.target {
            show_all(id, own, 0, show);
        }
    }
}

fn show_all(
    id: FunctionId,
    values: &[Value],
    first: usize,
    show: &mut dyn FnMut(FunctionId, usize, Value),
) {
    for (at, value) in values.iter().enumerate() {
        show(id, first + at, *value);
    }
}

/// Parameters and results that are used, as far as is known.
struct Used {
    /// By function.
    parameters: Vec<Vec<bool>>,
    /// By function.
    results: Vec<Vec<bool>>,
}

impl Used {
    /// Finds the parameters and results that other functions use.
    fn new(module: &mut Module, fixed: &[Vec<bool>]) -> Used {
        let mut others = named_in_tables(module);
        for instruction in module.functions.iter().flat_map(Function::instructions) {
            if let Op::Loop(body, _) = instruction.op {
                others.insert(body);
            }
        }
        let both = module.functions.iter().zip(fixed).enumerate();
        let mut used = Used {
            parameters: Vec::new(),
            results: Vec::new(),
        };
        for (at, (function, fixed)) in both {
            let parameters = function.parameters().iter().zip(fixed);
            let parameters =
                parameters.map(|(value, fixed)| *fixed || function.type_of(*value).is_linear());
            used.parameters.push(parameters.collect());
            let is_called = matches!(function.role, Role::Plain | Role::Pure);
            let takes = !is_called || others.contains(&FunctionId(at as u32));
            let results = function.results.iter();
            used.results
                .push(results.map(|of| takes || of.is_linear()).collect());
        }
        used
    }

    /// Finds all that is used. A function is looked at again if others use more of its results, or
    /// if a function to which it gives values uses more of its parameters. Results are used by
    /// functions behind, parameters by functions before: so sweeps go there and back.
    fn find(&mut self, module: &Module, effects: &[Effects]) {
        let mut givers: Vec<Vec<usize>> = vec![Vec::new(); module.functions.len()];
        for (at, function) in module.functions.iter().enumerate() {
            given(function, &mut |id, _, _| {
                if givers[id.at()].last() != Some(&at) {
                    givers[id.at()].push(at);
                }
            });
        }
        let mut open = vec![true; module.functions.len()];
        while open.contains(&true) {
            let all = 0..module.functions.len();
            for at in all.clone().rev().chain(all) {
                if std::mem::take(&mut open[at])
                    && self.parameters_of((module, effects), at, &mut open)
                {
                    givers[at].iter().for_each(|giver| open[*giver] = true);
                }
            }
        }
    }

    /// Finds what a function uses of what is known to be used; true if that is more of its
    /// parameters. Functions of which it uses more results become open.
    fn parameters_of(
        &mut self,
        (module, effects): (&Module, &[Effects]),
        at: usize,
        open: &mut [bool],
    ) -> bool {
        let function = &module.functions[at];
        let mut needed = Needed {
            used: self,
            function,
            values: vec![false; function.values.len()],
            open,
        };
        needed.all(module, effects, at);
        let values = needed.values;
        let mut changed = false;
        for (used, parameter) in self.parameters[at].iter_mut().zip(function.parameters()) {
            changed |= values[parameter.at()] && !*used;
            *used |= values[parameter.at()];
        }
        changed
    }
}

/// The values of a function that are needed for something.
struct Needed<'u> {
    used: &'u mut Used,
    function: &'u Function,
    values: Vec<bool>,
    /// By function: it is to be looked at again.
    open: &'u mut [bool],
}

impl Needed<'_> {
    /// Finds all, from the last block to the first: graphs have no cycles.
    fn all(&mut self, module: &Module, effects: &[Effects], at: usize) {
        let graph = Graph::of(self.function).expect("the verifier passes acyclic graphs alone");
        for id in graph.order.iter().rev() {
            let block = self.function.block(*id);
            self.end(&block.terminator, at);
            for instruction in block.instructions.iter().rev() {
                let mut results = instruction.results.iter();
                let is_used = results.any(|one| self.values[one.at()]);
                if is_used || does_something(module, effects, instruction) {
                    self.instruction(instruction);
                }
            }
        }
    }

    fn end(&mut self, end: &Terminator, at: usize) {
        for edge in end.edges() {
            let parameters = &self.function.block(edge.block).parameters;
            for (parameter, argument) in parameters.iter().zip(&edge.arguments) {
                let is_linear = self.function.type_of(*argument).is_linear();
                if is_linear || self.values[parameter.at()] {
                    self.values[argument.at()] = true;
                }
            }
        }
        match end {
            Terminator::Return(values) => {
                for (place, value) in values.iter().enumerate() {
                    self.values[value.at()] |= self.used.results[at][place];
                }
            }
            Terminator::Tail(event, values) => self.events(std::slice::from_ref(event), values),
            other => self.need(&other.operands()),
        }
    }

    fn instruction(&mut self, instruction: &Instruction) {
        let operands = &instruction.operands[..];
        match &instruction.op {
            Op::Call(id) => {
                self.given(*id, operands);
                for (place, result) in instruction.results.iter().enumerate() {
                    let used = &mut self.used.results[id.at()][place];
                    self.open[id.at()] |= self.values[result.at()] && !*used;
                    *used |= self.values[result.at()];
                }
            }
            // The turn stands in the place of the count.
            Op::Loop(id, _) => self.given(*id, operands),
            Op::Queue(_, events) | Op::Output(events) => self.events(events, operands),
            _other => self.need(operands),
        }
    }

    fn events(&mut self, events: &[Event], operands: &[Value]) {
        let mut rest = operands;
        for event in events {
            let (own, others) = rest.split_at(event.arguments as usize);
            rest = others;
            match event.target {
                Target::Function(id) => self.given(id, own),
                Target::Link(_) | Target::Port(..) => self.need(own),
            }
        }
    }

    fn given(&mut self, id: FunctionId, values: &[Value]) {
        for (place, value) in values.iter().enumerate() {
            self.values[value.at()] |= self.used.parameters[id.at()][place];
        }
    }

    fn need(&mut self, values: &[Value]) {
        for value in values {
            self.values[value.at()] = true;
        }
    }
}

/// Parameters and results that go.
pub struct Removed {
    /// By function.
    pub parameters: Vec<Vec<bool>>,
    /// By function.
    pub results: Vec<Vec<bool>>,
}

impl Removed {
    /// All stay.
    pub fn none(module: &Module) -> Removed {
        let functions = module.functions.iter();
        let parameters = functions
            .clone()
            .map(|one| vec![false; one.parameters().len()]);
        let results = functions.map(|one| vec![false; one.results.len()]);
        Removed {
            parameters: parameters.collect(),
            results: results.collect(),
        }
    }

    /// Removes them, and what is given for them. Their values are still used where their users are
    /// dead.
    pub fn take_out(&self, module: &mut Module) {
        for (at, function) in module.functions.iter_mut().enumerate() {
            retain(&mut function.blocks[0].parameters, &self.parameters[at]);
            retain(&mut function.results, &self.results[at]);
            for block in &mut function.blocks {
                for instruction in &mut block.instructions {
                    self.instruction(instruction);
                }
                match &mut block.terminator {
                    Terminator::Return(values) => retain(values, &self.results[at]),
                    Terminator::Tail(event, values) => {
                        self.events(std::slice::from_mut(event), values);
                    }
                    _other => {}
                }
            }
        }
    }

    fn instruction(&self, instruction: &mut Instruction) {
        match &mut instruction.op {
            Op::Call(id) => {
                retain(&mut instruction.operands, &self.parameters[id.at()]);
                retain(&mut instruction.results, &self.results[id.at()]);
            }
            Op::Loop(id, _) => retain(&mut instruction.operands, &self.parameters[id.at()]),
            Op::Queue(_, events) | Op::Output(events) => {
                self.events(events, &mut instruction.operands);
            }
            _other => {}
        }
    }

    fn events(&self, events: &mut [Event], operands: &mut Vec<Value>) {
        let mut rest = std::mem::take(operands).into_iter();
        for event in events {
            let mut own: Vec<Value> = rest.by_ref().take(event.arguments as usize).collect();
            if let Target::Function(id) = event.target {
                retain(&mut own, &self.parameters[id.at()]);
            }
            event.arguments = own.len() as u32;
            operands.extend(own);
        }
    }
}

/// Removes all that go.
fn retain<T>(all: &mut Vec<T>, goes: &[bool]) {
    let mut goes = goes.iter();
    all.retain(|_| goes.next() != Some(&true));
}
