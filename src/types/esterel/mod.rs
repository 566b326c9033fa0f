//! Trees of an Esterel text -> one checked module, all that it runs in it.
//!
//! In: a [`File`] of modules. Out: a [`Module`]: its processes, and what they compute, by the same
//! numbers; or what is wrong with it. Derived statements are written with those that
//! [`Processes`] has.
//!
//! ```text
//! interface   what a module declares            scope      what its names mean
//! statement, abort   statements                 run        copies of other modules
//! expression  types of values                   shared     variables of two branches
//! unset       values that nothing sets          twice      names declared twice
//! main        the module that no other runs     handle     handlers of traps
//! operator    signs in place of functions       tick       `pre(tick)`
//! ```

mod abort;
mod expression;
mod handle;
mod interface;
mod main;
mod operator;
mod run;
mod scope;
mod shared;
mod statement;
mod tick;
mod twice;
mod unset;

pub use expression::sign;
pub use unset::never_set;

use crate::diagnostic::{Diagnostic, Id, Severity, closest};
use crate::source::Span;
use crate::syntax::esterel::ast::{self, Binary, File, Unary};
use crate::types::process::{DataId, Processes, SignalId};
use scope::Scope;
use std::collections::BTreeSet;

/// A module, with all that it runs.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Its name.
    pub name: String,
    /// What it does.
    pub processes: Processes,
    /// What it computes, by the numbers of [`Processes::data`].
    pub data: Vec<Data>,
    /// What signals carry, by the numbers of [`Processes::signals`].
    pub channels: Vec<Option<Channel>>,
    /// Its variables, and the counts of its delays.
    pub variables: Vec<Variable>,
    /// Types that C knows.
    pub types: Vec<String>,
    /// Values that C has.
    pub constants: Vec<Constant>,
    /// Functions in C.
    pub functions: Vec<Function>,
    /// Procedures in C.
    pub procedures: Vec<Procedure>,
    /// Gives signals of the interface their first values.
    pub begin: Option<DataId>,
}

/// A variable, among [`Module::variables`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VariableId(pub u32);

impl VariableId {
    /// The place in its table.
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

/// Types of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// `boolean`
    Boolean,
    /// `integer`: 32 bits, wrapping.
    Integer,
    /// `float`: 32 bits.
    Float,
    /// `double`: 64 bits.
    Double,
    /// `string`
    Text,
    /// One that C knows, among [`Module::types`].
    User(u32),
}

/// How many bytes a text has in C, with the zero behind it; a longer one is cut.
pub const TEXT: usize = 256;

/// What a module needs of C, by the places in its tables.
#[derive(Clone, Debug, Default)]
pub struct OfC {
    /// Among [`Module::types`].
    pub types: BTreeSet<u32>,
    /// Among [`Module::constants`].
    pub constants: BTreeSet<u32>,
    /// Among [`Module::functions`].
    pub functions: BTreeSet<u32>,
    /// Among [`Module::procedures`].
    pub procedures: BTreeSet<u32>,
}

/// What a signal carries.
#[derive(Clone, Debug)]
pub struct Channel {
    /// Of which type.
    pub kind: Type,
    /// What combines the values of one instant.
    pub combine: Option<Combine>,
    /// Whether it has a value from the beginning of its scope.
    pub initial: bool,
}

/// What combines two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combine {
    /// An operator.
    Operator(Binary),
    /// A function, among [`Module::functions`].
    Function(u32),
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: Type,
}

/// A value that C has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constant {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: Type,
}

/// A function in C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The types of its parameters.
    pub parameters: Vec<Type>,
    /// The type of its result.
    pub result: Type,
}

/// A procedure in C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Procedure {
    /// Its name.
    pub name: String,
    /// The types of the variables that it is given.
    pub references: Vec<Type>,
    /// The types of the values that it is given.
    pub values: Vec<Type>,
}

/// Something that is computed.
#[derive(Clone, Debug)]
pub enum Data {
    /// A value: of an emission, or of a condition.
    Value(Expression),
    /// A variable is set.
    Assign(VariableId, Expression),
    /// A count comes one nearer to zero, and stays there.
    Down(VariableId),
    /// Signals get their values at the beginning of their scope; without one, they have none yet.
    Begin(Vec<(SignalId, Option<Expression>)>),
    /// A procedure is called.
    Call {
        /// Which one, among [`Module::procedures`].
        procedure: u32,
        /// The variables that it may change.
        references: Vec<VariableId>,
        /// The values that it is given.
        values: Vec<Expression>,
    },
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    /// What it computes.
    pub kind: Box<ExpressionKind>,
    /// Its type.
    pub result: Type,
}

