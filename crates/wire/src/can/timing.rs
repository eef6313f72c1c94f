//! Bit rates, sample points, and how long a frame takes, in whole picoseconds.

use chronoseal_core::{Duration, Rate};

use super::bits::{FrameBits, INTERMISSION_BITS};
use super::frame::{CanFrame, FrameKind};

/// Highest nominal bit rate `[bit/s]`: ISO 11898-1:2015, high-speed arbitration.
pub const NOMINAL_RATE_MAX: Rate = Rate(1_000_000);
/// Highest data bit rate `[bit/s]`: what transceivers with signal improvement are specified for (CiA 601-4).
pub const DATA_RATE_MAX: Rate = Rate(8_000_000);

/// Quanta of a bit: Bosch M_CAN, registers NBTP and DBTP. The part before the sample point includes the
/// synchronisation segment of one quantum.
struct Quanta {
    before_sample: core::ops::RangeInclusive<i64>,
    after_sample: core::ops::RangeInclusive<i64>,
    prescaler_max: i64,
}
const NOMINAL_QUANTA: Quanta = Quanta { before_sample: 3..=257, after_sample: 2..=128, prescaler_max: 512 };
const DATA_QUANTA: Quanta = Quanta { before_sample: 2..=33, after_sample: 1..=16, prescaler_max: 32 };

/// A rate may be off by this much, because the clock's periods do not divide its bit `[10^-6]`.
const RATE_TOLERANCE_PPM: i64 = 100;
/// A sample point may be off by this much, because quanta do not divide the bit there `[10^-3 of a bit]`.
const SAMPLE_POINT_TOLERANCE_PERMILLE: i64 = 20;

/// What a user says of the bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BitTimingConfig {
    /// Bit rate outside the data phase.
    pub nominal_rate: Rate,
    /// Where a nominal bit is sampled, from its start `[10^-3 of a bit]`; the nearest point within 20 that quanta can make.
    pub nominal_sample_point_permille: u16,
    /// Bit rate of the data phase of frames with bit-rate switching; equal to the nominal one where nothing is switched.
    pub data_rate: Rate,
    /// Where a data bit is sampled, from its start `[10^-3 of a bit]`; the nearest point within 20 that quanta can make.
    pub data_sample_point_permille: u16,
    /// Clock of the controllers `[Hz, as events per second]`.
    pub clock: Rate,
    /// From a sender's logic to the logic of the node furthest away and back, transceivers included.
    pub round_trip_delay: Duration,
}

impl BitTimingConfig {
    /// Sample points at 80 %, a clock of 80 MHz, and a round trip of 510 ns: two passes through transceivers of up to
    /// 255 ns each (ISO 11898-2:2016, loop delay) on a short cable.
    pub const fn new(nominal_rate: Rate, data_rate: Rate) -> Self {
        Self {
            nominal_rate,
            nominal_sample_point_permille: 800,
            data_rate,
            data_sample_point_permille: 800,
            clock: Rate(80_000_000),
            round_trip_delay: Duration::from_ns(510),
        }
    }
}

/// Which of the two rates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Outside the data phase.
    Nominal,
    /// Within it.
    Data,
}

impl core::fmt::Display for Phase {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Nominal => "nominal",
            Self::Data => "data",
        })
    }
}

