//! Response codes: why an authority says no.

use core::fmt;

use crate::coer::{Decode, DecodeError, Encode, Reader, Writer};

macro_rules! response_code {
    ($(#[$doc:meta])* $name:ident { $($(#[$item_doc:meta])* $item:ident = $number:literal, $text:literal;)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$item_doc])* $item,)+
            /// A code of a later version.
            Unknown(u8),
        }

        impl $name {
            /// Every code of the standard.
            pub const ALL: &[Self] = &[$(Self::$item),+];

            /// Its number.
            pub fn number(self) -> u8 {
                match self {
                    $(Self::$item => $number,)+
                    Self::Unknown(number) => number,
                }
            }

            /// The code of this number.
            pub fn from_number(number: u8) -> Self {
                match number {
                    $($number => Self::$item,)+
                    number => Self::Unknown(number),
                }
            }

            /// The code called so in the standard.
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($text => Some(Self::$item),)+
                    _ => None,
                }
            }

            /// True if the request was granted.
            pub fn is_ok(self) -> bool {
                self.number() == 0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$item => f.write_str($text),)+
                    Self::Unknown(number) => write!(f, "code {number}"),
                }
            }
        }

        impl<'a> Decode<'a> for $name {
            fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
                Ok(Self::from_number(reader.enumerated()?))
            }
        }

        impl Encode for $name {
            fn encode(&self, writer: &mut Writer) {
                writer.enumerated(self.number());
            }
        }
    };
}

response_code!(
    /// Of an enrolment authority to a station.
    EnrolmentResponseCode {
        /// Granted.
        Ok = 0, "ok";
        /// A structure cannot be decoded.
        CantParse = 1, "cantparse";
        /// Not encrypted, not signed, or no enrolment request.
        BadContentType = 2, "badcontenttype";
        /// Encrypted to somebody else.
        ImNotTheRecipient = 3, "imnottherecipient";
        /// A key exchange or cipher that is not supported.
        UnknownEncryptionAlgorithm = 4, "unknownencryptionalgorithm";
        /// Key or text does not decrypt.
        DecryptionFailed = 5, "decryptionfailed";
        /// No station of this identifier is registered.
        UnknownIts = 6, "unknownits";
        /// A signature is wrong.
        InvalidSignature = 7, "invalidsignature";
        /// The key for the response is bad.
        InvalidEncryptionKey = 8, "invalidencryptionkey";
        /// The station is revoked, or not active yet.
        BadItsStatus = 9, "baditsstatus";
        /// Something is missing.
        IncompleteRequest = 10, "incompleterequest";
        /// The permissions asked for are not granted.
        DeniedPermissions = 11, "deniedpermissions";
        /// A key to be certified is bad.
        InvalidKeys = 12, "invalidkeys";
        /// Any other reason.
        DeniedRequest = 13, "deniedrequest";
    }
);

response_code!(
    /// Of an authorization authority to a station.
    AuthorizationResponseCode {
        /// Granted.
        Ok = 0, "ok";
        /// A structure cannot be decoded.
        ItsAaCantParse = 1, "its-aa-cantparse";
        /// Not encrypted, not signed, or no authorization request.
        ItsAaBadContentType = 2, "its-aa-badcontenttype";
        /// Encrypted to somebody else.
        ItsAaImNotTheRecipient = 3, "its-aa-imnottherecipient";
        /// A key exchange or cipher that is not supported.
        ItsAaUnknownEncryptionAlgorithm = 4, "its-aa-unknownencryptionalgorithm";
        /// Key or text does not decrypt.
        ItsAaDecryptionFailed = 5, "its-aa-decryptionfailed";
        /// The tag does not belong to the keys.
        ItsAaKeysDontMatch = 6, "its-aa-keysdontmatch";
        /// Something is missing.
        ItsAaIncompleteRequest = 7, "its-aa-incompleterequest";
        /// The key for the response is bad.
        ItsAaInvalidEncryptionKey = 8, "its-aa-invalidencryptionkey";
        /// Made at another time.
        ItsAaOutOfSyncRequest = 9, "its-aa-outofsyncrequest";
        /// The enrolment authority named is not known.
        ItsAaUnknownEa = 10, "its-aa-unknownea";
        /// The enrolment authority named is revoked.
        ItsAaInvalidEa = 11, "its-aa-invalidea";
        /// The authorization authority does not grant these permissions.
        ItsAaDeniedPermissions = 12, "its-aa-deniedpermissions";
        /// The enrolment authority does not answer.
        AaEaCantReachEa = 13, "aa-ea-cantreachea";
        /// The enrolment authority cannot decode a structure.
        EaAaCantParse = 14, "ea-aa-cantparse";
        /// The enrolment authority finds something else than a validation request.
        EaAaBadContentType = 15, "ea-aa-badcontenttype";
        /// The enrolment authority is not the recipient.
        EaAaImNotTheRecipient = 16, "ea-aa-imnottherecipient";
        /// The enrolment authority does not support a key exchange or cipher.
        EaAaUnknownEncryptionAlgorithm = 17, "ea-aa-unknownencryptionalgorithm";
        /// The enrolment authority cannot decrypt.
        EaAaDecryptionFailed = 18, "ea-aa-decryptionfailed";
        /// The enrolment authority does not accept the authorization authority.
        InvalidAa = 19, "invalidaa";
        /// The authorization authority's signature is wrong.
        InvalidAaSignature = 20, "invalidaasignature";
        /// Not the enrolment authority of this station.
        WrongEa = 21, "wrongea";
        /// No such enrolment credential.
        UnknownIts = 22, "unknownits";
        /// The signature with the enrolment credential is wrong.
        InvalidSignature = 23, "invalidsignature";
        /// A key is bad.
        InvalidEncryptionKey = 24, "invalidencryptionkey";
        /// The enrolment authority does not grant these permissions.
        DeniedPermissions = 25, "deniedpermissions";
        /// More tickets for one time than are allowed.
        DeniedTooManyCerts = 26, "deniedtoomanycerts";
    }
);

