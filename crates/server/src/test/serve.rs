//! Serves unit tests over the protocol of WSO2's test server: a client connects, sends a test that holds its files as a
//! Java string, gets the result in JSON as another, and the connection ends.
//!
//! Source: `org.apache.synapse.unittest.TCPServer` of WSO2's Synapse.

use std::convert::Infallible;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use anyhow::Context;
use myelin_testkit::unit_test::{Case, Suite, run_message};
use serde_json::Value;

use super::java_string;
use super::result::{refusal, result};

/// A test with its connectors; no archive of connectors has more.
const TEST_BYTES: u64 = 64 << 20;

/// How many tests may be run at once.
const TESTS: usize = 8;

/// How long tests may take.
struct Deadlines {
    /// Until the whole test is there, and until the whole result is taken.
    transfer: Duration,
    /// Until it has been run.
    run: Duration,
}

const DEADLINES: Deadlines = Deadlines { transfer: Duration::from_secs(60), run: Duration::from_secs(120) };

/// How long a client may take to close its side once it has its result.
const LINGER: Duration = Duration::from_secs(2);

/// Serves unit tests until the process ends.
///
/// Errors: the address cannot be had, or the listener fails.
pub(super) fn serve(address: SocketAddr, out: &mut dyn Write) -> anyhow::Result<Infallible> {
    let begun = Instant::now();
    let listener = TcpListener::bind(address).with_context(|| format!("--listen {address}"))?;
    writeln!(out, "myelin serves unit tests on {}", listener.local_addr()?)?;
    // Maven plugins and the extension for VS Code read the output of a server until they find these words.
    let took = begun.elapsed().as_secs_f64();
    writeln!(out, "For WSO2's tools, which wait for these words: WSO2 Micro Integrator started in {took:.3} seconds")?;
    out.flush()?;
    let under_way = Arc::new(AtomicUsize::new(0));
    loop {
        let (client, _) = match listener.accept() {
            Ok(accepted) => accepted,
            // Whoever has gone again before it was accepted is no failure of the listener.
            Err(error) if error.kind() == ErrorKind::ConnectionAborted => continue,
            Err(error) => return Err(error).context("waiting for clients"),
        };
        let permit = Permit::take(&under_way);
        let threads = std::thread::Builder::new().name("unit-test-client".to_owned());
        threads.spawn(move || tell(&converse(&client, permit, &DEADLINES)))?;
    }
}

/// A place among the tests that are run at once; given back when dropped.
struct Permit(Arc<AtomicUsize>);

