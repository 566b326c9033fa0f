//! `loom explain STACK --paths`: each path of each fast function of a stack.
//!
//! In: the stack IR behind all passes. Out: for each fast function, in the order in which they are
//! tried, its paths: the share of the runs of the function that leave at no exit, by the
//! probabilities of the sources or of a profile; the number of operations before the commit and
//! behind it; the conditions of its guards, each with its exit and its place in the sources; and
//! what it tells the application, the link and the work queue.
//!
//! ```text
//! tunnel_arrive: 2 fast functions, tried in this order
//!   tunnel.arrive.hit
//!     path 1: 50.0 % of its runs; 60 operations ask, 12 operations act
//!       udp.too_short  (frame[2..4] - 20) >= 8  (layers/transport/udp.loom:21)
//!       then a message for port datagrams
//! ```

use super::condition::Conditions;
use super::{line, percent};
use crate::back::c::Path as FastPath;
use crate::ir::definitions::Definitions;
use crate::ir::op::{Attempt, Event, Target, Told};
use crate::ir::{Block, BlockId, Function, Instruction, Module, Op, Terminator};
use crate::passes::fast::ways::Ways;
use crate::source::{Sources, Span};
use crate::tool::compiler::{self, Options};
use crate::tool::failure::Failure;
use crate::tool::terminal::{counted, result};
use std::path::Path;

/// Prints the paths of a stack.
pub fn paths(stack: &Path, options: &Options) -> Result<(), Failure> {
    let (sources, _, analysed) = compiler::analysed(stack, options)?;
    let module = &analysed.module;
    let mut text = String::new();
    for path in &analysed.paths {
        reaction(module, &sources, path, &mut text);
    }
    if text.is_empty() {
        line(&mut text, "no reaction of the stack has a fast path");
    }
    result(text.trim_start_matches('\n').to_string())
}

/// The fast functions of a reaction, the first that is tried first.
fn reaction(module: &Module, sources: &Sources, path: &FastPath, text: &mut String) {
    let tried = counted(path.tried.len(), "fast function");
    line(
        text,
        &format!("\n{}: {tried}, tried in this order", path.reaction),
    );
    for id in path.tried.iter().rev() {
        let function = module.function(*id);
        line(text, &format!("  {}", function.name));
        let ways = Ways::of(function);
        let exits = function.instructions().filter_map(|one| match &one.op {
            Op::Exit(name) => Some(name.chars().count()),
            _other => None,
        });
        let shown = Shown {
            module,
            sources,
            function,
            ways: &ways,
            width: exits.max().unwrap_or(0),
        };
        for (number, (leaf, share)) in ways.leaves().into_iter().enumerate() {
            shown.path(number + 1, leaf, share, text);
        }
    }
}

/// A fast function whose paths are shown.
struct Shown<'s> {
    module: &'s Module,
    sources: &'s Sources,
    function: &'s Function,
    ways: &'s Ways<'s>,
    /// The width of the names of exits.
    width: usize,
}

