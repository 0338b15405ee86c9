//! Tokens: JSON Web Tokens, signed with a key that only this process has, and good as long as it knows them.
//!
//! Source: RFC 7515, RFC 7519; the store of tokens as Micro Integrator has it, from which logging out takes one.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_lc_rs::hmac;
use aws_lc_rs::rand::{SecureRandom, SystemRandom};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use serde_json::{Value, json};

/// A token longer than this was not made here.
const TOKEN_BYTES: usize = 4096;

/// What a token says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Claims {
    /// The user.
    pub(crate) subject: String,
    /// The token's own number.
    pub(crate) id: String,
    /// What the user's password was, told from others.
    pub(crate) mark: u64,
}

/// The tokens that are good.
pub(crate) struct Tokens {
    key: hmac::Key,
    limit: usize,
    /// Their numbers, when they end, and the marks of the passwords they were given for; the oldest first.
    known: Mutex<VecDeque<(String, u64, u64)>>,
}

impl Tokens {
    /// With a new key; at most so many are good at once.
    pub(crate) fn new(limit: usize) -> Tokens {
        let mut secret = [0; 32];
        // Without random numbers nothing of TLS works either, and the bus has not started.
        SystemRandom::new().fill(&mut secret).expect("the system gives random numbers");
        Tokens { key: hmac::Key::new(hmac::HMAC_SHA256, &secret), limit: limit.max(1), known: Mutex::default() }
    }

    /// A new token for a user.
    pub(crate) fn give(&self, user: &str, is_admin: bool, mark: u64, now: SystemTime, expiry: Duration) -> String {
        let now = seconds(now);
        let end = now.saturating_add(expiry.as_secs().max(1));
        let mut number = [0; 16];
        SystemRandom::new().fill(&mut number).expect("the system gives random numbers");
        let id = BASE64.encode(number);
        let scope = if is_admin { "admin" } else { "default" };
        let claims = json!({ "iss": "myelin", "sub": user, "iat": now, "exp": end, "jti": id, "scope": scope });
        let signed =
            format!("{}.{}", BASE64.encode(r#"{"alg":"HS256","typ":"JWT"}"#), BASE64.encode(claims.to_string()));
        let signature = BASE64.encode(hmac::sign(&self.key, signed.as_bytes()));
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|(_, end, _)| *end > now);
        while known.len() >= self.limit {
            known.pop_front();
        }
        known.push_back((id, end, mark));
        format!("{signed}.{signature}")
    }

    /// What a token says, if it is good.
    pub(crate) fn check(&self, token: &str, now: SystemTime) -> Option<Claims> {
        if token.len() > TOKEN_BYTES {
            return None;
        }
        let (signed, signature) = token.rsplit_once('.')?;
        let signature = BASE64.decode(signature).ok()?;
        // In constant time, and before anything of it is read: whatever algorithm its head names, this is the one.
        hmac::verify(&self.key, signed.as_bytes(), &signature).ok()?;
        let claims: Value = serde_json::from_slice(&BASE64.decode(signed.split_once('.')?.1).ok()?).ok()?;
        let text = |name: &str| claims.get(name)?.as_str().map(str::to_owned);
        if claims.get("exp")?.as_u64()? <= seconds(now) {
            return None;
        }
        let (subject, id) = (text("sub")?, text("jti")?);
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mark = known.iter().find(|(known, ..)| *known == id)?.2;
        Some(Claims { subject, id, mark })
    }

    /// Makes a token good for nothing.
    pub(crate) fn revoke(&self, id: &str) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).retain(|(known, ..)| known != id);
    }
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: SystemTime = UNIX_EPOCH;
    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn a_token_is_good_until_it_ends_is_revoked_or_is_changed() {
        let tokens = Tokens::new(2);
        let token = tokens.give("ann", true, 7, NOW, HOUR);
        let claims = tokens.check(&token, NOW).unwrap();
        assert_eq!((&*claims.subject, claims.mark), ("ann", 7));
        assert_eq!(tokens.check(&token, NOW + HOUR), None);
        for at in 0..token.len() {
            let mut changed = token.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            // The last letter of the signature has bits that say nothing.
            assert!(tokens.check(&changed, NOW).is_none() || at == token.len() - 1, "{at}");
        }
        let none = format!("{}.{}.", BASE64.encode(r#"{"alg":"none"}"#), token.split('.').nth(1).unwrap());
        assert_eq!(tokens.check(&none, NOW), None);
        assert_eq!(Tokens::new(2).check(&token, NOW), None, "another process has another key");
        tokens.revoke(&claims.id);
        assert_eq!(tokens.check(&token, NOW), None);
    }

    #[test]
    fn the_oldest_goes_where_there_are_too_many() {
        let tokens = Tokens::new(2);
        let given: Vec<String> = (0..3).map(|_| tokens.give("ann", false, 0, NOW, HOUR)).collect();
        let good: Vec<bool> = given.iter().map(|token| tokens.check(token, NOW).is_some()).collect();
        assert_eq!(good, [false, true, true]);
    }
}
