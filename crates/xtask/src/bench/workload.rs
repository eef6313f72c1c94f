//! What two builds of ourselves are compared on, as commands that both understand.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use super::engine::{Engine, HMAC, TIMING};
use super::star;
use crate::{Failure, generate, process};

/// Something both builds do, and how much slower the later one may be.
#[derive(PartialEq, Debug)]
pub(super) struct Workload {
    /// As in `cargo xtask bench NAME`.
    bench: &'static str,
    pub(super) title: &'static str,
    /// The least median speed, as a multiple of the earlier build's.
    pub(super) speed_min: f64,
    kind: Kind,
}

#[derive(PartialEq, Debug)]
enum Kind {
    /// A star of ours for this long `[ms]`; an earlier build reads its older text.
    Star { scenario: &'static str, version_1: &'static str, simulated_ms: u64 },
    /// Members of a CAN bus agree on a key, this often.
    GroupKey { members: u32, repeat: u32 },
    /// Vehicles on the built-in highway with every policy, for this long `[s]`.
    Fleet { duration_s: u32 },
}

const WORKLOADS: [Workload; 4] = [
    Workload {
        bench: "star",
        title: "star, timing",
        speed_min: 0.97,
        kind: Kind::Star {
            scenario: TIMING,
            version_1: "crates/scenario/tests/version_1/star.toml",
            simulated_ms: 10_000,
        },
    },
    Workload {
        bench: "star",
        title: "star, HMAC-SHA-256",
        speed_min: 0.97,
        kind: Kind::Star {
            scenario: HMAC,
            version_1: "crates/scenario/tests/version_1/star-hmac.toml",
            simulated_ms: 2_000,
        },
    },
    Workload {
        bench: "group-key",
        title: "group key, 32 members",
        speed_min: 1.0 / 1.05,
        kind: Kind::GroupKey { members: 32, repeat: 10 },
    },
    Workload { bench: "fleet", title: "fleet", speed_min: 1.0 / 1.1, kind: Kind::Fleet { duration_s: 120 } },
];

/// What one run took, and what shows that it did the same as another.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Cost {
    /// User and system time `[s]`.
    pub(super) cpu_s: f64,
    pub(super) result: String,
}

impl Workload {
    /// Those of `cargo xtask bench NAME`.
    pub(super) fn named(name: &str) -> Vec<&'static Self> {
        const { &WORKLOADS }.iter().filter(|workload| workload.bench == name).collect()
    }

    /// The commands by which a build could do this, the one for today's scenario files first.
    pub(super) fn commands(&self, root: &Path, binary: &str) -> Result<Vec<Vec<String>>, Failure> {
        match self.kind {
            Kind::Star { scenario, version_1, simulated_ms } => {
                let engine = Engine::of_scenario(scenario).expect("its scenario is one of the engines'");
                let today = engine.words(binary, simulated_ms, &star::phases(root)?);
                let older = today.iter().map(|word| if word == scenario { version_1.to_owned() } else { word.clone() });
                let older = older.collect();
                Ok(vec![today, older])
            }
            Kind::GroupKey { members, repeat } => [2, 1]
                .into_iter()
                .map(|version| {
                    let file = scratch(root, &format!("group-key-{version}.toml"), &group_key(members, version))?;
                    let repeat = repeat.to_string();
                    let words = [binary, "run", &file, "--no-store", "--repeat", &repeat, "--format", "json"];
                    Ok(words.map(str::to_owned).to_vec())
                })
                .collect(),
            Kind::Fleet { duration_s } => {
                let duration = duration_s.to_string();
                let words = [binary, "v2x", "fleet", "--runs", "1", "--duration", &duration, "--format", "json"];
                Ok(vec![words.map(str::to_owned).to_vec()])
            }
        }
    }

    /// Runs a command of this workload once.
    pub(super) fn run(&self, root: &Path, words: &[String]) -> Result<Cost, Failure> {
        let borrowed: Vec<&str> = words.iter().map(String::as_str).collect();
        let before_s = children_cpu_s()?;
        let text = process::output(root, &borrowed)?;
        let taken_s = children_cpu_s()? - before_s;
        let cost = match self.kind {
            Kind::Star { .. } | Kind::GroupKey { .. } => Cost::of_runs(&text),
            Kind::Fleet { .. } => Cost::of_fleet(taken_s, &text),
        };
        cost.map_err(|reason| Failure::because(format!("`{}`: {reason}", words.join(" "))))
    }
}

impl Cost {
    /// Of the objects that `chronoseal run --format json` prints, one a run. Repeated runs print an array of them; earlier
    /// builds printed one behind the other.
    fn of_runs(text: &str) -> Result<Self, String> {
        let mut runs = Vec::new();
        for value in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
            match value.map_err(|error| format!("prints something that is no JSON: {error}"))? {
                Value::Array(values) => runs.extend(values),
                value => runs.push(value),
            }
        }
        let mut cost = Self { cpu_s: 0.0, result: String::new() };
        for value in runs {
            cost.cpu_s += value["cpu_s"].as_f64().ok_or("prints no number `cpu_s`")?;
            cost.result += value["fingerprint"].as_str().ok_or("prints no text `fingerprint`")?;
        }
        if cost.cpu_s > 0.0 { Ok(cost) } else { Err("reports no processor time".into()) }
    }

    /// Of the document that `chronoseal v2x fleet` prints. Its subtitle says what was simulated: road, traffic and trips.
    /// What became of the pseudonyms depends on the stations, which may have changed between two builds.
    fn of_fleet(cpu_s: f64, text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| format!("prints no JSON object: {error}"))?;
        let result = value["subtitle"].as_str().ok_or("prints no text `subtitle`")?.into();
        Ok(Self { cpu_s, result })
    }
}

