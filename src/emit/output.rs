//! What a leaf lets happen: the first output at once, the others on the agenda.

use super::Stack;
use super::names::c_name;
use super::scope::Scope;
use super::tree::Body;
use crate::c::tree::{Expression as C, Statement as S, atom, binary, call};
use crate::tree::walk::cut_in_pieces;
use crate::tree::{Goal, Index, Loop, Output, Reaction};
use crate::types::expression::{Expression, Instance};
use crate::types::program::{Event, KindId, LinkId, LocalId, Population, PortId};
use crate::types::value::Type;

/// What can stand on the agenda.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Queued {
    /// A reaction.
    Reaction(Reaction),
    /// A frame that leaves.
    Frame(LinkId),
    /// A message or notice for an application.
    Port(PortId, Event),
}

impl Queued {
    /// The function that handles it; of a frame what is told apart by its link.
    pub fn name(self, stack: &Stack) -> String {
        match self {
            Queued::Reaction(reaction) => stack.names.reactions[&reaction].clone(),
            Queued::Frame(link) => format!("frame_{}", stack.program.links[link.at()].name),
            Queued::Port(port, event) => stack.names.ports[&(port, event)].clone(),
        }
    }

    /// Its number among what stands on the agenda.
    pub fn work(self, stack: &Stack) -> C {
        atom(format!("DO_{}", self.name(stack).to_uppercase()))
    }

    /// The names and types of its arguments.
    pub fn arguments(self, stack: &Stack) -> Vec<(String, Type)> {
        match self {
            Queued::Reaction(reaction) => {
                let tree = stack.tree(reaction).expect("what is queued has a tree");
                let mut scope = Scope::new(stack, &stack.forest.locals);
                let named = tree
                    .parameters
                    .arguments
                    .iter()
                    .map(|local| (scope.name(*local), scope.kind(*local).clone()));
                named.collect()
            }
            Queued::Port(_, Event::Notice(notice)) => {
                let parameters = &stack.program.notices[notice.at()].parameters;
                parameters
                    .iter()
                    .map(|one| (c_name(&one.name), one.kind.clone()))
                    .collect()
            }
            Queued::Port(..) | Queued::Frame(_) => Vec::new(),
        }
    }
}

impl<'a> Body<'a> {
    /// A leaf: the last outputs wait behind the first.
    pub fn leaf(&mut self, outputs: &[Output], out: &mut Vec<S>) {
        if self.turns > 0 {
            outputs.iter().for_each(|output| self.wait(output, out));
            return;
        }
        let (first, others) = match outputs.split_first() {
            Some((
                Output::One {
                    goal,
                    message,
                    arguments,
                },
                others,
            )) => (Some((goal, message, arguments)), others),
            Some((Output::Many(_) | Output::Every { .. }, _)) | None => (None, outputs),
        };
        self.wait_all(others, out);
        if let Some((goal, message, arguments)) = first {
            self.at_once(*goal, *message, arguments, out);
        }
        self.consume_cut(outputs, out);
    }

    /// Outputs wait on the agenda. Families take buffers as they come, so that of several the
    /// first is made first.
    pub fn wait_all(&mut self, outputs: &[Output], out: &mut Vec<S>) {
        let is_family = |output: &&Output| matches!(output, Output::Many(_));
        if outputs.iter().filter(is_family).count() < 2 {
            outputs
                .iter()
                .rev()
                .for_each(|output| self.wait(output, out));
            return;
        }
        self.in_order(out, |body, out| {
            outputs.iter().for_each(|output| body.wait(output, out));
        });
    }

    /// Messages of which a family sends pieces have done their duty behind it.
    pub fn consume_cut(&self, outputs: &[Output], out: &mut Vec<S>) {
        for message in cut_in_pieces(&self.stack.forest.arena, outputs) {
            let message = self.scope.fate_of(message);
            out.push(S::Do(super::action::on_stack("consume", message)));
        }
    }

