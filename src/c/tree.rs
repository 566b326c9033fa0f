//! The part of C that generated code is made of.
//!
//! Names and literals are text; whoever builds the tree sees to it that they mean something. The
//! printer puts parentheses where precedence or a compiler's warning asks for them.

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expression {
    /// A name or a literal.
    Atom(String),
    /// `function(arguments)`
    Call(String, Vec<Expression>),
    /// `inner.field`
    Member(Box<Expression>, String),
    /// `inner->field`
    Behind(Box<Expression>, String),
    /// `inner[index]`
    Element(Box<Expression>, Box<Expression>),
    /// `!`, `-`, `~`, `&` or `*` before an operand.
    Unary(&'static str, Box<Expression>),
    /// Two operands and what stands between them.
    Binary(&'static str, Box<Expression>, Box<Expression>),
    /// `condition ? then : otherwise`
    Conditional(Box<Expression>, Box<Expression>, Box<Expression>),
    /// `(type)inner`
    Cast(String, Box<Expression>),
    /// `(type){.field = value, ...}`
    Struct(String, Vec<(String, Expression)>),
}

/// A name or a literal.
pub fn atom(text: impl Into<String>) -> Expression {
    Expression::Atom(text.into())
}

/// `function(arguments)`
pub fn call(function: impl Into<String>, arguments: Vec<Expression>) -> Expression {
    Expression::Call(function.into(), arguments)
}

/// `left OPERATOR right`
pub fn binary(operator: &'static str, left: Expression, right: Expression) -> Expression {
    Expression::Binary(operator, Box::new(left), Box::new(right))
}

/// `condition ? then : otherwise`
pub fn conditional(condition: Expression, then: Expression, otherwise: Expression) -> Expression {
    Expression::Conditional(Box::new(condition), Box::new(then), Box::new(otherwise))
}

impl Expression {
    /// `self.field`; of `*pointer`, `pointer->field`
    pub fn member(self, field: impl Into<String>) -> Expression {
        match self {
            Expression::Unary("*", pointer) => pointer.behind(field),
            value => Expression::Member(Box::new(value), field.into()),
        }
    }

    /// `self->field`
    pub fn behind(self, field: impl Into<String>) -> Expression {
        Expression::Behind(Box::new(self), field.into())
    }

    /// `self[index]`
    pub fn element(self, index: Expression) -> Expression {
        Expression::Element(Box::new(self), Box::new(index))
    }

    /// `&self`; of `*pointer`, the pointer
    pub fn address(self) -> Expression {
        match self {
            Expression::Unary("*", pointer) => *pointer,
            value => Expression::Unary("&", Box::new(value)),
        }
    }

    /// `*self`
    pub fn dereferenced(self) -> Expression {
        Expression::Unary("*", Box::new(self))
    }

    /// `(kind)self`; a cast to the same type is not repeated.
    pub fn cast(self, kind: impl Into<String>) -> Expression {
        let kind = kind.into();
        match self {
            Expression::Cast(ref inner, _) if *inner == kind => self,
            Expression::Atom(_)
            | Expression::Call(..)
            | Expression::Member(..)
            | Expression::Behind(..)
            | Expression::Element(..)
            | Expression::Unary(..)
            | Expression::Binary(..)
            | Expression::Conditional(..)
            | Expression::Cast(..)
            | Expression::Struct(..) => Expression::Cast(kind, Box::new(self)),
        }
    }

    /// `!self`, as a person would write it: the comparison turned, where there is one.
    pub fn negated(self) -> Expression {
        match self {
            Expression::Unary("!", inner) => *inner,
            Expression::Binary(operator, left, right) => match opposite(operator) {
                Some(other) => Expression::Binary(other, left, right),
                None if operator == "&&" => binary("||", left.negated(), right.negated()),
                None if operator == "||" => binary("&&", left.negated(), right.negated()),
                None => not(Expression::Binary(operator, left, right)),
            },
            Expression::Atom(text) if text == "true" => atom("false"),
            Expression::Atom(text) if text == "false" => atom("true"),
            Expression::Atom(_)
            | Expression::Call(..)
            | Expression::Member(..)
            | Expression::Behind(..)
            | Expression::Element(..)
            | Expression::Unary(..)
            | Expression::Conditional(..)
            | Expression::Cast(..)
            | Expression::Struct(..) => not(self),
        }
    }
}

fn not(expression: Expression) -> Expression {
    Expression::Unary("!", Box::new(expression))
}

fn opposite(operator: &str) -> Option<&'static str> {
    let pairs = [("==", "!="), ("<", ">="), (">", "<=")];
    pairs.iter().find_map(|&(one, other)| {
        let turned = [(one, other), (other, one)];
        turned
            .into_iter()
            .find(|(from, _)| *from == operator)
            .map(|(_, to)| to)
    })
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// A comment on a line of its own.
    Comment(String),
    /// `kind name = value;`; the name may end in `[N]`.
    Declare {
        /// The type, `const` before it where the value stays.
        kind: String,
        /// The name.
        name: String,
        /// What it begins as.
        value: Option<Expression>,
    },
    /// `place = value;`
    Assign(Expression, &'static str, Expression),
    /// `expression;`
    Do(Expression),
    /// `if (condition) { then } else { otherwise }`
    If {
        /// The condition.
        condition: Expression,
        /// Where it holds.
        then: Vec<Statement>,
        /// Where it does not; empty where nothing is done.
        otherwise: Vec<Statement>,
    },
    /// `switch (value) { … }`; a case that does not leave ends with `break`.
    Switch {
        /// The value.
        value: Expression,
        /// The cases.
        cases: Vec<(Vec<Expression>, Vec<Statement>)>,
        /// All other values; none where there is nothing to say about them.
        otherwise: Option<Vec<Statement>>,
    },
    /// `for (start; condition; step) { body }`
    For {
        /// As it stands in C.
        start: String,
        /// Goes on while it holds.
        condition: Expression,
        /// As it stands in C.
        step: String,
        /// Each turn.
        body: Vec<Statement>,
    },
    /// `while (condition) { body }`
    While {
        /// Goes on while it holds.
        condition: Expression,
        /// Each turn.
        body: Vec<Statement>,
    },
    /// `return value;`
    Return(Option<Expression>),
    /// `continue;`
    Continue,
    /// `break;`
    Break,
    /// `goto name;`
    Goto(String),
    /// `name:` before the next statement.
    Label(String),
}

/// `if (condition) { then }`
pub fn only_if(condition: Expression, then: Vec<Statement>) -> Statement {
    Statement::If {
        condition,
        then,
        otherwise: Vec::new(),
    }
}

/// Assigns.
pub fn assign(place: Expression, value: Expression) -> Statement {
    Statement::Assign(place, "=", value)
}

/// Calls for the effect.
pub fn call_statement(function: impl Into<String>, arguments: Vec<Expression>) -> Statement {
    Statement::Do(call(function, arguments))
}

/// Whether control never comes to what stands behind these statements.
pub fn leaves(statements: &[Statement]) -> bool {
    match statements.last() {
        Some(
            Statement::Return(_) | Statement::Continue | Statement::Break | Statement::Goto(_),
        ) => true,
        Some(Statement::If {
            then, otherwise, ..
        }) => leaves(then) && leaves(otherwise),
        Some(Statement::Switch {
            cases, otherwise, ..
        }) => {
            let returns =
                |body: &[Statement]| leaves(body) && !matches!(body.last(), Some(Statement::Break));
            cases.iter().all(|(_, body)| returns(body))
                && otherwise.as_ref().is_some_and(|body| returns(body))
        }
        Some(
            Statement::Comment(_)
            | Statement::Declare { .. }
            | Statement::Assign(..)
            | Statement::Do(_)
            | Statement::For { .. }
            | Statement::While { .. }
            | Statement::Label(_),
        )
        | None => false,
    }
}

/// A member of a struct or a value of an enum, and what is said about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// `uint32_t port` or `HOST_IDLE`, without the mark at its end.
    pub text: String,
    /// The comment behind it; may be empty.
    pub comment: String,
}

/// What stands at the top of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// Text as it is.
    Text(String),
    /// A comment that divides the file.
    Banner(String),
    /// `struct name { … };`
    Struct {
        /// What is said above it.
        comment: String,
        /// Its name.
        name: String,
        /// Its members.
        members: Vec<Line>,
    },
    /// `enum name { … };`
    Enum {
        /// What is said above it.
        comment: String,
        /// Its name; may be empty.
        name: String,
        /// Its values.
        values: Vec<Line>,
    },
    /// A function.
    Function(Function),
    /// Its declaration.
    Prototype(Function),
    /// Declarations with an attribute, for compilers that know attributes; the definitions follow.
    Attributed(&'static str, Vec<Function>),
    /// The same where functions are used before they are defined: other compilers get prototypes.
    AttributedPrototypes(&'static str, Vec<Function>),
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// What is said above it.
    pub comment: String,
    /// `static void`, `uint32_t`: all before the name.
    pub result: String,
    /// Its name.
    pub name: String,
    /// `struct host *stack` and so on; none is `void`.
    pub parameters: Vec<String>,
    /// What it does.
    pub body: Vec<Statement>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_negated_comparison_is_turned() {
        let near = binary("==", atom("a"), atom("b"));
        let known = binary("&&", near, not(atom("late")));
        let turned = binary("||", binary("!=", atom("a"), atom("b")), atom("late"));
        assert_eq!(known.negated(), turned);
    }

    #[test]
    fn a_switch_leaves_only_if_every_case_returns() {
        let value = atom("kind");
        let case = |body| vec![(vec![atom("1")], body)];
        let switch = |body, otherwise| Statement::Switch {
            value: value.clone(),
            cases: case(body),
            otherwise,
        };
        let gone = || vec![Statement::Return(None)];
        assert!(leaves(&[switch(gone(), Some(gone()))]));
        assert!(!leaves(&[switch(gone(), None)]));
        assert!(!leaves(&[switch(vec![Statement::Break], Some(gone()))]));
    }
}
