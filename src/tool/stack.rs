//! A compiled stack, loaded from its shared object: the generated C behind a safe interface.
//!
//! In: a shared object made by `c_compiler` and the stack's description. Out: a `Program`, from
//! which any number of `Stack`s are started. Here and in `loader` alone is `unsafe`: the calls
//! across the border to C, whose contract is the header that the compiler generates.
//!
//! ```text
//! stack.fill(|room| device.receive(room))   frames wait in the stack's own buffers
//! stack.input(link, now_ns)                 and go in together
//! while let Some(output) = stack.next()     what the stack wants done, one thing at a time;
//!     device.send(output.bytes())           dropping it gives its buffers back
//! stack.deadline()                          when to call expire
//! ```

mod loader;

use super::failure::Failure;
use super::layout::{Block, Description, Kind, Layout, Values, blocks};
use crate::simulate::stack::Outcome;
use crate::simulate::value::Datum;
use libloading::{Library, Symbol};
use loader::Loader;
use std::borrow::Cow;
use std::ffi::{c_int, c_uint, c_void};
use std::path::Path;

type SizeFn = unsafe extern "C" fn(*const Block) -> usize;
type StartFn = unsafe extern "C" fn(*mut c_void, usize, *const Block, u64) -> *mut Instance;
type BufferFn = unsafe extern "C" fn(*mut Instance, *mut usize) -> *mut u8;
type InputFn = unsafe extern "C" fn(*mut Instance, c_uint, *const Frame, usize, u64) -> usize;
type NextFn = unsafe extern "C" fn(*mut Instance, *mut Block) -> c_int;
type DoneFn = unsafe extern "C" fn(*mut Instance, *const Block);
type DeadlineFn = unsafe extern "C" fn(*const Instance) -> u64;
type ExpireFn = unsafe extern "C" fn(*mut Instance, u64);
type CountersFn = unsafe extern "C" fn(*const Instance, *mut u64, usize) -> usize;
type OpenFn = unsafe extern "C" fn(*mut Instance, *const Block, u64) -> u32;
type ListenFn = unsafe extern "C" fn(*mut Instance, *const Block, c_uint, u64) -> u32;
type ListenToAllFn = unsafe extern "C" fn(*mut Instance, c_uint, u64) -> u32;
type SendFn =
    unsafe extern "C" fn(*mut Instance, u32, *const Block, *const u8, usize, u64) -> c_uint;
type UnlistenFn = unsafe extern "C" fn(*mut Instance, u32, u64);
type CarrierFn = unsafe extern "C" fn(*mut Instance, c_uint, bool, u64);
type SayFn = unsafe extern "C" fn(*mut Instance, u32, *const Block, u64);

/// `struct NAME`: C alone looks inside.
#[repr(C)]
struct Instance {
    _opaque: [u8; 0],
}

/// `struct NAME_frame`
#[repr(C)]
#[derive(Clone, Copy)]
struct Frame {
    data: *mut u8,
    length: usize,
}

/// `struct loom_field` and `struct loom_layout` of the companion.
#[repr(C)]
struct CompanionField {
    offset: usize,
    size: usize,
}

#[repr(C)]
struct CompanionLayout {
    size: usize,
    fields: *const CompanionField,
}

/// A compiled stack in memory, not yet started.
pub struct Program {
    description: Description,
    config: Layout,
    output: OutputLayout,
    functions: Functions,
    ports: Vec<LoadedPort>,
    counter_names: Vec<String>,
    /// Last, so that it outlives every pointer above.
    _library: Library,
}

struct Functions {
    size: SizeFn,
    start: StartFn,
    buffer: BufferFn,
    input: InputFn,
    next: NextFn,
    done: DoneFn,
    deadline: DeadlineFn,
    expire: ExpireFn,
    counters: CountersFn,
    config_default: unsafe extern "C" fn(*mut Block),
    carrier: Option<CarrierFn>,
}

struct LoadedPort {
    keys: Layout,
    attributes: Layout,
    open: Option<OpenFn>,
    listener_keys: Layout,
    listen: Option<Listen>,
    send: Option<SendFn>,
    unlisten: Option<UnlistenFn>,
    down: Vec<LoadedNotice>,
    /// What `NAME_next` answers for each notice, and where its arguments are in the output.
    up: Vec<(c_int, Layout)>,
    /// The same for a session that is accepted: its listener, and its keys.
    accepted: Option<(c_int, Layout)>,
}

