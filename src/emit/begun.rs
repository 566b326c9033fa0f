//! What an application sends with nothing beside it begins with what the last message of its
//! session began with: that is kept with the session, and copied at once.
//!
//! In: the functions of what sessions of ports send where nothing else is under way. Out: more of
//! them beside each that asks and writes much which is the same for all such messages of a session,
//! since it is made of numbers, settings and keys: one that asks and writes that, once; one that
//! writes what hangs on the length of a message, too, when that is another than before; and one
//! that does the rest.
//!
//! ```text
//! if (is_far(own->peer)) { … return; }         if (is_far(own->peer)) { return; }
//! message.data -= 8;                           store_16(own->begun.bytes, own->port);
//! store_16(message.data, own->port);     =>
//! store_16(message.data + 4, length);          store_16(own->begun.bytes + 4, length);
//! message.data[7] = own->next;
//! send(message);                               memcpy(message.data - 8, own->begun.bytes, 8);
//!                                              message.data -= 8;
//!                                              message.data[7] = own->next;
//!                                              send(message);
//! ```
//!
//! What is asked and may change is asked each time; where it says no, nothing has been done but
//! that bytes were written before the message, in a buffer that nobody has taken, and the function
//! that asks for all begins.
//!
//! Assumes: settings and keys stay. Ensures: the same messages. Cost: the bytes, for each session;
//! its first message asks twice, and one of another length than the last writes that twice.

use super::Stack;
use super::expected::Own;
use super::guard::forget_unread;
use super::leaves;
use super::names::c_name;
use super::output::is_static;
use super::parted::{ITSELF, Parted, may_drop};
use super::port::below;
use super::settled::Values;
use super::state;
use super::with_all_used;
use crate::c::tree::{
    Expression as C, Function, Item, Line, Statement as S, assign, atom, binary, call, only_if,
};
use crate::c::walk;
use crate::tree::rewrites::Rewrite;
use crate::tree::{Index, Reaction};
use crate::types::program::{Event, KindId, Port};

/// Fewer questions and writes are done each time.
const FEW: usize = 5;

/// What is kept for the messages that sessions of a kind send.
#[derive(Clone, Debug)]
pub struct Begun {
    /// What they are sent by.
    pub reaction: Reaction,
    /// The sessions.
    pub kind: KindId,
    /// How many bytes their messages begin with.
    pub bytes: u64,
    /// How much of what they are sent by is asked, or written, no more.
    pub settled: usize,
    /// Whether some of that hangs on how long they are.
    by_length: bool,
    /// Whether the last call of their handler may drop such a message.
    pub may_drop: bool,
    /// What the function of the reaction is called.
    name: String,
    /// What a session is called there, and where it stands.
    own: Own,
    /// How many there may be.
    capacity: u32,
}

impl Begun {
    /// What can be kept for what a function sends, and the functions that do so; none if it is
    /// little.
    fn of(
        stack: &Stack,
        (reaction, kind): (Reaction, KindId),
        function: &Function,
        values: &Values,
    ) -> Option<(Begun, Vec<Function>)> {
        let own_kind = &stack.program.kinds[kind.at()];
        let session = function.parameters.get(1)?.strip_prefix("uint32_t ")?;
        let own = Own {
            instance: session.to_string(),
            kind: stack.names.kinds[kind.at()].clone(),
            many: own_kind.capacity > 1,
        };
        let parted = Parted::of(stack, (own_kind, &own), function, values)?;
        if parted.settled < FEW || parted.before == 0 {
            return None;
        }
        let begun = Begun {
            reaction,
            kind,
            bytes: copied(stack, parted.before),
            settled: parted.settled,
            by_length: parted.by_length.is_some(),
            may_drop: may_drop(&parted.rest),
            name: stack.names.reactions[&reaction].clone(),
            own,
            capacity: own_kind.capacity,
        };
        let made = begun.functions(stack, function, &parted);
        let names = made.iter().map(|one| one.name.clone());
        let mut names = names.chain([begun.member_name(), begun.anew_name()]);
        let is_free = !names.any(|name| stack.names.taken.has(&name));
        let mut fields = own_kind.fields.iter();
        let is_own = !fields.any(|field| c_name(&field.name) == begun.member_name());
        (is_free && is_own).then_some((begun, made))
    }

