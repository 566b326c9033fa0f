//! Links: in, those of a module; out, what takes a frame that came in, what calls the functions of
//! links, and what tells the stack that one is up or down.

use super::build::{always_inline, own, public};
use crate::back::c::Stack;
use crate::back::c::header;
use crate::back::c::prototype::{Reach, called};
use crate::c::record;
use crate::c::tree::{
    Expression as C, Function, Item, Statement as S, assign, atom, binary, call, call_statement,
    only_if,
};
use crate::ir::FunctionId;

/// Functions behind the struct of the stack, by name: `is_calling`; where links call functions
/// `is_called` and `call_link`, too.
pub fn hooks(stack: &Stack<'_>) -> Vec<(String, Item)> {
    let mut all = vec![is_calling(stack)];
    if calls(stack) {
        all.extend([is_called(stack), call_link(stack)]);
    }
    all
}

/// `leave`: frames leave by the functions of their links.
pub fn leave(stack: &Stack<'_>) -> Item {
    let (comment, does) = match calls(stack) {
        true => (
            "Frames leave that wait for the functions of their links.",
            only_if(
                binary("!=", shared("taken"), shared("answered")),
                vec![call_statement("let_leave", vec![atom("stack")])],
            ),
        ),
        false => (
            "No link calls a function: all outputs wait for the host.",
            S::Do(atom("stack").cast("void")),
        ),
    };
    own(comment, "leave", vec![pointer(stack)], vec![does]).1
}

/// A link of the stack calls a function.
pub fn calls(stack: &Stack<'_>) -> bool {
    stack.module.links.iter().any(|link| link.calls.is_some())
}

fn shared(member: &str) -> C {
    atom("stack").behind("shared").member(member)
}

fn pointer(stack: &Stack<'_>) -> String {
    format!("struct {} *stack", stack.names.stack)
}

/// A function of this file that answers a question.
fn asked(comment: &str, name: &str, parameters: Vec<String>, body: Vec<S>) -> (String, Item) {
    let function = Function {
        comment: comment.to_string(),
        result: "static inline bool".to_string(),
        name: name.to_string(),
        parameters,
        body,
    };
    (name.to_string(), Item::Function(function))
}

fn is_calling(stack: &Stack<'_>) -> (String, Item) {
    let parameter = format!("const {}", pointer(stack));
    let mut ports = stack.module.ports.iter();
    let body = match ports.any(|port| port.calls.is_some()) {
        true => {
            let calling = atom("stack").behind("shared").member("calling");
            vec![S::Return(Some(calling))]
        }
        false => vec![
            S::Do(atom("stack").cast("void")),
            S::Return(Some(atom("false"))),
        ],
    };
    let comment = "Returns true during a callback of an application.";
    asked(comment, "is_calling", vec![parameter], body)
}

fn is_called(stack: &Stack<'_>) -> (String, Item) {
    let links = stack.names.links.iter();
    let calling = links.clone().filter(|names| names.calls.is_some());
    if calling.clone().count() == links.count() {
        let body = vec![
            S::Do(atom("link").cast("void")),
            S::Return(Some(atom("true"))),
        ];
        let comment = "Each link calls a function with each frame that leaves.";
        return asked(
            comment,
            "is_called",
            vec!["unsigned link".to_string()],
            body,
        );
    }
    let tests = calling.map(|names| binary("==", atom("link"), atom(&names.constant)));
    let any = tests.reduce(|all, one| binary("||", all, one));
    let body = vec![S::Return(Some(any.expect("a link calls a function")))];
    let comment = "Returns true if a link calls a function with each frame that leaves.";
    asked(
        comment,
        "is_called",
        vec!["unsigned link".to_string()],
        body,
    )
}

