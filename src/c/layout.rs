//! Where a long expression is broken: in, an expression and the column where it begins; out, its
//! text, on as few lines as keep it within the width of a page.
//!
//! What is broken inside begins a line of its own, and what stands on one level stands in one
//! column, so that the eye finds the operands. `.clang-format` in the repository says the same.
//!
//! ```text
//! const bool near = stack->config.prefix == 0 ||
//!                   (stack->host ^ stack->config.address) >> stack->config.unused == 0;
//! ```

use super::printer::{
    CONDITIONAL, POSTFIX, UNARY, asks_parentheses, behind_cast, expression, flat_width, precedence,
    precedence_of,
};
use super::tree::Expression;

/// Columns of a page.
pub const WIDTH: usize = 100;

/// By how much a part of an expression that is broken stands behind the whole.
const HANG: usize = 4;

/// An expression at a column, before so many letters that stand behind it on its last line. Lines
/// behind the first begin with their blanks.
pub fn laid_out(value: &Expression, column: usize, behind: usize) -> String {
    let mut page = Page::at(column);
    page.expression(value, behind);
    page.text
}

/// A list between parentheses that are open: of parameters, or the parts of a `for`.
pub fn listed(pieces: &[String], mark: char, column: usize, behind: usize) -> String {
    let mut page = Page::at(column);
    for (at, piece) in pieces.iter().enumerate() {
        let last = at + 1 == pieces.len();
        let next = if last { behind } else { 1 };
        if at > 0 {
            page.put(&mark.to_string());
            page.space_or_line(
                page.column + 1 + piece.chars().count() + next > WIDTH,
                column,
            );
        }
        page.put(piece);
    }
    page.text
}

/// A text that grows, the column of what is put next, and how many lines have ended.
struct Page {
    text: String,
    column: usize,
    lines: usize,
}

impl Page {
    fn at(column: usize) -> Page {
        Page {
            text: String::new(),
            column,
            lines: 0,
        }
    }

    fn put(&mut self, piece: &str) {
        self.text.push_str(piece);
        self.column += piece.chars().count();
        self.lines += piece.matches('\n').count();
    }

    fn line(&mut self, column: usize) {
        self.text.push('\n');
        self.text.push_str(&" ".repeat(column));
        self.column = column;
        self.lines += 1;
    }

    fn space_or_line(&mut self, line: bool, column: usize) {
        if line {
            self.line(column);
        } else {
            self.put(" ");
        }
    }

    fn fits(&self, letters: usize) -> bool {
        self.column + letters <= WIDTH
    }

    /// Returns true if the whole expression fits on this line beside so many other letters. The
    /// expression is read no further than a line is long.
    fn fits_whole(&self, value: &Expression, others: usize) -> bool {
        let room = WIDTH.checked_sub(self.column + others);
        room.is_some_and(|room| flat_width(value, room).is_some())
    }

    fn expression(&mut self, value: &Expression, behind: usize) {
        self.hanging(value, behind, 0);
    }

    /// Operands that go on below the first hang by so many columns, where the expression is but a
    /// part of what stands in this column.
    fn hanging(&mut self, value: &Expression, behind: usize, hang: usize) {
        if self.fits_whole(value, behind) {
            self.put(&expression(value));
            return;
        }
        match value {
            Expression::Atom(text) => self.put(text),
            Expression::Call(function, arguments) => {
                self.put(&format!("{function}("));
                self.arguments(arguments, behind + 1);
                self.put(")");
            }
            Expression::Member(inner, field) => {
                let end = format!(".{field}");
                let (column, before) = (self.column, self.lines);
                self.within(inner, POSTFIX, behind + end.len());
                // clang-format puts the field on a line of its own behind an expression in
                // brackets that takes several lines.
                if precedence(inner) < POSTFIX && self.lines > before {
                    self.line(column + HANG);
                }
                self.put(&end);
            }
            Expression::Behind(inner, field) => {
                let end = format!("->{field}");
                self.within(inner, POSTFIX, behind + end.len());
                self.put(&end);
            }
            Expression::Element(inner, index) => {
                let end = format!("[{}]", expression(index));
                self.within(inner, POSTFIX, behind + end.len());
                self.put(&end);
            }
            Expression::Unary(operator, inner) => {
                self.put(operator);
                self.within(inner, UNARY, behind);
            }
            Expression::Cast(kind, inner) => {
                self.put(&format!("({kind}){}", behind_cast(inner)));
                self.within(inner, UNARY, behind);
            }
            Expression::Binary(..) => self.chain(value, behind, hang),
            Expression::Conditional(condition, then, otherwise) => {
                self.conditional(condition, then, otherwise, behind);
            }
            Expression::Struct(kind, fields) => self.fields(kind, fields, behind),
        }
    }

