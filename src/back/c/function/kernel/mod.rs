//! Kernels: functions that run over bytes, word by word.
//!
//! ```text
//! KERNEL(params.., data, length)                one run of bytes
//! KERNEL_of_N(params.., data)                   one of N bytes, a header, whose words are added
//! KERNEL_over(params.., runs, count)            several, as if they stood behind one another
//! KERNEL_words(params.., data, length, to, room)    what it yields goes to `to`; how many bytes
//! ```

pub mod sum;

use super::super::prototype::{self, Reach};
use super::super::{Stack, types, with_all_used};
use super::number::{Kind, Number};
use super::printer_bytes::load;
use crate::c::tree::{
    Expression as C, Function as CFunction, Item, Line, Statement as S, assign, atom, binary, call,
    call_statement, only_if,
};
use crate::ir::{FunctionId, Kernel, KernelId, Type};
use sum::{adds_words, short_lengths};

/// The functions of a kernel, by their names.
pub fn functions(stack: &Stack<'_>, id: KernelId) -> Vec<CFunction> {
    let kernel = &stack.module.kernels[id.at()];
    let mut all = Vec::new();
    all.push(Printing::new(stack, id).over_one());
    let short = short_lengths(stack.module, id).into_iter();
    all.extend(short.map(|length| Printing::new(stack, id).over_short(length)));
    if kernel_yields(stack, kernel) {
        all.push(Printing::new(stack, id).words());
    } else {
        all.push(Printing::new(stack, id).over_several());
    }
    all
}

fn kernel_yields(stack: &Stack<'_>, kernel: &Kernel) -> bool {
    let mut functions = kernel.functions().into_iter();
    functions.any(|function| prototype::yields(stack, function))
}

/// The part of a stack that a kernel touches.
pub fn reach(stack: &Stack<'_>, kernel: &Kernel) -> Reach {
    let all = kernel.functions().into_iter();
    let all = all.map(|function| stack.reach[function.at()]);
    all.max().unwrap_or(Reach::Nothing)
}

/// A function of a kernel that is being printed.
struct Printing<'p> {
    stack: &'p Stack<'p>,
    kernel: &'p Kernel,
    name: String,
    reach: Reach,
    /// Names of the parameters of the kernel.
    given: Vec<String>,
    body: Vec<S>,
}

