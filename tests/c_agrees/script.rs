//! A trace as the sections of a `.case`, which `BLESS=1` completes.
//!
//! In: a trace. Out: its `config` and its `in`; frames that came together come one by one there.

use stackloom::simulate::trace::{Call, Trace};
use stackloom::simulate::value::Datum;
use stackloom::types::program::Program;
use std::fmt::Write;

/// The text of the two sections.
pub fn script(program: &Program, trace: &Trace) -> String {
    let mut text = "=== config\n".to_string();
    for (config, value) in program.config.iter().zip(&trace.config) {
        let _ = writeln!(text, "{} = {}", config.name, word(value));
    }
    text.push_str("=== in\n");
    let mut now_ns = trace.start_ns;
    for step in &trace.steps {
        if step.now_ns > now_ns {
            let _ = writeln!(text, "wait {} ns", step.now_ns - now_ns);
            now_ns = step.now_ns;
        }
        call(program, &step.call, &mut text);
    }
    text
}

fn call(program: &Program, call: &Call, text: &mut String) {
    let _ = match call {
        Call::Input(link, frames) => {
            let link = &program.links[link.at()].name;
            frames
                .iter()
                .try_for_each(|frame| writeln!(text, "frame {link} {}", hex(frame)))
        }
        Call::Send {
            port,
            session,
            attributes,
            bytes,
        } => {
            let port = &program.ports[port.at()].name;
            let given = attributes.iter();
            let given: String = given
                .map(|(id, value)| format!(" {}={}", program.attributes[id.at()].name, word(value)))
                .collect();
            writeln!(text, "send {port} {session}{given} : {}", hex(bytes))
        }
        Call::Open(port, keys) => {
            let port = &program.ports[port.at()].name;
            writeln!(text, "open {port}{}", words(keys))
        }
        Call::Notice {
            port,
            session,
            notice,
            arguments,
        } => {
            let port = &program.ports[port.at()].name;
            let notice = &program.notices[notice.at()].name;
            writeln!(text, "tell {port} {session} {notice}{}", words(arguments))
        }
        Call::Expire => Ok(()),
    };
}

fn words(data: &[Datum]) -> String {
    data.iter()
        .map(|datum| format!(" {}", word(datum)))
        .collect()
}

fn word(datum: &Datum) -> String {
    match datum {
        Datum::Number(number) => number.to_string(),
        Datum::Bytes(bytes) => hex(bytes),
        Datum::Optional(Some(value)) => word(value),
        _ => "none".to_string(),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
