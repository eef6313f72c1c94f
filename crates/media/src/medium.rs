//! The seam between a medium and its driver: frames and timers in, deliveries and timers out.

use std::borrow::Cow;

use chronoseal_core::{AttackKind, Duration, Event, NodeId, Oscillator, PortId, Priority, SimTime};

use crate::watch::{Passed, Passing};

/// Where a wire of the medium ends: one port of one node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Attachment {
    /// The node.
    pub node: NodeId,
    /// Its port.
    pub port: PortId,
}

/// A medium: takes frames at a time, delivers, delays or drops them. Virtual time and the wall clock drive the same code.
///
/// Timers are never cancelled; one that no longer means anything is ignored. All outputs of a call are appended to
/// `out` in their order.
pub trait Medium {
    /// True if [`MediumOutput::Transmitted`] says when a frame from there has left its sender. If not, a frame has left
    /// when it was handed over.
    fn tells_transmitted(&self, from: Attachment) -> bool {
        let _ = from;
        false
    }

    /// The number of the segment that a port leads to, or `None` if it leads nowhere. A medium that is no
    /// [`crate::topology::Topology`] is one segment, number 0. For records only.
    fn segment_of(&self, attachment: Attachment) -> Option<u16> {
        let _ = attachment;
        Some(0)
    }

    /// The stations, each by its port, of which it wants to be told what their clocks show ([`Medium::clock_shown`]): their network
    /// interfaces do something by them.
    fn follows_clocks_of(&self) -> Vec<Attachment> {
        Vec::new()
    }

    /// What the clock of a station shows from now on. To be called whenever that can be something else than before, and to no effect
    /// if it is not.
    fn clock_shown(&mut self, now: SimTime, from: Attachment, clock: Oscillator, out: &mut Vec<MediumOutput>) {
        let _ = (now, from, clock, out);
    }

    /// The run begins.
    fn start(&mut self, now: SimTime, frames: &mut FrameStore, out: &mut Vec<MediumOutput>);

    /// A node put `frame` on its wire. The medium owns the reference from here on.
    fn handle_frame(
        &mut self,
        now: SimTime,
        from: Attachment,
        priority: Priority,
        frame: FrameId,
        frames: &mut FrameStore,
        out: &mut Vec<MediumOutput>,
    );

    /// A timer asked for has expired.
    fn handle_timer(&mut self, now: SimTime, timer: MediumTimer, frames: &mut FrameStore, out: &mut Vec<MediumOutput>);

    /// What it counted so far.
    fn series(&self) -> Vec<Series> {
        Vec::new()
    }
}

/// A figure of a medium over a run: a name, a unit, and one value for all of the run or one for each window of time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Series {
    /// What was counted.
    pub name: Cow<'static, str>,
    /// In what, such as `frames` or `ns`.
    pub unit: &'static str,
    /// Length of a window; `None` if there is one value for the whole run.
    pub window: Option<Duration>,
    /// The values, in time.
    pub values: Vec<i64>,
}

impl Series {
    /// One value for the whole run.
    pub fn total(name: impl Into<Cow<'static, str>>, unit: &'static str, value: i64) -> Self {
        Self { name: name.into(), unit, window: None, values: vec![value] }
    }
}

/// A timer of a medium; only the medium knows what its number means. Timers of one instant expire segment by segment, and
/// in the order of their numbers within one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MediumTimer {
    /// The segment it belongs to; set by [`crate::topology::Topology`], 0 in every other medium.
    pub segment: u16,
    /// What the medium of that segment knows it by.
    pub number: u32,
}

impl MediumTimer {
    /// A timer as a medium asks for it.
    pub const fn new(number: u32) -> Self {
        Self { segment: 0, number }
    }
}

/// What a medium wants done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MediumOutput {
    /// The last bit of `frame` reaches `to` now. The driver releases the reference when it has handed the frame over.
    Deliver {
        /// Where.
        to: Attachment,
        /// Which frame.
        frame: FrameId,
        /// When its first bit left on the last wire.
        departed_at: SimTime,
    },
    /// The whole of `frame` has left its sender, and on a CAN bus somebody has acknowledged it. Only from a medium that
    /// [tells](Medium::tells_transmitted). The driver releases the reference.
    Transmitted {
        /// Its sender.
        from: Attachment,
        /// Which frame.
        frame: FrameId,
        /// When its first bit left.
        departed_at: SimTime,
    },
    /// A frame ended at a node of the medium itself (a switch), which threw it away, or took it for what it was not. The driver releases
    /// the reference.
    Discard {
        /// Which node.
        node: NodeId,
        /// Of kind [`chronoseal_core::EventKind::Discarded`] or [`chronoseal_core::EventKind::Delivered`].
        event: Event,
        /// Which frame.
        frame: FrameId,
    },
    /// Something else happened at a node of the medium itself.
    Event {
        /// Which node.
        node: NodeId,
        /// What.
        event: Event,
        /// To which frame, still owned by the medium.
        frame: Option<FrameId>,
    },
    /// Call [`Medium::handle_timer`] at this time.
    Timer {
        /// When.
        at: SimTime,
        /// With what.
        timer: MediumTimer,
    },
}

