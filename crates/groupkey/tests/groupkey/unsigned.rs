//! What nobody signed changes nothing that lasts: the symmetric scheme while somebody forges and repeats its messages.

use chronoseal_core::{AbortReason, Duration, EventKind};
use chronoseal_groupkey::{
    Address, ExchangeId, Identifier, Installation, Operation, Profile, Scheme, Settings, Step, Transport,
};
use chronoseal_wire::can::{CanFrame, CanId, Dlc};

use crate::bus::{Bus, Heard, LEAD, network};
use crate::swift::Swift;

/// Ten seconds later, after an operation.
pub fn operate(bus: &mut Bus<Swift>, operation: Operation) {
    let now = bus.now;
    bus.orchestrator_mut().schedule(now, operation).unwrap();
    bus.wake(0);
    bus.run(now.since_zero() + Duration::from_s(10));
}

/// Puts a message of `len` bytes that nobody signed on the bus.
fn forge(bus: &mut Bus<Swift>, identifier: Identifier, len: usize) {
    let mut left = len;
    while left > 0 {
        let len = Dlc::holding(left.min(64)).unwrap().fd_len();
        bus.inject(&CanFrame::fd(CanId::Extended(identifier.can_id()), &[0; 64][..len], true).unwrap());
        left = left.saturating_sub(len);
    }
}

/// Puts every frame with this step that was heard so far on the bus again.
fn repeat(bus: &mut Bus<Swift>, step: Step) {
    let is_of = |heard: &&Heard| heard.identifier().is_some_and(|identifier| identifier.step == step);
    let frames: Vec<_> = bus.heard.iter().filter(is_of).map(|heard| heard.frame).collect();
    assert!(!frames.is_empty(), "there is nothing to repeat");
    frames.iter().for_each(|frame| bus.inject(frame));
}

/// Every setting of the symmetric scheme, after its first key and what an enemy then does.
fn everywhere(enemy: impl Fn(&mut Bus<Swift>, Settings)) {
    for profile in Profile::ALL {
        for installation in [Installation::Confirmed, Installation::Unconfirmed] {
            let settings = Settings { installation, ..Settings::new(profile, Transport::Fd) };
            let mut bus = network::<Swift>(settings, Scheme::Symmetric, 4);
            bus.start();
            bus.run(Duration::from_s(9));
            let first = bus.common_key();
            enemy(&mut bus, settings);
            bus.run(Duration::from_s(10));
            assert_eq!(bus.common_key(), first, "{profile:?} {installation:?}");
            operate(&mut bus, Operation::Remove(Address(2)));
            let new = bus.station(0).key();
            assert_ne!(new, Some(first), "{profile:?} {installation:?}: no new key");
            for index in [1, 3, 4] {
                assert_eq!(bus.station(index).key(), new, "{profile:?} {installation:?}: member {index}");
            }
            assert_eq!(bus.station(2).key(), Some(first));
        }
    }
}

fn pairs(bus: &Bus<Swift>) -> Vec<ExchangeId> {
    let tree = bus.orchestrator().tree();
    tree.results().filter_map(|result| tree.exchange(result)).collect()
}

#[test]
fn a_request_that_nobody_signed_does_not_keep_a_removed_node_in() {
    everywhere(|bus, settings| {
        let len = if settings.profile == Profile::Hardened { 72 } else { 64 };
        for pair in pairs(bus) {
            forge(bus, pair.message(Step::Orchestration), len);
        }
    });
}

#[test]
fn a_repeated_request_does_not_keep_a_removed_node_in() {
    everywhere(|bus, _| repeat(bus, Step::Orchestration));
}

#[test]
fn shares_of_nobody_do_not_keep_a_removed_node_in() {
    everywhere(|bus, _| {
        for pair in pairs(bus) {
            forge(bus, pair.message(Step::ShareFirst), 32);
            forge(bus, pair.message(Step::ShareSecond), 32);
        }
    });
}

#[test]
fn a_start_and_a_master_secret_of_nobody_do_not_keep_a_removed_node_in() {
    everywhere(|bus, settings| {
        let (start, delivery) = if settings.profile == Profile::Hardened { (72, 120) } else { (64, 96) };
        forge(bus, Identifier { step: Step::Start, first: LEAD, second: Address::RESERVED, result: LEAD }, start);
        forge(bus, pairs(bus)[3].message(Step::Distribution), delivery);
        forge(bus, pairs(bus)[0].message(Step::ShareFirst), 32);
        repeat(bus, Step::ShareSecond);
    });
}

