//! A body as it was at some time, without having been read for it.

use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use myelin_channel::{LocalFuture, within};
use myelin_content::{Json, Tree};
use myelin_flow::transport::Transport;
use myelin_message::{Body, Wire};

/// How long a body on the wire is waited for, so that more than the bytes that came with its head can be shown.
const PATIENCE: Duration = Duration::from_millis(100);

/// So many bytes more than are shown are kept: a secret may begin just before the end.
const MARGIN_BYTES: usize = 1 << 10;

/// Which body on the wire is meant: its source, and which of its messages.
pub(super) type Ticket = (usize, u64);

/// A body as it was at some time.
#[derive(Clone, Debug)]
pub(super) enum BodyView {
    /// There was none.
    Empty,
    /// Text, perhaps cut off.
    Text { text: Arc<str>, bytes: usize },
    /// No text: binary, compressed, or in another character set than UTF-8.
    Binary { bytes: usize },
    /// It was still on the wire: what had come of it, and how long it is where that is known.
    Unread { text: Option<Arc<str>>, bytes: Option<u64>, ticket: Ticket },
    /// It was sent already.
    Gone,
}

impl BodyView {
    /// That of a body, which stays as it is. A `shy` look leaves one alone that is on the wire.
    pub(super) fn of(body: &Body, limit_bytes: usize, shy: bool) -> BodyView {
        match body {
            Body::Empty => BodyView::Empty,
            Body::Bytes(bytes) => BodyView::of_bytes(bytes, bytes.len(), limit_bytes),
            Body::Shared(bytes) => BodyView::of_bytes(bytes, bytes.len(), limit_bytes),
            Body::Built(_) => match (body.built::<Tree>(), body.built::<Json>()) {
                (Some(tree), _) => BodyView::of_text(&tree.text(), limit_bytes),
                (None, Some(json)) => BodyView::of_text(&json.text(), limit_bytes),
                (None, None) => BodyView::Binary { bytes: 0 },
            },
            Body::Wire(wire) => {
                let mut seen = None;
                if !shy {
                    let mut look = |bytes: &[u8], _: bool| {
                        seen = text_of(bytes, limit_bytes);
                        true
                    };
                    // It only shows what is there already, and asks for no more: nothing has to be woken.
                    let mut context = Context::from_waker(Waker::noop());
                    let _ = wire.source.poll_look(wire.ticket, &mut context, limit_bytes as u64, &mut look);
                }
                BodyView::of_wire(wire, seen)
            }
            Body::Reading(..) | Body::Gone => BodyView::Gone,
        }
    }

    /// That of a body on the wire, of which this was seen.
    fn of_wire(wire: &Wire, seen: Option<Arc<str>>) -> BodyView {
        match (seen.filter(|text| !text.is_empty()), wire.source.remaining(wire.ticket)) {
            (None, Some(0)) => BodyView::Empty,
            (text, bytes) => BodyView::Unread { text, bytes, ticket: ticket(wire) },
        }
    }

    fn of_text(text: &str, limit_bytes: usize) -> BodyView {
        BodyView::of_bytes(text.as_bytes(), text.len(), limit_bytes)
    }

    fn of_bytes(bytes: &[u8], length: usize, limit_bytes: usize) -> BodyView {
        if bytes.is_empty() {
            return BodyView::Empty;
        }
        match text_of(bytes, limit_bytes) {
            Some(text) => BodyView::Text { text, bytes: length },
            None => BodyView::Binary { bytes: length },
        }
    }

    /// Whether two of the same exchange are the same body; one that is still on the wire is, however much has come.
    pub(super) fn is_same(&self, other: &BodyView) -> bool {
        match (self, other) {
            (BodyView::Empty, BodyView::Empty) | (BodyView::Gone, BodyView::Gone) => true,
            (BodyView::Text { text, bytes }, BodyView::Text { text: other, bytes: others }) => {
                bytes == others && text == other
            }
            (BodyView::Binary { bytes }, BodyView::Binary { bytes: others }) => bytes == others,
            (BodyView::Unread { ticket, .. }, BodyView::Unread { ticket: other, .. }) => ticket == other,
            // It was read in between, which changes nothing of it, unless what came begins otherwise.
            (BodyView::Unread { text: Some(came), bytes, .. }, BodyView::Text { text, bytes: length }) => {
                let shared = came.len().min(text.len());
                bytes.is_none_or(|bytes| bytes == *length as u64)
                    && came.as_bytes()[..shared] == text.as_bytes()[..shared]
            }
            (
                BodyView::Unread { text: None, .. },
                BodyView::Text { .. } | BodyView::Binary { .. } | BodyView::Empty,
            ) => true,
            // It was sent.
            (_, BodyView::Gone) => true,
            _ => false,
        }
    }

    /// The text that there is of it.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            BodyView::Text { text, .. } => Some(text),
            BodyView::Unread { text, .. } => text.as_deref(),
            BodyView::Empty | BodyView::Binary { .. } | BodyView::Gone => None,
        }
    }

    pub(super) fn size_bytes(&self) -> usize {
        self.text().map_or(0, str::len)
    }
}

fn ticket(wire: &Wire) -> Ticket {
    (Rc::as_ptr(&wire.source).cast::<()>().addr(), wire.ticket)
}

/// The beginning of a text; `None` where the bytes are none.
fn text_of(bytes: &[u8], limit_bytes: usize) -> Option<Arc<str>> {
    let limit = limit_bytes.saturating_add(MARGIN_BYTES);
    let shown = &bytes[..bytes.len().min(limit)];
    match std::str::from_utf8(shown) {
        Ok(text) => Some(text.into()),
        // The last character may be cut in two.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&shown[..error.valid_up_to()]).ok().map(Arc::from)
        }
        Err(_) => None,
    }
}

/// Waits a moment for a body on the wire, of which nothing is taken.
pub(super) fn wait_for<'a>(
    body: &'a Body,
    limit_bytes: usize,
    transport: &'a dyn Transport,
) -> Option<LocalFuture<'a, BodyView>> {
    let Body::Wire(wire) = body else { return None };
    Some(Box::pin(async move {
        let mut seen = None;
        let looking = std::future::poll_fn(|context| {
            let mut look = |bytes: &[u8], is_all: bool| {
                seen = text_of(bytes, limit_bytes);
                is_all || bytes.len() >= limit_bytes
            };
            // What is wrong with it is told to whoever reads it.
            wire.source.poll_look(wire.ticket, context, limit_bytes as u64, &mut look).map(drop)
        });
        let _ = within(transport, PATIENCE, looking).await;
        BodyView::of_wire(wire, seen)
    }))
}
