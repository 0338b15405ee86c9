//! Content codings on real sockets: what a flow reads is decoded, what it passes on is as it came.

use std::net::SocketAddr;
use std::time::Duration;

use crate::support::{Bus, answering, definitions, settings};
use myelin_testkit::faulty::whole;
use myelin_testkit::raw::{self, Answer, Client};

const PLAIN: &str = "{\"order\":{\"id\":7,\"item\":\"bolt\",\"note\":\"grün\"}}";
/// What `READS` makes of it.
const MADE: &str = "{\"got\":\"bolt grün\"}";
const READS: &str = r#"<payloadFactory media-type="json"><format>{"got":"$1 $2"}</format><args><arg evaluator="json" expression="$.order.item"/><arg evaluator="json" expression="$.order.note"/></args></payloadFactory>"#;
/// Reads no more than it needs for a decision.
const LOOKS: &str = r#"<property name="X-Item" scope="transport" expression="json-eval($.order.item)"/>"#;

/// As the programs of each coding write it.
const CODED: [(&str, &[u8]); 4] = [
    (
        "gzip",
        b"\
      \x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xab\x56\xca\x2f\x4a\x49\x2d\x52\xb2\xaa\x56\xca\x4c\x51\xb2\x32\xd7\
      \x51\xca\x2c\x49\xcd\x55\xb2\x52\x4a\xca\xcf\x29\x51\xd2\x51\xca\xcb\x2f\x49\x05\xf2\xd2\x8b\x0e\xef\xc9\x53\
      \xaa\xad\x05\x00\xae\xaf\x84\xb3\x2f\x00\x00\x00",
    ),
    (
        "deflate",
        b"\
      \x78\xda\xab\x56\xca\x2f\x4a\x49\x2d\x52\xb2\xaa\x56\xca\x4c\x51\xb2\x32\xd7\x51\xca\x2c\x49\xcd\x55\xb2\x52\
      \x4a\xca\xcf\x29\x51\xd2\x51\xca\xcb\x2f\x49\x05\xf2\xd2\x8b\x0e\xef\xc9\x53\xaa\xad\x05\x00\x67\xf4\x0f\xc5",
    ),
    (
        "br",
        b"\
      \x0b\x17\x80\x7b\x22\x6f\x72\x64\x65\x72\x22\x3a\x7b\x22\x69\x64\x22\x3a\x37\x2c\x22\x69\x74\x65\x6d\x22\x3a\
      \x22\x62\x6f\x6c\x74\x22\x2c\x22\x6e\x6f\x74\x65\x22\x3a\x22\x67\x72\xc3\xbc\x6e\x22\x7d\x7d\x03",
    ),
    (
        "zstd",
        b"\
      \x28\xb5\x2f\xfd\x24\x2f\x79\x01\x00\x7b\x22\x6f\x72\x64\x65\x72\x22\x3a\x7b\x22\x69\x64\x22\x3a\x37\x2c\x22\
      \x69\x74\x65\x6d\x22\x3a\x22\x62\x6f\x6c\x74\x22\x2c\x22\x6e\x6f\x74\x65\x22\x3a\x22\x67\x72\xc3\xbc\x6e\x22\
      \x7d\x7d\xa7\xd5\xba\x61",
    ),
];
/// 8 MiB of zeros in 14 bytes.
const BROTLI_BOMB: &[u8] = b"\
      \xcb\xff\xff\x3f\xf8\x27\x00\xe2\xb1\x40\x20\xf7\xfe\x6f";

/// A proxy with some mediators before its backend, and some behind it.
fn routed(backend: SocketAddr, incoming: &str, outgoing: &str) -> Bus {
    let configuration = definitions(&format!(
        r#"<proxy name="P"><target><inSequence>{incoming}<send><endpoint><address uri="http://{backend}/b"/></endpoint></send></inSequence><outSequence>{outgoing}<send/></outSequence></target></proxy>"#
    ));
    Bus::with(&configuration, settings())
}

