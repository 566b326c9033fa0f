//! A process that runs modules in C, and what is written in C.
//!
//! In: modules, and files with the C of others. Out: a [`Child`], which interpreters call for
//! functions and types ([`Externs`]), and which runs a module itself ([`Runs`]). What goes wrong in
//! it, such as a signal that ends it, is kept until somebody asks: [`Child::wrong`].

use super::companion::{Kept, PIPE, companion, data};
use crate::back::c::esterel::{self, Outside};
use crate::pipeline::{Reactive, esterel_c};
use crate::simulate::process::Fault;
use crate::simulate::process::esterel::{Externs, Value};
use crate::simulate::process::instants::Given;
use crate::simulate::process::machine::Runs;
use crate::tool::c_compiler;
use crate::tool::failure::{Failure, about, plain};
use crate::tree::automaton::Automaton;
use crate::types::esterel::{Module, Type};
use crate::types::process::SignalId;
use std::cell::RefCell;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};

/// The C of modules that run in C, and of all around them: the program that a [`Child`] runs is
/// made of `companion.c` and `pipe.c`. Each module has its number there, in order.
pub fn files(modules: &[&Reactive]) -> Vec<(String, String)> {
    let (mut files, mut known) = (Vec::new(), Vec::new());
    for Reactive { module, automaton } in modules {
        let (own, kept) = own_files(module, automaton, Outside::Declared);
        files.extend(own);
        known.push((module, kept));
    }
    files.push(("companion.c".to_string(), companion(&known, None)));
    files.push(("pipe.c".to_string(), PIPE.to_string()));
    files
}

/// Compiles a module, with the C of others that it needs, in a folder. Where an interpreter runs
/// the module, only that of others is there.
pub fn compile(
    reactive: &Reactive,
    functions: &[PathBuf],
    runs: bool,
    folder: &Path,
) -> Result<PathBuf, Failure> {
    let own = named_for_c(&reactive.module);
    let module = &own;
    if let Some(reason) = esterel::refused(module) {
        return Err(Failure::environment(reason));
    }
    let functions = functions
        .iter()
        .map(|path| path.canonicalize().map_err(about(path)))
        .collect::<Result<Vec<_>, _>>()?;
    let header = format!("{}_data.h", module.name);
    let mut files = vec![(header.clone(), data(module, &functions))];
    let mut kept = Kept::new();
    let beside = match runs {
        false => Some(&header[..]),
        true => {
            let outside = match &module.of_c().names(module)[..] {
                [] => Outside::Declared,
                _ => Outside::Header(&header),
            };
            let (own, known) = own_files(module, &reactive.automaton, outside);
            files.extend(own);
            kept = known;
            None
        }
    };
    files.push((
        "companion.c".to_string(),
        companion(&[(module, kept)], beside),
    ));
    files.push(("pipe.c".to_string(), PIPE.to_string()));
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(about(&path))?;
    }
    let program = folder.join("program");
    let sources = ["companion.c", "pipe.c"].map(Path::new);
    c_compiler::executable(folder, &sources, &program, &["-O0", "-w"])?;
    Ok(program)
}

/// The files of a module, and what is true in its C if a sensor's value is kept.
fn own_files(
    module: &Module,
    automaton: &Automaton,
    outside: Outside,
) -> ([(String, String); 2], Kept) {
    let printed = esterel_c("a program", module, automaton, outside);
    let name = &module.name;
    let files = [
        (format!("{name}.c"), printed.c),
        (format!("{name}.h"), printed.h),
    ];
    (files, printed.kept)
}

/// How many names are tried for a module.
const MOST_NAMES: usize = 10;

/// A module with a name that no function of C's library has, all of which have small letters, and
/// that nothing else means in C.
fn named_for_c(module: &Module) -> Module {
    let mut module = module.clone();
    if !module
        .name
        .contains(|letter: char| letter.is_ascii_uppercase())
    {
        module.name += "_module";
    }
    // Some names of others are refused whatever the module is called.
    for _ in 0..MOST_NAMES {
        if esterel::refused(&module).is_none() {
            break;
        }
        module.name += "_module";
    }
    module
}

/// A process that was started.
pub struct Child<'m> {
    module: &'m Module,
    state: RefCell<State>,
    /// The sizes of the types that C knows.
    sizes: Vec<usize>,
}

struct State {
    process: std::process::Child,
    requests: BufWriter<std::process::ChildStdin>,
    answers: BufReader<std::process::ChildStdout>,
    wrong: Option<String>,
}

