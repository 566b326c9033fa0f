//! What a driver in C says differently for each program: the structs and calls of its ports.
//!
//! In: a program. Out: the text of its driver, which is `driver.c` with its capitals filled in.

use super::externs::{
    COMES_BACK, EXPIRES, FLOODS, GOES_ON, OPENS, SENDS, SENDS_MORE, TAKES, TELLS,
};
use super::externs::{sends_on, told};
use stackloom::back::c::reserved::is_constant;
use stackloom::types::program::{Key, KindId, NoticeId, Port, Program};
use stackloom::types::value::Type;

/// The driver of a program; `room` is what a buffer of its stack has room for.
pub fn driver(program: &Program, room: usize) -> String {
    let config = program.config.iter();
    let mut config: String = config
        .map(|one| read(&format!("config.{}", one.name), &one.kind))
        .collect();
    let mut applications = String::new();
    if !program.functions_in_c().is_empty() {
        config += "notes = 0;\nconfig.user = &notes;\n";
        if program.records.iter().any(|record| record.external) {
            applications += "#include \"STACK_extern.h\"\n";
        }
        applications += "static uint32_t notes;\n";
        applications += &texts(program).0;
    }
    let [mut opens, mut listens, mut ends, mut sends, mut notices] = [const { String::new() }; 5];
    let [mut delivered, mut told] = [const { String::new() }; 2];
    for (place, port) in program.ports.iter().enumerate() {
        opens += &open(program, place, port);
        listens += &listen(program, place, port);
        if port.listens.is_some() {
            let own = &port.name;
            ends +=
                &format!("case {place}: STACK_{own}_unlisten(stack, listener, now_ns); break;\n");
        }
        told += &accepted(program, place, port);
        if port.passes {
            sends += &send(program, place, port);
        }
        let by_opening =
            |id: &&NoticeId| port.opens.is_some() && program.notices[id.at()].name == "open";
        for id in port.down.iter().filter(|id| !by_opening(id)) {
            notices += &notice(program, place, port, *id);
        }
        if port.calls.is_some() {
            applications += &application(program, place, port);
            continue;
        }
        delivered += &delivery(program, place, port);
        for id in &port.up {
            told += &told_up(program, place, port, *id);
        }
    }
    if program.links.iter().any(|link| link.calls.is_some()) {
        applications += "static bool is_leaving;\n";
    }
    for (place, link) in program.links.iter().enumerate() {
        if let Some(function) = &link.calls {
            applications += &leaving(program, place, function);
        }
    }
    include_str!("driver.c")
        .replace("BODY", body(program))
        .replace("LINKS", carrier(program))
        .replace("CONFIGURE", &config)
        .replace("UNLISTENING", &ends)
        .replace("LISTENS", &listens)
        .replace("OPENS", &opens)
        .replace("SENDS", &sends)
        .replace("NOTICES", &notices)
        .replace("DELIVERED", &delivered)
        .replace("TOLD", &told)
        .replace("EXTERNS", &applications)
        .replace("ROOM", &format!("{room}U"))
        .replace("STACK", &program.name)
        .replace("UPPER", &program.name.to_uppercase())
}

/// The call by which a stack is told that a link is up or down, if somebody hears it.
fn carrier(program: &Program) -> &'static str {
    match program.links.iter().any(|link| link.carrier.is_some()) {
        true => "STACK_carrier(stack, link, up, now_ns);\n",
        false => "",
    }
}

/// The rest of a line with a frame that leaves in two parts.
fn body(program: &Program) -> &'static str {
    match program.links.iter().any(|link| link.gathers) {
        true => {
            "if ((uintptr_t)output->body == UINTPTR_MAX / 255 * 0x5a) {\n\
             abort(); /* nobody said where it is */\n}\n\
             for (size_t at = 0; at < output->body_length; at += 1) {\n\
             printf(\"%02x\", output->body[at]);\n}\n"
        }
        false => "",
    }
}

/// The text of the functions in C that a program calls, and of the types that they work on.
pub fn texts(program: &Program) -> (String, String) {
    let names = program.functions_in_c();
    let mut types: Vec<&str> = Vec::new();
    for record in program.records.iter().filter(|record| record.external) {
        if !types.contains(&record.name.as_str()) {
            types.push(&record.name);
        }
    }
    (chosen("function", &names), chosen("type", &types))
}

