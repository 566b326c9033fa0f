//! The names of a file: in, its syntax tree; out, the words that it declares, and those that
//! must stay, since the compiler, the runtime or the other end knows them.

use stackloom::syntax::loom::ast;
use std::collections::BTreeSet;

/// Names, by their words.
pub type Words = BTreeSet<String>;

/// Adds the names that must stay: services, attributes, notices, functions of the runtime, and
/// the layers of slots with their parameters, of which both ends compare a digest.
pub fn kept(words: &mut Words, file: &ast::File) {
    let mut add = |name: &ast::Name| {
        words.insert(name.text.clone());
    };
    for declaration in &file.declarations {
        match declaration {
            ast::Declaration::Service(service) => {
                add(&service.name);
                for item in &service.items {
                    match item {
                        ast::ServiceItem::Attribute(item) => add(&item.name),
                        ast::ServiceItem::Notice(item) => add(&item.name),
                        ast::ServiceItem::Type(_)
                        | ast::ServiceItem::Enum(_)
                        | ast::ServiceItem::Function(_) => {}
                    }
                }
            }
            ast::Declaration::Layer(layer) => {
                let items = layer.items.iter();
                items.for_each(|item| kept_of_item(&mut add, item));
            }
            ast::Declaration::Item(item) => kept_of_item(&mut add, item),
            ast::Declaration::Stack(stack) => kept_of_nodes(&mut add, &stack.nodes),
            ast::Declaration::Policy(_) => {}
        }
    }
}

fn kept_of_nodes(add: &mut impl FnMut(&ast::Name), nodes: &[ast::Node]) {
    for node in nodes {
        if let ast::NodeKind::Slot(slot) = &node.kind {
            for layer in slot.variants.iter().flatten() {
                add(&layer.layer);
                layer
                    .arguments
                    .iter()
                    .for_each(|argument| add(&argument.name));
            }
        }
        kept_of_nodes(add, &node.above);
    }
}

fn kept_of_item(add: &mut impl FnMut(&ast::Name), item: &ast::Item) {
    match item {
        ast::Item::Attribute(item) => add(&item.name),
        ast::Item::Function(item) if matches!(item.body, ast::FunctionBody::Runtime) => {
            add(&item.name);
        }
        ast::Item::Instance(instance) => {
            for member in &instance.members {
                if let ast::Member::Notice(notice) = member {
                    add(&notice.name);
                }
            }
        }
        _ => {}
    }
}

/// Adds the names of layers, functions, instances, fields, timers, signals, processes, parameters,
/// constants and locals.
pub fn declared(words: &mut Words, file: &ast::File) {
    let mut names = Names { words };
    for declaration in &file.declarations {
        match declaration {
            ast::Declaration::Service(service) => {
                for item in &service.items {
                    match item {
                        ast::ServiceItem::Function(item) => names.function(item),
                        ast::ServiceItem::Notice(item) => names.parameters(&item.parameters),
                        ast::ServiceItem::Type(item) => names.add(&item.name),
                        ast::ServiceItem::Enum(item) => names.enumeration(item),
                        ast::ServiceItem::Attribute(_) => {}
                    }
                }
            }
            ast::Declaration::Layer(layer) => {
                names.add(&layer.name);
                names.parameters(&layer.parameters);
                layer.uses.iter().for_each(|joint| names.add(&joint.name));
                let joints = layer.requires.iter();
                joints.for_each(|joint| names.add_all(&joint.joint));
                layer.items.iter().for_each(|item| names.item(item));
            }
            ast::Declaration::Item(item) => names.item(item),
            ast::Declaration::Stack(_) | ast::Declaration::Policy(_) => {}
        }
    }
}

/// Adds to words what a declaration names.
struct Names<'w> {
    words: &'w mut Words,
}

