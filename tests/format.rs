//! Formatting keeps the tree and every comment, and does nothing to what is formatted: for every
//! Loom file of the repository, and for what seeded mutations make of it. No text makes the parser
//! panic. `ROUNDS` says how many mutations of each file there are, if forty are too few.

use std::path::Path;
use std::{env, fs};

use stackloom::diagnostic::{Diagnostic, render};
use stackloom::source::Sources;
use stackloom::syntax::loom::ast::File;
use stackloom::syntax::loom::{format, parse};

#[test]
fn every_loom_file_of_the_repository_is_formatted() {
    for (name, text) in corpus() {
        let (sources, file, diagnostics) = read(&text);
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
    let rounds = env::var("ROUNDS").map_or(40, |rounds| rounds.parse().expect("a number"));
    let (mut whole, mut broken) = (0, 0);
    for (name, text) in corpus() {
        for seed in 0..rounds {
            let text = mutate(&text, seed);
            let place = format!("{name}, seed {seed}");
            // Of a panic within, this line tells where it began.
            println!("{place}");
            let (sources, file, diagnostics) = read(&text);
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

/// Formats a text without mistakes, and checks all that must hold of the result.
fn checked(name: &str, text: &str, file: &File) -> String {
    let formatted = format(file, text);
    let (sources, again, diagnostics) = read(&formatted);
    let mistakes = render(&diagnostics, &sources, false);
    assert_eq!(
        mistakes, "",
        "{name}: formatting made mistakes\n{text}\n---\n{formatted}"
    );
    assert!(
        shape(file) == shape(&again),
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

fn read(text: &str) -> (Sources, File, Vec<Diagnostic>) {
    let mut sources = Sources::new();
    let id = sources.add("test.loom", text);
    let (file, diagnostics) = parse(id, &sources);
    (sources, file, diagnostics)
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

/// Where there are no strings, `//` always begins a comment.
fn comments(text: &str) -> Vec<&str> {
    text.lines()
        .filter_map(|line| line.find("//").map(|at| line[at..].trim_end()))
        .collect()
}

/// Every Loom file of the repository, by its path.
fn corpus() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("layers"), root.join("examples")];
    let mut corpus = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the repository has layers and examples") {
            let path = entry.expect("the folder can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| extension == "loom")
            {
                let text = fs::read_to_string(&path).expect("Loom files are UTF-8");
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
