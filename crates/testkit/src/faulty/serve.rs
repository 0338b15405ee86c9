//! Follows the scripts, on the backend's own thread.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::{Connection, End, RECORDED_BYTES, Script, Step, Transcript, Until};
use crate::wire::{Chunks, Framing, framing, head_end};

/// Nothing stays away or is refused for longer than this on loopback, however busy the machine is.
const DEADLINE: Duration = Duration::from_secs(30);
/// No head of a test is larger.
const HEAD_LIMIT_BYTES: usize = 4 * 1024 * 1024;
const READ_BYTES: usize = 64 * 1024;

pub(super) async fn run(
    listener: std::net::TcpListener,
    scripts: Vec<Script>,
    transcript: Arc<Transcript>,
    stopped: oneshot::Receiver<()>,
) {
    let Ok(listener) = TcpListener::from_std(listener) else { return };
    let mut tasks = JoinSet::new();
    let accept = async {
        for index in 0.. {
            let Ok((stream, _)) = listener.accept().await else {
                // Out of descriptors, most likely: others may close some meanwhile.
                sleep(Duration::from_millis(10)).await;
                continue;
            };
            let script = scripts.get(index).or(scripts.last()).cloned().unwrap_or(Script(Vec::new()));
            let transcript = Arc::clone(&transcript);
            let index = {
                let mut connections = transcript.lock();
                connections.push(Connection::default());
                connections.len() - 1
            };
            tasks.spawn(async move {
                let mut player = Player::new(stream, Arc::clone(&transcript), index);
                let end = player.play(&script).await.err().unwrap_or(End::Script);
                // The socket goes first, so that who sees the end recorded finds the connection closed.
                drop(player);
                transcript.edit(index, |connection| connection.end = Some(end));
            });
        }
    };
    tokio::select! {
        () = accept => {}
        _ = stopped => {}
    }
    tasks.shutdown().await;
    for connection in transcript.lock().iter_mut() {
        connection.end.get_or_insert(End::Stopped);
    }
    transcript.changed.notify_all();
}

struct Player {
    stream: TcpStream,
    transcript: Arc<Transcript>,
    index: usize,
    /// Read from the socket, not yet asked for by a step.
    ahead: Vec<u8>,
    framing: Framing,
    body: Vec<u8>,
}

impl Player {
    fn new(stream: TcpStream, transcript: Arc<Transcript>, index: usize) -> Player {
        // Dripped bytes must leave one by one. A socket that refuses is dead and says so at the first step.
        let _ = stream.set_nodelay(true);
        Player { stream, transcript, index, ahead: Vec::new(), framing: Framing::Unsaid, body: Vec::new() }
    }

    async fn play(&mut self, script: &Script) -> Result<(), End> {
        loop {
            self.transcript.edit(self.index, |connection| connection.rounds += 1);
            let mut again = false;
            for step in &script.0 {
                match step {
                    Step::Close => return Ok(()),
                    Step::Reset => {
                        return self.stream.set_zero_linger().map_err(|_| End::PeerClosed);
                    }
                    Step::Again => {
                        again = true;
                        break;
                    }
                    Step::Pause(duration) => sleep(*duration).await,
                    Step::Hold(gate) => {
                        while !gate.is_open() {
                            sleep(Duration::from_millis(2)).await;
                        }
                    }
                    Step::Stall => self.stall().await?,
                    _ => self.step(step).await?,
                }
            }
            if !again {
                return Ok(());
            }
        }
    }

