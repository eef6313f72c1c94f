//! How much of the language the scenarios use that were asked about.

use std::collections::{BTreeMap, BTreeSet};

use super::answers::Word;

/// Something that a scenario can use.
struct Feature {
    name: &'static str,
    /// Whether a text uses it.
    is_in: fn(&str) -> bool,
    /// Why no scenario with it is ever HELD, if that is so.
    never: Option<&'static str>,
}

const fn feature(name: &'static str, is_in: fn(&str) -> bool) -> Feature {
    Feature { name, is_in, never: None }
}

const fn never(name: &'static str, is_in: fn(&str) -> bool, why: &'static str) -> Feature {
    Feature { name, is_in, never: Some(why) }
}

/// What a scenario can use, and how that is seen in its text.
const FEATURES: &[Feature] = &[
    feature("tasks", |text| text.contains("tasks = ")),
    feature("slots", |text| text.contains("\"time-triggered\"") || has_default_slots(text)),
    feature("best effort", |text| text.contains("best_effort")),
    feature("virtual links", |text| text.contains("rate_constrained")),
    feature("sub-virtual links", |text| text.contains("sub_virtual_link_of = ")),
    feature("frames above 1000 B", |text| lengths(text).any(|len| len > 1_000)),
    feature("messages longer than a frame", |text| lengths(text).any(|len| len > 1_500)),
    feature("messages longer than a frame in slots", |text| {
        by_stream(text).any(|stream| stream.contains("\"time-triggered\"") && lengths(stream).any(|len| len > 1_500))
    }),
    feature("messages longer than a frame in slots over networks A and B", |text| {
        let is_one = |stream: &str| {
            stream.contains("\"time-triggered\"")
                && !stream.contains("networks = [")
                && lengths(stream).any(|len| len > 1_500)
        };
        text.contains("\nnetworks = {") && by_stream(text).any(is_one)
    }),
    feature("messages longer than a frame that are changed or repeated on a link", |text| {
        text.contains("name = \"changer\"")
    }),
    feature("messages longer than a frame with copies", |text| {
        by_stream(text).any(|stream| stream.contains("replication = ") && lengths(stream).any(|len| len > 1_500))
    }),
    feature("messages longer than a frame in shared virtual links", |text| {
        let leads = |stream: &str| {
            let name = stream.split("name = ").nth(1).and_then(|rest| rest.lines().next()).unwrap_or_default();
            !name.is_empty() && text.contains(&format!("sub_virtual_link_of = {name}"))
        };
        by_stream(text).any(|stream| {
            (stream.contains("sub_virtual_link_of = ") || leads(stream)) && lengths(stream).any(|len| len > 1_500)
        })
    }),
    feature("frames up to 64 B", |text| lengths(text).any(|len| len <= 64)),
    feature("precision of 2 us or less", small_precision),
    feature("drift", |text| ["drift = \"1", "drift = \"-1", "seeded"].iter().any(|part| text.contains(part))),
    feature("driver jitter", |text| text.contains("driver = ")),
    feature("forwarding jitter", |text| text.contains("forwarding_jitter")),
    feature("a queue of its own length", |text| has_line(text, "queue_len_max")),
    feature("tags", |text| text.contains("protection = ")),
    feature("costs of tags", |text| text.contains("protection = ") && has_costs(text)),
    feature("tags of other algorithms or freshness", |text| {
        ["\"cmac\"", "\"rising\"", "\"wide\"", "\"replayable\"", "\"cycle\""].iter().any(|name| text.contains(name))
    }),
    feature("bytes instead of a tag, or a protection `none`", |text| {
        ["\"sized\"", "\"bare\""].iter().any(|name| text.contains(name))
    }),
    feature("SecOC profiles 2 and 3", |text| text.contains("\"second\"") || text.contains("\"third\"")),
    feature("gateways", |text| text.contains("gateway = ")),
    feature("gateways written down (`via`)", |text| text.contains("via = ")),
    feature("several PDUs in a frame", |text| text.contains("collect = [{")),
    feature("several PDUs in a frame of a virtual link, or with copies", |text| {
        let entries = text.split("collect = [{").skip(1).filter_map(|rest| rest.lines().next());
        let is_numbered = ["rate_constrained", "replication = ", "sub_virtual_link_of = "];
        entries.into_iter().any(|entry| is_numbered.iter().any(|key| entry.contains(key)))
    }),
    feature("several PDUs in a frame of a virtual link that streams share", |text| {
        let entries = text.split("collect = [{").skip(1).filter_map(|rest| rest.lines().next());
        entries.into_iter().any(|entry| entry.contains("sub_virtual_link_of = "))
    }),
    feature("CAN", |text| text.contains(".can]") || text.contains("network.can_bus")),
    feature("CAN-FD", |text| text.contains("\"fd-brs\"") || text.contains("\"fd\"")),
    feature("CAN-FD at one bit rate", |text| text.contains("\"fd\"")),
    feature("identifiers of 29 bits", |text| text.contains("extended = true")),
    feature("mailboxes in order", |text| text.contains("mailboxes = \"fifo\"")),
    feature("sample points of their own", |text| has_line(text, "sample_point")),
    feature("messages in several frames", |text| text.contains("segmented = ")),
    feature("their waits (N_Bs, N_Cr)", |text| text.contains("n_cr = ")),
    feature("recorded frames", |text| text.contains("\"raw\"")),
    feature("attacks that must do nothing", |text| text.contains("[[threats]]")),
    feature("dispatch at once", |text| text.contains("\"immediate\"")),
    feature("frames in slots that wait for others", |text| text.contains("\"shuffling\"")),
    feature("frames in slots that cut off others", |text| text.contains("integration_policy = \"preemption\"")),
    feature("slots that are kept free", |text| {
        text.contains("\"time-triggered\"")
            && !["\"shuffling\"", "\"preemption\""].iter().any(|policy| text.contains(policy))
    }),
    feature("slots of each link", |text| text.contains("\"per-link\"")),
    feature("several switches", |text| switches(text) > 1),
    feature("rings of switches", has_ring),
    feature("host interfaces", |text| text.contains("host_interface = ")),
    feature("applications with timers", |text| text.contains("application = ")),
    feature("deadlines", |text| text.contains("deadline = ")),
    feature("deadlines of each receiver", |text| text.contains("deadline = {")),
    feature("deadlines of age", |text| text.contains("deadline_kind")),
    feature("several beacons a cycle", |text| {
        text.contains("integration_cycle") && !text.contains("integration_cycle = \"10ms\"")
    }),
    feature("several streams alike", |text| text.contains("\ncount = ") && streams_alike(text)),
    feature("a class of the segment", |text| has_line(text, "class = ")),
    feature("identifiers of virtual links", |text| text.contains("ct_id = ") || text.contains("sync_id = ")),
    feature("lengths and charges of policing", |text| text.contains("lmax = ") || text.contains("policing = ")),
    feature("a limit of the beacon's way", |text| text.contains("max_transmission_delay = ")),
    feature("a switch that listens", |text| text.contains("sniffing_switch")),
    feature("counted frames without bytes", |text| text.contains("fidelity = \"timing\"")),
    feature("candidates", |text| text.contains("candidates = ")),
    feature("allowances", |text| text.contains("[[allowances]]")),
    feature("ports of 802.1Q", has_ports),
    feature("VLAN tags", |text| text.contains("vlan = ")),
    feature("credit-based shapers", |text| text.contains("credit_based = ")),
    feature("asynchronous shapers", |text| text.contains("shaper = \"asynchronous\"")),
    feature("buckets of their own", |text| text.contains("committed = ")),
    feature("gates", |text| text.contains("gates = ")),
    feature("preemption", |text| text.contains("preemptable = true")),
    feature("queues of classes", |text| {
        has_ports(text) && text.contains(", queue_len_max") || text.contains("class = 0, queue_len_max")
    }),
    feature("classes of priorities", |text| text.contains("traffic_classes = ") || text.contains("priorities = ")),
    feature("ports of stations", |text| text.contains("station_ports = ")),
    feature("ports of one link", |text| text.contains(", ports = { ")),
    feature("frames that gateways pass on whole", |text| text.contains("bridges = ")),
    feature("recorded traffic", |text| text.contains("traffic = ")),
    feature("recorded payloads", |text| text.contains("payload = ")),
    feature("streams sent on change", |text| text.contains("on_change = ")),
    feature("links that fail", |text| text.contains("failures = ")),
    feature("networks A and B", |text| text.contains("\nnetworks = {")),
    feature("clusters of AS6802 over networks A and B", |text| {
        text.contains("as6802 = ") && text.contains("\nnetworks = {")
    }),
    feature("host interfaces behind networks A and B", |text| {
        text.contains("host_interface = ") && text.contains("\nnetworks = {")
    }),
    feature("a largest skew of copies", |text| text.contains("skew_max = ")),
    feature("802.1CB replication", |text| text.contains("replication = {")),
    feature("clusters of AS6802", |text| text.contains("as6802 = ")),
    feature("slots by the clocks of a cluster", |text| {
        text.contains("as6802 = ") && text.contains("\"time-triggered\"")
    }),
    feature("802.1CB elimination in switches", |text| text.contains("eliminate_at = ")),
    feature("MACsec", |text| text.contains("macsec = {")),
    feature("802.1Qci filters", |text| text.contains("stream_filters = ")),
    feature("802.1Qci gates", |text| text.contains("stream_gates = ")),
    feature("802.1Qci meters", |text| text.contains("flow_meters = ")),
    feature("floods", |text| text.contains("kind = \"flood\"")),
    feature("delays on a link", |text| text.contains("kind = { delay = ")),
    feature("classes in the segment's table", |text| text.contains("\nclasses = [")),
    feature("counters of trips and resets (`[freshness]`)", |text| text.contains("[freshness]")),
    never("babbling stations", |text| text.contains("kind = \"babble\""), "nothing bounds what else they send"),
    never("radio", |text| text.contains(".radio]"), "nothing on the air can be promised on paper"),
    never(
        "clocks of IEEE 802.1AS",
        |text| text.contains("gptp = "),
        "nothing bounds on paper how far apart they are; some of the streams beside them are",
    ),
    never(
        "clocks of IEEE 802.1AS over networks A and B",
        |text| text.contains("gptp = ") && text.contains("\nnetworks = {"),
        "messages that stations relay are counted by nothing on paper",
    ),
    never(
        "slots by the clocks of IEEE 802.1AS",
        |text| text.contains("gptp = ") && text.contains("\"time-triggered\""),
        "nothing bounds on paper how far apart these clocks are",
    ),
    never(
        "attacks on links whose messages are stamped",
        |text| text.contains("gptp = ") && text.contains("\nat = { link = "),
        "nothing bounds such clocks on whose links somebody attacks",
    ),
    never(
        "attacks in slots by such clocks, or by those of a cluster",
        |text| {
            let mut tables = text.split("\n[[").filter(|table| table.starts_with("threats]]"));
            let is_made = text.contains("gptp = ") || text.contains("as6802 = ");
            let in_slot = ["kind = \"spoof\"", "kind = \"replay\""];
            is_made
                && tables.any(|table| table.contains("segment = ") && in_slot.iter().any(|kind| table.contains(kind)))
        },
        "nothing bounds clocks that somebody attacks, whatever he does",
    ),
    never(
        "group keys",
        |text| text.contains(".group]"),
        "but where no stream meets an exchange: nothing bounds its frames and signatures",
    ),
    never("merged nodes", |text| text.contains("merge = "), "as group keys"),
    never("nodes thrown out", |text| text.contains("revoke = ") || text.contains("remove = "), "as group keys"),
    never(
        "held preemption",
        |text| text.contains("hold = true"),
        "but where nothing is preempted: how often a hold cuts is not counted",
    ),
    never(
        "gate lists that are replaced",
        |text| text.contains("admin = "),
        "but where streams have an offset and find their gates open under either list: what else waits there is not bounded",
    ),
    never(
        "credit-based shapers under gate lists that are replaced",
        |text| text.lines().any(|line| line.contains("credit_based = ") && line.contains("admin = ")),
        "but where nothing that has to hold leaves there, or it finds its gates open under either list without a shaper",
    ),
    never(
        "frames lost by noise",
        |text| text.contains("frame_losses = "),
        "but where streams have a way without: nothing bounds what noise takes",
    ),
    feature("gateways that receive what they forward", |text| {
        let gateways = text.split("\n[[").filter(|table| table.starts_with("nodes]]") && table.contains("gateway = "));
        let names: Vec<&str> = gateways.filter_map(|table| table.split('"').nth(1)).collect();
        let is_named = |line: &str| names.iter().any(|name| line.contains(&format!("\"{name}\"")));
        text.lines().any(|line| line.starts_with("to = [") && is_named(line))
    }),
    never(
        "recordings on a slow bus",
        is_full,
        "but where it has room for them: a replayed recording has no period of its own",
    ),
    never(
        "senders whose processor has no time for them",
        |text| {
            text.contains("wcet = \"5000us\"")
                || text.contains("base = \"9000000ns\"")
                || text.contains("base = \"30000000ns\"")
        },
        "but where they are asked for little: what they send may never leave",
    ),
    never(
        "gateways that start anew",
        |text| text.contains("reboot = "),
        "but where nothing crosses them: what they hold is lost",
    ),
];

