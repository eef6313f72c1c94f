//! What the latency of a message is made of: sockets and kernel, serialization, the middleware, its cryptography, the network.

use chronoseal_report::{Cell, Evidence, Table};

use crate::cost::cell;
use crate::{Adapter, Configuration, REPETITIONS_MIN, Repetitions, plain_of};

const FOOTNOTE: &str = "Sockets and kernel: plain sockets of the transport that the configuration has. Serialization: what the same without security took to make a message \
    of the bytes that all adapters hand over and to take it apart, by its adapter's own stamps around that code in the same runs, the sum of the medians at both ends. Middleware: the \
    same without security, less plain sockets and serialization; where its library serializes within its own calls, that is in it. Cryptography: less the same without security. Each is \
    the mean of the differences of medians in each round, with Student's interval of 95 %; one with zero in it shows no share. A share below zero is a faster way, not a gain of time.";

/// The plain sockets that a configuration is held against, by what it listens on.
fn sockets_of(configuration: &Configuration) -> Option<&'static str> {
    match configuration.listens.first()?.split(' ').next()? {
        "tcp" => Some("raw-tcp"),
        "udp" | "rtps" => Some("raw-udp"),
        _ => None,
    }
}

/// The table of shares for `what`: repetitions where the network takes no time, and over a network, if it is about one. `None` if there are not
/// enough repetitions of anything, or nothing to hold against.
pub fn shares<'a>(
    what: &str,
    chosen: impl Iterator<Item = (&'a Adapter, &'a Configuration)>,
    local: &Repetitions,
    network: Option<&Repetitions>,
) -> Option<Table> {
    let mut table = Table::new(format!("What latency is made of: {what}"))
        .words("configuration")
        .words("sockets")
        .numbers("rounds", "")
        .numbers("sockets and kernel", "us")
        .numbers("serialization", "us")
        .numbers("middleware", "us")
        .numbers("cryptography", "us");
    table = table.footnote(FOOTNOTE);
    if network.is_some() {
        table = table.numbers("network", "us").footnote("Network: less the same over localhost, in the same round.");
    }
    for (adapter, configuration) in chosen {
        let own = local.medians(&configuration.name);
        if own.len() < REPETITIONS_MIN {
            continue;
        }
        let mut row = vec![configuration.cell()];
        let Some(sockets) = sockets_of(configuration) else {
            row.extend(
                (0..6 + usize::from(network.is_some())).map(|_| Cell::na("it has no sockets to hold it against")),
            );
            table.push(row);
            continue;
        };
        let is_secured = configuration.security != "none";
        let plain = plain_of(adapter, configuration).or((!is_secured).then_some(configuration));
        row.push(Cell::text(sockets));
        row.push(Cell::count(own.len() as u64).from(Evidence::Measured));
        row.push(cell(&local.medians(sockets), 1e-3, 1));
        row.extend(match plain {
            Some(plain) if plain.name == sockets => {
                [Cell::na("plain sockets send the bytes as they are"), Cell::na("it is plain sockets itself")]
            }
            Some(plain) => middleware(local, &plain.name, sockets),
            None => [0; 2].map(|_| Cell::na("it has no form without security")),
        });
        row.push(match plain {
            Some(plain) if is_secured => cell(&local.beyond(&configuration.name, &plain.name), 1e-3, 1),
            Some(_) => Cell::na("it has no security"),
            None => Cell::na("it has no form without security"),
        });
        row.extend(network.map(|network| cell(&network.beyond_that_of(local, &configuration.name), 1e-3, 1)));
        table.push(row);
    }
    (!table.rows.is_empty()).then_some(table)
}

/// What serialization and the rest of a middleware take, by a configuration without security.
fn middleware(local: &Repetitions, plain: &str, sockets: &str) -> [Cell; 2] {
    let serialization = local.serializations(plain);
    match serialization.is_empty() {
        true => [
            Cell::na("its library serializes within its own calls: it is in the share of the middleware"),
            cell(&local.beyond(plain, sockets), 1e-3, 1),
        ],
        false => [cell(&serialization, 1e-3, 1), cell(&local.beyond_unserialized(plain, sockets), 1e-3, 1)],
    }
}

#[cfg(test)]
mod tests {
    use chronoseal_results::Distribution;

    use super::*;
    use crate::{Measured, adapters};

    /// Rounds in which the host takes a different time each, the same of all.
    fn repetitions(medians_us: &[(&str, i64)]) -> Repetitions {
        let mut repetitions = Repetitions::default();
        for round in 0..REPETITIONS_MIN {
            for (name, us) in medians_us {
                let mut latencies = vec![(us + 50 * round as i64 + (us + round as i64) % 2) * 1_000; 100];
                let latency = Distribution::of(&mut latencies);
                // Fast DDS says what it takes, a little more in each round.
                let serialization_ns = name.starts_with("fast-dds").then_some(20_000 + 2 * round as u64);
                repetitions.add(name, round, &Measured { latency, serialization_ns, ..Measured::default() });
            }
        }
        repetitions
    }

    #[test]
    fn shares_are_differences_within_rounds_and_name_what_they_are_not() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../adapters/middleware");
        let all = adapters(&folder).unwrap();
        let chosen = || all.iter().flat_map(|adapter| adapter.configurations.iter().map(move |one| (adapter, one)));
        let medians = [
            ("raw-udp", 100),
            ("fast-dds-reliable", 150),
            ("fast-dds-reliable-encrypted", 190),
            ("cyclone-dds-reliable", 130),
            ("sealed-udp", 110),
        ];
        let local = repetitions(&medians);
        let network = repetitions(&medians.map(|(name, us)| (name, us + 300)));
        let table = shares("laser", chosen(), &local, Some(&network)).unwrap();
        let row = |name: &str| table.rows.iter().find(|row| row[0].text == name).unwrap();
        let begin = |name: &str, place: usize| row(name)[place].text.split(' ').next().unwrap_or_default().to_owned();
        let encrypted = ["fast-dds-reliable-encrypted", "raw-udp", "10"];
        assert_eq!([0, 1, 2].map(|place| row(encrypted[0])[place].text.clone()), encrypted);
        assert_eq!([4, 5, 6, 7].map(|place| begin(encrypted[0], place)), ["20.0", "30.0", "40.0", "300.0"]);
        let said = |name: &str, place: usize| format!("{:?}", row(name)[place]);
        assert!(said("cyclone-dds-reliable", 4).contains("within its own calls"));
        assert_eq!(begin("cyclone-dds-reliable", 5), "30.0");
        assert!(said("fast-dds-reliable", 6).contains("it has no security"));
        assert!(said("raw-udp", 4).contains("as they are") && said("raw-udp", 5).contains("plain sockets itself"));
        assert!(said("sealed-udp", 4).contains("no form without security"));
        assert_eq!(table.rows.len(), medians.len());
        assert!(shares("laser", chosen(), &Repetitions::default(), None).is_none());
    }
}
