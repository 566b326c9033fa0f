//! The step rule: who fires in a step, priorities, clocks, and what an output may cause.

use super::texts::{ending, fired, firings, run_of, system, trace};
use crate::simulate::estelle::{Choice, Course, Ending};

/// A root with two nodes that have two leaves each; `left` counts firings that are due.
fn tree(root: &str, child: &str, due: [u32; 3]) -> String {
    let [root_left, node_left, leaf_left] = due;
    format!(
        "specification s {root}; default individual queue;
        module Leaf {child}; end;
        body LeafBody for Leaf;
          var left: integer;
          initialize begin left := {leaf_left} end;
          trans provided left > 0 name leaf: begin left := left - 1 end;
        end;
        module Node {child}; end;
        body NodeBody for Node;
          modvar a, b: Leaf;
          var left: integer;
          initialize begin
            left := {node_left}; init a with LeafBody; init b with LeafBody
          end;
          trans provided left > 0 name node: begin left := left - 1 end;
        end;
        modvar a, b: Node;
        var left: integer;
        initialize begin
          left := {root_left}; init a with NodeBody; init b with NodeBody
        end;
        trans provided left > 0 name root: begin left := left - 1 end;
        end."
    )
}

#[test]
fn all_children_of_a_process_fire_in_one_step_but_never_with_a_parent() {
    let text = tree("systemprocess", "process", [1, 1, 1]);
    let expected = [
        "1 0 s root",
        "2 0 s.a node",
        "2 0 s.b node",
        "3 0 s.a.a leaf",
        "3 0 s.a.b leaf",
        "3 0 s.b.a leaf",
        "3 0 s.b.b leaf",
    ];
    assert_eq!(firings(&text, Choice::First), expected);
    for seed in 0..50 {
        let mut fired = firings(&text, Choice::Seed(seed));
        fired.sort();
        assert_eq!(fired, expected, "seed {seed}");
    }
}

#[test]
fn one_child_of_an_activity_fires_in_a_step() {
    let text = tree("systemactivity", "activity", [1, 1, 1]);
    for seed in 0..50 {
        let fired = firings(&text, Choice::Seed(seed));
        let mut steps = fired
            .iter()
            .map(|line| line.split(' ').next().expect("a line has words"));
        let numbers = (1..=7).map(|step: u32| step.to_string());
        assert!(steps.by_ref().eq(numbers), "seed {seed}: {fired:?}");
        assert_eq!(fired.len(), 7);
    }
}

#[test]
fn children_of_activities_below_a_process_fire_one_for_each() {
    let text = tree("systemprocess", "activity", [0, 0, 2]);
    for seed in 0..20 {
        let fired = firings(&text, Choice::Seed(seed));
        for step in 1..=4 {
            let start = format!("{step} ");
            let of_step: Vec<_> = fired.iter().filter(|it| it.starts_with(&start)).collect();
            let below = |node: &str| of_step.iter().filter(|it| it.contains(node)).count();
            assert_eq!((below(" s.a."), below(" s.b.")), (1, 1), "seed {seed}");
        }
    }
}

#[test]
fn a_child_waits_while_a_grandparent_fires() {
    let text = tree("systemprocess", "process", [3, 0, 1]);
    let fired = firings(&text, Choice::First);
    assert_eq!(
        fired[..4],
        ["1 0 s root", "2 0 s root", "3 0 s root", "4 0 s.a.a leaf"]
    );
}

#[test]
fn children_of_an_activity_are_chosen_by_seed() {
    let text = tree("systemactivity", "activity", [0, 0, 1]);
    let firsts = (0..40).map(|seed| firings(&text, Choice::Seed(seed)).remove(0));
    let firsts: std::collections::BTreeSet<String> = firsts.collect();
    assert_eq!(firsts.len(), 4, "{firsts:?}");
}

#[test]
fn an_output_is_seen_in_a_later_step() {
    let text = system(
        "channel C(a, b); by a: M;
        module Sender process; ip p: C(a); end;
        body SenderBody for Sender;
          state idle, done;
          initialize to idle begin end;
          trans from idle to done name send: begin output p.M end;
        end;
        module Receiver process; ip p: C(b); end;
        body ReceiverBody for Receiver;
          trans when p.M name take: begin end;
        end;
        modvar s: Sender; r: Receiver;
        initialize begin
          init s with SenderBody; init r with ReceiverBody; connect s.p to r.p
        end;",
    );
    for choice in [Choice::First, Choice::Seed(1), Choice::Seed(2)] {
        assert_eq!(firings(&text, choice), ["1 0 s.s send", "2 0 s.r take"]);
    }
    assert_eq!(
        trace(&text, Choice::First),
        [
            "start t=0 s: init s init r",
            "step 1 t=0 s.s: idle>done \"send\" in=- out=p.M",
            "step 2 t=0 s.r: ->- \"take\" in=p.M",
            "done t=0 steps=2",
        ]
    );
}

