//! Where the answers of all caches of a process stand: a bounded number of bytes, of which the least recently used go.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::cache::identity::Key;
use crate::cache::stored::Stored;

/// What keeping an answer takes apart from the answer.
const OVERHEAD_BYTES: usize = 512;

/// All answers that are kept.
#[derive(Debug)]
pub(super) struct Shelf {
    limit_bytes: usize,
    inside: Mutex<Inside>,
}

#[derive(Debug, Default)]
struct Inside {
    /// What each cache has here, by its number.
    books: HashMap<u64, Book>,
    bytes: usize,
    /// How often anything was used.
    uses: u64,
    /// How many caches there were.
    opened: u64,
}

/// What one cache has.
#[derive(Debug, Default)]
struct Book {
    entries: HashMap<Key, Entry>,
    /// The keys by their last use, the oldest first.
    order: BTreeMap<u64, Key>,
}

#[derive(Debug)]
struct Entry {
    stored: Arc<Stored>,
    last_use: u64,
    expires: Duration,
    bytes: usize,
}

impl Shelf {
    pub(super) fn new(limit_bytes: usize) -> Shelf {
        Shelf { limit_bytes, inside: Mutex::default() }
    }

    /// The number of a new cache.
    pub(super) fn open(&self) -> u64 {
        let mut inside = self.inside();
        inside.opened += 1;
        inside.opened
    }

    /// Forgets all that a cache has.
    pub(super) fn close(&self, cache: u64) {
        let mut inside = self.inside();
        let Some(book) = inside.books.remove(&cache) else { return };
        inside.bytes -= book.entries.values().map(|entry| entry.bytes).sum::<usize>();
        // Memory is given back when nobody waits for the lock.
        drop(inside);
        drop(book);
    }

    /// An answer that has not expired; it is the most recently used then.
    pub(super) fn find(&self, cache: u64, key: &Key, now: Duration) -> Option<Arc<Stored>> {
        let mut inside = self.inside();
        let inside = &mut *inside;
        inside.uses += 1;
        let book = inside.books.get_mut(&cache)?;
        let entry = book.entries.get_mut(key)?;
        if entry.expires <= now {
            book.order.remove(&entry.last_use);
            inside.bytes -= entry.bytes;
            book.entries.remove(key);
            return None;
        }
        book.order.remove(&entry.last_use);
        entry.last_use = inside.uses;
        book.order.insert(inside.uses, *key);
        Some(Arc::clone(&entry.stored))
    }

    /// Keeps an answer in the place of one that was there, until it expires or others need the room; of one cache
    /// `most` at once.
    pub(super) fn keep(&self, cache: u64, key: Key, stored: Arc<Stored>, expires: Duration, most: usize) {
        let bytes = stored.size_bytes() + OVERHEAD_BYTES;
        if bytes > self.limit_bytes || most == 0 {
            return self.forget(cache, &key);
        }
        let mut gone = Vec::new();
        let mut inside = self.inside();
        gone.extend(inside.remove(cache, &key));
        inside.uses += 1;
        inside.bytes += bytes;
        let last_use = inside.uses;
        let book = inside.books.entry(cache).or_default();
        book.order.insert(last_use, key);
        book.entries.insert(key, Entry { stored, last_use, expires, bytes });
        while inside.books.get(&cache).is_some_and(|book| book.entries.len() > most) {
            gone.extend(inside.remove_oldest(Some(cache)));
        }
        while inside.bytes > self.limit_bytes {
            gone.extend(inside.remove_oldest(None));
        }
        drop(inside);
        drop(gone);
    }

