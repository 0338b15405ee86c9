//! Namespaces and identifiers of the standards, each said once.

/// XML Signature.
pub const DS: &str = "http://www.w3.org/2000/09/xmldsig#";
/// XML Signature 1.1.
pub const DSIG11: &str = "http://www.w3.org/2009/xmldsig11#";
/// XML Encryption.
pub const XENC: &str = "http://www.w3.org/2001/04/xmlenc#";
/// XML Encryption 1.1.
pub const XENC11: &str = "http://www.w3.org/2009/xmlenc11#";
/// Exclusive canonicalisation, whose `InclusiveNamespaces` is an element of it.
pub const EXC_C14N: &str = "http://www.w3.org/2001/10/xml-exc-c14n#";
/// WS-Security 1.0: `Security` and its tokens.
pub const WSSE: &str = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd";
/// WS-Security 1.1: `SignatureConfirmation`, `EncryptedHeader`, `TokenType`.
pub const WSSE11: &str = "http://docs.oasis-open.org/wss/oasis-wss-wssecurity-secext-1.1.xsd";
/// WS-Security's utilities: `Id`, `Timestamp`.
pub const WSU: &str = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd";
/// WS-SecureConversation of February 2005, whose derived keys Rampart and WSS4J write by default.
pub const WSC_2005: &str = "http://schemas.xmlsoap.org/ws/2005/02/sc";
/// WS-SecureConversation 1.3 and 1.4.
pub const WSC_13: &str = "http://docs.oasis-open.org/ws-sx/ws-secureconversation/200512";
/// SAML 1.1 assertions.
pub const SAML_11: &str = "urn:oasis:names:tc:SAML:1.0:assertion";
/// SAML 2.0 assertions.
pub const SAML_20: &str = "urn:oasis:names:tc:SAML:2.0:assertion";

/// The X.509 token profile.
pub const X509_PROFILE: &str = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-x509-token-profile-1.0";
/// The username token profile.
pub const USERNAME_PROFILE: &str = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-username-token-profile-1.0";
/// SOAP message security 1.0.
pub const MESSAGE_SECURITY: &str = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-soap-message-security-1.0";
/// SOAP message security 1.1.
pub const MESSAGE_SECURITY_11: &str = "http://docs.oasis-open.org/wss/oasis-wss-soap-message-security-1.1";
