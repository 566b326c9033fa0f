//! Who owes credit: in, the checked handlers of one entity; out, for each local that holds a
//! message whether that came with credit, and the first thing after which nobody could say.
//!
//! What is known of the fields that keep messages, and of what instances are told with a message,
//! is joined over all handlers until nothing changes: `free`, then `owed`, or both.

use super::super::expression::Variable;
use super::super::program::{
    EntityId, Event, FieldId, Handler, KindId, LocalId, Population, Program, Role,
};
use super::super::statement::{
    Attempt, Block, Dropped, Operation, Output, Source, Statement, StatementKind, TellTarget,
};
use super::super::value::Type;
use super::Way;
use crate::source::Span;
use std::collections::BTreeMap;

/// Whether a message came with credit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Debt {
    /// Nothing is known to come here.
    #[default]
    Nothing,
    /// It did not.
    Free,
    /// It did.
    Owed,
    /// Some did, and some did not.
    Mixed,
}

impl Debt {
    fn join(self, other: Debt) -> Debt {
        match (self, other) {
            (Debt::Nothing, one) | (one, Debt::Nothing) => one,
            (one, other) if one == other => one,
            _ => Debt::Mixed,
        }
    }

    fn may_owe(self) -> bool {
        matches!(self, Debt::Owed | Debt::Mixed)
    }
}

/// Something after which nobody can say what became of credit.
#[derive(Clone, Copy, Debug)]
pub struct Trouble {
    pub span: Span,
    pub what: &'static str,
    /// It is enough to pass grants on.
    pub may_pass: bool,
}

/// What is kept, or told to an instance.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Place {
    Field(KindId, FieldId),
    Told(KindId, Event),
}

/// What is known of the locals of one body, and of all fields.
#[derive(Clone, Debug, Default)]
pub struct Locals {
    locals: BTreeMap<LocalId, Debt>,
    kept: BTreeMap<Place, Debt>,
}

impl Locals {
    /// What is known of a message.
    pub fn of(&self, message: LocalId) -> Debt {
        self.locals.get(&message).copied().unwrap_or(Debt::Free)
    }

    /// Whether all messages of a queue owe credit.
    pub fn is_owed_queue(&self, queue: &Variable) -> bool {
        self.of_field(queue) == Debt::Owed
    }

    fn of_field(&self, variable: &Variable) -> Debt {
        let place = field(variable);
        let kept = place.and_then(|place| self.kept.get(&place));
        kept.copied().unwrap_or_default()
    }

    fn of_source(&self, source: &Source) -> Debt {
        match source {
            Source::Local(message) => self.of(*message),
            Source::New
            | Source::NewFrom(..)
            | Source::Share(_)
            | Source::Piece(..)
            | Source::TakeStream(..)
            | Source::SliceStream(..) => Debt::Free,
        }
    }
}

/// What is known in all bodies of an entity.
pub struct Known {
    bodies: Vec<(KindId, Event, Locals)>,
    /// Where a multiplexor finds nobody.
    pub finder: Locals,
}

impl Known {
    /// What is known in a handler; none of what never runs.
    pub fn of_handler(&self, kind: KindId, event: Event) -> Option<&Locals> {
        let mut bodies = self.bodies.iter();
        let body = bodies.find(|(of, on, _)| *of == kind && *on == event);
        body.map(|(_, _, locals)| locals)
    }
}

/// What is known of one entity.
pub struct Account<'p> {
    program: &'p Program,
    entity: EntityId,
    way: Way,
    bytes: bool,
    kept: BTreeMap<Place, Debt>,
    bodies: Vec<(KindId, Event, Locals)>,
    finder: Locals,
    /// The instance is about to be gone, and its queues with it.
    ends: bool,
    /// What no layer can do to credit without saying so.
    trouble: Option<Trouble>,
    /// What a layer that does not speak of grants cannot do.
    added: Option<Trouble>,
    /// What a layer that lets grants end cannot do.
    passed: Option<Trouble>,
}

