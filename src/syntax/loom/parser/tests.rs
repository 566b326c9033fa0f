//! What the parser makes of a text, and what it says of mistakes.

use super::parse;
use crate::diagnostic::{Diagnostic, render};
use crate::source::Sources;
use crate::syntax::loom::ast::{
    Declaration, Expression, ExpressionKind, File, Item, Statement, StatementKind,
};

/// The tree of a text, and its mistakes as they are shown.
fn read(text: &str) -> (File, String) {
    let mut sources = Sources::new();
    let id = sources.add("test.loom", text);
    let (file, diagnostics) = parse(id, &sources);
    let shown = render(&diagnostics, &sources, false);
    (file, shown)
}

fn file(text: &str) -> File {
    let (file, shown) = read(text);
    assert_eq!(shown, "");
    file
}

/// The titles of the mistakes in a text, each with its line and its label.
fn mistakes(text: &str) -> Vec<String> {
    let mut sources = Sources::new();
    let id = sources.add("test.loom", text);
    let (_, diagnostics) = parse(id, &sources);
    let line = |diagnostic: &Diagnostic| sources.position(diagnostic.primary.span).line;
    diagnostics
        .iter()
        .map(|it| format!("{}: {}", line(it), it.title))
        .collect()
}

/// The statements of one handler.
fn statements(text: &str) -> Vec<Statement> {
    let file = file(&format!("on start {{\n{text}\n}}\n"));
    match file.declarations.into_iter().next() {
        Some(Declaration::Item(Item::Handler(handler))) => handler.body.statements,
        other => panic!("a handler was written: {other:?}"),
    }
}

/// A value with parentheses around every operation.
fn grouped(text: &str) -> String {
    let statements = statements(&format!("x = {text}"));
    match &statements[0].kind {
        StatementKind::Assign { value, .. } => show(value),
        other => panic!("an assignment was written: {other:?}"),
    }
}

fn show(value: &Expression) -> String {
    match &value.kind {
        ExpressionKind::Name(name) => name.text.clone(),
        ExpressionKind::Number(number) => number.to_string(),
        ExpressionKind::Duration(duration_ns) => format!("{duration_ns} ns"),
        ExpressionKind::Group(inner) => show(inner),
        ExpressionKind::Unary { operator, operand } => {
            format!("({} {})", operator.text(), show(operand))
        }
        ExpressionKind::Binary {
            operator,
            left,
            right,
        } => {
            format!("({} {} {})", show(left), operator.text(), show(right))
        }
        ExpressionKind::Else { value, otherwise } => {
            format!("({} else {})", show(value), show(otherwise))
        }
        ExpressionKind::Cast { operand, .. } => format!("({} as)", show(operand)),
        ExpressionKind::Field { of, name } => format!("{}.{name}", show(of)),
        other => panic!("not needed in these tests: {other:?}"),
    }
}

#[test]
fn operators_bind_as_the_grammar_says() {
    assert_eq!(
        grouped("a or b and not c == d"),
        "(a or (b and (not (c == d))))"
    );
    assert_eq!(
        grouped("a | b ^ c & d << e + f * g"),
        "(a | (b ^ (c & (d << (e + (f * g))))))"
    );
    assert_eq!(grouped("a - b - c"), "((a - b) - c)");
    assert_eq!(grouped("-a.b as u8 + ~c"), "((- (a.b as)) + (~ c))");
    assert_eq!(
        grouped("a else b or c else d"),
        "((a else (b or c)) else d)"
    );
}

#[test]
fn pre_and_present_belong_to_the_value_behind_them() {
    assert_eq!(
        grouped("a <= pre b and present c"),
        "((a <= (pre b)) and (present c))"
    );
    assert_eq!(grouped("pre a.b - pre c"), "((pre a.b) - (pre c))");
}

#[test]
fn a_time_is_a_number_and_a_unit() {
    assert_eq!(grouped("200 ms"), "200000000 ns");
    assert_eq!(grouped("0x10"), "16");
    assert_eq!(
        mistakes("const a = 99999999999 h"),
        ["1: this duration is too long"]
    );
    assert_eq!(
        mistakes("const a = 5ms"),
        ["1: a number and its unit need a space between them"]
    );
    assert_eq!(
        mistakes("const a = 18446744073709551616"),
        ["1: `18446744073709551616` does not fit into 64 bits"]
    );
}

