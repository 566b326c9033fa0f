//! Faults: one specification for each, which the trace names and the end counts.

use super::texts::{ending, faults, firings, program, run, system, trace};
use crate::simulate::estelle::{Choice, Course, Ending, FaultKind, Limits, Line, Options, Run};

/// A system that executes statements once, at once.
fn once(declarations: &str, statements: &str) -> String {
    system(&format!(
        "{declarations}
        state idle, over;
        initialize to idle begin end;
        trans from idle to over name t: begin {statements} end;"
    ))
}

#[test]
fn numbers_beyond_their_type_are_faults() {
    let faults = |declarations: &str, statements: &str| faults(&once(declarations, statements));
    let var = "var n: integer; s: 0..7; x: real;";
    assert_eq!(faults(var, "s := 7; s := s + 1"), ["range"]);
    assert_eq!(faults(var, "n := 2147483647; n := n + 1"), ["overflow"]);
    assert_eq!(faults(var, "n := 2147483647; n := n * n"), ["overflow"]);
    assert_eq!(faults(var, "n := 0; n := 1 div n"), ["division"]);
    assert_eq!(faults(var, "n := -3; n := 7 mod n"), ["division"]);
    assert_eq!(faults(var, "x := 1e10; n := trunc(x)"), ["overflow"]);
    assert_eq!(faults(var, "x := 0.0; x := 1.0 / x"), ["division"]);
    assert_eq!(faults(var, "x := 1e200; x := x * x"), ["overflow"]);
    let var = "type Light = (red, green); var t: Light; a: array [Light] of 1..3;";
    assert_eq!(faults(var, "t := green; t := succ(t)"), ["range"]);
    assert_eq!(faults(var, "t := red; t := pred(t)"), ["range"]);
    let var = "var n: integer; a: array [2..4] of integer;";
    assert_eq!(faults(var, "n := 1; a[n] := 1"), ["range"]);
    assert_eq!(faults(var, "n := 4; a[n] := 1; n := a[4]"), [""; 0]);
    let var = "var n: integer; c: char;";
    assert_eq!(faults(var, "n := 256; c := chr(n)"), ["range"]);
}

#[test]
fn what_has_no_value_is_not_read() {
    let faults = |declarations: &str, statements: &str| faults(&once(declarations, statements));
    assert_eq!(faults("var n: integer;", "n := n + 1"), ["uninitialised"]);
    let array = "var a, b: array [1..2] of integer; n: integer;";
    assert_eq!(faults(array, "a[1] := 1; b := a; n := b[1]"), [""; 0]);
    assert_eq!(
        faults(array, "a[1] := 1; b := a; n := b[2]"),
        ["uninitialised"]
    );
    let none = "var n: integer; function f: integer; begin if false then f := 1 end;";
    assert_eq!(faults(none, "n := f"), ["uninitialised"]);
    let var = "var n, i: integer;";
    assert_eq!(
        faults(var, "for i := 1 to 3 do n := i; n := i"),
        ["uninitialised"]
    );
}

#[test]
fn a_case_needs_its_value_and_a_field_its_tag() {
    let faults = |declarations: &str, statements: &str| faults(&once(declarations, statements));
    let var = "var n: integer;";
    assert_eq!(
        faults(var, "n := 3; case n of 1, 2: n := 0 end"),
        ["no_case"]
    );
    let record = "type Rec = record case wide: boolean of true: (w: integer); false: (n: char) end;
        var r: Rec; i: integer;";
    assert_eq!(
        faults(record, "r.wide := true; r.w := 4; i := r.w"),
        [""; 0]
    );
    assert_eq!(faults(record, "r.wide := false; r.w := 4"), ["tag"]);
}