fn chosen(what: &str, names: &[&str]) -> String {
    let parts = include_str!("externs.c").split("\n/* ").skip(1);
    let parts = parts.filter_map(|part| part.split_once(" */\n"));
    let wanted = |title: &str| {
        let name = title.strip_prefix(what).map(str::trim_start);
        name.is_some_and(|name| names.contains(&name))
    };
    let texts = parts.filter(|(title, _)| wanted(title));
    texts.map(|(_, text)| text).collect()
}

fn open(program: &Program, place: usize, port: &Port) -> String {
    let Some(kind) = port.opens else {
        return String::new();
    };
    made(
        program,
        place,
        kind,
        &format!("{}_open", port.name),
        "keys",
        "",
    )
}

fn listen(program: &Program, place: usize, port: &Port) -> String {
    let Some(how) = port.listens else {
        return String::new();
    };
    let function = format!("{}_listen", port.name);
    made(
        program,
        place,
        how.listener,
        &function,
        "listener_keys",
        "backlog, ",
    )
}

/// A call that makes a session or a listener.
fn made(
    program: &Program,
    place: usize,
    kind: KindId,
    function: &str,
    tag: &str,
    before: &str,
) -> String {
    let port = &program.ports[place].name;
    let keys = &program.kinds[kind.at()].keys;
    if keys.is_empty() {
        return format!("case {place}: return STACK_{function}(stack, {before}now_ns);\n");
    }
    let reads = keys.iter();
    let reads: String = reads
        .map(|key| read(&format!("keys.{}", key.name), &given(key)))
        .collect();
    format!(
        "case {place}: {{\nstruct STACK_{port}_{tag} keys = {{0}};\n{reads}\
         return STACK_{function}(stack, &keys, {before}now_ns);\n}}\n"
    )
}

/// A key that may be left out is optional.
fn given(key: &Key) -> Type {
    match key.default {
        Some(_) => Type::Optional(Box::new(key.kind.clone())),
        None => key.kind.clone(),
    }
}

/// A session that was accepted: its keys are those that the stack still has, if it lives.
fn accepted(program: &Program, place: usize, port: &Port) -> String {
    let (Some(kind), Some(_)) = (port.opens, port.listens) else {
        return String::new();
    };
    let own = &port.name;
    let keys = &program.kinds[kind.at()].keys;
    let with = format!("output->with.{own}_accepted");
    let shows: String = keys
        .iter()
        .map(|key| show(&format!("{with}.keys.{}", key.name), &key.kind))
        .collect();
    format!(
        "if (next == UPPER_ACCEPTED && output->place == {place}) {{\n\
         struct STACK_{own}_keys keys;\n\
         if (!STACK_{own}_keys_of(stack, output->session, &keys)) {{\n\
         memset(&keys, 0, sizeof keys);\n}}\n\
         printf(\"a %u %\" PRIu32 \" %\" PRIu32, output->place, output->session,\n\
         {with}.listener);\n{shows}}}\n"
    )
}

fn send(program: &Program, place: usize, port: &Port) -> String {
    let own = &port.name;
    let called = |with: &str| {
        format!("returned = STACK_{own}_send(stack, session, {with}, data, length, now_ns);\n")
    };
    if port.attributes.is_empty() {
        return format!("case {place}:\n(void)given;\n{}break;\n", called("NULL"));
    }
    let attributes = port
        .attributes
        .iter()
        .map(|id| &program.attributes[id.at()]);
    let reads: String = attributes
        .map(|one| read(&format!("with.{}", one.name), &one.kind))
        .collect();
    format!(
        "case {place}: {{\nstruct STACK_{own}_attributes with = {{0}};\n\
         if (given) {{\n{reads}}}\n{}break;\n}}\n",
        called("given ? &with : NULL")
    )
}

