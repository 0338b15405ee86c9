//! The ports of inbound endpoints: opened and closed as the bus that serves has them.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow, ensure};
use myelin_channel::PortTls;
use myelin_engine::Bus;
use myelin_http::{Listener, ListenerCommand, ServerConfig, bind, server_config_of};
use tokio::sync::mpsc::UnboundedSender;

use crate::listeners::refuse_if_taken;
use crate::swap::Swap;

/// How long after a port could not be had it is tried again, and how long at most after it could not be had many times.
const AGAIN: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(30)];

/// Whether the inbound endpoints of a bus can show their certificates.
///
/// Errors: keys that TLS cannot use.
pub(crate) fn can_listen(bus: &Bus) -> anyhow::Result<()> {
    for port in bus.ports().into_values() {
        config_of(port.tls).with_context(|| format!("inbound endpoint {} cannot listen", port.name))?;
    }
    Ok(())
}

fn config_of(tls: Option<&Arc<PortTls>>) -> anyhow::Result<Option<Arc<ServerConfig>>> {
    tls.map(|tls| server_config_of(tls).map_err(|reason| anyhow!("TLS: {reason}"))).transpose()
}

/// What opens ports on all threads.
pub(crate) struct InboundPorts {
    /// The addresses that the server has itself; ports are opened on the first of their hosts.
    own: Vec<SocketAddr>,
    threads: Vec<UnboundedSender<ListenerCommand>>,
    /// The ports that are open, with who has them and what they show.
    open: BTreeMap<u16, (Arc<str>, Option<Arc<PortTls>>)>,
    /// Why others are not offered, which is told once for each bus.
    told: BTreeMap<u16, String>,
}

impl InboundPorts {
    pub(crate) fn new(own: Vec<SocketAddr>, threads: Vec<UnboundedSender<ListenerCommand>>) -> InboundPorts {
        InboundPorts { own, threads, open: BTreeMap::new(), told: BTreeMap::new() }
    }

    /// Opens the ports that a bus has and closes the others; one that cannot be had is in the log, and the rest is open.
    /// Says whether another attempt may bring more.
    pub(crate) fn follow(&mut self, bus: &Bus) -> bool {
        let wanted = bus.ports();
        for port in self.open.keys().filter(|port| !wanted.contains_key(port)) {
            self.tell(|| ListenerCommand::Close(*port));
            tracing::info!("port {port} is closed because no inbound endpoint uses it any more");
        }
        self.open.retain(|port, _| wanted.contains_key(port));
        let mut may_pass = false;
        for (number, port) in wanted {
            let name = port.name;
            match self.offer(number, name, port.tls) {
                Ok(None) => {}
                Ok(Some(url)) => tracing::info!("inbound endpoint {name} listens on {url}"),
                Err(error) => {
                    // The machine's: whoever has the port may let it go.
                    let passes = error.chain().any(|cause| cause.is::<io::Error>());
                    may_pass |= passes;
                    let again = if passes { "; its port is tried again" } else { "" };
                    let reason = format!("{error:#}{again}");
                    if self.told.get(&number) != Some(&reason) {
                        tracing::error!("inbound endpoint {name} cannot listen: {reason}");
                        self.told.insert(number, reason);
                    }
                }
            }
        }
        may_pass
    }

    /// Opens a port, or lets it show something else; gives its URL where anything is new.
    fn offer(&mut self, port: u16, inbound: &Arc<str>, tls: Option<&Arc<PortTls>>) -> anyhow::Result<Option<String>> {
        if self.open.get(&port).is_some_and(|(name, open)| name == inbound && open.as_ref() == tls) {
            return Ok(None);
        }
        let config = config_of(tls)?;
        let host = self.own.first().map(SocketAddr::ip).context("the server has no address")?;
        let address = SocketAddr::new(host, port);
        if self.open.contains_key(&port) {
            self.tell(|| ListenerCommand::Change { port, tls: config.clone(), inbound: Some(Arc::clone(inbound)) });
        } else {
            self.bind(address, config.as_ref(), inbound)?;
        }
        self.open.insert(port, (Arc::clone(inbound), tls.cloned()));
        let scheme = if tls.is_some() { "https" } else { "http" };
        Ok(Some(format!("{scheme}://{address}")))
    }

    fn tell(&self, command: impl Fn() -> ListenerCommand) {
        for thread in &self.threads {
            // A thread that has ended listens no more.
            let _ = thread.send(command());
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

    fn bind(&self, address: SocketAddr, tls: Option<&Arc<ServerConfig>>, inbound: &Arc<str>) -> anyhow::Result<()> {
        let port = address.port();
        ensure!(self.own.iter().all(|own| own.port() != port), "port {port} is one of the server itself");
        refuse_if_taken(address)?;
        let socket = || bind(address).with_context(|| format!("cannot listen on {address}"));
        // All or none: a port that only some threads have would lose connections.
        let sockets = self.threads.iter().map(|_| socket()).collect::<anyhow::Result<Vec<_>>>()?;
        for (thread, socket) in self.threads.iter().zip(sockets) {
            let inbound = Some(Arc::clone(inbound));
            let _ = thread.send(ListenerCommand::Open(Listener { socket, tls: tls.cloned(), inbound }));
        }
        Ok(())
    }
}
