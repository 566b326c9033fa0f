//! Steps of optimisation: out, the rewrites of trees and passes of the stack IR that `loom bench
//! hippco` adds one by one. The rewrites of the paper come first, in its order.

use crate::passes::{PASSES, Passes};
use crate::tree::rewrites::{Rewrite, Rewrites};

/// The rewrites that are the paper's, in its order; ours come behind them.
const PAPERS: [Rewrite; 4] = [
    Rewrite::Inline,
    Rewrite::Extend,
    Rewrite::Branches,
    Rewrite::States,
];

/// The rewrites and passes that run on a stack.
pub type Done = (Rewrites, Passes);

/// A step: all that is done up to it.
pub struct Step {
    /// Its row in the table.
    pub title: String,
    /// Its name in figures and files.
    pub word: String,
    /// All that is done.
    pub done: Done,
}

/// All rewrites and passes.
pub fn all_done() -> Done {
    (Rewrites::ALL, Passes::ALL)
}

/// The steps, each with one rewrite or pass more than the one before; the first has none.
pub fn steps() -> Vec<Step> {
    let mut done = Rewrites::NONE;
    let mut all = vec![Step {
        title: "stackloom, nothing".to_string(),
        word: "nothing".to_string(),
        done: (done, Passes::NONE),
    }];
    let others = Rewrites::ALL.each().filter(|one| !PAPERS.contains(one));
    for rewrite in PAPERS.into_iter().chain(others) {
        done = done.and(Rewrites::only(rewrite));
        let about = rewrite.about();
        all.push(Step {
            title: format!("+ {} ({})", about.name, about.letter),
            word: about.name.to_string(),
            done: (done, Passes::NONE),
        });
    }
    all.extend(PASSES.iter().map(|pass| Step {
        title: format!("+ {} (pass)", pass.name),
        word: format!("pass-{}", pass.name),
        done: (
            done,
            Passes::up_to(pass.name).expect("it is the name of a pass"),
        ),
    }));
    all
}
