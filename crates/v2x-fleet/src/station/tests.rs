//! Stations by hand: what one sends, another one hears.

use super::*;
use crate::office::Office;
use crate::road::State;
use chronoseal_core::node::FRAME_LEN_MAX;
use chronoseal_core::{DiscardReason, Operation, PortId};
use chronoseal_v2x::crypto::Curve;
use chronoseal_v2x::vss::{ChangePolicy, Condition, Preset, Spread};
use std::sync::Arc;

pub(super) const STARTS_AT_US: u64 = 722_000_000_000_000;

pub(super) fn office() -> Arc<Office> {
    Arc::new(Office::new(Curve::NistP256, STARTS_AT_US, 1).expect("certificates"))
}

pub(super) fn config() -> ItsStationConfig {
    ItsStationConfig::new(Origin { latitude_deg: 48.77, longitude_deg: 9.18 }, STARTS_AT_US)
}

pub(super) fn station_of(office: &Arc<Office>, config: ItsStationConfig, index: u64) -> ItsStation {
    let numbers = random::stream(9, Purpose::Medium, index);
    let credentials = Credentials::signed(Arc::clone(office), numbers, STARTS_AT_US, true).expect("a ticket");
    let state = State { speed_m_s: 50.0, heading_deg: 90.0, ..State::default() };
    let table = FrameTable::new(Some(office.verifier()));
    ItsStation::new(config, credentials, Mobility::Straight(state), table, None)
}

fn station(index: u64, hazard: Option<Hazard>) -> ItsStation {
    station_of(&office(), ItsStationConfig { hazard, received_max: 4, ..config() }, index)
}

pub(super) fn at(ms: i64) -> LocalTime {
    LocalTime::ZERO + Duration::from_ms(ms)
}

/// Frames of a station alone, with the times they were sent `[ms]`; work it says that it does.
pub(super) fn sent(station: &mut ItsStation, until_ms: i64) -> (Vec<(i64, Vec<u8>)>, Vec<Operation>) {
    sent_by_late(station, until_ms, &[0])
}

/// The same where wake-ups are late by these times `[us]`, in turn.
fn sent_by_late(station: &mut ItsStation, until_ms: i64, late_us: &[i64]) -> (Vec<(i64, Vec<u8>)>, Vec<Operation>) {
    let mut late_us = late_us.iter().cycle();
    let (mut frames, mut works) = (Vec::new(), Vec::new());
    let mut now = at(0);
    station.handle_input(now, Input::Command(Command::Start)).expect("it may start");
    loop {
        let mut frame = [0; FRAME_LEN_MAX];
        match station.poll_output(now, &mut frame) {
            Output::Transmit(transmit) => {
                frames.push((now.as_ps() / 1_000_000_000, frame[..transmit.len].to_vec()));
            }
            Output::Work(work) => works.push(work.operation),
            Output::Timeout(Some(next)) if next <= at(until_ms) => {
                now = next + Duration::from_us(late_us.next().copied().unwrap_or(0));
            }
            Output::Timeout(_) => return (frames, works),
            _ => {}
        }
    }
}

#[test]
fn a_host_that_wakes_it_late_costs_no_message() {
    let count = |late_us: &[i64]| sent_by_late(&mut station(1, None), 3_000, late_us).0.len();
    let in_time = count(&[0]);
    assert!(in_time >= 30, "one every 100 ms at 50 m/s: {in_time}");
    assert_eq!(count(&[300, 0, 900, 200]), in_time);
}

/// What a frame comes to at a receiver, and the operations on the way.
pub(super) fn heard(station: &mut ItsStation, ms: i64, bytes: &[u8]) -> (Event, Vec<Operation>) {
    station.handle_input(at(ms), Input::Frame { port: PortId(0), rx_at: at(ms), bytes }).expect("a frame");
    let mut works = Vec::new();
    loop {
        match station.poll_output(at(ms), &mut [0; FRAME_LEN_MAX]) {
            Output::Event(event) if event.kind == EventKind::Sent => {}
            Output::Event(event) => return (event, works),
            Output::Work(work) => works.push(work.operation),
            other => panic!("{other:?}"),
        }
    }
}

const SIGN: Operation = Operation("p256-sign");
pub(super) const VERIFY: Operation = Operation("p256-verify");

