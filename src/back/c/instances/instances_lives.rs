//! Lives of instances: in, a kind; out, functions by which one begins, ends, and is free.
//!
//! ```text
//! create   a slot is taken, and it begins there
//! begin    all zero but what is written before it is read; then keys, and a chain of its bucket
//! end      out of the chain; timers stop
//! free     timers stop that were started since, messages are dropped, the slot is given back
//! ```

use super::Instances;
use crate::back::c::containers::{Container, holds_messages};
use crate::back::c::layout::kinds;
use crate::back::c::records::{first_buffer, has_struct};
use crate::c::tree::{
    Expression as C, Function, Statement as S, assign, atom, binary, call, call_statement, only_if,
};
use crate::ir::op::Place;
use crate::ir::{FieldId, Lives, TimerId};

impl Instances<'_, '_> {
    /// All functions that make and end instances.
    pub(super) fn deeds(&self) -> Vec<Function> {
        let mut all = vec![self.begin()];
        all.extend(self.layout().has_pool.then(|| self.create()));
        all.extend([self.end(), self.free()]);
        all
    }

    fn does(&self, comment: &str, deed: &str, more: Vec<String>, body: Vec<S>) -> Function {
        let own = vec![self.pointer(false), "uint32_t n".to_string()];
        Function {
            comment: comment.to_string(),
            result: "static void".to_string(),
            name: self.named(deed),
            parameters: [own, more].concat(),
            body,
        }
    }

    fn begin(&self) -> Function {
        let n = atom("n");
        let mut body = Vec::new();
        if self.kind().lives != Lives::Always {
            body.extend(self.zeroed());
        }
        body.extend(self.keep_keys(&n));
        if self.layout().has_ended {
            let ended = self.beside("ended").element(n.clone());
            body.push(assign(ended, atom("false")));
        }
        if self.layout().buckets.is_some() {
            let bucket = self.call("bucket", self.key_names());
            let link = vec![self.beside("buckets"), self.beside("next"), bucket, n];
            body.push(call_statement("sl_pool_link", link));
        }
        let keys = self.key_parameters(self.kind().keys.len());
        let comment = "An instance has its keys, and is found; all else is empty.";
        self.does(comment, "begin", keys, body)
    }

    /// All becomes zero but what is written before it is read, and timers.
    fn zeroed(&self) -> Option<S> {
        let has_fields = !self.kind().fields.is_empty();
        let name = self.stack.names.kind(self.id);
        let bytes = match first_buffer(self.stack, self.id) {
            None => format!("sizeof(struct {name})"),
            Some(member) => format!("offsetof(struct {name}, {member})"),
        };
        has_fields.then(|| {
            let place = self.instance(atom("n")).address();
            call_statement("memset", vec![place, atom("0"), atom(bytes)])
        })
    }

    fn create(&self) -> Function {
        let pool = self.beside("pool").address();
        let taken = vec![pool, self.beside("next"), self.capacity()];
        let begin = self.call("begin", [vec![atom("n")], self.key_names()].concat());
        let parameters = self.key_parameters(self.kind().keys.len());
        Function {
            comment: "A new instance; SL_NONE if there is no room for it.".to_string(),
            result: "static uint32_t".to_string(),
            name: self.named("create"),
            parameters: [vec![self.pointer(false)], parameters].concat(),
            body: vec![
                S::Declare {
                    kind: "const uint32_t".to_string(),
                    name: "n".to_string(),
                    value: Some(call("sl_pool_take", taken)),
                },
                only_if(binary("!=", atom("n"), atom("SL_NONE")), vec![S::Do(begin)]),
                S::Return(Some(atom("n"))),
            ],
        }
    }

    fn end(&self) -> Function {
        let n = atom("n");
        let mut listening = self.stack.module.listening.iter();
        let waits = listening.any(|how| how.session == self.id || how.listener == self.id);
        let mut body = Vec::new();
        if waits {
            body.push(S::Do(self.call("waits_no_more", vec![n.clone()])));
        }
        body.extend(self.unlinked(&n));
        body.extend(self.timers_stop(&n));
        let comment = "The instance is found no more.";
        self.does(comment, "end", Vec::new(), body)
    }

