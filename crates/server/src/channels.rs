//! The protocols that the bus speaks. To add one: its crate below `crates/channels`, and its line here.

use std::rc::Rc;

use myelin_channel::{Runtime, Sender, Spec};

/// Every channel. HTTP is served by the listeners of the server and sent by its client, `local` by the engine.
pub(crate) const CHANNELS: &[Spec] = &[myelin_http::SPEC, myelin_local::SPEC, myelin_file::SPEC];

/// What sends to addresses of the other channels, on one thread.
pub(crate) struct Senders(Vec<(&'static Spec, Rc<dyn Sender>)>);

impl Senders {
    /// Those of all channels that have one.
    pub(crate) fn new(runtime: &Rc<dyn Runtime>) -> Senders {
        let sender = |spec: &'static Spec| Some((spec, spec.sender?(Rc::clone(runtime))));
        Senders(CHANNELS.iter().filter_map(sender).collect())
    }

    /// The one for addresses with that scheme.
    pub(crate) fn find(&self, scheme: &str) -> Option<&Rc<dyn Sender>> {
        self.0.iter().find(|(spec, _)| spec.schemes.contains(&scheme)).map(|(_, sender)| sender)
    }
}
