//! A healthy backend: it records each request and answers it as a function of the test says.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use socket2::SockRef;

use crate::wire::{Chunks, Framing, framing, head_end};

/// Nobody in a test takes longer to send the rest of a request.
const DEADLINE: Duration = Duration::from_secs(30);
const REQUEST_LIMIT_BYTES: usize = 64 * 1024 * 1024;

/// A request as it came.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// As in the request line.
    pub method: String,
    /// Path and query, or a whole URL, as in the request line.
    pub target: String,
    /// Names and values in order, names as they came.
    pub headers: Vec<(String, String)>,
    /// Without framing.
    pub body: Vec<u8>,
}

impl Request {
    /// The first value of a header, whatever the case of its name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

/// What a service answers.
#[derive(Clone, Debug, Default)]
pub struct Response {
    /// 200–599.
    pub status: u16,
    /// Lines of the head besides `Content-Length`.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// A running service; dropping it closes its port and all connections.
#[derive(Debug)]
pub struct Service {
    address: SocketAddr,
    listener: Arc<TcpListener>,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    stopped: AtomicBool,
    requests: Mutex<Vec<Request>>,
    /// Kept to be closed when the service stops.
    connections: Mutex<Vec<TcpStream>>,
}

impl Service {
    /// Starts a service on a free port of 127.0.0.1.
    ///
    /// Errors: when the port or the thread cannot be had; the machine's.
    pub fn start(answer: impl Fn(&Request) -> Response + Send + Sync + 'static) -> io::Result<Service> {
        Service::listen((Ipv4Addr::LOCALHOST, 0).into(), answer)
    }

    /// As [`Service::start`] at an address of choice.
    pub fn listen(
        address: SocketAddr,
        answer: impl Fn(&Request) -> Response + Send + Sync + 'static,
    ) -> io::Result<Service> {
        let listener = Arc::new(TcpListener::bind(address)?);
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        let thread = std::thread::Builder::new().name(format!("service-{}", address.port())).spawn({
            let (listener, shared) = (Arc::clone(&listener), Arc::clone(&shared));
            move || accept(&listener, &shared, &Arc::new(answer))
        })?;
        Ok(Service { address, listener, shared, thread: Some(thread) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// All requests so far, in the order in which they were complete.
    pub fn requests(&self) -> Vec<Request> {
        lock(&self.shared.requests).clone()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        // To close it is not enough: a process that another test starts at this moment holds it until it is replaced by
        // its program, and the port would go on to take connections. Fails where it has ended already.
        let _ = SockRef::from(&*self.listener).shutdown(Shutdown::Both);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        for connection in lock(&self.shared.connections).drain(..) {
            // Its peer may have closed it before.
            let _ = connection.shutdown(Shutdown::Both);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn accept<F>(listener: &TcpListener, shared: &Arc<Shared>, answer: &Arc<F>)
where
    F: Fn(&Request) -> Response + Send + Sync + 'static,
{
    for stream in listener.incoming() {
        if shared.stopped.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        let Ok(kept) = stream.try_clone() else { continue };
        lock(&shared.connections).push(kept);
        let (shared, answer) = (Arc::clone(shared), Arc::clone(answer));
        std::thread::spawn(move || {
            // What breaks a connection is the peer's affair; the test sees which requests came.
            let _ = serve(stream, &shared, &*answer);
        });
    }
}

fn serve(mut stream: TcpStream, shared: &Shared, answer: &dyn Fn(&Request) -> Response) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut ahead = Vec::new();
    while let Some(request) = read(&mut stream, &mut ahead)? {
        lock(&shared.requests).push(request.clone());
        let response = answer(&request);
        let mut bytes = format!("HTTP/1.1 {} \r\n", response.status).into_bytes();
        for (name, value) in &response.headers {
            bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
        bytes.extend_from_slice(format!("Content-Length: {}\r\n\r\n", response.body.len()).as_bytes());
        bytes.extend_from_slice(&response.body);
        stream.write_all(&bytes)?;
    }
    Ok(())
}

/// The next request of a connection; `None` where the peer closes before it begins.
fn read(stream: &mut TcpStream, ahead: &mut Vec<u8>) -> io::Result<Option<Request>> {
    stream.set_read_timeout(None)?;
    let end = loop {
        if let Some(end) = head_end(ahead) {
            break end;
        }
        if !fill(stream, ahead)? {
            return Ok(None);
        }
    };
    stream.set_read_timeout(Some(DEADLINE))?;
    let head: Vec<u8> = ahead.drain(..end).collect();
    let mut request = parse(&head);
    match framing(&head) {
        Framing::Unsaid => {}
        Framing::Length(length) => {
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            while ahead.len() < length {
                if !fill(stream, ahead)? {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            request.body = ahead.drain(..length).collect();
        }
        Framing::Chunked => {
            let mut chunks = Chunks::default();
            loop {
                let (taken, done) = chunks.take(ahead).map_err(io::Error::other)?;
                ahead.drain(..taken);
                if done {
                    break;
                }
                if chunks.decoded.len() > REQUEST_LIMIT_BYTES || !fill(stream, ahead)? {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            request.body = chunks.decoded;
        }
    }
    Ok(Some(request))
}

/// Reads on; false where the peer has closed.
fn fill(stream: &mut TcpStream, ahead: &mut Vec<u8>) -> io::Result<bool> {
    if ahead.len() > REQUEST_LIMIT_BYTES {
        return Err(io::Error::other("a request of a test is not that large"));
    }
    let mut buffer = [0; 16 * 1024];
    let count = stream.read(&mut buffer)?;
    ahead.extend_from_slice(&buffer[..count]);
    Ok(count > 0)
}

fn parse(head: &[u8]) -> Request {
    let head = String::from_utf8_lossy(head);
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ').map(str::to_owned);
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let headers = lines.filter_map(|line| line.split_once(':'));
    let headers = headers.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect();
    Request { method, target, headers, body: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw;

    #[test]
    fn requests_are_recorded_and_answered_on_one_connection() {
        let echo = |request: &Request| Response { status: 200, headers: Vec::new(), body: request.body.clone() };
        let service = Service::start(echo).unwrap();
        let mut client = raw::Client::connect(service.address()).unwrap();
        let plain = client.exchange(b"POST /a HTTP/1.1\r\nContent-Length: 3\r\nX: y\r\n\r\nabc").unwrap();
        assert_eq!((plain.status, plain.text()), (200, "abc".to_owned()));
        let chunked = b"POST /b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nde\r\n0\r\n\r\n";
        assert_eq!(client.exchange(chunked).unwrap().text(), "de");
        let requests = service.requests();
        assert_eq!(requests.len(), 2);
        assert_eq!((requests[0].target.as_str(), requests[0].header("x")), ("/a", Some("y")));
    }

    #[test]
    fn a_stopped_service_refuses_and_can_be_started_again_at_its_address() {
        let fine = |_: &Request| Response { status: 204, ..Response::default() };
        let service = Service::start(fine).unwrap();
        let address = service.address();
        let mut client = raw::Client::connect(address).unwrap();
        assert_eq!(client.exchange(b"GET / HTTP/1.1\r\n\r\n").unwrap().status, 204);
        drop(service);
        assert!(client.is_closed_within(DEADLINE));
        assert!(raw::Client::connect(address).is_err());
        let again = Service::listen(address, fine).unwrap();
        assert_eq!(raw::exchange(again.address(), b"GET / HTTP/1.1\r\n\r\n").unwrap().status, 204);
    }
}
