//! The specification, its bodies, and what they declare.

use super::routine::LOCAL;
use super::{Parsed, Parser, Reported};
use crate::diagnostic::{Diagnostic, Id, closest};
use crate::source::Span;
use crate::syntax::estelle::ast::{
    Attribute, Body, By, Channel, Constant, ConstantValue, Declaration, Header, Interaction,
    ModuleBody, ModuleVariables, Name, Points, Queue, Specification, Timescale, Type,
    TypeDeclaration, Variables,
};
use crate::syntax::estelle::token::TokenKind;

/// Words that begin a declaration in a body, but not in a block.
const OUTER: &[&str] = &[
    "state", "stateset", "channel", "module", "body", "modvar", "ip",
];

/// Words in front of which a list of declarations goes on.
const STOPS: &[&str] = &[
    "const",
    "type",
    "var",
    "procedure",
    "function",
    "pure",
    "label",
    "state",
    "stateset",
    "channel",
    "module",
    "body",
    "modvar",
    "ip",
    "initialize",
    "trans",
    "end",
];

/// The units of delays.
const TIMESCALES: [(&str, Timescale); 5] = [
    ("hours", Timescale::Hours),
    ("minutes", Timescale::Minutes),
    ("seconds", Timescale::Seconds),
    ("milliseconds", Timescale::Milliseconds),
    ("microseconds", Timescale::Microseconds),
];

