//! Compiles the examples to C, and their harnesses with them, so that the fuzzer sees where a frame
//! leads.

#[path = "stacks.rs"]
mod stacks;

use std::path::{Path, PathBuf};

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo says where"));
    let mut functions = String::new();
    for changed in ["frames.c", "stacks.rs", "../layers", "../examples"] {
        println!("cargo::rerun-if-changed={changed}");
    }
    let mut build = cc::Build::new();
    build.compiler("clang-16").include(&out).opt_level(1);
    build.flag("-fsanitize=address,undefined").flag("-fsanitize=fuzzer-no-link");
    build.flag("-fno-sanitize-recover=all");
    for example in stacks::EXAMPLES {
        let compiled = example.compiled(&root);
        let write = |name: String, text: &str| {
            let path = out.join(name);
            std::fs::write(&path, text).expect("the folder can be written");
            path
        };
        let name = example.name;
        write(format!("{name}.h"), &compiled.emitted.h);
        build.file(write(format!("{name}.c"), &compiled.emitted.c));
        build.file(write(format!("{name}_fuzz.c"), &example.harness(&compiled)));
        build.files(example.beside.iter().map(|path| root.join(path)));
        functions += &format!("    fn {name}_fuzz(data: *const u8, length: usize);\n");
    }
    let names = stacks::EXAMPLES.iter().map(|example| format!("    {}_fuzz,\n", example.name));
    let (count, names) = (stacks::EXAMPLES.len(), names.collect::<String>());
    let declared = format!(
        "unsafe extern \"C\" {{\n{functions}}}\n\
         const STACKS: [unsafe extern \"C\" fn(*const u8, usize); {count}] = [\n{names}];\n"
    );
    std::fs::write(out.join("stacks.rs"), declared).expect("the folder can be written");
    build.compile("fuzzed");
}
