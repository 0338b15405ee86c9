//! Apache Synapse 3.0.1 as it comes: the bus that says what a configuration means.
//!
//! `tests/interop/synapse/README.md` says how it is set up.

use std::net::SocketAddr;
use std::path::Path;

use crate::gateway::Gateway;

/// The bus, running until this is dropped.
#[derive(Debug)]
pub struct Synapse(Gateway);

impl Synapse {
    /// Starts it on the `synapse.xml` of a folder; `None`, and the test says so, where it cannot run.
    ///
    /// Shape: files that the configuration names start at `folder`, to which Synapse adds what it needs of its own.
    /// Panics: everything is there and it does not start; ours.
    pub fn start(folder: &Path) -> Option<Synapse> {
        let home = crate::target::folder().join("synapse");
        let started = Gateway::start("tests/interop/synapse/run.sh", &home, |command, port| {
            command.arg(folder).arg(port.to_string());
        });
        match started {
            Ok(Some(gateway)) => Some(Synapse(gateway)),
            Ok(None) => {
                crate::skip("Synapse needs a JDK, Maven, and for the first time the network");
                None
            }
            Err(error) => panic!("Synapse does not start in {}: {error}", home.display()),
        }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }
}
