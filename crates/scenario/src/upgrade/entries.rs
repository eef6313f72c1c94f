//! The entries of a table, to be renamed, moved and joined with their comments.

use toml_edit::{Array, ArrayOfTables, Decor, InlineTable, Item, Key, RawString, Table, Value};

/// The entries of a table in their order, taken out of it.
pub(super) struct Entries(Vec<(Key, Item)>);

impl Entries {
    /// What is in a table; nothing if it is none.
    pub(super) fn take(table: &mut Item) -> Self {
        let keys =
            |table: &dyn toml_edit::TableLike| -> Vec<String> { table.iter().map(|(key, _)| key.to_owned()).collect() };
        Self(match table {
            Item::Table(table) => keys(table).iter().filter_map(|key| table.remove_entry(key)).collect(),
            Item::Value(Value::InlineTable(table)) => {
                let entries = keys(table);
                let entry = |key: &String| table.remove_entry(key).map(|(key, value)| (key, Item::Value(value)));
                entries.iter().filter_map(entry).collect()
            }
            _ => Vec::new(),
        })
    }

    /// Puts everything back.
    pub(super) fn put_back(self, table: &mut Item) {
        for (key, item) in self.0 {
            match table {
                Item::Table(table) => drop(table.insert_formatted(&key, item)),
                Item::Value(Value::InlineTable(table)) => {
                    if let Ok(value) = item.into_value() {
                        table.insert_formatted(&key, value);
                    }
                }
                _ => {}
            }
        }
    }

    fn position(&self, key: &str) -> Option<usize> {
        self.0.iter().position(|(other, _)| other.get() == key)
    }

    /// The value of a key.
    pub(super) fn get_mut(&mut self, key: &str) -> Option<&mut Item> {
        self.0.iter_mut().find(|(other, _)| other.get() == key).map(|(_, item)| item)
    }

    /// The text of a key.
    pub(super) fn text(&mut self, key: &str) -> Option<String> {
        self.get_mut(key)?.as_str().map(str::to_owned)
    }

    /// Changes every value.
    pub(super) fn each_value(&mut self, change: impl FnMut(&mut Item)) {
        self.0.iter_mut().map(|(_, item)| item).for_each(change);
    }

    /// Puts a new key behind another, or at the front.
    pub(super) fn insert_after(&mut self, after: &str, key: &str, item: Item) {
        let position = self.position(after).map_or(0, |position| position + 1);
        self.0.insert(position, (Key::new(key), item));
    }

    /// Takes an entry out; also where it stood.
    pub(super) fn take_out(&mut self, key: &str) -> Option<(usize, Key, Item)> {
        let position = self.position(key)?;
        let (key, item) = self.0.remove(position);
        Some((position, key, item))
    }

    /// The entry at a position, or the last one.
    pub(super) fn nearest_mut(&mut self, position: usize) -> Option<&mut (Key, Item)> {
        let last = self.0.len().checked_sub(1)?;
        self.0.get_mut(position.min(last))
    }

    /// Gives a key another name, unless something has that already.
    pub(super) fn rename(&mut self, from: &str, to: &str) {
        if self.position(to).is_none() {
            self.replace(from, |key, item| vec![(renamed(&key, to), item)]);
        }
    }

    /// Puts other entries in the place of one.
    pub(super) fn replace(&mut self, key: &str, with: impl FnOnce(Key, Item) -> Vec<(Key, Item)>) {
        let Some(position) = self.position(key) else { return };
        let (key, item) = self.0.remove(position);
        self.0.splice(position..position, with(key, item));
    }

    /// Moves some keys into a table called `name`, in the place of the first of them.
    pub(super) fn gather(&mut self, keys: &[&str], name: &str) {
        let Some(position) = self.0.iter().position(|(key, _)| keys.contains(&key.get())) else { return };
        let (gathered, rest): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.0).into_iter().partition(|(key, _)| keys.contains(&key.get()));
        self.0 = rest;
        let entry = joined(gathered, name);
        self.0.insert(position, entry);
    }
}

/// Changes the entries of a table.
pub(super) fn inner(table: &mut Item, change: impl FnOnce(&mut Entries)) {
    let mut entries = Entries::take(table);
    change(&mut entries);
    entries.put_back(table);
}

/// Changes each table of a list.
pub(super) fn each(list: &mut Item, mut change: impl FnMut(&mut Entries)) {
    match list {
        Item::ArrayOfTables(tables) => {
            let mut changed = ArrayOfTables::new();
            for table in std::mem::take(tables) {
                let mut item = Item::Table(table);
                inner(&mut item, &mut change);
                if let Item::Table(table) = item {
                    changed.push(table);
                }
            }
            *tables = changed;
        }
        Item::Value(Value::Array(values)) => change_all(values, &mut change),
        _ => {}
    }
}

fn change_all(values: &mut Array, change: &mut impl FnMut(&mut Entries)) {
    for value in values.iter_mut() {
        let mut item = Item::Value(std::mem::replace(value, Value::from(false)));
        inner(&mut item, &mut *change);
        if let Item::Value(changed) = item {
            *value = changed;
        }
    }
}

/// A key of another name with the comments of this one.
pub(super) fn renamed(key: &Key, name: &str) -> Key {
    Key::new(name).with_leaf_decor(key.leaf_decor().clone()).with_dotted_decor(key.dotted_decor().clone())
}