/// Processor time of all processes that this one has waited for `[s]`, in steps of 10 ms.
fn children_cpu_s() -> Result<f64, Failure> {
    let text = std::fs::read_to_string("/proc/self/stat")
        .map_err(|error| Failure::because(format!("cannot read /proc/self/stat: {error}")))?;
    waited_s(&text).ok_or_else(|| Failure::because("/proc/self/stat has not the fields of proc(5)"))
}

/// `cutime` and `cstime` of `proc(5)`, which count hundredths of a second.
fn waited_s(stat: &str) -> Option<f64> {
    let (_, behind_name) = stat.rsplit_once(')')?;
    let mut fields = behind_name.split_whitespace().skip(13).map(|field| field.parse::<f64>().ok());
    Some((fields.next()?? + fields.next()??) / 100.0)
}

/// Writes a file beside the builds and returns its path.
fn scratch(root: &Path, name: &str, text: &str) -> Result<String, Failure> {
    let folder = generate::target_folder(root)?.join("xtask-bench");
    let path = folder.join(name);
    std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(&path, text))
        .map_err(|error| Failure::because(format!("cannot write {}: {error}", path.display())))?;
    Ok(path.to_string_lossy().into_owned())
}

/// An exchange like that of `crates/sim/benches/group_key.rs`, in the words of a version of the scenario format. It is that of
/// the profile as published, whose bytes are the source's and so those of every build.
fn group_key(members: u32, version: u32) -> String {
    let (bus, keys) =
        if version == 1 { ("network.can_bus", "group_key") } else { ("segments.bus.can", "keys.bus.group") };
    let mut text = format!(
        "schema_version = {version}\nname = \"group\"\nduration = \"20s\"\n\n\
         [{bus}]\nbit_rate = \"1Mbit/s\"\ndata_bit_rate = \"2Mbit/s\"\n\n\
         [{keys}]\norchestrator = \"soecu\"\nsuite = \"fourq\"\nscheme = \"full-tree\"\nprofile = \"as-published\"\ninstallation = \"confirmed\"\n\
         start = \"0s\"\n\n[[platforms]]\nname = \"tc297\"\nbuiltin = \"tc297\"\ncosts = [{{ operation = \"cmac-aes-128\", base = \"0s\" }}]\n"
    );
    let members = (1..=members).map(|number| format!("ecu{number}"));
    for name in std::iter::once("soecu".to_owned()).chain(members) {
        let _ = write!(text, "\n[[nodes]]\nname = \"{name}\"\nplatform = \"tc297\"\nclock = \"ideal\"\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_workload_has_a_name_and_files_that_are_there() {
        let root = crate::workspace_root();
        assert_eq!(Workload::named("star").len(), 2);
        assert!(Workload::named("moon").is_empty());
        for workload in &WORKLOADS {
            let commands = workload.commands(&root, "/bin/true").unwrap();
            for words in &commands {
                assert_eq!(words[0], "/bin/true");
                let files = words.iter().filter(|word| word.ends_with(".toml"));
                assert!(files.clone().all(|file| root.join(file).exists()), "{words:?}");
                assert_eq!(files.count(), usize::from(workload.bench != "fleet"), "{words:?}");
            }
            assert!(commands.windows(2).all(|pair| pair[0] != pair[1]), "{commands:?}");
        }
    }

    #[test]
    fn times_and_fingerprints_of_repeated_runs_are_taken_together() {
        let text = "{\"cpu_s\": 0.5, \"fingerprint\": \"a\"}\n{\"cpu_s\": 0.25, \"fingerprint\": \"b\"}\n";
        let array = format!("[{}]", text.trim_end().replace('\n', ","));
        for text in [text, &array] {
            assert_eq!(Cost::of_runs(text), Ok(Cost { cpu_s: 0.75, result: "ab".into() }));
        }
        for text in ["", "{}", "[]", "[1]", "{\"cpu_s\": 1}", "{\"cpu_s\": 0, \"fingerprint\": \"a\"}", "text"] {
            assert!(Cost::of_runs(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_fleet_is_known_by_its_traffic() {
        let cost = Cost { cpu_s: 1.0, result: "99 trips".into() };
        assert_eq!(Cost::of_fleet(1.0, r#"{"subtitle": "99 trips", "sections": []}"#), Ok(cost));
        assert!(Cost::of_fleet(1.0, "{}").is_err() && Cost::of_fleet(1.0, "text").is_err());
    }

    #[test]
    fn time_of_children_is_that_of_proc_5() {
        let stat = "7 (a) b) S 1 2 3 4 5 6 7 8 9 10 11 12 250 50 20 0";
        assert_eq!(waited_s(stat), Some(3.0));
        assert_eq!(waited_s("7 (a) S 1 2"), None);
        let before_s = children_cpu_s().unwrap();
        let words = ["sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"];
        process::output(Path::new("/"), &words).unwrap();
        assert!(children_cpu_s().unwrap() > before_s);
    }
}
