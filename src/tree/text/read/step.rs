//! The words of a line -> steps, attempts, goals.

use super::{Read, Words};
use crate::tree::{Action, Goal, Index, Reaction};
use crate::types::expression::Instance;
use crate::types::program::{
    EntityId, Event, FilterId, FunctionId, HeaderFieldId, LinkId, NoticeId, PortId, ReasonId,
    Target, TimerId,
};
use crate::types::statement::{Attempt, Operation, Search, Source, Term};

impl Words<'_> {
    /// A step that stands in one line.
    pub fn step(&mut self) -> Read<Action> {
        Ok(match self.word()? {
            "let" => {
                let local = self.local()?;
                self.expect("=")?;
                Action::Let(local, self.expression()?)
            }
            "set" => {
                let place = self.variable()?;
                self.expect("=")?;
                Action::Assign(place, self.expression()?)
            }
            "attribute" => {
                let (message, attribute) = (self.local()?, self.attribute()?);
                self.expect("=")?;
                Action::SetAttribute(message, attribute, self.expression()?)
            }
            "strip" => Action::Strip(self.local()?, self.header()?),
            "strip_rest" => Action::StripRest(self.local()?, self.expression()?),
            "push" => self.push()?,
            "sum" => self.sum()?,
            "scan" => {
                let bind = self.local()?;
                self.expect("=")?;
                Action::Scan {
                    bind,
                    filter: self.filter()?,
                    message: self.local()?,
                    arguments: self.list()?,
                }
            }
            "do" => Action::Do(self.operation()?),
            "drop" => Action::Drop(self.local()?, self.reason()?),
            "drop_all" => Action::DropAll(self.variable()?, self.reason()?),
            "consume" => Action::Consume(self.local()?),
            "count" => Action::Count(self.count()?),
            "pass" => {
                let way = u32::try_from(self.number()?);
                Action::Pass(way.map_err(|_| self.mistake("that is the number of no way"))?)
            }
            "start" => {
                let (instance, kind, timer) = self.timer()?;
                self.expect("after")?;
                Action::StartTimer(instance, kind, timer, self.expression()?)
            }
            "stop" => {
                let (instance, kind, timer) = self.timer()?;
                Action::StopTimer(instance, kind, timer)
            }
            "end" => {
                let (instance, kind) = self.instance()?;
                Action::End(instance, kind)
            }
            "begin" => Action::Begin,
            "turn" => Action::Turn,
            "at_once" => Action::AtOnce,
            "mark" => Action::Mark(self.local()?),
            "precede" => Action::Precede(self.local()?, self.local()?),
            "free" => {
                let (instance, kind) = self.instance()?;
                Action::Free(instance, kind)
            }
            other => return Err(self.mistake(&format!("`{other}` is no step"))),
        })
    }

    fn push(&mut self) -> Read<Action> {
        let (message, header) = (self.local()?, self.header()?);
        let mut values = Vec::new();
        self.expect("(")?;
        while !self.takes(")") {
            let field = self.word()?;
            let field = self.place(&self.names.header_fields[header.at()], field)?;
            self.expect("=")?;
            values.push((HeaderFieldId(field), self.expression()?));
            self.takes(",");
        }
        let below = self.takes("on").then(|| self.expression()).transpose()?;
        Ok(Action::Push {
            message,
            header,
            values,
            below,
        })
    }

    fn sum(&mut self) -> Read<Action> {
        let bind = self.local()?;
        self.expect("=")?;
        let (header, field) = self.header_field()?;
        Ok(Action::Sum {
            bind,
            message: self.local()?,
            header,
            field,
            arguments: self.list()?,
        })
    }

    /// Something that may fail.
    pub fn attempt(&mut self) -> Read<Attempt> {
        if ["find", "create", "soonest", "standing"].contains(&self.peek()) {
            let mut searches = vec![self.search()?];
            while self.takes("or") {
                searches.push(self.search()?);
            }
            return Ok(Attempt::Instance(searches));
        }
        Ok(match self.word()? {
            "value" => Attempt::Value(self.expression()?),
            "pop" => Attempt::Pop(self.variable()?),
            "pop_value" => Attempt::PopValue(self.variable()?),
            "push" => Attempt::Push(self.variable()?, self.source()?),
            "push_value" => Attempt::PushValue(self.variable()?, self.expression()?),
            "insert" => Attempt::InsertWindow(self.variable()?, self.expression()?, self.source()?),
            "insert_value" => {
                Attempt::InsertValue(self.variable()?, self.expression()?, self.expression()?)
            }
            "take_value" => Attempt::TakeValue(self.variable()?, self.expression()?),
            "take" => Attempt::TakeWindow(self.variable()?, self.expression()?),
            "share" => Attempt::ShareWindow(self.variable()?, self.expression()?),
            "merge" => Attempt::InsertStream(self.variable()?, self.expression()?, self.local()?),
            "append" => Attempt::AppendStream(self.variable()?, self.local()?),
            "peek" => Attempt::Peek(self.local()?, self.header()?),
            "restore" => Attempt::Restore(self.local()?, self.attribute()?),
            "pad" => Attempt::Pad(self.local()?, self.expression()?),
            "rewrite" => Attempt::Rewrite(self.local()?, self.filter()?, self.list()?),
            "message" => Attempt::Message(self.source()?),
            other => return Err(self.mistake(&format!("`{other}` is nothing to try"))),
        })
    }

    fn search(&mut self) -> Read<Search> {
        if self.takes("create") {
            let (kind, keys) = (self.kind()?, self.list()?);
            let listener = self.after("for", |words| Ok(words.instance()?.0))?;
            return Ok(Search::Create(kind, keys, listener));
        }
        if self.takes("soonest") {
            let kind = self.kind()?;
            let timer = self.timer_named(kind)?;
            return Ok(Search::Soonest(kind, timer, self.list()?));
        }
        if self.takes("standing") {
            let kind = self.kind()?;
            self.expect("on")?;
            return Ok(Search::Standing(kind, self.which()?));
        }
        self.expect("find")?;
        Ok(Search::Find(Target {
            kind: self.kind()?,
            keys: self.list()?,
            condition: self.after("if", Words::expression)?,
        }))
    }

    fn operation(&mut self) -> Read<Operation> {
        Ok(match self.word()? {
            "skip" => Operation::Skip(self.local()?, self.expression()?),
            "cut" => Operation::Cut(self.local()?, self.expression()?),
            "replace" => {
                Operation::ReplaceWindow(self.variable()?, self.expression()?, self.source()?)
            }
            "replace_value" => {
                Operation::ReplaceValue(self.variable()?, self.expression()?, self.expression()?)
            }
            "release" => Operation::Release(self.variable()?, self.expression()?),
            "begin" => Operation::Begin(self.variable()?, self.expression()?),
            "clear" => Operation::Clear(self.variable()?),
            "add" => Operation::Add(
                self.variable()?,
                self.expression()?,
                Term::Bytes(self.variable()?),
            ),
            "add_data" => Operation::Add(
                self.variable()?,
                self.expression()?,
                Term::Data(self.local()?),
            ),
            "scale" => Operation::Scale(self.variable()?, self.expression()?),
            "rewrite" => Operation::Rewrite(self.local()?, self.filter()?, self.list()?),
            "call" => Operation::Call(self.function()?, self.list()?),
            other => return Err(self.mistake(&format!("`{other}` is no operation"))),
        })
    }

    fn source(&mut self) -> Read<Source> {
        Ok(match self.word()? {
            "own" => Source::Local(self.local()?),
            "new" => Source::New,
            "from" => Source::NewFrom(self.variable()?, self.expression()?),
            "share" => Source::Share(self.local()?),
            "piece" => Source::Piece(self.local()?, self.expression()?, self.expression()?),
            "take" => Source::TakeStream(self.variable()?, self.expression()?),
            "slice" => {
                Source::SliceStream(self.variable()?, self.expression()?, self.expression()?)
            }
            other => return Err(self.mistake(&format!("no message comes from `{other}`"))),
        })
    }

    /// Where an output goes.
    pub fn goal(&mut self) -> Read<Goal> {
        if self.takes("frame") {
            let link = self.word()?;
            return Ok(Goal::Frame(LinkId(self.place(&self.names.links, link)?)));
        }
        if self.takes("port") {
            let port = self.word()?;
            let port = PortId(self.place(&self.names.ports, port)?);
            let instance = self.which()?;
            return Ok(Goal::Port(port, instance, self.event()?));
        }
        let reaction = self.reaction()?;
        Ok(Goal::Reaction(reaction, self.after("given", Words::given)?))
    }

    /// What starts a tree.
    pub fn reaction(&mut self) -> Read<Reaction> {
        if self.takes("arrive") {
            let entity = self.word()?;
            return Ok(Reaction::Arrive {
                entity: EntityId(self.place(&self.names.entities, entity)?),
                joint: self.number()? as u32,
                index: self.index()?,
                event: self.event()?,
            });
        }
        self.expect("handle")?;
        Ok(Reaction::Handle {
            kind: self.kind()?,
            index: self.index()?,
            event: self.event()?,
        })
    }

    fn index(&mut self) -> Read<Index> {
        if self.takes("any") {
            return Ok(Index::Any);
        }
        if self.takes("label") {
            return Ok(Index::Label(self.number()? as u32));
        }
        self.expect("only")?;
        Ok(Index::Only(self.number()? as u32))
    }

    fn event(&mut self) -> Read<Event> {
        Ok(match self.word()? {
            "send" => Event::Send,
            "deliver" => Event::Deliver,
            "notice" => {
                let name = self.word()?;
                Event::Notice(NoticeId(self.place(&self.names.notices, name)?))
            }
            "timer" => Event::Timer(TimerId(self.number()? as u32)),
            "start" => Event::Start,
            "end" => Event::End,
            "again" => Event::Again,
            other => return Err(self.mistake(&format!("`{other}` is no event"))),
        })
    }

    fn given(&mut self) -> Read<Instance> {
        self.one_instance()
    }

    fn reason(&mut self) -> Read<ReasonId> {
        let name = self.word()?;
        Ok(ReasonId(self.place(&self.names.reasons, name)?))
    }

    /// A filter.
    pub fn filter(&mut self) -> Read<FilterId> {
        let name = self.word()?;
        Ok(FilterId(self.place(&self.names.filters, name)?))
    }

    /// A function.
    pub fn function(&mut self) -> Read<FunctionId> {
        let name = self.word()?;
        Ok(FunctionId(self.place(&self.names.functions, name)?))
    }
}
