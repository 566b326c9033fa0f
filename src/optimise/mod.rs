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
//! | Y | [`bypass`] | the fast path of a frame tests first, then does; [`owed`], [`made`] |
//! |   | [`asks`] | … with fewer tests, for they say something of each other; [`known`], [`path`] |
//! |   | [`found`] | … and asks of an instance what it is found by |
//! |   | [`latch`] | … and asks once what it asks of an instance alone |
//!
//! Before all of them [`unread`] lets fields be written where they are read, and with some of them
//! [`unasked`] takes away what nobody asks for any more.

pub mod asks;
pub mod branches;
pub mod bypass;
pub mod depends;
pub mod extend;
pub mod fleeting;
pub mod found;
pub mod frequent;
pub mod known;
pub mod latch;
pub mod made;
pub mod owed;
pub mod path;
pub mod simpler;
pub mod states;
pub mod unasked;
pub mod unread;
pub mod value;

use crate::tree::rewrites::{Rewrite, Rewrites};
use crate::tree::{Forest, Reaction};
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

/// The reactions to frames whose trees are longer than a fast path may be, after these rewrites;
/// and how long that is. None where no fast path is looked for.
pub fn given_up(program: &Program, forest: &Forest, rewrites: Rewrites) -> Vec<(Reaction, usize)> {
    match rewrites.has(Rewrite::Bypass) {
        true => bypass::given_up(program, forest, bypass::Limits::default()),
        false => Vec::new(),
    }
}

/// The trees of a stack after one more rewrite. What nobody asks for is bound in none of them.
pub fn rewrite(program: &mut Program, forest: Forest, one: Rewrite) -> Forest {
    match one {
        Rewrite::States => states::prune(program, &forest),
        Rewrite::Extend => extend::extend(program, forest, extend::Limits::default()),
        Rewrite::Inline => weave::weave(program, forest, weave::Limits::default()),
        Rewrite::Branches => branches::prune(program, forest),
        Rewrite::Frequent => frequent::first(program, &forest),
        Rewrite::Bypass => {
            let limits = bypass::Limits::default();
            let forest = bypass::bypass(program, forest, limits);
            latch::latch(program, forest, limits.rare)
        }
        // `emit` decides these.
        Rewrite::Bounds | Rewrite::Share | Rewrite::Outline | Rewrite::Turn => forest,
    }
}
