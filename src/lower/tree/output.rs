//! Outputs: in, the leaf of a tree and what it puts on the agenda; out, events.

use super::live::Live;
use crate::ir::op::{Attempt, Compare, Event as Sent, Op, Order, Target, Told};
use crate::ir::{FieldId, LinkId, PortId, Probability, Region, Terminator, Value};
use crate::lower::code::{Code, Name, Turn};
use crate::tree::{Goal, Index, Output, Reaction};
use crate::types::expression::{Expression, Instance};
use crate::types::program::{Event, KindId, LocalId, NoticeId, PortId as ProgramPort};

/// An event with its arguments.
type Made = (Target, Vec<Value>);

impl Code<'_, '_> {
    /// The end of a tree: the first event is handled at once, the others wait. In a turn of a loop
    /// all wait, and the next turn comes.
    pub fn leaf(&mut self, outputs: &[Output], live: &Live) {
        if self.turn.is_some() {
            self.free();
            for output in outputs {
                self.made(output, live);
            }
            return self.end_turn();
        }
        let is_one = |output: &Output| matches!(output, Output::One { .. });
        if !outputs.iter().all(is_one) || self.known(Name::Takes).is_some() {
            self.free();
        }
        if let Some(mark) = self.known(Name::Takes) {
            assert!(
                outputs.is_empty(),
                "what is handled at once was put on the agenda"
            );
            let mark = mark[0];
            return self.build.end(Terminator::Take(mark));
        }
        let (first, rest) = match outputs {
            [first @ Output::One { .. }, rest @ ..] => (Some(first), rest),
            all => (None, all),
        };
        let first = first.map(|first| self.event(first));
        if rest.iter().all(is_one) {
            let events = rest.iter().map(|output| self.event(output)).collect();
            self.free();
            self.queue(Order::Front, events);
        } else {
            self.wait(rest, live);
        }
        self.build.end(match first {
            None => Terminator::Return(Vec::new()),
            Some((target, operands)) => {
                let arguments = operands.len() as u32;
                Terminator::Tail(Sent { target, arguments }, operands)
            }
        });
    }

    /// Events wait in order, before all that waits.
    pub fn wait(&mut self, outputs: &[Output], live: &Live) {
        let is_one = |output: &Output| matches!(output, Output::One { .. });
        if outputs.iter().all(is_one) {
            let events = outputs.iter().map(|output| self.event(output)).collect();
            return self.queue(Order::Front, events);
        }
        let mark = self.value_of(Op::Waiting, &[]);
        self.put(outputs, live);
        self.op(Op::Turn, &[mark]);
    }

    /// Events wait as they are made.
    pub fn put(&mut self, outputs: &[Output], live: &Live) {
        for output in outputs {
            self.made(output, live);
        }
    }

    fn made(&mut self, output: &Output, live: &Live) {
        match output {
            Output::One { .. } => {
                let event = self.event(output);
                self.queue(Order::Made, vec![event]);
            }
            Output::Many(turns) => self.family(turns, live),
            Output::Every {
                kind,
                on,
                local,
                goal,
                arguments,
            } => self.every((*kind, *on), *local, goal, arguments),
        }
    }

    /// Lowers events that leave the stack, each in a step of its own. An event that calls an
    /// application lets all go before it, and the step goes on.
    pub fn answer(&mut self, outputs: &[Output]) {
        for output in outputs {
            let (events, operands) = listed(vec![self.event(output)]);
            let module = &self.lower.module;
            let calls = events
                .iter()
                .any(|one| module.calls_application(one.target));
            self.op(Op::Output(events), &operands);
            if !calls {
                let one = self.number(32, 1);
                self.op(Op::Step, &[one]);
            }
        }
    }

    /// An output that is one event.
    fn event(&mut self, output: &Output) -> Made {
        let Output::One {
            goal,
            message,
            arguments,
        } = output
        else {
            panic!("a family is more than one event");
        };
        self.sent(goal, *message, arguments)
    }

    fn sent(&mut self, goal: &Goal, message: Option<LocalId>, arguments: &[Expression]) -> Made {
        let (target, mut operands, headers) = match goal {
            Goal::Frame(link) => (Target::Link(LinkId(link.0)), Vec::new(), Vec::new()),
            Goal::Port(port, instance, event) => {
                let session = self.session(*port, *instance);
                let told = self.told(*port, *event);
                let target = Target::Port(PortId(port.0), told);
                (target, vec![session], Vec::new())
            }
            Goal::Reaction(reaction, instance) => self.reacting(*reaction, *instance),
        };
        let arguments = self.values(arguments);
        let views: Vec<Value> = headers
            .into_iter()
            .map(|header| match self.known(Name::Header(header)) {
                Some(view) => view[0],
                // Nobody reads a header of a message from which none was stripped.
                None => {
                    let local = message.expect("a header comes with a message");
                    self.data(local)
                }
            })
            .collect();
        operands.extend(message.map(|local| self.take_message(local)));
        operands.extend(views);
        operands.extend(arguments);
        (target, operands)
    }

    fn session(&mut self, port: ProgramPort, instance: Instance) -> Value {
        let _ = port;
        match instance {
            Instance::Local(local) => self.named(Name::Local(local))[0],
            Instance::Only(index) => self.word(index),
            Instance::Entity => self.word(0),
            Instance::Own => panic!("trees bind each instance"),
        }
    }

