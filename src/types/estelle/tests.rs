//! Checked programs: the expansion of `any`, `otherwise`, frames and constants.

use super::program::{
    BinaryOperator, Body, Expression, ExpressionKind, Program, Root, StateId, StatementKind, Step,
    UnaryOperator,
};
use super::{Settings, check};
use crate::source::Sources;
use crate::syntax::estelle::parse;

fn program(text: &str) -> Program {
    let mut sources = Sources::new();
    let file = sources.add("test.stl", text);
    let (tree, mistakes) = parse(file, &sources);
    assert!(mistakes.is_empty(), "{mistakes:?}");
    let tree = tree.expect("the text has a tree");
    let (program, told) = check(&tree, &Settings::default(), tree.name.span);
    program.unwrap_or_else(|| panic!("{told:?}"))
}

fn root(text: &str) -> (Program, Body) {
    let head = "specification s systemprocess; default individual queue;";
    let program = program(&format!("{head} {text} end."));
    let body = program.bodies[Program::ROOT.index()].clone();
    (program, body)
}

/// Evaluates conditions of two integers: `first` and `second` are the first two variables.
fn holds(condition: &Expression, variables: [i64; 2]) -> i64 {
    match &condition.kind {
        ExpressionKind::Ordinal(value) => *value,
        ExpressionKind::Read(place) => match place.root {
            Root::Module(at) => variables[at],
            _ => panic!("{place:?}"),
        },
        ExpressionKind::Unary(UnaryOperator::Not, operand) => 1 - holds(operand, variables),
        ExpressionKind::Binary(operator, left, right) => {
            let (left, right) = (holds(left, variables), holds(right, variables));
            match operator {
                BinaryOperator::Or => left | right,
                BinaryOperator::Greater => i64::from(left > right),
                other => panic!("{other:?}"),
            }
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn any_takes_its_values_in_ascending_order_the_last_name_fastest() {
    let (_, body) = root(
        "channel C(a, b); by b: PING(n: integer); by a: PONG;
         ip p: array [2..3, boolean] of C(a);
         initialize begin end;
         trans any i: 2..3; t: boolean do when p[i, t].PING priority i
           begin output p[i, t].PONG end;",
    );
    let all: Vec<_> = body.transitions.iter().collect();
    let values: Vec<_> = all.iter().map(|it| it.any.clone()).collect();
    assert_eq!(values, [[2, 0], [2, 1], [3, 0], [3, 1]]);
    let elements = all.iter().map(|it| it.when.expect("all have a when"));
    let elements: Vec<_> = elements.map(|it| (it.points, it.element)).collect();
    assert_eq!(elements, [(0, 0), (0, 1), (0, 2), (0, 3)]);
    let priorities: Vec<_> = all.iter().map(|it| it.priority).collect();
    assert_eq!(priorities, [Some(2), Some(2), Some(3), Some(3)]);
    assert!(all.iter().all(|it| it.block == all[0].block));
}

#[test]
fn otherwise_is_the_negation_of_all_before_it() {
    let (_, body) = root(
        "var first, second: integer; initialize begin end;
         trans provided first > 0 begin end;
               provided second > 5 begin end;
               provided otherwise begin end;",
    );
    let conditions = body.transitions.iter().map(|it| it.provided.as_ref());
    let conditions: Vec<_> = conditions.map(|it| it.expect("all have one")).collect();
    for variables in [[0, 0], [1, 0], [0, 6], [1, 6]] {
        let [one, other, rest] = [0, 1, 2].map(|at| holds(conditions[at], variables));
        assert_eq!(rest, 1 - (one | other), "{variables:?}");
    }
}

#[test]
fn a_set_of_states_stands_for_its_states() {
    let (_, body) = root(
        "state idle, open, closed; stateset busy = [closed, open];
         initialize to idle begin end;
         trans from idle to open begin end;
         trans from busy, idle to same begin end;
         trans to closed begin end;",
    );
    let from: Vec<_> = body.transitions.iter().map(|it| it.from.clone()).collect();
    assert_eq!(from[0], [StateId(0)]);
    assert_eq!(from[1], [StateId(0), StateId(1), StateId(2)]);
    assert_eq!(from[2], []);
    let to: Vec<_> = body.transitions.iter().map(|it| it.to).collect();
    assert_eq!(to, [Some(StateId(1)), None, Some(StateId(2))]);
}

#[test]
fn a_frame_begins_with_any_and_the_parameters_of_when() {
    let (program, body) = root(
        "channel C(a, b); by b: PING(n: integer; c: char); by a: PONG;
         ip p: C(a); var t: boolean; initialize begin end;
         trans when p.PING provided exist k: 1..2 suchthat t
           any i: 1..2 do var own: real; begin output p.PONG end;",
    );
    let block = &program.blocks[body.transitions[0].block.index()];
    let locals = &program.frames[block.frame.index()];
    let names: Vec<_> = locals.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["i", "n", "c", "k", "own"]);
}

#[test]
fn the_fields_of_a_with_are_read_by_its_reference() {
    let (program, body) = root(
        "type r = record x, y: integer end; var a: array [1..2] of r;
         initialize begin end;
         trans begin with a[1] do y := x end;",
    );
    let block = &program.blocks[body.transitions[0].block.index()];
    let StatementKind::With(frame, local, place, inner) = &block.statements[0].kind else {
        panic!("{:?}", block.statements);
    };
    assert!(matches!(place.steps[..], [Step::Index(_)]));
    let StatementKind::Assign(target, _) = &inner[0].kind else {
        panic!("{inner:?}");
    };
    assert!(matches!(target.root, Root::Local(of, at) if of == *frame && at == *local));
    assert!(matches!(target.steps[..], [Step::Field(1)]));
}

#[test]
fn the_shortest_cycle_of_calls_is_shown() {
    let mut sources = Sources::new();
    let text = "specification s systemprocess;
        procedure a; forward; procedure b; forward; procedure c; forward;
        procedure a; begin b end;
        procedure b; begin c; a end;
        procedure c; begin a end;
        initialize begin end; trans begin a end; end.";
    let file = sources.add("test.stl", text);
    let (tree, _) = parse(file, &sources);
    let tree = tree.expect("the text has a tree");
    let (program, told) = check(&tree, &Settings::default(), tree.name.span);
    assert!(program.is_none());
    let why = told[0].why.as_deref().unwrap_or_default();
    assert!(why.ends_with("The cycle is `a`, `b`, `a`."), "{why}");
}

#[test]
fn large_specifications_are_refused_soon() {
    let many = |count: usize, part: &dyn Fn(usize) -> String| -> String {
        (0..count).map(part).collect::<Vec<_>>().concat()
    };
    let conditions = many(3_000, &|at| format!("provided n = {at} begin end;"));
    let types = many(500, &|at| format!("t{} = record a: t{at} end;", at + 1));
    let calls = many(1_500, &|at| {
        format!("procedure p{}; begin p{at} end;", at + 1)
    });
    let texts = [
        format!(
            "var n: integer; initialize begin end; trans {conditions} provided otherwise {}",
            "begin end;".repeat(3_000)
        ),
        format!("type t0 = record a: integer end; {types} initialize begin end;"),
        format!("procedure p0; begin end; {calls} initialize begin end;"),
        format!(
            "initialize begin end; trans {}",
            "any i: 1..4096 do begin end;".repeat(40)
        ),
    ];
    for text in texts {
        let mut sources = Sources::new();
        let head = "specification s systemprocess;";
        let file = sources.add("test.stl", format!("{head} {text} end."));
        let (tree, mistakes) = parse(file, &sources);
        assert!(mistakes.is_empty(), "{mistakes:?}");
        let tree = tree.expect("the text has a tree");
        let (program, told) = check(&tree, &Settings::default(), tree.name.span);
        assert!(program.is_none() && told.len() == 1, "{told:?}");
    }
}