#[test]
fn endless_loops_end_as_faults() {
    let limits = Limits {
        loop_turns: 100,
        work: 10_000,
        ..Limits::default()
    };
    let ends = |statements: &str| {
        let program = program(&once("var n, i: integer;", statements));
        let options = Options {
            limits,
            ..Options::default()
        };
        let run = Run::new(&program, None, options).expect("nothing is in C");
        let lines = run.filter(|line| matches!(line, Line::Fault(_)));
        lines.map(|line| line.to_string()).collect::<Vec<_>>()
    };
    let says = "fault step 1 t=0 s: loop_limit: a loop takes more than 100 turns";
    assert_eq!(ends("n := 0; while n = 0 do n := 0"), [says]);
    assert_eq!(ends("n := 0; repeat n := 0 until n > 0"), [says]);
    assert_eq!(ends("n := 0; while n < 100 do n := n + 1"), [""; 0]);
    assert_eq!(ends("n := 0; repeat n := n + 1 until n = 100"), [""; 0]);
    let says = "fault step 1 t=0 s: loop_limit: a firing takes more than 10000 steps";
    assert_eq!(ends("for i := 1 to 2000000000 do n := i"), [says]);
}

#[test]
fn delays_run_from_the_least_to_the_most() {
    let text = |bounds: &str| {
        system(&format!(
            "var n: integer; initialize begin n := -1 end;
            trans delay({bounds}) name due: begin n := 1 end;"
        ))
    };
    assert_eq!(faults(&text("n")), ["delay_order"]);
    assert_eq!(faults(&text("3, n + 3")), ["delay_order"]);
    assert_eq!(ending(&text("3, n + 3")), Ending::Stopped);
}

/// A module with a child `m` of one point, and what the parent does once.
fn parent(statements: &str) -> String {
    once(
        "channel C(a, b); by a: M; by b: N;
        module Child process; ip p: C(b); end;
        body ChildBody for Child; trans when p.M name take: begin end; end;
        module Picky process (n: integer); end;
        body PickyBody for Picky;
          initialize provided n > 0 begin end;
        end;
        modvar m, k: Child; x: Picky;
        ip q, r: C(a);",
        statements,
    )
}

#[test]
fn modules_and_points_that_are_used_wrongly_are_faults() {
    let faults = |statements: &str| faults(&parent(statements));
    assert_eq!(faults("release m"), ["undefined_module"]);
    assert_eq!(
        faults("init m with ChildBody; release m; terminate m"),
        ["undefined_module"]
    );
    assert_eq!(faults("init x with PickyBody(1)"), [""; 0]);
    assert_eq!(faults("init x with PickyBody(0)"), ["no_initialise"]);
    let connected = "init m with ChildBody; connect q to m.p;";
    assert_eq!(
        faults(&format!("{connected} connect r to m.p")),
        ["connected"]
    );
    assert_eq!(
        faults(&format!("{connected} disconnect q; connect r to m.p")),
        [""; 0]
    );
    assert_eq!(
        faults(&format!("{connected} disconnect m; connect r to m.p")),
        [""; 0]
    );
}

#[test]
fn an_output_through_an_attached_point_is_a_fault() {
    let text = "specification s; default individual queue;
        channel C(a, b); by a: M; by b: N;
        module Outer systemprocess; ip p: C(b); end;
        body OuterBody for Outer;
          module Inner process; ip p: C(b); end;
          body InnerBody for Inner; trans when p.M name take: begin output p.N end; end;
          modvar i: Inner;
          state idle, over;
          initialize to idle begin init i with InnerBody; attach p to i.p end;
          trans from idle to over name speak: begin output p.N end;
        end;
        modvar o: Outer;
        initialize begin init o with OuterBody end;
        end.";
    assert_eq!(faults(text), ["attached_output"]);
}

#[test]
fn an_output_without_a_connection_is_counted() {
    let text = parent("output q.M; init m with ChildBody; connect q to m.p; output q.M");
    assert_eq!(
        trace(&text, Choice::First)[1..],
        [
            "step 1 t=0 s: idle>over \"t\" in=- unconnected=q.M init m out=q.M",
            "step 2 t=0 s.m: ->- \"take\" in=p.M",
            "done t=0 steps=2; unconnected=1",
        ]
    );
}

