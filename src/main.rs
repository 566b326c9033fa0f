//! The `loom` command: everything it does stands in `stackloom::tool`.

fn main() -> std::process::ExitCode {
    stackloom::tool::main()
}
