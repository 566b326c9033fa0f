//! The entries of the host's side: in, what a host gives; out, the operations that open
//! conversations, tell of links, and hand events on to the instance with an index.

use crate::ir::op::{Attempt, Event as Sent, Op, Order, Target};
use crate::ir::{self, Edge, Probability, Terminator, Value};
use crate::lower::code::{Code, Name, Turn};
use crate::lower::shapes::parts;
use crate::tree::{Index, Reaction, starts};
use crate::types::program::{Event, KindId, Place, SessionIndex, Shape};
use crate::types::value::Type;

impl Code<'_, '_> {
    /// The event that starts an instance, if something handles it.
    pub fn start_of(
        &mut self,
        kind: KindId,
        at: u32,
        index: Value,
    ) -> Option<(Target, Vec<Value>)> {
        let event = Event::Start;
        let below = self.lower.program.sessions_below(kind);
        let own = match below {
            Some(below) => Index::Label(at / below),
            None => Index::Only(at),
        };
        let reaction = |index| Reaction::Handle { kind, index, event };
        let found = [own, Index::Any].map(reaction);
        let entry = found.iter().find_map(|one| self.lower.entry_of(*one))?;
        let operands = if entry.has_index {
            vec![index]
        } else {
            Vec::new()
        };
        Some((Target::Function(entry.function), operands))
    }

    /// A notice comes to a place from below: to its finder, or the record, or each session.
    pub fn tell_above(&mut self, place: Place, event: Event, up: Value) {
        let program = self.lower.program;
        let Place::Entity { entity, index, .. } = place else {
            return;
        };
        let table = &program.entities[entity.at()];
        let is_several = matches!(
            (table.shape, index),
            (Shape::Multiplexor, _)
                | (
                    Shape::Worker | Shape::Router,
                    SessionIndex::Same | SessionIndex::Keyed | SessionIndex::Label(_)
                )
        );
        let has_tree = |reaction| self.lower.reactions.contains_key(&reaction);
        let heard = starts::above(program, place, event, has_tree);
        let any = Reaction::Handle {
            kind: table.session,
            index: Index::Any,
            event,
        };
        if heard.is_empty() && is_several && self.lower.entry_of(any).is_some() {
            return self.tell_each(table.session, any, up);
        }
        let mut events = Vec::new();
        for reaction in heard {
            let entry = self.lower.reactions[&reaction].clone();
            assert!(!entry.has_index, "what is always there has no index");
            events.push((Target::Function(entry.function), vec![up]));
        }
        self.queue(Order::Back, events);
    }

    /// Tells each live session.
    fn tell_each(&mut self, kind: KindId, reaction: Reaction, up: Value) {
        let entry = self.lower.reactions[&reaction].clone();
        let capacity = self.lower.program.kinds[kind.at()].capacity;
        let count = self.number(64, u64::from(capacity));
        self.environment.names.insert(Name::First, vec![up]);
        let turn = Turn {
            carried: Vec::new(),
            returned: None,
        };
        self.repeated((count, capacity), turn, |code, number| {
            let live = Attempt::Live(code.lower.kind(kind));
            let (done, dead) = code.attempt_op(live, &[number], Probability::EVEN);
            code.build.go_to(dead);
            code.end_turn();
            code.build.go_to(done);
            let up = code.named(Name::First)[0];
            let target = Target::Function(entry.function);
            code.queue(Order::Back, vec![(target, vec![number, up])]);
            code.end_turn();
        });
        self.environment.names.remove(&Name::First);
    }

    /// Hands what a reaction is given on to the one that is for its index.
    pub fn hand_on(&mut self, cases: &[(u32, Reaction)], below: Option<u32>) {
        let parameters = self.build.parameters_of(ir::BlockId(0));
        let (index, rest) = (parameters[0], parameters[1..].to_vec());
        let blocks: Vec<ir::BlockId> = cases.iter().map(|_| self.build.block(&[])).collect();
        let none = self.build.block(&[]);
        let share = Probability(1_000_000 / (cases.len() as u32 + 1));
        let edges = cases.iter().zip(&blocks);
        let edges = edges.map(|((index, _), block)| (u64::from(*index), share, Edge::to(*block)));
        self.build.end(Terminator::Switch {
            value: index,
            cases: edges.collect(),
            otherwise: Edge::to(none),
        });
        for ((at, reaction), block) in cases.iter().zip(blocks) {
            self.build.go_to(block);
            let entry = self.lower.reactions[reaction].clone();
            let mut operands = Vec::new();
            if entry.has_index {
                let is_label = matches!(
                    reaction,
                    Reaction::Handle {
                        index: Index::Label(_),
                        ..
                    }
                );
                let below = below.filter(|_| is_label);
                operands.push(match below {
                    Some(below) => self.word(at % below),
                    None => index,
                });
            }
            operands.extend(&rest);
            let arguments = operands.len() as u32;
            let target = Target::Function(entry.function);
            let event = Sent { target, arguments };
            self.build.end(Terminator::Tail(event, operands));
        }
        self.build.go_to(none);
        for value in rest {
            if self.build.type_of(value).is_linear() {
                self.op(Op::Consume, &[value]);
            }
        }
        self.build.end(Terminator::Return(Vec::new()));
    }

