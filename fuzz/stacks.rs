//! The stacks that frames are fed to, and the C that feeds them.
//!
//! In: an example. Out: its C, and a harness around it, which `frames.c` is for every stack.

use stackloom::pipeline::{self, Compiled};
use stackloom::tool::library::Folders;
use std::path::Path;

/// A stack of the repository, and how a host starts it.
pub struct Example {
    /// Where it is.
    pub path: &'static str,
    /// What it is called.
    pub name: &'static str,
    /// What is set; without it all addresses are zero.
    pub settings: &'static str,
    /// What an application opens, so that something can be delivered.
    pub opening: &'static str,
}

const ADDRESS: &str = "    config.address = 0x0a000001;\n";
const ADDRESSES: &str = "    config.address = 0x0a000001;\n    config.mac = 0x020000000001;\n";

/// All of them.
pub const EXAMPLES: [Example; 7] = [
    Example {
        path: "examples/ping/ping.loom",
        name: "ping",
        settings: ADDRESS,
        opening: "",
    },
    Example {
        path: "examples/host/host.loom",
        name: "host",
        settings: "    config.address = 0x0a000001;\n    config.mac = 0x020000000001;\n    \
                   config.prefix = 24;\n",
        opening: "    const struct host_datagrams_keys keys = \
                  {.has_port = true, .port = 7};\n    \
                  host_datagrams_open(stack, &keys, now_ns);\n",
    },
    Example {
        path: "examples/radio/radio.loom",
        name: "radio",
        settings: "",
        opening: "",
    },
    Example {
        path: "examples/radio/two_ways.loom",
        name: "two_ways",
        settings: "",
        opening: "",
    },
    Example {
        path: "examples/telemetry/telemetry.loom",
        name: "station",
        settings: ADDRESSES,
        opening: "    const struct station_readings_keys keys = \
                  {.has_port = true, .port = 7};\n    \
                  station_readings_open(stack, &keys, now_ns);\n",
    },
    Example {
        path: "examples/radio/repaired.loom",
        name: "repaired",
        settings: "",
        opening: "",
    },
    Example {
        path: "examples/dual/dual.loom",
        name: "dual",
        settings: "    config.address = 0x0a000001;\n    config.mac = 0x020000000001;\n    \
                   config.prefix = 24;\n    config.prefix6 = 64;\n    \
                   config.address6 = (struct dual_bytes16){{0xfe, 0x80, [15] = 1}};\n",
        opening: "    const struct dual_datagrams6_keys keys = {.has_port = true, .port = 7};\n    \
                  dual_datagrams6_open(stack, &keys, now_ns);\n",
    },
];

impl Example {
    /// The stack, compiled; `root` is the repository.
    pub fn compiled(&self, root: &Path) -> Compiled {
        let text = std::fs::read_to_string(root.join(self.path)).expect("the example is there");
        let search = vec![root.join("layers")];
        let texts = vec![(self.path.to_string(), text)];
        let mut checked = pipeline::read(texts, &Folders { search });
        let compiled = pipeline::compile(&mut checked, self.name, self.name);
        compiled.expect("the examples compile")
    }

    /// What feeds frames to it.
    pub fn harness(&self, compiled: &Compiled) -> String {
        include_str!("frames.c")
            .replace("SETTINGS\n", self.settings)
            .replace("OPENING\n", self.opening)
            .replace("LINKS", &compiled.program.links.len().to_string())
            .replace("STACK", self.name)
            .replace("UPPER", &self.name.to_uppercase())
    }
}
