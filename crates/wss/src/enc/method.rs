//! `xenc:EncryptionMethod`, whose identifier is not all of the algorithm: digests and masks are children of it.

use myelin_xml::{Document, NodeId};

use super::KeyMethod;
use crate::algorithm::{AesKeyWrap, BlockCipher, DigestMethod, KeyTransport};
use crate::binary;
use crate::dsig::digest_method;
use crate::error::{Refusal, Rule};
use crate::structure::{Children, required_attribute, text};
use crate::vocabulary::{DS, XENC, XENC11};
use crate::writing::element;

const RSA_15: &str = "http://www.w3.org/2001/04/xmlenc#rsa-1_5";
/// OAEP whose mask is made with SHA-1, whatever its digest.
const RSA_OAEP_MGF1P: &str = "http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p";
/// OAEP that says what its mask is made with.
const RSA_OAEP: &str = "http://www.w3.org/2009/xmlenc11#rsa-oaep";

const MASKS: [(DigestMethod, &str); 4] = [
    (DigestMethod::Sha1, "http://www.w3.org/2009/xmlenc11#mgf1sha1"),
    (DigestMethod::Sha256, "http://www.w3.org/2009/xmlenc11#mgf1sha256"),
    (DigestMethod::Sha384, "http://www.w3.org/2009/xmlenc11#mgf1sha384"),
    (DigestMethod::Sha512, "http://www.w3.org/2009/xmlenc11#mgf1sha512"),
];

/// Reads how data is encrypted.
pub(super) fn cipher(document: &Document, element: NodeId) -> Result<BlockCipher, Refusal> {
    let uri = required_attribute(document, element, "Algorithm")?;
    let cipher = BlockCipher::from_uri(&uri).ok_or_else(|| unknown(uri.into_owned()))?;
    let mut children = Children::of(document, element);
    key_size(document, &mut children, cipher.key_bytes())?;
    children.end()?;
    Ok(cipher)
}

/// Reads how a key is encrypted.
pub(super) fn key_method(document: &Document, element: NodeId) -> Result<KeyMethod, Refusal> {
    let uri = required_attribute(document, element, "Algorithm")?;
    let mut children = Children::of(document, element);
    let method = if let Some(wrap) = AesKeyWrap::from_uri(&uri) {
        key_size(document, &mut children, wrap.0.bytes())?;
        KeyMethod::Wrap(wrap)
    } else {
        KeyMethod::Transport(match &*uri {
            RSA_15 => KeyTransport::Rsa15,
            RSA_OAEP_MGF1P | RSA_OAEP => oaep(document, &mut children, &uri)?,
            _ => return Err(unknown(uri.into_owned())),
        })
    };
    children.end()?;
    Ok(method)
}

/// Reads the parameters of OAEP, which peers write in any order.
fn oaep(document: &Document, children: &mut Children<'_>, uri: &str) -> Result<KeyTransport, Refusal> {
    let (mut label, mut digest, mut mask) = (None, None, None);
    loop {
        if label.is_none()
            && let Some(element) = children.take(XENC, "OAEPparams")
        {
            label = Some(binary::decode(document, element, 1 << 10)?);
        } else if digest.is_none()
            && let Some(element) = children.take(DS, "DigestMethod")
        {
            digest = Some(digest_method(document, element)?);
        } else if mask.is_none()
            && uri == RSA_OAEP
            && let Some(element) = children.take(XENC11, "MGF")
        {
            let uri = required_attribute(document, element, "Algorithm")?;
            let known = MASKS.iter().find(|(_, known)| *known == uri);
            mask = Some(known.ok_or_else(|| unknown(uri.into_owned()))?.0);
            Children::of(document, element).end()?;
        } else {
            break;
        }
    }
    if label.is_some_and(|label| !label.is_empty()) {
        return Err(unknown("OAEP with a label, which nobody here can know".to_owned()));
    }
    let [digest, mask] = [digest, mask].map(|method| method.unwrap_or(DigestMethod::Sha1));
    Ok(KeyTransport::RsaOaep { digest, mask })
}

/// Reads the size that a method may say once more, which has to be that of its keys.
fn key_size(document: &Document, children: &mut Children<'_>, bytes: usize) -> Result<(), Refusal> {
    let Some(element) = children.take(XENC, "KeySize") else { return Ok(()) };
    if text(document, element)?.trim() == (bytes * 8).to_string() {
        return Ok(());
    }
    Err(Refusal::new(Rule::Malformed, "the size of the key is not that of the method"))
}

fn unknown(what: String) -> Refusal {
    Refusal::new(Rule::UnknownAlgorithm, what)
}

/// The identifier of a way to encrypt a key; digests and masks stand below it.
pub(crate) fn transport_uri(transport: KeyTransport) -> &'static str {
    match transport {
        KeyTransport::Rsa15 => RSA_15,
        KeyTransport::RsaOaep { mask: DigestMethod::Sha1, .. } => RSA_OAEP_MGF1P,
        KeyTransport::RsaOaep { .. } => RSA_OAEP,
    }
}

/// Writes how a key is encrypted.
pub(super) fn write_key_method(out: &mut Vec<u8>, method: KeyMethod) {
    let (uri, digest, mask) = match method {
        KeyMethod::Wrap(wrap) => (wrap.uri(), None, None),
        KeyMethod::Transport(transport) => {
            let (digest, mask) = match transport {
                KeyTransport::Rsa15 => (None, None),
                KeyTransport::RsaOaep { digest, mask: DigestMethod::Sha1 } => (Some(digest), None),
                KeyTransport::RsaOaep { digest, mask } => (Some(digest), Some(mask)),
            };
            (transport_uri(transport), digest, mask)
        }
    };
    element(out, "xenc:EncryptionMethod", &[("Algorithm", uri)], |out| {
        if let Some(digest) = digest {
            element(out, "ds:DigestMethod", &[("xmlns:ds", DS), ("Algorithm", digest.uri())], |_| {});
        }
        if let Some((_, uri)) = MASKS.iter().find(|(known, _)| Some(*known) == mask) {
            element(out, "xenc11:MGF", &[("xmlns:xenc11", XENC11), ("Algorithm", uri)], |_| {});
        }
    });
}