/// What an expression computes.
#[derive(Clone, Debug, PartialEq)]
pub enum ExpressionKind {
    /// A truth.
    Boolean(bool),
    /// A whole number.
    Integer(i32),
    /// A number with a fraction, as it is written.
    Real(String),
    /// A text.
    Text(String),
    /// A value that C has, among [`Module::constants`].
    Constant(u32),
    /// A variable.
    Variable(VariableId),
    /// The value of a signal, now or last.
    Value(SignalId),
    /// That of the instant before.
    Before(SignalId),
    /// A function, among [`Module::functions`].
    Call(u32, Vec<Expression>),
    /// One operand.
    Unary(Unary, Expression),
    /// Two operands of one type.
    Binary(Binary, Expression, Expression),
}

impl Module {
    /// What C has to have: what is used, not all that is declared.
    pub fn of_c(&self) -> OfC {
        let mut of_c = OfC::default();
        for channel in self.channels.iter().flatten() {
            of_c.types.extend(channel.kind.of_c());
            if let Some(Combine::Function(function)) = channel.combine {
                of_c.functions.insert(function);
            }
        }
        let variables = self.variables.iter();
        of_c.types
            .extend(variables.filter_map(|one| one.kind.of_c()));
        for data in &self.data {
            if let Data::Call { procedure, .. } = data {
                of_c.procedures.insert(*procedure);
            }
            let mut open = data.expressions();
            while let Some(one) = open.pop() {
                of_c.types.extend(one.result.of_c());
                if let ExpressionKind::Constant(constant) = &*one.kind {
                    of_c.constants.insert(*constant);
                }
                if let ExpressionKind::Call(function, _) = &*one.kind {
                    of_c.functions.insert(*function);
                }
                open.extend(one.kind.operands());
            }
        }
        of_c
    }
}

impl OfC {
    /// The names of all.
    pub fn names<'m>(&self, module: &'m Module) -> Vec<&'m str> {
        let types = self.types.iter();
        let types = types.map(|at| module.types[*at as usize].as_str());
        let constants = self.constants.iter();
        let constants = constants.map(|at| module.constants[*at as usize].name.as_str());
        let functions = self.functions.iter();
        let functions = functions.map(|at| module.functions[*at as usize].name.as_str());
        let procedures = self.procedures.iter();
        let procedures = procedures.map(|at| module.procedures[*at as usize].name.as_str());
        let all = types.chain(constants).chain(functions);
        all.chain(procedures).collect()
    }
}

impl Type {
    /// The place of one that C knows in its table.
    pub fn of_c(self) -> Option<u32> {
        match self {
            Type::User(id) => Some(id),
            Type::Boolean | Type::Integer | Type::Float | Type::Double | Type::Text => None,
        }
    }

    /// How it is written; those that C knows have their own names.
    pub fn name(self, types: &[String]) -> &str {
        match self {
            Type::Boolean => "boolean",
            Type::Integer => "integer",
            Type::Float => "float",
            Type::Double => "double",
            Type::Text => "string",
            Type::User(id) => &types[id as usize],
        }
    }
}

impl Expression {
    /// An expression of a type.
    pub fn new(kind: ExpressionKind, result: Type) -> Expression {
        Expression {
            kind: Box::new(kind),
            result,
        }
    }
}

impl Data {
    /// The expressions in it.
    pub fn expressions(&self) -> Vec<&Expression> {
        match self {
            Data::Value(value) | Data::Assign(_, value) => vec![value],
            Data::Down(_) => Vec::new(),
            Data::Begin(all) => all.iter().filter_map(|(_, value)| value.as_ref()).collect(),
            Data::Call { values, .. } => values.iter().collect(),
        }
    }

    /// The variables that it writes.
    pub fn written(&self) -> Vec<VariableId> {
        match self {
            Data::Assign(variable, _) | Data::Down(variable) => vec![*variable],
            Data::Call { references, .. } => references.clone(),
            Data::Value(_) | Data::Begin(_) => Vec::new(),
        }
    }
}

