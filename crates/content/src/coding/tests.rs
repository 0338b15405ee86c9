//! Bytes as gzip, zlib, brotli and zstd themselves make them, whole and not.

use super::*;

const PLAIN: &[u8] = "{\"order\":{\"id\":7,\"item\":\"bolt\",\"note\":\"grün\"}}".as_bytes();
const GZIP: &str = "\
    1f8b0800000000000203ab56ca2f4a492d52b2aa56ca4c51b232d751ca2c49cd55b2524acacf2951d251cacb2f4905f2d28b0eefc953aaad\
    0500aeaf84b32f000000";
const ZLIB: &str = "\
    78daab56ca2f4a492d52b2aa56ca4c51b232d751ca2c49cd55b2524acacf2951d251cacb2f4905f2d28b0eefc953aaad050067f40fc5";
const RAW: &str = "\
    ab56ca2f4a492d52b2aa56ca4c51b232d751ca2c49cd55b2524acacf2951d251cacb2f4905f2d28b0eefc953aaad0500";
const BROTLI: &str = "\
    0b17807b226f72646572223a7b226964223a372c226974656d223a22626f6c74222c226e6f7465223a226772c3bc6e227d7d03";
const ZSTD: &str = "\
    28b52ffd242f7901007b226f72646572223a7b226964223a372c226974656d223a22626f6c74222c226e6f7465223a226772c3bc6e227d7d\
    a7d5ba61";
const BROTLI_OF_GZIP: &str = "\
    8b20801f8b0800000000000203ab56ca2f4a492d52b2aa56ca4c51b232d751ca2c49cd55b2524acacf2951d251cacb2f4905f2d28b0eefc9\
    53aaad0500aeaf84b32f00000003";
/// 8 MiB of zeros.
const BROTLI_BOMB: &str = "\
    cbffff3ff82700e2b14020f7fe6f";
/// 8 MiB of zeros.
const ZSTD_BOMB: &str = "\
    28b52ffd00684c000008000100fcff3910020200100002001000020010000200100002001000020010000200100002001000020010000200\
    1000020010000200100002001000020010000200100002001000020010000200100002001000020010000200100002001000020010000200\
    1000020010000200100002001000020010000200100002001000020010000200100002001000020010000200100002001000020010000200\
    1000020010000200100002001000020010000200100002001000020010000200100002001000020010000200100002001000020010000200\
    10000200100002001000020010000200100002001000020010000200100002001000020010000200100003001000";
/// A frame that wants a window of 128 MiB.
const ZSTD_WIDE: &str = "\
    28b52ffd00883d000008610100200542";

