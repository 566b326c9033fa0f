//! One body while it is checked: its locals, the words that stand for them, and what to say of a
//! word that stands for nothing.

use super::super::context::Context;
use super::super::expression::{Expression, ExpressionKind, Variable};
use super::super::program::{Event, Local, LocalId, Measures};
use super::super::scope::{Named, Scope};
use super::super::statement::Block;
use super::super::value::{Type, Value};
use super::external::Use;
use super::flow::{Flow, Holding};
use super::mentions;
use super::react::Reacts;
use crate::diagnostic::{Diagnostic, Id, closest};
use crate::source::Span;
use crate::syntax::loom::ast;
use std::collections::{BTreeMap, BTreeSet};

/// What kind of body it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// A single value, outside of any handler.
    Value,
    /// A handler of this event.
    Handler(Event),
    /// The targets of a finder of this event.
    Finder(Event),
    /// A function.
    Function,
    /// A part of a filter.
    Filter(Part),
}

/// A part of a filter, by the words that stand before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    /// Its state, before the first word.
    Begin,
    /// What is done for a word, of which bytes may be missing.
    Word,
    /// The same where all of its bytes are there.
    WholeWord,
    /// Its `finish` and its `result`, behind the last word.
    End,
}

/// One body while it is checked.
pub(super) struct Body<'a, 'c> {
    /// What is known, and where mistakes go.
    pub context: &'a mut Context<'c>,
    /// What words stand for that are not locals.
    pub scope: &'a Scope,
    /// What kind of body it is.
    pub place: Place,
    /// All locals so far.
    pub locals: Vec<Local>,
    /// The words that are locals here, the latest last.
    pub words: Vec<Word>,
    /// What is known at this point of the body.
    pub flow: Flow,
    /// What a function depends on besides its parameters.
    pub reads: Reads,
    /// What a function gives, and a filter yields.
    pub result: Type,
    /// How much there is, as far as a filter reads that.
    pub measures: Measures,
    /// Locals that may be assigned to: those of functions, and the state of filters.
    pub assignable: Vec<LocalId>,
    /// What is done before the statement that is being checked, since its values need it; none
    /// where nothing can be done before.
    pub before: Option<Block>,
    /// Whether the value that is being checked is perhaps not computed.
    pub perhaps: bool,
    /// Whether a function in C is called here.
    pub calls_c: bool,
    /// Holds the session below from which an event came whose session is still to be found.
    pub below: Option<LocalId>,
    /// Where a call of a function in C is all of a value, and what is done with what it gives.
    pub called_alone: Option<(Span, Use)>,
    /// Whether types of C may be written here.
    pub external_types: bool,
    /// Whether the value that is being checked may ask for signals: a condition of a statement.
    pub asks: bool,
    /// Messages of which was told that they are gone, and where they went.
    pub told_gone: BTreeSet<(LocalId, Span)>,
    /// True once a body without a header has named `header`: the mistake is reported once.
    pub lacks_header: bool,
    /// What the values mention that locals are names for.
    pub origins: BTreeMap<LocalId, BTreeSet<String>>,
    /// What is known of processes, in what they do.
    pub reacts: Option<Reacts<'a>>,
}

/// A word that stands for a local.
#[derive(Clone, Debug)]
pub(super) struct Word {
    /// The word.
    pub name: String,
    /// What it stands for.
    pub local: LocalId,
    /// Where it is introduced; none for what the event brings.
    pub span: Option<Span>,
    /// Whether it was ever used.
    pub used: bool,
}

/// What a function depends on besides its parameters.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Reads {
    /// Fields or keys of the instance itself.
    pub own: bool,
    /// Fields of the entity.
    pub entity: bool,
    /// The header of the instant.
    pub header: bool,
}

/// An expression of a kind and a type.
pub(super) fn make(kind: ExpressionKind, result: Type) -> Expression {
    Expression {
        kind: Box::new(kind),
        result,
    }
}

