//! What a run sends, how fast, for how long, and what it takes for a good answer.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

use super::client::Client;
use super::request::{Request, ThinkTime};
use super::schedule::Ramp;
use super::target::Target;
use crate::payload::Payload;

/// A run of the load generator; change the fields of [`Plan::new`] and call [`Plan::run`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// Where requests go.
    pub target: Target,
    /// The request method.
    pub method: String,
    /// Header lines besides `Host`, `Content-Type` and those of the framing.
    pub headers: Vec<(String, String)>,
    /// The `Content-Type`, if any.
    pub media_type: Option<String>,
    /// The body of every request.
    pub body: Payload,
    /// Whether the body is sent in chunks instead of with a length.
    pub chunked: bool,
    /// Whether connections are used again.
    pub keep_alive: bool,
    /// Requests to send in all; `None` where only the duration ends the run.
    pub requests: Option<u64>,
    /// How long new requests are sent; `None` where only their number ends the run.
    pub duration: Option<Duration>,
    /// Connections that send, over all threads.
    pub connections: usize,
    /// Connections that carry one request before the run and stay open and silent during it.
    pub idle_connections: usize,
    /// Requests a second, over all threads (open loop); `None` sends as soon as a connection is free (closed loop).
    pub rate: Option<f64>,
    /// A rate that changes, instead of `rate`.
    pub ramp: Option<Ramp>,
    /// How long a connection waits after an answer before it sends again; in a closed loop only.
    pub think: Option<ThinkTime>,
    /// Whether `{{n}}`, `{{uuid}}` and `{{now}}` in path, header values and body are replaced in each request.
    pub template: bool,
    /// Several kinds of requests; where there are any, they are sent instead of the one that the fields above describe.
    pub mix: Vec<Request>,
    /// Threads that send.
    pub threads: usize,
    /// The longest wait for one answer, counted from the sending, or in open loop from the intended sending.
    pub timeout: Duration,
    /// How long the answers to requests under way are waited for after the end of the duration; longer than the
    /// time-out is as long as the time-out.
    pub drain: Duration,
    /// What makes an answer good, besides a status of 2xx.
    pub verify: Verify,
    /// Where a log of the latencies, second by second, is written in the form that HdrHistogram's tools read.
    pub histogram: Option<PathBuf>,
    /// Processes whose CPU time, memory, threads and files are reported.
    pub processes: Vec<u32>,
    /// The certificates to trust for https, in PEM; `None` trusts those of the system.
    pub authorities: Option<PathBuf>,
    /// The client's certificate and those of its issuers for https, in PEM.
    pub certificate: Option<PathBuf>,
    /// The key of `certificate`, in PEM and not encrypted; `None` looks for it in the same file.
    pub key: Option<PathBuf>,
    /// Whether new TLS connections resume sessions of earlier ones.
    pub resumption: bool,
    /// The client's side of a policy: each request is secured anew, and each answer verified and then judged in clear.
    #[serde(skip)]
    pub security: Option<Client>,
}

/// What makes an answer good; a status of 2xx and correct framing always belong to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verify {
    /// Nothing more.
    Status,
    /// The body is, byte for byte, the body that was sent.
    Echo,
    /// The body is, byte for byte, this one.
    Body(Payload),
    /// The body contains this text.
    Contains(String),
    /// The body is the XML that was sent, however it is written.
    Xml,
    /// The body is this XML, however it is written.
    Alike(Payload),
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Good answers so far.
    pub requests: u64,
    /// Failures so far.
    pub failures: u64,
    /// Time since the first request; zero while connections are being opened.
    pub elapsed: Duration,
}

impl Plan {
    /// One `GET` over one connection to `url`; everything else is in the fields.
    ///
    /// Errors: `url` is no http or https URL; the caller's.
    pub fn new(url: &str) -> anyhow::Result<Plan> {
        Ok(Plan::of(Request::new(url.parse()?)))
    }

    /// One request of this kind over one connection.
    pub(super) fn of(request: Request) -> Plan {
        let Request { target, method, headers, media_type, body, verify, think, template, .. } = request;
        Plan {
            target,
            method,
            headers,
            media_type,
            body,
            chunked: false,
            keep_alive: true,
            requests: Some(1),
            duration: None,
            connections: 1,
            idle_connections: 0,
            rate: None,
            ramp: None,
            think,
            template,
            mix: Vec::new(),
            threads: 1,
            timeout: Duration::from_secs(30),
            drain: Duration::from_secs(30),
            verify,
            histogram: None,
            processes: Vec::new(),
            authorities: None,
            certificate: None,
            key: None,
            resumption: true,
            security: None,
        }
    }

    /// The whole request, built once.
    pub(crate) fn request(&self) -> Payload {
        self.request_with(&self.body)
    }

    /// A whole request with another body.
    pub(super) fn request_with(&self, body: &Payload) -> Payload {
        self.own_request().bytes(body, self.keep_alive, self.chunked)
    }

    /// The kinds of requests that are sent, at least one.
    pub(super) fn requests_sent(&self) -> Vec<Request> {
        if self.mix.is_empty() { vec![self.own_request()] } else { self.mix.clone() }
    }

    /// Threads that send; each needs a connection.
    pub(super) fn threads_used(&self) -> usize {
        self.threads.min(self.connections)
    }

    /// The rate at which requests are meant to leave; `None` in a closed loop.
    pub(super) fn pace(&self) -> Option<Ramp> {
        self.ramp.or(self.rate.map(Ramp::constant))
    }

