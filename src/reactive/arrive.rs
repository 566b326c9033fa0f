//! What arrives at an entity from below: its header is parsed, its session is found.
//!
//! A header becomes tests and steps, so that rewrites can see them: long enough, strip, the parts
//! of variable length, then what each field requires in the order of the wire, then the sums.

mod parts;

use super::block::{AS_A_RULE, FIRST};
use super::frame::Frame;
use super::{Lowering, handler_of, reads};
use crate::tree::{Action, Index, NodeId, Output, Parameters};
use crate::types::expression::{Binary, Expression, ExpressionKind, Instance, Unary};
use crate::types::header::{Header, HeaderField, Ranges, Rule, Share};
use crate::types::program::{
    EntityId, Event, Finder, HeaderFieldId, HeaderId, KindId, LocalId, Population, ReasonId, Shape,
    Target,
};
use crate::types::statement::{Likely, Operation};
use crate::types::value::Type;

/// How often a header is as it should be, where nobody says otherwise.
const IN_ORDER: Likely = Some(99.9);

/// Lengths are counted in this type.
const BYTES: Type = Type::Unsigned(32);

/// One requirement or step of a header, before what comes next.
enum Step {
    Do(Action),
    /// Dropped for a reason unless it holds.
    Require(Expression, ReasonId),
    /// Only where this holds.
    If(Expression, Vec<Step>),
}

/// A header that is being parsed.
struct Parse<'a> {
    header: &'a Header,
    id: HeaderId,
    message: LocalId,
    frame: Frame<'a>,
    /// Bytes of the header, as far as it is taken off.
    length: Expression,
    /// Its length is settled.
    settled: bool,
    /// What is counted behind the header, until that is settled.
    cuts: Vec<(&'a HeaderField, Expression, &'a Ranges)>,
    steps: Vec<Step>,
}

impl<'a> Lowering<'a> {
    /// A message comes from below.
    pub fn message_arrives(&mut self, entity: EntityId, index: Index) -> (Parameters, NodeId) {
        let table = &self.program.entities[entity.at()];
        let mut parameters = Parameters::default();
        let message = self.fresh("message".to_string(), Type::Message);
        parameters.message = Some(message);
        let (by, root) = match table.shape {
            Shape::Worker | Shape::Router => {
                let steps = &mut Vec::new();
                let own = self.own(table.session, index, &mut parameters.instance, steps);
                let keys = self.keys(table.session, index);
                let by = Frame::new(self.program, own, table.session, keys, &table.refused);
                let delivers = self.session_delivers(table.session, index, own, message);
                (by, delivers)
            }
            Shape::Multiplexor => {
                let finder = self.finder(entity, Event::Deliver);
                let mut by = Frame::new(
                    self.program,
                    Instance::Entity,
                    table.record,
                    None,
                    &table.refused,
                );
                parameters.instance = self.comes_from(entity);
                let below = parameters.instance;
                by.below = below.map(Instance::Local);
                (by, self.found((entity, below), finder, Some(message), &[]))
            }
        };
        let root = match table.header {
            Some(header) => {
                let refused = self.body(&by, &table.refused, Vec::new(), table.span);
                self.parse(entity, header, &parameters, (root, refused))
            }
            None => root,
        };
        (parameters, root)
    }

    /// A notice comes from below for which there is a finder.
    pub fn notice_arrives(&mut self, entity: EntityId, event: Event) -> (Parameters, NodeId) {
        let finder = self.finder(entity, event);
        let carries = self.carries_message(event);
        let mut given = Vec::new();
        for parameter in &finder.parameters {
            let local = &finder.locals[parameter.at()];
            given.push(self.fresh(local.name.clone(), local.kind.clone()));
        }
        let message = given.first().copied().filter(|_| carries);
        let arguments = given[usize::from(carries)..].to_vec();
        let below = self.comes_from(entity);
        let root = self.found((entity, below), finder, message, &arguments);
        let parameters = Parameters {
            instance: below,
            message,
            arguments,
        };
        (parameters, root)
    }

    /// Holds the session from which something comes to a multiplexor, where those come and go.
    fn comes_from(&mut self, entity: EntityId) -> Option<LocalId> {
        let session = self.program.entities[entity.at()].session;
        let below = self.program.stands_on(session)?;
        let name = self.program.kinds[below.at()].name.clone();
        Some(self.fresh(name, Type::Instance(below)))
    }

