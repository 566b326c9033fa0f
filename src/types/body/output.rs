//! Outputs: `send`, `deliver` and `tell`, and what stands behind their `with`.
//!
//! A joint of a list is chosen at run time; a number beyond the list means the last joint:
//!
//! ```text
//! send message to ways[n]      match n { case 0 { send message to ways[0] }
//!                                        else { send message to ways[1] } }
//! ```

use super::super::expression::Instance;
use super::super::program::{Event, NoticeId, Role};
use super::super::statement::{self, Source, StatementKind};
use super::super::value::Type;
use super::words::{Body, listed};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::loom::ast;
use std::collections::BTreeMap;

impl Body<'_, '_> {
    /// `send message to short with { … }`
    pub fn send(&mut self, output: &ast::Output, span: Span) -> Option<StatementKind> {
        let joint = self.joint(output.to.as_ref(), span);
        let mut settings = self.settings(&output.with, self.scope.header, span);
        let message = self.source(&output.message);
        let header = match self.scope.header {
            Some(header) => self.written_fields(header, &mut settings, span),
            None => Vec::new(),
        };
        let message = message?;
        let attributes = self.set_attributes(settings.attributes, Some(&message));
        self.note_source(&message);
        Some(StatementKind::Output(statement::Output::Send {
            message,
            joint: joint?,
            header,
            attributes,
        }))
    }

    /// `deliver message with { … }`
    pub fn deliver(&mut self, output: &ast::Output, span: Span) -> Option<StatementKind> {
        if let Some(to) = &output.to {
            let title = "`deliver` takes no `to`: there is only one joint above";
            self.report(Diagnostic::error(
                Id::NotHere,
                title,
                to.name.span,
                "not needed",
            ));
        }
        if !self.scope.has_above {
            let entity = &self.context.program.entities[self.scope.entity.at()];
            let (layer, place) = (entity.layer.clone(), entity.span);
            let title = format!("nothing above `{layer}` receives its messages");
            let refused = Diagnostic::error(Id::NothingAbove, title, span, "no receiver");
            self.report(
                refused
                    .label(place, "the top layer of the stack")
                    .why("A layer that delivers messages needs a layer or a port above it.")
                    .help(format!("add `port NAME`: `{layer} {{ port NAME }}`")),
            );
        }
        if self.context.program.kinds[self.scope.kind.at()].role == Role::Record {
            let title = "an entity cannot deliver: only its sessions have a joint above";
            let refused = Diagnostic::error(Id::NotHere, title, span, "through which session?");
            self.report(refused.help("deliver in a handler of the session"));
        }
        let settings = self.settings(&output.with, None, span);
        let message = self.source(&output.message)?;
        let attributes = self.set_attributes(settings.attributes, Some(&message));
        self.note_source(&message);
        Some(StatementKind::Output(statement::Output::Deliver {
            message,
            attributes,
        }))
    }

    /// `tell above resolved(message, neighbour) with { … }`
    pub fn tell(
        &mut self,
        target: &ast::TellTarget,
        name: &ast::Name,
        arguments: &[ast::Expression],
        with: &[ast::Setting],
        span: Span,
    ) -> Option<StatementKind> {
        let (target, event) = self.told(target, name)?;
        let (mut carries, mut wanted) = (true, Vec::new());
        if let Event::Notice(notice) = event {
            let notice = &self.context.program.notices[notice.at()];
            let kinds = notice.parameters.iter().map(|field| field.kind.clone());
            (carries, wanted) = (notice.message, kinds.collect());
        }
        let settings = self.settings(with, None, span);
        if let (false, Some(first)) = (carries, with.first()) {
            let title = format!("`{name}` carries no message");
            let label = "an attribute needs a message";
            self.report(Diagnostic::error(
                Id::UnknownSetting,
                title,
                first.span,
                label,
            ));
        }
        let (message, rest) = match (carries, arguments.split_first()) {
            (true, Some((message, rest))) => (Some(message), rest),
            (true, None) => {
                let title = format!("`{name}` carries a message");
                let refused =
                    Diagnostic::error(Id::WrongArguments, title, span, "the message is missing");
                self.report(refused.help(format!("write `{name}(message, …)`")));
                return None;
            }
            (false, _) => (None, arguments),
        };
        let arguments = self.arguments(&name.text, &wanted, &[], rest, span);
        let message = match message {
            Some(message) => Some(self.source(message)?),
            None => None,
        };
        if let Some(message) = &message {
            self.note_source(message);
        }
        let attributes = self.set_attributes(settings.attributes, message.as_ref());
        Some(StatementKind::Output(statement::Output::Tell {
            target,
            event,
            message,
            arguments,
            attributes,
        }))
    }

