//! The text of a function -> its blocks as they are written.
//!
//! Values and blocks are names here; `resolve.rs` makes a function of them.

use super::cursor::Cursor;
use super::operation::{Operand, Operation, attempt, event, operand, operands, operation, type_of};
use crate::ir::text::lexer::{Class, Mistake, Read};
use crate::ir::text::names::Names;
use crate::ir::text::opcode::probability;
use crate::ir::{BlockId, Edge, Function, Probability, Role, Terminator, Type, Value};
use crate::source::Position;

/// A value where it is defined.
#[derive(Clone, Debug)]
pub struct Defined<'t> {
    /// Its name.
    pub name: &'t str,
    /// Its position in the text.
    pub at: Position,
    /// Its type, if that is written.
    pub of: Option<Type>,
}

/// A block.
#[derive(Clone, Debug)]
pub struct BlockText<'t> {
    /// Its name.
    pub name: &'t str,
    /// The position of its first token.
    pub at: Position,
    /// Its parameters.
    pub parameters: Vec<Defined<'t>>,
    /// Its instructions.
    pub statements: Vec<Statement<'t>>,
    /// Its end.
    pub end: EndText<'t>,
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Statement<'t> {
    /// Its results.
    pub results: Vec<Defined<'t>>,
    /// True if the types of its results are written, which then hold whatever its operands are.
    pub is_marked: bool,
    /// The operation.
    pub operation: Operation<'t>,
}

/// The end of a block.
#[derive(Clone, Debug)]
pub struct EndText<'t> {
    /// Everything but its operands and edges.
    pub terminator: Terminator,
    /// Its operands.
    pub operands: Vec<Operand<'t>>,
    /// Its edges, in order.
    pub edges: Vec<EdgeText<'t>>,
}

/// An edge.
#[derive(Clone, Debug)]
pub struct EdgeText<'t> {
    /// The name of the block.
    pub block: &'t str,
    /// The position of that name.
    pub at: Position,
    /// Its arguments.
    pub arguments: Vec<Operand<'t>>,
}

/// The head of a function up to its brace: what it says, and the parameters.
pub fn head<'t>(cursor: &mut Cursor<'t>, names: &Names) -> Read<(Function, Vec<Defined<'t>>)> {
    let kept = cursor.takes("kept");
    let role = match cursor.peek().text {
        "pure" => Role::Pure,
        "event" => Role::Reaction,
        "entry" => Role::Entry,
        "fast" => Role::Fast,
        _none => Role::Plain,
    };
    if role != Role::Plain {
        cursor.next();
    }
    cursor.expect("fn")?;
    let name = cursor.name()?;
    let parameters = parameters(cursor, names)?;
    let results = match cursor.takes("->") {
        true if cursor.is("(") => cursor.list("(", ")", |cursor| type_of(cursor, names))?,
        true => vec![type_of(cursor, names)?],
        false => Vec::new(),
    };
    let owner = match cursor.takes("of") {
        true => cursor.name()?,
        false => String::new(),
    };
    let fast = match cursor.takes(",") {
        true => {
            cursor.expect("first")?;
            Some(super::operation::function(cursor, names)?)
        }
        false => None,
    };
    cursor.expect("{")?;
    let function = Function {
        name,
        owner,
        role,
        kept,
        fast,
        results,
        values: Vec::new(),
        blocks: Vec::new(),
        span: None,
    };
    Ok((function, parameters))
}

/// All blocks up to the closing brace. The first needs no name.
pub fn blocks<'t>(
    cursor: &mut Cursor<'t>,
    names: &Names,
    parameters: Vec<Defined<'t>>,
) -> Read<Vec<BlockText<'t>>> {
    let mut blocks: Vec<BlockText<'t>> = Vec::new();
    let mut given = Some(parameters);
    cursor.end_line()?;
    while !cursor.is("}") {
        let at = cursor.position();
        let (name, own) = match is_label(cursor) {
            true => label(cursor, names)?,
            false if blocks.is_empty() => ("", Vec::new()),
            false => return cursor.mistake("the block has ended: a name and `:` are expected"),
        };
        let parameters = match given.take() {
            Some(_) if !own.is_empty() => {
                let message = "the first block has the parameters of the function";
                return Err(Mistake::new(at, message));
            }
            Some(given) => given,
            None => own,
        };
        blocks.push(block(cursor, names, (name, at), parameters)?);
    }
    if blocks.is_empty() {
        return cursor.mistake("a function has a block");
    }
    cursor.expect("}")?;
    cursor.end_line()?;
    Ok(blocks)
}

