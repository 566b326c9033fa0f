//! What watches a network that is simulated: a capture, a bar on the terminal, and Ctrl-C.
//!
//! In: each frame that passes. Out: a pcapng with an interface for each link of each node, in
//! which a frame stands when it is sent and again when it arrives. A frame that Wireshark has no
//! dissector for stands in a UDP datagram, as in the captures of `loom run`.

use crate::simulate::network::sample::Sample;
use crate::simulate::network::{End, Link, Watch};
use crate::tool::capture::{Direction, LinkType, Writer};
use crate::tool::page::{grouped, time_text};
use crate::tool::progress;
use crate::tool::recorded::datagram;
use crate::tool::terminal::result;
use indicatif::ProgressBar;
use std::io;
use std::net::SocketAddr;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A link of a node, as the capture shows it.
#[derive(Clone, Debug)]
pub struct Interface {
    /// `NODE.LINK`
    pub name: String,
    /// The form of its frames.
    pub form: Form,
}

/// The form of frames in a capture.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// As they are.
    Plain(LinkType),
    /// Each in a datagram between this end of the link and the other one.
    Datagram {
        /// This end.
        here: SocketAddr,
        /// The other end, or all others.
        there: SocketAddr,
    },
}

impl Form {
    /// Frames with an Ethernet header.
    pub const ETHERNET: Form = Form::Plain(LinkType::Ethernet);

    /// The form at the end of a link that belongs to a node, below the layer of this name. Layers
    /// of the library that Wireshark has a dissector for need no datagrams. Of datagrams, node N
    /// is 127.0.0.N, and link N has port 18000 + N.
    pub fn of(lowest: &str, links: &[Link], (node, link): (usize, usize)) -> Form {
        match lowest {
            "ethernet" => return Form::ETHERNET,
            "tunnel" | "ipv4" | "ipv6" => return Form::Plain(LinkType::Ip),
            _ => {}
        }
        let is_here = |end: &&End| (end.node, end.link) == (node, link);
        let at = links
            .iter()
            .position(|link| link.ends.iter().any(|end| is_here(&end)));
        let ends = at.map_or(&[][..], |at| &links[at].ends);
        let others: Vec<&End> = ends.iter().filter(|end| !is_here(end)).collect();
        let port = 18_001 + at.unwrap_or(0) as u16;
        let host = |node: usize| {
            let [.., high, low] = (node + 1).to_be_bytes();
            SocketAddr::from(([127, 0, high, low], port))
        };
        Form::Datagram {
            here: host(node),
            there: match others[..] {
                [other] => host(other.node),
                _ => SocketAddr::from(([127, 255, 255, 255], port)),
            },
        }
    }

    fn link_type(self) -> LinkType {
        match self {
            Form::Plain(link_type) => link_type,
            Form::Datagram { .. } => LinkType::Ip,
        }
    }
}

/// The watch.
pub struct Record<'run> {
    stop: &'run AtomicBool,
    /// The seed of the run, if samples are printed.
    pub series: Option<u64>,
    shown: ProgressBar,
    writer: Option<Writer>,
    /// The interfaces of each node, one for each of its links.
    interfaces: Vec<Range<u32>>,
    /// Their forms.
    forms: Vec<Form>,
    /// Why nothing more is written.
    broken: Option<io::Error>,
}

impl<'run> Record<'run> {
    /// Without a capture.
    pub fn new(stop: &'run AtomicBool) -> Record<'run> {
        Record {
            stop,
            series: None,
            shown: progress::spinner("simulating"),
            writer: None,
            interfaces: Vec::new(),
            forms: Vec::new(),
            broken: None,
        }
    }

    /// With a capture of the links of each node, and of `most` bytes of a frame, or all. A node
    /// for which there are no interfaces is left out.
    pub fn to_file(
        stop: &'run AtomicBool,
        path: &Path,
        interfaces: &[Vec<Interface>],
        most: Option<u32>,
    ) -> io::Result<Record<'run>> {
        let all = interfaces.concat();
        let named = all
            .iter()
            .map(|one| (one.name.clone(), one.form.link_type()));
        let writer = Writer::create_several(path, &named.collect::<Vec<_>>(), most)?;
        let mut next = 0;
        let of_nodes = interfaces.iter().map(|of_node| {
            let first = next;
            next += u32::try_from(of_node.len()).expect("a stack has few links");
            first..next
        });
        Ok(Record {
            interfaces: of_nodes.collect(),
            forms: all.iter().map(|one| one.form).collect(),
            writer: Some(writer),
            ..Record::new(stop)
        })
    }

    /// Writes out what is still in memory.
    pub fn finish(&mut self) -> io::Result<()> {
        self.shown.finish_and_clear();
        if let Some(error) = self.broken.take() {
            return Err(error);
        }
        self.writer.as_mut().map_or(Ok(()), Writer::finish)
    }
}

impl Watch for Record<'_> {
    fn frame(&mut self, now_ns: u64, node: usize, link: usize, is_out: bool, bytes: &[u8]) {
        let Some(writer) = &mut self.writer else {
            return;
        };
        let Some(interface) = self.interfaces[node].clone().nth(link) else {
            return;
        };
        let direction = match is_out {
            true => Direction::Out,
            false => Direction::In,
        };
        let time = Duration::from_nanos(now_ns);
        let carried = match (self.forms[interface as usize], direction) {
            (Form::Plain(_), _) => None,
            (Form::Datagram { here, there }, Direction::Out) => Some(datagram(here, there, bytes)),
            (Form::Datagram { here, there }, Direction::In) => Some(datagram(there, here, bytes)),
        };
        let bytes = carried.as_deref().unwrap_or(bytes);
        if let Err(error) = writer.write_on(interface, time, bytes, direction) {
            self.broken.get_or_insert(error);
        }
    }

    fn sample(&mut self, sample: &Sample) {
        if let Some(seed) = self.series {
            let mut line = serde_json::to_value(sample).unwrap_or_default();
            line["seed"] = seed.into();
            // If nobody reads it, the result at the end fails, and says so.
            let _ = result(format_args!("{line}\n"));
        }
    }

    fn goes_on(&mut self, now_ns: u64, frames: u64) -> bool {
        let (time, frames) = (time_text(now_ns), grouped(frames));
        self.shown
            .set_message(format!("simulating: {time}, {frames} frames"));
        self.broken.is_none() && !self.stop.load(Ordering::Relaxed)
    }
}
