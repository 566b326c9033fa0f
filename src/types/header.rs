//! Headers exactly as they are on the wire: where each field stands, and what becomes of it.
//!
//! Expressions of a header read its own fields as `ExpressionKind::Header` (on the way down: what
//! is being written) and the message as `LocalId::MESSAGE`; defaults may read the instance too.

use super::expression::{Expression, ExpressionKind};
use super::program::{Filter, FilterId, HeaderFieldId, ReasonId, Same};
use super::value::{Type, Value};
use crate::source::Span;

/// A header on the wire.
#[derive(Clone, Debug)]
pub struct Header {
    /// The layer's name, or its own where it is only peeked at.
    pub name: String,
    /// Whether the most significant byte, and bit, comes first.
    pub big: bool,
    /// In order on the wire.
    pub fields: Vec<HeaderField>,
    /// Bytes that are always there, before and after variable and optional fields together.
    pub least: u32,
    /// Bytes at most, when pushed.
    pub most: u32,
    /// The counter for `too_short`.
    pub too_short: Option<ReasonId>,
    /// What may stand at its end, in any order and number.
    pub options: Option<Options>,
}

impl Header {
    /// A field: of the header, or of one of its options.
    pub fn field(&self, id: HeaderFieldId) -> &HeaderField {
        match (&self.options, id.at().checked_sub(self.fields.len())) {
            (Some(options), Some(place)) => &options.fields[place],
            (None, _) | (_, None) => &self.fields[id.at()],
        }
    }

    /// Where the field is written that is bad for a reason, or the header.
    pub fn written(&self, bad: Option<ReasonId>) -> Option<Span> {
        let field = self.all_fields();
        let mut bad = field.filter(|field| field.bad.is_some() && field.bad == bad);
        bad.next().or(self.fields.first()).map(|field| field.span)
    }

    /// All fields, those of options behind those of the header; the place of each is its id.
    pub fn all_fields(&self) -> impl Iterator<Item = &HeaderField> {
        let options = self.options.iter().flat_map(|options| &options.fields);
        self.fields.iter().chain(options)
    }

    /// The options that have names.
    pub fn options_named(&self) -> impl Iterator<Item = HeaderFieldId> {
        let cases = self.options.iter().flat_map(|options| &options.cases);
        let named = cases.filter(|case| case.kind == OptionKind::Fields);
        named.map(OptionCase::itself)
    }

    /// Whether this id stands for an option itself.
    pub fn is_option(&self, id: HeaderFieldId) -> bool {
        self.options_named().any(|option| option == id)
    }

    /// The session below that its sums ask, where it comes and goes.
    pub fn asks(&self) -> Option<&Expression> {
        let mut sums = self.fields.iter().flat_map(|field| match &field.rule {
            Rule::Checks { arguments, .. } => &arguments[..],
            Rule::Given | Rule::Default(_) | Rule::Is(_) | Rule::Counts { .. } => &[],
        });
        sums.find_map(below)
    }

    /// The option in which a field stands, if it does.
    pub fn option_of(&self, id: HeaderFieldId) -> Option<&OptionCase> {
        let options = self.options.as_ref()?;
        let mut cases = options.cases.iter().chain(&options.others);
        cases.find(|case| case.fields.contains(&id.0))
    }

    /// The field that counts the header, or the part of it that has no length of its own.
    pub fn counter(&self) -> Option<Counter> {
        let fields = self.fields.iter().enumerate();
        let mut all = fields.filter_map(|(place, field)| match &field.rule {
            Rule::Counts { ranges, unit } if !ranges.has_data() && !self.counts_part(place) => {
                Some(Counter {
                    field: HeaderFieldId(place as u32),
                    ranges: ranges.clone(),
                    unit: *unit,
                })
            }
            Rule::Counts { .. }
            | Rule::Given
            | Rule::Default(_)
            | Rule::Is(_)
            | Rule::Checks { .. } => None,
        });
        let first = all.clone().next();
        let open = self.open();
        all.find(|counter| open.is_some_and(|open| counter.covers(open)))
            .or(first)
    }

    /// Whether the field at this place tells how long the header is, or a bounded part of it.
    pub fn is_counter(&self, at: usize) -> bool {
        let counter = self.counter();
        counter.is_some_and(|counter| counter.field.at() == at) || self.counts_part(at)
    }