#[test]
fn a_fault_stops_its_system_and_no_other() {
    let text = "specification s; default individual queue;
        module Unit systemprocess (limit: integer); end;
        body UnitBody for Unit;
          var n: 0..3; left: integer;
          initialize begin n := 0; left := limit end;
          trans provided left > 0 name t: begin n := n + 1; left := left - 1 end;
        end;
        modvar a, b: Unit;
        initialize begin init a with UnitBody(9); init b with UnitBody(3) end;
        end.";
    let lines = trace(text, Choice::First);
    let faulty = "fault step 4 t=0 a: range: 4 is not in 0..3";
    assert!(lines.contains(&faulty.to_string()), "{lines:#?}");
    assert_eq!(
        lines.last().expect("a run has an end"),
        "stopped t=0 steps=7; range=1"
    );
    let fired = firings(text, Choice::First);
    assert_eq!(fired.iter().filter(|it| it.contains(" b ")).count(), 3);
}

#[test]
fn a_fault_of_the_initialisation_ends_the_run() {
    let text = system("var n: 0..3; initialize begin n := 4 end; trans name t: begin end;");
    // A constant beyond the type is a mistake already for the checker, so it is computed here.
    let text = text.replace("n := 4", "n := 3; n := n + 1");
    assert_eq!(
        trace(&text, Choice::Seed(1)),
        [
            "start t=0 s:",
            "fault step 0 t=0 s: range: 4 is not in 0..3",
            "stopped t=0 steps=0; range=1",
        ]
    );
}

#[test]
fn a_condition_with_a_fault_stops_the_system() {
    let text =
        system("var n: integer; initialize begin end; trans provided n > 0 name t: begin end;");
    assert_eq!(faults(&text), ["uninitialised"]);
    assert_eq!(ending(&text), Ending::Stopped);
}

#[test]
fn modules_nest_and_multiply_up_to_a_bound() {
    let text = once(
        "module Unit process; end; body B for Unit; end;
        modvar m: Unit; var i: integer;",
        "for i := 1 to 1000000 do init m with B",
    );
    assert_eq!(faults(&text), ["instance_limit"]);
}

#[test]
fn calls_nest_up_to_a_bound() {
    let mut functions = "function f0(n: integer): integer; begin f0 := n end;".to_string();
    for number in 1..200 {
        let before = number - 1;
        functions += &format!(
            "function f{number}(n: integer): integer;
            begin if n > 0 then f{number} := (((0 + (0 + f{before}(n + (0 + 1)))))) end;"
        );
    }
    let text = |depth: u32| {
        once(
            &format!("var n: integer; {functions}"),
            &format!("n := f{depth}(1)"),
        )
    };
    assert_eq!(faults(&text(199)), ["nesting"]);
    assert_eq!(faults(&text(30)), [""; 0]);
}

#[test]
fn what_is_in_c_is_refused() {
    let text = once("procedure p; primitive;", "p");
    let program = program(&text);
    let refused = Run::new(&program, None, Options::default());
    let says = refused.err().map(|refusal| refusal.says);
    let expected = "`p` is `primitive`: the interpreter runs no C code";
    assert_eq!(says.as_deref(), Some(expected));
}

#[test]
fn fault_names_are_distinct_words() {
    let mut names: Vec<&str> = FaultKind::ALL.iter().map(|kind| kind.name()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), FaultKind::ALL.len());
}

#[test]
fn a_run_ends_at_its_bounds() {
    let text = system("trans delay(2) name tick: begin end;");
    let program = program(&text);
    let last = |course| {
        let options = Options {
            course,
            ..Options::default()
        };
        let run = Run::new(&program, None, options).expect("nothing is in C");
        run.last().expect("a run has an end").to_string()
    };
    let course = Course {
        until: Some(9),
        ..Course::of_steps(100)
    };
    assert_eq!(last(course), "time t=9 steps=4");
    assert_eq!(last(Course::of_steps(3)), "steps t=6 steps=3");
    assert_eq!(run(&text, Choice::Seed(1)).len(), 10_002);
}
