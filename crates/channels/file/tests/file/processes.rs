//! Several processes on one folder, processes that are killed, and the memory that a large file takes.
//!
//! The processes are this test binary again, told by an environment variable to take files.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use std::{fs, thread};

use myelin_channel::{Delivery, Ending, LocalFuture, Runtime, Sender};
use myelin_file::FileSender;
use myelin_message::{Address, Body};
use tempfile::TempDir;

use crate::common::{outgoing, source};

/// What a process that takes files works in.
const FOLDER: &str = "MYELIN_FILE_TEST_FOLDER";

/// Nobody waits longer for other processes, however busy the machine is.
const LONG: Duration = Duration::from_secs(300);

/// The clock of the machine.
struct Real(Instant);

impl Runtime for Real {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn monotonic(&self) -> Duration {
        self.0.elapsed()
    }

    fn sleep(&self, time: Duration) -> LocalFuture<'static, ()> {
        Box::pin(tokio::time::sleep(time))
    }

    fn spawn(&self, task: LocalFuture<'static, ()>) {
        tokio::task::spawn_local(task);
    }
}

/// Folders in memory where the machine has them: what a killed process leaves does not depend on the disk.
fn folder() -> TempDir {
    let root = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    for name in ["in", "out", "done"] {
        fs::create_dir(root.path().join(name)).unwrap();
    }
    root
}

/// Puts files with these numbers into `in`, each whole from the start.
fn fill(root: &Path, numbers: Range<usize>) -> BTreeMap<String, String> {
    let content = |number: usize| format!("<order id='{number}'>{}</order>", "x".repeat(number * 7 % 4000));
    let files: BTreeMap<_, _> = numbers.map(|number| (format!("{number}.xml"), content(number))).collect();
    for (name, content) in &files {
        fs::write(root.join("new"), content).unwrap();
        fs::rename(root.join("new"), root.join("in").join(name)).unwrap();
    }
    files
}

/// A process that takes the files of a folder; dropping it kills it.
struct Taker(Child);

impl Taker {
    fn start(root: &Path, what: &str) -> Taker {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", what, "--nocapture"])
            .env(FOLDER, root)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Taker(child.unwrap())
    }
}

impl Drop for Taker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The names in a folder without those of locks and parts.
fn names(folder: PathBuf) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| !name.ends_with(".lock")).collect();
    names.sort();
    names
}

fn wait_until_empty(folder: &Path) {
    let start = Instant::now();
    while fs::read_dir(folder).unwrap().next().is_some() {
        assert!(start.elapsed() < LONG, "{} files are left", fs::read_dir(folder).unwrap().count());
        thread::sleep(Duration::from_millis(20));
    }
}

/// Runs the body of a process, where this is one.
fn taker<F: Future<Output = ()>>(work: impl FnOnce(PathBuf, Rc<dyn Runtime>) -> F) {
    let Some(root) = std::env::var_os(FOLDER) else { return };
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio.block_on(tokio::task::LocalSet::new().run_until(work(root.into(), Rc::new(Real(Instant::now())))));
}

/// The process that copies each file to `out`, under a name with its own number, and moves it to `done`.
#[test]
fn copies_files() {
    taker(|root, runtime| async move {
        let uri = |name: &str| format!("vfs:file://{}", root.join(name).display());
        let (from, done, out) = (uri("in"), uri("done"), uri("out"));
        let source = source(&[
            ("transport.vfs.FileURI", &from[..]),
            ("interval", "50"),
            ("sequential", "false"),
            ("transport.vfs.ActionAfterProcess", "MOVE"),
            ("transport.vfs.MoveAfterProcess", &done),
        ]);
        let mut receiver = source.0.unwrap().open(Rc::clone(&runtime));
        let sender = Rc::new(FileSender::new(Rc::clone(&runtime)));
        while let Some(delivery) = receiver.next().await {
            let (sender, address) = (Rc::clone(&sender), Address::Other(out.clone().into()));
            runtime.spawn(Box::pin(async move { copy(delivery, &sender, address).await }));
        }
    });
}

async fn copy(delivery: Delivery, sender: &FileSender, address: Address) {
    let Delivery { message, acknowledge, .. } = delivery;
    let name = String::from_utf8(message.head.first("FILE_NAME").unwrap().to_vec()).unwrap();
    let name = format!("{name}.{}", std::process::id());
    sender.send(outgoing(address, &[("transport.vfs.ReplyFileName", &name)], message.body)).await.unwrap();
    acknowledge(Ending::Accepted).await;
}

#[test]
fn of_two_processes_on_one_folder_each_file_is_taken_by_one() {
    let root = folder();
    let files = fill(root.path(), 0..2000);
    let takers = [0, 1].map(|_| Taker::start(root.path(), "processes::copies_files"));
    wait_until_empty(&root.path().join("in"));
    let takers = takers.map(|taker| taker.0.id().to_string());
    let mut shares = BTreeMap::<String, usize>::new();
    let out = names(root.path().join("out"));
    for name in &out {
        let (_, taker) = name.rsplit_once('.').unwrap();
        *shares.entry(taker.to_owned()).or_default() += 1;
    }
    assert_eq!(out.len(), files.len(), "{shares:?}");
    assert!(shares.keys().all(|taker| takers.contains(taker)), "{shares:?}");
    assert_eq!(names(root.path().join("done")), files.keys().cloned().collect::<Vec<_>>());
}

