//! What a request takes from the allocator: how many blocks, and how many bytes, which is also what it copies at most
//! into memory of its own.
//!
//! Client and backend are threads of this process that allocate nothing between the first and the last request counted,
//! so these tests are a binary of their own and take turns.

#![allow(clippy::unwrap_used, reason = "what fails in a test fails the test")]

#[path = "../support/mod.rs"]
mod support;

use std::alloc::System;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

use crate::support::{Bus, DEADLINE, definitions, settings};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Requests before those that are counted: buffers and tables have their size then.
const WARM_UP: u32 = 50;
/// On a busy machine a large body comes in more pieces, and some of them need memory: of so many portions the cheapest
/// counts, and they are small, so that some fall between the others' turns.
const PORTIONS: u32 = 100;
const COUNTED: u32 = 10;

/// Room for the largest message of a test with its head.
const ROOM_BYTES: usize = 256 * 1024;

/// What a request takes from the allocator.
#[derive(Debug)]
struct Taken {
    blocks: f64,
    bytes: f64,
}

/// What is sent to a proxy, and what it may take.
struct Case {
    name: &'static str,
    /// The in sequence of the proxy.
    mediators: &'static str,
    size: usize,
    most: Taken,
}

#[test]
fn a_request_takes_no_more_from_the_allocator_than_it_did() {
    let header = r#"<header name="X-Routed" value="yes" scope="transport"/>"#;
    let route = r#"<filter xmlns:m="http://services.samples/xsd" source="$body/m:buyStocks[1]/order[1]/symbol" regex="IBM">
        <then><property name="chosen" value="ibm"/></then><else><drop/></else></filter>"#;
    let cases = [
        Case { name: "passed on", mediators: "", size: 500, most: Taken { blocks: 4.5, bytes: 5_200.0 } },
        // The body goes from socket to socket: its size does not matter.
        Case { name: "passed on", mediators: "", size: 100 * 1024, most: Taken { blocks: 4.5, bytes: 5_200.0 } },
        Case { name: "header", mediators: header, size: 500, most: Taken { blocks: 5.5, bytes: 5_200.0 } },
        Case { name: "route", mediators: route, size: 500, most: Taken { blocks: 5.5, bytes: 5_400.0 } },
        Case { name: "route", mediators: route, size: 100 * 1024, most: Taken { blocks: 5.5, bytes: 5_400.0 } },
    ];
    let backend = echo();
    let mut above = Vec::new();
    for Case { name, mediators, size, most } in cases {
        let sequence = format!("<inSequence>{mediators}</inSequence>");
        // How fast the machine is must not decide whether the service takes turns, for which it needs memory.
        let mediation = myelin_engine::Settings { costly_from: DEADLINE, ..myelin_engine::Settings::default() };
        let bus = Bus::mediating(
            &definitions(&format!(
                r#"<proxy name="P"><target><endpoint><address uri="http://{backend}/b"/></endpoint>{sequence}</target></proxy>"#
            )),
            &mediation,
            settings(),
        );
        let taken = taken(bus.address, orders(size).as_bytes());
        println!("{name}, {size} bytes: {:.1} blocks, {:.0} bytes", taken.blocks, taken.bytes);
        if taken.blocks > most.blocks || taken.bytes > most.bytes {
            above.push(format!("{name}, {size} bytes: {taken:?} is more than {most:?}"));
        }
        assert!(bus.stop());
    }
    assert!(above.is_empty(), "{above:#?}");
}

/// A message of about that many bytes.
fn orders(size: usize) -> String {
    let order =
        "<order><symbol>IBM</symbol><buyerID>asankha</buyerID><price>140.34</price><volume>2000</volume></order>";
    format!(
        r#"<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><m:buyStocks xmlns:m="http://services.samples/xsd">{}</m:buyStocks></e:Body></e:Envelope>"#,
        order.repeat(size / order.len())
    )
}

/// What each request takes of those that one client sends one after the other.
fn taken(bus: SocketAddr, body: &[u8]) -> Taken {
    let mut client = TcpStream::connect(bus).unwrap();
    client.set_read_timeout(Some(DEADLINE)).unwrap();
    client.set_nodelay(true).unwrap();
    let head = format!(
        "POST /services/P HTTP/1.1\r\nHost: bus\r\nContent-Type: text/xml; charset=UTF-8\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let request = [head.as_bytes(), body].concat();
    let mut room = vec![0; ROOM_BYTES];
    let mut exchange = || {
        client.write_all(&request).unwrap();
        let length = read_message(&mut client, &mut room).unwrap();
        assert!(room.starts_with(b"HTTP/1.1 200 ") && room[..length].ends_with(body), "not the answer of the backend");
    };
    (0..WARM_UP).for_each(|_| exchange());
    let portions = (0..PORTIONS).map(|_| {
        let region = Region::new(ALLOCATOR);
        (0..COUNTED).for_each(|_| exchange());
        let change = region.change();
        let blocks = (change.allocations + change.reallocations) as f64;
        Taken { blocks: blocks / f64::from(COUNTED), bytes: change.bytes_allocated as f64 / f64::from(COUNTED) }
    });
    portions.min_by(|one, other| one.bytes.total_cmp(&other.bytes)).unwrap()
}

/// A backend that answers each request with its own body, one connection after the other; it ends with the process.
fn echo() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let mut room = vec![0; ROOM_BYTES];
        let mut head = Vec::with_capacity(200);
        while let Ok((mut stream, _)) = listener.accept() {
            stream.set_nodelay(true).unwrap();
            while let Some(length) = read_message(&mut stream, &mut room) {
                let body = &room[head_length(&room[..length]).unwrap()..length];
                head.clear();
                write!(head, "HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: {}\r\n\r\n", body.len())
                    .unwrap();
                stream.write_all(&head).unwrap();
                stream.write_all(body).unwrap();
            }
        }
    });
    address
}

/// Reads a message with a `Content-Length`; gives its length with its head, and `None` at the end of the stream.
fn read_message(stream: &mut TcpStream, room: &mut [u8]) -> Option<usize> {
    let mut filled = 0;
    loop {
        match stream.read(&mut room[filled..]).unwrap() {
            0 => return None,
            length => filled += length,
        }
        if let Some(head) = head_length(&room[..filled]) {
            let name = b"Content-Length: ";
            let start = room[..head].windows(name.len()).position(|text| text == name).unwrap() + name.len();
            let digits = room[start..].iter().take_while(|byte| byte.is_ascii_digit());
            let length = digits.fold(0, |number, digit| number * 10 + usize::from(digit - b'0'));
            if filled == head + length {
                return Some(filled);
            }
        }
    }
}

/// The length of a head, once it is whole.
fn head_length(bytes: &[u8]) -> Option<usize> {
    let end = b"\r\n\r\n";
    Some(bytes.windows(end.len()).position(|text| text == end)? + end.len())
}
