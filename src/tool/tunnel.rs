//! TAP and TUN interfaces.
//!
//! In: the name of an interface, and who does what a network card could do. Out: a `Device`.

use super::capture::LinkType;
use super::device::{Device, passing, taken};
use super::virtio::Virtio;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use tun_rs::{DeviceBuilder, Layer, SyncDevice};

/// What the kernel may leave to the other side of the interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Offload {
    /// Nothing: each frame is as it would be on a wire.
    None,
    /// Sums, and cutting: a virtio header says of each frame what is still to be done, and the
    /// kernel hands over many datagrams or segments at once.
    Virtio,
}

/// A TAP or TUN interface.
pub struct Tunnel {
    device: SyncDevice,
    link_type: LinkType,
    virtio: Option<Virtio>,
}

impl Tunnel {
    /// Attaches to the interface, which is made if it does not exist, and brings it up.
    pub fn open(name: &str, layer: Layer, offload: Offload) -> io::Result<Tunnel> {
        let (link_type, link_header) = match layer {
            Layer::L3 => (LinkType::Ip, 0),
            _ => (LinkType::Ethernet, 14),
        };
        let virtio = (offload == Offload::Virtio).then(|| Virtio::new(link_header));
        let device = DeviceBuilder::new()
            .name(name)
            .layer(layer)
            .with(|builder| {
                builder.offload(virtio.is_some());
            })
            .inherit_enable_state();
        let device = device.build_sync()?;
        device.set_nonblocking(true)?;
        // Who was given an interface by root cannot bring it up, and need not if root did.
        match device.enabled(true) {
            Err(error) if error.kind() != io::ErrorKind::PermissionDenied => Err(error),
            Ok(()) | Err(_) => Ok(Tunnel {
                device,
                link_type,
                virtio,
            }),
        }
    }
}

impl Device for Tunnel {
    fn receive(&mut self, room: &mut [u8], _now_ns: u64) -> io::Result<Option<usize>> {
        let received = match &mut self.virtio {
            Some(virtio) => virtio.receive(room, |received| self.device.recv(received)),
            None => self.device.recv(room).map(Some),
        };
        match received {
            Err(error) if passing(&error) => Ok(None),
            received => received,
        }
    }

    fn send(&mut self, frame: &[u8], _now_ns: u64) -> io::Result<bool> {
        taken(match self.virtio {
            Some(_) => Virtio::send(frame, |sent| self.device.send(sent)),
            None => self.device.send(frame),
        })
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.device.as_fd())
    }

    /// At once, if there is one of which the descriptor does not know.
    fn due_ns(&self) -> Option<u64> {
        let mut virtio = self.virtio.iter();
        virtio.any(Virtio::is_ready).then_some(0)
    }

    fn link_type(&self) -> LinkType {
        self.link_type
    }
}
