//! The frame that the instances of a layer want next: what a header says is as the fields of the
//! instance are whose the frame is (`number_3` as `next_3`, `mode_1` as `own_1`).
//!
//! In: the state of a stack, and a frame of a conversation. Out: the next one of it; or one that is
//! like it but for what is not asked, for one bit, or for whose it is.

use crate::headers::changed;
use crate::random::Random;
use stackloom::simulate::expression::{Evaluation, Moment};
use stackloom::simulate::header;
use stackloom::simulate::state::State;
use stackloom::simulate::value::{Datum, fit};
use stackloom::tool::case::parts::{Part, parts};
use stackloom::types::header::{HeaderField, Rule};
use stackloom::types::program::{HeaderFieldId, KindId, LinkId, Program};
use stackloom::types::value::Type;
use std::collections::BTreeMap;

/// A field of the headers of a frame: of which header, counted from the link on, and which field.
type Place = (usize, HeaderFieldId);

/// Which of several values a field has.
pub type Picks = BTreeMap<Place, usize>;

/// What an instance calls a number that both ends agree on.
const OWN: [&str; 3] = ["next", "own", "perhaps"];

/// A frame, and who is to take it.
pub struct Wanted<'p> {
    program: &'p Program,
    state: State<'p>,
    frame: Vec<u8>,
    parts: Vec<Part>,
    /// Whose each header is: a kind, and which of it.
    whose: Vec<(KindId, Option<u32>)>,
    /// What fields are to be, whatever is wanted.
    given: BTreeMap<Place, u64>,
    /// What is to stand behind all headers.
    data: Option<Vec<u8>>,
}

