//! Modules that come and go, and the statements that visit them.

use super::texts::{firings, run, system, trace};
use crate::simulate::estelle::{Choice, Line};

/// A user that sends `sent` numbers to a server, and what the server is.
fn served(sent: u32, server: &str) -> String {
    format!(
        "specification s; default individual queue;
        channel C(user, provider); by user: D(n: integer); by provider: A(n: integer);
        module User systemprocess; ip p: C(user); end;
        body UserBody for User;
          var n: integer;
          initialize begin n := 1 end;
          trans provided n <= {sent} name send: begin output p.D(n); n := n + 1 end;
          trans when p.A(n) name answer: begin end;
        end;
        module Server systemprocess; ip p: C(provider); end;
        body ServerBody for Server; {server} end;
        modvar u: User; v: Server;
        initialize begin
          init u with UserBody; init v with ServerBody; connect u.p to v.p
        end;
        end."
    )
}

#[test]
fn attach_and_release_move_the_queue_there_and_back() {
    let text = served(
        4,
        "module Hand process; ip p: C(provider); export done: boolean; end;
        body HB for Hand;
          var left: integer;
          initialize begin left := 2; done := false end;
          trans when p.D(n) provided left > 0 name serve: begin
            left := left - 1; done := left = 0; output p.A(n)
          end;
        end;
        modvar h: Hand;
        state idle, busy, over;
        initialize to idle begin end;
        trans from idle to busy delay(1) name take: begin init h with HB; attach p to h.p end;
        trans from busy to over provided h.done name give: begin release h end;
        trans from over when p.D(n) name refuse: begin end;",
    );
    let lines = trace(&text, Choice::First);
    let served: Vec<&String> = lines.iter().filter(|line| line.contains(" v")).collect();
    assert_eq!(
        served[1..],
        [
            "step 1 t=1 v: idle>busy \"take\" in=- init h moved p->h.p: 4",
            "step 2 t=1 v.h: ->- \"serve\" in=p.D(1) out=p.A(1)",
            "step 3 t=1 v.h: ->- \"serve\" in=p.D(2) out=p.A(2)",
            "step 4 t=1 v: busy>over \"give\" in=- moved h.p->p: 2 release h",
            "step 5 t=1 v: over>over \"refuse\" in=p.D(3)",
            "step 6 t=1 v: over>over \"refuse\" in=p.D(4)",
        ]
    );
}

#[test]
fn terminate_counts_what_is_lost() {
    let text = served(
        3,
        "module Hand process; ip p: C(provider); end;
        body HB for Hand; end;
        modvar h: Hand;
        state idle, busy, over;
        initialize to idle begin end;
        trans from idle to busy delay(1) name take: begin init h with HB; attach p to h.p end;
        trans from busy to over name end_it: begin terminate h end;",
    );
    let lines = trace(&text, Choice::First);
    let last = lines.last().expect("a run has an end");
    assert_eq!(last, "done t=1 steps=5; terminated_with=3");
    assert!(
        lines
            .iter()
            .any(|line| line.ends_with("in=- terminate h lost: 3"))
    );
}

#[test]
fn modules_without_a_name_live_on() {
    let text = system(
        "module Unit process (n: integer); export out: integer; end;
        body B for Unit;
          state idle, over;
          initialize to idle begin out := 0 end;
          trans from idle to over name t: begin out := n end;
        end;
        modvar m: Unit;
        var sum: integer; ready: boolean;
        state a, b;
        initialize to a begin
          sum := 0; init m with B(1); init m with B(20); init m with B(300)
        end;
        trans from a to b delay(1)
          provided exist x: Unit suchthat x.out = 20 name add: begin
            all x: Unit do sum := sum + x.out;
            forone x: Unit suchthat x.out = 20 do sum := sum + 1000 otherwise sum := 0
          end;
        trans from b provided sum = 1321 name right: begin sum := 0; release m end;",
    );
    let lines = trace(&text, Choice::First);
    assert_eq!(lines[0], "start t=0 s: init m init m#2 init m#3");
    assert_eq!(
        lines[4..],
        [
            "step 2 t=1 s: a>b \"add\" in=-",
            "step 3 t=1 s: b>b \"right\" in=- release m#3",
            "done t=1 steps=3",
        ]
    );
}

#[test]
fn modules_may_be_released_while_they_are_visited() {
    let text = system(
        "module Unit process; end; body B for Unit; end;
        modvar m: array [1..4] of Unit;
        state a, b, c;
        initialize to a begin all i: 1..4 do init m[i] with B end;
        trans from a to b name t: begin all x: Unit do release x end;
        trans from b to c provided not exist x: Unit suchthat true
          name u: begin init m[2] with B end;",
    );
    let lines = trace(&text, Choice::First);
    assert!(lines[1].ends_with("release m[1] release m[2] release m[3] release m[4]"));
    assert!(lines[2].ends_with("init m[2]#2"), "{}", lines[2]);
}

