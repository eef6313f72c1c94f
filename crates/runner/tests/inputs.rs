//! A run says what its scenario was made from.

use chronoseal_catalog::Prepared;
use chronoseal_results::meta::FileMeta;
use chronoseal_results::{Engine, RunMeta};
use chronoseal_runner::describe;
use chronoseal_scenario::{FileError, Files, Scenario};

const TEXT: &str = r#"
schema_version = 2
name = "recorded"
duration = "100ms"
[segments.network.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
[[recordings]]
name = "wheel"
signal = { file = "drive.csv", name = "wheel_speed", unit = "m/s" }
[[nodes]]
name = "a"
[[nodes]]
name = "b"
[[streams]]
name = "speed"
from = "a"
to = ["b"]
period = "10ms"
length = "46B"
payload = { recording = "wheel" }
"#;

struct Drive(&'static str);

impl Files for Drive {
    fn read(&self, path: &str) -> Result<Vec<u8>, FileError> {
        if path == "drive.csv" { Ok(self.0.into()) } else { Err(FileError::Unknown) }
    }
}

const SLOW: &str = "time_us,name,value\n0,wheel_speed,1\n10000,wheel_speed,2\n";
const FAST: &str = "time_us,name,value\n0,wheel_speed,9\n10000,wheel_speed,8\n";

fn recorded(drive: &'static str) -> Scenario {
    let sets = [("seed".to_owned(), "3".to_owned())];
    Scenario::load("recorded.toml", TEXT.as_bytes(), &sets, &Drive(drive))
        .unwrap_or_else(|problems| panic!("{}", problems.render()))
}

fn described(scenario: &Scenario, engine: Engine) -> RunMeta {
    describe(&Prepared::new(&scenario.plan).expect("it fits"), engine)
}

#[test]
fn a_run_names_overrides_and_files_with_their_hashes() {
    let (slow, fast) = (described(&recorded(SLOW), Engine::Sim), described(&recorded(FAST), Engine::Sim));
    assert_ne!(slow.scenario_hash, fast.scenario_hash);
    assert_eq!(slow.text_hash, fast.text_hash);
    assert_eq!(slow.overrides, [("seed".to_owned(), "3".to_owned())]);
    let [FileMeta { name, len, hash }] = &slow.files[..] else { panic!("{:?}", slow.files) };
    assert_eq!((name.as_str(), *len, hash.len()), ("drive.csv", SLOW.len() as u64, 32));
    assert_ne!(*hash, fast.files[0].hash);
    let live = described(&recorded(SLOW), Engine::Live);
    assert_eq!((live.scenario_hash, live.files), (slow.scenario_hash, slow.files));
}

#[test]
fn a_key_that_is_set_is_in_no_manifest_and_another_key_is_told_from_it() {
    let set = |key: &str| {
        let table = format!("{{ mac = {{ algorithm = \"cmac-aes-128\", tag = \"8B\", key = \"{key}\" }} }}");
        let mut plan = recorded(SLOW).plan;
        plan.inputs.overrides = vec![("protections.x".into(), table)];
        describe(&Prepared::new(&plan).expect("it fits"), Engine::Sim).overrides
    };
    let [one, other] = ["00112233445566778899aabbccddeeff", "ffeeddccbbaa99887766554433221100"].map(set);
    assert_eq!(one[0].0, "protections.x");
    assert!(!one[0].1.contains("0011223344") && one[0].1.starts_with("not shown"), "{one:?}");
    assert_ne!(one, other);
}
