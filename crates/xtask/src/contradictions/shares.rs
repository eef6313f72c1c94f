//! How much of the language the scenarios use that were asked about.

use std::collections::BTreeMap;

use super::answers::Word;

/// Its name, and whether a text uses it.
type Feature = (&'static str, fn(&str) -> bool);

/// What a scenario can use, and how that is seen in its text.
const FEATURES: &[Feature] = &[
    ("tasks", |text| text.contains("tasks = ")),
    ("slots", |text| text.contains("\"time-triggered\"") || has_default_slots(text)),
    ("best effort", |text| text.contains("best_effort")),
    ("virtual links", |text| text.contains("rate_constrained")),
    ("frames above 1000 B", |text| lengths(text).any(|len| len > 1_000)),
    ("frames up to 64 B", |text| lengths(text).any(|len| len <= 64)),
    ("precision of 2 us or less", |text| small_precision(text)),
    ("drift", |text| ["drift = \"1", "drift = \"-1", "seeded"].iter().any(|part| text.contains(part))),
    ("driver jitter", |text| text.contains("driver = ")),
    ("forwarding jitter", |text| text.contains("forwarding_jitter")),
    ("a queue of its own length", |text| text.contains("queue_len_max")),
    ("tags", |text| text.contains("protection = ")),
    ("costs of tags", |text| text.contains("protection = ") && has_costs(text)),
    ("gateways", |text| text.contains("gateway = ")),
    ("several PDUs in a frame", |text| text.contains("collect = [{")),
    ("CAN", |text| text.contains(".can]") || text.contains("network.can_bus")),
    ("CAN-FD", |text| text.contains("fd-brs")),
    ("messages in several frames", |text| text.contains("segmented = ")),
    ("attacks that must do nothing", |text| text.contains("[[threats]]")),
    ("dispatch at once", |text| text.contains("\"immediate\"")),
    ("slots of each link", |text| text.contains("\"per-link\"")),
    ("several switches", |text| text.contains("switches = ")),
    ("host interfaces", |text| text.contains("host_interface = ")),
    ("applications with timers", |text| text.contains("application = ")),
    ("deadlines", |text| text.contains("deadline = ")),
    ("several beacons a cycle", |text| {
        text.contains("integration_cycle") && !text.contains("integration_cycle = \"10ms\"")
    }),
];

/// On Ethernet a stream that names no class has slots.
fn has_default_slots(text: &str) -> bool {
    (text.contains(".ethernet]") || text.contains("time_triggered_ethernet")) && !text.contains("best_effort")
}

fn has_costs(text: &str) -> bool {
    text.lines().any(|line| line.contains("base = ") && !line.contains("base = \"0ns\""))
}

fn lengths(text: &str) -> impl Iterator<Item = u64> {
    let values = text.lines().filter_map(|line| line.strip_prefix("length = \"").or(line.strip_prefix("frame = \"")));
    values.filter_map(|value| value.trim_end_matches("B\"").parse().ok())
}

fn small_precision(text: &str) -> bool {
    let mut values = text.lines().filter_map(|line| line.strip_prefix("precision = \"")?.strip_suffix("ns\""));
    values.any(|value| value.parse::<u64>().is_ok_and(|ns| ns <= 2_000))
}

/// Counts of scenarios, by what was said of them and what they use.
#[derive(Default)]
pub(super) struct Shares {
    words: BTreeMap<Word, u64>,
    /// Of those that hold.
    held: BTreeMap<usize, u64>,
}

impl Shares {
    pub(super) fn add(&mut self, text: &str, word: Word) {
        *self.words.entry(word).or_default() += 1;
        if word == Word::Held {
            for (place, _) in FEATURES.iter().enumerate().filter(|(_, (_, uses))| uses(text)) {
                *self.held.entry(place).or_default() += 1;
            }
        }
    }

    /// Scenarios that were accepted.
    pub(super) fn asked(&self) -> u64 {
        self.words.iter().filter(|(word, _)| **word != Word::Refused).map(|(_, count)| count).sum()
    }

    /// What was asked about, for people.
    pub(super) fn table(&self) -> String {
        let count = |word| self.words.get(&word).copied().unwrap_or(0);
        let share = |part: u64, whole: u64| 100.0 * part as f64 / whole.max(1) as f64;
        let asked = self.asked();
        let mut text = format!("{asked} scenarios, and {} that do not fit or are refused\n", count(Word::Refused));
        for (word, name) in [(Word::Held, "HELD"), (Word::Broken, "BROKEN"), (Word::NotBounded, "NOT BOUNDED")] {
            text += &format!("  {:5.1} %  {name}\n", share(count(word), asked));
        }
        text += "of those that are HELD on paper, so many have\n";
        for (place, (name, _)) in FEATURES.iter().enumerate() {
            let part = share(self.held.get(&place).copied().unwrap_or(0), count(Word::Held));
            text += &format!("  {part:5.1} %  {name}\n");
        }
        text.pop();
        text
    }
}
