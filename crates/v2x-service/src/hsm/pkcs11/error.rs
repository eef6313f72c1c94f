//! What a token's return codes mean to us.

use cryptoki::error::{Error, RvError};

use crate::hsm::HsmError;

/// What to do about a failed call.
pub(super) enum Failure {
    /// The session or the token is gone.
    Lost,
    /// Anything else, as its caller gets it.
    Told(HsmError),
}

pub(super) fn failure(operation: &str, error: &Error) -> Failure {
    let Error::Pkcs11(code, _) = error else { return Failure::Told(refused(operation, error)) };
    match code {
        RvError::DeviceRemoved
        | RvError::DeviceError
        | RvError::TokenNotPresent
        | RvError::SessionClosed
        | RvError::SessionHandleInvalid
        | RvError::CryptokiNotInitialized => Failure::Lost,
        RvError::PinIncorrect | RvError::PinInvalid | RvError::PinLenRange => Failure::Told(HsmError::WrongPin),
        RvError::PinLocked => Failure::Told(HsmError::PinLocked),
        RvError::DeviceMemory => Failure::Told(HsmError::DeviceFull(code.to_string())),
        _ => Failure::Told(refused(operation, error)),
    }
}

fn refused(operation: &str, error: &Error) -> HsmError {
    HsmError::Device { operation: operation.into(), reason: error.to_string() }
}
