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
            Id::EstelleUnknownName,
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
        "This character has no meaning in Loom. Names consist of letters, digits and `_`.";
    BadNumber "bad-number"
        "A number is decimal (`1_500`), hexadecimal (`0xffff`) or binary (`0b0101`), and fits into \
        64 bits. A duration is a number and a unit: `200 ms`, `1 s`, `2 min`. Only a share may \
        have a decimal point: `likely 99.9%`.";
    NotLoom "not-loom"
        "This is syntax of another language. Loom writes `and`, `or` and `not` for `&&`, `||` and \
        `!`. A newline ends a statement, so there are no semicolons. Comments begin with `//`. \
        There are no strings, and a handler has no `return`.";

    // What does not follow the grammar.
    UnexpectedWord "unexpected-word"
        "The grammar does not allow this word or sign here. The label says what it expects \
        instead.";
    UnknownWord "unknown-word"
        "No declaration or statement begins with this word here. Often the word is misspelled.";
    MissingBracket "missing-bracket"
        "Each `(`, `[` and `{` needs its closing partner, and brackets nest properly.";
    UnexpectedNewline "unexpected-newline"
        "A newline ends a statement. A statement continues on the next line inside brackets, after \
        an operator, and before an operator or one of `and or else until find as through`.";
    OneStatementPerLine "one-statement-per-line"
        "Only a newline separates two statements.";
    AssignmentInCondition "assignment-in-condition"
        "`=` assigns; `==` compares.";
    ChainedComparison "chained-comparison"
        "Comparisons cannot be chained: write `a < b and b < c`, not `a < b < c`.";
    NestedTooDeeply "nested-too-deeply"
        "Blocks, brackets and operators nest at most 100 deep. A handler or function has at most \
        1,000 statements and conditions, and a list at most 2,000 elements. These limits bound \
        the time and the stack of the compiler. Esterel modules have higher limits, which also \
        count the modules that a module runs.";
    MissingElse "missing-else"
        "`require` needs an `else` that says what to do when the condition is false: `require \
        header.sum == sum else drop message as corrupt`.";
    MissingReason "missing-reason"
        "Each `drop` names a reason, and each reason is a counter in the generated C: `drop \
        message as too_long`.";
    NotAStatement "not-a-statement"
        "A value alone has no effect. A statement assigns a value, passes it on or calls an \
        operation.";
    WrittenTwice "written-twice"
        "This part may be written only once.";
    TooManyMistakes "too-many-mistakes"
        "The compiler reports the first 20 syntax errors of a file. Often they have one cause.";
    MissingPart "missing-part"
        "A required part of this declaration is missing.";

    // What files and stacks name.
    UseNotFound "use-not-found"
        "`use order.sequencer` names the file `order/sequencer.loom` or the folder \
        `order/sequencer`. The compiler searches the folder of the file, then each `--path`, then \
        the standard library. It takes the first match, which must be readable text.";
    UseCircle "use-circle"
        "A file may not use itself, neither directly nor through other files.";
    UnknownLayer "unknown-layer"
        "A stack consists of layers that its file, or a file that it uses, declares.";
    UnknownService "unknown-service"
        "A layer names services that its file, or a file that it uses, declares.";
    UnknownEntity "unknown-entity"
        "A joint names a layer of the stack, by its `as` name or else by its own name. A command \
        names a stack of its file.";
    UnknownParameter "unknown-parameter"
        "The parentheses after a layer set its parameters, its side joints and, for a router, its \
        joints below.";
    UnknownEvent "unknown-event"
        "A handler handles `send`, `deliver`, `start`, `end`, `again`, a timer of its instance, or \
        a notice of a service that the layer provides, requires or uses.";
    NameTaken "name-taken"
        "Two declarations of one scope cannot have the same name.";

    // What cannot stand together.
    Misplaced "misplaced"
        "A stack has links at the bottom, ports at the top and layers between them. A router names \
        the layers that it stands on, and comes after them.";
    OneAbove "one-above"
        "One layer or port stands on a link, a worker or a router; several stand on a multiplexor.";
    NothingAbove "nothing-above"
        "A layer that delivers messages needs a layer or a port above it.";
    ServiceMissing "service-missing"
        "The layer below a layer provides the services that the layer requires, and a side joint \
        names a layer that provides the service that it uses. A provider defines each type that \
        its service leaves open.";
    MissingParameter "missing-parameter"
        "A stack gives each layer its parameters without a default, its side joints and, for a \
        router, its joints below.";
    ParameterRefused "parameter-refused"
        "Each value of a parameter must satisfy the `where` of the parameter.";
    ConfigTwoTypes "config-two-types"
        "A `config` value has one type, so all parameters that take it must have this type.";
    KeyMissing "key-missing"
        "A multiplexor distinguishes the layers above it by keys: `key 17 udp { … }`.";
    KeyMisplaced "key-misplaced"
        "Only sessions of a multiplexor have keys, and only joints above a multiplexor have \
        labels.";
    KeyClash "key-clash"
        "A key selects the joint above a multiplexor that receives a message, so no two keys are \
        equal.";
    MissingFinder "missing-finder"
        "A multiplexor, and no other layer, finds the session that an event from below is for: `on \
        deliver find session(header.kind) else …`.";
    RouterOnMany "router-on-many"
        "A router has one session above and one session on each joint below. All of them exist \
        from start to end.";
    TwoReceivers "two-receivers"
        "A message has one owner at a time, so only one layer receives a notice that carries a \
        message.";
    NoReceiver "no-receiver"
        "The receiver of a notice passes on, holds or drops the message that the notice carries. A \
        receiver also handles each event that the layer causes itself, such as `again`.";
    NoSession "no-session"
        "An entity and its children belong to all sessions of a layer. If there is more than one \
        session, each message that they send or deliver, and each event from a side joint, needs \
        a session.";
    NotByItself "not-by-itself"
        "A session with a label, and a session of a worker, lives as long as the session below it. \
        A handler cannot create it, end it or find it by a timer.";
    NoDirection "no-direction"
        "A notice of a service goes `up`, to the layers that require the service, or `down`, to \
        the layer that provides it.";

    AttributeUnset "attribute-unset"
        "An attribute without a default must be set on each message that reaches a read of the \
        attribute. Only after an `else`, as in `peer else message.peer`, it may be unset, and \
        reads as zero.";

    // What cannot be laid out.
    NoLayer "no-layer"
        "A file without a layer may declare constants, types, functions and filters. All other \
        declarations belong to a layer.";
    BadCapacity "bad-capacity"
        "There is no heap. The compiler allocates the memory of all instances and containers, so \
        each has a constant capacity.";
    BadEnum "bad-enum"
        "Each name of an enum has its own number, which fits into the type of the enum.";
    BadHeader "bad-header"
        "A header consists of whole bytes. Each part has a wire format, and a length that is fixed \
        or counted by a field.";
    HeaderTooLarge "header-too-large"
        "The offset of a field depends on all optional and variable-length parts before it, and is \
        computed at each read and write. The offsets of all fields of a header may have at most \
        16,384 operands.";

    // What bodies name and compute.
    UnknownName "unknown-name"
        "No declaration with this name is visible here. Visible are the fields, keys, parameters, \
        constants, functions and children of the layer, the services that it uses, and the locals \
        of the handler.";
    UnknownType "unknown-type"
        "Types are `u1` to `u64`, `i8` to `i64`, `bool`, `seq8`, `seq16`, `seq32`, `time`, \
        `bytes[N]`, containers with a capacity, and the types that the layer and its services \
        define.";
    Shadowed "shadowed"
        "A name has one meaning in a handler. A local of a `let`, a `for` or an event must not \
        have the name of a field, a key, a parameter or another local.";
    UnusedName "unused-name"
        "A name is declared but never used. Perhaps the code uses another name by mistake.";
    IdleTimer "idle-timer"
        "A timer needs a statement that starts it, and a handler `on NAME` or a process that waits \
        for it. Without either, the timer has no effect.";
    NeverEmptied "never-emptied"
        "A container has a fixed capacity. Without a statement that removes elements, it becomes \
        full and refuses further elements.";
    NeverRead "never-read"
        "A field is written, but no handler, function or header reads it. Perhaps a test is \
        missing, or another field was meant. To count events, use `count`.";
    NeverWritten "never-written"
        "A field is read but never written, so it keeps its initial value. Perhaps an assignment \
        is missing, or a constant was meant.";
    ConstantCondition "constant-condition"
        "A condition is always true or always false, for every input. Perhaps another number or \
        another comparison was meant.";
    AlwaysZero "always-zero"
        "`missing` is the number of bytes that an incomplete last word lacks. A filter over bytes \
        and a filter marked `whole` have no incomplete words. In a filter with a `tail`, the \
        `tail` handles an incomplete word, so `missing` is 0 in `each word`.";
    TypeMismatch "type-mismatch"
        "A value does not have the type that is expected here, or the types of two operands do not \
        match.";
    NarrowingNeedsAs "narrowing-needs-as"
        "A number converts to a wider type implicitly, because its value stays the same. A \
        conversion that can change the value needs `as`: `x as u8` keeps the low 8 bits.";
    NumberTooLarge "number-too-large"
        "A constant does not fit into its type.";
    PerhapsNone "perhaps-none"
        "An optional value may be `none`. Write `x else y` or `let y = x else …`, or read `x` \
        after a test: `if present x { … }`, `require present x else …`.";
    DivisionByZero "division-by-zero"
        "The compiler must know that a divisor is not zero: it is a constant, or a test before the \
        division excludes zero.";
    IndexOutOfRange "index-out-of-range"
        "The compiler must know that an index is within an array, bytes or a set: it is a \
        constant, `i % n`, the local of a `for`, or a test before the access bounds it.";
    ShiftTooFar "shift-too-far"
        "A shift by the width of a number or more yields zero.";
    NotConstant "not-constant"
        "A capacity, a key of a joint and other values that fix the memory layout must be \
        constants.";
    NotAValue "not-a-value"
        "An expression needs a value. Messages, instances, timers, and operations on them are not \
        values.";
    NeverSet "never-set"
        "A value is read, but it has no initial value, and no statement gives it one.";
    TailIsMoved "tail-is-moved"
        "A filter that rewrites data works on words, and the last word may be incomplete. Zeros \
        replace its missing bytes, and the output keeps only as many bytes as the input had. If \
        an output byte depends on an input byte at another position, this destroys the end of the \
        data. Such a filter must accept only whole words (`rewrites u64 whole { … }`), or define \
        the output for an incomplete word in a `tail { … }`.";
    CannotFail "cannot-fail"
        "This always has a value or always succeeds, so an `else` or a `present` has no effect.";
    WrongArguments "wrong-arguments"
        "A call gives one argument for each parameter of the function, filter, notice or kind of \
        instances.";
    NoHeader "no-header"
        "`header` is the header that `deliver` stripped from the message. Only a layer with a \
        header can read it, and only during `deliver`.";
    NotAssignable "not-assignable"
        "Only fields and locals of functions can be assigned. Keys, parameters, constants, \
        received headers and attributes, and locals of a handler never change.";
    ExternCall "extern-call"
        "A function in C may have side effects, so the compiler calls it exactly as often as the \
        program says. Calls run in textual order, before the rest of their statement; after \
        `and`, `or`, `else` and `if`, only if the value is needed. A call is not allowed where \
        the number of evaluations is unspecified: in constants, filters, and header rules other \
        than `=`.";
    MissingCase "missing-case"
        "A `match` needs a case for each possible value, or an `else` for the rest.";
    UnboundedLoop "unbounded-loop"
        "The time of a handler is bounded, so a `for` needs a range with known bounds, or `at most \
        N`.";
    RecursiveFunction "recursive-function"
        "A function may not call itself, neither directly nor through other functions, because the \
        time of a handler is bounded.";
    SharedVariable "shared-variable"
        "Branches of `||` run in parallel, without an order. If one branch writes a variable, no \
        other branch may read or write it. Use a signal to carry a value between branches.";
    CausalityCycle "causality-cycle"
        "The presence of each of these signals depends on the next one, in a cycle, so it is not \
        defined. A `pause` in the cycle makes one of them depend on the previous instant.";
    InstantaneousLoop "instantaneous-loop"
        "The body of a loop must take at least one instant. This body can end in the instant in \
        which it begins.";
    AutomatonTooLarge "automaton-too-large"
        "The number of states is the product of the states of independent parallel branches. The \
        automaton must fit into the budget, which `--budget` sets.";
    MultipleEmission "multiple-emission"
        "A signal without `combine` carries one value per instant, so it may be emitted only once \
        per instant.";
    MissingReturn "missing-return"
        "A function returns a value on each path.";
    UnknownSetting "unknown-setting"
        "A `with` sets attributes of the services and, on `send`, fields of the header. The \
        compiler computes fields that count a length or hold a checksum; a `with` cannot set them.";
    MissingSetting "missing-setting"
        "The `with` of each `send` sets every header field without a default.";
    AmbiguousSetting "ambiguous-setting"
        "A `with` sets a header field or an attribute. If both have the same name, rename the \
        field.";
    CreditUnknown "credit-unknown"
        "A grant allows a number of messages or bytes to pass. A layer between the granting and \
        the counting layer passes on or ends each message and adds none, or it sends its own \
        grants.";
    HandledTwice "handled-twice"
        "Handlers of one event run in textual order. The message goes to the first handler that \
        uses it and whose `if` holds. After such a handler without an `if`, no other handler \
        receives the message.";
    NotHere "not-here"
        "This is valid Loom, but not at this place. The label says why.";
    NotYet "not-yet"
        "The language includes this, but this version of the compiler does not support it.";

    // What bodies do with messages.
    MessageLeaked "message-leaked"
        "A handler uses each message exactly once on every path: it sends, delivers or tells it, \
        holds it in a container, drops it for a reason, or consumes it. Here a path does not use \
        its message.";
    InstanceEnded "instance-ended"
        "After `end`, an instance cannot be found, and another instance may use its memory. A \
        handler may not tell it anything, start its timers or read its fields after `end`.";
    MessageGone "message-gone"
        "After a handler passes on, holds or drops a message, it no longer owns the message. Read \
        the needed values before, or make a second handle with `share m`.";

    // What cannot be made into trees.
    HandlerTooLarge "handler-too-large"
        "The compiler specialises each path through a handler, so each test with outputs after it \
        doubles the code. All paths of a handler together may have at most 20,000 steps. Use \
        `again` to divide the work into several instants.";

    // The grammar of Estelle.
    EstelleNumber "estelle-number"
        "An integer of Estelle is decimal: `12`. A real number has digits on both sides of its \
        point, or an exponent: `1.5`, `2e-3`.";
    EstelleString "estelle-string"
        "A string of Estelle has one or more characters between single quotes, on one line. A \
        quote inside a string is written twice: `'it''s'`. A string of one character is a `char`.";
    EstelleReserved "estelle-reserved-word"
        "Reserved words of Pascal and of Estelle are never names, in any letter case.";
    EstellePointer "estelle-pointer"
        "Pointers, `new` and `dispose` are not available: there is no heap, and all memory is laid \
        out before the start. Use an array and its index, or a type that C code defines.";
    EstelleFiles "estelle-files"
        "File types and the procedures `read`, `readln`, `write`, `writeln`, `reset`, `rewrite`, \
        `get` and `put` are not available. A specification meets its environment only at \
        interaction points and in `primitive` routines.";
    EstelleGoto "estelle-goto"
        "Labels and `goto` are not available. Use `while`, `repeat`, `if` or a procedure.";
    EstelleProceduralParameter "estelle-procedural-parameter"
        "A function or a procedure cannot be a parameter, because the calls of each routine must \
        be known before the start.";
    EstelleConformantArray "estelle-conformant-array"
        "The type of a parameter of a routine is a name. Conformant arrays, whose bounds the call \
        gives, belong to level 1 of ISO 7185, and Estelle here has level 0.";
    EstelleOtherwise "estelle-otherwise"
        "`provided otherwise` means that none of the `provided` clauses before it holds. These \
        have the same clauses around. So it needs at least one of them, and is the last.";
    EstelleNoBlock "estelle-no-block"
        "Each clause belongs to at least one block `begin … end`. A clause of a kind that is open \
        closes that clause and all clauses in it; `trans` closes all.";
    EstelleInitializeClause "estelle-initialize-clause"
        "The clauses of `initialize` are `to`, `provided` and `any`. An instance is initialised \
        once, so `from`, `when`, `priority` and `delay` have no meaning there.";

    // The modules of an Estelle specification.
    EstelleAttributeMissing "estelle-attribute-missing"
        "A module with transitions has an attribute: `systemprocess`, `systemactivity`, `process` \
        or `activity`. It says how the module runs together with other modules.";
    EstelleSystemInAttributed "estelle-system-in-attributed"
        "A system module (`systemprocess` or `systemactivity`) is not inside a module with an \
        attribute. Systems run independently of each other, so none is a part of another.";
    EstelleNoSystemAbove "estelle-no-system-above"
        "Each `process` and each `activity` is inside a system module, directly or within other \
        modules. The system gives the steps in which it runs.";
    EstelleActivityHoldsProcess "estelle-activity-holds-process"
        "A `systemactivity` or an `activity` holds only modules with the attribute `activity`. One \
        module of such a tree runs in a step.";
    EstelleProcessChildren "estelle-process-children"
        "A `systemprocess` or a `process` holds only modules with the attribute `process` or \
        `activity`.";
    EstelleInactiveHasTransitions "estelle-inactive-has-transitions"
        "A module that holds system modules has no attribute and no transitions. It creates and \
        connects its systems in `initialize`, and then rests.";
    EstelleDynamicSystem "estelle-dynamic-system"
        "The structure of system modules, and of modules without an attribute, is static. Only \
        `initialize` creates, ends, connects and attaches them.";
    EstelleSpecificationAttribute "estelle-specification-attribute"
        "A specification with an attribute is itself the only system, so it has no system modules \
        inside.";
    EstelleInitBody "estelle-init-body"
        "`init m with B` needs a body `B` that belongs to the header of the module variable `m`.";
    EstelleNotExported "estelle-not-exported"
        "Only the variables that a header exports are visible outside of a body, and only to the \
        parent of the module: `m.x`.";
    EstelleChildren "estelle-children"
        "`all`, `forone` and `exist` over a module header go through the children of this module, \
        so this module has a module variable of that header.";
    EstelleNeverInitialised "estelle-never-initialised"
        "No `init` creates an instance of this body, so its transitions never fire.";

    // The interaction points and interactions of an Estelle specification.
    EstelleConnect "estelle-connect"
        "`connect` joins two different interaction points of one channel, with opposite roles. \
        Each is an internal point of this module or an external point of a child.";
    EstelleAttach "estelle-attach"
        "`attach` gives an external interaction point of this module to a child: the child has an \
        external point of the same channel and the same role.";
    EstelleQueueMissing "estelle-queue-missing"
        "Each interaction point has a queue: `individual queue` or `common queue`. A specification \
        may give one for all points without a queue: `default individual queue;`.";
    EstelleDirection "estelle-direction"
        "`output` sends an interaction that the channel allows for the role of the point. `when` \
        takes an interaction that the channel allows for the other role.";
    EstelleOwnPoint "estelle-own-point"
        "A module sends and takes interactions at its own interaction points only. It reaches a \
        child by an internal point that `connect` joins with a point of the child.";
    EstelleNeverSent "estelle-never-sent"
        "No module sends this interaction, so no transition ever takes it.";
    EstelleNeverReceived "estelle-never-received"
        "No transition takes this interaction, so it stays in its queue for ever. It also blocks \
        what is behind it.";

    // The transitions of an Estelle specification.
    EstelleState "estelle-state"
        "`to` names one state of the body, or `same`. `from` names states and sets of states. A \
        body declares its states by `state`.";
    EstelleInitializeTo "estelle-initialize-to"
        "A body with states and transitions begins in a state: each alternative of `initialize` \
        has a clause `to`.";
    EstelleFromWithoutState "estelle-from-without-state"
        "`from` restricts a transition to some states of the body, so the body declares states: \
        `state idle, open;`.";
    EstelleDelayWithWhen "estelle-delay-with-when"
        "Only a spontaneous transition has a `delay`. A transition with `when` fires when its \
        interaction is there.";
    EstelleWhenParameters "estelle-when-parameters"
        "`when p.m(a, b)` repeats the names of the parameters that the channel declares for the \
        interaction, in their order, or names none of them.";
    EstellePriority "estelle-priority"
        "A priority is a constant integer that is not negative. 0 is the highest priority.";
    EstelleClauseNotPure "estelle-clause-not-pure"
        "Clauses, also those behind `suchthat`, are evaluated in an open order and number, so they \
        call only `pure` functions and write nothing.";
    EstelleTooManyTransitions "estelle-too-many-transitions"
        "`any` makes one transition for each of its values. A block becomes at most 4,096 \
        transitions, and a body has at most 65,536.";
    EstelleNeverEnabled "estelle-never-enabled"
        "No sequence of transitions reaches a state of this `from`, so the transition never fires.";

    // The Pascal of an Estelle specification.
    EstelleUnknownName "estelle-unknown-name"
        "No declaration with this name is visible here. Names are declared before their use, and \
        letter case makes no difference.";
    EstelleWrongMeaning "estelle-wrong-meaning"
        "A name has one meaning, and here it means another kind of thing than is needed.";
    EstelleNotVisible "estelle-not-visible"
        "A module body sees the constants, types, channels, headers, bodies and `pure` or \
        `primitive` routines of the bodies around it. It does not see their variables, states, \
        interaction points and module variables.";
    EstelleTypeMismatch "estelle-type-mismatch"
        "A value does not have the type that is expected here, or the types of two operands do not \
        match. Two arrays, records or enumerations have the same type only if one declaration \
        gives it to both.";
    EstelleArguments "estelle-arguments"
        "A call, an `output` and an `init` give one argument for each parameter. A `var` parameter \
        needs a variable of exactly its type.";
    EstelleNotAssignable "estelle-not-assignable"
        "Only variables, parameters and the result of the function around are assigned. A name of \
        `any`, `all`, `forone`, `exist` and a running `for` keeps its value.";
    EstelleNotConstant "estelle-not-constant"
        "Declarations, labels of `case`, priorities and indices of `when` need values that are \
        known without running the specification.";
    EstelleOverflow "estelle-overflow"
        "Integers are from -2147483647 to 2147483647 (`maxint`). A constant result beyond these, \
        or a division by zero, is refused.";
    EstelleOutOfRange "estelle-out-of-range"
        "A constant is not among the values of its type: of a subrange, an index, a set or `chr`.";
    EstelleCharacter "estelle-character"
        "A string has at least one character, and each has a number up to 255 (Latin-1).";
    EstelleCaseLabel "estelle-case-label"
        "The labels of a `case`, of a statement or of a record, are different constants.";
    EstelleForVariable "estelle-for-variable"
        "The control variable of `for` is a whole variable of an ordinal type that this block, or \
        the module body of a transition, declares.";
    EstelleFunctionResult "estelle-function-result"
        "A function assigns its result to its own name. The result has a simple type.";
    EstelleForward "estelle-forward"
        "The block of a `forward` routine follows in the same declarations, without parameters and \
        without a type of the result.";
    EstelleNotPure "estelle-not-pure"
        "A `pure` routine reads its parameters and its own variables only, and calls only `pure` \
        routines.";
    EstelleStatementInRoutine "estelle-statement-in-routine"
        "Functions and `pure` routines contain no Estelle statements. Procedures may contain \
        `output`, `all` and `forone`, but nothing that changes the structure of modules.";
    EstelleRecursion "estelle-recursion"
        "A routine may not call itself, neither directly nor through other routines: without \
        recursion the memory of an instance is bounded.";
    EstelleSetTooLarge "estelle-set-too-large"
        "A set has at most 256 values, with ordinal numbers from 0 to 255.";
    EstelleTooLarge "estelle-too-large"
        "The memory of an instance is bounded: its variables have at most 1,000,000 elements in \
        all, and an array of interaction points or of module variables at most 65,536.";
    EstelleOpenType "estelle-open-type"
        "C code defines a type that is declared by `..`, so such a type is accepted only with \
        `--externs`.";
    EstelleConstantUnset "estelle-constant-unset"
        "The specification leaves a constant open by `= any TYPE`. The command line gives its \
        value: `--set NAME=VALUE`.";
    EstelleSetting "estelle-setting"
        "`--set NAME=VALUE` gives a value to a constant that the specification leaves open by `= \
        any TYPE`. The value is one of that type.";
    EstelleOmitted "estelle-omitted"
        "Of the predefined functions of Pascal only `ord`, `chr`, `succ`, `pred`, `abs`, `sqr`, \
        `odd`, `trunc` and `round` are available, and none of its predefined procedures.";
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
