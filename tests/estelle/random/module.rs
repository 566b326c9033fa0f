//! Random trees of modules: headers, bodies, links between them, and routines.

use super::block::{Block, sequence};
use super::value::{Form, Kind, Place, Routine, Scope};
use super::{Child, Link, Own, Point, Writer};
use std::rc::Rc;

/// The attribute of a module.
type Attribute = Option<&'static str>;

/// The outside of a module.
struct Outside {
    attribute: Attribute,
    points: Vec<Point>,
    parameters: Vec<Place>,
    exports: Vec<Place>,
}

/// A module variable while its header is written.
struct Draft {
    child: Child,
    outside: Outside,
}

impl Writer {
    /// Writes a whole specification.
    pub fn specification(&mut self, name: &str) -> String {
        self.kinds();
        for _ in 0..self.values.random.usize(2..4) {
            let name = self.values.name("Channel");
            self.scope(|writer| writer.channel(name));
        }
        let attribute = match self.values.chance(35) {
            true => Some(self.values.one(&["systemprocess", "systemactivity"])),
            false => None,
        };
        let mut text = format!("specification {name} {};", attribute.unwrap_or_default());
        match self.values.random.u8(..5) {
            0 => self.names_queues = true,
            1 => text += " default common queue;",
            _ => text += " default individual queue;",
        }
        if self.values.chance(30) {
            text += " timescale milliseconds;";
        }
        let named = self.values.kinds.iter();
        for kind in named.chain([&self.checksum]) {
            if let Some(definition) = kind.definition() {
                text += &format!(" type {} = {definition};", kind.name);
            }
        }
        for channel in &self.channels {
            text += &channel.declaration();
        }
        text += &self.without_faults(Writer::functions);
        let outside = Outside {
            attribute,
            points: Vec::new(),
            parameters: Vec::new(),
            exports: Vec::new(),
        };
        text += &self.inside(&outside, 1, 1);
        text + " end."
    }

    /// Writes the pure functions that all bodies see.
    fn functions(&mut self) -> String {
        let integer = Rc::clone(&self.integer);
        self.pure_functions.push(Routine {
            name: "mix".to_string(),
            parameters: vec![(Rc::clone(&integer), false), (integer, false)],
            result: Some(Rc::clone(&self.checksum)),
            is_pure: true,
        });
        let mut text = " pure function mix(one, other: integer): checksum; \
                        begin mix := (one mod 997 * 31 + other mod 1000) mod 997 end;"
            .to_string();
        let own = Own::default();
        for _ in 0..2 {
            let scope = Scope {
                routines: self.pure_functions.clone(),
                is_pure: true,
                ..Scope::default()
            };
            let kind = self.values.kind(Kind::is_ordinal);
            let (routine, written) = self.routine(&own, &scope, Some(&kind));
            text += &format!(" pure {written}");
            self.pure_functions.push(Routine {
                is_pure: true,
                ..routine
            });
        }
        text
    }

    /// Writes the parameters of a routine, with parentheses.
    fn parameters(
        &mut self,
        inner: &mut Scope,
        is_procedure: bool,
    ) -> (Vec<(Rc<Kind>, bool)>, String) {
        let mut parameters = Vec::new();
        let mut texts = Vec::new();
        for _ in 0..self.values.random.usize(0..4) {
            let kind = self.values.kind(|_| true);
            let is_reference = is_procedure && self.values.chance(60);
            let parameter = self.values.name("p");
            let word = if is_reference { "var " } else { "" };
            texts.push(format!("{word}{parameter}: {}", kind.name));
            inner.places.push(Place {
                text: parameter,
                kind: Rc::clone(&kind),
                is_writable: true,
            });
            parameters.push((kind, is_reference));
        }
        let text = match texts.is_empty() {
            true => String::new(),
            false => format!("({})", texts.join("; ")),
        };
        (parameters, text)
    }

    /// Writes a function, or a procedure that may have another one inside.
    fn routine(
        &mut self,
        own: &Own,
        scope: &Scope,
        result: Option<&Rc<Kind>>,
    ) -> (Routine, String) {
        let name = self
            .values
            .name(if result.is_some() { "fun" } else { "proc" });
        self.scope(|writer| writer.routine_named(name, own, scope, result))
    }

