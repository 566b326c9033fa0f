//! A small program, written by hand: the sequencer of the library between a link and a port, with
//! a heartbeat.

use stackloom::source::{Sources, Span};
use stackloom::types::expression::{
    Binary, Expression, ExpressionKind as Kind, Instance, Variable,
};
use stackloom::types::header::{Header, HeaderField, Rule};
use stackloom::types::program::*;
use stackloom::types::statement::{Output, Source, Statement, StatementKind};
use stackloom::types::value::{Type, Value};

const NUMBER: Type = Type::Sequence(32);
const RECORD: KindId = KindId(0);
const SESSION: KindId = KindId(1);

/// The whole program.
pub fn program() -> Program {
    let entity = EntityId(0);
    Program {
        name: "station".to_string(),
        entities: vec![sequencer()],
        kinds: vec![
            kind("sequencer", Role::Record, field("next", 1), None),
            kind(
                "session",
                Role::Session,
                field("last", 0),
                Some(Place::Port(PortId(0))),
            ),
        ],
        handlers: vec![on_start(), on_beat(), on_deliver(), on_send()],
        headers: vec![header()],
        reasons: ["too_short", "late_or_repeated"]
            .map(|name| Reason {
                entity,
                name: name.to_string(),
            })
            .to_vec(),
        counts: vec![Count {
            entity,
            name: "no_buffer".to_string(),
        }],
        links: vec![Link {
            mtu: 1500,
            name: "radio".to_string(),
            above: standing(),
            carrier: None,
            calls: None,
            gathers: false,
        }],
        ports: vec![Port {
            name: "messages".to_string(),
            passes: true,
            below: standing(),
            opens: None,
            listens: None,
            attributes: Vec::new(),
            up: Vec::new(),
            down: Vec::new(),
            calls: None,
        }],
        ..Program::default()
    }
}

fn standing() -> Place {
    Place::Entity {
        entity: EntityId(0),
        index: SessionIndex::Only(0),
        joint: 0,
    }
}

fn sequencer() -> Entity {
    Entity {
        name: "sequencer".to_string(),
        layer: "sequencer".to_string(),
        docs: Vec::new(),
        shape: Shape::Worker,
        header: Some(HeaderId(0)),
        record: RECORD,
        session: SESSION,
        children: Vec::new(),
        below: vec![Below {
            name: None,
            place: Place::Link(LinkId(0)),
        }],
        users: Vec::new(),
        beside: Vec::new(),
        finders: Vec::new(),
        refused: Vec::new(),
        mark: None,
        no_buffer: Some(CountId(0)),
        span: nowhere(),
    }
}

fn kind(
    name: &str,
    role: Role,
    field: Field,
    above: Option<Place>,
) -> stackloom::types::program::Kind {
    stackloom::types::program::Kind {
        name: name.to_string(),
        entity: EntityId(0),
        role,
        keys: Vec::new(),
        capacity: 1,
        fields: vec![field],
        timers: match role {
            Role::Session => vec!["beat".to_string()],
            Role::Record | Role::Child => Vec::new(),
        },
        population: Population::Static(vec![StaticInstance {
            keys: Vec::new(),
            above,
        }]),
        reactive: None,
    }
}

fn header() -> Header {
    Header {
        name: "sequencer".to_string(),
        big: false,
        fields: vec![HeaderField {
            name: "number".to_string(),
            kind: NUMBER,
            is_address: false,
            bit: 0,
            width: 32,
            behind: Vec::new(),
            rule: Rule::Given,
            constraint: None,
            present: None,
            bad: None,
            span: nowhere(),
        }],
        least: 4,
        most: 4,
        too_short: Some(ReasonId(0)),
        options: None,
    }
}

/// `start beat after 1 ms`
fn on_start() -> Handler {
    handler(Event::Start, Vec::new(), vec![start_beat()])
}

/// `send new message with { number = next }   next += 1   start beat after 1 ms`
fn on_beat() -> Handler {
    let body = vec![send(Source::New), count_up(), start_beat()];
    handler(Event::Timer(TimerId(0)), Vec::new(), body)
}

/// `require header.number > last else drop message as late_or_repeated`
/// `last = header.number   deliver message`
fn on_deliver() -> Handler {
    let number = Expression::new(Kind::Header(HeaderId(0), HeaderFieldId(0)), NUMBER);
    let newer = Expression::binary(Binary::Greater, number.clone(), read(last()), Type::Bool);
    let dropped = StatementKind::Drop(
        stackloom::types::statement::Dropped::Message(LocalId(0)),
        ReasonId(1),
    );
    let body = vec![
        StatementKind::Require {
            condition: newer,
            likely: Some(99.0),
            otherwise: vec![statement(dropped)],
        },
        StatementKind::Assign(last(), number),
        StatementKind::Output(Output::Deliver {
            message: Source::Local(LocalId(0)),
            attributes: Vec::new(),
        }),
    ];
    handler(Event::Deliver, vec![message()], body)
}

/// `send message with { number = next }   next += 1`
fn on_send() -> Handler {
    let body = vec![send(Source::Local(LocalId(0))), count_up()];
    handler(Event::Send, vec![message()], body)
}

fn send(source: Source) -> StatementKind {
    StatementKind::Output(Output::Send {
        message: source,
        joint: 0,
        header: vec![(HeaderFieldId(0), read(next()))],
        attributes: Vec::new(),
    })
}

fn count_up() -> StatementKind {
    let one = Expression::number(1, NUMBER);
    StatementKind::Assign(
        next(),
        Expression::binary(Binary::Add, read(next()), one, NUMBER),
    )
}

fn start_beat() -> StatementKind {
    let after = Expression::number(1_000_000, Type::Time);
    StatementKind::StartTimer(Instance::Own, SESSION, TimerId(0), after)
}

fn next() -> Variable {
    Variable::Field(Instance::Entity, RECORD, FieldId(0))
}

fn last() -> Variable {
    Variable::Field(Instance::Own, SESSION, FieldId(0))
}

fn read(variable: Variable) -> Expression {
    Expression::new(Kind::Read(variable), NUMBER)
}

fn field(name: &str, initial: u64) -> Field {
    Field {
        name: name.to_string(),
        kind: NUMBER,
        initial: Some(Expression::constant(Value::Number(initial), NUMBER)),
        once: false,
        has_gaps: false,
    }
}

fn message() -> Local {
    Local {
        name: "message".to_string(),
        kind: Type::Message,
    }
}

fn handler(event: Event, locals: Vec<Local>, body: Vec<StatementKind>) -> Handler {
    Handler {
        kind: SESSION,
        event,
        parameters: (0..locals.len() as u32).map(LocalId).collect(),
        locals,
        body: body.into_iter().map(statement).collect(),
        blocks: Vec::new(),
        places: Vec::new(),
        meets: false,
        span: nowhere(),
    }
}

fn statement(kind: StatementKind) -> Statement {
    Statement {
        kind,
        span: nowhere(),
    }
}

fn nowhere() -> Span {
    Span::new(Sources::new().add("sequencer.loom", ""), 0, 0)
}
