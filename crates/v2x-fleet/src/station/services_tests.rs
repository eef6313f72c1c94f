//! CPMs and VAMs of stations by hand: what they say, when they are sent, and what a ticket has to permit.

use std::sync::Arc;

use chronoseal_core::random::{self, Purpose};
use chronoseal_core::{DiscardReason, Duration, EventKind, SimTime};
use chronoseal_v2x::crypto::Curve;
use chronoseal_v2x::message::{SignerCertificate, SignerForm, sign};
use chronoseal_v2x::types::{HeaderInfo, Received, SignedDataPayload, Time64, ToBeSignedData};
use chronoseal_wire::its::geonetworking::GnAddress;
use chronoseal_wire::its::{Cpm, CpmOrigin, ObjectClass, Vam, VruProfile};

use super::tests::{STARTS_AT_US, VERIFY, at, config, heard, office, sent, station_of};
use super::*;
use crate::envelope::{Envelope, SealError};
use crate::office::Office;
use crate::road::highway::Highway;
use crate::road::sumo::{self, Coordinates};
use crate::road::{State, Trips};

const EVERY: Duration = Duration::from_ms(100);

fn permitting(permits: &[MessageKind]) -> Arc<Office> {
    Arc::new(Office::with_permissions(Curve::NistP256, STARTS_AT_US, 1, permits).expect("certificates"))
}

fn highway() -> Arc<Trips> {
    let second = Duration::from_s(1);
    let road = Highway { length_m: 600.0, duration: second * 5, warm_up: second * 60, ..Highway::default() };
    Arc::new(road.drive().expect("a road"))
}

/// A station that sends CPMs alone.
fn watcher(office: &Arc<Office>, trips: &Arc<Trips>, mobility: Mobility) -> ItsStation {
    let sight = Sight { trips: Arc::clone(trips), range_mm: 100_000, every: EVERY };
    let config = ItsStationConfig { sends_cams: false, sight: Some(sight), ..config() };
    let numbers = random::stream(9, Purpose::Medium, 7);
    let credentials = Credentials::signed(Arc::clone(office), numbers, STARTS_AT_US, true).expect("a ticket");
    ItsStation::new(config, credentials, mobility, FrameTable::new(Some(office.verifier())), None)
}

fn walker(office: &Arc<Office>, speed_m_s: f64) -> ItsStation {
    let road_user = Some(RoadUser { profile: VruProfile::Bicyclist(1), every: EVERY });
    let config = ItsStationConfig { sends_cams: false, road_user, ..config() };
    let numbers = random::stream(9, Purpose::Medium, 7);
    let credentials = Credentials::signed(Arc::clone(office), numbers, STARTS_AT_US, true).expect("a ticket");
    let state = State { speed_m_s, heading_deg: 90.0, ..State::default() };
    let table = FrameTable::new(Some(office.verifier()));
    ItsStation::new(config, credentials, Mobility::Straight(state), table, None)
}

fn cpms(office: &Office, frames: &[(i64, Vec<u8>)]) -> Vec<(i64, Cpm)> {
    let table = FrameTable::new(Some(office.verifier()));
    let cpm = |(ms, bytes): &(i64, Vec<u8>)| {
        let frame = table.frame(bytes);
        let cpm = Cpm::parse(frame.text()).expect("the codec reads what was sent");
        assert!(matches!(frame.content(), Ok(Content::Cpm(same)) if **same == cpm));
        (*ms, cpm)
    };
    frames.iter().map(cpm).collect()
}

