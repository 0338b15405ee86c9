//! Groups of messages of different requests, by the value that they share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use myelin_flow::branches::{Contribution, Gathered, MessageCount};
use myelin_flow::fault::{Fault, Outcome};

/// So many groups of one mediator are open at once; a message that would begin another one is refused with 503.
const GROUPS: usize = 10_000;

/// The longest value by which messages are told apart.
const VALUE_BYTES: usize = 4 << 10;

/// The groups of one mediator that are not complete yet; all threads bring messages to them.
#[derive(Default)]
pub(crate) struct OpenGroups(Mutex<HashMap<Arc<str>, Shared>>);

/// A group, for whoever waits until it is complete; given up if this is dropped before.
pub(crate) struct OpenGroup {
    groups: Arc<OpenGroups>,
    value: Arc<str>,
    group: Shared,
}

type Shared = Arc<Mutex<Group>>;

/// The messages of one value.
#[derive(Default)]
struct Group {
    wanted: MessageCount,
    gathered: Gathered,
    /// Whether there are enough; then it is not among the groups any more.
    is_complete: bool,
    /// Who waits for that.
    waiting: Option<Waker>,
}

/// Where a message has found its place.
pub(crate) enum Joined {
    /// It begins a group.
    First(OpenGroup),
    /// It is with the others.
    Another,
}

impl OpenGroups {
    /// Brings a message to the group of that value, which is complete with `wanted` messages and holds so many bytes at most.
    ///
    /// Errors: the bus's, where the value is too long, or the messages of the group are too large together; 503 where
    /// there are too many groups, or all messages have no memory left.
    pub(crate) fn join(
        self: &Arc<OpenGroups>,
        value: &str,
        piece: Contribution,
        wanted: MessageCount,
        limit_bytes: usize,
    ) -> Outcome<Joined> {
        if value.len() > VALUE_BYTES {
            let detail = format!("it has {} bytes, {VALUE_BYTES} are allowed", value.len());
            return Err(Fault::bus("The value by which messages are to be aggregated is too long").with_detail(detail));
        }
        let mut groups = lock(&self.0);
        if let Some(group) = groups.get(value) {
            let is_complete = lock(group).add(piece, limit_bytes)?;
            if is_complete {
                // The next message with this value begins another group, though nobody has looked at this one yet.
                groups.remove(value);
            }
            return Ok(Joined::Another);
        }
        if groups.len() >= GROUPS {
            return Err(Fault::overloaded(format!("{GROUPS} groups of messages wait for others in one <aggregate>")));
        }
        let mut group = Group { wanted, ..Group::default() };
        let is_complete = group.add(piece, limit_bytes)?;
        let (value, group) = (Arc::<str>::from(value), Arc::new(Mutex::new(group)));
        if !is_complete {
            groups.insert(Arc::clone(&value), Arc::clone(&group));
        }
        Ok(Joined::First(OpenGroup { groups: Arc::clone(self), value, group }))
    }
}

impl Group {
    /// Adds what a message brings; whether there are enough now.
    fn add(&mut self, piece: Contribution, limit_bytes: usize) -> Outcome<bool> {
        self.gathered.add(self.gathered.count(), piece, limit_bytes)?;
        self.is_complete = self.wanted.is_reached(self.gathered.count());
        if self.is_complete {
            self.waiting.take().into_iter().for_each(Waker::wake);
        }
        Ok(self.is_complete)
    }
}

impl OpenGroup {
    /// Its messages, if it is complete; otherwise wakes this one when it is.
    pub(crate) fn poll(&self, waker: &Waker) -> Poll<Vec<Contribution>> {
        let mut group = lock(&self.group);
        if group.is_complete {
            return Poll::Ready(group.gathered.take());
        }
        group.waiting = Some(waker.clone());
        Poll::Pending
    }

    /// Its messages, with which it is complete; what comes from now on begins another group.
    pub(crate) fn close(&self) -> Vec<Contribution> {
        let mut groups = lock(&self.groups.0);
        if groups.get(&self.value).is_some_and(|group| Arc::ptr_eq(group, &self.group)) {
            groups.remove(&self.value);
        }
        lock(&self.group).gathered.take()
    }
}

impl Drop for OpenGroup {
    fn drop(&mut self) {
        let lost = self.close().len();
        if lost > 0 {
            tracing::warn!(
                target: "myelin::aggregate",
                "{lost} messages are lost that waited in <aggregate> for others with the value {:?}",
                self.value
            );
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A message is with its group or it is not: no change stops half-way.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn join(groups: &Arc<OpenGroups>, value: &str, text: &str) -> Outcome<Joined> {
        let wanted = MessageCount { min: Some(2), max: None };
        groups.join(value, Contribution::Json(text.to_owned()), wanted, 1000)
    }

    fn first(joined: Outcome<Joined>) -> OpenGroup {
        match joined.unwrap() {
            Joined::First(group) => group,
            Joined::Another => panic!("there is a group already"),
        }
    }

    #[test]
    fn messages_of_a_value_meet_whatever_thread_brings_them() {
        let groups = Arc::<OpenGroups>::default();
        let (a, b) = (first(join(&groups, "a", "1")), first(join(&groups, "b", "2")));
        assert!(a.poll(Waker::noop()).is_pending());
        let theirs = Arc::clone(&groups);
        thread::spawn(move || assert!(matches!(join(&theirs, "a", "3"), Ok(Joined::Another)))).join().unwrap();
        // The group is complete: the next message begins another one.
        let next = first(join(&groups, "a", "4"));
        assert!(matches!(a.poll(Waker::noop()), Poll::Ready(pieces) if pieces.len() == 2));
        assert_eq!((b.close().len(), next.close().len()), (1, 1));
        assert!(lock(&groups.0).is_empty());
    }

    #[test]
    fn groups_are_bounded_and_given_up_with_who_waits_for_them() {
        let groups = Arc::<OpenGroups>::default();
        let fault = |joined: Outcome<Joined>| joined.err().map(|fault| fault.message);
        let long = "v".repeat(VALUE_BYTES + 1);
        assert!(fault(join(&groups, &long, "")).unwrap().contains("too long"));
        assert!(fault(join(&groups, "a", &"1".repeat(1000))).unwrap().contains("too large"));
        let open: Vec<_> = (0..GROUPS).map(|number| first(join(&groups, &number.to_string(), "1"))).collect();
        assert!(fault(join(&groups, "one more", "1")).unwrap().contains("limit"));
        assert!(matches!(join(&groups, "0", "1"), Ok(Joined::Another)));
        drop(open);
        assert!(lock(&groups.0).is_empty());
    }
}