    /// Writes a function or a procedure with a name.
    fn routine_named(
        &mut self,
        name: String,
        own: &Own,
        scope: &Scope,
        result: Option<&Rc<Kind>>,
    ) -> (Routine, String) {
        let mut inner = scope.clone();
        let (parameters, texts) = self.parameters(&mut inner, result.is_none());
        let mut block = Block {
            is_routine: true,
            is_function: result.is_some(),
            ..Block::default()
        };
        let mut nested = String::new();
        if result.is_none() && self.values.chance(25) {
            let (inside, written) = self.routine(own, &inner, None);
            nested = written;
            inner.routines.push(inside);
        }
        let mut all = Vec::new();
        let kind = self.values.kind(|_| true);
        let mut local = block.local(&mut self.values, "l", &kind);
        all.extend(self.initialise(&local, &mut block, &inner));
        local.is_writable = true;
        inner.places.push(local);
        let count = 1 + self.values.random.usize(..3);
        all.extend(self.statements(own, &inner, &mut block, (1, count)));
        if let Some(kind) = result {
            let value = self.values.ordinal(kind, &inner, 2);
            all.push(format!("{name} := {value}"));
            let condition = self.values.condition(&inner, 1);
            let value = self.values.ordinal(kind, &inner, 1);
            all.push(format!("if {condition} then {name} := {value}"));
        } else if self.values.chance(40) {
            let mut spent = self.output(own, &inner, &mut block);
            spent.push("left := left - 1".to_string());
            all.push(format!("if left > 0 then {}", sequence(&spent)));
        }
        let heading = match result {
            Some(kind) => format!("function {name}{texts}: {};", kind.name),
            None => format!("procedure {name}{texts};"),
        };
        let declarations = block.declarations();
        let text = format!(" {heading} {declarations}{nested} {};", sequence(&all));
        let routine = Routine {
            name,
            parameters,
            result: result.cloned(),
            is_pure: false,
        };
        (routine, text)
    }

    /// Writes the inside of a body: `depth` counts from the specification, `copies` are the
    /// instances of it.
    fn inside(&mut self, outside: &Outside, depth: u32, copies: usize) -> String {
        let mut drafts = self.drafts(outside.attribute, depth, copies);
        let mut own = Own {
            points: outside.points.clone(),
            is_dynamic: outside.attribute.is_some(),
            abandons: self.abandons,
            ..Own::default()
        };
        self.attachments(&mut own, &mut drafts);
        self.connections(&mut own, &mut drafts, outside.points.len());
        let mut text = String::new();
        for draft in &drafts {
            let count = draft
                .child
                .index
                .as_ref()
                .map_or(1, |kind| kind.values().len());
            text += &self.module(draft, depth, copies * count);
        }
        own.children = drafts.into_iter().map(|draft| draft.child).collect();
        for child in &own.children {
            text += &format!(
                " modvar {}: {};",
                child.name,
                array(&child.index, &child.header)
            );
        }
        for point in &own.points[outside.points.len()..] {
            text += &format!(" ip {};", self.point(point));
        }
        match outside.attribute {
            Some(_) => text + &self.active(&mut own, outside),
            None => text + &self.initialise_static(&own),
        }
    }

    /// Invents the children of a body.
    fn drafts(&mut self, parent: Attribute, depth: u32, copies: usize) -> Vec<Draft> {
        let mut drafts = Vec::new();
        let wanted = match (parent, depth) {
            (None, _) => 2 + usize::from(self.values.chance(20)),
            (_, 4) => 0,
            (_, 1) => self.values.random.usize(1..3),
            (_, 2) => self.values.random.usize(1..4),
            _ => self.values.random.usize(0..2),
        };
        for number in 0..wanted {
            let index = self.values.chance(30).then(|| {
                let is_small = |kind: &Kind| kind.is_index() && kind.values().len() < 4;
                self.values.kind(is_small)
            });
            let count = copies * index.as_ref().map_or(1, |kind| kind.values().len());
            let is_needed = parent.is_none() && number < 2;
            let (index, count) = match is_needed && count > self.modules {
                true => (None, copies),
                false => (index, count),
            };
            if count > self.modules && !is_needed {
                break;
            }
            self.modules = self.modules.saturating_sub(count);
            let attribute = match parent {
                None if depth < 3 && index.is_none() && self.values.chance(15) => None,
                None => Some(self.values.one(&["systemprocess", "systemactivity"])),
                Some("systemprocess" | "process") => {
                    Some(self.values.one(&["process", "process", "activity"]))
                }
                Some(_) => Some("activity"),
            };
            drafts.push(self.draft(attribute, index));
        }
        drafts
    }

