//! Sizes and durations as people type them, and numbers as people read them.

use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::time::Duration;

/// Reads a size such as `500`, `10K`, `1M` or `2G`.
///
/// Units: bytes; `K`, `M` and `G` are powers of 1024, small letters and a closing `B` are allowed.
/// Errors: a sentence that says what a size looks like; the typist's.
pub fn size(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is no size; write bytes as 500, 10K, 1M or 2G");
    let upper = text.trim().to_ascii_uppercase();
    let number = upper.strip_suffix('B').unwrap_or(&upper);
    let (digits, factor) = match number.as_bytes().last() {
        Some(b'K') => (&number[..number.len() - 1], 1 << 10),
        Some(b'M') => (&number[..number.len() - 1], 1 << 20),
        Some(b'G') => (&number[..number.len() - 1], 1 << 30),
        _ => (number, 1),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong());
    }
    digits.parse::<u64>().ok().and_then(|count| count.checked_mul(factor)).ok_or_else(wrong)
}

/// Reads a duration such as `10s`, `500ms` or `2m 30s`; a bare number is seconds, as ApacheBench has it.
///
/// Errors: a sentence that says what a duration looks like; the typist's.
pub fn duration(text: &str) -> Result<Duration, String> {
    if let Ok(seconds) = text.trim().parse::<u32>() {
        return Ok(Duration::from_secs(seconds.into()));
    }
    humantime::parse_duration(text).map_err(|error| format!("`{text}` is no duration such as 10s or 500ms: {error}"))
}

/// Reads an address to listen on: `127.0.0.1:8280`, `[::1]:8280`, `localhost:8280`, or a port alone for every interface.
///
/// A name is looked up; of several addresses the first of IPv4 counts.
/// Errors: a sentence that says what an address looks like, or that nobody knows the name.
pub fn address(text: &str) -> Result<SocketAddr, String> {
    let text = text.trim();
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let wrong = || format!("`{text}` is no address; write 127.0.0.1:8280, [::1]:8280, localhost:8280 or a port");
    let port = |text: &str| text.parse::<u16>().map_err(|_| wrong());
    match text.rsplit_once(':') {
        None | Some(("", _)) => Ok((Ipv4Addr::UNSPECIFIED, port(text.trim_start_matches(':'))?).into()),
        Some((host, _)) if host.contains([':', '/', ' ']) => Err(wrong()),
        Some((host, number)) => {
            let found = (host, port(number)?).to_socket_addrs();
            let found: Vec<SocketAddr> =
                found.map_err(|error| format!("`{text}`: the name {host} is not known here: {error}"))?.collect();
            let first = found.iter().find(|address| address.is_ipv4()).or(found.first());
            first.copied().ok_or_else(|| format!("`{text}`: the name {host} has no address"))
        }
    }
}

/// Writes a size the way [`size`] reads it where that is exact, else with one decimal.
pub fn show_size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")];
    for (unit, letter) in UNITS {
        if bytes >= unit {
            return match bytes % unit {
                0 => format!("{}{letter}", bytes / unit),
                _ => format!("{:.1}{letter}", bytes as f64 / unit as f64),
            };
        }
    }
    bytes.to_string()
}

/// Writes a latency with the unit that keeps it short: µs, ms or s.
pub fn show_latency(seconds: f64) -> String {
    match seconds {
        short if short < 0.001 => format!("{:.0} µs", short * 1e6),
        middle if middle < 1.0 => format!("{:.2} ms", middle * 1e3),
        long => format!("{long:.2} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_name_or_number_with_a_port_or_a_port_alone() {
        let check = |text: &str, expected: &str| assert_eq!(address(text).unwrap().to_string(), expected, "{text}");
        check("127.0.0.1:8280", "127.0.0.1:8280");
        check("[::1]:8280", "[::1]:8280");
        check("localhost:8280", "127.0.0.1:8280");
        check("8280", "0.0.0.0:8280");
        check(":0", "0.0.0.0:0");
        for wrong in ["", "localhost", "localhost:", "localhost:99999", "::1:8280:x", "http://localhost:80", "1.2.3.4"]
        {
            let error = address(wrong).unwrap_err();
            assert!(error.contains("is no address; write"), "{wrong}: {error}");
        }
    }

    #[test]
    fn sizes_are_read_with_their_letters() {
        for (text, bytes) in [("500", 500), ("1k", 1024), ("10K", 10_240), ("1M", 1 << 20), ("2GB", 2 << 30)] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["", "K", "1.5K", "-1", "99999999999999999999", "99999999999G", "ten"] {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn durations_are_read_with_their_letters() {
        assert_eq!(duration("10s"), Ok(Duration::from_secs(10)));
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("3"), Ok(Duration::from_secs(3)));
        assert!(duration("soon").is_err());
    }

    #[test]
    fn what_is_shown_is_short() {
        assert_eq!(show_size(500), "500");
        assert_eq!(show_size(10_240), "10K");
        assert_eq!(show_size(1536), "1.5K");
        assert_eq!(show_latency(0.000_25), "250 µs");
        assert_eq!(show_latency(0.0125), "12.50 ms");
        assert_eq!(show_latency(2.0), "2.00 s");
    }
}
