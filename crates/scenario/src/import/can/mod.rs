//! CAN buses: what was recorded, or what a database says, becomes periodic messages.

mod database;
mod holds;
mod recording;
mod routes;
mod secured;
mod transport;
mod vehicle;

use chronoseal_core::Duration;
use chronoseal_wire::can::{CanId, FrameKind};

use super::plain_name;
use crate::limits::{CLUSTER_CYCLE_MAX, NAME_LEN_MAX, PERIOD_MIN};
use crate::load::{NoFiles, load};
use crate::problem::Problems;

pub use database::from_database;
pub(super) use database::{BIT_RATE, BIT_RATE_EXTENDED, DATA_BIT_RATE, PERIOD_ASSUMED};
pub use recording::from_recording;
pub use vehicle::{Database, from_databases};

/// The node that sends what nobody is known to send.
pub(super) const REST_OF_BUS: &str = "rest-bus";
/// A frame that nobody receives is sent again and again.
pub(super) const LISTENER: &str = "listener";

/// The segment of a scenario that has one bus.
const BUS: &str = "bus";

/// A bus to be written.
struct FoundBus {
    /// That of its segment.
    name: String,
    /// `[bit/s]`
    bit_rate: u64,
    /// `[bit/s]`
    data_bit_rate: Option<u64>,
    nodes: Vec<String>,
    messages: Vec<FoundMessage>,
}

/// A message to be written.
struct FoundMessage {
    name: String,
    from: String,
    id: CanId,
    kind: FrameKind,
    len: usize,
    period: Duration,
    /// What is written above it.
    comment: String,
    /// Where it is no period.
    deadline: Option<Duration>,
}

impl FoundMessage {
    /// False for periods no scenario takes.
    fn is_writable(&self) -> bool {
        (PERIOD_MIN..=CLUSTER_CYCLE_MAX).contains(&self.period)
    }
}

/// The text of one bus, or of several that share nothing, if it resolves; what is wrong with it otherwise. `about` is what was found and
/// assumed, a comment a line.
fn write(
    source_name: &str,
    about: &[String],
    duration: Duration,
    mut buses: Vec<FoundBus>,
) -> Result<String, Problems> {
    let quoted = |text: &str| toml_edit::Value::from(text).to_string();
    let is_several = buses.len() > 1;
    let of_bus = |name: &str, bus: &str| if is_several { format!("{name}-{bus}") } else { name.to_owned() };
    for bus in buses.iter_mut().filter(|bus| bus.nodes.len() == 1) {
        bus.nodes.push(LISTENER.into());
    }
    let relax = |bus: &mut FoundBus| holds::relax(&mut bus.messages, bus.bit_rate, bus.data_bit_rate);
    let late: usize = buses.iter_mut().map(relax).sum();
    let relaxed = (late > 0).then(|| holds::shown(late));
    let mut text = String::new();
    for line in about.iter().chain(&relaxed) {
        text += &format!("# {}\n", line.replace(char::is_control, " "));
    }
    text += &format!("\nschema_version = 2\nname = {}\nduration = \"{duration}\"\n", quoted(&plain_name(source_name)));
    for bus in &buses {
        text += &format!("\n[segments.{}.can]\nbit_rate = \"{}\"\n", bus.name, chronoseal_core::Rate(bus.bit_rate));
        if let Some(rate) = bus.data_bit_rate {
            text += &format!("data_bit_rate = \"{}\"\n", chronoseal_core::Rate(rate));
        }
    }
    for bus in &buses {
        for node in &bus.nodes {
            text += &format!("\n[[nodes]]\nname = {}\n", quoted(&of_bus(node, &bus.name)));
            if is_several {
                text += &format!("on = [{}]\n", quoted(&bus.name));
            }
        }
    }
    for (bus, message) in buses.iter().flat_map(|bus| bus.messages.iter().map(move |message| (bus, message))) {
        let deadline = message.deadline.map(|deadline| format!("deadline = \"{deadline}\"    # assumed\n"));
        text += &format!(
            "\n# {}\n[[streams]]\nname = {}\nfrom = {}\nlength = \"{}B\"\nperiod = \"{}\"\n{}{} = {}\n",
            message.comment,
            quoted(&of_bus(&message.name, &bus.name)),
            quoted(&of_bus(&message.from, &bus.name)),
            message.len,
            message.period,
            deadline.unwrap_or_default(),
            bus.name,
            table(message.id, message.kind),
        );
    }
    load(&format!("{source_name} (as a scenario)"), text.as_bytes(), &[], &NoFiles)?;
    Ok(text)
}

/// What a stream's table says of a segment.
pub(super) fn table(id: CanId, kind: FrameKind) -> String {
    let extended = if id.is_extended() { ", extended = true" } else { "" };
    let format = match kind {
        FrameKind::Classical | FrameKind::Remote => "",
        FrameKind::Fd { brs: false, .. } => ", format = \"fd\"",
        FrameKind::Fd { brs: true, .. } => ", format = \"fd-brs\"",
    };
    format!("{{ id = \"{:#x}\"{extended}{format} }}", id.raw())
}

/// `name` in letters a node's name may have; `None` if nothing is left.
pub(super) fn node_name(name: &str) -> Option<String> {
    let plain: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' })
        .take(NAME_LEN_MAX)
        .collect();
    let plain = plain.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    (!plain.is_empty()).then(|| plain.to_owned())
}
