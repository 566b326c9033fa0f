//! The checked program: one stack, all names resolved, all types known, nothing left to refuse.
//!
//! In: nothing, these are plain data. Out: what `reactive` turns into state trees and what the
//! reference interpreter runs as it stands.
//!
//! A layer that stands twice in a stack is here twice, once for each *entity*: its parameters are
//! constants or `config` values, `type address` is a plain type, and each joint is known. An
//! entity's fields live in *kinds* of instances: the entity record itself, its sessions, and each
//! `child`. Sessions of a static kind all exist from the start (a joint for each `key` of the
//! stack); those of a dynamic kind are made and ended while the stack runs.
//!
//! ```text
//! stack host { link tap { ethernet(..) { key 0x0806 arp(..)  key 0x0800 ipv4(..) {..} } } }
//!   entity 0 ethernet: kind ethernet (1), kind session static [ethertype 0x0806 | 0x0800]
//!   entity 1 arp:      kind arp (1), kind session static [()], kind neighbour dynamic [64]
//! ```

pub use super::code::{Filter, Function, Measures, Same};
use super::expression::Expression;
use super::header::Header;
use super::opening::{KeyDefault, Listening};
use super::process::StatementId;
use super::reactive::Reactive;
use super::statement::Block;
use super::value::{Type, Value};
use super::writing::Writings;
use crate::source::Span;
use std::collections::BTreeMap;

/// Declares the index of one table of [`Program`].
macro_rules! index {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// The place in its table.
            pub fn at(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

index! {
    /// A layer in this stack.
    EntityId
    /// A kind of instances: an entity record, its sessions, or one of its children.
    KindId
    /// A field of a kind, among [`Kind::fields`].
    FieldId
    /// A key of a kind, among [`Kind::keys`].
    KeyId
    /// A timer of a kind, among [`Kind::timers`].
    TimerId
    /// A handler, among [`Program::handlers`].
    HandlerId
    /// A local of a handler or function, among its `locals`.
    LocalId
    /// A header, among [`Program::headers`].
    HeaderId
    /// A field of a header, among [`Header::fields`].
    HeaderFieldId
    /// An attribute of messages, among [`Program::attributes`].
    AttributeId
    /// A notice, among [`Program::notices`].
    NoticeId
    /// A value set when the stack is started, among [`Program::config`].
    ConfigId
    /// A function, among [`Program::functions`].
    FunctionId
    /// A filter, among [`Program::filters`].
    FilterId
    /// A record type, among [`Program::records`].
    RecordId
    /// An enum type, among [`Program::enums`].
    EnumId
    /// A drop reason, among [`Program::reasons`].
    ReasonId
    /// A plain counter, among [`Program::counts`].
    CountId
    /// A link, among [`Program::links`].
    LinkId
    /// A port, among [`Program::ports`].
    PortId
}

impl LocalId {
    /// In the expressions of a header (defaults, `where`, `if`, sums): the message whose header it
    /// is. In a `send` it is the message that goes out, its attributes already set.
    pub const MESSAGE: LocalId = LocalId(u32::MAX);
}

/// A whole checked stack.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The stack's name, which prefixes all names of its C interface.
    pub name: String,
    /// Its documentation lines, without the slashes.
    pub docs: Vec<String>,
    /// Entities from the links up, in the order of writing.
    pub entities: Vec<Entity>,
    /// All kinds of instances; those of one entity stand together, its record first.
    pub kinds: Vec<Kind>,
    /// All handlers; those of one entity stand together, in the order of writing.
    pub handlers: Vec<Handler>,
    /// Headers of entities, and those that are only peeked at.
    pub headers: Vec<Header>,
    /// What travels beside every message.
    pub attributes: Vec<Attribute>,
    /// Notices of services, of children and of layers.
    pub notices: Vec<Notice>,
    /// What is set when the stack is started, in order of first use.
    pub config: Vec<Config>,
    /// Functions, once for each entity that uses them.
    pub functions: Vec<Function>,
    /// Filters, once for each set of constant names they read.
    pub filters: Vec<Filter>,
    /// Record types.
    pub records: Vec<Record>,
    /// Enum types.
    pub enums: Vec<Enum>,
    /// Why messages are dropped, in order of entity and of writing; the built-in ones among them.
    pub reasons: Vec<Reason>,
    /// What `count` counts.
    pub counts: Vec<Count>,
    /// Links, in order of writing.
    pub links: Vec<Link>,
    /// Ports, in order of writing.
    pub ports: Vec<Port>,
    /// The share of each event, in percent, as `traffic` says.
    pub traffic: Vec<(String, f64)>,
    /// Fast paths that are not formed: a reaction, and the number of its path, from 0.
    pub left_out: Vec<(String, u32)>,
    /// How the numbers of the sources are written there.
    pub writings: Writings,
    /// The windows that are released up to a number, with the field that this number always is, if
    /// it is one and the same field of the same instance.
    pub followed: BTreeMap<(KindId, FieldId), Option<(KindId, FieldId)>>,
}

/// A value set when the stack is started.
#[derive(Clone, Debug)]
pub struct Config {
    /// `config.NAME`.
    pub name: String,
    /// The type of the parameters it is given to.
    pub kind: Type,
    /// What a stack is given that does not say otherwise.
    pub default: Option<Value>,
    /// What must hold of it and of others; else the stack does not start.
    pub constraints: Vec<Expression>,
}

/// One layer in this stack.
#[derive(Clone, Debug)]
pub struct Entity {
    /// Unique in the stack: `as NAME`, or the layer's name, numbered from 2 where it repeats.
    pub name: String,
    /// The layer it was written as.
    pub layer: String,
    /// Its documentation lines.
    pub docs: Vec<String>,
    /// Worker, multiplexor or router.
    pub shape: Shape,
    /// The header it strips and pushes, if it has one.
    pub header: Option<HeaderId>,
    /// Its record.
    pub record: KindId,
    /// Its sessions.
    pub session: KindId,
    /// Its other kinds.
    pub children: Vec<KindId>,
    /// What it stands on; several for a router, in the order of its `requires`.
    pub below: Vec<Below>,
    /// Entities that reach it by a side joint, in order of the stack.
    pub users: Vec<EntityId>,
    /// Notices of the services that it gives those users: told above, these go to the users that
    /// handle them, and to nobody else.
    pub beside: Vec<NoticeId>,
    /// What it says about where a message or notice belongs.
    pub finders: Vec<Finder>,
    /// What is done as well when a message that arrives breaks the rules of the header, by the
    /// session that it comes to; by the record, where that is not known.
    pub refused: Block,
    /// Where somebody restores the service that it provides: the attribute in which its arriving
    /// header leaves how many bytes of the buffer stand before it; a message that did not come in,
    /// or was copied from one, has none.
    pub mark: Option<AttributeId>,
    /// Counts outputs that were left out because no buffer was free; none where it makes none.
    pub no_buffer: Option<CountId>,
    /// Where it stands in the stack.
    pub span: Span,
}

/// What a layer may be (Morpheus 2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Relates one lower and one upper session.
    Worker,
    /// Relates many upper sessions to one below.
    Multiplexor,
    /// Relates one upper session to many below.
    Router,
}