#[test]
fn stations_of_one_authority_understand_each_other_and_say_what_it_costs() {
    let hazard = Hazard { at: at(250), every: Duration::from_ms(500), cause_code: STATIONARY_VEHICLE };
    let (frames, works) = sent(&mut station(7, Some(hazard)), 1_000);
    // 50 m/s: a CAM every 100 ms; DENMs at 250 and 750 ms.
    let times: Vec<_> = frames.iter().map(|frame| frame.0).collect();
    assert_eq!(times, [0, 100, 200, 250, 300, 400, 500, 600, 700, 750, 800, 900, 1_000]);
    assert_eq!(works, vec![SIGN; 13]);
    let mut receiver = station(8, None);
    let mut counts = [0; 2];
    for (number, (ms, bytes)) in frames.iter().enumerate() {
        let (event, works) = heard(&mut receiver, *ms, bytes);
        let kind = event.stream.index();
        assert_eq!((event.kind, event.sequence), (EventKind::Delivered, counts[kind]), "{ms} ms");
        // The ticket is new with the first message alone.
        assert_eq!(works, vec![VERIFY; if number == 0 { 2 } else { 1 }], "{ms} ms");
        counts[kind] += 1;
    }
    assert_eq!(counts, [11, 2]);
    let (event, works) = heard(&mut receiver, 1_000, &frames[12].1);
    assert_eq!((event.kind, event.sequence), (EventKind::Discarded(DiscardReason::Replayed), 0));
    assert_eq!(works, []);
    // Whoever stands above gets the last four, with what they say.
    let kept: Vec<_> = std::iter::from_fn(|| receiver.take_received()).collect();
    assert_eq!(kept.iter().map(|one| one.sequence).collect::<Vec<_>>(), [1, 8, 9, 10]);
    assert!(matches!(kept[0].frame.content(), Ok(Content::Denm(denm)) if denm.reference_time_ms % 1000 == 750));
    assert!(!kept[0].frame.text().is_empty());
}

#[test]
fn no_frame_is_longer_than_its_kind_allows_and_the_longest_come_near() {
    for curve in [Curve::NistP256, Curve::BrainpoolP384r1] {
        // Tickets that permit everything are the longest.
        let permits = [MessageKind::Cpm, MessageKind::Vam];
        let office = Office::with_permissions(curve, STARTS_AT_US, 1, &permits).expect("certificates");
        let office = Arc::new(office);
        let hazard = Hazard { at: at(50), every: Duration::from_ms(500), cause_code: STATIONARY_VEHICLE };
        let config = ItsStationConfig { hazard: Some(hazard), ..config() };
        let (frames, _) = sent(&mut station_of(&office, config, 7), 6_000);
        let table = FrameTable::new(Some(office.verifier()));
        for kind in [MessageKind::Cam, MessageKind::Denm] {
            let is_it = |bytes: &[u8]| table.frame(bytes).content().expect("a message").kind() == kind;
            let longest = frames.iter().filter(|(_, bytes)| is_it(bytes)).map(|(_, bytes)| bytes.len()).max();
            let (longest, most) = (longest.expect("some were sent"), frame_len_max(kind, Some(curve), permits.len()));
            assert!(longest <= most && most - longest < 100, "{curve:?} {kind:?}: {longest} of {most}");
            let texts =
                frames.iter().filter(|(_, bytes)| is_it(bytes)).map(|(_, bytes)| table.frame(bytes).text().len());
            assert_eq!(texts.max(), Some(message_len_max(kind)));
        }
    }
}

#[test]
fn what_a_station_has_said_itself_is_a_replay_to_it() {
    let office = office();
    let mut sender = station_of(&office, config(), 7);
    let (frames, _) = sent(&mut sender, 200);
    let (event, works) = heard(&mut sender, 300, &frames[1].1);
    assert_eq!((event.kind, works), (EventKind::Discarded(DiscardReason::Replayed), vec![]));
}

