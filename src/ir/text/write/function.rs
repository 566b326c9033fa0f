//! The blocks of a function -> text.
//!
//! An instruction stands within the one that uses its result if it changes nothing, has no name,
//! and nothing stands between the two: the text is evaluated from left to right, so reading it
//! gives the same order. All others have a line.

use super::operation::{attempt, digits, events, listed, operation, type_of};
use super::{line, place};
use crate::ir::effects::Effects;
use crate::ir::signature::{Typed, results};
use crate::ir::text::canonical::defined;
use crate::ir::text::expected::Known;
use crate::ir::text::infer::{Judge, Place, infer};
use crate::ir::text::lexer::{is_word, quote};
use crate::ir::text::names::Names;
use crate::ir::text::opcode::percent;
use crate::ir::{
    Block, Edge, Function, Instruction, Module, Op, Probability, Role, Terminator, Type, Value,
};
use crate::source::Sources;
use std::collections::{BTreeMap, BTreeSet};

/// Operations stand within each other at most so deep.
const DEPTH: u32 = 4;
/// Columns at most of an operation that is nested in another.
const LENGTH: usize = 60;

/// The names of all values, by index.
pub fn value_names(function: &Function) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    names.extend((0..function.values.len()).map(|at| format!("%?{at}")));
    let mut taken: BTreeMap<&str, u32> = BTreeMap::new();
    for (number, value) in defined(function).into_iter().enumerate() {
        let hint = &function.values[value.at()].hint[..];
        let count = taken.entry(hint).or_default();
        *count += 1;
        names[value.at()] = match (hint, *count) {
            ("", _) => format!("%{number}"),
            (hint, 1) => format!("%{}", stem(hint)),
            (hint, count) => format!("%{}.{count}", stem(hint)),
        };
    }
    names
}

/// A hint in front of a number that tells it from others.
fn stem(hint: &str) -> String {
    let ends_in_number = hint
        .rsplit_once('.')
        .is_some_and(|(_, end)| !end.is_empty() && end.bytes().all(|byte| byte.is_ascii_digit()));
    match is_word(hint) && !ends_in_number {
        true => hint.to_string(),
        false => quote(hint),
    }
}

/// The parameters of a block.
pub fn parameters(names: &Names, function: &Function, values: &[String], block: &Block) -> String {
    let parameters = block.parameters.iter().map(|value| {
        let of = type_of(names, function.type_of(*value));
        format!("{}: {of}", values[value.at()])
    });
    parameters.collect::<Vec<String>>().join(", ")
}

/// Adds all blocks.
pub fn body(
    out: &mut String,
    module: &Module,
    names: &Names,
    values: &[String],
    function: &Function,
    sources: Option<&Sources>,
) {
    let notes = Notes::of(module, function);
    let writer = Writer {
        names,
        values,
        function,
        notes,
        sources,
    };
    for (at, block) in function.blocks.iter().enumerate() {
        let label = match parameters(names, function, values, block) {
            given if at > 0 && !given.is_empty() => format!("b{at}({given}):"),
            _none => format!("b{at}:"),
        };
        line(out, 0, &label, "");
        writer.block(out, at, block);
    }
}

/// Everything that the text says of types beyond the parameters of blocks.
struct Notes<'f> {
    function: &'f Function,
    /// Constants that may stand as operands.
    constants: BTreeSet<Value>,
    /// Results that may stand as operands together with their operations.
    nested: BTreeSet<Value>,
    /// Those of them whose type stands in front.
    typed: BTreeSet<Value>,
    /// Instructions whose results have types in the text.
    marked: BTreeSet<Place>,
}