/// Why a bus cannot have these bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BitTimingError {
    /// Zero, or beyond what the physical layer carries.
    #[error("a {phase} bit rate of {rate} is outside 1bit/s to {max}")]
    RateOutOfRange {
        /// Which rate.
        phase: Phase,
        /// As asked for.
        rate: Rate,
        /// At most.
        max: Rate,
    },
    /// The data phase would be the slower one.
    #[error("the data bit rate {data} is below the nominal bit rate {nominal}")]
    DataBelowNominal {
        /// As asked for.
        data: Rate,
        /// As asked for.
        nominal: Rate,
    },
    /// The controllers' clock is no whole number of picoseconds.
    #[error("a controller clock of {0}Hz has no period of whole picoseconds; 20, 40, 80 or 160 MHz have")]
    Clock(u64),
    /// No whole number of clock periods makes such a bit.
    #[error("a {phase} bit rate of {rate} cannot be made from a clock of {}Hz; {nearest} can", clock.0)]
    RateNotReachable {
        /// Which rate.
        phase: Phase,
        /// As asked for.
        rate: Rate,
        /// Of the controllers.
        clock: Rate,
        /// The nearest rate that can be made, rounded to whole bit/s.
        nearest: Rate,
    },
    /// No division of the bit into quanta puts its sample point there or close to it.
    #[error(
        "a {phase} bit of {bit_time} cannot be sampled at {permille} permille with a clock of {}Hz; \
         {nearest_permille} permille is the nearest",
        clock.0
    )]
    SamplePointNotReachable {
        /// Which rate.
        phase: Phase,
        /// Length of the bit.
        bit_time: Duration,
        /// As asked for.
        permille: u16,
        /// Of the controllers.
        clock: Rate,
        /// The nearest sample point there is, rounded.
        nearest_permille: u16,
    },
    /// An answer of the node furthest away comes after the sample point: arbitration and acknowledgement would fail.
    #[error(
        "a nominal bit is sampled {sampled_after} after its start, but the other end of the bus answers after \
         {round_trip_delay} only; lower the bit rate, move the sample point back or shorten the bus"
    )]
    RoundTripBeyondSamplePoint {
        /// From the start of a bit.
        sampled_after: Duration,
        /// As asked for.
        round_trip_delay: Duration,
    },
}

/// Checked lengths of both kinds of bit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BitTiming {
    nominal_bit: Duration,
    nominal_sample: Duration,
    data_bit: Duration,
    data_sample: Duration,
}

impl BitTiming {
    /// Checks that controllers can make these bits and that the sample point can carry them.
    ///
    /// # Errors
    /// [`BitTimingError`], with the nearest value that would do where there is one.
    pub fn new(config: &BitTimingConfig) -> Result<Self, BitTimingError> {
        const PS: u64 = 1_000_000_000_000;
        let clock = config.clock;
        if clock.0 == 0 || !PS.is_multiple_of(clock.0) {
            return Err(BitTimingError::Clock(clock.0));
        }
        let period = Duration::from_ps((PS / clock.0) as i64);
        let make = |phase, rate: Rate, permille: u16, max: Rate, quanta: &Quanta| {
            if rate.0 == 0 || rate > max {
                return Err(BitTimingError::RateOutOfRange { phase, rate, max });
            }
            let periods = (clock.0 + rate.0 / 2) / rate.0;
            // How far off `periods` of them are, relative to the bit asked for.
            let off_ppm = ((periods * rate.0) as i128 - i128::from(clock.0)) * 1_000_000 / i128::from(clock.0);
            if periods == 0 || off_ppm.abs() > i128::from(RATE_TOLERANCE_PPM) {
                let nearest = Rate(clock.0 / periods.max(1));
                return Err(BitTimingError::RateNotReachable { phase, rate, clock, nearest });
            }
            let periods = periods as i64;
            let sampled = sample_point(periods, permille, quanta).map_err(|nearest_permille| {
                let bit_time = period * periods;
                BitTimingError::SamplePointNotReachable { phase, bit_time, permille, clock, nearest_permille }
            })?;
            Ok((period * periods, period * sampled))
        };
        let (nominal_bit, nominal_sample) = make(
            Phase::Nominal,
            config.nominal_rate,
            config.nominal_sample_point_permille,
            NOMINAL_RATE_MAX,
            &NOMINAL_QUANTA,
        )?;
        let (data_bit, data_sample) = if config.data_rate == config.nominal_rate
            && config.data_sample_point_permille == config.nominal_sample_point_permille
        {
            (nominal_bit, nominal_sample)
        } else {
            if config.data_rate < config.nominal_rate {
                return Err(BitTimingError::DataBelowNominal { data: config.data_rate, nominal: config.nominal_rate });
            }
            make(Phase::Data, config.data_rate, config.data_sample_point_permille, DATA_RATE_MAX, &DATA_QUANTA)?
        };
        if config.round_trip_delay > nominal_sample {
            return Err(BitTimingError::RoundTripBeyondSamplePoint {
                sampled_after: nominal_sample,
                round_trip_delay: config.round_trip_delay,
            });
        }
        Ok(Self { nominal_bit, nominal_sample, data_bit, data_sample })
    }

