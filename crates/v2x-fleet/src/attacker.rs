//! An attacker on the air: it hears what is in its reach and can say anything, but cannot take back what others said.

use std::collections::VecDeque;

use chronoseal_core::{
    AttackKind, Command, Duration, Event, EventKind, HandleError, Input, LocalTime, Node, NodeBase, Output, PortId,
    Queued, StreamId,
};

use crate::station::{FrameTable, ItsStation, MessageKind, priority_of};

/// What an attacker is made from.
pub struct AttackerConfig {
    /// What it does.
    pub kind: AttackerKind,
    /// The messages it is after.
    pub message: MessageKind,
    /// Their stream.
    pub stream: StreamId,
    /// Its first attempt, from the start of the run.
    pub start: Duration,
    /// Distance of two attempts.
    pub every: Duration,
    /// Attempts at most.
    pub count: u32,
}

/// What an attacker does.
pub enum AttackerKind {
    /// Repeats the first message that it hears from its start on; what is in frames comes from the table.
    Replay(FrameTable),
    /// Makes up messages as this station would, under its certificates.
    Spoof(Box<ItsStation>),
}

/// An attacker.
pub struct Attacker {
    config: AttackerConfig,
    base: NodeBase<VecDeque<Queued<Vec<u8>>>>,
    recorded: Option<Vec<u8>>,
    attempts: u32,
    starts_at: LocalTime,
    due: Option<LocalTime>,
}

impl Attacker {
    /// An attacker that waits for [`Command::Start`].
    pub fn new(config: AttackerConfig) -> Self {
        Self { config, base: NodeBase::new(0..1), recorded: None, attempts: 0, starts_at: LocalTime::ZERO, due: None }
    }

    /// Keeps the first message it is after.
    fn listen(&mut self, now: LocalTime, bytes: &[u8]) {
        let AttackerKind::Replay(table) = &self.config.kind else { return };
        if self.recorded.is_none() && self.due.is_some() && now >= self.starts_at {
            let is_it = table.frame(bytes).content().is_ok_and(|content| content.kind() == self.config.message);
            self.recorded = is_it.then(|| bytes.to_vec());
        }
    }

    fn next_frame(&mut self, now: LocalTime) -> Option<(AttackKind, Vec<u8>)> {
        match &mut self.config.kind {
            AttackerKind::Replay(_) => Some((AttackKind::Replay, self.recorded.clone()?)),
            AttackerKind::Spoof(impostor) => Some((AttackKind::Spoof, impostor.make(now, self.config.message)?)),
        }
    }
}

impl Node for Attacker {
    fn handle_input(&mut self, now: LocalTime, input: Input<'_>) -> Result<(), HandleError> {
        self.base.admit(now, &input)?;
        match input {
            Input::Command(Command::Start) => {
                self.starts_at = now + self.config.start;
                self.due = Some(self.starts_at);
            }
            Input::Command(_) => self.due = None,
            Input::Frame { bytes, .. } => self.listen(now, bytes),
            _ => {}
        }
        Ok(())
    }

    fn poll_output(&mut self, now: LocalTime, frame: &mut [u8]) -> Output {
        if let Some(output) = self.base.next(now, frame) {
            return output;
        }
        let Some(due) = self.due.filter(|_| self.attempts < self.config.count) else { return Output::Timeout(None) };
        if due > now {
            return Output::Timeout(Some(due));
        }
        self.due = Some(due + self.config.every);
        // An attempt is not made up for: there was nothing to repeat yet.
        let Some((kind, bytes)) = self.next_frame(now) else { return Output::Timeout(self.due) };
        let attempt = u64::from(self.attempts);
        self.attempts += 1;
        let priority = priority_of(self.config.message);
        self.base.push(Queued::Send { port: PortId(0), priority, frame: bytes });
        Output::Event(Event::of(EventKind::Attacked(kind), self.config.stream, attempt))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use chronoseal_core::random::{self, Purpose};
    use chronoseal_core_testing::{Contract, Script};
    use chronoseal_v2x::crypto::Curve;

    use super::*;
    use crate::office::Office;
    use crate::road::{Origin, State};
    use crate::station::{Credentials, HandedOn, ItsStationConfig, Maker, Mobility, StationStack};

    const STARTS_AT_US: u64 = 722_000_000_000_000;
    const STREAM: StreamId = StreamId(0);

    fn at(ms: i64) -> LocalTime {
        LocalTime::ZERO + Duration::from_ms(ms)
    }

    fn station(office: &Arc<Office>, number: u64, received_max: usize) -> ItsStation {
        let origin = Origin { latitude_deg: 48.77, longitude_deg: 9.18 };
        let config = ItsStationConfig { received_max, ..ItsStationConfig::new(origin, STARTS_AT_US) };
        let numbers = random::stream(9, Purpose::Medium, number);
        let credentials = Credentials::signed(Arc::clone(office), numbers, STARTS_AT_US, false).expect("a ticket");
        let state = State { x_m: number as f64, ..State::default() };
        ItsStation::new(config, credentials, Mobility::Straight(state), FrameTable::new(Some(office.verifier())), None)
    }

    fn office() -> Arc<Office> {
        Arc::new(Office::new(Curve::NistP256, STARTS_AT_US, 1).expect("certificates"))
    }

    /// CAMs of a station, as they come in.
    fn script(office: &Arc<Office>) -> Script {
        let mut sender = station(office, 1, 0);
        (1..4).fold(Script::until(at(40)), |script, number| {
            let bytes = sender.make(at(number * 10), MessageKind::Cam).expect("it is somewhere");
            script.hear(at(number * 10), PortId(0), &bytes)
        })
    }

    fn attacker(kind: AttackerKind) -> Box<dyn Node> {
        let (start, every) = (Duration::from_ms(15), Duration::from_ms(4));
        let (message, stream) = (MessageKind::Cam, STREAM);
        Box::new(Attacker::new(AttackerConfig { kind, message, stream, start, every, count: 3 }))
    }

    #[test]
    fn attackers_keep_the_contract_of_nodes() {
        let office = office();
        let replays = || attacker(AttackerKind::Replay(FrameTable::new(Some(office.verifier()))));
        let conduct = Contract::new(0..1, script(&office), replays).late_by(Duration::from_ns(1)).check();
        let sent: Vec<_> = conduct.frames().map(|(_, _, bytes)| bytes).collect();
        assert_eq!(sent.len(), 3, "from the first CAM that came after its start");
        assert!(sent.windows(2).all(|pair| pair[0] == pair[1]));
        let spoofs = || attacker(AttackerKind::Spoof(Box::new(station(&office, 2, 0))));
        assert_eq!(
            Contract::new(0..1, script(&office), spoofs).late_by(Duration::from_ns(1)).check().frames().count(),
            3
        );
    }

    #[test]
    fn a_station_before_a_gateway_keeps_the_contract_of_nodes() {
        let office = office();
        let stack = || -> Box<dyn Node> {
            let office = Arc::clone(&office);
            let maker: Maker = Box::new(move || Some(station(&office, 2, 4)));
            let hands_on = vec![HandedOn { stream: STREAM, len: 60, delivers: false }];
            Box::new(StationStack::new(maker, hands_on).expect("a station"))
        };
        let conduct = Contract::new(0..1, script(&office), stack).late_by(Duration::from_ns(1)).check();
        let relayed = conduct.events().filter(|event| (event.kind, event.stream) == (EventKind::Relayed, STREAM));
        assert_eq!(relayed.count(), 3);
    }
}
