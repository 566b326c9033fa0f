//! The canonical form.

use super::super::format;
use super::super::lexer::lex;
use super::{SAMPLE, parse_well, without_spans};
use crate::source::Sources;

/// Formats a text, and checks all that holds for any text.
pub(super) fn formatted(text: &str) -> String {
    let tree = parse_well(text);
    let once = format(&tree, text);
    let again = parse_well(&once);
    assert_eq!(without_spans(&tree), without_spans(&again), "{once}");
    assert_eq!(format(&again, &once), once, "formatted twice");
    once
}

#[test]
fn the_canonical_form_has_the_same_tree_and_is_idempotent() {
    let once = formatted(SAMPLE);
    assert!(once.lines().all(|line| line.chars().count() <= 100));
    assert!(once.lines().all(|line| line.trim_end() == line));
    for comment in [
        "{ behind a type }",
        "{ pure }",
        "{ inside }",
        "{ last }",
        "{ the end }",
    ] {
        assert!(once.contains(comment), "{comment} is kept");
    }
}

#[test]
fn each_clause_has_a_line_and_is_indented_as_nested() {
    let text = "SPECIFICATION s;Body b FOR m;Trans From idle TO open{ calls }When u.REQ(x)\n\
                name n:begin x:=1;if a then b else begin c end End;\n\
                to idle begin end;end;end.";
    let expected = "\
specification s;
body b for m;
  trans
    from idle
      to open { calls }
        when u.REQ(x)
          name n:
          begin
            x := 1;
            if a then
              b
            else begin
              c
            end
          end;
      to idle
        begin end;
end;
end.
";
    assert_eq!(formatted(text), expected);
}

#[test]
fn a_long_line_is_broken_between_outer_brackets() {
    let names: Vec<String> = (0..40).map(|at| format!("state_{at}")).collect();
    let text = format!(
        "specification s; state {}; function f(a: b): c; begin f := {} end; end.",
        names.join(","),
        names.join(" + g(1, 2) * ")
    );
    let once = formatted(&text);
    assert!(
        once.lines().all(|line| line.chars().count() <= 100),
        "{once}"
    );
    assert!(once.lines().count() < 25, "{once}");
}

#[test]
fn comments_stay_where_they_stand() {
    let text = "{ top\n  second }\n\n\n\nspecification s; { behind }\nconst\n        \
                { own\n          two }\n  a = 1; { one } { two }\n  { lead } b = { mid } 2;\n\
                { before end }\nend. { last }\n\n(* very last *)";
    let expected = "\
{ top
  second }

specification s; { behind }
const
  { own
    two }
  a = 1; { one } { two }
  { lead } b = { mid } 2;
  { before end }
end. { last }

(* very last *)
";
    assert_eq!(formatted(text), expected);
}

#[test]
fn comments_between_any_two_tokens_are_kept() {
    const SEED: u64 = 7185;
    println!("seed {SEED}");
    let mut choice = fastrand::Rng::with_seed(SEED);
    let mut sources = Sources::new();
    let file = sources.add("", SAMPLE);
    let starts = lex(file, &sources).tokens;
    for _ in 0..300 {
        let mut text = String::new();
        let mut from = 0;
        let mut comments = 0;
        for token in &starts {
            let start = token.span.start as usize;
            text.push_str(&SAMPLE[from..start]);
            from = start;
            if choice.u8(..20) > 0 {
                continue;
            }
            comments += 1;
            text.push_str(match choice.u8(..8) {
                0 => "{ new }",
                1 => "\n{ new }\n",
                2 => " { new }\n\n\n",
                3 => "\n\n\n   (* new\n         of two lines *)\n",
                4 => " { new\n of two lines   } ",
                5 => "\n { new } ",
                6 => "{ new }\n",
                _ => "\n\t{ new\n\t  tab }\r\n",
            });
        }
        text.push_str(&SAMPLE[from..]);
        let once = formatted(&text);
        let kept = once.matches("{ new").count() + once.matches("(* new").count();
        assert_eq!(kept, comments, "{once}");
    }
}
