//! The printer: a C tree comes in, text in 100 columns goes out.
//!
//! Four blanks a level, braces always; what is too long for a line is laid out by `layout`.

use super::layout::{WIDTH, laid_out, listed};
use super::tree::{Expression, Function, Item, Line, Statement, leaves};

/// A whole file.
pub fn file(items: &[Item]) -> String {
    let mut text = String::new();
    let mut last_declares = false;
    for item in items {
        let declares = matches!(item, Item::Prototype(_));
        let stands_close = text.is_empty() || last_declares && declares;
        if !stands_close {
            text.push('\n');
        }
        last_declares = declares;
        print_item(item, &mut text);
    }
    text
}

fn print_item(item: &Item, text: &mut String) {
    match item {
        Item::Text(own) => {
            text.push_str(own.trim_end());
            text.push('\n');
        }
        Item::Banner(title) => {
            let rule = "-".repeat(WIDTH - 6 - title.chars().count() - 4);
            *text += &format!("/* -- {title} {rule} */\n");
        }
        Item::Struct {
            comment: above,
            name,
            members,
        } => {
            print_comment(above, 0, text);
            *text += &format!("struct {name} {{\n");
            print_lines(members, ";", text);
            *text += "};\n";
        }
        Item::Enum {
            comment: above,
            name,
            values,
        } => {
            print_comment(above, 0, text);
            let name = if name.is_empty() {
                String::new()
            } else {
                format!("{name} ")
            };
            *text += &format!("enum {name}{{\n");
            print_lines(values, ",", text);
            *text += "};\n";
        }
        Item::Function(function) => {
            print_comment(&function.comment, 0, text);
            print_head(function, " {", text);
            print_block(&function.body, 1, text);
            *text += "}\n";
        }
        Item::Prototype(function) => print_head(function, ";", text),
        Item::Attributed(attribute, functions) => {
            print_attributed(attribute, functions, text);
            *text += "#endif\n";
        }
        Item::AttributedPrototypes(attribute, functions) => {
            print_attributed(attribute, functions, text);
            *text += "#else\n";
            for function in functions {
                print_head(function, ";", text);
            }
            *text += "#endif\n";
        }
    }
}

fn print_attributed(attribute: &str, functions: &[Function], text: &mut String) {
    *text += "#ifdef __GNUC__\n";
    let end = format!("\n    __attribute__(({attribute}));");
    for function in functions {
        print_head(function, &end, text);
    }
}

fn print_head(function: &Function, end: &str, text: &mut String) {
    let before = declaration(&function.result, &format!("{}(", function.name));
    let parameters = match function.parameters.as_slice() {
        [] => vec!["void".to_string()],
        some => some.to_vec(),
    };
    let parameters = listed(&parameters, ',', before.chars().count(), ") {".len());
    *text += &format!("{before}{parameters}){end}\n");
}

/// `const uint32_t n`, `uint8_t *data`.
pub fn declaration(kind: &str, name: &str) -> String {
    let space = if kind.ends_with('*') { "" } else { " " };
    format!("{kind}{space}{name}")
}

/// Members with their comments in one column, where they fit.
fn print_lines(lines: &[Line], mark: &str, text: &mut String) {
    let length = |line: &Line| line.text.chars().count() + mark.len();
    let short = lines
        .iter()
        .filter(|line| !line.comment.is_empty())
        .map(length);
    let column = short.filter(|length| *length <= 48).max().unwrap_or(0);
    for line in lines {
        let own = format!("{}{mark}", line.text);
        if line.text.contains('\n') {
            *text += &format!("    {own}\n");
            continue;
        }
        if line.comment.is_empty() {
            print_line(1, &own, text);
            continue;
        }
        let padding = " ".repeat(column.saturating_sub(own.chars().count()));
        let whole = format!("    {own}{padding} /* {} */", line.comment);
        if whole.chars().count() <= WIDTH {
            *text += &whole;
            text.push('\n');
        } else {
            print_comment(&line.comment, 1, text);
            print_line(1, &own, text);
        }
    }
}

