//! Content codings (RFC 9110 §8.4): a body that somebody reads is decoded on the way, one that nobody reads stays coded.
//!
//! [`Content`](crate::Content) holds the codings of a message, so that header lines set later do not matter.
//! [`decode`] puts a decoder before the body; [`Decoding`] decodes what is only looked at.

mod accepted;
mod decoded_source;
mod stage;

use std::rc::Rc;

use myelin_message::{Body, BodyError, Head, HeaderId, Wire};

pub use accepted::accept_what_can_be_decoded;
use decoded_source::DecodedSource;
use stage::{Failure, Stage};

/// The codings that can be decoded, as `Accept-Encoding` lists them.
pub const DECODABLE: &str = "gzip, deflate, br, zstd";

/// How many times its own size a body may become by decoding.
///
/// Text with much repetition seldom passes 100; DEFLATE alone can reach 1032, brotli and zstd a million.
pub const LIMIT_RATIO: u64 = 200;
/// The ratio does not matter up to this size.
const UNSUSPICIOUS_BYTES: u64 = 1 << 20;
/// As much is decoded before anybody looks how much it became.
const SLICE_BYTES: usize = 1 << 10;
/// More codings, one upon the other, nobody uses.
const LIMIT_CODINGS: usize = 4;

/// The codings of a body, in the order in which they were applied; at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Codings(Vec<Coding>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
    Unknown,
}

impl Codings {
    /// The codings that a head names; `None` where it names none but `identity`.
    pub fn of(head: &Head) -> Option<Codings> {
        head.known(HeaderId::ContentEncoding)?;
        let names = head.all_known(HeaderId::ContentEncoding).flat_map(|value| value.split(|&byte| byte == b','));
        let names = names.map(<[u8]>::trim_ascii).filter(|name| !name.is_empty() && !is(name, "identity"));
        let mut codings: Vec<Coding> = names.map(Coding::of).take(LIMIT_CODINGS + 1).collect();
        if codings.len() > LIMIT_CODINGS {
            codings = vec![Coding::Unknown];
        }
        (!codings.is_empty()).then_some(Codings(codings))
    }
}

impl Coding {
    fn of(name: &[u8]) -> Coding {
        match name {
            _ if is(name, "gzip") || is(name, "x-gzip") => Coding::Gzip,
            _ if is(name, "deflate") => Coding::Deflate,
            _ if is(name, "br") => Coding::Brotli,
            _ if is(name, "zstd") => Coding::Zstd,
            _ => Coding::Unknown,
        }
    }
}

fn is(name: &[u8], known: &str) -> bool {
    name.eq_ignore_ascii_case(known.as_bytes())
}

/// Has a body decoded by whoever reads it, and its head say so.
///
/// Units: at most `limit_bytes` come out; reading more is `TooLarge`, and `Inflated` above [`LIMIT_RATIO`].
/// Errors: those of reading, then; a coding that is not known is `UnknownCoding` then.
pub fn decode(head: &mut Head, body: &mut Body, codings: &Codings, limit_bytes: u64) {
    if !matches!(body, Body::Wire(_) | Body::Bytes(_) | Body::Shared(_)) {
        return;
    }
    let source = DecodedSource::new(std::mem::replace(body, Body::Gone), codings, limit_bytes);
    *body = Body::Wire(Wire { source: Rc::new(source), ticket: 0 });
    describe_decoded(head);
}

/// As [`decode`], where the head still says itself what its body is.
pub fn decode_message(head: &mut Head, body: &mut Body, limit_bytes: u64) {
    if let Some(codings) = Codings::of(head) {
        decode(head, body, &codings, limit_bytes);
    }
}

/// Whether reading a body decodes it.
pub fn is_decoded(body: &Body) -> bool {
    let (Body::Wire(wire) | Body::Reading(wire, _)) = body else { return false };
    Rc::clone(&wire.source).as_any().is::<DecodedSource>()
}

