//! A trace, read back by another decoder than the one that wrote it: field by field, by Perfetto's public schema.

use std::collections::BTreeMap;

use chronoseal_results::trace::{Category, Change, Frame, Mark, Slice, Trace, Ways};
use micropb::{PbDecoder, WIRE_TYPE_I64, WIRE_TYPE_LEN, WIRE_TYPE_VARINT};

/// One field of a message: its number and what it holds.
enum Field<'a> {
    Number(u32, u64),
    Bytes(u32, &'a [u8]),
}

fn fields(message: &[u8]) -> Vec<Field<'_>> {
    let mut decoder = PbDecoder::new(message);
    let mut found = Vec::new();
    while decoder.bytes_read() < message.len() {
        let tag = decoder.decode_tag().expect("a field begins with a tag");
        let number = tag.field_num();
        found.push(match tag.wire_type() {
            WIRE_TYPE_VARINT => Field::Number(number, decoder.decode_varint64().expect("a number")),
            WIRE_TYPE_I64 => Field::Number(number, decoder.decode_fixed64().expect("eight bytes")),
            WIRE_TYPE_LEN => {
                let len = decoder.decode_varint32().expect("a length") as usize;
                let from = decoder.bytes_read();
                decoder.skip_bytes(len).expect("as many bytes");
                Field::Bytes(number, &message[from..from + len])
            }
            other => panic!("no field of the schema that is used has wire type {other}"),
        });
    }
    found
}

fn numbers(message: &[u8], wanted: u32) -> Vec<u64> {
    let of = |field| if let Field::Number(number, value) = field { Some((number, value)) } else { None };
    fields(message).into_iter().filter_map(of).filter(|(number, _)| *number == wanted).map(|(_, value)| value).collect()
}

fn number(message: &[u8], wanted: u32) -> Option<u64> {
    numbers(message, wanted).first().copied()
}

fn parts(message: &[u8], wanted: u32) -> Vec<&[u8]> {
    let of = |field| if let Field::Bytes(number, value) = field { Some((number, value)) } else { None };
    fields(message).into_iter().filter_map(of).filter(|(number, _)| *number == wanted).map(|(_, value)| value).collect()
}

fn text(message: &[u8], wanted: u32) -> Option<String> {
    parts(message, wanted).first().map(|bytes| String::from_utf8(bytes.to_vec()).expect("names are UTF-8"))
}

/// `InternedData`, one of its tables.
fn table(packet: &[u8], wanted: u32) -> BTreeMap<u64, String> {
    let entries = parts(packet, 12).into_iter().flat_map(|data| parts(data, wanted));
    entries.map(|entry| (number(entry, 1).expect("a number"), text(entry, 2).expect("a name"))).collect()
}

/// Slices as a viewer finds them: track, from, to, name, category, frame, ways.
type Found = (String, u64, u64, String, String, Option<u64>, Vec<u64>);

