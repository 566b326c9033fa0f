//! Values at run time, and the frame of a function that runs.
//!
//! In: the results of operations. Out: the operands of the next ones. A frame moves handles and
//! copies all else, so a handle that is used twice, or never, is found where that happens.

use crate::ir::function::Function;
use crate::ir::{BlockId, Type, Value};
use std::rc::Rc;

/// A result, or why the compiler must not have written this operation.
pub type Trapped<T> = Result<T, String>;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Held {
    /// No operation has computed it.
    Nothing,
    /// A handle that was used up.
    Moved,
    /// A number, its unused bits zero; or the index of an instance; or the bits of a number with a
    /// fraction.
    Number(u64),
    /// Bytes, or what C has for a value of an opaque type; of a text its bytes.
    Bytes(Rc<[u8]>),
    /// A message.
    Message(Box<Handle>),
    /// Bytes of a message that may be read.
    View(View),
}

impl Held {
    /// A bit.
    pub fn bit(set: bool) -> Held {
        Held::Number(u64::from(set))
    }

    /// A length, an offset or an index.
    pub fn word(number: usize) -> Held {
        Held::Number(number as u64)
    }

    /// Bytes.
    pub fn bytes(bytes: &[u8]) -> Held {
        Held::Bytes(bytes.into())
    }

    /// A message.
    pub fn message(handle: Handle) -> Held {
        Held::Message(Box::new(handle))
    }

    /// A place of a type to which nothing was written.
    pub fn zero(of: Type) -> Held {
        match of {
            Type::Int(_) | Type::Instance(_) | Type::Float(_) => Held::Number(0),
            Type::Opaque(_) => Held::bytes(&[]),
            Type::Bytes(length) => Held::bytes(&vec![0; length as usize]),
            Type::Message | Type::View => Held::Nothing,
        }
    }

    /// The number that it is.
    pub fn number(&self) -> Trapped<u64> {
        match self {
            Held::Number(number) => Ok(*number),
            other => Err(format!("a number is expected, not {other:?}")),
        }
    }

    /// The message that it is.
    pub fn as_message(&self) -> Option<&Handle> {
        match self {
            Held::Message(handle) => Some(handle),
            _other => None,
        }
    }

    fn is_linear(&self) -> bool {
        matches!(self, Held::Message(_))
    }
}

/// A buffer, and how often its place was taken before: so an old view of the place is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    pub(super) at: usize,
    pub(super) taken: u64,
}

/// A message.
#[derive(Clone, Debug, PartialEq)]
pub struct Handle {
    pub(super) buffer: Buffer,
    /// Bytes of the buffer before it.
    pub start: usize,
    /// Its bytes.
    pub length: usize,
    /// It came in by a link, so that its fate is counted.
    pub came_in: bool,
    /// In which sending call an application gave it.
    pub sent: Option<u64>,
    /// Its attributes.
    pub attributes: Vec<Held>,
}

/// Bytes of a message that may be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    pub(super) buffer: Buffer,
    pub(super) base: usize,
    /// Their number.
    pub length: usize,
}

impl Handle {
    /// Its bytes.
    pub fn look(&self) -> View {
        View {
            buffer: self.buffer,
            base: self.start,
            length: self.length,
        }
    }

    /// The stripped bytes right before it, so many of them.
    pub fn before(&self, count: usize) -> Trapped<View> {
        let view = self.around(count)?;
        view.part(0, count)
    }

    /// Its bytes, and so many stripped bytes before them.
    pub fn around(&self, count: usize) -> Trapped<View> {
        let mut whole = self.look();
        let base = self.start.checked_sub(count);
        whole.base = base.ok_or_else(|| format!("{count} bytes do not stand before a message"))?;
        whole.length += count;
        Ok(whole)
    }

    /// Puts bytes before it.
    pub fn push(&mut self, count: usize) -> Trapped<()> {
        let start = self.start.checked_sub(count);
        self.start = start.ok_or_else(|| format!("{count} bytes have no room before a message"))?;
        self.length += count;
        Ok(())
    }

    /// The first bytes are taken off.
    pub fn pull(&mut self, count: usize) -> Trapped<()> {
        let length = self.length.checked_sub(count);
        let length = length.ok_or_else(|| format!("{count} of {} bytes", self.length))?;
        self.length = length;
        self.start += count;
        Ok(())
    }

    /// All behind the first bytes is cut off.
    pub fn cut(&mut self, count: usize) -> Trapped<()> {
        if count > self.length {
            return Err(format!("{count} of {} bytes", self.length));
        }
        self.length = count;
        Ok(())
    }

