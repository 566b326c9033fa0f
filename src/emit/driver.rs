//! What starts reactions: the agenda, links, timers, the start; and what the host calls.

use super::Stack;
use super::assumed;
use super::derived;
use super::expected::Expected;
use super::external;
use super::inline;
use super::leaves;
use super::memory::{self, configuration};
use super::message;
use super::output::Queued;
use super::parts;
use super::paths;
use super::port;
use super::reacting::Shortcuts;
use super::record;
use super::state;
use super::structure;
use crate::c::printer;
use crate::c::tree::{Expression as C, Function, Item, Statement as S, atom, binary, call};
use crate::tree::starts::above;
use crate::tree::{Index, Reaction};
use crate::types::program::{Event, KindId, Link, LinkId, Population, Role, TimerId};
use crate::types::value::Type;
use std::collections::BTreeSet;

/// The functions that start reactions: from the agenda, from links, by timers, at the start.
pub fn functions(stack: &Stack, queued: &BTreeSet<Queued>, expected: &[Expected]) -> Vec<Item> {
    let (timers, _) = state::timers(stack);
    let functions = [
        (!queued.is_empty()).then(|| handle(stack, queued)),
        Some(frame_arrives(stack)),
        (!timers.is_empty()).then(|| expire(stack)),
        Some(configuration::hold(stack)),
        Some(begin(stack, expected)),
    ];
    let mut items: Vec<Item> = functions
        .into_iter()
        .flatten()
        .map(|one| Item::Function(super::with_all_used(one)))
        .collect();
    items.push(structure::counter_names(stack));
    items
}

fn stack_parameter(stack: &Stack) -> String {
    format!("struct {} *stack", stack.names.stack)
}

fn handle(stack: &Stack, queued: &BTreeSet<Queued>) -> Function {
    let cases = queued.iter().map(|one| {
        let mut all = vec![atom("stack")];
        let name = one.name(stack);
        let message = atom("event").behind("message");
        let instance = atom("place").behind("instance");
        match one {
            Queued::Reaction(reaction) => {
                let tree = stack.tree(*reaction).expect("what is queued has a tree");
                all.extend(tree.parameters.instance.map(|_| instance));
                all.extend(tree.parameters.message.map(|_| message.clone()));
            }
            Queued::Frame(link) => {
                all.extend([atom(link.at().to_string()), message.address()]);
                return (vec![one.work(stack)], vec![S::Do(call("send_frame", all))]);
            }
            Queued::Port(_, what) => {
                all.push(instance);
                let carries = match what {
                    Event::Notice(notice) => stack.program.notices[notice.at()].message,
                    Event::Start => false,
                    _ => true,
                };
                all.extend(carries.then(|| message.clone().address()));
            }
        }
        for (parameter, kind) in one.arguments(stack) {
            let with = atom("event").behind("with").member(one.name(stack));
            let place = |name: &str| with.clone().member(name);
            if let Type::Optional(_) = kind {
                all.push(place(&format!("has_{parameter}")));
            }
            all.push(place(&parameter));
        }
        let handled = S::Do(call(&name, all.clone()));
        let body = match one {
            Queued::Reaction(reaction) => while_it_lives(stack, *reaction, handled),
            Queued::Port(port, what) if external::calls_to(stack, *port, *what) => {
                calls_application(&name, all)
            }
            Queued::Frame(_) | Queued::Port(..) => vec![handled],
        };
        (vec![one.work(stack)], body)
    });
    let body = vec![S::Switch {
        value: atom("place").behind("work"),
        cases: cases.collect(),
        otherwise: None,
    }];
    let name = &stack.names.stack;
    Function {
        comment: "Handles what stood on the agenda.".to_string(),
        result: "static void".to_string(),
        name: "handle".to_string(),
        parameters: vec![
            stack_parameter(stack),
            format!("const struct {name}_place *place"),
            format!("const struct {name}_event *event"),
        ],
        body,
    }
}

/// An application is called with an event of the agenda, or that waits once more.
fn calls_application(name: &str, given: Vec<C>) -> Vec<S> {
    let message = atom("event").behind("message");
    let carries = given.contains(&message.clone().address());
    let mut now = vec![S::Do(call(external::now(name), given.clone()))];
    now.extend(carries.then(|| external::given_back(message.member("buffer"))));
    vec![S::If {
        condition: atom("place").behind("waited"),
        then: now,
        otherwise: vec![S::Do(call(name, given))],
    }]
}

