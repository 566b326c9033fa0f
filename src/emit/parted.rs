//! A function of what is sent, parted in what is asked and written once for all messages of a
//! session, what for those of one length, and what for each.
//!
//! In: the function, statement by statement. Out: one function for each of these ([`begun`] says
//! when they are called).
//!
//! What is done before all is asked is done behind that, if nobody asks for it meanwhile.
//!
//! [`begun`]: super::begun

use super::Stack;
use super::algebra::{any_of, holds, number, replaced};
use super::answer::stored;
use super::bypass::exit;
use super::expected::Own;
use super::guard::is_setting;
use super::keys;
use super::settled::{Values, may_fail, members};
use crate::c::runtime;
use crate::c::tree::{
    Expression as C, Function, Statement as S, assign, atom, binary, call, only_if,
};
use crate::c::walk;
use crate::types::program::Kind;
use std::collections::BTreeSet;
use std::ops::Range;

/// What a message is itself; all else stands beside it.
pub const ITSELF: [&str; 3] = ["data", "length", "buffer"];

/// A function, parted.
pub struct Parted {
    /// What is asked and written once for all messages of a session.
    pub once: Vec<S>,
    /// What is written for each length that they have, if anything is, and what that is made of.
    pub by_length: Option<Vec<S>>,
    /// What is asked and done for each of them.
    pub rest: Vec<S>,
    /// How many bytes stand before what is sent.
    pub before: u64,
    /// How much is not asked or written for each.
    pub settled: usize,
}

/// A function as it is parted.
struct Parting<'s> {
    values: &'s Values,
    /// What stays the same: keys, and names.
    same: Vec<C>,
    /// What hangs on the length of the message, and on nothing else that changes.
    lengths: Vec<C>,
    /// What is beside the message, or part of it, that hangs on more, or on that.
    others: Vec<String>,
    /// How many bytes stand before what is sent.
    before: u64,
    /// Where something is written, behind the begin of what is sent, and whether that is kept.
    written: Vec<(Range<i64>, bool)>,
    /// Where zero is written, and that.
    zeroed: Vec<(Range<i64>, S)>,
    /// How much is settled.
    count: usize,
    /// What is asked and written once, for each length, and each time.
    once: Vec<S>,
    by_length: Vec<S>,
    rest: Vec<S>,
    /// What is done behind all that is asked.
    later: Vec<S>,
    /// Whether anything is written for each length.
    has_lengths: bool,
}

impl Parted {
    /// Parts a function that is given an instance of a kind, and a message which it sends; none if
    /// it is not known what it does.
    pub fn of(
        stack: &Stack,
        (kind, own): (&Kind, &Own),
        function: &Function,
        values: &Values,
    ) -> Option<Parted> {
        let [_, _, message] = &function.parameters[..] else {
            return None;
        };
        let mut names = ["length", "most", "end"].iter();
        let is_free = !names.any(|name| walk::is_named(name, &function.body));
        let is_one = *message == format!("struct {}_message message", stack.names.stack);
        if !is_free || !is_one {
            return None;
        }
        let there = own.numbered(atom(&own.instance));
        let keys = keys::members(kind).into_iter();
        let keys = keys.filter_map(|key| match key {
            C::Atom(key) => Some(there.clone().member(key)),
            _constant => None,
        });
        Parting::new(values, keys.collect()).parted(&function.body)
    }
}

