//! One client of the daemon: the bytes that came from it, and the answers it is owed.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use chronoseal_v2x::vss::LayerId;

use super::protocol::{self, Answer, FRAME_LEN_MAX, Request, Status};

/// Bytes read at once, so that no client keeps the others waiting.
const READ_LEN: usize = 1 << 16;
/// Requests without an answer, from one client, until nothing more is read from it.
const OWED_MAX: usize = 4096;
/// Answers a client has not taken, until nothing more is read from it `[byte]`.
const OUTGOING_LEN_MAX: usize = 1 << 20;
/// How long the rest of a request may take to come, once its first byte is there.
const REQUEST_TIME_MAX: Duration = Duration::from_secs(2);
/// Events nobody takes, until the client is given up `[byte]`.
const ABANDONED_LEN: usize = 4 * OUTGOING_LEN_MAX;

/// A client's connection. Nothing here waits.
pub(super) struct Connection {
    stream: UnixStream,
    /// What was read; before `parsed` it is done with.
    incoming: Vec<u8>,
    parsed: usize,
    /// The id of each request, in their order, and its answer if that is there already.
    owed: VecDeque<(u32, Option<Answer>)>,
    /// Number of the first of them.
    first_owed: u64,
    /// What is to be written; before `written` it is done with.
    outgoing: Vec<u8>,
    written: usize,
    /// Nothing more is read.
    has_ended: bool,
    /// Nothing more can be written.
    is_broken: bool,
    /// When the last request was whole, or the connection was made.
    heard: Instant,
    /// Since when the beginning of a request lies there without its end.
    half_since: Option<Instant>,
    /// What the client has registered.
    pub(super) layers: Vec<LayerId>,
}

