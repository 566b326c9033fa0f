//! The stacks of this repository, put together from their texts.

use stackloom::diagnostic::Diagnostic;
use stackloom::source::Sources;
use stackloom::tool::library::{Folders, standard};
use stackloom::types::load::load;
use stackloom::types::program::{EntityId, Event, Function, Program};
use stackloom::types::{check_layers, check_stack};
use std::collections::BTreeMap;
use std::path::PathBuf;

const EXAMPLES: [&str; 5] = [
    "examples/dual/dual.loom",
    "examples/host/host.loom",
    "examples/ping/ping.loom",
    "examples/radio/two_ways.loom",
    "examples/telemetry/telemetry.loom",
];

/// What is wrong, one line each.
fn told(sources: &Sources, diagnostics: &[Diagnostic]) -> Vec<String> {
    let line = |diagnostic: &Diagnostic| {
        let span = diagnostic.primary.span;
        let place = sources.position(span);
        let (id, title) = (diagnostic.id.name(), &diagnostic.title);
        let file = sources.name(span.file);
        let label = &diagnostic.primary.text;
        format!(
            "{file}:{}:{}: {id}: {title} [{label}]",
            place.line, place.column
        )
    };
    diagnostics.iter().map(line).collect()
}

fn stack(file: &str, name: &str) -> (Option<Program>, Vec<String>) {
    let mut sources = Sources::new();
    let text = std::fs::read_to_string(file).expect("an example");
    let root = vec![(file.to_string(), text)];
    let library = Folders {
        search: vec![PathBuf::from("layers")],
    };
    let (files, mut diagnostics) = load(&mut sources, root, &library);
    let (program, found) = check_stack(&sources, &files, name);
    diagnostics.extend(found);
    (program, told(&sources, &diagnostics))
}

#[test]
fn the_host_is_put_together() {
    let (program, told) = stack("examples/host/host.loom", "host");
    assert_eq!(told, [""; 0]);
    let program = program.expect("nothing is wrong with it");
    let names: Vec<_> = program.entities.iter().map(|it| &*it.name).collect();
    let expected = [
        "ethernet", "arp", "ipv4", "echoes", "icmp", "fragment", "udp",
    ];
    assert_eq!(names, expected);
    let ipv4 = &program.entities[2];
    assert_eq!(
        program.headers[ipv4.header.expect("it has one").at()].least,
        20
    );
    assert!(ipv4.mark.is_some(), "icmp restores what ipv4 stripped");
    assert!(program.entities[6].mark.is_none());
    let arp = &program.entities[1];
    assert_eq!(
        (arp.users.as_slice(), arp.beside.len()),
        (&[EntityId(2)][..], 3)
    );
    let config: Vec<_> = program.config.iter().map(|it| &*it.name).collect();
    assert_eq!(config, ["mac", "address", "prefix", "gateway"]);
    assert_eq!(program.ports[0].opens, Some(program.entities[6].session));
    assert!(program.links[0].carrier.is_some());
}

/// Words that mean something somewhere.
const WORDS: [&str; 24] = [
    "message", "header", "session", "entity", "0", "65536", "none", "peer", "address", "kind",
    "next", "(", ")", "{", "}", "[4]", "u8", "bytes", "find", "else", "with", "counts", "key 1",
    "\n",
];

/// One of the texts with a few of its words left out, doubled, or put in place of another.
fn broken(texts: &BTreeMap<String, String>, seed: u64) -> BTreeMap<String, String> {
    let mut state = seed;
    let mut draw = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below.max(1)
    };
    let mut texts = texts.clone();
    let chosen = draw(texts.len());
    let name = texts.keys().nth(chosen).expect("it is one of them").clone();
    let text = &texts[&name];
    let code = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("///"));
    let code = code.collect::<Vec<_>>().join("\n");
    let mut words: Vec<&str> = code.split_inclusive([' ', '\n', '(', '.', ')']).collect();
    for _ in 0..=draw(3) {
        let (place, other) = (draw(words.len()), draw(words.len()));
        match draw(5) {
            0 => {
                words.remove(place);
            }
            1 => words.insert(place, words[other]),
            2 => words[place] = words[other],
            3 => words[place] = WORDS[draw(WORDS.len())],
            _ => words.swap(place, other),
        }
        if words.is_empty() {
            break;
        }
    }
    let text = words.concat();
    texts.insert(name, text);
    texts
}

