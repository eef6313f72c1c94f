//! Peer-to-peer distribution of certificates, IEEE 1609.2 clause 8 as TS 103 097 clause 7.1.1 has it: in the header of CAMs.

use crate::types::{HashedId3, HashedId3List, HashedId8, Time64};

/// Most certificates asked for at once.
const WANTED_MAX: usize = 8;
/// For how long a certificate is asked for without it being mentioned again `[us]`.
const WANTED_FOR_US: u64 = 10_000_000;

/// What this station asks others for, and they ask of it.
#[derive(Clone, Debug, Default)]
pub struct PeerDistribution {
    wanted: Vec<(HashedId3, Time64)>,
    own: Vec<HashedId3>,
    is_own_wanted: bool,
    /// Of an authority, asked for by others and not sent yet.
    to_send: Option<HashedId3>,
}

impl PeerDistribution {
    /// Tells which certificates this station signs under at present.
    pub fn set_own(&mut self, ids: impl IntoIterator<Item = HashedId8>) {
        self.own = ids.into_iter().map(|id| id.hashed_id3()).collect();
        self.is_own_wanted = false;
    }

    /// A message came from a certificate, or under an authority, that is not known.
    pub fn note_unknown(&mut self, id: HashedId8, now: Time64) {
        let id = id.hashed_id3();
        self.wanted.retain(|(wanted, since)| *wanted != id && now.0.saturating_sub(since.0) < WANTED_FOR_US);
        if self.wanted.len() == WANTED_MAX {
            self.wanted.remove(0);
        }
        self.wanted.push((id, now));
    }

    /// A certificate is known now.
    pub fn note_known(&mut self, id: HashedId8) {
        let id = id.hashed_id3();
        self.wanted.retain(|(wanted, _)| *wanted != id);
    }

    /// Whether the certificate is being asked for.
    pub fn is_wanted(&self, id: HashedId8) -> bool {
        let id = id.hashed_id3();
        self.wanted.iter().any(|(wanted, _)| *wanted == id)
    }

    /// What the next CAM is to ask for: the identifiers one after the other, for
    /// [`HashedId3List::new`]; empty if nothing.
    pub fn inline_request(&mut self, now: Time64) -> Vec<u8> {
        self.wanted.retain(|(_, since)| now.0.saturating_sub(since.0) < WANTED_FOR_US);
        self.wanted.iter().flat_map(|(id, _)| id.0).collect()
    }

    /// Another station asks. `is_authority` tells whether a certificate of an authority is known here.
    pub fn handle_request(&mut self, list: HashedId3List<'_>, is_authority: impl Fn(HashedId3) -> bool) {
        for id in list.iter() {
            if self.own.contains(&id) {
                self.is_own_wanted = true;
            } else if self.to_send.is_none() && is_authority(id) {
                self.to_send = Some(id);
            }
        }
    }

    /// Another station sent a certificate that was asked for: no need to send it again.
    pub fn handle_certificate(&mut self, id: HashedId8) {
        if self.to_send == Some(id.hashed_id3()) {
            self.to_send = None;
        }
    }

    /// Whether the next CAM is to be signed by certificate because somebody asked; once for each time of asking.
    pub fn take_own_wanted(&mut self) -> bool {
        core::mem::take(&mut self.is_own_wanted)
    }

    /// The authority whose certificate the next CAM signed by digest is to carry; once.
    pub fn take_to_send(&mut self) -> Option<HashedId3> {
        self.to_send.take()
    }
}
