//! Time and memory at checkpoints, and events in files that take turns.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use chronoseal_v2x::types::{HashedId8, Time64};

use super::VssError;
use crate::private::close_to_others;

/// Upper ends of the classes of a histogram: powers of two from 1 us to 2 s `[ns]`.
const CLASSES: [u64; 22] = {
    let mut classes = [0; 22];
    let mut index = 0;
    while index < 22 {
        classes[index] = 1000 << index;
        index += 1;
    }
    classes
};

/// How long something took, each time.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    counts: [u64; CLASSES.len() + 1],
    sum_ns: u64,
    max_ns: u64,
}

impl Histogram {
    fn add(&mut self, took_ns: u64) {
        let class = CLASSES.partition_point(|end| *end < took_ns);
        self.counts[class] += 1;
        self.sum_ns = self.sum_ns.saturating_add(took_ns);
        self.max_ns = self.max_ns.max(took_ns);
    }

    /// How often.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// All times together `[ns]`.
    pub fn sum_ns(&self) -> u64 {
        self.sum_ns
    }

    /// The longest `[ns]`.
    pub fn max_ns(&self) -> u64 {
        self.max_ns
    }
}

/// What the process held in memory when a checkpoint was left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// The last time `[byte]`.
    pub last: u64,
    /// At most `[byte]`.
    pub max: u64,
}

/// What a station has done.
#[derive(Debug, Default)]
pub struct Statistics {
    is_on: bool,
    measures_memory: bool,
    memory: BTreeMap<&'static str, Memory>,
    checkpoints: BTreeMap<&'static str, Histogram>,
    properties: BTreeMap<&'static str, &'static str>,
    counters: BTreeMap<(&'static str, String), u64>,
    gauges: BTreeMap<&'static str, u64>,
}

impl Statistics {
    /// Measures time if `is_on`, and memory too if `measures_memory`; counts anyway.
    pub fn new(is_on: bool, measures_memory: bool) -> Self {
        Self { is_on, measures_memory: is_on && measures_memory, ..Self::default() }
    }

    /// A part of something took this long.
    pub fn time(&mut self, name: &'static str, took_ns: u64) {
        if self.is_on {
            self.checkpoints.entry(name).or_default().add(took_ns);
        }
    }

    /// Something took this long and is done: what the process holds in memory now is written down beside it.
    pub fn checkpoint(&mut self, name: &'static str, took_ns: u64) {
        self.time(name, took_ns);
        if self.measures_memory
            && let Some(bytes) = memory_len()
        {
            let memory = self.memory.entry(name).or_default();
            *memory = Memory { last: bytes, max: bytes.max(memory.max) };
        }
    }

    /// What the process held at a checkpoint; none if that is not measured, or it was never passed.
    pub fn memory(&self, name: &'static str) -> Option<Memory> {
        self.memory.get(name).copied()
    }

    /// Something happened, of this kind.
    pub fn count(&mut self, name: &'static str, kind: &str) {
        match self.counters.get_mut(&(name, kind.to_owned())) {
            Some(count) => *count += 1,
            None => drop(self.counters.insert((name, kind.to_owned()), 1)),
        }
    }

    /// Something that does not change while the station runs: a label of `chronoseal_vss_info`.
    pub fn property(&mut self, name: &'static str, value: &'static str) {
        self.properties.insert(name, value);
    }

    /// Something is this much now.
    pub fn gauge(&mut self, name: &'static str, value: u64) {
        self.gauges.insert(name, value);
    }

    /// How often it happened.
    pub fn counted(&self, name: &'static str, kind: &str) -> u64 {
        self.counters.get(&(name, kind.to_owned())).copied().unwrap_or(0)
    }

    /// A checkpoint's times.
    pub fn histogram(&self, name: &str) -> Option<&Histogram> {
        self.checkpoints.get(name)
    }

