//! A process that is run stands where it is run.

use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::loom::ast;
use crate::types::body::check_value_type;
use crate::types::body::words::Body;
use crate::types::expression::Expression;
use crate::types::expression::{Instance, Variable};
use crate::types::program::FieldId;
use crate::types::scope::Named;
use crate::types::statement::{Block, Statement, StatementKind};
use crate::types::value::Type;

impl<'a> Body<'a, '_> {
    /// A process stands where it is run.
    pub(super) fn run_process(
        &mut self,
        path: &ast::Path,
        arguments: &[ast::Expression],
        span: Span,
    ) -> Option<Block> {
        let Some(Named::Process(at)) = self.named_path(path) else {
            self.no_process(path);
            return None;
        };
        let at = at as usize;
        let doings = self.reacts().doings;
        let process = &doings.processes[at];
        if self.reacts().running.contains(&at) {
            let title = format!("`{path}` runs itself");
            let mistake =
                Diagnostic::error(Id::UseCircle, title, path.span, "a process runs itself");
            self.report(mistake.help("use `loop` to repeat a process"));
            return None;
        }
        let given = self.given_to(at, path, arguments)?;
        let words = std::mem::take(&mut self.words);
        let traps = self.reacts().traps.len();
        let hidden = (0..traps).map(|_| None).collect();
        let traps = std::mem::replace(&mut self.reacts().traps, hidden);
        let around = std::mem::replace(&mut self.scope, &doings.scopes[at]);
        self.reacts().running.push(at);
        self.reacts().ran.insert(at);
        let mut block = self.takes_over(at, given, span);
        if self.reacts().running.len() > 1 {
            block.extend(self.begins_anew(at, span));
        }
        block.extend(self.block(&process.source.body));
        self.leave_words(0);
        self.reacts().running.pop();
        self.scope = around;
        self.reacts().traps = traps;
        self.words = words;
        Some(block)
    }

    /// The values that a process is given, of the types of its parameters.
    fn given_to(
        &mut self,
        at: usize,
        path: &ast::Path,
        arguments: &[ast::Expression],
    ) -> Option<Vec<Expression>> {
        let doings = self.reacts().doings;
        let parameters = &doings.processes[at].source.parameters;
        if parameters.len() != arguments.len() {
            let title = format!("`{path}` takes {} values", parameters.len());
            let label = format!("{} given", arguments.len());
            let mistake = Diagnostic::error(Id::WrongArguments, title, path.span, label);
            self.report(mistake);
            return None;
        }
        let given = parameters
            .iter()
            .zip(arguments)
            .map(|(parameter, argument)| {
                let of = check_value_type(self.context, &doings.scopes[at], &parameter.of);
                self.expect(argument, &of)
            });
        Some(given.collect())
    }

    /// What a process is given has the names of its parameters; if it waits, fields keep it.
    fn takes_over(&mut self, at: usize, given: Vec<Expression>, span: Span) -> Block {
        let source = self.reacts().doings.processes[at].source;
        let waits = self.block_waits(&source.body, &mut vec![at]);
        let mut block = Block::new();
        for (parameter, value) in source.parameters.iter().zip(given) {
            let of = value.result.clone();
            let local = self.declare(&parameter.name, of.clone());
            let kind = match waits {
                true => {
                    let field = self.keep(&parameter.name.text, &of);
                    self.reacts().kept.insert(local, field);
                    StatementKind::Assign(self.own_field(field), value)
                }
                false => StatementKind::Let(local, value),
            };
            block.push(Statement { kind, span });
        }
        block
    }

    /// The fields of a process that is run again begin again.
    pub(super) fn begins_anew(&mut self, at: usize, span: Span) -> Block {
        let names = self.reacts().doings.processes[at].names.values();
        let fields: Vec<FieldId> = names
            .filter_map(|named| match named {
                Named::Field(_, _, field) => Some(*field),
                _ => None,
            })
            .collect();
        let kind = self.scope.kind;
        let begin = |field: FieldId| {
            let declared = &self.context.program.kinds[kind.at()].fields[field.at()];
            let initial = declared.initial.clone();
            let is_value = !matches!(declared.kind, Type::Stream(..) | Type::Window(..));
            let value = initial.filter(|_| is_value && !declared.once)?;
            let place = Variable::Field(Instance::Own, kind, field);
            let kind = StatementKind::Assign(place, value);
            Some(Statement { kind, span })
        };
        fields.into_iter().filter_map(begin).collect()
    }
}
