//! Work of one flow that is done beside each other, and ends with the flow.

use std::future::poll_fn;
use std::task::{Context, Poll};

use crate::fault::Outcome;
use crate::transport::LocalFuture;

/// Futures that run beside each other, at most so many at once; those that run when it is dropped are cancelled.
pub struct JoinSet<'a, T> {
    begin: Box<dyn FnMut(usize) -> Outcome<LocalFuture<'a, T>> + 'a>,
    count: usize,
    limit: usize,
    /// How many were begun.
    begun: usize,
    running: Vec<(usize, LocalFuture<'a, T>)>,
}

impl<'a, T> JoinSet<'a, T> {
    /// So many futures, each of which `begin` makes when there is room for it.
    pub fn new(
        count: usize,
        limit: usize,
        begin: impl FnMut(usize) -> Outcome<LocalFuture<'a, T>> + 'a,
    ) -> JoinSet<'a, T> {
        JoinSet { begin: Box::new(begin), count, limit: limit.max(1), begun: 0, running: Vec::new() }
    }

    /// The next that comes to its end, with its number; `None` when all have.
    ///
    /// Errors: those of beginning one.
    pub async fn next(&mut self) -> Outcome<Option<(usize, T)>> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// [`JoinSet::next`] for those who poll.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Outcome<Option<(usize, T)>>> {
        while self.running.len() < self.limit && self.begun < self.count {
            let future = (self.begin)(self.begun)?;
            self.running.push((self.begun, future));
            self.begun += 1;
        }
        for index in 0..self.running.len() {
            if let Poll::Ready(result) = self.running[index].1.as_mut().poll(cx) {
                let (number, _) = self.running.remove(index);
                return Poll::Ready(Ok(Some((number, result))));
            }
        }
        if self.running.is_empty() { Poll::Ready(Ok(None)) } else { Poll::Pending }
    }
}
