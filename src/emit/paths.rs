//! The counters of fast paths: how many frames took each path, and how many left it at each exit.
//!
//! In: the paths of a stack. Out: the enum of `NAME.h`, the names of what is counted, and the code
//! that counts. What goes a path is not counted where there is only one: that follows (`derived`).

use super::Stack;
use super::bypass;
use super::derived;
use super::driver::above_link;
use super::exits::{Exit, Path};
use super::expected::is_expected_name;
use super::external;
use super::predict;
use crate::c::printer;
use crate::c::tree::{Expression as C, Function, Item, Line, Statement as S};
use crate::c::tree::{assign, atom, binary, call};
use crate::types::program::Event;

/// Returns the part of the header about fast paths, if there are any.
pub fn offered(stack: &Stack, paths: &[Path]) -> Option<Item> {
    let name = &stack.names.stack;
    let upper = name.to_uppercase();
    let line = |text: &str, comment: String| Line {
        text: text.to_string(),
        comment,
    };
    let mut values = vec![line(
        &format!("{upper}_PATH_NONE"),
        "no fast path begins here, or too few steps were left for it".to_string(),
    )];
    for path in paths {
        values.push(line(
            &path.constant,
            format!("took the fast path {}", path.name),
        ));
        let left = |exit: &Exit| {
            line(
                &exit.constant,
                format!("left it at the test: {}", exit.asks),
            )
        };
        values.extend(path.exits.iter().map(left));
    }
    values.push(line(&count(stack), String::new()));
    (!paths.is_empty()).then(|| Item::Enum {
        comment: "Paths of arriving frames: those that take a fast path, and those that leave \
                  it, each by the test that failed."
            .to_string(),
        name: format!("{name}_path"),
        values,
    })
}

/// The functions that the header offers for it; empty where there are no fast paths.
pub fn functions(paths: &[Path]) -> &'static str {
    const OFFERED: &str = "
/* Writes how many arriving frames took each path, for at most `capacity` paths in the order of enum
 * STACK_path; returns how many paths there are. The numbers add up to frames_in. */
size_t STACK_paths(const struct STACK *stack, uint64_t *values, size_t capacity);

/* The names of the paths in the order of enum STACK_path, and then NULL. Frames of `taken PATH`
 * took the fast path; those of `left PATH layer.test` left it at that test. */
extern const char *const STACK_path_name[];
";
    if paths.is_empty() { "" } else { OFFERED }
}

/// The names of what is counted of paths.
pub fn names(stack: &Stack, paths: &[Path]) -> Option<Item> {
    let mut names = vec!["none".to_string()];
    for path in paths {
        names.push(format!("taken {}", path.name));
        let left = |exit: &Exit| format!("left {} {}", path.name, exit.name);
        names.extend(path.exits.iter().map(left));
    }
    let lines: String = names
        .iter()
        .map(|name| format!("    \"{name}\",\n"))
        .collect();
    let name = &stack.names.stack;
    (!paths.is_empty()).then(|| {
        Item::Text(format!(
            "const char *const {name}_path_name[] = {{\n{lines}    NULL,\n}};\n"
        ))
    })
}

/// What is done with a frame that came in, by its link.
pub fn taken(stack: &Stack, paths: &[Path]) -> String {
    let links = stack.program.links.iter().enumerate();
    let ways = links.filter_map(|(at, link)| {
        let above = above_link(stack, link, Event::Deliver).into_iter();
        let mut above = above.filter_map(|one| paths.iter().find(|path| path.reaction == one));
        Some((
            vec![atom(at.to_string())],
            goes(stack, above.next()?, paths),
        ))
    });
    let ways: Vec<(Vec<C>, Vec<S>)> = ways.collect();
    if let ([_], Some((_, way))) = (&stack.program.links[..], ways.first()) {
        return printer::block(way, 1);
    }
    let none = format!("{}_PATH_NONE", stack.names.stack.to_uppercase());
    let all = vec![atom("stack"), atom("link"), atom("frame"), atom(none)];
    let mut otherwise = comes_in(paths.iter().any(|path| path.lets_go));
    otherwise.push(S::Return(Some(call("leave", all))));
    let switch = S::Switch {
        value: atom("link"),
        cases: ways,
        otherwise: Some(otherwise),
    };
    printer::block(&[switch], 1)
}

/// The functions that take frames which are not as paths expect.
pub fn unexpected(stack: &Stack, paths: &[Path]) -> String {
    let predicted = paths.iter().filter(|path| path.predicted.is_some());
    let name = &stack.names.stack;
    let functions = predicted.map(|path| {
        let mut parameters = vec![format!("struct {name} *stack")];
        parameters.extend((stack.program.links.len() > 1).then(|| "unsigned link".to_string()));
        parameters.push(format!("const struct {name}_frame *frame"));
        parameters.extend(
            path.lets_go
                .then(|| format!("struct {name}_buffer *buffer")),
        );
        let asks = call(
            predict::asks_name(&path.name),
            vec![atom("stack"), arrived(path)],
        );
        let mut body = comes_in(path.lets_go);
        body.push(S::Declare {
            kind: bypass::result(stack),
            name: "path".to_string(),
            value: Some(asks),
        });
        body.push(S::If {
            condition: binary("==", atom("path"), atom(&path.constant)),
            then: vec![assign(atom("path"), goes_by(path))],
            otherwise: Vec::new(),
        });
        body.extend(behind(stack, path, paths));
        Item::Function(Function {
            comment: format!(
                "Takes a frame that is not as {} expects: first all is asked of it.",
                path.name
            ),
            result: "static bool".to_string(),
            name: unexpected_name(path),
            parameters,
            body,
        })
    });
    let functions = Vec::from_iter(functions);
    let declared = kept_apart(&functions);
    printer::file(&declared) + &printer::file(&functions)
}

