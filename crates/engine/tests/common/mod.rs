//! What scenarios stand on: a bus from text, a scripted way out, and messages that come from a pretended wire.
#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::ops::Range;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, SystemTime};

use myelin_engine::observer::Observer;
use myelin_engine::recorder::RecorderSource;
use myelin_engine::transport::{self, LocalFuture, Method, Outgoing, SendError, SendErrorKind, Sender, Transport};
use myelin_engine::{Arrival, Bus, Engine, Loaded, Problem, Report, Settings, load};
use myelin_message::{Body, CorrelationId, Head, HeaderId, Line, Message, Start, Version};
use myelin_testkit::clock::Clock;
use myelin_testkit::scripted::{Pieces, ScriptedBody, ScriptedTransport};

/// Loads artefacts that stand in `<definitions>`.
pub(crate) fn load_text(artefacts: &str) -> Loaded {
    load_with(artefacts, &Settings::default())
}

/// The same for a bus with settings of its own.
pub(crate) fn load_with(artefacts: &str, settings: &Settings) -> Loaded {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("synapse.xml");
    let text = format!("<definitions xmlns=\"http://ws.apache.org/ns/synapse\">{artefacts}</definitions>");
    std::fs::write(&path, text).unwrap();
    load(&[path], settings)
}

/// The report on artefacts that stand in `<definitions>`.
pub(crate) fn report(artefacts: &str) -> Report {
    load_text(artefacts).report
}

/// Asserts that an artefact cannot run, for a reason that says `part`.
pub(crate) fn refused(artefacts: &str, part: &str) {
    let report = report(artefacts);
    assert!(
        says(report.artefacts.iter().flat_map(|artefact| &artefact.problems), part),
        "{part:?}: {}",
        report.to_text()
    );
}

/// Asserts that all artefacts run, and that one will fail when it is reached, for a reason that says `part`.
pub(crate) fn fails_when_reached(artefacts: &str, part: &str) {
    let report = report(artefacts);
    assert_eq!(report.faulty(), 0, "{}", report.to_text());
    assert!(
        says(report.artefacts.iter().flat_map(|artefact| &artefact.latent), part),
        "{part:?}: {}",
        report.to_text()
    );
}

fn says<'a>(mut problems: impl Iterator<Item = &'a Problem>, part: &str) -> bool {
    problems.any(|problem| problem.to_string().contains(part))
}

/// What a scripted backend does.
pub(crate) type Answer = dyn Fn(usize, &Sent) -> Result<Message, SendErrorKind>;

/// What a scripted backend does, and when: nothing but that time passes until it does.
type Timed = dyn Fn(usize, &Sent) -> (Duration, Result<Message, SendErrorKind>);

/// A request that left mediation.
#[derive(Debug)]
pub(crate) struct Sent {
    pub(crate) method: String,
    pub(crate) uri: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
    /// Whether the body left unread.
    pub(crate) on_the_wire: bool,
    pub(crate) timeout: Option<Duration>,
    pub(crate) host: Option<String>,
}

impl Sent {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

/// The backend of a scenario.
struct Script {
    sent: RefCell<Vec<Sent>>,
    /// The clock of its transport.
    clock: Clock,
    answer: Box<Timed>,
}

impl Script {
    async fn reply(&self, mut request: Outgoing) -> Result<Message, SendError> {
        let on_the_wire = matches!(request.body, Body::Wire(_));
        let body = request.body.bytes(1 << 20).await.unwrap().to_vec();
        let sent = Sent {
            method: match &request.method {
                Method::AsCame => request.head.method().to_owned(),
                Method::Named(name) => name.clone(),
            },
            uri: request.address.to_string(),
            headers: headers(&request.head),
            body: String::from_utf8(body).unwrap(),
            on_the_wire,
            timeout: request.timeout,
            host: request.host,
        };
        let count = self.sent.borrow().len();
        let (time, answer) = (self.answer)(count, &sent);
        self.sent.borrow_mut().push(sent);
        if time > Duration::ZERO {
            self.clock.sleep(time).await;
        }
        answer.map_err(|kind| SendError { kind, message: "10.0.0.1:80 is scripted to fail".to_owned() })
    }
}

impl Sender for Script {
    fn send<'a>(&'a self, outgoing: Outgoing) -> LocalFuture<'a, Result<transport::Sent, SendError>> {
        Box::pin(async move { self.reply(outgoing).await.map(transport::Sent::Response) })
    }
}

