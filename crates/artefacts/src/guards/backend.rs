//! At an endpoint: requests are secured before they leave, and answers verified before anybody sees them.

use http::StatusCode;
use myelin_message::Body;
use myelin_soap::Envelope;
use myelin_wss::guard::{Arrival, Conversation, Departure};
use myelin_xml::Document;

use crate::guards::{Protection, is_empty, properties, put_secured, take_envelope, work, xml_options};
use myelin_content::Tree;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::forms::build_body;
use myelin_flow::property::Scope;
use myelin_flow::transport::Outgoing;

/// How much of a fault that nobody verified goes into the log.
const TOLD_CHARACTERS: usize = 200;

/// What is known of a request when its answer comes.
pub struct SentState {
    conversation: Option<Conversation>,
    tls: bool,
}

impl Protection {
    /// Secures a request.
    ///
    /// Errors: ours, save for a body that its sender did not send whole; nothing has left then.
    pub async fn depart(
        &self,
        outgoing: &mut Outgoing,
        context: &RequestContext<'_>,
        is_response: bool,
    ) -> Outcome<SentState> {
        let tls = outgoing.address.scheme() == "https";
        let Some(way) = self.request.clone() else { return Ok(SentState { conversation: None, tls }) };
        if way.tls && !tls {
            let detail = format!("the policy asks for TLS, and {} has none", outgoing.address);
            return Err(Fault::bus("The request cannot be secured").with_detail(detail));
        }
        let document = take_envelope(&mut outgoing.body, &mut outgoing.head, context, is_response).await?;
        let now = context.transport.now();
        let work = move || way.guard.secure(document, &Departure { now, conversation: None });
        let secured = work::run(context, work).await?;
        let secured =
            secured.map_err(|error| Fault::bus("The request cannot be secured").with_detail(error.to_string()))?;
        put_secured(secured.bytes, secured.arena, &mut outgoing.body, &mut outgoing.head);
        Ok(SentState { conversation: Some(secured.conversation), tls })
    }

    /// Verifies an answer, which has become the exchange's message.
    ///
    /// Errors: the backend's; the message's body is gone then, so that no fault sequence can pass it on.
    pub async fn returned(
        &self,
        exchange: &mut Exchange,
        context: &RequestContext<'_>,
        departed: SentState,
    ) -> Outcome<()> {
        let Some(way) = self.response.clone() else { return Ok(()) };
        // What was only accepted has no answer (SOAP 1.2 part 2 §7.5.1.2).
        if exchange.message.status == StatusCode::ACCEPTED
            && is_empty(&mut exchange.message.body, context, true).await?
        {
            return Ok(());
        }
        let built = build_body(exchange, context).await;
        let document = exchange.tree_mut().ok().and_then(Tree::take_envelope);
        exchange.message.body = Body::Gone;
        built?;
        let document = document.ok_or_else(|| Fault::refused_answer("it is no SOAP envelope"))?;
        let told = unverified_fault(&document);
        let SentState { conversation, tls } = departed;
        let (now, replays) = (context.transport.now(), context.definitions.settings.security.replays.clone());
        let work = move || {
            let (conversation, xml) = (conversation.as_ref(), &xml_options());
            let arrival = Arrival { now, tls, client_certificate: false, replays: &replays, conversation, xml };
            way.guard.verify(document, &arrival)
        };
        match work::run(context, work).await? {
            Ok(verified) => {
                properties::put(&mut exchange.properties, Scope::Axis2, &verified.findings);
                exchange.message.body = Body::Built(Box::new(Tree::from_document(verified.document)));
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
