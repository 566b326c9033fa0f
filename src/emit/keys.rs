//! How instances are found: the keys of a kind as parameters, their hash, and who has these keys.

use super::Stack;
use super::bits::advanced;
use super::layout::{self, parameters};
use super::names::c_name;
use super::scope::Scope;
use super::state::{buckets, exists, member, pointer};
use crate::c::tree::{
    Expression as C, Function, Statement as S, assign, atom, binary, call, conditional,
};
use crate::types::expression::Instance;
use crate::types::program::{Key, Kind, KindId};
use crate::types::value::Type;

/// The keys, as they are declared.
pub fn parameters_of(stack: &Stack, kind: &Kind) -> Vec<String> {
    let keys = kind.keys.iter();
    keys.flat_map(|key| parameters(stack, &key.kind, &parameter_name(&key.name)))
        .collect()
}

/// The keys as they are handed on.
pub fn names(kind: &Kind) -> Vec<C> {
    named(kind, &parameter_name)
}

/// The keys as an instance has them.
pub fn members(kind: &Kind) -> Vec<C> {
    named(kind, &c_name)
}

/// A key as a parameter, beside the instance `n`.
pub fn parameter_name(name: &str) -> String {
    match name {
        "n" => "n_".to_string(),
        name => c_name(name),
    }
}

fn named(kind: &Kind, called: &dyn Fn(&str) -> String) -> Vec<C> {
    let keys = kind.keys.iter().flat_map(|key| {
        let name = called(&key.name);
        match key.kind {
            Type::Optional(_) => vec![atom(format!("has_{name}")), atom(name)],
            _ => vec![atom(name)],
        }
    });
    keys.collect()
}

/// Keys are packed in as few words as they fit in; what is not there counts as zero.
pub fn hash(stack: &Stack, id: KindId, kind: &Kind) -> Function {
    let mut words: Vec<(C, u32)> = Vec::new();
    for key in &kind.keys {
        let name = parameter_name(&key.name);
        let (inner, has) = match &key.kind {
            Type::Optional(inner) => (&**inner, Some(atom(format!("has_{name}")))),
            other => (other, None),
        };
        let there = |value: C| match &has {
            Some(has) => conditional(has.clone(), value, atom("0")),
            None => value,
        };
        if let Type::Bytes(length) = inner {
            let parts = words_of(&atom(&name), *length);
            words.extend(parts.into_iter().map(|part| (there(part), 64)));
            continue;
        }
        let value = there(atom(&name));
        let width = match inner {
            Type::Bool => 1,
            number => layout::bits(stack, number).expect("keys are numbers"),
        };
        match words.last_mut() {
            Some((word, used)) if *used + width <= 64 => {
                let moved = binary("<<", value.cast("uint64_t"), atom(used.to_string()));
                *word = binary("|", word.clone(), moved);
                *used += width;
            }
            _ => words.push((value, width)),
        }
    }
    let odd = || atom("stack").behind("hash_odd");
    let hash = words.into_iter().fold(atom("0"), |hash, (word, _)| {
        call("sl_hash", vec![odd(), hash, word])
    });
    let unused = 32 - buckets(kind.capacity).trailing_zeros();
    let highest = binary(">>", hash.cast("uint32_t"), atom(unused.to_string()));
    Function {
        comment: String::new(),
        result: "static inline uint32_t".to_string(),
        name: format!("bucket_{}", stack.names.kinds[id.at()]),
        parameters: [vec![pointer(stack, true)], parameters_of(stack, kind)].concat(),
        body: vec![S::Return(Some(highest))],
    }
}

/// The call that gives the bucket of the keys.
pub fn bucket_of(stack: &Stack, id: KindId, kind: &Kind) -> C {
    let name = format!("bucket_{}", stack.names.kinds[id.at()]);
    call(name, [vec![atom("stack")], names(kind)].concat())
}

/// How many instances there are with just those optional keys that some place has; none if the keys
/// say too much or too little to count by.
pub fn alike(stack: &Stack, id: KindId, kind: &Kind, has: impl Fn(String) -> C) -> Option<C> {
    let flags = optional(kind).enumerate().map(|(at, name)| match at {
        0 => has(format!("has_{name}")),
        _ => binary("<<", has(format!("has_{name}")), atom(at.to_string())),
    });
    let form = flags.reduce(|all, one| binary("|", all, one))?;
    ways(kind).map(|_| member(stack, id, "alike").element(form))
}

