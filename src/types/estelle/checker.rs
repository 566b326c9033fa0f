//! The state of the check, to which each part of the language adds its rules.
//!
//! In: nothing. Out: [`Checker`], with names, types, frames and reports.
//!
//! ```text
//! pascal/   constants, types, expressions, statements and routines
//! module/   modules, interaction points, transitions and Estelle's statements
//! ```

use super::program::{
    BodyId, Expression, Field, FrameId, HeaderId, MAXINT, Predefined, Program, Root, RoutineId,
    Type, TypeId, Variable,
};
use super::scope::{FieldName, FieldNames, LevelId, Meaning, Region, Scopes};
use super::settings::Settings;
use crate::diagnostic::{Diagnostic, Id, Severity, closest};
use crate::source::Span;
use crate::syntax::estelle::ast::{self, Name, Queue};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

/// The most elements of all variables of an instance.
pub(super) const ELEMENTS: u64 = 1_000_000;

/// The most interaction points or module variables of one declaration.
pub(super) const COPIES: u64 = 65_536;

/// The most that all transitions have of states, operators and operands in their clauses.
pub(super) const COPIED: usize = 1_000_000;

/// So many mistakes are reported with suggestions; a search for each of many takes too long.
const SUGGESTED: usize = 100;

/// Facts about a type besides [`Program::types`].
#[derive(Clone, Debug)]
pub(super) struct TypeFacts {
    /// The name of its declaration.
    pub name: Option<String>,
    /// The number of simple values of a variable of this type.
    pub elements: u64,
    /// The number of types that nest in it.
    pub depth: u32,
    /// The fields of a record.
    pub fields: Rc<FieldNames>,
}

/// Facts about a routine besides [`Program::routines`].
#[derive(Clone, Debug)]
pub(super) struct RoutineFacts {
    /// The place of its name.
    pub name_span: Span,
    /// The routines that it calls, with the place of the first call.
    pub calls: BTreeMap<RoutineId, Span>,
    /// True while only its heading is known, and its block must follow.
    pub is_forward: bool,
    /// True if a statement gives it a result.
    pub has_result: bool,
}

/// Facts about a body besides [`Program::bodies`].
#[derive(Clone, Default, Debug)]
pub(super) struct BodyFacts {
    /// States and sets of states by their names.
    pub states: BTreeMap<String, (Vec<u32>, bool, Option<Span>)>,
    /// The number of elements of its variables.
    pub elements: u64,
    /// True if a statement creates an instance of it.
    pub is_initialised: bool,
    /// The place of its name.
    pub name_span: Option<Span>,
    /// The place of its first transition.
    pub first_transition: Option<Span>,
    /// The place of `from` of each transition, or of the transition.
    pub from_spans: Vec<Span>,
    /// True if a system module is inside.
    pub holds_system: bool,
}

/// The kind of the place at which statements and expressions stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Within {
    /// Declarations of a body: no variables have values here.
    Declarations,
    /// The alternatives of `initialize`.
    Initialize,
    /// A transition.
    Transition,
    /// A clause of a transition or of `initialize`, or a `suchthat` clause.
    Clause,
    /// A procedure that is not `pure`.
    Procedure,
    /// A function, or a `pure` procedure.
    Function,
}

/// The place at which statements and expressions stand.
#[derive(Clone, Debug)]
pub(super) struct Here {
    /// The body.
    pub body: BodyId,
    /// The innermost frame; none among the declarations of a body.
    pub frame: Option<FrameId>,
    /// The routines around, outer first.
    pub routines: Vec<RoutineId>,
    /// The kind of place.
    pub within: Within,
    /// Control variables of the `for` statements around.
    pub controls: Vec<Root>,
    /// Parameters of the interaction that `when` takes without naming them, in lower case.
    pub unnamed: Vec<String>,
    /// The number of records of the `with` statements around.
    pub records: usize,
}

