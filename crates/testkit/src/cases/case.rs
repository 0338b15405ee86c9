//! One case: its files, its run, what differs.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use myelin_engine::transport::Transport;
use myelin_engine::{Arrival, Engine, Excerpt, ProcessEnvironment, Report as LoadReport, Settings, load};
use myelin_message::{Body, CorrelationId, Message};
use myelin_observe::messages::{MessageTracing, TraceLimits, Wish};

use super::backend::{Backend, Reply, error_reply, start};
use super::difference::{between, first_line};
use super::http_file::{self, Malformed, Parsed};
use super::{Difference, Options, Outcome, Traces};
use crate::clock::Clock;
use crate::scripted::{ScriptedBody, ScriptedTransport};

/// No case has more exchanges; numbers beyond are a slip of the pen.
const EXCHANGE_LIMIT: usize = 1000;

/// Whether a folder holds a case.
pub(super) fn is_case(folder: &Path) -> bool {
    configuration(folder).is_some() && (folder.join("request.http").is_file() || folder.join("problems.txt").is_file())
}

fn configuration(folder: &Path) -> Option<PathBuf> {
    ["synapse.xml", "synapse-configs"].map(|name| folder.join(name)).into_iter().find(|path| path.exists())
}

/// Runs one case.
///
/// Errors: when files cannot be read or written.
pub(super) fn run(folder: &Path, options: &Options) -> io::Result<Outcome> {
    let mut check = Check { folder, options, differences: Vec::new(), updated: Vec::new(), traces: Vec::new() };
    let Some(configuration) = configuration(folder) else {
        check.complain(folder.to_owned(), 0, "there is no synapse.xml".to_owned());
        return Ok(check.outcome());
    };
    let settings = Settings { environment: ProcessEnvironment::read(), ..Settings::default() };
    let loaded = load(&[configuration], &settings);
    check.loading(&loaded.report)?;
    let requests = check.numbered("request", "", "http")?;
    let replies = check.replies()?;
    let transport = Rc::new(ScriptedTransport::new(Backend::new(replies), start()));
    let (backend, clock) = (&transport.backend, &transport.clock);
    let engine = Engine::new(Arc::new(loaded.bus), Rc::clone(&transport) as Rc<dyn Transport>);
    let tracing = (options.traces != Traces::None).then(|| MessageTracing::new(TraceLimits::default()));
    let engine = match &tracing {
        Some(tracing) => {
            // The first selection always has room.
            let _ = tracing.select(Wish::default());
            engine.recorded_by([tracing.recorder_source()].into())
        }
        None => engine,
    };
    let mut answered = Vec::new();
    for (number, path) in requests {
        let Some(request) = check.parse(&path, http_file::request)? else { continue };
        let message = Message::new(request.head, backend.on_the_wire(request.body));
        match serve(&engine, clock, message) {
            Some(answer) => check.compare("response", "", number, &answer)?,
            None => check.complain(path, 0, "there is no answer, however long one waits".to_owned()),
        }
        answered.push(number);
    }
    if !clock.run_spawned() {
        check.complain(folder.to_owned(), 0, "something goes on for ever behind the last answer".to_owned());
    }
    check.stale("response", "", &answered)?;
    let received = backend.received();
    for (index, request) in received.iter().enumerate() {
        check.compare("backend", "request", index + 1, request)?;
    }
    check.stale("backend", "request", &(1..=received.len()).collect::<Vec<_>>())?;
    let unread = folder.join("unread");
    if unread.is_file() && backend.mediation_read_a_body() {
        check.complain(unread, 0, "mediation read a body that should have stayed on the wire".to_owned());
    }
    if let Some(tracing) = tracing
        && (options.traces == Traces::All || !check.differences.is_empty())
    {
        let secrets = tracing.secrets();
        check.traces = tracing.traces_behind(0).iter().map(|trace| trace.to_text(&secrets)).collect();
    }
    Ok(check.outcome())
}

