//! Planted faults: a wrong variant of each pass, which the verifier or the interpreter of the stack
//! IR finds, and the prover as well.
//!
//! In: a typical mistake of each pass. Out: a variant of the pass that makes this mistake, and who
//! finds it: a check that cannot fail shows nothing.

use stackloom::ir::definitions::Definitions;
use stackloom::ir::edit::{compact, substitute_in_turn};
use stackloom::ir::function::Definition;
use stackloom::ir::op::{Arithmetic, Op, Target};
use stackloom::ir::text::read;
use stackloom::ir::{
    Attempt, AttributeId, BlockId, Edge, FieldId, Function, FunctionId, Instruction, KindId,
    Module, Region, Role, Terminator, Type, Value,
};
use stackloom::passes::fast::{expect_header, form_fast_path};
use std::collections::{BTreeMap, BTreeSet};

/// Reads the module that has what random ones seldom have.
pub fn small() -> Module {
    let text = include_str!("faults.ir");
    read(text).unwrap_or_else(|mistake| panic!("faults.ir: {mistake}"))
}

/// The check that finds a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finder {
    /// The verifier refuses a module.
    Verifier,
    /// A host sees something else, or the interpreter stops.
    Interpreter,
}

use Finder::{Interpreter, Verifier};

/// Runs a pass with a mistake; it is given the right pass.
pub type Wrong = fn(&mut Module, fn(&mut Module));