impl Shown<'_> {
    fn path(&self, number: usize, leaf: BlockId, share: f64, text: &mut String) {
        let before = self.ways.before(leaf);
        let behind = self.function.behind(leaf);
        let order = self.ways.graph.order.iter().copied();
        let behind: Vec<BlockId> = order.filter(|id| behind.contains(id)).collect();
        let count = |blocks: &[BlockId]| {
            let blocks = blocks.iter().map(|id| self.function.block(*id));
            blocks.map(|block| block.instructions.len()).sum::<usize>()
        };
        let commit = self.function.block(leaf).commit().unwrap_or(0);
        let own = self.function.block(leaf).instructions.len();
        let rest: Vec<BlockId> = behind.iter().copied().filter(|id| *id != leaf).collect();
        let (guard, effects) = (count(&before) - (own - commit), count(&rest) + own - commit);
        let [guard, effects] = [guard, effects].map(|size| counted(size, "operation"));
        let share = percent(share);
        let says = format!("    path {number}: {share} of its runs; {guard} ask, {effects} act");
        line(text, &says);
        self.conditions(&before, leaf, text);
        for told in self.told(&behind) {
            line(text, &format!("      then {told}"));
        }
    }

    /// The conditions of a path, in order.
    fn conditions(&self, before: &[BlockId], leaf: BlockId, text: &mut String) {
        let definitions = Definitions::of(self.function);
        let words = Conditions::new(self.module, &definitions);
        for (at, id) in before.iter().enumerate() {
            let block = self.function.block(*id);
            let guards = block.instructions.iter();
            for guard in guards.take_while(|one| one.op != Op::Commit) {
                if let Op::Exit(name) = &guard.op {
                    let condition = words.not(guard.operands[0]);
                    self.condition(&condition, name, guard.span, text);
                }
            }
            if *id == leaf {
                break;
            }
            let next = before.get(at + 1).copied().unwrap_or(leaf);
            self.end(block, next, &words, text);
        }
    }

    /// Prints the condition under which control goes from a block to the next.
    fn end(&self, block: &Block, next: BlockId, words: &Conditions<'_>, text: &mut String) {
        match &block.terminator {
            Terminator::Branch {
                condition,
                then,
                otherwise,
                ..
            } if then.block == next || otherwise.block == next => {
                let condition = words.holds(*condition, then.block == next);
                self.condition(&condition, "", block.span, text);
            }
            Terminator::Try {
                attempt,
                done,
                failed,
                ..
            } => {
                let found = match (done.block == next, failed.block == next) {
                    (true, _) => "",
                    (_, true) => "no ",
                    _met => return,
                };
                let asked = match attempt {
                    Attempt::Find(kind) => {
                        format!("{found}{} is found", self.module.kinds[kind.at()].name)
                    }
                    Attempt::Live(kind) => {
                        format!("{found}{} has a state", self.module.kinds[kind.at()].name)
                    }
                    Attempt::Recall(cache) => {
                        let name = &self.module.caches[cache.at()].name;
                        format!("{found}header equals that in the cache {name}")
                    }
                    _other => return,
                };
                self.condition(&asked, "", block.span, text);
            }
            _other => {}
        }
    }

    /// A condition behind the exit that is taken where it does not hold.
    fn condition(&self, words: &str, exit: &str, span: Option<Span>, text: &mut String) {
        let place = span.map_or(String::new(), |span| {
            let name = self.sources.name(span.file);
            format!("  ({name}:{})", self.sources.position(span).line)
        });
        let width = self.width;
        line(text, &format!("      {exit:width$}  {words}{place}"));
    }

    /// Lists the events and outputs behind the commit, in order.
    fn told(&self, behind: &[BlockId]) -> Vec<String> {
        let mut told = Vec::new();
        let blocks = behind.iter().map(|id| self.function.block(*id));
        for block in blocks {
            for Instruction { op, .. } in &block.instructions {
                match op {
                    Op::Output(events) => told.extend(events.iter().map(|one| self.target(one))),
                    Op::Queue(_, events) => {
                        let waits = |one: &Event| format!("{}, which waits", self.target(one));
                        told.extend(events.iter().map(waits));
                    }
                    _other => {}
                }
            }
            if let Terminator::Tail(event, _) = &block.terminator {
                told.push(self.target(event));
            }
        }
        told.dedup();
        told
    }

    fn target(&self, event: &Event) -> String {
        match event.target {
            Target::Function(id) => format!("reaction {}", self.module.function(id).name),
            Target::Link(id) => {
                format!("a frame leaves by link {}", self.module.links[id.at()].name)
            }
            Target::Port(id, told) => {
                let port = &self.module.ports[id.at()];
                match told {
                    Told::Message => format!("a message for port {}", port.name),
                    Told::Started => format!("a new session for port {}", port.name),
                    Told::Notice(at) => {
                        let notice = &port.up[at as usize].name;
                        format!("{notice} for port {}", port.name)
                    }
                }
            }
        }
    }
}
