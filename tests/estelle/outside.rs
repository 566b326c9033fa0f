//! The C of a specification and the C around it: functions that the host defines.

use crate::remote::build;
use crate::runs::program;
use stackloom::back::c::estelle::print;
use stackloom::ir::function::Definition;
use stackloom::ir::interface::{Foreign, Given, Home, Shape};
use stackloom::ir::{ForeignId, Instruction, Module, Op, Terminator, Type, Value};
use stackloom::lower::estelle::Bounds;
use stackloom::pipeline::estelle_ir;

/// A number of a host.
const NUMBER: Shape = Shape::Number {
    bits: 32,
    signed: true,
};

/// A module in which a function of the host says how many systems there are.
fn asking(mut module: Module) -> Module {
    module.foreigns.push(Foreign {
        name: "choose".to_string(),
        home: Home::Host,
        parameters: vec![("count".to_string(), Given::Value(NUMBER))],
        result: Some(NUMBER),
    });
    let mut exports = module.exports.iter();
    let systems = exports.find(|one| one.name.ends_with("_systems"));
    let systems = systems.expect("a program asks for the systems").calls;
    let function = &mut module.functions[systems.at()];
    let [count, answer] = [0, 1].map(|next| Value(function.values.len() as u32 + next));
    let word = Definition {
        of: Type::WORD,
        hint: String::new(),
    };
    function.values.extend([word.clone(), word]);
    let asks = Op::Foreign(ForeignId(0), Vec::new());
    let block = &mut function.blocks[0];
    block.instructions = vec![
        Instruction::new(Op::Number(32, 5), &[], &[count]),
        Instruction::new(asks, &[count], &[answer]),
    ];
    block.terminator = Terminator::Return(vec![answer]);
    module
}

#[test]
fn the_host_is_called_with_its_pointer() {
    let program = program("pingpong", &[]);
    let module = estelle_ir(&program, &Bounds::default()).expect("pingpong has C");
    let printed = print("pingpong.stl", &asking(module));
    let host = "
#include <stdio.h>
#include <stdlib.h>
int32_t pingpong_choose(void *user, int32_t count) { return *(int32_t *)user + count; }
int main(void) {
    struct pingpong *stack = calloc(1, pingpong_size());
    int32_t own = 37;
    if (stack != NULL) {
        pingpong_set_user(stack, &own);
        pingpong_start(stack, 0);
        printf(\"%d\\n\", (int)pingpong_systems(stack));
        free(stack);
    }
    return 0;
}
";
    for compiler in ["gcc", "clang"] {
        let built = build(("asking", compiler), &printed, "pingpong", (host, &[]));
        let text = built.ran(&[]);
        assert_eq!(text, "42\n", "{}", printed.h);
    }
}
