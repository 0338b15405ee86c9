//! How much security a message may carry; each bound is checked before any key is used.

/// Bounds; the default is safe for messages from strangers and far beyond what peers send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the `Security` header.
    pub header_bytes: usize,
    /// Children of the `Security` header.
    pub header_children: usize,
    /// Signatures in a message; each may cost a public-key operation.
    pub signatures: usize,
    /// References in one signature.
    pub references: usize,
    /// Transforms of one reference.
    pub transforms: usize,
    /// Prefixes in one list of inclusive namespaces.
    pub inclusive_prefixes: usize,
    /// Encrypted keys in a message; each may cost a private-key operation.
    pub encrypted_keys: usize,
    /// Pieces of encrypted data in a message.
    pub encrypted_data: usize,
    /// How deep encrypted data may stand inside of encrypted data.
    pub nesting: usize,
    /// Tokens in a message.
    pub tokens: usize,
    /// Derived keys in a message.
    pub derived_keys: usize,
    /// Bytes of one derived key, and how far into the derived bytes it may start.
    pub derived_bytes: usize,
    /// Certificates in one path.
    pub certificate_path: usize,
    /// Bytes of one certificate or path.
    pub certificate_bytes: usize,
    /// Elements with an id in a message.
    pub ids: usize,
    /// Characters of an id, a nonce, a user's name, an identifier or another short text.
    pub short_text: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            header_bytes: 512 << 10,
            header_children: 64,
            signatures: 8,
            references: 64,
            transforms: 4,
            inclusive_prefixes: 64,
            encrypted_keys: 8,
            encrypted_data: 64,
            nesting: 3,
            tokens: 16,
            derived_keys: 16,
            derived_bytes: 1 << 10,
            certificate_path: 8,
            certificate_bytes: 64 << 10,
            ids: 10_000,
            short_text: 1 << 10,
        }
    }
}
