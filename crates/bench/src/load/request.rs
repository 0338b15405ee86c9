//! One kind of request: where it goes, what it holds, and what its answer has to be.

use std::str::FromStr;
use std::time::Duration;

use anyhow::bail;
use serde::{Deserialize, Serialize};

use super::plan::Verify;
use super::target::Target;
use crate::payload::Payload;
use crate::units;

/// One kind of request of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Request {
    /// How it is called in the report.
    pub name: String,
    /// How often it is sent, in proportion to the others.
    pub weight: u32,
    /// Where it goes.
    pub target: Target,
    /// The request method.
    pub method: String,
    /// Header lines besides `Host`, `Content-Type` and those of the framing.
    pub headers: Vec<(String, String)>,
    /// The `Content-Type`, if any.
    pub media_type: Option<String>,
    /// The body.
    pub body: Payload,
    /// What makes an answer good, besides a status of 2xx.
    pub verify: Verify,
    /// How long a connection waits after the answer before it sends again.
    pub think: Option<ThinkTime>,
    /// Whether `{{n}}`, `{{uuid}}` and `{{now}}` in path, header values and body are replaced in each request.
    pub template: bool,
}

/// How long a user reads an answer before the next request: any time between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThinkTime {
    /// The shortest.
    pub from: Duration,
    /// The longest.
    pub to: Duration,
}

impl Request {
    /// A `GET`; everything else is in the fields.
    pub fn new(target: Target) -> Request {
        Request {
            name: format!("GET {}", target.path),
            weight: 1,
            target,
            method: "GET".to_owned(),
            headers: Vec::new(),
            media_type: None,
            body: Payload::empty(),
            verify: Verify::Status,
            think: None,
            template: false,
        }
    }

    /// Head and body, for another body than its own.
    pub(super) fn bytes(&self, body: &Payload, keep_alive: bool, chunked: bool) -> Payload {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.target.path);
        let given = |name: &str| self.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
        let mut line = |name: &str, value: &str| {
            if !given(name) {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
        };
        line("Host", &self.target.authority);
        line("User-Agent", concat!("myelin-load/", env!("CARGO_PKG_VERSION")));
        line("Accept", "*/*");
        if let Some(media_type) = &self.media_type {
            line("Content-Type", media_type);
        }
        if !keep_alive {
            line("Connection", "close");
        }
        let sends_body = !body.is_empty() || !matches!(self.method.as_str(), "GET" | "HEAD" | "DELETE" | "OPTIONS");
        let chunked = chunked && sends_body;
        if chunked {
            line("Transfer-Encoding", "chunked");
        } else if sends_body {
            line("Content-Length", &body.length().to_string());
        }
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        body.request(head.into_bytes(), chunked)
    }

    /// Errors: the request is no HTTP; whoever described it.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        if self.weight == 0 {
            bail!("a weight is 1 or more; leave out what is not to be sent");
        }
        if !is_token(&self.method) {
            bail!("`{}` is no HTTP method", self.method);
        }
        let media_type = self.media_type.iter().map(|value| ("Content-Type", value.as_str()));
        let given = self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, value) in given.chain(media_type) {
            if !is_token(name) || value.bytes().any(|byte| byte.is_ascii_control() && byte != b'\t') {
                bail!("`{name}: {value}` is no header line");
            }
            if ["content-length", "transfer-encoding"].iter().any(|framing| name.eq_ignore_ascii_case(framing)) {
                bail!("the header {name} is ours to set; see --chunked");
            }
        }
        Ok(())
    }
}

impl ThinkTime {
    /// The time that lies so far, as a fraction of 1, between the two.
    pub(super) fn pick(&self, fraction: f64) -> Duration {
        self.from + self.to.saturating_sub(self.from).mul_f64(fraction)
    }
}

impl FromStr for ThinkTime {
    type Err = String;

    /// Reads `200ms`, or `100ms..500ms`.
    fn from_str(text: &str) -> Result<ThinkTime, String> {
        let (from, to) = text.split_once("..").unwrap_or((text, text));
        let (from, to) = (units::duration(from)?, units::duration(to)?);
        if from > to {
            return Err(format!("`{text}` is no think time; write the shorter time first, as 100ms..500ms"));
        }
        Ok(ThinkTime { from, to })
    }
}

/// Source: RFC 9110 §5.6.2.
fn is_token(text: &str) -> bool {
    let special = b"!#$%&'*+-.^_`|~";
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || special.contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_think_time_is_one_time_or_any_between_two() {
        let time: ThinkTime = "100ms..300ms".parse().unwrap();
        assert_eq!(time.pick(0.5), Duration::from_millis(200));
        assert_eq!("1s".parse::<ThinkTime>().unwrap().pick(0.9), Duration::from_secs(1));
        for text in ["", "2s..1s", "soon", "1s..", "..1s"] {
            assert!(text.parse::<ThinkTime>().is_err(), "{text}");
        }
    }
}
