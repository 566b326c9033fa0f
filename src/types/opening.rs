//! What ports open and listen with: keys that may be left out, and the fields in which listeners
//! count the sessions that wait to be accepted.
//!
//! In: a port, the sessions that it opens, and the child `listener` beside them. Out: a
//! [`Listening`], for which both kinds get fields that no source can name.

use super::expression::Expression;
use super::program::{Field, FieldId, FunctionId, KeyId, KindId, NoticeId, PortId, Program};
use super::value::Type;

/// What computes a key that a port is not given.
#[derive(Clone, Debug)]
pub struct KeyDefault {
    /// Gives the key; where it gives an optional, none refuses to open.
    pub function: FunctionId,
    /// The keys that the function is given, in order.
    pub given: Vec<KeyId>,
}

/// How a port listens: the child `listener` of the layer whose sessions it opens. The fields are
/// the compiler's own, and stand behind those of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listening {
    /// The listeners.
    pub listener: KindId,
    /// Of a listener: how many of its sessions may wait to be accepted.
    pub backlog: FieldId,
    /// Of a listener: how many do.
    pub waiting: FieldId,
    /// The sessions.
    pub session: KindId,
    /// Of a session: whether it waits to be accepted.
    pub waits: FieldId,
    /// Of a session: whether the application has not heard of it, and hears nothing of it.
    pub unknown: FieldId,
    /// Of a session that waits: its listener; [`NOBODY`] if that has ended.
    pub made_by: FieldId,
    /// The notice in whose place a session is accepted; none where that is when it was made.
    pub opened: Option<NoticeId>,
}

/// The child of a layer with which its ports listen.
pub const LISTENER: &str = "listener";

/// No instance: what C calls `SL_NONE`.
pub const NOBODY: u64 = u32::MAX as u64;

impl Listening {
    /// The fields that are written where a port listens or accepts, and no tree runs.
    pub fn fields(&self) -> [(KindId, FieldId); 5] {
        [
            (self.listener, self.backlog),
            (self.listener, self.waiting),
            (self.session, self.waits),
            (self.session, self.unknown),
            (self.session, self.made_by),
        ]
    }
}

impl Program {
    /// The port that listens with listeners of this kind, or opens sessions of it, and how.
    pub fn listening(&self, kind: KindId) -> Option<(PortId, Listening)> {
        let ports = self.ports.iter().enumerate();
        let mut listening = ports.filter_map(|(at, port)| Some((PortId(at as u32), port.listens?)));
        listening.find(|(_, how)| how.listener == kind || how.session == kind)
    }

    /// How the sessions of a port are listened for, by itself or by another that has them too.
    pub fn listened(&self, port: PortId) -> Option<Listening> {
        let (_, how) = self.listening(self.ports[port.at()].opens?)?;
        Some(how)
    }
}

/// How a port listens that opens these sessions: what is needed for it is added to both kinds.
pub fn listens(program: &mut Program, session: KindId, up: &[NoticeId]) -> Option<Listening> {
    let entity = program.kinds[session.at()].entity;
    let mut children = program.entities[entity.at()].children.iter().copied();
    let listener = children.find(|child| program.kinds[child.at()].name == LISTENER)?;
    let plain = |notice: &NoticeId| {
        let notice = &program.notices[notice.at()];
        notice.name == "opened" && !notice.message && notice.parameters.is_empty()
    };
    let opened = up.iter().copied().find(plain);
    let all = Type::Unsigned(32);
    Some(Listening {
        listener,
        backlog: add_field(program, listener, "backlog", &all, NOBODY),
        waiting: add_field(program, listener, "waiting", &all, 0),
        session,
        waits: add_field(program, session, "waits", &Type::Bool, 0),
        unknown: add_field(program, session, "unknown", &Type::Bool, 0),
        made_by: add_field(program, session, "made_by", &all, NOBODY),
        opened,
    })
}

/// A field that no source names; its name is its own.
fn add_field(program: &mut Program, kind: KindId, name: &str, of: &Type, start: u64) -> FieldId {
    let table = &mut program.kinds[kind.at()];
    let known = |name: &String| {
        let mut keys = table.keys.iter().map(|key| &key.name);
        let mut fields = table.fields.iter().map(|field| &field.name);
        keys.any(|other| other == name) || fields.any(|other| other == name)
    };
    let numbered = (2..).map(|number| format!("{name}_{number}"));
    let mut names = std::iter::once(name.to_string()).chain(numbered);
    let free = names.find(|name| !known(name));
    table.fields.push(Field {
        name: free.expect("there are more numbers than names"),
        kind: of.clone(),
        initial: Some(Expression::number(start, of.clone())),
        once: false,
        has_gaps: false,
    });
    FieldId(table.fields.len() as u32 - 1)
}