impl Parser<'_> {
    /// Reads the only specification of a file.
    pub(super) fn file(&mut self) -> Option<Specification> {
        let start = self.token();
        if !self.is_at("specification") {
            let help = "a file is one specification: `specification NAME; … end.`";
            self.unexpected_with("`specification`", Some(help.to_string()));
            return None;
        }
        self.lines.begin(self.at);
        self.take();
        let mut attribute = None;
        let name = self.heading(&mut attribute);
        let mut default_queue = None;
        let mut timescale = None;
        while self.is_at_any(&["default", "timescale"]) {
            if let Err(Reported) = self.setting(&mut default_queue, &mut timescale) {
                self.skip_behind_semicolon(STOPS);
            }
        }
        let body = self.body();
        self.lines.begin(self.at);
        if let Ok(end) = self.expect_end(start.span, "specification") {
            self.end_of_file(end);
        }
        let name = name.ok()?;
        Some(Specification {
            name,
            attribute,
            default_queue,
            timescale,
            body,
        })
    }

    /// Reads the name of the specification and its attribute.
    fn heading(&mut self, attribute: &mut Option<(Attribute, Span)>) -> Parsed<Name> {
        let name = self.name("the name of the specification");
        if name.is_err() {
            self.skip_behind_semicolon(STOPS);
            return name;
        }
        let place = self.token();
        *attribute = self.attribute();
        if let Some((Attribute::Process | Attribute::Activity, span)) = *attribute {
            let title = format!("a specification cannot be a `{}`", place.word);
            let help = "write `systemprocess` or `systemactivity`, or no attribute";
            self.report(
                Diagnostic::error(Id::UnexpectedWord, title, span, "nothing is around it")
                    .help(help),
            );
        }
        if let Err(Reported) = self.semicolon() {
            self.skip_behind_semicolon(STOPS);
        }
        name
    }

    /// Reads `default individual queue;` or `timescale seconds;`.
    fn setting(
        &mut self,
        default_queue: &mut Option<(Queue, Span)>,
        timescale: &mut Option<(Timescale, Span)>,
    ) -> Parsed<()> {
        let start = self.token();
        self.lines.begin(self.at);
        self.take();
        let is_queue = start.word == "default";
        if is_queue && default_queue.is_some() || !is_queue && timescale.is_some() {
            let title = format!("`{}` is written twice", start.word);
            let found = Diagnostic::error(Id::WrittenTwice, title, start.span, "the second");
            self.report(found.help("remove one of them"));
        }
        if is_queue {
            *default_queue = Some(self.queue()?);
            return self.semicolon();
        }
        let unit = self.token();
        let lower = unit.text.to_lowercase();
        match TIMESCALES.iter().find(|(name, _)| *name == lower) {
            Some((_, found)) => *timescale = Some((*found, self.take().span)),
            None => {
                let units = TIMESCALES.iter().map(|(name, _)| *name);
                let help = closest(&lower, units).map(|unit| format!("perhaps you mean `{unit}`"));
                let units = "`hours`, `minutes`, `seconds`, `milliseconds` or `microseconds`";
                return Err(self.unexpected_with(units, help));
            }
        }
        self.semicolon()
    }

    fn queue(&mut self) -> Parsed<(Queue, Span)> {
        let start = self.token();
        let queue = match start.word {
            "individual" => Queue::Individual,
            "common" => Queue::Common,
            _ => return Err(self.unexpected("`individual queue` or `common queue`")),
        };
        self.take();
        let end = self.expect("queue")?;
        Ok((queue, start.span.to(end)))
    }

    fn attribute(&mut self) -> Option<(Attribute, Span)> {
        let attribute = match self.token().word {
            "systemprocess" => Attribute::SystemProcess,
            "systemactivity" => Attribute::SystemActivity,
            "process" => Attribute::Process,
            "activity" => Attribute::Activity,
            _ => return None,
        };
        Some((attribute, self.take().span))
    }

    /// Reads `end`; if it is missing, what it would end is pointed at.
    pub(super) fn expect_end(&mut self, open: Span, what: &str) -> Parsed<Span> {
        if self.is_at("end") {
            return Ok(self.take().span);
        }
        let reported = self.unexpected("`end`");
        let label = format!("this `{what}` has no `end`");
        if let Some(last) = self.diagnostics.last_mut()
            && last.id == Id::UnexpectedWord
            && last.labels.is_empty()
        {
            *last = last.clone().label(open, label);
        }
        Err(reported)
    }

    /// Reads the `;` behind an `end`. If a full stop is there, the `end` is that of the
    /// specification, and one is missing: the word at the beginning of `open` has none.
    pub(super) fn semicolon_behind_end(&mut self, open: Span, what: &str) {
        if self.accept(";") {
            return;
        }
        if !self.is_at(".") {
            return self.missing_semicolon();
        }
        let span = self.previous();
        let word = Span::new(open.file, open.start, open.start + what.len() as u32);
        let title = "an `end` is missing";
        let found = Diagnostic::error(Id::UnexpectedWord, title, span, "ends the specification")
            .label(word, format!("this `{what}` has no `end`"))
            .help("write `end;` in front of it, at the right place");
        self.report(found);
        self.at -= 1;
    }

    /// Reads what follows the last `end`: a full stop.
    fn end_of_file(&mut self, end: Span) {
        if !self.is_at(".") && !self.diagnostics.is_empty() {
            // It probably follows from a mistake before.
        } else if !self.accept(".") {
            let help = match self.is_at(";") {
                true => {
                    "if the specification goes on, one `end` too many stands before; else \
                         write `end.`"
                }
                false => "write `end.`",
            };
            self.unexpected_with("`.`", Some(help.to_string()));
            if let Some(last) = self.diagnostics.last_mut()
                && last.labels.is_empty()
            {
                *last = last.clone().label(end, "this ends the specification");
            }
        } else if !self.is_at_end() {
            let help = "a file is one specification, which `end.` ends";
            self.unexpected_with("the end of the file", Some(help.to_string()));
        }
    }

    /// Reads declarations, `initialize` and `trans`, up to `end`.
    fn body(&mut self) -> Body {
        let mut body = Body::default();
        loop {
            let token = self.token();
            let is_behind = body.initialize_span.is_some() || !body.transitions.is_empty();
            match token.word {
                "end" => return body,
                _ if token.kind == TokenKind::End => return body,
                "initialize" => {
                    if is_behind {
                        self.late_initialize(body.initialize_span);
                    }
                    body.initialize_span = Some(token.span);
                    self.transitions(&mut body, true);
                }
                "trans" => self.transitions(&mut body, false),
                word if LOCAL.contains(&word) || OUTER.contains(&word) => {
                    if is_behind {
                        self.late_declaration();
                    }
                    self.declaration(&mut body.declarations);
                }
                _ => self.no_declaration(),
            }
        }
    }

    fn transitions(&mut self, body: &mut Body, is_initialize: bool) {
        self.lines.begin(self.at);
        let word = self.take();
        self.lines.indentation += 1;
        let count = body.initialize.len() + body.transitions.len() + self.diagnostics.len();
        self.group(body, is_initialize);
        self.lines.indentation -= 1;
        if count == body.initialize.len() + body.transitions.len() + self.diagnostics.len() {
            let title = format!("no block follows this `{}`", word.word);
            let found = Diagnostic::error(Id::EstelleNoBlock, title, word.span, "no transition");
            self.report(found.help("write `begin … end;`, or remove the word"));
        }
    }

    fn late_initialize(&mut self, first: Option<Span>) {
        let span = self.token().span;
        let found = match first {
            Some(first) => {
                let title = "`initialize` is written twice";
                Diagnostic::error(Id::WrittenTwice, title, span, "the second")
                    .label(first, "the first")
                    .help("write all alternatives behind the first one")
            }
            None => {
                let title = "`initialize` stands behind `trans`";
                Diagnostic::error(Id::UnexpectedWord, title, span, "too late")
                    .help("move it in front of the first `trans`")
            }
        };
        self.report(found);
    }

    fn late_declaration(&mut self) {
        let token = self.token();
        let title = format!("`{}` stands behind the transitions", token.word);
        let found = Diagnostic::error(Id::UnexpectedWord, title, token.span, "too late");
        self.report(found.help("move the declaration in front of `initialize` and `trans`"));
    }

    /// Returns true if a declaration of a body, but not one of a block, is next.
    pub(super) fn begins_declaration(&self) -> bool {
        self.is_at_any(OUTER)
    }

    /// Reports a token that begins no declaration, and goes on behind it.
    fn no_declaration(&mut self) {
        let token = self.token();
        let help = match token.word {
            "from" | "to" | "when" | "provided" | "priority" | "delay" | "any" | "name" => {
                Some("write `trans` in front of the first transition".to_string())
            }
            "begin" => {
                Some("write `initialize` or `trans` in front of it, or remove an `end`".to_string())
            }
            "export" => Some("only a module header has `export`".to_string()),
            _ => {
                let words = STOPS.iter().copied();
                let word = closest(&token.text.to_lowercase(), words);
                if let Some(word) = word.filter(|_| token.kind == TokenKind::Name) {
                    self.misspelled_declaration(word);
                    return;
                }
                None
            }
        };
        self.unexpected_with("a declaration, `initialize`, `trans` or `end`", help);
        if !self.is_at("begin") {
            self.take();
        }
        self.skip_behind_semicolon(STOPS);
    }

    /// Reports a word that is nearly one that begins a declaration, and takes it for that.
    fn misspelled_declaration(&mut self, word: &'static str) {
        let help = format!("perhaps you mean `{word}`");
        self.unexpected_with("a declaration, `initialize`, `trans` or `end`", Some(help));
        self.tokens[self.at].word = word;
        self.tokens[self.at].kind = TokenKind::Keyword;
    }

    /// Reads one declaration, or reports and skips it.
    pub(super) fn declaration(&mut self, all: &mut Vec<Declaration>) {
        let word = self.token().word;
        let indentation = self.lines.indentation;
        let begin = self.at;
        self.lines.begin(begin);
        let read = match word {
            "const" => self.section(all, |parser| parser.constant_declaration()),
            "type" => self.section(all, |parser| parser.type_declaration()),
            "var" => self.section(all, |parser| {
                parser
                    .variables("the name of a variable")
                    .map(Declaration::Variable)
            }),
            "stateset" => self.section(all, |parser| parser.state_set()),
            "modvar" => self.section(all, |parser| {
                parser.module_variables().map(Declaration::ModuleVariable)
            }),
            "ip" => self.section(all, |parser| parser.points().map(Declaration::Points)),
            "state" => self.states(all),
            "channel" => self
                .channel()
                .map(|one| all.push(Declaration::Channel(one))),
            "module" => self.header().map(|one| all.push(Declaration::Header(one))),
            "body" => self
                .module_body()
                .map(|one| all.push(Declaration::Body(one))),
            "label" => Err(self.refuse_label()),
            _ => self
                .routine()
                .map(|one| all.push(Declaration::Routine(one))),
        };
        self.lines.indentation = indentation;
        if let Err(Reported) = read {
            if self.at == begin {
                self.take();
            }
            self.skip_behind_semicolon(STOPS);
        }
    }

    /// Reads a word and the declarations behind it, each with a `;`.
    fn section<T>(
        &mut self,
        all: &mut Vec<T>,
        read: impl Fn(&mut Self) -> Parsed<T>,
    ) -> Parsed<()> {
        self.take();
        let indentation = self.lines.indentation;
        let (first, lines) = (self.at, self.lines.count());
        let mut count = 0;
        loop {
            self.lines.indentation = indentation + 1;
            let begin = self.at;
            self.lines.begin(begin);
            match read(self) {
                Ok(one) => {
                    all.push(one);
                    if let Err(Reported) = self.semicolon() {
                        self.skip_behind_semicolon(STOPS);
                    }
                }
                Err(Reported) => {
                    if self.at == begin && !self.is_at_any(STOPS) {
                        self.take();
                    }
                    self.skip_behind_semicolon(STOPS);
                }
            }
            count += 1;
            if matches!(self.token().kind, TokenKind::Keyword | TokenKind::End) {
                break;
            }
        }
        // A single one follows on the same line.
        if count == 1 && self.lines.count() == lines + 1 {
            self.lines.join(first);
        }
        Ok(())
    }

    fn constant_declaration(&mut self) -> Parsed<Declaration> {
        let name = self.name("the name of a constant")?;
        self.expect("=")?;
        let value = match self.accept("any") {
            true => ConstantValue::Any(self.a_type()?),
            false => ConstantValue::Given(self.constant()?),
        };
        if self.token().kind == TokenKind::Sign && !self.is_at(";") {
            let help = "in Pascal a constant is a number, a string or a name, perhaps with a sign";
            return Err(self.unexpected_with("`;`", Some(help.to_string())));
        }
        Ok(Declaration::Constant(Constant { name, value }))
    }

    fn type_declaration(&mut self) -> Parsed<Declaration> {
        let name = self.name("the name of a type")?;
        self.expect("=")?;
        let definition = match self.accept("..") {
            true => None,
            false => Some(self.a_type()?),
        };
        Ok(Declaration::Type(TypeDeclaration { name, definition }))
    }

    fn state_set(&mut self) -> Parsed<Declaration> {
        let name = self.name("the name of a set of states")?;
        self.expect("=")?;
        self.expect("[")?;
        let states = self.names("the name of a state")?;
        self.expect("]")?;
        Ok(Declaration::StateSet(name, states))
    }

    fn states(&mut self, all: &mut Vec<Declaration>) -> Parsed<()> {
        self.take();
        all.push(Declaration::States(self.names("the name of a state")?));
        self.semicolon()
    }

    fn module_variables(&mut self) -> Parsed<ModuleVariables> {
        let names = self.names("the name of a module variable")?;
        self.expect(":")?;
        let indices = self.array_of()?;
        let header = self.name("the name of a module")?;
        Ok(ModuleVariables {
            names,
            indices,
            header,
        })
    }

    /// Reads `array [T, U] of`, or nothing.
    fn array_of(&mut self) -> Parsed<Vec<Type>> {
        if !self.accept("array") {
            return Ok(Vec::new());
        }
        let indices = self.indices()?;
        self.expect("of")?;
        Ok(indices)
    }

    fn points(&mut self) -> Parsed<Points> {
        let names = self.names("the name of an interaction point")?;
        self.expect(":")?;
        let indices = self.array_of()?;
        let channel = self.name("the name of a channel")?;
        self.expect("(")?;
        let role = self.name("a role of the channel")?;
        self.expect(")")?;
        let queue = match self.is_at_any(&["individual", "common"]) {
            true => Some(self.queue()?),
            false => None,
        };
        Ok(Points {
            names,
            indices,
            channel,
            role,
            queue,
        })
    }

    fn channel(&mut self) -> Parsed<Channel> {
        self.take();
        let heading = self.channel_heading();
        if heading.is_err() {
            let stops: Vec<&str> = STOPS.iter().copied().chain(["by"]).collect();
            self.skip_behind_semicolon(&stops);
        }
        let mut groups = Vec::new();
        let indentation = self.lines.indentation;
        while self.is_at("by") {
            self.lines.indentation = indentation + 1;
            self.lines.begin(self.at);
            self.take();
            match self.by() {
                Ok(group) => groups.push(group),
                Err(Reported) => {
                    let stops: Vec<&str> = STOPS.iter().copied().chain(["by"]).collect();
                    self.skip_to(&stops);
                }
            }
        }
        let (name, roles) = heading?;
        Ok(Channel {
            name,
            roles,
            groups,
        })
    }

    /// Reads `C(user, provider);`.
    fn channel_heading(&mut self) -> Parsed<(Name, [Name; 2])> {
        let name = self.name("the name of the channel")?;
        self.expect("(")?;
        let first = self.name("a role")?;
        self.expect(",")?;
        let second = self.name("the other role")?;
        if self.is_at(",") {
            let help = "a channel has two roles".to_string();
            return Err(self.unexpected_with("`)`", Some(help)));
        }
        self.expect(")")?;
        self.semicolon()?;
        Ok((name, [first, second]))
    }

    /// Reads what follows `by`: `user: DATA(n: integer); STOP;`
    fn by(&mut self) -> Parsed<By> {
        let roles = self.names("a role of the channel")?;
        if let Some(third) = roles.get(2) {
            let title = "a channel has two roles only";
            let span = third.span;
            self.report(Diagnostic::error(
                Id::UnexpectedWord,
                title,
                span,
                "the third",
            ));
        }
        self.expect(":")?;
        let mut interactions = Vec::new();
        self.lines.indentation += 1;
        loop {
            let begin = self.at;
            self.lines.begin(begin);
            match self.interaction() {
                Ok(interaction) => interactions.push(interaction),
                Err(Reported) => {
                    let stops: Vec<&str> = STOPS.iter().copied().chain(["by"]).collect();
                    if self.at == begin && !self.is_at_any(&stops) {
                        self.take();
                    }
                    self.skip_behind_semicolon(&stops);
                }
            }
            if matches!(self.token().kind, TokenKind::Keyword | TokenKind::End) {
                return Ok(By {
                    roles,
                    interactions,
                });
            }
        }
    }

    fn interaction(&mut self) -> Parsed<Interaction> {
        let name = self.name("the name of an interaction")?;
        let parameters = self.formals()?;
        self.semicolon()?;
        Ok(Interaction { name, parameters })
    }

    fn header(&mut self) -> Parsed<Header> {
        let open = self.take().span;
        let heading = self.header_heading();
        if heading.is_err() {
            self.skip_behind_semicolon(&["ip", "export", "end"]);
        }
        let indentation = self.lines.indentation;
        self.lines.indentation += 1;
        let mut points = Vec::new();
        let mut exports: Vec<Variables> = Vec::new();
        while !self.is_at_any(STOPS) || self.is_at("ip") {
            self.lines.begin(self.at);
            match self.token().word {
                "ip" => self.section(&mut points, |parser| parser.points())?,
                "export" => self.section(&mut exports, |parser| {
                    parser.variables("the name of an exported variable")
                })?,
                _ if self.is_at_end() => break,
                _ => {
                    self.unexpected("`ip`, `export` or `end`");
                    self.take();
                    let stops: Vec<&str> = STOPS.iter().copied().chain(["export"]).collect();
                    self.skip_behind_semicolon(&stops);
                }
            }
            self.lines.indentation = indentation + 1;
        }
        self.lines.indentation = indentation;
        self.lines.begin(self.at);
        self.expect_end(open, "module")?;
        self.semicolon_behind_end(open, "module");
        Ok(Header {
            points,
            exports,
            ..heading?
        })
    }

    /// Reads `M process (n: integer);`, a header without content.
    fn header_heading(&mut self) -> Parsed<Header> {
        let name = self.name("the name of the module")?;
        let attribute = self.attribute();
        let parameters = self.formals()?;
        self.semicolon()?;
        Ok(Header {
            name,
            attribute,
            parameters,
            points: Vec::new(),
            exports: Vec::new(),
        })
    }

    /// Reads `B for M;`.
    fn body_heading(&mut self) -> Parsed<(Name, Name)> {
        let name = self.name("the name of the body")?;
        self.expect("for")?;
        let header = self.name("the name of a module")?;
        self.semicolon()?;
        Ok((name, header))
    }

    fn module_body(&mut self) -> Parsed<ModuleBody> {
        self.nested(|parser| {
            let open = parser.take().span;
            let heading = parser.body_heading();
            if heading.is_err() {
                let stops: Vec<&str> = STOPS.iter().copied().chain(["external"]).collect();
                parser.skip_behind_semicolon(&stops);
            }
            if parser.accept("external") {
                parser.semicolon()?;
                let (name, header) = heading?;
                return Ok(ModuleBody {
                    name,
                    header,
                    content: None,
                });
            }
            parser.lines.indentation += 1;
            let content = Some(parser.body());
            parser.lines.indentation -= 1;
            parser.lines.begin(parser.at);
            parser.expect_end(open, "body")?;
            parser.semicolon_behind_end(open, "body");
            let (name, header) = heading?;
            Ok(ModuleBody {
                name,
                header,
                content,
            })
        })
    }
}
