//! What is sent: bytes of any length in little memory, and the benchmark's SOAP message.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

/// The bytes of a body or of a whole request, shared by all connections that send them.
///
/// A payload is a row of pieces of which each may repeat, so that a body of gigabytes costs only its distinct parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Vec<(String, u64)>", try_from = "Vec<(String, u64)>")]
pub struct Payload {
    pieces: Vec<Piece>,
    length: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Piece {
    bytes: Arc<[u8]>,
    /// Where the piece begins in the payload.
    start: u64,
    times: u64,
}

impl Payload {
    /// A payload without bytes.
    pub fn empty() -> Payload {
        Payload::default()
    }

    /// Reads a file into memory.
    ///
    /// Errors: the file cannot be read; the caller's.
    pub fn file(path: &Path) -> anyhow::Result<Payload> {
        Ok(Payload::from(std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?))
    }

    /// Appends `bytes`, `times` times over.
    pub fn push(&mut self, bytes: impl Into<Arc<[u8]>>, times: u64) {
        let bytes = bytes.into();
        let added = bytes.len() as u64 * times;
        if added > 0 {
            self.pieces.push(Piece { bytes, start: self.length, times });
            self.length += added;
        }
    }

    /// The length in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Whether there is nothing to send.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The bytes from `offset` on, as far as they lie in one run; empty at the end and behind it.
    #[inline]
    pub fn at(&self, offset: u64) -> &[u8] {
        for piece in self.pieces.iter().rev() {
            if offset >= piece.start {
                let within = offset - piece.start;
                let length = piece.bytes.len() as u64;
                if within >= length * piece.times {
                    return &[];
                }
                return &piece.bytes[(within % length) as usize..];
            }
        }
        &[]
    }

    /// Whether `bytes` is what stands at `offset`.
    #[inline]
    pub fn holds(&self, mut offset: u64, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            let here = self.at(offset);
            let length = here.len().min(bytes.len());
            if length == 0 || here[..length] != bytes[..length] {
                return false;
            }
            offset += length as u64;
            bytes = &bytes[length..];
        }
        true
    }

    /// All bytes in one piece; meant for small payloads and tests.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut all = Vec::with_capacity(self.length as usize);
        for piece in &self.pieces {
            for _ in 0..piece.times {
                all.extend_from_slice(&piece.bytes);
            }
        }
        all
    }

    /// The whole request: `head`, then this payload as the body.
    ///
    /// Shape: the head and the first part of the body share one run, so that a small request leaves in one send.
    pub(crate) fn request(&self, head: Vec<u8>, chunked: bool) -> Payload {
        let mut request = Payload::empty();
        let mut run = head;
        for piece in &self.pieces {
            let framed = if chunked { chunks(&piece.bytes) } else { piece.bytes.to_vec() };
            if piece.times == 1 {
                run.extend_from_slice(&framed);
            } else {
                request.push(std::mem::take(&mut run), 1);
                request.push(framed, piece.times);
            }
        }
        if chunked {
            run.extend_from_slice(b"0\r\n\r\n");
        }
        request.push(run, 1);
        request
    }
}

impl From<Vec<u8>> for Payload {
    fn from(bytes: Vec<u8>) -> Payload {
        let mut payload = Payload::empty();
        payload.push(bytes, 1);
        payload
    }
}

impl From<Payload> for Vec<(String, u64)> {
    /// The pieces in base64, and how often each stands there.
    fn from(payload: Payload) -> Vec<(String, u64)> {
        payload.pieces.iter().map(|piece| (STANDARD.encode(&piece.bytes), piece.times)).collect()
    }
}

impl TryFrom<Vec<(String, u64)>> for Payload {
    type Error = String;

    fn try_from(pieces: Vec<(String, u64)>) -> Result<Payload, String> {
        let mut payload = Payload::empty();
        for (text, times) in pieces {
            let bytes = STANDARD.decode(text).map_err(|error| format!("a payload is no base64: {error}"))?;
            let added = (bytes.len() as u64).checked_mul(times);
            added.and_then(|added| added.checked_add(payload.length)).ok_or("a payload has no end")?;
            payload.push(bytes, times);
        }
        Ok(payload)
    }
}

