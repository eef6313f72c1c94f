//! A run that is also drawn over time, for the viewer of the Perfetto project.

use chronoseal_console::{Printer, Trouble, files};
use std::path::Path;
use std::str::FromStr;
use std::sync::atomic::AtomicBool;

use chronoseal_catalog::Prepared;
use chronoseal_core::{Duration, SimTime};
use chronoseal_results::trace::Trace;
use chronoseal_runner::{Run as FinishedRun, TraceError, TraceWindow, simulate_traced};

use super::progress;
use crate::arguments::{EngineName, Run};

const NOT_SIMULATED: &str = "error: --trace draws what a simulation knows of every wire and queue, and this run is live
help: leave --engine away for the trace";
const SEVERAL: &str = "error: --trace draws one run, and --repeat makes several
help: leave --repeat away, and choose the run to draw with --seed";
const COUNTED: &str = "error: --trace draws single frames, and a run with fidelity = \"timing\" keeps none
help: keep them with --set fidelity=bytes";

/// Refuses what cannot be drawn, before anything is run.
pub(super) fn check(options: &Run, counts_only: bool, duration: Duration) -> Result<(), Trouble> {
    let Some(file) = &options.trace else { return Ok(()) };
    files::spare(file)?;
    let refused = match options {
        _ if options.engine != EngineName::Sim => Some(NOT_SIMULATED),
        _ if options.repeat > 1 => Some(SEVERAL),
        _ if counts_only => Some(COUNTED),
        _ => None,
    };
    if let Some(why) = refused {
        return Err(Trouble(why.into()));
    }
    if let Some(window) = options.trace_window
        && Duration::from_ns(window.from_ns) >= duration
    {
        return Err(Trouble(format!(
            "error: --trace-window begins after {}, and the run lasts {duration}; nothing was run\n\
             help: begin earlier, or let the run last longer with --set duration=…",
            Duration::from_ns(window.from_ns)
        )));
    }
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if file.is_dir() || !folder.is_dir() {
        return Err(Trouble(format!(
            "error: cannot write {}: it is a folder, or is in one that does not exist; nothing was run\n\
             help: give --trace the path of a file",
            file.display()
        )));
    }
    Ok(())
}

/// Simulates, and writes the trace.
pub(super) fn traced(
    prepared: &Prepared<'_>,
    options: &Run,
    file: &Path,
    printer: &Printer,
    stop: &AtomicBool,
) -> Result<FinishedRun, Trouble> {
    let duration = prepared.plan().duration;
    let whole = WindowArgument { from_ns: 0, until_ns: duration.as_ns() };
    let WindowArgument { from_ns, until_ns } = options.trace_window.unwrap_or(whole);
    let at = |ns: i64| SimTime::ZERO + Duration::from_ns(ns);
    let window = TraceWindow { from: at(from_ns), until: at(until_ns) };
    let mut go_on = progress(duration, "simulating", printer, stop);
    let (run, trace) = simulate_traced(prepared, options.capture, window, &mut go_on).map_err(|error| {
        let help = match &error {
            // A little less than what was too much.
            TraceError::TooLong { from, reached } => {
                let fits = (*reached - *from).as_ns() / 10 * 9;
                format!("\nhelp: ask for a part of the run: --trace-window {from}..{}", *from + Duration::from_ns(fits))
            }
            _ => String::new(),
        };
        Trouble(format!("error: {error}{help}"))
    })?;
    write(&trace, file, printer)?;
    Ok(run)
}

fn write(trace: &Trace, file: &Path, printer: &Printer) -> Result<(), Trouble> {
    let bytes = trace.encode();
    printer.hint(&format!(
        "trace: {} slices and {} marks, {:.1} MB in {}; open it at https://ui.perfetto.dev, or offline with vizviewer",
        trace.slices.len(),
        trace.marks.len(),
        bytes.len() as f64 * 1e-6,
        file.display()
    ));
    files::write_bytes(file, &bytes)
}

/// A part of a run, from the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct WindowArgument {
    /// From then on `[ns]`.
    from_ns: i64,
    /// Until then `[ns]`.
    until_ns: i64,
}

impl FromStr for WindowArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (from, until) = text.split_once("..").ok_or("write FROM..TO, for example 100ms..120ms")?;
        let time = |text: &str| match text.trim().parse::<Duration>() {
            Ok(time) if time >= Duration::ZERO => Ok(time.as_ns()),
            Ok(_) => Err(format!("`{}` is before the start of the run", text.trim())),
            Err(error) => Err(format!("`{}`: {error}", text.trim())),
        };
        let (from_ns, until_ns) = (time(from)?, time(until)?);
        if from_ns >= until_ns {
            return Err("a window ends after it begins: write FROM..TO with the earlier time first".into());
        }
        Ok(Self { from_ns, until_ns })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_two_times_with_units_the_earlier_first() {
        assert_eq!("1ms..2500us".parse(), Ok(WindowArgument { from_ns: 1_000_000, until_ns: 2_500_000 }));
        assert_eq!(" 0s .. 10ms ".parse(), Ok(WindowArgument { from_ns: 0, until_ns: 10_000_000 }));
        for (wrong, why) in [
            ("5ms", "FROM..TO"),
            ("5ms..", "``"),
            ("5..6ms", "`5`"),
            ("-1ms..6ms", "before the start"),
            ("6ms..6ms", "earlier time first"),
        ] {
            let error = wrong.parse::<WindowArgument>().unwrap_err();
            assert!(error.contains(why), "{wrong}: {error}");
        }
    }
}
