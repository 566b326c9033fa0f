//! Counters that follow from others, so that the fast path counts less.
//!
//! In: the paths of a stack, and the functions. Out: the code that says what follows, where
//! counters are read. Where there is only one path, those that went it are all that came in but
//! what left it, or came where there is none. Where each of its ways hands its frame to an
//! application once, so many were delivered, too.
//!
//! ```text
//! counters[DELIVERED] += 1        =>        values[DELIVERED] += went(stack)
//! ```
//!
//! Ensures: the same numbers whenever a host may ask for them: what comes in is counted first.

use super::Stack;
use super::bypass;
use super::exits::Path;
use super::external;
use super::granted;
use super::parts;
use super::paths;
use crate::c::printer;
use crate::c::tree::{Expression as C, Function, Statement as S};
use crate::c::tree::{atom, binary, call, only_if};
use crate::c::walk;

/// Marks of the text of stacks with fast paths, where derived counters are inserted.
const WENT: &str = "WENT\n\n";
const OF_PATHS: &str = "    DERIVED_PATHS\n";
const OF_COUNTERS: &str = "    DERIVED_COUNTERS\n";

/// Says how many went the only path.
const FUNCTION: &str = "\
/* How many frames went the fast path: all that came in but what left it, or came where there is
 * none. */
static uint64_t went(const struct STACK *stack) {
    uint64_t count = stack->counters[FRAMES_IN];
    for (size_t at = 0; at < UPPER_PATHS; at += 1) {
        count -= stack->paths[at];
    }
    return count;
}

";

/// The path of which is derived how many frames went it.
pub fn only(paths: &[Path]) -> Option<&Path> {
    match paths {
        [path] => Some(path),
        _ => None,
    }
}

/// Takes the count of what is delivered away from the only path, if that follows; whether it does.
pub fn delivers(stack: &Stack, path: &Path, functions: &mut [Function]) -> bool {
    let own = Vec::from_iter(granted::names(stack));
    let name = format!("{}_bypass", path.name);
    let way = functions.iter().find(|one| one.name == name);
    let follows = way.is_some_and(|way| Delivered::by(stack, path, way, &own));
    let delivered = external::delivered();
    let counts = |one: &S| matches!(one, S::Assign(place, ..) if *place == delivered);
    for function in functions.iter_mut().filter(|_| follows) {
        if own.contains(&function.name) {
            function.body.retain(|one| !counts(one));
        }
    }
    follows
}

/// How often a path hands its frame to an application.
struct Delivered<'d> {
    /// What does so.
    by: &'d [String],
    /// The frame.
    message: C,
    /// What is returned at its ends.
    ends: [C; 2],
}

impl Delivered<'_> {
    /// Whether each way of a path does so once, if it is gone to its end.
    fn by(stack: &Stack, path: &Path, way: &Function, by: &[String]) -> bool {
        let message = atom(bypass::message_of(way));
        let came_in = message.clone().member("came_in");
        let mut is_same = true;
        walk::each(&way.body, &mut |one| {
            is_same &=
                !matches!(one, S::Assign(place, ..) if [&message, &came_in].contains(&place));
        });
        let own = Delivered {
            by,
            message,
            ends: [&path.constant, &paths::count(stack)].map(atom),
        };
        is_same && own.once(&way.body, 0) == Some(None)
    }

    /// How often it has done so behind these statements, if they go on; none if at an end it has
    /// done so never, or twice, or if that is not known.
    fn once(&self, all: &[S], before: u32) -> Option<Option<u32>> {
        let mut count = before;
        for statement in all {
            let values = statement.expressions().into_iter();
            count += values.map(|value| self.calls(value)).sum::<u32>();
            match statement {
                S::If {
                    then, otherwise, ..
                } => {
                    let ways = [self.once(then, count)?, self.once(otherwise, count)?];
                    count = match ways {
                        [Some(one), Some(other)] if one != other => return None,
                        [Some(one), _] | [None, Some(one)] => one,
                        [None, None] => return Some(None),
                    };
                }
                S::Return(Some(end)) => {
                    let is_end = self.ends.contains(end);
                    return (count == u32::from(is_end)).then_some(None);
                }
                S::Return(None) => return None,
                S::Comment(_) | S::Declare { .. } | S::Assign(..) | S::Do(_) => {}
                S::Switch { .. }
                | S::For { .. }
                | S::While { .. }
                | S::Continue
                | S::Break
                | S::Goto(_)
                | S::Label(_) => {
                    for block in statement.blocks() {
                        if self.once(block, count)? != Some(count) {
                            return None;
                        }
                    }
                }
            }
        }
        Some(Some(count))
    }

    fn calls(&self, value: &C) -> u32 {
        let frame = self.message.clone().address();
        let this = matches!(value, C::Call(name, given)
            if self.by.contains(name) && given.contains(&frame));
        let parts = value.parts().into_iter();
        u32::from(this) + parts.map(|part| self.calls(part)).sum::<u32>()
    }
}

/// A text that says what follows of these paths.
pub fn filled(stack: &Stack, paths: &[Path], text: &str) -> String {
    let path = only(paths);
    let delivered = path.filter(|path| path.delivers).map(|_| "DELIVERED");
    let block = |one: Option<S>| printer::block(&Vec::from_iter(one), 1);
    let of_paths = path.map(|path| read(&path.constant, "="));
    let of_counters = delivered.map(|constant| read(constant, "+="));
    let function = path.map(|_| parts::named(FUNCTION, &stack.names.stack, ""));
    text.replace(WENT, &function.unwrap_or_default())
        .replace(OF_PATHS, &block(of_paths))
        .replace(OF_COUNTERS, &block(of_counters))
}

/// Reads one counter, if it is asked for.
fn read(constant: &str, how: &'static str) -> S {
    let value = atom("values").element(atom(constant));
    let went = call("went", vec![atom("stack")]);
    only_if(
        binary(">", atom("count"), atom(constant)),
        vec![S::Assign(value, how, went)],
    )
}
