//! The needs of functions beside their parameters: in, a function; out, the attributes, length and
//! data of its message and the headers of the instant, which its callers hand over.

use crate::types::expression::{Expression, ExpressionKind as Kind, Variable};
use crate::types::program::{AttributeId, FunctionId, HeaderId, LocalId, Program};
use crate::types::statement::{Block, Statement, StatementKind};
use std::collections::{BTreeMap, BTreeSet};

/// The values that a function reads beside its parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The length of its message.
    pub length: bool,
    /// The data of its message.
    pub data: bool,
    /// Attributes of its message.
    pub attributes: BTreeSet<AttributeId>,
    /// Headers that were stripped.
    pub headers: BTreeSet<HeaderId>,
}

impl Needs {
    /// Returns the needs of all functions of a program; functions in C have none.
    pub fn of_all(program: &Program) -> Vec<Needs> {
        let mut known = BTreeMap::new();
        let all = (0..program.functions.len() as u32).map(FunctionId);
        all.map(|id| Needs::once(program, id, &mut known)).collect()
    }

    /// Returns the needs of a function, with those of functions that are known: a function may be
    /// called twice by each of its callers.
    fn once(program: &Program, id: FunctionId, known: &mut BTreeMap<FunctionId, Needs>) -> Needs {
        if let Some(needs) = known.get(&id) {
            return needs.clone();
        }
        let function = &program.functions[id.at()];
        let mut needs = Needs::default();
        let message = function.message;
        for_each_expression(function.body.iter().flatten(), &mut |expression| {
            needs.add((program, message), expression, known);
        });
        known.insert(id, needs.clone());
        needs
    }

    fn add(
        &mut self,
        (program, message): (&Program, Option<LocalId>),
        expression: &Expression,
        known: &mut BTreeMap<FunctionId, Needs>,
    ) {
        match &*expression.kind {
            Kind::Attribute(local, attribute) if Some(*local) == message => {
                self.attributes.insert(*attribute);
            }
            Kind::Length(local) if Some(*local) == message => self.length = true,
            Kind::Through(_, _, local) if Some(*local) == message => self.data = true,
            Kind::Header(header, _)
            | Kind::HeaderPresent(header, _)
            | Kind::OptionsHold(header) => {
                self.headers.insert(*header);
            }
            Kind::Call(called, arguments) => {
                if program.functions[called.at()].external {
                    self.data |= arguments.iter().any(|one| is_message(one, message));
                } else {
                    let others = Needs::once(program, *called, known);
                    self.length |= others.length;
                    self.data |= others.data;
                    self.attributes.extend(others.attributes);
                    self.headers.extend(others.headers);
                }
            }
            _other => {}
        }
        for part in expression.parts() {
            self.add((program, message), part, known);
        }
    }
}

fn is_message(expression: &Expression, message: Option<LocalId>) -> bool {
    matches!(&*expression.kind, Kind::Read(Variable::Local(local)) if Some(*local) == message)
}

/// Does something with each expression of some statements, whole ones alone.
fn for_each_expression<'s>(
    statements: impl IntoIterator<Item = &'s Statement>,
    does: &mut dyn FnMut(&Expression),
) {
    for statement in statements {
        statement.values().into_iter().for_each(&mut *does);
        for block in statement.blocks() {
            for_each_expression(block, does);
        }
    }
}

/// The locals to which statements bind something.
pub fn bound(block: &Block) -> BTreeSet<LocalId> {
    let mut all = BTreeSet::new();
    for statement in block {
        match &statement.kind {
            StatementKind::Let(local, _) | StatementKind::For { local, .. } => {
                all.insert(*local);
            }
            StatementKind::Attempt {
                bind: Some(local), ..
            } => {
                all.insert(*local);
            }
            StatementKind::Assign(variable, _) => all.extend(root(variable)),
            _other => {}
        }
        for inner in statement.blocks() {
            all.extend(bound(inner));
        }
    }
    all
}

/// Returns true if some statement ends the function.
pub fn returns(block: &Block) -> bool {
    block.iter().any(|statement| {
        matches!(statement.kind, StatementKind::Return(_))
            || statement.blocks().into_iter().any(returns)
    })
}

fn root(variable: &Variable) -> Option<LocalId> {
    match variable {
        Variable::Field(..) => None,
        Variable::Local(local) => Some(*local),
        Variable::Element(of, _) | Variable::Part(of, ..) => root(of),
    }
}