impl<'p> Printing<'p> {
    fn new(stack: &'p Stack<'p>, id: KernelId) -> Printing<'p> {
        let kernel = &stack.module.kernels[id.at()];
        let given = 0..kernel.parameters.len();
        Printing {
            stack,
            kernel,
            name: stack.names.kernels[id.at()].clone(),
            reach: reach(stack, kernel),
            given: given.map(|at| format!("given{at}")).collect(),
            body: Vec::new(),
        }
    }

    fn parameters(&self, rest: &[&str]) -> Vec<String> {
        let name = &self.stack.names.stack;
        let mut all = match self.reach {
            Reach::Nothing => Vec::new(),
            Reach::Settings => vec![format!("const struct {name}_settings *settings")],
            Reach::Stack => vec![format!("struct {name} *stack")],
        };
        for (name, of) in self.given.iter().zip(&self.kernel.parameters) {
            all.extend(types::parameters(self.stack, *of, name));
        }
        all.extend(rest.iter().map(|one| one.to_string()));
        all
    }

    fn given(&self) -> Vec<C> {
        let all = self.given.iter().zip(&self.kernel.parameters);
        let all = all.flat_map(|(name, of)| match of {
            Type::View => vec![atom(name), atom(format!("{name}_length"))],
            _plain => vec![atom(name)],
        });
        all.collect()
    }

    fn call(&self, id: FunctionId, rest: Vec<C>) -> C {
        let mut given = self.given();
        given.extend(rest);
        if prototype::yields(self.stack, id) {
            given.push(atom("words"));
        }
        prototype::called(self.stack, self.reach, id, given)
    }

    fn state(&self) -> Vec<C> {
        let count = self.stack.module.function(self.kernel.begins).results.len();
        (0..count).map(|at| atom(format!("state{at}"))).collect()
    }

    /// The first state.
    fn begin(&mut self, length: C) {
        let begins = self.kernel.begins;
        let types = self.stack.module.function(begins).results.clone();
        let called = self.call(begins, vec![length]);
        let declared = |kind: String, name: String, value: C| S::Declare {
            kind,
            name,
            value: Some(value),
        };
        match &types[..] {
            [] => {}
            [only] if !prototype::returns_struct(&types) => {
                let kind = types::local(self.stack, *only);
                self.body.push(declared(kind, "state0".to_string(), called));
            }
            several => {
                let kind = prototype::result(self.stack, begins);
                self.body
                    .push(super::value::constant(&kind, "begun", called));
                for (at, of) in several.iter().enumerate() {
                    let kind = types::local(self.stack, *of);
                    let part = atom("begun").member(format!("r{at}"));
                    self.body.push(declared(kind, format!("state{at}"), part));
                }
            }
        }
    }

    /// The statements of a word.
    fn step(&self, function: FunctionId, (missing, word): (C, C)) -> Vec<S> {
        let types = &self.stack.module.function(function).results;
        let mut given = self.state();
        given.extend([atom("length"), atom("place"), missing, word]);
        let called = self.call(function, given);
        let state = self.state();
        let mut all = Vec::new();
        match &state[..] {
            [] => all.push(S::Do(called)),
            [only] if !prototype::returns_struct(types) => {
                all.push(assign(only.clone(), called));
            }
            several => {
                let kind = prototype::result(self.stack, function);
                all.push(super::value::constant(&kind, "stepped", called));
                for (at, place) in several.iter().enumerate() {
                    let part = atom("stepped").member(format!("r{at}"));
                    all.push(assign(place.clone(), part));
                }
            }
        }
        all.push(S::Assign(atom("place"), "+=", atom("1")));
        all
    }

    fn finish(&mut self) -> S {
        let mut given = self.state();
        given.extend([atom("length"), atom("place")]);
        let called = self.call(self.kernel.finishes, given);
        match prototype::result(self.stack, self.kernel.finishes).as_str() {
            "void" => S::Do(called),
            _some => S::Return(Some(called)),
        }
    }

    fn word_bits(&self) -> u8 {
        8 * self.kernel.unit
    }

    /// A word as a step takes it.
    fn loaded(&self, at: C) -> C {
        load(self.kernel.big, at, u32::from(self.kernel.unit)).code
    }

    fn words_parameter(&self) -> Option<&'static str> {
        kernel_yields(self.stack, self.kernel).then_some("struct words *words")
    }

    /// Over one run of bytes.
    fn over_one(mut self) -> CFunction {
        let unit = u32::from(self.kernel.unit);
        let yields = kernel_yields(self.stack, self.kernel);
        let mut rest = vec!["const uint8_t *data", "uint32_t length"];
        rest.extend(self.words_parameter());
        let parameters = self.parameters(&rest);
        self.begin(atom("length"));
        if adds_words(self.stack.module, self.kernel) {
            let given = ["data", "length", "state0"].map(atom).to_vec();
            self.body
                .push(assign(atom("state0"), call("sl_sum_round", given)));
            let place = "length / 8 + (length % 8 != 0)";
            self.body.push(declare("const uint32_t", "place", place));
            let end = self.finish();
            self.body.push(end);
            return self.function("", parameters);
        }
        self.body.push(declare("uint32_t", "place", "0"));
        self.body.push(declare("uint32_t", "left", "length"));
        let bytes = || atom(unit.to_string());
        let mut whole = self.step(self.kernel.steps, (atom("0"), self.loaded(atom("data"))));
        whole.push(S::Assign(atom("data"), "+=", bytes()));
        whole.push(S::Assign(atom("left"), "-=", bytes()));
        self.body.push(S::While {
            condition: binary(">=", atom("left"), bytes()),
            body: whole,
        });
        if unit > 1 {
            let missing = binary("-", bytes(), atom("left"));
            let order = if self.kernel.big { "big" } else { "little" };
            let mut given = vec![atom("data"), atom("left")];
            given.extend(self.kernel.big.then(bytes));
            let found = Number {
                code: call(format!("sl_last_{order}"), given),
                kind: Kind::Unsigned(64),
            };
            let word = found.narrow(types::stored_bits(self.word_bits()));
            let last = self.kernel.tail.unwrap_or(self.kernel.steps);
            let mut then = Vec::new();
            let given = || atom("words").behind("given");
            then.extend(yields.then(|| assign(given(), atom("left"))));
            then.extend(self.step(last, (missing, word)));
            then.extend(yields.then(|| assign(given(), bytes())));
            self.body
                .push(only_if(binary("!=", atom("left"), atom("0")), then));
        }
        let end = self.finish();
        self.body.push(end);
        self.function("", parameters)
    }

    /// Over one run of so few bytes, of a kernel that adds words: a compiler that expands it knows
    /// which there are.
    fn over_short(mut self, length: u64) -> CFunction {
        let parameters = self.parameters(&["const uint8_t *data"]);
        let count = || atom(length.to_string());
        self.begin(count());
        let given = vec![atom("data"), count(), atom("state0")];
        self.body
            .push(assign(atom("state0"), call("sl_sum_rest", given)));
        let mut given = self.state();
        given.extend([count(), atom(length.div_ceil(8).to_string())]);
        let called = self.call(self.kernel.finishes, given);
        self.body.push(S::Return(Some(called)));
        let result = prototype::result(self.stack, self.kernel.finishes);
        let function = self.function(&format!("_of_{length}"), parameters);
        CFunction {
            result: format!("static inline {result}"),
            ..function
        }
    }

    /// Over several runs.
    fn over_several(mut self) -> CFunction {
        let unit = atom(self.kernel.unit.to_string());
        let parameters = self.parameters(&["const struct sl_run *runs", "size_t count"]);
        let length = call("sl_runs_length", vec![atom("runs"), atom("count")]);
        let length = length.cast("uint32_t");
        self.body
            .push(super::value::constant("uint32_t", "length", length));
        self.begin(atom("length"));
        self.body.push(declare("uint32_t", "place", "0"));
        let fields = [("next", "runs"), ("count", "count")];
        let fields = fields.map(|(name, value)| (name.to_string(), atom(value)));
        self.body.push(S::Declare {
            kind: "struct sl_runs".to_string(),
            name: "left".to_string(),
            value: Some(C::Struct("struct sl_runs".to_string(), fields.to_vec())),
        });
        let next = call("sl_runs_word", vec![atom("left").address(), unit]);
        let next = crate::c::printer::expression(&next);
        let missing = || atom("left").member("missing").cast("uint32_t");
        let step = self.step(self.kernel.steps, (missing(), self.loaded(atom("at"))));
        let body = match self.kernel.tail {
            None => step,
            Some(tail) => vec![S::If {
                condition: binary("!=", missing(), atom("0")),
                then: self.step(tail, (missing(), self.loaded(atom("at")))),
                otherwise: step,
            }],
        };
        self.body.push(S::For {
            start: format!("const uint8_t *at = {next}"),
            condition: binary("!=", atom("at"), atom("NULL")),
            step: format!("at = {next}"),
            body,
        });
        let end = self.finish();
        self.body.push(end);
        self.function("_over", parameters)
    }

    /// Over one run of bytes, and what it yields goes to a place that has so much room.
    fn words(mut self) -> CFunction {
        let rest = [
            "const uint8_t *data",
            "uint32_t length",
            "uint8_t *to",
            "uint32_t room",
        ];
        let parameters = self.parameters(&rest);
        let unit = self.kernel.unit.to_string();
        let fields = [
            ("to", "to".to_string()),
            ("room", "room".to_string()),
            ("unit", unit.clone()),
            ("given", unit),
            ("big", self.kernel.big.to_string()),
        ];
        let fields = fields.into_iter();
        let fields = fields.map(|(name, value)| (name.to_string(), atom(value)));
        self.body.push(S::Declare {
            kind: "struct words".to_string(),
            name: "words".to_string(),
            value: Some(C::Struct("struct words".to_string(), fields.collect())),
        });
        let mut given = match self.reach {
            Reach::Nothing => Vec::new(),
            Reach::Settings => vec![atom("settings")],
            Reach::Stack => vec![atom("stack")],
        };
        given.extend(self.given());
        given.extend([atom("data"), atom("length"), atom("words").address()]);
        self.body.push(call_statement(self.name.clone(), given));
        self.body
            .push(S::Return(Some(atom("words").member("length"))));
        let mut function = self.function("_words", parameters);
        function.result = "static uint32_t".to_string();
        function
    }

    fn function(self, end: &str, parameters: Vec<String>) -> CFunction {
        let result = prototype::result(self.stack, self.kernel.finishes);
        with_all_used(CFunction {
            comment: String::new(),
            result: format!("static {result}"),
            name: format!("{}{end}", self.name),
            body: self.body,
            parameters,
        })
    }
}

fn declare(kind: &str, name: &str, value: &str) -> S {
    S::Declare {
        kind: kind.to_string(),
        name: name.to_string(),
        value: Some(atom(value)),
    }
}

/// The words that a kernel yields, and where they go; none where no kernel yields.
pub fn words(stack: &Stack<'_>) -> Option<Item> {
    let mut kernels = stack.module.kernels.iter();
    let yields = kernels.any(|kernel| kernel_yields(stack, kernel));
    let members = [
        ("uint8_t *to", "where they go"),
        ("uint32_t room", "how many bytes have room there"),
        ("uint32_t length", "how many there are so far"),
        ("uint32_t unit", "bytes of a word"),
        (
            "uint32_t given",
            "bytes of the word at hand that were there: as many come out",
        ),
        ("bool big", "whether the most significant byte comes first"),
    ];
    let members = members.map(|(text, comment)| Line {
        text: text.to_string(),
        comment: comment.to_string(),
    });
    yields.then(|| Item::Struct {
        comment: "Words that a kernel yields.".to_string(),
        name: "words".to_string(),
        members: members.to_vec(),
    })
}
