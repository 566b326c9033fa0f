//! Traffic along the common path: frames that follow each other as those of a busy peer do.
//!
//! In: a trace. Out: the same, in which many a frame that came through is followed by others: the
//! next of its kind, which is found by trying which fields of its headers count on.

use crate::headers::changed;
use crate::random::Random;
use crate::run::supplied;
use stackloom::simulate::expression::Evaluation;
use stackloom::simulate::header;
use stackloom::simulate::reference::Reference;
use stackloom::simulate::stack::Stack;
use stackloom::simulate::state::Emitted;
use stackloom::simulate::trace::{Call, Driver, Seen, Step, Trace};
use stackloom::simulate::value::{Datum, fit};
use stackloom::tool::case::parts::parts;
use stackloom::types::header::Rule;
use stackloom::types::program::{HeaderFieldId, LinkId, Program};
use stackloom::types::value::Type;

/// A field of the headers of a frame: of which header, counted from the link on, and which field.
type Place = (usize, HeaderFieldId);

/// A trace in which frames follow each other.
pub fn with_trains(program: &Program, mut trace: Trace, random: &mut Random) -> Trace {
    let (config, limits) = (trace.config.clone(), trace.limits);
    let externs = supplied(program);
    let reference = Reference::new(program);
    let Some(mut stack) = Stack::start(reference, program, externs, config, limits, trace.start_ns)
    else {
        return trace;
    };
    let mut late_ns = 0;
    for mut step in std::mem::take(&mut trace.steps) {
        step.now_ns += late_ns;
        let went = went(&stack.step(&step));
        trace.steps.push(step.clone());
        let Call::Input(link, frames) = &step.call else {
            continue;
        };
        let Some(frame) = frames.last().filter(|_| went && random.percent(50)) else {
            continue;
        };
        let mut train = Train {
            program,
            stack: &mut stack,
            now_ns: step.now_ns,
            link: *link,
            frame: frame.clone(),
            counts: Vec::new(),
        };
        for _ in 0..2 + random.below(6) {
            let step = Step {
                now_ns: step.now_ns,
                call: Call::Input(*link, vec![train.next(random)]),
                takes: step.takes,
            };
            train.stack.step(&step);
            trace.steps.push(step);
        }
        late_ns += random.below(3) as u64;
    }
    trace
}

/// Whether what came in went through.
fn went(seen: &Seen) -> bool {
    let mut outputs = seen.outputs.iter();
    outputs.any(|output| matches!(output, Emitted::Deliver { .. }))
}

struct Train<'t, 'p> {
    program: &'p Program,
    stack: &'t mut Stack<'p, Reference<'p>>,
    now_ns: u64,
    link: LinkId,
    /// The last one.
    frame: Vec<u8>,
    /// What counts on from one to the next.
    counts: Vec<Place>,
}

impl Train<'_, '_> {
    /// A frame that goes through, if it is found.
    fn next(&mut self, random: &mut Random) -> Vec<u8> {
        let numbers = self.numbers();
        let mut tries = vec![self.counts.clone(), Vec::new(), numbers.clone()];
        tries.extend(numbers.iter().map(|one| vec![*one]));
        tries.extend((0..6).map(|_| {
            let some = numbers.iter().filter(|_| random.percent(50));
            some.copied().collect()
        }));
        for counts in tries {
            let frame = self.counted_on(&counts);
            let mut stack = self.stack.clone();
            let step = Step {
                now_ns: self.now_ns,
                call: Call::Input(self.link, vec![frame.clone()]),
                takes: true,
            };
            if went(&stack.step(&step)) {
                (self.frame, self.counts) = (frame, counts);
                break;
            }
        }
        self.frame.clone()
    }

    /// The fields that may count on.
    fn numbers(&self) -> Vec<Place> {
        let mut state = self.stack.state().clone();
        let (parts, _) = parts(self.program, &mut state, self.link, &self.frame);
        let mut all = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            let fields = self.program.headers[part.header.at()].fields.iter();
            for (field, own) in fields.enumerate() {
                let counts = matches!(own.kind, Type::Unsigned(8..) | Type::Sequence(_))
                    && matches!(own.rule, Rule::Given | Rule::Default(_))
                    && own.present.is_none();
                all.extend(counts.then_some((at, HeaderFieldId(field as u32))));
            }
        }
        all
    }

    /// The last frame, in which these fields are one more, and the sums are right.
    fn counted_on(&self, counts: &[Place]) -> Vec<u8> {
        let mut state = self.stack.state().clone();
        let mut frame = self.frame.clone();
        let (parts, _) = parts(self.program, &mut state, self.link, &frame);
        for (at, part) in parts.into_iter().enumerate().rev() {
            let behind = part.at + part.length;
            let own = counts.iter().filter(|(of, _)| *of == at);
            let given = own.map(|(_, field)| {
                let instant = &mut Default::default();
                let state = &mut state;
                let mut evaluation = Evaluation { state, instant };
                let bytes = &frame[part.at..behind];
                let value = header::read(&mut evaluation, part.header, *field, bytes);
                let kind = &self.program.headers[part.header.at()].fields[field.at()].kind;
                (*field, Datum::Number(fit(kind, value.number() + 1)))
            });
            let given = Vec::from_iter(given);
            let data = frame[behind..behind + part.data].to_vec();
            frame = changed(self.program, &mut state, &frame, part, &given, &data);
        }
        frame
    }
}
