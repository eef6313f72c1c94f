//! What was recorded on a bus.

use std::collections::BTreeSet;

use chronoseal_core::Duration;
use chronoseal_recordings::{IdentifierStatistics, Problem as Reason, ReadError, Recording, Warning};
use chronoseal_wire::can::{BitTiming, BitTimingConfig, FrameKind};

use super::{BUS, FoundBus, FoundMessage, REST_OF_BUS, holds, write};
use crate::import::capture::round_period_us;
use crate::import::{WARNING, recorded_length, run_length};
use crate::kinds::KINDS;
use crate::limits::{CLUSTER_CYCLE_MAX, MESSAGES_MAX, SEGMENTS_MAX};
use crate::problem::{Code, Problem, Problems};
use crate::schema::Schema;

/// Bit rates that are tried, usual first `[bit/s]`.
const BIT_RATES: [u64; 2] = [500_000, 1_000_000];
/// J1939 and NMEA 2000, which use 29 bits alone `[bit/s]`.
const BIT_RATES_EXTENDED: [u64; 3] = [250_000, 500_000, 1_000_000];
/// A bus that would be busier than this was a faster one `[%]`.
const LOAD_MAX_PERCENT: i64 = 80;
/// An identifier that was there for a smaller share of a recording is spread over all of it `[1]`.
const SHARE_MIN: f64 = 0.05;
/// A period that gives other bytes per second than were counted, by so much, is none `[1]`.
const TOLERANCE: f64 = 0.05;
/// Bit rate of the data phase that is assumed `[bit/s]`.
const DATA_BIT_RATE: u64 = 2_000_000;