    fn finder(&self, entity: EntityId, event: Event) -> &'a Finder {
        let mut finders = self.program.entities[entity.at()].finders.iter();
        finders
            .find(|finder| finder.event == event)
            .expect("a multiplexor says which session an event is for")
    }

    /// The instance that the finder finds handles the event in the same instant.
    fn found(
        &mut self,
        (entity, below): (EntityId, Option<LocalId>),
        finder: &'a Finder,
        message: Option<LocalId>,
        arguments: &[LocalId],
    ) -> NodeId {
        let record = self.program.entities[entity.at()].record;
        let mut frame = Frame::new(
            self.program,
            Instance::Entity,
            record,
            None,
            &finder.otherwise,
        );
        let given: Vec<LocalId> = message.iter().chain(arguments).copied().collect();
        let names = finder.parameters.iter().copied().zip(given.iter().copied());
        let names = names.chain(finder.below.zip(below));
        self.declare(&mut frame, &finder.locals, &names.collect::<Vec<_>>());
        frame.message = message;
        frame.below = below.map(Instance::Local);
        let late = reads::late_header_reads(&finder.otherwise, &[]);
        let first = self.taken_early(&mut frame, late);
        let otherwise = self.body(&frame, &finder.otherwise, Vec::new(), finder.span);
        let mut node = self.steps(first, otherwise);
        frame.taken.clear();
        for (at, target) in finder.targets.iter().enumerate().rev() {
            let others = &finder.targets[at + 1..];
            let likely = match (at, others) {
                (_, []) => AS_A_RULE,
                (0, others) if others.iter().all(|one| one.kind != target.kind) => FIRST,
                _several => None,
            };
            node = self.at(Some(finder.span), |lowering| {
                lowering.target(&frame, target, finder.event, &given, likely, node)
            });
        }
        self.before(&frame, &finder.before, node)
    }

    fn target(
        &mut self,
        frame: &Frame<'a>,
        target: &'a Target,
        event: Event,
        given: &[LocalId],
        likely: Likely,
        missing: NodeId,
    ) -> NodeId {
        let name = self.program.kinds[target.kind.at()].name.clone();
        let bind = self.fresh(name, Type::Instance(target.kind));
        let keys = target.keys.iter().map(|key| frame.expression(key));
        let keys = keys.collect();
        let condition = target.condition.as_ref().map(|c| frame.expression(c));
        let kind = target.kind;
        let below = self.program.stands_on(kind).and(frame.below);
        let mut matched = |lowering: &mut Self, index: Index| {
            let own = match index {
                Index::Only(at) => Instance::Only(at),
                Index::Any | Index::Label(_) => Instance::Local(bind),
            };
            if below.is_none() && lowering.told.contains(&(kind, event)) {
                return lowering.tell_found(kind, own, event, given);
            }
            lowering.handles_here((kind, index), (own, below), event, given)
        };
        self.find(
            target.kind,
            keys,
            condition,
            bind,
            likely,
            &mut matched,
            missing,
        )
    }

    /// The instance that was found is told the event. As others tell it, too, its handler is a
    /// reaction, and so the code of the handler exists once.
    fn tell_found(
        &mut self,
        kind: KindId,
        own: Instance,
        event: Event,
        given: &[LocalId],
    ) -> NodeId {
        let goal = self.told(own, kind, event);
        self.want_goal(goal);
        let message = given
            .first()
            .copied()
            .filter(|_| self.carries_message(event));
        let arguments = given.iter().skip(usize::from(message.is_some()));
        let arguments =
            arguments.map(|local| Expression::local(*local, self.locals[local.at()].kind.clone()));
        let arguments = arguments.collect();
        self.leaf(vec![Output::One {
            goal,
            message,
            arguments,
        }])
    }

    fn session_delivers(
        &mut self,
        kind: KindId,
        index: Index,
        own: Instance,
        message: LocalId,
    ) -> NodeId {
        self.handles_here((kind, index), (own, None), Event::Deliver, &[message])
    }

    /// An instance's handler, with its parameters under names that are known.
    fn handles_here(
        &mut self,
        (kind, index): (KindId, Index),
        (own, below): (Instance, Option<Instance>),
        event: Event,
        given: &[LocalId],
    ) -> NodeId {
        let Some(handler) = handler_of(self.program, kind, event) else {
            return self.leaf(Vec::new());
        };
        let mut frame = Frame::of(self.program, own, self.keys(kind, index), handler);
        frame.below = below;
        frame.label = super::label_of(index);
        let names = handler
            .parameters
            .iter()
            .copied()
            .zip(given.iter().copied());
        self.declare(&mut frame, &handler.locals, &names.collect::<Vec<_>>());
        frame.message = given
            .first()
            .copied()
            .filter(|_| self.carries_message(event));
        self.handler(frame, handler, Vec::new())
    }

    /// The tests and steps of a header before what comes next, or what is done if it is refused.
    fn parse(
        &mut self,
        entity: EntityId,
        id: HeaderId,
        parameters: &Parameters,
        (next, refused): (NodeId, NodeId),
    ) -> NodeId {
        let message = parameters.message.expect("a header comes with a message");
        let table = &self.program.entities[entity.at()];
        let header = &self.program.headers[id.at()];
        // Its expressions may read the keys of the only session, where there is but one.
        let (own, keys) = match &self.program.kinds[table.session.at()].population {
            Population::Static(all) if all.len() == 1 => {
                (Instance::Only(0), Some(&all[0].keys[..]))
            }
            Population::Static(_) | Population::Labelled(_) | Population::Dynamic { .. } => {
                (Instance::Entity, None)
            }
        };
        let mut frame = Frame::new(self.program, own, table.session, keys, &[]);
        frame.message = Some(message);
        frame.below = parameters.instance.map(Instance::Local);
        let mut parse = Parse {
            header,
            id,
            message,
            frame,
            length: Expression::number(u64::from(header.least), BYTES),
            settled: header.settled_at().is_none(),
            cuts: Vec::new(),
            steps: Vec::new(),
        };
        parse.take_off();
        for (at, field) in header.fields.iter().enumerate() {
            if let Some(most) = field.bound() {
                parse.require_bound(at, field, most);
            }
            if !parse.settled {
                parse.take_optional_off(at, field);
            }
            if let Some(known) = self.known_values(field) {
                let id = HeaderFieldId(at as u32);
                parse.require_one_of(id, field, &known);
            }
            parse.require_field(at, field);
            if header
                .settled_at()
                .is_some_and(|settled| settled.at() == at)
            {
                parse.settle();
            }
            parse.cut();
        }
        parse.require_options();
        self.require_sums(&mut parse);
        let steps = std::mem::take(&mut parse.steps);
        self.steps_of(steps, (message, header), (next, refused))
    }

    fn steps_of(
        &mut self,
        steps: Vec<Step>,
        (message, header): (LocalId, &Header),
        (next, refused): (NodeId, NodeId),
    ) -> NodeId {
        steps.into_iter().rev().fold(next, |next, step| match step {
            Step::Do(action) => self.act(action, next),
            Step::Require(condition, reason) => {
                let dropped = self.act(Action::Drop(message, reason), refused);
                let place = header.written(Some(reason));
                self.at(place, |to| to.test(condition, IN_ORDER, next, dropped))
            }
            Step::If(condition, steps) => {
                let first = steps.iter().find_map(|step| match step {
                    Step::Require(_, reason) => Some(*reason),
                    Step::Do(_) | Step::If(..) => None,
                });
                let place = header.written(first);
                let then = self.steps_of(steps, (message, header), (next, refused));
                self.at(place, |to| to.test(condition, None, then, next))
            }
        })
    }

    /// The values that an enum without `else` can have.
    fn known_values(&self, field: &HeaderField) -> Option<Vec<u64>> {
        match &field.kind {
            Type::Enum(id) => {
                let table = &self.program.enums[id.at()];
                let values = table.names.iter().map(|(_, value)| *value);
                table.other.is_none().then(|| values.collect())
            }
            _ => None,
        }
    }

    /// Sums come last: what is summed has its length by then.
    fn require_sums(&mut self, parse: &mut Parse<'a>) {
        for (at, field) in parse.header.fields.iter().enumerate() {
            let Rule::Checks {
                arguments,
                filter,
                unless,
                ..
            } = &field.rule
            else {
                continue;
            };
            let id = HeaderFieldId(at as u32);
            let bind = self.fresh(field.name.clone(), field.kind.clone());
            let arguments = arguments.iter().map(|e| parse.frame.expression(e));
            let summed = Action::Sum {
                bind,
                message: parse.message,
                header: parse.id,
                field: id,
                arguments: arguments.collect(),
            };
            let read = parse.field(id);
            let sum = Expression::local(bind, field.kind.clone());
            let filter = &self.program.filters[filter.at()];
            let holds = super::sums::is_right((parse.header, id), filter, *unless, (sum, read));
            let steps = vec![Step::Do(summed), Step::Require(holds, field.reason())];
            match &field.present {
                None => parse.steps.extend(steps),
                Some(present) => {
                    let present = parse.frame.expression(present);
                    parse.steps.push(Step::If(present, steps));
                }
            }
        }
    }
}

