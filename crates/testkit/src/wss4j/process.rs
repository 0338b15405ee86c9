//! The protocol on the program's standard input and output, with a deadline on every answer.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

/// A machine under load takes seconds to load WSS4J's classes the first time.
const DEADLINE: Duration = Duration::from_secs(120);
/// How long the program may take to remove its keys before it is killed.
const FAREWELL: Duration = Duration::from_secs(5);
const ANSWER_LIMIT_BYTES: u64 = 256 * 1024 * 1024;

/// A program that answers one request after the other.
pub(super) struct Process {
    child: Child,
    /// `None` once the program is told to end.
    requests: Option<Sender<Vec<u8>>>,
    replies: Receiver<io::Result<Reply>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Ok,
    Refused,
    Failed,
}

pub(super) struct Reply {
    pub(super) status: Status,
    pub(super) facts: Vec<(String, String)>,
    pub(super) message: Vec<u8>,
}

impl Process {
    /// Starts it and waits for its first words.
    pub(super) fn start(command: &mut Command) -> io::Result<(Process, Reply)> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (request_end, requests) = mpsc::channel();
        let (reply_end, replies) = mpsc::channel();
        if let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) {
            // A thread of its own waits for the pipe, which knows no deadlines.
            thread::spawn(move || converse(input, BufReader::new(output), &requests, &reply_end));
        }
        let process = Process { child, requests: Some(request_end), replies };
        let hello = process.reply()?;
        Ok((process, hello))
    }

    /// Sends a request and waits for its reply.
    ///
    /// Errors: the program has ended, or does not answer in time; it then never will.
    pub(super) fn ask(&mut self, verb: &str, message: &[u8], settings: &[(&str, &str)]) -> io::Result<Reply> {
        let mut request = format!("{verb} {}\n", message.len());
        for (name, value) in settings {
            request.push_str(&format!("{name}={value}\n"));
        }
        request.push('\n');
        let mut request = request.into_bytes();
        request.extend_from_slice(message);
        let sent = self.requests.as_ref().is_some_and(|requests| requests.send(request).is_ok());
        if !sent {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.reply().inspect_err(|_| {
            // A late answer would be taken for the next one.
            self.requests = None;
            let _ = self.child.kill();
        })
    }

    fn reply(&self) -> io::Result<Reply> {
        self.replies.recv_timeout(DEADLINE).unwrap_or_else(|error| Err(io::Error::other(error)))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Its input ends, and it with it.
        self.requests = None;
        let end = Instant::now() + FAREWELL;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < end {
            thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Carries requests to the program and replies back until one side ends.
fn converse(
    mut input: ChildStdin,
    mut output: BufReader<ChildStdout>,
    requests: &Receiver<Vec<u8>>,
    replies: &Sender<io::Result<Reply>>,
) {
    loop {
        let reply = read(&mut output);
        let broken = reply.is_err();
        if replies.send(reply).is_err() || broken {
            return;
        }
        let Ok(request) = requests.recv() else { return };
        if let Err(error) = input.write_all(&request).and_then(|()| input.flush()) {
            // Nobody there to be told: the test has given up.
            let _ = replies.send(Err(error));
            return;
        }
    }
}

/// Reads `STATUS LENGTH`, lines of `NAME=VALUE`, an empty line, and the message.
fn read(output: &mut impl BufRead) -> io::Result<Reply> {
    let first = line(output)?;
    let (status, length) = first.split_once(' ').ok_or_else(|| malformed(&first))?;
    let status = match status {
        "ok" => Status::Ok,
        "refused" => Status::Refused,
        "failed" => Status::Failed,
        _ => return Err(malformed(&first)),
    };
    let length: u64 = length.parse().map_err(|_| malformed(&first))?;
    if length > ANSWER_LIMIT_BYTES {
        return Err(malformed(&first));
    }
    let mut facts = Vec::new();
    loop {
        let fact = line(output)?;
        if fact.is_empty() {
            break;
        }
        let (name, value) = fact.split_once('=').ok_or_else(|| malformed(&fact))?;
        facts.push((name.to_owned(), value.to_owned()));
    }
    let mut message = Vec::new();
    output.take(length).read_to_end(&mut message)?;
    if message.len() as u64 != length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Reply { status, facts, message })
}

fn line(output: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    if output.take(ANSWER_LIMIT_BYTES).read_line(&mut line)? == 0 || line.pop() != Some('\n') {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(line)
}

fn malformed(line: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("this is no reply: {line:?}"))
}
