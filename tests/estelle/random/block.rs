//! Random blocks: statements of Pascal, outputs, and statements that change modules and links.

use super::value::{Form, Kind, Place, Scope, Values};
use super::{Child, Link, Own, Writer};
use std::rc::Rc;

/// The fields of a record, by their names.
type Fields = Vec<(String, Rc<Kind>)>;

/// A block while it is written.
#[derive(Default)]
pub struct Block {
    /// Its own variables: names and types.
    pub locals: Vec<(String, String)>,
    /// True in a routine: the tree of modules and its links stay.
    pub is_routine: bool,
    /// True in a function: no output.
    pub is_function: bool,
}

impl Block {
    /// Adds a variable, which has no value yet.
    pub fn local(&mut self, values: &mut Values, stem: &str, kind: &Rc<Kind>) -> Place {
        let name = values.name(stem);
        self.locals.push((name.clone(), kind.name.clone()));
        Place {
            text: name,
            kind: Rc::clone(kind),
            is_writable: false,
        }
    }

    /// Writes the declarations.
    pub fn declarations(&self) -> String {
        let one = |(name, kind): &(String, String)| format!("var {name}: {kind}; ");
        self.locals.iter().map(one).collect()
    }
}

/// Joins statements.
pub fn sequence(statements: &[String]) -> String {
    format!("begin {} end", statements.join("; "))
}

/// Returns the scope with one more place.
pub fn with_place(scope: &Scope, place: Place) -> Scope {
    let mut inner = scope.clone();
    // It is there twice, so that it is read more often.
    inner.places.extend([place.clone(), place]);
    inner
}

/// Puts an index into a template.
pub fn at(template: &str, index: &str) -> String {
    template.replace('$', index)
}

impl Writer {
    /// Writes the assignments that give a place its first value.
    pub fn initialise(&mut self, place: &Place, block: &mut Block, scope: &Scope) -> Vec<String> {
        let part = |text: String, kind: &Rc<Kind>| Place {
            text,
            kind: Rc::clone(kind),
            is_writable: true,
        };
        match &place.kind.form {
            Form::Array(index, element) => {
                let counter = block.local(&mut self.values, "f", index);
                let text = format!("{}[{}]", place.text, counter.text);
                let inner = self.initialise(&part(text, element), block, scope);
                let ends = index.values();
                let (first, last) = (&ends[0], &ends[ends.len() - 1]);
                let name = &counter.text;
                let inner = sequence(&inner);
                vec![match self.values.chance(30) {
                    true => format!("for {name} := {last} downto {first} do {inner}"),
                    false => format!("for {name} := {first} to {last} do {inner}"),
                }]
            }
            Form::Record(record) => {
                let mut all = Vec::new();
                for (field, kind) in &record.fields {
                    let text = format!("{}.{field}", place.text);
                    all.extend(self.initialise(&part(text, kind), block, scope));
                }
                if record.variant.is_some() {
                    all.extend(self.select_variant(place, scope));
                }
                all
            }
            _ => {
                let value = self.values.value(&place.kind, scope, 1);
                vec![format!(
                    "{} := {}",
                    place.text,
                    value.expect("it is no array and no record")
                )]
            }
        }
    }

    /// Sets the tag of a record, and the field that it selects.
    fn select_variant(&mut self, place: &Place, scope: &Scope) -> Vec<String> {
        let Form::Record(record) = &place.kind.form else {
            return Vec::new();
        };
        let Some(variant) = &record.variant else {
            return Vec::new();
        };
        let (label, field, kind) = self.values.one(&variant.cases);
        let value = self.values.value(&kind, scope, 1);
        let value = value.expect("fields of variants are scalars or sets");
        vec![
            format!("{}.{} := {label}", place.text, variant.tag),
            format!("{}.{field} := {value}", place.text),
        ]
    }

    /// Writes statements.
    pub fn statements(
        &mut self,
        own: &Own,
        scope: &Scope,
        block: &mut Block,
        (depth, count): (u32, usize),
    ) -> Vec<String> {
        let mut all = Vec::new();
        for _ in 0..count {
            let mut written = self.statement(own, scope, block, depth);
            if self.values.chance(3)
                && let Some(first) = written.first_mut()
            {
                *first = format!("{{ note }} {first}");
            }
            all.extend(written);
        }
        all
    }

