//! Attacks on secured messages, each refused; and what is no attack, accepted.

#![allow(clippy::panic, reason = "tests say so when a message is accepted that should not be")]

mod bombs;
mod exclusion;
mod forge;
mod harmless;
mod names;
mod oracles;
mod peers;
mod policies;
mod replays;
mod substitution;
mod transplants;
mod wrapping;

/// What is sent: a header block that is signed and one that is not, and an order.
pub(crate) const ENVELOPE: &str = r#"<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Header><h:Order xmlns:h="urn:h">4711</h:Order><h:Note xmlns:h="urn:h">hello</h:Note></soapenv:Header><soapenv:Body><order xmlns="urn:o"><symbol>IBM</symbol><price>12.50</price></order></soapenv:Body></soapenv:Envelope>"#;