    /// What of it is kept is called so.
    fn member_name(&self) -> String {
        format!("{}_begun", self.name)
    }

    /// The function that asks and writes what is kept.
    pub fn begins_name(&self) -> String {
        format!("{}_begins", self.name)
    }

    /// The function that does the rest.
    pub fn again_name(&self) -> String {
        format!("{}_again", self.name)
    }

    /// What is kept of a session by that name.
    fn kept_of(&self, session: &str) -> C {
        self.own.numbered(atom(session)).member(self.member_name())
    }

    /// The function that asks for all.
    pub fn anew_name(&self) -> String {
        format!("{}_anew", self.name)
    }

    /// The function that writes what hangs on the length.
    fn as_long_name(&self) -> String {
        format!("{}_as_long", self.name)
    }

    /// Whether what is kept of a session is what a message of that length begins with.
    pub fn is_as_before(&self, session: &str) -> C {
        let is_one = binary("<", atom(session), atom(self.capacity.to_string()));
        let kept = self.kept_of(session);
        let fits = if self.by_length {
            let more = binary("+", atom("length"), atom("1"));
            let given = ["stack", session, "length"].map(atom).to_vec();
            let is_as_long = binary("==", more, kept.member("length"));
            binary("||", is_as_long, call(self.as_long_name(), given))
        } else {
            binary("<", atom("length"), kept.member("more"))
        };
        binary("&&", is_one, fits)
    }

    /// The functions that are seldom called.
    pub fn rare(&self) -> Vec<String> {
        vec![self.begins_name(), self.as_long_name()]
    }

    /// How it is kept.
    pub fn structure(&self) -> Item {
        let line = |text: String, comment: &str| Line {
            text,
            comment: comment.to_string(),
        };
        Item::Struct {
            comment: format!(
                "What messages of {} begin with that have nothing beside them.",
                self.name
            ),
            name: self.member_name(),
            members: vec![
                line(
                    "uint32_t length".to_string(),
                    "of the last one, and one more; 0: nobody has asked",
                ),
                line(
                    "uint32_t more".to_string(),
                    "which are shorter than that; 0: nothing is kept",
                ),
                line(
                    format!("uint8_t bytes[{}]", self.bytes),
                    "what they begin with",
                ),
            ],
        }
    }

    /// What a session of a kind keeps, as the stack names that.
    pub fn member_of(&self, kind: &str) -> Option<Line> {
        (self.own.kind == kind).then(|| Line {
            text: format!("struct {0} {0}", self.member_name()),
            comment: "of its messages".to_string(),
        })
    }

    /// So many bytes that takes.
    pub fn size(&self) -> u64 {
        8 + self.bytes.next_multiple_of(4)
    }

    /// Sees to it that nothing is kept of a session that a function ends.
    pub fn keep(&self, function: &mut Function) {
        let ended = atom("stack").behind(format!("{}_ended", self.own.kind));
        self.keep_in(&mut function.body, &ended);
    }

    fn keep_in(&self, block: &mut Vec<S>, ended: &C) {
        for at in (0..block.len()).rev() {
            for inner in block[at].blocks_mut() {
                self.keep_in(inner, ended);
            }
            if let S::Assign(C::Element(all, session), "=", value) = &block[at]
                && **all == *ended
                && *value == atom("true")
            {
                let own = self.own.numbered((**session).clone());
                let kept = |part: &str| own.clone().member(self.member_name()).member(part);
                let forgets = ["length", "more"].map(|part| assign(kept(part), atom("0")));
                block.splice(at + 1..at + 1, forgets);
            }
        }
    }

