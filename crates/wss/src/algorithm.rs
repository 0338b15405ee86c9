//! The algorithms of XML Signature and XML Encryption that this crate knows, and their identifiers.
//!
//! What is not listed here cannot be asked for: an identifier that is unknown is refused wherever it stands.
//! Whether a known one may be used in a message is the policy's to say.
//!
//! Source: XML Signature 1.1 §6, XML Encryption 1.1 §5, RFC 9231.

/// A digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DigestMethod {
    /// Only where a policy names it.
    Sha1,
    /// SHA-256
    Sha256,
    /// SHA-384
    Sha384,
    /// SHA-512
    Sha512,
}

/// A way to sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SignatureMethod {
    /// RSASSA-PKCS1-v1_5
    Rsa(DigestMethod),
    /// RSASSA-PSS with the same digest in its mask, and a salt as long as the digest.
    RsaPss(DigestMethod),
    /// ECDSA; the value is `r` and `s` one behind the other (XML Signature 1.1 §6.4.3).
    Ecdsa(DigestMethod),
    /// A keyed hash, for keys that both sides know; never truncated.
    Hmac(DigestMethod),
}

/// A cipher for data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockCipher {
    /// AES with 128, 192 or 256 bits, cipher block chaining: nothing protects it but a signature over it.
    AesCbc(KeyBits),
    /// AES, Galois/counter mode.
    AesGcm(KeyBits),
    /// Only where a policy names it.
    TripleDesCbc,
}

/// How long an AES key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KeyBits {
    /// 128
    Bits128,
    /// 192
    Bits192,
    /// 256
    Bits256,
}

/// How a key is encrypted for the owner of an RSA key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyTransport {
    /// RSAES-PKCS1-v1_5: only where a policy names it.
    Rsa15,
    /// RSAES-OAEP with a digest and the digest of its mask.
    RsaOaep {
        /// The digest of the label, which is empty.
        digest: DigestMethod,
        /// The digest in the mask generation function.
        mask: DigestMethod,
    },
}

/// How a key is encrypted with a key that both sides have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AesKeyWrap(pub KeyBits);

impl KeyBits {
    /// The length of such a key.
    pub fn bytes(self) -> usize {
        match self {
            KeyBits::Bits128 => 16,
            KeyBits::Bits192 => 24,
            KeyBits::Bits256 => 32,
        }
    }

