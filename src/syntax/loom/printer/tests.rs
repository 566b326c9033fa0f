//! Formatting keeps the tree and every comment, and does nothing to what is formatted.

use std::path::Path;

use super::format;
use crate::diagnostic::{Diagnostic, render};
use crate::source::{FileId, Sources};
use crate::syntax::loom::ast::File;
use crate::syntax::loom::lexer::lex;
use crate::syntax::loom::parse;

/// Every Loom file of the repository, by its path.
fn corpus() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("layers"), root.join("examples")];
    let mut corpus = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the repository has layers and examples") {
            let path = entry.expect("the folder can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| extension == "loom")
            {
                let text = std::fs::read_to_string(&path).expect("Loom files are UTF-8");
                let name = path.strip_prefix(root).expect("it was found there");
                corpus.push((name.display().to_string(), text));
            }
        }
    }
    corpus.sort();
    assert!(
        corpus.len() > 10,
        "the repository's layers are the corpus of these tests"
    );
    corpus
}

fn read(text: &str) -> (Sources, FileId, File, Vec<Diagnostic>) {
    let mut sources = Sources::new();
    let id = sources.add("test.loom", text);
    let (file, diagnostics) = parse(id, &sources);
    (sources, id, file, diagnostics)
}

/// The text of a tree without its spans.
fn shape(file: &File) -> String {
    let text = format!("{file:?}");
    let mut parts = text.split("Span { ");
    let mut shape = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        shape.push_str(part.split_once('}').expect("a span ends").1);
    }
    shape
}

fn comments(text: &str) -> Vec<String> {
    let mut sources = Sources::new();
    let id = sources.add("test.loom", text);
    lex(id, &sources)
        .comments
        .iter()
        .map(|comment| comment.text.to_owned())
        .collect()
}

/// Formats a text without mistakes, and checks all that must hold of the result.
fn checked(name: &str, text: &str, file: &File) -> String {
    let formatted = format(file, text);
    let (sources, _, again, diagnostics) = read(&formatted);
    let mistakes = render(&diagnostics, &sources, false);
    assert_eq!(
        mistakes, "",
        "{name}: formatting made mistakes\n{text}\n---\n{formatted}"
    );
    assert_eq!(
        shape(file),
        shape(&again),
        "{name}: another tree\n{text}\n---\n{formatted}"
    );
    assert_eq!(
        comments(text),
        comments(&formatted),
        "{name}: other comments\n{text}"
    );
    let twice = format(&again, &formatted);
    assert_eq!(
        formatted, twice,
        "{name}: formatting changes what it wrote\n{text}"
    );
    formatted
}

fn formatted(text: &str) -> String {
    let (sources, _, file, diagnostics) = read(text);
    assert_eq!(render(&diagnostics, &sources, false), "");
    checked("test.loom", text, &file)
}

#[test]
fn every_loom_file_of_the_repository_is_formatted() {
    for (name, text) in corpus() {
        let (sources, _, file, diagnostics) = read(&text);
        assert_eq!(
            render(&diagnostics, &sources, false),
            "",
            "{name} has mistakes"
        );
        assert_eq!(checked(&name, &text, &file), text, "run `loom fmt {name}`");
    }
}

#[test]
fn mutations_of_every_file_are_read_without_a_panic_and_formatted_without_a_loss() {
    let (mut whole, mut broken) = (0, 0);
    for (name, text) in corpus() {
        for seed in 0..40 {
            let text = mutate(&text, seed);
            let place = format!("{name}, seed {seed}");
            eprintln!("{place}");
            let (sources, _, file, diagnostics) = read(&text);
            if diagnostics.is_empty() {
                whole += 1;
                checked(&place, &text, &file);
            } else {
                broken += 1;
                let rendered = render(&diagnostics, &sources, false);
                assert!(rendered.contains("error["), "{place}: {rendered}");
            }
        }
    }
    assert!(
        whole > 20 && broken > 20,
        "{whole} whole, {broken} broken: both kinds are tried"
    );
}

