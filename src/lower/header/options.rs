//! Options of headers: judged and found, by one function for each header.
//!
//! In: a header with options, and the view that begins with it. Out: a call of a function that
//! walks the options once. It returns a bit that is 1 if all of them keep their rules, and for each
//! option that has a name one more than its offset in the header, or 0. Of an option that repeats,
//! the last one counts. Where options end with the first that breaks a rule, they always hold.
//!
//! ```text
//! pure fn tcp.options(%header: view) -> i1, i32, i32
//!   %holds, %at, %mss, %scale = loop tcp.option, .. %header, %end, %at, 1, 0, 0
//! ```

use crate::ir::build::Builder;
use crate::ir::op::{Bits, Compare};
use crate::ir::{Edge, FunctionId, Op, Probability, Role, Terminator, Type as Plain, Value};
use crate::lower::Lower;
use crate::lower::code::{Code, Name, Way};
use crate::types::header::{Header, OptionCase, OptionKind, Options};
use crate::types::program::{HeaderFieldId, HeaderId};
use crate::types::value::Type;

impl Code<'_, '_> {
    /// A bit: the options of a header keep their rules, and end with it.
    pub fn options_hold(&mut self, header: HeaderId, view: Value) -> Value {
        self.options(header, view)[0]
    }

    /// One more than the offset of an option in its header; 0 if it is not there.
    pub fn option_found(&mut self, header: HeaderId, option: HeaderFieldId, view: Value) -> Value {
        let mut named = self.lower.program.headers[header.at()].options_named();
        let at = named.position(|one| one == option);
        let at = at.expect("an option that is looked for has a name");
        self.options(header, view)[1 + at]
    }

    fn options(&mut self, header: HeaderId, view: Value) -> Vec<Value> {
        let function = options_function(self.lower, header);
        self.op(Op::Call(function), &[view])
    }
}

/// The function that looks for the options of a header.
fn options_function(lower: &mut Lower<'_>, id: HeaderId) -> FunctionId {
    if let Some(known) = lower.options.get(&id) {
        return *known;
    }
    let turn = option_function(lower, id);
    let header = &lower.program.headers[id.at()];
    let options = declared(header);
    let name = lower.unique(&format!("{}.options", header.name));
    let given = [(Plain::View, "header")];
    let build = Builder::new(&name, &header.name, Role::Pure, &given);
    let view = build.parameter(0);
    let mut code = Code::new(lower, build, &[]);
    let at = code.offset(id, options.region, view);
    let at = code.bytes(at);
    let end = code.header_length(id, view);
    let end = code.bytes(end);
    let left = code.difference(end, at);
    let left = code.resized(left, 64);
    let mut operands = vec![left, view, end, at, code.bit(true)];
    let none = code.word(0);
    operands.extend(header.options_named().map(|_| none));
    let found = code.op(Op::Loop(turn, most_turns(header)), &operands);
    let (holds, found) = (found[1], &found[2..]);
    let mut results = Vec::new();
    if options.until_malformed {
        results.push(code.bit(true));
        results.extend(found);
    } else {
        let absent = vec![none; found.len()];
        results.push(holds);
        results.extend(code.select(holds, found, &absent));
    }
    let types = results.iter().map(|value| code.build.type_of(*value));
    let types: Vec<Plain> = types.collect();
    code.build.end(Terminator::Return(results));
    let function = code.build.finish(types);
    let function = lower.add(function);
    lower.options.insert(id, function);
    function
}

fn declared(header: &Header) -> &Options {
    let options = header.options.as_ref();
    options.expect("a header whose options are read has some")
}

/// The number of options of a header at most: each has a number. A count that says no more than the
/// fields before them leaves room for none, and a loop has a turn all the same.
fn most_turns(header: &Header) -> u32 {
    let counter = header.counter().expect("a header with options is counted");
    let width = header.field(counter.field).width.clamp(1, 32);
    let counted = (u64::MAX >> (64 - width)) * u64::from(counter.unit);
    let fixed = header.least - header.fixed_outside(&counter);
    let bytes = counted.saturating_sub(u64::from(fixed));
    let turns = bytes / u64::from(declared(header).width);
    u32::try_from(turns).unwrap_or(u32::MAX).max(1)
}

/// The option at hand, in a turn of the walk.
struct Turn<'h> {
    id: HeaderId,
    header: &'h Header,
    view: Value,
    at: Value,
    /// Bytes of the header from this option on.
    left: Value,
    /// For each option that has a name, where the last one was found.
    found: Vec<Value>,
    /// Ways on which it breaks a rule.
    failed: Vec<Way>,
}

