//! fmt, check, explain.

use super::shell::Shell;

const UGLY: &str = "worker  pass\non deliver(message){deliver message}\n\
                    on send(message){send message}\n";
const BROKEN: &str = "worker pass\non deliver(message { deliver message }\n";

#[test]
fn formatting_twice_changes_nothing_more() {
    let shell = Shell::new();
    shell.write("a/ugly.loom", UGLY);
    shell.write("a/b/ugly.loom", UGLY);
    shell.write("a/notes.txt", UGLY);
    let would = shell.loom(&["fmt", "--check", "a"]);
    assert_eq!(would.status, Some(1), "{}", would.note);
    assert_eq!(
        would.result,
        "would change a/b/ugly.loom\nwould change a/ugly.loom\n"
    );
    assert_eq!(shell.read("a/ugly.loom"), UGLY);
    let changed = shell.loom(&["fmt", "a"]).fine();
    assert_eq!(changed, "changed a/b/ugly.loom\nchanged a/ugly.loom\n");
    let pretty = shell.read("a/ugly.loom");
    assert_ne!(pretty, UGLY);
    assert_eq!(shell.loom(&["fmt", "a"]).fine(), "");
    shell.loom(&["fmt", "--check", "a"]).fine();
    assert_eq!(shell.read("a/ugly.loom"), pretty);
    assert_eq!(shell.read("a/notes.txt"), UGLY);
    shell.loom(&["check", "a/ugly.loom"]).fine();
}

#[test]
fn what_cannot_be_read_stays_as_it_is_and_the_rest_is_formatted() {
    let shell = Shell::new();
    shell.write("a/broken.loom", BROKEN);
    shell.write("a/bytes.loom", [b'w', 0xff]);
    shell.write("a/ugly.loom", UGLY);
    let said = shell.loom(&["fmt", "a"]);
    assert_eq!(said.result, "changed a/ugly.loom\n");
    said.failed(
        1,
        &[
            "error[",
            "a/broken.loom:2:",
            "a/bytes.loom: byte 1 is not UTF-8",
        ],
    );
    assert_eq!(shell.read("a/broken.loom"), BROKEN);
    assert_eq!(
        std::fs::read(shell.path("a/bytes.loom")).unwrap(),
        [b'w', 0xff]
    );
    shell
        .loom(&["fmt", "a/nothing.loom"])
        .failed(2, &["a/nothing.loom: No such file"]);
}

#[cfg(unix)]
#[test]
fn a_folder_that_leads_to_itself_is_formatted_once() {
    let shell = Shell::new();
    shell.write("a/ugly.loom", UGLY);
    std::os::unix::fs::symlink(shell.path("a"), shell.path("a/again")).unwrap();
    assert_eq!(shell.loom(&["fmt", "a"]).fine(), "changed a/ugly.loom\n");
}

#[test]
fn a_file_of_a_layer_is_checked_with_the_others() {
    let shell = Shell::new();
    let layer = "worker pair\non deliver(message) {\n    seen += 1\n    deliver message\n}\n";
    shell.write("pair/pair.loom", layer);
    shell.write("pair/state.loom", "entity { seen: u32 = 0 }\n");
    let whole = "no errors, together with the other files of pair\n";
    for path in ["pair/pair.loom", "pair/state.loom"] {
        let said = shell.loom(&["check", path]).fine();
        assert_eq!(said, format!("{path}: {whole}"));
    }
    shell.write("pair/state.loom", "entity { sen: u32 = 0 }\n");
    let alone = shell.loom(&["check", "pair/pair.loom"]);
    alone.failed(1, &["there is no value `seen` here"]);
}

