//! Options of headers in C: the functions that judge them and find one, and the statements that
//! write them.
//!
//! ```text
//! HEADER_option_length   bytes of the option that stands here; 0 where it breaks a rule
//! HEADER_options_hold    whether all of them keep their rules
//! HEADER_option          where the last option of a number stands
//! ```

use super::Stack;
use super::bits::{advanced, load_bytes, store_bytes};
use super::layout::c_bits;
use super::peek::requirements;
use super::scope::Scope;
use super::wire::{load, region, store};
use crate::c::tree::{
    Expression as C, Function, Statement as S, assign, atom, binary, call, call_statement,
    conditional,
};
use crate::types::expression::{Expression, ExpressionKind};
use crate::types::header::{Header, HeaderField, OptionCase, OptionKind, Rule};
use crate::types::program::{HeaderFieldId, HeaderId};
use crate::types::value::{Type, Value};

/// The names of the functions about the options of a header.
#[derive(Clone, Debug)]
pub struct Names {
    /// Bytes of one.
    pub length: String,
    /// Whether they keep their rules.
    pub hold: String,
    /// Where one stands.
    pub find: String,
}

fn names<'a>(stack: &'a Stack, id: HeaderId) -> &'a Names {
    &stack.names.options[&id]
}

/// The number that tells an option from the others.
fn number_of(scope: &Scope, id: HeaderId, value: u64) -> C {
    let options = &scope.stack.program.headers[id.at()].options;
    let bytes = options.as_ref().map_or(1, |options| options.width);
    let carried = Type::Unsigned((8 * bytes) as u8);
    atom(scope.stack.number_text(value, &carried))
}

/// Where an option stands; NULL where it does not.
pub fn find(scope: &Scope, id: HeaderId, case: &OptionCase, base: &C) -> C {
    match &scope.option {
        Some(at) => at.clone(),
        None => {
            let number = number_of(scope, id, case.value);
            call(
                names(scope.stack, id).find.clone(),
                vec![base.clone(), number],
            )
        }
    }
}

/// Whether the options of a header that begins there keep their rules.
pub fn hold(scope: &Scope, id: HeaderId, base: &C) -> C {
    call(names(scope.stack, id).hold.clone(), vec![base.clone()])
}

/// The functions about options, of all headers that have some.
pub fn functions(stack: &Stack) -> Vec<Function> {
    let ids = (0..stack.program.headers.len() as u32).map(HeaderId);
    let with = ids.filter(|id| stack.program.headers[id.at()].options.is_some());
    with.flat_map(|id| {
        [
            length_function(stack, id),
            hold_function(stack, id),
            find_function(stack, id),
        ]
    })
    .collect()
}

fn length_function(stack: &Stack, id: HeaderId) -> Function {
    let header = &stack.program.headers[id.at()];
    let options = header.options.as_ref().expect("the header has options");
    let mut scope = Scope::new(stack, &[]);
    scope.option = Some(atom("at"));
    scope.headers.insert(id, atom("at"));
    let left = binary("-", atom("end"), atom("at")).cast("size_t");
    let mut body = vec![S::Declare {
        kind: "const size_t".to_string(),
        name: "left".to_string(),
        value: Some(left),
    }];
    if options.width > 1 {
        body.push(S::If {
            condition: binary("<", atom("left"), atom(options.width.to_string())),
            then: vec![S::Return(Some(atom("0")))],
            otherwise: Vec::new(),
        });
    }
    let cases = options.cases.iter().map(|case| {
        let body = match case.kind {
            OptionKind::End => vec![comment(header, case), S::Return(Some(atom("left")))],
            OptionKind::Padding | OptionKind::Fields => {
                vec![comment(header, case), length_of(&scope, id, case)]
            }
        };
        (vec![number_of(&scope, id, case.value)], body)
    });
    let others = match &options.others {
        Some(others) => length_of(&scope, id, others),
        None => S::Return(Some(atom("0"))),
    };
    body.push(S::Switch {
        value: load_bytes(header.big, atom("at"), options.width).0,
        cases: cases.collect(),
        otherwise: Some(vec![others]),
    });
    Function {
        comment: format!(
            "Bytes of the option of a header of {} that stands here; 0 where it breaks a rule.",
            header.name
        ),
        result: "static size_t".to_string(),
        name: names(stack, id).length.clone(),
        parameters: vec![
            "const uint8_t *at".to_string(),
            "const uint8_t *end".to_string(),
        ],
        body,
    }
}

fn comment(header: &Header, case: &OptionCase) -> S {
    S::Comment(header.field(case.itself()).name.clone())
}