/// The turn of the walk: looks at one option, and goes on behind it.
fn option_function(lower: &mut Lower<'_>, id: HeaderId) -> FunctionId {
    let header = &lower.program.headers[id.at()];
    let name = lower.unique(&format!("{}.option", header.name));
    let mut given = vec![
        (Plain::WORD, "turn"),
        (Plain::View, "header"),
        (Plain::WORD, "end"),
        (Plain::WORD, "at"),
        (Plain::BIT, "holds"),
    ];
    let named = header.options_named();
    given.extend(named.map(|option| (Plain::WORD, &*header.field(option).name)));
    let build = Builder::new(&name, &header.name, Role::Pure, &given);
    let all: Vec<Value> = (0..given.len()).map(|at| build.parameter(at)).collect();
    let (view, end, at, found) = (all[1], all[2], all[3], &all[5..]);
    let mut code = Code::new(lower, build, &[]);
    code.bind(Name::Header(id), vec![view]);
    code.bind(Name::Option, vec![at]);
    let (holds, fails) = (code.bit(true), code.bit(false));
    let mut turn = Turn {
        id,
        header,
        view,
        at,
        left: code.difference(end, at),
        found: found.to_vec(),
        failed: Vec::new(),
    };
    let ways = turn.look(&mut code);
    if !ways.is_empty() {
        let results = code.meet(ways, |_| true);
        let behind = code.sum_of(at, results[0]);
        let mut all = vec![code.compare(Compare::Ult, behind, end), behind, holds];
        all.extend(&results[1..]);
        code.build.end(Terminator::Return(all));
    }
    if !turn.failed.is_empty() {
        code.meet(turn.failed, |_| true);
        let mut all = vec![fails, at, fails];
        all.extend(&turn.found);
        code.build.end(Terminator::Return(all));
    }
    let mut results = vec![Plain::BIT, Plain::WORD, Plain::BIT];
    results.extend(found.iter().map(|_| Plain::WORD));
    let function = code.build.finish(results);
    lower.add(function)
}

impl Turn<'_> {
    /// The ways on which the option keeps its rules. Each results in its length, and in where the
    /// last option of each name was found.
    fn look(&mut self, code: &mut Code<'_, '_>) -> Vec<Way> {
        let options = declared(self.header);
        if options.width > 1 {
            self.require_left(code, options.width);
        }
        let number = Bits {
            skip: 0,
            width: (8 * options.width) as u8,
            big: self.header.big,
        };
        let number = code.read_bits(self.view, self.at, number);
        let count = options.cases.len() as u32 + 1;
        let likely = Probability(Probability::ONE.0 / count);
        let cases = options.cases.iter();
        let cases: Vec<_> = cases.map(|case| (case, code.build.block(&[]))).collect();
        let otherwise = code.build.block(&[]);
        let edges = cases.iter();
        let edges = edges.map(|(case, block)| (case.value, likely, Edge::to(*block)));
        code.build.end(match cases.is_empty() {
            true => Terminator::Jump(Edge::to(otherwise)),
            false => Terminator::Switch {
                value: number,
                cases: edges.collect(),
                otherwise: Edge::to(otherwise),
            },
        });
        let before = code.environment.clone();
        let all = cases.into_iter().map(|(case, block)| (Some(case), block));
        let others = (options.others.as_ref(), otherwise);
        let mut ways = Vec::new();
        for (case, block) in all.chain([others]) {
            code.build.go_to(block);
            code.environment = before.clone();
            match case {
                Some(case) => ways.push(self.way(code, case)),
                None => self.failed.push(Way::new(block, before.clone())),
            }
        }
        ways
    }

    /// The way on which this option keeps its rules.
    fn way(&mut self, code: &mut Code<'_, '_>, case: &OptionCase) -> Way {
        let length = match case.kind {
            OptionKind::End => self.left,
            OptionKind::Padding | OptionKind::Fields => self.length(code, case),
        };
        let mut results = vec![length];
        for (option, before) in self.header.options_named().zip(&self.found) {
            results.push(match option == case.itself() {
                true => {
                    let one = code.word(1);
                    code.sum_of(self.at, one)
                }
                false => *before,
            });
        }
        let mut way = Way::new(code.build.here(), code.environment.clone());
        way.results = results;
        way
    }

    /// Bytes of an option, which must keep its rules.
    fn length(&mut self, code: &mut Code<'_, '_>, case: &OptionCase) -> Value {
        let header = self.header;
        if case.least > declared(header).width {
            self.require_left(code, case.least);
        }
        for id in case.parts() {
            let field = header.field(id);
            if field.kind == Type::UnboundedBytes {
                continue;
            }
            let value = code.read_field(self.id, id, self.view);
            let fits = code.count_fits(field, &value);
            let kept = code.keeps_rules(self.id, field, &value, self.view);
            if let Some(kept) = code.all_of(fits, kept) {
                code.require(kept, &mut self.failed);
            }
        }
        let least = code.word(case.least);
        let Some(counted) = case.counted else {
            return least;
        };
        let counts = code.counted(self.id, counted.field, counted.unit, self.view);
        let length = match counted.outside {
            0 => counts,
            outside => {
                let outside = code.word(outside);
                code.sum_of(counts, outside)
            }
        };
        if !counted.open {
            let same = code.compare(Compare::Eq, length, least);
            code.require(same, &mut self.failed);
            return least;
        }
        for (less, more) in [(least, length), (length, self.left)] {
            let holds = code.compare(Compare::Ule, less, more);
            code.require(holds, &mut self.failed);
        }
        length
    }

    /// A bit: this number of bytes of the header is left for the option.
    fn require_left(&mut self, code: &mut Code<'_, '_>, bytes: u32) {
        let bytes = code.word(bytes);
        let enough = code.compare(Compare::Ule, bytes, self.left);
        code.require(enough, &mut self.failed);
    }
}
