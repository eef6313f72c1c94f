//! Messages of a recording, each at its time, over and over.

use chronoseal_core::Duration;

/// More than a frame keeps a wire beside its payload: headers and tags, preamble, checksum and gap, and what MACsec adds `[byte]`.
const AROUND_MAX: i128 = 100;

/// Messages of a recording.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordedMessages {
    messages: Vec<(Duration, Vec<u8>)>,
    length: Duration,
    distance: Duration,
    jitter: Duration,
}

impl RecordedMessages {
    /// Times from the start of the recording, not falling and below `length`, and what is sent then: at least one. It starts again
    /// after `length`, which is above zero. A stream puts its number over what each begins with.
    ///
    /// # Panics
    /// If there is no message, or one is not within `length`.
    pub fn new(messages: Vec<(Duration, Vec<u8>)>, length: Duration) -> Self {
        assert!(messages.last().is_some_and(|(last, _)| *last < length), "a message lies within the recording");
        let (distance, jitter) = bounding(&messages, length);
        Self { messages, length, distance, jitter }
    }

    /// Times from the start of the recording, and what is sent then.
    pub fn messages(&self) -> &[(Duration, Vec<u8>)] {
        &self.messages
    }

    /// It starts again after this.
    pub fn length(&self) -> Duration {
        self.length
    }

    /// With [`Self::jitter`]: messages as long as the longest, so far apart and each up to so much late, need as much of a wire
    /// within any time as those of the recording, or more, whatever headers each has.
    pub fn distance(&self) -> Duration {
        self.distance
    }

    /// How late such messages can be; see [`Self::distance`].
    pub fn jitter(&self) -> Duration {
        self.jitter
    }

    /// The longest message, or the shortest `[byte]`.
    pub fn longest(&self) -> usize {
        self.lens().max().unwrap_or(0)
    }

    /// The shortest message `[byte]`.
    pub fn shortest(&self) -> usize {
        self.lens().min().unwrap_or(0)
    }

    fn lens(&self) -> impl Iterator<Item = usize> {
        self.messages.iter().map(|(_, content)| content.len())
    }

    /// A message by its number, from the start of the first round.
    pub(crate) fn message(&self, number: u64) -> Option<(Duration, &[u8])> {
        let count = self.messages.len() as u64;
        let (round, place) = (number.checked_div(count)?, number % count);
        let (at, content) = self.messages.get(place as usize)?;
        Some((self.length * round as i64 + *at, content))
    }
}

/// Distance and jitter that bound what is recorded. In bytes with what is around each message, nothing above the burst `b` and the
/// rate `r` of the whole recording comes within any time; of messages of `L` bytes at a distance `L / r`, each up to `b / r` late, as
/// much comes. What is around a message is taken as more than it is, so that the share of short ones is not taken for less.
fn bounding(messages: &[(Duration, Vec<u8>)], length: Duration) -> (Duration, Duration) {
    let bytes = |content: &[u8]| content.len() as i128 + AROUND_MAX;
    let longest = messages.iter().map(|(_, content)| bytes(content)).max().unwrap_or(AROUND_MAX);
    let total: i128 = messages.iter().map(|(_, content)| bytes(content)).sum::<i128>().max(1);
    let whole = i128::from(length.as_ps());
    // In bytes times the length, so that nothing is rounded: what came less what the rate gives, of two rounds.
    let (mut came, mut lowest, mut most) = (0i128, i128::MAX, 0i128);
    for round in 0..2 {
        for (at, content) in messages {
            let earned = total * (i128::from(at.as_ps()) + whole * round);
            lowest = lowest.min(came * whole - earned);
            came += bytes(content);
            most = most.max(came * whole - earned - lowest);
        }
    }
    let ps = |time: i128| Duration::from_ps(i64::try_from(time).unwrap_or(i64::MAX));
    (ps((longest * whole / total).max(1)), ps((most + total - 1) / total))
}
