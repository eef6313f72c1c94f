//! A disk that gets full leaves what was whole before, and nothing that looks whole and is not.
//!
//! The shell's limit on the size of a file stands for the disk: it needs no rights, and a write beyond it fails as one to a
//! full disk does (`EFBIG` for `ENOSPC`). A disk that refuses at any byte is in the tests of `chronoseal-results`.

use std::path::Path;

use crate::integration::support::{Bench, SMALL, Said, said};

/// The binary with no room for a file longer than so many blocks of 512 bytes.
fn say_with_room(bench: &Bench, blocks: u32, arguments: &str) -> Said {
    let binary = env!("CARGO_BIN_EXE_chronoseal");
    // Without the trap the signal would end the program, as no full disk does.
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec {binary} {arguments}");
    let mut shell = std::process::Command::new("sh");
    said(shell.arg("-c").arg(script).current_dir(bench.path(".")).output().unwrap())
}

/// Names in a folder, hidden ones too; none if it is not there.
fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn assert_no_part_in(folder: &Path) {
    for name in names(folder) {
        assert!(!name.contains("partial"), "{name} is left in {}", folder.display());
        if folder.join(&name).is_dir() {
            assert_no_part_in(&folder.join(name));
        }
    }
}

#[test]
fn a_run_is_stored_whole_or_not_at_all() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let (mut refused, mut without_page, mut whole) = (0, 0, 0);
    for blocks in [0, 1, 2, 4, 6, 8, 12, 16, 24, 32, 64, 128, 512, 4096] {
        let out = format!("run-{blocks}");
        let said = say_with_room(&bench, blocks, &format!("run small.toml --capture --quiet --out {out} > /dev/null"));
        let folder = bench.path(&out);
        assert_no_part_in(&bench.path("."));
        if said.code == Some(0) {
            whole += 1;
            assert!(folder.join("report.html").is_file() && folder.join("capture.pcapng").is_file());
            continue;
        }
        said.assert_code(2).assert_says(&["error: cannot write", "room"]);
        if names(&folder).is_empty() {
            refused += 1;
            continue;
        }
        // The rows are there, the page that shows them is not: it can still be made.
        without_page += 1;
        assert!(folder.join("manifest.json").is_file() && !folder.join("report.html").exists(), "{:?}", names(&folder));
        bench.say(&["report", &out]).assert_code(0);
    }
    assert!(
        refused > 1 && without_page > 0 && whole > 1,
        "{refused} refused, {without_page} without page, {whole} whole"
    );
}

#[test]
fn a_page_that_finds_no_room_leaves_the_page_that_was_there() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    bench.say(&["run", "small.toml", "--out", "run"]).assert_code(0);
    let page = std::fs::read(bench.path("run/report.html")).unwrap();
    let said = say_with_room(&bench, 8, "report run");
    said.assert_code(2).assert_says(&["report.html", "what was there is as it was"]);
    assert_eq!(std::fs::read(bench.path("run/report.html")).unwrap(), page);
    assert_no_part_in(&bench.path("run"));
}

#[test]
fn data_that_finds_no_room_is_an_error() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let binary = env!("CARGO_BIN_EXE_chronoseal");
    let mut shell = std::process::Command::new("sh");
    let said = said(
        shell
            .arg("-c")
            .arg(format!("{binary} check small.toml > /dev/full"))
            .current_dir(bench.path("."))
            .output()
            .unwrap(),
    );
    said.assert_code(2).assert_says(&["cannot write standard output", "cut off"]);
}