    fn draft(&mut self, attribute: Attribute, index: Option<Rc<Kind>>) -> Draft {
        let place = |text: String, kind: Rc<Kind>| Place {
            text,
            kind,
            is_writable: true,
        };
        let (mut parameters, mut exports) = (Vec::new(), Vec::new());
        for _ in 0..self.values.random.usize(0..3) {
            let is_simple = |kind: &Kind| !matches!(kind.form, Form::Array(..) | Form::Record(_));
            let kind = self.values.kind(is_simple);
            parameters.push(place(self.values.name("q"), kind));
        }
        // Nothing reads the exported variables of a system.
        let is_inner = matches!(attribute, Some("process" | "activity"));
        for _ in 0..if is_inner {
            self.values.random.usize(0..3)
        } else {
            0
        } {
            let kind = self.values.kind(|_| true);
            exports.push(place(self.values.name("x"), kind));
        }
        let header = self.values.name("Header");
        let mut bodies = vec![self.values.name("Body")];
        if self.values.chance(20) {
            bodies.push(self.values.name("Body"));
        }
        let kinds = parameters.iter().map(|it| Rc::clone(&it.kind)).collect();
        let exported = exports
            .iter()
            .map(|it| (it.text.clone(), Rc::clone(&it.kind)));
        Draft {
            child: Child {
                name: self.values.name("m"),
                index,
                header,
                bodies,
                parameters: kinds,
                exports: exported.collect(),
            },
            outside: Outside {
                attribute,
                points: Vec::new(),
                parameters,
                exports,
            },
        }
    }

    /// Lets children act at points of the header.
    fn attachments(&mut self, own: &mut Own, drafts: &mut [Draft]) {
        for at in 0..own.points.len() {
            if drafts.is_empty() || own.is_dynamic && self.values.chance(20) {
                continue;
            }
            let number = self.values.random.usize(..drafts.len());
            let draft = &mut drafts[number];
            let point = own.points[at].clone();
            // A point with an index needs a child without one; a child with one shares the point.
            let is_shared = point.index.is_none() && draft.child.index.is_some();
            if point.index.is_some() && draft.child.index.is_some() {
                continue;
            }
            let name = self.values.name("ip");
            let inner = Point {
                name,
                queue: self.queue(),
                attached: None,
                ..point.clone()
            };
            let link = Link {
                name: self.values.name("up"),
                one: point.text(),
                other: format!("{}.{}", draft.child.text(), inner.text()),
                index: point.index.clone().or(draft.child.index.clone()),
                is_attach: true,
                is_shared,
                children: vec![draft.child.name.clone()],
            };
            draft.outside.points.push(inner);
            own.points[at].attached = Some(match (is_shared, &link.index) {
                (true, Some(kind)) => {
                    let name = self.values.name("z");
                    let flag = link.flag().replace('$', &name);
                    format!("(exist {name}: {} suchthat {flag})", kind.name)
                }
                _ => link.flag(),
            });
            own.links.push(link);
        }
    }

    /// Connects children with each other and with points of the body.
    fn connections(&mut self, own: &mut Own, drafts: &mut [Draft], externals: usize) {
        for number in 0..drafts.len() {
            for _ in 0..1 + self.values.random.usize(..2) {
                let may_be =
                    |other: &usize| *other != number && drafts[*other].child.index.is_none();
                let others: Vec<usize> = (0..drafts.len()).filter(may_be).collect();
                let is_free = !others.is_empty();
                let other = if is_free {
                    self.values.one(&others)
                } else {
                    number
                };
                if is_free && (!own.is_dynamic || self.values.chance(50)) {
                    self.siblings(own, drafts, number, other);
                } else if own.is_dynamic {
                    self.connect_own(own, &mut drafts[number]);
                }
            }
        }
        let has_few = own.points.len() == externals;
        if own.is_dynamic && has_few && (drafts.is_empty() || self.values.chance(30)) {
            // A connection of the body with itself.
            let [one, other] = self.pair(None);
            own.links.push(Link {
                name: self.values.name("up"),
                one: one.text(),
                other: other.text(),
                index: None,
                is_attach: false,
                is_shared: false,
                children: Vec::new(),
            });
            own.points.extend([one, other]);
        }
    }

    /// Invents two points of one channel with different roles.
    fn pair(&mut self, index: Option<&Rc<Kind>>) -> [Point; 2] {
        let channel = self.values.random.usize(..self.channels.len());
        let role = self.values.random.usize(..2);
        [role, 1 - role].map(|role| Point {
            name: self.values.name("ip"),
            index: index.cloned(),
            channel,
            role,
            queue: self.queue(),
            attached: None,
        })
    }

