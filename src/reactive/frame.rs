//! Whose code is being lowered: what its words mean in the tree.

use super::reads;
use crate::tree::rename::Renaming;
use crate::types::expression::{Expression, ExpressionKind, Instance, Query, Variable};
use crate::types::fields::field_of;
use crate::types::lifetimes::Standing;
use crate::types::process::StatementId;
use crate::types::program::{
    FieldId, FunctionId, Handler, KindId, LocalId, Place, Program, SessionIndex,
};
use crate::types::statement::{Block, Statement};
use crate::types::value::{Type, Value};

/// One handler, finder or header, on behalf of one instance.
#[derive(Clone)]
pub struct Frame<'a> {
    /// Of which it is a part.
    pub program: &'a Program,
    /// Names in the tree, by the names in the handler.
    pub locals: Vec<LocalId>,
    /// What `LocalId::MESSAGE` is.
    pub message: Option<LocalId>,
    /// What `Own` is.
    pub own: Instance,
    /// Of this kind.
    pub kind: KindId,
    /// Which label it has, if it has one.
    pub label: Option<u32>,
    /// The session below that its code is about, where those come and go.
    pub below: Option<Instance>,
    /// Whether it is the end of its own instance.
    pub ends: bool,
    /// The keys of its own instance, where they are known.
    pub keys: Option<&'a [Value]>,
    /// Locals that hold an index which is known here.
    pub found: Vec<(LocalId, u32)>,
    /// Expressions whose values were taken before, and what holds them.
    pub taken: Vec<(Expression, LocalId)>,
    /// Fields that its code writes: their values are taken where an output reads them.
    pub written: Vec<(KindId, FieldId)>,
    /// What several of its paths lead to.
    pub blocks: &'a [Block],
    /// Where its branches stand.
    pub places: &'a [Vec<(StatementId, u32)>],
}

