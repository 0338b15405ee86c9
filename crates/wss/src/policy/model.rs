//! What a policy asks for, in the terms of WS-SecurityPolicy, whatever version said it.
//!
//! Source: WS-SecurityPolicy 1.3; Apache Rampart's configuration for keys and times.

use std::fmt;
use std::time::Duration;

use myelin_xml::c14n::Method;
use myelin_xpath::Expression;

use crate::algorithm::{AesKeyWrap, BlockCipher, DigestMethod, KeyTransport, SignatureMethod};

/// A policy: a message has to do what one of the alternatives says; what is sent does what the first says.
#[derive(Clone, Debug)]
pub struct Policy {
    /// At least one.
    pub alternatives: Vec<Alternative>,
}

/// One way to fulfil a policy (WS-Policy: one `wsp:All`).
#[derive(Clone, Debug)]
pub struct Alternative {
    /// Which keys protect messages, and how.
    pub binding: Binding,
    /// Tokens beside those of the binding.
    pub supporting: Vec<SupportingTokens>,
    /// What has to be signed.
    pub signed: Parts,
    /// What has to be encrypted.
    pub encrypted: Parts,
    /// What has to be there: `RequiredParts`, `RequiredElements`.
    pub required: Parts,
    /// `Wss10`, `Wss11`.
    pub wss: Wss,
    /// What `RampartConfig` says.
    pub rampart: Rampart,
    /// Where the policy says it: line and column, from 1, of its binding, otherwise of its first assertion; 0 where it has none.
    pub(crate) place: (u64, u64),
    /// Where `RampartConfig` stands; as [`Self::place`] where there is none.
    pub(crate) rampart_place: (u64, u64),
}

/// The kind of protection (§7).
#[derive(Clone, Debug)]
pub enum Binding {
    /// Nothing but supporting tokens.
    None,
    /// TLS protects messages (§7.3).
    Transport {
        /// What all bindings have.
        common: Common,
        /// Whether the client has to show a certificate.
        client_certificate: bool,
    },
    /// Each side has a key pair (§7.5). A token that is not named separately stands in both places.
    Asymmetric {
        /// What all bindings have.
        common: Common,
        /// Signs requests.
        initiator_signature: Token,
        /// Responses are encrypted for it.
        initiator_encryption: Token,
        /// Signs responses.
        recipient_signature: Token,
        /// Requests are encrypted for it.
        recipient_encryption: Token,
    },
    /// One key, made by the initiator, for both ways (§7.4). A `ProtectionToken` stands in both places.
    Symmetric {
        /// What all bindings have.
        common: Common,
        /// Signs.
        signature: Token,
        /// Encrypts.
        encryption: Token,
    },
}

/// What all bindings have (§6).
#[derive(Clone, Debug)]
pub struct Common {
    /// The algorithms.
    pub suite: AlgorithmSuite,
    /// The order of the elements in `Security`.
    pub layout: Layout,
    /// Whether there has to be a timestamp, which is signed then.
    pub timestamp: bool,
    /// Whether encryption comes before the signature, which covers the ciphertext then.
    pub encrypt_before_signing: bool,
    /// Whether the signature, and a signature confirmation, are encrypted.
    pub encrypt_signature: bool,
    /// Whether the signature covers the token that it is made with.
    pub protect_tokens: bool,
    /// Whether a signature covers whole header blocks and the whole body only.
    pub only_entire_headers_and_body: bool,
}

/// The order of the elements in `Security` (§6.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// What is used stands before what uses it.
    Strict,
    /// Any.
    Lax,
    /// Any, with the timestamp first.
    LaxTimestampFirst,
    /// Any, with the timestamp last.
    LaxTimestampLast,
}

/// Which algorithms are used, and no others (§6.1).
#[derive(Clone, Debug)]
pub struct AlgorithmSuite {
    /// As the policy says it, such as `Basic256Sha256Rsa15`.
    pub name: String,
    /// Of references and of signatures with key pairs.
    pub digest: DigestMethod,
    /// Signatures with key pairs that are accepted; the first of the key's kind is used.
    pub asymmetric_signatures: Vec<SignatureMethod>,
    /// Signatures with a common key.
    pub symmetric_signature: SignatureMethod,
    /// Of data.
    pub cipher: BlockCipher,
    /// Keys encrypted with a common key.
    pub key_wrap: AesKeyWrap,
    /// Keys encrypted for the owner of a key pair; all are accepted, the first is used.
    pub key_transports: Vec<KeyTransport>,
    /// How long derived keys for signatures are, in bytes.
    pub signature_derivation_bytes: usize,
    /// How long derived keys for encryption are, in bytes.
    pub encryption_derivation_bytes: usize,
    /// How keys of RSA may be sized, in bits.
    pub rsa_bits: (usize, usize),
    /// How signed parts are made canonical.
    pub canonical: Method,
    /// Whether tokens are signed through references by the STR transform (`STRTransform10`).
    pub str_transform: bool,
}

