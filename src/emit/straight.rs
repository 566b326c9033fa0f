//! Sums whose words stand one by one: of what is always there of a header.
//!
//! In: a `checks` field. Out: its function, in which each word of these bytes is added for itself,
//! and no loop is needed, or begins behind them; none where its filter does not just add.

use super::Stack;
use super::bits::{advanced, load_bytes};
use super::code::declare;
use super::function;
use super::layout::c_type;
use super::scope::Scope;
use super::step::{Step, step};
use super::sums::{comment, returned, sum_name};
use crate::c::tree::{Expression as C, Function, Statement, atom, binary, call};
use crate::types::header::{Header, HeaderField, Ranges, Rule, Run};
use crate::types::program::{Filter, FilterId, HeaderId, LocalId};

/// Words of a header that are summed one by one; longer headers have a loop.
const STRAIGHT_WORDS: u32 = 16;

/// Whether a sum is computed word by word, so that its own field need not be written before.
pub fn is_straight(stack: &Stack, id: HeaderId, at: usize) -> bool {
    straight_sum(stack, id, at).is_some()
}

/// The function of a sum of which some words stand one by one, or that is over itself.
pub fn function_of(stack: &Stack, id: HeaderId, at: usize) -> Option<Function> {
    straight_sum(stack, id, at).or_else(|| short_sum(stack, id, at))
}

/// A sum of a header.
struct Sum<'a> {
    stack: &'a Stack<'a>,
    id: HeaderId,
    at: usize,
    header: &'a Header,
    field: &'a HeaderField,
    ranges: &'a Ranges,
    unless: Option<u64>,
    filter_id: FilterId,
    filter: &'a Filter,
}

/// The function of a sum of one run, as far as it is the same for all.
struct Opened<'a> {
    scope: Scope<'a>,
    /// Where the run begins, and how many bytes it has.
    place: String,
    length: String,
    /// What the function is given.
    parameters: Vec<String>,
    /// What of that its filter is given besides the run, the stack first.
    stack: Vec<C>,
    given: Vec<C>,
}

impl<'a> Sum<'a> {
    /// None where the filter asks how much there is, which only its own function counts.
    fn of(stack: &'a Stack<'a>, id: HeaderId, at: usize) -> Option<Sum<'a>> {
        let header = &stack.program.headers[id.at()];
        let field = &header.fields[at];
        match &field.rule {
            Rule::Checks { filter, .. }
                if stack.program.filters[filter.at()].measures.length.is_some() =>
            {
                None
            }
            Rule::Checks {
                ranges,
                filter,
                unless,
                ..
            } => Some(Sum {
                stack,
                id,
                at,
                header,
                field,
                ranges,
                unless: *unless,
                filter_id: *filter,
                filter: &stack.program.filters[filter.at()],
            }),
            _other_rule => None,
        }
    }

    fn opened(&self) -> Opened<'a> {
        let mut scope = Scope::new(self.stack, &self.filter.locals);
        let [place, length] = ["header", "length"].map(|name| scope.taken.take(name));
        let mut parameters = vec![
            format!("const uint8_t *{place}"),
            format!("size_t {length}"),
        ];
        let mut stack = Vec::new();
        if function::filter_needs_stack(self.stack, self.filter) {
            let name = &self.stack.names.stack;
            parameters.insert(0, format!("const struct {name} *stack"));
            stack.push(atom("stack"));
        }
        let mut given = Vec::new();
        for local in (0..self.filter.parameters).map(LocalId) {
            let name = scope.name(local);
            let kind = scope.kind(local);
            parameters.extend(super::layout::parameters(self.stack, kind, &name));
            given.push(atom(name));
        }
        Opened {
            scope,
            place,
            length,
            parameters,
            stack,
            given,
        }
    }

    /// The function, which gives in the end what is summed there, or what stands for it.
    fn function(&self, mut opened: Opened, mut body: Vec<Statement>, sum: C) -> Function {
        let kind = c_type(self.stack, &self.field.kind);
        let result = returned(&mut opened.scope, self.field, (sum, &kind), self.unless);
        body.extend(result);
        Function {
            comment: comment(self.stack, self.header, self.at, self.unless),
            result: format!("static inline {kind}"),
            name: sum_name(self.stack, self.id, self.at),
            parameters: opened.parameters,
            body,
        }
    }
}

/// The words of a header that are always there stand one by one, without the field itself; a loop
/// follows for all others, if there are any.
fn straight_sum(stack: &Stack, id: HeaderId, at: usize) -> Option<Function> {
    let sum = Sum::of(stack, id, at)?;
    let Sum { header, field, .. } = sum;
    let filter = sum.filter;
    let step = step(filter)?;
    let (from, bytes) = always_there(header, sum.ranges)?;
    let (words, unit) = (bytes / filter.unit, filter.unit);
    let is_apart = header.over_itself(at, filter).is_none();
    if !is_apart || !is_left_out(field, from + words * unit) || words > STRAIGHT_WORDS {
        return None;
    }
    let mut opened = sum.opened();
    let place = atom(&opened.place);
    let mut body = Vec::new();
    for (local, value) in &filter.state {
        body.extend(declare(&mut opened.scope, *local, Some(value), false));
    }
    let scope = &opened.scope;
    for first in (0..words).map(|word| from + word * unit) {
        let (load, _) = load_bytes(filter.big, advanced(&place, first), unit);
        let word = match kept(filter, field, first) {
            0 => continue,
            mask if mask == mask_of(8 * unit) => load,
            mask => binary("&", load, atom(format!("{mask:#x}"))),
        };
        body.push(step.of(scope, word));
    }
    let plain = sum.ranges.0 == [Run::Header] && sum.unless.is_none();
    let (length, fixed) = (atom(&opened.length), atom((words * unit).to_string()));
    let short = plain.then(|| alone(scope, filter, binary("==", length.clone(), fixed.clone())));
    body.extend(short.flatten());
    let mut on = opened.stack.clone();
    on.push(advanced(&place, from + words * unit));
    on.push(binary("-", length, fixed));
    let given = function::read_later(filter).into_iter();
    let given = given.chain(filter.state.iter().map(|(local, _)| *local));
    on.extend(given.map(|local| atom(scope.known(local))));
    let name = stack.names.filters_on[sum.filter_id.at()].clone();
    Some(sum.function(opened, body, call(name, on)))
}

