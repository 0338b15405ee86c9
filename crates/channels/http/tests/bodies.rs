//! Bodies that come from elsewhere than a connection: they stream to clients and to backends, and take little memory.
//!
//! In a binary of its own: the counting allocator is for the whole program.

#![allow(clippy::unwrap_used, reason = "what fails in a test fails the test")]

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use allocation_counter::measure;
use http::StatusCode;
use myelin_channel::{LocalFuture, Sender, Sent};
use myelin_http::{
    Client, ClientOptions, ConnectionCount, Expect, Listener, Pace, ServerOptions, Service, Stop, Trust, bind,
    kept_bytes, serve,
};
use myelin_message::{
    Address, Arrival, Body, BodyError, Head, Manner, Message, Method, Outgoing, SendError, SendErrorKind, Source, Wire,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const MEGABYTE: u64 = 1_000_000;
/// More than any of the pieces below, and far less than a body.
const LITTLE_BYTES: u64 = 3 * MEGABYTE;

/// What a scripted source does.
#[derive(Clone, Copy)]
struct Plan {
    bytes: u64,
    piece_bytes: u64,
    /// Whether it says how long it is, and what it says.
    length: Option<u64>,
    /// After so many bytes it lets others wait for a moment.
    rests_every: u64,
    /// Where it breaks off.
    fails_at: Option<u64>,
    /// Where it gives nothing any more.
    stalls_at: Option<u64>,
}

impl Plan {
    fn of(bytes: u64) -> Plan {
        let piece_bytes = 60_000;
        Plan { bytes, piece_bytes, length: None, rests_every: u64::MAX, fails_at: None, stalls_at: None }
    }

    fn with_length(self) -> Plan {
        Plan { length: Some(self.bytes), ..self }
    }
}

/// A body by script, of numbers that count to 250 again and again.
struct Script {
    plan: Plan,
    given: Rc<Cell<u64>>,
    rest: RefCell<Option<Pin<Box<tokio::time::Sleep>>>>,
    rested_at: Cell<u64>,
}

/// So many bytes of any such body from a position on, in pieces.
fn numbers(position: u64, bytes: u64) -> impl Iterator<Item = &'static [u8]> {
    static NUMBERS: [u8; 251 * 256] = {
        let mut numbers = [0; 251 * 256];
        let mut at = 0;
        while at < numbers.len() {
            numbers[at] = (at % 251) as u8;
            at += 1;
        }
        numbers
    };
    let (mut position, mut left) = (position, bytes as usize);
    std::iter::from_fn(move || {
        let piece = &NUMBERS[(position % 251) as usize..];
        let piece = &piece[..piece.len().min(left)];
        position += piece.len() as u64;
        left -= piece.len();
        (!piece.is_empty()).then_some(piece)
    })
}

/// Checks bytes that begin at a position; gives where they end.
fn check(position: u64, mut bytes: &[u8]) -> u64 {
    let end = position + bytes.len() as u64;
    for expected in numbers(position, bytes.len() as u64) {
        let (found, rest) = bytes.split_at(expected.len());
        assert!(found == expected, "between {position} and {end}");
        bytes = rest;
    }
    end
}

impl Script {
    /// The body, and how much of it was given.
    fn body(plan: Plan) -> (Body, Rc<Cell<u64>>) {
        let given = Rc::new(Cell::new(0));
        let (rest, rested_at) = (RefCell::default(), Cell::new(0));
        let source = Rc::new(Script { plan, given: Rc::clone(&given), rest, rested_at });
        (Body::Wire(Wire { source, ticket: 7 }), given)
    }
}

impl Source for Script {
    fn remaining(&self, ticket: u64) -> Option<u64> {
        assert_eq!(ticket, 7);
        self.plan.length
    }

