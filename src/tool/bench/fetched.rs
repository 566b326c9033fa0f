//! What a step fetches from memory to be run.
//!
//! In: a program whose steps are calls of `bench_step`, but for what stands for the wire in them,
//! `bench_wire`; valgrind's lackey says each instruction in order. Out: how many lines of 64 bytes
//! a step touches, and how often an instruction is not in a cache, were the steps all that there is
//! (HIPPCO 6). Of a program that does much before its steps callgrind finds nearly the same.
//!
//! ```text
//! I  0040c880,2      two bytes at this address are fetched
//!  L 1fff000670,8    what is loaded or stored is not looked at
//! ```

use crate::tool::counting::{Collected, Counted, STORES};
use crate::tool::failure::{Failure, about};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

/// So many steps fill the caches; then so many are looked at.
const WARM: usize = 50;
const SEEN: usize = 100;

/// Where valgrind puts a program that may stand anywhere.
const ANYWHERE: u64 = 0x10_8000;

/// What was found of a step.
pub struct Fetched {
    /// Lines of 64 bytes that it touches.
    pub lines: f64,
    /// Of a hundred instructions, how many are not in 32 KiB: 8 ways, lines of 64 bytes.
    pub missed: f64,
    /// The same of 8 KiB: one way, lines of 32 bytes.
    pub missed_in_small: f64,
}

/// Looks at the steps of a program in the mode that does all.
pub fn fetched(program: &Path) -> Result<Fetched, Failure> {
    let step = address_of(program, "bench_step")?.ok_or_else(|| {
        let program = program.display();
        Failure::environment(format!("{program}: `nm` finds no function bench_step"))
    })?;
    let wire = address_of(program, "bench_wire")?;
    let mut command = Command::new("valgrind");
    command.args(["--tool=lackey", "--trace-mem=yes"]);
    command.arg(program).arg("count").envs(STORES);
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let said = child.stderr.take().expect("it is piped");
    let mut steps = Steps::new(step, wire);
    let mut lines = BufReader::with_capacity(1 << 16, said);
    let mut line = Vec::new();
    while steps.left < WARM + SEEN {
        line.clear();
        if lines.read_until(b'\n', &mut line).map_err(about(program))? == 0 {
            break;
        }
        if let Some((at, size)) = fetch(&line) {
            steps.fetch(at, size);
        }
    }
    // What comes behind these steps is not waited for.
    child.kill()?;
    child.wait()?;
    steps.found().ok_or_else(|| {
        let program = program.display();
        Failure::refused(format!(
            "{program}: the program runs fewer than {} steps",
            WARM + SEEN
        ))
    })
}

/// Nearly the same by callgrind, which says less than lackey, and so is sooner behind all that
/// comes before the steps: lines are those of all steps together, and what is between the steps
/// is in the caches, too.
pub fn collected(counted: &Counted) -> Result<Fetched, Failure> {
    let cache =
        |options: &[&str]| counted.collected(&[&["--cache-sim=yes"], options].concat(), "count");
    let usual = cache(&["--I1=32768,8,64", "--dump-instr=yes", "--compress-pos=no"])?;
    let small = cache(&["--I1=8192,1,32"])?;
    // Behind what is fetched stand reads and writes.
    let share = |found: &Collected| 100.0 * found.totals[3] / found.totals[0];
    let at = |line: &str| u64::from_str_radix(line.strip_prefix("0x")?.split(' ').next()?, 16).ok();
    let lines: BTreeSet<u64> = usual
        .text
        .lines()
        .filter_map(at)
        .map(|at| at / 64)
        .collect();
    Ok(Fetched {
        lines: lines.len() as f64,
        missed: share(&usual),
        missed_in_small: share(&small),
    })
}

/// Where a function stands in the file.
fn address_of(program: &Path, function: &str) -> Result<Option<u64>, Failure> {
    let said = Command::new("nm").arg(program).output()?;
    let said = String::from_utf8_lossy(&said.stdout);
    let found = said.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [at, _, name] if name == function => u64::from_str_radix(at, 16).ok(),
            _ => None,
        }
    });
    Ok(found)
}

/// The address and the size of an instruction.
fn fetch(line: &[u8]) -> Option<(u64, u64)> {
    let rest = line.strip_prefix(b"I  ")?.trim_ascii_end();
    let (at, size) = std::str::from_utf8(rest).ok()?.split_once(',')?;
    Some((u64::from_str_radix(at, 16).ok()?, size.parse().ok()?))
}