/// A sum over the field itself, as it stands. Of a header without more than is always there the
/// words stand one by one.
fn short_sum(stack: &Stack, id: HeaderId, at: usize) -> Option<Function> {
    let sum = Sum::of(stack, id, at)?;
    let Sum { header, filter, .. } = sum;
    header.over_itself(at, filter)?;
    if !matches!(sum.ranges.0[..], [Run::Header | Run::HeaderAndData]) {
        return None;
    }
    let mut opened = sum.opened();
    let length = atom(&opened.length);
    let run = [atom(&opened.place), length.clone()];
    let all = opened.stack.iter().chain(&run).chain(&opened.given);
    let all = call(function::filter_name(stack, filter), all.cloned().collect());
    let short = straight_words(&mut opened.scope, filter, (&opened.place, header.least));
    let mut body = Vec::new();
    if let Some(then) = short.filter(|_| sum.unless.is_none()) {
        let condition = binary("==", length, atom(header.least.to_string()));
        let otherwise = Vec::new();
        body.push(Statement::If {
            condition,
            then,
            otherwise,
        });
    }
    Some(sum.function(opened, body, all))
}

/// The words of so many bytes, summed one by one.
fn straight_words(
    scope: &mut Scope,
    filter: &Filter,
    (place, bytes): (&str, u32),
) -> Option<Vec<Statement>> {
    let step = step(filter).filter(|step| matches!(step, Step::Round(_)))?;
    let result = filter
        .result
        .as_ref()
        .filter(|_| filter.finish.is_empty())?;
    if bytes.div_ceil(filter.unit) > STRAIGHT_WORDS {
        return None;
    }
    let mut body = Vec::new();
    for (local, value) in &filter.state {
        body.extend(declare(scope, *local, Some(value), false));
    }
    for first in (0..bytes).step_by(filter.unit as usize) {
        let there = filter.unit.min(bytes - first);
        let (load, _) = load_bytes(filter.big, advanced(&atom(place), first), there);
        body.push(step.of(scope, load));
    }
    body.push(Statement::Return(Some(scope.stored(result))));
    Some(body)
}

/// A header without more than is always there needs no loop.
fn alone(scope: &Scope, filter: &Filter, is_alone: C) -> Option<Statement> {
    let result = filter
        .result
        .as_ref()
        .filter(|_| filter.finish.is_empty())?;
    Some(Statement::If {
        condition: is_alone,
        then: vec![Statement::Return(Some(scope.stored(result)))],
        otherwise: Vec::new(),
    })
}

/// Whether a field has whole bytes, always at one place, before the last of these bytes.
fn is_left_out(field: &HeaderField, bytes: u32) -> bool {
    let always = field.present.is_none() && field.behind.is_empty();
    let whole = field.bit.is_multiple_of(8) && field.width.is_multiple_of(8);
    always && whole && field.bit + field.width <= 8 * bytes
}

/// Where what is summed begins, and how many of its bytes are always there, in the header itself.
fn always_there(header: &Header, ranges: &Ranges) -> Option<(u32, u32)> {
    let [run] = ranges.0[..] else {
        return None;
    };
    match run {
        Run::Between(from, to) => {
            let (from, to) = (&header.fields[from.at()], &header.fields[to.at()]);
            let bytes = (to.bit + to.width) / 8 - from.bit / 8;
            from.behind.is_empty().then_some((from.bit / 8, bytes))
        }
        Run::From(from) => {
            let from = &header.fields[from.at()];
            let first = from.bit / 8;
            from.behind
                .is_empty()
                .then_some((first, header.least - first))
        }
        Run::Header | Run::HeaderAndData => Some((0, header.least)),
        Run::Data => None,
    }
}

fn mask_of(bits: u32) -> u64 {
    u64::MAX >> (64 - bits)
}

/// Which bits of the word that begins at a byte are not of a field.
fn kept(filter: &Filter, field: &HeaderField, first: u32) -> u64 {
    let bytes = (0..filter.unit).filter(|byte| {
        let bit = 8 * (first + byte);
        !(field.bit..field.bit + field.width).contains(&bit)
    });
    let moved = bytes.map(|byte| match filter.big {
        true => 0xff << (8 * (filter.unit - 1 - byte)),
        false => 0xff << (8 * byte),
    });
    moved.fold(0, |all, byte: u64| all | byte)
}
