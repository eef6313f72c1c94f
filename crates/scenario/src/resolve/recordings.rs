//! Recordings: where they are and what of them is used.

use super::Resolver;
use crate::limits::RECORDING_LEN_MAX;
use crate::load::Files;
use crate::near::suggest;
use crate::plan::Recording;
use crate::problem::Code;
use crate::recording::{self, Builtin};
use crate::source::at;
use crate::spec::RecordingSpec;

impl Resolver<'_> {
    pub(super) fn recordings(&mut self, files: &dyn Files) -> Vec<Recording> {
        let specs = &self.spec.recordings;
        self.unique("recordings", specs.iter().map(|spec| spec.name.as_str()));
        specs.iter().enumerate().map(|(i, spec)| self.recording(i, spec, files)).collect()
    }

    fn recording(&mut self, i: usize, spec: &RecordingSpec, files: &dyn Files) -> Recording {
        self.title(&spec.name, at!["recordings", i, "name"], "the recording's name");
        let empty = Recording {
            name: spec.name.clone(),
            source: String::new(),
            unit: String::new(),
            samples: Vec::new(),
            length: recording::LENGTH_MIN,
        };
        let (kind, builtin, file) = match (&spec.signal, &spec.frames) {
            (Some(signal), None) => ("signal", &signal.builtin, &signal.file),
            (None, Some(frames)) => ("frames", &frames.builtin, &frames.file),
            _ => {
                self.report(
                    Code::ChooseOne,
                    at!["recordings", i],
                    format!("recording `{}` has to be exactly one of `signal`, `frames`", spec.name),
                    "not exactly one",
                    "write `signal = { builtin = \"vessel-nmea2000\", name = \"heading\" }` or \
                     `frames = { builtin = \"car-frames\" }`",
                );
                return empty;
            }
        };
        let Some((bytes, name)) = self.recorded_bytes(i, kind, builtin.as_deref(), file.as_deref(), files) else {
            return empty;
        };
        let read = match (&spec.signal, &spec.frames) {
            (Some(signal), _) => recording::signal(&spec.name, &name, &bytes, &signal.name, signal.unit.as_deref()),
            (None, frames) => {
                let can_id = frames.as_ref().and_then(|frames| frames.can_id.as_deref());
                recording::frames(&spec.name, &name, &bytes, can_id)
            }
        };
        read.unwrap_or_else(|error| {
            let path = match (error.about_selection, kind) {
                (true, "signal") => at!["recordings", i, kind, "name"],
                (true, _) => at!["recordings", i, kind, "can_id"],
                (false, _) => at!["recordings", i, kind],
            };
            self.report(Code::BadRecording, path, error.message, "cannot be used", error.help);
            empty
        })
    }

    /// The bytes of a recording and the name to cite it by.
    fn recorded_bytes(
        &mut self,
        i: usize,
        kind: &str,
        builtin: Option<&str>,
        file: Option<&str>,
        files: &dyn Files,
    ) -> Option<(Vec<u8>, String)> {
        match (builtin, file) {
            (Some(name), None) => {
                let names: Vec<&str> = Builtin::ALL.iter().map(|builtin| builtin.name).collect();
                let found = Builtin::ALL.iter().find(|builtin| builtin.name == name);
                if found.is_none() {
                    self.report(
                        Code::UnknownName,
                        at!["recordings", i, kind, "builtin"],
                        format!("there is no built-in recording `{name}`"),
                        "no such recording",
                        suggest(name, &names, "built-in recordings"),
                    );
                }
                found.map(|builtin| (builtin.bytes.to_vec(), format!("built-in {}", builtin.name)))
            }
            (None, Some(file)) => match files.read(file) {
                Ok(bytes) if bytes.len() <= RECORDING_LEN_MAX => Some((bytes, file.to_owned())),
                Ok(bytes) => {
                    self.report(
                        Code::BadRecording,
                        at!["recordings", i, kind, "file"],
                        format!("`{file}` has {} bytes", bytes.len()),
                        "too long",
                        format!("a recording has at most {RECORDING_LEN_MAX}: cut out a part"),
                    );
                    None
                }
                Err(reason) => {
                    self.report(
                        Code::BadRecording,
                        at!["recordings", i, kind, "file"],
                        format!("`{file}` cannot be read: {reason}"),
                        "cannot be read",
                        "the path counts from the scenario's folder",
                    );
                    None
                }
            },
            _ => {
                self.report(
                    Code::ChooseOne,
                    at!["recordings", i, kind],
                    "a recording comes from exactly one of `builtin`, `file`",
                    "not exactly one",
                    "write `builtin = \"vessel-nmea2000\"` or `file = \"recording.csv\"`",
                );
                None
            }
        }
    }
}