    /// The field that counts a bounded part: of those before the part, which count no part without
    /// a bound, the one that counts the fewest fields.
    pub fn part_counter(&self, part: usize) -> Option<Counter> {
        let open = self.open();
        let before = self.fields[..part].iter().enumerate();
        let counting = before.filter_map(|(place, field)| match &field.rule {
            Rule::Counts { ranges, unit }
                if !ranges.has_data()
                    && ranges.covers(part)
                    && !open.is_some_and(|open| ranges.covers(open)) =>
            {
                Some(Counter {
                    field: HeaderFieldId(place as u32),
                    ranges: ranges.clone(),
                    unit: *unit,
                })
            }
            Rule::Counts { .. }
            | Rule::Given
            | Rule::Default(_)
            | Rule::Is(_)
            | Rule::Checks { .. } => None,
        });
        let fields = |counter: &Counter| {
            let all = 0..self.fields.len();
            all.filter(|place| counter.covers(*place)).count()
        };
        counting.min_by_key(fields)
    }

    /// The bounded parts, by their places.
    pub fn parts(&self) -> impl Iterator<Item = usize> {
        let fields = self.fields.iter().enumerate();
        fields.filter_map(|(place, field)| field.bound().map(|_| place))
    }

    /// The bounded part that the field at this place counts.
    pub fn part_of(&self, counter: usize) -> Option<usize> {
        self.parts().find(|part| {
            let own = self.part_counter(*part);
            own.is_some_and(|own| own.field.at() == counter)
        })
    }

    /// Whether the field at this place counts a bounded part.
    pub fn counts_part(&self, at: usize) -> bool {
        self.part_of(at).is_some()
    }

    /// Whether some field that a counter covers may be missing.
    pub fn counts_optional(&self, counter: &Counter) -> bool {
        let mut fields = self.fields.iter().enumerate();
        fields.any(|(place, field)| field.present.is_some() && counter.covers(place))
    }

    /// Bytes of the fields that are always there and that a counter of the header leaves out. Of a
    /// header that is refused, more may be counted than is there.
    pub fn fixed_outside(&self, counter: &Counter) -> u32 {
        self.least
            .saturating_sub(self.fixed_inside(&counter.ranges))
    }

    /// Bytes of the fields that are always there and stand in some ranges.
    pub fn fixed_inside(&self, ranges: &Ranges) -> u32 {
        let fields = self.fields.iter().enumerate();
        let inside = fields.filter(|(place, _)| ranges.covers(*place));
        let inside = inside.filter(|(_, field)| field.present.is_none());
        inside.map(|(_, field)| field.width).sum::<u32>() / 8
    }

    /// The part that has no length of its own.
    pub fn open(&self) -> Option<usize> {
        let mut fields = self.fields.iter();
        fields.position(|field| field.kind == Type::UnboundedBytes)
    }

    /// How much of the header stands in some ranges.
    pub fn share_of(&self, ranges: &Ranges) -> Share {
        let all = 0..self.fields.len();
        let open = self.open().is_some_and(|open| ranges.covers(open));
        match all.clone().filter(|place| ranges.covers(*place)).count() {
            0 => Share::None,
            count if count == all.len() => Share::All,
            _ if open => Share::AllBut(self.least.saturating_sub(self.fixed_inside(ranges))),
            _ => Share::Only(self.fixed_inside(ranges)),
        }
    }

    /// Where, in order of the wire, the length of the header is settled: at what counts it, or
    /// behind, where all is known of what may be missing.
    pub fn settled_at(&self) -> Option<HeaderFieldId> {
        let counter = self.counter().map(|counter| counter.field.at());
        let optional = self.fields.iter().rposition(HeaderField::is_loose);
        let place = match optional {
            None => counter,
            Some(last) => counter.max(Some(self.open().unwrap_or(last))),
        };
        place.map(|place| HeaderFieldId(place as u32))
    }
}

/// A field that counts a header.
#[derive(Clone, Debug)]
pub struct Counter {
    /// The field.
    pub field: HeaderFieldId,
    /// Which part: without data.
    pub ranges: Ranges,
    /// Bytes a unit.
    pub unit: u32,
}

impl Counter {
    /// Whether the field at this place is in the part that is counted.
    pub fn covers(&self, place: usize) -> bool {
        self.ranges.covers(place)
    }
}

/// How much of a header stands in some ranges: bytes of fields that are always there are known,
/// those of optional fields and of what varies come to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// Nothing of it.
    None,
    /// Its fields that stand in the ranges: these many bytes, and optional ones.
    Only(u32),
    /// All but the fields that do not: these many bytes, and optional ones.
    AllBut(u32),
    /// All of it.
    All,
}

