//! What stands before the resources of an API: CORS, passwords, tokens.
//!
//! In Synapse these are Java classes; the three that Micro Integrator brings along are known here by their names.

mod basic;
pub(super) mod build;
mod cors;
mod oauth;

use myelin_message::{Body, Head, Message, StatusCode};

pub use basic::Basic;
pub use cors::Cors;
pub use oauth::{Algorithm, OAuth, Rules};

use crate::apis::{Api, Visit};
use myelin_flow::transport::Transport;

/// A handler of an API.
pub enum Handler {
    Cors(Cors),
    Basic(Basic),
    OAuth(Box<OAuth>),
}

/// What the handlers leave to be done.
#[derive(Debug, Default)]
pub struct Passed {
    /// Header lines for the answer, whoever gives it.
    pub lines: Vec<(&'static str, String)>,
    /// Headers of the request that nobody behind the handlers is to see.
    pub spent: Vec<String>,
}

impl Passed {
    /// Adds to an answer what the handlers have to say.
    pub fn finish(&self, mut answer: Message) -> Message {
        for (name, value) in &self.lines {
            // Values come from the configuration, which was checked, and from header lines that came in.
            let _ = match *name {
                "Vary" => answer.head.append(name, value.as_bytes()),
                _ => answer.head.set(name, value.as_bytes()),
            };
        }
        answer
    }
}

/// Takes a request through the handlers of an API.
///
/// Errors: the answer of the handler that does not let it pass.
pub(super) async fn pass(
    api: &Api,
    head: &Head,
    visit: &Visit<'_>,
    transport: &dyn Transport,
    passed: &mut Passed,
) -> Result<(), Box<Message>> {
    for handler in &api.handlers {
        let refused = match handler {
            Handler::Cors(cors) => cors.handle(api, head, visit, &mut passed.lines),
            Handler::Basic(basic) => basic.handle(head),
            Handler::OAuth(oauth) => oauth.handle(head, transport, &mut passed.spent).await,
        };
        if let Some(answer) = refused {
            return Err(Box::new(answer));
        }
    }
    Ok(())
}

/// An answer without a body.
pub(super) fn empty(status: StatusCode) -> Message {
    Message::answer(status, Body::Empty)
}

/// The same with a challenge to authenticate (RFC 9110 §11.6.1).
fn challenge(value: &str) -> Message {
    let mut answer = empty(StatusCode::UNAUTHORIZED);
    answer.head.set("WWW-Authenticate", value.as_bytes()).expect("our own challenges are valid header values");
    answer
}

/// The credentials of a scheme in a header like `Authorization`, where there are some.
fn credentials<'a>(head: &'a Head, header: &str, scheme: &str) -> Option<&'a str> {
    let value = std::str::from_utf8(head.first(header)?).ok()?;
    let (name, rest) = value.trim().split_once(' ')?;
    name.eq_ignore_ascii_case(scheme).then(|| rest.trim())
}
