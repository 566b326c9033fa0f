//! The one way in which the compiler speaks of a user's mistake.
//!
//! Every stage collects [`Diagnostic`]s. All their ids stand in one table below, each with the
//! explanation that `loom explain ID` prints. To add one, add a line to the table, in the group of
//! the stage that finds it.

mod json;
mod render;

pub use json::json;
pub use render::render;

use crate::source::Span;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// Nothing is built.
    Error,
    /// Something is built, though perhaps not what was meant.
    Warning,
}

/// A stretch of the source and what is to be said of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What: a few words, no full stop; empty where the title says all.
    pub text: String,
}

/// One mistake, told so that somebody who meets it for the first time knows what to do.
#[derive(Clone, PartialEq, Eq, Debug)]
#[must_use = "a diagnostic is collected, never thrown away"]
pub struct Diagnostic {
    /// Which of the known mistakes this is.
    pub id: Id,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in the user's words; no full stop.
    pub title: String,
    /// The exact place.
    pub primary: Label,
    /// Other places: the cause, an earlier definition.
    pub labels: Vec<Label>,
    /// The rule that was broken: a whole sentence.
    pub why: Option<String>,
    /// What to do about it.
    pub help: Option<String>,
    /// Whether a value, or a field, is not of the type that is needed: the mistake may be that of a
    /// declaration.
    pub is_misfit: bool,
    /// Declarations that it may follow from. Of several misfits that share one, the first is told,
    /// and points at the others; and so is a name that stands for nothing.
    pub causes: Vec<String>,
}

impl Diagnostic {
    /// A mistake that stops the build.
    pub fn error(id: Id, title: impl Into<String>, span: Span, label: impl Into<String>) -> Self {
        Diagnostic {
            id,
            severity: Severity::Error,
            title: title.into(),
            primary: Label {
                span,
                text: label.into(),
            },
            labels: Vec::new(),
            why: None,
            help: None,
            is_misfit: false,
            causes: Vec::new(),
        }
    }

    /// Something that is probably not what was meant.
    pub fn warning(id: Id, title: impl Into<String>, span: Span, label: impl Into<String>) -> Self {
        Diagnostic {
            severity: Severity::Warning,
            ..Diagnostic::error(id, title, span, label)
        }
    }

    /// Points at a further place.
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label {
            span,
            text: text.into(),
        });
        self
    }

    /// Says which rule was broken.
    pub fn why(mut self, sentence: impl Into<String>) -> Self {
        self.why = Some(sentence.into());
        self
    }

    /// Says that a value is not of the type that is needed.
    pub fn misfit(mut self) -> Self {
        self.is_misfit = true;
        self
    }

    /// Names a declaration from which it may follow.
    pub fn cause(mut self, cause: impl Into<String>) -> Self {
        self.causes.push(cause.into());
        self
    }

    /// Whether the other is the same mistake, or follows from this one.
    fn covers(&self, other: &Diagnostic) -> bool {
        let same_place = self.primary.span == other.primary.span;
        if self.id == other.id && self.title == other.title && (same_place || self.id.is_unknown())
        {
            return true;
        }
        let shares = |cause| self.causes.contains(cause);
        let alike =
            self.is_misfit && other.is_misfit || self.id.is_unknown() && other.id.is_unknown();
        alike && other.causes.iter().any(shares)
    }

    /// Says what to do.
    pub fn help(mut self, advice: impl Into<String>) -> Self {
        self.help = Some(advice.into());
        self
    }
}

/// Places that one diagnostic points at besides its own, at most, where several were merged.
const MERGED_LABELS: usize = 4;

/// How many mistakes are told at once: nobody reads more, and often they come from one.
const MOST: usize = 200;

