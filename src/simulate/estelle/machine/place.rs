//! Places: variables and parts of them, read and assigned.

use super::{Base, Location, Machine, Slot};
use crate::simulate::estelle::fault::{Fault, FaultKind, Faulty};
use crate::simulate::estelle::value::{Value, holds_field, members, ordinal_text};
use crate::source::Span;
use crate::types::estelle::program::{Expression, Place, Root, Step, Type, TypeId};

impl<'p> Machine<'p, '_> {
    /// Returns the value of a place. A scalar without a value is a fault; an array or a record may
    /// have parts without one. (our decision)
    pub(super) fn read(&mut self, place: &'p Place) -> Faulty<Value> {
        let location = self.locate(place)?;
        match self.load(&location) {
            Some(Value::Undefined) | None => {
                let says = format!("`{}` has no value yet", self.place_name(place));
                Fault::err(FaultKind::Uninitialised, says, place.span)
            }
            Some(value) => Ok(value.clone()),
        }
    }

    /// Evaluates the indices of a place and checks them, and the tags of variants.
    pub(super) fn locate(&mut self, place: &'p Place) -> Faulty<Location> {
        let program = self.fixed.program;
        let (mut location, mut type_id) = match &place.root {
            Root::Module(variable) => {
                let base = Base::Variable(self.current(), *variable);
                let kind = self.body().variables[*variable].kind;
                (Location::of(base), kind)
            }
            Root::Local(frame, local) => {
                let kind = program.frames[frame.index()][*local].kind;
                match self.slot(*frame, *local) {
                    Slot::Reference(location) => (location.clone(), kind),
                    Slot::Value(_) | Slot::Module(_) | Slot::Empty => {
                        (Location::of(Base::Local(*frame, *local)), kind)
                    }
                }
            }
            Root::Exported(module, export) => {
                let child = self.module(module)?;
                let header = &program.headers[module.header.index()];
                let variable = header.parameters.len() + export;
                let base = Base::Variable(child, variable);
                (Location::of(base), header.exports[*export].kind)
            }
        };
        for step in &place.steps {
            type_id = match (&program.types[type_id.index()], step) {
                (Type::Array { index, element, .. }, Step::Index(expression)) => {
                    let at = self.index(*index, expression)?;
                    location.path.push(at);
                    *element
                }
                (Type::Record { fields }, Step::Field(field)) => {
                    self.check_tag(&location, type_id, *field, place.span)?;
                    location.path.push(*field);
                    fields[*field].kind
                }
                (_, Step::Index(_) | Step::Field(_)) => type_id,
            };
        }
        Ok(location)
    }

    /// Evaluates an index: the number of the element, from 0.
    pub(super) fn index(&mut self, index: TypeId, expression: &'p Expression) -> Faulty<usize> {
        let number = self.ordinal(expression)?;
        let number = self.in_range(number, index, expression.span)?;
        let (low, _) = self.fixed.program.bounds(index).unwrap_or((0, 0));
        Ok(usize::try_from(number - low).unwrap_or(0))
    }

    /// Evaluates the indices of an array of points or module variables: the element, row-major.
    pub(super) fn element(
        &mut self,
        indices: &'p [TypeId],
        expressions: &'p [Expression],
    ) -> Faulty<usize> {
        let mut element = 0;
        for (index, expression) in indices.iter().zip(expressions) {
            let (low, high) = self.fixed.program.bounds(*index).unwrap_or((0, 0));
            let count = usize::try_from(high - low + 1).unwrap_or(0);
            element = element * count + self.index(*index, expression)?;
        }
        Ok(element)
    }

    /// Returns the content of a location; none if its module was released meanwhile.
    pub(super) fn load(&self, location: &Location) -> Option<&Value> {
        let mut value = match location.base {
            Base::Variable(instance, variable) => {
                &self.situation.get(instance)?.variables[variable]
            }
            Base::Local(frame, local) => match self.slot(frame, local) {
                Slot::Value(value) => value,
                Slot::Reference(_) | Slot::Module(_) | Slot::Empty => return None,
            },
        };
        for step in &location.path {
            value = match value {
                Value::Array(items) | Value::Record(items) => items.get(*step)?,
                Value::Undefined | Value::Ordinal(_) | Value::Real(_) | Value::Set(_) => {
                    return None;
                }
            };
        }
        Some(value)
    }

    /// Puts a value that fits into a location.
    pub(super) fn store(&mut self, location: &Location, value: Value) {
        let mut place = match location.base {
            Base::Variable(instance, variable) => match self.situation.get(instance) {
                Some(_) => &mut self.situation.change(instance).variables[variable],
                None => return,
            },
            Base::Local(frame, local) => match self.slot_mut(frame, local) {
                Some(Slot::Value(value)) => value,
                Some(Slot::Reference(_) | Slot::Module(_) | Slot::Empty) | None => return,
            },
        };
        for step in &location.path {
            place = match place {
                Value::Array(items) | Value::Record(items) => match items.get_mut(*step) {
                    Some(item) => item,
                    None => return,
                },
                Value::Undefined | Value::Ordinal(_) | Value::Real(_) | Value::Set(_) => return,
            };
        }
        *place = value;
    }

    /// Checks that a value is one of a type. A value beyond a subrange is a fault.
    pub(super) fn fit(&self, value: Value, type_id: TypeId, span: Span) -> Faulty<Value> {
        match (&value, &self.fixed.program.types[type_id.index()]) {
            (Value::Ordinal(number), _) => {
                self.in_range(*number, type_id, span)?;
            }
            (Value::Set(set), Type::Set(base)) => {
                for member in members(set) {
                    self.in_range(member, *base, span)?;
                }
            }
            (
                Value::Undefined
                | Value::Real(_)
                | Value::Array(_)
                | Value::Record(_)
                | Value::Set(_),
                _,
            ) => {}
        }
        Ok(value)
    }

    /// Checks that an ordinal number is one of a type.
    pub(super) fn in_range(&self, number: i64, type_id: TypeId, span: Span) -> Faulty<i64> {
        let program = self.fixed.program;
        match program.bounds(type_id) {
            Some((low, high)) if number < low || number > high => {
                let text = |number| ordinal_text(program, type_id, number);
                let (is, low, high) = (text(number), text(low), text(high));
                let kind = match &program.types[type_id.index()] {
                    Type::Integer => FaultKind::Overflow,
                    _ => FaultKind::Range,
                };
                Fault::err(kind, format!("{is} is not in {low}..{high}"), span)
            }
            _ => Ok(number),
        }
    }

    /// Checks that the tags of a record select the variant of a field.
    fn check_tag(
        &self,
        location: &Location,
        record: TypeId,
        field: usize,
        span: Span,
    ) -> Faulty<()> {
        let record = &self.fixed.program.types[record.index()];
        let Type::Record { fields } = record else {
            return Ok(());
        };
        if fields[field].variant.is_none() {
            return Ok(());
        }
        match self.load(location) {
            Some(Value::Record(items)) if !holds_field(record, items, field) => {
                let says = format!("the tag does not select `{}`", fields[field].name);
                Fault::err(FaultKind::Tag, says, span)
            }
            _ => Ok(()),
        }
    }

    fn place_name(&self, place: &Place) -> &'p str {
        let program = self.fixed.program;
        match &place.root {
            Root::Module(variable) => &self.body().variables[*variable].name,
            Root::Local(frame, local) => &program.frames[frame.index()][*local].name,
            Root::Exported(module, export) => {
                &program.headers[module.header.index()].exports[*export].name
            }
        }
    }
}

impl Location {
    fn of(base: Base) -> Location {
        Location {
            base,
            path: Vec::new(),
        }
    }
}