impl<'a> Parse<'a> {
    /// The part of the header that is always there leaves the message.
    fn take_off(&mut self) {
        if let Some(reason) = self.header.too_short {
            let length = Expression::new(ExpressionKind::Length(self.message), BYTES);
            let least = self.length.clone();
            let long_enough = Expression::binary(Binary::AtLeast, length, least, Type::Bool);
            self.steps.push(Step::Require(long_enough, reason));
        }
        self.steps
            .push(Step::Do(Action::Strip(self.message, self.id)));
    }

    /// A field that is not always there is taken off where it is.
    fn take_optional_off(&mut self, at: usize, field: &HeaderField) {
        let Some(bytes) = self.optional_bytes(at, field) else {
            return;
        };
        if let Some(reason) = self.header.too_short {
            let length = Expression::new(ExpressionKind::Length(self.message), BYTES);
            let fits = Expression::binary(Binary::AtLeast, length, bytes.clone(), Type::Bool);
            self.steps.push(Step::Require(fits, reason));
        }
        let rest = Action::StripRest(self.message, bytes.clone());
        self.steps.push(Step::Do(rest));
        self.length = Expression::binary(Binary::Add, self.length.clone(), bytes, BYTES);
    }

    /// All is known of what may be missing in a header that counts itself: it is as long as it
    /// says, and its part of variable length is taken off.
    fn settle(&mut self) {
        self.settled = true;
        let Some(counter) = self.header.counter() else {
            return;
        };
        let field = &self.header.fields[counter.field.at()];
        let mut counted = self.counted(counter.field.at(), counter.unit);
        let fixed = self.header.fixed_outside(&counter);
        let mut fields = self.header.fields.iter().enumerate();
        let optional = fields.any(|(at, field)| !counter.covers(at) && field.is_loose());
        if fixed > 0 || optional {
            let outside = self.bytes_of(fixed, &|at| !counter.covers(at));
            counted = Expression::binary(Binary::Add, counted, outside, BYTES);
        }
        let known = self.bytes_of(self.header.least, &|_| true);
        let variable = self
            .header
            .fields
            .iter()
            .any(|f| f.kind == Type::UnboundedBytes);
        let compare = if variable {
            Binary::AtLeast
        } else {
            Binary::Equal
        };
        // Where too few are counted, what is left of them is more than any message has.
        if !variable || known != self.length {
            let enough = Expression::binary(compare, counted.clone(), known, Type::Bool);
            self.require(enough, field);
        }
        if variable {
            let taken = self.length.clone();
            self.length = counted.clone();
            let rest = Expression::binary(Binary::Subtract, counted, taken, BYTES);
            let length = Expression::new(ExpressionKind::Length(self.message), BYTES);
            let there = Expression::binary(Binary::AtMost, rest.clone(), length, Type::Bool);
            self.require(there, field);
            self.steps
                .push(Step::Do(Action::StripRest(self.message, rest)));
        }
    }

