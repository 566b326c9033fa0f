//! Functions and filters of the checked program: plain data.

use super::expression::Expression;
use super::program::{EntityId, KindId, Local, LocalId};
use super::statement::Block;
use super::value::{Type, Value};
use crate::source::Span;

/// A function of values; it reads what its expressions name, and writes only its locals.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The entity whose fields, keys and parameters it may read; none for a free function.
    pub entity: Option<EntityId>,
    /// Whose instance it reads as `Instance::Own`.
    pub kind: Option<KindId>,
    /// Its parameters, then its other locals.
    pub locals: Vec<Local>,
    /// How many of the locals are parameters.
    pub parameters: u32,
    /// What those parameters are that a call leaves out.
    pub defaults: Vec<Option<Value>>,
    /// The message whose attributes or length it reads, right behind its parameters among the
    /// locals; a call hands it over as its last argument, an [`Expression`] that reads a message.
    pub message: Option<LocalId>,
    /// Whether it reads the instant's header.
    pub reads_header: bool,
    /// What it gives. Of one in C: [`Type::Nothing`] if it only does something, [`Type::Message`]
    /// if it rewrites the data that it is given.
    pub result: Type,
    /// Whether it is written in C: `extern`. A parameter of type [`Type::Message`] is then given
    /// the data of a message, one of an extern type the field itself.
    pub external: bool,
    /// True for `extern … in runtime`: its C is the part `sl_NAME` of the runtime.
    pub in_runtime: bool,
    /// True if it overwrites its data, which keeps its length.
    pub rewrites: bool,
    /// Whether it is written in C or calls what is: each call of it counts.
    pub calls_c: bool,
    /// What it does; none for `extern`.
    pub body: Option<Block>,
    /// Where it is written.
    pub span: Span,
}

impl Function {
    /// How many arguments a call gives: its parameters, and the message that it looks at. In state
    /// trees the instance comes behind them, if it reads one of several.
    pub fn arguments(&self) -> usize {
        self.parameters as usize + usize::from(self.message.is_some())
    }

    /// The kind of sessions of which it is: a session that comes and goes is its last parameter.
    pub fn asks(&self) -> Option<KindId> {
        let last = self.parameters.checked_sub(1)?;
        let Type::Instance(kind) = self.locals[last as usize].kind else {
            return None;
        };
        Some(kind)
    }
}

/// A word filter (Morpheus 3): it runs over bytes, word by word.
#[derive(Clone, Debug)]
pub struct Filter {
    /// Its name.
    pub name: String,
    /// Its parameters, then its state, then other locals.
    pub locals: Vec<Local>,
    /// How many of the locals are parameters.
    pub parameters: u32,
    /// What those parameters are that a call leaves out.
    pub defaults: Vec<Option<Value>>,
    /// Its state's beginning, in order.
    pub state: Vec<(LocalId, Expression)>,
    /// Holds the word of this turn.
    pub word: LocalId,
    /// Hold how much there is, as far as it reads that.
    pub measures: Measures,
    /// Bytes a word: 1, 2, 4 or 8. What is missing of the last word is zero.
    pub unit: u32,
    /// Whether the first byte of a word is the most significant.
    pub big: bool,
    /// Whether it yields what replaces what it read. A word that is yielded for one of which bytes
    /// are missing has as many bytes as were there.
    pub rewrites: bool,
    /// Whether it yields just one word for each, so that the length stays.
    pub keeps_length: bool,
    /// Whether it may yield more than it takes, and so never writes where it reads.
    pub grows: bool,
    /// Whether it runs over whole words only; data of another length is refused before.
    pub whole: bool,
    /// What is done for each word.
    pub each: Block,
    /// What is done for the last word where bytes of it are missing; none where that is the same as
    /// for each.
    pub tail: Option<Block>,
    /// What is done at the end.
    pub finish: Block,
    /// What it gives in the end.
    pub result: Option<Expression>,
    /// When a field is right, too, or instead.
    pub same: Vec<Same>,
    /// Where it is written.
    pub span: Span,
}

/// The locals of a filter that say how much there is; none for what it does not read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measures {
    /// `length`: bytes in all, over all runs of them.
    pub length: Option<LocalId>,
    /// `missing`: bytes of the word at hand that are not there.
    pub missing: Option<LocalId>,
    /// `place`: words before the one at hand.
    pub place: Option<LocalId>,
}

/// When a field that is checked through a filter is right that does not hold its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Same {
    /// `where 0xffff is 0`: if it holds the first where the result is the second.
    Held(u64, u64),
    /// `where itself is 0`: if that is the result over bytes in which it stands. Where these are
    /// sure to begin so that it stands at a multiple of its width, it is summed as it stands: zero
    /// until it is written.
    Itself(u64),
}