/// A scenario from a recording of a CAN bus: each identifier that was seen twice or more becomes a message.
///
/// Its period is the median distance of its frames, a round number if one is near, unless that gives other bytes per second than were
/// counted: then it is the distance that gives them. Its length is the longest that was seen.
/// Who sent what is not recorded, so one node sends all. Each channel with messages is a segment of its own. Comments say what was
/// assumed.
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
    if statistics.is_empty() {
        let damage = damage.map_or(String::new(), |damage| format!(" ({damage})"));
        let message = format!("the recording has {} frames and so no message{damage}", recording.frames.len());
        return Err(fail(message, "record for a few periods of the slowest message"));
    }
    let recorded = recorded_length(recording.length_ns(), recording.frames.len());
    let mut about = vec![format!(
        "{} frames of {:.3} s were read from {source_name} ({}).",
        recording.frames.len(),
        recording.length_ns() as f64 * 1e-9,
        recording.format
    )];
    let mut found: Vec<Channel> = Vec::new();
    for (number, name) in (0u16..).zip(&recording.channels) {
        let mut channel = Channel { number, name, messages: Vec::new(), rare: 0, slow: 0 };
        for one in statistics.iter().filter(|one| one.channel == number) {
            match message(one, recording.length_ns()) {
                None => channel.rare += 1,
                Some(message) if message.is_writable() => channel.messages.push(message),
                Some(_) => channel.slow += 1,
            }
        }
        found.push(channel);
    }
    let is_several = found.iter().filter(|channel| !channel.messages.is_empty()).count() > 1;
    for channel in &found {
        let on = if is_several { format!(" of channel {}", channel.name) } else { String::new() };
        for (count, what) in [
            (channel.rare, "were left out: they have no period, or are only asked for"),
            (channel.slow, "were left out: their frames are more than 10 s apart"),
        ] {
            if count > 0 {
                about.push(format!("{count} identifiers{on} {what}."));
            }
        }
    }
    found.retain(|channel| !channel.messages.is_empty());
    if found.is_empty() {
        let damaged = recording.warnings.iter().find(|warning| matches!(warning, Warning::Damaged { .. }));
        let damaged = damaged.map_or(String::new(), |damaged| format!("; {damaged}"));
        let message = format!("no identifier was seen twice, 1us to 10s apart{damaged}");
        return Err(fail(message, "record for a few periods of the slowest message"));
    }
    if found.len() > SEGMENTS_MAX as usize {
        let message =
            format!("the recording has {} channels; a scenario has at most {SEGMENTS_MAX} segments", found.len());
        return Err(fail(message, "cut the recording by channels"));
    }
    if let Some(channel) = found.iter().find(|channel| channel.messages.len() > MESSAGES_MAX as usize) {
        let (count, name) = (channel.messages.len(), channel.name);
        let message =
            format!("channel {name} of the recording has {count} identifiers; a bus has at most {MESSAGES_MAX}");
        return Err(fail(message, "cut the recording, or take out what is no bus traffic"));
    }
    about.extend(recording.warnings.iter().map(remark));
    about.extend(damage.map(|damage| format!("{WARNING}the recording is damaged behind these frames: {damage}.")));
    if is_several {
        about.push(format!(
            "{} channels have messages, and each is a segment of its own: nothing says what gateways carry.",
            found.len()
        ));
        about.push(
            "Assumed: bit rates, duration, and one node of each segment that sends everything. Change them to yours."
                .into(),
        );
    } else {
        about.push("Assumed: bit rates, duration, and one node that sends everything. Change them to yours.".into());
    }
    if recording.channels.len() == 1 {
        about.push("To replay the recording itself, write instead of the streams a `[[recordings]]` with".into());
        about.push(format!("  name = \"recorded\", traffic = {{ file = {source_name:?} }}, from = \"{REST_OF_BUS}\""));
        // Behind the last frame, and before the first one comes again.
        let once = Duration::from_ns((recording.length_ns() as i64 + recorded.as_ns()) / 2);
        about.push(format!(
            "and `duration = \"{once}\"`, in which each of its frames is sent once if that node has `clock = \"ideal\"`."
        ));
    }
    let mut names = BTreeSet::new();
    let buses = found.into_iter().map(|channel| {
        let Channel { number, name, messages, .. } = channel;
        let brs = messages.iter().any(|message| matches!(message.kind, FrameKind::Fd { brs: true, .. }));
        let bit_rate = bit_rate(&recording, number, &messages, brs);
        let bit_rate = holds::bit_rate(&messages, bit_rate, brs.then_some(DATA_BIT_RATE)).unwrap_or(bit_rate);
        let data_bit_rate = brs.then_some(DATA_BIT_RATE.max(bit_rate));
        let name = if is_several { segment_name(name, &mut names) } else { BUS.into() };
        FoundBus { name, bit_rate, data_bit_rate, nodes: vec![REST_OF_BUS.into()], messages }
    });
    let buses: Vec<FoundBus> = buses.collect();
    let slowest = buses.iter().flat_map(|bus| &bus.messages).map(|message| message.period).max();
    let duration = run_length(recorded, slowest.unwrap_or(Duration::ZERO));
    write(source_name, &about, duration, buses)
}

/// A channel of a recording, with what is written of it.
struct Channel<'r> {
    number: u16,
    name: &'r str,
    messages: Vec<FoundMessage>,
    /// Identifiers without a period.
    rare: usize,
    /// Identifiers with too long a period.
    slow: usize,
}

/// The name of a channel's segment, which no other has and no key of a stream is.
fn segment_name(channel: &str, names: &mut BTreeSet<String>) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let mut name: String = channel.chars().map(plain).take(30).collect();
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        name = format!("channel-{}", name.trim_start_matches(['-', '_']));
    }
    if Schema::of(KINDS).has_key_beside_segments(&name).is_some() {
        name += "-bus";
    }
    let (whole, mut number) = (name.clone(), 2);
    while !names.insert(name.clone()) {
        name = format!("{whole}-{number}");
        number += 1;
    }
    name
}

