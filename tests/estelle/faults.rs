//! Each fault is the same everywhere: statements that end in one, each in a system of its own.

use crate::generated::{Generated, reference};
use stackloom::simulate::estelle::{Choice, Line};

/// Declarations of the specification.
const SHARED: &str = "
type small = 0..3; colour = (red, green); many = set of 1..9;
channel C(x, y); by x: M(k: small; l: many); by y: N;
";

/// Declarations of a system, before its transition. The delay of a child is a fault where it
/// begins. It must not begin where what initialises the child ends in a fault, also when other
/// systems go on.
const OWN: &str = "
module Child process; ip p, q: C(x); end;
body ChildBody for Child;
  var least: integer;
  initialize begin least := -1 end;
  trans delay(least) begin end;
end;
body Pair for Child;
  modvar one, two: Child;
  initialize begin init one with ChildBody; init two with ChildBody end;
end;
body Stuck for Child; initialize provided 1 > 2 begin end; end;
modvar m: Child; some: array [1..2] of Child;
ip t, u: C(y); o: C(x);
var i: integer; s: small; r: real; c: char; e: colour; w: many;
  a: array [1..3] of integer;
  v: record case tag: boolean of false: (x: integer); true: (y: boolean) end;
function small_one(k: small): small; begin small_one := k end;
function large(k: integer): small; begin large := k end;
procedure sets(var k: small; l: integer); begin k := l end;
procedure takes(k: many); begin w := k end;
";

/// Statements, and the fault in which they end.
const STATEMENTS: [(&str, &str); 61] = [
    ("i := 4; s := i", "range"),
    ("i := -1; s := i", "range"),
    ("i := 4; s := small_one(i)", "range"),
    ("s := large(4)", "range"),
    ("sets(s, 4)", "range"),
    ("r := 4.5; s := trunc(r)", "range"),
    ("i := 0; a[i] := 1", "range"),
    ("i := 4; a[i] := 1", "range"),
    ("i := 3; init some[i] with ChildBody", "range"),
    ("i := 256; c := chr(i)", "range"),
    ("i := -1; c := chr(i)", "range"),
    ("e := green; e := succ(e)", "range"),
    ("e := red; e := pred(e)", "range"),
    ("i := 4; for s := 2 to i do r := 0.0", "range"),
    ("i := -1; for s := 2 downto i do r := 0.0", "range"),
    ("i := 10; w := [i]", "range"),
    ("i := 0; w := [i]", "range"),
    ("i := 0; w := [i..4]", "range"),
    ("i := 256; w := [2..i]", "range"),
    ("i := 12; takes([i])", "range"),
    ("i := 4; output o.M(i, [])", "range"),
    ("i := 0; output o.M(1, [i])", "range"),
    ("i := maxint; i := i + 1", "overflow"),
    ("i := -maxint; i := i - 1", "overflow"),
    ("i := 65536; i := i * i", "overflow"),
    ("i := 46341; i := sqr(i)", "overflow"),
    ("i := maxint; i := succ(i)", "overflow"),
    ("i := -maxint; i := pred(i)", "overflow"),
    ("r := 1.0e300; r := r * r", "overflow"),
    ("r := 1.0e300; r := sqr(r)", "overflow"),
    ("r := 1.0e308; r := r + r", "overflow"),
    ("r := -1.0e308; r := r - 1.0e308", "overflow"),
    ("r := 1.0e308; r := r / 0.01", "overflow"),
    ("r := 3.0e9; i := trunc(r)", "overflow"),
    ("r := -3.0e9; i := round(r)", "overflow"),
    ("i := 0; i := 5 div i", "division"),
    ("i := 0; i := 5 mod i", "division"),
    ("i := -3; i := 5 mod i", "division"),
    ("r := 0.0; r := 1.0 / r", "division"),
    ("i := 0; r := 1 / i", "division"),
    ("i := 3; case i of 1: i := 2; 2: i := 1 end", "no_case"),
    ("v.tag := true; v.x := 1", "tag"),
    ("v.tag := false; v.x := 1; v.tag := true; i := v.x", "tag"),
    ("i := 0; while i = 0 do i := 0", "loop_limit"),
    ("i := 0; repeat i := 0 until i = 1", "loop_limit"),
    ("init m with Stuck", "no_initialise"),
    ("release m", "undefined_module"),
    ("terminate m", "undefined_module"),
    ("connect t to m.p", "undefined_module"),
    (
        "init m with ChildBody; release m; attach z to m.p",
        "undefined_module",
    ),
    (
        "init m with ChildBody; terminate m; disconnect m",
        "undefined_module",
    ),
    (
        "init m with ChildBody; connect t to m.p; connect t to m.q",
        "connected",
    ),
    (
        "init m with ChildBody; connect t to m.p; connect u to m.p",
        "connected",
    ),
    (
        "init m with ChildBody; connect t to m.p; attach z to m.p",
        "connected",
    ),
    (
        "init m with ChildBody; attach z to m.p; connect t to m.p",
        "attached",
    ),
    (
        "init m with ChildBody; attach z to m.p; attach z to m.q",
        "attached",
    ),
    (
        "init m with ChildBody; attach z to m.p; attach h to m.p",
        "attached",
    ),
    (
        "init m with ChildBody; attach z to m.p; output z.M(1, [])",
        "attached_output",
    ),
    // Arguments are computed first.
    (
        "init m with ChildBody; attach z to m.p; i := 4; output z.M(i, [])",
        "range",
    ),
    ("init m with ChildBody", "delay_order"),
    ("init m with Pair", "delay_order"),
];

#[test]
fn a_fault_is_the_same_everywhere() {
    let mut text = format!("specification faults; default individual queue; {SHARED}");
    let mut begins = String::new();
    for (at, (statements, _)) in STATEMENTS.iter().enumerate() {
        text += &format!(
            "module H{at} systemprocess; ip z, h: C(x); end;
            body B{at} for H{at};
            {OWN}
            state before, behind;
            initialize to before begin end;
            trans from before to behind begin {statements} end;
            end;
            modvar m{at}: H{at};\n"
        );
        begins += &format!("init m{at} with B{at};");
    }
    text += "module Lively systemprocess; end;
        body LivelyBody for Lively;
        module Child process; end;
        body ChildBody for Child;
        state before, behind;
        initialize to before begin end;
        trans from before to behind delay(1) begin end;
        end;
        modvar m: Child;
        state before, behind;
        initialize to before begin end;
        trans from before to behind begin init m with ChildBody end;
        end;
        modvar other: Lively;\n";
    text += &format!("initialize begin {begins} init other with LivelyBody end; end.");
    let all = Generated::of_text("faults", &text);
    let lines = reference(&all.program, Choice::First).1;
    let found = lines.iter().filter_map(|line| match line {
        Line::Fault(fault) => Some(fault.fault.to_string()),
        _other => None,
    });
    let found: Vec<String> = found.collect();
    for ((statements, expected), found) in STATEMENTS.iter().zip(&found) {
        assert_eq!(found, expected, "{statements}");
    }
    assert_eq!(found.len(), STATEMENTS.len());
    assert_eq!(all.ir_differs(), None);
    assert_eq!(all.c_differs(), None);
}
