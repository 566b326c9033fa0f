//! Walks over C: the parts of an expression, the expressions and blocks of a statement.

use super::tree::{Expression, Statement};
use std::collections::BTreeSet;

impl Expression {
    /// The expressions within this one.
    pub fn parts(&self) -> Vec<&Expression> {
        match self {
            Expression::Atom(_) => Vec::new(),
            Expression::Call(_, arguments) => arguments.iter().collect(),
            Expression::Member(of, _)
            | Expression::Behind(of, _)
            | Expression::Unary(_, of)
            | Expression::Cast(_, of) => vec![of],
            Expression::Element(one, other) | Expression::Binary(_, one, other) => {
                vec![one, other]
            }
            Expression::Conditional(condition, then, otherwise) => {
                vec![condition, then, otherwise]
            }
            Expression::Struct(_, fields) => fields.iter().map(|(_, value)| value).collect(),
        }
    }
}

impl Expression {
    /// The same, to be changed.
    pub fn parts_mut(&mut self) -> Vec<&mut Expression> {
        match self {
            Expression::Atom(_) => Vec::new(),
            Expression::Call(_, arguments) => arguments.iter_mut().collect(),
            Expression::Member(of, _)
            | Expression::Behind(of, _)
            | Expression::Unary(_, of)
            | Expression::Cast(_, of) => vec![of],
            Expression::Element(one, other) | Expression::Binary(_, one, other) => {
                vec![one, other]
            }
            Expression::Conditional(condition, then, otherwise) => {
                vec![condition, then, otherwise]
            }
            Expression::Struct(_, fields) => fields.iter_mut().map(|(_, value)| value).collect(),
        }
    }
}

impl Statement {
    /// Does something with the expressions of the statement, and of those within it.
    pub fn each_value_mut(&mut self, change: &mut dyn FnMut(&mut Expression)) {
        self.expressions_mut().into_iter().for_each(&mut *change);
        for block in self.blocks_mut() {
            block.iter_mut().for_each(|one| one.each_value_mut(change));
        }
    }

    /// The expressions of the statement itself, to be changed.
    pub fn expressions_mut(&mut self) -> Vec<&mut Expression> {
        match self {
            Statement::Declare { value, .. } | Statement::Return(value) => {
                value.iter_mut().collect()
            }
            Statement::Assign(place, _, value) => vec![place, value],
            Statement::Do(value) | Statement::Switch { value, .. } => vec![value],
            Statement::If { condition, .. }
            | Statement::For { condition, .. }
            | Statement::While { condition, .. } => vec![condition],
            Statement::Comment(_)
            | Statement::Continue
            | Statement::Break
            | Statement::Goto(_)
            | Statement::Label(_) => Vec::new(),
        }
    }

    /// The expressions of the statement itself.
    pub fn expressions(&self) -> Vec<&Expression> {
        match self {
            Statement::Declare { value, .. } | Statement::Return(value) => value.iter().collect(),
            Statement::Assign(place, _, value) => vec![place, value],
            Statement::Do(value) | Statement::Switch { value, .. } => vec![value],
            Statement::If { condition, .. }
            | Statement::For { condition, .. }
            | Statement::While { condition, .. } => vec![condition],
            Statement::Comment(_)
            | Statement::Continue
            | Statement::Break
            | Statement::Goto(_)
            | Statement::Label(_) => Vec::new(),
        }
    }

    /// The statements within the statement.
    pub fn blocks(&self) -> Vec<&[Statement]> {
        match self {
            Statement::If {
                then, otherwise, ..
            } => vec![then, otherwise],
            Statement::Switch {
                cases, otherwise, ..
            } => {
                let bodies = cases.iter().map(|(_, body)| &body[..]);
                bodies.chain(otherwise.as_deref()).collect()
            }
            Statement::For { body, .. } | Statement::While { body, .. } => vec![body],
            Statement::Comment(_)
            | Statement::Declare { .. }
            | Statement::Assign(..)
            | Statement::Do(_)
            | Statement::Return(_)
            | Statement::Continue
            | Statement::Break
            | Statement::Goto(_)
            | Statement::Label(_) => Vec::new(),
        }
    }

