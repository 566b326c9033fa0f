//! Operations that cannot fail.
//!
//! In: an instruction. Out: an expression for its result, or statements that do it.

use super::super::prototype::Reach;
use super::Printer;
use super::number::{self, Number};
use super::value::{Given, constant};
use crate::c::tree::{
    Expression as C, Statement as S, assign, atom, binary, call, call_statement, conditional,
};
use crate::c::{literal, record};
use crate::ir::op::{Arithmetic, Compare, Floating, Op, Place, Region};
use crate::ir::{CounterId, Instruction, OpaqueId, Type, Value};

impl<'p> Printer<'p> {
    /// The instruction that gives a value which stands in place.
    pub fn definition(&self, value: Value) -> &'p Instruction {
        let found = self.definitions.get(value);
        found.unwrap_or_else(|| panic!("{value:?} of {} is computed nowhere", self.function.name))
    }

    /// An instruction at its place.
    pub fn instruction(&mut self, instruction: &'p Instruction, out: &mut Vec<S>) {
        let is_alias = instruction
            .results
            .first()
            .is_some_and(|result| self.plan.of_same(*result) != *result);
        let results = &instruction.results[..];
        self.in_range(instruction, out);
        if is_alias
            || results
                .first()
                .is_some_and(|one| self.plan.in_place[one.at()])
        {
            return;
        }
        if self.states(instruction, out) {
            return;
        }
        let [result] = results else {
            panic!("{:?} gives one value, or is a statement", instruction.op);
        };
        if self.plan.is_used(*result) {
            let given = self.computed(instruction, out);
            let given = given.expect("an operation with one result gives it");
            self.bind(*result, given, word(&instruction.op), out);
        }
    }

    /// The value of an operation that does nothing else.
    pub fn computed(&mut self, instruction: &'p Instruction, out: &mut Vec<S>) -> Option<Given> {
        match self.numeric(instruction, out) {
            Some(given) => Some(given),
            None => self.looked_up(instruction, out),
        }
    }

    /// The value of an operation that looks at its operands alone.
    fn numeric(&mut self, instruction: &'p Instruction, out: &mut Vec<S>) -> Option<Given> {
        let operands = &instruction.operands[..];
        let of = |at: usize| self.function.type_of(operands[at]);
        let bits = |at: usize| of(at).bits().unwrap_or(32);
        Some(match &instruction.op {
            Op::Number(bits, number) => Given::Number(Number::literal(*bits, *number)),
            Op::Instance(_, index) => Given::Number(Number::literal(32, u64::from(*index))),
            Op::Bytes(bytes) => Given::Plain(self.constant_bytes(bytes)),
            Op::Real(bits, number) => Given::Plain(literal::fraction(*bits, *number)),
            Op::Text(_, text) => Given::Plain(literal::text(text)),
            Op::Float(how) => self.floating(*how, operands, out),
            Op::Arithmetic(how) => {
                let bits = bits(0);
                let (one, other) = self.two(operands, out);
                Given::Number(number::arithmetic(*how, bits, one, other))
            }
            Op::Compare(how) => Given::Number(self.compared(*how, operands, out)),
            Op::Not => {
                let bits = bits(0);
                let of = self.number(operands[0], out);
                Given::Number(inverted(bits, of))
            }
            Op::Select => self.selected(operands, out),
            Op::ZeroExtend(to) => {
                let of = self.number(operands[0], out);
                Given::Number(match of.constant() {
                    Some(constant) => Number::literal(*to, constant),
                    None => Number::local(*to, of.wide(*to)),
                })
            }
            Op::SignExtend(to) => {
                let from = bits(0);
                let of = self.number(operands[0], out).wide(*to);
                let sign = || Number::literal(64, 1 << (from - 1)).code;
                let extended = binary("-", binary("^", of, sign()), sign());
                let width = if *to > 32 { 64 } else { 32 };
                Given::Number(truncated(*to, Number::local(width, extended)))
            }
            Op::Truncate(to) => {
                let of = self.number(operands[0], out);
                Given::Number(truncated(*to, of))
            }
            Op::Concat => Given::Number(self.concatenated(operands, out)),
            Op::At(_) | Op::Index => self.value(operands[0], out),
            _other => return None,
        })
    }

    /// A compiler does not see that an index is in range which a cache holds.
    fn in_range(&mut self, instruction: &Instruction, out: &mut Vec<S>) {
        let Op::At(kind) = instruction.op else {
            return;
        };
        let by = self.definitions.get(instruction.operands[0]);
        if by.is_some_and(|one| matches!(one.op, Op::Load(Region::Cached(..)))) {
            let index = self.code(instruction.operands[0], out);
            let capacity = atom(self.stack.module.kinds[kind.at()].capacity.to_string());
            let is_one = binary("<", index, capacity);
            out.push(call_statement("sl_known", vec![is_one]));
        }
    }

    /// The value of an operation that looks at memory, bytes, containers.
    fn looked_up(&mut self, instruction: &'p Instruction, out: &mut Vec<S>) -> Option<Given> {
        let operands = &instruction.operands[..];
        Some(match &instruction.op {
            Op::Load(region) => self.loaded(*region, operands, instruction.results[0], out),
            Op::Get(_)
            | Op::Read(_)
            | Op::ReadBytes(_)
            | Op::ReadPart(_)
            | Op::Put(_)
            | Op::PutBytes
            | Op::Resize(_)
            | Op::AddScaled
            | Op::Scale
            | Op::Inverse => self.bytewise(instruction, out),
            Op::Length
            | Op::Start
            | Op::InBuffer
            | Op::Attribute(_)
            | Op::Look
            | Op::Before
            | Op::Around => self.looked(instruction, out),
            Op::SubView => {
                let (data, _) = self.view(operands[0], out);
                let at = self.code(operands[1], out);
                let length = self.code(operands[2], out);
                let data = advanced(data, at);
                Given::View { data, length }
            }
            Op::Ended(kind) => {
                let index = self.instance(operands[0], out);
                let name = format!("ended_{}", self.stack.names.kind(*kind));
                Given::Number(Number::bit(call(name, vec![atom("stack"), index])))
            }
            Op::TimerRuns(kind, timer) => {
                let timer = self.timer((*kind, *timer), operands[0], out);
                Given::Number(Number::bit(call("sl_timer_runs", vec![timer.address()])))
            }
            Op::Ask(question, place) => self.asked(*question, *place, operands, out),
            Op::Waiting => Given::Number(Number::word(atom("stack").behind("waiting"))),
            Op::Precede => {
                let mut given = vec![atom("stack")];
                given.push(self.code(operands[0], out));
                given.push(self.code(operands[1], out));
                Given::Number(Number::word(call("precede", given)))
            }
            Op::GoesOn(steps) => {
                let given = vec![atom("stack"), atom(steps.to_string())];
                Given::Number(Number::bit(call("goes_on", given)))
            }
            Op::HasBuffer => Given::Number(Number::bit(call("has_buffer", vec![atom("stack")]))),
            Op::Call(function) => {
                let called = self.called(*function, operands, out);
                self.result_of(instruction.results[0], called)
            }
            _statement => return None,
        })
    }

    /// The statements of an operation that does something; false of one that only gives a value.
    fn states(&mut self, instruction: &'p Instruction, out: &mut Vec<S>) -> bool {
        self.on_messages(instruction, out)
            || self.on_instances(instruction, out)
            || self.on_the_rest(instruction, out)
    }

    /// Statements about memory and messages.
    fn on_messages(&mut self, instruction: &'p Instruction, out: &mut Vec<S>) -> bool {
        let operands = &instruction.operands[..];
        match &instruction.op {
            Op::Store(region) => {
                let (value, place) = operands.split_last().expect("a store has a value");
                let of = self.function.type_of(*value);
                let held = self.value(*value, out).stored(of);
                let place = self.region(*region, place, out);
                out.push(match of {
                    Type::Opaque(of) => self.assigned(of, place, held),
                    _other => set(place, held),
                });
            }
            Op::Write(_) | Op::WriteBytes | Op::WritePart => self.write(instruction, out),
            Op::With(_) | Op::Push | Op::Pull | Op::Cut => {
                self.moved(instruction, out);
            }
            Op::Drop(reason) => {
                let reason = self.stack.names.reasons[reason.at()].clone();
                let mut given = self.buffer_of(operands[0]);
                given.push(atom(reason));
                out.push(call_statement("drop", given));
            }
            Op::Consume => {
                let given = self.buffer_of(operands[0]);
                out.push(call_statement("consume", given));
            }
            _other => return false,
        }
        true
    }

    /// Statements about instances and their timers.
    fn on_instances(&mut self, instruction: &'p Instruction, out: &mut Vec<S>) -> bool {
        let operands = &instruction.operands[..];
        let results = &instruction.results[..];
        match &instruction.op {
            Op::Begin(kind) => {
                let index = self.settled(operands[0], "index", out).code;
                let mut given = vec![atom("stack"), index.clone()];
                given.extend(self.arguments(&operands[1..], out));
                let name = format!("begin_{}", self.stack.names.kind(*kind));
                out.push(call_statement(name, given));
                self.hold(results[0], Given::Number(Number::word(index)));
            }
            Op::End(kind) | Op::Free(kind) => {
                let verb = if matches!(instruction.op, Op::End(_)) {
                    "end"
                } else {
                    "free"
                };
                let index = self.instance(operands[0], out);
                let name = format!("{verb}_{}", self.stack.names.kind(*kind));
                out.push(call_statement(name, vec![atom("stack"), index]));
            }
            Op::StartTimer(kind, timer) => {
                let deadline = self.code(operands[1], out);
                let timer = self.timer((*kind, *timer), operands[0], out).address();
                let timers = atom("stack").behind("timers").address();
                out.push(call_statement(
                    "sl_timers_start",
                    vec![timers, timer, deadline],
                ));
            }
            Op::StopTimer(kind, timer) => {
                let timer = self.timer((*kind, *timer), operands[0], out).address();
                out.push(call_statement("sl_timer_stop", vec![timer]));
            }
            _other => return false,
        }
        true
    }

    /// Statements about containers, the agenda, calls, counters and caches.
    fn on_the_rest(&mut self, instruction: &'p Instruction, out: &mut Vec<S>) -> bool {
        let operands = &instruction.operands[..];
        let results = &instruction.results[..];
        match &instruction.op {
            Op::Change(how, place) => self.change(*how, *place, (operands, results), out),
            Op::Ask(crate::ir::op::Question::First, place) => {
                self.first_of_window(*place, (operands, results), out);
            }
            Op::Queue(order, events) => self.queue(*order, events, operands, out),
            Op::Output(events) => self.output(events, operands, out),
            Op::Step => {
                let steps = atom("stack").behind("shared").member("steps");
                let count = self.code(operands[0], out);
                out.push(S::Assign(steps, "+=", count));
            }
            Op::Turn => {
                let mark = self.code(operands[0], out);
                out.push(call_statement("turn", vec![atom("stack"), mark]));
            }
            Op::Precede => {
                let given = self.computed(instruction, out).expect("it gives a mark");
                match self.plan.is_used(results[0]) {
                    true => self.bind(results[0], given, "behind", out),
                    false => out.extend(given.arguments().into_iter().map(S::Do)),
                }
            }
            Op::Call(function) => self.call_for_effect(*function, (operands, results), out),
            Op::Loop(body, most) => self.turns(*body, *most, (operands, results), out),
            Op::Foreign(id, places) => self.foreign(*id, places, (operands, results), out),
            Op::Run(kernel, pieces) => self.run(*kernel, pieces, (operands, results), out),
            Op::Rewrite(kernel) => self.rewrite(*kernel, operands, results[0], out),
            Op::Yield => self.yield_word(operands[0], out),
            Op::Count(counter) => {
                let place = self.counter(*counter);
                out.push(S::Assign(place, "+=", atom("1")));
            }
            Op::CountBy(counter) => {
                let times = self.code(operands[0], out);
                let place = self.counter(*counter);
                out.push(S::Assign(place, "+=", times));
            }
            Op::Pass(way) => {
                let passed = atom(record::PASSED).element(atom(way.to_string()));
                out.push(S::Assign(passed, "+=", atom("1")));
            }
            Op::Exit(name) => self.exit(name, operands[0], out),
            Op::Commit => out.extend(self.stack.paths.commit(self.id)),
            Op::Recompute(cache) => self.recompute(*cache, operands, out),
            Op::Disarm(cache) => {
                let place = self.region(Region::Valid(*cache), operands, out);
                out.push(assign(place, atom("false")));
            }
            _other => return false,
        }
        true
    }

    fn two(&mut self, operands: &[Value], out: &mut Vec<S>) -> (Number, Number) {
        let one = self.number(operands[0], out);
        let other = self.number(operands[1], out);
        (one, other)
    }

    fn compared(&mut self, how: Compare, operands: &[Value], out: &mut Vec<S>) -> Number {
        if let Type::Bytes(length) = self.function.type_of(operands[0]) {
            let one = self.bytes(operands[0], out).member("at");
            let other = self.bytes(operands[1], out).member("at");
            let compared = call("memcmp", vec![one, other, atom(length.to_string())]);
            let sign = if how == Compare::Eq { "==" } else { "!=" };
            return Number::bit(binary(sign, compared, atom("0")));
        }
        if let Type::Opaque(of) = self.function.type_of(operands[0]) {
            let one = self.plain(operands[0], out);
            let other = self.plain(operands[1], out);
            let same = self.stack.names.opaques[of.at()].same.clone();
            let same = call(same, vec![one, other]);
            return Number::bit(match how {
                Compare::Eq => same,
                _unequal => same.negated(),
            });
        }
        let bits = self.function.type_of(operands[0]).bits().unwrap_or(32);
        let (one, other) = self.two(operands, out);
        number::compared(how, bits, one, other)
    }

    fn selected(&mut self, operands: &[Value], out: &mut Vec<S>) -> Given {
        let is_view = self.function.type_of(operands[1]) == Type::View;
        let condition = match is_view {
            true => self.settled(operands[0], "chosen", out).code,
            false => self.code(operands[0], out),
        };
        if let Some(at) = ["true", "false"]
            .iter()
            .position(|one| condition == atom(*one))
        {
            return self.value(operands[1 + at], out);
        }
        let one = self.value(operands[1], out);
        let other = self.value(operands[2], out);
        let choice = |one: C, other: C| conditional(condition.clone(), one, other);
        match (one, other) {
            (Given::Number(one), Given::Number(other)) => {
                let of = self.function.type_of(operands[1]);
                let bits = of.bits().unwrap_or(32);
                // Two that are narrow would be an `int`.
                let is_wide = |one: &Number| match one.kind {
                    number::Kind::Unsigned(width) => width >= 32,
                    number::Kind::Literal(_) | number::Kind::Bool => false,
                };
                let one_code = match is_wide(&one) || is_wide(&other) || bits == 1 {
                    true => one.code,
                    false => one.wide(bits),
                };
                Given::Number(Number::local(bits, choice(one_code, other.code)))
            }
            (Given::Plain(one), Given::Plain(other)) => Given::Plain(choice(one, other)),
            (
                Given::View {
                    data: one,
                    length: first,
                },
                Given::View {
                    data: other,
                    length: second,
                },
            ) => Given::View {
                data: choice(one, other),
                length: choice(first, second),
            },
            (one, other) => panic!("{one:?} or {other:?} is no choice"),
        }
    }

    fn concatenated(&mut self, operands: &[Value], out: &mut Vec<S>) -> Number {
        let widths: Vec<u8> = operands
            .iter()
            .map(|one| self.function.type_of(*one).bits().unwrap_or(32))
            .collect();
        let all: u32 = widths.iter().map(|width| u32::from(*width)).sum();
        let bits = all as u8;
        let mut below = all;
        let mut joined: Option<C> = None;
        for (operand, width) in operands.iter().zip(widths) {
            below -= u32::from(width);
            let part = self.number(*operand, out);
            if part.constant() == Some(0) {
                continue;
            }
            let wide = part.wide(bits);
            let moved = match below {
                0 => wide,
                below => binary("<<", wide, atom(below.to_string())),
            };
            joined = Some(match joined {
                None => moved,
                Some(before) => binary("|", before, moved),
            });
        }
        match joined {
            Some(code) => Number::local(bits, code),
            None => Number::literal(bits, 0),
        }
    }

    fn loaded(
        &mut self,
        region: Region,
        place: &[Value],
        result: Value,
        out: &mut Vec<S>,
    ) -> Given {
        let code = self.region(region, place, out);
        match self.function.type_of(result) {
            Type::Int(bits) => {
                let kind = match bits {
                    1 => number::Kind::Bool,
                    _ => number::Kind::Unsigned(super::super::types::stored_bits(bits)),
                };
                Given::Number(Number { code, kind })
            }
            Type::Bytes(_) | Type::Float(_) | Type::Opaque(_) => Given::Plain(code),
            other => panic!("no region holds a {other}"),
        }
    }

    /// The place of a region.
    pub fn region(&mut self, region: Region, place: &[Value], out: &mut Vec<S>) -> C {
        let names = &self.stack.names;
        match region {
            Region::Field(kind, field) => self.field(Place { kind, field }, place, out),
            Region::Setting(id) => {
                let name = &names.settings[id.at()];
                match self.reach {
                    Reach::Settings => atom("settings").behind(name),
                    Reach::Nothing | Reach::Stack => atom("stack").behind("settings").member(name),
                }
            }
            Region::Now => atom("stack").behind("now_ns"),
            Region::Valid(cache) => self.cache(cache, place, out).member("valid"),
            Region::Cached(cache, at) => {
                let cache = self.cache(cache, place, out);
                cache.member(format!("p{at}"))
            }
        }
    }

    fn cache(&mut self, cache: crate::ir::CacheId, place: &[Value], out: &mut Vec<S>) -> C {
        let name = self.stack.names.caches[cache.at()].clone();
        match (self.stack.module.caches[cache.at()].kind, place) {
            (Some(kind), [instance]) => self.instance_of(kind, *instance, out).member(name),
            _alone => atom("stack").behind(name),
        }
    }

    fn recompute(&mut self, cache: crate::ir::CacheId, operands: &[Value], out: &mut Vec<S>) {
        let held = self.stack.module.cached(cache);
        let (place, values) = operands.split_at(operands.len() - held.len());
        let own = self.cache(cache, place, out);
        for (at, (value, of)) in values.iter().zip(held).enumerate() {
            let code = self.value(*value, out).stored(of);
            out.push(assign(own.clone().member(format!("p{at}")), code));
        }
        out.push(assign(own.member("valid"), atom("true")));
        if let Some(guesses) = self.stack.guesses(cache) {
            let mut given = vec![atom("stack"), self.instance(place[0], out)];
            given.extend(guesses.keys.iter().map(|at| self.code(values[*at], out)));
            let name = format!("note_{}", self.stack.names.caches[cache.at()]);
            out.push(call_statement(name, given));
        }
    }

    /// A field of an instance, with an index for each of its dimensions.
    pub fn field(&mut self, place: Place, operands: &[Value], out: &mut Vec<S>) -> C {
        let names = &self.stack.names.kinds[place.kind.at()];
        let member = names.fields[place.field.at()].clone();
        let mut code = self
            .instance_of(place.kind, operands[0], out)
            .member(member);
        for index in &operands[1..] {
            code = code.element(self.code(*index, out));
        }
        code
    }

    fn timer(
        &mut self,
        (kind, timer): (crate::ir::KindId, crate::ir::TimerId),
        instance: Value,
        out: &mut Vec<S>,
    ) -> C {
        let name = self.stack.names.kinds[kind.at()].timers[timer.at()].clone();
        self.instance_of(kind, instance, out)
            .member("timers")
            .member(name)
    }

    fn counter(&self, counter: CounterId) -> C {
        let name = atom(self.stack.names.counters[counter.at()].clone());
        atom("stack")
            .behind("counters")
            .element(binary("+", atom("COUNTED"), name))
    }

    /// An operation on numbers with a fraction.
    pub fn floating(&mut self, how: Floating, operands: &[Value], out: &mut Vec<S>) -> Given {
        if how == Floating::FromInt {
            let whole = self.number(operands[0], out).code.cast("int32_t");
            return Given::Plain(whole.cast("double"));
        }
        let one = self.plain(operands[0], out);
        let (sign, word) = match how {
            Floating::Neg => return Given::Plain(literal::negative(one)),
            Floating::Add => ("+", None),
            Floating::Sub => ("-", None),
            Floating::Mul => ("*", None),
            Floating::Div => ("/", None),
            Floating::Eq => ("==", Some("equal")),
            Floating::Lt => ("<", Some("less")),
            Floating::Le => ("<=", Some("at_most")),
            Floating::FromInt => unreachable!("its operand has no fraction"),
            Floating::ToInt => {
                let number = self.keep("number", "double", one, out);
                let above = binary("<", atom("-2147483649.0"), number.clone());
                let below = binary("<", number.clone(), atom("2147483648.0"));
                let whole = number.cast("int32_t").cast("uint32_t");
                let code = conditional(binary("&&", above, below), whole, atom("0U"));
                return Given::Number(Number::word(code));
            }
        };
        let other = self.plain(operands[1], out);
        let code = binary(sign, one, other);
        match word {
            None => Given::Plain(code),
            Some(word) => {
                let compared = self.keep(word, "bool", code, out);
                Given::Number(Number::bit(compared))
            }
        }
    }

    /// A place gets a value of an opaque type. A text is where it begins.
    pub fn assigned(&self, of: OpaqueId, place: C, value: C) -> S {
        let copy = self.stack.names.opaques[of.at()].copy.clone();
        let place = match self.stack.module.opaques[of.at()].room {
            Some(_) => place,
            None => place.address(),
        };
        call_statement(copy, vec![place, value])
    }

    /// The arguments that give up the buffer of a message.
    pub fn buffer_of(&mut self, message: Value) -> Vec<C> {
        let variable = self.message(message);
        vec![
            atom("stack"),
            variable.member("buffer"),
            variable.member("came_in"),
        ]
    }

    /// The arguments of a call, of views both parts.
    pub fn arguments(&mut self, operands: &[Value], out: &mut Vec<S>) -> Vec<C> {
        let mut all = Vec::new();
        for operand in operands {
            all.extend(self.value(*operand, out).arguments());
        }
        all
    }

    /// Looks at a message.
    fn looked(&mut self, instruction: &Instruction, out: &mut Vec<S>) -> Given {
        let operands = &instruction.operands[..];
        if self.function.type_of(operands[0]) == Type::View {
            let (_, length) = self.view(operands[0], out);
            return Given::Number(Number::word(length));
        }
        let message = self.message(operands[0]);
        let data = message.member("data");
        let length = message.member("length");
        match &instruction.op {
            Op::Length => Given::Number(Number::word(length)),
            Op::InBuffer => {
                let buffer = message.member("buffer");
                Given::Number(Number::bit(binary("!=", buffer, atom("NULL"))))
            }
            Op::Start => {
                let first = message.member("buffer").behind("bytes");
                let before = binary("-", data, first).cast("uint32_t");
                Given::Number(Number::word(before))
            }
            Op::Attribute(id) => {
                let code = message.member(&self.stack.names.attributes[id.at()]);
                match self.function.type_of(instruction.results[0]) {
                    Type::Int(1) => Given::Number(Number::bit(code)),
                    Type::Int(bits) => {
                        let stored = super::super::types::stored_bits(bits);
                        let kind = number::Kind::Unsigned(stored);
                        Given::Number(Number { code, kind })
                    }
                    _bytes => Given::Plain(code),
                }
            }
            Op::Look => Given::View { data, length },
            Op::Before => {
                let count = self.settled(operands[1], "before", out).code;
                let data = binary("-", data, count.clone());
                Given::View {
                    data,
                    length: count,
                }
            }
            _around => {
                let count = self.settled(operands[1], "before", out).code;
                let data = binary("-", data, count.clone());
                let length = binary("+", length, count);
                Given::View { data, length }
            }
        }
    }

    /// Moves a message: it goes on in the same variable.
    fn moved(&mut self, instruction: &Instruction, out: &mut Vec<S>) {
        let operands = &instruction.operands[..];
        let message = self.message(operands[0]);
        let (data, length) = (message.member("data"), message.member("length"));
        match &instruction.op {
            Op::With(id) => {
                let of = self.function.type_of(operands[1]);
                let value = self.value(operands[1], out).stored(of);
                let member = message.member(&self.stack.names.attributes[id.at()]);
                if member != value {
                    out.push(assign(member, value));
                }
            }
            Op::Cut => {
                let count = self.code(operands[1], out);
                out.push(assign(length, count));
            }
            op => {
                let count = self.settled(operands[1], "count", out).code;
                let (back, forth) = if *op == Op::Push {
                    ("-=", "+=")
                } else {
                    ("+=", "-=")
                };
                out.push(S::Assign(data, back, count.clone()));
                out.push(S::Assign(length, forth, count));
            }
        }
        self.hold(instruction.results[0], Given::Message(message));
    }

    /// The name of constant bytes at the top of the file.
    fn constant_bytes(&self, bytes: &[u8]) -> C {
        match bytes.iter().all(|byte| *byte == 0) {
            true => {
                let kind = super::super::types::local(self.stack, Type::Bytes(bytes.len() as u32));
                atom(format!("({kind}){{{{0}}}}"))
            }
            false => atom(self.stack.constants.name(bytes)),
        }
    }

    /// Declares a constant local.
    pub fn keep(&mut self, wanted: &str, kind: &str, value: C, out: &mut Vec<S>) -> C {
        let name = self.local(wanted);
        out.push(constant(kind, &name, value));
        atom(name)
    }
}

