//! How what a frame costs depends on the number of streams, and how much memory one takes that waits.

use std::fmt::Write as _;
use std::path::Path;

use super::engine::BUILD_OURS;
use super::scenario::Run;
use super::{load_average, measurement, ours, pin};
use crate::{Failure, TaskResult, generate, process};

/// How many streams share the same number of frames a second.
const STREAMS: [usize; 4] = [10, 100, 1_000, 10_000];
/// Around the switch; each sends to the next.
const HOSTS: usize = 10;
/// Simulated times after which the memory is looked at `[ms]`: what waits then differs, and nothing else.
const WAITING_MS: [u64; 2] = [100, 600];
/// Room for the bytes of a frame, as `chronoseal_core::node::FRAME_LEN_MAX` has it `[byte]`.
const FRAME_CAPACITY: u64 = 1568;

/// Prints both tables.
pub(super) fn run(root: &Path, runs: usize) -> TaskResult {
    process::output(root, BUILD_OURS)?;
    let folder = generate::target_folder(root)?.join("bench");
    std::fs::create_dir_all(&folder)
        .map_err(|error| Failure::because(format!("cannot make {}: {error}", folder.display())))?;
    let (chronoseal, pin, load) = (ours(root)?, pin(root), load_average());
    let simulate = |name: &str, text: &str| -> Result<(Run, u64), Failure> {
        let file = folder.join(format!("{name}.toml"));
        std::fs::write(&file, text)
            .map_err(|error| Failure::because(format!("cannot write {}: {error}", file.display())))?;
        let file = file.to_string_lossy();
        let words = [&chronoseal, "run", &file, "--engine", "sim", "--count", "--allow-unchecked", "--format", "json"];
        let words: Vec<&str> = pin.iter().map(String::as_str).chain(words).collect();
        let (text, peak) = process::output_and_peak_memory(root, &words)?;
        let run = Run::parse(&text).map_err(|reason| Failure::because(format!("`{}`: {reason}", words.join(" "))))?;
        Ok((run, peak))
    };

    let mut speeds = STREAMS.map(|_| Vec::new());
    // The first round warms caches and is not counted.
    for round in 0..=runs {
        for (count, speeds) in STREAMS.iter().zip(&mut speeds) {
            let (run, _) = simulate(&format!("streams-{count}"), &many_streams(*count))?;
            if round > 0 {
                speeds.push(run.frames_per_cpu_s());
            }
        }
    }
    let pinned = if pin.is_empty() { "NOT pinned" } else { "pinned to one processor" };
    println!("100,000 frames of 100 bytes a second, {pinned}; load average {load} before, {} after.\n", load_average());
    print!("{}", table(&speeds));

    let mut waiting = Vec::new();
    for ms in WAITING_MS {
        let (run, peak) = simulate("waiting", &too_much(ms))?;
        // Two frames a microsecond are sent.
        waiting.push(((2_000 * ms).saturating_sub(run.frames_delivered), peak));
    }
    println!("\n{}", memory(&waiting));
    Ok(())
}

/// A scenario in which `count` streams send 100,000 frames a second together.
fn many_streams(count: usize) -> String {
    let mut text = head("streams", "1s", "1MB");
    for host in 0..HOSTS {
        node(&mut text, &format!("host{host}"));
    }
    for host in 0..HOSTS {
        let _ = write!(
            text,
            "[[streams]]\nname = \"from{host}\"\ncount = {}\nfrom = \"host{host}\"\nto = [\"host{}\"]\nperiod = \"{}us\"\n\
             length = \"100B\"\n\n",
            count / HOSTS,
            (host + 1) % HOSTS,
            count * 10,
        );
    }
    text
}

/// A scenario in which more is sent than a link carries, and a queue has room for it.
fn too_much(duration_ms: u64) -> String {
    let mut text = head("waiting", &format!("{duration_ms}ms"), "1000MB");
    ["a", "b", "c"].iter().for_each(|name| node(&mut text, name));
    for from in ["a", "b"] {
        let _ = write!(
            text,
            "[[streams]]\nname = \"of {from}\"\nfrom = \"{from}\"\nto = [\"c\"]\nperiod = \"1us\"\nlength = \"64B\"\n\n"
        );
    }
    text
}

fn head(name: &str, duration: &str, queue: &str) -> String {
    format!(
        "schema_version = 2\nname = \"{name}\"\nduration = \"{duration}\"\nfidelity = \"timing\"\n\n\
         [segments.network.ethernet]\nrate = \"1Gbit/s\"\ncluster_cycle = \"100ms\"\nforwarding_delay = \"1us\"\n\
         sync = \"ideal\"\nqueue_len_max = \"{queue}\"\nclass = {{ best_effort = {{ priority = 0 }} }}\n\n"
    )
}

fn node(text: &mut String, name: &str) {
    let _ = write!(text, "[[nodes]]\nname = \"{name}\"\nclock = \"ideal\"\n\n");
}

fn table(speeds: &[Vec<f64>]) -> String {
    let medians: Vec<f64> = speeds.iter().map(|speeds| measurement::median(speeds)).collect();
    let mut text = "| streams | million frames/s of processor time, median | a frame takes, to one of the first row |\n|---:|---:|---:|\n"
        .to_owned();
    for (count, median) in STREAMS.iter().zip(&medians) {
        let _ = writeln!(text, "| {count} | {:.2} | {:.2} |", median / 1e6, medians[0] / median);
    }
    text
}

/// What one more frame takes, of (frames that wait, the most memory the process had `[byte]`).
fn memory(waiting: &[(u64, u64)]) -> String {
    let [(few, little), (many, much)] = waiting else { return String::new() };
    let each = much.saturating_sub(*little) / many.saturating_sub(*few).max(1);
    format!(
        "A frame that waits takes {each} bytes of memory, {} beside the {FRAME_CAPACITY} for its own ({few} and {many} frames waiting).",
        each.saturating_sub(FRAME_CAPACITY)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_sends_as_many_frames_a_second() {
        for count in STREAMS {
            let text = many_streams(count);
            assert!(text.contains(&format!("count = {}\n", count / HOSTS)), "{text}");
            assert!(text.contains(&format!("period = \"{}us\"", count * 10)), "{text}");
        }
    }

    #[test]
    fn tables_say_what_one_frame_takes() {
        let text = table(&[vec![4e6], vec![4e6], vec![2e6], vec![1e6]]);
        assert!(text.contains("| 1000 | 2.00 | 2.00 |\n| 10000 | 1.00 | 4.00 |"), "{text}");
        let text = memory(&[(1_000, 2_000_000), (11_000, 18_000_000)]);
        assert!(text.contains("1600 bytes of memory, 32 beside"), "{text}");
    }
}
