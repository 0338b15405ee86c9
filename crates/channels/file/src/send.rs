//! The way out: endpoints whose addresses are files.

use std::rc::Rc;

use myelin_channel::{LocalFuture, Runtime, Sender, Sent};
use myelin_message::{Outgoing, SendError, SendErrorKind};

use crate::target::Target;
use crate::write::write;

/// Writes messages to the files that addresses name.
pub struct FileSender {
    runtime: Rc<dyn Runtime>,
}

impl FileSender {
    /// A sender whose waits go by that clock.
    pub fn new(runtime: Rc<dyn Runtime>) -> FileSender {
        FileSender { runtime }
    }
}

impl Sender for FileSender {
    fn send<'a>(&'a self, outgoing: Outgoing) -> LocalFuture<'a, Result<Sent, SendError>> {
        Box::pin(async move {
            let Outgoing { address, head, body, timeout, .. } = outgoing;
            let target = Target::parse(&address.to_string());
            let target = target.map_err(|message| SendError { kind: SendErrorKind::Address, message })?;
            let file = write(&*self.runtime, &target, &head, body, timeout).await?;
            tracing::debug!(file = %file.display(), "wrote a message");
            Ok(Sent::Accepted)
        })
    }
}

/// What sends for one thread.
pub(crate) fn sender(runtime: Rc<dyn Runtime>) -> Rc<dyn Sender> {
    Rc::new(FileSender::new(runtime))
}

/// Whether messages can be written to an address.
///
/// Errors: a sentence that says what would be right.
pub(crate) fn check(address: &str) -> Result<(), String> {
    Target::parse(address).map(|_| ())
}