/// What an application may say.
struct LoadedNotice {
    arguments: Layout,
    say: SayFn,
}

/// A listener has keys, or there is but one.
#[derive(Clone, Copy)]
enum Listen {
    With(ListenFn),
    ToAll(ListenToAllFn),
}

/// Where the fields of `struct NAME_output` are.
struct OutputLayout {
    size: usize,
    place: usize,
    session: usize,
    data: usize,
    length: usize,
    /// The second part of a frame, and its length, where frames leave in two parts.
    body: Option<[usize; 2]>,
    with: Option<usize>,
}

impl Program {
    /// Loads a shared object that was compiled from the stack that `description` describes.
    pub fn load(path: &Path, description: Description) -> Result<Program, Failure> {
        // SAFETY: the object comes from `c_compiler`, and generated C has no initialisers.
        let library = unsafe { Library::new(path) }.map_err(broken)?;
        let loader = Loader {
            library: &library,
            name: &description.name,
        };
        let functions = Functions {
            size: loader.function("size")?,
            start: loader.function("start")?,
            buffer: loader.function("buffer")?,
            input: loader.function("input")?,
            next: loader.function("next")?,
            done: loader.function("done")?,
            deadline: loader.function("deadline")?,
            expire: loader.function("expire")?,
            counters: loader.function("counters")?,
            config_default: loader.function("config_default")?,
            carrier: match description.hears_carrier {
                true => Some(loader.function("carrier")?),
                false => None,
            },
        };
        let ports = description
            .ports
            .iter()
            .map(|port| loader.port(port))
            .collect::<Result<_, _>>()?;
        let program = Program {
            config: loader.layout("config", &description.config)?,
            output: loader.output(&description)?,
            counter_names: loader.counter_names()?,
            functions,
            ports,
            description,
            _library: library,
        };
        Ok(program)
    }

    /// Says where stacks that count which ways they take write that, each when it is unloaded. To
    /// be called before there are threads.
    pub fn records_to(file: &Path) {
        // SAFETY: nothing else of this process reads its environment meanwhile.
        unsafe { std::env::set_var("LOOM_PROFILE", file) }
    }

    /// What the compiler says about the stack.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// The stack's settings, each at its default.
    pub fn config(&self) -> Values {
        let mut values = Values::new("setting", &self.config);
        // SAFETY: the memory is as large as the C compiler says and aligned to 64 bytes.
        unsafe { (self.functions.config_default)(values.as_mut_ptr()) };
        values
    }

    /// The keys of a listener at a port: what `Stack::listen` takes.
    pub fn listener_keys(&self, port: usize) -> Values {
        Values::new("key", &self.ports[port].listener_keys)
    }

    /// What may stand beside a message: what `Stack::send` takes.
    pub fn attributes(&self, port: usize) -> Values {
        Values::new("attribute", &self.ports[port].attributes)
    }

    /// What is said with a notice: what `Stack::say` takes.
    pub fn arguments(&self, port: usize, told: usize) -> Values {
        Values::new("argument", &self.ports[port].down[told].arguments)
    }

    /// The keys of a session under a port: what `Stack::open` takes.
    pub fn keys(&self, port: usize) -> Values {
        Values::new("key", &self.ports[port].keys)
    }
}

fn broken(error: libloading::Error) -> Failure {
    Failure::refused(format!("cannot load the compiled stack: {error}"))
}

/// A started stack. It lives in its own memory and knows neither devices nor a clock.
pub struct Stack<'program> {
    program: &'program Program,
    instance: *mut Instance,
    output: Vec<Block>,
    /// Frames that were received and wait for `input`.
    waiting: Vec<Frame>,
    /// A buffer that was asked for and not yet filled.
    spare: Option<(*mut u8, usize)>,
    /// Where the instance is; a `Vec` lets C write into it through `instance` alone.
    _memory: Vec<Block>,
}

/// What became of an attempt to fill a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filled {
    /// A frame waits for `input`.
    Frame,
    /// There was nothing to receive.
    Nothing,
    /// The stack has no buffer left.
    NoBuffer,
}