impl<'s> Parting<'s> {
    fn new(values: &'s Values, keys: Vec<C>) -> Parting<'s> {
        Parting {
            values,
            same: keys,
            lengths: vec![atom("message").member("length")],
            others: ITSELF.map(String::from).to_vec(),
            before: 0,
            written: Vec::new(),
            zeroed: Vec::new(),
            count: 0,
            once: Vec::new(),
            by_length: Vec::new(),
            rest: Vec::new(),
            later: Vec::new(),
            has_lengths: false,
        }
    }

    fn parted(mut self, body: &[S]) -> Option<Parted> {
        let mut done = 0;
        while done < body.len() && self.takes(&body[done])? {
            done += 1;
        }
        let ends = ends(&body[done..])?;
        self.rest.extend(self.later.into_iter().chain(ends));
        Some(Parted {
            once: self.once,
            by_length: self.has_lengths.then_some(self.by_length),
            rest: self.rest,
            before: self.before,
            settled: self.count,
        })
    }

    /// Takes a statement that does nothing yet; false where something is done, none where it is
    /// not known what.
    fn takes(&mut self, statement: &S) -> Option<bool> {
        let part = |part: &str| atom("message").member(part);
        let [data, length] = ["data", "length"].map(part);
        let written = stored(statement, &data);
        let is_done = matches!(statement, S::Do(_)) && written.is_none();
        if !is_done && self.meets_later(statement) {
            return None;
        }
        if let Some((at, bytes, value)) = written {
            let begin = at - self.before as i64;
            self.writes(begin..begin + bytes as i64, value, statement)?;
            return Some(true);
        }
        match statement {
            S::Comment(_) => self.rest.push(statement.clone()),
            S::Do(C::Cast(kind, _)) if kind == "void" => {}
            S::Assign(place, "-=", size) if *place == data => {
                self.before += number(size)?;
                self.rest.push(statement.clone());
            }
            S::Assign(place, "+=", size) if *place == length && number(size).is_some() => {
                self.everywhere(statement, On::Nothing);
            }
            S::Assign(C::Member(of, part), "=", value)
                if **of == atom("message")
                    && self.is_value(value)
                    && !ITSELF.contains(&&**part) =>
            {
                self.sets(part, value, statement);
            }
            S::Declare {
                name,
                value: Some(value),
                ..
            } if self.is_value(value) => {
                let on = self.hangs(value);
                match on {
                    On::Nothing => self.same.push(atom(name)),
                    On::Length => self.lengths.push(atom(name)),
                    On::More => {}
                }
                self.everywhere(statement, on);
            }
            S::If {
                condition,
                then,
                otherwise,
            } if self.is_value(condition)
                && otherwise.is_empty()
                && matches!(then.last(), Some(S::Return(_))) =>
            {
                let parts = any_of(condition.clone()).into_iter();
                parts.for_each(|one| self.asks(one));
            }
            other if self.can_wait(other) => self.later.push(other.clone()),
            _ => return Some(false),
        }
        Some(true)
    }

    /// Something is set beside the message.
    fn sets(&mut self, part: &String, value: &C, statement: &S) {
        let on = self.hangs(value);
        let place = atom("message").member(part);
        self.others.retain(|one| one != part);
        self.lengths.retain(|one| *one != place);
        if on == On::Length {
            self.lengths.push(place);
        }
        if on != On::Nothing {
            self.others.push(part.clone());
        }
        self.everywhere(statement, on);
    }

    /// Whether what a statement does may be done behind all that is asked: it writes fields, and
    /// reads nothing of the message.
    fn can_wait(&self, statement: &S) -> bool {
        let is_apart = |value: &C| self.is_value(value) && !holds(value, &atom("message"));
        match statement {
            S::Assign(place, _, value) => {
                holds(place, &atom("stack")) && is_apart(place) && is_apart(value)
            }
            S::If {
                condition,
                then,
                otherwise,
            } => {
                let mut all = then.iter().chain(otherwise);
                is_apart(condition) && all.all(|one| self.can_wait(one))
            }
            _ => false,
        }
    }

    /// Whether a statement asks for what is written later, or lets somebody ask who might.
    fn meets_later(&self, statement: &S) -> bool {
        let mut fields = BTreeSet::new();
        walk::each(&self.later, &mut |one| {
            if let S::Assign(place, ..) = one {
                fields.extend(members(place));
            }
        });
        let meets = |value: &C| self.values.reads(value, &fields);
        // What is done where the message goes another way is not done here.
        let mut read = statement.expressions().into_iter();
        !fields.is_empty() && !self.can_wait(statement) && read.any(meets)
    }

    /// Something is written before the message; none if that was there already.
    fn writes(&mut self, place: Range<i64>, value: &C, statement: &S) -> Option<()> {
        if place.end > 0 || !self.is_value(value) {
            return None;
        }
        let mut is_free = self.is_free(&place);
        let moved = self.moved(statement);
        let mut on = self.hangs(value);
        if self.sums_what_is_kept(value, &place) {
            // A sum is written where nothing was, or where it was zero for it.
            let zeroed = self.zeroed.iter().position(|(one, _)| *one == place);
            if let Some((_, zero)) = zeroed.map(|at| self.zeroed.remove(at)) {
                self.by_length.push(zero);
                is_free = true;
            }
            on = if is_free { On::Length } else { On::More };
        } else if number(value) == Some(0) && is_free {
            self.zeroed.push((place.clone(), moved.clone()));
        }
        let all = match on {
            On::Nothing => &mut self.once,
            On::Length => {
                self.has_lengths = true;
                &mut self.by_length
            }
            On::More => {
                let written = self.written.iter_mut();
                let met = written.filter(|(one, _)| one.start < place.end && place.start < one.end);
                met.for_each(|(_, is_kept)| *is_kept = false);
                self.rest.push(statement.clone());
                self.written.push((place, false));
                return Some(());
            }
        };
        // What stood there may have been read.
        if !is_free {
            return None;
        }
        all.push(moved);
        self.count += 1;
        self.written.push((place, true));
        Some(())
    }

    /// Whether a value is the sum of bytes that are kept, but for those where it is written itself.
    fn sums_what_is_kept(&self, value: &C, place: &Range<i64>) -> bool {
        let C::Call(name, given) = value else {
            return false;
        };
        let [run, bytes, others @ ..] = &given[..] else {
            return false;
        };
        let data = atom("message").member("data");
        let begin = match run {
            C::Binary("+", of, at) if **of == data => number(at),
            run => (*run == data).then_some(0),
        };
        let (Some(begin), Some(bytes)) = (begin, number(bytes)) else {
            return false;
        };
        let begin = begin as i64 - self.before as i64;
        let kept = self.written.iter().filter(|(_, is_kept)| *is_kept);
        let kept = kept.map(|(one, _)| one).chain([place]);
        let mut others = others.iter();
        let mut run = begin..begin + bytes as i64;
        self.values.is_sum(name)
            && others.all(|one| self.hangs(one) != On::More)
            && run.all(|at| kept.clone().any(|one| one.contains(&at)))
    }

    /// Whether nothing was written there.
    fn is_free(&self, place: &Range<i64>) -> bool {
        let mut written = self.written.iter();
        written.all(|(one, _)| one.end <= place.start || place.end <= one.start)
    }

    /// What may be read on wherever that is known which it hangs on.
    fn everywhere(&mut self, statement: &S, on: On) {
        if on == On::Nothing {
            self.once.push(statement.clone());
        }
        if on != On::More {
            self.by_length.push(statement.clone());
        }
        self.rest.push(statement.clone());
    }

    /// The same write where bytes are kept: there data begins with what is before all.
    fn moved(&self, statement: &S) -> S {
        let data = atom("message").member("data");
        let before = |at: &C| Some(self.before - number(at).filter(|at| *at <= self.before)?);
        let end = |bytes: u64| binary("-", atom("end"), atom(bytes.to_string()));
        let mut own = statement.clone();
        for value in own.expressions_mut() {
            *value = replaced(value, &|part| match part {
                C::Binary("+", of, at) if **of == data => before(at).map(end),
                C::Element(of, at) if **of == data => {
                    before(at).map(|bytes| atom("end").element(atom(format!("-{bytes}"))))
                }
                part => (*part == data).then(|| end(self.before)),
            });
        }
        own
    }

    /// A message goes its way unless a condition holds.
    fn asks(&mut self, condition: C) {
        let leaves = |condition: C| only_if(condition, vec![S::Return(None)]);
        let length = atom("message").member("length");
        if let C::Binary(">", of, most) = &condition
            && **of == length
            && self.hangs(most) == On::Nothing
        {
            self.count += 1;
            let left = binary("-", (**most).clone(), length);
            self.once.push(leaves(condition.clone()));
            // A limit may have more bits.
            let least = match number(most) {
                Some(_) => call("smaller32", vec![atom("most"), left]),
                None => call("smaller64", vec![atom("most"), left]).cast("uint32_t"),
            };
            self.once.push(assign(atom("most"), least));
            return;
        }
        match self.hangs(&condition) {
            On::Nothing => {
                self.count += 1;
                self.once.push(leaves(condition));
            }
            On::Length | On::More => self.rest.push(exit(condition)),
        }
    }

    /// Whether a value is found by a look, and nothing is done.
    fn is_value(&self, value: &C) -> bool {
        let itself = match value {
            C::Call(name, _) => self.values.has(name),
            _ => true,
        };
        itself && value.parts().into_iter().all(|one| self.is_value(one))
    }

    /// What a value hangs on, of messages of a session that have nothing beside them.
    fn hangs(&self, value: &C) -> On {
        match () {
            // Who asks first may see to it that it can be found.
            () if may_fail(value) => On::More,
            () if holds(value, &atom("message").member("header")) => On::More,
            () if self.is_settled(value, &[]) => On::Nothing,
            () if self.is_settled(value, &self.lengths) => On::Length,
            () => On::More,
        }
    }

    /// Whether a value is made of what stays the same, and of that.
    fn is_settled(&self, value: &C, others: &[C]) -> bool {
        let is_given = |one: &C| *one == atom("stack") || self.is_settled(one, others);
        let plain = replaced(value, &|part| {
            let is_plain = match part {
                part if self.same.contains(part) || others.contains(part) => true,
                C::Member(of, part) => **of == atom("message") && !self.others.contains(part),
                C::Call(name, given) => self.values.is_settled(name) && given.iter().all(is_given),
                _ => false,
            };
            is_plain.then(|| atom("0"))
        });
        is_setting(&plain)
    }
}

/// Whether statements call a function that may drop a message: any but those that write bytes,
/// start or stop timers, or send a frame.
pub fn may_drop(statements: &[S]) -> bool {
    let writes = ["take_sent", "send_frame", "leave_untaken", "memcpy"];
    let mut found = false;
    walk::each(statements, &mut |one| {
        if let S::Do(C::Call(name, _)) = one {
            found |= !writes.contains(&&**name) && !runtime::names().any(|one| one == name);
        }
    });
    found
}

/// What is done in the end; none if it is not known where that ends.
fn ends(statements: &[S]) -> Option<Vec<S>> {
    let mut ends = statements.to_vec();
    if matches!(ends.last(), Some(S::Return(None))) {
        ends.pop();
    }
    let mut returns = false;
    walk::each(&ends, &mut |one| returns |= matches!(one, S::Return(_)));
    if returns || ends.is_empty() {
        return None;
    }
    match &mut ends[..] {
        [S::Do(C::Call(name, given))] if name == "leave_now" => {
            *name = "leave_untaken".to_string();
            let message = given.pop().expect("a message leaves");
            let message = match message {
                C::Unary("&", message) => *message,
                other => C::Unary("*", Box::new(other)),
            };
            given.extend(["data", "length"].map(|part| message.clone().member(part)));
        }
        _ => ends.insert(
            0,
            S::Do(call("take_sent", vec![atom("stack")]).cast("void")),
        ),
    }
    Some(ends)
}

/// What a value hangs on.
#[derive(Clone, Copy, Debug, PartialEq)]
enum On {
    Nothing,
    Length,
    More,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(part: &str) -> C {
        atom("message").member(part)
    }