/// When scenarios begin.
fn start() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(1_795_235_677_176)
}

/// A bus with a scripted backend.
pub(crate) struct Scenario {
    transport: Rc<ScriptedTransport<Script>>,
    engine: Rc<Engine>,
}

impl Scenario {
    /// Loads artefacts, all of which must be sound; the backend answers `200` with `backend says <body>`.
    pub(crate) fn new(artefacts: &str) -> Scenario {
        Scenario::with(artefacts, |_, sent| {
            let mut message = response(200, &[("Content-Type", "text/plain"), ("X-Back", "yes")], "");
            message.body = wire(&format!("backend says {}", sent.body));
            Ok(message)
        })
    }

    pub(crate) fn with(
        artefacts: &str,
        answer: impl Fn(usize, &Sent) -> Result<Message, SendErrorKind> + 'static,
    ) -> Scenario {
        let loaded = load_text(artefacts);
        assert_eq!(loaded.report.faulty(), 0, "{}", loaded.report.to_text());
        Scenario::of(loaded, answer)
    }

    pub(crate) fn of(
        loaded: Loaded,
        answer: impl Fn(usize, &Sent) -> Result<Message, SendErrorKind> + 'static,
    ) -> Scenario {
        Scenario::by(loaded, Box::new(move |count, sent| (Duration::ZERO, answer(count, sent))))
    }

    /// With a backend that takes its time.
    pub(crate) fn timed(
        artefacts: &str,
        answer: impl Fn(&Sent) -> (Duration, Result<Message, SendErrorKind>) + 'static,
    ) -> Scenario {
        let loaded = load_text(artefacts);
        assert_eq!(loaded.report.faulty(), 0, "{}", loaded.report.to_text());
        Scenario::timed_of(loaded, answer)
    }

    pub(crate) fn timed_of(
        loaded: Loaded,
        answer: impl Fn(&Sent) -> (Duration, Result<Message, SendErrorKind>) + 'static,
    ) -> Scenario {
        Scenario::by(loaded, Box::new(move |_, sent| answer(sent)))
    }

    fn by(loaded: Loaded, answer: Box<Timed>) -> Scenario {
        let clock = Clock::default();
        let script = Script { sent: RefCell::default(), clock: clock.clone(), answer };
        let transport = Rc::new(ScriptedTransport::with_clock(script, start(), clock));
        let engine = Engine::new(Arc::new(loaded.bus), Rc::clone(&transport) as Rc<dyn Transport>);
        Scenario { engine: Rc::new(engine), transport }
    }

    pub(crate) fn failing(artefacts: &str, kind: SendErrorKind) -> Scenario {
        Scenario::with(artefacts, move |_, _| Err(kind))
    }

    /// How often something was done on another thread.
    pub(crate) fn worked(&self) -> usize {
        self.transport.worked()
    }

    /// The same, with somebody who hears of what happens.
    pub(crate) fn recorded_by<const N: usize>(self, sources: [Rc<dyn RecorderSource>; N]) -> Scenario {
        Scenario { engine: Rc::new(self.engine.recorded_by(sources.into())), ..self }
    }

    pub(crate) fn observed_by(self, observer: Rc<dyn Observer>) -> Scenario {
        Scenario { engine: Rc::new(self.engine.observed_by(observer)), ..self }
    }

    /// The bus that serves.
    pub(crate) fn bus(&self) -> &Bus {
        self.engine.bus()
    }

    /// Serves a request and reads the answer to its end.
    pub(crate) fn serve(&self, request: Message) -> Reply {
        self.serve_over(request, false)
    }

    pub(crate) fn serve_over(&self, request: Message, secure: bool) -> Reply {
        let served = self.transport.clock.run(self.reply(request, secure));
        served.expect("every request has an answer")
    }

