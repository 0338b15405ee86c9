#![no_main]
//! A request head is read the same however it is split, and what is read is what came.

use libfuzzer_sys::fuzz_target;
use myelin_fuzz::{head_end, split};
use myelin_message::{Head, HeaderId};
use myelin_http::h1::{Framing, HeadLimits, parse_request};

fn written(head: &Head) -> Vec<u8> {
    let mut lines = Vec::new();
    head.write_lines(&mut lines, |_| true);
    lines
}

fuzz_target!(|data: &[u8]| {
    let (piece, bytes) = split(data);
    let Ok(Some(end)) = head_end(bytes, piece) else { return };
    let Ok(request) = parse_request(&bytes[..end], HeadLimits::default()) else { return };
    let lines = written(&request.head);
    // Nothing was reinterpreted on the way: written out again, the lines are those that came. An absolute target says
    // what Host is, and lines that Connection names are gone.
    if request.head.target().starts_with('/') && request.head.known(HeaderId::Connection).is_none() {
        assert!(bytes[..end - 2].ends_with(&lines));
    }
    // What was read before on the same thread makes no difference.
    let fresh = std::thread::scope(|scope| {
        let parse = || parse_request(&bytes[..end], HeadLimits::default()).ok().map(|it| (written(&it.head), it.framing));
        scope.spawn(parse).join().expect("it does not panic")
    });
    assert_eq!(fresh, Some((lines, request.framing)));
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