impl Permit {
    /// `None` where all are taken.
    fn take(under_way: &Arc<AtomicUsize>) -> Option<Permit> {
        let more = |count: usize| (count < TESTS).then_some(count + 1);
        under_way.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        Some(Permit(Arc::clone(under_way)))
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What one client is told of.
enum Conversation {
    /// It got the result of this.
    Ran(Suite),
    /// Its test could not be run, or it could not be told.
    Failed(String),
}

fn tell(conversation: &Conversation) {
    let text = match conversation {
        Conversation::Ran(Suite { cases, error: None, .. }) => {
            let passed = cases.iter().filter(|case| case.failures.is_empty()).count();
            format!("unit test: {passed} of {} passed\n{}", cases.len(), cases.iter().map(failures).collect::<String>())
        }
        Conversation::Ran(Suite { error: Some(error), .. }) => format!("unit test: it cannot run: {error}\n"),
        Conversation::Failed(reason) => format!("unit test: {reason}\n"),
    };
    // Standard output may be closed; the client has got its result.
    let _ = io::stdout().write_all(text.as_bytes());
}

fn failures(case: &Case) -> String {
    let lines = case.failures.iter().map(|failure| format!("    {}\n", failure.text.replace('\n', "\n    ")));
    let lines: String = lines.collect();
    if lines.is_empty() { lines } else { format!("FAILED  {}\n{lines}", case.name) }
}

/// Takes a test and answers with its result.
fn converse(client: &TcpStream, permit: Option<Permit>, deadlines: &Deadlines) -> Conversation {
    let (answer, conversation) = match taken(client, permit, deadlines) {
        Ok(suite) => (result(&suite), Conversation::Ran(suite)),
        Err(reason) => (refusal(&reason), Conversation::Failed(reason)),
    };
    match sent(client, &answer, deadlines) {
        Ok(()) => conversation,
        Err(error) => Conversation::Failed(format!("the client did not take its result: {error}")),
    }
}

/// Errors: a sentence for the client.
fn taken(client: &TcpStream, permit: Option<Permit>, deadlines: &Deadlines) -> Result<Suite, String> {
    let permit = permit.ok_or_else(|| format!("{TESTS} unit tests are run at once; try again when one has ended"))?;
    let mut from = Until { stream: client, end: Instant::now() + deadlines.transfer };
    let text = java_string::read(&mut from, TEST_BYTES).map_err(|error| match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => {
            format!("the unit test did not come within {:?}", deadlines.transfer)
        }
        _ => format!("the unit test cannot be read: {error}"),
    })?;
    let (tell, told) = mpsc::sync_channel(1);
    let threads = std::thread::Builder::new().name("unit-test".to_owned());
    let started = threads.spawn(move || {
        // Held until the test ends, however long somebody waits for it.
        let _permit = permit;
        let suite = run_message("unit test", text.as_bytes());
        // Whoever does not wait any more has told its client why.
        drop(tell.send(suite));
    });
    started.map_err(|error| format!("there is no thread for the unit test: {error}"))?;
    told.recv_timeout(deadlines.run).map_err(|error| match error {
        mpsc::RecvTimeoutError::Timeout => {
            format!("the unit test did not end within {:?}", deadlines.run)
        }
        mpsc::RecvTimeoutError::Disconnected => "the unit test stopped by a defect of Myelin".to_owned(),
    })
}

fn sent(client: &TcpStream, answer: &Value, deadlines: &Deadlines) -> io::Result<()> {
    let mut to = Until { stream: client, end: Instant::now() + deadlines.transfer };
    to.write_all(&java_string::written(&answer.to_string()))?;
    client.shutdown(Shutdown::Write)?;
    // A connection that is closed before the client has sent everything is reset, and then the client may lose its answer.
    let rest = Until { stream: client, end: Instant::now() + LINGER };
    let _ = io::copy(&mut rest.take(TEST_BYTES), &mut io::sink());
    Ok(())
}

/// A connection whose reads and writes all end by one time.
struct Until<'a> {
    stream: &'a TcpStream,
    end: Instant,
}

impl Until<'_> {
    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
    }
}

impl Read for Until<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(buffer)
    }
}

impl Write for Until<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use myelin_testkit::eventually;

    use super::*;

    fn answered(permit: Option<Permit>, send: &[u8]) -> Value {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let deadlines = Deadlines { transfer: Duration::from_millis(300), run: Duration::from_secs(60) };
        let server = std::thread::spawn(move || converse(&listener.accept().unwrap().0, permit, &deadlines));
        let mut client = TcpStream::connect(address).unwrap();
        client.write_all(send).unwrap();
        client.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let answer = java_string::read(&mut client, TEST_BYTES).unwrap();
        drop(client);
        drop(server.join().unwrap());
        serde_json::from_str(&answer).unwrap()
    }

    fn reason(answer: &Value) -> &str {
        assert_eq!(answer["deploymentStatus"], "SKIPPED", "{answer:#}");
        answer["deploymentException"].as_str().unwrap()
    }

    #[test]
    fn a_client_that_sends_something_else_or_nothing_is_told_so_in_the_form_it_reads() {
        let under_way = Arc::new(AtomicUsize::new(0));
        let permit = || Permit::take(&under_way);
        assert!(reason(&answered(permit(), b"GET / HTTP/1.1\r\n\r\n")).contains("no stream of Java objects"));
        let slow = answered(permit(), b"\xac\xed\0\x05t\0\x10<unit-");
        assert!(reason(&slow).contains("did not come within 300ms"), "{slow:#}");
        let other = answered(permit(), &java_string::written("<beans/>"));
        assert!(other["deploymentException"].as_str().unwrap().contains("this is no unit test"), "{other:#}");
        assert_eq!(other["deploymentStatus"], "FAILED");
        // The thread of a test lets go of its permit after it has handed over the result.
        eventually("no test is under way", || under_way.load(Ordering::Relaxed) == 0);
    }

    #[test]
    fn more_tests_than_may_run_at_once_are_refused() {
        let under_way = Arc::new(AtomicUsize::new(0));
        let held: Vec<_> = (0..TESTS).map(|_| Permit::take(&under_way).unwrap()).collect();
        let refused = answered(Permit::take(&under_way), &java_string::written("<unit-test/>"));
        assert!(reason(&refused).contains("8 unit tests are run at once"), "{refused:#}");
        drop(held);
        assert!(Permit::take(&under_way).is_some());
    }
}
