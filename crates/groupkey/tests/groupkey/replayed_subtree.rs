//! The attack that the published protocol leaves open to a removed node: it answers for the renewed half of an exchange
//! with what that half said before the removal, and the untouched half agrees on the old secret again.

use std::collections::{BTreeMap, VecDeque};

use chronoseal_core::{Duration, HandleError, Input, LocalTime, Node, Output, PortId, Priority, Transmit};
use chronoseal_groupkey::{Address, Identifier, Installation, Operation, Profile, Scheme, Settings, Step, Transport};
use chronoseal_wire::can::{CanFrame, CanId};

use crate::bus::{Bus, Station, network};
use crate::swift::Swift;

/// A removed node that has recorded everything and repeats one half of each exchange that is asked for again.
struct Replayer {
    recorded: BTreeMap<Identifier, Vec<CanFrame>>,
    /// The operands that it was in.
    own: Vec<Address>,
    queue: VecDeque<CanFrame>,
}

impl Node for Replayer {
    fn handle_input(&mut self, _: LocalTime, input: Input<'_>) -> Result<(), HandleError> {
        let Input::Frame { bytes, .. } = input else { return Ok(()) };
        let frame = CanFrame::parse(bytes).unwrap();
        let CanId::Extended(id) = frame.id() else { return Ok(()) };
        let Some(heard) = Identifier::from_can_id(id) else { return Ok(()) };
        let steps = [Step::ShareFirst, Step::ConfirmationFirst];
        let other = [Step::ShareSecond, Step::ConfirmationSecond];
        let steps = match heard.step {
            Step::Orchestration if self.own.contains(&heard.first) => steps,
            Step::Orchestration if self.own.contains(&heard.second) => other,
            _ => return Ok(()),
        };
        for step in steps {
            let frames = self.recorded.get(&Identifier { step, ..heard });
            self.queue.extend(frames.into_iter().flatten());
        }
        Ok(())
    }

    fn poll_output(&mut self, now: LocalTime, frame: &mut [u8]) -> Output {
        match self.queue.pop_front() {
            None => Output::Timeout(None),
            Some(next) => {
                let len = next.emit(frame);
                Output::Transmit(Transmit { port: PortId(0), priority: Priority(0), launch_at: now, len, token: None })
            }
        }
    }
}

/// True if a present member takes the key that the removed one has into use again, under a new epoch.
fn brings_the_old_key_back(settings: Settings, scheme: Scheme, n: usize, removed: usize) -> bool {
    let mut bus: Bus<Swift> = network(settings, scheme, n);
    bus.start();
    bus.run(Duration::from_s(9));
    let old = bus.station(removed).key();
    let first_epoch = bus.member(removed).group_key().unwrap().epoch;
    let mut recorded: BTreeMap<Identifier, Vec<CanFrame>> = BTreeMap::new();
    for heard in &bus.heard {
        recorded.entry(heard.identifier().unwrap()).or_default().push(heard.frame);
    }
    let own = bus.orchestrator().tree().path(Address(removed as u8)).collect();
    // Frames of its own come before those of others, who compute.
    bus.push(Station::Other(Box::new(Replayer { recorded, own, queue: VecDeque::new() })));
    for index in 0..=n {
        bus.set_cost(index, |_| Duration::from_ms(2));
    }
    let now = bus.now;
    bus.orchestrator_mut().schedule(now, Operation::Remove(Address(removed as u8))).unwrap();
    bus.wake(0);
    bus.run(now.since_zero() + Duration::from_s(20));
    let is_deceived = |index: &usize| {
        let key = bus.member(*index).group_key().unwrap();
        key.epoch > first_epoch && Some(*key.key.expose()) == old
    };
    (1..=n).filter(|index| *index != removed).any(|index| is_deceived(&index))
}

/// How many of all removals from groups of 3 to 8.
fn counted(settings: Settings, scheme: Scheme) -> (usize, usize) {
    let removals = || (3..=8).flat_map(|n| (1..=n).map(move |removed| (n, removed)));
    let succeed = removals().filter(|(n, removed)| brings_the_old_key_back(settings, scheme, *n, *removed));
    (succeed.count(), removals().count())
}

#[test]
fn as_published_a_removed_node_can_bring_the_old_key_back_and_no_default_lets_it() {
    let published = Settings::new(Profile::AsPublished, Transport::Fd);
    let at_once = Settings { installation: Installation::Unconfirmed, ..published };
    let hardened = Settings::new(Profile::Hardened, Transport::Fd);
    let schemes = [Scheme::FullTree, Scheme::WithoutOrchestrator, Scheme::Symmetric];
    // The symmetric scheme has no half that a removal leaves untouched.
    assert_eq!(schemes.map(|scheme| counted(at_once, scheme)), [(21, 33), (12, 33), (0, 33)]);
    for settings in [published, hardened, Settings { installation: Installation::Unconfirmed, ..hardened }] {
        assert_eq!(schemes.map(|scheme| counted(settings, scheme)), [(0, 33); 3]);
    }
}