    fn statement(
        &mut self,
        own: &Own,
        scope: &Scope,
        block: &mut Block,
        depth: u32,
    ) -> Vec<String> {
        if depth == 0 {
            return self.assignment(scope);
        }
        let less = (depth - 1, 1 + self.values.random.usize(..2));
        match self.values.random.u8(..17) {
            0 => {
                let condition = self.values.condition(scope, 2);
                let yes = sequence(&self.statements(own, scope, block, less));
                vec![match self.values.chance(50) {
                    true => format!("if {condition} then {yes}"),
                    false => {
                        let no = sequence(&self.statements(own, scope, block, less));
                        format!("if {condition} then {yes} else {no}")
                    }
                }]
            }
            1 => self.case(own, scope, block, less),
            2 | 3 => self.counted_loop(own, scope, block, less),
            4 => self.open_loop(own, scope, block, less),
            5 => self.with(own, scope, block, less),
            6 => self.variant(scope),
            7 => self.over_values(own, scope, block, less),
            8 => self.copy(scope),
            9 | 10 => self.procedure(scope),
            11 if !block.is_routine => self.over_children(own, scope, block, less),
            12 if !block.is_routine => self.child_variables(own, scope, block, less),
            13 => self.text(scope),
            _ => self.assignment(scope),
        }
    }

    /// Writes an assignment, often to the checksum.
    fn assignment(&mut self, scope: &Scope) -> Vec<String> {
        let is_simple =
            |place: &Place| !matches!(place.kind.form, Form::Array(..) | Form::Record(_));
        let target = self
            .values
            .place(scope, 1, |it| it.is_writable && is_simple(it));
        let Some(target) = target else {
            return Vec::new();
        };
        let value = self.values.value(&target.kind, scope, 2);
        let value = value.expect("it is no array and no record");
        vec![format!("{} := {value}", target.text)]
    }

    /// Writes `case` with all values of its selector, or with some, where faults may be.
    fn case(
        &mut self,
        own: &Own,
        scope: &Scope,
        block: &mut Block,
        less: (u32, usize),
    ) -> Vec<String> {
        let kind = self
            .values
            .kind(|it| it.is_index() && it.values().len() > 1);
        let selector = self.values.ordinal(&kind, scope, 2);
        let values = kind.values();
        let cut = self.values.random.usize(1..values.len());
        let misses = self.values.is_faulty && self.values.chance(10);
        let mut text = format!("case {selector} of");
        let groups = match misses {
            true => vec![&values[..cut]],
            false => vec![&values[..cut], &values[cut..]],
        };
        for group in groups {
            let inner = sequence(&self.statements(own, scope, block, less));
            text += &format!(" {}: {inner};", group.join(", "));
        }
        vec![text + " end"]
    }

    fn counted_loop(
        &mut self,
        own: &Own,
        scope: &Scope,
        block: &mut Block,
        less: (u32, usize),
    ) -> Vec<String> {
        let kind = self.values.kind(Kind::is_index);
        let counter = block.local(&mut self.values, "f", &kind);
        let from = self.values.ordinal(&kind, scope, 1);
        let to = self.values.ordinal(&kind, scope, 1);
        let inner = with_place(scope, counter.clone());
        let inner = sequence(&self.statements(own, &inner, block, less));
        let word = self.values.one(&["to", "downto"]);
        vec![format!(
            "for {} := {from} {word} {to} do {inner}",
            counter.text
        )]
    }

    fn open_loop(
        &mut self,
        own: &Own,
        scope: &Scope,
        block: &mut Block,
        less: (u32, usize),
    ) -> Vec<String> {
        let kind = Rc::clone(&self.integer);
        let counter = block.local(&mut self.values, "w", &kind);
        let name = counter.text.clone();
        let condition = self.values.condition(scope, 1);
        let turns = self.values.number(1, 4);
        let mut inner = self.statements(own, scope, block, less);
        inner.push(format!("{name} := {name} + 1"));
        let start = format!("{name} := 0");
        match self.values.chance(50) {
            true => vec![
                start,
                format!(
                    "while ({name} < {turns}) and {condition} do {}",
                    sequence(&inner)
                ),
            ],
            false => vec![
                start,
                format!(
                    "repeat {} until ({name} >= {turns}) or {condition}",
                    inner.join("; ")
                ),
            ],
        }
    }