#[test]
fn a_member_reports_each_master_secret_that_it_refuses() {
    for (profile, len, reason) in [
        (Profile::AsPublished, 96, AbortReason::DistributionRefused),
        (Profile::Hardened, 120, AbortReason::OrchestrationStale),
    ] {
        let mut bus = network::<Swift>(Settings::new(profile, Transport::Fd), Scheme::Symmetric, 4);
        bus.start();
        bus.run(Duration::from_s(9));
        bus.common_key();
        let delivery = |heard: &Heard| heard.identifier().filter(|id| id.step == Step::Distribution);
        let deliveries: std::collections::BTreeSet<_> =
            bus.heard.iter().filter_map(delivery).map(|id| (id.first, id.result)).collect();
        assert_eq!(deliveries.len(), 4);
        for (first, result) in deliveries {
            forge(&mut bus, Identifier { step: Step::Distribution, first, second: LEAD, result }, len);
        }
        bus.run(Duration::from_s(10));
        // The orchestrator reports by itself that somebody speaks in its name.
        let of_members = bus.aborts().into_iter().filter(|(station, _)| *station != 0);
        let refused: Vec<_> = of_members.map(|(station, event)| (station, event.kind)).collect();
        assert_eq!(refused, [1, 2, 3, 4].map(|station| (station, EventKind::ExchangeAborted(reason))), "{profile:?}");
    }
}

/// B agrees on key 1 and misses the word that all hold it. X, who has key 1, is removed, and B agrees on key 2. Then X
/// repeats what made B agree on key 1 and what would have made it take that into use.
#[test]
fn a_repeated_master_secret_does_not_bring_the_key_of_a_removed_node_back() {
    const B: usize = 1;
    const X: u8 = 2;
    for profile in Profile::ALL {
        // As published a timestamp counts for two granules of a second, hardened for five seconds.
        for pause in [Duration::from_ms(200), Duration::from_ms(1500)] {
            let settings = Settings { retries_max: 5, ..Settings::new(profile, Transport::Fd) };
            let mut bus = network::<Swift>(settings, Scheme::Symmetric, 3);
            let is_commit =
                |heard: &Heard| heard.identifier().is_some_and(|identifier| identifier.step == Step::Commit);
            bus.fault = Some(Box::new(move |heard, to| {
                (to != B || heard.from != 0 || !is_commit(heard)).then_some(heard.frame)
            }));
            bus.start();
            bus.run(Duration::from_ms(200));
            let first = bus.station(usize::from(X)).key();
            assert!(first.is_some() && bus.station(B).key().is_none());
            let to_b = |heard: &&Heard| {
                heard.identifier().is_some_and(|id| id.step == Step::Distribution && id.first == Address(B as u8))
            };
            let mut recorded: Vec<_> = bus.heard.iter().filter(to_b).map(|heard| heard.frame).collect();
            recorded.extend(bus.heard.iter().filter(|heard| is_commit(heard)).map(|heard| heard.frame));
            bus.run(pause);
            let now = bus.now;
            bus.orchestrator_mut().schedule(now, Operation::Remove(Address(X))).unwrap();
            bus.wake(0);
            // As published the new timestamp has to be another one.
            bus.run(pause + Duration::from_ms(1500));
            let second = bus.station(0).key();
            assert_ne!(second, first);
            recorded.iter().for_each(|frame| bus.inject(frame));
            bus.run(pause + Duration::from_ms(1600));
            assert_ne!(bus.station(B).key(), first, "{profile:?}: a present member uses the key of a removed one");
            // What it waited for still counts.
            bus.fault = None;
            bus.run(pause + Duration::from_s(5));
            assert_eq!(bus.station(B).key(), second, "{profile:?} {:x?}", bus.aborts());
        }
    }
}

/// While the pairs are formed, too: a master secret that was never sent divides nobody's collection of shares.
#[test]
fn a_master_secret_of_nobody_between_two_pairs_spoils_no_key() {
    for profile in Profile::ALL {
        let mut bus = network::<Swift>(Settings::new(profile, Transport::Fd), Scheme::Symmetric, 4);
        let pair = pairs(&bus)[0].message(Step::Distribution);
        bus.start();
        // Each exchange takes less than a millisecond here.
        for us in [500, 900, 1300, 1700] {
            bus.run(Duration::from_us(us));
            forge(&mut bus, pair, 64);
        }
        bus.run(Duration::from_s(9));
        bus.common_key();
    }
}
