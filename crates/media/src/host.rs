//! What a received frame passes between the network interface of a node and its application.
//!
//! A network interface has a frame when its last bit is in. Its application has it later: when the driver has copied it out of
//! the interface, frame by frame and word by word. A [`HostInterface`] serves one frame at a time, never interrupts one that it
//! has begun, takes the highest class that waits first, and those of a class in the order in which they came. Each class has a
//! buffer of its own, so a flood of best effort takes no room from what is above it; it delays that by no more than the frame
//! that is being copied.
//!
//! This is what explains the measurements of DornerWorks and TARDEC on a 1-Gbit/s network of two switches ("Evaluation of
//! Ethernet protocols for the RDECOM Modular Active Protection Systems framework"): latencies that grow with 0.29 us for each
//! byte where the wires account for 0.024 us, and grow by half a frame's copy when a flood arrives besides.
//!
//! ```
//! use chronoseal_core::{Duration, Priority, SimTime};
//! use chronoseal_media::host::{HostConfig, HostInterface};
//!
//! let config = HostConfig { base: Duration::from_us(20), per_byte: Duration::from_ns(270), buffer: 80_000 };
//! let mut host = HostInterface::new(config);
//! let at = |us| SimTime::ZERO + Duration::from_us(us);
//!
//! // A long frame of best effort comes, then another, then a short frame above them: it waits for the first one alone.
//! assert_eq!(host.arrive(at(0), Priority(0), 1514, "flood"), Ok(Some(at(20) + config.per_byte * 1514)));
//! assert_eq!(host.arrive(at(12), Priority(0), 1514, "more"), Ok(None));
//! assert_eq!(host.arrive(at(20), Priority(7), 100, "brake"), Ok(None));
//! let order = [host.finish(), host.finish(), host.finish()].map(Option::unwrap);
//! assert_eq!(order, ["flood", "brake", "more"]);
//! ```

use std::collections::{BTreeMap, VecDeque};

use chronoseal_core::{Duration, Priority, SimTime};

/// What a host interface takes for a frame, and how much it holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HostConfig {
    /// For any frame.
    pub base: Duration,
    /// For each byte of it, from the first of the header to the last before the checksum.
    pub per_byte: Duration,
    /// Frames of one class take so much at most, the one that is being copied among them `[byte]`.
    pub buffer: u64,
}

impl HostConfig {
    /// How long a frame of `len` bytes keeps the interface.
    pub fn service(&self, len: u64) -> Duration {
        self.base + self.per_byte.saturating_mul(i64::try_from(len).unwrap_or(i64::MAX))
    }
}

/// The frames between a network interface and an application; `T` is what stands for a frame.
#[derive(Clone, Debug)]
pub struct HostInterface<T> {
    config: HostConfig,
    /// By class: what waits, and how much of the buffer it and what is being copied take.
    classes: BTreeMap<Priority, Class<T>>,
    serving: Option<Serving<T>>,
}

#[derive(Clone, Debug)]
struct Class<T> {
    waiting: VecDeque<(u64, T)>,
    held: u64,
}

#[derive(Clone, Debug)]
struct Serving<T> {
    class: Priority,
    len: u64,
    until: SimTime,
    item: T,
}

impl<T> HostInterface<T> {
    /// An interface that holds nothing.
    pub const fn new(config: HostConfig) -> Self {
        Self { config, classes: BTreeMap::new(), serving: None }
    }

    /// A frame of `len` bytes is in the network interface. If the interface was idle: when the frame will be with the
    /// application.
    ///
    /// # Errors
    /// The frame itself, if the buffer of its class has no room for it.
    pub fn arrive(&mut self, now: SimTime, class: Priority, len: usize, item: T) -> Result<Option<SimTime>, T> {
        let len = len as u64;
        let of_class = self.classes.entry(class).or_insert(Class { waiting: VecDeque::new(), held: 0 });
        if of_class.held + len > self.config.buffer {
            return Err(item);
        }
        of_class.held += len;
        if self.serving.is_some() {
            of_class.waiting.push_back((len, item));
            return Ok(None);
        }
        let until = now + self.config.service(len);
        self.serving = Some(Serving { class, len, until, item });
        Ok(Some(until))
    }

    /// When the frame that is being copied is with the application; `None` if none is.
    pub fn done_at(&self) -> Option<SimTime> {
        self.serving.as_ref().map(|serving| serving.until)
    }