#[test]
fn each_refusal_says_what_it_is() {
    let office = office();
    let (frames, _) = sent(&mut station_of(&office, config(), 7), 300);
    let good = &frames[0].1;
    let mut receiver = station_of(&office, config(), 8);
    let mut reason = |ms: i64, bytes: &[u8]| match heard(&mut receiver, ms, bytes).0.kind {
        EventKind::Discarded(reason) => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(reason(100, &frames[1].1), DiscardReason::UnknownSigner, "by digest, and nobody knows it");
    assert_eq!(reason(2_001, good), DiscardReason::GeneratedTooLongAgo);
    assert_eq!(reason(2_001, &good[..60]), DiscardReason::Malformed);
    let mut forged = good.clone();
    *forged.last_mut().expect("a signature") ^= 1;
    let mut receiver = station_of(&office, config(), 8);
    assert_eq!(heard(&mut receiver, 0, &forged).0.kind, EventKind::Discarded(DiscardReason::SignatureMismatch));
    assert_eq!(heard(&mut receiver, 0, good).0.kind, EventKind::Delivered, "the real one is no replay");
    let mut unsigned = good.clone();
    unsigned[14] = 0x11;
    assert!(matches!(heard(&mut receiver, 0, &unsigned).0.kind, EventKind::Discarded(_)));

    let other = Arc::new(Office::new(Curve::NistP256, STARTS_AT_US, 2).expect("certificates"));
    let mut stranger = station_of(&other, config(), 8);
    assert_eq!(heard(&mut stranger, 0, good).0.kind, EventKind::Discarded(DiscardReason::IncompleteChain));
    let later = ItsStationConfig { starts_at_us: STARTS_AT_US - 2_000_000, ..config() };
    let mut behind = station_of(&office, later, 8);
    assert_eq!(heard(&mut behind, 0, good).0.kind, EventKind::Discarded(DiscardReason::GeneratedInFuture));
}

#[test]
fn an_unsigned_message_is_taken_by_who_asks_for_no_signature() {
    let open = |index| {
        let credentials = Credentials::unsigned(random::stream(9, Purpose::Medium, index));
        let mobility = Mobility::Straight(State { speed_m_s: 50.0, ..State::default() });
        ItsStation::new(config(), credentials, mobility, FrameTable::new(None), None)
    };
    let (frames, works) = sent(&mut open(1), 0);
    assert_eq!(works, []);
    let unsigned = &frames[0].1;
    let (signed, _) = sent(&mut station(7, None), 0);
    assert_eq!(heard(&mut open(2), 0, unsigned).0.kind, EventKind::Delivered);
    let refused = |reason| EventKind::Discarded(reason);
    assert_eq!(heard(&mut station(8, None), 0, unsigned).0.kind, refused(DiscardReason::Unsecured));
    assert_eq!(heard(&mut open(2), 0, &signed[0].1).0.kind, refused(DiscardReason::NotExpectedSecured));
}

#[test]
fn who_hears_a_digest_it_does_not_know_asks_and_is_answered() {
    let office = office();
    let (frames, _) = sent(&mut station_of(&office, config(), 7), 100);
    let mut receiver = station_of(&office, config(), 8);
    assert_eq!(heard(&mut receiver, 100, &frames[1].1).0.kind, EventKind::Discarded(DiscardReason::UnknownSigner));
    // What the receiver sends next asks for the ticket; whoever has it sends it although its second is not over.
    let mut asking = Vec::new();
    receiver.handle_input(at(100), Input::Command(Command::Start)).expect("it may start");
    let mut frame = [0; FRAME_LEN_MAX];
    while asking.is_empty() {
        if let Output::Transmit(transmit) = receiver.poll_output(at(100), &mut frame) {
            asking = frame[..transmit.len].to_vec();
        }
    }
    let mut sender = station_of(&office, config(), 7);
    let _ = sent(&mut sender, 100);
    assert_eq!(heard(&mut sender, 110, &asking).0.kind, EventKind::Delivered);
    sender.handle_input(at(200), Input::Timeout).expect("time passes");
    let answer = loop {
        if let Output::Transmit(transmit) = sender.poll_output(at(200), &mut frame) {
            break frame[..transmit.len].to_vec();
        }
    };
    assert!(answer.len() > frames[1].1.len() + 100, "with the certificate");
    assert_eq!(heard(&mut receiver, 200, &answer).0.kind, EventKind::Delivered);
}

#[test]
fn a_pseudonym_changes_with_all_that_shows_and_is_followed_by_silence() {
    let later = vec![Condition { signatures: Some(Spread::exactly(3)), ..Condition::default() }];
    let change = ChangePolicy { later, silence_ms: Some(Spread::exactly(250)), ..Preset::None.policy() };
    let policy = Policy { name: "often".into(), change, cooperation: crate::policy::Cooperation::Alone };
    let mut station = station_of(&office(), ItsStationConfig { policy, ..config() }, 7);
    let before = station.identity();
    let (frames, _) = sent(&mut station, 650);
    let times: Vec<_> = frames.iter().map(|frame| frame.0).collect();
    assert_eq!(times[..3], [0, 100, 200]);
    assert!(times.len() == 4 && (550..=650).contains(&times[3]), "silent from 300 to 550 ms: {times:?}");
    let after = station.identity();
    assert!(before.station_id != after.station_id && before.link_address != after.link_address);
    assert_eq!(frames[0].1[6..12], before.link_address);
    assert_eq!(frames[3].1[6..12], after.link_address);
    let mut receiver = station_of(&office(), config(), 8);
    for (ms, bytes) in &frames {
        assert_eq!(heard(&mut receiver, *ms, bytes).0.kind, EventKind::Delivered, "the certificate is new at {ms} ms");
    }
}

#[test]
fn a_message_that_waited_too_long_is_dropped() {
    let (frames, _) = sent(&mut station(7, None), 0);
    let mut receiver = station(8, None);
    let input = Input::Frame { port: PortId(0), rx_at: at(0), bytes: &frames[0].1 };
    receiver.handle_input(at(101), input).expect("a frame");
    let Output::Event(event) = receiver.poll_output(at(101), &mut [0; FRAME_LEN_MAX]) else { panic!("an event") };
    assert_eq!(event.kind, EventKind::Discarded(DiscardReason::WaitedTooLong));
}

#[test]
fn says_when_the_driver_is_wrong() {
    let mut station = station(7, None);
    station.handle_input(at(5), Input::Command(Command::Start)).expect("it may start");
    let frame = Input::Frame { port: PortId(1), rx_at: at(5), bytes: &[] };
    assert_eq!(station.handle_input(at(5), frame), Err(HandleError::UnknownPort(PortId(1))));
    let backwards = Err(HandleError::TimeRanBackwards { last: at(5), now: at(4) });
    assert_eq!(station.handle_input(at(4), Input::Timeout), backwards);
}

/// What a packet that is not signed shows of its sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Shown {
    link_address: [u8; 6],
    gn_address: [u8; 8],
    station_id: u32,
    /// Of a GeoBroadcast.
    number: Option<u16>,
    /// Of a CAM: where in 100 ms it was made `[ms]`.
    phase_ms: Option<u16>,
}

