//! The modules of an Estelle specification (ISO 9074).
//!
//! ```text
//! attribute   S1-S8: which modules hold which     channel    channels and their interactions
//! header      headers, interaction points         body       bodies and their declarations
//! reference   modules and points in statements    instance   init, release, terminate
//! link        S18, S19: connect and attach        output     S14: output
//! domain      all, forone, exist                  clause     clauses of a transition
//! transition  S9-S17: transitions, any            state      S10, S27: states
//! usage       S23: what is never used
//! ```

mod attribute;
mod body;
mod channel;
mod clause;
mod domain;
mod header;
mod instance;
mod link;
mod output;
mod reference;
mod state;
mod transition;
mod usage;