#[test]
fn a_trace_is_what_the_public_schema_says() {
    let mut trace = Trace::default();
    let switch = trace.track("switch", None);
    let port = trace.track("port to b", Some(switch));
    let queue = trace.track("queue 3", Some(port));
    let waiting = trace.counter("frames waiting", Some(port), "frames");
    let [speed, late] = ["speed", "window-closed"].map(|name| trace.name(name));
    assert_eq!(trace.name("speed"), speed, "one name has one number");
    let frame = |sequence, ways: &[u64]| {
        let ways = if let [way] = ways { Ways::One(*way) } else { Ways::Several(ways.into()) };
        Some(Frame { sequence, ways })
    };
    let slice = |from, to, frame| Slice { frame, ..Slice::new(queue, from, to, speed, Category::Queue) };
    // The second waits while the first still does.
    trace.slices = vec![slice(100, 300, frame(7, &[1])), slice(200, 400, frame(8, &[2, 5])), slice(300, 350, None)];
    let frame_of_mark = frame(8, &[2, 5]);
    trace.marks.push(Mark { track: switch, at: 400, name: late, category: Category::Discarded, frame: frame_of_mark });
    let change = |at, by| Change { track: waiting, at, by };
    // Told late, and two at one instant.
    trace.changes = vec![change(300, -1), change(100, 1), change(200, 1), change(300, 1), change(400, -1)];

    let bytes = trace.encode();
    assert_eq!(bytes, trace.clone().encode(), "the same trace, the same bytes");

    let packets = parts(&bytes, 1);
    let (names, categories, annotations) = (table(packets[0], 2), table(packets[0], 1), table(packets[0], 3));
    assert_eq!(number(packets[0], 13), Some(1), "what was interned before is forgotten");
    assert_eq!(categories.len(), Category::ALL.len());
    let mut tracks = BTreeMap::new();
    let mut open: BTreeMap<u64, Vec<Found>> = BTreeMap::new();
    let (mut slices, mut instants, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    for packet in &packets[1..] {
        assert_eq!(number(packet, 10), Some(1), "one sequence");
        for track in parts(packet, 60) {
            let unit = parts(track, 8).first().and_then(|counter| text(counter, 6));
            let uuid = number(track, 1).expect("a track has a number");
            tracks.insert(uuid, (text(track, 2).expect("a track has a name"), number(track, 5), unit));
        }
        let Some(event) = parts(packet, 11).first().copied() else { continue };
        assert_eq!(number(packet, 13), Some(2), "it uses interned names");
        let at = number(packet, 8).expect("an event has a time");
        let track = number(event, 11).expect("an event has a track");
        let name = number(event, 10).map(|name| names[&name].clone()).unwrap_or_default();
        let category = number(event, 3).map(|category| categories[&category].clone()).unwrap_or_default();
        let frame = parts(event, 4).first().map(|annotation| {
            assert_eq!(annotations[&number(annotation, 1).expect("an annotation has a name")], "frame");
            number(annotation, 3).expect("a frame has a number")
        });
        let on = tracks[&track].0.clone();
        match number(event, 9) {
            Some(1) => {
                open.entry(track).or_default().push((on, at, 0, name, category, frame, numbers(event, 47)));
            }
            Some(2) => {
                let mut closed = open.get_mut(&track).and_then(Vec::pop).expect("a slice is open");
                closed.2 = at;
                slices.push(closed);
            }
            Some(3) => instants.push((on, at, name, category, frame, numbers(event, 47))),
            Some(4) => counts.push((on, at, number(event, 30).expect("a count"))),
            other => panic!("no kind of event: {other:?}"),
        }
    }
    assert!(open.values().all(Vec::is_empty), "every slice ends");
    slices.sort();
    let queued = |from, to, frame: Option<u64>, ways: &[u64]| {
        ("queue 3".to_owned(), from, to, "speed".to_owned(), "queue".to_owned(), frame, ways.to_vec())
    };
    assert_eq!(
        slices,
        [queued(100, 300, Some(7), &[1]), queued(200, 400, Some(8), &[2, 5]), queued(300, 350, None, &[])]
    );
    let [on, name, category] = ["switch", "window-closed", "discarded"].map(str::to_owned);
    assert_eq!(instants, [(on, 400, name, category, Some(8), vec![2, 5])]);
    let counted = |at, value| ("frames waiting".to_owned(), at, value);
    assert_eq!(counts, [counted(100, 1), counted(200, 2), counted(300, 2), counted(400, 1)]);
    // The two that wait at once are on lines of one name below one port.
    let lines: Vec<_> = tracks.values().filter(|(name, ..)| name == "queue 3").collect();
    assert_eq!(lines.len(), 2);
    assert!(lines.iter().all(|(_, parent, _)| tracks[&parent.expect("a queue is in a port")].0 == "port to b"));
    assert_eq!(tracks.values().filter_map(|(.., unit)| unit.clone()).collect::<Vec<_>>(), ["frames"]);
}