/// Parts at the end of a header that say themselves which they are.
#[derive(Clone, Debug)]
pub struct Options {
    /// The field of the header that they are: [`Type::UnboundedBytes`], and the last.
    pub region: HeaderFieldId,
    /// Bytes of the number that tells them apart.
    pub width: u32,
    /// Whether one that breaks a rule ends them; otherwise the header breaks it.
    pub until_malformed: bool,
    /// Those that are known, in order of writing.
    pub cases: Vec<OptionCase>,
    /// All others; none where they are refused.
    pub others: Option<OptionCase>,
    /// The fields of all of them. Their ids go on behind those of the header, their `bit` counts
    /// from the start of the option, and they read each other alone.
    pub fields: Vec<HeaderField>,
}

impl Options {
    /// The number that fills what is left of a header: `padding`, or `end` and then zeros.
    pub fn filler(&self) -> Option<&OptionCase> {
        let of = |kind| move |case: &&OptionCase| case.kind == kind;
        let padding = self.cases.iter().find(of(OptionKind::Padding));
        padding.or_else(|| self.cases.iter().find(of(OptionKind::End)))
    }
}

/// An option of a header.
#[derive(Clone, Debug)]
pub struct OptionCase {
    /// The number that tells it from the others.
    pub value: u64,
    /// What it is.
    pub kind: OptionKind,
    /// The ids of its fields: first the option itself (a `bool`: in a header that is pushed,
    /// whether it is to be there), then those behind its number.
    pub fields: std::ops::Range<u32>,
    /// Bytes of its number and its fields.
    pub least: u32,
    /// What tells its length, where more may follow.
    pub counted: Option<OptionCount>,
}

impl OptionCase {
    /// The id of the option itself.
    pub fn itself(&self) -> HeaderFieldId {
        HeaderFieldId(self.fields.start)
    }

    /// The ids of the fields behind its number.
    pub fn parts(&self) -> impl Iterator<Item = HeaderFieldId> + use<> {
        self.fields.clone().skip(1).map(HeaderFieldId)
    }
}

/// What an option of a header is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// Nothing follows it.
    End,
    /// It stands for nothing.
    Padding,
    /// It has fields.
    Fields,
}

/// How long an option is.
#[derive(Clone, Copy, Debug)]
pub struct OptionCount {
    /// The field that counts.
    pub field: HeaderFieldId,
    /// Bytes a unit.
    pub unit: u32,
    /// Bytes of the option that it does not count.
    pub outside: u32,
    /// Whether more bytes than those of its fields may be counted.
    pub open: bool,
}

/// A field of a header.
#[derive(Clone, Debug)]
pub struct HeaderField {
    /// Its name.
    pub name: String,
    /// Its type: a number, bool, enum, fixed or bounded bytes; [`Type::UnboundedBytes`] for
    /// `NAME: bytes`, which goes up to the end that a `counts` gives the header, and is skipped.
    pub kind: Type,
    /// True if its type is `ipv4_address`.
    pub is_address: bool,
    /// Bits from the start of the header, as far as they are fixed. In a big header bits count
    /// from the most significant of each byte, in a little one from the least.
    pub bit: u32,
    /// Bits wide; 0 for parts that are counted.
    pub width: u32,
    /// The variable and optional fields before it, whose lengths add to `bit`.
    pub behind: Vec<HeaderFieldId>,
    /// What becomes of it.
    pub rule: Rule,
    /// `where`: what must hold of it (reads this header's fields), or `bad_FIELD`.
    pub constraint: Option<Expression>,
    /// `if`: when it is there at all.
    pub present: Option<Expression>,
    /// The counter for `bad_FIELD`, where something can be bad about it.
    pub bad: Option<ReasonId>,
    /// Where it is written.
    pub span: Span,
}

