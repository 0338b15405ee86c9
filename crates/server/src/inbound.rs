//! The ports of inbound endpoints: opened and closed as the bus that serves has them.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow, ensure};
use myelin_mediation::{Bus, ClientCertificates, PortTls};
use myelin_transport::{Clients, Door, Listener, Presented, ServerConfig, bind, server_config_of};
use tokio::sync::mpsc::UnboundedSender;

use crate::server::{Swap, refuse_if_taken};

/// How long after a port could not be had it is tried again, and how long at most after it could not be had many times.
const AGAIN: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(30)];

/// What opens ports on all threads.
pub(crate) struct Doors {
    /// The addresses that the server has itself; ports are opened on the first of their hosts.
    own: Vec<SocketAddr>,
    threads: Vec<UnboundedSender<Door>>,
    /// The ports that are open, with what they show.
    open: BTreeMap<u16, Option<Arc<PortTls>>>,
    /// Why others are not offered, which is told once for each bus.
    told: BTreeMap<u16, String>,
}

impl Doors {
    pub(crate) fn new(own: Vec<SocketAddr>, threads: Vec<UnboundedSender<Door>>) -> Doors {
        Doors { own, threads, open: BTreeMap::new(), told: BTreeMap::new() }
    }

    /// Opens the ports that a bus has and closes the others; one that cannot be had is in the log, and the rest is open.
    /// Says whether another attempt may bring more.
    pub(crate) fn follow(&mut self, bus: &Bus) -> bool {
        let wanted = bus.ports();
        for port in self.open.keys().filter(|port| !wanted.contains_key(port)) {
            self.tell(|| Door::Close(*port));
            tracing::info!("port {port} is closed: there is no inbound endpoint for it any more");
        }
        self.open.retain(|port, _| wanted.contains_key(port));
        let mut may_pass = false;
        for (number, port) in wanted {
            let name = port.name;
            match self.offer(number, port.tls) {
                Ok(None) => {}
                Ok(Some(url)) => tracing::info!("inbound endpoint {name} is reached on {url}"),
                Err(error) => {
                    // The machine's: whoever has the port may let it go.
                    let passes = error.chain().any(|cause| cause.is::<io::Error>());
                    may_pass |= passes;
                    let again = if passes { "; its port is tried again" } else { "" };
                    let reason = format!("{error:#}{again}");
                    if self.told.get(&number) != Some(&reason) {
                        tracing::error!("inbound endpoint {name} is not offered: {reason}");
                        self.told.insert(number, reason);
                    }
                }
            }
        }
        may_pass
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

    /// Goes on with it, until the thread ends; ports that cannot be had are tried again, less and less often.
    pub(crate) async fn keep_up(mut self, swap: Swap) {
        let mut buses = swap.subscribe();
        let [first, last] = AGAIN;
        let mut wait = first;
        loop {
            let bus = Arc::clone(&buses.borrow_and_update());
            let may_pass = self.follow(&bus);
            // The bus is not to outlive its last request.
            drop(bus);
            tokio::select! {
                changed = buses.changed() => match changed {
                    Ok(()) => {
                        wait = first;
                        self.told.clear();
                    }
                    Err(_) => break,
                },
                () = tokio::time::sleep(wait), if may_pass => wait = last.min(wait * 2),
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
