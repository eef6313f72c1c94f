//! Fragments of IPv4: packets of a peer that says whatever it likes.

use chronoseal_core::{Duration, LocalTime};
use chronoseal_nodes::reassembly::{Reassembly, ReassemblyConfig, Taken};
use chronoseal_wire::ipv4::{self, Cut, Header, Packet};
use chronoseal_wire::udp;

/// The messages of the receiver: a UDP datagram of three fragments.
const CUT: Cut = Cut { datagram_len: 100, fragment_len: 48 };
const TIMEOUT: Duration = Duration::from_ms(100);
const ENDS: udp::Ends = udp::Ends { source: [10, 0, 0, 1], destination: [239, 192, 0, 7] };

/// A packet as it stands in an input: how long after the one before `[4 ms]`, its length `[byte]`, its bytes.
pub fn record(wait: u8, packet: &[u8]) -> Vec<u8> {
    [&[wait, packet.len() as u8], packet].concat()
}

/// The fragments of a message.
pub fn message(identification: u16) -> Vec<Vec<u8>> {
    let mut datagram: Vec<u8> = (0..CUT.datagram_len as u8).collect();
    udp::emit(&mut datagram);
    udp::fill_checksum(&mut datagram, ENDS);
    let header =
        Header { source: ENDS.source, destination: ENDS.destination, identification, protocol: ipv4::PROTOCOL_UDP };
    let fragment = |number: usize| {
        let offset = number * CUT.fragment_len;
        let data = &datagram[offset..offset + CUT.len_at(offset)];
        let mut packet = vec![0; ipv4::HEADER_LEN];
        header.emit((offset, data.len()), !CUT.is_last(offset), &mut packet);
        packet.extend_from_slice(data);
        packet
    };
    (0..CUT.fragments()).map(fragment).collect()
}

/// Packets of a peer: what is read is emitted with the same meaning; a receiver holds less than a message and says when that ends;
/// what it gives has the length of a message; and after whatever came, the next message is taken.
pub fn ip_fragments(data: &[u8]) {
    let mut receiver = Reassembly::new(ReassemblyConfig { cut: CUT, timeout: TIMEOUT });
    let (mut now, mut rest) = (LocalTime::ZERO, data);
    while let [wait, len, records @ ..] = rest {
        let (bytes, records) = records.split_at(records.len().min(usize::from(*len)));
        rest = records;
        now += Duration::from_ms(4 * i64::from(*wait));
        if receiver.deadline().is_some_and(|deadline| deadline <= now) {
            assert!(receiver.give_up() && receiver.deadline().is_none());
        }
        take(&mut receiver, now, bytes);
        assert!(receiver.deadline().is_none_or(|deadline| deadline <= now + TIMEOUT));
    }
    let message = message(0xffff);
    for (number, fragment) in message.iter().enumerate() {
        let taken = take(&mut receiver, now, fragment);
        assert_eq!(matches!(taken, Some(Taken::Whole(_))), number + 1 == message.len());
    }
}

fn take(receiver: &mut Reassembly, now: LocalTime, bytes: &[u8]) -> Option<Taken> {
    let packet = Packet::parse(bytes).ok()?;
    let mut again = vec![0; ipv4::HEADER_LEN];
    let Packet { source, destination, identification, protocol, .. } = packet;
    let header = Header { source, destination, identification, protocol };
    header.emit((packet.offset, packet.data.len()), packet.more_fragments, &mut again);
    again.extend_from_slice(packet.data);
    assert_eq!(Packet::parse(&again), Ok(packet));
    if receiver.is_first(&packet) {
        receiver.give_up();
    }
    let taken = receiver.take(now, &packet);
    if let Taken::Whole(datagram) = &taken {
        assert_eq!(datagram.len(), CUT.datagram_len);
        if let Ok(data) = udp::parse(datagram, ENDS, true) {
            assert_eq!(data.len() + udp::HEADER_LEN, datagram.len());
        }
    }
    Some(taken)
}