    /// Stripped bytes are part of it again, from this byte of its buffer on; false if it begins
    /// before.
    pub fn restore(&mut self, start: usize) -> bool {
        let is_stripped = start <= self.start;
        if is_stripped {
            self.length += self.start - start;
            self.start = start;
        }
        is_stripped
    }
}

impl View {
    /// A part of it.
    pub fn part(self, at: usize, length: usize) -> Trapped<View> {
        if at + length > self.length {
            return Err(format!("{at} + {length} of {} bytes", self.length));
        }
        let base = self.base + at;
        Ok(View {
            base,
            length,
            ..self
        })
    }
}

/// The values of a function that runs.
#[derive(Debug)]
pub struct Frame<'f> {
    /// The function.
    pub function: &'f Function,
    values: Vec<Held>,
}

impl<'f> Frame<'f> {
    /// A function that begins with these arguments.
    pub fn new(function: &'f Function, arguments: Vec<Held>) -> Frame<'f> {
        let mut frame = Frame {
            function,
            values: vec![Held::Nothing; function.values.len()],
        };
        let parameters = function.parameters();
        assert_eq!(
            parameters.len(),
            arguments.len(),
            "{} is given its arguments",
            function.name
        );
        for (parameter, argument) in parameters.iter().zip(arguments) {
            frame.set(*parameter, argument);
        }
        frame
    }

    /// Control goes to a block, whose parameters get these values.
    pub fn enter(&mut self, block: BlockId, values: Vec<Held>) -> Trapped<()> {
        let parameters = &self.function.block(block).parameters;
        if parameters.len() != values.len() {
            let (own, given) = (parameters.len(), values.len());
            return Err(format!(
                "b{} has {own} parameters and gets {given}",
                block.0
            ));
        }
        for (parameter, value) in parameters.iter().zip(values) {
            self.values[parameter.at()] = value;
        }
        Ok(())
    }

    /// A value is computed.
    pub fn set(&mut self, value: Value, held: Held) {
        self.values[value.at()] = held;
    }

    /// A value, which stays.
    pub fn get(&self, value: Value) -> Trapped<&Held> {
        match &self.values[value.at()] {
            Held::Nothing => Err(format!("%{} has no value", value.0)),
            Held::Moved => Err(format!("%{} has moved away", value.0)),
            held => Ok(held),
        }
    }

    /// A value; a handle moves away.
    pub fn take(&mut self, value: Value) -> Trapped<Held> {
        let held = self.get(value)?;
        match held.is_linear() {
            true => Ok(std::mem::replace(&mut self.values[value.at()], Held::Moved)),
            false => Ok(held.clone()),
        }
    }

    /// Values in order; handles move away.
    pub fn take_all(&mut self, values: &[Value]) -> Trapped<Vec<Held>> {
        values.iter().map(|value| self.take(*value)).collect()
    }

    /// A number.
    pub fn number(&self, value: Value) -> Trapped<u64> {
        self.get(value)?.number()
    }

    /// The index of an instance, or another number of 32 bits.
    pub fn word(&self, value: Value) -> Trapped<u32> {
        let number = self.number(value)?;
        u32::try_from(number).map_err(|_| format!("%{} has more than 32 bits", value.0))
    }

    /// The bits of a number.
    pub fn bits(&self, value: Value) -> Trapped<u8> {
        let bits = self.function.type_of(value).bits();
        bits.ok_or_else(|| format!("%{} is no number", value.0))
    }

    /// Bytes.
    pub fn bytes(&self, value: Value) -> Trapped<Rc<[u8]>> {
        match self.get(value)? {
            Held::Bytes(bytes) => Ok(bytes.clone()),
            other => Err(format!("bytes are expected, not {other:?}")),
        }
    }

    /// A view.
    pub fn view(&self, value: Value) -> Trapped<View> {
        match self.get(value)? {
            Held::View(view) => Ok(*view),
            other => Err(format!("a view is expected, not {other:?}")),
        }
    }

    /// A message, which stays.
    pub fn message(&self, value: Value) -> Trapped<&Handle> {
        let held = self.get(value)?;
        let message = held.as_message();
        message.ok_or_else(|| format!("a message is expected, not {held:?}"))
    }

    /// A message, which moves away.
    pub fn take_message(&mut self, value: Value) -> Trapped<Handle> {
        match self.take(value)? {
            Held::Message(handle) => Ok(*handle),
            other => Err(format!("a message is expected, not {other:?}")),
        }
    }

    /// A handle that nobody has used up.
    pub fn left(&self) -> Option<Value> {
        let left = self.values.iter().position(Held::is_linear);
        left.map(|at| Value(at as u32))
    }
}
