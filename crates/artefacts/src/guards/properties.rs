//! What filters and logs learn of a message that was verified.

use myelin_wss::Findings;

use myelin_flow::property::{Properties, Scope, Value, slot};

/// Leaves in the properties who signed a message and who sent it.
///
/// Shape: of a request in the scope `default`, of a backend's answer in the scope `axis2`, which ends with it.
/// The user is `username` in the scope `axis2` besides, where Apache Rampart leaves it.
pub(super) fn put(properties: &mut Properties, scope: Scope, findings: &Findings) {
    let mut text = |scope, slot, text: Option<&str>| {
        if let Some(text) = text {
            properties.put(scope, slot, Some(Value::Text(text.into())));
        }
    };
    let user = findings.user.as_ref().map(|user| &*user.name);
    text(scope, slot::SECURITY_USER, user);
    text(Scope::Axis2, slot::USERNAME, user);
    let signer = findings.signer.as_ref();
    text(scope, slot::SECURITY_SUBJECT, signer.map(|signer| signer.subject().text()));
    text(scope, slot::SECURITY_ISSUER, signer.map(|signer| signer.issuer().text()));
    text(scope, slot::SECURITY_SERIAL, signer.map(|signer| signer.serial()));
    let saml = findings.saml.as_ref();
    text(scope, slot::SECURITY_SAML_SUBJECT, saml.map(|saml| &*saml.subject));
    text(scope, slot::SECURITY_SAML_ISSUER, saml.map(|saml| &*saml.issuer));
}
