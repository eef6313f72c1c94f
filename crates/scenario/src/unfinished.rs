//! What a scenario can say and nothing bounds, simulates or measures yet.

use crate::kinds::{KINDS, named};
use crate::problem::{Code, Problem, Problems};
use crate::source::{Step, at};
use crate::spec::{DeadlineKindSpec, DeadlineSpec, Spec};

/// Refuses what would be read and then left out of every answer.
///
/// # Errors
/// One problem, [`Code::NotYet`], for everything that is left out.
pub fn refuse_unfinished(spec: &Spec) -> Result<(), Problems> {
    let mut problems = Problems::new(&spec.source.name, &spec.source.text);
    let mut refuse = |path: &[Step<'_>], message: String, help: &str| {
        let problem = Problem::new(Code::NotYet, message).label(spec.source.span(path), "not there yet").help(help);
        problems.push(problem);
    };
    if let Some((name, _)) = spec.segments_in_order().get(1) {
        let message = format!("`{name}` is a second segment, and networks of several are only read yet, not run");
        refuse(at!["segments", *name], message, "write a scenario for each segment");
    }
    // A kind on which the deadlines of streams are not judged.
    let undated = spec.segments_in_order().first().and_then(|(_, segment)| {
        named(KINDS, segment.kind()).filter(|kind| !kind.rules().deadline_is_period).map(|kind| kind.name())
    });
    for (i, stream) in spec.streams.iter().enumerate() {
        let name = &stream.name;
        if stream.on_change.is_some() {
            let message = format!("stream `{name}` is sent on change, and streams are only sent with a period yet");
            refuse(
                at!["streams", i, "on_change"],
                message,
                "write the least distance as `period`, the most that can come",
            );
        }
        if let (Some(_), Some(kind)) = (&stream.deadline, undated) {
            let message = format!(
                "stream `{name}` has a deadline of its own, and on a segment of kind `{kind}` only slots and periods are \
                 judged yet"
            );
            refuse(at!["streams", i, "deadline"], message, "leave it out and compare it with the bound of `check`");
        } else if matches!(stream.deadline, Some(DeadlineSpec::Each(_))) {
            let message =
                format!("stream `{name}` has a deadline for each receiver, and only one for all is judged yet");
            refuse(at!["streams", i, "deadline"], message, "write the shortest of them for all");
        }
        if stream.deadline_kind == DeadlineKindSpec::Age {
            let message = format!("stream `{name}` limits the age of its data, and only reactions are judged yet");
            refuse(
                at!["streams", i, "deadline_kind"],
                message,
                "leave it out and write a deadline one period shorter: data is no older than the reaction and a period",
            );
        }
    }
    problems.or(())
}
