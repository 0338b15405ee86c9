//! `enableAddressing`: WS-Addressing between the bus and an endpoint, whatever the client speaks.
//!
//! The bus is a client of the endpoint: it says an identifier of its own, and relates the answer to the client's.

use std::time::Duration;

use http::StatusCode;
use myelin_message::{Body, HeaderId};
use myelin_soap::{Addressing, Headers};

use crate::endpoints::address::other_transport;
use crate::loader::Loader;
use crate::words::unknown_word;
use myelin_config::element::Element;
use myelin_content::Tree;
use myelin_content::{Content, Format, write_charset};
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::{Direction, Exchange, action_of};
use myelin_flow::fault::Outcome;
use myelin_flow::forms::{build_body, take_tree};
use myelin_flow::identity;
use myelin_flow::property::{Scope, slot};
use myelin_flow::replies::{self, PendingReply, ReplyAddresses};
use myelin_flow::transport::{Outgoing, SendError, SendErrorKind, within};

/// What an endpoint is told by WS-Addressing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Addressed {
    version: Addressing,
    /// Whether the answer is to come in on its own.
    separate: bool,
}

/// What ties an answer to the request of the client.
pub(super) struct Related {
    /// The identifier that left.
    ours: String,
    /// The one that the client gave its request.
    theirs: Option<String>,
    /// Where the answer may come in on its own: how long it may take, and who waits for it.
    awaited: Option<(Duration, PendingReply)>,
}

/// How long an answer that comes in on its own may take where nothing says it, as in the settings Synapse comes with.
const TIMEOUT: Duration = Duration::from_secs(120);

impl Addressed {
    /// Reads an `<enableAddressing>`.
    pub(super) fn read(element: &Element, loader: &mut Loader) -> Addressed {
        let version = match element.attribute("version") {
            Some(text) => match text.value.trim() {
                "final" | "" => Addressing::Final,
                "submission" => Addressing::Submission,
                other => {
                    let message = unknown_word("version", other, &["final", "submission"]);
                    loader.problem(text.problem(format!("{message} to WS-Addressing")));
                    Addressing::Final
                }
            },
            None => Addressing::Final,
        };
        let separate = element.attribute("separateListener").is_some_and(|text| match text.value.trim() {
            word if word.eq_ignore_ascii_case("true") => true,
            word => {
                if !matches!(word, "" | "false") {
                    let message = format!("separateListener={word:?} has no effect: only true and false are known");
                    loader.warning(text.problem(message));
                }
                false
            }
        });
        Addressed { version, separate }
    }

    /// Warns where an endpoint of that kind cannot do what its `<enableAddressing>` says.
    pub(super) fn check(&self, element: &Element, kind: &Element, is_plain: bool, loader: &mut Loader) {
        if is_plain {
            let message = "<enableAddressing> has no effect: the endpoint sends plain XML, which has no header";
            loader.warning(element.problem(message));
        }
        if self.separate
            && let Some(scheme) = kind.attribute("uri").and_then(|uri| other_transport(uri.value))
            && let Some(text) = element.attribute("separateListener")
        {
            let message = format!("separateListener has no effect: an address of {scheme:?} gives no answer by HTTP");
            loader.warning(text.problem(message));
        }
    }