    fn with(
        &mut self,
        own: &Own,
        scope: &Scope,
        block: &mut Block,
        less: (u32, usize),
    ) -> Vec<String> {
        let record = self.record_in(scope);
        let Some((record, fields)) = record else {
            return self.assignment(scope);
        };
        let mut inner = scope.clone();
        for (name, kind) in fields {
            let place = Place {
                text: name,
                kind,
                is_writable: record.is_writable,
            };
            inner.places.extend([place.clone(), place]);
        }
        let inner = sequence(&self.statements(own, &inner, block, less));
        vec![format!("with {} do {inner}", record.text)]
    }

    /// Finds a record that may be written, or one in an array, and its fields.
    fn record_in(&mut self, scope: &Scope) -> Option<(Place, Fields)> {
        let mut found = self.values.place(scope, 1, |it| {
            it.is_writable && matches!(it.kind.form, Form::Record(_) | Form::Array(..))
        })?;
        while let Form::Array(index, element) = &Rc::clone(&found.kind).form {
            let index = self.values.ordinal(index, scope, 1);
            found = Place {
                text: format!("{}[{index}]", found.text),
                kind: Rc::clone(element),
                is_writable: found.is_writable,
            };
        }
        match &Rc::clone(&found.kind).form {
            Form::Record(record) => Some((found, record.fields.clone())),
            _ => None,
        }
    }

    /// Reads the field of a variant that the tag selects, or selects another one.
    fn variant(&mut self, scope: &Scope) -> Vec<String> {
        let Some((place, _)) = self.record_in(scope) else {
            return self.assignment(scope);
        };
        let kind = Rc::clone(&place.kind);
        let Form::Record(record) = &kind.form else {
            return Vec::new();
        };
        let Some(variant) = &record.variant else {
            return self.assignment(scope);
        };
        let mut all = Vec::new();
        if self.values.chance(50) {
            all.extend(self.select_variant(&place, scope));
        }
        let sums = self
            .values
            .place(scope, 1, |it| it.is_writable && it.kind.is_whole_integer());
        let Some(sum) = sums else { return all };
        if self.values.is_faulty && self.values.chance(10) {
            let (_, field, kind) = self.values.one(&variant.cases);
            let value = self.number_of(&format!("{}.{field}", place.text), &kind);
            all.push(format!("{} := {value}", sum.text));
            return all;
        }
        // The index of a record may change with the sum, so the record is opened once.
        let mut text = format!("with {} do case {} of", place.text, variant.tag);
        for (label, field, kind) in &variant.cases {
            let value = self.number_of(field, kind);
            text += &format!(" {label}: {} := {value};", sum.text);
        }
        all.push(text + " end");
        all
    }

    /// Writes a number that depends on a scalar or a set.
    pub fn number_of(&mut self, text: &str, kind: &Kind) -> String {
        match &kind.form {
            Form::Set(base) => {
                let of = base.values();
                let terms = of.iter().enumerate();
                let terms =
                    terms.map(|(at, value)| format!("{} * ord({value} in {text})", 1 << at));
                terms.collect::<Vec<_>>().join(" + ")
            }
            Form::Real => format!("ord({text} > 3.0)"),
            Form::Text(length) => format!("ord({text}[{}])", self.values.number(1, *length as i64)),
            _ => super::value::counted(text, kind).0,
        }
    }

    /// Writes `all` or `forone` over values.
    fn over_values(
        &mut self,
        own: &Own,
        scope: &Scope,
        block: &mut Block,
        less: (u32, usize),
    ) -> Vec<String> {
        if block.is_function {
            return self.assignment(scope);
        }
        let kind = self.values.kind(Kind::is_index);
        let name = self.values.name("v");
        let bound = Place {
            text: name.clone(),
            kind: Rc::clone(&kind),
            is_writable: false,
        };
        let inner = with_place(scope, bound);
        let statements = sequence(&self.statements(own, &inner, block, less));
        let domain = format!("{name}: {}", kind.name);
        if self.values.chance(40) {
            return vec![format!("all {domain} do {statements}")];
        }
        let condition = self.such_that(&inner);
        let mut text = format!("forone {domain} suchthat {condition} do {statements}");
        if self.values.chance(60) {
            let otherwise = sequence(&self.statements(own, scope, block, less));
            text += &format!(" otherwise {otherwise}");
        }
        vec![text]
    }

