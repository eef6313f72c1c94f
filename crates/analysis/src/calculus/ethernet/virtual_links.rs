//! Virtual links of ARINC 664 part 7: what they send, and how much an end system may delay them.
//!
//! A virtual link sends at most one frame in each bandwidth allocation gap (BAG), late by its end system's jitter; switches
//! police just that. Its ports serve in the order of arrival, so its bounds are those of total flow analysis over
//! [`Delayed`](super::super::Delayed) arrivals, with links (`uses_links`) grouped and without them not.

use super::super::arrival::{ArrivalCurve, Bucket};
use super::super::network::{Flow, Hop};
use super::super::rational::{Rational, ratio, whole};

/// A virtual link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VirtualLink {
    /// What messages call it.
    pub name: String,
    /// Least distance of two frames where they are released.
    pub bag: Rational,
    /// Its longest frame (Lmax), with all that keeps the wire.
    pub longest: Rational,
    /// How much later than another a frame may leave its release.
    pub jitter: Rational,
    /// Ports it passes, the end system's first; it branches where it is multicast.
    pub hops: Vec<Hop>,
}

/// What is wrong with a virtual link.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidVirtualLink {
    /// Its BAG is not above zero.
    #[error("virtual link `{name}` has a BAG of {bag}; it has to be above zero (ARINC 664 part 7: 1, 2, 4, … 128 ms)")]
    Bag {
        /// Which.
        name: String,
        /// Its BAG.
        bag: Box<Rational>,
    },
    /// Its frame or its jitter is negative, or it has no frame.
    #[error(
        "virtual link `{name}` has frames of {longest} and a jitter of {jitter}; the first has to be above zero, the second not below"
    )]
    Frame {
        /// Which.
        name: String,
        /// Its longest frame.
        longest: Box<Rational>,
        /// Its jitter.
        jitter: Box<Rational>,
    },
}

impl VirtualLink {
    /// The flow of it. Its burst is what a switch's policing allows at once, `Lmax (1 + J / BAG)`, and its rate `Lmax / BAG`.
    ///
    /// # Errors
    /// If the BAG or the longest frame is not above zero, or the jitter below it.
    pub fn flow(&self) -> Result<Flow, InvalidVirtualLink> {
        let Self { name, bag, longest, jitter, hops } = self.clone();
        if !bag.is_positive() {
            return Err(InvalidVirtualLink::Bag { name, bag: Box::new(bag) });
        }
        if !longest.is_positive() || jitter.is_negative() {
            let (longest, jitter) = (Box::new(longest), Box::new(jitter));
            return Err(InvalidVirtualLink::Frame { name, longest, jitter });
        }
        let rate = &longest / &bag;
        let burst = &longest + &rate * jitter;
        let arrival = ArrivalCurve::envelope(vec![Bucket { rate, burst }]);
        Ok(Flow { name, arrival, longest_frame: longest, hops })
    }
}

/// The most that an end system's output may be late, and whether the standard allows it: `40 us + sum of (20 B + Lmax) / Nbw`,
/// and no more than 500 us. In microseconds, for lengths in bytes without preamble and gap and a rate in Mbit/s.
pub fn output_jitter(lengths: impl IntoIterator<Item = u32>, rate: &Rational) -> (Rational, bool) {
    let bits: i64 = lengths.into_iter().map(|length| (20 + i64::from(length)) * 8).sum();
    let jitter = whole(40) + ratio(bits, 1) / rate;
    let is_allowed = jitter <= whole(500);
    (jitter, is_allowed)
}
