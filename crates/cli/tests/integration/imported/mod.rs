//! Two promises of every import. What a log or a capture becomes has, simulated, as many bytes a second of each class as the input; and
//! nothing that an importer assumes makes a network broken by itself.
//!
//! A class is an identifier on a bus, or what one stream of a capture is made of. What was seen is counted here once more, without the
//! importer. `cargo xtask corpus DIR` asks the same of every file below a folder, which `IMPORTED_CORPUS` names.

mod seen;
mod written;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use chronoseal_recordings::Recording;

use crate::integration::support::{Bench, project, scenario};
use seen::Class;

/// Frames of a class, below which its rate says little.
const FRAMES_MIN: u64 = 100;
/// What a simulated rate may differ by `[1]`.
const TOLERANCE: f64 = 0.1;
/// Frames that are simulated of one file at most.
const SIMULATED_MAX: f64 = 200_000.0;
/// Distances of a class that are simulated at least, for one frame more or less to be no matter.
const DISTANCES_MIN: f64 = 25.0;

/// What came of all files.
#[derive(Default, Debug)]
struct Counts {
    imported: usize,
    /// How `check` ended.
    words: BTreeMap<i32, usize>,
    /// Classes of enough frames, whose rates were compared.
    compared: usize,
    /// Such classes that are replayed, and were compared frame by frame.
    recorded: usize,
    /// Such classes that a warning says are not in the scenario.
    left_out: usize,
    /// Logs that were replayed.
    replayed: usize,
    violations: Vec<String>,
}

impl Counts {
    /// Imports a file, if it is one that is imported, and keeps what is wrong with it.
    fn take(&mut self, path: &Path) {
        let bench = Bench::new();
        let file = path.display().to_string();
        let import = bench.say(&["scenario", "from", &file, "--out", "mine.toml"]);
        if import.code != Some(0) {
            return;
        }
        self.imported += 1;
        let text = std::fs::read_to_string(bench.path("mine.toml")).unwrap();
        let mut wrong = Vec::new();
        let check = bench.say(&["check", "mine.toml", "--quiet"]);
        *self.words.entry(check.code.unwrap_or(-1)).or_default() += 1;
        if !matches!(check.code, Some(0 | 3)) {
            wrong.push(format!("check ends with {:?}: {}", check.code, check.err.trim()));
        }
        let bytes = std::fs::read(path).unwrap();
        let bytes = chronoseal_recordings::unpacked(&bytes).unwrap();
        let recording = chronoseal_recordings::read(&bytes).or_else(|error| match error.read.frames.len() {
            0 => Err(error),
            _ => Ok(*error.read),
        });
        let is_ethernet = text.contains(".ethernet]");
        let classes = match &recording {
            Ok(recording) if !is_ethernet => seen::on_buses(recording, &text),
            _ if is_ethernet => seen::on_links(&bytes),
            _ => BTreeMap::new(),
        };
        let judged: BTreeMap<String, Class> =
            classes.into_iter().filter(|(_, class)| class.frames >= FRAMES_MIN && class.span_ns() > 0).collect();
        if !judged.is_empty() {
            wrong.extend(self.compare(&bench, &text, &judged));
        }
        if let (Ok(recording), false) = (&recording, is_ethernet)
            && text.contains("To replay the recording itself")
        {
            self.replayed += 1;
            wrong.extend(replayed(&bench, &text, &file, recording));
        }
        self.violations.extend(wrong.into_iter().map(|what| format!("{file}: {what}")));
    }

