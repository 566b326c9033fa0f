//! How instances are found: the keys of a kind as parameters, their hash, and who has these keys.

use super::Stack;
use super::bits::advanced;
use super::layout::{self, parameters};
use super::names::{beside, c_name};
use super::scope::Scope;
use super::state::{buckets, exists, member, pointer};
use crate::c::tree::{
    Expression as C, Function, Statement as S, assign, atom, binary, call, conditional,
};
use crate::types::expression::Instance;
use crate::types::program::{Key, Kind, KindId};
use crate::types::value::Type;
use std::cmp::Reverse;

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

/// What the functions that take keys have of their own.
const OWN: [&str; 9] = [
    "n", "first", "last", "listener", "waiting", "keys", "now_ns", "backlog", "found",
];

/// A key as a parameter.
pub fn parameter_name(name: &str) -> String {
    beside(&c_name(name), |word| OWN.contains(&word))
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

/// The keys as they stand in an instance: numbers first, the widest before all, so that narrow ones
/// stand side by side.
pub fn stored<'k>(stack: &Stack, kind: &'k Kind) -> Vec<&'k Key> {
    let mut keys = Vec::from_iter(&kind.keys);
    let bits = |key: &Key| layout::bits(stack, &key.kind).unwrap_or(0);
    keys.sort_by_key(|key| Reverse(bits(key)));
    keys
}

/// The same in words: narrow keys that fill one of 32 bits are hashed and compared as one, for what
/// headers have side by side, too, compilers load at once.
fn in_words<'k>(stack: &Stack, kind: &'k Kind) -> Vec<Vec<&'k Key>> {
    let mut words: Vec<Vec<&Key>> = Vec::new();
    for key in stored(stack, kind) {
        match words.last_mut() {
            Some(word) if fits(word, key) => word.push(key),
            _ => words.push(vec![key]),
        }
    }
    words
}

fn fits(word: &[&Key], key: &Key) -> bool {
    let both = width(word).zip(width(&[key]));
    both.is_some_and(|(used, more)| used + more <= 32)
}

/// Bits of keys that can stand in one word.
fn width(keys: &[&Key]) -> Option<u32> {
    let bits = keys.iter().map(|key| match key.kind {
        Type::Unsigned(bits @ (8 | 16)) | Type::Sequence(bits @ (8 | 16)) => Some(u32::from(bits)),
        _ => None,
    });
    bits.sum()
}

/// Keys in a word, each as `value` gives it.
fn word(keys: &[&Key], value: &dyn Fn(&Key) -> C) -> C {
    let [first, others @ ..] = keys else {
        unreachable!("a word has keys");
    };
    if others.is_empty() {
        return value(first);
    }
    let mut word = value(first).cast("uint32_t");
    for (at, key) in others.iter().enumerate() {
        let behind = width(&keys[..=at]).expect("keys in a word are narrow");
        let moved = binary("<<", value(key).cast("uint32_t"), atom(behind.to_string()));
        word = binary("|", word, moved);
    }
    word
}

/// Keys are packed in as few words as they fit in; what is not there counts as zero.
pub fn hash(stack: &Stack, id: KindId, kind: &Kind) -> Function {
    let mut words: Vec<(C, u32)> = Vec::new();
    for keys in in_words(stack, kind) {
        let name = parameter_name(&keys[0].name);
        let (inner, has) = match &keys[0].kind {
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
        if let Type::BoundedBytes(most) = inner {
            let parts = words_of(&atom(&name), *most);
            words.extend(parts.into_iter().map(|part| (there(part), 64)));
            words.push((there(atom(&name).member("length")), 8));
            continue;
        }
        let value = there(word(&keys, &|key| atom(parameter_name(&key.name))));
        let width = width(&keys).unwrap_or_else(|| match inner {
            Type::Bool => 1,
            number => layout::bits(stack, number).expect("keys are numbers"),
        });
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

/// Whether an instance has other keys than these.
pub fn differs(stack: &Stack, id: KindId, kind: &Kind, instance: &str) -> C {
    let mut scope = Scope::new(stack, &[]);
    scope.own = Some(atom(instance));
    let place = scope.instance(Instance::Own, id);
    let differs = in_words(stack, kind).into_iter().map(|keys| {
        let key = keys[0];
        let name = parameter_name(&key.name);
        let own = |key: &Key| place.clone().member(c_name(&key.name));
        match &key.kind {
            Type::Bytes(length) => bytes_differ(own(key), &name, *length),
            bounded @ Type::BoundedBytes(_) => bounded_differ(stack, bounded, own(key), &name),
            Type::Optional(inner) => {
                let other = match **inner {
                    Type::Bytes(length) => bytes_differ(own(key), &name, length),
                    Type::BoundedBytes(_) => bounded_differ(stack, inner, own(key), &name),
                    _ => binary("!=", own(key), atom(&name)),
                };
                let (own, has) = (format!("has_{}", c_name(&key.name)), format!("has_{name}"));
                let flags = binary("!=", place.clone().member(own), atom(&has));
                binary("||", flags, binary("&&", atom(has), other))
            }
            _ => {
                let given = word(&keys, &|key| atom(parameter_name(&key.name)));
                binary("!=", word(&keys, &own), given)
            }
        }
    });
    let all = differs.reduce(|all, one| binary("||", all, one));
    all.expect("it has keys")
}

/// The instance with these keys.
pub fn find(stack: &Stack, id: KindId, kind: &Kind) -> Function {
    let [buckets, next] = ["buckets", "next"].map(|suffix| member(stack, id, suffix));
    let first = call("sl_pool_first", vec![buckets, bucket_of(stack, id, kind)]);
    let other = differs(stack, id, kind, "n");
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
            condition: binary("&&", binary("!=", atom("n"), atom("SL_NONE")), other),
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

/// The instance with these keys, as fast paths look for it: frames come in a row that are for the
/// same one.
pub fn find_again(stack: &Stack, id: KindId, kind: &Kind) -> Function {
    let declared = |name: &str, value: C| S::Declare {
        kind: "const uint32_t".to_string(),
        name: name.to_string(),
        value: Some(value),
    };
    let kept = || member(stack, id, "last");
    let find = format!("find_{}", stack.names.kinds[id.at()]);
    let found = call(&find, [vec![atom("stack")], names(kind)].concat());
    let is_there = binary("!=", atom("last"), atom("SL_NONE"));
    let same = differs(stack, id, kind, "last").negated();
    let body = vec![
        declared("last", binary("-", kept(), atom("1"))),
        S::If {
            condition: binary("&&", is_there, same),
            then: vec![S::Return(Some(atom("last")))],
            otherwise: Vec::new(),
        },
        declared("n", found),
        assign(kept(), binary("+", atom("n"), atom("1"))),
        S::Return(Some(atom("n"))),
    ];
    Function {
        comment: "The same, which mostly is the one that was found last.".to_string(),
        result: "static inline uint32_t".to_string(),
        name: format!("{find}_again"),
        parameters: [vec![pointer(stack, false)], parameters_of(stack, kind)].concat(),
        body,
    }
}

/// Who has some keys may be another now.
pub fn forget_last(stack: &Stack, id: KindId) -> Option<S> {
    let is_kept = stack.refound.contains(&id);
    is_kept.then(|| assign(member(stack, id, "last"), atom("0")))
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

fn bounded_differ(stack: &Stack, kind: &Type, same: C, name: &str) -> C {
    let equal = super::types::bounded_equal(stack, kind);
    call(equal, vec![same, atom(name)]).negated()
}
