//! OTLP over HTTP/1.1, with the client of the bus.
//!
//! Source: OTLP specification, "OTLP/HTTP".

use std::rc::Rc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{StatusCode, Uri};
use myelin_engine::transport::{Address, Method, Outgoing, Sender, Sent};
use myelin_http::{Client, ClientOptions, Expect, Pace, Retry, Trust};
use myelin_message::{Body, Head, Manner};

use super::destination::Destination;
use super::refused::Refused;

/// How large an answer may be; those of collectors are a few bytes.
const ANSWER_BYTES: u64 = 64 * 1024;

/// A collector that is spoken with by HTTP.
pub(super) struct HttpClient {
    client: Rc<Client>,
    url: Uri,
    /// The URL as it may be told.
    shown: String,
    head: Vec<(String, Vec<u8>)>,
    timeout: Duration,
}

impl HttpClient {
    /// A client for this thread, inside a `LocalSet`.
    pub(super) fn new(destination: &Destination, trust: Trust) -> HttpClient {
        let Destination { url, headers, timeout, gzip, .. } = destination;
        let mut head = vec![("Content-Type".to_owned(), b"application/x-protobuf".to_vec())];
        head.push(("User-Agent".to_owned(), super::over_grpc::USER_AGENT.as_bytes().to_vec()));
        if *gzip {
            head.push(("Content-Encoding".to_owned(), b"gzip".to_vec()));
        }
        head.extend(headers.iter().map(|(name, value)| (name.to_string(), value.as_bytes().to_vec())));
        // A message that may have come twice is better than one that is lost.
        let options = ClientOptions { response_timeout: *timeout, retry: Retry::Always, ..ClientOptions::default() };
        let client = Client::new(options, Expect::Answer, Pace::default(), trust);
        HttpClient { client, url: url.clone(), shown: destination.to_string(), head, timeout: *timeout }
    }

    /// Sends a message.
    pub(super) async fn send(&mut self, message: Bytes) -> Result<Bytes, Refused> {
        let mut head = Head::default();
        for (name, value) in &self.head {
            head.append(name, value).map_err(|error| Refused::for_good(error.to_string()))?;
        }
        let request = Outgoing {
            method: Method::Named("POST".to_owned()),
            address: Address::Uri(self.url.clone()),
            head,
            body: Body::Bytes(message.to_vec()),
            timeout: Some(self.timeout),
            host: None,
            manner: Manner::default(),
        };
        let sent =
            self.client.send(request).await.map_err(|error| Refused::for_now(format!("{}: {error}", self.shown)))?;
        let Sent::Response(mut answer) = sent else { return Ok(Bytes::new()) };
        let status = answer.status;
        let retry_after = answer.head.first("Retry-After").and_then(retry_after);
        let body = answer.body.bytes(ANSWER_BYTES).await.map(Bytes::copy_from_slice);
        if status.is_success() {
            // Whoever answers 200 has taken it, whatever the rest of the answer is.
            return Ok(body.unwrap_or_default());
        }
        let reason = format!("{} answered {status}", self.shown);
        let is_for_now = matches!(
            status,
            StatusCode::TOO_MANY_REQUESTS
                | StatusCode::BAD_GATEWAY
                | StatusCode::SERVICE_UNAVAILABLE
                | StatusCode::GATEWAY_TIMEOUT
        );
        Err(Refused { reason, retry: is_for_now.then(|| retry_after.unwrap_or_default()) })
    }
}

/// How long a collector wants to be left alone (RFC 9110 §10.2.3).
fn retry_after(value: &[u8]) -> Option<Duration> {
    let text = std::str::from_utf8(value).ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let until = httpdate::parse_http_date(text).ok()?;
    Some(until.duration_since(SystemTime::now()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_says_when_to_come_back_in_seconds_or_by_a_date() {
        assert_eq!(retry_after(b"7"), Some(Duration::from_secs(7)));
        assert_eq!(retry_after(b"Thu, 01 Jan 1970 00:00:00 GMT"), Some(Duration::ZERO));
        let later = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(100));
        assert!(retry_after(later.as_bytes()).is_some_and(|wait| wait > Duration::from_secs(90)));
        assert_eq!(retry_after(b"soon"), None);
    }
}
