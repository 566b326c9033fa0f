//! What watches a network that is simulated: a capture, a bar on the terminal, and Ctrl-C.
//!
//! In: each frame that passes. Out: a pcapng with an interface for each link of each node, in
//! which a frame stands when it is sent and again when it arrives.

use crate::simulate::network::Watch;
use crate::tool::capture::{Direction, LinkType, Writer};
use crate::tool::page::{grouped, time_text};
use crate::tool::progress;
use indicatif::ProgressBar;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The watch.
pub struct Record<'run> {
    stop: &'run AtomicBool,
    shown: ProgressBar,
    writer: Option<Writer>,
    /// The interfaces of each node, one for each of its links.
    interfaces: Vec<Range<u32>>,
    /// Why nothing more is written.
    broken: Option<io::Error>,
}

impl<'run> Record<'run> {
    /// Without a capture.
    pub fn new(stop: &'run AtomicBool) -> Record<'run> {
        Record {
            stop,
            shown: progress::spinner("simulating"),
            writer: None,
            interfaces: Vec::new(),
            broken: None,
        }
    }

    /// With a capture of the links of each node, and of `most` bytes of a frame, or all. A node
    /// for which there are no interfaces is left out.
    pub fn to_file(
        stop: &'run AtomicBool,
        path: &Path,
        interfaces: &[Vec<(String, LinkType)>],
        most: Option<u32>,
    ) -> io::Result<Record<'run>> {
        let writer = Writer::create_several(path, &interfaces.concat(), most)?;
        let mut next = 0;
        let of_nodes = interfaces.iter().map(|of_node| {
            let first = next;
            next += u32::try_from(of_node.len()).expect("a stack has few links");
            first..next
        });
        Ok(Record {
            interfaces: of_nodes.collect(),
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
        if let Err(error) = writer.write_on(interface, time, bytes, direction) {
            self.broken.get_or_insert(error);
        }
    }

    fn goes_on(&mut self, now_ns: u64, frames: u64) -> bool {
        let (time, frames) = (time_text(now_ns), grouped(frames));
        self.shown
            .set_message(format!("simulating: {time}, {frames} frames"));
        self.broken.is_none() && !self.stop.load(Ordering::Relaxed)
    }
}
