//! What is computed: an expression comes in; out come C, and what has to be asked before.
//!
//! Whether a value is there, whether a divisor is zero, and what a sensor says, is asked in the
//! statements before the one that computes, one after the other: so a reaction ends where the fault
//! is, and sensors are asked in the order in which they are written, and no others. Integers wrap,
//! by functions that `arithmetic` brings along.

use super::Emitter;
use super::known::Read;
use crate::c::printer;
use crate::c::tree::{Expression as C, Statement, assign, atom, binary, call, call_statement};
use crate::syntax::esterel::ast::{Binary, Unary};
use crate::tree::automaton::NodeId;
use crate::types::esterel::{Expression, ExpressionKind as Kind, Type};
use crate::types::process::{DataId, Fault, SignalId};

/// A function that is being written.
#[derive(Debug)]
pub struct Writing<'e> {
    pub(super) emitter: &'e Emitter<'e>,
    /// At which node; none at the beginning of all.
    pub(super) node: Option<NodeId>,
    /// What is computed.
    pub(super) data: DataId,
    temporaries: u32,
}

impl<'e> Writing<'e> {
    /// A function that is empty yet.
    pub fn new(emitter: &'e Emitter<'e>) -> Writing<'e> {
        Writing {
            emitter,
            node: None,
            data: DataId(0),
            temporaries: 0,
        }
    }

    /// The value of an expression; what has to be asked goes before it.
    pub fn value(&mut self, expression: &Expression, before: &mut Vec<Statement>) -> C {
        let emitter = self.emitter;
        match &*expression.kind {
            Kind::Boolean(truth) => atom(truth.to_string()),
            Kind::Integer(number) => integer(*number),
            Kind::Real(text) => real(text, expression.result),
            Kind::Text(text) => atom(quoted(text)),
            Kind::Constant(constant) => {
                let name = &emitter.module.constants[*constant as usize].name;
                truth(atom(name.clone()), expression.result)
            }
            Kind::Variable(variable) => emitter.variable(*variable),
            Kind::Value(signal) => {
                match emitter.is_sensor(*signal) {
                    true => self.sense(*signal, before),
                    false => self.ask(Read::Now(*signal), before),
                }
                emitter.of_signal("value", *signal)
            }
            Kind::Before(signal) => {
                self.ask(Read::Before(*signal), before);
                emitter.of_signal("before", *signal)
            }
            Kind::Call(function, operands) => {
                let operands = operands.iter().map(|one| self.value(one, before));
                let operands = operands.collect();
                let name = emitter.module.functions[*function as usize].name.clone();
                truth(call(name, operands), expression.result)
            }
            Kind::Unary(Unary::Not, operand) => {
                let exact = has_fractions(operand);
                let operand = self.value(operand, before);
                match exact {
                    // What is no number is neither less nor at least something.
                    true => C::Unary("!", Box::new(operand)),
                    false => operand.negated(),
                }
            }
            Kind::Unary(Unary::Negate, operand) => {
                let operand = self.value(operand, before);
                match expression.result {
                    Type::Integer => call(emitter.own("negate"), vec![operand]),
                    _ => negative(operand),
                }
            }
            Kind::Binary(operator, one, other) => {
                self.operation(*operator, (one, other), expression.result, before)
            }
        }
    }

    /// Ends the reaction with a fault.
    pub fn fails(&self, fault: &Fault) -> Statement {
        let says = fault.says(&self.emitter.module.processes);
        let reason = atom(quoted(&says));
        Statement::Return(Some(call(self.emitter.own("fails"), vec![reason])))
    }

    /// A value that may not be there yet.
    fn ask(&self, read: Read, before: &mut Vec<Statement>) {
        if self.emitter.known.is_there(self.node, read) {
            return;
        }
        let (member, signal) = match read {
            Read::Now(signal) => ("known", signal),
            Read::Before(signal) => ("known_before", signal),
        };
        let known = self.emitter.of_signal(member, signal);
        before.push(Statement::If {
            condition: known.negated(),
            then: vec![self.fails(&Fault::Unset(signal))],
            otherwise: Vec::new(),
        });
    }

    /// A sensor is read, if it was not in these statements.
    pub(super) fn sense(&self, signal: SignalId, before: &mut Vec<Statement>) {
        let name = format!("sense_{}", self.emitter.names.signals[signal.at()]);
        let sense = call_statement(self.emitter.own(&name), Vec::new());
        if !before.contains(&sense) {
            before.push(sense);
        }
    }

    fn operation(
        &mut self,
        operator: Binary,
        (one, other): (&Expression, &Expression),
        result: Type,
        before: &mut Vec<Statement>,
    ) -> C {
        let left = self.value(one, before);
        if let Binary::And | Binary::Or = operator {
            return self.decided(operator, left, other, before);
        }
        let right = self.value(other, before);
        let emitter = self.emitter;
        if left == right && one.result == Type::Integer && is_place(&left) {
            // Compilers ask what is meant by it.
            match operator {
                Binary::Equal | Binary::AtMost | Binary::AtLeast => return atom("true"),
                Binary::Unequal | Binary::Less | Binary::Greater => return atom("false"),
                _ => {}
            }
        }
        match (operator, one.result) {
            (Binary::Equal | Binary::Unequal, kind) => {
                emitter.equality(operator == Binary::Equal, kind, left, right)
            }
            (Binary::Divide | Binary::Modulo, Type::Integer) => {
                self.quotient(operator, left, other, right, before)
            }
            (Binary::Add | Binary::Subtract | Binary::Multiply, Type::Integer) => {
                emitter.combined(operator, result, left, right)
            }
            (operator, _) => binary(sign(operator), left, right),
        }
    }

    /// `and` and `or`: the second operand is not computed where the first decides.
    fn decided(
        &mut self,
        operator: Binary,
        left: C,
        other: &Expression,
        before: &mut Vec<Statement>,
    ) -> C {
        let mut asked = Vec::new();
        let right = self.value(other, &mut asked);
        if asked.is_empty() {
            return binary(sign(operator), left, right);
        }
        let name = self.temporary(if operator == Binary::And {
            "both"
        } else {
            "either"
        });
        before.push(Statement::Declare {
            kind: "boolean".to_string(),
            name: name.clone(),
            value: Some(left),
        });
        let open = match operator {
            Binary::And => atom(name.clone()),
            _ => atom(name.clone()).negated(),
        };
        asked.push(assign(atom(name.clone()), right));
        before.push(Statement::If {
            condition: open,
            then: asked,
            otherwise: Vec::new(),
        });
        atom(name)
    }

    /// A division of integers.
    fn quotient(
        &mut self,
        operator: Binary,
        left: C,
        divisor: &Expression,
        right: C,
        before: &mut Vec<Statement>,
    ) -> C {
        let plain = |right| binary(sign(operator), left.clone(), right);
        let right = match &*divisor.kind {
            Kind::Integer(number) if ![0, -1].contains(number) => return plain(right),
            Kind::Integer(_) | Kind::Variable(_) | Kind::Value(_) | Kind::Before(_) => right,
            _ => {
                let name = self.temporary("divisor");
                before.push(Statement::Declare {
                    kind: "const integer".to_string(),
                    name: name.clone(),
                    value: Some(right),
                });
                atom(name)
            }
        };
        before.push(Statement::If {
            condition: binary("==", right.clone(), atom("0")),
            then: vec![self.fails(&Fault::DividedByZero(self.data))],
            otherwise: Vec::new(),
        });
        self.emitter.combined(operator, Type::Integer, left, right)
    }

    fn temporary(&mut self, name: &str) -> String {
        self.temporaries += 1;
        let name = self.emitter.names.local(name);
        match self.temporaries {
            1 => name,
            number => format!("{name}_{number}"),
        }
    }
}