/// Body contents that are still to be checked.
pub(super) type Queued<'a> = (BodyId, &'a ast::Body, LevelId);

/// The state of the check.
pub(super) struct Checker<'a> {
    pub settings: &'a Settings,
    pub program: Program,
    pub scopes: Scopes,
    pub here: Here,
    pub types: Vec<TypeFacts>,
    pub routines: Vec<RoutineFacts>,
    pub bodies: Vec<BodyFacts>,
    /// The body that declares each header.
    pub header_parents: Vec<BodyId>,
    /// For each channel and interaction: the place of its name, and true if it is sent or taken.
    pub interactions: Vec<Vec<(Span, [bool; 2])>>,
    /// The number of elements of each frame.
    pub frame_elements: Vec<u64>,
    /// The discipline of interaction points that name none.
    pub default_queue: Option<Queue>,
    /// Types of strings by their length.
    pub strings: BTreeMap<usize, TypeId>,
    /// Types of sets by the ordinal type of their values.
    pub sets: BTreeMap<TypeId, TypeId>,
    /// The type of `[]`.
    pub empty_set: TypeId,
    /// Settings that a constant uses.
    pub used_settings: BTreeSet<usize>,
    /// Contents of bodies that are still to be checked.
    pub queued: VecDeque<Queued<'a>>,
    /// The size of the clauses of all transitions.
    pub copied: usize,
    diagnostics: Vec<Diagnostic>,
    reported: BTreeSet<(Id, Span)>,
}