/// True for a line of a table of its own that begins so.
fn has_line(text: &str, key: &str) -> bool {
    text.lines().any(|line| line.starts_with(key))
}

/// A recording is played on a bus that it nearly fills.
fn is_full(text: &str) -> bool {
    let is_slow = ["100kbit/s", "125kbit/s"].iter().any(|rate| text.contains(&format!("bit_rate = \"{rate}\"")));
    is_slow && text.contains("traffic = {")
}

fn has_ports(text: &str) -> bool {
    has_line(text, "bridge_ports") || has_line(text, "station_ports") || text.contains(", ports = { ")
}

/// The switches of the segment that has most.
fn switches(text: &str) -> usize {
    let lists = text.lines().filter_map(|line| line.strip_prefix("switches = ["));
    lists.map(|list| list.split(',').count()).max().unwrap_or(0)
}

/// As many links between switches of one segment as it has switches; what hangs from them for a failure alone is none.
fn has_ring(text: &str) -> bool {
    text.split("\nlinks = [\n").skip(1).any(|links| {
        let links = links.lines().take_while(|line| *line != "]").filter(|line| !line.contains("w9\""));
        let ends = links.filter_map(|line| Some((line.split('"').nth(1)?, line.split('"').nth(3)?)));
        let trunks: Vec<(&str, &str)> =
            ends.filter(|(one, other)| one.starts_with('s') && other.starts_with('s')).collect();
        let switches: BTreeSet<&str> = trunks.iter().flat_map(|(one, other)| [*one, *other]).collect();
        trunks.len() > 2 && trunks.len() >= switches.len()
    })
}

