//! The tables of a run: columns with units in their names, raw samples, names beside numbers. Times are whole nanoseconds.

mod cells;
mod columns;
mod read;
mod write;

use std::path::Path;
use std::sync::Arc;

use chronoseal_core::{AttackKind, DiscardReason, Duration, Event, EventKind, NodeId, SimTime, StreamId};

pub use self::columns::Damage;
use self::columns::{Cell, Column, Head, Value, after, field, name, named};
pub(crate) use self::write::TableWriter;
use crate::store::StoreError;
use crate::{EventRow, FrameRow, HopRow, Outcome, ReleaseRow, SegmentSeries, StallRow, WorkRow};

/// A table with a row for each `R`.
pub(crate) struct Table<R: 'static> {
    /// Its file in the folder of a run.
    pub(crate) file: &'static str,
    columns: &'static [Column<R>],
}

impl<R> Table<R> {
    fn heads(&self) -> Vec<Head> {
        self.columns.iter().map(|column| column.head).collect()
    }
}

/// Frames.
pub(crate) static FRAMES: Table<StoredFrame> = Table {
    file: "frames.parquet",
    columns: &[
        name!("stream": stream_name(frame.stream.0)),
        field!("stream_id": frame.stream.0),
        field!("sequence": frame.sequence),
        name!("sender": node_name(frame.sender.0)),
        field!("sender_id": frame.sender.0),
        name!("at": node_name(frame.at.0)),
        field!("at_id": frame.at.0),
        Column::text(
            "attack",
            |row, _| Cell::text(row.frame.attack.map(AttackKind::name)),
            Some(|row, cell| {
                let attack = cell.as_text().map(|text| named(&AttackKind::ALL, AttackKind::name, text, "attack"));
                row.frame.attack = attack.transpose()?;
                Ok(())
            }),
        ),
        field!("len_bytes": frame.len),
        // Each counts from the one before: what they have in common is stored once.
        field!("due_at_ns": frame.due_at),
        after!("slot_after_ns": frame.slot_start, since [frame.due_at]),
        after!("sent_after_ns": frame.sent_at, since [frame.slot_start, frame.due_at]),
        after!("arrived_after_ns": frame.arrived_at, since [frame.sent_at, frame.slot_start, frame.due_at]),
        after!("departed_after_ns": frame.departed_at, since [frame.arrived_at, frame.sent_at, frame.slot_start, frame.due_at]),
        after!("received_after_ns": frame.received_at, since [frame.departed_at, frame.arrived_at, frame.sent_at, frame.slot_start, frame.due_at]),
        after!("accepted_after_ns": frame.accepted_at, since [frame.received_at, frame.departed_at, frame.arrived_at, frame.sent_at, frame.slot_start, frame.due_at]),
        after!("cycle_after_ns": frame.cycle_start, since [frame.slot_start, frame.arrived_at, frame.sent_at, frame.due_at]),
        Column::text(
            "outcome",
            |row, _| Cell::text(Some(row.frame.outcome.name())),
            Some(|row, cell| {
                row.frame.outcome = named(&OUTCOMES, |outcome| outcome.name(), cell.to_text("outcome")?, "outcome")?;
                Ok(())
            }),
        ),
        // After the outcome, which says whether there is one.
        Column::text(
            "reason",
            |row, _| Cell::text(row.frame.outcome.reason().map(DiscardReason::name)),
            Some(|row, cell| {
                if let Outcome::Discarded(reason) = &mut row.frame.outcome {
                    let text = cell.to_text("reason")?;
                    *reason = named(&DiscardReason::ALL, DiscardReason::name, text, "discard reason")?;
                }
                Ok(())
            }),
        ),
        field!("stalled": frame.stalled),
        field!("told": told),
    ],
};

/// One of each name.
const OUTCOMES: [Outcome; 5] = [
    Outcome::Delivered,
    Outcome::Late,
    Outcome::Missing,
    Outcome::Unaccounted,
    Outcome::Discarded(DiscardReason::ALL[0]),
];

/// A frame with which of its events are not stored, since its row says the same: the sum of [`TOLD_SENT`] and [`TOLD_DELIVERED`].
#[derive(Clone)]
pub(crate) struct StoredFrame {
    pub(crate) frame: FrameRow,
    pub(crate) told: u16,
}

/// Its sender's `sent`.
pub(crate) const TOLD_SENT: u16 = 1;
/// Its receiver's `delivered`.
pub(crate) const TOLD_DELIVERED: u16 = 2;

impl StoredFrame {
    /// The events that are not stored.
    fn told(&self) -> impl Iterator<Item = EventRow> {
        let FrameRow { stream, sequence, sender, at, sent_at, due_at, accepted_at, .. } = self.frame;
        let event = |bit: u16, kind, time: Option<SimTime>, node| {
            let (time, due) = time.filter(|_| self.told & bit != 0).zip(due_at)?;
            Some(EventRow {
                time,
                node,
                event: Event { value: (time - due).as_ps(), ..Event::of(kind, stream, sequence) },
            })
        };
        let sent = event(TOLD_SENT, EventKind::Sent, sent_at, sender);
        sent.into_iter().chain(event(TOLD_DELIVERED, EventKind::Delivered, accepted_at, at))
    }
}

