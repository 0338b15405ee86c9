//! The addresses that the server itself listens on.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use myelin_http::{Listener, bind};

use crate::certificates::{Shown, Source};
use crate::deployment::KeyStoreTls;

/// Where to listen.
#[derive(Clone, Debug)]
pub enum Listen {
    /// Plain HTTP.
    Http(SocketAddr),
    /// HTTPS, with a PEM file of the certificate chain and one of its key.
    Https {
        /// The address.
        address: SocketAddr,
        /// Leaf first.
        chain: PathBuf,
        /// The leaf's private key.
        key: PathBuf,
    },
    /// HTTPS as a `deployment.toml` has it.
    Deployed(SocketAddr, Arc<KeyStoreTls>),
}

impl Listen {
    /// The address, and where what it shows comes from; `None` for plain HTTP.
    fn parts(&self) -> (SocketAddr, Option<Source>) {
        match self {
            Listen::Http(address) => (*address, None),
            Listen::Https { address, chain, key } => {
                (*address, Some(Source::Files { chain: chain.clone(), key: key.clone() }))
            }
            Listen::Deployed(address, store) => (*address, Some(Source::Store(Arc::clone(store)))),
        }
    }
}

/// Listeners that are open.
pub(crate) struct Opened {
    /// Their addresses, with real ports.
    pub(crate) addresses: Vec<SocketAddr>,
    /// The same as URLs.
    pub(crate) urls: Vec<String>,
    /// The listeners of each thread.
    pub(crate) per_thread: Vec<Vec<Listener>>,
    /// What those of HTTPS show.
    pub(crate) shown: Vec<Shown>,
}

/// Binds every address once a thread.
pub(crate) fn open_listeners(listen: &[Listen], threads: usize) -> anyhow::Result<Opened> {
    let (mut addresses, mut urls, mut shown) = (Vec::new(), Vec::new(), Vec::new());
    let mut per_thread: Vec<Vec<Listener>> = (0..threads).map(|_| Vec::new()).collect();
    for wanted in listen {
        let (mut address, source) = wanted.parts();
        let (scheme, tls) = match source.as_ref().map(Source::read).transpose()? {
            None => ("http", None),
            Some(read) => ("https", Some(read)),
        };
        refuse_if_taken(address)?;
        for listeners in &mut per_thread {
            let socket = bind(address).with_context(|| format!("cannot listen on {address}"))?;
            // The first thread finds the port; the others share it.
            address = socket.local_addr()?;
            listeners.push(Listener { socket, tls: tls.as_ref().map(|read| read.config.clone()), inbound: None });
        }
        let url = format!("{scheme}://{address}");
        if let Some((source, read)) = source.zip(tls) {
            shown.push(Shown { url: url.clone(), port: address.port(), source, mark: read.mark });
        }
        urls.push(url);
        addresses.push(address);
    }
    Ok(Opened { addresses, urls, per_thread, shown })
}

/// Sharing a port between our threads must not become sharing it with another bus that was forgotten.
pub(crate) fn refuse_if_taken(address: SocketAddr) -> anyhow::Result<()> {
    if address.port() != 0 {
        std::net::TcpListener::bind(address).with_context(|| format!("cannot listen on {address}"))?;
    }
    Ok(())
}