/// In how many ways optional keys may be there.
pub fn ways(kind: &Kind) -> Option<u32> {
    let count = optional(kind).count();
    (1..=4).contains(&count).then(|| 1 << count)
}

fn optional(kind: &Kind) -> impl Iterator<Item = String> {
    let optional = |key: &&Key| matches!(key.kind, Type::Optional(_));
    kind.keys
        .iter()
        .filter(optional)
        .map(|key| c_name(&key.name))
}

/// The instance with these keys.
pub fn find(stack: &Stack, id: KindId, kind: &Kind) -> Function {
    let mut scope = Scope::new(stack, &[]);
    scope.own = Some(atom("n"));
    let place = scope.instance(Instance::Own, id);
    let differs = kind.keys.iter().map(|key| {
        let name = parameter_name(&key.name);
        let same = place.clone().member(c_name(&key.name));
        let other = match &key.kind {
            Type::Bytes(length) => bytes_differ(same, &name, *length),
            Type::Optional(inner) => match &**inner {
                Type::Bytes(length) => bytes_differ(same, &name, *length),
                _ => binary("!=", same, atom(&name)),
            },
            _ => binary("!=", same, atom(&name)),
        };
        match key.kind {
            Type::Optional(_) => {
                let (own, has) = (format!("has_{}", c_name(&key.name)), format!("has_{name}"));
                let flags = binary("!=", place.clone().member(own), atom(&has));
                binary("||", flags, binary("&&", atom(has), other))
            }
            _ => other,
        }
    });
    let differs = differs
        .reduce(|all, one| binary("||", all, one))
        .expect("it has keys");
    let [buckets, next] = ["buckets", "next"].map(|suffix| member(stack, id, suffix));
    let first = call("sl_pool_first", vec![buckets, bucket_of(stack, id, kind)]);
    let none_alike = alike(stack, id, kind, atom).map(|count| S::If {
        condition: binary("==", count, atom("0")),
        then: vec![S::Return(Some(atom("SL_NONE")))],
        otherwise: Vec::new(),
    });
    let mut body: Vec<S> = none_alike.into_iter().collect();
    body.extend([
        S::Declare {
            kind: "uint32_t".to_string(),
            name: "n".to_string(),
            value: Some(first),
        },
        S::While {
            condition: binary("&&", binary("!=", atom("n"), atom("SL_NONE")), differs),
            body: vec![assign(
                atom("n"),
                call("sl_pool_next", vec![next, atom("n")]),
            )],
        },
        S::Return(Some(atom("n"))),
    ]);
    Function {
        comment: "The instance with this key; SL_NONE if there is none.".to_string(),
        result: "static inline uint32_t".to_string(),
        name: format!("find_{}", stack.names.kinds[id.at()]),
        parameters: [vec![pointer(stack, true)], parameters_of(stack, kind)].concat(),
        body,
    }
}

/// The one instance of a kind without keys.
pub fn find_only(stack: &Stack, id: KindId) -> Function {
    let ended = member(stack, id, "ended").element(atom("0"));
    let there = binary("&&", exists(stack, id, "0"), ended.negated());
    Function {
        comment: "The instance; SL_NONE if there is none.".to_string(),
        result: "static uint32_t".to_string(),
        name: format!("find_{}", stack.names.kinds[id.at()]),
        parameters: vec![pointer(stack, true)],
        body: vec![S::Return(Some(conditional(
            there,
            atom("0"),
            atom("SL_NONE"),
        )))],
    }
}

/// Bytes of a key, in as few words as they fit in.
fn words_of(bytes: &C, length: u32) -> Vec<C> {
    let mut words = Vec::new();
    let mut from = 0;
    while from < length {
        let size = [8, 4, 2, 1].into_iter().find(|size| from + size <= length);
        let size = size.expect("a byte is left");
        let at = advanced(&bytes.clone().member("at"), from);
        words.push(match size {
            1 => bytes.clone().member("at").element(atom(from.to_string())),
            size => call(format!("sl_load_big{}", 8 * size), vec![at]),
        });
        from += size;
    }
    words
}

fn bytes_differ(same: C, name: &str, length: u32) -> C {
    let bytes = vec![
        same.member("at"),
        atom(name).member("at"),
        atom(length.to_string()),
    ];
    binary("!=", call("memcmp", bytes), atom("0"))
}
