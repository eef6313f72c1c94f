//! A recorded signal as the payload of a stream, whatever wire it is on.

use chronoseal_core::Duration;

/// A recorded signal, replayed over and over.
#[derive(Clone, Debug)]
pub struct RecordedSignal {
    /// Times from the start of the recording, and the bytes that hold from then on. Not empty.
    pub samples: Vec<(Duration, Vec<u8>)>,
    /// It starts again after this.
    pub length: Duration,
}

impl RecordedSignal {
    /// What holds at a time: the latest sample not after it.
    pub fn at(&self, time: Duration) -> &[u8] {
        let within = if self.length > Duration::ZERO { time.rem_floor(self.length) } else { Duration::ZERO };
        let next = self.samples.partition_point(|(at, _)| *at <= within);
        let index = if next == 0 { self.samples.len() - 1 } else { next - 1 };
        self.samples.get(index).map_or(&[], |(_, bytes)| bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_sample_holds_until_the_next_and_the_recording_begins_again() {
        let ms = Duration::from_ms;
        let signal = RecordedSignal { samples: vec![(ms(2), vec![2]), (ms(5), vec![5])], length: ms(10) };
        // Before its first sample the last one of the round before holds.
        for (at, held) in [(0, 5), (1, 5), (2, 2), (4, 2), (5, 5), (9, 5), (11, 5), (12, 2), (104, 2)] {
            assert_eq!(signal.at(ms(at)), [held], "{at} ms");
        }
    }
}
