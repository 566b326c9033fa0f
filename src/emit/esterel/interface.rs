//! What is called from outside: an instant, the beginning, inputs; and what they keep.
//!
//! In: a module. Out: the structs at the top of `NAME.c`, arithmetic as far as it is used, and the
//! functions that `NAME.h` offers.

use super::Emitter;
use super::expression::{Writing, truth};
use super::known::Read;
use crate::c::printer;
use crate::c::tree::{
    Expression as C, Function, Item, Statement, assign, atom, binary, call, call_statement,
};
use crate::tree::automaton::{Act, Node};
use crate::types::esterel::{Data, Type};
use crate::types::process::{Role, SignalId};

/// Functions that a module may need: the head of each, and what it does. `M` is the module.
const ARITHMETIC: [(&str, &str, &str); 8] = [
    (
        "negate",
        "integer M_negate(integer one)",
        "return (integer)(0U - (uint32_t)one);",
    ),
    (
        "add",
        "integer M_add(integer one, integer other)",
        "return (integer)((uint32_t)one + (uint32_t)other);",
    ),
    (
        "subtract",
        "integer M_subtract(integer one, integer other)",
        "return (integer)((uint32_t)one - (uint32_t)other);",
    ),
    (
        "multiply",
        "integer M_multiply(integer one, integer other)",
        "return (integer)((uint32_t)one * (uint32_t)other);",
    ),
    (
        "divide",
        "integer M_divide(integer one, integer other)",
        "return other == -1 ? (integer)(0U - (uint32_t)one) : one / other;",
    ),
    (
        "modulo",
        "integer M_modulo(integer one, integer other)",
        "return other == -1 ? 0 : one % other;",
    ),
    (
        "same",
        "bool M_same(const char *one, const char *other)",
        "while (*one != '\\0' && *one == *other) {\n        one++;\n        other++;\n    }\n    \
         return *one == *other;",
    ),
    (
        "copy",
        "void M_copy(char *to, const char *from)",
        "size_t length = 0;\n    while (length + 1 < STRLEN && from[length] != '\\0') {\n        \
         to[length] = from[length];\n        length++;\n    }\n    to[length] = '\\0';",
    ),
];