    /// The same, to be changed.
    pub fn blocks_mut(&mut self) -> Vec<&mut Vec<Statement>> {
        match self {
            Statement::If {
                then, otherwise, ..
            } => vec![then, otherwise],
            Statement::Switch {
                cases, otherwise, ..
            } => {
                let bodies = cases.iter_mut().map(|(_, body)| body);
                bodies.chain(otherwise.as_mut()).collect()
            }
            Statement::For { body, .. } | Statement::While { body, .. } => vec![body],
            Statement::Comment(_)
            | Statement::Declare { .. }
            | Statement::Assign(..)
            | Statement::Do(_)
            | Statement::Return(_)
            | Statement::Continue
            | Statement::Break
            | Statement::Goto(_)
            | Statement::Label(_) => Vec::new(),
        }
    }
}

/// Looks at each statement, and at those within it.
pub fn each<'a>(statements: &'a [Statement], look: &mut dyn FnMut(&'a Statement)) {
    for statement in statements {
        look(statement);
        for block in statement.blocks() {
            each(block, look);
        }
    }
}

/// Whether a name stands anywhere in some statements.
pub fn is_named(name: &str, statements: &[Statement]) -> bool {
    fn within(name: &str, value: &Expression) -> bool {
        let itself = matches!(value, Expression::Atom(text) if has_word(text, name));
        itself || value.parts().iter().any(|part| within(name, part))
    }
    let mut found = false;
    each(statements, &mut |statement| {
        let mut values = statement.expressions().into_iter();
        found |= values.any(|value| within(name, value));
        if let Statement::For { start, step, .. } = statement {
            found |= has_word(start, name) || has_word(step, name);
        }
    });
    found
}

/// Tells each word for which [`is_named`] finds something in a statement, but not those in the
/// statements within it.
pub fn each_word(statement: &Statement, note: &mut dyn FnMut(&str)) {
    fn within(value: &Expression, note: &mut dyn FnMut(&str)) {
        if let Expression::Atom(text) = value {
            words(text).for_each(&mut *note);
        }
        value.parts().iter().for_each(|part| within(part, note));
    }
    for value in statement.expressions() {
        within(value, note);
    }
    if let Statement::For { start, step, .. } = statement {
        words(start).chain(words(step)).for_each(note);
    }
}

/// Leaves out locals that nothing mentions: the whole body of a function comes in. Of a value
/// that calls something the call stays.
pub fn without_unused(body: &mut Vec<Statement>) {
    loop {
        let mut mentioned = BTreeSet::new();
        each(body, &mut |statement| {
            each_word(statement, &mut |word| {
                _ = mentioned.insert(word.to_string())
            });
        });
        if !leave_out(body, &mentioned) {
            return;
        }
    }
}

/// Leaves out locals without a mention; returns true if there was one.
fn leave_out(statements: &mut Vec<Statement>, mentioned: &BTreeSet<String>) -> bool {
    let mut is_changed = false;
    statements.retain_mut(|statement| {
        for block in statement.blocks_mut() {
            is_changed |= leave_out(block, mentioned);
        }
        let Some(value) = unused(statement, mentioned) else {
            return true;
        };
        is_changed = true;
        let is_needed = calls(value);
        if is_needed {
            let value = Box::new(value.clone());
            *statement = Statement::Do(Expression::Cast("void".to_string(), value));
        }
        is_needed
    });
    is_changed
}

/// The first value of a local without a mention.
fn unused<'s>(statement: &'s Statement, mentioned: &BTreeSet<String>) -> Option<&'s Expression> {
    match statement {
        Statement::Declare {
            name,
            value: Some(value),
            ..
        } if words(name).all(|word| !mentioned.contains(word)) => Some(value),
        _other => None,
    }
}

/// Returns true if an expression calls something.
fn calls(value: &Expression) -> bool {
    matches!(value, Expression::Call(..)) || value.parts().into_iter().any(calls)
}

/// Whether a word stands in a text.
pub fn has_word(text: &str, word: &str) -> bool {
    words(text).any(|one| one == word)
}

/// The words of a text; between two marks stands an empty one.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
}

/// Does something with each statement, and with those within it.
pub fn each_mut(statements: &mut [Statement], change: &mut dyn FnMut(&mut Statement)) {
    for statement in statements {
        change(statement);
        for block in statement.blocks_mut() {
            each_mut(block, change);
        }
    }
}
