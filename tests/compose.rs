//! The stacks of this repository, put together from their texts.

use stackloom::diagnostic::Diagnostic;
use stackloom::source::Sources;
use stackloom::types::load::load;
use stackloom::types::program::{EntityId, Program};
use stackloom::types::{check_layers, check_stack};
use std::collections::BTreeMap;
use std::path::Path;

/// All files of the library, by the path under which they are used.
fn library() -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    let mut folders = vec![Path::new("layers").to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the library is there") {
            let path = entry.expect("its entries can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "loom") {
                let text = std::fs::read_to_string(&path).expect("a text");
                let name = path.strip_prefix("layers").expect("found there");
                texts.insert(name.to_string_lossy().replace('\\', "/"), text);
            }
        }
    }
    texts
}

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
    let (files, mut diagnostics) = load(&mut sources, root, &library());
    let (program, found) = check_stack(&sources, &files, name);
    diagnostics.extend(found);
    (program, told(&sources, &diagnostics))
}

#[test]
fn every_layer_of_the_library_is_right_by_itself() {
    let library = library();
    for (name, text) in &library {
        let mut sources = Sources::new();
        let root = vec![(name.clone(), text.clone())];
        let (files, mut diagnostics) = load(&mut sources, root, &library);
        diagnostics.extend(check_layers(&sources, &files));
        assert_eq!(told(&sources, &diagnostics), [""; 0], "{name}");
    }
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
        (&[EntityId(2)][..], 1)
    );
    let config: Vec<_> = program.config.iter().map(|it| &*it.name).collect();
    assert_eq!(config, ["mac", "address", "prefix", "gateway"]);
    assert_eq!(program.ports[0].opens, Some(program.entities[6].session));
    assert!(program.links[0].carrier.is_some());
}

#[test]
fn the_other_examples_are_put_together() {
    let examples = [
        ("examples/radio/radio.loom", "radio"),
        ("examples/radio/two_ways.loom", "two_ways"),
        ("examples/telemetry/telemetry.loom", "station"),
    ];
    for (file, name) in examples {
        let (program, told) = stack(file, name);
        assert_eq!(told, [""; 0], "{file}");
        assert!(program.is_some(), "{file}");
    }
}