impl<'f> Notes<'f> {
    fn of(module: &Module, function: &'f Function) -> Notes<'f> {
        let free = free_values(function);
        let is_constant = |instruction: &Instruction, value: Value| {
            let own = results(module, &instruction.op, &[]);
            let is_number = instruction.op.number().is_some();
            is_number && own == Ok(vec![function.type_of(value)])
        };
        let (mut constants, mut nested) = (BTreeSet::new(), BTreeSet::new());
        for instruction in function.instructions() {
            let Some(value) = single(instruction).filter(|value| free.contains(value)) else {
                continue;
            };
            if is_constant(instruction, value) {
                constants.insert(value);
            } else if is_nested(module, instruction) {
                nested.insert(value);
            }
        }
        let mut notes = Notes {
            function,
            constants,
            nested,
            typed: BTreeSet::new(),
            marked: BTreeSet::new(),
        };
        let Ok(_types) = infer(module, function, &mut notes);
        notes
    }
}

/// The values without a name that are used once, behind their definition in its block.
fn free_values(function: &Function) -> BTreeSet<Value> {
    let mut uses: BTreeMap<Value, u32> = BTreeMap::new();
    let mut free = BTreeSet::new();
    for block in &function.blocks {
        let mut known = BTreeSet::new();
        let mut used = |values: &[Value], known: &BTreeSet<Value>| {
            for value in values {
                *uses.entry(*value).or_default() += 1;
                free.extend(known.get(value));
            }
        };
        for instruction in &block.instructions {
            used(&instruction.operands, &known);
            known.extend(&instruction.results);
        }
        used(&block.terminator.uses(), &known);
    }
    let has_name = |value: &Value| {
        let definition = function.values.get(value.at());
        definition.is_none_or(|it| !it.hint.is_empty())
    };
    free.retain(|value| uses.get(value) == Some(&1) && !has_name(value));
    free
}

/// The result of an instruction that has one.
fn single(instruction: &Instruction) -> Option<Value> {
    match instruction.results[..] {
        [only] => Some(only),
        _ => None,
    }
}

/// Returns true for an operation that may stand within another: it changes nothing.
fn is_nested(module: &Module, instruction: &Instruction) -> bool {
    match &instruction.op {
        Op::Call(id) => {
            let function = module.functions.get(id.at());
            function.is_some_and(|function| function.role == Role::Pure)
        }
        Op::Loop(..) | Op::Recompute(_) => false,
        op => Effects::of(module, op).are_none(),
    }
}

impl Judge for Notes<'_> {
    type Wrong = std::convert::Infallible;

    fn is_open(&self, value: Value) -> bool {
        self.constants.contains(&value)
    }

    fn literal(&mut self, value: Value, inferred: Known) -> Result<Type, Self::Wrong> {
        let own = self.function.type_of(value);
        if inferred != Some(own) {
            self.typed.insert(value);
        }
        Ok(own)
    }

    fn results(
        &mut self,
        place: Place,
        inferred: Typed<Vec<Type>>,
    ) -> Result<Vec<Type>, Self::Wrong> {
        let instruction = &self.function.blocks[place.0].instructions[place.1];
        let results = instruction.results.iter();
        let own: Vec<Type> = results.map(|value| self.function.type_of(*value)).collect();
        if inferred.as_ref() != Ok(&own) {
            self.marked.insert(place);
        }
        Ok(own)
    }
}

struct Writer<'w> {
    names: &'w Names,
    values: &'w [String],
    function: &'w Function,
    notes: Notes<'w>,
    sources: Option<&'w Sources>,
}

/// An instruction that has no line yet.
struct Pending {
    value: Value,
    /// As an operand.
    inside: String,
    /// On a line of its own, and the comment behind it.
    alone: (String, String),
    depth: u32,
}