/// A joint below an entity.
#[derive(Clone, Debug)]
pub struct Below {
    /// The name under `requires NAME: service`, for `send … to NAME`.
    pub name: Option<String>,
    /// What is there.
    pub place: Place,
}

/// The far side of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// The bottom of the stack.
    Link(LinkId),
    /// The top of the stack.
    Port(PortId),
    /// A session of another entity. Going up into a multiplexor, its finder says which session,
    /// and `index` means nothing.
    Entity {
        /// The entity.
        entity: EntityId,
        /// Which of its sessions.
        index: SessionIndex,
        /// Going up: through which of its `below` joints the message comes.
        joint: u32,
    },
}

/// Which session stands at the far side of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SessionIndex {
    /// Always this one.
    Only(u32),
    /// The one with the same index as the session on this side: they live and end together.
    Same,
    /// Going down from a multiplexor: the one that the last key of the session on this side names.
    Keyed,
    /// Going down: of those that one session has there, the one with this label. That session has
    /// the same index as the one on this side; where a multiplexor stands on this side, it is the
    /// one that the last key names.
    Label(u32),
}

/// A kind of instances.
#[derive(Clone, Debug)]
pub struct Kind {
    /// Entity name, `session`, or the child's name.
    pub name: String,
    /// Whose it is.
    pub entity: EntityId,
    /// Record, sessions or children.
    pub role: Role,
    /// What it is found by.
    pub keys: Vec<Key>,
    /// How many there can be.
    pub capacity: u32,
    /// Its state, in order of writing.
    pub fields: Vec<Field>,
    /// Its timers.
    pub timers: Vec<String>,
    /// Whether all exist from the start; then the values of their keys and what stands on each.
    pub population: Population,
    /// Its processes, if it has any, which say what happens at an event.
    pub reactive: Option<Reactive>,
}

/// What a kind of instances is to its entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The one record that all share.
    Record,
    /// One for each conversation.
    Session,
    /// Anything else that is keyed.
    Child,
}

/// When the instances of a kind exist.
#[derive(Clone, Debug)]
pub enum Population {
    /// From the start to the end: a joint of the stack each.
    Static(Vec<StaticInstance>),
    /// They are created and end; all have the same above (none for children).
    Dynamic {
        /// What stands on each session.
        above: Option<Place>,
    },
    /// So many on each session below, a joint of the stack each: they live and end with it. The
    /// index of one is that of the session below, behind all those of the labels before its own.
    /// Their last key is the session below.
    Labelled(Vec<StaticInstance>),
}

