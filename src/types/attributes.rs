//! Attributes that nobody set: in, a complete program; out, a mistake for each attribute without
//! default that some message does not have where it is read.
//!
//! Messages are followed from where they come into being (a link, a port, `new message`) through
//! all joints, containers and notices. What is followed is what they lack: a set that only grows,
//! so the walk is repeated until it does not.
//!
//! ```text
//! heartbeat: send new message          lacks peer
//!   udp: on send: ... message.peer     refused, pointing at both
//! ```

use super::expression::{Expression, Variable};
use super::header::Rule;
use super::program::{
    AttributeId, EntityId, Event, FieldId, HeaderFieldId, KindId, LocalId, NoticeId, Place,
    Population, Program,
};
use super::reads::{Read, Reading};
use super::statement::{
    Attempt, Block, Operation, Output, Source, Statement, StatementKind, TellTarget,
};
use crate::diagnostic::{Diagnostic, Id, Label};
use crate::source::Span;
use std::collections::BTreeMap;

/// What a message lacks, and where it came into being.
type Lacking = BTreeMap<AttributeId, Span>;

/// Reports what is read and may be unset.
pub fn check_attributes(program: &Program, diagnostics: &mut Vec<Diagnostic>) {
    let mut flow = Flow {
        program,
        reading: Reading::new(program),
        entries: BTreeMap::new(),
        arrivals: BTreeMap::new(),
        held: BTreeMap::new(),
        grown: true,
        unset: Vec::new(),
    };
    while std::mem::take(&mut flow.grown) {
        flow.unset.clear();
        flow.walk();
    }
    // Of one attribute and one origin, all places that read it are one mistake.
    let mut told: Vec<(AttributeId, Span, Diagnostic)> = Vec::new();
    for (attribute, place, origin) in flow.unset {
        let is_same =
            |one: &&mut (AttributeId, Span, Diagnostic)| (one.0, one.1) == (attribute, origin);
        match told.iter_mut().find(is_same) {
            None => told.push((attribute, origin, unset(program, attribute, place, origin))),
            Some((.., first)) if first.labels.len() < MOST_READERS => {
                first.labels.push(Label {
                    span: place,
                    text: "this reads it, too".to_string(),
                });
            }
            Some(_) => {}
        }
    }
    diagnostics.extend(told.into_iter().map(|(.., diagnostic)| diagnostic));
}

/// The most places that read an attribute and are shown beside the first.
const MOST_READERS: usize = 4;

fn unset(program: &Program, attribute: AttributeId, place: Span, origin: Span) -> Diagnostic {
    let attribute = &program.attributes[attribute.at()];
    let title = format!("`{}` may be unset where it is read", attribute.name);
    let why = format!(
        "The attribute `{}` of the service `{}` has no default, so each message that reaches this \
        read must have it set.",
        attribute.name, attribute.owner
    );
    let help = format!(
        "set it where the message is sent, `with {{ {} = … }}`, or declare a default",
        attribute.name
    );
    Diagnostic::error(Id::AttributeUnset, title, place, "this reads it")
        .label(origin, "a message from here does not have it")
        .why(why)
        .help(help)
}

struct Flow<'p> {
    program: &'p Program,
    reading: Reading<'p>,
    /// What messages lack that start an instant.
    entries: BTreeMap<(KindId, Event), Lacking>,
    /// What messages lack that come up to an entity.
    arrivals: BTreeMap<EntityId, Lacking>,
    /// What messages lack that a container holds.
    held: BTreeMap<(KindId, FieldId), Lacking>,
    grown: bool,
    unset: Vec<(AttributeId, Span, Span)>,
}

/// A body while it is walked.
struct Walk {
    entity: EntityId,
    locals: BTreeMap<LocalId, Lacking>,
}

