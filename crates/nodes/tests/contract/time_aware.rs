//! Stations whose clocks follow a grandmaster (IEEE 802.1AS).

use chronoseal_clocksync::gptp::{Parameters, PortParameters};
use chronoseal_core::{Duration, EventKind, LocalTime, NodeId, PortId, Rate};
use chronoseal_core_testing::{Contract, Script};
use chronoseal_media::line::LineSpeed;
use chronoseal_nodes::TimeAwareConfig;
use chronoseal_nodes::end_system::{EndSystem, EndSystemConfig, TaskRun};
use chronoseal_wire::gptp::{
    Announce, Body, ClockIdentity, ETHERTYPE_PTP, FollowUp, Header, Message, PathTrace, PortIdentity, PtpTime,
    emit_frame,
};
use chronoseal_wire::virtual_link;

use super::end_system::config;
use super::{at, count};

const BRIDGE: NodeId = NodeId(9);
const SYNC_INTERVAL: Duration = Duration::from_ms(125);
/// What the bridge's clock shows when the station's shows zero.
const AHEAD: Duration = Duration::from_s(7);

fn identity(node: NodeId) -> ClockIdentity {
    ClockIdentity::from_mac(virtual_link::station_address(node))
}

/// A station that is no grandmaster while there is a better one.
pub(super) fn follower() -> TimeAwareConfig {
    TimeAwareConfig {
        rogue: None,
        parameters: Parameters::new(identity(NodeId(0)), 248),
        port: PortParameters { mean_link_delay_thresh: Duration::from_ms(10), ..PortParameters::default() },
        granularity: Duration::from_ns(8),
        speeds: vec![LineSpeed::new(Rate(100_000_000), 24, 12, Duration::ZERO)],
    }
}

fn station() -> Box<EndSystem> {
    let time_aware = follower();
    let tasks = vec![TaskRun { task: 1, start: Duration::from_us(3_500), length: Duration::from_us(200) }];
    Box::new(
        EndSystem::new(EndSystemConfig { time_aware: Some(time_aware), tasks, ..config(0, false) })
            .expect("it is able to"),
    )
}

fn shows(local: LocalTime) -> PtpTime {
    PtpTime::from_s(1_000_000) + AHEAD + local.since_zero()
}

/// A message of the bridge, as a frame.
fn message(sequence: u16, log_interval: i8, body: Body<'_>) -> Vec<u8> {
    let source = PortIdentity { clock: identity(BRIDGE), port: 1 };
    let header = Header { domain: 0, source, sequence, correction: Duration::ZERO, log_interval };
    let message = Message { header, body };
    let mut payload = vec![0; message.emitted_len()];
    message.emit(&mut payload);
    let mut frame = vec![0; 200];
    let len = emit_frame(&payload, virtual_link::station_address(BRIDGE), &mut frame);
    frame.truncate(len);
    frame
}

/// A bridge that answers every request of the first eight seconds, announces itself and sends its time, and then falls silent.
pub(super) fn bridge() -> Script {
    let requesting = PortIdentity { clock: identity(NodeId(0)), port: 1 };
    let us = Duration::from_us;
    let mut heard: Vec<(LocalTime, Vec<u8>)> = Vec::new();
    for second in 0..8u16 {
        let asked = at(Duration::from_s(i64::from(second)));
        let (received, sent) = (shows(asked + us(1)), shows(asked + us(400)));
        let sequence = second + 1;
        heard.push((asked + us(407), message(sequence, 0x7f, Body::PdelayResp { received, requesting })));
        heard.push((asked + us(420), message(sequence, 0x7f, Body::PdelayRespFollowUp { sent, requesting })));
        let path = [identity(BRIDGE).0];
        let path_trace = PathTrace::new(&path);
        let grandmaster = Parameters::new(identity(BRIDGE), 100).identity;
        let announce = Announce {
            time_flags: 8,
            current_utc_offset: 37,
            grandmaster,
            steps_removed: 0,
            time_source: 0xa0,
            path_trace,
        };
        heard.push((asked + us(600), message(sequence, 0, Body::Announce(announce))));
    }
    for number in 9..64u16 {
        let sent = at(SYNC_INTERVAL * i64::from(number) + us(1_000));
        let follow_up = FollowUp {
            // Each Sync is a little later or earlier than the last one let expect.
            precise_origin: shows(sent) + Duration::from_ns(i64::from(number % 3) * 8),
            cumulative_scaled_rate_offset: 0,
            gm_time_base_indicator: 0,
            last_gm_phase_change: 0,
            scaled_last_gm_freq_change: 0,
        };
        heard.push((sent + us(7), message(number, -3, Body::Sync)));
        heard.push((sent + us(50), message(number, -3, Body::FollowUp(follow_up))));
    }
    heard.sort();
    heard
        .into_iter()
        .fold(Script::until(at(Duration::from_s(12))), |script, (at, bytes)| script.hear(at, PortId(0), &bytes))
}

#[test]
fn a_station_that_follows_a_grandmaster_and_loses_it_keeps_it() {
    // A stamp is of the time at which a message left: here all wake-ups are exact.
    let conduct = Contract::new(0..1, bridge(), station).late_by(Duration::ZERO).check();
    for kind in [
        EventKind::SyncAcquired,
        EventKind::GrandmasterChanged,
        EventKind::ClockRate,
        EventKind::ClockShown,
        EventKind::ClockCorrected,
        EventKind::SyncLost,
        EventKind::TaskDone,
    ] {
        assert!(count(&conduct, |other| other == kind) > 0, "{kind:?}");
    }
    let followed = conduct.events().find(|event| event.kind == EventKind::GrandmasterChanged);
    assert_eq!(followed.map(|event| event.sequence), Some(u64::from(BRIDGE.0)));
    let of_protocol = |bytes: &[u8]| bytes[12..14] == ETHERTYPE_PTP.to_be_bytes();
    assert!(conduct.frames().all(|(_, _, bytes)| of_protocol(bytes)));
    assert!(conduct.frames().count() >= 12, "it asks for the delay each second");
}