/// Takes out of a head what is true of the coded bytes alone.
fn describe_decoded(head: &mut Head) {
    // What proves the bytes proves these no more (RFC 9530; RFC 1864 for `Content-MD5`).
    const OF_BYTES: [&str; 6] =
        ["Content-Encoding", "Content-Length", "Content-MD5", "Content-Digest", "Repr-Digest", "Digest"];
    for name in OF_BYTES {
        head.remove(name);
    }
    // A strong validator means the very bytes (RFC 9110 §8.8.1); those decoded are the same thing in another form.
    if let Some(tag) = head.first("ETag").filter(|tag| tag.starts_with(b"\"")) {
        let weak = [b"W/", tag].concat();
        // Two more letters do not make a valid value invalid.
        let _ = head.set("ETag", &weak);
    }
}

/// The decoding of one body, as far as it has come.
#[derive(Debug)]
pub struct Decoding {
    /// From the coding that was applied last to the first; none where a coding is not known.
    stages: Vec<Stage>,
    encoded_bytes: u64,
    limit_bytes: u64,
}

impl Decoding {
    /// Decoding from the first byte on.
    ///
    /// Units: at most `limit_bytes` come out.
    pub fn new(codings: &Codings, limit_bytes: u64) -> Decoding {
        let stages: Option<Vec<Stage>> = codings.0.iter().rev().map(|coding| Stage::of(*coding)).collect();
        Decoding { stages: stages.unwrap_or_default(), encoded_bytes: 0, limit_bytes }
    }

    /// Decodes the next bytes and appends what they become to `into`, which holds what came before.
    ///
    /// Errors: the sender's: `Undecodable`, `TooLarge`, `Inflated`, `UnknownCoding`.
    pub fn push(&mut self, bytes: &[u8], into: &mut Vec<u8>) -> Result<(), BodyError> {
        if self.stages.is_empty() {
            return Err(BodyError::UnknownCoding);
        }
        for slice in bytes.chunks(SLICE_BYTES) {
            self.encoded_bytes += slice.len() as u64;
            let by_ratio = self.encoded_bytes.saturating_mul(LIMIT_RATIO).max(UNSUSPICIOUS_BYTES);
            let room = usize::try_from(by_ratio.min(self.limit_bytes)).unwrap_or(usize::MAX);
            push(&mut self.stages, slice, into, room).map_err(|failure| match failure {
                Failure::Broken(coding) => BodyError::Undecodable { coding },
                Failure::Full if by_ratio < self.limit_bytes => BodyError::Inflated { limit_ratio: LIMIT_RATIO },
                Failure::Full => BodyError::TooLarge { limit_bytes: self.limit_bytes },
            })?;
        }
        Ok(())
    }

    /// The body has ended: whether it has in every coding. Nothing at all is nothing in any coding.
    ///
    /// Errors: the sender's: `Undecodable`, `UnknownCoding`.
    pub fn finish(&mut self) -> Result<(), BodyError> {
        if self.stages.is_empty() {
            return Err(BodyError::UnknownCoding);
        }
        if self.encoded_bytes == 0 {
            return Ok(());
        }
        match self.stages.iter_mut().find_map(|stage| stage.unfinished()) {
            Some(coding) => Err(BodyError::Undecodable { coding }),
            None => Ok(()),
        }
    }
}

/// Decodes a slice through all stages; `room` bounds what each of them gives.
fn push(stages: &mut [Stage], slice: &[u8], into: &mut Vec<u8>, room: usize) -> Result<(), Failure> {
    match stages {
        [] => Ok(()),
        [last] => last.push(slice, into, room),
        [first, rest @ ..] => {
            let mut between = Vec::new();
            first.push(slice, &mut between, room)?;
            between.chunks(SLICE_BYTES).try_for_each(|slice| push(rest, slice, into, room))
        }
    }
}

#[cfg(test)]
mod tests;