    /// Serves requests beside each other; the answers in the order of the requests.
    pub(crate) fn serve_together(&self, requests: Vec<Message>) -> Vec<Reply> {
        let mut waiting: Vec<_> = requests.into_iter().map(|request| Box::pin(self.reply(request, false))).collect();
        let mut replies: Vec<Option<Reply>> = waiting.iter().map(|_| None).collect();
        let all = poll_fn(|cx| {
            for (reply, future) in replies.iter_mut().zip(&mut waiting).filter(|(reply, _)| reply.is_none()) {
                if let Poll::Ready(ready) = future.as_mut().poll(cx) {
                    *reply = Some(ready);
                }
            }
            if replies.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
        });
        self.transport.clock.run(all).expect("every request has an answer");
        replies.into_iter().flatten().collect()
    }

    /// Serves a request, and beside it the one that `other` makes once something has left; both answers, in this order.
    pub(crate) fn serve_while(&self, request: Message, other: impl Fn(&Sent) -> Option<Message>) -> Vec<Reply> {
        let mut first = Box::pin(self.reply(request, false));
        let mut replies = [None, None];
        let mut second = None;
        let both = poll_fn(|cx| {
            if replies[0].is_none()
                && let Poll::Ready(reply) = first.as_mut().poll(cx)
            {
                replies[0] = Some(reply);
            }
            if second.is_none() && replies[1].is_none() && !self.sent().is_empty() {
                second = Some(other(&self.sent()[0]).map(|request| Box::pin(self.reply(request, false))));
            }
            if let Some(Some(future)) = &mut second
                && replies[1].is_none()
                && let Poll::Ready(reply) = future.as_mut().poll(cx)
            {
                replies[1] = Some(reply);
            }
            let is_over = matches!(second, Some(None)) || replies[1].is_some();
            if replies[0].is_some() && is_over { Poll::Ready(()) } else { Poll::Pending }
        });
        self.transport.clock.run(both).expect("every request has an answer");
        replies.into_iter().flatten().collect()
    }

    /// Serves a request that came to the port of an inbound endpoint.
    pub(crate) fn serve_at(&self, port: u16, request: Message) -> Reply {
        let name = self.engine.bus().ports().get(&port).map_or("closed", |port| port.name);
        let served = self.transport.clock.run(self.reply_at(Some(name), request, false));
        served.expect("every request has an answer")
    }

    async fn reply(&self, request: Message, secure: bool) -> Reply {
        self.reply_at(None, request, secure).await
    }

    async fn reply_at(&self, inbound: Option<&str>, request: Message, secure: bool) -> Reply {
        let arrival = Arrival {
            transport: if secure { "https" } else { "http" },
            peer: Some("192.0.2.7:4711".parse().unwrap()),
            local: Some("192.0.2.1:8280".parse().unwrap()),
            inbound,
            correlation: &const { CorrelationId::fixed("c-1") },
        };
        let mut answer = self.engine.serve(request, arrival).await;
        let on_the_wire = matches!(answer.body, Body::Wire(_));
        Reply {
            status: answer.status.as_u16(),
            reason: answer.reason.clone(),
            headers: headers(&answer.head),
            on_the_wire,
            body: String::from_utf8(answer.body.bytes(1 << 20).await.unwrap().to_vec()).unwrap(),
        }
    }

    /// Sends a request and goes away after that time, before there is an answer.
    pub(crate) fn leave(&self, request: Message, after: Duration) {
        let clock = self.clock();
        let left = clock.run(async {
            let mut reply = pin!(self.reply(request, false));
            let mut leaves = clock.sleep(after);
            poll_fn(|context| match reply.as_mut().poll(context) {
                Poll::Ready(_) => panic!("there was an answer"),
                Poll::Pending => leaves.as_mut().poll(context),
            })
            .await;
        });
        left.expect("time passes");
    }

    /// Runs the tasks of the bus from now on.
    pub(crate) fn begin_tasks(&self) {
        for receiving in self.bus().receivings() {
            self.clock().spawn(Box::pin(myelin_engine::receive(Arc::clone(receiving), Rc::clone(&self.engine))));
        }
    }

