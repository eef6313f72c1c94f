//! Blocks and the links between them.

use std::collections::BTreeSet;

use crate::bytes::{u8_at, u32_at, u64_at};
use crate::collector::Collector;
use crate::error::{Place, Problem};

/// Identification, reserved, length, number of links `[byte]`.
const HEAD_LEN: usize = 24;
/// Links of a block; lists of data have one for each part.
const LINKS_MAX: u64 = 1_000_000;

pub(super) const HELP: &str = "the file is damaged; export the recording again";

/// A block: where it is, its links, its own data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block<'a> {
    pub(super) at: usize,
    pub(super) kind: [u8; 2],
    links: &'a [u8],
    /// Behind the links. Shorter than the block says if the file ends within it.
    pub(super) data: &'a [u8],
    /// True if the file ends within it.
    pub(super) is_cut: bool,
}

impl<'a> Block<'a> {
    /// The block at `at`; `None` if `at` is 0, which is no link.
    pub(super) fn at(file: &'a [u8], at: u64, to: &Collector) -> Result<Option<Self>, Problem> {
        if at == 0 {
            return Ok(None);
        }
        let place = Place::Byte(at);
        let at = usize::try_from(at).ok().filter(|at| *at < file.len());
        let Some(at) = at else { return Err(to.truncated(Place::Byte(file.len() as u64), "a block that is linked")) };
        let head = (u64_at(file, at + 8), u64_at(file, at + 16));
        let (Some(len), Some(link_count)) = head else { return Err(to.truncated(place, "a block's head")) };
        let kind = match &file[at..at + 4] {
            [b'#', b'#', a, b] => [*a, *b],
            other => return Err(to.malformed(place, "a block (`##`)", String::from_utf8_lossy(other), HELP)),
        };
        let links_len = Some(link_count).filter(|count| *count <= LINKS_MAX).map(|count| count as usize * 8);
        let links = links_len.and_then(|len| file.get(at + HEAD_LEN..at + HEAD_LEN + len));
        let Some(links) = links else { return Err(to.truncated(place, "a block's links")) };
        let start = at + HEAD_LEN + links.len();
        let end = usize::try_from(len).ok().and_then(|len| at.checked_add(len));
        let end = end.filter(|end| *end >= start).unwrap_or(start);
        let is_cut = end > file.len();
        Ok(Some(Self { at, kind, links, data: &file[start..end.min(file.len())], is_cut }))
    }

    /// As [`Self::at`], of the given kind.
    pub(super) fn of_kind(file: &'a [u8], at: u64, kind: &[u8; 2], to: &Collector) -> Result<Option<Self>, Problem> {
        let block = Self::at(file, at, to)?;
        match block {
            Some(block) if block.kind != *kind => {
                let found = String::from_utf8_lossy(&block.kind).into_owned();
                let expected = match kind {
                    b"HD" => "a header block (HD)",
                    b"DG" => "a data group (DG)",
                    b"CG" => "a channel group (CG)",
                    b"CN" => "a channel (CN)",
                    b"DL" => "a data list (DL)",
                    _ => "another block",
                };
                Err(to.malformed(Place::Byte(at), expected, found, HELP))
            }
            other => Ok(other),
        }
    }

    /// A list of blocks of one kind, each of which has the next as its first link.
    pub(super) fn list(file: &'a [u8], first: u64, kind: &[u8; 2], to: &Collector) -> Result<Vec<Self>, Problem> {
        let mut blocks = Vec::new();
        let mut seen = BTreeSet::new();
        let mut next = first;
        while let Some(block) = Self::of_kind(file, next, kind, to)? {
            if !seen.insert(block.at) {
                return Err(to.malformed(block.place(), "a list that ends", "a circle", HELP));
            }
            next = block.link(0);
            blocks.push(block);
        }
        Ok(blocks)
    }

    /// The link of this number; 0 if there is none.
    pub(super) fn link(&self, number: usize) -> u64 {
        u64_at(self.links, number * 8).unwrap_or(0)
    }

    pub(super) fn link_count(&self) -> usize {
        self.links.len() / 8
    }

    pub(super) fn u8(&self, at: usize) -> u8 {
        u8_at(self.data, at).unwrap_or(0)
    }

    pub(super) fn u32(&self, at: usize) -> u32 {
        u32_at(self.data, at).unwrap_or(0)
    }

    pub(super) fn u64(&self, at: usize) -> u64 {
        u64_at(self.data, at).unwrap_or(0)
    }

    pub(super) fn place(&self) -> Place {
        Place::Byte(self.at as u64)
    }
}
