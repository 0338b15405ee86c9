//! Connections of the debugger of WSO2's tools, which are told that there are no breakpoints.
//!
//! The extension for VS Code waits two minutes for somebody to listen here when it debugs, and then gives up; with an
//! answer to each of its commands it goes on, and messages are served as without it.
//!
//! Source: `org.apache.synapse.debug` of WSO2's Synapse: a port for commands, one line of JSON each way, and one for events.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

/// Where commands come in, and where events would go out.
const PORTS: [u16; 2] = [9005, 9006];

/// One debugger has one connection to each port.
const CONNECTIONS: usize = 8;

const COMMAND_BYTES: u64 = 64 * 1024;

/// A session in which nobody does anything for so long is over.
const IDLE: Duration = Duration::from_secs(24 * 60 * 60);

const WRITTEN: Duration = Duration::from_secs(10);

const NO_BREAKPOINTS: &str = "Myelin has no breakpoints: no message stops";

/// Answers debuggers from now on; a port that another process has is told of in the log.
///
/// Errors: there is no thread to be had.
pub(crate) fn answer() -> io::Result<()> {
    let open = Arc::new(AtomicUsize::new(0));
    for port in PORTS {
        match TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))) {
            Ok(listener) => accept(listener, Arc::clone(&open))?,
            Err(error) => tracing::warn!("no debugger can connect to port {port}: {error}"),
        }
    }
    tracing::warn!("a debugger may connect, but breakpoints have no effect: docs/vscode.md says what shows instead");
    Ok(())
}

fn accept(listener: TcpListener, open: Arc<AtomicUsize>) -> io::Result<()> {
    std::thread::Builder::new().name("debugger".to_owned()).spawn(move || {
        // An error here is that of a client that has gone again.
        for client in listener.incoming().flatten() {
            let more = |count: usize| (count < CONNECTIONS).then_some(count + 1);
            if open.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_err() {
                continue;
            }
            let left = Arc::clone(&open);
            let threads = std::thread::Builder::new().name("debugger-client".to_owned());
            let started = threads.spawn(move || {
                if let Err(error) = converse(&client) {
                    tracing::debug!("a debugger has gone: {error}");
                }
                left.fetch_sub(1, Ordering::Relaxed);
            });
            if started.is_err() {
                open.fetch_sub(1, Ordering::Relaxed);
            }
        }
    })?;
    Ok(())
}

/// Answers each line until the client goes. To the port of events clients send nothing, and get nothing.
fn converse(client: &TcpStream) -> io::Result<()> {
    client.set_read_timeout(Some(IDLE))?;
    client.set_write_timeout(Some(WRITTEN))?;
    let mut reader = BufReader::new(client);
    let mut has_warned = false;
    loop {
        let mut line = Vec::new();
        reader.by_ref().take(COMMAND_BYTES).read_until(b'\n', &mut line)?;
        if line.last() != Some(&b'\n') {
            // The end, or a line that no debugger sends.
            return Ok(());
        }
        let command: Value = serde_json::from_slice(&line).unwrap_or_default();
        if command["command"] == "set" && !has_warned {
            has_warned = true;
            tracing::warn!("the debugger has set breakpoints, which have no effect: {NO_BREAKPOINTS}");
        }
        let mut client = client;
        client.write_all(format!("{}\n", response(&command)).as_bytes())?;
    }
}

fn response(command: &Value) -> Value {
    match command["command"].as_str() {
        // Nothing is suspended.
        Some("resume" | "skip") => json!({"command-response": "successful"}),
        _ => json!({"command-response": "failed", "failed-reason": NO_BREAKPOINTS}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_an_answer_and_breakpoints_are_refused() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        accept(listener, Arc::default()).unwrap();
        let client = TcpStream::connect(address).unwrap();
        client.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut reader = BufReader::new(&client);
        let mut ask = |line: &str| {
            (&client).write_all(format!("{line}\n").as_bytes()).unwrap();
            let mut answer = String::new();
            reader.read_line(&mut answer).unwrap();
            serde_json::from_str::<Value>(&answer).unwrap()
        };
        assert_eq!(ask(r#"{"command":"resume"}"#), json!({"command-response": "successful"}));
        let set = r#"{"sequence":{"sequence-key":"s","mediator-position":"0"},"command":"set","command-argument":"breakpoint"}"#;
        assert_eq!(ask(set)["command-response"], "failed");
        assert_eq!(
            ask(r#"{"command":"get","command-argument":"properties","context":"axis2"}"#)["failed-reason"],
            NO_BREAKPOINTS
        );
        assert_eq!(ask("no JSON")["command-response"], "failed");
    }

    #[test]
    fn more_connections_than_there_may_be_are_closed() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        accept(listener, Arc::new(AtomicUsize::new(CONNECTIONS))).unwrap();
        let mut client = TcpStream::connect(address).unwrap();
        client.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        assert_eq!(client.read(&mut [0; 1]).unwrap(), 0);
    }
}