/// What an event was for, or came from, may have ended meanwhile; then its message has done its
/// duty. An instance that has begun anew does not end for the sake of the last one.
fn while_it_lives(stack: &Stack, reaction: Reaction, handled: S) -> Vec<S> {
    let (kind, ends) = match reaction {
        Reaction::Handle {
            kind,
            index: Index::Any | Index::Label(_),
            event,
        } => (kind, event == Event::End),
        Reaction::Handle { .. } => return vec![handled],
        Reaction::Arrive { entity, .. } => {
            let tree = stack.tree(reaction).expect("what is queued has a tree");
            if tree.parameters.instance.is_none() {
                return vec![handled];
            }
            let session = stack.program.entities[entity.at()].session;
            (stack.program.stands_on(session).unwrap_or(session), false)
        }
    };
    if super::output::is_static(stack, kind) {
        return vec![handled];
    }
    let name = &stack.names.kinds[stack.pool_of(kind).at()];
    let beside = |suffix: &str| atom("stack").behind(format!("{name}_{suffix}"));
    let instance = match (reaction, stack.program.sessions_below(kind)) {
        // What has a label lives as long as the session below.
        (
            Reaction::Handle {
                index: Index::Any, ..
            },
            Some(below),
        ) => binary(
            "%",
            atom("place").behind("instance"),
            atom(below.to_string()),
        ),
        _ => atom("place").behind("instance"),
    };
    let lives = call(
        "sl_pool_has",
        vec![beside("pool").address(), beside("next"), instance.clone()],
    );
    let due = match ends {
        true => binary("&&", lives, beside("ended").element(instance)),
        false => lives,
    };
    let tree = stack.tree(reaction).expect("what is queued has a tree");
    let message = |part| atom("event").behind("message").member(part);
    let otherwise = match tree.parameters.message {
        Some(_) => vec![S::Do(call(
            "consume",
            vec![atom("stack"), message("buffer"), message("came_in")],
        ))],
        None => Vec::new(),
    };
    vec![S::If {
        condition: due,
        then: vec![handled],
        otherwise,
    }]
}

/// What begins above a link when a frame comes in, or a notice.
pub fn above_link(stack: &Stack, link: &Link, event: Event) -> Vec<Reaction> {
    above(stack.program, link.above, event, |reaction| {
        stack.tree(reaction).is_some()
    })
}

fn frame_arrives(stack: &Stack) -> Function {
    let mut cases = Vec::new();
    for (at, link) in stack.program.links.iter().enumerate() {
        for reaction in above_link(stack, link, Event::Deliver) {
            let name = stack.names.reactions[&reaction].clone();
            let arrives = S::Do(call(name, vec![atom("stack"), atom("message")]));
            cases.push((
                vec![atom(LinkId(at as u32).at().to_string())],
                vec![arrives],
            ));
        }
    }
    let message = |part| atom("message").member(part);
    let consumed = S::Do(call(
        "consume",
        vec![atom("stack"), message("buffer"), message("came_in")],
    ));
    let noted = stack.record.into_iter().map(|_| {
        let last = atom("stack").behind(record::LAST).element(atom("link"));
        let given = vec![atom("link"), message("length"), last.address()];
        S::Do(call(record::CAME, given))
    });
    Function {
        comment: "A frame comes in by a link.".to_string(),
        result: "static void".to_string(),
        name: "frame_arrives".to_string(),
        parameters: vec![
            stack_parameter(stack),
            "unsigned link".to_string(),
            format!("struct {}_message message", stack.names.stack),
        ],
        body: noted
            .chain([S::Switch {
                value: atom("link"),
                cases,
                otherwise: Some(vec![consumed]),
            }])
            .collect(),
    }
}

/// The timers with the greatest ids first, so that one comparison tells the kind.
fn expire(stack: &Stack) -> Function {
    let (timers, _) = state::timers(stack);
    let mut body = Vec::new();
    for (kind, _) in timers.into_iter().rev() {
        let own = &stack.program.kinds[kind.at()];
        let base = atom(format!(
            "{}_TIMERS",
            stack.names.kinds[kind.at()].to_uppercase()
        ));
        let passed = binary("-", atom("timer"), base.clone());
        let count = own.timers.len() as u32;
        let index = match (own.role, own.capacity) {
            (Role::Record, _) | (_, 1) => atom("0"),
            _ if count == 1 => passed.clone(),
            _ => binary("/", passed.clone(), atom(count.to_string())),
        };
        let cases = (0..count).filter_map(|timer| {
            let call = expired(stack, kind, TimerId(timer), &index)?;
            Some((vec![atom(timer.to_string())], call))
        });
        let mut cases: Vec<(Vec<C>, Vec<S>)> = cases.collect();
        let mut then = match (count, cases.len()) {
            (_, 0) => Vec::new(),
            (1, _) => cases.swap_remove(0).1,
            _ => vec![S::Switch {
                value: binary("%", passed, atom(count.to_string())),
                cases,
                otherwise: None,
            }],
        };
        then.push(S::Return(None));
        let condition = binary(">=", atom("timer"), base);
        body.push(S::If {
            condition,
            then,
            otherwise: Vec::new(),
        });
    }
    if let Some(S::If { then, .. }) = body.last_mut() {
        // The last kind begins with the first id.
        let last: Vec<S> = then.drain(..then.len() - 1).collect();
        body.pop();
        body.extend(last);
    }
    Function {
        comment: "A timer has expired.".to_string(),
        result: "static void".to_string(),
        name: "expire".to_string(),
        parameters: vec![stack_parameter(stack), "uint32_t timer".to_string()],
        body,
    }
}

