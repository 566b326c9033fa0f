//! Recalls: in, a kind and its caches; out, functions that find the instance whose cache holds some
//! arguments.
//!
//! A table says which instance it may be, by a hash of those arguments by which the function of the
//! cache finds it. The cache of that instance decides.

use super::Instances;
use crate::back::c::layout::Guesses;
use crate::back::c::types;
use crate::c::tree::{
    Expression as C, Function, Statement as S, assign, atom, binary, call, conditional,
};
use crate::ir::CacheId;

impl Instances<'_, '_> {
    /// The functions about those caches of the kind by which its instances are recalled.
    pub(super) fn recalls(&self) -> Vec<Function> {
        let module = self.stack.module;
        let recalled = module.recalled();
        let all = (0..module.caches.len() as u32).map(CacheId);
        let own =
            all.filter(|id| recalled[id.at()] && module.caches[id.at()].kind == Some(self.id));
        own.flat_map(|id| {
            let guesses = self.stack.guesses(id);
            let tables = guesses
                .iter()
                .flat_map(|guesses| [self.guess(id, guesses), self.note(id, guesses)]);
            let mut functions: Vec<Function> = tables.collect();
            functions.push(self.recall(id, guesses.as_ref()));
            functions
        })
        .collect()
    }

    fn cache_named(&self, deed: &str, id: CacheId) -> String {
        format!("{deed}_{}", self.stack.names.caches[id.at()])
    }

    /// The declaration of an argument, and its name.
    fn argument(&self, id: CacheId, at: usize) -> (String, String) {
        let name = format!("p{at}");
        let of = self.stack.module.cached_arguments(id)[at];
        let kind = types::local(self.stack, of);
        (format!("{kind} {name}"), name)
    }

    /// The place in the table of guesses.
    fn guess(&self, id: CacheId, guesses: &Guesses) -> Function {
        let keys = guesses.keys.iter().map(|at| self.argument(id, *at));
        let (parameters, names): (Vec<String>, Vec<String>) = keys.unzip();
        let names = names.into_iter().map(atom);
        let word = names.reduce(|all, one| binary("^", all, one));
        let odd = atom("stack").behind("hash_odd");
        let hash = call("sl_hash", vec![odd, atom("0"), word.unwrap_or(atom("0"))]);
        let unused = 32 - guesses.count.trailing_zeros();
        let highest = binary(">>", hash.cast("uint32_t"), atom(unused.to_string()));
        Function {
            comment: String::new(),
            result: "static inline uint32_t".to_string(),
            name: self.cache_named("guess", id),
            parameters: [vec![self.pointer(true)], parameters].concat(),
            body: vec![S::Return(Some(highest))],
        }
    }

    /// The entry of the table of guesses for the key arguments.
    fn entry(&self, id: CacheId, guesses: &Guesses) -> C {
        let keys = guesses.keys.iter().map(|at| atom(self.argument(id, *at).1));
        let given = std::iter::once(atom("stack")).chain(keys).collect();
        let name = &self.stack.names.caches[id.at()];
        let table = atom("stack").behind(format!("{name}_guesses"));
        table.element(call(self.cache_named("guess", id), given))
    }

    fn note(&self, id: CacheId, guesses: &Guesses) -> Function {
        let keys = guesses.keys.iter().map(|at| self.argument(id, *at).0);
        let mut parameters = vec![self.pointer(false), "uint32_t n".to_string()];
        parameters.extend(keys);
        let index = atom("n").cast(guesses.of);
        Function {
            comment: "Notes whose cache holds these arguments.".to_string(),
            result: "static inline void".to_string(),
            name: self.cache_named("note", id),
            parameters,
            body: vec![assign(self.entry(id, guesses), index)],
        }
    }

    fn recall(&self, id: CacheId, guesses: Option<&Guesses>) -> Function {
        let count = self.stack.module.cached_arguments(id).len();
        let all = (0..count).map(|at| self.argument(id, at));
        let (parameters, names): (Vec<String>, Vec<String>) = all.unzip();
        let index = guesses.map_or(atom("0"), |guesses| self.entry(id, guesses));
        let name = self.stack.names.caches[id.at()].clone();
        let cache = atom("self").dereferenced().member(name);
        let same = names
            .into_iter()
            .fold(cache.clone().member("valid"), |all, name| {
                let equal = binary("==", atom(&name), cache.clone().member(name));
                binary("&&", all, equal)
            });
        let kind = self.stack.names.kind(self.id);
        let found = conditional(same, atom("n"), atom("SL_NONE"));
        Function {
            comment: "The instance whose cache holds these arguments, or SL_NONE.".to_string(),
            result: "static inline uint32_t".to_string(),
            name: self.cache_named("recall", id),
            parameters: [vec![self.pointer(false)], parameters].concat(),
            body: vec![
                S::Declare {
                    kind: "const uint32_t".to_string(),
                    name: "n".to_string(),
                    value: Some(index),
                },
                S::Declare {
                    kind: format!("const struct {kind} *const"),
                    name: "self".to_string(),
                    value: Some(self.call("at", vec![atom("n")])),
                },
                S::Return(Some(found)),
            ],
        }
    }
}
