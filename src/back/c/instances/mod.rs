//! Functions about instances: in, the kinds of a module; out, C that finds, makes and ends them.
//!
//! ```text
//! live_K, ended_K                      whether one has a state, and is found no more
//! at_K                                 a pointer to it
//! find_K, soonest_K_T, standing_K      look for one, or SL_NONE
//! recall_C, note_C                     by what the cache C of each holds
//! begin_K, create_K                    one begins, and is found by its keys
//! end_K, free_K                        one is found no more, and has no state any more
//! ```
//!
//! An instance that is created has a slot of a pool of its kind; one that lives with another has a
//! state as long as the slot of that is taken. Keys of those that are created are hashed; others
//! are few, and looked at one by one.
//!
//! ```text
//! instances_keys.rs    the hash of keys, and who has them
//! instances_search.rs  who is looked for
//! instances_recall.rs  the instance whose cache holds what is given
//! instances_lives.rs   how an instance begins, ends and is free
//! ```

mod instances_keys;
mod instances_lives;
mod instances_recall;
mod instances_search;

pub use instances_search::soonest_name;

use super::Stack;
use super::layout::{Layout, kinds};
use crate::c::tree::{Expression as C, Function, Item, atom, call};
use crate::ir::{Kind, KindId, Module, TimerId};

/// Functions about the instances of one kind.
struct Instances<'s, 'm> {
    stack: &'s Stack<'m>,
    id: KindId,
    layouts: &'s [Layout],
}

impl<'s, 'm> Instances<'s, 'm> {
    /// The same of another kind.
    fn of(&self, id: KindId) -> Instances<'s, 'm> {
        Instances { id, ..*self }
    }

    fn kind(&self) -> &'m Kind {
        let module: &'m Module = self.stack.module;
        &module.kinds[self.id.at()]
    }

    fn layout(&self) -> &'s Layout {
        &self.layouts[self.id.at()]
    }

    fn root(&self) -> KindId {
        self.stack.module.root(self.id)
    }

    fn capacity(&self) -> C {
        atom(self.kind().capacity.to_string())
    }

    /// The name of a function about the kind.
    fn named(&self, deed: &str) -> String {
        format!("{deed}_{}", self.stack.names.kind(self.id))
    }

    /// A call of a function about the kind; the stack is its first argument.
    fn call(&self, deed: &str, arguments: Vec<C>) -> C {
        let all = [vec![atom("stack")], arguments].concat();
        call(self.named(deed), all)
    }

    /// A member of the stack that stands beside the instances.
    fn beside(&self, suffix: &str) -> C {
        let name = self.stack.names.kind(self.id);
        atom("stack").behind(format!("{name}_{suffix}"))
    }

    /// An instance.
    fn instance(&self, index: C) -> C {
        super::containers::instance(self.stack, self.id, index)
    }

    /// A pointer to a timer of an instance.
    fn timer(&self, index: C, timer: TimerId) -> C {
        let name = &self.stack.names.kinds[self.id.at()].timers[timer.at()];
        let timers = self.instance(index).member("timers");
        timers.member(name.clone()).address()
    }

    /// The parameter that is the stack.
    fn pointer(&self, constant: bool) -> String {
        let before = if constant { "const " } else { "" };
        format!("{before}struct {} *stack", self.stack.names.stack)
    }
}

/// Functions that look for instances, by their names, each behind those that it calls.
pub fn questions(stack: &Stack<'_>) -> Vec<(String, Item)> {
    let layouts = Layout::all(stack.module);
    let of = |id| Instances {
        stack,
        id,
        layouts: &layouts,
    };
    let all = kinds(stack.module).map(of);
    let functions = all.flat_map(|kind| kind.questions());
    functions.map(named).collect()
}

/// Functions that make and end instances, by their names, each behind those that it calls. They
/// call `waits_no_more_K` of kinds that listen or wait, and `drop_queue`, `drop_window` and
/// `drop_stream`.
pub fn deeds(stack: &Stack<'_>) -> Vec<(String, Item)> {
    let layouts = Layout::all(stack.module);
    let of = |id| Instances {
        stack,
        id,
        layouts: &layouts,
    };
    let all = kinds(stack.module).map(of);
    let functions = all.flat_map(|kind| kind.deeds());
    functions.map(named).collect()
}