/// One frame in the store.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FrameId(pub(crate) u32);

/// What is known of a frame beside its bytes, for records only: no node and no medium decides by it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FrameLabel {
    /// Who put these bytes on a wire.
    pub sender: NodeId,
    /// The attack it is part of, if any.
    pub attack: Option<AttackKind>,
    /// When its first bit left the sender.
    pub sent_at: SimTime,
    /// When its last bit had reached the switch, the first of several; stamped by the medium.
    pub arrived_at: Option<SimTime>,
    /// The driver's own number for it; `None` if the medium made the frame itself.
    pub serial: Option<u64>,
    /// The segment that carries it, as [`Medium::segment_of`] tells it to the driver; on a frame that the medium made itself
    /// written by [`crate::topology::Topology`].
    pub segment: u16,
}

/// Room for one frame in its slot `[byte]`. A longer one, of a live link with large packets, has room of its own beside it.
pub const FRAME_CAPACITY: usize = chronoseal_core::node::FRAME_LEN_MAX;

/// What is known of a frame stands before its bytes, next to the headers, which is all that most steps look at.
#[repr(C)]
struct Entry {
    label: FrameLabel,
    len: u16,
    references: u16,
    bytes: [u8; FRAME_CAPACITY],
    /// The frame, where it is longer than its slot. Kept for the next such one.
    long: Vec<u8>,
}

impl Entry {
    #[inline(always)]
    fn frame(&self) -> &[u8] {
        // The bound has to be checked anyway, so long frames cost the others nothing.
        match self.bytes.get(..self.len as usize) {
            Some(bytes) => bytes,
            None => self.long_frame(),
        }
    }

    #[cold]
    #[inline(never)]
    fn long_frame(&self) -> &[u8] {
        &self.long[..self.len as usize]
    }
}

/// Every frame in flight. Slots are reused, so a run's memory is bounded by what is in flight at once.
#[derive(Default)]
pub struct FrameStore {
    entries: Vec<Entry>,
    free: Vec<u32>,
    /// What lines did since it was taken last, if anybody wants to know.
    told: Option<Vec<Passing>>,
}

