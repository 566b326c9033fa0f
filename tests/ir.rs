//! The text form of the stack IR: functions written by hand are read, printed and read again;
//! mistakes have positions; what is left out has a default.
//!
//! In: `ir/functions/*.ir`, the seven hard functions of the design.

use fastrand::Rng;
use stackloom::ir::op::Op;
use stackloom::ir::text::{canonical, read, write, write_function_of};
use stackloom::ir::{FunctionId, Module, Probability, Terminator, Type};
use stackloom::source::{Sources, Span};
use std::fs;
use std::panic::catch_unwind;
use std::path::Path;

/// The texts with their names, in order of name.
fn texts() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ir/functions");
    let entries = fs::read_dir(folder).expect("the folder of functions can be listed");
    let text = |entry: std::io::Result<fs::DirEntry>| {
        let path = entry.expect("an entry can be read").path();
        let text = fs::read_to_string(&path).expect("a text can be read");
        let name = path.file_name().expect("a file has a name");
        (name.to_string_lossy().into_owned(), text)
    };
    let mut texts: Vec<(String, String)> = entries.map(text).collect();
    texts.sort();
    texts
}

fn good(text: &str) -> Module {
    read(text).unwrap_or_else(|mistake| panic!("{mistake}\n{text}"))
}

#[test]
fn functions_written_by_hand_come_back() {
    let texts = texts();
    assert_eq!(texts.len(), 7, "the hard functions of the design");
    for (name, text) in texts {
        let module = read(&text).unwrap_or_else(|mistake| panic!("{name}:{mistake}"));
        assert_eq!(
            module,
            canonical(&module),
            "{name} is read in canonical form"
        );
        let printed = write(&module);
        let again = read(&printed).unwrap_or_else(|mistake| panic!("{name}: {mistake}\n{printed}"));
        assert!(
            again == module,
            "{name} is printed as something else:\n{printed}"
        );
        assert_eq!(write(&again), printed, "{name}");
    }
}

#[test]
fn changed_functions_come_back_or_have_a_mistake() {
    let mut came_back = 0;
    for (name, text) in texts() {
        for seed in 0..300 {
            let text = changed(&text, &mut Rng::with_seed(seed));
            let run = catch_unwind(|| read(&text));
            let read_text = run.unwrap_or_else(|_| panic!("{name}, seed {seed}: a panic\n{text}"));
            let Ok(module) = read_text else { continue };
            came_back += 1;
            let printed = write(&module);
            assert!(
                read(&printed) == Ok(module),
                "{name}, seed {seed}:\n{printed}"
            );
        }
    }
    assert!(
        came_back > 100,
        "some changes leave a function: {came_back}"
    );
}

/// A text in which a line is left out, repeated or moved, or a word stands for another.
fn changed(text: &str, rng: &mut Rng) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let (one, other) = (rng.usize(..lines.len()), rng.usize(..lines.len()));
    match rng.u8(..5) {
        0 => drop(lines.remove(one)),
        1 => lines.insert(one, lines[other]),
        2 => lines.swap(one, other),
        _ => {
            let is_letter = |c: char| c.is_ascii_alphanumeric() || "%_.".contains(c);
            let words: Vec<&str> = text.split(|c| !is_letter(c)).collect();
            let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
            let (from, to) = (
                words[rng.usize(..words.len())],
                words[rng.usize(..words.len())],
            );
            let places: Vec<usize> = text.match_indices(from).map(|(at, _)| at).collect();
            let at = places[rng.usize(..places.len())];
            return format!("{}{to}{}", &text[..at], &text[at + from.len()..]);
        }
    }
    lines.join("\n") + "\n"
}

