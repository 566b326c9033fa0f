//! Keys: in, a kind; out, its keys as parameters, their hash, and the comparison with an
//! instance's.

use super::Instances;
use crate::back::c::types;
use crate::c::tree::{Expression as C, Function, Statement as S, atom, binary, call};
use crate::ir::Type;

/// Names that functions which take keys have of their own.
const OWN: [&str; 4] = ["stack", "n", "first", "on"];

impl Instances<'_, '_> {
    /// The first keys, each with its name as a parameter, its member, and its type.
    fn first_keys(&self, count: usize) -> impl Iterator<Item = (String, &str, Type)> {
        let kind = self.kind();
        let members = &self.stack.names.kinds[self.id.at()].fields;
        let keys = kind.keys[..count].iter();
        keys.map(move |key| {
            let member = &members[key.at()];
            let mut name = member.clone();
            while OWN.contains(&name.as_str()) || name != *member && members.contains(&name) {
                name.push('_');
            }
            let of = self.stack.module.field(self.id, *key);
            match of.stored {
                crate::ir::Stored::Value(of) => (name, member.as_str(), of),
                _ => unreachable!("a key is a value"),
            }
        })
    }

    /// Declarations of the first keys as parameters.
    pub(super) fn key_parameters(&self, count: usize) -> Vec<String> {
        let keys = self.first_keys(count);
        keys.flat_map(|(name, _, of)| types::parameters(self.stack, of, &name))
            .collect()
    }

    /// All keys as parameters, to be handed on.
    pub(super) fn key_names(&self) -> Vec<C> {
        let keys = self.first_keys(self.kind().keys.len());
        keys.map(|(name, ..)| atom(name)).collect()
    }

    /// All keys of an instance.
    pub(super) fn keys_of(&self, index: &C) -> Vec<C> {
        let keys = self.first_keys(self.kind().keys.len());
        keys.map(|(_, member, _)| self.instance(index.clone()).member(member))
            .collect()
    }

    /// The statements that store all keys in an instance.
    pub(super) fn keep_keys(&self, index: &C) -> Vec<S> {
        let keys = self.first_keys(self.kind().keys.len());
        let stores = keys.map(|(name, member, of)| {
            let place = self.instance(index.clone()).member(member);
            let stored = types::stored(self.stack, of);
            let value = match types::local(self.stack, of) == stored {
                true => atom(name),
                false => atom(name).cast(stored),
            };
            crate::c::tree::assign(place, value)
        });
        stores.collect()
    }

    /// The conditions that an instance's first keys are those of the parameters.
    pub(super) fn has_keys(&self, index: &C, count: usize) -> Vec<C> {
        let keys = self.first_keys(count);
        keys.map(|(name, member, of)| {
            let own = self.instance(index.clone()).member(member);
            match of {
                Type::Bytes(length) => {
                    let both = vec![
                        own.member("at"),
                        atom(name).member("at"),
                        atom(length.to_string()),
                    ];
                    binary("==", call("memcmp", both), atom("0"))
                }
                _number => binary("==", own, atom(name)),
            }
        })
        .collect()
    }

    /// The bucket of keys: narrow ones are packed in as few words as they fit in.
    pub(super) fn bucket(&self, buckets: u32) -> Function {
        let mut words: Vec<(C, u32)> = Vec::new();
        for (name, _, of) in self.first_keys(self.kind().keys.len()) {
            let width = match of {
                Type::Bytes(length) => {
                    words.extend(words_of(&name, length).into_iter().map(|word| (word, 64)));
                    continue;
                }
                other => u32::from(other.bits().expect("a key is a number or bytes")),
            };
            match words.last_mut() {
                Some((word, used)) if *used + width <= 64 => {
                    let wide = atom(name).cast("uint64_t");
                    let moved = binary("<<", wide, atom(used.to_string()));
                    *word = binary("|", word.clone(), moved);
                    *used += width;
                }
                _full => words.push((atom(name), width)),
            }
        }
        let odd = || atom("stack").behind("hash_odd");
        let words = words.into_iter();
        let hash = words.fold(atom("0"), |hash, (word, _)| {
            call("sl_hash", vec![odd(), hash, word])
        });
        let unused = 32 - buckets.trailing_zeros();
        let highest = binary(">>", hash.cast("uint32_t"), atom(unused.to_string()));
        let parameters = self.key_parameters(self.kind().keys.len());
        Function {
            comment: String::new(),
            result: "static inline uint32_t".to_string(),
            name: self.named("bucket"),
            parameters: [vec![self.pointer(true)], parameters].concat(),
            body: vec![S::Return(Some(highest))],
        }
    }
}

/// Bytes of a key, in as few words as they fit in.
fn words_of(name: &str, length: u32) -> Vec<C> {
    let mut words = Vec::new();
    let mut from = 0;
    while from < length {
        let size = [8, 4, 2, 1].into_iter().find(|size| from + size <= length);
        let size = size.expect("a byte is left");
        let bytes = atom(name).member("at");
        let at = match from {
            0 => bytes.clone(),
            _later => binary("+", bytes.clone(), atom(from.to_string())),
        };
        words.push(match size {
            1 => bytes.element(atom(from.to_string())),
            size => call(format!("sl_load_big{}", 8 * size), vec![at]),
        });
        from += size;
    }
    words
}