    /// Makes an instance with the keys that a host gives, and those that it leaves out.
    pub fn open(&mut self, port: usize, kind: KindId, listens: bool) {
        let program = self.lower.program;
        let table = &program.kinds[kind.at()];
        let parameters = self.build.parameters_of(ir::BlockId(0));
        let failed = self.build.block(&[]);
        let optional = table
            .keys
            .iter()
            .filter(|key| key.default.is_some())
            .count();
        let (mut given, mut rest) = (parameters[..optional].iter(), &parameters[optional..]);
        let mut keys: Vec<Vec<Value>> = Vec::new();
        for key in &table.keys {
            let count = parts(program, &key.kind).len();
            let (own, others) = rest.split_at(count);
            rest = others;
            keys.push(own.to_vec());
        }
        for (at, key) in table.keys.iter().enumerate() {
            if let Some(default) = &key.default {
                let has = *given.next().expect("each of them has a bit");
                let known = default.given.iter();
                let known = known.flat_map(|key| keys[key.at()].clone()).collect();
                keys[at] = self.key_or_default(has, &keys[at], default.function, known, failed);
            }
        }
        let keys = keys.concat();
        self.require_new(kind, &keys, failed);
        let attempt = Attempt::Create(self.lower.kind(kind));
        let (done, full) = self.attempt_op(attempt, &keys, Probability::ONE);
        self.build.go_to(full);
        self.build.end(Terminator::Jump(Edge::to(failed)));
        self.build.go_to(failed);
        let results = [self.bit(false), self.word(0)];
        self.build.end(Terminator::Return(results.to_vec()));
        self.build.go_to(done);
        let instance = self.build.parameter_of(done, 0);
        let index = self.index_of(instance, kind);
        self.first_state(kind, index, &keys);
        let how = program.ports[port].listens.filter(|_| listens);
        if let Some((how, backlog)) = how.zip(rest.first()) {
            let place = self.lower.place(kind, how.backlog);
            self.store(place, &[instance], *backlog);
        }
        self.opened(port, kind, index, listens);
        let done = self.bit(true);
        self.build.end(Terminator::Return(vec![done, index]));
    }

    /// A key that a host gives, or else what its function finds.
    fn key_or_default(
        &mut self,
        has: Value,
        own: &[Value],
        function: crate::types::program::FunctionId,
        known: Vec<Value>,
        failed: ir::BlockId,
    ) -> Vec<Value> {
        let result = &self.lower.program.functions[function.at()].result;
        let is_optional = matches!(result, Type::Optional(_));
        self.choose(
            has,
            |_| own.to_vec(),
            |code| {
                let mut found = code.call_with(function, known, None, None);
                if is_optional {
                    let there = found.remove(0);
                    let (one, other) = code.build.branch(there, Probability::EVEN);
                    code.build.go_to(other);
                    code.build.end(Terminator::Jump(Edge::to(failed)));
                    code.build.go_to(one);
                }
                found
            },
        )
    }

    /// Goes on if no instance has these keys, and the session below is there.
    fn require_new(&mut self, kind: KindId, keys: &[Value], failed: ir::BlockId) {
        if !keys.is_empty() {
            let find = Attempt::Find(self.lower.kind(kind));
            let (found, new) = self.attempt_op(find, keys, Probability(0));
            self.build.go_to(found);
            self.build.end(Terminator::Jump(Edge::to(failed)));
            self.build.go_to(new);
        }
        if let Some(below) = self.lower.program.stands_on(kind) {
            let index = *keys
                .last()
                .expect("what stands on a session has it as its key");
            let live = Attempt::Live(self.lower.kind(below));
            let (there, gone) = self.attempt_op(live, &[index], Probability::ONE);
            self.build.go_to(gone);
            self.build.end(Terminator::Jump(Edge::to(failed)));
            self.build.go_to(there);
        }
    }

    /// The events behind an opening: the starts of all that live with it, and that it is open.
    fn opened(&mut self, port: usize, kind: KindId, index: Value, listens: bool) {
        let program = self.lower.program;
        let mut events = Vec::new();
        let standing = match listens {
            true => program.living_with(kind)[..1].to_vec(),
            false => program.living_with(kind),
        };
        for one in standing {
            let own = self.standing_index(one, index);
            let at = one.first;
            let by = match one.label {
                // The reaction for a label is given the session below.
                Some(_) => self.start_by(one.kind, at, index, own),
                None => self.start_of(one.kind, at, own),
            };
            events.extend(by);
        }
        let down = program.ports[port].down.iter().enumerate();
        for (at, id) in down.filter(|_| !listens) {
            let is_open = program.notices[id.at()].name == OPEN;
            let handled = self.lower.module.ports[port].down[at].handled;
            if let Some(function) = handled.filter(|_| is_open) {
                events.push((Target::Function(function), vec![index]));
            }
        }
        self.queue(Order::Back, events);
    }

    fn start_by(
        &mut self,
        kind: KindId,
        at: u32,
        below: Value,
        own: Value,
    ) -> Option<(Target, Vec<Value>)> {
        let labelled = self
            .lower
            .program
            .sessions_below(kind)
            .map(|below| at / below);
        let event = Event::Start;
        let reaction = |index| Reaction::Handle { kind, index, event };
        let by_label = labelled.map(|label| reaction(Index::Label(label)));
        match by_label.is_some_and(|one| self.lower.entry_of(one).is_some()) {
            true => self.start_of(kind, at, below),
            false => self.start_of(kind, at, own),
        }
    }
}

/// The notice that a session is told when its port opens it.
const OPEN: &str = "open";
