//! From the name of a suite to its type.

use core::{fmt, str::FromStr};

use super::{FourQ, P256, Suite, X25519Ed25519};

/// A [`Suite`] that a scenario can name.
///
/// A suite is a type and a name is a value. [`Self::dispatch`] goes from one to the other:
///
/// ```
/// use chronoseal_crypto::suite::{Suite, SuiteName, SuiteVisitor};
///
/// /// Length of a key agreement's two shares [byte].
/// struct SharesLen;
/// impl SuiteVisitor for SharesLen {
///     type Output = usize;
///     fn visit<S: Suite>(self) -> usize {
///         2 * S::SHARE_LEN
///     }
/// }
/// assert_eq!("p-256".parse::<SuiteName>()?.dispatch(SharesLen), 66);
/// # Ok::<(), chronoseal_crypto::suite::UnknownSuite>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum SuiteName {
    /// [`FourQ`].
    FourQ,
    /// [`P256`].
    P256,
    /// [`X25519Ed25519`].
    X25519Ed25519,
}

/// Something to do with a suite that is known by its name only.
pub trait SuiteVisitor {
    /// What comes of it.
    type Output;

    /// Does it, with the suite as a type.
    fn visit<S: Suite>(self) -> Self::Output;
}

impl SuiteName {
    /// Every suite, in the order reports show them.
    pub const ALL: [Self; 3] = [Self::FourQ, Self::P256, Self::X25519Ed25519];

    /// As written in a scenario and shown to people: [`Suite::NAME`].
    pub const fn name(self) -> &'static str {
        match self {
            Self::FourQ => FourQ::NAME,
            Self::P256 => P256::NAME,
            Self::X25519Ed25519 => X25519Ed25519::NAME,
        }
    }

    /// Hands the suite of this name to a visitor.
    ///
    /// With the feature `aws-lc`, P-256 is AWS-LC's, which gives the same bytes sooner.
    pub fn dispatch<V: SuiteVisitor>(self, visitor: V) -> V::Output {
        match self {
            Self::FourQ => visitor.visit::<FourQ>(),
            #[cfg(feature = "aws-lc")]
            Self::P256 => visitor.visit::<super::aws_lc::P256>(),
            #[cfg(not(feature = "aws-lc"))]
            Self::P256 => visitor.visit::<P256>(),
            Self::X25519Ed25519 => visitor.visit::<X25519Ed25519>(),
        }
    }
}

impl fmt::Display for SuiteName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for SuiteName {
    type Err = UnknownSuite;

    fn from_str(text: &str) -> Result<Self, UnknownSuite> {
        Self::ALL.into_iter().find(|suite| suite.name() == text).ok_or(UnknownSuite)
    }
}

/// The text names no [`SuiteName`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnknownSuite;

impl fmt::Display for UnknownSuite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the suite is not known here; write one of ")?;
        for (index, suite) in SuiteName::ALL.into_iter().enumerate() {
            write!(f, "{}{suite}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl core::error::Error for UnknownSuite {}

#[cfg(test)]
mod tests {
    use super::*;

    struct Name;
    impl SuiteVisitor for Name {
        type Output = &'static str;
        fn visit<S: Suite>(self) -> &'static str {
            S::NAME
        }
    }

    #[test]
    fn every_name_reads_back_and_finds_its_type() {
        for suite in SuiteName::ALL {
            assert_eq!(suite.name().parse(), Ok(suite));
            assert_eq!(suite.dispatch(Name), suite.name());
        }
    }

    #[test]
    fn refuses_other_names_and_lists_its_own() {
        for text in ["", "P-256", "p256", "p-256 ", "ed25519"] {
            assert_eq!(text.parse::<SuiteName>(), Err(UnknownSuite));
        }
        for suite in SuiteName::ALL {
            assert!(UnknownSuite.to_string().contains(suite.name()));
        }
    }
}
