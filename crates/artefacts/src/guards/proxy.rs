//! At a proxy: requests are verified before any sequence runs, and answers secured before they leave.
//!
//! Source: Axis2 chooses a message's policy by its operation, before Apache Rampart verifies it.

use myelin_message::{Body, Message};
use myelin_soap::Envelope;
use myelin_wss::guard::{Arrival, Conversation, Departure};
use myelin_wss::vocabulary::{WSSE, XENC};
use myelin_wss::{Refusal, Rule};
use myelin_xml::{Document, NodeId};

use crate::credentials::basic_credentials;
use crate::guards::{Protection, is_empty, properties, put_secured, take_envelope, work, xml_options};
use myelin_content::{Format, Tree};
use myelin_flow::answer;
use myelin_flow::context::RequestContext;
use myelin_flow::exchange::Exchange;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::forms::build_body;
use myelin_flow::property::Scope;

/// What protects the messages of a proxy.
pub struct ProxySecurity {
    /// Of all other operations.
    pub general: Protection,
    /// The operations that have policies of their own.
    pub operations: Vec<Operation>,
}

/// What protects the messages of one operation, both ways.
pub struct Operation {
    /// The local name of the operation's element.
    pub local: String,
    /// `None`: any.
    pub namespace: Option<String>,
    /// What protects its messages, both ways.
    pub protection: Protection,
}

/// A request that was let in.
pub struct Admitted<'a> {
    protection: &'a Protection,
    conversation: Option<Conversation>,
}

impl ProxySecurity {
    /// Verifies the exchange's message.
    ///
    /// Errors: the client's; the message's body is gone then.
    pub async fn admit<'a>(&'a self, exchange: &mut Exchange, context: &RequestContext<'_>) -> Outcome<Admitted<'a>> {
        let mut all = self.operations.iter().map(|operation| &operation.protection).chain([&self.general]);
        let is_verified = all.any(|protection| protection.request.is_some());
        let unverified = Admitted { protection: &self.general, conversation: None };
        if !is_verified && self.operations.is_empty() {
            return Ok(unverified);
        }
        if let Some(admitted) = self.admit_by_password(exchange, context).await? {
            return Ok(admitted);
        }
        build_body(exchange, context).await?;
        match exchange.tree() {
            Ok(tree) if !tree.is_plain() => {}
            _ if is_verified => return Err(refused(Rule::NotAnEnvelope, "the policy is about SOAP messages")),
            _ => return Ok(unverified),
        }
        let chosen = self.chosen(exchange);
        let protection = self.protection(chosen);
        let is_hidden = exchange.tree().is_ok_and(|tree| is_hidden(tree.document()));
        let conversation = match &protection.request {
            Some(_) => Some(verify(protection, exchange, context).await?),
            None if is_hidden => {
                return Err(refused(Rule::RequiredMissing, "nothing tells the operation of a body that is encrypted"));
            }
            None => None,
        };
        // An action outside of the signature may have chosen the policy: the body has the last word.
        let found = exchange.tree().ok().and_then(|tree| self.of_payload(tree.document()));
        if found != chosen {
            return Err(refused(Rule::RequiredMissing, "the body asks for another operation than the action"));
        }
        Ok(Admitted { protection, conversation })
    }

    /// Lets a request in by HTTP Basic, where a user and a password through TLS are all that the policy asks for and the
    /// message has no security header: SOAP, plain XML, JSON or whatever it is. Its answer leaves as it is.
    ///
    /// Errors: 401 without credentials or with wrong ones.
    /// Source: WSO2's `POXSecurityHandler`.
    async fn admit_by_password<'a>(
        &'a self,
        exchange: &mut Exchange,
        context: &RequestContext<'_>,
    ) -> Outcome<Option<Admitted<'a>>> {
        let guard = self.general.request.as_ref().map(|way| &way.guard);
        let guard = guard.filter(|guard| guard.takes_basic() && self.operations.is_empty());
        let Some(guard) = guard.filter(|_| context.arrival.is_secure()) else { return Ok(None) };
        build_body(exchange, context).await?;
        if exchange.tree().is_ok_and(|tree| has_security_header(tree.document())) {
            return Ok(None);
        }
        let Some((user, password)) = basic_credentials(&exchange.message.head) else {
            return Err(Fault::unauthorized("neither a security header nor credentials of HTTP Basic"));
        };
        let findings = guard.authenticate(&user, &password);
        let findings = findings.map_err(|refusal| match refusal.rule {
            Rule::AuthenticationFailed => Fault::unauthorized(refusal.to_string()),
            _ => Fault::refused(&refusal),
        })?;
        properties::put(&mut exchange.properties, Scope::Default, &findings);
        Ok(Some(Admitted { protection: &OPEN, conversation: None }))
    }

    fn protection(&self, operation: Option<usize>) -> &Protection {
        operation.and_then(|index| self.operations.get(index)).map_or(&self.general, |operation| &operation.protection)
    }

    /// Which of the operations with policies of their own a request is for, as far as can be told before it is read:
    /// by the body, or where that is encrypted by the action or the path.
    fn chosen(&self, exchange: &Exchange) -> Option<usize> {
        let document = exchange.tree().ok()?.document();
        if !is_hidden(document) {
            return self.of_payload(document);
        }
        let last = |text: &str| {
            let name = text.trim_end_matches('/').rsplit(['/', ':', '#']).next().unwrap_or_default();
            self.operations.iter().position(|operation| operation.local == name)
        };
        exchange.action().and_then(|action| last(&action)).or_else(|| exchange.postfix().and_then(|path| last(&path)))
    }

    /// The operation that the first element in the body names.
    fn of_payload(&self, document: &Document) -> Option<usize> {
        let name = document.qname(payload(document)?);
        self.operations.iter().position(|operation| {
            let is_namespace = operation.namespace.as_deref().is_none_or(|namespace| namespace == name.namespace);
            operation.local == name.local && is_namespace
        })
    }
}

