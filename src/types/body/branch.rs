//! `if` and `match`: the paths that part at a test, and meet again behind it.

use super::super::expression::{Binary, Expression, ExpressionKind};
use super::super::program::EnumId;
use super::super::statement::{Block, Likely, StatementKind};
use super::super::value::Type;
use super::external::Use;
use super::flow::{Flow, Way};
use super::statement::percent;
use super::words::{Body, constant_number, listed, make};
use crate::diagnostic::{Diagnostic, Id};
use crate::syntax::loom::ast;

impl Body<'_, '_> {
    pub fn if_statement(
        &mut self,
        branches: &[ast::IfBranch],
        otherwise: Option<&ast::Block>,
    ) -> StatementKind {
        let (first, rest) = branches.split_first().expect("an `if` has a branch");
        let (holds, fails) = self.ways(first.condition.span);
        self.calls_c_alone(first.condition.span, Use::Read);
        let condition = self.question(&first.condition);
        let before = self.flow.clone();
        self.assume(&condition, true);
        let then = self.block(&first.body);
        let then_flow = std::mem::replace(&mut self.flow, before);
        self.assume(&condition, false);
        let otherwise = match (rest.first(), otherwise) {
            (Some(next), _) => {
                self.with_before(next.span, |body| Some(body.if_statement(rest, otherwise)))
            }
            (None, Some(block)) => self.block(block),
            (None, None) => Block::new(),
        };
        let else_flow = std::mem::take(&mut self.flow);
        self.flow = then_flow.join(&holds, else_flow, &fails);
        StatementKind::If {
            condition,
            likely: percent(first.likely.as_ref()),
            then,
            otherwise,
        }
    }

    pub fn match_statement(
        &mut self,
        subject: &ast::Expression,
        cases: &[ast::MatchCase],
        otherwise: Option<&ast::Block>,
    ) -> Option<StatementKind> {
        let value = self.matched(subject);
        let before = self.flow.clone();
        let mut ends: Vec<(Flow, Way)> = Vec::new();
        let mut blocks = Vec::new();
        let (mut other, mut unknown) = (None, false);
        for case in cases {
            self.flow = before.clone();
            let constant = match &value {
                Some(value) => self.case_value(case, value),
                None => CaseValue::Unknown,
            };
            let block = self.block(&case.body);
            let way = Way {
                span: case.value.span,
                text: "in this case".to_string(),
            };
            ends.push((std::mem::take(&mut self.flow), way));
            match constant {
                CaseValue::Number(constant) => {
                    blocks.push((constant, percent(case.likely.as_ref()), block));
                }
                CaseValue::Other => other = Some(block),
                CaseValue::Unknown => unknown = true,
            }
        }
        self.refuse_repeated(cases, &blocks);
        self.flow = before;
        if let Some(block) = otherwise {
            other = Some(self.block(block));
            let way = Way {
                span: block.span,
                text: "in all other cases".to_string(),
            };
            ends.push((std::mem::take(&mut self.flow), way));
        }
        self.join_all(ends);
        let value = value?;
        let known: Vec<u64> = blocks.iter().map(|(value, ..)| *value).collect();
        let otherwise = match other {
            Some(other) => other,
            None if unknown => return None,
            None => {
                self.check_all_cases(&value.result, &known, subject)?;
                without_last(&mut blocks)
            }
        };
        Some(StatementKind::Match {
            value,
            cases: blocks,
            otherwise,
        })
    }

    /// What a `match` compares: a number or an enum.
    fn matched(&mut self, subject: &ast::Expression) -> Option<Expression> {
        let value = self.check(subject, None);
        if value.result == Type::Nothing {
            return None;
        }
        if matches!(value.result, Type::Enum(_) | Type::Unsigned(_)) {
            return Some(value);
        }
        let title = format!("`match` does not take `{}`", self.describe(&value.result));
        let label = "expected an enum or a number";
        self.report(Diagnostic::error(
            Id::TypeMismatch,
            title,
            subject.span,
            label,
        ));
        None
    }