#[test]
fn processes_past_the_budget_are_refused_by_name() {
    let shell = Shell::new();
    let text = include_str!("../c_agrees/stacks/watching.loom");
    shell.write("watching.loom", text);
    for arguments in [
        &["check", "watching.loom"][..],
        &["build", "watching.loom", "-o", "out"],
    ] {
        shell.loom(arguments).fine();
        let less = [arguments, &["--budget", "3"]].concat();
        let said = shell.loom(&less);
        assert_eq!(said.status, Some(1), "{arguments:?} {}", said.note);
        let says = "error[automaton-too-large]: the automaton of `watch.session` is too large";
        assert!(said.note.starts_with(says), "{arguments:?} {}", said.note);
    }
}

#[test]
fn one_check_tells_all_that_is_wrong_with_all_files() {
    let shell = Shell::new();
    shell.write("fine.loom", UGLY);
    shell.write("empty.loom", "");
    let two = "worker two\non deliver(message) { delver message }\n\
               on send(message) { drop message }\n";
    shell.write("two.loom", two);
    let leaks = "worker leaks\non deliver(message) { let n = 1 }\n\
                 on send(message) { send message }\n";
    shell.write("leaks.loom", leaks);
    let said = shell.loom(&[
        "check",
        "two.loom",
        "fine.loom",
        "nothing.loom",
        "leaks.loom",
    ]);
    assert_eq!(said.result, "fine.loom: no errors: layer pass\n");
    let places = [
        "two.loom:2:",
        "two.loom:3:",
        "leaks.loom:2:",
        "nothing.loom: No such file",
    ];
    let note = said.failed(2, &places);
    assert!(note.matches("error[").count() >= 3, "{note}");
    shell
        .loom(&["check", "two.loom"])
        .failed(1, &["did you mean `deliver`?"]);
    assert_eq!(
        shell.loom(&["check", "empty.loom"]).fine(),
        "empty.loom: no errors\n"
    );
}

#[test]
fn every_diagnostic_is_explained_and_a_misspelt_one_is_guessed() {
    let shell = Shell::new();
    let all = shell.loom(&["explain"]).fine();
    assert!(all.lines().count() > 60, "{all}");
    for id in all.lines().step_by(9).chain(["message-leaked"]) {
        let said = shell.loom(&["explain", id]).fine();
        assert!(
            said.starts_with(&format!("{id}: ")) && said.ends_with(".\n"),
            "{said}"
        );
    }
    shell
        .loom(&["explain", "mesage-leaked"])
        .failed(2, &["did you mean `message-leaked`?"]);
    shell
        .loom(&["explain", "everything"])
        .failed(2, &["`loom explain` lists all ids"]);
}

#[test]
fn a_slot_is_explained_by_what_its_layers_add() {
    let shell = Shell::new();
    shell.write(
        "many.loom",
        "use boost.arq\nuse boost.hamming\nuse boost.parity\nuse boost.reed_solomon\n\
         stack many { link radio(mtu = 1600) { slot repair(protected = true) {\n\
         off\nhamming\nreed_solomon(parity = 32) as strong\nparity(k = 8, r = 2)\narq\n\
         } { port messages } } }\n",
    );
    let said = shell.loom(&["explain", "many.loom"]).fine();
    let lines: Vec<&str> = said.lines().take(7).collect();
    let expected = [
        "slot repair: adds 2 bytes; frames of up to 1,600 bytes",
        "  bytes of a message             64     512   1,400  longest",
        "   0 off                         64     512   1,400    1,600",
        "   1 hamming                    118     902       -      848",
        "   2 strong                     102     614       -    1,370",
        // two repair messages for each eight
        "   3 parity                      87     647   1,757    1,500",
        "   4 arq                         69     517   1,405    1,595",
    ];
    assert_eq!(lines, expected, "{said}");
}

