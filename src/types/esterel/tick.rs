//! `pre(tick)`: absent in the first instant, present in all others.
//!
//! In: a program that asks for it. Out: the same beside a signal that is emitted in each instant,
//! until the program ends: `[ p; emit OVER ] || weak abort sustain TICK when immediate OVER`.

use super::Checker;
use crate::source::Span;
use crate::types::process::{
    Carries, Case, Delay, Presence, Role, Signal, SignalId, Statement, StatementId,
};

/// Returns the signal that is emitted in each instant.
pub(super) fn tick(checker: &mut Checker, span: Span) -> SignalId {
    if let Some(tick) = checker.tick {
        return tick;
    }
    let tick = local(checker, "tick", span);
    checker.processes().signals[tick.at()].previous = true;
    checker.tick = Some(tick);
    tick
}

/// Puts what emits it beside a program that asks for it.
pub(super) fn beside_tick(checker: &mut Checker, program: StatementId, span: Span) -> StatementId {
    let Some(tick) = checker.tick else {
        return program;
    };
    let over = local(checker, "over", span);
    let emit = checker.add(Statement::Emit(over, None), span);
    let program = checker.add(Statement::Sequence(vec![program, emit]), span);
    let emit = checker.add(Statement::Emit(tick, None), span);
    let pause = checker.add(Statement::Pause, span);
    let turn = checker.add(Statement::Sequence(vec![emit, pause]), span);
    let body = checker.add(Statement::Loop(turn), span);
    let delay = Delay {
        test: Presence::Now(over),
        count: None,
        immediate: true,
        span,
    };
    let then = checker.nothing(span);
    let cases = vec![Case { delay, then }];
    let weak = true;
    let sustain = checker.add(Statement::Abort { weak, cases, body }, span);
    let body = checker.add(Statement::Parallel(vec![program, sustain]), span);
    let local = Statement::Local {
        signals: vec![tick, over],
        begin: None,
        body,
    };
    checker.add(local, span)
}

/// A signal without a value that nobody can name.
fn local(checker: &mut Checker, name: &str, span: Span) -> SignalId {
    let signal = SignalId(checker.module.processes.signals.len() as u32);
    checker.module.processes.signals.push(Signal {
        name: name.to_string(),
        role: Role::Local,
        value: Carries::Nothing,
        previous: false,
        previous_value: false,
        span,
    });
    checker.module.channels.push(None);
    signal
}