/// Of a row to be read.
const BLANK_FRAME: StoredFrame = StoredFrame {
    frame: FrameRow::open(StreamId::NONE, 0, NodeId(0), NodeId(0), SimTime::ZERO, Outcome::Unaccounted),
    told: 0,
};

/// Refuses tables whose rows are of another scenario than that with this hash.
pub(crate) fn check_scenario(folder: &Path, expected: &str) -> Result<(), StoreError> {
    let files = [FRAMES.file, HOPS.file, EVENTS.file, SEGMENTS.file, WORK.file, STALLS.file, RELEASES.file];
    let there = files.into_iter().map(|file| folder.join(file)).filter(|path| path.is_file());
    there.into_iter().try_for_each(|path| read::check_scenario(&path, expected))
}

/// The frames of a run.
pub(crate) fn read_frames(folder: &Path) -> Result<Vec<FrameRow>, StoreError> {
    let mut all = Vec::new();
    read_each_frame(folder, &mut |row| all.push(row))?;
    Ok(all)
}

/// Hands over the frames of a run one by one.
pub(crate) fn read_each_frame(folder: &Path, take: &mut dyn FnMut(FrameRow)) -> Result<(), StoreError> {
    FRAMES.read_each(folder, &BLANK_FRAME, &mut |row| {
        take(row.frame);
        Ok(())
    })
}

/// Transmissions.
pub(crate) static HOPS: Table<HopRow> = Table {
    file: "hops.parquet",
    columns: &[
        name!("stream": stream_name(stream.0)),
        field!("stream_id": stream.0),
        field!("sequence": sequence),
        field!("segment": segment),
        name!("from": node_name(from.0)),
        field!("from_id": from.0),
        name!("to": node_name(to.0)),
        field!("to_id": to.0),
        field!("sent_at_ns": sent_at),
        after!("arrived_after_ns": arrived_at, since [sent_at]),
        after!("departed_after_ns": departed_at, since [arrived_at, sent_at]),
        after!("received_after_ns": received_at, since [departed_at, arrived_at, sent_at]),
        field!("frame": frame),
        field!("origins": origins),
    ],
};

/// The transmissions of a run.
pub(crate) fn read_hops(folder: &Path) -> Result<Vec<HopRow>, StoreError> {
    let blank = HopRow {
        stream: StreamId::NONE,
        sequence: 0,
        segment: 0,
        from: NodeId(0),
        to: NodeId(0),
        sent_at: None,
        arrived_at: None,
        departed_at: None,
        received_at: None,
        frame: 0,
        origins: Vec::new(),
    };
    HOPS.read(folder, &blank)
}

/// Events; `detail` is [`EventKind::detail`].
pub(crate) static EVENTS: Table<EventRow> = Table {
    file: "events.parquet",
    columns: &[
        field!("time_ns": time),
        name!("node": node_name(node.0)),
        field!("node_id": node.0),
        Column::text(
            "kind",
            |row, _| Cell::text(Some(row.event.kind.name())),
            Some(|row, cell| {
                let text = cell.to_text("kind")?;
                let unknown = || Damage::Name { what: "kind of event", name: text.into() };
                row.event.kind = EventKind::all().find(|kind| kind.name() == text).ok_or_else(unknown)?;
                Ok(())
            }),
        ),
        // After the kind, of which it says more.
        Column::text(
            "detail",
            |row, _| Cell::text(row.event.kind.detail()),
            Some(|row, cell| {
                let (name, detail) = (row.event.kind.name(), cell.as_text());
                let unknown = || match detail {
                    Some(detail) => Damage::Name { what: "detail of such an event", name: detail.into() },
                    None => Damage::Empty("detail"),
                };
                let mut kinds = EventKind::all();
                let kind = kinds.find(|kind| kind.name() == name && kind.detail() == detail);
                row.event.kind = kind.ok_or_else(unknown)?;
                Ok(())
            }),
        ),
        name!("stream": stream_name(event.stream.0)),
        field!("stream_id": event.stream.0),
        field!("sequence": event.sequence),
        field!("value_ps": event.value),
    ],
};

/// The events of a run in the order of time, those among them that rows of frames say.
pub(crate) fn read_events(folder: &Path) -> Result<Vec<EventRow>, StoreError> {
    let event = Event::of(EventKind::Sent, StreamId::NONE, 0);
    let mut events = EVENTS.read(folder, &EventRow { time: SimTime::ZERO, node: NodeId(0), event })?;
    FRAMES.read_each(folder, &BLANK_FRAME, &mut |row| {
        events.extend(row.told());
        Ok(())
    })?;
    events.sort_by_key(|event| event.time);
    Ok(events)
}

/// A value of a [`SegmentSeries`].
#[derive(Clone)]
pub(crate) struct SegmentValue {
    segment: u16,
    name: Arc<str>,
    unit: Arc<str>,
    window: Option<Duration>,
    /// Its place in the series.
    index: u64,
    value: i64,
}