    /// A nominal bit.
    pub const fn nominal_bit(&self) -> Duration {
        self.nominal_bit
    }

    /// From the start of a nominal bit to its sample point.
    pub const fn nominal_sample(&self) -> Duration {
        self.nominal_sample
    }

    /// A bit of the data phase.
    pub const fn data_bit(&self) -> Duration {
        self.data_bit
    }

    /// A bit that begins in one phase and ends in the other, or in the same: BRS begins nominal and ends fast, the CRC
    /// delimiter and a data bit in which an error is found begin fast and end nominal.
    pub fn bit(&self, begins_fast: bool, ends_fast: bool) -> Duration {
        let before = if begins_fast { self.data_sample } else { self.nominal_sample };
        let after = if ends_fast { self.data_bit - self.data_sample } else { self.nominal_bit - self.nominal_sample };
        before + after
    }

    /// So many bits.
    #[inline]
    pub fn time_of(&self, bits: FrameBits) -> Duration {
        self.nominal_bit * i64::from(bits.nominal) + self.data_bit * i64::from(bits.data)
    }

    /// From the first bit of SOF to the last of EOF.
    #[inline]
    pub fn frame(&self, frame: &CanFrame) -> Duration {
        self.time_of(FrameBits::of(frame))
    }

    /// From the end of EOF to the earliest next SOF.
    pub fn intermission(&self) -> Duration {
        self.nominal_bit * i64::from(INTERMISSION_BITS)
    }

    /// What the longest frame of its kind keeps others from the bus, intermission included.
    pub fn worst_case_occupancy(&self, is_extended: bool, kind: FrameKind, data_len: usize) -> Duration {
        self.time_of(FrameBits::worst_case(is_extended, kind, data_len)) + self.intermission()
    }
}