    fn siblings(&mut self, own: &mut Own, drafts: &mut [Draft], number: usize, other: usize) {
        let index = drafts[number].child.index.clone();
        let [mut one, inner] = self.pair(index.as_ref());
        one.index = None;
        own.links.push(Link {
            name: self.values.name("up"),
            one: format!("{}.{}", drafts[number].child.text(), one.text()),
            other: format!("{}.{}", drafts[other].child.text(), inner.text()),
            index,
            is_attach: false,
            is_shared: false,
            children: vec![
                drafts[number].child.name.clone(),
                drafts[other].child.name.clone(),
            ],
        });
        drafts[number].outside.points.push(one);
        drafts[other].outside.points.push(inner);
    }

    fn connect_own(&mut self, own: &mut Own, draft: &mut Draft) {
        let many = self.values.chance(25).then(|| {
            let is_small = |kind: &Kind| kind.is_index() && kind.values().len() < 4;
            self.values.kind(is_small)
        });
        let index = draft.child.index.clone().or(many);
        let [mine, mut inner] = self.pair(index.as_ref());
        if draft.child.index.is_some() {
            inner.index = None;
        }
        own.links.push(Link {
            name: self.values.name("up"),
            one: mine.text(),
            other: format!("{}.{}", draft.child.text(), inner.text()),
            index,
            is_attach: false,
            is_shared: false,
            children: vec![draft.child.name.clone()],
        });
        own.points.push(mine);
        draft.outside.points.push(inner);
    }

