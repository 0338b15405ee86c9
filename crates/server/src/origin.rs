//! Where the configuration of a process comes from, and how it is loaded.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use myelin_engine::database::Databases;
use myelin_engine::{Loaded, ReloadState, Replies, Report, Sources, load};
use myelin_wss::Replays;

use crate::deployment::{self, Deployment, ReadOptions};
use crate::memory_limit::work_bytes;
use crate::runtime::thread_count;

/// Where the configuration of a bus comes from.
#[derive(Clone)]
pub(crate) struct Origin {
    paths: Vec<PathBuf>,
    /// The `deployment.toml`.
    deployment: Option<PathBuf>,
    /// What takes the place of its `[server] offset`.
    port_offset: Option<u16>,
    /// What remembers the secured messages that were accepted: it is the process's, whatever bus serves.
    replays: Arc<Replays>,
    /// Who waits for answers that come in on their own, whatever bus asked.
    replies: Replies,
    /// Who speaks with databases, whatever bus asks.
    databases: Option<Arc<dyn Databases>>,
    /// What its buses have learnt.
    reload_state: ReloadState,
    /// The ports of plain HTTP and of HTTPS that were given, where any were.
    ports: [Option<u16>; 2],
    /// `[myelin.memory] bytes` as it was at the start, from when on it holds.
    memory_bytes: Option<usize>,
    /// How many threads work on messages at once.
    threads: usize,
    /// Whether a reference to what is not there keeps its artefact from running.
    is_strict: bool,
}

/// What was read from there.
pub(crate) struct Read {
    pub(crate) loaded: Loaded,
    pub(crate) deployment: Deployment,
}

impl Origin {
    /// A configuration and its `deployment.toml`, for the life of this process.
    ///
    /// Errors: the file cannot be used, or the folder where it says that messages are remembered.
    pub(crate) fn new(
        paths: &[PathBuf],
        deployment: Option<&Path>,
        port_offset: Option<u16>,
    ) -> anyhow::Result<Origin> {
        let options = ReadOptions { port_offset, is_strict: false };
        let first = deployment.map(|path| deployment::read(path, options)).transpose()?.unwrap_or_default();
        let deployment = deployment.map(Path::to_owned);
        Ok(Origin {
            paths: paths.to_owned(),
            deployment,
            port_offset,
            replays: Arc::new(first.replays()?),
            replies: Replies::default(),
            databases: first.databases(),
            reload_state: ReloadState::default(),
            ports: [None; 2],
            memory_bytes: first.memory_bytes(),
            threads: thread_count(0),
            is_strict: false,
        })
    }

    /// The same for a bus that listens at these addresses, or, without any, where its `deployment.toml` says.
    pub(crate) fn listening(self, http: &[SocketAddr], https: &[SocketAddr]) -> Origin {
        // Nobody knows yet which port a 0 will become.
        let port = |addresses: &[SocketAddr]| addresses.first().map(SocketAddr::port).filter(|&port| port != 0);
        Origin { ports: [port(http), port(https)], ..self }
    }

    /// The same for a bus that serves on so many threads; 0 is one per core.
    pub(crate) fn on_threads(self, threads: usize) -> Origin {
        Origin { threads: thread_count(threads), ..self }
    }

    /// The same where a reference to what is not there is a problem of its artefact, if `is_strict`.
    pub(crate) fn strict(self, is_strict: bool) -> Origin {
        Origin { is_strict, ..self }
    }

    /// The paths of the configuration.
    pub(crate) fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// Loads an archive alone, as it would be loaded with the rest, and says what was found in it.
    ///
    /// Errors: the `deployment.toml` cannot be used.
    pub(crate) fn check(&self, archive: &Path) -> anyhow::Result<Report> {
        // What it would inherit is that of its namesakes, which serve.
        let alone = Origin { paths: vec![archive.to_owned()], reload_state: ReloadState::default(), ..self.clone() };
        Ok(alone.read()?.loaded.report)
    }

    /// Loads the configuration as it is now.
    ///
    /// Errors: the `deployment.toml` cannot be used; whatever else is wrong stands in the report.
    pub(crate) fn read(&self) -> anyhow::Result<Read> {
        let sources = Sources::default();
        let deployment = match &self.deployment {
            Some(path) => {
                sources.look(path);
                deployment::read(path, ReadOptions { port_offset: self.port_offset, is_strict: self.is_strict })?
            }
            None => Deployment::default(),
        };
        let mut settings = myelin_engine::Settings { is_strict: self.is_strict, ..myelin_engine::Settings::default() };
        settings.security.now = Some(SystemTime::now());
        settings.security.replays = Arc::clone(&self.replays);
        settings.replies = self.replies.clone();
        settings.reload_state = self.reload_state.clone();
        settings.databases.databases = self.databases.clone();
        settings.bound_work(work_bytes(self.memory_bytes, self.threads));
        deployment.apply_mediation(&mut settings)?;
        let [http, https] = self.ports;
        settings.addresses.http_port = http.or(deployment.http.map(|http| http.port()).filter(|_| https.is_none()));
        settings.addresses.https_port = https.or(deployment.https_port());
        let loaded = load(&self.paths, &settings);
        loaded.sources.add(sources.as_read());
        Ok(Read { loaded, deployment })
    }
}
