//! Outputs: what is sent, delivered and told, its values taken where the statement stands.

use super::block::Body;
use super::due::Due;
use super::frame::{Frame, name_of};
use super::joints::Hearer;
use super::{Lowering, reads};
use crate::tree::{Action, Goal, Index, NodeId, Output, Reaction};
use crate::types::expression::{Expression, ExpressionKind, Instance};
use crate::types::program::{AttributeId, Event, HeaderFieldId, KindId, LocalId, Place};
use crate::types::statement::{Output as Written, Source, Statement, TellTarget};
use crate::types::value::Type;

impl<'a> Lowering<'a> {
    /// An output is due at the end; its message is made ready here.
    pub fn output(
        &mut self,
        body: &mut Body<'a, '_>,
        output: &'a Written,
        inside: Vec<&'a [Statement]>,
        mut due: Due,
    ) -> NodeId {
        if let Written::Again = output {
            let Some(again) = body.again else {
                due.again = true;
                return self.rest(body, inside, due);
            };
            let next = self.rest(body, inside, due);
            let noted = Action::Let(again, Expression::number(1, Type::Bool));
            return self.act(noted, next);
        }
        let Some(source) = output.message() else {
            let mut steps = self.made_due(body.frame, output, None, &mut due);
            let every = |output: &Output| matches!(output, Output::Every { .. });
            if due.outputs.iter().any(every)
                && inside.iter().any(|rest| reads::begins_or_ends(rest))
            {
                steps.extend(body.put(&mut due));
            }
            let next = self.rest(body, inside, due);
            return self.steps(steps, next);
        };
        let without = due.clone();
        let message = match source {
            Source::Local(local) => body.frame.locals[local.at()],
            Source::New | Source::NewFrom(..) => self.fresh("made".to_string(), Type::Message),
            Source::Share(_) => self.fresh("shared".to_string(), Type::Message),
            Source::Piece(..) => self.fresh("part".to_string(), Type::Message),
            Source::TakeStream(..) | Source::SliceStream(..) => {
                self.fresh("joined".to_string(), Type::Message)
            }
        };
        let steps = self.made_due(body.frame, output, Some(message), &mut due);
        let next = self.rest(body, inside.clone(), due);
        let ready = self.steps(steps, next);
        if let Source::Local(_) = source {
            return ready;
        }
        let entity = self.program.kinds[body.frame.kind.at()].entity;
        let failed = self.rest(body, inside, without);
        let failed = match self.program.entities[entity.at()].no_buffer {
            Some(count) => self.act(Action::Count(count), failed),
            None => failed,
        };
        let source = body.frame.renamed(|renaming| renaming.source(source));
        self.message_from(source, message, ready, failed)
    }

    /// Adds the outputs that a statement means, and gives the steps that make them ready.
    fn made_due(
        &mut self,
        frame: &Frame<'a>,
        output: &'a Written,
        message: Option<LocalId>,
        due: &mut Due,
    ) -> Vec<Action> {
        let mut steps = Vec::new();
        let mut frame = frame.clone();
        let entity = self.program.kinds[frame.kind.at()].entity;
        match output {
            Written::Send {
                joint,
                header,
                attributes,
                ..
            } => {
                let message = message.expect("what is sent is a message");
                frame.message = Some(message);
                self.set_attributes(&frame, message, attributes, &mut steps);
                self.push_header(&frame, message, header, &mut steps);
                let below = &self.program.entities[entity.at()].below;
                let place = below[*joint as usize].place;
                let goal = self.downward(place, frame.facing(place), Event::Send);
                self.one(goal, Some(message), Vec::new(), due);
            }
            Written::Deliver { attributes, .. } => {
                let message = message.expect("what is delivered is a message");
                self.set_attributes(&frame, message, attributes, &mut steps);
                let above = self.above(&frame);
                let &(place, own): &(Place, Instance) =
                    above.first().expect("something stands above what delivers");
                let goal = self.upward(place, own, Event::Deliver);
                match frame.ends && self.is_gone(&frame, goal) {
                    true => steps.push(Action::Consume(message)),
                    false => self.one(goal, Some(message), Vec::new(), due),
                }
            }
            Written::Tell {
                target,
                event,
                arguments,
                attributes,
                ..
            } => {
                if let Some(message) = message {
                    self.set_attributes(&frame, message, attributes, &mut steps);
                }
                let arguments: Vec<Expression> = arguments
                    .iter()
                    .map(|e| self.settled(&frame, frame.expression(e), e, &mut steps))
                    .collect();
                self.tells(
                    &frame,
                    (*target, *event),
                    message,
                    arguments,
                    &mut steps,
                    due,
                );
            }
            Written::Again => unreachable!("`again` has no values"),
        }
        steps
    }

    /// Who is told hears it when the handler has finished.
    fn tells(
        &mut self,
        frame: &Frame<'a>,
        (target, event): (TellTarget, Event),
        message: Option<LocalId>,
        arguments: Vec<Expression>,
        steps: &mut Vec<Action>,
        due: &mut Due,
    ) {
        if let TellTarget::Instance(local, kind) = target {
            let goal = self.told(frame.found(frame.locals[local.at()]), kind, event);
            return self.one(goal, message, arguments, due);
        }
        let mut hearers = self.hearers(frame, target, event);
        if frame.ends && target == TellTarget::Above {
            hearers.retain(|hearer| !self.is_gone(frame, hearer.goal()));
        }
        match message {
            Some(message) if frame.ends && hearers.is_empty() => {
                steps.push(Action::Consume(message));
            }
            message => self.heard(hearers, message, arguments, due),
        }
    }

