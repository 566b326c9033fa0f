//! Events that wait, that leave the stack, and that follow within the same step.

use super::Printer;
use super::value::{Given, constant};
use crate::c::tree::{Expression as C, Statement as S, atom, call_statement};
use crate::ir::Value;
use crate::ir::op::{Event, Order, Target, Told};

impl Printer<'_> {
    /// Events wait on the agenda.
    pub fn queue(&mut self, order: Order, events: &[Event], operands: &[Value], out: &mut Vec<S>) {
        let turns = order == Order::Front && events.len() > 1;
        let since = turns.then(|| self.mark("since", out));
        for (event, given) in handed(events, operands) {
            let given = self.with_stack(given, out);
            let others = (order == Order::Back).then(|| self.mark("others", out));
            let name = self.stack.names.target(self.stack.module, event.target);
            out.push(call_statement(format!("later_{name}"), given));
            if let Some(others) = others {
                out.push(call_statement("sink", vec![atom("stack"), others]));
            }
        }
        if let Some(since) = since {
            out.push(call_statement("turn", vec![atom("stack"), since]));
        }
    }

    /// A local that says how much waits here.
    fn mark(&mut self, name: &str, out: &mut Vec<S>) -> C {
        let name = self.local(name);
        out.push(constant("uint32_t", &name, atom("stack").behind("waiting")));
        atom(name)
    }

    /// Events leave the stack. An application that is called hears of
    /// them when nothing else is under way.
    pub fn output(&mut self, events: &[Event], operands: &[Value], out: &mut Vec<S>) {
        for (event, operands) in handed(events, operands) {
            let given = match event.target {
                Target::Port(..) if !self.stack.module.calls_application(event.target) => {
                    self.with_value(operands, out)
                }
                _other => self.with_stack(operands, out),
            };
            let name = self.stack.names.target(self.stack.module, event.target);
            if self.stack.module.calls_application(event.target) {
                let others = self.mark("others", out);
                out.push(call_statement(format!("later_{name}"), given));
                out.push(call_statement("let_others_go", vec![atom("stack"), others]));
                continue;
            }
            let leaves = self.leaves(event.target, operands);
            out.push(leaves.unwrap_or_else(|| call_statement(format!("tell_{name}"), given)));
        }
    }

    /// A frame leaves by a link whose body is read in a stream; or in a hot function, which a
    /// compiler expands: the parts of its message are given one by one, so these stay in registers.
    fn leaves(&mut self, target: Target, operands: &[Value]) -> Option<S> {
        let (Target::Link(id), [message]) = (target, operands) else {
            return None;
        };
        let function = match (self.borrowed.contains(*message), self.stack.is_hot(self.id)) {
            (true, _) => "gather_frame",
            (false, true) => "send_frame",
            (false, false) => return None,
        };
        let message = self.message(*message);
        let link = &self.stack.names.links[id.at()].constant;
        let parts = ["data", "length", "buffer", "came_in"];
        let parts = parts.map(|part| message.member(part));
        let given = ["stack", link].map(atom).into_iter().chain(parts);
        Some(call_statement(function, given.collect()))
    }

    /// An event is handled within the same step.
    pub fn tail(&mut self, event: &Event, operands: &[Value], out: &mut Vec<S>) {
        if self.stack.runs_alone(self.id) && matches!(event.target, Target::Port(..)) {
            // Nothing else is under way.
            let grants = |port| self.stack.fast_grant(port).is_some();
            let verb = match (
                event.target,
                self.stack.module.calls_application(event.target),
            ) {
                (Target::Port(port, Told::Message), true) if grants(port) => "hot",
                (_, true) => "call",
                (_, false) => "tell",
            };
            let given = self.with_value(operands, out);
            let name = self.stack.names.target(self.stack.module, event.target);
            return out.push(call_statement(format!("{verb}_{name}"), given));
        }
        let given = self.with_stack(operands, out);
        let name = self.stack.names.target(self.stack.module, event.target);
        let function = match event.target {
            Target::Function(target) if self.stack.goes_round(self.id, target) => {
                format!("next_{name}")
            }
            Target::Function(_) | Target::Port(..) => name,
            Target::Link(_) => format!("tell_{name}"),
        };
        let leaves = self.leaves(event.target, operands);
        out.push(leaves.unwrap_or_else(|| call_statement(function, given)));
    }

    /// The arguments of an event of a port for the function that takes the struct of its message.
    fn with_value(&mut self, operands: &[Value], out: &mut Vec<S>) -> Vec<C> {
        let mut all = vec![atom("stack")];
        for operand in operands {
            match self.value(*operand, out) {
                Given::Message(variable) => all.push(variable.whole()),
                other => all.extend(other.arguments()),
            }
        }
        all
    }

    fn with_stack(&mut self, operands: &[Value], out: &mut Vec<S>) -> Vec<C> {
        let mut all = vec![atom("stack")];
        all.extend(self.arguments(operands, out));
        all
    }
}

/// Events with their arguments.
fn handed<'e>(events: &'e [Event], operands: &'e [Value]) -> Vec<(&'e Event, &'e [Value])> {
    let mut rest = operands;
    let all = events.iter().map(|event| {
        let (own, others) = rest.split_at(event.arguments as usize);
        rest = others;
        (event, own)
    });
    all.collect()
}
