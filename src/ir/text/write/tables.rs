//! The tables of a module -> text.

use super::line;
use super::operation::{digits, operation, place_of, type_of};
use crate::ir::interface::{
    Enum, Export, Foreign, Given, Home, Link, Listening, Memory, Named, Notice, Numbered, Opaque,
    Opening, Port, SettingOfHost, Shape,
};
use crate::ir::text::lexer::quote;
use crate::ir::text::names::{Names, Table, name};
use crate::ir::{
    Attribute, FieldId, FunctionId, Kernel, Kind, KindId, Lives, Module, Op, Stored, Type,
};

/// The text of all tables.
pub fn tables(module: &Module, names: &Names) -> String {
    let mut writer = Writer {
        names,
        out: String::new(),
    };
    writer.line(0, &format!("stack {}", name(&module.name)));
    for line in &module.docs {
        writer.line(0, &format!("doc {}", quote(line)));
    }
    if module.headroom > 0 {
        writer.line(0, &format!("headroom {}", module.headroom));
    }
    if let Some(most) = module.fast_paths {
        writer.line(0, &format!("fast_paths {most}"));
    }
    for (reaction, path) in &module.left_out {
        writer.line(0, &format!("left_out {} {path}", name(reaction)));
    }
    writer.memory(&module.memory);
    if let Some(id) = module.settings_hold {
        writer.function(0, "settings_hold", id);
    }
    if let Some(id) = module.starts {
        writer.function(0, "starts", id);
    }
    writer.short(module);
    for one in &module.enums {
        writer.enumeration(one);
    }
    for (at, kind) in module.kinds.iter().enumerate() {
        writer.kind(KindId(at as u32), kind);
    }
    for opaque in &module.opaques {
        writer.opaque(opaque);
    }
    for foreign in &module.foreigns {
        writer.foreign(foreign);
    }
    for export in &module.exports {
        writer.export(export);
    }
    for place in &module.watched {
        writer.gap();
        writer.line(0, &format!("watched {}", place_of(names, *place)));
    }
    for kernel in &module.kernels {
        writer.kernel(kernel);
    }
    for cache in &module.caches {
        let kind = cache.kind.map(|kind| names.kinds.reference(kind.0));
        let kind = kind.map(|kind| format!("[{kind}]")).unwrap_or_default();
        let function = names.functions.reference(cache.remembers.0);
        writer.gap();
        writer.line(
            0,
            &format!("cache {}{kind} = {function}", name(&cache.name)),
        );
    }
    for link in &module.links {
        writer.link(link);
    }
    for (port, down) in module.ports.iter().zip(&names.down) {
        writer.port(port, down);
    }
    for listening in &module.listening {
        writer.listening(listening);
    }
    writer.out
}

struct Writer<'w> {
    names: &'w Names,
    out: String,
}

