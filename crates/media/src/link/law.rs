//! Laws of delay.

use std::sync::Arc;

use chronoseal_core::Duration;

/// What a packet takes on the way, beside its time at the rate.
#[derive(Clone, PartialEq, Debug)]
pub enum DelayLaw {
    /// Always the same.
    Constant(Duration),
    /// Every time between two as likely as the others.
    Uniform {
        /// At least.
        min: Duration,
        /// At most.
        max: Duration,
    },
    /// A normal law, clamped at zero: what would come before it was sent comes at once, as a network emulator that adds a time to now
    /// delivers it. Mean and deviation of what comes are others ([`DelayLaw::moments_ns`]).
    Normal {
        /// Of the law before it is clamped.
        mean: Duration,
        /// Of the law before it is clamped.
        deviation: Duration,
    },
    /// One of these, each as likely as the others. Never empty.
    Recorded(Arc<[Duration]>),
}

impl DelayLaw {
    /// The delay at a place of the law: `bits / 2^64` of all delays are below it. Recorded delays are in no order.
    pub fn at(&self, bits: u64) -> Duration {
        match self {
            Self::Constant(delay) => *delay,
            Self::Uniform { min, max } => *min + part(bits, (*max - *min).as_ps()),
            Self::Normal { mean, deviation } => {
                let delay = mean.as_ps() as f64 + deviation.as_ps() as f64 * quantile(unit(bits));
                Duration::from_ps(libm::round(delay.max(0.0)) as i64)
            }
            Self::Recorded(delays) => delays[((u128::from(bits) * delays.len() as u128) >> 64) as usize],
        }
    }

    /// The least that it gives.
    pub fn min(&self) -> Duration {
        match self {
            Self::Constant(delay) => *delay,
            Self::Uniform { min, .. } => *min,
            Self::Normal { mean, deviation } if *deviation == Duration::ZERO => *mean,
            Self::Normal { .. } => Duration::ZERO,
            Self::Recorded(delays) => delays.iter().copied().min().unwrap_or_default(),
        }
    }

    /// The most that it gives; `None` if nothing bounds it.
    pub fn max(&self) -> Option<Duration> {
        match self {
            Self::Constant(delay) => Some(*delay),
            Self::Uniform { max, .. } => Some(*max),
            Self::Normal { mean, deviation } => (*deviation == Duration::ZERO).then_some(*mean),
            Self::Recorded(delays) => delays.iter().copied().max(),
        }
    }

    /// The probability of a delay of at most so much `[ns]`.
    fn by(&self, ns: f64) -> f64 {
        let in_ns = |delay: &Duration| delay.as_ps() as f64 / 1e3;
        match self {
            Self::Constant(delay) => f64::from(u8::from(ns >= in_ns(delay))),
            Self::Uniform { min, max } if min == max => f64::from(u8::from(ns >= in_ns(min))),
            Self::Uniform { min, max } => ((ns - in_ns(min)) / (in_ns(max) - in_ns(min))).clamp(0.0, 1.0),
            Self::Normal { .. } if ns < 0.0 => 0.0,
            Self::Normal { mean, deviation } if *deviation == Duration::ZERO => f64::from(u8::from(ns >= in_ns(mean))),
            Self::Normal { mean, deviation } => {
                let z = (ns - in_ns(mean)) / in_ns(deviation);
                0.5 * libm::erfc(-z / core::f64::consts::SQRT_2)
            }
            Self::Recorded(delays) => {
                delays.iter().filter(|delay| in_ns(delay) <= ns).count() as f64 / delays.len() as f64
            }
        }
    }

    /// Mean and standard deviation of what it gives `[ns]`, exactly as the law has them.
    ///
    /// Of a normal law clamped at zero, with a = mean / deviation: E = mean Phi(a) + deviation phi(a), and
    /// E² = (mean² + deviation²) Phi(a) + mean deviation phi(a).
    pub fn moments_ns(&self) -> (f64, f64) {
        let ns = |delay: Duration| delay.as_ps() as f64 / 1e3;
        match self {
            Self::Constant(delay) => (ns(*delay), 0.0),
            Self::Uniform { min, max } => ((ns(*min) + ns(*max)) / 2.0, (ns(*max) - ns(*min)) / libm::sqrt(12.0)),
            Self::Normal { mean, deviation } => {
                let (mean, deviation) = (ns(*mean), ns(*deviation));
                if deviation == 0.0 {
                    return (mean.max(0.0), 0.0);
                }
                let a = mean / deviation;
                let below = 0.5 * libm::erfc(-a / core::f64::consts::SQRT_2);
                let density = libm::exp(-a * a / 2.0) / libm::sqrt(2.0 * core::f64::consts::PI);
                let first = mean * below + deviation * density;
                let second = (mean * mean + deviation * deviation) * below + mean * deviation * density;
                (first, libm::sqrt((second - first * first).max(0.0)))
            }
            Self::Recorded(delays) => {
                let count = delays.len() as f64;
                let mean = delays.iter().map(|delay| ns(*delay)).sum::<f64>() / count;
                let squares = delays.iter().map(|delay| (ns(*delay) - mean) * (ns(*delay) - mean)).sum::<f64>();
                (mean, libm::sqrt(squares / count))
            }
        }
    }
}

