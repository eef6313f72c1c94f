//! A network namespace of one's own, with or without root.

use std::io;

use nix::errno::Errno;
use nix::sched::{CloneFlags, setns, unshare};

/// How the namespace was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Namespace {
    /// With the capability to make one.
    Privileged,
    /// Inside a user namespace of its own.
    User,
}

/// Moves this process into a new network namespace. It must have one thread only.
pub(crate) fn enter_own_network() -> io::Result<Namespace> {
    match unshare(CloneFlags::CLONE_NEWNET) {
        Ok(()) => return Ok(Namespace::Privileged),
        Err(Errno::EPERM) => {}
        Err(error) => return Err(error.into()),
    }
    let (uid, gid) = (nix::unistd::getuid(), nix::unistd::getgid());
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET)?;
    // Without CAP_SETGID outside, groups may be mapped only after setgroups is given up: user_namespaces(7).
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("0 {uid} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("0 {gid} 1"))?;
    Ok(Namespace::User)
}

/// Moves this process into the network namespace that `ip netns` keeps under `name`. Needs root.
pub(crate) fn enter_named_network(name: &str) -> io::Result<()> {
    Ok(setns(std::fs::File::open(format!("/run/netns/{name}"))?, CloneFlags::CLONE_NEWNET)?)
}
