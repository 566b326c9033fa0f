//! The companion of a stack's C: a file compiled with it that exports, for the loader, where every
//! field is, and every notice behind a function of one form.
//!
//! In: a `Description`. Out: C.
//!
//! ```text
//! config { address: u32 }         const struct loom_layout loom_config = {...};
//! port messages, a notice down    void loom_messages_say_close(stack, session, arguments, now_ns)
//! port messages, a notice up      const int loom_messages_told_opened = RADIO_OPENED;
//! ```

use super::layout::{Description, Kind, Member, Port, c_fields};
use crate::back::c::reserved::is_constant;
use std::fmt::Write;

/// The text of the companion. What it exports is called `loom_WHAT`: `config`, `output`,
/// `PORT_keys`, `PORT_listener_keys`, `PORT_attributes`, `PORT_accepted`, `PORT_say_NOTICE`,
/// `PORT_told_NOTICE`.
pub fn companion(description: &Description) -> String {
    let name = &description.name;
    let mut text = format!("#include <stddef.h>\n#include \"{name}.h\"\n\n");
    text += "struct loom_field { size_t offset; size_t size; };\n";
    text += "struct loom_layout { size_t size; const struct loom_field *fields; };\n";
    let output = ["place", "session", "data", "length", "buffer"].map(String::from);
    let mut output = output.to_vec();
    if description.gathers {
        output.extend(["body", "body_length"].map(String::from));
    }
    output.extend(description.has_attributes().then(|| "with".to_string()));
    let of_stack = |what: &str| format!("struct {name}_{what}");
    layout(&mut text, "output", &of_stack("output"), &output);
    let config = c_fields(&description.config);
    layout(&mut text, "config", &of_stack("config"), &config);
    for port in &description.ports {
        let listener_keys = port.listener_keys.as_deref().unwrap_or_default();
        let structs = [
            ("keys", &port.keys[..]),
            ("listener_keys", listener_keys),
            ("attributes", &port.attributes),
        ];
        for (what, members) in structs {
            let what = format!("{}_{what}", port.name);
            layout(&mut text, &what, &of_stack(&what), &c_fields(members));
        }
        notices(&mut text, name, port);
    }
    text
}

/// What the companion says of one struct. A struct without fields is no C, so nothing is asked
/// about it.
fn layout(text: &mut String, what: &str, of: &str, fields: &[String]) {
    if fields.is_empty() {
        return;
    }
    let mut line = |line: String| writeln!(text, "{line}").expect("a string takes every line");
    line(format!(
        "\nstatic const struct loom_field {what}_fields[] = {{"
    ));
    for field in fields {
        line(format!(
            "    {{offsetof({of}, {field}), sizeof((({of} *)0)->{field})}},"
        ));
    }
    line("};".to_string());
    line(format!(
        "const struct loom_layout loom_{what} = {{sizeof({of}), {what}_fields}};"
    ));
}

