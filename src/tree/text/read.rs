//! Text -> forest.

mod expression;
mod step;
mod words;

use super::names::Names;
use super::natural::Tables;
use super::scan::{Line, lines};
use crate::tree::{Action, Arena, Forest, Loop, Node, NodeId, Output, Parameters, Range, Tree};
use crate::types::program::{Local, Program};
use std::collections::BTreeMap;

/// What cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// In which line, counted from one.
    pub line: usize,
    /// What is wrong there.
    pub sentence: String,
}

/// What reading gives.
type Read<T> = Result<T, Mistake>;

/// The forest that a text says; its names are those of the program.
pub fn read(program: &Program, text: &str) -> Result<Forest, Mistake> {
    let lines = lines(text);
    let is_local = |line: &&Line| line.words[0] == "local";
    let names = Names::new(program);
    let mut locals = Vec::new();
    for line in lines.iter().filter(is_local) {
        let local = Words::new(program, &names, &[], line).declared()?;
        locals.push(local);
    }
    let mut reader = Reader {
        program,
        names: &names,
        locals: &locals,
        lines: lines.iter().filter(|line| !is_local(line)).collect(),
        at: 0,
        arena: Arena::default(),
        labels: BTreeMap::new(),
    };
    let mut trees = Vec::new();
    while reader.at < reader.lines.len() {
        trees.push(reader.tree("tree")?);
    }
    Ok(Forest {
        arena: reader.arena,
        locals,
        trees,
        ..Forest::default()
    })
}

/// The lines of a text, and what was read of them.
struct Reader<'a> {
    program: &'a Program,
    names: &'a Names,
    locals: &'a [Local],
    lines: Vec<&'a Line>,
    at: usize,
    arena: Arena,
    labels: BTreeMap<String, NodeId>,
}

/// The words of one line, and how many of them are read.
struct Words<'a> {
    names: &'a Names,
    tables: Tables<'a>,
    line: &'a Line,
    at: usize,
}

impl<'a> Reader<'a> {
    fn tree(&mut self, what: &str) -> Read<Tree> {
        let mut words = self.next(0)?;
        words.expect(what)?;
        let reaction = words.reaction()?;
        words.end()?;
        let mut parameters = Parameters::default();
        if self.is_next(1, "given") {
            let mut words = self.next(1)?;
            words.expect("given")?;
            while !words.is_done() {
                match words.word()? {
                    "instance" => parameters.instance = Some(words.local()?),
                    "message" => parameters.message = Some(words.local()?),
                    "argument" => parameters.arguments.push(words.local()?),
                    other => return Err(words.mistake(&format!("`{other}` is not given"))),
                }
            }
        }
        Ok(Tree {
            reaction,
            parameters,
            root: self.node(1)?,
        })
    }

    /// A node, and all that stands below it; its children are added before it.
    fn node(&mut self, depth: usize) -> Read<NodeId> {
        if self.is_next(depth, "go") {
            let mut words = self.next(depth)?;
            words.expect("go")?;
            let label = words.word()?.to_string();
            let mistake = words.mistake(&format!("the label {label} is not above"));
            return self.labels.get(&label).copied().ok_or(mistake);
        }
        if self.is_next(depth, "label") {
            let mut words = self.next(depth)?;
            words.expect("label")?;
            let label = words.word()?.to_string();
            let id = self.unlabelled(depth)?;
            self.labels.insert(label, id);
            return Ok(id);
        }
        self.unlabelled(depth)
    }

