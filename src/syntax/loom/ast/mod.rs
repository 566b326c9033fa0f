//! The syntax tree of one Loom file.
//!
//! It says what is written, in the order in which it is written, and nothing about what it means:
//! names are not resolved, and nothing is checked but the grammar. Every node has the span of its
//! text. Words stand for themselves: an event called `deliver` is a [`Name`] with that text.
//!
//! Where the grammar offers two ways to write one thing, the tree has one: what follows an `else`
//! is a block, also where a single statement was written; `await e` and `until e` have one case
//! with an empty block.

#![expect(
    clippy::large_enum_variant,
    reason = "a tree is read far more often than it is moved, and boxes would burden every reader"
)]

mod expression;
mod header;
mod item;
mod stack;
mod statement;

pub use expression::*;
pub use header::*;
pub use item::*;
pub use stack::*;
pub use statement::*;

use crate::source::Span;

/// A word that names something.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name {
    /// The word.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// Names with dots between them: `network.service`, `emission.sent`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Path {
    /// At least one.
    pub names: Vec<Name>,
    /// All of it.
    pub span: Span,
}

/// What is said about a node in comments that are more than comments.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Notes {
    /// The lines of `///` before the node, without the slashes and one space.
    pub documentation: Vec<String>,
    /// The `//=` before the node or behind it.
    pub rules: Vec<CitedRule>,
}

/// `//= rfc6298#5  (5.4)`: the rule of a specification that this node keeps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CitedRule {
    /// Document and section: `rfc6298#5`.
    pub reference: String,
    /// The rule in our own words, or its number; perhaps empty.
    pub remark: String,
    /// The comment.
    pub span: Span,
}

/// One file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct File {
    /// What it uses.
    pub uses: Vec<Use>,
    /// What it declares.
    pub declarations: Vec<Declaration>,
    /// The whole text.
    pub span: Span,
}

/// `use order.sequencer`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Use {
    /// Which file or folder.
    pub path: Path,
    /// All of it.
    pub span: Span,
}

/// What may stand at the top of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Declaration {
    /// What two layers agree on.
    Service(Service),
    /// A layer with all items that follow it.
    Layer(Layer),
    /// An item of the folder's layer.
    Item(Item),
    /// A graph of layers.
    Stack(Stack),
    /// A policy, which swaps the layers of slots.
    Policy(Policy),
}

/// `service network { … }`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Service {
    /// Its documentation.
    pub notes: Notes,
    /// What it is called.
    pub name: Name,
    /// The service whose items it has as well.
    pub extends: Option<Name>,
    /// What it gives.
    pub items: Vec<ServiceItem>,
    /// All of it.
    pub span: Span,
}

/// What a service may hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ServiceItem {
    /// A type that the providing layer defines, or that the service does.
    Type(TypeDefinition),
    /// An enumeration.
    Enum(Enum),
    /// What travels beside a message.
    Attribute(Attribute),
    /// What the providing layer can be asked.
    Function(Function),
    /// An event.
    Notice(Notice),
}

/// `worker arp(…) provides resolution requires link …`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layer {
    /// Its documentation.
    pub notes: Notes,
    /// How it relates its sessions.
    pub shape: Shape,
    /// What it is called.
    pub name: Name,
    /// Constants of a composition.
    pub parameters: Vec<Parameter>,
    /// The services above it.
    pub provides: Vec<Name>,
    /// Services that it hands on from below, `link?`: it provides those that the layer below does.
    pub hands_on: Vec<Name>,
    /// The services below it.
    pub requires: Vec<Requirement>,
    /// The services beside it.
    pub uses: Vec<SideJoint>,
    /// All that follows, to the next layer or stack.
    pub items: Vec<Item>,
    /// From its shape to its last item.
    pub span: Span,
}

/// How a layer relates its upper and lower sessions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// One to one.
    Worker,
    /// Many above, one below.
    Multiplexor,
    /// One above, many below.
    Router,
}

/// `requires link`, `requires short: messages`, `requires ways[]: messages`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Requirement {
    /// Which of several lower joints this is.
    pub joint: Option<Name>,
    /// True if this is a list of joints, as long as the stack says.
    pub is_list: bool,
    /// What it must give.
    pub services: Vec<Name>,
    /// Services that it may give: `booster?`. A layer without one does not hear its notices.
    pub optional: Vec<Name>,
    /// All of it.
    pub span: Span,
}

/// `uses resolver: resolution`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SideJoint {
    /// What this layer calls it.
    pub name: Name,
    /// What it gives.
    pub service: Name,
    /// All of it.
    pub span: Span,
}

/// `lifetime: time = 60 s where lifetime > 0 s`; also a key of an instance.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// Its documentation.
    pub notes: Notes,
    /// What it is called.
    pub name: Name,
    /// `rewritten`: a function in C overwrites this data.
    pub rewritten: Option<Span>,
    /// Its type.
    pub of: Type,
    /// What it is if nothing is given.
    pub default: Option<Expression>,
    /// What must hold.
    pub condition: Option<Expression>,
    /// All of it.
    pub span: Span,
}

/// A type as it is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Type {
    /// What it is.
    pub kind: TypeKind,
    /// All of it.
    pub span: Span,
}

/// The ways to write a type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TypeKind {
    /// `u32`, `seq16`, `address`
    Named(Name),
    /// `queue<message>[3]`, `bytes[20]`, `stream<seq32>[buffer](initial + 1)`
    Container {
        /// Which container.
        name: Name,
        /// What it holds, or what its positions are.
        element: Option<Box<Type>>,
        /// How much it holds.
        capacity: Option<Box<Expression>>,
        /// `bytes[at most 8]`: perhaps less.
        at_most: bool,
        /// `by seq16`: the numbers of a window.
        by: Option<Box<Type>>,
        /// What it starts from.
        start: Vec<Expression>,
    },
    /// `enum { listening, established }`
    Enum(Vec<Name>),
    /// `u48?`
    Optional(Box<Type>),
}

impl Name {
    /// Whether it is this word.
    pub fn is(&self, word: &str) -> bool {
        self.text == word
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl Path {
    /// The name, if it is a single one.
    pub fn single(&self) -> Option<&Name> {
        match self.names.as_slice() {
            [name] => Some(name),
            [] | [_, _, ..] => None,
        }
    }
}

impl std::fmt::Display for Path {
    fn fmt(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        for (place, name) in self.names.iter().enumerate() {
            if place > 0 {
                formatter.write_str(".")?;
            }
            name.fmt(formatter)?;
        }
        Ok(())
    }
}
