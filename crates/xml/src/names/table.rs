//! A hash table from texts or pairs of numbers to numbers, without the keys: they stand elsewhere already.

use std::hash::{BuildHasher, RandomState};

/// An open-addressing table; the part of the hash it keeps is enough to grow it.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    /// Part of the hash, and the number plus one; zero is an empty slot.
    slots: Vec<(u32, u32)>,
    count: usize,
}

/// Slots that clearing keeps: more would make the reset after one large document cost every small one behind it.
const KEPT: usize = 4_096;

impl Table {
    /// The number under `hash` for which `same` holds.
    #[inline]
    pub(super) fn find(&self, hash: u64, same: impl Fn(usize) -> bool) -> Option<usize> {
        let mask = self.slots.len().wrapping_sub(1);
        let tag = tag(hash);
        let mut at = tag as usize & mask;
        loop {
            let &(kept, number) = self.slots.get(at)?;
            let id = (number as usize).checked_sub(1)?;
            if kept == tag && same(id) {
                return Some(id);
            }
            at = (at + 1) & mask;
        }
    }

    /// Puts in a number that is not in yet.
    pub(super) fn insert(&mut self, hash: u64, id: u32) {
        if self.count * 2 >= self.slots.len() {
            self.grow();
        }
        self.place(tag(hash), id + 1);
        self.count += 1;
    }

    pub(super) fn clear(&mut self) {
        self.slots.truncate(KEPT);
        self.slots.shrink_to(KEPT);
        self.slots.fill((0, 0));
        self.count = 0;
    }

    fn grow(&mut self) {
        let larger = vec![(0, 0); (self.slots.len() * 2).max(64)];
        for (tag, number) in std::mem::replace(&mut self.slots, larger) {
            if number != 0 {
                self.place(tag, number);
            }
        }
    }

    fn place(&mut self, tag: u32, number: u32) {
        let mask = self.slots.len() - 1;
        let mut at = tag as usize & mask;
        while self.slots[at].1 != 0 {
            at = (at + 1) & mask;
        }
        self.slots[at] = (tag, number);
    }
}

/// The half of a hash that all its bits went into.
#[inline]
fn tag(hash: u64) -> u32 {
    (hash >> 32) as u32
}

/// Hashes by multiplying with secrets of this process, so that nobody outside can choose names that collide.
///
/// The default knows no secrets yet: it is for tables that hold nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hasher {
    first: u64,
    second: u64,
}

impl Hasher {
    pub(super) fn new() -> Hasher {
        let random = RandomState::new();
        Hasher { first: random.hash_one(1), second: random.hash_one(2) }
    }

    #[inline]
    pub(super) fn bytes(self, bytes: &[u8]) -> u64 {
        let length = bytes.len();
        let (low, high) = if length >= 8 {
            let mut state = self.first;
            let mut rest = bytes;
            while rest.len() > 16 {
                state = fold(word(&rest[..8]) ^ state, word(&rest[8..16]) ^ self.second);
                rest = &rest[16..];
            }
            // The last words may overlap what came before: cheaper than a loop over single bytes.
            let last = word(&bytes[length - 8..]);
            let before = if length >= 16 { word(&bytes[length - 16..length - 8]) } else { word(&bytes[..8]) };
            (before ^ state, last)
        } else if length >= 4 {
            (half(&bytes[..4]) ^ self.first, half(&bytes[length - 4..]))
        } else if let (Some(&first), Some(&last)) = (bytes.first(), bytes.last()) {
            (u64::from(first) << 8 | u64::from(bytes[length / 2]), u64::from(last) ^ self.first)
        } else {
            (self.first, 0)
        };
        fold(low, high ^ self.second ^ length as u64)
    }

    #[inline]
    pub(super) fn pair(self, first: u32, second: u32) -> u64 {
        fold((u64::from(first) << 32 | u64::from(second)) ^ self.first, self.second)
    }
}

/// Whether two texts are the same: names are short, and a call costs more than comparing them.
#[inline]
pub(crate) fn same(a: &[u8], b: &[u8]) -> bool {
    let length = a.len();
    length == b.len()
        && match length {
            0..=3 => a.iter().zip(b).all(|(a, b)| a == b),
            // The last bytes may overlap the first ones.
            4..=7 => half(&a[..4]) == half(&b[..4]) && half(&a[length - 4..]) == half(&b[length - 4..]),
            8..=16 => word(&a[..8]) == word(&b[..8]) && word(&a[length - 8..]) == word(&b[length - 8..]),
            _ => a == b,
        }
}

#[inline]
fn word(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |chunk| u64::from_le_bytes(*chunk))
}

#[inline]
fn half(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |chunk| u64::from(u32::from_le_bytes(*chunk)))
}

/// The product of both, its halves laid over each other: every bit of the result hangs on all bits of both.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product >> 64) as u64 ^ product as u64
}