/// A token, and how it is shown (§5).
#[derive(Clone, Debug)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// In which messages it stands itself.
    pub inclusion: Inclusion,
    /// Whether keys are derived from it, and how they are shown.
    pub derived_keys: DerivedKeys,
}

/// What a token is (§5.4).
#[derive(Clone, Debug)]
pub enum TokenKind {
    /// A name, with or without a password.
    Username {
        /// How the password is shown.
        password: Password,
        /// Whether there has to be a nonce.
        nonce: bool,
        /// Whether there has to be a time of creation.
        created: bool,
    },
    /// A certificate.
    X509 {
        /// What the token holds.
        form: X509Form,
        /// Which references to it the policy asks for; none: any.
        references: Vec<KeyReference>,
    },
    /// An assertion, whose issuer has to be trusted.
    Saml {
        /// Which version.
        version: SamlVersion,
    },
    /// A bare public key; it says nothing of who has it, and is trusted where its certificate is in the trust store.
    KeyValue,
}

/// How a password is shown (§5.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Password {
    /// Not at all.
    None,
    /// As it is.
    Text,
    /// As a digest, with nonce and time.
    Digest,
}

/// What the binary token of an X.509 token holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum X509Form {
    /// One certificate.
    V3,
    /// A path of certificates.
    PkiPath,
}

/// A version of SAML.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SamlVersion {
    /// 1.1
    V11,
    /// 2.0
    V20,
}

/// How something refers to a token that does not stand in the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyReference {
    /// A `BinarySecurityToken` in the message, by its id.
    Direct,
    /// The subject key identifier.
    KeyIdentifier,
    /// Issuer and serial number.
    IssuerSerial,
    /// The SHA-1 of the certificate.
    Thumbprint,
    /// The token itself inside of the reference.
    Embedded,
    /// The SHA-1 of an encrypted key (WS-Security 1.1).
    EncryptedKey,
}

/// In which messages a token stands (§5.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inclusion {
    /// In none: it is referred to.
    Never,
    /// In the first of a conversation; taken as `AlwaysToRecipient`.
    Once,
    /// In requests.
    AlwaysToRecipient,
    /// In responses.
    AlwaysToInitiator,
    /// In all.
    Always,
}

/// Whether keys are derived from a token (§5.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DerivedKeys {
    /// No.
    #[default]
    None,
    /// With a `DerivedKeyToken` for each, in this namespace: the WS-SecureConversation that goes with the policy.
    Required(&'static str),
}

/// Supporting tokens that are used in the same way (§8).
#[derive(Clone, Debug)]
pub struct SupportingTokens {
    /// Each has to be there.
    pub tokens: Vec<Token>,
    /// Covered by the message's signature.
    pub signed: bool,
    /// Sign the message's signature, or the timestamp where TLS protects it.
    pub endorsing: bool,
    /// Encrypted.
    pub encrypted: bool,
    /// What endorsing tokens sign besides.
    pub signed_parts: Parts,
    /// What is encrypted besides.
    pub encrypted_parts: Parts,
}

/// Parts of a message (§4).
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// The body; encrypted is its content.
    pub body: bool,
    /// All header blocks for this receiver; `SignedParts` that are empty mean this and the body.
    pub all_headers: bool,
    /// Header blocks by name.
    pub headers: Vec<HeaderPart>,
    /// Elements that XPath finds in the envelope.
    pub elements: Vec<ElementPart>,
}

/// Header blocks of one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderPart {
    /// Its local name; none: every block of the namespace.
    pub local: Option<String>,
    /// Its namespace.
    pub namespace: String,
}

/// Elements that an expression finds.
#[derive(Clone, Debug)]
pub struct ElementPart {
    /// As the policy says it.
    pub text: String,
    /// Compiled; the context node is the envelope's document node.
    pub expression: Expression,
    /// Whether not the element but its content is meant (`ContentEncryptedElements`).
    pub content: bool,
}

