//! A rate at which an interface holds back who sends over it.
//!
//! A TAP interface alone holds nobody back: its driver takes each packet off the account of the socket that sent it, and throws away what
//! does not fit its ring. What waits in front of the driver stays on that account, so that a socket whose send buffer is used up blocks, and TCP
//! sends no faster. The kernel's token bucket (`tbf`, tc-tbf(8)) keeps packets there.

use std::io;

use super::netlink::{attribute, create};

/// `TCA_KIND` and `TCA_OPTIONS` of `linux/rtnetlink.h`.
const TCA_KIND: u16 = 1;
const TCA_OPTIONS: u16 = 2;
/// `TCA_TBF_PARMS`, `TCA_TBF_RATE64` and `TCA_TBF_BURST` of `linux/pkt_sched.h`.
const TCA_TBF_PARMS: u16 = 1;
const TCA_TBF_RATE64: u16 = 4;
const TCA_TBF_BURST: u16 = 6;
/// `TC_LINKLAYER_ETHERNET`: the kernel computes times itself, and needs no table.
const LINK_LAYER_ETHERNET: u8 = 1;

/// What may pass at once, in time at the rate `[1/s]`: a timer that is late by less takes nothing off the rate. The emulated link keeps the
/// rate itself behind it, to the bit, so at most so much waits there and not here.
const BURSTS_PER_S: u64 = 1_000;
/// What may wait `[byte]`: more than the send buffers of all sockets, which are what bounds it.
const LIMIT: u32 = u32::MAX >> 1;
/// What a frame has in front of its packet, and what a wire adds to a frame `[byte]`.
const FRAME_HEADER: u64 = 14;
const WIRE_OVERHEAD: u16 = 24;

/// Holds back who sends over the interface of this name, whose longest packet has `mtu` bytes, at a rate `[bit/s]`.
pub(crate) fn hold_to(name: &str, mtu: u32, bits_per_s: u64) -> io::Result<()> {
    let bytes_per_s = (bits_per_s / 8).max(1);
    // The longest packet has to fit, or it would never leave.
    let longest = u64::from(mtu) + FRAME_HEADER + u64::from(WIRE_OVERHEAD);
    let burst = u32::try_from((bytes_per_s / BURSTS_PER_S).max(2 * longest)).unwrap_or(u32::MAX);
    // A `tc_ratespec`, and none for a peak.
    let mut options = vec![0, LINK_LAYER_ETHERNET];
    options.extend(WIRE_OVERHEAD.to_ne_bytes());
    options.extend([0; 4]);
    options.extend(u32::try_from(bytes_per_s).unwrap_or(u32::MAX).to_ne_bytes());
    options.extend([0, LINK_LAYER_ETHERNET]);
    options.extend([0; 10]);
    // How much may wait, then the bucket and its mate for the peak, in a unit that is not used beside `TCA_TBF_BURST`.
    options.extend(LIMIT.to_ne_bytes());
    options.extend([0; 8]);
    let options = [
        attribute(TCA_TBF_PARMS, &options),
        attribute(TCA_TBF_RATE64, &bytes_per_s.to_ne_bytes()),
        attribute(TCA_TBF_BURST, &burst.to_ne_bytes()),
    ];
    let index = nix::net::if_::if_nametoindex(name)?;
    // A `tcmsg`: no family, the interface, no handle of ours, the root of what it sends.
    let mut body = vec![0; 4];
    body.extend(index.to_ne_bytes());
    body.extend([0; 4]);
    body.extend(u32::MAX.to_ne_bytes());
    body.extend([0; 4]);
    body.extend(attribute(TCA_KIND, b"tbf\0"));
    body.extend(attribute(TCA_OPTIONS, &options.concat()));
    create(libc::RTM_NEWQDISC, &body)
}