impl<'p> Flow<'p> {
    fn walk(&mut self) {
        let program = self.program;
        for link in &program.links {
            if let Place::Entity { entity, .. } = link.above {
                let origin = program.entities[entity.at()].span;
                let lacking = self.all(origin);
                self.arrive(entity, &lacking);
            }
        }
        for port in &program.ports {
            if let Place::Entity { entity, .. } = port.below {
                let mut lacking = self.all(program.entities[entity.at()].span);
                lacking.retain(|attribute, _| !port.attributes.contains(attribute));
                let session = program.entities[entity.at()].session;
                self.enter(session, Event::Send, &lacking);
            }
        }
        for place in 0..program.entities.len() {
            self.arrival(EntityId(place as u32));
        }
        for handler in &program.handlers {
            let mut walk = Walk {
                entity: program.kinds[handler.kind.at()].entity,
                locals: BTreeMap::new(),
            };
            let entry = self.entries.get(&(handler.kind, handler.event));
            if let (Some(lacking), Some(first)) = (entry, handler.parameters.first()) {
                walk.locals.insert(*first, lacking.clone());
            }
            self.block(&mut walk, &handler.body);
        }
    }

    /// All attributes without a default.
    fn all(&self, origin: Span) -> Lacking {
        let attributes = self.program.attributes.iter().enumerate();
        let open = attributes.filter(|(_, attribute)| attribute.default.is_none());
        open.map(|(place, _)| (AttributeId(place as u32), origin))
            .collect()
    }

    /// A header is read, and a finder looks for the session.
    fn arrival(&mut self, entity: EntityId) {
        let program = self.program;
        let described = &program.entities[entity.at()];
        let Some(mut lacking) = self.arrivals.get(&entity).cloned() else {
            return;
        };
        self.header_reads(entity, &lacking, None);
        if let Some(mark) = described.mark {
            lacking.remove(&mark);
        }
        self.enter(described.session, Event::Deliver, &lacking);
        for finder in &described.finders {
            let mut walk = Walk {
                entity,
                locals: BTreeMap::new(),
            };
            let of_notice = self.entries.get(&(described.record, finder.event)).cloned();
            let message = match finder.event {
                Event::Deliver => Some(lacking.clone()),
                Event::Notice(_)
                | Event::Send
                | Event::Timer(_)
                | Event::Start
                | Event::End
                | Event::Again => of_notice,
            };
            if let (Some(message), Some(first)) = (message, finder.parameters.first()) {
                walk.locals.insert(*first, message);
            }
            for target in &finder.targets {
                for value in target.keys.iter().chain(&target.condition) {
                    self.check(&walk, value, finder.span);
                }
            }
            self.block(&mut walk, &finder.otherwise);
        }
    }

    /// What sums and rules of an entity's header read of the message.
    fn header_reads(&mut self, entity: EntityId, lacking: &Lacking, place: Option<Span>) {
        let program = self.program;
        let Some(header) = program.entities[entity.at()].header else {
            return;
        };
        let locals = BTreeMap::from([(LocalId::MESSAGE, lacking.clone())]);
        for field in &program.headers[header.at()].fields {
            let mut found: Vec<Read> = Vec::new();
            if let Rule::Checks { arguments, .. } = &field.rule {
                for argument in arguments {
                    self.reading.reads(argument, &mut found);
                }
            }
            // What is written is not judged.
            let judged = field.constraint.iter().chain(&field.present);
            for value in judged.filter(|_| place.is_none()) {
                self.reading.reads(value, &mut found);
            }
            self.report(&locals, &found, field.span);
        }
    }

    fn block(&mut self, walk: &mut Walk, block: &'p Block) {
        for statement in block {
            for value in statement.values() {
                self.check(walk, value, statement.span);
            }
            self.bind(walk, statement);
            if let StatementKind::Output(output) = &statement.kind {
                self.output(walk, output, statement.span);
            }
            for inner in statement.blocks() {
                self.block(walk, inner);
            }
        }
    }