impl<'m> Child<'m> {
    /// Starts a program that was compiled, for the module with this number.
    pub fn start(program: &Path, module: &'m Module, number: u32) -> Result<Child<'m>, Failure> {
        let (process, requests, answers) = c_compiler::started(program)?;
        let mut child = Child {
            module,
            state: RefCell::new(State {
                process,
                requests: BufWriter::new(requests),
                answers: BufReader::new(answers),
                wrong: None,
            }),
            sizes: Vec::new(),
        };
        let sizes = child.ask(|state| {
            state.requests.write_all(&number.to_ne_bytes())?;
            if module.types.is_empty() {
                return Ok(Vec::new());
            }
            state.request(b'z', 0)?;
            state.requests.flush()?;
            let sizes = module.types.iter().map(|_| state.number());
            sizes.collect::<io::Result<Vec<u32>>>()
        });
        child.sizes = sizes.into_iter().map(|size| size as usize).collect();
        match child.wrong() {
            None => Ok(child),
            Some(says) => Err(Failure::refused(says)),
        }
    }

    /// What went wrong with the process itself.
    pub fn wrong(&self) -> Option<String> {
        self.state.borrow().wrong.clone()
    }

    /// Talks to the process; what it says is nothing once it has ended.
    fn ask<T: Default>(&self, talk: impl FnOnce(&mut State) -> io::Result<T>) -> T {
        let state = &mut *self.state.borrow_mut();
        if state.wrong.is_some() {
            return T::default();
        }
        match talk(state) {
            Ok(said) => said,
            Err(error) => {
                state.wrong = Some(state.end(&error));
                T::default()
            }
        }
    }

    /// A request with values, and the answer of a type.
    fn answer(&self, request: u8, which: u32, given: &[&Value], kind: Type) -> Value {
        let answer = self.ask(|state| {
            state.request(request, which)?;
            for value in given {
                state.requests.write_all(&bytes_of(value))?;
            }
            state.requests.flush()?;
            state.value(kind, self.size(kind)).map(Some)
        });
        // Once it has ended, any value will do.
        answer.unwrap_or_else(|| value_of(kind, &[]))
    }

    fn size(&self, kind: Type) -> usize {
        match kind {
            Type::Boolean | Type::Integer | Type::Float => 4,
            Type::Double => 8,
            // It says its length itself.
            Type::Text => 0,
            Type::User(kind) => self.sizes.get(kind as usize).copied().unwrap_or_default(),
        }
    }
}

impl State {
    fn request(&mut self, request: u8, which: u32) -> io::Result<()> {
        self.requests.write_all(&[request])?;
        self.requests.write_all(&which.to_ne_bytes())
    }

    fn bytes(&mut self, size: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; size];
        self.answers.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn number(&mut self) -> io::Result<u32> {
        let mut bytes = [0; 4];
        self.answers.read_exact(&mut bytes)?;
        Ok(u32::from_ne_bytes(bytes))
    }

    fn value(&mut self, kind: Type, size: usize) -> io::Result<Value> {
        match kind {
            Type::Text => self.text().map(Value::Text),
            kind => Ok(value_of(kind, &self.bytes(size)?)),
        }
    }

