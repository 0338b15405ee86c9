//! What is under way on the threads that serve, and how they are asked.

use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use myelin_http::{ConnectionCount, PoolUsage};
use tokio::sync::mpsc;

/// What is under way on all threads; all zero where everybody has an answer and nothing goes on behind one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnderWay {
    /// Open client connections, idle ones included.
    pub clients: usize,
    /// Requests without an answer, of the bus that serves now.
    pub exchanges: usize,
    /// Flows beside the first one of their request, of the bus that serves now.
    pub branches: usize,
    /// Connections to backends that are in use, and requests that wait for one.
    pub backends: usize,
    /// Bytes of bodies and half-read messages that are kept.
    pub memory_bytes: usize,
}

/// What a thread says when it is asked.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ThreadReport {
    pub(crate) under_way: UnderWay,
    pub(crate) pool: PoolUsage,
    /// Pieces of long work that wait for their turn.
    pub(crate) work_waiting: usize,
}

/// How a thread is asked.
pub(crate) type Asker = mpsc::UnboundedSender<Sender<ThreadReport>>;

/// Asks all threads what is under way.
#[derive(Clone)]
pub(crate) struct Askers {
    pub(crate) threads: Vec<Asker>,
    pub(crate) connections: ConnectionCount,
}

impl Askers {
    /// What the threads have together that say it in time, and how many do not.
    pub(crate) fn ask(&self, deadline: Duration) -> (ThreadReport, usize) {
        let (answer, answers) = channel();
        // A thread that has ended has nothing under way.
        let asked = self.threads.iter().filter(|thread| thread.send(answer.clone()).is_ok()).count();
        drop(answer);
        let (until, mut answered) = (Instant::now() + deadline, 0);
        let mut sum = ThreadReport::default();
        sum.under_way.clients = self.connections.open();
        while let Ok(one) = answers.recv_timeout(until.saturating_duration_since(Instant::now())) {
            answered += 1;
            let (under_way, pool) = (&mut sum.under_way, &mut sum.pool);
            under_way.exchanges += one.under_way.exchanges;
            under_way.branches += one.under_way.branches;
            under_way.backends += one.under_way.backends;
            under_way.memory_bytes += one.under_way.memory_bytes;
            pool.used += one.pool.used;
            pool.idle += one.pool.idle;
            pool.waiting += one.pool.waiting;
            sum.work_waiting += one.work_waiting;
        }
        (sum, asked - answered)
    }
}