fn call_link(stack: &Stack<'_>) -> (String, Item) {
    let links = stack.module.links.iter().zip(&stack.names.links);
    let cases = links.filter_map(|(link, names)| {
        let function = names.calls.as_ref()?;
        let parts: &[&str] = match link.gathers {
            true => &["data", "length", "body", "body_length"],
            false => &["data", "length"],
        };
        let mut given = vec![super::outputs::user(), atom("stack")];
        given.extend(parts.iter().copied().map(atom));
        given.push(atom("stack").behind("now_ns"));
        let test = binary("==", atom("link"), atom(&names.constant));
        Some(only_if(test, vec![call_statement(function, given)]))
    });
    let parts = ["const uint8_t *data", "size_t length"];
    let body = ["const uint8_t *body", "size_t body_length"];
    let body = body.into_iter().filter(|_| stack.gathers());
    let parts = ["unsigned link"].into_iter().chain(parts).chain(body);
    let parameters = [pointer(stack)].into_iter().chain(parts.map(String::from));
    let comment = "A frame leaves by a link, whose function is called.";
    own(comment, "call_link", parameters.collect(), cases.collect())
}

/// `arrives`: a frame came in. Where frames are read in place, the fast path has been tried.
pub fn arrives(stack: &Stack<'_>) -> Item {
    let is_tried = tries_fast(stack);
    let links = stack.module.links.iter().zip(&stack.names.links);
    let cases = links.map(|(link, names)| {
        let slow = stack.names.slow[link.arrives.at()].clone();
        let handled = match slow.filter(|_| is_tried) {
            Some(slow) => call(slow, vec![atom("stack"), atom("message")]),
            None => called(stack, Reach::Stack, link.arrives, vec![atom("message")]),
        };
        (vec![atom(&names.constant)], vec![S::Do(handled), S::Break])
    });
    let noted = stack.record().map(|_| {
        let last = atom("stack").behind(record::LAST).element(atom("link"));
        let length = atom("message").behind("length");
        call_statement(record::CAME, vec![atom("link"), length, last.address()])
    });
    let arrives = S::Switch {
        value: atom("link"),
        cases: cases.collect(),
        otherwise: None,
    };
    let body = noted.into_iter().chain([arrives]).collect();
    own(
        "A frame came in by a link.",
        "arrives",
        frame_of_link(stack),
        body,
    )
    .1
}

fn frame_of_link(stack: &Stack<'_>) -> Vec<String> {
    vec![
        pointer(stack),
        "unsigned link".to_string(),
        format!("struct {}_message *message", stack.names.stack),
    ]
}

/// Frames of some link are read where they stand. A stack that records takes no fast path.
pub fn reads_in_place(stack: &Stack<'_>) -> bool {
    stack.record().is_none() && stack.module.links.iter().any(|link| link.in_place)
}

/// Frames of some link take their fast path where they arrive. A stack that records takes none.
pub fn tries_fast(stack: &Stack<'_>) -> bool {
    let mut links = stack.module.links.iter();
    let has_fast = |id: FunctionId| stack.module.function(id).fast.is_some();
    stack.record().is_none() && links.any(|link| has_fast(link.arrives))
}

/// `arrives_hot`, `arrives_fast` and `is_in_place`, for a stack with fast paths.
pub fn arrives_fast(stack: &Stack<'_>) -> Vec<Item> {
    if !tries_fast(stack) {
        return Vec::new();
    }
    let fast = |id: FunctionId| stack.module.function(id).fast;
    let comment = "A frame came in by a link. Tries its fast path: false, and nothing is changed, \
        if the frame goes another way.";
    let whole = tries(stack, (comment, "arrives_fast"), fast);
    let comment =
        "Tries the hot path of a frame, while no application is called and no event waits.";
    let hot = tries(stack, (comment, "arrives_hot"), |id| stack.first_tried(id));
    let links = stack.module.links.iter().zip(&stack.names.links);
    let in_place = links.filter(|(link, _)| link.in_place);
    let in_place = in_place.map(|(_, names)| binary("==", atom("link"), atom(&names.constant)));
    let in_place = in_place.reduce(|one, other| binary("||", one, other));
    let answer = in_place.unwrap_or_else(|| atom("false"));
    let mut body = vec![S::Return(Some(answer.clone()))];
    if answer == atom("false") {
        body.insert(0, S::Do(atom("link").cast("void")));
    }
    let (_, in_place) = asked(
        "Returns true if the fast path of a link reads frames where they stand.",
        "is_in_place",
        vec!["unsigned link".to_string()],
        body,
    );
    let expanded = always_inline(std::slice::from_ref(&hot));
    vec![whole, expanded, hot, in_place]
}

