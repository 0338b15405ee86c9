//! What the server's own HTTPS listeners show, read again when it was changed.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, anyhow};
use myelin_http::{ListenerCommand, ServerConfig, server_config, server_config_of};
use tokio::sync::mpsc::UnboundedSender;

use crate::deployment::KeyStoreTls;

/// Where a certificate and its key come from.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// PEM files: `--cert` and `--key`.
    Files { chain: PathBuf, key: PathBuf },
    /// The key store of a `deployment.toml`.
    Store(Arc<KeyStoreTls>),
}

/// What was read there.
pub(crate) struct Fresh {
    pub(crate) config: Arc<ServerConfig>,
    /// What tells it from what was read at another time.
    pub(crate) mark: u64,
}

impl Source {
    /// Reads it.
    ///
    /// Errors: a file that cannot be read or used, with its name.
    pub(crate) fn read(&self) -> anyhow::Result<Fresh> {
        let mut mark = DefaultHasher::new();
        let config = match self {
            Source::Files { chain, key } => {
                let bytes = |path: &Path| std::fs::read(path).with_context(|| path.display().to_string());
                (bytes(chain)?, bytes(key)?).hash(&mut mark);
                server_config(chain, key)?
            }
            Source::Store(store) => {
                let tls = store.read()?;
                (&tls.chain, tls.key.as_slice(), &tls.clients, tls.has_1_2, tls.has_1_3).hash(&mut mark);
                server_config_of(&tls).map_err(|reason| anyhow!("{}: {reason}", store.name()))?
            }
        };
        Ok(Fresh { config, mark: mark.finish() })
    }
}

/// What a listener shows.
#[derive(Clone)]
pub(crate) struct Shown {
    pub(crate) url: String,
    pub(crate) port: u16,
    pub(crate) source: Source,
    pub(crate) mark: u64,
}

/// What all listeners of the server show, and the threads that they listen on.
#[derive(Clone)]
pub(crate) struct Certificates {
    shown: Vec<Shown>,
    threads: Vec<UnboundedSender<ListenerCommand>>,
}

impl Certificates {
    pub(crate) fn new(shown: Vec<Shown>, threads: Vec<UnboundedSender<ListenerCommand>>) -> Certificates {
        Certificates { shown, threads }
    }

    /// Shows what is there now to connections from now on; what cannot be used leaves the old one in use, with an error
    /// in the log. `store` is that of a `deployment.toml` that was read again, if it still names one.
    pub(crate) fn reload(&mut self, store: Option<&Arc<KeyStoreTls>>) {
        for shown in &mut self.shown {
            if let (Source::Store(old), Some(new)) = (&mut shown.source, store) {
                *old = Arc::clone(new);
            }
            match shown.source.read() {
                Ok(read) if read.mark == shown.mark => {}
                Ok(read) => {
                    shown.mark = read.mark;
                    for thread in &self.threads {
                        let (port, tls) = (shown.port, Some(Arc::clone(&read.config)));
                        // A thread that has ended listens no more.
                        let _ = thread.send(ListenerCommand::Change { port, tls, inbound: None });
                    }
                    tracing::info!("{} shows its new certificate to connections from now on", shown.url);
                }
                Err(error) => {
                    tracing::error!(
                        "the new certificate of {} is refused, the old one stays in use: {error:#}",
                        shown.url
                    );
                }
            }
        }
    }

    /// The files that it comes from.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.shown.iter().flat_map(|shown| match &shown.source {
            Source::Files { chain, key } => vec![chain.as_path(), key.as_path()],
            Source::Store(store) => store.files(),
        })
    }
}
