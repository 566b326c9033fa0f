//! Sessions that listeners make, until an application accepts them.
//!
//! In: a session is made, opened or ended, a listener ends, an application takes what it is given.
//! Out: how many sessions of each listener wait. All of it is written in fields that the compiler
//! gave the two kinds ([`Listening`]).
//!
//! ```text
//! made by a listener      it waits at its listener, which has a place less
//! opened, or just made    what tells the application is among the outputs; the place is theirs
//! the output is taken     the place is free      or the session ends before: the place is free
//! the listener ends       what waits at it waits at nobody, and is accepted all the same
//! ```

use super::state::{Emitted, State};
use super::value::Datum;
use crate::types::opening::{Listening, NOBODY};
use crate::types::program::{FieldId, KindId, PortId};

impl State<'_> {
    /// Whether a listener may make another session.
    pub fn has_place(&self, session: KindId, listener: u32) -> bool {
        let how = self.listening(session).map(|(_, how)| how);
        how.is_none_or(|how| {
            let count = |field| self.field(how.listener, listener, field);
            count(how.waiting) < count(how.backlog)
        })
    }

    /// A listener has made a session.
    pub fn waits_at(&mut self, kind: KindId, session: u32, listener: u32) {
        if let Some((_, how)) = self.listening(kind) {
            self.set_field(kind, session, how.waits, 1);
            self.set_field(kind, session, how.unknown, 1);
            self.set_field(kind, session, how.made_by, u64::from(listener));
            let waiting = self.field(how.listener, listener, how.waiting);
            self.set_field(how.listener, listener, how.waiting, waiting + 1);
        }
    }

    /// The port at which a session is accepted as soon as it is made.
    pub fn accepts_at_once(&self, kind: KindId, session: u32) -> Option<PortId> {
        let (port, how) = self.listening(kind)?;
        let waits = kind == how.session && self.field(kind, session, how.waits) != 0;
        (waits && how.opened.is_none()).then_some(port)
    }

    /// What tells an application of a session that waits; it waits no more.
    pub fn accepted(&mut self, port: PortId, session: u32) -> Option<Emitted> {
        let how = self.program.ports[port.at()].listens?;
        if self.field(how.session, session, how.waits) == 0 {
            return None;
        }
        self.set_field(how.session, session, how.waits, 0);
        self.set_field(how.session, session, how.unknown, 0);
        let listener = self.field(how.session, session, how.made_by);
        let instances = &self.kinds[how.session.at()];
        Some(Emitted::Accepted {
            port,
            session,
            listener: (listener != NOBODY).then_some(listener as u32),
            keys: instances.keys[session as usize].clone(),
        })
    }

    /// Whether the application hears nothing of a session.
    pub fn is_unknown(&self, port: PortId, session: u32) -> bool {
        let how = self.program.listened(port);
        how.is_some_and(|how| self.field(how.session, session, how.unknown) != 0)
    }

    /// The application has taken it.
    pub fn taken(&mut self, port: PortId, listener: Option<u32>) {
        if let (Some(how), Some(listener)) = (self.program.ports[port.at()].listens, listener) {
            self.give_place(how, listener);
        }
    }

    /// A session ends, or a listener.
    pub fn waits_no_more(&mut self, kind: KindId, index: u32) {
        let Some((port, how)) = self.listening(kind) else {
            return;
        };
        if kind == how.session {
            let listener = self.field(kind, index, how.made_by);
            if self.field(kind, index, how.waits) != 0 && listener != NOBODY {
                self.give_place(how, listener as u32);
            }
            self.set_field(kind, index, how.waits, 0);
            return;
        }
        // It makes no more of them, and nobody waits at it.
        self.set_field(kind, index, how.backlog, 0);
        for session in 0..self.program.kinds[how.session.at()].capacity {
            if self.is_live(how.session, session)
                && self.field(how.session, session, how.made_by) == u64::from(index)
            {
                self.set_field(how.session, session, how.made_by, NOBODY);
            }
        }
        for output in &mut self.outputs {
            if let Emitted::Accepted {
                port: of, listener, ..
            } = output
                && *of == port
                && *listener == Some(index)
            {
                *listener = None;
            }
        }
    }

    fn listening(&self, kind: KindId) -> Option<(PortId, Listening)> {
        self.program.listening(kind)
    }

    fn give_place(&mut self, how: Listening, listener: u32) {
        let waiting = self.field(how.listener, listener, how.waiting);
        self.set_field(how.listener, listener, how.waiting, waiting - 1);
    }

    fn field(&self, kind: KindId, index: u32, field: FieldId) -> u64 {
        // A slot that was never taken has none.
        let fields = &self.kinds[kind.at()].fields[index as usize];
        fields.get(field.at()).map_or(0, Datum::number)
    }

    /// Writes a field that the compiler added.
    pub fn set_field(&mut self, kind: KindId, index: u32, field: FieldId, value: u64) {
        self.kinds[kind.at()].fields[index as usize][field.at()] = Datum::Number(value);
    }
}
