//! Ports of 127.0.0.1 that are known before somebody listens at them, or at which nobody ever does.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::Range;
use std::process;
use std::sync::atomic::{AtomicU16, Ordering};

use socket2::{Domain, Socket, Type};

/// Below those that Linux gives to who asks for any, so that none of these is taken by chance.
const PORTS: Range<u16> = 10_000..32_768;

/// An address with a port that nobody has, and that stays free until somebody asks for it by its number: for programs
/// that cannot choose one themselves, and for connections that are to be refused.
///
/// Errors: when none is free; the machine's.
pub fn free() -> io::Result<SocketAddr> {
    static GIVEN: AtomicU16 = AtomicU16::new(0);
    // Processes that run at the same time begin far from each other, and one gives no port twice.
    let count = u32::from(PORTS.end - PORTS.start);
    let start = process::id().wrapping_mul(7919) % count;
    for _ in PORTS {
        let number = (start + u32::from(GIVEN.fetch_add(1, Ordering::Relaxed))) % count;
        let port = PORTS.start + u16::try_from(number).unwrap_or_default();
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
        let any = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        assert!(!PORTS.contains(&any.local_addr().unwrap().port()));
    }
}