fn notice(program: &Program, place: usize, port: &Port, id: NoticeId) -> String {
    let told = &program.notices[id.at()];
    let mut reads = String::new();
    let mut arguments = String::new();
    for (at, parameter) in told.parameters.iter().enumerate() {
        let name = format!("arguments.a{at}");
        reads += &read(&name, &parameter.kind);
        if let Type::Optional(_) = parameter.kind {
            arguments += &format!("arguments.has_a{at}, ");
        }
        arguments += &format!("{name}, ");
    }
    let members = told.parameters.iter().enumerate();
    let members: String = members.map(|(at, one)| member(at, &one.kind)).collect();
    let declared = match members.is_empty() {
        true => String::new(),
        false => format!("struct {{\n{members}}} arguments = {{0}};\n"),
    };
    let case = place << 16 | id.at();
    let (own, name) = (&port.name, &told.name);
    format!(
        "case {case}: {{\n{declared}{reads}STACK_{own}_{name}(stack, session, {arguments}now_ns);\n\
         break;\n}}\n"
    )
}

fn member(at: usize, kind: &Type) -> String {
    match kind {
        Type::Optional(inner) => format!("bool has_a{at};\n{}", member(at, inner)),
        Type::Bytes(length) => format!("struct STACK_bytes{length} a{at};\n"),
        Type::BoundedBytes(most) => format!("struct STACK_bytes_to{most} a{at};\n"),
        Type::Signed(width) => format!("int{}_t a{at};\n", c_bits(*width)),
        Type::Bool => format!("bool a{at};\n"),
        Type::Enum(_) => format!("uint8_t a{at};\n"),
        Type::Unsigned(width) | Type::Sequence(width) => {
            format!("uint{}_t a{at};\n", c_bits(*width))
        }
        _ => format!("uint64_t a{at};\n"),
    }
}

fn c_bits(width: u8) -> u8 {
    width.next_power_of_two().max(8)
}

fn delivery(program: &Program, place: usize, port: &Port) -> String {
    let attributes = port
        .attributes
        .iter()
        .map(|id| &program.attributes[id.at()]);
    let shows: String = attributes
        .map(|one| {
            let place = format!("output->with.{}.{}", port.name, one.name);
            show(&place, &one.kind)
        })
        .collect();
    format!("case {place}:\n{shows}break;\n")
}

/// The functions of an application that a port calls: they say what they are given, and answer as
/// those of interpreters do.
fn application(program: &Program, place: usize, port: &Port) -> String {
    let function = port.calls.as_ref().expect("the port calls one");
    let own = &port.name;
    let ids = port.attributes.iter();
    let attributes: Vec<_> = ids.map(|id| &program.attributes[id.at()]).collect();
    let shows: String = attributes
        .iter()
        .map(|one| show(&format!("given.{}", one.name), &one.kind))
        .collect();
    let [with, given] = match attributes.is_empty() {
        true => [String::new(), String::new()],
        false => [
            format!("const struct STACK_{own}_attributes *with, "),
            format!("const struct STACK_{own}_attributes given = *with;\n"),
        ],
    };
    let granted = port.granted(program).map(|id| {
        let number = &program.notices[id.at()].parameters[0];
        match number.kind {
            Type::Unsigned(width) => format!("uint{}_t", c_bits(width)),
            _ => panic!("{} is no number", number.name),
        }
    });
    let takes = granted.as_ref().map_or(String::new(), |kind| {
        format!("return (data[0] & {TAKES}) != 0 ? ({kind})length : 0;\n")
    });
    let nothing = granted.as_ref().map_or("return;", |_| "return 0;");
    let result = granted.unwrap_or("void".to_string());
    let mut text = format!(
        "{result} STACK_{function}(void *user, struct STACK *own, uint32_t session, {with}\
         const uint8_t *data, size_t length, uint64_t now_ns) {{\n(void)user;\n{given}\
         printf(\"d {place} %\" PRIu32, session);\nshow_bytes(data, length);\n{shows}\
         printf(\"\\n\");\n{}{takes}}}\n",
        answer(program, port, nothing)
    );
    let notices = port.up.iter();
    text.extend(notices.map(|id| told_up_by_call(program, (place, port), *id)));
    text
}