#[test]
fn a_cpm_says_where_each_vehicle_in_sight_is() {
    let (office, trips) = (permitting(&[MessageKind::Cpm]), highway());
    let is_there = |(_, trip): &(usize, &crate::road::Trip)| {
        trip.begins_at == SimTime::ZERO
            && trip.state_at(SimTime::ZERO, trips.step).is_some_and(|state| state.x_m < 300.0)
    };
    let (own, trip) = trips.trips.iter().enumerate().find(is_there).expect("somebody drives there");
    let mut station = watcher(&office, &trips, Mobility::Trip { trips: Arc::clone(&trips), index: own });
    let (frames, _) = sent(&mut station, 2_000);
    let cpms = cpms(&office, &frames);
    assert!(cpms.len() >= 10, "vehicles move: {}", cpms.len());
    let mut objects = 0;
    for (ms, cpm) in &cpms {
        let now = SimTime::from_ps(at(*ms).as_ps());
        let state = trip.state_at(now, trips.step).expect("it is there");
        let others = trips.trips.iter().enumerate().filter(|(index, _)| *index != own);
        let seen: Vec<(State, u16)> = others
            .filter_map(|(_, other)| Some((other.state_at(now, trips.step)?, other.dimensions.length_dm)))
            .filter(|(other, _)| other.distance_m(&state) <= 100.0)
            .collect();
        let perceived = cpm.perceived.as_ref().expect("always told");
        assert_eq!(usize::from(perceived.total), seen.len(), "{ms} ms");
        assert_eq!(cpm.station_id, station.identity().station_id);
        assert_eq!(cpm.reference_time_ms, STARTS_AT_US / 1_000 + *ms as u64);
        let CpmOrigin::Vehicle(angle) = cpm.origin else { panic!("it drives") };
        assert_eq!(f64::from(angle.value), (state.heading_deg * 10.0).round());
        for object in perceived.objects.as_slice() {
            objects += 1;
            // Of two at one place nothing is known: one of them is it.
            let is_it = |(other, length_dm): &&(State, u16)| {
                let cm = |to: f64, from: f64| ((to - from) * 100.0).round() as i32;
                let length = object.length_dm.map(|length| length.value);
                (object.x_cm.value, object.y_cm.value) == (cm(other.x_m, state.x_m), cm(other.y_m, state.y_m))
                    && length == Some(*length_dm)
            };
            let (other, length_dm) = seen.iter().find(is_it).expect("one of those in sight");
            let [east, north] = object.velocity_cm_s.expect("told").map(|speed| f64::from(speed.value));
            assert!((east.hypot(north) - other.speed_m_s * 100.0).abs() < 2.0, "{object:?} {other:?}");
            let class = ObjectClass::Vehicle(if *length_dm < 70 { 5 } else { 8 });
            assert_eq!(object.class, Some((class, 101)));
        }
    }
    assert!(objects >= cpms.len() / 2, "{objects} objects in {} messages", cpms.len());
    let first = &cpms[0].1;
    assert_eq!(
        first.perceived.as_ref().map(|all| all.objects.as_slice().len()),
        Some(first.perceived.as_ref().map_or(0, |all| all.total.into()))
    );
    assert_eq!(first.sensors.as_slice()[0].region, Some((1_000, [0, 3_600])));
}

#[test]
fn what_stands_is_told_once_a_second_and_what_moves_when_it_has() {
    let step = |time: i64, x: f64| {
        format!(
            "<timestep time=\"{time}\"><vehicle id=\"a\" x=\"20\" y=\"0\" angle=\"0\" speed=\"0\"/><vehicle id=\"b\" \
             x=\"{x}\" y=\"9\" angle=\"90\" speed=\"20\"/><vehicle id=\"far\" x=\"900\" y=\"0\" angle=\"0\" speed=\"0\"/></timestep>"
        )
    };
    let text: String = (0..=4).map(|time| step(time, time as f64 * 20.0)).collect();
    let trips = Arc::new(sumo::read(&format!("<fcd-export>{text}</fcd-export>"), Coordinates::Plane).expect("a trace"));
    let office = permitting(&[MessageKind::Cpm]);
    let mut station = watcher(&office, &trips, Mobility::Straight(State::default()));
    let (frames, works) = sent(&mut station, 1_500);
    let cpms = cpms(&office, &frames);
    assert_eq!(works.len(), cpms.len(), "each is signed");
    // 20 m/s: more than 4 m after 300 ms, and then each 300 ms again.
    let told = |id: u16| {
        let has_it =
            |cpm: &Cpm| cpm.perceived.as_ref().is_some_and(|all| all.objects.as_slice().iter().any(|one| one.id == id));
        cpms.iter().filter(|(_, cpm)| has_it(cpm)).map(|(ms, _)| *ms).collect::<Vec<_>>()
    };
    assert_eq!((told(0), told(1), told(2)), (vec![0, 1_000], vec![0, 300, 600, 900, 1_200, 1_500], vec![]));
    let with_sensors: Vec<_> =
        cpms.iter().filter(|(_, cpm)| !cpm.sensors.as_slice().is_empty()).map(|(ms, _)| *ms).collect();
    assert_eq!(with_sensors, [0, 1_000]);
    assert!(
        cpms.iter()
            .all(|(_, cpm)| cpm.origin == CpmOrigin::Roadside
                && cpm.perceived.as_ref().is_some_and(|all| all.total == 2))
    );
}