    /// Simulates a scenario, and gives the classes whose rates differ from those seen.
    fn compare(&mut self, bench: &Bench, text: &str, judged: &BTreeMap<String, Class>) -> Vec<String> {
        let written = written::streams(text);
        let own_s = written::seconds(text.lines().find_map(|line| line.strip_prefix("duration = ")).unwrap());
        let of_class =
            |key: &str| -> Vec<&written::Stream> { written.iter().filter(|stream| stream.key == key).collect() };
        let of_streams = judged.keys().flat_map(|key| of_class(key)).filter(|stream| !stream.is_recording);
        let slowest_s = of_streams.map(|stream| stream.period_s).fold(0.0, f64::max);
        let frames_per_s: f64 = written.iter().map(|stream| stream.frames() as f64 / stream.period_s).sum();
        let duration_s = own_s.max(slowest_s * DISTANCES_MIN).min(SIMULATED_MAX / frames_per_s).max(1e-6);
        // In whole microseconds, so that it is a duration.
        let duration_s = (duration_s * 1e6).round() * 1e-6;
        let duration = format!("duration={:.0}us", duration_s * 1e6);
        let run = bench.json(&["run", "mine.toml", "--no-store", "--set", &duration]);
        let sent: BTreeMap<&str, u64> = (run["summary"]["streams"].as_array().unwrap().iter())
            .map(|stream| (stream["name"].as_str().unwrap(), stream["sent"].as_u64().unwrap()))
            .collect();
        let (mut wrong, length_ns) = (Vec::new(), length_ns(judged));
        for (key, class) in judged {
            let streams = of_class(key);
            if streams.is_empty() {
                if text.lines().any(|line| line.starts_with("# Warning: ") && line.contains(key.as_str())) {
                    self.left_out += 1;
                } else if !(text.contains("gptp") && key.contains("0x88f7")) {
                    wrong.push(format!(
                        "{key}: its {} frames are not in the scenario, and no warning says so",
                        class.frames
                    ));
                }
                continue;
            }
            if let [recording] = streams[..]
                && recording.is_recording
            {
                self.recorded += 1;
                wrong.extend(differs(class, recording, sent[&*recording.name], duration_s));
                continue;
            }
            self.compared += 1;
            let simulated: u64 =
                streams.iter().flat_map(|one| one.names().map(|name| one.frame_len() * sent[&*name])).sum();
            // A frame more or less of each.
            let slack: u64 = streams.iter().map(|one| one.frame_len() * one.count).sum();
            let (simulated, slack) = (simulated as f64 / duration_s, slack as f64 / duration_s);
            let (mut least, most) = class.bytes_per_s();
            // One that was there for a small part may be spread over all of it.
            if class.span_ns() * 20 < length_ns {
                least = least.min(class.bytes_over(length_ns));
            }
            if simulated + slack < least * (1.0 - TOLERANCE) || simulated - slack > most * (1.0 + TOLERANCE) {
                wrong.push(format!(
                    "{key}: {simulated:.1} B/s simulated of {}, {least:.1} to {most:.1} B/s seen in {} frames of {:.3} s",
                    streams[0].name,
                    class.frames,
                    class.span_ns() as f64 * 1e-9,
                ));
            }
        }
        wrong
    }
}

/// How a class that is replayed differs from what was seen, whose frames come once each, if a run is no longer than the capture; but
/// for what the clock of its sender may be off at the end.
fn differs(class: &Class, recording: &written::Stream, sent: u64, duration_s: f64) -> Option<String> {
    let seen = |share: f64| class.frames_within(class.times_ns().0, duration_s * share - recording.start_s);
    let is_cut = class.longest() > 1_514;
    let (least, most) = (seen(0.999), if is_cut { u64::MAX } else { seen(1.001) });
    let is_once = duration_s <= recording.period_s;
    (is_once && !(least..=most).contains(&sent))
        .then(|| format!("{}: {sent} frames replayed, {least} to {most} seen within {duration_s} s", recording.key))
}

/// From the first frame of all classes to the last `[ns]`.
fn length_ns(classes: &BTreeMap<String, Class>) -> u64 {
    let first = classes.values().map(|class| class.times_ns().0).min().unwrap_or(0);
    classes.values().map(|class| class.times_ns().1).max().unwrap_or(0) - first
}

