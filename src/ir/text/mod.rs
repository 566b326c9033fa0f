//! The text form of the stack IR: written, and read back.
//!
//! In: a module, or its text. Out: the other of the two. `read(&write(&module))` is
//! `canonical(&module)`: the same module, its values numbered in order of definition, without
//! spans. Nothing else is lost, also of a module that breaks the rules of `verify`, as long as its
//! indices name entries. A text may be written by hand: names may be used before they are defined,
//! blocks have any names, and much has a default.
//!
//! ```text
//! stack udp                                  ; the name comes first, then entries in any order
//! reason udp.gone
//! kind udp.session[64] of udp, created {     ; without `[64]` there is one, for all time
//!   key port: i16
//!   field peer: i32
//!   timer silence
//! }
//! port datagrams {
//!   session udp.session from 0, 64
//! }
//! fn udp.deliver(%s: i32, %m: msg, %h: view) of udp {
//! b0:                                        ; the first block needs no name
//!   try live udp.session %s -> found, gone @ 99%
//! found(%u: inst udp.session):               ; behind the arguments come the results of `try`
//!   store udp.session.peer %u, (read.be32 %h, 12)
//!   tail port datagrams message(%s, %m)
//! gone:
//!   drop udp.gone %m
//!   return
//! }
//! ```
//!
//! # Lines
//!
//! An instruction is a line: results, `=`, a word, names of tables, operands with commas. Inside
//! parentheses stands an operation whose result is used there alone. The text is evaluated from
//! left to right, so reading it gives the same order of instructions. A line goes on behind a
//! comma, behind `->`, and in brackets that are open. A comment begins with `;`.
//!
//! - A number is an operand as it is, `5` or `0xff`, if the operation says its type; else the type
//!   stands in front, `i32 5`.
//! - `%next` is a value with the hint `next`, `%next.2` another one with the same hint, and `%7` a
//!   value without.
//! - Types of results are inferred by `signature.rs`. `%a: i32 = ..`, and `() = ..` where there is
//!   none, say what holds in spite of it.
//! - `@ 99.9%` is the probability of the edge before it, of the first if there are two. Without
//!   it, all edges are as likely as each other.
//! - `call f(..)`, `loop f at most 64 (..)`, `foreign f [places] (..)` and events, `f(..)`,
//!   `link tun(..)`, `port p message(..)`, `port p started(..)`, `port p notice n(..)`, have their
//!   operands in parentheses.
//! - A field is `KIND.FIELD`, or `KIND/FIELD` where that can be read in two ways. Other regions are
//!   `setting NAME`, `now`, `valid CACHE` and `cached CACHE[0]`.
//! - `bytes 28 [4500 0000 4011]` are 28 bytes, zeros behind those that are written.
//! - `read.be13 skip 3` reads 13 bits behind 3 others, the most significant first.
//! - A name that is no word stands in quotes. Where an entry has the name of another, its index
//!   stands behind it: `lost#3`.
//!
//! # Tables
//!
//! ```text
//! headroom 28      fast_paths 4      starts FUNCTION      settings_hold FUNCTION
//! left_out NAME 2            ; a path that is not formed, of the function of this name
//! given NAME: SHAPE          setting NAME: TYPE      reason NAME      counter NAME
//! attribute [mark] NAME: TYPE [= DEFAULT]            ; zero if there is none
//! kind NAME [[CAPACITY]] [of LAYER] [, created | , with KIND] {
//!   key NAME: TYPE           field NAME [[LENGTH, ..]]: STORED        timer NAME [calls FUNCTION]
//!   keys FIELD, ..           stands_on FIELD                          ended REASON
//! }
//! STORED    = TYPE | queue [TYPE, ..] N | window [TYPE, ..] iN N | stream iN N | set N
//!           | foreign NAME
//! TYPE      = iN | bytes N | inst KIND | msg | view
//! SHAPE     = uN | sN | bytes N | bytes ..N | optional SHAPE | (NAME: SHAPE, ..) | [N] SHAPE
//!           | foreign NAME
//! foreign [runtime] NAME(SHAPE | data | rewritten | state, ..) [-> SHAPE]
//! kernel NAME(TYPE, ..) unit BYTES (big | little) {
//!   begins FUNCTION          steps FUNCTION          [tail FUNCTION]          finishes FUNCTION
//! }
//! cache NAME [[KIND]] = FUNCTION
//! link NAME {
//!   [calls NAME]             [gathers]    arrives FUNCTION [in_place]     [carrier FUNCTION]
//! }
//! port NAME {
//!   [calls NAME]             session KIND (only N | from N, COUNT)            [sends FUNCTION]
//!   (opens | listens) KIND {
//!     [optional] key NAME: SHAPE      by FUNCTION    [closes FUNCTION]        [events N]
//!   }
//!   attribute NAME: SHAPE = ATTRIBUTE, ..            [grants NOTICE]
//!   (up | down) NOTICE([msg,] NAME: SHAPE, ..) [calls FUNCTION]
//! }
//! listening PORT {
//!   listener KIND            backlog FIELD           waiting FIELD
//!   session KIND             waits FIELD             unknown FIELD            made_by FIELD
//!   [opened NOTICE]
//! }
//! [kept] [pure | event | entry | fast] fn NAME(VALUE: TYPE, ..) [-> TYPE | -> (TYPE, ..)]
//!     [of LAYER] { BLOCKS }
//! ```

mod canonical;
mod expected;
mod infer;
mod lexer;
mod names;
mod opcode;
mod read;
mod write;

pub use canonical::{canonical, renumber};
pub use lexer::Mistake;
pub use read::read;
pub use write::{write, write_function, write_function_of, write_of};

#[cfg(test)]
mod tests;
