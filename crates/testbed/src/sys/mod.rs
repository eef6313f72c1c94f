//! What the kernel has to do for us. The only `unsafe` of the workspace is in this module.
#![allow(unsafe_code, reason = "system calls without a safe wrapper; each block says why it is sound")]

mod checksum;
mod confirmed;
mod contained;
mod counter;
mod descriptor;
mod fragments;
mod interface;
mod interrupt;
mod loopback;
mod namespace;
mod netlink;
mod packet;
mod schedule;
mod shaper;
mod veth;

pub(crate) use checksum::leave_checksum_out;
pub(crate) use confirmed::receive_confirmed;
pub(crate) use contained::spawn_contained;
pub(crate) use counter::{counter, hardware_clock};
pub(crate) use descriptor::{receive_descriptors, send_descriptors};
pub(crate) use fragments::keep_fragments;
pub(crate) use interface::{
    MTU, add_neighbour, bring_up, bring_up_with_address, can_create_taps, create_tap, quiet_ipv6,
};
pub(crate) use interrupt::interrupt_flag;
pub(crate) use loopback::enter_private_loopback;
pub(crate) use namespace::{Namespace, enter_named_network, enter_own_network};
pub(crate) use packet::{PacketSocket, Received};
pub(crate) use schedule::{allowed_cpus, pin_to, tighten_timers, try_fifo};
pub(crate) use shaper::hold_to;
pub(crate) use veth::create_veth;

/// The result of a system call, or its error.
fn checked(result: libc::c_int) -> std::io::Result<libc::c_int> {
    if result < 0 { Err(std::io::Error::last_os_error()) } else { Ok(result) }
}