/// An instance that is always there, or as long as the session on which it stands.
#[derive(Clone, Debug)]
pub struct StaticInstance {
    /// The values of its keys, but for the session below.
    pub keys: Vec<Value>,
    /// What stands on it; none for records and for what only side joints reach.
    pub above: Option<Place>,
}

/// A key of a kind.
#[derive(Clone, Debug)]
pub struct Key {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: Type,
    /// What it is where a port opens without it.
    pub default: Option<KeyDefault>,
}

/// A field of a kind or record.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: Type,
    /// What it begins as; containers begin empty. May read keys, config and functions.
    pub initial: Option<Expression>,
    /// Whether it is written once, when negotiated.
    pub once: bool,
    /// Whether it is a stream in which bytes can be held behind a gap: `insert` puts some in, and
    /// not `append` alone.
    pub has_gaps: bool,
}

/// What travels beside every message.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// Its name in the sources.
    pub name: String,
    /// The service or entity that declares it; `name` may repeat in different ones.
    pub owner: String,
    /// Its type.
    pub kind: Type,
    /// What a message has that nobody gave one; without, it is set before it is read (checked).
    pub default: Option<Value>,
}

/// An event other than send and deliver.
#[derive(Clone, Debug)]
pub struct Notice {
    /// Its name.
    pub name: String,
    /// The service that declares it, or the kind: `ENTITY.KIND` (`arp.neighbour`).
    pub owner: String,
    /// Whether it carries a message, as its first parameter.
    pub message: bool,
    /// Its other parameters.
    pub parameters: Vec<Field>,
}

/// A record type, or one that is written in C.
#[derive(Clone, Debug)]
pub struct Record {
    /// Its name.
    pub name: String,
    /// The entity that declares it.
    pub owner: String,
    /// Its fields.
    pub fields: Vec<Field>,
    /// Whether C alone knows what it is: `extern type`.
    pub external: bool,
}

/// An enum type.
#[derive(Clone, Debug)]
pub struct Enum {
    /// Its name.
    pub name: String,
    /// The service or entity that declares it; `name` may repeat in different ones.
    pub owner: String,
    /// Its names and their values on the wire, in order of writing (which is their order).
    pub names: Vec<(String, u64)>,
    /// `else NAME`: what all other values are; without, a header with another value is bad.
    pub other: Option<String>,
    /// Bits on the wire and in memory.
    pub width: u8,
}

impl Enum {
    /// The name of a value, or its number where it has no name of its own.
    pub fn word(&self, number: u64) -> String {
        let mut names = self.names.iter();
        let named = names.find(|(_, of)| *of == number);
        named.map_or(number.to_string(), |(name, _)| name.clone())
    }

    /// The value of a name.
    pub fn value(&self, name: &str) -> Option<u64> {
        let mut names = self.names.iter();
        names.find(|(own, _)| own == name).map(|(_, value)| *value)
    }
}

/// Why a message is dropped.
#[derive(Clone, Debug)]
pub struct Reason {
    /// Whose.
    pub entity: EntityId,
    /// Its name; the counter is `entity.name`.
    pub name: String,
}

/// A plain counter.
#[derive(Clone, Debug)]
pub struct Count {
    /// Whose.
    pub entity: EntityId,
    /// Its name.
    pub name: String,
}

/// The bottom of the stack: frames come in and leave.
#[derive(Clone, Debug)]
pub struct Link {
    /// Its name.
    pub name: String,
    /// The joint above it.
    pub above: Place,
    /// The longest packet of its bottom layer, in bytes; a frame has the header of that layer
    /// beside it.
    pub mtu: u32,
    /// What it tells at the start: that it is up.
    pub carrier: Option<NoticeId>,
    /// The function in C that is called with each frame that leaves; without, the host asks for it.
    pub calls: Option<String>,
    /// True if the host takes a frame in two parts.
    pub gathers: bool,
}

/// The top of the stack: where an application sits.
#[derive(Clone, Debug)]
pub struct Port {
    /// Its name.
    pub name: String,
    /// The sessions below it.
    pub below: Place,
    /// Whether an application sits here. Otherwise a multiplexor does, on sessions that come and
    /// go, which an application only opens here, and tells what it has to say.
    pub passes: bool,
    /// The dynamic kind whose keys `open` gives; none where all sessions below exist from the
    /// start.
    pub opens: Option<KindId>,
    /// The listeners beside that kind, if the layer has any.
    pub listens: Option<Listening>,
    /// Attributes an application may give with `send` and reads with what is delivered.
    pub attributes: Vec<AttributeId>,
    /// Notices that come up to the application.
    pub up: Vec<NoticeId>,
    /// Notices that the application may send down.
    pub down: Vec<NoticeId>,
    /// The function in C that is called with what comes up; without, the host asks for it.
    pub calls: Option<String>,
}

