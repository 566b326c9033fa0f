//! Random transitions: clauses that nest, and blocks behind them.

use super::block::{Block, at, sequence};
use super::value::{Form, Kind, Place, Scope};
use super::{Own, Writer};
use std::rc::Rc;

/// The kinds of clauses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Clause {
    From,
    To,
    When,
    Provided,
    Priority,
    Delay,
    Any,
}

/// The clauses that are open in front of a clause or a block.
#[derive(Clone)]
struct Open {
    scope: Scope,
    /// The parameters of `when`.
    taken: Vec<Place>,
    any: Vec<(String, Rc<Kind>)>,
    has_when: bool,
    /// True if the module has something left to spend.
    is_bounded: bool,
}

impl Writer {
    /// Writes the transitions of a body.
    pub fn transitions(&mut self, own: &Own, scope: &Scope) -> String {
        let mut text = String::new();
        let open = Open {
            scope: scope.clone(),
            taken: Vec::new(),
            any: Vec::new(),
            has_when: false,
            is_bounded: false,
        };
        let has_input = self.inputs(own).next().is_some();
        for _ in 0..1 + self.values.random.usize(..2) {
            let mut kinds = Vec::new();
            if !own.states.is_empty() {
                kinds.push(Clause::From);
                kinds.push(Clause::To);
            }
            match has_input && self.values.chance(50) {
                true => kinds.push(Clause::When),
                false => kinds.push(Clause::Provided),
            }
            for (clause, percent) in [
                (Clause::Provided, 60),
                (Clause::Priority, 30),
                (Clause::Any, 25),
            ] {
                if self.values.chance(percent) && !kinds.contains(&clause) {
                    kinds.push(clause);
                }
            }
            // Children run while their parent waits.
            let percent = if own.children.is_empty() { 25 } else { 80 };
            if !kinds.contains(&Clause::When) && self.values.chance(percent) {
                kinds.push(Clause::Delay);
            }
            kinds.retain(|_| self.values.chance(90));
            let is_free = !kinds.contains(&Clause::When) && !kinds.contains(&Clause::Provided);
            if is_free || kinds.is_empty() {
                kinds.push(Clause::Provided);
            }
            self.values.random.shuffle(&mut kinds);
            let mut leaves = 5;
            text += &format!(" trans {}", self.tree(own, &kinds, &open, &mut leaves));
        }
        text + &self.rest(own, &open)
    }

    /// The interactions that a body may take, by point and by number.
    fn inputs<'a>(&'a self, own: &'a Own) -> impl Iterator<Item = (usize, usize)> + 'a {
        own.points.iter().enumerate().flat_map(|(point, it)| {
            let all = self.channels[it.channel].interactions.iter().enumerate();
            let taken = all.filter(|(_, one)| one.senders[1 - it.role]);
            taken.map(move |(interaction, _)| (point, interaction))
        })
    }

    /// Writes transitions that take almost everything that no other one takes.
    fn rest(&mut self, own: &Own, open: &Open) -> String {
        let mut text = String::new();
        let inputs: Vec<_> = self.inputs(own).collect();
        for input in inputs {
            // A point that is attached later moves its interactions.
            let is_left = own.points[input.0].attached.is_some();
            if self.values.chance(if is_left { 60 } else { 12 }) {
                continue;
            }
            let mut open = open.clone();
            text += " trans ";
            if let Some(kind) = own.points[input.0].index.clone() {
                text += &self.any(&kind, &mut open);
            }
            if self.values.chance(30) {
                text += &format!(" priority {}", self.values.number(1, 4));
            }
            text += &self.when(own, input, &mut open);
            text += &self.leaf(own, &open);
        }
        text
    }

    /// Writes the clauses of the first kind, with the others and blocks inside.
    fn tree(&mut self, own: &Own, kinds: &[Clause], open: &Open, leaves: &mut u32) -> String {
        let Some((kind, rest)) = kinds.split_first() else {
            *leaves = leaves.saturating_sub(1);
            return self.leaf(own, open);
        };
        let most = match kind {
            Clause::To | Clause::Any | Clause::Delay => 1,
            Clause::From | Clause::When | Clause::Provided | Clause::Priority => 3,
        };
        let mut text = String::new();
        let count = 1 + self.values.random.usize(..most);
        for number in 0..count {
            if number > 0 && *leaves == 0 {
                break;
            }
            let mut inner = open.clone();
            // Without an interaction, it would fire as often as nothing else does.
            let waits = open.has_when || rest.contains(&Clause::When);
            let percent = if waits { 50 } else { 8 };
            let ends = *kind == Clause::Provided && number > 0 && self.values.chance(percent);
            text += &match ends {
                true => " provided otherwise".to_string(),
                false => self.clause(own, *kind, &mut inner),
            };
            text += &self.tree(own, rest, &inner, leaves);
            if ends {
                break;
            }
        }
        text
    }