fn field(variable: &Variable) -> Option<Place> {
    match variable {
        Variable::Field(_, kind, field) => Some(Place::Field(*kind, *field)),
        Variable::Local(_) => None,
        Variable::Element(inner, _) | Variable::Part(inner, ..) => field(inner),
    }
}

impl<'p> Account<'p> {
    /// Follows all messages of an entity until nothing more is learnt.
    pub fn new(program: &'p Program, entity: EntityId, way: Way, bytes: bool) -> Account<'p> {
        let mut account = Account {
            program,
            entity,
            way,
            bytes,
            kept: BTreeMap::new(),
            bodies: Vec::new(),
            finder: Locals::default(),
            ends: false,
            trouble: None,
            added: None,
            passed: None,
        };
        loop {
            let before = account.kept.clone();
            account.follow();
            if account.kept == before {
                break;
            }
        }
        account.left_over();
        account
    }

    /// What nobody could say the credit of. A layer that does not handle the grant adds no
    /// messages; one that does passes it on, if it passes on what is counted.
    pub fn trouble(&self, relays: bool, passing: bool) -> Option<Trouble> {
        let other = match relays {
            true => self.added,
            false => self.passed.filter(|_| !passing),
        };
        self.trouble.or(other)
    }

    /// What has been learnt.
    pub fn known(self) -> Known {
        Known {
            bodies: self.bodies,
            finder: self.finder,
        }
    }

    fn follow(&mut self) {
        self.bodies.clear();
        (self.trouble, self.added, self.passed) = (None, None, None);
        let program = self.program;
        let ours = |handler: &&Handler| {
            let kind = &program.kinds[handler.kind.at()];
            let never =
                handler.event == Event::End && matches!(kind.population, Population::Static(_));
            kind.entity == self.entity && !never
        };
        for handler in program.handlers.iter().filter(ours).collect::<Vec<_>>() {
            let first = handler.parameters.first().copied();
            let first = first.filter(|local| handler.locals[local.at()].kind == Type::Message);
            let owes = self.given(handler.kind, handler.event);
            self.ends = handler.event == Event::End;
            let locals = self.body(&handler.body, first.map(|local| (local, owes)));
            self.ends = false;
            self.bodies.push((handler.kind, handler.event, locals));
        }
        let finders = program.entities[self.entity.at()].finders.iter();
        for finder in finders.filter(|finder| finder.event == Event::Deliver) {
            let owes = match self.way {
                Way::Up => Debt::Owed,
                Way::Down => Debt::Free,
            };
            let first = finder.parameters.first().map(|local| (*local, owes));
            self.finder = self.body(&finder.otherwise, first);
        }
    }

    /// What a handler's message owes.
    fn given(&self, kind: KindId, event: Event) -> Debt {
        let told = self.kept.get(&Place::Told(kind, event)).copied();
        let is_child = self.program.kinds[kind.at()].role == Role::Child;
        let counted = match self.way {
            Way::Up => event == Event::Deliver,
            Way::Down => event == Event::Send,
        };
        match (told, is_child) {
            (told, false) if counted => told.unwrap_or_default().join(Debt::Owed),
            (Some(told), _) => told,
            (None, _) => Debt::Free,
        }
    }

    fn body(&mut self, block: &Block, first: Option<(LocalId, Debt)>) -> Locals {
        let mut known = Locals {
            locals: first.into_iter().collect(),
            kept: self.kept.clone(),
        };
        self.block(block, &mut known);
        known.kept = self.kept.clone();
        known
    }

    fn block(&mut self, block: &Block, known: &mut Locals) {
        for statement in block {
            self.statement(statement, known);
            for inner in statement.blocks() {
                self.block(inner, known);
            }
        }
    }

    fn statement(&mut self, statement: &Statement, known: &mut Locals) {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Attempt { attempt, bind, .. } => {
                let owes = self.attempt(attempt, known, span);
                known.locals.extend(bind.map(|local| (local, owes)));
            }
            StatementKind::Drain { local, queue, .. } => {
                let owes = known.of_field(queue);
                known.locals.insert(*local, owes);
            }
            StatementKind::Do(operation) => self.operation(operation, known, span),
            StatementKind::Output(output) => self.output(output, known, span),
            StatementKind::Drop(Dropped::Message(message), _) | StatementKind::Consume(message) => {
                self.check_known(known.of(*message), span);
            }
            StatementKind::Drop(Dropped::Container(container), _) => {
                let owes = known.of_field(container);
                let is_queue = matches!(self.type_of(container), Some(Type::Queue(..)));
                let is_counted = is_queue && owes == Debt::Owed && !self.ends;
                if owes.may_owe() && !is_counted {
                    self.cannot_say(span, "the number of messages dropped here is unknown");
                }
            }
            StatementKind::Let(..)
            | StatementKind::Require { .. }
            | StatementKind::Assign(..)
            | StatementKind::If { .. }
            | StatementKind::Match { .. }
            | StatementKind::For { .. }
            | StatementKind::Count(_)
            | StatementKind::StartTimer(..)
            | StatementKind::StopTimer(..)
            | StatementKind::End(..)
            | StatementKind::Return(_)
            | StatementKind::Yield(_)
            | StatementKind::React(_)
            | StatementKind::Ordered(_) => {}
        }
    }

