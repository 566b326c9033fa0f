//! An answer that is kept whole leaves from where it stands: no buffer is taken for it, and nothing
//! is copied.
//!
//! In: a path that begins its answers with a copy of what is kept of them (`answer`), and at its
//! ends calls the function of a link, which reads the frame before it returns. Out: the same, where
//! an answer of which all bytes are kept is made in their place.
//!
//! ```text
//! if (!new_message(&made)) { return NO_BUFFER; }      if (free == NULL) { return NO_BUFFER; }
//! memcpy(made.data - 8, own->expected.answer, 8)      made.data = own->expected.answer + 8
//! made.data -= 8                                 =>   made.data -= 8
//! store_32(made.data + 4, own->next)                  store_32(made.data + 4, own->next)
//! leave_now(&made)                                    leave_untaken(&made)
//! ```
//!
//! What is read of an answer before it is written is what stood there in the copy: that is written
//! first. Where something waits behind the path, the answer waits in a buffer: an application that
//! is called and takes some itself leaves one for it first (`take_spare`). Only where none is left
//! does the answer leave before what waits.
//!
//! Assumes: a path begins where nothing else is under way. Ensures: the same frames.

use super::Stack;
use super::algebra::{holds, number};
use super::answer::{made, stored};
use super::expected::Expected;
use super::granted::{self, Granted};
use super::leaves;
use super::message;
use super::waits;
use crate::c::printer::expression;
use crate::c::tree::{Expression as C, Function, Statement as S};
use crate::c::tree::{assign, atom, binary, call, only_if};
use crate::c::walk;
use std::ops::Range;

/// What lets a frame in its buffer wait behind a path.
const LEAVES: &str = "leave_and_go_on";

/// What is done with an answer that waits behind a path.
pub const GOES_ON: &str = "leave_copy_and_go_on";

/// From here on an answer stands that took no buffer, nor a step, or no more.
pub fn stands(is: bool) -> S {
    let stands = atom("stack").behind("shared").member("stands");
    assign(stands, atom(if is { "true" } else { "false" }))
}

/// Lets the first answer of a path that may leave from where it is kept; where the stack keeps it,
/// and how many bytes it has.
pub fn let_stand(
    stack: &Stack,
    expected: &Expected,
    functions: &mut [Function],
) -> Option<(String, u64)> {
    let begins = expected.begins_name();
    let begins = functions.iter().find(|one| one.name == begins).cloned()?;
    let path = functions.iter_mut().find(|one| expected.is_path(one))?;
    let answer = within(stack, &begins.body, &mut path.body)?;
    let C::Member(_, name) = &answer.kept else {
        unreachable!("it is kept with what is expected");
    };
    Some((expression(&expected.part(name)), answer.bytes as u64))
}

fn within(stack: &Stack, begins: &[S], block: &mut Vec<S>) -> Option<Answer> {
    let mut inner = block.iter_mut().flat_map(S::blocks_mut);
    if let Some(answer) = inner.find_map(|inner| within(stack, begins, inner)) {
        return Some(answer);
    }
    (0..block.len().saturating_sub(2)).find_map(|at| {
        let answer = Answer::of(&block[at..])?;
        let behind = (&block[at + 1], &block[at + 3..]);
        let standing = answer.standing(stack, begins, behind)?;
        block.splice(at.., standing);
        Some(answer)
    })
}

/// Whether room is made for an answer that leaves behind an application: one that stands has a
/// spare buffer for that.
fn is_behind(statement: &S) -> bool {
    [true, false].map(leaves::behind).contains(statement)
}

/// Whether a statement counts one step.
fn is_step(statement: &S) -> bool {
    let steps = atom("stack").behind("shared").member("steps");
    *statement == S::Assign(steps, "+=", atom("1"))
}

/// Whether a statement calls nothing by which buffers come and go, but applications that are told
/// so.
fn is_known(stack: &Stack, statement: &S) -> bool {
    let granted = Vec::from_iter(granted::names(stack));
    let is_known = |name: &String| {
        let leaves = ["leave_now", "leave_untaken"].contains(&&**name);
        let goes_on = waits::GOING_ON.iter().any(|what| name.ends_with(what));
        name.starts_with("sl_") || granted.contains(name) || leaves || goes_on
    };
    fn calls(value: &C, is_known: &dyn Fn(&String) -> bool) -> bool {
        let itself = matches!(value, C::Call(name, _) if !is_known(name));
        itself || value.parts().into_iter().any(|one| calls(one, is_known))
    }
    let mut all = true;
    walk::each(std::slice::from_ref(statement), &mut |one| {
        let mut values = one.expressions().into_iter();
        all &= !values.any(|value| calls(value, &is_known));
    });
    all
}

/// An answer that begins with a copy of what is kept.
struct Answer {
    /// What the path calls it.
    message: C,
    /// Where it is kept.
    kept: C,
    /// How many bytes of it.
    bytes: i64,
}

impl Answer {
    /// The one that is declared, made and begun by the first three statements.
    fn of(block: &[S]) -> Option<Answer> {
        let [
            S::Declare { name, value, .. },
            taken,
            S::Do(C::Call(copies, given)),
            ..,
        ] = block
        else {
            return None;
        };
        let [_, kept, bytes] = &given[..] else {
            return None;
        };
        let is_it = value.is_none() && made(taken)? == *name && copies == "memcpy";
        is_it.then_some(Answer {
            message: atom(name),
            kept: kept.clone(),
            bytes: number(bytes)? as i64,
        })
    }

