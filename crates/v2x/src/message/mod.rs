//! Messages made and opened: [`sign()`], [`encrypt()`], [`decrypt()`].
//!
//! What a signed message received is worth is the question of another module; here a signature is only made.

mod decrypt;
mod encrypt;
mod sign;

pub use decrypt::{DecryptError, Decrypted, DecryptionKey, KeySource, decrypt};
pub use encrypt::{EncryptError, Recipient, SessionKey, encrypt, encrypt_with_session_key, symmetric_key_id};
pub use sign::{PreparedMessage, SignError, SignerCertificate, SignerForm, message_digest, prepare, sign};
