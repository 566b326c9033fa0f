//! What the fuzz targets call: the same that the tests call with the seeds.

pub mod targets;

// SAFETY of all calls: the harness only reads the bytes that it is given.
unsafe extern "C" {
    fn ping_fuzz(data: *const u8, length: usize);
    fn host_fuzz(data: *const u8, length: usize);
    fn radio_fuzz(data: *const u8, length: usize);
    fn two_ways_fuzz(data: *const u8, length: usize);
    fn station_fuzz(data: *const u8, length: usize);
    fn repaired_fuzz(data: *const u8, length: usize);
    fn dual_fuzz(data: *const u8, length: usize);
}

/// Frames into one of the stacks of `stacks.rs`, in that order.
pub fn frames(bytes: &[u8]) {
    let Some((chosen, records)) = bytes.split_first() else {
        return;
    };
    const STACKS: [unsafe extern "C" fn(*const u8, usize); 7] = [
        ping_fuzz,
        host_fuzz,
        radio_fuzz,
        two_ways_fuzz,
        station_fuzz,
        repaired_fuzz,
        dual_fuzz,
    ];
    let fuzz = STACKS[*chosen as usize % STACKS.len()];
    unsafe { fuzz(records.as_ptr(), records.len()) }
}