    /// Whom a `tell` tells, and what.
    fn told(
        &mut self,
        target: &ast::TellTarget,
        name: &ast::Name,
    ) -> Option<(statement::TellTarget, Event)> {
        let scope = self.scope;
        match target {
            ast::TellTarget::Above(_) => {
                let notice = self.notice(&scope.above, name, "above")?;
                Some((statement::TellTarget::Above, Event::Notice(notice)))
            }
            ast::TellTarget::Below(_) => {
                let notice = self.notice(&scope.below, name, "below")?;
                Some((statement::TellTarget::Below(0), Event::Notice(notice)))
            }
            ast::TellTarget::Named(joint) => {
                let word = &joint.name.text;
                if let Some((entity, notices)) = scope.sides.get(word) {
                    let notice = self.notice(notices, name, word)?;
                    return Some((statement::TellTarget::Side(*entity), Event::Notice(notice)));
                }
                if let Some(at) = self.joint_called(joint) {
                    let notices = &scope.joints[at as usize].notices;
                    let notice = self.notice(notices, name, word)?;
                    return Some((statement::TellTarget::Below(at), Event::Notice(notice)));
                }
                self.told_instance(&joint.name, name)
            }
        }
    }

    fn told_instance(
        &mut self,
        joint: &ast::Name,
        name: &ast::Name,
    ) -> Option<(statement::TellTarget, Event)> {
        let local = self.local(&joint.text);
        let (local, kind) = match local.map(|local| (local, self.local_kind(local).clone())) {
            Some((local, Type::Instance(kind))) => (local, kind),
            Some((_, Type::Nothing)) => return None,
            _ => {
                let joints = self.joint_words();
                let mut known: Vec<&str> = self.scope.sides.keys().map(String::as_str).collect();
                known.extend(joints.iter().map(String::as_str));
                known.extend(["above", "below"]);
                self.unknown("joint or instance", joint, &known);
                return None;
            }
        };
        self.check_alive(Instance::Local(local), &format!("`{joint}`"), joint.span);
        let target = statement::TellTarget::Instance(local, kind);
        match name.text.as_str() {
            "deliver" => return Some((target, Event::Deliver)),
            "send" => return Some((target, Event::Send)),
            _ => {}
        }
        let definition = &self.context.program.kinds[kind.at()];
        let entity = &self.context.program.entities[definition.entity.at()].name;
        let owner = format!("{entity}.{}", definition.name);
        let notices = self.context.program.notices.iter().enumerate();
        let notices: BTreeMap<String, NoticeId> = notices
            .filter(|(_, notice)| notice.owner == owner)
            .map(|(at, notice)| (notice.name.clone(), NoticeId(at as u32)))
            .collect();
        let notice = self.notice(&notices, name, &joint.text)?;
        Some((target, Event::Notice(notice)))
    }

    fn notice(
        &mut self,
        known: &BTreeMap<String, NoticeId>,
        name: &ast::Name,
        place: &str,
    ) -> Option<NoticeId> {
        if let Some(notice) = known.get(&name.text) {
            return Some(*notice);
        }
        let names: Vec<&str> = known.keys().map(String::as_str).collect();
        let what = format!("notice for `{place}` called");
        self.unknown(&what, name, &names);
        None
    }

    fn joint(&mut self, to: Option<&ast::Joint>, span: Span) -> Option<u32> {
        let joints = &self.scope.joints;
        let words = self.joint_words();
        let names: Vec<&str> = words.iter().map(String::as_str).collect();
        match to {
            Some(to) => {
                let named = self.joint_called(to);
                if named.is_none() {
                    self.unknown("joint below called", &to.name, &names);
                }
                named
            }
            None if joints.len() == 1 => Some(0),
            None => {
                let (title, label) = match joints.len() {
                    0 => (
                        "this layer has no joint below",
                        "nothing to send it through",
                    ),
                    _ => (
                        "this layer has several joints below",
                        "the message is missing",
                    ),
                };
                let refused = Diagnostic::error(Id::NotHere, title, span, label);
                self.report(match names.as_slice() {
                    [] => refused,
                    names => refused.help(format!("add `to` and one of {}", listed(names))),
                });
                None
            }
        }
    }