#[test]
fn the_stack_ir_of_a_stack_is_read_again() {
    let shell = Shell::new();
    let root = env!("CARGO_MANIFEST_DIR");
    let stack = format!("{root}/examples/telemetry/telemetry.loom");
    let said = shell.loom(&["explain", &stack, "--after", "lower"]).fine();
    let module = stackloom::ir::text::read(&said).expect("what is printed is read");
    assert!(module.named("ethernet.arrive").is_some(), "{said}");
    assert!(said.contains("; layers/network/ipv4/ipv4.loom:"), "{said}");
    shell
        .loom(&["explain", &stack, "--after", "lowr"])
        .failed(1, &["there is no pass `lowr`; the passes are `lower`"]);
    let fast = "fast fn ethernet.arrive.fast(";
    let behind = |options: &[&str]| {
        let command = ["explain", &stack, "--after", "form-fast-path"];
        shell.loom(&[&command, options].concat())
    };
    assert!(behind(&[]).fine().contains(fast));
    assert!(behind(&["--without", "fold,sink"]).fine().contains(fast));
    let skipped = behind(&["--without", "form-fast-path"]).fine();
    assert!(!skipped.contains(fast));
    let before = ["explain", &stack, "--after", "straighten"];
    assert_eq!(skipped, shell.loom(&before).fine());
    let said = "there is no pass `fats`; the passes are `share-sides`";
    behind(&["--without", "fats"]).failed(2, &[said]);
    shell
        .loom(&["explain", "message-leaked", "--after", "lower"])
        .failed(1, &["`--after` needs a stack"]);
}

#[test]
fn a_stack_is_explained_by_what_it_mostly_does() {
    let shell = Shell::new();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let host = root.join("examples/host/host.loom");
    let said = shell
        .loom(&["explain", host.to_str().expect("the path is text")])
        .fine();
    let lines: Vec<&str> = said.lines().collect();
    // As `traffic` says, and each first by itself.
    let most = "   0.700  ethernet: on deliver";
    assert_eq!(lines[1], most, "{said}");
    assert!(said.contains("  udp.session: on send\n"), "{said}");
    let path = "the most frequent paths: ";
    let carried = lines.iter().find(|line| line.starts_with(path));
    let carried = carried.expect("there is a fast path");
    assert!(carried.contains(" paths carry 90."), "{said}");
    assert!(
        said.contains(" tests, ") && said.contains("arp.neighbour.wanted: "),
        "{said}"
    );
    shell
        .loom(&["explain", "nowhere.loom"])
        .failed(2, &["nowhere.loom"]);
}

#[test]
fn a_stack_is_told_what_rewrites_cost_and_what_they_left() {
    let shell = Shell::new();
    let stack = format!("{}/bench/udp.loom:offloaded", env!("CARGO_MANIFEST_DIR"));
    let all = shell.loom(&["explain", &stack]).fine();
    for said in [
        "  the layers as written\n",
        " I inline: the tree of what mostly follows stands in the leaf that lets it happen\n",
        " has a fast path: ",
        "tunnel_arrive has a fast path: ",
        "  tunnel.arrive.hit is tried before it: ",
        "  counters: `taken tunnel_arrive` for the path, ",
        "    ipv4.bad_version       layers/network/ipv4/ipv4.loom:31\n",
        "udp_session_send has a fast path: ",
        " joints were inlined, which saves ",
    ] {
        assert!(all.contains(said), "{said} is not in {all}");
    }
    let passed = |all: &str, row: &str| -> f64 {
        let line = all.lines().find(|line| line.contains(row)).expect("a row");
        let word = line.split_whitespace().nth(1).expect("a second column");
        word.parse().expect("a number")
    };
    assert!(passed(&all, " I inline") < passed(&all, "the layers as written"));
    let bare = shell
        .loom(&["explain", &stack, "--without", "I,form-fast-path"])
        .fine();
    assert!(!bare.contains(" I inline") && !bare.contains("has a fast path"));
}

