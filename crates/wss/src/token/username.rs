//! `wsse:UsernameToken`: a name, and mostly a password or its digest.

use std::time::SystemTime;

use myelin_xml::{Document, NodeId};

use super::{short_text, timestamp};
use crate::algorithm::DigestMethod;
use crate::crypto::{Digest, Hasher};
use crate::policy::Password;
use crate::structure::{Children, text};
use crate::vocabulary::{MESSAGE_SECURITY, USERNAME_PROFILE, WSSE, WSSE11, WSU};
use crate::{Limits, Refusal, Rule, binary};

/// A username token as it stands in a message.
pub(crate) struct UsernameToken {
    pub(crate) user: String,
    /// How the password is shown.
    pub(crate) password: Password,
    /// The password as it is shown.
    shown: String,
    pub(crate) nonce: Option<Vec<u8>>,
    pub(crate) created: Option<Created>,
}

/// A time, and how the sender wrote it, which its digest is of.
pub(crate) struct Created {
    pub(crate) time: SystemTime,
    text: String,
}

/// A nonce of more is no random number but a burden.
const NONCE_BYTES: usize = 256;

impl UsernameToken {
    /// Reads a username token.
    ///
    /// Errors: `Malformed`, `UnknownElement`, `Limit`; `TokenNotAllowed` for a token that keys are derived from.
    /// Source: Username Token Profile 1.1 §3.
    pub(crate) fn read(document: &Document, element: NodeId, limits: &Limits) -> Result<UsernameToken, Refusal> {
        let mut children = Children::of(document, element);
        let user = short_text(document, children.require(WSSE, "Username")?, limits)?.into_owned();
        let (mut password, mut shown) = (Password::None, String::new());
        let (mut nonce, mut created) = (None, None);
        // The schema leaves the order of these to the sender.
        while let Some(child) = children.any()? {
            let name = document.qname(child);
            match (name.namespace, name.local) {
                (WSSE, "Password") if password == Password::None => {
                    password = kind(document, child)?;
                    // Not cut to its text: a password may begin with a space.
                    shown = text(document, child)?.into_owned();
                }
                (WSSE, "Nonce") if nonce.is_none() => nonce = Some(read_nonce(document, child)?),
                (WSU, "Created") if created.is_none() => {
                    let time = timestamp::moment(document, child, limits)?;
                    // Without the space around it: a nonce that ends with a space would otherwise be a new one
                    // without it, with the space in front of this, and the digest the same.
                    created = Some(Created { time, text: short_text(document, child, limits)?.into_owned() });
                }
                (WSSE11, "Salt" | "Iteration") => {
                    return Err(Refusal::new(Rule::TokenNotAllowed, "keys are not derived from passwords"));
                }
                (_, local) => return Err(Refusal::new(Rule::UnknownElement, format!("{local} in UsernameToken"))),
            }
        }
        if shown.len() > limits.short_text {
            return Err(Refusal::new(Rule::Limit, "a password without end"));
        }
        Ok(UsernameToken { user, password, shown, nonce, created })
    }

    /// Whether the password that is shown is this one, found out in a time that does not depend on where it differs.
    pub(crate) fn shows(&self, password: &[u8]) -> bool {
        match self.password {
            Password::None => false,
            Password::Text => same(self.shown.as_bytes(), password),
            Password::Digest => {
                let nonce = self.nonce.as_deref().unwrap_or_default();
                let created = self.created.as_ref().map_or("", |created| &created.text);
                let expected = digest(nonce, created, password);
                binary::decode_text(&self.shown, DigestMethod::Sha1.bytes())
                    .is_ok_and(|shown| same(&shown, expected.as_ref()))
            }
        }
    }
}

/// What a password's digest is: of nonce, time and password one behind the other.
///
/// Source: Username Token Profile 1.1 §3.1.
pub(crate) fn digest(nonce: &[u8], created: &str, password: &[u8]) -> Digest {
    let mut hasher = Hasher::new(DigestMethod::Sha1);
    for part in [nonce, created.as_bytes(), password] {
        hasher.update(part);
    }
    hasher.finish()
}

/// Compares digests of both, since it takes no longer where more of them is equal, nor where one is shorter.
pub(crate) fn same(one: &[u8], other: &[u8]) -> bool {
    let digest = |bytes: &[u8]| crate::crypto::digest(DigestMethod::Sha256, bytes);
    let pairs = digest(one);
    let differing = pairs.as_ref().iter().zip(digest(other).as_ref()).fold(0, |bits, (a, b)| bits | (a ^ b));
    differing == 0
}

fn kind(document: &Document, element: NodeId) -> Result<Password, Refusal> {
    let Some(uri) = document.attribute(element, "", "Type") else { return Ok(Password::Text) };
    match uri.strip_prefix(USERNAME_PROFILE) {
        Some("#PasswordText") => Ok(Password::Text),
        Some("#PasswordDigest") => Ok(Password::Digest),
        _ => Err(Refusal::new(Rule::TokenNotAllowed, format!("a password of the type {uri}"))),
    }
}

