//! Tokens that were got, and those that are being got: however many messages wait for one, it is asked for once.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use http::StatusCode;
use myelin_message::{Body, Head};

use crate::endpoints::authentication::grant::TokenRequest;
use myelin_content::coding;
use myelin_flow::context::RequestContext;
use myelin_flow::fault::{Fault, Outcome};
use myelin_flow::transport::{self, Address, Manner, Method, Outgoing, within};

/// The tokens of one endpoint, shared by all threads.
#[derive(Default)]
pub(crate) struct Tokens {
    entries: Mutex<HashMap<TokenRequest, Entry>>,
}

enum Entry {
    Known(Token),
    /// Somebody asks for it.
    Asked(Arc<Flight>),
}

#[derive(Clone)]
struct Token {
    text: Arc<str>,
    /// When it is not good any more, by the clock that never jumps.
    until: Duration,
    /// What the server wants to see the next time instead of what is configured.
    refresh: Option<Arc<str>>,
}

/// A request for a token that is under way, and who waits for it.
#[derive(Default)]
struct Flight {
    state: Mutex<FlightState>,
}

#[derive(Default)]
struct FlightState {
    result: Option<Landing>,
    waiting: Vec<Waker>,
}

/// How a request for a token ended.
#[derive(Clone)]
enum Landing {
    Token(Arc<str>),
    /// The server said no, or nothing; the status for the client and what the log gets.
    Failed(StatusCode, String),
    /// Whoever asked went away.
    Abandoned,
}

/// How many different values worked out from messages an endpoint keeps tokens for.
const ENTRIES: usize = 1_000;

/// A token is renewed so long before it ends, for what is on its way then.
const LEEWAY: Duration = Duration::from_secs(10);

/// How long a token is used whose server does not say how long it is good.
const UNTOLD: Duration = Duration::from_secs(50 * 60);

/// How large an answer of a token server may be.
const ANSWER_BYTES: u64 = 256 << 10;

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing is left half-way by those who hold it.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Tokens {
    /// The token for a request: one that is known, that somebody is getting, or a new one.
    ///
    /// Errors: 303003, where none can be had within the request's deadline.
    pub(super) async fn get(&self, request: &TokenRequest, context: &RequestContext<'_>) -> Outcome<Arc<str>> {
        loop {
            let (flight, refresh) = match self.join(request, context.transport.monotonic())? {
                Joined::Known(token) => return Ok(token),
                Joined::Waits(flight) => match flight.landed().await {
                    Landing::Token(token) => return Ok(token),
                    Landing::Failed(status, detail) => return Err(Fault::authentication(status, detail)),
                    Landing::Abandoned => continue,
                },
                Joined::Asks(flight, refresh) => (flight, refresh),
            };
            let mut asking = Asking { tokens: self, request, flight, landing: Landing::Abandoned, known: None };
            let asked = ask(request, refresh.as_deref(), context);
            let result = match within(context.transport, request.timeout, asked).await {
                Some(result) => result,
                None => Err((StatusCode::GATEWAY_TIMEOUT, "the token server did not answer in time".to_owned())),
            };
            return match result {
                Ok(token) => {
                    asking.landing = Landing::Token(Arc::clone(&token.text));
                    let text = Arc::clone(&token.text);
                    asking.known = Some(token);
                    Ok(text)
                }
                Err((status, detail)) => {
                    asking.landing = Landing::Failed(status, detail.clone());
                    Err(Fault::authentication(status, detail))
                }
            };
        }
    }

    /// A token that was not good is not given out again.
    pub(super) fn forget(&self, request: &TokenRequest, token: &str) {
        if let Some(Entry::Known(known)) = locked(&self.entries).get_mut(request)
            && *known.text == *token
        {
            // What refreshes it is still good.
            known.until = Duration::ZERO;
        }
    }

    fn join(&self, request: &TokenRequest, now: Duration) -> Outcome<Joined> {
        let mut entries = locked(&self.entries);
        let refresh = match entries.get(request) {
            Some(Entry::Known(token)) if now < token.until => return Ok(Joined::Known(Arc::clone(&token.text))),
            Some(Entry::Known(token)) => token.refresh.clone(),
            Some(Entry::Asked(flight)) => return Ok(Joined::Waits(Arc::clone(flight))),
            None => None,
        };
        if entries.len() >= ENTRIES && !entries.contains_key(request) {
            entries.retain(|_, entry| !matches!(entry, Entry::Known(token) if token.until <= now));
            let first = entries.iter().find(|(_, entry)| matches!(entry, Entry::Known(_)));
            match first.map(|(request, _)| request.clone()) {
                Some(first) if entries.len() >= ENTRIES => drop(entries.remove(&first)),
                None if entries.len() >= ENTRIES => {
                    let detail = format!("more than {ENTRIES} different tokens are asked for at once");
                    return Err(Fault::authentication(StatusCode::SERVICE_UNAVAILABLE, detail));
                }
                _ => {}
            }
        }
        let flight = Arc::<Flight>::default();
        entries.insert(request.clone(), Entry::Asked(Arc::clone(&flight)));
        Ok(Joined::Asks(flight, refresh))
    }
}

