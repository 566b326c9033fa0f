//! Terms as text of SMT-LIB 2.6, for a solver that reads it.
//!
//! In: bits, of which it is asked whether all may be 1 at once. Out: declarations, a definition for
//! each term that occurs, assertions, and after `(check-sat)` a question for values.
//!
//! ```text
//! (declare-const |i12| (_ BitVec 32))
//! (define-fun t13 () (_ BitVec 32) (bvadd i12 #x00000003))
//! (define-fun b14 () Bool (= t13 #x00000007))
//! (assert b14)
//! (check-sat)
//! ```

use super::terms::{Node, Operator, Sort, Term, Terms};
use std::collections::BTreeMap;
use std::fmt::Write;

/// How a solver searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// As it likes.
    Plain,
    /// Conditions are simplified first by those around them, which helps where many are nested.
    Contexts,
}

/// Returns the text that asks whether some bits are 1 at once.
pub fn script(
    terms: &Terms,
    (bits, asked): (&[Term], &[Term]),
    search: Search,
    timeout_ms: u64,
) -> String {
    let mut out =
        format!("(set-option :timeout {timeout_ms})\n(set-option :produce-models true)\n");
    out += "(set-logic QF_AUFBV)\n(declare-sort Token 0)\n";
    let all: Vec<Term> = bits.iter().chain(asked).copied().collect();
    let mut functions: BTreeMap<(String, String), usize> = BTreeMap::new();
    for term in terms.below(&all) {
        let sort = sort_text(terms.sort(term));
        let at = term.0;
        if let Node::Input(_) = terms.node(term) {
            line(&mut out, &format!("(declare-const t{at} {sort})"));
            truth(&mut out, terms, term);
            continue;
        }
        if let Some(text) = logic_text(terms, term) {
            line(&mut out, &format!("(define-fun b{at} () Bool {text})"));
            line(
                &mut out,
                &format!("(define-fun t{at} () {sort} (ite b{at} #b1 #b0))"),
            );
            continue;
        }
        let text = match terms.node(term) {
            Node::Applied(name, operands) => {
                let from = operands.iter().map(|one| sort_text(terms.sort(*one)));
                let signature = format!("({}) {sort}", from.collect::<Vec<String>>().join(" "));
                let next = functions.len();
                let key = (name.clone(), signature.clone());
                let number = *functions.entry(key).or_insert_with(|| {
                    line(&mut out, &format!("(declare-fun f{next} {signature})"));
                    next
                });
                match operands.is_empty() {
                    true => format!("f{number}"),
                    false => format!("(f{number}{})", listed(operands)),
                }
            }
            _other => node_text(terms, term),
        };
        line(&mut out, &format!("(define-fun t{at} () {sort} {text})"));
        truth(&mut out, terms, term);
    }
    for bit in bits {
        line(&mut out, &format!("(assert b{})", bit.0));
    }
    line(
        &mut out,
        match search {
            Search::Plain => "(check-sat)",
            Search::Contexts => {
                "(check-sat-using (then simplify propagate-values ctx-simplify solve-eqs smt))"
            }
        },
    );
    for term in asked {
        line(&mut out, &format!("(get-value (t{}))", term.0));
    }
    out
}

fn line(out: &mut String, text: &str) {
    writeln!(out, "{text}").expect("a string takes every line");
}

/// Defines the truth of a bit, which solvers search in; other numbers have none.
fn truth(out: &mut String, terms: &Terms, term: Term) {
    let at = term.0;
    if terms.sort(term) == Sort::Bits(1) {
        line(out, &format!("(define-fun b{at} () Bool (= t{at} #b1))"));
    }
}

/// Returns the text of a bit that is a condition of others.
fn logic_text(terms: &Terms, term: Term) -> Option<String> {
    let Node::Built(operator, operands) = terms.node(term) else {
        return None;
    };
    let bits: String = operands.iter().map(|one| format!(" b{}", one.0)).collect();
    let all = listed(operands);
    match operator {
        Operator::And => Some(format!("(and{bits})")),
        Operator::Not => Some(format!("(not{bits})")),
        Operator::Equal if terms.sort(operands[0]) == Sort::Bits(1) => Some(format!("(={bits})")),
        Operator::Equal => Some(format!("(={all})")),
        Operator::Compares(name) => Some(format!("({name}{all})")),
        Operator::If if terms.sort(term) == Sort::Bits(1) => Some(format!("(ite{bits})")),
        Operator::Sum(..)
        | Operator::Named(_)
        | Operator::Extract(..)
        | Operator::ZeroExtend(_)
        | Operator::SignExtend(_)
        | Operator::Concat
        | Operator::If
        | Operator::Select
        | Operator::Store => None,
    }
}

fn listed(operands: &[Term]) -> String {
    operands.iter().map(|one| format!(" t{}", one.0)).collect()
}