    /// An instance is found no more, if it still was.
    fn unlinked(&self, index: &C) -> Option<S> {
        let ended = self.beside("ended").element(index.clone());
        let unlink = self.layout().buckets.map(|_| {
            let bucket = self.call("bucket", self.keys_of(index));
            let chains = [self.beside("buckets"), self.beside("next")];
            let link = [chains.to_vec(), vec![bucket, index.clone()]].concat();
            call_statement("sl_pool_unlink", link)
        });
        let found = ended.clone().negated();
        let end = assign(ended, atom("true"));
        match (unlink, self.layout().has_ended) {
            (Some(unlink), true) => Some(only_if(found, vec![end, unlink])),
            (unlink, false) => unlink,
            (None, true) => Some(end),
        }
    }

    fn timers_stop(&self, index: &C) -> impl Iterator<Item = S> {
        let timers = (0..self.kind().timers.len() as u32).map(TimerId);
        timers.map(move |timer| {
            let own = self.timer(index.clone(), timer);
            call_statement("sl_timer_stop", vec![own])
        })
    }

    /// Returns the function that frees an instance. An instance that lives with another is only
    /// emptied: its state ends with that of the other.
    fn free(&self) -> Function {
        let n = atom("n");
        if let Lives::With(_) = self.kind().lives {
            let comment = "Messages that are left in the instance are dropped.";
            return self.does(comment, "free", Vec::new(), self.emptied(&n));
        }
        let living = kinds(self.stack.module).map(|id| self.of(id));
        let living = living.filter(|kind| kind.root() == self.id);
        let mut body: Vec<S> = living.flat_map(|kind| self.freed(&kind)).collect();
        if self.layout().has_pool {
            let (pool, next) = (self.beside("pool").address(), self.beside("next"));
            let slot = vec![pool, next, n.clone()];
            let taken = self.call("live", vec![n]);
            body.push(only_if(taken, vec![call_statement("sl_pool_give", slot)]));
        }
        let comment = "The instance, and all that lives with it, has no state any more. Messages \
            that are left in it are dropped, and its slot can be taken again.";
        self.does(comment, "free", Vec::new(), body)
    }

    /// All instances of a kind that live with the one of this kind with the index `n`.
    fn freed(&self, living: &Instances<'_, '_>) -> Vec<S> {
        let is_one = living.kind().capacity <= self.kind().capacity;
        let index = atom(if is_one { "n" } else { "own" });
        let mut body: Vec<S> = living.timers_stop(&index).collect();
        if living.layout().buckets.is_some() {
            body.extend(living.unlinked(&index));
        }
        body.extend(living.emptied(&index));
        match (is_one, body.is_empty()) {
            (_, true) | (true, _) => body,
            (false, false) => vec![S::For {
                start: "uint32_t own = n".to_string(),
                condition: binary("<", atom("own"), living.capacity()),
                step: format!("own += {}", self.kind().capacity),
                body,
            }],
        }
    }

    /// Messages that are left in an instance are dropped; without a reason there are none.
    fn emptied(&self, index: &C) -> Vec<S> {
        let kind = self.kind();
        let Some(reason) = kind
            .ended
            .filter(|_| has_struct(self.stack.module, self.id))
        else {
            return Vec::new();
        };
        let reason = atom(self.stack.names.reasons[reason.at()].clone());
        let fields = kind.fields.iter().zip(0..);
        let holders = fields.filter(|(field, _)| holds_messages(&field.stored));
        let dropped = holders.flat_map(|(field, at)| {
            let place = Place {
                kind: self.id,
                field: FieldId(at),
            };
            let indices = (0..field.dimensions.len()).map(|at| atom(format!("at_{at}")));
            let indices: Vec<C> = indices.collect();
            let own = Container::new(self.stack, place, self.instance(index.clone()), &indices);
            let dimensions = field.dimensions.iter().enumerate().rev();
            dimensions.fold(own.dropped(&reason), |body, (at, length)| {
                let at = format!("at_{at}");
                vec![S::For {
                    start: format!("uint32_t {at} = 0"),
                    condition: binary("<", atom(&*at), atom(length.to_string())),
                    step: format!("{at}++"),
                    body,
                }]
            })
        });
        dropped.collect()
    }
}