#[test]
fn each_path_is_explained_by_its_conditions() {
    let shell = Shell::new();
    let stack = format!("{}/bench/udp.loom:offloaded", env!("CARGO_MANIFEST_DIR"));
    let said = shell.loom(&["explain", &stack, "--paths"]).fine();
    for row in [
        "tunnel_arrive: 2 fast functions, tried in this order\n  tunnel.arrive.hit\n",
        " % of its runs; ",
        "  tunnel.arrive.fast  the header equals that in the cache tunnel.expected\n",
        "  ipv4.bad_version       frame[0].bits(0..4) == 4  (layers/network/ipv4/ipv4.loom:31)\n",
        "  frame[16..20] == config.address  (",
        "      then a message for port datagrams\n",
        "udp_session_send: 1 fast function, tried in this order\n",
        "  network.ttl != 0  (",
        "      then a frame leaves by link tun\n",
    ] {
        assert!(said.contains(row), "{row} is not in {said}");
    }
    // The function that is tried first has a shorter guard than the next.
    let asked = said.lines().filter(|line| line.contains(" operations ask"));
    let asked = asked.filter_map(|line| line.split("; ").nth(1)?.split(' ').next()?.parse().ok());
    let asked: Vec<u32> = asked.collect();
    assert!(asked[0] < asked[2], "{said}");
    let bare = ["explain", &stack, "--paths", "--without", "form-fast-path"];
    let bare = shell.loom(&bare).fine();
    assert_eq!(bare, "no reaction of the stack has a fast path\n");
    let paths = |most: &str| {
        let said = shell.loom(&["explain", &stack, "--paths", "--fast-paths", most]);
        let said = said.fine();
        let paths = said
            .lines()
            .filter(|line| line.contains(" % of its runs; "));
        (paths.count(), said)
    };
    let (two, one, none) = (paths("2"), paths("1"), paths("0"));
    assert!(0 < one.0 && one.0 < two.0, "{}\n{}", one.1, two.1);
    assert_eq!(none.1, bare);
    shell
        .loom(&["explain", "message-leaked", "--paths"])
        .failed(1, &["`--paths` needs a stack"]);
    shell
        .loom(&["explain", &stack, "--paths", "--all"])
        .failed(2, &["--paths", "--all"]);
}

#[test]
fn what_became_of_joints_and_branches_is_said_of_each() {
    let shell = Shell::new();
    let stack = format!("{}/bench/udp.loom:offloaded", env!("CARGO_MANIFEST_DIR"));
    let few = shell.loom(&["explain", &stack]).fine();
    assert!(few.contains(" joints were inlined, which saves ") && !few.contains(": inlined, "));
    assert!(
        few.contains(" times after all rewrites (`--all` lists each):\n")
            && !few.contains("evaluated 0.")
    );
    let all = shell.loom(&["explain", &stack, "--all"]).fine();
    for said in [
        "  tunnel: on deliver -> ipv4: on deliver: inlined, ",
        "  udp.session: on send -> tunnel.session: on send: inlined, ",
        "  version: u4 is 4\n",
        "                      I inline: evaluated ",
        " places\n",
        "    udp.session            layers/transport/udp.loom:58\n",
    ] {
        assert!(all.contains(said), "{said} is not in {all}");
    }
    // It puts others first, but each is still asked.
    assert!(!all.contains("R frequent-first: removed"), "{all}");
    let bare = shell.loom(&["explain", &stack, "--all", "--without", "all"]);
    let bare = bare.fine();
    assert!(
        !bare.contains(" joints were inlined") && !bare.contains("evaluated 0."),
        "{bare}"
    );
}

/// A layer of which nothing leads to a state.
const STATES: &str = "\
use link.service
enum phase: u8 { shut, asked, open }
worker s
requires frames
session { state: phase = shut, all: u32 = 0, odd: u32 = 0 }
on deliver(message) {
    match state {
        case shut { state = open }
        case asked { all += 1, odd += 1 }
        case open { all += 1 }
    }
    deliver message
}
on send(message) { send message }
stack one { link wire { s { port messages } } }
";

