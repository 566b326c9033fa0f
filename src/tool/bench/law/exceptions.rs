//! Known breaches of the law of passes, in `bench/law.toml`.
//!
//! In: the file, and the effect of a pass on a workload. Out: a verdict. An exception must stay
//! true: a breach that grows by more than a point is one again, and an exception whose pass keeps
//! the law must be removed.
//!
//! ```text
//! tools = "gcc 12.2.0, glibc 2.36, valgrind 3.19.0"
//!
//! [traffic-offloaded.hot-path]        the stack, and the rewrite or pass
//! churn = [2.9, "the reason"]         the workload, and by how many percent it is longer
//! ```

use super::ablation::{Effect, Off};
use super::workloads;
use crate::tool::failure::{Failure, about};
use std::collections::BTreeMap;
use std::path::Path;
use toml::de::{DeTable, DeValue};

/// By how many percent of the count without it a pass may make a workload longer.
pub const LIMIT: f64 = 2.0;

/// By how many points a known breach may grow.
const GROWTH: f64 = 1.0;

/// A known breach, by stack, pass and workload: by how many percent the workload is longer.
type Breaches = BTreeMap<[String; 3], f64>;

/// All known breaches.
#[derive(Default)]
pub struct Exceptions {
    /// The programs that made the figures.
    pub tools: Option<String>,
    known: Breaches,
}

/// The law applied to one effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The pass keeps the law.
    Kept,
    /// It breaks the law, and no exception says so.
    Broken,
    /// It breaks the law as an exception says.
    Known,
    /// It breaks the law more than an exception says.
    Worse,
    /// It keeps the law, and an exception says that it does not.
    Stale,
}

impl Exceptions {
    /// Reads the file. Without a file, there are none.
    pub fn read(folder: &Path) -> Result<Exceptions, Failure> {
        let path = folder.join("law.toml");
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Exceptions::default());
            }
            Err(error) => return Err(about(&path)(error)),
        };
        let all = Exceptions::parse(&text).and_then(|all| all.checked(folder));
        all.map_err(|says| Failure::environment(format!("{}: {says}", path.display())))
    }

    fn parse(text: &str) -> Result<Exceptions, String> {
        let mut exceptions = Exceptions::default();
        let all = DeTable::parse(text).map_err(|error| format!("{error}"))?;
        for (stack, value) in all.into_inner() {
            let stack = stack.into_inner().into_owned();
            match value.into_inner() {
                DeValue::String(text) if stack == "tools" => {
                    exceptions.tools = Some(text.into_owned());
                }
                DeValue::Table(passes) => {
                    for (pass, value) in passes {
                        let pass = pass.into_inner().into_owned();
                        let own = of_pass(&stack, &pass, value.into_inner())?;
                        exceptions.known.extend(own);
                    }
                }
                _ => return Err(format!("`{stack}` has no exceptions")),
            }
        }
        Ok(exceptions)
    }

    /// Refuses exceptions of a stack, pass or workload that does not exist.
    fn checked(self, folder: &Path) -> Result<Exceptions, String> {
        let (subjects, offs) = (workloads::subjects(folder), Off::each());
        for [stack, pass, workload] in self.known.keys() {
            let Some(subject) = subjects.iter().find(|one| one.name == *stack) else {
                return Err(format!("there is no stack `{stack}`"));
            };
            if !offs.iter().any(|off| off.name == *pass) {
                return Err(format!("there is no rewrite or pass `{pass}`"));
            }
            let mut workloads = subject.workloads.iter();
            if !workloads.any(|one| one.name == *workload) {
                return Err(format!("`{stack}` has no workload `{workload}`"));
            }
        }
        Ok(self)
    }

    fn known(&self, stack: &str, effect: &Effect) -> Option<f64> {
        let key = [stack, &effect.pass, effect.workload].map(str::to_string);
        self.known.get(&key).copied()
    }

    /// Applies the law.
    pub fn verdict(&self, stack: &str, effect: &Effect) -> Verdict {
        let percent = effect.percent();
        match (percent > LIMIT, self.known(stack, effect)) {
            (false, None) => Verdict::Kept,
            (true, None) => Verdict::Broken,
            (true, Some(known)) if percent > known + GROWTH => Verdict::Worse,
            (true, Some(_)) => Verdict::Known,
            (false, Some(_)) => Verdict::Stale,
        }
    }

    /// Returns a sentence that says how an effect breaks the law, or an exception is not true.
    pub fn breach(&self, stack: &str, effect: &Effect) -> Option<String> {
        let (pass, workload, percent) = (&effect.pass, effect.workload, effect.percent());
        let found = format!("{stack}: `{pass}` changes `{workload}` by {percent:+.2} %");
        let known = self.known(stack, effect).unwrap_or_default();
        let says = match self.verdict(stack, effect) {
            Verdict::Kept | Verdict::Known => return None,
            Verdict::Broken => format!("and at most {LIMIT:+.0} % is allowed"),
            Verdict::Worse => {
                format!("which is over {GROWTH:.0} point more than {known:+.2} % of its exception")
            }
            Verdict::Stale => "so it needs no exception in bench/law.toml".to_string(),
        };
        Some(format!("{found}, {says}"))
    }
}

