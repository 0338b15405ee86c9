//! The keys of the suite, and which of them a `ds:KeyInfo` means.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use myelin_wss::crypto::{CryptoError, Secret, digest, unwrap};
use myelin_wss::enc::{EncryptedKey, KeyMethod};
use myelin_wss::keys::{Certificate, Curve, PrivateKey, PublicKey, Purpose, Trust, TrustLimits};
use myelin_wss::{Limits, Refusal, Rule, algorithm::DigestMethod, binary, vocabulary};
use myelin_xml::{Document, Kind, NodeId};

use super::{below, read, text};

/// All keys that vectors may use.
pub(crate) struct Keys {
    /// By name.
    secrets: HashMap<String, Vec<u8>>,
    /// By name.
    private: HashMap<String, Arc<PrivateKey>>,
    /// By name.
    certificates: HashMap<String, Arc<Certificate>>,
    /// For signatures that name no key, by set; the empty name stands for all others.
    unnamed_secrets: HashMap<&'static str, Vec<u8>>,
    trust: Trust,
}

/// Secret keys that the suite keeps in prose, or in files whose name is not the key's.
const SECRET_FILES: [(&str, &str, &str); 1] =
    [("xmlenc11-interop-2012", "Test Key 1", "xenc11-example-AES128-GCM.key")];

/// Certificates that are trusted. One issuer signed with MD5, so that what it issued is trusted itself.
const ANCHORS: [&str; 5] = [
    "keys/cacert.der",
    "keys/enveloped-ecdsa-java-bug-cert.der",
    "keys/same-subj-cert1.der",
    "keys/same-subj-cert2.der",
    "phaos-xmldsig-three/certs/rsa-cert.der",
];

const PRIVATE: [(&str, &str); 6] = [
    ("key1", "keys/cakey.der"),
    ("key2", "keys/ca2key.der"),
    ("pub1", "keys/rsa/rsa-2048-key.der"),
    ("pub2", "keys/rsa/rsa-4096-key.der"),
    ("my-rsa-key", "01-phaos-xmlenc-3/rsa-priv-key.der"),
    ("", "merlin-xmlenc-five/rsapriv.der"),
];

impl Keys {
    /// Reads the keys that lie in the suite's folder.
    pub(crate) fn of(folder: &Path) -> Keys {
        let mut keys = Keys {
            secrets: HashMap::new(),
            private: HashMap::new(),
            certificates: HashMap::new(),
            unnamed_secrets: unnamed_secrets(folder),
            trust: Trust::new(Vec::new(), Vec::new(), TrustLimits::default()),
        };
        for list in ["keys/keys.xml", "merlin-xmlenc-five/keys.xml", "01-phaos-xmlenc-3/keys.xml"] {
            keys.add_secrets(&folder.join(list));
        }
        for bits in ["128", "192", "256"] {
            keys.add_secrets(&folder.join(format!("nist-aesgcm/keys-aes{bits}-gcm.xml")));
        }
        for (set, name, file) in SECRET_FILES {
            keys.secrets.insert(name.to_owned(), fs::read(folder.join(set).join(file)).expect("the suite has it"));
        }
        for (name, file) in PRIVATE {
            keys.add_private(name, &folder.join(file));
        }
        for kind in ["rsa", "ec"] {
            for entry in fs::read_dir(folder.join("keys").join(kind)).expect("the suite has it") {
                let path = entry.expect("a folder can be read").path();
                let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                if let Some(name) = file.strip_suffix("-key.der") {
                    keys.add_private(&format!("TestKeyName-{name}"), &path);
                } else if let Some(name) = file.strip_suffix("-cert.der") {
                    keys.add_certificate(&format!("TestKeyName-{name}"), &path);
                }
            }
        }
        for bits in ["2048", "3072", "4096"] {
            let file = format!("xmlenc11-interop-2012/RSA-{bits}_SHA256WithRSA.der");
            keys.add_private(&file, &folder.join(&file));
        }
        for file in ["keys/ca2cert.der"].iter().chain(&ANCHORS) {
            keys.add_certificate(file, &folder.join(file));
        }
        let anchors = ANCHORS.iter().filter_map(|file| keys.certificates.get(*file).cloned()).collect();
        // Certificates of 2002 have keys of 1024 bits.
        let limits = TrustLimits { rsa_bits_min: 1024, ..TrustLimits::default() };
        let known = keys.certificates.values().cloned().collect();
        keys.trust = Trust::new(anchors, Vec::new(), limits).with_known(known);
        keys
    }

