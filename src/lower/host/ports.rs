//! The tables of the host's side: in, links, ports and what exists from the start; out, their rows,
//! and the functions that they name.

use crate::ir::build::Builder;
use crate::ir::interface::{
    AttributeOfHost, Conversation, Link, Named, Notice, Numbered, Opening, Port,
};
use crate::ir::op::{Attempt, Op, Order, Target};
use crate::ir::{self, Probability, Role, Terminator, Type as Plain};
use crate::lower::Lower;
use crate::lower::code::Code;
use crate::lower::memory;
use crate::lower::shapes::{part_names, shape};
use crate::lower::tree::entry::labels;
use crate::tree::{Index, Reaction, starts};
use crate::types::program::{Event, KindId, NoticeId, Place, Population, Program, SessionIndex};

impl<'a> Lower<'a> {
    /// Adds links, ports, timers and entries.
    pub fn host(&mut self) {
        self.timers();
        for at in 0..self.program.links.len() {
            self.module.links[at] = self.link(at);
        }
        // Events may go to any port, so all are there before their entries are built.
        for at in 0..self.program.ports.len() {
            self.open_port(at);
        }
        self.settings_hold();
        self.starts();
    }

    /// Tables of ports whose entries come later: reactions name them.
    pub fn declare_ports(&mut self) {
        let program = self.program;
        for port in &program.ports {
            let up = port.up.iter().map(|id| notice(program, *id, None));
            let attributes = port.attributes.iter().map(|id| {
                let table = &program.attributes[id.at()];
                AttributeOfHost {
                    named: Named {
                        name: table.name.clone(),
                        shape: shape(program, &table.kind),
                    },
                    owner: table.owner.clone(),
                    parts: self.attribute(*id),
                }
            });
            let attributes = attributes.collect();
            let room = self.module.memory.room;
            let (longest, is_copied) = memory::longest(program, self.forest, port, room);
            self.module.ports.push(Port {
                name: port.name.clone(),
                calls: port.calls.clone(),
                session: conversation(program, port.below),
                sends: None,
                longest,
                is_copied,
                opens: None,
                listens: None,
                attributes,
                up: up.collect(),
                down: Vec::new(),
                grants: None,
            });
        }
        for link in &program.links {
            self.module.links.push(Link {
                name: link.name.clone(),
                calls: link.calls.clone(),
                gathers: link.gathers,
                arrives: ir::FunctionId(0),
                in_place: false,
                carrier: None,
            });
        }
    }

    fn link(&mut self, at: usize) -> Link {
        let program = self.program;
        let link = &program.links[at];
        let has_tree = |reaction| self.reactions.contains_key(&reaction);
        let first = starts::above(program, link.above, Event::Deliver, has_tree);
        let first = first.first().expect("a link carries a stack");
        let entry = &self.reactions[first];
        assert!(!entry.has_index, "a frame arrives at what is always there");
        let arrives = entry.function;
        let carrier = link.carrier.map(|notice| self.carrier(at, notice));
        Link {
            name: link.name.clone(),
            calls: link.calls.clone(),
            gathers: link.gathers,
            arrives,
            in_place: false,
            carrier,
        }
    }

    /// The function that tells who hears it that a link is up or down.
    fn carrier(&mut self, at: usize, notice: NoticeId) -> ir::FunctionId {
        let link = &self.program.links[at];
        let name = self.unique(&format!("{}.carrier", link.name));
        let build = Builder::new(&name, "", Role::Entry, &[(Plain::BIT, "up")]);
        let mut code = Code::new(&mut *self, build, &[]);
        let up = code.build.parameter(0);
        code.tell_above(link.above, Event::Notice(notice), up);
        code.build.end(Terminator::Return(Vec::new()));
        let function = code.build.finish(Vec::new());
        self.add(function)
    }

    /// The reactions to timers, by kind.
    fn timers(&mut self) {
        for at in 0..self.program.kinds.len() {
            let kind = KindId(at as u32);
            for timer in 0..self.program.kinds[at].timers.len() as u32 {
                let event = Event::Timer(crate::types::program::TimerId(timer));
                let expires = self.for_index(kind, event);
                self.module.kinds[at].timers[timer as usize].expires = expires;
            }
        }
    }

    /// The reaction of an instance to an event, which is given the index first; none if no
    /// instance handles it.
    fn for_index(&mut self, kind: KindId, event: Event) -> Option<ir::FunctionId> {
        let reaction = |index| Reaction::Handle { kind, index, event };
        if labels(self.program, kind) == 0
            && let Some(entry) = self.reactions.get(&reaction(Index::Any))
        {
            let only = (0..self.program.kinds[kind.at()].capacity).map(Index::Only);
            let mut only = only.map(reaction);
            if entry.has_index && !only.any(|one| self.reactions.contains_key(&one)) {
                return Some(entry.function);
            }
        }
        self.dispatch(kind, event)
    }