    /// The functions that ask and write what is kept, and the one that does the rest.
    fn functions(&self, stack: &Stack, function: &Function, parted: &Parted) -> Vec<Function> {
        let [one, session, _] = &function.parameters[..] else {
            return Vec::new();
        };
        let of_session = vec![one.clone(), session.clone()];
        let length = vec!["size_t length".to_string()];
        let of_message = [of_session.clone(), length].concat();
        let made = |name, result: &str, comment, parameters: &Vec<String>, body| {
            with_all_used(Function {
                comment,
                result: result.to_string(),
                name,
                parameters: parameters.clone(),
                body,
            })
        };
        let begins = made(
            self.begins_name(),
            "static void",
            format!(
                "What messages of {} begin with that have nothing beside them, if it is the same \
                 for all of them.",
                self.name
            ),
            &of_session,
            self.begins(stack, &parted.once),
        );
        let as_long = parted.by_length.as_ref().map(|by_length| {
            let comment = format!(
                "What messages of {} of another length begin with; false if they are too long, or \
                 nothing is kept.",
                self.name
            );
            let body = self.as_long(stack, by_length);
            made(
                self.as_long_name(),
                "static bool",
                comment,
                &of_message,
                body,
            )
        });
        let again = made(
            self.again_name(),
            "static inline bool",
            format!(
                "{}, from the buffer that is taken next, where the message has nothing beside it \
                 and begins as the last one did; or nothing is done.",
                function.comment
            ),
            &of_message,
            self.again(stack, &parted.rest),
        );
        [begins].into_iter().chain(as_long).chain([again]).collect()
    }

    fn begins(&self, stack: &Stack, once: &[S]) -> Vec<S> {
        let kept = self.kept_of(&self.own.instance);
        let length = || kept.clone().member("length");
        let room = binary("-", atom("BUFFER_SIZE"), atom("HEADROOM"));
        let is_asked = binary("!=", length(), atom("0"));
        let head = [
            only_if(is_asked, vec![S::Return(None)]),
            assign(length(), atom("UINT32_MAX")),
            declared("uint32_t", "most", room),
        ];
        let more = binary("+", atom("most"), atom("1"));
        let end = assign(kept.clone().member("more"), more);
        let mut body = self.writing(stack, once);
        if !walk::is_named("message", &body[2..]) {
            body.remove(1);
        }
        [&head[..], &body, &[end]].concat()
    }

    fn as_long(&self, stack: &Stack, by_length: &[S]) -> Vec<S> {
        let kept = self.kept_of(&self.own.instance);
        let length = || atom("length").cast("uint32_t");
        let is_longer = binary(">=", atom("length"), kept.clone().member("more"));
        let leaves = only_if(is_longer, vec![S::Return(Some(atom("false")))]);
        let mut body = self.writing(stack, by_length);
        body.insert(2, assign(atom("message").member("length"), length()));
        let more = binary("+", length(), atom("1"));
        let ends = [
            assign(kept.member("length"), more),
            S::Return(Some(atom("true"))),
        ];
        [&[leaves][..], &body, &ends].concat()
    }

    /// What writes to what is kept: where that ends, and a message without anything beside it.
    fn writing(&self, stack: &Stack, what: &[S]) -> Vec<S> {
        let any = atom("stack").behind("buffers");
        let bytes = self.kept_of(&self.own.instance).member("bytes");
        let end = binary("+", bytes, atom(self.bytes.to_string()));
        let mut body = what.to_vec();
        forget_unset(&mut body);
        forget_unread(&mut body);
        let head = [
            declared("uint8_t *const", "end", end),
            declared(&message(stack), "message", call("blank", vec![any])),
        ];
        [&head[..], &body].concat()
    }

    fn again(&self, stack: &Stack, rest: &[S]) -> Vec<S> {
        let bytes = || atom(self.bytes.to_string());
        let part = |part: &str| atom("message").member(part);
        let free = atom("stack").behind("shared").member("free");
        let kept = self.kept_of(&self.own.instance).member("bytes");
        let before = binary("-", part("data"), bytes());
        let head = [
            declared(&message(stack), "message", call("blank", vec![free])),
            assign(part("length"), atom("length").cast("uint32_t")),
            S::Do(call("memcpy", vec![before, kept, bytes()])),
        ];
        let mut body = rest.to_vec();
        forget_unset(&mut body);
        forget_unread(&mut body);
        [&head[..], &body, &[S::Return(Some(atom("true")))]].concat()
    }
}

