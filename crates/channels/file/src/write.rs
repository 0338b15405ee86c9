//! Writing a message to a file: complete or not at all, or behind what is there.

use std::fs::{File, OpenOptions};
use std::future::poll_fn;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use myelin_channel::{Runtime, within};
use myelin_message::{Body, BodyError, Head, SendError, SendErrorKind, Wire};
use tokio::sync::Mutex;

use crate::advice::explained;
use crate::beside::{PATIENCE, beside};
use crate::claim::PIECE_BYTES;
use crate::lock::Lock;
use crate::names;
use crate::part::{Part, sync_folder_of};
use crate::target::Target;

/// How long somebody waits between two looks at a lock.
const FIRST_WAIT: Duration = Duration::from_millis(5);
const LONGEST_WAIT: Duration = Duration::from_millis(250);

/// Who writes one message after the other (`SendFileSynchronously`).
static ONE_BY_ONE: Mutex<()> = Mutex::const_new(());

/// Writes a message to the file that it and the target name; says which.
///
/// The file and its name have reached the disk then.
/// Errors: the folder or the file cannot be written to, somebody else has its lock, or the body breaks off; of a new
/// file nothing is there then, and what was appended is taken back.
pub(crate) async fn write(
    runtime: &dyn Runtime,
    target: &Target,
    head: &Head,
    body: Body,
    timeout: Option<Duration>,
) -> Result<PathBuf, SendError> {
    let patience = target.reconnect.saturating_mul(u32::try_from(target.retries).unwrap_or(u32::MAX));
    let patience = timeout.map_or(patience, |timeout| timeout.min(patience));
    let _turn = match target.one_by_one {
        true => Some(within(runtime, patience.max(PATIENCE), ONE_BY_ONE.lock()).await.ok_or_else(|| {
            error(
                SendErrorKind::ConnectTimeout,
                &target.location.path,
                "others that are written one by one take too long",
            )
        })?),
        false => None,
    };
    let (name, modified, now) = (target.name_for(head), target.modified_for(head), runtime.now());
    let place = target.clone();
    let file = beside(runtime, PATIENCE, move || place.resolve(&name, now)).await;
    let file = file.map_err(|wrong| sending(kind(&wrong), &target.location.path, &wrong))?;
    let mut body = Content::of(body).map_err(|wrong| unread(&file, wrong))?;
    let first = body.next().await.map_err(|wrong| unread(&file, wrong))?;
    let plan = Plan { file: file.clone(), appends: target.appends, modified };
    let mut lock = None;
    if target.appends && target.locks {
        lock = Some(wait_for_lock(runtime, &file, patience).await?);
    }
    let step = plan.clone();
    let begin = move || {
        let mut open = step.begin(lock)?;
        open.write(first.bytes())?;
        Ok(open)
    };
    let mut open = beside(runtime, PATIENCE, begin).await.map_err(|wrong| sending(kind(&wrong), &file, &wrong))?;
    while body.has_more() {
        let piece = body.next().await.map_err(|wrong| unread(&file, wrong))?;
        let step = move || {
            open.write(piece.bytes())?;
            Ok(open)
        };
        open = beside(runtime, PATIENCE, step).await.map_err(|wrong| sending(SendErrorKind::Sending, &file, &wrong))?;
    }
    let mut lock = None;
    if !target.appends && target.locks {
        // The file of that name may be somebody's work just now; it is held for no longer than renaming takes.
        lock = Some(wait_for_lock(runtime, &file, patience).await?);
    }
    let finish = move || {
        let _lock = lock;
        open.finish(&plan)
    };
    let finished = beside(runtime, PATIENCE, finish).await;
    finished.map_err(|wrong| match kind(&wrong) {
        SendErrorKind::Refused => sending(SendErrorKind::Refused, &file, &wrong),
        _ => sending(SendErrorKind::Sending, &file, &wrong),
    })?;
    Ok(file)
}

async fn wait_for_lock(runtime: &dyn Runtime, file: &Path, patience: Duration) -> Result<Lock, SendError> {
    let (start, mut wait) = (runtime.monotonic(), FIRST_WAIT);
    loop {
        let path = file.to_owned();
        match beside(runtime, PATIENCE, move || Lock::take(&path, None)).await {
            Ok(Some(lock)) => return Ok(lock),
            Ok(None) if runtime.monotonic().saturating_sub(start) < patience => runtime.sleep(wait).await,
            Ok(None) => {
                let what = format!(
                    "somebody has held its lock for {} s; remove {} if nobody works on it",
                    patience.as_secs(),
                    names::lock_of(file).display()
                );
                return Err(error(SendErrorKind::Refused, file, &what));
            }
            Err(wrong) => return Err(sending(kind(&wrong), file, &wrong)),
        }
        wait = (wait * 2).min(LONGEST_WAIT);
    }
}

/// What is written where.
#[derive(Clone, Debug)]
struct Plan {
    file: PathBuf,
    appends: bool,
    modified: Option<SystemTime>,
}

