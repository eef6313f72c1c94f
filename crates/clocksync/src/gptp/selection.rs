//! The best master clock algorithm: IEEE 802.1AS-2020 §10.3.

use chronoseal_wire::gptp::{PortIdentity, SystemIdentity};

use super::PortRole;

/// A way to a grandmaster; the lower is the better. The order of the fields is that of the comparison:
/// IEEE 802.1AS-2020 §10.3.4.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PriorityVector {
    /// The grandmaster.
    pub root: SystemIdentity,
    /// Links to it.
    pub steps_removed: u16,
    /// The port that announced it.
    pub source: PortIdentity,
    /// The port that heard of it.
    pub port: u16,
}

/// What follows for a system from all that its ports know.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Selection {
    /// `gmPriorityVector`: the best way to the best clock; the system itself with no steps if it is that clock.
    pub best: PriorityVector,
    /// The index of the port it was heard at.
    pub slave: Option<usize>,
    /// The role of each port.
    pub roles: Vec<PortRole>,
}

impl Selection {
    /// `masterPriorityVector`: what a port announces when it is a master.
    pub fn announced(&self, own: &SystemIdentity, port: u16) -> PriorityVector {
        PriorityVector { source: PortIdentity { clock: own.clock, port }, port, ..self.best }
    }
}

/// Chooses the grandmaster and the role of each port. A port that cannot be used is `Err`, one that has heard of no clock `Ok(None)`.
/// Ports are numbered from 1, by their place.
pub fn select(own: &SystemIdentity, ports: &[Result<Option<PriorityVector>, Unusable>]) -> Selection {
    let source = PortIdentity { clock: own.clock, port: 0 };
    let mut best = PriorityVector { root: *own, steps_removed: 0, source, port: 0 };
    let mut slave = None;
    for (index, port) in ports.iter().enumerate() {
        let Ok(Some(heard)) = port else { continue };
        let way = PriorityVector { steps_removed: heard.steps_removed.saturating_add(1), ..*heard };
        if heard.source.clock != own.clock && way < best {
            (best, slave) = (way, Some(index));
        }
    }
    let mut selection = Selection { best, slave, roles: Vec::with_capacity(ports.len()) };
    for (number, (index, port)) in (1..).zip(ports.iter().enumerate()) {
        let role = match port {
            Err(Unusable) => PortRole::Disabled,
            Ok(None) => PortRole::Master,
            Ok(Some(_)) if slave == Some(index) => PortRole::Slave,
            Ok(Some(heard)) if selection.announced(own, number) < *heard => PortRole::Master,
            Ok(Some(_)) => PortRole::Passive,
        };
        selection.roles.push(role);
    }
    selection
}

/// The link of a port is down, or its neighbour does not take part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unusable;