fn named(function: Function) -> (String, Item) {
    let function = super::with_all_used(function);
    (function.name.clone(), Item::Function(function))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::back::c::layout::timer_count;
    use crate::back::c::{message, records};
    use crate::c::printer;
    use crate::ir::text;
    use crate::source::Sources;

    /// Paths are made, each with a label for one kind or another.
    const PATHS: &str = "stack small

attribute mark link.at: i16 = 7
attribute link.tag: bytes 2 = bytes 2 [0102]

reason full

kind path[3] of path, created {
  key n: i16
  key name: bytes 11
  field kept: queue [msg] 4
  field pairs[2]: window [i8, msg] i12 8
  field hits: i8
  timer rest
  timer quiet calls awake
  ended full
}

kind label[6] of label, with path {
  key kind: i8
  key below: i32
  field early: stream i32 100
  timer idle calls awake
  stands_on below
  ended full
}

event fn awake(%n: i32) {
b0:
  return
}

fn look(%a: i16, %b: bytes 11, %m: msg, %l: inst label) {
b0:
  try insert_bytes label.early %l, 0, %m -> b1, b2
b1:
  try find path %a, %b -> b3, b4
b2(%back: msg):
  consume %back
  return
b3(%p: inst path):
  end path %p
  free path %p
  return
b4:
  return
}
";

    fn printed(text: &str, items: impl Fn(&Stack<'_>) -> Vec<Item>) -> String {
        let module = text::read(text).expect("the text is a module");
        let sources = Sources::new();
        let stack = Stack::new(&module, &sources);
        printer::file(&items(&stack))
    }

    fn items(named: Vec<(String, Item)>) -> Vec<Item> {
        named.into_iter().map(|(_, item)| item).collect()
    }

    /// The function of this name, without its comment.
    fn function(code: &str, name: &str) -> String {
        let mut functions = code.split("\n}\n");
        let head = format!(" {name}(");
        let found = functions.find(|function| function.contains(&head));
        let found = found.expect("there is such a function");
        let lines = found.lines().skip_while(|line| !line.contains(&head));
        lines.skip(1).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn what_is_written_before_it_is_read_needs_no_first_value() {
        let structs = printed(PATHS, records::structs);
        let path = "    uint8_t hits;
    uint32_t kept_items[4];
    struct {
        uint8_t p0;
        uint32_t p1;
    } pairs_items[2][8];
    struct {
        struct sl_timer rest;";
        assert!(structs.contains(path), "{structs}");
        let deeds = printed(PATHS, |stack| items(deeds(stack)));
        let begin = function(&deeds, "begin_path");
        let zero = "memset(&stack->path[n], 0, offsetof(struct path, kept_items));";
        assert!(begin.contains(zero), "{begin}");
        assert!(begin.contains("path[n].n = (uint16_t)n_;"), "{begin}");
    }

    #[test]
    fn an_instance_ends_once_and_its_timers_each_time() {
        let deeds = printed(PATHS, |stack| items(deeds(stack)));
        let expected = "    if (!stack->path_ended[n]) {
        stack->path_ended[n] = true;
        sl_pool_unlink(stack->path_buckets, stack->path_next,
                       bucket_path(stack, stack->path[n].n, stack->path[n].name), n);
    }
    sl_timer_stop(&stack->path[n].timers.rest);
    sl_timer_stop(&stack->path[n].timers.quiet);";
        assert_eq!(function(&deeds, "end_path"), expected);
    }

    #[test]
    fn all_that_lives_with_an_instance_is_emptied_with_it() {
        let deeds = printed(PATHS, |stack| items(deeds(stack)));
        let free = function(&deeds, "free_path");
        let labels = "    for (uint32_t own = n; own < 6; own += 3) {
        sl_timer_stop(&stack->label[own].timers.idle);
        drop_stream(stack, &stack->label[own].early, &stack->label[own].early_ranges,
                    &stack->label[own].early_pieces, UINT32_MAX, FULL);
    }
    if (live_path(stack, n)) {";
        assert!(free.contains(labels), "{free}");
        let pairs = "    for (uint32_t at_0 = 0; at_0 < 2; at_0++) {
        while (stack->path[n].pairs[at_0].span != 0) {
            const uint32_t slot = sl_window_take(&stack->path[n].pairs[at_0],
                                                 stack->path[n].pairs_held[at_0], 8, 0xfff,
                                                 stack->path[n].pairs[at_0].first);
            const struct small_message message_1 =
                retrieve(stack, stack->path[n].pairs_items[at_0][slot].p1);
            drop(stack, message_1.buffer, message_1.came_in, FULL);
        }
    }";
        assert!(free.contains(pairs), "{free}");
    }

    #[test]
    fn bytes_of_keys_are_hashed_word_by_word() {
        let questions = printed(PATHS, |stack| items(questions(stack)));
        let bucket = function(&questions, "bucket_path");
        let words = [
            "sl_load_big64(name.at)",
            "sl_load_big16(name.at + 8)",
            "name.at[10]",
        ];
        let mut found = words.iter().map(|word| bucket.find(word));
        assert!(found.all(|at| at.is_some()), "{bucket}");
        assert!(bucket.ends_with("30;"), "{bucket}");
    }

    #[test]
    fn who_lives_with_another_has_a_state_as_long_as_its_slot_is_taken() {
        let questions = printed(PATHS, |stack| items(questions(stack)));
        let live = "    return n < 6 && sl_pool_has(&stack->path_pool, stack->path_next, n % 3);";
        assert_eq!(function(&questions, "live_label"), live);
    }

    #[test]
    fn each_instance_has_its_timers() {
        let module = crate::ir::text::read(PATHS).expect("the text is a module");
        assert_eq!(timer_count(&module), 12);
    }

    #[test]
    fn a_copy_has_the_default_of_a_mark_again() {
        let functions = printed(PATHS, |stack| items(message::functions(stack)));
        assert_eq!(function(&functions, "unmark"), "    message->at = 7;");
        let tag = ".tag = (struct small_bytes2){.at = {1, 2}}";
        assert!(function(&functions, "blank").contains(tag), "{functions}");
    }
}