    fn poll_piece(&self, ticket: u64, cx: &mut Context<'_>, into: &mut Vec<u8>) -> Poll<Result<bool, BodyError>> {
        assert_eq!(ticket, 7);
        let Plan { bytes, piece_bytes, rests_every, fails_at, stalls_at, .. } = self.plan;
        let given = self.given.get();
        if fails_at.is_some_and(|at| given >= at) {
            return Poll::Ready(Err(BodyError::Incomplete));
        }
        if stalls_at.is_some_and(|at| given >= at) {
            return Poll::Pending;
        }
        if given - self.rested_at.get() >= rests_every {
            self.rested_at.set(given);
            self.rest.replace(Some(Box::pin(tokio::time::sleep(Duration::from_millis(1)))));
        }
        if let Some(rest) = &mut *self.rest.borrow_mut() {
            std::task::ready!(rest.as_mut().poll(cx));
        }
        self.rest.replace(None);
        let end = (given + piece_bytes).min(bytes);
        numbers(given, end - given).for_each(|piece| into.extend_from_slice(piece));
        self.given.set(end);
        Poll::Ready(Ok(end < bytes))
    }

    fn poll_look(
        &self,
        _: u64,
        _: &mut Context<'_>,
        _: u64,
        _: &mut dyn FnMut(&[u8], bool) -> bool,
    ) -> Poll<Result<(), BodyError>> {
        unreachable!("nobody looks into it")
    }

    fn as_any(self: Rc<Self>) -> Rc<dyn Any> {
        self
    }
}

/// Answers each request with what it is given for it.
struct Answers(Box<dyn Fn(&Message) -> Body>);

impl Service for Answers {
    fn serve<'a>(&'a self, request: Message, _: Arrival<'a>) -> LocalFuture<'a, Message> {
        let body = (self.0)(&request);
        Box::pin(std::future::ready(Message::answer(StatusCode::OK, body)))
    }
}

fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, test)
}

/// Never answers, and never reads a body.
struct Waits;

impl Service for Waits {
    fn serve<'a>(&'a self, request: Message, _: Arrival<'a>) -> LocalFuture<'a, Message> {
        Box::pin(async move {
            let _kept = request;
            std::future::pending().await
        })
    }
}

/// Never answers, and says whether the sender of the last request has closed its side.
#[derive(Default)]
struct Watches {
    has_closed: Cell<Option<bool>>,
}

