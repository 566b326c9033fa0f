//! What is asked of that by which an instance is found is asked of the instance, of its key, which
//! is the same and never changes: so it is part of what a latch stands for.
//!
//! In: the steps of a bypass. Out: the same, in another order.
//!
//! ```text
//! if header.source >= multicast { otherwise }
//! …                                             …
//! find session(header.source) as one      =>    find session(header.source) as one
//! else { otherwise }                            else { otherwise }
//!                                               if one.source >= multicast { otherwise }
//! ```
//!
//! Assumes: little has been simplified yet, so that what is stripped is asked to be there right
//! before. Ensures: what stands between can go wrong no more than before. Cost: an instance may be
//! looked for that need not be.

use super::bypass::named;
use super::depends::{concerns, is_of_message, is_safe, is_total};
use super::path::{Step, What, is_free};
use super::value::is_plain;
use crate::tree::Action;
use crate::tree::rename::Renaming;
use crate::types::expression::{Binary, Expression, ExpressionKind, Instance};
use crate::types::program::{HeaderId, KeyId, Population, Program, Target};
use crate::types::statement::{Attempt, Search};
use crate::types::value::Value;

/// Asks what can be asked of an instance behind where it is found.
pub fn of_instance(program: &Program, steps: &mut Vec<Step>) {
    for found in 0..steps.len() {
        let keys = keys(program, &steps[..=found]);
        if keys.is_empty() {
            continue;
        }
        // What is asked first is asked first.
        for at in (0..found).rev() {
            if let Some(asked) = later(program, &steps[at..=found], &keys) {
                let mut step = steps.remove(at);
                step.what = asked;
                steps.insert(found, step);
                return of_instance(program, steps);
            }
        }
    }
}

/// What the last of these steps finds an instance by, and the key that it then is.
fn keys(program: &Program, steps: &[Step]) -> Vec<(Expression, Expression)> {
    let Some((Step { what, .. }, before)) = steps.split_last() else {
        return Vec::new();
    };
    let What::Try(Attempt::Instance(searches), Some(bind), ..) = what else {
        return Vec::new();
    };
    let [Search::Find(Target { kind, keys, .. })] = &searches[..] else {
        return Vec::new();
    };
    let kind_found = &program.kinds[kind.at()];
    let comes_and_goes = matches!(kind_found.population, Population::Dynamic { .. });
    if !comes_and_goes || !keys.iter().all(is_safe) {
        return Vec::new();
    }
    let all = keys.iter().zip(&kind_found.keys);
    let all = all.enumerate().filter_map(|(at, (value, key))| {
        let value = attributed(before, value);
        let is_one = is_plain(&key.kind) && value.result == key.kind && is_of_message(value);
        is_one.then(|| {
            let of = ExpressionKind::Key(Instance::Local(*bind), *kind, KeyId(at as u32));
            (value.clone(), Expression::new(of, key.kind.clone()))
        })
    });
    all.collect()
}

/// What an attribute holds behind these steps, or the same value.
fn attributed<'a>(before: &'a [Step], value: &'a Expression) -> &'a Expression {
    let ExpressionKind::Attribute(message, attribute) = &*value.kind else {
        return value;
    };
    let given = before.iter().rposition(|step| {
        matches!(
            &step.what,
            What::Do(Action::SetAttribute(to, set, _)) if (to, set) == (message, attribute)
        )
    });
    let Some(given) = given else {
        return value;
    };
    let What::Do(Action::SetAttribute(_, _, held)) = &before[given].what else {
        unreachable!("it sets an attribute");
    };
    let changes = |step: &Step| matches!(&step.what, What::Do(action) if concerns(action, held));
    match before[given..].iter().any(changes) {
        true => value,
        false => held,
    }
}

/// The first of these steps, if it asks something of a key of the instance that the last one finds,
/// and can be taken behind that.
fn later(program: &Program, steps: &[Step], keys: &[(Expression, Expression)]) -> Option<What> {
    let What::Ask(condition, likely, otherwise) = &steps[0].what else {
        return None;
    };
    let replaced = |part: &Expression| {
        let key = keys.iter().find(|(value, _)| value == part);
        key.map(|(_, key)| key.clone())
    };
    let renaming = Renaming {
        local: &|local| local,
        instance: &|instance| instance,
        replaced: &replaced,
    };
    let asked = renaming.expression(condition);
    let is_own = asked != *condition && is_total(condition) && !is_of_message(&asked);
    let is_alone = is_own && named(|naming| drop(naming.expression(&asked))).len() == 1;
    let between = 1..steps.len() - 1;
    let stays = is_alone
        && between
            .into_iter()
            .all(|at| passes(program, steps, at, condition));
    stays.then_some(What::Ask(asked, *likely, *otherwise))
}

/// Whether a step can be taken before a condition that stands before it.
fn passes(program: &Program, steps: &[Step], at: usize, condition: &Expression) -> bool {
    match &steps[at].what {
        What::Do(action) if concerns(action, condition) => false,
        What::Do(Action::Strip(_, header)) => is_asked(program, &steps[..at], *header),
        What::Do(Action::Sum { arguments, .. }) => arguments.iter().all(is_safe),
        _ => is_free(&steps[at]),
    }
}

/// Whether it is asked right before whether a header is there.
fn is_asked(program: &Program, before: &[Step], header: HeaderId) -> bool {
    let Some(What::Ask(condition, ..)) = before.last().map(|step| &step.what) else {
        return false;
    };
    let ExpressionKind::Binary(Binary::AtLeast, length, least) = &*condition.kind else {
        return false;
    };
    let bytes = u64::from(program.headers[header.at()].least);
    let is_enough = matches!(
        *least.kind,
        ExpressionKind::Constant(Value::Number(least)) if least >= bytes
    );
    is_enough && matches!(*length.kind, ExpressionKind::Length(_))
}