/// A comment above something, in as many lines as it takes.
fn print_comment(comment: &str, depth: usize, text: &mut String) {
    if comment.is_empty() {
        return;
    }
    let indent = " ".repeat(4 * depth);
    let mut line = format!("{indent}/*");
    for paragraph in comment.split('\n') {
        for word in paragraph.split(' ') {
            if line.chars().count() + 1 + word.chars().count() > WIDTH - 3 {
                *text += &format!("{line}\n");
                line = format!("{indent} *");
            }
            line.push(' ');
            line.push_str(word);
        }
        *text += &format!("{}\n", line.trim_end());
        line = format!("{indent} *");
    }
    text.pop();
    *text += " */\n";
}

/// Statements at a depth of blocks.
pub fn block(statements: &[Statement], depth: usize) -> String {
    let mut text = String::new();
    print_block(statements, depth, &mut text);
    text
}

/// Returns the space between a cast and its operand, as clang-format sets it: `(uint16_t) ~(a)`.
pub fn behind_cast(inner: &Expression) -> &'static str {
    let begins_with_bracket = |inner: &Expression| within(inner, UNARY).starts_with('(');
    match inner {
        Expression::Unary("~", value) if begins_with_bracket(value) => " ",
        _other => "",
    }
}

/// Statements of a block, one under the other.
fn print_block(statements: &[Statement], depth: usize, text: &mut String) {
    for (at, statement) in statements.iter().enumerate() {
        print_statement(statement, depth, text);
        // A label stands before a statement, which a declaration is not.
        let next = statements.get(at + 1);
        let is_bare = !matches!(next, Some(next) if !matches!(next, Statement::Declare { .. }));
        if let Statement::Label(label) = statement {
            let end = if is_bare { ":;" } else { ":" };
            print_line(depth.saturating_sub(1), &format!("{label}{end}"), text);
        }
    }
}

fn print_statement(statement: &Statement, depth: usize, text: &mut String) {
    let line = |own: String, text: &mut String| print_line(depth, &own, text);
    match statement {
        Statement::Comment(comment) => print_comment(comment, depth, text),
        Statement::Declare { kind, name, value } => {
            let left = declaration(kind, name);
            match value {
                Some(value) => print_set(depth, &format!("{left} ="), value, text),
                None => line(format!("{left};"), text),
            }
        }
        Statement::Assign(place, operator, value) => {
            print_set(
                depth,
                &format!("{} {operator}", expression(place)),
                value,
                text,
            );
        }
        Statement::Do(value) => print_with(depth, ("", value, ";"), text),
        Statement::If { .. } => print_if(statement, "", depth, text),
        Statement::Switch {
            value,
            cases,
            otherwise,
        } => {
            print_with(depth, ("switch (", value, ") {"), text);
            for (values, body) in cases {
                for value in values {
                    line(format!("case {}:", expression(value)), text);
                }
                print_case(body, depth, text);
            }
            if let Some(body) = otherwise {
                line("default:".to_string(), text);
                print_case(body, depth, text);
            }
            line("}".to_string(), text);
        }
        Statement::For {
            start,
            condition,
            step,
            body,
        } => {
            let parts = [start.clone(), expression(condition), step.clone()];
            let parts = listed(&parts, ';', 4 * depth + 5, 3);
            line(format!("for ({}) {{", parts.trim_end()), text);
            print_block(body, depth + 1, text);
            line("}".to_string(), text);
        }
        Statement::While { condition, body } => {
            print_with(depth, ("while (", condition, ") {"), text);
            print_block(body, depth + 1, text);
            line("}".to_string(), text);
        }
        Statement::Return(None) => line("return;".to_string(), text),
        Statement::Return(Some(value)) => print_with(depth, ("return ", value, ";"), text),
        Statement::Continue => line("continue;".to_string(), text),
        Statement::Break => line("break;".to_string(), text),
        Statement::Goto(label) => line(format!("goto {label};"), text),
        // The next statement decides its form.
        Statement::Label(_) => {}
    }
}

