//! The functional rows of the study v2x-vss, by the shipped program and the clock of the host.

use std::path::Path;
use std::process::Command;

const BINARY: &str = env!("CARGO_BIN_EXE_chronoseal-v2x");

fn study(folder: &Path, more: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(BINARY);
    command.args(["study", "run", "v2x-vss", "--functional", "--out", "results"]).args(more).current_dir(folder);
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn every_functional_row_of_the_study_works_by_the_real_clock() {
    let folder = tempfile::tempdir().unwrap();
    let (status, said) = study(folder.path(), &[]);
    // 3: what was left out is not checked. A row that fails makes it 1.
    assert_eq!(status, Some(3), "{said}");
    let found = said.lines().find(|line| line.contains("of 15 test cases passed")).unwrap_or_else(|| panic!("{said}"));
    assert!(found.contains(" 0 failed"), "{found}");
    let table = std::fs::read_to_string(folder.path().join("results/tables.csv")).unwrap();
    assert!(table.contains("Test_Sign_Verify_VB_03"), "{table}");
    assert!(!table.to_lowercase().contains("failed"), "{table}");
    let (status, said) = study(folder.path(), &["--no-live"]);
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("--no-live"), "{said}");
}