fn bytes(hex: &str) -> Vec<u8> {
    hex.as_bytes().chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn head(codings: &str) -> Head {
    let mut head = Head::default();
    head.append("Content-Encoding", codings.as_bytes()).unwrap();
    head
}

/// Decodes in pieces of some size.
fn decoded(codings: &str, bytes: &[u8], piece: usize, limit_bytes: u64) -> Result<Vec<u8>, BodyError> {
    let mut decoding = Decoding::new(&Codings::of(&head(codings)).unwrap(), limit_bytes);
    let mut into = Vec::new();
    bytes.chunks(piece.max(1)).try_for_each(|piece| decoding.push(piece, &mut into))?;
    decoding.finish()?;
    Ok(into)
}

const CODED: [(&str, &str); 6] =
    [("gzip", GZIP), ("X-GZip", GZIP), ("deflate", ZLIB), ("deflate", RAW), ("br", BROTLI), ("zstd", ZSTD)];

#[test]
fn each_coding_is_undone_however_the_bytes_come() {
    for (coding, hex) in CODED {
        let bytes = bytes(hex);
        for piece in [1, 2, 7, bytes.len()] {
            assert_eq!(decoded(coding, &bytes, piece, 1_000).unwrap(), PLAIN, "{coding} {piece}");
        }
        assert_eq!(decoded(coding, &[], 1, 1_000), Ok(Vec::new()), "{coding}");
    }
    let twice = bytes(BROTLI_OF_GZIP);
    assert_eq!(decoded("gzip, identity ,br", &twice, 3, 1_000).unwrap(), PLAIN);
    assert!(decoded("br, gzip", &twice, 3, 1_000).is_err(), "the order counts");
    let members = [bytes(GZIP), bytes(GZIP)].concat();
    assert_eq!(decoded("gzip", &members, 5, 1_000).unwrap(), [PLAIN, PLAIN].concat());
    let frames = [bytes(ZSTD), bytes(ZSTD)].concat();
    assert_eq!(decoded("zstd", &frames, 5, 1_000).unwrap(), [PLAIN, PLAIN].concat());
}

#[test]
fn what_is_cut_changed_or_followed_by_more_is_an_error() {
    for (coding, hex) in CODED {
        let whole = bytes(hex);
        for end in 1..whole.len() {
            let cut = decoded(coding, &whole[..end], 4, 1_000);
            assert!(matches!(cut, Err(BodyError::Undecodable { .. })), "{coding} {end}: {cut:?}");
        }
        let more = decoded(coding, &[&whole[..], b"more"].concat(), 4, 1_000);
        assert!(matches!(more, Err(BodyError::Undecodable { .. })), "{coding}: {more:?}");
        let other = decoded(coding, b"{\"plain\": true} and so on, in no coding", 4, 1_000);
        assert!(matches!(other, Err(BodyError::Undecodable { .. })), "{coding}: {other:?}");
    }
    let mut changed = bytes(GZIP);
    let last = changed.len() - 6;
    changed[last] ^= 1;
    assert_eq!(decoded("gzip", &changed, 4, 1_000), Err(BodyError::Undecodable { coding: "gzip" }), "the checksum");
    assert_eq!(decoded("zstd", &bytes(ZSTD_WIDE), 4, 1_000), Err(BodyError::Undecodable { coding: "zstd" }));
}

#[test]
fn a_body_grows_to_its_limit_and_its_ratio_and_no_further() {
    for (coding, hex) in CODED {
        let too_small = PLAIN.len() as u64 - 1;
        let error = BodyError::TooLarge { limit_bytes: too_small };
        assert_eq!(decoded(coding, &bytes(hex), 9, too_small), Err(error), "{coding}");
    }
    for (coding, hex) in [("br", BROTLI_BOMB), ("zstd", ZSTD_BOMB)] {
        let error = BodyError::Inflated { limit_ratio: LIMIT_RATIO };
        assert_eq!(decoded(coding, &bytes(hex), 9, 64 << 20), Err(error), "{coding}");
        assert_eq!(decoded(coding, &bytes(hex), 9, 1_000), Err(BodyError::TooLarge { limit_bytes: 1_000 }), "{coding}");
    }
}

#[test]
fn a_coding_that_nobody_knows_is_told() {
    for codings in ["compress", "gzip, pack200", "gzip, gzip, gzip, gzip, gzip"] {
        assert_eq!(decoded(codings, b"x", 1, 10), Err(BodyError::UnknownCoding), "{codings}");
    }
    assert_eq!(Codings::of(&head("identity, ,")), None);
}

#[test]
fn the_head_of_a_decoded_body_says_nothing_of_the_coded_one() {
    let mut head = head("gzip");
    for (name, value) in [("ETag", "\"a\""), ("Content-MD5", "x"), ("Repr-Digest", "x"), ("X-Other", "1")] {
        head.append(name, value.as_bytes()).unwrap();
    }
    let mut body = Body::Bytes(bytes(GZIP));
    decode_message(&mut head, &mut body, 1_000);
    let lines: Vec<_> = head.iter().collect();
    assert_eq!(lines, [("ETag", &b"W/\"a\""[..]), ("X-Other", b"1")]);
    assert!(is_decoded(&body) && body.length().is_none());
    let waker = std::task::Waker::noop();
    let read = body.poll_bytes(&mut std::task::Context::from_waker(waker), 1_000);
    assert_eq!(read, std::task::Poll::Ready(Ok(PLAIN)));
}

#[test]
fn a_backend_is_asked_for_what_can_be_decoded() {
    let check = |asked: &str, expected: &str| {
        let mut head = Head::default();
        head.append("Accept-Encoding", asked.as_bytes()).unwrap();
        accept_what_can_be_decoded(&mut head);
        assert_eq!(head.first("accept-encoding").map(String::from_utf8_lossy).as_deref(), Some(expected), "{asked}");
    };
    check("gzip,deflate ,br;q=0.5", "gzip,deflate ,br;q=0.5");
    check("gzip, compress, dcb;q=0.5, zstd", "gzip, zstd");
    check("compress", "identity");
    check("*;q=0.1, gzip", "deflate;q=0.1, br;q=0.1, zstd;q=0.1, identity;q=0.1, gzip");
    check("", "");
}
