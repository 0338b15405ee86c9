//! The use of an algorithm or of a key, and whether a policy takes it.

use myelin_xml::c14n::{Canonical, Method};

use crate::algorithm::{AesKeyWrap, BlockCipher, DigestMethod, KeyTransport, SignatureMethod};
use crate::dsig::canonical_uri;
use crate::enc::transport_uri;
use crate::guard::Settings;
use crate::policy::AlgorithmSuite;

/// The use of an algorithm, or of a key of some size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Digest(DigestMethod),
    Signature(SignatureMethod),
    Canonical(Method),
    Cipher(BlockCipher),
    Transport(KeyTransport),
    Wrap(AesKeyWrap),
    /// RSA with a modulus of so many bits.
    RsaBits(usize),
}

impl Use {
    pub(super) fn is_accepted(self, suite: &AlgorithmSuite, settings: &Settings) -> bool {
        match self {
            Use::Digest(method) => suite.accepts_digest(method),
            Use::Signature(method) => {
                suite.accepts_signature(method) || settings.sha1_signatures && suite.signs_by_the_letter(method)
            }
            Use::Canonical(method) => suite.accepts_canonical(method),
            Use::Cipher(cipher) => suite.accepts_cipher(cipher),
            Use::Transport(transport) => suite.accepts_transport(transport),
            Use::Wrap(wrap) => suite.accepts_wrap(wrap),
            Use::RsaBits(bits) => (suite.rsa_bits.0..=suite.rsa_bits.1).contains(&bits),
        }
    }

    /// The identifier; sizes of keys have none.
    pub(super) fn uri(self) -> Option<&'static str> {
        match self {
            Use::Digest(method) => Some(method.uri()),
            Use::Signature(method) => Some(method.uri()),
            Use::Canonical(method) => Some(canonical_uri(&Canonical::new(method))),
            Use::Cipher(cipher) => Some(cipher.uri()),
            Use::Transport(transport) => Some(transport_uri(transport)),
            Use::Wrap(wrap) => Some(wrap.uri()),
            Use::RsaBits(_) => None,
        }
    }
}
