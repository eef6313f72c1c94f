//! What a node is given, and what it does.

use chronoseal_core::{Event, LocalTime, PortId, Priority, Work};

/// Frames for a node. It is started at time zero, before the first, and stopped at the end, after the last.
#[derive(Clone, Debug)]
pub struct Script {
    frames: Vec<Heard>,
    until: LocalTime,
}

/// A frame that comes in.
#[derive(Clone, Debug)]
pub(super) struct Heard {
    pub(super) at: LocalTime,
    pub(super) port: PortId,
    pub(super) bytes: Vec<u8>,
}

impl Script {
    /// A script without frames.
    pub const fn until(until: LocalTime) -> Self {
        Self { frames: Vec::new(), until }
    }

    /// Another frame, whose last bit comes in at `at`. Frames of one time are heard in the order they were added.
    ///
    /// # Panics
    /// If it lies after the end of the script, where nobody would hear it.
    #[must_use]
    pub fn hear(mut self, at: LocalTime, port: PortId, bytes: &[u8]) -> Self {
        assert!(at <= self.until, "a frame at {at} is after the script has ended at {}", self.until);
        let place = self.frames.partition_point(|frame| frame.at <= at);
        self.frames.insert(place, Heard { at, port, bytes: bytes.to_vec() });
        self
    }

    /// Number of frames.
    pub const fn len(&self) -> usize {
        self.frames.len()
    }

    /// True if there are no frames.
    pub const fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    pub(super) const fn end(&self) -> LocalTime {
        self.until
    }

    /// The end of `part` of so many equal parts of its time.
    pub(super) fn part_end(&self, part: i64, parts: i64) -> LocalTime {
        LocalTime::from_ps(self.until.as_ps() / parts * part)
    }

    pub(super) fn frame(&self, index: usize) -> Option<&Heard> {
        self.frames.get(index)
    }
}

/// Something a node did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Deed {
    /// It announced work.
    Work(Work),
    /// It sent a frame.
    Transmit {
        /// Where.
        port: PortId,
        /// Into which egress queue.
        priority: Priority,
        /// Not before this time.
        launch_at: LocalTime,
        /// What is sent.
        bytes: Vec<u8>,
        /// The node's number for its token, if it gave one.
        token: Option<u64>,
        /// The inputs it came from, as the node says.
        origins: Vec<u64>,
    },
    /// It reported an event.
    Event(Event),
}

/// Deeds of a node and their times.
pub type Deeds = Vec<(LocalTime, Deed)>;

/// Everything a node did, in its order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Conduct {
    /// What, and when.
    pub deeds: Deeds,
}

impl Conduct {
    /// Frames it sent: when they may leave, where, and their bytes.
    pub fn frames(&self) -> impl Iterator<Item = (LocalTime, PortId, &[u8])> {
        self.deeds.iter().filter_map(|(_, deed)| match deed {
            Deed::Transmit { port, launch_at, bytes, .. } => Some((*launch_at, *port, &bytes[..])),
            Deed::Work(_) | Deed::Event(_) => None,
        })
    }

    /// Events it reported.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.deeds.iter().filter_map(|(_, deed)| match deed {
            Deed::Event(event) => Some(event),
            Deed::Work(_) | Deed::Transmit { .. } => None,
        })
    }

    /// Work it announced.
    pub fn work(&self) -> impl Iterator<Item = &Work> {
        self.deeds.iter().filter_map(|(_, deed)| match deed {
            Deed::Work(work) => Some(work),
            Deed::Event(_) | Deed::Transmit { .. } => None,
        })
    }
}
