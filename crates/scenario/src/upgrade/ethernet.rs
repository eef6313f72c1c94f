//! What a scenario of version 1 said of Ethernet.

use chronoseal_core::Bytes;
use toml_edit::{InlineTable, Item, Value};

use super::entries::{Entries, each, renamed, text};
use crate::limits::HEADER_LEN;

/// What the network is called from now on.
pub(super) const SEGMENT: &str = "network";

/// Streams and attacks.
pub(super) fn upgrade(root: &mut Entries) {
    if let Some(streams) = root.get_mut("streams") {
        each(streams, |stream| {
            stream.replace("frame", |key, frame| vec![(renamed(&key, "length"), length(frame))]);
            stream.gather(&["class", "ct_id"], SEGMENT);
        });
    }
    if let Some(threats) = root.get_mut("threats") {
        each(threats, |threat| {
            threat.replace("place", |key, place| vec![(renamed(&key, "at"), at(place))]);
            threat.gather(&["at_slot_offset"], SEGMENT);
        });
    }
}

/// A frame without its header. What is no length stays as it is.
fn length(frame: Item) -> Item {
    let len = frame.as_str().and_then(|text| text.parse::<Bytes>().ok());
    match len.and_then(|len| len.0.checked_sub(u64::from(HEADER_LEN))) {
        Some(len) => text(&Bytes(len).to_string(), &frame),
        None => frame,
    }
}

/// Where an attacker sits. What is no place stays as it is.
fn at(mut place: Item) -> Item {
    if place.as_str() == Some("own-port") {
        let mut table = InlineTable::new();
        table.insert("segment", Value::from(SEGMENT));
        if let Item::Value(place) = &place {
            *table.decor_mut() = place.decor().clone();
        }
        return Item::Value(Value::InlineTable(table));
    }
    super::inner(&mut place, |entries| entries.rename("on_link", "link"));
    place
}
