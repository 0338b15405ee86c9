//! Tasks: messages that a bus gives to itself when it is time.

mod injection;
mod trigger;

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

pub(crate) use self::injection::{Injection, Kind};
pub(crate) use self::trigger::{Progress, Trigger};
use crate::bus::Bus;
use crate::engine::Engine;
use crate::entrance::Entrance;
use crate::property::{Properties, Scope, Value, slot};

/// However far away a run is, a clock that was set meanwhile is noticed within this time.
const LOOK: Duration = Duration::from_secs(30);

/// A task.
pub struct Task {
    pub(crate) entrance: Arc<Entrance>,
    pub(crate) target: Target,
    pub(crate) trigger: Trigger,
    pub(crate) injection: Injection,
    /// What goes on over a reload that left its definition as it was.
    pub(crate) progress: Arc<Progress>,
}

/// What gets its message.
pub(crate) enum Target {
    /// The sequence of its entrance, or `main`.
    Sequence,
    /// The proxy of that name.
    Proxy(String),
}

/// One run, until dropped.
struct Turn(Arc<Progress>);

impl Turn {
    /// `None` while the run before goes on.
    fn begin(progress: &Arc<Progress>) -> Option<Turn> {
        let was_busy = progress.busy.swap(true, Ordering::AcqRel);
        (!was_busy).then(|| Turn(Arc::clone(progress)))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.busy.store(false, Ordering::Release);
    }
}

impl Bus {
    /// The tasks, which somebody has to run: see [`Task::run`].
    pub fn tasks(&self) -> &[Arc<Task>] {
        &self.tasks
    }
}

impl Task {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.entrance.name
    }

    /// The properties that its message starts with.
    pub(crate) fn properties(&self) -> Properties {
        let mut properties = self.entrance.properties();
        let get = self.injection.kind == Kind::Plain { get: true };
        properties.put(Scope::Addressing, slot::TO, self.injection.to.clone());
        if get {
            properties.put(Scope::Axis2, slot::HTTP_METHOD, Some(Value::Text("GET".into())));
        }
        properties
    }

    /// Runs it whenever it is due, on an engine of its bus, until it is never due again.
    ///
    /// Shape: a run goes on beside, and when this is dropped; the next one waits for its end and is left out if it is
    /// due before, which the log says. Of all engines of a bus one runs a task.
    pub async fn run(self: Arc<Task>, engine: Rc<Engine>) {
        let transport = engine.transport();
        if let Some(remark) = self.trigger.remark() {
            tracing::warn!(target: "myelin::task", "task {}: {remark}", self.name());
        }
        while let Some(due) = self.trigger.next(&self.progress, transport) {
            loop {
                let left = due.left(transport);
                if left.is_zero() {
                    break;
                }
                transport.sleep(left.min(LOOK)).await;
            }
            let missed = self.trigger.take(&self.progress, due, transport);
            if missed > 0 {
                tracing::warn!(target: "myelin::task", "task {}: {missed} runs were missed", self.name());
            }
            match Turn::begin(&self.progress) {
                Some(turn) => {
                    let (task, runner) = (Arc::clone(&self), Rc::clone(&engine));
                    transport.spawn(Box::pin(async move {
                        runner.inject(&task).await;
                        drop(turn);
                    }));
                }
                None => {
                    let name = self.name();
                    tracing::warn!(target: "myelin::task", "task {name}: a run is left out, as the one before goes on");
                }
            }
        }
        tracing::info!(target: "myelin::task", "task {} is not due any more", self.name());
    }
}
