//! Emission: the trees of a stack come in, one C file and its header go out.
//!
//! ```text
//! names, reserved   what everything is called      layout     types, members, parameters
//! scope      what names stand for in a function   expression, operator, wire, containers
//! function, code   functions and filters          state, structure, message   instances, the stack
//! tree, apart, held, turns, output, action, attempt, uses, once   what a reaction does
//! late, settle, narrow, waits   what its functions are when all are known
//! bypass, guard, early, masked, again, in_place, algebra   the fast path of what frames start;
//! exits, paths, derived   where it is left, and how often; borrowed   whether it lets go of its
//!                  frame
//! predict, compared, windows, expected, answer, untaken, kept   its header prediction; ahead   its
//!                  steps
//! begun, parted     what sessions keep of the messages that they send; settled: on what it hangs
//! always, meet      what always holds; ways that do the same
//! memory           how much of it there is, and what sets that
//! record, assumed  the counts of a build that records; what a specialised one takes for granted
//! external, granted, postponed, leaves   what is written in C by whoever uses the stack
//! port, upward, listen, driver   what applications and hosts call and are told
//! header_file, source_file                        the two files; parts, runtime: copied C
//! esterel          modules of Esterel
//! ```
//!
//! The checked program says what there is, the forest what happens. Values become C values of
//! their width, optionals two values each, messages one struct; each reaction is one function, and
//! its tree an `if` for each test (`tree`).

pub use assumed::Assumed;
pub use begun::Begun;
pub use exits::{Exit, Path};
pub use memory::Memory;
pub use names::c_name;
pub use record::Record;
pub use reserved::is_free;

mod action;
mod again;
mod ahead;
mod algebra;
mod always;
mod answer;
mod apart;
mod assumed;
mod attempt;
mod backlog;
mod begun;
mod bits;
mod borrowed;
mod bypass;
mod code;
mod compared;
mod constant;
mod containers;
mod derived;
mod driver;
mod early;
mod exits;
mod expected;
mod expression;
mod external;
mod function;
mod granted;
mod guard;
mod header_file;
mod held;
mod in_place;
mod inline;
mod kept;
mod keys;
mod late;
mod layout;
mod leaves;
mod lengths;
mod listen;
mod masked;
mod meet;
mod memory;
mod message;
mod names;
mod narrow;
mod once;
mod operator;
mod options;
mod output;
mod parted;
mod parts;
mod paths;
mod peek;
mod port;
mod postponed;
mod predict;
mod push;
mod reacting;
mod record;
pub mod reserved;
mod returns;
mod row;
mod scope;
mod send;
mod settle;
mod settled;
mod soonest;
mod source_file;
mod standing;
mod state;
mod step;
mod straight;
mod structure;
mod sums;
mod tree;
mod turns;
mod types;
mod untaken;
mod upward;
mod uses;
mod waits;
mod walk;
mod windows;
mod wire;

use crate::c::printer;
use crate::c::tree::{Expression as C, Function, Item, Statement, atom};
use crate::lower::memory::{is_only_appended, longest};
use crate::source::{Sources, Span};
use crate::tree::rewrites::Rewrites;
use crate::tree::{Forest, Goal, Node, Output, Reaction, Tree};
use crate::types::program::{Entity, EntityId, Event, FunctionId, KindId, Port, Program};
use names::Names;
use reacting::Shortcuts;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

/// The C of a stack.
#[derive(Clone, Debug)]
pub struct Emitted {
    /// `NAME.c`
    pub c: String,
    /// `NAME.h`
    pub h: String,
    /// The structs of the header that depend on the program: their names and those of their
    /// members, in order.
    pub layouts: Vec<(String, Vec<String>)>,
    /// The fast paths of what frames start, and where they are left.
    pub paths: Vec<Path>,
    /// What is kept for what sessions send.
    pub begun: Vec<Begun>,
    /// Fields that always hold the same, and what: they are not read.
    pub held: Vec<String>,
    /// Whether its host is given no buffers for frames, since none was seen to stand in one.
    pub elsewhere: bool,
    /// How long its buffers are, and the settings that it begins with.
    pub memory: Memory,
    /// By port: how many bytes a message of its application can have.
    pub longest: Vec<u32>,
    /// By entity: the bytes of the record of one session, where pointers have 64 bits.
    pub session_bytes: Vec<(String, u64)>,
}

/// Emits a stack. The sources give each reaction its line.
pub fn c(sources: &Sources, program: &Program, forest: &Forest, rewrites: Rewrites) -> Emitted {
    emitted(&Stack::new(sources, program, forest, rewrites))
}

/// Emits a stack of which ways were cut, and says so.
pub fn specialised(
    sources: &Sources,
    program: &Program,
    forest: &Forest,
    (rewrites, assumed): (Rewrites, &Assumed),
) -> Emitted {
    let stack = Stack::new(sources, program, forest, rewrites);
    emitted(&Stack {
        assumed: Some(assumed),
        ..stack
    })
}

