//! What a system sends.

use chronoseal_core::{Duration, LocalTime};
use chronoseal_wire::gptp::{Announce, Body, Header, Message, PathTrace, PortIdentity};

use super::parameters::interval;
use super::time_base::SyncInformation;
use super::{Effect, PortRole, Refusal, Stamp, TimeAwareSystem};

/// `logMessageInterval` of messages that are sent on request only.
const NO_INTERVAL: i8 = 0x7f;

/// The next time after `now` of a raster; a raster that was slept through begins anew.
fn next(due: LocalTime, every: Duration, now: LocalTime) -> LocalTime {
    if due + every > now { due + every } else { now + every }
}

impl TimeAwareSystem {
    fn send(&mut self, port: PortIdentity, header: (u16, Duration, i8), body: Body<'_>, stamp: Option<Stamp>) {
        let (sequence, correction, log_interval) = header;
        let domain = self.parameters.domain;
        let message = Message { header: Header { domain, source: port, sequence, correction, log_interval }, body };
        let mut payload = vec![0; message.emitted_len()];
        message.emit(&mut payload);
        self.effects.push_back(Effect::Send { port: port.port, payload, stamp });
    }

    /// Asks the neighbour at a port for the delay.
    pub(super) fn send_request(&mut self, now: LocalTime, index: usize) {
        let log_interval = self.parameters.log_pdelay_req_interval;
        let port = &mut self.ports[index];
        port.next_request = next(port.next_request, interval(log_interval), now);
        let sequence = port.peer_delay.request();
        let identity = port.identity;
        let stamp = Some(Stamp::Request(sequence));
        self.send(identity, (sequence, Duration::ZERO, log_interval), Body::PdelayReq, stamp);
    }

    pub(super) fn send_response(&mut self, index: usize, sequence: u16, requesting: PortIdentity, arrived: LocalTime) {
        let (received, fraction) = self.parameters.free_running(arrived).split();
        let identity = self.ports[index].identity;
        let body = Body::PdelayResp { received, requesting };
        self.send(identity, (sequence, fraction, NO_INTERVAL), body, Some(Stamp::Response(sequence)));
    }

    /// Sends a Sync from every master port; what it says follows when it has left.
    pub(super) fn send_syncs(&mut self, information: SyncInformation) {
        let log_interval = self.parameters.log_sync_interval;
        for index in 0..self.ports.len() {
            let port = &mut self.ports[index];
            if port.role != PortRole::Master {
                continue;
            }
            port.sync_sequence = port.sync_sequence.wrapping_add(1);
            port.sending = Some(information);
            let (identity, sequence) = (port.identity, port.sync_sequence);
            let stamp = Some(Stamp::Sync(sequence));
            self.send(identity, (sequence, Duration::ZERO, log_interval), Body::Sync, stamp);
        }
    }

    /// The grandmaster sends its time.
    pub(super) fn sync_due(&mut self, now: LocalTime) {
        self.next_sync = next(self.next_sync, interval(self.parameters.log_sync_interval), now);
        self.send_syncs(SyncInformation {
            base: self.base,
            precise_origin: None,
            gm_time_base_indicator: self.time_base_indicator,
            last_gm_phase_change: 0,
            scaled_last_gm_freq_change: 0,
        });
    }

    /// Announces the grandmaster at every master port whose time it is.
    pub(super) fn announce_due(&mut self, now: LocalTime) {
        let log_interval = self.parameters.log_announce_interval;
        let is_due = |index: usize, system: &Self| {
            let port = &system.ports[index];
            port.role == PortRole::Master && port.next_announce <= now
        };
        let due: Vec<_> = (0..self.ports.len()).filter(|index| is_due(*index, self)).collect();
        if due.is_empty() {
            return;
        }
        let heard = self.slave.and_then(|index| self.ports[index].received.as_ref());
        let mut path = heard.map_or_else(Vec::new, |received| received.path.clone());
        path.push(self.parameters.identity.clock.0);
        let own = &self.parameters;
        let (time_flags, current_utc_offset, time_source) = heard
            .map_or((own.time_flags, own.current_utc_offset, own.time_source), |received| {
                (received.time_flags, received.current_utc_offset, received.time_source)
            });
        let announce = Announce {
            time_flags,
            current_utc_offset,
            grandmaster: self.best.root,
            steps_removed: self.best.steps_removed,
            time_source,
            path_trace: PathTrace::new(&path),
        };
        for index in due {
            let port = &mut self.ports[index];
            port.next_announce = now + interval(log_interval);
            port.announce_sequence = port.announce_sequence.wrapping_add(1);
            let (identity, sequence) = (port.identity, port.announce_sequence);
            self.send(identity, (sequence, Duration::ZERO, log_interval), Body::Announce(announce), None);
        }
    }

    /// An event message left a port at a time: what it needs follows it.
    ///
    /// # Errors
    /// [`Refusal::NoSuchPort`].
    pub fn transmitted(&mut self, now: LocalTime, port: u16, stamp: Stamp, sent: LocalTime) -> Result<(), Refusal> {
        let index = self.index(port)?;
        let port = &mut self.ports[index];
        let identity = port.identity;
        match stamp {
            Stamp::Request(sequence) => {
                port.peer_delay.request_sent(sequence, sent);
                self.after_link(now, index);
            }
            Stamp::Response(sequence) => {
                if let Some(requesting) = port.responder.response_sent(sequence) {
                    let (sent, fraction) = self.parameters.free_running(sent).split();
                    let body = Body::PdelayRespFollowUp { sent, requesting };
                    self.send(identity, (sequence, fraction, NO_INTERVAL), body, None);
                }
            }
            Stamp::Sync(sequence) => {
                let log_interval = self.parameters.log_sync_interval;
                if let Some(information) = port.sending.take_if(|_| port.sync_sequence == sequence) {
                    let (follow_up, correction) = information.follow_up(sent);
                    self.send(identity, (sequence, correction, log_interval), Body::FollowUp(follow_up), None);
                }
            }
        }
        Ok(())
    }
}
