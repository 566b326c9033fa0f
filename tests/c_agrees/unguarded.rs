//! A fault for every fast function: in, a module; out, the same, whose guards ask one thing alone.

use stackloom::ir::{Module, Op, Role, Terminator};

/// Removes all exits but the first from each fast function. A fast function without any exit is
/// none, and a block without an end leaves, so these stay.
pub fn without_guards(module: &mut Module) {
    let functions = module.functions.iter_mut();
    for fast in functions.filter(|function| function.role == Role::Fast) {
        let mut exits = 0;
        let blocks = fast.blocks.iter_mut();
        for block in blocks.filter(|block| block.terminator != Terminator::Never) {
            block.instructions.retain(|one| {
                let is_exit = matches!(one.op, Op::Exit(_));
                exits += u32::from(is_exit);
                !is_exit || exits == 1
            });
        }
    }
}
