//! The numbers and texts of a Java key store, one behind the other.

use super::error::KeyStoreError;
use super::kind::StoreKind;

/// Reads numbers and texts one behind the other.
pub(super) struct Input<'a> {
    pub(super) rest: &'a [u8],
    pub(super) kind: StoreKind,
}

impl<'a> Input<'a> {
    pub(super) fn take(&mut self, bytes: usize) -> Result<&'a [u8], KeyStoreError> {
        let (taken, rest) = self.rest.split_at_checked(bytes).ok_or(self.malformed("it ends too early"))?;
        self.rest = rest;
        Ok(taken)
    }

    pub(super) fn number(&mut self, bytes: usize) -> Result<u32, KeyStoreError> {
        Ok(self.take(bytes)?.iter().fold(0, |number, &byte| number << 8 | u32::from(byte)))
    }

    pub(super) fn byte(&mut self) -> Result<u8, KeyStoreError> {
        self.number(1).map(|number| number as u8)
    }

    pub(super) fn short(&mut self) -> Result<u16, KeyStoreError> {
        self.number(2).map(|number| number as u16)
    }

    pub(super) fn long(&mut self) -> Result<u32, KeyStoreError> {
        self.number(4)
    }

    /// Bytes after their number.
    pub(super) fn sized(&mut self) -> Result<&'a [u8], KeyStoreError> {
        let bytes = self.long()?;
        self.take(bytes as usize)
    }

    /// A text after the number of its bytes.
    pub(super) fn text(&mut self) -> Result<String, KeyStoreError> {
        let bytes = self.short()?;
        Ok(String::from_utf8_lossy(self.take(usize::from(bytes))?).into_owned())
    }

    pub(super) fn malformed(&self, what: &'static str) -> KeyStoreError {
        KeyStoreError::Malformed(self.kind, what)
    }
}