    /// Messages that a statement binds to a local, or puts into a container.
    fn bind(&mut self, walk: &mut Walk, statement: &'p Statement) {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Attempt { attempt, bind, .. } => {
                let bound = match attempt {
                    Attempt::Pop(from)
                    | Attempt::TakeWindow(from, _)
                    | Attempt::ShareWindow(from, _) => self.taken(from),
                    Attempt::Message(source) => Some(self.source(walk, source, span)),
                    Attempt::Push(into, source) | Attempt::InsertWindow(into, _, source) => {
                        self.hold(walk, into, source, span);
                        None
                    }
                    Attempt::Instance(_)
                    | Attempt::Value(_)
                    | Attempt::PopValue(_)
                    | Attempt::PushValue(..)
                    | Attempt::InsertValue(..)
                    | Attempt::TakeValue(..)
                    | Attempt::InsertStream(..)
                    | Attempt::AppendStream(..)
                    | Attempt::Peek(..)
                    | Attempt::Restore(..)
                    | Attempt::Pad(..)
                    | Attempt::Rewrite(..) => None,
                };
                if let (Some(local), Some(lacking)) = (bind, bound) {
                    walk.locals.insert(*local, lacking);
                }
            }
            StatementKind::Drain { local, queue, .. } => {
                if let Some(lacking) = self.taken(queue) {
                    walk.locals.insert(*local, lacking);
                }
            }
            StatementKind::Do(Operation::ReplaceWindow(into, _, source)) => {
                self.hold(walk, into, source, span);
            }
            StatementKind::Do(_)
            | StatementKind::Let(..)
            | StatementKind::Require { .. }
            | StatementKind::Assign(..)
            | StatementKind::If { .. }
            | StatementKind::Match { .. }
            | StatementKind::For { .. }
            | StatementKind::Output(_)
            | StatementKind::Drop(..)
            | StatementKind::Consume(_)
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

    fn taken(&self, from: &Variable) -> Option<Lacking> {
        self.held.get(&container(from)?).cloned()
    }

    fn hold(&mut self, walk: &Walk, into: &Variable, source: &Source, span: Span) {
        let lacking = self.source(walk, source, span);
        if let Some(place) = container(into) {
            let held = self.held.entry(place).or_default();
            self.grown |= join(held, &lacking);
        }
    }

    /// What a message lacks that an output or a container is given.
    fn source(&self, walk: &Walk, source: &Source, span: Span) -> Lacking {
        match source {
            Source::Local(local) | Source::Share(local) | Source::Piece(local, _, _) => {
                walk.locals.get(local).cloned().unwrap_or_default()
            }
            Source::New
            | Source::NewFrom(..)
            | Source::TakeStream(..)
            | Source::SliceStream(..) => self.all(span),
        }
    }

    fn output(&mut self, walk: &Walk, output: &'p Output, span: Span) {
        match output {
            Output::Send {
                message,
                joint,
                header,
                attributes,
            } => {
                let lacking = self.given(walk, message, attributes, span);
                self.written(walk, header, &lacking, span);
                self.header_reads(walk.entity, &lacking, Some(span));
                let below = &self.program.entities[walk.entity.at()].below;
                if let Some(below) = below.get(*joint as usize)
                    && let Place::Entity { entity, .. } = below.place
                {
                    let session = self.program.entities[entity.at()].session;
                    self.enter(session, Event::Send, &lacking);
                }
            }
            Output::Deliver {
                message,
                attributes,
            } => {
                let lacking = self.given(walk, message, attributes, span);
                for above in self.above(walk.entity) {
                    self.arrive(above, &lacking);
                }
            }
            Output::Tell {
                target,
                event,
                message,
                arguments,
                attributes,
            } => {
                for argument in arguments {
                    self.check(walk, argument, span);
                }
                if let Some(message) = message {
                    let lacking = self.given(walk, message, attributes, span);
                    self.told(walk, *target, *event, &lacking);
                }
            }
            Output::Again => {}
        }
    }

    /// The values of header fields read the message as it goes out.
    fn written(
        &mut self,
        walk: &Walk,
        header: &[(HeaderFieldId, Expression)],
        lacking: &Lacking,
        span: Span,
    ) {
        let mut locals = walk.locals.clone();
        locals.insert(LocalId::MESSAGE, lacking.clone());
        for (_, value) in header {
            let mut found = Vec::new();
            self.reading.reads(value, &mut found);
            self.report(&locals, &found, span);
        }
    }