    /// Gives the frame that is being copied to the application, and begins with the next one at that instant.
    pub fn finish(&mut self) -> Option<T> {
        let Serving { class, len, until, item } = self.serving.take()?;
        if let Some(class) = self.classes.get_mut(&class) {
            class.held -= len;
        }
        let next = self.classes.iter_mut().rev().find_map(|(class, of)| Some((*class, of.waiting.pop_front()?)));
        self.serving = next.map(|(class, (len, item))| {
            let until = until + self.config.service(len);
            Serving { class, len, until, item }
        });
        Some(item)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CONFIG: HostConfig =
        HostConfig { base: Duration::from_us(10), per_byte: Duration::from_ns(100), buffer: 3000 };
    const LOW: Priority = Priority(0);
    const HIGH: Priority = Priority(5);

    fn at(us: i64) -> SimTime {
        SimTime::ZERO + Duration::from_us(us)
    }

    #[test]
    fn a_frame_that_is_being_copied_is_not_interrupted_and_the_higher_class_is_next() {
        let mut host = HostInterface::new(CONFIG);
        assert_eq!(host.arrive(at(0), LOW, 1000, 1), Ok(Some(at(110))));
        assert_eq!(host.arrive(at(1), LOW, 500, 2), Ok(None));
        assert_eq!(host.arrive(at(2), LOW, 500, 3), Ok(None));
        assert_eq!(host.arrive(at(3), HIGH, 100, 4), Ok(None));
        assert_eq!((host.finish(), host.done_at()), (Some(1), Some(at(130))));
        assert_eq!((host.finish(), host.done_at()), (Some(4), Some(at(190))));
        assert_eq!((host.finish(), host.done_at()), (Some(2), Some(at(250))));
        assert_eq!((host.finish(), host.done_at()), (Some(3), None));
        assert_eq!(host.finish(), None);
    }

    #[test]
    fn a_class_holds_its_buffer_to_the_byte_and_takes_no_room_from_others() {
        let mut host = HostInterface::new(CONFIG);
        assert!(host.arrive(at(0), LOW, 1500, 1).is_ok());
        assert!(host.arrive(at(0), LOW, 1000, 2).is_ok());
        assert_eq!(host.arrive(at(0), LOW, 501, 3), Err(3));
        assert!(host.arrive(at(0), LOW, 500, 4).is_ok());
        assert_eq!(host.arrive(at(0), LOW, 1, 5), Err(5));
        assert!(host.arrive(at(0), HIGH, 3000, 6).is_ok());
        assert_eq!(host.arrive(at(0), HIGH, 1, 7), Err(7));
        // The room of a frame is free when it has been copied, not when that begins.
        assert_eq!(host.finish(), Some(1));
        assert!(host.arrive(at(160), LOW, 1500, 8).is_ok());
    }

    proptest! {
        /// Whatever comes, nothing is lost but what found no room, classes keep their order, and work is conserved.
        #[test]
        fn frames_leave_in_the_order_of_their_class_and_none_is_lost(
            frames in proptest::collection::vec((0i64..300, 0u8..3, 1usize..1500), 1..80),
        ) {
            let mut host = HostInterface::new(CONFIG);
            let (mut now, mut left, mut accepted) = (0, Vec::new(), Vec::new());
            let mut busy_until = SimTime::ZERO;
            for (number, (gap, class, len)) in frames.into_iter().enumerate() {
                now += gap;
                while let Some(done) = host.done_at().filter(|done| *done <= at(now)) {
                    left.push(host.finish().unwrap());
                    prop_assert!(host.done_at().is_none_or(|next| next > done));
                }
                if host.arrive(at(now), Priority(class), len, (class, number)).is_ok() {
                    accepted.push((class, number));
                    busy_until = busy_until.max(at(now)) + CONFIG.service(len as u64);
                }
            }
            let mut last = SimTime::ZERO;
            while let Some(done) = host.done_at() {
                last = done;
                left.push(host.finish().unwrap());
            }
            if last > SimTime::ZERO {
                prop_assert_eq!(last, busy_until);
            }
            for class in 0..3 {
                let of = |all: &[(u8, usize)]| all.iter().filter(|one| one.0 == class).copied().collect::<Vec<_>>();
                prop_assert_eq!(of(&left), of(&accepted));
            }
        }
    }
}
