//! What a plan is made from: a hash of each part, and one of all.

use std::cell::RefCell;
use std::collections::BTreeMap;

use chronoseal_plan::{InputFile, Inputs};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use crate::load::{FileError, Files};

/// The text and the overrides; which files they refer to shows when they are resolved.
pub(crate) fn of_text(text: &[u8], sets: &[(String, String)]) -> Inputs {
    Inputs { text_hash: content_hash(text), overrides: sets.to_vec(), files: Vec::new() }
}

/// XXH3-128 over text, overrides and files, in this order: hash of the text; number of overrides, path and value of each;
/// number of files, name and hash of each. Numbers have eight bytes, the lowest first, and each text has its length before
/// it, so no two lists of inputs are the same bytes. Hashes are texts, as a manifest shows them.
pub(crate) fn scenario_hash(inputs: &Inputs) -> String {
    let mut hasher = Xxh3::new();
    put_text(&mut hasher, &inputs.text_hash);
    put_count(&mut hasher, inputs.overrides.len());
    for (path, value) in &inputs.overrides {
        put_text(&mut hasher, path);
        put_text(&mut hasher, value);
    }
    put_count(&mut hasher, inputs.files.len());
    for file in &inputs.files {
        put_text(&mut hasher, &file.name);
        put_text(&mut hasher, &file.hash);
    }
    format!("{:032x}", hasher.digest128())
}

fn put_count(hasher: &mut Xxh3, count: usize) {
    hasher.update(&(count as u64).to_le_bytes());
}

fn put_text(hasher: &mut Xxh3, text: &str) {
    put_count(hasher, text.len());
    hasher.update(text.as_bytes());
}

fn content_hash(bytes: &[u8]) -> String {
    format!("{:032x}", xxh3_128(bytes))
}

/// Hands files through and keeps what was read. A file that is referred to twice is read once, so both find the same bytes.
pub(crate) struct ReadFiles<'a> {
    files: &'a dyn Files,
    read: RefCell<BTreeMap<String, Vec<u8>>>,
}

impl<'a> ReadFiles<'a> {
    pub(crate) fn new(files: &'a dyn Files) -> Self {
        Self { files, read: RefCell::default() }
    }

    /// What was read, by name.
    pub(crate) fn list(&self) -> Vec<InputFile> {
        let file = |(name, bytes): (&String, &Vec<u8>)| InputFile {
            name: name.clone(),
            len: bytes.len() as u64,
            hash: content_hash(bytes),
        };
        self.read.borrow().iter().map(file).collect()
    }
}

impl Files for ReadFiles<'_> {
    fn read(&self, path: &str) -> Result<Vec<u8>, FileError> {
        if let Some(bytes) = self.read.borrow().get(path) {
            return Ok(bytes.clone());
        }
        let bytes = self.files.read(path)?;
        self.read.borrow_mut().insert(path.to_owned(), bytes.clone());
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn inputs(text: &str, overrides: &[(&str, &str)], files: &[(&str, &str)]) -> Inputs {
        let set = |(path, value): &(&str, &str)| ((*path).to_owned(), (*value).to_owned());
        let file = |(name, hash): &(&str, &str)| InputFile { name: (*name).into(), len: 0, hash: (*hash).into() };
        Inputs {
            text_hash: text.into(),
            overrides: overrides.iter().map(set).collect(),
            files: files.iter().map(file).collect(),
        }
    }

    #[test]
    fn inputs_of_the_same_bytes_with_other_borders_have_other_hashes() {
        let lists = [
            inputs("a", &[], &[]),
            inputs("ab", &[], &[]),
            inputs("a", &[("b", "c")], &[]),
            inputs("a", &[("bc", "")], &[]),
            inputs("a", &[("", "bc")], &[]),
            inputs("a", &[], &[("b", "c")]),
            inputs("a", &[], &[("bc", "")]),
            inputs("a", &[("b", "c"), ("d", "e")], &[]),
            inputs("a", &[("d", "e"), ("b", "c")], &[]),
            inputs("a", &[("b", "c")], &[("d", "e")]),
            inputs("a", &[], &[("b", "c"), ("d", "e")]),
            inputs("a", &[("b", "cde")], &[]),
            inputs("", &[("a", "b"), ("c", "")], &[]),
        ];
        let hashes: BTreeSet<String> = lists.iter().map(scenario_hash).collect();
        assert_eq!(hashes.len(), lists.len());
    }

    #[test]
    fn the_hash_of_all_is_the_documented_one() {
        let inputs = inputs("0f", &[("seed", "2")], &[("drive.csv", "1e")]);
        let mut bytes = Vec::new();
        bytes.extend_from_slice(b"\x02\0\0\0\0\0\0\x000f");
        bytes.extend_from_slice(b"\x01\0\0\0\0\0\0\0\x04\0\0\0\0\0\0\0seed\x01\0\0\0\0\0\0\x002");
        bytes.extend_from_slice(b"\x01\0\0\0\0\0\0\0\x09\0\0\0\0\0\0\0drive.csv\x02\0\0\0\0\0\0\x001e");
        assert_eq!(scenario_hash(&inputs), content_hash(&bytes));
    }
}
