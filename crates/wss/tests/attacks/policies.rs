//! The policies that the messages of these tests are made by.

/// What all of them sign and encrypt.
const PARTS: &str = r#"
    <sp:SignedParts><sp:Body/><sp:Header Name="Order" Namespace="urn:h"/></sp:SignedParts>
    <sp:EncryptedParts><sp:Body/></sp:EncryptedParts>"#;

const X509: &str =
    "<sp:X509Token sp:IncludeToken='SP/IncludeToken/AlwaysToRecipient'><p><sp:WssX509V3Token10/></p></sp:X509Token>";
const REFERRED: &str =
    "<sp:X509Token sp:IncludeToken='SP/IncludeToken/Never'><p><sp:WssX509V3Token10/></p></sp:X509Token>";

fn policy(content: &str) -> String {
    let content =
        content.replace("<p>", "<wsp:Policy>").replace("</p>", "</wsp:Policy>").replace("<p/>", "<wsp:Policy/>");
    let sp = "http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702";
    format!(
        r#"<wsp:Policy xmlns:wsp="http://www.w3.org/ns/ws-policy" xmlns:sp="SP"
            xmlns:ramp="http://ws.apache.org/rampart/policy">{content}
            <ramp:RampartConfig><ramp:user>carol</ramp:user><ramp:encryptionUser>bob</ramp:encryptionUser>
            </ramp:RampartConfig></wsp:Policy>"#
    )
    .replace("SP", sp)
}

/// Each side has a key pair; `more` are assertions of the binding, `beside` those beside it.
pub(crate) fn asymmetric(suite: &str, more: &str, beside: &str) -> String {
    policy(&format!(
        "<sp:AsymmetricBinding><p>
            <sp:InitiatorToken><p>{X509}</p></sp:InitiatorToken><sp:RecipientToken><p>{REFERRED}</p></sp:RecipientToken>
            <sp:AlgorithmSuite><p><sp:{suite}/></p></sp:AlgorithmSuite><sp:IncludeTimestamp/>{more}
        </p></sp:AsymmetricBinding>{PARTS}{beside}"
    ))
}

/// What round 4 asks for, with a cipher that notices changes.
pub(crate) fn modern() -> String {
    asymmetric("Basic128GCMSha256", "", "")
}

/// With a chained cipher, whose padding an attacker would like to learn of.
pub(crate) fn chained() -> String {
    asymmetric("Basic128Sha256", "", "")
}

/// One key for both, made by the client.
pub(crate) fn symmetric(more: &str) -> String {
    policy(&format!(
        "<sp:SymmetricBinding><p><sp:ProtectionToken><p>{REFERRED}</p></sp:ProtectionToken>
            <sp:AlgorithmSuite><p><sp:Basic128GCMSha256/></p></sp:AlgorithmSuite><sp:IncludeTimestamp/>{more}
        </p></sp:SymmetricBinding>{PARTS}<sp:Wss11><p/></sp:Wss11>"
    ))
}

/// Signed, and not encrypted, so that what is attacked can be seen.
pub(crate) fn signed() -> String {
    modern().replace(r#"<sp:EncryptedParts><sp:Body/></sp:EncryptedParts>"#, "")
}

/// A user and the digest of a password, signed.
pub(crate) fn user() -> String {
    asymmetric(
        "Basic128GCMSha256",
        "",
        "<sp:SignedSupportingTokens><p><sp:UsernameToken sp:IncludeToken='SP/IncludeToken/AlwaysToRecipient'><p>
            <sp:WssUsernameToken10/><sp:HashPassword/></p></sp:UsernameToken></p></sp:SignedSupportingTokens>",
    )
}
