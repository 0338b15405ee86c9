//! Ctrl-C and the wish of a service manager that we end: both end a run early, and in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use tokio::signal::unix::{SignalKind, signal};

/// Sets `interrupt` when the process gets SIGINT or SIGTERM, from then on and for as long as the process lives.
///
/// Errors: the system refuses a thread, or to tell of signals.
pub(crate) fn listen(interrupt: Arc<AtomicBool>) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (mut asked, mut told) = {
        let _inside = runtime.enter();
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?)
    };
    std::thread::Builder::new()
        .name("interrupt".to_owned())
        .spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    _ = asked.recv() => {}
                    _ = told.recv() => {}
                }
            });
            interrupt.store(true, Ordering::Relaxed);
        })
        .context("cannot start a thread")?;
    Ok(())
}
