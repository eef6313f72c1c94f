//! Messages put together from their parts, each part once, however they overtake each other.

use std::collections::BTreeMap;

use crate::MESSAGE_MAX;
use crate::datagram::Front;

/// Messages that are remembered, whole or not: what is older is thrown away.
const REMEMBERED: usize = 256;
/// Messages of which parts have come, and not all. The oldest gives way.
const OPEN_MAX: usize = 8;

/// A message that is there.
#[derive(Debug)]
pub(crate) struct Whole<'a> {
    pub(crate) number: u64,
    pub(crate) checksum: u32,
    pub(crate) bytes: &'a [u8],
}

/// The messages of one session.
#[derive(Default)]
pub(crate) struct Assembly {
    /// By number; `None` for one that is over.
    messages: BTreeMap<u64, Option<Message>>,
    /// What has a lower number is too old.
    floor: u64,
    open: usize,
    /// Buffers of messages that are over.
    spare: Vec<Vec<u8>>,
    /// The last whole message.
    whole: Vec<u8>,
}

struct Message {
    checksum: u32,
    bytes: Vec<u8>,
    /// Which parts have come.
    has: Vec<u64>,
    came: usize,
    /// How many there are, and how many bytes, once the last one has come.
    end: Option<(usize, usize)>,
}

impl Message {
    fn mark(&mut self, part: usize) -> bool {
        let (word, bit) = (part / 64, 1 << (part % 64));
        if self.has.len() <= word {
            self.has.resize(word + 1, 0);
        }
        let is_new = self.has[word] & bit == 0;
        self.has[word] |= bit;
        self.came += usize::from(is_new);
        is_new
    }
}

impl Assembly {
    /// Takes a part whose seal fits; all but the last have `data_len` bytes. Gives the message that it completes.
    pub(crate) fn take<'a>(&'a mut self, front: Front, data: &'a [u8], data_len: usize) -> Option<Whole<'a>> {
        let Front { number, checksum, part, more, .. } = front;
        let offset = usize::from(part) * data_len;
        let fits = if more { data.len() == data_len } else { data.len() <= data_len };
        if !fits || offset + data.len() > MESSAGE_MAX as usize || number < self.floor {
            return None;
        }
        if part == 0 && !more && !self.messages.contains_key(&number) {
            self.remember(number, None);
            return Some(Whole { number, checksum, bytes: data });
        }
        if !self.messages.contains_key(&number) {
            let bytes = self.spare.pop().unwrap_or_default();
            let message = Message { checksum, bytes, has: Vec::new(), came: 0, end: None };
            self.remember(number, Some(message));
        }
        let message = self.messages.get_mut(&number)?.as_mut()?;
        let end = offset + data.len();
        let is_its = message.checksum == checksum && message.end.is_none_or(|(_, len)| end <= len);
        if !is_its || !message.mark(usize::from(part)) {
            return None;
        }
        if message.bytes.len() < end {
            message.bytes.resize(end.max(2 * message.bytes.len()).min(MESSAGE_MAX as usize), 0);
        }
        message.bytes[offset..end].copy_from_slice(data);
        if !more {
            message.end = Some((usize::from(part) + 1, end));
        }
        let (parts, len) = message.end?;
        if message.came < parts {
            return None;
        }
        let message = self.messages.insert(number, None)??;
        self.open -= 1;
        self.spare.push(std::mem::replace(&mut self.whole, message.bytes));
        Some(Whole { number, checksum, bytes: &self.whole[..len] })
    }

    fn remember(&mut self, number: u64, message: Option<Message>) {
        self.open += usize::from(message.is_some());
        self.messages.insert(number, message);
        while self.open > OPEN_MAX {
            let oldest = self.messages.iter_mut().find_map(|(_, message)| message.take());
            self.give_back(oldest);
        }
        while self.messages.len() > REMEMBERED {
            let Some((number, message)) = self.messages.pop_first() else { break };
            self.floor = number + 1;
            self.give_back(message);
        }
    }