    fn told(&self, port: ProgramPort, event: Event) -> Told {
        let up = &self.lower.program.ports[port.at()].up;
        let place = |notice: NoticeId| up.iter().position(|one| *one == notice);
        match event {
            Event::Deliver => Told::Message,
            Event::Start => Told::Started,
            Event::Notice(notice) => {
                let place = place(notice).expect("a port lists what comes up to it");
                Told::Notice(place as u32)
            }
            Event::Send | Event::Timer(_) | Event::End | Event::Again => {
                unreachable!("an application is not told {event:?}")
            }
        }
    }

    /// The function of a reaction, its index, and the headers whose views it is given.
    fn reacting(
        &mut self,
        reaction: Reaction,
        instance: Option<Instance>,
    ) -> (Target, Vec<Value>, Vec<crate::types::program::HeaderId>) {
        let Some(entry) = self.lower.entry_of(reaction).cloned() else {
            return self.reacting_to_any(reaction, instance);
        };
        let mut operands = Vec::new();
        if entry.has_index {
            let index = match (instance, index_of(reaction)) {
                (Some(Instance::Local(local)), _) => self.named(Name::Local(local))[0],
                (Some(Instance::Only(index)), _) | (None, Index::Only(index)) => self.word(index),
                (Some(Instance::Entity), _) => self.word(0),
                (Some(Instance::Own) | None, _) => panic!("{reaction:?} is given its instance"),
            };
            operands.push(index);
        }
        let target = Target::Function(entry.function);
        (target, operands, entry.headers.into_iter().collect())
    }

    /// The function for any instance, where there is none for just this one.
    fn reacting_to_any(
        &mut self,
        reaction: Reaction,
        instance: Option<Instance>,
    ) -> (Target, Vec<Value>, Vec<crate::types::program::HeaderId>) {
        let (any, first) = match reaction {
            Reaction::Handle { kind, index, event } => {
                let first = match index {
                    Index::Label(label) => {
                        let below = self.lower.program.sessions_below(kind);
                        label * below.expect("it has labels")
                    }
                    Index::Only(_) | Index::Any => 0,
                };
                let index = Index::Any;
                (Reaction::Handle { kind, index, event }, first)
            }
            Reaction::Arrive {
                entity,
                joint,
                event,
                ..
            } => {
                let index = Index::Any;
                let any = Reaction::Arrive {
                    entity,
                    joint,
                    index,
                    event,
                };
                (any, 0)
            }
        };
        let entry = self.lower.entry_of(any).cloned();
        let entry = entry.unwrap_or_else(|| panic!("{reaction:?} has a tree"));
        let index = match (instance, index_of(reaction)) {
            (Some(Instance::Local(local)), _) => self.named(Name::Local(local))[0],
            (_, Index::Only(index)) | (Some(Instance::Only(index)), _) => self.word(index),
            (Some(Instance::Entity) | Some(Instance::Own) | None, _) => self.word(0),
        };
        let mut operands = Vec::new();
        if entry.has_index {
            let first = self.word(first);
            operands.push(self.sum_of(index, first));
        }
        let target = Target::Function(entry.function);
        (target, operands, entry.headers.into_iter().collect())
    }

    /// An event for each live instance of a kind, in order of index; on one session below alone.
    fn every(
        &mut self,
        (kind, on): (KindId, Option<Instance>),
        local: LocalId,
        goal: &Goal,
        arguments: &[Expression],
    ) {
        let program = self.lower.program;
        let capacity = program.kinds[kind.at()].capacity;
        let below = on.zip(program.stands_on(kind));
        let below = below.map(|(on, below)| self.index(on, below));
        let before = below.and_then(|below| {
            let names = &mut self.environment.names;
            names.insert(Name::First, vec![below])
        });
        let count = self.number(64, u64::from(capacity));
        let turn = Turn {
            carried: Vec::new(),
            returned: None,
        };
        self.repeated((count, capacity), turn, |code, number| {
            let rest = code.environment.clone();
            let live = Attempt::Live(code.lower.kind(kind));
            let (done, dead) = code.attempt_op(live, &[number], Probability::EVEN);
            code.build.go_to(dead);
            code.end_turn();
            code.build.go_to(done);
            code.environment = rest;
            let instance = code.build.parameter_of(done, 0);
            code.environment
                .instances
                .insert((number, kind.0), instance);
            if below.is_some() {
                code.only_on(kind, instance);
            }
            code.bind(Name::Local(local), vec![number]);
            let event = code.sent(goal, None, arguments);
            code.queue(Order::Made, vec![event]);
            code.end_turn();
        });
        match before {
            Some(before) => self.environment.names.insert(Name::First, before),
            None => self.environment.names.remove(&Name::First),
        };
    }

    /// Ends the turn unless an instance stands on the session below with this index.
    fn only_on(&mut self, kind: KindId, instance: Value) {
        let wanted = self.named(Name::First)[0];
        let key = self.lower.module.kinds[kind.at()].stands_on;
        let key: FieldId = key.expect("what stands on a session has it as its key");
        let region = Region::Field(self.lower.kind(kind), key);
        let own = self.load(region, &[instance]);
        let same = self.compare(Compare::Eq, own, wanted);
        let (one, other) = self.build.branch(same, Probability::EVEN);
        self.build.go_to(other);
        self.end_turn();
        self.build.go_to(one);
    }
}

fn index_of(reaction: Reaction) -> Index {
    match reaction {
        Reaction::Arrive { index, .. } | Reaction::Handle { index, .. } => index,
    }
}

/// Events, and the operands of all of them.
pub fn listed(events: Vec<Made>) -> (Vec<Sent>, Vec<Value>) {
    let mut operands = Vec::new();
    let mut all = Vec::new();
    for (target, own) in events {
        all.push(Sent {
            target,
            arguments: own.len() as u32,
        });
        operands.extend(own);
    }
    (all, operands)
}
