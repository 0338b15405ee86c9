//! Apache Synapse with Rampart as a gateway: the other bus, for interoperability of `legacy` WS-Security.
//!
//! `bench/kits/rampart/README.md` says what its policy asks for.

use std::net::SocketAddr;
use std::path::Path;

use crate::gateway::Gateway;

/// The gateway, running until this is dropped.
pub struct Rampart(Gateway);

impl Rampart {
    /// Starts it in front of a plain HTTP backend; `None`, and the test says so, where it cannot run.
    ///
    /// `keys` is the folder of [`crate::wss4j::Wss4j::keys`]: the gateway is `bob-1024`, its client `alice-1024`.
    /// Panics: everything is there and it does not start; ours.
    pub fn start(keys: &Path, backend: SocketAddr) -> Option<Rampart> {
        let home = crate::target::folder().join("rampart");
        let started = Gateway::start("bench/kits/rampart/run.sh", &home, |command, port| {
            command.arg(keys).arg(port.to_string()).arg(format!("http://{backend}/"));
        });
        match started {
            Ok(Some(gateway)) => Some(Rampart(gateway)),
            Ok(None) => {
                crate::skip("Synapse with Rampart needs a JDK, Maven, and for the first time the network");
                None
            }
            Err(error) => panic!("Synapse with Rampart does not start in {}: {error}", home.display()),
        }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }

    /// The path of its one proxy service.
    pub const PATH: &str = "/services/secure";
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::faulty::{Backend, Script};
    use crate::raw;
    use crate::wss4j::{AS_RAMPART, Wss4j};

    const PLAIN: &str = concat!(
        r#"<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>"#,
        r#"<m:order xmlns:m="http://services.samples/xsd">IBM</m:order></s:Body></s:Envelope>"#
    );

    #[test]
    fn a_secured_exchange_goes_through_the_other_bus() {
        let Some(wss4j) = Wss4j::shared() else { return };
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: {}\r\n\r\n", PLAIN.len());
        let backend = Backend::start([Script::answering(head + PLAIN)]).expect("a backend on loopback");
        let Some(rampart) = Rampart::start(wss4j.keys(), backend.address()) else { return };

        let request = wss4j.secure(PLAIN.as_bytes(), &AS_RAMPART).expect("it can be secured").message;
        let mut client = raw::Client::connect(rampart.address()).expect("it listens");
        client.deadline(Duration::from_secs(60));
        let answer = client.exchange(&post(&request)).expect("it answers");
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert!(backend.connections()[0].text().contains(">IBM</m:order>"));

        let required = [("action", "Timestamp Signature Encrypt"), ("allowRSA15KeyTransportAlgorithm", "true")];
        let verified = wss4j.verify(&answer.body, &required).expect("the answer is accepted");
        assert!(verified.all("certificate").any(|name| name.contains("CN=bob-1024")), "{:?}", verified.facts);
        assert!(String::from_utf8_lossy(&verified.message).contains(">IBM</m:order>"));

        let unsecured = client.exchange(&post(PLAIN.as_bytes())).expect("it answers");
        assert_eq!(unsecured.status, 500, "{}", unsecured.text());
    }

    fn post(body: &[u8]) -> Vec<u8> {
        let (path, length) = (Rampart::PATH, body.len());
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: rampart\r\nContent-Type: text/xml; charset=UTF-8\r\n\
             SOAPAction: \"urn:mediate\"\r\nContent-Length: {length}\r\n\r\n"
        );
        [head.as_bytes(), body].concat()
    }
}