    fn add_secrets(&mut self, file: &Path) {
        let document = read(file).expect("the suite has it");
        for info in below(&document, document.document_node(), "KeyInfo") {
            let (Some(name), Some(value)) =
                (below(&document, info, "KeyName").next(), below(&document, info, "KeyValue").next())
            else {
                continue;
            };
            // Key pairs have more than one value.
            if let Ok(secret) = binary::decode_text(&text(&document, value), 1 << 10) {
                self.secrets.insert(text(&document, name).trim().to_owned(), secret);
            }
        }
    }

    fn add_private(&mut self, name: &str, file: &Path) {
        let der = fs::read(file).expect("the suite has it");
        if let Ok(key) = PrivateKey::from_der(&der) {
            self.private.insert(name.to_owned(), Arc::new(key));
        }
    }

    fn add_certificate(&mut self, name: &str, file: &Path) {
        let der = fs::read(file).expect("the suite has it");
        if let Ok(certificate) = Certificate::from_der(&der) {
            self.certificates.insert(name.to_owned(), Arc::new(certificate));
        }
    }

    /// The secret key of the signatures of a set that name none.
    pub(crate) fn unnamed_secret(&self, set: &str) -> &[u8] {
        self.unnamed_secrets.get(set).unwrap_or(&self.unnamed_secrets[""])
    }

    /// The secret key that a `ds:KeyInfo` names.
    pub(crate) fn secret(&self, document: &Document, info: NodeId) -> Option<&[u8]> {
        let name = child(document, info, "KeyName")?;
        self.secrets.get(text(document, name).trim()).map(Vec::as_slice)
    }

    /// The private key that a `ds:KeyInfo` means.
    fn private(&self, document: &Document, info: NodeId) -> Result<&PrivateKey, Refusal> {
        if let Some(name) = child(document, info, "KeyName")
            && let Some(key) = self.private.get(text(document, name).trim())
        {
            return Ok(key);
        }
        let certificate = self.certificate(document, info)?.ok_or_else(|| unknown("a private key without a name"))?;
        let public = certificate.public_key().spki();
        let found = self.private.values().find(|key| key.public().spki() == public);
        found.map(Arc::as_ref).ok_or_else(|| unknown("a key that the suite does not have"))
    }

    /// The public key that a `ds:KeyInfo` means; a certificate in it has to be trusted.
    pub(crate) fn public(&self, document: &Document, info: NodeId) -> Result<Arc<PublicKey>, Refusal> {
        if let Some(chain) = certificates(document, info)? {
            let leaf = chain[0].clone();
            // One is expired on purpose; the others were good when the vectors were made.
            let expired = leaf.subject().text().contains("expired");
            let now = if expired { SystemTime::now() } else { leaf.not_before() + Duration::from_secs(3_600) };
            self.trust
                .check(&chain, Purpose::Signature, now)
                .map_err(|error| Refusal::new(Rule::NotTrusted, error.to_string()))?;
            return Ok(leaf.public_key().clone());
        }
        if let Some(certificate) = self.certificate(document, info)? {
            return Ok(certificate.public_key().clone());
        }
        if let Some(value) = child(document, info, "KeyValue").or_else(|| child(document, info, "DEREncodedKeyValue")) {
            return key_value(document, value);
        }
        let name = match child(document, info, "KeyName") {
            Some(name) => text(document, name),
            None => return Err(unsupported(document, info)),
        };
        let certificate = self.certificates.get(name.trim());
        certificate.map(|certificate| certificate.public_key().clone()).ok_or_else(|| unknown(&name))
    }

