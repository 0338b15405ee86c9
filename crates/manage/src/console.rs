//! The console: a web page that shows a running bus and steers it, by the management API and nothing else.
//!
//! The page is files in `crates/manage/console`, which browsers take as they are and which the binary holds whole. They
//! are the same for everybody and say nothing of the bus, so they need no password.

mod files;

use std::hash::{DefaultHasher, Hash, Hasher};

use myelin_message::{Body, Message, StatusCode, Uri};

use files::{FILES, File};

/// The path that all of it lies below.
pub const PREFIX: &str = "/console";

/// What the page may do: run our own files, and ask the listener that it came from.
///
/// `require-trusted-types-for` makes browsers refuse to read HTML from a text, which the page never does.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

/// The answer to a request for the console; `None` where its path lies elsewhere.
///
/// Shape: a file; 304 where the client has it; 308 to the page where the path lacks its last slash; 404, 405.
pub fn answer(request: &Message) -> Option<Message> {
    // A target may be absolute.
    let target = request.head.target().parse::<Uri>().ok()?;
    let name = target.path().strip_prefix(PREFIX)?;
    if name.is_empty() {
        return Some(with(Message::answer(StatusCode::PERMANENT_REDIRECT, Body::Empty), &[("Location", "/console/")]));
    }
    let name = match name.strip_prefix('/')? {
        "" => "index.html",
        name => name,
    };
    if !matches!(request.head.method(), "GET" | "HEAD") {
        return Some(with(super::text(StatusCode::METHOD_NOT_ALLOWED, "This is read only"), &[("Allow", "GET, HEAD")]));
    }
    let Some(file) = FILES.iter().find(|file| file.name == name) else {
        return Some(super::text(StatusCode::NOT_FOUND, "The console has no such file"));
    };
    let tag = tag(file);
    let answer = if is_known(request, &tag) {
        Message::answer(StatusCode::NOT_MODIFIED, Body::Empty)
    } else {
        Message::answer(StatusCode::OK, Body::Bytes(file.bytes.to_vec()))
    };
    let headers = [
        ("Content-Type", file.media_type()),
        ("ETag", &tag),
        // A browser asks each time, so that the page and the bus are of the same version.
        ("Cache-Control", "no-cache"),
        ("Content-Security-Policy", POLICY),
        ("X-Content-Type-Options", "nosniff"),
        ("X-Frame-Options", "DENY"),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
    ];
    Some(with(answer, &headers))
}

fn with(mut answer: Message, headers: &[(&str, &str)]) -> Message {
    for (name, value) in headers {
        // All of them are texts that a header can hold.
        let _ = answer.head.set(name, value.as_bytes());
    }
    answer
}

/// What tells a file from another version of it.
fn tag(file: &File) -> String {
    let mut hasher = DefaultHasher::new();
    file.bytes.hash(&mut hasher);
    format!("\"{:016x}\"", hasher.finish())
}

/// Whether a client has that version. Source: RFC 9110, 13.1.2; a weak tag compares as a strong one.
fn is_known(request: &Message, tag: &str) -> bool {
    let known = request.head.first("If-None-Match").map(String::from_utf8_lossy).unwrap_or_default();
    known.split(',').map(str::trim).any(|one| one == "*" || one.strip_prefix("W/").unwrap_or(one) == tag)
}

#[cfg(test)]
mod tests;
