//! The rule of a computation step, written down a second time.
//!
//! In: a situation before a step, as JSON: the tree of a system, the state of each module, the
//! heads of its queues, the transitions that it may offer, and those that were selected. Out: a
//! sentence if the offers or the selection break the rule.

use serde_json::Value;
use stackloom::types::estelle::program::{Body, Program, Transition};

/// A selected transition: the path of its module, and its number.
type Choice = (String, u64);

/// Returns the breach of the rule in a situation, if there is one.
pub fn breach(situation: &Value) -> Option<String> {
    let selected: Vec<Choice> = list(&situation["selected"]).iter().map(choice).collect();
    let tree = &situation["tree"];
    let strangers = selected.iter().filter(|(path, _)| !holds(tree, path));
    if let Some((path, _)) = strangers.clone().next() {
        return Some(format!("{path} is not in the tree"));
    }
    check(tree, &selected).err()
}

/// Returns the breach of the rule in what the modules of a situation offer, if there is one. The
/// values of conditions and the times of delays are not known here, so a transition that has one
/// may or may not be offered.
pub fn breach_of_offers(program: &Program, situation: &Value) -> Option<String> {
    let mut open = vec![&situation["tree"]];
    while let Some(module) = open.pop() {
        let number = module["body"].as_u64().expect("a module has a body");
        let body = &program.bodies[number as usize];
        if let Err(says) = check_offers(body, module) {
            return Some(format!("{}: {says}", path(module)));
        }
        open.extend(list(&module["children"]));
    }
    None
}

fn check_offers(body: &Body, module: &Value) -> Result<(), String> {
    let offers = list(&module["offered"])
        .iter()
        .map(|it| it.as_u64().expect("a number") as usize);
    let offers: Vec<usize> = offers.collect();
    let rank = |number: usize| body.transitions[number].priority.unwrap_or(u64::MAX);
    let best = offers.iter().map(|number| rank(*number)).min();
    for number in 0..body.transitions.len() {
        let transition = &body.transitions[number];
        let is_certain = transition.provided.is_none() && transition.delay.is_none();
        match (
            offers.contains(&number),
            is_possible(body, transition, module),
        ) {
            (true, false) => return Err(format!("{number} is offered, but not enabled")),
            (true, true) if Some(rank(number)) != best => {
                return Err(format!("{number} is offered, but has a low priority"));
            }
            (false, true) if is_certain && best.is_none_or(|best| rank(number) <= best) => {
                return Err(format!("{number} is enabled, but not offered"));
            }
            (true | false, true) | (false, false) => {}
        }
    }
    Ok(())
}

/// Returns true if the state and the queues of a module allow a transition.
fn is_possible(body: &Body, transition: &Transition, module: &Value) -> bool {
    let state = module["state"].as_str().expect("a module has a state");
    let mut from = transition.from.iter();
    let is_here = transition.from.is_empty() || from.any(|it| body.states[it.index()] == state);
    let has_head = transition.when.is_none_or(|when| {
        let wanted = [when.points, when.element as usize, when.interaction];
        let wanted = Value::from(wanted.to_vec());
        list(&module["heads"]).contains(&wanted)
    });
    is_here && has_head
}

/// Checks the part of a selection that lies in the tree below a module, and the module itself.
fn check(module: &Value, selected: &[Choice]) -> Result<(), String> {
    let path = path(module);
    let offers = list(&module["offered"]);
    if !offers.is_empty() {
        let [(chosen, number)] = selected else {
            return Err(format!(
                "{path} offers, so it fires alone, not {selected:?}"
            ));
        };
        let is_offered = offers.iter().any(|offer| offer.as_u64() == Some(*number));
        return match chosen == path && is_offered {
            true => Ok(()),
            false => Err(format!("{path} offers {offers:?}, not {chosen}.{number}")),
        };
    }
    let children = list(&module["children"]);
    match module["attribute"].as_str() {
        Some("systemprocess" | "process") => {
            let mut count = 0;
            for child in children {
                let within = inside(child, selected);
                count += within.len();
                check(child, &within)?;
            }
            match count == selected.len() {
                true => Ok(()),
                false => Err(format!("{path} offers nothing, but is among {selected:?}")),
            }
        }
        Some("systemactivity" | "activity") => check_activity(path, children, selected),
        other => Err(format!("{path} runs with the attribute {other:?}")),
    }
}