impl Service for Watches {
    fn serve<'a>(&'a self, request: Message, _: Arrival<'a>) -> LocalFuture<'a, Message> {
        Box::pin(async move {
            loop {
                self.has_closed.set(Some(request.body.sender_has_closed()));
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
    }
}

/// Serves answers on this thread; gives the address.
fn listen(options: ServerOptions, answer: impl Fn(&Message) -> Body + 'static) -> SocketAddr {
    listen_for(options, Rc::new(Answers(Box::new(answer))))
}

fn listen_for(options: ServerOptions, service: Rc<dyn Service>) -> SocketAddr {
    let socket = bind(([127, 0, 0, 1], 0).into()).unwrap();
    let address = socket.local_addr().unwrap();
    let listener = Listener { socket, tls: None, inbound: None };
    let (commands, received) = tokio::sync::mpsc::unbounded_channel();
    tokio::task::spawn_local(async move {
        let _commands = commands;
        serve(vec![listener], service, options, ConnectionCount::default(), Stop::default(), received).await
    });
    address
}

/// Asks by a raw request.
async fn ask(address: SocketAddr, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

/// A message as it comes by a socket: its head, then its body piece by piece.
struct Reading {
    stream: TcpStream,
    kept: Vec<u8>,
}

impl Reading {
    async fn head(mut stream: TcpStream) -> (String, Reading) {
        let mut kept = Vec::new();
        loop {
            if let Some(end) = kept.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                let body = kept.split_off(end + 4);
                return (String::from_utf8(kept).unwrap(), Reading { stream, kept: body });
            }
            assert!(stream.read_buf(&mut kept).await.unwrap() > 0, "the head broke off");
        }
    }

    /// Checks the bytes to the end of the stream, or to so many of them; gives how many there were.
    async fn plain(&mut self, most: u64) -> u64 {
        let mut position = 0;
        loop {
            position = check(position, &self.kept);
            self.kept.clear();
            if position >= most || !matches!(self.stream.read_buf(&mut self.kept).await, Ok(1..)) {
                return position;
            }
        }
    }

    /// The same of chunks; says whether the last one came.
    async fn chunks(&mut self) -> (u64, bool) {
        let mut position = 0;
        loop {
            while let Some(end) = self.kept.windows(2).position(|bytes| bytes == b"\r\n") {
                let size = std::str::from_utf8(&self.kept[..end]).unwrap();
                let size = usize::from_str_radix(size, 16).unwrap();
                if self.kept.len() < end + 2 + size + 2 {
                    break;
                }
                position = check(position, &self.kept[end + 2..end + 2 + size]);
                assert_eq!(&self.kept[end + 2 + size..end + 4 + size], b"\r\n");
                self.kept.drain(..end + 4 + size);
                if size == 0 {
                    assert!(self.kept.is_empty());
                    return (position, true);
                }
            }
            if !matches!(self.stream.read_buf(&mut self.kept).await, Ok(1..)) {
                return (position, false);
            }
        }
    }
}

#[test]
fn what_came_of_the_body_of_a_request_that_waits_is_kept_in_its_own_size_and_counted() {
    run(async {
        let address = listen_for(ServerOptions::default(), Rc::new(Waits));
        let request = format!("POST / HTTP/1.1\r\nHost: bus\r\nContent-Length: 2000\r\n\r\n{}", "x".repeat(1000));
        let mut waiting = Vec::new();
        for _ in 0..20 {
            waiting.push(ask(address, &request).await);
        }
        let counted = async {
            while kept_bytes() != 20_000 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let counted = tokio::time::timeout(Duration::from_secs(20), counted).await;
        assert!(counted.is_ok(), "{} bytes are counted", kept_bytes());
    });
}

const GET: &str = "GET / HTTP/1.1\r\nHost: bus\r\n\r\n";

#[test]
fn a_large_body_streams_to_a_client_and_takes_little_memory() {
    let slow = Plan { rests_every: 2 * MEGABYTE, ..Plan::of(100 * MEGABYTE) };
    for plan in [slow, slow.with_length(), Plan { piece_bytes: 300_000, ..slow }] {
        let used = measure(|| {
            run(async {
                let address = listen(ServerOptions::default(), move |_| Script::body(plan).0);
                let (head, mut body) = Reading::head(ask(address, GET).await).await;
                let head = head.to_ascii_lowercase();
                if plan.length.is_some() {
                    assert!(head.contains("content-length: 100000000\r\n"), "{head}");
                    assert_eq!(body.plain(100 * MEGABYTE).await, 100 * MEGABYTE);
                } else {
                    assert!(head.contains("transfer-encoding: chunked\r\n"), "{head}");
                    assert_eq!(body.chunks().await, (100 * MEGABYTE, true));
                }
            });
        });
        assert!(used.bytes_max < LITTLE_BYTES, "{} bytes", used.bytes_max);
    }
}

#[test]
fn the_connection_goes_on_behind_a_body_from_elsewhere() {
    for plan in [Plan::of(200_000), Plan::of(200_000).with_length(), Plan::of(0), Plan::of(0).with_length()] {
        run(async {
            let address = listen(ServerOptions::default(), move |_| Script::body(plan).0);
            let mut stream = TcpStream::connect(address).await.unwrap();
            for _ in 0..3 {
                stream.write_all(GET.as_bytes()).await.unwrap();
                let (_, mut body) = Reading::head(stream).await;
                match plan.length {
                    Some(length) => assert_eq!(body.plain(length).await, length),
                    None => assert_eq!(body.chunks().await, (plan.bytes, true)),
                }
                stream = body.stream;
            }
        });
    }
}

#[test]
fn an_old_client_gets_the_plain_bytes_and_head_gets_none() {
    run(async {
        let address = listen(ServerOptions::default(), |_| Script::body(Plan::of(MEGABYTE)).0);
        let (head, mut body) = Reading::head(ask(address, "GET / HTTP/1.0\r\n\r\n").await).await;
        assert!(!head.to_ascii_lowercase().contains("transfer-encoding"), "{head}");
        assert_eq!(body.plain(u64::MAX).await, MEGABYTE);
        let asked = "HEAD / HTTP/1.1\r\nHost: bus\r\nConnection: close\r\n\r\n";
        let (head, mut body) = Reading::head(ask(address, asked).await).await;
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        assert_eq!(body.plain(u64::MAX).await, 0);
    });
}

#[test]
fn a_body_that_breaks_off_does_not_look_whole_to_a_client() {
    let broken = Plan { fails_at: Some(MEGABYTE / 2), ..Plan::of(MEGABYTE) };
    let short = Plan { length: Some(2 * MEGABYTE), ..Plan::of(MEGABYTE) };
    let long = Plan { length: Some(MEGABYTE / 2), ..Plan::of(MEGABYTE) };
    for plan in [broken, broken.with_length(), short, long] {
        run(async {
            let address = listen(ServerOptions::default(), move |_| Script::body(plan).0);
            let (head, mut body) = Reading::head(ask(address, GET).await).await;
            assert!(head.starts_with("HTTP/1.1 200"), "{head}");
            match plan.length {
                Some(length) => assert!(body.plain(u64::MAX).await < length),
                None => assert!(!body.chunks().await.1),
            }
        });
    }
    let at_once = Plan { fails_at: Some(0), ..broken };
    run(async {
        let address = listen(ServerOptions::default(), move |_| Script::body(at_once).0);
        let (head, _) = Reading::head(ask(address, GET).await).await;
        assert!(head.starts_with("HTTP/1.1 502"), "{head}");
    });
    // Only a reset tells a client that knows no chunks.
    run(async {
        let address = listen(ServerOptions::default(), move |_| Script::body(broken).0);
        let (_, mut body) = Reading::head(ask(address, "GET / HTTP/1.0\r\n\r\n").await).await;
        let mut rest = Vec::new();
        assert!(body.stream.read_to_end(&mut rest).await.is_err());
    });
}

#[test]
fn a_client_that_reads_nothing_stops_the_source_and_is_left_in_time() {
    let used = measure(|| {
        run(async {
            let given = Rc::new(RefCell::new(None));
            let kept = Rc::clone(&given);
            let options = ServerOptions { idle: Duration::from_millis(500), ..ServerOptions::default() };
            let address = listen(options, move |_| {
                let (body, given) = Script::body(Plan::of(1000 * MEGABYTE));
                kept.replace(Some(given));
                body
            });
            let _stream = ask(address, GET).await;
            // The source holds one end of the count, this test the other: the source is dropped when the client is left.
            loop {
                tokio::time::sleep(Duration::from_millis(20)).await;
                if given.borrow().as_ref().is_some_and(|given| Rc::strong_count(given) == 1) {
                    break;
                }
            }
            // What the sockets of this machine hold, at most.
            assert!(given.borrow().as_ref().unwrap().get() < 100 * MEGABYTE);
        });
    });
    assert!(used.bytes_max < LITTLE_BYTES, "{} bytes", used.bytes_max);
}

#[test]
fn a_source_that_stalls_is_left_in_time() {
    run(async {
        let options = ServerOptions { idle: Duration::from_millis(300), ..ServerOptions::default() };
        let stalls = Plan { stalls_at: Some(MEGABYTE / 2), ..Plan::of(MEGABYTE) };
        let address = listen(options, move |_| Script::body(stalls).0);
        let (_, mut body) = Reading::head(ask(address, GET).await).await;
        assert!(!body.chunks().await.1);
    });
}

#[test]
fn a_client_that_sends_before_it_reads_gets_its_answer() {
    run(async {
        let address = listen(ServerOptions::default(), |_| Script::body(Plan::of(20 * MEGABYTE)).0);
        let length = 20 * MEGABYTE;
        let mut stream =
            ask(address, &format!("POST / HTTP/1.1\r\nHost: bus\r\nContent-Length: {length}\r\n\r\n")).await;
        stream.write_all(&vec![b'x'; length as usize]).await.unwrap();
        let (_, mut body) = Reading::head(stream).await;
        assert_eq!(body.chunks().await, (length, true));
    });
}

/// A client with this deadline.
fn client(idle: Duration) -> Rc<Client> {
    // Who serves on a thread runs its clock.
    listen(ServerOptions::default(), |_| Body::Empty);
    let options = ClientOptions { idle, response_timeout: Duration::from_secs(60), ..ClientOptions::default() };
    Client::new(options, Expect::Relay, Pace::default(), Trust::default())
}

async fn send(client: &Client, backend: SocketAddr, body: Body) -> Result<Message, SendError> {
    let outgoing = Outgoing {
        method: Method::Named("PUT".to_owned()),
        address: Address::Uri(format!("http://{backend}/x").parse().unwrap()),
        head: Head::default(),
        body,
        timeout: None,
        host: None,
        manner: Manner::default(),
    };
    match client.send(outgoing).await? {
        Sent::Response(response) => Ok(response),
        Sent::Accepted => panic!("HTTP always gives a response"),
    }
}

async fn backend() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

#[test]
fn a_large_body_streams_to_a_backend_and_takes_little_memory() {
    let slow = Plan { rests_every: 2 * MEGABYTE, ..Plan::of(100 * MEGABYTE) };
    for plan in [slow, slow.with_length()] {
        let used = measure(|| {
            run(async {
                let (listener, address) = backend().await;
                let received = tokio::task::spawn_local(async move {
                    let (head, mut body) = Reading::head(listener.accept().await.unwrap().0).await;
                    let received = match plan.length {
                        Some(length) => body.plain(length).await,
                        None => body.chunks().await.0,
                    };
                    body.stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
                    (head, received)
                });
                let answer = send(&client(Duration::from_secs(60)), address, Script::body(plan).0).await.unwrap();
                assert_eq!(answer.status, StatusCode::NO_CONTENT);
                let (head, received) = received.await.unwrap();
                let expected =
                    if plan.length.is_some() { "content-length: 100000000\r\n" } else { "transfer-encoding: chunked" };
                assert!(head.to_ascii_lowercase().contains(expected), "{head}");
                assert_eq!(received, 100 * MEGABYTE);
            });
        });
        assert!(used.bytes_max < LITTLE_BYTES, "{} bytes", used.bytes_max);
    }
}

#[test]
fn a_backend_that_answers_as_it_reads_gets_all_of_the_body() {
    let used = measure(|| {
        run(async {
            let (listener, address) = backend().await;
            tokio::task::spawn_local(async move {
                let (_, mut body) = Reading::head(listener.accept().await.unwrap().0).await;
                let head = b"HTTP/1.1 200 OK\r\nContent-Length: 50000000\r\n\r\n";
                body.stream.write_all(head).await.unwrap();
                body.stream.write_all(&body.kept).await.unwrap();
                let (mut reads, mut writes) = body.stream.split();
                let _ = tokio::io::copy(&mut reads, &mut writes).await;
            });
            let (body, _) = Script::body(Plan::of(50 * MEGABYTE).with_length());
            let mut answer = send(&client(Duration::from_secs(60)), address, body).await.unwrap();
            let Body::Wire(wire) = answer.body.take() else { panic!("the body is on the wire") };
            let (mut position, mut piece) = (0, Vec::new());
            while poll_fn(|cx| wire.source.poll_piece(wire.ticket, cx, &mut piece)).await.unwrap() {
                position = check(position, &piece);
                piece.clear();
            }
            assert_eq!(position, 50 * MEGABYTE);
        });
    });
    assert!(used.bytes_max < LITTLE_BYTES, "{} bytes", used.bytes_max);
}

#[test]
fn a_body_that_breaks_off_does_not_look_whole_to_a_backend() {
    let broken = Plan { fails_at: Some(MEGABYTE / 2), ..Plan::of(MEGABYTE) };
    for plan in [broken, broken.with_length()] {
        run(async {
            let (listener, address) = backend().await;
            let received = tokio::task::spawn_local(async move {
                let (_, mut body) = Reading::head(listener.accept().await.unwrap().0).await;
                match plan.length {
                    Some(length) => body.plain(u64::MAX).await == length,
                    None => body.chunks().await.1,
                }
            });
            let error = send(&client(Duration::from_secs(60)), address, Script::body(plan).0).await.unwrap_err();
            assert_eq!(error.kind, SendErrorKind::Request(BodyError::Incomplete), "{error}");
            assert!(!received.await.unwrap());
        });
    }
}

#[test]
fn a_backend_that_reads_nothing_stops_the_source_and_is_left_in_time() {
    let used = measure(|| {
        run(async {
            let (listener, address) = backend().await;
            let accepted = tokio::task::spawn_local(async move {
                let stream = listener.accept().await.unwrap().0;
                tokio::time::sleep(Duration::from_secs(600)).await;
                drop(stream);
            });
            let (body, given) = Script::body(Plan::of(1000 * MEGABYTE));
            let error = send(&client(Duration::from_millis(500)), address, body).await.unwrap_err();
            assert_eq!(error.kind, SendErrorKind::ResponseTimeout, "{error}");
            assert!(given.get() < 100 * MEGABYTE);
            assert_eq!(Rc::strong_count(&given), 1, "the source is dropped");
            accepted.abort();
        });
    });
    assert!(used.bytes_max < LITTLE_BYTES, "{} bytes", used.bytes_max);
}

#[test]
fn a_source_that_stalls_ends_the_request_in_time() {
    run(async {
        let (listener, address) = backend().await;
        tokio::task::spawn_local(async move {
            let (_, mut body) = Reading::head(listener.accept().await.unwrap().0).await;
            body.chunks().await
        });
        let stalls = Plan { stalls_at: Some(MEGABYTE / 2), ..Plan::of(MEGABYTE) };
        let error = send(&client(Duration::from_millis(300)), address, Script::body(stalls).0).await.unwrap_err();
        assert_eq!(error.kind, SendErrorKind::Request(BodyError::TimedOut), "{error}");
    });
}

#[test]
fn a_small_body_is_sent_again_where_a_reused_connection_was_lost() {
    run(async {
        let (listener, address) = backend().await;
        tokio::task::spawn_local(async move {
            let answer = b"HTTP/1.1 204 No Content\r\n\r\n";
            let (_, mut body) = Reading::head(listener.accept().await.unwrap().0).await;
            body.stream.write_all(answer).await.unwrap();
            // The second request is lost with its connection.
            let _ = body.stream.read_u8().await;
            drop(body);
            let (_, mut body) = Reading::head(listener.accept().await.unwrap().0).await;
            assert_eq!(body.plain(100).await, 100);
            body.stream.write_all(answer).await.unwrap();
        });
        let client = client(Duration::from_secs(60));
        send(&client, address, Body::Empty).await.unwrap();
        let answer = send(&client, address, Script::body(Plan::of(100).with_length()).0).await.unwrap();
        assert_eq!(answer.status, StatusCode::NO_CONTENT);
    });
}

#[test]
fn whether_the_client_has_given_up_is_known_before_its_request_was_read() {
    run(async {
        for body in ["", "1234567", &"x".repeat(200_000)] {
            let service = Rc::<Watches>::default();
            let address = listen_for(ServerOptions::default(), Rc::clone(&service) as Rc<dyn Service>);
            let said = async |wanted: bool| {
                while service.has_closed.get() != Some(wanted) {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            };
            let request = format!("POST / HTTP/1.1\r\nHost: bus\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            let client = ask(address, &request).await;
            tokio::time::timeout(Duration::from_secs(20), said(false)).await.expect("a client that waits");
            drop(client);
            tokio::time::timeout(Duration::from_secs(20), said(true)).await.expect("a client that has gone");
        }
    });
}
