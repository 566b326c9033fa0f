//! What the book shows is so: its Loom is checked, its commands are run, its links lead somewhere.
//!
//! In: the pages of `book/src`. Out: every block that is otherwise than it says. How a block is
//! marked says what must be true of it:
//!
//! | mark | |
//! |---|---|
//! | `loom` | is right: a file as it stands; else a part of a layer, which is put into one |
//! | `loom,ID` | gives the diagnostic ID, and no other |
//! | `esterel`, `esterel,ID` | is right; gives the diagnostic ID, and no other |
//! | `estelle`, `estelle,ID` | the same for Estelle |
//! | `loom,file=PATH`, `c,…`, `esterel,…`, … | is written to a file where the page is played |
//! | `tree`, `tree,woven` | is a tree of the project that `loom new` makes |
//! | `console` | commands behind `$ `, and what they print; `...` stands for any lines |
//! | `console,stays` | the last of its commands goes on while the page does |
//!
//! What is marked as `text`, `toml` or `ebnf` is for people alone. A comment
//! `<!-- around: TEXT -->` before a block of Loom says what is around it, and where.

#[path = "book/pages.rs"]
mod pages;
#[path = "book/player.rs"]
mod player;
// Other tests ask more of it.
#[allow(dead_code)]
#[path = "commands/shell.rs"]
mod shell;

use pages::{Block, Page};
use player::Player;
use stackloom::diagnostic::render;
use stackloom::pipeline;
use stackloom::source::Sources;
use stackloom::tool::library::Folders;
use stackloom::tree::rewrites::{ORDER, Rewrites};
use stackloom::tree::text;
use stackloom::types::estelle::Settings;
use std::path::Path;

/// Pages that are read, and done, one behind the other.
const TOUR: [&str; 4] = [
    "tour/start.md",
    "tour/layer.md",
    "tour/own.md",
    "tour/wire.md",
];

#[test]
fn rewrites_are_those_of_the_compiler_in_their_order() {
    let rows = ORDER.map(|it| {
        let [letter, name, what, paper, after] =
            [&it.letter.to_string(), it.name, it.what, it.paper, it.after];
        format!("| {letter} | `{name}` | {what} | {paper} | {after} |\n")
    });
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("book/src/adding_a_pass.md");
    let page = std::fs::read_to_string(path).expect("the page can be read");
    let table = rows.concat();
    assert!(
        page.contains(&format!("|---|---|---|---|---|\n{table}\n")),
        "\n{table}"
    );
}

