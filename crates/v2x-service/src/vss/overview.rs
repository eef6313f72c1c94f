//! What a station has, for its owner: read from its folder, with nothing changed, so that it can be asked for beside a daemon.

use std::collections::BTreeMap;
use std::path::Path;

use chronoseal_v2x::crypto::one_by_one_by;
use chronoseal_v2x::pipeline::Engine;
use chronoseal_v2x::types::{HashedId8, Time64};

use super::VssError;
use super::config::VssConfig;
use super::lists::{StoredLists, trusted};
use super::store::{is_open, look};
use crate::hsm::{KeyHandle, KeyInfo};
use crate::pki::{KeyUse, certificate_in_use, key_uses};
use crate::private::warning_if_readable;

/// The enrolment credential in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Enrolment {
    /// Its identifier.
    pub id: HashedId8,
    /// The first instant at which it is over.
    pub ends_at: Time64,
}

/// A key of the device, and what the station has it for.
#[derive(Clone, Debug)]
pub struct KeyRow {
    /// The key.
    pub key: KeyInfo,
    /// What it belongs to; none if no file of the station names it.
    pub of: Option<KeyUse>,
}

/// What a station has.
#[derive(Clone, Debug)]
pub struct Overview {
    /// Whether a daemon serves it now.
    pub is_served: bool,
    /// The pseudonym in use.
    pub in_use: Option<HashedId8>,
    /// Pseudonyms that were never used and are not over.
    pub unused: usize,
    /// The credential, if there is one.
    pub enrolment: Option<Enrolment>,
    /// What verifies many messages, and who verifies one by one.
    pub engines: (Engine, String),
    /// The keys of the device; none if that is a process of the daemon's and was not asked.
    pub keys: Option<Vec<KeyRow>>,
    /// What is amiss.
    pub warnings: Vec<String>,
}

impl Overview {
    /// Reads it. The device is opened, unless only one process can use it and a daemon does.
    ///
    /// # Errors
    /// [`VssError`]: the configuration, a wrong PIN, a damaged state.
    pub fn read(config: &VssConfig, now: Time64) -> Result<Self, VssError> {
        let refused = |reason| VssError::Config { file: config.folder.clone(), reason };
        let mut warnings: Vec<String> = warning_if_readable(&config.pin_file).into_iter().collect();
        let folder = config.folder.join("at");
        let is_served = is_open(&folder);
        let found = look(&folder)?;
        for (file, reason) in &found.damaged {
            warnings.push(format!("{} is damaged: {reason}", file.display()));
        }
        let keys = match is_served && config.hsm.is_for_one_process() {
            true => None,
            false => Some(keys(config)?),
        };
        let has = |handle: KeyHandle| keys.as_ref().is_none_or(|keys| keys.iter().any(|row| row.key.handle == handle));
        let mut unused = 0;
        for one in &found.stored {
            if !has(one.meta.signing_key) {
                warnings.push(format!(
                    "ticket {} is of no use: its key {} is not in the HSM",
                    one.id, one.meta.signing_key
                ));
            } else if found.current != Some(one.id) {
                let is_over = one.certificate.view().to_be_signed.validity_period.end() <= now;
                unused += usize::from(!is_over);
            }
        }
        let lists = StoredLists::open(trusted(&config.trust)?, &config.folder, now, &mut warnings)?;
        warnings.extend(lists.trusted().1);
        Ok(Self {
            is_served,
            in_use: found.current.filter(|id| found.stored.iter().any(|one| one.id == *id)),
            unused,
            enrolment: enrolment(&config.folder)?,
            engines: (config.pipeline().map_err(refused)?.engine, one_by_one_by()),
            keys,
            warnings,
        })
    }
}

fn keys(config: &VssConfig) -> Result<Vec<KeyRow>, VssError> {
    let pin = super::read_pin(&config.pin_file)?;
    let mut uses: BTreeMap<KeyHandle, KeyUse> = key_uses(&config.folder)?;
    let listed = config.hsm.open_anywhere(&pin)?.list()?;
    Ok(listed.into_iter().map(|key| KeyRow { of: uses.remove(&key.handle), key }).collect())
}

fn enrolment(folder: &Path) -> Result<Option<Enrolment>, VssError> {
    let certificate = certificate_in_use(folder)?;
    Ok(certificate.map(|certificate| Enrolment {
        id: certificate.id(),
        ends_at: certificate.certificate().view().to_be_signed.validity_period.end(),
    }))
}
