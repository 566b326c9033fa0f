//! Instances, their fields, timers, settings and caches.
//!
//! In: the kinds of a module, and what its functions do to their instances. Out: which of them have
//! a state, which are found by which keys, and what their fields hold.
//!
//! ```text
//! create, begin    has a state, is found
//! end              has a state, is found no more
//! free             has none; what lives with it has none, too
//! ```

use super::containers::Cell;
use super::messages::Messages;
use super::values::{Held, Trapped};
use crate::ir::op::{Place, Region};
use crate::ir::{CacheId, FieldId, KindId, Lives, Module, Stored, TimerId, Type};
use crate::simulate::pool::Slots;
use crate::simulate::timers::Timers;

/// The fields of an instance, each with all its elements.
type Record = Vec<Vec<Cell>>;

/// The instances of a kind.
#[derive(Clone, Debug)]
struct Instances {
    slots: Slots,
    /// Those that have a state, where they live with no other.
    live: Vec<bool>,
    /// Those that are found, in the order in which they began.
    found: Vec<u32>,
    /// Their fields; none of one that never had a state, or has none any more.
    records: Vec<Record>,
    /// Fields that may hold messages.
    holders: Vec<usize>,
}

/// The content of a cache.
#[derive(Clone, Debug)]
struct Remembered {
    is_valid: bool,
    values: Vec<Held>,
}

/// The state that a stack keeps between its reactions.
#[derive(Clone, Debug)]
pub struct Memory<'m> {
    module: &'m Module,
    kinds: Vec<Instances>,
    /// The timers that run.
    pub timers: Timers<(KindId, u32, TimerId)>,
    /// Values set at the start, by their parts.
    pub settings: Vec<Held>,
    /// By cache and instance.
    caches: Vec<Vec<Remembered>>,
}