/// A file that is being written.
#[derive(Debug)]
enum Open {
    New(Part),
    Behind(Behind),
}

/// A file that something is written behind; dropped before its end, it is as before.
#[derive(Debug)]
struct Behind {
    file: File,
    /// How long it was, and is with what was written.
    before: u64,
    after: u64,
    _lock: Option<Lock>,
}

impl Plan {
    fn begin(&self, lock: Option<Lock>) -> io::Result<Open> {
        if !self.appends {
            return Part::create(self.file.parent().unwrap_or(Path::new("/"))).map(Open::New);
        }
        let file = OpenOptions::new().append(true).create(true).open(&self.file)?;
        let before = file.metadata()?.len();
        Ok(Open::Behind(Behind { file, before, after: before, _lock: lock }))
    }
}

impl Open {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Open::New(part) => part.file().write_all(bytes),
            Open::Behind(behind) => {
                let done = behind.file.write_all(bytes);
                behind.after = match done {
                    Ok(()) => behind.after + bytes.len() as u64,
                    // How much of it got there, only the file knows.
                    Err(_) => behind.file.metadata()?.len(),
                };
                done
            }
        }
    }

    fn finish(self, plan: &Plan) -> io::Result<()> {
        match self {
            Open::New(mut part) => {
                if let Ok(before) = std::fs::metadata(&plan.file) {
                    part.file().set_permissions(before.permissions())?;
                }
                if let Some(time) = plan.modified {
                    part.file().set_modified(time)?;
                }
                part.replace(&plan.file)
            }
            Open::Behind(mut behind) => {
                if let Some(time) = plan.modified {
                    behind.file.set_modified(time)?;
                }
                behind.file.sync_all()?;
                if behind.before == 0 {
                    sync_folder_of(&plan.file)?;
                }
                behind.before = behind.after;
                Ok(())
            }
        }
    }
}

impl Drop for Behind {
    fn drop(&mut self) {
        // Where others wrote meanwhile without asking for the lock, theirs must not be cut off.
        let is_last = self.file.metadata().is_ok_and(|metadata| metadata.len() == self.after);
        if self.before < self.after && is_last {
            let _ = self.file.set_len(self.before);
        }
    }
}

/// The bytes of a body, piece by piece.
enum Content {
    Whole(Option<Piece>),
    Pieces { wire: Wire, has_more: bool },
}

/// Bytes that go to another thread.
enum Piece {
    Own(Vec<u8>),
    Shared(Arc<Vec<u8>>),
}

impl Piece {
    fn bytes(&self) -> &[u8] {
        match self {
            Piece::Own(bytes) => bytes,
            Piece::Shared(bytes) => bytes,
        }
    }
}

impl Content {
    fn of(mut body: Body) -> Result<Content, BodyError> {
        body.settle();
        match body {
            Body::Empty => Ok(Content::Whole(None)),
            Body::Bytes(bytes) => Ok(Content::Whole(Some(Piece::Own(bytes)))),
            Body::Shared(bytes) => Ok(Content::Whole(Some(Piece::Shared(bytes)))),
            Body::Wire(wire) => Ok(Content::Pieces { wire, has_more: true }),
            Body::Built(_) | Body::Reading(..) | Body::Gone => Err(BodyError::Gone),
        }
    }

    fn has_more(&self) -> bool {
        match self {
            Content::Whole(piece) => piece.is_some(),
            Content::Pieces { has_more, .. } => *has_more,
        }
    }

    /// The next bytes, as many as are worth a step.
    async fn next(&mut self) -> Result<Piece, BodyError> {
        let Content::Pieces { wire, has_more } = self else {
            let Content::Whole(piece) = self else { return Err(BodyError::Gone) };
            return Ok(piece.take().unwrap_or(Piece::Own(Vec::new())));
        };
        let mut bytes = Vec::new();
        while *has_more && bytes.len() < PIECE_BYTES {
            *has_more = poll_fn(|cx| wire.source.poll_piece(wire.ticket, cx, &mut bytes)).await?;
        }
        Ok(Piece::Own(bytes))
    }
}

fn unread(file: &Path, wrong: BodyError) -> SendError {
    error(SendErrorKind::Request(wrong), file, &wrong.to_string())
}

fn sending(kind: SendErrorKind, file: &Path, wrong: &io::Error) -> SendError {
    error(kind, file, &explained(wrong))
}

/// A name that is none is the message's own affair; a full disk is met while writing, most of the others before.
fn kind(wrong: &io::Error) -> SendErrorKind {
    match wrong.kind() {
        io::ErrorKind::Other | io::ErrorKind::InvalidFilename => SendErrorKind::Refused,
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => SendErrorKind::Sending,
        _ => SendErrorKind::ConnectFailed,
    }
}

fn error(kind: SendErrorKind, file: &Path, what: &str) -> SendError {
    SendError { kind, message: format!("cannot write {}: {what}", file.display()) }
}