impl ExpressionKind {
    /// The expressions in it.
    pub fn operands(&self) -> Vec<&Expression> {
        match self {
            ExpressionKind::Boolean(_)
            | ExpressionKind::Integer(_)
            | ExpressionKind::Real(_)
            | ExpressionKind::Text(_)
            | ExpressionKind::Constant(_)
            | ExpressionKind::Variable(_)
            | ExpressionKind::Value(_)
            | ExpressionKind::Before(_) => Vec::new(),
            ExpressionKind::Call(_, all) => all.iter().collect(),
            ExpressionKind::Unary(_, one) => vec![one],
            ExpressionKind::Binary(_, one, other) => vec![one, other],
        }
    }
}

/// Checks the module with a name, or the one that no other module runs, and all that it runs.
/// `place` is where the file begins.
pub fn check(file: &File, main: Option<&str>, place: Span) -> (Option<Module>, Vec<Diagnostic>) {
    let mut checker = Checker {
        file,
        module: Module::default(),
        diagnostics: Vec::new(),
        running: Vec::new(),
        tick: None,
    };
    let chosen = match main {
        Some(name) => file.modules.iter().find(|module| module.name.text == name),
        None => match main::chosen(file) {
            Ok(chosen) => chosen,
            Err(several) => return (None, vec![*several]),
        },
    };
    let Some(chosen) = chosen else {
        let title = match main {
            Some(name) => format!("there is no module `{name}`"),
            None => "there is no module".to_string(),
        };
        let names = file.modules.iter().map(|module| module.name.text.as_str());
        let names = names.collect::<Vec<_>>().join(", ");
        let missing = Diagnostic::error(Id::UnknownName, title, place, "in this file");
        let missing = match names.is_empty() {
            true => missing.help("declare one: `module NAME: … end module`"),
            false => missing.help(format!("choose one of {names}")),
        };
        return (None, vec![missing]);
    };
    checker.declared_twice();
    checker.module.name = chosen.name.text.clone();
    checker.running.push(chosen.name.text.clone());
    let mut scope = Scope::default();
    checker.interface(chosen, &mut scope);
    let root = checker.statement(&chosen.body, &scope);
    let root = tick::beside_tick(&mut checker, root, chosen.name.span);
    checker.module.processes.root = Some(root);
    checker.deepest();
    let mut errors = checker.diagnostics.iter();
    let refused = errors.any(|one| one.severity == Severity::Error);
    ((!refused).then_some(checker.module), checker.diagnostics)
}

/// A module that is being checked.
struct Checker<'f> {
    file: &'f File,
    module: Module,
    diagnostics: Vec<Diagnostic>,
    /// The modules that are being copied, the outermost first.
    running: Vec<String>,
    /// What is emitted in each instant, if its status before is asked.
    tick: Option<SignalId>,
}

/// How deep statements may stand in each other, once all copies are made.
const MOST_DEEP: usize = 1_000;

impl Checker<'_> {
    /// Whether statements stand too deep in each other to be followed.
    fn deepest(&mut self) {
        let mut depths: Vec<usize> = Vec::new();
        for placed in &self.module.processes.statements {
            let parts = placed.statement.parts().into_iter();
            let inner = parts.map(|part| depths[part.at()]).max();
            depths.push(inner.map_or(1, |inner| inner + 1));
        }
        let Some(at) = depths.iter().position(|depth| *depth > MOST_DEEP) else {
            return;
        };
        let span = self.module.processes.statements[at].span;
        let title = format!("statements are nested more than {MOST_DEEP} deep");
        let refused = Diagnostic::error(Id::NestedTooDeeply, title, span, "too deep");
        self.report(
            refused.why("Each case of a `present` counts as nested in the case before it."),
        );
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        if !self.diagnostics.contains(&diagnostic) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// A name that nothing has.
    fn unknown<'n>(
        &mut self,
        what: &str,
        name: &ast::Name,
        all: impl IntoIterator<Item = &'n str>,
    ) {
        let title = format!("there is no {what} `{}` here", name.text);
        let mut diagnostic = Diagnostic::error(Id::UnknownName, title, name.span, "unknown");
        if let Some(meant) = closest(&name.text, all) {
            diagnostic = diagnostic.help(format!("did you mean `{meant}`?"));
        }
        self.report(diagnostic);
    }
}
