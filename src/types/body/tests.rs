//! Bodies as they are written: those that are right, and the mistakes that are found in others.

use super::super::load::load;
use super::super::program::Program;
use super::super::{check_layers, check_stack};
use crate::diagnostic::{Diagnostic, Severity, render};
use crate::source::Sources;
use std::collections::BTreeMap;

/// A layer called `fifo` between a link and a port, checked by itself and in its place.
fn checked(layer: &str) -> (Option<Program>, Vec<Diagnostic>, String) {
    let stack = "stack test { link wire { fifo { port top } } }";
    let text = format!("worker fifo\n{layer}\n{stack}\n");
    let mut sources = Sources::new();
    let nothing = BTreeMap::new();
    let (files, mut found) = load(&mut sources, vec![("fifo.loom".into(), text)], &nothing);
    found.extend(check_layers(&sources, &files).1);
    let (program, more) = check_stack(&sources, &files, "test");
    for diagnostic in more {
        let known = |other: &Diagnostic| {
            other.id == diagnostic.id && other.primary.span == diagnostic.primary.span
        };
        if !found.iter().any(known) {
            found.push(diagnostic);
        }
    }
    let shown = render(&found, &sources, false);
    (program, found, shown)
}

/// The layer is right.
#[track_caller]
fn right(layer: &str) -> Program {
    let (program, found, shown) = checked(layer);
    let is_warning = |one: &Diagnostic| one.severity == Severity::Warning;
    assert!(found.iter().all(is_warning), "{shown}");
    program.expect("a program without mistakes")
}

/// The layer has exactly these mistakes.
#[track_caller]
fn wrong(layer: &str, ids: &[&str]) {
    let (_, found, shown) = checked(layer);
    let found: Vec<_> = found.iter().map(|found| found.id.name()).collect();
    assert_eq!(found, ids, "\n{shown}");
}

/// A handler of what comes from above, with some fields at hand; the rest passes.
fn sending(body: &str) -> String {
    FIELDS.replace("BODY", body)
}

const FIELDS: &str = "\
header big { kind: u8 = 0, number: seq16 }
session {
    small: u8 = 0
    large: u32 = 0
    maybe: u16? = none
    last: seq16 = 0
    since: time = 0
    names: array<u16>[4]
    held: queue<message>[4]
    early: window<message>[8]
    timer retry
}
fn double(n: u32) -> u32 = n * 2
on send(message) {
BODY
}
on deliver(message) { deliver message }
on end {
    drop held as closed
    drop early as closed
}
on retry { small = 0 }
";

const SEND: &str = "send message with { number = last }";

/// Statements before the message goes.
fn before(body: &str) -> String {
    sending(&format!("{body}\n{SEND}"))
}

#[test]
fn numbers_widen_by_themselves_and_narrow_by_as() {
    right(&before("large = small"));
    right(&before("large = small * 1000"));
    right(&before("small = large as u8"));
    right(&before("small += 1"));
    right(&before("large = message.length + small"));
    wrong(&before("small = large"), &["narrowing-needs-as"]);
    wrong(&before("small += large"), &["narrowing-needs-as"]);
    wrong(&before("small = 256"), &["number-too-large"]);
    wrong(
        &before("if small == 256 { large = 1 }"),
        &["number-too-large"],
    );
    wrong(&before("small = -1"), &["number-too-large"]);
}

#[test]
fn sequences_and_times_have_their_own_arithmetic() {
    right(&before("last = last + 1\nlast += large as u16"));
    right(&before("large = last - 5 - last"));
    right(&before("last = max(last, last + 2)"));
    right(&before("since = now - since + 2 * 5 ms"));
    right(&before("if now - since > 1 s { since = now }"));
    right(&before("start retry after 3 * 200 ms"));
    wrong(&before("last = large"), &["narrowing-needs-as"]);
    wrong(&before("since = 5"), &["type-mismatch"]);
    wrong(&before("start retry after 5"), &["type-mismatch"]);
    wrong(&before("if last < large { large = 1 }"), &["type-mismatch"]);
    wrong(&before("large = last * 2"), &["type-mismatch"]);
}

