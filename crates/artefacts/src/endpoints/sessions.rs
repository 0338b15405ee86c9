//! Which member of a load-balancing endpoint each session belongs to, known to all threads.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// More sessions than this are not remembered by one endpoint: the oldest are forgotten.
const SESSIONS: usize = 100_000;

/// A session's name longer than this is none.
const NAME_BYTES: usize = 4096;

/// How requests of one session are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// By a cookie that the backend set.
    Http,
    /// By the `ServiceGroupId` that the backend gave in its `ReplyTo`.
    Soap,
    /// By the header `ClientID` that the client sends.
    Client,
}

/// The sessions of one endpoint, known to all threads.
#[derive(Debug)]
pub(super) struct Sessions {
    pub kind: Kind,
    /// How long after its last request a session is forgotten.
    pub lifetime: Duration,
    table: Mutex<Table>,
}

/// Sessions by name, in two generations: whoever is asked for moves to the younger one, and the older one is dropped
/// as a whole when its time is over or the younger one is full. So forgetting costs nothing per session.
#[derive(Debug, Default)]
struct Table {
    young: HashMap<Box<str>, Bound>,
    old: HashMap<Box<str>, Bound>,
    /// When the young generation began.
    since: Duration,
}

/// A session that belongs to a member.
#[derive(Clone, Copy, Debug)]
struct Bound {
    member: usize,
    expires: Duration,
}

impl Sessions {
    pub(super) fn new(kind: Kind, lifetime: Duration) -> Sessions {
        Sessions { kind, lifetime, table: Mutex::default() }
    }

    /// The member that a session belongs to; the session lives on from now.
    pub(super) fn member(&self, name: &str, now: Duration) -> Option<usize> {
        let mut table = self.table();
        let session = table.young.get(name).or_else(|| table.old.get(name)).copied()?;
        if session.expires < now {
            table.forget(name);
            return None;
        }
        self.keep(&mut table, name, session.member, now);
        Some(session.member)
    }

    /// A session belongs to a member from now on.
    pub(super) fn bind(&self, name: &str, member: usize, now: Duration) {
        if name.len() <= NAME_BYTES {
            self.keep(&mut self.table(), name, member, now);
        }
    }

    /// A session belongs to nobody any more.
    pub(super) fn unbind(&self, name: &str) {
        self.table().forget(name);
    }

    fn keep(&self, table: &mut Table, name: &str, member: usize, now: Duration) {
        if now.saturating_sub(table.since) > self.lifetime || table.young.len() >= SESSIONS / 2 {
            table.old = std::mem::take(&mut table.young);
            table.since = now;
        }
        let session = Bound { member, expires: now.saturating_add(self.lifetime) };
        match table.young.get_mut(name) {
            Some(known) => *known = session,
            None => {
                table.young.insert(name.into(), session);
            }
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // Whatever was half-way done, the table holds sessions that are or were true.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn forget(&mut self, name: &str) {
        self.young.remove(name);
        self.old.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Table {
        fn count(&self) -> usize {
            self.young.len() + self.old.len()
        }
    }

    fn at(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    #[test]
    fn a_session_lives_as_long_as_it_is_used() {
        let sessions = Sessions::new(Kind::Http, at(100));
        assert_eq!(sessions.member("a", at(0)), None);
        sessions.bind("a", 2, at(0));
        assert_eq!(sessions.member("a", at(100)), Some(2));
        assert_eq!(sessions.member("a", at(200)), Some(2));
        assert_eq!(sessions.member("a", at(301)), None);
        sessions.bind("a", 1, at(301));
        sessions.unbind("a");
        assert_eq!(sessions.member("a", at(302)), None);
    }

    #[test]
    fn a_session_that_is_used_outlives_the_generation_it_began_in() {
        let sessions = Sessions::new(Kind::Http, at(100));
        (0..50).for_each(|step| {
            sessions.bind(&format!("other-{step}"), 0, at(step * 60));
            sessions.bind("a", 1, at(step * 60));
            assert_eq!(sessions.member("a", at(step * 60 + 50)), Some(1));
        });
        assert!(sessions.table().count() < 10);
    }

    #[test]
    fn no_more_sessions_are_remembered_than_the_limit_allows() {
        let sessions = Sessions::new(Kind::Http, at(1_000_000));
        (0..SESSIONS * 2).for_each(|number| sessions.bind(&number.to_string(), 0, at(1)));
        assert!(sessions.table().count() <= SESSIONS);
        assert_eq!(sessions.member(&(SESSIONS * 2 - 1).to_string(), at(2)), Some(0));
        sessions.bind(&"x".repeat(NAME_BYTES + 1), 0, at(2));
        assert_eq!(sessions.member(&"x".repeat(NAME_BYTES + 1), at(2)), None);
    }
}