impl Connection {
    pub(super) fn new(stream: UnixStream) -> std::io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self {
            stream,
            incoming: Vec::new(),
            parsed: 0,
            owed: VecDeque::new(),
            first_owed: 0,
            outgoing: Vec::new(),
            written: 0,
            has_ended: false,
            is_broken: false,
            heard: Instant::now(),
            half_since: None,
            layers: Vec::new(),
        })
    }

    /// Whether it is owed as much as anybody may be.
    fn is_full(&self) -> bool {
        self.owed.len() >= OWED_MAX || self.outgoing.len() - self.written >= OUTGOING_LEN_MAX
    }

    /// Whether bytes are wanted: of a client that takes its answers, and whose requests are not held up.
    pub(super) fn wants_to_read(&self) -> bool {
        !self.has_ended && !self.is_full() && self.incoming.len() - self.parsed < FRAME_LEN_MAX + READ_LEN
    }

    /// Whether a request that was held up need not be any more.
    pub(super) fn can_go_on(&self) -> bool {
        self.has_request() && self.owed.is_empty() && !self.is_full()
    }

    fn has_request(&self) -> bool {
        let unread = &self.incoming[self.parsed..];
        unread.split_first_chunk::<4>().is_some_and(|(len, rest)| rest.len() as u64 >= u32::from_be_bytes(*len).into())
    }

    pub(super) fn wants_to_write(&self) -> bool {
        self.written < self.outgoing.len()
    }

    /// Whether there is nothing left to do for it.
    pub(super) fn is_over(&self) -> bool {
        self.is_broken || self.has_ended && self.owed.is_empty() && !self.wants_to_write() && !self.has_request()
    }

    /// Whether the rest of a request is awaited for too long: whoever sends half of one keeps its place from others.
    pub(super) fn is_stuck(&mut self) -> bool {
        if self.half_since.is_some() && !self.wants_to_read() {
            // The rest may be there: it is we who do not read it yet.
            self.half_since = Some(Instant::now());
        }
        self.half_since.is_some_and(|since| since.elapsed() > REQUEST_TIME_MAX)
    }

    /// For how long it has asked for nothing and waited for nothing; none if it is served, or is a layer that waits for events.
    pub(super) fn idle_for(&self) -> Option<Duration> {
        let is_idle = self.layers.is_empty() && self.owed.is_empty() && !self.wants_to_write() && !self.has_request();
        is_idle.then(|| self.heard.elapsed())
    }

    /// Notes since when half a request lies there.
    fn note_half(&mut self) {
        let is_half = self.parsed < self.incoming.len() && !self.has_request();
        self.half_since = if is_half { self.half_since.or_else(|| Some(Instant::now())) } else { None };
    }

    /// The other side is gone: nobody will take an answer.
    pub(super) fn give_up(&mut self) {
        (self.has_ended, self.is_broken) = (true, true);
    }

    /// Takes what has come.
    pub(super) fn read(&mut self) {
        self.incoming.drain(..self.parsed);
        self.parsed = 0;
        let from = self.incoming.len();
        self.incoming.resize(from + READ_LEN, 0);
        let result = self.stream.read(&mut self.incoming[from..]);
        self.incoming.truncate(from + *result.as_ref().unwrap_or(&0));
        match result {
            // What was asked before the end is answered.
            Ok(0) => self.has_ended = true,
            Ok(_) => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(_) => self.give_up(),
        }
        self.note_half();
    }

    /// The next whole request. One that is no `verifySignature` waits until all before it are answered.
    pub(super) fn next_request(&mut self) -> Option<Request> {
        if self.is_full() {
            return None;
        }
        let (head, rest) = self.incoming[self.parsed..].split_first_chunk::<4>()?;
        let Some(len) = usize::try_from(u32::from_be_bytes(*head)).ok().filter(|len| *len <= FRAME_LEN_MAX) else {
            self.stop();
            return None;
        };
        let frame = rest.get(..len)?;
        let Some(request) = Request::read(frame) else {
            let what = b"a request is a version 1, an operation, an id of 4 bytes, and a body";
            self.stop();
            let number = self.owe(0);
            self.answer(number, (Status::Malformed, what.to_vec()));
            return None;
        };
        if request.operation != protocol::VERIFY_SIGNATURE && !self.owed.is_empty() {
            return None;
        }
        self.parsed += 4 + len;
        self.heard = Instant::now();
        self.half_since = None;
        self.note_half();
        Some(request)
    }

    /// Takes no more requests.
    fn stop(&mut self) {
        self.has_ended = true;
        self.incoming.clear();
        self.parsed = 0;
    }

    /// A place for the answer to the request of this id.
    pub(super) fn owe(&mut self, id: u32) -> u64 {
        self.owed.push_back((id, None));
        self.first_owed + self.owed.len() as u64 - 1
    }

    /// An answer; it is sent when all before it are there.
    pub(super) fn answer(&mut self, number: u64, answer: Answer) {
        let place = number.checked_sub(self.first_owed).and_then(|place| usize::try_from(place).ok());
        if let Some((_, slot)) = place.and_then(|place| self.owed.get_mut(place)) {
            *slot = Some(answer);
        }
        while let Some((id, Some((status, body)))) = self.owed.front() {
            protocol::push_frame(&mut self.outgoing, *status, *id, body);
            self.owed.pop_front();
            self.first_owed += 1;
        }
    }

    /// Something that is no answer, in between them.
    pub(super) fn tell(&mut self, event: &[u8]) {
        protocol::push_frame(&mut self.outgoing, Status::Event, 0, event);
        if self.outgoing.len() - self.written > ABANDONED_LEN {
            self.give_up();
        }
    }

    /// Writes what the client takes.
    pub(super) fn write(&mut self) {
        while self.wants_to_write() && !self.is_broken {
            match self.stream.write(&self.outgoing[self.written..]) {
                Ok(len) if len > 0 => self.written += len,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                _ => self.give_up(),
            }
        }
        self.outgoing.clear();
        self.written = 0;
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (UnixStream, Connection) {
        let (client, server) = UnixStream::pair().unwrap();
        (client, Connection::new(server).unwrap())
    }

    fn request(operation: u8, id: u32) -> Vec<u8> {
        [&[0, 0, 0, 6, 1, operation][..], &id.to_be_bytes()].concat()
    }

    fn text(text: &str) -> Answer {
        (Status::Ok, text.into())
    }

    #[test]
    fn answers_leave_in_the_order_of_their_requests() {
        let (mut client, mut connection) = pair();
        let numbers = [10, 11, 12].map(|id| connection.owe(id));
        connection.answer(numbers[2], text("c"));
        connection.answer(numbers[1], text("b"));
        assert!(!connection.wants_to_write());
        connection.answer(numbers[0], text("a"));
        let late = connection.owe(13);
        connection.answer(numbers[0], text("once more"));
        connection.answer(late, text("d"));
        connection.write();
        let mut frames = [[0; 10]; 4];
        client.read_exact(frames.as_flattened_mut()).unwrap();
        assert_eq!(frames.map(|frame| (frame[8], frame[9])), [(10, b'a'), (11, b'b'), (12, b'c'), (13, b'd')]);
    }

    #[test]
    fn another_service_waits_until_the_verdicts_before_it_are_there() {
        let (mut client, mut connection) = pair();
        let requests = [request(protocol::VERIFY_SIGNATURE, 1), request(12, 2), request(12, 3)].concat();
        for part in requests.chunks(7) {
            client.write_all(part).unwrap();
            connection.read();
        }
        assert_eq!(connection.next_request().unwrap().id, 1);
        let number = connection.owe(1);
        assert!(connection.next_request().is_none(), "the second one waits");
        connection.answer(number, text("verdict"));
        assert_eq!(connection.next_request().unwrap().id, 2);
    }

    #[test]
    fn what_was_asked_before_the_end_is_answered() {
        let (mut client, mut connection) = pair();
        client.write_all(&request(12, 7)).unwrap();
        client.shutdown(std::net::Shutdown::Write).unwrap();
        connection.read();
        connection.read();
        assert!(!connection.wants_to_read());
        assert_eq!(connection.next_request().unwrap().id, 7);
        let number = connection.owe(7);
        assert!(!connection.is_over());
        connection.answer(number, text("last"));
        connection.write();
        assert!(connection.is_over());
    }

    #[test]
    fn nothing_is_read_from_a_client_that_takes_no_answers() {
        let (_client, mut connection) = pair();
        while connection.wants_to_read() {
            let number = connection.owe(1);
            connection.answer(number, (Status::Ok, vec![0; 1000]));
            connection.write();
        }
        assert!(connection.outgoing.len() - connection.written <= OUTGOING_LEN_MAX + 1009);
        assert!(!connection.is_over());
        let (_client, mut connection) = pair();
        while connection.wants_to_read() {
            connection.owe(1);
        }
        assert_eq!(connection.owed.len(), OWED_MAX);
    }
}