    /// Whoever makes messages counts those for which there was no buffer.
    pub fn note_source(&mut self, message: &Source) {
        match message {
            Source::Local(_) => {}
            Source::New
            | Source::NewFrom(..)
            | Source::Share(_)
            | Source::Piece(..)
            | Source::TakeStream(..)
            | Source::SliceStream(..) => self.note_buffer(),
        }
    }

    /// Here a buffer is needed.
    pub fn note_buffer(&mut self) {
        let entity = self.scope.entity;
        let entities = &self.context.program.entities;
        if entities
            .get(entity.at())
            .is_some_and(|entity| entity.no_buffer.is_none())
        {
            let count = self.context.count(entity, "no_buffer");
            self.context.program.entities[entity.at()].no_buffer = Some(count);
        }
    }

    /// Returns what the joints below are called, a list once.
    pub fn joint_words(&self) -> Vec<String> {
        let names = self.scope.joints.iter().filter_map(|it| it.name.as_ref());
        let mut words: Vec<String> = names.map(|name| name.word.clone()).collect();
        words.dedup();
        words
    }

    /// Returns which joint below is meant, if it is one; of a list, its number is written.
    pub fn joint_called(&self, joint: &ast::Joint) -> Option<u32> {
        let number = joint.number.as_ref().and_then(written);
        let mut joints = self.scope.joints.iter();
        let at = joints.position(|it| {
            let name = it.name.as_ref();
            name.is_some_and(|it| it.word == joint.name.text && it.number == number)
        });
        at.map(|at| at as u32)
    }

    /// Returns the statement once for each joint of a list, if it names one by a value.
    pub fn for_each_joint(&self, source: &ast::Statement) -> Option<ast::Statement> {
        let joint = joint_of(&source.kind)?;
        let subject = joint.number.clone().filter(|it| written(it).is_none())?;
        let joints = self.scope.joints.iter().filter_map(|it| it.name.as_ref());
        let count = joints.filter(|it| it.word == joint.name.text && it.number.is_some());
        let last = (count.count() as u64).checked_sub(1)?;
        let span = source.span;
        let once = |number: u64| {
            let mut one = source.clone();
            if let Some(joint) = joint_in(&mut one.kind) {
                joint.number = Some(literal(number, subject.span));
            }
            ast::Block {
                statements: vec![one],
                span,
            }
        };
        let cases = (0..last).map(|number| ast::MatchCase {
            value: literal(number, subject.span),
            likely: None,
            body: once(number),
            span,
        });
        let cases = cases.collect();
        let otherwise = Some(once(last));
        let kind = ast::StatementKind::Match {
            subject,
            cases,
            otherwise,
        };
        let notes = source.notes.clone();
        Some(ast::Statement { notes, kind, span })
    }
}

fn joint_of(statement: &ast::StatementKind) -> Option<&ast::Joint> {
    match statement {
        ast::StatementKind::Send(output) => output.to.as_ref(),
        ast::StatementKind::Tell {
            target: ast::TellTarget::Named(joint),
            ..
        } => Some(joint),
        _other_statements => None,
    }
}

fn joint_in(statement: &mut ast::StatementKind) -> Option<&mut ast::Joint> {
    match statement {
        ast::StatementKind::Send(output) => output.to.as_mut(),
        ast::StatementKind::Tell {
            target: ast::TellTarget::Named(joint),
            ..
        } => Some(joint),
        _other_statements => None,
    }
}

/// Returns the number of a joint that is written as one.
fn written(number: &ast::Expression) -> Option<u32> {
    match &number.kind {
        ast::ExpressionKind::Number(number) => u32::try_from(*number).ok(),
        _other_values => None,
    }
}

fn literal(number: u64, span: Span) -> ast::Expression {
    let kind = ast::ExpressionKind::Number(number);
    ast::Expression { kind, span }
}
