//! `enableAddressing`: WS-Addressing between the bus and an endpoint, whatever the client speaks.
//!
//! The bus is a client of the endpoint: it says an identifier of its own, and relates the answer to the client's.

use std::future::poll_fn;

use myelin_message::{Body, HeaderId};
use myelin_soap::{Addressing, Headers};

use crate::config::{Element, Loader};
use crate::content::{Tree, poll_built, take_tree};
use crate::exchange::{Direction, Exchange, Format, Scene, action_of, write_charset};
use crate::fault::Outcome;
use crate::identity;
use crate::property::{Scope, slot};
use crate::transport::Outgoing;

/// What an endpoint is told by WS-Addressing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Addressed {
    version: Addressing,
}

/// What ties an answer to the request of the client.
#[derive(Debug)]
pub(crate) struct Related {
    /// The identifier that left.
    ours: String,
    /// The one that the client gave its request.
    theirs: String,
}

impl Addressed {
    /// Reads an `<enableAddressing>`.
    pub(crate) fn read(element: &Element, loader: &mut Loader) -> Addressed {
        let version = match element.attribute("version") {
            Some(text) => match text.value.trim() {
                "final" | "" => Addressing::Final,
                "submission" => Addressing::Submission,
                other => {
                    let message =
                        format!("version={other:?} of WS-Addressing is unknown: final and submission are known");
                    loader.problem(text.problem(message));
                    Addressing::Final
                }
            },
            None => Addressing::Final,
        };
        if let Some(text) = element.attribute("separateListener")
            && text.value.trim().eq_ignore_ascii_case("true")
        {
            loader.problem(text.problem("separateListener is not offered yet: answers come back on the connection"));
        }
        Addressed { version }
    }

    /// Writes the header blocks into a request that is SOAP; plain XML has no header and leaves as it is.
    ///
    /// Blocks that were there go, unless the property `PRESERVE_WS_ADDRESSING` is true: then only what is missing is
    /// added.
    /// Errors: the sender's, where what it sent is no XML; ours, where a text cannot stand in it.
    /// Source: WS-Addressing 1.0 SOAP binding §3.3; compare Synapse `Axis2FlexibleMEPClient`.
    pub(crate) async fn apply(
        &self,
        outgoing: &mut Outgoing,
        exchange: &Exchange,
        scene: &Scene<'_>,
    ) -> Outcome<Option<Related>> {
        if !is_soap(outgoing) {
            return Ok(None);
        }
        let is_response = exchange.direction == Direction::Response;
        let mut tree = take_tree(&mut outgoing.body, &outgoing.head, scene, is_response).await?;
        let mut related = None;
        if !tree.is_plain() {
            let came = Headers::read(tree.document(), &tree.envelope());
            let action = action_of(&exchange.properties, &outgoing.head).filter(|action| !action.is_empty());
            let is_one_way = exchange.properties.is_true(Scope::Default, slot::OUT_ONLY);
            let keeps = exchange.properties.is_true(Scope::Default, slot::PRESERVE_WS_ADDRESSING);
            let ours = format!("urn:uuid:{}", identity::new(scene.transport.now()));
            let headers = Headers {
                to: Some(outgoing.uri.to_string()),
                action: action.map(Into::into).or_else(|| came.as_ref().and_then(|(_, came)| came.action.clone())),
                message_id: Some(ours.clone()),
                reply_to: reply_to(self.version, is_one_way).map(str::to_owned),
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
            related = theirs.map(|theirs| Related { ours, theirs });
        }
        if tree.is_recoded() {
            write_charset(&mut outgoing.head, "UTF-8");
        }
        outgoing.body = Body::Built(Box::new(tree));
        Ok(related)
    }
}

impl Related {
    /// Relates an answer to the message that the client knows.
    ///
    /// Errors: the backend's, where its answer is no XML.
    pub(crate) async fn returned(&self, exchange: &mut Exchange, scene: &Scene<'_>) -> Outcome<()> {
        if !matches!(exchange.content.format, Format::Soap11 | Format::Soap12) {
            return Ok(());
        }
        poll_fn(|cx| poll_built(exchange, scene, cx)).await?;
        let tree = exchange.tree_mut()?;
        let is_meant = |(_, headers): (Addressing, Headers)| {
            headers.relates_to.iter().any(|relation| relation.message_id == self.ours)
        };
        // What is not changed leaves as it came.
        if Headers::read(tree.document(), &tree.envelope()).is_some_and(is_meant) {
            tree.change(|document, envelope| Headers::relate(document, envelope, &self.ours, &self.theirs))?;
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
        (None, Body::Wire(_) | Body::Reading(..) | Body::Bytes(_)) => {
            matches!(Format::of(outgoing.head.known(HeaderId::ContentType)), Format::Soap11 | Format::Soap12)
        }
        _ => false,
    }
}