    /// Everything in the text format of Prometheus.
    pub fn prometheus(&self) -> String {
        let mut text = String::new();
        if !self.properties.is_empty() {
            let labels: Vec<String> =
                self.properties.iter().map(|(name, value)| format!("{name}=\"{value}\"")).collect();
            let _ = writeln!(text, "# TYPE chronoseal_vss_info gauge\nchronoseal_vss_info{{{}}} 1", labels.join(","));
        }
        for (name, value) in &self.gauges {
            let _ = writeln!(text, "# TYPE chronoseal_vss_{name} gauge\nchronoseal_vss_{name} {value}");
        }
        let mut last = "";
        for ((name, kind), count) in &self.counters {
            if *name != last {
                let _ = writeln!(text, "# TYPE chronoseal_vss_{name}_total counter");
                last = name;
            }
            let _ = writeln!(text, "chronoseal_vss_{name}_total{{kind=\"{kind}\"}} {count}");
        }
        if !self.checkpoints.is_empty() {
            let _ = writeln!(text, "# TYPE chronoseal_vss_seconds histogram");
        }
        for (name, histogram) in &self.checkpoints {
            let mut so_far = 0;
            for (end_ns, count) in CLASSES.iter().zip(&histogram.counts) {
                so_far += count;
                let end_s = *end_ns as f64 / 1e9;
                let _ =
                    writeln!(text, "chronoseal_vss_seconds_bucket{{checkpoint=\"{name}\",le=\"{end_s}\"}} {so_far}");
            }
            let count = histogram.count();
            let _ = writeln!(text, "chronoseal_vss_seconds_bucket{{checkpoint=\"{name}\",le=\"+Inf\"}} {count}");
            let sum_s = histogram.sum_ns as f64 / 1e9;
            let _ = writeln!(text, "chronoseal_vss_seconds_sum{{checkpoint=\"{name}\"}} {sum_s}");
            let _ = writeln!(text, "chronoseal_vss_seconds_count{{checkpoint=\"{name}\"}} {count}");
        }
        if !self.memory.is_empty() {
            let _ = writeln!(text, "# TYPE chronoseal_vss_checkpoint_memory_bytes gauge");
        }
        for (name, Memory { last, max }) in &self.memory {
            for (kind, bytes) in [("last", last), ("max", max)] {
                let _ = writeln!(
                    text,
                    "chronoseal_vss_checkpoint_memory_bytes{{checkpoint=\"{name}\",kind=\"{kind}\"}} {bytes}"
                );
            }
        }
        if let Some(bytes) = memory_len() {
            let _ = writeln!(text, "# TYPE chronoseal_vss_memory_bytes gauge\nchronoseal_vss_memory_bytes {bytes}");
        }
        text
    }
}

/// What a station writes down of what it does.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) statistics: Statistics,
    pub(super) log: Option<EventLog>,
    /// Certificates of this station, those it used up since it was started among them.
    pub(super) own: BTreeSet<HashedId8>,
    /// Whether the log names them.
    pub(super) names_own: bool,
    /// Whether each result has a line in the log.
    pub(super) tells_results: bool,
}

impl Record {
    /// What the log adds about a certificate of this station.
    pub(super) fn name_of(&self, own: HashedId8) -> String {
        if self.names_own { format!(" ({own})") } else { String::new() }
    }

    /// The line of a result, if each has one: `createSignature: success`.
    pub(super) fn result(&mut self, now: Time64, service: &str, result: &str) {
        if self.tells_results {
            self.note(now, &format!("{service}: {result}"));
        }
    }

    /// A line in the log. A disk that is full does not stop the station: it is counted.
    pub(super) fn note(&mut self, now: Time64, text: &str) {
        if let Some(log) = &mut self.log
            && log.line(&format!("{} {text}", now.0)).is_err()
        {
            self.statistics.count("log_lines", "lost");
        }
    }
}

/// Memory this process holds in the machine `[byte]`, where the kernel says.
pub fn memory_len() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split(' ').nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

/// A log in one file that grows, or in files 1..N that take turns.
#[derive(Debug)]
pub struct EventLog {
    base: PathBuf,
    circular: Option<u32>,
    file_len_max: u64,
    number: u32,
    len: u64,
    file: File,
}

