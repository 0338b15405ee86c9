//! Caches: answers that are given again to requests that ask the same.
//!
//! All caches of a process share one [`Settings::cache_bytes`](myelin_flow::settings::Settings). A cache is known by its id or by where
//! it stands, together with its definition, and goes on in the buses that take the place of its own as long as both
//! are the same.

mod control;
mod identity;
mod rules;
mod shelf;
mod stored;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use myelin_message::{Head, StatusCode};

use crate::cache::control::Control;
use crate::cache::shelf::Shelf;
use crate::loader::Loader;
pub(crate) use identity::{Generator, Headers, Key};
use myelin_flow::exchange::Exchange;
pub(crate) use rules::Rules;
pub(crate) use stored::Stored;

/// A cache.
#[derive(Debug)]
pub(crate) struct Cache {
    shelf: Arc<Shelf>,
    number: u64,
    bounds: Bounds,
}

/// What a cache keeps, how much of it, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// How long after it came an answer is given again.
    pub timeout: Duration,
    /// How many answers are kept.
    pub most: usize,
    /// How large the body of one may be.
    pub largest_bytes: u64,
}

/// A request that was not answered from a cache, and whose answer the cache waits for.
#[derive(Debug)]
pub(crate) struct Awaited {
    pub cache: Arc<Cache>,
    pub rules: Arc<Rules>,
    pub key: Key,
    /// What it said in its header, where `Cache-Control` is heeded.
    pub head: Option<Head>,
    /// What is there, if its sender says that it still holds.
    pub asked: Option<Arc<Stored>>,
    /// The `If-None-Match` of the client.
    pub if_none_match: Option<Box<[u8]>>,
}

/// What a cache has for a request.
pub(crate) enum Found {
    /// The request is none of its business, and so is what comes of it.
    Unwanted,
    /// The answer.
    Fresh(Arc<Stored>),
    /// An answer that holds if its sender says so, who is to be asked by its tag.
    Doubtful(Arc<Stored>),
    Nothing,
}

impl Cache {
    /// The cache with that identity, which has all that it is defined by in it.
    pub(crate) fn load(identity: &str, bounds: Bounds, loader: &Loader) -> Arc<Cache> {
        let limit_bytes = loader.settings.cache_bytes;
        let shelf = loader.share("shelf", limit_bytes.to_string(), || Shelf::new(limit_bytes));
        loader.share("cache", format!("{limit_bytes} {identity}"), || Cache::new(shelf, bounds))
    }

    fn new(shelf: Arc<Shelf>, bounds: Bounds) -> Cache {
        let number = shelf.open();
        Cache { shelf, number, bounds }
    }

    /// What is there for a request.
    ///
    /// Shape: `head` is that of the request where `Cache-Control` is heeded.
    /// Units: `now` is the time of day, `monotonic` that of a clock that never jumps.
    pub(crate) fn find(&self, key: &Key, head: Option<&Head>, now: SystemTime, monotonic: Duration) -> Found {
        let Some(head) = head else {
            return self.shelf.find(self.number, key, monotonic).map_or(Found::Nothing, Found::Fresh);
        };
        let asked = Control::of(head);
        if asked.no_store {
            return Found::Unwanted;
        }
        match self.shelf.find(self.number, key, monotonic) {
            Some(stored) if asked.no_cache || !stored.is_for(head, asked.max_age, now) => Found::Nothing,
            Some(stored) if stored.control.no_cache => match stored.tag() {
                Some(_) => Found::Doubtful(stored),
                None => Found::Nothing,
            },
            Some(stored) => Found::Fresh(stored),
            None => Found::Nothing,
        }
    }

    /// How large the body of an answer may be that is kept.
    pub(crate) fn largest_bytes(&self) -> u64 {
        self.bounds.largest_bytes
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        self.shelf.close(self.number);
    }
}

impl Awaited {
    /// Whether an answer with that status and the head that the exchange has is kept; if not, nothing is any more.
    pub(crate) fn takes(&self, exchange: &Exchange, status: StatusCode) -> bool {
        let may_be_kept = self.head.as_ref().is_none_or(|asked| self.may_share(asked, &exchange.message.head));
        let takes = may_be_kept && self.rules.statuses.matches(status.as_str());
        if !takes {
            self.cache.shelf.forget(self.cache.number, &self.key);
        }
        takes
    }

    /// Whether an answer may be given to others than who asked (RFC 9111 §3).
    fn may_share(&self, asked: &Head, answer: &Head) -> bool {
        const WHO: &str = "Authorization";
        let control = Control::of(answer);
        let is_personal = asked.first(WHO).is_some() && !self.rules.generator.counts(WHO);
        !control.no_store && (control.is_public || !is_personal)
    }

    /// Keeps what the exchange has for an answer, whose body was read.
    pub(crate) fn keep(&self, exchange: &Exchange, status: StatusCode, now: SystemTime, monotonic: Duration) {
        self.put(Stored::of(exchange, self.head.as_ref(), status, now), monotonic);
    }

    /// The sender of what is there was asked, and says that it holds: it becomes the response, and is as new.
    pub(crate) fn confirm(&self, exchange: &mut Exchange, now: SystemTime, monotonic: Duration) {
        let Some(asked) = &self.asked else { return };
        let renewed = asked.renewed(now);
        renewed.serve(exchange, &self.rules, now, self.if_none_match.as_deref());
        self.put(renewed, monotonic);
    }

    fn put(&self, stored: Stored, monotonic: Duration) {
        let Bounds { timeout, most, .. } = self.cache.bounds;
        let expires = monotonic.saturating_add(timeout);
        self.cache.shelf.keep(self.cache.number, self.key, Arc::new(stored), expires, most);
    }
}