    /// An output is handled now.
    fn at_once(
        &mut self,
        goal: Goal,
        message: Option<LocalId>,
        arguments: &[Expression],
        out: &mut Vec<S>,
    ) {
        let address = |body: &Body, local| body.scope.message_address(local);
        match goal {
            Goal::Frame(link) => {
                let message = message.expect("a frame is a message");
                let all = vec![
                    atom("stack"),
                    atom(link.at().to_string()),
                    address(self, message),
                ];
                out.push(S::Do(call("send_frame", all)));
            }
            Goal::Port(port, instance, event) => {
                let name = self.stack.names.ports[&(port, event)].clone();
                let mut all = vec![atom("stack"), self.index(instance)];
                all.extend(message.map(|local| address(self, local)));
                all.extend(arguments.iter().flat_map(|one| self.scope.arguments(one)));
                out.push(S::Do(call(name, all)));
            }
            Goal::Reaction(reaction, instance) => {
                let tree = self.stack.tree(reaction);
                let Some(tree) =
                    tree.filter(|_| !self.stack.comes_round(self.tree.reaction, reaction))
                else {
                    self.event(goal, message, arguments, out);
                    let steps = atom("stack").behind("steps");
                    out.push(S::Comment(
                        "It is handled next, within this step.".to_string(),
                    ));
                    out.push(S::Assign(steps, "-=", atom("1")));
                    return;
                };
                let mut all = vec![atom("stack")];
                if tree.parameters.instance.is_some() {
                    all.push(self.index(instance.expect("its instance is given")));
                }
                if tree.parameters.message.is_some() {
                    all.push(self.scope.message(message.expect("its message is given")));
                }
                all.extend(arguments.iter().flat_map(|one| self.scope.arguments(one)));
                out.push(S::Do(call(
                    self.stack.names.reactions[&reaction].clone(),
                    all,
                )));
            }
        }
    }

    /// An output waits on the agenda, before what waits there already.
    pub fn wait(&mut self, output: &Output, out: &mut Vec<S>) {
        match output {
            Output::One {
                goal,
                message,
                arguments,
            } => {
                self.event(*goal, *message, arguments, out);
            }
            Output::Many(turns) => self.family(turns, out),
            Output::Every {
                kind,
                on,
                local,
                goal,
                arguments,
            } => {
                self.every((*kind, *on), *local, *goal, arguments, out);
            }
        }
    }

    fn event(
        &mut self,
        goal: Goal,
        message: Option<LocalId>,
        arguments: &[Expression],
        out: &mut Vec<S>,
    ) {
        let (queued, instance) = match goal {
            Goal::Frame(link) => (Queued::Frame(link), None),
            Goal::Port(port, instance, event) => (Queued::Port(port, event), Some(instance)),
            Goal::Reaction(reaction, instance) => match self.stack.tree(reaction) {
                Some(_) => (Queued::Reaction(reaction), instance),
                None => {
                    self.one_of(reaction, instance, message, arguments, out);
                    return;
                }
            },
        };
        self.queued.insert(queued);
        let mut fields = vec![("work".to_string(), queued.work(self.stack))];
        if let Some(instance) = instance {
            fields.push(("instance".to_string(), self.index(instance)));
        }
        if let Some(message) = message {
            fields.push(("message".to_string(), self.scope.message(message)));
        }
        let name = queued.name(self.stack);
        for ((parameter, kind), value) in queued.arguments(self.stack).into_iter().zip(arguments) {
            let place = |before: &str| format!("with.{name}.{before}{parameter}");
            if let Type::Optional(_) = kind {
                fields.push((place("has_"), self.scope.present(value)));
                fields.push((place(""), self.scope.unwrapped(value)));
            } else {
                fields.push((place(""), self.scope.stored(value)));
            }
        }
        let kind = format!("struct {}_event", self.stack.names.stack);
        out.push(S::Do(call(
            "later",
            vec![atom("stack"), C::Struct(kind, fields)],
        )));
    }