#[test]
fn what_is_optional_is_tested_first() {
    right(&before("if present maybe { large = maybe }"));
    right(&before("large = maybe else small"));
    right(&before(
        "let m = maybe else drop message as unknown\nlarge = m + maybe",
    ));
    right(&before(
        "require present maybe else drop message as unknown\nlarge = maybe",
    ));
    right(&before("maybe = 7\nlarge = maybe"));
    right(&before("if present maybe and maybe > 3 { large = 1 }"));
    wrong(&before("large = maybe"), &["perhaps-none"]);
    wrong(&before("if maybe == 7 { large = 1 }"), &["perhaps-none"]);
    wrong(
        &before("if present maybe {\nmaybe = none\nlarge = maybe\n}"),
        &["perhaps-none"],
    );
    wrong(&before("large = small else 2"), &["cannot-fail"]);
    wrong(
        &before("if present maybe { large = 1 }\nlarge = maybe"),
        &["perhaps-none"],
    );
}

#[test]
fn indices_and_divisors_are_guarded() {
    right(&before("names[3] = 1"));
    right(&before("names[small % 4] += 1"));
    right(&before("for i in 0..4 { names[i] = 1 }"));
    right(&before("if large < 4 { names[large] = 1 }"));
    right(&before("let at = min(large, 3)\nnames[at] = 1"));
    right(&before("large = 100 / max(large, 1)"));
    right(&before("if small != 0 { large = 100 / small }"));
    right(&before(
        "if small <= 4 { for i in 0..small { names[i] = 1 } }",
    ));
    wrong(
        &before("for i in 0..small {\nif small <= 4 { names[i] = 1 }\nsmall = 3\n}"),
        &["index-out-of-range"],
    );
    right(&before(
        "if small > 3 and small < 1 { large = 10 / small + 7 % small }",
    ));
    wrong(&before("names[4] = 1"), &["index-out-of-range"]);
    wrong(&before("names[small] = 1"), &["index-out-of-range"]);
    wrong(
        &before("for i in 0..5 { names[i] = 1 }"),
        &["index-out-of-range"],
    );
    wrong(
        &before("if large < 4 {\nlarge += 1\nnames[large] = 1\n}"),
        &["index-out-of-range"],
    );
    wrong(&before("large = 100 / large"), &["division-by-zero"]);
    wrong(&before("large = small << 40"), &["shift-too-far"]);
}

#[test]
fn every_path_uses_its_message_once() {
    right(&sending(
        "if small > 3 { drop message as full } else {\nsend message with { number = last }\n}",
    ));
    right(&sending(&format!(
        "require small > 3 else drop message as low\n{SEND}"
    )));
    right(&sending("held.push(message) else drop message as full"));
    right(&sending(&format!(
        "early.insert(last as u32 as seq32, share message) else drop message as full\n{SEND}"
    )));
    right(&sending(&format!(
        "let first = held.pop() else {SEND}\ndrop first as old\n{SEND}"
    )));
    wrong(&sending("small += 1"), &["message-leaked"]);
    wrong(
        &sending("if small > 3 { drop message as full }"),
        &["message-leaked"],
    );
    wrong(
        &sending(&format!("require small > 3 else {{}}\n{SEND}")),
        &["message-leaked"],
    );
    wrong(&sending(&format!("{SEND}\n{SEND}")), &["message-gone"]);
    wrong(
        &sending(&format!("if small > 3 {{ drop message as full }}\n{SEND}")),
        &["message-gone"],
    );
    wrong(
        &sending(&format!("{SEND}\nlarge = message.length")),
        &["message-gone"],
    );
    wrong(&sending("held.push(message) else {}"), &["message-leaked"]);
    wrong(
        &before("let first = held.pop() else {}\nsmall += 1"),
        &["message-leaked", "message-leaked"],
    );
    wrong(
        &sending("for i in 0..3 { send message with { number = last } }"),
        &["message-gone"],
    );
    wrong(
        &before("for m in held.drain() { small += 1 }"),
        &["message-leaked"],
    );
}

