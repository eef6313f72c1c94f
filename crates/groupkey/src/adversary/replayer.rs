//! A removed node that repeats what its half of the tree said before its removal.

use std::collections::{BTreeMap, VecDeque};
use std::vec::Vec;

use chronoseal_core::{HandleError, Input, LocalTime, Node, Output, PortId, Priority, Transmit};
use chronoseal_wire::can::{CanFrame, CanId};

use crate::identifier::{Address, Identifier, Step};

/// Records shares and confirmations, and from its removal on repeats those of the halves it was in, whenever an exchange of
/// such a half with another is asked for.
///
/// As published, unconfirmed, the other half then agrees on the old secret: a confirmation is signed over two shares and
/// nothing else.
pub struct Replayer {
    port: PortId,
    /// The logical ECUs that it was in.
    own: Vec<Address>,
    removed_at: LocalTime,
    recorded: BTreeMap<Identifier, Vec<CanFrame>>,
    queue: VecDeque<CanFrame>,
}

impl Replayer {
    /// Of a node that was in these logical ECUs until then.
    pub fn new(port: PortId, own: impl IntoIterator<Item = Address>, removed_at: LocalTime) -> Self {
        let (recorded, queue) = (BTreeMap::new(), VecDeque::new());
        Self { port, own: own.into_iter().collect(), removed_at, recorded, queue }
    }
}

impl Node for Replayer {
    fn handle_input(&mut self, now: LocalTime, input: Input<'_>) -> Result<(), HandleError> {
        let Input::Frame { bytes, .. } = input else { return Ok(()) };
        let Ok(frame) = CanFrame::parse(bytes) else { return Ok(()) };
        let CanId::Extended(id) = frame.id() else { return Ok(()) };
        let Some(heard) = Identifier::from_can_id(id) else { return Ok(()) };
        if now < self.removed_at {
            self.recorded.entry(heard).or_default().push(frame);
            return Ok(());
        }
        let steps = match heard.step {
            Step::Orchestration if self.own.contains(&heard.first) => [Step::ShareFirst, Step::ConfirmationFirst],
            Step::Orchestration if self.own.contains(&heard.second) => [Step::ShareSecond, Step::ConfirmationSecond],
            _ => return Ok(()),
        };
        for step in steps {
            self.queue.extend(self.recorded.get(&Identifier { step, ..heard }).into_iter().flatten());
        }
        Ok(())
    }

    fn poll_output(&mut self, now: LocalTime, frame: &mut [u8]) -> Output {
        match self.queue.pop_front() {
            None => Output::Timeout(None),
            Some(next) => {
                let len = next.emit(frame);
                let priority = Priority::PROTOCOL_CONTROL;
                Output::Transmit(Transmit { port: self.port, priority, launch_at: now, len, token: None })
            }
        }
    }
}
