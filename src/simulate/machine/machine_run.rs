//! Functions: in, one of the module and its arguments; out, how it ended. Blocks run one behind
//! another; a loop and a kernel call a function for each turn and each word.

use super::Machine;
use super::agenda::Pending;
use super::values::{Frame, Held, Trapped};
use crate::ir::op::{Op, Piece};
use crate::ir::{BlockId, Edge, FunctionId, Instruction, KernelId, Role, Terminator, Value};

/// The end of a function.
#[derive(Debug)]
pub enum Ending {
    /// It returned this.
    Returned(Vec<Held>),
    /// This event is handled within the same step.
    Tail(Pending),
    /// The first event is, if some were put on the agenda since a mark.
    Take(usize),
    /// A guard left it, and nothing has been done.
    Left,
}

/// The words that a kernel yields.
#[derive(Clone, Debug)]
pub struct Yields {
    bytes: Vec<u8>,
    unit: usize,
    /// Bytes of the word at hand that were there: as many come out.
    given: usize,
    big: bool,
}

enum Next {
    Block(BlockId),
    End(Ending),
}

impl Machine<'_> {
    /// Calls a function that returns.
    pub(super) fn call(&mut self, id: FunctionId, arguments: Vec<Held>) -> Vec<Held> {
        match self.run_function(id, arguments) {
            Ending::Returned(results) => results,
            other => panic!(
                "{} is called, and ends in {other:?}",
                self.module.function(id).name
            ),
        }
    }

    /// Runs a function to its end.
    pub(super) fn run_function(&mut self, id: FunctionId, arguments: Vec<Held>) -> Ending {
        let function = self.module.function(id);
        let mut frame = Frame::new(function, arguments);
        let mut at = BlockId(0);
        loop {
            let block = function.block(at);
            let trapped = |what: &dyn std::fmt::Debug, trap: String| -> ! {
                panic!("{} b{}: {what:?}: {trap}", function.name, at.0)
            };
            for instruction in &block.instructions {
                let leaves = match &instruction.op {
                    Op::Exit(_) => frame.number(instruction.operands[0]).map(|bit| bit != 0),
                    _op => self.operate(&mut frame, instruction).map(|()| false),
                };
                match leaves {
                    Ok(true) => return Ending::Left,
                    Ok(false) => {}
                    Err(trap) => trapped(&instruction.op, trap),
                }
            }
            match self.leave_block(&mut frame, &block.terminator) {
                Ok(Next::Block(next)) => at = next,
                Ok(Next::End(ending)) => {
                    if let Some(left) = frame.left() {
                        let trap = format!("%{} is a handle that nobody uses up", left.0);
                        trapped(&block.terminator, trap);
                    }
                    return ending;
                }
                Err(trap) => trapped(&block.terminator, trap),
            }
        }
    }

    fn leave_block(&mut self, frame: &mut Frame<'_>, end: &Terminator) -> Trapped<Next> {
        match end {
            Terminator::Jump(edge) => follow(frame, edge, Vec::new()),
            Terminator::Branch {
                condition,
                then,
                otherwise,
                ..
            } => match frame.number(*condition)? {
                0 => follow(frame, otherwise, Vec::new()),
                _ => follow(frame, then, Vec::new()),
            },
            Terminator::Switch {
                value,
                cases,
                otherwise,
            } => {
                let value = frame.number(*value)?;
                let case = cases.iter().find(|(case, _, _)| *case == value);
                let edge = case.map_or(otherwise, |(_, _, edge)| edge);
                follow(frame, edge, Vec::new())
            }
            Terminator::Try {
                attempt,
                operands,
                done,
                failed,
                ..
            } => match self.attempt(frame, attempt, operands)? {
                Ok(results) => follow(frame, done, results),
                Err(back) => follow(frame, failed, back),
            },
            Terminator::Return(values) => {
                let results = frame.take_all(values)?;
                if results.len() != frame.function.results.len() {
                    return Err("it returns what it does not say".to_string());
                }
                Ok(Next::End(Ending::Returned(results)))
            }
            Terminator::Tail(event, values) => {
                reacts(frame)?;
                let arguments = frame.take_all(values)?;
                let event = Pending::new(event.target, arguments);
                Ok(Next::End(Ending::Tail(event)))
            }
            Terminator::Take(mark) => {
                reacts(frame)?;
                let mark = frame.word(*mark)?;
                Ok(Next::End(Ending::Take(mark as usize)))
            }
            Terminator::Never => Err("control comes here".to_string()),
        }
    }

    /// Calls, and what calls turn by turn.
    pub(super) fn call_out(
        &mut self,
        frame: &mut Frame<'_>,
        instruction: &Instruction,
    ) -> Trapped<()> {
        let operands = &instruction.operands[..];
        let results = match &instruction.op {
            Op::Call(function) => {
                let arguments = frame.take_all(operands)?;
                self.call(*function, arguments)
            }
            Op::Loop(body, most) => {
                let (count, rest) = operands.split_first().ok_or("a count is missing")?;
                let count = frame.number(*count)?.min(u64::from(*most));
                let given = frame.take_all(rest)?;
                self.turns(*body, count as u32, given)?
            }
            Op::Run(kernel, pieces) => {
                let count = self.module.kernels[kernel.at()].parameters.len();
                let (given, rest) = operands.split_at(count);
                let given = frame.take_all(given)?;
                let data = self.pieces(frame, pieces, rest)?;
                self.run_kernel(*kernel, given, &data).0
            }
            Op::Rewrite(kernel) => {
                let (message, given) = operands.split_first().ok_or("a message is missing")?;
                let given = frame.take_all(given)?;
                let mut message = frame.take_message(*message)?;
                let data = self.messages.data(&message).to_vec();
                let written = self.run_kernel(*kernel, given, &data).1;
                self.messages.replace(&mut message, &written)?;
                vec![Held::message(message)]
            }
            Op::Yield => {
                let number = frame.number(operands[0])?;
                let yields = self.yields.last_mut().ok_or("no kernel runs")?;
                let word = match yields.big {
                    true => number << (64 - 8 * yields.unit),
                    false => number.swap_bytes(),
                };
                let word = word.to_be_bytes();
                yields.bytes.extend(&word[..yields.given]);
                Vec::new()
            }
            other => unreachable!("{other:?} calls nothing"),
        };
        give_all(frame, instruction, results)
    }

    /// Runs a kernel over some bytes: its results, and the bytes that it yields.
    pub(super) fn run_kernel(
        &mut self,
        id: KernelId,
        parameters: Vec<Held>,
        data: &[u8],
    ) -> (Vec<Held>, Vec<u8>) {
        let kernel = &self.module.kernels[id.at()];
        let unit = usize::from(kernel.unit);
        let length = Held::word(data.len());
        let with = |more: Vec<Held>| [parameters.clone(), more].concat();
        let mut state = self.call(kernel.begins, with(vec![length.clone()]));
        self.yields.push(Yields {
            bytes: Vec::new(),
            unit,
            given: unit,
            big: kernel.big,
        });
        for (place, word) in data.chunks(unit).enumerate() {
            let mut bytes = [0; 8];
            bytes[..word.len()].copy_from_slice(word);
            let number = match kernel.big {
                true => u64::from_be_bytes(bytes) >> (64 - 8 * unit),
                false => u64::from_le_bytes(bytes),
            };
            self.given(word.len());
            let missing = unit - word.len();
            let tail = kernel.tail.filter(|_| missing > 0);
            let [place, missing] = [place, missing].map(Held::word);
            state.extend([length.clone(), place, missing, Held::Number(number)]);
            let step = tail.unwrap_or(kernel.steps);
            state = self.call(step, with(state));
        }
        self.given(unit);
        state.extend([length, Held::word(data.len().div_ceil(unit))]);
        let results = self.call(kernel.finishes, with(state));
        let yields = self.yields.pop();
        (results, yields.map_or(Vec::new(), |yields| yields.bytes))
    }

    fn given(&mut self, count: usize) {
        if let Some(yields) = self.yields.last_mut() {
            yields.given = count;
        }
    }

    /// The bytes of pieces behind one another.
    fn pieces(&self, frame: &Frame<'_>, pieces: &[Piece], operands: &[Value]) -> Trapped<Vec<u8>> {
        let mut data = Vec::new();
        let mut rest = operands.iter();
        for piece in pieces {
            match piece {
                Piece::Bytes => {
                    let (Some(view), Some(from), Some(to)) =
                        (rest.next(), rest.next(), rest.next())
                    else {
                        return Err("a piece of bytes is missing".to_string());
                    };
                    let (from, to) = (frame.word(*from)? as usize, frame.word(*to)? as usize);
                    let length = to.checked_sub(from);
                    let length = length.ok_or_else(|| format!("{to} lies before {from}"))?;
                    let part = frame.view(*view)?.part(from, length)?;
                    data.extend_from_slice(self.messages.viewed(part)?);
                }
                Piece::Zeros(count) => data.resize(data.len() + *count as usize, 0),
                Piece::Byte => {
                    let byte = rest.next().ok_or("a byte is missing")?;
                    data.push(frame.number(*byte)? as u8);
                }
            }
        }
        Ok(data)
    }

    /// All turns of a loop: the carried values behind the last.
    fn turns(&mut self, body: FunctionId, count: u32, mut given: Vec<Held>) -> Trapped<Vec<Held>> {
        let carried = self.module.function(body).results.len() - 1;
        let captured = given.len() - carried;
        let mut carried = given.split_off(captured);
        if given.iter().any(|held| held.as_message().is_some()) {
            return Err("a handle is carried from turn to turn, not captured".to_string());
        }
        for turn in 0..count {
            let mut arguments = vec![Held::Number(turn.into())];
            arguments.extend(given.iter().cloned());
            arguments.append(&mut carried);
            carried = self.call(body, arguments);
            let goes_on = carried.remove(0).number()? != 0;
            if !goes_on {
                break;
            }
        }
        Ok(carried)
    }
}

/// Control goes along an edge; the results of an attempt are the last parameters.
fn follow(frame: &mut Frame<'_>, edge: &Edge, results: Vec<Held>) -> Trapped<Next> {
    let mut values = frame.take_all(&edge.arguments)?;
    values.extend(results);
    frame.enter(edge.block, values)?;
    Ok(Next::Block(edge.block))
}

/// Only a reaction, or what is tried before one, hands an event on.
fn reacts(frame: &Frame<'_>) -> Trapped<()> {
    match frame.function.role {
        Role::Reaction | Role::Fast => Ok(()),
        Role::Plain | Role::Pure | Role::Entry => {
            Err("only a reaction hands an event on".to_string())
        }
    }
}

/// The results of an instruction.
pub(super) fn give_all(
    frame: &mut Frame<'_>,
    instruction: &Instruction,
    results: Vec<Held>,
) -> Trapped<()> {
    if results.len() != instruction.results.len() {
        return Err(format!("{} results are given", results.len()));
    }
    for (result, held) in instruction.results.iter().zip(results) {
        frame.set(*result, held);
    }
    Ok(())
}
