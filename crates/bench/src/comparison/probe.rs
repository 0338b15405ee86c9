//! Whether a contender does what the scenario says, asked before it is measured.
//!
//! A contender that passed everything on would win where messages are to be looked at, so one message that must not
//! reach the backend is sent too.
//! What the load generator then compares each answer with, byte for byte, is the answer that was judged here.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;
use std::time::Duration;

use anyhow::{Context, bail};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::configuration::POOL;
use super::contender::Contender;
use super::scenario::{Likeness, Scenario};
use super::target::Source;
use super::task::{self, Task};
use crate::canonical;
use crate::framing::{self, Decoder};
use crate::load::{self, Plan, Verify};
use crate::payload::Payload;

const PATIENCE: Duration = Duration::from_secs(30);

/// An answer that is wrong, and was meant to be right: to wait and to ask again would not mend it.
#[derive(Debug)]
pub(super) struct Wrong(String);

impl fmt::Display for Wrong {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Error for Wrong {}

/// Asks for one good answer, and for one refusal where the scenario has any; the body of the good answer.
///
/// Errors: the answer is not the one the scenario asks for, the refusal is none, what is passed on to the backend is not
/// what it should be, or nobody answers.
pub(super) fn probe(contender: &Contender, task: Task) -> anyhow::Result<Payload> {
    let mut plan = task::plan(contender, task)?;
    if plan.security.is_some() {
        return secured(plan, task.scenario);
    }
    let (target, scenario) = (&contender.target, contender.target.asked(task.scenario));
    let expected = match target.source {
        Source::Direct | Source::Relay | Source::Backend if !scenario.asks_for_quotes() => {
            scenario.payload(task.size)?.to_vec()
        }
        _ => scenario.answer(task.size)?,
    };
    let body = good_answer(&plan, expected, target.likeness(scenario))?;
    if let (Some(passed_on), Some(path)) = (scenario.passed_on(task.size)?, target.path_there(scenario)) {
        let mut there = plan.clone();
        there.target.path = path;
        good_answer(&there, passed_on, Likeness::Canonical).context("what the backend gets")?;
    }
    if let Some(stray) = scenario.stray()?.filter(|_| target.mediates()) {
        plan.headers.retain(|header| !scenario.headers().contains(header));
        plan.body = stray;
        let Answer { body, .. } = ask(&plan)?;
        if String::from_utf8_lossy(&body).contains(scenario.mark()) {
            bail!(Wrong("what is to be kept back came through to the backend".to_owned()));
        }
    }
    if scenario == Scenario::Pool && target.mediates() {
        takes_turns(&plan)?;
    }
    Ok(Payload::from(body))
}

/// Asks until each backend of the pool has answered.
fn takes_turns(plan: &Plan) -> anyhow::Result<()> {
    // Each worker of a server may have turns of its own.
    const PATIENT: usize = 32 * POOL;
    let mut served = BTreeSet::new();
    for _ in 0..PATIENT {
        served.insert(ask(plan)?.served_by.unwrap_or_default());
        if served.len() == POOL {
            return Ok(());
        }
    }
    let served: Vec<String> = served.into_iter().collect();
    bail!(Wrong(format!("of {POOL} backends only these answered: {}", served.join(", "))))
}

/// The same of a contender that secures messages: what is in the answer is what was sent, and what nobody secured is
/// refused.
fn secured(mut plan: Plan, scenario: Scenario) -> anyhow::Result<Payload> {
    (plan.requests, plan.connections, plan.verify) = (Some(1), 1, Verify::Xml);
    let outcome = plan.run()?;
    if let Some((kind, failure)) = outcome.failures_by_kind.first_key_value() {
        bail!("{kind}: {}", failure.example);
    }
    let body = plan.body.clone();
    plan.security = None;
    let Answer { status, body: answer, .. } = ask(&plan)?;
    if status < 300 || String::from_utf8_lossy(&answer).contains(scenario.mark()) {
        bail!("a message that nobody secured came through to the backend");
    }
    Ok(body)
}

/// The body of the answer, which has to be like the expected one.
fn good_answer(plan: &Plan, expected: Vec<u8>, likeness: Likeness) -> anyhow::Result<Vec<u8>> {
    let Answer { status, body, .. } = ask(plan)?;
    let alike = match likeness {
        _ if body == expected => true,
        Likeness::Bytes => false,
        Likeness::Canonical => canonical::form(body.clone())? == canonical::form(expected)?,
    };
    if !(200..300).contains(&status) {
        bail!("status {status}: {}", beginning(&body));
    }
    if !alike {
        bail!(Wrong(format!("the answer is not what it should be: {}", beginning(&body))));
    }
    Ok(body)
}

/// What came back for a request.
#[derive(Debug, PartialEq)]
struct Answer {
    status: u16,
    body: Vec<u8>,
    /// Which backend of the pool made it.
    served_by: Option<String>,
}

/// The answer to one request, over a connection of its own.
fn ask(plan: &Plan) -> anyhow::Result<Answer> {
    let mut plan = plan.clone();
    plan.keep_alive = false;
    let request = plan.request().to_vec();
    let exchange = async {
        let (mut reading, mut writing) = tokio::io::split(load::connect(&plan).await?);
        let mut answer = Vec::new();
        // Read and written at once, because an echo sends before it has everything. Whoever answers early reads no
        // further, and a refusal is as good an answer.
        let sending = async {
            let _ = writing.write_all(&request).await;
            let _ = writing.flush().await;
            std::future::pending::<()>().await;
        };
        let read = tokio::select! {
            read = reading.read_to_end(&mut answer) => read,
            () = sending => Ok(0),
        };
        // Some end a connection without the last word of TLS, or reset it behind an answer to what they did not read.
        if answer.is_empty() {
            read.context("no answer")?;
        }
        anyhow::Ok(answer)
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let answer = runtime.block_on(async { tokio::time::timeout(PATIENCE, exchange).await }).context("no answer")??;
    read_answer(&answer)
}

fn read_answer(answer: &[u8]) -> anyhow::Result<Answer> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut head = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(start) = head.parse(answer).context("no HTTP answer")? else {
        bail!("the answer ends in its head");
    };
    let value = |name: &str| head.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
    let mut decoder = match (value("Transfer-Encoding"), value("Content-Length")) {
        (Some(_), _) => Decoder::chunked(),
        (None, Some(length)) => {
            Decoder::Length(framing::content_length(length.value).ok().context("a length that is none")?)
        }
        (None, None) => Decoder::Close,
    };
    let (mut rest, mut body) = (&answer[start..], Vec::new());
    let mut done = decoder.is_done();
    while !rest.is_empty() && !done {
        let Ok(step) = decoder.advance(rest) else { bail!("a chunk is malformed") };
        body.extend_from_slice(step.data);
        (rest, done) = (&rest[step.used..], step.done);
    }
    if !done && !matches!(decoder, Decoder::Close) {
        bail!("the answer ends after {} bytes of its body", body.len());
    }
    let served_by = value("X-Served-By").map(|header| String::from_utf8_lossy(header.value).into_owned());
    Ok(Answer { status: head.code.unwrap_or(0), body, served_by })
}

fn beginning(body: &[u8]) -> String {
    String::from_utf8_lossy(&body[..body.len().min(300)]).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_in_every_framing_and_only_whole() {
        let check = |answer: &str, expected: Option<(u16, &str)>| {
            let read = read_answer(answer.as_bytes()).ok().map(|answer| (answer.status, answer.body));
            let expected = expected.map(|(status, body)| (status, body.as_bytes().to_vec()));
            assert_eq!(read, expected, "{answer:?}");
        };
        check("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab", Some((200, "ab")));
        check(
            "HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n",
            Some((500, "abc")),
        );
        check("HTTP/1.1 200 OK\r\n\r\nuntil the end", Some((200, "until the end")));
        check("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", Some((202, "")));
        check("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", None);
        check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n", None);
        check("HTTP/1.1 200", None);
        check("no answer\r\n\r\n", None);
    }
}
