//! A bus in the test's own process, before backends that are faulty or healthy.

#![allow(dead_code, reason = "each test file uses its own part")]

pub(crate) mod authority;
pub(crate) mod process;

use std::fs;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use myelin_server::{Listen, Running, Settings, UnderWay, start};
use myelin_testkit::faulty::{Backend, Latch, Script, Step, Until};

/// How long a test waits for what must happen, on a machine with other things to do.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// A running bus; stopped when dropped.
pub(crate) struct Bus {
    running: Option<Running>,
    /// Where it listens.
    pub(crate) address: SocketAddr,
}

impl Bus {
    /// A bus with one proxy, `P`, before one backend address.
    pub(crate) fn before(backend: SocketAddr) -> Bus {
        Bus::with(&proxy(backend), settings())
    }

    /// A bus with a configuration and settings of its own; it listens on a free port.
    pub(crate) fn with(configuration: &str, settings: Settings) -> Bus {
        Bus::mediating(configuration, &myelin_engine::Settings::default(), settings)
    }

    /// The same with settings of its own for what is mediated.
    pub(crate) fn mediating(configuration: &str, mediation: &myelin_engine::Settings, settings: Settings) -> Bus {
        let running = start(Arc::new(load(configuration, mediation)), settings).unwrap();
        let (_, address) = running.urls[0].split_once("://").unwrap();
        let address = address.parse().unwrap();
        Bus { running: Some(running), address }
    }

    /// Lets another configuration serve.
    pub(crate) fn swap_to(&self, bus: myelin_engine::Bus) {
        self.running.as_ref().unwrap().swap().to(Arc::new(bus));
    }

    /// The configuration that serves.
    pub(crate) fn bus(&self) -> Arc<myelin_engine::Bus> {
        self.running.as_ref().unwrap().swap().bus()
    }

    /// Stops it and tells whether all its threads ended well.
    pub(crate) fn stop(mut self) -> bool {
        self.running.take().is_some_and(|running| running.stop().is_ok())
    }

    /// Where it answers metrics and probes, if it does.
    pub(crate) fn admin(&self) -> Option<SocketAddr> {
        let url = self.running.as_ref().unwrap().admin.as_deref()?;
        Some(url.split_once("://").unwrap().1.parse().unwrap())
    }

    /// What is under way in it.
    pub(crate) fn under_way(&self) -> UnderWay {
        self.running.as_ref().unwrap().under_way()
    }

    /// What stops it from another thread.
    pub(crate) fn stopper(&self) -> myelin_http::Stop {
        self.running.as_ref().unwrap().stopper()
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            let _ = running.stop();
        }
    }
}

/// Loads a configuration, all of which must be sound.
pub(crate) fn load(configuration: &str, settings: &myelin_engine::Settings) -> myelin_engine::Bus {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("synapse.xml");
    fs::write(&file, configuration).unwrap();
    let loaded = myelin_engine::load(&[file], settings);
    assert_eq!(loaded.report.faulty(), 0, "{}", loaded.report.to_text());
    loaded.bus
}

/// A configuration with one proxy, `P`, that passes everything to an address.
pub(crate) fn proxy(backend: impl std::fmt::Display) -> String {
    definitions(&format!(
        r#"<proxy name="P" transports="http https"><target><endpoint><address uri="http://{backend}/b"/></endpoint></target></proxy>"#
    ))
}

/// A whole configuration around some artefacts.
pub(crate) fn definitions(artefacts: &str) -> String {
    format!(r#"<definitions xmlns="http://ws.apache.org/ns/synapse">{artefacts}</definitions>"#)
}

/// One thread on a free port, with deadlines short enough for tests and a short drain.
pub(crate) fn settings() -> Settings {
    let mut settings =
        Settings { listen: vec![Listen::Http(([127, 0, 0, 1], 0).into())], threads: 1, ..Settings::default() };
    settings.server.drain = Duration::from_millis(500);
    settings
}

/// A backend that answers every request in the same way and keeps its connections.
pub(crate) fn answering(response: impl Into<Vec<u8>>) -> Backend {
    Backend::start([Script::answering(response)]).unwrap()
}

/// A backend that answers each request in the same way once the latch is open.
pub(crate) fn held(latch: &Latch, response: impl Into<Vec<u8>>) -> Backend {
    let steps = [
        Step::Read(Until::Head),
        Step::Read(Until::Body),
        Step::Hold(latch.clone()),
        Step::Send(response.into()),
        Step::Again,
    ];
    Backend::start(Script::of(steps)).unwrap()
}

/// A POST to the proxy `P` with a length.
pub(crate) fn post(body: &str) -> Vec<u8> {
    format!("POST /services/P HTTP/1.1\r\nHost: bus\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}
