//! Ciphertexts of the suite.

use std::fs;
use std::path::Path;

use myelin_wss::crypto::{Secret, decrypt as decipher};
use myelin_wss::enc::{EncryptedData, EncryptedKey, Form, Piece, splice};
use myelin_wss::{Limits, Refusal, Rule, binary};
use myelin_xml::c14n::{Canonical, Method, Subset, canonicalize};
use myelin_xml::{Document, NodeId};

use super::keys::{Keys, child, unsupported_secret, unwrapped};
use super::{Outcome, below, first, options, parse, read, text};

/// Decrypts the first encrypted part of a document and compares it with what the suite says it is.
pub(crate) fn decrypt(keys: &Keys, file: &Path, document: &Document) -> Result<(), Outcome> {
    let element = first(document, "EncryptedData").expect("the caller has seen it");
    let data = EncryptedData::read(document, element, &Limits::default())?;
    let info = data.key_info.ok_or_else(|| Refusal::new(Rule::KeyUnknown, "no key is named"))?;
    let unwrapped;
    let key = match keys.secret(document, info) {
        Some(secret) => secret,
        None => {
            unwrapped = encrypted_key(keys, document, info, data.cipher.key_bytes())?;
            unwrapped.as_ref()
        }
    };
    let mut plaintext = data.ciphertext(document)?;
    decipher(data.cipher, key, &mut plaintext)
        .map_err(|error| Refusal::new(Rule::DecryptionFailed, error.to_string()))?;

    let failed = |what: &str| Outcome::Failed(what.to_owned());
    let expected = fs::read(file.with_extension("data"));
    let same = match data.form {
        Form::Octets => is_same_text(&plaintext, &expected.map_err(|_| failed("there is nothing to compare with"))?),
        form => {
            let piece = Piece { place: element, form, plaintext };
            let (spliced, _) = splice(document, &[piece], &options())?;
            match expected {
                Ok(expected) => {
                    let expected = parse(&expected).map_err(Outcome::Failed)?;
                    canonical(&spliced, spliced.document_node()) == canonical(&expected, expected.document_node())
                }
                // One suite has the plaintext of all its vectors in one file, around which other things differ.
                Err(_) => {
                    let whole = read(&file.with_file_name("plaintext.xml")).map_err(Outcome::Failed)?;
                    let part = |document| first(document, "PaymentInfo").map(|part| canonical(document, part));
                    part(&spliced).is_some() && part(&spliced) == part(&whole)
                }
            }
        }
    };
    if same { Ok(()) } else { Err(failed("another plaintext")) }
}

/// The key of the first `EncryptedKey` that is meant and that the suite has a key for.
fn encrypted_key(keys: &Keys, document: &Document, info: NodeId, bytes: usize) -> Result<Secret, Refusal> {
    let name = child(document, info, "KeyName").map(|name| text(document, name));
    let retrieved = child(document, info, "RetrievalMethod").and_then(|method| document.attribute(method, "", "URI"));
    let mut refusal = unsupported_secret(document, info);
    for element in below(document, document.document_node(), "EncryptedKey") {
        let inside = document.parent(element) == Some(info);
        if !inside && name.is_none() && retrieved.is_none() {
            continue;
        }
        let key = match EncryptedKey::read(document, element, &Limits::default()) {
            Ok(key) => key,
            Err(error) => {
                refusal = error;
                continue;
            }
        };
        let is_named = name.is_some() && key.carried_name == name;
        let is_retrieved =
            key.id.is_some() && key.id.as_deref() == retrieved.as_deref().and_then(|uri| uri.strip_prefix('#'));
        if inside || is_named || is_retrieved {
            match unwrapped(keys, document, element, Some(bytes)) {
                Ok(secret) => return Ok(secret),
                Err(error) => refusal = error,
            }
        }
    }
    Err(refusal)
}

/// Whether bytes are those of a file, which may hold them in base64.
fn is_same_text(plaintext: &[u8], expected: &[u8]) -> bool {
    if plaintext == expected {
        return true;
    }
    let text = std::str::from_utf8(expected).unwrap_or_default();
    binary::decode_text(text, plaintext.len()).is_ok_and(|decoded| decoded == plaintext)
}

fn canonical(document: &Document, apex: NodeId) -> Vec<u8> {
    let mut form = Vec::new();
    let how = Canonical { comments: true, ..Canonical::new(Method::Inclusive) };
    let subset = Subset { apex, excluded: &[] };
    canonicalize(document, subset, &how, &mut form).expect("no namespace is relative");
    form
}
