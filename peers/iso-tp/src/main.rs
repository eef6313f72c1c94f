//! One end of an ISO-TP connection behind standard input and output, driven by the wall clock.
//!
//! `chronoseal-iso-tp-peer TX_DATA_LEN ADDRESS PEER_ADDRESS BLOCK_SIZE ST_MIN MESSAGE_LEN_MAX`, addresses `-` or a
//! number. A line each way: `frame HEX` is the data of a frame. In: `send HEX` begins a message, `busy 0` and `busy 1` say
//! whether the receiver is. Out: `received HEX` and `sent` for messages, `event TEXT` for everything else that happens.

use std::io::{BufRead, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration as HostDuration, Instant};

use chronoseal_core::LocalTime;
use chronoseal_nodes::segmentation::{
    FRAME_DATA_LEN_MAX, Output, ReceiveEvent, Receiver, ReceiverConfig, Reception, SendEvent, Sender, SenderConfig,
    Transfer,
};
use chronoseal_wire::can::iso_tp::{FrameFormat, SeparationTime, TxDataLength};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [tx_data_len, address, peer_address, block_size, st_min, message_len_max] = arguments.as_slice() else {
        return Err("six arguments: TX_DATA_LEN ADDRESS PEER_ADDRESS BLOCK_SIZE ST_MIN MESSAGE_LEN_MAX".into());
    };
    let optional = |text: &str| if text == "-" { Ok(None) } else { text.parse().map(Some) };
    let format = FrameFormat {
        address: optional(address)?,
        ..FrameFormat::new(TxDataLength::new(tx_data_len.parse()?)?)
    };
    let peer_address = optional(peer_address)?;
    let reception = Reception::FlowControlled {
        block_size: block_size.parse()?,
        separation_time: SeparationTime::from_raw(st_min.parse()?),
        waits_max: 10,
        wait_interval: chronoseal_core::Duration::from_ms(100),
    };
    let sender = Sender::new(SenderConfig {
        peer_address,
        ..SenderConfig::new(format, Transfer::flow_controlled())
    })?;
    let receiver = Receiver::new(ReceiverConfig {
        peer_address,
        message_len_max: message_len_max.parse()?,
        ..ReceiverConfig::new(format, reception)
    })?;
    run(sender, receiver)
}

fn run(mut sender: Sender, mut receiver: Receiver) -> Result<(), Failure> {
    let (lines_in, lines) = mpsc::channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if lines_in.send(line).is_err() {
                return;
            }
        }
    });
    let start = Instant::now();
    let local = || LocalTime::from_ps(start.elapsed().as_nanos() as i64 * 1_000);
    loop {
        let wake = drain(&mut sender, &mut receiver, local())?;
        let line = match wake {
            None => lines.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(at) => {
                let ns = (at - local()).as_ns().max(0) as u64 + 1;
                lines.recv_timeout(HostDuration::from_nanos(ns))
            }
        };
        let line = match line {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        };
        match line.split_once(' ') {
            Some(("frame", hex)) => {
                let data = from_hex(hex)?;
                sender.handle_frame(local(), &data);
                receiver.handle_frame(local(), &data);
            }
            Some(("send", hex)) => sender.send(local(), from_hex(hex)?)?,
            Some(("busy", flag)) => receiver.set_busy(flag == "1"),
            _ => return Err(format!("`{line}` is none of frame, send, busy").into()),
        }
    }
}

/// Writes out what both ends have to say and returns when the earlier one wants to be woken.
fn drain(sender: &mut Sender, receiver: &mut Receiver, now: LocalTime) -> Result<Option<LocalTime>, Failure> {
    let mut out = std::io::stdout().lock();
    let mut data = [0; FRAME_DATA_LEN_MAX];
    let sender_wake = loop {
        match sender.poll(now, &mut data) {
            Output::Frame(len) => writeln!(out, "frame {}", to_hex(&data[..len]))?,
            Output::Event(SendEvent::Sent { .. }) => writeln!(out, "sent")?,
            Output::Event(event) => writeln!(out, "event {event:?}")?,
            Output::Timeout(at) => break at,
        }
    };
    let receiver_wake = loop {
        match receiver.poll(now, &mut data) {
            Output::Frame(len) => writeln!(out, "frame {}", to_hex(&data[..len]))?,
            Output::Event(ReceiveEvent::Received(message)) => writeln!(out, "received {}", to_hex(&message))?,
            Output::Event(event) => writeln!(out, "event {event:?}")?,
            Output::Timeout(at) => break at,
        }
    };
    out.flush()?;
    Ok(match (sender_wake, receiver_wake) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    })
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Result<Vec<u8>, Failure> {
    if !text.len().is_multiple_of(2) {
        return Err("an odd number of hexadecimal digits".into());
    }
    (0..text.len()).step_by(2).map(|at| Ok(u8::from_str_radix(&text[at..at + 2], 16)?)).collect()
}