fn message(start: &str, lines: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("{start}\r\nContent-Type: application/json\r\n{lines}Content-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

fn request(coding: &str, body: &[u8]) -> Vec<u8> {
    message("POST /services/P HTTP/1.1\r\nHost: bus", &format!("Content-Encoding: {coding}\r\n"), body)
}

fn response(coding: &str, body: &[u8]) -> Vec<u8> {
    message("HTTP/1.1 200 OK", &format!("Content-Encoding: {coding}\r\nETag: \"v1\"\r\n"), body)
}

/// What comes of an answer behind some mediators.
fn answered(outgoing: &str, response: Vec<u8>) -> Answer {
    let backend = answering(response);
    let bus = routed(backend.address(), "", outgoing);
    raw::exchange(bus.address, &message("POST /services/P HTTP/1.1\r\nHost: bus", "", b"{}")).unwrap()
}

#[test]
fn an_answer_that_a_flow_reads_is_decoded_and_leaves_so() {
    for (coding, bytes) in CODED {
        let answer = answered(READS, response(coding, bytes));
        assert_eq!((answer.status, answer.text().as_str()), (200, MADE), "{coding}");
        assert_eq!(answer.header("Content-Encoding"), None, "{coding}");
        // What is read and not changed is the plain text, and says so.
        let keep = r#"<enrich><source type="body"/><target type="property" property="b"/></enrich>"#;
        let answer = answered(keep, response(coding, bytes));
        assert_eq!((answer.status, answer.text().as_str()), (200, PLAIN), "{coding}");
        assert_eq!(answer.header("Content-Encoding"), None, "{coding}");
        assert_eq!(answer.header("Content-Length"), Some(PLAIN.len().to_string().as_str()), "{coding}");
        assert_eq!(answer.header("ETag"), Some("W/\"v1\""), "{coding}");
    }
}

#[test]
fn a_request_that_a_flow_reads_is_decoded_however_it_comes() {
    for (coding, bytes) in CODED {
        let backend = answering(whole());
        let bus = routed(backend.address(), READS, "");
        let mut client = Client::connect(bus.address).unwrap();
        let chunked: Vec<u8> = [
            format!("POST /services/P HTTP/1.1\r\nHost: bus\r\nContent-Type: application/json\r\nContent-Encoding: {coding}\r\nTransfer-Encoding: chunked\r\n\r\n").into_bytes(),
            bytes.chunks(5).flat_map(|piece| [format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat()).collect(),
            b"0\r\n\r\n".to_vec(),
        ]
        .concat();
        let ends = [chunked.len() - 60, chunked.len() - 30];
        client.send_split(&chunked, &ends, Duration::from_millis(20)).unwrap();
        let answer = client.answer().unwrap();
        assert_eq!(answer.status, 200, "{coding}: {}", answer.text());
        let got = backend.connections()[0].text();
        assert!(got.ends_with(MADE) && !got.contains("Content-Encoding"), "{coding}: {got}");
        assert!(got.contains(&format!("Content-Length: {}\r\n", MADE.len())), "{coding}: {got}");
    }
}

#[test]
fn what_nobody_reads_or_somebody_only_looks_at_is_passed_on_as_it_came() {
    for (coding, bytes) in CODED {
        for mediators in ["", LOOKS] {
            let backend = answering(response(coding, bytes));
            let bus = routed(backend.address(), mediators, mediators);
            let answer = raw::exchange(bus.address, &request(coding, bytes)).unwrap();
            let got = backend.connections()[0].received.clone();
            let head = String::from_utf8_lossy(&got).into_owned();
            assert!(got.ends_with(&[b"\r\n\r\n", bytes].concat()), "{coding}: {head}");
            assert!(head.contains(&format!("Content-Encoding: {coding}\r\n")), "{coding}: {head}");
            assert_eq!((answer.status, answer.body.as_slice()), (200, bytes), "{coding}");
            assert_eq!(answer.header("Content-Encoding"), Some(coding));
            assert_eq!(answer.header("ETag"), Some("\"v1\""));
            let item = (!mediators.is_empty()).then_some("bolt");
            assert_eq!(answer.header("X-Item"), item, "{coding}");
            assert_eq!(head.contains("X-Item: bolt\r\n"), item.is_some(), "{coding}: {head}");
        }
    }
}

#[test]
fn what_cannot_be_decoded_is_its_senders_fault() {
    let gzip = CODED[0].1;
    let cases: [(&str, &[u8], u16); 6] = [
        ("gzip", &gzip[..gzip.len() - 3], 400),
        ("gzip", b"{\"plain\":1}", 400),
        ("deflate", b"{\"plain\":1}", 400),
        ("br", BROTLI_BOMB, 413),
        ("compress", gzip, 415),
        ("gzip, gzip", gzip, 400),
    ];
    for (coding, bytes, status) in cases {
        for mediators in [READS, LOOKS] {
            // A decision may have been made before it shows that the end is missing.
            if mediators == LOOKS && bytes.len() == gzip.len() - 3 {
                continue;
            }
            let backend = answering(whole());
            let bus = routed(backend.address(), mediators, "");
            let answer = raw::exchange(bus.address, &request(coding, bytes)).unwrap();
            assert_eq!(answer.status, status, "{coding}: {}", answer.text());
            let accepted = (status == 415).then_some("gzip, deflate, br, zstd");
            assert_eq!(answer.header("Accept-Encoding"), accepted, "{coding}");
            let answer = answered(mediators, response(coding, bytes));
            assert_eq!(answer.status, 502, "{coding}: {}", answer.text());
        }
    }
}

#[test]
fn a_backend_is_asked_only_for_codings_that_can_be_decoded() {
    let check = |asked: &str, expected: &str| {
        let backend = answering(whole());
        let bus = routed(backend.address(), "", "");
        let line = format!("Accept-Encoding: {asked}\r\n");
        let answer = raw::exchange(bus.address, &message("POST /services/P HTTP/1.1\r\nHost: bus", &line, b"{}"));
        assert_eq!(answer.unwrap().status, 200);
        let got = backend.connections()[0].text();
        assert!(got.contains(&format!("Accept-Encoding: {expected}\r\n")), "{got}");
    };
    check("gzip, deflate, br;q=0.9, zstd", "gzip, deflate, br;q=0.9, zstd");
    check("gzip, compress, dcb", "gzip");
}
