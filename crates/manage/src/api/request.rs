//! A request to the management API, with what its handlers ask of it.

use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use myelin_message::{Head, StatusCode};
use serde_json::{Map, Value};

use super::answer::{Failure, bad_request, failure};

/// How many parameters a query may have.
const PARAMETERS: usize = 32;

/// A request, whole.
#[derive(Clone, Debug)]
pub struct ApiRequest {
    /// The method.
    pub method: String,
    /// The path, percent-decoded.
    pub path: String,
    /// The query, percent-decoded.
    pub query: Vec<(String, String)>,
    /// What `Authorization` says.
    pub authorization: Option<String>,
    /// What `Content-Type` says.
    pub content_type: Option<String>,
    /// What `Content-Disposition` says, of an upload that is no form.
    pub disposition: Option<String>,
    /// The body.
    pub body: Vec<u8>,
    /// Who sent it.
    pub peer: IpAddr,
}

/// Who sent a request, by its token.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) name: String,
    pub(crate) is_admin: bool,
    /// The number of the token.
    pub(crate) token: String,
}

impl ApiRequest {
    /// Of the head of a request, without its body yet.
    ///
    /// Errors: the target cannot be understood.
    pub fn of(head: &Head, peer: IpAddr) -> Result<ApiRequest, String> {
        let target = head.target();
        // A target may be absolute.
        let target = target.split_once("://").map_or(target, |(_, rest)| rest.find('/').map_or("/", |at| &rest[at..]));
        let target = target.split('#').next().unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let decoded = |text: &str| decode(text).ok_or_else(|| "The target is not percent-encoded UTF-8".to_owned());
        let mut parameters = Vec::new();
        for part in query.split('&').filter(|part| !part.is_empty()) {
            if parameters.len() == PARAMETERS {
                return Err(format!("The query has more than {PARAMETERS} parameters"));
            }
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            parameters.push((decoded(&name.replace('+', " "))?, decoded(&value.replace('+', " "))?));
        }
        let text = |name: &str| head.first(name).map(|value| String::from_utf8_lossy(value).into_owned());
        Ok(ApiRequest {
            method: head.method().to_owned(),
            path: decoded(path)?,
            query: parameters,
            authorization: text("Authorization"),
            content_type: text("Content-Type"),
            disposition: text("Content-Disposition"),
            body: Vec::new(),
            peer,
        })
    }

    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn credentials(&self, scheme: &str) -> Option<&str> {
        let (said, rest) = self.authorization.as_deref()?.trim().split_once(' ')?;
        said.eq_ignore_ascii_case(scheme).then(|| rest.trim())
    }

    /// The token that it brings.
    pub(crate) fn bearer(&self) -> Option<&str> {
        self.credentials("Bearer")
    }

    /// The user and the password that it brings.
    pub(crate) fn basic(&self) -> Option<(String, String)> {
        let text = String::from_utf8(STANDARD.decode(self.credentials("Basic")?).ok()?).ok()?;
        let (user, password) = text.split_once(':')?;
        Some((user.to_owned(), password.to_owned()))
    }

    /// The media type of the body, in small letters and without its parameters.
    pub(crate) fn media_type(&self) -> String {
        let text = self.content_type.as_deref().unwrap_or_default();
        text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
    }

    /// The body as JSON.
    pub(crate) fn json_value(&self) -> Result<Value, Failure> {
        // The `mi` client names no type in one of its requests, and text in another.
        if !matches!(&*self.media_type(), "" | "application/json" | "text/json" | "text/plain") {
            return Err(failure(StatusCode::UNSUPPORTED_MEDIA_TYPE, "The body has to be application/json"));
        }
        const LIMIT: usize = 1 << 20;
        if self.body.len() > LIMIT {
            return Err(failure(StatusCode::PAYLOAD_TOO_LARGE, format!("A body of JSON has at most {LIMIT} bytes")));
        }
        if self.body.iter().all(u8::is_ascii_whitespace) {
            return Err(bad_request("JSON payload is empty"));
        }
        serde_json::from_slice(&self.body).map_err(|error| {
            bad_request(format!("The body is no JSON: line {}, column {}", error.line(), error.column()))
        })
    }

    /// The same where it has to be an object.
    pub(crate) fn json_object(&self) -> Result<Map<String, Value>, Failure> {
        match self.json_value()? {
            Value::Object(members) => Ok(members),
            _ => Err(bad_request("The body has to be a JSON object")),
        }
    }
}

/// A text of a body's object; numbers and switches count as what they are written as.
pub(crate) fn text_of(body: &Map<String, Value>, name: &str) -> Result<Option<String>, Failure> {
    match body.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
        Some(Value::Bool(flag)) => Ok(Some(flag.to_string())),
        Some(Value::Number(number)) => Ok(Some(number.to_string())),
        Some(_) => Err(bad_request(format!("{name} has to be a text"))),
    }
}

/// The same where it has to be there.
pub(crate) fn required_text(body: &Map<String, Value>, name: &str) -> Result<String, Failure> {
    text_of(body, name)?.ok_or_else(|| bad_request(format!("{name} is missing in the body")))
}

/// Resolves percent-encoding; `None` where it is none, or no UTF-8.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        if first == b'%' {
            let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok())?;
            if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                return None;
            }
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &after[2..];
        } else {
            bytes.push(first);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(target: &str) -> Result<ApiRequest, String> {
        ApiRequest::of(&Head::request("GET", target), IpAddr::from([127, 0, 0, 1]))
    }

    #[test]
    fn targets_are_taken_apart_and_decoded() {
        let asked = request("https://h:1/management/users/a%2Fb?role=x+y&pattern=%C3%A4#z").unwrap();
        assert_eq!(asked.path, "/management/users/a/b");
        assert_eq!((asked.query("role"), asked.query("pattern"), asked.query("z")), (Some("x y"), Some("ä"), None));
        for strange in ["/a%", "/a%zz", "/a%ff", "/a%+1"] {
            assert!(request(strange).is_err(), "{strange}");
        }
        assert!(request(&format!("/a?{}", "b=1&".repeat(PARAMETERS + 1))).is_err());
    }

    #[test]
    fn credentials_are_those_of_their_scheme() {
        let with = |said: &str| ApiRequest { authorization: Some(said.to_owned()), ..request("/a").unwrap() };
        assert_eq!(with("basic YTpiOmM=").basic(), Some(("a".to_owned(), "b:c".to_owned())));
        assert_eq!(with("Bearer  x").bearer(), Some("x"));
        for wrong in ["Bearer", "Basic YQ==", "Basic ???", "x y"] {
            assert_eq!(with(wrong).basic(), None, "{wrong}");
        }
    }
}
