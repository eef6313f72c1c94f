//! Rows out of the table b-trees of an SQLite file, whose source is <https://www.sqlite.org/fileformat2.html>.

use std::borrow::Cow;

use crate::bytes::array;
use crate::collector::Collector;
use crate::error::{Place, Problem};

use super::HELP;

/// Pages from the root of a table to its rows: what SQLite itself follows.
const DEPTH_MAX: u32 = 20;
/// Bytes of a row that are put together `[byte]`.
const ROW_LEN_MAX: u64 = 1 << 20;
/// Types of pages of tables.
const INTERIOR: u8 = 5;
const LEAF: u8 = 13;

/// The pages of a file.
pub(super) struct Pages<'a> {
    bytes: &'a [u8],
    page_len: usize,
    /// Of each page, what is not kept for extensions `[byte]`.
    usable_len: usize,
    /// Pages as the header counts them.
    count: u64,
    /// The encoding of texts: 1 is UTF-8, 2 and 3 are UTF-16 with the low or the high byte first.
    pub(super) encoding: u32,
    /// Pages that were read. None belongs to two rows or two places of a tree.
    seen: Vec<bool>,
    /// A page that the header counts is behind the end of the file.
    pub(super) is_cut: bool,
}

/// Takes a row and where it begins. What is wrong with it is counted.
type Each<'e> = &'e mut dyn FnMut(&mut Collector, Place, &[u8]) -> Result<(), Problem>;

/// Numbers of pages below another one, with where they stand.
type Below = Vec<(u32, usize)>;

/// What is wrong with a page or a row.
struct Fault {
    at: usize,
    expected: &'static str,
    found: String,
}

impl Fault {
    fn new(at: usize, expected: &'static str, found: impl ToString) -> Self {
        Self { at, expected, found: found.to_string() }
    }
}

impl<'a> Pages<'a> {
    /// Reads the header of a file.
    pub(super) fn new(bytes: &'a [u8], to: &Collector) -> Result<Self, Problem> {
        let Some(header) = bytes.first_chunk::<100>() else { return Err(to.truncated(Place::Byte(0), "the header")) };
        let word = |at: usize| array(header, at).map_or(0, u32::from_be_bytes);
        let page_len = match u16::from_be_bytes([header[16], header[17]]) {
            1 => 65_536,
            len => usize::from(len),
        };
        let usable_len = page_len.saturating_sub(usize::from(header[20]));
        if !page_len.is_power_of_two() || page_len < 512 || usable_len < 480 {
            let expected = "a page length of 512 to 65536 bytes, a power of two";
            return Err(to.malformed(Place::Byte(16), expected, format_args!("{page_len}"), HELP));
        }
        let pages = bytes.len().div_ceil(page_len);
        // Older writers leave the count as it was; then it is not for this change of the file.
        let count = if word(24) == word(92) { word(28).into() } else { 0 };
        let seen = vec![false; pages];
        Ok(Self { bytes, page_len, usable_len, count, encoding: word(56), seen, is_cut: false })
    }

    /// Where a page begins, the first time that it is asked for.
    fn page(&mut self, number: u32, named_at: usize) -> Result<(usize, &'a [u8]), Fault> {
        let begin = (u64::from(number).wrapping_sub(1) as usize).saturating_mul(self.page_len);
        let page = begin.checked_add(self.page_len).and_then(|end| self.bytes.get(begin..end));
        let (Some(page), Some(seen)) = (page, self.seen.get_mut((number as usize).wrapping_sub(1))) else {
            self.is_cut |= number > 0 && u64::from(number) <= self.count;
            return Err(Fault::new(named_at, "the number of a page in the file", number));
        };
        if std::mem::replace(seen, true) {
            return Err(Fault::new(named_at, "a page that nothing else refers to", number));
        }
        Ok((begin, &page[..self.usable_len]))
    }

    /// Calls `each` with every row of the tree, in its order. A page or a row that is damaged costs itself, and is counted.
    pub(super) fn rows(&mut self, root: u32, to: &mut Collector, each: Each<'_>) -> Result<(), Problem> {
        // Pages still to be read, the next one last: its number, where that stands, and how far it is from the root.
        let mut waiting = vec![(root, 0, 0)];
        while let Some((number, named_at, depth)) = waiting.pop() {
            let below = match self.page(number, named_at) {
                Ok((begin, page)) if depth < DEPTH_MAX => self.read(begin, page, to, each)?,
                Ok((begin, _)) => Err(Fault::new(begin, "at most 20 pages above each other", "more")),
                Err(fault) => Err(fault),
            };
            match below {
                Ok(below) => waiting.extend(below.into_iter().rev().map(|(number, at)| (number, at, depth + 1))),
                Err(fault) => to.spare(Err(shown(to, &fault)))?,
            }
        }
        Ok(())
    }

