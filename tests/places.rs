//! Where a frame may stand that is handed to a stack: in a buffer that the host was given, where
//! that begins, or in memory of the host's own; nowhere else.
//!
//! In: stacks of `paths/three.loom` with and without a fast path, and with one that lets go of
//! its frames. Out: what `places/host.c` finds, compiled with sanitizers.

use stackloom::back::c::Printed;
use stackloom::pipeline::{self, Checked};
use stackloom::tool::library::Folders;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const FLAGS: [&str; 11] = [
    "-std=c11",
    "-O1",
    "-g",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Werror",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover",
    "-ohost",
];

/// The C of a stack.
fn printed(stack: &str) -> Printed {
    let path = "tests/paths/three.loom";
    let text = std::fs::read_to_string(path).expect("the stacks are there");
    let library = Folders {
        search: vec![PathBuf::from("layers")],
    };
    let mut checked: Checked = pipeline::read(vec![(path.to_string(), text)], &library);
    let compiled = pipeline::compile(&mut checked, stack, stack);
    compiled.expect("the stack is right").code
}

/// What the host of a stack finds.
fn found(folder: &str, stack: &str, code: &Printed) -> Output {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    std::fs::create_dir_all(&folder).expect("a folder to compile in");
    let host = include_str!("places/host.c").replace("STACK", stack);
    let host = host.replace("UPPER", &stack.to_uppercase());
    let files = [
        (format!("{stack}.c"), &code.c),
        (format!("{stack}.h"), &code.h),
        ("host.c".to_string(), &host),
    ];
    for (name, text) in &files {
        std::fs::write(folder.join(name), text).expect("written");
    }
    let calls = code.h.contains("_arrived(").then_some("-DCALLS");
    // Of the header, 4 bytes, nothing is delivered where there is a layer that has one.
    let delivered = match stack {
        "passed" => 2 * (0x41 + 0x64 + 0xaa) + 0x41,
        _ => 2 * 0xaa,
    };
    let delivered = format!("-DWANTED={}", delivered % 256);
    let mut gcc = Command::new("gcc");
    gcc.args(FLAGS).args(calls).arg(delivered);
    gcc.args([&files[0].0, "host.c"]);
    let compiled = gcc.current_dir(&folder).status().expect("there is gcc");
    assert!(compiled.success());
    Command::new(folder.join("host")).output().expect("it runs")
}

fn is_right(stack: &str) {
    let output = found(&format!("places {stack}"), stack, &printed(stack));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stack}: {said}");
}

#[test]
fn a_frame_stands_in_a_buffer_or_elsewhere() {
    is_right("one");
    is_right("passed");
}

#[test]
fn a_path_that_lets_go_of_its_frame_needs_no_buffer() {
    is_right("heard");
}

/// Plants a fault in the C of a stack, and sees that it is found.
fn is_found(at: usize, stack: &str, right: &str, wrong: &str) {
    let code = printed(stack);
    let faulty = Printed {
        c: code.c.replacen(right, wrong, 1),
        ..code.clone()
    };
    assert_ne!(faulty.c, code.c, "the C has no `{right}`");
    let output = found(&format!("places wrong {at}"), stack, &faulty);
    assert!(!output.status.success(), "{stack}: {wrong}");
}

#[test]
fn a_fault_in_where_a_frame_may_stand_is_found() {
    let inside = "(uintptr_t)stack->buffers < stack->size";
    let lent = "return (uintptr_t)next == (uintptr_t)data - before";
    is_found(
        0,
        "heard",
        inside,
        "(uintptr_t)stack->buffers < UINTPTR_MAX",
    );
    is_found(1, "one", lent, "return true");
    is_found(2, "heard", "stack->counters[FRAMES_IN] -= 1;", "");
    is_found(3, "heard", "    give_buffer(stack, message.buffer);\n", "");
    is_found(
        4,
        "one",
        "    memcpy(data, frame->data, frame->length);\n",
        "",
    );
}