/// A case's statements; those that declare something need a block.
fn print_case(body: &[Statement], depth: usize, text: &mut String) {
    let declares = body
        .iter()
        .any(|one| matches!(one, Statement::Declare { .. }));
    if declares {
        let end = text.pop();
        assert_eq!(end, Some('\n'), "a label ends its line");
        *text += " {\n";
    }
    print_block(body, depth + 1, text);
    if !leaves(body) {
        print_line(depth + 1, "break;", text);
    }
    if declares {
        print_line(depth, "}", text);
    }
}

fn print_if(statement: &Statement, before: &str, depth: usize, text: &mut String) {
    let Statement::If {
        condition,
        then,
        otherwise,
    } = statement
    else {
        unreachable!("only an `if` is printed as one");
    };
    print_with(depth, (&format!("{before}if ("), condition, ") {"), text);
    print_block(then, depth + 1, text);
    match otherwise.as_slice() {
        [] => print_line(depth, "}", text),
        [one @ Statement::If { .. }] => print_if(one, "} else ", depth, text),
        some => {
            print_line(depth, "} else {", text);
            print_block(some, depth + 1, text);
            print_line(depth, "}", text);
        }
    }
}

fn print_line(depth: usize, own: &str, text: &mut String) {
    *text += &format!("{}{own}\n", " ".repeat(4 * depth));
}

/// An expression between what stands before and behind it.
fn print_with(depth: usize, (before, value, behind): (&str, &Expression, &str), text: &mut String) {
    let column = 4 * depth + before.chars().count();
    let laid = laid_out(value, column, behind.len());
    print_line(depth, &format!("{before}{laid}{behind}"), text);
}

/// What gets a value, and the value: behind it, or on the next line where that is better.
fn print_set(depth: usize, place: &str, value: &Expression, text: &mut String) {
    let beside = laid_out(value, 4 * depth + place.chars().count() + 1, 1);
    let below = laid_out(value, 4 * depth + 4, 1);
    let goes_beyond = |laid: &str| laid.lines().any(|line| line.chars().count() > WIDTH);
    let first = 4 * depth + place.len() + 1 + beside.lines().next().map_or(0, str::len);
    let lines = |laid: &str| laid.lines().count();
    let is_better = first > WIDTH || goes_beyond(&beside) || lines(&beside) > lines(&below) + 1;
    if is_better {
        print_line(depth, place, text);
        print_line(depth + 1, &format!("{below};"), text);
    } else {
        print_line(depth, &format!("{place} {beside};"), text);
    }
}

/// An expression as text on one line.
pub fn expression(value: &Expression) -> String {
    match value {
        Expression::Atom(text) => text.clone(),
        Expression::Call(function, arguments) => format!("{function}({})", list(arguments)),
        Expression::Member(inner, field) => format!("{}.{field}", within(inner, POSTFIX)),
        Expression::Behind(inner, field) => format!("{}->{field}", within(inner, POSTFIX)),
        Expression::Element(inner, index) => {
            format!("{}[{}]", within(inner, POSTFIX), expression(index))
        }
        Expression::Unary(operator, inner) => format!("{operator}{}", within(inner, UNARY)),
        Expression::Binary(operator, left, right) => format!(
            "{} {operator} {}",
            operand(operator, left, false),
            operand(operator, right, true)
        ),
        Expression::Conditional(condition, then, otherwise) => format!(
            "{} ? {} : {}",
            within(condition, precedence_of("||")),
            within(then, CONDITIONAL + 1),
            within(otherwise, CONDITIONAL + 1)
        ),
        Expression::Cast(kind, inner) => {
            let space = behind_cast(inner);
            format!("({kind}){space}{}", within(inner, UNARY))
        }
        Expression::Struct(kind, fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!(".{name} = {}", expression(value)))
                .collect();
            format!("({kind}){{{}}}", fields.join(", "))
        }
    }
}