#[test]
fn what_may_fail_says_what_then() {
    wrong(&sending("held.push(message)"), &["missing-else"]);
    wrong(&before("let copy = share message"), &["missing-else"]);
    wrong(&before("message.cut(4) else {}"), &["cannot-fail"]);
    right(&before("message.cut(4)\nmessage.skip(2)"));
}

#[test]
fn a_with_sets_what_there_is() {
    wrong(&sending("send message"), &["missing-setting"]);
    wrong(
        &sending("send message with { number = last, nmuber = 3 }"),
        &["unknown-setting"],
    );
    wrong(
        &sending("send message with { number = last, number = 3 }"),
        &["written-twice"],
    );
    right(&sending("send message with { number = last, kind = 3 }"));
}

#[test]
fn words_stand_for_one_thing() {
    wrong(&before("large = smal"), &["unknown-name"]);
    wrong(&before("let small = 3\nlarge = small"), &["shadowed"]);
    wrong(&before("let n = 3"), &["unused-name"]);
    wrong(&before("large = double(1, 2)"), &["wrong-arguments"]);
    wrong(&before("small = header.kind"), &["no-header"]);
    wrong(&before("large = message.ttl"), &["unknown-name"]);
    wrong(&before("let n = 3\nn = 4"), &["not-assignable"]);
}

#[test]
fn what_is_asked_for_is_handled() {
    let layer = |handlers: &str| {
        format!(
            "child peer(number: u8)[4] {{
                notice moved(to: u8)
                {handlers}
            }}
            on deliver(message) {{
                let p = find peer(3) else drop message as unknown
                tell p moved(4)
                tell p deliver(message)
            }}
            on send(message) {{ send message }}"
        )
    };
    let taken = "on deliver(message) { consume message }";
    right(&layer(&format!("on moved(to) {{ count moves }}\n{taken}")));
    wrong(&layer(taken), &["no-receiver"]);
    wrong(&layer("on moved { again }"), &["no-receiver"; 2]);
}

#[test]
fn what_has_ended_is_left_alone() {
    let layer = |body: &str| {
        format!(
            "child peer(number: u8)[4] {{
                heard: u8 = 0
                timer gone
                on gone {{ end }}
            }}
            on deliver(message) {{
                let p = find peer(3) else drop message as unknown
                {body}
                deliver message
            }}
            on send(message) {{ send message }}"
        )
    };
    right(&layer("p.heard += 1\nend p"));
    wrong(&layer("end p\np.heard += 1"), &["instance-ended"]);
    wrong(
        &layer("if p.heard > 3 { end p }\nend p"),
        &["instance-ended"],
    );
    wrong(&layer("end p\nstart p.gone after 1 s"), &["instance-ended"]);
    wrong(&layer("for i in 0..3 { end p }"), &["instance-ended"]);
}

#[test]
fn functions_loop_and_return() {
    right(
        "fn sum(n: u8) -> u32 {
            let total = 0
            for i in 0..n { total += i }
            return total
        }
        session { all: u32 = 0 }
        on send(message) {\nall = sum(3)\nsend message\n}
        on deliver(message) { deliver message }",
    );
    wrong(
        "fn one(n: u8) -> u32 = two(n)
        fn two(n: u8) -> u32 = one(n)
        on send(message) { send message }
        on deliver(message) { deliver message }",
        &["recursive-function"],
    );
    wrong(
        "fn sign(n: u8) -> u32 {\nif n > 3 { return 1 }\n}
        on send(message) { send message }
        on deliver(message) { deliver message }",
        &["missing-return"],
    );
}

#[test]
fn a_match_has_all_cases() {
    let layer = |cases: &str| {
        format!(
            "enum kind: u8 {{ data, beat, nak }}
            header little {{ kind: kind, upto: seq32 if kind == nak }}
            session {{ highest: seq32 = 0 }}
            on deliver(message) {{\nmatch header.kind {{\n{cases}\n}}\n}}
            on send(message) {{ send message with {{ kind = data }} }}"
        )
    };
    right(&layer(
        "case data likely 99% { deliver message }
        case beat { consume message }
        case nak {\nhighest = header.upto\nconsume message\n}",
    ));
    right(&layer(
        "case data { deliver message }\nelse { drop message as other }",
    ));
    wrong(
        &layer("case data { deliver message }\ncase nak { consume message }"),
        &["missing-case"],
    );
    wrong(
        &layer(
            "case data { deliver message }\ncase data { consume message }\n\
            else { consume message }",
        ),
        &["written-twice"],
    );
    wrong(
        &layer(
            "case data {\nhighest = header.upto\ndeliver message\n}\n\
            else { drop message as other }",
        ),
        &["perhaps-none"],
    );
}

