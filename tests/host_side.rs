//! Throwaway: the host's side compiles beside stubs.
#[path = "agree/stacks.rs"]
mod stacks;

use stackloom::back::c::{header, host};
use stackloom::back::c::{Stack, prototype, text, types};
use stackloom::c::printer::{self, declaration};
use stackloom::c::tree::{Item, Line};
use stackloom::ir::{FunctionId, Module, Stored, Type};
use stackloom::lower::lower;
use stackloom::reactive;
use stackloom::source::Sources;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

#[test]
fn host_side_compiles() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    for folder in ["examples", "tests/c_agrees/stacks", "bench"] {
        add(root, folder, &mut paths);
    }
    let only = std::env::var("ONLY").ok();
    for path in paths {
        if only.as_ref().is_some_and(|only| !path.contains(only)) {
            continue;
        }
        let text = fs::read_to_string(root.join(&path)).expect("read");
        if !text.lines().any(|line| line.starts_with("stack ")) || path.contains("tagged") {
            continue;
        }
        eprintln!("{path}");
        one(&path);
    }
}

fn add(root: &Path, folder: &str, paths: &mut Vec<String>) {
    let mut names: Vec<String> = fs::read_dir(root.join(folder))
        .expect("folder")
        .map(|one| {
            one.expect("entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    for name in names {
        let path = format!("{folder}/{name}");
        if root.join(&path).is_dir() {
            add(root, &path, paths);
        } else if name.ends_with(".loom") {
            paths.push(path);
        }
    }
}

fn one(path: &str) {
    let (_, program) = stacks::example_with_sources(path);
    let forest = reactive::lower(&program).expect("trees");
    let module = lower(&program, &forest);
    let sources = Sources::new();
    let stack = Stack::new(&module, &sources);
    let h = format!("{}{}", header::text(&stack), header::END);
    let items = host::items(&stack);
    let c = file(&stack, &module, &items, &h);
    let out = format!("/tmp/w/bo/{}", module.name);
    fs::create_dir_all(&out).expect("made");
    fs::write(format!("{out}/{}.h", module.name), &h).expect("written");
    fs::write(format!("{out}/{}.c", module.name), &c).expect("written");
    fs::write(format!("{out}/{}_extern.h", module.name), "").expect("written");
}

fn line(text: String) -> Line {
    Line {
        text,
        comment: String::new(),
    }
}

fn file(stack: &Stack<'_>, module: &Module, items: &host::Items, header: &str) -> String {
    let name = &module.name;
    let mut kinds = Vec::new();
    let mut members = host::members(stack);
    let mut timers = 0;
    for (kind, names) in module.kinds.iter().zip(&stack.names.kinds) {
        let mut lines = Vec::new();
        for (field, member) in kind.fields.iter().zip(&names.fields) {
            if let (Stored::Value(of), true) = (&field.stored, field.dimensions.is_empty()) {
                if *of != Type::Message {
                    lines.push(line(declaration(&types::stored(stack, *of), member)));
                }
            }
        }
        if !names.timers.is_empty() {
            let all: String = names
                .timers
                .iter()
                .map(|one| format!("struct sl_timer {one}; "))
                .collect();
            lines.push(line(format!("struct {{ {all}}} timers")));
            timers += kind.capacity * kind.timers.len() as u32;
        }
        lines.push(line("bool stub".to_string()));
        kinds.push(Item::Struct {
            comment: String::new(),
            name: names.name.clone(),
            members: lines,
        });
        members.push(line(format!(
            "struct {} {}[{}]",
            names.name, names.name, kind.capacity
        )));
    }
    if timers > 0 {
        members.push(line("struct sl_timers timers".to_string()));
        members.push(line(format!("struct sl_timer_entry timer_heap[{timers}]")));
    }
    let mut message = vec![
        line("uint8_t *data".to_string()),
        line("uint32_t length".to_string()),
        line(format!("struct {name}_buffer *buffer")),
        line("bool came_in".to_string()),
    ];
    for (one, member) in module.attributes.iter().zip(&stack.names.attributes) {
        message.push(line(declaration(&types::stored(stack, one.of), member)));
    }
    let mut before = items.constants.clone();
    let mut settings: Vec<Line> = module
        .settings
        .iter()
        .zip(&stack.names.settings)
        .map(|(one, member)| line(declaration(&types::stored(stack, one.of), member)))
        .collect();
    if settings.is_empty() {
        settings.push(line("bool none".to_string()));
    }
    before.push(Item::Struct {
        comment: String::new(),
        name: format!("{name}_settings"),
        members: settings,
    });
    before.push(Item::Struct {
        comment: String::new(),
        name: format!("{name}_message"),
        members: message,
    });
    before.extend(items.structs.clone());
    before.extend(kinds);
    before.push(Item::Struct {
        comment: String::new(),
        name: name.clone(),
        members,
    });
    let mut stubs = format!(
        "static inline struct {name}_message blank(struct {name}_buffer *buffer) {{ return (struct {name}_message){{.data = buffer->bytes + HEADROOM, .buffer = buffer}}; }}\n\
         static inline void unmark(struct {name}_message *message) {{ (void)message; }}\n"
    );
    for names in &stack.names.kinds {
        stubs += &format!(
            "bool live_{}(const struct {name} *stack, uint32_t n);\n",
            names.name
        );
    }
    let mut results = BTreeSet::new();
    for (at, function) in module.functions.iter().enumerate() {
        let id = FunctionId(at as u32);
        if function.results.len() > 1 {
            let all: String = function
                .results
                .iter()
                .enumerate()
                .map(|(at, of)| {
                    format!(
                        " {};",
                        declaration(&types::local(stack, *of), &format!("r{at}"))
                    )
                })
                .collect();
            if !all.contains("view") {
                results.insert(format!(
                    "struct {}_results {{{all} }};\n",
                    stack.names.functions[at]
                ));
            }
        }
        let names: Vec<String> = (0..function.parameters().len())
            .map(|at| format!("p{at}"))
            .collect();
        let parameters = prototype::parameters(stack, id, &names);
        let parameters = if parameters.is_empty() {
            "void".to_string()
        } else {
            parameters.join(", ")
        };
        stubs += &format!(
            "{} {}({parameters});\n",
            prototype::result(stack, id),
            stack.names.functions[at]
        );
    }
    let results: String = results.into_iter().collect();
    let named = |all: &[(String, Item)]| {
        printer::file(&all.iter().map(|(_, item)| item.clone()).collect::<Vec<_>>())
    };
    let hooks = named(&items.hooks);
    let events = named(&items.events);
    let entries = printer::file(&items.entries);
    let helpers = printer::file(&text::inside(
        name,
        &format!(
            "{hooks}\n{events}\n{entries} drop_queue( window_take( stream_take( precede( goes_on( turn( piece( share( rewritten( set_aside( pad( message_from( next_step( next_kept( take( window_replace( window_release( stream_release( stream_begin( drop_stream( drop_window( window_share( stream_insert( queue_push("
        ),
    ));
    let before = printer::file(&before);
    let whole = format!("{before}\n{results}\n{stubs}\n{hooks}\n{helpers}\n{events}\n{entries}");
    let mentioned = stackloom::c::runtime::mentioned(&whole);
    let runtime = stackloom::c::runtime::select(&mentioned);
    let mut bytes = String::new();
    let mut sizes = BTreeSet::new();
    let tag = format!("struct {name}_bytes");
    for piece in whole.split(&tag).skip(1) {
        let digits: String = piece.chars().take_while(char::is_ascii_digit).collect();
        if !digits.is_empty() {
            sizes.insert(digits);
        }
    }
    for digits in sizes {
        if !header.contains(&format!("{tag}{digits} {{")) {
            bytes += &format!("{tag}{digits} {{ uint8_t at[{digits}]; }};\n");
        }
    }
    let prototypes = "";
    format!("#include \"{name}.h\"\n#include <string.h>\n{runtime}\n{bytes}\n{prototypes}{whole}")
}