impl Emitter<'_> {
    /// What is kept from one instant to the next, and what is given and emitted in one: what these
    /// name.
    pub(super) fn records(&self, users: &[Item]) -> Vec<Item> {
        let users = printer::file(users);
        let role = |signal: SignalId| self.module.processes.signal(signal).role;
        let valued = |signal: SignalId| self.module.channels[signal.at()].is_some();
        let now = |signal: SignalId| self.known.has_flag(Read::Now(signal));
        let before = |signal: SignalId| self.known.has_flag(Read::Before(signal));
        let variables = self.module.variables.iter().zip(&self.names.variables);
        let variables = variables.map(|(one, name)| self.declaration(one.kind, name));
        let given = self.flags(&|one| role(one).is_given());
        let emitted = self.flags(&|one| role(one).is_told());
        let sensed = self.flags(&|one| self.is_sensor(one));
        let kept = self.values(&|one| self.has_before(one));
        let records = [
            ("Inputs of this instant.", "given", given),
            ("Outputs of this instant.", "emitted", emitted),
            ("Sensors that were read in this instant.", "sensed", sensed),
            ("Values of signals.", "value", self.values(&valued)),
            ("Whether they have one.", "known", self.flags(&now)),
            ("Values of the instant before.", "before", kept),
            (
                "Whether there was one.",
                "known_before",
                self.flags(&before),
            ),
            (
                "Variables, and the counts of delays.",
                "variable",
                variables.collect(),
            ),
        ];
        let named = |name: &str| users.contains(&format!("{}.", self.own(name)));
        let records = records.into_iter().filter(|(_, name, _)| named(name));
        let records = records.filter_map(|(says, name, members)| self.record(says, name, &members));
        let mut items = Vec::from_iter(records);
        let mut rest = format!("static int {};", self.own("state"));
        if self.begins() {
            rest += &format!("\nstatic bool {};", self.own("begun"));
        }
        if self.fails {
            rest += &format!("\nstatic const char *{};", self.own("reason"));
        }
        items.push(Item::Text(rest));
        items
    }

    /// A truth for each signal that was chosen.
    fn flags(&self, chosen: &dyn Fn(SignalId) -> bool) -> Vec<String> {
        let signals = self.module.processes.signals().filter(|one| chosen(*one));
        let members = signals.map(|one| format!("bool {}", self.names.signals[one.at()]));
        members.collect()
    }

    /// A value for each signal that was chosen.
    fn values(&self, chosen: &dyn Fn(SignalId) -> bool) -> Vec<String> {
        let signals = self.module.processes.signals().filter(|one| chosen(*one));
        let name_of = |signal: SignalId| &self.names.signals[signal.at()];
        let members = signals.map(|one| self.declaration(self.carried(one), name_of(one)));
        members.collect()
    }

    /// What has no members is no struct of C.
    fn record(&self, says: &str, name: &str, members: &[String]) -> Option<Item> {
        let lines: String = members.iter().map(|one| format!("    {one};\n")).collect();
        let name = self.own(name);
        let text = format!("/* {says} */\nstatic struct {{\n{lines}}} {name};");
        (!members.is_empty()).then_some(Item::Text(text))
    }

    fn declaration(&self, kind: Type, name: &str) -> String {
        match kind {
            Type::Text => format!("char {name}[STRLEN]"),
            kind => format!("{} {name}", self.kind(kind)),
        }
    }

    /// The functions that these use.
    pub(super) fn arithmetic(&self, users: &[Item]) -> Vec<Item> {
        let mut said = printer::file(users);
        let sensors = self.module.processes.signals();
        let mut sensors: Vec<Item> = sensors
            .filter(|one| self.is_sensor(*one))
            .map(|one| self.sense(one))
            .filter(|one| said.contains(&format!("{}(", one.name)))
            .map(Item::Function)
            .collect();
        said += &printer::file(&sensors);
        let own = |text: &str| text.replace("M_", &self.own(""));
        let used = ARITHMETIC
            .iter()
            .filter(|(name, ..)| said.contains(&format!("{}(", self.own(name))));
        let mut items: Vec<Item> = used
            .map(|(_, head, body)| Item::Text(own(&format!("static {head} {{\n    {body}\n}}"))))
            .collect();
        if self.fails {
            let fails = "static int M_fails(const char *reason) {\n    M_reason = reason;\n    \
                         return -1;\n}";
            items.push(Item::Text(own(fails)));
        }
        items.append(&mut sensors);
        items
    }

    /// A sensor is read once in an instant.
    fn sense(&self, signal: SignalId) -> Function {
        let name = &self.names.signals[signal.at()];
        let kind = self.carried(signal);
        let sensed = self.of_signal("sensed", signal);
        let value = self.of_signal("value", signal);
        let outside = call(self.outside_name("S", signal), Vec::new());
        let outside = truth(outside, kind);
        Function {
            comment: String::new(),
            result: "static void".to_string(),
            name: self.own(&format!("sense_{name}")),
            parameters: Vec::new(),
            body: vec![Statement::If {
                condition: sensed.clone().negated(),
                then: vec![
                    self.assigned(kind, value, outside),
                    assign(sensed, atom("true")),
                ],
                otherwise: Vec::new(),
            }],
        }
    }

    /// What the header offers.
    pub(super) fn reaction(&self) -> Vec<Item> {
        let mut items = Vec::new();
        if self.begins() {
            items.push(Item::Function(self.beginning()));
        }
        for signal in self.module.processes.signals() {
            if self.module.processes.signal(signal).role.is_given() {
                items.push(Item::Function(self.input(signal)));
            }
        }
        items.push(Item::Function(self.instant()));
        items.push(Item::Function(self.reset()));
        items.push(Item::Function(self.error()));
        items
    }

    /// The first values of signals.
    pub(super) fn beginning(&self) -> Function {
        let mut body = vec![assign(atom(self.own("begun")), atom("true"))];
        if let Some(data) = self.module.begin {
            Writing::new(self).act(Act::Do(data), &mut body);
        }
        body.push(Statement::Return(Some(atom("0"))));
        Function {
            comment: "The first values of signals.".to_string(),
            result: "static int".to_string(),
            name: self.own("begin"),
            parameters: Vec::new(),
            body,
        }
    }

    fn input(&self, signal: SignalId) -> Function {
        let given = self.of_signal("given", signal);
        let mut body = Vec::new();
        if self.module.channels[signal.at()].is_some() {
            if self.begins() {
                body.push(self.begin_first());
            }
            let kind = self.carried(signal);
            let place = self.of_signal("value", signal);
            let value = truth(atom(self.names.local("value")), kind);
            let combined = self.with(signal, place.clone(), value.clone());
            let set = self.assigned(kind, place.clone(), value.clone());
            match combined == value {
                true => body.push(set),
                false => body.push(Statement::If {
                    condition: given.clone(),
                    then: vec![self.assigned(kind, place, combined)],
                    otherwise: vec![set],
                }),
            }
            body.extend(self.noted(Read::Now(signal), "true"));
        }
        body.push(assign(given, atom("true")));
        if self.module.processes.signal(signal).role.is_told() {
            body.push(assign(self.of_signal("emitted", signal), atom("true")));
        }
        Function {
            body,
            ..self.input_head(signal)
        }
    }

    fn begin_first(&self) -> Statement {
        Statement::If {
            condition: atom(self.own("begun")).negated(),
            then: vec![call_statement(self.own("begin"), Vec::new())],
            otherwise: Vec::new(),
        }
    }

    fn instant(&self) -> Function {
        let mut body = Vec::new();
        if self.begins() {
            body.push(self.begin_first());
        }
        let failed = || vec![Statement::Return(Some(atom("-1")))];
        if self.fails {
            body.push(Statement::If {
                condition: binary("!=", atom(self.own("reason")), atom("NULL")),
                then: failed(),
                otherwise: Vec::new(),
            });
        }
        let state = atom(self.own("state"));
        let next = atom(self.own("states")).element(state.clone());
        let called = C::Call(printer::expression(&next), Vec::new());
        let result = match self.fails {
            false => state,
            true => atom(self.names.local("next")),
        };
        body.push(match self.fails {
            false => assign(result.clone(), called),
            true => Statement::Declare {
                kind: "const int".to_string(),
                name: self.names.local("next"),
                value: Some(called),
            },
        });
        body.extend(self.cleared(true));
        if self.fails {
            body.push(Statement::If {
                condition: binary("<", result.clone(), atom("0")),
                then: failed(),
                otherwise: Vec::new(),
            });
            body.push(assign(atom(self.own("state")), result));
        }
        body.extend(self.told());
        body.push(Statement::Return(Some(self.goes_on())));
        Function {
            body,
            ..self.instant_head()
        }
    }

    /// What is given and sensed belongs to one instant.
    fn cleared(&self, sensed_too: bool) -> Vec<Statement> {
        let mut statements = Vec::new();
        for signal in self.module.processes.signals() {
            let role = self.module.processes.signal(signal).role;
            if role.is_given() {
                statements.push(assign(self.of_signal("given", signal), atom("false")));
            }
            if role == Role::Sensor && sensed_too {
                statements.push(assign(self.of_signal("sensed", signal), atom("false")));
            }
        }
        statements
    }

    /// Outputs, in the order of their declaration.
    fn told(&self) -> Vec<Statement> {
        let told = |signal: &SignalId| self.module.processes.signal(*signal).role.is_told();
        let outputs = self.module.processes.signals().filter(told);
        let tell = |signal| {
            let emitted = self.of_signal("emitted", signal);
            let value = match self.module.channels[signal.at()] {
                Some(_) => vec![self.of_signal("value", signal)],
                None => Vec::new(),
            };
            Statement::If {
                condition: emitted.clone(),
                then: vec![
                    assign(emitted, atom("false")),
                    call_statement(self.outside_name("O", signal), value),
                ],
                otherwise: Vec::new(),
            }
        };
        outputs.map(tell).collect()
    }

    /// Whether anything may still happen.
    fn goes_on(&self) -> C {
        let states = &self.automaton.states;
        let rests = |at: usize| match self.automaton.node(states[at]) {
            Node::Leaf(state) => state.at() == at,
            Node::Test { .. } | Node::Act { .. } | Node::Twice(_) => false,
        };
        match (0..states.len()).find(|at| rests(*at)) {
            Some(end) => binary("!=", atom(self.own("state")), atom(end.to_string())),
            None => atom("1"),
        }
    }

    fn reset(&self) -> Function {
        let mut body = vec![assign(atom(self.own("state")), atom("0"))];
        if self.begins() {
            body.push(assign(atom(self.own("begun")), atom("false")));
        }
        if self.fails {
            body.push(assign(atom(self.own("reason")), atom("NULL")));
        }
        body.extend(self.cleared(true));
        for signal in self.module.processes.signals() {
            if self.module.processes.signal(signal).role.is_told() {
                body.push(assign(self.of_signal("emitted", signal), atom("false")));
            }
            body.extend(self.noted(Read::Now(signal), "false"));
            body.extend(self.noted(Read::Before(signal), "false"));
        }
        for (at, variable) in self.module.variables.iter().enumerate() {
            let place = self.variable(crate::types::esterel::VariableId(at as u32));
            match variable.kind {
                Type::Boolean => body.push(assign(place, atom("false"))),
                Type::Integer => body.push(assign(place, atom("0"))),
                Type::Float => body.push(assign(place, atom("0.0f"))),
                Type::Double => body.push(assign(place, atom("0.0"))),
                Type::Text => body.push(assign(place.element(atom("0")), atom("'\\0'"))),
                // What it was is all that is known of it.
                Type::User(_) => {}
            }
        }
        body.push(Statement::Return(Some(atom("0"))));
        Function {
            body,
            ..self.reset_head()
        }
    }

    fn error(&self) -> Function {
        let reason = match self.fails {
            true => self.own("reason"),
            false => "NULL".to_string(),
        };
        Function {
            body: vec![Statement::Return(Some(atom(reason)))],
            ..self.error_head()
        }
    }

    /// Whether signals have values at the beginning.
    fn begins(&self) -> bool {
        let begin = self.module.begin.map(|data| &self.module.data[data.at()]);
        let Some(Data::Begin(all)) = begin else {
            return false;
        };
        all.iter().any(|(_, value)| value.is_some())
    }

    /// Whether the value of the instant before is kept.
    pub(super) fn has_before(&self, signal: SignalId) -> bool {
        let signal_has = self.module.processes.signal(signal).previous_value;
        signal_has && self.module.channels[signal.at()].is_some()
    }

    /// Whether it is a sensor that is read.
    pub(super) fn is_sensor(&self, signal: SignalId) -> bool {
        self.module.processes.signal(signal).role == Role::Sensor
    }

    /// The name of what somebody else writes or calls.
    pub(super) fn outside_name(&self, kind: &str, signal: SignalId) -> String {
        let name = &self.module.processes.signal(signal).name;
        self.offered(&format!("{kind}_{name}"))
    }
}