impl<'a> Frame<'a> {
    /// A frame without locals.
    pub fn new(
        program: &'a Program,
        own: Instance,
        kind: KindId,
        keys: Option<&'a [Value]>,
        body: &[Statement],
    ) -> Frame<'a> {
        Frame {
            program,
            locals: Vec::new(),
            message: None,
            own,
            kind,
            label: None,
            below: None,
            ends: false,
            keys,
            found: Vec::new(),
            taken: Vec::new(),
            written: reads::written(body),
            blocks: &[],
            places: &[],
        }
    }

    /// The frame of a handler, without locals.
    pub fn of(
        program: &'a Program,
        own: Instance,
        keys: Option<&'a [Value]>,
        handler: &'a Handler,
    ) -> Frame<'a> {
        let mut frame = Frame::new(program, own, handler.kind, keys, &handler.body);
        let blocks = handler.blocks.iter();
        frame
            .written
            .extend(blocks.flat_map(|block| reads::written(block)));
        frame.blocks = &handler.blocks;
        frame.places = &handler.places;
        frame
    }

    /// Its own instance, among those that live together.
    pub fn standing(&self) -> Standing {
        Standing {
            kind: self.kind,
            label: self.label,
            first: 0,
        }
    }

    /// By what its own instance is known: that of a label by the session below.
    pub fn known(&self) -> Instance {
        match self.label {
            Some(_) => self.below.expect("a label is that of a session below"),
            None => self.own,
        }
    }

    /// The session on this side that is meant by the index of a place below.
    pub fn facing(&self, below: Place) -> Instance {
        match below {
            Place::Entity {
                index: SessionIndex::Keyed,
                ..
            } => self.below.expect("the checker has seen a session below"),
            Place::Entity {
                index: SessionIndex::Label(_),
                ..
            } => self.below.unwrap_or(self.own),
            Place::Entity { .. } | Place::Link(_) | Place::Port(_) => self.own,
        }
    }

    /// Does something with the renaming of this frame.
    pub fn renamed<T>(&self, with: impl FnOnce(&Renaming<'_>) -> T) -> T {
        let local = |id: LocalId| match id {
            LocalId::MESSAGE => self.message.expect("a header's expression has its message"),
            id => self.locals[id.at()],
        };
        let instance = |instance: Instance| match instance {
            Instance::Own => self.own,
            Instance::Local(id) => self.found(local(id)),
            Instance::Entity | Instance::Only(_) => instance,
        };
        let replaced = |expression: &Expression| self.replaced(expression);
        with(&Renaming {
            local: &local,
            instance: &instance,
            replaced: &replaced,
        })
    }

    /// The instance whose index a local of the tree holds.
    pub fn found(&self, local: LocalId) -> Instance {
        let known = self.found.iter().find(|(found, _)| *found == local);
        known.map_or(Instance::Local(local), |(_, at)| Instance::Only(*at))
    }

    /// An expression in the tree's words.
    pub fn expression(&self, expression: &Expression) -> Expression {
        self.renamed(|renaming| renaming.expression(expression))
    }

    fn replaced(&self, expression: &Expression) -> Option<Expression> {
        if let Some((_, local)) = self.taken.iter().find(|(known, _)| known == expression) {
            return Some(Expression::local(*local, expression.result.clone()));
        }
        match (&*expression.kind, self.keys) {
            (ExpressionKind::Call(function, arguments), _) => self.call(*function, arguments),
            (ExpressionKind::Read(Variable::Local(id)), _) if !self.found.is_empty() => {
                match self.found(*self.locals.get(id.at())?) {
                    Instance::Only(at) => {
                        Some(Expression::number(u64::from(at), expression.result.clone()))
                    }
                    Instance::Own | Instance::Entity | Instance::Local(_) => None,
                }
            }
            (ExpressionKind::Below, _) => match self.below.unwrap_or(self.own) {
                Instance::Local(local) => Some(Expression::local(local, expression.result.clone())),
                Instance::Own | Instance::Entity | Instance::Only(_) => {
                    unreachable!("what is asked comes and goes")
                }
            },
            (ExpressionKind::Key(Instance::Own, kind, key), Some(keys)) if *kind == self.kind => {
                match (keys.get(key.at()), self.below) {
                    (Some(key), _) => {
                        Some(Expression::constant(key.clone(), expression.result.clone()))
                    }
                    (None, Some(Instance::Local(below))) => {
                        Some(Expression::local(below, expression.result.clone()))
                    }
                    (None, _) => unreachable!("the last key of a label is the session below"),
                }
            }
            _ => None,
        }
    }

    /// A call of a function that reads its own instance, which is one of several: it comes last.
    fn call(&self, id: FunctionId, arguments: &[Expression]) -> Option<Expression> {
        let function = &self.program.functions[id.at()];
        let kind = function.kind.filter(|kind| *kind == self.kind)?;
        let own = Type::Instance(kind);
        let own = match self.own {
            Instance::Local(local) => Expression::local(local, own),
            Instance::Only(only) if self.program.kinds[kind.at()].capacity > 1 => {
                Expression::number(u64::from(only), own)
            }
            Instance::Own | Instance::Entity | Instance::Only(_) => return None,
        };
        let arguments = arguments.iter().map(|argument| self.expression(argument));
        let arguments = arguments.chain([own]).collect();
        let result = function.result.clone();
        Some(Expression::new(ExpressionKind::Call(id, arguments), result))
    }

    /// Whether the value of an expression may be another at the end of the handler.
    pub fn may_change(&self, expression: &Expression) -> bool {
        reads::any(expression, &|part| match &*part.kind {
            ExpressionKind::Read(variable) => {
                field_of(variable).is_some_and(|field| self.written.contains(&field))
            }
            ExpressionKind::Query(
                Query::Running(..) | Query::Exists(..) | Query::Ended(..) | Query::GoesOn,
            )
            | ExpressionKind::Query(Query::InsertSet(..) | Query::Release(..))
            | ExpressionKind::Attribute(..)
            | ExpressionKind::Length(_)
            | ExpressionKind::Call(..)
            | ExpressionKind::Through(..)
            | ExpressionKind::Peeked(..)
            | ExpressionKind::Header(..)
            | ExpressionKind::HeaderPresent(..)
            | ExpressionKind::PeekedPresent(..)
            | ExpressionKind::OptionsHold(_) => true,
            ExpressionKind::Query(
                Query::IsEmpty(variable)
                | Query::Has(variable, _)
                | Query::First(variable)
                | Query::Covers(variable, ..)
                | Query::Ready(variable, _)
                | Query::Begin(variable)
                | Query::End(variable),
            ) => field_of(variable).is_some_and(|field| self.written.contains(&field)),
            ExpressionKind::Constant(_)
            | ExpressionKind::Config(_)
            | ExpressionKind::Key(..)
            | ExpressionKind::WholeLength
            | ExpressionKind::Below
            | ExpressionKind::Now
            | ExpressionKind::Signal(_)
            | ExpressionKind::Unary(..)
            | ExpressionKind::Binary(..)
            | ExpressionKind::If(..)
            | ExpressionKind::Some(_)
            | ExpressionKind::Unwrap(_)
            | ExpressionKind::Present(_)
            | ExpressionKind::Else(..)
            | ExpressionKind::Cast(_)
            | ExpressionKind::BytesLength(_)
            | ExpressionKind::ByteAt(..)
            | ExpressionKind::Bounded(_)
            | ExpressionKind::Least(..)
            | ExpressionKind::Greatest(..) => false,
        })
    }
}