    fn within(&mut self, inner: &Expression, least: u8, behind: usize) {
        let so = precedence(inner) < least;
        self.parenthesised(inner, so, behind);
    }

    fn parenthesised(&mut self, inner: &Expression, so: bool, behind: usize) {
        self.operand(inner, so, behind, HANG);
    }

    fn operand(&mut self, inner: &Expression, so: bool, behind: usize, hang: usize) {
        if so {
            self.put("(");
            self.expression(inner, behind + 1);
            self.put(")");
        } else {
            self.hanging(inner, behind, hang);
        }
    }

    /// Arguments fill the lines under the first one.
    fn arguments(&mut self, arguments: &[Expression], behind: usize) {
        let column = self.column;
        let mut broken = false;
        for (at, argument) in arguments.iter().enumerate() {
            let next = if at + 1 == arguments.len() { behind } else { 1 };
            if at > 0 {
                self.put(",");
                let fits = self.fits_whole(argument, 1 + next)
                    || self.ends_with_fields(arguments, at, next);
                self.space_or_line(broken || !fits, column);
            }
            let before = self.lines;
            let hang = if arguments.len() > 1 { HANG } else { 0 };
            self.hanging(argument, next, hang);
            broken = self.lines > before;
        }
    }

    /// Whether the last argument is a struct whose fields fit under each other from here on.
    fn ends_with_fields(&self, arguments: &[Expression], at: usize, behind: usize) -> bool {
        if at + 1 != arguments.len() || !is_struct(&arguments[at]) {
            return false;
        }
        let laid = laid_out(&arguments[at], self.column + 1, behind);
        let mut lines = laid.lines();
        let first = lines.next().map_or(0, |line| line.chars().count());
        self.fits(1 + first + behind) && lines.all(|line| line.chars().count() + behind <= WIDTH)
    }

    /// Operands of one precedence, as many on a line as fit whole.
    fn chain(&mut self, value: &Expression, behind: usize, hang: usize) {
        let column = self.column + hang;
        let operands = chained(value);
        let mut broken = false;
        for (at, (operator, operand)) in operands.iter().enumerate() {
            let next = operands.get(at + 1).map(|(operator, _)| *operator);
            let behind = next.map_or(behind, |operator| operator.len() + 1);
            let outer = if at == 0 { next } else { Some(*operator) };
            let so = outer.is_some_and(|outer| asks_parentheses(outer, operand, at > 0));
            if at > 0 {
                let others = operator.len() + 2 + if so { 2 } else { 0 } + behind;
                let line = broken || !self.fits_whole(operand, others);
                // clang-format thinks of streams, and has `<<` at the begin of a line.
                let (end, begin) = match *operator {
                    "<<" => (String::new(), "<< "),
                    operator => (format!(" {operator}"), ""),
                };
                self.put(&end);
                self.space_or_line(line, column);
                self.put(begin);
            }
            let before = self.lines;
            let own = if at == 0 { hang + HANG } else { HANG };
            self.operand(operand, so, behind, own);
            broken = self.lines > before;
        }
    }

