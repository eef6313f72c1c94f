//! A station whose clock follows a grandmaster, or is one (IEEE 802.1AS): its messages on their way in and out.

use chronoseal_core::{HandleError, LocalTime, Output, PortId, StreamId, TxToken};
use chronoseal_wire::ethernet::{Frame, TypeOrLength};
use chronoseal_wire::gptp::ETHERTYPE_PTP;

use super::{EndSystem, Stage};
use crate::clock::Clock;
use crate::time_aware::{TimeAwareEffect, shows_another_time};

impl EndSystem {
    /// Does the next thing that the clock has to do. False if nothing is due.
    pub(super) fn keep_grandmasters_time(&mut self, now: LocalTime) -> bool {
        let Clock::TimeAware(clock) = &mut self.clock else { return false };
        let Some(effect) = clock.next_effect(now) else { return false };
        match effect {
            TimeAwareEffect::Send(message) => {
                clock.writes(message);
                self.stage = Stage::TimeMessage;
            }
            TimeAwareEffect::Event(event) => {
                if shows_another_time(&event, self.config.sync.precision) {
                    self.seek(now);
                }
                self.base.push(event);
            }
        }
        true
    }

    /// Writes the message that is to leave now.
    pub(super) fn send_time_message(&mut self, now: LocalTime, frame: &mut [u8]) -> Output {
        let Clock::TimeAware(clock) = &mut self.clock else { return Output::Timeout(self.due_at) };
        clock.send(now, self.config.node, frame)
    }

    /// Hands a message of the protocol to the clock, which came by a port at a time. False if the frame is none, or the clock another one.
    pub(super) fn receive_time_message(
        &mut self,
        now: LocalTime,
        came: (PortId, LocalTime),
        frame: &Frame<'_>,
    ) -> bool {
        let Clock::TimeAware(clock) = &mut self.clock else { return false };
        if frame.type_or_length() != TypeOrLength::EtherType(ETHERTYPE_PTP) {
            return false;
        }
        let taken = clock.receive(now, came, frame.payload(), frame.bytes().len());
        self.due_at = self.next_wake();
        if let Err(reason) = taken {
            self.discard(reason, StreamId::NONE);
        }
        true
    }

    /// A message left its port at a time, or never will.
    pub(super) fn departed(
        &mut self,
        now: LocalTime,
        token: &TxToken,
        sent: Option<LocalTime>,
    ) -> Result<(), HandleError> {
        let Clock::TimeAware(clock) = &mut self.clock else { return Ok(()) };
        let is_known = clock.departed(now, token.id(), sent);
        self.due_at = self.next_wake();
        is_known.then_some(()).ok_or(HandleError::UnknownToken(token.id()))
    }
}