/// When a message has come of which each packet has a delay of its own: when the last of its packets has.
#[derive(Clone, Debug)]
pub struct LastPacket<'a> {
    law: &'a DelayLaw,
    starts_ns: Vec<f64>,
}

impl<'a> LastPacket<'a> {
    /// Of packets that set out at these times `[ns]`, at least one, and overtake each other as their delays have it.
    pub fn new(law: &'a DelayLaw, starts_ns: Vec<f64>) -> Self {
        Self { law, starts_ns }
    }

    /// The probability that all of it has come by a time `[ns]`: that of the greatest of start and delay, with independent delays.
    fn by(&self, ns: f64) -> f64 {
        self.starts_ns.iter().map(|start| self.law.by(ns - start)).product()
    }

    /// Between which times `[ns]` it comes, but for a probability that no figure shows.
    fn ends_ns(&self) -> (f64, f64) {
        let last = self.starts_ns.iter().fold(0.0, |last: f64, start| last.max(*start));
        let least = last + self.law.min().as_ps() as f64 / 1e3;
        let most = match (self.law, self.law.max()) {
            (DelayLaw::Normal { mean, deviation }, None) => {
                last + (mean.as_ps() as f64 + 12.0 * deviation.as_ps() as f64).max(0.0) / 1e3
            }
            (_, max) => last + max.unwrap_or_default().as_ps() as f64 / 1e3,
        };
        (least, most.max(least))
    }

    /// By when so great a share of all messages has come `[ns]`, to 1 ns.
    pub fn quantile_ns(&self, share: f64) -> f64 {
        let (mut low, mut high) = self.ends_ns();
        if self.by(low) >= share {
            return low;
        }
        while high - low > 1.0 {
            let middle = low + (high - low) / 2.0;
            if self.by(middle) < share { low = middle } else { high = middle }
        }
        high
    }

    /// Mean and standard deviation `[ns]`, by the integrals of 1 - F and of 2 t (1 - F) from the least time on; within 0.1 % of the
    /// deviation.
    pub fn moments_ns(&self) -> (f64, f64) {
        let (least, most) = self.ends_ns();
        // A message of thousands of packets has a law so smooth that fewer steps do.
        let steps = (4_000_000 / self.starts_ns.len().max(1)).clamp(500, 20_000);
        let step = (most - least) / steps as f64;
        let (mut first, mut second) = (0.0, 0.0);
        for place in 0..steps {
            let after = (place as f64 + 0.5) * step;
            let later = 1.0 - self.by(least + after);
            first += later * step;
            second += 2.0 * after * later * step;
        }
        (least + first, libm::sqrt((second - first * first).max(0.0)))
    }
}

/// `bits / 2^64` of a length of time, with its end.
fn part(bits: u64, length_ps: i64) -> Duration {
    let span = i128::from(length_ps) + 1;
    Duration::from_ps(((i128::from(bits >> 1) * span) >> 63) as i64)
}

/// A number strictly between 0 and 1.
fn unit(bits: u64) -> f64 {
    ((bits >> 11) as f64 + 0.5) * (1.0 / 9_007_199_254_740_992.0)
}

/// The quantile of the standard normal law: algorithm AS 241, PPND16 (Wichura, Applied Statistics 37 (1988) 477-484), to about 16
/// digits.
fn quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180_625 - q * q;
        return q * ratio(r, &CENTRE);
    }
    let r = libm::sqrt(-libm::log(if q < 0.0 { p } else { 1.0 - p }));
    let x = if r <= 5.0 { ratio(r - 1.6, &MIDDLE) } else { ratio(r - 5.0, &TAIL) };
    if q < 0.0 { -x } else { x }
}