    fn clause(&mut self, own: &Own, kind: Clause, open: &mut Open) -> String {
        match kind {
            Clause::From => {
                if self.values.chance(15)
                    && let Some(set) = &own.state_set
                {
                    return format!(" from {set}");
                }
                let one = self.values.one(&own.states);
                let other = self.values.one(&own.states);
                match one == other || self.values.chance(50) {
                    true => format!(" from {one}"),
                    false => format!(" from {one}, {other}"),
                }
            }
            Clause::To if self.values.chance(10) => " to same".to_string(),
            Clause::To => format!(" to {}", self.values.one(&own.states)),
            Clause::When => {
                let inputs: Vec<_> = self.inputs(own).collect();
                let input = self.values.one(&inputs);
                self.when(own, input, open)
            }
            Clause::Provided => self.without_faults(|writer| writer.provided(own, open)),
            Clause::Priority => format!(" priority {}", self.values.number(0, 3)),
            Clause::Delay if self.values.is_faulty && self.values.chance(10) => {
                " delay(1, acc mod 5)".to_string()
            }
            Clause::Delay => self.without_faults(|writer| writer.delay(open)),
            Clause::Any => {
                let kind = self
                    .values
                    .kind(|it| it.is_index() && it.values().len() < 4);
                self.any(&kind, open)
            }
        }
    }

    /// Writes expressions that cannot be at fault: it is open how many conditions a choice reads.
    pub fn without_faults<T>(&mut self, write: impl FnOnce(&mut Writer) -> T) -> T {
        let was_faulty = std::mem::take(&mut self.values.is_faulty);
        let written = write(self);
        self.values.is_faulty = was_faulty;
        written
    }

    /// Writes the condition of `forone`.
    pub fn such_that(&mut self, scope: &Scope) -> String {
        let mut pure = scope.clone();
        pure.is_pure = true;
        self.without_faults(|writer| writer.values.condition(&pure, 2))
    }

    fn any(&mut self, kind: &Rc<Kind>, open: &mut Open) -> String {
        let name = self.values.name("n");
        open.any.push((name.clone(), Rc::clone(kind)));
        open.scope.places.push(Place {
            text: name.clone(),
            kind: Rc::clone(kind),
            is_writable: false,
        });
        format!(" any {name}: {} do", kind.name)
    }

    fn when(&mut self, own: &Own, (point, interaction): (usize, usize), open: &mut Open) -> String {
        let point = &own.points[point];
        let interaction = self.channels[point.channel].interactions[interaction].clone();
        let index = point.index.as_ref().map(|kind| {
            let named = open.any.iter().find(|(_, any)| Rc::ptr_eq(any, kind));
            named.map_or_else(|| self.values.one(&kind.values()), |(name, _)| name.clone())
        });
        let index = index.unwrap_or_default();
        let mut text = format!(" when {}.{}", at(&point.text(), &index), interaction.name);
        open.has_when = true;
        if !interaction.formals.is_empty() && self.values.chance(90) {
            let names = interaction.formals.iter().map(|(name, _)| name.as_str());
            text += &format!("({})", names.collect::<Vec<_>>().join(", "));
            for (name, kind) in &interaction.formals {
                let place = Place {
                    text: name.clone(),
                    kind: Rc::clone(kind),
                    is_writable: true,
                };
                open.scope.places.push(place.clone());
                open.taken.push(place);
            }
        }
        text
    }

    fn provided(&mut self, own: &Own, open: &mut Open) -> String {
        let mut scope = open.scope.clone();
        scope.is_pure = true;
        let mut condition = match self.values.random.u8(..8) {
            0 if !own.children.is_empty() => self.child_condition(own, &scope),
            1 => "true".to_string(),
            2 | 3 => {
                let by = self.values.number(2, 3);
                format!("(acc mod {by} = {})", self.values.number(0, by - 1))
            }
            _ => self.values.condition(&scope, 2),
        };
        // A transition without an interaction needs something to spend.
        if !open.has_when || self.values.chance(15) {
            open.is_bounded = true;
            condition = format!("(left > 0) and {condition}");
        }
        format!(" provided {condition}")
    }