    /// An instance that is known only here, of a kind whose instances each have their own tree.
    fn one_of(
        &mut self,
        reaction: Reaction,
        instance: Option<Instance>,
        message: Option<LocalId>,
        arguments: &[Expression],
        out: &mut Vec<S>,
    ) {
        let Reaction::Handle { kind, event, .. } = reaction else {
            unreachable!("what arrives has a tree");
        };
        let mut cases = Vec::new();
        for at in 0..self.stack.program.kinds[kind.at()].capacity {
            let own = Reaction::Handle {
                kind,
                index: Index::Only(at),
                event,
            };
            if self.stack.tree(own).is_some() {
                let mut body = Vec::new();
                self.event(Goal::Reaction(own, None), message, arguments, &mut body);
                cases.push((vec![atom(at.to_string())], body));
            }
        }
        let value = self.index(instance.expect("which instance is known"));
        out.push(S::Switch {
            value,
            cases,
            otherwise: None,
        });
    }

    /// The outputs of all turns, in order.
    fn family(&mut self, turns: &Loop, out: &mut Vec<S>) {
        self.in_order(out, |body, out| body.turns(turns, out));
    }

    /// What puts outputs on the agenda from the first to the last, and then turns them round.
    fn in_order(&mut self, out: &mut Vec<S>, outputs: impl FnOnce(&mut Body<'a>, &mut Vec<S>)) {
        if self.turns > 0 {
            return outputs(self, out);
        }
        let since = self.scope.taken.take("since");
        out.push(S::Declare {
            kind: "const uint32_t".to_string(),
            name: since.clone(),
            value: Some(atom("stack").behind("waiting")),
        });
        self.turns += 1;
        outputs(self, out);
        self.turns -= 1;
        out.push(S::Do(call("reverse", vec![atom("stack"), atom(since)])));
    }

    /// One event for every live instance. Those that are put on the agenda by themselves are put
    /// there from the last to the first.
    fn every(
        &mut self,
        (kind, on): (KindId, Option<Instance>),
        local: LocalId,
        goal: Goal,
        arguments: &[Expression],
        out: &mut Vec<S>,
    ) {
        let name = self.scope.name(local);
        let pool = self.stack.names.kinds[self.stack.pool_of(kind).at()].clone();
        let beside = |suffix: &str| atom("stack").behind(format!("{pool}_{suffix}"));
        let live = call(
            "sl_pool_has",
            vec![beside("pool").address(), beside("next"), atom(&name)],
        );
        let in_order = self.turns > 0;
        let live = match on {
            Some(on) => {
                let below = super::standing::below(self.stack, kind, atom(&name));
                binary("&&", live, binary("==", below, self.index(on)))
            }
            None => live,
        };
        let mut told = Vec::new();
        self.turns += 1;
        self.event(goal, None, arguments, &mut told);
        self.turns -= 1;
        let told = S::If {
            condition: live,
            then: told,
            otherwise: Vec::new(),
        };
        let fresh = beside("pool").member("fresh");
        if in_order {
            out.push(S::For {
                start: format!("uint32_t {name} = 0"),
                condition: binary("<", atom(&name), fresh),
                step: format!("{name}++"),
                body: vec![told],
            });
            return;
        }
        out.push(S::Declare {
            kind: "uint32_t".to_string(),
            name: name.clone(),
            value: Some(fresh),
        });
        out.push(S::While {
            condition: binary("!=", atom(&name), atom("0")),
            body: vec![S::Assign(atom(&name), "-=", atom("1")), told],
        });
    }
}

/// Whether the instances of a kind all exist from the start.
pub fn is_static(stack: &Stack, kind: KindId) -> bool {
    matches!(
        stack.program.kinds[kind.at()].population,
        Population::Static(_)
    )
}
