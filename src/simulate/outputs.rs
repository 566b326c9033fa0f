//! Outputs of a handler that the reference interpreter runs: in, what it sends, delivers and tells;
//! out, the events that follow, their messages made ready where the statement stands.

use super::function::Body;
use super::header;
use super::joints::From;
use super::message::Message;
use super::reference::Handling;
use super::state::{Goal, Pending};
use super::value::Datum;
use crate::types::expression::Expression;
use crate::types::program::{AttributeId, EntityId, Event, HeaderFieldId, Role};
use crate::types::statement::{Output, Source, TellTarget};

impl<'p> Handling<'_, 'p> {
    /// Makes an output ready; it follows when the handler has finished.
    pub fn output(&mut self, output: &'p Output) {
        match output {
            Output::Send {
                message,
                joint,
                header,
                attributes,
            } => self.send(message, *joint, header, attributes),
            Output::Deliver {
                message,
                attributes,
            } => {
                let attributes = self.attributes(attributes);
                let Some(message) = self.ready(message, attributes) else {
                    return;
                };
                let goal = self.joints.delivery(self.kind, self.index);
                match self.is_gone(goal) {
                    true => self.state.consume(message),
                    false => self.push(goal, Some(message), Vec::new()),
                }
            }
            Output::Tell {
                target,
                event,
                message,
                arguments,
                attributes,
            } => self.tell(*target, *event, message.as_ref(), arguments, attributes),
            Output::Again => self.again = true,
        }
    }

    fn send(
        &mut self,
        source: &'p Source,
        joint: u32,
        header: &'p [(HeaderFieldId, Expression)],
        attributes: &'p [(AttributeId, Expression)],
    ) {
        let attributes = self.attributes(attributes);
        let Some(mut message) = self.ready(source, attributes) else {
            return;
        };
        let entity = self.state.program.kinds[self.kind.at()].entity;
        if let Some(id) = self.state.program.entities[entity.at()].header {
            // Its header reads the message that goes out, under either name.
            self.instant.message = Some(message.clone());
            if let Source::Local(local) = source {
                self.instant.locals[local.at()] = Datum::Message(Box::new(message.clone()));
            }
            let values = header::given(&mut self.evaluation(), id, header);
            header::push(&mut self.evaluation(), id, &values, &mut message);
            self.instant.message = None;
            if let Source::Local(local) = source {
                self.instant.locals[local.at()] = Datum::Absent;
            }
        }
        let goal = self.joints.sending(self.from(), joint);
        self.push(goal, Some(message), Vec::new());
    }

    fn tell(
        &mut self,
        target: TellTarget,
        event: Event,
        source: Option<&'p Source>,
        arguments: &'p [Expression],
        attributes: &'p [(AttributeId, Expression)],
    ) {
        let arguments = self.evaluation().values(arguments);
        let attributes = self.attributes(attributes);
        let message = match source {
            None => None,
            Some(source) => match self.ready(source, attributes) {
                None => return,
                message => message,
            },
        };
        let told = match target {
            TellTarget::Instance(local, kind) => {
                let index = self.instant.locals[local.at()].number() as u32;
                vec![Goal::Handle { kind, index, event }]
            }
            TellTarget::Above => {
                let joints = self.joints;
                let mut told = joints.told_above(self.state, self.kind, self.index, event);
                told.retain(|goal| !self.is_gone(*goal));
                let each = joints.tells_each(self.kind, self.index, event);
                let role = self.state.program.kinds[self.kind.at()].role;
                let is_gone = self.ends && role == Role::Session;
                if each && !is_gone {
                    self.begin_family();
                }
                told
            }
            TellTarget::Below(joint) => self.joints.told_below(self.from(), joint, event),
            TellTarget::Side(entity) => self.joints.told_aside(entity, event),
        };
        if let Some(message) = message {
            return match told.first() {
                Some(goal) => self.push(*goal, Some(message), arguments),
                None if self.ends => self.state.consume(message),
                None => panic!("a notice with a message has one hearer"),
            };
        }
        for goal in told {
            self.push(goal, None, arguments.clone());
        }
    }

    fn from(&self) -> From {
        From {
            kind: self.kind,
            index: self.index,
            below: self.instant.below,
        }
    }

    /// Whether what stands at the far side of a joint above has ended: at the end of a session all
    /// that lived on it has, but for an application.
    fn is_gone(&self, goal: Goal) -> bool {
        let lives_on = |entity: EntityId| {
            let program = self.state.program;
            let session = program.entities[entity.at()].session;
            let label = program.label_of(self.kind, self.index).unzip().0;
            let mut living = program.living_on(self.kind).into_iter();
            program.multiplexed_on(self.kind, label) == Some(session)
                || living.any(|standing| standing.kind == session)
        };
        self.ends
            && match goal {
                Goal::Arrive { entity, .. } => lives_on(entity),
                Goal::Handle { kind, .. } => {
                    let table = &self.state.program.kinds[kind.at()];
                    table.role == Role::Session && lives_on(table.entity)
                }
                Goal::Frame(_) | Goal::Port(..) => false,
            }
    }

    /// A message with these attributes; without a free buffer that is counted.
    fn ready(&mut self, source: &'p Source, set: Vec<(AttributeId, Datum)>) -> Option<Message> {
        let entity = self.state.program.kinds[self.kind.at()].entity;
        let mut message = self.evaluation().source_or_count(source, entity)?;
        for (attribute, value) in set {
            message.attributes[attribute.at()] = value;
        }
        Some(message)
    }

    fn attributes(
        &mut self,
        attributes: &'p [(AttributeId, Expression)],
    ) -> Vec<(AttributeId, Datum)> {
        let mut values = Vec::new();
        for (attribute, value) in attributes {
            values.push((*attribute, self.evaluation().value(value)));
        }
        values
    }

    /// An event that follows.
    pub fn push(&mut self, goal: Goal, message: Option<Message>, arguments: Vec<Datum>) {
        self.outputs.push(Pending {
            goal,
            message,
            arguments,
            waited: false,
        });
        if self.family {
            self.take_places(self.outputs.len() - 1);
        }
    }

    /// A family of outputs comes next. From here on those for which there is no room on the agenda
    /// are lost as they come: their buffers are free for what follows.
    pub fn begin_family(&mut self) {
        self.family_first |= self.outputs.is_empty();
        self.family = true;
        self.take_places(0);
    }

    /// Of the outputs from this one on those are lost for which there is no room.
    fn take_places(&mut self, first: usize) {
        let at_once = usize::from(!self.family_first);
        for event in self.outputs.split_off(first) {
            let place = self.outputs.len();
            match place < at_once || self.state.can_wait(event.goal, &self.outputs[at_once..]) {
                true => self.outputs.push(event),
                false => self.state.lose(event),
            }
        }
    }
}
