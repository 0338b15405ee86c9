#![no_main]
//! The chunked coding is followed the same however it is split, and no byte is lost or made up.

use libfuzzer_sys::fuzz_target;
use myelin_fuzz::split;
use myelin_http::h1::{Decoder, Framing, FramingError, Piece};

/// Follows a body piece by piece; gives its content, its length on the wire, and how it ended.
fn follow(bytes: &[u8], piece: usize) -> (Vec<u8>, usize, Result<bool, FramingError>) {
    let mut decoder = Decoder::new(Framing::Chunked).limit(1 << 20);
    let (mut content, mut position) = (Vec::new(), 0);
    for end in (piece..bytes.len()).step_by(piece).chain([bytes.len()]) {
        loop {
            match decoder.next(&bytes[position..end]) {
                Ok(None) => break,
                Ok(Some(piece)) => {
                    assert!(piece.length() > 0, "a step that takes nothing would never end");
                    if let Piece::Data(length) = piece {
                        content.extend_from_slice(&bytes[position..position + length]);
                    }
                    position += piece.length();
                }
                Err(error) => return (content, position, Err(error)),
            }
        }
        if decoder.is_done() {
            return (content, position, Ok(true));
        }
    }
    (content, position, Ok(false))
}

fuzz_target!(|data: &[u8]| {
    let (piece, bytes) = split(data);
    let whole = follow(bytes, bytes.len().max(1));
    let pieced = follow(bytes, piece);
    assert_eq!(whole.2, pieced.2);
    // Where it breaks, the content before the break is the same, save for what the pieces had shown already.
    if whole.2.is_ok() {
        assert_eq!((whole.0, whole.1), (pieced.0, pieced.1));
    }
    // Scanning over a body and decoding it agree.
    let mut decoder = Decoder::new(Framing::Chunked).limit(1 << 20);
    match decoder.scan(bytes) {
        Ok(length) => assert_eq!((length, Ok(decoder.is_done())), (whole.1, whole.2)),
        Err(error) => assert_eq!(Err(error), whole.2),
    }
});