/// A constant number.
pub(super) fn number(value: u64, result: Type) -> Expression {
    make(ExpressionKind::Constant(Value::Number(value)), result)
}

/// The number of a constant.
pub(super) fn constant_number(value: &Expression) -> Option<u64> {
    if let ExpressionKind::Constant(Value::Number(number)) = *value.kind {
        return Some(number);
    }
    None
}

/// What stands where nothing sensible is written: nobody complains of it again.
pub(super) fn nothing() -> Expression {
    number(0, Type::Nothing)
}

/// Says what Loom has in place of a word of C or Rust that is often used.
fn foreign(word: &str) -> Option<String> {
    let says = match word {
        "self" | "this" => format!("write only the name of the field, without `{word}.`"),
        "sizeof" => {
            "write `message.length` for the length of a message without its header".to_string()
        }
        "ntohs" | "ntohl" | "htons" | "htonl" | "bswap" => {
            format!("`header big` or `header little` sets the byte order: remove `{word}`")
        }
        "sleep" | "usleep" | "delay" => "a handler cannot wait: write `start TIMER after …`, and \
            continue in `on TIMER`"
            .to_string(),
        "print" | "printf" | "println" | "log" => {
            "to report an event to the host program, write `count NAME`".to_string()
        }
        "assert" => "write `require CONDITION else drop message as REASON`".to_string(),
        "memcpy" | "malloc" | "free" => {
            "there is no allocation: messages are passed on, and fields are allocated by the \
            compiler"
                .to_string()
        }
        _ => return None,
    };
    Some(says)
}

impl<'a, 'c> Body<'a, 'c> {
    /// A body without locals.
    pub fn new(context: &'a mut Context<'c>, scope: &'a Scope, place: Place) -> Self {
        Body {
            context,
            scope,
            place,
            locals: Vec::new(),
            words: Vec::new(),
            flow: Flow::default(),
            reads: Reads::default(),
            result: Type::Nothing,
            measures: Measures::default(),
            assignable: Vec::new(),
            before: None,
            perhaps: false,
            calls_c: false,
            below: None,
            called_alone: None,
            external_types: false,
            asks: false,
            told_gone: BTreeSet::new(),
            lacks_header: false,
            origins: BTreeMap::new(),
            reacts: None,
        }
    }

