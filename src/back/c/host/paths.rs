//! Counters of fast paths: how many messages took the fast function of each reaction, and how many
//! left it at each of its exits.
//!
//! In: a module. Out: the counters, the C that counts, and the functions by which hosts read them.
//! A reaction has no counters if its fast function has no exit, and so handles every message.
//!
//! ```text
//! exit ipv4.too_short %1   =>   note_exit(stack, HOST_PATH_TUNNEL_ARRIVE_IPV4_TOO_SHORT);
//! commit                   =>   stack->paths[HOST_PATH_TUNNEL_ARRIVE] += 1;
//! ```
//!
//! An exit notes its place only, and the reaction counts this place before it does anything else. A
//! frame in memory of the host may try a fast function twice, there and in a buffer, but starts the
//! reaction once. Exits of functions that are tried before the fast function note nothing: it is
//! tried next.
//!
//! If all frames start the same reaction, its commits count nothing: the frames that took the
//! fast path are all frames that arrived, except those that left it.

use crate::back::c::Stack;
use crate::back::c::header::head::comment_text;
use crate::back::c::header::tables;
use crate::back::c::names::Names;
use crate::c::printer;
use crate::c::tree::{
    Expression as C, Function, Item, Line, Statement as S, assign, atom, binary, call_statement,
    conditional, only_if,
};
use crate::ir::graph::Graph;
use crate::ir::op::{Event, Target};
use crate::ir::{FunctionId, Module, Op, Role, Terminator};
use crate::source::Sources;

/// A fast path, as `loom explain` lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The name of its reaction in C.
    pub reaction: String,
    /// The fast function, and those that are tried before it.
    pub tried: Vec<FunctionId>,
    /// Its exits, in the order of the guards.
    pub exits: Vec<Exit>,
}

/// An exit of a fast path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    /// The name of its counter: `ipv4.too_short`.
    pub name: String,
    /// The places of its guards in the sources: `layers/network/ipv4/ipv4.loom:31`.
    pub at: Vec<String>,
}

/// The counters of all fast paths of a stack.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    all: Vec<Counted>,
}

/// The counters of a fast path.
#[derive(Clone, Debug)]
struct Counted {
    path: Path,
    /// The constant of the messages that took it.
    taken: String,
    /// By exit: the constant of the messages that left there.
    left: Vec<String>,
    /// True if the number of messages that took it follows from the other counters.
    follows: bool,
}

/// The members of the stack.
const COUNTERS: &str = "paths";
const LEFT: &str = "left";

/// The function that notes an exit.
pub const NOTE: &str = "note_exit";

impl Paths {
    /// Chooses the counters of a module, and names for them.
    pub fn of(module: &Module, sources: &Sources, names: &mut Names) -> Paths {
        let mut all: Vec<Counted> = Vec::new();
        for (at, function) in module.functions.iter().enumerate() {
            let id = FunctionId(at as u32);
            let tried = module.tried(id);
            let Some(fast) = tried.first().filter(|_| function.role == Role::Reaction) else {
                continue;
            };
            let exits = exits(module, *fast, sources);
            if exits.is_empty() || all.iter().any(|one| one.path.tried[0] == *fast) {
                continue;
            }
            let reaction = names.functions[at].clone();
            let taken = names.of_path(&reaction);
            let left = exits.iter();
            let left = left.map(|exit| names.of_path(&format!("{reaction}_{}", exit.name)));
            all.push(Counted {
                left: left.collect(),
                path: Path {
                    reaction,
                    tried,
                    exits,
                },
                taken,
                follows: starts_with_each_frame(module, id),
            });
        }
        Paths { all }
    }

    /// The paths and their exits.
    pub fn described(&self) -> Vec<Path> {
        self.all.iter().map(|one| one.path.clone()).collect()
    }

    /// Returns a statement that notes an exit of a function; none if the exit counts nothing.
    pub fn leave(&self, id: FunctionId, exit: &str) -> Option<S> {
        let own = self.all.iter().find(|one| one.path.tried[0] == id)?;
        let mut exits = own.path.exits.iter();
        let at = exits.position(|one| one.name == exit)?;
        let given = vec![atom("stack"), atom(&own.left[at])];
        Some(call_statement(NOTE, given))
    }

