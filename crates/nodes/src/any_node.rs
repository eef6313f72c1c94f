//! A node as a driver in a hurry holds it.

use chronoseal_core::oscillator::RateDeviation;
use chronoseal_core::{FramePart, HandleError, Input, LocalTime, Node, Output, PortId, StreamId};

use crate::EndSystem;

/// Any node. Most that see many frames are end systems, so a driver that holds one by its type has its short steps in its own
/// loop, where a call through a table of functions cannot be seen into.
pub enum AnyNode {
    /// A station of an Ethernet.
    EndSystem(Box<EndSystem>),
    /// Any other.
    Other(Box<dyn Node + Send>),
}

impl From<Box<dyn Node + Send>> for AnyNode {
    fn from(node: Box<dyn Node + Send>) -> Self {
        Self::Other(node)
    }
}

impl From<AnyNode> for Box<dyn Node + Send> {
    fn from(node: AnyNode) -> Self {
        match node {
            AnyNode::EndSystem(node) => node,
            AnyNode::Other(node) => node,
        }
    }
}

impl Node for AnyNode {
    #[inline(always)]
    fn handle_input(&mut self, now: LocalTime, input: Input<'_>) -> Result<(), HandleError> {
        match self {
            Self::EndSystem(node) => node.handle_input(now, input),
            Self::Other(node) => node.handle_input(now, input),
        }
    }

    #[inline(always)]
    fn poll_output(&mut self, now: LocalTime, frame: &mut [u8]) -> Output {
        match self {
            Self::EndSystem(node) => node.poll_output(now, frame),
            Self::Other(node) => node.poll_output(now, frame),
        }
    }

    fn origins(&self) -> &[u64] {
        match self {
            Self::EndSystem(node) => node.origins(),
            Self::Other(node) => node.origins(),
        }
    }

    fn parts(&self) -> &[FramePart] {
        match self {
            Self::EndSystem(node) => node.parts(),
            Self::Other(node) => node.parts(),
        }
    }

    fn shown_time(&self, port: PortId, now: LocalTime) -> Option<(LocalTime, RateDeviation)> {
        match self {
            Self::EndSystem(node) => node.shown_time(port, now),
            Self::Other(node) => node.shown_time(port, now),
        }
    }

    fn owed(&mut self, now: LocalTime) -> Option<(StreamId, LocalTime)> {
        match self {
            Self::EndSystem(node) => node.owed(now),
            Self::Other(node) => node.owed(now),
        }
    }
}
