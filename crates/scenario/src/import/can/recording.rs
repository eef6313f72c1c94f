//! What was recorded on a bus.

use std::collections::BTreeMap;

use chronoseal_core::Duration;
use chronoseal_recordings::{IdentifierStatistics, Problem as Reason, ReadError, Recording, Warning};
use chronoseal_wire::can::{BitTiming, BitTimingConfig, FrameKind};

use super::{FoundBus, FoundMessage, REST_OF_BUS, write};
use crate::import::WARNING;
use crate::import::capture::round_period_us;
use crate::limits::MESSAGES_MAX;
use crate::problem::{Code, Problem, Problems};

/// Bit rates that are tried, usual first `[bit/s]`.
const BIT_RATES: [u64; 2] = [500_000, 1_000_000];
/// J1939 and NMEA 2000, which use 29 bits alone `[bit/s]`.
const BIT_RATES_EXTENDED: [u64; 3] = [250_000, 500_000, 1_000_000];
/// A bus that would be busier than this was a faster one `[%]`.
const LOAD_MAX_PERCENT: i64 = 80;
/// Bit rate of the data phase that is assumed `[bit/s]`.
const DATA_BIT_RATE: u64 = 2_000_000;

/// A scenario from a recording of a CAN bus: each identifier that was seen twice or more becomes a message.
///
/// Its period is the median distance of its frames, a round number if one is near, its length the longest that was seen.
/// Who sent what is not recorded, so one node sends all. Comments say what was assumed.
///
/// # Errors
/// If the bytes are no recording, or no identifier in it was seen twice. A recording that ends in the middle of a frame
/// is used up to there.
pub fn from_recording(source_name: &str, bytes: &[u8]) -> Result<String, Problems> {
    let fail = |message: String, help: &str| {
        Problems::one(source_name, "", Problem::new(Code::ImportRecording, message).help(help))
    };
    let (recording, damage) = match chronoseal_recordings::read(bytes) {
        Ok(recording) => (recording, None),
        Err(ReadError { problem: problem @ Reason::Truncated { .. }, read }) => (*read, Some(problem.to_string())),
        Err(error) => {
            return Err(fail(error.to_string(), "mend it, or give a recording of another format"));
        }
    };
    let statistics = chronoseal_recordings::identifiers(&recording);
    let Some(channel) = busiest(&statistics) else {
        let damage = damage.map_or(String::new(), |damage| format!(" ({damage})"));
        let message = format!("the recording has {} frames and so no message{damage}", recording.frames.len());
        return Err(fail(message, "record for a few periods of the slowest message"));
    };
    let mut about = vec![format!(
        "{} frames of {:.3} s were read from {source_name} ({}).",
        recording.frames.len(),
        recording.length_ns() as f64 * 1e-9,
        recording.format
    )];
    let others = statistics.iter().filter(|one| one.channel != channel).map(|one| one.count).sum::<u64>();
    if others > 0 {
        let name = &recording.channels[usize::from(channel)];
        about.push(format!("{others} frames were left out: they are of other channels than {name}, which has most."));
    }
    let mut messages = Vec::new();
    let (mut rare, mut slow) = (0, 0);
    for one in statistics.iter().filter(|one| one.channel == channel) {
        let Some(message) = message(one) else {
            rare += 1;
            continue;
        };
        if message.is_writable() { messages.push(message) } else { slow += 1 }
    }
    for (count, what) in [
        (rare, "identifiers were left out: they have no period, or are only asked for"),
        (slow, "identifiers were left out: their frames are more than 10 s apart"),
    ] {
        if count > 0 {
            about.push(format!("{count} {what}."));
        }
    }
    if messages.is_empty() {
        let message = "no identifier was seen twice, 1us to 10s apart".into();
        return Err(fail(message, "record for a few periods of the slowest message"));
    }
    if messages.len() > MESSAGES_MAX as usize {
        let message = format!("the recording has {} identifiers; a bus has at most {MESSAGES_MAX}", messages.len());
        return Err(fail(message, "cut the recording, or take out what is no bus traffic"));
    }
    about.extend(recording.warnings.iter().map(remark));
    about.extend(damage.map(|damage| format!("The recording is damaged behind these frames: {damage}.")));
    let brs = messages.iter().any(|message| matches!(message.kind, FrameKind::Fd { brs: true, .. }));
    let bit_rate = bit_rate(&recording, channel, &messages, brs);
    about.push("Assumed: bit rates, duration, and one node that sends everything. Change them to yours.".into());
    about.push("To replay the recording itself, write instead of the streams a `[[recordings]]` with".into());
    about.push(format!("  name = \"recorded\", traffic = {{ file = {source_name:?} }}, from = \"{REST_OF_BUS}\"",));
    let data_bit_rate = brs.then_some(DATA_BIT_RATE.max(bit_rate));
    write(source_name, FoundBus { about, bit_rate, data_bit_rate, nodes: vec![REST_OF_BUS.into()], messages })
}

