//! Headers that stand in a row, each where the one before it ends.
//!
//! In: the statements of a path, in order. Out: of a place in a header where it is behind the
//! first of its row, and the other way.
//!
//! ```text
//! one = message.header; message.data += 2       two[0] stands at one + 2
//! message.header = message.data
//! two = message.header; message.data += 2
//! ```

use super::algebra::{holds, number};
use crate::c::tree::{Expression as C, Statement as S, atom};

/// In which row, and so many bytes behind its begin.
type Place = (usize, u64);

/// The headers of a path, so far.
#[derive(Clone)]
pub struct Rows {
    message: C,
    data: Place,
    header: Place,
    /// In the order of the wire.
    headers: Vec<(C, Place)>,
}

impl Rows {
    /// None yet of the message of that name.
    pub fn new(message: &C) -> Rows {
        Rows {
            message: message.clone(),
            data: (0, 0),
            header: (1, 0),
            headers: Vec::new(),
        }
    }

    /// Takes note of a statement.
    pub fn pass(&mut self, statement: &S) {
        let [data, header] = ["data", "header"].map(|member| self.message.clone().member(member));
        let elsewhere = (self.data.0.max(self.header.0) + 1, 0);
        match statement {
            S::Assign(place, "+=", value) if *place == data && number(value).is_some() => {
                self.data.1 += number(value).expect("it is one");
            }
            S::Assign(place, "=", value) if *place == header && *value == data => {
                self.header = self.data;
            }
            S::Declare {
                name,
                value: Some(value),
                ..
            } if *value == header => self.headers.push((atom(name), self.header)),
            S::Assign(place, ..) if *place == data || holds(&data, place) => self.data = elsewhere,
            S::Assign(place, ..) if *place == header => self.header = elsewhere,
            S::Do(_) => self.data = elsewhere,
            S::Assign(..)
            | S::Declare { .. }
            | S::Comment(_)
            | S::If { .. }
            | S::Switch { .. }
            | S::For { .. }
            | S::While { .. }
            | S::Return(_)
            | S::Continue
            | S::Break
            | S::Goto(_)
            | S::Label(_) => {}
        }
    }

    /// The first header of the row of another, and how far behind it a place in that one is.
    pub fn behind_first(&self, header: &C, offset: u64) -> (C, u64) {
        match self.place(header) {
            Some((row, at)) => {
                let (first, begin) = self.of(row).next().expect("this one is in it");
                (first.clone(), at - begin + offset)
            }
            None => (header.clone(), offset),
        }
    }

    /// The header nearest to a place so far behind the first of a row, and where that is in it.
    pub fn behind_nearest(&self, first: &C, offset: u64) -> (C, u64) {
        let Some((row, begin)) = self.place(first) else {
            return (first.clone(), offset);
        };
        let before = self.of(row).filter(|(_, at)| at - begin <= offset);
        let (nearest, at) = before.last().expect("the first one is before it");
        (nearest.clone(), offset - (at - begin))
    }

    /// How far behind the begin of the message a place in a header is, if that is known.
    pub fn behind_begin(&self, header: &C, offset: u64) -> Option<u64> {
        self.place(header)
            .filter(|(row, _)| *row == 0)
            .map(|(_, at)| at + offset)
    }

    /// The header that the message begins with.
    pub fn first(&self) -> Option<C> {
        let mut all = self.headers.iter();
        all.find(|(_, at)| *at == (0, 0))
            .map(|(header, _)| header.clone())
    }

    fn place(&self, header: &C) -> Option<Place> {
        let mut headers = self.headers.iter();
        headers.find(|(one, _)| one == header).map(|(_, at)| *at)
    }

    /// The headers of a row, and where they begin in it.
    fn of(&self, row: usize) -> impl Iterator<Item = (&C, u64)> {
        let own = self.headers.iter().filter(move |(_, at)| at.0 == row);
        own.map(|(header, at)| (header, at.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(between: S) -> Rows {
        let message = atom("message");
        let [data, header] = ["data", "header"].map(|member| message.clone().member(member));
        let begins = |name: &str| S::Declare {
            kind: "uint8_t *const".to_string(),
            name: name.to_string(),
            value: Some(header.clone()),
        };
        let to_data = S::Assign(header.clone(), "=", data.clone());
        let mut rows = Rows::new(&message);
        let all = [
            to_data.clone(),
            begins("one"),
            between,
            to_data,
            begins("two"),
        ];
        all.iter().for_each(|one| rows.pass(one));
        rows
    }

    #[test]
    fn a_header_stands_behind_another() {
        let data = atom("message").member("data");
        let rows = passed(S::Assign(data, "+=", atom("2")));
        let [one, two] = ["one", "two"].map(atom);
        assert_eq!(rows.behind_first(&two, 1), (one.clone(), 3));
        assert_eq!(rows.behind_nearest(&one, 3), (two, 1));
        assert_eq!(rows.behind_nearest(&one, 1), (one, 1));
    }

    #[test]
    fn what_is_between_may_have_any_length() {
        let data = atom("message").member("data");
        let [one, two] = ["one", "two"].map(atom);
        let moved = S::Assign(data.clone(), "+=", atom("length"));
        let other = S::Assign(atom("message"), "=", atom("other"));
        let done = S::Do(crate::c::tree::call(
            "skip",
            vec![atom("message").address()],
        ));
        for between in [moved, other, done] {
            let rows = passed(between);
            assert_eq!(rows.behind_first(&two, 1), (two.clone(), 1));
            assert_eq!(rows.behind_nearest(&one, 3), (one.clone(), 3));
        }
    }
}
