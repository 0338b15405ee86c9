#![no_main]
//! The chunked coding is followed the same however it is split, and no byte is lost or made up.

use libfuzzer_sys::fuzz_target;
use myelin_fuzz::split;
use myelin_http::h1::{Decoder, Framing, FramingError, Piece};

/// Follows a body piece by piece; gives its content, its length on the wire, and how it ended.
fn follow(bytes: &[u8], piece: usize) -> (Vec<u8>, usize, Result<bool, FramingError>) {
    let mut decoder = Decoder::new(Framing::Chunked).limit(1 << 20);
    let mut content = Vec::new();
    let mut position = 0;
    for input in bytes.chunks(piece) {
        let mut at = 0;
        loop {
            match decoder.next(&input[at..]) {
                Ok(None) => break,
                Ok(Some(Piece::Data(length))) => {
                    content.extend_from_slice(&input[at..at + length]);
                    at += length;
                }
                Ok(Some(Piece::Framing(length))) => {
                    assert!(length > 0, "a step that takes nothing would never end");
                    at += length;
                }
                Err(error) => return (content, position + at, Err(error)),
            }
        }
        position += at;
        if decoder.is_done() {
            return (content, position, Ok(true));
        }
        assert_eq!(at, input.len(), "a body that is not done takes all there is");
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