/// `place = value;`, or `place += rest;` where the value is that.
fn set(place: C, value: C) -> S {
    match value {
        // GCC warns of a cast behind `+=`.
        C::Binary(sign @ ("+" | "-"), left, rest)
            if *left == place && !matches!(*rest, C::Cast(..)) =>
        {
            let how = match sign {
                "+" => "+=",
                _minus => "-=",
            };
            S::Assign(place, how, *rest)
        }
        value => assign(place, value),
    }
}

/// All bits turned.
fn inverted(bits: u8, of: Number) -> Number {
    if bits == 1 {
        return match of.constant() {
            Some(bit) => Number::literal(1, 1 - bit),
            None => Number::bit(of.code.negated()),
        };
    }
    let turned = C::Unary("~", Box::new(of.wide(bits)));
    truncated(bits, Number::local(if bits > 32 { 64 } else { 32 }, turned))
}

/// The lowest bits.
pub fn truncated(to: u8, of: Number) -> Number {
    if let Some(constant) = of.constant() {
        return Number::literal(to, constant & crate::ir::types::ones(to));
    }
    match to {
        1 if of.kind == number::Kind::Bool => of,
        1 => Number::bit(binary("!=", binary("&", of.code, atom("1")), atom("0"))),
        8 | 16 => Number {
            code: of.code.cast(format!("uint{to}_t")),
            kind: number::Kind::Unsigned(to),
        },
        32 => match of.kind {
            number::Kind::Unsigned(64) => Number::word(of.code.cast("uint32_t")),
            _ => of,
        },
        64 => of,
        _ => {
            let wide = of.kind == number::Kind::Unsigned(64) && to <= 32;
            let code = if wide { of.code } else { of.wide(to) };
            let code = binary("&", code, number::mask(to));
            Number::local(to, if wide { code.cast("uint32_t") } else { code })
        }
    }
}

/// `data + at`.
pub fn advanced(data: C, at: C) -> C {
    match at == atom("0") {
        true => data,
        false => binary("+", data, at),
    }
}

/// A word for the name of a value.
fn word(op: &Op) -> &'static str {
    match op {
        Op::Load(_) => "held",
        Op::Read(_) | Op::Get(_) | Op::ReadBytes(_) | Op::ReadPart(_) => "field",
        Op::Look | Op::Before | Op::Around | Op::SubView => "bytes",
        Op::Length => "length",
        Op::Attribute(_) => "attribute",
        Op::Compare(_) | Op::Not | Op::Ended(_) | Op::TimerRuns(..) => "holds",
        Op::Arithmetic(Arithmetic::Add) => "sum",
        Op::Arithmetic(Arithmetic::Sub) => "difference",
        Op::Call(_) => "found",
        Op::Waiting => "since",
        _other => "value",
    }
}