    fn field(name: &str) -> C {
        atom("stack").behind("talk").member(name)
    }

    fn port() -> C {
        atom("own").member("port")
    }

    fn strips(bytes: &str) -> [S; 2] {
        let bytes = || atom(bytes);
        [
            S::Assign(message("data"), "-=", bytes()),
            S::Assign(message("length"), "+=", bytes()),
        ]
    }

    fn store(at: &str, value: C) -> S {
        let place = binary("+", message("data"), atom(at));
        S::Do(call("sl_store_big16", vec![place, value]))
    }

    fn drops(condition: C) -> S {
        let drops = call("drop", vec![atom("stack"), message("buffer")]);
        only_if(condition, vec![S::Do(drops), S::Return(None)])
    }

    fn sends() -> S {
        let given = vec![atom("stack"), atom("0"), atom("message").address()];
        S::Do(call("send_frame", given))
    }

    fn parted(body: &[S]) -> Option<Parted> {
        let values = Values::none();
        Parting::new(&values, vec![port()]).parted(body)
    }

    #[test]
    fn each_write_stands_where_it_is_known() {
        let [data, length] = strips("6");
        let all = [
            data.clone(),
            length.clone(),
            store("0", port()),
            store("2", message("length").cast("uint16_t")),
            store("4", field("next")),
            sends(),
        ];
        let parted = parted(&all).expect("it is known what is done");
        let at_end = |bytes: &str, value| {
            let place = binary("-", atom("end"), atom(bytes));
            S::Do(call("sl_store_big16", vec![place, value]))
        };
        assert_eq!(parted.once, [length.clone(), at_end("6", port())]);
        let by_length = at_end("4", message("length").cast("uint16_t"));
        assert_eq!(parted.by_length, Some(vec![length.clone(), by_length]));
        let taken = S::Do(call("take_sent", vec![atom("stack")]).cast("void"));
        let rest = [data, length, store("4", field("next")), taken, sends()];
        assert_eq!(parted.rest, rest);
        assert_eq!((parted.before, parted.settled), (6, 2));
    }

    #[test]
    fn what_is_done_waits_for_what_is_asked() {
        let counts = S::Assign(field("next"), "+=", atom("1"));
        let asks = |name: &str| drops(binary("==", field(name), atom("0")));
        let body = [counts.clone(), asks("room"), sends()];
        let rest = parted(&body).expect("nobody asks for it").rest;
        assert_eq!(rest[0], exit(binary("==", field("room"), atom("0"))));
        assert_eq!(rest[1], counts);
        assert!(parted(&[counts, asks("next"), sends()]).is_none());
    }

    #[test]
    fn what_is_written_twice_is_left_as_it_is() {
        let [data, length] = strips("6");
        let head = [data, length, store("0", port())];
        let twice = |value: C| [&head[..], &[store("1", value), sends()]].concat();
        assert!(parted(&twice(port())).is_none());
        assert!(parted(&twice(field("next"))).is_some());
    }

    #[test]
    fn where_it_ends_is_known() {
        let either = S::If {
            condition: field("open"),
            then: vec![sends(), S::Return(None)],
            otherwise: vec![sends()],
        };
        assert!(parted(&[either]).is_none());
        assert!(parted(&[sends(), S::Return(None)]).is_some());
        assert!(parted(&[]).is_none());
    }
}
