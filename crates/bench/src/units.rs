//! Sizes and durations as people type them, and numbers as people read them.

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