impl Port {
    /// The notice by which an application that is called says how much more may come up, where a
    /// layer below counts that: its function gives it back, as a number of a width that C has.
    pub fn granted(&self, program: &Program) -> Option<NoticeId> {
        let is_number = |kind: &Type| matches!(kind, Type::Unsigned(8 | 16 | 32 | 64));
        let is_grant = |id: &NoticeId| {
            let notice = &program.notices[id.at()];
            let counts = matches!(&notice.parameters[..], [one] if is_number(&one.kind));
            notice.name == "grant_delivers" && counts
        };
        let told = self.calls.iter().flat_map(|_| self.down.iter().copied());
        told.filter(|_| self.passes).find(is_grant)
    }
}

/// Says which instance an event belongs to, at a multiplexor.
#[derive(Clone, Debug)]
pub struct Finder {
    /// Deliver, or a notice.
    pub event: Event,
    /// The locals that its expressions read; the message first where there is one.
    pub locals: Vec<Local>,
    /// The event's parameters, among the locals, in order.
    pub parameters: Vec<LocalId>,
    /// Holds the session below from which the event comes, where those come and go.
    pub below: Option<LocalId>,
    /// What is done before: calls of functions in C for what is looked for.
    pub before: Block,
    /// Where to look, in order.
    pub targets: Vec<Target>,
    /// What happens when none is found; it owns the message.
    pub otherwise: Block,
    /// Where it is written.
    pub span: Span,
}

/// One place to look for an instance.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// The kind.
    pub kind: KindId,
    /// Its keys.
    pub keys: Vec<Expression>,
    /// Only if this holds.
    pub condition: Option<Expression>,
}

/// What starts an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Event {
    /// A message from above.
    Send,
    /// A message from below.
    Deliver,
    /// Another event, from above, below or beside.
    Notice(NoticeId),
    /// A timer of the instance has expired.
    Timer(TimerId),
    /// The instance has come into being.
    Start,
    /// The instance has ended; its slot is freed afterwards.
    End,
    /// It asked for another instant.
    Again,
}

/// Code for one event of one kind of instances.
#[derive(Clone, Debug)]
pub struct Handler {
    /// Whose instance runs it.
    pub kind: KindId,
    /// What starts it.
    pub event: Event,
    /// All its locals.
    pub locals: Vec<Local>,
    /// The event's parameters among them, in order: the message first where there is one.
    pub parameters: Vec<LocalId>,
    /// What it does. A layer that does not write a handler for an event that it relays has one
    /// here all the same, which relays. Of processes, all that they do, until `reactive` has
    /// settled what is done at this event.
    pub body: Block,
    /// What several of its paths lead to; each leads on only to those before it.
    pub blocks: Vec<Block>,
    /// Where its branches stand: which branch of each parallel statement around.
    pub places: Vec<Vec<(StatementId, u32)>>,
    /// Whether its ways meet again: each output is put where it is made.
    pub meets: bool,
    /// Where it is written, or its layer.
    pub span: Span,
}

/// A local of a handler or function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    /// Its name in the source.
    pub name: String,
    /// Its type; [`Type::Message`] for what is linear.
    pub kind: Type,
}

/// The subject of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Frames: their number, and their fates.
    Fate,
    /// Frames that arrived and were dropped for a reason.
    Dropped,
    /// Messages of the stack's own that were dropped for a reason.
    Unsent,
    /// Events that a layer counts.
    Count,
}

impl Counted {
    /// The prefix of the counter's name.
    pub fn prefix(self) -> &'static str {
        match self {
            Counted::Fate | Counted::Dropped => "",
            Counted::Unsent => "unsent ",
            Counted::Count => "count ",
        }
    }
}

impl Program {
    /// The counters of a stack in order: what each counts, and its name without the prefix.
    pub fn counters(&self) -> Vec<(Counted, String)> {
        let fates = [
            "frames_in",
            "frames_out",
            "delivered",
            "consumed",
            "merged",
            "held",
        ];
        let mut all = Vec::from_iter(fates.map(|name| (Counted::Fate, name.to_string())));
        let entity = |id: EntityId| &self.entities[id.at()].name;
        for what in [Counted::Dropped, Counted::Unsent] {
            let reasons = self.reasons.iter();
            all.extend(reasons.map(|one| (what, format!("{}.{}", entity(one.entity), one.name))));
            let own = ["too_long", "no_session", "agenda_full"];
            all.extend(own.map(|name| (what, format!("stack.{name}"))));
        }
        let counts = self.counts.iter();
        let counts = counts.map(|one| format!("{}.{}", entity(one.entity), one.name));
        all.extend(counts.map(|name| (Counted::Count, name)));
        all
    }
}