    fn unlabelled(&mut self, depth: usize) -> Read<NodeId> {
        let mut words = self.next(depth)?;
        let node = match words.peek() {
            "test" => {
                words.expect("test")?;
                let condition = words.expression()?;
                let likely = words.likely()?;
                words.end()?;
                let (then, otherwise) = self.ways(depth)?;
                Node::Test {
                    condition,
                    likely,
                    then,
                    otherwise,
                }
            }
            "case" => {
                words.expect("case")?;
                let value = words.expression()?;
                words.end()?;
                self.cases(depth, value)?
            }
            "try" => {
                words.expect("try")?;
                let attempt = words.attempt()?;
                let bind = words.after("as", Words::local)?;
                let likely = words.likely()?;
                words.end()?;
                let (done, failed) = self.ways(depth)?;
                Node::Try {
                    attempt,
                    bind,
                    likely,
                    done,
                    failed,
                }
            }
            "leaf" => {
                words.expect("leaf")?;
                words.end()?;
                Node::Leaf {
                    outputs: self.outputs(depth + 1)?,
                }
            }
            word @ ("wait" | "put" | "answer") => {
                words.expect(word)?;
                words.end()?;
                let outputs = self.outputs(depth + 1)?;
                let action = match word {
                    "wait" => Action::Wait(outputs),
                    "answer" => Action::Answer(outputs),
                    _ => Action::Put(outputs),
                };
                let next = self.node(depth)?;
                Node::Act { action, next }
            }
            "loop" => {
                let action = Action::Loop(self.turns(words, "loop", depth)?);
                let next = self.node(depth)?;
                Node::Act { action, next }
            }
            _ => {
                let action = words.step()?;
                words.end()?;
                let next = self.node(depth)?;
                Node::Act { action, next }
            }
        };
        Ok(self.arena.add(node))
    }

    /// Two ways: what is below, and what is below the `else`.
    fn ways(&mut self, depth: usize) -> Read<(NodeId, NodeId)> {
        let one = self.node(depth + 1)?;
        let mut words = self.next(depth)?;
        words.expect("else")?;
        words.end()?;
        Ok((one, self.node(depth + 1)?))
    }

    fn cases(&mut self, depth: usize, value: crate::types::expression::Expression) -> Read<Node> {
        let mut cases = Vec::new();
        while self.is_next(depth, "is") {
            let mut words = self.next(depth)?;
            words.expect("is")?;
            let value = words.number()?;
            let likely = words.likely()?;
            words.end()?;
            cases.push((value, likely, self.node(depth + 1)?));
        }
        let mut words = self.next(depth)?;
        words.expect("else")?;
        words.end()?;
        Ok(Node::Case {
            value,
            cases,
            otherwise: self.node(depth + 1)?,
        })
    }

    fn outputs(&mut self, depth: usize) -> Read<Vec<Output>> {
        let mut outputs = Vec::new();
        while ["one", "every", "many"]
            .iter()
            .any(|word| self.is_next(depth, word))
        {
            let mut words = self.next(depth)?;
            match words.peek() {
                "one" => {
                    words.expect("one")?;
                    outputs.push(Output::One {
                        goal: words.goal()?,
                        message: words.after("message", Words::local)?,
                        arguments: words.list()?,
                    });
                    words.end()?;
                }
                "every" => {
                    words.expect("every")?;
                    outputs.push(Output::Every {
                        kind: words.kind()?,
                        on: words.after("on", Words::which)?,
                        local: words.local()?,
                        goal: words.goal()?,
                        arguments: words.list()?,
                    });
                    words.end()?;
                }
                _ => outputs.push(Output::Many(self.turns(words, "many", depth)?)),
            }
        }
        Ok(outputs)
    }

    fn turns(&mut self, mut words: Words<'_>, word: &str, depth: usize) -> Read<Loop> {
        words.expect(word)?;
        let local = words.local()?;
        let range = match words.word()? {
            "from" => {
                let from = words.expression()?;
                words.expect("to")?;
                let to = words.expression()?;
                words.expect("most")?;
                Range::Numbers {
                    from,
                    to,
                    at_most: words.number()? as u32,
                    clamped: words.after("clamped", Words::count)?,
                }
            }
            _ => {
                let queue = words.variable()?;
                words.expect("most")?;
                Range::Queue(queue, words.number()? as u32)
            }
        };
        words.end()?;
        let body = self.node(depth + 1)?;
        Ok(Loop { range, local, body })
    }

    fn is_next(&self, depth: usize, word: &str) -> bool {
        let line = self.lines.get(self.at);
        line.is_some_and(|line| line.depth == depth && line.words[0] == word)
    }

    /// The next line, which stands at a depth.
    fn next(&mut self, depth: usize) -> Read<Words<'a>> {
        let Some(line) = self.lines.get(self.at).copied() else {
            let line = self.lines.last().map_or(0, |line| line.number);
            let sentence = "the text ends too early".to_string();
            return Err(Mistake { line, sentence });
        };
        self.at += 1;
        let words = Words::new(self.program, self.names, self.locals, line);
        if line.depth != depth {
            return Err(words.mistake("this stands at another depth"));
        }
        Ok(words)
    }
}