    /// A reaction that hands an event on to that of the instance with its index.
    fn dispatch(&mut self, kind: KindId, event: Event) -> Option<ir::FunctionId> {
        let program = self.program;
        let reaction = |index| Reaction::Handle { kind, index, event };
        let mut cases = Vec::new();
        let capacity = program.kinds[kind.at()].capacity;
        let below = program.sessions_below(kind);
        for index in 0..capacity {
            let label = below.map(|below| Index::Label(index / below));
            let own = label.unwrap_or(Index::Only(index));
            let found = [own, Index::Any].map(reaction);
            let found = found
                .into_iter()
                .find(|one| self.reactions.contains_key(one));
            cases.extend(found.map(|found| (index, found)));
        }
        let (_, first) = cases.first()?;
        let of_first = self.module.function(self.reactions[first].function).clone();
        let skipped = usize::from(self.reactions[first].has_index);
        let given = of_first.parameters()[skipped..].iter();
        let mut parameters = vec![(Plain::WORD, "index".to_string())];
        parameters.extend(given.map(|value| {
            let definition = &of_first.values[value.at()];
            (definition.of, definition.hint.clone())
        }));
        let parameters = parameters.iter().map(|(of, hint)| (*of, hint.as_str()));
        let parameters: Vec<(Plain, &str)> = parameters.collect();
        let name = self.unique(&format!("{}.any", of_first.name));
        let build = Builder::new(&name, &of_first.owner, Role::Reaction, &parameters);
        let mut code = Code::new(&mut *self, build, &[]);
        code.hand_on(&cases, below);
        let function = code.build.finish(Vec::new());
        Some(self.add(function))
    }

    /// Adds what an application does at a port.
    fn open_port(&mut self, at: usize) {
        let program = self.program;
        let port = &program.ports[at];
        let conversation = self.module.ports[at].session;
        let kind = KindId(conversation.kind.0);
        if port.passes {
            self.module.ports[at].sends = self.for_index(kind, Event::Send);
        }
        let mut down = Vec::new();
        for id in &port.down {
            let handled = self.downward(kind, *id);
            down.push(notice(program, *id, handled));
        }
        self.module.ports[at].down = down;
        let granted = port.granted(program);
        let place = port.down.iter().position(|id| Some(*id) == granted);
        self.module.ports[at].grants = place.map(|at| at as u32);
        if let Some(opened) = port.opens {
            let opening = self.opening((at, opened), false);
            self.module.ports[at].opens = Some(opening);
        }
        if let Some(how) = port.listens {
            let opening = self.opening((at, how.listener), true);
            self.module.ports[at].listens = Some(opening);
        }
    }

    /// The reaction to a notice of an application: the record's, or else the session's.
    fn downward(&mut self, session: KindId, notice: NoticeId) -> Option<ir::FunctionId> {
        let event = Event::Notice(notice);
        let entity = self.program.kinds[session.at()].entity;
        let record = self.program.entities[entity.at()].record;
        let index = Index::Only(0);
        let of_record = Reaction::Handle {
            kind: record,
            index,
            event,
        };
        match self.reactions.contains_key(&of_record) {
            true => self.ignoring_index(of_record),
            false => self.for_index(session, event),
        }
    }

    /// A reaction that is given an index that it does not need.
    fn ignoring_index(&mut self, reaction: Reaction) -> Option<ir::FunctionId> {
        let Reaction::Handle { kind, event, .. } = reaction else {
            return None;
        };
        self.dispatch(kind, event)
    }

    fn opening(&mut self, (at, kind): (usize, KindId), listens: bool) -> Opening {
        let program = self.program;
        let table = &program.kinds[kind.at()];
        let keys = table.keys.iter().map(|key| {
            let named = Named {
                name: key.name.clone(),
                shape: shape(program, &key.kind),
            };
            (named, key.default.is_some())
        });
        let keys: Vec<(Named, bool)> = keys.collect();
        let mut parameters = Vec::new();
        for (named, _) in keys.iter().filter(|(_, optional)| *optional) {
            parameters.push((Plain::BIT, format!("has_{}", named.name)));
        }
        for (named, _) in &keys {
            let names = part_names(&named.shape).into_iter();
            let all = names.zip(named.shape.parts());
            parameters.extend(all.map(|(part, of)| (of, format!("{}{part}", named.name))));
        }
        if listens {
            parameters.push((Plain::WORD, "backlog".to_string()));
        }
        let verb = if listens { "listen" } else { "open" };
        let name = self.unique(&format!("{}.{verb}", program.ports[at].name));
        let parameters = parameters.iter().map(|(of, hint)| (*of, hint.as_str()));
        let parameters: Vec<(Plain, &str)> = parameters.collect();
        let build = Builder::new(&name, "", Role::Entry, &parameters);
        let mut code = Code::new(&mut *self, build, &[]);
        code.open(at, kind, listens);
        let function = code.build.finish(vec![Plain::BIT, Plain::WORD]);
        let opens = self.add(function);
        let closes = listens.then(|| self.closes(at, kind));
        Opening {
            kind: self.kind(kind),
            keys,
            opens,
            closes,
            events: program.living_with(kind).len() as u32 + 1,
        }
    }

