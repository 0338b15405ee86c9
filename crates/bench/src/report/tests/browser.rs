//! The page in a browser: the charts are drawn, and nothing is complained of.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::sample::{Sample, cell};
use super::*;

/// A browser that starts for the first time takes seconds.
const DEADLINE: Duration = Duration::from_secs(120);

/// The names under which Chromium is installed.
const BROWSERS: [&str; 6] = [
    "chromium",
    "chromium-browser",
    "chromium-headless-shell",
    "chrome-headless-shell",
    "google-chrome",
    "google-chrome-stable",
];

/// A browser on the search path.
fn browser() -> Option<PathBuf> {
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    let all = BROWSERS.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    all.into_iter().find(|path| path.is_file())
}

/// What the page became in the browser, and what was written to its console; `None` where there is no browser.
fn opened(page: &str) -> Option<(String, String)> {
    let Some(browser) = browser() else {
        myelin_testkit::skip("Chromium is not installed");
        return None;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    fs::write(&path, page).unwrap();
    let browser = Command::new(browser)
        // In a container there is no other user to be.
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"])
        .arg("--virtual-time-budget=60000")
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(format!("file://{}", path.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (done, ended) = mpsc::channel();
    let process = browser.id();
    let watch = std::thread::spawn(move || {
        if ended.recv_timeout(DEADLINE).is_err() {
            let process = Pid::from_raw(process.cast_signed()).unwrap();
            kill_process(process, Signal::KILL).unwrap();
        }
    });
    let output = browser.wait_with_output().unwrap();
    // Nobody listens where the deadline has passed.
    let _ = done.send(());
    watch.join().unwrap();
    assert!(output.status.success(), "{}: {}", output.status, String::from_utf8_lossy(&output.stderr));
    let console: Vec<String> = String::from_utf8_lossy(&output.stderr)
        .lines()
        .filter(|line| line.contains("CONSOLE"))
        .map(str::to_owned)
        .collect();
    Some((String::from_utf8_lossy(&output.stdout).into_owned(), console.join("\n")))
}

#[test]
fn a_browser_draws_every_chart_and_complains_of_nothing() {
    let mut cells = vec![cell("direct", 500, 1), cell("direct", 500, 20), cell("direct", 1024, 20)];
    cells.push(Cell { rate: Some(1000.0), ..cell("direct", 500, 20) });
    let evil = "<img src=x onerror=console.error(1)>";
    let sample = Sample::new(&["bus", "relay", evil], &cells);
    let page = html::page(&[RunFigures::new("a".to_owned(), &sample.results())]);
    let Some((document, console)) = opened(&page) else { return };
    assert_eq!(console, "");
    assert!(!document.contains("<img src=x"));
    // Two sizes, each with rate, response time, CPU and percentiles; four charts against size; three of the ramp; and
    // the keys of two legends.
    let expected = 2 * 4 + 4 + 3 + 2 * 3;
    assert_eq!(document.matches("<svg").count(), expected, "{}", &document[document.len().saturating_sub(3000)..]);
    assert!(document.contains("data-drawn="));
    assert!(document.matches("#0072B2").count() > 8, "the lines have their colours");
}