    fn one(
        &mut self,
        goal: Goal,
        message: Option<LocalId>,
        arguments: Vec<Expression>,
        due: &mut Due,
    ) {
        self.want_goal(goal);
        due.outputs.push(Output::One {
            goal,
            message,
            arguments,
        });
    }

    fn heard(
        &mut self,
        hearers: Vec<Hearer>,
        message: Option<LocalId>,
        arguments: Vec<Expression>,
        due: &mut Due,
    ) {
        assert!(
            message.is_none() || hearers.len() == 1,
            "a notice with a message has one hearer"
        );
        for hearer in hearers {
            match hearer {
                Hearer::One(goal) => self.one(goal, message, arguments.clone(), due),
                Hearer::Every(kind, on, goal) => {
                    let local = self.fresh("each".to_string(), Type::Instance(kind));
                    let each = Some(Instance::Local(local));
                    let goal = match goal {
                        Goal::Reaction(reaction, Some(_)) => Goal::Reaction(reaction, each),
                        Goal::Port(port, _, event) => {
                            Goal::Port(port, Instance::Local(local), event)
                        }
                        Goal::Reaction(_, None) | Goal::Frame(_) => goal,
                    };
                    due.outputs.push(Output::Every {
                        kind,
                        on,
                        local,
                        goal,
                        arguments: arguments.clone(),
                    });
                }
            }
        }
    }

    /// An instance is told directly; one that always exists has a tree of its own.
    pub fn told(&self, instance: Instance, kind: KindId, event: Event) -> Goal {
        let (index, instance) = match (instance, &self.indices(kind)[..]) {
            (Instance::Only(at), _) => (Index::Only(at), None),
            (_, [only @ Index::Only(_)]) => (*only, None),
            (Instance::Own | Instance::Entity | Instance::Local(_), _) => {
                (Index::Any, Some(instance))
            }
        };
        Goal::Reaction(Reaction::Handle { kind, index, event }, instance)
    }

    /// Sets attributes; values that read others of the same message are taken before any is set.
    fn set_attributes(
        &mut self,
        frame: &Frame<'a>,
        message: LocalId,
        attributes: &'a [(AttributeId, Expression)],
        steps: &mut Vec<Action>,
    ) {
        let mut set = Vec::new();
        for (attribute, value) in attributes {
            let mut value = frame.expression(value);
            let reads_set = reads::any(&value, &|part| match *part.kind {
                ExpressionKind::Attribute(of, read) => {
                    of == message && set.iter().any(|(known, _)| *known == read)
                }
                ExpressionKind::Call(..) => !set.is_empty(),
                _ => false,
            });
            if reads_set {
                value = self.taken(name_of(self.program, &value), value, steps);
            }
            set.push((*attribute, value));
        }
        steps.extend(
            set.into_iter()
                .map(|(attribute, value)| Action::SetAttribute(message, attribute, value)),
        );
    }

    fn push_header(
        &mut self,
        frame: &Frame<'a>,
        message: LocalId,
        values: &'a [(HeaderFieldId, Expression)],
        steps: &mut Vec<Action>,
    ) {
        let entity = self.program.kinds[frame.kind.at()].entity;
        if let Some(header) = self.program.entities[entity.at()].header {
            let values = values.iter().map(|(id, given)| {
                let value = frame.expression(given);
                // What a function in C gives is asked for once, in order on the wire.
                (
                    *id,
                    match self.calls_c(&value) {
                        true => self.taken(name_of(self.program, &value), value, steps),
                        false => value,
                    },
                )
            });
            let values: Vec<_> = values.collect();
            let declared = &self.program.headers[header.at()];
            let asked = declared.asks();
            steps.push(Action::Push {
                message,
                header,
                values,
                below: asked.map(|below| frame.expression(below)),
            });
        }
    }

    fn calls_c(&self, value: &Expression) -> bool {
        reads::any(value, &|part| match &*part.kind {
            ExpressionKind::Call(id, _) => self.program.functions[id.at()].calls_c,
            _ => false,
        })
    }

    /// A value as it is now: held by a local if it may be another at the end of the handler.
    pub fn settled(
        &mut self,
        frame: &Frame<'a>,
        value: Expression,
        written: &Expression,
        steps: &mut Vec<Action>,
    ) -> Expression {
        match &*value.kind {
            ExpressionKind::Read(crate::types::expression::Variable::Local(_)) => value,
            _ if frame.may_change(written) => {
                self.taken(name_of(self.program, &value), value, steps)
            }
            _ => value,
        }
    }

    fn taken(&mut self, name: String, value: Expression, steps: &mut Vec<Action>) -> Expression {
        let result = value.result.clone();
        let local = self.fresh(name, result.clone());
        steps.push(Action::Let(local, value));
        Expression::local(local, result)
    }
}
