//! What a body can name: the seam between putting a stack together (`compose`) and checking the
//! bodies of its handlers (`body`).
//!
//! In: the entity, and whose instance runs the body. Out: a [`Named`] for each plain word, and
//! what the words `message`, `send`, `tell NAME` stand for. Words of inner scopes (locals) are the
//! body checker's own.

mod names;

pub use names::Names;

use super::expression::{Expression, Instance};
use super::process::SignalId;
use super::program::{
    AttributeId, EntityId, FieldId, FilterId, FunctionId, HeaderId, KeyId, KindId, LocalId,
    NoticeId, TimerId,
};
use super::value::Type;
use crate::syntax::loom::ast;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Formatter};

/// The name of a lower joint: `short`, or `ways[0]` in a list of joints.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JointName {
    /// The name under `requires`.
    pub word: String,
    /// Its place in the list.
    pub number: Option<u32>,
}

impl JointName {
    /// As one word: `short`, `ways_0`.
    pub fn plain(&self) -> String {
        match self.number {
            Some(number) => format!("{}_{number}", self.word),
            None => self.word.clone(),
        }
    }
}

impl Display for JointName {
    fn fmt(&self, out: &mut Formatter) -> fmt::Result {
        match self.number {
            Some(number) => write!(out, "{}[{number}]", self.word),
            None => out.write_str(&self.word),
        }
    }
}

/// A joint below, as a body knows it.
#[derive(Clone, Debug)]
pub struct LowerJoint {
    /// Its name.
    pub name: Option<JointName>,
    /// Notices that may be told there, by name.
    pub notices: BTreeMap<String, NoticeId>,
}

/// What can be named in the bodies of one kind of instances of one entity.
#[derive(Clone, Debug)]
pub struct Scope {
    /// The entity.
    pub entity: EntityId,
    /// Whose instance runs the body.
    pub kind: KindId,
    /// The layer is checked by itself: parameters and `type address` are not known.
    pub alone: bool,
    /// Plain words: fields, keys, parameters, constants, functions, kinds.
    pub names: Names,
    /// Words for types, which stand apart: a layer may have a parameter `address` and a type
    /// `address`. The values of an enum are `NAME.value` or, where the enum is expected, plain.
    pub types: BTreeMap<String, Type>,
    /// Words for types whose values are IPv4 addresses.
    pub addresses: BTreeSet<String>,
    /// What `message` is where no local is called so: [`LocalId::MESSAGE`] in a header.
    pub message: Option<LocalId>,
    /// Attributes by name, of the services above, below and of the layer itself; those that can
    /// be set with `send`, with `deliver`, and with a `tell` to this side joint.
    pub attributes: BTreeMap<String, AttributeId>,
    /// The layer's own header.
    pub header: Option<HeaderId>,
    /// Joints below; the only one has no name.
    pub joints: Vec<LowerJoint>,
    /// Whether something stands above it, so that `deliver` has a receiver.
    pub has_above: bool,
    /// Notices that it may tell above, by name.
    pub above: BTreeMap<String, NoticeId>,
    /// Notices that it may tell below, by name.
    pub below: BTreeMap<String, NoticeId>,
    /// Side joints by name: the entity and its notices.
    pub sides: BTreeMap<String, (EntityId, BTreeMap<String, NoticeId>)>,
    /// The services that `restore` can name.
    pub services: Vec<String>,
    /// What each process of the layer declares, by name.
    pub processes: Vec<BTreeMap<String, Named>>,
}

/// The type of an IPv4 address: a `u32` that is shown as `10.0.0.1`.
pub const IPV4_ADDRESS: &str = "ipv4_address";

impl Scope {
    /// Returns true if a type is written as that of an IPv4 address, directly or by another name.
    pub fn means_address(&self, of: &ast::Type) -> bool {
        match &of.kind {
            ast::TypeKind::Named(name) => match self.types.contains_key(&name.text) {
                true => self.addresses.contains(&name.text),
                false => name.is(IPV4_ADDRESS),
            },
            ast::TypeKind::Container { .. }
            | ast::TypeKind::Optional(_)
            | ast::TypeKind::Enum(_) => false,
        }
    }

    /// Nothing can be named yet.
    pub fn new(entity: EntityId, kind: KindId) -> Scope {
        Scope {
            entity,
            kind,
            alone: false,
            names: Names::new(),
            types: BTreeMap::new(),
            addresses: BTreeSet::new(),
            message: None,
            attributes: BTreeMap::new(),
            header: None,
            joints: Vec::new(),
            has_above: false,
            above: BTreeMap::new(),
            below: BTreeMap::new(),
            sides: BTreeMap::new(),
            services: Vec::new(),
            processes: Vec::new(),
        }
    }

    /// What a path names: `connection.advanced`.
    pub fn path(&self, path: &ast::Path) -> Option<Named> {
        let (first, rest) = path.names.split_first()?;
        let mut named = self.names.get(&first.text)?;
        for name in rest {
            let Named::Process(at) = named else {
                return None;
            };
            named = self.processes[*at as usize].get(&name.text)?;
        }
        Some(named.clone())
    }
}

/// What a word stands for.
#[derive(Clone, Debug)]
pub enum Named {
    /// A parameter, constant, or value of an enum: an expression to put in its place. Alone, a
    /// parameter that is not known is a [`super::expression::ExpressionKind::Config`] of its type.
    Value(Expression),
    /// A field, of the instance itself or of its entity.
    Field(Instance, KindId, FieldId),
    /// A key of the instance itself.
    Key(Instance, KindId, KeyId),
    /// A timer of the instance itself or of its entity.
    Timer(Instance, KindId, TimerId),
    /// A kind that can be found, created, told: a child, or `session`.
    Kind(KindId),
    /// A function.
    Function(FunctionId),
    /// A filter.
    Filter(FilterId),
    /// A header that can be peeked at.
    Header(HeaderId),
    /// A signal of the instance.
    Signal(SignalId),
    /// A process of the instance, among [`Scope::processes`].
    Process(u32),
}
