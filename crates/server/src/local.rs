//! `local://`: services of this bus, reached by a message of it without a connection.
//!
//! Each such request is a task of its own, so that services that call each other nest without using up the stack, and
//! their number is bounded, so that those that do so for ever come to an end.

use std::cell::Cell;
use std::net::{Ipv4Addr, SocketAddr};
use std::rc::Rc;

use myelin_mediation::transport::{Method, Outgoing, SendError, SendErrorKind};
use myelin_mediation::{Arrival, Engine};
use myelin_message::{Head, HeaderId, Message};
use tokio::task::JoinHandle;

/// So many requests of one thread may be on their way to services of its bus at once.
const LIMIT: usize = 1024;

/// How many there are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Count(Rc<Cell<usize>>);

/// One of them, until dropped.
struct Place(Count);

impl Count {
    fn take(&self) -> Option<Place> {
        let count = self.0.get();
        (count < LIMIT).then(|| {
            self.0.set(count + 1);
            Place(self.clone())
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Count(count) = &self.0;
        count.set(count.get() - 1);
    }
}

/// A task that ends when nobody waits for it any more.
struct Task(JoinHandle<Message>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Lets an engine serve what one of its flows sends.
///
/// Errors: there are too many such requests, or the answer takes longer than the request says.
pub(crate) async fn send(outgoing: Outgoing, engine: Rc<Engine>, count: &Count) -> Result<Message, SendError> {
    let error = |kind, message: &str| SendError { kind, message: message.to_owned() };
    let Some(place) = count.take() else {
        return Err(error(SendErrorKind::Overloaded, "too many requests to services of the same bus"));
    };
    let timeout = outgoing.timeout;
    let message = request(outgoing);
    let correlation = message.head.known(HeaderId::ActivityId).map(|id| String::from_utf8_lossy(id).into_owned());
    let mut task = Task(tokio::task::spawn_local(async move {
        let _place = place;
        let nobody = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let correlation = correlation.unwrap_or_default();
        engine
            .serve_own(
                message,
                Arrival { peer: nobody, local: nobody, secure: false, inbound: None, correlation: &correlation },
            )
            .await
    }));
    let answered = match timeout {
        Some(timeout) => tokio::time::timeout(timeout, &mut task.0).await,
        None => Ok((&mut task.0).await),
    };
    match answered {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(_)) => Err(error(SendErrorKind::Closed, "the service of the same bus failed")),
        Err(_) => Err(error(SendErrorKind::ResponseTimeout, "the service of the same bus did not answer in time")),
    }
}

/// The request as the service gets it.
fn request(outgoing: Outgoing) -> Message {
    let Outgoing { method, uri, head, body, .. } = outgoing;
    let method = match &method {
        Method::AsCame => head.method(),
        Method::Named(name) => name,
    };
    let target = uri.path_and_query().map_or("/", |target| target.as_str());
    let mut local = Head::request(method, target);
    for (name, value) in head.iter() {
        // What was a header line once can be one again.
        let _ = local.append(name, value);
    }
    Message::new(local, body)
}

#[cfg(test)]
mod tests {
    use myelin_mediation::transport::Manner;

    use super::*;
    use myelin_message::Body;

    #[test]
    fn the_service_gets_the_path_of_the_address_and_the_lines_of_the_message() {
        let mut head = Head::default();
        head.append("X-A", b"b").unwrap();
        let outgoing = Outgoing {
            method: Method::Named("PUT".to_owned()),
            uri: "local://localhost/services/S?x=y".parse().unwrap(),
            head,
            body: Body::Empty,
            timeout: None,
            host: None,
            manner: Manner::default(),
        };
        let message = request(outgoing);
        assert_eq!((message.head.method(), message.head.target()), ("PUT", "/services/S?x=y"));
        assert_eq!(message.head.first("x-a"), Some(&b"b"[..]));
    }

    #[test]
    fn places_are_bounded_and_come_back() {
        let count = Count::default();
        let places: Vec<_> = std::iter::from_fn(|| count.take()).collect();
        assert_eq!(places.len(), LIMIT);
        drop(places);
        assert!(count.take().is_some());
    }
}
