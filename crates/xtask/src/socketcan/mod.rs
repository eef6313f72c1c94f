//! The live bus and the stations on it where the kernel has CAN: in user-mode Linux, an ordinary process that needs no
//! privilege, with a virtual CAN interface. What the test and the command say was on the interface is held against what
//! candump saw.
//!
//! Only what is sent and received is looked at. Times in a system inside a process say nothing about latency.

mod compare;

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{Failure, TaskResult, built, process};

/// The test that runs in there, of package `chronoseal-testbed`, and the command.
const TEST: &str = "testbed";
const COMMAND: &str = "chronoseal";

/// What the command runs in there: a group key, two messages under it, a removal and a return.
const SCENARIO: &str = "scenarios/group-key.toml";

/// Longest run of all that happens in there `[s]`; it takes about 20, and more on a busy host.
const TIMEOUT_S: &str = "180";

const PACKAGES: &str = "user-mode-linux busybox-static can-utils";

/// Programs and kernel modules of those Debian packages.
struct Tools {
    linux: PathBuf,
    busybox: PathBuf,
    /// Where candump and cansend are.
    programs: PathBuf,
    modules: PathBuf,
}

impl Tools {
    /// Looks for them below `packages`, which is `/` where they are installed and any folder where they are unpacked.
    fn find(packages: &Path) -> Result<Self, Failure> {
        let missing =
            |what: &Path| Failure::because(format!("there is no {}: apt-get install {PACKAGES}", what.display()));
        let existing = |path: PathBuf| if path.exists() { Ok(path) } else { Err(missing(&path)) };
        let programs = packages.join("usr/bin");
        existing(programs.join("candump"))?;
        let kernels = packages.join("usr/lib/uml/modules");
        let kernel = std::fs::read_dir(&kernels).ok().and_then(|mut entries| entries.next()?.ok());
        Ok(Self {
            linux: existing(programs.join("linux.uml"))?,
            busybox: existing(packages.join("bin/busybox"))?,
            programs,
            modules: kernel.ok_or_else(|| missing(&kernels))?.path(),
        })
    }
}

/// Whether it can be run here, or why not.
pub(crate) fn is_possible(root: &Path) -> Result<(), &'static str> {
    let Ok(tools) = Tools::find(Path::new("/")) else { return Err("user-mode-linux is not installed") };
    // A kernel whose first program ends says with what; one that cannot run any program, with a segmentation fault. On
    // processors with AMX it cannot: their registers do not fit the room it has for them.
    let boot = format!(
        "timeout 20 {} mem=64M rootfstype=hostfs rootflags=/ con=null con0=null,fd:1 init=/bin/true 2>&1 || true",
        tools.linux.display()
    );
    let said = process::output(root, &["sh", "-c", &boot]).unwrap_or_default();
    if said.contains("exitcode=0x0000000b") {
        return Err("user-mode Linux can run no program on this processor");
    }
    Ok(())
}

/// Runs the test in user-mode Linux, with the packages installed at `packages`.
pub(crate) fn run(root: &Path, packages: &Path) -> TaskResult {
    let tools = Tools::find(packages)?;
    let test = built::test(root, TEST)?;
    let command = built::program(root, COMMAND)?;
    let folder = test.with_file_name("socketcan");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).map_err(|error| Failure::because(format!("{}: {error}", folder.display())))?;
    let booted = boot(root, &tools, [&test, &command], &folder);
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
    let guest = read("guest.log");
    eprint!("{guest}");
    booted?;
    if !guest.contains("test ended with 0") {
        eprintln!("the test failed in user-mode Linux; what it wrote is in {}", folder.display());
        return Err(Failure::CheckFailed);
    }
    let (keys, holders) = installed_keys(&read("command.json"), &read("command.err"))?;
    let stations = compare::same(&read("stations.log"), &read("stations.candump"));
    let bus = compare::merged(&[&read("bus.log"), &read("outside.log")], &read("bus.candump"));
    let command = compare::begins(&read("command.log"), &read("command.candump"));
    match (stations, bus, command) {
        (Ok(stations), Ok(bus), Ok((command, later))) => {
            eprintln!(
                "candump saw the same: {stations} frames of stations, {bus} of our bus and of strangers, {command} of the \
                 command, whose nodes came to {keys} keys, one of them at {holders} nodes; {later} more went out when it had \
                 stopped to listen"
            );
            Ok(())
        }
        (stations, bus, command) => {
            for difference in [stations.err(), bus.err(), command.err()].into_iter().flatten() {
                eprintln!("candump saw something else: {difference}");
            }
            eprintln!("logs and dumps are in {}", folder.display());
            Err(Failure::CheckFailed)
        }
    }
}

/// How many keys came into use in the command's run, and at how many nodes the most widespread of them. That is told and
/// not judged: a kernel in a process, with one processor for all nodes, may be too slow for the timeouts of an exchange.
fn installed_keys(json: &str, said: &str) -> Result<(usize, usize), Failure> {
    let run: Value = serde_json::from_str(json)
        .map_err(|error| Failure::because(format!("the command printed no run: {error}\n{said}")))?;
    let keys = run["summary"]["group"]["keys"].as_array().map_or(&[][..], Vec::as_slice);
    let holders = |key: &Value| key["installed_ns"].as_object().map_or(0, |nodes| nodes.len());
    Ok((keys.len(), keys.iter().map(holders).max().unwrap_or(0)))
}

/// Boots, runs `init.sh` and halts.
fn boot(root: &Path, tools: &Tools, [test, command]: [&Path; 2], folder: &Path) -> TaskResult {
    let text = |path: &Path| {
        let text = path.to_str().filter(|text| !text.contains([' ', '"']));
        text.map(str::to_owned).ok_or_else(|| Failure::because(format!("a kernel takes no {}", path.display())))
    };
    let variable = |name: &str, path: &Path| Ok::<_, Failure>(format!("{name}={}", text(path)?));
    let linux = text(&tools.linux)?;
    let arguments = [
        variable("init", &root.join("crates/xtask/src/socketcan/init.sh"))?,
        variable("uml_dir", folder)?,
        variable("FOLDER", folder)?,
        variable("TEST", test)?,
        variable("COMMAND", command)?,
        variable("SCENARIO", &root.join(SCENARIO))?,
        variable("MODULES", &tools.modules)?,
        variable("BUSYBOX", &tools.busybox)?,
        variable("TOOLS", &tools.programs)?,
    ];
    // Its memory is a file there.
    let memory = variable("TMPDIR", folder)?;
    #[rustfmt::skip]
    let mut words = vec![
        "env", &memory, "timeout", "--kill-after=5", TIMEOUT_S,
        &linux, "mem=256M", "rootfstype=hostfs", "rootflags=/", "rw", "con=null", "con0=null,fd:1", "quiet",
    ];
    words.extend(arguments.iter().map(String::as_str));
    process::output(root, &words).map(drop)
}
