//! Stations that send and receive frames with redundancy tags (IEEE 802.1CB).

use chronoseal_core::{DiscardReason, Duration, EventKind, LocalTime, PortId};
use chronoseal_core_testing::{Contract, Script};
use chronoseal_frameauth::Freshness;
use chronoseal_media::recovery::{LatentErrors, RecoveryAlgorithm, RecoveryConfig};
use chronoseal_nodes::end_system::{
    EndSystem, EndSystemConfig, ListenerConfig, Replication, TalkerConfig, TalkerTiming,
};
use chronoseal_wire::ethernet::{Frame, VlanTag};
use chronoseal_wire::r_tag::RTag;

use super::end_system::{config, talker};
use super::{STREAM, count, hmac, ms};

const TAG: VlanTag = VlanTag { pcp: 6, drop_eligible: false, vid: 100 };

fn sender() -> Box<EndSystem> {
    let timing = TalkerTiming::Periodic { priority: 6, phase: Duration::ZERO, pace: Duration::from_ms(2).into() };
    let talker = talker(STREAM, timing, hmac(Freshness::Full));
    let talkers = vec![TalkerConfig { tag: Some(TAG), has_r_tag: true, ..talker }];
    Box::new(EndSystem::new(EndSystemConfig { talkers, ..config(0, true) }).expect("it is able to"))
}

fn receiver() -> Box<EndSystem> {
    let latent = LatentErrors { period: Duration::from_ms(5), reset: Duration::from_s(1), difference: 3 };
    let recovery = RecoveryConfig {
        algorithm: RecoveryAlgorithm::Vector { history: 8 },
        reset: Duration::from_ms(50),
        ways: 2,
        latent: Some(latent),
    };
    let listener = ListenerConfig::new(STREAM, None, Vec::new(), hmac(Freshness::Full));
    let listeners = vec![ListenerConfig { replication: Some(Replication::Tagged(recovery)), ..listener }];
    Box::new(EndSystem::new(EndSystemConfig { listeners, ..config(1, true) }).expect("it is able to"))
}

/// The frames of the sender until 31 ms have passed.
fn frames() -> Vec<(LocalTime, Vec<u8>)> {
    let sent = Contract::new(0..1, Script::until(ms(31)), sender).check();
    sent.frames().map(|(launch_at, _, bytes)| (launch_at, bytes.to_vec())).collect()
}

#[test]
fn a_sender_numbers_its_frames_behind_the_vlan_tag() {
    let frames = frames();
    assert_eq!(frames.len(), 16);
    for (number, (_, bytes)) in frames.iter().enumerate() {
        let frame = Frame::new_checked(bytes).expect("it is one");
        assert_eq!((frame.tag(), frame.r_tag()), (Some(TAG), Some(RTag { sequence: number as u16 })));
    }
}

#[test]
fn a_receiver_takes_one_of_two_copies_and_tells_when_they_stay_away() {
    let mut script = Script::until(ms(100));
    for (number, (launch_at, bytes)) in frames().into_iter().enumerate() {
        let after = |us: i64| launch_at + Duration::from_us(us);
        let mut forged = bytes.clone();
        *forged.last_mut().expect("it has a last byte") ^= 1;
        script = script.hear(after(100), PortId(0), &forged).hear(after(200), PortId(0), &bytes);
        // From the ninth on only one way brings them.
        if number < 8 {
            script = script.hear(after(300), PortId(0), &bytes);
        }
    }
    let heard = Contract::new(0..1, script, receiver).check();
    assert_eq!(count(&heard, |kind| kind == EventKind::Delivered), 16);
    assert_eq!(count(&heard, |kind| kind == EventKind::Discarded(DiscardReason::TagMismatch)), 16);
    assert_eq!(count(&heard, |kind| kind == EventKind::Discarded(DiscardReason::CopyEliminated)), 8);
    assert!(count(&heard, |kind| kind == EventKind::LatentError) > 0);
}

#[test]
fn a_frame_without_the_tag_of_its_stream_is_malformed() {
    let (launch_at, bytes) = frames().remove(0);
    // The redundancy tag is bytes 16 to 21.
    let without = [&bytes[..16], &bytes[22..]].concat();
    let script = Script::until(ms(10)).hear(launch_at + Duration::from_ms(1), PortId(0), &without);
    let heard = Contract::new(0..1, script, receiver).check();
    assert_eq!(count(&heard, |kind| kind == EventKind::Discarded(DiscardReason::Malformed)), 1);
}
