//! What stands before the resources of an API: CORS, passwords, tokens.
//!
//! In Synapse these are Java classes; the three that Micro Integrator brings along are known here by their names.

mod answer;
mod basic;
pub(super) mod build;
mod cors;
mod oauth;

use myelin_message::{Head, Message};

pub(super) use answer::empty;
pub use basic::Basic;
pub use cors::Cors;
pub use oauth::{Algorithm, OAuth, Rules};

use crate::apis::resources::Resources;
use crate::apis::visit::Visit;
use myelin_flow::transport::Transport;

/// A handler of an API.
pub enum Handler {
    /// Answers browsers that ask for other origins.
    Cors(Cors),
    /// Asks for a user and a password.
    Basic(Basic),
    /// Asks for a token.
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
    handlers: &[Handler],
    resources: &Resources,
    head: &Head,
    visit: &Visit<'_>,
    transport: &dyn Transport,
    passed: &mut Passed,
) -> Result<(), Box<Message>> {
    for handler in handlers {
        let refused = match handler {
            Handler::Cors(cors) => cors.handle(resources, head, visit, &mut passed.lines),
            Handler::Basic(basic) => basic.handle(head),
            Handler::OAuth(oauth) => oauth.handle(head, transport, &mut passed.spent).await,
        };
        if let Some(answer) = refused {
            return Err(Box::new(answer));
        }
    }
    Ok(())
}