    /// What an attempt's message owes.
    fn attempt(&mut self, attempt: &Attempt, known: &Locals, span: Span) -> Debt {
        match attempt {
            Attempt::Pop(from) | Attempt::TakeWindow(from, _) => return known.of_field(from),
            Attempt::Push(into, source) | Attempt::InsertWindow(into, _, source) => {
                self.keep(field(into), known.of_source(source));
            }
            Attempt::InsertStream(_, _, message) | Attempt::AppendStream(_, message) => {
                if known.of(*message).may_owe() {
                    self.cannot_say(span, "the bytes of a stream no longer belong to a message");
                }
            }
            Attempt::Restore(message, _)
            | Attempt::Pad(message, _)
            | Attempt::Rewrite(message, ..)
                if self.bytes && known.of(*message).may_owe() =>
            {
                self.cannot_say(span, "the length of the message changes here");
            }
            Attempt::Message(source) => return known.of_source(source),
            Attempt::Instance(_)
            | Attempt::Value(_)
            | Attempt::PopValue(_)
            | Attempt::PushValue(..)
            | Attempt::InsertValue(..)
            | Attempt::TakeValue(..)
            | Attempt::ShareWindow(..)
            | Attempt::Peek(..)
            | Attempt::Restore(..)
            | Attempt::Pad(..)
            | Attempt::Rewrite(..) => {}
        }
        Debt::Free
    }

    fn operation(&mut self, operation: &Operation, known: &Locals, span: Span) {
        match operation {
            Operation::Skip(message, _)
            | Operation::Cut(message, _)
            | Operation::Rewrite(message, ..)
                if self.bytes && known.of(*message).may_owe() =>
            {
                self.cannot_say(span, "the length of the message may change here");
            }
            Operation::ReplaceWindow(window, _, source) => {
                self.keep(field(window), known.of_source(source));
                if known.of_field(window).may_owe() {
                    self.cannot_say(span, "the number of messages removed here is unknown");
                }
            }
            Operation::Release(container, _) if known.of_field(container).may_owe() => {
                self.cannot_say(span, "the number of messages released here is unknown");
            }
            Operation::Skip(..)
            | Operation::Cut(..)
            | Operation::Rewrite(..)
            | Operation::ReplaceValue(..)
            | Operation::Release(..)
            | Operation::Begin(..)
            | Operation::Clear(_)
            | Operation::Add(..)
            | Operation::Scale(..)
            | Operation::Call(..) => {}
        }
    }