/// What segments counted; `window_ns` is empty in totals.
pub(crate) static SEGMENTS: Table<SegmentValue> = Table {
    file: "segments.parquet",
    columns: &[
        name!("segment": segment_name(segment)),
        field!("segment_id": segment),
        field!("name": name),
        field!("unit": unit),
        field!("window_ns": window),
        field!("index": index),
        field!("value": value),
    ],
};

/// The rows of some series, one for each value.
pub(crate) fn segment_values(series: &[SegmentSeries]) -> Vec<SegmentValue> {
    let values = series.iter().flat_map(|series| {
        let (name, unit) = (Arc::from(&*series.name), Arc::from(&*series.unit));
        (0..).zip(&series.values).map(move |(index, value)| SegmentValue {
            segment: series.segment,
            name: Arc::clone(&name),
            unit: Arc::clone(&unit),
            window: series.window,
            index,
            value: *value,
        })
    });
    values.collect()
}

/// The series of a run.
pub(crate) fn read_segments(folder: &Path) -> Result<Vec<SegmentSeries>, StoreError> {
    let none: Arc<str> = "".into();
    let blank = SegmentValue { segment: 0, name: none.clone(), unit: none, window: None, index: 0, value: 0 };
    let mut rows: Vec<SegmentSeries> = Vec::new();
    SEGMENTS.read_each(folder, &blank, &mut |row| {
        // The values of a series stand together and in order, so the first one begins it.
        match (row.index, rows.last_mut()) {
            (index, Some(series)) if index > 0 && index == series.values.len() as u64 => series.values.push(row.value),
            (0, _) => rows.push(SegmentSeries {
                segment: row.segment,
                name: (*row.name).into(),
                unit: (*row.unit).into(),
                window: row.window,
                values: vec![row.value],
            }),
            (index, _) => return Err(Damage::Order { column: "index", found: index }),
        }
        Ok(())
    })?;
    Ok(rows)
}

/// Computations.
pub(crate) static WORK: Table<WorkRow> = Table {
    file: "work.parquet",
    columns: &[
        field!("time_ns": time),
        name!("node": node_name(node.0)),
        Column::text("operation", |row, _| Cell::text(Some(row.operation)), None),
        field!("len_bytes": len),
        field!("duration_ns": duration),
    ],
};

/// Stalls.
pub(crate) static STALLS: Table<StallRow> =
    Table { file: "stalls.parquet", columns: &[field!("time_ns": time), field!("duration_ns": duration)] };

/// The stalls of a run.
pub(crate) fn read_stalls(folder: &Path) -> Result<Vec<StallRow>, StoreError> {
    STALLS.read(folder, &StallRow { time: SimTime::ZERO, duration: Duration::ZERO })
}

/// One millisecond `[ns]`.
const MS: i64 = 1_000_000;

/// The emulator's writes. When each was planned to the nanosecond is in the row of its frame.
pub(crate) static RELEASES: Table<ReleaseRow> = Table {
    file: "releases.parquet",
    columns: &[
        Column::of(
            "planned_ms",
            |row| &row.planned,
            |row, _| Cell::Number(row.planned.since_zero().as_ns().div_euclid(MS)),
            |row, cell| {
                let Cell::Number(ms) = cell else { return Err(Damage::Empty("planned_ms")) };
                row.planned = SimTime::ZERO + Duration::from_ns(ms.saturating_mul(MS));
                Ok(())
            },
        ),
        columns::measured(field!("error_ns": error)),
    ],
};

/// The writes of a run.
pub(crate) fn read_releases(folder: &Path) -> Result<Vec<ReleaseRow>, StoreError> {
    RELEASES.read(folder, &ReleaseRow { planned: SimTime::ZERO, error: Duration::ZERO })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Engine, RunMeta};

    /// A table of one series whose values have these numbers.
    fn read_back(numbers: &[u64]) -> Result<Vec<SegmentSeries>, StoreError> {
        let folder = tempfile::tempdir().expect("the machine has room for a folder");
        let (folder, meta) = (folder.path(), RunMeta::new("gap", Engine::Sim, 1));
        let rows: Vec<_> = numbers
            .iter()
            .map(|number| SegmentValue {
                segment: 0,
                name: "busy".into(),
                unit: "ns".into(),
                window: Some(Duration::from_ns(10)),
                index: *number,
                value: *number as i64,
            })
            .collect();
        SEGMENTS.write(&crate::disk::HostDisk, folder, &meta, &rows)?;
        read_segments(folder)
    }

    #[test]
    fn a_series_with_a_gap_is_refused() {
        assert_eq!(read_back(&[0, 1, 2]).expect("it is whole")[0].values, [0, 1, 2]);
        assert_eq!(read_back(&[0, 1, 0]).expect("these are two").len(), 2);
        for numbers in [&[1][..], &[0, 2], &[0, 1, 1]] {
            let error = read_back(numbers).expect_err("a number is missing or there twice").to_string();
            assert!(error.contains("`index`") && error.contains("repeat the run"), "{error}");
        }
    }
}