/// Returns a sort as text.
fn sort_text(sort: Sort) -> String {
    match sort {
        Sort::Bits(bits) => format!("(_ BitVec {bits})"),
        Sort::Token => "Token".to_string(),
        Sort::Array(index, Some(bits)) => {
            format!("(Array (_ BitVec {index}) (_ BitVec {bits}))")
        }
        Sort::Array(index, None) => format!("(Array (_ BitVec {index}) Token)"),
        Sort::Memory => {
            format!("(Array (_ BitVec 32) {})", sort_text(Sort::CONTENT))
        }
    }
}

fn number_text(number: u64, bits: u32) -> String {
    format!("(_ bv{number} {bits})")
}

fn node_text(terms: &Terms, term: Term) -> String {
    match terms.node(term) {
        Node::Number(number) => number_text(*number, terms.bits(term)),
        Node::Bytes(bytes) => {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("#x{digits}")
        }
        Node::Built(operator, operands) => built_text(terms, term, operator, operands),
        Node::Input(_) | Node::Applied(..) => unreachable!("functions are declared"),
    }
}

fn built_text(terms: &Terms, term: Term, operator: &Operator, operands: &[Term]) -> String {
    let all = listed(operands);
    match operator {
        Operator::Sum(constant, factors) => {
            let bits = terms.bits(term);
            let mut text = String::new();
            for (operand, factor) in operands.iter().zip(factors) {
                let (name, factor_text) = (format!("t{}", operand.0), number_text(*factor, bits));
                let part = match factor {
                    1 => name,
                    _other => format!("(bvmul {factor_text} {name})"),
                };
                text = match text.is_empty() {
                    true => part,
                    false => format!("(bvadd {text} {part})"),
                };
            }
            match constant {
                0 => text,
                more => format!("(bvadd {text} {})", number_text(*more, bits)),
            }
        }
        Operator::Named(name) => format!("({name}{all})"),
        Operator::Compares(_) | Operator::And | Operator::Not | Operator::Equal => {
            unreachable!("conditions have a truth")
        }
        Operator::Extract(high, low) => format!("((_ extract {high} {low}){all})"),
        Operator::ZeroExtend(more) => format!("((_ zero_extend {more}){all})"),
        Operator::SignExtend(more) => format!("((_ sign_extend {more}){all})"),
        Operator::Concat => format!("(concat{all})"),
        Operator::If => {
            let [condition, one, other] = operands else {
                unreachable!("a choice has three operands");
            };
            format!("(ite b{} t{} t{})", condition.0, one.0, other.0)
        }
        Operator::Select => format!("(select{all})"),
        Operator::Store => format!("(store{all})"),
    }
}

/// The answer of a solver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The bits are never all 1.
    Never,
    /// They are for these numbers, one for each term that was asked for; none of what has no bits.
    Found(Vec<Option<u64>>),
    /// The solver does not know, for this reason.
    Unknown(String),
}

/// Reads the answer to a script.
pub fn answer(text: &str) -> Answer {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    match lines.next() {
        Some("unsat") => Answer::Never,
        Some("sat") => {
            let rest = lines.collect::<Vec<&str>>().join(" ");
            let values = rest.split("((t").skip(1);
            Answer::Found(values.map(value).collect())
        }
        Some("unknown" | "timeout") => Answer::Unknown("the solver ran out of time".to_string()),
        Some(other) => Answer::Unknown(format!("the solver says {other}")),
        None => Answer::Unknown("the solver says nothing".to_string()),
    }
}

/// Returns the number of `12 #x0000001f))`.
fn value(text: &str) -> Option<u64> {
    let word = text.split_whitespace().nth(1)?;
    let word = word.trim_end_matches(')');
    let (digits, radix) = match word.as_bytes() {
        [b'#', b'x', ..] => (&word[2..], 16),
        [b'#', b'b', ..] => (&word[2..], 2),
        _other => return None,
    };
    u64::from_str_radix(digits, radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_defines_each_term_once() {
        let mut terms = Terms::default();
        let one = terms.input("x", Sort::Bits(8));
        let sum = terms.behind(one, 3);
        let seven = terms.number(8, 7);
        let bit = terms.equal(sum, seven);
        let text = script(&terms, (&[bit], &[one]), Search::Plain, 1000);
        assert!(text.contains("(declare-const t0 (_ BitVec 8))"), "{text}");
        assert_eq!(text.matches("(check-sat)").count(), 1);
        assert!(text.ends_with("(get-value (t0))\n"));
    }

    #[test]
    fn an_answer_is_read() {
        assert_eq!(answer("unsat\n"), Answer::Never);
        let found = answer("sat\n((t0 #x04))\n((t1 #b1))\n((t2 Token!val!0))\n");
        assert_eq!(found, Answer::Found(vec![Some(4), Some(1), None]));
        assert!(matches!(answer("(error \"no\")"), Answer::Unknown(_)));
    }
}
