//! Messages of SAE J1939 that are longer than a frame: what the transport protocol of J1939-21 makes of them on the bus.

use std::collections::{BTreeMap, BTreeSet};

use chronoseal_core::Duration;
use chronoseal_recordings::DatabaseMessage;
use chronoseal_wire::can::{CanId, FrameKind};

use super::{FoundMessage, database};

/// Data of a packet `[byte]` (J1939-21, §5.10.1.1).
const PACKET_LEN: usize = 7;
/// The least distance of two packets of a broadcast message (§5.10.2.4).
const PACKET_DISTANCE: Duration = Duration::from_ms(50);
/// Period of a message whose database tells none.
const PERIOD_ASSUMED: Duration = Duration::from_s(1);
/// Priority 7, and the parameter groups TP.CM and TP.DT (§5.10.3 and §5.10.4).
const CONNECTION: u32 = 0x1cec_0000;
const DATA: u32 = 0x1ceb_0000;
/// Parameter groups below it go to one address, the others to all (§5.3).
const PDU_2: u8 = 240;

/// The frames of such messages: those that announce them, and those that carry them, each as often as all messages of one
/// sender together ask for. Identifiers that the database has are left to it.
pub(super) fn frames(messages: &[DatabaseMessage], taken: &BTreeSet<CanId>) -> Vec<FoundMessage> {
    let mut sessions: BTreeMap<(u8, u8), Vec<&DatabaseMessage>> = BTreeMap::new();
    for message in messages {
        let [_, format, specific, source] = message.id.raw().to_be_bytes();
        let destination = if format < PDU_2 { specific } else { 0xff };
        sessions.entry((source, destination)).or_default().push(message);
    }
    let mut found = Vec::new();
    for ((source, destination), messages) in sessions {
        let (mut announcements, mut packets) = (0.0, 0.0);
        let mut names = Vec::new();
        for message in &messages {
            let count = message.len.div_ceil(PACKET_LEN);
            let shortest = PACKET_DISTANCE.checked_mul(count as i64).unwrap_or(PERIOD_ASSUMED);
            let written = message.cycle_time.unwrap_or(PERIOD_ASSUMED);
            let period = if destination == 0xff { written.max(shortest) } else { written };
            announcements += 1.0 / period.as_secs_f64();
            packets += count as f64 / period.as_secs_f64();
            let assumed = if message.cycle_time.is_none() || period != written { ", assumed" } else { "" };
            names.push(format!("{} of {}B every {period}{assumed}", message.name, message.len));
        }
        let names = names.join(", ").replace(char::is_control, " ");
        let address = u32::from(destination) << 8 | u32::from(source);
        for (group, rate, name, what) in
            [(CONNECTION, announcements, "TP.CM", "announces"), (DATA, packets, "TP.DT", "carries, 7 bytes a frame")]
        {
            let Some(id) = CanId::extended(group | address).ok().filter(|id| !taken.contains(id)) else { continue };
            found.push(FoundMessage {
                name: format!("{name}-{source:02X}-{destination:02X}"),
                from: database::sender(messages[0]),
                id,
                kind: FrameKind::Classical,
                len: 8,
                period: Duration::from_us((1e6 / rate) as i64),
                deadline: None,
                comment: format!("Transport protocol of J1939-21: {what}: {names}."),
            });
        }
    }
    found
}
