//! Where the body of a message comes from, and a request's body on its way to a backend.

use std::rc::Rc;
use std::task::{Context, Poll};

use myelin_message::Wire;

use super::foreign::ForeignBody;
use super::{Broken, Ends, Relay};
use crate::connection::{Connection, Link, PendingUpload, Shared};

/// Who delivers a body.
pub(crate) enum BodySource {
    /// A connection of ours, from whose input bytes leave as they came.
    Connection(Shared),
    /// Anybody else.
    Foreign(Box<ForeignBody>),
}

impl BodySource {
    /// The source of a body; `None` where its connection has gone on to another message.
    pub(crate) fn of(wire: &Wire) -> Option<BodySource> {
        match Rc::clone(&wire.source).as_any().downcast::<Link>() {
            Ok(link) => {
                let current = link.borrow().ticket == wire.ticket;
                current.then_some(BodySource::Connection(link))
            }
            Err(_) => Some(BodySource::Foreign(Box::new(ForeignBody::new(wire)))),
        }
    }

    /// The connection that it comes from, if it comes from one.
    pub(crate) fn connection(&self) -> Option<&Shared> {
        match self {
            BodySource::Connection(connection) => Some(connection),
            BodySource::Foreign(_) => None,
        }
    }
}

/// The request's side of an exchange: a relay, and where its body comes from.
pub(crate) struct Upload {
    pub(crate) relay: Relay,
    /// `None` where everything is in the relay, or through.
    pub(crate) source: Option<BodySource>,
}

impl Upload {
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>, to: &mut Connection) -> Poll<Result<(), Broken>> {
        let source = match &mut self.source {
            None => return self.relay.poll(cx, Ends::Out(to)),
            Some(BodySource::Connection(source)) => source,
            Some(BodySource::Foreign(body)) => return self.relay.poll_foreign(cx, body, to),
        };
        let result = {
            let from = &mut *source.borrow_mut();
            from.poll_upload(cx);
            let result = self.relay.poll(cx, Ends::Across { from, to });
            if let Poll::Ready(Ok(())) = result {
                // The body is through, once and for all: a backend that it came from is free again.
                from.retire();
            }
            result
        };
        if let Poll::Ready(Ok(())) = result {
            self.source = None;
        }
        result
    }
}

impl PendingUpload for Upload {
    fn poll(&mut self, cx: &mut Context<'_>, to: &mut Connection) -> Poll<bool> {
        Upload::poll(self, cx, to).map(|result| result.is_ok())
    }
}