impl Header {
    /// What the sum in a field is over all that it sums, itself included, where this is known of
    /// its filter and the field always stands at a multiple of its width, its highest byte first.
    /// A sum that goes out complemented is such only if its filter says that either form is right.
    pub fn over_itself(&self, at: usize, filter: &Filter) -> Option<u64> {
        let field = &self.fields[at];
        let Rule::Checks { ranges, unless, .. } = &field.rule else {
            return None;
        };
        let either = |unless| Same::Held(field.complemented(unless), unless);
        if unless.is_some_and(|unless| !filter.same.contains(&either(unless))) {
            return None;
        }
        let is = filter.same.iter().find_map(|same| match same {
            Same::Itself(is) => Some(*is),
            Same::Held(..) => None,
        })?;
        let [run] = ranges.0[..] else {
            return None;
        };
        let fixed = |field: &HeaderField| field.behind.is_empty().then_some(field.bit);
        let first = match run {
            Run::Header | Run::HeaderAndData => 0,
            Run::Between(from, _) | Run::From(from) => fixed(&self.fields[from.at()])?,
            Run::Data => return None,
        };
        let whole = run.covers(at) && (fixed(field)? - first).is_multiple_of(field.width);
        let in_order = self.big || field.width <= 8;
        (whole && in_order && field.width.is_multiple_of(8)).then_some(is)
    }
}

impl HeaderField {
    /// Bytes at most of a part with a bound.
    pub fn bound(&self) -> Option<u32> {
        match self.kind {
            Type::BoundedBytes(most) => Some(most),
            _ => None,
        }
    }

    /// Whether its length varies, and is known before the header ends: it is optional, or a part
    /// with a bound.
    pub fn is_loose(&self) -> bool {
        self.present.is_some() || self.bound().is_some()
    }

    /// The counter for `bad_FIELD`.
    pub fn reason(&self) -> ReasonId {
        self.bad.expect("a field with a rule has its reason")
    }

    /// How a sum goes out: complemented where it equals what says that nothing was summed.
    pub fn complemented(&self, sum: u64) -> u64 {
        match self.rule {
            Rule::Checks {
                unless: Some(unless),
                ..
            } if unless == sum => !sum & u64::MAX >> (64 - self.width),
            Rule::Given
            | Rule::Default(_)
            | Rule::Is(_)
            | Rule::Counts { .. }
            | Rule::Checks { .. } => sum,
        }
    }
}

/// What the compiler does with a header field.
#[derive(Clone, Debug)]
pub enum Rule {
    /// Must be given in `with` (no default).
    Given,
    /// Written unless `with` says otherwise; anything is read. May read instance, attributes.
    Default(Expression),
    /// Written, and required.
    Is(Value),
    /// A length of ranges, in units of so many bytes: written; read, it cuts.
    Counts {
        /// What is counted.
        ranges: Ranges,
        /// Bytes a unit.
        unit: u32,
    },
    /// A sum over ranges; computed with this field as zero, unless its filter says what it is over
    /// a field that stands.
    Checks {
        /// What is summed.
        ranges: Ranges,
        /// By which filter.
        filter: FilterId,
        /// Its arguments; may read this header's fields and attributes.
        arguments: Vec<Expression>,
        /// A value that says that nothing was summed; a sum equal to it goes out complemented.
        unless: Option<u64>,
    },
}

/// Which bytes a length or sum is about: runs of them, read as if they stood behind one another.
/// No byte is in two of them, and none goes on where the one before it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranges(pub Vec<Run>);

impl Ranges {
    /// Whether the field at this place is in one of them.
    pub fn covers(&self, place: usize) -> bool {
        self.0.iter().any(|run| run.covers(place))
    }

    /// Whether what follows the header is in one of them.
    pub fn has_data(&self) -> bool {
        self.0.iter().any(|run| run.has_data())
    }
}

/// Bytes that stand behind one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// The header alone.
    Header,
    /// What follows the header.
    Data,
    /// Both.
    HeaderAndData,
    /// From the first byte of one field to the last of another.
    Between(HeaderFieldId, HeaderFieldId),
    /// From the first byte of a field to the end of what follows the header.
    From(HeaderFieldId),
}

impl Run {
    /// Whether the field at this place is in it.
    pub fn covers(self, place: usize) -> bool {
        match self {
            Run::Header | Run::HeaderAndData => true,
            Run::Data => false,
            Run::Between(from, to) => (from.at()..=to.at()).contains(&place),
            Run::From(from) => from.at() <= place,
        }
    }

    /// Whether it ends with what follows the header.
    pub fn has_data(self) -> bool {
        match self {
            Run::Data | Run::HeaderAndData | Run::From(_) => true,
            Run::Header | Run::Between(..) => false,
        }
    }
}

fn below(expression: &Expression) -> Option<&Expression> {
    match *expression.kind == ExpressionKind::Below {
        true => Some(expression),
        false => expression.parts().into_iter().find_map(below),
    }
}
