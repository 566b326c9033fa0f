//! A specification of Estelle for people: its tree of modules, and the transitions of its bodies.
//!
//! In: the syntax tree of a specification, and its text. Out: a line for each module that an `init`
//! creates, and a view for each body with transitions. The view has a row for the start and one for
//! each state, with all transitions that may fire in it.
//!
//! ```text
//! specification inres
//!     caller: User with Caller, systemprocess
//!
//! body Caller for User, systemprocess: 2 states, 1 transition
//!
//! state start
//!     initialize -> idle
//!
//! state idle
//!     when service.CONind "accept": output service.CONresp -> open
//! ```

use super::text::WIDEST;
use super::{Shown, State, View, counted};
use crate::source::{Sources, Span};
use crate::syntax::estelle::ast::{
    Attribute, Body, ClauseKind, Declaration, ModuleReference, Name, RoutineBody, Specification,
    Statement, StatementKind, Transition,
};
use crate::syntax::estelle::in_one_line;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A specification, to be shown.
#[derive(Clone, Default, Debug)]
pub struct Shape {
    /// The tree of modules: a line for each.
    pub modules: Vec<String>,
    /// The bodies with transitions, in the order of their declarations: names and views.
    pub bodies: Vec<(String, View)>,
}

/// Returns the shape of a specification; none if its states have more than so many transitions.
pub fn view_specification(
    tree: &Specification,
    sources: &Sources,
    most_transitions: usize,
) -> Option<Shape> {
    let parts = Parts::new(tree);
    let mut modules = Vec::new();
    parts.modules(sources, (0, 1), &mut BTreeSet::new(), &mut modules);
    let mut left = most_transitions;
    let mut bodies = Vec::new();
    for part in &parts.all {
        if part.body.transitions.is_empty() {
            continue;
        }
        let view = Showing { part, sources }.view(&mut left)?;
        bodies.push((part.name.text.clone(), view));
    }
    let specification = format!("specification {}{}", tree.name.text, said(tree.attribute));
    modules.insert(0, specification);
    Some(Shape { modules, bodies })
}

/// A body of a module, or the specification.
struct Part<'t> {
    name: &'t Name,
    /// Its header; none for the specification.
    header: Option<&'t Name>,
    attribute: Option<(Attribute, Span)>,
    body: &'t Body,
    /// The part that declares it.
    parent: Option<usize>,
}

/// All bodies of a specification, outer before inner.
struct Parts<'t> {
    all: Vec<Part<'t>>,
    /// The number of a body by the part that declares it, and its name.
    by_name: BTreeMap<(usize, String), usize>,
}

impl<'t> Parts<'t> {
    fn new(tree: &'t Specification) -> Parts<'t> {
        let root = Part {
            name: &tree.name,
            header: None,
            attribute: tree.attribute,
            body: &tree.body,
            parent: None,
        };
        let mut parts = Parts {
            all: vec![root],
            by_name: BTreeMap::new(),
        };
        parts.inside(0, &mut Vec::new());
        parts
    }

    /// Adds the bodies that a part declares; `headers` are the attributes of the headers around.
    fn inside(&mut self, parent: usize, headers: &mut Vec<Headers>) {
        let body = self.all[parent].body;
        let own = body.declarations.iter().filter_map(|one| {
            let Declaration::Header(header) = one else {
                return None;
            };
            Some((header.name.key(), header.attribute))
        });
        headers.push(own.collect());
        for declaration in &body.declarations {
            let Declaration::Body(declared) = declaration else {
                continue;
            };
            let Some(content) = &declared.content else {
                continue;
            };
            let key = declared.header.key();
            let attribute = headers.iter().rev().find_map(|scope| scope.get(&key));
            let number = self.all.len();
            self.by_name.insert((parent, declared.name.key()), number);
            self.all.push(Part {
                name: &declared.name,
                header: Some(&declared.header),
                attribute: attribute.copied().flatten(),
                body: content,
                parent: Some(parent),
            });
            self.inside(number, headers);
        }
        headers.pop();
    }

    /// Finds the body that a name means in a part.
    fn body(&self, part: usize, name: &Name) -> Option<usize> {
        let key = name.key();
        let outward = std::iter::successors(Some(part), |part| self.all[*part].parent);
        let mut found = outward.filter_map(|scope| self.by_name.get(&(scope, key.clone())));
        found.next().copied()
    }

    /// Writes a line for each module that a part creates. The children of a body are written once.
    fn modules(
        &self,
        sources: &Sources,
        (part, depth): (usize, usize),
        written: &mut BTreeSet<usize>,
        lines: &mut Vec<String>,
    ) {
        written.insert(part);
        for created in created(self.all[part].body) {
            let indentation = "    ".repeat(depth);
            let variable = in_one_line(sources.slice(created.module.span));
            let mut line = format!("{indentation}{variable}: {}", created.body.text);
            let known = self.body(part, created.body);
            if let Some(child) = known.map(|child| &self.all[child]) {
                let header = child.header.map_or("", |header| &header.text);
                let attribute = said(child.attribute);
                line = format!(
                    "{indentation}{variable}: {header} with {}{attribute}",
                    child.name.text
                );
            }
            if created.is_late {
                line += ", created by a transition";
            }
            let again = known.filter(|child| written.contains(child));
            if again.is_some_and(|child| !created_none(self.all[child].body)) {
                line += ", with children as above";
            }
            lines.push(line);
            if let Some(child) = known.filter(|child| !written.contains(child)) {
                self.modules(sources, (child, depth + 1), written, lines);
            }
        }
    }
}

/// The attributes of headers, by the names of the headers in lower case.
type Headers = BTreeMap<String, Option<(Attribute, Span)>>;

/// A statement `init`.
struct Created<'t> {
    module: &'t ModuleReference,
    body: &'t Name,
    /// True if a transition executes it.
    is_late: bool,
}

