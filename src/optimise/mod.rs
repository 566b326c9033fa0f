//! Rewrites: each a function from the trees of a stack to trees that do the same, faster, and each
//! in a file of its own, which says what it assumes and ensures, and what it costs. In which order
//! they are done, and what holds after each, is said once: in [`crate::tree::rewrites::ORDER`].
//!
//! | letter | file | what |
//! |---|---|---|
//! | G | [`states`] | what would be done in states in which nothing is ever found is gone |
//! | E | [`extend`] | the fast path of a handler whose ways meet again stands apart |
//! | I | [`weave`] | what follows stands in the leaf that lets it happen |
//! | P | [`branches`] | a test that is settled by an earlier one is gone |
//! | R | [`frequent`] | of several values the frequent one is asked for first |
//!
//! Before all of them [`unread`] lets fields be written where they are read, and with some of them
//! [`unasked`] takes away what nobody asks for any more.

pub mod branches;
pub mod depends;
pub mod extend;
pub mod fleeting;
pub mod frequent;
pub mod simpler;
pub mod states;
pub mod unasked;
pub mod unread;
pub mod value;

use crate::tree::Forest;
use crate::tree::rewrites::{Rewrite, Rewrites};
use crate::types::program::Program;
use crate::weave;

/// The trees of a stack after these rewrites, in their order.
pub fn rewritten(program: &mut Program, forest: Forest, rewrites: Rewrites) -> Forest {
    let forest = unasked::forget(program, &forest);
    let forest = unread::forget(program, &forest);
    rewrites
        .each()
        .fold(forest, |forest, one| rewrite(program, forest, one))
}

/// The trees of a stack after one more rewrite. What nobody asks for is bound in none of them.
pub fn rewrite(program: &mut Program, forest: Forest, one: Rewrite) -> Forest {
    match one {
        Rewrite::States => states::prune(program, &forest),
        Rewrite::Extend => extend::extend(program, forest, extend::Limits::default()),
        Rewrite::Inline => weave::weave(program, forest, weave::Limits::default()),
        Rewrite::Branches => branches::prune(program, forest),
        Rewrite::Frequent => frequent::first(program, &forest),
    }
}