/// What an application may say at a port, and what it is told.
fn notices(text: &mut String, name: &str, port: &Port) {
    let own = &port.name;
    for told in &port.down {
        let what = format!("{own}_say_{}", told.name);
        let (mut declared, mut given) = (String::new(), String::new());
        let mut member = |kind: &str, field: &str| {
            declared += &format!("    {kind} {field};\n");
            given += &format!("given->{field}, ");
        };
        for one in &told.members {
            if one.optional {
                member("bool", &format!("has_{}", one.name));
            }
            member(&c_type(name, one.kind), &c_fields(&[plain(one)])[0]);
        }
        if !declared.is_empty() {
            let of = format!("struct loom_{what}_arguments");
            *text += &format!("\n{of} {{\n{declared}}};\n");
            layout(text, &what, &of, &c_fields(&told.members));
        }
        let of = if declared.is_empty() {
            "void".to_string()
        } else {
            format!("struct loom_{what}_arguments")
        };
        *text += &format!(
            "\nvoid loom_{what}_function(struct {name} *stack, uint32_t session, \
             const {of} *given, uint64_t now_ns) {{\n    (void)given;\n    \
             {name}_{own}_{}(stack, session, {given}now_ns);\n}}\n",
            told.name
        );
    }
    let upper = |what: &str| format!("{}_{}", name.to_uppercase(), what.to_uppercase());
    let notice = |what: &str| match is_constant(&what.to_uppercase()) {
        true => upper(what) + "_",
        false => upper(what),
    };
    let of = format!("struct {name}_output");
    let within = |what: &str, members: &[Member]| -> Vec<String> {
        let fields = c_fields(members).into_iter();
        fields
            .map(|field| format!("with.{own}_{what}{field}"))
            .collect()
    };
    for told in &port.up {
        let what = format!("{own}_told_{}", told.name);
        *text += &format!("\nconst int loom_{what}_next = {};\n", notice(&told.name));
        layout(
            text,
            &what,
            &of,
            &within(&format!("{}.", told.name), &told.members),
        );
    }
    if let Some(keys) = &port.accepted {
        let mut fields = vec![format!("with.{own}_accepted.listener")];
        fields.extend(within("accepted.keys.", keys));
        *text += &format!(
            "\nconst int loom_{own}_accepted_next = {};\n",
            upper("accepted")
        );
        layout(text, &format!("{own}_accepted"), &of, &fields);
    }
}

fn plain(member: &Member) -> Member {
    Member {
        optional: false,
        ..member.clone()
    }
}

/// What C calls an argument of this kind.
fn c_type(name: &str, kind: Kind) -> String {
    let bits = |bits: u32| bits.next_power_of_two().max(8);
    match kind {
        Kind::Unsigned(width) => format!("uint{}_t", bits(width)),
        Kind::Signed(width) => format!("int{}_t", bits(width)),
        Kind::Bool => "bool".to_string(),
        Kind::Time => "uint64_t".to_string(),
        Kind::Bytes(length) => format!("struct {name}_bytes{length}"),
        Kind::Bounded(most) => format!("struct {name}_bytes_to{most}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::layout::Told;

    fn member(name: &str, kind: Kind, optional: bool) -> Member {
        Member {
            name: name.to_string(),
            kind,
            optional,
            needed: !optional,
            names: Vec::new(),
        }
    }

    #[test]
    fn the_companion_asks_c_about_every_field() {
        let description = Description {
            name: "host".to_string(),
            links: vec!["tap".to_string()],
            ports: vec![Port {
                name: "datagrams".to_string(),
                keys: vec![member("peer", Kind::Unsigned(32), true)],
                listener_keys: None,
                ..Port::default()
            }],
            ..Description::default()
        };
        let text = companion(&description);
        let flag = "{offsetof(struct host_datagrams_keys, has_peer), \
                    sizeof(((struct host_datagrams_keys *)0)->has_peer)},";
        assert!(text.contains(flag), "{text}");
        assert!(
            text.contains("const struct loom_layout loom_datagrams_keys ="),
            "{text}"
        );
        assert!(
            !text.contains("config") && !text.contains("attributes"),
            "{text}"
        );
    }

    #[test]
    fn every_notice_has_one_form() {
        let told = |name: &str| Told {
            name: name.to_string(),
            members: vec![member("limit", Kind::Unsigned(20), true)],
        };
        let description = Description {
            name: "host".to_string(),
            ports: vec![Port {
                name: "calls".to_string(),
                down: vec![told("grant")],
                up: vec![told("mtu")],
                ..Port::default()
            }],
            ..Description::default()
        };
        let text = companion(&description);
        let lines = [
            "    uint32_t limit;",
            "    host_calls_grant(stack, session, given->has_limit, given->limit, now_ns);",
            "const int loom_calls_told_mtu_next = HOST_MTU;",
            "    {offsetof(struct host_output, with.calls_mtu.limit), \
             sizeof(((struct host_output *)0)->with.calls_mtu.limit)},",
        ];
        for line in lines {
            assert!(text.lines().any(|one| one == line), "{line}: {text}");
        }
    }
}
