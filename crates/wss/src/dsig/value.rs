//! Whether the value of a signature is right.

use myelin_xml::Document;

use super::reference::canonicalize;
use super::{Signature, VerifyWith};
use crate::algorithm::SignatureMethod;
use crate::crypto::hmac_verify;
use crate::error::{Refusal, Rule};

impl Signature {
    /// Whether the value is that of `SignedInfo`; whether the references are right is theirs to say.
    ///
    /// Errors: `SignatureInvalid`, for a key of another kind too; the sender's.
    /// Source: XML Signature 1.1 §3.2.2.
    pub fn verify_value(&self, document: &Document, key: VerifyWith<'_>) -> Result<(), Refusal> {
        let mut signed = Vec::with_capacity(2 << 10);
        canonicalize(document, self.signed_info, &[], &self.canonical, &mut signed)?;
        let valid = match (self.method, key) {
            (SignatureMethod::Hmac(digest), VerifyWith::Secret(secret)) => {
                hmac_verify(digest, secret, &signed, &self.value)
            }
            (SignatureMethod::Hmac(_), VerifyWith::PublicKey(_)) | (_, VerifyWith::Secret(_)) => {
                return Err(Refusal::new(Rule::SignatureInvalid, "the key is of another kind than the signature"));
            }
            (method, VerifyWith::PublicKey(key)) => key.verify(method, &signed, &self.value).is_ok(),
        };
        if valid { Ok(()) } else { Err(Refusal::new(Rule::SignatureInvalid, "the signature's value is wrong")) }
    }
}