    /// The second way stands under the first, or both under the condition.
    fn conditional(
        &mut self,
        condition: &Expression,
        then: &Expression,
        otherwise: &Expression,
        behind: usize,
    ) {
        let (column, before) = (self.column, self.lines);
        let so = precedence(condition) < precedence_of("||");
        self.operand(condition, so, 0, 2 * HANG);
        let is_whole = self.lines == before;
        let fits = |value: &Expression, behind: usize| {
            let brackets = usize::from(precedence(value) <= CONDITIONAL);
            self.fits_whole(value, 2 * brackets + 4 + behind)
        };
        let under = match is_whole && fits(then, 0) && fits(otherwise, behind) {
            true => {
                self.put(" ");
                self.column
            }
            false => {
                self.line(column + HANG);
                column + HANG
            }
        };
        self.put("? ");
        self.within(then, CONDITIONAL + 1, 0);
        self.line(under);
        self.put(": ");
        self.within(otherwise, CONDITIONAL + 1, behind);
    }

    /// One field a line.
    fn fields(&mut self, kind: &str, fields: &[(String, Expression)], behind: usize) {
        self.put(&format!("({kind}){{"));
        let column = self.column;
        for (at, (name, value)) in fields.iter().enumerate() {
            let next = if at + 1 == fields.len() {
                behind + 1
            } else {
                1
            };
            if at > 0 {
                self.put(",");
                self.line(column);
            }
            self.put(&format!(".{name} ="));
            self.space_or_line(!self.fits_whole(value, 1 + next), column + HANG);
            self.expression(value, next);
        }
        self.put("}");
    }
}

/// The operands of one precedence from left to right, each behind its operator; the first has none.
fn chained(value: &Expression) -> Vec<(&'static str, &Expression)> {
    let mut operands = Vec::new();
    let mut left = value;
    while let Expression::Binary(operator, inner, right) = left {
        operands.push((*operator, &**right));
        left = inner;
        let same = matches!(left, Expression::Binary(other, ..)
            if precedence_of(other) == precedence_of(operator));
        if !same || asks_parentheses(operator, left, false) {
            break;
        }
    }
    operands.push(("", left));
    operands.reverse();
    operands
}

/// Returns true for a struct that is written out, or its address.
fn is_struct(value: &Expression) -> bool {
    match value {
        Expression::Struct(..) => true,
        Expression::Unary(_, inner) => is_struct(inner),
        _other_expressions => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::{atom, binary, call, conditional};
    use super::*;

    fn long(n: usize) -> Expression {
        atom(format!("a_name_of_some_length_{n}"))
    }

    #[test]
    fn arguments_stand_in_one_column() {
        let value = call("sum_of_many_values", (0..5).map(long).collect());
        let text = laid_out(&value, 10, 1);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        let first = 10 + "sum_of_many_values(".len();
        assert_eq!(lines[1].find("a_name"), Some(first), "{text}");
    }

    #[test]
    fn what_is_broken_inside_begins_a_line() {
        let inner = (1..5).map(long).reduce(|all, one| binary("||", all, one));
        let both = binary("&&", long(0), inner.expect("there are some"));
        let text = laid_out(&both, 8, 3);
        let [first, second] = [
            "(a_name_of_some_length_1 || a_name",
            " a_name_of_some_length_4)",
        ];
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert_eq!(lines[0], "a_name_of_some_length_0 &&");
        assert!(lines[1][8..].starts_with(first), "{text}");
        assert_eq!(&lines[2][8..], second);
    }

    #[test]
    fn two_ways_stand_under_each_other() {
        let value = conditional(long(0), call("first", vec![long(1)]), long(2));
        let text = laid_out(&value, 30, 1);
        let under = " ".repeat(30 + "a_name_of_some_length_0 ".len());
        let expected = format!(
            "a_name_of_some_length_0 ? first(a_name_of_some_length_1)\n\
             {under}: a_name_of_some_length_2"
        );
        assert_eq!(text, expected);
    }
}
