//! Rules of fields: what the value of a field that is there must be.
//!
//! In: a field, and its value. Out: a bit that is 1 if an enum's value has a name, a constant is
//! the one that is required, and the `where` holds. Nothing is emitted for a field without rules.

use crate::ir::Value;
use crate::ir::op::Compare;
use crate::lower::code::{Code, Way};
use crate::lower::shapes::constant;
use crate::lower::value::lazy::is_total;
use crate::types::header::{HeaderField, Rule};
use crate::types::program::HeaderId;
use crate::types::value::Type;

/// The share of headers that keep a rule, in millionths.
const IN_ORDER: crate::ir::Probability = crate::ir::Probability(999_000);

impl Code<'_, '_> {
    /// Goes on only where a bit is 1; where it is not is one more way that has failed.
    pub fn require(&mut self, bit: Value, failed: &mut Vec<Way>) {
        let (then, otherwise) = self.build.branch(bit, IN_ORDER);
        failed.push(Way::new(otherwise, self.environment.clone()));
        self.build.go_to(then);
    }

    /// A bit: a value keeps the rules of its field; none where all values do.
    pub fn keeps_rules(
        &mut self,
        header: HeaderId,
        field: &HeaderField,
        value: &[Value],
        view: Value,
    ) -> Option<Value> {
        let named = self.is_named(&field.kind, value);
        let required = match &field.rule {
            Rule::Is(required) => {
                let required = constant(self.lower.program, required, &field.kind);
                let required = self.constants(required);
                Some(self.same_parts(value, &required))
            }
            Rule::Given | Rule::Default(_) | Rule::Counts { .. } | Rule::Checks { .. } => None,
        };
        let plain = self.all_of(named, required);
        let Some(constraint) = &field.constraint else {
            return plain;
        };
        let constrained =
            |code: &mut Self| code.within(header, view, |inner| inner.plain(constraint));
        match plain {
            Some(plain) if !is_total(self.lower.program, constraint) => {
                let both = self.choose(
                    plain,
                    |code| vec![constrained(code)],
                    |code| vec![code.bit(false)],
                );
                Some(both[0])
            }
            plain => {
                let constrained = constrained(self);
                self.all_of(plain, Some(constrained))
            }
        }
    }

    /// A bit: a count is of fewer bytes than an i32 can say; none where it always is.
    pub fn count_fits(&mut self, field: &HeaderField, value: &[Value]) -> Option<Value> {
        let is_long = matches!(field.rule, Rule::Counts { .. }) && field.width > 32;
        is_long.then(|| {
            let most = self.number(field.width as u8, u64::from(u32::MAX));
            self.compare(Compare::Ule, value[0], most)
        })
    }

    /// Both of two requirements, as far as there are any.
    pub fn all_of(&mut self, one: Option<Value>, other: Option<Value>) -> Option<Value> {
        match (one, other) {
            (Some(one), Some(other)) => Some(self.both(one, other)),
            (one, other) => one.or(other),
        }
    }

    /// A bit: the value of an enum without `else` has a name.
    fn is_named(&mut self, of: &Type, value: &[Value]) -> Option<Value> {
        let Type::Enum(id) = of else {
            return None;
        };
        let table = &self.lower.program.enums[id.at()];
        let all = u32::from(table.width) < 64 && table.names.len() as u64 == 1 << table.width;
        if table.other.is_some() || all {
            return None;
        }
        let mut any = None;
        for (_, number) in &table.names {
            let number = self.number(table.width, *number);
            let is = self.compare(Compare::Eq, value[0], number);
            any = Some(match any {
                None => is,
                Some(any) => self.either(any, is),
            });
        }
        any
    }
}