/// A field of a header that is read though nobody has asked yet whether it is there.
pub fn read_early(program: &Program, read: &Expression) -> Expression {
    let (header, field, local) = match &*read.kind {
        ExpressionKind::Header(header, field) => (*header, *field, None),
        ExpressionKind::Peeked(local, header, field) => (*header, *field, Some(*local)),
        _ => return read.clone(),
    };
    let declared = &program.headers[header.at()];
    let asked = match declared.option_of(field) {
        Some(case) => case.itself(),
        None if declared.field(field).present.is_some() => field,
        None => return read.clone(),
    };
    let there = match local {
        Some(local) => ExpressionKind::PeekedPresent(local, header, asked),
        None => ExpressionKind::HeaderPresent(header, asked),
    };
    let there = Expression::new(there, Type::Bool);
    let none = match &read.result {
        Type::Bytes(size) => Value::Bytes(vec![0; *size as usize]),
        Type::BoundedBytes(_) => Value::Bytes(Vec::new()),
        _ => Value::Number(0),
    };
    let none = Expression::constant(none, read.result.clone());
    let kind = ExpressionKind::If(there, read.clone(), none);
    Expression::new(kind, read.result.clone())
}

/// A good name for what holds the value of an expression.
pub fn name_of(program: &Program, expression: &Expression) -> String {
    match &*expression.kind {
        ExpressionKind::Header(header, field)
        | ExpressionKind::Peeked(_, header, field)
        | ExpressionKind::HeaderPresent(header, field)
        | ExpressionKind::PeekedPresent(_, header, field) => {
            let field = program.headers[header.at()].field(*field);
            field.name.replace('.', "_")
        }
        ExpressionKind::Attribute(_, attribute) => program.attributes[attribute.at()].name.clone(),
        ExpressionKind::Read(variable) => match field_of(variable) {
            Some((kind, field)) => program.kinds[kind.at()].fields[field.at()].name.clone(),
            None => "value".to_string(),
        },
        ExpressionKind::Call(function, _) => program.functions[function.at()].name.clone(),
        ExpressionKind::Length(_) => "length".to_string(),
        ExpressionKind::Cast(inner)
        | ExpressionKind::Unwrap(inner)
        | ExpressionKind::Some(inner) => name_of(program, inner),
        _ => "value".to_string(),
    }
}
