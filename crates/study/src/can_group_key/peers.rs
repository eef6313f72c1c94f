//! The baselines on the bus of the source: a key server that is executed, and the messages of MLS.

use chronoseal_core::{Duration, LocalTime, Node};
use chronoseal_groupkey::baseline::Removal;
use chronoseal_groupkey::baseline::key_server::{Client, Server};
use chronoseal_groupkey::baseline::mls::{Figures, Participant};

use super::on_bus::{REMOVAL_AT, Watched, run};
use crate::StudyError;

/// What an implementation of MLS took on a host of its own.
const MEASURED: &str = include_str!("../../../../studies/can-group-key/peers/mls.csv");

/// Who is thrown out of a group of three or more.
const REMOVAL: Removal = Removal { member: 1, at: LocalTime::from_ps(REMOVAL_AT.as_ps()) };

/// Executes a key server's group of `size` nodes, the server counted.
///
/// # Errors
/// [`StudyError`] if the bus cannot be made.
pub(super) fn key_server(size: u32, seed: u64) -> Result<Watched, StudyError> {
    let clients = size as u8 - 1;
    let server = Server::new(clients, (size > 2).then_some(REMOVAL), seed);
    let mut nodes: Vec<Box<dyn Node + Send>> = vec![Box::new(server)];
    nodes.extend((1..=clients).map(|number| Box::new(Client::new(number, seed)) as Box<dyn Node + Send>));
    run(nodes, seed)
}

/// What MLS takes for a group of every measured size.
pub(super) fn mls_figures() -> Vec<Figures> {
    let time = |us: f64| Duration::from_ns((us * 1000.0) as i64);
    MEASURED
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<Option<f64>> = line.split(',').map(|cell| cell.parse().ok()).collect();
            let number = |column: usize| cells.get(column).copied().flatten();
            let value = |column: usize| number(column).unwrap_or(0.0);
            Figures {
                size: value(0) as u32,
                key_package_len: value(1) as usize,
                key_package: time(value(2)),
                create: time(value(3)),
                welcome_len: value(4) as usize,
                join: time(value(5)),
                process: time(value(8)),
                removal: number(9).zip(number(10)).map(|(us, len)| (time(us), len as usize)),
            }
        })
        .collect()
}

/// Plays the messages of a group by MLS.
///
/// # Errors
/// [`StudyError`] if the bus cannot be made.
pub(super) fn mls(figures: Figures, seed: u64) -> Result<Watched, StudyError> {
    let participant = |number| Box::new(Participant::new(number, figures, Some(REMOVAL))) as Box<dyn Node + Send>;
    run((0..figures.size as u8).map(participant).collect(), seed)
}

#[cfg(test)]
mod tests {
    use chronoseal_core::NodeId;
    use chronoseal_groupkey::baseline::mls::SEGMENT_LEN;

    use super::*;

    const REMOVED: NodeId = NodeId(REMOVAL.member as u16);

    #[test]
    fn a_key_server_serves_everybody_and_all_but_the_removed_again() {
        for size in [2, 3, 8, 64] {
            let watched = key_server(size, 1).expect("the bus can be made");
            let others = u64::from(size) - 1;
            assert_eq!((watched.installed[&1].len() as u32, watched.refused), (size, 0));
            assert_eq!((watched.frames[0], watched.bytes[0]), (4 * others, (16 + 32 + 16 + 48) * others));
            let Some(renewed) = watched.installed.get(&2) else {
                assert_eq!(size, 2);
                continue;
            };
            assert!(!renewed.contains_key(&REMOVED) && renewed.len() as u32 == size - 1);
            assert_eq!(watched.frames[1], others - 1);
            assert!(watched.time(2) < watched.time(1), "{watched:?}");
        }
    }

    #[test]
    fn mls_of_every_size_is_on_the_bus_whole() {
        let rows = mls_figures();
        assert_eq!(rows.iter().map(|row| row.size).collect::<Vec<_>>(), [2, 4, 8, 16, 32, 64]);
        for row in rows.into_iter().filter(|row| row.size <= 16) {
            let watched = mls(row, 1).expect("the bus can be made");
            let others = row.size as usize - 1;
            let frames = others * row.key_package_len.div_ceil(SEGMENT_LEN) + row.welcome_len.div_ceil(SEGMENT_LEN);
            assert_eq!(watched.frames[0], frames as u64);
            assert_eq!(watched.installed[&1].len(), others + 1);
            assert!(watched.time(1) > Some(row.key_package + row.create + row.join), "the bus takes its time too");
            match row.removal {
                None => assert!(!watched.installed.contains_key(&2)),
                Some((time, len)) => {
                    assert_eq!(watched.frames[1], len.div_ceil(SEGMENT_LEN) as u64);
                    assert_eq!(watched.installed[&2].len(), others);
                    assert!(!watched.installed[&2].contains_key(&REMOVED));
                    assert!(watched.time(2) > Some(time + row.process));
                }
            }
        }
    }
}
