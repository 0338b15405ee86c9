//! Answers that come in on a connection of their own, to the address that a backend was told.

use http::StatusCode;
use myelin_message::{Built as _, Head, HeaderId, Message, is_credential};
use myelin_soap::Headers;

use myelin_content::{Format, Tree, charset, coding};
use myelin_flow::answer;
use myelin_flow::definitions::Definitions;
use myelin_flow::fault::Fault;
use myelin_flow::replies::Reply;

/// Takes in a message that a backend sends to the address that it was told; what it is answered with.
pub(crate) async fn receive(mut request: Message, definitions: &Definitions) -> Message {
    let format = Format::of(request.head.known(HeaderId::ContentType));
    let limit_bytes = definitions.settings.body_limit_bytes;
    coding::decode_message(&mut request.head, &mut request.body, limit_bytes);
    let read = request.body.bytes(limit_bytes).await.map(<[u8]>::to_vec);
    let tree = match read {
        Ok(bytes) => Tree::read(bytes, charset(&request.head).as_deref()),
        Err(error) => return answer::from_fault(&Fault::body(&error, false), format),
    };
    let tree = match tree {
        Ok(tree) => tree,
        Err((error, _)) => {
            let fault = Fault::unreadable(false, format!("not well-formed XML: {error}"));
            return answer::from_fault(&fault, format);
        }
    };
    let related = Headers::read(tree.document(), &tree.envelope()).map(|(_, headers)| headers.relates_to);
    let is_fault = tree.envelope().fault_reason(tree.document()).is_some();
    let status = if is_fault { StatusCode::INTERNAL_SERVER_ERROR } else { StatusCode::OK };
    let mut head = Head::default();
    for (name, value) in request.head.iter().filter(|(name, _)| !is_of_requests(name)) {
        // What was a header line once can be one again.
        let _ = head.append(name, value);
    }
    let id = related.into_iter().flatten().map(|relation| relation.message_id);
    let id = id.into_iter().find(|id| definitions.settings.replies.are_waited_for(id));
    let reply = Reply { status, head, body: Box::new(tree).into_bytes() };
    match id {
        Some(id) if definitions.settings.replies.deliver(&id, reply) => answer::accepted(),
        _ => answer::plain(StatusCode::NOT_FOUND, "Nobody waits for this answer"),
    }
}

/// Whether a header line concerns the request that brought an answer, and its connection, not the answer.
fn is_of_requests(name: &str) -> bool {
    const OF_REQUESTS: [&str; 7] =
        ["Host", "Expect", "User-Agent", "SOAPAction", "Content-Length", "Transfer-Encoding", "Connection"];
    is_credential(name) || OF_REQUESTS.iter().any(|known| known.eq_ignore_ascii_case(name))
}