/// Returns how many letters [`expression`] gives, or nothing if there is no room for all of them.
/// No more of the value is read than there is room for.
pub fn flat_width(value: &Expression, room: usize) -> Option<usize> {
    let mut left = room;
    take_width(value, 0, &mut left)?;
    Some(room - left)
}

/// Takes the letters of a value and those around it from the room that is left. The letters around
/// its parts are taken first, so a chain of operators is followed no deeper than a line is long.
fn take_width(value: &Expression, around: usize, left: &mut usize) -> Option<()> {
    let letters = |text: &str| text.chars().count();
    let within = |inner: &Expression, least| brackets(precedence(inner) < least);
    let mut take = |more: usize| {
        *left = left.checked_sub(more)?;
        Some(())
    };
    match value {
        Expression::Atom(text) => take(around + letters(text)),
        Expression::Call(function, arguments) => {
            let between = 2 * arguments.len().saturating_sub(1);
            take(around + letters(function) + 2 + between)?;
            let mut arguments = arguments.iter();
            arguments.try_for_each(|argument| take_width(argument, 0, left))
        }
        Expression::Member(inner, field) => {
            take(around + 1 + letters(field))?;
            take_width(inner, within(inner, POSTFIX), left)
        }
        Expression::Behind(inner, field) => {
            take(around + 2 + letters(field))?;
            take_width(inner, within(inner, POSTFIX), left)
        }
        Expression::Element(inner, index) => {
            take(around + 2)?;
            take_width(inner, within(inner, POSTFIX), left)?;
            take_width(index, 0, left)
        }
        Expression::Unary(operator, inner) => {
            take(around + letters(operator))?;
            take_width(inner, within(inner, UNARY), left)
        }
        Expression::Binary(operator, one, other) => {
            take(around + letters(operator) + 2)?;
            let own = |inner, right| brackets(asks_parentheses(operator, inner, right));
            take_width(other, own(other, true), left)?;
            take_width(one, own(one, false), left)
        }
        Expression::Conditional(condition, then, otherwise) => {
            take(around + 6)?;
            take_width(condition, within(condition, precedence_of("||")), left)?;
            take_width(then, within(then, CONDITIONAL + 1), left)?;
            take_width(otherwise, within(otherwise, CONDITIONAL + 1), left)
        }
        Expression::Cast(kind, inner) => {
            take(around + letters(kind) + 2 + behind_cast(inner).len())?;
            take_width(inner, within(inner, UNARY), left)
        }
        Expression::Struct(kind, fields) => {
            let between = 2 * fields.len().saturating_sub(1);
            take(around + letters(kind) + 4 + between)?;
            fields
                .iter()
                .try_for_each(|(name, value)| take_width(value, letters(name) + 4, left))
        }
    }
}

/// The letters of a pair of brackets, where there is one.
fn brackets(so: bool) -> usize {
    if so { 2 } else { 0 }
}

fn list(arguments: &[Expression]) -> String {
    let texts: Vec<String> = arguments.iter().map(expression).collect();
    texts.join(", ")
}

/// How strongly a conditional holds its parts together.
pub const CONDITIONAL: u8 = 1;
/// How strongly an operator before an operand does.
pub const UNARY: u8 = 12;
/// How strongly what stands behind an operand does.
pub const POSTFIX: u8 = 13;

/// How strongly an expression holds its parts together.
pub fn precedence(value: &Expression) -> u8 {
    match value {
        Expression::Atom(_)
        | Expression::Call(..)
        | Expression::Member(..)
        | Expression::Behind(..)
        | Expression::Element(..)
        | Expression::Struct(..) => POSTFIX,
        Expression::Unary(..) | Expression::Cast(..) => UNARY,
        Expression::Binary(operator, ..) => precedence_of(operator),
        Expression::Conditional(..) => CONDITIONAL,
    }
}

