//! The stacks that frames are fed to, and the C that feeds them.
//!
//! In: an example. Out: its C, and a harness around it, which `frames.c` is for every stack.

use stackloom::pipeline::{self, Compiled};
use stackloom::tool::library::Folders;
use stackloom::types::program::{NoticeId, Port, Program};
use stackloom::types::value::Type;
use std::path::Path;

/// A stack of the repository, and how a host starts it.
pub struct Example {
    /// Where it is.
    pub path: &'static str,
    /// What it is called.
    pub name: &'static str,
    /// What is set, at the end `which` of two; without it all addresses are zero.
    pub settings: &'static [&'static str],
    /// The ports at which conversations are opened, and the address of the other end at each.
    pub opened: &'static [(&'static str, &'static str)],
    /// What of it is written in C.
    pub beside: &'static [&'static str],
    /// How many messages of an application may wait for ever for a peer that answers no more.
    pub keeps: u32,
}

/// All of them. A seed names one by its place.
pub const EXAMPLES: &[Example] = &[
    Example {
        path: "examples/ping/ping.loom",
        name: "ping",
        settings: &[ADDRESS],
        opened: &[],
        beside: &[],
        keeps: 0,
    },
    Example {
        path: "examples/host/host.loom",
        name: "host",
        settings: &[MAC, ADDRESS, PREFIX],
        opened: &[("datagrams", PEER)],
        beside: &[],
        keeps: 0,
    },
    Example {
        path: "examples/radio/radio.loom",
        name: "radio",
        settings: &[],
        opened: &[],
        beside: &[],
        keeps: 0,
    },
    Example {
        path: "examples/radio/two_ways.loom",
        name: "two_ways",
        settings: &[],
        opened: &[],
        beside: &[],
        keeps: 0,
    },
    Example {
        path: "examples/telemetry/telemetry.loom",
        name: "station",
        settings: &[MAC, ADDRESS],
        opened: &[("readings", PEER)],
        beside: &[],
        keeps: 0,
    },
    Example {
        path: "examples/radio/repaired.loom",
        name: "repaired",
        settings: &[],
        opened: &[],
        beside: &[],
        keeps: 0,
    },
    Example {
        path: "examples/dual/dual.loom",
        name: "dual",
        settings: &[MAC, ADDRESS, PREFIX, ADDRESS6, PREFIX6],
        opened: &[("datagrams", PEER), ("datagrams6", PEER6)],
        beside: &[],
        keeps: 0,
    },
    Example {
        path: "examples/stop_and_wait/stop_and_wait.loom",
        name: "reliable",
        settings: &[],
        opened: &[],
        beside: &[],
        keeps: 64,
    },
    Example {
        path: "examples/tagged/tagged.loom",
        name: "tagged",
        settings: &["memset(config.key.at, 7, 16);"],
        opened: &[],
        beside: &["examples/tagged/siphash.c"],
        keeps: 0,
    },
    Example {
        path: "examples/sockets/internet.loom",
        name: "internet",
        settings: &["config.mtu = 1500;", ADDRESS, PREFIX],
        opened: &[("streams", PEER)],
        beside: &[],
        keeps: 0,
    },
    Example {
        path: "examples/web/web.loom",
        name: "web",
        settings: &[MAC, ADDRESS, PREFIX, ADDRESS6, PREFIX6],
        opened: &[("streams", PEER), ("streams6", PEER6)],
        beside: &[],
        keeps: 0,
    },
    Example {
        path: "examples/satellite/satellite.loom",
        name: "satellite",
        settings: &["config.cost = 30000000;", "config.hold = 50000000;"],
        opened: &[],
        beside: &[],
        keeps: 0,
    },
];

const MAC: &str = "config.mac = 0x020000000001 + which;";
const ADDRESS: &str = "config.address = 0x0a000001 + which;";
const PREFIX: &str = "config.prefix = 24;";
const ADDRESS6: &str =
    "config.address6 = (struct STACK_bytes16){{0xfe, 0x80, [15] = (uint8_t)(1 + which)}};";
const PREFIX6: &str = "config.prefix6 = 64;";
const PEER: &str = "0x0a000001 + other";
const PEER6: &str = "{{0xfe, 0x80, [15] = (uint8_t)(1 + other)}}";

impl Example {
    /// The stack, compiled; `root` is the repository.
    pub fn compiled(&self, root: &Path) -> Compiled {
        // What it uses is looked for beside it, wherever this runs.
        let path = root.join(self.path);
        let text = std::fs::read_to_string(&path).expect("the example is there");
        let search = vec![root.join("layers")];
        let texts = vec![(path.display().to_string(), text)];
        let mut checked = pipeline::read(texts, &Folders { search });
        let compiled = pipeline::compile(&mut checked, self.name, self.name);
        compiled.expect("the examples compile")
    }

