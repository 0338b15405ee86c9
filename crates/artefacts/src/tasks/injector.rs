//! The source of a task's messages.

use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::Duration;

use myelin_channel::{Delivery, Due, Ending, LocalFuture, Receiver, Runtime, Source};
use myelin_flow::service_state::ServiceState;
use myelin_message::{Arrival, CorrelationId};

use super::{Injection, Progress, Trigger};

/// However far away a run is, a clock that was set meanwhile is noticed within this time.
const LOOK: Duration = Duration::from_secs(30);

/// Gives a message whenever its trigger says.
pub struct Injector {
    /// The task's name, for the log.
    pub name: Arc<str>,
    /// When it is due.
    pub trigger: Trigger,
    /// The message.
    pub injection: Injection,
    /// What goes on over a reload that left the task's definition as it was.
    pub progress: Arc<Progress>,
    /// Its switches, which an operator sets, and the runs that an operator asked for.
    pub state: Arc<ServiceState>,
    /// The largest answer that is read, so that its connection can be used again.
    pub body_limit_bytes: u64,
}

/// One run, until dropped.
struct Run(Arc<Progress>);

impl Run {
    /// `None` while the run before goes on.
    fn begin(progress: &Arc<Progress>) -> Option<Run> {
        let was_busy = progress.busy.swap(true, Ordering::AcqRel);
        (!was_busy).then(|| Run(Arc::clone(progress)))
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.0.busy.store(false, Ordering::Release);
    }
}

impl fmt::Debug for Injector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Injector").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Shared with what receives from it, which outlives the borrow of a bus.
#[derive(Clone, Debug)]
pub struct TaskSource(pub Arc<Injector>);

impl Source for TaskSource {
    fn describe(&self) -> String {
        self.0.trigger.to_string()
    }

    fn open(&self, runtime: Rc<dyn Runtime>) -> Box<dyn Receiver> {
        if let Some(remark) = self.0.trigger.remark() {
            tracing::warn!(target: "myelin::task", "task {}: {remark}", self.0.name);
        }
        Box::new(TaskReceiver { injector: Arc::clone(&self.0), runtime })
    }
}

/// Waits for the trigger.
struct TaskReceiver {
    injector: Arc<Injector>,
    runtime: Rc<dyn Runtime>,
}

impl TaskReceiver {
    /// Waits until a run is due; says whether somebody asked for one before that.
    async fn wait(&self, due: Due) -> bool {
        let mut triggered = pin!(self.injector.state.triggered());
        loop {
            let left = due.left(&*self.runtime);
            if left.is_zero() {
                return false;
            }
            let mut sleep = self.runtime.sleep(left.min(LOOK));
            let is_triggered = poll_fn(|cx| {
                if triggered.as_mut().poll(cx).is_ready() {
                    return Poll::Ready(true);
                }
                sleep.as_mut().poll(cx).map(|()| false)
            });
            if is_triggered.await {
                return true;
            }
        }
    }
}

impl Receiver for TaskReceiver {
    /// A run that is due while the one before goes on is left out, which the log says.
    fn next(&mut self) -> LocalFuture<'_, Option<Delivery>> {
        Box::pin(async move {
            let (injector, runtime) = (&*self.injector, &*self.runtime);
            let name = &injector.name;
            let _runner = injector.state.runner();
            while let Some(due) = injector.trigger.next(&injector.progress, runtime) {
                if self.wait(due).await {
                    tracing::info!(target: "myelin::task", "task {name} runs now, as an operator asked for it");
                } else {
                    let missed = injector.trigger.take(&injector.progress, due, runtime);
                    if missed > 0 {
                        tracing::warn!(target: "myelin::task", "task {name}: {missed} runs were missed");
                    }
                }
                if let Some(run) = Run::begin(&injector.progress) {
                    return Some(delivery(injector, run));
                }
                tracing::warn!(target: "myelin::task", "task {name}: a run is left out, as the one before goes on");
            }
            tracing::info!(target: "myelin::task", "task {name} has no further run");
            None
        })
    }
}

/// The message of a run.
fn delivery(injector: &Injector, run: Run) -> Delivery {
    let limit_bytes = injector.body_limit_bytes;
    Delivery {
        message: injector.injection.message(),
        arrival: Arrival {
            transport: "local",
            peer: None,
            local: None,
            inbound: None,
            correlation: CorrelationId::NONE,
        },
        acknowledge: Box::new(move |ending| {
            Box::pin(async move {
                if let Ending::Answered(mut answer) = ending {
                    // A backend's answer is read, so that its connection can be used again.
                    let _ = answer.body.bytes(limit_bytes).await;
                }
                drop(run);
            })
        }),
    }
}