    async fn step(&mut self, step: &Step) -> Result<(), End> {
        match step {
            Step::Read(Until::Head) => self.read_head().await,
            Step::Read(Until::Body) => self.read_body().await,
            Step::Read(Until::Bytes(count)) => self.read_bytes(*count, false).await,
            Step::Read(Until::Closed) => loop {
                self.ahead.clear();
                match self.fill().await {
                    Ok(()) => {}
                    Err(End::PeerClosed) => return Ok(()),
                    Err(end) => return Err(end),
                }
            },
            Step::Send(bytes) => self.send(bytes).await,
            Step::Repeat(bytes, times) => {
                for _ in 0..*times {
                    self.send(bytes).await?;
                }
                Ok(())
            }
            Step::Echo => {
                let body = std::mem::take(&mut self.body);
                self.send(&body).await
            }
            Step::Drip(bytes, pause) => {
                for byte in bytes {
                    self.send(std::slice::from_ref(byte)).await?;
                    sleep(*pause).await;
                }
                Ok(())
            }
            Step::HalfClose => self.stream.shutdown().await.map_err(|_| End::PeerClosed),
            // Handled by `play`, which owns the way through the script.
            Step::Close | Step::Reset | Step::Again | Step::Pause(_) | Step::Hold(_) | Step::Stall => Ok(()),
        }
    }

    /// Waits for the peer to give up without reading what it sends: `peek` leaves the bytes where they are.
    async fn stall(&mut self) -> Result<(), End> {
        let mut byte = [0];
        loop {
            match self.stream.peek(&mut byte).await {
                Ok(0) | Err(_) => return Err(End::PeerClosed),
                // Something lies there unread, so a FIN behind it cannot be seen: look for a reset now and then.
                Ok(_) => {
                    sleep(Duration::from_millis(20)).await;
                    if matches!(self.stream.take_error(), Ok(Some(_)) | Err(_)) {
                        return Err(End::PeerClosed);
                    }
                }
            }
        }
    }

    async fn send(&mut self, bytes: &[u8]) -> Result<(), End> {
        let sent = timeout(DEADLINE, self.stream.write_all(bytes)).await.map_err(|_| End::Deadline)?;
        sent.map_err(|_| End::PeerClosed)
    }

    async fn read_head(&mut self) -> Result<(), End> {
        loop {
            if let Some(end) = head_end(&self.ahead) {
                self.framing = framing(&self.ahead[..end]);
                self.ahead.drain(..end);
                return Ok(());
            }
            if self.ahead.len() > HEAD_LIMIT_BYTES {
                return Err(End::Malformed("the head does not end".to_owned()));
            }
            self.fill().await?;
        }
    }

    async fn read_body(&mut self) -> Result<(), End> {
        self.body.clear();
        match self.framing {
            Framing::Unsaid => Ok(()),
            Framing::Length(length) => self.read_bytes(length, true).await,
            Framing::Chunked => {
                let mut chunks = Chunks::default();
                loop {
                    let (taken, done) = chunks.take(&self.ahead).map_err(End::Malformed)?;
                    self.ahead.drain(..taken);
                    self.keep(&chunks.decoded);
                    chunks.decoded.clear();
                    if done {
                        return Ok(());
                    }
                    self.fill().await?;
                }
            }
        }
    }

    async fn read_bytes(&mut self, count: u64, body: bool) -> Result<(), End> {
        let mut left = count;
        loop {
            let taken = self.ahead.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            let piece: Vec<u8> = self.ahead.drain(..taken).collect();
            if body {
                self.keep(&piece);
            }
            left -= taken as u64;
            if left == 0 {
                return Ok(());
            }
            self.fill().await?;
        }
    }

    fn keep(&mut self, piece: &[u8]) {
        let room = RECORDED_BYTES.saturating_sub(self.body.len());
        self.body.extend_from_slice(&piece[..piece.len().min(room)]);
    }

    async fn fill(&mut self) -> Result<(), End> {
        let start = self.ahead.len();
        self.ahead.resize(start + READ_BYTES, 0);
        let read = timeout(DEADLINE, self.stream.read(&mut self.ahead[start..])).await;
        let count = read.map(|read| read.unwrap_or(0));
        self.ahead.truncate(start + *count.as_ref().unwrap_or(&0));
        let count = count.map_err(|_| End::Deadline)?;
        if count == 0 {
            return Err(End::PeerClosed);
        }
        let piece = &self.ahead[start..];
        self.transcript.edit(self.index, |connection| {
            connection.received_bytes += count as u64;
            let room = RECORDED_BYTES.saturating_sub(connection.received.len());
            connection.received.extend_from_slice(&piece[..count.min(room)]);
        });
        Ok(())
    }
}
