//! Stacks of `bench/` whose steps callgrind can count, with their drivers and workloads.
//!
//! In: the programs of `loom bench udp`, `tcp` and `traffic`, and the swap of `loom bench layers`.
//! Out: each stack as its contract wants it used, compiled at `-O3`. The stacks of `bulk.loom` and
//! `boosted.loom` have no step to count, and `layers.loom` is the stack of `udp.loom`.
//!
//! ```text
//! traffic-called    traffic.loom:called    traffic.c -DCALLS    base lengths two ..
//! udp-offloaded     udp.loom:offloaded     udp.c                datagram
//! ```

use super::super::Name;
use super::super::programs::{OTHERS, programs};
use super::super::traffic::WORKLOADS;
use std::ffi::OsString;
use std::path::Path;

/// A workload of `traffic` takes a third of the units that `loom bench traffic` counts, so that all
/// of them can be counted once for each pass.
const PART: u32 = 3;

/// A stack with its driver.
pub struct Subject {
    /// As the options and the exceptions call it.
    pub name: String,
    /// The file and the stack in it.
    pub source: String,
    /// The name of the driver, without its ending, and of the stack's C.
    pub driver: &'static str,
    /// Macros of the driver, and its other file of C.
    pub words: Vec<String>,
    /// All that the driver can do.
    pub workloads: Vec<Workload>,
}

/// A kind of traffic.
pub struct Workload {
    /// Its column.
    pub name: &'static str,
    /// Arguments of the program before the mode.
    pub given: Vec<OsString>,
    /// The mode: the last argument.
    pub mode: String,
}

fn of_mode(name: &'static str, mode: &str) -> Workload {
    Workload {
        name,
        given: Vec::new(),
        mode: mode.to_string(),
    }
}

/// Returns the workloads of a driver.
fn workloads(driver: Name) -> Vec<Workload> {
    match driver {
        Name::Udp => vec![of_mode("datagram", "count")],
        Name::Tcp => vec![of_mode("segment", "count"), of_mode("silent", "silent")],
        Name::Layers => vec![of_mode("swap", "count")],
        Name::Traffic => {
            let own = WORKLOADS.iter().map(|one| Workload {
                name: one.name,
                given: vec![one.name.into()],
                mode: (one.units / PART).to_string(),
            });
            own.collect()
        }
        Name::Hippco | Name::Bulk | Name::Size | Name::Boosters => Vec::new(),
        Name::Coders | Name::Law | Name::Ensemble => Vec::new(),
    }
}

/// Returns all stacks in the source tree.
pub fn subjects(folder: &Path) -> Vec<Subject> {
    let names = [Name::Udp, Name::Tcp, Name::Traffic].into_iter();
    let used = names.flat_map(|name| {
        let all = programs(name, true).into_iter();
        all.filter(|one| one.is_best_use()).map(move |one| Subject {
            name: format!("{}-{}", name.text(), one.stack()),
            source: format!("{}.loom:{}", name.text(), one.stack()),
            driver: name.text(),
            words: one.words(folder),
            workloads: workloads(name),
        })
    });
    let others = OTHERS.iter().map(|[_, word, source, macros]| Subject {
        name: format!("tcp-{word}"),
        source: source.to_string(),
        driver: Name::Tcp.text(),
        words: vec![macros.to_string()],
        workloads: workloads(Name::Tcp),
    });
    let swap = Subject {
        name: "swap".to_string(),
        source: "swap.loom".to_string(),
        driver: "swap",
        words: Vec::new(),
        workloads: workloads(Name::Layers),
    };
    used.chain(others).chain([swap]).collect()
}

#[cfg(test)]
mod tests {
    use super::subjects;
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn each_stack_of_the_counted_benchmarks_is_there_once() {
        let all = subjects(Path::new("bench"));
        let names: BTreeSet<&str> = all.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names.len(), all.len());
        for file in ["udp", "tcp", "traffic"] {
            for stack in ["offloaded", "summed", "called", "called_summed"] {
                assert!(names.contains(&*format!("{file}-{stack}")), "{names:?}");
            }
        }
        assert!(all.iter().all(|one| !one.workloads.is_empty()));
    }
}