    /// Copies an array or a record.
    fn copy(&mut self, scope: &Scope) -> Vec<String> {
        let is_whole = |place: &Place| matches!(place.kind.form, Form::Array(..) | Form::Record(_));
        let target = self
            .values
            .place(scope, 1, |it| it.is_writable && is_whole(it));
        let Some(target) = target else {
            return self.assignment(scope);
        };
        let source = self
            .values
            .value(&target.kind, scope, 1)
            .unwrap_or_else(|| target.text.clone());
        vec![format!("{} := {source}", target.text)]
    }

    /// Sets a letter of a text.
    fn text(&mut self, scope: &Scope) -> Vec<String> {
        let is_text = |it: &Place| it.is_writable && matches!(it.kind.form, Form::Text(_));
        let Some(place) = self.values.place(scope, 1, is_text) else {
            return self.assignment(scope);
        };
        let Form::Text(length) = place.kind.form else {
            return Vec::new();
        };
        let at = self.values.integer(scope, 1).0;
        let letter = self.values.one(&["'a'", "'b'", "'z'"]);
        vec![format!(
            "{}[1 + ({at}) mod {length}] := {letter}",
            place.text
        )]
    }

    fn procedure(&mut self, scope: &Scope) -> Vec<String> {
        let routines = scope.routines.iter();
        let procedures = routines.filter(|one| one.result.is_none()).cloned();
        let procedures: Vec<_> = procedures.collect();
        if procedures.is_empty() {
            return self.assignment(scope);
        }
        let routine = self.values.one(&procedures);
        match self.values.invocation(&routine, scope, 2) {
            Some(call) => vec![call],
            None => self.assignment(scope),
        }
    }

    /// The exported variables of a child, behind a name for it.
    pub fn exports(&self, child: &Child, text: &str) -> Vec<Place> {
        let places = child.exports.iter().map(|(name, kind)| Place {
            text: format!("{text}.{name}"),
            kind: Rc::clone(kind),
            is_writable: true,
        });
        places.collect()
    }

    /// Writes statements that use exported variables of a child.
    fn child_variables(
        &mut self,
        own: &Own,
        scope: &Scope,
        block: &mut Block,
        less: (u32, usize),
    ) -> Vec<String> {
        if own.children.is_empty() {
            return self.assignment(scope);
        }
        let child = self.values.one(&own.children);
        let (mut all, index) = self.index_of(child.index.as_ref(), scope, block);
        let module = at(&child.text(), &index);
        let mut inner = scope.clone();
        for place in self.exports(&child, &module) {
            inner.places.extend([place.clone(), place.clone(), place]);
        }
        let statements = sequence(&self.statements(own, &inner, block, less));
        all.push(format!(
            "if {} then {statements}",
            at(&child.flag(), &index)
        ));
        all
    }

    /// Writes `all` or `forone` over the children of a header.
    fn over_children(
        &mut self,
        own: &Own,
        scope: &Scope,
        block: &mut Block,
        less: (u32, usize),
    ) -> Vec<String> {
        if own.children.is_empty() {
            return self.assignment(scope);
        }
        let child = self.values.one(&own.children);
        let name = self.values.name("h");
        let mut inner = scope.clone();
        for place in self.exports(&child, &name) {
            inner.places.extend([place.clone(), place.clone(), place]);
        }
        let statements = sequence(&self.statements(own, &inner, block, less));
        let domain = format!("{name}: {}", child.header);
        vec![match self.values.chance(50) {
            true => format!("all {domain} do {statements}"),
            false => {
                let condition = self.such_that(&inner);
                format!("forone {domain} suchthat {condition} do {statements}")
            }
        }]
    }

    /// Writes an index to a variable of its own, so that it is the same in several statements.
    pub fn index_of(
        &mut self,
        kind: Option<&Rc<Kind>>,
        scope: &Scope,
        block: &mut Block,
    ) -> (Vec<String>, String) {
        let Some(kind) = kind else {
            return (Vec::new(), String::new());
        };
        let index = block.local(&mut self.values, "x", kind);
        let value = self.values.ordinal(kind, scope, 1);
        (vec![format!("{} := {value}", index.text)], index.text)
    }

