//! A protocol as the table of channels lists it.

use std::rc::Rc;

use crate::{Parameters, Runtime, Sender, Source};

/// What the bus knows of a protocol while it loads a configuration.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// The word for it in messages: `http`, `file`.
    pub name: &'static str,
    /// What the addresses of endpoints begin with, up to their first colon.
    pub schemes: &'static [&'static str],
    /// The names that a proxy's `transports` attribute has for it.
    pub transports: &'static [&'static str],
    /// The protocols of inbound endpoints.
    pub protocols: &'static [&'static str],
    /// Whether an address can be sent to; the error is a sentence that says what would be right.
    pub check_address: fn(&str) -> Result<(), String>,
    /// What sends, for one thread; `None` where the server itself does, or where the channel only receives.
    pub sender: Option<MakeSender>,
    /// How messages are received: from the parameters of a proxy or an inbound endpoint, what they come from.
    pub receive: Receive,
}

/// Makes what sends for one thread, whose waits go by that clock.
pub type MakeSender = fn(Rc<dyn Runtime>) -> Rc<dyn Sender>;

/// How the messages of a channel get to a proxy or an inbound endpoint.
#[derive(Clone, Copy, Debug)]
pub enum Receive {
    /// It only sends.
    Never,
    /// By the listeners of the server, which find a service by the path of a request.
    ByListener,
    /// By a source of its own for each proxy or inbound endpoint; `None` where the parameters have a problem.
    BySource(fn(&Parameters) -> Option<Box<dyn Source>>),
}

/// HTTP and HTTPS: the language itself knows them, by the paths of proxies and APIs.
pub const HTTP: Spec = Spec {
    name: "http",
    schemes: &["http", "https"],
    transports: &["http", "https"],
    protocols: &["http", "https"],
    check_address: |_| Ok(()),
    sender: None,
    receive: Receive::ByListener,
};

/// Services of the same bus, reached without a connection.
pub const LOCAL: Spec = Spec {
    name: "local",
    schemes: &["local"],
    transports: &["local"],
    protocols: &[],
    check_address: |_| Ok(()),
    sender: None,
    receive: Receive::ByListener,
};

/// What a bus knows of channels where nobody says otherwise.
pub const BUILT_IN: &[Spec] = &[HTTP, LOCAL];

/// Words as a sentence lists them: `http, https and local`.
pub fn listed<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<&str> = words.into_iter().collect();
    match words.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// The channel that sends to addresses with that scheme.
pub fn find_scheme(channels: &'static [Spec], scheme: &str) -> Option<&'static Spec> {
    channels.iter().find(|spec| spec.schemes.contains(&scheme))
}