/// A warning of what was recorded on another link than a CAN bus, and a comment of all else.
fn remark(warning: &Warning) -> String {
    match warning {
        Warning::LeftOut { what: chronoseal_recordings::NOT_CAN, count, first } => format!(
            "{WARNING}{count} packets that are no CAN frames are not in the scenario, the first at {first}. For those of Ethernet \
             make a second scenario, of a file with nothing else: `tshark -r FILE -Y eth -w ethernet.pcapng`."
        ),
        other => format!("{other}."),
    }
}

/// The channel with most frames, the first of several.
fn busiest(statistics: &[IdentifierStatistics]) -> Option<u16> {
    let mut frames: BTreeMap<u16, u64> = BTreeMap::new();
    for one in statistics {
        *frames.entry(one.channel).or_default() += one.count;
    }
    let most = frames.values().copied().max()?;
    frames.into_iter().find(|(_, count)| *count == most).map(|(channel, _)| channel)
}

fn message(one: &IdentifierStatistics) -> Option<FoundMessage> {
    let kind = one.kind?;
    let period_ns = one.period_ns?;
    let rounded_us = round_period_us(period_ns);
    let period = Duration::from_us(rounded_us.unwrap_or((period_ns / 1_000).min(86_400_000_000) as i64));
    let lengths =
        if one.len_min == one.len_max { String::new() } else { format!(", {} to {} bytes", one.len_min, one.len_max) };
    let remote = if one.remote_count == 0 { String::new() } else { format!(", {} of them remote", one.remote_count) };
    let distance = Duration::from_ns(i64::try_from(period_ns).ok()?);
    Some(FoundMessage {
        name: format!("{:#x}", one.id.raw()) + if one.id.is_extended() { "x" } else { "" },
        from: REST_OF_BUS.into(),
        id: one.id,
        kind,
        len: one.len_max,
        period,
        comment: format!("{} frames{remote}{lengths}; usual distance {distance}.", one.count),
    })
}

/// The first usual bit rate the recorded frames fit.
fn bit_rate(recording: &Recording, channel: u16, messages: &[FoundMessage], brs: bool) -> u64 {
    let rates =
        if messages.iter().all(|message| message.id.is_extended()) { &BIT_RATES_EXTENDED[..] } else { &BIT_RATES };
    let fits = |rate: u64| {
        let data_rate = if brs { DATA_BIT_RATE.max(rate) } else { rate };
        let config = BitTimingConfig::new(chronoseal_core::Rate(rate), chronoseal_core::Rate(data_rate));
        let Ok(timing) = BitTiming::new(&config) else { return false };
        let whole = chronoseal_recordings::bus_load(recording, channel, &timing, u64::MAX);
        whole.is_ok_and(|load| {
            load.iter().all(|sample| {
                i128::from(sample.busy.as_ps()) * 100
                    <= i128::from(sample.length_ns) * 1_000 * i128::from(LOAD_MAX_PERCENT)
            })
        })
    };
    rates.iter().copied().find(|rate| fits(*rate)).unwrap_or(rates[rates.len() - 1])
}