/// All planted faults: the pass, its mistake, who finds it, and the wrong variant.
pub const FAULTS: &[(&str, &str, Finder, Wrong)] = &[
    (
        "share-sides",
        "The bit is not asked again behind what both sides share",
        Interpreter,
        |module, pass| {
            pass(module);
            each_function(module, bits_asked_once);
        },
    ),
    (
        "test-liveness-once",
        "An event that waits goes to the body that tests nothing",
        Interpreter,
        |module, pass| {
            pass(module);
            untested_events(module);
        },
    ),
    (
        "inline",
        "The first two arguments of a call are exchanged",
        Interpreter,
        |module, pass| {
            each_function(module, exchanged_arguments);
            pass(module);
        },
    ),
    (
        "constant-arguments",
        "A constant of one call holds for all calls",
        Interpreter,
        |module, pass| {
            one_constant(module);
            pass(module);
        },
    ),
    (
        "fold",
        "Zero without a number is the number",
        Interpreter,
        |module, pass| {
            each_function(module, differences_from_zero);
            pass(module);
        },
    ),
    (
        "fold-messages",
        "A message is as long as before a part of it was pulled",
        Interpreter,
        |module, pass| {
            pass(module);
            each_function(module, unchanged_lengths);
        },
    ),
    (
        "value-numbering",
        "A loaded value is used again behind a store to the field",
        Interpreter,
        |module, pass| {
            each_function(module, loads_before_stores);
            pass(module);
        },
    ),
    (
        "straighten",
        "An edge past an empty block loses the arguments of its jump",
        Verifier,
        |module, pass| {
            each_function(module, edges_without_arguments);
            pass(module);
        },
    ),
    (
        "straighten",
        "The ways of a branch are exchanged",
        Interpreter,
        |module, pass| {
            pass(module);
            each_function(module, exchanged_ways);
        },
    ),
    (
        "form-fast-path",
        "A guard is forgotten",
        Interpreter,
        |module, pass| {
            pass(module);
            each_fast_function(module, |function| {
                without_first(function, |op| matches!(op, Op::Exit(_)));
            });
        },
    ),
    (
        "form-fast-path",
        "A store stands before the commit",
        Verifier,
        |module, pass| {
            pass(module);
            each_fast_function(module, late_commits);
        },
    ),
    (
        "direct-outputs",
        "Two outputs are exchanged",
        Interpreter,
        |module, pass| {
            pass(module);
            each_fast_function(module, exchanged_outputs);
        },
    ),
    (
        "direct-outputs",
        "The guard does not ask whether the outputs have room",
        Verifier,
        |module, pass| {
            pass(module);
            each_fast_function(module, |function| {
                without_first(function, |op| *op == Op::Exit("stack.steps".to_string()));
            });
        },
    ),
    (
        "dead-fields",
        "A store is gone though another reaction reads the field",
        Interpreter,
        |module, pass| {
            pass(module);
            each_function(module, |function| {
                let near = Region::Field(KindId(0), FieldId(0));
                without_first(function, |op| *op == Op::Store(near));
            });
        },
    ),
    (
        "order-guards",
        "An exit is gone that no exit before it implies",
        Interpreter,
        |module, pass| {
            form_fast_path::run(module);
            pass(module);
            each_fast_function(module, |function| {
                without_first(function, |op| matches!(op, Op::Exit(_)));
            });
        },
    ),
    (
        "hot-path",
        "What is tried first goes the usual way where it should leave",
        Interpreter,
        |module, pass| {
            form_fast_path::run(module);
            pass(module);
            each_fast_function(module, |function| {
                let is_left = |op: &Op| *op == Op::Exit("arrives.fast".to_string());
                without_first(function, is_left);
            });
        },
    ),
    (
        "rare-ways",
        "What is tried first takes the answers of the last header for any other",
        Interpreter,
        |module, pass| {
            form_fast_path::run(module);
            expect_header::run(module);
            pass(module);
            each_fast_function(module, |function| {
                let is_left = |op: &Op| *op == Op::Exit("arrives.fast".to_string());
                without_first(function, is_left);
            });
        },
    ),
    (
        "cache-guards",
        "A store to a field that a guard asks does not disarm the cache",
        Verifier,
        never_disarmed,
    ),
    (
        "cache-guards",
        "A guard that is not cached is gone with those that are",
        Interpreter,
        |module, pass| {
            form_fast_path::run(module);
            pass(module);
            each_fast_function(module, |function| {
                without_first(function, |op| matches!(op, Op::Exit(_)));
            });
        },
    ),
    (
        "expect-header",
        "A session begins, and the cache still holds that there is none",
        Verifier,
        never_disarmed,
    ),
    (
        "expect-header",
        "A session begins, and the one with the same keys is recalled still",
        Verifier,
        |module, pass| {
            form_fast_path::run(module);
            pass(module);
            each_function(module, still_recalled);
        },
    ),
    (
        "expect-header",
        "A frame with another header takes the answers of the last one",
        Interpreter,
        |module, pass| {
            form_fast_path::run(module);
            pass(module);
            each_fast_function(module, any_header);
        },
    ),
    (
        "read-in-place",
        "Nobody asks whether a frame that is kept stands in a buffer",
        Verifier,
        |module, pass| {
            form_fast_path::run(module);
            pass(module);
            each_fast_function(module, |function| {
                let is_asked = |op: &Op| *op == Op::Exit("stack.in_place".to_string());
                while without_first(function, is_asked) {}
            });
        },
    ),
    (
        "gather",
        "Bytes that a message has of a stream are written there",
        Verifier,
        |module, pass| {
            pass(module);
            for block in module.functions.iter_mut().flat_map(|one| &mut one.blocks) {
                if let Terminator::Try { attempt, .. } = &mut block.terminator
                    && let Attempt::CopyBytes(place) = attempt
                {
                    *attempt = Attempt::BorrowBytes(*place);
                }
            }
        },
    ),
    (
        "dead-attributes",
        "An attribute that a port lists is not set",
        Interpreter,
        |module, pass| {
            pass(module);
            each_function(module, without_listed);
        },
    ),
    (
        "dead-parameters",
        "A parameter is gone in the place of the one that nobody uses",
        Interpreter,
        |module, pass| {
            each_function(module, wrong_parameter);
            pass(module);
        },
    ),
    (
        "dead-code",
        "A store is gone though a load stands before the next",
        Interpreter,
        |module, pass| {
            each_function(module, loaded_stores);
            pass(module);
        },
    ),
    (
        "sink",
        "A load moves behind a store to the field",
        Interpreter,
        |module, pass| {
            each_function(module, loads_behind_stores);
            pass(module);
        },
    ),
    (
        "sink",
        "A value goes to one way though the other uses it",
        Verifier,
        |module, pass| {
            pass(module);
            each_function(module, values_on_one_way);
        },
    ),
    (
        "fold-identical",
        "Functions that differ in a constant are identical",
        Interpreter,
        |module, pass| {
            equal_but_for_constants(module);
            pass(module);
        },
    ),
];

