//! Loops of a tree: what they run over and what a turn does come in, `for` and `while` go out.

use super::containers;
use super::layout::c_type;
use super::returns::strip_last;
use super::state::is_zero;
use super::tree::Body;
use crate::c::tree::{Statement as S, atom, binary};
use crate::tree::{Loop, Range};
use crate::types::expression::{ExpressionKind, Variable};
use crate::types::value::{Type, Value};

impl Body<'_> {
    /// A loop; where `outputs` the leaves of its body hold what each turn lets happen.
    pub fn turns(&mut self, turns: &Loop, out: &mut Vec<S>) {
        if matches!(&turns.range, Range::Numbers { to, .. } if is_zero(&to.kind)) {
            // Nothing is less than zero, and compilers say so.
            return;
        }
        let around = self.block();
        let local = turns.local;
        self.visible.insert(local);
        let name = self.scope.name(local);
        let kind = c_type(self.stack, self.scope.kind(local));
        self.turns += 1;
        match &turns.range {
            Range::Numbers {
                from,
                to,
                at_most,
                clamped,
            } => {
                let start = crate::c::printer::expression(&self.scope.stored(from));
                let index = atom(&name);
                let mut body = Vec::new();
                let passed = match &*from.kind {
                    ExpressionKind::Constant(Value::Number(0)) => index.clone(),
                    _ => binary("-", index.clone(), self.scope.value(from)),
                };
                if let Some(count) = clamped {
                    let counter = self.counter(*count);
                    let beyond = binary("-", self.scope.value(to), index.clone());
                    let beyond = beyond.cast("uint64_t");
                    body.push(S::If {
                        condition: binary("==", passed, atom(at_most.to_string())),
                        then: vec![S::Assign(counter, "+=", beyond), S::Break],
                        otherwise: Vec::new(),
                    });
                }
                self.code(turns.body, None, false, &mut body);
                strip_last(&mut body);
                let condition = binary("<", index, self.scope.value(to));
                let start = format!("{kind} {name} = {start}");
                out.push(S::For {
                    start,
                    condition,
                    step: format!("{name}++"),
                    body,
                });
            }
            Range::Queue(queue, _) if *self.scope.kind(local) != Type::Message => {
                let turned = self.values_of(queue, turns);
                out.push(turned);
            }
            Range::Queue(queue, _) => {
                let condition = containers::pop(&self.scope, queue, local);
                let mut body = Vec::new();
                self.code(turns.body, None, false, &mut body);
                strip_last(&mut body);
                out.push(S::For {
                    start: format!("{kind} {name}"),
                    condition,
                    step: String::new(),
                    body,
                });
            }
        }
        self.turns -= 1;
        self.leave(around);
    }

    /// A loop over the values of a queue, which leave it.
    fn values_of(&mut self, queue: &Variable, turns: &Loop) -> S {
        let slot = self.scope.taken.take("slot");
        let pop = crate::c::printer::expression(&containers::pop_value(&self.scope, queue));
        let item = containers::items(&self.scope, queue).element(atom(&slot));
        self.visible.remove(&turns.local);
        let mut body = self.bind_item(turns.local, item);
        self.code(turns.body, None, false, &mut body);
        strip_last(&mut body);
        S::For {
            start: format!("uint32_t {slot} = {pop}"),
            condition: binary("!=", atom(&slot), atom("SL_NONE")),
            step: format!("{slot} = {pop}"),
            body,
        }
    }
}