    /// All of them, as identifiers spell them.
    const SPELLED: [(KeyBits, &'static str); 3] =
        [(KeyBits::Bits128, "128"), (KeyBits::Bits192, "192"), (KeyBits::Bits256, "256")];
}

/// Finds an identifier's meaning, or a meaning's identifier, in one table.
macro_rules! identifiers {
    ($type:ty, $table:ident) => {
        impl $type {
            /// What an identifier means; `None` for one that is not supported.
            pub fn from_uri(uri: &str) -> Option<$type> {
                $table.iter().find(|(_, known)| *known == uri).map(|(method, _)| *method)
            }

            /// Its identifier.
            pub fn uri(self) -> &'static str {
                let found = $table.iter().find(|(method, _)| *method == self);
                found.map(|(_, uri)| *uri).expect("each of them has a line in the table of identifiers")
            }
        }
    };
}

const DIGESTS: [(DigestMethod, &str); 4] = [
    (DigestMethod::Sha1, "http://www.w3.org/2000/09/xmldsig#sha1"),
    (DigestMethod::Sha256, "http://www.w3.org/2001/04/xmlenc#sha256"),
    (DigestMethod::Sha384, "http://www.w3.org/2001/04/xmldsig-more#sha384"),
    (DigestMethod::Sha512, "http://www.w3.org/2001/04/xmlenc#sha512"),
];

const SIGNATURES: [(SignatureMethod, &str); 16] = [
    (SignatureMethod::Rsa(DigestMethod::Sha1), "http://www.w3.org/2000/09/xmldsig#rsa-sha1"),
    (SignatureMethod::Rsa(DigestMethod::Sha256), "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"),
    (SignatureMethod::Rsa(DigestMethod::Sha384), "http://www.w3.org/2001/04/xmldsig-more#rsa-sha384"),
    (SignatureMethod::Rsa(DigestMethod::Sha512), "http://www.w3.org/2001/04/xmldsig-more#rsa-sha512"),
    (SignatureMethod::RsaPss(DigestMethod::Sha1), "http://www.w3.org/2007/05/xmldsig-more#sha1-rsa-MGF1"),
    (SignatureMethod::RsaPss(DigestMethod::Sha256), "http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1"),
    (SignatureMethod::RsaPss(DigestMethod::Sha384), "http://www.w3.org/2007/05/xmldsig-more#sha384-rsa-MGF1"),
    (SignatureMethod::RsaPss(DigestMethod::Sha512), "http://www.w3.org/2007/05/xmldsig-more#sha512-rsa-MGF1"),
    (SignatureMethod::Ecdsa(DigestMethod::Sha1), "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha1"),
    (SignatureMethod::Ecdsa(DigestMethod::Sha256), "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256"),
    (SignatureMethod::Ecdsa(DigestMethod::Sha384), "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha384"),
    (SignatureMethod::Ecdsa(DigestMethod::Sha512), "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha512"),
    (SignatureMethod::Hmac(DigestMethod::Sha1), "http://www.w3.org/2000/09/xmldsig#hmac-sha1"),
    (SignatureMethod::Hmac(DigestMethod::Sha256), "http://www.w3.org/2001/04/xmldsig-more#hmac-sha256"),
    (SignatureMethod::Hmac(DigestMethod::Sha384), "http://www.w3.org/2001/04/xmldsig-more#hmac-sha384"),
    (SignatureMethod::Hmac(DigestMethod::Sha512), "http://www.w3.org/2001/04/xmldsig-more#hmac-sha512"),
];

const CIPHERS: [(BlockCipher, &str); 7] = [
    (BlockCipher::AesCbc(KeyBits::Bits128), "http://www.w3.org/2001/04/xmlenc#aes128-cbc"),
    (BlockCipher::AesCbc(KeyBits::Bits192), "http://www.w3.org/2001/04/xmlenc#aes192-cbc"),
    (BlockCipher::AesCbc(KeyBits::Bits256), "http://www.w3.org/2001/04/xmlenc#aes256-cbc"),
    (BlockCipher::AesGcm(KeyBits::Bits128), "http://www.w3.org/2009/xmlenc11#aes128-gcm"),
    (BlockCipher::AesGcm(KeyBits::Bits192), "http://www.w3.org/2009/xmlenc11#aes192-gcm"),
    (BlockCipher::AesGcm(KeyBits::Bits256), "http://www.w3.org/2009/xmlenc11#aes256-gcm"),
    (BlockCipher::TripleDesCbc, "http://www.w3.org/2001/04/xmlenc#tripledes-cbc"),
];

identifiers!(DigestMethod, DIGESTS);
identifiers!(SignatureMethod, SIGNATURES);
identifiers!(BlockCipher, CIPHERS);

impl DigestMethod {
    /// The length of such a digest.
    pub fn bytes(self) -> usize {
        match self {
            DigestMethod::Sha1 => 20,
            DigestMethod::Sha256 => 32,
            DigestMethod::Sha384 => 48,
            DigestMethod::Sha512 => 64,
        }
    }
}

impl SignatureMethod {
    /// The digest in it.
    pub fn digest(self) -> DigestMethod {
        match self {
            SignatureMethod::Rsa(digest)
            | SignatureMethod::RsaPss(digest)
            | SignatureMethod::Ecdsa(digest)
            | SignatureMethod::Hmac(digest) => digest,
        }
    }
}

impl BlockCipher {
    /// All of them.
    pub fn all() -> impl Iterator<Item = BlockCipher> {
        CIPHERS.iter().map(|(cipher, _)| *cipher)
    }

    /// The length of its key.
    pub fn key_bytes(self) -> usize {
        match self {
            BlockCipher::AesCbc(bits) | BlockCipher::AesGcm(bits) => bits.bytes(),
            BlockCipher::TripleDesCbc => 24,
        }
    }

    /// Whether a change of the ciphertext is noticed when it is decrypted.
    pub fn is_authenticated(self) -> bool {
        matches!(self, BlockCipher::AesGcm(_))
    }
}

const KEY_WRAP: &str = "http://www.w3.org/2001/04/xmlenc#kw-aes";

impl AesKeyWrap {
    /// What an identifier means; `None` for one that is not supported.
    pub fn from_uri(uri: &str) -> Option<AesKeyWrap> {
        let spelled = uri.strip_prefix(KEY_WRAP)?;
        KeyBits::SPELLED.iter().find(|(_, known)| *known == spelled).map(|(bits, _)| AesKeyWrap(*bits))
    }

    /// Its identifier.
    pub fn uri(self) -> &'static str {
        match self.0 {
            KeyBits::Bits128 => "http://www.w3.org/2001/04/xmlenc#kw-aes128",
            KeyBits::Bits192 => "http://www.w3.org/2001/04/xmlenc#kw-aes192",
            KeyBits::Bits256 => "http://www.w3.org/2001/04/xmlenc#kw-aes256",
        }
    }
}
