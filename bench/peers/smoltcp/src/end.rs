//! What the ends of both benches share: in, an address, whether sums are written and checked, and a
//! device; out, what the device leaves to smoltcp, and an interface on it.

use smoltcp::iface::{Config, Interface};
use smoltcp::phy::{Checksum, ChecksumCapabilities, Device, DeviceCapabilities, Medium, RxToken};
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr};

/// No time passes.
pub const NOW: Instant = Instant::from_millis_const(1000);

/// The most bytes of a frame, with what a link might add.
pub const ROOM: usize = 1528;

/// A frame that has arrived, read in place.
pub struct Arrived<'a>(pub &'a [u8]);

impl RxToken for Arrived<'_> {
    #[inline(always)]
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(self.0)
    }
}

/// What a device is for that carries bare packets.
pub fn capabilities(sums: bool) -> DeviceCapabilities {
    let mut capabilities = DeviceCapabilities::default();
    capabilities.medium = Medium::Ip;
    capabilities.max_transmission_unit = 1500;
    let mut checksum = ChecksumCapabilities::ignored();
    if sums {
        checksum.ipv4 = Checksum::Both;
        checksum.udp = Checksum::Both;
        checksum.tcp = Checksum::Both;
    }
    capabilities.checksum = checksum;
    capabilities
}

/// An interface with the address 10.0.0.x.
pub fn interface(address: u8, device: &mut impl Device) -> Interface {
    let mut interface = Interface::new(Config::new(HardwareAddress::Ip), device, NOW);
    interface.update_ip_addrs(|all| {
        let own = IpCidr::new(IpAddress::v4(10, 0, 0, address), 24);
        all.push(own).expect("there is room for one address");
    });
    interface
}
