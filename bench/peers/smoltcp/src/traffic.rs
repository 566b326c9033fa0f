//! The driver of `loom bench traffic` for smoltcp: in, the functions that `client.c` calls, which
//! is linked as an object; out, frames that leave. Whether sums are written and checked was said by
//! PEER_SUMS, `on` or `off`, when this was compiled.
//!
//! After each frame the application serves the socket of that frame alone: who wrote it knows which
//! one that is. smoltcp itself looks at each socket for something to send.

mod end;

use end::{Arrived, ROOM, capabilities, interface};
use smoltcp::iface::{Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, TxToken};
use smoltcp::socket::tcp;
use smoltcp::time::Instant;
use std::process::exit;
use std::ptr::addr_of_mut;

const PORT: u16 = 5001;
const FIRST_PORT: u16 = 10_000;
const CONNECTIONS: usize = 1100;
const SEGMENT: usize = 1460;
const TEXT: usize = 2 << 16;
/// Default number of connections: those that wait in TIME-WAIT for 10 seconds.
const SPARE: usize = 16;

#[repr(C)]
struct Application {
    request: u32,
    reply: u32,
    closes: bool,
}

unsafe extern "C" {
    static application: Application;
    static now_ns: u64;
    static mut received: u32;
    static text: [u8; TEXT];
    fn bench_wire(frame: *const u8, length: usize);
    fn client_main(count: i32, words: *const *const u8) -> i32;
}

/// State that the application keeps for a connection.
#[derive(Clone, Copy, Default)]
struct Conversation {
    socket: Option<SocketHandle>,
    have: u32,
    owed: u32,
}

/// The frame that arrives, and room for one that leaves.
struct Link {
    placed: [u8; ROOM],
    length: usize,
    leaving: [u8; ROOM],
    capabilities: DeviceCapabilities,
}

struct Leaving<'a>(&'a mut [u8; ROOM]);

impl TxToken for Leaving<'_> {
    #[inline(always)]
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, write: F) -> R {
        let written = write(&mut self.0[..length]);
        // SAFETY: the client copies the frame before it returns.
        unsafe { bench_wire(self.0.as_ptr(), length) };
        written
    }
}

impl Device for Link {
    type RxToken<'a> = Arrived<'a>;
    type TxToken<'a> = Leaving<'a>;

    #[inline(always)]
    fn receive(&mut self, _: Instant) -> Option<(Arrived<'_>, Leaving<'_>)> {
        let length = std::mem::take(&mut self.length);
        let arrived = (length != 0).then(|| Arrived(&self.placed[..length]))?;
        Some((arrived, Leaving(&mut self.leaving)))
    }

    #[inline(always)]
    fn transmit(&mut self, _: Instant) -> Option<Leaving<'_>> {
        Some(Leaving(&mut self.leaving))
    }

    #[inline(always)]
    fn capabilities(&self) -> DeviceCapabilities {
        self.capabilities.clone()
    }
}

struct Sut {
    interface: Interface,
    sockets: SocketSet<'static>,
    link: Link,
    conversations: [Conversation; CONNECTIONS],
    /// True if the application of the first connection sends as much as it can.
    says: bool,
}

static mut SUT: Option<Sut> = None;

fn sut() -> &'static mut Sut {
    // SAFETY: there is one thread, and no function of the client is called while this is used but
    // `bench_wire`, which does not call back.
    unsafe { (*addr_of_mut!(SUT)).as_mut().expect("it is started") }
}

fn now() -> Instant {
    // SAFETY: there is one thread.
    Instant::from_micros(unsafe { now_ns } as i64 / 1000)
}

fn settings() -> &'static Application {
    // SAFETY: the client sets it before it calls anything here.
    unsafe { &*(&raw const application) }
}

fn sent() -> &'static [u8; TEXT] {
    // SAFETY: the client writes it before it calls anything here.
    unsafe { &*(&raw const text) }
}

impl Conversation {
    /// Reads all that arrived, and answers.
    #[inline(always)]
    fn serve(&mut self, socket: &mut tcp::Socket, says: bool) {
        while socket.can_recv() {
            let read = socket.recv(|bytes| (bytes.len(), bytes.len()));
            let length = read.unwrap_or_default() as u32;
            // SAFETY: there is one thread.
            unsafe { received += length };
            if settings().request != 0 {
                self.have += length;
                if self.have >= settings().request {
                    self.have -= settings().request;
                    self.owed += settings().reply;
                }
            }
        }
        if self.owed > 0 {
            let from = (settings().reply - self.owed) as usize;
            let rest = &sent()[from..from + self.owed as usize];
            self.owed -= socket.send_slice(rest).unwrap_or_default() as u32;
            if self.owed == 0 && settings().closes {
                socket.close();
            }
        }
        if says {
            fill(socket);
        }
    }
}