    /// The certificate that a `ds:X509Data` holds or describes.
    fn certificate(&self, document: &Document, info: NodeId) -> Result<Option<Arc<Certificate>>, Refusal> {
        let Some(data) = child(document, info, "X509Data") else { return Ok(None) };
        if let Some(chain) = certificates(document, info)? {
            return Ok(chain.into_iter().next());
        }
        let value = |local| child(document, data, local).map(|node| text(document, node).trim().to_owned());
        let found = if let Some(identifier) = value("X509SKI") {
            self.trust.by_key_identifier(&binary::decode_text(&identifier, 64)?)
        } else if let Some(subject) = value("X509SubjectName") {
            self.trust.by_subject(&subject)
        } else if let Some(pair) = child(document, data, "X509IssuerSerial") {
            let value = |local| child(document, pair, local).map(|node| text(document, node).trim().to_owned());
            self.trust.by_issuer_serial(
                &value("X509IssuerName").unwrap_or_default(),
                &value("X509SerialNumber").unwrap_or_default(),
            )
        } else if let Some(node) = child(document, data, "X509Digest") {
            let uri = document.attribute(node, "", "Algorithm").unwrap_or_default();
            let method =
                DigestMethod::from_uri(&uri).ok_or_else(|| Refusal::new(Rule::UnknownAlgorithm, uri.into_owned()))?;
            let wanted = binary::decode_text(&text(document, node), method.bytes())?;
            self.certificates.values().find(|known| digest(method, known.der()).as_ref() == wanted)
        } else {
            None
        };
        found.cloned().map(Some).ok_or_else(|| unknown("a certificate that the suite does not have"))
    }
}

/// The certificates in a `ds:X509Data`, that of the signer first; none where there are none.
fn certificates(document: &Document, info: NodeId) -> Result<Option<Vec<Arc<Certificate>>>, Refusal> {
    let Some(data) = child(document, info, "X509Data") else { return Ok(None) };
    let mut chain = Vec::new();
    for node in document.children(data).filter(|&node| document.qname(node).local == "X509Certificate") {
        let der = binary::decode_text(&text(document, node), Limits::default().certificate_bytes)?;
        let certificate =
            Certificate::from_der(&der).map_err(|error| Refusal::new(Rule::TokenInvalid, error.to_string()))?;
        chain.push(Arc::new(certificate));
    }
    // The signer is who vouches for none of the others.
    let issues = |one: &Certificate| {
        chain.iter().any(|other: &Arc<Certificate>| other.der() != one.der() && other.issuer() == one.subject())
    };
    if let Some(signer) = chain.iter().position(|one| !issues(one)) {
        chain.swap(0, signer);
    }
    Ok(Some(chain).filter(|chain| !chain.is_empty()))
}

/// A bare public key.
fn key_value(document: &Document, value: NodeId) -> Result<Arc<PublicKey>, Refusal> {
    let decoded = |node: NodeId| binary::decode_text(&text(document, node), 4 << 10);
    let invalid = |_| Refusal::new(Rule::TokenInvalid, "a public key that cannot be read");
    let part = |local: &str| {
        let node = below(document, value, local).next();
        node.ok_or_else(|| Refusal::new(Rule::UnknownElement, format!("a key without {local}")))
    };
    let key = if document.qname(value).local == "DEREncodedKeyValue" {
        PublicKey::from_spki(&decoded(value)?)
    } else if child(document, value, "RSAKeyValue").is_some() {
        PublicKey::from_rsa(&decoded(part("Modulus")?)?, &decoded(part("Exponent")?)?)
    } else if let Some(key) =
        child(document, value, "ECKeyValue").filter(|&key| document.qname(key).namespace == vocabulary::DSIG11)
    {
        let uri = child(document, key, "NamedCurve").and_then(|curve| document.attribute(curve, "", "URI"));
        let uri = uri.unwrap_or_default();
        let curve = Curve::from_uri(&uri).ok_or_else(|| Refusal::new(Rule::UnknownAlgorithm, uri.into_owned()))?;
        PublicKey::from_ec(curve, &decoded(part("PublicKey")?)?)
    } else {
        let kind = document.children(value).find(|&node| document.kind(node) == Kind::Element);
        let kind = kind.map_or("", |node| document.qname(node).local);
        return Err(Refusal::new(Rule::UnknownElement, format!("a key in the form of {kind}")));
    };
    key.map(Arc::new).map_err(invalid)
}

