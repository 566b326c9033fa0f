//! What a driver in C says differently for each program: the structs and calls of its ports.
//!
//! In: a program. Out: the text of its driver, which is `driver.c` with its capitals filled in.

use stackloom::types::program::{Key, KindId, NoticeId, Port, Program};
use stackloom::types::value::Type;

/// The driver of a program; `room` is what a buffer of its stack has room for.
pub fn driver(program: &Program, room: usize) -> String {
    let config = program.config.iter();
    let config: String = config
        .map(|one| read(&format!("config.{}", one.name), &one.kind))
        .collect();
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
        delivered += &delivery(program, place, port);
        let by_opening =
            |id: &&NoticeId| port.opens.is_some() && program.notices[id.at()].name == "open";
        for id in port.down.iter().filter(|id| !by_opening(id)) {
            notices += &notice(program, place, port, *id);
        }
        for id in &port.up {
            told += &told_up(program, place, port, *id);
        }
    }
    include_str!("driver.c")
        .replace("CONFIGURE", &config)
        .replace("UNLISTENING", &ends)
        .replace("LISTENS", &listens)
        .replace("OPENS", &opens)
        .replace("SENDS", &sends)
        .replace("NOTICES", &notices)
        .replace("DELIVERED", &delivered)
        .replace("TOLD", &told)
        .replace("ROOM", &format!("{room}U"))
        .replace("STACK", &program.name)
        .replace("UPPER", &program.name.to_uppercase())
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
        Type::Signed(width) => format!("int{}_t a{at};\n", c_bits(*width)),
        Type::Bool => format!("bool a{at};\n"),
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

fn told_up(program: &Program, place: usize, port: &Port, id: NoticeId) -> String {
    let told = &program.notices[id.at()];
    let upper = told.name.to_uppercase();
    let parameters = told.parameters.iter();
    let shows: String = parameters
        .map(|one| {
            let place = format!("output->with.{}_{}.{}", port.name, told.name, one.name);
            show(&place, &one.kind)
        })
        .collect();
    format!(
        "if (next == UPPER_{upper} && output->place == {place}) {{\n\
         printf(\"n %u %\" PRIu32 \" {}\", output->place, output->session);\n{shows}}}\n",
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
        _ => format!("show((uint64_t){place});\n"),
    }
}
