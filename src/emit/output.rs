//! What a leaf lets happen: the first output at once, the others on the agenda.

use super::Stack;
use super::bypass;
use super::external;
use super::leaves;
use super::names::c_name;
use super::scope::Scope;
use super::tree::Body;
use crate::c::tree::{Expression as C, Statement as S, atom, binary, call};
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
            let is_alone = self.is_bypass && others.is_empty();
            match (*goal, *message) {
                (Goal::Frame(link), Some(message)) => {
                    self.leaves(leaves::last(self.stack, link), (link, message), out);
                }
                (goal, message) => self.at_once(goal, message, arguments, is_alone, out),
            }
        }
    }

    /// The host is told, and the step ends with each of these; what calls an application lets all
    /// go before it.
    pub fn answer(&mut self, outputs: &[Output], out: &mut Vec<S>) {
        for output in outputs {
            let Output::One {
                goal,
                message,
                arguments,
            } = output
            else {
                unreachable!("an answer is one event");
            };
            if external::is_call(self.stack, output) {
                self.event(*goal, *message, arguments, Room::Last, out);
                continue;
            }
            self.at_once(*goal, *message, arguments, false, out);
            let steps = atom("stack").behind("shared").member("steps");
            out.push(S::Assign(steps, "+=", atom("1")));
        }
    }

    /// Outputs wait on the agenda; where there is no room for all, the last ones are lost. So those
    /// that are put there from the last to the first leave room for each other; beside a family all
    /// are put there as they come, and then turned round.
    pub fn wait_all(&mut self, outputs: &[Output], out: &mut Vec<S>) {
        let kept: Option<Vec<bool>> = outputs.iter().map(|one| self.is_kept(one)).collect();
        // What takes a place of its own leaves those for all to what comes before it.
        let Some(kept) = kept.filter(|kept| kept.is_sorted_by(|one, next| *one || !next)) else {
            return self.in_order(out, |body, out| {
                outputs.iter().for_each(|output| body.wait(output, out));
            });
        };
        let first_usual = kept.iter().filter(|kept| **kept).count();
        for (place, output) in outputs.iter().enumerate().rev() {
            let room = match place.checked_sub(first_usual) {
                None => Room::Kept,
                Some(before) => Room::Usual { before },
            };
            self.wait_within(output, room, out);
        }
    }

    /// Whether a place is kept for an output on the agenda: for what begins or ends the life of an
    /// instance, and what tells an application of it. None of what is none or several events.
    fn is_kept(&self, output: &Output) -> Option<bool> {
        let Output::One { goal, .. } = output else {
            return None;
        };
        match goal {
            Goal::Reaction(reaction, _) => {
                self.stack.tree(*reaction)?;
                Some(matches!(
                    reaction,
                    Reaction::Handle {
                        event: Event::Start | Event::End,
                        ..
                    }
                ))
            }
            Goal::Port(port, _, Event::Notice(notice)) => {
                let how = self.stack.program.listened(*port);
                Some(how.is_some_and(|how| how.opened == Some(*notice)))
            }
            Goal::Port(_, _, event) => Some(*event == Event::Start),
            Goal::Frame(_) | Goal::Otherwise => Some(false),
        }
    }

    /// Outputs are put on the agenda where they stand, and turned round with all others later.
    pub fn put(&mut self, outputs: &[Output], out: &mut Vec<S>) {
        self.turns += 1;
        outputs.iter().for_each(|output| self.wait(output, out));
        self.turns -= 1;
    }

    /// A frame leaves by a link.
    fn leaves(&self, how: &str, (link, message): (LinkId, LocalId), out: &mut Vec<S>) {
        let link = atom(link.at().to_string());
        let message = self.scope.message_address(message);
        out.push(S::Do(call(how, vec![atom("stack"), link, message])));
    }

    /// An output is handled now: the last of a path, or another.
    fn at_once(
        &mut self,
        goal: Goal,
        message: Option<LocalId>,
        arguments: &[Expression],
        is_last: bool,
        out: &mut Vec<S>,
    ) {
        let address = |body: &Body, local| body.scope.message_address(local);
        match goal {
            Goal::Frame(link) => {
                let message = message.expect("a frame is a message");
                self.leaves("send_frame", (link, message), out);
            }
            Goal::Port(port, instance, event) => {
                let mut name = self.stack.names.ports[&(port, event)].clone();
                let is_now = is_last
                    && event == Event::Deliver
                    && external::is_call_to(self.stack, goal)
                    && bypass::puts_nothing(self.stack, self.tree.reaction);
                if is_now {
                    name = external::now(&name);
                }
                let mut all = vec![atom("stack"), self.index(instance)];
                all.extend(message.map(|local| address(self, local)));
                all.extend(arguments.iter().flat_map(|one| self.scope.arguments(one)));
                out.push(S::Do(call(name, all)));
                if let (true, Some(local)) = (is_now, message) {
                    let buffer = self.scope.of_message(local, "buffer");
                    out.push(external::given_back(buffer));
                }
            }
            Goal::Reaction(reaction, instance) => {
                let tree = self.stack.tree(reaction);
                let Some(tree) =
                    tree.filter(|_| !self.stack.comes_round(self.tree.reaction, reaction))
                else {
                    self.event(goal, message, arguments, Room::Next, out);
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
            // Nothing has been done.
            Goal::Otherwise => out.push(bypass::returned(false)),
        }
    }

    /// An output waits on the agenda, before what waits there already.
    pub fn wait(&mut self, output: &Output, out: &mut Vec<S>) {
        let room = match self.is_kept(output) {
            Some(true) => Room::Kept,
            Some(false) | None => Room::Usual { before: 0 },
        };
        self.wait_within(output, room, out);
    }

    fn wait_within(&mut self, output: &Output, room: Room, out: &mut Vec<S>) {
        match output {
            Output::One {
                goal,
                message,
                arguments,
            } => {
                self.event(*goal, *message, arguments, room, out);
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
        room: Room,
        out: &mut Vec<S>,
    ) {
        let (queued, instance) = match goal {
            Goal::Frame(link) => (Queued::Frame(link), None),
            Goal::Port(port, instance, event) => (Queued::Port(port, event), Some(instance)),
            Goal::Otherwise => unreachable!("who begins anew waits for nothing"),
            Goal::Reaction(reaction, instance) => match self.stack.tree(reaction) {
                Some(_) => (Queued::Reaction(reaction), instance),
                None => {
                    self.one_of((reaction, instance), message, arguments, room, out);
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
        if matches!(room, Room::Next) && external::calls_applications(self.stack.program) {
            fields.push(("follows".to_string(), atom("true")));
        }
        let kind = format!("struct {}_event", self.stack.names.stack);
        out.push(room.put(kind, fields));
    }

    /// An instance that is known only here, of a kind whose instances each have their own tree.
    fn one_of(
        &mut self,
        (reaction, instance): (Reaction, Option<Instance>),
        message: Option<LocalId>,
        arguments: &[Expression],
        room: Room,
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
                let goal = Goal::Reaction(own, None);
                self.event(goal, message, arguments, room, &mut body);
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

    /// One event for every live instance.
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
        let live = match on {
            Some(on) => {
                let below = super::standing::below(self.stack, kind, atom(&name));
                binary("&&", live, binary("==", below, self.index(on)))
            }
            None => live,
        };
        let room = Room::Usual { before: 0 };
        let mut told = Vec::new();
        self.event(goal, None, arguments, room, &mut told);
        let told = S::If {
            condition: live,
            then: told,
            otherwise: Vec::new(),
        };
        out.push(S::For {
            start: format!("uint32_t {name} = 0"),
            condition: binary("<", atom(&name), beside("pool").member("fresh")),
            step: format!("{name}++"),
            body: vec![told],
        });
    }
}

/// Which place on the agenda an event takes.
#[derive(Clone, Copy)]
enum Room {
    /// Its own, since it is handled next.
    Next,
    /// One of those for all; so many of these outputs come before it, for which it leaves some.
    Usual { before: usize },
    /// One that is kept for it.
    Kept,
    /// One of those for all, behind all that waits.
    Last,
}

impl Room {
    /// Puts an event on the agenda, if there is a place.
    fn put(self, kind: String, mut event: Vec<(String, C)>) -> S {
        let (put, before) = match self {
            Room::Next => ("next_step", 0),
            Room::Usual { before } => ("later", before),
            Room::Kept => ("kept", 0),
            Room::Last => ("let_others_go", 0),
        };
        if before > 0 {
            event.push(("before".to_string(), atom(before.to_string())));
        }
        S::Do(call(
            put,
            vec![atom("stack"), C::Struct(kind, event).address()],
        ))
    }
}

/// Whether the instances of a kind all exist from the start.
pub fn is_static(stack: &Stack, kind: KindId) -> bool {
    matches!(
        stack.program.kinds[kind.at()].population,
        Population::Static(_)
    )
}