    fn part(&self, part: &str) -> C {
        self.message.clone().member(part)
    }

    /// The same where it stands; none if it is used otherwise, or is longer than what is kept.
    fn standing(&self, stack: &Stack, begins: &[S], (taken, behind): (&S, &[S])) -> Option<Vec<S>> {
        let [data, length] = ["data", "length"].map(|part| self.part(part));
        let (mut begin, mut bytes) = (self.bytes, 0);
        let mut written: Vec<Range<i64>> = Vec::new();
        let mut first = Vec::new();
        let mut is_read = false;
        let mut all: Vec<S> = Vec::new();
        let (mut steps, mut called) = (Vec::new(), 0);
        for statement in behind {
            if let Some((place, count, value)) = stored(statement, &data) {
                let run = begin + place..begin + place + count as i64;
                is_read |= holds(value, &self.message);
                if is_read && !written.contains(&run) {
                    first.push(self.first(begins, &run)?);
                }
                written.push(run);
                all.push(statement.clone());
                continue;
            }
            if is_behind(statement) {
                continue;
            }
            let whole = begin == 0 && bytes == self.bytes;
            all.push(match statement {
                S::Assign(place, "-=", size) if *place == data => {
                    begin -= number(size)? as i64;
                    statement.clone()
                }
                S::Assign(place, "+=", size) if *place == length => {
                    bytes += number(size)? as i64;
                    statement.clone()
                }
                S::Assign(C::Member(of, part), "=", value) if **of == self.message => {
                    let is_beside = !["data", "length", "buffer"].contains(&&**part);
                    (is_beside && !holds(value, &self.message)).then(|| statement.clone())?
                }
                statement if is_known(stack, statement) => {
                    let mut left = match whole {
                        true => self.left(statement),
                        false => statement.clone(),
                    };
                    if is_step(&left) && called == 0 {
                        steps.push(all.len());
                    }
                    called += u32::from(Granted::has_answered(&mut left, stack)?);
                    (!self.is_used(&left)).then_some(left)?
                }
                _ => return None,
            });
        }
        // An application that is called next is told of the step that the answer takes.
        match (&steps[..], called) {
            (_, 0) => {}
            ([step], 1) => {
                all.remove(*step);
            }
            _ => return None,
        }
        let free = atom("stack").behind("shared").member("free");
        let taken = match taken {
            S::If { then, .. } => only_if(binary("==", free, atom("NULL")), then.clone()),
            _ => return None,
        };
        let stands = vec![taken, self.declared(stack)];
        Some([stands, first, all].concat())
    }

    /// The message, which stands where it is kept.
    fn declared(&self, stack: &Stack) -> S {
        let kind = format!("struct {}_message", stack.names.stack);
        let data = binary("+", self.kept.clone(), atom(self.bytes.to_string()));
        let attributes = stack.program.attributes.iter().zip(&stack.names.attributes);
        let fields = [("data".to_string(), data)].into_iter();
        let fields = fields.chain(message::defaults(stack, attributes));
        let C::Atom(name) = &self.message else {
            unreachable!("it has a name");
        };
        S::Declare {
            kind: kind.clone(),
            name: name.clone(),
            value: Some(C::Struct(kind, fields.collect())),
        }
    }

    fn is_used(&self, statement: &S) -> bool {
        let mut is_used = false;
        walk::each(std::slice::from_ref(statement), &mut |one| {
            let mut values = one.expressions().into_iter();
            is_used |= values.any(|value| holds(value, &self.message));
        });
        is_used
    }

    /// The same, where the whole of it leaves.
    fn left(&self, statement: &S) -> S {
        let mut statement = statement.clone();
        let blocks = statement.blocks_mut().into_iter();
        blocks.for_each(|block| block.retain(|one| !is_behind(one)));
        walk::each_mut(std::slice::from_mut(&mut statement), &mut |one| match one {
            S::Do(C::Call(name, given))
                if name == "leave_now" && given[2] == self.message.clone().address() =>
            {
                *one = S::Do(call(
                    "leave_untaken",
                    [
                        &given[..2],
                        &[self.kept.clone(), atom(self.bytes.to_string())],
                    ]
                    .concat(),
                ));
            }
            S::Do(C::Call(name, given))
                if name.ends_with(LEAVES) && given.get(3) == Some(&self.part("buffer")) =>
            {
                // What goes on may have more to do first.
                let kept = [self.kept.clone(), atom(self.bytes.to_string())];
                let name = name.replace(LEAVES, GOES_ON);
                *one = S::Do(call(name, [&given[..3], &kept, &given[7..]].concat()));
            }
            _ => {}
        });
        statement
    }

    /// What writes these bytes as they stood in a copy.
    fn first(&self, begins: &[S], run: &Range<i64>) -> Option<S> {
        let is_it = |one: &&S| {
            stored(one, &self.kept).is_some_and(|(at, count, _)| (at..at + count as i64) == *run)
        };
        begins.iter().rev().find(is_it).cloned()
    }
}
