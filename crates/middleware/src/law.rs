//! What a network alone takes of a message, to hold a middleware's latencies against.

use chronoseal_plan::{Link, NotOfLink, SegmentId};
use chronoseal_report::{Cell, Evidence, Table};
use chronoseal_scenario::{NoFiles, Scenario};

use crate::{Configuration, Data, Measured, Network, Packets, Spread};

/// Why a link alone does not say what it takes of a message.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AloneError {
    /// More is sent than it carries.
    #[error("the data ask for {0:.1} times what the link carries")]
    Overload(f64),
    /// The message does not fit a datagram.
    #[error("it is several datagrams, and each middleware cuts it in its own way")]
    Datagrams,
    /// No scenario has such messages.
    #[error("no scenario has such messages")]
    Scenario,
    /// Its laws do not say it.
    #[error(transparent)]
    Link(#[from] NotOfLink),
}

/// Mean and standard deviation of what the emulated link takes of messages in one UDP datagram each, until the last packet has come `[ns]`.
///
/// # Errors
/// [`AloneError`] if the link alone does not say it.
pub fn alone(data: &Data, network: Network, packets: Packets) -> Result<(f64, f64), AloneError> {
    if let Some(times) = data.overload(network) {
        return Err(AloneError::Overload(times));
    }
    let text = format!(
        "schema_version = 2\nname = \"alone\"\nduration = \"1s\"\n[segments.air.link]\nprofile = \"{}\"\nmtu = \"{}B\"\n\
         [[nodes]]\nname = \"robot\"\n[[nodes]]\nname = \"station\"\n\
         [[streams]]\nname = \"data\"\nfrom = \"robot\"\nto = [\"station\"]\nperiod = \"{}\"\nlength = \"{}B\"\n",
        network.profile,
        packets.mtu(),
        data.period,
        data.length
    );
    let scenario = Scenario::load("alone.toml", text.as_bytes(), &[], &NoFiles).map_err(|_| AloneError::Scenario)?;
    let link = Link::of(&scenario.plan, SegmentId(0)).ok_or(AloneError::Scenario)?;
    let (_, stream, _, hop) = link.streams().next().ok_or(AloneError::Scenario)?;
    match hop.parts {
        Some(_) => Err(AloneError::Datagrams),
        None => Ok(link.last_packet(stream, hop)?.moments_ns()),
    }
}

/// What was measured beside what the network alone takes. `host` is what a configuration takes over a network without a delay, if that is known.
pub fn beside<'a>(
    data: &Data,
    network: Network,
    packets: Packets,
    rows: impl Iterator<Item = (&'a Configuration, Result<&'a Measured, &'a str>, Option<&'a Measured>)>,
) -> Option<Table> {
    let (mean, deviation) = alone(data, network, packets).ok()?;
    let mut table = Table::new(format!("Beside the network alone: {} over {}", data.name, network.title))
        .words("configuration")
        .numbers("n, stall-free", "")
        .numbers("mean", "us")
        .numbers("network alone, mean", "us")
        .numbers("more", "%")
        .numbers("s.d.", "us")
        .numbers("network alone, s.d.", "us")
        .numbers("more, s.d.", "%")
        .footnote(
            "Network alone: exact, from the law of the emulated delay and the bits of each packet at the link's rate, until the last packet of a message \
             in one UDP datagram has come. Measured: messages that were on their way while the host was away are left out. Where the same configuration was measured over localhost, what it takes there is subtracted, of deviations \
             their squares. What is more: TCP and whatever keeps order wait for messages that were overtaken, and send again what was lost; a \
             reliable middleware waits for an acknowledgement. What is less: who drops messages that come after a later one loses the slow ones.",
        );
    for (configuration, answer, host) in rows {
        let mut row = vec![configuration.cell()];
        match answer.map(Measured::stall_free) {
            Err(why) => row.extend((0..7).map(|_| Cell::na(why))),
            Ok(None) => row.extend((0..7).map(|_| Cell::na("too few messages came"))),
            Ok(Some(Spread { count, mean_ns: found, deviation_ns: scatter })) => {
                let less = host.and_then(Measured::stall_free);
                let (less, less_scatter) = less.map_or((0.0, 0.0), |less| (less.mean_ns, less.deviation_ns));
                let found = found - less;
                let scatter = (scatter * scatter - less_scatter * less_scatter).max(0.0).sqrt();
                row.push(Cell::count(count).from(Evidence::Measured));
                for (found, exact) in [(found, mean), (scatter, deviation)] {
                    row.push(Cell::number(found / 1e3, 1).from(Evidence::Measured));
                    row.push(Cell::number(exact / 1e3, 1).from(Evidence::Recomputed));
                    row.push(match exact > 0.0 {
                        true => Cell::number(100.0 * (found / exact - 1.0), 1).from(Evidence::Derived),
                        false => Cell::na("the network takes no time"),
                    });
                }
            }
        }
        table.push(row);
    }
    Some(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NETWORKS;

    #[test]
    fn a_laser_scan_in_one_packet_takes_the_delay_and_its_bits() {
        let [_, ethernet, wifi] = NETWORKS;
        let [laser, image, cloud] = Data::recorded();
        let us =
            |network, packets| alone(&laser, network, packets).map(|(mean, deviation)| (mean / 1e3, deviation / 1e3));
        let near = |(mean, deviation): (f64, f64), expected: (f64, f64)| {
            assert!((mean / expected.0 - 1.0).abs() < 2e-3, "{mean}");
            assert!((deviation / expected.1 - 1.0).abs() < 2e-3, "{deviation}");
        };
        // The clamped law of one packet and 8,706 bytes at the rate.
        near(us(ethernet, Packets::Large).expect("one packet"), (340.8 + 69.65, 299.1));
        near(us(wifi, Packets::Large).expect("one packet"), (16_771.0 + 1_289.8, 16_931.0));
        let (mean, _) = us(wifi, Packets::Real).expect("six packets");
        assert!(mean > 40_000.0, "{mean}: the slowest of six");
        assert!(alone(&image, ethernet, Packets::Large).unwrap_err().to_string().contains("several datagrams"));
        assert!(alone(&cloud, ethernet, Packets::Large).unwrap_err().to_string().contains("1.4 times"));
    }
}
