//! What a description of a run says for people.

use chronoseal_results::{Engine, FileMeta, RunMeta, StreamMeta};

use crate::sample;

#[test]
fn a_way_names_its_ends_until_they_are_too_many_to_read() {
    let meta = sample::meta();
    let way = |senders, receivers: Vec<u16>| meta.way_of(&StreamMeta { senders, receivers, ..meta.streams[0].clone() });
    assert_eq!(way(None, vec![1]), "ecu1 \u{2192} ecu2");
    assert_eq!(way(Some((0, 2)), vec![1]), "any of backbone \u{2192} ecu2");
    assert_eq!(way(Some((0, 1)), vec![1]), "ecu1 \u{2192} ecu2", "the only one");
    let eight = way(None, vec![1; 8]);
    assert_eq!(eight.matches("ecu2").count(), 8, "{eight}");
    assert_eq!(way(None, vec![1; 9]), "ecu1 \u{2192} ecu2, ecu2, ecu2 and 6 others");
}

#[test]
fn what_was_simulated_is_never_called_measured() {
    let said = [Engine::Sim, Engine::Live].map(|engine| (engine.name(), engine.evidence()));
    assert_eq!(said, [("sim", "simulated"), ("live", "measured")]);
}

#[test]
fn a_manifest_names_files_and_overrides_and_an_old_one_without_them_still_opens() {
    let files = vec![FileMeta { name: "drive.csv".into(), len: 72, hash: "1e".into() }];
    let overrides = vec![("seed".to_owned(), "2".to_owned())];
    let meta = RunMeta { text_hash: "0f".into(), overrides, files, ..sample::meta() };
    let mut written = serde_json::to_value(&meta).unwrap();
    assert_eq!(written["files"], serde_json::json!([{ "name": "drive.csv", "len": 72, "hash": "1e" }]));
    assert_eq!(written["overrides"], serde_json::json!([["seed", "2"]]));
    assert_eq!(serde_json::from_value::<RunMeta>(written.clone()).unwrap(), meta);
    let old = written.as_object_mut().unwrap();
    for key in ["text_hash", "overrides", "files"] {
        assert!(old.remove(key).is_some(), "{key}");
    }
    let old: RunMeta = serde_json::from_value(written).unwrap();
    assert_eq!(old, sample::meta());
}
