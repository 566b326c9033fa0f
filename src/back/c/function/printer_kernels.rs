//! Kernels that run: in, operations; out, calls of their functions.

use super::Printer;
use super::kernel::reach;
use super::kernel::sum::{adds_words, short_length};
use super::printer_attempts::Attempted;
use super::printer_operations::advanced;
use super::value::Given;
use crate::back::c::prototype::Reach;
use crate::c::tree::{Expression as C, Statement as S, assign, atom, binary, call, call_statement};
use crate::ir::op::Piece;
use crate::ir::{KernelId, Value};

impl Printer<'_> {
    /// Runs a kernel over pieces of bytes.
    pub fn run(
        &mut self,
        id: KernelId,
        pieces: &[Piece],
        (operands, results): (&[Value], &[Value]),
        out: &mut Vec<S>,
    ) {
        let kernel = &self.stack.module.kernels[id.at()];
        let (params, rest) = operands.split_at(kernel.parameters.len());
        let mut given = self.within(reach(self.stack, kernel));
        given.extend(self.arguments(params, out));
        let name = &self.stack.names.kernels[id.at()];
        let run = results.first().and_then(|one| self.definitions.get(*one));
        let short = run.and_then(|run| short_length(&self.definitions, run));
        let short = short.filter(|_| adds_words(self.stack.module, kernel));
        let called = match (pieces, short) {
            (_, Some(length)) => {
                let (data, _) = self.view(rest[0], out);
                given.push(data);
                call(format!("{name}_of_{length}"), given)
            }
            ([Piece::Bytes], None) => {
                let (data, length) = self.piece(rest, out);
                given.extend([data, length]);
                call(name.clone(), given)
            }
            (several, None) => {
                let runs = self.runs(several, rest, out);
                given.extend([runs, atom(several.len().to_string())]);
                call(format!("{name}_over"), given)
            }
        };
        self.keep_results(kernel.finishes, called, results, out);
    }

    fn within(&self, reach: Reach) -> Vec<C> {
        match (reach, self.reach) {
            (Reach::Nothing, _) => Vec::new(),
            (Reach::Settings, Reach::Stack) => vec![atom("stack").behind("settings").address()],
            (Reach::Settings, _) => vec![atom("settings")],
            (Reach::Stack, _) => vec![atom("stack")],
        }
    }

    /// A piece of a view: its first byte, and how many.
    fn piece(&mut self, operands: &[Value], out: &mut Vec<S>) -> (C, C) {
        let (data, _) = self.view(operands[0], out);
        let from = self.settled(operands[1], "from", out);
        let to = self.code(operands[2], out);
        match from.constant() {
            Some(0) => (data, to),
            _ => (
                advanced(data, from.code.clone()),
                binary("-", to, from.code),
            ),
        }
    }

    /// An array of runs for pieces.
    fn runs(&mut self, pieces: &[Piece], operands: &[Value], out: &mut Vec<S>) -> C {
        let mut rest = operands;
        let mut runs = Vec::new();
        for piece in pieces {
            let count = match piece {
                Piece::Bytes => 3,
                Piece::Zeros(_) => 0,
                Piece::Byte => 1,
            };
            let (own, others) = rest.split_at(count);
            rest = others;
            let (data, length) = match piece {
                Piece::Bytes => self.piece(own, out),
                Piece::Zeros(count) => {
                    let name = self.local("zeros");
                    out.push(S::Declare {
                        kind: "const uint8_t".to_string(),
                        name: format!("{name}[{count}]"),
                        value: Some(atom("{0}")),
                    });
                    (atom(name), atom(count.to_string()))
                }
                Piece::Byte => {
                    let byte = self.number(own[0], out).narrow(8);
                    let byte = self.keep("byte", "uint8_t", byte, out);
                    (byte.address(), atom("1"))
                }
            };
            let text = [data, length].map(|code| crate::c::printer::expression(&code));
            runs.push(format!("{{{}}}", text.join(", ")));
        }
        let name = self.local("runs");
        out.push(S::Declare {
            kind: "const struct sl_run".to_string(),
            name: format!("{name}[{}]", pieces.len()),
            value: Some(atom(format!("{{{}}}", runs.join(", ")))),
        });
        atom(name)
    }

    /// The words of a message are replaced where they stand.
    pub fn rewrite(&mut self, id: KernelId, operands: &[Value], result: Value, out: &mut Vec<S>) {
        let message = self.message(operands[0]);
        let length = message.member("length");
        let place = [message.member("data"), length.clone()];
        let called = self.words_of(id, &operands[1..], (place.clone(), place), out);
        out.push(assign(length, called));
        self.hold(result, Given::Message(message));
    }

    /// The words of a message are replaced by those that a kernel yields, if there is a buffer for
    /// the old ones meanwhile, and room for the new ones.
    pub fn try_rewrite(&mut self, id: KernelId, operands: &[Value], out: &mut Vec<S>) -> Attempted {
        let message = self.message(operands[0]);
        let aside = self.local("aside");
        out.push(S::Declare {
            kind: format!("struct {}_buffer *", self.stack.names.stack),
            name: aside.clone(),
            value: None,
        });
        let from = [atom(&aside).behind("bytes"), message.member("length")];
        let room = call("room_of", vec![message.address()]).cast("uint32_t");
        let to = [message.member("data"), room];
        let written = self.words_of(id, &operands[1..], (from, to), out);
        let given = vec![atom("stack"), message.address(), atom(&aside).address()];
        let saved = call("set_aside", given);
        let given = vec![atom("stack"), message.address(), atom(aside), written];
        let mut tried = Attempted::new(binary("&&", saved, call("rewritten", given)));
        tried.results = vec![Given::Message(message.clone())];
        tried.back = vec![Given::Message(message)];
        tried
    }

    fn words_of(
        &mut self,
        id: KernelId,
        params: &[Value],
        (from, to): ([C; 2], [C; 2]),
        out: &mut Vec<S>,
    ) -> C {
        let kernel = &self.stack.module.kernels[id.at()];
        let mut given = self.within(reach(self.stack, kernel));
        given.extend(self.arguments(params, out));
        given.extend(from);
        given.extend(to);
        call(
            format!("{}_words", self.stack.names.kernels[id.at()]),
            given,
        )
    }

    /// A kernel yields a word.
    pub fn yield_word(&mut self, word: Value, out: &mut Vec<S>) {
        let word = self.number(word, out).wide(64);
        out.push(call_statement("put_word", vec![atom("words"), word]));
    }
}