    /// Reads the rows of a leaf, or gives the pages below another one, with where their numbers stand.
    fn read(
        &mut self,
        begin: usize,
        page: &[u8],
        to: &mut Collector,
        each: Each<'_>,
    ) -> Result<Result<Below, Fault>, Problem> {
        // The first page has the header of the file before its own.
        let at = if begin == 0 { 100 } else { 0 };
        let header_len = match page[at] {
            LEAF => 8,
            INTERIOR => 12,
            other => {
                let expected = "a page of a table, type 5 or 13";
                return Ok(Err(Fault::new(begin + at, expected, format_args!("type {other}"))));
            }
        };
        let cells = usize::from(u16::from_be_bytes([page[at + 3], page[at + 4]]));
        let Some(pointers) = page.get(at + header_len..at + header_len + cells * 2) else {
            return Ok(Err(Fault::new(begin + at + 3, "as many cells as the page holds", cells)));
        };
        let pointers = pointers.chunks_exact(2).map(|pair| usize::from(u16::from_be_bytes([pair[0], pair[1]])));
        let mut below = Vec::new();
        for pointer in pointers {
            if header_len == 12 {
                match array(page, pointer) {
                    Some(number) => below.push((u32::from_be_bytes(number), begin + pointer)),
                    None => to.spare(Err(shown(to, &Fault::new(begin + at, "cells in their page", pointer))))?,
                }
                continue;
            }
            let outcome = match self.row(begin, page, pointer) {
                Ok(row) => each(to, Place::Byte((begin + pointer) as u64), &row),
                Err(fault) => Err(shown(to, &fault)),
            };
            to.spare(outcome)?;
        }
        if header_len == 12 {
            below.push((array(page, at + 8).map_or(0, u32::from_be_bytes), begin + at + 8));
        }
        Ok(Ok(below))
    }

    /// The bytes of a row, whose cell begins at `pointer` of its page.
    fn row<'p>(&mut self, begin: usize, page: &'p [u8], pointer: usize) -> Result<Cow<'p, [u8]>, Fault> {
        let outside = || Fault::new(begin + pointer, "a row in its page", "one that ends behind it");
        let mut at = pointer;
        let len = varint(page, &mut at).ok_or_else(outside)?;
        varint(page, &mut at).ok_or_else(outside)?;
        if len > ROW_LEN_MAX {
            return Err(Fault::new(begin + pointer, "a row of at most 1 MiB", format_args!("{len} bytes")));
        }
        let (len, usable) = (len as usize, self.usable_len);
        // §1.6: how much of it is in the page, and how much in a chain of others.
        let (most, least) = (usable - 35, (usable - 12) * 32 / 255 - 23);
        let local = match len {
            _ if len <= most => return page.get(at..at + len).map(Cow::Borrowed).ok_or_else(outside),
            _ => Some(least + (len - least) % (usable - 4)).filter(|local| *local <= most).unwrap_or(least),
        };
        let mut row = page.get(at..at + local).ok_or_else(outside)?.to_vec();
        let mut named_at = begin + at + local;
        let mut next = array(page, at + local).map(u32::from_be_bytes).ok_or_else(outside)?;
        while row.len() < len {
            let (begin, page) = self.page(next, named_at)?;
            row.extend_from_slice(&page[4..(4 + len - row.len()).min(usable)]);
            (next, named_at) = (u32::from_be_bytes([page[0], page[1], page[2], page[3]]), begin);
        }
        Ok(Cow::Owned(row))
    }
}

fn shown(to: &Collector, fault: &Fault) -> Problem {
    to.malformed(Place::Byte(fault.at as u64), fault.expected, &fault.found, HELP)
}

/// A number of one to nine bytes, of which all but the ninth hold seven bits.
pub(super) fn varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0;
    for i in 0..9 {
        let byte = *bytes.get(*at)?;
        *at += 1;
        if i == 8 {
            return Some(value << 8 | u64::from(byte));
        }
        value = value << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some(value)
}
