//! HTTP/1.1 on the wire, as pure functions over bytes: heads, framing, and how they are written.

mod body;
mod head;
mod write;

pub use body::{Decoder, Framing, FramingError, Piece};
pub(crate) use head::{HOST_FORM, decimal, host_and_port, is_host, read_request, read_response};
pub use head::{HeadLimits, HeadScanner, Refusal, RequestHead, ResponseHead, ScanError, parse_request, parse_response};
pub use write::{Connection as ConnectionHeader, RequestLine, StatusLine, write_request, write_response};