impl<'a> Checker<'a> {
    /// Returns a state with the predefined names only.
    pub fn new(settings: &'a Settings, name: &str, place: Span) -> Checker<'a> {
        let mut checker = Checker {
            settings,
            program: Program {
                name: name.to_string(),
                unit_ns: 1_000_000_000,
                types: Vec::new(),
                channels: Vec::new(),
                headers: Vec::new(),
                bodies: Vec::new(),
                routines: Vec::new(),
                frames: Vec::new(),
                blocks: Vec::new(),
            },
            scopes: Scopes::new(),
            here: Here {
                body: Program::ROOT,
                frame: None,
                routines: Vec::new(),
                within: Within::Declarations,
                controls: Vec::new(),
                unnamed: Vec::new(),
                records: 0,
            },
            types: Vec::new(),
            routines: Vec::new(),
            bodies: Vec::new(),
            header_parents: Vec::new(),
            interactions: Vec::new(),
            frame_elements: Vec::new(),
            default_queue: None,
            strings: BTreeMap::new(),
            sets: BTreeMap::new(),
            empty_set: TypeId::INTEGER,
            used_settings: BTreeSet::new(),
            queued: VecDeque::new(),
            copied: 0,
            diagnostics: Vec::new(),
            reported: BTreeSet::new(),
        };
        checker.predefine(place);
        checker
    }

    fn predefine(&mut self, place: Span) {
        let simple = [
            ("integer", Type::Integer),
            ("real", Type::Real),
            ("boolean", Type::Boolean),
            ("char", Type::Char),
        ];
        for (name, kind) in simple {
            let id = self.add_type(kind);
            self.types[id.index()].name = Some(name.to_string());
            self.declare_predefined(name, Meaning::Type(id));
        }
        let bytes = Type::Subrange {
            of: TypeId::INTEGER,
            low: 0,
            high: 255,
        };
        let bytes = self.add_type(bytes);
        self.empty_set = self.add_type(Type::Set(bytes));
        let set = self.add_type(Type::Set(bytes));
        self.sets.insert(TypeId::INTEGER, set);
        self.predefine_values(place);
    }

    /// Reports a mistake, once for each place.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        if self
            .reported
            .insert((diagnostic.id, diagnostic.primary.span))
        {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Returns true if nothing was refused so far.
    pub fn is_right(&self) -> bool {
        let mut all = self.diagnostics.iter();
        all.all(|it| it.severity == Severity::Warning)
    }

    /// Returns the program, if nothing was refused, and all diagnostics.
    pub fn finish(self) -> (Option<Program>, Vec<Diagnostic>) {
        let program = self.is_right().then_some(self.program);
        (program, self.diagnostics)
    }

    /// Declares a predefined name.
    pub fn declare_predefined(&mut self, name: &str, meaning: Meaning) {
        let outcome = self.scopes.declare(name, meaning, None);
        debug_assert!(outcome.is_ok(), "predefined names are distinct");
    }

    /// Declares a name in the current level; a name that is taken there is a mistake.
    pub fn declare(&mut self, name: &Name, meaning: Meaning) {
        let outcome = self.scopes.declare(&name.text, meaning, Some(name.span));
        if let Err(earlier) = outcome {
            self.name_taken(name, earlier);
            // Either meaning may be the one that is meant elsewhere.
            self.scopes.refuse(&name.key());
        }
    }

    /// Reports a name that is declared twice.
    pub fn name_taken(&mut self, name: &Name, earlier: Option<Span>) {
        let title = format!("`{}` is declared twice here", name.text);
        let mut taken = Diagnostic::error(Id::NameTaken, title, name.span, "declared again");
        if let Some(earlier) = earlier {
            taken = taken.label(earlier, "first declared here");
        }
        let taken = taken.why("Letter case makes no difference.");
        self.report(taken.help("rename one of the two"));
    }

    /// Finds a name that is visible here. A name that is not is a mistake. `wanted` is the kind of
    /// things that is needed, for example "a type".
    pub fn resolve(&mut self, name: &Name, wanted: &str) -> Option<Meaning> {
        let Some(found) = self.scopes.find(&name.key()) else {
            self.unknown(name, wanted);
            return None;
        };
        if matches!(found.meaning, Meaning::Refused) {
            return None;
        }
        let noun = found.meaning.noun();
        let title = |of: &str| format!("`{}` is {noun} outside of {of}", name.text);
        if found.is_beyond_body && found.meaning.is_of_one_body(&self.program) {
            let export = self.is_export(&found.meaning, found.span);
            self.report(not_visible(title("this body"), name, found.span, export));
            return None;
        }
        if found.is_beyond_pure && found.meaning.is_impure(&self.program) {
            let title = title("this `pure` routine");
            let mut refused =
                Diagnostic::error(Id::EstelleNotPure, title, name.span, "declared outside");
            if let Some(span) = found.span {
                refused = refused.label(span, "declared here");
            }
            let refused = refused.why("A `pure` routine depends on its arguments only.");
            self.report(refused.help("make it a parameter, or remove `pure`"));
            return None;
        }
        Some(found.meaning)
    }

    /// Returns true if a variable of a body around this one is exported there.
    fn is_export(&self, meaning: &Meaning, span: Option<Span>) -> bool {
        let Meaning::Variable {
            root: Root::Module(_),
            ..
        } = meaning
        else {
            return false;
        };
        let mut exports = self.program.headers.iter().flat_map(|it| &it.exports);
        exports.any(|variable| Some(variable.span) == span)
    }

    /// Reports a name that means another kind of thing than is needed.
    pub fn wrong_meaning(&mut self, name: &Name, meaning: &Meaning, wanted: &str) {
        let title = format!("`{}` is {}, not {wanted}", name.text, meaning.noun());
        let label = format!("expected {wanted}");
        let mut wrong = Diagnostic::error(Id::EstelleWrongMeaning, title, name.span, label);
        let place = self.scopes.find(&name.key()).and_then(|found| found.span);
        if let Some(place) = place {
            wrong = wrong.label(place, "declared here");
        }
        let wrong = wrong.why("A name has one meaning at a place, also in another letter case.");
        self.report(wrong.help(format!("write the name of {wanted} here")));
    }

    /// Reports a name that nothing declares.
    pub fn unknown(&mut self, name: &Name, wanted: &str) {
        let title = format!("no declaration of `{}` is visible here", name.text);
        let id = Id::EstelleUnknownName;
        let label = format!("expected {wanted}");
        let unknown = Diagnostic::error(id, title, name.span, label);
        let unknown = unknown.why("A name is declared before its use, in any letter case.");
        let near = self.near(name, self.scopes.names());
        let otherwise = format!("declare `{}` before this place", name.text);
        let help = match self.here.unnamed.contains(&name.key()) {
            true => format!("name the parameters of `when`: `when … ({})`", name.text),
            false => meant(near, otherwise),
        };
        self.report(unknown.help(help));
    }

    /// Finds the name that was probably meant, as long as few mistakes are reported.
    pub fn near<'n>(&self, name: &Name, names: impl Iterator<Item = &'n str>) -> Option<String> {
        let few = self.diagnostics.len() < SUGGESTED;
        let found = few.then(|| closest(&name.text, names)).flatten();
        found.map(str::to_string)
    }

    /// Adds a type, with its size.
    pub fn add_type(&mut self, kind: Type) -> TypeId {
        let facts = |id: TypeId| &self.types[id.index()];
        let (elements, depth) = match &kind {
            Type::Integer
            | Type::Real
            | Type::Boolean
            | Type::Char
            | Type::Enumeration { .. }
            | Type::Subrange { .. }
            | Type::Set(_)
            | Type::External(_) => (1, 1),
            Type::Array { index, element, .. } => {
                let element = facts(*element);
                let size = self.size_of(*index).saturating_mul(element.elements);
                (size.max(1), element.depth + 1)
            }
            Type::Record { fields } => {
                let fields = fields.iter().map(|field| facts(field.kind));
                let sum = |(size, depth): (u64, u32), field: &TypeFacts| {
                    (size.saturating_add(field.elements), depth.max(field.depth))
                };
                let (size, depth) = fields.fold((0, 0), sum);
                (size.max(1), depth + 1)
            }
        };
        let fields = match &kind {
            Type::Record { fields } => field_names(fields),
            _ => FieldNames::new(),
        };
        let id = TypeId(self.program.types.len() as u32);
        self.program.types.push(kind);
        self.types.push(TypeFacts {
            name: None,
            elements,
            depth,
            fields: Rc::new(fields),
        });
        id
    }

    /// Returns a type.
    pub fn kind(&self, id: TypeId) -> &Type {
        &self.program.types[id.index()]
    }

    /// Returns the ordinal type of a subrange, and any other type itself.
    pub fn host(&self, id: TypeId) -> TypeId {
        match self.kind(id) {
            Type::Subrange { of, .. } => *of,
            _ => id,
        }
    }

    /// Returns the first and the last ordinal number of an ordinal type.
    pub fn range(&self, id: TypeId) -> Option<(i64, i64)> {
        self.program.bounds(id)
    }

    /// Returns the number of values of an ordinal type; 0 for other types.
    pub fn size_of(&self, id: TypeId) -> u64 {
        let size = |(low, high): (i64, i64)| (high - low + 1).max(0) as u64;
        self.range(id).map_or(0, size)
    }

    /// Adds an empty frame.
    pub fn add_frame(&mut self) -> FrameId {
        let id = FrameId(self.program.frames.len() as u32);
        self.program.frames.push(Vec::new());
        self.frame_elements.push(0);
        id
    }

    /// Adds a local variable to a frame, and returns its number.
    pub fn add_local(&mut self, frame: FrameId, variable: Variable) -> usize {
        let size = match variable.is_reference {
            true => 1,
            false => self.types[variable.kind.index()].elements,
        };
        let before = self.frame_elements[frame.index()];
        let after = before.saturating_add(size);
        self.frame_elements[frame.index()] = after;
        if before <= ELEMENTS && after > ELEMENTS {
            self.too_many_elements(&variable, after);
        }
        let locals = &mut self.program.frames[frame.index()];
        locals.push(variable);
        locals.len() - 1
    }

    /// Adds a variable to a body, and returns its number.
    pub fn add_variable(&mut self, body: BodyId, variable: Variable) -> usize {
        let size = self.types[variable.kind.index()].elements;
        let before = self.bodies[body.index()].elements;
        let after = before.saturating_add(size);
        self.bodies[body.index()].elements = after;
        if before <= ELEMENTS && after > ELEMENTS {
            self.too_many_elements(&variable, after);
        }
        let variables = &mut self.program.bodies[body.index()].variables;
        variables.push(variable);
        variables.len() - 1
    }

    fn too_many_elements(&mut self, variable: &Variable, elements: u64) {
        let title = format!("the variables up to `{}` are too large", variable.name);
        let label = match elements {
            u64::MAX => "too many elements to count".to_string(),
            _ => format!("{elements} elements with this one"),
        };
        let large = Diagnostic::error(Id::EstelleTooLarge, title, variable.span, label);
        let large = large.why(format!(
            "All variables of an instance have at most {ELEMENTS} elements in all, so that its \
             memory is bounded."
        ));
        self.report(large.help("make the index types of its arrays smaller"));
    }

    /// Runs a check in a level of its own.
    pub fn inside<T>(&mut self, region: Region, check: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.scopes.mark();
        self.scopes.open(region);
        let result = check(self);
        self.scopes.leave(outer);
        result
    }

    /// Runs a check at a place of another kind.
    pub fn within<T>(&mut self, within: Within, check: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.here.within, within);
        let result = check(self);
        self.here.within = outer;
        result
    }