#[test]
fn all_loom_in_the_book_is_as_it_is_said_to_be() {
    let mut wrong = Vec::new();
    let mut checked = 0;
    for page in pages::all() {
        for block in page.blocks.iter().filter(|block| block.language == "loom") {
            if block.file().is_none() {
                checked += 1;
                wrong.extend(
                    wrong_with(block).map(|says| format!("{}: {says}", place(&page, block))),
                );
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n\n"));
    assert!(checked > 10, "only {checked} blocks of Loom");
}

/// What a block gives that it should not.
fn wrong_with(block: &Block) -> Option<String> {
    let text = whole(block);
    let search = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("layers")];
    let root = vec![("block.loom".to_string(), text.clone())];
    let mut checked = pipeline::read(root, &Folders { search });
    pipeline::check(&mut checked);
    let found = &checked.diagnostics;
    let expected = block.marks.first().map(String::as_str);
    let as_expected = match expected {
        // A part of a layer may lack what reads its fields.
        None => !pipeline::refused(found),
        Some(id) => !found.is_empty() && found.iter().all(|one| one.id.name() == id),
    };
    let says = render(found, &checked.sources, false);
    (!as_expected).then(|| format!("expected {expected:?}\n{says}\nof\n{text}"))
}

#[test]
fn all_esterel_in_the_book_is_as_it_is_said_to_be() {
    let mut checked = 0;
    for page in pages::all() {
        for block in page
            .blocks
            .iter()
            .filter(|block| block.language == "esterel")
        {
            let mut sources = Sources::new();
            let named = ("block.strl".to_string(), block.text.clone());
            let (_, found) = pipeline::esterel(&mut sources, named, None, 10_000);
            let mut marks = block.marks.iter();
            let expected = marks.find(|mark| !mark.contains('='));
            let found_ids: Vec<&str> = found.iter().map(|one| one.id.name()).collect();
            let expected: Vec<&str> = expected.iter().map(|id| id.as_str()).collect();
            let says = || render(&found, &sources, false);
            assert_eq!(found_ids, expected, "{}\n{}", place(&page, block), says());
            checked += 1;
        }
    }
    assert!(checked > 5, "only {checked} blocks of Esterel");
}

#[test]
fn all_estelle_in_the_book_is_as_it_is_said_to_be() {
    let mut checked = 0;
    for page in pages::all() {
        let mut blocks = page.blocks.iter();
        while let Some(block) = blocks.find(|block| block.language == "estelle") {
            let mut sources = Sources::new();
            let named = ("block.stl".to_string(), block.text.clone());
            let (_, found) = pipeline::estelle(&mut sources, named, &Settings::default());
            let mut marks = block.marks.iter();
            let expected = marks.find(|mark| !mark.contains('='));
            let found_ids: Vec<&str> = found.iter().map(|one| one.id.name()).collect();
            let expected: Vec<&str> = expected.iter().map(|id| id.as_str()).collect();
            let says = render(&found, &sources, false);
            assert_eq!(found_ids, expected, "{}\n{says}", place(&page, block));
            checked += 1;
        }
    }
    assert!(checked > 0, "no block of Estelle");
}

/// A block as a file. What declares no layer, service or stack stands in a layer.
fn whole(block: &Block) -> String {
    const BEGIN: [&str; 6] = [
        "worker ",
        "multiplexor ",
        "router ",
        "service ",
        "stack ",
        "use ",
    ];
    if let Some(around) = &block.around {
        return around.replace("...", &block.text);
    }
    let begins = |line: &str| BEGIN.iter().any(|word| line.starts_with(word));
    match block.text.lines().any(begins) {
        true => block.text.clone(),
        false => format!("worker shown\n\n{}", block.text),
    }
}

#[test]
fn trees_are_those_of_a_new_project() {
    let path = "src/tool/project/NAME.loom";
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join(path)).expect("the project is in the repository");
    let search = vec![root.join("src/tool/project"), root.join("layers")];
    let mut checked = pipeline::read(vec![(path.to_string(), text)], &Folders { search });
    let (mut program, plain) = pipeline::trees(&mut checked, "NAME").expect("it is a stack");
    let woven = pipeline::woven(&mut program, plain.clone(), Rewrites::ALL);
    let [plain, woven] = [plain, woven].map(|forest| text::write(&program, &forest));
    for page in pages::all() {
        for block in page.blocks.iter().filter(|block| block.language == "tree") {
            let is_woven = block.marks.iter().any(|mark| mark == "woven");
            let all = if is_woven { &woven } else { &plain };
            assert!(all.contains(&block.text), "{}\n{all}", place(&page, block));
        }
    }
}

#[test]
fn the_tour_can_be_followed() {
    let mut player = Player::new();
    for name in TOUR {
        player.play(&pages::page(name));
    }
    player.end();
}

/// Pages that are done by themselves.
const ALONE: [&str; 11] = [
    "adding_a_pass.md",
    "adaptive.md",
    "c.md",
    "estelle.md",
    "esterel.md",
    "language/processes.md",
    "language/stacks.md",
    "processes.md",
    "simulate.md",
    "whole.md",
    "windows.md",
];

#[test]
fn the_page_of_c_can_be_followed() {
    let mut player = Player::new();
    player.play(&pages::page("c.md"));
    player.end();
}

#[test]
fn the_host_of_the_book_is_that_of_a_new_project() {
    let page = pages::page("c.md");
    let mut hosts = page.blocks.iter();
    let host = hosts.find(|block| block.file() == Some("host.c"));
    let own = include_str!("../src/tool/project/host.c");
    let own = own.replace("CAPITALS", "BEEP").replace("NAME", "beep");
    assert_eq!(host.expect("the page shows it").text, own);
}

#[test]
fn the_page_of_passes_can_be_followed() {
    let mut player = Player::new();
    player.play(&pages::page("adding_a_pass.md"));
    player.end();
}

#[test]
fn the_page_of_networks_can_be_followed() {
    let mut player = Player::new();
    player.play(&pages::page("simulate.md"));
    player.end();
}

#[test]
fn the_page_of_a_whole_stack_can_be_followed_and_shows_that_of_the_bench() {
    let page = pages::page("whole.md");
    assert_eq!(page.blocks[0].text, include_str!("../bench/whole.loom"));
    let mut player = Player::new();
    player.play(&page);
    player.end();
}

#[test]
fn the_page_of_estelle_can_be_followed() {
    let mut player = Player::new();
    player.play(&pages::page("estelle.md"));
    player.end();
}

#[test]
fn the_page_of_processes_can_be_followed() {
    let mut player = Player::new();
    player.play(&pages::page("processes.md"));
    player.end();
}

#[test]
fn the_page_of_processes_in_a_layer_can_be_followed() {
    let mut player = Player::new();
    player.play(&pages::page("language/processes.md"));
    player.end();
}

#[test]
fn the_page_of_stacks_can_be_followed() {
    let mut player = Player::new();
    player.play(&pages::page("language/stacks.md"));
    player.end();
}

#[test]
fn the_page_of_windows_can_be_followed() {
    let mut player = Player::new();
    player.play(&pages::page("windows.md"));
    player.end();
}

#[test]
fn the_page_of_adaptive_protocols_can_be_followed_and_shows_the_mismatch() {
    let page = pages::page("adaptive.md");
    let trace = page.blocks.iter().find(|block| block.language == "text");
    let trace = &trace.expect("it shows a trace").text;
    assert_eq!(trace, include_str!("boosters/mismatch.txt"));
    let mut player = Player::new();
    player.play(&page);
    player.end();
}

#[test]
fn the_page_of_esterel_can_be_followed() {
    let mut player = Player::new();
    player.play(&pages::page("esterel.md"));
    player.end();
}

#[test]
fn the_c_of_processes_is_what_the_compiler_makes_of_them() {
    let page = pages::page("language/processes.md");
    let text = |language| page.blocks.iter().find(|block| block.language == language);
    let [stack, c] = ["loom", "c"].map(|language| &text(language).expect("it shows both").text);
    let root = vec![("watched.loom".to_string(), stack.clone())];
    let mut checked = pipeline::read(root, &Folders { search: Vec::new() });
    let compiled = pipeline::compile(&mut checked, "watched", "watched");
    let code = compiled.expect("it is a stack").code;
    assert!(code.c.contains(c.as_str()), "{}", code.c);
}

#[test]
fn every_page_is_in_the_summary_and_every_link_leads_somewhere() {
    let all = pages::all();
    let summary = pages::page("SUMMARY.md");
    let listed: Vec<String> = summary.links();
    for page in all.iter().filter(|page| page.name != "SUMMARY.md") {
        assert!(listed.contains(&page.name), "{} is not listed", page.name);
    }
    for page in &all {
        for link in page.links() {
            let file = pages::root().join(&link);
            assert!(file.is_file(), "{}: {link} leads nowhere", page.name);
        }
    }
}

#[test]
fn every_block_says_what_it_is() {
    const KNOWN: [&str; 9] = [
        "loom", "esterel", "estelle", "c", "console", "tree", "text", "toml", "ebnf",
    ];
    for page in pages::all() {
        for block in &page.blocks {
            let known = KNOWN.contains(&block.language.as_str());
            assert!(known, "{}: what is this?", place(&page, block));
        }
    }
}

#[test]
fn every_page_with_commands_is_played() {
    for page in pages::all() {
        let runs = page.blocks.iter().any(|block| block.language == "console");
        let name = page.name.as_str();
        let played = TOUR.contains(&name) || ALONE.contains(&name);
        assert!(
            !runs || played,
            "{} shows commands that nobody runs",
            page.name
        );
    }
}

#[test]
fn a_block_that_is_not_as_it_says_is_found() {
    let found = |text: &str| {
        let page = Page::read("page.md", text);
        wrong_with(&page.blocks[0]).is_some()
    };
    let leaks = "on deliver(message) { count lost }\n```\n";
    assert!(found(&format!("```loom\n{leaks}")));
    assert!(!found(&format!("```loom,message-leaked\n{leaks}")));
    assert!(found(&format!("```loom,missing-reason\n{leaks}")));
    assert!(found("```loom,message-leaked\nconst a = 1\n```\n"));
    assert!(!found("```loom\nconst a = 1\n```\n"));
    let around = "<!-- around: worker w\nentity { a: u8 ... } -->\n";
    assert!(!found(&format!("{around}```loom\n= 1\n```\n")));
    assert!(found(&format!("{around}```loom\n= b\n```\n")));
}

#[test]
fn a_command_that_prints_something_else_is_found() {
    let differs = |text: &str| {
        let page = Page::read("page.md", text);
        let mut player = Player::new();
        player.difference(&page.blocks[0]).is_some()
    };
    assert!(!differs(
        "```console\n$ printf 'a\\nb\\nc\\n'\na\n...\nc\n```\n"
    ));
    assert!(differs("```console\n$ echo a\nb\n```\n"));
    assert!(differs("```console\n$ echo a\n```\n"));
    assert!(!differs("```console\n$ echo a >&2; false\na\n```\n"));
}

fn place(page: &Page, block: &Block) -> String {
    format!("{}:{}", page.name, block.line)
}
