//! Frames that hold PDUs of several streams, at their receivers: they are taken apart, and each PDU is judged alone.
//!
//! A gateway makes such frames ([`crate::gateway::CollectConfig`]). Where a stream is protected hop by hop the frame is opened as
//! one PDU, under one tag; where it is protected from end to end, each PDU in it has its own tag, and the frame has none.
//!
//! A frame whose headers do not fit it is thrown away whole. A PDU in it that is none of this container's is thrown away alone.

use std::collections::{BTreeMap, VecDeque};

use chronoseal_core::{DiscardReason, Event, EventKind, LocalTime, StreamId, Work};
use chronoseal_crypto::symmetric::Key128;
use chronoseal_frameauth::{Moment, Opener};
use chronoseal_wire::container::{Container, HeaderType};

use crate::gateway::{HandOver, Mark, Pdu, number_of};
use crate::protection::{Protection, ProtectionError};
use crate::supervision::{Supervision, SupervisionConfig};

/// A container that a station receives.
#[derive(Clone, Debug)]
pub struct ContainerConfig {
    /// Its own stream: that of its frames.
    pub stream: StreamId,
    /// What stands before each PDU.
    pub header: HeaderType,
    /// How the frame is protected, as one PDU.
    pub protection: Protection,
    /// Every PDU that it may hold, by identifier; `None` for one that is not for this station.
    pub pdus: BTreeMap<u32, Option<ContainedConfig>>,
}

/// A stream that a station receives in a container.
#[derive(Clone, Debug)]
pub struct ContainedConfig {
    /// Which.
    pub stream: StreamId,
    /// Its PDU in the container, with what protects it from end to end `[byte]`.
    pub pdu_len: usize,
    /// Its PDU without protection `[byte]`.
    pub len: usize,
    /// True if this station uses the stream; false if it only hands it over.
    pub delivers: bool,
    /// What goes on from here.
    pub hands_over: HandOver,
    /// Within which time a PDU has to follow another, if the station looks after that.
    pub supervision: Option<SupervisionConfig>,
    /// How it is protected from end to end, if this station opens that.
    pub protection: Protection,
}

/// The containers that a station receives.
pub(crate) struct Containers {
    listeners: Vec<Listener>,
    /// The streams in all of them.
    contained: Vec<Contained>,
    /// PDUs that are taken out and not judged yet: of which stream, and the bytes.
    waiting: VecDeque<(usize, Vec<u8>)>,
}

struct Listener {
    config: ContainerConfig,
    opener: Option<Opener>,
    /// By identifier: which of the streams in all containers, if it is for this station.
    place_of: BTreeMap<u32, Option<usize>>,
}

struct Contained {
    config: ContainedConfig,
    opener: Option<Opener>,
    supervision: Option<Supervision>,
}

impl Containers {
    /// Containers whose protections the station is able to, which `check` says.
    pub(crate) fn new(
        configs: Vec<ContainerConfig>,
        check: fn(&Protection) -> Result<(), ProtectionError>,
    ) -> Result<Self, ProtectionError> {
        let opener = |protection: &Protection| -> Result<Option<Opener>, ProtectionError> {
            check(protection)?;
            Ok(match protection {
                Protection::Secured { profile, key: Some(key), data_id } => Some(Opener::new(*profile, key, *data_id)?),
                Protection::Secured { key: None, .. } | Protection::None { .. } => None,
            })
        };
        let (mut listeners, mut contained) = (Vec::new(), Vec::new());
        for config in configs {
            let mut place_of = BTreeMap::new();
            for (id, pdu) in &config.pdus {
                let place = pdu.as_ref().map(|_| contained.len());
                place_of.insert(*id, place);
                if let Some(pdu) = pdu {
                    let supervision = pdu.supervision.map(Supervision::new);
                    contained.push(Contained { config: pdu.clone(), opener: opener(&pdu.protection)?, supervision });
                }
            }
            listeners.push(Listener { opener: opener(&config.protection)?, config, place_of });
        }
        Ok(Self { listeners, contained, waiting: VecDeque::new() })
    }

    /// Which container has this stream, if one has.
    pub(crate) fn find(&self, stream: StreamId) -> Option<usize> {
        self.listeners.iter().position(|listener| listener.config.stream == stream)
    }

    pub(crate) fn stream(&self, container: usize) -> StreamId {
        self.listeners[container].config.stream
    }

    /// Takes the group key, or goes without. Every protection under it takes keys of its length, or there would be no
    /// station.
    pub(crate) fn use_group_key(&mut self, key: Option<&Key128>) {
        let opener = |protection: &Protection, opener: &mut Option<Opener>| {
            if let Protection::Secured { profile, key: None, data_id } = protection {
                *opener = key.and_then(|key| Opener::new(*profile, key, *data_id).ok());
            }
        };
        self.listeners.iter_mut().for_each(|listener| opener(&listener.config.protection, &mut listener.opener));
        self.contained.iter_mut().for_each(|one| opener(&one.config.protection, &mut one.opener));
    }

    pub(crate) fn start(&mut self, now: LocalTime) {
        self.contained.iter_mut().filter_map(|one| one.supervision.as_mut()).for_each(|one| one.start(now));
    }

