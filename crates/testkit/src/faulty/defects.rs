//! A table of defects, so that a test can say: whatever the backend does, the client gets an answer.

use std::time::Duration;

use super::{Script, Step, Until};

/// The body of every whole answer in [`DEFECTS`].
pub const BODY: &[u8] = b"<ok>the answer of a faulty backend</ok>";

/// One defect of a backend.
#[derive(Clone, Copy, Debug)]
pub struct Defect {
    /// Its name, for assertions and for starting it by hand.
    pub name: &'static str,
    /// What a client behind a proxy can expect.
    pub outcome: Outcome,
    /// What happens on each connection.
    pub script: fn() -> Script,
}

/// What a correct proxy makes of a defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The client gets status 200 and [`BODY`].
    Answered,
    /// There is no answer to relay: the client gets one from the proxy, with a status of 500 or more.
    NoAnswer,
    /// The answer breaks off behind its head: the client must be able to tell that it is not whole,
    /// by a status of 500 or more or by a message that ends early.
    Broken,
    /// Nothing comes, or nothing more: a deadline of the proxy ends it, then as `NoAnswer` or `Broken`.
    Stalled,
}

/// All defects that are about one exchange.
pub const DEFECTS: &[Defect] = &[
    Defect { name: "healthy", outcome: Outcome::Answered, script: || Script::answering(whole()) },
    Defect { name: "stalls-before-head", outcome: Outcome::Stalled, script: || answer([Step::Stall]) },
    Defect {
        name: "stalls-mid-head",
        outcome: Outcome::Stalled,
        script: || answer([send("HTTP/1.1 200 OK\r\nContent-Le"), Step::Stall]),
    },
    Defect {
        name: "stalls-mid-body",
        outcome: Outcome::Stalled,
        script: || answer([Step::Send(whole()[..whole().len() - 10].to_vec()), Step::Stall]),
    },
    Defect { name: "resets-before-reading", outcome: Outcome::NoAnswer, script: || Script::of([Step::Reset]) },
    Defect { name: "resets-after-reading", outcome: Outcome::NoAnswer, script: || answer([Step::Reset]) },
    Defect {
        name: "resets-mid-head",
        outcome: Outcome::NoAnswer,
        script: || answer([send("HTTP/1.1 200 OK\r\nConte"), settle(), Step::Reset]),
    },
    Defect {
        name: "resets-mid-body",
        outcome: Outcome::Broken,
        script: || answer([Step::Send(whole()[..whole().len() - 10].to_vec()), settle(), Step::Reset]),
    },
    Defect { name: "closes-without-answer", outcome: Outcome::NoAnswer, script: || answer([Step::Close]) },
    Defect {
        name: "half-answer",
        outcome: Outcome::Broken,
        script: || answer([Step::Send(whole()[..whole().len() - 10].to_vec()), Step::Close]),
    },
    Defect {
        name: "half-chunked-answer",
        outcome: Outcome::Broken,
        script: || answer([send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n<ok>t\r\n"), Step::Close]),
    },
    Defect {
        name: "longer-than-it-says",
        outcome: Outcome::Answered,
        script: || answer([Step::Send([whole(), b"and more than was said".to_vec()].concat()), Step::Close]),
    },
    Defect {
        name: "byte-by-byte",
        outcome: Outcome::Answered,
        script: || answer([Step::Drip(whole(), Duration::from_micros(200)), Step::Again]),
    },
    Defect {
        name: "late-continue",
        outcome: Outcome::Answered,
        // A server may say so even to a client that did not wait for it (RFC 9110 §10.1.1).
        script: || answer([send("HTTP/1.1 100 Continue\r\n\r\n"), settle(), Step::Send(whole()), Step::Again]),
    },
    Defect {
        name: "early-hints",
        outcome: Outcome::Answered,
        script: || {
            let hints = "HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n";
            answer([send(hints), send(hints), settle(), Step::Send(whole()), Step::Again])
        },
    },
    Defect {
        name: "endless-interim",
        outcome: Outcome::NoAnswer,
        script: || answer([Step::Repeat(b"HTTP/1.1 102 Processing\r\n\r\n".to_vec(), 20_000), Step::Close]),
    },
    Defect {
        name: "garbage",
        outcome: Outcome::NoAnswer,
        script: || answer([send("\x16\x03\x01\x02\x00\x01 SSH-2.0-what is this\r\n\r\n"), Step::Close]),
    },
    Defect {
        name: "closes-idle-after-answer",
        outcome: Outcome::Answered,
        // Keep-alive is promised and not kept.
        script: || answer([Step::Send(whole()), Step::Close]),
    },
    Defect {
        name: "early-answer",
        outcome: Outcome::Answered,
        // The upload is left unread; who must be heard out first hangs here.
        script: || Script::of([Step::Read(Until::Head), Step::Send(whole_then_close()), Step::HalfClose, Step::Stall]),
    },
    Defect {
        name: "early-answer-then-reset",
        outcome: Outcome::Answered,
        script: || Script::of([Step::Read(Until::Head), Step::Send(whole_then_close()), settle(), Step::Reset]),
    },
    Defect {
        name: "delimited-by-close",
        outcome: Outcome::Answered,
        script: || answer([send("HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\n\r\n"), body(), Step::Close]),
    },
    Defect {
        name: "http10-delimited-by-close",
        outcome: Outcome::Answered,
        script: || answer([send("HTTP/1.0 200 OK\r\n\r\n"), body(), Step::Close]),
    },
    Defect {
        name: "chunked-with-extensions-and-trailers",
        outcome: Outcome::Answered,
        script: || answer([Step::Send(chunked(";name=value;q=\"a;b\"", "X-Digest: abc\r\n")), Step::Again]),
    },
    Defect {
        name: "chunk-size-is-no-number",
        outcome: Outcome::Broken,
        script: || answer([send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n<ok/>\r\n"), Step::Close]),
    },
    Defect {
        name: "chunk-size-overflows",
        outcome: Outcome::Broken,
        script: || {
            answer([
                send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000003\r\nabc\r\n"),
                Step::Close,
            ])
        },
    },
    Defect {
        name: "chunk-longer-than-its-size",
        outcome: Outcome::Broken,
        script: || {
            answer([send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcdef\r\n0\r\n\r\n"), Step::Close])
        },
    },
    Defect {
        name: "two-lengths-that-differ",
        outcome: Outcome::NoAnswer,
        script: || {
            answer([send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"), Step::Close])
        },
    },
    Defect {
        name: "length-is-no-number",
        outcome: Outcome::NoAnswer,
        script: || answer([send("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello"), Step::Close]),
    },
    Defect {
        name: "huge-head",
        outcome: Outcome::NoAnswer,
        script: || {
            let line = format!("X-Filler: {}\r\n", "x".repeat(1000)).into_bytes();
            answer([send("HTTP/1.1 200 OK\r\n"), Step::Repeat(line, 2_000), send("\r\n"), Step::Close])
        },
    },
    Defect {
        name: "header-line-does-not-end",
        outcome: Outcome::NoAnswer,
        script: || answer([send("HTTP/1.1 200 OK\r\nX-Long: "), Step::Repeat(vec![b'x'; 4096], 512), Step::Close]),
    },
];

/// The idle race: the first connection promises keep-alive and is reset as soon as a second request arrives on it,
/// `answered` requests later; all further connections are healthy.
pub fn idle_race(answered: usize) -> Vec<Script> {
    let healthy = [Step::Read(Until::Head), Step::Read(Until::Body), Step::Send(whole())];
    let mut steps: Vec<Step> = std::iter::repeat_n(healthy, answered.max(1)).flatten().collect();
    steps.extend([Step::Read(Until::Bytes(1)), Step::Reset]);
    vec![Script(steps), Script::answering(whole())]
}

/// The defect of that name.
pub fn named(name: &str) -> Option<&'static Defect> {
    DEFECTS.iter().find(|defect| defect.name == name)
}

fn answer(steps: impl Into<Vec<Step>>) -> Script {
    let mut script = vec![Step::Read(Until::Head), Step::Read(Until::Body)];
    script.extend(steps.into());
    Script(script)
}

fn send(text: &str) -> Step {
    Step::Send(text.as_bytes().to_vec())
}

fn body() -> Step {
    Step::Send(BODY.to_vec())
}

/// Long enough that what was sent before is read before what comes next.
fn settle() -> Step {
    Step::Pause(Duration::from_millis(30))
}

/// A whole answer with [`BODY`]: head with `Content-Length`, keep-alive by default.
pub fn whole() -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: {}\r\n\r\n", BODY.len());
    [head.as_bytes(), BODY].concat()
}

fn whole_then_close() -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", BODY.len());
    [head.as_bytes(), BODY].concat()
}

fn chunked(extension: &str, trailers: &str) -> Vec<u8> {
    let mut out = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Digest\r\n\r\n".to_vec();
    for piece in BODY.chunks(7) {
        out.extend_from_slice(format!("{:x}{extension}\r\n", piece.len()).as_bytes());
        out.extend_from_slice(piece);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(format!("0{extension}\r\n{trailers}\r\n").as_bytes());
    out
}