impl<'m> Memory<'m> {
    /// A memory in which no instance has a state.
    pub fn new(module: &'m Module, settings: Vec<Held>) -> Memory<'m> {
        let kinds = module.kinds.iter().map(|kind| {
            let fields = kind.fields.iter().enumerate();
            let holders = fields.filter(|(_, field)| {
                matches!(
                    field.stored,
                    Stored::Queue(..) | Stored::Window(..) | Stored::Stream(..)
                )
            });
            Instances {
                slots: Slots::new(kind.capacity),
                live: vec![false; kind.capacity as usize],
                found: Vec::new(),
                records: vec![Record::new(); kind.capacity as usize],
                holders: holders.map(|(at, _)| at).collect(),
            }
        });
        let caches = (0..module.caches.len() as u32).map(|id| {
            let values = module.cached(CacheId(id)).into_iter().map(Held::zero);
            let one = Remembered {
                is_valid: false,
                values: values.collect(),
            };
            let kind = module.caches[id as usize].kind;
            let count = kind.map_or(1, |kind| module.kinds[kind.at()].capacity);
            vec![one; count as usize]
        });
        Memory {
            module,
            kinds: kinds.collect(),
            timers: Timers::default(),
            settings,
            caches: caches.collect(),
        }
    }

    /// An instance has a state. Any index may be asked for.
    pub fn is_live(&self, kind: KindId, index: u32) -> bool {
        let live = &self.kinds[self.module.root(kind).at()].live;
        index < self.capacity(kind) && live[index as usize % live.len()]
    }

    /// Takes a slot for an instance with these keys.
    pub fn create(&mut self, kind: KindId, keys: Vec<Held>) -> Trapped<Option<u32>> {
        if self.module.root(kind) != kind {
            return Err("what lives with another begins with it".to_string());
        }
        let Some(index) = self.kinds[kind.at()].slots.take() else {
            return Ok(None);
        };
        self.begin(kind, index, keys)?;
        Ok(Some(index))
    }

    /// An instance gets its keys, and is found; all else is empty.
    pub fn begin(&mut self, kind: KindId, index: u32, keys: Vec<Held>) -> Trapped<()> {
        if index >= self.capacity(kind) {
            return Err(format!("there is no instance {index}"));
        }
        let table = &self.module.kinds[kind.at()];
        let mut record: Record = Vec::new();
        for field in &table.fields {
            let count: u32 = field.dimensions.iter().product();
            record.push(vec![Cell::empty(&field.stored); count as usize]);
        }
        for (field, key) in table.keys.iter().zip(keys) {
            record[field.at()] = vec![Cell::Value(key)];
        }
        let instances = &mut self.kinds[kind.at()];
        if !matches!(table.lives, Lives::With(_)) {
            instances.live[index as usize] = true;
        }
        instances.found.push(index);
        instances.records[index as usize] = record;
        if !self.is_live(kind, index) {
            return Err(format!("that with which {index} lives has no state"));
        }
        Ok(())
    }

    /// An instance is found no more.
    pub fn has_ended(&self, kind: KindId, index: u32) -> bool {
        !self.kinds[kind.at()].found.contains(&index)
    }

    /// An instance is found no more, and its timers stop.
    pub fn unlink(&mut self, kind: KindId, index: u32) {
        self.kinds[kind.at()].found.retain(|found| *found != index);
        self.stop_timers(kind, index);
    }

    fn stop_timers(&mut self, kind: KindId, index: u32) {
        for timer in 0..self.module.kinds[kind.at()].timers.len() as u32 {
            self.timers.stop(&(kind, index, TimerId(timer)));
        }
    }

    /// Drops what is left in an instance. If it lives with no other, its slot is free again, and
    /// all that live with it are empty and have no state, either.
    pub fn free(&mut self, kind: KindId, index: u32, messages: &mut Messages) -> Trapped<()> {
        if self.module.root(kind) != kind {
            return self.empty(kind, index, messages);
        }
        for (kind, index) in self.living_with(kind, index) {
            self.stop_timers(kind, index);
            self.empty(kind, index, messages)?;
            let instances = &mut self.kinds[kind.at()];
            instances.records[index as usize].clear();
            instances.live[index as usize] = false;
        }
        let slots = &mut self.kinds[kind.at()].slots;
        if slots.has(index) {
            slots.give(index);
        }
        Ok(())
    }

    /// An instance, and all that live with it.
    fn living_with(&self, root: KindId, index: u32) -> Vec<(KindId, u32)> {
        let below = self.capacity(root);
        let kinds = (0..self.kinds.len() as u32).map(KindId);
        let living = kinds.filter(|kind| self.module.root(*kind) == root);
        let all = living.flat_map(|kind| {
            let labels = 0..self.capacity(kind).div_ceil(below);
            labels.map(move |label| (kind, label * below + index))
        });
        all.filter(|(kind, index)| *index < self.capacity(*kind))
            .collect()
    }

    fn empty(&mut self, kind: KindId, index: u32, messages: &mut Messages) -> Trapped<()> {
        let reason = self.module.kinds[kind.at()].ended;
        let record = &mut self.kinds[kind.at()].records[index as usize];
        for cell in record.iter_mut().flatten() {
            match reason {
                Some(reason) => cell.discard_all(messages, reason),
                None if cell.messages() > 0 => {
                    return Err("an end drops what is still held".to_string());
                }
                None => {}
            }
        }
        Ok(())
    }

    /// The instance that was found last with these keys. Where several live with one, each by a
    /// label among its keys, one is there as long as what it stands on.
    pub fn find(&self, kind: KindId, keys: &[Held]) -> Option<u32> {
        let has_keys = |index: &u32| self.has_keys(kind, *index, keys);
        match self.has_labels(kind) {
            true => self.live(kind).find(has_keys),
            false => {
                let found = &self.kinds[kind.at()].found;
                found.iter().rev().copied().find(has_keys)
            }
        }
    }

    /// The instance whose timer expires first, of those that are found and whose first keys are
    /// these.
    pub fn soonest(&self, kind: KindId, timer: TimerId, keys: &[Held]) -> Option<u32> {
        let found = self.kinds[kind.at()].found.iter();
        let alike = found.filter(|index| self.has_keys(kind, **index, keys));
        let running = alike.filter_map(|index| {
            let expires = self.timers.expires(&(kind, *index, timer))?;
            Some((expires, *index))
        });
        running.min().map(|(_, index)| index)
    }

    /// The first instance that stands on one below.
    pub fn standing(&self, kind: KindId, below: u32) -> Trapped<Option<u32>> {
        let key = self.module.kinds[kind.at()].stands_on;
        let key = key.ok_or("it stands on nothing that comes and goes")?;
        let mut live = self.live(kind);
        let found = live.find(|index| self.field(kind, *index, key) == u64::from(below));
        Ok(found)
    }

    /// A number in a field that is no array; 0 of an instance without a state.
    pub fn field(&self, kind: KindId, index: u32, field: FieldId) -> u64 {
        let record = self.kinds[kind.at()].records.get(index as usize);
        let cells = record.and_then(|record| record.get(field.at()));
        let held = cells.map_or(Ok(&Held::Number(0)), |cells| cells[0].value());
        let number = held.and_then(Held::number);
        number.expect("the host's side reads numbers")
    }

    /// Writes a number into a field that is no array.
    pub fn set_field(&mut self, kind: KindId, index: u32, field: FieldId, number: u64) {
        let record = &mut self.kinds[kind.at()].records[index as usize];
        record[field.at()][0] = Cell::Value(Held::Number(number));
    }

    /// The keys of an instance.
    pub fn keys(&self, kind: KindId, index: u32) -> Vec<Held> {
        let record = &self.kinds[kind.at()].records[index as usize];
        let keys = self.module.kinds[kind.at()].keys.iter();
        let keys = keys.map(|key| record[key.at()][0].value().cloned());
        keys.collect::<Trapped<_>>().expect("keys are values")
    }

    /// A field of an instance that has a state, or an element of one.
    pub fn cell(&mut self, place: Place, operands: &[u32]) -> Trapped<&mut Cell> {
        let at = self.element(place, operands)?;
        let records = &mut self.kinds[place.kind.at()].records;
        Ok(&mut records[operands[0] as usize][place.field.at()][at])
    }

    /// Returns the value that a region holds.
    pub fn load(&self, region: Region, operands: &[u32], now_ns: u64) -> Trapped<Held> {
        match region {
            Region::Field(kind, field) => {
                let at = self.element(Place { kind, field }, operands)?;
                let records = &self.kinds[kind.at()].records;
                let cell = &records[operands[0] as usize][field.at()][at];
                cell.value().cloned()
            }
            Region::Setting(id) => Ok(self.settings[id.at()].clone()),
            Region::Now => Ok(Held::Number(now_ns)),
            Region::Valid(id) => {
                let cache = self.cache(id, operands)?;
                Ok(Held::bit(cache.is_valid))
            }
            Region::Cached(id, at) => {
                let cache = self.cache(id, operands)?;
                Ok(cache.values[at as usize].clone())
            }
        }
    }

    /// From here on the region holds this.
    pub fn store(&mut self, region: Region, operands: &[u32], held: Held) -> Trapped<()> {
        match region {
            Region::Field(kind, field) => {
                let held = self.cut(Place { kind, field }, held);
                *self.cell(Place { kind, field }, operands)? = Cell::Value(held);
            }
            Region::Valid(id) => self.cache_mut(id, operands)?.is_valid = held.number()? != 0,
            Region::Cached(id, at) => self.cache_mut(id, operands)?.values[at as usize] = held,
            Region::Setting(_) | Region::Now => {
                return Err("this never changes".to_string());
            }
        }
        Ok(())
    }

    /// A text as memory has room for it.
    fn cut(&self, Place { kind, field }: Place, held: Held) -> Held {
        let room = match &self.module.field(kind, field).stored {
            Stored::Value(Type::Opaque(of)) => self.module.opaques[of.at()].room.as_ref(),
            _other => None,
        };
        match (room, held) {
            (Some(room), Held::Bytes(bytes)) => {
                let most = room.bytes.saturating_sub(1) as usize;
                Held::bytes(&bytes[..bytes.len().min(most)])
            }
            (_, held) => held,
        }
    }

    /// A cache holds this.
    pub fn recompute(&mut self, id: CacheId, operands: &[u32], values: Vec<Held>) -> Trapped<()> {
        let is_valid = true;
        *self.cache_mut(id, operands)? = Remembered { is_valid, values };
        Ok(())
    }

    /// Counts the messages that came in and are held.
    pub fn held(&self) -> u64 {
        let cells = self.kinds.iter().flat_map(|kind| {
            let records = kind.records.iter().filter(|record| !record.is_empty());
            let holders = kind.holders.iter();
            records.flat_map(move |record| holders.clone().flat_map(|at| &record[*at]))
        });
        cells.map(Cell::held).sum()
    }

    /// The first instance whose cache is valid and holds these arguments.
    pub fn recall(&self, id: CacheId, arguments: &[Held]) -> Option<u32> {
        let mut all = self.caches[id.at()].iter();
        let found = all.position(|one| one.is_valid && one.values.starts_with(arguments));
        found.map(|index| index as u32)
    }

    fn cache(&self, id: CacheId, operands: &[u32]) -> Trapped<&Remembered> {
        let at = operands.first().copied().unwrap_or(0);
        let cache = self.caches[id.at()].get(at as usize);
        cache.ok_or_else(|| format!("there is no instance {at}"))
    }

    fn cache_mut(&mut self, id: CacheId, operands: &[u32]) -> Trapped<&mut Remembered> {
        let at = operands.first().copied().unwrap_or(0);
        let cache = self.caches[id.at()].get_mut(at as usize);
        cache.ok_or_else(|| format!("there is no instance {at}"))
    }

    /// Returns the place of an element of a field. The operands are the instance, and an index for
    /// each dimension.
    fn element(&self, place: Place, operands: &[u32]) -> Trapped<usize> {
        let (instance, indices) = operands.split_first().ok_or("an instance is missing")?;
        if !self.is_live(place.kind, *instance) {
            return Err(format!("the instance {instance} has no state"));
        }
        if self.kinds[place.kind.at()].records[*instance as usize].is_empty() {
            return Err(format!("the instance {instance} has not begun"));
        }
        let dimensions = &self.module.field(place.kind, place.field).dimensions;
        let mut at = 0;
        for (index, length) in indices.iter().zip(dimensions) {
            if index >= length {
                return Err(format!("{index} is no index below {length}"));
            }
            at = at * *length as usize + *index as usize;
        }
        Ok(at)
    }

    /// Those that have a state, in order of index.
    /// Returns the instances of a kind that have a state.
    pub fn live(&self, kind: KindId) -> impl Iterator<Item = u32> + '_ {
        (0..self.capacity(kind)).filter(move |index| self.is_live(kind, *index))
    }

    fn has_keys(&self, kind: KindId, index: u32, keys: &[Held]) -> bool {
        let record = &self.kinds[kind.at()].records[index as usize];
        let own = self.module.kinds[kind.at()].keys.iter();
        let mut both = own.zip(keys);
        both.all(|(key, held)| {
            let cell = record.get(key.at());
            cell.is_some_and(|cell| cell[0].value() == Ok(held))
        })
    }

    /// Several live with one instance, and stand on it, each by a label among its keys.
    fn has_labels(&self, kind: KindId) -> bool {
        let table = &self.module.kinds[kind.at()];
        matches!(table.lives, Lives::With(_)) && table.stands_on.is_some()
    }

    fn capacity(&self, kind: KindId) -> u32 {
        self.module.kinds[kind.at()].capacity
    }
}