    fn give_back(&mut self, message: Option<Message>) {
        if let Some(message) = message {
            self.open -= 1;
            self.spare.push(message.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATA_LEN: usize = 10;

    fn parts(number: u64, len: usize) -> Vec<(Front, Vec<u8>)> {
        let bytes: Vec<u8> = (0..len).map(|at| (at as u64 * 7 + number) as u8).collect();
        let last = len.div_ceil(DATA_LEN).max(1) - 1;
        let part = |index: usize| {
            let data = bytes[index * DATA_LEN..len.min((index + 1) * DATA_LEN)].to_vec();
            (Front { stream: 0, part: index as u16, more: index < last, number, checksum: len as u32 }, data)
        };
        (0..=last).map(part).collect()
    }

    fn taken(assembly: &mut Assembly, (front, data): &(Front, Vec<u8>)) -> Option<(u64, Vec<u8>)> {
        assembly.take(*front, data, DATA_LEN).map(|whole| (whole.number, whole.bytes.to_vec()))
    }

    #[test]
    fn a_message_is_whole_once_in_whatever_order_its_parts_come() {
        for len in [0, 1, 9, 10, 11, 20, 95, 1_000] {
            let parts = parts(5, len);
            for first in 0..parts.len() {
                let mut assembly = Assembly::default();
                let mut order: Vec<_> = (0..parts.len()).map(|at| &parts[(first + at * 7) % parts.len()]).collect();
                order.extend(&parts);
                let whole: Vec<_> = order.into_iter().filter_map(|part| taken(&mut assembly, part)).collect();
                let expected: Vec<u8> = parts.iter().flat_map(|(_, data)| data.clone()).collect();
                assert_eq!(whole, [(5, expected)], "{len} B");
            }
        }
    }

    #[test]
    fn parts_that_are_sent_again_complete_nothing() {
        let mut assembly = Assembly::default();
        let (one, two) = (parts(1, 25), parts(2, 5));
        assert_eq!(taken(&mut assembly, &one[0]), None);
        assert_eq!(taken(&mut assembly, &one[0]), None);
        assert_eq!(taken(&mut assembly, &one[2]), None);
        assert!(taken(&mut assembly, &one[1]).is_some());
        assert!(taken(&mut assembly, &two[0]).is_some());
        assert!(one.iter().chain(&two).all(|part| taken(&mut assembly, part).is_none()));
    }

    #[test]
    fn what_is_remembered_has_a_limit_and_old_messages_stay_out() {
        let mut assembly = Assembly::default();
        for number in 0..2_000 {
            taken(&mut assembly, &parts(number, 25)[0]);
            assert!(
                assembly.open <= OPEN_MAX && assembly.messages.len() <= REMEMBERED && assembly.spare.len() <= OPEN_MAX
            );
        }
        assert!(parts(3, 25).iter().chain(&parts(4, 5)).all(|part| taken(&mut assembly, part).is_none()));
        let last = parts(1_999, 25);
        assert!(last.iter().any(|part| taken(&mut assembly, part).is_some()));
    }

    #[test]
    fn parts_that_do_not_fit_are_left_out() {
        let mut assembly = Assembly::default();
        let front = Front { stream: 0, part: 0, more: true, number: 1, checksum: 0 };
        assert!(assembly.take(front, &[0; DATA_LEN - 1], DATA_LEN).is_none());
        assert!(assembly.take(Front { more: false, ..front }, &[0; DATA_LEN + 1], DATA_LEN).is_none());
        assert!(assembly.take(Front { part: u16::MAX, ..front }, &[0; 65_000], 65_000).is_none());
        assert!(assembly.messages.is_empty());
        // The last part says where the message ends; a part of another length is none of it.
        assert!(assembly.take(Front { part: 1, more: false, ..front }, &[0; 3], DATA_LEN).is_none());
        assert!(assembly.take(Front { part: 2, more: false, ..front }, &[0; 3], DATA_LEN).is_none());
        assert!(assembly.take(front, &[0; DATA_LEN], DATA_LEN).is_some());
    }
}
