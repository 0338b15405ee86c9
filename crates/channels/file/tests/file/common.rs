//! A folder, a receiver or sender on it, and a clock that passes when all wait.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use myelin_channel::{
    Complaint, Delivery, Ending, LocalFuture, Parameters, Receive, Receiver, Runtime, Sender, Severity, Source,
};
use myelin_file::{FileSender, SPEC};
use myelin_message::{Address, Body, Head, Manner, Method, Outgoing, SendError};
use tempfile::TempDir;
use tokio::time::Instant;

/// Nobody waits longer for a file.
pub(crate) const LONG: Duration = Duration::from_secs(24 * 3600);

/// The clock of tokio, which passes when all wait; it begins now.
pub(crate) struct Clock {
    begin: SystemTime,
    origin: Instant,
}

impl Clock {
    pub(crate) fn new() -> Rc<Clock> {
        Rc::new(Clock { begin: SystemTime::now(), origin: Instant::now() })
    }
}

impl Runtime for Clock {
    fn now(&self) -> SystemTime {
        self.begin + self.origin.elapsed()
    }

    fn monotonic(&self) -> Duration {
        self.origin.elapsed()
    }

    fn sleep(&self, time: Duration) -> LocalFuture<'static, ()> {
        Box::pin(tokio::time::sleep(time))
    }

    fn spawn(&self, task: LocalFuture<'static, ()>) {
        tokio::task::spawn_local(task);
    }
}

/// Folders for one test: `in`, and what else it makes.
pub(crate) struct Folder {
    root: TempDir,
    pub(crate) clock: Rc<Clock>,
}

impl Folder {
    pub(crate) fn new() -> Folder {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("in")).unwrap();
        Folder { root, clock: Clock::new() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// The address of a folder or file.
    pub(crate) fn uri(&self, name: &str) -> String {
        format!("vfs:file://{}", self.path(name).display())
    }

    pub(crate) fn write(&self, name: &str, content: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// A file that was changed so long ago.
    pub(crate) fn write_aged(&self, name: &str, content: &str, age: u64) {
        self.write(name, content);
        let time = self.clock.now() - Duration::from_secs(age);
        File::open(self.path(name)).unwrap().set_modified(time).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// The names below a folder, sorted.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let (root, mut names) = (self.path(folder), Vec::new());
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                if entry.file_type().unwrap().is_dir() {
                    folders.push(entry.path());
                } else {
                    names.push(entry.path().strip_prefix(&root).unwrap().display().to_string());
                }
            }
        }
        names.sort();
        names
    }

    /// Parameters over the folder `in`, looked into every second.
    pub(crate) fn receive(&self, parameters: &[(&str, &str)]) -> Inbox {
        let uri = self.uri("in");
        let mut all = vec![("transport.vfs.FileURI", &uri[..]), ("interval", "1000")];
        all.extend(parameters);
        let (source, complaints) = source(&all);
        let source = source.unwrap_or_else(|| panic!("{complaints:?}"));
        Inbox { receiver: source.open(Rc::clone(&self.clock) as Rc<dyn Runtime>), clock: Rc::clone(&self.clock) }
    }

    /// Writes a message to an address below the folder.
    pub(crate) async fn send(&self, address: &str, head: &[(&str, &str)], body: Body) -> Result<(), SendError> {
        let sender = FileSender::new(Rc::clone(&self.clock) as Rc<dyn Runtime>);
        let address = Address::Other(self.uri(address).into());
        sender.send(outgoing(address, head, body)).await.map(|_| ())
    }
}

pub(crate) fn outgoing(address: Address, lines: &[(&str, &str)], body: Body) -> Outgoing {
    let mut head = Head::default();
    for (name, value) in lines {
        head.append(name, value.as_bytes()).unwrap();
    }
    Outgoing { method: Method::AsCame, address, head, body, timeout: None, host: None, manner: Manner::default() }
}

/// The source of those parameters, and what is said of them; what nobody reads is said, too.
pub(crate) fn source(parameters: &[(&str, &str)]) -> (Option<Box<dyn Source>>, Vec<Complaint>) {
    let Receive::BySource(receive) = SPEC.receive else { panic!("files come from a source") };
    let parameters = Parameters::new(parameters.iter().copied());
    let source = receive(&parameters);
    let mut complaints = parameters.complaints();
    complaints.extend(parameters.unread().into_iter().map(|name| Complaint {
        parameter: Some(name.to_owned()),
        message: format!("{name} is unknown"),
        severity: Severity::Warning,
    }));
    (source, complaints)
}

/// What takes files.
pub(crate) struct Inbox {
    receiver: Box<dyn Receiver>,
    clock: Rc<Clock>,
}

/// A file that was taken.
pub(crate) struct Taken {
    pub(crate) name: String,
    pub(crate) body: String,
    /// When, in milliseconds since the clock began.
    pub(crate) at: u128,
    pub(crate) delivery: Delivery,
}

impl Inbox {
    /// The next file, if one comes within that time.
    pub(crate) async fn next_within(&mut self, time: Duration) -> Option<Taken> {
        let mut delivery = tokio::time::timeout(time, self.receiver.next()).await.ok()??;
        let body = std::mem::replace(&mut delivery.message.body, Body::Empty);
        let mut body = body;
        let body = String::from_utf8(body.bytes(u64::MAX).await.unwrap().to_vec()).unwrap();
        let name = header(&delivery, "FILE_NAME");
        Some(Taken { name, body, at: self.clock.monotonic().as_millis(), delivery })
    }

    pub(crate) async fn next(&mut self) -> Taken {
        self.next_within(LONG).await.expect("no file comes")
    }

    /// The next file, its body unread.
    pub(crate) async fn delivery(&mut self) -> Delivery {
        self.receiver.next().await.expect("a folder is looked into for ever")
    }

    /// Whether no file comes within that time.
    pub(crate) async fn is_quiet(&mut self, seconds: u64) -> bool {
        self.next_within(Duration::from_secs(seconds)).await.is_none()
    }

    /// Takes files until none comes for so many seconds, and ends all of them well; their names.
    pub(crate) async fn names(&mut self, seconds: u64) -> Vec<String> {
        let mut names = Vec::new();
        while let Some(taken) = self.next_within(Duration::from_secs(seconds)).await {
            names.push(taken.name.clone());
            taken.accept().await;
        }
        names
    }
}

impl Taken {
    pub(crate) async fn end(self, ending: Ending) {
        (self.delivery.acknowledge)(ending).await;
    }

    pub(crate) async fn accept(self) {
        self.end(Ending::Accepted).await;
    }

    pub(crate) async fn fail(self) {
        self.end(Ending::Faulted { code: "0".to_owned(), message: "a test wants that".to_owned() }).await;
    }

    pub(crate) fn header(&self, name: &str) -> String {
        header(&self.delivery, name)
    }
}

fn header(delivery: &Delivery, name: &str) -> String {
    let value = delivery.message.head.first(name).unwrap_or_else(|| panic!("no header {name}"));
    String::from_utf8(value.to_vec()).unwrap()
}

/// The lock of a file.
pub(crate) fn lock_of(path: &Path) -> PathBuf {
    format!("{}.lock", path.display()).into()
}
