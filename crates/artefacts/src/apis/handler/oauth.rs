//! OAuth 2 access tokens that are signed: who may come in is what their issuer says, and its keys are at an address.
//!
//! Source: RFC 9068 (JWT access tokens), RFC 7515 (JWS), RFC 7517 (JWK); `OAuth2AuthorizationHandler` of Micro
//! Integrator, which demands the same claims.

mod keys;
mod token;

use std::time::Duration;

use http::Uri;
use myelin_message::{Head, Message, StatusCode};

pub use token::{Algorithm, Rules};

use crate::apis::handler::answer::{challenge, empty};
use crate::apis::handler::oauth::keys::{KeySet, KeysError};
use crate::apis::handler::oauth::token::{Refusal, Token};
use crate::credentials::credentials;
use myelin_flow::transport::Transport;

/// Tokens longer than this are refused unread.
const TOKEN_LIMIT_BYTES: usize = 16 * 1024;

/// Lets in who brings a token of a trusted issuer.
pub struct OAuth {
    /// What a token must say.
    pub rules: Rules,
    /// The header that the token is in.
    pub header: String,
    /// Whether that header stays here.
    pub remove_header: bool,
    keys: KeySet,
}

impl OAuth {
    /// A handler that fetches keys from there, waiting so long for them at most.
    pub fn new(rules: Rules, header: String, remove_header: bool, keys: Uri, timeout: Duration) -> OAuth {
        OAuth { rules, header, remove_header, keys: KeySet::new(keys, timeout) }
    }

    /// The answer to a request that does not pass.
    pub(super) async fn handle(
        &self,
        head: &Head,
        transport: &dyn Transport,
        spent: &mut Vec<String>,
    ) -> Option<Message> {
        if self.remove_header {
            spent.push(self.header.clone());
        }
        let Err(refusal) = self.check(head, transport).await else { return None };
        match &refusal {
            Refusal::NoToken => Some(challenge("Bearer realm=\"Myelin\"")),
            Refusal::Keys(message) => {
                tracing::error!(target: "myelin::oauth", "{message}");
                Some(empty(StatusCode::SERVICE_UNAVAILABLE))
            }
            Refusal::Token(reason) => {
                tracing::warn!(target: "myelin::oauth", "a token was refused: {reason}");
                Some(challenge(
                    "Bearer realm=\"Myelin\", error=\"invalid_token\", error_description=\"The provided token is invalid\"",
                ))
            }
            Refusal::Audience => Some(empty(StatusCode::FORBIDDEN)),
        }
    }

    async fn check(&self, head: &Head, transport: &dyn Transport) -> Result<(), Refusal> {
        let text = credentials(head, &self.header, "Bearer").ok_or(Refusal::NoToken)?;
        if text.len() > TOKEN_LIMIT_BYTES {
            return Err(Refusal::Token("it is too long"));
        }
        let token = Token::parse(text)?;
        let now = transport.now();
        // All that costs nothing comes before the signature, and before anybody is asked for keys.
        let algorithm = self.rules.check(&token, now)?;
        match self.keys.find(&token, algorithm, transport).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(Refusal::Token("its signature is not one of its issuer")),
            Err(KeysError(message)) => Err(Refusal::Keys(message)),
        }
    }
}