/// How strongly an operator holds its operands together.
pub fn precedence_of(operator: &str) -> u8 {
    match operator {
        "||" => 2,
        "&&" => 3,
        "|" => 4,
        "^" => 5,
        "&" => 6,
        "==" | "!=" => 7,
        "<" | "<=" | ">" | ">=" => 8,
        "<<" | ">>" => 9,
        "+" | "-" => 10,
        "*" | "/" | "%" => 11,
        other => unreachable!("`{other}` is no operator of generated C"),
    }
}

fn within(inner: &Expression, least: u8) -> String {
    parenthesised(inner, precedence(inner) < least)
}

fn parenthesised(inner: &Expression, so: bool) -> String {
    let text = expression(inner);
    if so { format!("({text})") } else { text }
}

/// An operand: in parentheses where C needs them, and where a reader or a compiler would ask.
fn operand(operator: &str, inner: &Expression, right: bool) -> String {
    parenthesised(inner, asks_parentheses(operator, inner, right))
}

/// Whether an operand of an operator stands in parentheses.
pub fn asks_parentheses(operator: &str, inner: &Expression, right: bool) -> bool {
    let (outer, own) = (precedence_of(operator), precedence(inner));
    let needed = own < outer || (own == outer && right);
    let asked = match (operator, inner) {
        ("|" | "^", Expression::Binary(other, ..)) => !["<<", ">>", operator].contains(other),
        ("&", Expression::Binary(other, ..)) => *other != "&",
        ("<<" | ">>", Expression::Binary(other, ..)) => !["<<", ">>"].contains(other) || right,
        ("||", Expression::Binary(other, ..)) => *other == "&&",
        ("==" | "!=" | "<" | "<=" | ">" | ">=", Expression::Binary(..)) => (7..=8).contains(&own),
        ("|" | "&" | "==" | "!=", Expression::Unary("!", _)) => true,
        _ => false,
    };
    needed || asked
}

#[cfg(test)]
mod tests {
    use super::super::tree::{atom, binary, call, conditional};
    use super::*;

    #[test]
    fn parentheses_stand_where_precedence_or_a_warning_asks() {
        let sum = binary("+", atom("a"), atom("b"));
        let shifted = binary("<<", sum.clone(), atom("2"));
        let both = binary("&", shifted, atom("c"));
        let tested = binary("==", both, atom("0"));
        let either = binary("||", binary("&&", tested, atom("d")), atom("e"));
        assert_eq!(expression(&either), "((((a + b) << 2) & c) == 0 && d) || e");
        let chosen = conditional(atom("x"), sum.cast("uint8_t"), atom("y"));
        assert_eq!(expression(&chosen.address()), "&(x ? (uint8_t)(a + b) : y)");
        let bit = binary("|", atom("closed").negated(), atom("0x16"));
        assert_eq!(expression(&bit), "(!closed) | 0x16");
    }

    #[test]
    fn the_width_of_an_expression_is_that_of_its_text() {
        let sum = binary("+", atom("a"), atom("b"));
        let fields = vec![
            ("x".to_string(), sum.clone()),
            ("yy".to_string(), atom("2")),
        ];
        let values = [
            conditional(sum.clone().cast("uint8_t"), sum.clone(), atom("y")),
            binary("*", sum.clone(), binary("<<", sum.clone(), atom("2"))).negated(),
            sum.clone().address().member("f").element(sum.clone()),
            call("f", vec![atom("p").behind("q"), sum, call("g", Vec::new())]),
            Expression::Struct("struct s".to_string(), fields),
            Expression::Struct("struct s".to_string(), Vec::new()),
        ];
        for value in values {
            let text = expression(&value);
            let width = text.chars().count();
            assert_eq!(flat_width(&value, width), Some(width), "{text}");
            assert_eq!(flat_width(&value, width - 1), None, "{text}");
        }
    }
}
