//! Which names are those of secrets.

use std::borrow::Cow;

use myelin_spelling::nearest;

/// A name that holds one of these, without case and punctuation, is that of a secret.
const PARTS: &[&str] = &[
    "accesskey",
    "apikey",
    "authkey",
    "authorization",
    "authtoken",
    "cookie",
    "credential",
    "cvv",
    "functionskey",
    "internalkey",
    "jsessionid",
    "jwtassertion",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "pwd",
    "secret",
    "sessionid",
    "subscriptionkey",
    "token",
];

/// These do, and are none: what is inside is looked at by itself.
const HARMLESS: &[&str] = &[
    "completiontokens",
    "maxtokens",
    "prompttokens",
    "requestsecuritytoken",
    "requestsecuritytokenresponse",
    "securitytokenreference",
    "tokenendpoint",
    "tokentype",
    "tokenurl",
    "totaltokens",
    "usernametoken",
];

/// Words that a misspelt name of a secret is close to.
const WORDS: &[&str] =
    &["authorization", "credential", "credentials", "passphrase", "passwd", "password", "secret", "token"];

/// Names are not longer than this, in bytes.
pub(crate) const LONGEST_BYTES: usize = 128;

/// The kind of a text decides which names count as those of secrets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Text {
    /// A file that a person wrote: names may be misspelt, and values may say where a secret is.
    Configuration,
    /// What a program sends: names are what they are.
    Message,
}

impl Text {
    pub(crate) fn is_secret(self, name: &str) -> bool {
        match self {
            Text::Configuration => is_like_secret_name(name),
            Text::Message => is_secret_name(name),
        }
    }
}

/// Whether what has that name is a secret: a header, a property, an element, an attribute, a member, a parameter.
/// Percent signs do not hide it.
pub fn is_secret_name(name: &str) -> bool {
    plain(name).is_some_and(|plain| is_secret(&plain))
}

/// Whether a name is one that secrets have, or one that somebody meant to be so and misspelt.
pub(crate) fn is_like_secret_name(name: &str) -> bool {
    let Some(plain) = plain(name) else { return false };
    let is_misspelt = || words(name).any(|word| nearest(&word, WORDS.iter().copied()).is_some());
    is_secret(&plain) || plain.ends_with("pass") || (!HARMLESS.contains(&plain.as_str()) && is_misspelt())
}

/// A name without case and punctuation; `None` for what is too long to be one.
fn plain(name: &str) -> Option<String> {
    let name = if name.contains('%') { decoded(name).into() } else { Cow::Borrowed(name) };
    let letters = || name.chars().filter(|it| it.is_alphanumeric()).flat_map(char::to_lowercase);
    (name.len() <= LONGEST_BYTES).then(|| letters().collect())
}

fn is_secret(plain: &str) -> bool {
    PARTS.iter().any(|part| plain.contains(part)) && !HARMLESS.contains(&plain)
}

/// The words that a name consists of: `trustPasswrd` is `trust` and `passwrd`.
fn words(name: &str) -> impl Iterator<Item = String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for character in name.chars() {
        if !character.is_alphanumeric() || (character.is_uppercase() && was_small) {
            words.push(String::new());
        }
        was_small = character.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| character.is_alphanumeric()) {
            word.extend(character.to_lowercase());
        }
    }
    words.into_iter().filter(|word| word.len() > 2)
}

/// A name without its percent signs (RFC 3986 §2.1); what is no such sign stays.
fn decoded(name: &str) -> String {
    let (mut out, mut rest) = (Vec::new(), name.as_bytes());
    while let Some((&first, behind)) = rest.split_first() {
        let digits = behind.get(..2).filter(|_| first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(byte) = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            out.push(byte);
            rest = &behind[2..];
        } else {
            out.push(first);
            rest = behind;
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