    /// Returns a statement that counts a commit of a function; none if nothing counts it.
    pub fn commit(&self, id: FunctionId) -> Option<S> {
        let own = self.all.iter().find(|one| one.path.tried.contains(&id))?;
        (!own.follows).then(|| count(atom(&own.taken)))
    }

    /// Returns a statement that counts the exit that led to a reaction; none if nothing counts it.
    pub fn begin(&self, module: &Module, reaction: FunctionId) -> Option<S> {
        let function = module.function(reaction);
        let fast = function.fast.filter(|_| function.role == Role::Reaction)?;
        let mut all = self.all.iter();
        let is_counted = all.any(|one| one.path.tried[0] == fast);
        is_counted.then(|| count(atom("stack").behind(LEFT)))
    }

    /// Returns true if there is none.
    fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

fn count(place: C) -> S {
    let counter = atom("stack").behind(COUNTERS).element(place);
    S::Assign(counter, "+=", atom("1"))
}

/// The exits of a function by their names, in the order of the guards.
fn exits(module: &Module, id: FunctionId, sources: &Sources) -> Vec<Exit> {
    let function = module.function(id);
    let graph = Graph::of(function).expect("the verifier passes acyclic graphs alone");
    let mut all: Vec<Exit> = Vec::new();
    let blocks = graph.order.iter().map(|id| function.block(*id));
    for instruction in blocks.flat_map(|block| &block.instructions) {
        let Op::Exit(name) = &instruction.op else {
            continue;
        };
        let known = all.iter().position(|exit| exit.name == *name);
        let known = known.unwrap_or(all.len());
        if known == all.len() {
            all.push(Exit {
                name: name.clone(),
                at: Vec::new(),
            });
        }
        let place = instruction.span.map(|span| {
            let line = sources.line(span.file, span.start);
            format!("{}:{line}", sources.name(span.file))
        });
        let at = &mut all[known].at;
        at.extend(place.filter(|place| !at.contains(place)));
    }
    all
}

/// Returns true if each frame starts this reaction, and nothing else does.
fn starts_with_each_frame(module: &Module, reaction: FunctionId) -> bool {
    let sent = |event: &Event| event.target == Target::Function(reaction);
    let mut ports = module.ports.iter();
    let mut functions = module.functions.iter();
    module.links.iter().all(|link| link.arrives == reaction)
        && ports.all(|port| port.sends != Some(reaction))
        && functions.all(|function| {
            let mut blocks = function.blocks.iter();
            let mut instructions = function.instructions();
            blocks.all(
                |block| !matches!(&block.terminator, Terminator::Tail(event, _) if sent(event)),
            ) && instructions.all(|one| match &one.op {
                Op::Queue(_, events) | Op::Output(events) => !events.iter().any(sent),
                _other => true,
            })
        })
}

/// The constant that says how many counters there are.
fn number(stack: &Stack<'_>) -> String {
    format!("{}_PATHS", stack.names.upper)
}

/// The members of the struct of the stack.
pub fn members(stack: &Stack<'_>) -> Vec<Line> {
    let line = |text: String, comment: &str| Line {
        text,
        comment: comment.to_string(),
    };
    if stack.paths.is_empty() {
        return Vec::new();
    }
    let counters = format!("uint64_t {COUNTERS}[{}]", number(stack));
    vec![
        line(counters, "in the order of their names"),
        line(
            format!("uint32_t {LEFT}"),
            "the exit by which a fast path was left last",
        ),
    ]
}

/// The enum of the header.
pub fn numbers(stack: &Stack<'_>) -> Option<Item> {
    let name = &stack.names.stack;
    let line = |text: &str, comment: String| Line {
        text: text.to_string(),
        comment,
    };
    let mut values = Vec::new();
    for one in &stack.paths.all {
        let taken = format!("took the fast path of {}", one.path.reaction);
        values.push(line(&one.taken, taken));
        let fast = &stack.module.function(one.path.tried[0]).name;
        let exits = one.path.exits.iter().zip(&one.left);
        values.extend(exits.map(|(exit, left)| line(left, left_at(exit, fast))));
    }
    values.push(line(&number(stack), "how many there are".to_string()));
    (!stack.paths.is_empty()).then(|| Item::Enum {
        comment: format!("Counters of fast paths, by their place in the values of {name}_paths."),
        name: format!("{name}_path"),
        values,
    })
}

/// The comment of the counter of an exit. Messages that have a path in a function which is tried
/// before leave by the exit with the name of the fast function.
fn left_at(exit: &Exit, fast: &str) -> String {
    if exit.name == fast {
        return "left it, as it had left the path of the most frequent messages".to_string();
    }
    let files_and_lines = exit.at.iter().map(|place| match place.rsplit_once('/') {
        Some((_, last)) => last,
        None => place,
    });
    match &Vec::from_iter(files_and_lines)[..] {
        [] => "left it".to_string(),
        places => format!("left it at {}", places.join(", ")),
    }
}

/// The functions of the header; empty where no fast path has counters.
pub fn declared(stack: &Stack<'_>) -> String {
    let name = &stack.names.stack;
    if stack.paths.is_empty() {
        return String::new();
    }
    let counts = format!(
        "Writes the values of at most `capacity` counters of fast paths, in the order of enum \
         {name}_path; returns how many there are. A fast path handles the most frequent messages \
         of a reaction. A message that fails one of its tests leaves it, and the whole reaction \
         handles the message."
    );
    let names = "The names of these counters, and then NULL: `taken REACTION`, and \
        `left REACTION TEST` for each test.";
    format!(
        "\n{}{}\n{}{}",
        comment_text(&counts),
        printer::file(&[Item::Prototype(head(stack, Vec::new()))]),
        comment_text(names),
        tables::declared(stack, "path_name"),
    )
}

fn head(stack: &Stack<'_>, body: Vec<S>) -> Function {
    let name = &stack.names.stack;
    let parameters = [
        format!("const struct {name} *stack"),
        "uint64_t *values".to_string(),
        "size_t capacity".to_string(),
    ];
    Function {
        comment: String::new(),
        result: "size_t".to_string(),
        name: format!("{name}_paths"),
        parameters: parameters.to_vec(),
        body,
    }
}

/// `note_exit`, a cold function: compilers move blocks that call it away from the fast path.
pub fn hooks(stack: &Stack<'_>) -> Vec<(String, Item)> {
    let parameters = [
        format!("struct {} *stack", stack.names.stack),
        "uint32_t place".to_string(),
    ];
    let left = atom("stack").behind(LEFT);
    let function = Function {
        comment: "Notes the exit by which a fast path is left; the reaction counts it.".to_string(),
        result: "static void".to_string(),
        name: NOTE.to_string(),
        parameters: parameters.to_vec(),
        body: vec![assign(left, atom("place"))],
    };
    let declared = Function {
        comment: String::new(),
        ..function.clone()
    };
    let declared = Item::Attributed("cold, noinline", vec![declared]);
    let all = [declared, Item::Function(function)];
    all.map(|item| (NOTE.to_string(), item)).to_vec()
}

/// `NAME_path_name` and `NAME_paths`.
pub fn items(stack: &Stack<'_>) -> Vec<Item> {
    let paths = &stack.paths.all;
    if stack.paths.is_empty() {
        return Vec::new();
    }
    let lines = paths.iter().flat_map(|one| {
        let reaction = &one.path.reaction;
        let exits = one.path.exits.iter();
        let left = exits.map(move |exit| format!("left {reaction} {}", exit.name));
        std::iter::once(format!("taken {reaction}")).chain(left)
    });
    let names = Item::Text(tables::defined(stack, "path_name", lines));
    let (capacity, most) = (atom("capacity"), atom(number(stack)));
    let fewer = binary("<", capacity.clone(), most.clone());
    let value = |at: C| atom("values").element(at);
    let counter = |at: C| atom("stack").behind(COUNTERS).element(at);
    let mut body = vec![
        S::Declare {
            kind: "const size_t".to_string(),
            name: "count".to_string(),
            value: Some(conditional(fewer, capacity, most.clone())),
        },
        each(
            "0",
            binary("<", atom("at"), atom("count")),
            assign(value(atom("at")), counter(atom("at"))),
        ),
    ];
    for one in paths.iter().filter(|one| one.follows) {
        let taken = || value(atom(&one.taken));
        let arrived = atom("stack").behind("counters").element(atom("FRAMES_IN"));
        let last = one.left.last().expect("a path has exits");
        let left = each(
            &format!("{} + 1", one.taken),
            binary("<=", atom("at"), atom(last)),
            S::Assign(taken(), "-=", counter(atom("at"))),
        );
        body.push(S::Comment(
            "Each frame that arrived took the path or left it.".to_string(),
        ));
        body.push(only_if(
            binary(">", atom("count"), atom(&one.taken)),
            vec![assign(taken(), arrived), left],
        ));
    }
    body.push(S::Return(Some(most)));
    vec![names, Item::Function(head(stack, body))]
}

fn each(first: &str, condition: C, does: S) -> S {
    S::For {
        start: format!("size_t at = {first}"),
        condition,
        step: "at += 1".to_string(),
        body: vec![does],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::text::read;

    const TEXT: &str = include_str!("../../../../tests/passes/order-guards.ir");

    /// The stack of a case of a pass, with another function that is tried first.
    fn module() -> Module {
        let text = TEXT.split("; becomes").next().expect("it has a beginning");
        let fast = "fast fn net.arrive.fast(%m: msg) of net";
        let text = text.replacen(fast, &format!("{fast}, first net.arrive.hot"), 1);
        let hot = "
fast fn net.arrive.hot(%m: msg) of net {
  exit net.slow (ult (length %m), 32)
  commit
  drop net.slow %m
  return
}
";
        read(&(text + hot)).unwrap_or_else(|mistake| panic!("{mistake}"))
    }

    fn function(module: &Module, name: &str) -> FunctionId {
        module.named(name).expect("it is there")
    }

    #[test]
    fn exits_of_one_name_have_one_counter_in_the_order_of_the_guards() {
        let module = module();
        let sources = Sources::new();
        let stack = Stack::new(&module, &sources);
        let all = stack.paths.described();
        assert_eq!(all[0].reaction, "net_arrive");
        let exits = all[0].exits.iter();
        let exits: Vec<&str> = exits.map(|exit| exit.name.as_str()).collect();
        let first = ["net.slow", "app.widest", "net.flag", "app.state"];
        assert_eq!(exits[..4], first, "{exits:?}");
        let different: std::collections::BTreeSet<&str> = exits.iter().copied().collect();
        assert_eq!(different.len(), exits.len());
    }

    #[test]
    fn a_function_that_is_tried_before_counts_its_commit_and_no_exit() {
        let module = module();
        let sources = Sources::new();
        let stack = Stack::new(&module, &sources);
        let [fast, hot, whole] =
            ["net.arrive.fast", "net.arrive.hot", "net.arrive"].map(|name| function(&module, name));
        assert!(stack.paths.leave(fast, "net.slow").is_some());
        assert!(stack.paths.leave(hot, "net.slow").is_none());
        assert!(stack.paths.commit(hot).is_some());
        assert!(stack.paths.begin(&module, whole).is_some());
        assert!(stack.paths.begin(&module, fast).is_none());
    }

    #[test]
    fn a_fast_path_that_each_frame_tries_counts_no_commit() {
        let mut module = module();
        let hot = function(&module, "net.arrive.hot");
        module.links.truncate(1);
        let sources = Sources::new();
        let stack = Stack::new(&module, &sources);
        assert!(stack.paths.commit(hot).is_none());
        let tube = function(&module, "tube.arrive.fast");
        assert!(stack.paths.commit(tube).is_some());
    }
}