#[test]
fn files_survive_processes_that_are_killed() {
    let root = folder();
    kill_again_and_again(root.path(), 2000);
    let content = |name: &String| fs::read_to_string(root.path().join("done").join(name)).unwrap();
    // Moved by renaming, each file is in one place at any time.
    assert!(names(root.path().join("done")).iter().all(|name| content(name).ends_with("</order>")));
    assert_eq!(names(root.path().join("done")).len(), 2000);
}

#[test]
fn files_survive_processes_that_are_killed_while_they_copy_to_another_file_system() {
    let (root, there) = (folder(), tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap());
    fs::remove_dir(root.path().join("done")).unwrap();
    std::os::unix::fs::symlink(there.path(), root.path().join("done")).unwrap();
    kill_again_and_again(root.path(), 400);
}

/// Lets processes take so many files, and kills twenty of them wherever they are.
fn kill_again_and_again(root: &Path, count: usize) {
    let mut chance = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos();
    let (share, mut files) = (count / 20, BTreeMap::new());
    for round in 0..20 {
        files.extend(fill(root, round * share..(round + 1) * share));
        let before = names(root.join("in")).len();
        let (taker, started) = (Taker::start(root, "processes::copies_files"), Instant::now());
        chance = chance.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let some = 1 + (chance >> 16) as usize % (share / 2);
        while names(root.join("in")).len() + some > before && started.elapsed() < LONG {
            thread::sleep(Duration::from_micros(200));
        }
        thread::sleep(Duration::from_micros(u64::from(chance >> 20)));
        drop(taker);
        // Wherever it was killed, each file is where it was or where it goes, whole.
        for (name, content) in &files {
            let places = ["in", "done"].map(|folder| fs::read_to_string(root.join(folder).join(name)).ok());
            let places: Vec<_> = places.into_iter().flatten().collect();
            assert!(!places.is_empty() && places.iter().all(|place| place == content), "{name} {places:?}");
        }
    }
    let last = Taker::start(root, "processes::copies_files");
    wait_until_empty(&root.join("in"));
    drop(last);
    let mut copied = BTreeMap::new();
    for name in names(root.join("out")) {
        let content = fs::read_to_string(root.join("out").join(&name)).unwrap();
        let (name, _) = name.rsplit_once('.').unwrap();
        assert_eq!(content, files[name]);
        *copied.entry(name.to_owned()).or_insert(0) += 1;
    }
    assert_eq!(copied.len(), files.len());
    assert!(files.keys().all(|name| root.join("done").join(name).exists()));
}

/// The process that decides by the beginning of a large file, passes all of it on, and says how much memory it took.
#[test]
fn passes_a_large_file_on() {
    taker(|root, runtime| async move {
        let from = format!("vfs:file://{}", root.join("in").display());
        let source = source(&[("transport.vfs.FileURI", &from[..]), ("interval", "50")]);
        let mut receiver = source.0.unwrap().open(runtime);
        let mut delivery = receiver.next().await.unwrap();
        let mut decided_after = 0;
        let look = |bytes: &[u8], _| {
            decided_after = bytes.len();
            bytes.contains(&b'>')
        };
        let mut look = look;
        poll_fn(|cx| delivery.message.body.poll_look(cx, 1024 * 1024, &mut look)).await.unwrap();
        let length = delivery.message.body.length();
        let Body::Wire(wire) = delivery.message.body.take() else { panic!("a large file is not read at once") };
        let (mut total, mut largest, mut begin) = (0_u64, 0, Vec::new());
        let mut piece = Vec::new();
        loop {
            piece.clear();
            let more = poll_fn(|cx| wire.source.poll_piece(wire.ticket, cx, &mut piece)).await.unwrap();
            if total == 0 {
                begin = piece[..8].to_vec();
            }
            total += piece.len() as u64;
            largest = largest.max(piece.len());
            if !more {
                break;
            }
        }
        (delivery.acknowledge)(Ending::Accepted).await;
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap().trim();
        let begin = String::from_utf8(begin).unwrap();
        let report = format!("{decided_after} {length:?} {total} {largest} {begin} {peak}");
        fs::write(root.join("out/report.tmp"), report).unwrap();
        fs::rename(root.join("out/report.tmp"), root.join("out/report")).unwrap();
    });
}

#[test]
fn a_file_of_two_gigabytes_is_decided_on_early_and_takes_little_memory() {
    const LENGTH: u64 = 2 * 1024 * 1024 * 1024;
    let root = tempfile::tempdir().unwrap();
    for name in ["in", "out"] {
        fs::create_dir(root.path().join(name)).unwrap();
    }
    // The rest is a hole, which takes no room on the disk.
    fs::write(root.path().join("large"), "<orders><order>").unwrap();
    fs::OpenOptions::new().write(true).open(root.path().join("large")).unwrap().set_len(LENGTH).unwrap();
    fs::rename(root.path().join("large"), root.path().join("in/large")).unwrap();
    let _taker = Taker::start(root.path(), "processes::passes_a_large_file_on");
    let (start, report) = (Instant::now(), root.path().join("out/report"));
    while !report.exists() {
        assert!(start.elapsed() < LONG, "the file is not passed on");
        thread::sleep(Duration::from_millis(20));
    }
    let report = fs::read_to_string(report).unwrap();
    let parts: Vec<_> = report.split_whitespace().collect();
    assert_eq!(
        parts[..5],
        ["131072", &format!("Some({LENGTH})"), &LENGTH.to_string(), "131072", "<orders>"],
        "{report}"
    );
    let peak: u64 = parts[5].parse().unwrap();
    assert!(peak <= 60 * 1024, "{report}");
    assert!(names(root.path().join("in")).is_empty());
}
