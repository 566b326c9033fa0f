//! Names and their meanings, in levels: a body, a routine, a block, a `with`.
//!
//! In: declarations. Out: the meaning of a name at a place, and the borders between both. The level
//! of a body stays, because the content of a nested body is checked after the body around it; other
//! levels are removed when they are left.

use super::program::{
    BodyId, ChannelId, Expression, FrameId, HeaderId, Predefined, Program, Root, RoutineId, TypeId,
};
use crate::source::Span;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A level of names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct LevelId(u32);

/// The meaning of a name.
#[derive(Clone, Debug)]
pub(super) enum Meaning {
    /// A constant or a value of an enumeration, as a literal.
    Constant(Expression),
    /// A type.
    Type(TypeId),
    /// A variable or a parameter.
    Variable {
        /// The variable.
        root: Root,
        /// Its type.
        kind: TypeId,
        /// False for names that `any`, `all`, `forone` and `exist` bind.
        is_assignable: bool,
    },
    /// A field of the record of a `with`.
    Field {
        /// The frame of the reference to the record.
        frame: FrameId,
        /// The local that is the reference.
        local: usize,
        /// The field.
        field: usize,
        /// Its type.
        kind: TypeId,
    },
    /// A function or a procedure.
    Routine(RoutineId),
    /// A predefined function.
    Predefined(Predefined),
    /// A channel.
    Channel(ChannelId),
    /// A module header.
    Header(HeaderId),
    /// A module body.
    Body(BodyId),
    /// Interaction points of this body.
    Points(usize),
    /// A module variable of this body.
    ModuleVariable(usize),
    /// A name of `all`, `forone` or `exist` that refers to a child.
    Child(FrameId, usize, HeaderId),
    /// A name with a mistake in its declaration, which is already reported.
    Refused,
}

impl Meaning {
    /// Returns the name of this kind of things, with an article.
    pub fn noun(&self) -> &'static str {
        match self {
            Meaning::Constant(_) => "a constant",
            Meaning::Type(_) => "a type",
            Meaning::Variable { .. } => "a variable",
            Meaning::Field { .. } => "a field of a record",
            Meaning::Routine(_) => "a routine",
            Meaning::Predefined(_) => "a predefined function",
            Meaning::Channel(_) => "a channel",
            Meaning::Header(_) => "a module header",
            Meaning::Body(_) => "a module body",
            Meaning::Points(_) => "an interaction point",
            Meaning::ModuleVariable(_) => "a module variable",
            Meaning::Child(..) => "a name of a child module",
            Meaning::Refused => "a refused declaration",
        }
    }

    /// Returns true if nested bodies do not see it.
    pub fn is_of_one_body(&self, program: &Program) -> bool {
        match self {
            Meaning::Variable { .. }
            | Meaning::Field { .. }
            | Meaning::Points(_)
            | Meaning::ModuleVariable(_)
            | Meaning::Child(..) => true,
            Meaning::Routine(id) => {
                let routine = &program.routines[id.index()];
                !routine.is_pure && routine.statements.is_some()
            }
            Meaning::Constant(_)
            | Meaning::Type(_)
            | Meaning::Predefined(_)
            | Meaning::Channel(_)
            | Meaning::Header(_)
            | Meaning::Body(_)
            | Meaning::Refused => false,
        }
    }

    /// Returns true if `pure` routines around which it is declared do not use it.
    pub fn is_impure(&self, program: &Program) -> bool {
        match self {
            Meaning::Routine(id) => !program.routines[id.index()].is_pure,
            other => other.is_of_one_body(program),
        }
    }
}

/// The fields of a record type by their names in lower case.
pub(super) type FieldNames = BTreeMap<String, FieldName>;

/// A field of a record type.
#[derive(Clone, Debug)]
pub(super) struct FieldName {
    /// The name as it is written.
    pub text: String,
    /// The field.
    pub field: usize,
    /// Its type.
    pub kind: TypeId,
}

/// A place of the scopes to which a check returns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    current: LevelId,
    levels: usize,
}

/// The kinds of levels, by what is not seen through their border.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Region {
    /// All is seen.
    Open,
    /// A module body.
    Body,
    /// A `pure` routine.
    Pure,
}

struct Level {
    parent: Option<LevelId>,
    region: Region,
    /// Declarations by their names in lower case.
    names: BTreeMap<String, Declared>,
    record: Option<Record>,
}

/// The record of a `with`.
struct Record {
    frame: FrameId,
    local: usize,
    fields: Rc<FieldNames>,
    span: Span,
}

struct Declared {
    /// The name as it is written.
    text: String,
    meaning: Meaning,
    span: Option<Span>,
}

