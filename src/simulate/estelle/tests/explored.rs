//! Explorations: deadlocks with shortest traces, transitions that never fire, bounds.

use super::texts::{program, system};
use crate::simulate::estelle::{Bounds, Limits, Report, explore};

fn explored(text: &str, situations: usize) -> Report {
    let program = program(text);
    let bounds = Bounds {
        situations,
        limits: Limits::default(),
    };
    explore(&program, None, bounds, &mut |_, _| true).expect("nothing is in C")
}

#[test]
fn all_choices_are_tried_and_equal_situations_merge() {
    let text = system(
        "state a, b, c, d;
        initialize to a begin end;
        trans from a to b name ab: begin end;
        trans from a to c name ac: begin end;
        trans from b, c to d name down: begin end;
        trans from d to a name again: begin end;
        trans from d provided false name never: begin end;",
    );
    let report = explored(&text, 1000);
    // Four states, and five selections that wait for their execution.
    assert_eq!((report.situations, report.is_complete), (9, true));
    assert_eq!((report.done, report.deadlocks), (0, 0));
    assert_eq!(report.unreached, ["s \"never\""]);
    assert_eq!(report.transitions, 5);
}

#[test]
fn a_deadlock_has_a_shortest_trace() {
    let text = system(
        "channel C(a, b); by a: M;
        ip p: C(a); q: C(b);
        var n: integer;
        state a, b;
        initialize to a begin n := 0; connect p to q end;
        trans from a provided n < 3 name count: begin n := n + 1 end;
        trans from a provided n > 0 to b name leave: begin output p.M end;",
    );
    let report = explored(&text, 1000);
    assert_eq!(report.deadlocks, 3);
    let lines: Vec<String> = report.findings[0]
        .trace
        .iter()
        .map(|it| it.to_string())
        .collect();
    assert_eq!(
        lines,
        [
            "start t=0 s:",
            "step 1 t=0 s: a>a \"count\" in=-",
            "step 2 t=0 s: a>b \"leave\" in=- out=p.M",
            "deadlock t=0 steps=2 queued: s.q 1",
        ]
    );
}

#[test]
fn a_fault_is_found_with_its_trace() {
    let text = system(
        "var n: 0..2;
        initialize begin n := 0 end;
        trans name up: begin n := n + 1 end;
        trans provided n > 0 name down: begin n := n - 1 end;",
    );
    let report = explored(&text, 1000);
    assert_eq!(report.findings.len(), 1);
    let last = report.findings[0].trace.last().map(|line| line.to_string());
    let says = "fault step 3 t=0 s: range: 3 is not in 0..2";
    assert_eq!(last.as_deref(), Some(says));
    assert_eq!(report.deadlocks, 0);
}

#[test]
fn systems_interleave_in_all_ways() {
    // Two writers race for a reader: both orders are found, so both readings are.
    let text = "specification s; default common queue;
        channel C(a, b); by a: M(n: integer);
        module W systemprocess (n: integer); ip p: C(a); end;
        body WB for W;
          state idle, over;
          initialize to idle begin end;
          trans from idle to over name send: begin output p.M(n) end;
        end;
        module Reader systemprocess; ip p, q: C(b); end;
        body RB for Reader;
          state none, one, two;
          initialize to none begin end;
          trans from none when p.M to one name p_first: begin end;
          trans from none when q.M to two name q_first: begin end;
          trans from one when q.M name q_second: begin end;
          trans from two when p.M name p_second: begin end;
        end;
        modvar a, b: W; r: Reader;
        initialize begin
          init a with WB(1); init b with WB(2); init r with RB;
          connect a.p to r.p; connect b.p to r.q
        end;
        end.";
    let report = explored(text, 10_000);
    assert_eq!(report.unreached, [""; 0]);
    assert_eq!(
        (report.done, report.deadlocks, report.is_complete),
        (2, 0, true)
    );
}

#[test]
fn the_time_of_a_narrow_delay_is_exact_and_of_a_wide_one_is_sampled() {
    let text = |most: &str| {
        system(&format!(
            "module Unit process; end;
            body B for Unit;
              state a, b;
              initialize to a begin end;
              trans from a to b delay(3, {most}) name due: begin end;
            end;
            modvar m, n: Unit;
            initialize begin init m with B; init n with B end;"
        ))
    };
    let report = explored(&text("5"), 1000);
    assert!(report.is_complete && !report.is_sampled);
    assert_eq!(report.done, 1);
    let report = explored(&text("500"), 1000);
    assert!(report.is_complete && report.is_sampled);
    let report = explored(&text("*"), 1000);
    assert!(report.is_complete && report.is_sampled);
    assert_eq!((report.unreached.len(), report.deadlocks), (0, 0));
}

#[test]
fn a_bound_is_told() {
    let text = system(
        "var n: integer; initialize begin n := 0 end;
        trans name up: begin n := n + 1 end;",
    );
    let report = explored(&text, 50);
    assert_eq!((report.situations, report.is_complete), (50, false));
    assert!(
        report
            .to_string()
            .contains("situations: 50 (the bound was met; not all)")
    );
}

#[test]
fn names_of_instances_do_not_tell_situations_apart() {
    let text = system(
        "module Unit process; end; body B for Unit; end;
        modvar m: Unit;
        state a, b;
        initialize to a begin end;
        trans from a to b name come: begin init m with B end;
        trans from b to a name go: begin release m end;",
    );
    let report = explored(&text, 1000);
    assert_eq!((report.situations, report.is_complete), (4, true));
}