    /// What is counted behind the header is cut to that, once the header is as long as it will be.
    fn cut(&mut self) {
        if self.settled {
            for (field, counted, ranges) in std::mem::take(&mut self.cuts) {
                let before = std::mem::take(&mut self.steps);
                self.cut_to(field, counted, ranges);
                let steps = std::mem::replace(&mut self.steps, before);
                match &field.present {
                    None => self.steps.extend(steps),
                    Some(present) => {
                        let present = self.frame.expression(present);
                        self.steps.push(Step::If(present, steps));
                    }
                }
            }
        }
    }

    /// Options keep their rules, and end with the header, unless one that does not ends them.
    fn require_options(&mut self) {
        if let Some(options) = &self.header.options
            && !options.until_malformed
        {
            let hold = ExpressionKind::OptionsHold(self.id);
            let hold = Expression::new(hold, Type::Bool);
            self.require(hold, &self.header.fields[options.region.at()]);
        }
    }

    /// A count, and where it may be more than a length can be, no more than that.
    fn bounded_count(&self, at: usize, unit: u32) -> Expression {
        let read = self.field(HeaderFieldId(at as u32));
        let most = u64::from(u32::MAX / unit);
        let width = self.header.fields[at].width;
        if u64::MAX >> (64 - width) <= most {
            return read;
        }
        let of = read.result.clone();
        let most = Expression::number(most, of.clone());
        Expression::new(ExpressionKind::Least(read, most), of)
    }

