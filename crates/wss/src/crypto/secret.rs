//! Bytes that nobody but their user should see.

use std::fmt;

use aws_lc_rs::rand;
use zeroize::Zeroize;

use super::CryptoError;

/// A key or password: overwritten when it is dropped, and never shown.
#[derive(Clone, Default)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// How many bytes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends bytes; what was kept before is overwritten where it lies if it has to move.
    pub(crate) fn extend(&mut self, bytes: &[u8]) {
        if self.0.capacity() - self.0.len() < bytes.len() {
            let mut larger = Vec::with_capacity((self.0.len() + bytes.len()).max(self.0.capacity() * 2));
            larger.extend_from_slice(&self.0);
            self.0.zeroize();
            self.0 = larger;
        }
        self.0.extend_from_slice(bytes);
    }

    /// Keeps the first `bytes` only.
    pub fn truncate(&mut self, bytes: usize) {
        if let Some(rest) = self.0.get_mut(bytes..) {
            rest.zeroize();
        }
        self.0.truncate(bytes);
    }
}

impl From<Vec<u8>> for Secret {
    fn from(bytes: Vec<u8>) -> Secret {
        Secret(bytes)
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Secret {
        Secret(text.as_bytes().to_vec())
    }
}

impl From<&[u8]> for Secret {
    fn from(bytes: &[u8]) -> Secret {
        Secret(bytes.to_vec())
    }
}

impl AsRef<[u8]> for Secret {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// Random bytes.
///
/// Errors: `Random`, the machine's.
pub fn random(bytes: usize) -> Result<Secret, CryptoError> {
    let mut secret = vec![0; bytes];
    fill(&mut secret)?;
    Ok(Secret(secret))
}

/// Fills a buffer with random bytes.
///
/// Errors: `Random`, the machine's.
pub fn fill(buffer: &mut [u8]) -> Result<(), CryptoError> {
    rand::fill(buffer).map_err(|_| CryptoError::Random)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_not_shown() {
        assert_eq!(format!("{:?}", Secret::from("hunter2")), "Secret");
    }

    #[test]
    fn random_bytes_differ() {
        let (one, other) = (random(32).expect("random"), random(32).expect("random"));
        assert_eq!(one.len(), 32);
        assert_ne!(one.as_ref(), other.as_ref());
    }
}
