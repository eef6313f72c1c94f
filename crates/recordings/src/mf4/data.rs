//! Where records lie: one block, or a list of them, deflated or not.

use std::borrow::Cow;

use super::blocks::{Block, HELP};
use crate::bytes::{inflate, u32_at, u64_at};
use crate::collector::Collector;
use crate::error::Problem;

/// Inflated bytes of all parts together.
const DATA_LEN_MAX: usize = 1 << 30;
/// Bit of the unfinished flags: the length of the last block of records was never written.
const LAST_LENGTH_OPEN: u16 = 0x04;

/// Records, and whether the file ends within them.
pub(super) struct Data<'a> {
    pub(super) bytes: Cow<'a, [u8]>,
    pub(super) is_cut: bool,
}

/// The data that `link` leads to: DT, SD, RD, DZ, DL or HL.
pub(super) fn data<'a>(file: &'a [u8], link: u64, unfinished: u16, to: &Collector) -> Result<Data<'a>, Problem> {
    let Some(first) = Block::at(file, link, to)? else { return Ok(Data { bytes: Cow::Borrowed(&[]), is_cut: false }) };
    let lists = match &first.kind {
        b"HL" => Block::list(file, first.link(0), b"DL", to)?,
        b"DL" => Block::list(file, link, b"DL", to)?,
        _ => return part(file, &first, unfinished, to),
    };
    let mut data = Data { bytes: Cow::Borrowed(&[]), is_cut: false };
    for list in &lists {
        for number in 1..list.link_count() {
            let Some(block) = Block::at(file, list.link(number), to)? else { continue };
            let next = part(file, &block, unfinished, to)?;
            if data.bytes.len() + next.bytes.len() > DATA_LEN_MAX {
                let help = "export the recording in parts";
                return Err(to.unsupported(block.place(), "more than 1 GiB of records in one group", help));
            }
            data.is_cut |= next.is_cut;
            data.bytes.to_mut().extend_from_slice(&next.bytes);
        }
    }
    Ok(data)
}

/// One block of records.
fn part<'a>(file: &'a [u8], block: &Block<'a>, unfinished: u16, to: &Collector) -> Result<Data<'a>, Problem> {
    match &block.kind {
        // What an unfinished file's last block holds goes up to the end of the file.
        b"DT" if unfinished & LAST_LENGTH_OPEN != 0 && block.data.is_empty() => {
            Ok(Data { bytes: Cow::Borrowed(&file[file.len().min(block.at + 24)..]), is_cut: false })
        }
        b"DT" | b"SD" | b"RD" => Ok(Data { bytes: Cow::Borrowed(block.data), is_cut: block.is_cut }),
        b"DZ" => deflated(block, to),
        other => {
            let found = String::from_utf8_lossy(other).into_owned();
            Err(to.malformed(block.place(), "a block of records (DT, SD, DZ)", found, HELP))
        }
    }
}

fn deflated<'a>(block: &Block<'a>, to: &Collector) -> Result<Data<'a>, Problem> {
    let (Some(columns), Some(len), Some(deflated)) =
        (u32_at(block.data, 4), u64_at(block.data, 8), block.data.get(24..))
    else {
        return Err(to.truncated(block.place(), "a deflated block"));
    };
    if block.is_cut {
        return Err(to.truncated(block.place(), "a deflated block"));
    }
    let deflated_len = u64_at(block.data, 16).and_then(|len| usize::try_from(len).ok());
    let deflated = deflated_len.and_then(|len| deflated.get(..len)).unwrap_or(deflated);
    let len = usize::try_from(len).ok().filter(|len| *len <= DATA_LEN_MAX);
    let bytes = len.and_then(|len| inflate(deflated, len));
    let Some(bytes) = bytes else {
        return Err(to.malformed(block.place(), "a sound deflated block", "bytes that cannot be inflated", HELP));
    };
    let bytes = match block.u8(2) {
        0 => bytes,
        1 => transposed(&bytes, columns as usize),
        other => return Err(to.unsupported(block.place(), format_args!("compression method {other}"), HELP)),
    };
    Ok(Data { bytes: Cow::Owned(bytes), is_cut: false })
}

/// Undoes the transposition of a matrix of `columns`: its columns stand one after the other, what fills no row behind.
fn transposed(bytes: &[u8], columns: usize) -> Vec<u8> {
    let rows = bytes.len().checked_div(columns).unwrap_or(0);
    let (matrix, rest) = bytes.split_at(rows * columns);
    let mut records = Vec::with_capacity(bytes.len());
    for row in 0..rows {
        records.extend((0..columns).map(|column| matrix[column * rows + row]));
    }
    records.extend_from_slice(rest);
    records
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transposed_matrix_is_put_back() {
        // Two columns of three rows and one byte behind them.
        assert_eq!(transposed(&[1, 3, 5, 2, 4, 6, 7], 2), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(transposed(&[1, 2], 0), [1, 2]);
        assert_eq!(transposed(&[], 3), []);
    }
}
