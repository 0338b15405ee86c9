//! Apache Synapse with Rampart as a gateway: the other bus, for interoperability of `legacy` WS-Security.
//!
//! `tests/interop/rampart/README.md` says what its policy asks for.

use std::fs::{self, File};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Downloads included.
const START: Duration = Duration::from_secs(8 * 60);
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/interop/rampart/run.sh");
/// How the script says that the machine lacks something.
const LACKING: i32 = 3;

/// The gateway, running until this is dropped.
pub struct Rampart {
    child: Child,
    address: SocketAddr,
}

impl Rampart {
    /// Starts it in front of a plain HTTP backend; `None`, and the test says so, where it cannot run.
    ///
    /// `keys` is the folder of [`crate::wss4j::Wss4j::keys`]: the gateway is `bob-1024`, its client `alice-1024`.
    /// Panics: everything is there and it does not start; ours.
    pub fn start(keys: &Path, backend: SocketAddr) -> Option<Rampart> {
        let home = crate::target::folder().join("rampart");
        match launch(&home, keys, backend) {
            Ok(Some(rampart)) => Some(rampart),
            Ok(None) => {
                crate::skip("Synapse with Rampart needs a JDK, Maven, and for the first time the network");
                None
            }
            Err(error) => panic!("Synapse with Rampart does not start in {}: {error}", home.display()),
        }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The path of its one proxy service.
    pub const PATH: &str = "/services/secure";
}

impl Drop for Rampart {
    fn drop(&mut self) {
        // It has nothing to finish.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts the script and waits until it listens; `None` where the machine lacks something.
fn launch(home: &Path, keys: &Path, backend: SocketAddr) -> io::Result<Option<Rampart>> {
    fs::create_dir_all(home)?;
    // Free a moment ago; Synapse cannot be told to choose one itself.
    let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
    let log = File::create(home.join(format!("{}.log", address.port())))?;
    let mut script = Command::new(SCRIPT);
    script.arg(home).arg(keys).arg(address.port().to_string()).arg(format!("http://{backend}/"));
    let child = script.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn()?;
    let mut rampart = Rampart { child, address };
    let end = Instant::now() + START;
    while TcpStream::connect(address).is_err() {
        match rampart.child.try_wait()? {
            Some(status) if status.code() == Some(LACKING) => return Ok(None),
            Some(status) => return Err(io::Error::other(format!("it ends with {status}; its log is there"))),
            None if Instant::now() > end => return Err(io::ErrorKind::TimedOut.into()),
            None => thread::sleep(Duration::from_millis(100)),
        }
    }
    Ok(Some(rampart))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw;
    use crate::rude::{Backend, Script};
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
