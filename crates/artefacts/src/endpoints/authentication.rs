//! `authentication`: how the bus says to an endpoint who it is, by a password or by a token of OAuth 2.

mod grant;
mod tokens;
mod value;

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use myelin_message::{Body, Head};

use crate::endpoints::authentication::grant::{Grant, TokenRequest};
use crate::endpoints::authentication::tokens::Tokens;
use crate::endpoints::authentication::value::{Value, basic};
use crate::loader::Loader;
use myelin_config::element::Element;
use myelin_config::problem::Problem;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::forms::is_within;
use myelin_flow::transport::{self, Address, Manner, Method, Outgoing};

/// How an endpoint is told who the bus is.
pub(super) enum Authentication {
    Basic { username: Value, password: Value },
    OAuth { grant: Box<Grant>, tokens: Arc<Tokens> },
}

/// What was worked out for one message.
pub(super) enum Credentials {
    /// What the header line says.
    Basic(String),
    Token(Box<TokenRequest>),
}

/// What is needed to send a request once more with another token.
pub(super) struct Again {
    request: Box<TokenRequest>,
    /// The token that was used.
    token: Arc<str>,
    method: Method,
    address: Address,
    head: Head,
    body: Vec<u8>,
    timeout: Option<Duration>,
    host: Option<String>,
    manner: Manner,
}

/// Bodies of requests up to here are kept until the answer has come, to be sent once more with another token.
const REPLAYED_BYTES: u64 = 1 << 20;

impl Authentication {
    /// Reads an `<authentication>`.
    pub(super) fn read(element: &Element, loader: &mut Loader) -> Result<Authentication, Problem> {
        let mut children = element.children.iter().filter(|child| !child.is("description"));
        let (Some(kind), None) = (children.next(), children.next()) else {
            return Err(element.problem("<authentication> holds either <basicAuth> or <oauth>"));
        };
        match kind.name.as_str() {
            "basicAuth" => Ok(Authentication::Basic {
                username: Value::of_child(kind, "username", loader)?,
                password: Value::of_child(kind, "password", loader)?,
            }),
            "oauth" => {
                let grant = Box::new(Grant::read(kind, loader)?);
                let tokens = loader.inherit("tokens", kind.source().to_owned(), |_| true, Tokens::default);
                Ok(Authentication::OAuth { grant, tokens })
            }
            _ => {
                let message = format!("{} is no way to authenticate: basicAuth and oauth are", kind.tag());
                Err(kind.misnamed(message, &["basicAuth", "oauth"]))
            }
        }
    }

    /// Works out for a message what is to be said; before it leaves, for expressions look at it.
    pub(super) fn work_out(&self, exchange: &Exchange, context: &RequestContext<'_>) -> Outcome<Credentials> {
        match self {
            Authentication::Basic { username, password } => {
                let (username, password) = (username.text(exchange, context)?, password.text(exchange, context)?);
                Ok(Credentials::Basic(basic(&username, &password)))
            }
            Authentication::OAuth { grant, .. } => {
                grant.work_out(exchange, context).map(|request| Credentials::Token(Box::new(request)))
            }
        }
    }

    /// Writes into a request who the bus is; what is needed to say it again, where a token may turn out to be stale.
    ///
    /// Errors: 303003, where no token can be had.
    pub(super) async fn apply(
        &self,
        credentials: Credentials,
        outgoing: &mut Outgoing,
        context: &RequestContext<'_>,
        is_response: bool,
    ) -> Outcome<Option<Again>> {
        let request = match (self, credentials) {
            (_, Credentials::Basic(line)) => {
                outgoing.head.set("Authorization", line.as_bytes())?;
                return Ok(None);
            }
            (_, Credentials::Token(request)) => request,
        };
        let Authentication::OAuth { tokens, .. } = self else { return Ok(None) };
        let token = tokens.get(&request, context).await?;
        outgoing.head.set("Authorization", format!("Bearer {token}").as_bytes())?;
        // What is large goes through unread, and is not sent twice.
        if !is_within(&mut outgoing.body, REPLAYED_BYTES, is_response).await? {
            return Ok(None);
        }
        let body = outgoing.body.bytes(REPLAYED_BYTES).await.map(<[u8]>::to_vec);
        let body = body.map_err(|error| Fault::body(&error, is_response))?;
        let Outgoing { method, address, head, timeout, host, manner, .. } = &*outgoing;
        let (method, address, head, host) = (method.clone(), address.clone(), head.clone(), host.clone());
        Ok(Some(Again { request, token, method, address, head, body, timeout: *timeout, host, manner: *manner }))
    }

    /// Sends a request once more with a new token, where the answer says that the one it had is not good.
    ///
    /// Errors: 303003, where no token can be had; the backend's.
    pub(super) async fn returned(
        &self,
        exchange: &mut Exchange,
        context: &RequestContext<'_>,
        again: Again,
    ) -> Outcome<()> {
        let Authentication::OAuth { tokens, .. } = self else { return Ok(()) };
        if exchange.message.status != StatusCode::UNAUTHORIZED {
            return Ok(());
        }
        let Again { request, token, method, address, mut head, body, timeout, host, manner } = again;
        tokens.forget(&request, &token);
        let token = tokens.get(&request, context).await?;
        head.set("Authorization", format!("Bearer {token}").as_bytes())?;
        let body = if body.is_empty() { Body::Empty } else { Body::Bytes(body) };
        let outgoing = Outgoing { method, address, head, body, timeout, host, manner };
        let response = transport::ask(context.transport, outgoing).await?;
        exchange.set_response(response);
        Ok(())
    }
}
