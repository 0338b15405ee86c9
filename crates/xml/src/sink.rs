//! Where bytes go that are made piece by piece.

/// Takes the bytes of a canonical form, piece by piece: a buffer, or a digest.
pub trait Sink {
    /// Takes the next bytes.
    fn write(&mut self, bytes: &[u8]);
}

impl Sink for Vec<u8> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}