    fn queue(&mut self) -> &'static str {
        match self.names_queues || self.values.chance(30) {
            true => self.values.one(&[" individual queue", " common queue"]),
            false => "",
        }
    }

    /// Writes the declaration of a point.
    fn point(&self, point: &Point) -> String {
        let channel = &self.channels[point.channel];
        let of = format!("{}({})", channel.name, channel.roles[point.role]);
        format!(
            "{}: {}{}",
            point.name,
            array(&point.index, &of),
            point.queue
        )
    }

    /// Writes a header and its bodies.
    fn module(&mut self, draft: &Draft, depth: u32, copies: usize) -> String {
        let Draft { child, outside } = draft;
        let mut text = format!(" module {}", child.header);
        text += &outside
            .attribute
            .map_or(String::new(), |it| format!(" {it}"));
        let each = |place: &Place| format!("{}: {}", place.text, place.kind.name);
        if !outside.parameters.is_empty() {
            let parameters = outside.parameters.iter().map(each);
            text += &format!(" ({})", parameters.collect::<Vec<_>>().join("; "));
        }
        text += ";";
        for (number, point) in outside.points.iter().enumerate() {
            let word = if number == 0 { " ip" } else { "" };
            text += &format!("{word} {};", self.point(point));
        }
        for (number, place) in outside.exports.iter().enumerate() {
            let word = if number == 0 { " export" } else { "" };
            text += &format!("{word} {};", each(place));
        }
        text += " end;";
        for body in &child.bodies {
            let inside = self.scope(|writer| writer.inside(outside, depth + 1, copies));
            text += &format!(" body {body} for {}; {inside} end;", child.header);
        }
        text
    }

    /// Writes the `initialize` of a module without attribute: all children, then all links.
    fn initialise_static(&mut self, own: &Own) -> String {
        let mut all = Vec::new();
        let scope = Scope {
            routines: self.pure_functions.clone(),
            ..Scope::default()
        };
        for child in &own.children {
            let name = self.values.name("v");
            let inner = sequence(&self.create(own, child, &name, &scope));
            all.push(over(&child.index, &name, &inner));
        }
        for link in &own.links {
            let name = self.values.name("v");
            let is_shared = link.is_shared;
            match (&link.index, is_shared) {
                (Some(kind), true) => {
                    let first = kind.values().remove(0);
                    all.extend(self.link(own, link, &first));
                }
                _ => {
                    let inner = sequence(&self.link(own, link, &name));
                    all.push(over(&link.index, &name, &inner));
                }
            }
        }
        format!(" initialize {};", sequence(&all))
    }

    /// Writes the variables, routines, states and transitions of a module with an attribute.
    fn active(&mut self, own: &mut Own, outside: &Outside) -> String {
        let mut text = " var left, abandoned: integer; acc: checksum;".to_string();
        let mut variables = Vec::new();
        for _ in 0..self.values.random.usize(2..6) {
            let place = Place {
                text: self.values.name("b"),
                kind: self.values.kind(|_| true),
                is_writable: true,
            };
            text += &format!(" var {}: {};", place.text, place.kind.name);
            variables.push(place);
        }
        for child in &own.children {
            text += &format!(
                " var has_{}: {};",
                child.name,
                array(&child.index, "boolean")
            );
        }
        for link in &own.links {
            text += &format!(" var {}: {};", link.name, array(&link.index, "boolean"));
        }
        if self.values.chance(75) {
            own.states = (0..self.values.random.usize(2..5))
                .map(|_| self.values.name("s"))
                .collect();
            text += &format!(" state {};", own.states.join(", "));
            if self.values.chance(40) {
                let name = self.values.name("set");
                text += &format!(" stateset {name} = [{}];", own.states[..2].join(", "));
                own.state_set = Some(name);
            }
        }
        variables.splice(0..0, outside.exports.clone());
        let checksum = Place {
            text: "acc".to_string(),
            kind: Rc::clone(&self.checksum),
            is_writable: true,
        };
        let mut scope = Scope {
            routines: self.pure_functions.clone(),
            ..Scope::default()
        };
        scope.places.extend(outside.parameters.clone());
        let parameters = scope.clone();
        scope.places.extend(variables.clone());
        scope.places.extend([checksum.clone(), checksum]);
        for _ in 0..self.values.random.usize(0..4) {
            let result = self
                .values
                .chance(40)
                .then(|| self.values.kind(Kind::is_ordinal));
            let (routine, written) = self.routine(own, &scope, result.as_ref());
            text += &written;
            scope.routines.push(routine);
        }
        text += &self.initialize(own, &parameters, &variables, &scope);
        text + &self.transitions(own, &scope)
    }

    /// Writes `initialize`, at times with alternatives.
    fn initialize(
        &mut self,
        own: &Own,
        parameters: &Scope,
        variables: &[Place],
        scope: &Scope,
    ) -> String {
        let mut pure = parameters.clone();
        pure.is_pure = true;
        let mut text = " initialize".to_string();
        let count = self.values.one(&[1, 1, 1, 2]);
        for number in 0..count {
            if number > 0 {
                text += " provided otherwise";
            } else if count > 1 {
                let condition = self.without_faults(|writer| writer.values.condition(&pure, 1));
                text += &format!(" provided {condition}");
            }
            if !own.states.is_empty() {
                text += &format!(" to {}", self.values.one(&own.states));
            }
            text += &self.first_values(own, parameters, variables, scope);
        }
        text
    }

    fn first_values(
        &mut self,
        own: &Own,
        parameters: &Scope,
        variables: &[Place],
        scope: &Scope,
    ) -> String {
        let mut block = Block::default();
        let mut set = parameters.clone();
        let more = if own.children.is_empty() { 0 } else { 10 };
        let left = self.values.number(5, 14) + more;
        let first = self.values.integer(&set, 1).0;
        let mut all = vec![
            format!("left := {left}"),
            "abandoned := 0".to_string(),
            format!("acc := mix({first}, 5)"),
        ];
        for place in variables {
            all.extend(self.initialise(place, &mut block, &set));
            set.places.push(place.clone());
        }
        let children = own.children.iter().map(|it| (it.flag(), &it.index));
        let links = own.links.iter().map(|it| (it.flag(), &it.index));
        for (flag, index) in children.chain(links) {
            let name = self.values.name("v");
            let flag = flag.replace('$', &name);
            all.push(over(index, &name, &format!("{flag} := false")));
        }
        all.extend(self.statements(own, scope, &mut block, (1, 1)));
        for child in &own.children {
            if self.values.chance(90) {
                let name = self.values.name("v");
                let inner = sequence(&self.create(own, child, &name, scope));
                all.push(over(&child.index, &name, &inner));
            }
        }
        for link in own.links.iter().filter(|link| link.children.is_empty()) {
            all.extend(self.link(own, link, ""));
        }
        if self.values.chance(40) {
            all.extend(self.output(own, scope, &mut block));
        }
        format!(" {}{};", block.declarations(), sequence(&all))
    }
}

/// Writes a type, or an array of it.
fn array(index: &Option<Rc<Kind>>, of: &str) -> String {
    match index {
        Some(kind) => format!("array [{}] of {of}", kind.name),
        None => of.to_string(),
    }
}

/// Writes a statement for each index.
fn over(index: &Option<Rc<Kind>>, name: &str, statement: &str) -> String {
    match index {
        Some(kind) => format!("all {name}: {} do {statement}", kind.name),
        None => statement.to_string(),
    }
}
