//! Which names a part of a syntax tree mentions, and how: in, items, layers and stacks; out,
//! [`Mentions`]. Names are not resolved, so what only might be a use counts as one.
//!
//! ```text
//! held.push(message)     operations  held: push
//! next += 1              written     next
//! let n = rows[next]     read        rows, next
//! start retry after 1 s  started     retry
//! ```

use crate::syntax::loom::ast;
use std::collections::{BTreeMap, BTreeSet};

/// The names that were mentioned. Names of header fields and of attributes are left out, since
/// they stand behind `header.` and `message.` and in `with`.
#[derive(Default)]
pub(super) struct Mentions {
    /// Names whose value is used, or that are called.
    pub read: BTreeSet<String>,
    /// Names that are assigned to.
    pub written: BTreeSet<String>,
    /// By the name before the dot: the operations that are called on it.
    pub operations: BTreeMap<String, BTreeSet<String>>,
    /// Names of timers that are started.
    pub started: BTreeSet<String>,
    /// Names of events that a handler, a process or a search by expiry names.
    pub heard: BTreeSet<String>,
    /// Whether instances end by a statement.
    pub ends: bool,
}

impl Mentions {
    /// Whether a name stands for a value somewhere.
    pub fn names(&self, name: &str) -> bool {
        self.read.contains(name) || self.operations.contains_key(name)
    }

    /// Adds those of a layer: its parameters and its items.
    pub fn layer(&mut self, layer: &ast::Layer) {
        for parameter in &layer.parameters {
            self.layer_parameter(parameter);
        }
        layer.items.iter().for_each(|item| self.item(item));
    }

    /// The condition of a parameter says nothing of whether the layer uses it.
    fn layer_parameter(&mut self, parameter: &ast::Parameter) {
        let had = self.read.contains(&parameter.name.text);
        self.parameter(parameter);
        if !had {
            self.read.remove(&parameter.name.text);
        }
    }

    /// Adds those of a stack.
    pub fn stack(&mut self, stack: &ast::Stack) {
        let mut nodes: Vec<&ast::Node> = stack.nodes.iter().collect();
        while let Some(node) = nodes.pop() {
            nodes.extend(&node.above);
            self.expressions(&node.key);
            if let ast::NodeKind::Layer(used) = &node.kind {
                let values = used.arguments.iter().map(|argument| &argument.value);
                self.expressions(values);
            }
        }
    }

    /// Adds those of a service.
    pub fn service(&mut self, service: &ast::Service) {
        for item in &service.items {
            match item {
                ast::ServiceItem::Type(item) => self.types(&item.of),
                ast::ServiceItem::Enum(item) => self.enumeration(item),
                ast::ServiceItem::Attribute(item) => {
                    self.of_type(&item.of);
                    self.expressions(&item.default);
                }
                ast::ServiceItem::Function(item) => self.function(item),
                ast::ServiceItem::Notice(item) => self.parameters(&item.parameters),
            }
        }
    }

    /// Adds those of an item.
    pub fn item(&mut self, item: &ast::Item) {
        match item {
            ast::Item::Constant(item) => {
                self.types(&item.of);
                self.expression(&item.value);
            }
            ast::Item::Type(item) => self.types(&item.of),
            ast::Item::Enum(item) => self.enumeration(item),
            ast::Item::Record(item) => self.fields(&item.fields),
            ast::Item::Attribute(item) => {
                self.of_type(&item.of);
                self.expressions(&item.default);
            }
            ast::Item::Header(item) => self.header(item),
            ast::Item::Instance(item) => {
                self.parameters(&item.keys);
                self.expressions(&item.capacity);
                self.members(&item.members);
                item.run.iter().for_each(|run| self.parallel(run));
            }
            ast::Item::Filter(item) => self.filter(item),
            ast::Item::Function(item) => self.function(item),
            ast::Item::Process(item) => self.process(item),
            ast::Item::Finder(item) => {
                for target in &item.targets {
                    self.read(&target.kind);
                    self.expressions(&target.keys);
                    self.expressions(&target.condition);
                }
                self.block(&item.otherwise);
            }
            ast::Item::Handler(item) => self.handler(item),
        }
    }

    fn enumeration(&mut self, item: &ast::Enum) {
        self.of_type(&item.of);
        let numbers = item.values.iter().filter_map(|value| value.number.as_ref());
        self.expressions(numbers);
    }