    /// The request that the plan's own fields describe.
    fn own_request(&self) -> Request {
        Request {
            name: format!("{} {}", self.method, self.target.path),
            method: self.method.clone(),
            headers: self.headers.clone(),
            media_type: self.media_type.clone(),
            body: self.body.clone(),
            verify: self.verify.clone(),
            think: self.think,
            template: self.template,
            ..Request::new(self.target.clone())
        }
    }

    /// Errors: the plan contradicts itself.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        if self.connections == 0 || self.threads == 0 {
            bail!("a run needs at least one connection and one thread");
        }
        if self.requests.is_none() && self.duration.is_none() {
            bail!("a run needs a number of requests or a duration");
        }
        if self.security.is_some() && self.idle_connections > 0 {
            bail!("connections that only stay open send nothing that could be secured");
        }
        if self.timeout.is_zero() {
            bail!("the timeout must be longer than nothing");
        }
        let waits = [Some(self.timeout), Some(self.drain), self.duration];
        if waits.into_iter().flatten().any(|wait| wait > LONGEST) {
            bail!("times are at most {} days", LONGEST.as_secs() / 86_400);
        }
        if self.rate.is_some() && self.ramp.is_some() {
            bail!("a run has one rate or one ramp");
        }
        if self.rate.is_some_and(|rate| !(rate.is_finite() && rate > 0.0)) {
            bail!("the rate must be more than nothing");
        }
        if let Some(ramp) = &self.ramp {
            ramp.check().map_err(anyhow::Error::msg)?;
        }
        if self.security.is_some() && (!self.mix.is_empty() || self.template) {
            bail!("secured requests are one kind without templates");
        }
        let requests = self.requests_sent();
        if self.key.is_some() && self.certificate.is_none() {
            bail!("a key needs the certificate that it belongs to; see --cert");
        }
        if self.certificate.is_some() && !requests.iter().any(|request| request.target.secure) {
            bail!("a client's certificate is for https, and no request goes there");
        }
        if self.pace().is_some() && requests.iter().any(|request| request.think.is_some()) {
            bail!("where a rate says when requests leave, there is no time to think");
        }
        for request in &requests {
            request.check().with_context(|| request.name.clone())?;
        }
        Ok(())
    }
}

/// Longer runs and waits are mistakes.
const LONGEST: Duration = Duration::from_secs(365 * 86_400);

impl FromStr for Verify {
    type Err = String;

    fn from_str(text: &str) -> Result<Verify, String> {
        match text.split_once(':') {
            None if text == "status" => Ok(Verify::Status),
            None if text == "echo" => Ok(Verify::Echo),
            None if text == "xml" => Ok(Verify::Xml),
            Some(("contains", wanted)) if !wanted.is_empty() => Ok(Verify::Contains(wanted.to_owned())),
            _ => Err(format!("`{text}` is none of status, echo, xml, contains:TEXT")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_request_is_what_was_asked_for() {
        let mut plan = Plan::new("http://bus:8280/a?b").unwrap();
        let agent = concat!("User-Agent: myelin-load/", env!("CARGO_PKG_VERSION"));
        let text = |plan: &Plan| String::from_utf8(plan.request().to_vec()).unwrap();
        assert_eq!(text(&plan), format!("GET /a?b HTTP/1.1\r\nHost: bus:8280\r\n{agent}\r\nAccept: */*\r\n\r\n"));
        plan.method = "POST".to_owned();
        plan.body = Payload::from(b"hello".to_vec());
        plan.media_type = Some("text/plain".to_owned());
        plan.headers = vec![("accept".to_owned(), "a/b".to_owned())];
        plan.keep_alive = false;
        let start = format!(
            "POST /a?b HTTP/1.1\r\nHost: bus:8280\r\n{agent}\r\nContent-Type: text/plain\r\nConnection: close\r\n"
        );
        assert_eq!(text(&plan), format!("{start}Content-Length: 5\r\naccept: a/b\r\n\r\nhello"));
        plan.chunked = true;
        let expected = format!("{start}Transfer-Encoding: chunked\r\naccept: a/b\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
        assert_eq!(text(&plan), expected);
    }

    #[test]
    fn a_plan_that_cannot_work_is_refused_before_anything_is_sent() {
        let refused = |change: fn(&mut Plan)| {
            let mut plan = Plan::new("http://127.0.0.1:1/").unwrap();
            change(&mut plan);
            assert!(plan.run().is_err());
        };
        refused(|plan| plan.connections = 0);
        refused(|plan| plan.requests = None);
        refused(|plan| plan.rate = Some(0.0));
        refused(|plan| (plan.rate, plan.ramp) = (Some(1.0), Some(Ramp::constant(1.0))));
        refused(|plan| plan.ramp = Some(Ramp::constant(f64::NAN)));
        refused(|plan| (plan.rate, plan.think) = (Some(1.0), "1s".parse().ok()));
        refused(|plan| plan.duration = Some(Duration::MAX));
        refused(|plan| plan.certificate = Some(PathBuf::from("client.pem")));
        refused(|plan| plan.mix = vec![Request { weight: 0, ..plan.own_request() }]);
        refused(|plan| plan.method = "GET /".to_owned());
        refused(|plan| plan.headers = vec![("a".to_owned(), "b\r\nc: d".to_owned())]);
        refused(|plan| plan.headers = vec![("Content-Length".to_owned(), "1".to_owned())]);
        refused(|plan| plan.connections = 100_000_000);
    }

    #[test]
    fn ways_to_verify_are_read() {
        assert_eq!("echo".parse(), Ok(Verify::Echo));
        assert_eq!("xml".parse(), Ok(Verify::Xml));
        assert_eq!("contains:a:b".parse(), Ok(Verify::Contains("a:b".to_owned())));
        assert!("contains:".parse::<Verify>().is_err());
        assert!("maybe".parse::<Verify>().is_err());
    }
}