impl Emitter<'_> {
    /// What an operator makes of two values of this type, that divides by zero for nobody.
    pub(super) fn combined(&self, operator: Binary, kind: Type, one: C, other: C) -> C {
        let function = match (operator, kind) {
            (Binary::Add, Type::Integer) => "add",
            (Binary::Subtract, Type::Integer) => "subtract",
            (Binary::Multiply, Type::Integer) => "multiply",
            (Binary::Divide, Type::Integer) => "divide",
            (Binary::Modulo, Type::Integer) => "modulo",
            (operator, _) => return binary(sign(operator), one, other),
        };
        call(self.own(function), vec![one, other])
    }

    fn equality(&self, equal: bool, kind: Type, one: C, other: C) -> C {
        let sign = if equal { "==" } else { "!=" };
        match kind {
            Type::User(kind) => {
                let name = format!("_eq_{}", self.module.types[kind as usize]);
                // It answers 0 where they differ.
                let answer = call(name, vec![one, other]);
                binary(if equal { "!=" } else { "==" }, answer, atom("0"))
            }
            Type::Text => {
                let same = call(self.own("same"), vec![one, other]);
                if equal { same } else { same.negated() }
            }
            Type::Boolean => match one {
                C::Unary("!", inner) => binary(if equal { "!=" } else { "==" }, *inner, other),
                one => binary(sign, one, other),
            },
            Type::Integer | Type::Float | Type::Double => binary(sign, one, other),
        }
    }

    /// Gives a place a value of its type.
    pub(super) fn assigned(&self, kind: Type, place: C, value: C) -> Statement {
        match kind {
            Type::User(kind) => {
                let name = format!("_{}", self.module.types[kind as usize]);
                call_statement(name, vec![place.address(), value])
            }
            Type::Text => call_statement(self.own("copy"), vec![place, value]),
            Type::Boolean | Type::Integer | Type::Float | Type::Double => assign(place, value),
        }
    }

    /// A member of what is known of a signal.
    pub(super) fn of_signal(&self, record: &str, signal: SignalId) -> C {
        atom(self.own(record)).member(self.names.signals[signal.at()].clone())
    }

    /// A type as C calls it.
    pub(super) fn kind(&self, kind: Type) -> &str {
        kind.name(&self.module.types)
    }
}