    /// Writes the header blocks into a request that is SOAP; plain XML has no header and leaves as it is.
    ///
    /// Blocks that were there go, unless the property `PRESERVE_WS_ADDRESSING` is true: then only what is missing is
    /// added. Where the bus replaces the client's `ReplyTo`, it answers to that itself.
    /// Errors: the sender's, where what it sent is no XML; ours, where a text cannot stand in it.
    /// Source: WS-Addressing 1.0 SOAP binding §3.3; compare Synapse `Axis2FlexibleMEPClient`.
    pub(super) async fn apply(
        &self,
        outgoing: &mut Outgoing,
        exchange: &Exchange,
        context: &RequestContext<'_>,
    ) -> Outcome<Option<Related>> {
        if !is_soap(outgoing) {
            return Ok(None);
        }
        let is_response = exchange.direction == Direction::Response;
        let content = Content::of(&outgoing.head);
        let mut tree = take_tree(&mut outgoing.head, &mut outgoing.body, &content, context, is_response).await?;
        let mut related = None;
        if !tree.is_plain() {
            let came = Headers::read(tree.document(), &tree.envelope());
            let action = action_of(&exchange.properties, &outgoing.head).filter(|action| !action.is_empty());
            let is_one_way = exchange.properties.is_true(Scope::Default, slot::OUT_ONLY);
            let keeps = exchange.properties.is_true(Scope::Default, slot::PRESERVE_WS_ADDRESSING);
            let hosts = &context.definitions.settings.security.reply_hosts;
            if let Some((version, came)) = came.as_ref().filter(|_| !keeps && !is_response && !exchange.called)
                && let Some(addresses) =
                    ReplyAddresses::of(*version, came, context.arrival.peer.map(|peer| peer.ip()), hosts)?
            {
                // Already set where the same request went to another endpoint before, to the same addresses.
                let _ = exchange.reply_addresses.set(Box::new(addresses));
            }
            let is_separate = self.separate && !is_one_way && !keeps;
            let ours = match is_separate {
                true => format!("urn:myelin:{}", identity::secret()?),
                false => format!("urn:uuid:{}", identity::new()),
            };
            let listener = is_separate.then(|| listener(context)).flatten();
            let awaited = listener.is_some().then(|| {
                let time = outgoing.timeout.unwrap_or(TIMEOUT);
                (time, context.definitions.settings.replies.wait(ours.clone()))
            });
            let headers = Headers {
                to: Some(outgoing.address.to_string()),
                action: action.map(Into::into).or_else(|| came.as_ref().and_then(|(_, came)| came.action.clone())),
                message_id: Some(ours.clone()),
                reply_to: listener.or_else(|| reply_to(self.version, is_one_way).map(str::to_owned)),
                ..Headers::default()
            };
            tree.change(|document, envelope| match &came {
                Some((version, came)) if keeps => missing(headers, came).write(*version, document, envelope),
                _ => {
                    Headers::remove(document, envelope);
                    headers.write(self.version, document, envelope)
                }
            })?;
            let theirs = came.filter(|_| !keeps).and_then(|(_, came)| came.message_id);
            let is_awaited = theirs.is_some() || awaited.is_some();
            related = is_awaited.then_some(Related { ours, theirs, awaited });
        }
        if tree.is_recoded() {
            write_charset(&mut outgoing.head, "UTF-8");
        }
        outgoing.body = Body::Built(Box::new(tree));
        Ok(related)
    }
}

impl Related {
    /// Waits for an answer that comes in on its own, and relates it to the message that the client knows.
    ///
    /// Errors: the backend's, where its answer is no XML, or does not come (101504).
    pub(super) async fn returned(&self, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<()> {
        if let Some((time, awaited)) = &self.awaited
            && exchange.message.status == StatusCode::ACCEPTED
        {
            match within(context.transport, *time, awaited.received()).await {
                Some(message) => exchange.set_response(message),
                None => {
                    let message = "the answer did not come to the separate listener in time".to_owned();
                    return Err(SendError { kind: SendErrorKind::ResponseTimeout, message }.into());
                }
            }
        }
        let Some(theirs) = &self.theirs else { return Ok(()) };
        if !matches!(exchange.content.format, Format::Soap11 | Format::Soap12) {
            return Ok(());
        }
        build_body(exchange, context).await?;
        let tree = exchange.tree_mut()?;
        let is_meant = |(_, headers): (Addressing, Headers)| {
            headers.relates_to.iter().any(|relation| relation.message_id == self.ours)
        };
        // What is not changed leaves as it came.
        if Headers::read(tree.document(), &tree.envelope()).is_some_and(is_meant) {
            tree.change(|document, envelope| Headers::relate(document, envelope, &self.ours, theirs))?;
        }
        Ok(())
    }
}

/// Where the answer is to go: back on the connection, which WS-Addressing 1.0 need not say; or nowhere.
fn reply_to(version: Addressing, is_one_way: bool) -> Option<&'static str> {
    match (version, is_one_way) {
        (_, true) => version.none(),
        (Addressing::Submission, false) => Some(version.anonymous()),
        (Addressing::Final, false) => None,
    }
}

/// The address of this bus to which answers may come; one that the operator said, else where the client came in.
fn listener(context: &RequestContext<'_>) -> Option<String> {
    let [http, https] = context.definitions.settings.addresses.bases(None, &context.arrival);
    Some(http.or(https)? + replies::SERVICE)
}

/// What the message does not say itself.
fn missing(ours: Headers, came: &Headers) -> Headers {
    let unless = |said: &Option<String>, ours: Option<String>| if said.is_some() { None } else { ours };
    Headers {
        to: unless(&came.to, ours.to),
        action: unless(&came.action, ours.action),
        message_id: unless(&came.message_id, ours.message_id),
        reply_to: unless(&came.reply_to, ours.reply_to),
        ..Headers::default()
    }
}

fn is_soap(outgoing: &Outgoing) -> bool {
    match (outgoing.body.built::<Tree>(), &outgoing.body) {
        (Some(tree), _) => !tree.is_plain(),
        (None, Body::Wire(_) | Body::Reading(..) | Body::Bytes(_) | Body::Shared(_)) => {
            matches!(Format::of(outgoing.head.known(HeaderId::ContentType)), Format::Soap11 | Format::Soap12)
        }
        _ => false,
    }
}
