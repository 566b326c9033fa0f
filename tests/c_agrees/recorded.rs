//! What a kernel said to a host with TCP, heard again by its C.
//!
//! In: the frames that were kept of it, and sets of rewrites: all, and where it is said how many
//! seeds are tried also none and each alone. Out: the first difference from the reference.

use crate::recorded::{STACK, recorded, replayed};
use crate::run::interpreted;
use crate::{Compiled, WAYS, stacks};
use stackloom::pipeline;
use stackloom::simulate::reference::Reference;
use stackloom::tool::case::run::difference;
use stackloom::tool::layout::limits;
use stackloom::tree::rewrites::{ORDER, Rewrites};

#[test]
fn the_c_of_tcp_answers_a_kernel_as_the_reference_does() {
    let mut sets = vec![Rewrites::ALL];
    if std::env::var("SEEDS").is_ok() {
        sets.push(Rewrites::NONE);
        sets.extend(ORDER.into_iter().map(|one| Rewrites::only(one.rewrite)));
    }
    for set in sets {
        let mut checked = stacks::read(STACK);
        checked.rewrites = set;
        let name = stacks::first(&checked);
        let built = pipeline::compile(&mut checked, &name, &name).expect("it is right");
        let program = &built.program;
        let (mut trace, _) = replayed(program, &recorded()[0]);
        trace.limits = limits(&built.module);
        let expected = interpreted(Reference::new(program), program, &trace);
        let place = format!("{STACK}/recorded {set}");
        let compiled = Compiled::new(&place, program, (&built.module, &built.code), &WAYS[..1]);
        for way in compiled.ways() {
            let (runs, said) = compiled.run(way, std::slice::from_ref(&trace));
            assert_eq!(
                difference(&expected, &runs[0]),
                None,
                "{way}, {set}\n{said}"
            );
        }
    }
}
