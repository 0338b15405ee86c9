//! Tokens and the timestamp as texts that are their own exclusive canonical form.

use std::time::{Duration, SystemTime};

use crate::algorithm::DigestMethod;
use crate::binary;
use crate::crypto::Hasher;
use crate::policy::Password;
use crate::time::{Precision, written};
use crate::vocabulary::{MESSAGE_SECURITY, USERNAME_PROFILE, WSSE, WSSE11, WSU};
use crate::writing::{element, escape_text};

/// Bytes of a nonce: as many as WSS4J's.
pub(super) const NONCE_BYTES: usize = 16;

/// `wsu:Timestamp`: made now, good for `life`.
///
/// Source: WS-Security 1.1 §10.
pub(super) fn timestamp(id: &str, now: SystemTime, life: Duration, precision: Precision) -> Vec<u8> {
    let expires = now.checked_add(life).unwrap_or(now);
    let mut out = Vec::with_capacity(320);
    element(&mut out, "wsu:Timestamp", &[("xmlns:wsu", WSU), ("wsu:Id", id)], |out| {
        element(out, "wsu:Created", &[], |out| put(out, &written(now, precision).to_string()));
        element(out, "wsu:Expires", &[], |out| put(out, &written(expires, precision).to_string()));
    });
    out
}

/// A user, and how the password is shown.
pub(super) struct User<'a> {
    pub(super) name: &'a str,
    pub(super) password: Password,
    /// Empty where the password is not shown.
    pub(super) secret: &'a str,
    pub(super) nonce: Option<[u8; NONCE_BYTES]>,
    pub(super) created: Option<String>,
}

/// `wsse:UsernameToken`.
///
/// A digest is of nonce, time and password, with a missing one as nothing.
/// Source: Username Token Profile 1.1 §3.1.
pub(super) fn username(id: &str, user: &User<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(768);
    let attributes = [("xmlns:wsse", WSSE), ("xmlns:wsu", WSU), ("wsu:Id", id)];
    element(&mut out, "wsse:UsernameToken", &attributes, |out| {
        element(out, "wsse:Username", &[], |out| escape_text(out, user.name));
        match user.password {
            Password::None => {}
            Password::Text => {
                let kind = format!("{USERNAME_PROFILE}#PasswordText");
                element(out, "wsse:Password", &[("Type", &kind)], |out| escape_text(out, user.secret));
            }
            Password::Digest => {
                let mut hasher = Hasher::new(DigestMethod::Sha1);
                hasher.update(user.nonce.as_ref().map_or(&[], |nonce| nonce.as_slice()));
                hasher.update(user.created.as_deref().unwrap_or("").as_bytes());
                hasher.update(user.secret.as_bytes());
                let digest = hasher.finish();
                let kind = format!("{USERNAME_PROFILE}#PasswordDigest");
                element(out, "wsse:Password", &[("Type", &kind)], |out| binary::encode(digest.as_ref(), out));
            }
        }
        if let Some(nonce) = &user.nonce {
            let encoding = format!("{MESSAGE_SECURITY}#Base64Binary");
            element(out, "wsse:Nonce", &[("EncodingType", &encoding)], |out| binary::encode(nonce, out));
        }
        if let Some(created) = &user.created {
            element(out, "wsu:Created", &[], |out| put(out, created));
        }
    });
    out
}

/// `wsse:BinarySecurityToken` with a value type of its profile.
///
/// Without an id it is what a signature covers of a token that does not stand in the message, and does not say how it
/// is encoded, as WSS4J has it.
/// Source: WS-Security 1.1 §6.3, §8.3.
pub(super) fn binary_token(id: Option<&str>, value_type: &str, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(640 + bytes.len() / 3 * 4);
    let encoding = format!("{MESSAGE_SECURITY}#Base64Binary");
    let attributes: &[(&str, &str)] = match id {
        Some(id) => &[
            ("xmlns:wsse", WSSE),
            ("xmlns:wsu", WSU),
            ("EncodingType", &encoding),
            ("ValueType", value_type),
            ("wsu:Id", id),
        ],
        None => &[("xmlns:wsse", WSSE), ("ValueType", value_type)],
    };
    element(&mut out, "wsse:BinarySecurityToken", attributes, |out| binary::encode(bytes, out));
    out
}

/// `wsse11:SignatureConfirmation`: of a signature's value, or that there was none.
///
/// Source: WS-Security 1.1 §8.5.
pub(super) fn signature_confirmation(id: &str, value: Option<&[u8]>) -> Vec<u8> {
    let mut out = Vec::with_capacity(640);
    let mut encoded = Vec::new();
    let mut attributes = vec![("xmlns:wsse11", WSSE11), ("xmlns:wsu", WSU)];
    if let Some(value) = value {
        binary::encode(value, &mut encoded);
        attributes.push(("Value", std::str::from_utf8(&encoded).expect("base64 is text")));
    }
    attributes.push(("wsu:Id", id));
    element(&mut out, "wsse11:SignatureConfirmation", &attributes, |_| {});
    out
}

fn put(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}