    /// What is known where the ends of all cases meet.
    fn join_all(&mut self, ends: Vec<(Flow, Way)>) {
        let mut ends = ends.into_iter();
        let Some((mut flow, mut way)) = ends.next() else {
            return;
        };
        for (next, next_way) in ends {
            flow = flow.join(&way, next, &next_way);
            way = next_way;
        }
        self.flow = flow;
    }

    fn case_value(&mut self, case: &ast::MatchCase, value: &Expression) -> CaseValue {
        if let (Type::Enum(id), ast::ExpressionKind::Name(name)) = (&value.result, &case.value.kind)
            && self.context.program.enums[id.at()].other.as_deref() == Some(&name.text)
        {
            return CaseValue::Other;
        }
        let constant = self.expect(&case.value, &value.result);
        if constant.result == Type::Nothing {
            return CaseValue::Unknown;
        }
        let Some(found) = constant_number(&constant) else {
            let title = "the value of a case must be a constant";
            let label = "not a constant";
            let refused = Diagnostic::error(Id::NotConstant, title, case.value.span, label);
            self.report(refused.help("compare with `if` instead"));
            return CaseValue::Unknown;
        };
        let kind = ExpressionKind::Binary(Binary::Equal, value.clone(), constant);
        self.assume(&make(kind, Type::Bool), true);
        CaseValue::Number(found)
    }

    fn refuse_repeated(&mut self, cases: &[ast::MatchCase], blocks: &[(u64, Likely, Block)]) {
        if blocks.len() != cases.len() {
            return;
        }
        for (at, (value, ..)) in blocks.iter().enumerate() {
            if let Some(first) = blocks[..at].iter().position(|(other, ..)| other == value) {
                let title = "this case repeats an earlier case";
                let span = cases[at].value.span;
                let refused = Diagnostic::error(Id::WrittenTwice, title, span, "never reached");
                self.report(refused.label(cases[first].value.span, "the earlier case"));
            }
        }
    }

    fn check_all_cases(
        &mut self,
        of: &Type,
        known: &[u64],
        subject: &ast::Expression,
    ) -> Option<()> {
        let mut label = "no case for other numbers".to_string();
        if let Type::Enum(id) = of {
            let missing = self.missing_names(*id, known);
            if missing.is_empty() {
                return Some(());
            }
            let missing: Vec<&str> = missing.iter().map(String::as_str).collect();
            label = format!("no case for {}", listed(&missing));
        }
        let text = self.text(subject.span);
        let title = format!("`match` does not cover all values of `{text}`");
        let refused = Diagnostic::error(Id::MissingCase, title, subject.span, label);
        self.report(refused.help("add the missing cases, or `else { … }` after the last case"));
        None
    }

    fn missing_names(&self, id: EnumId, known: &[u64]) -> Vec<String> {
        let definition = &self.context.program.enums[id.at()];
        let names = definition.names.iter();
        let names = names.filter(|(_, value)| !known.contains(value));
        let names = names.map(|(name, _)| name.clone());
        names.chain(definition.other.clone()).collect()
    }
}

enum CaseValue {
    Number(u64),
    Other,
    Unknown,
}

/// Where every value has a case, the last needs no test; what it says of its share, the others
/// are given to match.
fn without_last(blocks: &mut Vec<(u64, Likely, Block)>) -> Block {
    let Some((_, likely, block)) = blocks.pop() else {
        return Block::new();
    };
    if let Some(likely) = likely {
        let said: f64 = blocks.iter().filter_map(|(_, likely, _)| *likely).sum();
        let silent = blocks.iter().filter(|(_, likely, _)| likely.is_none());
        let share = (100.0 - likely - said).max(0.0) / silent.count().max(1) as f64;
        for (_, likely, _) in blocks {
            likely.get_or_insert(share);
        }
    }
    block
}
