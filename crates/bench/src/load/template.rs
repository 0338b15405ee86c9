//! Requests in which each has values of its own: its number, an identifier, the time.

use std::cell::Cell;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::Write;
use std::time::SystemTime;

use anyhow::bail;
use memchr::memmem;

/// Text with places that each request fills anew.
pub(super) struct Template {
    pieces: Vec<Piece>,
}

enum Piece {
    Text(Vec<u8>),
    Number,
    Uuid,
    Now,
}

/// What one request fills its places with: the same in its path, its headers and its body.
pub(super) struct Values {
    /// The number of the request within the run, from 1 on.
    pub(super) number: u64,
    pub(super) uuid: u128,
    pub(super) now: SystemTime,
}

/// Numbers nobody can foretell, for identifiers and think times; not for keys.
pub(super) struct Random {
    state: Cell<u64>,
}

impl Template {
    /// Errors: a place `{{…}}` names none of the values; the writer's.
    pub(super) fn parse(mut text: &[u8]) -> anyhow::Result<Template> {
        let mut pieces = Vec::new();
        while let Some(begin) = memmem::find(text, b"{{") {
            let inside = &text[begin + 2..];
            let Some(end) = memmem::find(inside, b"}}") else { break };
            let name = String::from_utf8_lossy(&inside[..end]);
            let piece = match name.trim() {
                "n" => Piece::Number,
                "uuid" => Piece::Uuid,
                "now" => Piece::Now,
                other => bail!("`{{{{{other}}}}}` is none of {{{{n}}}}, {{{{uuid}}}}, {{{{now}}}}"),
            };
            if begin > 0 {
                pieces.push(Piece::Text(text[..begin].to_vec()));
            }
            pieces.push(piece);
            text = &inside[end + 2..];
        }
        pieces.push(Piece::Text(text.to_vec()));
        Ok(Template { pieces })
    }

    /// The text with `values` in its places.
    pub(super) fn fill(&self, values: &Values) -> Vec<u8> {
        let mut filled = Vec::new();
        for piece in &self.pieces {
            // Writing to a vector cannot fail.
            let _ = match piece {
                Piece::Text(text) => filled.write_all(text),
                Piece::Number => write!(filled, "{}", values.number),
                Piece::Uuid => {
                    let digits = format!("{:032x}", values.uuid);
                    let part = |range| &digits[range];
                    write!(filled, "{}-{}-{}-{}-{}", part(0..8), part(8..12), part(12..16), part(16..20), part(20..32))
                }
                Piece::Now => write!(filled, "{}", humantime::format_rfc3339_millis(values.now)),
            };
        }
        filled
    }
}

impl Random {
    pub(super) fn new() -> Random {
        // The standard library seeds its hashers from the system's random numbers.
        Random { state: Cell::new(RandomState::new().build_hasher().finish()) }
    }

    /// Source: SplitMix64, of Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
    pub(super) fn next(&self) -> u64 {
        let state = self.state.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.state.set(state);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A random UUID.
    ///
    /// Source: RFC 9562 §5.4.
    pub(super) fn uuid(&self) -> u128 {
        let bits = (u128::from(self.next()) << 64) | u128::from(self.next());
        bits & !(0xf << 76) & !(0b11 << 62) | (4 << 76) | (0b10 << 62)
    }

    /// A number between 0 and 1, 1 excluded.
    pub(super) fn fraction(&self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str) -> String {
        let values = Values { number: 7, uuid: 0x1234_5678_9abc, now: SystemTime::UNIX_EPOCH };
        String::from_utf8(Template::parse(text.as_bytes()).unwrap().fill(&values)).unwrap()
    }

    #[test]
    fn places_are_filled_and_all_else_stays() {
        assert_eq!(filled("/orders/{{n}}?id={{ uuid }}"), "/orders/7?id=00000000-0000-0000-0000-123456789abc");
        assert_eq!(filled("{{now}}"), "1970-01-01T00:00:00.000Z");
        assert_eq!(filled("{\"a\":{\"b\":1}} {{"), "{\"a\":{\"b\":1}} {{");
        assert_eq!(filled(""), "");
    }

    #[test]
    fn an_unknown_place_is_refused_and_the_known_ones_are_named() {
        let error = Template::parse(b"a {{uid}} b").err().unwrap().to_string();
        assert_eq!(error, "`{{uid}}` is none of {{n}}, {{uuid}}, {{now}}");
    }

    #[test]
    fn identifiers_are_random_uuids() {
        let random = Random::new();
        let values = |uuid| Values { number: 1, uuid, now: SystemTime::UNIX_EPOCH };
        let uuids: Vec<Vec<u8>> =
            (0..100).map(|_| Template::parse(b"{{uuid}}").unwrap().fill(&values(random.uuid()))).collect();
        let distinct: std::collections::BTreeSet<&[u8]> = uuids.iter().map(Vec::as_slice).collect();
        assert_eq!(distinct.len(), 100);
        assert!(uuids.iter().all(|uuid| uuid[14] == b'4' && b"89ab".contains(&uuid[19])));
        assert!((0..100).all(|_| (0.0..1.0).contains(&random.fraction())));
    }
}
