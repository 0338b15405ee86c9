//! What the head of a request says about its body and its connection.

use crate::framing::{self, Decoder, Malformed};

/// What decides where a request ends and how it is to be answered.
#[derive(Debug)]
pub(crate) struct Framing<'a> {
    /// Takes the body out of what follows the head.
    pub(crate) decoder: Decoder,
    /// The length that was said; 0 where none was.
    pub(crate) length: u64,
    pub(crate) chunked: bool,
    pub(crate) keep_alive: bool,
    /// HTTP/1.0 clients are told that the connection stays open.
    pub(crate) old_client: bool,
    /// Whether `100 Continue` is waited for.
    pub(crate) expects: bool,
    pub(crate) media_type: Option<&'a [u8]>,
}

/// Longer request heads are refused.
pub(crate) const HEAD_LIMIT_BYTES: usize = 64 * 1024;
/// Heads with more lines are refused.
pub(crate) const HEADER_LIMIT: usize = 100;

impl<'a> Framing<'a> {
    /// Reads a complete head, strictly.
    ///
    /// Errors: two lengths, or a coding that is not `chunked`; the client's.
    pub(crate) fn of(request: &httparse::Request<'_, 'a>) -> Result<Framing<'a>, Malformed> {
        let old_client = request.version == Some(0);
        let (mut length, mut chunked, mut expects) = (None, false, false);
        let (mut keep_alive, mut media_type) = (!old_client, None);
        for header in request.headers.iter() {
            let name = header.name;
            // The length sorts out nearly all header lines before any name is compared.
            match name.len() {
                14 if name.eq_ignore_ascii_case("content-length") => {
                    let value = framing::content_length(header.value)?;
                    if length.replace(value).is_some_and(|earlier| earlier != value) {
                        return Err(Malformed);
                    }
                }
                17 if name.eq_ignore_ascii_case("transfer-encoding") => {
                    if !header.value.eq_ignore_ascii_case(b"chunked") || chunked || old_client {
                        return Err(Malformed);
                    }
                    chunked = true;
                }
                12 if name.eq_ignore_ascii_case("content-type") => media_type = Some(header.value),
                10 if name.eq_ignore_ascii_case("connection") => {
                    keep_alive = framing::keeps_alive(header.value).unwrap_or(keep_alive);
                }
                6 if name.eq_ignore_ascii_case("expect") => {
                    expects = header.value.eq_ignore_ascii_case(b"100-continue");
                }
                _ => {}
            }
        }
        if chunked && length.is_some() {
            return Err(Malformed);
        }
        let length = length.unwrap_or(0);
        let decoder = if chunked { Decoder::chunked() } else { Decoder::Length(length) };
        Ok(Framing { decoder, length, chunked, keep_alive, old_client, expects, media_type })
    }
}
