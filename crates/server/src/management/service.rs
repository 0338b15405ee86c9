//! The management API as a listener sees it: bodies are read within bounds, and handlers run beside the listener.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use myelin_channel::LocalFuture;
use myelin_http::Service;
use myelin_manage::api::{Api, ApiAnswer, ApiRequest};
use myelin_manage::console;
use myelin_message::{Arrival, BodyError, Message, StatusCode};
use serde_json::json;

/// How many requests are worked at at once; the others wait, each with its connection.
const WORKERS: usize = 16;

/// How far behind the threads that serve messages those of operators stand (`nice`): of a processor that both want they
/// get a tenth.
const NICENESS: i32 = 10;

/// A runtime for a listener of operators, on the thread that asks for it: what blocks runs on a few threads beside it,
/// and messages go before all of them.
///
/// Errors: there is no thread to be had.
pub(crate) fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    // It is this thread's own, and the threads that it begins have it as well. Whoever refuses it lets all be equal.
    let _ = rustix::process::setpriority_process(None, NICENESS);
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(WORKERS)
        .thread_name("bus-operate")
        .build()
}

/// The management API as a listener sees it.
#[derive(Clone)]
pub(crate) struct ApiService {
    api: Arc<Api>,
}

impl ApiService {
    pub(crate) fn new(api: Arc<Api>) -> ApiService {
        ApiService { api }
    }

    /// The answer to a request; handlers may block, and do so on a thread of the runtime beside this one.
    pub(crate) async fn answer(&self, mut request: Message, arrival: Arrival<'_>) -> Message {
        let error = |status, sentence: &str| ApiAnswer::json(status, &json!({ "Error": sentence })).into_message();
        let peer = arrival.peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.ip());
        let mut asked = match ApiRequest::of(&request.head, peer) {
            Ok(asked) => asked,
            Err(sentence) => return error(StatusCode::BAD_REQUEST, &sentence),
        };
        match request.body.bytes(self.api.body_bytes()).await {
            Ok(bytes) => asked.body = bytes.to_vec(),
            Err(BodyError::TooLarge { .. }) => {
                return error(StatusCode::PAYLOAD_TOO_LARGE, "The body is too large");
            }
            Err(_) => return error(StatusCode::BAD_REQUEST, "The body did not come whole"),
        }
        drop(request);
        let api = Arc::clone(&self.api);
        match tokio::task::spawn_blocking(move || api.answer(&asked)).await {
            Ok(answer) => answer.into_message(),
            // The panic is in the log.
            Err(_) => error(StatusCode::INTERNAL_SERVER_ERROR, "The management API failed; this is a bug of the bus"),
        }
    }
}

impl Service for ApiService {
    fn serve<'a>(&'a self, request: Message, arrival: Arrival<'a>) -> LocalFuture<'a, Message> {
        // The console beside it asks the listener that it came from.
        match console::answer(&request) {
            Some(answer) => Box::pin(std::future::ready(answer)),
            None => Box::pin(self.answer(request, arrival)),
        }
    }
}
