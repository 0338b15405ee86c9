#![no_main]
//! A request head is read the same however it is split, and what is read is what came.

use libfuzzer_sys::fuzz_target;
use myelin_fuzz::{head_end, split};
use myelin_message::HeaderId;
use myelin_http::h1::{Framing, HeadLimits, parse_request};

fuzz_target!(|data: &[u8]| {
    let (piece, bytes) = split(data);
    let Ok(Some(end)) = head_end(bytes, piece) else { return };
    let Ok(request) = parse_request(&bytes[..end], HeadLimits::default()) else { return };
    // Written out again, the lines are those that came: nothing was reinterpreted on the way.
    let mut lines = Vec::new();
    request.head.write_lines(&mut lines, |_| true);
    assert!(bytes[..end - 2].ends_with(&lines));
    // What would let two readers disagree about the end of the message was refused.
    let lengths: Vec<&[u8]> = request.head.all("Content-Length").collect();
    assert!(lengths.windows(2).all(|two| two[0] == two[1]));
    if request.head.known(HeaderId::TransferEncoding).is_some() {
        assert!(lengths.is_empty());
        assert_eq!(request.framing, Framing::Chunked);
    }
    for (name, value) in request.head.iter() {
        assert!(myelin_message::is_token(name.as_bytes()));
        assert!(!value.contains(&b'\n') && !value.contains(&b'\r') && !value.contains(&0));
    }
});