/// No store disarms a cache.
fn never_disarmed(module: &mut Module, pass: fn(&mut Module)) {
    form_fast_path::run(module);
    pass(module);
    each_function(module, |function| {
        while without_first(function, |op| matches!(op, Op::Disarm(_))) {}
    });
}

fn each_function(module: &mut Module, change: fn(&mut Function)) {
    for function in &mut module.functions {
        change(function);
        compact(function);
    }
}

fn each_fast_function(module: &mut Module, change: fn(&mut Function)) {
    let all = module.functions.iter_mut();
    all.filter(|one| one.role == Role::Fast).for_each(change);
}

/// Removes the first operation of a sort that gives nothing; true if there was one.
fn without_first(function: &mut Function, is_gone: impl Fn(&Op) -> bool) -> bool {
    for block in &mut function.blocks {
        let mut all = block.instructions.iter();
        if let Some(at) = all.position(|one| is_gone(&one.op)) {
            block.instructions.remove(at);
            return true;
        }
    }
    false
}

/// Exchanges the first two outputs of a block.
fn exchanged_outputs(function: &mut Function) {
    for block in &mut function.blocks {
        let all = block.instructions.iter().enumerate();
        let outputs = all.filter(|(_, one)| matches!(one.op, Op::Output(_)));
        let places: Vec<usize> = outputs.map(|(at, _)| at).collect();
        if let [first, second, ..] = places[..] {
            block.instructions.swap(first, second);
        }
    }
}

/// Puts values in the place of others.
fn replace(function: &mut Function, by: &BTreeMap<Value, Value>) {
    let all = (0..function.values.len() as u32).map(Value);
    let all = all.map(|value| by.get(&value).copied().unwrap_or(value));
    let all = all.collect();
    substitute_in_turn(function, all);
}

fn untested_events(module: &mut Module) {
    let names: Vec<String> = module
        .functions
        .iter()
        .map(|one| one.name.clone())
        .collect();
    let live = |id: FunctionId| {
        let name = format!("{}.live", names[id.at()]);
        let place = names.iter().position(|one| *one == name);
        place.map(|at| FunctionId(at as u32))
    };
    let blocks = module.functions.iter_mut().flat_map(|one| &mut one.blocks);
    for instruction in blocks.flat_map(|block| &mut block.instructions) {
        if let Op::Queue(_, events) = &mut instruction.op {
            for event in events {
                if let Target::Function(id) = event.target {
                    event.target = Target::Function(live(id).unwrap_or(id));
                }
            }
        }
    }
}

fn exchanged_arguments(function: &mut Function) {
    let types: Vec<Type> = function.values.iter().map(|one| one.of).collect();
    let all = function.blocks.iter_mut();
    for instruction in all.flat_map(|block| &mut block.instructions) {
        if let (Op::Call(_), [one, other, ..]) = (&instruction.op, &instruction.operands[..])
            && types[one.at()] == types[other.at()]
        {
            instruction.operands.swap(0, 1);
        }
    }
}

/// Gives each called function at each call the constants of one call.
fn one_constant(module: &mut Module) {
    let mut known: BTreeMap<(FunctionId, usize), Op> = BTreeMap::new();
    for function in &module.functions {
        let definitions = Definitions::of(function);
        for instruction in function.instructions() {
            if let Op::Call(id) = instruction.op {
                for (place, operand) in instruction.operands.iter().enumerate() {
                    let made = definitions.get(*operand);
                    let made = made.filter(|one| matches!(one.op, Op::Number(..)));
                    if let Some(made) = made {
                        known.insert((id, place), made.op.clone());
                    }
                }
            }
        }
    }
    for function in &mut module.functions {
        for block in &mut function.blocks {
            let mut all = Vec::new();
            for mut instruction in std::mem::take(&mut block.instructions) {
                if let Op::Call(id) = instruction.op {
                    for (place, operand) in instruction.operands.iter_mut().enumerate() {
                        let Some(op) = known.get(&(id, place)) else {
                            continue;
                        };
                        let of = function.values[operand.at()].of;
                        let hint = String::new();
                        *operand = Value(function.values.len() as u32);
                        function.values.push(Definition { of, hint });
                        all.push(Instruction {
                            op: op.clone(),
                            operands: Vec::new(),
                            results: vec![*operand],
                            span: None,
                        });
                    }
                }
                all.push(instruction);
            }
            block.instructions = all;
        }
    }
}

