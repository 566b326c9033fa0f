//! One line, word by word: names, numbers, shares.

use super::{Mistake, Names, Read, Words};
use crate::tree::Probability;
use crate::tree::text::natural::Tables;
use crate::tree::text::scan::Line;
use crate::types::expression::Instance;
use crate::types::program::{
    AttributeId, CountId, HeaderFieldId, HeaderId, KindId, Local, LocalId, Program, TimerId,
};

impl<'a> Words<'a> {
    /// The words of a line.
    pub fn new(
        program: &'a Program,
        names: &'a Names,
        locals: &'a [Local],
        line: &'a Line,
    ) -> Words<'a> {
        Words {
            names,
            tables: Tables { program, locals },
            line,
            at: 0,
        }
    }

    /// `local 1 message: message`
    pub fn declared(&mut self) -> Read<Local> {
        self.expect("local")?;
        let word = self.word()?;
        let name = word.split('@').next().unwrap_or(word).to_string();
        self.expect(":")?;
        let kind = self.type_of()?;
        self.end()?;
        Ok(Local { name, kind })
    }

    /// The next word, which is then read.
    pub fn word(&mut self) -> Read<&'a str> {
        let word = self.line.words.get(self.at);
        let word = word.ok_or_else(|| self.mistake("the line ends too early"))?;
        self.at += 1;
        Ok(word)
    }

    /// The next word; nothing at the end of the line.
    pub fn peek(&self) -> &'a str {
        self.line.words.get(self.at).map_or("", |word| word)
    }

    /// Reads this word, if it is the next.
    pub fn takes(&mut self, word: &str) -> bool {
        let next = self.peek() == word;
        self.at += usize::from(next);
        next
    }

    /// Reads this word.
    pub fn expect(&mut self, word: &str) -> Read<()> {
        match self.takes(word) {
            true => Ok(()),
            false => Err(self.mistake(&format!("`{word}` is missing before `{}`", self.peek()))),
        }
    }

    /// What stands behind a word, if the word is there.
    pub fn after<T>(&mut self, word: &str, read: fn(&mut Self) -> Read<T>) -> Read<Option<T>> {
        match self.takes(word) {
            true => read(self).map(Some),
            false => Ok(None),
        }
    }

    /// Whether all words are read.
    pub fn is_done(&self) -> bool {
        self.at == self.line.words.len()
    }

    /// All words are read.
    pub fn end(&self) -> Read<()> {
        match self.is_done() {
            true => Ok(()),
            false => Err(self.mistake(&format!("`{}` is too much", self.peek()))),
        }
    }

    /// Something is wrong in this line.
    pub fn mistake(&self, sentence: &str) -> Mistake {
        Mistake {
            line: self.line.number,
            sentence: sentence.to_string(),
        }
    }

    /// The place of a name in its table.
    pub fn place(&self, table: &[String], name: &str) -> Read<u32> {
        let place = table.iter().position(|known| known == name);
        let place = place.map(|place| place as u32);
        place.ok_or_else(|| self.mistake(&format!("nothing is called `{name}` here")))
    }

    /// A number.
    pub fn number(&mut self) -> Read<u64> {
        let word = self.word()?;
        let number = word.parse();
        number.map_err(|_| self.mistake(&format!("`{word}` is no number")))
    }

    /// `likely 99.9%`
    pub fn likely(&mut self) -> Read<Probability> {
        self.expect("likely")?;
        let word = self.word()?;
        self.expect("%")?;
        let (whole, part) = word.split_once('.').unwrap_or((word, ""));
        let digits = format!("{whole}{part:0<4}");
        let share = digits.parse().ok().filter(|_| part.len() <= 4);
        let mistake = self.mistake(&format!("`{word}` is no share"));
        share.map(Probability).ok_or(mistake)
    }

    /// A local by its number.
    pub fn local(&mut self) -> Read<LocalId> {
        let word = self.word()?;
        self.local_of(word)
    }

    /// The local that a word means.
    pub fn local_of(&self, word: &str) -> Read<LocalId> {
        let number = word
            .split_once('@')
            .and_then(|(_, number)| number.parse().ok());
        let mistake = self.mistake(&format!("`{word}` is no local"));
        number.map(LocalId).ok_or(mistake)
    }

    /// A kind.
    pub fn kind(&mut self) -> Read<KindId> {
        let name = self.word()?;
        Ok(KindId(self.place(&self.names.kinds, name)?))
    }

    /// An attribute.
    pub fn attribute(&mut self) -> Read<AttributeId> {
        let name = self.word()?;
        Ok(AttributeId(self.place(&self.names.attributes, name)?))
    }

    /// A counter.
    pub fn count(&mut self) -> Read<CountId> {
        let name = self.word()?;
        Ok(CountId(self.place(&self.names.counts, name)?))
    }

    /// `KIND[n@1]`
    pub fn instance(&mut self) -> Read<(Instance, KindId)> {
        let kind = self.kind()?;
        Ok((self.which()?, kind))
    }

    /// `[n@1]`
    pub fn which(&mut self) -> Read<Instance> {
        self.expect("[")?;
        let instance = self.one_instance()?;
        self.expect("]")?;
        Ok(instance)
    }

    /// `n@1`
    pub fn one_instance(&mut self) -> Read<Instance> {
        Ok(match self.word()? {
            "own" => Instance::Own,
            "record" => Instance::Entity,
            word => match word.parse() {
                Ok(index) => Instance::Only(index),
                Err(_) => Instance::Local(self.local_of(word)?),
            },
        })
    }

    /// `KIND[n@1].retry`
    pub fn timer(&mut self) -> Read<(Instance, KindId, TimerId)> {
        let (instance, kind) = self.instance()?;
        Ok((instance, kind, self.timer_named(kind)?))
    }

    /// `retry`, a timer of this kind
    pub fn timer_named(&mut self, kind: KindId) -> Read<TimerId> {
        let name = self.word()?.trim_start_matches('.');
        Ok(TimerId(self.place(&self.names.timers[kind.at()], name)?))
    }

    /// `HEADER`
    pub fn header(&mut self) -> Read<HeaderId> {
        let name = self.word()?;
        Ok(HeaderId(self.place(&self.names.headers, name)?))
    }

    /// `HEADER.FIELD`
    pub fn header_field(&mut self) -> Read<(HeaderId, HeaderFieldId)> {
        let word = self.word()?;
        let mistake = self.mistake(&format!("`{word}` is no field of a header"));
        let (header, field) = word.rsplit_once('.').ok_or(mistake)?;
        let header = HeaderId(self.place(&self.names.headers, header)?);
        let field = self.place(&self.names.header_fields[header.at()], field)?;
        Ok((header, HeaderFieldId(field)))
    }
}