    fn counted(&self, at: usize, unit: u32) -> Expression {
        let read = self.bounded_count(at, unit);
        let wide = Expression::new(ExpressionKind::Cast(read), BYTES);
        match unit {
            1 => wide,
            unit => {
                let unit = Expression::number(u64::from(unit), BYTES);
                Expression::binary(Binary::Multiply, wide, unit, BYTES)
            }
        }
    }

    /// What a field requires.
    fn require_field(&mut self, at: usize, field: &'a HeaderField) {
        match &field.rule {
            Rule::Is(value) => {
                let value = Expression::constant(value.clone(), field.kind.clone());
                let read = self.field(HeaderFieldId(at as u32));
                let is = Expression::binary(Binary::Equal, read, value, Type::Bool);
                self.require_where_present(is, field);
            }
            Rule::Counts { ranges, unit } if !self.header.is_counter(at) => {
                let counted = self.counted(at, *unit);
                self.cuts.push((field, counted, ranges));
            }
            Rule::Counts { .. } | Rule::Given | Rule::Default(_) | Rule::Checks { .. } => {}
        }
        if let Some(constraint) = &field.constraint {
            let constraint = self.frame.expression(constraint);
            self.require_where_present(constraint, field);
        }
    }

    /// An enum's value is one of its names.
    fn require_one_of(&mut self, id: HeaderFieldId, field: &HeaderField, known: &[u64]) {
        let all = field.width < 64 && known.len() as u64 == 1 << field.width;
        if all {
            return;
        }
        let read = self.field(id);
        let is = |value: &u64| {
            let value = Expression::number(*value, field.kind.clone());
            Expression::binary(Binary::Equal, read.clone(), value, Type::Bool)
        };
        let either = |a, b| Expression::binary(Binary::Or, a, b, Type::Bool);
        if let Some(one_of) = known.iter().map(is).reduce(either) {
            self.require_where_present(one_of, field);
        }
    }

    /// The message has as many bytes as are counted; what is behind them is cut off.
    fn cut_to(&mut self, field: &'a HeaderField, counted: Expression, ranges: &'a Ranges) {
        let (message, covered) = (self.message, self.covered(ranges));
        let compared = |operator, one: &Expression, other: Expression| {
            Expression::binary(operator, one.clone(), other, Type::Bool)
        };
        if !ranges.has_data() {
            let covered = covered.expect("something is counted");
            self.require(compared(Binary::Equal, &counted, covered), field);
            return;
        }
        let data = match covered {
            None => counted,
            // Where that is less than the header has, it is more than any message has.
            Some(covered) => Expression::binary(Binary::Subtract, counted, covered, BYTES),
        };
        let length = Expression::new(ExpressionKind::Length(message), BYTES);
        self.require(compared(Binary::AtMost, &data, length), field);
        let cut = Operation::Cut(message, data);
        self.steps.push(Step::Do(Action::Do(cut)));
    }

    /// Bytes of the header that stand in some ranges, where any do.
    fn covered(&self, ranges: &Ranges) -> Option<Expression> {
        Some(match self.header.share_of(ranges) {
            Share::None => return None,
            Share::Only(fixed) => self.bytes_of(fixed, &|at| ranges.covers(at)),
            Share::AllBut(fixed) => {
                let outside = self.bytes_of(fixed, &|at| !ranges.covers(at));
                Expression::binary(Binary::Subtract, self.length.clone(), outside, BYTES)
            }
            Share::All => self.length.clone(),
        })
    }

    fn field(&self, id: HeaderFieldId) -> Expression {
        let kind = self.header.fields[id.at()].kind.clone();
        Expression::new(ExpressionKind::Header(self.id, id), kind)
    }

    fn require_where_present(&mut self, condition: Expression, field: &HeaderField) {
        let condition = match &field.present {
            None => condition,
            Some(present) => {
                let present = self.frame.expression(present);
                let absent =
                    Expression::new(ExpressionKind::Unary(Unary::Not, present), Type::Bool);
                Expression::binary(Binary::Or, absent, condition, Type::Bool)
            }
        };
        self.require(condition, field);
    }

    fn require(&mut self, condition: Expression, field: &HeaderField) {
        self.steps.push(Step::Require(condition, field.reason()));
    }
}
