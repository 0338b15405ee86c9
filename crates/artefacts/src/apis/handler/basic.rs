//! Basic authentication: the users of the deployment, by name and password.
//!
//! Source: RFC 7617; `RESTBasicAuthHandler` of Micro Integrator, whose answers these are: 401 without credentials,
//! 403 for wrong ones.

use std::collections::HashMap;

use myelin_message::{Head, Message, StatusCode};
use myelin_wss::algorithm::DigestMethod;
use myelin_wss::crypto::{hmac, hmac_verify};

use crate::apis::handler::answer::{challenge, empty};
use crate::credentials::basic_credentials;
use myelin_flow::answer::BASIC_CHALLENGE;
use myelin_flow::settings::User;

/// Lets the users of the deployment in.
pub struct Basic {
    users: HashMap<String, User>,
}

/// Any key will do: that two keyed hashes are the same says that their texts are, in a time that says nothing else.
const KEY: &[u8] = b"passwords";

impl Basic {
    /// A handler that lets these in.
    pub fn new(users: HashMap<String, User>) -> Basic {
        Basic { users }
    }

    /// The answer to a request that does not pass.
    pub(super) fn handle(&self, head: &Head) -> Option<Message> {
        let Some((name, password)) = basic_credentials(head) else { return Some(challenge(BASIC_CHALLENGE)) };
        let user = self.users.get(&name);
        // For an unknown name the same work is done, so that the time does not tell which names there are.
        let expected = user.map_or(&[][..], |user| user.password.as_ref());
        let expected = hmac(DigestMethod::Sha256, KEY, expected);
        let is_right = hmac_verify(DigestMethod::Sha256, KEY, password.as_bytes(), expected.as_ref());
        if is_right && user.is_some() { None } else { Some(empty(StatusCode::FORBIDDEN)) }
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    #[test]
    fn users_pass_with_their_password_only() {
        let user = User { password: "open:sesame".into(), roles: Vec::new() };
        let basic = Basic::new(HashMap::from([("ann".to_owned(), user)]));
        let check = |authorization: Option<String>, expected: Option<u16>| {
            let mut head = Head::default();
            if let Some(value) = &authorization {
                head.set("Authorization", value.as_bytes()).unwrap();
            }
            let status = basic.handle(&head).map(|answer| answer.status.as_u16());
            assert_eq!(status, expected, "{authorization:?}");
        };
        let encoded = |text: &str| Some(format!("bAsic {}", STANDARD.encode(text)));
        check(encoded("ann:open:sesame"), None);
        check(encoded("ann:open"), Some(403));
        check(encoded("ann:"), Some(403));
        check(encoded("bob:"), Some(403));
        check(encoded("bob"), Some(401));
        check(Some("Basic %".to_owned()), Some(401));
        check(Some("Bearer x".to_owned()), Some(401));
        check(None, Some(401));
    }
}
