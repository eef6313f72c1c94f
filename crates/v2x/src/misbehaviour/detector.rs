//! What a receiver remembers of its neighbours to see what is wrong with them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{
    CamObservation, MisbehaviourReport, Motion, ObservationsByTarget, Observed, PduStream, ReportContent, judge,
};
use crate::coer::{Decode, Encode, ExtensionAdditions};
use crate::pki::PkiError;
use crate::types::{Certificate, HashedId8, Psid, ThreeDLocation, Time64};

/// Senders that are remembered; one more, and the one that was not heard for longest is forgotten.
pub const TRACKED_MAX: usize = 1_000;
/// Findings that wait to be reported; further ones are not kept.
pub const FINDINGS_MAX: usize = 64;

/// Something that is wrong with a sender, and the messages that show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The sender's ticket.
    pub signer: HashedId8,
    /// What is wrong, at least one.
    pub observations: Vec<CamObservation>,
    certificate: Vec<u8>,
    /// In the order they came; the last one is the one that is wrong.
    messages: Vec<Vec<u8>>,
}

impl Finding {
    /// The report, to be signed.
    ///
    /// # Errors
    /// [`PkiError::Decode`] or [`PkiError::Encode`]: a message that is no message, or a place that is none.
    pub fn report(&self, observation_location: ThreeDLocation, now: Time64) -> Result<Vec<u8>, PkiError> {
        let targets: BTreeSet<u8> = self.observations.iter().map(|one| one.target()).collect();
        let observations = targets.into_iter().map(|target| ObservationsByTarget {
            target,
            observations: self
                .observations
                .iter()
                .filter(|one| one.target() == target)
                .map(|one| (one.id(), &[][..]))
                .collect(),
        });
        let evidence = PduStream {
            kind: PduStream::SIGNED,
            pdus: self.messages.iter().map(Vec::as_slice).collect(),
            certificate: Some(Certificate::from_coer(&self.certificate)?),
            subject_index: u8::try_from(self.messages.len() - 1).unwrap_or(u8::MAX),
            extensions: ExtensionAdditions::default(),
        };
        let observed =
            Observed { observations: observations.collect(), evidence: vec![evidence], other_evidence: Vec::new() };
        let report = MisbehaviourReport {
            generation_time: now,
            observation_location,
            aid: Psid::CAM,
            content: ReportContent::Cam(observed),
        };
        Ok(report.to_coer()?)
    }
}

#[derive(Clone, Debug)]
struct Tracked {
    certificate: Option<Vec<u8>>,
    /// The last message, and what it says.
    last: Option<(Motion, Vec<u8>)>,
    reported: BTreeSet<CamObservation>,
    seen_at: Time64,
}

/// Sees what is wrong with genuine CAMs, each thing once of each ticket.
#[derive(Clone, Debug, Default)]
pub struct Detector {
    tracked: BTreeMap<HashedId8, Tracked>,
    findings: VecDeque<Finding>,
    dropped: u64,
}

impl Detector {
    /// Takes in a CAM whose signature and certificate were verified. `certificate` is in it, if it is; of a sender whose certificate
    /// never came there is no evidence.
    pub fn see(&mut self, signer: HashedId8, certificate: Option<&[u8]>, message: &[u8], motion: Motion) {
        if self.tracked.len() >= TRACKED_MAX && !self.tracked.contains_key(&signer) {
            let silent = self.tracked.iter().min_by_key(|(_, tracked)| tracked.seen_at).map(|(id, _)| *id);
            silent.and_then(|id| self.tracked.remove(&id));
        }
        let tracked = self.tracked.entry(signer).or_insert_with(|| Tracked {
            certificate: None,
            last: None,
            reported: BTreeSet::new(),
            seen_at: motion.time,
        });
        if tracked.certificate.is_none() {
            tracked.certificate = certificate.map(<[u8]>::to_vec);
        }
        if tracked.last.as_ref().is_some_and(|(last, _)| motion.time <= last.time) {
            // Overtaken on its way.
            return;
        }
        tracked.seen_at = motion.time;
        let before = tracked.last.replace((motion, message.to_vec()));
        let mut observations = judge(before.as_ref().map(|(motion, _)| motion), &motion);
        observations.retain(|one| !tracked.reported.contains(one));
        let Some(certificate) = tracked.certificate.as_ref().filter(|_| !observations.is_empty()) else { return };
        if self.findings.len() >= FINDINGS_MAX {
            self.dropped += 1;
            return;
        }
        tracked.reported.extend(&observations);
        let of_two = observations.iter().any(|one| one.is_of_two());
        let before = before.filter(|_| of_two).map(|(_, message)| message);
        let messages = before.into_iter().chain([message.to_vec()]).collect();
        self.findings.push_back(Finding { signer, observations, certificate: certificate.clone(), messages });
    }