#[test]
fn records_sets_and_bytes_repair_what_was_lost() {
    let layer = |index: &str, room: &str| {
        format!(
            "const k = 8
            const r = 2
            header little {{ block: seq16, place: u8 where place < k + r, length: u16 }}
            record row {{ sum: bytes[100] = 0, length: u16 = 0, missing: u8 = 5 }}
            session {{ block: seq16 = 0, place: u8 = 0 }}
            child repair(block: seq16)[4] {{
                seen: set[{room}]
                rows: array<row>[r]
            }}
            on deliver(message) {{
                let b = find repair(header.block)
                    else create repair(header.block)
                    else deliver message
                let i = {index}
                require b.seen.insert(header.place) else drop message as repeated
                b.rows[i].sum.xor(message.data)
                b.rows[i].length ^= header.length
                b.rows[i].missing -= 1
                consume message
                if b.rows[i].missing == 1 and b.seen.has(k + i) likely 1% {{
                    deliver new message(b.rows[i].sum, b.rows[i].length)
                    count repaired
                    end b
                }}
            }}
            on send(message) {{
                send message with {{ block = block, place = place, length = 0 }}
                place = (place + 1) % (k + r) as u8
            }}"
        )
    };
    right(&layer("header.place % r", "k + r"));
    wrong(&layer("header.place", "k + r"), &["index-out-of-range"; 7]);
    wrong(&layer("header.place % r", "k"), &["index-out-of-range"; 2]);
}

#[test]
fn a_window_sends_again_what_was_asked_for() {
    let layer = |bound: &str| {
        format!(
            "enum kind: u8 {{ cast, nak }}
            header little {{ kind: kind, number: seq32, upto: seq32 if kind == nak }}
            session {{
                next: seq32 = 0
                sent: window<message>[16]
            }}
            on deliver(message) {{
                match header.kind {{
                    case cast likely 99% {{ deliver message }}
                    case nak {{
                        for number in header.number..header.upto{bound} {{
                            let copy = sent.share(number) else count asked_for_old
                            send copy with {{ kind = cast, number = number }}
                        }}
                        sent.release_to(header.number)
                        consume message
                    }}
                }}
            }}
            on send(message) {{
                sent.insert(next, share message) else drop message as window_full
                send message with {{ kind = cast, number = next }}
                next += 1
            }}
            on end {{ drop sent as closed }}"
        )
    };
    right(&layer(" at most 16"));
    wrong(&layer(""), &["unbounded-loop"]);
}

#[test]
fn a_filter_rewrites_what_nobody_shares() {
    let layer = |body: &str| {
        format!(
            "filter flip(key: u32 = 7) rewrites u32 little {{
                pad: u32 = key
                each word {{
                    yield word ^ pad
                    pad = pad * 0x0019_660d + 0x3c6e_f35f
                }}
            }}
            filter sum() reads u16 big {{
                total: u32 = 0
                each word {{ total += word }}
                result u16 {{ total as u16 }}
            }}
            header big {{ sum: u16 }}
            on send(message) {{\n{body}\n}}
            on deliver(message) {{
                message.data = message.data through flip(3)
                let sum = message.data through sum()
                require sum == header.sum else drop message as damaged
                deliver message
            }}"
        )
    };
    right(&layer(
        "let sum = message.data through sum()
        message.data = message.data through flip()
        send message with { sum = sum }",
    ));
    wrong(
        &layer(
            "let copy = share message else drop message as no_room
            message.data = message.data through flip()
            send message with { sum = 0 }
            send copy with { sum = 1 }",
        ),
        &["message-gone"],
    );
    wrong(
        &layer("message.data = message.data through sum()\nsend message with { sum = 1 }"),
        &["type-mismatch"],
    );
}
