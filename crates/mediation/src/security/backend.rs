//! At an endpoint: requests are secured before they leave, and answers verified before anybody sees them.

use http::{StatusCode, Uri};
use myelin_message::Body;
use myelin_soap::Envelope;
use myelin_wss::guard::{Arrival, Conversation, Departure};
use myelin_xml::Document;

use super::{Protection, apart, is_empty, properties, put_secured, take_envelope, xml_options};
use crate::content::{Tree, bring_built};
use crate::exchange::{Exchange, Scene};
use crate::fault::{Fault, Outcome};
use crate::property::Scope;
use crate::transport::Outgoing;

/// How much of a fault that nobody verified goes into the log.
const TOLD_CHARACTERS: usize = 200;

/// What is known of a request when its answer comes.
pub(crate) struct Departed {
    conversation: Option<Conversation>,
    tls: bool,
}

impl Protection {
    /// Secures a request.
    ///
    /// Errors: ours, save for a body that its sender did not send whole; nothing has left then.
    pub(crate) async fn depart(
        &self,
        outgoing: &mut Outgoing,
        scene: &Scene<'_>,
        is_response: bool,
    ) -> Outcome<Departed> {
        let tls = is_https(&outgoing.uri);
        let Some(way) = self.request.clone() else { return Ok(Departed { conversation: None, tls }) };
        if way.tls && !tls {
            let detail = format!("the policy asks for TLS, and {} has none", outgoing.uri);
            return Err(Fault::bus("The request cannot be secured").with_detail(detail));
        }
        let document = take_envelope(&mut outgoing.body, &outgoing.head, scene, is_response).await?;
        let now = scene.transport.now();
        let work = move || way.guard.secure(document, &Departure { now, conversation: None });
        let secured = apart::run(scene, work).await?;
        let secured =
            secured.map_err(|error| Fault::bus("The request cannot be secured").with_detail(error.to_string()))?;
        put_secured(secured.bytes, &mut outgoing.body, &mut outgoing.head);
        Ok(Departed { conversation: Some(secured.conversation), tls })
    }

    /// Verifies an answer, which has become the exchange's message.
    ///
    /// Errors: the backend's; the message's body is gone then, so that no fault sequence can pass it on.
    pub(crate) async fn returned(&self, exchange: &mut Exchange, scene: &Scene<'_>, departed: Departed) -> Outcome<()> {
        let Some(way) = self.response.clone() else { return Ok(()) };
        // What was only accepted has no answer (SOAP 1.2 part 2 §7.5.1.2).
        if exchange.message.status == StatusCode::ACCEPTED && is_empty(&mut exchange.message.body, scene, true).await? {
            return Ok(());
        }
        let built = bring_built(exchange, scene).await;
        let document = exchange.tree_mut().ok().and_then(Tree::take_envelope);
        exchange.message.body = Body::Gone;
        built?;
        let document = document.ok_or_else(|| Fault::refused_answer("it is no SOAP envelope"))?;
        let told = unverified_fault(&document);
        let Departed { conversation, tls } = departed;
        let (now, replays) = (scene.transport.now(), scene.bus.settings.security.replays.clone());
        let work = move || {
            let (conversation, xml) = (conversation.as_ref(), &xml_options());
            let arrival = Arrival { now, tls, client_certificate: false, replays: &replays, conversation, xml };
            way.guard.verify(document, &arrival)
        };
        match apart::run(scene, work).await? {
            Ok(verified) => {
                properties::put(&mut exchange.properties, Scope::Axis2, &verified.findings);
                exchange.message.body = Body::Built(Box::new(Tree::changed(verified.document)));
                exchange.set_charset("UTF-8");
                Ok(())
            }
            Err(refusal) => {
                let told = told.map(|told| format!("; what it says, which nobody vouches for: {told:?}"));
                Err(Fault::refused_answer(format!("{refusal}{}", told.unwrap_or_default())))
            }
        }
    }
}

fn is_https(uri: &Uri) -> bool {
    uri.scheme_str() == Some("https")
}

/// What a fault says: most backends send theirs about security without any.
fn unverified_fault(document: &Document) -> Option<String> {
    let fault = Envelope::of(document)?.payload(document)?;
    if document.qname(fault).local != "Fault" {
        return None;
    }
    let words = document.string_value(fault);
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(words.chars().take(TOLD_CHARACTERS).collect())
}
