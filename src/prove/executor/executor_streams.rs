//! Symbolic execution of streams.
//!
//! In: an operation that changes a stream. Out: results and another state of the stream, of which
//! no more is known than what the operation promises.

use super::{Executor, Frame};
use crate::ir::effects::{Effects, Resource};
use crate::ir::op::{Arithmetic, Compare, Op, Place, Question};
use crate::ir::types::ones;
use crate::ir::{Instruction, Stored, Type};
use crate::prove::symbolic::{State, Symbolic};
use crate::prove::terms::Term;

use Symbolic::Plain;

impl Executor<'_> {
    /// Releases the bytes of a stream before a position. If the position lies in the stream, and
    /// that has no gaps, it begins there then, and its end stays.
    pub(super) fn releases(
        &mut self,
        frame: &mut Frame<'_>,
        instruction: &Instruction,
        place: Place,
    ) -> Vec<Symbolic> {
        let Stored::Stream(bits, _) = self.module.field(place.kind, place.field).stored else {
            panic!("bytes are released in streams alone");
        };
        let given = instruction.operands.iter();
        let mut of: Vec<Term> = given.map(|one| frame.plain(*one)).collect();
        let to = of.pop().expect("it is given a position");
        let ends = [Question::Begin, Question::End];
        let before = ends.map(|asked| self.asked(&frame.state, asked, place, &of));
        let results = self.abstracted(frame, instruction);
        if self.module.streams_with_gaps().contains(&place) {
            return results;
        }
        let behind = ends.map(|asked| self.asked(&frame.state, asked, place, &of));
        let most = self.terms.number(32, ones(bits));
        let mut within = |one: Term, than: Term| {
            let distance = self.terms.subtract(one, than);
            self.terms.arithmetic(Arithmetic::And, distance, most)
        };
        let (freed, held) = (within(to, before[0]), within(before[1], before[0]));
        let begins = self.terms.arithmetic(Arithmetic::And, to, most);
        let fits = self.terms.compare(Compare::Ule, freed, held);
        let same = [(behind[0], begins), (behind[1], before[1])];
        let same = same.into_iter().chain(match results[..] {
            [Plain(result)] => Some((result, freed)),
            _ => None,
        });
        for (one, other) in same.collect::<Vec<(Term, Term)>>() {
            let same = self.terms.equal(one, other);
            let fact = self.terms.implies(fits, same);
            self.assumed.push(fact);
        }
        results
    }

    /// Returns the answer of a stream in a state.
    fn asked(&mut self, state: &State, question: Question, place: Place, of: &[Term]) -> Term {
        let op = Op::Ask(question, place);
        let mut effects = Effects::of(self.module, &op);
        effects.reads.remove(&Resource::Bytes);
        let known = (&format!("{op:?}")[..], of.to_vec());
        let answers = self.applied(&mut state.clone(), known, &effects, &[Type::WORD]);
        match answers[..] {
            [Plain(answer)] => answer,
            _ => unreachable!("a question has one answer"),
        }
    }
}