/// A table with this in it under `names`, from the outer to the inner one, written in the same way.
pub(super) fn wrapped(item: Item, names: &[&str]) -> Item {
    names.iter().rev().fold(item, |item, name| match item {
        Item::Value(mut value) => {
            let decor = std::mem::take(value.decor_mut());
            let mut outer = InlineTable::new();
            outer.insert(*name, value);
            *outer.decor_mut() = decor;
            Item::Value(Value::InlineTable(outer))
        }
        other => {
            let mut outer = Table::new();
            outer.set_implicit(true);
            outer.set_dotted(other.as_table().is_some_and(Table::is_dotted));
            outer.insert(name, other);
            Item::Table(outer)
        }
    })
}

/// Some entries as one, a table called `name`.
fn joined(entries: Vec<(Key, Item)>, name: &str) -> (Key, Item) {
    let mut all = entries.into_iter();
    let Some((first, item)) = all.next() else { return (Key::new(name), Item::None) };
    let rest: Vec<(Key, Item)> = all.collect();
    if item.is_value() && rest.iter().all(|(_, item)| item.is_value()) {
        return inline(first, item, rest, name);
    }
    // A table with a head of its own holds the others, too.
    let mut outer = Table::new();
    let entries: Vec<(Key, Item)> = [(first, item)].into_iter().chain(rest).collect();
    outer.set_implicit(entries.iter().all(|(_, item)| !item.is_value()));
    outer.set_position(entries.iter().find_map(|(_, item)| position(item)));
    for (key, item) in entries {
        outer.insert_formatted(&key, item);
    }
    (Key::new(name), Item::Table(outer))
}

/// Where the first table with a head stands in the text.
fn position(item: &Item) -> Option<isize> {
    let table = item.as_table()?;
    if table.is_implicit() { table.iter().find_map(|(_, item)| position(item)) } else { table.position() }
}

fn inline(first: Key, item: Item, rest: Vec<(Key, Item)>, name: &str) -> (Key, Item) {
    let mut table = InlineTable::new();
    let mut above = Vec::new();
    let mut decor = Decor::default();
    let entries = [(first.clone(), item)].into_iter().chain(rest).enumerate();
    for (index, (key, item)) in entries {
        let Ok(mut value) = item.into_value() else { continue };
        let own = std::mem::take(value.decor_mut());
        if index == 0 {
            decor = own;
        } else {
            // Above the whole comes what stood above a part, or behind it.
            above.extend(comments(key.leaf_decor().prefix()));
            above.extend(comments(own.suffix()));
        }
        table.insert(key.get(), value);
    }
    *table.decor_mut() = decor;
    let key = with_comments(renamed(&first, name), &above);
    (key, Item::Value(Value::InlineTable(table)))
}

/// A key with more comments above it, each on a line of its own.
pub(super) fn with_comments(mut key: Key, above: &[String]) -> Key {
    if !above.is_empty() {
        let before = key.leaf_decor().prefix().and_then(RawString::as_str).unwrap_or_default().to_owned();
        let lines: String = above.iter().map(|line| format!("{line}\n")).collect();
        key.leaf_decor_mut().set_prefix(format!("{before}{lines}"));
    }
    key
}

/// The comments in a piece of text between keys and values.
pub(super) fn comments(text: Option<&RawString>) -> Vec<String> {
    let text = text.and_then(RawString::as_str).unwrap_or_default();
    text.lines().map(str::trim).filter(|line| line.starts_with('#')).map(str::to_owned).collect()
}

/// Every comment in and around something.
pub(super) fn all_comments(item: &Item) -> Vec<String> {
    let around = |decor: &Decor| [comments(decor.prefix()), comments(decor.suffix())].concat();
    let mut found = Vec::new();
    match item {
        Item::Table(table) => found.extend(around(table.decor())),
        Item::Value(value) => found.extend(around(value.decor())),
        _ => {}
    }
    if let Some(table) = item.as_table_like() {
        for (name, item) in table.iter() {
            found.extend(table.key(name).map(|key| comments(key.leaf_decor().prefix())).unwrap_or_default());
            found.extend(all_comments(item));
        }
    }
    found
}

/// The same without comments.
pub(super) fn bare(item: &Item) -> Item {
    let mut item = item.clone();
    strip(&mut item);
    item
}

fn strip(item: &mut Item) {
    match item {
        Item::Table(table) => {
            // An empty line before its head.
            *table.decor_mut() = Decor::new("\n", "");
            let keys: Vec<String> = table.iter().map(|(key, _)| key.to_owned()).collect();
            for key in keys {
                if let Some(mut key) = table.key_mut(&key) {
                    key.leaf_decor_mut().clear();
                    key.dotted_decor_mut().clear();
                }
                table.get_mut(&key).into_iter().for_each(strip);
            }
        }
        Item::Value(value) => {
            value.decor_mut().clear();
            if let Value::InlineTable(table) = value {
                let keys: Vec<String> = table.iter().map(|(key, _)| key.to_owned()).collect();
                for key in keys {
                    if let Some(mut key) = table.key_mut(&key) {
                        key.leaf_decor_mut().clear();
                    }
                }
                table.iter_mut().for_each(|(_, value)| value.decor_mut().clear());
            }
        }
        _ => {}
    }
}

/// A text in the place of a value, with what stands around that.
pub(super) fn text(text: &str, like: &Item) -> Item {
    let mut value = Value::from(text);
    if let Item::Value(like) = like {
        *value.decor_mut() = like.decor().clone();
    }
    Item::Value(value)
}