    fn members(&mut self, members: &[ast::Member]) {
        for member in members {
            match member {
                ast::Member::Field(field) => self.fields(std::slice::from_ref(field)),
                ast::Member::Timer(_) => {}
                ast::Member::Signal(signal) => self.types(&signal.of),
                ast::Member::Notice(notice) => self.parameters(&notice.parameters),
                ast::Member::Process(process) => self.process(process),
                ast::Member::Handler(handler) => self.handler(handler),
                ast::Member::Function(function) => self.function(function),
            }
        }
    }

    fn fields(&mut self, fields: &[ast::Field]) {
        for field in fields {
            self.of_type(&field.of);
            self.expressions(&field.start);
        }
    }

    /// Adds those of a process.
    pub fn process(&mut self, process: &ast::Process) {
        self.parameters(&process.parameters);
        self.members(&process.members);
        self.block(&process.body);
    }

    fn handler(&mut self, handler: &ast::Handler) {
        self.event(&handler.event);
        self.expressions(&handler.condition);
        self.block(&handler.body);
    }

    /// Adds those of a function.
    pub fn function(&mut self, function: &ast::Function) {
        self.parameters(&function.parameters);
        self.types(&function.returns);
        match &function.body {
            ast::FunctionBody::Promised
            | ast::FunctionBody::External
            | ast::FunctionBody::Runtime => {}
            ast::FunctionBody::Expression(value) => self.expression(value),
            ast::FunctionBody::Block(block) => self.block(block),
        }
    }

    fn filter(&mut self, filter: &ast::Filter) {
        self.parameters(&filter.parameters);
        self.of_type(&filter.unit);
        self.fields(&filter.fields);
        self.block(&filter.each);
        filter.tail.iter().for_each(|block| self.block(block));
        filter.finish.iter().for_each(|block| self.block(block));
        if let Some(result) = &filter.result {
            self.of_type(&result.of);
            self.expression(&result.value);
            for (one, other) in &result.same {
                self.expressions([one, other]);
            }
        }
    }

    fn parameters(&mut self, parameters: &[ast::Parameter]) {
        parameters.iter().for_each(|it| self.parameter(it));
    }

    fn parameter(&mut self, parameter: &ast::Parameter) {
        self.of_type(&parameter.of);
        self.expressions(&parameter.default);
        self.expressions(&parameter.condition);
    }

    fn header(&mut self, header: &ast::Header) {
        for part in &header.parts {
            match part {
                ast::HeaderPart::Field(field) => self.header_field(field),
                ast::HeaderPart::Options(options) => {
                    self.of_type(&options.by);
                    for case in &options.cases {
                        self.expression(&case.value);
                        if let ast::OptionKind::Fields { fields, .. } = &case.kind {
                            fields.iter().for_each(|field| self.header_field(field));
                        }
                    }
                    let others = options.otherwise.iter().flatten();
                    others.for_each(|field| self.header_field(field));
                }
            }
        }
    }

    fn header_field(&mut self, field: &ast::HeaderField) {
        self.of_type(&field.of);
        self.expressions(&field.constraint);
        self.expressions(&field.condition);
        match &field.rule {
            None => {}
            Some(ast::HeaderRule::Written(value) | ast::HeaderRule::Required(value)) => {
                self.expression(value);
            }
            Some(ast::HeaderRule::Counts { unit, .. }) => self.expressions(unit),
            Some(ast::HeaderRule::Checks {
                filter,
                absent,
                left,
                ..
            }) => {
                self.expression(filter);
                self.expressions(absent);
                self.expressions(left);
            }
        }
    }

    fn types(&mut self, of: &Option<ast::Type>) {
        of.iter().for_each(|of| self.of_type(of));
    }

    fn of_type(&mut self, of: &ast::Type) {
        match &of.kind {
            ast::TypeKind::Named(_) | ast::TypeKind::Enum(_) => {}
            ast::TypeKind::Optional(inner) => self.of_type(inner),
            ast::TypeKind::Container {
                element,
                capacity,
                by,
                start,
                ..
            } => {
                let inner = element.iter().chain(by);
                inner.for_each(|of| self.of_type(of));
                capacity.iter().for_each(|most| self.expression(most));
                self.expressions(start);
            }
        }
    }

