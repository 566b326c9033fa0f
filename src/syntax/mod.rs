//! Text to tree, one file at a time. Nothing here knows another file, or what a name means.

mod cursor;
pub mod estelle;
pub mod esterel;
pub mod loom;
