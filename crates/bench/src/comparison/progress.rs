//! How far a run has come, on standard error: one line that changes on a terminal, a line for each cell elsewhere.

use std::io::{IsTerminal, Stderr, Write};
use std::time::{Duration, Instant};

use super::task::Task;
use crate::load;
use crate::units::show_size;

pub(super) struct Progress {
    out: Stderr,
    live: bool,
    cells: usize,
    /// Cells that were done before, in a run that goes on.
    before: usize,
    done: usize,
    began: Instant,
    cell: String,
}

impl Progress {
    pub(super) fn new(cells: usize, before: usize) -> Progress {
        let out = std::io::stderr();
        let live = out.is_terminal();
        Progress { out, live, cells, before, done: before, began: Instant::now(), cell: String::new() }
    }

    /// A cell begins.
    pub(super) fn cell(&mut self, task: Task) {
        let Task { scenario, size, connections, .. } = task;
        let (number, cells, size) = (self.done + 1, self.cells, show_size(size));
        self.cell = format!("{number}/{cells}: {scenario}, {size} over {connections} connections{}", self.left());
        if !self.live {
            self.line(&self.cell.clone());
        }
    }

    /// A cell ended.
    pub(super) fn done(&mut self) {
        self.done += 1;
    }

    /// A target is being started, warmed up or measured.
    pub(super) fn now(&mut self, target: &str, what: &str) {
        if self.live {
            let text = format!("\r\x1b[K{}; {target}: {what}", self.cell);
            self.write(&text);
        }
    }

    /// A target is sent requests.
    pub(super) fn rate(&mut self, target: &str, what: &str, progress: load::Progress) {
        let seconds = progress.elapsed.as_secs_f64();
        if self.live && seconds > 0.0 {
            self.now(target, &format!("{what}, {:.0}/s", progress.requests as f64 / seconds));
        }
    }

    /// Something that is to be read later, too.
    pub(super) fn line(&mut self, text: &str) {
        let begin = if self.live { "\r\x1b[K" } else { "" };
        self.write(&format!("{begin}{text}\n"));
    }

    /// Leaves a clean line behind.
    pub(super) fn end(&mut self) {
        if self.live {
            self.write("\r\x1b[K");
        }
    }

    /// How long the rest will take, by what was done so far.
    fn left(&self) -> String {
        let done = self.done - self.before;
        if done == 0 {
            return String::new();
        }
        let each = self.began.elapsed() / done as u32;
        let left = each * (self.cells - self.done) as u32;
        format!(" (about {} left)", humantime::format_duration(Duration::from_secs(left.as_secs())))
    }

    fn write(&mut self, text: &str) {
        // Nobody depends on what is shown.
        let _ = self.out.write_all(text.as_bytes());
        let _ = self.out.flush();
    }
}