    fn read(&mut self, name: &ast::Name) {
        self.read.insert(name.text.clone());
    }

    fn read_path(&mut self, path: &ast::Path) {
        path.names.iter().for_each(|name| self.read(name));
    }

    fn event(&mut self, event: &ast::Event) {
        for path in &event.names {
            self.read_path(path);
            let last = path.names.last();
            self.heard.extend(last.map(|name| name.text.clone()));
        }
    }

    fn parallel(&mut self, parallel: &ast::Parallel) {
        for branch in &parallel.branches {
            match branch {
                ast::ParallelBranch::Block(block) => self.block(block),
                ast::ParallelBranch::Process { name, arguments } => {
                    self.read_path(name);
                    self.expressions(arguments);
                }
            }
        }
    }

    fn delay(&mut self, delay: &ast::Delay) {
        self.expressions(&delay.times);
        self.event(&delay.event);
        self.expressions(&delay.condition);
    }

    /// Adds those of a block.
    fn block(&mut self, block: &ast::Block) {
        for statement in &block.statements {
            self.statement(&statement.kind);
            let blocks = statement.kind.blocks().into_iter();
            blocks.for_each(|block| self.block(block));
        }
    }

    fn statement(&mut self, statement: &ast::StatementKind) {
        match statement {
            ast::StatementKind::Let { value, .. }
            | ast::StatementKind::Require {
                condition: value, ..
            }
            | ast::StatementKind::Call { call: value, .. }
            | ast::StatementKind::Repeat { times: value, .. }
            | ast::StatementKind::Return(value)
            | ast::StatementKind::Yield(value) => self.expression(value),
            ast::StatementKind::Assign { place, value, .. } => {
                self.place(place);
                self.expression(value);
            }
            ast::StatementKind::If { branches, .. } => {
                self.expressions(branches.iter().map(|branch| &branch.condition));
            }
            ast::StatementKind::Match { subject, cases, .. } => {
                self.expression(subject);
                self.expressions(cases.iter().map(|case| &case.value));
            }
            ast::StatementKind::For { over, .. } => match over {
                ast::ForRange::Numbers { from, to, at_most } => {
                    self.expressions([from, to].into_iter().chain(at_most));
                }
                ast::ForRange::Elements(elements) => self.expression(elements),
            },
            ast::StatementKind::Send(output) | ast::StatementKind::Deliver(output) => {
                let number = output.to.as_ref().and_then(|joint| joint.number.as_ref());
                self.expressions(number);
                self.expression(&output.message);
                self.settings(&output.with);
            }
            ast::StatementKind::Tell {
                target,
                arguments,
                with,
                ..
            } => {
                if let ast::TellTarget::Named(joint) = target {
                    self.read(&joint.name);
                    self.expressions(&joint.number);
                }
                self.expressions(arguments);
                self.settings(with);
            }
            ast::StatementKind::Drop { what, .. } => {
                if let ast::ExpressionKind::Name(name) = &what.kind {
                    self.operation(name, "drop");
                }
                self.expression(what);
            }
            ast::StatementKind::Consume(name) => self.read(name),
            ast::StatementKind::End(instance) => {
                self.ends = true;
                instance.iter().for_each(|name| self.read(name));
            }
            ast::StatementKind::Start { timer, after } => {
                let last = timer.names.last();
                self.started.extend(last.map(|name| name.text.clone()));
                self.expression(after);
            }
            ast::StatementKind::Emit { signal, value } => {
                self.read_path(signal);
                self.expressions(value);
            }
            ast::StatementKind::Await(cases) => self.delays(cases),
            ast::StatementKind::Run {
                parallel,
                unless,
                until,
                ..
            } => {
                self.parallel(parallel);
                unless.iter().for_each(|event| self.event(event));
                self.delays(until);
            }
            ast::StatementKind::Every { delay, .. } => self.delay(delay),
            ast::StatementKind::Count(_)
            | ast::StatementKind::Again
            | ast::StatementKind::Stop(_)
            | ast::StatementKind::Pause
            | ast::StatementKind::Loop(_)
            | ast::StatementKind::Trap { .. }
            | ast::StatementKind::Exit(_) => {}
        }
    }

    fn delays(&mut self, cases: &[ast::Case]) {
        cases.iter().for_each(|case| self.delay(&case.delay));
    }