fn expired(stack: &Stack, kind: KindId, timer: TimerId, index: &C) -> Option<Vec<S>> {
    let event = Event::Timer(timer);
    let of = |index| Reaction::Handle { kind, index, event };
    let call_of = |reaction: Reaction| {
        let tree = stack.tree(reaction)?;
        let mut all = vec![atom("stack")];
        all.extend(tree.parameters.instance.map(|_| index.clone()));
        Some(S::Do(call(stack.names.reactions[&reaction].clone(), all)))
    };
    let any = call_of(of(Index::Any));
    let capacity = stack.program.kinds[kind.at()].capacity;
    match any {
        Some(call) => Some(vec![call]),
        None if capacity == 1 => call_of(of(Index::Only(0))).map(|call| vec![call]),
        None => {
            let cases = (0..capacity).filter_map(|n| {
                let call = call_of(of(Index::Only(n)))?;
                Some((vec![atom(n.to_string())], vec![call]))
            });
            let cases: Vec<_> = cases.collect();
            let value = index.clone();
            (!cases.is_empty()).then(|| {
                vec![S::Switch {
                    value,
                    cases,
                    otherwise: None,
                }]
            })
        }
    }
}

/// The first values, and what is on the agenda at first.
fn begin(stack: &Stack, expected: &[Expected]) -> Function {
    let mut body = state::at_start(stack);
    body.extend(expected.iter().flat_map(Expected::at_start));
    let first = at_start(stack).into_iter().rev();
    body.extend(first.map(|one| told_later(stack, one, "true")));
    Function {
        comment: "What is there at the start, and happens first.".to_string(),
        result: "static void".to_string(),
        name: "begin".to_string(),
        parameters: vec![stack_parameter(stack)],
        body,
    }
}

/// Puts an event on the agenda that has no argument but whether a link is up.
fn told_later(stack: &Stack, event: Queued, up: &str) -> S {
    let mut fields = vec![("work".to_string(), event.work(stack))];
    for (parameter, _) in event.arguments(stack) {
        let place = format!("with.{}.{parameter}", event.name(stack));
        fields.push((place, atom(up)));
    }
    let kind = format!("struct {}_event", stack.names.stack);
    let put = match memory::is_kept(stack.program, event) {
        true => "kept",
        false => "later",
    };
    S::Do(call(
        put,
        vec![atom("stack"), C::Struct(kind, fields).address()],
    ))
}

/// A link went down or up: what waits already is handled first.
fn carrier(stack: &Stack) -> Option<Function> {
    let links = stack.program.links.iter().enumerate();
    let cases = links.filter(|(_, link)| link.carrier.is_some());
    let cases = cases.map(|(at, link)| {
        let heard = carrier_heard(stack, link).into_iter();
        let told = heard.map(|one| told_later(stack, Queued::Reaction(one), "up"));
        (vec![atom(at.to_string())], told.collect())
    });
    let cases: Vec<(Vec<C>, Vec<S>)> = cases.collect();
    let turn_round = || S::Do(call("reverse", vec![atom("stack"), atom("0")]));
    let parameters = ["unsigned link", "bool up", "uint64_t now_ns"].map(String::from);
    (!cases.is_empty()).then(|| Function {
        comment: String::new(),
        result: "void".to_string(),
        name: format!("{}_carrier", stack.names.stack),
        parameters: [vec![stack_parameter(stack)], parameters.to_vec()].concat(),
        body: vec![
            S::Do(call("begin_call", vec![atom("stack"), atom("now_ns")])),
            turn_round(),
            S::Switch {
                value: atom("link"),
                cases,
                otherwise: None,
            },
            turn_round(),
            S::Do(call("run", vec![atom("stack")])),
        ],
    })
}

