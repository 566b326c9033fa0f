//! The printer: a C tree comes in, text in 100 columns goes out.
//!
//! Four blanks a level, braces always, operators at the end of a line that goes on, and what goes
//! on stands under the first letter behind the innermost open parenthesis.

use super::tree::{Expression, Function, Item, Line, Statement, leaves};

const WIDTH: usize = 100;

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
            let rule = "-".repeat(WIDTH - 6 - title.chars().count() - 3);
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
            print_line(0, &(head(function) + " {"), text);
            print_block(&function.body, 1, text);
            *text += "}\n";
        }
        Item::Prototype(function) => print_line(0, &(head(function) + ";"), text),
    }
}

fn head(function: &Function) -> String {
    let parameters = match function.parameters.as_slice() {
        [] => "void".to_string(),
        some => some.join(", "),
    };
    declaration(
        &function.result,
        &format!("{}({parameters})", function.name),
    )
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

/// Statements of a block, one under the other.
fn print_block(statements: &[Statement], depth: usize, text: &mut String) {
    for statement in statements {
        print_statement(statement, depth, text);
    }
}

fn print_statement(statement: &Statement, depth: usize, text: &mut String) {
    let line = |own: String, text: &mut String| print_line(depth, &own, text);
    match statement {
        Statement::Comment(comment) => print_comment(comment, depth, text),
        Statement::Declare { kind, name, value } => {
            let left = declaration(kind, name);
            match value {
                Some(value) => line(format!("{left} = {};", expression(value)), text),
                None => line(format!("{left};"), text),
            }
        }
        Statement::Assign(place, operator, value) => line(
            format!("{} {operator} {};", expression(place), expression(value)),
            text,
        ),
        Statement::Do(value) => line(format!("{};", expression(value)), text),
        Statement::If { .. } => print_if(statement, "", depth, text),
        Statement::Switch {
            value,
            cases,
            otherwise,
        } => {
            line(format!("switch ({}) {{", expression(value)), text);
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
            line(
                format!("for ({start}; {}; {step}) {{", expression(condition)),
                text,
            );
            print_block(body, depth + 1, text);
            line("}".to_string(), text);
        }
        Statement::While { condition, body } => {
            line(format!("while ({}) {{", expression(condition)), text);
            print_block(body, depth + 1, text);
            line("}".to_string(), text);
        }
        Statement::Return(None) => line("return;".to_string(), text),
        Statement::Return(Some(value)) => line(format!("return {};", expression(value)), text),
        Statement::Continue => line("continue;".to_string(), text),
        Statement::Break => line("break;".to_string(), text),
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
    print_line(
        depth,
        &format!("{before}if ({}) {{", expression(condition)),
        text,
    );
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

/// One line, or several where it is too long.
fn print_line(depth: usize, own: &str, text: &mut String) {
    let mut rest: Vec<char> = own.chars().collect();
    let mut indent = 4 * depth;
    let mut open: Vec<usize> = Vec::new();
    while indent + rest.len() > WIDTH {
        let Some(at) = break_before(&rest, WIDTH - indent) else {
            break;
        };
        let (line, next) = rest.split_at(at);
        follow(line, indent, &mut open);
        let line: String = line.iter().collect();
        *text += &format!("{}{}\n", " ".repeat(indent), line.trim_end());
        indent = open.last().copied().unwrap_or(4 * depth + 4);
        rest = next.to_vec();
    }
    let last: String = rest.iter().collect();
    *text += &format!("{}{last}\n", " ".repeat(indent));
}

/// Where a line may end, before a column: behind a comma or an operator; behind its first third
/// within as few parentheses as can be, and as late as can be.
fn break_before(line: &[char], room: usize) -> Option<usize> {
    let mut depth = 0_i32;
    // Commas before operators, where they stand within as many parentheses.
    let mut best: Option<(i32, usize)> = None;
    for (at, &letter) in line.iter().enumerate().take(room) {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ' ' if at > 0 && ends_piece(&line[..at]) => {
                let rank = 2 * depth + i32::from(!matches!(line[at - 1], ',' | ';'));
                let replaced = |(least, place): (i32, usize)| rank <= least || place * 3 < room;
                if best.is_none_or(replaced) {
                    best = Some((rank, at + 1));
                }
            }
            _ => {}
        }
    }
    best.map(|(_, at)| at)
}

/// Whether what stands before a blank lets the line end there.
fn ends_piece(before: &[char]) -> bool {
    let word: String = before.iter().rev().take_while(|c| **c != ' ').collect();
    let word: String = word.chars().rev().collect();
    let operators = ["||", "&&", "|", "&", "^", "+", "-", "?", ":", "="];
    word.ends_with(',') || word.ends_with(';') || operators.contains(&word.as_str())
}

/// Where the parentheses are that stand open at the end of a line.
fn follow(line: &[char], indent: usize, open: &mut Vec<usize>) {
    for (at, letter) in line.iter().enumerate() {
        match letter {
            '(' | '[' | '{' => open.push(indent + at + 1),
            ')' | ']' | '}' => {
                open.pop();
            }
            _ => {}
        }
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
            within(otherwise, CONDITIONAL)
        ),
        Expression::Cast(kind, inner) => format!("({kind}){}", within(inner, UNARY)),
        Expression::Struct(kind, fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!(".{name} = {}", expression(value)))
                .collect();
            format!("({kind}){{{}}}", fields.join(", "))
        }
    }
}

fn list(arguments: &[Expression]) -> String {
    let texts: Vec<String> = arguments.iter().map(expression).collect();
    texts.join(", ")
}

const CONDITIONAL: u8 = 1;
const UNARY: u8 = 12;
const POSTFIX: u8 = 13;

fn precedence(value: &Expression) -> u8 {
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

fn precedence_of(operator: &str) -> u8 {
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
    let (outer, own) = (precedence_of(operator), precedence(inner));
    let needed = own < outer || (own == outer && right);
    let asked = match (operator, inner) {
        ("|" | "^", Expression::Binary(other, ..)) => !["<<", ">>", operator].contains(other),
        ("&", Expression::Binary(other, ..)) => *other != "&",
        ("<<" | ">>", Expression::Binary(other, ..)) => !["<<", ">>"].contains(other) || right,
        ("||", Expression::Binary(other, ..)) => *other == "&&",
        ("==" | "!=" | "<" | "<=" | ">" | ">=", Expression::Binary(..)) => (7..=8).contains(&own),
        _ => false,
    };
    parenthesised(inner, needed || asked)
}

#[cfg(test)]
mod tests {
    use super::super::tree::{assign, atom, binary, call, conditional};
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
    }

    #[test]
    fn a_long_line_goes_on_under_its_parenthesis() {
        let argument = |n: usize| atom(format!("argument_with_a_long_name_{n}"));
        let value = call("sum_of_many_values", (0..5).map(argument).collect());
        let mut text = String::new();
        print_statement(&assign(atom("sum"), value), 1, &mut text);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert!(lines[0].ends_with("argument_with_a_long_name_1,"), "{text}");
        assert_eq!(lines[1].find("argument"), lines[0].find("argument"));
    }
}