    /// Collects a mistake; but where a test was refused, nobody knows what it would have said.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        let asks_tests = matches!(
            diagnostic.id,
            Id::PerhapsNone | Id::DivisionByZero | Id::IndexOutOfRange | Id::UnboundedLoop
        );
        if !(self.flow.unsure && asks_tests) {
            self.context.report(diagnostic);
        }
    }

    /// Collects a mistake and stands in for the value.
    pub fn refuse(&mut self, diagnostic: Diagnostic) -> Expression {
        self.report(diagnostic);
        nothing()
    }

    /// Says of the mistakes since there were so many that they may follow from what these words
    /// stand for: fields, parameters, functions and fields of headers, also by way of locals.
    pub fn blame(&mut self, told: usize, mentioned: BTreeSet<String>) {
        let entity = self.context.program.entities.get(self.scope.entity.at());
        let layer = entity.map_or("", |entity| &entity.layer);
        let origins = self.origins_of(mentioned);
        let causes = origins.into_iter().map(|word| format!("{layer}.{word}"));
        let causes: Vec<String> = causes.collect();
        self.context.blame(told, causes.into_iter());
    }

    /// What a local is a name for, of those that were introduced since there were so many words.
    pub fn note_origins(&mut self, words: usize, name: &ast::Name, value: &ast::Expression) {
        let introduced = self.words[words..].iter().rev();
        let local = introduced.clone().find(|word| word.name == name.text);
        if let Some(local) = local.map(|word| word.local) {
            let origins = self.origins_of(mentions::in_value(value));
            self.origins.insert(local, origins);
        }
    }

    /// The declarations that words stand for.
    pub fn origins_of(&self, mentioned: BTreeSet<String>) -> BTreeSet<String> {
        let mut origins = BTreeSet::new();
        for word in mentioned {
            let local = self.words.iter().rev().find(|local| local.name == word);
            match local.map(|local| self.origins.get(&local.local)) {
                Some(of) => origins.extend(of.into_iter().flatten().cloned()),
                None if word.contains('.') => drop(origins.insert(word)),
                None => {
                    let named = self.scope.names.get(&word);
                    if let Some(Named::Field(..) | Named::Key(..)) = named {
                        origins.insert(format!(".{word}"));
                    }
                    if let Some(Named::Key(_, kind, _)) = named {
                        origins.insert(self.context.program.kinds[kind.at()].name.clone());
                    }
                    origins.extend(named.map(|_| word));
                }
            }
        }
        origins
    }

    /// The text of one stretch, as it is written.
    pub fn text(&self, span: Span) -> &'c str {
        self.context.sources.slice(span)
    }

    /// A local without a word of its own.
    pub fn add_local(&mut self, name: &str, kind: Type) -> LocalId {
        let local = LocalId(self.locals.len() as u32);
        self.locals.push(Local {
            name: name.to_string(),
            kind,
        });
        local
    }

    /// A local that is introduced here.
    pub fn declare(&mut self, name: &ast::Name, kind: Type) -> LocalId {
        self.refuse_shadowing(name);
        let mut hidden = self.words.iter().rev();
        if let Some(hidden) = hidden.find(|word| word.name == name.text) {
            // From here on nobody can name the message that this name stood for.
            let local = hidden.local;
            if let Some(holding) = self.flow.messages.get_mut(&local) {
                *holding = Holding::Unknown;
            }
        }
        let local = self.add_local(&name.text, kind);
        self.bind(name, local);
        local
    }

    /// Lets a word stand for a local that there is already.
    pub fn bind(&mut self, name: &ast::Name, local: LocalId) {
        self.words.push(Word {
            name: name.text.clone(),
            local,
            span: Some(name.span),
            used: false,
        });
    }

    /// Lets a word that is not written here stand for a local.
    pub fn bind_unwritten(&mut self, name: &str, local: LocalId) {
        self.words.push(Word {
            name: name.to_string(),
            local,
            span: None,
            used: true,
        });
    }

    /// Refuses a word that has a meaning already.
    pub fn refuse_shadowing(&mut self, name: &ast::Name) {
        let earlier = self.words.iter().rev().find(|word| word.name == name.text);
        let earlier = earlier.map(|word| word.span);
        let what = match self.scope.names.get(&name.text) {
            Some(Named::Field(..)) => Some("a field"),
            Some(Named::Key(..)) => Some("a key"),
            Some(Named::Value(_)) => Some("a parameter or a constant"),
            Some(Named::Timer(..)) => Some("a timer"),
            Some(Named::Signal(_)) => Some("a signal"),
            Some(Named::Process(_)) => Some("a process"),
            Some(Named::Kind(_) | Named::Function(_) | Named::Filter(_) | Named::Header(_))
            | None => None,
        };
        if earlier.is_none() && what.is_none() {
            return;
        }
        let title = format!("`{name}` is already declared");
        let label = match what {
            Some(what) => format!("this layer has {what} of this name"),
            None => "declared again".to_string(),
        };
        let mut diagnostic = Diagnostic::error(Id::Shadowed, title, name.span, label)
            .why("A name has one meaning in a handler.")
            .help("choose another name");
        if let Some(Some(span)) = earlier {
            diagnostic = diagnostic.label(span, "declared here");
        }
        self.report(diagnostic);
    }

    /// The local that a word stands for.
    pub fn local(&mut self, name: &str) -> Option<LocalId> {
        let word = self.words.iter_mut().rev().find(|word| word.name == name)?;
        word.used = true;
        Some(word.local)
    }

    /// The type of a local.
    pub fn local_kind(&self, local: LocalId) -> &Type {
        if local == LocalId::MESSAGE {
            return &Type::Message;
        }
        &self.locals[local.at()].kind
    }

    /// The name of a local.
    pub fn local_name(&self, local: LocalId) -> &str {
        if local == LocalId::MESSAGE {
            return "message";
        }
        &self.locals[local.at()].name
    }

    /// Reads a local.
    pub fn read_local(&self, local: LocalId) -> Expression {
        let kind = self.local_kind(local).clone();
        make(ExpressionKind::Read(Variable::Local(local)), kind)
    }

    /// Lets all words go that were introduced since there were so many, and tells of those that
    /// nobody used.
    pub fn leave_words(&mut self, count: usize) {
        for word in self.words.split_off(count) {
            let Some(span) = word.span else { continue };
            let kind = self.local_kind(word.local);
            if word.used || *kind == Type::Message || *kind == Type::Nothing {
                continue;
            }
            let title = format!("`{}` is never used", word.name);
            let warning = Diagnostic::warning(Id::UnusedName, title, span, "declared here");
            self.report(warning.help("use it, or remove it"));
        }
    }

    /// A word that stands for nothing, with what was perhaps meant.
    pub fn unknown(&mut self, what: &str, name: &ast::Name, known: &[&str]) -> Expression {
        let title = format!("there is no {what} `{name}` here");
        let is_value = matches!(what, "value");
        // These are words of the language, and no values.
        let values = known.iter().copied();
        let values = values.filter(|word| !matches!(*word, "entity" | "session"));
        let values: Vec<&str> = values.collect();
        let mut diagnostic = Diagnostic::error(Id::UnknownName, title, name.span, "unknown");
        let literal = match name.text.to_lowercase().as_str() {
            "true" => Some("true"),
            "false" => Some("false"),
            "null" | "nil" | "nullptr" | "none" => Some("none"),
            _ => None,
        };
        if is_number_type(&name.text) {
            diagnostic = diagnostic.help(format!("write a conversion as `x as {name}`"));
        } else if let Some(help) = foreign(&name.text).filter(|_| is_value) {
            diagnostic = diagnostic.help(help);
        } else if let Some(near) = literal.or_else(|| closest(&name.text, known.iter().copied())) {
            diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
        } else if !values.is_empty() && values.len() <= 12 {
            diagnostic = diagnostic.help(format!("choose one of {}", listed(&values)));
        }
        let own = self.scope.names.contains_key(&name.text);
        if what.contains("part of") {
            diagnostic = diagnostic.cause(what);
        } else if !own && literal.is_none() {
            let files = self.context.files.filter(|_| is_value);
            diagnostic = match files.is_some_and(|files| files.gives_layer(&name.text)) {
                true => diagnostic.why(
                    "A layer can read its own header and the attributes of its messages, but not \
                    headers and fields of other layers.",
                ),
                false => self.context.offer(diagnostic, &name.text),
            };
            if is_value {
                diagnostic = diagnostic.cause(format!("name {name}"));
            }
        }
        self.refuse(diagnostic)
    }

    /// All words that stand for something here.
    pub fn known_words(&self) -> Vec<String> {
        let locals = self.words.iter().map(|word| word.name.clone());
        let measures: &[&str] = match self.place {
            Place::Filter(_) => &["length", "missing", "place"],
            Place::Value | Place::Handler(_) | Place::Finder(_) | Place::Function => &[],
        };
        let measures = measures.iter().map(|word| word.to_string());
        let names = self.scope.names.iter().map(|(word, _)| word.clone());
        locals.chain(names).chain(measures).collect()
    }
}

/// `u32`, `i8`
fn is_number_type(word: &str) -> bool {
    let digits = word.trim_start_matches(['u', 'i']);
    digits.len() < word.len() && digits.parse::<u8>().is_ok()
}

/// `a`, `b` and `c`.
pub(super) fn listed(words: &[&str]) -> String {
    let quoted: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        Some((last, _)) => last.clone(),
        None => String::new(),
    }
}
