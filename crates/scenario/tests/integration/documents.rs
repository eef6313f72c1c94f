//! What is written about the format agrees with it.

use std::path::Path;

use chronoseal_scenario::{Code, FileError, NoFiles, load, schema};

const ERRORS: &str = include_str!("../../../../docs/reference/errors.md");
const FIRST_GUIDE: &str = include_str!("../../../../docs/guide/getting-started.md");
const GUIDE: &str = include_str!("../../../../docs/guide/scenario-file.md");
const CAN_GUIDE: &str = include_str!("../../../../docs/guide/can-bus.md");
const CLASSES_GUIDE: &str = include_str!("../../../../docs/guide/traffic-classes.md");
const REDUNDANCY_GUIDE: &str = include_str!("../../../../docs/guide/redundancy.md");
const POLICING_GUIDE: &str = include_str!("../../../../docs/guide/policing.md");
const CLOCKS_GUIDE: &str = include_str!("../../../../docs/guide/clocks.md");
const MACSEC_GUIDE: &str = include_str!("../../../../docs/guide/macsec.md");
const LINK_GUIDE: &str = include_str!("../../../../docs/guide/link.md");
const RADIO_GUIDE: &str = include_str!("../../../../docs/guide/radio.md");
const SCHEMA: &str = include_str!("../../../../docs/reference/scenario.schema.json");

#[test]
fn every_code_is_listed_once_and_no_other() {
    let listed: Vec<&str> = ERRORS
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .filter(|code| code.contains("::"))
        .collect();
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.text()).collect();
    assert_eq!(listed, codes, "docs/reference/errors.md lists the codes in the order of `Code`");
}

/// With `UPDATE_DOCS=1` the copy is written anew.
#[test]
fn the_schema_in_the_documentation_is_current() {
    let current = format!("{:#}\n", schema());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/scenario.schema.json");
        std::fs::write(path, &current).expect("the checkout can be written");
        return;
    }
    assert!(SCHEMA == current, "run `UPDATE_DOCS=1 cargo test -p chronoseal-scenario` and commit the schema");
}

#[test]
fn the_schema_accepts_what_the_parser_accepts() {
    let validator = jsonschema::validator_for(&schema()).expect("a JSON Schema");
    for text in [
        crate::WHOLE,
        include_str!("bus.toml"),
        include_str!("vehicle.toml"),
        include_str!("ports.toml"),
        include_str!("stream_filters.toml"),
        include_str!("../../../../scenarios/babbler.toml"),
        include_str!("../../../../scenarios/brake-by-wire.toml"),
        include_str!("../../../../scenarios/group-key.toml"),
    ] {
        let table: toml::Table = text.parse().expect("TOML");
        let value = serde_json::to_value(table).expect("tables are objects");
        let errors: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert_eq!(errors, [""; 0]);
    }
    let wrong: toml::Table = crate::WHOLE.replace("\"7ms\"", "\"7\"").parse().expect("TOML");
    assert!(!validator.is_valid(&serde_json::to_value(wrong).expect("tables are objects")));
}

/// The blocks of a page that are TOML, whatever else their first lines say.
fn toml_blocks(page: &'static str) -> impl Iterator<Item = &'static str> {
    let text = |block: &'static str| block.split_once('\n')?.1.split("```").next();
    page.split("```toml").skip(1).filter_map(text)
}

/// The blocks of the guide marked `toml`: whole scenarios begin with `schema_version`, others are parts of one.
#[test]
fn every_example_of_the_guide_is_right() {
    const FRAME: &str = include_str!("guide_frame.toml");
    let mut blocks = 0;
    for text in toml_blocks(GUIDE) {
        let whole = if text.starts_with("schema_version") { text.to_owned() } else { format!("{FRAME}\n{text}") };
        let files = GuideFiles;
        if let Err(problems) = load("scenario-file.md", whole.as_bytes(), &[], &files) {
            panic!("{}", problems.render());
        }
        blocks += 1;
    }
    assert!(blocks >= 3, "{blocks} blocks");
}

#[test]
fn the_examples_of_the_first_guide_are_right_and_what_is_appended_to_one_fits() {
    let mut whole = String::new();
    let mut blocks = 0;
    for text in toml_blocks(FIRST_GUIDE) {
        whole = if text.contains("schema_version") { text.to_owned() } else { format!("{whole}\n{text}") };
        // What was imported is shown in part.
        if !whole.contains("[[nodes]]") {
            continue;
        }
        if let Err(problems) = load("getting-started.md", whole.as_bytes(), &[], &NoFiles) {
            panic!("{}", problems.render());
        }
        blocks += 1;
    }
    assert!(blocks >= 2, "{blocks} blocks");
}

#[test]
fn the_example_of_the_bus_guide_is_right() {
    let block = toml_blocks(CAN_GUIDE).next().expect("a block of TOML");
    if let Err(problems) = load("can-bus.md", block.as_bytes(), &[], &NoFiles) {
        panic!("{}", problems.render());
    }
}

#[test]
fn the_example_of_the_policing_guide_is_right() {
    let block = toml_blocks(POLICING_GUIDE).next().expect("a block of TOML");
    if let Err(problems) = load("policing.md", block.as_bytes(), &[], &NoFiles) {
        panic!("{}", problems.render());
    }
}

#[test]
fn the_example_of_the_radio_guide_is_right() {
    let block = toml_blocks(RADIO_GUIDE).next().expect("a block of TOML");
    if let Err(problems) = load("radio.md", block.as_bytes(), &[], &NoFiles) {
        panic!("{}", problems.render());
    }
}

#[test]
fn the_example_of_the_guide_of_traffic_classes_is_right() {
    let block = toml_blocks(CLASSES_GUIDE).next().expect("a block of TOML");
    if let Err(problems) = load("traffic-classes.md", block.as_bytes(), &[], &NoFiles) {
        panic!("{}", problems.render());
    }
}

struct GuideFiles;

impl chronoseal_scenario::Files for GuideFiles {
    fn read(&self, path: &str) -> Result<Vec<u8>, FileError> {
        match path {
            "drive.csv" => Ok(b"time_us,name,value\n0,wheel_speed,1.5\n1000,wheel_speed,1.6\n".to_vec()),
            "update.pcap" => {
                Ok(chronoseal_recordings::write_capture(1, [(0, 1_000, &[0; 14][..]), (7_000, 60, &[0; 14])]))
            }
            _ => NoFiles.read(path),
        }
    }
}

#[test]
fn every_key_is_explained_in_the_guide() {
    let schema = schema();
    let mut keys: Vec<String> = Vec::new();
    let definitions = schema["$defs"].as_object().expect("definitions").values();
    for definition in std::iter::once(&schema).chain(definitions) {
        keys.extend(definition["properties"].as_object().into_iter().flatten().map(|(key, _)| key.clone()));
    }
    for key in keys {
        let quoted = format!("`{key}`");
        let is_explained = GUIDE.contains(&quoted)
            || CLOCKS_GUIDE.contains(&quoted)
            || MACSEC_GUIDE.contains(&quoted)
            || LINK_GUIDE.contains(&quoted)
            || RADIO_GUIDE.contains(&quoted)
            || CLASSES_GUIDE.contains(&quoted)
            || REDUNDANCY_GUIDE.contains(&quoted)
            || POLICING_GUIDE.contains(&quoted)
            || CAN_GUIDE.contains(&quoted)
            || CAN_GUIDE.contains(&format!("{key}]"));
        assert!(is_explained, "no guide explains `{key}`");
    }
}
