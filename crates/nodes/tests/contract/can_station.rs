//! Stations of a CAN bus.

use chronoseal_core::random::Jitter;
use chronoseal_core::{Duration, EventKind, Node, NodeId, Operation, StreamId};
use chronoseal_core_testing::Contract;
use chronoseal_crypto::suite::{FourQ, Suite};
use chronoseal_crypto::symmetric::{BlockMac, CmacAes128, Key128};
use chronoseal_frameauth::{Freshness, MacAlgorithm, secoc};
use chronoseal_groupkey::{
    Address, Member, NodeConfig, Orchestrator, Profile, Roster, Scheme, Settings, SpareNode, Transport, Tree,
};
use chronoseal_nodes::can_station::{
    CanStation, KeyAgent, ListenerConfig, ReplayConfig, SegmentedConfig, SegmentedTimeouts, StationConfig, SyncConfig,
    TalkerConfig,
};
use chronoseal_nodes::{PaceConfig, Protection, SupervisionConfig};
use chronoseal_wire::can::iso_tp::SeparationTime;
use chronoseal_wire::can::{CanFrame, CanId, FrameKind};

use super::{STREAM, count, hmac, ms, on_a_bus};

const RECORDED: StreamId = StreamId(5);
const SYNC: StreamId = StreamId(6);

fn id(raw: u16) -> CanId {
    CanId::standard(raw).expect("11 bits")
}

fn talker(protection: Protection, pace: PaceConfig) -> StationConfig {
    let talker = TalkerConfig {
        stream: STREAM,
        id: id(0x123),
        kind: FrameKind::Fd { brs: true, esi: false },
        len: 8,
        pace,
        offset: Duration::from_ms(3),
        fill: vec![0xaa; 8],
        signal: None,
        protection,
    };
    StationConfig { talkers: vec![talker], ..StationConfig::default() }
}

fn listener(protection: Protection) -> StationConfig {
    let supervision = SupervisionConfig { within: Duration::from_ms(30), period: Duration::from_ms(30) };
    let listener =
        ListenerConfig { supervision: Some(supervision), ..ListenerConfig::new(STREAM, id(0x123), 8, protection) };
    StationConfig { node: NodeId(1), listeners: vec![listener], ..StationConfig::default() }
}

/// Trips and resets that a master counts.
fn synchronisation(is_master: bool) -> Option<SyncConfig> {
    Some(SyncConfig {
        is_master,
        stream: SYNC,
        id: id(0x010),
        period: Duration::from_ms(20),
        layout: secoc::JASPAR,
        mac: MacAlgorithm::CmacAes128,
        tag_bits: 28,
        key: Some((&Key128::from_array([7; 16])).into()),
        data_id: 8.into(),
        last_trip: 0,
        hands_over: false,
    })
}

fn station(config: StationConfig, agent: Option<Box<dyn KeyAgent + Send>>) -> Box<CanStation> {
    Box::new(CanStation::new(config, agent).expect("a station of a bus is able to"))
}

#[test]
fn sender_receiver_and_whoever_replays_keep_it() {
    let frame = |data: u8| CanFrame::classical(id(0x321), &[data]).expect("1 byte fits");
    let replay = ReplayConfig {
        stream: RECORDED,
        frames: vec![(Duration::ZERO, frame(1)), (Duration::from_ms(2), frame(2))],
        length: Duration::from_ms(5),
        start: Duration::from_ms(1),
    };
    let [min, mean, max] = [35, 40, 60].map(Duration::from_ms);
    let pace = PaceConfig::OnChange { distance: Jitter { min, mean, max }, seed: 1 };
    let make = |number| match number {
        0 => station(talker(hmac(Freshness::Full), pace), None),
        1 => station(listener(hmac(Freshness::Full)), None),
        _ => station(StationConfig { replays: vec![replay.clone()], ..StationConfig::default() }, None),
    };
    let kinds = [EventKind::Sent, EventKind::Delivered, EventKind::Sent];
    for (number, (script, conduct)) in on_a_bus(&mut network(3, &make), ms(200)).into_iter().enumerate() {
        let checked = Contract::new(0..1, script, || make(number)).check();
        assert_eq!(checked, conduct, "alone station {number} does what it did on the bus");
        assert!(count(&checked, |kind| kind == kinds[number]) >= 4, "station {number}");
        let missing = count(&checked, |kind| kind == EventKind::Missing);
        assert_eq!(missing > 0, number == 1, "35 ms between two messages are more than the 30 of the supervision");
    }
}