/// A `count` that is no attack's.
fn streams_alike(text: &str) -> bool {
    let tables = text.split("\n[[").filter(|table| table.starts_with("streams]]"));
    tables.into_iter().any(|table| table.contains("\ncount = "))
}

/// On Ethernet a stream that names no class has slots.
fn has_default_slots(text: &str) -> bool {
    (text.contains(".ethernet]") || text.contains("time_triggered_ethernet")) && !text.contains("best_effort")
}

fn has_costs(text: &str) -> bool {
    text.lines().any(|line| line.contains("base = ") && !line.contains("base = \"0ns\""))
}

/// The table of each stream.
fn by_stream(text: &str) -> impl Iterator<Item = &str> {
    text.split("[[").filter(|table| table.starts_with("streams]]"))
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
    /// Of those that were accepted, by feature.
    accepted: BTreeMap<usize, u64>,
    /// Of those that hold.
    held: BTreeMap<usize, u64>,
    /// Scenarios of which some streams hold and others do not.
    held_in_part: u64,
}

impl Shares {
    pub(super) fn add(&mut self, text: &str, word: Word) {
        *self.words.entry(word).or_default() += 1;
        if word == Word::Refused {
            return;
        }
        for (place, _) in FEATURES.iter().enumerate().filter(|(_, feature)| (feature.is_in)(text)) {
            *self.accepted.entry(place).or_default() += 1;
            if word == Word::Held {
                *self.held.entry(place).or_default() += 1;
            }
        }
    }

