//! The P-256 engine of `rtl/`: built into a simulator by Verilator, tested, and measured for area by Yosys.
//!
//! Whatever comes of it is simulated: cycles at a declared clock, and the cells a synthesis would place.

mod area;

use std::path::{Path, PathBuf};

use crate::{Failure, TaskResult, process};

pub(crate) use area::run as area;

/// The engine, in the order in which they are read.
const SOURCES: &[&str] = &["p256_memory", "p256_multiplier", "p256_field", "p256_microcode", "p256_engine"];

/// What stands around it: the link, the key slots, the flash.
const HARNESS: &[&str] = &["device", "engine", "flash", "frame", "main"];

const TOP: &str = "p256_engine";

const PACKAGES: &str = "verilator g++ make";

/// Names the simulator for the tests and for everybody else who runs it.
const SIMULATOR: &str = "CHRONOSEAL_RTL";

/// The tests of `crates/xtask/tests/rtl`; on demand only, since they need the simulator. With the features of
/// `cargo test --workspace`, so that nothing is built twice.
const TESTS: &[&str] = &["cargo", "test", "--quiet", "--workspace", "--locked", "--test", "rtl", "--"];

/// True if the simulator can be built here.
pub(crate) fn is_possible(root: &Path) -> bool {
    ["verilator", "g++", "make"].iter().all(|program| process::output(root, &[program, "--version"]).is_ok())
}

/// Builds the simulator, says on standard output where it is, and gives that back.
pub(crate) fn build(root: &Path) -> Result<PathBuf, Failure> {
    let simulator = built(root)?;
    println!("{}", simulator.display());
    Ok(simulator)
}

/// Has Yosys read the sources too, if it is there; builds the simulator and runs all tests but that.
pub(crate) fn test(root: &Path) -> TaskResult {
    if process::output(root, &["yosys", "-V"]).is_ok() {
        area::read(root)?;
    }
    run_tests(root, &["--ignored", "--skip", "calls::"])
}

/// Builds the simulator and has 200 messages signed and verified, which prints what that takes.
pub(crate) fn calls(root: &Path) -> TaskResult {
    run_tests(root, &["--ignored", "--nocapture", "calls::"])
}

fn run_tests(root: &Path, arguments: &[&str]) -> TaskResult {
    let simulator = built(root)?;
    let simulator = path_text(&simulator)?;
    let mut words = TESTS.to_vec();
    words.extend(arguments);
    match process::run_with(root, &words, &[(SIMULATOR, simulator)]) {
        Err(Failure::CouldNotRun(_)) => Err(Failure::CheckFailed),
        result => result,
    }
}

/// Where the simulator is after this. Verilator and make do only what has not been done.
fn built(root: &Path) -> Result<PathBuf, Failure> {
    if !is_possible(root) {
        return Err(Failure::because(format!(
            "the simulator needs Verilator and a C++ compiler: apt-get install {PACKAGES}"
        )));
    }
    let folder = target_folder(root).join("rtl");
    std::fs::create_dir_all(&folder).map_err(|error| Failure::because(format!("{}: {error}", folder.display())))?;
    let flags = format!("-std=c++17 -I{}", path_text(&root.join("rtl/sim"))?);
    let harness: Vec<PathBuf> =
        HARNESS.iter().map(|name| root.join("rtl/sim").join(name).with_extension("cc")).collect();
    let sources = sources();
    #[rustfmt::skip]
    let mut words = vec![
        // A warning ends it.
        "verilator", "--cc", "--exe", "--build", "-j", "2", "-Wall", "-Irtl/src", "--top", TOP, "-o", TOP,
        // For speed: Verilator's own optimisation, nothing random before reset, and the compiler's.
        "-O3", "--x-assign", "fast", "--x-initial", "fast", "--noassert", "-MAKEFLAGS", "OPT_FAST=-O3",
        "-CFLAGS", &flags, "--Mdir", path_text(&folder)?,
    ];
    words.extend(sources.iter().map(String::as_str));
    for file in &harness {
        words.push(path_text(file)?);
    }
    process::output(root, &words)?;
    Ok(folder.join(TOP))
}

fn sources() -> Vec<String> {
    SOURCES.iter().map(|name| format!("rtl/src/{name}.sv")).collect()
}

/// Where cargo puts what it builds.
fn target_folder(root: &Path) -> PathBuf {
    root.join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

fn path_text(path: &Path) -> Result<&str, Failure> {
    let text = path.to_str().filter(|text| !text.contains(' '));
    text.ok_or_else(|| Failure::because(format!("make takes no path like {}", path.display())))
}