/// After how many of a bit's `periods` it is sampled, or the nearest sample point that can be made.
fn sample_point(periods: i64, permille: u16, quanta: &Quanta) -> Result<i64, u16> {
    let mut nearest: Option<(i64, i64)> = None;
    for prescaler in (1..=quanta.prescaler_max).filter(|prescaler| periods % prescaler == 0) {
        let total = periods / prescaler;
        let wanted = (total * i64::from(permille) + 500) / 1000;
        let low = (*quanta.before_sample.start()).max(total - quanta.after_sample.end());
        let high = (*quanta.before_sample.end()).min(total - quanta.after_sample.start());
        if low > high {
            continue;
        }
        let before = wanted.clamp(low, high);
        // Distances in 1/1000 of a period, so that all prescalers compare.
        let off = (before * prescaler * 1000 - periods * i64::from(permille)).abs();
        if nearest.is_none_or(|(best, _)| off < best) {
            nearest = Some((off, before * prescaler));
        }
    }
    match nearest {
        Some((off, sampled)) if permille < 1000 && off <= periods * SAMPLE_POINT_TOLERANCE_PERMILLE => Ok(sampled),
        Some((_, sampled)) => Err((sampled * 1000 / periods) as u16),
        None => Err(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::can::testing::any_frame;
    use crate::can::{CanId, plain};
    use proptest::prelude::*;

    fn config() -> BitTimingConfig {
        BitTimingConfig::new(Rate(500_000), Rate(2_000_000))
    }

    #[test]
    fn the_brs_bit_changes_the_rate_at_its_sample_point() {
        let timing = BitTiming::new(&config()).unwrap();
        assert_eq!(timing.bit(false, true), Duration::from_ns(1_700));
        assert_eq!(timing.bit(true, false), Duration::from_ns(800));
        assert_eq!(timing.bit(false, true) + timing.bit(true, false), timing.nominal_bit() + timing.data_bit());
    }

    /// Mean and bounds of 29-bit FD frames at 500 kbit/s and 2 Mbit/s, 3 bits of intermission included.
    #[test]
    fn durations_lie_in_the_known_range() {
        let timing = BitTiming::new(&config()).unwrap();
        let id = CanId::extended(0x0aaa_aaaa).unwrap();
        let alternating = timing.frame(&CanFrame::fd(id, &[0x55; 32], true).unwrap()) + timing.intermission();
        assert_eq!(alternating, Duration::from_us(243) + Duration::from_ns(0));
        let kind = FrameKind::Fd { brs: true, esi: false };
        assert!(timing.worst_case_occupancy(true, kind, 32) <= Duration::from_us(292));
    }

    #[test]
    fn a_sample_point_the_quanta_cannot_reach_is_refused_with_the_nearest() {
        let mut config = config();
        config.data_rate = Rate(8_000_000);
        config.data_sample_point_permille = 750;
        assert_eq!(
            BitTiming::new(&config),
            Err(BitTimingError::SamplePointNotReachable {
                phase: Phase::Data,
                bit_time: Duration::from_ns(125),
                permille: 750,
                clock: Rate(80_000_000),
                nearest_permille: 800,
            })
        );
        config.data_sample_point_permille = 700;
        assert!(BitTiming::new(&config).is_ok());
        config.nominal_sample_point_permille = 1000;
        assert!(matches!(BitTiming::new(&config), Err(BitTimingError::SamplePointNotReachable { .. })));
    }

    #[test]
    fn a_rate_the_sample_point_cannot_carry_is_refused() {
        let mut config = BitTimingConfig::new(Rate(1_000_000), Rate(1_000_000));
        config.round_trip_delay = Duration::from_ns(800);
        assert!(BitTiming::new(&config).is_ok());
        config.round_trip_delay = Duration::from_ns(801);
        let error = BitTiming::new(&config).unwrap_err();
        assert_eq!(
            error,
            BitTimingError::RoundTripBeyondSamplePoint {
                sampled_after: Duration::from_ns(800),
                round_trip_delay: Duration::from_ns(801),
            }
        );
        config.nominal_rate = Rate(500_000);
        config.data_rate = Rate(500_000);
        assert!(BitTiming::new(&config).is_ok());
    }

    #[test]
    fn rates_out_of_reach_are_refused() {
        let refuse = |nominal, data| BitTiming::new(&BitTimingConfig::new(Rate(nominal), Rate(data))).unwrap_err();
        assert!(matches!(refuse(0, 0), BitTimingError::RateOutOfRange { phase: Phase::Nominal, .. }));
        assert!(matches!(refuse(1_000_001, 2_000_000), BitTimingError::RateOutOfRange { .. }));
        assert!(matches!(refuse(500_000, 8_000_001), BitTimingError::RateOutOfRange { phase: Phase::Data, .. }));
        assert!(matches!(refuse(500_000, 250_000), BitTimingError::DataBelowNominal { .. }));
        assert!(matches!(
            refuse(500_000, 3_000_000),
            BitTimingError::RateNotReachable { nearest: Rate(2_962_962), .. }
        ));
        let mut config = config();
        config.clock = Rate(3);
        assert_eq!(BitTiming::new(&config), Err(BitTimingError::Clock(3)));
    }

    #[test]
    fn usual_rates_are_made() {
        for (nominal, data) in [
            (125_000, 125_000),
            (250_000, 1_000_000),
            (500_000, 5_000_000),
            (800_000, 2_000_000),
            (1_000_000, 8_000_000),
        ] {
            let timing = BitTiming::new(&BitTimingConfig::new(Rate(nominal), Rate(data))).unwrap();
            assert_eq!(timing.nominal_bit() * nominal as i64, Duration::from_s(1));
            assert_eq!(timing.data_bit() * data as i64, Duration::from_s(1));
        }
        // 33.333 kbit/s: 2400 periods of 12.5 ns are 10 ppm off.
        let timing = BitTiming::new(&BitTimingConfig::new(Rate(33_333), Rate(33_333))).unwrap();
        assert_eq!(timing.nominal_sample(), Duration::from_us(24));
        assert_eq!(timing.nominal_bit(), Duration::from_us(30));
    }

    proptest! {
        #[test]
        fn the_length_is_the_sum_of_all_bits(frame in any_frame()) {
            let timing = BitTiming::new(&config()).unwrap();
            let mut begins_fast = false;
            let mut sum = Duration::ZERO;
            for bit in plain::encode(&frame).iter() {
                sum += timing.bit(begins_fast, bit.ends_fast);
                begins_fast = bit.ends_fast;
            }
            prop_assert_eq!(timing.frame(&frame), sum);
        }
    }
}
