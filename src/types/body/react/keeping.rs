//! What is kept from one instant to a later one: fields for words that are read behind a wait, and
//! for what something was before the instant.

use crate::diagnostic::{Diagnostic, Id};
use crate::source::Span;
use crate::syntax::loom::ast;
use crate::types::body::words::{Body, make};
use crate::types::expression::{Expression, ExpressionKind, Instance, Variable};
use crate::types::process::Presence;
use crate::types::program::{Field, FieldId, LocalId};
use crate::types::scope::Named;
use crate::types::statement::{Block, Statement, StatementKind};
use crate::types::value::Type;

use super::hearing::path_of;

impl<'a> Body<'a, '_> {
    /// The words that a statement has introduced, where something waits behind it in their block:
    /// fields keep what they stand for.
    pub(in crate::types::body) fn keep_words(&mut self, words: usize, span: Span) -> Block {
        let mut block = Block::new();
        let introduced: Vec<(String, LocalId)> = self.words[words.min(self.words.len())..]
            .iter()
            .map(|word| (word.name.clone(), word.local))
            .collect();
        let unkept = |(_, local): &(String, LocalId)| self.kept_field(*local).is_none();
        let introduced: Vec<_> = introduced.into_iter().filter(unkept).collect();
        for (name, local) in introduced {
            let kind = self.local_kind(local).clone();
            match kind {
                Type::Nothing => continue,
                // Whoever still owns one at the wait is told so there.
                Type::Message => continue,
                // Whoever names what was found before a wait is told so there.
                Type::Instance(_) | Type::Header(_) => continue,
                kind => {
                    let value = self.read_local(local);
                    let field = self.keep(&name, &kind);
                    let kind = StatementKind::Assign(self.own_field(field), value);
                    block.push(Statement { kind, span });
                    self.reacts().kept.insert(local, field);
                }
            }
        }
        block
    }

    /// The field that keeps what a local stands for.
    pub(in crate::types::body) fn kept_field(&self, local: LocalId) -> Option<FieldId> {
        let reacts = self.reacts.as_ref()?;
        reacts.kept.get(&local).copied()
    }

    /// A new field of the instance.
    pub(super) fn keep(&mut self, name: &str, of: &Type) -> FieldId {
        let reacts = self.reacts.as_ref().expect("only processes keep");
        let around = reacts.running.last();
        let path = around.map(|at| reacts.doings.processes[*at].path.clone());
        let fields = &mut self.context.program.kinds[self.scope.kind.at()].fields;
        let plain = match path {
            Some(path) => format!("{path}.{name}"),
            None => format!("run.{name}"),
        };
        let taken = |name: &str| fields.iter().any(|field| field.name == name);
        let numbered = (2..).map(|number| format!("{plain}_{number}"));
        let mut names = std::iter::once(plain.clone()).chain(numbered);
        let free = names.find(|name| !taken(name));
        fields.push(Field {
            name: free.expect("there are more numbers than names"),
            kind: of.clone(),
            initial: None,
            once: false,
            has_gaps: false,
        });
        FieldId(fields.len() as u32 - 1)
    }

    pub(in crate::types::body) fn own_field(&self, field: FieldId) -> Variable {
        Variable::Field(Instance::Own, self.scope.kind, field)
    }

    /// What something was before this instant.
    pub(in crate::types::body) fn previous(
        &mut self,
        operand: &ast::Expression,
        hint: Option<&Type>,
    ) -> Expression {
        let kind = self.scope.kind;
        if self.context.program.kinds[kind.at()].reactive.is_none() {
            let title = "`pre` cannot be used here";
            let mistake =
                Diagnostic::error(Id::NotHere, title, operand.span, "no processes run here");
            return self.refuse(mistake.why(
                "`pre` reads a value of the previous instant, which is stored only for processes \
                that run in parallel.",
            ));
        }
        let around = std::mem::replace(&mut self.asks, true);
        let value = match self.carried_last(operand) {
            Some(value) => value,
            None => self.check(operand, hint),
        };
        self.asks = around;
        if value.result == Type::Nothing {
            return value;
        }
        match self.earlier(&value) {
            Some(earlier) if earlier.asks() => self.answered(earlier, operand.span),
            Some(earlier) => earlier,
            None => {
                let title = "this has no value in the previous instant";
                let label = "exists only in this instant";
                let mistake = Diagnostic::error(Id::NotHere, title, operand.span, label);
                let why = "`pre` applies to fields, to functions of fields, and to signals.";
                self.refuse(mistake.why(why))
            }
        }
    }

    /// What a signal carries, of which `pre` says what it carried last.
    fn carried_last(&mut self, operand: &ast::Expression) -> Option<Expression> {
        let path = path_of(operand)?;
        let Some(Named::Signal(signal)) = self.named_path(&path) else {
            return None;
        };
        if let Some((field, of)) = self.value_of_signal(signal) {
            return Some(make(ExpressionKind::Read(self.own_field(field)), of));
        }
        let title = format!("`{path}` carries no value");
        let mistake = Diagnostic::error(Id::NotAValue, title, operand.span, "a signal");
        let help = format!("`pre present {path}` tests whether it was present");
        Some(self.refuse(mistake.help(help)))
    }

    /// The same as it was before the instant.
    fn earlier(&mut self, value: &Expression) -> Option<Expression> {
        let kind = match &*value.kind {
            ExpressionKind::Signal(Presence::Now(signal)) => {
                let table = &mut self.context.program.kinds[self.scope.kind.at()];
                let reactive = table.reactive.as_mut().expect("it was asked");
                reactive.processes.signals[signal.at()].previous = true;
                ExpressionKind::Signal(Presence::Before(*signal))
            }
            ExpressionKind::Unary(operator, inner) if value.asks() => {
                ExpressionKind::Unary(*operator, self.earlier(inner)?)
            }
            ExpressionKind::Binary(operator, one, other) if value.asks() => {
                ExpressionKind::Binary(*operator, self.earlier(one)?, self.earlier(other)?)
            }
            _that_asks_nothing if self.lasts(value) => {
                let field = self.before(value.clone());
                ExpressionKind::Read(self.own_field(field))
            }
            _of_this_instant => return None,
        };
        Some(make(kind, value.result.clone()))
    }

    /// The field that holds what something was before the instant.
    pub(super) fn before(&mut self, value: Expression) -> FieldId {
        let table = &mut self.context.program.kinds[self.scope.kind.at()];
        let reactive = table.reactive.as_mut().expect("it was asked");
        let mut known = reactive.before.iter();
        if let Some((field, _)) = known.find(|(_, known)| *known == value) {
            return *field;
        }
        let field = FieldId(table.fields.len() as u32);
        table.fields.push(Field {
            name: format!("pre.{}", reactive.before.len() + 1),
            kind: value.result.clone(),
            initial: None,
            once: false,
            has_gaps: false,
        });
        reactive.before.push((field, value));
        field
    }

    /// Whether an expression has a value between two instants.
    pub(super) fn lasts(&self, value: &Expression) -> bool {
        let itself = match &*value.kind {
            ExpressionKind::Read(Variable::Local(_))
            | ExpressionKind::Header(..)
            | ExpressionKind::Peeked(..)
            | ExpressionKind::HeaderPresent(..)
            | ExpressionKind::PeekedPresent(..)
            | ExpressionKind::OptionsHold(_)
            | ExpressionKind::Attribute(..)
            | ExpressionKind::Length(_)
            | ExpressionKind::WholeLength
            | ExpressionKind::Now
            | ExpressionKind::Signal(_)
            | ExpressionKind::Through(..) => false,
            ExpressionKind::Call(function, _) => {
                let function = &self.context.program.functions[function.at()];
                !function.reads_header && function.message.is_none()
            }
            _of_fields => true,
        };
        itself && value.parts().into_iter().all(|part| self.lasts(part))
    }
}
