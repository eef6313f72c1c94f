//! What a back end can do, cannot do, and leaves to the host.

use std::collections::BTreeMap;
use std::fmt;

use super::key::{KeyKind, Persistence};
use super::{Curve, HsmError};

/// One thing a back end may be asked for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Operation {
    /// [`Hsm::create_symmetric`](super::Hsm::create_symmetric).
    CreateSymmetric(Persistence),
    /// [`Hsm::create_pair`](super::Hsm::create_pair).
    CreatePair(Curve, Persistence),
    /// [`Hsm::import`](super::Hsm::import).
    Import(KeyKind, Persistence),
    /// [`Hsm::export_public`](super::Hsm::export_public).
    ExportPublic(Curve),
    /// [`Hsm::list`](super::Hsm::list).
    List,
    /// [`Hsm::delete`](super::Hsm::delete).
    Delete,
    /// [`Hsm::sign_digest`](super::Hsm::sign_digest).
    Sign(Curve),
    /// [`Hsm::verify`](super::Hsm::verify).
    Verify(Curve),
    /// [`Hsm::encrypt`](super::Hsm::encrypt).
    Encrypt,
    /// [`Hsm::decrypt`](super::Hsm::decrypt).
    Decrypt,
    /// [`Hsm::agree`](super::Hsm::agree).
    Agree(Curve),
    /// [`Hsm::reload_predefined`](super::Hsm::reload_predefined).
    ReloadPredefined,
}

impl Operation {
    /// Every operation there is, in the order tables show them.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut all = Vec::new();
        all.extend(Persistence::ALL.map(Self::CreateSymmetric));
        for curve in Curve::ALL {
            all.extend(Persistence::ALL.map(|persistence| Self::CreatePair(curve, persistence)));
        }
        all.extend(Persistence::ALL.map(|persistence| Self::Import(KeyKind::Aes128, persistence)));
        for curve in Curve::ALL {
            all.extend(Persistence::ALL.map(|persistence| Self::Import(KeyKind::Pair(curve), persistence)));
        }
        all.extend(Curve::ALL.map(Self::ExportPublic));
        all.extend([Self::List, Self::Delete]);
        all.extend(Curve::ALL.map(Self::Sign));
        all.extend(Curve::ALL.map(Self::Verify));
        all.extend([Self::Encrypt, Self::Decrypt]);
        all.extend(Curve::ALL.map(Self::Agree));
        all.push(Self::ReloadPredefined);
        all
    }

    /// The curve it is about, if it is about one.
    #[must_use]
    pub const fn curve(self) -> Option<Curve> {
        match self {
            Self::CreatePair(curve, _) | Self::Import(KeyKind::Pair(curve), _) => Some(curve),
            Self::ExportPublic(curve) | Self::Sign(curve) | Self::Verify(curve) | Self::Agree(curve) => Some(curve),
            _ => None,
        }
    }

    /// How long the key it makes is to live, if it makes one.
    #[must_use]
    pub const fn persistence(self) -> Option<Persistence> {
        match self {
            Self::CreateSymmetric(persistence) | Self::CreatePair(_, persistence) | Self::Import(_, persistence) => {
                Some(persistence)
            }
            _ => None,
        }
    }

    /// Whether it is about AES keys.
    #[must_use]
    pub const fn is_symmetric(self) -> bool {
        matches!(self, Self::CreateSymmetric(_) | Self::Import(KeyKind::Aes128, _) | Self::Encrypt | Self::Decrypt)
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CreateSymmetric(persistence) => write!(f, "create AES-128, {persistence}"),
            Self::CreatePair(curve, persistence) => write!(f, "create {curve}, {persistence}"),
            Self::Import(kind, persistence) => write!(f, "import {kind}, {persistence}"),
            Self::ExportPublic(curve) => write!(f, "export public {curve}"),
            Self::List => f.write_str("list"),
            Self::Delete => f.write_str("delete"),
            Self::Sign(curve) => write!(f, "sign {curve}"),
            Self::Verify(curve) => write!(f, "verify {curve}"),
            Self::Encrypt => f.write_str("encrypt AES-CCM"),
            Self::Decrypt => f.write_str("decrypt AES-CCM"),
            Self::Agree(curve) => write!(f, "agree {curve}"),
            Self::ReloadPredefined => f.write_str("reload predefined keys"),
        }
    }
}

/// Whether and where an operation happens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Support {
    /// The device does it.
    Device,
    /// It works, but part of it happens on the host; which part.
    Shared(String),
    /// It does not work; why.
    Unsupported(String),
}

impl Support {
    /// With a part on the host.
    pub fn shared(part: impl Into<String>) -> Self {
        Self::Shared(part.into())
    }

    /// Not at all.
    pub fn unsupported(reason: impl Into<String>) -> Self {
        Self::Unsupported(reason.into())
    }
}

/// What a back end says about itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Capabilities {
    /// Short name for tables: `software`, `pkcs11`, `tpm`, `rtl`.
    pub name: String,
    /// Which device: module, token, firmware, as the device tells it.
    pub device: String,
    /// Whether its times come from a model instead of a clock.
    pub is_simulated: bool,
    support: BTreeMap<Operation, Support>,
}

impl Capabilities {
    /// Asks `support` about every operation once.
    pub fn new(
        name: impl Into<String>,
        device: impl Into<String>,
        is_simulated: bool,
        support: impl Fn(Operation) -> Support,
    ) -> Self {
        let support = Operation::all().into_iter().map(|operation| (operation, support(operation))).collect();
        Self { name: name.into(), device: device.into(), is_simulated, support }
    }

    /// What is said about `operation`.
    #[must_use]
    pub fn support(&self, operation: Operation) -> &Support {
        // `new` asked about every operation, and `all` lists them; a test holds the two together.
        self.support.get(&operation).unwrap_or(&NOTHING_SAID)
    }

    /// Whether `operation` works.
    #[must_use]
    pub fn can(&self, operation: Operation) -> bool {
        !matches!(self.support(operation), Support::Unsupported(_))
    }

    /// For the first line of every call.
    ///
    /// # Errors
    /// [`HsmError::Unsupported`] with the declared reason.
    pub fn require(&self, operation: Operation) -> Result<(), HsmError> {
        match self.support(operation) {
            Support::Unsupported(reason) => {
                Err(HsmError::Unsupported { operation: operation.to_string(), reason: reason.clone() })
            }
            _ => Ok(()),
        }
    }

    /// Operations in order, each with what is said about it.
    pub fn iter(&self) -> impl Iterator<Item = (Operation, &Support)> {
        Operation::all().into_iter().map(|operation| (operation, self.support(operation)))
    }
}

static NOTHING_SAID: Support = Support::Unsupported(String::new());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_listed_once_and_declared() {
        let all = Operation::all();
        let capabilities = Capabilities::new("x", "y", false, |_| Support::Device);
        for operation in &all {
            assert_eq!(all.iter().filter(|other| *other == operation).count(), 1, "{operation}");
            assert!(capabilities.can(*operation), "{operation}");
        }
        assert_eq!(all.len(), 41);
    }

    #[test]
    fn requiring_what_is_unsupported_tells_the_declared_reason() {
        let capabilities = Capabilities::new("x", "y", false, |operation| match operation {
            Operation::Encrypt => Support::unsupported("no AES"),
            _ => Support::Device,
        });
        assert_eq!(capabilities.require(Operation::List), Ok(()));
        let refused = capabilities.require(Operation::Encrypt).unwrap_err();
        assert_eq!(refused.to_string(), "this device cannot encrypt AES-CCM: no AES");
    }
}
