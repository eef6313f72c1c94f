//! What a scenario of version 1 said of a CAN bus.

use toml_edit::{Item, Key, Value};

use super::entries::{Entries, all_comments, each, renamed, text, with_comments, wrapped};

/// What the bus is called from now on.
pub(super) const SEGMENT: &str = "bus";
/// What the key of the group is called from now on.
const KEY: &str = "bus";

/// Messages, recorded traffic, attacks, and keys.
pub(super) fn upgrade(root: &mut Entries) {
    if let Some(group) = root.get_mut("group_key") {
        super::inner(group, installed_at_once);
    }
    root.replace("group_key", |key, group| vec![(renamed(&key, "keys"), wrapped(group, &[KEY, "group"]))]);
    if let Some(protections) = root.get_mut("protections") {
        each(protections, |protection| {
            if let Some(secoc) = protection.get_mut("secoc") {
                super::inner(secoc, named_key);
            }
        });
    }
    if let Some(freshness) = root.get_mut("freshness") {
        super::inner(freshness, named_key);
    }
    if let Some(messages) = root.get_mut("messages") {
        each(messages, |message| message.gather(&["id", "extended", "format"], SEGMENT));
    }
    if let Some(background) = root.get_mut("background") {
        each(background, |recording| recording.gather(&["builtin", "file"], "traffic"));
    }
    if let Some(attacks) = root.get_mut("attacks") {
        each(attacks, |attack| attack.replace("kind", kind));
    }
    root.rename("messages", "streams");
    root.rename("background", "recordings");
    root.rename("attacks", "threats");
}

/// As published a key was taken into use at once unless something else was written. Now every default is to wait.
fn installed_at_once(group: &mut Entries) {
    if group.text("profile").as_deref() == Some("as-published") && group.text("installation").is_none() {
        group.insert_after("profile", "installation", Item::Value(Value::from("unconfirmed")));
    }
}

/// The group's key has a name.
fn named_key(entries: &mut Entries) {
    if let Some(key) = entries.get_mut("key")
        && key.as_str() == Some("group-key")
    {
        *key = text(KEY, key);
    }
}

/// An attack on a message names it beside its kind.
fn kind(key: Key, kind: Item) -> Vec<(Key, Item)> {
    let aimed = kind.as_table_like().and_then(|table| {
        let word = ["spoof", "replay"].into_iter().find(|word| table.contains_key(word))?;
        let message = table.get(word)?.as_table_like()?.get("message")?.as_str()?.to_owned();
        Some((word, message))
    });
    let Some((word, message)) = aimed else { return vec![(key, kind)] };
    let stream = (Key::new("stream"), Item::Value(Value::from(message)));
    if kind.is_value() {
        return vec![(key, text(word, &kind)), stream];
    }
    let key = with_comments(Key::new("kind"), &all_comments(&kind));
    vec![(key, Item::Value(Value::from(word))), stream]
}
