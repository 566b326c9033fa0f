//! The sums of a header that is pushed.
//!
//! In: a header all of whose other bytes are written. Out: its sums, each over what was written
//! before.

use super::distance::Distance;
use super::push::Push;
use super::sums::{Ends, Summed, fills_bytes, needed};
use crate::ir::{Op, Value};
use crate::lower::code::{Code, Name};
use crate::types::expression::{Expression, ExpressionKind as Kind};
use crate::types::header::Rule;
use crate::types::program::{HeaderFieldId, HeaderId, Program};
use crate::types::value::Type;

impl Push<'_> {
    /// Writes the sums, in the order of the wire; each over what was written before.
    pub fn write_sums(&mut self, code: &mut Code<'_, '_>, message: Value) {
        for (place, field) in self.header.fields.iter().enumerate() {
            if !matches!(field.rule, Rule::Checks { .. }) {
                continue;
            }
            let group = self.group_of(place);
            match self.fields[place].present {
                None => {
                    let sum = self.sum(code, message, place);
                    self.fields[place].value = vec![sum];
                    self.write_present(code, message, &group);
                }
                Some(present) => code.only_if(present, |code| {
                    let sum = self.sum(code, message, place);
                    self.fields[place].value = vec![sum];
                    self.write_present(code, message, &group);
                }),
            }
        }
    }

    fn sum(&self, code: &mut Code<'_, '_>, message: Value, place: usize) -> Value {
        let field = &self.header.fields[place];
        let Rule::Checks { arguments, .. } = &field.rule else {
            unreachable!("only sums are summed");
        };
        let view = code.value_of(Op::Look, &[message]);
        let whole = code.farther(self.size, Distance::of(self.data));
        let length = code.bytes(whole);
        let mut names = vec![
            (Name::Header(self.id), vec![view]),
            (Name::WholeLength, vec![length]),
            (Name::Length(self.message), vec![self.data]),
        ];
        names.extend(self.below.clone().map(|below| (Name::Below, below)));
        if arguments.iter().any(may_read_data) {
            let size = code.bytes(self.size);
            let data = code.value_of(Op::SubView, &[view, size, self.data]);
            names.push((Name::Data(self.message), vec![data]));
        }
        let before = code.message.replace(self.message);
        let arguments = code.with_names(names, |code| code.values(arguments));
        code.message = before;
        let id = HeaderFieldId(place as u32);
        let ends = needed(&self.header.fields, id);
        let ends = ends.into_iter().map(|id| (id, self.ends(code, id)));
        let summed = Summed {
            header: self.id,
            field: id,
            view,
            size: self.size,
            whole,
            ends: ends.collect(),
            is_zero: true,
        };
        code.sum(&summed, &arguments)
    }

    fn ends(&self, code: &mut Code<'_, '_>, id: HeaderFieldId) -> Ends {
        let (placed, field) = (&self.fields[id.at()], self.header.field(id));
        let to = match field.kind {
            Type::UnboundedBytes if self.header.options.is_some() => self.size,
            Type::UnboundedBytes => placed.at,
            _ if field.is_loose() => code.farther(placed.at, placed.loose),
            _ => placed.at.plus((field.bit % 8 + field.width).div_ceil(8)),
        };
        (placed.at, to)
    }

    /// Returns true for a sum that is written once, since nothing reads it before.
    pub fn is_summed_at_last(&self, program: &Program, place: usize) -> bool {
        let field = &self.header.fields[place];
        let sums = self.header.fields.iter();
        let sums = sums.filter(|field| matches!(field.rule, Rule::Checks { .. }));
        let Rule::Checks {
            arguments,
            ranges,
            filter,
            ..
        } = &field.rule
        else {
            return false;
        };
        let filter = &program.filters[filter.at()];
        let stands = self.header.over_itself(place, filter).is_some();
        let reads = |argument: &Expression| may_read_header(argument, self.id);
        let is_read = ranges.covers(place) && stands || arguments.iter().any(reads);
        fills_bytes(field) && sums.count() == 1 && !is_read
    }
}

/// Returns true if an expression may read the data of a message.
fn may_read_data(expression: &Expression) -> bool {
    let itself = matches!(*expression.kind, Kind::Through(..) | Kind::Call(..));
    itself || expression.parts().into_iter().any(may_read_data)
}

/// Returns true if an expression may read the header that is pushed.
fn may_read_header(expression: &Expression, id: HeaderId) -> bool {
    let itself = match &*expression.kind {
        Kind::Header(header, _) | Kind::HeaderPresent(header, _) => *header == id,
        Kind::Call(..) | Kind::OptionsHold(_) => true,
        _ => false,
    };
    let mut parts = expression.parts().into_iter();
    itself || parts.any(|part| may_read_header(part, id))
}