#[test]
fn of_more_objects_than_have_room_the_nearest_are_told_first() {
    let vehicles: String = (0..50)
        .map(|index| format!("<vehicle id=\"v{index}\" x=\"{}\" y=\"0\" angle=\"0\" speed=\"0\"/>", 99 - index))
        .collect();
    let step = |time: i64| format!("<timestep time=\"{time}\">{vehicles}</timestep>");
    let text = format!("<fcd-export>{}{}</fcd-export>", step(0), step(1));
    let trips = Arc::new(sumo::read(&text, Coordinates::Plane).expect("a trace"));
    let office = permitting(&[MessageKind::Cpm]);
    let (frames, _) = sent(&mut watcher(&office, &trips, Mobility::Straight(State::default())), 500);
    let told: Vec<Vec<i32>> = cpms(&office, &frames)
        .iter()
        .map(|(_, cpm)| {
            cpm.perceived
                .as_ref()
                .map_or(&[][..], |all| all.objects.as_slice())
                .iter()
                .map(|one| one.x_cm.value / 100)
                .collect()
        })
        .collect();
    assert_eq!(told, [(50..82).collect::<Vec<_>>(), (82..100).collect()]);
    let longest = frames.iter().map(|(_, bytes)| bytes.len()).max().expect("two were sent");
    let most = frame_len_max(MessageKind::Cpm, Some(Curve::NistP256), 1);
    assert!(longest <= most && most - longest < 100, "{longest} of {most}");
}

#[test]
fn a_vam_says_who_it_is_and_comes_when_it_has_moved_or_after_five_seconds() {
    let office = permitting(&[MessageKind::Vam]);
    let mut walks = walker(&office, 5.0);
    let (frames, _) = sent(&mut walks, 3_000);
    let table = FrameTable::new(Some(office.verifier()));
    let vams: Vec<(i64, Vam)> = frames
        .iter()
        .map(|(ms, bytes)| (*ms, Vam::parse(table.frame(bytes).text()).expect("the codec reads what was sent")))
        .collect();
    // 5 m/s: more than 4 m after 900 ms.
    assert_eq!(vams.iter().map(|(ms, _)| *ms).collect::<Vec<_>>(), [0, 900, 1_800, 2_700]);
    let with_profile: Vec<_> = vams.iter().map(|(_, vam)| vam.low_frequency.map(|low| low.profile)).collect();
    let bicyclist = Some(VruProfile::Bicyclist(1));
    assert_eq!(with_profile, [bicyclist, None, None, bicyclist]);
    for (ms, vam) in &vams {
        assert_eq!((vam.station_id, vam.station_type), (walks.identity().station_id, 2));
        assert_eq!((vam.speed_cm_s, vam.heading), (500, 900));
        assert_eq!(vam.generation_delta_time_ms, (STARTS_AT_US / 1_000 + *ms as u64) as u16);
        let (x_m, y_m) = config().origin.to_plane(vam.position.latitude, vam.position.longitude);
        assert!((x_m - 0.005 * *ms as f64).abs() < 0.02 && y_m.abs() < 0.02, "{ms} ms: {x_m} {y_m}");
    }
    assert_eq!(GnAddress::road_user(VruProfile::Bicyclist(1), [2, 0, 0, 0, 0, 7]).0, [2 << 2, 0, 2, 0, 0, 0, 0, 7]);
    let (standing, _) = sent(&mut walker(&office, 0.0), 11_000);
    assert_eq!(standing.iter().map(|(ms, _)| *ms).collect::<Vec<_>>(), [0, 5_000, 10_000]);
    let longest = frames.iter().map(|(_, bytes)| bytes.len()).max().expect("some were sent");
    let most = frame_len_max(MessageKind::Vam, Some(Curve::NistP256), 1);
    assert!(longest <= most && most - longest < 100, "{longest} of {most}");
}

#[test]
fn whoever_trusts_the_authority_takes_them_each_kind_by_itself() {
    let office = permitting(&[MessageKind::Cpm, MessageKind::Vam]);
    let mut receiver = station_of(&office, config(), 8);
    let (frames, _) = sent(&mut walker(&office, 50.0), 300);
    for (number, (ms, bytes)) in frames.iter().enumerate() {
        let (event, works) = heard(&mut receiver, *ms, bytes);
        assert_eq!((event.kind, event.stream, event.sequence), (EventKind::Delivered, VAM_STREAM, number as u64));
        assert_eq!(works, vec![VERIFY; if number == 0 { 2 } else { 1 }]);
    }
    let trips = highway();
    let (frames, _) = sent(&mut watcher(&office, &trips, Mobility::Straight(State::default())), 300);
    let mut receiver = station_of(&office, config(), 8);
    let (event, _) = heard(&mut receiver, frames[0].0, &frames[0].1);
    assert_eq!((event.kind, event.stream, event.sequence), (EventKind::Delivered, CPM_STREAM, 0));
    let again = heard(&mut receiver, frames[0].0, &frames[0].1).0;
    assert_eq!(again.kind, EventKind::Discarded(DiscardReason::Replayed));
}

