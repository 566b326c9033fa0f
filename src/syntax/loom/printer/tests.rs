//! What the printer does to texts that were written otherwise.

use super::format;
use crate::source::Sources;
use crate::syntax::loom::parse;

fn formatted(text: &str) -> String {
    let mut sources = Sources::new();
    let id = sources.add("test.loom", text);
    let (file, diagnostics) = parse(id, &sources);
    assert_eq!(diagnostics, []);
    format(&file, text)
}

#[test]
fn white_space_is_put_right() {
    let text = "\
worker  w( a:u8 ,b : u16=3 )\r
\r
\r
on send( message )
{

\tif a==- 1
\t{ x = a-1 }

\telse
\t{
\t  send message with {b=~ 2,}

\t}
}";
    let expected = "\
worker w(a: u8, b: u16 = 3)

on send(message) {
    if a == -1 { x = a - 1 } else {
        send message with { b = ~2 }
    }
}
";
    assert_eq!(formatted(text), expected);
}

#[test]
fn comments_behind_code_keep_their_column_or_stay_together() {
    let text = "\
entity {
  a: u8       // one
  long_name: queue<message>[3]  // two, in a column of its own

  b:u8 // right behind
  c:   u16    // together
  d:    u1    // with this
}
";
    let expected = "\
entity {
    a: u8     // one
    long_name: queue<message>[3]  // two, in a column of its own

    b: u8 // right behind
    c: u16    // together
    d: u1     // with this
}
";
    assert_eq!(formatted(text), expected);
}

#[test]
fn what_is_too_long_is_broken_where_it_reads_best() {
    let text = "\
on deliver(message) {
    let found = find neighbour(header.sender) else create neighbour(header.sender) \
        else drop message as full
    send new message with { neighbour = header.sender_mac, operation = reply, \
        target = header.sender }
    if header.number == expected_number likely 99% { deliver message } \
        else { drop message as unexpected }
}
";
    let expected = "\
on deliver(message) {
    let found = find neighbour(header.sender)
        else create neighbour(header.sender)
        else drop message as full
    send new message with { neighbour = header.sender_mac, operation = reply, \
        target = header.sender }
    if header.number == expected_number likely 99% {
        deliver message
    } else {
        drop message as unexpected
    }
}
";
    let short = text.replace("operation = reply", "op = reply");
    assert_eq!(
        formatted(&short),
        expected.replace("operation = reply", "op = reply")
    );
    let broken = "\
    send new message with {
        neighbour = header.sender_mac
        operation = reply_to_all
        target = header.sender
    }
";
    let long = text.replace("operation = reply", "operation = reply_to_all");
    assert!(formatted(&long).contains(broken), "{}", formatted(&long));
}

#[test]
fn keys_of_neighbouring_nodes_stand_in_one_column() {
    let text = "stack s { link l { a {\nkey 1 b { port x }\nkey 170 c { port y } } } }";
    let expected = "\
stack s {
    link l {
        a {
            key 1   b { port x }
            key 170 c { port y }
        }
    }
}
";
    assert_eq!(formatted(text), expected);
}

#[test]
fn a_comma_that_a_newline_cannot_replace_stays() {
    let text = "on a {\n    f(\n        b,\n        -c\n    )\n}\n";
    assert_eq!(formatted(text), text);
    let text = "header big {\n    a: u8 counts header,\n    data,\n    b: u8\n}\n";
    assert_eq!(
        formatted(text),
        "header big {\n    a: u8 counts header, data\n    b: u8\n}\n"
    );
    let [before, after] = [
        "filter f() reads u8 {\n    each word {}\n    result u8 { 0 } where itself is 0,",
        "1 is 2\n}\n",
    ];
    let text = format!("{before}\n    {after}");
    assert_eq!(formatted(&text), format!("{before} {after}"));
}
