//! Why a request fails.

use std::fmt;
use std::io;

/// Why a request is no transaction. The texts say more for people; the kinds are what is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// No connection could be opened.
    Connect(String),
    /// The answer was not complete in time.
    Timeout,
    /// No connection was free while there was time to send the request.
    NotSent(String),
    /// The request was under way when the run ended, and the last wait was over before its answer was complete.
    Unanswered,
    /// The connection was reset.
    Reset(String),
    /// The connection was closed before the answer was complete.
    Closed(String),
    /// The answer is complete and its status is none of 2xx.
    Status(u16),
    /// The answer is complete and its body is another than the one expected.
    Mismatch(String),
    /// What came is no HTTP answer.
    Malformed(String),
    /// A request could not be secured, or its answer is not secured as the policy says.
    Security(String),
}

impl Failure {
    /// The kind, under which it is counted.
    pub fn kind(&self) -> String {
        match self {
            Failure::Connect(_) => "connect".to_owned(),
            Failure::Timeout => "timeout".to_owned(),
            Failure::NotSent(_) => "not sent".to_owned(),
            Failure::Unanswered => "unanswered".to_owned(),
            Failure::Reset(_) => "reset".to_owned(),
            Failure::Closed(_) => "closed early".to_owned(),
            Failure::Status(status) => format!("status {status}"),
            Failure::Mismatch(_) => "body mismatch".to_owned(),
            Failure::Security(_) => "security".to_owned(),
            Failure::Malformed(_) => "malformed".to_owned(),
        }
    }

    /// The failure an error while reading or writing stands for.
    pub(super) fn broken(error: &io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Failure::Closed("inside TLS".to_owned()),
            _ => Failure::Reset(error.to_string()),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Timeout | Failure::Status(_) => formatter.write_str(&self.kind()),
            Failure::Unanswered => formatter.write_str("no complete answer when the run was over; see --drain"),
            Failure::NotSent(text)
            | Failure::Connect(text)
            | Failure::Reset(text)
            | Failure::Closed(text)
            | Failure::Mismatch(text)
            | Failure::Security(text)
            | Failure::Malformed(text) => formatter.write_str(text),
        }
    }
}