/// The function of an application that a port calls with a notice.
fn told_up_by_call(program: &Program, (place, port): (usize, &Port), id: NoticeId) -> String {
    let function = port.calls.as_ref().expect("the port calls one");
    let notice = &program.notices[id.at()];
    let parameters = || notice.parameters.iter().enumerate();
    let members: String = parameters()
        .map(|(at, one)| member(at, &one.kind))
        .collect();
    let given = members.replace(";\n", ", ");
    let shows = parameters().map(|(at, one)| show(&format!("given.a{at}"), &one.kind));
    let shows: String = shows.collect();
    let (carried, shows_carried) = match notice.message {
        true => (
            "const uint8_t *data, size_t length, ",
            "show_bytes(data, length);\n",
        ),
        false => ("", ""),
    };
    let values: String = parameters()
        .map(|(at, one)| match one.kind {
            Type::Optional(_) => {
                format!("given.has_a{at} = has_a{at};\ngiven.a{at} = a{at};\n")
            }
            _ => format!("given.a{at} = a{at};\n"),
        })
        .collect();
    let declared = match members.is_empty() {
        true => String::new(),
        false => format!("struct {{\n{members}}} given = {{0}};\n{values}"),
    };
    let answer = answer_to(port, notice.message);
    format!(
        "void STACK_{function}_{}(void *user, struct STACK *own, uint32_t session, {given}\
         {carried}uint64_t now_ns) {{\n{declared}(void)user;\n(void)own;\n(void)now_ns;\n\
         printf(\"n {place} %\" PRIu32 \" {}\", session);\n{shows}{shows_carried}\
         printf(\"\\n\");\n{answer}}}\n",
        notice.name, id.0
    )
}

/// What the function of an application does with a notice, which may carry a message.
fn answer_to(port: &Port, carries: bool) -> String {
    match port.passes && carries {
        true => format!(
            "const uint8_t answer = 0;\n\
             STACK_{}_send(own, session, NULL, &answer, 1, now_ns);\n",
            port.name
        ),
        false => String::new(),
    }
}

/// What the function of an application does with a message.
fn answer(program: &Program, port: &Port, nothing: &str) -> String {
    let own = &port.name;
    let mut text = format!(
        "struct STACK_frame frame = {{(uint8_t *)data, length}};\n\
         if (STACK_input(own, 0, &frame, 1, now_ns) != 0) {{\nabort();\n}}\n\
         STACK_expire(own, UINT64_MAX);\nif (length == 0) {{\n{nothing}\n}}\n"
    );
    let send = |session: &str, data: &str, length: &str| {
        // The time is that of the call that goes on, whatever is said here.
        format!("STACK_{own}_send(own, {session}, NULL, {data}, {length}, now_ns + 1);\n")
    };
    let first = |bit: u8, does: &str| format!("if ((data[0] & {bit}) != 0) {{\n{does}}}\n");
    text += &first(SENDS, &send("session", "data + 1", "length - 1"));
    if let Some(kind) = port.opens {
        let mut keys = String::new();
        for key in &program.kinds[kind.at()].keys {
            let name = &key.name;
            let bits = match key.kind {
                Type::Optional(_) => continue,
                Type::Unsigned(width) | Type::Sequence(width) => width.min(4),
                _ => 4,
            };
            keys += &format!("keys.{name} = (data[0] >> 4) & ((1 << {bits}) - 1);\n");
            if key.default.is_some() {
                keys += &format!("keys.has_{name} = true;\n");
            }
        }
        let opens = format!(
            "struct STACK_{own}_keys keys = {{0}};\n{keys}\
             const uint32_t opened = STACK_{own}_open(own, &keys, now_ns);\n\
             if (opened != UINT32_MAX) {{\n{}}}\n",
            send("opened", "data", "1")
        );
        text += &first(OPENS, &opens);
    }
    let tells = told(program, port).map(|id| {
        let name = &program.notices[id.at()].name;
        format!("STACK_{own}_{name}(own, session, now_ns);\n")
    });
    let tells: String = tells.collect();
    text += &first(TELLS, &tells);
    text += &first(SENDS_MORE, &send("session", "data", "length / 2"));
    let sent = send("session", "data", "1");
    let sent = sent.trim_end_matches(";\n");
    text + &format!("while (data[0] == {FLOODS} && {sent} == 0) {{\n}}\n")
}