#[test]
fn the_smallest_number_is_the_highest_priority_and_none_is_the_lowest() {
    let text = system(
        "var a, b, c: boolean;
        initialize begin a := true; b := true; c := true end;
        trans provided a name none: begin a := false end;
        trans provided b priority 5 name five: begin b := false end;
        trans provided c priority 1 name one: begin c := false end;",
    );
    for choice in [Choice::First, Choice::Seed(3)] {
        assert_eq!(
            firings(&text, choice),
            ["1 0 s one", "2 0 s five", "3 0 s none"]
        );
    }
}

#[test]
fn transitions_that_are_offered_are_chosen_by_seed() {
    let text = system(
        "state idle, over;
        initialize to idle begin end;
        trans from idle to over
          name a: begin end;
          name b: begin end;
          name c: begin end;",
    );
    assert_eq!(firings(&text, Choice::First), ["1 0 s a"]);
    let fired = (0..40).flat_map(|seed| firings(&text, Choice::Seed(seed)));
    let fired: std::collections::BTreeSet<String> = fired.collect();
    assert_eq!(fired.len(), 3);
}

#[test]
fn otherwise_negates_the_group_before_it_only() {
    let text = system(
        "channel C(a, b); by a: M(n: integer);
        ip p: array [1..2] of C(a); q, r: C(b);
        initialize begin
          connect p[1] to q; connect p[2] to r;
          output p[1].M(1); output p[1].M(2); output p[1].M(9); output p[2].M(0)
        end;
        trans
          when q.M(n)
            provided n = 1 name one: begin end;
            provided n < 5 name two: begin end;
            provided otherwise name other_q: begin end;
          when r.M(n)
            provided n >= 1 name some_r: begin end;
            provided otherwise name other_r: begin end;",
    );
    let mut fired = firings(&text, Choice::First);
    fired.sort();
    assert_eq!(
        fired,
        ["1 0 s one", "2 0 s two", "3 0 s other_q", "4 0 s other_r"]
    );
}

#[test]
fn a_clock_starts_anew_when_its_transition_fires() {
    let text = system(
        "var left: integer;
        initialize begin left := 3 end;
        trans provided left > 0 delay(3) name due: begin left := left - 1 end;",
    );
    let expected = ["1 3 s due", "2 6 s due", "3 9 s due"];
    for choice in [Choice::First, Choice::Seed(9)] {
        assert_eq!(firings(&text, choice), expected);
    }
}

#[test]
fn a_clock_goes_on_while_other_transitions_fire() {
    let text = system(
        "var left: integer;
        state idle, over;
        initialize to idle begin left := 2 end;
        trans from idle to over delay(5) name due: begin end;
        trans from idle provided left > 0 delay(2) name other: begin left := left - 1 end;",
    );
    assert_eq!(
        firings(&text, Choice::First),
        ["1 2 s other", "2 4 s other", "3 5 s due"]
    );
}

#[test]
fn a_clock_starts_anew_when_its_transition_was_disabled() {
    let text = system(
        "state armed, disarmed, armed_again, over;
        initialize to armed begin end;
        trans from armed to disarmed delay(3) name disarm: begin end;
        trans from disarmed to armed_again delay(1) name arm: begin end;
        trans from armed, armed_again to over delay(4) name due: begin end;",
    );
    assert_eq!(
        firings(&text, Choice::First),
        ["1 3 s disarm", "2 4 s arm", "3 8 s due"]
    );
}

#[test]
fn the_clock_of_a_child_follows_its_exported_variables() {
    let text = system(
        "module Unit process; export armed: boolean; end;
        body B for Unit;
          initialize begin armed := true end;
          trans provided armed delay(4) name due: begin armed := false end;
        end;
        modvar m: Unit;
        state a, b, c, d;
        initialize to a begin init m with B end;
        trans from a to b delay(1) name disarm: begin m.armed := false end;
        trans from b to c delay(2) name arm: begin m.armed := true end;
        trans from c to d provided not m.armed delay(1) name seen: begin end;",
    );
    let expected = ["1 1 s disarm", "2 3 s arm", "3 7 s.m due", "4 8 s seen"];
    assert_eq!(firings(&text, Choice::First), expected);
}

#[test]
fn a_seed_chooses_times_within_the_bounds() {
    let text = system(
        "state a, b;
        initialize to a begin end;
        trans from a to b delay(2, 5) name due: begin end;",
    );
    assert_eq!(firings(&text, Choice::First), ["1 2 s due"]);
    let fired = (0..60).map(|seed| firings(&text, Choice::Seed(seed)).remove(0));
    let fired: std::collections::BTreeSet<String> = fired.collect();
    let expected = ["1 2 s due", "1 3 s due", "1 4 s due", "1 5 s due"];
    assert!(fired.iter().eq(expected.iter()), "{fired:?}");
}

