//! Switches: the guard expects one case, or all cases that have no effects and give the same.
//!
//! A process waits in one of several states, and most events change none of them. The cases without
//! effects are one path, and the others are exits.

use super::path::{Key, Path};
use super::trace::Trace;
use crate::ir::op::{Arithmetic, Compare, Op};
use crate::ir::{BlockId, Edge, Probability, Terminator, Value};

/// A case of a switch: its number, how often it is that, and where control goes.
type Case = (u64, Probability, Edge);

/// Most cases of a switch that are traced one by one.
const CASES: usize = 16;

impl Trace<'_> {
    /// Traces a switch; none if the guard does not know its number.
    pub fn switch(&mut self, path: &Path, at: BlockId) -> Option<(Path, BlockId)> {
        let function = self.module.function(path.function);
        let Terminator::Switch {
            value,
            cases,
            otherwise,
        } = &function.block(at).terminator
        else {
            panic!("a switch is traced");
        };
        let mut path = path.clone();
        let number = path.now(path.key(*value))?;
        if let Some(number) = self.folded.number(number) {
            let case = cases.iter().position(|(case, _, _)| *case == number);
            let edge = case.map_or(otherwise, |case| &cases[case].2);
            path.decided(function.block(at).span, case.unwrap_or(cases.len()));
            let next = self.follow(&mut path, edge, &[]);
            return Some((path, next));
        }
        if let Some(join) = self.join(path.function, at)
            && let Some(met) = self.quiet(&path, join, (*value, number), (cases, otherwise))
        {
            return Some((met, join));
        }
        let listed = cases.iter().enumerate();
        let (taken, (case, _, edge)) = listed.max_by_key(|(_, (_, share, _))| *share)?;
        path.decided(function.block(at).span, taken);
        let name = self.naming.of(function, edge.block, *value);
        self.expect(&mut path, name, number, *case);
        let next = self.follow(&mut path, edge, &[]);
        Some((path, next))
    }

    /// Traces the cases without effects to the join; none if the most frequent case has some.
    /// `value` is switched on, and `number` is what it is in the guard.
    fn quiet(
        &mut self,
        path: &Path,
        join: BlockId,
        (value, number): (Value, Value),
        (cases, otherwise): (&[Case], &Edge),
    ) -> Option<Path> {
        if cases.is_empty() || cases.len() > CASES {
            return None;
        }
        let before = self.mark();
        let mut met = path.clone();
        let bits = cases.iter().map(|(case, _, _)| {
            let constant = self.constant(&mut met, number, *case);
            self.evaluate(&mut met, Op::Compare(Compare::Eq), &[number, constant])
        });
        let bits: Vec<Value> = bits.collect();
        let mut any = bits[0];
        for bit in &bits[1..] {
            any = self.evaluate(&mut met, Op::Arithmetic(Arithmetic::Or), &[any, *bit]);
        }
        let none = self.evaluate(&mut met, Op::Not, &[any]);
        let listed: u32 = cases.iter().map(|(_, share, _)| share.0).sum();
        let rest = Probability(1_000_000_u32.saturating_sub(listed));
        let edges = cases.iter().map(|(_, share, edge)| (*share, edge));
        let edges = edges.chain([(rest, otherwise)]);
        let ways = bits.into_iter().chain([none]).zip(edges);
        let ways: Vec<(Value, (Probability, &Edge))> = ways.collect();
        let mut given: Option<Vec<Key>> = None;
        let mut left = Vec::new();
        let (mut quiet, mut most) = (0, 0);
        for (bit, (share, edge)) in ways {
            let own = self.quiet_side(&mut met, path, (bit, edge), join, given.as_deref());
            match own {
                Some(own) => {
                    given = given.or(Some(own));
                    quiet += share.0;
                }
                None => {
                    left.push(bit);
                    most = most.max(share.0);
                }
            }
        }
        let Some(given) = given.filter(|_| quiet >= most) else {
            self.rewind(before);
            return None;
        };
        let function = self.module.function(path.function);
        let name = self.naming.of(function, join, value);
        for bit in left {
            self.exit(&mut met, name.clone(), bit, false);
        }
        met.receive(&function.block(join).parameters, &given);
        Some(met)
    }
}