/// Sends whole segments, as many as there is room for.
fn fill(socket: &mut tcp::Socket) {
    while socket.send_capacity() - socket.send_queue() >= SEGMENT {
        if socket.send_slice(&sent()[..SEGMENT]).is_err() {
            return;
        }
    }
}

fn listen(socket: &mut tcp::Socket) {
    socket.listen(PORT).expect("it is closed");
    socket.set_nagle_enabled(false);
}

impl Sut {
    /// The socket of a connection that has just begun.
    #[cold]
    fn begun(&self, port: u16) -> Option<SocketHandle> {
        let mut all = self.sockets.iter();
        let found = all.find(|(_, socket)| {
            let smoltcp::socket::Socket::Tcp(socket) = socket;
            let is_peer = socket.remote_endpoint().is_some_and(|peer| peer.port == port);
            is_peer && socket.state() == tcp::State::SynReceived
        });
        found.map(|(handle, _)| handle)
    }

    #[inline(always)]
    fn input(&mut self) {
        let now = now();
        let port = u16::from_be_bytes([self.link.placed[20], self.link.placed[21]]);
        let is_syn = self.link.placed[33] & 2 != 0;
        let (interface, sockets) = (&mut self.interface, &mut self.sockets);
        interface.poll_ingress_single(now, &mut self.link, sockets);
        let own = usize::from(port.wrapping_sub(FIRST_PORT));
        if is_syn {
            let socket = self.begun(port);
            if let Some(own) = self.conversations.get_mut(own) {
                *own = Conversation { socket, ..Conversation::default() };
            }
        }
        if let Some(own) = self.conversations.get_mut(own)
            && let Some(handle) = own.socket
        {
            own.serve(self.sockets.get_mut::<tcp::Socket>(handle), self.says);
        }
        let (interface, sockets) = (&mut self.interface, &mut self.sockets);
        interface.poll_egress(now, &mut self.link, sockets);
    }

    fn expire(&mut self) {
        self.interface.poll(now(), &mut self.link, &mut self.sockets);
        for (_, socket) in self.sockets.iter_mut() {
            let smoltcp::socket::Socket::Tcp(socket) = socket;
            if !socket.is_open() {
                listen(socket);
            }
        }
    }
}

#[unsafe(no_mangle)]
extern "C" fn sut_start(connections: u32) {
    let capabilities = capabilities(option_env!("PEER_SUMS") == Some("on"));
    let mut link = Link {
        placed: [0; ROOM],
        length: 0,
        leaving: [0; ROOM],
        capabilities,
    };
    let interface = interface(2, &mut link);
    let mut sockets = SocketSet::new(vec![]);
    let count = if connections == 0 { SPARE } else { connections as usize };
    for _ in 0..count {
        let buffer = || tcp::SocketBuffer::new(vec![0; 44 * SEGMENT]);
        let mut socket = tcp::Socket::new(buffer(), buffer());
        socket.set_congestion_control(tcp::CongestionControl::Reno);
        listen(&mut socket);
        sockets.add(socket);
    }
    let conversations = [Conversation::default(); CONNECTIONS];
    let started = Sut {
        interface,
        sockets,
        link,
        conversations,
        says: false,
    };
    // SAFETY: there is one thread, and nothing is started yet.
    unsafe { *addr_of_mut!(SUT) = Some(started) };
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sut_place(frame: *const u8, length: usize) {
    // SAFETY: the client gives so many bytes.
    let frame = unsafe { std::slice::from_raw_parts(frame, length) };
    let link = &mut sut().link;
    link.placed[..length].copy_from_slice(frame);
    link.length = length;
}

#[unsafe(no_mangle)]
extern "C" fn sut_input() {
    sut().input();
}

#[unsafe(no_mangle)]
extern "C" fn sut_expire() {
    sut().expire();
}

#[unsafe(no_mangle)]
extern "C" fn sut_say() {
    let sut = sut();
    sut.says = true;
    let Some(handle) = sut.conversations[0].socket else {
        return;
    };
    fill(sut.sockets.get_mut::<tcp::Socket>(handle));
    sut.interface.poll_egress(now(), &mut sut.link, &mut sut.sockets);
}

#[unsafe(no_mangle)]
extern "C" fn sut_tell() {}

fn main() {
    let words = std::env::args().map(|word| std::ffi::CString::new(word).expect("a word"));
    let words: Vec<std::ffi::CString> = words.collect();
    let all: Vec<*const u8> = words.iter().map(|word| word.as_ptr().cast()).collect();
    // SAFETY: so many words, each with its end.
    exit(unsafe { client_main(all.len() as i32, all.as_ptr()) });
}
