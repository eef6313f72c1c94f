//! The exchanges that a node has open: their frames, and how they end without a key.

use chronoseal_core::{AbortReason, EventKind, LocalTime};
use chronoseal_crypto::suite::{Share, Suite};

use super::{Manager, PendingRequest, SLOTS, Slot};
use crate::frame_count::{ABORT_LEN, confirmation_len};
use crate::identifier::{Address, ExchangeId, Identifier, Side, Step};
use crate::profile::{Profile, Scheme};
use crate::station_to_station::{Exchange, ExchangeSetup, Failure, Part};
use crate::text::{Stamp, Text};
use crate::transport::WrongPiece;

impl<S: Suite> Manager<S> {
    /// Puts an exchange into a free slot.
    pub(crate) fn open(
        &mut self,
        exchange: Exchange,
        request: Option<PendingRequest>,
        deadline: LocalTime,
    ) -> Option<usize> {
        let free = self.slots.iter().position(Option::is_none)?;
        self.numbers = self.numbers.wrapping_add(1);
        self.slots[free] = Some(Slot { number: self.numbers, exchange, request, deadline });
        Some(free)
    }

    pub(crate) fn free_slots(&self) -> usize {
        self.slots.iter().filter(|slot| slot.is_none()).count()
    }

    /// True while an exchange for the secret of `result` is open here.
    pub(crate) fn is_in_exchange(&self, result: Address) -> bool {
        self.slots.iter().flatten().any(|slot| slot.exchange.setup().id.result == result)
    }

    /// The setup of an exchange in which this node takes part on `side`.
    pub(crate) fn setup(&self, id: ExchangeId, side: Side, stamp: Stamp) -> ExchangeSetup {
        let acting = [self.tree.active_of(id, Side::First), self.tree.active_of(id, Side::Second)];
        let part = if acting[side.index()] == self.own {
            Part::Active { is_own: id.operand(side) == self.own }
        } else {
            Part::Passive
        };
        ExchangeSetup { id, side, part, acting, stamp, profile: self.settings.profile }
    }

    /// A frame of an exchange: shares and confirmations, for every exchange they may belong to.
    pub(crate) fn on_exchange_frame(&mut self, identifier: Identifier, data: &[u8], rx_at: LocalTime) {
        let id = identifier.exchange();
        let belongs = |slot: &Option<Slot>| slot.as_ref().is_some_and(|slot| slot.exchange.setup().id == id);
        let is_lead = self.own == self.tree.lead();
        let is_pair_share = (is_lead || self.collects_shares())
            && matches!(identifier.step, Step::ShareFirst | Step::ShareSecond)
            && self.tree.is_pair(id.result);
        if !is_pair_share && !self.slots.iter().any(belongs) {
            return;
        }
        let (side, is_share) = match identifier.step {
            Step::ShareFirst => (Side::First, true),
            Step::ShareSecond => (Side::Second, true),
            Step::ConfirmationFirst => (Side::First, false),
            _ => (Side::Second, false),
        };
        let len = if is_share { S::SHARE_LEN } else { confirmation_len(self.settings.profile) };
        let message = match self.inbox.push(identifier, data, len, rx_at) {
            Ok(Some(message)) => message,
            Ok(None) => return,
            Err(WrongPiece) => {
                for index in 0..SLOTS {
                    if belongs(&self.slots[index]) {
                        self.give_up(index, AbortReason::WrongLength);
                    }
                }
                return;
            }
        };
        let mut was_taken = false;
        for slot in self.slots.iter_mut().flatten().filter(|slot| slot.exchange.setup().id == id) {
            if is_share {
                was_taken |= slot.exchange.on_share(side, message.as_bytes());
            } else {
                slot.exchange.on_confirmation(side, &message);
            }
        }
        if !is_pair_share {
            return;
        }
        // The orchestrator takes part in every pair's exchange and need not believe what others say of it.
        if !is_lead || was_taken {
            self.note_pair_share(id.result, side, message.as_bytes());
        } else if let Some(position) = self.position_of(id.result).filter(|_| side == Side::First) {
            self.early_shares[position] = Share::new(message.as_bytes());
        }
    }

    /// True if the shares of other pairs matter to this node. Hardened, the orchestrator alone mixes in what the pairs
    /// have agreed on: a listener could not verify it.
    fn collects_shares(&self) -> bool {
        self.settings.profile == Profile::AsPublished && self.tree.scheme() == Scheme::Symmetric
    }

    /// The place of a pair's member in the roster.
    fn position_of(&self, pair: Address) -> Option<usize> {
        let (member, _) = self.tree.children(pair).filter(|_| self.tree.is_pair(pair))?;
        self.roster.position(member)
    }

    pub(super) fn note_pair_share(&mut self, pair: Address, side: Side, share: &[u8]) {
        if let Some(position) = self.position_of(pair).filter(|_| self.collects_shares()) {
            self.pair_shares.note(position, side, Share::new(share));
        }
    }

    /// The share of a pair's member that came before its turn.
    pub(crate) fn take_early_share(&mut self, pair: Address) -> Option<Share> {
        let share = self.early_shares[self.position_of(pair)?].take()?;
        self.note_pair_share(pair, Side::First, share.as_bytes());
        Some(share)
    }

    /// Forgets a share that came early, for it is going to be sent anew.
    pub(crate) fn forget_early_share(&mut self, pair: Address) {
        if let Some(position) = self.position_of(pair) {
            self.early_shares[position] = None;
        }
    }

    pub(crate) fn on_transmitted(&mut self, token: u64) {
        for slot in self.slots.iter_mut().flatten() {
            let id = slot.exchange.setup().id;
            let is_its = |step: &Step| u64::from(id.message(*step).can_id().raw()) == token;
            let steps = [Step::ShareFirst, Step::ShareSecond, Step::ConfirmationFirst, Step::ConfirmationSecond];
            if let Some(step) = steps.into_iter().find(is_its) {
                slot.exchange.on_transmitted(step);
            }
        }
    }

    /// Ends an exchange with a failure: told, reported to the orchestrator, and remembered.
    pub(crate) fn give_up(&mut self, index: usize, reason: AbortReason) -> Option<Failure> {
        let failure = self.slots[index].as_ref()?.exchange.failure(reason);
        self.fail(index, failure);
        Some(failure)
    }

    fn fail(&mut self, index: usize, failure: Failure) {
        let was_authorised = self.slots[index].take().is_some_and(|slot| slot.request.is_none());
        self.tell_failure(EventKind::ExchangeAborted, failure);
        if was_authorised && self.own != self.tree.lead() {
            let report: [u8; ABORT_LEN] = [failure.reason as u8, failure.stage as u8, self.own.0];
            // If there is no room, the orchestrator's own timeout tells it.
            self.outbox.push(failure.exchange.message(Step::Abort), Text::of(&[&report]), false);
        }
    }

    /// Exchanges whose time is over; the first one.
    pub(crate) fn time_out(&mut self, now: LocalTime) -> Option<Failure> {
        let is_over = |slot: &Option<Slot>| slot.as_ref().is_some_and(|slot| slot.deadline <= now);
        let index = self.slots.iter().position(is_over)?;
        let failure = self.slots[index].as_ref()?.exchange.timed_out();
        self.fail(index, failure);
        Some(failure)
    }

    pub(crate) fn next_deadline(&self) -> Option<LocalTime> {
        self.slots.iter().flatten().map(|slot| slot.deadline).min()
    }
}
