//! A scenario to begin with, from what a user already has: a table of streams or a capture of Ethernet, a recording or a
//! database of a CAN bus, an AUTOSAR system description.
//!
//! All give a TOML text with comments that say what was found and what was assumed. The text resolves as it is.

mod arxml;
mod can;
mod capture;
mod rows;
mod table;

use std::borrow::Cow;

use chronoseal_core::Duration;
use chronoseal_recordings::content::NotRead;

use crate::limits::{CLUSTER_CYCLE_MAX, HEADER_LEN, PERIOD_MIN, SLOTS_MAX};
use crate::load::{FileError, Files, NoFiles, load};
use crate::problem::{Code, Problem, Problems};

pub use arxml::from_description;
pub use can::{Database, from_database, from_databases, from_recording};
pub use capture::from_capture;
pub use table::from_csv;

/// What is made of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Imported {
    /// The scenario.
    pub text: String,
    /// Names and bytes of the recordings that have to lie beside it.
    pub recordings: Vec<(String, Vec<u8>)>,
}

impl Files for Imported {
    fn read(&self, path: &str) -> Result<Vec<u8>, FileError> {
        let known = self.recordings.iter().find(|(name, _)| name == path);
        known.map(|(_, bytes)| bytes.clone()).ok_or(FileError::Unknown)
    }
}

/// [`from_any`], with recordings of what no stream describes.
///
/// # Errors
/// As of [`from_any`].
pub fn with_recordings(source_name: &str, bytes: &[u8]) -> Result<Imported, Problems> {
    let bytes = &*unpacked(source_name, bytes)?;
    if is_ethernet_capture(bytes) {
        return capture::imported(source_name, bytes, true);
    }
    Ok(Imported { text: from_any(source_name, bytes)?, recordings: Vec::new() })
}

/// True for a capture that has no CAN frames.
fn is_ethernet_capture(bytes: &[u8]) -> bool {
    use chronoseal_recordings::Format;
    matches!(Format::detect(bytes), Some(Format::Pcap | Format::Pcapng))
        && !chronoseal_recordings::is_can_capture(bytes)
}

/// A scenario from whatever the bytes are, packed with gzip or not: a recording of a CAN bus, its database, an
/// AUTOSAR system description, a capture of Ethernet, or a table of streams. What they are is told from their content alone.
///
/// # Errors
/// As of the function for that kind; of anything else, what it seems to be and what is read.
pub fn from_any(source_name: &str, bytes: &[u8]) -> Result<String, Problems> {
    use chronoseal_recordings::{Format, content};
    let bytes = &*unpacked(source_name, bytes)?;
    match Format::detect(bytes) {
        Some(_) if is_ethernet_capture(bytes) => from_capture(source_name, bytes),
        Some(_) => from_recording(source_name, bytes),
        None if chronoseal_recordings::arxml::is_arxml(bytes) => from_description(source_name, bytes),
        None if chronoseal_recordings::is_database(bytes) => from_database(source_name, bytes),
        None if content::is_stream_table(bytes) => from_csv(source_name, bytes),
        None => Err(not_read(source_name, content::not_read(bytes, content::Purpose::Import))),
    }
}

/// What a file seems to be that is not read.
fn not_read(source_name: &str, NotRead { message, help }: NotRead) -> Problems {
    Problems::one(source_name, "", Problem::new(Code::ImportFormat, message).help(help))
}

/// What is in a file that may be packed with gzip.
fn unpacked<'a>(source_name: &str, bytes: &'a [u8]) -> Result<Cow<'a, [u8]>, Problems> {
    chronoseal_recordings::unpacked(bytes).map_err(|error| {
        let problem = Problem::new(Code::ImportFormat, error.to_string());
        Problems::one(source_name, "", problem.help("`gzip -t FILE` says whether it is whole"))
    })
}

/// A comment at the beginning of an imported scenario that begins so says what of the file is not in it.
const WARNING: &str = "Warning: ";

fn warning_line(warning: &str) -> String {
    format!("# {WARNING}{}.\n", warning.replace(char::is_control, " "))
}

/// What an imported scenario warns of: what of the file is not in it, and why.
pub fn warnings(imported: &str) -> impl Iterator<Item = &str> {
    let comments = imported.lines().map_while(|line| line.strip_prefix("# "));
    comments.filter_map(|comment| comment.strip_prefix(WARNING))
}

/// A stream to be written.
struct Found {
    name: String,
    from: String,
    to: Vec<String>,
    period: Duration,
    frame_len: u64,
    /// `None` is time-triggered.
    priority: Option<u8>,
    protection: String,
}

/// The protection a written scenario declares.
const PROTECTION: &str = "sha256-16";
/// The cluster cycle if nothing is time-triggered.
const CYCLE_WITHOUT_SLOTS: Duration = Duration::from_ms(10);

