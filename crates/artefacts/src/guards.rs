//! WS-Security where a configuration asks for it: a guard at a proxy faces the client, one at an endpoint the backend.
//!
//! Guards are compiled when the configuration is loaded and shared by all threads.
//! A message that was verified goes on as a tree without its `Security` header, decrypted; nobody behind the guard
//! sees what was not verified.

mod backend;
pub mod build;
mod properties;
mod proxy;
mod work;
pub use build::endpoint;

use std::sync::Arc;

use myelin_message::{Body, Head};
use myelin_wss::Guard;
use myelin_wss::policy::{Binding, Policy};
use myelin_xml::{Arena, DeclaredEncoding, Document, Options};

pub use backend::SentState;
pub use proxy::{Operation, ProxySecurity};

use myelin_content::{Tree, charset, coding, memory, write_charset};
use myelin_flow::context::RequestContext;
use myelin_flow::fault::{Fault, Outcome};

/// A compiled policy.
#[derive(Clone)]
pub struct CompiledPolicy {
    /// What protects the messages.
    pub guard: Arc<Guard>,
    /// Whether what is sent is protected by TLS alone.
    pub tls: bool,
}

/// What protects requests, and what protects their responses; either may be missing.
#[derive(Clone, Default)]
pub struct Protection {
    /// For requests.
    pub request: Option<CompiledPolicy>,
    /// For responses.
    pub response: Option<CompiledPolicy>,
}

impl CompiledPolicy {
    /// A guard, with what is to be known of its policy here.
    pub fn new(guard: Guard, tls: bool) -> CompiledPolicy {
        CompiledPolicy { guard: Arc::new(guard), tls }
    }
}

/// Whether messages that are sent under a policy are protected by TLS alone.
pub fn needs_tls(policy: &Policy) -> bool {
    policy.alternatives.first().is_some_and(|first| matches!(first.binding, Binding::Transport { .. }))
}

/// How the parser reads what was decrypted: within the usual limits, whatever encoding an XML declaration names, as
/// all text here is in UTF-8 already.
fn xml_options() -> Options {
    Options { declared_encoding: DeclaredEncoding::Any, ..Options::default() }
}

/// Whether there is nothing in a body, which is read where nobody did.
///
/// Errors: whoever's it is that the body cannot be read; it is gone then.
async fn is_empty(body: &mut Body, context: &RequestContext<'_>, is_response: bool) -> Outcome<bool> {
    if let Some(tree) = body.built::<Tree>() {
        return Ok(tree.is_empty());
    }
    let read = body.bytes(context.definitions.settings.body_limit_bytes).await.map(<[u8]>::is_empty);
    read.map_err(|error| Fault::body(&error, is_response))
}

/// Takes the envelope out of a message that is to be secured; reads it where nobody did.
///
/// Errors: whoever's it is that the body cannot be read; ours where it is no SOAP envelope. The body is gone then.
async fn take_envelope(
    body: &mut Body,
    head: &mut Head,
    context: &RequestContext<'_>,
    is_response: bool,
) -> Outcome<Document> {
    let is_no_envelope = || Fault::bus("What is to be secured is no SOAP message");
    if body.built::<Tree>().is_none() {
        coding::decode_message(head, body, context.definitions.settings.body_limit_bytes);
        if is_empty(body, context, is_response).await? {
            return Err(is_no_envelope());
        }
        let Body::Bytes(bytes) = std::mem::replace(body, Body::Gone) else { return Err(is_no_envelope()) };
        let tree = Tree::read(bytes, charset(head).as_deref());
        let tree = tree.map_err(|(error, _)| is_no_envelope().with_detail(format!("not well-formed XML: {error}")))?;
        *body = Body::Built(Box::new(tree));
    }
    let document = body.built_mut::<Tree>().and_then(Tree::take_envelope);
    *body = Body::Gone;
    document.ok_or_else(is_no_envelope)
}

/// Puts the secured envelope, which is in UTF-8, into its message; the memory of its tree is used again.
fn put_secured(bytes: Vec<u8>, tree: Arena, body: &mut Body, head: &mut Head) {
    memory::keep_arena(tree);
    *body = Body::Bytes(bytes);
    if charset(head).is_some_and(|charset| charset != "UTF-8") {
        write_charset(head, "UTF-8");
    }
}
