//! A run drawn over time: what happened on which track, for the viewer of the Perfetto project.
//!
//! [`Trace`] is what there is to draw, [`Trace::encode`] the file. Tracks are numbered in the order in which they are added;
//! the same trace gives the same bytes.
//!
//! ```
//! use chronoseal_results::trace::{Category, Slice, Trace};
//!
//! let mut trace = Trace::default();
//! let wire = trace.track("a to b", None);
//! let name = trace.name("wheel speed");
//! trace.slices.push(Slice::new(wire, 1_000, 7_720, name, Category::Transmission));
//! assert!(trace.encode().len() > 20);
//! ```

mod encode;
mod lanes;
mod schema;

use std::collections::BTreeMap;

/// What a run leaves to be drawn. Times are in nanoseconds from its start.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Trace {
    /// Where things are drawn, by number.
    pub tracks: Vec<Track>,
    /// What lasts.
    pub slices: Vec<Slice>,
    /// What happens at one instant.
    pub marks: Vec<Mark>,
    /// By how much something that a track counts grew or shrank.
    pub changes: Vec<Change>,
    names: Vec<String>,
    number_of: BTreeMap<String, u32>,
}

/// A line of the drawing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Track {
    /// As shown at its left end.
    pub name: String,
    /// The track that it belongs to, by number.
    pub parent: Option<u32>,
    /// In what it counts, if it is a curve.
    pub unit: Option<&'static str>,
}

/// Number of a name that slices and marks share; [`Trace::name`] gives it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct NameId(pub(crate) u32);

/// What a slice or a mark stands for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Category {
    /// A frame on a wire, from its first bit to its last one.
    Transmission,
    /// A frame in a queue in front of a wire.
    Queue,
    /// A gate that is open.
    Gate,
    /// A frame in a switch, between the last bit in and the queue of its next line.
    Switching,
    /// A frame between the network interface of its receiver and the application.
    HostInterface,
    /// A frame in a gateway, from its last bit there to its first bit on the next segment.
    Gateway,
    /// A task on a processor.
    Task,
    /// A cryptographic operation on a processor.
    Cryptography,
    /// What a gateway's processor does with a frame.
    Relay,
    /// A receiver accepted a frame.
    Accepted,
    /// A frame was thrown away.
    Discarded,
    /// An attacker did something.
    Attack,
}

/// Something that lasts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slice {
    /// On which track.
    pub track: u32,
    /// Its left end `[ns]`.
    pub from: i64,
    /// Its right end `[ns]`.
    pub to: i64,
    /// As shown on it.
    pub name: NameId,
    /// What it stands for.
    pub category: Category,
    /// The frame it is about, if it is about one.
    pub frame: Option<Frame>,
}

/// Something that happens at one instant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mark {
    /// On which track.
    pub track: u32,
    /// When `[ns]`.
    pub at: i64,
    /// As shown on it.
    pub name: NameId,
    /// What it stands for.
    pub category: Category,
    /// The frame it is about, if it is about one.
    pub frame: Option<Frame>,
}

/// A frame that something is about. What is about one frame is joined by arrows, in the order of time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// Its number in its stream.
    pub sequence: u64,
    /// The ways that it is part of: its own, or those of all frames that a gateway made it of.
    pub ways: Ways,
}

/// Numbers of ways. Nearly every frame has one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ways {
    /// One.
    One(u64),
    /// Several, each once.
    Several(Box<[u64]>),
}

/// By how much something grew or shrank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Change {
    /// On which track.
    pub track: u32,
    /// When `[ns]`.
    pub at: i64,
    /// By how much.
    pub by: i64,
}

impl Category {
    /// Every one, in the order of their numbers in a file.
    pub const ALL: [Self; 12] = [
        Self::Transmission,
        Self::Queue,
        Self::Gate,
        Self::Switching,
        Self::HostInterface,
        Self::Gateway,
        Self::Task,
        Self::Cryptography,
        Self::Relay,
        Self::Accepted,
        Self::Discarded,
        Self::Attack,
    ];

    /// As the viewer shows it, and as queries find it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Transmission => "transmission",
            Self::Queue => "queue",
            Self::Gate => "gate",
            Self::Switching => "switching",
            Self::HostInterface => "host interface",
            Self::Gateway => "gateway",
            Self::Task => "task",
            Self::Cryptography => "cryptography",
            Self::Relay => "relay",
            Self::Accepted => "accepted",
            Self::Discarded => "discarded",
            Self::Attack => "attack",
        }
    }

    /// True if a slice can lie in another one on its track, as an urgent frame lies in one that it interrupts. Others that overlap
    /// get a line each.
    const fn nests(self) -> bool {
        matches!(self, Self::Transmission)
    }
}

impl Ways {
    /// The numbers.
    pub fn numbers(&self) -> &[u64] {
        match self {
            Self::One(number) => std::slice::from_ref(number),
            Self::Several(numbers) => numbers,
        }
    }
}

impl Slice {
    /// About no frame.
    pub const fn new(track: u32, from: i64, to: i64, name: NameId, category: Category) -> Self {
        Self { track, from, to, name, category, frame: None }
    }
}

impl Trace {
    /// Adds a track below another one, or at the top.
    pub fn track(&mut self, name: impl Into<String>, parent: Option<u32>) -> u32 {
        self.add(Track { name: name.into(), parent, unit: None })
    }

    /// Adds a track that counts.
    pub fn counter(&mut self, name: impl Into<String>, parent: Option<u32>, unit: &'static str) -> u32 {
        self.add(Track { name: name.into(), parent, unit: Some(unit) })
    }

    fn add(&mut self, track: Track) -> u32 {
        self.tracks.push(track);
        self.tracks.len() as u32 - 1
    }

    /// The number of a name.
    pub fn name(&mut self, name: &str) -> NameId {
        if let Some(number) = self.number_of.get(name) {
            return NameId(*number);
        }
        let number = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.number_of.insert(name.to_owned(), number);
        NameId(number)
    }

    /// What is drawn: slices, marks and steps of curves.
    pub fn len(&self) -> usize {
        self.slices.len() + self.marks.len() + self.changes.len()
    }

    /// True if nothing is drawn.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The file: a `perfetto.protos.Trace`.
    pub fn encode(&self) -> Vec<u8> {
        encode::encode(self)
    }
}