impl Names<'_> {
    fn add(&mut self, name: &ast::Name) {
        self.words.insert(name.text.clone());
    }

    fn add_all<'n>(&mut self, names: impl IntoIterator<Item = &'n ast::Name>) {
        names.into_iter().for_each(|name| self.add(name));
    }

    fn item(&mut self, item: &ast::Item) {
        match item {
            ast::Item::Constant(item) => self.add(&item.name),
            ast::Item::Type(item) => self.add(&item.name),
            ast::Item::Enum(item) => self.enumeration(item),
            ast::Item::Record(item) => {
                self.add(&item.name);
                self.fields(&item.fields);
            }
            ast::Item::Attribute(_) => {}
            ast::Item::Header(item) => self.header(item),
            ast::Item::Instance(item) => {
                if let ast::InstanceKind::Child(name) = &item.kind {
                    self.add(name);
                }
                self.parameters(&item.keys);
                self.members(&item.members);
            }
            ast::Item::Filter(item) => {
                self.add(&item.name);
                self.parameters(&item.parameters);
                self.fields(&item.fields);
                let blocks = [Some(&item.each), item.tail.as_ref(), item.finish.as_ref()];
                let blocks = blocks.into_iter().flatten();
                blocks.for_each(|block| self.block(block));
            }
            ast::Item::Function(item) => self.function(item),
            ast::Item::Process(item) => self.process(item),
            ast::Item::Finder(item) => self.block(&item.otherwise),
            ast::Item::Handler(item) => self.handler(item),
        }
    }

    fn enumeration(&mut self, item: &ast::Enum) {
        self.add(&item.name);
        self.add_all(item.values.iter().map(|value| &value.name));
        self.add_all(&item.otherwise);
    }

    fn header(&mut self, header: &ast::Header) {
        self.add_all(&header.name);
        for part in &header.parts {
            match part {
                ast::HeaderPart::Field(field) => self.add(&field.name),
                ast::HeaderPart::Options(options) => {
                    self.add_all(options.names());
                    for case in &options.cases {
                        if let ast::OptionKind::Fields { fields, .. } = &case.kind {
                            self.add_all(fields.iter().map(|field| &field.name));
                        }
                    }
                }
            }
        }
    }

    fn members(&mut self, members: &[ast::Member]) {
        for member in members {
            match member {
                ast::Member::Field(field) => self.fields(std::slice::from_ref(field)),
                ast::Member::Timer(timer) => self.add(&timer.name),
                ast::Member::Signal(signal) => self.add(&signal.name),
                ast::Member::Notice(notice) => self.parameters(&notice.parameters),
                ast::Member::Process(process) => self.process(process),
                ast::Member::Handler(handler) => self.handler(handler),
                ast::Member::Function(function) => self.function(function),
            }
        }
    }

    fn fields(&mut self, fields: &[ast::Field]) {
        for field in fields {
            self.add(&field.name);
            if let ast::TypeKind::Enum(values) = &field.of.kind {
                self.add_all(values);
            }
        }
    }

    fn parameters(&mut self, parameters: &[ast::Parameter]) {
        self.add_all(parameters.iter().map(|parameter| &parameter.name));
    }

    fn function(&mut self, function: &ast::Function) {
        self.add(&function.name);
        self.parameters(&function.parameters);
        if let ast::FunctionBody::Block(block) = &function.body {
            self.block(block);
        }
    }

    fn process(&mut self, process: &ast::Process) {
        self.add(&process.name);
        self.parameters(&process.parameters);
        self.members(&process.members);
        self.block(&process.body);
    }

    fn handler(&mut self, handler: &ast::Handler) {
        self.add_all(&handler.event.bindings);
        self.block(&handler.body);
    }

    fn block(&mut self, block: &ast::Block) {
        for statement in &block.statements {
            match &statement.kind {
                ast::StatementKind::Let { name, .. }
                | ast::StatementKind::For { name, .. }
                | ast::StatementKind::Trap { name, .. } => self.add(name),
                ast::StatementKind::Await(cases) => self.cases(cases),
                ast::StatementKind::Run { until, .. } => self.cases(until),
                ast::StatementKind::Every { delay, .. } => self.add_all(&delay.event.bindings),
                _ => {}
            }
            let blocks = statement.kind.blocks().into_iter();
            blocks.for_each(|block| self.block(block));
        }
    }

    fn cases(&mut self, cases: &[ast::Case]) {
        self.add_all(cases.iter().flat_map(|case| &case.delay.event.bindings));
    }
}
