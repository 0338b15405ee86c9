//! Where the bus's own log goes: standard error, written by a thread of its own so that no request waits for it.

use tracing_appender::non_blocking::WorkerGuard;
use tracing_subscriber::EnvFilter;

/// Starts logging; what is written is flushed when the guard goes.
///
/// `MYELIN_LOG` says what is logged, in the syntax of tracing's filters; the default is `info`.
/// Lines are dropped, and counted, while the reader of standard error does not keep up.
pub(crate) fn start() -> WorkerGuard {
    let (writer, guard) = tracing_appender::non_blocking(std::io::stderr());
    let filter = EnvFilter::try_from_env("MYELIN_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer).with_ansi(false);
    // Somebody else's subscriber, as in a test, is as good.
    let _ = subscriber.try_init();
    guard
}
