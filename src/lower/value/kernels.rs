//! Kernels: in, filters that run over bytes; out, the functions of their words, lowered once, and
//! the operations that run them.

use crate::ir::build::Builder;
use crate::ir::op::{Arithmetic, Op, Piece};
use crate::ir::{self, Kernel, KernelId, Role, Terminator, Type as Plain, Value};
use crate::lower::Lower;
use crate::lower::code::{Code, Name};
use crate::lower::shapes::parts;
use crate::types::expression::Expression;
use crate::types::program::{Filter, FilterId, LocalId};

/// The functions of a kernel.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Begins,
    Steps,
    Tail,
    Finishes,
}

impl<'a> Code<'_, 'a> {
    /// Runs a filter over a view: the parts of its result.
    pub fn run_filter(
        &mut self,
        filter: FilterId,
        arguments: &[Expression],
        data: Value,
    ) -> Vec<Value> {
        let arguments = self.values(arguments);
        let from = self.word(0);
        let to = self.value_of(Op::Length, &[data]);
        let pieces = vec![(Piece::Bytes, vec![data, from, to])];
        self.run_kernel(filter, &arguments, pieces)
    }

    /// Runs a filter over pieces of bytes, with the parts of its arguments.
    pub fn run_kernel(
        &mut self,
        filter: FilterId,
        arguments: &[Value],
        pieces: Vec<(Piece, Vec<Value>)>,
    ) -> Vec<Value> {
        let kernel = self.kernel(filter);
        let (pieces, operands): (Vec<Piece>, Vec<Vec<Value>>) = pieces.into_iter().unzip();
        let mut all = arguments.to_vec();
        all.extend(operands.into_iter().flatten());
        self.op(Op::Run(kernel, pieces), &all)
    }

    /// The kernel of a filter.
    pub fn kernel(&mut self, id: FilterId) -> KernelId {
        if let Some(known) = self.lower.kernels.get(&id) {
            return *known;
        }
        let program = self.lower.program;
        let filter = &program.filters[id.at()];
        let tail = filter.tail.as_ref().map(|_| Stage::Tail);
        let [begins, steps, finishes] =
            [Stage::Begins, Stage::Steps, Stage::Finishes].map(|stage| self.stage(filter, stage));
        let tail = tail.map(|stage| self.stage(filter, stage));
        let taken: Vec<&String> = self
            .lower
            .module
            .kernels
            .iter()
            .map(|one| &one.name)
            .collect();
        let numbered = (2..).map(|number| format!("{}.{number}", filter.name));
        let mut names = std::iter::once(filter.name.clone()).chain(numbered);
        let name = names.find(|name| !taken.contains(&name));
        let kernel = Kernel {
            name: name.expect("there are more numbers than names"),
            unit: filter.unit as u8,
            big: filter.big,
            parameters: self.lower.parts_of(filter, 0..filter.parameters),
            begins,
            steps,
            tail,
            finishes,
        };
        self.lower.module.kernels.push(kernel);
        let id_of_kernel = KernelId(self.lower.module.kernels.len() as u32 - 1);
        self.lower.kernels.insert(id, id_of_kernel);
        id_of_kernel
    }

    fn stage(&mut self, filter: &'a Filter, stage: Stage) -> ir::FunctionId {
        let program = self.lower.program;
        let named = |name: &str| (Plain::WORD, name.to_string());
        let mut parameters = Vec::new();
        let mut names = Vec::new();
        let given = (0..filter.parameters).map(LocalId);
        let state = filter.state.iter().map(|(local, _)| *local);
        let state = state.filter(|_| stage != Stage::Begins);
        for local in given.chain(state) {
            let declared = &filter.locals[local.at()];
            let all = parts(program, &declared.kind);
            names.push((local, all.len()));
            parameters.extend(all.into_iter().map(|of| (of, declared.name.clone())));
        }
        parameters.push(named("length"));
        if stage != Stage::Begins {
            parameters.push(named("place"));
        }
        if matches!(stage, Stage::Steps | Stage::Tail) {
            parameters.push(named("missing"));
            let word = Plain::Int(8 * filter.unit as u8);
            parameters.push((word, "word".to_string()));
        }
        let what = match stage {
            Stage::Begins => "begin",
            Stage::Steps => "step",
            Stage::Tail => "tail",
            Stage::Finishes => "finish",
        };
        let name = self.lower.unique(&format!("{}.{what}", filter.name));
        let parameters = parameters.iter().map(|(of, hint)| (*of, hint.as_str()));
        let parameters: Vec<(Plain, &str)> = parameters.collect();
        let mut build = Builder::new(&name, "", Role::Plain, &parameters);
        build.set_function_span(Some(filter.span));
        let mut code = Code::new(&mut *self.lower, build, &filter.locals);
        code.yields = 8 * filter.unit as u8;
        let mut at = 0;
        for (local, count) in names {
            let parts = (at..at + count)
                .map(|at| code.build.parameter(at))
                .collect();
            code.bind(Name::Local(local), parts);
            at += count;
        }
        code.measures(filter, stage, at);
        let results = code.stage_body(filter, stage);
        let function = code.build.finish(results);
        self.lower.add_called(function)
    }

    /// Binds the length, the place, the missing bytes and the word, as far as a stage has them.
    fn measures(&mut self, filter: &Filter, stage: Stage, at: usize) {
        let measures = filter.measures;
        let length = self.build.parameter(at);
        self.measure(filter, measures.length, length);
        if stage != Stage::Begins {
            let place = self.build.parameter(at + 1);
            self.measure(filter, measures.place, place);
        }
        match stage {
            Stage::Steps | Stage::Tail => {
                let missing = self.build.parameter(at + 2);
                self.measure(filter, measures.missing, missing);
                let word = self.build.parameter(at + 3);
                self.measure(filter, Some(filter.word), word);
            }
            Stage::Finishes if measures.missing.is_some() => {
                // Bytes are missing of the last word, if there is one.
                let unit = self.word(filter.unit);
                let rest = self.arithmetic(Arithmetic::Urem, length, unit);
                let less = self.difference(unit, rest);
                let missing = self.arithmetic(Arithmetic::Urem, less, unit);
                self.measure(filter, measures.missing, missing);
            }
            Stage::Begins | Stage::Finishes => {}
        }
    }

    fn measure(&mut self, filter: &Filter, local: Option<LocalId>, value: Value) {
        if let Some(local) = local {
            let of = filter.locals[local.at()].kind.clone();
            let value = self.as_type(value, &of);
            self.bind(Name::Local(local), vec![value]);
        }
    }

    /// The code of a stage, which returns the state, or the results in the end.
    fn stage_body(&mut self, filter: &Filter, stage: Stage) -> Vec<Plain> {
        let goes_on = match stage {
            Stage::Begins => {
                for (local, begin) in &filter.state {
                    let value = self.value(begin);
                    self.bind(Name::Local(*local), value);
                }
                true
            }
            Stage::Steps => self.block(&filter.each),
            Stage::Tail => self.block(filter.tail.as_ref().unwrap_or(&filter.each)),
            Stage::Finishes => self.block(&filter.finish),
        };
        assert!(goes_on, "a filter returns nothing but its result");
        let values = match (stage, &filter.result) {
            (Stage::Finishes, Some(result)) => self.value(result),
            (Stage::Finishes, None) => Vec::new(),
            (Stage::Begins | Stage::Steps | Stage::Tail, _) => {
                let state = filter.state.iter();
                let parts = state.flat_map(|(local, _)| self.named(Name::Local(*local)));
                parts.copied().collect()
            }
        };
        let types = values
            .iter()
            .map(|value| self.build.type_of(*value))
            .collect();
        self.build.end(Terminator::Return(values));
        types
    }
}

impl Lower<'_> {
    fn parts_of(&self, filter: &Filter, locals: std::ops::Range<u32>) -> Vec<Plain> {
        let locals = locals.map(|at| &filter.locals[at as usize].kind);
        locals.flat_map(|of| parts(self.program, of)).collect()
    }
}
