//! Which back end, as a configuration file says it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::worker::Remote;
use super::{
    Curve, Hsm, HsmError, Pkcs11Config, Pkcs11Hsm, RtlConfig, RtlHsm, SoftwareHsm, TpmEndpoint, TpmHsm, local,
};

/// A back end and what it takes to find it. The PIN is never part of it.
///
/// ```
/// use chronoseal_v2x_service::hsm::BackEnd;
///
/// let text = r#"{ "kind": "pkcs11", "module": "/usr/lib/softhsm/libsofthsm2.so", "token": "vehicle" }"#;
/// let back_end: BackEnd = serde_json::from_str(text)?;
/// assert!(matches!(back_end, BackEnd::Pkcs11 { predefined: None, .. }));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum BackEnd {
    /// [`SoftwareHsm`]; a missing store is made.
    Software {
        /// Folder of the key files.
        folder: PathBuf,
        /// First and last handle of predefined P-256 pairs, made if they are missing.
        #[serde(default)]
        predefined: Option<(u32, u32)>,
    },
    /// [`Pkcs11Hsm`].
    Pkcs11 {
        /// The token's module.
        module: PathBuf,
        /// Label of the token.
        token: String,
        /// First and last handle of predefined P-256 pairs, made if they are missing.
        #[serde(default)]
        predefined: Option<(u32, u32)>,
        /// Variables the module reads, as `SOFTHSM2_CONF`; a worker gets them.
        #[serde(default)]
        environment: BTreeMap<String, String>,
        /// How many signatures of a batch the token is given at once.
        #[serde(default = "default_sessions_max")]
        sessions_max: usize,
    },
    /// [`TpmHsm`].
    Tpm {
        /// Where it is.
        endpoint: TpmEndpoint,
        /// First and last handle of predefined P-256 pairs, made if they are missing.
        #[serde(default)]
        predefined: Option<(u32, u32)>,
    },
    /// [`RtlHsm`]; it knows no PIN.
    Rtl(RtlConfig),
}

fn is_set(name: &str, value: &str) -> bool {
    std::env::var(name).is_ok_and(|set| set == value)
}

const fn default_sessions_max() -> usize {
    4
}

impl BackEnd {
    /// Opens the device in this process.
    ///
    /// # Errors
    /// Whatever the back end's own `open` returns.
    pub fn open(&self, pin: &str) -> Result<Box<dyn Hsm>, HsmError> {
        match self {
            Self::Software { folder, predefined } => {
                let mut hsm = SoftwareHsm::open_or_create(folder, pin)?;
                if let Some((first, last)) = *predefined {
                    hsm.provision(Curve::NistP256, first..=last)?;
                }
                Ok(Box::new(hsm))
            }
            Self::Pkcs11 { module, token, predefined, environment, sessions_max } => {
                // A worker was started with it; this process cannot change its own while it may have threads.
                if let Some((name, value)) = environment.iter().find(|(name, value)| !is_set(name, value)) {
                    let what = format!("{name} has to be {value} before this process starts, or opened apart");
                    return Err(HsmError::InvalidArgument(what));
                }
                let (module, token) = (module.clone(), token.clone());
                let predefined = predefined.map(|(first, last)| first..=last);
                let mut hsm =
                    Pkcs11Hsm::open(&Pkcs11Config { module, token, predefined, sessions_max: *sessions_max }, pin)?;
                hsm.provision(Curve::NistP256)?;
                Ok(Box::new(hsm))
            }
            Self::Tpm { endpoint, predefined } => {
                let predefined = predefined.map(|(first, last)| first..=last);
                let mut hsm = TpmHsm::open(endpoint.clone(), pin, predefined)?;
                hsm.provision(Curve::NistP256)?;
                Ok(Box::new(hsm))
            }
            Self::Rtl(config) => {
                let mut hsm = RtlHsm::open(config.clone())?;
                hsm.provision()?;
                Ok(Box::new(hsm))
            }
        }
    }

    /// Opens the device [apart](BackEnd::open_apart) if the worker program is at hand, else in this process if that can be.
    ///
    /// # Errors
    /// As [`BackEnd::open_apart`], and [`HsmError::NoDevice`] with the command that makes the worker, if there has to be one.
    pub fn open_anywhere(&self, pin: &str) -> Result<Box<dyn Hsm>, HsmError> {
        match local::worker() {
            Ok(program) => self.open_apart(program, pin),
            Err(missing) => match self.open(pin) {
                // What it asks of this process a worker would simply be given.
                Err(HsmError::InvalidArgument(_)) if self.environment().is_some() => Err(missing),
                opened => opened,
            },
        }
    }

    /// Whether only one process at a time can use the device: a software TPM, or the simulated accelerator.
    #[must_use]
    pub fn is_for_one_process(&self) -> bool {
        match self {
            Self::Software { .. } | Self::Pkcs11 { .. } | Self::Tpm { endpoint: TpmEndpoint::Device(_), .. } => false,
            Self::Tpm { .. } | Self::Rtl(_) => true,
        }
    }

    /// What the environment of a worker needs besides this process's own.
    pub(super) fn environment(&self) -> Option<&BTreeMap<String, String>> {
        match self {
            Self::Pkcs11 { environment, .. } => Some(environment),
            Self::Software { .. } | Self::Tpm { .. } | Self::Rtl(_) => None,
        }
    }

    /// Opens the device in a process of its own where foreign code would otherwise run in this one; `program` is
    /// `chronoseal-hsm-worker`.
    ///
    /// # Errors
    /// As [`BackEnd::open`], and [`HsmError::Io`] if the program does not start.
    pub fn open_apart(&self, program: impl Into<PathBuf>, pin: &str) -> Result<Box<dyn Hsm>, HsmError> {
        match self {
            Self::Pkcs11 { .. } => {
                Ok(Box::new(Remote::start(program.into(), self.clone(), Zeroizing::new(pin.to_owned()))?))
            }
            Self::Software { .. } | Self::Tpm { .. } | Self::Rtl(_) => self.open(pin),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<BackEnd, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn every_kind_is_read_with_its_defaults() {
        let software = parse(r#"{ "kind": "software", "folder": "keys", "predefined": [1, 8] }"#);
        assert_eq!(software, Ok(BackEnd::Software { folder: "keys".into(), predefined: Some((1, 8)) }));
        let tpm = parse(r#"{ "kind": "tpm", "endpoint": { "device": "/dev/tpmrm0" } }"#);
        let endpoint = TpmEndpoint::Device("/dev/tpmrm0".into());
        assert_eq!(tpm, Ok(BackEnd::Tpm { endpoint, predefined: None }));
        let rtl = parse(r#"{ "kind": "rtl", "engine": "p256_engine", "link": "usb-full" }"#);
        assert!(matches!(rtl, Ok(BackEnd::Rtl(RtlConfig { clock_hz: 100_000_000, flash: None, .. }))), "{rtl:?}");
        let pkcs11 = parse(r#"{ "kind": "pkcs11", "module": "m.so", "token": "t" }"#);
        assert!(matches!(pkcs11, Ok(BackEnd::Pkcs11 { sessions_max: 4, .. })), "{pkcs11:?}");
    }

    #[test]
    fn unknown_kinds_and_keys_are_refused() {
        assert!(parse(r#"{ "kind": "smartcard" }"#).unwrap_err().contains("pkcs11"));
        assert!(parse(r#"{ "kind": "software", "folder": "keys", "pin": "1234" }"#).unwrap_err().contains("pin"));
        assert!(parse(r#"{ "kind": "rtl", "engine": "e", "clock": 5 }"#).unwrap_err().contains("clock"));
    }
}