impl Writer<'_> {
    fn block(&self, out: &mut String, at: usize, block: &Block) {
        let mut pending: Vec<Pending> = Vec::new();
        for (index, instruction) in block.instructions.iter().enumerate() {
            let (operands, depth) = self.operands(&mut pending, &instruction.operands);
            let text = operation(self.names, &instruction.op, &operands);
            let comment = place(self.sources, instruction.span);
            let is_marked = self.notes.marked.contains(&(at, index));
            let alone = self.results(instruction, is_marked) + &text;
            if let Some(value) = single(instruction).filter(|_| !is_marked && depth < DEPTH)
                && let Some(inside) = self.inside(value, instruction, text)
            {
                pending.push(Pending {
                    value,
                    inside,
                    alone: (alone, comment),
                    depth: depth + 1,
                });
            } else {
                flush(out, &mut pending);
                line(out, 2, &alone, &comment);
            }
        }
        let (operands, _) = self.operands(&mut pending, &block.terminator.uses());
        flush(out, &mut pending);
        let text = self.terminator(&block.terminator, &operands);
        line(out, 2, &text, &place(self.sources, block.span));
    }

    /// An instruction as an operand, if it may be one.
    fn inside(&self, value: Value, instruction: &Instruction, text: String) -> Option<String> {
        match instruction.op {
            Op::Number(_, number) if self.notes.constants.contains(&value) => {
                let of = self.function.type_of(value);
                let typed = self.notes.typed.contains(&value);
                let typed = typed.then(|| format!("{of} "));
                Some(typed.unwrap_or_default() + &digits(number))
            }
            _ if text.len() > LENGTH || !self.notes.nested.contains(&value) => None,
            _ => Some(format!("({text})")),
        }
    }

    /// Operands, and how deep operations stand within them: those that were evaluated last, in
    /// their order, stand there. All others have lines before.
    fn operands(&self, pending: &mut Vec<Pending>, values: &[Value]) -> (Vec<String>, u32) {
        let mut depth = 0;
        let mut operands = Vec::new();
        for value in values.iter().rev() {
            match pending.pop_if(|last| last.value == *value) {
                Some(last) => {
                    depth = depth.max(last.depth);
                    operands.push(last.inside);
                }
                None => operands.push(self.value(*value)),
            }
        }
        operands.reverse();
        (operands, depth)
    }

    fn value(&self, value: Value) -> String {
        let name = self.values.get(value.at()).cloned();
        name.unwrap_or_else(|| format!("%?{}", value.0))
    }

    /// The results of an instruction in front of it.
    fn results(&self, instruction: &Instruction, is_marked: bool) -> String {
        let results = instruction.results.iter().map(|value| {
            let own = self.value(*value);
            match self.function.values.get(value.at()) {
                Some(definition) if is_marked => {
                    format!("{own}: {}", type_of(self.names, definition.of))
                }
                _ => own,
            }
        });
        match &results.collect::<Vec<String>>()[..] {
            [] if is_marked => "() = ".to_string(),
            [] => String::new(),
            results => format!("{} = ", results.join(", ")),
        }
    }

    fn terminator(&self, terminator: &Terminator, operands: &[String]) -> String {
        let (own, mut rest) = operands.split_at(terminator.operands().len());
        let mut edge = |edge: &Edge| {
            let (own, others) = rest.split_at(edge.arguments.len());
            rest = others;
            match own {
                [] => format!("b{}", edge.block.0),
                own => format!("b{}({})", edge.block.0, own.join(", ")),
            }
        };
        match terminator {
            Terminator::Jump(to) => format!("jump {}", edge(to)),
            Terminator::Branch {
                likely,
                then,
                otherwise,
                ..
            } => {
                let likely = likely_at(*likely, Probability::EVEN);
                let condition = own.join(", ");
                format!(
                    "branch {condition}, {}, {}{likely}",
                    edge(then),
                    edge(otherwise)
                )
            }
            Terminator::Switch {
                cases, otherwise, ..
            } => {
                let even = Probability(1_000_000 / (cases.len() as u32 + 1));
                let cases = cases.iter().map(|(number, likely, to)| {
                    let likely = likely_at(*likely, even);
                    format!("{}: {}{likely}, ", digits(*number), edge(to))
                });
                let cases: String = cases.collect();
                format!("switch {}, {cases}else {}", own.join(", "), edge(otherwise))
            }
            Terminator::Try {
                attempt: what,
                likely,
                done,
                failed,
                ..
            } => {
                let likely = likely_at(*likely, Probability::EVEN);
                let what = attempt(self.names, what, own);
                format!("try {what} -> {}, {}{likely}", edge(done), edge(failed))
            }
            Terminator::Return(_) => listed("return".to_string(), own),
            Terminator::Tail(event, _) => format!("tail {}", events(self.names, &[*event], own)),
            Terminator::Take(_) => listed("take".to_string(), own),
            Terminator::Never => "never".to_string(),
        }
    }
}

/// Gives all instructions lines that have none yet.
fn flush(out: &mut String, pending: &mut Vec<Pending>) {
    for one in pending.drain(..) {
        line(out, 2, &one.alone.0, &one.alone.1);
    }
}

/// A probability, unless it is the one that a text without says.
fn likely_at(likely: Probability, even: Probability) -> String {
    match likely == even {
        true => String::new(),
        false => format!(" @ {}", percent(likely)),
    }
}
