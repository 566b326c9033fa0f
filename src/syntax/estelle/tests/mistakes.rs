//! Each mistake of the grammar: its place, its reason, and what to do.

use super::parse;
use crate::diagnostic::Id;

/// Checks the only mistake of a text: its place is between `«` and `»`, and its advice, or else its
/// label, contains some words.
fn one(id: Id, marked: &str, words: &str) {
    all(marked, &[(id, words)]);
}

/// Checks all mistakes of a text.
fn all(marked: &str, expected: &[(Id, &str)]) {
    let text = marked.replace(['«', '»'], "");
    let (_, found) = parse(&text);
    assert_eq!(found.len(), expected.len(), "{marked}\n{found:#?}");
    let mut places = marked.split('«');
    let mut before = places.next().unwrap_or_default().len();
    for (found, (id, words)) in found.iter().zip(expected) {
        let (inside, behind) = places
            .next()
            .and_then(|it| it.split_once('»'))
            .expect("a place");
        let place = found.primary.span.start as usize..found.primary.span.end as usize;
        assert_eq!(place, before..before + inside.len(), "{marked}\n{found:#?}");
        before += inside.len() + behind.len();
        assert_eq!(found.id, *id, "{marked}\n{found:#?}");
        let why = found.why.as_deref().unwrap_or_default();
        let help = found.help.as_deref().unwrap_or_default();
        let said = format!("{} {} {why} {help}", found.title, found.primary.text);
        assert!(said.contains(words), "{marked}\n{said}");
    }
}

/// Checks the only mistake of statements.
fn statement(id: Id, marked: &str, words: &str) {
    one(
        id,
        &format!("specification s; trans begin {marked} end; end."),
        words,
    );
}

/// Checks the only mistake of declarations.
fn declaration(id: Id, marked: &str, words: &str) {
    one(id, &format!("specification s; {marked} end."), words);
}

#[test]
fn characters_numbers_and_strings() {
    statement(Id::UnknownCharacter, "x := «!» b", "ignored");
    statement(
        Id::EstelleNumber,
        "x := «12abc»",
        "a name begins with a letter",
    );
    statement(Id::EstelleNumber, "x := «99999999999999999999»", "maxint");
    statement(Id::EstelleNumber, "x := «1e999»", "1.7e308");
    statement(Id::EstelleString, "x := «''»", "one or more characters");
    statement(Id::EstelleString, "x := «\"a\"»", "write `'text'`");
    statement(Id::MissingBracket, "x := «'a»\n", "on the same line");
    one(
        Id::MissingBracket,
        "specification s; «{» never closed; end.",
        "expected `}`",
    );
    one(
        Id::MissingBracket,
        "specification s; «(*» never closed } end.",
        "expected `*)`",
    );
}

#[test]
fn refusals_say_their_reason() {
    declaration(Id::EstellePointer, "type t = «^»u;", "There is no heap");
    statement(Id::EstellePointer, "p«^» := 1", "There is no heap");
    statement(Id::EstellePointer, "p := «nil»", "use an array");
    statement(Id::EstellePointer, "«new»(p)", "use an array");
    statement(Id::EstellePointer, "«dispose»(p)", "use an array");
    declaration(
        Id::EstelleFiles,
        "type t = «file» of char;",
        "at interaction points",
    );
    statement(Id::EstelleFiles, "«write»(1: 5, 2)", "`primitive`");
    statement(Id::EstelleFiles, "«readln»", "`primitive`");
    statement(Id::EstelleGoto, "«goto» 1", "use `while`");
    statement(Id::EstelleGoto, "«1»: x := 2", "use `while`");
    declaration(Id::EstelleGoto, "«label» 1, 2;", "use `while`");
    let id = Id::EstelleProceduralParameter;
    declaration(
        id,
        "procedure p(«function» f: t); begin end;",
        "enumeration",
    );
    let id = Id::EstelleConformantArray;
    declaration(
        id,
        "procedure p(a: «array» [i..j: t] of u); begin end;",
        "level 1",
    );
}

#[test]
fn a_routine_of_the_program_may_have_the_name_of_a_predefined_one() {
    all(
        "specification s; procedure Put; begin end; trans begin put end; end.",
        &[],
    );
}

#[test]
fn clauses_belong_to_blocks_and_otherwise_is_last() {
    let id = Id::EstelleOtherwise;
    declaration(id, "trans «provided otherwise» begin end;", "no `provided`");
    let text = "trans provided a begin end; provided otherwise begin end; «provided b» begin end;";
    declaration(id, text, "never reached");
    let id = Id::EstelleNoBlock;
    declaration(
        id,
        "trans «provided a» provided b begin end;",
        "closes that clause",
    );
    declaration(id, "trans from a begin end; «to b»", "no transition");
    declaration(id, "«trans»", "`begin … end;`");
    let id = Id::EstelleInitializeClause;
    declaration(id, "initialize «from» a begin end;", "behind `trans`");
    declaration(Id::UnexpectedWord, "«from» a begin end;", "write `trans`");
    declaration(
        Id::UnexpectedWord,
        "trans when a.b«.»c begin end;",
        "its own interaction points",
    );
    declaration(
        Id::UnexpectedWord,
        "trans begin end; «initialize» begin end;",
        "too late",
    );
    let text = "initialize begin end; «initialize» begin end;";
    declaration(Id::WrittenTwice, text, "behind the first one");
    declaration(
        Id::UnexpectedWord,
        "trans begin end; «state» a;",
        "too late",
    );
}

