//! A random layer: its header, what it keeps, and what it does.

use crate::agreement::Agreement;
use crate::process;
use crate::scope::{Kind, Place, Scope, Way};
use crate::seldom;
use crate::statement::Writer;

/// How conversations of a layer come about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// There is one.
    Worker,
    /// They come and go.
    Many,
    /// One for each label.
    Labelled,
}

/// A layer that is being written.
struct Layer<'w, 'r> {
    it: &'w mut Writer<'r>,
    shape: Shape,
    agreed: Agreement,
    /// What a handler of an instance knows that no message began.
    own: Scope,
    /// What its entity knows.
    entity: Scope,
    /// The keys by which its header tells conversations apart.
    keys: Vec<Place>,
    has_processes: bool,
    /// Whether others may call, and somebody listens.
    listens: bool,
    /// Whether only an application stands on it, which may say what it takes.
    is_highest: bool,
    /// Whether a message that comes up is asked and followed, and little else is done.
    is_plain: bool,
    /// What goes this way may cause what goes the other way: not both, or there is no end.
    turns: Way,
}

/// Writes a layer, which stands on others; in a busy one little else is done than frames are asked.
pub fn write(
    it: &mut Writer,
    name: &str,
    shape: Shape,
    (below, turns): (&[Shape], Way),
    (is_busy, is_highest): (bool, bool),
) {
    let is_lowest = below.is_empty();
    let own = Scope {
        is_own: true,
        is_lowest,
        has_attributes: !is_lowest,
        is_busy,
        named: format!("{name}_mood"),
        ends: shape == Shape::Many,
        again: it.random.percent(25),
        ..Scope::default()
    };
    let mut layer = Layer {
        shape,
        agreed: Agreement {
            is_busy,
            ..Agreement::default()
        },
        entity: Scope {
            is_own: false,
            again: false,
            ends: false,
            ..own.clone()
        },
        own,
        keys: Vec::new(),
        // A worker ends with what it stands on.
        has_processes: it.random.percent(if is_busy { 8 } else { 20 })
            && (shape != Shape::Worker || !below.contains(&Shape::Many)),
        listens: shape == Shape::Many && !below.contains(&Shape::Many) && it.random.percent(20),
        is_highest,
        is_plain: is_busy || it.random.percent(60),
        turns,
        it,
    };
    layer.agree();
    layer.head(name);
    layer.entity();
    layer.session();
    if shape != Shape::Worker {
        layer.finder();
    }
    layer.functions();
    layer.messages();
}

impl Layer<'_, '_> {
    /// All that there is.
    fn agree(&mut self) {
        let (it, agreed, own) = (&mut *self.it, &mut self.agreed, &mut self.own);
        if self.shape != Shape::Worker {
            let width = match self.shape {
                Shape::Many => *it.random.one(&[8, 8, 1, 2, 16]),
                _ => 8,
            };
            agreed.field(
                it,
                "peer",
                Kind::Number(width),
                (&format!("u{width}"), " = peer"),
            );
            self.keys = agreed.read.clone();
            if self.shape == Shape::Many && it.random.percent(20) {
                agreed.field(it, "side", Kind::Number(1), ("u1", " = side"));
                self.keys = agreed.read.clone();
            }
            own.keys = self.keys.clone();
        }
        if it.random.percent(85) {
            agreed.constant(it, 0);
        }
        let least = if agreed.is_busy { 6 } else { 4 };
        for at in 1..least + it.random.below(4) {
            agreed.add(it, at, own);
        }
        agreed.session.push("plain: u8 = 1".to_string());
        let text = "plain".to_string();
        agreed.own.push(Place {
            text,
            kind: Kind::Number(8),
            is_written: true,
        });
        for (often, name, field) in [
            (45, "silence", "timer silence"),
            (15, "beat", "timer beat"),
            (40, "kept", "kept: queue<message>[2]"),
            (25, "known", "known: set[8]"),
        ] {
            if it.random.percent(often) {
                agreed.session.push(field.to_string());
                let all = match name {
                    "kept" => &mut own.queues,
                    "known" => &mut own.sets,
                    _ => &mut own.timers,
                };
                all.push(name.to_string());
            }
        }
        if it.random.percent(30) {
            own.functions.push("scaled".to_string());
        }
        seldom::agree(it, agreed, own);
        own.settings = agreed.settings.clone();
        own.places.extend(agreed.own.clone());
        own.places.extend(agreed.shared.clone());
        let text = "limit".to_string();
        own.places.push(Place {
            text,
            kind: Kind::Number(8),
            is_written: false,
        });
        self.entity.places = agreed.shared.clone();
        self.entity.named = own.named.clone();
        if !own.queues.is_empty() && it.random.percent(50) {
            agreed.ask("kept.is_empty".to_string());
        }
    }