/// What `Wss10` and `Wss11` ask for (§9).
#[derive(Clone, Debug, Default)]
pub struct Wss {
    /// Whether `Wss11` stands in the policy, so that WS-Security 1.1's parts may be used.
    pub version_11: bool,
    /// References that receivers have to understand.
    pub must_support: Vec<KeyReference>,
    /// Whether responses confirm the signatures of their requests.
    pub signature_confirmation: bool,
}

/// What Apache Rampart's `RampartConfig` says: names, keys and times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rampart {
    /// The name in username tokens, and the alias of the key that signs unless `user_certificate_alias` says another.
    pub user: Option<String>,
    /// The alias of the key that signs.
    pub user_certificate_alias: Option<String>,
    /// For whom messages are encrypted.
    pub encryption_user: Option<EncryptionUser>,
    /// Signs and verifies.
    pub signature_crypto: Option<Crypto>,
    /// Encrypts.
    pub encryption_crypto: Option<Crypto>,
    /// Decrypts.
    pub decryption_crypto: Option<Crypto>,
    /// How long a timestamp that is sent is good.
    pub timestamp_ttl: Duration,
    /// How far a timestamp that is received may lie in the future, and how long behind its end it is still good.
    pub timestamp_max_skew: Duration,
    /// Whether a timestamp is good until its end and not, by `timestamp_max_skew`, longer.
    pub timestamp_strict: bool,
    /// Whether times are sent with milliseconds.
    pub timestamp_precision_millis: bool,
    /// How long a nonce is remembered, and a username token with one is good.
    pub nonce_life: Duration,
    /// The actor or role of the `Security` header, both that is written and that is read; none: the header without.
    pub actor: Option<String>,
    /// Whether the `Security` header is written so that its receiver has to understand it.
    pub must_understand: bool,
    /// Which roles of users may; empty: no role is asked for (WSO2's `allowedroles`).
    pub allowed_roles: Vec<String>,
}

impl Default for Rampart {
    /// Rampart's own defaults: five minutes for all of them.
    fn default() -> Rampart {
        const FIVE_MINUTES: Duration = Duration::from_secs(300);
        Rampart {
            user: None,
            user_certificate_alias: None,
            encryption_user: None,
            signature_crypto: None,
            encryption_crypto: None,
            decryption_crypto: None,
            timestamp_ttl: FIVE_MINUTES,
            timestamp_max_skew: FIVE_MINUTES,
            timestamp_strict: false,
            timestamp_precision_millis: true,
            nonce_life: FIVE_MINUTES,
            actor: None,
            must_understand: true,
            allowed_roles: Vec::new(),
        }
    }
}

/// For whom messages are encrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EncryptionUser {
    /// The owner of the certificate of this alias.
    Alias(String),
    /// Whoever signed the request (`useReqSigCert`).
    RequestSigner,
}

/// A key store, as the properties of WSS4J's Merlin name it.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Crypto {
    /// The key store's file.
    pub file: Option<String>,
    /// `JKS`, `JCEKS`, `PKCS12` or `PEM`; found by its content where nothing is said.
    pub kind: Option<String>,
    /// The key store's password as the policy says it: a text, or a reference such as `$secret{alias}`.
    pub password: Option<String>,
    /// The alias of the key where nothing else names it.
    pub alias: Option<String>,
    /// The password of the private key, where it is another.
    pub key_password: Option<String>,
    /// The trust store's file.
    pub trust_file: Option<String>,
    /// The trust store's kind.
    pub trust_kind: Option<String>,
    /// The trust store's password.
    pub trust_password: Option<String>,
    /// A list of revoked certificates, in DER or PEM.
    pub crl_file: Option<String>,
    /// The name of a key store of the server itself, whose place and password the server knows (WSO2's `ServerCrypto`).
    pub server_store: Option<String>,
    /// The names of trust stores of the server itself.
    pub server_trust: Vec<String>,
}

impl fmt::Debug for Crypto {
    /// Without the passwords, which may stand there as they are.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Crypto")
            .field("file", &self.file)
            .field("kind", &self.kind)
            .field("alias", &self.alias)
            .field("trust_file", &self.trust_file)
            .field("server_store", &self.server_store)
            .finish_non_exhaustive()
    }
}
