//! Conditions of guards in words.
//!
//! In: a value of a fast function. Out: the expression that gives it, in the notation of Loom as
//! far as that has one. Bytes of the frame have their offset; a part that is too deep is three
//! dots.
//!
//! ```text
//! (ne (read.be4 (look %m), 0), 4)                       frame[0].bits(0..4) != 4
//! (ne (load tcp.session.connection.state %i), 3)        tcp.session.connection.state != 3
//! ```

use crate::ir::definitions::Definitions;
use crate::ir::op::{Arithmetic, Bits, Compare, Place, Question, Region};
use crate::ir::{CacheId, Instruction, Module, Op, Value};
use std::collections::BTreeSet;

/// An expression is followed so deep.
const DEEPEST: u32 = 6;

/// Words for the values of a function.
pub struct Conditions<'c> {
    module: &'c Module,
    definitions: &'c Definitions<'c>,
}

impl<'c> Conditions<'c> {
    /// Prepares the words for the values of a function, given its definitions.
    pub fn new(module: &'c Module, definitions: &'c Definitions<'c>) -> Conditions<'c> {
        Conditions {
            module,
            definitions,
        }
    }

    /// The opposite of a bit: what holds where an exit is not taken.
    pub fn not(&self, bit: Value) -> String {
        self.negated(bit, DEEPEST)
    }

    /// A bit, or its opposite.
    pub fn holds(&self, bit: Value, holds: bool) -> String {
        match holds {
            true => self
                .same_header(bit, true)
                .unwrap_or_else(|| self.value(bit, DEEPEST)),
            false => self.not(bit),
        }
    }

    fn negated(&self, bit: Value, depth: u32) -> String {
        if let Some(words) = self.same_header(bit, false) {
            return words;
        }
        match self.definitions.get(bit) {
            Some(Instruction {
                op: Op::Not,
                operands,
                ..
            }) => self.value(operands[0], depth),
            Some(Instruction {
                op: Op::Compare(how),
                operands,
                ..
            }) => {
                let [one, other] = [operands[0], operands[1]];
                match how {
                    Compare::Eq => self.compared("!=", one, other, depth),
                    Compare::Ne => self.compared("==", one, other, depth),
                    Compare::Ult | Compare::Slt => self.compared(">=", one, other, depth),
                    Compare::Ule | Compare::Sle => self.compared(">", one, other, depth),
                }
            }
            _other => format!("not {}", self.part(bit, depth)),
        }
    }

    /// Words for a bit, or its opposite, that compares the header with one in a cache.
    fn same_header(&self, bit: Value, holds: bool) -> Option<String> {
        let name = &self.module.caches[self.compared_with(bit)?.at()].name;
        let op = self.definitions.get(bit).map(|one| &one.op);
        let differs = matches!(
            op,
            Some(Op::Not | Op::Compare(Compare::Ne) | Op::Arithmetic(Arithmetic::Or))
        );
        Some(match differs == holds {
            true => format!("the header differs from that in the cache {name}"),
            false => format!("the header equals that in the cache {name}"),
        })
    }

    /// The cache with whose content a bit compares bytes of the frame.
    fn compared_with(&self, bit: Value) -> Option<CacheId> {
        let mut open = vec![bit];
        let mut seen = BTreeSet::new();
        let (mut cache, mut reads) = (None, false);
        while let Some(value) = open.pop() {
            if !seen.insert(value) {
                continue;
            }
            let Some(instruction) = self.definitions.get(value) else {
                continue;
            };
            match &instruction.op {
                Op::Load(Region::Cached(id, _)) => cache = Some(*id),
                Op::Read(_) => reads = true,
                _other => {}
            }
            open.extend(&instruction.operands);
        }
        cache.filter(|_| reads)
    }

    /// A value as a part of an expression: in brackets, if it has an operator.
    fn part(&self, value: Value, depth: u32) -> String {
        let text = self.value(value, depth);
        let is_one = text.split(' ').count() == 1 || text.ends_with(')') && !text.contains(") ");
        match is_one {
            true => text,
            false => format!("({text})"),
        }
    }

    /// A comparison; a constant stands on its right.
    fn compared(&self, operator: &str, one: Value, other: Value, depth: u32) -> String {
        let is_constant = self.definitions.constant(one).is_some();
        let turned = match operator {
            "<" => ">",
            "<=" => ">=",
            ">" => "<",
            ">=" => "<=",
            same => same,
        };
        let (one, operator, other) = match is_constant {
            true => (other, turned, one),
            false => (one, operator, other),
        };
        let [one, other] = [one, other].map(|value| self.part(value, depth.saturating_sub(1)));
        format!("{one} {operator} {other}")
    }

    fn value(&self, value: Value, depth: u32) -> String {
        let Some(Instruction { op, operands, .. }) = self.definitions.get(value) else {
            return self.parameter(value);
        };
        if let Some(number) = op.number() {
            return match number {
                0..=4096 => number.to_string(),
                large => format!("{large:#x}"),
            };
        }
        if depth == 0 {
            return "...".to_string();
        }
        let all = |operands: &[Value]| {
            let words = operands.iter().map(|one| self.value(*one, depth - 1));
            words.collect::<Vec<String>>().join(", ")
        };
        match op {
            Op::Not => self.negated(operands[0], depth),
            Op::Compare(how) => {
                let operator = match how {
                    Compare::Eq => "==",
                    Compare::Ne => "!=",
                    Compare::Ult | Compare::Slt => "<",
                    Compare::Ule | Compare::Sle => "<=",
                };
                self.compared(operator, operands[0], operands[1], depth)
            }
            Op::Arithmetic(how) => self.arithmetic(*how, operands, depth),
            Op::Select => {
                let [bit, one, other] = [0, 1, 2].map(|at| self.part(operands[at], depth - 1));
                format!("if {bit} {{ {one} }} else {{ {other} }}")
            }
            Op::ZeroExtend(_) | Op::SignExtend(_) | Op::Truncate(_) => {
                self.value(operands[0], depth)
            }
            Op::Load(region) => self.region(*region),
            Op::Read(bits) => self.bytes(operands, *bits, depth),
            Op::Length => "length".to_string(),
            Op::Attribute(id) => self.module.attributes[id.at()].name.clone(),
            Op::Call(id) => {
                let name = &self.module.function(*id).name;
                format!("{name}({})", all(operands))
            }
            Op::Ask(question, place) => self.asked(*question, *place, operands, depth),
            Op::TimerRuns(kind, timer) => {
                let kind = &self.module.kinds[kind.at()];
                format!("{}.{}.running", kind.name, kind.timers[timer.at()].name)
            }
            Op::Run(kernel, _) => {
                format!("{}(frame ...)", self.module.kernels[kernel.at()].name)
            }
            Op::Start => "start".to_string(),
            Op::HasBuffer => "a buffer is free".to_string(),
            Op::GoesOn(_) => "nothing waits".to_string(),
            Op::InBuffer => "the frame is in a buffer".to_string(),
            Op::Index => "session".to_string(),
            _other => format!("...({})", all(operands)),
        }
    }

    /// A parameter of a block: a session that was found, an event, or what ways give.
    fn parameter(&self, value: Value) -> String {
        let hint = self.definitions.hint(value);
        match hint {
            "" => "...".to_string(),
            hint => hint.to_string(),
        }
    }

    fn arithmetic(&self, how: Arithmetic, operands: &[Value], depth: u32) -> String {
        let [one, other] = [0, 1].map(|at| self.part(operands[at], depth - 1));
        let operator = match how {
            Arithmetic::Add => "+",
            Arithmetic::Sub => "-",
            Arithmetic::Mul => "*",
            Arithmetic::Udiv | Arithmetic::Sdiv => "/",
            Arithmetic::Urem | Arithmetic::Srem => "%",
            Arithmetic::And => {
                let is_bit = self.definitions.bits(operands[0]) == Some(1);
                if is_bit { "and" } else { "&" }
            }
            Arithmetic::Or => {
                let is_bit = self.definitions.bits(operands[0]) == Some(1);
                if is_bit { "or" } else { "|" }
            }
            Arithmetic::Xor => "^",
            Arithmetic::Shl => "<<",
            Arithmetic::Lshr | Arithmetic::Ashr => ">>",
            Arithmetic::Umin | Arithmetic::Smin => return format!("min({one}, {other})"),
            Arithmetic::Umax | Arithmetic::Smax => return format!("max({one}, {other})"),
        };
        format!("{one} {operator} {other}")
    }

    fn region(&self, region: Region) -> String {
        match region {
            Region::Field(kind, field) => self.field(kind, field),
            Region::Setting(id) => format!("config.{}", self.module.settings[id.at()].name),
            Region::Now => "now".to_string(),
            Region::Valid(id) => format!("{}.valid", self.module.caches[id.at()].name),
            Region::Cached(id, at) => format!("{}[{at}]", self.module.caches[id.at()].name),
        }
    }

    fn field(&self, kind: crate::ir::KindId, field: crate::ir::FieldId) -> String {
        let name = &self.module.field(kind, field).name;
        format!("{}.{name}", self.module.kinds[kind.at()].name)
    }

    /// A number that is read in the frame.
    fn bytes(&self, operands: &[Value], bits: Bits, depth: u32) -> String {
        let at = self.value(operands[1], depth - 1);
        let (from, width) = (u32::from(bits.skip), u32::from(bits.width));
        match (from, width % 8, at.parse::<u32>()) {
            (0, 0, Ok(at)) if width > 8 => format!("frame[{at}..{}]", at + width / 8),
            (0, 0, _) if width == 8 => format!("frame[{at}]"),
            (0, 0, _) => format!("frame[{at} + 0..{}]", width / 8),
            _bits => format!("frame[{at}].bits({from}..{})", from + width),
        }
    }

    fn asked(&self, question: Question, place: Place, operands: &[Value], depth: u32) -> String {
        let name = self.field(place.kind, place.field);
        let own = &self.module.field(place.kind, place.field).dimensions;
        let given = operands[1 + own.len()..].iter();
        let given: Vec<String> = given.map(|one| self.value(*one, depth - 1)).collect();
        let asked = match question {
            Question::IsEmpty => "is_empty",
            Question::Takes => "takes",
            Question::Has => "has",
            Question::First => "first",
            Question::Covers => "covers",
            Question::Ready => "ready",
            Question::Begin => return format!("{name}.begin"),
            Question::End => return format!("{name}.end"),
        };
        format!("{name}.{asked}({})", given.join(", "))
    }
}