    fn output(&mut self, output: &Output, known: &Locals, span: Span) {
        let Some(source) = output.message() else {
            return;
        };
        let owes = known.of_source(source);
        match (output, self.way) {
            (Output::Deliver { .. }, Way::Up) | (Output::Send { .. }, Way::Down) => {
                self.check_known(owes, span);
                let (place, what) = match (owes, self.way) {
                    (Debt::Free, Way::Up) => (
                        &mut self.added,
                        "this delivers a message that did not arrive by `deliver`",
                    ),
                    (Debt::Free, Way::Down) => (
                        &mut self.added,
                        "this sends a message that did not arrive by `send`",
                    ),
                    (_, Way::Up) => (
                        &mut self.passed,
                        "counted below, but no grant arrives there",
                    ),
                    (_, Way::Down) => (
                        &mut self.passed,
                        "counted above, but no grant arrives there",
                    ),
                };
                let may_pass = true;
                place.get_or_insert(Trouble {
                    span,
                    what,
                    may_pass,
                });
            }
            (Output::Deliver { .. } | Output::Send { .. }, _) => self.check_known(owes, span),
            (
                Output::Tell {
                    target: TellTarget::Instance(_, kind),
                    event,
                    ..
                },
                _,
            ) => self.keep(Some(Place::Told(*kind, *event)), owes),
            (Output::Tell { .. }, _) if owes.may_owe() => {
                self.cannot_say(span, "its message leaves with a notice");
            }
            (Output::Tell { .. } | Output::Again, _) => {}
        }
    }

    /// Instances that end with messages in them drop these, and so does a header that takes bytes.
    fn left_over(&mut self) {
        let table = &self.program.entities[self.entity.at()];
        let kept: Vec<_> = self
            .kept
            .iter()
            .map(|(place, owes)| (*place, *owes))
            .collect();
        for (place, owes) in kept {
            if let Place::Field(kind, field) = place
                && owes.may_owe()
                && may_end(self.program, kind)
                && self.program.left_at_end(kind).contains(&field)
            {
                self.cannot_say(table.span, "an instance may end while it holds messages");
            }
        }
        if self.bytes && table.header.is_some() {
            self.cannot_say(table.span, "its header counts on one side only");
        }
    }

    fn keep(&mut self, place: Option<Place>, owes: Debt) {
        if let Some(place) = place {
            let kept = self.kept.entry(place).or_default();
            *kept = kept.join(owes);
        }
    }

    fn check_known(&mut self, owes: Debt, span: Span) {
        if owes == Debt::Mixed {
            self.cannot_say(span, "this arrived with credit on some paths only");
        }
    }

    fn cannot_say(&mut self, span: Span, what: &'static str) {
        self.trouble.get_or_insert(Trouble {
            span,
            what,
            may_pass: false,
        });
    }

    fn type_of(&self, variable: &Variable) -> Option<&'p Type> {
        match field(variable)? {
            Place::Field(kind, field) => {
                Some(&self.program.kinds[kind.at()].fields[field.at()].kind)
            }
            Place::Told(..) => None,
        }
    }
}

/// Whether instances of a kind end while the stack runs.
fn may_end(program: &Program, kind: KindId) -> bool {
    let table = &program.kinds[kind.at()];
    match (&table.population, table.role) {
        (Population::Static(_), _) => false,
        (Population::Dynamic { .. } | Population::Labelled(_), Role::Session) => true,
        (Population::Dynamic { .. } | Population::Labelled(_), Role::Record | Role::Child) => {
            let mut handlers = program.handlers.iter();
            handlers.any(|handler| ends_in(&handler.body, kind))
        }
    }
}

fn ends_in(block: &Block, kind: KindId) -> bool {
    block.iter().any(|statement| {
        let itself = matches!(&statement.kind, StatementKind::End(_, of) if *of == kind);
        itself
            || statement
                .blocks()
                .into_iter()
                .any(|block| ends_in(block, kind))
    })
}