impl FrameStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// A slot with one reference, its first `len` bytes to be written through [`Self::buffer`] by the caller.
    ///
    /// # Panics
    /// If 2^32 frames are held at once, which no memory can.
    #[inline]
    pub fn allocate(&mut self, label: FrameLabel) -> FrameId {
        let frame = self.reserve();
        self.fill(frame, 0, label);
        frame
    }

    /// [`Self::allocate`] for who does not know yet what to write on the frame, and says it with [`Self::fill`]. Until then it
    /// bears the label of the frame that was in the slot before.
    ///
    /// # Panics
    /// If 2^32 frames are held at once, which no memory can.
    #[inline]
    pub fn reserve(&mut self) -> FrameId {
        let id = self.free.pop().unwrap_or_else(|| self.add_slot());
        self.entries[id as usize].references = 1;
        FrameId(id)
    }

    /// Says how much of the slot the frame fills `[byte]`, and what is known of it.
    ///
    /// # Panics
    /// If `len` exceeds [`FRAME_CAPACITY`].
    #[inline]
    pub fn fill(&mut self, frame: FrameId, len: usize, label: FrameLabel) {
        assert!(len <= FRAME_CAPACITY, "a frame of {len} bytes does not fit a slot of {FRAME_CAPACITY}");
        let entry = &mut self.entries[frame.0 as usize];
        entry.len = len as u16;
        entry.label = label;
    }

    #[cold]
    #[inline(never)]
    fn add_slot(&mut self) -> u32 {
        let label = FrameLabel::default();
        self.entries.push(Entry { bytes: [0; FRAME_CAPACITY], len: 0, references: 0, label, long: Vec::new() });
        u32::try_from(self.entries.len() - 1).expect("fewer than 2^32 frames fit in memory")
    }

    /// A slot with one reference and these bytes in it, which may be more than [`FRAME_CAPACITY`].
    ///
    /// # Panics
    /// If they are 2^16 or more.
    pub fn hold(&mut self, bytes: &[u8], label: FrameLabel) -> FrameId {
        let frame = self.reserve();
        let entry = &mut self.entries[frame.0 as usize];
        match entry.bytes.get_mut(..bytes.len()) {
            Some(room) => room.copy_from_slice(bytes),
            None => {
                entry.long.clear();
                entry.long.extend_from_slice(bytes);
            }
        }
        entry.len = u16::try_from(bytes.len()).expect("a frame has less than 2^16 bytes");
        entry.label = label;
        frame
    }

    /// The whole slot, to write a frame into.
    #[inline]
    pub fn buffer(&mut self, frame: FrameId) -> &mut [u8; FRAME_CAPACITY] {
        &mut self.entries[frame.0 as usize].bytes
    }

    /// Says how much of the slot the frame fills `[byte]`.
    ///
    /// # Panics
    /// If `len` exceeds [`FRAME_CAPACITY`].
    #[inline]
    pub fn set_len(&mut self, frame: FrameId, len: usize) {
        assert!(len <= FRAME_CAPACITY, "a frame of {len} bytes does not fit a slot of {FRAME_CAPACITY}");
        self.entries[frame.0 as usize].len = len as u16;
    }

    /// The frame, from the first byte of its header to the last before the checksum.
    #[inline(always)]
    pub fn bytes(&self, frame: FrameId) -> &[u8] {
        self.bytes_and_label(frame).0
    }

    /// [`Self::bytes`] and [`Self::label`] at once.
    #[inline(always)]
    pub fn bytes_and_label(&self, frame: FrameId) -> (&[u8], &FrameLabel) {
        let entry = &self.entries[frame.0 as usize];
        (entry.frame(), &entry.label)
    }

    /// Its length `[byte]`.
    #[inline]
    pub fn len_of(&self, frame: FrameId) -> u64 {
        u64::from(self.entries[frame.0 as usize].len)
    }

    /// What the driver knows of it.
    #[inline]
    pub fn label(&self, frame: FrameId) -> &FrameLabel {
        &self.entries[frame.0 as usize].label
    }

    /// What the driver knows of it, to be added to.
    #[inline]
    pub fn label_mut(&mut self, frame: FrameId) -> &mut FrameLabel {
        &mut self.entries[frame.0 as usize].label
    }

    /// Another frame with the same bytes and the same label.
    ///
    /// # Panics
    /// If 2^32 frames are held at once, which no memory can.
    pub fn duplicate(&mut self, frame: FrameId) -> FrameId {
        let (len, label) = (self.len_of(frame) as usize, *self.label(frame));
        if len > FRAME_CAPACITY {
            let bytes = self.bytes(frame).to_vec();
            return self.hold(&bytes, label);
        }
        let copy = self.reserve();
        let bytes = *self.buffer(frame);
        self.buffer(copy)[..len].copy_from_slice(&bytes[..len]);
        self.fill(copy, len, label);
        copy
    }

    /// Every frame that somebody owns.
    pub fn alive(&self) -> impl Iterator<Item = (&[u8], &FrameLabel)> {
        let alive = self.entries.iter().filter(|entry| entry.references > 0);
        alive.map(|entry| (entry.frame(), &entry.label))
    }

    /// One more owner, for another copy on another wire.
    #[inline]
    pub fn retain(&mut self, frame: FrameId) {
        self.entries[frame.0 as usize].references += 1;
    }

    /// One owner less; the last one frees the slot.
    ///
    /// # Panics
    /// If nobody owns the frame.
    #[inline]
    pub fn release(&mut self, frame: FrameId) {
        let entry = &mut self.entries[frame.0 as usize];
        entry.references = entry.references.checked_sub(1).expect("a frame is released once for each owner");
        if entry.references == 0 {
            self.free.push(frame.0);
        }
    }

    /// From now on keeps what lines tell of frames, until it is taken.
    pub fn watch(&mut self) {
        self.told = Some(Vec::new());
    }

    /// True if somebody wants to know what lines do.
    #[inline(always)]
    pub const fn is_watched(&self) -> bool {
        self.told.is_some()
    }

    /// Keeps what a line does with a frame, if somebody wants to know.
    #[cold]
    #[inline(never)]
    pub fn tell(&mut self, at: SimTime, line: usize, frame: Option<FrameId>, what: Passed) {
        let label = frame.map(|frame| *self.label(frame)).unwrap_or_default();
        if let Some(told) = &mut self.told {
            told.push(Passing { segment: label.segment, line: line as u32, frame: label.serial, at, what });
        }
    }

    /// Writes the segment on what its medium told since then: only a driver's frame says where it is.
    pub(crate) fn claim_told(&mut self, first: usize, segment: u16) {
        let told = self.told.iter_mut().flat_map(|told| told.iter_mut().skip(first));
        told.for_each(|passing| passing.segment = segment);
    }

    /// How much was told and not taken yet.
    #[inline(always)]
    pub(crate) fn told_len(&self) -> usize {
        self.told.as_ref().map_or(0, Vec::len)
    }

    /// Gives what lines told since this was called last to `take`.
    pub fn take_told(&mut self, mut take: impl FnMut(&Passing)) {
        if let Some(told) = &mut self.told {
            told.iter().for_each(&mut take);
            told.clear();
        }
    }

    /// Frames somebody still owns.
    pub fn in_flight(&self) -> usize {
        self.entries.len() - self.free.len()
    }
}
