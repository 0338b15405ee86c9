//! The addresses that the server itself listens on.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Context;
use myelin_http::{Listener, bind, server_config};

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
}

/// The addresses of listeners, the same as URLs, and the listeners of each thread.
pub(crate) type OpenListeners = (Vec<SocketAddr>, Vec<String>, Vec<Vec<Listener>>);

/// Binds every address once a thread.
pub(crate) fn open_listeners(listen: &[Listen], threads: usize) -> anyhow::Result<OpenListeners> {
    let (mut addresses, mut urls) = (Vec::new(), Vec::new());
    let mut per_thread: Vec<Vec<Listener>> = (0..threads).map(|_| Vec::new()).collect();
    for wanted in listen {
        let (scheme, mut address, tls) = match wanted {
            Listen::Http(address) => ("http", *address, None),
            Listen::Https { address, chain, key } => ("https", *address, Some(server_config(chain, key)?)),
        };
        refuse_if_taken(address)?;
        for listeners in &mut per_thread {
            let socket = bind(address).with_context(|| format!("cannot listen on {address}"))?;
            // The first thread finds the port; the others share it.
            address = socket.local_addr()?;
            listeners.push(Listener { socket, tls: tls.clone(), inbound: None });
        }
        urls.push(format!("{scheme}://{address}"));
        addresses.push(address);
    }
    Ok((addresses, urls, per_thread))
}

/// Sharing a port between our threads must not become sharing it with another bus that was forgotten.
pub(crate) fn refuse_if_taken(address: SocketAddr) -> anyhow::Result<()> {
    if address.port() != 0 {
        std::net::TcpListener::bind(address).with_context(|| format!("cannot listen on {address}"))?;
    }
    Ok(())
}