impl EventLog {
    /// Opens the log. Circular files start with the one after the newest that is there.
    ///
    /// # Errors
    /// [`VssError::Io`].
    pub fn open(base: &Path, circular: Option<u32>, file_len_max: u64) -> Result<Self, VssError> {
        let number = circular.map_or(0, |count| newest(base, count) % count.max(1) + 1);
        let file = open(base, circular.map(|_| number), circular.is_some())?;
        let len = file.metadata().map_or(0, |metadata| metadata.len());
        Ok(Self { base: base.to_owned(), circular, file_len_max, number, len, file })
    }

    /// Appends a line.
    ///
    /// # Errors
    /// [`VssError::Io`]; the line is lost then, and nothing else.
    pub fn line(&mut self, line: &str) -> Result<(), VssError> {
        if let Some(count) = self.circular
            && self.len >= self.file_len_max
        {
            let number = self.number % count + 1;
            self.file = open(&self.base, Some(number), true)?;
            (self.number, self.len) = (number, 0);
        }
        let text = format!("{line}\n");
        self.file.write_all(text.as_bytes()).map_err(|error| VssError::io(&self.base, error))?;
        self.len += text.len() as u64;
        Ok(())
    }
}

fn name_of(base: &Path, number: Option<u32>) -> PathBuf {
    number.map_or_else(
        || base.to_owned(),
        |number| {
            let mut name = base.as_os_str().to_owned();
            name.push(format!(".{number}"));
            name.into()
        },
    )
}

fn open(base: &Path, number: Option<u32>, anew: bool) -> Result<File, VssError> {
    let name = name_of(base, number);
    let mut options = OpenOptions::new();
    options.create(true);
    if anew {
        options.write(true).truncate(true)
    } else {
        options.append(true)
    };
    // What a station saw and did is its owner's business.
    let opened = options.mode(0o600).open(&name).and_then(|file| close_to_others(&file).map(|()| file));
    opened.map_err(|error| VssError::io(&name, error))
}

/// Number of the newest of the circular files; 0 if there is none.
fn newest(base: &Path, count: u32) -> u32 {
    let changed = |number: &u32| std::fs::metadata(name_of(base, Some(*number))).and_then(|data| data.modified()).ok();
    (1..=count).filter(|number| changed(number).is_some()).max_by_key(changed).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circular_files_take_turns() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().join("logging");
        let mut log = EventLog::open(&base, Some(3), 10).unwrap();
        for number in 0..8 {
            log.line(&format!("line {number}")).unwrap();
        }
        let read = |number| std::fs::read_to_string(name_of(&base, Some(number))).unwrap();
        assert_eq!([read(1), read(2), read(3)], ["line 6\nline 7\n", "line 2\nline 3\n", "line 4\nline 5\n"]);
        assert!(!base.exists());
    }

    #[test]
    fn a_plain_log_grows_over_restarts() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().join("log");
        for word in ["one", "two"] {
            EventLog::open(&base, None, 1).unwrap().line(word).unwrap();
        }
        assert_eq!(std::fs::read_to_string(&base).unwrap(), "one\ntwo\n");
    }

    #[test]
    fn classes_and_sums_add_up() {
        let mut statistics = Statistics::new(true, false);
        for took_ns in [1, 1000, 1001, 5_000_000_000] {
            statistics.checkpoint("sign", took_ns);
        }
        let histogram = statistics.histogram("sign").unwrap();
        assert_eq!((histogram.count(), histogram.max_ns()), (4, 5_000_000_000));
        let text = statistics.prometheus();
        assert!(text.contains("chronoseal_vss_seconds_bucket{checkpoint=\"sign\",le=\"0.000001\"} 2\n"), "{text}");
        assert!(text.contains("chronoseal_vss_seconds_bucket{checkpoint=\"sign\",le=\"+Inf\"} 4\n"));
        let mut off = Statistics::new(false, true);
        off.checkpoint("sign", 1);
        off.count("signatures", "made");
        off.property("lone", "aws-lc");
        off.property("batches", "lanes");
        assert!(off.prometheus().contains("\nchronoseal_vss_info{batches=\"lanes\",lone=\"aws-lc\"} 1\n"));
        assert!(off.histogram("sign").is_none());
        assert_eq!((off.counted("signatures", "made"), off.counted("signatures", "refused")), (1, 0));
    }
}