/// A warning of what was recorded on another link than a CAN bus, and a comment of all else.
fn remark(warning: &Warning) -> String {
    match warning {
        Warning::LeftOut { what: chronoseal_recordings::NOT_CAN, count, first } => format!(
            "{WARNING}{count} packets that are no CAN frames are not in the scenario, the first at {first}. For those of Ethernet \
             make a second scenario, of a file with nothing else: `tshark -r FILE -Y eth -w ethernet.pcapng`."
        ),
        lost @ (Warning::Damaged { .. } | Warning::TooLate { .. }) => format!("{WARNING}{lost}."),
        other => format!("{other}."),
    }
}

fn message(one: &IdentifierStatistics, recording_ns: u64) -> Option<FoundMessage> {
    let kind = one.kind?;
    let period_ns = one.period_ns?;
    let rounded_us = round_period_us(period_ns);
    let usual_us = rounded_us.unwrap_or((period_ns / 1_000).min(86_400_000_000) as i64);
    let is_brief = (one.span_ns + period_ns) as f64 / (recording_ns.max(1) as f64) < SHARE_MIN;
    let counted_us = match one.data_count() {
        // Spread over all of it; what is slower than anything goes to the slowest there is.
        _ if is_brief => {
            let spread_us = counted_distance_us(one, recording_ns as f64 / one.data_count() as f64);
            spread_us.map(|spread| spread.min(CLUSTER_CYCLE_MAX.as_us_f64()))
        }
        data_count => counted_distance_us(one, one.span_ns as f64 / data_count.saturating_sub(1).max(1) as f64),
    };
    let differs = |counted: &f64| (usual_us as f64 - counted).abs() > counted * TOLERANCE;
    let counted_us = counted_us.filter(differs).map(|counted| counted.round().clamp(1.0, 86_400e6) as i64);
    let period = Duration::from_us(counted_us.unwrap_or(usual_us));
    let lengths =
        if one.len_min == one.len_max { String::new() } else { format!(", {} to {} bytes", one.len_min, one.len_max) };
    let remote = if one.remote_count == 0 { String::new() } else { format!(", {} of them remote", one.remote_count) };
    let distance = Duration::from_ns(i64::try_from(period_ns).ok()?);
    let mut comment = format!("{} frames{remote}{lengths}; usual distance {distance}", one.count);
    if one.burst > 1 {
        comment += &format!(", up to {} at once", one.burst);
    }
    comment += ".";
    if is_brief {
        let [span, whole] = [one.span_ns, recording_ns].map(|ns| Duration::from_ns(ns as i64));
        comment += &format!(
            " assumed: evenly spread over all of the recording, though it was seen for {span:.3} of {whole:.3} only."
        );
    } else if counted_us.is_some() {
        comment += " assumed: as many bytes a second as were counted, evenly spread.";
    }
    if !is_brief && u128::from(one.span_ns + period_ns) * 10 < u128::from(recording_ns) * 9 {
        let [span, whole] = [one.span_ns, recording_ns].map(|ns| Duration::from_ns(ns as i64));
        comment += &format!(" assumed: it goes on all the time, though it was seen for {span:.3} of {whole:.3} only.");
    }
    Some(FoundMessage {
        name: format!("{:#x}", one.id.raw()) + if one.id.is_extended() { "x" } else { "" },
        from: REST_OF_BUS.into(),
        id: one.id,
        kind,
        len: one.len_max,
        period,
        comment,
        deadline: None,
    })
}

/// The distance at which messages of the longest length have as many bytes a second as those that came at this one `[ns, us]`.
fn counted_distance_us(one: &IdentifierStatistics, mean_ns: f64) -> Option<f64> {
    if one.data_count() == 0 || mean_ns <= 0.0 {
        return None;
    }
    let mean_us = mean_ns * 1e-3;
    let mean_len = one.data_len as f64 / one.data_count() as f64;
    // Empty ones have no bytes, and are as many.
    Some(if one.data_len == 0 { mean_us } else { mean_us * one.len_max as f64 / mean_len })
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
