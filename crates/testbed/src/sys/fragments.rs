//! How patient the kernel of a network namespace is with fragments of IPv4.

use std::io;

/// Memory for datagrams of which not all is there `[byte]`. Linux has 4 MB, some hundred fragments that wait for one that was lost, and
/// takes no others while they wait.
const MEMORY: u32 = 256 << 20;

/// From here on the kernel gives a datagram up when it has waited for too long, and for nothing else: it has room for those that wait, and
/// how many fragments of others come between two of one does not matter (`ipfrag_max_dist`, 64 by itself).
pub(crate) fn keep_fragments() -> io::Result<()> {
    std::fs::write("/proc/sys/net/ipv4/ipfrag_high_thresh", MEMORY.to_string())?;
    std::fs::write("/proc/sys/net/ipv4/ipfrag_max_dist", "0")
}
