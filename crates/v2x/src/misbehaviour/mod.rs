//! Misbehaviour reports of ETSI TS 103 759: made by a station's own checks, judged by an authority.
//!
//! It does *not* find out who lies about what cannot be computed from two genuine messages of one sender, and it revokes nobody.
//!
//! | part | what |
//! |---|---|
//! | [`CamObservation`] | what can be wrong with a CAM, with the standard's numbers |
//! | [`judge`], [`Motion`] | the checks: the same for whoever reports and whoever judges |
//! | [`Detector`], [`Finding`] | what a receiver remembers of its neighbours, and what it found |
//! | [`MisbehaviourReport`], [`MisbehaviourData`] | reports in COER |
//! | [`seal_report`], [`examine()`] | signed and encrypted to an authority, and what that does with it |
//!
//! The standard's ASN.1 modules were not at hand. Types and numbers are those of V2.2.1 as public programs record them
//! (`EtsiTs103759js` of fillabs, `ASN-J3287` of eapenkuruvilla, whose report `jason_mbr.coer` reads as written here, and
//! `SCMS-Simulator` of ak3zaidan). Of observations only those of CAMs are known here, and of these five.

mod detector;
mod examine;
mod motion;
mod observation;
mod report;

pub use detector::{Detector, FINDINGS_MAX, Finding, TRACKED_MAX};
pub use examine::{EvidenceFault, Examined, ReportRefusal, examine, seal_report};
pub use motion::{Motion, judge};
pub use observation::CamObservation;
pub use report::{
    EVIDENCE_MAX, MisbehaviourContent, MisbehaviourData, MisbehaviourReport, ObservationsByTarget, Observed, PduStream,
    ReportContent, VERSION,
};
