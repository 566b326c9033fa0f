//! Searches: in, a kind; out, functions that say which of its instances have a state, and which
//! one has some keys, a timer that expires first, or a session below.

use super::Instances;
use crate::back::c::Stack;
use crate::back::c::records::has_struct;
use crate::c::tree::{
    Expression as C, Function, Statement as S, assign, atom, binary, call, only_if,
};
use crate::ir::{KindId, Lives, TimerId};

/// The name of the function that looks for the timer that expires first, of instances with so many
/// keys.
pub fn soonest_name(stack: &Stack<'_>, kind: KindId, timer: TimerId, keys: usize) -> String {
    let names = &stack.names.kinds[kind.at()];
    let name = format!("soonest_{}_{}", names.name, names.timers[timer.at()]);
    match keys {
        0 => name,
        count => format!("{name}_by_{count}"),
    }
}

/// The condition that all of these hold.
fn all(conditions: Vec<C>) -> C {
    let all = conditions.into_iter();
    let all = all.reduce(|all, one| binary("&&", all, one));
    all.expect("there is a condition")
}

fn none() -> C {
    atom("SL_NONE")
}

impl Instances<'_, '_> {
    /// All functions that look for instances.
    pub(super) fn questions(&self) -> Vec<Function> {
        let mut all = vec![self.live(), self.ended()];
        all.extend(has_struct(self.stack.module, self.id).then(|| self.at()));
        if let Some(buckets) = self.layout().buckets {
            all.push(self.bucket(buckets));
        }
        all.push(self.find());
        let soonest = self.layout().soonest.iter();
        all.extend(soonest.map(|(timer, keys)| self.soonest(*timer, *keys)));
        all.extend(self.kind().stands_on.map(|_| self.standing()));
        all.extend(self.recalls());
        all
    }

    fn asks(&self, comment: &str, name: String, result: &str, of: Vec<String>, is: C) -> Function {
        Function {
            comment: comment.to_string(),
            result: format!("static inline {result}"),
            name,
            parameters: [vec![self.pointer(true)], of].concat(),
            body: vec![S::Return(Some(is))],
        }
    }

    fn live(&self) -> Function {
        let root = self.of(self.root());
        let (capacity, slots) = (self.kind().capacity, root.kind().capacity);
        let within = binary("<", atom("n"), self.capacity());
        let taken = |slot: C| {
            let pool = root.beside("pool").address();
            call("sl_pool_has", vec![pool, root.beside("next"), slot])
        };
        let is = match root.kind().lives {
            Lives::Created if capacity == slots => taken(atom("n")),
            Lives::Created => {
                let slot = binary("%", atom("n"), root.capacity());
                all(vec![within, taken(slot)])
            }
            Lives::Always | Lives::With(_) => within,
        };
        let comment = "Whether it has a state. Any number may be asked for.";
        let index = vec!["uint32_t n".to_string()];
        self.asks(comment, self.named("live"), "bool", index, is)
    }

    fn ended(&self) -> Function {
        let is = match self.layout().has_ended {
            true => self.beside("ended").element(atom("n")),
            false => atom("false"),
        };
        let comment = "Whether it is found no more, though it still has a state.";
        let index = vec!["uint32_t n".to_string()];
        self.asks(comment, self.named("ended"), "bool", index, is)
    }

    fn at(&self) -> Function {
        let name = self.stack.names.kind(self.id);
        let place = self.instance(atom("n")).address();
        Function {
            comment: "The instance with this index.".to_string(),
            result: format!("static inline struct {name} *"),
            name: self.named("at"),
            parameters: vec![self.pointer(false), "uint32_t n".to_string()],
            body: vec![S::Return(Some(call("sl_once", vec![place])))],
        }
    }

    /// The condition that an instance has a state.
    fn is_live(&self) -> C {
        self.call("live", vec![atom("n")])
    }

    /// The conditions that it has one, and is found.
    fn is_there(&self) -> Vec<C> {
        let ended = self.beside("ended").element(atom("n"));
        let found = self.layout().has_ended.then(|| ended.negated());
        std::iter::once(self.is_live()).chain(found).collect()
    }