/// The shortest cluster cycle that every one of these periods divides, if there is one.
fn cluster_cycle(periods: impl Iterator<Item = Duration>) -> Option<Duration> {
    let mut cycle: Option<i64> = None;
    for period in periods.map(Duration::as_ps) {
        let so_far = cycle.unwrap_or(period);
        let multiple = i128::from(so_far) / i128::from(gcd(so_far, period)) * i128::from(period);
        cycle = Some(i64::try_from(multiple).ok().filter(|cycle| *cycle <= CLUSTER_CYCLE_MAX.as_ps())?);
    }
    Some(cycle.map_or(CYCLE_WITHOUT_SLOTS, Duration::from_ps))
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The text, if it resolves; what is wrong with it otherwise.
fn write(
    source_name: &str,
    about: &[String],
    nodes: &[String],
    found: &[Found],
    cycle: Duration,
) -> Result<String, Problems> {
    let quoted = |text: &str| toml_edit::Value::from(text).to_string();
    let mut text = String::new();
    for line in about {
        text += &format!("# {line}\n");
    }
    text += &format!(
        "# Assumed: rate, guard period and duration. Change them to yours.\n\n\
         schema_version = 2\n\
         name = {}\n\
         duration = \"2s\"\n\n\
         [segments.network.ethernet]\n\
         rate = \"100Mbit/s\"\n\
         cluster_cycle = \"{cycle}\"\n\
         guard_period = \"20us\"\n\n\
         [[protections]]\n\
         name = \"{PROTECTION}\"\n\
         hmac = {{ hash = \"sha-256\", tag = \"16B\", freshness = \"full\" }}\n",
        quoted(&plain_name(source_name)),
    );
    for node in nodes {
        text += &format!("\n[[nodes]]\nname = {}\n", quoted(node));
    }
    for stream in found {
        let to: Vec<String> = stream.to.iter().map(|name| quoted(name)).collect();
        let class = match stream.priority {
            None => String::new(),
            Some(priority) => format!("network = {{ class = {{ best_effort = {{ priority = {priority} }} }} }}\n"),
        };
        text += &format!(
            "\n[[streams]]\nname = {}\nfrom = {}\nto = [{}]\nperiod = \"{}\"\nlength = \"{}B\"\n\
             protection = {}\n{class}",
            quoted(&stream.name),
            quoted(&stream.from),
            to.join(", "),
            stream.period,
            stream.frame_len.saturating_sub(u64::from(HEADER_LEN)),
            quoted(&stream.protection),
        );
    }
    load(&format!("{source_name} (as a scenario)"), text.as_bytes(), &[], &NoFiles)?;
    Ok(text)
}

/// The file's name without folder and ending, in letters a scenario's name may have.
fn plain_name(source_name: &str) -> String {
    let file = source_name.rsplit(['/', '\\']).next().unwrap_or(source_name);
    let file = file.strip_suffix(".gz").unwrap_or(file);
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let plain: String = stem
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '-' })
        .take(40)
        .collect();
    let plain = plain.trim_matches(['-', '_']);
    if plain.is_empty() { "imported".into() } else { plain.into() }
}

/// No run of an imported scenario is longer, unless it is said.
const RUN_MAX: Duration = Duration::from_s(60);
/// Periods of its slowest stream that a run shows at least.
const PERIODS_MIN: i64 = 4;

/// How long something takes that was recorded once: up to its last frame, and the usual distance of two behind it.
fn recorded_length(length_ns: u64, frames: usize) -> Duration {
    let distance_ns = length_ns / (frames.saturating_sub(1)).max(1) as u64;
    Duration::from_ns(length_ns.saturating_add(distance_ns).min(100 * 86_400 * 1_000_000_000) as i64)
}

/// How long a run is: as long as what was recorded, in three digits, but long enough to see the slowest stream some times, and no longer
/// than anybody waits for.
fn run_length(recorded: Duration, slowest: Duration) -> Duration {
    let seen = slowest.checked_mul(PERIODS_MIN).unwrap_or(RUN_MAX);
    rounded_up(recorded.max(seen).clamp(PERIOD_MIN, RUN_MAX))
}

/// Three digits of a time, no less than it.
fn rounded_up(time: Duration) -> Duration {
    let ps = time.as_ps().unsigned_abs();
    let mut step = 1u64;
    while ps / step >= 1_000 {
        step *= 10;
    }
    Duration::from_ps(ps.div_ceil(step).saturating_mul(step).min(i64::MAX as u64) as i64)
}

/// The cluster cycle for time-triggered streams of these periods, if a schedule can hold them.
fn schedulable(periods: impl Iterator<Item = Duration> + Clone) -> Option<Duration> {
    let cycle = cluster_cycle(periods.clone())?;
    let slots: u64 = periods.map(|period| cycle.div_floor(period) as u64).sum();
    (slots <= SLOTS_MAX).then_some(cycle)
}
