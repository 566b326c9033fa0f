//! The exits of a fast path: each has a name, so that hosts can count how often the path is left
//! there.
//!
//! In: the function of a path, as it is printed. Out: the same, which returns the constant of the
//! place where it is left, or that of its end; and the names of these places.
//!
//! ```text
//! if (ipv4_header[0] != 0x45) {         asks for fields of a header: `ipv4.version_words`
//!     return NAME_PATH_TUNNEL_ARRIVE_IPV4_VERSION_WORDS;
//! ```
//!
//! A name is that of a layer and of what is asked there: fields of its header, or else a function,
//! a field of its state, a local, or how long the message is. Where several tests are one compare,
//! it has the names of all fields, or the first and the last. Whoever asks for the same as a place
//! before adds what else it asks for, or a number.

use super::Stack;
use super::algebra::{any_of, number, replaced};
use super::masked::{Masked, bits_of};
use crate::c::printer;
use crate::c::tree::{Expression as C, Function, Statement as S, atom, leaves};
use crate::tree::Reaction;
use crate::types::program::KindId;
use std::collections::{BTreeMap, BTreeSet};

/// A fast path, and where it is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The reaction that it is a path of.
    pub reaction: Reaction,
    /// What it is called.
    pub name: String,
    /// The constant that says that it was gone to its end.
    pub constant: String,
    /// Where it is left, in order.
    pub exits: Vec<Exit>,
    /// What is asked at once of a frame, if anything is.
    pub predicted: Option<Predicted>,
    /// Whether it keeps nothing of its frame, which so need not stand in a buffer.
    pub lets_go: bool,
    /// Where an answer of it is kept that leaves from there, and how many bytes it has.
    pub stands: Option<(String, u64)>,
    /// Whether something may wait on the agenda where it has come to its end.
    pub may_wait: bool,
    /// Whether it hands each of its frames to an application once, and does not count that.
    pub delivers: bool,
}

/// The comparison of a whole header prefix with that of the last frame on a fast path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Predicted {
    /// So many bytes it begins with.
    pub bytes: usize,
    /// Whether it is as long, too.
    pub alike: bool,
    /// So many tests.
    pub tests: usize,
    /// Each instance of that kind keeps what it expects, in so many bytes.
    pub kept: Option<(KindId, u64)>,
}

/// A place where a fast path is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    /// `LAYER.WHAT`
    pub name: String,
    /// What holds where the path is left, as far as there is room.
    pub asks: String,
    /// The constant that says that it was left here.
    pub constant: String,
}

/// So long is what is said of a test at most.
const LONGEST: usize = 72;

/// Gives the places where a path is left their names.
pub fn named(stack: &Stack, reaction: Reaction, function: &mut Function) -> Path {
    let name = stack.names.reactions[&reaction].clone();
    let mut naming = Naming::new(stack, reaction);
    naming.block(&mut function.body, None);
    let before = format!("{}_PATH_{name}", stack.names.stack).to_uppercase();
    let mut taken = BTreeSet::new();
    let mut constant = |wanted: String| {
        let mut wanted = wanted;
        while stack.names.taken.has(&wanted) || !taken.insert(wanted.clone()) {
            wanted.push('_');
        }
        wanted
    };
    let end = constant(before.clone());
    for exit in &mut naming.exits {
        exit.asks = shortened(&exit.asks);
        let own = exit.name.replace('.', "_").to_uppercase();
        exit.constant = constant(format!("{before}_{own}"));
    }
    let exits = naming.exits;
    let mut at = naming.places.into_iter().map(|at| &exits[at]);
    each_return(&mut function.body, &mut |value| {
        *value = match *value == atom("true") {
            true => atom(&end),
            false => atom(&at.next().expect("each exit has a name").constant),
        }
    });
    Path {
        reaction,
        name,
        constant: end,
        exits,
        predicted: None,
        lets_go: false,
        stands: None,
        may_wait: false,
        delivers: false,
    }
}

/// Does something with what each `return` gives.
fn each_return(block: &mut [S], change: &mut dyn FnMut(&mut C)) {
    for statement in block {
        if let S::Return(Some(value)) = statement {
            change(value);
        }
        for inner in statement.blocks_mut() {
            each_return(inner, change);
        }
    }
}

