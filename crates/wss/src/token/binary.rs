//! `wsse:BinarySecurityToken`: a certificate, or a path of them.

use std::sync::Arc;

use myelin_xml::{Document, NodeId};

use crate::keys::{Certificate, Certificates};
use crate::policy::X509Form;
use crate::vocabulary::{MESSAGE_SECURITY, X509_PROFILE};
use crate::{Limits, Refusal, Rule, binary};

/// A binary token, read.
pub(crate) struct BinaryToken {
    pub(crate) form: X509Form,
    /// The certificate of whom the token is, and then those that vouch for it, one for the other.
    pub(crate) chain: Vec<Arc<Certificate>>,
}

impl BinaryToken {
    /// Reads a binary token.
    ///
    /// Errors: `TokenNotAllowed` for what is no certificate of version 3 and no path, `TokenInvalid` for one that is
    /// malformed, `Limit`, `Malformed`; the sender's.
    /// Source: X.509 Certificate Token Profile 1.1 §3.1.
    pub(crate) fn read(
        document: &Document,
        element: NodeId,
        certificates: &Certificates,
        limits: &Limits,
    ) -> Result<BinaryToken, Refusal> {
        check_encoding(document, element)?;
        let kind = document.attribute(element, "", "ValueType").unwrap_or_default();
        let form = match kind.strip_prefix(X509_PROFILE) {
            Some("#X509v3") => X509Form::V3,
            Some("#X509PKIPathv1") => X509Form::PkiPath,
            _ => return Err(Refusal::new(Rule::TokenNotAllowed, format!("a binary token of the type {kind:?}"))),
        };
        let bytes = binary::decode(document, element, limits.certificate_bytes)?;
        let chain = match form {
            X509Form::V3 => vec![certificate(certificates, &bytes)?],
            X509Form::PkiPath => Certificate::path_from_der(&bytes, limits.certificate_path, certificates)
                .map_err(|error| Refusal::new(Rule::TokenInvalid, error.to_string()))?,
        };
        Ok(BinaryToken { form, chain })
    }
}

/// Checks that a value is in base64, the only encoding there is.
pub(crate) fn check_encoding(document: &Document, element: NodeId) -> Result<(), Refusal> {
    match document.attribute(element, "", "EncodingType") {
        Some(encoding) if encoding.strip_prefix(MESSAGE_SECURITY) != Some("#Base64Binary") => {
            Err(Refusal::new(Rule::Malformed, format!("a value in the encoding {encoding}")))
        }
        _ => Ok(()),
    }
}

/// The certificate that some bytes are.
pub(crate) fn certificate(certificates: &Certificates, der: &[u8]) -> Result<Arc<Certificate>, Refusal> {
    certificates.parse(der).map_err(|error| Refusal::new(Rule::TokenInvalid, error.to_string()))
}
