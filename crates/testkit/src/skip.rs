//! Tests that cannot run here say so, where a reader sees it.

use std::fs::OpenOptions;
use std::io::Write;

/// Says that the test this is called from does not run, and why; the test then returns.
///
/// Shape: one line `SKIPPED: <test>: <reason>` on standard error, past the capture of the test harness,
/// and the same line at the end of the file that the environment variable `MYELIN_SKIPPED` names, if it is set.
/// `cargo xtask test` sets it and repeats all of these lines at the end.
pub fn skip(reason: &str) {
    let thread = std::thread::current();
    // The harness names each test's thread after the test.
    let line = format!("SKIPPED: {}: {}\n", thread.name().unwrap_or("main"), reason.replace('\n', " "));
    // Nowhere to complain to: whoever closed standard error does not want to know.
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
    if let Some(path) = std::env::var_os("MYELIN_SKIPPED")
        && let Ok(mut file) = OpenOptions::new().append(true).create(true).open(path)
    {
        // One write a line: appended lines of tests that run at the same time stay whole.
        let _ = file.write_all(line.as_bytes());
    }
}