    /// True if a stream in a container is looked after.
    pub(crate) fn is_supervising(&self) -> bool {
        self.contained.iter().any(|one| one.supervision.is_some())
    }

    /// When the first stream in a container has been waited for too long.
    pub(crate) fn due(&self) -> Option<LocalTime> {
        self.contained.iter().filter_map(|one| one.supervision.as_ref()?.due()).min()
    }

    /// The first stream in a container that has been waited for too long.
    pub(crate) fn absent(&mut self, now: LocalTime) -> Option<Event> {
        self.contained.iter_mut().find_map(|one| {
            let absent = one.supervision.as_mut()?.absent(now)?;
            Some(Event::of(EventKind::Missing, one.config.stream, absent))
        })
    }

    /// What opening a frame of `secured_len` bytes takes; `None` if there is nothing to compute.
    pub(crate) fn work(&self, container: usize, secured_len: usize) -> Option<Work> {
        let opener = self.listeners[container].opener.as_ref()?;
        Some(opener.work(opener.profile().payload_len(secured_len).unwrap_or(0)))
    }

    /// Opens a frame and takes it apart: its PDUs wait to be judged, unless `admits` refuses the frame, which is asked once it is known
    /// to be authentic. What is under the tag begins with `before` bytes of a header of the segment's own. Returns what is to be
    /// reported.
    pub(crate) fn open(
        &mut self,
        container: usize,
        (secured, before): (&[u8], usize),
        moment: Moment,
        admits: impl FnOnce() -> Result<(), DiscardReason>,
    ) -> Vec<Event> {
        let stream = self.listeners[container].config.stream;
        let discard = |reason| Event::of(EventKind::Discarded(reason), stream, 0);
        match self.take_apart(container, (secured, before), moment, admits) {
            Ok(unknown) => vec![discard(DiscardReason::UnknownStream); unknown],
            Err(reason) => vec![discard(reason)],
        }
    }

    /// [`Self::open`]; how many PDUs are none of this container's.
    fn take_apart(
        &mut self,
        container: usize,
        (secured, before): (&[u8], usize),
        moment: Moment,
        admits: impl FnOnce() -> Result<(), DiscardReason>,
    ) -> Result<usize, DiscardReason> {
        let Listener { config, opener, place_of } = &mut self.listeners[container];
        let payload = match (&config.protection, opener) {
            (Protection::None { padding }, _) => {
                secured.len().checked_sub(*padding).and_then(|len| secured.get(..len)).ok_or(DiscardReason::TooShort)?
            }
            (Protection::Secured { .. }, None) => return Err(DiscardReason::NoKey),
            (Protection::Secured { .. }, Some(opener)) => opener.open(secured, moment)?.payload,
        };
        let whole = Container::new_checked(config.header, payload.get(before..).ok_or(DiscardReason::TooShort)?)?;
        admits()?;
        let mut unknown = 0;
        for pdu in whole.pdus() {
            match place_of.get(&pdu.id) {
                Some(Some(place)) => self.waiting.push_back((*place, pdu.bytes.to_vec())),
                Some(None) => {}
                None => unknown += 1,
            }
        }
        Ok(unknown)
    }

    /// True if a PDU waits to be judged.
    pub(crate) fn are_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// What judging the next PDU takes. `None` if none waits; `Some(None)` if there is nothing to compute.
    pub(crate) fn next_work(&self) -> Option<Option<Work>> {
        let (place, _) = self.waiting.front()?;
        let Contained { config, opener, .. } = &self.contained[*place];
        Some(opener.as_ref().map(|opener| opener.work(config.len)))
    }

    /// Judges the next PDU: what is to be reported, and what goes on from here.
    pub(crate) fn judge_next(&mut self, now: LocalTime, moment: Moment) -> Option<(Event, Option<Pdu>)> {
        let (place, bytes) = self.waiting.pop_front()?;
        Some(self.contained[place].judge(now, &bytes, moment))
    }
}

impl Contained {
    fn judge(&mut self, now: LocalTime, bytes: &[u8], moment: Moment) -> (Event, Option<Pdu>) {
        let Self { config, opener, supervision } = self;
        let sequence = number_of(bytes);
        let event = |kind| Event::of(kind, config.stream, sequence);
        if bytes.len() != config.pdu_len {
            return (event(EventKind::Discarded(DiscardReason::Malformed)), None);
        }
        let handed = match config.hands_over {
            HandOver::Nothing => None,
            HandOver::Opened => bytes.get(..config.len),
            HandOver::Sealed { len } => bytes.get(..len),
        };
        let pdu =
            handed.map(|bytes| Pdu { stream: config.stream, sequence, bytes: bytes.to_vec(), mark: Mark::default() });
        if !config.delivers {
            return (event(EventKind::Relayed), pdu);
        }
        let refused = match (&config.protection, opener) {
            (Protection::None { .. }, _) => None,
            (Protection::Secured { .. }, None) => Some(DiscardReason::NoKey),
            (Protection::Secured { .. }, Some(opener)) => opener.open(bytes, moment).err(),
        };
        if let Some(reason) = refused {
            return (event(EventKind::Discarded(reason)), pdu);
        }
        if let Some(supervision) = supervision {
            supervision.met(now, sequence);
        }
        (event(EventKind::Delivered), pdu)
    }
}