/// What an exit can be named after; the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Header,
    Function,
    State,
    Message,
}

/// Something that a test asks for.
struct Word {
    rank: Rank,
    text: String,
    /// The entity whose it is; none: of the code around.
    owner: Option<String>,
}

/// Fields of a header of which some bits are.
struct Fields {
    /// The place of the header in the program.
    header: usize,
    names: Vec<String>,
    /// All their bits, where the others are.
    mask: u64,
    /// Whether the bits are all of those of one field.
    is_whole: bool,
    /// Whether some of the bits are of a header behind it.
    goes_on: bool,
}

struct Naming<'a> {
    stack: &'a Stack<'a>,
    /// By the line that says so: whose code begins.
    begins: BTreeMap<String, String>,
    /// Whose code it is.
    entity: String,
    /// Locals, and what they are.
    values: BTreeMap<String, C>,
    exits: Vec<Exit>,
    /// Which of these each place is, in order: where the same is asked, it is the same.
    places: Vec<usize>,
}

impl<'a> Naming<'a> {
    fn new(stack: &'a Stack<'a>, reaction: Reaction) -> Naming<'a> {
        let entity = |reaction| {
            let entity = super::entity_of(stack, reaction);
            stack.program.entities[entity.at()].name.clone()
        };
        let trees = stack.forest.trees.iter().map(|tree| tree.reaction);
        let woven = stack.forest.origins.values().copied();
        let mut begins = BTreeMap::new();
        for one in trees.chain(woven) {
            let line = stack.reaction_comment(one);
            begins.entry(line).or_insert_with(|| entity(one));
        }
        Naming {
            stack,
            begins,
            entity: entity(reaction),
            values: BTreeMap::new(),
            exits: Vec::new(),
            places: Vec::new(),
        }
    }

    /// The exits of a block, which begins where something was asked.
    fn block(&mut self, block: &mut [S], asked: Option<&C>) {
        let around = self.entity.clone();
        let mut asked = asked.cloned();
        for statement in block {
            match statement {
                S::Comment(line) => {
                    let begins = self.begins.get(line).cloned();
                    self.entity = begins.unwrap_or_else(|| self.entity.clone());
                }
                S::Declare { name, value, .. } => {
                    let value = value.iter().map(|value| (name.clone(), value.clone()));
                    self.values.extend(value);
                }
                S::If {
                    condition,
                    then,
                    otherwise,
                } => {
                    self.block(then, Some(condition));
                    self.block(otherwise, Some(condition));
                    if leaves(then) {
                        asked = Some(condition.clone());
                    }
                }
                S::Switch { .. } | S::For { .. } | S::While { .. } => {
                    asked = statement.expressions().first().copied().cloned();
                    for inner in statement.blocks_mut() {
                        self.block(inner, asked.as_ref());
                    }
                }
                S::Return(Some(value)) if *value == atom("false") => self.exit(asked.as_ref()),
                S::Return(_)
                | S::Assign(..)
                | S::Do(_)
                | S::Continue
                | S::Break
                | S::Goto(_)
                | S::Label(_) => {}
            }
        }
        self.entity = around;
    }

    fn exit(&mut self, asked: Option<&C>) {
        let always = atom("true");
        let asked = asked.unwrap_or(&always);
        let asks = printer::expression(&self.plain(asked));
        let words = self.asked(asked);
        // Two layers may ask for the same, as does one that stands twice.
        let owner = format!("{}.", self.owner(&words));
        let is_same = |exit: &Exit| exit.asks == asks && exit.name.starts_with(&owner);
        let known = self.exits.iter().position(is_same);
        self.places.push(known.unwrap_or(self.exits.len()));
        if known.is_none() {
            let name = self.name(words);
            let constant = String::new();
            self.exits.push(Exit {
                name,
                asks,
                constant,
            });
        }
    }

    /// What a test asks for, or that it asks for something.
    fn asked(&self, asked: &C) -> Vec<Word> {
        let mut words = Vec::new();
        for one in any_of(asked.clone()) {
            let mut own = Vec::new();
            match is_short(&one) {
                true => own.push(self.word(Rank::Message, "too_short")),
                false => self.words(&one, &mut own),
            }
            own.sort_by_key(|word| word.rank);
            words.extend(own);
        }
        if words.is_empty() {
            words.push(self.word(Rank::Message, "other"));
        }
        words
    }

    /// The entity that asks for these.
    fn owner(&self, words: &[Word]) -> String {
        let owner = words.first().and_then(|first| first.owner.as_ref());
        owner.unwrap_or(&self.entity).clone()
    }

    /// A name that no exit before has.
    fn name(&self, words: Vec<Word>) -> String {
        let owner = self.owner(&words);
        let mut words = words.into_iter();
        let first = words.next().expect("a test asks for something");
        let plain = format!("{owner}.{}", first.text);
        let mut more = words.filter(|word| word.text != first.text);
        let also = more
            .next()
            .map(|word| match word.text.starts_with(&first.text) {
                true => format!("{owner}.{}", word.text),
                false => format!("{plain}_{}", word.text),
            });
        let numbered = (2..).map(|n| format!("{plain}_{n}"));
        let mut all = [plain.clone()].into_iter().chain(also).chain(numbered);
        let is_free = |name: &String| self.exits.iter().all(|exit| exit.name != *name);
        all.find(is_free)
            .expect("there are more numbers than exits")
    }

    fn word(&self, rank: Rank, text: &str) -> Word {
        Word {
            rank,
            text: text.strip_prefix("has_").unwrap_or(text).to_string(),
            owner: None,
        }
    }

    /// What a value asks for, in order.
    fn words(&self, value: &C, all: &mut Vec<Word>) {
        if let Some(fields) = self.fields(value) {
            let mut entities = self.stack.program.entities.iter();
            let owner =
                entities.find(|one| one.header.is_some_and(|one| one.at() == fields.header));
            all.push(Word {
                owner: owner.map(|one| one.name.clone()),
                ..self.word(Rank::Header, &joined(&fields.names, "_", "_to_"))
            });
            return;
        }
        if let Some((kind, field)) = self.field(value) {
            let entity = self.stack.program.kinds[kind.at()].entity;
            let owner = self.stack.program.entities[entity.at()].name.clone();
            let text = field.strip_prefix(&format!("{owner}_")).unwrap_or(field);
            all.push(Word {
                owner: Some(owner),
                ..self.word(Rank::State, text)
            });
            return;
        }
        match value {
            C::Call(name, _) if name == "new_message_in_place" => all.push(Word {
                owner: Some("stack".to_string()),
                ..self.word(Rank::Function, "no_buffer")
            }),
            C::Call(name, _) if !is_of_all(name) => {
                let before = format!("{}_", self.entity);
                let own = name.strip_prefix(&before).unwrap_or(name);
                all.push(self.word(Rank::Function, own));
            }
            C::Member(of, member) if matches!(**of, C::Atom(_)) => {
                all.push(self.word(Rank::Message, member));
                return;
            }
            C::Member(of, member) if self.is_config(of) => {
                all.push(self.word(Rank::State, member));
                return;
            }
            C::Behind(_, member) => all.push(self.word(Rank::State, member)),
            C::Atom(name) => match self.values.get(name) {
                Some(value) if is_kept(name) => self.words(value, all),
                _ if is_name(name) => all.push(self.word(Rank::State, unnumbered(name))),
                _ => {}
            },
            _ => {}
        }
        value.parts().iter().for_each(|part| self.words(part, all));
    }

    fn is_config(&self, value: &C) -> bool {
        matches!(value, C::Behind(of, member) if **of == atom("stack") && member == "config")
    }

    /// A field of an instance: its kind, and its name.
    fn field<'c>(&self, value: &'c C) -> Option<(KindId, &'c str)> {
        let C::Member(of, field) = value else {
            return None;
        };
        let instances = match &**of {
            C::Element(instances, _) => instances,
            one => one,
        };
        let C::Behind(of, kind) = instances else {
            return None;
        };
        let mut kinds = self.stack.names.kinds.iter();
        let at = kinds.position(|name| name == kind)?;
        (**of == atom("stack")).then_some((KindId(at as u32), field))
    }

    /// The fields of a header that bits are of.
    fn fields(&self, value: &C) -> Option<Fields> {
        let (bits, ..) = bits_of(value).or_else(|| Some((Masked::differing(value)?, 0, 1)))?;
        let C::Atom(pointer) = &bits.pointer else {
            return None;
        };
        let (name, _) = pointer.rsplit_once("_header")?;
        let headers = &self.stack.program.headers;
        let at = headers.iter().position(|header| header.name == name)?;
        let bytes = 8 * bits.offset..8 * (bits.offset + bits.bytes);
        let mut fields = Fields {
            header: at,
            names: Vec::new(),
            mask: 0,
            is_whole: false,
            goes_on: bytes.end > 8 * u64::from(headers[at].least),
        };
        let fixed = headers[at].fields.iter();
        let fixed = fixed.filter(|field| field.behind.is_empty() && field.width > 0);
        for field in fixed {
            let (first, behind) = (u64::from(field.bit), u64::from(field.bit + field.width));
            let (first, behind) = (first.max(bytes.start), behind.min(bytes.end));
            if first >= behind {
                continue;
            }
            let own = u64::MAX >> (64 - (behind - first)) << (bytes.end - behind);
            if !headers[at].big || own & bits.mask != 0 {
                fields.names.push(field.name.replace('.', "_"));
                fields.mask |= own;
            }
        }
        fields.is_whole = fields.mask == bits.mask && fields.names.len() == 1;
        (!fields.names.is_empty()).then_some(fields)
    }

    /// A value in words of the source, as far as they are known.
    fn plain(&self, value: &C) -> C {
        replaced(value, &|part| {
            // Of what is only a part of a field, that is said, too.
            let is_said = |fields: &Fields| fields.is_whole || !matches!(part, C::Binary(..));
            if let Some(fields) = self.fields(part).filter(is_said) {
                let text = joined(&fields.names, ", ", " to ");
                let text = if fields.goes_on { text + ", ..." } else { text };
                return Some(match part {
                    C::Call(name, _) if name.starts_with("sl_differs") => {
                        atom(format!("{text} differ"))
                    }
                    _ => atom(text),
                });
            }
            if let Some((_, field)) = self.field(part) {
                return Some(atom(field));
            }
            match part {
                C::Atom(name) if is_kept(name) => Some(self.plain(self.values.get(name)?)),
                C::Cast(_, of) => Some(self.plain(of)),
                C::Member(of, member) if self.is_config(of) => Some(atom(member)),
                _ => None,
            }
        })
    }
}

