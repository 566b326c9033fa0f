//! Files: what they use, services, layers.

use super::{Parsed, Parser, Separator};
use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::loom::ast::{
    Declaration, File, Layer, Name, Parameter, Requirement, Service, ServiceItem, Shape, SideJoint,
    Use,
};

/// Words with which a line at the top of a file begins.
pub(super) const BEGINNINGS: &[&str] = &[
    "use",
    "service",
    "worker",
    "multiplexor",
    "router",
    "stack",
    "policy",
    "const",
    "type",
    "enum",
    "record",
    "attribute",
    "header",
    "entity",
    "session",
    "child",
    "filter",
    "fn",
    "extern",
    "process",
    "on",
];

/// What other languages write there.
const FOREIGN_BEGINNINGS: &[(&str, &str)] = &[
    ("import", "use"),
    ("include", "use"),
    ("using", "use"),
    ("struct", "record"),
    ("interface", "service"),
    ("function", "fn"),
    ("func", "fn"),
    ("def", "fn"),
    ("fun", "fn"),
    ("constant", "const"),
    ("handler", "on"),
    ("when", "on"),
    ("layer", "worker"),
    ("state", "session"),
    ("protocol", "worker"),
    ("multiplexer", "multiplexor"),
];

impl Parser<'_> {
    /// All of a file.
    pub(super) fn file(&mut self, span: Span) -> File {
        let mut file = File {
            uses: Vec::new(),
            declarations: Vec::new(),
            span,
        };
        // The layer to which items belong: its place among the declarations.
        let mut layer = None;
        self.elements(self.tokens.len() - 1, Separator::Newline, |parser| {
            parser.declaration(&mut file, &mut layer)
        });
        file
    }

    fn declaration(&mut self, file: &mut File, layer: &mut Option<usize>) -> Parsed<()> {
        if !BEGINNINGS.iter().any(|word| self.is_at(word)) {
            let _ = self.correct_language(FOREIGN_BEGINNINGS) || self.correct_spelling(BEGINNINGS);
        }
        match self.token().text {
            "use" => file.uses.push(self.use_line()?),
            "service" => file
                .declarations
                .push(Declaration::Service(self.service()?)),
            "worker" | "multiplexor" | "router" => {
                *layer = Some(file.declarations.len());
                file.declarations
                    .push(Declaration::Layer(self.layer_head()?));
            }
            "stack" => {
                *layer = None;
                file.declarations.push(Declaration::Stack(self.stack()?));
            }
            "policy" => {
                *layer = None;
                file.declarations.push(Declaration::Policy(self.policy()?));
            }
            _ => {
                let item = self.item()?;
                let end = self.tokens[self.at - 1].span;
                match layer.and_then(|at| file.declarations.get_mut(at)) {
                    Some(Declaration::Layer(layer)) => {
                        layer.items.push(item);
                        layer.span = layer.span.to(end);
                    }
                    Some(_) | None => file.declarations.push(Declaration::Item(item)),
                }
            }
        }
        Ok(())
    }

    fn use_line(&mut self) -> Parsed<Use> {
        let start = self.at;
        self.take();
        let path = self.path("a layer or a folder, such as `network.ipv4`")?;
        if self.is_at(":") || self.is_at("/") {
            let mut parts: Vec<&str> = path.names.iter().map(|name| &*name.text).collect();
            parts.extend(
                self.tokens[self.at..]
                    .iter()
                    .find(|token| !token.is(":") && !token.is("/"))
                    .map(|token| token.text),
            );
            let title = "the parts of a `use` are separated by dots";
            let foreign = Diagnostic::error(Id::NotLoom, title, self.token().span, "");
            let help = format!("write `use {}`", parts.join("."));
            return Err(self.report(foreign.help(help)));
        }
        Ok(Use {
            path,
            span: self.span_from(start),
        })
    }

    fn service(&mut self) -> Parsed<Service> {
        let beginning = self.begin();
        self.take();
        let name = self.name("the name of the service")?;
        let extends = if self.accept("extends").is_some() {
            Some(self.name("a service")?)
        } else {
            None
        };
        let items = self.list("{", Separator::Newline, Self::service_item)?;
        let (notes, span) = self.finish(beginning);
        Ok(Service {
            notes,
            name,
            extends,
            items,
            span,
        })
    }

    fn service_item(&mut self) -> Parsed<ServiceItem> {
        let words = ["type", "enum", "attribute", "fn", "notice"];
        if !words.iter().any(|word| self.is_at(word)) {
            self.correct_spelling(&words);
        }
        match self.token().text {
            "type" => self.type_definition().map(ServiceItem::Type),
            "enum" => self.enumeration().map(ServiceItem::Enum),
            "attribute" => self.attribute().map(ServiceItem::Attribute),
            "fn" => self.function(true).map(ServiceItem::Function),
            "notice" => self.notice().map(ServiceItem::Notice),
            _ => Err(self.unexpected("one of `type`, `enum`, `attribute`, `fn` and `notice`")),
        }
    }

    fn layer_head(&mut self) -> Parsed<Layer> {
        let beginning = self.begin();
        let shape = match self.take().text {
            "worker" => Shape::Worker,
            "multiplexor" => Shape::Multiplexor,
            _ => Shape::Router,
        };
        let name = self.name("the name of the layer")?;
        let parameters = self.optional_parameters()?;
        let (mut provides, mut hands_on) = (Vec::new(), Vec::new());
        let (mut requires, mut uses) = (Vec::new(), Vec::new());
        loop {
            let place = self.at;
            while self.token().kind == super::TokenKind::Newline {
                self.at += 1;
            }
            if !BEGINNINGS.iter().any(|word| self.is_at(word)) {
                self.correct_spelling(&["provides", "requires"]);
            }
            if self.accept("provides").is_some() {
                self.services(&mut provides, &mut hands_on)?;
            } else if self.is_at("requires") {
                requires.push(self.requirement()?);
            } else if self.is_at("uses") {
                uses.push(self.side_joint()?);
            } else {
                self.at = place;
                break;
            }
        }
        if self.is_at("{") {
            let title = "a layer has no braces around it";
            let span = self.token().span;
            return Err(self.report(
                Diagnostic::error(Id::NotLoom, title, span, "")
                    .why("A file declares one layer, and all following declarations belong to it.")
                    .help("remove the braces"),
            ));
        }
        let (notes, span) = self.finish(beginning);
        let items = Vec::new();
        Ok(Layer {
            notes,
            shape,
            name,
            parameters,
            provides,
            hands_on,
            requires,
            uses,
            items,
            span,
        })
    }

    fn requirement(&mut self) -> Parsed<Requirement> {
        let start = self.at;
        self.take();
        let is_list = self.ahead(1).is("[") && self.ahead(2).is("]");
        let joint = if is_list || self.ahead(1).is(":") {
            let name = self.name("the name of a lower joint")?;
            if is_list {
                self.expect("[")?;
                self.expect("]")?;
            }
            self.expect(":")?;
            Some(name)
        } else {
            None
        };
        let (mut services, mut optional) = (Vec::new(), Vec::new());
        self.services(&mut services, &mut optional)?;
        Ok(Requirement {
            joint,
            is_list,
            services,
            optional,
            span: self.span_from(start),
        })
    }

    /// `messages, booster?`
    fn services(&mut self, plain: &mut Vec<Name>, optional: &mut Vec<Name>) -> Parsed<()> {
        loop {
            let service = self.name("a service")?;
            match self.accept("?") {
                Some(_) => optional.push(service),
                None => plain.push(service),
            }
            if self.accept(",").is_none() {
                return Ok(());
            }
        }
    }

    fn side_joint(&mut self) -> Parsed<SideJoint> {
        let start = self.at;
        self.take();
        let name = self.name("a name for the side joint")?;
        self.expect(":")?;
        let service = self.name("a service")?;
        Ok(SideJoint {
            name,
            service,
            span: self.span_from(start),
        })
    }

    /// Parameters in parentheses, where there may be none.
    pub(super) fn optional_parameters(&mut self) -> Parsed<Vec<Parameter>> {
        if self.is_at("(") {
            self.parameters()
        } else {
            Ok(Vec::new())
        }
    }

    /// Parameters, or keys, in parentheses.
    pub(super) fn parameters(&mut self) -> Parsed<Vec<Parameter>> {
        self.list("(", Separator::CommaOrNewline, Self::parameter)
    }

    /// `limit: u16 = 512 where limit > 0`
    pub(super) fn parameter(&mut self) -> Parsed<Parameter> {
        let beginning = self.begin();
        // A function of the user's in C may be given the time, and call it what everyone does.
        let what = "the name of a parameter";
        let name = if self.is_at("now") {
            self.word(what)?
        } else {
            self.name(what)?
        };
        if self.is_at(")") || self.is_at(",") {
            let title = format!("the parameter `{name}` has no type");
            let untyped = Diagnostic::error(Id::MissingPart, title, name.span, "expected a type");
            return Err(self.report(untyped.help(format!("write `{name}: u32`, for example"))));
        }
        self.expect(":")?;
        let rewritten = match self.is_at("rewritten") && self.ahead(1).is("bytes") {
            true => Some(self.take().span),
            false => None,
        };
        let of = self.type_name()?;
        let default = if self.accept("=").is_some() {
            Some(self.expression()?)
        } else {
            None
        };
        let condition = if self.accept("where").is_some() {
            Some(self.condition()?)
        } else {
            None
        };
        let (notes, span) = self.finish(beginning);
        Ok(Parameter {
            notes,
            name,
            rewritten,
            of,
            default,
            condition,
            span,
        })
    }
}
