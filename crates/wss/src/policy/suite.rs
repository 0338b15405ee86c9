//! Algorithm suites (WS-SecurityPolicy §6.1 and §7.1, and Apache CXF's with GCM).

use myelin_xml::c14n::Method;

use super::AlgorithmSuite;
use super::normal::Assertion;
use super::reader::Reader;
use crate::algorithm::{AesKeyWrap, BlockCipher, DigestMethod, KeyBits, KeyTransport, SignatureMethod};

/// How keys of RSA may be sized, in bits: the same in all suites.
const RSA_BITS: (usize, usize) = (1024, 4096);

/// Reads an `AlgorithmSuite`.
pub(super) fn read(reader: &mut Reader<'_>, assertion: &Assertion) -> Option<AlgorithmSuite> {
    reader.without_parameters(assertion);
    let mut suite: Option<AlgorithmSuite> = None;
    let mut canonical = Method::Exclusive;
    let mut str_transform = false;
    for inner in &assertion.nested {
        match reader.security(inner) {
            "ExclusiveC14N" | "SOAPNormalizationNone" | "XPath10" | "AbsXPath" => reader.flag(inner),
            "InclusiveC14N" => canonical = Method::Inclusive,
            "InclusiveC14N11" => canonical = Method::Inclusive11,
            "STRTransform10" => str_transform = true,
            other @ ("SOAPNormalization10" | "XPathFilter20") => {
                reader.unsupported(inner.node, format!("{other} is not supported"));
            }
            name => match named(name) {
                Some(_) if suite.is_some() => reader.wrong(inner.node, "a second algorithm suite, expected one"),
                Some(known) => {
                    reader.flag(inner);
                    suite = Some(known);
                }
                None => reader.unknown(inner),
            },
        }
    }
    if suite.is_none() {
        reader.wrong(assertion.node, "an algorithm suite without a name, expected one such as Basic256Sha256");
    }
    Some(AlgorithmSuite { canonical, str_transform, ..suite? })
}

/// The suite of a name: its cipher, then `GCM`, `Sha256`, `MgfSha256` and `Rsa15`, of which none has to stand.
///
/// The standard leaves signatures at SHA-1 in the suites named for SHA-256, which only their digests are then; we take
/// such a name by its word, as .NET does, and neither make nor accept SHA-1 there.
fn named(name: &str) -> Option<AlgorithmSuite> {
    const CIPHERS: [(&str, BlockCipher, KeyBits); 7] = [
        ("Basic128GCM", BlockCipher::AesGcm(KeyBits::Bits128), KeyBits::Bits128),
        ("Basic192GCM", BlockCipher::AesGcm(KeyBits::Bits192), KeyBits::Bits192),
        ("Basic256GCM", BlockCipher::AesGcm(KeyBits::Bits256), KeyBits::Bits256),
        ("Basic128", BlockCipher::AesCbc(KeyBits::Bits128), KeyBits::Bits128),
        ("Basic192", BlockCipher::AesCbc(KeyBits::Bits192), KeyBits::Bits192),
        ("Basic256", BlockCipher::AesCbc(KeyBits::Bits256), KeyBits::Bits256),
        ("TripleDes", BlockCipher::TripleDesCbc, KeyBits::Bits192),
    ];
    let found = CIPHERS.iter().find_map(|(start, cipher, bits)| Some((*cipher, *bits, name.strip_prefix(start)?)));
    let (cipher, bits, rest) = found?;
    let (digest, rest) =
        rest.strip_prefix("Sha256").map_or((DigestMethod::Sha1, rest), |rest| (DigestMethod::Sha256, rest));
    let key_transports = match rest {
        "" => OAEP.to_vec(),
        "Rsa15" => vec![KeyTransport::Rsa15],
        "MgfSha256" => vec![KeyTransport::RsaOaep { digest: DigestMethod::Sha256, mask: DigestMethod::Sha256 }],
        _ => return None,
    };
    // Of 256 bits the standard derives signature keys of 192; no other suite has two lengths.
    let signature_bits = bits.min(KeyBits::Bits192);
    Some(AlgorithmSuite {
        name: name.to_owned(),
        digest,
        asymmetric_signatures: signatures(digest),
        symmetric_signature: SignatureMethod::Hmac(digest),
        cipher,
        key_wrap: AesKeyWrap(bits),
        key_transports,
        signature_derivation_bytes: signature_bits.bytes(),
        encryption_derivation_bytes: bits.bytes(),
        rsa_bits: RSA_BITS,
        canonical: Method::Exclusive,
        str_transform: false,
    })
}

/// OAEP with all its digests: none of them is weak there, SHA-1 included; the first is the standard's.
const OAEP: [KeyTransport; 4] = [
    KeyTransport::RsaOaep { digest: DigestMethod::Sha1, mask: DigestMethod::Sha1 },
    KeyTransport::RsaOaep { digest: DigestMethod::Sha256, mask: DigestMethod::Sha1 },
    KeyTransport::RsaOaep { digest: DigestMethod::Sha256, mask: DigestMethod::Sha256 },
    KeyTransport::RsaOaep { digest: DigestMethod::Sha1, mask: DigestMethod::Sha256 },
];

/// Signatures with this digest or a stronger one, those that are written first in front.
fn signatures(least: DigestMethod) -> Vec<SignatureMethod> {
    const DIGESTS: [DigestMethod; 4] =
        [DigestMethod::Sha1, DigestMethod::Sha256, DigestMethod::Sha384, DigestMethod::Sha512];
    const KINDS: [fn(DigestMethod) -> SignatureMethod; 3] =
        [SignatureMethod::Rsa, SignatureMethod::Ecdsa, SignatureMethod::RsaPss];
    let digests = DIGESTS.into_iter().filter(move |digest| *digest >= least);
    digests.flat_map(|digest| KINDS.map(|kind| kind(digest))).collect()
}