#[test]
fn a_missing_word_or_sign_is_named() {
    let id = Id::UnexpectedWord;
    one(id, "«program» s; end.", "a file is one specification");
    one(id, "specification s «process»; end.", "`systemprocess`");
    one(
        id,
        "specification s; timescale «second»; end.",
        "perhaps you mean `seconds`",
    );
    one(id, "specification s; end«»", "expected `.`");
    one(
        id,
        "specification s; end«;» var x: t; end.",
        "one `end` too many",
    );
    one(id, "specification s; end. «x»", "which `end.` ends");
    one(
        id,
        "specification s; body b for m; «end».",
        "an `end` is missing",
    );
    one(
        id,
        "specification s; trans begin x := 1; «end».",
        "an `end` is missing",
    );
    declaration(id, "«modul» m; end;", "perhaps you mean `module`");
    declaration(id, "const n = 2 «*» 3;", "a constant is a number");
    declaration(id, "channel c(a, b«,» d); by a: X;", "two roles");
    declaration(id, "channel c(a, b); by a, b, «c»: X;", "two roles");
    declaration(
        id,
        "function f(a: «1..3»): t; begin end;",
        "declare the type before",
    );
    declaration(id, "module m; ip p: c«;» end;", "expected `(`");
    declaration(id, "body b «m»; end;", "expected `for`");
    declaration(Id::EstelleReserved, "var «queue»: t;", "choose another one");
    statement(id, "x := «1»\ny := 2", "a `;` is missing");
    statement(id, "if a «the» x := 1", "perhaps you mean `then`");
    statement(id, "if a then x := 1; «else» x := 2", "remove the `;`");
    statement(id, "x «=» 1", "write `:=`");
    statement(id, "output p«;»", "POINT.INTERACTION");
    statement(id, "f(«)»", "no parentheses");
    statement(id, "x := (1 + 2«;» y := 3", "expected `)`");
    statement(
        id,
        "case x of 1: y := 1; «else» y := 2 end; z := 1",
        "`case` has no `else`",
    );
    statement(
        Id::ChainedComparison,
        "x := a < b «<» c",
        "bind more strongly",
    );
    one(
        Id::WrittenTwice,
        "specification s; timescale hours; «timescale» hours; end.",
        "remove",
    );
}

#[test]
fn one_run_points_out_every_mistake() {
    let text = "specification s;\n\
                var «in»: t; b: u;\n\
                type r = record a: t; b: «;» c: t end;\n\
                channel c(«1», b); by a: X; «2»; Y;\n\
                body b for m; trans from a to «1» begin x := «]»; y := 1 end; priority 2 begin \
                while «do» x := 1; repeat x := 1 until b «then» y := 2 end; end;\n\
                modvar m «n»;\n\
                end.";
    let id = Id::UnexpectedWord;
    let expected = [
        (Id::EstelleReserved, ""),
        (id, "a type"),
        (id, "a role"),
        (id, "an interaction"),
        (id, "a state"),
        (id, "an expression"),
        (id, "an expression"),
        (id, "`;` or `end`"),
        (id, "`:`"),
    ];
    all(text, &expected);
}

#[test]
fn nesting_is_bounded() {
    let deep = |open: &str, close: &str| format!("{}x{}", open.repeat(99), close.repeat(99));
    let text = |inner: &str| format!("specification s; trans begin y := {inner} end; end.");
    assert_eq!(parse(&text(&deep("(", ")"))).1.len(), 1);
    for inner in [
        deep("not ", ""),
        deep("x + ", ""),
        deep("(", ")"),
        deep("f(", ")"),
    ] {
        let inner = format!("x + x + {inner}");
        let (_, found) = parse(&text(&inner));
        assert_eq!(found[0].id, Id::NestedTooDeeply, "{inner}");
        assert_eq!(found.len(), 1, "{inner}");
    }
    let sum = "(x) + ".repeat(90) + "x";
    assert!(parse(&text(&sum)).1.is_empty());
}

#[test]
fn at_most_twenty_mistakes_are_told() {
    let text = format!(
        "specification s; trans begin {} end; end.",
        "x := ; ".repeat(30)
    );
    let (_, found) = parse(&text);
    assert_eq!(found.len(), 21);
    assert_eq!(found[20].id, Id::TooManyMistakes);
    assert_eq!(found[20].title, "there are 10 more mistakes");
}