/// Leaves each mistake once, though it shows at several places: a name that stands for nothing is
/// told where it is first read, and so is a type that does not fit where a declaration of another
/// type may be the cause. The other places become labels.
///
/// Where something of a file is refused, nothing of it is warned of: that may follow from what is
/// refused.
///
/// Of more than [`MOST`] the first are told, errors before all.
pub fn merged(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    if diagnostics.len() > MOST {
        diagnostics.sort_by_key(|it| it.severity != Severity::Error);
        diagnostics.truncate(MOST);
    }
    let refused = diagnostics.iter();
    let refused = refused.filter(|it| it.severity == Severity::Error);
    let refused: Vec<_> = refused.map(|it| it.primary.span.file).collect();
    let mut kept: Vec<Diagnostic> = Vec::new();
    for found in diagnostics {
        let warns = found.severity == Severity::Warning;
        if warns && refused.contains(&found.primary.span.file) {
            continue;
        }
        let Some(first) = kept.iter_mut().find(|first| first.covers(&found)) else {
            kept.push(found);
            continue;
        };
        let place = found.primary.span;
        let is_new = place != first.primary.span && first.labels.iter().all(|it| it.span != place);
        if !is_new {
            continue;
        }
        // What follows from the one may tie the other to further places.
        let causes = found.causes.iter();
        let causes: Vec<_> = causes
            .filter(|it| !first.causes.contains(it))
            .cloned()
            .collect();
        first.causes.extend(causes);
        if first.labels.len() < MERGED_LABELS {
            let text = match first.title == found.title {
                true => "and here".to_string(),
                false => found.title,
            };
            first.labels.push(Label { span: place, text });
        }
    }
    kept
}