    /// Forgets an answer.
    pub(super) fn forget(&self, cache: u64, key: &Key) {
        let gone = self.inside().remove(cache, key);
        drop(gone);
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        // Nothing in here is done by anybody else's code, so that nothing is left half-way.
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inside {
    fn remove(&mut self, cache: u64, key: &Key) -> Option<Entry> {
        let book = self.books.get_mut(&cache)?;
        let entry = book.entries.remove(key)?;
        book.order.remove(&entry.last_use);
        self.bytes -= entry.bytes;
        Some(entry)
    }

    /// Takes out what was not used for the longest time, in one cache or in all.
    fn remove_oldest(&mut self, cache: Option<u64>) -> Option<Entry> {
        let books = self.books.iter().filter(|(number, _)| cache.is_none_or(|cache| **number == cache));
        let oldest = books.filter_map(|(number, book)| {
            let (last_use, key) = book.order.first_key_value()?;
            Some((*last_use, *number, *key))
        });
        let (_, cache, key) = oldest.min()?;
        self.remove(cache, &key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of about so many bytes.
    fn stored(bytes: usize) -> Arc<Stored> {
        Arc::new(Stored::of_body(vec![0; bytes]))
    }

    fn key(number: u32) -> Key {
        let mut key = [0; 32];
        key[..4].copy_from_slice(&number.to_le_bytes());
        key
    }

    fn held(shelf: &Shelf) -> (usize, usize) {
        let inside = shelf.inside();
        let entries = inside.books.values().map(|book| book.entries.len()).sum();
        assert_eq!(entries, inside.books.values().map(|book| book.order.len()).sum::<usize>());
        assert_eq!(
            inside.bytes,
            inside.books.values().flat_map(|book| book.entries.values()).map(|it| it.bytes).sum::<usize>()
        );
        (entries, inside.bytes)
    }

    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn a_flood_of_answers_takes_no_more_memory_than_is_set_aside() {
        let shelf = Shelf::new(1 << 20);
        let caches = [shelf.open(), shelf.open(), shelf.open()];
        for number in 0..100_000u32 {
            let cache = caches[number as usize % caches.len()];
            shelf.keep(cache, key(number), stored(number as usize % 5000), HOUR, usize::MAX);
        }
        let (entries, bytes) = held(&shelf);
        assert!(bytes <= 1 << 20 && entries > 150, "{entries} of {bytes} bytes");
        shelf.keep(caches[0], key(0), stored(2 << 20), HOUR, usize::MAX);
        assert!(shelf.find(caches[0], &key(0), Duration::ZERO).is_none());
        caches.iter().for_each(|cache| shelf.close(*cache));
        assert_eq!(held(&shelf), (0, 0));
    }

    #[test]
    fn what_was_not_used_for_the_longest_time_goes_first() {
        let shelf = Shelf::new(3 * (1000 + OVERHEAD_BYTES) + 500);
        let (one, other) = (shelf.open(), shelf.open());
        shelf.keep(one, key(1), stored(1000), HOUR, 9);
        shelf.keep(other, key(1), stored(1000), HOUR, 9);
        shelf.keep(one, key(2), stored(1000), HOUR, 9);
        assert!(shelf.find(one, &key(1), Duration::ZERO).is_some());
        shelf.keep(one, key(3), stored(1000), HOUR, 9);
        let is_there = |cache, number| shelf.find(cache, &key(number), Duration::ZERO).is_some();
        assert!(is_there(one, 1) && !is_there(other, 1) && is_there(one, 2) && is_there(one, 3));
        // A cache that may have two lets one of its own go, though there is room.
        shelf.keep(other, key(4), stored(10), HOUR, 2);
        shelf.keep(other, key(5), stored(10), HOUR, 2);
        shelf.keep(other, key(6), stored(10), HOUR, 2);
        assert!(!is_there(other, 4) && is_there(other, 5) && is_there(other, 6));
    }

    #[test]
    fn an_answer_expires_and_is_replaced_by_a_newer_one() {
        let shelf = Shelf::new(1 << 20);
        let cache = shelf.open();
        let at = Duration::from_secs;
        shelf.keep(cache, key(1), stored(10), at(20), 9);
        assert!(shelf.find(cache, &key(1), at(19)).is_some());
        assert!(shelf.find(cache, &key(1), at(20)).is_none());
        assert_eq!(held(&shelf), (0, 0));
        shelf.keep(cache, key(1), stored(10), at(40), 9);
        shelf.keep(cache, key(1), stored(20), at(50), 9);
        assert_eq!(held(&shelf).0, 1);
        assert!(shelf.find(cache, &key(1), at(45)).is_some());
        shelf.keep(cache, key(1), stored(20), at(60), 0);
        assert_eq!(held(&shelf), (0, 0));
    }
}
