//! Formats in and out, against what other programs read from the same files.
#![allow(clippy::unwrap_used, reason = "a failed test panics")]

mod arxml;
mod asc;
mod busmaster;
mod candump;
mod capture;
mod content;
mod csv;
mod dbc;
mod format;
mod gzip;
mod mf4;
mod pcap;
mod samples;
mod sqlite;
mod statistics;
mod trc;

use chronoseal_recordings::{ReadError, Recording, read};

/// A recording by figures another program gives of it, too.
#[derive(PartialEq, Eq, Debug)]
struct Figures {
    frames: usize,
    errors: usize,
    identifiers: usize,
    data_len: usize,
    data_sum: u64,
    id_sum: u64,
}

fn figures(recording: &Recording) -> Figures {
    let ids: std::collections::BTreeSet<_> = recording.frames.iter().map(|recorded| recorded.frame.id()).collect();
    Figures {
        frames: recording.frames.len(),
        errors: recording.errors.len(),
        identifiers: ids.len(),
        data_len: recording.frames.iter().map(|recorded| recorded.frame.data().len()).sum(),
        data_sum: recording.frames.iter().flat_map(|recorded| recorded.frame.data()).map(|byte| u64::from(*byte)).sum(),
        id_sum: recording.frames.iter().map(|recorded| u64::from(recorded.frame.id().raw())).sum(),
    }
}

/// `nanoseconds channel frame`, the frame as a candump log writes it: a recording is easily compared so.
fn lines(recording: &Recording) -> Vec<String> {
    let log = chronoseal_recordings::write_candump(recording);
    let written = log.lines().filter_map(|line| line.split_whitespace().nth(2));
    let frames = recording.frames.iter().map(|frame| (frame.at_ns, frame.channel, 0));
    let errors = recording.errors.iter().map(|error| (error.at_ns, error.channel, 1));
    let mut all: Vec<_> = frames.chain(errors).collect();
    all.sort_by_key(|(at_ns, _, error)| (*at_ns, *error));
    let name = |channel: u16| &recording.channels[usize::from(channel)];
    all.iter().zip(written).map(|((at_ns, channel, _), frame)| format!("{at_ns} {} {frame}", name(*channel))).collect()
}

fn good(bytes: impl AsRef<[u8]>) -> Recording {
    read(bytes.as_ref()).unwrap_or_else(|error| panic!("{error}"))
}

fn refused(bytes: impl AsRef<[u8]>) -> ReadError {
    match read(bytes.as_ref()) {
        Err(error) => error,
        Ok(recording) => panic!("{} frames were read", recording.frames.len()),
    }
}

#[test]
fn bytes_of_no_format_are_refused_with_what_they_begin_with() {
    for (bytes, begins) in
        [(&b""[..], "``"), (b"time_us,can_id,data\n1,2,3\n", "`time_us,can_id,data`"), (b"\0\x01", "`")]
    {
        let error = refused(bytes);
        assert!(error.to_string().contains(begins), "{error}");
        assert!(error.to_string().contains("give a candump"), "{error}");
    }
}
