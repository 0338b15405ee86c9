//! Why a message cannot be secured.

use std::borrow::Cow;
use std::fmt::Display;

use crate::Error;
use crate::crypto::CryptoError;

/// A part of the message that cannot be signed or encrypted.
pub(super) fn unprotectable(why: impl Display) -> Error {
    Error::Part(Cow::Owned(why.to_string()))
}

/// An operation that did not do with its key.
pub(super) fn cryptography(why: CryptoError) -> Error {
    Error::Cryptography(Cow::Owned(why.to_string()))
}

/// A document that has no room for what has to be added.
pub(super) fn too_large(why: impl Display) -> Error {
    Error::Limit(Cow::Owned(why.to_string()))
}
