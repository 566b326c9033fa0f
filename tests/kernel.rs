//! The Linux kernel beside compiled stacks, on networks that are private to each test.
//!
//! In: stacks of this repository, loaded as C, on TAP devices (or packet sockets, where there are
//! none) of network namespaces without a name, so that nothing is left of them however a test
//! ends. Out: what the kernel's sockets, its own tables and the stacks say of each other. Whoever
//! is not root runs the same in a user namespace.

#[path = "kernel/boosted.rs"]
mod boosted;
#[path = "kernel/bridge.rs"]
mod bridge;
#[path = "streams/content.rs"]
mod content;
#[path = "kernel/duplicates.rs"]
mod duplicates;
#[path = "streams/end.rs"]
mod end;
#[path = "streams/lane.rs"]
mod lane;
#[path = "kernel/namespace.rs"]
mod namespace;
#[path = "kernel/neighbours.rs"]
mod neighbours;
#[path = "kernel/paths.rs"]
mod paths;
#[path = "kernel/peer.rs"]
mod peer;
#[path = "streams/recorded.rs"]
mod recorded;
#[path = "kernel/recording.rs"]
mod recording;
#[path = "kernel/relay.rs"]
mod relay;
#[path = "kernel/scene.rs"]
mod scene;
#[path = "kernel/sizes.rs"]
mod sizes;
#[path = "kernel/sockets.rs"]
mod sockets;
#[path = "agree/stacks.rs"]
mod stacks;
#[path = "kernel/station.rs"]
mod station;
#[path = "kernel/transfers.rs"]
mod transfers;
