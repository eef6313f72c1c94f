//! A former member that goes on: it answers requests with the secrets it still has and with its own signature.

use std::collections::BTreeMap;
use std::vec::Vec;

use chronoseal_crypto::suite::{SECRET_LEN, Share, Suite};
use chronoseal_crypto::symmetric::{Aes128Ctr, BlockMac, CmacAes128};

use crate::identifier::{Address, ExchangeId, Side};
use crate::keys::{Secret, SessionKeys, counter_block};
use crate::profile::Profile;
use crate::signed;
use crate::text::Stamp;

/// A removed node that takes part in exchanges it has no business in.
///
/// It computes everything as a member does, and is free to choose with which secret, for which side and in whose place.
pub struct Insider<S: Suite> {
    profile: Profile,
    address: Address,
    signing_key: S::SigningKey,
    /// The latest stamp it has heard for each exchange; as published the epoch is all there is of it.
    stamps: BTreeMap<ExchangeId, Stamp>,
}

/// Its part in one exchange, until the other side's share is there.
pub struct Answer {
    exchange: ExchangeId,
    side: Side,
    secret: Secret,
    /// Who is said to act for the sides.
    acting: [Address; 2],
    share: Share,
}

impl<S: Suite> Insider<S> {
    /// The node at `address` with its own key.
    pub const fn new(profile: Profile, address: Address, signing_key: S::SigningKey) -> Self {
        Self { profile, address, signing_key, stamps: BTreeMap::new() }
    }

    /// Takes epoch and time from a request, so that what it signs is of this run. As published they do not matter.
    pub fn hear_request(&mut self, exchange: ExchangeId, message: &[u8]) {
        let stamp = match (self.profile, message.first_chunk()) {
            (Profile::Hardened, Some(bytes)) => Stamp::from_bytes(*bytes),
            _ => Stamp::default(),
        };
        self.stamps.insert(exchange, stamp);
    }

    /// Begins to answer for a side of an exchange with a secret, against whoever acts for the other; also its share.
    pub fn answer(
        &self,
        exchange: ExchangeId,
        side: Side,
        secret: [u8; SECRET_LEN],
        peer: Address,
    ) -> (Answer, Vec<u8>) {
        let secret = Secret::from_array(secret);
        let share = S::share(&S::secret(secret.expose()));
        let acting = if side == Side::First { [self.address, peer] } else { [peer, self.address] };
        (Answer { exchange, side, secret, acting, share }, share.as_bytes().to_vec())
    }

    /// The confirmation, now that the other side's share is there, and the secret that the exchange gives if it is believed.
    pub fn confirm(&self, answer: &Answer, peer: &[u8]) -> Option<(Vec<u8>, [u8; SECRET_LEN])> {
        let Answer { exchange, side, secret, acting, share } = answer;
        let peer = Share::new(peer)?;
        let agreed = S::agree(&S::secret(secret.expose()), peer.as_bytes()).ok()?;
        let shares = if *side == Side::First { [share, &peer] } else { [&peer, share] };
        let stamp = self.stamps.get(exchange).copied().unwrap_or_default();
        let transcript = signed::transcript(S::NAME, *exchange, stamp, *acting, shares);
        let keys = SessionKeys::derive(&agreed, self.profile, &transcript);
        let signed = signed::confirmation_text(self.profile, *side, shares, &transcript);
        let mut ciphertext = S::sign(&self.signing_key, signed.as_bytes());
        Aes128Ctr::new(keys.encryption(*side)).apply_keystream(&counter_block(*side), &mut ciphertext);
        let mut message = ciphertext.to_vec();
        if self.profile == Profile::Hardened {
            let tagged = signed::confirmation_tag_text(*side, &transcript, &ciphertext);
            message.extend(CmacAes128::new(keys.tag(*side)).tag(&[tagged.as_bytes()]));
        }
        Some((message, *keys.logical.expose()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::swift::Swift;

    /// An insider is worth something as an adversary only if whoever it speaks to derives the same.
    #[test]
    fn an_insider_derives_what_an_honest_peer_derives() {
        let (insider, peer) = (Address(1), Address(2));
        let (secret, of_peer) = ([3; SECRET_LEN], Swift::secret(&[5; SECRET_LEN]));
        let peer_share = Swift::share(&of_peer);
        for profile in Profile::ALL {
            for side in [Side::First, Side::Second] {
                let is_first = side == Side::First;
                let [first, second] = if is_first { [insider, peer] } else { [peer, insider] };
                let exchange = ExchangeId { first, second, result: Address(3) };
                let stamp = Stamp { epoch: 7, time_ms: 8 };
                let mut former = Insider::<Swift>::new(profile, insider, Swift::signing_key(&[9; SECRET_LEN]));
                former.hear_request(exchange, &stamp.to_bytes());
                let (answer, share) = former.answer(exchange, side, secret, peer);
                let (_, derived) = former.confirm(&answer, peer_share.as_bytes()).expect("the share is sound");

                let share = Share::new(&share).expect("it has the length of a share");
                let shares = if is_first { [&share, &peer_share] } else { [&peer_share, &share] };
                let stamp = if profile == Profile::Hardened { stamp } else { Stamp::default() };
                let transcript = signed::transcript(Swift::NAME, exchange, stamp, [first, second], shares);
                let agreed = Swift::agree(&of_peer, share.as_bytes()).expect("the share is sound");
                let keys = SessionKeys::derive(&agreed, profile, &transcript);
                assert_eq!(&derived, keys.logical.expose(), "{profile:?} {side:?}");
            }
        }
    }
}