impl Level {
    fn find(&self, key: &str) -> Option<(Meaning, Option<Span>)> {
        if let Some(record) = &self.record {
            let field = record.fields.get(key)?;
            let meaning = Meaning::Field {
                frame: record.frame,
                local: record.local,
                field: field.field,
                kind: field.kind,
            };
            return Some((meaning, Some(record.span)));
        }
        let declared = self.names.get(key)?;
        Some((declared.meaning.clone(), declared.span))
    }
}

/// A name that was found.
pub(super) struct Found {
    /// Its meaning.
    pub meaning: Meaning,
    /// The place of its declaration; none if it is predefined.
    pub span: Option<Span>,
    /// True if it is declared in a body around this one.
    pub is_beyond_body: bool,
    /// True if it is declared outside of the `pure` routine here.
    pub is_beyond_pure: bool,
}

/// All levels, and the current one.
pub(super) struct Scopes {
    levels: Vec<Level>,
    current: LevelId,
}

impl Scopes {
    /// Returns the level of predefined names, without names.
    pub fn new() -> Scopes {
        let outermost = Level {
            parent: None,
            region: Region::Open,
            names: BTreeMap::new(),
            record: None,
        };
        Scopes {
            levels: vec![outermost],
            current: LevelId(0),
        }
    }

    /// Returns the current level.
    pub fn current(&self) -> LevelId {
        self.current
    }

    /// Makes a level inside the current one, and makes that the current one.
    pub fn open(&mut self, region: Region) {
        let id = LevelId(self.levels.len() as u32);
        self.levels.push(Level {
            parent: Some(self.current),
            region,
            names: BTreeMap::new(),
            record: None,
        });
        self.current = id;
    }

    /// Opens the level of a `with`: a local of a frame refers to a record with these fields.
    pub fn open_record(
        &mut self,
        (frame, local): (FrameId, usize),
        fields: Rc<FieldNames>,
        span: Span,
    ) {
        self.open(Region::Open);
        self.levels[self.current.0 as usize].record = Some(Record {
            frame,
            local,
            fields,
            span,
        });
    }

    /// Returns the current place.
    pub fn mark(&self) -> Mark {
        Mark {
            current: self.current,
            levels: self.levels.len(),
        }
    }

    /// Leaves all levels that were opened since a mark, and removes them.
    pub fn leave(&mut self, mark: Mark) {
        self.levels.truncate(mark.levels);
        self.current = mark.current;
    }

    /// Makes another level the current one.
    pub fn enter(&mut self, level: LevelId) {
        self.current = level;
    }

    /// Gives a name a meaning in the current level. Returns the place of an earlier declaration of
    /// this name in this level, which then stays.
    pub fn declare(
        &mut self,
        text: &str,
        meaning: Meaning,
        span: Option<Span>,
    ) -> Result<(), Option<Span>> {
        let names = &mut self.levels[self.current.0 as usize].names;
        let key = text.to_lowercase();
        if let Some(earlier) = names.get(&key) {
            return Err(earlier.span);
        }
        let text = text.to_string();
        names.insert(
            key,
            Declared {
                text,
                meaning,
                span,
            },
        );
        Ok(())
    }

    /// Takes its meaning from a name of the current level.
    pub fn refuse(&mut self, key: &str) {
        let names = &mut self.levels[self.current.0 as usize].names;
        if let Some(declared) = names.get_mut(key) {
            declared.meaning = Meaning::Refused;
        }
    }

    /// Finds the innermost meaning of a name.
    pub fn find(&self, key: &str) -> Option<Found> {
        let (mut is_beyond_body, mut is_beyond_pure) = (false, false);
        for level in self.outwards() {
            if let Some((meaning, span)) = level.find(key) {
                return Some(Found {
                    meaning,
                    span,
                    is_beyond_body,
                    is_beyond_pure,
                });
            }
            is_beyond_body |= level.region == Region::Body;
            is_beyond_pure |= level.region == Region::Pure;
        }
        None
    }

    /// Finds a name in the current level only.
    pub fn find_here(&self, key: &str) -> Option<&Meaning> {
        let names = &self.levels[self.current.0 as usize].names;
        names.get(key).map(|declared| &declared.meaning)
    }

    /// Lists the names that are visible, inner ones first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.outwards().flat_map(|level| {
            let declared = level.names.values().map(|it| it.text.as_str());
            let records = level.record.iter();
            let fields = records.flat_map(|record| record.fields.values());
            declared.chain(fields.map(|field| field.text.as_str()))
        })
    }

    fn outwards(&self) -> impl Iterator<Item = &Level> {
        let level = |id: LevelId| &self.levels[id.0 as usize];
        std::iter::successors(Some(level(self.current)), move |inner| {
            inner.parent.map(level)
        })
    }
}