response_code!(
    /// Of an enrolment authority to an authorization authority.
    AuthorizationValidationResponseCode {
        /// Confirmed.
        Ok = 0, "ok";
        /// A structure cannot be decoded.
        CantParse = 1, "cantparse";
        /// Not encrypted, not signed, or no validation request.
        BadContentType = 2, "badcontenttype";
        /// Encrypted to somebody else.
        ImNotTheRecipient = 3, "imnottherecipient";
        /// A key exchange or cipher that is not supported.
        UnknownEncryptionAlgorithm = 4, "unknownencryptionalgorithm";
        /// Key or text does not decrypt.
        DecryptionFailed = 5, "decryptionfailed";
        /// The authorization authority's certificate is not accepted.
        InvalidAa = 6, "invalidaa";
        /// The authorization authority's signature is wrong.
        InvalidAaSignature = 7, "invalidaasignature";
        /// The signature names another enrolment authority.
        WrongEa = 8, "wrongea";
        /// No such enrolment credential.
        UnknownIts = 9, "unknownits";
        /// The signature with the enrolment credential is wrong.
        InvalidSignature = 10, "invalidsignature";
        /// The key for the response is bad.
        InvalidEncryptionKey = 11, "invalidencryptionkey";
        /// The permissions asked for are not granted.
        DeniedPermissions = 12, "deniedpermissions";
        /// More tickets for one time than are allowed.
        DeniedTooManyCerts = 13, "deniedtoomanycerts";
        /// Any other reason.
        DeniedRequest = 14, "deniedrequest";
    }
);

impl From<AuthorizationValidationResponseCode> for AuthorizationResponseCode {
    /// What an authorization authority tells the station of an enrolment authority's refusal.
    fn from(code: AuthorizationValidationResponseCode) -> Self {
        use AuthorizationValidationResponseCode as Validation;
        match code {
            Validation::Ok => Self::Ok,
            Validation::CantParse => Self::EaAaCantParse,
            Validation::BadContentType => Self::EaAaBadContentType,
            Validation::ImNotTheRecipient => Self::EaAaImNotTheRecipient,
            Validation::UnknownEncryptionAlgorithm => Self::EaAaUnknownEncryptionAlgorithm,
            Validation::DecryptionFailed => Self::EaAaDecryptionFailed,
            Validation::InvalidAa => Self::InvalidAa,
            Validation::InvalidAaSignature => Self::InvalidAaSignature,
            Validation::WrongEa => Self::WrongEa,
            Validation::UnknownIts => Self::UnknownIts,
            Validation::InvalidSignature => Self::InvalidSignature,
            Validation::InvalidEncryptionKey => Self::InvalidEncryptionKey,
            Validation::DeniedTooManyCerts => Self::DeniedTooManyCerts,
            // The standard has no code for any other reason here.
            Validation::DeniedPermissions | Validation::DeniedRequest | Validation::Unknown(_) => {
                Self::DeniedPermissions
            }
        }
    }
}