    fn head(&mut self, name: &str) {
        let it = &mut *self.it;
        let (shape, many) = match self.shape {
            Shape::Worker => ("worker", ""),
            Shape::Many | Shape::Labelled => ("multiplexor", "many: u32 = 3, "),
        };
        it.line(&format!("{shape} {name}({many}limit: u8 = 7)"));
        it.line("provides talks");
        it.line(match self.own.is_lowest {
            true => "requires frames\n",
            false => "requires talks\n",
        });
        let named = &self.own.named;
        it.line(&format!("enum {named}: u2 {{ calm, busy, loud, late }}\n"));
        it.line("record pair { first: u8 = 0, second: u16 = 0 }\n");
        seldom::functions(it, &self.own);
        let order = match !self.is_plain && it.random.percent(40) {
            true => "little",
            false => "big",
        };
        // What is there sometimes stands behind what says so.
        let (mut fields, parts): (Vec<String>, Vec<String>) = self
            .agreed
            .header
            .drain(..)
            .partition(|line| !line.contains(" if "));
        for at in (1..fields.len()).rev() {
            fields.swap(at, it.random.below(at + 1));
        }
        if it.random.percent(20) {
            let at = it.random.below(fields.len() + 1);
            fields.insert(at, "size: u16 counts header, data".to_string());
        }
        fields.extend(parts);
        if it.random.percent(30) {
            let of = it.random.one(&["header", "header, data"]);
            fields.push(format!("sum: u16 checks {of} through internet_checksum()"));
        }
        if let Some((count, options)) = seldom::options(&self.own) {
            fields.insert(0, count.to_string());
            fields.push(options.to_string());
        }
        it.block(&format!("header {order}"), |it| {
            fields
                .iter()
                .flat_map(|lines| lines.lines())
                .for_each(|line| it.line(line));
        });
        it.line("");
    }

    fn entity(&mut self) {
        let (it, agreed, scope) = (&mut *self.it, &self.agreed, &self.entity);
        let hears = self.own.is_lowest && self.shape != Shape::Worker && it.random.percent(40);
        if agreed.entity.is_empty() && !hears {
            return;
        }
        it.block("entity", |it| {
            agreed.entity.iter().for_each(|line| it.line(line));
            if !agreed.entity.is_empty() && it.random.percent(40) {
                it.line("timer round");
                it.line("");
                it.block("on start", |it| it.line("start round after 70 us"));
                it.block("on round", |it| {
                    it.some(2, 0, scope);
                    it.line("start round after 90 us");
                });
            }
            if hears {
                it.line("");
                it.block("on carrier(up)", |it| {
                    it.some(2, 0, scope);
                    if it.random.percent(60) {
                        it.line("tell above happened");
                    }
                });
            }
        });
        it.line("");
    }

    fn session(&mut self) {
        let keys = self.keys.iter().map(|key| {
            let name = key.text.trim_start_matches("header.");
            format!("{name}: {}", key.kind.word(""))
        });
        let keys = Vec::from_iter(keys).join(", ");
        match self.shape {
            Shape::Worker => self.it.open("session"),
            Shape::Many | Shape::Labelled => self.it.open(&format!("session({keys})[many]")),
        }
        let fields = std::mem::take(&mut self.agreed.session);
        fields.iter().for_each(|line| self.it.line(line));
        let processes = match self.has_processes {
            true => process::declared(self.it, &mut self.own),
            false => Vec::new(),
        };
        self.clocks();
        self.told();
        if self.shape != Shape::Worker {
            self.it.line("notice cross(by: u8)");
            let mut scope = self.caused(&self.with_number("by"));
            (scope.keys, scope.again) = (Vec::new(), false);
            self.handler("cross(by)", &scope, 2);
        }
        if self.shape != Shape::Worker
            && (!self.own.queues.is_empty() || self.it.random.percent(20))
        {
            self.it.open("on end");
            let windows = self.own.windows.iter().map(|window| &window.name);
            for kept in windows.chain(&self.own.queues) {
                self.it.line(&format!("drop {kept} as its_end"));
            }
            self.it.line("count ended");
            self.it.close();
        }
        self.it.close();
        self.it.line("");
        let scope = self.own.going(false, self.turns == Way::Up);
        process::written(self.it, &scope, processes);
    }

    /// What begins by itself.
    fn clocks(&mut self) {
        let scope = Scope {
            again: false,
            ..self.own.going(true, true)
        };
        for timer in self.own.timers.clone() {
            self.handler(&timer, &scope, 3);
        }
        if self.own.again {
            let scope = self.caused(&scope);
            self.handler("again", &scope, 2);
        }
        if let Some(timer) = self.own.timers.first().cloned() {
            let it = &mut *self.it;
            if it.random.percent(60) {
                let pause = *it.random.one(&[5, 60, 400]);
                it.block("on start", |it| {
                    it.line(&format!("start {timer} after {pause} us"))
                });
            }
        }
    }