    /// Does something with each index that an instance may have.
    fn each(&self, body: Vec<S>) -> S {
        let below = match self.layout().has_pool {
            true => self.beside("pool").member("fresh"),
            false => self.capacity(),
        };
        S::For {
            start: "uint32_t n = 0".to_string(),
            condition: binary("<", atom("n"), below),
            step: "n++".to_string(),
            body,
        }
    }

    fn looks(
        &self,
        comment: String,
        name: String,
        parameters: Vec<String>,
        body: Vec<S>,
    ) -> Function {
        Function {
            comment,
            result: "static inline uint32_t".to_string(),
            name,
            parameters: [vec![self.pointer(true)], parameters].concat(),
            body,
        }
    }

    fn find(&self) -> Function {
        let count = self.kind().keys.len();
        let same = self.has_keys(&atom("n"), count);
        let body = match self.layout().buckets {
            Some(_) => self.in_bucket(all(same)),
            None => {
                // An instance with a label ends together with the instance that it lives with.
                let with = matches!(self.kind().lives, Lives::With(_));
                let there = match with && self.kind().stands_on.is_some() {
                    true => vec![self.is_live()],
                    false => self.is_there(),
                };
                let found = vec![S::Return(Some(atom("n")))];
                let one = only_if(all([there, same].concat()), found);
                vec![self.each(vec![one]), S::Return(Some(none()))]
            }
        };
        let comment = "The instance with these keys; SL_NONE if there is none.".to_string();
        let parameters = self.key_parameters(count);
        self.looks(comment, self.named("find"), parameters, body)
    }

    fn in_bucket(&self, same: C) -> Vec<S> {
        let bucket = self.call("bucket", self.key_names());
        let first = call("sl_pool_first", vec![self.beside("buckets"), bucket]);
        let next = call("sl_pool_next", vec![self.beside("next"), atom("n")]);
        vec![
            S::Declare {
                kind: "uint32_t".to_string(),
                name: "n".to_string(),
                value: Some(first),
            },
            S::While {
                condition: binary("&&", binary("!=", atom("n"), none()), same.negated()),
                body: vec![assign(atom("n"), next)],
            },
            S::Return(Some(atom("n"))),
        ]
    }

    fn soonest(&self, timer: TimerId, keys: usize) -> Function {
        let [n, first] = ["n", "first"].map(atom);
        let own = self.timer(n.clone(), timer);
        let runs = call("sl_timer_runs", vec![own.clone()]);
        let is_first = binary("==", first.clone(), none());
        let sooner = call(
            "sl_timer_sooner",
            vec![own, self.timer(first.clone(), timer)],
        );
        let mut soonest = self.is_there();
        soonest.push(runs);
        soonest.extend(self.has_keys(&n, keys));
        soonest.push(binary("||", is_first, sooner));
        let called = &self.kind().timers[timer.at()].name;
        let these = if keys > 0 {
            ", of those with these keys"
        } else {
            ""
        };
        let body = vec![
            S::Declare {
                kind: "uint32_t".to_string(),
                name: "first".to_string(),
                value: Some(none()),
            },
            self.each(vec![only_if(all(soonest), vec![assign(first.clone(), n)])]),
            S::Return(Some(first)),
        ];
        let comment =
            format!("The one whose `{called}` expires first{these}; SL_NONE if it runs for none.");
        let name = soonest_name(self.stack, self.id, timer, keys);
        self.looks(comment, name, self.key_parameters(keys), body)
    }

    fn standing(&self) -> Function {
        let key = self.kind().stands_on.expect("it stands on a session");
        let name = &self.stack.names.kinds[self.id.at()].fields[key.at()];
        let below = self.instance(atom("n")).member(name.clone());
        let stands = binary("==", below, atom("on"));
        let there = all(vec![self.is_live(), stands]);
        let found = only_if(there, vec![S::Return(Some(atom("n")))]);
        let comment = "The first that stands on a session below; SL_NONE if there is none.";
        let body = vec![self.each(vec![found]), S::Return(Some(none()))];
        let parameters = vec!["uint32_t on".to_string()];
        self.looks(
            comment.to_string(),
            self.named("standing"),
            parameters,
            body,
        )
    }
}
