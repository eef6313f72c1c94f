//! Attacks on clocks: all frames of a station go on later, or messages that tell the time are changed or made up.
//!
//! In IEEE 802.1AS a delay in one direction shifts the clocks behind it by half of it, and a `Follow_Up` with another correction by all
//! of it. In SAE AS6802 a control frame that comes later makes its master seem late, and one that says it is older than it is makes it
//! seem early.

use chronoseal_clocksync::gptp::Parameters;
use chronoseal_core::{AttackKind, Duration, LocalTime, StreamId};
use chronoseal_wire::ethernet::{FRAME_LEN_MAX, Frame, MacAddress, TypeOrLength};
use chronoseal_wire::gptp::{self, Announce, Body, ETHERTYPE_PTP, FollowUp, Header, Message, PathTrace, PortIdentity};
use chronoseal_wire::protocol_control_frame::{ETHERTYPE_PROTOCOL_CONTROL, PcfType, ProtocolControlFrame};

use super::{Attacker, attempt_at};

/// One kind of attack on clocks.
#[derive(Clone, Debug)]
pub struct ClockAttack {
    /// What.
    pub kind: ClockAttackKind,
    /// The first attempt, not before.
    pub first: Duration,
    /// Distance of two attempts.
    pub every: Duration,
    /// Attempts in all.
    pub count: u32,
}

/// What an attack on clocks does.
#[derive(Clone, Copy, Debug)]
pub enum ClockAttackKind {
    /// On a link: passes every frame on so much later.
    Delay(Duration),
    /// On a link: changes messages, so that the time they tell is so much ahead.
    Alter(Duration),
    /// On a link: puts before each control frame of SAE AS6802 another one that is so much ahead.
    Precede(Duration),
    /// Makes up messages of a grandmaster of IEEE 802.1AS.
    Claim(ForgedGrandmaster),
    /// Makes up control frames of a synchronisation master of SAE AS6802.
    Control(ForgedMaster),
}

/// A grandmaster that somebody claims another station to be.
#[derive(Clone, Copy, Debug)]
pub struct ForgedGrandmaster {
    /// What its messages say of it, and how often they come.
    pub parameters: Parameters,
    /// The address of the station.
    pub source: MacAddress,
    /// How far its time is ahead of true time.
    pub offset: Duration,
}

/// A synchronisation master in whose name somebody sends.
#[derive(Clone, Copy, Debug)]
pub struct ForgedMaster {
    /// Its address.
    pub source: MacAddress,
    /// Where control frames go.
    pub destination: MacAddress,
    /// Its bit of memberships.
    pub membership: u32,
    /// As configured in the cluster.
    pub sync_priority: u8,
    /// As configured in the cluster.
    pub sync_domain: u8,
    /// How old the frames say they are.
    pub offset: Duration,
}

/// State of one of them.
pub(super) struct ClockCampaign {
    attack: ClockAttack,
    attempts: u32,
}

impl ClockCampaign {
    pub(super) fn new(attack: &ClockAttack) -> Self {
        Self { attack: attack.clone(), attempts: 0 }
    }

    fn next_at(&self) -> Option<LocalTime> {
        let ClockAttack { first, every, count, .. } = self.attack;
        attempt_at(first, every, self.attempts, count)
    }

    /// When it makes up a message by itself, and not as one comes by.
    pub(super) fn wakes_at(&self) -> Option<LocalTime> {
        let keeps_time = matches!(self.attack.kind, ClockAttackKind::Claim(_) | ClockAttackKind::Control(_));
        self.next_at().filter(|_| keeps_time)
    }
}

impl Attacker {
    /// A frame goes on along the wire: gives it as it leaves, if it leaves now.
    pub(super) fn attack_clocks(&mut self, now: LocalTime, frame: Vec<u8>) -> Option<Vec<u8>> {
        let mut passing = frame;
        if !self.running {
            return Some(passing);
        }
        let mut delay = Duration::ZERO;
        for index in 0..self.on_clocks.len() {
            let campaign = &mut self.on_clocks[index];
            if campaign.next_at().is_none_or(|at| at > now) {
                continue;
            }
            let attempt = u64::from(campaign.attempts);
            let (kind, forged) = match campaign.attack.kind {
                ClockAttackKind::Delay(by) => {
                    delay += by;
                    (AttackKind::Delay, None)
                }
                ClockAttackKind::Alter(by) => {
                    let Some(altered) = ahead(&passing, by) else { continue };
                    passing = altered;
                    (AttackKind::AlteredTime, None)
                }
                ClockAttackKind::Precede(by) => {
                    let Some(forged) = ahead(&passing, by) else { continue };
                    (AttackKind::ForgedTime, Some(forged))
                }
                ClockAttackKind::Claim(_) | ClockAttackKind::Control(_) => continue,
            };
            campaign.attempts += 1;
            self.report(kind, StreamId::NONE, attempt);
            forged.into_iter().for_each(|frame| self.send(frame));
        }
        if delay > Duration::ZERO {
            self.hold(now + delay, passing);
            return None;
        }
        Some(passing)
    }