    /// What a message lacks once its `with` has been done.
    fn given(
        &mut self,
        walk: &Walk,
        message: &Source,
        attributes: &'p [(AttributeId, Expression)],
        span: Span,
    ) -> Lacking {
        let mut lacking = self.source(walk, message, span);
        for (attribute, value) in attributes {
            self.check(walk, value, span);
            lacking.remove(attribute);
        }
        lacking
    }

    fn told(&mut self, walk: &Walk, target: TellTarget, event: Event, lacking: &Lacking) {
        let program = self.program;
        let entity = &program.entities[walk.entity.at()];
        match (target, event) {
            (TellTarget::Instance(_, kind), event) => self.enter(kind, event, lacking),
            (TellTarget::Above, Event::Notice(notice)) => {
                let receivers = match entity.beside.contains(&notice) {
                    true => entity.users.clone(),
                    false => self.above(walk.entity),
                };
                for receiver in receivers {
                    self.hear(receiver, notice, lacking);
                }
            }
            (TellTarget::Below(joint), Event::Notice(notice)) => {
                if let Some(below) = entity.below.get(joint as usize)
                    && let Place::Entity { entity, .. } = below.place
                {
                    self.hear(entity, notice, lacking);
                }
            }
            (TellTarget::Side(side), Event::Notice(notice)) => self.hear(side, notice, lacking),
            (
                TellTarget::Above | TellTarget::Below(_) | TellTarget::Side(_),
                Event::Send
                | Event::Deliver
                | Event::Timer(_)
                | Event::Start
                | Event::End
                | Event::Again,
            ) => {}
        }
    }

    fn hear(&mut self, entity: EntityId, notice: NoticeId, lacking: &Lacking) {
        let described = &self.program.entities[entity.at()];
        for kind in [described.record, described.session] {
            self.enter(kind, Event::Notice(notice), lacking);
        }
    }

    fn enter(&mut self, kind: KindId, event: Event, lacking: &Lacking) {
        let entry = self.entries.entry((kind, event)).or_default();
        self.grown |= join(entry, lacking);
    }

    fn arrive(&mut self, entity: EntityId, lacking: &Lacking) {
        self.grown |= !self.arrivals.contains_key(&entity);
        let arrival = self.arrivals.entry(entity).or_default();
        self.grown |= join(arrival, lacking);
    }

    /// The entities that stand on the sessions of one.
    fn above(&self, entity: EntityId) -> Vec<EntityId> {
        let session = self.program.entities[entity.at()].session;
        let places: Vec<Option<Place>> = match &self.program.kinds[session.at()].population {
            Population::Static(instances) | Population::Labelled(instances) => {
                instances.iter().map(|one| one.above).collect()
            }
            Population::Dynamic { above } => vec![*above],
        };
        let entity = |place: Option<Place>| match place {
            Some(Place::Entity { entity, .. }) => Some(entity),
            Some(Place::Port(_) | Place::Link(_)) | None => None,
        };
        places.into_iter().filter_map(entity).collect()
    }

    fn check(&mut self, walk: &Walk, value: &Expression, span: Span) {
        let mut found = Vec::new();
        self.reading.reads(value, &mut found);
        self.report(&walk.locals, &found, span);
    }

    fn report(&mut self, locals: &BTreeMap<LocalId, Lacking>, found: &[Read], place: Span) {
        for (local, attribute) in found {
            let origin = locals.get(local).and_then(|lacking| lacking.get(attribute));
            let Some(origin) = origin else { continue };
            let known =
                |unset: &(AttributeId, Span, Span)| unset.0 == *attribute && unset.1 == place;
            if !self.unset.iter().any(known) {
                self.unset.push((*attribute, place, *origin));
            }
        }
    }
}

/// The field that holds a container.
fn container(variable: &Variable) -> Option<(KindId, FieldId)> {
    match variable {
        Variable::Field(_, kind, field) => Some((*kind, *field)),
        Variable::Local(_) => None,
        Variable::Element(of, _) | Variable::Part(of, _, _) => container(of),
    }
}

/// Adds what is lacking here too; whether that is more than before.
fn join(into: &mut Lacking, lacking: &Lacking) -> bool {
    let before = into.len();
    for (attribute, origin) in lacking {
        into.entry(*attribute).or_insert(*origin);
    }
    into.len() > before
}