    /// The function that ends a listener.
    fn closes(&mut self, at: usize, kind: KindId) -> ir::FunctionId {
        let name = self.unique(&format!("{}.unlisten", self.program.ports[at].name));
        let build = Builder::new(&name, "", Role::Entry, &[(Plain::WORD, "index")]);
        let end = self.for_index(kind, Event::End);
        let mut code = Code::new(&mut *self, build, &[]);
        let index = code.build.parameter(0);
        let attempt = Attempt::Live(code.lower.kind(kind));
        let (done, failed) = code.attempt_op(attempt, &[index], Probability::ONE);
        code.build.go_to(failed);
        code.build.end(Terminator::Return(Vec::new()));
        code.build.go_to(done);
        let instance = code.build.parameter_of(done, 0);
        code.op(Op::End(code.lower.kind(kind)), &[instance]);
        if let Some(end) = end {
            code.queue(Order::Back, vec![(Target::Function(end), vec![index])]);
        }
        code.build.end(Terminator::Return(Vec::new()));
        let function = code.build.finish(Vec::new());
        self.add(function)
    }

    fn settings_hold(&mut self) {
        let program = self.program;
        let build = Builder::new("settings_hold", "", Role::Entry, &[]);
        let mut code = Code::new(&mut *self, build, &[]);
        for condition in program.config.iter().flat_map(|one| &one.constraints) {
            let bit = code.plain(condition);
            let (one, other) = code.build.branch(bit, Probability::ONE);
            code.build.go_to(other);
            let fails = code.bit(false);
            code.build.end(Terminator::Return(vec![fails]));
            code.build.go_to(one);
        }
        let holds = code.bit(true);
        code.build.end(Terminator::Return(vec![holds]));
        let function = code.build.finish(vec![Plain::BIT]);
        self.module.settings_hold = Some(self.add(function));
    }

    /// The function that makes what exists from the start.
    fn starts(&mut self) {
        let program = self.program;
        let build = Builder::new("start", "", Role::Entry, &[]);
        let mut code = Code::new(&mut *self, build, &[]);
        let mut events = Vec::new();
        for (at, table) in program.kinds.iter().enumerate() {
            let kind = KindId(at as u32);
            let Population::Static(all) = &table.population else {
                continue;
            };
            for (index, instance) in all.iter().enumerate() {
                let index = index as u32;
                let mut operands = vec![code.word(index)];
                operands.extend(code.constant_keys(kind, &instance.keys));
                code.op(Op::Begin(code.lower.kind(kind)), &operands);
                if let Some(function) = code.lower.initial(kind) {
                    code.op(Op::Call(function), &operands[..1]);
                }
                events.extend(code.start_of(kind, index, operands[0]));
            }
        }
        code.queue(Order::Back, events);
        for link in &program.links {
            if let Some(notice) = link.carrier {
                let up = code.bit(true);
                code.tell_above(link.above, Event::Notice(notice), up);
            }
        }
        code.build.end(Terminator::Return(Vec::new()));
        let function = code.build.finish(Vec::new());
        self.module.starts = Some(self.add(function));
    }
}

fn notice(program: &Program, id: NoticeId, handled: Option<ir::FunctionId>) -> Notice {
    let table = &program.notices[id.at()];
    let parameters = table.parameters.iter().map(|field| Named {
        name: field.name.clone(),
        shape: shape(program, &field.kind),
    });
    Notice {
        name: table.name.clone(),
        message: table.message,
        parameters: parameters.collect(),
        handled,
    }
}

fn conversation(program: &Program, below: Place) -> Conversation {
    let Place::Entity { entity, index, .. } = below else {
        panic!("a port stands on a session");
    };
    let kind = program.entities[entity.at()].session;
    let capacity = program.kinds[kind.at()].capacity;
    Conversation {
        kind: ir::KindId(kind.0),
        index: match index {
            SessionIndex::Only(only) => Numbered::Only(only),
            SessionIndex::Same => Numbered::From(0, capacity),
            SessionIndex::Label(label) => {
                let below = program.sessions_below(kind).expect("it has labels");
                Numbered::From(label * below, below)
            }
            SessionIndex::Keyed => panic!("a port stands on a session of its own"),
        },
    }
}