/// Who hears that a link went down or up.
fn carrier_heard(stack: &Stack, link: &Link) -> Vec<Reaction> {
    let notice = link.carrier.into_iter();
    let heard = notice.map(|notice| above_link(stack, link, Event::Notice(notice)));
    heard.flatten().collect()
}

/// What the host calls; reactions that are `quiet` put nothing on the agenda.
pub fn interface(
    stack: &Stack,
    quiet: &BTreeSet<Reaction>,
    queued: &BTreeSet<Queued>,
    shortcuts: &Shortcuts,
) -> String {
    let bypasses = &shortcuts.paths;
    let name = &stack.names.stack;
    let calls = external::calls_applications(stack.program).then_some(parts::CALLS);
    let left = leaves::calls_links(stack.program).then_some(parts::LEFT);
    let calls = calls.into_iter().chain(left);
    let goes_by = (!bypasses.is_empty()).then_some(parts::BYPASS);
    let lets_go = bypasses.iter().any(|path| path.lets_go);
    let borrows = lets_go.then_some(parts::BORROWED);
    let elsewhere = assumed::stand_elsewhere(stack).then_some(parts::ELSEWHERE);
    let reads = elsewhere.filter(|_| lets_go).map(|_| parts::ONLY_READ);
    let instead = [goes_by, borrows, elsewhere, reads].into_iter().flatten();
    let texts = parts::interface(calls.chain(instead));
    let stands = shortcuts.stands().is_some();
    let cases = paths::taken(stack, bypasses);
    let unexpected = paths::unexpected(stack, bypasses);
    let has = has(stack, queued);
    let fewest = configuration::fewest(stack);
    let own = |text: String| {
        let text = fewest
            .iter()
            .fold(parts::where_has(&text, &has), |text, (what, number)| {
                text.replace(what, number)
            });
        let text = text.replace("UNEXPECTED\n\n", &unexpected);
        let text = record::noted(stack, &text.replace("BYPASSES", &cases));
        let text = leaves::with_room(stack.program, stands, &inline::by_link(stack, &text));
        derived::filled(stack, bypasses, &text)
            .trim_end()
            .to_string()
    };
    let texts = texts.into_iter().map(String::from);
    let of_frame = message::of_frame(stack);
    let mut all: Vec<String> = texts
        .chain(inline::kept(stack))
        .map(|text| own(parts::named(&leaves::filled(stack, &text), name, &of_frame)))
        .filter(|text| !text.is_empty())
        .collect();
    all.push(
        printer::file(&[Item::Function(configuration::default(stack))])
            .trim_end()
            .to_string(),
    );
    all.extend(carrier(stack).map(|one| {
        let text = printer::file(&[Item::Function(one)]);
        text.trim_end().to_string()
    }));
    let ports = stack.program.ports.iter();
    let ports: Vec<String> = ports
        .map(|port| printer::file(&port::functions(stack, port, quiet, &shortcuts.begun)))
        .map(|text| text.trim_end().to_string())
        .collect();
    let begun = parts::select(parts::TELLS, &ports.concat()).into_iter();
    all.extend(begun.map(|text| parts::named(text, name, "")));
    all.extend(ports);
    let sets = if shortcuts.stands().is_some() {
        "    take_spare(stack);\n"
    } else {
        ""
    };
    all.join("\n\n").replace(leaves::TAKES_SPARE, sets) + "\n"
}

/// Names the parts of the text of an interface that this stack has: `WHERE x` stands before each.
fn has(stack: &Stack, queued: &BTreeSet<Queued>) -> Vec<&'static str> {
    let (timers, _) = state::timers(stack);
    let all = [
        ("agenda", !queued.is_empty()),
        ("timers", !timers.is_empty()),
        ("held", memory::holds(stack)),
    ];
    let present = all.into_iter().filter(|(_, is_there)| *is_there);
    present.map(|(name, _)| name).collect()
}

/// What is on the agenda when the stack starts, in order.
pub fn at_start(stack: &Stack) -> Vec<Queued> {
    let mut all = Vec::new();
    for (at, kind) in stack.program.kinds.iter().enumerate() {
        let Population::Static(_) = kind.population else {
            continue;
        };
        for n in 0..kind.capacity {
            all.push(Reaction::Handle {
                kind: KindId(at as u32),
                index: Index::Only(n),
                event: Event::Start,
            });
        }
    }
    all.retain(|reaction| stack.tree(*reaction).is_some());
    for link in &stack.program.links {
        all.extend(carrier_heard(stack, link));
    }
    all.into_iter().map(Queued::Reaction).collect()
}
