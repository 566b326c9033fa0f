//! Members of the struct of a stack: a module comes in; what the host's side keeps goes out.

use super::agenda::has_agenda;
use super::build::line;
use super::paths;
use crate::back::c::Stack;
use crate::c::record::LAST;
use crate::c::tree::Line;

/// Members of `struct STACK` that belong to the host's side, in order, `shared` first. Instances
/// and timers stand behind them.
pub fn members(stack: &Stack<'_>) -> Vec<Line> {
    let name = &stack.names.stack;
    let of_stack = |before: &str, of: &str, behind: &str, comment: &str| {
        line(&format!("{before}struct {name}_{of} {behind}"), comment)
    };
    let last = stack.record().map(|_| {
        let last = format!("uint32_t {LAST}[LINKS]");
        line(&last, "the length of the last frame of each link")
    });
    let mut all = vec![
        of_stack("", "shared", "shared", "as the header says"),
        of_stack("", "config", "config", "as it was set"),
        of_stack("", "settings", "settings", "the same by parts"),
        line("uint64_t now_ns", "the time of the instant"),
        line("uint64_t hash_odd", "what keys are hashed with"),
        of_stack("", "output", "*answers", "outputs: the first place"),
        of_stack("", "output", "*end", "behind the last place"),
        of_stack("", "output", "*open", "the limit while nothing waits"),
        line("size_t room", "for outputs, in bytes"),
        of_stack("", "buffer", "*buffers", "where messages are"),
        line("size_t size", "of all buffers, in bytes"),
        of_stack(
            "",
            "buffer",
            "*reserve",
            "the first that can be taken, but not by the host",
        ),
        line("uint32_t reserved", "how many of these there are"),
        of_stack("", "message", "*messages", "those that are held, by buffer"),
        line("uint32_t waiting", "how many events are on the agenda"),
        line("uint64_t counters[COUNTERS]", "in the order of their names"),
    ];
    all.extend(paths::members(stack));
    if has_agenda(stack) {
        all.extend([
            of_stack("", "place", "*agenda", "the last is handled first"),
            of_stack(
                "",
                "event",
                "*events",
                "those that wait; the first is empty",
            ),
            line("uint32_t free_event", "the first place that is free, or 0"),
            line("uint32_t crowd", "how many of these places are taken"),
            line(
                "bool follows",
                "whether the next one belongs to the step that is under way",
            ),
        ]);
    }
    all.extend(last);
    all
}