    /// The next finding that is to be reported.
    pub fn poll_finding(&mut self) -> Option<Finding> {
        self.findings.pop_front()
    }

    /// Findings that were not kept, since too many waited.
    pub fn dropped_count(&self) -> u64 {
        self.dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn car(id: u16, at_ms: u64, speed_cm_s: u16) -> (HashedId8, Motion) {
        let mut signer = [0; 8];
        signer[..2].copy_from_slice(&id.to_be_bytes());
        let motion = Motion {
            time: Time64(1_000_000_000 + at_ms * 1_000),
            station_type: 5,
            position: None,
            speed_cm_s: Some(speed_cm_s),
            is_reverse: false,
            acceleration_dm_s2: None,
        };
        (HashedId8(signer), motion)
    }

    fn see(detector: &mut Detector, (signer, motion): (HashedId8, Motion), certificate: Option<&[u8]>) {
        detector.see(signer, certificate, &motion.time.0.to_be_bytes(), motion);
    }

    #[test]
    fn each_thing_is_found_once_of_each_ticket_with_the_message_before_if_it_takes_that() {
        let mut detector = Detector::default();
        see(&mut detector, car(1, 0, 3_000), Some(b"certificate"));
        see(&mut detector, car(1, 100, 9_000), None);
        let finding = detector.poll_finding().unwrap();
        assert_eq!(finding.observations, [CamObservation::SpeedChange]);
        assert_eq!((finding.messages.len(), finding.certificate.as_slice()), (2, &b"certificate"[..]));
        see(&mut detector, car(1, 200, 16_000), None);
        let finding = detector.poll_finding().unwrap();
        assert_eq!((finding.observations.as_slice(), finding.messages.len()), (&[CamObservation::SpeedOfKind][..], 1));
        see(&mut detector, car(1, 300, 3_000), None);
        see(&mut detector, car(1, 400, 16_000), None);
        assert_eq!(detector.poll_finding(), None, "both were reported");
        // Another ticket, and one whose certificate did not come.
        see(&mut detector, car(2, 400, 16_000), Some(b"other"));
        see(&mut detector, car(3, 400, 16_000), None);
        assert_eq!(detector.poll_finding().map(|finding| finding.signer), Some(car(2, 0, 0).0));
        assert_eq!(detector.poll_finding(), None);
        see(&mut detector, car(3, 500, 16_000), Some(b"third"));
        assert!(detector.poll_finding().is_some(), "now it has");
    }

    #[test]
    fn neighbours_and_findings_are_bounded() {
        let mut detector = Detector::default();
        for id in 0..2_000 {
            see(&mut detector, car(id, u64::from(id), 16_000), Some(b"certificate"));
        }
        assert_eq!((detector.tracked.len(), detector.findings.len()), (TRACKED_MAX, FINDINGS_MAX));
        assert_eq!(detector.dropped_count(), 2_000 - FINDINGS_MAX as u64);
        assert!(!detector.tracked.contains_key(&car(0, 0, 0).0) && detector.tracked.contains_key(&car(1_999, 0, 0).0));
        // What was not kept is found again.
        while detector.poll_finding().is_some() {}
        see(&mut detector, car(1_999, 3_000, 16_000), None);
        assert!(detector.poll_finding().is_some());
    }

    #[test]
    fn what_was_overtaken_on_its_way_is_no_jump() {
        let mut detector = Detector::default();
        see(&mut detector, car(1, 100, 3_000), Some(b"certificate"));
        see(&mut detector, car(1, 0, 16_000), None);
        assert_eq!(detector.poll_finding(), None);
    }
}