#[test]
fn mistakes_in_tables_have_a_position_and_a_reason() {
    let mistakes = [
        ("stack", "1:6: a name is expected, not the end of the line"),
        (
            "fn f() { return }",
            "1:10: the end of the line is expected, not `return`",
        ),
        ("reason r\nstack s", "2:7: `stack` stands first"),
        (
            "nothing x",
            "1:9: no entry of a table begins with `nothing`",
        ),
        ("link l {\n}", "1:6: a link has `arrives FUNCTION`"),
        ("link l {\narrives f\n}", "2:9: there is no function `f`"),
        (
            "kind k {\nfield f: i32\nkeys g\n}",
            "3:6: there is no field `g`",
        ),
        (
            "foreign f(a: [4000000000] u32)",
            "1:14: this has more than 65536 parts",
        ),
        (
            "headroom 4294967296",
            "1:10: `4294967296` is more than 4294967295",
        ),
        ("reason \"open", "1:8: the quote is not closed in its line"),
    ];
    for (text, said) in mistakes {
        let mistake = read(text).expect_err("the text has a mistake");
        assert_eq!(mistake.to_string(), said, "{text}");
    }
}

#[test]
fn mistakes_in_functions_have_a_position_and_a_reason() {
    let body = |lines: &str| format!("stack s\nfn f(%a: i32, %b: i8) -> i32 {{\n{lines}\n}}\n");
    let mistakes = [
        ("return %c", "3:8: there is no value `%c`"),
        (
            "return (add %a, %b)",
            "3:9: two numbers of one width are expected",
        ),
        (
            "return (add %a, 4294967296)",
            "3:17: 4294967296 has no room in i32",
        ),
        (
            "return (zext i32 5)",
            "3:18: nothing says the type of 5: write `i32 5`",
        ),
        (
            "return (not 5)",
            "3:13: nothing says the type of 5: write `i32 5`",
        ),
        ("%a = not %b\nreturn %a", "3:1: `%a` is defined twice"),
        (
            "%c, %d = not %a\nreturn %a",
            "3:10: results: 1, but names: 2",
        ),
        ("add %a, %a\nreturn %a", "3:1: results: 1, but names: 0"),
        ("frob %a\nreturn %a", "3:1: there is no operation `frob`"),
        (
            "try frob -> b, b",
            "3:5: there is no operation `frob` that may fail",
        ),
        ("jump b1", "3:6: there is no block `b1`"),
        (
            "%c = not %a",
            "4:1: the block has no end: `return`, `jump` or another is missing",
        ),
        (
            "return %a\nreturn %a",
            "4:1: the block has ended: a name and `:` are expected",
        ),
        (
            "b0:\nreturn %a\nb0:\nreturn %a",
            "5:1: there are two blocks `b0`",
        ),
        (
            "branch 1, b0, b0 @ 1.00001%",
            "3:20: a percentage with at most four decimals is expected, not `1.00001`",
        ),
        ("drop r %a", "3:6: there is no reason `r`"),
        ("write.be12 %a, 0, 0", "3:12: a number fills whole bytes"),
        (
            "return (bytes 2 [0000ff])",
            "3:15: there are 3 bytes, not 2",
        ),
    ];
    for (lines, said) in mistakes {
        let mistake = read(&body(lines)).expect_err("the text has a mistake");
        assert_eq!(mistake.to_string(), said, "{lines}");
    }
}

#[test]
fn names_that_are_ambiguous_are_refused() {
    let text = "stack s\nreason r\nreason r\nevent fn f(%m: msg) {\n  drop r %m\n  return\n}\n";
    let mistake = read(text).expect_err("there are two");
    assert_eq!(mistake.to_string(), "5:8: there are several: write `r#0`");
    let second = good(&text.replace("drop r ", "drop r#1 "));
    assert!(write(&second).contains("drop r#1 %m"));
    let text = "kind a {\nfield b.c: i1\n}\nkind a.b {\nfield c: i8\n}\n\
        fn f(%x: inst a) -> i1 {\nreturn (load a.b.c %x)\n}\n";
    let mistake = read(text).expect_err("there are two");
    assert_eq!(
        mistake.to_string(),
        "8:14: there are several: write `/` behind the kind"
    );
    let first = good(&text.replace("a.b.c", "a/b.c"));
    assert!(write(&first).contains("(load a/b.c %x)"));
}