/// Puts in, takes out and doubles a few stretches; some seeds only touch white space.
fn mutate(text: &str, seed: u64) -> String {
    const SPACE: &[&str] = &[
        " ",
        "\n",
        "\t",
        "  ",
        "\n\n\n",
        " // why\n",
        "\n//= rfc1#2\n",
        "",
    ];
    const WORDS: &[&str] = &[
        "{", "}", "(", ")", "[", "]", "<", ">", ",", ";", "=", "==", "else", "if a {", "with {",
        "0x", "99.9%", "\"", "/*", "é", "on x ", "let y = ", " find ", "..", ".", "-", "not ",
        "///",
    ];
    let mut random = fastrand::Rng::with_seed(seed);
    let mut text = text.to_owned();
    let only_space = random.bool();
    for _ in 0..random.usize(1..8) {
        let places: Vec<usize> = text
            .char_indices()
            .filter(|(_, c)| !only_space || *c == ' ' || *c == '\n')
            .map(|(at, _)| at)
            .collect();
        let Some(&at) = random.choice(&places) else {
            break;
        };
        let end = places
            .iter()
            .copied()
            .find(|end| *end > at + random.usize(0..20))
            .unwrap_or(at);
        match random.usize(0..4) {
            _ if only_space => {
                let new = random.choice(SPACE).expect("there is white space");
                text.insert_str(at, new);
            }
            0 => text.replace_range(at..end, ""),
            1 => text = format!("{}{}", &text[..end], &text[at..]),
            _ => text.insert_str(at, random.choice(WORDS).expect("there are words")),
        }
    }
    text
}

#[test]
fn white_space_is_put_right() {
    let text = "\
worker  w( a:u8 ,b : u16=3 )\r
\r
\r
on send( message )
{

\tif a==- 1
\t{ x = a-1 }

\telse
\t{
\t  send message with {b=~ 2,}

\t}
}";
    let expected = "\
worker w(a: u8, b: u16 = 3)

on send(message) {
    if a == -1 { x = a - 1 } else {
        send message with { b = ~2 }
    }
}
";
    assert_eq!(formatted(text), expected);
}

#[test]
fn comments_behind_code_keep_their_column_or_stay_together() {
    let text = "\
entity {
  a: u8       // one
  long_name: queue<message>[3]  // two, in a column of its own

  b:u8 // right behind
  c:   u16    // together
  d:    u1    // with this
}
";
    let expected = "\
entity {
    a: u8     // one
    long_name: queue<message>[3]  // two, in a column of its own

    b: u8 // right behind
    c: u16    // together
    d: u1     // with this
}
";
    assert_eq!(formatted(text), expected);
}

#[test]
fn what_is_too_long_is_broken_where_it_reads_best() {
    let text = "\
on deliver(message) {
    let found = find neighbour(header.sender) else create neighbour(header.sender) else drop message as full
    send new message with { neighbour = header.sender_mac, operation = reply, target = header.sender }
    if header.number == expected_number likely 99% { deliver message } else { drop message as unexpected }
}
";
    let expected = "\
on deliver(message) {
    let found = find neighbour(header.sender)
        else create neighbour(header.sender)
        else drop message as full
    send new message with { neighbour = header.sender_mac, operation = reply, target = header.sender }
    if header.number == expected_number likely 99% {
        deliver message
    } else {
        drop message as unexpected
    }
}
";
    let short = text.replace("operation = reply", "op = reply");
    assert_eq!(
        formatted(&short),
        expected.replace("operation = reply", "op = reply")
    );
    let broken = "\
    send new message with {
        neighbour = header.sender_mac
        operation = reply_to_all
        target = header.sender
    }
";
    let long = text.replace("operation = reply", "operation = reply_to_all");
    assert!(formatted(&long).contains(broken), "{}", formatted(&long));
}

#[test]
fn keys_of_neighbouring_nodes_stand_in_one_column() {
    let text = "stack s { link l { a {\nkey 1 b { port x }\nkey 170 c { port y } } } }";
    let expected = "\
stack s {
    link l {
        a {
            key 1   b { port x }
            key 170 c { port y }
        }
    }
}
";
    assert_eq!(formatted(text), expected);
}

#[test]
fn a_comma_that_a_newline_cannot_replace_stays() {
    let text = "on a {\n    f(\n        b,\n        -c\n    )\n}\n";
    assert_eq!(formatted(text), text);
    let text = "header big {\n    a: u8 counts header,\n    data,\n    b: u8\n}\n";
    assert_eq!(
        formatted(text),
        "header big {\n    a: u8 counts header, data\n    b: u8\n}\n"
    );
}