    /// Writes an output, if this module has a point.
    pub fn output(&mut self, own: &Own, scope: &Scope, block: &mut Block) -> Vec<String> {
        if own.points.is_empty() {
            return Vec::new();
        }
        let point = self.values.one(&own.points);
        let channel = self.channels[point.channel].clone();
        let sent = channel.interactions.iter();
        let sent: Vec<_> = sent.filter(|one| one.senders[point.role]).collect();
        let interaction = self.values.one(&sent);
        let (mut all, mut arguments) = (Vec::new(), Vec::new());
        for (_, kind) in &interaction.formals {
            let value = self.values.value(kind, scope, 2).unwrap_or_else(|| {
                let local = block.local(&mut self.values, "l", kind);
                all.extend(self.initialise(&local, block, scope));
                local.text
            });
            arguments.push(value);
        }
        let index = point.index.as_ref().map(|kind| {
            let values = kind.values();
            self.values.one(&values)
        });
        let index = index.unwrap_or_default();
        let mut text = format!("output {}.{}", at(&point.text(), &index), interaction.name);
        if !arguments.is_empty() {
            text += &format!("({})", arguments.join(", "));
        }
        let attached = point
            .attached
            .as_ref()
            .filter(|_| !(self.values.is_faulty && self.values.chance(5)));
        all.push(match attached {
            Some(flag) => format!("if not {} then {text}", at(flag, &index)),
            None => text,
        });
        all
    }

    /// Writes statements that change the tree of modules or its links.
    pub fn structure(&mut self, own: &Own, scope: &Scope, block: &mut Block) -> Vec<String> {
        if own.children.is_empty() {
            return Vec::new();
        }
        let child = self.values.one(&own.children);
        let (mut all, index) = self.index_of(child.index.as_ref(), scope, block);
        let has = at(&child.flag(), &index);
        let module = at(&child.text(), &index);
        let is_unguarded = self.values.is_faulty && self.values.chance(4);
        let down = self.links_down(own, &child, &index, |_| true);
        match self.values.random.u8(..9) {
            0 | 1 => {
                let word = self.values.one(&["release", "terminate"]);
                let mut inner = vec![format!("{word} {module}"), format!("{has} := false")];
                inner.extend(down);
                all.push(guarded(&has, &inner, is_unguarded));
            }
            2..=4 => all.extend(self.create(own, &child, &index, scope)),
            5 => {
                let inner = match self.values.chance(50) {
                    true => {
                        let mut inner = self.links_down(own, &child, &index, |it| !it.is_attach);
                        inner.push(format!("disconnect {module}"));
                        inner
                    }
                    false => {
                        let mut inner = self.links_down(own, &child, &index, |it| it.is_attach);
                        inner.push(format!("detach {module}"));
                        inner
                    }
                };
                all.push(guarded(&has, &inner, is_unguarded));
            }
            6 if own.abandons => {
                let mut inner = vec![
                    "abandoned := abandoned + 1".to_string(),
                    format!("disconnect {module}"),
                    format!("detach {module}"),
                    format!("{has} := false"),
                ];
                inner.extend(down);
                inner.extend(self.create(own, &child, &index, scope));
                all.push(guarded(
                    &format!("{has} and (abandoned < 3)"),
                    &inner,
                    false,
                ));
            }
            7 if self.values.chance(40) => all.extend(self.end_all(own, &child)),
            _ => {
                for _ in 0..2 {
                    all.extend(self.relink(own, scope, block));
                }
            }
        }
        all
    }

    /// Ends all children of a header, under whatever name.
    fn end_all(&mut self, own: &Own, child: &Child) -> Vec<String> {
        let name = self.values.name("h");
        let word = self.values.one(&["release", "terminate"]);
        let mut all = vec![format!("all {name}: {} do {word} {name}", child.header)];
        for other in own.children.iter().filter(|it| it.header == child.header) {
            let mut inner = vec![format!("{} := false", other.flag())];
            inner.extend(self.links_down(own, other, "$", |_| true));
            match &other.index {
                None => all.extend(inner),
                Some(kind) => {
                    let name = self.values.name("v");
                    let inner = at(&sequence(&inner), &name);
                    all.push(format!("all {name}: {} do {inner}", kind.name));
                }
            }
        }
        all
    }

