//! Rewrites: each a function from the trees of a stack to trees that do the same, faster, and each
//! in a file of its own, which says what it assumes and ensures, and what it costs.
//!
//! | letter | file | what |
//! |---|---|---|
//! | E | [`extend`] | the common path of a handler whose ways meet again stands apart |
//! | Y | [`bypass`] | the common path of a frame tests first, then does; [`owed`], [`value`] |

pub mod bypass;
pub mod extend;
pub mod owed;
pub mod value;