impl<'program> Stack<'program> {
    /// Starts a stack with these settings.
    pub fn start(
        program: &'program Program,
        config: &Values,
        now_ns: u64,
    ) -> Result<Stack<'program>, Failure> {
        assert!(
            config.has(&program.config),
            "the settings come from `Program::config`"
        );
        // SAFETY: `config` has the layout that the C compiler gave to this program's settings.
        let size = unsafe { (program.functions.size)(config.as_ptr()) };
        let mut memory: Vec<Block> = Vec::new();
        let count = size.div_ceil(64).max(1);
        memory
            .try_reserve_exact(count)
            .map_err(|_| Failure::refused(format!("cannot allocate {size} bytes for the stack")))?;
        memory.resize(count, Block([0; 64]));
        // SAFETY: the memory is at least `size` bytes, aligned to 64, and stays as it is.
        let instance = unsafe {
            (program.functions.start)(memory.as_mut_ptr().cast(), size, config.as_ptr(), now_ns)
        };
        if instance.is_null() {
            let name = &program.description.name;
            return Err(Failure::refused(format!(
                "`{name}` does not start with this configuration"
            )));
        }
        let output = blocks(program.output.size);
        let (waiting, spare) = (Vec::new(), None);
        Ok(Stack {
            program,
            instance,
            output,
            waiting,
            spare,
            _memory: memory,
        })
    }

    /// The program that this is a start of.
    pub fn program(&self) -> &'program Program {
        self.program
    }

    /// Lets `receive` write one frame into a buffer of the stack; it answers the frame's length,
    /// or none if there is none.
    pub fn fill<E>(
        &mut self,
        receive: impl FnOnce(&mut [u8]) -> Result<Option<usize>, E>,
    ) -> Result<Filled, E> {
        let Some((data, room)) = self.spare.take().or_else(|| self.buffer()) else {
            return Ok(Filled::NoBuffer);
        };
        // SAFETY: the stack gave these `room` bytes to us until they go back by `input`. They are
        // inside zeroed memory, so they are initialised.
        let bytes = unsafe { std::slice::from_raw_parts_mut(data, room) };
        let received = receive(bytes);
        if let Ok(Some(length)) = received {
            self.waiting.push(Frame {
                data,
                length: length.min(room),
            });
            return Ok(Filled::Frame);
        }
        self.spare = Some((data, room));
        received.map(|_| Filled::Nothing)
    }

    fn buffer(&mut self) -> Option<(*mut u8, usize)> {
        let mut room = 0;
        // SAFETY: the instance is live, and `room` is ours.
        let data = unsafe { (self.program.functions.buffer)(self.instance, &mut room) };
        (!data.is_null()).then_some((data, room))
    }

    /// Gives the waiting frames to the stack, as coming from one link, and answers how many it
    /// took. The others go on waiting.
    pub fn input(&mut self, link: usize, now_ns: u64) -> usize {
        let count = self.waiting.len();
        let link = c_uint::try_from(link).expect("a stack has few links");
        // SAFETY: every waiting frame lies in a buffer of this instance.
        let taken = unsafe {
            let frames = self.waiting.as_ptr();
            (self.program.functions.input)(self.instance, link, frames, count, now_ns)
        };
        self.waiting.drain(..taken.min(count));
        taken
    }

    /// How many frames wait for `input`.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// What the stack wants done next, if anything. (Not an iterator: an output borrows the stack.)
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<Output<'_, 'program>> {
        // SAFETY: `output` has the size that the C compiler gave to the struct.
        let answer =
            unsafe { (self.program.functions.next)(self.instance, self.output.as_mut_ptr()) };
        let event = match answer {
            0 => return None,
            1 => Event::Frame,
            2 => Event::Deliver,
            _ => Event::Notice,
        };
        Some(Output {
            event,
            answer,
            stack: self,
        })
    }

    /// Opens a session under a port; none if the stack refuses.
    pub fn open(&mut self, port: usize, keys: &Values, now_ns: u64) -> Option<u32> {
        let open = self.program.ports[port].open?;
        assert!(
            keys.has(&self.program.ports[port].keys),
            "the keys come from `Program::keys`"
        );
        // SAFETY: `keys` has the layout that the C compiler gave to the keys of this port.
        let session = unsafe { open(self.instance, keys.as_ptr(), now_ns) };
        (session != u32::MAX).then_some(session)
    }

    /// Listens at a port; none if the stack refuses.
    pub fn listen(&mut self, port: usize, keys: &Values, backlog: u32, now_ns: u64) -> Option<u32> {
        let loaded = &self.program.ports[port];
        assert!(
            keys.has(&loaded.listener_keys),
            "the keys come from `Program::listener_keys`"
        );
        // SAFETY: `keys` has the layout that the C compiler gave to the keys of this listener, and
        // the function is that of a listener with keys, or without, as the description says.
        let listener = unsafe {
            match loaded.listen? {
                Listen::With(listen) => listen(self.instance, keys.as_ptr(), backlog, now_ns),
                Listen::ToAll(listen) => listen(self.instance, backlog, now_ns),
            }
        };
        (listener != u32::MAX).then_some(listener)
    }

    /// Sends on a session of a port.
    pub fn send(
        &mut self,
        port: usize,
        session: u32,
        attributes: Option<&Values>,
        bytes: &[u8],
        now_ns: u64,
    ) -> Outcome {
        let Some(send) = self.program.ports[port].send else {
            return Outcome::Refused;
        };
        let layout = &self.program.ports[port].attributes;
        let attributes = attributes.filter(|given| given.has(layout));
        let attributes = attributes.map_or(std::ptr::null(), Values::as_ptr);
        // SAFETY: attributes of this port have its layout; C reads the bytes during the call.
        let outcome = unsafe {
            send(
                self.instance,
                session,
                attributes,
                bytes.as_ptr(),
                bytes.len(),
                now_ns,
            )
        };
        Outcome::ALL[outcome as usize]
    }

    /// Says something in a conversation: what, by its place among those of the port.
    pub fn say(&mut self, port: usize, told: usize, session: u32, given: &Values, now_ns: u64) {
        let notice = &self.program.ports[port].down[told];
        assert!(
            given.has(&notice.arguments),
            "the arguments come from `Program::arguments`"
        );
        // SAFETY: `given` has the layout that the C compiler gave to the arguments; a session that
        // is not there is ignored.
        unsafe { (notice.say)(self.instance, session, given.as_ptr(), now_ns) }
    }

    /// Says that the application has read a message of so many bytes, where its port asks.
    pub fn grant_read(&mut self, port: usize, session: u32, length: usize, now_ns: u64) {
        let description = &self.program.description.ports[port];
        if let Some(told) = description.says("grant_delivers", &[Kind::Unsigned(32)]) {
            let in_bytes = description.down[told].counts_bytes();
            let read = if in_bytes { length as u64 } else { 1 };
            let mut grant = self.program.arguments(port, told);
            grant.put(0, &Datum::Number(read));
            self.say(port, told, session, &grant, now_ns);
        }
    }

    /// Ends a listener.
    pub fn unlisten(&mut self, port: usize, listener: u32, now_ns: u64) {
        if let Some(unlisten) = self.program.ports[port].unlisten {
            // SAFETY: the instance is live; a listener that is not is ignored.
            unsafe { unlisten(self.instance, listener, now_ns) }
        }
    }

    /// Says that a link went down, or up again, where the stack wants to know.
    pub fn carrier(&mut self, link: usize, up: bool, now_ns: u64) {
        if let Some(carrier) = self.program.functions.carrier {
            let link = c_uint::try_from(link).expect("a stack has few links");
            // SAFETY: the instance is live, and has this link.
            unsafe { carrier(self.instance, link, up, now_ns) }
        }
    }

    /// Takes all buffers that are free, for ever, and answers how many there were.
    pub fn take_buffers(&mut self) -> usize {
        let spare = usize::from(self.spare.take().is_some());
        spare + std::iter::from_fn(|| self.buffer()).count()
    }

    /// When `expire` is to be called, if ever.
    pub fn deadline(&self) -> Option<u64> {
        // SAFETY: the instance is live.
        let deadline_ns = unsafe { (self.program.functions.deadline)(self.instance) };
        (deadline_ns != u64::MAX).then_some(deadline_ns)
    }

    /// Lets the timers expire that are due.
    pub fn expire(&mut self, now_ns: u64) {
        // SAFETY: the instance is live.
        unsafe { (self.program.functions.expire)(self.instance, now_ns) }
    }

    /// Every counter with its name, in the order of the program.
    pub fn counters(&self) -> Vec<(&'program str, u64)> {
        let names = &self.program.counter_names;
        let mut values = vec![0; names.len()];
        // SAFETY: C writes at most as many values as we say there is room for.
        unsafe {
            (self.program.functions.counters)(self.instance, values.as_mut_ptr(), values.len())
        };
        names.iter().map(String::as_str).zip(values).collect()
    }
}

