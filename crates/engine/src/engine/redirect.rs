//! Answers that go where the client's `ReplyTo` or `FaultTo` says, in a request of the bus's own.

use std::rc::Rc;
use std::time::Duration;

use http::Uri;
use myelin_message::budget::Reservation;
use myelin_message::{Address, Body, Head, HeaderId, Manner, Message, Method, Outgoing, SendError};
use myelin_soap::{Headers, Relation};

use crate::engine::{EngineContext, EngineParts, flow};
use myelin_content::{Content, Format, Tree, write_charset};
use myelin_flow::answer;
use myelin_flow::context::Counts;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::forms::take_tree;
use myelin_flow::identity;
use myelin_flow::position::Position;
use myelin_flow::replies::{ReplyAddress, ReplyAddresses};
use myelin_flow::transport::{Transport, ask, within};

/// So many answers of one thread are on their way to such addresses at once; a further one is refused with 503.
const LIMIT: usize = 1000;

/// How long the client may take to receive an answer.
const DEADLINE: Duration = Duration::from_secs(30);

/// Sends an answer where the client wants it, and gives what the client gets on the connection: 202.
///
/// Shape: what is no SOAP, or has no body, is the answer on the connection.
/// Errors: an answer that cannot be written, or for which there is no room, is a fault on the connection; one that
/// its address does not take is lost, with a line in the log.
/// Source: WS-Addressing 1.0 core §3.4, SOAP binding §5.1; compare Synapse's `RelayUtils` and `Axis2Sender`.
pub(super) async fn redirect(
    answer: Message,
    addresses: &ReplyAddresses,
    parts: &EngineParts,
    engine: &EngineContext<'_>,
) -> Message {
    let format = Format::of(answer.head.known(HeaderId::ContentType));
    if matches!(answer.body, Body::Empty) || !matches!(format, Format::Soap11 | Format::Soap12) {
        return answer;
    }
    match send(answer, addresses, parts, engine).await {
        Ok(answer) => answer,
        Err(fault) => answer::from_fault(&flow::told(fault, engine), format),
    }
}

async fn send(
    mut answer: Message,
    addresses: &ReplyAddresses,
    parts: &EngineParts,
    engine: &EngineContext<'_>,
) -> Outcome<Message> {
    let content = Content::of(&answer.head);
    let mut tree = take_tree(&mut answer.head, &mut answer.body, &content, &engine.context, true).await?;
    let is_fault = answer.status.is_client_error() || answer.status.is_server_error() || is_soap_fault(&tree);
    let uri = match if is_fault { &addresses.fault } else { &addresses.reply } {
        ReplyAddress::Uri(uri) if !tree.is_plain() => uri,
        ReplyAddress::Nowhere => return Ok(answer::accepted()),
        ReplyAddress::Connection | ReplyAddress::Uri(_) => {
            answer.body = Body::Built(Box::new(tree));
            return Ok(answer);
        }
    };
    let action = address(&mut tree, uri, addresses, is_fault)?;
    let outgoing = request(&answer, tree, uri, &action)?;
    if parts.counts.redirected.get() >= LIMIT {
        return Err(Fault::overloaded(format!("{LIMIT} answers are on their way to the addresses of their clients")));
    }
    spawn(outgoing, parts);
    Ok(answer::accepted())
}

fn is_soap_fault(tree: &Tree) -> bool {
    tree.envelope().fault_reason(tree.document()).is_some()
}

/// Writes into an answer where it goes and which request it belongs to; its action.
fn address(tree: &mut Tree, uri: &Uri, addresses: &ReplyAddresses, is_fault: bool) -> Outcome<String> {
    let said = Headers::read(tree.document(), &tree.envelope()).map(|(_, headers)| headers).unwrap_or_default();
    let action = said.action.unwrap_or_else(|| match is_fault {
        true => format!("{}/soap/fault", addresses.version.namespace()),
        false => String::new(),
    });
    let relation = addresses.message_id.clone().map(|message_id| Relation { message_id, kind: None });
    let headers = Headers {
        to: Some(uri.to_string()),
        action: Some(action.clone()).filter(|action| !action.is_empty()),
        message_id: Some(format!("urn:uuid:{}", identity::new())),
        relates_to: relation.into_iter().collect(),
        ..Headers::default()
    };
    tree.change(|document, envelope| {
        Headers::remove(document, envelope);
        headers.write(addresses.version, document, envelope)
    })?;
    Ok(action)
}

/// The request that brings an answer.
fn request(answer: &Message, tree: Tree, uri: &Uri, action: &str) -> Outcome<Outgoing> {
    let mut head = Head::default();
    for (name, value) in answer.head.iter().filter(|(name, _)| !is_of_answers(name)) {
        // What was a header line once can be one again.
        let _ = head.append(name, value);
    }
    head.set("SOAPAction", format!("\"{action}\"").as_bytes())?;
    if tree.is_recoded() {
        write_charset(&mut head, "UTF-8");
    }
    Ok(Outgoing {
        method: Method::Named("POST".to_owned()),
        address: Address::Uri(uri.clone()),
        head,
        body: Body::Built(Box::new(tree)),
        timeout: Some(DEADLINE),
        host: None,
        manner: Manner { close: true, ..Manner::default() },
    })
}

/// Whether a header line is about the answer's own way: its connection, its coding, and what its server says.
fn is_of_answers(name: &str) -> bool {
    const OF_ANSWERS: [&str; 11] = [
        "Connection",
        "Keep-Alive",
        "Transfer-Encoding",
        "Content-Length",
        "Content-Encoding",
        "Trailer",
        "Upgrade",
        "Server",
        "Date",
        "Set-Cookie",
        "WWW-Authenticate",
    ];
    OF_ANSWERS.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// An answer counts as on its way as long as this lives; a flow that must end before the bus does.
struct OnItsWay(Rc<Counts>);

impl OnItsWay {
    fn begin(counts: &Rc<Counts>) -> OnItsWay {
        counts.redirected.set(counts.redirected.get() + 1);
        counts.branches.set(counts.branches.get() + 1);
        OnItsWay(Rc::clone(counts))
    }
}

impl Drop for OnItsWay {
    fn drop(&mut self) {
        self.0.redirected.set(self.0.redirected.get() - 1);
        self.0.branches.set(self.0.branches.get() - 1);
    }
}

/// Sends beside everything else: a client may take its answer only after it has its 202.
fn spawn(outgoing: Outgoing, parts: &EngineParts) {
    let on_its_way = OnItsWay::begin(&parts.counts);
    let transport = Rc::clone(&parts.transport);
    let here = Position::here();
    parts.transport.spawn(Box::pin(async move {
        let address = outgoing.address.clone();
        let memory = Reservation::of(outgoing.body.length().unwrap_or_default() as usize);
        if let Err(reason) = deliver(outgoing, &*transport).await {
            here.run(|| {
                tracing::warn!("the answer did not reach the address that its client gave, {address}: {reason}");
            });
        }
        drop((memory, on_its_way));
    }));
}

/// Sends an answer; what is said to it is not read.
async fn deliver(outgoing: Outgoing, transport: &dyn Transport) -> Result<(), String> {
    let sent = within(transport, DEADLINE, ask(transport, outgoing)).await;
    match sent {
        Some(Ok(response)) if response.status.is_success() => Ok(()),
        Some(Ok(response)) => Err(format!("status {}", response.status)),
        Some(Err(SendError { message, .. })) => Err(message),
        None => Err(format!("no response within {} s", DEADLINE.as_secs())),
    }
}