/// Numerator and denominator, the coefficient of the highest power first.
type Coefficients = ([f64; 8], [f64; 8]);

fn ratio(r: f64, (above, below): &Coefficients) -> f64 {
    let polynomial = |coefficients: &[f64; 8]| coefficients.iter().fold(0.0, |sum, coefficient| sum * r + coefficient);
    polynomial(above) / polynomial(below)
}

#[rustfmt::skip]
#[expect(clippy::excessive_precision, reason = "as they were printed")]
const CENTRE: Coefficients = (
    [2.509_080_928_730_122_672_7e3, 3.343_057_558_358_812_810_5e4, 6.726_577_092_700_870_085_3e4,
     4.592_195_393_154_987_145_7e4, 1.373_169_376_550_946_112_5e4, 1.971_590_950_306_551_442_7e3,
     1.331_416_678_917_843_774_5e2, 3.387_132_872_796_366_608_0e0],
    [5.226_495_278_852_854_561_0e3, 2.872_908_573_572_194_267_4e4, 3.930_789_580_009_271_061_0e4,
     2.121_379_430_158_659_586_7e4, 5.394_196_021_424_751_107_7e3, 6.871_870_074_920_579_083_0e2,
     4.231_333_070_160_091_125_2e1, 1.0],
);

#[rustfmt::skip]
#[expect(clippy::excessive_precision, reason = "as they were printed")]
const MIDDLE: Coefficients = (
    [7.745_450_142_783_414_076_4e-4, 2.272_384_498_926_918_458_33e-2, 2.417_807_251_774_506_117_7e-1,
     1.270_458_252_452_368_382_58e0, 3.647_848_324_763_204_605_04e0, 5.769_497_221_460_691_405_5e0,
     4.630_337_846_156_545_295_9e0, 1.423_437_110_749_683_577_34e0],
    [1.050_750_071_644_416_843_24e-9, 5.475_938_084_995_344_946_0e-4, 1.519_866_656_361_645_719_66e-2,
     1.481_039_764_274_800_745_9e-1, 6.897_673_349_851_000_045_5e-1, 1.676_384_830_183_803_849_40e0,
     2.053_191_626_637_758_821_87e0, 1.0],
);