#[test]
fn broken_programs_are_refused_and_never_break_the_compiler() {
    let mut texts = standard();
    for path in EXAMPLES {
        let text = std::fs::read_to_string(path).expect("an example");
        texts.insert(path.to_string(), text);
    }
    let rounds = std::env::var("ROUNDS")
        .ok()
        .and_then(|text| text.parse().ok());
    let mut refused = 0;
    let rounds = rounds.unwrap_or(60);
    for seed in 0..rounds {
        let texts = broken(&texts, seed);
        println!("seed {seed}");
        for path in EXAMPLES
            .iter()
            .copied()
            .chain(["network/icmp.loom", "boost/arq.loom"])
        {
            let root = vec![(path.to_string(), texts[path].clone())];
            let mut sources = Sources::new();
            let (files, diagnostics) = load(&mut sources, root, &texts);
            refused += usize::from(!diagnostics.is_empty());
            check_layers(&sources, &files);
            for stack in &files.unit(files.root()).stacks {
                let (program, found) = check_stack(&sources, &files, &stack.name.text);
                refused += usize::from(!found.is_empty());
                assert!(
                    program.is_some() || !found.is_empty(),
                    "refused without a word"
                );
            }
        }
    }
    assert!(refused as u64 > rounds / 4, "only {refused} were refused");
}

#[test]
fn what_a_layer_does_not_handle_passes_through_it() {
    let (program, told) = stack("examples/telemetry/telemetry.loom", "station");
    assert_eq!(told, [""; 0]);
    let program = program.expect("nothing is wrong with it");
    let handles = |entity: &str, name: &str| {
        let handlers = program.handlers.iter().filter(|handler| {
            let kind = &program.kinds[handler.kind.at()];
            program.entities[kind.entity.at()].name == entity
        });
        let notices = handlers.filter_map(|handler| match handler.event {
            Event::Notice(notice) => Some(&*program.notices[notice.at()].name),
            _ => None,
        });
        notices.filter(|known| *known == name).count()
    };
    assert_eq!(handles("whole", "mtu"), 1, "udp hears of it");
    assert_eq!(handles("echoes", "mtu"), 0, "icmp does not");
    assert_eq!(
        handles("telemetry", "mtu"),
        1,
        "the application hears of it"
    );
    assert_eq!(handles("telemetry", "failed"), 1);
    let promised = |it: &&Function| it.name == "pseudo_sum";
    let made = program.functions.iter().filter(promised).count();
    assert_eq!(
        made, 3,
        "one of the layer itself, and one for each session that is asked"
    );
}

#[test]
fn fields_lie_where_the_wire_has_them() {
    let text = "\
worker odd

header little {
    low: u3 = 1
    high: u5 = 2
    wide: u16 = 3
    size: u8 counts low..rest
    rest: bytes
    last: u16 = 4
}

on deliver(message) { deliver message }
on send(message) { send message }

stack short {
    link cable { odd { port messages } }
}
";
    let mut sources = Sources::new();
    let root = vec![("odd.loom".to_string(), text.to_string())];
    let (files, diagnostics) = load(&mut sources, root, &BTreeMap::new());
    assert_eq!(told(&sources, &diagnostics), [""; 0]);
    let (program, diagnostics) = check_stack(&sources, &files, "short");
    assert_eq!(told(&sources, &diagnostics), [""; 0]);
    let header = &program.expect("nothing is wrong with it").headers[0];
    assert_eq!((header.big, header.least, header.most), (false, 6, 6));
    let places = header.fields.iter().map(|field| {
        let behind = field.behind.iter().map(|id| id.at()).collect::<Vec<_>>();
        (&*field.name, field.bit, field.width, behind)
    });
    let expected = [
        ("low", 0, 3, vec![]),
        ("high", 3, 5, vec![]),
        ("wide", 8, 16, vec![]),
        ("size", 24, 8, vec![]),
        ("rest", 32, 0, vec![]),
        ("last", 32, 16, vec![4]),
    ];
    assert_eq!(places.collect::<Vec<_>>(), expected);
}
