//! Ports of 127.0.0.1 that are known before somebody listens at them, or at which nobody ever does.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::process;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use socket2::{Domain, Socket, Type};

/// Those that Linux does not give to who asks for any, so that none of these is taken by chance.
///
/// Where it gives nearly all, there is no choice but to share them.
static PORTS: LazyLock<Vec<u16>> = LazyLock::new(|| {
    let given = given_by_chance().unwrap_or(32_768..=60_999);
    let kept: Vec<u16> = (10_000..=u16::MAX).filter(|port| !given.contains(port)).collect();
    if kept.len() < 1_000 { (10_000..=u16::MAX).collect() } else { kept }
});

/// Source: `ip_local_port_range` in ip(7).
fn given_by_chance() -> Option<RangeInclusive<u16>> {
    let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let mut ends = range.split_whitespace().map(|end| end.parse().ok());
    Some(ends.next()??..=ends.next()??)
}

/// An address with a port that nobody has, and that stays free until somebody asks for it by its number: for programs
/// that cannot choose one themselves, and for connections that are to be refused.
///
/// Errors: when none is free; the machine's.
pub fn free() -> io::Result<SocketAddr> {
    static GIVEN: AtomicUsize = AtomicUsize::new(0);
    // Processes that run at the same time begin far from each other, and one gives no port twice.
    let start = process::id() as usize * 7919;
    for _ in PORTS.iter() {
        let port = PORTS[(start + GIVEN.fetch_add(1, Ordering::Relaxed)) % PORTS.len()];
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        // Without `SO_REUSEADDR`: not every program sets it, and without it a connection's remains keep the port taken.
        if Socket::new(Domain::IPV4, Type::STREAM, None)?.bind(&address.into()).is_ok() {
            return Ok(address);
        }
    }
    Err(io::ErrorKind::AddrInUse.into())
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn a_port_refuses_until_somebody_listens_and_is_given_once() {
        let address = free().unwrap();
        assert_eq!(TcpStream::connect(address).unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
        let _listener = TcpListener::bind(address).unwrap();
        TcpStream::connect(address).unwrap();
        assert!((0..100).all(|_| free().unwrap() != address));
    }

    #[test]
    fn who_asks_for_any_port_gets_none_of_these() {
        let any = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        assert!(given_by_chance().is_none_or(|given| given.contains(&any)));
        assert!(!PORTS.contains(&any) || PORTS.len() > 55_000);
    }
}
