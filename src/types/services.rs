//! Services: in, what the files declare; out, for each place where a service is given or needed,
//! an [`Interface`] of attributes and notices in the tables of the program.
//!
//! What a service leaves open (`type address`) is bound by the layer that provides it, or by the
//! one below that layer. So one service may have several interfaces in a stack, one for each
//! binding; where the types are the same, the attribute is the same, however often it is passed on.

use super::body::{check_expression, check_value_type};
use super::constant::fold;
use super::context::Context;
use super::items::{Words, declare_enum};
use super::load::{Files, UnitId};
use super::names::refuse_beside;
use super::program::{
    Attribute, AttributeId, EntityId, EnumId, Field, KindId, Local, Notice, NoticeId,
};
use super::scope::Scope;
use super::value::Type;
use crate::diagnostic::{Diagnostic, Id};
use crate::syntax::loom::ast;
use std::collections::BTreeMap;

/// The service that every link provides.
const OF_LINKS: &str = "frames";

/// A service, among all that the files declare.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ServiceId(u32);

/// All services, and what of them stands in the program so far.
pub struct Services<'a> {
    files: &'a Files,
    list: Vec<Declared<'a>>,
    attributes: Vec<(ServiceId, AttributeId)>,
    notices: Vec<(ServiceId, NoticeId)>,
    enums: Vec<(ServiceId, EnumId)>,
}

struct Declared<'a> {
    source: &'a ast::Service,
    unit: UnitId,
    extends: Option<ServiceId>,
}

/// What can be said through a joint, with all types known.
#[derive(Clone, Default, Debug)]
pub struct Interface {
    /// What travels beside messages.
    pub attributes: BTreeMap<String, AttributeId>,
    /// Notices that go up.
    pub up: BTreeMap<String, NoticeId>,
    /// Notices that go down.
    pub down: BTreeMap<String, NoticeId>,
}

impl Interface {
    /// Adds what another has; of two things of one name the first stays.
    pub fn add(&mut self, other: &Interface) {
        for (name, attribute) in &other.attributes {
            self.attributes.entry(name.clone()).or_insert(*attribute);
        }
        for (name, notice) in &other.up {
            self.up.entry(name.clone()).or_insert(*notice);
        }
        for (name, notice) in &other.down {
            self.down.entry(name.clone()).or_insert(*notice);
        }
    }
}

impl<'a> Services<'a> {
    /// All that the files declare.
    pub fn collect(files: &'a Files, diagnostics: &mut Vec<Diagnostic>) -> Services<'a> {
        let mut services = Services {
            files,
            list: Vec::new(),
            attributes: Vec::new(),
            notices: Vec::new(),
            enums: Vec::new(),
        };
        for unit in files.in_order_of_use() {
            for source in &files.unit(unit).services {
                services.list.push(Declared {
                    source,
                    unit,
                    extends: None,
                });
            }
        }
        for place in 0..services.list.len() {
            let Declared { source, unit, .. } = services.list[place];
            let Some(name) = &source.extends else {
                continue;
            };
            let found = services.find(unit, &name.text);
            let service = ServiceId(place as u32);
            match found {
                // A service that would extend itself extends nothing.
                Some(base) if !services.lineage(base).contains(&service) => {
                    services.list[place].extends = Some(base);
                }
                Some(_) | None => diagnostics.push(services.unknown(unit, name)),
            }
        }
        services
    }

    /// The service that a name stands for in one unit.
    pub fn find(&self, unit: UnitId, name: &str) -> Option<ServiceId> {
        self.files.visible(unit).into_iter().find_map(|seen| {
            let same = |other: &Declared| other.unit == seen && other.source.name.is(name);
            let place = self.list.iter().position(same)?;
            Some(ServiceId(place as u32))
        })
    }

    /// The names of all services that can be named in a unit.
    pub fn names(&self, unit: UnitId) -> Vec<String> {
        let visible = self.files.visible(unit);
        let seen = self.list.iter().filter(|one| visible.contains(&one.unit));
        seen.map(|one| one.source.name.text.clone()).collect()
    }

    /// All words that services declare, each with the name of its service.
    pub fn offered(&self) -> Vec<(String, String)> {
        let words = self.list.iter().flat_map(|one| {
            let items = one.source.items.iter();
            items.map(|item| {
                let word = match item {
                    ast::ServiceItem::Type(item) => &item.name,
                    ast::ServiceItem::Enum(item) => &item.name,
                    ast::ServiceItem::Attribute(item) => &item.name,
                    ast::ServiceItem::Function(item) => &item.name,
                    ast::ServiceItem::Notice(item) => &item.name,
                };
                (word.text.clone(), one.source.name.text.clone())
            })
        });
        words.collect()
    }

    /// What to say of a name that stands for no service.
    pub fn unknown(&self, unit: UnitId, name: &ast::Name) -> Diagnostic {
        let title = format!("there is no service `{name}`");
        let visible = self.files.visible(unit);
        let known = self
            .list
            .iter()
            .filter(|other| visible.contains(&other.unit));
        let known: Vec<_> = known.map(|other| &*other.source.name.text).collect();
        let diagnostic = Diagnostic::error(Id::UnknownService, title, name.span, "");
        let diagnostic = super::names::suggest(diagnostic, &name.text, &known);
        self.files
            .suggest_use(diagnostic, &name.text)
            .why("A layer names services that this file, or a file that it uses, declares.")
    }

    /// The service of layers that name none.
    pub fn messages(&self) -> ServiceId {
        let unit = self.files.built_in();
        let found = self.find(unit, "messages");
        found.expect("the built-in service is among the files")
    }

    /// Returns true if links provide it.
    pub fn is_of_links(&self, service: ServiceId) -> bool {
        self.name(service) == OF_LINKS
    }

    /// What it is called.
    pub fn name(&self, service: ServiceId) -> &'a str {
        &self.source(service).name.text
    }