fn read_nonce(document: &Document, element: NodeId) -> Result<Vec<u8>, Refusal> {
    if let Some(encoding) = document.attribute(element, "", "EncodingType")
        && encoding.strip_prefix(MESSAGE_SECURITY) != Some("#Base64Binary")
    {
        return Err(Refusal::new(Rule::Malformed, format!("a nonce in the encoding {encoding}")));
    }
    let nonce = binary::decode(document, element, NONCE_BYTES)?;
    if nonce.is_empty() {
        return Err(Refusal::new(Rule::Malformed, "an empty nonce"));
    }
    Ok(nonce)
}

#[cfg(test)]
mod tests {
    use super::*;
    use myelin_xml::Options;

    fn token(inside: &str) -> Result<UsernameToken, Rule> {
        let text = format!("<s:UsernameToken xmlns:s='{WSSE}' xmlns:u='{WSU}'>{inside}</s:UsernameToken>");
        let document = Document::parse(text.into_bytes(), &Options::default()).expect("it is well-formed");
        let element = document.root_element().expect("it has a root");
        UsernameToken::read(&document, element, &Limits::default()).map_err(|refusal| refusal.rule)
    }

    #[test]
    fn a_password_as_text_is_compared_whole() {
        let token = token("<s:Username>al<!-- c -->ice</s:Username><s:Password> <![CDATA[p<]]>&amp;</s:Password>");
        let token = token.expect("it is one");
        assert_eq!(token.user, "alice");
        assert!(token.shows(b" p<&") && !token.shows(b" p<") && !token.shows(b"p<&") && !token.shows(b""));
    }

    #[test]
    fn a_digest_is_of_nonce_time_and_password() {
        let created = "2026-11-21T13:27:43Z";
        let mut shown = Vec::new();
        binary::encode(digest(b"nonce", created, b"secret").as_ref(), &mut shown);
        let shown = String::from_utf8(shown).expect("base64 is ASCII");
        let text = format!(
            "<s:Username>alice</s:Username><s:Password Type='{USERNAME_PROFILE}#PasswordDigest'>{shown}</s:Password>\
             <s:Nonce EncodingType='{MESSAGE_SECURITY}#Base64Binary'>bm9uY2U=</s:Nonce><u:Created>{created}</u:Created>"
        );
        let read = token(&text).expect("it is one");
        assert!(read.shows(b"secret") && !read.shows(b"other"));
        let read = token(&text.replace("bm9uY2U=", "bm9uY2V=")).err();
        assert_eq!(read, Some(Rule::Malformed), "base64 with spare bits");
    }

    /// Nonce and time are hashed one behind the other: the end of one could else become the beginning of the other, and
    /// the nonce one that was not seen before.
    #[test]
    fn a_digest_fits_one_nonce_only() {
        let created = "2026-11-21T13:27:43Z";
        let password = crate::crypto::digest(DigestMethod::Sha1, format!("nonce {created}secret").as_bytes());
        let base64 = |bytes: &[u8]| {
            let mut text = Vec::new();
            binary::encode(bytes, &mut text);
            String::from_utf8(text).expect("base64 is ASCII")
        };
        let shows = |nonce: &[u8], created: &str| {
            let text = format!(
                "<s:Username>alice</s:Username><s:Password Type='{USERNAME_PROFILE}#PasswordDigest'>{}</s:Password>\
                 <s:Nonce>{}</s:Nonce><u:Created>{created}</u:Created>",
                base64(password.as_ref()),
                base64(nonce),
            );
            token(&text).is_ok_and(|token| token.shows(b"secret"))
        };
        assert!(shows(b"nonce ", created) && shows(b"nonce ", &format!(" {created}\n")));
        assert!(!shows(b"nonce", &format!(" {created}")) && !shows(b"nonce 2", &created[1..]));
        for year in ["0", "-", "+", "00"] {
            let password = crate::crypto::digest(DigestMethod::Sha1, format!("nonce{year}{created}secret").as_bytes());
            let text = format!(
                "<s:Username>alice</s:Username><s:Password Type='{USERNAME_PROFILE}#PasswordDigest'>{}</s:Password>\
                 <s:Nonce>{}</s:Nonce><u:Created>{year}{created}</u:Created>",
                base64(password.as_ref()),
                base64(b"nonce"),
            );
            let time = token(&text).ok().and_then(|token| token.created).map(|created| created.time);
            assert_ne!(time, crate::time::parse(created), "{year}{created}");
        }
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        let name = "<s:Username>alice</s:Username>";
        for (inside, rule) in [
            (String::new(), Rule::Malformed),
            (format!("{name}{name}"), Rule::UnknownElement),
            (format!("{name}<s:Password Type='x'>p</s:Password>"), Rule::TokenNotAllowed),
            (format!("{name}<s:Password>p</s:Password><s:Password>q</s:Password>"), Rule::UnknownElement),
            (format!("{name}<s:Nonce/>"), Rule::Malformed),
            (format!("{name}<t:Salt xmlns:t='{WSSE11}'>AAAA</t:Salt>"), Rule::TokenNotAllowed),
            ("<s:Username>alice<b/></s:Username>".to_owned(), Rule::UnknownElement),
            (format!("<s:Username>{}</s:Username>", "a".repeat(2_000)), Rule::Limit),
        ] {
            assert_eq!(token(&inside).err(), Some(rule), "{inside}");
        }
    }
}