    /// Notes that links of a child are gone.
    fn links_down(
        &mut self,
        own: &Own,
        child: &Child,
        index: &str,
        fits: impl Fn(&Link) -> bool,
    ) -> Vec<String> {
        let links = own.links.iter().filter(|link| fits(link));
        let links: Vec<_> = links.filter(|link| link.touches(&child.name)).collect();
        let mut all = Vec::new();
        for link in links {
            all.push(match (&link.index, &child.index) {
                (Some(kind), None) => {
                    let name = self.values.name("v");
                    let flag = at(&link.flag(), &name);
                    format!("all {name}: {} do {flag} := false", kind.name)
                }
                _ => format!("{} := false", at(&link.flag(), index)),
            });
        }
        all
    }

    /// Creates a child if there is none, and links it.
    pub fn create(&mut self, own: &Own, child: &Child, index: &str, scope: &Scope) -> Vec<String> {
        let module = at(&child.text(), index);
        let body = self.values.one(&child.bodies);
        let mut arguments = Vec::new();
        for kind in &child.parameters {
            let value = self.values.value(kind, scope, 1);
            arguments.push(value.expect("parameters are scalars or sets"));
        }
        let mut text = format!("init {module} with {body}");
        if !arguments.is_empty() {
            text += &format!("({})", arguments.join(", "));
        }
        let has = at(&child.flag(), index);
        let mut inner = vec![text];
        if own.is_dynamic {
            inner.push(format!("{has} := true"));
        }
        for link in &own.links {
            let percent = if link.is_attach { 75 } else { 10 };
            if !own.is_dynamic || !link.touches(&child.name) || self.values.chance(percent) {
                continue;
            }
            inner.extend(match (&link.index, &child.index) {
                (Some(kind), None) => {
                    let name = self.values.name("v");
                    let inner = sequence(&self.link(own, link, &name));
                    vec![format!("all {name}: {} do {inner}", kind.name)]
                }
                _ => self.link(own, link, index),
            });
        }
        match own.is_dynamic {
            true => vec![guarded(&format!("not {has}"), &inner, false)],
            false => inner,
        }
    }

    /// Makes a link if it may be made.
    pub fn link(&mut self, own: &Own, link: &Link, index: &str) -> Vec<String> {
        let text = match link.is_attach {
            true => format!(
                "attach {} to {}",
                at(&link.one, index),
                at(&link.other, index)
            ),
            false => format!(
                "connect {} to {}",
                at(&link.one, index),
                at(&link.other, index)
            ),
        };
        if !own.is_dynamic {
            return vec![text];
        }
        let flag = at(&link.flag(), index);
        let mut conditions = vec![format!("not {flag}")];
        for name in &link.children {
            let child = own.children.iter().find(|child| child.name == *name);
            let child = child.expect("a link is between children of its body");
            conditions.push(at(&child.flag(), index));
        }
        if let (true, Some(kind)) = (link.is_shared, &link.index) {
            let name = self.values.name("z");
            conditions.push(format!(
                "not exist {name}: {} suchthat {}",
                kind.name,
                at(&link.flag(), &name)
            ));
        }
        let inner = [text, format!("{flag} := true")];
        let is_unguarded = self.values.is_faulty && self.values.chance(3);
        vec![guarded(&conditions.join(" and "), &inner, is_unguarded)]
    }

    /// Makes or removes a link.
    fn relink(&mut self, own: &Own, scope: &Scope, block: &mut Block) -> Vec<String> {
        if own.links.is_empty() {
            return Vec::new();
        }
        let attachments = own.links.iter().filter(|link| link.is_attach);
        let attachments: Vec<Link> = attachments.cloned().collect();
        let link = match attachments.is_empty() || self.values.chance(30) {
            true => self.values.one(&own.links),
            false => self.values.one(&attachments),
        };
        let (mut all, index) = self.index_of(link.index.as_ref(), scope, block);
        if self.values.chance(50) {
            all.extend(self.link(own, &link, &index));
            return all;
        }
        let end = self.values.one(&[&link.one, &link.other]);
        let word = match link.is_attach {
            true => "detach",
            false => "disconnect",
        };
        let flag = at(&link.flag(), &index);
        let inner = [
            format!("{word} {}", at(end, &index)),
            format!("{flag} := false"),
        ];
        all.push(guarded(&flag, &inner, false));
        all
    }
}

/// Writes statements behind a condition; without it, they may be at fault.
fn guarded(condition: &str, statements: &[String], is_unguarded: bool) -> String {
    match is_unguarded {
        true => sequence(statements),
        false => format!("if {condition} then {}", sequence(statements)),
    }
}