    /// As it is written.
    pub fn source(&self, service: ServiceId) -> &'a ast::Service {
        self.list[service.0 as usize].source
    }

    /// The service, what it extends, what that extends, and so on.
    fn lineage(&self, service: ServiceId) -> Vec<ServiceId> {
        let extends = |service: &ServiceId| self.list[service.0 as usize].extends;
        std::iter::successors(Some(service), extends)
            .take(self.list.len())
            .collect()
    }

    /// Whether who provides the one gives what is needed of the other.
    pub fn gives(&self, provided: ServiceId, required: ServiceId) -> bool {
        required == self.messages() || self.lineage(provided).contains(&required)
    }

    /// The types that a service leaves to whoever provides it.
    pub fn open_types(&self, service: ServiceId) -> Vec<&'a ast::Name> {
        let lineage = self.lineage(service).into_iter();
        let items = lineage.flat_map(|service| &self.source(service).items);
        items
            .filter_map(|item| match item {
                ast::ServiceItem::Type(definition) if definition.of.is_none() => {
                    Some(&definition.name)
                }
                ast::ServiceItem::Type(_)
                | ast::ServiceItem::Enum(_)
                | ast::ServiceItem::Attribute(_)
                | ast::ServiceItem::Function(_)
                | ast::ServiceItem::Notice(_) => None,
            })
            .collect()
    }

    /// What the provider of a service can be asked.
    pub fn functions(&self, service: ServiceId) -> Vec<&'a ast::Function> {
        let lineage = self.lineage(service).into_iter();
        let items = lineage.flat_map(|service| &self.source(service).items);
        items
            .filter_map(|item| match item {
                ast::ServiceItem::Function(function) => Some(function),
                ast::ServiceItem::Type(_)
                | ast::ServiceItem::Enum(_)
                | ast::ServiceItem::Attribute(_)
                | ast::ServiceItem::Notice(_) => None,
            })
            .collect()
    }

    /// The words for types of a service, with what it leaves open bound.
    pub fn types(
        &mut self,
        context: &mut Context,
        words: &Words,
        service: ServiceId,
        bound: &BTreeMap<String, Type>,
    ) -> BTreeMap<String, Type> {
        let mut scope = words.of_unit(self.list[service.0 as usize].unit);
        for service in self.lineage(service).into_iter().rev() {
            for item in &self.source(service).items {
                match item {
                    ast::ServiceItem::Type(definition) => {
                        let name = definition.name.text.clone();
                        let of = match &definition.of {
                            Some(of) => check_value_type(context, &scope, of),
                            None => bound.get(&name).cloned().unwrap_or(Type::Nothing),
                        };
                        scope.types.insert(name, of);
                    }
                    ast::ServiceItem::Enum(source) => {
                        let id = self.declared_enum(context, &scope, service, source);
                        let name = source.name.text.clone();
                        scope.types.insert(name, Type::Enum(id));
                    }
                    ast::ServiceItem::Attribute(_)
                    | ast::ServiceItem::Function(_)
                    | ast::ServiceItem::Notice(_) => {}
                }
            }
        }
        scope.types
    }

    /// What can be said through a joint of this service, where its open types are `bound` so.
    pub fn interface(
        &mut self,
        context: &mut Context,
        words: &Words,
        service: ServiceId,
        bound: &BTreeMap<String, Type>,
    ) -> Interface {
        let mut interface = Interface::default();
        let mut attributes = Vec::new();
        let mut scope = words.of_unit(self.list[service.0 as usize].unit);
        scope.types = self.types(context, words, service, bound);
        for service in self.lineage(service).into_iter().rev() {
            for item in &self.source(service).items {
                match item {
                    ast::ServiceItem::Attribute(source) => {
                        let id = self.attribute(context, &scope, service, source);
                        let name = source.name.text.clone();
                        let kind = context.program.attributes[id.at()].kind.clone();
                        attributes.push((&source.name, kind));
                        interface.attributes.insert(name, id);
                    }
                    ast::ServiceItem::Notice(source) => {
                        let id = self.notice(context, &scope, service, source);
                        let name = source.name.text.clone();
                        match source.direction {
                            Some(ast::Direction::Up) => interface.up.insert(name, id),
                            Some(ast::Direction::Down) => interface.down.insert(name, id),
                            None => {
                                context.report(without_direction(source));
                                None
                            }
                        };
                    }
                    ast::ServiceItem::Type(_)
                    | ast::ServiceItem::Enum(_)
                    | ast::ServiceItem::Function(_) => {}
                }
            }
        }
        let attributes = attributes.iter().map(|(name, kind)| (*name, kind));
        refuse_beside(attributes, context.diagnostics);
        interface
    }

    fn declared_enum(
        &mut self,
        context: &mut Context,
        scope: &Scope,
        service: ServiceId,
        source: &ast::Enum,
    ) -> EnumId {
        let same = |(owner, id): &&(ServiceId, EnumId)| {
            *owner == service && context.program.enums[id.at()].name == source.name.text
        };
        if let Some((_, id)) = self.enums.iter().find(same) {
            return *id;
        }
        let owner = self.name(service);
        let id = declare_enum(context, scope, owner, source);
        self.enums.push((service, id));
        id
    }

    fn attribute(
        &mut self,
        context: &mut Context,
        scope: &Scope,
        service: ServiceId,
        source: &ast::Attribute,
    ) -> AttributeId {
        let kind = check_value_type(context, scope, &source.of);
        let same = |(owner, id): &&(ServiceId, AttributeId)| {
            let other = &context.program.attributes[id.at()];
            *owner == service && other.name == source.name.text && other.kind == kind
        };
        if let Some((_, id)) = self.attributes.iter().find(same) {
            return *id;
        }
        let owner = self.name(service);
        let id = declare_attribute(context, scope, owner, source, kind);
        self.attributes.push((service, id));
        id
    }

    fn notice(
        &mut self,
        context: &mut Context,
        scope: &Scope,
        service: ServiceId,
        source: &ast::Notice,
    ) -> NoticeId {
        let notice = notice(context, scope, self.name(service), source);
        let kinds = |notice: &Notice| -> Vec<Type> {
            let fields = notice.parameters.iter();
            fields.map(|field| field.kind.clone()).collect()
        };
        let same = |(owner, id): &&(ServiceId, NoticeId)| {
            let other = &context.program.notices[id.at()];
            *owner == service && other.name == notice.name && kinds(other) == kinds(&notice)
        };
        if let Some((_, id)) = self.notices.iter().find(same) {
            return *id;
        }
        let id = NoticeId(context.program.notices.len() as u32);
        context.program.notices.push(notice);
        self.notices.push((service, id));
        id
    }
}

