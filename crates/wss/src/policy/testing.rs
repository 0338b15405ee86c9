//! Policies for tests, as short as they can be.

pub(crate) const WSP: [&str; 2] = ["http://schemas.xmlsoap.org/ws/2004/09/policy", "http://www.w3.org/ns/ws-policy"];
pub(crate) const SP: [&str; 2] = [
    "http://schemas.xmlsoap.org/ws/2005/07/securitypolicy",
    "http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702",
];

/// A policy of these assertions; the usual prefixes and `t` are bound, `<p>` stands for a nested policy.
pub(crate) fn written(wsp: &str, sp: &str, content: &str) -> String {
    let content = content.replace("<p>", "<wsp:Policy>").replace("</p>", "</wsp:Policy>");
    format!(
        r#"<wsp:Policy xmlns:wsp="{wsp}" xmlns:sp="{sp}"
            xmlns:sp13="http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200802"
            xmlns:cxf="http://cxf.apache.org/custom/security-policy"
            xmlns:wsu="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd"
            xmlns:ramp="http://ws.apache.org/rampart/policy" xmlns:t="urn:t">{content}</wsp:Policy>"#
    )
}

pub(crate) const X509: &str = "<sp:X509Token><p><sp:WssX509V3Token10/></p></sp:X509Token>";

pub(crate) fn asymmetric(more: &str) -> String {
    binding_with("Basic256Sha256", more)
}

pub(crate) fn binding_with(suite: &str, more: &str) -> String {
    format!(
        "<sp:AsymmetricBinding><p>
            <sp:InitiatorToken><p>{X509}</p></sp:InitiatorToken>
            <sp:RecipientToken><p>{X509}</p></sp:RecipientToken>
            <sp:AlgorithmSuite><p><sp:{suite}/></p></sp:AlgorithmSuite>{more}
        </p></sp:AsymmetricBinding>"
    )
}

pub(crate) fn symmetric(token: &str) -> String {
    format!(
        "<sp:SymmetricBinding><p><sp:ProtectionToken><p>{token}</p></sp:ProtectionToken>
            <sp:AlgorithmSuite><p><sp:Basic128/></p></sp:AlgorithmSuite></p></sp:SymmetricBinding>"
    )
}

pub(crate) fn transport(token: &str) -> String {
    format!(
        "<sp:TransportBinding><p><sp:TransportToken><p>{token}</p></sp:TransportToken>
            <sp:AlgorithmSuite><p><sp:Basic128/></p></sp:AlgorithmSuite><sp:IncludeTimestamp/></p></sp:TransportBinding>"
    )
}