    /// A scope of what any event may cause.
    fn caused(&self, scope: &Scope) -> Scope {
        scope.going(self.turns == Way::Down, self.turns == Way::Up)
    }

    /// A scope of what goes such a way.
    fn going(&self, way: Way, scope: &Scope) -> Scope {
        let turns = way == self.turns;
        scope.going(way == Way::Up || turns, way == Way::Down || turns)
    }

    /// What other layers, and applications, tell.
    fn told(&mut self) {
        let own = self.going(Way::Down, &self.own);
        let by = self.going(Way::Down, &self.with_number("by"));
        let relayed = !own.is_lowest && self.shape == Shape::Worker;
        if self.it.random.percent(75) {
            let tells = relayed.then_some("tell below skip");
            self.told_of("skip", &own, tells);
        }
        if self.it.random.percent(60) {
            let tells = relayed.then_some("tell below tune(by)");
            self.told_of("tune(by)", &by, tells);
        }
        if own.ends && self.it.random.percent(70) {
            self.it.block("on close", |it| it.line("end"));
        }
        if self.is_highest && self.it.random.percent(60) {
            let taken = self.going(Way::Down, &self.with_number("messages"));
            self.told_of("grant_delivers(messages)", &taken, None);
        }
        if relayed && self.it.random.percent(40) {
            let (own, by) = (self.going(Way::Up, &own), self.going(Way::Up, &by));
            self.told_of("happened", &own, Some("tell above happened"));
            self.told_of("became(by)", &by, Some("tell above became(by)"));
        }
        if own.is_lowest && self.shape == Shape::Worker && self.it.random.percent(30) {
            let up = Place {
                text: "up".to_string(),
                kind: Kind::Truth,
                is_written: false,
            };
            let mut scope = self.going(Way::Up, &own);
            scope.places.push(up);
            self.told_of("carrier(up)", &scope, Some("tell above happened"));
        }
    }

    /// What an instance knows where it is told a number.
    fn with_number(&self, name: &str) -> Scope {
        let place = Place {
            text: name.to_string(),
            kind: Kind::Number(8),
            is_written: false,
        };
        let mut scope = self.own.clone();
        scope.places.push(place);
        scope
    }

    /// A handler of a notice, which perhaps tells others, too.
    fn told_of(&mut self, event: &str, scope: &Scope, tells: Option<&str>) {
        let it = &mut *self.it;
        it.open(&format!("on {event}"));
        it.some(3, 0, scope);
        if let Some(tells) = tells.filter(|_| it.random.percent(60)) {
            it.line(tells);
        }
        if scope.ends && it.random.percent(10) {
            it.line("end");
        }
        it.close();
    }

    fn handler(&mut self, event: &str, scope: &Scope, most: usize) {
        self.it
            .block(&format!("on {event}"), |it| it.some(most, 0, scope));
    }

    /// Whose a frame is.
    fn finder(&mut self) {
        let keys = self.keys.iter().map(|key| match key.kind {
            Kind::Number(8 | 16) => format!("{} % 3", key.text),
            _ => key.text.clone(),
        });
        let plain = Vec::from_iter(self.keys.iter().map(|key| key.text.clone())).join(", ");
        let turned = Vec::from_iter(keys).join(", ");
        let keys = match self.own.is_busy || self.it.random.percent(80) {
            true => plain,
            false => turned.clone(),
        };
        let other = match !self.own.is_busy && self.it.random.percent(15) {
            true => {
                let zeros = Vec::from_iter(self.keys.iter().map(|_| "0")).join(", ");
                let scope = self.up(false);
                format!(
                    " or session({zeros}) if {}",
                    self.it.values().question(&scope)
                )
            }
            false => String::new(),
        };
        let listener = match self.listens {
            true => {
                let scope = self.up(false);
                seldom::listener(self.it, (&self.keys[0], &keys), &scope)
            }
            false => String::new(),
        };
        let find = format!("on deliver find session({keys}){other}{listener}");
        if self.shape == Shape::Labelled || self.it.random.percent(20) {
            return self
                .it
                .line(&format!("{find} else drop message as nobody\n"));
        }
        let scope = self.up(false);
        self.it.open(&format!("{find} else"));
        if self.it.random.percent(30) {
            let asked = self.it.condition(&scope);
            self.it
                .line(&format!("require {asked} else drop message as not_now"));
        }
        // Of two with the same keys the newer one is found.
        let keys = if self.it.random.percent(25) {
            turned
        } else {
            keys
        };
        self.it.line(&format!(
            "let one = create session({keys}) else drop message as no_room"
        ));
        self.it.line("tell one deliver(message)");
        self.it.close();
        self.it.line("");
    }