#[test]
fn forone_chooses_by_seed_and_all_goes_in_order() {
    let text = system(
        "var chosen: 0..8; sum: integer;
        state a, b;
        initialize to a begin sum := 0; all i: 1..3; j: 0..1 do sum := 10 * sum + 2 * i + j end;
        trans from a to b name t: begin
          forone i: 1..8 suchthat odd(i) do chosen := i otherwise chosen := 0
        end;
        trans from b provided chosen in [1, 3, 5, 7] name right: begin chosen := 0 end;
        trans from b provided sum = 234567 name sum_right: begin sum := 0 end;",
    );
    let mut fired = firings(&text, Choice::First);
    fired.sort();
    assert_eq!(fired, ["1 0 s t", "2 0 s right", "3 0 s sum_right"]);
}

#[test]
fn alternatives_of_initialize_are_chosen_by_seed() {
    let text = system(
        "state a, b, c;
        initialize
          to a begin end;
          to b begin end;
        trans from a to c name from_a: begin end;
        trans from b to c name from_b: begin end;",
    );
    let fired = (0..30).flat_map(|seed| firings(&text, Choice::Seed(seed)));
    let fired: std::collections::BTreeSet<String> = fired.collect();
    assert_eq!(fired.len(), 2);
    assert_eq!(firings(&text, Choice::First), ["1 0 s from_a"]);
}

#[test]
fn values_print_as_pascal_writes_them() {
    let text = system(
        "type Colour = (red, green, blue);
        Pair = packed array [1..2] of char;
        Three = array [Colour] of integer;
        Rec = record c: Colour; n: Pair end;
        channel C(a, b);
          by a: M(i: integer; b: boolean; x: real; c: char; s: set of Colour; r: Rec; v: Three);
        ip p: C(a); q: C(b);
        var r: Rec; v: Three;
        initialize begin
          connect p to q;
          r.c := green; r.n := 'a''';
          v[red] := -1; v[blue] := 3;
          output p.M(5, true, 1.5, 'z', [red, blue], r, v)
        end;
        trans when q.M name t: begin end;",
    );
    let expected = "in=q.M(5,true,1.5,'z',[red,blue],(c:green,n:'a'''),(-1,?,3))";
    let lines = run(&text, Choice::First);
    assert!(lines[1].to_string().ends_with(expected), "{}", lines[1]);
    let Line::Step(step) = &lines[1] else {
        panic!("a transition fires")
    };
    let values = &step.input.as_ref().expect("it takes an interaction").values;
    let json = serde_json::to_string(values).expect("values are JSON");
    let expected = r#"[5,true,1.5,"z",["red","blue"],{"c":"green","n":"a'"},[-1,null,3]]"#;
    assert_eq!(json, expected);
}

#[test]
fn routines_have_references_results_and_frames_around_them() {
    let text = system(
        "type Three = array [1..3] of integer;
        var a: Three; n: integer;
        procedure swap(var x, y: integer); var z: integer;
        begin z := x; x := y; y := z end;
        function total(a: Three): integer;
          var sum: integer;
          procedure add(i: integer); begin sum := sum + a[i] end;
          var i: integer;
        begin sum := 0; for i := 1 to 3 do add(i); total := sum; a[1] := 100 end;
        state x, y;
        initialize to x begin
          a[1] := 1; a[2] := 2; a[3] := 4;
          swap(a[1], a[3]);
          n := total(a)
        end;
        trans from x to y provided (n = 7) and (a[1] = 4) and (a[3] = 1) name right: begin end;",
    );
    assert_eq!(firings(&text, Choice::First), ["1 0 s right"]);
}

#[test]
fn a_line_as_json_has_all_of_its_text() {
    let text = served(1, "trans when p.D(n) name t: begin output p.A(n + 1) end;");
    let lines = run(&text, Choice::First);
    let step = lines.iter().find(|line| line.to_string().contains(" v: "));
    let json = serde_json::to_string(step.expect("the server fires")).expect("lines are JSON");
    let expected = concat!(
        r#"{"kind":"step","step":1,"time":0,"system":"v","instance":"v","from":"-","to":"-","#,
        r#""transition":"t","number":0,"in":{"point":"p","interaction":"D","values":[1]},"#,
        r#""effects":[{"out":{"point":"p","interaction":"A","values":[2]}}]}"#,
    );
    assert_eq!(json, expected);
}
