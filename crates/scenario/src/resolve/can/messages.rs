//! Periodic messages.

use std::collections::BTreeMap;

use chronoseal_core::random::{self, Purpose, uniform_i64};
use chronoseal_core::{Bytes, Duration, NodeId};
use chronoseal_wire::can::frame::{CLASSICAL_DATA_LEN_MAX, FD_DATA_LEN_MAX};
use chronoseal_wire::can::{CanId, FrameKind, StandardId};

use super::super::ONLY;
use super::Resolver;
use crate::limits::*;
use crate::plan::{CanHop, DeadlineKind, Facet, HopPlan, NodePlan, PayloadPlan, ProtectionId, ProtectionPlan, StreamPlan};
use crate::problem::Code;
use crate::shape::shortened;
use crate::source::{Step, at};
use crate::spec::{CanFormatSpec, MessageSpec, NetworkSpec};

impl Resolver<'_> {
    pub(super) fn messages(&mut self, nodes: &[NodePlan], protections: &[ProtectionPlan]) -> Vec<StreamPlan> {
        let specs = &self.spec.messages;
        self.unique("messages", specs.iter().map(|spec| spec.name.as_str()));
        let mut first: BTreeMap<CanId, usize> = BTreeMap::new();
        let mut messages = Vec::new();
        for (i, spec) in specs.iter().enumerate() {
            let (id, message) = self.message(i, spec, nodes, protections);
            match first.get(&id) {
                Some(&earlier) => self.report_both(
                    Code::BadCanId,
                    (at!["messages", i, "id"], "again here"),
                    (at!["messages", earlier, "id"], "first here"),
                    format!("two messages have the identifier {}", shortened(&spec.id)),
                    "two senders of one identifier destroy each other's frames: give each message its own",
                ),
                None => {
                    first.insert(id, i);
                }
            }
            messages.push(message);
        }
        messages
    }

    fn message(
        &mut self,
        i: usize,
        spec: &MessageSpec,
        nodes: &[NodePlan],
        protections: &[ProtectionPlan],
    ) -> (CanId, StreamPlan) {
        self.title(&spec.name, at!["messages", i, "name"], "the message's name");
        let sender = self.can_node(&spec.from, nodes, at!["messages", i, "from"]);
        let receivers = match &spec.to {
            None => (0..nodes.len() as u16).map(NodeId).filter(|node| *node != sender).collect(),
            Some(names) => self.message_receivers(i, names, nodes, sender),
        };
        let period =
            self.within(at!["messages", i, "period"], "the period", spec.period.0, PERIOD_MIN, CLUSTER_CYCLE_MAX);
        let offset = match spec.offset {
            Some(offset) => {
                let latest = period - Duration::from_ps(1);
                self.within(at!["messages", i, "offset"], "the offset", offset.0, Duration::ZERO, latest)
            }
            None => {
                let mut rng = random::stream(self.spec.seed, Purpose::Phase, i as u64);
                Duration::from_ps(uniform_i64(&mut rng, 0, period.as_ps() - 1))
            }
        };
        let deadline = match spec.deadline {
            Some(deadline) => {
                self.within(at!["messages", i, "deadline"], "the deadline", deadline.0, PERIOD_MIN, CLUSTER_CYCLE_MAX)
            }
            None => period,
        };
        let names: Vec<&str> = protections.iter().map(|protection| protection.name.as_str()).collect();
        let path = at!["messages", i, "protection"];
        let protection =
            spec.protection.as_ref().and_then(|name| self.find(name, &names, path, "protection", "protections"));
        let protection = protection.unwrap_or(0);
        let kind = self.frame_kind(at!["messages", i, "format"], spec.format);
        let id = self.can_id(at!["messages", i, "id"], &spec.id, spec.extended);
        let hop = HopPlan {
            segment: ONLY,
            from: sender,
            to: receivers.clone(),
            frame_len: u32::from(self.data_len(i, spec.length.0, kind, &protections[protection])),
            class: "message",
            facet: Facet::new(CanHop::Message { id, kind }),
            previous: None,
        };
        let stream = StreamPlan {
            name: spec.name.clone(),
            sender,
            receivers,
            period,
            offset: Some(offset),
            min_distance: None,
            deadline: Some(deadline),
            deadlines: Vec::new(),
            deadline_kind: DeadlineKind::default(),
            payload: PayloadPlan::Synthetic,
            protection: ProtectionId(protection as u16),
            hops: vec![hop],
        };
        (id, stream)
    }

    fn message_receivers(&mut self, i: usize, names: &[String], nodes: &[NodePlan], sender: NodeId) -> Vec<NodeId> {
        let mut receivers = Vec::new();
        for (k, name) in names.iter().enumerate() {
            let path = at!["messages", i, "to", k];
            let receiver = self.can_node(name, nodes, path);
            if receiver == sender || receivers.contains(&receiver) {
                self.report(
                    Code::SenderReceives,
                    path,
                    format!("`{}` is the sender, or stands here twice", shortened(name)),
                    "not another node",
                    "name each other node once",
                );
                continue;
            }
            receivers.push(receiver);
        }
        receivers
    }

    pub(super) fn can_id(&mut self, path: &[Step<'_>], text: &str, extended: bool) -> CanId {
        let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
        let raw = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+')));
        let (bits, largest) = if extended { (29, "0x1FFFFFFF") } else { (11, "0x7FF") };
        let id = raw.and_then(|raw| {
            if extended {
                CanId::extended(raw).ok()
            } else {
                u16::try_from(raw).ok().and_then(|raw| CanId::standard(raw).ok())
            }
        });
        id.unwrap_or_else(|| {
            let help = if raw.is_some() && !extended {
                "write at most 0x7FF, or `extended = true` for an identifier of 29 bits".to_owned()
            } else {
                format!("write it in hexadecimal, at most {largest}, such as `\"0x123\"`")
            };
            self.report(
                Code::BadCanId,
                path,
                format!("`{}` is no identifier of {bits} bits", shortened(text)),
                "no identifier",
                help,
            );
            CanId::Standard(StandardId::ZERO)
        })
    }

    /// The kind of a frame format; switching the bit rate needs a second one.
    pub(super) fn frame_kind(&mut self, path: &[Step<'_>], format: CanFormatSpec) -> FrameKind {
        let switches = matches!(&self.spec.network, NetworkSpec::CanBus(bus) if bus.data_bit_rate.is_some());
        match format {
            CanFormatSpec::Classical => FrameKind::Classical,
            CanFormatSpec::Fd => FrameKind::Fd { brs: false, esi: false },
            CanFormatSpec::FdBrs => {
                if !switches {
                    self.report(
                        Code::BadBitTiming,
                        path,
                        "a frame with bit-rate switch needs a second bit rate",
                        "nothing to switch to",
                        "add `data_bit_rate = \"2Mbit/s\"` to the bus, or write `format = \"fd\"`",
                    );
                }
                FrameKind::Fd { brs: true, esi: false }
            }
        }
    }

    /// Data before protection, checked with it.
    fn data_len(&mut self, i: usize, len: Bytes, kind: FrameKind, protection: &ProtectionPlan) -> u8 {
        let overhead = protection.overhead_bytes() as usize;
        let max = if kind.is_fd() { FD_DATA_LEN_MAX } else { CLASSICAL_DATA_LEN_MAX };
        let room = max - overhead;
        if len.0 > room as u64 {
            let with = if overhead == 0 { String::new() } else { format!(" and {overhead}B of `{}`", protection.name) };
            self.report(
                Code::BadFrameLength,
                at!["messages", i, "length"],
                format!("{len}{with} do not fit the {max}B of this frame format"),
                "too long",
                if kind.is_fd() {
                    format!("write at most {room}B")
                } else {
                    format!("write at most {room}B, or `format = \"fd\"` for up to {}B", FD_DATA_LEN_MAX - overhead)
                },
            );
        }
        len.0.min(room as u64) as u8
    }
}