    /// Some streams of a scenario hold that does not, and were simulated.
    pub(super) const fn add_part(&mut self) {
        self.held_in_part += 1;
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
        for (word, name) in [
            (Word::Held, "HELD"),
            (Word::NotChecked, "NOT CHECKED"),
            (Word::NotProven, "NOT PROVEN"),
            (Word::Broken, "BROKEN"),
        ] {
            text += &format!("  {:5.1} %  {name}\n", share(count(word), asked));
        }
        let of = |counts: &BTreeMap<usize, u64>, place: usize| counts.get(&place).copied().unwrap_or(0);
        text += &format!("  {:5.1} %  not HELD, but some of their streams are\n", share(self.held_in_part, asked));
        text += "of those that are HELD on paper, so many have\n";
        for (place, feature) in FEATURES.iter().enumerate().filter(|(_, feature)| feature.never.is_none()) {
            text += &format!("  {:5.1} %  {}\n", share(of(&self.held, place), count(Word::Held)), feature.name);
        }
        text += "not HELD by design, and drawn all the same\n";
        for (place, feature) in FEATURES.iter().enumerate() {
            let Some(why) = feature.never else { continue };
            let (accepted, held) = (of(&self.accepted, place), of(&self.held, place));
            text += &format!("  {:5.1} %  {}, {held} HELD: {why}\n", share(accepted, asked), feature.name);
        }
        text.pop();
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoseal_random_networks::{Network, Scope};

    #[test]
    fn every_feature_of_the_table_is_drawn_and_every_scenario_is_toml() {
        let texts: Vec<String> = (0..1_500).map(|seed| Network::of(seed, Scope::Everything).text()).collect();
        // Each of them is as likely to be none as any other, and parsing takes longer than drawing.
        for text in texts.iter().step_by(10) {
            assert!(text.parse::<toml::Table>().is_ok(), "{text}");
        }
        for feature in FEATURES {
            assert!(texts.iter().any(|text| (feature.is_in)(text)), "{} is never drawn", feature.name);
        }
    }

    #[test]
    fn what_is_refused_counts_for_no_feature_and_what_holds_for_its_own() {
        let mut shares = Shares::default();
        for word in [Word::Held, Word::Held, Word::Broken, Word::Refused] {
            shares.add("tasks = [\nfailures = [", word);
        }
        shares.add("driver = {", Word::Held);
        shares.add("hold = true", Word::NotProven);
        let table = shares.table();
        assert!(table.contains("5 scenarios, and 1 that do not fit"), "{table}");
        assert!(table.contains("   66.7 %  tasks") && table.contains("   33.3 %  driver jitter"), "{table}");
        assert!(table.contains("   20.0 %  held preemption, 0 HELD"), "{table}");
    }
}