/// A function that tries something before the reaction of the link by which a frame came in.
fn tries(
    stack: &Stack<'_>,
    (comment, name): (&str, &str),
    tried: impl Fn(FunctionId) -> Option<FunctionId>,
) -> Item {
    let links = stack.module.links.iter().zip(&stack.names.links);
    let cases = links.filter_map(|(link, names)| {
        let tried = tried(link.arrives)?;
        let tried = called(stack, Reach::Stack, tried, vec![atom("message")]);
        Some((vec![atom(&names.constant)], vec![S::Return(Some(tried))]))
    });
    let cases: Vec<_> = cases.collect();
    let mut body = vec![S::Return(Some(atom("false")))];
    let parameters = frame_of_link(stack);
    match cases.is_empty() {
        true => {
            let unused = ["stack", "link", "message"].into_iter().rev();
            unused.for_each(|one| body.insert(0, S::Do(atom(one).cast("void"))));
        }
        false => {
            let switch = S::Switch {
                value: atom("link"),
                cases,
                otherwise: None,
            };
            body.insert(0, switch);
        }
    }
    asked(comment, name, parameters, body).1
}

/// `STACK_take`, `STACK_input_all`, and `STACK_carrier` where somebody hears it.
pub fn entries(stack: &Stack<'_>) -> Vec<Item> {
    let name = &stack.names.stack;
    let now = "uint64_t now_ns".to_string();
    let is_one = stack.module.links.len() == 1;
    let unsigned = || "unsigned link".to_string();
    let mut taken = vec![pointer(stack)];
    taken.extend((!is_one).then(unsigned));
    taken.push(format!("const struct {name}_frame *frame"));
    taken.push(now.clone());
    let link = if is_one { "0" } else { "link" };
    let given = ["stack", link, "frame", "now_ns"].map(atom);
    let takes = call("take_frame", given.to_vec());
    let all = ["stack", "link", "frames", "count", "now_ns"]
        .map(atom)
        .to_vec();
    let frames = call("take_frames", all);
    let given = vec![
        pointer(stack),
        unsigned(),
        format!("const struct {name}_frame *frames"),
        "size_t count".to_string(),
        now,
    ];
    let returned = |value: C| vec![S::Return(Some(value))];
    let mut items = vec![
        public(
            "bool".to_string(),
            format!("{name}_take"),
            taken,
            returned(takes),
        ),
        public(
            "size_t".to_string(),
            format!("{name}_input_all"),
            given,
            returned(frames),
        ),
    ];
    items.extend(stack.gives_no_buffers().then(|| no_buffer(stack)));
    items.extend(carrier(stack));
    items
}

/// `STACK_buffer` of a stack whose frames all stand in memory of the host: it gives none.
fn no_buffer(stack: &Stack<'_>) -> Item {
    let head = header::inline::of_buffer(stack);
    let place = binary("+", atom("COUNTED"), atom("STACK_CUT_BUFFER"));
    let counted = atom("stack").behind("counters").element(place);
    let body = vec![
        S::Assign(counted, "+=", atom("1")),
        assign(C::Unary("*", Box::new(atom("room"))), atom("0")),
        S::Return(Some(atom("NULL"))),
    ];
    public(head.result, head.name, head.parameters, body)
}

fn carrier(stack: &Stack<'_>) -> Option<Item> {
    let name = &stack.names.stack;
    let links = stack.module.links.iter().zip(&stack.names.links);
    let tells = links.filter_map(|(link, names)| {
        let told = called(stack, Reach::Stack, link.carrier?, vec![atom("up")]);
        let test = binary("==", atom("link"), atom(&names.constant));
        Some(only_if(test, vec![S::Do(told)]))
    });
    let tells: Vec<S> = tells.collect();
    if tells.is_empty() {
        return None;
    }
    let begins = call_statement("begin_call", vec![atom("stack"), atom("now_ns")]);
    let runs = call_statement("run", vec![atom("stack")]);
    let body = [vec![begins], tells, vec![runs]].concat();
    let parameters = vec![
        pointer(stack),
        "unsigned link".to_string(),
        "bool up".to_string(),
        "uint64_t now_ns".to_string(),
    ];
    Some(public(
        "void".to_string(),
        format!("{name}_carrier"),
        parameters,
        body,
    ))
}