/// Returns true at `name:`, and at `name(` with parameters behind it.
fn is_label(cursor: &Cursor<'_>) -> bool {
    if !cursor.is_class(Class::Word) {
        return false;
    }
    let mut behind = cursor.clone();
    behind.next();
    if behind.takes("(") {
        return behind.is_class(Class::Value) || behind.is(")");
    }
    behind.is(":")
}

fn label<'t>(cursor: &mut Cursor<'t>, names: &Names) -> Read<(&'t str, Vec<Defined<'t>>)> {
    let name = cursor.word("the name of a block")?;
    let parameters = match cursor.is("(") {
        true => parameters(cursor, names)?,
        false => Vec::new(),
    };
    cursor.expect(":")?;
    if cursor.is_class(Class::Line) {
        cursor.end_line()?;
    }
    Ok((name, parameters))
}

fn parameters<'t>(cursor: &mut Cursor<'t>, names: &Names) -> Read<Vec<Defined<'t>>> {
    cursor.list("(", ")", |cursor| {
        let mut value = defined(cursor)?;
        cursor.expect(":")?;
        value.of = Some(type_of(cursor, names)?);
        Ok(value)
    })
}

fn defined<'t>(cursor: &mut Cursor<'t>) -> Read<Defined<'t>> {
    if !cursor.is_class(Class::Value) {
        return cursor.expected("a value");
    }
    let token = cursor.next();
    Ok(Defined {
        name: token.text,
        at: token.at,
        of: None,
    })
}

fn block<'t>(
    cursor: &mut Cursor<'t>,
    names: &Names,
    (name, at): (&'t str, Position),
    parameters: Vec<Defined<'t>>,
) -> Read<BlockText<'t>> {
    let mut statements = Vec::new();
    loop {
        if let Some(end) = end(cursor, names)? {
            cursor.end_line()?;
            return Ok(BlockText {
                name,
                at,
                parameters,
                statements,
                end,
            });
        }
        if cursor.is("}") || cursor.is_class(Class::End) || is_label(cursor) {
            return cursor.mistake("the block has no end: `return`, `jump` or another is missing");
        }
        statements.push(statement(cursor, names)?);
        cursor.end_line()?;
    }
}

/// `%a, %b = OPERATION`; each result may have its type, and `()` says that there is none.
fn statement<'t>(cursor: &mut Cursor<'t>, names: &Names) -> Read<Statement<'t>> {
    let mut results = Vec::new();
    let mut is_marked = false;
    if cursor.takes("(") {
        cursor.expect(")")?;
        cursor.expect("=")?;
        is_marked = true;
    } else if cursor.is_class(Class::Value) {
        loop {
            let mut value = defined(cursor)?;
            if cursor.takes(":") {
                value.of = Some(type_of(cursor, names)?);
                is_marked = true;
            }
            results.push(value);
            if !cursor.takes(",") {
                break;
            }
        }
        cursor.expect("=")?;
    }
    if is_marked && results.iter().any(|value| value.of.is_none()) {
        return cursor.mistake("either all results have their types here, or none");
    }
    let operation = operation(cursor, names, 0)?;
    Ok(Statement {
        results,
        is_marked,
        operation,
    })
}