#[rustfmt::skip]
#[expect(clippy::excessive_precision, reason = "as they were printed")]
const TAIL: Coefficients = (
    [2.010_334_399_292_288_132_65e-7, 2.711_555_568_743_487_578_15e-5, 1.242_660_947_388_078_438_60e-3,
     2.653_218_952_657_612_309_30e-2, 2.965_605_718_285_048_912_30e-1, 1.784_826_539_917_291_335_80e0,
     5.463_784_911_164_114_369_90e0, 6.657_904_643_501_103_777_20e0],
    [2.044_263_103_389_939_785_64e-15, 1.421_511_758_316_445_888_70e-7, 1.846_318_317_510_054_681_80e-5,
     7.868_691_311_456_132_591_00e-4, 1.487_536_129_085_061_485_25e-2, 1.369_298_809_227_358_053_10e-1,
     5.998_322_065_558_879_376_90e-1, 1.0],
);

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(mean_us: i64, deviation_us: i64) -> DelayLaw {
        DelayLaw::Normal { mean: Duration::from_us(mean_us), deviation: Duration::from_us(deviation_us) }
    }

    #[test]
    fn quantiles_are_those_that_tables_print() {
        // Abramowitz, Stegun: 26.2, and the two check values of AS 241.
        for (p, x) in [
            (0.25, -0.674_489_750_196_081_7),
            (0.001, -3.090_232_306_167_814),
            (1e-20, -9.262_340_089_798_408),
            (0.975, 1.959_963_984_540_054),
            (0.5, 0.0),
        ] {
            assert!((quantile(p) - x).abs() < 1e-14 * x.abs().max(1.0), "{p}: {}", quantile(p));
        }
    }

    #[test]
    fn exact_moments_are_those_of_the_law_as_it_is_drawn() {
        let laws = [
            normal(300, 360),
            normal(13_000, 22_000),
            DelayLaw::Uniform { min: Duration::from_us(10), max: Duration::from_us(250) },
            DelayLaw::Recorded([5, 7, 7, 30].map(Duration::from_us).into()),
        ];
        const COUNT: u64 = 200_000;
        for law in laws {
            let delays = (0..COUNT).map(|place| law.at(place * (u64::MAX / COUNT)).as_ps() as f64 / 1e3);
            let mean = delays.clone().sum::<f64>() / COUNT as f64;
            let deviation = (delays.map(|delay| (delay - mean) * (delay - mean)).sum::<f64>() / COUNT as f64).sqrt();
            let (exact_mean, exact_deviation) = law.moments_ns();
            assert!((mean / exact_mean - 1.0).abs() < 1e-3, "{law:?}: {mean}, {exact_mean}");
            assert!((deviation / exact_deviation - 1.0).abs() < 1e-3, "{law:?}: {deviation}, {exact_deviation}");
        }
    }

    #[test]
    fn a_clamped_normal_law_has_the_moments_that_were_computed_by_hand() {
        let (mean, deviation) = normal(300, 360).moments_ns();
        assert_eq!(((mean / 100.0).round(), (deviation / 100.0).round()), (3408.0, 2991.0));
    }

    #[test]
    fn the_slowest_of_seven_packets_has_the_moments_that_were_computed_for_it() {
        for (law, mean_us, deviation_us) in
            [(normal(300, 360), 787.0, 225.0), (normal(13_000, 22_000), 42_750.0, 13_770.0)]
        {
            let (mean, deviation) = LastPacket::new(&law, vec![0.0; 7]).moments_ns();
            assert!((mean / 1e3 / mean_us - 1.0).abs() < 2e-3, "{mean}");
            assert!((deviation / 1e3 / deviation_us - 1.0).abs() < 4e-3, "{deviation}");
        }
    }

    #[test]
    fn the_last_packet_comes_as_it_is_drawn() {
        let laws = [
            normal(300, 360),
            DelayLaw::Uniform { min: Duration::from_us(10), max: Duration::from_us(250) },
            DelayLaw::Recorded([5, 7, 7, 30].map(Duration::from_us).into()),
            DelayLaw::Constant(Duration::from_us(3)),
        ];
        let starts = [12_000.0, 24_000.0, 29_000.0];
        // A grid of all three delays, each as likely as the others.
        const COUNT: u64 = 60;
        for law in laws {
            let draw = |place: u64| law.at(place * (u64::MAX / COUNT) + u64::MAX / COUNT / 2).as_ps() as f64 / 1e3;
            let delays: Vec<f64> = (0..COUNT).map(draw).collect();
            let mut ends: Vec<f64> = (0..COUNT * COUNT * COUNT)
                .map(|draw| {
                    let of = |packet: u32| delays[(draw / COUNT.pow(packet) % COUNT) as usize];
                    (0..3).map(|packet| starts[packet as usize] + of(packet)).fold(0.0, f64::max)
                })
                .collect();
            ends.sort_by(f64::total_cmp);
            let count = ends.len() as f64;
            let mean = ends.iter().sum::<f64>() / count;
            let deviation = (ends.iter().map(|end| (end - mean) * (end - mean)).sum::<f64>() / count).sqrt();
            let last = LastPacket::new(&law, starts.to_vec());
            let (exact_mean, exact_deviation) = last.moments_ns();
            let near = |drawn: f64, exact: f64| (drawn - exact).abs() <= 0.03 * deviation + 2.0;
            assert!(
                near(mean, exact_mean) && near(deviation, exact_deviation),
                "{law:?}: {mean}, {exact_mean}, {deviation}, {exact_deviation}"
            );
            for share in [0.1, 0.5, 0.9] {
                let (drawn, exact) = (ends[(share * count) as usize], last.quantile_ns(share));
                assert!((drawn - exact).abs() <= 0.1 * deviation + 2.0, "{law:?}, {share}: {drawn}, {exact}");
            }
        }
    }

    #[test]
    fn every_law_stays_between_its_ends() {
        let uniform = DelayLaw::Uniform { min: Duration::from_us(10), max: Duration::from_us(12) };
        assert_eq!((uniform.at(0), uniform.at(u64::MAX)), (Duration::from_us(10), Duration::from_us(12)));
        assert_eq!(
            (normal(13, 22).at(0), normal(13, 22).min(), normal(13, 22).max()),
            (Duration::ZERO, Duration::ZERO, None)
        );
        assert_eq!((normal(13, 0).at(0), normal(13, 0).max()), (Duration::from_us(13), Some(Duration::from_us(13))));
        let recorded = DelayLaw::Recorded([5, 7].map(Duration::from_us).into());
        assert_eq!((recorded.at(0), recorded.at(u64::MAX)), (Duration::from_us(5), Duration::from_us(7)));
    }
}