/// `bytes` cut into chunks of at most 64 KiB, without the closing one.
fn chunks(bytes: &[u8]) -> Vec<u8> {
    let mut framed = Vec::with_capacity(bytes.len() + 16);
    for chunk in bytes.chunks(64 * 1024) {
        framed.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        framed.extend_from_slice(chunk);
        framed.extend_from_slice(b"\r\n");
    }
    framed
}

const START: &str = concat!(
    r#"<?xml version="1.0" encoding="UTF-8"?>"#,
    "\n",
    r#"<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/">"#,
);
const BODY: &str = r#"<soapenv:Body><m:buyStocks xmlns:m="http://services.samples/xsd">"#;
const END: &str = "</m:buyStocks></soapenv:Body></soapenv:Envelope>";
const SYMBOLS: [&str; 8] = ["SUNW", "MSFT", "ORCL", "GOOG", "INTC", "CSCO", "DELL", "NVDA"];
/// Orders in the run that repeats; about 45 KB.
const RUN_ORDERS: u64 = 512;

/// The media type of [`soap`] payloads.
pub const SOAP_TYPE: &str = "text/xml; charset=UTF-8";

/// The namespace of the header block in [`soap_with_block`] payloads.
pub const BLOCK_NAMESPACE: &str = "urn:myelin:routing";

/// The benchmark's message, exactly `size` bytes long.
///
/// Shape: a SOAP 1.1 envelope whose `m:buyStocks` holds as many `order` children as make the size, the first for IBM;
/// what is left over lengthens the last order's `buyerID`, so that no white space is added that a transformation
/// could see.
/// Errors: `size` is too small for one order; the caller's.
/// Source: BENCHMARK.md §1.
pub fn soap(size: u64) -> anyhow::Result<Payload> {
    message(START, "IBM", size)
}

/// As [`soap`], with the first order for another symbol.
///
/// Errors: as [`soap`].
pub fn soap_for(symbol: &str, size: u64) -> anyhow::Result<Payload> {
    message(START, symbol, size)
}

