//! Two servers and one store.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Command;

use super::tickets::{BINARY, Running, run, start};

/// A server with keys of its own, once it listens.
fn serving(folder: &Path, dir: &str) -> Running {
    let arguments = ["pki", "serve", "--dir", dir, "--store", "common.sqlite", "--port", "0"];
    let mut server = start(folder, &arguments);
    let mut line = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("listening "), "{line}");
    server
}

#[test]
fn a_second_server_on_the_same_file_is_refused_and_commands_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let first = serving(folder, "one");
    std::os::unix::fs::symlink(folder.join("common.sqlite"), folder.join("other.sqlite")).unwrap();
    for name in ["common.sqlite", "other.sqlite"] {
        let arguments = ["pki", "serve", "--dir", "two", "--store", name, "--port", "0"];
        let refused = Command::new(BINARY).args(arguments).current_dir(folder).output().unwrap();
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(!refused.status.success() && said.contains("another server serves from"), "{name}: {said}");
        assert!(said.contains("common.sqlite"), "{said}");
    }
    // Who registers a station goes on beside the server.
    run(folder, "pki keygen --dir car");
    run(
        folder,
        "pki register --dir one --store common.sqlite --id c0ffee02 --key car/canonical.pub.pem --permission 36:01ffff",
    );
    // A server that was killed leaves nothing locked.
    drop(first);
    drop(serving(folder, "two"));
}
