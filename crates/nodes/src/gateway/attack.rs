//! What an attacker does who has taken over a gateway.

use chronoseal_core::{AttackKind, Duration, LocalTime, StreamId};

use super::SEQUENCE_LEN;
use super::stack::{Attempt, Mark, Pdu};

/// An attack on what a gateway passes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RelayAttack {
    /// What is done.
    pub kind: AttackKind,
    /// On which stream.
    pub stream: StreamId,
    /// The first attempt, from the start of the run.
    pub start: Duration,
    /// Distance of the times from which an attempt is made on the next PDU.
    pub every: Duration,
    /// How many attempts.
    pub count: u32,
}

/// An attack and how far it has come.
#[derive(Debug)]
pub(super) struct Campaign {
    pub(super) attack: RelayAttack,
    attempts: u32,
    next_at: Option<LocalTime>,
    /// The first PDU of the stream that passed.
    recorded: Option<Vec<u8>>,
    /// How long PDUs of the stream are, and the number of the last one.
    last: Option<(usize, u64)>,
}

/// What becomes of a PDU that passes.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum Passing {
    /// It goes on.
    On(Pdu),
    /// It does not.
    Kept(Attempt),
}

impl Campaign {
    pub(super) fn new(attack: RelayAttack) -> Self {
        Self { attack, attempts: 0, next_at: None, recorded: None, last: None }
    }

    pub(super) fn start(&mut self, now: LocalTime) {
        self.next_at = Some(now + self.attack.start);
    }

    pub(super) fn stop(&mut self) {
        self.next_at = None;
    }

    fn is_due(&self, now: LocalTime) -> bool {
        self.attempts < self.attack.count && self.next_at.is_some_and(|at| at <= now)
    }

    fn attempt(&mut self, now: LocalTime) -> Attempt {
        let RelayAttack { kind, stream, every, .. } = self.attack;
        let attempt = Attempt { kind, stream, number: u64::from(self.attempts) };
        self.attempts += 1;
        // Counted from when it was due and not from when a PDU came, so that a sender whose clock is a little faster loses
        // every frame and not every second one. What was missed while none came is not made up for.
        let due = self.next_at.map_or(now, |due| due + every);
        self.next_at = Some(if due + every < now { now } else { due });
        attempt
    }

    /// What becomes of a PDU of the stream.
    pub(super) fn meet(&mut self, now: LocalTime, mut pdu: Pdu) -> Passing {
        self.last = Some((pdu.bytes.len(), pdu.sequence));
        let is_first = self.recorded.is_none();
        let recorded = self.recorded.get_or_insert_with(|| pdu.bytes.clone()).clone();
        if !self.is_due(now) {
            return Passing::On(pdu);
        }
        match self.attack.kind {
            AttackKind::Withhold => return Passing::Kept(self.attempt(now)),
            AttackKind::Tamper => {
                // The sequence number stays, so that the receiver takes it for the frame it waits for.
                let place = SEQUENCE_LEN.min(pdu.bytes.len().saturating_sub(1));
                if let Some(byte) = pdu.bytes.get_mut(place) {
                    *byte ^= 0xff;
                }
            }
            AttackKind::Replay if !is_first => pdu.bytes = recorded,
            // The first one cannot be repeated yet, and what is made up comes beside what passes.
            _ => return Passing::On(pdu),
        }
        pdu.mark.attack = Some(self.attempt(now));
        Passing::On(pdu)
    }

    /// The PDU it makes up now, if it is time and it knows what they look like.
    pub(super) fn make_up(&mut self, now: LocalTime) -> Option<Pdu> {
        if self.attack.kind != AttackKind::Spoof || !self.is_due(now) {
            return None;
        }
        let (len, last) = self.last?;
        let sequence = last + 1;
        let mut bytes = vec![0x5a; len];
        let number = SEQUENCE_LEN.min(len);
        bytes[..number].copy_from_slice(&sequence.to_be_bytes()[8 - number..]);
        let mark = Mark { attack: Some(self.attempt(now)), ..Mark::default() };
        Some(Pdu { stream: self.attack.stream, sequence, bytes, mark })
    }

    /// When it wants to make up a PDU.
    pub(super) fn wakes_at(&self) -> Option<LocalTime> {
        let makes_up = self.attack.kind == AttackKind::Spoof && self.attempts < self.attack.count;
        // Until a PDU has passed it does not know what they look like.
        self.next_at.filter(|_| makes_up && self.last.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attacked(every: Duration, passes_every: Duration, count: u32) -> Vec<u64> {
        let attack =
            RelayAttack { kind: AttackKind::Tamper, stream: StreamId(0), start: Duration::from_ms(500), every, count };
        let mut campaign = Campaign::new(attack);
        campaign.start(LocalTime::ZERO);
        let pdu = |sequence| Pdu { stream: StreamId(0), sequence, bytes: vec![0; 8], mark: Mark::default() };
        let meets = |sequence: &u64| {
            let now = LocalTime::ZERO + passes_every * *sequence as i64;
            matches!(campaign.meet(now, pdu(*sequence)), Passing::On(Pdu { mark: Mark { attack: Some(_), .. }, .. }))
        };
        (0..200).filter(meets).collect()
    }

    #[test]
    fn every_frame_in_turn_is_attacked_whoever_s_clock_is_faster() {
        let period = Duration::from_ms(10);
        let drift = Duration::from_ns(500);
        for passes_every in [period, period + drift, period - drift] {
            let attacked = attacked(period, passes_every, 20);
            assert_eq!(attacked.len(), 20);
            let skipped = attacked.windows(2).filter(|pair| pair[1] != pair[0] + 1).count();
            assert!(skipped <= 1, "{passes_every}: {attacked:?}");
        }
        let third: Vec<u64> = attacked(period * 3, period, 4);
        assert_eq!(third, [50, 53, 56, 59]);
    }
}