/// Emits a stack whose trees say which ways they take; it writes down how often.
pub fn recording(
    sources: &Sources,
    program: &Program,
    forest: &Forest,
    record: &Record,
) -> Emitted {
    let stack = Stack::new(sources, program, forest, Rewrites::NONE);
    emitted(&Stack {
        record: Some(record),
        ..stack
    })
}

fn emitted(stack: &Stack) -> Emitted {
    let (c, h, shortcuts) = source_file::text(stack);
    Emitted {
        c,
        h,
        layouts: port::layouts(stack),
        elsewhere: assumed::stand_elsewhere(stack),
        memory: *stack.memory(),
        longest: stack
            .program
            .ports
            .iter()
            .map(|port| stack.longest(port))
            .collect(),
        session_bytes: session_bytes(stack, &shortcuts),
        paths: shortcuts.paths,
        begun: shortcuts.begun,
        held: shortcuts.held,
    }
}

/// Bytes of a session by entity, with what it has for shortcuts.
fn session_bytes(stack: &Stack, shortcuts: &Shortcuts) -> Vec<(String, u64)> {
    let entities = stack.program.entities.iter();
    let session = |entity: &Entity| state::bytes(stack, entity.session, shortcuts);
    entities
        .map(|entity| (entity.name.clone(), session(entity)))
        .collect()
}

/// A stack that is being emitted.
#[derive(Clone, Debug)]
pub struct Stack<'a> {
    sources: &'a Sources,
    program: &'a Program,
    forest: &'a Forest,
    rewrites: Rewrites,
    /// What is recorded, if anything is.
    record: Option<&'a Record>,
    /// What was cut of it, if anything may be.
    assumed: Option<&'a Assumed>,
    names: Names,
    /// By reaction: its place in the forest.
    trees: BTreeMap<Reaction, usize>,
    /// Calls that would lead back to where they come from; they go by the agenda.
    rounds: BTreeSet<(Reaction, Reaction)>,
    /// Kinds whose instances fast paths look for by keys.
    refound: BTreeSet<KindId>,
    /// What each function reads, once that was asked.
    function_reads: Vec<OnceCell<function::Reads>>,
    /// What it needs, once that was asked.
    memory: OnceCell<Memory>,
}

