//! Every command as a new user meets it: the built `loom`, in folders of its own.
//!
//! In: command lines. Out: what they print, where, and how they end. A panic is never an answer,
//! and nothing takes for ever.

#[path = "commands/authoring.rs"]
mod authoring;
#[path = "commands/bench.rs"]
mod bench;
#[path = "commands/building.rs"]
mod building;
#[path = "commands/demo.rs"]
mod demo;
#[path = "commands/devices.rs"]
mod devices;
#[path = "commands/dual.rs"]
mod dual;
#[path = "commands/environment.rs"]
mod environment;
#[path = "commands/estelle.rs"]
mod estelle;
#[path = "commands/esterel.rs"]
mod esterel;
#[path = "commands/externs.rs"]
mod externs;
#[path = "commands/frames.rs"]
mod frames;
#[path = "commands/makefile.rs"]
mod makefile;
#[path = "commands/messages.rs"]
mod messages;
#[path = "commands/profiles.rs"]
mod profiles;
#[path = "commands/projects.rs"]
mod projects;
#[path = "commands/promises.rs"]
mod promises;
#[path = "commands/running.rs"]
mod running;
#[path = "commands/shell.rs"]
mod shell;
#[path = "commands/simulating.rs"]
mod simulating;
#[path = "commands/speaking.rs"]
mod speaking;
#[path = "commands/traffic.rs"]
mod traffic;
#[path = "commands/viewing.rs"]
mod viewing;
#[path = "commands/web.rs"]
mod web;