/// As [`soap`], with one block in the SOAP header: its local name in [`BLOCK_NAMESPACE`], and its text.
///
/// Errors: as [`soap`]; the block takes some of the room.
pub fn soap_with_block(size: u64, (name, text): (&str, &str)) -> anyhow::Result<Payload> {
    let block = format!(r#"<r:{name} xmlns:r="{BLOCK_NAMESPACE}">{text}</r:{name}>"#);
    message(&format!("{START}<soapenv:Header>{block}</soapenv:Header>"), "IBM", size)
}

/// The orders of [`soap`] as JSON, exactly `size` bytes long.
///
/// Shape: an object `buyStocks` that holds an array `order`, the first for IBM; of at least two, because an array of one
/// is none any more after it was XML.
/// Errors: `size` is too small for two orders; the caller's.
pub fn json(size: u64) -> anyhow::Result<Payload> {
    const START: &str = r#"{"buyStocks":{"order":["#;
    const END: &str = "]}}";
    let order = |symbol: &str, buyer: &str, volume: u32| {
        format!(r#"{{"symbol":"{symbol}","buyerID":"{buyer}","price":140.34,"volume":{volume}}}"#)
    };
    let ordinary = |turn: usize| format!(",{}", order(SYMBOLS[turn], &format!("buyer{turn}"), 1000 + turn as u32));
    let first = order("IBM", "myelin", 2000);
    let (one, fixed) = (ordinary(0).len(), START.len() + first.len() + END.len());
    let room = (size as usize).checked_sub(fixed + one);
    let room = room.with_context(|| format!("JSON with two orders has at least {} bytes, not {size}", fixed + one))?;
    let mut text = format!("{START}{first}");
    (0..room / one).for_each(|index| text.push_str(&ordinary(index % SYMBOLS.len())));
    let buyer = format!("buyer0{}", "x".repeat(room % one));
    text.push_str(&format!(",{}{END}", order(SYMBOLS[0], &buyer, 1000)));
    Ok(Payload::from(text.into_bytes()))
}

/// A message of [`soap`] with the names of its own elements backwards: what the stylesheets of the benchmark make of it.
///
/// Names are replaced in the text, so that no processor of XML has to be believed.
pub fn backwards(message: &[u8]) -> Vec<u8> {
    let mut text = String::from_utf8_lossy(message).into_owned();
    for name in ["buyStocks", "order", "symbol", "buyerID", "price", "volume"] {
        let reversed: String = name.chars().rev().collect();
        // No text of the message holds a `<`, so that only tags are met.
        for before in ["<", "</", "<m:", "</m:"] {
            for after in [">", " "] {
                text = text.replace(&format!("{before}{name}{after}"), &format!("{before}{reversed}{after}"));
            }
        }
    }
    text.into_bytes()
}

/// A message of exactly `size` bytes that begins with `start`.
fn message(start: &str, symbol: &str, size: u64) -> anyhow::Result<Payload> {
    let first = order(symbol, "myelin", 2000);
    let one = ordinary(0).len() as u64;
    let fixed = (start.len() + BODY.len() + first.len() + END.len()) as u64;
    let room = size
        .checked_sub(fixed)
        .with_context(|| format!("a SOAP message with one order has at least {fixed} bytes, not {size}"))?;
    let (orders, padding) = (room / one, (room % one) as usize);
    let padded = |buyer: &str| format!("{buyer}{}", "x".repeat(padding));

    let mut payload = Payload::empty();
    if orders == 0 {
        let only = order(symbol, &padded("myelin"), 2000);
        payload.push(format!("{start}{BODY}{only}{END}").into_bytes(), 1);
        return Ok(payload);
    }
    let last = order(SYMBOLS[0], &padded("buyer0"), 1000);
    let (runs, rest) = ((orders - 1) / RUN_ORDERS, (orders - 1) % RUN_ORDERS);
    let run = |count: u64| (0..count).map(ordinary).collect::<String>();
    let mut start = format!("{start}{BODY}{first}");
    // Repeating pays only where copies would cost memory: below a megabyte one run leaves in fewer sends.
    if size <= 1 << 20 {
        start.push_str(&run(RUN_ORDERS).repeat(runs as usize));
    } else {
        payload.push(std::mem::take(&mut start).into_bytes(), 1);
        payload.push(run(RUN_ORDERS).into_bytes(), runs);
    }
    payload.push(format!("{start}{}{last}{END}", run(rest)).into_bytes(), 1);
    Ok(payload)
}

fn ordinary(index: u64) -> String {
    let turn = (index % 8) as usize;
    order(SYMBOLS[turn], &format!("buyer{turn}"), 1000 + turn as u32)
}

fn order(symbol: &str, buyer: &str, volume: u32) -> String {
    format!(
        "<order><symbol>{symbol}</symbol><buyerID>{buyer}</buyerID><price>140.34</price><volume>{volume}</volume></order>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_soap_payload_has_exactly_the_size_asked_for() {
        for size in [400, 500, 501, 1024, 5120, 10_240, 51_200, 102_400, 512_000, 1 << 20, (1 << 20) + 1, 5_000_000] {
            let payload = soap(size).unwrap();
            assert_eq!(payload.length(), size);
            assert_eq!(payload.to_vec().len() as u64, size);
        }
        let message = soap(100).unwrap_err().to_string();
        assert!(message.contains("at least"), "{message}");
    }

    #[test]
    fn every_soap_payload_is_well_formed_and_begins_with_ibm() {
        for size in (380..1500).chain([10_240, 102_400, 1 << 20, 2_000_003]) {
            let text = String::from_utf8(soap(size).unwrap().to_vec()).unwrap();
            let document = roxmltree::Document::parse(&text).unwrap();
            let orders: Vec<_> = document.descendants().filter(|node| node.has_tag_name("order")).collect();
            let symbol = orders[0].first_element_child().unwrap();
            assert_eq!((symbol.tag_name().name(), symbol.text()), ("symbol", Some("IBM")));
            let stocks = orders[0].parent().unwrap();
            assert_eq!(stocks.tag_name().namespace(), Some("http://services.samples/xsd"));
            assert!(orders.len() as u64 > size / 120 - 3, "{size} bytes hold {} orders", orders.len());
        }
    }

    #[test]
    fn a_json_payload_has_exactly_the_size_asked_for_and_is_json() {
        for size in (160..700).chain([10_240, 102_400]) {
            let payload = json(size).unwrap();
            assert_eq!(payload.length(), size);
            let value: serde_json::Value = serde_json::from_slice(&payload.to_vec()).unwrap();
            let orders = value["buyStocks"]["order"].as_array().unwrap();
            assert_eq!((&orders[0]["symbol"], orders.len() > 1), (&"IBM".into(), true), "{size}");
        }
        assert!(json(100).unwrap_err().to_string().contains("at least"));
    }

    #[test]
    fn a_header_block_stands_before_the_body_and_counts_for_the_size() {
        for size in [500, 1024, 10_240, 2_000_003] {
            let payload = soap_with_block(size, ("routing", "a;b#1")).unwrap();
            assert_eq!(payload.length(), size);
            let text = String::from_utf8(payload.to_vec()).unwrap();
            let document = roxmltree::Document::parse(&text).unwrap();
            let envelope = document.root_element();
            let header = envelope.first_element_child().unwrap();
            let block = header.first_element_child().unwrap();
            assert!(block.has_tag_name((BLOCK_NAMESPACE, "routing")));
            assert_eq!(block.text(), Some("a;b#1"));
            assert_eq!(header.next_sibling_element().unwrap().tag_name().name(), "Body");
        }
        let other = String::from_utf8(soap_for("SUNW", 500).unwrap().to_vec()).unwrap();
        assert!(other.contains("<order><symbol>SUNW</symbol>") && !other.contains("IBM"), "{other}");
    }

    #[test]
    fn backwards_turns_each_name_round_and_leaves_the_texts_alone() {
        let message = String::from_utf8(backwards(&soap(600).unwrap().to_vec())).unwrap();
        assert!(message.contains(r#"<m:skcotSyub xmlns:m="http://services.samples/xsd"><redro><lobmys>IBM</lobmys>"#));
        assert!(message.ends_with("</redro></m:skcotSyub></soapenv:Body></soapenv:Envelope>"), "{message}");
        assert!(!message.contains("<order") && !message.contains("<price") && message.contains(">buyer0"), "{message}");
    }

    #[test]
    fn a_hundred_megabytes_cost_little_memory() {
        let payload = soap(100 << 20).unwrap();
        let held: usize = payload.pieces.iter().map(|piece| piece.bytes.len()).sum();
        assert!(held < 200 * 1024, "{held} bytes are held");
    }

    #[test]
    fn bytes_are_found_at_any_offset() {
        let mut payload = Payload::empty();
        payload.push(b"ab".to_vec(), 1);
        payload.push(b"xyz".to_vec(), 3);
        payload.push(b"!".to_vec(), 1);
        let all = payload.to_vec();
        assert_eq!(all, b"abxyzxyzxyz!");
        for offset in 0..all.len() {
            assert!(all[offset..].starts_with(payload.at(offset as u64)));
            assert!(!payload.at(offset as u64).is_empty());
            assert!(payload.holds(offset as u64, &all[offset..]));
            assert!(!payload.holds(offset as u64, b"?"));
        }
        assert!(payload.at(12).is_empty());
        assert!(!payload.holds(10, b"z!!"));
    }

    #[test]
    fn a_chunked_request_frames_each_run() {
        let mut payload = Payload::empty();
        payload.push(b"ab".to_vec(), 1);
        payload.push(b"xyz".to_vec(), 2);
        let request = payload.request(b"HEAD".to_vec(), true);
        assert_eq!(request.to_vec(), b"HEAD2\r\nab\r\n3\r\nxyz\r\n3\r\nxyz\r\n0\r\n\r\n");
        assert_eq!(payload.request(b"HEAD".to_vec(), false).to_vec(), b"HEADabxyzxyz");
    }
}