/// Finds all `init` of a body: in its initialisation, its routines and its transitions.
fn created(body: &Body) -> Vec<Created<'_>> {
    let mut all = Vec::new();
    for one in &body.initialize {
        created_by(&one.block.statements, false, &mut all);
    }
    for declaration in &body.declarations {
        if let Declaration::Routine(routine) = declaration
            && let RoutineBody::Block(block) = &routine.body
        {
            created_by(&block.statements, false, &mut all);
        }
    }
    for one in &body.transitions {
        created_by(&one.block.statements, true, &mut all);
    }
    all
}

fn created_none(body: &Body) -> bool {
    created(body).is_empty()
}

fn created_by<'t>(statements: &'t [Statement], is_late: bool, all: &mut Vec<Created<'t>>) {
    for statement in statements {
        match &statement.kind {
            StatementKind::Init(module, body, _) => all.push(Created {
                module,
                body,
                is_late,
            }),
            StatementKind::Compound(inner) | StatementKind::Repeat(inner, _) => {
                created_by(inner, is_late, all);
            }
            StatementKind::If(_, then, otherwise) => {
                created_by(std::slice::from_ref(then), is_late, all);
                if let Some(otherwise) = otherwise {
                    created_by(std::slice::from_ref(otherwise), is_late, all);
                }
            }
            StatementKind::Case(_, cases) => {
                for (_, inner) in cases {
                    created_by(std::slice::from_ref(inner), is_late, all);
                }
            }
            StatementKind::While(_, inner)
            | StatementKind::For { body: inner, .. }
            | StatementKind::With(_, inner)
            | StatementKind::All(_, inner) => {
                created_by(std::slice::from_ref(inner), is_late, all);
            }
            StatementKind::ForOne {
                body, otherwise, ..
            } => {
                created_by(std::slice::from_ref(body), is_late, all);
                if let Some(otherwise) = otherwise {
                    created_by(std::slice::from_ref(otherwise), is_late, all);
                }
            }
            StatementKind::Empty
            | StatementKind::Assign(..)
            | StatementKind::Call(..)
            | StatementKind::Release(_)
            | StatementKind::Terminate(_)
            | StatementKind::Connect(..)
            | StatementKind::Disconnect(_)
            | StatementKind::Attach(..)
            | StatementKind::Detach(_)
            | StatementKind::Output(..) => {}
        }
    }
}

/// Writes an attribute behind a comma, if there is one.
fn said(attribute: Option<(Attribute, Span)>) -> &'static str {
    match attribute {
        None => "",
        Some((Attribute::SystemProcess, _)) => ", systemprocess",
        Some((Attribute::SystemActivity, _)) => ", systemactivity",
        Some((Attribute::Process, _)) => ", process",
        Some((Attribute::Activity, _)) => ", activity",
    }
}

/// Shows one body.
struct Showing<'a, 't> {
    part: &'a Part<'t>,
    sources: &'a Sources,
}

impl Showing<'_, '_> {
    /// Shows the body; none if it has more transitions in its states than are left.
    fn view(&self, left: &mut usize) -> Option<View> {
        let body = self.part.body;
        let names: Vec<&Name> = self.states().collect();
        // The row of the start is the first, if there is one.
        let first = usize::from(!body.initialize.is_empty());
        let keys = names.iter().enumerate();
        let numbers = keys.map(|(at, name)| (name.key(), first + at));
        let numbers: BTreeMap<String, usize> = numbers.collect();
        let sets = self.sets();
        let mut titles: Vec<String> = names.iter().map(|name| name.text.clone()).collect();
        if names.is_empty() {
            titles.push("any".to_string());
        }
        if first > 0 {
            titles.insert(0, "start".to_string());
        }
        let mut offered: Vec<Vec<(String, Shown)>> = vec![Vec::new(); titles.len()];
        for one in &body.initialize {
            *left = left.checked_sub(1)?;
            offered[0].push(self.transition(one, "initialize", first, &numbers));
        }
        for one in &body.transitions {
            for row in self.rows(one, &numbers, &sets, first..offered.len()) {
                *left = left.checked_sub(1)?;
                let shown = self.transition(one, "spontaneous", row, &numbers);
                offered[row].push(shown);
            }
        }
        let states = titles.into_iter().zip(offered);
        let states = states.map(|(name, transitions)| State {
            name,
            place: None,
            shown: Shown::Offers { transitions },
        });
        Some(View {
            title: self.title(names.len()),
            states: states.collect(),
        })
    }