/// What may be kept for what sessions of ports send, and the functions that do so beside those of
/// their reactions; `values` are the functions that give a value, and no more.
pub fn kept(
    stack: &Stack,
    functions: &mut [(Reaction, &mut Vec<Function>)],
    values: &[Function],
) -> Vec<Begun> {
    let mut all: Vec<Begun> = Vec::new();
    if !stack.rewrites.has(Rewrite::Bypass) {
        return all;
    }
    let values = Values::of(stack, values);
    for port in stack.program.ports.iter().filter(|port| port.passes) {
        let Some((reaction, kind)) = sends(stack, port) else {
            continue;
        };
        let is_new = all.iter().all(|one| one.reaction != reaction);
        let mut own = functions.iter_mut().filter(|(of, _)| *of == reaction);
        let Some((_, own)) = own.next().filter(|_| is_new) else {
            continue;
        };
        let names = [
            leaves::alone_name(stack, reaction),
            stack.names.reactions[&reaction].clone(),
        ];
        let named = |name: &String| own.iter().position(|one| one.name == *name);
        let Some(at) = names.iter().find_map(named) else {
            continue;
        };
        if let Some((begun, made)) = Begun::of(stack, (reaction, kind), &own[at], &values) {
            own.splice(at..at, made);
            all.push(begun);
        }
    }
    all
}

/// The reaction to what a session of a port sends, and the kind of that, if there may be several
/// that come and go.
fn sends(stack: &Stack, port: &Port) -> Option<(Reaction, KindId)> {
    let reaction = below(stack, port, Event::Send)?;
    let Reaction::Handle {
        kind,
        index: Index::Any,
        ..
    } = reaction
    else {
        return None;
    };
    let comes_and_goes = !is_static(stack, kind) && stack.pool_of(kind) == kind;
    let begins_as_zero = state::holds(&stack.program.kinds[kind.at()]);
    let is_its = port.opens == Some(kind) && comes_and_goes && begins_as_zero;
    is_its.then_some((reaction, kind))
}

/// So many bytes are copied for that many: whole words, where there is room for them.
fn copied(stack: &Stack, bytes: u64) -> u64 {
    let room = stack.memory().headroom;
    let word = if bytes > 16 { 16 } else { 8 };
    Some(bytes.next_multiple_of(word))
        .filter(|words| *words <= u64::from(room))
        .unwrap_or(bytes)
}

/// Takes away what is set beside a message and read nowhere. Who lets a frame leave looks at the
/// message alone.
fn forget_unset(body: &mut Vec<S>) {
    for at in (0..body.len()).rev() {
        let S::Assign(place @ C::Member(of, part), "=", _) = &body[at] else {
            continue;
        };
        let is_beside = **of == atom("message") && !ITSELF.contains(&&**part);
        let mut is_read = false;
        walk::each(&body[at + 1..], &mut |one| {
            let leaves = matches!(one, S::Do(C::Call(name, _)) if name == "send_frame");
            let mut values = one.expressions().into_iter();
            is_read |= !leaves && values.any(|value| reads(value, place));
        });
        if is_beside && !is_read {
            body.remove(at);
        }
    }
}

/// Whether a value is made of what is set there, or of the message as a whole.
fn reads(value: &C, place: &C) -> bool {
    match value {
        C::Member(of, _) if **of == atom("message") => value == place,
        C::Atom(name) => name == "message",
        other => other.parts().into_iter().any(|one| reads(one, place)),
    }
}

fn message(stack: &Stack) -> String {
    format!("struct {}_message", stack.names.stack)
}

fn declared(kind: &str, name: &str, value: C) -> S {
    S::Declare {
        kind: kind.to_string(),
        name: name.to_string(),
        value: Some(value),
    }
}
