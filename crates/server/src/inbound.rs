//! The ports of inbound endpoints: opened and closed as the bus that serves has them.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, ensure};
use myelin_mediation::Bus;
use myelin_transport::{Door, Listener, bind};
use tokio::sync::mpsc::UnboundedSender;

use crate::server::{Swap, refuse_if_taken};

/// What opens ports on all threads.
pub(crate) struct Doors {
    /// The addresses that the server has itself; ports are opened on the first of their hosts.
    own: Vec<SocketAddr>,
    threads: Vec<UnboundedSender<Door>>,
    open: BTreeSet<u16>,
}

impl Doors {
    pub(crate) fn new(own: Vec<SocketAddr>, threads: Vec<UnboundedSender<Door>>) -> Doors {
        Doors { own, threads, open: BTreeSet::new() }
    }

    /// Opens the ports that a bus has and closes the others; one that cannot be had is in the log, and the rest is.
    pub(crate) fn follow(&mut self, bus: &Bus) {
        let wanted = bus.ports();
        for port in self.open.iter().filter(|port| !wanted.contains_key(port)) {
            self.threads.iter().for_each(|thread| {
                // A thread that has ended listens no more.
                let _ = thread.send(Door::Close(*port));
            });
            tracing::info!("port {port} is closed: there is no inbound endpoint for it any more");
        }
        self.open.retain(|port| wanted.contains_key(port));
        for (port, name) in wanted {
            if self.open.contains(&port) {
                continue;
            }
            match self.open(port) {
                Ok(address) => {
                    self.open.insert(port);
                    tracing::info!("inbound endpoint {name} is reached on http://{address}");
                }
                Err(error) => tracing::error!("inbound endpoint {name} is not offered: {error:#}"),
            }
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

    fn open(&self, port: u16) -> anyhow::Result<SocketAddr> {
        ensure!(self.own.iter().all(|own| own.port() != port), "port {port} is one of the server itself");
        let host = self.own.first().map(SocketAddr::ip).context("the server has no address")?;
        let address = SocketAddr::new(host, port);
        refuse_if_taken(address)?;
        let socket = || bind(address).with_context(|| format!("cannot listen on {address}"));
        // All or none: a port that only some threads have would lose connections.
        let sockets = self.threads.iter().map(|_| socket()).collect::<anyhow::Result<Vec<_>>>()?;
        for (thread, socket) in self.threads.iter().zip(sockets) {
            let _ = thread.send(Door::Open(Listener { socket, tls: None, inbound: Some(port) }));
        }
        Ok(address)
    }
}