    fn title(&self, states: usize) -> String {
        let part = self.part;
        let kind = match part.header {
            Some(header) => format!("body {} for {}", part.name.text, header.text),
            None => format!("specification {}", part.name.text),
        };
        let transitions = counted(part.body.transitions.len(), "transition");
        let states = match states {
            0 => "no states".to_string(),
            states => counted(states, "state"),
        };
        format!("{kind}{}: {states}, {transitions}", said(part.attribute))
    }

    fn states(&self) -> impl Iterator<Item = &Name> {
        let declarations = self.part.body.declarations.iter();
        declarations.flat_map(|one| {
            let Declaration::States(names) = one else {
                return [].as_slice();
            };
            names
        })
    }

    /// The sets of states of the body.
    fn sets(&self) -> BTreeMap<String, &[Name]> {
        let declarations = self.part.body.declarations.iter();
        let sets = declarations.filter_map(|one| {
            let Declaration::StateSet(name, states) = one else {
                return None;
            };
            Some((name.key(), &states[..]))
        });
        sets.collect()
    }

    /// Returns the rows of the states in which a transition may fire, each once.
    fn rows(
        &self,
        transition: &Transition,
        numbers: &BTreeMap<String, usize>,
        sets: &BTreeMap<String, &[Name]>,
        all: Range<usize>,
    ) -> Vec<usize> {
        let clauses = transition.clauses.iter();
        let mut clauses = clauses.map(|id| &self.part.body.clauses[id.0 as usize].kind);
        let from = clauses.find_map(|kind| {
            let ClauseKind::From(names) = kind else {
                return None;
            };
            Some(names)
        });
        let Some(from) = from else {
            return all.collect();
        };
        let members = from.iter().flat_map(|name| match sets.get(&name.key()) {
            Some(members) => members,
            None => std::slice::from_ref(name),
        });
        let rows = members.filter_map(|name| numbers.get(&name.key()).copied());
        let rows: BTreeSet<usize> = rows.collect();
        rows.into_iter().collect()
    }

    /// Shows a transition that fires in the state of a row: its clauses, and its steps.
    fn transition(
        &self,
        transition: &Transition,
        without: &str,
        row: usize,
        numbers: &BTreeMap<String, usize>,
    ) -> (String, Shown) {
        let mut said = Vec::new();
        let mut state = row;
        for id in &transition.clauses {
            let clause = &self.part.body.clauses[id.0 as usize];
            match &clause.kind {
                ClauseKind::From(_) => {}
                ClauseKind::To(name) => {
                    let number = name.as_ref().and_then(|name| numbers.get(&name.key()));
                    state = number.copied().unwrap_or(row);
                }
                ClauseKind::When(_)
                | ClauseKind::Provided(_)
                | ClauseKind::Otherwise(_)
                | ClauseKind::Priority(_)
                | ClauseKind::Delay { .. }
                | ClauseKind::Any(_) => said.push(in_one_line(self.sources.slice(clause.span))),
            }
        }
        let mut clauses = said.join(", ");
        if clauses.is_empty() {
            clauses = without.to_string();
        }
        if let Some(name) = &transition.name {
            clauses += &format!(" \"{}\"", name.text);
        }
        let statements = transition.block.statements.iter();
        let statements = statements.filter(|one| !matches!(one.kind, StatementKind::Empty));
        let steps = statements.map(|one| folded(&in_one_line(self.sources.slice(one.span))));
        let steps: Vec<String> = steps.collect();
        let rests = Shown::Rests { state };
        let shown = match steps.is_empty() {
            true => rests,
            false => Shown::Does {
                steps,
                next: Box::new(rests),
            },
        };
        (clauses, shown)
    }
}

/// Divides a long line between words.
fn folded(line: &str) -> String {
    let mut folded = String::new();
    let mut width = 0;
    for word in line.split(' ') {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > WIDEST {
            folded += "\n    ";
            width = 4;
        } else if width > 0 {
            folded.push(' ');
            width += 1;
        }
        folded += word;
        width += length;
    }
    folded
}