    fn settings(&mut self, settings: &[ast::Setting]) {
        for setting in settings {
            match &setting.value {
                ast::SettingValue::Value(value) => self.expression(value),
                ast::SettingValue::Fields(fields) => self.settings(fields),
            }
            self.expressions(&setting.condition);
        }
    }

    /// What is assigned to, and what says where that is.
    fn place(&mut self, place: &ast::Expression) {
        match &place.kind {
            ast::ExpressionKind::Name(name) => {
                self.written.insert(name.text.clone());
            }
            ast::ExpressionKind::Field { of, name } => {
                if !is_of_message(place) {
                    self.written.insert(name.text.clone());
                }
                // A field of an instance that was found, or of a record that is a field.
                self.place(of);
            }
            ast::ExpressionKind::Index { of, index } => {
                self.place(of);
                self.expression(index);
            }
            _ => self.expression(place),
        }
    }

    /// Adds those of several values.
    fn expressions<'a>(&mut self, of: impl IntoIterator<Item = &'a ast::Expression>) {
        of.into_iter().for_each(|value| self.expression(value));
    }

    /// Adds those of a value.
    fn expression(&mut self, source: &ast::Expression) {
        match &source.kind {
            ast::ExpressionKind::Name(name) => self.read(name),
            ast::ExpressionKind::List(joints) => self.expressions(joints),
            ast::ExpressionKind::Field { of, name } => {
                if !is_of_message(source) {
                    self.read(name);
                }
                self.expression(of);
            }
            ast::ExpressionKind::Call {
                function,
                arguments,
            } => {
                self.called(function);
                self.expressions(arguments);
            }
            ast::ExpressionKind::Index { of, index } => self.expressions([&**of, index]),
            ast::ExpressionKind::Group(inner)
            | ast::ExpressionKind::Share(inner)
            | ast::ExpressionKind::Unary { operand: inner, .. } => self.expression(inner),
            ast::ExpressionKind::Cast { operand, to } => {
                self.expression(operand);
                self.of_type(to);
            }
            ast::ExpressionKind::Binary { left, right, .. } => self.expressions([&**left, right]),
            ast::ExpressionKind::Else { value, otherwise } => {
                self.expressions([&**value, otherwise]);
            }
            ast::ExpressionKind::Through { data, filter } => self.expressions([&**data, filter]),
            ast::ExpressionKind::If {
                condition,
                then,
                otherwise,
                ..
            } => self.expressions([&**condition, then, otherwise]),
            ast::ExpressionKind::Find(key) | ast::ExpressionKind::Create(key) => {
                self.read(&key.kind);
                self.expressions(&key.keys);
            }
            ast::ExpressionKind::FindByTimer { key, timer } => {
                self.read(&key.kind);
                self.expressions(&key.keys);
                let last = timer.names.last();
                self.heard.extend(last.map(|name| name.text.clone()));
            }
            ast::ExpressionKind::New { arguments, .. } => self.expressions(arguments),
            ast::ExpressionKind::Number(_)
            | ast::ExpressionKind::Duration(_)
            | ast::ExpressionKind::Boolean(_)
            | ast::ExpressionKind::None
            | ast::ExpressionKind::Now => {}
        }
    }

    fn operation(&mut self, container: &ast::Name, name: &str) {
        let operations = self.operations.entry(container.text.clone());
        operations.or_default().insert(name.to_string());
    }

    /// A function, or an operation of what stands before the dot.
    fn called(&mut self, function: &ast::Expression) {
        let ast::ExpressionKind::Field { of, name } = &function.kind else {
            return self.expression(function);
        };
        let container = match &of.kind {
            ast::ExpressionKind::Name(container) => container,
            ast::ExpressionKind::Field {
                of,
                name: container,
            } => {
                self.expression(of);
                container
            }
            _ => return self.expression(function),
        };
        self.operation(container, &name.text);
        // A function of a process is called by the same form.
        self.read(name);
    }
}

/// Whether a name behind a dot is that of a part of a header, or of an attribute of a message.
fn is_of_message(source: &ast::Expression) -> bool {
    match &source.kind {
        ast::ExpressionKind::Field { of, .. } => is_of_message(of),
        ast::ExpressionKind::Name(name) => name.is("header") || name.is("message"),
        _ => false,
    }
}
