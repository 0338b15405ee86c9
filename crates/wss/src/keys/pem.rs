//! DER as text, between `BEGIN` and `END`.
//!
//! Source: RFC 7468 §2, §3; RFC 1421 §4.4 for the headers that OpenSSL writes before old encrypted keys.

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::der::Damaged;
use crate::crypto::Secret;

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// One of the texts in a file.
pub(super) struct Block<'a> {
    /// What stands behind `BEGIN`.
    pub(super) label: &'a str,
    /// Whether headers stand before the text: it is encrypted as OpenSSL did it before PKCS#8.
    pub(super) has_headers: bool,
    /// It may be a private key.
    pub(super) der: Secret,
}

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const DASHES: &str = "-----";

/// Whether bytes look like such texts.
pub(super) fn is_pem(bytes: &[u8]) -> bool {
    memchr::memmem::find(bytes, BEGIN.as_bytes()).is_some()
}

/// All texts in a file; what stands between them is a comment.
pub(super) fn blocks(bytes: &[u8]) -> Result<Vec<Block<'_>>, Damaged> {
    let text = std::str::from_utf8(bytes).map_err(|_| Damaged("it is not text"))?;
    let mut lines = text.lines().map(str::trim);
    let mut blocks = Vec::new();
    while let Some(line) = lines.next() {
        let Some(label) = line.strip_prefix(BEGIN).and_then(|rest| rest.strip_suffix(DASHES)) else { continue };
        let (mut digits, mut has_headers) = (Secret::default(), false);
        loop {
            let line = lines.next().ok_or(Damaged("a text has no END"))?;
            if let Some(end) = line.strip_prefix(END) {
                if end.strip_suffix(DASHES) != Some(label) {
                    return Err(Damaged("a text ends as another than it began"));
                }
                break;
            }
            // Continued headers begin with a space, but what is in them does not matter.
            if line.contains(':') {
                has_headers = true;
            } else {
                digits.extend(line.as_bytes());
            }
        }
        let der = if has_headers { Ok(Vec::new()) } else { BASE64.decode(digits.as_ref()) };
        let der = Secret::from(der.map_err(|_| Damaged("a text is not base64"))?);
        blocks.push(Block { label, has_headers, der });
    }
    Ok(blocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_between_comments() {
        let file = "a comment\n-----BEGIN ONE-----\nAQID\r\n  BA==\n-----END ONE-----\nmore\n\
                    -----BEGIN TWO-----\nProc-Type: 4,ENCRYPTED\n\nAQID\n-----END TWO-----";
        let found = blocks(file.as_bytes()).expect("two texts");
        let found: Vec<_> = found.iter().map(|block| (block.label, block.der.as_ref(), block.has_headers)).collect();
        assert_eq!(found, [("ONE", &[1, 2, 3, 4][..], false), ("TWO", &[], true)]);
    }

    #[test]
    fn damaged_texts_are_refused() {
        for file in [
            "-----BEGIN ONE-----\nAQID",
            "-----BEGIN ONE-----\nAQID\n-----END TWO-----",
            "-----BEGIN ONE-----\n?\n-----END ONE-----",
            "-----BEGIN ONE-----\n-----END ONE",
        ] {
            assert!(blocks(file.as_bytes()).is_err(), "{file}");
        }
        assert!(blocks(b"-----BEGIN ONE-----\n\xff").is_err());
    }
}