/// The end of a block, if it is next.
fn end<'t>(cursor: &mut Cursor<'t>, names: &Names) -> Read<Option<EndText<'t>>> {
    let unknown = || Edge::to(BlockId(0));
    let value = Value(0);
    let word = match cursor.peek().class {
        Class::Word => cursor.peek().text,
        _other => return Ok(None),
    };
    let is_end = [
        "jump", "branch", "switch", "try", "return", "tail", "take", "never",
    ];
    if !is_end.contains(&word) {
        return Ok(None);
    }
    cursor.next();
    let mut end = EndText {
        terminator: Terminator::Never,
        operands: Vec::new(),
        edges: Vec::new(),
    };
    match word {
        "jump" => {
            end.edges.push(edge(cursor, names)?);
            end.terminator = Terminator::Jump(unknown());
        }
        "branch" => {
            end.operands.push(operand(cursor, names, 0)?);
            cursor.expect(",")?;
            let likely = two_edges(cursor, names, &mut end.edges)?;
            end.terminator = Terminator::Branch {
                condition: value,
                likely,
                then: unknown(),
                otherwise: unknown(),
            };
        }
        "switch" => switch(cursor, names, &mut end)?,
        "try" => {
            let (attempt, operands) = attempt(cursor, names)?;
            end.operands = operands;
            cursor.expect("->")?;
            let likely = two_edges(cursor, names, &mut end.edges)?;
            end.terminator = Terminator::Try {
                attempt,
                operands: Vec::new(),
                likely,
                done: unknown(),
                failed: unknown(),
            };
        }
        "return" => {
            end.operands = operands(cursor, names, 0)?;
            end.terminator = Terminator::Return(Vec::new());
        }
        "tail" => {
            let (event, arguments) = event(cursor, names, 0)?;
            end.operands = arguments;
            if cursor.takes("+") {
                end.operands.extend(operands(cursor, names, 0)?);
            }
            end.terminator = Terminator::Tail(event, Vec::new());
        }
        "take" => {
            end.operands.push(operand(cursor, names, 0)?);
            end.terminator = Terminator::Take(value);
        }
        _never => {}
    }
    Ok(Some(end))
}

fn two_edges<'t>(
    cursor: &mut Cursor<'t>,
    names: &Names,
    edges: &mut Vec<EdgeText<'t>>,
) -> Read<Probability> {
    edges.push(edge(cursor, names)?);
    cursor.expect(",")?;
    edges.push(edge(cursor, names)?);
    likely(cursor, Probability::EVEN)
}

/// `switch %v, 1: b1 @ 20%, 2: b2, else b3`.
fn switch<'t>(cursor: &mut Cursor<'t>, names: &Names, end: &mut EndText<'t>) -> Read<()> {
    end.operands.push(operand(cursor, names, 0)?);
    cursor.expect(",")?;
    let mut numbers = Vec::new();
    while !cursor.takes("else") {
        let number = cursor.number(u64::MAX)?;
        cursor.expect(":")?;
        end.edges.push(edge(cursor, names)?);
        let likely = match cursor.is("@") {
            true => Some(likely(cursor, Probability::EVEN)?),
            false => None,
        };
        numbers.push((number, likely));
        cursor.expect(",")?;
    }
    end.edges.push(edge(cursor, names)?);
    let even = Probability(1_000_000 / (numbers.len() as u32 + 1));
    let unknown = || Edge::to(BlockId(0));
    let cases = numbers.into_iter();
    let cases = cases.map(|(number, likely)| (number, likely.unwrap_or(even), unknown()));
    end.terminator = Terminator::Switch {
        value: Value(0),
        cases: cases.collect(),
        otherwise: unknown(),
    };
    Ok(())
}

/// `b1` or `b1(%a, %b)`.
fn edge<'t>(cursor: &mut Cursor<'t>, names: &Names) -> Read<EdgeText<'t>> {
    let at = cursor.position();
    let block = cursor.word("the name of a block")?;
    let arguments = match cursor.is("(") {
        true => super::operation::arguments(cursor, names, 0)?,
        false => Vec::new(),
    };
    Ok(EdgeText {
        block,
        at,
        arguments,
    })
}

/// `@ 99.9%`, or nothing, which stands for something else.
fn likely(cursor: &mut Cursor<'_>, even: Probability) -> Read<Probability> {
    if !cursor.takes("@") {
        return Ok(even);
    }
    let text = cursor.peek().text;
    let Some(likely) = probability(text).filter(|_| cursor.is_class(Class::Number)) else {
        return cursor.expected("a percentage with at most four decimals");
    };
    cursor.next();
    cursor.expect("%")?;
    Ok(likely)
}
