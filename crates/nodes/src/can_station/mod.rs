//! A station of a CAN bus: periodic messages, replayed recordings, what it receives, and the agent that keeps its key.
//!
//! The agent (a member or the orchestrator of a group key) is a [`KeyAgent`] of its own and sees every frame; the
//! application sees every frame too and takes what it listens to. When the agent takes a key into use, messages protected
//! under the group key use it from then on. Until there is one they are withheld.
//!
//! A message that is longer than a frame is sent in several, as ISO 15765-2 has it ([`SegmentedConfig`]): it is sealed before it is
//! cut and checked when all of it is there.
//!
//! A message carries the low bytes of its sequence number, big-endian, at the front of its data (four, or as many as it
//! has room for), so that its receivers know which one they have.
//!
//! Where a profile takes its freshness from trips and resets, one station counts them and sends a synchronisation
//! message each reset cycle, and the others follow ([`SyncConfig`]). What needs counters that are not there yet is
//! withheld by its sender and discarded by its receiver; a synchronisation message that does not come is an event.

mod application;
mod config;
mod listener;
mod relay;
mod replay;
mod segmented;
mod synchronisation;
mod talker;

#[cfg(test)]
mod tests;

use chronoseal_core::{HandleError, Input, LocalTime, Node, Output, PortId, Priority, StreamId, Transmit, TxToken};
use chronoseal_crypto::suite::Suite;
use chronoseal_groupkey::{GroupKey, Member, Orchestrator};
use chronoseal_wire::can::CanFrame;

use self::application::Application;
pub use self::config::{
    BridgeConfig, ListenerConfig, Numbering, RelayConfig, ReplayConfig, SegmentedConfig, SegmentedTimeouts,
    StationConfig, TalkerConfig,
};
pub use self::synchronisation::SyncConfig;
use crate::gateway::{Mark, Pdu, Stack};
use crate::protection::ProtectionError;

/// The only port of a station.
const PORT: PortId = PortId(0);

/// Something that comes to a group key by exchanging frames.
pub trait KeyAgent: Node {
    /// The key in use, if there is one.
    fn key_in_use(&self) -> Option<&GroupKey>;
}

impl<S: Suite> KeyAgent for Member<S> {
    fn key_in_use(&self) -> Option<&GroupKey> {
        self.group_key()
    }
}

impl<S: Suite> KeyAgent for Orchestrator<S> {
    fn key_in_use(&self) -> Option<&GroupKey> {
        self.group_key()
    }
}

/// A station of a CAN bus.
pub struct CanStation {
    agent: Option<Box<dyn KeyAgent + Send>>,
    application: Application,
    /// The epoch of the key the application has.
    epoch: Option<u32>,
    /// What it is made from again after a restart; kept where it is part of a gateway.
    blueprint: Option<StationConfig>,
}

impl CanStation {
    /// A station; without an agent it has no group key.
    ///
    /// # Errors
    /// [`ProtectionError`] if a message is protected in a way that this kind of station is not able to.
    pub fn new(config: StationConfig, agent: Option<Box<dyn KeyAgent + Send>>) -> Result<Self, ProtectionError> {
        let application = Application::new(config)?;
        Ok(Self { agent, application, epoch: None, blueprint: None })
    }

    /// A station that is an interface of a gateway. The agent, and the group key it has, live through a restart, as what is
    /// kept in memory that needs no power.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn of_gateway(config: StationConfig, agent: Option<Box<dyn KeyAgent + Send>>) -> Result<Self, ProtectionError> {
        Ok(Self { blueprint: Some(config.clone()), ..Self::new(config, agent)? })
    }

    /// Hands the application a key that the agent has taken into use since, or takes away one that it has given up.
    fn follow_agent(&mut self, now: LocalTime) {
        let group = self.agent.as_ref().and_then(|agent| agent.key_in_use());
        let epoch = group.map(|group| group.epoch);
        if self.epoch != epoch {
            self.epoch = epoch;
            self.application.use_group_key(now, group.map(|group| &group.key));
        }
    }
}