/// A call of these would else be put in its place, and so would all that it calls.
fn kept_apart(functions: &[Item]) -> Vec<Item> {
    let lines: String = functions
        .iter()
        .map(|one| {
            let Item::Function(one) = one else {
                unreachable!("these are functions");
            };
            let head = printer::file(&[Item::Prototype(one.clone())]);
            let head = head.trim_end().trim_end_matches(';');
            format!("{head}\n    __attribute__((noinline));\n")
        })
        .collect();
    match functions.is_empty() {
        true => Vec::new(),
        false => vec![Item::Text(format!("#ifdef __GNUC__\n{lines}#endif\n"))],
    }
}

fn unexpected_name(path: &Path) -> String {
    format!("{}_unexpected", path.name)
}

/// The frame as a message.
fn arrived(path: &Path) -> C {
    let buffer = path.lets_go.then(|| atom("buffer"));
    call(
        "arrived",
        [atom("frame")].into_iter().chain(buffer).collect(),
    )
}

/// A frame goes a path.
fn goes_by(path: &Path) -> C {
    let given = vec![atom("stack"), arrived(path)];
    call(format!("{}_bypass", path.name), given)
}

/// A frame goes a fast path, or leaves it.
fn goes(stack: &Stack, path: &Path, paths: &[Path]) -> Vec<S> {
    let mut block = match path.predicted {
        // What is expected is no longer than may be.
        Some(_) => vec![is_unexpected(stack, path), counted_in()],
        None => comes_in(path.lets_go),
    };
    block.push(S::Declare {
        kind: format!("const {}", bypass::result(stack)),
        name: "path".to_string(),
        value: Some(goes_by(path)),
    });
    block.extend(behind(stack, path, paths));
    block
}

/// A frame is not as a path expects.
fn is_unexpected(stack: &Stack, path: &Path) -> S {
    let given = vec![atom("stack"), atom("frame")];
    let link = (stack.program.links.len() > 1).then(|| atom("link"));
    let buffer = path.lets_go.then(|| atom("buffer"));
    let handed = [atom("stack")].into_iter().chain(link);
    let handed = handed.chain([atom("frame")]).chain(buffer);
    S::If {
        condition: call(is_expected_name(&path.name), given).negated(),
        then: vec![S::Return(Some(call(
            unexpected_name(path),
            handed.collect(),
        )))],
        otherwise: Vec::new(),
    }
}

/// A frame comes in, if it is not too long; what stands in a buffer was asked before.
fn comes_in(lets_go: bool) -> Vec<S> {
    let most = binary("-", atom("BUFFER_SIZE"), atom("HEADROOM"));
    let is_too_long = lets_go.then(|| S::If {
        condition: binary(">", atom("frame").behind("length"), most),
        then: vec![S::Return(Some(atom("false")))],
        otherwise: Vec::new(),
    });
    is_too_long.into_iter().chain([counted_in()]).collect()
}

fn counted_in() -> S {
    let counters = atom("stack").behind("counters");
    S::Assign(counters.element(atom("FRAMES_IN")), "+=", atom("1"))
}

/// A frame has gone a path, or left it.
fn behind(stack: &Stack, path: &Path, paths: &[Path]) -> Vec<S> {
    let own = atom("stack");
    let link = match stack.program.links.len() {
        1 => atom("0"),
        _ => atom("link"),
    };
    let waits = || atom(count(stack));
    let is_gone = binary("!=", atom("path"), atom(&path.constant));
    let is_left = match path.may_wait {
        true => binary("&&", is_gone, binary("!=", atom("path"), waits())),
        false => is_gone,
    };
    let mut block = vec![S::If {
        condition: is_left,
        then: vec![S::Return(Some(call(
            "leave",
            vec![own.clone(), link, atom("frame"), atom("path")],
        )))],
        otherwise: Vec::new(),
    }];
    if derived::only(paths).is_none() {
        block.push(S::Assign(counter(&path.constant), "+=", atom("1")));
    }
    block.extend(path.may_wait.then(|| S::If {
        condition: binary("==", atom("path"), waits()),
        then: vec![S::Return(Some(atom("true")))],
        otherwise: Vec::new(),
    }));
    block.extend(path.lets_go.then(|| S::If {
        condition: binary("!=", atom("buffer"), atom("NULL")),
        then: vec![external::given_back(atom("buffer"))],
        otherwise: Vec::new(),
    }));
    block.push(S::Return(Some(atom("true"))));
    block
}

fn counter(constant: &str) -> C {
    atom("stack").behind("paths").element(atom(constant))
}

/// The constant that says how many numbers there are.
pub fn count(stack: &Stack) -> String {
    format!("{}_PATHS", stack.names.stack.to_uppercase())
}