/// The function that a link calls: it says what leaves, and does as that of interpreters.
fn leaving(program: &Program, place: usize, function: &str) -> String {
    let sends = sends_on(program).map(|port| {
        let own = &program.ports[port].name;
        format!(
            "if ((last & {GOES_ON}) != 0) {{\n\
             STACK_{own}_send(own, 0, NULL, &last, 1, now_ns);\n}}\n"
        )
    });
    let (parts, joined) = match program.links[place].gathers {
        true => (
            "const uint8_t *head, size_t head_length, const uint8_t *body, size_t body_length",
            "uint8_t data[65536];\nconst size_t length = head_length + body_length;\n\
             memcpy(data, head, head_length);\n\
             for (size_t at = 0; at < body_length; at += 1) {\n\
             data[head_length + at] = body[at];\n}\n",
        ),
        false => ("const uint8_t *data, size_t length", ""),
    };
    format!(
        "void STACK_{function}(void *user, struct STACK *own, {parts}, \
         uint64_t now_ns) {{\n(void)user;\n{joined}printf(\"f {place}\");\n\
         show_bytes(data, length);\nprintf(\"\\n\");\n\
         if (is_leaving || length == 0) {{\nreturn;\n}}\nis_leaving = true;\n\
         const uint8_t last = data[length - 1];\n\
         if ((last & {COMES_BACK}) != 0 && has_many) {{\n\
         uint8_t *const copy = malloc(length);\nmemcpy(copy, data, length);\n\
         const struct STACK_frame frame = {{copy, length}};\n\
         STACK_input(own, {place}, &frame, 1, now_ns);\nfree(copy);\n}}\n{}\
         if ((last & {EXPIRES}) != 0) {{\nSTACK_expire(own, now_ns);\n}}\n\
         is_leaving = false;\n}}\n",
        sends.unwrap_or_default()
    )
}

fn told_up(program: &Program, place: usize, port: &Port, id: NoticeId) -> String {
    let told = &program.notices[id.at()];
    let carried = match told.message {
        true => "show_bytes(output->data, output->length);\n",
        false => "",
    };
    let mut upper = told.name.to_uppercase();
    if is_constant(&upper) {
        upper.push('_');
    }
    let parameters = told.parameters.iter();
    let shows: String = parameters
        .map(|one| {
            let place = format!("output->with.{}_{}.{}", port.name, told.name, one.name);
            show(&place, &one.kind)
        })
        .collect();
    format!(
        "if (next == UPPER_{upper} && output->place == {place}) {{\n\
         printf(\"n %u %\" PRIu32 \" {}\", output->place, output->session);\n\
         {shows}{carried}}}\n",
        id.0
    )
}

/// Reads a value into a place.
fn read(place: &str, kind: &Type) -> String {
    let (before, name) = place.rsplit_once('.').expect("a member of a struct");
    match kind {
        Type::Optional(inner) => {
            let has = format!("{before}.has_{name}");
            format!(
                "{has} = number() != 0;\nif ({has}) {{\n{}}}\n",
                read(place, inner)
            )
        }
        Type::Bytes(length) => format!("read_bytes({place}.at, {length});\n"),
        Type::BoundedBytes(most) => {
            format!("{place}.length = (uint8_t)read_bounded({place}.at, {most});\n")
        }
        Type::Bool => format!("{place} = number() != 0;\n"),
        Type::Signed(width) => format!("{place} = (int{}_t)number();\n", c_bits(*width)),
        _ => format!("{place} = number();\n"),
    }
}

/// Writes a value.
fn show(place: &str, kind: &Type) -> String {
    let (before, name) = place.rsplit_once('.').expect("a member of a struct");
    match kind {
        Type::Optional(inner) => {
            let has = format!("{before}.has_{name}");
            format!("show({has});\nif ({has}) {{\n{}}}\n", show(place, inner))
        }
        Type::Bytes(length) => format!("show_bytes({place}.at, {length});\n"),
        Type::BoundedBytes(_) => format!("show_bytes({place}.at, {place}.length);\n"),
        _ => format!("show((uint64_t){place});\n"),
    }
}