/// Gives the length of an option if it keeps its rules.
fn length_of(scope: &Scope, id: HeaderId, case: &OptionCase) -> S {
    let header = &scope.stack.program.headers[id.at()];
    let width = header.options.as_ref().map_or(1, |options| options.width);
    let mut all = Vec::new();
    if case.least > width {
        all.push(binary(">=", atom("left"), atom(case.least.to_string())));
    }
    for part in case.parts() {
        let field = header.field(part);
        if field.kind != Type::UnboundedBytes {
            all.extend(requirements(scope, field, &read(scope, id, part)));
        }
    }
    let length = match case.counted {
        None => atom(case.least.to_string()),
        Some(counted) => {
            let count = read(scope, id, counted.field).cast("size_t");
            let bytes = match counted.unit {
                1 => count,
                unit => binary("*", count, atom(unit.to_string())),
            };
            let bytes = match counted.outside {
                0 => bytes,
                outside => binary("+", bytes, atom(outside.to_string())),
            };
            let least = atom(case.least.to_string());
            if counted.open {
                if counted.outside < case.least {
                    all.push(binary(">=", bytes.clone(), least));
                }
                all.push(binary("<=", bytes.clone(), atom("left")));
                bytes
            } else {
                all.push(binary("==", bytes, least.clone()));
                least
            }
        }
    };
    let all = all.into_iter().reduce(|all, one| binary("&&", all, one));
    S::Return(Some(match all {
        Some(all) => conditional(all, length, atom("0")),
        None => length,
    }))
}

fn read(scope: &Scope, id: HeaderId, field: HeaderFieldId) -> C {
    load(scope, id, field, &atom("at")).c
}

/// Where options begin and end in a header, as declarations.
fn bounds(scope: &Scope, id: HeaderId) -> Vec<S> {
    let (start, end) = region(scope, id, &atom("header"));
    let declare = |kind: &str, name: &str, value| S::Declare {
        kind: kind.to_string(),
        name: name.to_string(),
        value: Some(value),
    };
    vec![
        declare("const uint8_t *const", "end", end),
        declare("const uint8_t *", "at", start),
    ]
}

fn hold_function(stack: &Stack, id: HeaderId) -> Function {
    let mut scope = Scope::new(stack, &[]);
    scope.headers.insert(id, atom("header"));
    let mut turn = length_at_hand(stack, id, atom("false")).to_vec();
    turn.push(S::Assign(atom("at"), "+=", atom("length")));
    let mut body = bounds(&scope, id);
    body.push(S::While {
        condition: binary("<", atom("at"), atom("end")),
        body: turn,
    });
    body.push(S::Return(Some(atom("true"))));
    let name = &stack.program.headers[id.at()].name;
    Function {
        comment: format!("Whether the options of a header of {name} keep their rules."),
        result: "static bool".to_string(),
        name: names(stack, id).hold.clone(),
        parameters: vec!["const uint8_t *header".to_string()],
        body,
    }
}

fn find_function(stack: &Stack, id: HeaderId) -> Function {
    let header = &stack.program.headers[id.at()];
    let width = header.options.as_ref().map_or(1, |options| options.width);
    let mut scope = Scope::new(stack, &[]);
    scope.headers.insert(id, atom("header"));
    let turn = find_turn(stack, id, width);
    let until_malformed = header
        .options
        .as_ref()
        .is_some_and(|all| all.until_malformed);
    let mut body = bounds(&scope, id);
    body.push(S::Declare {
        kind: "const uint8_t *".to_string(),
        name: "found".to_string(),
        value: Some(atom("NULL")),
    });
    body.push(S::While {
        condition: binary("<", atom("at"), atom("end")),
        body: turn,
    });
    body.push(S::Return(Some(atom("found"))));
    Function {
        comment: format!(
            "Where the last option of this number stands in a header of {}, {}; NULL where there \
             is none.",
            header.name,
            match until_malformed {
                true => "before the first that breaks a rule",
                false => "all of whose options keep their rules",
            }
        ),
        result: "static const uint8_t *".to_string(),
        name: names(stack, id).find.clone(),
        parameters: vec![
            "const uint8_t *header".to_string(),
            format!("uint{}_t number", c_bits(8 * width)),
        ],
        body,
    }
}

/// Looks at the option at hand, and goes on behind it.
fn find_turn(stack: &Stack, id: HeaderId, width: u32) -> Vec<S> {
    let header = &stack.program.headers[id.at()];
    let found = load_bytes(header.big, atom("at"), width).0;
    let is_it = S::If {
        condition: binary("==", found, atom("number")),
        then: vec![assign(atom("found"), atom("at"))],
        otherwise: Vec::new(),
    };
    if !header
        .options
        .as_ref()
        .is_some_and(|all| all.until_malformed)
    {
        return vec![is_it, S::Assign(atom("at"), "+=", measured(stack, id))];
    }
    let mut turn = length_at_hand(stack, id, atom("found")).to_vec();
    turn.push(is_it);
    turn.push(S::Assign(atom("at"), "+=", atom("length")));
    turn
}