#[test]
fn a_station_sends_nothing_that_its_ticket_does_not_permit() {
    let trips = highway();
    for office in [office(), permitting(&[MessageKind::Vam])] {
        let (frames, _) = sent(&mut watcher(&office, &trips, Mobility::Straight(State::default())), 2_000);
        assert_eq!(frames, []);
    }
    for office in [office(), permitting(&[MessageKind::Cpm])] {
        assert_eq!(sent(&mut walker(&office, 5.0), 2_000).0, []);
    }
}

/// A message under a ticket of an office, made past all checks of its sender.
fn forced(office: &Office, kind: MessageKind, message: &[u8]) -> Vec<u8> {
    let now = Time64(STARTS_AT_US);
    let (ticket, mut key) = office.issue(3, now.time32(), now.time32()).expect("a ticket");
    let ticket = SignerCertificate::new(ticket).expect("a ticket");
    let secure = |packet: &[u8], out: &mut Vec<u8>| {
        let header_info = HeaderInfo { generation_time: Some(now), ..HeaderInfo::new(kind.psid()) };
        let payload = SignedDataPayload::unsecured(packet);
        let tbs = ToBeSignedData { payload, header_info, received: Received::default() };
        out.extend_from_slice(&sign(&tbs, SignerForm::Certificate(&ticket), &mut key).expect("it can be signed"));
        Ok(())
    };
    let envelope = Envelope {
        kind,
        identity: Identity::of_number(3),
        user: None,
        now_us: now.0,
        latitude: 487_700_000,
        longitude: 91_800_000,
        speed_cm_s: 0,
        heading: 0,
        broadcast: None,
        message,
    };
    let bytes: Result<Vec<u8>, SealError> = envelope.seal(Some(secure));
    bytes.expect("a frame")
}

#[test]
fn a_receiver_refuses_what_the_senders_ticket_does_not_permit() {
    let mut buf = [0; Cpm::LEN_MAX];
    let position = chronoseal_wire::its::ReferencePosition::at(487_700_000, 91_800_000);
    let len = Cpm { position, ..Cpm::default() }.emit(&mut buf).expect("a message");
    let cpm = buf[..len].to_vec();
    let len = Vam { position, ..Vam::default() }.emit(&mut buf).expect("a message");
    let vam = buf[..len].to_vec();
    let heard_by_peer = |permits: &[MessageKind], kind, message: &[u8]| {
        let office = permitting(permits);
        heard(&mut station_of(&office, config(), 8), 0, &forced(&office, kind, message)).0.kind
    };
    let (both, refused) = ([MessageKind::Cpm, MessageKind::Vam], EventKind::Discarded(DiscardReason::NotPermitted));
    for (kind, message, other) in
        [(MessageKind::Cpm, &cpm, MessageKind::Vam), (MessageKind::Vam, &vam, MessageKind::Cpm)]
    {
        assert_eq!(heard_by_peer(&both, kind, message), EventKind::Delivered);
        assert_eq!(heard_by_peer(&[kind], kind, message), EventKind::Delivered);
        assert_eq!(heard_by_peer(&[other], kind, message), refused);
        assert_eq!(heard_by_peer(&[], kind, message), refused);
    }
}

#[test]
fn a_change_of_pseudonym_gives_objects_new_numbers_and_ages() {
    use chronoseal_v2x::vss::{ChangePolicy, Condition, Preset, Spread};
    let later = vec![Condition { time_s: Some(Spread::exactly(2)), ..Condition::default() }];
    let change = ChangePolicy { later, ..Preset::None.policy() };
    let policy = Policy { name: "often".into(), change, cooperation: crate::policy::Cooperation::Alone };
    let (office, trips) = (permitting(&[MessageKind::Cpm]), highway());
    let sight = Some(Sight { trips: Arc::clone(&trips), range_mm: 300_000, every: EVERY });
    let config = ItsStationConfig { sends_cams: false, sight, policy, ..config() };
    let (frames, _) = sent(&mut station_of(&office, config, 7), 4_500);
    let cpms = cpms(&office, &frames);
    let firsts: Vec<&Cpm> =
        cpms.chunk_by(|(_, one), (_, other)| one.station_id == other.station_id).map(|all| &all[0].1).collect();
    assert_eq!(firsts.len(), 3, "one at the start, and two changes");
    for first in firsts {
        let objects = first.perceived.as_ref().map_or(&[][..], |all| all.objects.as_slice());
        assert!(!objects.is_empty() && objects.iter().all(|object| object.age_ms == Some(0)), "{objects:?}");
        assert!(objects.iter().any(|object| object.id == 0));
    }
}