    fn functions(&mut self) {
        let it = &mut *self.it;
        if !self.own.functions.is_empty() {
            let times = 2 + it.random.below(4);
            match it.random.percent(50) && self.shape == Shape::Worker {
                true => it.line(&format!("fn scaled(x: u8) -> u8 = x * {times} + plain\n")),
                false => it.line(&format!("fn scaled(x: u8) -> u8 = x * {times} + limit\n")),
            }
        }
    }

    /// What is known where a message comes up, of an instance, or before one is found.
    fn up(&self, is_found: bool) -> Scope {
        let mut scope = if is_found {
            self.own.clone()
        } else {
            self.entity.clone()
        };
        scope.message = Some(Way::Up);
        scope.has_header = true;
        scope.places.extend(self.agreed.read.clone());
        attributes(&mut scope);
        self.going(Way::Up, &scope)
    }

    /// What becomes of messages.
    fn messages(&mut self) {
        let mut scope = self.up(true);
        let mut asks = std::mem::take(&mut self.agreed.asks);
        let often = match (self.own.is_busy, self.is_plain) {
            (true, _) => 2,
            (false, true) => 5,
            (false, false) => 40,
        };
        let it = &mut *self.it;
        let is_beside = it.random.percent(if scope.is_busy { 5 } else { 25 });
        if is_beside && it.random.percent(50) {
            beside(it, &scope);
        }
        let scope_of_all = scope.clone();
        it.open("on deliver(message)");
        if it.random.percent(30) {
            let before = it.values().number(8, 1, &scope);
            it.line(&format!("let before = {before}"));
            let (text, kind) = ("(before as u8)".to_string(), Kind::Number(8));
            let is_written = false;
            scope.places.push(Place {
                text,
                kind,
                is_written,
            });
        }
        while !asks.is_empty() {
            let ask = asks.swap_remove(it.random.below(asks.len()));
            it.require(&ask.asked, true, &ask.otherwise, &scope);
            if it.random.percent(often / 3) {
                it.some(1, 0, &scope);
            }
        }
        if it.random.percent(often / 2) {
            let asked = it.values().condition(&scope);
            it.require(&asked, false, &[], &scope);
        }
        self.agreed.effects.iter().for_each(|line| it.line(line));
        if it.random.percent(often) {
            it.some(2, 0, &scope);
        }
        match self.is_plain {
            true => it.line("deliver message"),
            false => it.end(0, &scope),
        }
        if it.random.percent(if scope.is_busy { 8 } else { 25 }) {
            it.some(2, 0, &scope.without_message());
        }
        it.close();
        it.line("");
        if is_beside {
            // What has ended starts nothing.
            beside(it, &scope_of_all.without_timers());
        }
        self.send();
    }

    fn send(&mut self) {
        let mut scope = self.going(Way::Down, &self.own);
        scope.message = Some(Way::Down);
        attributes(&mut scope);
        let it = &mut *self.it;
        it.open("on send(message)");
        if it.random.percent(25) {
            let asked = it.values().condition(&scope);
            it.require(&asked, false, &[], &scope);
        }
        let is_first = it.random.percent(30);
        if is_first {
            self.agreed.before.iter().for_each(|line| it.line(line));
        }
        if it.random.percent(30) {
            it.some(2, 0, &scope);
        }
        match it.random.percent(15) {
            true => it.end(0, &scope),
            false => {
                let given = self.agreed.given.join(", ");
                let with = if given.is_empty() {
                    given
                } else {
                    format!(" with {{ {given} }}")
                };
                it.line(&format!("send message{with}"));
            }
        }
        if !is_first {
            self.agreed.before.iter().for_each(|line| it.line(line));
        }
        it.close();
        it.line("");
    }
}

/// Another handler of messages that come up, which leaves them alone.
fn beside(it: &mut Writer, scope: &Scope) {
    let scope = scope.without_message();
    let condition = match it.random.percent(40) {
        true => format!(" if {}", it.values().question(&scope)),
        false => String::new(),
    };
    it.open(&format!("on deliver{condition}"));
    if it.random.percent(30) {
        let asked = it.values().condition(&scope);
        it.line(&format!("require {asked} else count not_beside"));
    }
    it.some(2, 0, &scope);
    it.close();
    it.line("");
}

/// What travels beside messages is read.
fn attributes(scope: &mut Scope) {
    let text = "message.mark".to_string();
    scope.places.push(Place {
        text,
        kind: Kind::Number(8),
        is_written: false,
    });
    let text = "message.note".to_string();
    scope.places.push(Place {
        text,
        kind: Kind::Optional(16),
        is_written: false,
    });
}
