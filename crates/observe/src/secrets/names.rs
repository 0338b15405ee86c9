//! Which names are those of secrets.

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
    "jsessionid",
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

/// Names are not longer than this.
const LONGEST_BYTES: usize = 128;

/// Whether what has that name is a secret: a header, a property, an element, an attribute, a member, a parameter.
pub fn is_secret_name(name: &str) -> bool {
    if name.len() > LONGEST_BYTES {
        return false;
    }
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    PARTS.iter().any(|part| plain.contains(part)) && !HARMLESS.contains(&plain.as_str())
}