/// What leaves messages alone.
static OPEN: Protection = Protection { request: None, response: None };

fn has_security_header(document: &Document) -> bool {
    let header = Envelope::of(document).and_then(|envelope| envelope.header);
    header.into_iter().flat_map(|header| document.children(header)).any(|block| {
        let name = document.qname(block);
        name.local == "Security" && name.namespace == WSSE
    })
}

fn payload(document: &Document) -> Option<NodeId> {
    Envelope::of(document)?.payload(document)
}

/// Whether the body is encrypted.
fn is_hidden(document: &Document) -> bool {
    payload(document).is_some_and(|payload| {
        let name = document.qname(payload);
        name.local == "EncryptedData" && name.namespace == XENC
    })
}

fn refused(rule: Rule, detail: &'static str) -> Box<Fault> {
    Fault::refused(&Refusal::new(rule, detail))
}

/// Puts what a guard makes of the message in its place.
async fn verify(
    protection: &Protection,
    exchange: &mut Exchange,
    context: &RequestContext<'_>,
) -> Outcome<Conversation> {
    let guard = protection.request.as_ref().map(|way| way.guard.clone());
    let document = exchange.tree_mut()?.take_envelope();
    let (Some(guard), Some(document)) = (guard, document) else {
        return Err(refused(Rule::NotAnEnvelope, "the policy is about SOAP messages"));
    };
    exchange.message.body = Body::Gone;
    let (now, tls) = (context.transport.now(), context.arrival.is_secure());
    let replays = context.definitions.settings.security.replays.clone();
    let work = move || {
        let xml = &xml_options();
        let arrival = Arrival { now, tls, client_certificate: false, replays: &replays, conversation: None, xml };
        guard.verify(document, &arrival)
    };
    let verified = work::run(context, work).await?.map_err(|refusal| Fault::refused(&refusal))?;
    properties::put(&mut exchange.properties, Scope::Default, &verified.findings);
    exchange.message.body = Body::Built(Box::new(Tree::from_document(verified.document)));
    exchange.set_charset("UTF-8");
    Ok(verified.conversation)
}

impl Admitted<'_> {
    /// Secures an answer, a fault too; what has no body leaves as it is.
    ///
    /// Where that cannot be done, the answer is a fault in clear.
    pub async fn secure(self, mut answer: Message, format: Format, context: &RequestContext<'_>) -> Message {
        match self.try_secure(&mut answer, context).await {
            Ok(()) => answer,
            Err(fault) => {
                context.report(&fault);
                answer::from_fault(&fault, format)
            }
        }
    }

    async fn try_secure(self, answer: &mut Message, context: &RequestContext<'_>) -> Outcome<()> {
        let Some(way) = self.protection.response.clone() else { return Ok(()) };
        if is_empty(&mut answer.body, context, true).await? {
            return Ok(());
        }
        let document = take_envelope(&mut answer.body, &mut answer.head, context, true).await?;
        let (now, conversation) = (context.transport.now(), self.conversation);
        let work = move || way.guard.secure(document, &Departure { now, conversation: conversation.as_ref() });
        let secured = work::run(context, work).await?;
        let secured =
            secured.map_err(|error| Fault::bus("The answer cannot be secured").with_detail(error.to_string()))?;
        put_secured(secured.bytes, secured.arena, &mut answer.body, &mut answer.head);
        Ok(())
    }
}