/// A boolean that C gives is 0 or anything else.
pub fn truth(value: C, kind: Type) -> C {
    match kind {
        Type::Boolean => binary("!=", value, atom("0")),
        Type::Integer | Type::Float | Type::Double | Type::Text | Type::User(_) => value,
    }
}

/// Whether something in a condition may be no number at all.
pub fn has_fractions(expression: &Expression) -> bool {
    let mut operands = expression.kind.operands().into_iter();
    matches!(expression.result, Type::Float | Type::Double) || operands.any(has_fractions)
}

/// Whether it is the same each time that it is asked.
fn is_place(value: &C) -> bool {
    matches!(value, C::Atom(_) | C::Member(..))
}

fn integer(number: i32) -> C {
    match number {
        // C has no negative literals, and the positive one is too large.
        i32::MIN => atom("(-2147483647 - 1)"),
        number => atom(number.to_string()),
    }
}

/// As short as it can be read again.
fn real(text: &str, kind: Type) -> C {
    let written = match kind {
        Type::Float => format!("{:?}f", text.parse().unwrap_or(0.0_f32)),
        _ => format!("{:?}", text.parse().unwrap_or(0.0_f64)),
    };
    atom(written)
}

/// Two signs in a row would be another operator.
fn negative(operand: C) -> C {
    let text = printer::expression(&operand);
    let operand = match text.starts_with('-') {
        true => atom(format!("({text})")),
        false => operand,
    };
    C::Unary("-", Box::new(operand))
}

/// A text as a literal of C.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for one in text.chars() {
        match one {
            '"' | '\\' => quoted.extend(['\\', one]),
            // Two of them begin a trigraph.
            '?' => quoted += "\\?",
            '\n' => quoted += "\\n",
            one if one.is_control() => {
                let mut bytes = [0; 4];
                for byte in one.encode_utf8(&mut bytes).bytes() {
                    quoted += &format!("\\{byte:03o}");
                }
            }
            one => quoted.push(one),
        }
    }
    quoted + "\""
}

fn sign(operator: Binary) -> &'static str {
    match operator {
        Binary::Or => "||",
        Binary::And => "&&",
        Binary::Equal => "==",
        Binary::Unequal => "!=",
        Binary::Less => "<",
        Binary::AtMost => "<=",
        Binary::Greater => ">",
        Binary::AtLeast => ">=",
        Binary::Add => "+",
        Binary::Subtract => "-",
        Binary::Multiply => "*",
        Binary::Divide => "/",
        Binary::Modulo => "%",
    }
}