    /// What feeds frames to it.
    pub fn harness(&self, compiled: &Compiled) -> String {
        let program = &compiled.program;
        let acts = acts(program);
        let cases = acts.iter().enumerate();
        let cases: String = cases
            .map(|(at, act)| format!("    case {at}: {act} break;\n"))
            .collect();
        let opened = self.opened.iter();
        let opening: String = opened
            .map(|(port, peer)| opening(program, port, peer))
            .collect();
        include_str!("frames.c")
            .replace("SETTINGS\n", &lines(self.settings))
            .replace("OPENING\n", &opening)
            .replace("ACTING\n", &cases)
            .replace("DOES", &(acts.len() + 1).to_string())
            .replace("CLOSING\n", &closing(program))
            .replace("GRANTING\n", &granting(program))
            .replace("KEEPS", &self.keeps.to_string())
            .replace("LINKS", &program.links.len().to_string())
            .replace("STACK", self.name)
            .replace("UPPER", &self.name.to_uppercase())
    }
}

fn lines(of: &[&str]) -> String {
    of.iter().map(|line| format!("    {line}\n")).collect()
}

/// One conversation with whoever calls, and one with the other end.
fn opening(program: &Program, name: &str, peer: &str) -> String {
    let mut ports = program.ports.iter();
    let port = ports
        .find(|port| port.name == name)
        .expect("the stack has this port");
    let kind = port.opens.expect("conversations are opened there");
    let optional = |key: &str| {
        let mut keys = program.kinds[kind.at()].keys.iter();
        let kind = keys.find(|one| one.name == key).map(|one| &one.kind);
        match kind {
            Some(Type::Optional(_)) => format!(".has_{key} = true, "),
            _ => String::new(),
        }
    };
    let (peer_is, port_is) = (optional("peer"), optional("peer_port"));
    let calls = match port.listens {
        Some(_) => format!(
            "    STACK_{name}_listen(\n        \
             stack, &(struct STACK_{name}_listener_keys){{7}}, 4, now_ns);\n"
        ),
        None => format!(
            "    STACK_{name}_open(\n        \
             stack, &(struct STACK_{name}_keys){{.has_port = true, .port = 7}}, now_ns);\n"
        ),
    };
    format!(
        "{calls}    STACK_{name}_open(\n        stack, &(struct STACK_{name}_keys){{\
         {peer_is}.peer = {peer}, {port_is}.peer_port = 7}}, now_ns);\n"
    )
}

/// All that applications can do: send at each port, as often as all else, and tell what is told
/// there.
fn acts(program: &Program) -> Vec<String> {
    let mut acts = Vec::new();
    for port in &program.ports {
        let name = &port.name;
        let session = session(port);
        let send = format!("STACK_{name}_send(stack, {session}, NULL, data, length, now_ns);");
        acts.extend(port.passes.then_some(send.clone()));
        for id in told(program, port) {
            let notice = &program.notices[id.at()];
            let given = notice.parameters.iter();
            let given = given.filter_map(|field| number(&field.kind));
            let given: String = given.map(|value| format!("{value}, ")).collect();
            let told = &notice.name;
            acts.push(format!(
                "STACK_{name}_{told}(stack, {session}, {given}now_ns);"
            ));
            acts.extend(port.passes.then_some(send.clone()));
        }
    }
    acts
}

/// How what comes up is granted anew, where that must be said.
fn granting(program: &Program) -> String {
    let ports = program.ports.iter().enumerate();
    let granting = ports.filter(|(_, port)| hears(program, port, "grant_delivers").is_some());
    granting
        .map(|(place, port)| {
            format!(
                "            case {place}:\n                STACK_{}_grant_delivers(stack, \
                 output.session, (uint32_t)output.length,\n{}now_ns);\n                break;\n",
                port.name,
                " ".repeat(40)
            )
        })
        .collect()
}

/// How every conversation ends, where an application can say so.
fn closing(program: &Program) -> String {
    let close = |port: &Port| {
        let how = ["abort", "close"].into_iter();
        let told = how.filter_map(|name| hears(program, port, name)).next()?;
        let capacity = program.kinds[port.opens?.at()].capacity;
        let (name, told) = (&port.name, &program.notices[told.at()].name);
        Some(format!(
            "    for (uint32_t session = 0; session < {capacity}; session += 1) {{\n        \
             STACK_{name}_{told}(ends[which].stack, session, now_ns);\n        \
             drain(which);\n    }}\n"
        ))
    };
    program.ports.iter().filter_map(close).collect()
}

/// The notice that an application gives by this name at a port.
fn hears(program: &Program, port: &Port, name: &str) -> Option<NoticeId> {
    let mut down = port.down.iter().copied();
    down.find(|id| program.notices[id.at()].name == name)
}

/// What an application may say at any time: numbers at most. Credit is given for what came.
fn told<'p>(program: &'p Program, port: &'p Port) -> impl Iterator<Item = NoticeId> + 'p {
    port.down.iter().copied().filter(|id| {
        let notice = &program.notices[id.at()];
        let itself =
            notice.name == "grant_delivers" || port.opens.is_some() && notice.name == "open";
        let mut parameters = notice.parameters.iter();
        !itself && !notice.message && parameters.all(|field| number(&field.kind).is_some())
    })
}

/// A value of a type of numbers.
fn number(kind: &Type) -> Option<&'static str> {
    let counts = matches!(
        kind,
        Type::Unsigned(_) | Type::Signed(_) | Type::Sequence(_) | Type::Time
    );
    let truth = (*kind == Type::Bool).then_some("number % 2");
    counts.then_some("number").or(truth)
}

/// The session of which an act is.
fn session(port: &Port) -> &'static str {
    match port.opens {
        Some(_) => "session",
        None => "0",
    }
}
