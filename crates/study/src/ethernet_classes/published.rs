//! What the source printed, read from `studies/ethernet-classes/published/*.csv`. Nothing is corrected.

const TABLE1: &str = include_str!("../../../../studies/ethernet-classes/published/table1.csv");
const TABLE2: &str = include_str!("../../../../studies/ethernet-classes/published/table2.csv");
const TABLE3: &str = include_str!("../../../../studies/ethernet-classes/published/table3.csv");

/// A protocol of the source.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Protocol {
    /// Time-triggered, SAE AS6802.
    Tte,
    /// Rate-constrained, ARINC 664 part 7.
    Rc,
    /// UDP over the switches of the two above.
    Be,
    /// UDP over a plain switch.
    Udp,
}

impl Protocol {
    /// Every one, in the order of the table.
    pub const ALL: [Self; 4] = [Self::Tte, Self::Rc, Self::Be, Self::Udp];

    /// As the source writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tte => "TTE",
            Self::Rc => "RC",
            Self::Be => "BE",
            Self::Udp => "UDP",
        }
    }
}

/// One cell of Table 3: a protocol, a size and a load.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Latencies {
    /// Which protocol.
    pub protocol: Protocol,
    /// Payload of UDP `[byte]`.
    pub payload: u32,
    /// How much of the link the flood takes `[%]`.
    pub saturation: u32,
    /// Messages.
    pub n: u64,
    /// Of these, lost.
    pub lost: u64,
    /// Mean of the one-way latency `[us]`.
    pub mean: f64,
    /// Its standard deviation `[us]`.
    pub sd: f64,
}

/// A clock source of Table 1: what reading it takes `[ns]`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ClockSource {
    /// As printed.
    pub name: &'static str,
    /// Mean, median, standard deviation, least and greatest `[ns]`.
    pub latencies: [f64; 5],
}

/// A row of Table 2.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Saturation {
    /// Of the link `[%]`.
    pub percent: u32,
    /// Data rate `[Mbit/s]`.
    pub rate: f64,
    /// Distance of two packets `[us]`.
    pub interval: f64,
    /// Distance of two bursts of ten `[us]`.
    pub burst: f64,
}

/// Payloads of Table 3 `[byte]`.
pub const PAYLOADS: [u32; 6] = [64, 128, 256, 512, 1024, 1472];
/// Loads of Table 3 `[%]`.
pub const SATURATIONS: [u32; 3] = [0, 50, 100];

fn rows<const N: usize>(text: &'static str) -> impl Iterator<Item = [&'static str; N]> {
    let row = |line: &'static str| line.split(',').collect::<Vec<_>>().try_into().expect("as many cells as columns");
    text.lines().skip(1).map(row)
}

fn number(cell: &str) -> f64 {
    cell.parse().expect("a number, as the tests see")
}

/// Table 3, in the order printed.
///
/// # Panics
/// Never: the tests read every cell.
pub fn table3() -> Vec<Latencies> {
    let row = |[protocol, payload, saturation, n, lost, mean, sd]: [&str; 7]| Latencies {
        protocol: *Protocol::ALL.iter().find(|known| known.name() == protocol).expect("a protocol of the source"),
        payload: number(payload) as u32,
        saturation: number(saturation) as u32,
        n: number(n) as u64,
        lost: number(lost) as u64,
        mean: number(mean),
        sd: number(sd),
    };
    rows(TABLE3).map(row).collect()
}

/// Table 1.
pub fn table1() -> Vec<ClockSource> {
    let row = |[name, rest @ ..]: [&'static str; 6]| ClockSource { name, latencies: rest.map(number) };
    rows(TABLE1).map(row).collect()
}

/// Table 2.
pub fn table2() -> Vec<Saturation> {
    let row = |[percent, rate, interval, burst]: [&str; 4]| Saturation {
        percent: number(percent) as u32,
        rate: number(rate),
        interval: number(interval),
        burst: number(burst),
    };
    rows(TABLE2).map(row).collect()
}

/// Defects of the printed text, as footnotes.
pub const ERRATA: [&str; 5] = [
    "The text has a 369-ms delay between two bursts: 12.3 us times three threads times ten packets is 369 us.",
    "The text has a 60-ms average overhead of nanosleep(): with bursts every 369 us it can only be 60 us.",
    "The text has a drift of 36772 and 11946 us per second: the clocks would be off by 3.7 %; with the root mean square errors of 8257 and 2765 printed beside it, nanoseconds are meant.",
    "The abstract says that RC latency increased slightly: at 64 bytes it goes from 40.23 to 249.60 us, by a factor of 6.2.",
    "The text has 510 ms as two times the maximum period and BAG: ARINC 664 part 7 knows 1, 2, 4, … 128 ms, and not 255 ms.",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_whole() {
        let table = table3();
        assert_eq!(table.len(), 72);
        let mut expected = Vec::new();
        for protocol in Protocol::ALL {
            for payload in PAYLOADS {
                expected.extend(SATURATIONS.map(|saturation| (protocol, payload, saturation)));
            }
        }
        let found: Vec<_> = table.iter().map(|row| (row.protocol, row.payload, row.saturation)).collect();
        assert_eq!(found, expected);
        let rc = table.iter().find(|row| row.protocol == Protocol::Rc && row.saturation == 50).expect("it is there");
        assert_eq!((rc.mean, rc.sd, rc.lost), (249.60, 119.59, 0));
        assert_eq!((table1().len(), table2().len()), (4, 4));
    }
}