#[test]
fn an_else_with_a_statement_ends_the_value() {
    let statements = statements("let n = find a(b)\n  else create a(b)\n  else drop m as full");
    let StatementKind::Let {
        value, otherwise, ..
    } = &statements[0].kind
    else {
        panic!("a `let` was written");
    };
    assert!(matches!(value.kind, ExpressionKind::Else { .. }));
    let otherwise = otherwise.as_ref().expect("there is a drop");
    assert!(matches!(
        otherwise.statements[0].kind,
        StatementKind::Drop { .. }
    ));
}

#[test]
fn an_or_separates_the_targets_of_a_find() {
    let find = "on deliver find session(a) if b and not c\n  or session(d) if (e or f)\n  else {}";
    let file = file(find);
    let [Declaration::Item(Item::Finder(finder))] = &file.declarations[..] else {
        panic!("a finder was written");
    };
    let conditions = finder
        .targets
        .iter()
        .map(|it| it.condition.as_ref().map(show));
    let shown = ["(b and (not c))", "(e or f)"].map(|it| Some(it.to_owned()));
    assert_eq!(conditions.collect::<Vec<_>>(), shown);
    assert_eq!(grouped("a as u8 < b"), "((a as) < b)");
}

#[test]
fn items_belong_to_the_layer_before_them() {
    let file = file("const a = 1\nworker w\nrequires x: s\nentity\nstack s { w }\nconst b = 2\n");
    let kinds = file
        .declarations
        .iter()
        .map(|declaration| match declaration {
            Declaration::Layer(layer) => layer.items.len(),
            Declaration::Item(_) => 100,
            Declaration::Stack(_) | Declaration::Policy(_) => 200,
            Declaration::Service(_) => 300,
        });
    assert_eq!(kinds.collect::<Vec<_>>(), [100, 1, 200, 100]);
}

#[test]
fn documentation_and_rules_stay_with_their_nodes() {
    let text = "\
/// first
///   second
on start {
    //= rfc1#2  before
    a = 1         //= rfc1#3
    if b {        //= rfc1#4  at the beginning
        c = 1
    } else { d = 1 }  //= rfc1#5
}
";
    let file = file(text);
    let Declaration::Item(Item::Handler(handler)) = &file.declarations[0] else {
        panic!("a handler was written");
    };
    assert_eq!(handler.notes.documentation, ["first", "  second"]);
    let references = |statement: &Statement| {
        let rules = statement.notes.rules.iter();
        rules
            .map(|rule| format!("{} {}", rule.reference, rule.remark))
            .collect::<Vec<_>>()
    };
    let statements = &handler.body.statements;
    assert_eq!(references(&statements[0]), ["rfc1#2 before", "rfc1#3 "]);
    assert_eq!(
        references(&statements[1]),
        ["rfc1#4 at the beginning", "rfc1#5 "]
    );
    assert!(handler.notes.rules.is_empty());
}

#[test]
fn a_rule_behind_a_comma_belongs_to_what_stands_before_it() {
    let file = file("record a {\n    b: u8,  //= rfc1#2\n    c: u8\n}\n");
    let Declaration::Item(Item::Record(record)) = &file.declarations[0] else {
        panic!("a record was written");
    };
    let rules: Vec<usize> = record
        .fields
        .iter()
        .map(|field| field.notes.rules.len())
        .collect();
    assert_eq!(rules, [1, 0]);
}