    /// Lets the monitors of the bus check as time passes, for as long as they are in what is returned.
    pub(crate) fn begin_monitoring(&self) -> Rc<RefCell<Vec<LocalFuture<'static, ()>>>> {
        let monitors: Rc<RefCell<Vec<LocalFuture<'static, ()>>>> = Rc::default();
        for monitor in self.bus().monitors().unwrap() {
            monitors.borrow_mut().push(Box::pin(monitor.run(self.transport.clone())));
        }
        let running = Rc::clone(&monitors);
        self.clock().spawn(Box::pin(poll_fn(move |context| {
            for monitor in running.borrow_mut().iter_mut() {
                assert!(monitor.as_mut().poll(context).is_pending(), "a monitor never ends by itself");
            }
            Poll::Pending
        })));
        // They begin a random number of milliseconds later: none of their checks is to fall on a full second, where a
        // test looks.
        self.clock().run(self.clock().sleep(Duration::from_micros(500))).expect("time passes");
        monitors
    }

    /// How many requests and how many branches are under way.
    pub(crate) fn under_way(&self) -> (usize, usize) {
        let counts = self.engine.counts();
        (counts.exchanges.get(), counts.branches.get())
    }

    /// The clock that everything in this scenario goes by.
    pub(crate) fn clock(&self) -> &Clock {
        &self.transport.clock
    }

    pub(crate) fn sent(&self) -> std::cell::Ref<'_, Vec<Sent>> {
        self.transport.backend.sent.borrow()
    }

    /// The request that left first.
    pub(crate) fn into_sent(self) -> Sent {
        self.into_all_sent().remove(0)
    }

    /// All requests that left, the first one first.
    pub(crate) fn into_all_sent(self) -> Vec<Sent> {
        self.transport.backend.sent.take()
    }
}

/// What a client gets.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) reason: Option<String>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
    /// Whether the body was relayed unread.
    pub(crate) on_the_wire: bool,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

fn headers(head: &Head) -> Vec<(String, String)> {
    head.iter().map(|(name, value)| (name.to_owned(), String::from_utf8_lossy(value).into_owned())).collect()
}

/// A POST of XML.
pub(crate) fn post(target: &str, headers: &[(&str, &str)], body: &str) -> Message {
    let mut all = vec![("Host", "bus"), ("Content-Type", "text/xml")];
    all.extend(headers);
    request("POST", target, &all, body)
}

/// A GET without a body.
pub(crate) fn get(target: &str) -> Message {
    let mut message = request("GET", target, &[("Host", "bus")], "");
    message.body = Body::Empty;
    message
}

/// A request whose body is on the wire.
pub(crate) fn request(method: &str, target: &str, headers: &[(&str, &str)], body: &str) -> Message {
    let mut bytes = format!("{method} {target} HTTP/1.1\r\n").into_bytes();
    let start = Start::Request {
        method: range(0, method.len()),
        target: range(method.len() + 1, target.len()),
        version: Version::Http11,
    };
    let lines = lines(&mut bytes, headers);
    Message::new(Head::from_wire(bytes, start, lines), wire(body))
}

/// A response whose body is on the wire.
pub(crate) fn response(status: u16, headers: &[(&str, &str)], body: &str) -> Message {
    let mut bytes = format!("HTTP/1.1 {status} \r\n").into_bytes();
    let start = Start::Response { status: status.try_into().unwrap(), reason: 0..0, version: Version::Http11 };
    let lines = lines(&mut bytes, headers);
    Message::new(Head::from_wire(bytes, start, lines), wire(body))
}

fn range(start: usize, length: usize) -> Range<u32> {
    start as u32..(start + length) as u32
}

fn lines(bytes: &mut Vec<u8>, headers: &[(&str, &str)]) -> Vec<Line> {
    let mut lines = Vec::new();
    for (name, value) in headers {
        let start = bytes.len() as u32;
        bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        let name_end = start + name.len() as u32;
        lines.push(Line {
            id: HeaderId::of(name.as_bytes()),
            start,
            name_end,
            value_start: name_end + 2,
            value_end: name_end + 2 + value.len() as u32,
            end: bytes.len() as u32,
        });
    }
    lines
}

/// A body that arrives in two pieces, with a pause before each.
pub(crate) fn wire(body: &str) -> Body {
    ScriptedBody::wire(body.into(), Pieces::Halting)
}