    /// Writes a condition that reads exported variables of children.
    fn child_condition(&mut self, own: &Own, scope: &Scope) -> String {
        let child = self.values.one(&own.children);
        let mut inner = scope.clone();
        match self.values.chance(50) {
            true => {
                let index = child
                    .index
                    .as_ref()
                    .map(|kind| self.values.one(&kind.values()));
                let index = index.unwrap_or_default();
                for place in self.exports(&child, &at(&child.text(), &index)) {
                    inner.places.extend([place.clone(), place]);
                }
                let has = at(&child.flag(), &index);
                format!("({has} and {})", self.values.condition(&inner, 2))
            }
            false => {
                let name = self.values.name("h");
                for place in self.exports(&child, &name) {
                    inner.places.extend([place.clone(), place]);
                }
                let condition = self.values.condition(&inner, 2);
                format!("(exist {name}: {} suchthat {condition})", child.header)
            }
        }
    }

    fn delay(&mut self, open: &Open) -> String {
        let mut scope = open.scope.clone();
        scope.is_pure = true;
        let least = self.values.within(0, 3, &scope, 1);
        match self.values.random.u8(..4) {
            0 => format!(" delay({least}, *)"),
            1 => format!(" delay({least}, {} + {least})", self.values.number(0, 4)),
            _ => format!(" delay({least})"),
        }
    }

    /// Writes the name and the block of a transition.
    fn leaf(&mut self, own: &Own, open: &Open) -> String {
        let name = self.values.name("t");
        let block = self.scope(|writer| writer.block(own, open));
        format!(" name {name}: {block};")
    }

    fn block(&mut self, own: &Own, open: &Open) -> String {
        let mut block = Block::default();
        let mut scope = open.scope.clone();
        let mut all = Vec::new();
        if open.is_bounded {
            all.push("left := left - 1".to_string());
        }
        for _ in 0..self.values.random.usize(..3) {
            let kind = self.values.kind(|_| true);
            let mut local = block.local(&mut self.values, "l", &kind);
            all.extend(self.initialise(&local, &mut block, &scope));
            local.is_writable = true;
            scope.places.push(local);
        }
        for place in &open.taken {
            if self.values.chance(80) {
                all.extend(self.sum(place, &mut block));
            }
        }
        let count = 1 + self.values.random.usize(..3);
        all.extend(self.statements(own, &scope, &mut block, (2, count)));
        let mut spent = Vec::new();
        for _ in 0..self.values.one(&[0, 1, 1, 1, 2]) {
            spent.extend(self.output(own, &scope, &mut block));
        }
        if own.is_dynamic && self.values.chance(80) {
            for _ in 0..1 + self.values.random.usize(..3) {
                spent.extend(self.structure(own, &scope, &mut block));
            }
        }
        match open.is_bounded || spent.is_empty() {
            true => all.extend(spent),
            false => {
                spent.insert(0, "left := left - 1".to_string());
                all.push(format!("if left > 0 then {}", sequence(&spent)));
            }
        }
        let last = self.values.integer(&scope, 2).0;
        all.push(format!("acc := mix(acc, {last})"));
        block.declarations() + &sequence(&all)
    }

    /// Adds all parts of a place to the checksum.
    pub fn sum(&mut self, place: &Place, block: &mut Block) -> Vec<String> {
        let part = |text: String, kind: &Rc<Kind>| Place {
            text,
            kind: Rc::clone(kind),
            is_writable: false,
        };
        match &place.kind.form {
            Form::Array(index, element) => {
                let counter = block.local(&mut self.values, "f", index);
                let text = format!("{}[{}]", place.text, counter.text);
                let inner = sequence(&self.sum(&part(text, element), block));
                let ends = index.values();
                let (first, last) = (&ends[0], &ends[ends.len() - 1]);
                vec![format!(
                    "for {} := {first} to {last} do {inner}",
                    counter.text
                )]
            }
            Form::Record(record) => {
                let mut all = Vec::new();
                for (field, kind) in &record.fields {
                    all.extend(self.sum(&part(format!("{}.{field}", place.text), kind), block));
                }
                if let Some(variant) = &record.variant {
                    let mut text = format!("case {}.{} of", place.text, variant.tag);
                    for (label, field, kind) in &variant.cases {
                        let value = self.number_of(&format!("{}.{field}", place.text), kind);
                        text += &format!(" {label}: acc := mix(acc, {value});");
                    }
                    all.push(text + " end");
                }
                all
            }
            _ => {
                let value = self.number_of(&place.text, &place.kind);
                vec![format!("acc := mix(acc, {value})")]
            }
        }
    }
}
