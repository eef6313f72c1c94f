//! A user's own recording as messages: what the script beside the adapters makes of it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use chronoseal_core::Duration;
use serde::Deserialize;

use crate::{Data, MiddlewareError};

/// Messages of a recording, and what was read.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Where they are, for a [`crate::Host`].
    pub bodies: PathBuf,
    /// A sentence on each thing that a reader of the report has to know.
    pub notes: Vec<String>,
}

/// What the script prints.
#[derive(Deserialize)]
struct Printed {
    kind: String,
    messages: u64,
    longest: u32,
    period_ns: Option<i64>,
    notes: Vec<String>,
}

impl Recording {
    /// Reads `file` (a ROS 1 bag, MCAP, PCD, PNG or a pcap), of several topics the one named, by the script in the folder of the adapters, and
    /// writes the messages into the folder `to`. `data` gets the length of the longest of them, and their mean period if the recording has times.
    ///
    /// # Errors
    /// [`MiddlewareError::Recording`] with what the script said.
    pub fn read(
        adapters: &Path,
        file: &Path,
        topic: Option<&str>,
        data: &mut Data,
        to: &Path,
    ) -> Result<Self, MiddlewareError> {
        let wrong = MiddlewareError::Recording;
        let script = adapters.join("recordings.py");
        let mut command = Command::new(&script);
        command.arg(to).arg(&data.name).arg(file).args(topic).stdin(Stdio::null());
        let output = command.output().map_err(|error| wrong(format!("{}: {error}", script.display())))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(wrong(said.trim_end().to_owned()));
        }
        let printed: Printed = serde_json::from_slice(&output.stdout)
            .map_err(|error| wrong(format!("{} printed something else than it should: {error}", script.display())))?;
        let Printed { kind, messages, longest, period_ns, mut notes } = printed;
        data.length = longest;
        let rate = match period_ns {
            Some(ns) => {
                data.period = Duration::from_ns(ns);
                format!("on average one each {}", data.period)
            }
            None => format!("which has no times: one each {} is sent", data.period),
        };
        notes.insert(0, format!("{}, {kind}: {messages} messages of up to {longest} B, {rate}.", file.display()));
        let bodies = to.canonicalize().map_err(|error| wrong(format!("{}: {error}", to.display())))?;
        Ok(Self { bodies, notes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adapters() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../adapters/middleware")
    }

    #[test]
    fn a_cloud_has_its_own_length_and_the_period_of_the_data() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("cloud");
        let text = "VERSION .7\nFIELDS x y\nSIZE 4 4\nTYPE F F\nWIDTH 2\nHEIGHT 1\nDATA ascii\n1 2\n3 4\n";
        std::fs::write(&file, text).expect("it is written");
        let mut data = Data::published()[2].clone();
        let period = data.period;
        let to = folder.path().join("messages");
        let read = Recording::read(&adapters(), &file, None, &mut data, &to).expect("it is read");
        assert_eq!((data.length, data.period), (16, period));
        assert!(read.bodies.join("cloud.bodies").is_file());
        assert!(read.notes[0].contains("PCD: 1 messages of up to 16 B, which has no times"), "{:?}", read.notes);
    }

    #[test]
    fn what_is_no_recording_is_refused_with_what_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("text");
        std::fs::write(&file, "a text").expect("it is written");
        let mut data = Data::published()[0].clone();
        let refused = Recording::read(&adapters(), &file, Some("/scan"), &mut data, folder.path());
        let text = refused.expect_err("it is no recording").to_string();
        assert!(text.contains("ROS 1 bags, MCAP, PCD, PNG and pcap are read"), "{text}");
    }
}
