//! What attacks come to, as tables.

use std::collections::BTreeMap;

use chronoseal_report::{Cell, Evidence, Mark, Table};

use crate::{Adapter, Answer, Attack, Configuration, LATE_UNDER_ATTACK, Measured};

/// Of an attack that did harm.
const NO_WORD: &str = "it left no word";
/// Of one that did none.
const UNKNOWN: &str = "the attack's program left no word: nobody knows whether it got as far as to attack";

/// An attack on a configuration, and what came of it.
#[derive(Clone, Debug)]
pub struct Trial<'a> {
    /// Which attack.
    pub attack: &'a Attack,
    /// On which configuration.
    pub configuration: &'a Configuration,
    /// The pair under attack.
    pub answer: Answer,
}

/// What a stranger reads of messages, if its program says that it does: `N messages read`.
pub(crate) fn read_by(attacker: &str) -> Option<u64> {
    let words: Vec<&str> = attacker.split([' ', ',']).collect();
    let place = words.windows(2).position(|pair| pair == ["messages", "read"])?;
    words.get(place.checked_sub(1)?)?.parse().ok()
}

/// How many attacks were tried, and how many of them did harm. One whose program left no word was not tried, as far as anybody knows.
pub fn harmed(trials: &[Trial<'_>]) -> (usize, usize) {
    let tried = trials.iter().filter_map(|trial| match &trial.answer {
        Answer::Measured(measured) => Some(measured).filter(|one| one.attacker.is_some() || one.harm() > 0),
        Answer::Not(_) => None,
    });
    tried.fold((0, 0), |(tried, harmed), one| (tried + 1, harmed + usize::from(one.harm() > 0)))
}

/// The table of attacks, by configuration. What came of a message under attack is not told apart from what would have come of it anyway:
/// on a link that loses nothing, all of it is the attack's.
pub fn attacked(trials: &[Trial<'_>]) -> Table {
    let mut table = Table::new("What attacks come to, by configuration")
        .words("configuration")
        .words("security")
        .words("attack")
        .words("threat")
        .numbers("forged, accepted", "")
        .numbers("taken twice", "")
        .numbers("read by the stranger", "")
        .numbers("genuine lost", "")
        .numbers("genuine late", "")
        .numbers("genuine due", "")
        .words("the stranger's own words")
        .footnote(
            format!("Forged: messages that the subscriber took for genuine and its publisher had not sent. Taken twice: came once more. Genuine lost: were not sent, \
             or had not come when a later one did or a second was over, in a run on a link that loses and delays nothing. Genuine late: came, and more than \
             {LATE_UNDER_ATTACK} after they were due."),
        );
    for trial in trials {
        let mut row = vec![
            trial.configuration.cell(),
            Cell::text(&trial.configuration.security),
            Cell::text(&trial.attack.name).titled(&trial.attack.title),
            Cell::text(&trial.attack.threat),
        ];
        match &trial.answer {
            Answer::Not(why) => row.extend((0..7).map(|_| Cell::na(why.as_str()))),
            Answer::Measured(measured) => {
                let Some(said) = measured.attacker.as_deref().or((measured.harm() > 0).then_some(NO_WORD)) else {
                    row.extend((0..7).map(|_| Cell::na(UNKNOWN)));
                    table.push(row);
                    continue;
                };
                let count = |value: u64| {
                    let mark = if value > 0 { Mark::Bad } else { Mark::Good };
                    Cell::count(value).from(Evidence::Measured).marked(mark)
                };
                row.push(count(measured.forged));
                row.push(count(measured.repeated));
                row.push(read_by(said).map_or_else(|| Cell::na("the attack reads nothing, or does not say"), count));
                row.push(match &measured.trouble {
                    Some(trouble) => count(measured.gone()).marked(Mark::Bad).titled(trouble),
                    None => count(measured.gone()),
                });
                row.push(count(measured.came_late));
                row.push(Cell::count(measured.due).from(Evidence::Measured));
                row.push(Cell::text(said));
            }
        }
        table.push(row);
    }
    table
}

/// The same as one cell for each attack on each configuration, with those that do not apply and why.
pub fn attack_matrix<'a>(
    configurations: impl Iterator<Item = (&'a Adapter, &'a Configuration)>,
    known: &[Attack],
    trials: &[Trial<'_>],
) -> Table {
    let found: BTreeMap<(&str, &str), &Answer> = trials
        .iter()
        .map(|trial| ((trial.attack.name.as_str(), trial.configuration.name.as_str()), &trial.answer))
        .collect();
    let mut table = Table::new("Every attack on every configuration").words("configuration").words("security");
    for attack in known {
        table = table.words(&attack.name);
    }
    table = table.footnote(
        "Messages of those that were due: forged and accepted, taken twice, read by the stranger, lost, late. *None*: the attack was tried, and nothing of it is \
         seen.",
    );
    for attack in known.iter().filter(|attack| is_without_defence(attack, trials)) {
        table = table.footnote(format!(
            "No defence against {}: it did harm to each configuration that it was tried on here.",
            attack.name
        ));
    }
    for (adapter, configuration) in configurations {
        let mut row = vec![configuration.cell(), Cell::text(&configuration.security)];
        row.extend(known.iter().map(|attack| match attack.why_not(adapter, configuration) {
            Some(why) => Cell::na(format!("not applicable: {why}")),
            None => match found.get(&(attack.name.as_str(), configuration.name.as_str())) {
                None => Cell::na("it was not asked for"),
                Some(Answer::Not(why)) => Cell::na(why.as_str()),
                Some(Answer::Measured(measured)) => in_short(measured),
            },
        }));
        table.push(row);
    }
    table
}

/// It was tried on configurations with security and without, and each came to harm.
fn is_without_defence(attack: &Attack, trials: &[Trial<'_>]) -> bool {
    let harms =
        trials.iter().filter(|trial| trial.attack.name == attack.name).filter_map(|trial| match &trial.answer {
            Answer::Measured(measured) if measured.attacker.is_some() || measured.harm() > 0 => {
                Some((trial.configuration.security == "none", measured.harm()))
            }
            Answer::Measured(_) | Answer::Not(_) => None,
        });
    let harms: Vec<(bool, u64)> = harms.collect();
    let is_tried_on = |plain: bool| harms.iter().any(|(is_plain, _)| *is_plain == plain);
    is_tried_on(true) && is_tried_on(false) && harms.iter().all(|(_, harm)| *harm > 0)
}

fn in_short(measured: &Measured) -> Cell {
    let Some(said) = measured.attacker.as_deref().or((measured.harm() > 0).then_some(NO_WORD)) else {
        return Cell::na(UNKNOWN);
    };
    let counts = [
        (measured.forged, "forged"),
        (measured.repeated, "twice"),
        (read_by(said).unwrap_or(0), "read"),
        (measured.gone(), "lost"),
        (measured.came_late, "late"),
    ];
    let mut words: Vec<String> =
        counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    words.extend(measured.trouble.as_ref().map(|_| "a program failed".to_owned()));
    let (text, mark) = match words.is_empty() {
        true => (format!("none of {}", measured.due), Mark::Good),
        false => (format!("{} of {}", words.join(", "), measured.due), Mark::Bad),
    };
    Cell::text(text).from(Evidence::Measured).marked(mark).titled(measured.trouble.as_deref().unwrap_or(said))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn each_attack_on_each_configuration_has_counts_or_a_reason() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../adapters/middleware");
        let (known, all) = (crate::attacks(&folder).unwrap(), crate::adapters(&folder).unwrap());
        let of = |name: &str| known.iter().find(|attack| attack.name == name).unwrap();
        let every: Vec<_> =
            all.iter().flat_map(|adapter| adapter.configurations.iter().map(move |one| (adapter, one))).collect();
        let one = |name: &str| every.iter().find(|(_, one)| one.name == name).unwrap().1;
        let delayed = Measured {
            due: 9,
            came: 9,
            came_late: 7,
            attacker: Some("9 packets held back".into()),
            ..Measured::default()
        };
        let unharmed =
            Measured { due: 9, came: 9, attacker: Some("listen: 0 messages read".into()), ..Measured::default() };
        let trial = |attack, configuration, measured: &Measured| Trial {
            attack: of(attack),
            configuration: one(configuration),
            answer: Answer::Measured(Box::new(measured.clone())),
        };
        let trials = [
            trial("delay", "raw-udp", &delayed),
            trial("delay", "raw-tls", &delayed),
            trial("listen", "raw-tls", &unharmed),
            trial("listen", "raw-udp", &Measured::default()),
        ];
        let table = attack_matrix(every.iter().copied(), &known, &trials);
        assert_eq!((table.rows.len(), table.columns.len()), (every.len(), 2 + known.len()));
        let cell = |attack: &str, configuration: &str| {
            let row = every.iter().position(|(_, one)| one.name == configuration).unwrap();
            let column = 2 + known.iter().position(|known| known.name == attack).unwrap();
            let cell = &table.rows[row][column];
            (cell.text.clone(), cell.title.clone())
        };
        assert_eq!(cell("delay", "raw-udp").0, "7 late of 9");
        assert_eq!(cell("listen", "raw-tls").0, "none of 9");
        assert_eq!(cell("listen", "raw-udp").1, UNKNOWN);
        assert_eq!(cell("forge", "raw-udp").1, "it was not asked for");
        assert_eq!(cell("ros-read", "raw-udp").1, "not applicable: it is an attack on ros1");
        assert_eq!(cell("forge-insider", "raw-udp").1, "not applicable: nobody has keys here, so nobody is an insider");
        let notes = table.footnotes.join(" ");
        assert!(notes.contains("No defence against delay:") && !notes.contains("against listen"), "{notes}");
        assert_eq!(cell("insert", "raw-udp").1, "not applicable: its messages do not go over TCP");
    }

    #[test]
    fn what_a_stranger_read_is_counted_from_its_words() {
        assert_eq!(read_by("listen: 12 messages read, exit status 0"), Some(12));
        assert_eq!(read_by("120 messages read, of type sensor_msgs/LaserScan"), Some(120));
        assert_eq!(read_by("forge: 3 messages sent, exit status 0"), None);
        assert_eq!(read_by("messages read"), None);
    }
}
