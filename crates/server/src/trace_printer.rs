//! `myelin run --trace`: writes each trace to standard error as soon as its exchange is over.

use std::io::{self, Write};
use std::sync::Arc;

use myelin_observe::messages::MessageTracing;

/// Starts a thread that writes traces, so that no message waits for a terminal; it ends with the process.
///
/// Errors: where there is no thread for it.
pub(crate) fn start(tracing: &Arc<MessageTracing>) -> io::Result<()> {
    let (traces, tracing) = (tracing.subscribe(), Arc::clone(tracing));
    let print = move || {
        for trace in traces {
            let text = trace.to_text(&tracing.secrets());
            // Nobody can be told that standard error is gone.
            let _ = io::stderr().lock().write_all(text.as_bytes());
        }
    };
    std::thread::Builder::new().name("traces".to_owned()).spawn(print).map(drop)
}
