use super::*;

const LIMIT_BYTES: usize = 64 * 1024;

fn refused(text: &str) -> u16 {
    let bytes = text.as_bytes();
    // A head that comes at once is read before anybody has looked for its end.
    let at_once = read_request(bytes, HeadLimits::default());
    let is_read_at_once = at_once.is_ok_and(|(_, length)| length <= LIMIT_BYTES);
    let status = refused_in_pieces(bytes);
    assert_eq!(is_read_at_once, status == 0, "{text:?}");
    status
}

fn refused_in_pieces(bytes: &[u8]) -> u16 {
    match HeadScanner::default().scan(bytes, LIMIT_BYTES) {
        Err(ScanError::BareLineFeed) => 400,
        Err(ScanError::TooLong) => 431,
        Ok(None) => panic!("incomplete: {:?}", String::from_utf8_lossy(bytes)),
        Ok(Some(length)) => {
            parse_request(&bytes[..length], HeadLimits::default()).map_or_else(|refusal| refusal.status, |_| 0)
        }
    }
}

#[test]
fn what_could_smuggle_a_request_is_refused() {
    for (expected, text) in [
        (0, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
        (0, "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"),
        (0, "GET http://b:80/x?y=z HTTP/1.1\r\nHost: a\r\n\r\n"),
        (0, "GET / HTTP/1.0\r\n\r\n"),
        (0, "GET / HTTP/1.1\r\nHost:\r\n\r\n"),
        (0, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n"),
        (400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"),
        (400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n"),
        (400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\n"),
        (400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n"),
        (400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x1\r\n\r\n"),
        (400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1 2\r\n\r\n"),
        (400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n"),
        (400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n"),
        (400, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"),
        (400, "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"),
        (501, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"),
        (501, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, chunked\r\n\r\n"),
        (501, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n"),
        (501, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n"),
        (400, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \x0bchunked\r\n\r\n"),
        (400, "GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\n folded\r\n\r\n"),
        (400, "GET / HTTP/1.1\r\n folded\r\nHost: a\r\n\r\n"),
        (400, "GET / HTTP/1.1\nHost: a\n\n"),
        (400, "GET / HTTP/1.1\r\nHost: a\nX: 1\r\n\r\n"),
        (400, "GET / HTTP/1.1\r\nHost: a\r\nX: 1\rY: 2\r\n\r\n"),
        (400, "GET / HTTP/1.1\r\nHost : a\r\n\r\n"),
        (400, "GET / HTTP/1.1\r\nHost: a\r\nContent-Length : 1\r\n\r\n"),
        (400, "GET / HTTP/1.1\r\n\r\n"),
        (400, "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"),
        (400, "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"),
        (400, "GET / HTTP/1.1\r\nHost: a b\r\n\r\n"),
        (400, "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n"),
        (400, "GET / HTTP/1.1\r\nHost: user@a\r\n\r\n"),
        (400, "GET http://a\\b/ HTTP/1.1\r\nHost: a\r\n\r\n"),
        (400, "GET http://u:p@b/ HTTP/1.1\r\nHost: a\r\n\r\n"),
        (400, "GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n"),
        (400, "GET http://?x HTTP/1.1\r\nHost: a\r\n\r\n"),
        (400, "GET http://:80/ HTTP/1.1\r\nHost: a\r\n\r\n"),
        (400, "GET http://b:port/ HTTP/1.1\r\nHost: a\r\n\r\n"),
        (400, "GET http://b/ HTTP/1.1\r\nHost: [::1\r\n\r\n"),
        (400, "GET http://b/ HTTP/1.1\r\n\r\n"),
        (0, "PROPFINDPROPFINDPROPFINDPROPFIND / HTTP/1.1\r\nHost: a\r\n\r\n"),
        (501, "PROPFINDPROPFINDPROPFINDPROPFINDS / HTTP/1.1\r\nHost: a\r\n\r\n"),
        (501, "GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: foo, WebSocket\r\n\r\n"),
        (0, "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n"),
        (0, "GET / HTTP/1.0\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"),
        (0, "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n"),
        (400, "GET / HTTP/1.1\r\nHost: a\r\nX: \0\r\n\r\n"),
        (400, "GET / HTTP/1.1\r\nHost: a\r\nX: \x7f\r\n\r\n"),
        (400, "GET / HTTP/1.1\r\nHost: a\r\n: 1\r\n\r\n"),
        (400, "GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n"),
        (400, "G\x01T / HTTP/1.1\r\nHost: a\r\n\r\n"),
        (400, "GET  / HTTP/1.1\r\nHost: a\r\n\r\n"),
        (400, "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n"),
        (400, "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n"),
        (400, "GET a HTTP/1.1\r\nHost: a\r\n\r\n"),
        (400, "GET * HTTP/1.1\r\nHost: a\r\n\r\n"),
        (400, "GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n"),
        (400, "GET / HTTP/1.1 \r\nHost: a\r\n\r\n"),
        (501, "CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n"),
        (400, "GET / HTTQ/1.1\r\nHost: a\r\n\r\n"),
        (400, "GET /\r\nHost: a\r\n\r\n"),
        (505, "GET / HTTP/1.2\r\nHost: a\r\n\r\n"),
        (505, "GET / HTTP/2.0\r\nHost: a\r\n\r\n"),
        (417, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: miracles\r\n\r\n"),
    ] {
        assert_eq!(refused(text), expected, "{text:?}");
    }
    let many: String = (0..300).map(|line| format!("X{line}: 1\r\n")).collect();
    assert_eq!(refused(&format!("GET / HTTP/1.1\r\nHost: a\r\n{many}\r\n")), 431);
    assert_eq!(refused(&format!("GET / HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "x".repeat(70_000))), 431);
}

#[test]
fn host_is_one_host_and_perhaps_a_port() {
    for host in [
        "",
        "a",
        "a-b_c.example",
        "a:",
        "a:0",
        "a:65535",
        "a:000080",
        "127.0.0.1:80",
        "[::1]",
        "[::1]:80",
        "[::ffff:1.2.3.4]",
        "[v1.a:b]:80",
        "a%41.b",
        "m%c3%bcnchen",
    ] {
        assert!(is_host(host.as_bytes()), "{host:?}");
    }
    for host in [
        "[::1",
        "::1]",
        "[]",
        "[::1]a",
        "[::1]80",
        "[::1]]",
        "[::g]",
        "[1.2.3.4]",
        "[fe80::1%25eth0]",
        "[v1]",
        "[v.a]",
        "[vg.a]",
        "[v1.]",
        "::1",
        "a:abc",
        "a:-1",
        "a:+80",
        "a:65536",
        "a:99999999999999999999",
        "a:80:80",
        "a:8 0",
        ":80",
        ":",
        "u@a",
        "u:p@a",
        "a,b",
        "a;b,c",
        "a/b",
        "a\\b",
        "a?b",
        "a#b",
        "a b",
        "a%",
        "a%4",
        "a%zz",
        "a\"b",
        "<a>",
        "a\u{fc}",
    ] {
        assert!(!is_host(host.as_bytes()), "{host:?}");
    }
}

#[test]
fn the_authority_of_an_absolute_target_stands_in_place_of_host() {
    let check = |text: &str, expected: &str| {
        let request = parse_request(text.as_bytes(), HeadLimits::default()).unwrap();
        assert_eq!(request.head.all("host").collect::<Vec<_>>(), [expected.as_bytes()], "{text:?}");
    };
    check("GET http://b:81/x HTTP/1.1\r\nHost: a\r\nX: 1\r\n\r\n", "b:81");
    check("GET HTTPS://b?x HTTP/1.1\r\nhOST:\r\n\r\n", "b");
    check("GET http://[::1] HTTP/1.0\r\n\r\n", "[::1]");
    check("GET /x?http://b/ HTTP/1.1\r\nHost: a\r\n\r\n", "a");
}

#[test]
fn a_head_found_in_pieces_is_the_head_found_at_once() {
    let bytes = b"GET / HTTP/1.1\r\nHost: a\r\n\r\nrest";
    for step in 1..bytes.len() {
        let mut scanner = HeadScanner::default();
        let found = (0..bytes.len())
            .step_by(step)
            .chain([bytes.len()])
            .find_map(|end| scanner.scan(&bytes[..end], 1000).unwrap());
        assert_eq!(found, Some(27), "in steps of {step}");
    }
}

#[test]
fn lines_keep_their_bytes() {
    let bytes = b"POST /x HTTP/1.1\r\nhOST:a\r\nX-Empty:\r\nX-Blank: \t v \t\r\nContent-Length: 3\r\n\r\n";
    let request = parse_request(bytes, HeadLimits::default()).unwrap();
    assert_eq!((request.head.method(), request.head.target()), ("POST", "/x"));
    assert_eq!(request.framing, Framing::Length(3));
    assert_eq!(request.head.first("x-blank"), Some(&b"v"[..]));
    assert_eq!(request.head.first("x-empty"), Some(&b""[..]));
    let mut out = Vec::new();
    request.head.write_lines(&mut out, |_| true);
    assert_eq!(out, &bytes[18..bytes.len() - 2]);
}

#[test]
fn a_response_is_framed_by_its_request_and_status() {
    let framing = |text: &str, to_head| {
        parse_response(text.as_bytes(), to_head, HeadLimits::default())
            .map(|response| (response.framing, response.keep_alive))
    };
    assert_eq!(framing("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", false), Ok((Framing::Length(5), true)));
    assert_eq!(framing("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", true), Ok((Framing::Empty, true)));
    assert_eq!(framing("HTTP/1.1 200\r\n\r\n", false), Ok((Framing::UntilClose, false)));
    assert_eq!(framing("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", false), Ok((Framing::Empty, true)));
    assert_eq!(framing("HTTP/1.0 204 None\r\n\r\n", false), Ok((Framing::Empty, false)));
    assert_eq!(
        framing("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: x, Close\r\n\r\n", false),
        Ok((Framing::Chunked, false))
    );
    assert!(framing("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", false).is_err());
    assert!(framing("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", false).is_err());
    assert!(framing("HTTP/1.1 99 OK\r\n\r\n", false).is_err());
    assert!(framing("SMTP ready\r\n\r\n", false).is_err());
}