/// The keys of signatures that name none: each author had one of his own.
fn unnamed_secrets(folder: &Path) -> HashMap<&'static str, Vec<u8>> {
    let file = |name: &str| fs::read(folder.join(name)).expect("the suite has it");
    HashMap::from([
        ("", file("keys/hmackey.bin")),
        ("phaos-xmldsig-three", file("phaos-xmldsig-three/certs/hmackey.bin")),
        ("xmldsig11-interop-2012", file("xmldsig11-interop-2012/keys/hmackey.bin")),
        ("merlin-xmldsig-twenty-three", b"secret".to_vec()),
        ("xmldsig2ed-tests", b"secret".to_vec()),
    ])
}

/// The child with that local name.
pub(crate) fn child(document: &Document, parent: NodeId, local: &str) -> Option<NodeId> {
    document.children(parent).find(|&node| document.kind(node) == Kind::Element && document.qname(node).local == local)
}

/// Why a `ds:KeyInfo` without anything that is known is refused.
fn unsupported(document: &Document, info: NodeId) -> Refusal {
    let mut elements = document.children(info).filter(|&node| document.kind(node) == Kind::Element);
    let form = elements.next();
    let uri = form.and_then(|form| document.attribute(form, "", "URI")).unwrap_or_default();
    if !uri.is_empty() && !uri.starts_with('#') {
        return Refusal::new(Rule::ExternalReference, uri.into_owned());
    }
    Refusal::new(Rule::UnknownElement, form.map_or("no key", |form| document.qname(form).local).to_owned())
}

/// Why a `ds:KeyInfo` leads to no secret key.
pub(crate) fn unsupported_secret(document: &Document, info: NodeId) -> Refusal {
    match child(document, info, "KeyName") {
        Some(name) => unknown(&text(document, name)),
        None => unsupported(document, info),
    }
}

fn unknown(what: &str) -> Refusal {
    Refusal::new(Rule::KeyUnknown, what.trim().to_owned())
}

/// The key that an `xenc:EncryptedKey` holds, for a cipher whose keys have that length.
pub(crate) fn unwrapped(
    keys: &Keys,
    document: &Document,
    element: NodeId,
    expected: Option<usize>,
) -> Result<Secret, Refusal> {
    let key = EncryptedKey::read(document, element, &Limits::default())?;
    let info = key.key_info.ok_or_else(|| unknown("a key without a name"))?;
    let ciphertext = key.ciphertext(document)?;
    let failed = |error: CryptoError| Refusal::new(Rule::DecryptionFailed, error.to_string());
    match key.method {
        KeyMethod::Transport(transport) => {
            keys.private(document, info)?.decrypt(transport, &ciphertext, expected).map_err(failed)
        }
        KeyMethod::Wrap(wrap) => {
            let outer;
            let secret = match keys.secret(document, info) {
                Some(secret) => secret,
                None => {
                    let inner =
                        child(document, info, "EncryptedKey").ok_or_else(|| unsupported_secret(document, info))?;
                    outer = unwrapped(keys, document, inner, Some(wrap.0.bytes()))?;
                    outer.as_ref()
                }
            };
            unwrap(wrap, secret, &ciphertext).map_err(failed)
        }
    }
}
