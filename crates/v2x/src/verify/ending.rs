//! The end of a verification: what is kept of what came along.

use std::sync::Arc;

use super::begun::Begun;
use super::check::{CheckKind, Outcome, Verdict};
use super::job::JobKey;
use super::station::Station;
use super::{ResultCode, Verifier};
use crate::types::{Ieee1609Dot2Data, SignerIdentifier};

impl Verifier {
    /// Ends a verification: `results` are the answers to [`Begun::jobs`], in their order; a missing one counts as wrong.
    /// `took_ns` is how long they took, for the verdict `[ns]`.
    ///
    /// What came along is kept only if the message is accepted: its certificates, its certificate for others, its
    /// requests.
    pub fn finish<'a>(
        &mut self,
        mut begun: Begun<'a>,
        results: &[bool],
        took_ns: u64,
    ) -> (Verdict, Option<Ieee1609Dot2Data<'a>>) {
        let Some(digest) = begun.digest else { return (begun.verdict, begun.message) };
        let took_ns = u32::try_from(took_ns).unwrap_or(u32::MAX);
        let count = begun.jobs().count();
        let are_right = count > 0 && results.len() >= count && results[..count].iter().all(|right| *right);
        let outcome =
            if are_right { Outcome::Passed } else { Outcome::Failed(ResultCode::SpduCryptoVerificationFailure) };
        begun.verdict.set(CheckKind::Signature, outcome, took_ns);
        // A copy may have ended its way since this one began.
        if are_right && begun.is_replay_refused && !self.replays.insert(digest.as_bytes(), begun.now.0) {
            let failed = Outcome::Failed(ResultCode::SpduRelevanceReplayedSpdu);
            begun.verdict.set(CheckKind::Replay, failed, begun.verdict.check(CheckKind::Replay).took_ns);
        }
        if begun.verdict.is_accepted() {
            self.keep(&mut begun);
        }
        (begun.verdict, begun.message)
    }

    /// Learns the certificates that came with a message whose own signature is left out, once their signatures are
    /// verified here and now. False, and nothing learned, if one of them is wrong. An implicit certificate has none of its
    /// own: only the message's signature shows that it is right, so that is verified for it.
    pub fn learn(&mut self, begun: &mut Begun<'_>) -> bool {
        let jobs = begun.jobs().count();
        let is_explicit = jobs > begun.new.len();
        let count = if is_explicit { jobs - 1 } else { jobs };
        for job in begun.jobs_mut().take(count) {
            let Ok(key) = job.key.ready() else { return false };
            job.key = JobKey::Ready(key);
            if !job.verify() {
                return false;
            }
        }
        self.keep_certificates(begun);
        true
    }

    pub(super) fn keep(&mut self, begun: &mut Begun<'_>) {
        self.keep_certificates(begun);
        let Some(signed) = begun.message.as_ref().and_then(Ieee1609Dot2Data::signed_data) else { return };
        let header = &signed.tbs_data.header_info;
        if let Some(list) = header.inline_p2pcd_request {
            let trust = &self.trust;
            self.peers.handle_request(list, |id| trust.authority_by_id3(id).is_some());
        }
        if let Some(certificate) = &header.requested_certificate
            && let Ok(id) = crate::certificate::hashed_id8(certificate)
        {
            self.peers.handle_certificate(id);
            if self.peers.is_wanted(id) && self.trust.insert_authority(certificate).is_ok() {
                self.peers.note_known(id);
            }
        }
    }

    /// Keeps the certificates that came along, whose signatures were verified.
    fn keep_certificates(&mut self, begun: &mut Begun<'_>) {
        let Some(signed) = begun.message.as_ref().and_then(Ieee1609Dot2Data::signed_data) else { return };
        if let SignerIdentifier::Certificate(list) = &signed.signer {
            // Jobs lie from the highest certificate down, the message last: the key of a certificate is that of the next
            // job. An implicit one, the signer's alone, has no job of its own.
            let new = core::mem::take(&mut begun.new);
            let highest = new.len();
            for (at, summary) in new.into_iter().enumerate().rev() {
                let job = if at == 0 { begun.jobs().last() } else { begun.jobs().nth(highest - at) };
                let Some(Ok(key)) = job.map(|job| job.key.ready()) else { continue };
                self.peers.note_known(summary.id());
                let station = Station { summary, key };
                if at == 0 {
                    self.neighbours.insert(Arc::new(station));
                } else {
                    // A store that is full keeps nothing new; the message stays accepted.
                    let _ = self.trust.put_verified(&list[at], station);
                }
            }
        }
    }
}