#[test]
fn the_head_of_a_common_queue_blocks_and_an_individual_one_does_not() {
    let text = |discipline: &str| {
        format!(
            "specification s systemprocess; default {discipline} queue;
            channel C(a, b); by a: M(n: integer);
            ip p: array [1..2] of C(a); q: array [1..2] of C(b);
            state shut, open, over;
            initialize to shut begin
              all i: 1..2 do connect p[i] to q[i];
              output p[1].M(1); output p[2].M(2)
            end;
            trans from shut when q[2].M(n) to open name second: begin end;
            trans from open when q[1].M(n) to over name first: begin end;
            end."
        )
    };
    let fired = firings(&text("individual"), Choice::First);
    assert_eq!(fired, ["1 0 s second", "2 0 s first"]);
    assert_eq!(firings(&text("common"), Choice::First), [""; 0]);
    assert_eq!(ending(&text("common")), Ending::Deadlock);
}

#[test]
fn an_element_of_an_array_of_points_binds_its_own_index() {
    let text = system(
        "channel C(a, b); by a: M(n: integer);
        ip p: array [1..3] of C(a); q: array [1..3] of C(b);
        var sum: integer;
        initialize begin
          sum := 0;
          all i: 1..3 do begin connect p[i] to q[i]; output p[i].M(10 * i) end
        end;
        trans any i: 1..3 do when q[i].M(n)
          provided n = 10 * i name right: begin sum := sum + i end;
          provided otherwise name wrong: begin end;
        trans when q[2].M name two: begin end;",
    );
    for seed in 0..20 {
        let fired = firings(&text, Choice::Seed(seed));
        assert!(fired.iter().all(|it| !it.ends_with("wrong")), "{fired:?}");
        assert_eq!(fired.len(), 3);
    }
}

#[test]
fn equal_modules_with_one_seed_choose_apart() {
    let text = system(
        "module Unit process; end;
        body B for Unit;
          var left: integer;
          initialize begin left := 20 end;
          trans provided left > 0
            name a: begin left := left - 1 end;
            name b: begin left := left - 1 end;
        end;
        modvar m, n: Unit;
        initialize begin init m with B; init n with B end;",
    );
    let fired = firings(&text, Choice::Seed(1));
    let of = |path: &str| {
        let own = fired.iter().filter(|it| it.contains(path));
        let names = own.map(|it| it.rsplit(' ').next().expect("a line has words").to_string());
        names.collect::<Vec<_>>()
    };
    assert_eq!(of(" s.m ").len(), 20);
    assert_ne!(of(" s.m "), of(" s.n "));
}

#[test]
fn one_more_module_leaves_the_choices_of_others() {
    let text = |more: &str| {
        system(&format!(
            "module Unit activity; end;
            body B for Unit;
              var left: integer;
              initialize begin left := 20 end;
              trans provided left > 0 name a: begin left := left - 1 end;
                name b: begin left := left - 1 end;
            end;
            modvar m, n: Unit;
            initialize begin {more} init m with B end;"
        ))
    };
    let of_m = |text: &str| {
        let fired = firings(text, Choice::Seed(5)).into_iter();
        fired.filter(|it| it.contains(" s.m ")).collect::<Vec<_>>()
    };
    assert_eq!(of_m(&text("")), of_m(&text("init n with B;")));
}

#[test]
fn steps_take_time_and_systems_do_not_wait_for_each_other() {
    let text = "specification s; timescale milliseconds; default individual queue;
        module Fast systemprocess; end;
        body FastBody for Fast;
          var left: integer;
          initialize begin left := 2 end;
          trans provided left > 0 name fast: begin left := left - 1 end;
        end;
        module Slow systemprocess; end;
        body SlowBody for Slow;
          var left: integer;
          initialize begin left := 3 end;
          trans provided left > 0 delay(2) name slow: begin left := left - 1 end;
        end;
        modvar one: Fast; other: Slow;
        initialize begin init one with FastBody; init other with SlowBody end;
        end.";
    let course = Course {
        step_time: 3,
        ..Course::of_steps(100)
    };
    let expected = [
        "1 0 one fast",
        "1 2 other slow",
        "2 3 one fast",
        // The delay of 2 that began at 2 is over at 4, the step at 5.
        "2 5 other slow",
        "3 8 other slow",
    ];
    for choice in [Choice::First, Choice::Seed(1)] {
        let lines = run_of(text, choice, course);
        assert_eq!(fired(&lines), expected, "{choice:?}");
        let end = lines.last().expect("a run has an end").to_string();
        assert_eq!(end, "done t=11 steps=5", "{choice:?}");
    }
}