#[test]
fn those_who_send_and_receive_in_several_frames_keep_it() {
    let kind = FrameKind::Fd { brs: true, esi: false };
    let separation = SeparationTime::at_least(Duration::from_us(300)).expect("300 us can be said");
    let timeouts = SegmentedTimeouts { n_cr: Duration::from_ms(7), ..SegmentedTimeouts::default() };
    let ids = [id(0x123), id(0x456)];
    let segmented = SegmentedConfig::new(STREAM, ids, kind, 2, separation, timeouts).expect("no span is zero");
    let make = |number| {
        let config = match number {
            0 => {
                let mut config = talker(hmac(Freshness::Full), Duration::from_ms(20).into());
                (config.talkers[0].len, config.talkers[0].fill) = (300, vec![0xaa; 300]);
                config
            }
            _ => {
                let mut config = listener(hmac(Freshness::Full));
                config.listeners[0].len = 300;
                config
            }
        };
        station(StationConfig { segmented: vec![segmented], ..config }, None)
    };
    let kinds = [EventKind::Sent, EventKind::Delivered];
    for (number, (script, conduct)) in on_a_bus(&mut network(2, &make), ms(200)).into_iter().enumerate() {
        let checked = Contract::new(0..1, script, || make(number)).check();
        assert_eq!(checked, conduct, "alone station {number} does what it did on the bus");
        assert!(count(&checked, |kind| kind == kinds[number]) >= 9, "station {number}");
        // 316 bytes: a first frame of 62, and 63 in each that follows, in blocks of two.
        assert!(checked.frames().count() >= 9 * [6, 3][number], "station {number}");
    }
}

#[test]
fn a_master_of_trips_and_resets_and_those_who_follow_keep_it() {
    let protection = || {
        let key = Key128::from_array([7; 16]);
        Protection::Secured { profile: secoc::profile_3(), key: Some((&key).into()), data_id: 7.into() }
    };
    let make = |number| {
        let config = match number {
            0 => StationConfig::default(),
            1 => talker(protection(), Duration::from_ms(10).into()),
            _ => listener(protection()),
        };
        station(StationConfig { synchronisation: synchronisation(number == 0), ..config }, None)
    };
    for (number, (script, conduct)) in on_a_bus(&mut network(3, &make), ms(100)).into_iter().enumerate() {
        let checked = Contract::new(0..1, script, || make(number)).check();
        assert_eq!(checked, conduct, "alone station {number} does what it did on the bus");
        assert!(checked.work().count() >= 5, "station {number}");
    }
}

#[test]
fn stations_that_come_to_a_group_key_keep_it() {
    let lead = Address(250);
    let signing_key = |address: Address| FourQ::signing_key(&[address.0; 32]);
    let public = |address| FourQ::public_key(&signing_key(address));
    let mut roster = Roster::<FourQ>::new(lead, 300, Some(public(lead).as_bytes())).expect("a roster");
    for address in [1, 2].map(Address) {
        roster.add(address, 133, Some(public(address).as_bytes())).expect("a member");
    }
    let tree = Tree::new(&roster, Scheme::FullTree, SpareNode::JoinsHigherLevel).expect("a tree");
    let config = |address: Address| NodeConfig {
        settings: Settings::new(Profile::Hardened, Transport::Fd),
        address,
        signing_key: signing_key(address),
        roster: roster.clone(),
        tree: tree.clone(),
        seed: [100 + address.0 / 2; 32],
    };
    let profile = secoc::profile_1(secoc::FreshnessFormat::Counter { bits: 64 }).expect("8 bits can be sent");
    let by_group_key = || Protection::Secured { profile, key: None, data_id: 7.into() };
    let make = |number| match number {
        0 => station(StationConfig::default(), Some(Box::new(Orchestrator::new(config(lead)).expect("it leads")))),
        1 => station(
            talker(by_group_key(), Duration::from_ms(10).into()),
            Some(Box::new(Member::new(config(Address(1))).expect("a member"))),
        ),
        _ => station(listener(by_group_key()), Some(Box::new(Member::new(config(Address(2))).expect("a member")))),
    };
    // After these a node may only know more than before.
    const SILENT: &[Operation] = &[FourQ::OPERATIONS.agree, FourQ::OPERATIONS.verify, CmacAes128::OPERATION];
    for (number, (script, conduct)) in on_a_bus(&mut network(3, &make), ms(100)).into_iter().enumerate() {
        let checked = Contract::new(0..1, script, || make(number)).silent(SILENT).check();
        assert_eq!(checked, conduct, "alone station {number} does what it did on the bus");
        assert!(count(&checked, |kind| kind == EventKind::KeyInstalled) == 1, "station {number}");
        let used = [EventKind::KeyInstalled, EventKind::Sent, EventKind::Delivered][number];
        assert!(count(&checked, |kind| kind == used) > 0, "station {number} uses the key");
    }
}

fn network(count: usize, make: &dyn Fn(usize) -> Box<CanStation>) -> Vec<Box<dyn Node>> {
    (0..count).map(|number| make(number) as Box<dyn Node>).collect()
}