/// The candidate that `word` was probably meant to be, if one is near enough.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = if word.len() < 5 { 1 } else { 2 };
    let near = |candidate| Some((distance(word, candidate, allowed)?, candidate));
    let distances = candidates.into_iter().filter_map(near);
    distances
        .filter(|(distance, candidate)| *distance < candidate.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

impl Id {
    /// Whether it tells of a name: that it stands for nothing, or not for what may be missing.
    fn is_unknown(self) -> bool {
        const UNKNOWN: &[Id] = &[
            Id::UnknownLayer,
            Id::UnknownService,
            Id::UnknownEntity,
            Id::UnknownEvent,
            Id::UnknownName,
            Id::UnknownType,
            Id::UnknownSetting,
            Id::CannotFail,
        ];
        UNKNOWN.contains(&self)
    }
}

/// How many letters must be put in, taken out, changed, or swapped with their neighbour; none if
/// more than `allowed`. Words of very different lengths are not looked at, and of others only as
/// much as so few mistakes reach.
fn distance(one: &str, other: &str, allowed: usize) -> Option<usize> {
    if one.len().abs_diff(other.len()) > 4 * allowed {
        return None;
    }
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    if one.len().abs_diff(other.len()) > allowed {
        return None;
    }
    let far = allowed + 1;
    // The rows for the letters before, of which each holds the prefixes of the other word.
    let (mut last, mut before) = (vec![far; other.len() + 1], vec![far; other.len() + 1]);
    let mut row: Vec<usize> = (0..=other.len()).map(|at| at.min(far)).collect();
    for i in 0..one.len() {
        std::mem::swap(&mut last, &mut before);
        std::mem::swap(&mut before, &mut row);
        let (from, to) = (i.saturating_sub(allowed), (i + far).min(other.len()));
        row[from] = if from == 0 { (i + 1).min(far) } else { far };
        for j in from..to {
            let changed = before[j] + usize::from(one[i] != other[j]);
            let mut best = changed.min(before[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && one[i] == other[j - 1] && one[i - 1] == other[j] {
                best = best.min(last[j - 1] + 1);
            }
            row[j + 1] = best.min(far);
        }
        if let Some(beyond) = row.get_mut(to + 1) {
            *beyond = far;
        }
    }
    Some(row[other.len()]).filter(|distance| *distance <= allowed)
}

/// Makes [`Id`] from lines of the form `Variant "name" "explanation";`.
macro_rules! ids {
    ($($(#[$group:meta])* $variant:ident $name:literal $explanation:literal;)*) => {
        /// Every mistake that the compiler can point out.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Id {
            $(#[doc = $explanation] $variant,)*
        }

        impl Id {
            /// All ids, in the order of the table.
            pub const ALL: &[Id] = &[$(Id::$variant,)*];

            /// How the id is written: `message-leaked`.
            pub fn name(self) -> &'static str {
                match self { $(Id::$variant => $name,)* }
            }

            /// What `loom explain` prints.
            pub fn explanation(self) -> &'static str {
                match self { $(Id::$variant => $explanation,)* }
            }
        }
    };
}

ids! {
    // What a text cannot contain.
    UnknownCharacter "unknown-character"
        "This character has no meaning in Loom. Names are made of letters, digits and `_`.";
    BadNumber "bad-number"
        "Numbers are decimal (`1_500`), hexadecimal (`0xffff`) or binary (`0b0101`), and fit into \
        64 bits. A length of time is a number and a unit: `200 ms`, `1 s`, `2 min`. Only a share \
        may have a decimal point: `likely 99.9%`.";
    NotLoom "not-loom"
        "This is written so in other languages, and otherwise in Loom: `and`, `or` and `not` for \
        `&&`, `||` and `!`; newlines end statements, so there are no semicolons; comments begin \
        with `//`; there are no strings, and no `return` in a handler.";

    // What does not follow the grammar.
    UnexpectedWord "unexpected-word"
        "Something else is expected at this place. The label says what.";
    UnknownWord "unknown-word"
        "A line begins with a word that begins nothing at this place. It is often a misspelling.";
    MissingBracket "missing-bracket"
        "Every `(`, `[` and `{` is closed by its partner, in the order of opening.";
    UnexpectedNewline "unexpected-newline"
        "A newline ends a statement. A line goes on inside brackets, after an operator, and \
        before an operator or one of `and or else until find as through`.";
    OneStatementPerLine "one-statement-per-line"
        "A newline, and nothing else, stands between two statements.";
    AssignmentInCondition "assignment-in-condition"
        "`=` assigns; `==` compares.";
    ChainedComparison "chained-comparison"
        "Comparisons are not chained: `a < b and b < c`, not `a < b < c`.";
    NestedTooDeeply "nested-too-deeply"
        "Blocks, brackets and operators nest at most 100 deep, and a handler or function has at \
        most 1,000 statements and conditions, a list 2,000 elements, so that no text can exhaust \
        the compiler's stack, or take it minutes. For \
        modules of Esterel these limits are wider, and copies that run copies count as well.";
    MissingElse "missing-else"
        "`require` says behind `else` what becomes of the message when the condition does not \
        hold: `require header.sum == sum else drop message as corrupt`.";
    MissingReason "missing-reason"
        "Every drop names its reason, and every reason is a counter in the generated code: \
        `drop message as too_long`.";
    NotAStatement "not-a-statement"
        "A value alone does nothing. A statement assigns it, passes it on or calls something.";
    WrittenTwice "written-twice"
        "This part may be written once.";
    TooManyMistakes "too-many-mistakes"
        "Of one file, the first 20 mistakes of grammar are told. Often they come from one.";
    MissingPart "missing-part"
        "A part that every one of these has is not there.";

    // What files and stacks name.
    UseNotFound "use-not-found"
        "`use order.sequencer` names the file `order/sequencer.loom` or the folder \
        `order/sequencer`; it is looked for beside the file, then in each `--path`, then in the \
        library inside the compiler. The first that is there is taken, and must be readable text.";
    UseCircle "use-circle"
        "What a file uses comes before it, so no file comes to use itself.";
    UnknownLayer "unknown-layer"
        "A stack is made of layers that its file, or one that it uses, declares.";
    UnknownService "unknown-service"
        "A layer names services that its file, or one that it uses, declares.";
    UnknownEntity "unknown-entity"
        "A joint names a layer of the stack as it is called there: by its `as`, or by its own \
        name; a command names a stack of its file.";
    UnknownParameter "unknown-parameter"
        "What stands in the parentheses behind a layer are its parameters, its side joints, and, \
        of a router, the joints below.";
    UnknownEvent "unknown-event"
        "A handler is for `send`, `deliver`, `start`, `end`, `again`, a timer of its instance, or \
        a notice of a service that the layer provides, requires or uses.";
    NameTaken "name-taken"
        "Each name stands for one thing in its place.";

    // What cannot stand together.
    Misplaced "misplaced"
        "Links are at the bottom, ports at the top, layers between; a router stands on layers that \
        it names, and comes after them.";
    OneAbove "one-above"
        "A link, a worker and a router carry one thing; a multiplexor carries many.";
    NothingAbove "nothing-above"
        "A layer that delivers needs something that stands on it: a layer, or a port.";
    ServiceMissing "service-missing"
        "A layer stands on one that provides what it requires, and uses one that provides what it \
        uses; what a service leaves open, its provider says.";
    MissingParameter "missing-parameter"
        "Parameters without a default, side joints, and the joints of a router are given where the \
        layer is used.";
    ParameterRefused "parameter-refused"
        "The `where` of a parameter holds for every value that it is given.";
    ConfigTwoTypes "config-two-types"
        "A `config` value has one type, so all parameters that it is given to have that type.";
    KeyMissing "key-missing"
        "A multiplexor tells what stands on it apart by keys: `key 17 udp { … }`.";
    KeyMisplaced "key-misplaced"
        "Keys belong to the sessions of a multiplexor, and label the joints above it.";
    KeyClash "key-clash"
        "A key tells for which of the joints above a multiplexor a message is, so all differ.";
    MissingFinder "missing-finder"
        "A multiplexor, and only it, finds the session that an event from below is for: \
        `on deliver find session(header.kind) else …`.";
    RouterOnMany "router-on-many"
        "A router has one session above, and one on each joint below; none of them comes and goes.";
    TwoReceivers "two-receivers"
        "A message has one owner at a time, so a notice that carries one goes to one layer.";
    NoReceiver "no-receiver"
        "A message that comes with a notice must be passed on, kept or dropped by somebody.";
    NoSession "no-session"
        "An entity and its children share all sessions. What they send or deliver, and what comes \
        to them from beside the path, needs a session, where there is more than one.";
    NotByItself "not-by-itself"
        "A session that is listed by a label, or that a worker has, is there as long as what it \
        stands on: it is neither created nor ended by itself, nor found by a timer.";
    NoDirection "no-direction"
        "A notice of a service goes `up`, to who requires it, or `down`, to who provides it.";

    AttributeUnset "attribute-unset"
        "An attribute without a default must have been given to every message that comes to where \
        it is read. Only behind an `else`, as in `peer else message.peer`, it may be missing, and \
        is zero then.";

    // What cannot be laid out.
    NoLayer "no-layer"
        "A file without a layer gives constants, types, functions and filters; all else belongs \
        to a layer.";
    BadCapacity "bad-capacity"
        "There is no heap: the memory for all instances is laid out when the stack is compiled, \
        so everything that there are several of has a constant number.";
    BadEnum "bad-enum"
        "Each name of an enum has its own number, of as many bits as carry the enum.";
    BadHeader "bad-header"
        "A header lies on the wire in whole bytes; each part has a form there, and a length that \
        is fixed or counted.";
    HeaderTooLarge "header-too-large"
        "Where a field stands is computed from all parts before it that may be absent or vary in \
        length, wherever it is read or written. A header whose fields have more than 16,384 \
        operands in their places is refused.";

    // What bodies name and compute.
    UnknownName "unknown-name"
        "This word stands for nothing at this place. Words are the fields, keys and parameters of \
        the layer, its constants, functions and children, the services it uses, and what a handler \
        introduces with `let`.";
    UnknownType "unknown-type"
        "Types are `u1` to `u64`, `i8` to `i64`, `bool`, `seq8`, `seq16`, `seq32`, `time`, \
        `bytes[N]`, containers with a capacity, and what the layer and its services define.";
    Shadowed "shadowed"
        "A word stands for one thing in a handler. What a `let`, a `for` or an event introduces \
        must not have the name of a field, a key, a parameter or another local.";
    UnusedName "unused-name"
        "A name is introduced and never used. Perhaps another was meant.";
    IdleTimer "idle-timer"
        "A timer is started, and something happens when it expires: a handler `on NAME`, or a \
        process that waits for it. A timer that lacks one of the two does nothing.";
    NeverEmptied "never-emptied"
        "A container has room for so many. What is put in and never taken out fills it, and then \
        all that follows is refused.";
    NeverRead "never-read"
        "A field is written, and nothing reads it: no handler, function or header. Perhaps a test \
        is missing, or another field was meant. What is only counted is a `count`.";
    NeverWritten "never-written"
        "A field is read, and nothing writes it, so it always holds what it began with. Perhaps an \
        assignment is missing, or a constant was meant.";
    ConstantCondition "constant-condition"
        "A condition always holds, or never does, whatever comes in. Perhaps another number or \
        another comparison was meant.";
    AlwaysZero "always-zero"
        "`missing` counts the bytes that an incomplete last word lacks. No word is incomplete in a \
        filter of bytes, or of whole words only. In a filter with a `tail`, that runs for an \
        incomplete word, so `missing` is 0 in its `each word`.";
    TypeMismatch "type-mismatch"
        "A value of one type stands where another is expected, or two are combined that do not go \
        together.";
    NarrowingNeedsAs "narrowing-needs-as"
        "A number becomes a wider one by itself, since its value stays. What could change it is \
        written: `x as u8` keeps the low 8 bits.";
    NumberTooLarge "number-too-large"
        "A constant does not fit into the type in which it is used.";
    PerhapsNone "perhaps-none"
        "What is optional may be none. Its value is `x else y`, or `let y = x else …`, or plain \
        `x` behind a test that it is there: `if present x { … }`, `require present x else …`.";
    DivisionByZero "division-by-zero"
        "No division goes wrong while a stack runs: its divisor is a constant, or a test before it \
        says that it is not zero.";
    IndexOutOfRange "index-out-of-range"
        "No access goes outside of an array, bytes or a set: its index is a constant, `i % n`, the \
        local of a `for`, or a test before it says that it is small enough.";
    ShiftTooFar "shift-too-far"
        "Shifting a number by its width or more leaves nothing of it.";
    NotConstant "not-constant"
        "Capacities, and what else has its place in memory from the start, are given by constants.";
    NotAValue "not-a-value"
        "This is no value that can be computed with: a message, an instance, a timer or an \
        operation that takes or makes one.";
    NeverSet "never-set"
        "A value is read that is never given or emitted, and has no first one.";
    TailIsMoved "tail-is-moved"
        "A filter that rewrites runs over words, and the last one may be incomplete: zeros stand \
        for the bytes that are missing, and of what is yielded for it as many bytes are kept as \
        were there. Where a byte may depend on one in another place, that destroys the end of the \
        data, so such a filter takes whole words only (`rewrites u64 whole { … }`), or says in a \
        `tail { … }` what is yielded for an incomplete word.";
    CannotFail "cannot-fail"
        "There is always a value here, so an `else` or a `present` behind it means nothing.";
    WrongArguments "wrong-arguments"
        "A function, filter, notice or kind of instances is given as many values as it has \
        parameters.";
    NoHeader "no-header"
        "`header` is what `deliver` stripped from the message, and can be read in that instant \
        alone, in a layer that has a header.";
    NotAssignable "not-assignable"
        "Fields can be assigned to, and the locals of functions. Keys, parameters, constants, what \
        came in with a message, and what a handler's `let` introduces never change.";
    ExternCall "extern-call"
        "What a function in C does outside is not known here, so each call counts: it is called in \
        the order of writing, before the rest of the statement in which it stands, and behind \
        `and`, `or`, `else` and `if` only where its value is needed. It does not stand where \
        nobody says how often a value is computed: in constants, filters, and the rules of a \
        header other than `=`.";
    MissingCase "missing-case"
        "A `match` has a case for all that its value can be, or an `else` for the rest.";
    UnboundedLoop "unbounded-loop"
        "Each instant ends, and its cost has a bound: a `for` runs over numbers whose bounds are \
        known, or says `at most N`.";
    RecursiveFunction "recursive-function"
        "Functions do not call themselves, not even by way of others: each instant ends.";
    SharedVariable "shared-variable"
        "Branches of `||` run at once, so what one of them writes must not depend on when another \
        reads or writes it. A signal carries a value from one to the other.";
    CausalityCycle "causality-cycle"
        "Whether these signals are present depends on each other in a circle, so that none of them \
        can be settled in an instant that can come. A `pause` in the circle lets one of them wait \
        for the instant before.";
    InstantaneousLoop "instantaneous-loop"
        "What a loop repeats takes at least one instant each time; this one can end in the instant \
        in which it begins.";
    AutomatonTooLarge "automaton-too-large"
        "Parallel branches that rest independently of each other multiply their states. What needs \
        more than the budget is refused.";
    MultipleEmission "multiple-emission"
        "A signal without `combine` carries one value in an instant, so it is emitted once.";
    MissingReturn "missing-return"
        "A function returns something on every path.";
    UnknownSetting "unknown-setting"
        "A `with` sets fields of the header, on `send`, and attributes of the services. What is \
        counted or summed is not set by hand.";
    MissingSetting "missing-setting"
        "A field of the header that has no default is given in the `with` of every `send`.";
    AmbiguousSetting "ambiguous-setting"
        "What a `with` sets is either a field of the header or an attribute. Where both have one \
        name, the field is given another.";
    CreditUnknown "credit-unknown"
        "A grant lets so many messages or bytes pass. Between one who grants and one who counts, a \
        layer passes on or ends each message that it is brought, and adds none; or it says itself \
        what it grants.";
    HandledTwice "handled-twice"
        "Handlers of one event run in the order of writing, and a message goes to the first that \
        uses it and whose `if` holds. Behind one without an `if`, no other gets it.";
    NotHere "not-here"
        "This can be written at other places, and not at this one. The label says why.";
    NotYet "not-yet"
        "Loom means to have this, and this compiler cannot do it yet.";

    // What bodies do with messages.
    MessageLeaked "message-leaked"
        "A handler uses each message exactly once on every path: it sends, delivers or tells it, \
        pushes or inserts it somewhere, drops it for a reason, or consumes it. Here a path forgets \
        one.";
    InstanceEnded "instance-ended"
        "An instance that has ended is found no more, and its place is free for another. Behind \
        its `end` nothing is told to it, started or read.";
    MessageGone "message-gone"
        "A message that was passed on, held or dropped belongs to somebody else. What is needed of \
        it is read before, or `share m` makes a second handle.";

    // What cannot be made into trees.
    HandlerTooLarge "handler-too-large"
        "Each way through a handler ends in its own outputs, so tests with outputs behind them \
        multiply. A handler with more than 20,000 steps on all its ways is refused; let several \
        instants do the work, one after the other, with `again`.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_distinct_kebab_words_with_an_explanation() {
        let mut names: Vec<_> = Id::ALL.iter().map(|id| id.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Id::ALL.len());
        for id in Id::ALL {
            assert!(
                id.name()
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte == b'-')
            );
            assert!(
                id.explanation().ends_with('.'),
                "{}: whole sentences",
                id.name()
            );
        }
    }

    #[test]
    fn a_misspelling_finds_the_word_that_was_meant() {
        let words = ["worker", "send", "deliver", "on"];
        assert_eq!(closest("wroker", words), Some("worker"));
        assert_eq!(closest("dleivr", words), Some("deliver"));
        assert_eq!(closest("sned", words), Some("send"));
        assert_eq!(closest("x", words), None);
        assert_eq!(closest("header", words), None);
    }
}