    fn text(&mut self) -> io::Result<String> {
        let length = self.number()? as usize;
        let bytes = self.bytes(length)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Why it says nothing any more.
    fn end(&mut self, error: &io::Error) -> String {
        let status = self.process.wait();
        match status.map(|status| (status.signal(), status.code())) {
            Ok((Some(signal), _)) => format!("the C code was killed by signal {signal}"),
            Ok((None, Some(code))) => format!("the C code exited with status {code}"),
            Ok((None, None)) => format!("the C code does not answer: {}", plain(error)),
            Err(error) => format!("the C code does not answer: {}", plain(&error)),
        }
    }
}

impl Drop for State {
    fn drop(&mut self) {
        // It ends when it has nothing to read, unless it is busy for ever.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Externs for Child<'_> {
    fn constant(&self, constant: u32) -> Value {
        let kind = self.module.constants[constant as usize].kind;
        self.answer(b'c', constant, &[], kind)
    }

    fn function(&self, function: u32, arguments: &[Value]) -> Value {
        let kind = self.module.functions[function as usize].result;
        let given: Vec<&Value> = arguments.iter().collect();
        self.answer(b'f', function, &given, kind)
    }

    fn procedure(&self, procedure: u32, references: &mut [Value], values: &[Value]) {
        let kinds = &self.module.procedures[procedure as usize].references;
        let back = self.ask(|state| {
            state.request(b'p', procedure)?;
            for value in references.iter().chain(values) {
                state.requests.write_all(&bytes_of(value))?;
            }
            state.requests.flush()?;
            let each = kinds
                .iter()
                .map(|kind| state.value(*kind, self.size(*kind)));
            each.collect::<io::Result<Vec<_>>>()
        });
        for (place, value) in references.iter_mut().zip(back) {
            *place = value;
        }
    }

    fn empty(&self, kind: u32) -> Value {
        Value::User(vec![0; self.size(Type::User(kind))])
    }

    fn assigned(&self, kind: u32, value: &Value) -> Value {
        self.answer(b'a', kind, &[value], Type::User(kind))
    }

    fn equal(&self, kind: u32, one: &Value, other: &Value) -> bool {
        self.answer(b'=', kind, &[one, other], Type::Boolean) == Value::Boolean(true)
    }

    fn text(&self, kind: u32, value: &Value) -> String {
        self.ask(|state| {
            state.request(b't', kind)?;
            state.requests.write_all(&bytes_of(value))?;
            state.requests.flush()?;
            state.text()
        })
    }

    fn read(&self, kind: u32, text: &str) -> Value {
        let kind_of_c = Type::User(kind);
        let value = self.ask(|state| {
            state.request(b'r', kind)?;
            state
                .requests
                .write_all(&bytes_of(&Value::Text(text.to_string())))?;
            state.requests.flush()?;
            state.value(kind_of_c, self.size(kind_of_c)).map(Some)
        });
        value.unwrap_or_else(|| value_of(kind_of_c, &[]))
    }
}

/// A module that runs in the process.
pub struct InC<'c, 'm>(pub &'c Child<'m>);

impl Runs for InC<'_, '_> {
    fn instant(&mut self, given: &Given) -> Result<Vec<(SignalId, Option<Value>)>, String> {
        let child = self.0;
        let processes = &child.module.processes;
        let (told, unset, says) = child.ask(|state| {
            for (signal, value) in &given.sensors {
                state.request(b's', signal.0)?;
                state.requests.write_all(&bytes_of(value))?;
            }
            for (signal, value) in &given.present {
                state.request(b'i', signal.0)?;
                if let Some(value) = value {
                    state.requests.write_all(&bytes_of(value))?;
                }
            }
            state.request(b'm', 0)?;
            state.requests.flush()?;
            let mut told = Vec::new();
            let mut unset = None;
            loop {
                match state.number()?.cast_signed() {
                    -1 => break,
                    sensor @ ..-1 => {
                        unset.get_or_insert(SignalId((-2 - sensor).cast_unsigned()));
                    }
                    signal => {
                        let signal = SignalId(signal.cast_unsigned());
                        let kind = child.module.channels[signal.at()].as_ref();
                        let kind = kind.map(|channel| channel.kind);
                        let value = kind.map(|kind| state.value(kind, child.size(kind)));
                        told.push((signal, value.transpose()?));
                    }
                }
            }
            Ok((told, unset, state.text()?))
        });
        match unset {
            Some(sensor) => Err(Fault::Unset(sensor).says(processes)),
            None if says.is_empty() => Ok(told),
            None => Err(says),
        }
    }
}

/// A value as C holds it.
fn bytes_of(value: &Value) -> Vec<u8> {
    match value {
        Value::Boolean(truth) => i32::from(*truth).to_ne_bytes().to_vec(),
        Value::Integer(number) => number.to_ne_bytes().to_vec(),
        Value::Float(number) => number.to_ne_bytes().to_vec(),
        Value::Double(number) => number.to_ne_bytes().to_vec(),
        Value::Text(text) => {
            let length = text.len() as u32;
            [&length.to_ne_bytes()[..], text.as_bytes()].concat()
        }
        Value::User(bytes) => bytes.clone(),
    }
}

/// What C gave, without what it did not.
fn value_of(kind: Type, bytes: &[u8]) -> Value {
    let four = || bytes.first_chunk().copied().unwrap_or_default();
    match kind {
        Type::Boolean => Value::Boolean(i32::from_ne_bytes(four()) != 0),
        Type::Integer => Value::Integer(i32::from_ne_bytes(four())),
        Type::Float => Value::Float(f32::from_ne_bytes(four())),
        Type::Double => {
            let eight = bytes.first_chunk().copied().unwrap_or_default();
            Value::Double(f64::from_ne_bytes(eight))
        }
        Type::Text => Value::Text(String::from_utf8_lossy(bytes).into_owned()),
        Type::User(_) => Value::User(bytes.to_vec()),
    }
}