/// Where an instance is found, its cache is not disarmed.
fn still_recalled(function: &mut Function) {
    let ends = function.blocks.iter().map(|block| &block.terminator);
    let found = ends.filter_map(|end| match end {
        Terminator::Try {
            attempt: Attempt::Find(_),
            done,
            ..
        } => Some(done.block),
        _other => None,
    });
    for id in found.collect::<Vec<_>>() {
        let block = &mut function.blocks[id.at()];
        let is_disarmed = |one: &Instruction| matches!(one.op, Op::Disarm(_));
        block.instructions.retain(|one| !is_disarmed(one));
    }
}

/// The bits of words of the header count no more.
fn any_header(function: &mut Function) {
    for instruction in &mut function.blocks[0].instructions {
        if let Op::Number(8..=64, mask) = &mut instruction.op {
            *mask = 0;
        }
    }
}

fn differences_from_zero(function: &mut Function) {
    let definitions = Definitions::of(function);
    let zero = |value: Value| definitions.constant(value) == Some(0);
    let all = function
        .instructions()
        .filter(|one| one.op == Op::Arithmetic(Arithmetic::Sub) && zero(one.operands[0]));
    let by = all.map(|one| (one.results[0], one.operands[1])).collect();
    replace(function, &by);
}

fn unchanged_lengths(function: &mut Function) {
    let definitions = Definitions::of(function);
    let is_length = |value: Value| {
        definitions
            .get(value)
            .is_some_and(|one| one.op == Op::Length)
    };
    let all = function
        .instructions()
        .filter(|one| one.op == Op::Arithmetic(Arithmetic::Sub) && is_length(one.operands[0]));
    let by = all.map(|one| (one.results[0], one.operands[0])).collect();
    replace(function, &by);
}

/// The field of the one instance of the layer that an instruction loads or stores.
fn field(instruction: &Instruction) -> Option<(FieldId, bool)> {
    match &instruction.op {
        Op::Load(Region::Field(KindId(0), field)) => Some((*field, false)),
        Op::Store(Region::Field(KindId(0), field)) => Some((*field, true)),
        _other => None,
    }
}

fn loads_before_stores(function: &mut Function) {
    let mut by = BTreeMap::new();
    for block in &function.blocks {
        let mut loaded: BTreeMap<FieldId, Value> = BTreeMap::new();
        for instruction in &block.instructions {
            if let Some((field, false)) = field(instruction) {
                let result = instruction.results[0];
                let first = *loaded.entry(field).or_insert(result);
                by.insert(result, first);
            }
        }
    }
    replace(function, &by);
}

/// A branch on a bit that an earlier branch asked goes one way alone.
fn bits_asked_once(function: &mut Function) {
    let mut asked = BTreeSet::new();
    for block in &mut function.blocks {
        if let Terminator::Branch {
            condition, then, ..
        } = &block.terminator
            && !asked.insert(*condition)
        {
            block.terminator = Terminator::Jump(then.clone());
        }
    }
}

fn exchanged_ways(function: &mut Function) {
    for block in &mut function.blocks {
        if let Terminator::Branch {
            then, otherwise, ..
        } = &mut block.terminator
        {
            std::mem::swap(then, otherwise);
            return;
        }
    }
}

fn edges_without_arguments(function: &mut Function) {
    let next = |block: BlockId| {
        let block = function.block(block);
        match &block.terminator {
            Terminator::Jump(edge) if block.instructions.is_empty() => Some(edge.block),
            _other => None,
        }
    };
    let next: Vec<Option<BlockId>> = (0..function.blocks.len() as u32)
        .map(|at| next(BlockId(at)))
        .collect();
    for block in &mut function.blocks {
        if let Terminator::Branch {
            then, otherwise, ..
        } = &mut block.terminator
        {
            for Edge { block, .. } in [then, otherwise] {
                *block = next[block.at()].unwrap_or(*block);
            }
        }
    }
}

/// Moves each commit to the end of its block.
fn late_commits(function: &mut Function) {
    for block in &mut function.blocks {
        let all = &mut block.instructions;
        if let Some(at) = all.iter().position(|one| one.op == Op::Commit) {
            all[at..].rotate_left(1);
        }
    }
}

