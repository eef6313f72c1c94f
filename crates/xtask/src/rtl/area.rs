//! What Yosys makes of the engine for a Xilinx 7-series FPGA: cells, and the longest path through them.

use std::path::Path;

use serde_json::Value;

use super::{TOP, sources, target_folder};
use crate::{Failure, TaskResult, process};

/// A kind of resource.
struct Resource {
    name: &'static str,
    /// Cells of the 7-series library that take one, by the beginning of their names, and how many each takes.
    cells: &'static [(&'static str, u64)],
    /// What the engine may grow to before somebody has to look.
    budget: u64,
}

#[rustfmt::skip]
const RESOURCES: &[Resource] = &[
    // A RAM32M is four LUTs of a slice used as memory, a shift register is one.
    Resource { name: "LUT", cells: &[("LUT", 1), ("INV", 1), ("RAM32M", 4), ("SRL16", 1)], budget: 2200 },
    Resource { name: "flip_flop", cells: &[("FD", 1)], budget: 1000 },
    Resource { name: "DSP48E1", cells: &[("DSP48E1", 1)], budget: 16 },
    Resource { name: "block_ram_36_kbit", cells: &[("RAMB36", 1)], budget: 2 },
    Resource { name: "block_ram_18_kbit", cells: &[("RAMB18", 1)], budget: 1 },
    Resource { name: "carry_chain_4_bits", cells: &[("CARRY4", 1)], budget: 300 },
];

/// Longest path without wires `[ps]`: what leaves a third of 10 ns for them.
const PATH_BUDGET_PS: u64 = 7000;

/// Where what was found is kept, for whoever wants to state it.
const RECORD: &str = "rtl/area.csv";

/// Runs the synthesis, prints and records what it takes, and fails if a budget is not kept.
pub(crate) fn run(root: &Path) -> TaskResult {
    let yosys = process::output(root, &["yosys", "-V"])
        .map_err(|_| Failure::because("the area needs Yosys: apt-get install yosys"))?;
    let folder = target_folder(root).join("rtl");
    std::fs::create_dir_all(&folder).map_err(|error| Failure::because(format!("{}: {error}", folder.display())))?;
    let (cells, paths) = (folder.join("cells.json"), folder.join("paths.txt"));
    let script = format!(
        "{}; synth_xilinx -family xc7 -top {TOP} -flatten -noiopad -abc9; \
         tee -q -o {} stat -json; read_verilog -lib -specify -overwrite +/xilinx/cells_sim.v; tee -q -o {} sta",
        reading(),
        cells.display(),
        paths.display(),
    );
    process::output(root, &["yosys", "-q", "-p", &script])?;
    let read = |path: &Path| {
        std::fs::read_to_string(path).map_err(|error| Failure::because(format!("{}: {error}", path.display())))
    };
    let used = used(&read(&cells)?)?;
    let path_ps = longest_path_ps(&read(&paths)?)?;

    let mut record =
        format!("# simulated: {TOP} synthesised for xc7, not placed, by {}\nresource,count,budget\n", yosys.trim());
    let mut kept = true;
    let rows = RESOURCES.iter().zip(&used).map(|(resource, count)| (resource.name, *count, resource.budget));
    for (name, count, budget) in rows.chain([("path_without_wires_ps", path_ps, PATH_BUDGET_PS)]) {
        record += &format!("{name},{count},{budget}\n");
        kept &= count <= budget;
    }
    print!("{record}");
    let file = root.join(RECORD);
    std::fs::write(&file, record).map_err(|error| Failure::because(format!("{}: {error}", file.display())))?;
    if kept { Ok(()) } else { Err(Failure::CheckFailed) }
}

/// Only has the sources read and their parts put together.
pub(super) fn read(root: &Path) -> TaskResult {
    process::output(root, &["yosys", "-q", "-p", &format!("{}; hierarchy -check -top {TOP}", reading())]).map(drop)
}

fn reading() -> String {
    format!("read_verilog -sv -Irtl/src {}", sources().join(" "))
}

/// How many of each of [`RESOURCES`] are used, from the output of `stat -json`.
fn used(json: &str) -> Result<Vec<u64>, Failure> {
    let broken = || Failure::because("Yosys printed no statistics that could be read");
    // Yosys 0.23 begins its JSON well and says more after the object has ended.
    let mut documents = serde_json::Deserializer::from_str(json).into_iter::<Value>();
    let statistics = documents.next().and_then(Result::ok).ok_or_else(broken)?;
    let cells = statistics["design"]["num_cells_by_type"].as_object().ok_or_else(broken)?;
    let count = |resource: &Resource| {
        let taken = |(kind, number): (&String, &Value)| {
            let each = resource.cells.iter().find(|(begin, _)| kind.starts_with(begin)).map_or(0, |(_, each)| *each);
            each * number.as_u64().unwrap_or(0)
        };
        cells.iter().map(taken).sum()
    };
    Ok(RESOURCES.iter().map(count).collect())
}

/// From the output of `sta`.
fn longest_path_ps(text: &str) -> Result<u64, Failure> {
    let line = text.lines().find_map(|line| line.strip_prefix("Latest arrival time in")?.strip_suffix(':'));
    line.and_then(|line| line.rsplit(' ').next()?.parse().ok())
        .ok_or_else(|| Failure::because("Yosys printed no longest path"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_cells_as_the_resources_they_take() {
        let json = r#"{"design": {"num_cells_by_type":
            {"LUT2": 3, "LUT6": 4, "RAM32M": 2, "FDRE": 5, "RAMB36E1": 2, "RAMB18E1": 1, "MUXF7": 9, "BUFG": 1}}}"#;
        assert_eq!(used(json).unwrap(), [15, 5, 0, 2, 1, 0]);
        assert!(used("{}").is_err());
        assert!(used("").is_err());
    }

    #[test]
    fn finds_the_longest_path() {
        assert_eq!(longest_path_ps("...\nLatest arrival time in 'top' is 6719:\n 6719 x").unwrap(), 6719);
        assert!(longest_path_ps("nothing").is_err());
    }
}
