//! Stacks.

use super::{Parsed, Parser, Reported, Separator};
use crate::diagnostic::{Diagnostic, Id};
use crate::syntax::loom::ast::{
    Argument, Expression, ExpressionKind, LayerUse, Name, Node, NodeKind, Policy, Slot, Stack,
    Traffic,
};
use crate::syntax::loom::token::TokenKind;

/// The most layers of a slot: their numbers have 4 bits, and 15 is for the policy.
const SLOT_LIMIT: usize = 15;

/// The parts of a policy, from the top.
const PARTS: [&str; 4] = ["monitor", "decision", "signal", "peer"];

impl Parser<'_> {
    /// `stack host { … }`
    pub(super) fn stack(&mut self) -> Parsed<Stack> {
        let beginning = self.begin();
        self.take();
        let name = self.name("the name of the stack")?;
        let (mut traffic, mut nodes) = (Vec::new(), Vec::new());
        self.list("{", Separator::CommaOrNewline, |parser| {
            if parser.is_at("traffic") && parser.ahead(1).is("{") {
                parser.take();
                traffic.extend(parser.list("{", Separator::CommaOrNewline, Self::traffic)?);
            } else {
                nodes.push(parser.node()?);
            }
            Ok(())
        })?;
        let (notes, span) = self.finish(beginning);
        Ok(Stack {
            notes,
            name,
            traffic,
            nodes,
            span,
        })
    }

    fn traffic(&mut self) -> Parsed<Traffic> {
        let start = self.at;
        let event = self.word("an event")?;
        let millionths = self.share()?;
        Ok(Traffic {
            event,
            millionths,
            span: self.span_from(start),
        })
    }

    fn node(&mut self) -> Parsed<Node> {
        self.nested(|parser| {
            let beginning = parser.begin();
            let key = if parser.names_another("key") {
                parser.take();
                Some(parser.simple()?)
            } else {
                None
            };
            let kind = parser.node_kind()?;
            let above = if parser.is_at("{") {
                parser.list("{", Separator::CommaOrNewline, Self::node)?
            } else {
                Vec::new()
            };
            let (notes, span) = parser.finish(beginning);
            Ok(Node {
                notes,
                key,
                kind,
                above,
                span,
            })
        })
    }

    fn node_kind(&mut self) -> Parsed<NodeKind> {
        if self.names_another("link") {
            self.take();
            let name = self.name("the name of the link")?;
            let arguments = self.given()?;
            let calls = self.called()?;
            let gathers = self.accept("gathers").is_some();
            return Ok(NodeKind::Link {
                name,
                arguments,
                calls,
                gathers,
            });
        }
        if self.names_another("port") {
            self.take();
            let name = self.name("the name of the port")?;
            let calls = self.called()?;
            return Ok(NodeKind::Port { name, calls });
        }
        if self.names_another("slot") {
            return Ok(NodeKind::Slot(self.slot()?));
        }
        Ok(NodeKind::Layer(
            self.layer_use("a layer, `link`, `slot` or `port`")?,
        ))
    }

    /// `slot repair(protected = true) by noise { off, parity }`
    fn slot(&mut self) -> Parsed<Slot> {
        self.take();
        let name = self.name("the name of the slot")?;
        let arguments = self.given()?;
        let policy = match self.accept("by") {
            Some(_) => Some(self.layer_use("a policy")?),
            None => None,
        };
        let told = self.diagnostics.len();
        let variants = self.list("{", Separator::CommaOrNewline, |parser| {
            match parser.names_another("port") {
                true => Err(parser.slot_without_layers()),
                false => parser.layers_of_slot(),
            }
        })?;
        let is_empty = variants.is_empty() && self.diagnostics.len() == told;
        if is_empty || variants.len() > SLOT_LIMIT {
            let title = match is_empty {
                true => format!("the slot `{name}` has no layer"),
                false => format!("the slot `{name}` has {} layers", variants.len()),
            };
            return Err(self.report(
                Diagnostic::error(Id::MissingPart, title, name.span, "")
                    .why(format!(
                        "A slot has 1 to {SLOT_LIMIT} layers: a frame names one in 4 bits."
                    ))
                    .help("write `slot NAME { off, LAYER } { … }`"),
            ));
        }
        Ok(Slot {
            name,
            arguments,
            policy,
            variants,
        })
    }

    /// `convolutional > halves`: layers on each other, from the bottom to the top
    fn layers_of_slot(&mut self) -> Parsed<Vec<LayerUse>> {
        let mut layers = vec![self.layer_use("a layer")?];
        while self.accept(">").is_some() {
            layers.push(self.layer_use("a layer")?);
        }
        Ok(layers)
    }

    /// `policy noise(cost: u32) { monitor errors, decision counting, signal spp }`
    pub(super) fn policy(&mut self) -> Parsed<Policy> {
        let beginning = self.begin();
        self.take();
        let name = self.name("the name of the policy")?;
        let parameters = self.optional_parameters()?;
        if let Some(condition) = parameters.iter().find_map(|one| one.condition.as_ref()) {
            let title = "a parameter of a policy has no condition";
            let refused = Diagnostic::error(Id::Misplaced, title, condition.span, "");
            return Err(self
                .report(refused.why("The layers to which the policy gives it check its value.")));
        }
        let mut parts: [Option<LayerUse>; 4] = [const { None }; 4];
        self.list("{", Separator::CommaOrNewline, |parser| {
            parser.policy_part(&mut parts)
        })?;
        if parts.iter().all(Option::is_none) {
            let title = format!("the policy `{name}` has no part");
            return Err(self.report(
                Diagnostic::error(Id::MissingPart, title, name.span, "")
                    .help("write `decision LAYER` in its braces"),
            ));
        }
        let [monitor, decision, signal, peer] = parts;
        let (notes, _) = self.finish(beginning);
        Ok(Policy {
            notes,
            name,
            parameters,
            monitor,
            decision,
            signal,
            peer,
        })
    }

    /// `decision counting(most = 8)`
    fn policy_part(&mut self, parts: &mut [Option<LayerUse>; 4]) -> Parsed<()> {
        if !PARTS.iter().any(|part| self.is_at(part)) {
            self.correct_spelling(&PARTS);
        }
        let Some(place) = PARTS.iter().position(|part| self.is_at(part)) else {
            return Err(self.unexpected("`monitor`, `decision`, `signal` or `peer`"));
        };
        let word = self.take().span;
        let part = self.layer_use("a layer")?;
        if parts[place].is_some() {
            let title = format!("the policy has two parts `{}`", PARTS[place]);
            return Err(self.report(Diagnostic::error(Id::Misplaced, title, word, "")));
        }
        parts[place] = Some(part);
        Ok(())
    }

    /// Says that the first braces of a slot have its layers.
    fn slot_without_layers(&mut self) -> Reported {
        let title = "a port is no layer of a slot";
        let span = self.token().span;
        self.report(
            Diagnostic::error(Id::Misplaced, title, span, "")
                .why(
                    "A slot has its layers in the first braces, and what stands on it in the next.",
                )
                .help("write `slot NAME { off, LAYER } { port NAME }`"),
        )
    }

    /// `parity(k = 8) as noise`
    fn layer_use(&mut self, what: &str) -> Parsed<LayerUse> {
        let layer = self.name(what)?;
        let arguments = self.given()?;
        let alias = if self.accept("as").is_some() {
            Some(self.name("a name for it")?)
        } else {
            None
        };
        Ok(LayerUse {
            layer,
            arguments,
            alias,
        })
    }

    /// What is called at an end of a stack.
    fn called(&mut self) -> Parsed<Option<Name>> {
        match self.accept("calls") {
            Some(_) => Ok(Some(self.name("the function in C that is called")?)),
            None => Ok(None),
        }
    }

    /// The parentheses behind a layer or a link, if there are any.
    fn given(&mut self) -> Parsed<Vec<Argument>> {
        match self.is_at("(") {
            true => self.list("(", Separator::CommaOrNewline, Self::argument),
            false => Ok(Vec::new()),
        }
    }

    fn argument(&mut self) -> Parsed<Argument> {
        let start = self.at;
        let first = self.token();
        if first.kind == TokenKind::Number || self.ahead(1).is(",") || self.ahead(1).is(")") {
            let title = "this argument has no parameter name";
            let unnamed = Diagnostic::error(Id::MissingPart, title, first.span, "");
            return Err(self.report(unnamed.help(format!("write `NAME = {}`", first.text))));
        }
        let name = self.name("the name of a parameter or a side joint")?;
        self.expect("=")?;
        let value = match self.is_at("[") {
            true => self.joint_list()?,
            false => self.expression()?,
        };
        Ok(Argument {
            name,
            value,
            span: self.span_from(start),
        })
    }

    /// `[near, far]`
    fn joint_list(&mut self) -> Parsed<Expression> {
        let start = self.at;
        let joints = self.list("[", Separator::CommaOrNewline, Self::expression)?;
        Ok(Expression {
            kind: ExpressionKind::List(joints),
            span: self.span_from(start),
        })
    }

    /// Whether `word` stands here before something that it can be said of; a layer may have its
    /// name.
    fn names_another(&self, word: &str) -> bool {
        use crate::syntax::loom::token::TokenKind;
        let next = self.ahead(1);
        self.is_at(word)
            && (matches!(next.kind, TokenKind::Word | TokenKind::Number) && !next.is("as")
                || word == "key" && next.is("("))
    }
}
