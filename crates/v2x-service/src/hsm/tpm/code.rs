//! Response codes. [TCG TPM 2.0 Library, Part 2 §6.6]

use crate::hsm::HsmError;

/// A code that is not `TPM_RC_SUCCESS`, without the number of the handle, session or parameter it is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Code(u32);

impl Code {
    pub(super) const SUCCESS: u32 = 0;
    /// Format one: the TPM refuses a parameter, a handle or an authorization.
    pub(super) const AUTH_FAIL: Self = Self(0x08E);
    pub(super) const BAD_AUTH: Self = Self(0x0A2);
    pub(super) const HANDLE: Self = Self(0x08B);
    pub(super) const SIGNATURE: Self = Self(0x09B);
    pub(super) const INTEGRITY: Self = Self(0x09F);
    /// Format zero: the TPM as a whole.
    pub(super) const INITIALIZE: Self = Self(0x100);
    pub(super) const NV_SPACE: Self = Self(0x14B);
    /// Warnings.
    pub(super) const OBJECT_MEMORY: Self = Self(0x902);
    pub(super) const YIELDED: Self = Self(0x908);
    pub(super) const TESTING: Self = Self(0x90A);
    pub(super) const LOCKOUT: Self = Self(0x921);
    pub(super) const RETRY: Self = Self(0x922);

    pub(super) const fn new(code: u32) -> Self {
        // Bit 7 marks format one, whose bits 8 to 11 and 6 say which parameter, handle or session.
        if code & 0x080 != 0 { Self(code & 0x0BF) } else { Self(code & 0xFFF) }
    }

    /// Whether the same command may succeed a moment later.
    pub(super) fn is_passing(self) -> bool {
        [Self::YIELDED, Self::TESTING, Self::RETRY].contains(&self)
    }

    pub(super) fn error(self, operation: &str) -> HsmError {
        match self {
            Self::AUTH_FAIL | Self::BAD_AUTH => HsmError::WrongPin,
            Self::LOCKOUT => HsmError::PinLocked,
            Self::NV_SPACE => HsmError::DeviceFull("the TPM's memory for persistent keys".into()),
            Self::OBJECT_MEMORY => HsmError::DeviceFull("the TPM's slots for loaded keys".into()),
            Self(code) => {
                HsmError::Device { operation: operation.into(), reason: format!("TPM response code {code:#05x}") }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_parameter_or_session_is_left_out() {
        assert_eq!(Code::new(0x98E), Code::AUTH_FAIL);
        assert_eq!(Code::new(0x9A2), Code::BAD_AUTH);
        assert_eq!(Code::new(0x2DB), Code::SIGNATURE);
        assert_eq!(Code::new(0x1DF), Code::INTEGRITY);
        assert_eq!(Code::new(0x18B), Code::HANDLE);
        assert_eq!(Code::new(0x14B), Code::NV_SPACE);
        assert_eq!(Code::new(0x922), Code::RETRY);
    }

    #[test]
    fn a_lockout_is_no_wrong_pin() {
        assert_eq!(Code::new(0x921).error("sign"), HsmError::PinLocked);
        assert_eq!(Code::new(0x98E).error("sign"), HsmError::WrongPin);
    }
}