/// What an `Output` is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Bytes to send on the link `place`.
    Frame,
    /// A message for the application on the port `place`.
    Deliver,
    /// A notice for the application on the port `place`.
    Notice,
}

/// One thing that the stack wants done; when dropped, its buffers go back.
pub struct Output<'stack, 'program> {
    /// What is to be done.
    pub event: Event,
    /// What `NAME_next` said.
    answer: c_int,
    stack: &'stack mut Stack<'program>,
}

/// What an application is told.
#[derive(Clone, Debug)]
pub struct Notice {
    /// Its place among those of its port; none if a session was accepted.
    pub told: Option<usize>,
    /// Its arguments; of a session that was accepted, its listener and its keys.
    pub arguments: Values,
}

impl Output<'_, '_> {
    /// The number of the link or port.
    pub fn place(&self) -> usize {
        // SAFETY: `read` is asked for the type that the interface gives to this field.
        unsafe { self.read::<c_uint>(self.stack.program.output.place) as usize }
    }

    /// Of a port: which conversation.
    pub fn session(&self) -> u32 {
        // SAFETY: as in `place`.
        unsafe { self.read(self.stack.program.output.session) }
    }

    /// The bytes to send or to read.
    pub fn bytes(&self) -> Cow<'_, [u8]> {
        let layout = &self.stack.program.output;
        let body = layout.body.filter(|_| self.event == Event::Frame);
        // SAFETY: as in `place`; the bytes stay until `done`, which only our drop calls, and no
        // other call of the stack comes before it.
        unsafe {
            let bytes = self.part(layout.data, self.read(layout.length));
            let body = body.map(|[at, length]| self.part(at, self.read::<u32>(length) as usize));
            match body.unwrap_or_default() {
                [] => Cow::Borrowed(bytes),
                body => Cow::Owned([bytes, body].concat()),
            }
        }
    }

    /// So many bytes to which the field at this offset points.
    ///
    /// # Safety
    ///
    /// It points to as many as stay while the output does, or there are none.
    unsafe fn part(&self, at: usize, length: usize) -> &[u8] {
        match length {
            0 => &[],
            // SAFETY: as the caller says.
            _ => unsafe { std::slice::from_raw_parts(self.read(at), length) },
        }
    }

    /// Of a delivered message: its attributes, if its port has any.
    pub fn attributes(&self) -> Option<Values> {
        let (program, port) = (self.stack.program, self.place());
        let layout = &program.ports.get(port)?.attributes;
        let with = program.output.with.filter(|_| layout.size > 0)?;
        let mut memory = blocks(layout.size);
        // SAFETY: `with` is a union that holds this port's struct, and `memory` has room for it.
        unsafe {
            let from = self.stack.output.as_ptr().cast::<u8>().add(with);
            std::ptr::copy_nonoverlapping(from, memory.as_mut_ptr().cast(), layout.size);
        }
        Some(Values::filled("attribute", layout, memory))
    }

    /// Of a notice: which one, and what is said with it.
    pub fn notice(&self) -> Notice {
        let (port, memory) = (&self.stack.program.ports[self.place()], &self.stack.output);
        let mut up = port.up.iter().enumerate();
        let told = up.find(|(_, (next, _))| *next == self.answer);
        let layout = match (told, &port.accepted) {
            (Some((_, (_, layout))), _) | (None, Some((_, layout))) => layout.clone(),
            (None, None) => Layout::default(),
        };
        Notice {
            told: told.map(|(told, _)| told),
            arguments: Values::filled("argument", &layout, memory.clone()),
        }
    }

    /// # Safety
    /// The struct has a field of this type at this offset.
    unsafe fn read<T: Copy>(&self, offset: usize) -> T {
        // SAFETY: the offset comes from the C compiler, the type from the caller.
        unsafe {
            self.stack
                .output
                .as_ptr()
                .cast::<u8>()
                .add(offset)
                .cast::<T>()
                .read()
        }
    }
}

impl Drop for Output<'_, '_> {
    fn drop(&mut self) {
        if matches!(self.event, Event::Frame | Event::Deliver) {
            let stack = &mut *self.stack;
            // SAFETY: `output` is as `next` left it, and this happens once for each.
            unsafe { (stack.program.functions.done)(stack.instance, stack.output.as_ptr()) }
        }
    }
}
