//! What a layer is made of, but for headers and instances.

use super::{Code, Parsed, Parser, Reported, Separator};
use crate::diagnostic::{Diagnostic, Id};
use crate::syntax::loom::ast::{
    Attribute, Block, ByteOrder, Constant, Direction, Enum, EnumValue, Field, Filter, FilterEffect,
    FilterResult, Finder, FinderTarget, Function, FunctionBody, Handler, Item, Notice, Record,
    TypeDefinition,
};

impl Parser<'_> {
    /// One item.
    pub(super) fn item(&mut self) -> Parsed<Item> {
        match self.token().text {
            "const" => self.constant().map(Item::Constant),
            "type" => self.type_definition().map(Item::Type),
            "enum" => self.enumeration().map(Item::Enum),
            "record" => self.record().map(Item::Record),
            "attribute" => self.attribute().map(Item::Attribute),
            "header" => self.header().map(Item::Header),
            "entity" | "session" | "child" => self.instance().map(Item::Instance),
            "filter" => self.filter().map(Item::Filter),
            "extern" if self.ahead(1).is("type") => self.type_definition().map(Item::Type),
            "fn" | "extern" => self.function(false).map(Item::Function),
            "process" => self.process().map(Item::Process),
            "on" if self.ahead(2).is("find") => self.finder().map(Item::Finder),
            "on" => self.handler().map(Item::Handler),
            "provides" | "requires" | "uses" => {
                let token = self.token();
                let title = format!("`{}` must follow the name of a layer", token.text);
                Err(self.report(
                    Diagnostic::error(Id::UnexpectedWord, title, token.span, "")
                        .help("move it after `worker NAME`, `multiplexor NAME` or `router NAME`"),
                ))
            }
            "timer" | "signal" | "once" | "notice" => {
                let token = self.token();
                let title = format!("`{}` must be inside an instance", token.text);
                Err(self.report(
                    Diagnostic::error(Id::UnexpectedWord, title, token.span, "")
                        .help("move it into `entity { … }`, `session { … }` or `child … { … }`"),
                ))
            }
            _ if self.ahead(1).is(":") => {
                let title = "a field is outside of all instances";
                let span = self.token().span;
                Err(self.report(
                    Diagnostic::error(Id::UnexpectedWord, title, span, "")
                        .help("move it into `entity { … }` or `session { … }`"),
                ))
            }
            "let" | "static" => {
                let title = format!("`{}` is allowed only in handlers", self.token().text);
                let foreign = Diagnostic::error(Id::NotLoom, title, self.token().span, "");
                Err(self.report(foreign.help(
                    "declare a constant as `const NAME: TYPE = VALUE`, and a variable as a field \
                    of a `session`",
                )))
            }
            _ => Err(self.unexpected("`header`, `session`, `on` or another item of a layer")),
        }
    }

    fn constant(&mut self) -> Parsed<Constant> {
        let beginning = self.begin();
        self.take();
        let name = self.name("the name of the constant")?;
        let of = if self.accept(":").is_some() {
            Some(self.type_name()?)
        } else {
            None
        };
        self.expect("=")?;
        let value = self.expression()?;
        let (notes, span) = self.finish(beginning);
        Ok(Constant {
            notes,
            name,
            of,
            value,
            span,
        })
    }

    /// `type address = u32`
    pub(super) fn type_definition(&mut self) -> Parsed<TypeDefinition> {
        let beginning = self.begin();
        let external = self.accept("extern").is_some();
        self.take();
        let name = self.name("the name of the type")?;
        let of = if !external && self.accept("=").is_some() {
            Some(self.type_name()?)
        } else {
            None
        };
        let (notes, span) = self.finish(beginning);
        Ok(TypeDefinition {
            notes,
            name,
            of,
            external,
            span,
        })
    }

    /// `enum kind: u8 { … }`
    pub(super) fn enumeration(&mut self) -> Parsed<Enum> {
        let beginning = self.begin();
        self.take();
        let name = self.name("the name of the enum")?;
        if !self.is_at(":") {
            let title = "this enum has no type";
            let span = self.here();
            return Err(self.report(
                Diagnostic::error(Id::MissingPart, title, span, "expected `:` and a type")
                    .help(format!("write `enum {name}: u8 {{ … }}`")),
            ));
        }
        self.take();
        let of = self.type_name()?;
        let (mut values, mut otherwise) = (Vec::new(), None);
        self.list("{", Separator::CommaOrNewline, |parser| {
            parser.cases_then_else(&mut values, &mut otherwise, Self::enum_value, |parser| {
                parser.name("a name for all other values")
            })
        })?;
        let (notes, span) = self.finish(beginning);
        Ok(Enum {
            notes,
            name,
            of,
            values,
            otherwise,
            span,
        })
    }

    fn enum_value(&mut self) -> Parsed<EnumValue> {
        let beginning = self.begin();
        let name = self.name("the name of a value")?;
        let number = if self.accept("=").is_some() {
            Some(self.simple()?)
        } else {
            None
        };
        let (notes, span) = self.finish(beginning);
        Ok(EnumValue {
            notes,
            name,
            number,
            span,
        })
    }

    fn record(&mut self) -> Parsed<Record> {
        let beginning = self.begin();
        self.take();
        let name = self.name("the name of the record")?;
        let fields = self.list("{", Separator::CommaOrNewline, Self::field)?;
        let (notes, span) = self.finish(beginning);
        Ok(Record {
            notes,
            name,
            fields,
            span,
        })
    }

    /// `once largest: u16 = 536`
    pub(super) fn field(&mut self) -> Parsed<Field> {
        let beginning = self.begin();
        let once = !self.ahead(1).is(":") && self.accept("once").is_some();
        let name = self.name("the name of a field")?;
        self.expect(":")?;
        let of = self.type_name()?;
        let start = if self.accept("=").is_some() {
            Some(self.expression()?)
        } else {
            None
        };
        let (notes, span) = self.finish(beginning);
        Ok(Field {
            notes,
            once,
            name,
            of,
            start,
            span,
        })
    }

    /// `attribute ttl: u8 = 64`
    pub(super) fn attribute(&mut self) -> Parsed<Attribute> {
        let beginning = self.begin();
        self.take();
        let name = self.name("the name of the attribute")?;
        self.expect(":")?;
        let of = self.type_name()?;
        let default = if self.accept("=").is_some() {
            Some(self.expression()?)
        } else {
            None
        };
        let (notes, span) = self.finish(beginning);
        Ok(Attribute {
            notes,
            name,
            of,
            default,
            span,
        })
    }

    /// `notice resolve(message, next_hop: u32) down`
    pub(super) fn notice(&mut self) -> Parsed<Notice> {
        let beginning = self.begin();
        self.take();
        let name = self.name("the name of the notice")?;
        let mut message = None;
        let mut parameters = Vec::new();
        if self.is_at("(") {
            self.list("(", Separator::CommaOrNewline, |parser| {
                let is_first = message.is_none() && parameters.is_empty();
                if is_first && parser.is_at("message") && !parser.ahead(1).is(":") {
                    message = Some(parser.name("`message`")?);
                } else {
                    parameters.push(parser.parameter()?);
                }
                Ok(())
            })?;
        }
        let direction = if self.accept("up").is_some() {
            Some(Direction::Up)
        } else {
            self.accept("down").map(|_| Direction::Down)
        };
        let (notes, span) = self.finish(beginning);
        Ok(Notice {
            notes,
            name,
            message,
            parameters,
            direction,
            span,
        })
    }

    /// A function; a service's has no body.
    pub(super) fn function(&mut self, promised: bool) -> Parsed<Function> {
        let beginning = self.begin();
        let external = self.accept("extern").is_some();
        self.expect("fn")?;
        if ["deliver", "send", "start", "end", "again"].contains(&self.token().text) {
            let event = self.token();
            let title = format!("`{}` is an event, which needs a handler", event.text);
            let foreign = Diagnostic::error(Id::NotLoom, title, event.span, "");
            return Err(self.report(foreign.help(format!("write `on {}`", event.text))));
        }
        let name = self.name("the name of the function")?;
        let parameters = self.parameters()?;
        let returns = if self.accept("->").is_some() {
            Some(self.type_name()?)
        } else if external {
            None
        } else {
            let title = "this function has no return type";
            let span = self.here();
            let help = match self.is_at(":") {
                true => format!("write `-> {}`", self.ahead(1).text),
                false => "add `-> TYPE`, or use a handler to write fields".to_string(),
            };
            return Err(self.report(
                Diagnostic::error(Id::MissingPart, title, span, "expected `->` and a type")
                    .why("A function returns a value, and has no side effects.")
                    .help(help),
            ));
        };
        let body = if promised {
            FunctionBody::Promised
        } else if external {
            match self.accept("in") {
                Some(_) => {
                    self.expect("runtime")?;
                    FunctionBody::Runtime
                }
                None => FunctionBody::External,
            }
        } else if self.accept("=").is_some() {
            FunctionBody::Expression(self.expression()?)
        } else if self.is_at("{") {
            FunctionBody::Block(self.block_of(Code::Function)?)
        } else {
            return Err(self.unexpected("`=` and a value, or `{`"));
        };
        let (notes, span) = self.finish(beginning);
        Ok(Function {
            notes,
            name,
            parameters,
            returns,
            body,
            span,
        })
    }

    fn finder(&mut self) -> Parsed<Finder> {
        let beginning = self.begin();
        self.take();
        let event = self.word("an event")?;
        self.take();
        let mut targets = Vec::new();
        loop {
            let start = self.at;
            let key = self.instance_key()?;
            let condition = match self.accept("if") {
                Some(_) => Some(self.part_of_or()?),
                None => None,
            };
            let span = self.span_from(start);
            targets.push(FinderTarget {
                kind: key.kind,
                keys: key.keys,
                condition,
                span,
            });
            if self.accept("or").is_none() {
                break;
            }
        }
        if !self.is_at("else") {
            let title = "this `find` has no `else`";
            let span = self.here();
            return Err(self.report(
                Diagnostic::error(Id::MissingElse, title, span, "expected `else`").help(
                    "say what to do if no session is found: `else drop message as unknown`, \
                        with your own reason",
                ),
            ));
        }
        let otherwise = self.otherwise()?;
        let (notes, span) = self.finish(beginning);
        Ok(Finder {
            notes,
            event,
            targets,
            otherwise,
            span,
        })
    }

    /// `on deliver(message) if last == next { … }`
    pub(super) fn handler(&mut self) -> Parsed<Handler> {
        let beginning = self.begin();
        self.take();
        let event = self.event()?;
        // Within a guard `=` has no other meaning either.
        let condition = self.guard()?;
        let body = self.block_of(Code::Handler)?;
        let (notes, span) = self.finish(beginning);
        Ok(Handler {
            notes,
            event,
            condition,
            body,
            span,
        })
    }

    fn filter(&mut self) -> Parsed<Filter> {
        let beginning = self.begin();
        self.take();
        let name = self.name("the name of the filter")?;
        let parameters = self.parameters()?;
        let effect = if self.accept("reads").is_some() {
            FilterEffect::Reads
        } else if self.accept("rewrites").is_some() {
            FilterEffect::Rewrites
        } else {
            return Err(self.unexpected("`reads` or `rewrites`"));
        };
        let unit = self.type_name()?;
        let order = self.byte_order();
        let whole = self.token().span;
        let whole = self.accept("whole").map(|_| whole);
        let open = self.token().span;
        let (mut parts, told) = (FilterParts::default(), self.diagnostics.len());
        self.list("{", Separator::Newline, |parser| {
            parser.filter_part(&mut parts)
        })?;
        let Some(each) = parts.each else {
            if self.diagnostics.len() > told {
                // What could not be read was perhaps that.
                return Err(Reported);
            }
            let title = "this filter has no `each word`";
            return Err(self.report(
                Diagnostic::error(
                    Id::MissingPart,
                    title,
                    open,
                    "expected `each word { … }` inside",
                )
                .help("add `each word { … }`"),
            ));
        };
        let (notes, span) = self.finish(beginning);
        let FilterParts {
            fields,
            tail,
            finish,
            result,
            ..
        } = parts;
        Ok(Filter {
            notes,
            name,
            parameters,
            effect,
            unit,
            order,
            whole,
            fields,
            each,
            tail,
            finish,
            result,
            span,
        })
    }

    fn filter_part(&mut self, parts: &mut FilterParts) -> Parsed<()> {
        let word = self.token();
        let is_field = self.ahead(1).is(":");
        let twice = if !is_field && word.is("each") {
            self.take();
            self.expect("word")?;
            parts.each.replace(self.block_of(Code::Filter)?).is_some()
        } else if !is_field && word.is("tail") {
            self.take();
            parts.tail.replace(self.block_of(Code::Filter)?).is_some()
        } else if !is_field && word.is("finish") {
            self.take();
            parts.finish.replace(self.block_of(Code::Filter)?).is_some()
        } else if !is_field && word.is("result") {
            let start = self.at;
            self.take();
            let of = self.type_name()?;
            let value = self.braced_value()?;
            let mut same = Vec::new();
            let mut follows = self.accept("where");
            while follows.is_some() {
                let held = self.expression()?;
                self.expect("is")?;
                same.push((held, self.expression()?));
                follows = self.accept(",");
            }
            let span = self.span_from(start);
            let result = FilterResult {
                of,
                value,
                same,
                span,
            };
            parts.result.replace(result).is_some()
        } else {
            parts.fields.push(self.field()?);
            false
        };
        if twice {
            let title = format!("a filter has one `{}`", word.text);
            return Err(self.report(Diagnostic::error(
                Id::WrittenTwice,
                title,
                word.span,
                "a second one",
            )));
        }
        Ok(())
    }

    /// `big` or `little`, if it stands here.
    pub(super) fn byte_order(&mut self) -> Option<ByteOrder> {
        if self.accept("big").is_some() {
            return Some(ByteOrder::Big);
        }
        self.accept("little").map(|_| ByteOrder::Little)
    }
}

#[derive(Default)]
struct FilterParts {
    fields: Vec<Field>,
    each: Option<Block>,
    tail: Option<Block>,
    finish: Option<Block>,
    result: Option<FilterResult>,
}
