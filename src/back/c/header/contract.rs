//! The comment at the top of a header: the calls that a host makes, and in which order.

use crate::back::c::{Stack, Variant};

/// Letters of a line of a comment at most, without what marks it.
const COLUMNS: usize = 96;

/// The comment.
pub fn contract(stack: &Stack<'_>) -> String {
    let name = &stack.names.stack;
    let docs = stack.module.docs.iter();
    let mut lines: Vec<String> = docs.map(|line| line.trim_end().to_string()).collect();
    let title = format!("{name}:");
    if !lines.first().is_some_and(|line| line.starts_with(&title)) {
        lines.insert(0, format!("{title} a protocol stack"));
    }
    for paragraph in paragraphs(stack) {
        lines.push(String::new());
        lines.extend(filled(&paragraph));
    }
    commented(&lines)
}

fn paragraphs(stack: &Stack<'_>) -> Vec<String> {
    let (name, upper) = (&stack.names.stack, &stack.names.upper);
    let ports = &stack.module.ports;
    let sends = match ports.iter().any(|port| port.sends.is_some()) {
        true => format!(", an application sends ({name}_PORT_send)"),
        false => String::new(),
    };
    let mut all = vec![
        "Compiled by Stackloom. The stack does no input or output and allocates nothing: its host \
         gives it memory, time and frames."
            .to_string(),
        format!(
            "Start: {name}_config_default sets all settings to their defaults, {name}_size returns \
             how many bytes of memory they need, and {name}_start starts a stack there. \
             {name}_check says why a stack cannot start."
        ),
        format!(
            "Run: the host calls the stack when a frame arrives ({name}_input){sends}, or \
             {name}_deadline has passed ({name}_expire). After each of these calls it calls \
             {name}_next until that returns {upper}_IDLE. It does what each output asks for, and \
             then gives the output back ({name}_done)."
        ),
        frames(stack),
        "Units: times are nanoseconds of a monotonic clock. Numbers, addresses among them, are in \
         the byte order of the machine: 10.0.0.2 is 0x0a000002. Threads: calls of one stack must \
         not overlap."
            .to_string(),
        format!(
            "Counters: each frame that arrives is delivered, consumed, merged into another, held, \
             or dropped for a reason. The counters add up: frames_in = delivered + consumed + \
             merged + held + the sum of all {upper}_DROPPED_x. The macro \
             {upper}_WITHOUT_NAMES, defined for this file and for {name}.c, leaves out their names."
        ),
    ];
    all.extend(bodies(stack));
    if ports.iter().any(|port| port.listens.is_some()) {
        all.push(format!(
            "Sessions: an application opens sessions ({name}_PORT_open), and listens for those \
             that peers open ({name}_PORT_listen). {upper}_ACCEPTED hands each of the latter over, \
             with its keys, before any other output of the session. Until then it takes a place in \
             the backlog of its listener; a full backlog refuses further sessions, and counts \
             them. {name}_PORT_unlisten ends a listener, not its sessions."
        ));
    }
    all.extend(assumptions(stack));
    all
}

/// The comment at the top of `NAME.c`.
pub fn of_file(stack: &Stack<'_>) -> String {
    let name = &stack.names.stack;
    let title = "compiled by Stackloom. What it does is said in the sources that stand beside its";
    let mut lines = vec![
        format!("{name}: {title}"),
        format!("functions; how it is called, in {name}.h."),
    ];
    if let Some(paragraph) = assumptions(stack) {
        lines.push(String::new());
        lines.extend(filled(&paragraph));
    }
    commented(&lines)
}

/// The paragraph of where frames may stand.
fn frames(stack: &Stack<'_>) -> String {
    let name = &stack.names.stack;
    match stack.gives_no_buffers() {
        true => format!(
            "Frames: {name}_input takes frames in order and returns how many it took; the host \
             offers the others again later. A frame stands in memory of the host, which the stack \
             only reads, and only until {name}_input returns. A frame that must stay longer is \
             copied into a buffer of the stack; without a free buffer it is not taken."
        ),
        false => format!(
            "Frames: the host asks for a buffer ({name}_buffer), fills it and passes it to \
             {name}_input, which takes frames in order and returns how many it took. The host \
             offers the others again later. A frame may also stand in memory of the host, which \
             the stack only reads, and only until {name}_input returns. Such a frame is copied \
             into a buffer if it must stay longer; without a free buffer, or if it is too long, \
             it is not taken."
        ),
    }
}

/// The paragraph of frames that leave in two parts.
fn bodies(stack: &Stack<'_>) -> Option<String> {
    let links = stack.module.links.iter().zip(&stack.names.links);
    let asked = links.filter(|(link, _)| link.gathers && link.calls.is_none());
    let asked: Vec<&str> = asked.map(|(_, names)| names.constant.as_str()).collect();
    let name = &stack.names.stack;
    (!asked.is_empty()).then(|| {
        format!(
            "Bodies: a frame for {} is `data` with `body` behind it, which may be empty. Both are \
             valid until the host calls another function of the stack than {name}_next and \
             {name}_done.",
            asked.join(" or ")
        )
    })
}

/// The paragraph of what a specialised stack takes for granted.
fn assumptions(stack: &Stack<'_>) -> Option<String> {
    match stack.variant {
        Variant::Plain | Variant::Recording(_) | Variant::Scheduled => None,
        Variant::Specialised(assumed) => Some(assumed.paragraph(&stack.names.stack)),
    }
}

/// Lines as a comment.
fn commented(lines: &[String]) -> String {
    let lines: Vec<String> = lines
        .iter()
        .map(|line| format!(" * {line}").trim_end().to_string())
        .map(|line| line.split("*/").collect::<Vec<&str>>().join("* /"))
        .collect();
    format!("/*\n{}\n */", lines.join("\n"))
}

/// A paragraph in lines.
pub fn filled(paragraph: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in paragraph.split(' ') {
        let last = lines.last_mut().expect("there is a line");
        if !last.is_empty() && last.len() + 1 + word.len() > COLUMNS {
            lines.push(word.to_string());
        } else {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}
