//! The ports of inbound endpoints: opened and closed as the bus that serves has them.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, anyhow, ensure};
use myelin_mediation::{Bus, ClientCertificates, PortTls};
use myelin_transport::{Clients, Door, Listener, Presented, ServerConfig, bind, server_config_of};
use tokio::sync::mpsc::UnboundedSender;

use crate::server::{Swap, refuse_if_taken};

/// What opens ports on all threads.
pub(crate) struct Doors {
    /// The addresses that the server has itself; ports are opened on the first of their hosts.
    own: Vec<SocketAddr>,
    threads: Vec<UnboundedSender<Door>>,
    /// The ports that are open, with what they show.
    open: BTreeMap<u16, Option<Arc<PortTls>>>,
}

impl Doors {
    pub(crate) fn new(own: Vec<SocketAddr>, threads: Vec<UnboundedSender<Door>>) -> Doors {
        Doors { own, threads, open: BTreeMap::new() }
    }

    /// Opens the ports that a bus has and closes the others; one that cannot be had is in the log, and the rest is.
    pub(crate) fn follow(&mut self, bus: &Bus) {
        let wanted = bus.ports();
        for port in self.open.keys().filter(|port| !wanted.contains_key(port)) {
            self.tell(|| Door::Close(*port));
            tracing::info!("port {port} is closed: there is no inbound endpoint for it any more");
        }
        self.open.retain(|port, _| wanted.contains_key(port));
        for (number, port) in wanted {
            let name = port.name;
            match self.offer(number, port.tls) {
                Ok(None) => {}
                Ok(Some(url)) => tracing::info!("inbound endpoint {name} is reached on {url}"),
                Err(error) => tracing::error!("inbound endpoint {name} is not offered: {error:#}"),
            }
        }
    }

    /// Opens a port, or lets it show something else; gives its URL where anything is new.
    fn offer(&mut self, port: u16, tls: Option<&Arc<PortTls>>) -> anyhow::Result<Option<String>> {
        if self.open.get(&port).is_some_and(|open| open.as_ref() == tls) {
            return Ok(None);
        }
        let config = tls.map(|tls| server_config_of(presented(tls)).map_err(|reason| anyhow!("TLS: {reason}")));
        let config = config.transpose()?;
        let host = self.own.first().map(SocketAddr::ip).context("the server has no address")?;
        let address = SocketAddr::new(host, port);
        if self.open.contains_key(&port) {
            self.tell(|| Door::Show(port, config.clone()));
        } else {
            self.bind(address, config.as_ref())?;
        }
        self.open.insert(port, tls.cloned());
        let scheme = if tls.is_some() { "https" } else { "http" };
        Ok(Some(format!("{scheme}://{address}")))
    }

    fn tell(&self, door: impl Fn() -> Door) {
        for thread in &self.threads {
            // A thread that has ended listens no more.
            let _ = thread.send(door());
        }
    }

    /// Goes on with it, until the thread ends.
    pub(crate) async fn keep_up(mut self, swap: Swap) {
        let mut buses = swap.subscribe();
        loop {
            let bus = Arc::clone(&buses.borrow_and_update());
            self.follow(&bus);
            // The bus is not to outlive its last request.
            drop(bus);
            if buses.changed().await.is_err() {
                break;
            }
        }
    }

    fn bind(&self, address: SocketAddr, tls: Option<&Arc<ServerConfig>>) -> anyhow::Result<()> {
        let port = address.port();
        ensure!(self.own.iter().all(|own| own.port() != port), "port {port} is one of the server itself");
        refuse_if_taken(address)?;
        let socket = || bind(address).with_context(|| format!("cannot listen on {address}"));
        // All or none: a port that only some threads have would lose connections.
        let sockets = self.threads.iter().map(|_| socket()).collect::<anyhow::Result<Vec<_>>>()?;
        for (thread, socket) in self.threads.iter().zip(sockets) {
            let _ = thread.send(Door::Open(Listener { socket, tls: tls.cloned(), inbound: Some(port) }));
        }
        Ok(())
    }
}

/// What the configuration says of a port, as the transport takes it.
fn presented(tls: &PortTls) -> Presented {
    Presented {
        chain: tls.chain.clone(),
        key: tls.key.as_ref().to_vec(),
        clients: match &tls.clients {
            ClientCertificates::NotAsked => Clients::NotAsked,
            ClientCertificates::Optional(roots) => Clients::Optional(roots.clone()),
            ClientCertificates::Required(roots) => Clients::Required(roots.clone()),
        },
        has_1_2: tls.has_1_2,
        has_1_3: tls.has_1_3,
    }
}