    /// Makes up the messages that are due.
    pub(super) fn tell_time(&mut self, now: LocalTime) {
        for index in 0..self.on_clocks.len() {
            let campaign = &mut self.on_clocks[index];
            if campaign.wakes_at().is_none_or(|at| at > now) {
                continue;
            }
            let attempt = campaign.attempts;
            campaign.attempts += 1;
            let frames = match campaign.attack.kind {
                ClockAttackKind::Claim(grandmaster) => claim(&grandmaster, now, attempt).to_vec(),
                ClockAttackKind::Control(master) => vec![control(&master, attempt)],
                ClockAttackKind::Delay(_) | ClockAttackKind::Alter(_) | ClockAttackKind::Precede(_) => continue,
            };
            for frame in frames {
                self.report(AttackKind::ForgedTime, StreamId::NONE, u64::from(attempt));
                self.send(frame);
            }
        }
    }
}

/// True for a frame that a clock protocol sends.
pub(super) fn is_control(bytes: &[u8]) -> bool {
    let control = [ETHERTYPE_PROTOCOL_CONTROL, ETHERTYPE_PTP].map(TypeOrLength::EtherType);
    Frame::new_checked(bytes).is_ok_and(|frame| control.contains(&frame.type_or_length()))
}

/// A message that tells the time, with a time so much ahead; `None` if it is none.
fn ahead(bytes: &[u8], by: Duration) -> Option<Vec<u8>> {
    let frame = Frame::new_checked(bytes).ok()?;
    let mut changed = vec![0; bytes.len().max(FRAME_LEN_MAX)];
    let len = match frame.type_or_length() {
        TypeOrLength::EtherType(ETHERTYPE_PROTOCOL_CONTROL) => {
            let said = ProtocolControlFrame::parse(frame.payload()).ok()?;
            let transparent_clock = (said.transparent_clock + by).max(Duration::ZERO);
            ProtocolControlFrame { transparent_clock, ..said }.emit_frame(
                frame.destination(),
                frame.source(),
                &mut changed,
            )
        }
        TypeOrLength::EtherType(ETHERTYPE_PTP) => {
            let Message { header, body: body @ Body::FollowUp(_) } = Message::parse(frame.payload()).ok()? else {
                return None;
            };
            let header = Header { correction: header.correction + by, ..header };
            gptp::emit_frame(&emitted(&Message { header, body }), frame.source(), &mut changed)
        }
        _ => return None,
    };
    changed.truncate(len);
    Some(changed)
}

fn emitted(message: &Message<'_>) -> Vec<u8> {
    let mut payload = vec![0; message.emitted_len()];
    message.emit(&mut payload);
    payload
}

/// A Sync, its `Follow_Up` and an Announce. The Sync goes first, so that it leaves now.
fn claim(grandmaster: &ForgedGrandmaster, now: LocalTime, attempt: u32) -> [Vec<u8>; 3] {
    let ForgedGrandmaster { parameters, source, offset } = grandmaster;
    let clock = parameters.identity.clock;
    let message = |log_interval: i8, correction: Duration, body: Body<'_>| {
        let (domain, sequence) = (parameters.domain, attempt as u16);
        let header = Header { domain, source: PortIdentity { clock, port: 1 }, sequence, correction, log_interval };
        let mut frame = vec![0; FRAME_LEN_MAX];
        let len = gptp::emit_frame(&emitted(&Message { header, body }), *source, &mut frame);
        frame.truncate(len);
        frame
    };
    let (precise_origin, correction) = (parameters.epoch + now.since_zero() + *offset).split();
    let path = [clock.0];
    let announce = Announce {
        time_flags: parameters.time_flags,
        current_utc_offset: parameters.current_utc_offset,
        grandmaster: parameters.identity,
        steps_removed: 0,
        time_source: parameters.time_source,
        path_trace: PathTrace::new(&path),
    };
    let follow_up = FollowUp {
        precise_origin,
        cumulative_scaled_rate_offset: 0,
        gm_time_base_indicator: 0,
        last_gm_phase_change: 0,
        scaled_last_gm_freq_change: 0,
    };
    [
        message(parameters.log_sync_interval, Duration::ZERO, Body::Sync),
        message(parameters.log_sync_interval, correction, Body::FollowUp(follow_up)),
        message(parameters.log_announce_interval, Duration::ZERO, Body::Announce(announce)),
    ]
}

/// An integration frame.
fn control(master: &ForgedMaster, attempt: u32) -> Vec<u8> {
    let frame = ProtocolControlFrame {
        integration_cycle: attempt,
        membership_new: master.membership,
        sync_priority: master.sync_priority,
        sync_domain: master.sync_domain,
        kind: PcfType::Integration,
        transparent_clock: master.offset,
    };
    let mut bytes = vec![0; FRAME_LEN_MAX];
    let len = frame.emit_frame(master.destination, master.source, &mut bytes);
    bytes.truncate(len);
    bytes
}
