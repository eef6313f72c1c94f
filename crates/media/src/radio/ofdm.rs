//! How long a frame keeps the channel.

use chronoseal_core::{Duration, Rate};

use super::timing::{PREAMBLE, SIGNAL, SYMBOL};
use crate::medium::FRAME_CAPACITY;

/// What a data frame on the air has beyond the payload of an Ethernet frame `[byte]`: MAC header of a QoS frame 26, LLC and
/// SNAP 8, frame check sequence 4.
pub const PSDU_OVERHEAD_LEN: u64 = 26 + 8 + 4;

/// The longest PSDU: the LENGTH field of SIGNAL has 12 bits `[byte]`.
pub const PSDU_LEN_MAX: u64 = 4095;

/// Header of the Ethernet frame that a node hands over, which does not go on the air `[byte]`.
const ETHERNET_HEADER_LEN: u64 = 14;

/// Length on the air of an Ethernet frame of `ethernet_len` without its checksum `[byte]`: the 802.11 headers take the
/// place of the Ethernet header.
pub const fn psdu_len(ethernet_len: u64) -> u64 {
    ethernet_len.saturating_sub(ETHERNET_HEADER_LEN) + PSDU_OVERHEAD_LEN
}

// No frame that a store can hold is too long for the air, so a channel need not ask.
const _: () = assert!(psdu_len(FRAME_CAPACITY as u64) <= PSDU_LEN_MAX);

/// Modulation and coding of a 10 MHz OFDM channel, by its nominal rate.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum OfdmRate {
    /// BPSK 1/2, 3 Mbit/s.
    Mbps3,
    /// BPSK 3/4, 4.5 Mbit/s.
    Mbps4_5,
    /// QPSK 1/2, 6 Mbit/s: the rate of the ITS-G5 control channel.
    #[default]
    Mbps6,
    /// QPSK 3/4, 9 Mbit/s.
    Mbps9,
    /// 16-QAM 1/2, 12 Mbit/s.
    Mbps12,
    /// 16-QAM 3/4, 18 Mbit/s.
    Mbps18,
    /// 64-QAM 2/3, 24 Mbit/s.
    Mbps24,
    /// 64-QAM 3/4, 27 Mbit/s.
    Mbps27,
}

impl OfdmRate {
    /// Every rate, slowest first.
    pub const ALL: [Self; 8] =
        [Self::Mbps3, Self::Mbps4_5, Self::Mbps6, Self::Mbps9, Self::Mbps12, Self::Mbps18, Self::Mbps24, Self::Mbps27];

    /// N_DBPS, data bits in one symbol (IEEE 802.11-2020, table 17-4).
    pub const fn data_bits_per_symbol(self) -> u64 {
        match self {
            Self::Mbps3 => 24,
            Self::Mbps4_5 => 36,
            Self::Mbps6 => 48,
            Self::Mbps9 => 72,
            Self::Mbps12 => 96,
            Self::Mbps18 => 144,
            Self::Mbps24 => 192,
            Self::Mbps27 => 216,
        }
    }

    /// The nominal rate: data bits of a symbol over its duration.
    pub const fn rate(self) -> Rate {
        // 8 us a symbol are 125,000 symbols a second.
        Rate(self.data_bits_per_symbol() * 125_000)
    }

    /// The least power at which a receiver must decode nine of ten frames of 1000 bytes `[dBm]`
    /// (IEEE 802.11-2020, table 17-18, 10 MHz).
    pub const fn sensitivity_dbm(self) -> f64 {
        match self {
            Self::Mbps3 => -85.0,
            Self::Mbps4_5 => -84.0,
            Self::Mbps6 => -82.0,
            Self::Mbps9 => -80.0,
            Self::Mbps12 => -77.0,
            Self::Mbps18 => -73.0,
            Self::Mbps24 => -69.0,
            Self::Mbps27 => -68.0,
        }
    }

    /// TXTIME of a PSDU of `psdu_len` bytes: preamble, SIGNAL, and as many whole symbols as 16 bits of SERVICE, the
    /// bytes and 6 tail bits need.
    ///
    /// # Source
    /// IEEE 802.11-2020, 17.4.3, equation (17-29), with the durations of 10 MHz.
    pub const fn airtime(self, psdu_len: u64) -> Duration {
        let symbols = (16 + 8 * psdu_len + 6).div_ceil(self.data_bits_per_symbol());
        Duration::from_ps(PREAMBLE.as_ps() + SIGNAL.as_ps() + SYMBOL.as_ps() * symbols as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn airtime_is_the_formula_of_the_standard() {
        // By hand: 40 us and ceil((22 + 8 * len) / N_DBPS) symbols of 8 us.
        for (rate, len, symbols) in [
            (OfdmRate::Mbps3, 14, 6),      // 134 bits, of 24
            (OfdmRate::Mbps4_5, 100, 23),  // 822 of 36: 22.8
            (OfdmRate::Mbps6, 350, 59),    // 2822 of 48: 58.8
            (OfdmRate::Mbps9, 350, 40),    // 39.2
            (OfdmRate::Mbps12, 350, 30),   // 29.4
            (OfdmRate::Mbps18, 1500, 84),  // 12022 of 144: 83.5
            (OfdmRate::Mbps24, 1500, 63),  // 62.6
            (OfdmRate::Mbps27, 4095, 152), // 32782 of 216: 151.8
            (OfdmRate::Mbps27, 0, 1),
        ] {
            assert_eq!(rate.airtime(len), Duration::from_us(40 + 8 * symbols), "{rate:?}, {len} bytes");
        }
    }

    #[test]
    fn a_symbol_is_full_before_the_next_one_begins() {
        // 48 data bits: 22 + 8 * 91 = 750 = 15.6 symbols; 22 + 8 * 94 = 774 is over 768 = 16 symbols.
        assert_eq!(OfdmRate::Mbps6.airtime(91), OfdmRate::Mbps6.airtime(93));
        assert_eq!(OfdmRate::Mbps6.airtime(94) - OfdmRate::Mbps6.airtime(93), SYMBOL);
        // 24 data bits: 22 + 8 * len is never a whole number of symbols of 24, but 8 * 1 + 22 = 30 needs two.
        assert_eq!(OfdmRate::Mbps3.airtime(1), Duration::from_us(56));
    }

    #[test]
    fn nominal_rates_are_their_names() {
        let rates = OfdmRate::ALL.map(|rate| rate.rate().0 / 100_000);
        assert_eq!(rates, [30, 45, 60, 90, 120, 180, 240, 270]);
    }

    #[test]
    fn headers_of_the_air_replace_those_of_ethernet() {
        assert_eq!(psdu_len(14), 38);
        assert_eq!(psdu_len(1514), 1538);
    }

    proptest! {
        #[test]
        fn a_frame_takes_its_bits_and_less_than_a_symbol_more(len in 0u64..=PSDU_LEN_MAX, index in 0usize..8) {
            let rate = OfdmRate::ALL[index];
            let data = rate.airtime(len) - PREAMBLE - SIGNAL;
            let bits_times_ps = i128::from(22 + 8 * len) * 1_000_000_000_000;
            let exact = bits_times_ps / i128::from(rate.rate().0);
            prop_assert!(i128::from(data.as_ps()) >= exact);
            prop_assert!(i128::from((data - SYMBOL).as_ps()) < exact + 1);
        }
    }
}
