//! What a V2X station needs besides messages and certificates.
//!
//! It does *not* encode messages, judge certificates or hold a protocol: that is `chronoseal-v2x`, which touches no
//! file, socket or clock. This crate touches them all.
//!
//! [`hsm`] keeps keys: in encrypted files, in any PKCS#11 token, in a TPM 2.0, or beside a simulated accelerator, all
//! behind the trait [`hsm::Hsm`].
//!
//! ```
//! use chronoseal_v2x_service::hsm::{Curve, Hsm, HsmError, Persistence, SoftwareHsm};
//!
//! # let folder = std::env::temp_dir().join(format!("chronoseal-doc-{}", std::process::id()));
//! let mut hsm = SoftwareHsm::create(&folder, "4711")?;
//! let key = hsm.create_pair(Curve::NistP256, Persistence::Persistent, "enrolment")?;
//! let digest = [7; 32];
//! let signature = hsm.sign_digest(key, &digest)?;
//! let public = hsm.export_public(key)?;
//! assert!(hsm.verify(&public, &digest, &signature)?);
//! # drop(hsm);
//! # std::fs::remove_dir_all(&folder).unwrap();
//! # Ok::<(), HsmError>(())
//! ```

pub mod hsm;
mod motion;
pub mod pki;
mod private;
pub mod store;
pub mod trial;
pub mod vss;