/// The length of the option at hand; 0 if it breaks a rule.
fn measured(stack: &Stack, id: HeaderId) -> C {
    let length = names(stack, id).length.clone();
    call(length, vec![atom("at"), atom("end")])
}

/// The same as `length`; an option that breaks a rule ends the function with this result.
fn length_at_hand(stack: &Stack, id: HeaderId, broken: C) -> [S; 2] {
    [
        S::Declare {
            kind: "const size_t".to_string(),
            name: "length".to_string(),
            value: Some(measured(stack, id)),
        },
        S::If {
            condition: binary("==", atom("length"), atom("0")),
            then: vec![S::Return(Some(broken))],
            otherwise: Vec::new(),
        },
    ]
}

/// An option that is written: always, or where a condition holds that has a name.
pub struct Written<'a> {
    /// The option.
    pub case: &'a OptionCase,
    /// When.
    pub condition: Option<C>,
}

/// Bytes of an option that is perhaps written.
pub fn bytes(option: &Written) -> C {
    let bytes = atom(option.case.least.to_string());
    match &option.condition {
        Some(condition) => conditional(condition.clone(), bytes, atom("0")),
        None => bytes,
    }
}

/// Writes options from a place on, and fills the header up to its end.
pub fn write(
    scope: &mut Scope,
    id: HeaderId,
    options: &[Written],
    value: &dyn Fn(&Scope, HeaderFieldId) -> Option<C>,
    (start, end): (C, C),
) -> Vec<S> {
    let name = scope.taken.take("option");
    let mut statements = vec![S::Declare {
        kind: "uint8_t *".to_string(),
        name: name.clone(),
        value: Some(start),
    }];
    let place = atom(&name);
    for option in options {
        let mut one = write_one(scope, id, option.case, value, &place);
        one.push(S::Assign(
            place.clone(),
            "+=",
            atom(option.case.least.to_string()),
        ));
        match &option.condition {
            None => statements.extend(one),
            Some(condition) => statements.push(S::If {
                condition: condition.clone(),
                then: one,
                otherwise: Vec::new(),
            }),
        }
    }
    statements.extend(fill(scope, id, &place, end));
    statements
}

/// The bytes of one option.
fn write_one(
    scope: &Scope,
    id: HeaderId,
    case: &OptionCase,
    value: &dyn Fn(&Scope, HeaderFieldId) -> Option<C>,
    place: &C,
) -> Vec<S> {
    let header = &scope.stack.program.headers[id.at()];
    let width = header.options.as_ref().map_or(1, |options| options.width);
    let mut inner = scope.clone();
    inner.option = Some(place.clone());
    let number = number_of(scope, id, case.value);
    let mut all = store_bytes(header.big, place.clone(), width, number);
    let mut pieces: Vec<(&HeaderField, C)> = Vec::new();
    for part in case.parts() {
        let field = header.field(part);
        if field.width == 0 {
            continue;
        }
        let written = match (&field.rule, value(scope, part)) {
            (_, Some(value)) => value,
            (Rule::Is(constant), None) => scope.constant(constant, &field.kind),
            (Rule::Counts { unit, .. }, None) => {
                let outside = case.counted.map_or(0, |counted| counted.outside);
                atom(((case.least - outside) / unit).to_string())
            }
            (Rule::Given | Rule::Default(_) | Rule::Checks { .. }, None) => atom("0"),
        };
        pieces.push((field, written));
        if (field.bit + field.width).is_multiple_of(8) {
            let at = advanced(place, pieces[0].0.bit / 8);
            all.extend(store(&mut inner, header, at, &pieces));
            pieces.clear();
        }
    }
    all
}

/// What is left of the header up to its end, in units of its count.
fn fill(scope: &Scope, id: HeaderId, place: &C, end: C) -> Vec<S> {
    let header = &scope.stack.program.headers[id.at()];
    let options = header.options.as_ref().expect("the header has options");
    let (Some(counter), Some(filler)) = (header.counter(), options.filler()) else {
        return Vec::new();
    };
    if counter.unit == 1 {
        return Vec::new();
    }
    let left = binary("-", end.clone(), place.clone()).cast("size_t");
    let filled = |with: u64| {
        let with = number_of(scope, id, with);
        call_statement("memset", vec![place.clone(), with, left.clone()])
    };
    if filler.kind == OptionKind::Padding || filler.value == 0 {
        return vec![filled(filler.value)];
    }
    let first = place.clone().element(atom("0"));
    vec![S::If {
        condition: binary("<", place.clone(), end),
        then: vec![filled(0), assign(first, number_of(scope, id, filler.value))],
        otherwise: Vec::new(),
    }]
}

/// Whether the value of an option itself says that it is always there.
pub fn always(there: &Expression) -> bool {
    matches!(*there.kind, ExpressionKind::Constant(Value::Number(1)))
}