impl<'a> Stack<'a> {
    fn new(
        sources: &'a Sources,
        program: &'a Program,
        forest: &'a Forest,
        rewrites: Rewrites,
    ) -> Stack<'a> {
        let trees = forest
            .trees
            .iter()
            .enumerate()
            .map(|(at, tree)| (tree.reaction, at))
            .collect();
        let mut stack = Stack {
            sources,
            program,
            forest,
            rewrites,
            record: None,
            assumed: None,
            names: Names::new(program, forest),
            trees,
            rounds: BTreeSet::new(),
            refound: bypass::looked_for(program, forest),
            function_reads: vec![OnceCell::new(); program.functions.len()],
            memory: OnceCell::new(),
        };
        stack.rounds = stack.find_rounds();
        stack.unite_functions();
        stack
    }

    /// Functions of the source that are equal in C, such as those of a layer that stands twice, are
    /// one, by the shortest of their names.
    fn unite_functions(&mut self) {
        let all = 0..self.program.functions.len();
        let written: Vec<usize> = all
            .filter(|at| self.program.functions[*at].body.is_some())
            .collect();
        loop {
            let mut names: BTreeMap<String, String> = BTreeMap::new();
            let keys: Vec<String> = written.iter().map(|at| self.unnamed_text(*at)).collect();
            for (key, at) in keys.iter().zip(&written) {
                let name = &self.names.functions[*at];
                let known = names.entry(key.clone()).or_insert_with(|| name.clone());
                if (name.len(), name) < (known.len(), &*known) {
                    *known = name.clone();
                }
            }
            let mut is_settled = true;
            for (key, at) in keys.iter().zip(&written) {
                is_settled &= self.names.functions[*at] == names[key];
                self.names.functions[*at] = names[key].clone();
            }
            if is_settled {
                return;
            }
        }
    }

    /// The C of a function of the source, whatever its name is.
    fn unnamed_text(&self, at: usize) -> String {
        let function = Function {
            name: String::new(),
            ..function::function(self, FunctionId(at as u32))
        };
        printer::file(&[Item::Function(function)])
    }

    fn memory(&self) -> &Memory {
        self.memory.get_or_init(|| Memory::of(self))
    }

    /// Returns the macros of the header that reserve memory, and the assertions of the file about
    /// them; empty where a size is unknown.
    fn macros(&self, queued: &BTreeSet<output::Queued>, text: &str) -> (String, String) {
        memory::macros(self, queued, text).unwrap_or_default()
    }

    /// Returns how many bytes a message of the application at a port can have.
    fn longest(&self, port: &Port) -> u32 {
        longest(self.program, self.forest, port, self.memory().room).0
    }

    /// Returns true if a reaction appends its message to a stream, and does nothing else with it.
    fn only_appends(&self, reaction: Reaction) -> bool {
        let tree = self.tree(reaction);
        tree.is_some_and(|tree| is_only_appended(self.forest, tree))
    }

    fn tree(&self, reaction: Reaction) -> Option<&'a Tree> {
        self.trees.get(&reaction).map(|at| &self.forest.trees[*at])
    }

    /// Whether a call leads back to where it comes from.
    fn comes_round(&self, from: Reaction, to: Reaction) -> bool {
        self.rounds.contains(&(from, to))
    }

    /// Calls that close a circle, in a walk from the first tree to the last.
    fn find_rounds(&self) -> BTreeSet<(Reaction, Reaction)> {
        let calls: BTreeMap<Reaction, Vec<Reaction>> = self
            .forest
            .trees
            .iter()
            .map(|tree| (tree.reaction, self.called_by(tree)))
            .collect();
        let mut rounds = BTreeSet::new();
        let mut done = BTreeSet::new();
        for tree in &self.forest.trees {
            let mut path: Vec<(Reaction, usize)> = vec![(tree.reaction, 0)];
            while let Some((from, next)) = path.last_mut() {
                let Some(&to) = calls[from].get(*next) else {
                    done.insert(*from);
                    path.pop();
                    continue;
                };
                *next += 1;
                let from = *from;
                if path.iter().any(|(reaction, _)| *reaction == to) {
                    rounds.insert((from, to));
                } else if !done.contains(&to) {
                    path.push((to, 0));
                }
            }
        }
        rounds
    }

    /// The reactions that a tree calls at once.
    fn called_by(&self, tree: &Tree) -> Vec<Reaction> {
        let mut called = Vec::new();
        for node in crate::tree::walk::reachable(self.forest, tree.root) {
            let Node::Leaf { outputs } = self.forest.arena.node(node) else {
                continue;
            };
            if let Some(Output::One {
                goal: Goal::Reaction(reaction, _),
                ..
            }) = outputs.first()
                && self.trees.contains_key(reaction)
                && !called.contains(reaction)
            {
                called.push(*reaction);
            }
        }
        called
    }

    /// The kind whose slots the instances of a kind have.
    fn pool_of(&self, kind: KindId) -> KindId {
        self.program.lives_with(kind)
    }

    /// Whether something is to be done when an instance of a kind ends.
    fn has_end(&self, kind: KindId) -> bool {
        !output::is_static(self, kind)
            && (self.pool_of(kind) == kind || !self.program.kinds[kind.at()].timers.is_empty())
    }

    /// `arp.loom:41`
    fn line_of(&self, span: Span) -> String {
        let name = self.sources.name(span.file);
        let file = name.rsplit('/').next().unwrap_or(name);
        format!("{file}:{}", self.sources.line(span.file, span.start))
    }

    /// Where the code of a reaction is written, and of which entity it is where several have that
    /// code: `tcp.loom:57, tcp6`.
    fn reaction_comment(&self, reaction: Reaction) -> String {
        let span = match reaction {
            Reaction::Handle { kind, event, .. } => self
                .program
                .handlers
                .iter()
                .find(|handler| handler.kind == kind && handler.event == event)
                .map(|handler| handler.span),
            Reaction::Arrive { entity, event, .. } => {
                let own = &self.program.entities[entity.at()];
                let finder = own.finders.iter().find(|finder| finder.event == event);
                let session = |event: Event| {
                    let mut handlers = self.program.handlers.iter();
                    handlers.find(|one| one.kind == own.session && one.event == event)
                };
                finder
                    .map(|one| one.span)
                    .or_else(|| session(event).map(|one| one.span))
            }
        };
        let Some(span) = span else {
            return String::new();
        };
        let own = &self.program.entities[entity_of(self, reaction).at()];
        let alike = self.program.entities.iter();
        match alike.filter(|one| one.layer == own.layer).count() {
            0 | 1 => self.line_of(span),
            _ => format!("{}, {}", self.line_of(span), own.name),
        }
    }
}

/// The entity that a reaction is one of.
fn entity_of(stack: &Stack, reaction: Reaction) -> EntityId {
    match reaction {
        Reaction::Arrive { entity, .. } => entity,
        Reaction::Handle { kind, .. } => stack.program.kinds[kind.at()].entity,
    }
}

/// A function in which no local goes unread, and no parameter unused unsaid.
fn with_all_used(function: Function) -> Function {
    let mut function = function;
    guard::call_unread(&mut function.body);
    let text = printer::file(&[Item::Function(Function {
        parameters: Vec::new(),
        ..function.clone()
    })]);
    let words = parts::plain_words(&text);
    let unused: Vec<String> = function
        .parameters
        .iter()
        .map(|parameter| settle::name_of(parameter).to_string())
        .filter(|name| !words.contains(name.as_str()))
        .collect();
    for name in unused.into_iter().rev() {
        function.body.insert(
            0,
            Statement::Do(C::Cast("void".to_string(), Box::new(atom(name)))),
        );
    }
    function
}
