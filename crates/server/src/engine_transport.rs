//! The engine's way out: each message goes to the channel of its address.

use std::cell::OnceCell;
use std::future::ready;
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use myelin_channel::{LocalFuture, Overloaded, Runtime, Sender, Sent, Work};
use myelin_http::Client;
use myelin_local::LocalSender;
use myelin_message::{Outgoing, SendError, SendErrorKind};

use crate::channels::Senders;
use crate::runtime::ThreadRuntime;

/// The engine's way out, on one thread.
pub(crate) struct EngineTransport {
    http: Rc<Client>,
    /// Set as soon as there is an engine, which needs this transport itself.
    local: OnceCell<LocalSender>,
    /// Those of the other channels.
    senders: Senders,
    runtime: Rc<ThreadRuntime>,
}

impl EngineTransport {
    pub(crate) fn new(http: Rc<Client>, runtime: Rc<ThreadRuntime>) -> EngineTransport {
        let senders = Senders::new(&(Rc::clone(&runtime) as Rc<dyn Runtime>));
        EngineTransport { http, local: OnceCell::new(), senders, runtime }
    }

    /// Says who sends to services of the same bus; the first that is said counts.
    pub(crate) fn set_local(&self, local: LocalSender) {
        let _ = self.local.set(local);
    }

    fn find(&self, scheme: &str) -> Option<&dyn Sender> {
        match self.local.get().filter(|_| scheme == "local") {
            Some(local) => Some(local),
            None => self.senders.find(scheme).map(|sender| &**sender),
        }
    }
}

impl Sender for EngineTransport {
    fn send<'a>(&'a self, outgoing: Outgoing) -> LocalFuture<'a, Result<Sent, SendError>> {
        if let "http" | "https" = outgoing.address.scheme() {
            return self.http.send(outgoing);
        }
        match self.find(outgoing.address.scheme()) {
            Some(sender) => sender.send(outgoing),
            None => {
                let message = format!("{}: no channel sends to such an address", outgoing.address);
                Box::pin(ready(Err(SendError { kind: SendErrorKind::Address, message })))
            }
        }
    }
}

impl Runtime for EngineTransport {
    fn now(&self) -> SystemTime {
        self.runtime.now()
    }

    fn monotonic(&self) -> Duration {
        self.runtime.monotonic()
    }

    fn sleep(&self, time: Duration) -> LocalFuture<'static, ()> {
        self.runtime.sleep(time)
    }

    fn turn(&self) -> LocalFuture<'static, ()> {
        self.runtime.turn()
    }

    fn spawn(&self, task: LocalFuture<'static, ()>) {
        self.runtime.spawn(task);
    }

    fn work<'a>(&'a self, work: Work) -> LocalFuture<'a, Result<(), Overloaded>> {
        self.runtime.work(work)
    }

    fn work_wait(&self) -> Duration {
        self.runtime.work_wait()
    }

    fn processor_time(&self) -> Duration {
        self.runtime.processor_time()
    }

    fn deadline(&self, after: Duration) -> Box<dyn Fn() -> bool + Send> {
        self.runtime.deadline(after)
    }
}