impl Writer<'_> {
    fn line(&mut self, indent: usize, text: &str) {
        line(&mut self.out, indent, text, "");
    }

    fn gap(&mut self) {
        self.out.push('\n');
    }

    fn function(&mut self, indent: usize, word: &str, FunctionId(id): FunctionId) {
        let function = self.names.functions.reference(id);
        self.line(indent, &format!("{word} {function}"));
    }

    fn named(&mut self, indent: usize, word: &str, text: &str) {
        self.line(indent, &format!("{word} {}", name(text)));
    }

    fn memory(&mut self, memory: &Memory) {
        if *memory == Memory::default() {
            return;
        }
        self.line(0, "memory {");
        let all = [
            ("room", memory.room),
            ("buffers", memory.buffers),
            ("reserve", memory.reserve),
            ("outputs", memory.outputs),
            ("events", memory.events),
            ("least_events", memory.least_events),
            ("kept", memory.kept),
        ];
        for (word, number) in all {
            self.line(2, &format!("{word} {number}"));
        }
        self.line(0, "}");
    }

    fn enumeration(&mut self, one: &Enum) {
        self.gap();
        self.line(0, &format!("enum {} u{} {{", name(&one.name), one.bits));
        for value in &one.values {
            let written = match value.digits {
                0 => String::new(),
                digits => format!(" digits {digits}"),
            };
            let number = digits(value.number);
            self.line(
                2,
                &format!("value {} = {number}{written}", name(&value.name)),
            );
        }
        self.line(0, "}");
    }

    fn given(&mut self, given: &SettingOfHost) {
        let parts = given.named.shape.parts();
        let default = given.default.iter().zip(parts);
        let default = default.map(|(value, of)| self.constant(value, of));
        let default = match default.collect::<Vec<String>>().join(", ") {
            none if none.is_empty() => none,
            default => format!(" = {default}"),
        };
        self.line(0, &format!("given {}{default}", named(&given.named)));
    }

    /// A constant of a type.
    fn constant(&self, value: &Op, of: Type) -> String {
        match value {
            Op::Number(bits, number) if of == Type::Int(*bits) => digits(*number),
            other => operation(self.names, other, &[]),
        }
    }

    /// Tables whose entries have a line each.
    fn short(&mut self, module: &Module) {
        if !module.given.is_empty() || !module.settings.is_empty() {
            self.gap();
        }
        for given in &module.given {
            self.given(given);
        }
        for setting in &module.settings {
            let of = type_of(self.names, setting.of);
            self.line(0, &format!("setting {}: {of}", name(&setting.name)));
        }
        if !module.attributes.is_empty() {
            self.gap();
        }
        for attribute in &module.attributes {
            self.attribute(attribute);
        }
        for (word, all) in [("reason", &module.reasons), ("counter", &module.counters)] {
            if !all.is_empty() {
                self.gap();
            }
            for one in all {
                self.named(0, word, one);
            }
        }
    }

    fn attribute(&mut self, attribute: &Attribute) {
        let mark = if attribute.is_mark { "mark " } else { "" };
        let own = name(&attribute.name);
        let of = type_of(self.names, attribute.of);
        let default = self.constant(&attribute.default, attribute.of);
        self.line(0, &format!("attribute {mark}{own}: {of} = {default}"));
    }

    fn kind(&mut self, id: KindId, kind: &Kind) {
        self.gap();
        let capacity = match kind.capacity {
            1 => String::new(),
            capacity => format!("[{capacity}]"),
        };
        let owner = match &kind.owner[..] {
            "" => String::new(),
            owner => format!(" of {}", name(owner)),
        };
        let lives = match kind.lives {
            Lives::Always => String::new(),
            Lives::Created => ", created".to_string(),
            Lives::With(other) => format!(", with {}", self.names.kinds.reference(other.0)),
        };
        let own = name(&kind.name);
        self.line(0, &format!("kind {own}{capacity}{owner}{lives} {{"));
        let in_order = kind.keys.windows(2).all(|two| two[0] < two[1]);
        for (at, field) in kind.fields.iter().enumerate() {
            let is_key = in_order && kind.keys.contains(&FieldId(at as u32));
            let word = if is_key { "key" } else { "field" };
            let lengths: Vec<String> = field.dimensions.iter().map(u32::to_string).collect();
            let lengths = match &lengths[..] {
                [] => String::new(),
                lengths => format!("[{}]", lengths.join(", ")),
            };
            let stored = self.stored(&field.stored);
            self.line(
                2,
                &format!("{word} {}{lengths}: {stored}", name(&field.name)),
            );
        }
        if !in_order {
            let keys = kind.keys.iter().map(|key| self.own_field(id, *key));
            let keys: Vec<String> = keys.collect();
            self.line(2, &format!("keys {}", keys.join(", ")));
        }
        for timer in &kind.timers {
            let handled = self.called(timer.expires);
            self.line(2, &format!("timer {}{handled}", name(&timer.name)));
        }
        if let Some(field) = kind.stands_on {
            let field = self.own_field(id, field);
            self.line(2, &format!("stands_on {field}"));
        }
        if let Some(reason) = kind.ended {
            let reason = self.names.reasons.reference(reason.0);
            self.line(2, &format!("ended {reason}"));
        }
        self.line(0, "}");
    }

    /// The function that is called, if there is one.
    fn called(&self, function: Option<FunctionId>) -> String {
        let called = function.map(|id| self.names.functions.reference(id.0));
        called.map_or_else(String::new, |it| format!(" calls {it}"))
    }

    fn own_field(&self, kind: KindId, FieldId(field): FieldId) -> String {
        let table = self.names.fields.get(kind.at());
        table.map_or_else(|| format!("#{field}"), |table| table.reference(field))
    }

    fn stored(&self, stored: &Stored) -> String {
        match stored {
            Stored::Value(of) => type_of(self.names, *of),
            Stored::Queue(item, count) => format!("queue {} {count}", self.types('[', item, ']')),
            Stored::Window(item, bits, count) => {
                format!("window {} i{bits} {count}", self.types('[', item, ']'))
            }
            Stored::Stream(bits, count) => format!("stream i{bits} {count}"),
            Stored::Set(count) => format!("set {count}"),
            Stored::Foreign(record) => format!("foreign {}", name(record)),
        }
    }

    fn types(&self, open: char, all: &[Type], close: char) -> String {
        let all = all.iter().map(|of| type_of(self.names, *of));
        let all: Vec<String> = all.collect();
        format!("{open}{}{close}", all.join(", "))
    }

    fn foreign(&mut self, foreign: &Foreign) {
        self.gap();
        let home = match foreign.home {
            Home::Host => "",
            Home::Reentrant => "reentrant ",
            Home::Runtime => "runtime ",
            Home::Program => "program ",
            Home::Constant => "constant ",
        };
        let parameters = foreign.parameters.iter().map(|(own, given)| {
            let given = match given {
                Given::Value(value) => shape(value),
                Given::Data => "data".to_string(),
                Given::Rewritten => "rewritten".to_string(),
                Given::State(record) => format!("state {}", name(record)),
                Given::Changed(value) => format!("changed {}", shape(value)),
            };
            format!("{}: {given}", name(own))
        });
        let parameters: Vec<String> = parameters.collect();
        let result = foreign
            .result
            .as_ref()
            .map(|it| format!(" -> {}", shape(it)));
        let result = result.unwrap_or_default();
        let (own, parameters) = (name(&foreign.name), parameters.join(", "));
        self.line(0, &format!("foreign {home}{own}({parameters}){result}"));
    }

    fn opaque(&mut self, opaque: &Opaque) {
        let room = opaque.room.as_ref();
        let room = room.map(|room| format!(" room {} {}", name(&room.name), room.bytes));
        let room = room.unwrap_or_default();
        self.gap();
        self.line(0, &format!("opaque {}{room}", name(&opaque.name)));
    }

    fn export(&mut self, export: &Export) {
        self.gap();
        let parameters = export.parameters.iter().map(named);
        let parameters = parameters.collect::<Vec<String>>().join(", ");
        let result = export
            .result
            .as_ref()
            .map(|it| format!(" -> {}", shape(it)));
        let result = result.unwrap_or_default();
        let (own, calls) = (name(&export.name), self.called(Some(export.calls)));
        self.line(0, &format!("export {own}({parameters}){result}{calls}"));
    }

    fn kernel(&mut self, kernel: &Kernel) {
        self.gap();
        let end = if kernel.big { "big" } else { "little" };
        let parameters = self.types('(', &kernel.parameters, ')');
        let (own, unit) = (name(&kernel.name), kernel.unit);
        self.line(0, &format!("kernel {own}{parameters} unit {unit} {end} {{"));
        self.function(2, "begins", kernel.begins);
        self.function(2, "steps", kernel.steps);
        if let Some(tail) = kernel.tail {
            self.function(2, "tail", tail);
        }
        self.function(2, "finishes", kernel.finishes);
        self.line(0, "}");
    }

    fn link(&mut self, link: &Link) {
        self.gap();
        self.line(0, &format!("link {} {{", name(&link.name)));
        if let Some(calls) = &link.calls {
            self.named(2, "calls", calls);
        }
        if link.gathers {
            self.line(2, "gathers");
        }
        let arrives = self.names.functions.reference(link.arrives.0);
        let in_place = if link.in_place { " in_place" } else { "" };
        self.line(2, &format!("arrives {arrives}{in_place}"));
        if let Some(carrier) = link.carrier {
            self.function(2, "carrier", carrier);
        }
        self.line(0, "}");
    }

    fn port(&mut self, port: &Port, down: &Table) {
        self.gap();
        self.line(0, &format!("port {} {{", name(&port.name)));
        if let Some(calls) = &port.calls {
            self.named(2, "calls", calls);
        }
        let kind = self.names.kinds.reference(port.session.kind.0);
        let index = match port.session.index {
            Numbered::Only(index) => format!("only {index}"),
            Numbered::From(first, count) => format!("from {first}, {count}"),
        };
        self.line(2, &format!("session {kind} {index}"));
        if let Some(sends) = port.sends {
            self.function(2, "sends", sends);
        }
        if port.longest > 0 {
            self.line(2, &format!("longest {}", port.longest));
        }
        if port.is_copied {
            self.line(2, "copied");
        }
        for (word, opening) in [("opens", &port.opens), ("listens", &port.listens)] {
            if let Some(opening) = opening {
                self.opening(word, opening);
            }
        }
        for attribute in &port.attributes {
            let parts = attribute.parts.iter();
            let parts = parts.map(|part| self.names.attributes.reference(part.0));
            let parts = parts.collect::<Vec<String>>().join(", ");
            let owner = match &attribute.owner[..] {
                "" => String::new(),
                owner => format!(" of {}", name(owner)),
            };
            let text = format!("attribute {}{owner} = {parts}", named(&attribute.named));
            self.line(2, text.trim_end());
        }
        for (word, notices) in [("up", &port.up), ("down", &port.down)] {
            for notice in notices {
                self.notice(word, notice);
            }
        }
        if let Some(grants) = port.grants {
            self.line(2, &format!("grants {}", down.reference(grants)));
        }
        self.line(0, "}");
    }

    fn opening(&mut self, word: &str, opening: &Opening) {
        let kind = self.names.kinds.reference(opening.kind.0);
        self.line(2, &format!("{word} {kind} {{"));
        for (key, may_be_left_out) in &opening.keys {
            let word = if *may_be_left_out {
                "optional key"
            } else {
                "key"
            };
            self.line(4, &format!("{word} {}", named(key)));
        }
        self.function(4, "by", opening.opens);
        if let Some(closes) = opening.closes {
            self.function(4, "closes", closes);
        }
        self.line(4, &format!("events {}", opening.events));
        self.line(2, "}");
    }

    fn notice(&mut self, word: &str, notice: &Notice) {
        let message = notice.message.then(|| "msg".to_string());
        let parameters = notice.parameters.iter().map(named);
        let parameters: Vec<String> = message.into_iter().chain(parameters).collect();
        let handled = self.called(notice.handled);
        let (own, parameters) = (name(&notice.name), parameters.join(", "));
        self.line(2, &format!("{word} {own}({parameters}){handled}"));
    }

    fn listening(&mut self, listening: &Listening) {
        self.gap();
        let port = self.names.ports.reference(listening.port.0);
        self.line(0, &format!("listening {port} {{"));
        for (word, kind, fields) in [
            (
                "listener",
                listening.listener,
                &[
                    ("backlog", listening.backlog),
                    ("waiting", listening.waiting),
                ][..],
            ),
            (
                "session",
                listening.session,
                &[
                    ("waits", listening.waits),
                    ("unknown", listening.unknown),
                    ("made_by", listening.made_by),
                ],
            ),
        ] {
            let of = self.names.kinds.reference(kind.0);
            self.line(2, &format!("{word} {of}"));
            for (word, field) in fields {
                let field = self.own_field(kind, *field);
                self.line(2, &format!("{word} {field}"));
            }
        }
        if let Some(opened) = listening.opened {
            let notices = self.names.up.get(listening.port.at());
            let notice = notices.map(|table| table.reference(opened));
            let notice = notice.unwrap_or_else(|| format!("#{opened}"));
            self.line(2, &format!("opened {notice}"));
        }
        self.line(0, "}");
    }
}

/// A name and a shape.
fn named(one: &Named) -> String {
    format!("{}: {}", name(&one.name), shape(&one.shape))
}

fn shape(of: &Shape) -> String {
    match of {
        Shape::Number { bits, signed } => format!("{}{bits}", if *signed { 's' } else { 'u' }),
        Shape::Bool => "bool".to_string(),
        Shape::Time => "time".to_string(),
        Shape::Bytes(length) => format!("bytes {length}"),
        Shape::Bounded(most) => format!("bytes ..{most}"),
        Shape::Optional(value) => format!("optional {}", shape(value)),
        Shape::Record(record, fields) => {
            let fields = fields.iter();
            let fields = fields.map(|(field, of)| format!("{}: {}", name(field), shape(of)));
            let fields = fields.collect::<Vec<String>>().join(", ");
            format!("record {}({fields})", name(record))
        }
        Shape::Array(element, length) => format!("[{length}] {}", shape(element)),
        Shape::Foreign(record) => format!("foreign {}", name(record)),
        Shape::Float(bits) => format!("f{bits}"),
        Shape::Opaque(of) => format!("opaque {}", of.0),
    }
}
