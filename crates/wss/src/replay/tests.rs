use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::*;

const LIFE: Duration = Duration::from_secs(300);

fn at(second: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + second)
}

fn admit(replays: &Replays, name: &str, second: u64) -> Result<(), Rule> {
    let mark = Mark::of("test", &[name.as_bytes()]);
    replays.admit(mark, at(second), at(second) + LIFE, at(second)).map_err(|refusal| refusal.rule)
}

/// A folder of its own for a test, gone when the test is over.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("myelin-replays-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        Folder(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn the_same_message_is_accepted_once() {
    let replays = Replays::in_memory(1_000, at(0));
    assert_eq!(admit(&replays, "one", 1), Ok(()));
    assert_eq!(admit(&replays, "two", 1), Ok(()));
    assert_eq!(admit(&replays, "one", 2), Err(Rule::Replay));
}

#[test]
fn marks_of_different_parts_differ() {
    assert_ne!(Mark::of("a", &[b"bc"]), Mark::of("ab", &[b"c"]));
    assert_ne!(Mark::of("a", &[b"b", b"c"]), Mark::of("a", &[b"bc"]));
}

#[test]
fn of_many_threads_with_the_same_message_one_gets_through() {
    let replays = Arc::new(Replays::in_memory(1_000, at(0)));
    let accepted = Arc::new(AtomicUsize::new(0));
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let (replays, accepted) = (Arc::clone(&replays), Arc::clone(&accepted));
            thread::spawn(move || {
                for message in 0..100 {
                    if admit(&replays, &message.to_string(), 1).is_ok() {
                        accepted.fetch_add(1, Ordering::Relaxed);
                    }
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().expect("none of them panics");
    }
    assert_eq!(accepted.load(Ordering::Relaxed), 100);
}

#[test]
fn a_full_cache_refuses_and_has_room_again_when_time_has_passed() {
    let replays = Replays::in_memory(SHARDS * 2, at(0));
    let results: Vec<_> = (0..SHARDS * 20).map(|message| admit(&replays, &message.to_string(), 1)).collect();
    assert!(results.contains(&Err(Rule::ReplayCacheFull)));
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), replays.len());
    assert!(replays.len() <= SHARDS * 2);
    assert_eq!(admit(&replays, "later", 400), Ok(()));
}

#[test]
fn without_a_journal_what_was_made_before_the_start_is_refused() {
    let replays = Replays::in_memory(1_000, at(10));
    assert_eq!(admit(&replays, "old", 9), Err(Rule::Replay));
    assert_eq!(admit(&replays, "new", 10), Ok(()));
}

#[test]
fn a_journal_outlives_the_process() {
    let folder = Folder::new("outlives");
    let replays = Replays::open(&folder.0, 1_000, at(0)).expect("a new folder");
    assert_eq!(admit(&replays, "one", 1), Ok(()));
    drop(replays);
    let replays = Replays::open(&folder.0, 1_000, at(5)).expect("the folder of before");
    assert_eq!(admit(&replays, "one", 6), Err(Rule::Replay));
    // Made before the second start, but not known to the first process: not a replay.
    assert_eq!(admit(&replays, "two", 4), Ok(()));
    drop(replays);
    let replays = Replays::open(&folder.0, 1_000, at(400)).expect("the folder of before");
    assert!(replays.is_empty(), "what is too old is not remembered");
}

#[test]
fn a_new_folder_knows_nothing_of_what_was_before() {
    let folder = Folder::new("new");
    let replays = Replays::open(&folder.0, 1_000, at(10)).expect("a new folder");
    assert_eq!(admit(&replays, "old", 9), Err(Rule::Replay));
}

#[test]
fn a_record_that_was_cut_off_is_left_out() {
    let folder = Folder::new("cut");
    let replays = Replays::open(&folder.0, 1_000, at(0)).expect("a new folder");
    for name in ["one", "two"] {
        assert_eq!(admit(&replays, name, 1), Ok(()));
    }
    drop(replays);
    let file = folder.0.join("replays.0");
    let bytes = std::fs::read(&file).expect("the current file");
    std::fs::write(&file, &bytes[..bytes.len() - 1]).expect("it can be written");
    let replays = Replays::open(&folder.0, 1_000, at(2)).expect("the folder of before");
    assert_eq!(admit(&replays, "one", 3), Err(Rule::Replay));
    assert_eq!(admit(&replays, "three", 3), Ok(()));
    drop(replays);
    let replays = Replays::open(&folder.0, 1_000, at(4)).expect("the folder of before");
    assert_eq!(admit(&replays, "three", 5), Err(Rule::Replay));
}

#[test]
fn two_processes_do_not_share_a_folder() {
    let folder = Folder::new("shared");
    let first = Replays::open(&folder.0, 1_000, at(0)).expect("a new folder");
    let second = Replays::open(&folder.0, 1_000, at(0)).map(drop).map_err(|error| error.kind());
    assert_eq!(second, Err(io::ErrorKind::WouldBlock));
    drop(first);
}

#[test]
fn the_files_take_turns_and_stay_small() {
    let folder = Folder::new("turns");
    let replays = Replays::open(&folder.0, 100_000, at(0)).expect("a new folder");
    for second in 0..40_u64 {
        for message in 0..1_000 {
            assert_eq!(admit(&replays, &format!("{second} {message}"), second * 100), Ok(()));
        }
    }
    let size = |name: &str| std::fs::metadata(folder.0.join(name)).expect("one of the two").len();
    assert!(size("replays.0") + size("replays.1") < 24 * 16_000, "40,000 were written, 4,000 at most are remembered");
    drop(replays);
    let replays = Replays::open(&folder.0, 100_000, at(3_900)).expect("the folder of before");
    assert_eq!(admit(&replays, "39 1", 3_901), Err(Rule::Replay));
    assert_eq!(admit(&replays, "38 1", 3_901), Err(Rule::Replay));
}

#[test]
fn a_file_of_somebody_else_is_left_alone() {
    let folder = Folder::new("other");
    std::fs::create_dir_all(&folder.0).expect("a folder");
    std::fs::write(folder.0.join("replays.0"), "dear diary").expect("it can be written");
    let kind = Replays::open(&folder.0, 1_000, at(0)).map(drop).map_err(|error| error.kind());
    assert_eq!(kind, Err(io::ErrorKind::InvalidData));
    assert_eq!(std::fs::read(folder.0.join("replays.0")).expect("still there"), b"dear diary");
}