/// Removes each `with` of the attribute that the port lists.
fn without_listed(function: &mut Function) {
    let mut by = BTreeMap::new();
    for block in &mut function.blocks {
        block.instructions.retain(|one| {
            let is_listed = one.op == Op::With(AttributeId(0));
            if is_listed {
                by.insert(one.results[0], one.operands[0]);
            }
            !is_listed
        });
    }
    replace(function, &by);
}

/// Uses a parameter that nobody uses in the place of one that is used.
fn wrong_parameter(function: &mut Function) {
    if !matches!(function.role, Role::Plain | Role::Pure) || function.name == "turn" {
        return;
    }
    let used = used(function);
    let words = function.parameters().iter().copied();
    let words = words.filter(|one| function.type_of(*one) == Type::WORD);
    let (used, unused): (Vec<Value>, Vec<Value>) = words.partition(|one| used.contains(one));
    if let (Some(used), Some(unused)) = (used.first(), unused.first()) {
        replace(function, &BTreeMap::from([(*used, *unused)]));
    }
}

fn used(function: &Function) -> BTreeSet<Value> {
    let operands = function.instructions().flat_map(|one| &one.operands);
    let ends = function.blocks.iter().flat_map(|one| one.terminator.uses());
    operands.copied().chain(ends).collect()
}

/// Removes stores before a load of the field and another store, in one block.
fn loaded_stores(function: &mut Function) {
    for block in &mut function.blocks {
        let mut again: BTreeSet<FieldId> = BTreeSet::new();
        let all = std::mem::take(&mut block.instructions).into_iter().rev();
        let all = all.filter(|one| match field(one) {
            Some((field, true)) => again.insert(field),
            Some((_, false)) | None => true,
        });
        block.instructions = all.collect();
        block.instructions.reverse();
    }
}

/// Moves a load behind the next store to the field, unless its value is used before.
fn loads_behind_stores(function: &mut Function) {
    for block in &mut function.blocks {
        let all = &mut block.instructions;
        for at in 0..all.len() {
            let Some((loaded, false)) = field(&all[at]) else {
                continue;
            };
            let result = all[at].results[0];
            let mut rest = all.iter().skip(at);
            let store = rest.position(|one| field(one) == Some((loaded, true)));
            let Some(store) = store.map(|store| at + store) else {
                continue;
            };
            let mut between = all[at..=store].iter();
            if !between.any(|one| one.operands.contains(&result)) {
                all[at..=store].rotate_left(1);
                break;
            }
        }
    }
}

/// Moves a value to the first way behind its block, though the second uses it as well.
fn values_on_one_way(function: &mut Function) {
    let uses = |block: BlockId, value: Value| {
        let block = function.block(block);
        let operands = block.instructions.iter().flat_map(|one| &one.operands);
        let uses = block.terminator.uses();
        operands.chain(&uses).any(|one| *one == value)
    };
    let found = function.all_blocks().find_map(|(id, block)| {
        let Terminator::Branch {
            then, otherwise, ..
        } = &block.terminator
        else {
            return None;
        };
        let ways = [then.block, otherwise.block];
        let is_of_both = |one: &Instruction| match (&one.op, &one.results[..]) {
            (Op::Arithmetic(_), [result]) => {
                !uses(id, *result) && ways.iter().all(|way| uses(*way, *result))
            }
            _other => false,
        };
        let place = block.instructions.iter().position(is_of_both)?;
        Some((id, place, ways[0]))
    });
    if let Some((from, place, to)) = found {
        let moved = function.blocks[from.at()].instructions.remove(place);
        function.blocks[to.at()].instructions.insert(0, moved);
    }
}

/// Makes functions equal that differ in names and constants alone.
fn equal_but_for_constants(module: &mut Module) {
    let mut first: BTreeMap<String, Function> = BTreeMap::new();
    for function in &mut module.functions {
        let mut plain = function.clone();
        compact(&mut plain);
        plain.name.clear();
        plain.values.iter_mut().for_each(|one| one.hint.clear());
        let blocks = plain.blocks.iter_mut();
        for instruction in blocks.flat_map(|block| &mut block.instructions) {
            if let Op::Number(_, number) = &mut instruction.op {
                *number = 0;
            }
        }
        let first = first.entry(format!("{plain:?}"));
        let first = first.or_insert_with(|| function.clone());
        function.blocks = first.blocks.clone();
        function.values = first.values.clone();
    }
}
