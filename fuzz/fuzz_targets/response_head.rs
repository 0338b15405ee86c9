#![no_main]
//! A response head is read the same however it is split, and what is read is what came.

use libfuzzer_sys::fuzz_target;
use myelin_fuzz::{head_end, split};
use myelin_http::h1::{Framing, HeadLimits, parse_response};
use myelin_message::HeaderId;

fuzz_target!(|data: &[u8]| {
    let (piece, bytes) = split(data);
    let Ok(Some(end)) = head_end(bytes, piece) else { return };
    for to_head in [false, true] {
        let Ok(response) = parse_response(&bytes[..end], to_head, HeadLimits::default()) else { continue };
        let mut lines = Vec::new();
        response.head.write_lines(&mut lines, |_| true);
        // Lines that Connection names are gone.
        if response.head.known(HeaderId::Connection).is_none() {
            assert!(bytes[..end - 2].ends_with(&lines));
        }
        if to_head || response.status.as_u16() < 200 {
            assert_eq!(response.framing, Framing::Empty);
        }
        // A body that only the end of the connection ends leaves nothing to keep.
        assert!(!(response.keep_alive && response.framing == Framing::UntilClose));
    }
});