enum Joined {
    Known(Arc<str>),
    Waits(Arc<Flight>),
    /// With what refreshes the token before.
    Asks(Arc<Flight>, Option<Arc<str>>),
}

impl Flight {
    async fn landed(&self) -> Landing {
        poll_fn(|cx| {
            let mut state = locked(&self.state);
            match &state.result {
                Some(landing) => Poll::Ready(landing.clone()),
                None => {
                    if !state.waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
                        state.waiting.push(cx.waker().clone());
                    }
                    Poll::Pending
                }
            }
        })
        .await
    }
}

/// Whoever asks for a token: when this ends, all who wait hear how, also where it ends because its client went away.
struct Asking<'a> {
    tokens: &'a Tokens,
    request: &'a TokenRequest,
    flight: Arc<Flight>,
    landing: Landing,
    known: Option<Token>,
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let mut entries = locked(&self.tokens.entries);
        match self.known.take() {
            Some(token) => drop(entries.insert(self.request.clone(), Entry::Known(token))),
            None => drop(entries.remove(self.request)),
        }
        drop(entries);
        let mut state = locked(&self.flight.state);
        state.result = Some(self.landing.clone());
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
    }
}

/// Asks the server.
async fn ask(
    request: &TokenRequest,
    refresh: Option<&str>,
    context: &RequestContext<'_>,
) -> Result<Token, (StatusCode, String)> {
    let bad = |detail: String| (StatusCode::BAD_GATEWAY, format!("token server {}: {detail}", request.uri));
    let mut head = Head::default();
    let own = [("Content-Type", "application/x-www-form-urlencoded"), ("Accept", "application/json")];
    let given = request.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    for (name, value) in own.into_iter().chain(given) {
        head.set(name, value.as_bytes()).map_err(|error| bad(error.to_string()))?;
    }
    let outgoing = Outgoing {
        method: Method::Named("POST".to_owned()),
        address: Address::Uri(request.uri.clone()),
        head,
        body: Body::Bytes(request.body(refresh).into_bytes()),
        timeout: Some(request.timeout),
        host: None,
        manner: Manner::default(),
    };
    let mut response = transport::ask(context.transport, outgoing).await.map_err(|error| bad(error.to_string()))?;
    let status = response.status;
    coding::decode_message(&mut response.head, &mut response.body, ANSWER_BYTES);
    let bytes = response.body.bytes(ANSWER_BYTES).await.map_err(|error| bad(error.to_string()))?;
    let answer: serde_json::Value = serde_json::from_slice(bytes).unwrap_or_default();
    let text = |name: &str| answer.get(name).and_then(serde_json::Value::as_str);
    if !status.is_success() {
        // RFC 6749 §5.2: these two are for people, and hold no secret.
        let told = [text("error"), text("error_description")].into_iter().flatten().collect::<Vec<_>>().join(": ");
        return Err(bad(format!("status {status} {told:?}")));
    }
    let Some(token) = text("access_token").filter(|token| !token.is_empty()) else {
        return Err(bad("its answer holds no access_token".to_owned()));
    };
    // Some servers write the number as text.
    let seconds = answer.get("expires_in");
    let seconds = seconds.and_then(|it| it.as_u64().or_else(|| it.as_str().and_then(|text| text.trim().parse().ok())));
    let good_for = seconds.map_or(UNTOLD, Duration::from_secs).min(Duration::from_secs(u32::MAX.into()));
    // Of one that is good for moments only at least half is made use of.
    let used_for = good_for.saturating_sub(LEEWAY).max(good_for / 2);
    Ok(Token {
        text: token.into(),
        until: context.transport.monotonic() + used_for,
        refresh: text("refresh_token").or(refresh).map(Arc::from),
    })
}
