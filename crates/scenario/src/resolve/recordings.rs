//! Recordings: where they are and what of them is used.

use chronoseal_plan::Recording;

use crate::kinds::Context;
use crate::limits::RECORDING_LEN_MAX;
use crate::load::Files;
use crate::near::suggest;
use crate::problem::Code;
use crate::recording::{self, Builtin};
use crate::source::at;
use crate::spec::RecordingSpec;

impl Context<'_> {
    /// The recordings that payloads replay, and for each entry of the scenario which of them it is.
    pub(super) fn recordings(&mut self, files: &dyn Files) -> (Vec<Recording>, Vec<Option<usize>>) {
        let specs = &self.spec.recordings;
        self.unique("recordings", specs.iter().map(|spec| spec.name.as_str()));
        let mut recordings = Vec::new();
        let mut recording_of = Vec::new();
        for (i, spec) in specs.iter().enumerate() {
            self.title(&spec.name, at!["recordings", i, "name"], "the recording's name");
            if spec.traffic.is_some() && spec.signal.is_none() && spec.frames.is_none() {
                recording_of.push(None);
                continue;
            }
            recording_of.push(Some(recordings.len()));
            recordings.push(self.recording(i, spec, files));
        }
        (recordings, recording_of)
    }

    fn recording(&mut self, i: usize, spec: &RecordingSpec, files: &dyn Files) -> Recording {
        let of_traffic = [
            ("segment", spec.segment.is_some()),
            ("from", spec.from.is_some()),
            ("to", spec.to.is_some()),
            ("every", spec.every.is_some()),
            ("start", spec.start.is_some()),
        ];
        for (key, _) in of_traffic.into_iter().filter(|(_, is_written)| *is_written && spec.traffic.is_none()) {
            self.report(
                Code::ChooseOne,
                at!["recordings", i, key],
                format!("`{key}` belongs to `traffic`; payloads replay the other recordings when they are sent"),
                "not used",
                "leave it out, or write `traffic` instead",
            );
        }
        let empty = Recording {
            name: spec.name.clone(),
            source: String::new(),
            unit: String::new(),
            samples: Vec::new(),
            length: recording::LENGTH_MIN,
        };
        let (kind, builtin, file) = match (&spec.signal, &spec.frames, &spec.traffic) {
            (Some(signal), None, None) => ("signal", &signal.builtin, &signal.file),
            (None, Some(frames), None) => ("frames", &frames.builtin, &frames.file),
            _ => {
                self.report(
                    Code::ChooseOne,
                    at!["recordings", i],
                    format!("recording `{}` has to be exactly one of `signal`, `frames`, `traffic`", spec.name),
                    "not exactly one",
                    "write `signal = { builtin = \"vessel-nmea2000\", name = \"heading\" }`, \
                     `frames = { builtin = \"car-frames\" }` or `traffic = { builtin = \"car-busmaster\" }`",
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
        let known: Vec<(&str, &[u8])> = Builtin::ALL.iter().map(|builtin| (builtin.name, builtin.bytes)).collect();
        let chosen = (builtin, file);
        let example = "`builtin = \"vessel-nmea2000\"` or `file = \"recording.csv\"`";
        self.bytes_of((i, kind), chosen, &known, example, files).map(|(bytes, name, _)| (bytes, name))
    }

    /// The bytes of a built-in recording or of a file, the name to cite them by, and the key that names them.
    pub(super) fn bytes_of(
        &mut self,
        (i, kind): (usize, &str),
        chosen: (Option<&str>, Option<&str>),
        known: &[(&str, &[u8])],
        example: &str,
        files: &dyn Files,
    ) -> Option<(Vec<u8>, String, &'static str)> {
        let (key, message, label, help) = match chosen {
            (Some(name), None) => match known.iter().find(|(known, _)| *known == name) {
                Some((_, bytes)) => return Some((bytes.to_vec(), format!("built-in {name}"), "builtin")),
                None => {
                    let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
                    let help = match names[..] {
                        [] => format!("none is there for this kind of segment: write {example}"),
                        _ => suggest(name, &names, "built-in recordings"),
                    };
                    self.report(
                        Code::UnknownName,
                        at!["recordings", i, kind, "builtin"],
                        format!("there is no built-in recording `{name}`"),
                        "no such recording",
                        help,
                    );
                    return None;
                }
            },
            (None, Some(file)) => match files.read(file) {
                Ok(bytes) if bytes.len() <= RECORDING_LEN_MAX => return Some((bytes, file.to_owned(), "file")),
                Ok(bytes) => (
                    "file",
                    format!("`{file}` has {} bytes", bytes.len()),
                    "too long",
                    format!("a recording has at most {RECORDING_LEN_MAX}: cut out a part"),
                ),
                Err(reason) => (
                    "file",
                    format!("`{file}` cannot be read: {reason}"),
                    "cannot be read",
                    "the path counts from the scenario's folder".to_owned(),
                ),
            },
            _ => {
                self.report(
                    Code::ChooseOne,
                    at!["recordings", i, kind],
                    "a recording comes from exactly one of `builtin`, `file`",
                    "not exactly one",
                    format!("write {example}"),
                );
                return None;
            }
        };
        self.report(Code::BadRecording, at!["recordings", i, kind, key], message, label, help);
        None
    }
}
