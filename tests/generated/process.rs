//! Processes of a random layer: they wait for messages, timers and each other's signals.
//!
//! Each signal is emitted by one process, and heard by those that come later, so that nothing
//! hangs on itself.

use crate::scope::{Kind, Place, Scope};
use crate::statement::Writer;

/// Declares processes in a session; says how many, and in which order they are run.
pub fn declared(it: &mut Writer, own: &mut Scope) -> Vec<usize> {
    let count = 1 + it.random.below(3);
    for at in 0..count {
        it.line(&format!("signal said_{at}: u8 combine +"));
    }
    let mut order: Vec<usize> = (0..count).collect();
    for at in (1..count).rev() {
        order.swap(at, it.random.below(at + 1));
    }
    let named = Vec::from_iter(order.iter().map(|at| format!("turn_{at}")));
    it.line(&format!("run {}", named.join(" and ")));
    for at in 0..count {
        let kind = Kind::Number(8);
        for text in [format!("turn_{at}.times"), format!("(pre turn_{at}.times)")] {
            own.places.push(Place {
                text,
                kind,
                is_written: false,
            });
        }
    }
    order
}

/// The processes themselves.
pub fn written(it: &mut Writer, own: &Scope, mut order: Vec<usize>) {
    order.sort();
    for at in order {
        it.open(&format!("process turn_{at}"));
        it.line("times: u8 = 0");
        it.line("timer pause_over");
        it.open("loop");
        for step in 0..2 + it.random.below(3) {
            wait(it, at, step);
            for _ in 0..it.random.below(3) {
                act(it, own, at);
            }
        }
        it.close();
        it.close();
        it.line("");
    }
}

/// Waits for something.
fn wait(it: &mut Writer, at: usize, step: usize) {
    let earlier = (at > 0).then(|| it.random.below(at.max(1)));
    match (it.random.below(9), earlier) {
        (0 | 1, Some(signal)) => {
            let least = it.random.below(4);
            it.line(&format!(
                "await said_{signal}(by_{step}) if by_{step} > {least}"
            ));
            it.line(&format!("times += by_{step}"));
        }
        (2, Some(signal)) => {
            it.open("run");
            it.open("loop");
            it.line("await deliver");
            it.line("times += 1");
            it.close();
            it.close();
            it.text.pop();
            it.text += &format!(" until said_{signal}\n");
        }
        (3 | 4, _) => {
            let pause = it.random.one(&[1, 3, 20]);
            it.line(&format!("start pause_over after {pause} us"));
            it.line("await pause_over");
        }
        (5, _) => it.line("await skip"),
        (6, _) => it.line("await send"),
        _ => it.line("await deliver"),
    }
}

/// Does something, and waits for nothing.
fn act(it: &mut Writer, own: &Scope, at: usize) {
    match it.random.below(6) {
        0 | 1 => it.line(&format!("emit said_{at}(times % 5)")),
        2 => {
            let by = 1 + it.random.below(3);
            it.line(&format!("times += {by}"));
        }
        3 => {
            let most = 2 + it.random.below(9);
            it.line(&format!("if times > {most} {{ times = 0 }}"));
        }
        4 if own.goes_down
            && own
                .settings
                .iter()
                .all(|(field, _)| !field.starts_with('!')) =>
        {
            it.line("send new message");
        }
        _ => it.line(&format!("count turned_{at}")),
    }
}