/// Checks that exactly one child of an activity takes part, if any can.
fn check_activity(path: &str, children: &[Value], selected: &[Choice]) -> Result<(), String> {
    let parts = children
        .iter()
        .map(|child| (child, inside(child, selected)));
    let parts: Vec<_> = parts.filter(|(_, part)| !part.is_empty()).collect();
    match parts.as_slice() {
        [] => match children.iter().find(|child| can_run(child)) {
            Some(child) => Err(format!("below {path}, {} can run", self::path(child))),
            None if selected.is_empty() => Ok(()),
            None => Err(format!("{path} offers nothing, but is among {selected:?}")),
        },
        [(child, part)] if part.len() == selected.len() => check(child, part),
        _ => Err(format!("below {path}, one child runs, not {selected:?}")),
    }
}

/// Returns true if a module or one below it offers a transition.
fn can_run(module: &Value) -> bool {
    let offers = !list(&module["offered"]).is_empty();
    offers || list(&module["children"]).iter().any(can_run)
}

/// Returns the part of a selection that lies in the tree of a module.
fn inside(module: &Value, selected: &[Choice]) -> Vec<Choice> {
    let selected = selected.iter();
    selected
        .filter(|(path, _)| holds(module, path))
        .cloned()
        .collect()
}

/// Returns true if a module, or one below it, has this path.
fn holds(module: &Value, wanted: &str) -> bool {
    let children = list(&module["children"]);
    path(module) == wanted || children.iter().any(|child| holds(child, wanted))
}

fn choice(value: &Value) -> Choice {
    let number = value["number"].as_u64();
    let number = number.expect("a selected transition has a number");
    (path(value).to_string(), number)
}

fn path(value: &Value) -> &str {
    value["instance"].as_str().expect("a module has a path")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("it is a list")
}

#[test]
fn planted_breaches_are_found() {
    let tree = |root: &str, child: &str, offered: [&str; 3]| {
        let [root_offers, first, second] = offered;
        let text = format!(
            r#"{{"instance":"r","attribute":"{root}","offered":[{root_offers}],"children":[
            {{"instance":"r.a","attribute":"{child}","offered":[{first}],"children":[]}},
            {{"instance":"r.b","attribute":"{child}","offered":[{second}],"children":[]}}]}}"#
        );
        text
    };
    let says = |tree: &str, selected: &[(&str, u64)]| {
        let selected = selected.iter();
        let selected =
            selected.map(|(path, number)| format!(r#"{{"instance":"{path}","number":{number}}}"#));
        let selected: Vec<String> = selected.collect();
        let text = format!(r#"{{"selected":[{}],"tree":{tree}}}"#, selected.join(","));
        breach(&serde_json::from_str(&text).expect("the text is JSON"))
    };
    let parent = tree("systemprocess", "process", ["0", "1", ""]);
    assert_eq!(says(&parent, &[("r", 0)]), None);
    assert!(says(&parent, &[("r", 0), ("r.a", 1)]).is_some());
    assert!(says(&parent, &[("r.a", 1)]).is_some());
    assert!(says(&parent, &[]).is_some());
    let processes = tree("systemprocess", "process", ["", "1,2", "3"]);
    assert_eq!(says(&processes, &[("r.a", 2), ("r.b", 3)]), None);
    assert!(says(&processes, &[("r.a", 2)]).is_some());
    assert!(says(&processes, &[("r.a", 3), ("r.b", 3)]).is_some());
    let activities = tree("systemactivity", "activity", ["", "1,2", "3"]);
    assert_eq!(says(&activities, &[("r.b", 3)]), None);
    assert!(says(&activities, &[("r.a", 2), ("r.b", 3)]).is_some());
    assert!(says(&activities, &[]).is_some());
}