fn transmit(frame: &CanFrame, now: LocalTime, buffer: &mut [u8], token: Option<TxToken>) -> Output {
    let len = frame.emit(buffer);
    Output::Transmit(Transmit { port: PORT, priority: Priority(0), launch_at: now, len, token })
}

impl Node for CanStation {
    fn handle_input(&mut self, now: LocalTime, input: Input<'_>) -> Result<(), HandleError> {
        self.application.base.admit(now, &input)?;
        match input {
            Input::Frame { port, rx_at, bytes } => {
                if let Some(agent) = &mut self.agent {
                    agent.handle_input(now, Input::Frame { port, rx_at, bytes })?;
                }
                self.application.receive(bytes);
                Ok(())
            }
            Input::Transmitted { token, .. } if self.application.left(now, token.id(), true) => Ok(()),
            Input::Dropped { token } if self.application.left(now, token.id(), false) => Ok(()),
            // Beside the application only the agent asks for transmit times.
            Input::Transmitted { token, tx_at } => match &mut self.agent {
                Some(agent) => agent.handle_input(now, Input::Transmitted { token, tx_at }),
                None => Err(HandleError::UnknownToken(token.id())),
            },
            Input::Command(command) => {
                self.application.command(now, command);
                self.agent.as_mut().map_or(Ok(()), |agent| agent.handle_input(now, Input::Command(command)))
            }
            _ => self.agent.as_mut().map_or(Ok(()), |agent| agent.handle_input(now, Input::Timeout)),
        }
    }

    fn poll_output(&mut self, now: LocalTime, frame: &mut [u8]) -> Output {
        let mut agent_wakes_at = None;
        // An effect the application has charged for is its next poll, so the agent waits until it has happened.
        if !self.application.is_working()
            && let Some(agent) = &mut self.agent
        {
            match agent.poll_output(now, frame) {
                Output::Timeout(at) => agent_wakes_at = at,
                output => {
                    if let Output::Transmit(transmit) = &output {
                        self.application.bridge_own(&frame[..transmit.len]);
                    }
                    return output;
                }
            }
            self.follow_agent(now);
        }
        match self.application.poll(now, frame) {
            Output::Timeout(at) => Output::Timeout(match (at, agent_wakes_at) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            }),
            output => output,
        }
    }

    fn owed(&mut self, now: LocalTime) -> Option<(StreamId, LocalTime)> {
        self.application.owed(now)
    }
}

impl Stack for CanStation {
    fn take(&mut self) -> Option<Pdu> {
        self.application.handed.pop_front()
    }

    fn send(&mut self, now: LocalTime, pdu: Pdu) {
        // What comes over another interface is meant for the agent as well. The time is the gateway's, which never runs back.
        if let Some(agent) = self.agent.as_mut().filter(|_| pdu.is_frame()) {
            let heard = agent.handle_input(now, Input::Frame { port: PORT, rx_at: now, bytes: &pdu.bytes });
            debug_assert_eq!(heard, Ok(()), "the agent has one port, and time has not run backwards");
        }
        self.application.take_on(pdu);
    }

    fn take_sent(&mut self) -> Option<Mark> {
        self.application.relays.sent.take()
    }

    fn restart(&mut self, _: LocalTime) {
        let Some(config) = self.blueprint.clone() else { return };
        let lives = self.application.relays.life() + 1;
        // What could be made once can be made again.
        if let Ok(mut application) = Application::new(config) {
            application.relays = application.relays.after(lives);
            application.segmented = application.segmented.after(lives);
            // Time goes on; what was to be reported is lost.
            self.application.base.clear();
            std::mem::swap(&mut application.base, &mut self.application.base);
            self.application = application;
            self.epoch = None;
        }
    }
}