/// Adds an attribute to the program.
pub fn declare_attribute(
    context: &mut Context,
    scope: &Scope,
    owner: &str,
    source: &ast::Attribute,
    kind: Type,
) -> AttributeId {
    let default = source.default.as_ref().and_then(|default| {
        let value = check_expression(context, scope, default, Some(&kind));
        let folded = fold(context.program, &value);
        if folded.is_none() && value.result != Type::Nothing {
            context.report(super::names::not_constant(
                default.span,
                "the default of an attribute",
            ));
        }
        folded
    });
    let id = AttributeId(context.program.attributes.len() as u32);
    context.program.attributes.push(Attribute {
        name: source.name.text.clone(),
        owner: owner.to_string(),
        kind,
        default,
    });
    id
}

/// A notice with its types known.
pub fn notice(context: &mut Context, scope: &Scope, owner: &str, source: &ast::Notice) -> Notice {
    let parameters = source.parameters.iter().map(|parameter| Field {
        name: parameter.name.text.clone(),
        kind: check_value_type(context, scope, &parameter.of),
        initial: None,
        once: false,
        has_gaps: false,
    });
    let parameters: Vec<Field> = parameters.collect();
    let names = source.parameters.iter().map(|parameter| &parameter.name);
    let kinds = parameters.iter().map(|parameter| &parameter.kind);
    refuse_beside(names.zip(kinds), context.diagnostics);
    Notice {
        name: source.name.text.clone(),
        owner: owner.to_string(),
        message: source.message.is_some(),
        parameters,
    }
}

/// The parameters of a notice, as a handler of it has them: the message first.
pub fn locals(notice: &Notice) -> Vec<Local> {
    let message = notice.message.then(message_local);
    let others = notice.parameters.iter().map(|field| Local {
        name: field.name.clone(),
        kind: field.kind.clone(),
    });
    message.into_iter().chain(others).collect()
}

/// The message of a `send`, a `deliver`, or a notice that carries one.
pub fn message_local() -> Local {
    Local {
        name: "message".to_string(),
        kind: Type::Message,
    }
}

fn without_direction(source: &ast::Notice) -> Diagnostic {
    let title = format!("`{}` has no direction", source.name);
    Diagnostic::error(Id::NoDirection, title, source.span, "")
        .why(
            "A notice of a service goes `up`, to the layers that require the service, or `down`, \
            to the layer that provides it.",
        )
        .help("add `up` or `down` after it")
}

/// A scope for what stands in no entity.
pub fn bare_scope() -> Scope {
    Scope::new(EntityId(0), KindId(0))
}
