//! The clauses of each transition.

use super::super::ast::{Body, ClauseKind, Transition};
use super::parse_well;

/// Writes the clauses of a transition.
fn clauses(body: &Body, transition: &Transition, text: &str) -> String {
    let mut parents = None;
    let all = transition.clauses.iter().map(|id| {
        let clause = &body.clauses[id.0 as usize];
        assert_eq!(clause.parent, parents, "each clause is in the one before");
        parents = Some(*id);
        let written = &text[clause.span.start as usize..clause.span.end as usize];
        match &clause.kind {
            ClauseKind::Otherwise(rest) => {
                let rest = rest.iter().map(|id| {
                    let span = body.clauses[id.0 as usize].span;
                    &text[span.start as usize..span.end as usize]
                });
                format!("{written}({})", rest.collect::<Vec<_>>().join("; "))
            }
            ClauseKind::From(_)
            | ClauseKind::To(_)
            | ClauseKind::When(_)
            | ClauseKind::Provided(_)
            | ClauseKind::Priority(_)
            | ClauseKind::Delay { .. }
            | ClauseKind::Any(_) => written.to_string(),
        }
    });
    all.collect::<Vec<_>>().join(", ")
}

/// Reads transitions, and writes the clauses of each on a line.
fn transitions(trans: &str) -> String {
    let text = format!("specification s; {trans} end.").replace("->", "begin end;");
    let body = parse_well(&text).body;
    let all = body.initialize.iter().chain(&body.transitions);
    let all: Vec<_> = all.map(|one| clauses(&body, one, &text)).collect();
    all.join("\n")
}

#[test]
fn a_clause_of_an_open_kind_closes_all_in_it() {
    let found =
        transitions("trans from a to b when p.X -> when p.Y -> to c -> from d priority 1 ->");
    let expected = "from a, to b, when p.X\n\
                    from a, to b, when p.Y\n\
                    from a, to c\n\
                    from d, priority 1";
    assert_eq!(found, expected);
}

#[test]
fn a_word_trans_closes_all_clauses() {
    assert_eq!(
        transitions("trans from a -> trans to b -> -> trans ->"),
        "from a\nto b\nto b\n"
    );
}

#[test]
fn otherwise_is_the_rest_of_its_own_group_only() {
    let found = transitions(
        "initialize provided q -> provided otherwise -> \
         trans when p.X provided a -> provided b -> provided otherwise -> \
         when p.Y from s provided d -> provided e -> provided otherwise -> \
         trans provided f priority 1 -> provided otherwise ->",
    );
    let expected = "provided q\n\
                    provided otherwise(provided q)\n\
                    when p.X, provided a\n\
                    when p.X, provided b\n\
                    when p.X, provided otherwise(provided a; provided b)\n\
                    when p.Y, from s, provided d\n\
                    when p.Y, from s, provided e\n\
                    when p.Y, from s, provided otherwise(provided d; provided e)\n\
                    provided f, priority 1\n\
                    provided otherwise(provided f)";
    assert_eq!(found, expected);
}