fn shown(bytes: &[u8]) -> Shown {
    use chronoseal_wire::its::geonetworking::{BasicHeader, ExtendedHeader, Packet};
    let packet = Packet::parse(&bytes[14 + BasicHeader::LEN..]).expect("a packet");
    let (station_id, phase_ms) = match FrameTable::new(None).frame(bytes).content().expect("a message") {
        // 65,536 is no multiple of 100: the runs below are shorter than that.
        Content::Cam(cam) => (cam.station_id, Some(cam.generation_delta_time_ms % 100)),
        Content::Denm(denm) => (denm.station_id, None),
        Content::Cpm(cpm) => (cpm.station_id, None),
        Content::Vam(vam) => (vam.station_id, Some(vam.generation_delta_time_ms % 100)),
    };
    let number = match packet.extended {
        ExtendedHeader::GeoBroadcast { sequence, .. } => Some(sequence),
        ExtendedHeader::SingleHop { .. } => None,
    };
    let link_address = bytes[6..12].try_into().expect("six octets");
    Shown { link_address, gn_address: packet.source().address.0, station_id, number, phase_ms }
}

/// What an unsigned station that changes every two seconds shows, and reports a hazard twice a second.
fn shown_over_changes(keeps: Kept) -> Vec<Shown> {
    let later = vec![Condition { time_s: Some(Spread::exactly(2)), ..Condition::default() }];
    let change = ChangePolicy { later, ..Preset::None.policy() };
    let policy = Policy { name: "often".into(), change, cooperation: crate::policy::Cooperation::Alone };
    let hazard = Some(Hazard { at: at(50), every: Duration::from_ms(500), cause_code: STATIONARY_VEHICLE });
    // So that the time in a message begins at zero.
    let starts_at_us = STARTS_AT_US / 65_536_000 * 65_536_000;
    let config = ItsStationConfig { policy, keeps, hazard, starts_at_us, ..config() };
    let credentials = Credentials::unsigned(random::stream(9, Purpose::Medium, 3));
    let mobility = Mobility::Straight(State { speed_m_s: 50.0, ..State::default() });
    let mut station = ItsStation::new(config, credentials, mobility, FrameTable::new(None), None);
    sent(&mut station, 9_600).0.iter().map(|(_, bytes)| shown(bytes)).collect()
}