#[test]
fn a_state_to_which_nothing_leads_is_told_with_what_it_took() {
    let shell = Shell::new();
    let states = STATES.replace(", odd += 1", "\n odd += 1");
    shell.write("states.loom", &states);
    let few = shell.loom(&["explain", "states.loom"]).fine();
    assert!(few.contains("  s.session.state: "), "{few}");
    let says = "1 control state is unreachable: ";
    assert!(
        few.contains(says) && few.contains("(`--all` lists them)"),
        "{few}"
    );
    let all = shell.loom(&["explain", "states.loom", "--all"]).fine();
    let line = all
        .lines()
        .find(|line| line.ends_with("  s.session.state asked"));
    let nodes = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    // What counts all, and what counts the odd ones.
    assert_eq!(nodes, Some(2), "{all}");
    // Once something leads there, it is none of these.
    shell.write(
        "states.loom",
        states.replace("state = open", "state = asked"),
    );
    let all = shell.loom(&["explain", "states.loom", "--all"]).fine();
    assert!(
        !all.contains("state asked\n") && all.contains("state open\n"),
        "{all}"
    );
}

#[test]
fn every_command_helps() {
    let shell = Shell::new();
    let all = shell.loom(&["--help"]).fine();
    for verb in [
        "new", "fmt", "check", "build", "run", "simulate", "test", "explain", "demo",
    ] {
        assert!(all.contains(&format!("  {verb} ")), "{all}");
        let help = shell.loom(&[verb, "--help"]).fine();
        assert!(help.contains(&format!("loom {verb} ")), "{help}");
        assert!(
            help.lines().all(|line| line.chars().count() <= 100),
            "{help}"
        );
    }
    let help = shell.loom(&["run", "--help"]).fine();
    for word in [
        "tap:", "tun:", "packet:", "udp:", "pcap:", "--set", "--record", "echo", "lines", "sink",
    ] {
        assert!(help.contains(word), "{word}: {help}");
    }
}

#[test]
fn what_is_warned_of_is_said_once_and_refuses_nothing() {
    let shell = Shell::new();
    shell.write(
        "late.loom",
        "worker late\nsession { timer never }\non deliver(message) { deliver message }\n\
         on send(message) { send message }\nstack late { link air { late { port messages } } }\n",
    );
    let case = "It is so.\n\n=== stack late.loom\n=== in\nwait 1 s\n=== out\n";
    shell.write("one.case", case);
    shell.write("two.case", case);
    shell.loom(&["test", "--bless"]).fine();
    for words in [
        &["check", "late.loom"][..],
        &["build", "late.loom"],
        &["test"],
    ] {
        let said = shell.loom(words);
        assert_eq!(said.status, Some(0), "{}", said.note);
        let warnings = said.note.matches("warning[idle-timer]: ").count();
        assert_eq!(warnings, 1, "{words:?}: {}", said.note);
    }
}

#[test]
fn traffic_that_changes_nothing_of_the_c_is_said_to() {
    let shell = Shell::new();
    let layer = "worker pass\non deliver(message) { deliver message }\n\
                 on send(message) { send message }\nstack pass {\n";
    let nodes = "    link air { pass { port messages } }\n}\n";
    let traffic = "    traffic { deliver 90%, send 10% }\n";
    shell.write("said.loom", format!("{layer}{traffic}{nodes}"));
    shell.write("plain.loom", format!("{layer}{nodes}"));
    let sentence = "\n`traffic` changes only these figures, not the generated C\n";
    let built = ["said", "plain"].map(|name| {
        let file = format!("{name}.loom");
        let explained = shell.loom(&["explain", &file]).fine();
        assert_eq!(explained.contains(sentence), name == "said", "{explained}");
        shell.loom(&["build", &file, "-o", name]).fine();
        shell.read(&format!("{name}/pass.h"))
    });
    assert_eq!(built[0], built[1]);
}