/// Whether a test asks for a header that is not all there.
fn is_short(condition: &C) -> bool {
    matches!(condition, C::Binary("<", length, least)
        if matches!(&**length, C::Member(_, member) if member == "length")
            && number(least).is_some())
}

/// Whether a function is of the runtime or of numbers, and says nothing of a layer.
fn is_of_all(name: &str) -> bool {
    ["sl_", "smaller", "larger"]
        .iter()
        .any(|of| name.starts_with(of))
}

/// Whether a local keeps what a value was before.
fn is_kept(name: &str) -> bool {
    let number = name.strip_prefix("pre_");
    name == "pre" || number.is_some_and(|number| number.bytes().all(|one| one.is_ascii_digit()))
}

/// The name of a local as the source has it, where C has several of that name.
fn unnumbered(name: &str) -> &str {
    match name.rsplit_once('_') {
        Some((plain, number)) if number.bytes().all(|one| one.is_ascii_digit()) => plain,
        _ => name,
    }
}

/// Whether an atom is a name, and no number or constant.
fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_lowercase())
        && !["true", "false", "stack"].contains(&text)
}

/// A few names, or the first and the last of many.
fn joined(names: &[String], between: &str, to: &str) -> String {
    match names {
        [first, _, _, .., last] => format!("{first}{to}{last}"),
        few => few.join(between),
    }
}

/// So much of a test as there is room for.
fn shortened(text: &str) -> String {
    let text = text.replace("*/", "* /");
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut line = String::new();
    for word in words {
        if line.len() + 1 + word.len() > LONGEST {
            return format!("{line} ...");
        }
        line += if line.is_empty() { "" } else { " " };
        line += word;
    }
    line
}