/// Returns the exceptions of a pass on a stack.
fn of_pass(stack: &str, pass: &str, value: DeValue) -> Result<Breaches, String> {
    let DeValue::Table(own) = value else {
        return Err(format!("`{stack}.{pass}` has no workloads"));
    };
    let exceptions = own.into_iter().map(|(workload, value)| {
        let workload = workload.into_inner().into_owned();
        let says = format!("`{stack}.{pass}.{workload}` is not a number above 2 with a reason");
        let percent = percent(value.into_inner()).ok_or(says)?;
        Ok(([stack.to_string(), pass.to_string(), workload], percent))
    });
    exceptions.collect()
}

/// Returns the percents of an exception that has a reason.
fn percent(value: DeValue) -> Option<f64> {
    let DeValue::Array(pair) = value else {
        return None;
    };
    let mut pair = pair.into_iter().map(|one| one.into_inner());
    let percent: f64 = match pair.next()? {
        DeValue::Float(number) => number.as_str().parse().ok()?,
        DeValue::Integer(number) => number.as_str().parse().ok()?,
        _ => return None,
    };
    let has_reason = match pair.next()? {
        DeValue::String(reason) => !reason.trim().is_empty(),
        _ => false,
    };
    (has_reason && percent > LIMIT && pair.next().is_none()).then_some(percent)
}

#[cfg(test)]
mod tests {
    use super::{Effect, Exceptions, Verdict};
    use std::path::Path;

    const TEXT: &str = "tools = \"gcc 1\"\n[udp-called.sink]\ndatagram = [4.5, \"a reason\"]\n";

    fn verdict(text: &str, with: f64) -> Verdict {
        let exceptions = Exceptions::parse(text).expect("it is well formed");
        let effect = Effect {
            pass: "sink".to_string(),
            workload: "datagram",
            with,
            without: 1000.0,
            is_same_code: false,
        };
        let verdict = exceptions.verdict("udp-called", &effect);
        let is_told = exceptions.breach("udp-called", &effect).is_some();
        let is_breach = !matches!(verdict, Verdict::Kept | Verdict::Known);
        assert_eq!(is_told, is_breach, "{verdict:?}");
        verdict
    }

    #[test]
    fn a_pass_may_cost_two_percent_and_an_exception_one_point_more() {
        let verdicts = [500.0, 1020.0, 1021.0].map(|with| verdict("", with));
        assert_eq!(verdicts, [Verdict::Kept, Verdict::Kept, Verdict::Broken]);
        let verdicts = [1020.0, 1021.0, 1055.0, 1056.0].map(|with| verdict(TEXT, with));
        let expected = [
            Verdict::Stale,
            Verdict::Known,
            Verdict::Known,
            Verdict::Worse,
        ];
        assert_eq!(verdicts, expected);
    }

    #[test]
    fn a_file_that_is_no_list_of_exceptions_is_refused() {
        let read = |text: &str| {
            let all = Exceptions::parse(text);
            all.and_then(|all| all.checked(Path::new("bench"))).err()
        };
        assert_eq!(read(TEXT), None);
        for (from, to, says) in [
            (
                "4.5",
                "1.5",
                "`udp-called.sink.datagram` is not a number above",
            ),
            ("4.5", "\"4.5\"", "is not a number above 2 with a reason"),
            (
                ", \"a reason\"",
                "",
                "is not a number above 2 with a reason",
            ),
            ("a reason", " ", "is not a number above 2 with a reason"),
            ("[4.5, \"a reason\"]", "4.5", "is not a number above 2"),
            ("udp-called", "udp-caled", "there is no stack `udp-caled`"),
            ("sink", "sing", "there is no rewrite or pass `sing`"),
            (
                "datagram",
                "message",
                "`udp-called` has no workload `message`",
            ),
            ("\"gcc 1\"", "3", "`tools` has no exceptions"),
            (
                "[udp-called.sink]\ndatagram",
                "[udp-called]\nsink",
                "has no workloads",
            ),
            ("[udp", "udp", "TOML parse error"),
        ] {
            let said = read(&TEXT.replacen(from, to, 1)).expect("it is refused");
            assert!(said.contains(says), "{said}");
        }
    }
}