/// What is shown under each pseudonym, in order.
fn by_pseudonym(all: &[Shown]) -> Vec<Vec<Shown>> {
    all.chunk_by(|one, other| one.station_id == other.station_id).map(<[Shown]>::to_vec).collect()
}

#[test]
fn a_change_renews_addresses_station_id_packet_number_and_beat_at_one_moment() {
    let pseudonyms = by_pseudonym(&shown_over_changes(Kept::NOTHING));
    assert_eq!(pseudonyms.len(), 5, "one at the start, and four changes");
    for (number, messages) in pseudonyms.iter().enumerate() {
        let first = messages[0];
        assert!(
            messages.iter().all(|one| one.link_address == first.link_address && one.gn_address == first.gn_address)
        );
        assert_eq!(first.gn_address[2..], first.link_address, "they are one address");
        let numbers: Vec<_> = messages.iter().filter_map(|one| one.number).collect();
        assert_eq!(numbers, (1..=numbers.len() as u16).collect::<Vec<_>>(), "pseudonym {number}");
        assert!(numbers.len() >= 2, "pseudonym {number}");
        let phases: Vec<_> = messages.iter().filter_map(|one| one.phase_ms).collect();
        assert!(phases.iter().all(|phase| *phase == phases[0]), "pseudonym {number}: {phases:?}");
        for other in &pseudonyms[..number] {
            assert_ne!(other[0].link_address, first.link_address);
            assert_ne!(other.iter().find_map(|one| one.phase_ms), Some(phases[0]), "pseudonym {number}");
        }
    }
}

#[test]
fn what_a_station_keeps_goes_on_through_a_change() {
    let keeps = Kept { link_address: true, packet_number: true, beat: true };
    let pseudonyms = by_pseudonym(&shown_over_changes(keeps));
    assert_eq!(pseudonyms.len(), 5);
    let all: Vec<_> = pseudonyms.concat();
    assert!(all.iter().all(|one| one.link_address == all[0].link_address && one.gn_address == all[0].gn_address));
    let numbers: Vec<_> = all.iter().filter_map(|one| one.number).collect();
    assert_eq!(numbers, (1..=20).collect::<Vec<_>>());
    assert!(all.iter().filter_map(|one| one.phase_ms).all(|phase| phase == 0));
}

#[test]
fn a_ticket_that_is_over_is_replaced_before_anything_is_said() {
    // 722 131 200 s is the beginning of a week: tickets end there, half a second after the start.
    const WEEK_BEGINS_US: u64 = 722_131_200_000_000;
    let starts_at_us = WEEK_BEGINS_US - 500_000;
    let office = Arc::new(Office::new(Curve::NistP256, starts_at_us, 1).expect("certificates"));
    let make = |index: u64| {
        let numbers = random::stream(9, Purpose::Medium, index);
        let credentials = Credentials::signed(Arc::clone(&office), numbers, starts_at_us, true).expect("a ticket");
        let mobility = Mobility::Straight(State { speed_m_s: 50.0, heading_deg: 90.0, ..State::default() });
        let config = ItsStationConfig { starts_at_us, ..config() };
        ItsStation::new(config, credentials, mobility, FrameTable::new(Some(office.verifier())), None)
    };
    let mut station = make(7);
    let before = station.identity();
    let (frames, _) = sent(&mut station, 1_500);
    assert!(frames.len() >= 14, "it goes on: {}", frames.len());
    assert_ne!(station.identity(), before);
    let mut receiver = make(8);
    for (ms, bytes) in &frames {
        assert_eq!(heard(&mut receiver, *ms, bytes).0.kind, EventKind::Delivered, "at {ms} ms");
    }
    // One that makes up messages without looking around, too.
    let mut impostor = make(9);
    assert!(impostor.make(at(1_000), MessageKind::Cam).is_some());
}