#[test]
fn what_is_left_out_has_a_default() {
    let module = good(
        "attribute a: bytes 3\nkind k {\n}\nport p {\n  session k only 0\n}\n\
        fn f(%c: i1, %n: i8) {\n  branch %c, b1, b2\n\
        b1: return\nb2: switch %n, 1: b1, 0x10: b1 @ 0.0001%, 3: b1, else b1\n}\n",
    );
    assert_eq!(module.attributes[0].default, Op::Bytes(vec![0; 3]));
    assert_eq!(module.kinds[0].capacity, 1);
    let blocks = &module.functions[0].blocks;
    let Terminator::Branch { likely, .. } = blocks[0].terminator else {
        panic!("a branch is read");
    };
    assert_eq!(likely, Probability::EVEN);
    let Terminator::Switch { cases, .. } = &blocks[2].terminator else {
        panic!("a switch is read");
    };
    let cases = cases.iter().map(|(number, likely, _)| (*number, likely.0));
    let cases: Vec<(u64, u32)> = cases.collect();
    assert_eq!(cases, [(1, 250_000), (16, 1), (3, 250_000)]);
}

#[test]
fn hints_come_back_and_types_are_inferred_backwards() {
    let module = good(
        "fn f(%x: i32) -> i32 {\n  jump first\nlate(%p: i8):\n  %x.2 = add %later, %x\n  \
        return %x.2\nfirst:\n  %later = add %x, 1\n  %7 = trunc i8 %later\n  jump late(%7)\n}\n",
    );
    let values = &module.functions[0].values;
    let values = values.iter().map(|one| (one.hint.as_str(), one.of));
    let values: Vec<(&str, Type)> = values.collect();
    let (word, byte) = (Type::WORD, Type::BYTE);
    let expected = [
        ("x", word),
        ("p", byte),
        ("x", word),
        ("", word),
        ("later", word),
        ("", byte),
    ];
    assert_eq!(values, expected);
    assert_eq!(read(&write(&module)), Ok(module));
}

#[test]
fn a_type_that_cannot_be_inferred_stands_in_the_text() {
    let module = good(
        "counter c\nfn f(%b: i1) {\n  branch %b, b1, b2\nb1:\n  () = count_by c %7\n  return\n\
        b2:\n  %7 = number i64 5\n  %odd: i8 = add %b, %b\n  return\n}\n",
    );
    let printed = write(&module);
    assert!(printed.contains("() = count_by c %1\n"), "{printed}");
    assert!(printed.contains("%odd: i8 = add %b, %b\n"), "{printed}");
    assert_eq!(read(&printed), Ok(module));
}

#[test]
fn operations_stand_within_others_in_order_of_evaluation_alone() {
    let text = "stack s\n\npure fn f(%a: i32) -> i32 {\nb0:\n  %2 = add %a, 1\n  \
        return (add (add %a, 2), %2)\n}\n\npure fn g(%a: i32) -> i32 {\nb0:\n  \
        return (sub (add %a, 1), (add (add %a, 2), 3))\n}\n";
    assert_eq!(write(&good(text)), text);
    let nots = "(not ".repeat(40) + "%a" + &")".repeat(40);
    let module = good(&format!("fn f(%a: i32) -> i32 {{\nreturn {nots}\n}}\n"));
    let printed = write(&module);
    let deepest = printed.lines().map(|line| line.matches('(').count()).max();
    assert_eq!(deepest, Some(4), "{printed}");
    assert_eq!(read(&printed), Ok(module));
}

#[test]
fn places_in_the_sources_are_comments() {
    let mut sources = Sources::new();
    let file = sources.add("udp.loom", "one\ntwo\nthree\n");
    let mut module = good("fn f(%a: i32) -> i32 {\n  %b = not %a\n  return %b\n}\n");
    let plain = write(&module);
    let function = &mut module.functions[0];
    function.span = Some(Span::new(file, 0, 3));
    function.blocks[0].span = Some(Span::new(file, 8, 13));
    function.blocks[0].instructions[0].span = Some(Span::new(file, 4, 7));
    let text = write_function_of(&module, FunctionId(0), &sources);
    let expected = "fn f(%a: i32) -> i32 {  ; udp.loom:1\nb0:\n  %b = not %a  ; udp.loom:2\n  \
        return %b  ; udp.loom:3\n}\n";
    assert_eq!(text, expected);
    assert_eq!(write(&module), plain);
    let back = read(&text).expect("a comment says nothing");
    assert_eq!(back.functions, canonical(&module).functions);
}
