//! `local://`: services of this bus, reached by a message of it without a connection.
//!
//! Each such request is a task of its own, so that services that call each other nest without using up the stack, and
//! their number is bounded, so that those that do so for ever come to an end. A body is handed over as it is: one that
//! is still on a connection, or in a file, streams from there.

use std::cell::Cell;
use std::rc::Rc;

use myelin_channel::{LOCAL, LocalFuture, Sender, Sent, Spec};
use myelin_message::{Address, Arrival, CorrelationId, Head, Message, Method, Outgoing, SendError, SendErrorKind};
use tokio::task::JoinHandle;

/// Services of the same bus: `local://localhost/services/Name`.
pub const SPEC: Spec = LOCAL;

/// So many requests of one thread may be on their way to services of its bus at once.
const LIMIT: usize = 1024;

/// Serves a request to a service of the bus; `None` once the bus ends.
pub type Serve = dyn for<'a> Fn(Message, Arrival<'a>) -> Option<LocalFuture<'a, Message>>;

/// Sends to services of the same bus, on one thread.
pub struct LocalSender {
    serve: Rc<Serve>,
    correlation: fn() -> CorrelationId,
    under_way: Rc<Cell<usize>>,
}

/// The right to be one of the requests under way, until dropped.
struct Permit(Rc<Cell<usize>>);

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

/// A task that ends when nobody waits for it any more.
struct Task(JoinHandle<Option<Message>>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl LocalSender {
    /// A sender to services that serve so; `correlation` is the id of the exchange that sends.
    pub fn new(serve: Rc<Serve>, correlation: fn() -> CorrelationId) -> LocalSender {
        LocalSender { serve, correlation, under_way: Rc::default() }
    }

    fn permit(&self) -> Option<Permit> {
        let under_way = self.under_way.get();
        (under_way < LIMIT).then(|| {
            self.under_way.set(under_way + 1);
            Permit(Rc::clone(&self.under_way))
        })
    }

    async fn serve(&self, outgoing: Outgoing) -> Result<Message, SendError> {
        let error = |kind, message: &str| SendError { kind, message: message.to_owned() };
        let Some(permit) = self.permit() else {
            return Err(error(SendErrorKind::Overloaded, "too many requests to services of the same bus"));
        };
        let timeout = outgoing.timeout;
        let message = request_of(outgoing);
        let correlation = CorrelationId::of(&message.head).unwrap_or_else(self.correlation);
        let serve = Rc::clone(&self.serve);
        let mut task = Task(tokio::task::spawn_local(async move {
            let _permit = permit;
            let arrival =
                Arrival { transport: "local", peer: None, local: None, inbound: None, correlation: &correlation };
            Some(serve(message, arrival)?.await)
        }));
        let answered = match timeout {
            Some(timeout) => tokio::time::timeout(timeout, &mut task.0).await,
            None => Ok((&mut task.0).await),
        };
        match answered {
            Ok(Ok(Some(answer))) => Ok(answer),
            Ok(Ok(None)) => Err(error(SendErrorKind::ConnectFailed, "the bus stops")),
            Ok(Err(_)) => Err(error(SendErrorKind::Closed, "the service of the same bus failed")),
            Err(_) => Err(error(SendErrorKind::ResponseTimeout, "the service of the same bus did not answer in time")),
        }
    }
}

impl Sender for LocalSender {
    /// Errors: there are too many such requests, the answer takes longer than the request says, or the bus ends.
    fn send<'a>(&'a self, outgoing: Outgoing) -> LocalFuture<'a, Result<Sent, SendError>> {
        Box::pin(async move { self.serve(outgoing).await.map(Sent::Response) })
    }
}

/// The request as the service gets it.
fn request_of(outgoing: Outgoing) -> Message {
    let Outgoing { method, address, head, body, .. } = outgoing;
    let method = match &method {
        Method::AsCame => head.method(),
        Method::Named(name) => name,
    };
    let target = match &address {
        Address::Uri(uri) => uri.path_and_query().map_or("/", |target| target.as_str()),
        Address::Other(_) => "/",
    };
    let mut request = Head::request(method, target);
    for (name, value) in head.iter() {
        // What was a header line once can be one again.
        let _ = request.append(name, value);
    }
    Message::new(request, body)
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::time::Duration;

    use myelin_message::{Body, Manner, StatusCode};

    use super::*;

    fn outgoing(timeout: Option<Duration>) -> Outgoing {
        Outgoing {
            method: Method::Named("PUT".to_owned()),
            address: Address::Uri("local://localhost/services/S?x=y".parse().unwrap()),
            head: Head::default(),
            body: Body::Empty,
            timeout,
            host: None,
            manner: Manner::default(),
        }
    }

    /// What comes of a request to services that serve so.
    fn sent(sender: &LocalSender, timeout: Option<Duration>) -> Result<Sent, SendErrorKind> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let sent = tokio::task::LocalSet::new().block_on(&runtime, sender.send(outgoing(timeout)));
        sent.map_err(|error| error.kind)
    }

    #[test]
    fn the_service_gets_the_path_of_the_address_and_the_lines_of_the_message() {
        let mut outgoing = outgoing(None);
        outgoing.head.append("X-A", b"b").unwrap();
        let message = request_of(outgoing);
        assert_eq!((message.head.method(), message.head.target()), ("PUT", "/services/S?x=y"));
        assert_eq!(message.head.first("x-a"), Some(&b"b"[..]));
    }

    fn new(serve: impl for<'a> Fn(Message, Arrival<'a>) -> Option<LocalFuture<'a, Message>> + 'static) -> LocalSender {
        LocalSender::new(Rc::new(serve), || CorrelationId::fixed("asking"))
    }

    #[test]
    fn permits_are_bounded_and_come_back() {
        let sender = new(|_, _| None);
        let permits: Vec<_> = std::iter::from_fn(|| sender.permit()).collect();
        assert_eq!(permits.len(), LIMIT);
        assert_eq!(sent(&sender, None).unwrap_err(), SendErrorKind::Overloaded);
        drop(permits);
        assert!(sender.permit().is_some());
    }

    #[test]
    fn an_answer_comes_back_and_what_gives_none_is_told_apart() {
        let answers = new(|request, arrival| {
            assert_eq!((request.head.target(), arrival.transport), ("/services/S?x=y", "local"));
            assert_eq!(arrival.correlation.as_str(), "asking");
            Some(Box::pin(ready(Message::answer(StatusCode::CREATED, Body::Empty))))
        });
        let Ok(Sent::Response(answer)) = sent(&answers, None) else { panic!("there is an answer") };
        assert_eq!(answer.status, StatusCode::CREATED);
        let ends = new(|_, _| None);
        assert_eq!(sent(&ends, None).unwrap_err(), SendErrorKind::ConnectFailed);
        let hangs = new(|_, _| Some(Box::pin(pending())));
        assert_eq!(sent(&hangs, Some(Duration::from_millis(1))).unwrap_err(), SendErrorKind::ResponseTimeout);
        assert_eq!(hangs.under_way.get(), 0);
        let fails = new(|_, _| Some(Box::pin(async { panic!("a defect") })));
        assert_eq!(sent(&fails, None).unwrap_err(), SendErrorKind::Closed);
    }
}