/// Sends one request through the engine; `None` where it waits for what never comes.
fn serve(engine: &Engine, clock: &Clock, message: Message) -> Option<Vec<u8>> {
    let arrival = Arrival {
        transport: "http",
        peer: Some(SocketAddr::from(([127, 0, 0, 1], 50000))),
        local: Some(SocketAddr::from(([127, 0, 0, 1], 8280))),
        inbound: None,
        correlation: &const { CorrelationId::fixed("case") },
    };
    clock.run(async {
        let mut answer = engine.serve(message, arrival).await;
        let mut body = std::mem::replace(&mut answer.body, Body::Empty);
        let body =
            ScriptedBody::relayed(&mut body).await.unwrap_or_else(|error| format!("(no body: {error})").into_bytes());
        http_file::write_response(answer.status, answer.reason.as_deref(), &answer.head, &body)
    })
}

/// A run under way: where its files are, and what was found.
struct Check<'a> {
    folder: &'a Path,
    options: &'a Options,
    differences: Vec<Difference>,
    updated: Vec<PathBuf>,
    traces: Vec<String>,
}

impl Check<'_> {
    fn outcome(self) -> Outcome {
        let Check { folder, differences, updated, traces, .. } = self;
        Outcome { folder: folder.to_owned(), differences, updated, traces }
    }

    /// A path as the case names it: what lies inside its folder is the same on every machine.
    fn inside<'t>(&self, path: &'t str) -> std::path::Display<'t> {
        let path = Path::new(path);
        path.strip_prefix(self.folder).unwrap_or(path).display()
    }

    fn complain(&mut self, file: PathBuf, line: usize, what: String) {
        self.differences.push(Difference { file, line, what });
    }

    /// `problems.txt` says what loading reports; where there is none, no artefact may be faulty.
    fn loading(&mut self, report: &LoadReport) -> io::Result<()> {
        let path = self.folder.join("problems.txt");
        let mut text = String::new();
        let (mut faulty, mut shown) = (false, String::new());
        for artefact in &report.artefacts {
            faulty |= !artefact.is_ok();
            let (problems, latent, warnings) = (&artefact.problems, &artefact.latent, &artefact.warnings);
            let marked = [("problem", problems), ("failure when reached", latent), ("warning", warnings)];
            for (word, problem) in marked.iter().flat_map(|(word, all)| all.iter().map(move |one| (word, one))) {
                let (file, name) = (self.inside(problem.file()), self.inside(&artefact.name));
                let (line, column, message) = (problem.line(), problem.column(), problem.message());
                let what = format!("{} {name}", artefact.kind);
                let told = format!("{file}:{line}:{column}: {word} in {}: {message}\n", what.trim_end());
                text.push_str(&told);
                shown.push_str(&told);
                shown.push_str(&problem.excerpt().map(Excerpt::to_text).unwrap_or_default());
            }
        }
        if !path.is_file() && !faulty {
            return Ok(());
        }
        if !path.is_file() && !self.options.update {
            self.complain(path, 0, format!("this file is missing, but loading found problems:\n{shown}"));
            return Ok(());
        }
        self.against(&path, text.as_bytes())
    }

    fn replies(&mut self) -> io::Result<BTreeMap<usize, Reply>> {
        let mut replies = BTreeMap::new();
        for (number, path) in self.numbered("backend", "response", "http")? {
            if let Some(Parsed { head, body }) = self.parse(&path, http_file::response)? {
                replies.insert(number, Reply::Response(head, body));
            }
        }
        for (number, path) in self.numbered("backend", "", "error")? {
            match error_reply(&fs::read_to_string(&path)?) {
                Err(what) => self.complain(path, 1, what),
                Ok(reply) => {
                    if replies.insert(number, reply).is_some() {
                        let what = "a backend cannot both fail and answer".to_owned();
                        self.complain(path, 0, what);
                    }
                }
            }
        }
        Ok(replies)
    }

    fn parse(&mut self, path: &Path, parse: fn(&[u8]) -> Result<Parsed, Malformed>) -> io::Result<Option<Parsed>> {
        match parse(&fs::read(path)?) {
            Ok(parsed) => Ok(Some(parsed)),
            Err(Malformed { line, what }) => {
                self.complain(path.to_owned(), line, what);
                Ok(None)
            }
        }
    }

    fn compare(&mut self, side: &str, kind: &str, number: usize, got: &[u8]) -> io::Result<()> {
        let path = self.folder.join(name(side, number, kind, "http"));
        self.against(&path, got)
    }

    fn against(&mut self, path: &Path, got: &[u8]) -> io::Result<()> {
        let expected = if path.is_file() { Some(fs::read(path)?) } else { None };
        if expected.as_deref() == Some(got) {
            return Ok(());
        }
        if self.options.update {
            fs::write(path, got)?;
            self.updated.push(path.to_owned());
            return Ok(());
        }
        match expected {
            // Files may have been checked out with other line ends: those of a head mean nothing.
            Some(expected) if same_but_for_line_ends(&expected, got) => {}
            Some(expected) => self.complain(path.to_owned(), first_line(&expected, got), between(&expected, got)),
            None => {
                let got = between(b"", got);
                self.complain(path.to_owned(), 0, format!("this file is missing (UPDATE=1 writes it); got:\n{got}"));
            }
        }
        Ok(())
    }

    /// Files that expect something which did not happen.
    fn stale(&mut self, side: &str, kind: &str, happened: &[usize]) -> io::Result<()> {
        for (number, path) in self.numbered(side, kind, "http")? {
            if happened.contains(&number) {
                continue;
            }
            if self.options.update {
                fs::remove_file(&path)?;
                self.updated.push(path);
            } else {
                self.complain(path, 0, "this was expected and did not happen".to_owned());
            }
        }
        Ok(())
    }

    /// The files `side[.number][.kind].ending` that there are, by number.
    fn numbered(&mut self, side: &str, kind: &str, ending: &str) -> io::Result<Vec<(usize, PathBuf)>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(self.folder)? {
            let path = entry?.path();
            let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let number = file.split('.').nth(1).and_then(|number| number.parse().ok());
            let number = number.filter(|number| (2..=EXCHANGE_LIMIT).contains(number)).unwrap_or(1);
            if file == name(side, number, kind, ending) {
                found.push((number, path));
            }
        }
        found.sort();
        Ok(found)
    }
}

