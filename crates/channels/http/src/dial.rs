//! Opens connections: names to addresses, addresses to sockets, TLS on top.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use rustix::io::Errno;
use rustls_pki_types::ServerName;
use tokio::net::{TcpStream, lookup_host};
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;

use crate::stream::{Stream, Tls};
use crate::timer::Tick;
use crate::tls::Trust;

/// Names remembered at once; a bus that calls addresses made up by its clients must not grow by them.
const REMEMBERED_NAMES: usize = 1024;

/// Whether the process, or the machine, has no file descriptor left.
pub(crate) fn is_out_of_files(error: &io::Error) -> bool {
    let codes = [Errno::MFILE, Errno::NFILE].map(|code| Some(code.raw_os_error()));
    codes.contains(&error.raw_os_error())
}

/// Resolves names and connects, for one thread.
pub(crate) struct Dialer {
    trust: Trust,
    remember: Duration,
    resolved: RefCell<HashMap<String, Resolved>>,
}

struct Resolved {
    addresses: Vec<IpAddr>,
    since: Tick,
    /// Where the next connection starts: several addresses share the load.
    next: usize,
}

impl Dialer {
    pub(crate) fn new(trust: Trust, remember: Duration) -> Dialer {
        Dialer { trust, remember, resolved: RefCell::default() }
    }

    /// Connects to the first address that takes the connection.
    ///
    /// Errors: `TimedOut` at the deadline; otherwise the last address's.
    pub(crate) async fn connect(&self, tls: bool, host: &str, port: u16, deadline: Instant) -> io::Result<Stream> {
        let timed_out = || io::Error::from(io::ErrorKind::TimedOut);
        let addresses = timeout_at(deadline, self.addresses(host)).await.map_err(|_| timed_out())??;
        let mut last = io::Error::new(io::ErrorKind::NotFound, format!("the name {host} has no address"));
        for (index, address) in addresses.iter().enumerate() {
            // An address that swallows packets must leave time for the others.
            let left = deadline.saturating_duration_since(Instant::now());
            let share = Instant::now() + left / (addresses.len() - index) as u32;
            match timeout_at(share, TcpStream::connect(SocketAddr::new(*address, port))).await {
                Ok(Ok(stream)) => {
                    stream.set_nodelay(true)?;
                    if !tls {
                        return Ok(Stream::Plain(stream));
                    }
                    return timeout_at(deadline, self.handshake(host, stream)).await.map_err(|_| timed_out())?;
                }
                Ok(Err(error)) => last = error,
                Err(_) => last = timed_out(),
            }
        }
        // Whatever the name says now is more likely to answer than what it said then.
        self.resolved.borrow_mut().remove(host);
        Err(last)
    }

    async fn handshake(&self, host: &str, stream: TcpStream) -> io::Result<Stream> {
        let config = self.trust.config().map_err(io::Error::other)?;
        let name = ServerName::try_from(host.trim_matches(['[', ']']).to_owned()).map_err(|_| {
            io::Error::new(io::ErrorKind::InvalidInput, format!("{host} is no name a certificate can hold"))
        })?;
        let stream = TlsConnector::from(config).connect(name, stream).await?;
        let (socket, session) = stream.into_inner();
        Ok(Stream::Tls(Box::new(Tls::new(socket, session.into()))))
    }

    async fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        if let Ok(address) = host.trim_matches(['[', ']']).parse() {
            return Ok(vec![address]);
        }
        if let Some(resolved) = self.resolved.borrow_mut().get_mut(host)
            && Tick::since(resolved.since) < self.remember
        {
            resolved.next = (resolved.next + 1) % resolved.addresses.len();
            let mut addresses = resolved.addresses.clone();
            addresses.rotate_left(resolved.next);
            return Ok(addresses);
        }
        let mut addresses: Vec<IpAddr> = lookup_host((host, 0)).await?.map(|address| address.ip()).collect();
        addresses.dedup();
        if addresses.is_empty() {
            return Ok(addresses);
        }
        let mut remembered = self.resolved.borrow_mut();
        if remembered.len() >= REMEMBERED_NAMES {
            remembered.clear();
        }
        let resolved = Resolved { addresses: addresses.clone(), since: Tick::now(), next: 0 };
        remembered.insert(host.to_owned(), resolved);
        Ok(addresses)
    }
}