    /// Returns the header of the current body.
    pub fn own_header(&self) -> Option<HeaderId> {
        self.program.bodies[self.here.body.index()].header
    }

    fn predefine_values(&mut self, place: Span) {
        let constants = [
            ("false", 0, TypeId::BOOLEAN),
            ("true", 1, TypeId::BOOLEAN),
            ("maxint", MAXINT, TypeId::INTEGER),
        ];
        for (name, value, kind) in constants {
            let literal = Expression::ordinal(value, kind, place);
            self.declare_predefined(name, Meaning::Constant(literal));
        }
        let functions = [
            ("ord", Predefined::Ord),
            ("chr", Predefined::Chr),
            ("succ", Predefined::Succ),
            ("pred", Predefined::Pred),
            ("abs", Predefined::Abs),
            ("sqr", Predefined::Sqr),
            ("odd", Predefined::Odd),
            ("trunc", Predefined::Trunc),
            ("round", Predefined::Round),
        ];
        for (name, function) in functions {
            self.declare_predefined(name, Meaning::Predefined(function));
        }
    }
}

/// Lists the fields of a record by their names.
fn field_names(fields: &[Field]) -> FieldNames {
    let named = |(at, field): (usize, &Field)| {
        let name = FieldName {
            text: field.name.clone(),
            field: at,
            kind: field.kind,
        };
        (field.name.to_lowercase(), name)
    };
    fields.iter().enumerate().map(named).collect()
}

/// Returns what to do about an unknown name.
pub(super) fn meant(near: Option<String>, otherwise: String) -> String {
    match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => otherwise,
    }
}

/// Makes the report of a name that nested bodies do not see.
fn not_visible(title: String, name: &Name, place: Option<Span>, is_export: bool) -> Diagnostic {
    let id = match is_export {
        true => Id::EstelleNotExported,
        false => Id::EstelleNotVisible,
    };
    let mut refused = Diagnostic::error(id, title, name.span, "not visible in this body");
    if let Some(place) = place {
        refused = refused.label(place, "declared in a body around this one");
    }
    let refused = match is_export {
        true => {
            refused.why("Only a body and its parent use the variables that its header exports.")
        }
        false => refused.why(
            "A module body does not see variables, interaction points, module variables and \
             routines with side effects of the bodies around it.",
        ),
    };
    refused.help("give it by a parameter of the header, or send it in an interaction")
}