/// The steps so far.
struct Steps {
    begin: u64,
    /// Where the wire begins, which is no part of a step.
    wire: Option<u64>,
    /// The end of the instruction before.
    before: u64,
    /// Where the step at hand was called from.
    within: Option<u64>,
    /// Where the wire was called from.
    aside: Option<u64>,
    left: usize,
    instructions: u64,
    touched: BTreeSet<u64>,
    lines: usize,
    usual: Cache,
    small: Cache,
}

impl Steps {
    fn new(begin: u64, wire: Option<u64>) -> Steps {
        Steps {
            begin,
            wire,
            before: 0,
            within: None,
            aside: None,
            left: 0,
            instructions: 0,
            touched: BTreeSet::new(),
            lines: 0,
            usual: Cache::new(32 << 10, 8, 64),
            small: Cache::new(8 << 10, 1, 32),
        }
    }

    /// An instruction is fetched.
    fn fetch(&mut self, at: u64, size: u64) {
        let begins = |begin: u64| at == begin || at == begin + ANYWHERE;
        match self.within {
            None if begins(self.begin) => self.within = Some(self.before),
            Some(caller) if at == caller => self.leave(),
            None | Some(_) => {}
        }
        match self.aside {
            None if self.wire.is_some_and(begins) => self.aside = Some(self.before),
            Some(caller) if at == caller => self.aside = None,
            None | Some(_) => {}
        }
        self.before = at + size;
        if self.within.is_none() || self.aside.is_some() {
            return;
        }
        let is_seen = self.left >= WARM;
        let missed = [&mut self.usual, &mut self.small].map(|cache| cache.misses(at, size));
        if is_seen {
            self.instructions += 1;
            self.usual.missed += u64::from(missed[0]);
            self.small.missed += u64::from(missed[1]);
            self.touched.extend([at / 64, (at + size - 1) / 64]);
        }
    }

    fn leave(&mut self) {
        self.within = None;
        self.left += 1;
        self.lines += self.touched.len();
        self.touched.clear();
    }

    fn found(&self) -> Option<Fetched> {
        let share = |cache: &Cache| 100.0 * cache.missed as f64 / self.instructions as f64;
        (self.left >= WARM + SEEN).then(|| Fetched {
            lines: self.lines as f64 / SEEN as f64,
            missed: share(&self.usual),
            missed_in_small: share(&self.small),
        })
    }
}

/// A cache, in which what was used last stays longest.
struct Cache {
    line: u64,
    ways: usize,
    /// Of each set its lines, the last one used first.
    sets: Vec<Vec<u64>>,
    missed: u64,
}

impl Cache {
    fn new(bytes: usize, ways: usize, line: usize) -> Cache {
        Cache {
            line: line as u64,
            ways,
            sets: vec![Vec::new(); bytes / ways / line],
            missed: 0,
        }
    }

    /// Whether some of these bytes are not there; now they are.
    fn misses(&mut self, at: u64, size: u64) -> bool {
        let lines = at / self.line..=(at + size - 1) / self.line;
        lines.fold(false, |missed, line| self.misses_line(line) | missed)
    }

    fn misses_line(&mut self, line: u64) -> bool {
        let sets = self.sets.len() as u64;
        let set = &mut self.sets[(line % sets) as usize];
        let known = set.iter().position(|one| *one == line);
        if let Some(at) = known {
            set.remove(at);
        }
        set.insert(0, line);
        set.truncate(self.ways);
        known.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_last_stays_longest() {
        let mut cache = Cache::new(256, 2, 64);
        let missed = [0, 64, 128, 0, 256, 128, 60].map(|at| cache.misses(at, 4));
        assert_eq!(missed, [true, true, true, false, true, true, true]);
        assert!(!cache.misses(62, 4), "both lines are there");
    }

    #[test]
    fn steps_are_all_that_there_is() {
        let mut steps = Steps::new(0x1000, Some(0x5000));
        for _ in 0..WARM + SEEN {
            // A call, four instructions in three lines with a call of the wire among them, and what
            // is behind the call.
            for (at, size) in [
                (0x400, 5),
                (0x1000, 4),
                (0x103e, 4),
                (0x5000, 4),
                (0x7000, 1),
                (0x1042, 2),
                (0x3000, 1),
                (0x405, 3),
            ] {
                let (at, size) = fetch(format!("I  {at:08x},{size}\n").as_bytes()).expect("one");
                steps.fetch(at, size);
            }
            assert_eq!(fetch(b" L 1fff000670,8\n"), None);
        }
        let found = steps.found().expect("there were enough");
        assert_eq!(found.lines, 3.0);
        assert_eq!(found.missed, 0.0);
        // 0x1000 and 0x3000 are in each other's way.
        assert!((found.missed_in_small - 200.0 / 4.0).abs() < 0.001);
    }
}
