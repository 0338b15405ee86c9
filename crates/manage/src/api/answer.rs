//! What the management API answers.

use myelin_message::{Body, Message, StatusCode};
use serde_json::{Map, Value};

/// An answer, whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiAnswer {
    /// The status.
    pub status: StatusCode,
    /// Header lines beside those of the framing.
    pub headers: Vec<(&'static str, String)>,
    /// The body; empty for none.
    pub body: Vec<u8>,
}

impl ApiAnswer {
    /// JSON.
    pub fn json(status: StatusCode, value: &Value) -> ApiAnswer {
        let body = format!("{value}\n").into_bytes();
        ApiAnswer { status, headers: vec![("Content-Type", "application/json".to_owned())], body }
    }

    /// Bytes of a media type.
    pub(crate) fn bytes(media_type: &str, body: Vec<u8>) -> ApiAnswer {
        ApiAnswer { status: StatusCode::OK, headers: vec![("Content-Type", media_type.to_owned())], body }
    }

    /// No body.
    pub(crate) fn empty(status: StatusCode) -> ApiAnswer {
        ApiAnswer { status, headers: Vec::new(), body: Vec::new() }
    }

    pub(crate) fn with_header(mut self, name: &'static str, value: &str) -> ApiAnswer {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// What a browser is told of every answer: it is not kept, not framed, and nothing but what it says it is.
    pub(crate) fn secure(&mut self) {
        for (name, value) in [
            ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"),
            ("X-Frame-Options", "DENY"),
            ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
            ("Referrer-Policy", "no-referrer"),
        ] {
            self.headers.push((name, value.to_owned()));
        }
    }

    /// The same as a message for the wire.
    pub fn into_message(self) -> Message {
        let body = if self.body.is_empty() { Body::Empty } else { Body::Bytes(self.body) };
        let mut message = Message::answer(self.status, body);
        for (name, value) in &self.headers {
            // A value that came from outside and no header can hold is left out.
            let _ = message.head.set(name, value.as_bytes());
        }
        message
    }
}

/// Why a request is not answered as it was meant.
#[derive(Debug)]
pub(crate) struct Failure {
    status: StatusCode,
    /// `None` for an answer without a body.
    sentence: Option<String>,
    headers: Vec<(&'static str, String)>,
}

/// A failure with a sentence for who asked.
pub(crate) fn failure(status: StatusCode, sentence: impl Into<String>) -> Failure {
    Failure { status, sentence: Some(sentence.into()), headers: Vec::new() }
}

/// What is asked for is not there.
///
/// Micro Integrator answers so without a body, and the `mi` client shows the status then.
pub(crate) fn not_found() -> Failure {
    Failure::bare(StatusCode::NOT_FOUND)
}

/// The request is not what it has to be.
pub(crate) fn bad_request(sentence: impl Into<String>) -> Failure {
    failure(StatusCode::BAD_REQUEST, sentence)
}

impl Failure {
    /// Without a body.
    pub(crate) fn bare(status: StatusCode) -> Failure {
        Failure { status, sentence: None, headers: Vec::new() }
    }

    pub(crate) fn with_header(mut self, name: &'static str, value: &str) -> Failure {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub(crate) fn sentence(&self) -> String {
        self.sentence.clone().unwrap_or_else(|| self.status.to_string())
    }

    pub(crate) fn into_answer(self) -> ApiAnswer {
        let mut answer = match self.sentence {
            // An object of strings only: the `mi` client reads nothing else.
            Some(sentence) => ApiAnswer::json(self.status, &object([("Error", sentence.into())])),
            None => ApiAnswer::empty(self.status),
        };
        answer.headers.extend(self.headers);
        answer
    }
}

/// An object of these members.
pub(crate) fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>())
}

/// A list as Micro Integrator has it: `{"count", "list"}`.
pub(crate) fn list(items: Vec<Value>) -> ApiAnswer {
    ApiAnswer::json(StatusCode::OK, &object([("count", items.len().into()), ("list", Value::Array(items))]))
}

/// One item.
pub(crate) fn item(value: &Value) -> Result<ApiAnswer, Failure> {
    Ok(ApiAnswer::json(StatusCode::OK, value))
}
