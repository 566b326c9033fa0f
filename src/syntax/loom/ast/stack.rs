//! Stacks: layers on top of each other.

use super::{Expression, ExpressionKind, Name, Notes, Parameter};
use crate::source::Span;

/// `stack host { … }`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stack {
    /// Its documentation.
    pub notes: Notes,
    /// What it is called.
    pub name: Name,
    /// How often each event comes.
    pub traffic: Vec<Traffic>,
    /// From the bottom to the top.
    pub nodes: Vec<Node>,
    /// All of it.
    pub span: Span,
}

/// `deliver 70%`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Traffic {
    /// The event.
    pub event: Name,
    /// How often it is this one, in millionths.
    pub millionths: u32,
    /// All of it.
    pub span: Span,
}

/// `key 17 fragment as pieces { … }`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    /// Its documentation.
    pub notes: Notes,
    /// What the joint below it is labelled with.
    pub key: Option<Expression>,
    /// What stands here.
    pub kind: NodeKind,
    /// What stands above it.
    pub above: Vec<Node>,
    /// All of it.
    pub span: Span,
}

/// What may stand in a stack.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NodeKind {
    /// `link tap(mtu = 1500) calls leaves gathers`: where frames come and go; the host asks for
    /// those that leave, or is called with them.
    Link {
        /// What it is called.
        name: Name,
        /// What its parentheses say: `mtu`, the longest packet in bytes.
        arguments: Vec<Argument>,
        /// The function in C that is called.
        calls: Option<Name>,
        /// True if the host takes a frame in two parts.
        gathers: bool,
    },
    /// `port datagrams calls arrived`: where an application sits, which asks for what comes up, or
    /// is called with it.
    Port {
        /// What it is called.
        name: Name,
        /// The function in C that is called.
        calls: Option<Name>,
    },
    /// `parity(k = 8) as noise`
    Layer(LayerUse),
    /// `slot repair by noise { off, parity(k = 8) }`: several layers, of which one is active.
    Slot(Slot),
}

/// A place in a stack for several layers, of which one is active.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slot {
    /// Its name.
    pub name: Name,
    /// Parameters of the layer at its bottom, `slot_frames`.
    pub arguments: Vec<Argument>,
    /// The policy that chooses the active layer.
    pub policy: Option<LayerUse>,
    /// The layers, each with those that stand on it in the slot. The first is active at the start.
    pub variants: Vec<Vec<LayerUse>>,
}

/// A layer at its place in a stack.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LayerUse {
    /// Which layer.
    pub layer: Name,
    /// Its parameters and side joints.
    pub arguments: Vec<Argument>,
    /// What the stack calls this one.
    pub alias: Option<Name>,
}

/// `prefix = config.prefix`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Argument {
    /// Which parameter, or side joint.
    pub name: Name,
    /// What it is to be.
    pub value: Expression,
    /// All of it.
    pub span: Span,
}

impl Argument {
    /// The value of `one_sided = true` or `one_sided = false`.
    pub fn one_sided(&self) -> Option<bool> {
        match &self.value.kind {
            ExpressionKind::Boolean(value) if self.name.is("one_sided") => Some(*value),
            _another_argument => None,
        }
    }
}

/// `policy noise(cost: u32) { monitor errors, decision counting, signal spp }`: the layers that
/// decide which layer of a slot is active.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Policy {
    /// Its documentation.
    pub notes: Notes,
    /// What it is called.
    pub name: Name,
    /// Its parameters; a slot sets them.
    pub parameters: Vec<Parameter>,
    /// The layer that measures, if there is one.
    pub monitor: Option<LayerUse>,
    /// The layer that decides, if there is one.
    pub decision: Option<LayerUse>,
    /// The layer that signals wishes to the other end; without it they swap this end.
    pub signal: Option<LayerUse>,
    /// The layer that says to whom signals go, for a link with several stations.
    pub peer: Option<LayerUse>,
}
