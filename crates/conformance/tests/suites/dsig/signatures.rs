//! Signatures of the suite.

use myelin_wss::algorithm::SignatureMethod;
use myelin_wss::dsig::{Signature, Target, VerifyWith};
use myelin_wss::ids::Ids;
use myelin_wss::{Limits, Refusal, Rule};
use myelin_xml::{Document, NodeId, XML_NAMESPACE};

use super::keys::{Keys, child, unsupported_secret, unwrapped};
use super::{Outcome, first};

/// Verifies the first signature of a document and all that it says is signed.
pub(crate) fn verify(keys: &Keys, set: &str, document: &Document) -> Result<(), Outcome> {
    let element = first(document, "Signature").expect("the caller has seen it");
    let signature = Signature::read(document, element, &Limits::default())?;
    let ids = ids(document)?;
    match signature.method {
        SignatureMethod::Hmac(digest) => {
            let unwrapped = match signature.key_info {
                None => None,
                Some(info) => {
                    let key = child(document, info, "EncryptedKey");
                    let key = key.ok_or_else(|| unsupported_secret(document, info))?;
                    Some(unwrapped(keys, document, key, Some(digest.bytes()))?)
                }
            };
            let secret = unwrapped.as_ref().map_or(keys.unnamed_secret(set), AsRef::as_ref);
            signature.verify_value(document, VerifyWith::Secret(secret))?;
        }
        _ => {
            let info = signature.key_info.ok_or_else(|| Refusal::new(Rule::KeyUnknown, "no key is named"))?;
            let key = keys.public(document, info)?;
            signature.verify_value(document, VerifyWith::PublicKey(&key))?;
        }
    }
    for reference in &signature.references {
        let target = match &reference.target {
            Target::Whole => document.document_node(),
            Target::Id(id) => ids.require(id)?,
        };
        let mut no_token = |_| Err(Refusal::new(Rule::TokenNotAllowed, "there are no tokens here"));
        reference.verify(document, target, element, &mut no_token)?;
    }
    Ok(())
}

/// The ids of the suite's documents, whose document types say that these attributes are.
pub(crate) fn ids(document: &Document) -> Result<Ids, Refusal> {
    let is_id = |_: NodeId, attribute: NodeId| {
        let name = document.qname(attribute);
        matches!((name.namespace, name.local), ("", "Id" | "ID") | (XML_NAMESPACE, "id"))
    };
    Ids::chosen(document, &Limits::default(), &is_id)
}