fn name(side: &str, number: usize, kind: &str, ending: &str) -> String {
    let number = if number == 1 { String::new() } else { number.to_string() };
    [side, &number, kind, ending].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(".")
}

fn same_but_for_line_ends(expected: &[u8], got: &[u8]) -> bool {
    let Some(end) = expected.windows(4).position(|four| four == b"\r\n\r\n") else { return false };
    let head: Vec<u8> = expected[..end + 4].iter().copied().filter(|&byte| byte != b'\r').collect();
    [head.as_slice(), &expected[end + 4..]].concat() == got
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_by_side_number_and_kind() {
        assert_eq!(name("request", 1, "", "http"), "request.http");
        assert_eq!(name("backend", 2, "request", "http"), "backend.2.request.http");
        assert_eq!(name("backend", 1, "", "error"), "backend.error");
    }

    #[test]
    fn line_ends_of_a_head_do_not_matter_and_those_of_a_body_do() {
        assert!(same_but_for_line_ends(b"HTTP/1.1 200 OK\r\nA: b\r\n\r\nx\r\n", b"HTTP/1.1 200 OK\nA: b\n\nx\r\n"));
        assert!(!same_but_for_line_ends(b"HTTP/1.1 200 OK\r\n\r\nx\r\n", b"HTTP/1.1 200 OK\n\nx\n"));
    }
}