#[test]
fn every_mistake_of_a_file_is_told_in_one_run() {
    let text = "\
wroker w(a: u32)
header {
    a: u8
}
session { timr x, last: seq32 = 0; }
on deliver(message) {
    if a = b && !c { drop message }
    require x
    delvier message
    a < b < c
    return 3
    stop a   exit b
    let z = early.first else drop message as
}
";
    let expected = [
        "1: unknown word `wroker`",
        "2: this header has no byte order",
        "5: unknown word `timr`",
        "5: Loom has no semicolons: newlines end statements",
        "7: `=` does not compare values",
        "7: Loom writes `and` for `&&`",
        "7: Loom writes `not` for `!`",
        "7: this drop has no reason",
        "8: this `require` has no `else`",
        "9: unknown word `delvier`",
        "10: comparisons cannot be chained",
        "11: a handler has no `return`",
        "12: two statements on one line",
        "13: this line ends too early",
    ];
    assert_eq!(mistakes(text), expected);
}

#[test]
fn indentation_tells_which_bracket_was_forgotten() {
    let text = "\
on send(message) {
    if a {
        send message

on tick {
    x = f(a
    y = 3
    again ]
}
";
    // One mistake of each item: what else is said of its brackets may follow from it.
    let expected = ["1: this `{` is never closed", "6: this `(` is never closed"];
    assert_eq!(mistakes(text), expected);
    let (tree, _) = read(text);
    assert_eq!(tree.declarations.len(), 2, "both handlers are in the tree");
}

#[test]
fn words_of_other_languages_are_translated() {
    assert_eq!(
        mistakes("import link.service"),
        ["1: Loom writes `use` for `import`"]
    );
    assert_eq!(
        mistakes("struct a { b: u8 }"),
        ["1: Loom writes `record` for `struct`"]
    );
    let text = "on start {\n    x++\n    a = b ? c : d\n    header.a = 1\n}";
    assert_eq!(
        mistakes(text),
        ["2: there is no `++`", "3: Loom has no `? :`"]
    );
    let text = "on start {\n    while (true) { a = 1 }\n    switch a { case b { again } }\n}";
    assert_eq!(
        mistakes(text),
        [
            "2: Loom has no `while`, because each loop in a handler is bounded",
            "3: Loom writes `match` for `switch`"
        ]
    );
}

#[test]
fn a_diagnostic_says_what_is_expected_and_what_to_do() {
    let (_, shown) = read("on deliver(message) {\n    drop message\n}\n");
    let expected = "\
error[missing-reason]: this drop has no reason
 --> test.loom:2:17
  |
2 |     drop message
  |                 ^ expected `as` and a name
  |
  = Each drop is counted under a reason, so that no message is lost unnoticed.
  = help: write `drop message as too_long`, with your own reason

";
    assert_eq!(shown, expected);
}

#[test]
fn hostile_nesting_is_a_mistake_and_no_overflow() {
    let deep = |before: &str, repeated: &str, after: &str| {
        let text = format!("{before}{}{after}", repeated.repeat(20_000));
        let told = mistakes(&text).len();
        assert!(
            (1..=21).contains(&told),
            "{before}{repeated}… is refused in a few words"
        );
    };
    deep("const a = ", "(", "");
    deep("const a = ", "-", "1");
    deep("const a = ", "not ", "b");
    deep("const a = b", " + b", "");
    deep("const a = b", " else b", "");
    deep("const a = b", ".b", "");
    deep("const a = b", "[b]", "");
    deep("const a = b", " as u8", "");
    deep("const a = ", "if b { c } else ", "{ d }");
    deep("const a = ", "if b { ", "");
    deep("type a = ", "b<", "");
    deep("record a { b: ", "c<", "");
    deep("on start ", "{ if a ", "{}");
    deep("on start {", "require a else ", "{} }");
    deep("stack s ", "{ a ", "");
    deep("on start { send m with ", "{ a = ", "");
    deep("process a ", "{ process a ", "");
    deep("", "}", "");
    deep("on a ", "{\n", "");
}

#[test]
fn a_body_has_an_end() {
    let body = "x += 1\n".repeat(499);
    file(&format!(
        "on start {{\n{body}if x == 1 {{}}\n}}\non end {{\n{body}}}\n"
    ));
    let branches = "if x == 1 {}".to_owned() + &" else if x == 2 {}".repeat(7000);
    for body in ["x += 1\n".repeat(5000), branches] {
        let found = mistakes(&format!("on start {{\n{body}\n}}\n"));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].ends_with("this handler or function is too long"));
    }
}