impl<'p> Wanted<'p> {
    pub fn new(program: &'p Program, state: &State<'p>, link: LinkId, frame: &[u8]) -> Wanted<'p> {
        let mut state = state.clone();
        let (parts, _) = parts(program, &mut state, link, frame);
        let mut wanted = Wanted {
            program,
            state,
            frame: frame.to_vec(),
            parts,
            whose: Vec::new(),
            given: BTreeMap::new(),
            data: None,
        };
        for at in 0..wanted.parts.len() {
            let header = wanted.parts[at].header;
            let mut entities = program.entities.iter();
            let entity = entities.find(|one| one.header == Some(header));
            let kind = entity.expect("it is somebody's").session;
            let below = wanted.whose.last().and_then(|(_, index)| *index);
            let index = wanted.instance(at, kind, below);
            wanted.whose.push((kind, index));
        }
        wanted
    }

    /// The instance of a kind that is found by a header.
    fn instance(&mut self, at: usize, kind: KindId, below: Option<u32>) -> Option<u32> {
        let keys = &self.program.kinds[kind.at()].keys;
        if keys.is_empty() && self.program.lives_with(kind) != kind {
            return below;
        }
        let fields = &self.program.headers[self.parts[at].header.at()].fields;
        let place = |name: &str| fields.iter().position(|field| field.name == name);
        let named = keys.iter().map(|key| place(&key.name));
        let asked = named.map(|place| place.map(|place| self.read((at, field_id(place)))));
        let asked: Vec<Option<u64>> = asked.collect();
        let is_it = |index: &u32| {
            let own = self.state.kinds[kind.at()].keys.get(*index as usize);
            let own = own.into_iter().flatten();
            let mut pairs = own.zip(&asked);
            let on = self.state.session_below(kind, *index);
            pairs.all(|(own, asked)| asked.is_none_or(|asked| *own == Datum::Number(asked)))
                && (on.is_none() || on == below)
        };
        self.state.live(kind).filter(is_it).last()
    }

    fn field(&self, (at, field): Place) -> &'p HeaderField {
        &self.program.headers[self.parts[at].header.at()].fields[field.at()]
    }

    /// What a field of the frame is; of none, 0.
    fn read(&mut self, (at, field): Place) -> u64 {
        let part = self.parts[at];
        let bytes = &self.frame[part.at..part.at + part.length];
        let instant = &mut Moment::default();
        let state = &mut self.state;
        let mut evaluation = Evaluation { state, instant };
        match header::read(&mut evaluation, part.header, field, bytes) {
            Datum::Number(number) => number,
            _ => 0,
        }
    }

    /// The fields of all headers that are given.
    fn fields(&self) -> Vec<Place> {
        let mut all = Vec::new();
        for (at, part) in self.parts.iter().enumerate() {
            let fields = &self.program.headers[part.header.at()].fields;
            all.extend((0..fields.len()).map(|field| (at, field_id(field))));
        }
        all.retain(|place| {
            let field = self.field(*place);
            matches!(field.rule, Rule::Given | Rule::Default(_))
                && matches!(
                    field.kind,
                    Type::Unsigned(_) | Type::Sequence(_) | Type::Bool | Type::Enum(_)
                )
                && field.present.is_none()
        });
        all
    }

    /// The values that the instance, or the record of its layer, has for a field; of one that is to
    /// come, 0.
    fn own(&self, place: Place) -> Vec<u64> {
        let (kind, index) = self.whose[place.0];
        let field = self.field(place);
        let Some((_, number)) = field.name.rsplit_once('_') else {
            return Vec::new();
        };
        let record = self.program.entities[self.program.kinds[kind.at()].entity.at()].record;
        let mut all = Vec::new();
        for (kind, index) in [(kind, index), (record, Some(0))] {
            let fields = &self.program.kinds[kind.at()].fields;
            for (at, own) in fields.iter().enumerate() {
                let name = own.name.trim_start_matches("shared_");
                let values = &self.state.kinds[kind.at()].fields;
                match index.and_then(|index| values.get(index as usize)) {
                    _ if OWN.iter().all(|own| name != format!("{own}_{number}")) => {}
                    Some(values) => flat(&values[at], &mut all),
                    None => all.push(0),
                }
            }
        }
        all
    }

    /// What is not asked may vary.
    pub fn vary(&mut self, random: &mut Random) {
        if random.percent(50) {
            let length = *random.one(&[0, 1, 4, 9, 30, 60]);
            self.data = Some((0..length).map(|_| random.next() as u8).collect());
        }
        let fields = self.fields();
        if !fields.is_empty() && random.percent(60) {
            self.given.insert(*random.one(&fields), random.next() >> 50);
        }
    }

    /// The frame of another conversation, mostly of one that there is.
    pub fn of_another(mut self, random: &mut Random) -> Vec<u8> {
        for place in self.keys() {
            let (kind, _) = self.whose[place.0];
            let live = Vec::from_iter(self.state.live(kind));
            let keys = self.program.kinds[kind.at()].keys.iter();
            let key = keys
                .map(|key| &key.name)
                .position(|key| *key == self.field(place).name);
            let value = match key {
                Some(key) if !live.is_empty() && random.percent(70) => {
                    let keys = &self.state.kinds[kind.at()].keys[*random.one(&live) as usize];
                    keys[key].number()
                }
                _ => random.below(6) as u64,
            };
            self.given.insert(place, value);
        }
        self.frame(&mut Picks::new(), random)
    }

    fn keys(&self) -> Vec<Place> {
        let is_key = |(at, field): &Place| {
            let (kind, _) = self.whose[*at];
            let mut keys = self.program.kinds[kind.at()].keys.iter();
            keys.any(|key| key.name == self.field((*at, *field)).name)
        };
        self.fields().into_iter().filter(is_key).collect()
    }

    /// The frame itself, with another bit in one field.
    pub fn with_other_bit(mut self, random: &mut Random) -> Option<Vec<u8>> {
        let fields = self.fields();
        let place = *fields.get(random.below(fields.len().max(1)))?;
        let bits = match self.field(place).kind {
            Type::Unsigned(bits) | Type::Sequence(bits) => usize::from(bits),
            _ => 1,
        };
        let value = self.read(place) ^ 1 << random.below(bits);
        self.given.insert(place, value);
        Some(self.rewritten())
    }

    /// The frame that is wanted.
    pub fn frame(mut self, picks: &mut Picks, random: &mut Random) -> Vec<u8> {
        let keys = self.keys();
        for place in self.fields() {
            let own = self.own(place);
            if own.is_empty() || self.given.contains_key(&place) || keys.contains(&place) {
                continue;
            }
            let pick = *picks
                .entry(place)
                .or_insert_with(|| random.below(own.len()));
            self.given.insert(place, own[pick % own.len()]);
        }
        self.rewritten()
    }

    /// The frame with all that is given, and right sums.
    fn rewritten(mut self) -> Vec<u8> {
        let mut frame = self.frame.clone();
        // Behind what is written anew nothing stands that is not counted.
        let mut end = self
            .parts
            .last()
            .map(|part| part.at + part.length + part.data);
        for (at, part) in self.parts.clone().into_iter().enumerate().rev() {
            let behind = part.at + part.length;
            let own = self.given.iter().filter(|((of, _), _)| *of == at);
            let given = own.map(|((_, field), value)| {
                let kind = &self.field((at, *field)).kind;
                (*field, Datum::Number(fit(kind, *value)))
            });
            let given = Vec::from_iter(given);
            let end = end.take().unwrap_or(frame.len());
            let data = self.data.take().unwrap_or(frame[behind..end].to_vec());
            frame = changed(self.program, &mut self.state, &frame, part, &given, &data);
        }
        frame
    }
}

fn field_id(place: usize) -> HeaderFieldId {
    HeaderFieldId(place as u32)
}

/// The numbers of which a value is made; one that is not there is 0.
fn flat(value: &Datum, all: &mut Vec<u64>) {
    match value {
        Datum::Number(number) => all.push(*number),
        Datum::Optional(None) => all.push(0),
        Datum::Optional(Some(value)) => flat(value, all),
        Datum::Record(values) | Datum::Array(values) => {
            values.iter().for_each(|one| flat(one, all));
        }
        _ => {}
    }
}
