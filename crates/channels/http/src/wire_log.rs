//! The wire log: heads as they come and go, at `debug`, and the bytes on connections, at `trace`.
//!
//! Its target, `myelin::wire`, is silent unless somebody names it. It masks values whose names are those of secrets, in
//! header lines, in parameters of the target, and in bodies. It writes the beginning of each read and write.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::IoSlice;

use myelin_message::{Head, Message};
use myelin_secrets::{MASK, is_secret_name, masked_message, masked_target};
use tracing::Level;
use tracing::level_filters::LevelFilter;

use crate::service::protocol;
use crate::stream::Stream;

/// How much of one read or write is written, in bytes.
const SHOWN_BYTES: usize = 4 * 1024;

/// Whether heads are to be written.
///
/// Each message asks this, so the usual answer, that the level of the whole log excludes it, is given in line.
#[inline]
pub fn shows_heads() -> bool {
    LevelFilter::current() >= LevelFilter::DEBUG && heads_are_wanted()
}

#[cold]
fn heads_are_wanted() -> bool {
    tracing::enabled!(target: "myelin::wire", Level::DEBUG)
}

/// Whether bytes are to be written.
#[inline]
pub(crate) fn shows_bytes() -> bool {
    LevelFilter::current() >= LevelFilter::TRACE && bytes_are_wanted()
}

#[cold]
fn bytes_are_wanted() -> bool {
    tracing::enabled!(target: "myelin::wire", Level::TRACE)
}

/// Writes the head of a request that a client has sent.
pub fn request_from(peer: &dyn Display, request: &Message) {
    let head = &request.head;
    let line = format!("{} {} {}", head.method(), masked_target(head.target()), protocol(head.version()));
    say("from client", peer, &line, head);
}

/// Writes the head of an answer that a client is to get, as mediation made it.
pub fn answer_to(peer: &dyn Display, answer: &Message) {
    let reason = answer.reason.as_deref().or(answer.status.canonical_reason()).unwrap_or_default();
    let line = format!("HTTP/1.1 {} {reason}", answer.status.as_u16());
    say("to client", peer, &line, &answer.head);
}

/// Writes the head of a request as it is sent to a backend.
#[cold]
pub(crate) fn request_to(authority: &str, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    tracing::debug!(target: "myelin::wire", "to backend {authority}: {}", masked_head(text.trim_end()));
}

/// Writes the head of a backend's response.
#[cold]
pub(crate) fn response_from(authority: &str, head: &Head) {
    let status = head.status().map_or(0, |status| status.as_u16());
    let line = format!("{} {status} {}", protocol(head.version()), head.reason().unwrap_or_default());
    say("from backend", &authority, &line, head);
}

/// Writes what of these bytes left on a connection.
#[cold]
pub(crate) fn slices(stream: &Stream, slices: &[IoSlice<'_>], length: usize) {
    let mut all: Vec<u8> = slices.iter().flat_map(|slice| slice.iter().copied()).collect();
    all.truncate(length);
    bytes("to", stream, &all);
}

/// Writes bytes that came on a connection, or left on it.
#[cold]
pub(crate) fn bytes(direction: &str, stream: &Stream, bytes: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    let peer = stream.peer();
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN_BYTES)]);
    let rest = match bytes.len().saturating_sub(SHOWN_BYTES) {
        0 => String::new(),
        rest => format!(" … and {rest} bytes more"),
    };
    let text = if is_head(&shown) { masked_head(&shown) } else { masked_message(&shown) };
    tracing::trace!(target: "myelin::wire", "{} bytes {direction} {peer}: {text}{rest}", bytes.len());
}

fn say(direction: &str, peer: &dyn Display, line: &str, head: &Head) {
    let mut text = line.to_owned();
    for (name, value) in head.iter() {
        let value = if is_secret_name(name) { Cow::Borrowed(MASK) } else { String::from_utf8_lossy(value) };
        text.push_str(&format!("\n{name}: {value}"));
    }
    tracing::debug!(target: "myelin::wire", "{direction} {peer}: {text}");
}

/// Whether bytes begin a message: its start line says so.
fn is_head(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    line.starts_with("HTTP/1.") || line.contains(" HTTP/1.")
}

/// A head, and the beginning of a body behind it, without the values of secrets.
fn masked_head(text: &str) -> Cow<'_, str> {
    let (head, rest) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
    let mut lines = head.split("\r\n");
    let start = lines.next().unwrap_or_default();
    let mut words = start.splitn(3, ' ');
    let start = match (words.next(), words.next(), words.next()) {
        (Some(method), Some(target), Some(version)) if version.starts_with("HTTP/") => {
            format!("{method} {} {version}", masked_target(target))
        }
        _ => start.to_owned(),
    };
    let masked = lines.map(|line| match line.split_once(':') {
        Some((name, _)) if is_secret_name(name.trim()) => format!("{name}: {MASK}"),
        _ => line.to_owned(),
    });
    let head: Vec<String> = [start].into_iter().chain(masked).collect();
    let head = head.join("\n");
    Cow::Owned(if rest.is_empty() { head } else { format!("{head}\n\n{}", masked_message(rest)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_heads_targets_and_bodies_are_masked() {
        let head = "POST /a?q=1&password=p&Api-Key=k HTTP/1.1\r\nHost: h\r\nAuthorization: Basic eA==\r\n\
                    X-Access-Token: t\r\nset-cookie: s=1\r\n\r\n<a><b>x</b><pwd>y</pwd></a>";
        assert_eq!(
            masked_head(head),
            "POST /a?q=1&password=****&Api-Key=**** HTTP/1.1\nHost: h\nAuthorization: ****\n\
             X-Access-Token: ****\nset-cookie: ****\n\n<a><b>x</b><pwd>****</pwd></a>"
        );
        assert_eq!(masked_head("HTTP/1.1 200 OK\r\nCookie: a"), "HTTP/1.1 200 OK\nCookie: ****");
        assert!(is_head(head) && is_head("HTTP/1.1 200 OK") && !is_head("<a>HTTP</a>"));
    }
}