/// Plays the recording itself, as a comment of the scenario says: each of its frames comes once.
fn replayed(bench: &Bench, text: &str, file: &str, recording: &Recording) -> Vec<String> {
    let duration = text.lines().find_map(|line| line.strip_prefix("# and `")?.split('`').next());
    let Some(duration) = duration else { return vec!["no comment says how long a replay is".into()] };
    let own = text.lines().find(|line| line.starts_with("duration = ")).unwrap();
    let bus: Vec<&str> = text.lines().take_while(|line| *line != "[[streams]]").collect();
    let bus = bus.join("\n").replace(own, duration);
    let bus = bus.replace("name = \"rest-bus\"", "name = \"rest-bus\"\nclock = \"ideal\"");
    let played = format!("name = \"recorded\"\ntraffic = {{ file = {file:?} }}\nfrom = \"rest-bus\"\n");
    bench.write("replayed.toml", format!("{bus}\n[[recordings]]\n{played}"));
    let run = bench.say(&["run", "replayed.toml", "--capture", "--out", "replayed", "--format", "json"]);
    if !matches!(run.code, Some(0 | 1 | 3)) {
        return vec![format!("its replay is refused: {}", run.err.trim())];
    }
    let run = run.json();
    let account = |what: &str| run["summary"]["streams"][0][what].as_u64().unwrap();
    let (sent, frames) = (account("sent"), recording.frames.len() as u64);
    if sent != frames {
        return vec![format!("replayed, {sent} frames of {frames} are sent")];
    }
    let capture = std::fs::read(bench.path("replayed/capture.pcapng")).unwrap();
    let count = |recording: &Recording| {
        let mut counts = BTreeMap::new();
        for recorded in &recording.frames {
            let entry: &mut (u64, u64) = counts.entry(recorded.frame.id()).or_default();
            *entry = (entry.0 + 1, entry.1 + recorded.frame.data().len() as u64);
        }
        counts
    };
    // What is still under way when the run ends has not been carried.
    let (seen, played) = (count(recording), count(&chronoseal_recordings::read(&capture).unwrap()));
    let carried: u64 = played.values().map(|(frames, _)| frames).sum();
    let is_more = |id, counted: &(u64, u64)| {
        seen.get(id).is_none_or(|seen: &(u64, u64)| counted.0 > seen.0 || counted.1 > seen.1)
    };
    let more = played.iter().filter(|(id, counted)| is_more(id, counted));
    let mut wrong: Vec<String> = more
        .map(|(id, counted)| format!("replayed, {:#x} has {counted:?}, recorded {:?}", id.raw(), seen.get(id)))
        .collect();
    let under_way = account("in_flight");
    if carried + under_way != frames {
        wrong.push(format!("replayed, {carried} of {frames} frames were carried, and {under_way} are under way"));
    }
    wrong
}

fn files_below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            files_below(&entry.path(), files);
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
}

/// Captures of runs: plain frames, MACsec, tags and copies of a redundant network, clocks.
const RUNS: [&str; 4] = ["first", "macsec", "noisy-mesh", "grandmasters"];

#[test]
fn what_is_imported_has_the_rates_that_were_seen_and_is_broken_by_no_assumption() {
    let mut files = Vec::new();
    let bench = Bench::new();
    match std::env::var_os("IMPORTED_CORPUS") {
        Some(folder) => files_below(Path::new(&folder), &mut files),
        None => {
            files_below(&project("data/can"), &mut files);
            files_below(&project("crates/recordings/tests/fixtures"), &mut files);
            // They have the same frames as logs of `data`.
            files.retain(|file| !file.ends_with("savvycan_busmaster.log") && !file.ends_with("css_vessel.mf4"));
            for name in RUNS {
                let run =
                    ["run", &scenario(&format!("{name}.toml")), "--capture", "--out", name, "--set", "duration=500ms"];
                assert!(matches!(bench.say(&run).code, Some(0 | 1)), "{name}");
                files.push(bench.path(name).join("capture.pcapng"));
            }
        }
    }
    files.sort();
    let mut counts = Counts::default();
    files.iter().for_each(|file| counts.take(file));
    let Counts { imported, words, compared, recorded, left_out, replayed, violations } = counts;
    println!(
        "{imported} imported, `check` ended with {words:?}; {compared} classes of {FRAMES_MIN} frames or more compared, and {recorded} \
         that are recordings, {left_out} left out with a warning; {replayed} logs replayed"
    );
    assert!(violations.is_empty(), "{} violations:\n{}", violations.len(), violations.join("\n"));
    assert!(imported >= 10 && compared > 0 && replayed > 0, "nothing was looked at");
}
